"""Erasure: a conversation, a memory, an event, a workspace or a person goes, with everything that came from it.

An erasure is a plan, then steps. The plan counts; a dry run is the plan alone. Before anything goes, one transaction writes
down what is to go, by number, and the hashes that keep a late writer from bringing it back (`erased`). Then each step is a
transaction that removes something and strikes itself off the list. A process that dies in between leaves the list, and
whoever opens the database next goes on with it before anything else is served. At the end the engine cleans up (free pages
are overwritten, the write-ahead log is cut), and a check looks for what should be gone; its answer is in the receipt.

What goes with what: `judge` for memories, `events` for one event. A memory goes when nothing outside says it any more; one
that was also said elsewhere stays and loses only what came from here.
"""

from __future__ import annotations

import json

from . import branches, checkpoints, conversations, erased, ids, items, jobs, log, memories, views
from .errors import InvalidInput, NotFound
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .conversations import Found
    from .db import Database, Row, Tx
    from .views import Change

    Counts = dict[str, int]
    Target = dict[str, Any]

KINDS = ("conversation", "workspace", "user", "memory", "source")
OWN = ("events", "branches", "tombstones", "pins", "considered", *conversations.STATE, "vectors")
"""Tables whose rows say which conversation they belong to."""
REST = (
    "events", "branches", "tombstones", "pins", "considered", *conversations.STATE, "vectors", "memory_changes",
    "memory_roots", "memories", "item_texts", "items", "jobs", "embeddings", "statistics", "conversations",
)  # fmt: skip
"""Everything a user has but the receipts, and the hashes that they refer to."""
SAID = ("added", "confirmed", "quarantined")
"""What happens to a memory when somebody says it: as long as one such change is left, the memory stands."""
GONE = "(erased)"


# -- what is to go


def target(tx: Tx, kind: str, what: str) -> Target:
    """What is meant, by number. NotFound if there is nothing."""
    found: Target = {"kind": kind, "conversations": [], "memories": [], "items": [], "event": None}
    if kind == "conversation":
        row = conversations.look(tx, what)
        if row is None:  # a graph that keeps its log elsewhere may still have put items here
            found["items"] = _numbers(_items_of(tx, [what]))
            if not found["items"]:
                conversations.find(tx, what, deleted=True)  # raises
        else:
            found["conversations"] = [row[0]]
    elif kind == "workspace":
        found["conversations"] = _numbers(
            tx.all("select no from conversations where user_no = :user and workspace = :w order by no", w=what)
        )
        found["memories"] = _numbers(
            tx.all("select id from memories where user_no = :user and workspace = :w order by id", w=what)
        )
        if not found["conversations"] and not found["memories"]:
            raise NotFound(f"Nothing is kept for the workspace {what!r}.")
    elif kind == "user":
        found["conversations"] = _numbers(tx.all("select no from conversations where user_no = :user order by no"))
        if not tx.user:
            raise NotFound("Nothing is kept for this user.")
    elif kind == "memory":
        found["memories"] = [memories.number(tx, what)]
    else:
        _target_event(tx, found, what)
    return found


def _target_event(tx: Tx, found: Target, event: str) -> None:
    name, colon, tail = event.rpartition(":")
    if not colon or not tail.isdigit() or len(tail) > 18:
        raise InvalidInput(f"source={event!r} is no event: its id is the conversation's, a colon and its number.")
    row = conversations.look(tx, name)
    if row is None:
        said = tx.all("select distinct memory from memory_changes where user_no = :user and source = :s", s=event)
        found["memories"] = _numbers(said)
        if not said:
            conversations.find(tx, name)  # raises
        return
    if not 0 < int(tail) <= row[2]:
        raise NotFound(f"Conversation {name!r} has events 1 to {row[2]}; there is no {tail}.")
    found["event"] = [row[0], _with_it(tx, row[0], int(tail))]


