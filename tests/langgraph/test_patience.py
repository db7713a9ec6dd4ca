"""A run waits for its history for a while, and after a failure nobody asks for it until a cool-down has passed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from bots import graph
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from recollect.errors import SettingsError
from recollect.langgraph import AgentNode, MemoryStore, agent_node, patience
from recollect.langgraph.history import GivenUp, Log
from recollect.langgraph.patience import Breaker, Budget, TookTooLong, within
from talk import Open, eventually


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(patience, "time", clock)
    return clock


def test_after_a_failure_nobody_asks_then_one_tries(clock: Clock) -> None:
    breaker = Breaker()
    assert breaker.admits() and breaker.admits()
    breaker.failed(10)
    clock.now += 9.9
    assert not breaker.admits()
    clock.now += 0.2
    assert breaker.admits()
    assert not breaker.admits()  # one is enough
    breaker.failed(10)
    assert not breaker.admits()
    clock.now += 10.1
    assert breaker.admits()
    breaker.worked()
    assert breaker.admits() and breaker.admits()


def test_calls_that_hang_are_not_joined_by_more_and_more(clock: Clock) -> None:
    breaker, release, hanging = Breaker(), threading.Event(), 0
    while breaker.admits():
        with pytest.raises(TookTooLong):
            within(0.01, lambda: release.wait(60), breaker)
        breaker.failed(10)
        clock.now += 11
        hanging += 1
    assert hanging == patience.MOST_HANGING
    release.set()
    eventually(breaker.admits)


def test_a_call_that_is_merely_slow_ends_before_the_process_does() -> None:
    """Else the interpreter would stop its thread wherever it is; in the middle of re2 that was an abort."""
    code = """
import time
from recollect.langgraph.patience import Breaker, TookTooLong, within

try:
    within(0.01, lambda: (time.sleep(0.3), print("done")), Breaker())
except TookTooLong:
    print("left")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.split(), done.returncode) == (["left", "done"], 0)


class Slow(InMemoryStore):
    """Hangs until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()
        self.is_slow = True
        self.asked = 0

    def batch(self, ops: Any) -> Any:
        self.asked += 1
        if self.is_slow:
            self.release.wait(60)
        return super().batch(ops)

    async def abatch(self, ops: Any) -> Any:
        import asyncio

        self.asked += 1
        while self.is_slow and not self.release.is_set():
            await asyncio.sleep(0.01)
        return await super().abatch(ops)


@pytest.mark.parametrize("called", ["sync", "async"])
def test_a_store_that_hangs_costs_the_deadline_once(called: str) -> None:
    import asyncio

    store = Slow()
    made = [
        AgentNode(lambda _: "ok", True, history_key_candidates=["room"], store=store, history_timeout_ms=300)
        for _ in range(3)
    ]
    began = time.monotonic()
    for node in made:  # three agents of one graph
        if called == "sync":
            node.invoke({"messages": [HumanMessage("hello")]})
        else:
            asyncio.run(node.ainvoke({"messages": [HumanMessage("hello")]}))
    took = time.monotonic() - began
    store.release.set()
    assert store.asked == 1
    assert 0.25 < took < 5


def test_a_question_that_was_not_written_is_written_with_its_answer() -> None:
    """The store came back while the agent was at work."""

    class Down(InMemoryStore):
        is_away = True

        def batch(self, ops: Any) -> Any:
            if self.is_away:
                raise ConnectionError
            return super().batch(ops)

    store, shown = Down(), list[list[str]]()

    def agent(state: dict[str, Any]) -> AIMessage:
        store.is_away = False
        shown.append([m.text for m in state["messages"]])
        return AIMessage("ok")

    node = AgentNode(agent, True, history_key_candidates=["room"], store=store, history_retry_after_ms=0)
    node.invoke({"messages": [HumanMessage("one")]})
    node.invoke({"messages": [HumanMessage("two")]})
    assert shown[1] == ["one", "ok", "two"]


def test_a_call_that_went_on_alone_does_not_begin_an_erased_chat_again(open_store: Open) -> None:
    store = open_store()
    late = Log(store, ["agent_chat_history"], "room")
    late.append([HumanMessage("before", id="m1")], begins=True)
    store.erase(conversation=store.conversations()[0])
    late.give_up()
    with pytest.raises(GivenUp):
        late.append([HumanMessage("late", id="m2")], begins=True)
    assert store.conversations() == []


def test_the_deadline_is_a_setting(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def patience(*, compiled_with: Any = None, **given: Any) -> float:
        node = AgentNode(lambda _: "ok", True, history_key_candidates=["room"], **given)
        found = []
        monkeypatch.setattr(agent_node, "Budget", lambda seconds: found.append(seconds) or Budget(seconds))
        graph(node, store=compiled_with).invoke({"messages": [HumanMessage("hello")]})
        return found[0]

    assert patience(store=InMemoryStore()) == 2.0
    store = open_store(history_timeout_ms=7000)
    assert patience(store=store) == patience(compiled_with=MemoryStore(store)) == 7.0
    assert patience(compiled_with=MemoryStore(store), history_timeout_ms=9000) == 9.0
    monkeypatch.setenv("RECOLLECT_HISTORY_TIMEOUT_MS", "5000")
    assert patience(store=InMemoryStore()) == 5.0
    with pytest.raises(SettingsError):
        AgentNode(lambda _: "ok", history_timeout_ms=0)
