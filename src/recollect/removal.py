"""What goes from the log: an event, all of them, or the conversation itself, out of the index and out of the summaries too.

A number that is gone leaves a tombstone, and a title that was taken from what is gone goes with it. What must leave no trace at
all is `erasure.py`'s, which begins here.
"""

from __future__ import annotations

from . import branches, conversations, events, ids, items, jobs, log, sources
from .conversations import Found, find
from .errors import NotFound
from .light import loads
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .db import Row, Tx


def delete_event(tx: Tx, conversation: str, seq: int, *, summaries: bool) -> bool:
    """One event goes and leaves a tombstone; a title taken from it goes with it. A message goes in all its versions, and
    so do the summaries that cover it: whether there were any, in which case they are made anew with `summaries`. Its
    reasoning stays: it is an event of its own."""
    found = find(tx, conversation, lock=True)
    if not isinstance(seq, int) or not 0 < seq <= found.last_seq:
        raise NotFound(f"Conversation {found.id!r} has events 1 to {found.last_seq}; there is no {seq!r}.")
    known = branches.tree(tx, found.no)
    versions = _versions(tx, found.no, known, seq)
    covering = summaries_of(tx, found.no, set(versions)) if versions else []
    rows = remove(tx, found, [*(versions or [seq]), *covering])
    for gone in versions or [seq]:
        sources.forget_event(tx, found, gone)
        tx.run("delete from pins where user_no = :user and conversation_no = :c and seq = :seq", c=found.no, seq=gone)
    if found.title in {conversations.title_from(text) for kind, text in rows if kind == "message"} - {None}:
        conversations.untitle(tx, found)
    if covering and summaries:
        for branch in known:
            jobs.enqueue(tx, "summarize", f"{found.no}:{branch}")
    return bool(covering)


def _versions(tx: Tx, conversation: int, known: Iterable[int], seq: int) -> list[int]:
    """The numbers of a message's versions that are there, on every branch; none if that event is no message."""
    place = 0
    for branch in known:
        for kind, message in tx.all(
            "select kind, message from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and seq = :seq",
            c=conversation, b=branch, seq=seq,
        ):  # fmt: skip
            place = (message or seq) if kind == "message" else 0
    if not place:
        return []
    return sorted(
        row[0]
        for branch in known
        for row in tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b and seq >= :place"
            " and kind = 'message' and (seq = :place or message = :place)",
            c=conversation, b=branch, place=place,
        )
    )  # fmt: skip


def summaries_of(tx: Tx, conversation: int, seqs: set[int]) -> list[int]:
    """The numbers of the summaries that cover any of these events, along their own lineage."""
    tree = branches.tree(tx, conversation)
    summaries = [
        (branch, *row)
        for branch in tree
        for row in tx.all(
            "select seq, message, payload from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and kind = 'summary' and message is not null",
            c=conversation, b=branch,
        )
    ]  # fmt: skip
    if not summaries or not seqs:
        return []
    places = {
        (branch, row[0])
        for branch in tree
        for row in tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b and kind <> 'summary'"
            " and seq >= :low and seq <= :high",
            c=conversation, b=branch, low=min(seqs), high=max(seqs),
        )
        if row[0] in seqs
    }  # fmt: skip
    unplaced = seqs - {seq for _, seq in places}  # deleted before: any branch may have shown it
    found = []
    for branch, seq, through, payload in summaries:
        said = {} if payload is None else loads(payload)
        covers = said.get("covers") or [1, through]
        own = dict(branches.climb(tree, branch, seq))
        hit = {s for b, s in places if s <= own.get(b, -1)} | unplaced
        if any(covers[0] <= s <= through for s in hit) or not seqs.isdisjoint(said.get("versions", ())):
            found.append(seq)
    return found


def remove(tx: Tx, found: Found, seqs: Iterable[int]) -> list[Row]:
    """Events go, from the index too, tombstones stay, and no branch points at a summary that is gone. Returns (kind, text)
    of each."""
    gone: list[int] = []
    rows: list[Row] = []
    known = branches.tree(tx, found.no)
    for seq in seqs:
        before = len(rows)
        for branch in known:
            rows += tx.all(
                f"delete from events where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq"
                f" returning id, {events.COLUMNS}",
                c=found.no, b=branch, seq=seq,
            )  # fmt: skip
        if len(rows) == before:
            raise NotFound(f"Conversation {found.id!r} has no event {seq}: it was deleted before, or never written.")
        gone.append(seq)
    index.remove(tx, events.indexed(tx, found, rows))
    conversations.bury(tx, found, gone, ids.now())
    branches.renew_summaries(tx, found.no)
    return [(row[2], row[4]) for row in rows]


def unindex(tx: Tx, found: Found) -> None:
    """Take a whole conversation out of the index, before its events go."""
    for rows in log.pages(tx, found.no):
        index.remove(tx, events.indexed(tx, found, rows))


def clear(tx: Tx, conversation: str) -> int:
    """All history goes, on every branch; the conversation and its counter stay. Returns how many events went."""
    found = find(tx, conversation, lock=True)
    is_derived = False
    for page in log.pages(tx, found.no):
        index.remove(tx, events.indexed(tx, found, page))
        is_derived = is_derived or (found.title is not None and any(_gave(row, found.title) for row in page))
    if is_derived:
        conversations.untitle(tx, found)
    rows = tx.all("delete from events where user_no = :user and conversation_no = :c returning seq", c=found.no)
    conversations.bury(tx, found, [row[0] for row in rows], ids.now())
    sources.outlive(tx, found, keep_place=True)
    tx.run("delete from pins where user_no = :user and conversation_no = :c", c=found.no)
    tx.run("delete from branches where user_no = :user and conversation_no = :c and no > 0", c=found.no)
    tx.run(
        "update branches set summary_seq = null where user_no = :user and conversation_no = :c",
        c=found.no,
    )
    tx.run("update conversations set active_branch = 0 where user_no = :user and no = :c", c=found.no)
    conversations.drop_jobs(tx, found.no)
    conversations.drop_state(tx, found.no, keep_key=True)
    return len(rows)


def _gave(row: Row, title: str) -> bool:
    """Whether a title may have been taken from an event (id, then `events.COLUMNS`). No column says where a title came from: so
    one that repeats a message, on whichever branch, counts as taken from it. Of what a summary deleted, the summary knows."""
    if row[2] == "message":
        return conversations.title_from(row[4]) == title
    if row[2] != "summary" or row[13] is None:
        return False
    try:
        return bool(loads(row[13]).get("title") == title)
    except ValueError:
        return False  # damaged, and about to go


def drop(tx: Tx, found: Found) -> dict[str, int]:
    """The rows of a conversation go; what indexes them has gone before. Returns how many, by table."""
    tx.run("delete from pins where user_no = :user and conversation_no = :c", c=found.no)
    return {
        "items": items.erase_thread(tx, found.id),
        "events": tx.run("delete from events where user_no = :user and conversation_no = :c", c=found.no),
        "tombstones": tx.run("delete from tombstones where user_no = :user and conversation_no = :c", c=found.no),
        "branches": tx.run("delete from branches where user_no = :user and conversation_no = :c", c=found.no),
        "jobs": conversations.drop_jobs(tx, found.no),
        **conversations.drop_state(tx, found.no),
        "conversations": tx.run("delete from conversations where user_no = :user and no = :c", c=found.no),
    }
