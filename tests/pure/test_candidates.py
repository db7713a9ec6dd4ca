"""Candidates: what is found without looking at everything is what looking at everything finds."""

import random
from collections.abc import Callable
from typing import Any

import apsw
import pytest

import recollect
from recollect.db.transaction import SQLiteTx, _heaviest


def index_of(rows: dict[int, set[str]]) -> Callable[..., list[int]]:
    """Rows as FTS5 finds them, for the two forms in which they are asked for."""

    def find(asked: str, limit: int = -1) -> list[int]:
        first, _, others = asked.replace('"', "").partition(" AND ")
        any_of = set(others.strip("()").split(" OR ")) if others else set()
        found = [id for id, has in rows.items() if first in has and (not others or any_of & has)]
        return sorted(found, reverse=True)[: limit if limit >= 0 else None]

    return find


@pytest.mark.parametrize("seed", range(60))
def test_the_heaviest_rows_are_those_of_a_full_count(seed: int) -> None:
    rng = random.Random(seed)
    weights = {f"t{n}": rng.choice([1, 2, 3, 5, 8, 100]) for n in range(rng.randint(2, 6))}
    share = {term: rng.choice([0.01, 0.1, 0.5, 0.9]) for term in weights}
    rows = {id: {t for t in weights if rng.random() < share[t]} for id in range(400)}
    most = rng.choice([1, 5, 50])
    totals = sorted(((sum(weights[t] for t in has), id) for id, has in rows.items() if has), reverse=True)
    assert _heaviest(weights, index_of(rows), most) == [id for _, id in totals[:most]]


def test_conversations_are_found_by_number_not_by_reading_all_of_a_users() -> None:
    """SQLite knows no statistics: unless told, it takes the index on the user, and reads all of theirs."""
    plans: list[str] = []
    with recollect.open(":memory:", user="alex", background=False, semantic=False) as store:
        c = store.create("c", title="tea")
        store.append(c, role="user", text="tea with milk")
        real = SQLiteTx.all

        def noted(self: SQLiteTx, sql: str, /, **params: Any) -> list[Any]:
            told = self._connection.execute("explain query plan " + sql, {**params, "user": self.user})
            plans.extend(f"{row[3]} | {sql}" for row in told)
            return real(self, sql, **params)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SQLiteTx, "all", noted)
            assert store.search("tea") and store.search("tea", conversation=c)
    asked = [plan for plan in plans if "from conversations c" in plan and "SEARCH c " in plan]
    assert asked and all("USING INTEGER PRIMARY KEY" in plan for plan in asked), asked


def test_signatures_are_chosen_by_place_whether_sorted_or_new() -> None:
    np = pytest.importorskip("numpy")
    from recollect.search import signatures

    rng = np.random.default_rng(5)
    size = 3 * signatures.LOOSE
    bits = rng.integers(0, 256, (size, 32), dtype=np.uint8)
    asked = rng.standard_normal(256)
    far = np.bitwise_count(bits ^ np.packbits(asked > 0)).sum(axis=1, dtype=int).tolist()
    for first, place_of in ((5 << 32, lambda n: n), (1, lambda n: n * 10**15 + 7)):  # events of a user; items
        known = signatures.Signatures("model", 256)
        places = [place_of(int(n)) for n in rng.integers(0, 40, size)]
        rows = [(first + 2 * i, place, bits[i].tobytes()) for i, place in enumerate(places)]
        for count in (10, signatures.LOOSE + 9, 2 * signatures.LOOSE, 2 * signatures.LOOSE + 50, size):
            known._add(rows[len(known) : count])  # as they come in
            for within in (None, [0], [7, 3], [0, 7, 7], [99], [1, 2, 3, 4, 5, 6], []):
                some = None if within is None else [place_of(n) for n in within]
                found = sorted(
                    (distance, id, place)
                    for distance, (id, place, _) in zip(far[:count], rows, strict=False)
                    if some is None or place in some
                )
                assert known.nearest(asked, 30, some) == [(id, place) for _, id, place in found[:30]]
        assert known.size < 60 * size + 10_000 or first == 1
        known.drop({id for id, place, _ in rows if place == place_of(7)})
        assert known.nearest(asked, 30, [place_of(7)]) == []
        assert {place for _, place in known.nearest(asked, 30, [place_of(8)])} == {place_of(8)}


def test_signatures_are_read_by_pages(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")
    from recollect.search import signatures

    monkeypatch.setattr(signatures, "PAGE", 5)
    with recollect.open(tmp_path / "a.db", user="alex", background=False) as store:
        c = store.create("c")
        for count in (10, 11, 23):  # two full pages, one more event, and pages with a rest
            said = store.read(c)[-1].seq if store.read(c) else 0
            store.append_many(c, [{"role": "user", "text": f"cup {n} of tea"} for n in range(said, count)])
            store.settle()
            assert len(store.search("a hot drink", limit=50)) == count
            [known] = store._semantic().signatures.values()  # type: ignore[union-attr]
            assert len(known) == count


def test_the_pieces_of_the_index_are_brought_together_after_embedding(tmp_path: Any) -> None:
    pytest.importorskip("wordllama")
    with recollect.open(tmp_path / "a.db", user="alex", background=False) as store:
        c = store.create("c")
        for n in range(12):
            store.append(c, role="user", text=f"tea number {n}")
        store.settle()
        found = [hit.text for hit in store.search("tea", limit=50)]
        assert len(found) == 12
    pieces = apsw.Connection(str(tmp_path / "a.db")).execute("select count(distinct segid) from words_idx").fetchall()
    assert pieces[0][0] < 4


def test_large_pieces_of_the_index_become_one_as_well(tmp_path: Any) -> None:
    pytest.importorskip("wordllama")
    rng = random.Random(5)
    with recollect.open(tmp_path / "a.db", user="alex", background=False) as store:
        c = store.create("c")
        for size in (1_600, 800, 400):
            said = [" ".join(f"word{rng.randrange(20_000)}" for _ in range(30)) for _ in range(size)]
            store.append_many(c, [{"role": "user", "text": f"tea {text}"} for text in said])
            store.settle()
        assert len(store.search("tea", limit=50)) == 50
    connection = apsw.Connection(str(tmp_path / "a.db"))
    pieces = [n for (n,) in connection.execute("select count(*) from words_idx group by segid order by 1").fetchall()]
    assert sum(pieces) > 64 and 4 * sum(pieces[:-1]) < pieces[-1], pieces
    connection.execute("insert into words (words, rank) values ('integrity-check', 0)").fetchall()
