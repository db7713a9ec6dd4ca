"""Indexing what is stored: after a migration, or when the index was lost or is not what it should be.

Each page is read in the transaction that indexes it, its rows locked: what is deleted meanwhile must not come back in
the index.
"""

from __future__ import annotations

from .. import edits, events, items, memories
from ..conversations import Found
from ..model import Problem
from . import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..db import Database, Row, Tx

PAGE = 500
PASSAGES = "passages"
"""The key of the job that cuts long events which an earlier version indexed whole."""
FEW = 10  # of them are cut in one transaction: long ones take milliseconds each
FIX = "Build the index anew: `recollect reindex`."


def reindex(db: Database, user: str, outside: bool) -> int:
    """Put into the index what is stored and not there yet. Returns how many events, memories and texts of items were looked at.
    `outside`: also events that name a path outside their workspace."""
    _pages(db, user, _titles)
    _pages(db, user, _heads)
    cut(db, user, outside)
    seen = _pages(db, user, lambda tx, after: _events(tx, after, outside))
    return seen + _pages(db, user, _memories) + _pages(db, user, _items)


def cut(db: Database, user: str, outside: bool, between: Callable[[], None] = lambda: None) -> int:
    """Index by passage the long events that are indexed whole, a few at a time and `between` before each. Returns how many."""
    after = done = 0
    while True:
        found = db.read(user, lambda tx, after=after: _whole(tx, after))  # type: ignore[misc]
        if not found:
            return done
        after = found[-1][0]
        whole = [id for id, is_whole in found if is_whole]
        for at in range(0, len(whole), FEW):
            between()
            done += db.write(user, lambda tx, some=whole[at : at + FEW]: _cut(tx, some, outside))  # type: ignore[misc]


def _whole(tx: Tx, after: int) -> list[Row]:
    """The next events by id, each with whether it is to be cut."""
    return tx.all(
        f"select id, length(text) > :long and kind not in ('reasoning', 'summary') and not exists (select 1 from passages p"
        f" where p.user_no = :user and p.event_id = e.id) from events e{tx.by_id} where user_no = :user and id > :after"
        " and id <= :high order by id limit :page",
        long=index.LONG, after=max(after, tx.low_id()), high=tx.high_id(), page=PAGE,
    )  # fmt: skip


def _cut(tx: Tx, events_: list[int], outside: bool) -> int:
    rows = tx.all(
        f"select id, {events.COLUMNS}, conversation_no from events{tx.by_id} where user_no = :user and id{tx.among}"
        " order by id" + tx.for_update,
        ids=tx.some(events_),
    )  # fmt: skip
    for row in rows:
        place = _place(tx, row[-1])
        if place is not None and not index.spans(tx, [row[0]]) and _is_found(row, place, outside):
            tx.unindex_words("words", events.indexed(tx, place, [row]))
            index.add(tx, events.entries(place, [row]))
    return len(rows)


def _is_found(row: Row, place: Found, outside: bool) -> bool:
    return outside or not index.is_outside(row[7], place.workspace)


def _pages(db: Database, user: str, page: Callable[[Tx, int], tuple[int, int]]) -> int:
    """Run `page` with the id after which to go on, until there is nothing more."""
    after = seen = 0
    while True:
        last, n = db.write(user, lambda tx, after=after: page(tx, after))  # type: ignore[misc]
        if n == 0:
            return seen
        after, seen = last, seen + n


def _events(tx: Tx, after: int, outside: bool) -> tuple[int, int]:
    rows = tx.all(
        f"select id, {events.COLUMNS}, conversation_no from events{tx.by_id} where user_no = :user and id > :after and id <= :high"
        " order by id limit :page" + tx.for_update,
        after=max(after, tx.low_id()), high=tx.high_id(), page=PAGE,
    )  # fmt: skip
    places: dict[int, Found | None] = {}
    entries: list[Row] = []
    for row in rows:
        if row[-1] not in places:
            places[row[-1]] = _place(tx, row[-1])
        place = places[row[-1]]
        if place is not None and _is_found(row, place, outside):
            entries += events.indexed(tx, place, [row])
    _again(tx, "words", entries)
    return (rows[-1][0], len(rows)) if rows else (after, 0)


def _place(tx: Tx, no: int) -> Found | None:
    row = tx.one("select title, workspace from conversations where user_no = :user and no = :c", c=no)
    return None if row is None else Found(no, "", 0, 0, row[0], row[1])


def _heads(tx: Tx, after: int) -> tuple[int, int]:
    """How memories stand, worked out from their changes; before what can be found of them is indexed."""
    rows = tx.all(
        "select id from memories where user_no = :user and id > :after order by id limit :page", after=after, page=PAGE
    )
    edits.refresh(tx, [row[0] for row in rows])
    return (rows[-1][0], len(rows)) if rows else (after, 0)


