"""The agent node: a bot whose every webhook has a new thread id still knows the chat it is in."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bots import State, graph, webhook
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, StateGraph
from langgraph.store.base import InvalidNamespaceError
from langgraph.store.memory import InMemoryStore
from payloads import PAYLOADS, TELEGRAM, Payload
from typing_extensions import TypedDict

import recollect
from recollect.errors import Erased, InvalidInput
from recollect.langgraph import AgentNode, MemoryStore, Saver
from recollect.langgraph.history import as_stored, history_of
from recollect.langgraph.messages import trimmed
from talk import Open, texts

TESTS = Path(__file__).parent


class Bot:
    """An agent that counts what it is shown."""

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    def __call__(self, state: dict[str, Any]) -> dict[str, Any]:
        self.shown.append([f"{m.type}: {m.text}" for m in state["messages"]])
        return {"messages": [AIMessage(f"answer {len(self.shown)}")]}


class Backwards(InMemoryStore):
    """A store whose searches have an order of their own."""

    def batch(self, ops: Any) -> Any:
        return [found[::-1] if isinstance(found, list) else found for found in super().batch(ops)]


@pytest.fixture(params=["ours on sqlite", "ours on postgres", "stock", "backwards"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Each kind of store that a history can be in: ours, LangGraph's on SQLite, one in memory with an order of its own."""
    if request.param == "backwards":
        yield Backwards()
    elif request.param == "stock":
        from langgraph.store.sqlite import SqliteStore

        with SqliteStore.from_conn_string(":memory:") as stock:
            stock.setup()
            yield stock
    else:
        url = (
            str(tmp_path / "chat.db") if request.param == "ours on sqlite" else request.getfixturevalue("postgres_url")
        )
        with recollect.open(url, user="alex", semantic=False, background=False) as store:
            yield MemoryStore(store)


# -- it knows the chat


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda p: p.channel)
def test_the_history_follows_the_chat_of_every_channel(open_store: Open, payload: Payload) -> None:
    bot = Bot()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True, store=open_store()))
    webhook(compiled, "I am Kim", payload)
    webhook(compiled, "Who am I?", payload)
    assert bot.shown[1] == ["human: I am Kim", "ai: answer 1", "human: Who am I?"]


def test_two_chats_are_two_histories(anywhere: Any) -> None:
    bot = Bot()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True), store=anywhere)
    for payload in PAYLOADS:
        webhook(compiled, f"hello from {payload.channel}", payload)
    assert all(len(shown) == 1 for shown in bot.shown)
    for payload in PAYLOADS:
        webhook(compiled, "again", payload)
    assert [shown[0] for shown in bot.shown[5:]] == [f"human: hello from {p.channel}" for p in PAYLOADS]


def test_a_sequence_of_webhooks_with_fresh_threads_and_a_restart_in_between(url: str) -> None:
    said = [f"turn {i}" for i in range(6)]
    bots = []
    for part in (said[:3], said[3:]):
        with recollect.open(url, user="bot", semantic=False, background=False) as store:
            bots.append(Bot())
            compiled = graph(
                AgentNode(bots[-1], use_graph_chat_history=True, max_messages=30),
                store=MemoryStore(store), checkpointer=Saver(store),
            )  # fmt: skip
            for text in part:
                webhook(compiled, text)
            kept = store.messages("agent_chat_history/telegram:-1001987654321", limit=None)
    last = bots[1].shown[-1]
    assert [line for line in last if line.startswith("human")] == [f"human: {text}" for text in said]
    assert len(last) == 11
    assert [e.role for e in kept] == ["user", "assistant"] * 6