def _numbers(rows: Iterable[Row]) -> list[int]:
    return [int(row[0]) for row in rows]


def _with_it(tx: Tx, no: int, seq: int) -> list[int]:
    """An event, its reasoning, what stands in its place, and the same message on other branches of a graph."""
    known = {seq}
    while True:
        listed = ",".join(map(str, sorted(known)))
        more = {
            row[0]
            for branch in branches.tree(tx, no)
            for row in tx.all(
                "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b"
                f" and kind <> 'summary' and message in ({listed})",
                c=no, b=branch,
            )
        } | {
            row[0]
            for row in tx.all(
                "select b.seq from checkpoint_messages a join checkpoint_messages b on b.user_no = a.user_no"
                " and b.conversation_no = a.conversation_no and b.message_id = a.message_id"
                f" where a.user_no = :user and a.conversation_no = :c and a.seq in ({listed})",
                c=no,
            )
        }  # fmt: skip
        if more <= known:
            return sorted(known)
        known |= more


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
        name, _, tail = (text or "").rpartition(":")
        return name == self.event_thread and tail.isdigit() and int(tail[:18]) in self.seqs


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
        self.roots: set[int] = set()
        """Memories that stay and lose something they rest on."""


def judge(tx: Tx, scope: Scope) -> Judged:
    found = Judged()
    if scope.is_all:
        found.gone = set(_numbers(tx.all("select id from memories where user_no = :user")))
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
            scope.forced |= set(_numbers(rows))
    for memory, source in tx.all(
        "select memory, source from memory_changes where user_no = :user and source_no is null and source is not null"
    ):
        if source.rpartition(":")[0] in scope.threads or source.rpartition(":")[0] == scope.event_thread != "":
            touched.add(memory)
    there = set(_numbers(tx.all("select id from memories where user_no = :user"))) if scope.forced else set()
    found.gone = scope.forced & there
    for memory, changes in views.of(tx, sorted(touched - found.gone)).items():
        tainted = [c for c in changes if scope.taints(c)]
        kept = [c for c in changes if not scope.taints(c)]
        if tainted and not any(_is_said(c) for c in kept):
            found.gone.add(memory)
        elif tainted:
            found.changed[memory] = (tainted, kept)
    _derive(tx, found)
    return found


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
    for part in _parts(found.gone):
        gone["memories"] += _count(tx, f"memories where user_no = :user and id in ({part})")
        gone["memory_changes"] += _count(tx, f"memory_changes where user_no = :user and memory in ({part})")
        gone["vectors"] = gone.get("vectors", 0) + _count(tx, f"vectors where user_no = :user and id in ({part})")
    gone["memory_changes"] += sum(len(tainted) for tainted, _ in found.changed.values())
    stay = len(found.changed.keys() | found.roots)
    if stay:
        changed["memories"] = stay
    return gone, changed


def _parts(numbers: Iterable[int], size: int = 400) -> list[str]:
    listed = sorted(numbers)
    return [",".join(map(str, listed[n : n + size])) for n in range(0, len(listed), size)]


def _count(tx: Tx, what: str, **params: Any) -> int:
    return int(tx.all(f"select count(*) from {what}", **params)[0][0])


def _drop_memories(tx: Tx, found: Judged) -> None:
    said: list[str] = []
    names: list[str] = []
    for part in _parts(found.gone):
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
        _rebase(tx, memory, tainted, kept)
    memories.remove(tx, sorted(found.gone))
    touched = set(found.changed) | found.roots
    touched |= _unquote(tx, [s for s in dict.fromkeys(said) if s], set(names), flags)
    memories.refresh(tx, touched)


def _rebase(tx: Tx, memory: int, tainted: list[Change], kept: list[Change]) -> None:
    """Take changes out of a memory's history. What a later one only inherited from them goes as well."""
    gone = {c.id: c for c in tainted}
    stay = {c.id: c for c in kept}
    for change in tainted:
        tx.run("delete from memory_changes where user_no = :user and id = :id", id=change.id)
    for change in kept:
        before = change.prior
        first = gone.get(before or 0)
        while before in gone:
            before = gone[before].prior
        base = stay.get(before or 0)
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


