"""Edits: what happens to memories, written down so that it can be taken back.

`Edit` writes rows of `memory_changes` that belong together and brings the rest in step: the head, the index, what rests
on it. Below it are the verbs: remembered, revised, pinned, forgotten, undone; and last what leaves nothing behind.
"""

from __future__ import annotations

from . import branches, checks, conversations, ids, memories, views
from .checkpoints import record
from .errors import InvalidInput, NotFound
from .memories import ACTIVE
from .search import index
from .views import Change, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .conversations import Found
    from .db import Row, Tx
    from .model import Memory
    from .redact import Gate
    from .views import Place

HAND = "hand"
CALLED = "call"
"""The extractors of what was remembered by a verb: a person's words, or those of another role."""
KEPT = "item"
"""The extractor of what a program keeps as an item of its own."""
EDITED = "edit"
"""Who made the changes that take back what an edited message had taught."""
_SOURCE = ("source", "source_no", "source_branch", "source_seqs", "checkpoint", "role")
_NEW: dict[str, Any] = dict.fromkeys(views.NAMES.replace(",", " ").split())


class Draft:
    """A memory on its way to the table: checked, redacted, without an id yet."""

    __slots__ = (
        "checkpoint",
        "content",
        "extractor",
        "flag",
        "importance",
        "kind",
        "role",
        "roots",
        "seqs",
        "source",
        "tags",
        "valid_from",
        "valid_to",
        "workspace",
    )  # fmt: skip

    def __init__(
        self,
        gate: Gate,
        content: str,
        kind: str = "fact",
        importance: float = 0.5,
        tags: Sequence[str] | None = (),
        workspace: str | None = None,
        source: str | None = None,
        *,
        role: str | None = "user",
        extractor: str = HAND,
        valid_from: int | None = None,
        valid_to: int | None = None,
        roots: Sequence[str] = (),
        seqs: Sequence[int] = (),
        checkpoint: str | None = None,
    ) -> None:
        self.kind = memories.kind_of(kind)
        self.importance = importance_of(importance)
        checks.fits(gate.most, "The memory", content)
        self.content = checks.line(checks.text(content, "content"), gate)
        if not self.content:
            raise InvalidInput("content must not be empty.")
        is_by_hand = role == "user" and extractor == HAND  # what a model took from the user's words is the model's
        self.tags = tags_of(tags if is_by_hand else checks.unreserved(checks.several_tags(tags)), gate)
        self.workspace = workspace
        self.source = gate.optional(checks.optional(source, "source"))
        self.role = role
        self.extractor = CALLED if extractor == HAND and role != "user" else extractor
        self.valid_from, self.valid_to = _moment(valid_from, "valid_from"), _moment(valid_to, "valid_to")
        self.roots = tuple(ids.check(root, "a memory id") for root in roots)
        self.seqs = tuple(seqs)
        self.checkpoint = checkpoint


def _moment(value: int | None, what: str) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63):
        raise InvalidInput(f"{what} must be a time: a whole number of milliseconds since 1970.")
    return value


def importance_of(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"importance must be a number from 0 to 1, not {value!r}.")
    return float(value) + 0.0


def tags_of(tags: Sequence[str] | None, gate: Gate) -> str | None:
    safe = [gate.text(checks.text(tag, "a tag")) for tag in checks.several_tags(tags)]
    return checks.tags([*safe, "sensitive"] if gate.families else safe)


class Limits:
    """How much may be held, and for how long: from the settings."""

    __slots__ = ("low", "most", "promote", "ttl_ms")

    def __init__(self, most: int, low: float, ttl_days: int, promote: tuple[str, ...]) -> None:
        self.most = most
        self.low = low
        self.ttl_ms = ttl_days * ids.DAY_MS
        self.promote = ("user", *promote)

    def expires_at(self, draft: Draft, now: int) -> int | None:
        """Low importance goes unless it is said again; never what a person wrote."""
        return now + self.ttl_ms if draft.importance < self.low and draft.extractor != HAND else None