def test_off_by_default_and_then_nothing_of_it_runs(open_store: Open) -> None:
    class Untouchable(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            raise AssertionError("nothing of it runs")

    bot = Bot()
    node = AgentNode(bot)
    compiled = graph(node, store=Untouchable())
    webhook(compiled, "hello")
    webhook(compiled, "again")
    assert bot.shown == [["human: hello"], ["human: again"]]
    assert set(node.metrics().values()) == {0}


def test_without_a_key_or_a_store_the_run_has_no_history(open_store: Open, caplog: pytest.LogCaptureFixture) -> None:
    bot = Bot()
    store = open_store()
    node = AgentNode(bot, use_graph_chat_history=True, store=store)
    broken = Payload("telegram", {"telegram_events_parser": {"chat_id": ""}}, "")
    for _ in range(2):
        assert webhook(graph(node), "hello", broken)
    assert [len(shown) for shown in bot.shown] == [1, 1]
    assert node.metrics()["key_failures"] == 2
    assert store.conversations() == []
    assert webhook(graph(AgentNode(bot, use_graph_chat_history=True)), "hello")
    assert "the graph has no store" in caplog.text


@pytest.mark.parametrize("named", ["Room 5", "客服-42", "x" * 300, "{{inputs.foo}}", ""], ids=ascii)
@pytest.mark.parametrize("where", ["results", "configurable", "inputs"])
def test_an_explicit_key_that_is_none_is_told_and_the_thread_is_not_taken(
    caplog: pytest.LogCaptureFixture, named: str, where: str
) -> None:
    store, configurable = InMemoryStore(), {"thread_id": "t"}
    state: dict[str, Any] = {"messages": [HumanMessage("hello")]}
    if where == "results":
        state["results"] = {"resolve_history_key": {"session_key": named}}
    elif where == "inputs":
        state["inputs"] = {"history_key": named}
    else:
        configurable["history_key"] = named
    node = AgentNode(Bot(), True, store=store)
    assert node.invoke(state, {"configurable": configurable})["messages"][0].text == "answer 1"
    assert (node.metrics()["key_failures"], node.metrics()["keyed_runs"]) == (1, 0)
    assert store.list_namespaces() == []
    assert "agent_history.key_refused" in [r.__dict__["event"] for r in caplog.records]
    assert not named or named == "{{inputs.foo}}" or named not in caplog.text
    state["results"] = {**state.get("results", {}), **TELEGRAM.results}  # the next candidate may hold
    node.invoke(state, {"configurable": configurable})
    assert (node.metrics()["key_failures"], node.metrics()["keyed_runs"]) == (2, 1)


# -- what is merged


def test_what_the_checkpointer_holds_is_not_doubled(anywhere: Any) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True)
    compiled = graph(node, store=anywhere, checkpointer=InMemorySaver())
    for text in ("one", "two", "three"):
        webhook(compiled, text, thread_id="the same")
    assert bot.shown[2] == ["human: one", "ai: answer 1", "human: two", "ai: answer 2", "human: three"]
    webhook(compiled, "from another device")
    assert bot.shown[3][-2:] == ["ai: answer 3", "human: from another device"]
    webhook(compiled, "and back", thread_id="the same")
    assert bot.shown[4][-3:] == ["human: from another device", "ai: answer 4", "human: and back"]
    assert len(bot.shown[4]) == 9


def test_messages_without_an_id_are_not_doubled_either(anywhere: Any) -> None:
    class Plain(TypedDict):
        messages: list[Any]

    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, history_key_candidates=["room"], store=anywhere)
    config: Any = {"configurable": {"thread_id": "t"}}
    first = [{"role": "user", "content": "one"}]
    said = node.invoke({"messages": first}, config)["messages"]
    node.invoke({"messages": [*first, *said, {"role": "user", "content": "two"}]}, config)
    assert bot.shown[1] == ["human: one", "ai: answer 1", "human: two"]


def test_three_identical_turns_are_stored_three_times(anywhere: Any) -> None:
    bot = Bot()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True), store=anywhere)
    for _ in range(4):
        webhook(compiled, "ping")
    assert bot.shown[3].count("human: ping") == 4


@pytest.mark.parametrize("most", [0, 1, 2, 30])
def test_the_same_words_without_an_id_in_one_thread_are_as_many_turns(anywhere: Any, most: int) -> None:
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, max_messages=most, store=anywhere)
    config: Any = {"configurable": {"thread_id": "a chat that has one thread and no checkpointer"}}
    said = ["yes", "no", "yes", "yes", "and?", "yes"]
    for text in said:
        node.invoke({"messages": [{"role": "user", "content": text}]}, config)
    assert [shown[-1] for shown in bot.shown] == [f"human: {text}" for text in said]
    assert node.metrics()["write_errors"] == 0
    all_of_it = AgentNode(bot, use_graph_chat_history=True, store=anywhere)
    all_of_it.invoke({"messages": [{"role": "user", "content": "end"}]}, config)
    assert bot.shown[-1][::2] == [f"human: {text}" for text in [*said, "end"]]


