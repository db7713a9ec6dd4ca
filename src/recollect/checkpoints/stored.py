"""Checkpoints as they are read: one, several, those above one, and what a person is shown of them."""

from __future__ import annotations

from base64 import b64decode

from .. import branches, conversations
from ..branches import NO_LIMIT
from ..model import Checkpoint
from . import lineage, pending, pieces, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..conversations import Found
    from ..db import Row, Tx
    from ..model import Branch
    from .pieces import Have, Stored

PAGE = 20


class Loaded:
    """A checkpoint as it is stored. Its values are in `have`, which may be shared with others of one conversation."""

    def __init__(self, found: Found, row: Row, writes: list[Row], have: Have) -> None:
        self.no = found.no
        self.conversation = found.id
        self.namespace, self.id, self.parent = row[0], row[1], row[2]
        self.branch, self.seq, self.source, self.step = row[3], row[4], row[5], row[6]
        state = record.unpack(row)
        self.head: dict[str, Any] = state["head"]
        self.metadata: Any = state["metadata"]
        self.values: dict[str, bytes | Stored] = {
            channel: bytes.fromhex(v) if isinstance(v, str) else (v[0], b64decode(v[1]))
            for channel, v in state["values"].items()
        }
        self.writes = writes
        self.have = have

    def wanted(self, channels: Iterable[str] | None = None) -> list[bytes]:
        """The keys that its values and writes start from."""
        keys = [v for c, v in self.values.items() if isinstance(v, bytes) and (channels is None or c in channels)]
        for _, channel, type, data in self.writes:
            if type == pieces.LIST and (channels is None or channel in channels):
                keys += pieces.keys_in(data)
        return keys


_WITH_ITS_CONVERSATION = (
    "select c.no, c.id, c.last_seq, c.active_branch, c.title, c.workspace, "
    + ", ".join(f"k.{name}" for name in record.COLUMNS.split(", "))
    + " from conversations c join checkpoints k on k.user_no = c.user_no and k.conversation_no = c.no"
    " where c.user_no = :user and c.id = :id and c.deleted_at is null and k.namespace = :ns and "
)


def get(
    tx: Tx, conversation: str, namespace: str, id: str | None, branch: str | Branch | None, have: Have,
    likely: tuple[int, str] | None,
) -> Loaded | None:  # fmt: skip
    """A checkpoint by its id, or the newest of a branch. `likely` is the number of the conversation and the id of the
    checkpoint that it will be, as far as somebody knows: then all is asked at once."""
    rows = None
    if id is not None:
        rows = tx.blobs(_WITH_ITS_CONVERSATION + "k.checkpoint_id = :k", id=conversation, ns=namespace, k=id)
    elif branch is None:
        rows = tx.blobs(
            _WITH_ITS_CONVERSATION + "k.branch_no = c.active_branch order by k.checkpoint_id desc limit 1",
            id=conversation, ns=namespace,
        )  # fmt: skip
    written = None if likely is None else pending.asking(tx, likely[0], namespace, [likely[1]])
    joined = None if rows is None else next(iter(rows()), None)
    if joined is not None:
        found, row = conversations.Found(*joined[:6]), joined[6:]
    elif id is not None:
        return None
    else:
        there = record.there(tx, conversation)
        newest = None if there is None else _newest(tx, there, namespace, branch)
        if there is None or newest is None:
            return None
        found, row = there, newest
    if id is None and not namespace and row[3] != branches.number(tx, found, branch):
        writes: list[Row] = []  # forked in the log: what was written since belongs to the branch that went on from here
    elif written is not None and likely == (found.no, row[1]):
        writes = written()[row[1]]
    else:
        writes = pending.since(tx, found.no, namespace, [row[1]])[row[1]]
    loaded = Loaded(found, row, writes, have)
    pieces.collect(tx, found.no, loaded.wanted(), have)
    return loaded


def _newest(tx: Tx, found: Found, namespace: str, branch: str | Branch | None) -> Row | None:
    own = branches.lineage(tx, found.no, branches.number(tx, found, branch))
    return lineage.newest(tx, found.no, namespace, own)


def find(
    tx: Tx,
    conversation: str | None,
    namespace: str | None,
    id: str | None,
    before: str | None,
    source: str | None,
    step: int | None,
    limit: int | None,
) -> list[tuple[int, str, str]]:
    """(conversation, namespace, checkpoint) of what fits, newest first."""
    clause = ""
    if namespace is not None:
        clause += " and k.namespace = :ns"
    if id is not None:
        clause += " and k.checkpoint_id = :id"
    if before is not None:
        clause += " and k.checkpoint_id < :before"
    if source is not None:
        clause += " and k.source = :source"
    if step is not None:
        clause += " and k.step = :step"
    asked = {"ns": namespace, "id": id, "before": before, "source": source, "step": step}
    params: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if conversation is not None:
        found = record.there(tx, conversation)
        if found is None:
            return []
        rows = tx.all(
            "select k.conversation_no, k.namespace, k.checkpoint_id from checkpoints k where k.user_no = :user"
            f" and k.conversation_no = :c{clause} order by k.checkpoint_id desc limit :limit",
            c=found.no, limit=NO_LIMIT if limit is None else limit, **params,
        )  # fmt: skip
    else:
        rows = tx.all(
            "select k.conversation_no, k.namespace, k.checkpoint_id from conversations c join checkpoints k"
            " on k.user_no = c.user_no and k.conversation_no = c.no where c.user_no = :user and c.deleted_at is null"
            f"{clause} order by k.checkpoint_id desc limit :limit",
            limit=NO_LIMIT if limit is None else limit, **params,
        )  # fmt: skip
    return [(row[0], row[1], row[2]) for row in rows]


