"""What was learned from what is erased: memories, what was derived from them, and items of graphs.

A memory goes when nothing outside says it any more. One that was also said elsewhere stays: its history loses the changes
that came from here, what later ones inherited from those, and every quotation of what went. What rests on nothing but what
goes, goes too.
"""

from __future__ import annotations

import json
from functools import partial

from . import edits, erased, ids, items, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .db import Database, Row, Tx
    from .views import Change

    Counts = dict[str, int]
    Target = dict[str, Any]

SAID = ("added", "confirmed", "quarantined")
"""What happens to a memory when somebody says it: as long as one such change is left, the memory stands."""
GONE = "(erased)"


def numbers(rows: Iterable[Row]) -> list[int]:
    return [int(row[0]) for row in rows]


def total(*counts: Counts) -> Counts:
    total: Counts = {}
    for part in counts:
        for what, n in part.items():
            total[what] = total.get(what, 0) + n
    return total


class Scope:
    """What an erasure is about, as it stands in this transaction: on a second try, some of it is gone already."""

    def __init__(self, tx: Tx, wanted: Target) -> None:
        self.kind: str = wanted["kind"]
        self.is_all = self.kind == "user"
        self.found: dict[int, str] = {}
        for no in wanted["conversations"]:
            row = tx.one("select id from conversations where user_no = :user and no = :c", c=no)
            if row is not None:
                self.found[no] = row[0]
        self.threads = set(self.found.values())
        self.event_no: int | None
        self.seqs: set[int]
        self.event_no, self.seqs = (
            (None, set()) if wanted["event"] is None else (wanted["event"][0], set(wanted["event"][1]))
        )
        self.event_thread = ""
        if self.event_no is not None:
            row = tx.one("select id from conversations where user_no = :user and no = :c", c=self.event_no)
            self.event_thread = row[0] if row is not None else ""
        self.forced = set(wanted["memories"])
        """Memories that go whatever else says them."""
        self.items = list(wanted["items"])

    def taints(self, change: Change) -> bool:
        """Whether a change of a memory came from here, or was made here."""
        if change.conversation_no in self.found or change.source_no in self.found:
            return True
        text = None if change.source_no is not None else change.source
        if text is not None and text.rpartition(":")[0] in self.threads:
            return True
        no = self.event_no
        if no is None:
            return False
        if change.conversation_no == no and change.seq in self.seqs:
            return True
        if change.source_no == no and own_seqs(change) & self.seqs:
            return True
        event = None if text is None else ids.event(text)
        return event is not None and event[0] == self.event_thread and event[1] in self.seqs


def own_seqs(change: Change) -> set[int]:
    """The events that a change came from. What was said again in the same conversation names the first time; the event that
    said it again is where the change was made."""
    if change.action == "confirmed" and change.conversation_no == change.source_no and change.seq:
        return {change.seq}
    return {int(n) for n in (change.source_seqs or "").split(",") if n}


# -- memories


class Judged:
    """Which memories go, and which stay and lose something."""

    def __init__(self) -> None:
        self.gone: set[int] = set()
        self.changed: dict[int, tuple[list[Change], list[Change]]] = {}
        """Memory -> (changes that go, changes that stay)."""
        self.settled: set[int] = set()
        """Changes that stay, but came from here: what somebody forgot stays forgotten when the words of the wish go."""
        self.roots: set[int] = set()
        """Memories that stay and lose something they rest on."""


def judge(tx: Tx, scope: Scope) -> Judged:
    found = Judged()
    if scope.is_all:
        found.gone = set(numbers(tx.all("select id from memories where user_no = :user")))
        return found
    touched: set[int] = set()
    for no in (*scope.found, *(() if scope.event_no is None else (scope.event_no,))):
        touched |= {
            row[0]
            for row in tx.all(
                "select memory from memory_changes where user_no = :user and conversation_no = :c"
                " union select memory from memory_changes where user_no = :user and source_no = :c",
                c=no,
            )
        }
        if no in scope.found:
            rows = tx.all("select id from memories where user_no = :user and conversation_no = :c", c=no)
            scope.forced |= set(numbers(rows))
    for memory, source in tx.all(
        "select memory, source from memory_changes where user_no = :user and source_no is null and source is not null"
    ):
        if source.rpartition(":")[0] in scope.threads or source.rpartition(":")[0] == scope.event_thread != "":
            touched.add(memory)
    there = set(numbers(tx.all("select id from memories where user_no = :user"))) if scope.forced else set()
    found.gone = scope.forced & there
    for memory, changes in views.of(tx, sorted(touched - found.gone)).items():
        tainted = [c for c in changes if scope.taints(c)]
        kept = [c for c in changes if not scope.taints(c)]
        if tainted and not any(_is_said(c) for c in kept):
            found.gone.add(memory)
        elif tainted:
            last = _settles(tx, tainted, kept)
            if last is not None:
                found.settled.add(last.id)
                tainted.remove(last)
                kept = sorted((*kept, last), key=lambda c: c.id)
            found.changed[memory] = (tainted, kept)
    _derive(tx, found)
    return found