def test_a_turn_that_is_tried_again_is_one_turn(anywhere: Any) -> None:
    def fails(state: dict[str, Any]) -> Any:
        raise ConnectionError

    bot = Bot()
    config: Any = {"configurable": {"thread_id": "t"}}
    for agent in (bot, fails, fails, bot):
        node = AgentNode(agent, use_graph_chat_history=True, store=anywhere)
        try:
            node.invoke({"messages": [{"role": "user", "content": "yes"}]}, config)
        except ConnectionError:
            pass
    assert bot.shown[1] == ["human: yes", "ai: answer 1", "human: yes"]


class Hostile(dict[str, Any]):
    def get(self, *_: Any) -> Any:
        raise RuntimeError


@pytest.mark.parametrize("results", [{"telegram_events_parser": {"chat_id": 10**5000}}, Hostile()])
def test_what_earlier_nodes_left_never_stops_a_run(open_store: Open, results: Any) -> None:
    node = AgentNode(Bot(), use_graph_chat_history=True, store=open_store(user="bot"))
    assert node.invoke({"messages": [HumanMessage("hello")], "results": results})["messages"][0].text == "answer 1"
    assert node.metrics()["key_failures"] == 1


def test_odd_arguments_of_a_tool_do_not_keep_a_turn_out(open_store: Open) -> None:
    odd = {"n": float("nan"), "text": "a\0b", "half": "\ud83d", "k\0": [{"x": float("inf")}]}

    def agent(state: dict[str, Any]) -> Any:
        call = {"name": "look\0", "args": odd, "id": "1"}
        return {
            "messages": [
                AIMessage("", tool_calls=[call]),
                ToolMessage("no\0thing", tool_call_id="1"),
                AIMessage("There."),
            ]
        }

    store = open_store(user="bot")
    node = AgentNode(agent, use_graph_chat_history=True, store=store, history_key_candidates=["room"])
    node.invoke({"messages": [HumanMessage("hello", name="k\0")]})
    assert node.metrics()["write_errors"] == 0
    assert [e.text for e in store.read(store.conversations()[0])] == ["hello", "", "no\ufffdthing", "There."]
    bot = Bot()
    AgentNode(bot, use_graph_chat_history=True, store=store, history_key_candidates=["room"]).invoke(
        {"messages": [HumanMessage("and?")]}
    )
    assert len(bot.shown[0]) == 5


@pytest.mark.parametrize("answer", ["hello", {"messages": "hello"}])
def test_a_text_that_an_agent_gives_is_its_own_and_not_the_users(open_store: Open, answer: Any) -> None:
    store = open_store(user="bot")
    node = AgentNode(lambda _: answer, use_graph_chat_history=True, store=store, history_key_candidates=["room"])
    assert isinstance(node.invoke({"messages": [HumanMessage("hi")]})["messages"][0], AIMessage)
    assert [m.role for m in store.messages(store.conversations()[0])] == ["user", "assistant"]


def test_the_newest_messages_are_kept_for_the_agent(anywhere: Any) -> None:
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, max_messages=4)
    compiled = graph(node, store=anywhere)
    for i in range(6):
        webhook(compiled, f"turn {i}")
    assert bot.shown[-1] == ["ai: answer 4", "human: turn 4", "ai: answer 5", "human: turn 5"]
    assert node.metrics()["truncations"] >= 3


def test_none_means_the_current_messages_alone_and_everything_is_still_recorded(open_store: Open) -> None:
    bot, store = Bot(), open_store()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True, max_messages=0, store=store))
    for i in range(3):
        webhook(compiled, f"turn {i}")
    assert [len(shown) for shown in bot.shown] == [1, 1, 1]
    assert len(store.messages("agent_chat_history/telegram:-1001987654321", limit=None)) == 6


def test_a_system_message_is_given_and_not_recorded(open_store: Open) -> None:
    bot, store = Bot(), open_store()
    node = AgentNode(bot, use_graph_chat_history=True, store=store, history_key_candidates=["room"])
    for text in ("one", "two"):
        node.invoke({"messages": [SystemMessage("Be brief."), HumanMessage(text)]})
    assert bot.shown[1] == ["system: Be brief.", "human: one", "ai: answer 1", "human: two"]
    assert texts(store.messages("agent_chat_history/room")) == ["one", "answer 1", "two", "answer 2"]


