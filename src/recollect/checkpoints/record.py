"""The rows of checkpoints: what is in one, and whether it is what was written."""

from __future__ import annotations

import json
from zlib import compress, crc32, decompress
from zlib import error as ZlibError

from .. import conversations, erased
from ..errors import Damaged
from .pieces import AT_ONCE, DAMAGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..conversations import Found
    from ..db import Row, Tx

COLUMNS = "namespace, checkpoint_id, parent_id, branch_no, seq, source, step, node, run_id, created_at, state, checksum"
CHECKPOINT = (
    "insert into checkpoints (user_no, conversation_no, namespace, checkpoint_id, parent_id, branch_no, seq, source, step,"
    " node, run_id, created_at, state, checksum) values (:user, :c, :ns, :id, :parent, :b, :seq, :source, :step, :node,"
    " :run, :now, :state, :crc) on conflict (user_no, conversation_no, namespace, checkpoint_id) do update set"
    " parent_id = excluded.parent_id, source = excluded.source, step = excluded.step, node = excluded.node,"
    " run_id = excluded.run_id, seq = excluded.seq, branch_no = excluded.branch_no, state = excluded.state,"
    " created_at = excluded.created_at, checksum = excluded.checksum"
)
SMALL_STATE = 2_000  # bytes of JSON that are stored as they are


def there(tx: Tx, conversation: str, *, lock: bool = False) -> Found | None:
    """The conversation behind an id; None if there is none, or if it is in the bin."""
    row = conversations.look(tx, conversation, lock=lock)
    return None if row is None or row[6] is not None else conversations.Found(*row[:6])


def enter(
    tx: Tx, conversation: str, looked: Callable[[], Row | None], *, begun_at: int | None = None
) -> Found:  # fmt: skip
    """The conversation a state is written for, made where there is none. `begun_at`: when a run began that holds nothing of
    what was there; a thread that was erased before that begins anew."""
    row = looked()
    if row is not None and row[6] is None:
        return conversations.Found(*row[:6])
    if row is None:
        again = begun_at is not None and begun_at > (erased.at(tx, erased.CONVERSATION, conversation) or 0)
        conversations.create(
            tx,
            conversation,
            title=None,
            workspace=None,
            workflow_id=None,
            metadata=None,
            origin="langgraph",
            again=again,
        )
    found = conversations.find(tx, conversation, lock=True)
    found.is_new = row is None
    return found


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def pack(state: Mapping[str, Any]) -> bytes:
    """Compressed where that is worth its time: a turn of a chat would spend a twentieth of its own on half a kilobyte."""
    packed = _encode(state).encode()
    return packed if len(packed) < SMALL_STATE else compress(packed, 1)


def crc(row: Sequence[Any]) -> int:
    """Of a row as `COLUMNS` has it, or of a write, without the checksum at its end."""
    return crc32(row[-1], crc32("\0".join(map(str, row[:-1])).encode("utf-8", "surrogatepass")))


def unpack(row: Row) -> dict[str, Any]:
    """What is in a checkpoint's row, as `COLUMNS` selects it."""
    try:
        if crc(row[:11]) != row[11]:
            raise ValueError("its checksum does not fit")
        packed = bytes(row[10])
        loaded: dict[str, Any] = json.loads(packed if packed[:1] == b"{" else decompress(packed))
        return loaded
    except (ValueError, ZlibError, TypeError) as e:
        raise Damaged(f"Checkpoint {row[1]!r} is not what was written ({e}). {DAMAGED}") from None


def find(tx: Tx, no: int, namespace: str, id: str) -> Row | None:
    return tx.one(
        f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
        " and checkpoint_id = :id",
        c=no, ns=namespace, id=id,
    )  # fmt: skip


def said_in(tx: Tx, no: int, branch: int, seqs: Sequence[int]) -> dict[int, str]:
    """Event number -> the checkpoint with which a graph said it, of those that a graph said on this branch."""
    if not seqs:
        return {}
    place = {"c": no, "b": branch, "low": min(seqs), "high": max(seqs)}
    made = tx.all(
        "select seq, checkpoint_id from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
        " and branch_no = :b and seq >= :low order by checkpoint_id",
        c=no, b=branch, low=place["low"],
    )  # fmt: skip
    if not made:
        return {}
    rows = tx.all(
        "select seq from checkpoint_messages where user_no = :user and conversation_no = :c and branch_no = :b"
        " and seq >= :low and seq <= :high",
        **place,
    )
    said = {int(row[0]) for row in rows}
    first = {seq: next((str(id) for upto, id in made if upto >= seq), None) for seq in said.intersection(seqs)}
    return {seq: id for seq, id in first.items() if id is not None}


def marks(prefix: str, values: Sequence[Any]) -> dict[str, Any]:
    """Parameters for several values: one, or as many as a few sizes of statement take, the last one repeated."""
    size = next(n for n in (1, *AT_ONCE) if n >= len(values))
    return {f"{prefix}{i}": values[min(i, len(values) - 1)] for i in range(size)}


_written: dict[bytes, dict[str, Any]] = {}
"""What is in rows that were written a moment ago, for the next one: it is their child."""


def remember(state: bytes, head: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    if len(_written) >= 64:
        _written.clear()
    # Copied: a graph goes on with its own.
    versions = dict(head.get("channel_versions", {}))
    seen = {name: dict(known or {}) for name, known in head.get("versions_seen", {}).items()}
    _written[state] = {"head": {"channel_versions": versions, "versions_seen": seen}, "values": values}


def was(row: Row) -> dict[str, Any]:
    """The versions and values of a row, only to be looked at."""
    return (_written.get(row[10]) if crc(row[:11]) == row[11] else None) or unpack(row)