def load(
    tx: Tx, places: Sequence[tuple[int, str, str]], have: dict[int, Have]
) -> tuple[list[Loaded], dict[int, Stored | None]]:
    """Several checkpoints, their shared values read once, and the secrets of their conversations. What was deleted meanwhile
    is left out."""
    found: dict[tuple[int, str, str], Loaded] = {}
    secrets = {no: pieces.asking_secret(tx, no) for no in dict.fromkeys(place[0] for place in places)}
    asked = []
    for no, namespace in dict.fromkeys(place[:2] for place in places):
        owner = tx.later(
            "select id, last_seq, active_branch from conversations where user_no = :user and no = :c", c=no
        )
        ids = [place[2] for place in places if place[:2] == (no, namespace)]
        marks = record.marks("i", ids)
        rows = tx.blobs(
            f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
            f" and checkpoint_id in ({', '.join(':' + m for m in marks)})",
            c=no, ns=namespace, **marks,
        )  # fmt: skip
        asked.append((no, namespace, owner, rows, pending.asking(tx, no, namespace, ids)))
    for no, namespace, owner, rows, written in asked:
        for who in owner():
            writes = written()
            for row in rows():
                place = (no, namespace, row[1])
                found[place] = Loaded(conversations.Found(no, *who), row, writes[row[1]], have.setdefault(no, {}))
    for no in {place[0] for place in found}:
        keys = [key for loaded in found.values() if loaded.no == no for key in loaded.wanted()]
        pieces.collect(tx, no, keys, have[no])
    return [found[place] for place in places if place in found], {no: secret() for no, secret in secrets.items()}


def ancestors(
    tx: Tx, conversation: str, namespace: str, id: str | None, channels: Sequence[str], branch: str | Branch | None
) -> list[Loaded]:
    """The checkpoints above one, nearest first, as far up as one of the channels has no stored value yet."""
    found = record.there(tx, conversation)
    if found is None:
        return []
    if id is None:
        id = lineage.latest(tx, found, namespace, branch)
    row = None if id is None else record.find(tx, found.no, namespace, id)
    chain: list[Loaded] = []
    have: Have = {}
    left, seen = set(channels), {id}
    while row is not None and left and row[2] is not None and row[2] not in seen:
        seen.add(row[2])
        row = record.find(tx, found.no, namespace, row[2])
        if row is not None:
            loaded = Loaded(found, row, pending.since(tx, found.no, namespace, [row[1]])[row[1]], have)
            pieces.collect(tx, found.no, loaded.wanted(left), have)
            left -= loaded.values.keys()
            chain.append(loaded)
    return chain


def listing(
    tx: Tx, conversation: str, *, limit: int, before: str | None, branch: str | Branch | None
) -> list[Checkpoint]:
    """The checkpoints of the graph itself, newest first."""
    found = conversations.find(tx, conversation)
    known = branches.tree(tx, found.no)
    only = None if branch is None else branches.number(tx, found, branch)
    rows = tx.all(
        "select checkpoint_id, parent_id, branch_no, seq, source, step, node, created_at from checkpoints"
        " where user_no = :user and conversation_no = :c and namespace = '' and (cast(:before as text) is null"
        " or checkpoint_id < :before) and (cast(:b as bigint) is null or branch_no = :b)"
        " order by checkpoint_id desc limit :limit",
        c=found.no, before=before, b=only, limit=limit,
    )  # fmt: skip
    return [
        Checkpoint(
            id=id, conversation_id=found.id, parent=parent, branch=known[b][0], seq=seq, source=source, step=step,
            node=node, created_at=at, preview=branches.preview(tx, found.no, branches.climb(known, b, seq)),
        )
        for id, parent, b, seq, source, step, node, at in rows
    ]  # fmt: skip


def said(tx: Tx, conversation: str) -> tuple[int, int]:
    """How many messages graphs have said in a conversation, and the number of the first of them; (0, 0) for none."""
    found = conversations.find(tx, conversation)
    row = tx.one(
        "select count(*), coalesce(min(seq), 0) from checkpoint_messages where user_no = :user and conversation_no = :c",
        c=found.no,
    )
    assert row is not None
    return int(row[0]), int(row[1])


def said_by_user(tx: Tx, conversation: str, messages: Sequence[str]) -> set[str]:
    """Those of these messages that the user said, on whichever branch."""
    found = record.there(tx, conversation)
    if found is None:
        return set()
    said: set[str] = set()
    for start in range(0, len(messages), pieces.AT_ONCE[-1]):
        marks = record.marks("m", messages[start : start + pieces.AT_ONCE[-1]])
        rows = tx.all(
            "select m.message_id from checkpoint_messages m join events e on e.user_no = m.user_no"
            " and e.conversation_no = m.conversation_no and e.branch_no = m.branch_no and e.seq = m.seq"
            " where m.user_no = :user and m.conversation_no = :c and e.role = 'user'"
            f" and m.message_id in ({', '.join(':' + m for m in marks)})",
            c=found.no, **marks,
        )  # fmt: skip
        said |= {str(row[0]) for row in rows}
    return said
