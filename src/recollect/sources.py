"""Where memories came from, and what becomes of them when that goes: an event deleted, a conversation cleared or expired,
or a person who wants everything forgotten that was learned there."""

from __future__ import annotations

from . import branches, ids, items, learned, views
from .edits import Edit, refresh, remove
from .errors import NotFound
from .memories import ids_of
from .views import Change, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .conversations import Found
    from .db import Tx


def came_from(tx: Tx, source: str) -> list[int]:
    """Memories that came from an event or a conversation and from nowhere else, by number."""
    row = tx.one("select no from conversations where user_no = :user and id = :id", id=source)
    seq: int | None = None
    if row is None and (event := ids.event(source)) is not None:
        name, seq = event
        row = tx.one("select no from conversations where user_no = :user and id = :id", id=name)
    if row is None:
        rows = tx.all(
            "select distinct r.memory from memories m join memory_changes r on r.user_no = m.user_no and r.memory = m.id"
            " where m.user_no = :user and (r.source = :source or substr(r.source, 1, :n) = :prefix)",
            source=source, n=len(source) + 1, prefix=source + ":",
        )  # fmt: skip
        if not rows:
            raise NotFound(f"Nothing is known of {source!r}: give the id of an event or of a conversation.")
        return [r[0] for r in rows]
    name = source if seq is None else source.rpartition(":")[0]
    rows = tx.all(
        "select memory from memory_changes where user_no = :user and source_no = :c and action in ('added', 'quarantined')"
        " union select memory from memory_changes where user_no = :user and source_no is null"
        " and substr(source, 1, :n) = :prefix and action in ('added', 'quarantined')",
        c=row[0], n=len(name) + 1, prefix=name + ":",
    )  # fmt: skip
    memories = []
    for memory, changes in views.of(tx, [r[0] for r in rows]).items():
        said = [c for c in changes if c.action in ("added", "quarantined") and c.undone_at is None]
        if said and all(_is_from(c, row[0], name, seq) for c in said):
            memories.append(memory)
    return memories


def _is_from(change: Change, conversation: int, name: str, seq: int | None) -> bool:
    if change.source_no is None:  # a graph put it there: it names its source in words
        event = None if change.source is None else ids.event(change.source)
        return event is not None and event[0] == name and seq in (None, event[1])
    if change.source_no != conversation:
        return False
    return seq is None or str(seq) in (change.source_seqs or "").split(",")


def _number(tx: Tx, memory: str) -> int | None:
    row = tx.one("select id from memories where user_no = :user and memory_id = :id", id=memory)
    return None if row is None else int(row[0])


def _is_taken_over(change: Change) -> bool:
    """Whether a person has made a graph's memory their own: then it no longer came from where the graph put it."""
    return change.by_hand is not None or change.pinned_at is not None


def forget_source(tx: Tx, source: str, *, erase: bool = False) -> list[str]:
    """Everything that came from one event or conversation. Returns the ids of what went. What was said in that conversation
    and not considered yet will not be: a late consolidation must not bring it back."""
    place = tx.one(
        "select no, last_seq from conversations where user_no = :user and id = :id" + tx.for_update, id=source
    )
    if place is not None:
        tx.run("delete from considered where user_no = :user and conversation_no = :c", c=place[0])
        tx.many(
            "insert into considered (user_no, conversation_no, branch_no, upto) values (:user_no, :c, :b, :upto)",
            [(tx.user, place[0], branch, place[1]) for branch in branches.tree(tx, place[0])],
        )
    put = learned.items_of(tx, [source])
    kept = [no for row in put if row[3] is not None and (no := _number(tx, row[3])) is not None]
    try:
        found = sorted({*came_from(tx, source), *kept})
    except NotFound:
        if not put:
            raise
        found = kept
    standing = View(tx).among(found)
    kept_too = set(kept)
    found = [m for m in found if m not in kept_too or m not in standing or not _is_taken_over(standing[m])]
    if erase:
        gone = found
        named = ids_of(tx, gone)
        items.remove(tx, learned.items_with(tx, named, put))
        remove(tx, gone)
        return named
    gone = [memory for memory in found if memory in standing and standing[memory].state != "forgotten"]
    hidden = [memory for memory in found if memory not in standing]
    edit = Edit(tx, View(tx), who="user")
    for memory in gone:
        edit.put(memory, standing[memory], "forgotten", f"everything that came from {source}", state="forgotten")
    for memory in hidden:  # on a branch that is not the active one
        last = views.of(tx, [memory])[memory][-1]
        if last.state != "forgotten":
            edit.put(memory, last, "forgotten", f"everything that came from {source}", state="forgotten")
            gone.append(memory)
    edit.finish()
    return ids_of(tx, gone)


def forget_event(tx: Tx, conversation: Found, seq: int) -> None:
    """An event was deleted for good: so is what was learned from it and from nothing else."""
    rows = tx.all(
        "select memory, source_seqs from memory_changes where user_no = :user and source_no = :c", c=conversation.no
    )
    memories = {row[0] for row in rows if row[1] == str(seq)}
    if not memories:
        return
    gone = []
    for memory, changes in views.of(tx, sorted(memories)).items():
        kept = [c for c in changes if not (c.source_no == conversation.no and c.source_seqs == str(seq))]
        if not any(c.action in ("added", "confirmed", "quarantined") for c in kept):
            gone.append(memory)
    remove(tx, gone)


def outlive(tx: Tx, conversation: Found, *, keep_place: bool) -> int:
    """The history of a conversation goes, and what was learned from it stays: as it is seen on the active branch. With
    `keep_place` the conversation itself stays, with one branch; without, what was limited to it goes, and the rest is
    everywhere from now on. Returns how many memories went."""
    no = conversation.no
    view = View(tx, conversation)
    rows = tx.all(f"select {views.NAMES} from memory_changes where user_no = :user and conversation_no = :c", c=no)
    limited = (
        () if keep_place else tx.all("select id from memories where user_no = :user and conversation_no = :c", c=no)
    )
    gone = [row[0] for row in limited]
    remove(tx, gone)
    touched: set[int] = set()
    for row in rows:
        change = Change(*row)
        touched.add(change.memory)
        if not view.sees(change):
            tx.run("delete from memory_changes where user_no = :user and id = :id", id=change.id)
        elif keep_place:
            tx.run("update memory_changes set branch_no = 0, seq = 0 where user_no = :user and id = :id", id=change.id)
        else:
            tx.run(
                "update memory_changes set conversation_no = null, branch_no = null, seq = null"
                " where user_no = :user and id = :id",
                id=change.id,
            )
    said = tx.all("select id, memory, source_seqs from memory_changes where user_no = :user and source_no = :c", c=no)
    for id, memory, seqs in said:
        touched.add(memory)
        if keep_place:
            tx.run("update memory_changes set source_branch = 0 where user_no = :user and id = :id", id=id)
        else:
            first = (seqs or "0").split(",")[0]
            tx.run(
                "update memory_changes set source = :source, source_no = null, source_branch = null"
                " where user_no = :user and id = :id",
                id=id, source=f"{conversation.id}:{first}",
            )  # fmt: skip
    touched -= set(gone)
    empty = [memory for memory in touched if not views.of(tx, [memory])]
    remove(tx, empty)
    refresh(tx, touched - set(empty))
    tx.run("delete from considered where user_no = :user and conversation_no = :c", c=no)
    if keep_place:
        tx.run(
            "insert into considered (user_no, conversation_no, branch_no, upto) values (:user, :c, 0, :seq)",
            c=no, seq=conversation.last_seq,
        )  # fmt: skip
    return len(gone) + len(empty)