def test_trimming_never_leaves_half_of_a_tool_call(anywhere: Any) -> None:
    shown: list[list[BaseMessage]] = []

    def agent(state: dict[str, Any]) -> dict[str, Any]:
        shown.append(state["messages"])
        n = len(shown)
        return {
            "messages": [
                AIMessage("", tool_calls=[{"name": "look", "args": {"n": n}, "id": f"call-{n}"}]),
                ToolMessage(f"found {n}", tool_call_id=f"call-{n}", name="look"), AIMessage(f"answer {n}"),
            ]
        }  # fmt: skip

    for most in range(1, 9):
        node = AgentNode(
            agent,
            use_graph_chat_history=True,
            max_messages=most,
            history_key_candidates=[f"room-{most}"],
            store=anywhere,
        )
        shown.clear()
        for i in range(3):
            node.invoke({"messages": [HumanMessage(f"turn {i}")]})
        for messages in shown:
            calls = [c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls]
            results = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
            assert calls == results
            assert len(messages) <= most or len(messages) == 1
    assert [c["args"] for m in shown[-1] if isinstance(m, AIMessage) for c in m.tool_calls] == [{"n": 1}, {"n": 2}]


def test_ids_of_calls_that_are_used_again_are_told_apart() -> None:
    """Many a local server calls the first call of every answer the same."""
    called = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "call_0"}])
    turn = [HumanMessage("look"), called, ToolMessage("seen", tool_call_id="call_0"), AIMessage("There.")]
    for most in range(9):
        kept = trimmed([*turn, *turn], most)
        shape = [m.type + ("+" if getattr(m, "tool_calls", ()) else "") for m in kept]
        assert "tool" not in shape[:1] and len(kept) <= most
        assert all(before == "ai+" for before, m in zip(shape, shape[1:], strict=False) if m == "tool")
    assert len(trimmed([*turn, *turn], 8)) == 8


def test_a_call_that_never_came_back_is_not_shown_again(open_store: Open) -> None:
    shown: list[list[BaseMessage]] = []

    def agent(state: dict[str, Any]) -> dict[str, Any]:
        shown.append(state["messages"])
        return {"messages": [AIMessage("Let me see.", tool_calls=[{"name": "look", "args": {}, "id": "lost"}])]}

    node = AgentNode(agent, use_graph_chat_history=True, history_key_candidates=["room"], store=open_store())
    for text in ("one", "two"):
        node.invoke({"messages": [HumanMessage(text)]})
    assert [(m.text, bool(getattr(m, "tool_calls", None))) for m in shown[1]] == [
        ("one", False), ("Let me see.", False), ("two", False),
    ]  # fmt: skip


# -- what is kept


def test_the_persons_turn_survives_a_failing_agent(anywhere: Any) -> None:
    calls = 0

    def agent(state: dict[str, Any]) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("the model is away")
        return {"messages": [AIMessage(" | ".join(m.text for m in state["messages"]))]}

    compiled = graph(AgentNode(agent, use_graph_chat_history=True), store=anywhere)
    with pytest.raises(RuntimeError, match="away"):
        webhook(compiled, "my order is 4711")
    assert webhook(compiled, "hello?") == "my order is 4711 | hello?"


def test_turns_are_events_under_the_key_and_never_memories(open_store: Open) -> None:
    store = open_store(memory_extract=True, background=False)
    compiled = graph(AgentNode(Bot(), use_graph_chat_history=True), store=MemoryStore(store))
    webhook(compiled, "Remember I prefer dark mode")
    store.settle()
    assert [c.id for c in store.conversations()] == ["agent_chat_history/telegram:-1001987654321"]
    assert store.search("dark mode")[0].conversation_id == "agent_chat_history/telegram:-1001987654321"
    assert store.memories(state=None) == []
    learns = graph(AgentNode(Bot(), use_graph_chat_history=True, learn=True), store=MemoryStore(store))
    webhook(learns, "Remember I prefer light mode")
    store.settle()
    assert "light mode" in store.memories()[0].content


def test_a_history_is_never_the_conversation_of_a_thread_with_the_same_name(open_store: Open) -> None:
    store = open_store()
    compiled = graph(AgentNode(Bot(), use_graph_chat_history=True), store=MemoryStore(store), checkpointer=Saver(store))
    for text in ("one", "two"):
        compiled.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "t"}})
    assert texts(store.messages("t")) == texts(store.messages("agent_chat_history/t"))
    assert len(store.messages("t")) == 4