class Edit:
    """Changes that are made together: one transaction's, undone together. `place` is where they are made."""

    def __init__(self, tx: Tx, view: View, *, who: str, place: Place | None = None, at: int | None = None) -> None:
        self._tx = tx
        self._view = view
        self._who = who
        self._place = place
        self._now = ids.now()
        self._at = self._now if at is None else at
        self._group: int | None = None
        self.touched: set[int] = set()
        # One at a time for each user: what is held must not change between looking and writing. (SQLite has one writer.)
        tx.one("select no from users where no = :user" + tx.for_update)
        self._left: dict[int, str] = {}
        """Memories that are active no longer -> why what rests on them should be looked at."""

    def put(self, memory: int, base: Change | None, action: str, why: str | None, **after: Any) -> Change:
        """Write down that something happened to a memory. What is not said is as it was in `base`."""
        tick = self._tx.ticks(1)[0]
        if self._group is None:
            self._group = tick
        no, branch, seq = self._place or (None, None, None)
        own = {
            "id": tick, "user_no": self._tx.user, "memory": memory, "change": self._group, "action": action,
            "conversation_no": no, "branch_no": branch, "seq": seq, "who": self._who, "why": why,
            "prior": None if base is None else base.id, "at": self._at, "undone_at": None,
        }  # fmt: skip
        change = Change(**{**_NEW, **(base.__dict__ if base is not None else {}), **after, **own})
        self._tx.many(views.INSERT, [change.values])
        self.touched.add(memory)
        if base is not None and base.state == ACTIVE and change.state != ACTIVE:
            self._left[memory] = {"replaced": "has changed", "expired": "has expired"}.get(
                change.state, "was forgotten"
            )
        return change

    def add(
        self, draft: Draft, found: Found | None, id: str, state: str, why: str, limits: Limits, **after: Any
    ) -> int:
        """A statement that stands from now on. Returns the memory's number; the same statement again keeps its own."""
        tx = self._tx
        no = None if found is None else found.no
        row = tx.one("select id from memories where user_no = :user and memory_id = :id" + tx.for_update, id=id)
        if row is None:
            memory = tx.ticks(1)[0]
            tx.run(
                "insert into memories (id, user_no, memory_id, content, kind, tags, conversation_no, workspace, namespace,"
                " state, created_at) values (:tick, :user, :id, :content, :kind, :tags, :c, :workspace, :namespace, 'hidden',"
                " :at)",
                tick=memory, id=id, content=draft.content, kind=draft.kind, tags=draft.tags, c=no, workspace=draft.workspace,
                namespace=memories.namespace(no, draft.workspace), at=self._at,
            )  # fmt: skip
        else:
            memory = int(row[0])
        self._root(memory, draft.roots)
        base = self._view.among([memory]).get(memory) if row is not None else None
        self.put(
            memory, base, "quarantined" if state == "quarantined" else "added", why, state=state,
            wording=None if row is None else draft.content, kind=draft.kind, importance=draft.importance, tags=draft.tags,
            by_hand=self._now if draft.extractor == HAND else None, replaced_by=None, flag=None,
            valid_from=self._at if draft.valid_from is None else draft.valid_from, valid_to=draft.valid_to,
            **{
                "conflicts_with": None, "pinned_at": None, "expires_at": limits.expires_at(draft, self._now),
                **self._provenance(draft), **after,
            },
        )  # fmt: skip
        return memory

    def _root(self, memory: int, roots: Iterable[str]) -> None:
        for root in roots:
            no = memories.number(self._tx, root)
            if no == memory:
                raise InvalidInput("A memory cannot be derived from itself.")
            self._tx.run(
                "insert into memory_roots (user_no, memory, root) values (:user, :memory, :root) on conflict do nothing",
                memory=memory, root=no,
            )  # fmt: skip

    def confirm(self, memory: int, base: Change, why: str, limits: Limits, draft: Draft) -> None:
        """The same was said again. It is refreshed; said again and again on one branch, that is one row. Said in another
        place, or by hand, it stands by itself from then on: what the first place had may go."""
        expires = None if base.expires_at is None else self._now + limits.ttl_ms
        mine = None if self._place is None else self._place[:2]
        if base.action == "confirmed" and base.who == self._who and (base.place and base.place[:2]) == mine:
            self._tx.run(
                "update memory_changes set at = :at, expires_at = :expires where user_no = :user and id = :id",
                at=self._at, expires=expires, id=base.id,
            )  # fmt: skip
            self.touched.add(memory)
            return
        after: dict[str, Any] = {"expires_at": expires}
        by_hand = draft.extractor == HAND
        if by_hand:
            after |= {"by_hand": base.by_hand or self._now, "expires_at": None}
        if by_hand or (self._place is not None and self._place[0] != base.source_no):
            after |= self._provenance(draft)
        self.put(memory, base, "confirmed", why, **after)

    def _provenance(self, draft: Draft) -> dict[str, Any]:
        is_ours = self._place is not None and bool(draft.seqs)
        no, branch, _ = self._place if self._place is not None and is_ours else (None, None, None)
        return {
            "source": None if is_ours else draft.source, "source_no": no, "source_branch": branch,
            "source_seqs": ",".join(map(str, draft.seqs)) if is_ours else None, "checkpoint": draft.checkpoint,
            "role": draft.role, "extractor": draft.extractor,
        }  # fmt: skip

    def finish(self) -> None:
        """Flag what rests on what has gone, and bring heads and index in step."""
        if self._left:
            for root, happened in list(self._left.items()):
                self._flag_dependants(root, happened)
        refresh(self._tx, self.touched)

    def _flag_dependants(self, root: int, happened: str) -> None:
        rows = self._tx.all("select memory from memory_roots where user_no = :user and root = :root", root=root)
        dependants = [row[0] for row in rows if row[0] not in self.touched]
        for memory, standing in self._view.among(dependants).items():
            if standing.state == ACTIVE and standing.flag is None:
                self.put(
                    memory, standing, "flagged", f"what it rests on {happened}", flag=f"What it rests on {happened}."
                )


