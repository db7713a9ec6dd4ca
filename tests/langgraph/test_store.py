"""What a graph puts into the store comes back as it was; and everything LangGraph's interface promises."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

import recollect
from recollect.errors import InvalidInput, StoreClosed
from recollect.langgraph.store import MemoryStore


@pytest.fixture
def memory(url: str) -> Iterator[MemoryStore]:
    with MemoryStore.from_conn_string(url, user="alex", semantic=False) as opened:
        yield opened


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


# -- put, get, delete


def test_what_is_put_comes_back(memory: MemoryStore) -> None:
    memory.put(("users", "alex"), "prefs", {"theme": "dark", "n": [1, 2.5, None, True, {"x": "é"}]})
    item = memory.get(("users", "alex"), "prefs")
    assert item is not None
    assert item.value == {"theme": "dark", "n": [1, 2.5, None, True, {"x": "é"}]}
    assert (item.namespace, item.key) == (("users", "alex"), "prefs")
    assert (datetime.now(UTC) - item.created_at).total_seconds() < 60
    assert memory.get(("users", "alex"), "other") is None
    assert memory.get(("users",), "prefs") is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(alphabet=st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(value=st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_any_json_makes_the_round_trip(value: dict[str, Any], url: str) -> None:
    """NUL and half surrogates included, which no column could hold as they are."""
    with MemoryStore.from_conn_string(url, user="alex", semantic=False, redact=False) as memory:
        memory.put(("any",), "k", value)
        found = memory.get(("any",), "k")
        assert found is not None
        assert found.value == value
        assert repr(found.value) == repr(value)  # 1.0 is not 1, -0.0 is not 0.0


def test_infinity_comes_back(memory: MemoryStore) -> None:
    memory.put(("n",), "k", {"inf": math.inf, "nan": math.nan, "big": 10**300})
    item = memory.get(("n",), "k")
    assert item is not None and item.value["inf"] == math.inf and math.isnan(item.value["nan"])
    assert item.value["big"] == 10**300


@pytest.mark.parametrize("value", [{"at": datetime.now(UTC)}, {"s": {1, 2}}, {1: "x"}, {"b": b"x"}, ["x"], "x"])
def test_what_json_cannot_say_is_refused(memory: MemoryStore, value: Any) -> None:
    with pytest.raises(InvalidInput, match="value"):
        memory.put(("n",), "k", value)
    assert memory.search(()) == []


def test_a_put_replaces_and_keeps_when_it_began(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.put(("n",), "k", {"v": 1})
    before = memory.get(("n",), "k")
    later = recollect.ids.now() + 5000
    monkeypatch.setattr(recollect.ids, "now", lambda: later)
    memory.put(("n",), "k", {"v": 2})
    after = memory.get(("n",), "k")
    assert before is not None and after is not None
    assert after.value == {"v": 2}
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at
    assert keys(memory.search(("n",))) == ["k"]


def test_what_is_deleted_is_gone_and_deleting_nothing_is_fine(memory: MemoryStore) -> None:
    memory.put(("n",), "k", {"content": "to be removed"})
    memory.delete(("n",), "k")
    memory.delete(("n",), "k")
    assert memory.get(("n",), "k") is None
    assert memory.search(("n",), query="removed") == []
    assert memory.list_namespaces() == []


def test_there_is_no_cap_and_no_merging(memory: MemoryStore) -> None:
    memory.batch([PutOp(("many",), str(i), {"content": "the same words"}) for i in range(700)])
    assert len(memory.search(("many",), limit=1000)) == 700
    assert len(memory.search(("many",), query="same words", limit=1000)) == 700


def test_a_value_is_not_shared_with_the_caller(memory: MemoryStore) -> None:
    value = {"list": [1]}
    memory.put(("n",), "k", value)
    value["list"].append(2)
    first = memory.get(("n",), "k")
    assert first is not None
    first.value["list"].append(3)
    again = memory.get(("n",), "k")
    assert again is not None and again.value == {"list": [1]}


# -- namespaces


@pytest.mark.parametrize(
    "namespace", [(), ("langgraph", "x"), ("a.b",), ("a", ""), ("a", 1), ("nul\0",), ("half\ud800",)]
)
def test_a_bad_namespace_is_refused_as_langgraph_does(memory: MemoryStore, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        memory.put(namespace, "k", {"v": 1})
    assert memory.list_namespaces() == []


def test_a_text_is_no_namespace_of_its_letters(memory: MemoryStore) -> None:
    text: Any = "memo"
    for ask in (
        lambda: memory.put(text, "k", {"content": "x"}),
        lambda: memory.get(text, "k"),
        lambda: memory.delete(text, "k"),
        lambda: memory.search(text),
        lambda: memory.list_namespaces(prefix=text),
    ):
        with pytest.raises(InvalidNamespaceError, match="tuple of labels"):
            ask()
    assert memory.list_namespaces() == []


def test_one_bad_operation_refuses_the_whole_batch(memory: MemoryStore) -> None:
    for bad in (PutOp(("a.b",), "k", {}), PutOp(("b",), "k", {"x": object()}), PutOp(("b",), "nul\0", {})):
        with pytest.raises(ValueError, match=r"(?s)."):
            memory.batch([PutOp(("a",), "k", {"v": 1}), bad])
    assert memory.search(()) == []
    with pytest.raises(ValueError, match="operation"):
        memory.batch(["put"])  # type: ignore[list-item]


def test_namespaces_are_listed_by_prefix_suffix_wildcard_and_depth(memory: MemoryStore) -> None:
    for namespace in [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "c", "f"),
        ("ab", "b"),
        ("z",),
    ]:
        memory.put(namespace, "k", {"v": 1})
    assert memory.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d")]
    assert memory.list_namespaces(prefix=("a",), suffix=("f",)) == [("a", "c", "f")]
    assert memory.list_namespaces(prefix=("*", "b")) == [
        ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("ab", "b"),
    ]  # fmt: skip
    assert memory.list_namespaces(suffix=("d", "*")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
    assert memory.list_namespaces(limit=2, offset=1) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
    both = (MatchCondition("prefix", ("a", "*")), MatchCondition("suffix", ("c",)))
    assert memory.batch([ListNamespacesOp(both)]) == [[("a", "b", "c")]]


# -- search without a question


def test_a_search_sees_its_prefix_and_what_is_below_by_whole_labels(memory: MemoryStore) -> None:
    for namespace in [("foo",), ("foo", "x"), ("foobar",), ("FOO",), ("foo ",), ("fo",)]:
        memory.put(namespace, "k", {"v": 1})
    assert {item.namespace for item in memory.search(("foo",))} == {("foo",), ("foo", "x")}


def test_a_search_without_a_question_gives_the_newest_first_in_pages(memory: MemoryStore) -> None:
    for i in range(7):
        memory.put(("n",), str(i), {"even": i % 2 == 0})
    memory.put(("n",), "2", {"even": True, "again": 1})
    assert keys(memory.search(("n",), limit=3)) == ["2", "6", "5"]
    assert keys(memory.search(("n",), limit=3, offset=5)) == ["1", "0"]
    assert keys(memory.search(("n",), filter={"even": True}, limit=2, offset=1)) == ["6", "4"]
    assert memory.search(("n",), limit=0) == []
    assert all(item.score is None for item in memory.search(("n",)))


ROWS: dict[str, dict[str, Any]] = {
    "red": {"color": "red", "score": 4.5, "tags": ["a", "b"], "on": True, "who": {"name": "Kim", "age": 30}},
    "blue": {"color": "blue", "score": 3, "tags": [], "on": False, "none": None, "a.b": 1},
    "bare": {"score": "12"},
}


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"color": "red"}, {"red"}),
        ({"color": {"$eq": "red"}}, {"red"}),
        ({"color": {"$ne": "red"}}, {"blue", "bare"}),
        ({"score": {"$gt": 3}}, {"red", "bare"}),
        ({"score": {"$gte": 3}}, {"red", "blue", "bare"}),
        ({"score": {"$lt": 4.5}}, {"blue"}),
        ({"score": {"$gt": 2, "$lte": 4.5}}, {"red", "blue"}),
        ({"color": {"$gt": "c"}}, {"red"}),
        ({"color": {"$gt": 3}}, set()),
        ({"missing": {"$lt": 3}}, set()),
        ({"missing": None}, {"red", "blue", "bare"}),
        ({"tags": ["a", "b"]}, {"red"}),
        ({"tags": ["b", "a"]}, set()),
        ({"tags": []}, {"blue"}),
        ({"on": True}, {"red"}),
        ({"on": 1}, set()),
        ({"who": {"name": "Kim"}}, {"red"}),
        ({"who": {"age": {"$gte": 30}}}, {"red"}),
        ({"who.name": "Kim"}, {"red"}),
        ({"a.b": 1}, {"blue"}),
        ({"color": "red", "score": {"$lt": 1}}, set()),
        ({"score": {"$eq": math.nan}}, set()),
        ({"color": "x' or '1'='1"}, set()),
        ({}, {"red", "blue", "bare"}),
    ],
)
def test_filters(memory: MemoryStore, filter: dict[str, Any], found: set[str]) -> None:
    memory.batch([PutOp(("f",), key, value) for key, value in ROWS.items()])
    assert set(keys(memory.search(("f",), filter=filter))) == found
    assert set(keys(memory.search(("f",), filter=filter, query="anything"))) == found


def test_numbers_that_begin_alike_are_told_apart(memory: MemoryStore) -> None:
    said: dict[str, Any] = {
        "7": 7,
        "7.0": 7.0,
        "70": 70,
        "7.05": 7.05,
        "-7": -7,
        "'7'": "7",
        "[7]": [7],
        "{7}": {"n": 7},
    }
    for key, n in said.items():
        memory.put(("f",), f"last {key}", {"a": 7, "n": n})
        memory.put(("f",), f"first {key}", {"n": n, "a": 7})
    for wanted, found in ((7, {"7", "7.0"}), (7.0, {"7", "7.0"}), (70, {"70"}), (7.05, {"7.05"}), (-7, {"-7"})):
        shown = {f"{where} {key}" for where in ("first", "last") for key in found}
        assert set(keys(memory.search(("f",), filter={"n": wanted}, limit=100))) == shown
        assert set(keys(memory.search(("f",), filter={"n": {"$eq": wanted}}, limit=100))) == shown


@pytest.mark.parametrize(
    "filter",
    [{"x') or 1=1 --": 1}, {'"': 1}, {"": 1}, {"x": {"$regex": "."}}, {"x": {"y": {"$where": 1}}}, {"nul\0": 1}],
)
def test_a_filter_that_is_none_is_refused(memory: MemoryStore, filter: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Invalid filter key|Unsupported operator"):
        memory.search(("f",), filter=filter)


# -- batches


def test_a_batch_reads_first_and_writes_all_or_nothing(memory: MemoryStore) -> None:
    memory.put(("n",), "old", {"v": 1})
    got, put, found, listed, deleted, missing = memory.batch(
        [
            GetOp(("n",), "old"),
            PutOp(("n",), "new", {"v": 2}),
            SearchOp(("n",)),
            ListNamespacesOp(),
            PutOp(("n",), "old", None),
            GetOp(("n",), "new"),
        ]
    )
    assert got.value == {"v": 1} and keys(found) == ["old"] and listed == [("n",)]  # type: ignore[union-attr,arg-type]
    assert put is deleted is missing is None
    assert keys(memory.search(("n",))) == ["new"]


def test_the_last_write_of_a_key_in_a_batch_counts(memory: MemoryStore) -> None:
    memory.batch(
        [PutOp(("n",), "k", {"v": 1}), PutOp(("n",), "k", {"v": 2}), PutOp(("n",), "j", {}), PutOp(("n",), "j", None)]
    )
    assert [item.value for item in memory.search(("n",))] == [{"v": 2}]


async def test_the_same_object_serves_async_code(url: str) -> None:
    async with MemoryStore.from_conn_string(url, user="alex", semantic=False) as memory:
        await memory.setup()
        await asyncio.gather(*(memory.aput(("n",), str(i), {"content": f"number {i}"}) for i in range(50)))
        item = await memory.aget(("n",), "7")
        assert item is not None and item.value == {"content": "number 7"}
        assert len(await memory.asearch(("n",), limit=100)) == 50
        assert keys(await memory.asearch(("n",), query="number 31", limit=1)) == ["31"]
        await memory.adelete(("n",), "7")
        assert await memory.aget(("n",), "7") is None
        assert await memory.alist_namespaces() == [("n",)]
        good, bad = await asyncio.gather(
            memory.aget(("n",), "8"), memory.aget(("a.b",), "8"), return_exceptions=True
        )  # fmt: skip
        assert good is not None and isinstance(bad, InvalidNamespaceError)
    with pytest.raises(StoreClosed):
        memory.get(("n",), "8")


async def test_a_cancelled_put_is_written_or_not_never_half(url: str) -> None:
    async with MemoryStore.from_conn_string(url, user="alex", semantic=False) as memory:
        for i in range(20):
            task = asyncio.create_task(memory.aput(("n",), str(i), {"content": f"cancelled {i}"}))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            there = await memory.aget(("n",), str(i)) is not None
            assert there == bool(await memory.asearch(("n",), query="cancelled", filter={"content": f"cancelled {i}"}))


async def test_what_is_asked_at_once_is_done_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five hundred at once are a few transactions, and each caller has its own answer or error, in whatever mixture."""
    async with MemoryStore.from_conn_string(url, user="alex", semantic=False) as memory:
        await memory.aput(("n",), "there", {"content": "since long"})
        writes = 0
        put = memory._put

        def counted(drafts: Any) -> None:
            nonlocal writes
            writes += 1
            put(drafts)

        monkeypatch.setattr(memory, "_put", counted)
        found = await asyncio.gather(
            *(memory.aput(("n",), str(i), {"content": f"number {i}"}) for i in range(300)),
            memory.aget(("n",), "there"),
            memory.aput(("n", ""), "wrong", {"content": "no label is empty"}),
            memory.aput(("n",), "wrong", {"content": {1, 2}}),
            memory.asearch(("n",), limit=1),
            memory.asearch(("n",), query="since long"),
            return_exceptions=True,
        )
        assert found[:300] == [None] * 300
        assert found[300].value == {"content": "since long"}
        assert isinstance(found[301], InvalidNamespaceError)
        assert isinstance(found[302], Exception)
        assert len(found[303]) == 1
        assert "there" in keys(found[304])
        assert writes <= 3
        assert len(await memory.asearch(("n",), limit=1000)) == 301