def _settles(tx: Tx, tainted: Sequence[Change], kept: Sequence[Change]) -> Change | None:
    """The last of the changes that go, if it ended a memory that stood before: that end stays in force."""
    view = views.View(tx)
    last = next((c for c in reversed(tainted) if c.undone_at is None and view.sees(c)), None)
    if last is None or last.state not in ("forgotten", "expired"):
        return None
    before = _before(last, {c.id: c for c in tainted})
    return last if any(c.id == before for c in kept) else None


def _before(change: Change, gone: dict[int, Change]) -> int | None:
    """The change that it rests on once others are gone."""
    before = change.prior
    while before in gone:
        before = gone[before].prior
    return before


def _is_said(change: Change) -> bool:
    return change.action in SAID and change.undone_at is None


def _derive(tx: Tx, found: Judged) -> None:
    """What rests on nothing but what goes, goes too; and so on."""
    below: dict[int, set[int]] = {}
    above: dict[int, set[int]] = {}
    for memory, root in tx.all("select memory, root from memory_roots where user_no = :user"):
        below.setdefault(root, set()).add(memory)
        above.setdefault(memory, set()).add(root)
    todo = sorted(found.gone)
    while todo:
        for memory in sorted(below.get(todo.pop(), set()) - found.gone):
            changes = found.changed[memory][1] if memory in found.changed else views.of(tx, [memory]).get(memory, [])
            if above[memory] <= found.gone and not any(_is_said(c) and _stands_alone(c) for c in changes):
                found.gone.add(memory)
                found.changed.pop(memory, None)
                found.roots.discard(memory)
                todo.append(memory)
            else:
                found.roots.add(memory)
    found.roots -= found.gone


def _stands_alone(change: Change) -> bool:
    """Whether it would have been said without the memories it was derived from: it names an event, or was said again."""
    return change.action == "confirmed" or change.source_no is not None or change.source is not None


def _count_memories(tx: Tx, found: Judged) -> tuple[Counts, Counts]:
    gone, changed = dict.fromkeys(("memories", "memory_changes", "memory_roots"), 0), {}
    roots = tx.all("select memory, root from memory_roots where user_no = :user") if found.gone else []
    gone["memory_roots"] = sum(1 for pair in roots if found.gone.intersection(pair))
    for part in parts(found.gone):
        gone["memories"] += count(tx, f"memories where user_no = :user and id in ({part})")
        gone["memory_changes"] += count(tx, f"memory_changes where user_no = :user and memory in ({part})")
        gone["vectors"] = gone.get("vectors", 0) + count(tx, f"vectors where user_no = :user and id in ({part})")
    gone["memory_changes"] += sum(len(tainted) for tainted, _ in found.changed.values())
    stay = len(found.changed.keys() | found.roots)
    if stay:
        changed["memories"] = stay
    return gone, changed


def parts(numbers: Iterable[int], size: int = 400) -> list[str]:
    listed = sorted(numbers)
    return [",".join(map(str, listed[n : n + size])) for n in range(0, len(listed), size)]


def count(tx: Tx, what: str, **params: Any) -> int:
    return int(tx.all(f"select count(*) from {what}", **params)[0][0])


def _drop_memories(tx: Tx, found: Judged) -> None:
    said: list[str] = []
    names: list[str] = []
    for part in parts(found.gone):
        rows = tx.all(f"select memory_id, content from memories where user_no = :user and id in ({part})")
        names += [row[0] for row in rows]
        said += [row[1] for row in rows]
        rows = tx.all(
            f"select wording from memory_changes where user_no = :user and memory in ({part}) and wording is not null"
        )
        said += [row[0] for row in rows]
    flags: set[str] = set()
    for memory, (tainted, kept) in found.changed.items():
        flags |= {c.flag for c in tainted if c.flag}
        _rebase(tx, memory, tainted, kept, found.settled)
    edits.remove(tx, sorted(found.gone))
    touched = set(found.changed) | found.roots
    touched |= _unquote(tx, [s for s in dict.fromkeys(said) if s], set(names), flags)
    edits.refresh(tx, touched)