def test_history_that_is_shown_to_an_agent_is_not_recorded_again_in_the_runs_thread(open_store: Open) -> None:
    """The agent is a graph of its own: what it is given stands in its state, which our checkpointer stores too."""
    store = open_store()
    inner = StateGraph(State).add_node("answer", Bot()).add_edge(START, "answer").compile()
    compiled = graph(AgentNode(inner, use_graph_chat_history=True), store=MemoryStore(store), checkpointer=Saver(store))
    for i in range(3):
        webhook(compiled, f"turn {i}")
    for c in store.conversations():
        if not c.id.startswith("agent_chat_history/"):
            assert len([e for e in store.read(c) if e.text.startswith("turn")]) <= 2  # the run's, and its agent's


def test_a_secret_is_taken_out_of_a_history_too(open_store: Open) -> None:
    store = open_store()
    bot = Bot()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True, store=store))
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    webhook(compiled, f"my token is {secret}")
    webhook(compiled, "thanks")
    assert secret not in str(bot.shown[1])
    assert "my token is" in bot.shown[1][0]


def test_users_have_histories_of_their_own(anywhere: Any) -> None:
    bot = Bot()
    compiled = graph(AgentNode(bot, use_graph_chat_history=True), store=anywhere)
    webhook(compiled, "one", user_id="kim")
    webhook(compiled, "two", user_id="sam")
    webhook(compiled, "three", user_id="kim")
    assert [len(shown) for shown in bot.shown] == [1, 1, 3]


def test_a_reset_begins_anew_and_deletes_nothing(anywhere: Any) -> None:
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True)
    compiled = graph(node, store=anywhere)
    webhook(compiled, "one")
    assert webhook(compiled, "/reset@our_bot").startswith("We start afresh")
    webhook(compiled, "two")
    webhook(compiled, "three")
    assert bot.shown[1:] == [["human: two"], ["human: two", "ai: answer 2", "human: three"]]
    assert node.metrics()["resets"] == 1
    node.reset(TELEGRAM.key, store=anywhere)
    webhook(compiled, "four")
    assert bot.shown[-1] == ["human: four"]
    if isinstance(anywhere, MemoryStore):
        said = anywhere._store.messages("agent_chat_history/telegram:-1001987654321", limit=None)
        assert [e.text for e in said if e.role == "user"] == ["one", "/reset@our_bot", "two", "three", "four"]


def test_a_reset_counts_for_what_the_checkpointer_holds_too(anywhere: Any) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    bot = Bot()
    compiled = graph(
        AgentNode(bot, use_graph_chat_history=True, reset_commands=["forget it"]), store=anywhere,
        checkpointer=InMemorySaver(),
    )  # fmt: skip
    for text in ("one", "Forget it", "two"):
        webhook(compiled, text, thread_id="t")
    assert "human: one" not in bot.shown[-1]
    assert bot.shown[-1][-1] == "human: two"


def test_the_same_answer_again_and_again_is_kept_every_time(anywhere: Any) -> None:
    """However the history is cut, an answer that says what an older one said is another."""
    node = AgentNode(lambda state: AIMessage("ok"), use_graph_chat_history=True, max_messages=4)
    compiled = graph(node, store=anywhere)
    for i in range(5):
        assert webhook(compiled, f"turn {i}") == "ok"
    bot = Bot()
    webhook(graph(AgentNode(bot, use_graph_chat_history=True), store=anywhere), "last")
    assert bot.shown[0].count("ai: ok") == 5


@pytest.mark.parametrize("namespace", ["agent_chat_history", "sessions"])
def test_a_bots_history_is_never_summarized_away(open_store: Open, namespace: str) -> None:
    asked: list[str] = []
    store = open_store(summary_delete=True, summary_threshold=4, summary_keep_recent=2, model=lambda p: asked.append(p))
    node = AgentNode(Bot(), True, history_namespace=[namespace], history_key_candidates=["room"], store=store)
    for n in range(5):
        node.invoke({"messages": [HumanMessage(f"turn {n}")]})
    said = [text for n in range(5) for text in (f"turn {n}", f"answer {n + 1}")]
    chat = store.conversations()[0]
    store.settle()
    assert asked == []
    assert texts(store.messages(chat, limit=None)) == said
    assert store.summarize(chat)  # whoever asks for one gets one, and everything stays
    assert texts(store.read(chat, kinds=["message"])) == said


# -- a store that fails


