"""Items that are also memories: `("memories", user)` and `("memories", user, thread)` with a `content` that is a text.

The namespace is the scope, by equality: the first is a memory of that user, the second is limited to that conversation
and not seen from anywhere else. The caller's key is the memory's id where it is free and fit to be one; a memory of an
item is never one with another, whatever they say. This is the only place that knows both tables.

The item is the program's, and kept as it was put. The memory is the program's word about a person: it waits for a person
where it is dangerous, gives way to what the user says, and belongs to the user once a person has taken it over.

A user's memories are in that user's part of the database. Where the items are somebody else's - a backend keeps those of
all its users under its own name - the memory follows in a transaction of its own, and a job that was queued with the item
stands in for a process that dies in between.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b

from . import conversations, edits, ids, items, jobs, memories
from .errors import InvalidInput, NotFound
from .extract import danger
from .memories import ACTIVE
from .model import MEMORY_KINDS, SENSITIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .db import Database, Row, Tx
    from .model import Memory
    from .redact import Gate

ROOT = "memories"
AGENT = "assistant"
"""Whose words they are, whatever the item says."""
KIND = "mirror"
"""Of the job."""
SWEEP = 500


class Wanted:
    """The memory that an item is to be."""

    __slots__ = ("draft", "name", "run", "thread", "user")

    def __init__(self, user: str, thread: str | None, name: str, draft: edits.Draft, run: str | None) -> None:
        self.user, self.thread, self.name, self.draft = user, thread, name, draft
        self.run = run
        """The conversation in which it was put, if any."""


def user_of(namespace: items.Labels) -> str | None:
    """Whose memories a namespace holds; None if it holds none."""
    if namespace[:1] != (ROOT,) or len(namespace) not in (2, 3):
        return None
    try:
        for label in namespace[1:]:
            ids.check(label, "label")
    except InvalidInput:
        return None
    return namespace[1]


def wanted(
    namespace: items.Labels, key: str, value: Mapping[str, Any], source: str | None, gate: Gate
) -> Wanted | None:
    """The memory that this item is, None if it is none. `source` is what the item remembers of the run that put it."""
    user, content = user_of(namespace), value.get("content")
    if user is None or not isinstance(content, str) or not content.strip() or "\0" in content:
        return None
    kind, importance, tags = value.get("kind"), value.get("importance"), value.get("tags")
    said, checkpoint = value.get("source"), value.get("source_checkpoint_id")
    try:
        draft = edits.Draft(
            gate.another(),
            content,
            kind if kind in MEMORY_KINDS else "fact",
            _share(importance),
            [
                *([t for t in tags if isinstance(t, str) and t and "\0" not in t] if isinstance(tags, list) else ()),
                *([SENSITIVE] if "[redacted:" in content else ()),  # it had a secret in it when it was put
            ],
            None,
            said if isinstance(said, str) and said and "\0" not in said else None,
            role=AGENT,
            extractor=edits.KEPT,
            checkpoint=gate.another().text(checkpoint)
            if isinstance(checkpoint, str) and "\0" not in checkpoint
            else None,
        )
    except InvalidInput:
        return None  # half of a surrogate pair: an item can hold it, a memory cannot
    return Wanted(user, namespace[2] if len(namespace) == 3 else None, key, draft, _run_of(source))


def _share(value: Any) -> float:
    is_one = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_one else 0.5


def keep(tx: Tx, wish: Wanted, now_id: str | None, owner: str, item: int) -> str | None:
    """Write the memory of an item, in the place of the one it was. Returns its id; None if it cannot be one, because
    there is no such conversation (yet)."""
    held = None if now_id is None else _held(tx, now_id)
    if held is not None and (held.content == wish.draft.content and (held.state != ACTIVE or _is_adopted(held))):
        return now_id  # what a person decided about these very words holds, however often they are put
    if held is None or _is_adopted(held):
        now_id = None
    id = now_id or _free(tx, wish, owner, item)
    if wish.draft.source is None and wish.run is not None:
        wish.draft.source = _newest_event(tx, wish.run)
    try:
        return edits.keep(tx, wish.draft, wish.thread, id, danger.reason(wish.draft.content)).id
    except NotFound:
        if now_id is not None:
            forget(tx, now_id)
        return None


def _held(tx: Tx, memory: str) -> Memory | None:
    try:
        return memories.get(tx, memory)
    except NotFound:
        return None  # erased


def _is_adopted(memory: Memory) -> bool:
    """Whether a person has taken it over: then it is theirs, and no program's to change or to remove."""
    return memory.by_hand or memory.pinned


