"""Nobody reaches another's items, whatever they are called; no secret gets in; nothing of a caller's becomes SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import InvalidNamespaceError, PutOp

import recollect
from recollect import filters, items
from recollect.langgraph.store import MemoryStore
from talk import Raw

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
NASTY = [
    "a", "A", "a ", " a", "ab", "b", "*", "%", "_", "a%", "a_", "[a]", "a*", "?", "'", "''", '"', "\\", "a\n", "\n", "\t",
    "a/", "/", "-", "--", ";", "a'--", "' or 1=1 --", "é", "e\u0301", "\u00e9", "ａ", "a\u200b", "\U0001f600", "\u202ea",
    "null", "None", "0", "memories", "user", "\x7f", "a:b", "a|b", "{a}", "$", "$a", "\ufeffa", "A\u0301", "ß", "SS",
]  # fmt: skip
labels = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_characters=".\0", exclude_categories=("Cs",)), min_size=1, max_size=6
)
namespaces = (
    st.lists(labels, min_size=1, max_size=4).map(tuple).filter(lambda ns: ns[0] not in ("langgraph", "memories"))
)
names = st.sampled_from(NASTY) | st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8)
quick = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)


@pytest.fixture
def two(url: str) -> Iterator[tuple[MemoryStore, MemoryStore]]:
    """Two people on one database."""
    with ExitStack() as stack:
        store = stack.enter_context(recollect.open(url, user="user1", semantic=False, redact=False, background=False))
        yield MemoryStore(store), MemoryStore(store.for_user("user10"))


@quick
@given(puts=st.lists(st.tuples(st.booleans(), namespaces, names), min_size=1, max_size=12))
def test_every_place_is_its_own(
    two: tuple[MemoryStore, MemoryStore], puts: list[tuple[bool, tuple[str, ...], str]]
) -> None:
    """A model: a dictionary for each person. Whatever the names are, the store agrees with it."""
    for memory in two:
        for item in memory.search((), limit=1000):
            memory.delete(item.namespace, item.key)
    held: list[dict[tuple[tuple[str, ...], str], int]] = [{}, {}]
    for n, (first, namespace, key) in enumerate(puts):
        two[not first].put(namespace, key, {"content": f"word{n} shared", "n": n})
        held[not first][namespace, key] = n
    places = {(namespace, key) for _, namespace, key in puts}
    for memory, mine in zip(two, held, strict=True):
        for namespace, key in places:
            got = memory.get(namespace, key)
            assert (None if got is None else got.value["n"]) == mine.get((namespace, key))
        for prefix in {namespace[:depth] for namespace, _ in places for depth in range(len(namespace) + 1)}:
            below = {(ns, k) for ns, k in mine if ns[: len(prefix)] == prefix}
            for query in (None, "shared"):
                found = memory.search(prefix, query=query, limit=1000)
                assert {(i.namespace, i.key) for i in found} == below
                assert len(found) == len(below)
            if prefix and "*" not in prefix:
                assert set(memory.list_namespaces(prefix=prefix, limit=1000)) == {ns for ns, _ in below}
                ends = {ns for ns, _ in mine if ns[-len(prefix) :] == prefix}
                assert set(memory.list_namespaces(suffix=prefix, limit=1000)) == ends
        assert set(memory.list_namespaces(limit=1000)) == {ns for ns, _ in mine}


def test_two_people_never_meet(two: tuple[MemoryStore, MemoryStore]) -> None:
    one, ten = two
    one.put(("n",), "k", {"content": "of user1"})
    ten.put(("n",), "k", {"content": "of user10"})
    assert [i.value["content"] for i in one.search((), query="of user10")] == ["of user1"]
    ten.delete(("n",), "k")
    assert one.get(("n",), "k") is not None
    assert ten.list_namespaces() == []
    assert one.for_user("user10").search(()) == []
    assert one.for_user("USER1").get(("n",), "k") is None
    assert one.for_user("user1").get(("n",), "k") is not None


def test_vectors_of_two_people_never_meet(url: str) -> None:
    with recollect.open(url, user="user1", background=False) as store:
        one = MemoryStore(store)
        ten = one.for_user("user10")
        for i in range(30):
            one.put(("n",), str(i), {"content": f"coffee in the morning {i}"})
        ten.put(("n",), "tea", {"content": "tea in the evening"})
        assert [i.key for i in ten.search(("n",), query="coffee in the morning")] == ["tea"]
        assert "tea" not in [i.key for i in one.search(("n",), query="tea in the evening", limit=100)]


# -- filters

condition = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.sampled_from(NASTY),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*filters.OPERATORS, *NASTY[:12]]) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(quick, max_examples=120)
@given(filter=st.dictionaries(st.sampled_from(NASTY) | st.text(max_size=20), condition, max_size=3))
def test_no_filter_reaches_the_database(
    two: tuple[MemoryStore, MemoryStore], filter: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a filter says, the statement is the same: it is judged on what that gives, which parameters may narrow."""
    memory = two[0]
    memory.put(("f",), "k", {"content": "x", "a": 1, "b": {"a": None}})
    asked: list[str] = []
    real = items.walk

    def walk(tx: Any, scope: Any, now: int, judge: Any, first: int) -> Any:
        class Seen:
            def __getattr__(self, name: str) -> Any:
                return getattr(tx, name)

            def all(self, sql: str, **params: Any) -> Any:
                asked.append(sql)
                return tx.all(sql, **params)

        return real(Seen(), scope, now, judge, first)

    with monkeypatch.context() as patch:
        patch.setattr(items, "walk", walk)
        try:
            found = memory.search(("f",), filter=filter)
        except ValueError as e:
            assert "Invalid filter key" in str(e) or "Unsupported operator" in str(e)
            return
    assert [i.key for i in found] in ([], ["k"])
    for sql in asked:
        one = r"(instr|strpos)\(i\.value, :needle\d+\) > 0"
        bare, needles = re.subn(rf" and \({one}( or {one})*\)", "", sql)
        assert needles <= 4 * len(filter)  # in each half, how it begins and how it ends
        assert bare == STATEMENT


