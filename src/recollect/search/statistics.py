"""How common a term is among one user's events: from a sample of the newest, kept per user, because frequencies over all
users would tell one of them what the others talk about."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..light import loads
from .times import said
from .tokens import term_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..db import Database, Tx

SAMPLE = 2_000
STALE = 0.75  # counted anew when the log has grown by a third
_cache: WeakKeyDictionary[Database, dict[str, tuple[int, dict[str, int]]]] = WeakKeyDictionary()
_counts: WeakKeyDictionary[Database, dict[str, tuple[int, int]]] = WeakKeyDictionary()
"""(the newest activity, how many events there were then), by user: most searches are not the first since the last append."""


def load(db: Database, user: str) -> tuple[int, dict[str, int]]:
    """(number of events, term -> in how many of them), counted anew when it is out of date."""
    cache = _cache.setdefault(db, {})
    counted = _counts.setdefault(db, {})
    _, count = counted[user] = db.read(user, lambda tx: _count(tx, *counted.get(user, (-1, 0))))
    known = cache.get(user)
    if known is None or known[0] < count * STALE or known[0] > count / STALE + 50:
        known = db.read(user, _stored)
        if known is None or known[0] < count * STALE or known[0] > count / STALE + 50:
            counts = db.read(user, lambda tx: _sampled(tx, count))
            known = (count, counts)
            if count > 500:
                import json

                stored = json.dumps(counts, ensure_ascii=False)
                db.write(user, lambda tx: _store(tx, count, stored))
        if len(cache) > 256:
            cache.clear()
            counted.clear()
        cache[user] = known
    return count, known[1]


def _count(tx: Tx, at: int, count: int) -> tuple[int, int]:
    newest = tx.one("select activity from conversations where user_no = :user order by activity desc limit 1")
    if newest is not None and newest[0] == at:
        return at, count
    found = tx.all("select coalesce(sum(last_seq), 0) from conversations where user_no = :user")
    return (-1 if newest is None else newest[0]), int(found[0][0])


def _stored(tx: Tx) -> tuple[int, dict[str, int]] | None:
    row = tx.one("select events, counts from statistics where user_no = :user")
    return None if row is None else (int(row[0]), loads(row[1]))


def _store(tx: Tx, count: int, stored: str) -> None:
    tx.run("delete from statistics where user_no = :user")
    tx.run("insert into statistics (user_no, events, counts) values (:user, :n, :counts)", n=count, counts=stored)


def _sampled(tx: Tx, count: int) -> dict[str, int]:
    rows = tx.all(
        f"select substr(text, 1, 2000), created_at from events{tx.by_id} where user_no = :user and id > :low and id <= :high"
        " order by id desc limit :n",
        low=tx.low_id(), high=tx.high_id(), n=SAMPLE,
    )  # fmt: skip
    counts: dict[str, int] = {}
    for text, at in rows:
        for term in (*term_set(text), said(at)):
            counts[term] = counts.get(term, 0) + 1
    scale = max(1.0, count / max(1, len(rows)))
    return {term: round(n * scale) for term, n in counts.items() if n > 1 or scale == 1.0}