def _memories(tx: Tx, after: int) -> tuple[int, int]:
    rows = memories.page(tx, after, PAGE)
    _again(tx, "words", [memories.entry(row) for row in rows])
    return (rows[-1][0], len(rows)) if rows else (after, 0)


def _items(tx: Tx, after: int) -> tuple[int, int]:
    rows = items.texts(tx, after, PAGE)
    _again(tx, "item_words", [items.entry(namespace, (id, text)) for id, text, namespace in rows])
    return (rows[-1][0], len(rows)) if rows else (after, 0)


def _titles(tx: Tx, after: int) -> tuple[int, int]:
    rows = tx.all(
        "select no, title, workspace from conversations where user_no = :user and no > :after order by no limit :page"
        + tx.for_update,
        after=after, page=PAGE,
    )  # fmt: skip
    entries = [index.title_entry(tx.user, no, workspace, title) for no, title, workspace in rows if title is not None]
    _again(tx, "title_words", entries)
    return (rows[-1][0], len(rows)) if rows else (after, 0)


def _again(tx: Tx, table: str, entries: list[Row]) -> None:
    tx.unindex_words(table, entries)
    tx.index_words(table, entries)


# -- is it what it should be?


def check(db: Database, user: str) -> list[Problem]:
    """Ids in the index against the rows that should be there. While a job waits to index them, missing ones are none."""
    return db.read(user, _check)


def _check(tx: Tx) -> list[Problem]:
    waiting = tx.one("select 1 from jobs where user_no = :user and kind = 'index' limit 1") is not None
    missing = extra = 0
    after = tx.low_id()
    while True:
        rows = tx.all(
            "select e.id, e.kind, e.path, c.workspace, e.name, e.tool, e.text = '' from events e"
            " left join conversations c on c.user_no = e.user_no"
            " and c.no = e.conversation_no where e.user_no = :user and e.id > :after and e.id <= :high"
            " order by e.id limit :page",
            after=after, high=tx.high_id(), page=PAGE * 10,
        )  # fmt: skip
        said = memories.page(tx, after, PAGE * 10)
        parts = [
            row[0]
            for row in tx.all(
                "select p.id from passages p join events e on e.user_no = p.user_no and e.id = p.event_id"
                " where p.user_no = :user and p.id > :after and p.id <= :high order by p.id limit :page",
                after=after, high=tx.high_id(), page=PAGE * 10,
            )
        ]  # fmt: skip
        there = tx.indexed_words("words", after, PAGE * 10)
        ends = [
            part[-1] for part in ([r[0] for r in rows], [r[0] for r in said], parts, there) if len(part) == PAGE * 10
        ]
        upto = min(ends, default=tx.high_id())
        found_by_words = [r for r in rows if index.is_indexed(r[1], r[4], "" if r[6] else "said", r[5])]
        must = {r[0] for r in found_by_words if not index.is_outside(r[2], r[3])}
        must |= {r[0] for r in said}
        must.update(parts)
        may = must | {r[0] for r in found_by_words}
        found = {id for id in there if id <= upto}
        missing += len({id for id in must if id <= upto} - found)
        extra += len(found - may)
        if not ends:
            break
        after = upto
    lost, astray = _check_items(tx)
    titled = {r[0] for r in tx.all("select no from conversations where user_no = :user and title is not null")}
    titles = set(tx.indexed_words("title_words", 0, 1 << 40))
    problems = []
    for count, what in (
        (
            0 if waiting else missing,
            "events and memories are not in the index of words, so no search finds them by words",
        ),
        (extra, "entries in the index of words are of nothing that is stored"),
        (0 if waiting else lost, "texts of items are not in the index of words"),
        (astray, "entries in the index of words are of no item"),
        (0 if waiting else len(titled - titles), "titles are not in the index of words"),
        (len(titles - titled), "titles in the index of words are of no conversation"),
    ):
        if count:
            problems.append(Problem("the index", f"{count:,} {what}", FIX))
    return problems


def _check_items(tx: Tx) -> tuple[int, int]:
    """How many texts of items are not in their index, and how many entries of that are of no text."""
    stored: set[int] = set()
    indexed: set[int] = set()
    after = 0
    while rows := items.text_ids(tx, after, PAGE * 10):
        stored.update(id for id, is_there in rows if is_there)
        after = rows[-1][0]
    after = 0
    while found := tx.indexed_words("item_words", after, PAGE * 10):
        indexed.update(found)
        after = found[-1]
    return len(stored - indexed), len(indexed - stored)