async def test_one_that_only_the_database_refuses_fails_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with MemoryStore.from_conn_string(url, user="alex", semantic=False) as memory:
        put = memory._put

        def refusing(drafts: Any) -> None:
            if any(w.key == "7" for w in drafts):
                raise InvalidInput("not seven")
            put(drafts)

        monkeypatch.setattr(memory, "_put", refusing)
        found = await asyncio.gather(
            *(memory.aput(("n",), str(i), {"content": f"number {i}"}) for i in range(10)), return_exceptions=True
        )
        assert [i for i, one in enumerate(found) if one is not None] == [7]
        assert sorted(keys(await memory.asearch(("n",), limit=100))) == [str(i) for i in range(10) if i != 7]


async def test_a_store_that_is_closed_says_so_to_all_who_wait(url: str) -> None:
    memory = MemoryStore(url, user="alex", semantic=False)
    await memory.aput(("n",), "a", {"content": "a"})
    memory.close()
    found = await asyncio.gather(*(memory.aget(("n",), "a") for _ in range(5)), return_exceptions=True)
    assert [type(one) for one in found] == [StoreClosed] * 5


def test_two_loops_one_after_the_other(memory: MemoryStore) -> None:
    async def go(n: int) -> None:
        await asyncio.gather(*(memory.aput(("n",), f"{n} {i}", {"content": "x"}) for i in range(5)))

    asyncio.run(go(1))
    asyncio.run(go(2))
    assert len(memory.search(("n",), limit=100)) == 10


