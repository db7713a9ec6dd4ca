"""Agents that hand over to each other: a handoff is one event that nobody finds, and an answer is one event."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import pytest
from graphs import thread
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command
from scripted import Scripted, call, scripted

from recollect.langgraph import Saver, chat_graph
from recollect.langgraph.handoffs import without

ASKED = "Sum the invoice, and how big is Lisbon?"
SUM, SIZE, BOTH = "The invoice comes to 5 euros.", "Lisbon has 545,000 inhabitants.", "5 euros, and a city of 545,000."


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def team(saver: Saver, **how: Any) -> tuple[Any, Scripted]:
    """A real supervisor with two workers, and its model."""
    from langgraph_supervisor import create_supervisor

    workers = [
        create_agent(scripted(call("add", "c1", a=2, b=3), AIMessage(SUM)), [add], name="math"),
        create_agent(scripted(SIZE), [], name="research"),
    ]
    model = scripted(call("transfer_to_math", "h1"), call("transfer_to_research", "h2"), BOTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it still uses a name that LangGraph has moved
        made = create_supervisor(workers, model=model, **how).compile(checkpointer=saver)
    return made, model


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("mode", ["last_message", "full_history"])
def test_handoffs_are_events_and_every_answer_is_one(saver: Saver, mode: str, durability: Any) -> None:
    graph, _ = team(saver, output_mode=mode)
    graph.invoke({"messages": [("user", ASKED)]}, thread(), durability=durability)
    store = saver.store
    assert [e.text for e in store.messages("t")] == [ASKED, SUM, SIZE, BOTH]
    events = store.read("t")
    for text in (SUM, SIZE, BOTH):
        assert [e.text for e in events].count(text) == 1, text
    calls = [(e.tool, e.text) for e in events if e.kind in ("tool_use", "tool_result")]
    if durability != "exit" or mode == "full_history":  # else nothing stores what the worker did before it answered
        assert calls == [("add", '{"a": 2, "b": 3}'), ("add", "5")]
    handed = [e.payload for e in events if e.name == "langgraph.handoff"]
    assert [p["to"] for p in handed if "to" in p] == ["math", "research"]
    assert [p["by"] for p in handed if "by" in p] == ["transfer_back_to_supervisor"] * 2
    assert not store.search("transferring back to supervisor") and not store.search("handoff")
    assert next(h.text for h in store.search("invoice euros", limit=3)) == SUM
    assert not store.verify().problems
    # The graph itself has them all: its model needs a valid history.
    assert sum(isinstance(m, ToolMessage) for m in graph.get_state(thread()).values["messages"]) >= 4


def test_the_log_is_the_same_after_a_second_turn_and_a_restart(saver: Saver, url: str) -> None:
    graph, model = team(saver)
    graph.invoke({"messages": [("user", ASKED)]}, thread())
    before = [(e.seq, e.kind, e.text) for e in saver.store.read("t")]
    with Saver.from_conn_string(url, user="alex", semantic=False, background=False) as other:
        graph, model = team(other)
        model.answers[:] = ["You are welcome."]
        graph.invoke({"messages": [("user", "Thanks")]}, thread())
        after = [(e.seq, e.kind, e.text) for e in other.store.read("t")]
    assert after[: len(before)] == before
    assert [text for _, kind, text in after[len(before) :] if kind == "message"] == ["Thanks", "You are welcome."]


def test_an_answer_that_another_branch_shows_stays_there(saver: Saver) -> None:
    """The subgraph has spoken, a branch begins there, and then the answer reaches the graph."""
    store = saver.store

    def worker(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(SUM, id="a1")]}

    def pause(state: Any) -> None:
        store.fork("t", name="elsewhere", switch=False)

    inner = (
        StateGraph(AgentState).add_node(worker).add_node(pause).add_edge(START, "worker").add_edge("worker", "pause")
    )
    outer = StateGraph(AgentState).add_node("sub", inner.compile()).add_edge(START, "sub")
    outer.compile(checkpointer=saver).invoke({"messages": [("user", ASKED)]}, thread(), durability="sync")
    assert [e.text for e in store.messages("t")] == [ASKED, SUM]
    assert SUM in [e.text for e in store.read("t", branch="elsewhere")]
    assert not store.verify().problems


def test_a_pinned_answer_of_a_subgraph_stays(saver: Saver) -> None:
    store = saver.store

    def worker(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(SUM, id="a1")]}

    def pin(state: Any) -> None:
        store.pin(next(e.id for e in store.read("t") if e.text == SUM))

    inner = StateGraph(AgentState).add_node(worker).add_node(pin).add_edge(START, "worker").add_edge("worker", "pin")
    outer = StateGraph(AgentState).add_node("sub", inner.compile()).add_edge(START, "sub")
    outer.compile(checkpointer=saver).invoke({"messages": [("user", ASKED)]}, thread(), durability="sync")
    assert [e.kind for e in store.read("t") if e.text == SUM] == ["event", "message"]
    assert len(store.pins("t")) == 1


def test_a_swarm_hands_over_with_tools_that_are_marked(saver: Saver) -> None:
    """langgraph-swarm marks its tools and not its messages."""

    @tool("ask_bob")
    def to_bob(state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Ask Bob."""
        told = ToolMessage("Bob is here now", name="ask_bob", tool_call_id=tool_call_id)
        return Command(goto="bob", graph=Command.PARENT, update={"messages": [*state["messages"], told]})

    to_bob.metadata = {"__handoff_destination": "bob"}
    alice = create_agent(scripted(call("ask_bob", "h1")), [to_bob], name="alice")
    bob = create_agent(scripted(SIZE), [], name="bob")
    swarm = StateGraph(AgentState).add_node("alice", alice, destinations=("bob",)).add_node("bob", bob)
    graph = swarm.add_edge(START, "alice").compile(checkpointer=saver)
    graph.invoke({"messages": [("user", ASKED)]}, thread())
    events = saver.store.read("t")
    assert [e.text for e in events if e.kind == "message"] == [ASKED, SIZE]
    assert [e.payload["to"] for e in events if e.name == "langgraph.handoff"] == ["bob"]
    assert not [e for e in events if e.kind in ("tool_use", "tool_result")]
    assert not saver.store.search("bob is here now")