STATEMENT = (
    "with ends as (select (select min(i.namespace) from items i where i.user_no = :user and i.namespace >= :low and"
    " i.namespace < :high) as first, (select max(i.namespace) from items i where i.user_no = :user and i.namespace >= :low"
    " and i.namespace < :high) as last)"
    f" select * from (select {items.COLUMNS} from items i where i.user_no = :user and (i.expires_at is null or i.expires_at >"
    " :now) and i.namespace = (select first from ends) and (select first = last from ends) and i.tick < :before order by"
    " i.tick desc limit :most) as one"
    f" union all select * from (select {items.COLUMNS} from items i where i.user_no = :user and (i.expires_at is null or"
    " i.expires_at > :now) and i.namespace >= :low and i.namespace < :high and (select first <> last from ends) and i.tick <"
    " :before order by i.tick desc limit :most) as several"
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(
        [0.0, -0.0, 0, 1, 1.0, 7, 7.0, 1e15, 1e16, 10**15, 10**22, 1e22, "7", "a.b", "é", "\n", '"', "\\"]
    )
)
fields = st.sampled_from(["a", "n", "é", "a.b", "a b", "b"])


@settings(quick, max_examples=80)
@given(value=st.dictionaries(fields, scalars | st.dictionaries(fields, scalars, max_size=2), min_size=1), other=scalars)
def test_what_narrows_the_rows_leaves_nothing_out(
    two: tuple[MemoryStore, MemoryStore], value: dict[str, Any], other: Any
) -> None:
    """Every field of a value finds it, however its equal is written: 7 is 7.0, and a text may hold anything."""
    memory = two[0]
    memory.put(("f",), "k", value)
    for key, held in value.items():
        for condition in (held, {"$eq": held}):
            assert [i.key for i in memory.search(("f",), filter={key: condition})] == ["k"]
        if isinstance(held, int) and not isinstance(held, bool) and held == float(min(max(held, -1e300), 1e300)):
            assert [i.key for i in memory.search(("f",), filter={key: float(held)})] == ["k"]
        expected = ["k"] if filters._equal(held, other) else []
        if not isinstance(held, dict):
            assert [i.key for i in memory.search(("f",), filter={key: {"$eq": other}})] == expected


# -- redaction


def stored(raw: Raw) -> str:
    found = [raw(f"select * from {table}") for table in ("items", "item_texts", "memories", "jobs")]
    return repr(found)


