"""Memory for agents that are not ours: LangChain's `create_agent`, and workers of `langgraph-supervisor`."""

from __future__ import annotations

import time
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from scripted import call, scripted

import recollect
from recollect.langgraph import MemoryMiddleware, OfflineModel, Saver, chat_graph
from recollect.search import fence
from talk import Open, texts


def thread(id: str, **configurable: Any) -> Any:
    return {"configurable": {"thread_id": id, **configurable}}


def say(agent: Any, id: str, text: str, **configurable: Any) -> str:
    return str(agent.invoke({"messages": [HumanMessage(text)]}, thread(id, **configurable))["messages"][-1].text)


@pytest.fixture
def memory(open_store: Open) -> recollect.Store:
    return open_store(memory_extract=True, background=False)


@pytest.mark.parametrize("ours", [True, False], ids=["our checkpointer", "no checkpointer"])
def test_an_agent_recalls_and_is_recorded(memory: recollect.Store, ours: bool) -> None:
    model = scripted("Noted.", "Use the dark one.")
    agent = create_agent(
        model,
        middleware=[MemoryMiddleware(memory)],
        checkpointer=Saver(memory) if ours else None,
        system_prompt="Be kind.",
    )
    say(agent, "monday", "Remember I prefer dark mode")
    assert say(agent, "tuesday", "Which mode do I prefer?") == "Use the dark one."
    system, data, asked = model.shown[1]
    assert system.text == "Be kind."
    assert fence.is_ours(data.text)
    assert "Prefers dark mode" in data.text
    assert asked.text == "Which mode do I prefer?"
    for id, said in (
        ("monday", ["Remember I prefer dark mode", "Noted."]),
        ("tuesday", ["Which mode do I prefer?", "Use the dark one."]),
    ):
        assert texts(memory.messages(id)) == said
    assert "MemorySearch" in model.tools


def test_the_evidence_is_not_in_the_agents_state(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="The Zephyr budget is 4711 crowns")
    agent = create_agent(scripted("I see."), middleware=[MemoryMiddleware(memory)], checkpointer=Saver(memory))
    done = agent.invoke({"messages": [HumanMessage("What is the Zephyr budget?")]}, thread("new"))
    assert not any("4711" in m.text for m in done["messages"])
    assert not any("4711" in e.text for e in memory.read("new"))


def test_the_evidence_is_looked_up_once_for_a_question(
    memory: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted(call("MemorySearch", query="mode"), "Dark.")
    agent = create_agent(model, middleware=[MemoryMiddleware(memory)], checkpointer=Saver(memory))
    asked = []
    real = recollect.Store.context
    monkeypatch.setattr(recollect.Store, "context", lambda self, q, **kw: (asked.append(q), real(self, q, **kw))[1])
    say(agent, "new", "Which mode do I prefer?")
    assert asked == ["Which mode do I prefer?"]
    assert [fence.is_ours(shown[0].text) for shown in model.shown] == [True, True]
    assert model.shown[1][-1].type == "tool"


def test_what_was_said_is_kept_though_the_model_fails(memory: recollect.Store) -> None:
    agent = create_agent(scripted(ConnectionError("away")), middleware=[MemoryMiddleware(memory)])
    with pytest.raises(ConnectionError):
        say(agent, "c", "My order is 4711")
    assert texts(memory.messages("c")) == ["My order is 4711"]


async def test_async_agents_too(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted("Dark.")
    agent = create_agent(model, middleware=[MemoryMiddleware(memory)])
    await agent.ainvoke({"messages": [HumanMessage("Which mode do I prefer?")]}, thread("new"))
    assert "Prefers dark mode" in model.shown[0][0].text
    assert texts(memory.messages("new")) == ["Which mode do I prefer?", "Dark."]


def test_it_can_be_told_to_stay_out_of_it(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted("a", "b", "c")
    silent = create_agent(model, middleware=[MemoryMiddleware(memory, budget=0, record=False, tools=())])
    say(silent, "one", "Which mode do I prefer?")
    agent = create_agent(model, middleware=[MemoryMiddleware(memory)])
    say(agent, "two", "Which mode do I prefer?", inject=False)
    assert [len(shown) for shown in model.shown] == [1, 1]
    assert [c.id for c in memory.conversations()] == ["two", "old"]


def test_an_agent_answers_offline(memory: recollect.Store) -> None:
    agent = create_agent(OfflineModel(store=memory), middleware=[MemoryMiddleware(memory)], checkpointer=Saver(memory))
    say(agent, "monday", "Remember I prefer dark mode")
    assert "Prefers dark mode" in say(agent, "tuesday", "What are my preferences?")
    assert "dark" not in say(agent, "tuesday", "What are my preferences?", user_id="kim")


# -- under a supervisor


def supervised(store: recollect.Store, *routes: Any, checkpointer: Any) -> Any:
    from langgraph_supervisor import create_supervisor

    workers = [chat_graph(store=store, name="scribe"), chat_graph(store=store, name="archivist")]
    return create_supervisor(workers, model=scripted(*routes), supervisor_name="lead").compile(
        checkpointer=checkpointer
    )


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
@pytest.mark.parametrize("ours", [True, False], ids=["our checkpointer", "another"])
def test_two_workers_under_a_supervisor_share_one_memory(memory: recollect.Store, ours: bool) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    team = supervised(
        memory, call("transfer_to_scribe"), "Done.", call("transfer_to_archivist", "call-2"), "That is all.",
        checkpointer=Saver(memory) if ours else InMemorySaver(),
    )  # fmt: skip
    team.invoke({"messages": [HumanMessage("Remember I prefer dark mode")]}, thread("monday"))
    done = team.invoke({"messages": [HumanMessage("What are my preferences?")]}, thread("tuesday"))
    assert any("Prefers dark mode" in m.text for m in done["messages"] if m.name == "archivist")
    said = texts(memory.messages("tuesday", limit=None))
    assert said[0] == "What are my preferences?"
    assert any("Prefers dark mode" in text for text in said)
    assert [m.content for m in memory.memories()] == ["Prefers dark mode"]
    assert memory.memories(state="quarantined") == []


@pytest.mark.filterwarnings("ignore:create_react_agent has been moved")
def test_a_worker_does_not_overtake_what_the_person_said(
    memory: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Saver._draft

    def slow_at_the_root(self: Saver, place: Any, *rest: Any) -> Any:
        if not place.namespace:
            time.sleep(0.2)
        return real(self, place, *rest)

    monkeypatch.setattr(Saver, "_draft", slow_at_the_root)
    # From here on it waits for what has been begun; that a thread is given its turn is the machine's matter.
    monkeypatch.setattr("recollect.langgraph.saver.WAIT_SECONDS", 10.0)
    team = supervised(memory, call("transfer_to_scribe"), "Done.", checkpointer=Saver(memory))
    team.invoke({"messages": [HumanMessage("Remember I prefer dark mode")]}, thread("monday"))
    first = memory.read("monday", limit=None)[0]
    assert (first.kind, first.role, first.agent) == ("message", "user", None)
    assert [e.text for e in memory.read("monday", limit=None)].count("Remember I prefer dark mode") == 1
    assert memory.memories(state="quarantined") == []
