"""LangGraph's own conformance suite, async and sync, on both databases; and the ninth capability, by tests of our own."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import deltas, say, thread
from langgraph.checkpoint.conformance import checkpointer_test, validate

from recollect.langgraph import Saver


class Sync(Saver):
    """The suite calls coroutines; these lead to the sync methods."""

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return self.put(*args, **kwargs)

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        self.put_writes(*args, **kwargs)

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_tuple(*args, **kwargs)

    async def alist(self, *args: Any, **kwargs: Any) -> Any:
        for found in self.list(*args, **kwargs):
            yield found

    async def adelete_thread(self, *args: Any, **kwargs: Any) -> None:
        self.delete_thread(*args, **kwargs)

    async def adelete_for_runs(self, *args: Any, **kwargs: Any) -> None:
        self.delete_for_runs(*args, **kwargs)

    async def acopy_thread(self, *args: Any, **kwargs: Any) -> None:
        self.copy_thread(*args, **kwargs)

    async def aprune(self, *args: Any, **kwargs: Any) -> None:
        self.prune(*args, **kwargs)


@pytest.mark.parametrize("kind", [Saver, Sync])
async def test_every_published_capability_passes(url: str, kind: type[Saver]) -> None:
    @checkpointer_test(name=kind.__name__)
    async def fresh() -> Any:
        async with kind.from_conn_string(url, semantic=False) as saver:
            yield saver

    report = await validate(fresh)
    assert {name: result.failures for name, result in report.results.items() if not result.passed} == {}
    assert len(report.results) == 8
    assert sum(result.tests_passed for result in report.results.values()) >= 80


def history(saver: Any, config: Any) -> Any:
    return saver.get_delta_channel_history(config=config, channels=["messages", "nothing"])


async def test_the_history_of_a_delta_channel_is_what_was_written_oldest_first(saver: Saver) -> None:
    graph = deltas(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}", f"h{i}"), thread())
    found = history(saver, thread())
    assert [m.id for _, _, write in found["messages"]["writes"] for m in write] == ["h0", "a1", "h1", "a3", "h2", "a5"]
    assert "seed" not in found["messages"]
    assert found["nothing"] == {"writes": []}
    assert saver.get_delta_channel_history(config=thread(), channels=[]) == {}
    again = await saver.aget_delta_channel_history(config=thread(), channels=["messages", "nothing"])
    assert again == found


def test_the_history_follows_parents_not_siblings(saver: Saver) -> None:
    graph = deltas(saver)
    graph.invoke(say("one", "h0"), thread())
    fork_point = graph.get_state(thread()).config
    graph.invoke(say("left", "left"), thread())
    graph.invoke(say("right", "right"), fork_point)
    found = [m.id for m in graph.get_state(thread()).values["messages"]]
    assert found == ["h0", "a1", "right", "a3"]


def test_the_history_of_an_older_checkpoint_ends_there(saver: Saver) -> None:
    graph = deltas(saver)
    graph.invoke(say("one", "h0"), thread())
    then = graph.get_state(thread()).config
    graph.invoke(say("two", "h1"), thread())
    assert [m.id for m in graph.get_state(then).values["messages"]] == ["h0", "a1"]


def test_the_history_starts_at_a_stored_value(saver: Saver) -> None:
    graph = deltas(saver)
    graph.invoke(say("one", "h0"), thread())
    graph.update_state(thread(), say("edited", "e"))  # LangGraph stores a whole value when a state is updated
    graph.invoke(say("two", "h1"), thread())
    assert [m.id for m in graph.get_state(thread()).values["messages"]][:3] == ["h0", "a1", "e"]
    loaded = saver.get_tuple(thread())
    assert loaded is not None
    found = history(saver, thread())["messages"]
    seeds = [m.id for m in found["seed"].value] if "seed" in found else []
    written = [m.id for _, _, write in found["writes"] for m in write]
    assert [*seeds, *written] == [m.id for m in graph.get_state(thread()).values["messages"]]


def test_an_unknown_thread_has_no_history(saver: Saver) -> None:
    assert history(saver, thread("nobody")) == {"messages": {"writes": []}, "nothing": {"writes": []}}
