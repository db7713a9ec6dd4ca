"""Memories: short statements that outlive their conversation. Here is their plain form: remembered, recalled, forgotten.

A memory belongs to the user, or is limited to one conversation or one workspace. Its id follows from its scope and its
words, so that the same statement in the same scope is one memory, however often it is said.
"""

from __future__ import annotations

from . import checks, conversations, ids
from .errors import InvalidInput, NotFound
from .model import MEMORY_KINDS, Memory
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .db import Row, Tx
    from .redact import Gate

COLUMNS = (
    "m.memory_id, m.kind, m.content, m.importance, m.tags, c.id, m.workspace, m.source, m.pinned_at, m.created_at,"
    " m.updated_at, m.id, m.conversation_no"
)
FROM = " from memories m left join conversations c on c.user_no = m.user_no and c.no = m.conversation_no"


class Draft:
    """A memory on its way to the table: checked, redacted, without an id yet."""

    __slots__ = ("content", "importance", "kind", "source", "tags", "terms", "workspace")

    def __init__(
        self, content: str, kind: str, importance: float, tags: Sequence[str], workspace: str | None, source: str | None,
        gate: Gate,
    ) -> None:  # fmt: skip
        if kind not in MEMORY_KINDS:
            raise InvalidInput(f"There is no kind of memory {kind!r}. The kinds are: {', '.join(MEMORY_KINDS)}.")
        if isinstance(importance, bool) or not isinstance(importance, (int, float)) or not 0 <= importance <= 1:
            raise InvalidInput(f"importance must be a number from 0 to 1, not {importance!r}.")
        self.kind = kind
        self.content = gate.text(" ".join(checks.text(content, "content").split()))
        if not self.content:
            raise InvalidInput("content must not be empty.")
        if isinstance(tags, str):
            raise InvalidInput("tags must be a list of texts, not one text.")
        safe = [gate.text(checks.text(tag, "a tag")) for tag in tags]
        self.tags = checks.tags([*safe, "sensitive"] if gate.families else safe)
        self.importance = float(importance) + 0.0
        self.workspace = workspace
        self.source = source
        self.terms = index.memory_terms(self.kind, self.content, self.tags)


def remember(tx: Tx, draft: Draft, conversation: str | None, id: str | None = None) -> Memory:
    """With an `id` of the caller's, that memory and no other: it is never one with another of the same words."""
    from hashlib import blake2b

    no = conversations.find(tx, conversation).no if conversation is not None else None
    now = ids.now()
    created = now
    if id is None:
        scope = f"{conversation or ''}\0{draft.workspace or ''}\0{draft.content.casefold()}"
        id = blake2b(scope.encode(), digest_size=16).hexdigest()
    else:
        before = tx.one("select created_at from memories where user_no = :user and memory_id = :id", id=id)
        if before is not None:
            created = before[0]
            forget(tx, id)
    there = tx.one("select id from memories where user_no = :user and memory_id = :id", id=id)
    if there is not None:
        tx.run("update memories set updated_at = :now where user_no = :user and memory_id = :id", id=id, now=now)
        return get(tx, id)
    tick = tx.ticks(1)[0]
    tx.run(
        "insert into memories (id, user_no, memory_id, kind, content, importance, tags, conversation_no, workspace, source,"
        " created_at, updated_at) values (:tick, :user, :id, :kind, :content, :importance, :tags, :c, :workspace, :source,"
        " :created, :now)",
        tick=tick, id=id, kind=draft.kind, content=draft.content, importance=draft.importance, tags=draft.tags, c=no,
        workspace=draft.workspace, source=draft.source, created=created, now=now,
    )  # fmt: skip
    index.add(tx, [index.entry(tick, no, draft.workspace, draft.terms)])
    return get(tx, id)


def get(tx: Tx, id: str) -> Memory:
    row = tx.one(f"select {COLUMNS}{FROM} where m.user_no = :user and m.memory_id = :id", id=id)
    if row is None:
        raise NotFound(f"There is no memory {id!r}.")
    return load(row)


def tags(row: Row) -> tuple[str, ...]:
    if row[4] is None:
        return ()
    import json

    return tuple(json.loads(row[4]))


def beginning(tx: Tx, id: str, limit: int = 9) -> list[Memory]:
    """Memories whose id begins like this: people do not type 32 characters."""
    rows = tx.all(
        f"select {COLUMNS}{FROM} where m.user_no = :user and substr(m.memory_id, 1, :n) = :id"
        " order by m.memory_id limit :limit",
        id=id, n=len(id), limit=limit,
    )  # fmt: skip
    return [load(row) for row in rows]


def load(row: Row) -> Memory:
    return Memory(
        id=row[0], kind=row[1], content=row[2], importance=row[3], tags=tags(row), conversation_id=row[5], workspace=row[6],
        source=row[7], pinned=row[8] is not None, created_at=row[9], updated_at=row[10],
    )  # fmt: skip


_STORED = "select id, kind, content, tags, conversation_no, workspace, source from memories where user_no = :user"
"""A memory as the index needs to know it."""


def page(tx: Tx, after: int, most: int) -> list[Row]:
    """Stored memories by id, as `entry` takes them."""
    return tx.all(_STORED + " and id > :after order by id limit :most", after=after, most=most)


def entry(row: Row) -> Row:
    """What a stored memory is indexed under."""
    id, kind, content, tags, conversation, workspace, _ = row
    return index.entry(id, conversation, workspace, index.memory_terms(kind, content, tags))


def forget(tx: Tx, id: str) -> None:
    """For good, from the index too."""
    row = tx.one(_STORED + " and memory_id = :id", id=id)
    if row is None:
        raise NotFound(f"There is no memory {id!r}.")
    _remove(tx, row)


def forget_of(tx: Tx, conversation: conversations.Found) -> int:
    """Everything limited to a conversation or learned from its events; when that is erased."""
    rows = tx.all(_STORED + " and (conversation_no = :c or source is not null)", c=conversation.no)
    gone = [row for row in rows if row[4] == conversation.no or row[6].rpartition(":")[0] == conversation.id]
    for row in gone:
        _remove(tx, row)
    return len(gone)


def _remove(tx: Tx, row: Row) -> None:
    index.remove(tx, [entry(row)])
    tx.run("delete from memories where user_no = :user and id = :id", id=row[0])


def replace(tx: Tx, row: Row, clean: Row) -> None:
    """Put another content in the place of a stored one, unless that was forgotten meanwhile."""
    if tx.all(_STORED + " and id = :id" + tx.for_update, id=row[0]) != [row]:
        return
    index.remove(tx, [entry(row)])
    tx.run(
        "update memories set content = :content, tags = :tags, workspace = :workspace, source = :source"
        " where user_no = :user and id = :id",
        id=clean[0], content=clean[2], tags=clean[3], workspace=clean[5], source=clean[6],
    )  # fmt: skip
    index.add(tx, [entry(clean)])
    index.embed_again(tx, clean[0])
