"""One ordered history out of two: the stored tail of a chat, and what a thread's checkpoint holds of it."""

from __future__ import annotations

from typing import Any

import pytest
from bots import graph
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from test_agent_node import Bot

from recollect.langgraph import AgentNode, MemoryStore, agent_node
from recollect.langgraph.merge import merged
from talk import Open

WORDS = ["yes", "no", "ok"]


@pytest.mark.parametrize("most", [1, 4, 30])
@pytest.mark.parametrize("store", ["ours", "stock"])
def test_forty_turns_of_one_thread_are_shown_in_their_order(open_store: Open, most: int, store: str) -> None:
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, max_messages=most)
    where = MemoryStore(open_store()) if store == "ours" else InMemoryStore()
    compiled = graph(node, store=where, checkpointer=InMemorySaver())
    said: list[str] = []
    for i in range(1, 41):
        said.append(f"human: question {i}")
        compiled.invoke({"messages": [HumanMessage(f"question {i}")]}, {"configurable": {"thread_id": "t"}})
        assert bot.shown[-1] == said[-most:]
        said.append(f"ai: answer {i}")


# -- against a plain model


class Model:
    """What is stored, as one list in the order in which it was recorded, and what each thread's checkpoint holds."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}
        self.threads: dict[str, dict[str, str]] = {"a": {}, "b": {}}

    def history(self, thread: str, *, is_away: bool) -> list[str]:
        """The whole history as a thread sees it: each message once, in the thread's own words. What only the thread has comes
        directly before the next message that both have."""
        held = dict(self.threads[thread])
        found = []
        for id, text in {} if is_away else self.stored.items():
            while id in held and next(iter(held)) != id:
                found.append(held.pop(next(iter(held))))
            found.append(held.pop(id, text))
        return [*found, *held.values()]

    def record(self, thread: str) -> None:
        self.stored |= {id: text for id, text in self.threads[thread].items() if id not in self.stored}


class Down(InMemoryStore):
    """A store that is away for some turns."""

    is_away = False

    def batch(self, ops: Any) -> Any:
        if self.is_away:
            raise ConnectionError
        return super().batch(ops)


@given(
    masks=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=20),
    repeated=st.lists(st.integers(0, 19), max_size=3),
)
def test_two_parts_of_one_history_are_merged_in_its_order(
    masks: list[tuple[bool, bool, bool]], repeated: list[int]
) -> None:
    """Any part of a history is stored, any part of it is in the checkpoint, there in other words and some of it twice."""
    model = Model()
    for n, (is_stored, is_held, is_edited) in enumerate(masks):
        if is_stored:
            model.stored[f"m{n}"] = "yes"
        if is_held:
            model.threads["a"][f"m{n}"] = "edited" if is_edited else "yes"
    past = [HumanMessage(text, id=id) for id, text in model.stored.items()]
    current = [HumanMessage(text, id=id) for id, text in model.threads["a"].items()]
    current += [current[n] for n in repeated if n < len(current)]
    found = merged(past, current)
    assert [m.text for m in found] == model.history("a", is_away=False)
    assert len({m.id for m in found}) == len(found)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["turn", "turn", "turn", "away", "edit", "trim"]), st.sampled_from("ab"), st.sampled_from(WORDS)
    ),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=STEPS, most=st.integers(1, 40), place=st.integers(0, 40))
def test_whatever_the_two_overlap_in_it_is_what_a_plain_model_says(
    monkeypatch: pytest.MonkeyPatch, steps: list[tuple[str, str, str]], most: int, place: int
) -> None:
    """Two threads of one chat, each with a checkpointer; texts are repeated; the store is away for some turns; messages are
    edited in a checkpoint, and dropped from it."""
    monkeypatch.setattr(agent_node, "FEWEST", 1)  # so that a short chat is longer than what is read
    monkeypatch.setattr(agent_node, "FIRST_WAIT", 0)
    model, store, shown = Model(), Down(), list[list[str]]()

    def answer(state: dict[str, Any]) -> Any:
        shown.append([m.text for m in state["messages"]])
        return AIMessage(WORDS[len(shown) % 3], id=f"a{len(shown)}")

    node = AgentNode(
        answer, use_graph_chat_history=True, max_messages=most, history_key_candidates=["room"],
        history_retry_after_ms=0, history_timeout_ms=60_000,
    )  # fmt: skip
    compiled = graph(node, store=store, checkpointer=InMemorySaver())
    for n, (what, thread, text) in enumerate(steps):
        config: Any = {"configurable": {"thread_id": thread}}
        held = model.threads[thread]
        if what in ("edit", "trim"):
            if held:
                id = list(held)[place % len(held)] if what == "edit" else next(iter(held))
                new = HumanMessage if id[0] == "h" else AIMessage
                change: BaseMessage = new("edited", id=id) if what == "edit" else RemoveMessage(id=id)
                compiled.update_state(config, {"messages": [change]})
                if what == "edit":
                    held[id] = "edited"
                else:
                    del held[id]
            continue
        store.is_away = what == "away"
        held[f"h{n}"] = text
        compiled.invoke({"messages": [HumanMessage(text, id=f"h{n}")]}, config)
        assert shown[-1] == model.history(thread, is_away=store.is_away)[-most:]
        held[f"a{len(shown)}"] = WORDS[len(shown) % 3]
        if not store.is_away:
            model.record(thread)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=st.lists(st.sampled_from(WORDS), max_size=14), width=st.integers(0, 14), most=st.integers(0, 9))
def test_a_window_without_ids_is_known_by_its_words(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], width: int, most: int
) -> None:
    """An application that keeps the last messages itself, as plain tables without ids, and hands them in with each turn."""
    monkeypatch.setattr(agent_node, "FEWEST", 4)
    store, shown = InMemoryStore(), list[list[str]]()

    def answer(state: dict[str, Any]) -> Any:
        shown.append([m.text for m in state["messages"]])
        return AIMessage(WORDS[len(shown) % 2])

    node = AgentNode(answer, True, most, history_key_candidates=["room"], store=store)
    said: list[dict[str, str]] = []
    for text in texts:
        said.append({"role": "user", "content": text})
        node.invoke({"messages": said[-1 - width :]}, {"configurable": {"thread_id": "t"}})
        assert shown[-1] == [m["content"] for m in said[-max(1, most) :]]
        said.append({"role": "assistant", "content": WORDS[len(shown) % 2]})
    everything = AgentNode(answer, True, 1000, history_key_candidates=["room"], store=store)
    everything.invoke({"messages": [HumanMessage("?")]})
    assert shown[-1] == [*(m["content"] for m in said), "?"]