# -- how memories stand, after a change


def refresh(tx: Tx, numbers: Iterable[int]) -> None:
    """How these memories stand from outside, and whether they can be found at all: written down after a change."""
    listed = sorted(numbers)
    view = View(tx)
    known = views.of(tx, listed)
    for start in range(0, len(listed), 400):
        part = listed[start : start + 400]
        rows = tx.all(memories.STORED + f" and id in ({','.join(map(str, part))})")
        for row in rows:
            _refresh(tx, view, row, known.get(row[0], []))


def _refresh(tx: Tx, view: View, row: Row, changes: list[Change]) -> None:
    memory, kind, content, tags, conversation, workspace, indexed_at, state, head = row
    standing = view.standing(changes)
    stands = "hidden" if standing is None else standing.state
    at = None if standing is None else standing.id
    newest = next((c for c in reversed(changes) if c.undone_at is None), changes[-1] if changes else None)
    after = (kind, tags) if newest is None else (newest.kind, newest.tags)
    is_found = views.may_be_active(changes)
    was, clean = memories.entry(row), (memory, after[0], content, after[1], conversation, workspace)
    if indexed_at is not None and (not is_found or after != (kind, tags)):
        index.remove(tx, [was])
    if is_found and (indexed_at is None or after != (kind, tags)):
        index.add(tx, [memories.entry(clean)])
        index.embed_again(tx, memory)
    if (stands, at, *after, is_found) == (state, head, kind, tags, indexed_at is not None):
        return
    tx.run(
        "update memories set state = :state, head = :head, kind = :kind, tags = :tags, indexed_at = :indexed"
        " where user_no = :user and id = :id",
        id=memory, state=stands, head=at, kind=after[0], tags=after[1],
        indexed=None if not is_found else ids.now() if indexed_at is None else indexed_at,
    )  # fmt: skip


def refresh_of(tx: Tx, conversation: int) -> None:
    """Another branch of a conversation is the active one: what was learned there may stand otherwise now."""
    rows = tx.all(
        "select distinct memory from memory_changes where user_no = :user and conversation_no = :c", c=conversation
    )
    if rows:
        refresh(tx, {row[0] for row in rows})


# -- verbs


