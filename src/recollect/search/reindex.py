"""Indexing what is stored: after a migration, or when the index was lost."""

from __future__ import annotations

from .. import log
from ..conversations import Found
from . import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..db import Database, Row, Tx

PAGE = 500


def reindex(db: Database, user: str) -> int:
    """Put every event and title into the index that is not there yet. Returns how many were looked at."""
    places = {
        row[0]: Found(row[0], "", 0, 0, row[1], row[2])
        for row in db.read(
            user, lambda tx: tx.all("select no, title, workspace from conversations where user_no = :user order by no")
        )
    }
    db.write(user, lambda tx: _titles(tx, list(places.values())))
    after, seen = 0, 0
    while True:
        rows = db.read(user, lambda tx, after=after: _page(tx, after))  # type: ignore[misc]
        if not rows:
            return seen
        db.write(user, lambda tx, rows=rows: _add(tx, places, rows))  # type: ignore[misc]
        after = rows[-1][0]
        seen += len(rows)


def _page(tx: Tx, after: int) -> list[Row]:
    return tx.all(
        f"select id, {log.COLUMNS}, conversation_no from events where user_no = :user and id > :after and id <= :high"
        " order by id limit :page",
        after=max(after, tx.low_id()), high=tx.high_id(), page=PAGE,
    )  # fmt: skip


def _titles(tx: Tx, places: list[Found]) -> None:
    for place in places:
        if place.title is not None:
            entry = index.title_entry(place.no, place.workspace, place.title)
            tx.unindex_words("title_words", [entry])
            tx.index_words("title_words", [entry])


def _add(tx: Tx, places: dict[int, Found], rows: list[Row]) -> None:
    for row in rows:
        if row[-1] in places:
            entries = log.entries(places[row[-1]], [row])
            tx.unindex_words("words", entries)
            index.add(tx, entries)