def test_a_secret_in_a_value_is_replaced_however_deep(url: str, raw: Raw) -> None:
    with MemoryStore(url, user="alex", semantic=False) as memory:
        value = {"content": f"use {SECRET}", "deep": [{"x": SECRET}], SECRET: "as a key", "password": "hunter2hunter2"}
        memory.put(("memories", "alex"), "k", value)
        item = memory.get(("memories", "alex"), "k")
        assert item is not None
        assert SECRET not in repr(item.value) and "hunter2" not in repr(item.value)
        assert "[redacted:" in item.value["content"]
        assert SECRET not in stored(raw)
        assert all(i.score is None for i in memory.search(("memories", "alex"), query=SECRET))


def test_a_secret_as_a_key_is_kept_as_a_hash_and_still_found(url: str, raw: Raw) -> None:
    with MemoryStore(url, user="alex", semantic=False) as memory:
        memory.put(("n",), SECRET, {"v": 1})
        item = memory.get(("n",), SECRET)
        assert item is not None and item.value == {"v": 1}
        assert SECRET not in stored(raw)
        assert [SECRET in i.key for i in memory.search(("n",))] == [False]
        memory.delete(("n",), SECRET)
        assert memory.get(("n",), SECRET) is None


def test_a_namespace_with_a_secret_is_refused_and_not_quoted(url: str, raw: Raw) -> None:
    with MemoryStore(url, user="alex", semantic=False) as memory:
        with pytest.raises(InvalidNamespaceError) as refused:
            memory.put(("tokens", SECRET), "k", {"v": 1})
        assert SECRET not in str(refused.value)
        assert memory.get(("tokens", SECRET), "k") is None
        assert SECRET not in stored(raw)


def test_a_secret_in_the_id_of_a_run_is_not_kept(url: str, raw: Raw) -> None:
    from typing import TypedDict

    from langgraph.config import get_store
    from langgraph.graph import START, StateGraph

    class State(TypedDict):
        x: int

    def put(state: State) -> State:
        get_store().put(("n",), "k", {"v": 1})
        return state

    builder = StateGraph(State)
    builder.add_node("put", put)
    builder.add_edge(START, "put")
    with MemoryStore(url, user="alex", semantic=False) as memory:
        builder.compile(store=memory).invoke({"x": 1}, {"configurable": {"thread_id": SECRET}})
        assert memory.provenance(("n",), "k") is not None
        assert SECRET not in stored(raw)


def test_scan_finds_and_mends_what_was_put_unredacted(url: str, raw: Raw) -> None:
    with MemoryStore(url, user="alex", semantic=False, redact=False, background=False) as memory:
        memory.put((f"ns {SECRET}",), "in the namespace", {"content": "one"})
        memory.put(("n",), SECRET, {"content": "in the key"})
        memory.put(("n",), "value", {"content": f"in the value {SECRET}", "more": {"x": SECRET}})
        memory.put(("n",), "clean", {"content": "nothing"})
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        assert store.scan().places
        assert SECRET in stored(raw)
        assert store.scan(fix=True).places
        assert SECRET not in stored(raw)
        assert not store.scan().places
        assert store.verify().ok
        memory = MemoryStore(store)
        assert len(memory.search((), limit=10)) == 4
        assert memory.search(("n",), query="in the value")[0].key == "value"


# -- the whole


def test_verify_finds_a_changed_value_and_a_lost_index(url: str, raw: Raw, backend: str) -> None:
    with MemoryStore(url, user="alex", semantic=False, background=False) as memory:
        memory.batch([PutOp(("n",), str(i), {"content": f"the walrus number {i}"}) for i in range(20)])
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        assert store.verify().ok
        assert store.stats().items == 20
        raw("delete from item_texts where text = 'the walrus number 3'")
        (problem,) = store.verify().problems
        assert "of no item" in problem.what
        assert store.reindex() == 19
        assert store.verify().ok
        memory = MemoryStore(store)
        assert sum(i.score is not None for i in memory.search(("n",), query="walrus", limit=50)) == 19
        raw("update items set value = '{\"content\": \"forged\"}' where key = '5'")
        (problem,) = store.verify().problems
        assert "'5'" in problem.where
        memory.put(("n",), "5", {"content": "again"})
        assert store.verify().ok


def test_a_value_that_does_not_read_back_is_an_error_not_a_gap(url: str, raw: Raw) -> None:
    with MemoryStore(url, user="alex", semantic=False) as memory:
        memory.put(("n",), "k", {"v": 1})
        raw("update items set value = '{' where key = 'k'")
        for ask in (lambda: memory.get(("n",), "k"), lambda: memory.search(("n",))):
            with pytest.raises(recollect.errors.Damaged, match="doctor"):
                ask()
