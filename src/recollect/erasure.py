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

from . import branches, conversations, erased, ids, items, jobs, memories, removal
from .checkpoints import upkeep
from .errors import InvalidInput, NotFound
from .learned import Judged, Scope, count, find_items, items_of, judge, learned_of, note, numbers, parts, total
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .conversations import Found
    from .db import Tx
    from .learned import Counts, Target

KINDS = ("conversation", "workspace", "user", "memory", "source")
OWN = ("events", "branches", "tombstones", "pins", "considered", *conversations.STATE)
"""Tables whose rows say which conversation they belong to."""
REST = (
    "events", "branches", "tombstones", "pins", "considered", *conversations.STATE, "vectors", "memory_changes",
    "memory_roots", "memories", "item_texts", "items", "jobs", "embeddings", "statistics", "conversations",
)  # fmt: skip
"""Everything a user has but the receipts, and the hashes that they refer to."""


# -- what is to go


def target(tx: Tx, kind: str, what: str) -> Target:
    """What is meant, by number. NotFound if there is nothing."""
    found: Target = {"kind": kind, "conversations": [], "memories": [], "items": [], "event": None}
    if kind == "conversation":
        row = conversations.look(tx, what)
        if row is None:  # a graph that keeps its log elsewhere may still have put items here
            found["items"] = numbers(items_of(tx, [what]))
            if not found["items"]:
                conversations.find(tx, what, deleted=True)  # raises
        else:
            found["conversations"] = [row[0]]
    elif kind == "workspace":
        found["conversations"] = numbers(
            tx.all("select no from conversations where user_no = :user and workspace = :w order by no", w=what)
        )
        found["memories"] = numbers(
            tx.all("select id from memories where user_no = :user and workspace = :w order by id", w=what)
        )
        if not found["conversations"] and not found["memories"]:
            raise NotFound(f"Nothing is kept for the workspace {what!r}.")
    elif kind == "user":
        found["conversations"] = numbers(tx.all("select no from conversations where user_no = :user order by no"))
        if not tx.user:
            raise NotFound("Nothing is kept for this user.")
    elif kind == "memory":
        found["memories"] = [memories.number(tx, what)]
    else:
        _target_event(tx, found, what)
    return found


def _target_event(tx: Tx, found: Target, event: str) -> None:
    named = ids.event(event)
    if named is None:
        raise InvalidInput(f"source={event!r} is no event: its id is the conversation's, a colon and its number.")
    name, seq = named
    row = conversations.look(tx, name)
    if row is None:
        said = tx.all("select distinct memory from memory_changes where user_no = :user and source = :s", s=event)
        found["memories"] = numbers(said)
        if not said:
            conversations.find(tx, name)  # raises
        return
    if not 0 < seq <= row[2]:
        raise NotFound(f"Conversation {name!r} has events 1 to {row[2]}; there is no {seq}.")
    found["event"] = [row[0], _with_it(tx, row[0], seq)]


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


# -- one conversation


def _count_conversation(tx: Tx, no: int) -> Counts:
    counts = {table: count(tx, f"{table} where user_no = :user and conversation_no = :c", c=no) for table in OWN}
    counts["jobs"] = sum(
        1 for (key,) in tx.all("select key from jobs where user_no = :user") if key.partition(":")[:2] == (str(no), ":")
    )
    counts["vectors"] = _vectors(tx, " and conversation_no = :c", c=no)
    counts["conversations"] = count(tx, "conversations where user_no = :user and no = :c", c=no)
    return counts


def _vectors(tx: Tx, where: str, **params: Any) -> int:
    """How many of the user's vectors; by the range of their ids, since no index knows their conversations."""
    return count(
        tx, f"vectors v where user_no = :user and v.id > :low and v.id <= :high{where}",
        low=tx.low_id(), high=tx.high_id(), **params,
    )  # fmt: skip