def test_a_persons_words_are_a_message_whatever_marks_they_carry(saver: Saver) -> None:
    graph, _ = team(saver)
    marked = HumanMessage(ASKED, response_metadata={"__is_handoff_back": True, "__handoff_destination": "math"})
    graph.invoke({"messages": [marked]}, thread())
    said = saver.store.messages("t")[0]
    assert (said.kind, said.role, said.text) == ("message", "user", ASKED)


def test_our_agents_show_no_handoffs_to_their_models(saver: Saver) -> None:
    from langgraph_supervisor import create_supervisor

    model = scripted(SUM, SIZE)
    workers = [chat_graph(model, store=saver.store, name=name, url="http://localhost") for name in ("math", "research")]
    lead = scripted(call("transfer_to_math", "h1"), call("transfer_to_research", "h2"), BOTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = create_supervisor(workers, model=lead).compile(checkpointer=saver)
    graph.invoke({"messages": [("user", ASKED)]}, thread())
    second = [m.text for m in model.shown[1] if m.type in ("ai", "tool")]
    assert second == [SUM]


def test_what_only_hands_over_is_left_out_and_nothing_else() -> None:
    back = {"response_metadata": {"__is_handoff_back": True}}
    mixed = AIMessage("I ask math.", tool_calls=[{"name": "x", "args": {}, "id": "1"}], id="m")
    given = [
        HumanMessage("Hi"), mixed,
        ToolMessage("ok", tool_call_id="1", response_metadata={"__handoff_destination": "math"}),
        AIMessage("5", name="math"), AIMessage("back", tool_calls=[{"name": "y", "args": {}, "id": "2"}], **back),
        ToolMessage("ok", tool_call_id="2", **back), AIMessage("", tool_calls=[{"name": "z", "args": {}, "id": "3"}]),
        ToolMessage("42", tool_call_id="3"),
    ]  # fmt: skip
    kept = without(given)
    assert [(m.type, m.text) for m in kept] == [
        ("human", "Hi"),
        ("ai", "I ask math."),
        ("ai", "5"),
        ("ai", ""),
        ("tool", "42"),
    ]
    assert not kept[1].tool_calls and kept[3].tool_calls