class Flaky(InMemoryStore):
    """Fails for a while."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def batch(self, ops: Any) -> Any:
        if self.failures > 0:
            self.failures -= 1
            raise ConnectionError("conflict on chat 4711")
        return super().batch(ops)


def test_what_fails_is_tried_three_times_more(caplog: pytest.LogCaptureFixture) -> None:
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, history_key_candidates=["room"])
    compiled = graph(node, store=Flaky(3))
    webhook(compiled, "one")
    webhook(compiled, "two")
    assert len(bot.shown[1]) == 3
    assert node.metrics()["retries"] == 3
    assert node.metrics()["read_errors"] == node.metrics()["write_errors"] == 0
    assert caplog.records == []


def test_a_store_that_is_away_is_warned_about_and_counted_and_the_run_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("recollect.langgraph.agent_node.time.sleep", waited.append)
    node = AgentNode(Bot(), use_graph_chat_history=True, history_key_candidates=["room"])
    assert webhook(graph(node, store=Flaky(1000)), "my secret plan") == "answer 1"
    assert len(waited) == 3 and 0 < sum(waited) < 2
    found = node.metrics()
    # The first failure opens the breaker: what would be written is skipped, not tried three times more.
    assert (found["read_errors"], found["write_errors"], found["retries"], found["skipped"]) == (1, 0, 3, 2)
    assert [r.__dict__["event"] for r in caplog.records] == ["agent_history.read_failed"]
    assert "ConnectionError" in caplog.text
    assert "4711" not in caplog.text
    assert "secret plan" not in caplog.text


@pytest.fixture(params=["sqlite", "postgres"])
def of_langgraph(request: pytest.FixtureRequest) -> Iterator[Any]:
    """LangGraph's own stores."""
    if request.param == "sqlite":
        from langgraph.store.sqlite import SqliteStore

        opened: Any = SqliteStore.from_conn_string(":memory:")
    else:
        from langgraph.store.postgres import PostgresStore

        opened = PostgresStore.from_conn_string(request.getfixturevalue("postgres_url"))
    with opened as store:
        store.setup()
        yield store


@pytest.mark.parametrize("odd", ["x\0y", "x\ud83dy"], ids=ascii)
def test_odd_characters_are_stored_in_langgraphs_stores_too(of_langgraph: Any, odd: str) -> None:
    bot = Bot()
    node = AgentNode(bot, True, history_key_candidates=["room"], store=of_langgraph)
    for text in (odd, "and?"):
        node.invoke({"messages": [HumanMessage(text, id=f"id of {text}")]})
    assert bot.shown[1] in (
        ["human: x\ufffdy", "ai: answer 1", "human: and?"],
        ["human: x?y", "ai: answer 1", "human: and?"],
    )
    assert node.metrics()["write_errors"] == node.metrics()["retries"] == 0


class UntranslatableCharacter(sqlite3.DataError):
    pass