def _drop_conversation(tx: Tx, no: int, receipt: str, now: int) -> None:
    row = tx.one("select id from conversations where user_no = :user and no = :c" + tx.for_update, c=no)
    if row is None:
        return
    found = conversations.find(tx, row[0], lock=True, deleted=True)
    _note_leaves(tx, found, receipt, now)
    removal.unindex(tx, found)
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
    every = scope.seqs | set(removal.summaries_of(tx, no, scope.seqs))
    listed = ",".join(map(str, sorted(every)))
    ids_ = _rows_of(tx, no, every)
    counts = {"events": len(ids_), "vectors": 0}
    for part in parts(ids_):
        counts["vectors"] += count(
            tx, f"vectors where user_no = :user and (id in ({part}) or id in"
            f" (select p.id from passages p where p.user_no = :user and p.event_id in ({part})))",
        )  # fmt: skip
    counts["pins"] = count(tx, f"pins where user_no = :user and conversation_no = :c and seq in ({listed})", c=no)
    counts["checkpoint_messages"] = count(
        tx, f"checkpoint_messages where user_no = :user and conversation_no = :c and seq in ({listed})", c=no
    )
    cut = _cut(tx, no, scope.seqs)
    if cut is not None:
        for table in ("checkpoints", "checkpoint_writes"):
            counts[table] = count(
                tx, f"{table} where user_no = :user and conversation_no = :c and checkpoint_id >= :cut", c=no, cut=cut
            )
    return counts