# -- opening


def test_an_open_store_is_used_and_left_open(store: recollect.Store) -> None:
    with MemoryStore(store) as memory:
        memory.put(("n",), "k", {"v": 1})
    assert store.stats().user == store.user
    assert keys(MemoryStore(store).search(("n",))) == ["k"]
    with pytest.raises(InvalidInput, match="open already"):
        MemoryStore(store, semantic=False)


def test_a_connection_string_of_libpq_is_no_file_name() -> None:
    with pytest.raises(InvalidInput, match="postgresql://"):
        MemoryStore.from_conn_string("host=localhost dbname=x")


def test_it_is_a_base_store() -> None:
    assert issubclass(MemoryStore, BaseStore)
    assert MemoryStore.supports_ttl


# -- in a graph


class State(TypedDict):
    said: str


def test_a_graph_keeps_and_finds_and_the_item_knows_who_put_it(memory: MemoryStore) -> None:
    def remember(state: State, *, store: BaseStore) -> State:
        store.put(("notes", "alex"), "first", {"content": state["said"]})
        (found,) = store.search(("notes", "alex"), query="pottery")
        return {"said": found.value["content"].upper()}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    graph = builder.compile(store=memory)
    run = {"configurable": {"thread_id": "t1"}}
    assert graph.invoke({"said": "does pottery on Mondays"}, run) == {"said": "DOES POTTERY ON MONDAYS"}  # type: ignore[arg-type]
    source = memory.provenance(("notes", "alex"), "first")
    assert source is not None and source["thread_id"] == "t1" and source["node"] == "remember"
    memory.put(("notes", "alex"), "by hand", {"content": "x"})
    assert memory.provenance(("notes", "alex"), "by hand") == {}
    assert memory.provenance(("notes", "alex"), "missing") is None