def remember(tx: Tx, draft: Draft, conversation: str | None, limits: Limits, *, pinned: bool = False) -> Memory:
    """By hand, or by a tool on somebody's behalf."""
    found = None if conversation is None else conversations.find(tx, conversation)
    place = _source(tx, draft)
    if place is None and found is not None:
        place = found.no, found.active_branch, branches.head(tx, found)
    id = memories.id_of(draft.content, conversation, draft.workspace)
    trusted = draft.role in limits.promote
    edit = Edit(tx, View(tx), who="user" if draft.role == "user" else draft.role or draft.extractor, place=place)
    row = tx.one(
        "select id, head, state from memories where user_no = :user and memory_id = :id" + tx.for_update, id=id
    )
    standing = None if row is None or row[1] is None else memories.change(tx, row[1])
    room: tuple[str, ...] = ()
    if row is not None and standing is not None and row[2] == ACTIVE and not memories.is_over(standing, ids.now()):
        # By hand, it is everywhere from now on: a person has said it, wherever it was learned.
        edit.confirm(row[0], standing, "said again", limits, draft)
    elif standing is not None and not trusted and row is not None and row[2] == "quarantined":
        edit.confirm(row[0], standing, "said again", limits, draft)
    else:
        if trusted and draft.extractor != HAND:
            room = make_room(
                edit, tx, memories.namespace(None if found is None else found.no, draft.workspace), id, limits
            )
        edit.add(
            draft, found, id, ACTIVE if trusted else "quarantined",
            "remembered" if trusted else f"the words of {draft.role or 'nobody'}: somebody has to look at it first", limits,
            **({"pinned_at": ids.now(), "expires_at": None} if pinned and draft.role == "user" else {}),
        )  # fmt: skip
    edit.finish()
    memory = memories.get(tx, id)
    if room:
        memory.__dict__["made_room"] = room
    return memory


def keep(tx: Tx, draft: Draft, conversation: str | None, id: str, waits: str | None = None) -> Memory:
    """A program's statement under an id of the caller's, in the place of what it said before. It is never one with another of
    the same words, there is no limit to them, and it is seen wherever its scope is: a program keeps these, by key. `waits`:
    why a person has to look at it first."""
    found = None if conversation is None else conversations.find(tx, conversation)
    there = tx.one(
        "select id, created_at from memories where user_no = :user and memory_id = :id" + tx.for_update, id=id
    )
    if there is not None:
        remove(tx, [there[0]])
    edit = Edit(tx, View(tx), who=draft.role or draft.extractor)
    made = edit.add(
        draft, found, id, ACTIVE if waits is None else "quarantined", waits or "kept by a program",
        Limits(1 << 62, 0.0, 0, ()),
    )  # fmt: skip
    if there is not None:
        tx.run("update memories set created_at = :at where user_no = :user and id = :m", at=there[1], m=made)
    edit.finish()
    return memories.get(tx, id)


def _source(tx: Tx, draft: Draft) -> Place | None:
    """The place of the event that a draft names as its source, if it is one of this user's."""
    event = None if draft.source is None else ids.event(draft.source)
    if event is None:
        return None
    name, seq = event
    row = tx.one("select no from conversations where user_no = :user and id = :id", id=name)
    if row is None:
        return None
    for branch in branches.tree(tx, row[0]):
        if tx.one(
            "select 1 from events where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq",
            c=row[0], b=branch, seq=seq,
        ):  # fmt: skip
            draft.seqs = (seq,)
            said_in = record.said_in(tx, row[0], branch, [seq]).get(seq)
            draft.checkpoint = draft.checkpoint or said_in or f"event:{seq}"
            return row[0], branch, seq
    return None


def make_room(edit: Edit, tx: Tx, namespace: str, id: str, limits: Limits) -> tuple[str, ...]:
    """Before one more is added that may be let go of: let go of the least important of those, then the oldest. What a person
    pinned or wrote and what a program keeps is never let go of, so it takes no room."""
    rows = tx.all(
        "select m.id, m.memory_id, r.id from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head"
        " where m.user_no = :user and m.namespace = :n and m.state = 'active' and r.pinned_at is null and r.by_hand is null"
        " and r.extractor <> :kept"
        " order by case when r.expires_at <= :now then 0 else 1 end, r.importance, r.at, m.id",
        n=namespace, now=ids.now(), kept=KEPT,
    )  # fmt: skip
    rows = rows[: max(0, len(rows) - limits.most + 1)]
    for memory, _, head in rows:
        standing = memories.change(tx, head)
        assert standing is not None
        edit.put(memory, standing, "evicted", f"made room for {id}", state="expired")
    return tuple(row[1] for row in rows)