def _free(tx: Tx, wish: Wanted, owner: str, item: int) -> str:
    try:
        ids.check(wish.name, "key")
        memories.get(tx, wish.name)
    except NotFound:
        return wish.name
    except InvalidInput:
        pass
    n = 0
    while _held(tx, id := blake2b(f"{owner}\0{item}{n or ''}".encode(), digest_size=16).hexdigest()) is not None:
        n += 1
    return id


def forget(tx: Tx, memory: str) -> None:
    """Its item is gone, or says something else."""
    held = _held(tx, memory)
    if held is not None and not _is_adopted(held):
        edits.remove(tx, [memories.number(tx, memory)])


def follow(db: Database, owner: str, item: int, gate: Gate, embeds: bool) -> None:
    """Bring the memory of another user's to what its item says. Does nothing when it does already."""
    row = db.read(owner, lambda tx: items.by_id(tx, item))
    if row is None:
        return
    wish = wanted(items.labels(row[1]), row[2], items.load(row), row[7], gate)
    user = user_of(items.labels(row[1]))
    if user is None:
        return

    def write(tx: Tx) -> str | None:
        if wish is None:
            if row[8] is not None:
                forget(tx, row[8])
            return None
        if embeds:
            jobs.enqueue(tx, "embed", "all")
        return keep(tx, wish, row[8], owner, item)

    id = db.write(user, write)
    if id != row[8]:
        db.write(owner, lambda tx: items.set_memory(tx, item, id))


def sweep(db: Database, owner: str, before: int) -> int:
    """Remove items whose time ran out before this, and the memories that they were. Returns how many items went."""
    gone = 0
    while True:
        elsewhere = db.read(owner, lambda tx: items.expired(tx, before, SWEEP))
        for _, namespace, _, memory in elsewhere:
            user = user_of(items.labels(namespace))
            if memory is not None and user is not None and user != owner:
                db.write(user, partial(forget, memory=memory))

        def write(tx: Tx) -> int:
            rows = items.expired(tx, before, SWEEP, lock=True)
            items.remove(tx, rows)
            for _, namespace, _, memory in rows:
                if memory is not None and user_of(items.labels(namespace)) == owner:
                    forget(tx, memory)
            return len(rows)

        n = db.write(owner, write) if elsewhere else 0
        gone += n
        if n < SWEEP:
            break
    if gone:
        db.scrub()
    return gone


def sweep_job(db: Database, owner: str) -> int | None:
    """Sweep what expired a while ago. Returns in how many milliseconds there will be more to do; None: not at all."""
    sweep(db, owner, ids.now() - items.GRACE_MS)
    due = db.read(owner, items.next_expiry)
    return None if due is None else max(items.GRACE_MS, due + items.GRACE_MS - ids.now())


def _run_of(source: str | None) -> str | None:
    if source is None:
        return None
    import json

    said = json.loads(source).get("thread_id")
    return said if isinstance(said, str) else None


def _newest_event(tx: Tx, conversation: str) -> str | None:
    """What a memory came from: the newest event of the conversation in which it was put."""
    row = tx.one(
        "select last_seq from conversations where user_no = :user and id = :id and deleted_at is null", id=conversation
    )
    return f"{conversation}:{row[0]}" if row is not None and row[0] else None


# -- reading through: what was learned, for whoever asks for items


