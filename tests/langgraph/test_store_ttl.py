"""An item with a time to live is gone when that is over, unless somebody reads it in between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect import ids
from recollect.errors import InvalidInput
from recollect.langgraph.store import MemoryStore
from talk import eventually

MINUTE = 60_000


class Clock:
    def __init__(self) -> None:
        self.at = ids.now()

    def __call__(self) -> int:
        return self.at

    def pass_(self, minutes: float) -> None:
        self.at += round(minutes * MINUTE)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(ids, "now", clock)
    return clock


@pytest.fixture
def memory(url: str, clock: Clock) -> Iterator[MemoryStore]:
    with MemoryStore(url, user="alex", semantic=False, background=False) as opened:
        yield opened


def test_nothing_expires_unless_asked(memory: MemoryStore, clock: Clock) -> None:
    memory.put(("n",), "k", {"v": 1})
    clock.pass_(10**7)
    assert memory.get(("n",), "k") is not None
    assert memory.sweep_ttl() == 0


def test_what_expired_is_not_seen_by_anything(memory: MemoryStore, clock: Clock) -> None:
    memory.put(("n",), "k", {"content": "short-lived"}, ttl=10)
    memory.put(("m",), "k", {"content": "long-lived"}, ttl=100)
    clock.pass_(10)
    assert memory.get(("n",), "k") is None
    assert [i.namespace for i in memory.search(())] == [("m",)]
    assert [i.namespace for i in memory.search((), query="short-lived")] == [("m",)]
    assert memory.list_namespaces() == [("m",)]
    assert memory.sweep_ttl() == 1
    assert memory.sweep_ttl() == 0


def test_reading_begins_its_time_anew_unless_told_not_to(memory: MemoryStore, clock: Clock) -> None:
    for key in ("got", "found", "left", "peeked"):
        memory.put((key,), key, {"v": 1}, ttl=10)
    clock.pass_(6)
    assert memory.get(("got",), "got") is not None
    assert len(memory.search(("found",))) == 1
    assert memory.get(("peeked",), "peeked", refresh_ttl=False) is not None
    assert len(memory.search(("peeked",), refresh_ttl=False)) == 1
    clock.pass_(6)
    assert {i.key for i in memory.search((), refresh_ttl=False)} == {"got", "found"}


def test_reading_does_not_bring_back_what_expired(memory: MemoryStore, clock: Clock) -> None:
    memory.put(("n",), "k", {"v": 1}, ttl=1)
    clock.pass_(2)
    assert memory.get(("n",), "k", refresh_ttl=True) is None
    assert memory.search(("n",), refresh_ttl=True) == []
    assert memory.get(("n",), "k") is None


def test_a_put_over_something_expired_is_new_to_everyone(memory: MemoryStore, clock: Clock) -> None:
    memory.put(("n",), "k", {"v": 1}, ttl=1)
    clock.pass_(2)
    memory.put(("n",), "k", {"v": 2})
    item = memory.get(("n",), "k")
    assert item is not None and item.value == {"v": 2}
    assert memory.sweep_ttl() == 0


def test_defaults_come_from_the_store_and_a_put_may_differ(url: str, clock: Clock) -> None:
    with MemoryStore(
        url, semantic=False, ttl={"default_ttl": 5, "refresh_on_read": False, "omit_expired": True}
    ) as memory:
        memory.put(("n",), "default", {"v": 1})
        memory.put(("n",), "longer", {"v": 1}, ttl=50)
        memory.put(("n",), "for ever", {"v": 1}, ttl=None)
        clock.pass_(4)
        assert len(memory.search(("n",))) == 3
        clock.pass_(4)
        assert {i.key for i in memory.search(("n",))} == {"longer", "for ever"}


@pytest.mark.parametrize("ttl", [{"omit_expired": False}, {"refresh_on_read": True}])
def test_expired_items_stay_until_they_are_swept_unless_omitted(url: str, clock: Clock, ttl: Any) -> None:
    """As LangGraph documents it, where the store has a setting for it at all."""
    with MemoryStore(url, semantic=False, ttl=ttl) as memory:
        memory.put(("n",), "k", {"v": 1}, ttl=1)
        clock.pass_(2)
        assert memory.get(("n",), "k") is not None
        assert memory.list_namespaces() == [("n",)]
        assert memory.sweep_ttl() == 1
        assert memory.get(("n",), "k") is None


def test_a_job_sweeps_too(memory: MemoryStore, clock: Clock) -> None:
    memory.put(("n",), "k", {"content": "short-lived"}, ttl=1)
    memory.put(("n",), "later", {"content": "short-lived"}, ttl=60)
    store = memory._store
    assert store.settle() == 0
    clock.pass_(2.1)
    assert store.settle() == 1
    assert memory.sweep_ttl() == 0
    assert store.stats().jobs == {"queued": 1}  # for the other one
    clock.pass_(61)
    assert store.settle() == 1
    assert store.stats().jobs == {}


def test_a_thread_sweeps_where_it_is_asked_to(url: str) -> None:
    with MemoryStore(url, user="alex", semantic=False, ttl={"sweep_interval_minutes": 1}) as memory:
        memory.start_ttl_sweeper(0.05 / 60)
        memory.put(("n",), "k", {"v": 1}, ttl=0.01 / 60)
        with recollect.open(url, user="alex") as store:
            from recollect import items

            eventually(lambda: store._db.read("alex", items.count) == 0)
        assert memory.stop_ttl_sweeper()


async def test_it_may_be_awaited_as_langgraphs_async_stores_are(url: str, clock: Clock) -> None:
    async with MemoryStore.from_conn_string(url, user="alex", semantic=False) as memory:
        await memory.setup()
        await memory.aput(("n",), "k", {"v": 1}, ttl=1)
        clock.pass_(2)
        assert await memory.asweep_ttl() == 1
        assert await memory.sweep_ttl() == 0
        await memory.start_ttl_sweeper()
        await memory.stop_ttl_sweeper()


@pytest.mark.parametrize("ttl", [-1, float("nan"), float("inf"), "1", True])
def test_a_time_that_is_none_is_refused(memory: MemoryStore, ttl: float) -> None:
    with pytest.raises(InvalidInput, match="ttl"):
        memory.put(("n",), "k", {"v": 1}, ttl=ttl)