def _items_of(tx: Tx, threads: Iterable[str]) -> list[Row]:
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


def _find_items(tx: Tx, scope: Scope, judged: Judged) -> list[Row]:
    """The items that go: by where they were put, and because they are memories that go. Memories that are such items go."""
    if scope.is_all:
        return tx.all("select id, namespace, key, memory from items where user_no = :user")
    found = {row[0]: row for row in _items_of(tx, scope.threads)} if scope.threads else {}
    for part in _parts(scope.items):
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
    for part in _parts(judged.gone):
        gone = [row[0] for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")]
        for name in gone:
            for row in tx.all(
                "select id, namespace, key, memory from items where user_no = :user and memory = :m", m=name
            ):
                found[row[0]] = row
    return list(found.values())


# -- one conversation


def _count_conversation(tx: Tx, no: int) -> Counts:
    counts = {table: _count(tx, f"{table} where user_no = :user and conversation_no = :c", c=no) for table in OWN}
    counts["jobs"] = sum(
        1 for (key,) in tx.all("select key from jobs where user_no = :user") if key.partition(":")[:2] == (str(no), ":")
    )
    counts["conversations"] = _count(tx, "conversations where user_no = :user and no = :c", c=no)
    return counts


def _drop_conversation(tx: Tx, no: int, receipt: str, now: int) -> None:
    row = tx.one("select id from conversations where user_no = :user and no = :c" + tx.for_update, c=no)
    if row is None:
        return
    found = conversations.find(tx, row[0], lock=True, deleted=True)
    _note_leaves(tx, found, receipt, now)
    log.unindex(tx, found)
    index.retitle(tx, found.no, found.workspace, found.title, None)
    for table in OWN:
        tx.run(f"delete from {table} where user_no = :user and conversation_no = :c", c=no)
    conversations.drop_jobs(tx, no)
    tx.run("delete from statistics where user_no = :user")
    tx.run("delete from conversations where user_no = :user and no = :c", c=no)


def _note_leaves(tx: Tx, found: Found, receipt: str, now: int, since: str = "") -> None:
    """A running graph goes on from a checkpoint that no other came from: it is not to find its way back."""
    rows = tx.all(
        "select checkpoint_id, parent_id from checkpoints where user_no = :user and conversation_no = :c", c=found.no
    )
    parents = {row[1] for row in rows}
    leaves = [f"{found.id}\0{row[0]}" for row in rows if row[0] not in parents and row[0] >= since]
    erased.note(tx, erased.CHECKPOINT, leaves, receipt, now)


# -- one event


def _covering(tx: Tx, no: int, seqs: set[int]) -> list[int]:
    """Summaries that cover any of these events, along their own lineage."""
    tree = branches.tree(tx, no)
    places = {
        (branch, row[0])
        for branch in tree
        for row in tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b and kind <> 'summary'",
            c=no, b=branch,
        )
        if row[0] in seqs
    }  # fmt: skip
    unplaced = seqs - {seq for _, seq in places}  # deleted before: any branch may have shown it
    found = []
    for branch in tree:
        for seq, through, payload in tx.all(
            "select seq, message, payload from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and kind = 'summary' and message is not null",
            c=no, b=branch,
        ):  # fmt: skip
            covers = json.loads(payload or "{}").get("covers") or [1, through]
            own = dict(branches.climb(tree, branch, seq))
            hit = {s for b, s in places if s <= own.get(b, -1)} | unplaced
            if any(covers[0] <= s <= through for s in hit):
                found.append(seq)
    return found