def _rows_of(tx: Tx, no: int, seqs: set[int]) -> list[int]:
    """The ids of events by their numbers."""
    found: list[int] = []
    for branch in branches.tree(tx, no):
        for part in parts(seqs):
            found += numbers(
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
    covering = removal.summaries_of(tx, no, scope.seqs)
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
    keys = {
        key
        for branch in tree
        for row in tx.all(
            "select key, kind, role, text from events where user_no = :user and conversation_no = :c and branch_no = :b and key is not null"
            f" and seq in ({listed})",
            c=no, b=branch,
        )
        for key in (row[0], *([erased.said(row[2], row[3])] if row[1] == "message" else []))
    }  # fmt: skip
    erased.note(tx, erased.KEY, [f"{found.id}\0{key}" for key in sorted(keys)], receipt, now)
    for kind, text in removal.remove(tx, found, sorted(there)):
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
        upkeep.sweep(tx, no)
    tx.run("delete from statistics where user_no = :user")
    if summaries and covering:
        for branch in tree:
            jobs.enqueue(tx, "summarize", f"{no}:{branch}")


# -- everything of a user


def _count_all(tx: Tx) -> Counts:
    counts = {table: count(tx, f"{table} where user_no = :user") for table in REST if table != "vectors"}
    return {**counts, "vectors": _vectors(tx, "")}


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
        if table != "vectors":
            tx.run(f"delete from {table} where user_no = :user")
    for table in ("vectors", "passages"):
        tx.run(
            f"delete from {table} where user_no = :user and id > :low and id <= :high",
            low=tx.low_id(),
            high=tx.high_id(),
        )
    row = tx.one("select id from users where no = :user")
    if row is not None and not row[0].startswith(ids.ERASED):
        tx.rename_user(erased.user_name(erased.key(tx), row[0]))


# -- the plan


def plan(tx: Tx, wanted: Target) -> tuple[Counts, Counts]:
    """How many rows go, and how many stay and change, by table."""
    scope = Scope(tx, wanted)
    if scope.is_all:
        return _count_all(tx), {}
    learned, changed = learned_of(tx, scope)
    own = [_count_conversation(tx, no) for no in scope.found]
    return total(*own, _count_event(tx, scope), learned), changed


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
        note(tx, (), find_items(tx, scope, Judged()), receipt, now)
        # What was begun since goes like the others: out of the index as well.
        for no, id in tx.all("select no, id from conversations where user_no = :user order by no"):
            erased.note(tx, erased.CONVERSATION, [id], receipt, now)
            _drop_conversation(tx, no, receipt, now)
        _drop_memories_of_all(tx)
        _drop_rest(tx)
        return counts, {}
    if scope.is_all:
        counts = {t: count(tx, f"{t} where user_no = :user") for t in ("memory_changes", "memory_roots", "memories")}
        counts["vectors"] = _vectors(tx, " and conversation_no = 0")
        note(tx, judge(tx, scope).gone, (), receipt, now)
        _drop_memories_of_all(tx)
        return counts, {}
    return learned_of(tx, scope, receipt, now)


def names_of(tx: Tx, wanted: Target) -> tuple[list[str], list[str]]:
    """The ids of the conversations and of the memories that were named: for their hashes."""
    scope = Scope(tx, wanted)
    named: list[str] = []
    if wanted["kind"] == "memory":
        for part in parts(judge(tx, scope).gone):
            named += [
                row[0] for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({part})")
            ]
    return list(scope.found.values()), named


# -- is it gone?


def check(tx: Tx, wanted: Target) -> Counts:
    """What is left of it, by table: all zero when it is gone. Numbers are never used again, so this can be asked for ever."""
    left: Counts = {}
    if wanted["kind"] == "user":  # who comes back has larger numbers
        for table in ("events", "memories", "memory_changes", "items", "item_texts", "vectors", "passages"):
            left[table] = count(tx, f"{table} where user_no = :user and id <= :upto", upto=wanted["upto"])
    for no in wanted["conversations"]:
        left = total(left, _count_conversation(tx, no), {
            "memories": count(tx, "memories where user_no = :user and conversation_no = :c", c=no),
            "memory_changes": count(
                tx, "memory_changes where user_no = :user and (conversation_no = :c or source_no = :c)", c=no
            ),
            "title_words": tx.indexed_words("title_words", no - 1, 1).count(no),
        })  # fmt: skip
    for part in parts(wanted["memories"]):
        left = total(left, {
            "memories": count(tx, f"memories where user_no = :user and id in ({part})"),
            "memory_changes": count(tx, f"memory_changes where user_no = :user and memory in ({part})"),
            "memory_roots": count(tx, f"memory_roots where user_no = :user and (memory in ({part}) or root in ({part}))"),
            "vectors": count(tx, f"vectors where user_no = :user and id in ({part})"),
        })  # fmt: skip
    for part in parts(wanted["items"]):
        left = total(left, {"items": count(tx, f"items where user_no = :user and id in ({part})")})
    if wanted["event"] is not None:
        scope = Scope(tx, wanted)
        left = total(left, _count_event(tx, scope))
        left.pop("checkpoints", None)  # those that were made since are of another history
        left.pop("checkpoint_writes", None)
        left["memory_changes"] = sum(
            1
            for memory in judge(tx, scope).changed.values()
            for change in memory[0]
        )  # fmt: skip
    return total(left, _strays(tx))


def _strays(tx: Tx) -> Counts:
    """What the index of words and the vectors hold of things that are not there."""
    words, after = 0, tx.low_id()
    while rows := tx.indexed_words("words", after, 500):
        there = set()
        for table in ("events", "memories", "passages"):
            there |= set(numbers(tx.all(
                f"select id from {table}{tx.by_id} where user_no = :user and id{tx.among}", ids=tx.some(rows)
            )))  # fmt: skip
        words += len(set(rows) - there)
        after = rows[-1]
    orphans = _vectors(
        tx,
        " and not exists (select 1 from events e where e.user_no = v.user_no and e.id = v.id)"
        " and not exists (select 1 from memories m where m.user_no = v.user_no and m.id = v.id)"
        " and not exists (select 1 from passages p where p.user_no = v.user_no and p.id = v.id)",
    )
    pieces = count(
        tx, "passages p where user_no = :user and p.id > :low and p.id <= :high"
        " and not exists (select 1 from events e where e.user_no = p.user_no and e.id = p.event_id)",
        low=tx.low_id(), high=tx.high_id(),
    )  # fmt: skip
    return {"words": words, "vectors": orphans, "passages": pieces}