def _rebase(tx: Tx, memory: int, tainted: list[Change], kept: list[Change], settled: set[int]) -> None:
    """Take changes out of a memory's history. What a later one only inherited from them goes as well."""
    gone = {c.id: c for c in tainted}
    stay = {c.id: c for c in kept}
    for change in tainted:
        tx.run("delete from memory_changes where user_no = :user and id = :id", id=change.id)
    for change in kept:
        first = gone.get(change.prior or 0)
        before = _before(change, gone)
        base = stay.get(before or 0)
        if change.id in settled and base is not None:
            end = {name: getattr(change, name) for name in ("id", "change", "action", "state", "who", "at")}
            stay[change.id] = base.but(
                **end, why=GONE, prior=before, conversation_no=None, branch_no=None, seq=None, undone_at=None
            )
            tx.run("delete from memory_changes where user_no = :user and id = :id", id=change.id)
            tx.many(views.INSERT, [stay[change.id].values])
            continue
        tags, flag, seqs = change.tags, change.flag, change.source_seqs
        if first is not None and change.action != "added":
            if change.tags == first.tags:
                tags = None if base is None else base.tags
            if change.flag == first.flag:
                flag = None if base is None else base.flag
        if (
            change.action == "confirmed"
            and change.conversation_no == change.source_no
            and change.seq
            and first is not None
        ):
            seqs = str(change.seq)
        if (tags, flag, seqs, before) != (change.tags, change.flag, change.source_seqs, change.prior):
            tx.run(
                "update memory_changes set tags = :tags, flag = :flag, source_seqs = :seqs, prior = :prior"
                " where user_no = :user and id = :id",
                id=change.id, tags=tags, flag=flag, seqs=seqs, prior=before,
            )  # fmt: skip
            stay[change.id] = change.but(tags=tags, flag=flag, source_seqs=seqs, prior=before)


def _unquote(tx: Tx, said: Sequence[str], names: set[str], flags: set[str]) -> set[int]:
    """Other memories' histories quote what took their place, or contradicts them. Returns the memories they are of."""
    touched: set[int] = set()
    if not said and not flags:
        return touched
    after = 0
    while rows := tx.all(
        "select id, memory, why, flag, replaced_by, conflicts_with, tags from memory_changes where user_no = :user"
        " and id > :after order by id limit 500",
        after=after,
    ):
        for id, memory, why, flag, replaced_by, conflicts_with, _ in rows:
            clean_why, clean_flag = why, flag
            for text in (*said, *names):
                if clean_why and text in clean_why:
                    clean_why = clean_why.replace(text, GONE)
                if clean_flag and text in clean_flag:
                    clean_flag = None
            if clean_flag in flags:
                clean_flag = None
            by = None if replaced_by in names else replaced_by
            against = None if conflicts_with in names else conflicts_with
            if (clean_why, clean_flag, by, against) != (why, flag, replaced_by, conflicts_with):
                touched.add(memory)
                tx.run(
                    "update memory_changes set why = :why, flag = :flag, replaced_by = :by, conflicts_with = :against"
                    " where user_no = :user and id = :id",
                    id=id, why=clean_why, flag=clean_flag, by=by, against=against,
                )  # fmt: skip
        after = rows[-1][0]
    return touched


# -- items of graphs


def items_of(tx: Tx, threads: Iterable[str]) -> list[Row]:
    """Items (id, namespace, key, memory) that runs of these conversations put, or that are kept for one of them."""
    row = tx.one("select id from users where no = :user")
    user = "" if row is None else str(row[0])
    found: dict[int, Row] = {}
    wanted = set(threads)
    for item in tx.all(
        "select id, namespace, key, memory, source from items where user_no = :user and source is not null"
    ):
        said = json.loads(item[4])
        if said.get("thread_id") in wanted and said.get("user_id", user) == user:
            found[item[0]] = item[:4]
    for thread in wanted:
        if "." not in thread and "." not in user:
            scope = items.Scope(("memories", user, thread))
            for item in tx.all(
                "select i.id, i.namespace, i.key, i.memory from items i where i.user_no = :user" + scope.where,
                **scope.params,
            ):
                found[item[0]] = item
    return list(found.values())


def items_with(tx: Tx, names: Iterable[str], those: Iterable[Row] = ()) -> list[Row]:
    """Items, and those that are one of these memories."""
    found = {row[0]: row for row in those}
    for name in names:
        for row in tx.all("select id, namespace, key, memory from items where user_no = :user and memory = :m", m=name):
            found[row[0]] = row
    return list(found.values())


def _items_at(tx: Tx, thread: str, places: set[str]) -> list[Row]:
    """Items that were put while a graph stood at one of these checkpoints."""
    found = []
    for item in tx.all(
        "select id, namespace, key, memory, source from items where user_no = :user and source is not null"
    ):
        said = json.loads(item[4])
        if said.get("thread_id") == thread and said.get("checkpoint_id") in places:
            found.append(item[:4])
    return found