def _cut(tx: Tx, no: int, seqs: set[int]) -> str | None:
    """The first checkpoint that may hold one of these events. A message stands in the input of a run before it is in the log,
    and among the writes of the checkpoint before: so the run in which it was said goes, and all that came later."""
    rows = tx.all(
        "select checkpoint_id, seq, source from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
        " order by checkpoint_id",
        c=no,
    )
    if not rows:
        row = tx.one(
            "select min(checkpoint_id) from checkpoint_writes where user_no = :user and conversation_no = :c", c=no
        )
        return None if row is None or row[0] is None else str(row[0])
    first = min(seqs)
    before = [row for row in rows if row[1] < first]
    if len(before) == len(rows):
        return None if before[-1][2] not in ("input", "update") else str(before[-1][0])
    begun = [row[0] for row in before if row[2] in ("input", "update", "fork")]
    return str(min([*begun[-1:], *[row[0] for row in before[-1:]]], default=rows[0][0]))


def _count_event(tx: Tx, scope: Scope) -> Counts:
    no = scope.event_no
    if no is None or not scope.event_thread:
        return {}
    every = scope.seqs | set(_covering(tx, no, scope.seqs))
    listed = ",".join(map(str, sorted(every)))
    ids_ = _rows_of(tx, no, every)
    counts = {"events": len(ids_), "vectors": 0}
    for part in _parts(ids_):
        counts["vectors"] += _count(tx, f"vectors where user_no = :user and id in ({part})")
    counts["pins"] = _count(tx, f"pins where user_no = :user and conversation_no = :c and seq in ({listed})", c=no)
    counts["checkpoint_messages"] = _count(
        tx, f"checkpoint_messages where user_no = :user and conversation_no = :c and seq in ({listed})", c=no
    )
    cut = _cut(tx, no, scope.seqs)
    if cut is not None:
        for table in ("checkpoints", "checkpoint_writes"):
            counts[table] = _count(
                tx, f"{table} where user_no = :user and conversation_no = :c and checkpoint_id >= :cut", c=no, cut=cut
            )
    return counts


def _rows_of(tx: Tx, no: int, seqs: set[int]) -> list[int]:
    """The ids of events by their numbers."""
    found: list[int] = []
    for branch in branches.tree(tx, no):
        for part in _parts(seqs):
            found += _numbers(
                tx.all(
                    "select id from events where user_no = :user and conversation_no = :c and branch_no = :b"
                    f" and seq in ({part})",
                    c=no, b=branch,
                )
            )  # fmt: skip
    return found


def _drop_event(tx: Tx, scope: Scope, receipt: str, now: int, summaries: bool) -> None:
    no = scope.event_no
    if no is None or not scope.event_thread:
        return
    found = conversations.find(tx, scope.event_thread, lock=True, deleted=True)
    covering = _covering(tx, no, scope.seqs)
    cut = _cut(tx, no, scope.seqs)
    every = sorted(scope.seqs | set(covering))
    listed = ",".join(map(str, every))
    tree = branches.tree(tx, no)
    there = {
        row[0]
        for branch in tree
        for row in tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b"
            f" and seq in ({listed})",
            c=no, b=branch,
        )
    }  # fmt: skip
    for kind, text in log.remove(tx, found, sorted(there)):
        if kind == "message" and found.title is not None and found.title == conversations.title_from(text):
            conversations.untitle(tx, found)
            found.title = None
    tx.run(f"delete from pins where user_no = :user and conversation_no = :c and seq in ({listed})", c=no)
    said = tx.all(
        f"select message_id from checkpoint_messages where user_no = :user and conversation_no = :c and seq in ({listed})",
        c=no,
    )
    erased.note(tx, erased.MESSAGE, [f"{found.id}\0{row[0]}" for row in said], receipt, now)
    tx.run(
        f"delete from checkpoint_messages where user_no = :user and conversation_no = :c and seq in ({listed})", c=no
    )
    if cut is not None:
        _note_leaves(tx, found, receipt, now, cut)
        for table in ("checkpoints", "checkpoint_writes"):
            tx.run(
                f"delete from {table} where user_no = :user and conversation_no = :c and checkpoint_id >= :cut",
                c=no,
                cut=cut,
            )
        checkpoints.sweep(tx, no)
    tx.run("delete from statistics where user_no = :user")
    if summaries and covering:
        for branch in tree:
            jobs.enqueue(tx, "summarize", f"{no}:{branch}")


