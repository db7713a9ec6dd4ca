"""Graphs are told of like everything else: threads they start, checkpoints that were gone back to, and spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphs import chat, echo, say, thread, two_steps
from langgraph.store.base import BaseStore

from recollect.langgraph import MemoryStore, Saver, aask, afork, aresume, ask, chat_graph, fork, resume
from talk import Open


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def told(open_store: Open, data: Path) -> Saver:
    return Saver(open_store(telemetry="on", opentelemetry=True, background=False, data_dir=str(data)))


def lines(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "telemetry" / "events.jsonl").read_text().splitlines()]


def test_a_thread_that_a_graph_starts_is_told_once(told: Saver, data: Path) -> None:
    graph = chat(told)
    graph.invoke(say("hi"), thread())
    graph.invoke(say("hi again"), thread())
    told.put_writes(thread("other", checkpoint_id="early"), [("value", 1)], "task")
    graph.invoke(say("hi"), thread("other"))
    made = [line for line in lines(data) if line["event"] == "chat.session_created"]
    assert len(made) == 2 and {line["source"] for line in made} == {"langgraph"}
    assert len({line["thread_id"] for line in made}) == 2


def test_every_way_back_is_told_with_both_checkpoints(open_store: Open, data: Path) -> None:
    saver = Saver(open_store(telemetry="on", telemetry_plain_ids=True, background=False, data_dir=str(data)))
    graph = two_steps(saver)
    graph.invoke(say("hello"), thread())
    old = next(c for c in saver.store.checkpoints("t") if c.node == "think")

    made = fork(graph, old)  # ours
    direct = graph.update_state(thread(checkpoint_id=old.id), {"steps": ["edited"]}, as_node="think")  # LangGraph's own
    resume(graph, saver.store.checkpoints("t")[-1], say("another way"))  # a run from the past
    forked = [line for line in lines(data) if line["event"] == "chat.checkpoint_forked"]
    assert [f["from_checkpoint_id"] for f in forked][:2] == [old.id, old.id]
    assert [f["new_checkpoint_id"] for f in forked][:2] == [
        made["configurable"]["checkpoint_id"], direct["configurable"]["checkpoint_id"],
    ]  # fmt: skip
    assert len(forked) == 3 and {f["thread_id"] for f in forked} == {"t"}
    known = {c.id for c in saver.store.checkpoints("t", limit=100)}
    assert all({f["from_checkpoint_id"], f["new_checkpoint_id"]} <= known for f in forked)


def test_a_run_that_goes_straight_on_is_no_fork(told: Saver, data: Path) -> None:
    graph = two_steps(told)
    for text in ("one", "two"):
        graph.invoke(say(text), thread())
    assert [line["event"] for line in lines(data)] == ["chat.session_created"]


def test_spans_of_time_travel(told: Saver, spans: Any) -> None:
    graph = chat(told)
    graph.invoke(say("quokka"), thread())
    list(graph.get_state_history(thread()))
    resume(graph, fork(graph, told.store.checkpoints("t")[0]), say("quokka again"))
    found = {s.name: s for s in spans()}
    assert {"chat.invoke", "chat.time_travel.list_history", "chat.time_travel.update_state", "store.put"} <= set(found)
    run = found["chat.invoke"]
    assert run.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert run.attributes["gen_ai.conversation.id"].startswith("t_")
    # What the run wrote, in LangGraph's own threads, belongs to it.
    assert any(s.parent and s.parent.span_id == run.context.span_id for s in spans() if s.name == "store.put")
    assert "quokka" not in "".join(s.to_json() for s in spans())


async def test_spans_of_time_travel_in_async_code(told: Saver, spans: Any) -> None:
    graph = chat(told)
    await graph.ainvoke(say("hi"), thread())
    await aresume(graph, await afork(graph, told.store.checkpoints("t")[0]), say("again"))
    assert {"chat.invoke", "chat.time_travel.update_state"} <= {s.name for s in spans()}


def test_a_question_to_the_ready_agent_is_one_span(told: Saver, spans: Any) -> None:
    graph = chat_graph(store=told.store)
    pieces = ask(graph, "t", "Remember I prefer quokka mode")
    next(pieces)
    assert "chat.invoke" not in {s.name for s in spans()}, "it lasts until the answer is there"
    list(pieces)
    (run,) = [s for s in spans() if s.name == "chat.invoke"]
    inside = [s for s in spans() if s.context.trace_id == run.context.trace_id]
    assert {"store.put", "chat.invoke"} <= {s.name for s in inside}
    ask(graph, "t", "never begun").close()  # type: ignore[attr-defined]
    begun = ask(graph, "t", "left behind")
    next(begun)
    begun.close()  # type: ignore[attr-defined]
    runs = [s for s in spans() if s.name == "chat.invoke"]
    assert len(runs) == 2 and all("error.type" not in s.attributes for s in runs)
    assert "quokka" not in "".join(s.to_json() for s in spans())


async def test_a_question_in_async_code_is_one_span(told: Saver, spans: Any) -> None:
    graph = chat_graph(store=told.store)
    assert [piece async for piece in aask(graph, "t", "Remember I prefer dark mode")]
    assert [s.name for s in spans()].count("chat.invoke") == 1


def test_memories_of_a_graphs_store_are_told(told: Saver, data: Path) -> None:
    with MemoryStore(told.store) as store:
        store.put(("memories", "alex"), "theme", {"content": "Prefers quokka mode"})
        store.put(("anything", "else"), "key", {"value": 1})
        assert store.search(("memories", "alex"), query="quokka", limit=4)
    saved, searched = lines(data)
    assert (saved["event"], saved["count"]) == ("chat.memory_saved", 1)
    assert (searched["event"], searched["top_k"], searched["count"]) == ("chat.memory_searched", 4, 1)
    assert saved["user_id"] == searched["user_id"]


def test_a_state_that_is_updated_has_a_span_and_a_fork_has_one(told: Saver, spans: Any) -> None:
    graph = chat(told)
    graph.invoke(say("hi", "m1"), thread())
    graph.update_state(thread(), say("hello", "m1"))
    assert [s.name for s in spans()].count("chat.time_travel.update_state") == 1
    fork(graph, told.store.checkpoints("t")[0], say("good morning", "m1"), as_node="answer")
    assert [s.name for s in spans()].count("chat.time_travel.update_state") == 2, "one, though it takes two checkpoints"


async def test_a_state_that_is_updated_in_async_code_has_a_span(told: Saver, spans: Any) -> None:
    graph = chat(told)
    await graph.ainvoke(say("hi", "m1"), thread())
    await graph.aupdate_state(thread(), say("hello", "m1"))
    await afork(graph, told.store.checkpoints("t")[0], say("good morning", "m1"), as_node="answer")
    assert [s.name for s in spans()].count("chat.time_travel.update_state") == 2


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_graphs_store_tells_the_thread_and_who_asked(open_store: Open, data: Path, is_async: bool) -> None:
    store = open_store(telemetry="on", telemetry_plain_ids=True, background=False, data_dir=str(data))

    def node(state: Any, *, store: BaseStore) -> Any:
        store.put(("memories", "kim"), "k", {"content": "Likes tea"})
        store.search(("notes",), query="tea")
        return echo(state)

    async def anode(state: Any, *, store: BaseStore) -> Any:
        await store.aput(("memories", "kim"), "k", {"content": "Likes tea"})
        await store.asearch(("notes",), query="tea")
        return echo(state)

    graph = chat(Saver(store), anode if is_async else node, store=MemoryStore(store))
    await graph.ainvoke(say("hi"), thread(user_id="kim"))
    found = [line for line in lines(data) if line["event"].startswith("chat.memory_")]
    assert [(f["event"], f["user_id"], f["thread_id"]) for f in found] == [
        ("chat.memory_saved", "kim", "t"),
        ("chat.memory_searched", "kim", "t"),
    ]