@pytest.mark.parametrize("error", [TypeError, ValueError, InvalidNamespaceError, UntranslatableCharacter])
def test_a_store_that_refuses_a_value_is_not_away(error: type[Exception]) -> None:
    class Picky(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            ops = list(ops)
            if "refused" in str(ops):
                raise error
            return super().batch(ops)

    bot, store = Bot(), Picky()
    node = AgentNode(bot, True, history_key_candidates=["{{inputs.room}}"], store=store)
    for room, text in (("a", "refused"), ("b", "hello"), ("b", "again")):
        node.invoke({"messages": [HumanMessage(text)], "inputs": {"room": room}})
    assert bot.shown[2] == ["human: hello", "ai: answer 2", "human: again"]
    found = node.metrics()
    assert (found["skipped"], found["retries"]) == (0, 0)
    assert found["write_errors"] > 0


def test_a_closed_store_of_ours_does_not_stop_the_bot(url: str) -> None:
    store = recollect.open(url, user="bot")
    node = AgentNode(Bot(), use_graph_chat_history=True, store=store)
    compiled = graph(node)
    webhook(compiled, "one")
    store.close()
    assert webhook(compiled, "two") == "answer 2"
    assert node.metrics()["read_errors"] == 1
    assert node.metrics()["skipped"] == 2


def test_log_lines_and_numbers_hold_no_content_and_no_id(open_store: Open, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "recollect.agent_node")
    node = AgentNode(Bot(), use_graph_chat_history=True, store=open_store())
    webhook(graph(node), "a very private word")
    lines = [str(r.__dict__) for r in caplog.records if r.name == "recollect.agent_node"]
    assert {"agent_history.key", "agent_history.read", "agent_history.write"} <= {
        r.__dict__.get("event") for r in caplog.records
    }
    for line in lines:
        assert "private" not in line
        assert "1001987654321" not in line
    assert any("telegram_events_parser" in line for line in lines)
    found = node.metrics()
    assert found["runs"] == found["keyed_runs"] == 1
    assert found["messages_written"] == 2
    assert found["read_ms"] > 0


# -- agents and shapes


def test_a_chat_model_an_agent_and_async_code(open_store: Open) -> None:
    import asyncio

    store = open_store()
    model = GenericFakeChatModel(messages=iter([AIMessage("one"), AIMessage("two")]))
    node = AgentNode(model, use_graph_chat_history=True, store=store)
    assert webhook(graph(node), "hello") == "one"
    inner = StateGraph(State).add_node("answer", Bot()).add_edge(START, "answer").compile()
    compiled = graph(AgentNode(inner, use_graph_chat_history=True), store=MemoryStore(store))

    async def go() -> Any:
        config: Any = {"configurable": {"thread_id": "x"}}
        return await compiled.ainvoke({"messages": [HumanMessage("again")], "results": TELEGRAM.results}, config)

    assert asyncio.run(go())["messages"][-1].text == "answer 1"
    assert texts(store.messages("agent_chat_history/telegram:-1001987654321")) == ["hello", "one", "again", "answer 1"]


def test_a_long_history_in_a_store_of_pages() -> None:
    store = InMemoryStore()
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, history_key_candidates=["room"], max_messages=1000)
    compiled = graph(node, store=store)
    said = [(HumanMessage(f"turn {i}", id=f"h{i}"), AIMessage(f"answer {i}", id=f"a{i}")) for i in range(230)]
    history_of(store, ["agent_chat_history"], "room", "content").append([m for pair in said for m in pair])
    store.put(("agent_chat_history", "room", "below"), "x", {"content": "not of this chat", "role": "user"})
    webhook(compiled, "last")
    assert len(bot.shown[-1]) == 461
    assert bot.shown[-1][:2] == ["human: turn 0", "ai: answer 0"]
    assert not any("not of this chat" in line for line in bot.shown[-1])


def test_what_an_application_kept_by_hand_is_the_beginning(caplog: pytest.LogCaptureFixture) -> None:
    store = InMemoryStore()
    store.put(
        ("agent_chat_history",), "room",
        {"content": [{"role": "user", "content": "I am Kim"}, {"type": "ai", "data": {"content": "Hello Kim"}}, "and 42", 7]},
    )  # fmt: skip
    bot = Bot()
    node = AgentNode(bot, use_graph_chat_history=True, history_key_candidates=["room"])
    compiled = graph(node, store=store)
    webhook(compiled, "Who am I?")
    assert bot.shown[0] == ["human: I am Kim", "ai: Hello Kim", "human: and 42", "human: Who am I?"]
    assert node.metrics()["unreadable"] == 1
    assert "1 records cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("hello", [("human", "hello")]),
        ({"content": "hello"}, [("human", "hello")]),
        ({"role": "assistant", "content": "hello"}, [("ai", "hello")]),
        ({"role": "user", "text": "hello"}, [("human", "hello")]),
        ({"text": {"role": "ai", "content": "hello"}}, [("ai", "hello")]),
        ({"type": "human", "data": {"content": "hello"}}, [("human", "hello")]),
        ({"messages": [{"role": "user", "content": "a"}, "b"]}, [("human", "a"), ("human", "b")]),
        ([HumanMessage("a"), ["b"]], [("human", "a"), ("human", "b")]),
        ([("user", "x")], [("human", "x")]),
        ({"text": [["user", "x"], ["ai", "y"]]}, [("human", "x"), ("ai", "y")]),
        (["hello", "x"], [("human", "hello"), ("human", "x")]),
        ({"role": "user", "content": [{"type": "text", "text": "block"}]}, [("human", "block")]),
    ],
)
def test_stored_shapes_are_read_as_messages(value: Any, said: list[tuple[str, str]]) -> None:
    found, bad = as_stored(value, "text")
    assert [(m.type, m.text) for m in found] == said
    assert bad == 0
    assert all(m.id for m in found)