class Learned:
    """What is known in the scope of a namespace besides what was put there, and what has become of what was; `only` of one
    memory."""

    def __init__(self, tx: Tx, namespace: items.Labels, is_owner: bool, only: str | None = None) -> None:
        self._is_owner = is_owner
        self.numbers: dict[str, int] = {}
        self.memories: dict[str, Memory] = {}
        """Active memories that no item is, by id, the newest first."""
        self.since: dict[str, tuple[int, int, Memory | None]] = {}
        """Memory of an item -> the number and time of the change by which it ended, and the memory that stands now."""
        scope = _scope(tx, namespace)
        if scope is None:
            return
        one, params = ("", {}) if only is None else (" and m.memory_id = :only", {"only": only})
        rows = tx.all(
            f"select {memories.COLUMNS}{memories.FROM} where m.user_no = :user and m.namespace = :n and m.state = 'active'{one}"
            " and (r.extractor <> :kept or r.by_hand is not null or r.pinned_at is not null) order by r.id desc",
            n=scope, kept=edits.KEPT, **params,
        )  # fmt: skip
        found = [(row[11], memories.load(row, ids.now())) for row in rows]
        self.memories = {m.id: m for _, m in found if m.state == ACTIVE}
        self.numbers = {m.id: int(no) for no, m in found}
        ended = tx.all(
            "select m.memory_id, r.id, r.at, r.replaced_by from memories m join memory_changes r on r.user_no = m.user_no"
            " and r.id = m.head and r.memory = m.id where m.user_no = :user and m.namespace = :n"
            f" and m.state in ('replaced', 'forgotten') and r.extractor = :kept{one}",
            n=scope, kept=edits.KEPT, **params,
        )  # fmt: skip
        for id, change, at, successor in ended:
            self.since[id] = change, at, self._standing(tx, successor)

    def _standing(self, tx: Tx, id: str | None) -> Memory | None:
        """What has taken a memory's place in the end."""
        for _ in range(100):
            held = None if id is None else self.memories.get(id) or _held(tx, id)
            if held is None or held.state == ACTIVE:
                return held
            id = held.replaced_by
        return None

    def has_ended(self, row: Row) -> bool:
        """Whether what an item (as `items.COLUMNS`) said has ended since it was put."""
        known = None if row[8] is None else self.since.get(row[8])
        return known is not None and (known[0] > row[9] if self._is_owner else known[1] > row[5])

    def now(self, row: Row) -> Memory | None:
        """What stands in its place; None: nothing does."""
        return self.since[row[8]][2]


def _scope(tx: Tx, namespace: items.Labels) -> str | None:
    if len(namespace) == 2:
        return memories.namespace(None, None)
    row = conversations.look(tx, namespace[2])
    return None if row is None or row[6] is not None else memories.namespace(int(row[0]), None)


def value_of(memory: Memory) -> dict[str, Any]:
    """A memory as the value of an item. `learned` says that nobody put it."""
    found: dict[str, Any] = {
        "content": memory.content, "kind": memory.kind, "importance": memory.importance, "tags": list(memory.tags),
    }  # fmt: skip
    if memory.source is not None:
        found["source"] = memory.source
    return {**found, "learned": True}


def spaces(tx: Tx, user: str) -> list[items.Labels]:
    """The namespaces in which something of a user's is read through."""
    rows = tx.all(
        "select distinct c.id, m.conversation_no from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head"
        " and r.memory = m.id left join conversations c on c.user_no = m.user_no and c.no = m.conversation_no"
        " where m.user_no = :user and m.state = 'active' and m.workspace is null and c.deleted_at is null"
        " and (r.extractor <> :kept or r.by_hand is not null or r.pinned_at is not null)",
        kept=edits.KEPT,
    )  # fmt: skip
    found: list[items.Labels] = [(ROOT, user) if no is None else (ROOT, user, str(id)) for id, no in rows]
    return [labels for labels in found if not any("." in label for label in labels)]