# -- everything of a user


def _count_all(tx: Tx) -> Counts:
    return {table: _count(tx, f"{table} where user_no = :user") for table in REST}


def _drop_memories_of_all(tx: Tx) -> None:
    after = 0
    while page := memories.stored(tx, after, 500):
        index.remove(tx, [memories.entry(row) for row in page if row[6] is not None])
        after = page[-1][0]
    for table in ("memory_changes", "memory_roots", "memories"):
        tx.run(f"delete from {table} where user_no = :user")


def _drop_rest(tx: Tx) -> None:
    items.remove(tx, tx.all("select id, namespace from items where user_no = :user"))
    for table in REST:
        tx.run(f"delete from {table} where user_no = :user")
    row = tx.one("select id from users where no = :user")
    if row is not None and not row[0].startswith(ids.ERASED):
        tx.rename_user(erased.user_name(erased.key(tx), row[0]))


# -- the plan


def _sum(*counts: Counts) -> Counts:
    total: Counts = {}
    for part in counts:
        for what, n in part.items():
            total[what] = total.get(what, 0) + n
    return total


def plan(tx: Tx, wanted: Target) -> tuple[Counts, Counts]:
    """How many rows go, and how many stay and change, by table."""
    scope = Scope(tx, wanted)
    if scope.is_all:
        return _count_all(tx), {}
    learned, changed = learned_of(tx, scope)
    own = [_count_conversation(tx, no) for no in scope.found]
    return _sum(*own, _count_event(tx, scope), learned), changed


def learned_of(tx: Tx, scope: Scope, *, apply: bool = False) -> tuple[Counts, Counts]:
    """What was learned from it, and what graphs have put away: counted, and removed if so said."""
    judged = judge(tx, scope)
    put = _find_items(tx, scope, judged)
    gone, changed = _count_memories(tx, judged)
    gone["items"] = len(put)
    gone["item_texts"] = sum(
        _count(tx, f"item_texts where user_no = :user and item in ({part})") for part in _parts(row[0] for row in put)
    )
    if apply:
        items.remove(tx, put)
        _drop_memories(tx, judged)
    return gone, changed


# -- the steps


def steps(wanted: Target) -> list[list[Any]]:
    """In order; each is one transaction. What was learned goes first, while it can still be told where it came from."""
    whole: list[list[Any]] = [["learned"], *(["conversation", no] for no in wanted["conversations"])]
    if wanted["event"] is not None:
        whole.append(["event"])
    if wanted["kind"] == "user":
        whole.append(["rest"])
    return whole


def do(tx: Tx, wanted: Target, step: list[Any], receipt: str, now: int, summaries: bool) -> tuple[Counts, Counts]:
    """One step. Returns how many rows went, and how many changed."""
    if step[0] == "conversation":
        counts = _count_conversation(tx, step[1])
        _drop_conversation(tx, step[1], receipt, now)
        return counts, {}
    scope = Scope(tx, wanted)
    if step[0] == "event":
        counts = _count_event(tx, scope)
        _drop_event(tx, scope, receipt, now, summaries)
        return counts, {}
    if step[0] == "rest":
        counts = _count_all(tx)
        _drop_rest(tx)
        return counts, {}
    if scope.is_all:
        counts = {t: _count(tx, f"{t} where user_no = :user") for t in ("memory_changes", "memory_roots", "memories")}
        counts["vectors"] = _count(tx, "vectors where user_no = :user and conversation_no = 0")
        _drop_memories_of_all(tx)
        return counts, {}
    return learned_of(tx, scope, apply=True)