@pytest.mark.parametrize(
    "value", [7, None, {}, {"role": "user"}, {"role": "nobody", "content": "x"}, {"content": 7}, b"x"]
)
def test_what_cannot_be_read_is_counted(value: Any) -> None:
    assert as_stored(value) == ([], 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_messages": -1}, {"max_messages": True}, {"history_namespace": []}, {"history_namespace": "x"},
        {"history_key_template": "telegram"}, {"history_key_template": "telegram:"}, {"history_key_template": "{{"},
        {"history_key_template": ""}, {"history_key_candidates": ["{{nonsense}}"]},
        {"history_key_candidates": "support-room-1"}, {"history_namespace": ["a.b"]}, {"history_namespace": ["langgraph"]},
        {"history_namespace": ["a", "\0"]}, {"history_namespace": ["a", 7]}, {"history_namespace": None},
        *({"history_value_field": field} for field in ("role", "id", "at", "n", "tool_calls", "", None, 7)),
        {"use_graph_chat_history": "false"}, {"use_graph_chat_history": 1}, {"learn": "no"}, {"reset_commands": "/reset"},
    ],
)  # fmt: skip
def test_what_cannot_work_is_told_when_the_node_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        AgentNode(Bot(), **{"use_graph_chat_history": True, **wrong})


def test_a_model_on_another_machine_needs_the_allowlist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(recollect.errors.HostNotAllowed):
        AgentNode("openai:gpt")


# -- many at once

WORKER = """
import sys
sys.path[:0] = [{tests!r}, {tests!r} + "/.."]
import recollect
from langchain_core.messages import AIMessage, HumanMessage
from bots import graph, webhook
from recollect.langgraph import AgentNode, MemoryStore

url, me = sys.argv[1:]
with recollect.open(url, user="bot", semantic=False, background=False) as store:
    node = AgentNode(lambda state: {{"messages": [AIMessage("ok")]}}, use_graph_chat_history=True, max_messages=4)
    compiled = graph(node, store=MemoryStore(store))
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(25):
        webhook(compiled, f"{{me}}-{{i}}")
    assert node.metrics()["write_errors"] == 0, node.metrics()
"""


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_four_processes_lose_nothing(url: str, processes: list[subprocess.Popen[str]]) -> None:
    code = textwrap.dedent(WORKER.format(tests=str(TESTS)))
    for n in range(4):
        pipe = subprocess.PIPE
        processes.append(
            subprocess.Popen([sys.executable, "-c", code, url, str(n)], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        )
    for process in processes:  # all of them have opened the store: now they write at once
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.stderr and process.stderr.read()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        assert process.wait(300) == 0, process.stderr and process.stderr.read()
    with recollect.open(url, user="bot", semantic=False) as store:
        said = store.messages("agent_chat_history/telegram:-1001987654321", limit=None)
        turns = [e.text for e in said if e.role == "user" and e.kind == "message"]
        assert sorted(turns) == sorted(f"{n}-{i}" for n in range(4) for i in range(25))
        for n in range(4):
            assert [t for t in turns if t.startswith(f"{n}-")] == [f"{n}-{i}" for i in range(25)]
        assert len([e for e in store.read(said[0].conversation_id) if e.role == "assistant"]) == 100
        assert store.verify().ok


def test_a_chat_that_was_erased_begins_anew_with_what_is_said_next(open_store: Open) -> None:
    store, bot = open_store(), Bot()
    node = AgentNode(bot, use_graph_chat_history=True, store=store)
    compiled = graph(node)
    webhook(compiled, "I am Kim")
    chat = store.conversations()[0].id
    late = history_of(store, ["agent_chat_history"], chat.partition("/")[2], "content")
    late.append([HumanMessage("before", id="m1")], begins=True)
    store.erase(conversation=chat)
    with pytest.raises(Erased):
        late.append([AIMessage("a late answer", id="m2")])
    webhook(compiled, "Hello")
    webhook(compiled, "Who am I?")
    assert bot.shown[2] == ["human: Hello", "ai: answer 2", "human: Who am I?"]
    assert node.metrics()["write_errors"] == node.metrics()["retries"] == 0
    with pytest.raises(Erased):  # nor into what has begun since
        late.append([AIMessage("a late answer", id="m2")])
    assert "a late answer" not in texts(store.read(chat))


def test_an_event_that_was_erased_is_not_recorded_again_by_a_checkpointer_that_holds_it(open_store: Open) -> None:
    store = open_store()
    log = history_of(store, ["agent_chat_history"], "room", "content")
    said = [HumanMessage(f"turn {i}", id=f"m{i}") for i in range(3)]
    log.append(said[:2], begins=True)
    chat = store.conversations()[0].id
    store.erase(source=f"{chat}:1")
    log.append(said, begins=True)
    assert texts(store.read(chat)) == ["turn 1", "turn 2"]
