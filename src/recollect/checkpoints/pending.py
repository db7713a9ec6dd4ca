"""Writes: what the tasks of a graph wrote since a checkpoint, until the next one holds it."""

from __future__ import annotations

from .. import conversations, erased
from ..errors import Damaged
from . import pieces, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..conversations import Found
    from ..db import Row, Tx
    from .pieces import Stored, Value

WRITE = (
    "insert into checkpoint_writes (user_no, conversation_no, namespace, checkpoint_id, task_id, idx, task_path, channel,"
    " type, data, checksum) values (:user_no, :c, :ns, :id, :task, :idx, :path, :channel, :type, :data, :crc)"
    " on conflict (user_no, conversation_no, namespace, checkpoint_id, task_id, idx) do "
)
AGAIN = (
    "update set task_path = excluded.task_path, channel = excluded.channel, type = excluded.type, data = excluded.data,"
    " checksum = excluded.checksum"
)


class Write:
    __slots__ = ("channel", "idx", "stored", "value")

    def __init__(self, idx: int, channel: str, value: Value) -> None:
        self.idx = idx
        self.channel = channel
        self.value = value
        if value.inline is not None:
            self.stored = value.inline
        else:
            assert value.key is not None
            stored = value.pieces.pop(value.key)
            self.stored = stored if isinstance(stored, tuple) else stored()


def put(
    tx: Tx, conversation: str, namespace: str, checkpoint: str, task: str, path: str, writes: Sequence[Write],
    mine: Stored, known_as: int,
) -> Found:  # fmt: skip
    """Keep what a task wrote. A write that is there stays, but for those that say how a task ended. Returns the
    conversation."""
    # Tasks write side by side; only who may have to make the secret of the hash does so alone.
    looked = conversations.looking(tx, conversation, tx.for_adding if known_as else tx.for_update)
    any = erased.asking(tx, erased.CHECKPOINT)
    values = [w.value for w in writes]
    add = pieces.adding(tx, known_as, values, frozenset()) if known_as else None
    found = record.enter(tx, conversation, looked)
    erased.refuse_checkpoint(tx, conversation, checkpoint, any=any)
    pieces.same_secret(tx, found.no, mine, known_as)
    if add is None or found.no != known_as:
        add = pieces.adding(tx, found.no, values, frozenset())
    add()
    again = bool(writes) and all(w.idx < 0 for w in writes)
    rows = []
    for w in writes:
        row = (namespace, checkpoint, task, w.idx, path, w.channel, *w.stored)
        rows.append((tx.user, found.no, *row, record.crc(row)))
    if rows:
        tx.many(WRITE + (AGAIN if again else "nothing"), rows)
    return found


def since(tx: Tx, no: int, namespace: str, ids: Sequence[str]) -> dict[str, list[Row]]:
    """(task, channel, type, data) of what was written since each checkpoint, in the order of the tasks."""
    return asking(tx, no, namespace, ids)()


def asking(tx: Tx, no: int, namespace: str, ids: Sequence[str]) -> Callable[[], dict[str, list[Row]]]:
    """`since`, whose answer is read further on."""
    marks = record.marks("i", ids)
    rows = tx.blobs(
        "select namespace, checkpoint_id, task_id, idx, task_path, channel, type, data, checksum from checkpoint_writes"
        " where user_no = :user and conversation_no = :c and namespace = :ns"
        f" and checkpoint_id in ({', '.join(':' + m for m in marks)})",
        c=no, ns=namespace, **marks,
    )  # fmt: skip

    def read() -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {id: [] for id in ids}
        for row in sorted(rows(), key=lambda row: (row[4], row[2], row[3])):
            if record.crc(row[:8]) != row[8]:
                raise Damaged(f"A write of checkpoint {row[1]!r} is not what was written. {pieces.DAMAGED}")
            found[row[1]].append((row[2], row[5], row[6], row[7]))
        return found

    return read
