"""How common a term is among one user's events: from a sample of the newest, kept per user, because frequencies over all
users would tell one of them what the others talk about."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..light import loads
from .times import said
from .tokens import term_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..db import Database, Row, Tx

SAMPLE = 2_000
FEW = 500  # are counted in a moment, by every process for itself
STALE = 0.75  # counted anew in the background when the log has grown by a third,
USELESS = 0.5  # and by whoever searches when it has doubled: it takes 50 ms
PART = 100  # texts of the sample that are counted in one go
_cache: WeakKeyDictionary[Database, dict[str, tuple[int, dict[str, int]]]] = WeakKeyDictionary()
_counts: WeakKeyDictionary[Database, dict[str, tuple[int, int]]] = WeakKeyDictionary()
"""(the newest activity, how many events there were then), by user: most searches are not the first since the last append."""


def load(db: Database, user: str) -> tuple[int, dict[str, int]]:
    """(number of events, term -> in how many of them), counted anew when it is of no use any more."""
    count = _newest_count(db, user)
    known = _good(db, user, count, USELESS if count > FEW else STALE)
    return count, _counted(db, user, count, lambda: None) if known is None else known


def refresh(db: Database, user: str, between: Callable[[], None]) -> None:
    """Count anew if it is out of date, a few texts at a time and `between` before each: then no search has to."""
    count = _newest_count(db, user)
    if count > FEW and _good(db, user, count, STALE) is None:
        _counted(db, user, count, between)


def _newest_count(db: Database, user: str) -> int:
    counted = _counts.setdefault(db, {})
    if len(counted) > 256:
        counted.clear()
    _, count = counted[user] = db.read(user, lambda tx: _count(tx, *counted.get(user, (-1, 0))))
    return count


def _good(db: Database, user: str, count: int, share: float) -> dict[str, int] | None:
    """What was counted before, by this process or another, when there were so many events, not too many more or fewer."""
    cache = _cache.setdefault(db, {})
    known = cache.get(user)
    if known is None or not _is_good(known[0], count, share):
        known = db.read(user, _stored)
        if known is None or not _is_good(known[0], count, share):
            return None
        _keep(cache, user, known)
    return known[1]


def _is_good(known: int, count: int, share: float) -> bool:
    return count * share <= known <= count / share + 50


def _counted(db: Database, user: str, count: int, between: Callable[[], None]) -> dict[str, int]:
    rows = db.read(user, _sample)
    counts: dict[str, int] = {}
    for at in range(0, len(rows), PART):
        between()
        for _, _, text, when in rows[at : at + PART]:
            for term in (*term_set(text), said(when)):
                counts[term] = counts.get(term, 0) + 1
    scale = max(1.0, count / max(1, len(rows)))
    counts = {term: round(n * scale) for term, n in counts.items() if n > 1 or scale == 1.0}
    if count > FEW:
        import json

        stored = json.dumps(counts, ensure_ascii=False)
        try:
            db.write(user, lambda tx: _store(tx, count, stored, rows))
        except _Changed:
            return counts  # once, for whoever asks now
    _keep(_cache.setdefault(db, {}), user, (count, counts))
    return counts


class _Changed(Exception):
    """What was counted is not there any more, or says something else: erased meanwhile, it must not come back by its words."""


def _keep(cache: dict[str, tuple[int, dict[str, int]]], user: str, known: tuple[int, dict[str, int]]) -> None:
    if len(cache) > 256:
        cache.clear()
    cache[user] = known


def _count(tx: Tx, at: int, count: int) -> tuple[int, int]:
    newest = tx.one("select activity from conversations where user_no = :user order by activity desc limit 1")
    if newest is not None and newest[0] == at:
        return at, count
    found = tx.all("select coalesce(sum(last_seq), 0) from conversations where user_no = :user")
    return (-1 if newest is None else newest[0]), int(found[0][0])


def _stored(tx: Tx) -> tuple[int, dict[str, int]] | None:
    row = tx.one("select events, counts from statistics where user_no = :user")
    return None if row is None else (int(row[0]), loads(row[1]))


def _store(tx: Tx, count: int, stored: str, rows: Sequence[Row]) -> None:
    ids = [row[0] for row in rows]
    there = tx.all(
        f"select count(*), coalesce(sum(checksum), 0) from events{tx.by_id} where user_no = :user and id >= :low and id <= :high",
        low=min(ids, default=0), high=max(ids, default=0),
    )  # fmt: skip
    if tuple(map(int, there[0])) != (len(rows), sum(row[1] for row in rows)):
        raise _Changed
    tx.run("delete from statistics where user_no = :user")
    tx.run("insert into statistics (user_no, events, counts) values (:user, :n, :counts)", n=count, counts=stored)


def _sample(tx: Tx) -> list[Row]:
    return tx.all(
        f"select id, checksum, substr(text, 1, 2000), created_at from events{tx.by_id} where user_no = :user and id > :low"
        " and id <= :high order by id desc limit :n",
        low=tx.low_id(), high=tx.high_id(), n=SAMPLE,
    )  # fmt: skip