async def test_an_async_graph_keeps_too(memory: MemoryStore) -> None:
    async def remember(state: State, *, store: BaseStore) -> State:
        await store.aput(("notes",), "first", {"content": state["said"]})
        item = await store.aget(("notes",), "first")
        assert item is not None
        return {"said": item.value["content"]}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    assert await builder.compile(store=memory).ainvoke({"said": "hello"}) == {"said": "hello"}
    source = memory.provenance(("notes",), "first")
    assert source is not None and source["node"] == "remember"


# -- many at once


def test_many_threads_on_one_key_leave_one_item_and_one_index_entry(store: recollect.Store) -> None:
    memory = MemoryStore(store, memories=True)
    place = ("memories", store.user)

    def work(n: int) -> None:
        for i in range(15):
            if (n + i) % 5 == 4:
                memory.delete(place, "k")
            else:
                memory.put(place, "k", {"content": f"thread {n} says {i}"})
            memory.put(place, f"own {n}", {"content": f"thread {n} says {i}"})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    memory.put(place, "k", {"content": "the last word"})
    assert {i.key for i in memory.search(place, limit=50)} == {"k", *(f"own {n}" for n in range(6))}
    assert store.verify().ok
    texts = store._db.read(store.user, lambda tx: tx.all("select text from item_texts where user_no = :user"))
    assert len(texts) == 7
    memories = store.recall("the last word of a thread says", limit=50)
    assert sorted(hit.id for hit in memories) == ["k", *(f"own {n}" for n in range(6))]
    assert next(hit.text for hit in memories if hit.id == "k") == "the last word"


def test_a_put_that_fails_leaves_nothing(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect import mirror

    def fails(*args: object) -> None:
        raise RuntimeError("in the middle")

    memory.put(("memories", "alex"), "k", {"content": "before"})
    with monkeypatch.context() as patch:
        patch.setattr(mirror, "keep", fails)
        with pytest.raises(RuntimeError):
            memory.batch([PutOp(("n",), "other", {"v": 1}), PutOp(("memories", "alex"), "k", {"content": "after"})])
    assert [i.value for i in memory.search(())] == [{"content": "before"}]
    assert memory._store.verify().ok