def revise(
    tx: Tx,
    id: str,
    draft: Draft | None,
    changes: dict[str, Any],
    limits: Limits,
    *,
    promote: bool = False,
    scope: str | None = None,
    workspace: str | None = None,
) -> Memory:
    """By hand. Another statement, or the same one in another scope, is another memory, which takes the old one's place; anything
    else changes it. A fact of a project stays one when it is promoted: where it is true does not depend on who has looked."""
    row, standing = memories.locked(tx, id)
    if standing.state not in (ACTIVE, "quarantined"):
        raise InvalidInput(f"Memory {id!r} is {standing.state}: {_way_back(standing)}.")
    # Seen from where the memory is seen; promoted, from everywhere.
    edit = Edit(tx, View(tx), who="user", place=None if promote else standing.place)
    after = {"by_hand": edit._now, "flag": None, "conflicts_with": None, "expires_at": None, **changes}
    memory, conversation, was_in = row
    if scope == "workspace" and workspace is None:
        workspace = was_in or _project(tx, standing, conversation)
    moves = scope is not None or (promote and conversation is not None)
    place = workspace if scope is not None else None if moves else was_in
    found = None
    if conversation is not None and not moves:
        found = conversations.find(tx, conversations.by_number(tx, conversation))
    if draft is not None or moves:
        content = _content(tx, memory, standing) if draft is None else draft.content
        new = memories.id_of(content, None if found is None else found.id, place)
        if new != id:
            state, source = ACTIVE, {}
            if draft is None:
                if scope is not None:  # only moved: it came from where it came from, and waits if it waited
                    state = ACTIVE if promote else standing.state
                    source = {name: getattr(standing, name) for name in _SOURCE}
                draft = Draft.__new__(Draft)
                draft.content, draft.tags, draft.roots = content, standing.tags, ()
            draft.kind, draft.importance = (
                after.get("kind", standing.kind),
                after.get("importance", standing.importance),
            )
            draft.tags = after["tags"] if "tags" in after else _merged(draft.tags, standing.tags)
            draft.workspace, draft.source, draft.seqs, draft.checkpoint = place, None, (), None
            draft.role, draft.extractor, draft.valid_from, draft.valid_to = "user", HAND, None, standing.valid_to
            to = "the user" if place is None else f"the workspace {place}"
            why = f"moved to {to}" if scope is not None else "promoted to the user" if moves else "revised"
            edit.put(memory, standing, "replaced", why, state="replaced", replaced_by=new)
            made = edit.add(draft, found, new, state, why if moves else f"revised from {id}", limits, **source)
            if standing.pinned_at is not None:
                tx.run(
                    "update memory_changes set pinned_at = :at where user_no = :user and memory = :m and change = :g",
                    at=standing.pinned_at, m=made, g=edit._group,
                )  # fmt: skip
            edit.finish()
            return memories.get(tx, new)
        after["wording"] = content
    state = ACTIVE if promote else standing.state
    edit.put(memory, standing, "promoted" if promote else "revised", "by hand", state=state, **after)
    edit.finish()
    return memories.get(tx, id)


def _project(tx: Tx, standing: Change, conversation: int | None) -> str:
    """The workspace of the conversation that a memory came from, or is limited to."""
    row = tx.one(
        "select workspace from conversations where user_no = :user and no = :c",
        c=conversation if standing.source_no is None else standing.source_no,
    )  # fmt: skip
    if row is None or row[0] is None:
        raise InvalidInput("It did not come from a conversation of a workspace: say which one is meant (workspace=).")
    return str(row[0])


def _way_back(standing: Change) -> str:
    """What brings back what is not in force. What was undone to its very beginning has nothing left to undo."""
    return "remember() it again" if standing.undone_at is not None else "undo() that first, or remember() it again"


def _merged(own: str | None, before: str | None) -> str | None:
    return own if own is not None else before


def _content(tx: Tx, memory: int, standing: Change) -> str:
    if standing.wording is not None:
        return standing.wording
    return str(tx.all("select content from memories where user_no = :user and id = :id", id=memory)[0][0])


def pin(tx: Tx, id: str, pinned: bool) -> Memory:
    row, standing = memories.locked(tx, id)
    if pinned and standing.state == "forgotten":  # it would be kept for good where nobody sees it
        raise InvalidInput(f"Memory {id!r} is forgotten: {_way_back(standing)}.")
    if (standing.pinned_at is not None) != pinned:
        edit = Edit(tx, View(tx), who="user", place=standing.place)
        after: dict[str, Any] = {"pinned_at": edit._now if pinned else None}
        if pinned:
            after["expires_at"] = None
        edit.put(row[0], standing, "pinned" if pinned else "unpinned", "by hand", **after)
        edit.finish()
    return memories.get(tx, id)