def names_of(tx: Tx, wanted: Target) -> tuple[list[str], list[str]]:
    """The ids of the conversations and of the memories that were named: for their hashes."""
    scope = Scope(tx, wanted)
    named: list[str] = []
    if wanted["kind"] == "memory":
        for part in _parts(judge(tx, scope).gone):
            named += [
                row[0] for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")
            ]
    return list(scope.found.values()), named


# -- what is kept elsewhere


def elsewhere(db: Database, user: str, wanted: Target, *, apply: bool) -> int:
    """A backend keeps the items of all its users under its own name: those that are this user's memories, or were put in a run
    of these conversations, go as well. So do memories of others that only follow an item which goes here. Returns how many."""
    from . import mirror

    def look(tx: Tx) -> tuple[set[str], set[str], bool, list[Row]]:
        scope = Scope(tx, wanted)
        judged = judge(tx, scope)
        put = _find_items(tx, scope, judged)
        names = [
            row[0]
            for part in _parts(judged.gone)
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
            db.write(owner, lambda tx, memory=memory: mirror.forget(tx, memory))  # type: ignore[misc]
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


# -- is it gone?


def check(tx: Tx, wanted: Target) -> Counts:
    """What is left of it, by table: all zero when it is gone. Numbers are never used again, so this can be asked for ever."""
    left: Counts = {}
    if wanted["kind"] == "user":  # who comes back has larger numbers
        for table in ("events", "memories", "memory_changes", "items", "item_texts", "vectors"):
            left[table] = _count(tx, f"{table} where user_no = :user and id <= :upto", upto=wanted["upto"])
    for no in wanted["conversations"]:
        left = _sum(left, _count_conversation(tx, no), {
            "memories": _count(tx, "memories where user_no = :user and conversation_no = :c", c=no),
            "memory_changes": _count(
                tx, "memory_changes where user_no = :user and (conversation_no = :c or source_no = :c)", c=no
            ),
            "title_words": tx.indexed_words("title_words", no - 1, 1).count(no),
        })  # fmt: skip
    for part in _parts(wanted["memories"]):
        left = _sum(left, {
            "memories": _count(tx, f"memories where user_no = :user and id in ({part})"),
            "memory_changes": _count(tx, f"memory_changes where user_no = :user and memory in ({part})"),
            "memory_roots": _count(tx, f"memory_roots where user_no = :user and (memory in ({part}) or root in ({part}))"),
            "vectors": _count(tx, f"vectors where user_no = :user and id in ({part})"),
        })  # fmt: skip
    for part in _parts(wanted["items"]):
        left = _sum(left, {"items": _count(tx, f"items where user_no = :user and id in ({part})")})
    if wanted["event"] is not None:
        scope = Scope(tx, wanted)
        left = _sum(left, _count_event(tx, scope))
        left.pop("checkpoints", None)  # those that were made since are of another history
        left.pop("checkpoint_writes", None)
        left["memory_changes"] = sum(
            1
            for memory in judge(tx, scope).changed.values()
            for change in memory[0]
        )  # fmt: skip
    return _sum(left, _strays(tx))


def _strays(tx: Tx) -> Counts:
    """What the index of words and the vectors hold of things that are not there."""
    words, after = 0, tx.low_id()
    while rows := tx.indexed_words("words", after, 500):
        there = set()
        for table in ("events", "memories"):
            there |= set(_numbers(tx.all(
                f"select id from {table}{tx.by_id} where user_no = :user and id{tx.among}", ids=tx.some(rows)
            )))  # fmt: skip
        words += len(set(rows) - there)
        after = rows[-1]
    orphans = _count(
        tx,
        "vectors v where v.user_no = :user and not exists (select 1 from events e where e.user_no = v.user_no and e.id = v.id)"
        " and not exists (select 1 from memories m where m.user_no = v.user_no and m.id = v.id)",
    )
    return {"words": words, "vectors": orphans}
