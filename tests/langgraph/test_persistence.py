"""A backend says in its settings where a graph keeps its state and its memory; the rest follows."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

import recollect
from recollect import config
from recollect.errors import SettingsError, StoreClosed
from recollect.langgraph import (
    MemoryStore,
    Persistence,
    Saver,
    compile_graph,
    create_checkpointer,
    create_graph_store,
    persistence,
)
from recollect.langgraph import (
    backend as module,
)


class State(TypedDict):
    count: int


def step(state: State, *, store: BaseStore) -> State:
    if store is not None:
        store.put(("counts",), str(state["count"]), {"content": f"counted to {state['count']}"})
    return {"count": state["count"] + 1}


@pytest.fixture
def builder() -> Any:
    made = StateGraph(State)
    made.add_node("step", step)
    made.add_edge(START, "step")
    return made


@pytest.fixture
def where(url: str, backend: str) -> dict[str, Any]:
    return {"backend": backend, "database": url, "semantic": False, "user": "alex"}


@pytest.fixture(autouse=True)
def nothing_shared() -> Iterator[None]:
    yield
    for shared in module._shared.values():
        shared.close()
    module._shared.clear()


THREAD: Any = {"configurable": {"thread_id": "t1"}}


def test_both_halves_are_on_one_database(where: dict[str, Any], builder: Any) -> None:
    with persistence(where) as p:
        assert p.compile(builder).invoke({"count": 1}, THREAD) == {"count": 2}
        assert isinstance(p.checkpointer, Saver) and isinstance(p.store, MemoryStore)
        assert p.checkpointer.store is p.recollect
    with persistence(where) as p:
        graph = p.compile(builder)
        assert graph.get_state(THREAD).values == {"count": 2}
        assert p.store is not None
        assert [i.value["content"] for i in p.store.search(("counts",))] == ["counted to 1"]
        assert p.recollect.get("t1").id == "t1"


async def test_async_code_has_the_same(where: dict[str, Any], builder: Any) -> None:
    async with persistence(where) as p:
        graph = p.compile(builder)
        assert await graph.ainvoke({"count": 1}, THREAD) == {"count": 2}
        assert (await graph.aget_state(THREAD)).values == {"count": 2}
        assert p.store is not None
        assert len(await p.store.asearch(("counts",))) == 1
    with pytest.raises(StoreClosed):
        p.checkpointer  # noqa: B018


def test_each_half_can_be_had_alone(where: dict[str, Any], builder: Any) -> None:
    with create_checkpointer(where) as saver:
        store = create_graph_store(where)
        assert store is not None
        with store:
            graph = builder.compile(checkpointer=saver, store=store)
            assert graph.invoke({"count": 5}, THREAD) == {"count": 6}
            assert len(store.search(("counts",))) == 1


def test_compile_graph_passes_both_and_shares_one_handle(where: dict[str, Any], builder: Any) -> None:
    first, second = compile_graph(builder, where), compile_graph(builder, where)
    assert first.checkpointer is second.checkpointer
    assert first.store is second.store
    assert first.invoke({"count": 1}, THREAD) == {"count": 2}
    assert second.get_state(THREAD).values == {"count": 2}
    assert len(module._shared) == 1
    assert compile_graph(builder, where, store=None).store is None
    named = compile_graph(builder, where, name="counter", interrupt_before=["step"])
    assert named.name == "counter"


def test_compile_graph_takes_an_open_persistence(where: dict[str, Any], builder: Any) -> None:
    with persistence(where) as p:
        assert compile_graph(builder, p).checkpointer is p.checkpointer
    assert module._shared == {}


def test_a_disabled_store_compiles_without_one(where: dict[str, Any], builder: Any) -> None:
    where["graph_store"] = False
    assert create_graph_store(where) is None
    with persistence(where) as p:
        assert p.store is None
        graph = p.compile(builder)
        assert graph.store is None
        assert graph.invoke({"count": 1}, THREAD) == {"count": 2}
        assert graph.get_state(THREAD).values == {"count": 2}


def test_it_opens_once_however_many_ask_at_once(where: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    real = recollect.Store.open.__func__  # type: ignore[attr-defined]

    def counting(cls: Any, *args: Any, **kw: Any) -> Any:
        opened.append(1)
        return real(cls, *args, **kw)

    monkeypatch.setattr(recollect.Store, "open", classmethod(counting))
    p = persistence(where)
    assert opened == []  # not before it is needed
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(p.checkpointer)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(opened) == 1 and len({id(f) for f in found}) == 1
    p.close()
    p.close()


@pytest.mark.parametrize("said", ["SQLite", " sqlite ", "SQLITE"])
def test_the_backend_is_named_in_any_case(tmp_path: Path, said: str) -> None:
    with persistence({"backend": said, "database": str(tmp_path / "chat.db")}) as p:
        assert p.recollect.location == str(tmp_path / "chat.db")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"backend": "mysql"}, "sqlite or postgres"),
        ({"backend": ""}, "sqlite or postgres"),
        ({"backend": "postgres"}, "postgresql://"),
        ({"backend": "PostGres", "database": "/data/chat.db"}, "postgresql://"),
        ({"backend": "sqlite", "database": "postgresql://localhost/x"}, "change one"),
        ({"backend": "sqlite", "database": "chat.db"}, "absolute"),
        ({"backend": "sqlite", "database": "~/chat.db"}, "absolute"),
        ({"backend": "sqlite", "database": "/data/../etc/chat.db"}, "absolute"),
        ({"backend": "sqlite", "pool_max": 0}, "at least 1"),
        ({"backend": "sqlite", "connect_timeout_ms": 0}, "at least 1"),
        ({"backend": "sqlite", "statement_timeout_ms": "soon"}, "whole number"),
        ({"bakend": "sqlite"}, "backend"),
        ("sqlite", "mapping"),
    ],
)
def test_wrong_settings_are_told_before_anything_is_opened(given: Any, says: str) -> None:
    for make in (persistence, create_graph_store, create_checkpointer):
        with pytest.raises(SettingsError, match=says):
            make(given)


def test_settings_come_from_the_environment_too(
    where: dict[str, Any], monkeypatch: pytest.MonkeyPatch, builder: Any
) -> None:
    monkeypatch.setenv("RECOLLECT_BACKEND", where["backend"].upper())
    monkeypatch.setenv("RECOLLECT_DATABASE", where["database"])
    monkeypatch.setenv("RECOLLECT_POOL_MAX", "3")
    with persistence() as p:
        assert p.settings.pool_max == 3
        assert p.compile(builder).invoke({"count": 1}, THREAD) == {"count": 2}


def test_settings_may_be_given_as_themselves(where: dict[str, Any]) -> None:
    settings = recollect.Settings.load(**where)
    with persistence(settings) as p:
        assert p.recollect.user == "alex"
        assert isinstance(p, Persistence)


def test_index_and_ttl_reach_the_store(where: dict[str, Any]) -> None:
    with persistence(where, index={"fields": ["title"]}, ttl={"default_ttl": 5}) as p:
        assert p.store is not None
        p.store.put(("n",), "k", {"title": "walrus"})
        assert p.store.search(("n",), query="walrus")[0].score is not None
        assert p.store.ttl_config == {"default_ttl": 5}


# -- the halves in two places


def test_each_half_may_have_a_database_of_its_own(
    tmp_path: Path, postgres_url: str, builder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = str(tmp_path / "items.db")
    said = {"database": postgres_url, "graph_store_backend": "SQLite", "graph_store_database": items}
    config: Any = {"configurable": {"thread_id": "t"}}
    with persistence(said) as p:
        assert p.compile(builder).invoke({"count": 1}, config)["count"] == 2
        assert p.store is not None and p.store._store.location == items
        assert p.checkpointer.get(config) is not None
        assert "@127.0.0.1" in p.recollect.location
    monkeypatch.setenv("RECOLLECT_DATABASE", str(tmp_path / "other.db"))
    monkeypatch.setenv("RECOLLECT_CHECKPOINTER_DATABASE", postgres_url)
    monkeypatch.setenv("RECOLLECT_GRAPH_STORE_DATABASE", items)
    store, saver = create_graph_store(), create_checkpointer()
    try:
        assert store is not None and store.get(("counts",), "1") is not None
        assert saver.get(config) is not None
    finally:
        assert store is not None
        store.close()
        saver.close()
    assert not (tmp_path / "other.db").exists()


def test_other_names_for_these_settings_are_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "items.db")
    store = create_graph_store({"graph_store_backend": "sqlite", "graph_store_path": path, "pool_max_size": 3})
    assert store is not None
    with contextlib.closing(store):
        assert store._store.location == path
        assert store._store.settings.pool_max == 3
    saver = create_checkpointer({"checkpoint_backend": "sqlite", "checkpointer_path": path})
    saver.close()


@pytest.mark.parametrize("given", [None, {}])
def test_variables_by_other_names_are_taken_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str] | None
) -> None:
    path = str(tmp_path / "items.db")
    monkeypatch.setenv("RECOLLECT_GRAPH_STORE_PATH", path)
    monkeypatch.setenv("RECOLLECT_POOL_MAX_SIZE", "3")
    store = create_graph_store(given)
    assert store is not None
    with contextlib.closing(store):
        assert store._store.location == path
        assert store._store.settings.pool_max == 3
    other = create_graph_store({"graph_store_path": str(tmp_path / "other.db")})  # what is passed wins
    assert other is not None
    with contextlib.closing(other):
        assert other._store.location == str(tmp_path / "other.db")
    assert config.misspelt() == []
    monkeypatch.setenv("RECOLLECT_GRAPH_STORE_DATABASE", str(tmp_path / "third.db"))
    with pytest.raises(SettingsError, match=r"RECOLLECT_GRAPH_STORE_.* are the same setting and say two things"):
        create_graph_store(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"graph_store_backend": "mysql"}, "graph_store_backend = 'mysql'"),
        ({"graph_store_backend": "postgres"}, "set graph_store_database"),
        (
            {"graph_store_backend": "postgres", "graph_store_database": "/srv/items.db"},
            "graph_store_backend = 'postgres'",
        ),
        ({"graph_store_database": "~/items.db"}, "graph_store_database = '~/items.db'"),
        ({"graph_store_path": "items.db"}, "graph_store_database = 'items.db' is relative"),
        ({"checkpointer_database": "items.db"}, "checkpointer_database = 'items.db' is relative"),
        ({"pool_min": 5, "pool_max": 2}, r"pool_min \(5\) must not be larger than pool_max \(2\)"),
        ({"pool_min_size": 20}, r"pool_min \(20\)"),
        ({"pool_min": 1, "pool_min_size": 2}, "pool_min is given twice"),
    ],
)
def test_wrong_settings_of_a_half_are_errors(given: Any, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        persistence(given)