def forget(tx: Tx, id: str, *, role: str = "user") -> None:
    """It is neither found nor listed any more; `undo` brings it back. In another role than the user's, what the user wrote
    or pinned is not to be touched."""
    row, standing = memories.locked(tx, id)
    if standing.state == "forgotten":
        raise NotFound(
            f"Memory {id!r} was forgotten already. {'undo' if standing.undone_at is None else 'remember'}() brings it back,"
            " forget(erase=True) removes it for good."
        )
    if role != "user" and (standing.by_hand is not None or standing.pinned_at is not None):
        raise InvalidInput(f"Memory {id!r} was written or pinned by the user: only the user can forget it.")
    edit = Edit(tx, View(tx), who=role)
    edit.put(row[0], standing, "forgotten", "by hand" if role == "user" else f"asked for by {role}", state="forgotten")
    edit.finish()


def undo(tx: Tx, id: str) -> Memory:
    """Take back the newest change of a memory, as seen from outside, with everything that was changed together with it."""
    row, standing = memories.locked(tx, id)
    if standing.undone_at is not None:
        raise InvalidInput(f"There is nothing left to undo: memory {id!r} is as it was before it was there.")
    last: Change | None = standing
    while last is not None and last.action in ("confirmed", "flagged"):
        last = None if last.prior is None else memories.change(tx, last.prior)
    if last is None or last.undone_at is not None:
        raise InvalidInput(f"There is nothing to undo: memory {id!r} was only said again.")
    rows = tx.all(f"select {views.NAMES} from memory_changes where user_no = :user and change = :g", g=last.change)
    together = [Change(*r) for r in rows]
    known = views.of(tx, sorted({c.memory for c in together}))
    undone = {c.id for c in together}
    for c in together:
        later = [x for x in known[c.memory] if x.id > c.id and x.undone_at is None and x.change != c.change]
        blocking = [x for x in later if x.action not in ("confirmed", "flagged") and x.prior in undone]
        if blocking and c.memory != row[0]:
            other = memories.ids_of(tx, [c.memory])[0]
            raise InvalidInput(
                f"Memory {other!r}, which was changed with it, has been changed since: undo() that first."
            )
        for x in later:  # oldest first: each rests on the one before
            if x.action in ("confirmed", "flagged") and x.prior in undone:
                undone.add(x.id)
    now = ids.now()
    listed = ",".join(map(str, sorted(undone)))
    tx.run(
        f"update memory_changes set undone_at = :now where user_no = :user and id in ({listed}) and undone_at is null",
        now=now,
    )
    refresh(tx, known)
    return memories.get(tx, id)


# -- what leaves nothing behind


def remove(tx: Tx, numbers: Sequence[int]) -> None:
    """Nothing of these memories is left: not in the index, not in the history, not with what rests on them."""
    for memory in numbers:
        rows = tx.all(memories.STORED + " and id = :id", id=memory)
        index.remove(tx, [memories.entry(row) for row in rows])
        _flag_orphans(tx, memory)
        tx.run("delete from memory_changes where user_no = :user and memory = :m", m=memory)
        tx.run("delete from memory_roots where user_no = :user and (memory = :m or root = :m)", m=memory)
        tx.run("delete from memories where user_no = :user and id = :m", m=memory)


def _flag_orphans(tx: Tx, root: int) -> None:
    edit = Edit(tx, View(tx), who="erase")
    edit.touched.add(root)
    edit._flag_dependants(root, "was erased")
    edit.touched.discard(root)
    edit.finish()


def replace(tx: Tx, row: Row, clean: Row) -> None:
    """Put another content in the place of a stored one, unless that was forgotten meanwhile."""
    if [r[:6] for r in tx.all(memories.STORED + " and id = :id" + tx.for_update, id=row[0])] != [row[:6]]:
        return
    indexed = row[6] is not None
    if indexed:
        index.remove(tx, [memories.entry(row)])
    tx.run(
        "update memories set content = :content, tags = :tags, workspace = :workspace, namespace = :namespace"
        " where user_no = :user and id = :id",
        id=clean[0], content=clean[2], tags=clean[3], workspace=clean[5], namespace=memories.namespace(clean[4], clean[5]),
    )  # fmt: skip
    if indexed:
        index.add(tx, [memories.entry(clean)])
        index.embed_again(tx, clean[0])
    for change in views.of(tx, [clean[0]]).get(clean[0], ()):
        tagged = checks.tags([*memories.tags((None,) * 4 + (change.tags,)), "sensitive"])
        tx.run("update memory_changes set tags = :tags where user_no = :user and id = :id", id=change.id, tags=tagged)
