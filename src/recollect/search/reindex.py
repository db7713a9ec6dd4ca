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
FIX = "Build the index anew: `recollect reindex`."


def reindex(db: Database, user: str, outside: bool) -> int:
    """Put into the index what is stored and not there yet. Returns how many events, memories and texts of items were looked at.
    `outside`: also events that name a path outside their workspace."""
    _pages(db, user, _titles)
    _pages(db, user, _heads)
    seen = _pages(db, user, lambda tx, after: _events(tx, after, outside))
    return seen + _pages(db, user, _memories) + _pages(db, user, _items)


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
        if place is not None and (outside or not index.is_outside(row[7], place.workspace)):
            entries += events.entries(place, [row])
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
            "select e.id, e.kind, e.path, c.workspace, e.tool, e.text = '' from events e left join conversations c on c.user_no = e.user_no"
            " and c.no = e.conversation_no where e.user_no = :user and e.id > :after and e.id <= :high"
            " order by e.id limit :page",
            after=after, high=tx.high_id(), page=PAGE * 10,
        )  # fmt: skip
        said = memories.page(tx, after, PAGE * 10)
        there = tx.indexed_words("words", after, PAGE * 10)
        ends = [part[-1] for part in ([r[0] for r in rows], [r[0] for r in said], there) if len(part) == PAGE * 10]
        upto = min(ends, default=tx.high_id())
        must = {
            r[0]
            for r in rows
            if r[1] not in index.UNINDEXED
            and not index.is_outside(r[2], r[3])
            and not index.is_silent("" if r[5] else "said", r[4])
        }
        must |= {r[0] for r in said}
        may = must | {r[0] for r in rows if r[1] not in index.UNINDEXED}
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