def find_items(tx: Tx, scope: Scope, judged: Judged) -> list[Row]:
    """The items that go: by where they were put, and because they are memories that go. Memories that are such items go."""
    if scope.is_all:
        return tx.all("select id, namespace, key, memory from items where user_no = :user")
    found = {row[0]: row for row in items_of(tx, scope.threads)} if scope.threads else {}
    for part in parts(scope.items):
        rows = tx.all(f"select id, namespace, key, memory from items where user_no = :user and id in ({part})")
        found |= {row[0]: row for row in rows}
    if scope.event_no is not None and scope.event_thread:
        places = {
            row[0]
            for row in tx.all(
                "select checkpoint_id, seq from checkpoints where user_no = :user and conversation_no = :c",
                c=scope.event_no,
            )
            if row[1] in scope.seqs
        }
        found |= {row[0]: row for row in _items_at(tx, scope.event_thread, places)} if places else {}
    names = {row[3] for row in found.values() if row[3] is not None}
    for name in names:
        row = tx.one("select id from memories where user_no = :user and memory_id = :id", id=name)
        if row is not None and row[0] not in judged.gone:
            judged.gone.add(row[0])
            judged.changed.pop(row[0], None)
    if names:
        _derive(tx, judged)
    for part in parts(judged.gone):
        gone = [row[0] for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")]
        found |= {row[0]: row for row in items_with(tx, gone)}
    return list(found.values())


# -- both


def learned_of(tx: Tx, scope: Scope, receipt: str | None = None, now: int = 0) -> tuple[Counts, Counts]:
    """What was learned from it, and what graphs have put away: counted, and with a receipt removed."""
    judged = judge(tx, scope)
    put = find_items(tx, scope, judged)
    gone, changed = _count_memories(tx, judged)
    gone["items"] = len(put)
    gone["item_texts"] = sum(
        count(tx, f"item_texts where user_no = :user and item in ({part})") for part in parts(row[0] for row in put)
    )
    if receipt is not None:
        note(tx, judged.gone, put, receipt, now)
        items.remove(tx, put)
        _drop_memories(tx, judged)
    return gone, changed


def note(tx: Tx, gone: Iterable[int], put: Sequence[Row], receipt: str, now: int) -> None:
    """Memories and items that go are known by their hashes: an export that still holds them does not bring them back."""
    names: list[str] = []
    for part in parts(gone):
        rows = tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")
        names += [row[0] for row in rows]
    erased.note(tx, erased.LEARNED, names, receipt, now)
    erased.note(tx, erased.ITEM, [f"{row[1]}\0{row[2]}" for row in put], receipt, now)


# -- what is kept elsewhere


def elsewhere(db: Database, user: str, wanted: Target, *, apply: bool) -> int:
    """A backend keeps the items of all its users under its own name: those that are this user's memories, or were put in a run
    of these conversations, go as well. So do memories of others that only follow an item which goes here. Returns how many."""
    from . import mirror

    def look(tx: Tx) -> tuple[set[str], set[str], bool, list[Row]]:
        scope = Scope(tx, wanted)
        judged = judge(tx, scope)
        put = find_items(tx, scope, judged)
        names = [
            row[0]
            for part in parts(judged.gone)
            for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")
        ]
        return set(names), scope.threads, scope.is_all, put

    names, threads, is_all, put = db.read(user, look)
    total = 0
    for other in db.users():
        if other != user and (names or threads or is_all):
            seen = db.read(other, lambda tx: _kept_for(tx, user, names, threads, is_all))
            total += len(seen)
            if apply and seen:
                db.write(other, lambda tx: items.remove(tx, _kept_for(tx, user, names, threads, is_all)))
    for _, namespace, _, memory in put if apply else ():
        owner = mirror.user_of(items.labels(namespace))
        if memory is not None and owner is not None and owner != user:
            db.write(owner, partial(mirror.forget, memory=memory))
    return total


def _kept_for(tx: Tx, user: str, names: set[str], threads: set[str], is_all: bool) -> list[Row]:
    found: dict[int, Row] = {}
    if "." not in user:
        scope = items.Scope(("memories", user))
        for row in tx.all(
            "select i.id, i.namespace, i.key, i.memory from items i where i.user_no = :user and i.memory is not null"
            + scope.where,
            **scope.params,
        ):
            if is_all or row[3] in names:
                found[row[0]] = row
    for row in tx.all(
        "select id, namespace, key, memory, source from items where user_no = :user and source is not null"
    ):
        said = json.loads(row[4])
        if said.get("user_id") == user and (is_all or said.get("thread_id") in threads):
            found[row[0]] = row[:4]
    return list(found.values())
