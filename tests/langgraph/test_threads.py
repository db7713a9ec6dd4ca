"""Whole threads: whose they are, and how they are deleted, copied, cleared, pruned."""

from __future__ import annotations

import copy
import operator
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import pytest
from graphs import Counted, asking, chat, deltas, echo, say, thread, two_steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import interrupt
from typing_extensions import TypedDict

from recollect.errors import AlreadyExists, ConversationDeleted, Erased, InvalidInput, NotFound
from recollect.langgraph import Saver, fork
from recollect.langgraph.remembered import RECENT

STATE = ("checkpoints", "checkpoint_writes", "checkpoint_pieces", "checkpoint_messages")


def contents(values: Any) -> list[str]:
    return [m.content for m in values["messages"]]


def rows(raw: Any) -> dict[str, int]:
    return {table: raw(f"select count(*) from {table}")[0][0] for table in STATE}


class Notes(TypedDict):
    notes: Annotated[list[str], operator.add]


def _noted(value: list[str], writes: list[list[str]]) -> list[str]:
    return [*value, *(note for write in writes for note in write)]


class NotesAsChanges(TypedDict):
    notes: Annotated[list[str], DeltaChannel(_noted, snapshot_frequency=2)]


class Noted(MessagesState):
    notes: list[str]


def remembering(saver: Any, state: Any, steps: int = 1) -> Any:
    """Its node calls a subgraph that remembers from turn to turn, in so many steps of its own, and says how much that is."""
    inner = StateGraph(state)
    names = [f"step{n}" for n in range(steps)]
    for one, next in zip([START, *names], names, strict=False):
        inner.add_node(next, lambda state: {"notes": [f"note {len(state['notes'])}"]})
        inner.add_edge(one, next)
    lasting = inner.compile(checkpointer=True)
    return chat(
        saver, lambda state: {"messages": [AIMessage(f"{len(lasting.invoke({'notes': ['called']})['notes'])}")]}
    )


# -- users


def test_the_same_thread_id_of_two_users_never_meets(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("alex speaking"), thread("1"))
    graph.invoke(say("kim speaking"), thread("1", user_id="kim"))
    graph.invoke(say("kim again"), thread("1", user_id="kim"))
    assert contents(graph.get_state(thread("1")).values) == ["alex speaking", "you said: alex speaking"]
    assert len(graph.get_state(thread("1", user_id="kim")).values["messages"]) == 4
    assert saver.store.for_user("kim").messages("1")[0].text == "kim speaking"
    assert {t.config["configurable"]["thread_id"] for t in saver.list(None)} == {"1"}
    assert len(list(saver.list(None))) == 3
    assert len(list(saver.for_user("kim").list(None))) == 6


def test_a_config_that_comes_back_leads_to_the_same_user(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("kim speaking"), thread(user_id="kim"))
    state = graph.get_state(thread(user_id="kim"))
    assert contents(graph.get_state(state.config).values) == ["kim speaking", "you said: kim speaking"]
    parent = state.parent_config
    assert contents(graph.get_state(parent).values) == ["kim speaking"]
    for found in saver.list(thread(user_id="kim")):
        assert saver.get_tuple(found.config) is not None


def test_verbs_without_a_config_act_for_the_handles_user(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("hi"), thread())
    graph.invoke(say("hi"), thread(user_id="kim"))
    saver.delete_thread("t")
    assert graph.get_state(thread()).values == {}
    assert graph.get_state(thread(user_id="kim")).values != {}
    kim = saver.for_user("kim")
    kim.prune(["t"])
    assert len(list(kim.list(None))) == 1
    kim.copy_thread("t", "u")
    assert saver.get_tuple(thread("u")) is None
    assert kim.get_tuple(thread("u")) is not None


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(talks=st.lists(st.tuples(st.sampled_from(["a", "A", "a ", "ab"]), st.sampled_from(["1", "2"]), st.text("xyz", min_size=1, max_size=4)), max_size=12))  # fmt: skip
@pytest.mark.parametrize("backend", ["sqlite"])
def test_whatever_is_said_stays_with_who_said_it(url: str, talks: list[tuple[str, str, str]]) -> None:
    with Saver.from_conn_string(":memory:", user="owner", semantic=False, background=False, summaries=False) as saver:
        graph = chat(saver)
        expected: dict[tuple[str, str], list[str]] = {}
        for user, name, text in talks:
            graph.invoke(say(text), thread(name, user_id=user))
            expected.setdefault((user, name), []).extend([text, f"you said: {text}"])
        for user in ("a", "A", "a ", "ab", "owner"):
            for name in ("1", "2"):
                values = graph.get_state(thread(name, user_id=user)).values
                assert contents(values or {"messages": []}) == expected.get((user, name), [])


# -- deleting


def test_delete_thread_erases_log_and_state(saver: Saver, raw: Any) -> None:
    graph = chat(saver)
    graph.invoke(say("hi"), thread())
    saver.delete_thread("t")
    with pytest.raises(NotFound):
        saver.store.get("t")
    assert rows(raw) == dict.fromkeys(STATE, 0)
    saver.delete_thread("t")  # twice is fine
    graph.invoke(say("anew"), thread())
    assert contents(graph.get_state(thread()).values) == ["anew", "you said: anew"]
    assert len(saver.store.messages("t")) == 2


def test_a_thread_begins_anew_however_slowly_its_first_checkpoint_is_written(
    saver: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph puts it in the background, and what a task wrote beside it: that was refused for a thread that is erased,
    where the disk took half a second for the checkpoint."""
    graph = chat(saver)
    graph.invoke(say("before"), thread())
    saver.delete_thread("t")
    real = Saver._draft

    def slow(self: Saver, place: Any, *rest: Any) -> Any:
        if place.checkpoint is None:
            time.sleep(1.0)
        return real(self, place, *rest)

    monkeypatch.setattr(Saver, "_draft", slow)
    graph.invoke(say("anew"), thread())
    assert contents(graph.get_state(thread()).values) == ["anew", "you said: anew"]


def test_a_late_write_of_a_dead_run_does_not_wait_for_as_long_as_the_next_run_goes_on(saver: Saver) -> None:
    """Its checkpoint never comes; others of the thread that began anew come one after the other."""
    graph = chat(saver)
    graph.invoke(say("before"), thread())
    dead = graph.get_state(thread()).config
    saver.delete_thread("t")
    shared, place = saver._shared, saver._place(dead)
    shared.recent.clear()
    refused = threading.Event()
    puts: list[int] = []

    def go_on() -> None:
        shared.announce(place.key("0"))
        for n in range(1_000):
            shared.announce(place.key(str(n + 1)))
            shared.arrived(place.key(str(n)))
            if refused.wait(0.01):
                break
            puts.append(n)
        shared.arrived(place.key(str(n + 1)))

    run = threading.Thread(target=go_on)
    run.start()
    with pytest.raises(Erased):
        saver.put_writes(dead, [("x", "late")], "task")
    refused.set()
    run.join()
    assert len(puts) < 999


def test_who_waits_for_a_checkpoint_is_woken_although_all_was_forgotten_meanwhile(saver: Saver) -> None:
    """A scan that mends the state forgets what is remembered of it. It took the lock along that others waited on, for ever."""
    shared, key = saver._shared, ("alex", "t", "", "1")
    shared.announce(key)
    waits = threading.Thread(target=shared.wait_for, args=(key, 0.01), daemon=True)
    waits.start()
    time.sleep(0.1)
    shared.forget_all()
    shared.arrived(key)
    waits.join(5)
    assert not waits.is_alive()


def interrupted(saver: Any) -> Any:
    """A subgraph that asks: it is stored before the graph around it is."""
    inner = StateGraph(Counted)
    inner.add_node("ask", lambda state: {"messages": [AIMessage(interrupt("which?"))]})
    inner.add_edge(START, "ask")
    outer = StateGraph(Counted)
    outer.add_node("sub", inner.compile())
    outer.add_edge(START, "sub")
    return outer.compile(checkpointer=saver)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("build", [chat, deltas, interrupted, lambda saver: remembering(saver, Notes)])
def test_a_thread_begins_anew_with_any_kind_of_run(saver: Saver, build: Any, durability: Any) -> None:
    graph = build(saver)
    for id in ("1", "2"):
        graph.invoke(say("hi", id), thread(), durability=durability)
        saver.delete_thread("t")
    graph.invoke(say("anew", "3"), thread(), durability=durability)
    assert graph.get_state(thread()).values["messages"][0].content == "anew"
    assert saver.store.messages("t")[0].text == "anew"
    graph.invoke(say("and on", "4"), thread(), durability=durability)
    assert "and on" in [e.text for e in saver.store.messages("t")]
    assert saver.store.verify().ok


async def test_a_thread_begins_anew_async(saver: Saver) -> None:
    graph = remembering(saver, Notes)
    for _ in range(2):
        await graph.ainvoke(say("hi"), thread(), durability="exit")
        await saver.adelete_thread("t")
    assert contents(await graph.ainvoke(say("anew"), thread(), durability="exit")) == ["anew", "2"]
    assert len(saver.store.messages("t")) == 2


def test_a_thread_begins_anew_with_an_update(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("before"), thread())
    saver.delete_thread("t")
    graph.update_state(thread(), say("anew"))
    assert contents(graph.get_state(thread()).values) == ["anew"]
    assert contents(graph.invoke(say("on"), thread())) == ["anew", "on", "you said: on"]


def test_a_thread_begins_anew_as_a_copy_and_goes_on(saver: Saver) -> None:
    """A copy has the checkpoints of what it was copied from, under the same ids: those of the one that was erased."""
    graph = chat(saver)
    graph.invoke(say("one"), thread("source"))
    for _ in range(2):
        saver.copy_thread("source", "t")
        assert contents(graph.invoke(say("on"), thread()))[2:] == ["on", "you said: on"]
        saver.delete_thread("t")
    saver.copy_thread("source", "t")
    saver.delete_thread("t")
    saver.copy_thread("source", "t")
    assert contents(graph.invoke(say("on"), thread()))[2:] == ["on", "you said: on"]
    assert saver.store.verify().ok


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("turns", [0, 1])
def test_a_run_that_began_before_brings_nothing_back_through_a_subgraph(
    saver: Saver, turns: int, durability: Any
) -> None:
    """Its first checkpoint has no parent, and is made after the erasure. Who looks meanwhile is another."""
    saver.store.append(saver.store.create("t"), role="user", text="hello")

    def erase(state: Any) -> Any:
        if state["messages"][-1].content == "heron":
            saver.delete_thread("t")
            assert graph.get_state(thread()).values == {}
        return {"notes": ["heron"]}

    inner = StateGraph(Notes)
    inner.add_node("note", lambda state: {"notes": ["a heron"]})
    inner.add_edge(START, "note")
    lasting = inner.compile(checkpointer=True)
    builder = StateGraph(Noted)
    builder.add_node("erase", erase)
    builder.add_node("sub", lambda state: lasting.invoke({"notes": state["notes"]}))
    builder.add_edge(START, "erase")
    builder.add_conditional_edges("erase", lambda state: "sub" if state["messages"][-1].content == "heron" else END)
    graph = builder.compile(checkpointer=saver)
    for _ in range(turns):
        graph.invoke(say("hi"), thread())
    with pytest.raises(Erased):
        graph.invoke(say("heron"), thread(), durability=durability)
    assert saver.store.conversations() == []


def test_a_clone_of_what_was_erased_begins_nothing(saver: Saver) -> None:
    """That of a first checkpoint has no parent either."""
    graph = chat(saver)
    graph.invoke(say("heron"), thread())
    first = list(saver.list(thread()))[-1]
    saver.delete_thread("t")
    assert saver.get_tuple(thread()) is None
    later = {**first.checkpoint, "id": empty_checkpoint()["id"], "ts": empty_checkpoint()["ts"]}
    with pytest.raises(Erased):
        saver.put(thread(checkpoint_ns=""), later, {"source": "fork", "step": 0, "parents": {}}, {})  # type: ignore[arg-type]


def test_an_erasure_leaves_a_receipt_that_counts_the_state(saver: Saver) -> None:
    chat(saver).invoke(say("hi"), thread())
    receipt = saver.store.erase(conversation="t")
    assert receipt.counts["checkpoints"] == 3
    assert receipt.counts["checkpoint_writes"] > 0
    assert receipt.counts["events"] == 2


def test_a_graph_may_take_all_messages_out(saver: Saver) -> None:
    """`/clear`, as LangGraph has it: an empty list was an AssertionError."""

    def answer(state: Any) -> dict[str, Any]:
        if state["messages"][-1].content == "/clear":
            return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}
        return echo(state)

    graph = chat(saver, answer)
    graph.invoke(say("hello"), thread())
    assert graph.invoke(say("/clear"), thread())["messages"] == []
    assert graph.get_state(thread()).values == {"messages": []}
    graph.invoke(say("again", "m"), thread())
    assert contents(graph.get_state(thread()).values) == ["again", "you said: again"]
    graph.update_state(thread(), {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})
    assert graph.get_state(thread()).values == {"messages": []}


def test_many_who_read_one_thread_at_once_read_it_whole(url: str) -> None:
    """What one of them was still reading was taken by another for all there: a bare KeyError in one of ten."""
    with Saver(url, user="alex", background=False) as ours, Saver(url, user="alex", background=False) as another:
        reading, writing = chat(ours), chat(another)
        for turn in range(12):
            writing.invoke({"messages": [("user", f"{turn} {i} {'x' * 300}") for i in range(40)]}, thread())
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: len(reading.get_state(thread()).values["messages"]), range(4)))
            assert found == [41 * (turn + 1)] * 4


UNCLOSED = """
import sys, time
from langgraph.graph import START, MessagesState, StateGraph
from recollect.langgraph import Saver

graph = StateGraph(MessagesState).add_node("answer", lambda state: {"messages": [("ai", "yes")]}).add_edge(START, "answer")
said = [("user", f"m{j} " + " ".join(f"word{j * k % 997}" for k in range(300))) for j in range(1500)]
graph.compile(checkpointer=Saver(sys.argv[1])).invoke({"messages": said}, {"configurable": {"thread_id": "t"}})
time.sleep(0.1)
"""


def test_a_program_that_does_not_close_its_saver_ends_well(tmp_path: Path) -> None:
    """The background thread was inside C++ when Python ended, and took the process down with it: exit code 134."""
    for i in range(3):
        where = str(tmp_path / f"{i}.db")
        ended = subprocess.run([sys.executable, "-c", UNCLOSED, where], capture_output=True, timeout=120, check=False)
        assert ended.returncode == 0, ended.stderr
        with Saver(where) as saver:
            assert len(chat(saver).get_state(thread()).values["messages"]) == 1501


def test_clear_clears_both(saver: Saver, raw: Any) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    saver.store.clear("t")
    assert rows(raw) == dict.fromkeys(STATE, 0) | {"checkpoint_pieces": 1}, "nothing but the key of what comes next"
    assert saver.get_tuple(thread()) is None
    graph.invoke(say("two"), thread())
    assert [e.seq for e in saver.store.messages("t")] == [3, 4]


def test_what_is_put_after_clearing_is_read_by_others(saver: Saver) -> None:
    """The saver goes on with the key it knows; whoever opens the store later has only what is stored."""
    for other in (False, True):
        graph = chat(saver)
        graph.invoke(say("one"), thread())
        (saver.store.for_user(saver.store.user) if other else saver.store).clear("t")
        graph.invoke(say("two"), thread())
        assert saver.store.verify().problems == ()
        later = chat(Saver(saver.store))
        assert contents(later.get_state(thread()).values) == ["two", "you said: two"]
        assert contents(later.invoke(say("three"), thread()))[-2:] == ["three", "you said: three"]


def test_a_deleted_thread_reads_as_absent_and_comes_back(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    saver.store.delete("t")
    assert saver.get_tuple(thread()) is None
    assert list(saver.list(thread())) == list(saver.list(None)) == []
    assert graph.get_state(thread()).values == {}
    with pytest.raises(ConversationDeleted):
        graph.invoke(say("two"), thread())
    saver.store.restore("t")
    graph.invoke(say("two"), thread())
    assert len(graph.get_state(thread()).values["messages"]) == 4


# -- copying


def test_copy_thread_copies_log_and_state(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    then = graph.get_state(thread()).config
    graph.invoke(say("left"), thread())
    graph.invoke(say("right"), then)
    saver.copy_thread("t", "u")
    store = saver.store
    for branch in ("main", "branch-1"):
        assert [e.text for e in store.messages("u", branch=branch)] == [
            e.text for e in store.messages("t", branch=branch)
        ]
    assert contents(graph.get_state(thread("u")).values) == contents(graph.get_state(thread()).values)
    graph.invoke(say("only there"), thread("u"))
    assert len(store.messages("t", limit=None)) == 4
    assert len(store.messages("u", limit=None)) == 6
    assert {h.conversation_id for h in store.search("right")} == {"t", "u"}
    assert store.get("u").title == store.get("t").title
    assert store.verify().ok
    saver.delete_thread("t")
    assert len(graph.get_state(thread("u")).values["messages"]) == 6
    assert store.verify().ok


def test_copy_refuses_a_target_that_is_there_and_a_source_that_is_not(saver: Saver) -> None:
    chat(saver).invoke(say("one"), thread())
    saver.store.create("u")
    with pytest.raises(AlreadyExists):
        saver.copy_thread("t", "u")
    with pytest.raises(NotFound):
        saver.copy_thread("nobody", "v")


# -- pruning


def test_prune_keeps_every_branch_resumable_and_sweeps(saver: Saver, raw: Any) -> None:
    graph = two_steps(saver)
    for i in range(20):
        graph.invoke(say(f"hi {i} " + "long " * 30), thread())
    back = saver.store.checkpoints("t", limit=100)[40]
    graph.invoke(say("elsewhere"), {"configurable": {"thread_id": "t", "checkpoint_id": back.id}})
    saver.store.fork("t", at=6, name="log only")
    names = ("main", "branch-1", "log only")
    before = {name: graph.get_state(thread(branch=name)).values for name in names}
    many = rows(raw)
    saver.prune(["t"])
    saver.store.settle()
    assert {name: graph.get_state(thread(branch=name)).values for name in names} == before
    assert rows(raw)["checkpoints"] == 3
    assert rows(raw)["checkpoint_pieces"] < many["checkpoint_pieces"]
    assert len(saver.store.read("t", kinds=["message"], branch="main")) == 40
    assert saver.store.verify().ok
    for name in names:
        graph.invoke(say("on"), thread(branch=name))
        assert len(graph.get_state(thread(branch=name)).values["messages"]) == len(before[name]["messages"]) + 2
    assert saver.store.verify().ok


def test_prune_never_empties_a_delta_channel(saver: Saver) -> None:
    graph = deltas(saver)
    for i in range(10):
        graph.invoke(say(f"hi {i}", f"h{i}"), thread())
    before = graph.get_state(thread()).values
    saver.prune(["t"])
    saver.store.settle()
    assert graph.get_state(thread()).values == before
    graph.invoke(say("more", "more"), thread())
    assert len(graph.get_state(thread()).values["messages"]) == 22


def test_prune_keeps_an_interrupt_answerable(saver: Saver) -> None:
    from langgraph.types import Command

    graph = asking(saver)
    graph.invoke(say("go"), thread())
    saver.prune(["t"])
    saver.store.settle()
    assert graph.invoke(Command(resume="yes"), thread())["messages"][-1].content == "you said yes"


@pytest.mark.parametrize("state", [Notes, NotesAsChanges])
@pytest.mark.parametrize("way", ["verb", "setting"])
def test_prune_keeps_what_a_branch_remembers_in_a_subgraph(url: str, state: Any, way: str) -> None:
    """A branch goes on from where it was forked in every graph of its own, not in the outer one alone."""
    setting = {"checkpoint_keep": 1} if way == "setting" else {}
    with Saver(url, user="alex", semantic=False, background=False, summaries=False, **setting) as saver:
        graph = remembering(saver, state)
        for text in ("one", "two", "three"):
            last = graph.invoke(say(text), thread())
            if text == "one":
                after_one = graph.get_state(thread()).config
        assert last["messages"][-1].content == "6"
        fork(graph, after_one)
        saver.store.fork("t", at=4, name="log only")
        if way == "verb":
            saver.prune(["t"])
        saver.store.settle()
        assert len(saver.store.checkpoints("t", limit=100, branch="main")) < 9
        for branch, inside in (("branch-1", "4"), ("log only", "6"), ("main", "8")):
            said = graph.invoke(say("on"), thread(branch=branch))
            assert said["messages"][-1].content == inside, branch
        assert saver.store.verify().ok


def test_a_checkpoint_that_is_kept_can_be_gone_back_to_with_what_its_subgraphs_knew(saver: Saver) -> None:
    """Of a subgraph with more steps than the graph around it, the newest few do not reach as far back."""
    graph = remembering(saver, Notes, steps=4)
    for text in ("one", "two", "three"):
        graph.invoke(say(text), thread())
    after_two = next(c for c in saver.store.checkpoints("t", limit=100) if c.seq == 4 and c.source == "loop")
    saver.prune(["t"], keep=4)
    saver.store.settle()
    fork(graph, after_two)
    assert graph.invoke(say("again"), thread())["messages"][-1].content == "15"
    assert saver.store.verify().ok


def test_prune_by_count_and_age(saver: Saver) -> None:
    graph = chat(saver)
    for i in range(4):
        graph.invoke(say(f"hi {i}"), thread())
    found = saver.store.checkpoints("t", limit=100)
    saver.prune(["t"], keep=5)
    assert [c.id for c in saver.store.checkpoints("t", limit=100)] == [c.id for c in found[:5]]
    saver.prune(["t"], before=0)
    assert len(saver.store.checkpoints("t", limit=100)) == 5
    saver.prune(["t"], strategy="delete")
    assert saver.store.checkpoints("t") == []
    assert len(saver.store.messages("t")) == 8
    for wrong in ({"strategy": "some"}, {"keep": 0}):
        with pytest.raises(InvalidInput):
            saver.prune(["t"], **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", [{"checkpoint_keep": 3}, {"checkpoint_keep": 3, "checkpoint_days": 1}])
def test_retention_by_setting_runs_in_the_background(url: str, setting: dict[str, int], monkeypatch: Any) -> None:
    from recollect import ids

    with Saver(url, user="alex", semantic=False, background=False, summaries=False, **setting) as saver:
        graph = chat(saver)
        for i in range(6):
            graph.invoke(say(f"hi {i}"), thread())
        saver.store.settle()
        recent = 18 if "checkpoint_days" in setting else 3
        assert len(saver.store.checkpoints("t", limit=100)) == recent
        now = ids.now()
        monkeypatch.setattr(ids, "now", lambda: now + 2 * 86_400_000)
        graph.invoke(say("later"), thread())
        saver.store.settle()
        assert len(saver.store.checkpoints("t", limit=100)) == 3
        assert len(graph.get_state(thread()).values["messages"]) == 14


def test_runs_can_be_deleted(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), {**thread(), "metadata": {"run_id": "r1"}})
    graph.invoke(say("two"), {**thread(), "metadata": {"run_id": "r2"}})
    saver.delete_for_runs(["r2"])
    assert contents(graph.get_state(thread()).values) == ["one", "you said: one"]
    assert len(saver.store.messages("t")) == 4


# -- the saver itself


def test_a_saver_is_copied_and_its_serde_is_set(saver: Saver) -> None:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    twin = copy.copy(saver)
    twin.serde = JsonPlusSerializer()
    assert saver.serde is not twin.serde
    chat(twin).invoke(say("hi"), thread())
    assert len(chat(saver).get_state(thread()).values["messages"]) == 2
    assert saver.with_allowlist([("a", "B")]) is not saver


def test_opening_by_address_sync_and_async(url: str) -> None:
    import asyncio

    with Saver.from_conn_string(url, user="alex", semantic=False) as saver:
        saver.setup()
        chat(saver).invoke(say("hi"), thread())

    async def again() -> int:
        async with Saver.from_conn_string(url, user="alex", semantic=False) as saver:
            await saver.setup()
            return len((await chat(saver).aget_state(thread())).values["messages"])

    assert asyncio.run(again()) == 2


def test_an_open_store_stays_open(open_store: Any) -> None:
    store = open_store()
    with Saver(store) as saver:
        chat(saver).invoke(say("hi"), thread())
    assert store.get("t").last_seq == 2
    with pytest.raises(InvalidInput):
        Saver(store, semantic=False)


def test_more_threads_than_are_remembered(saver: Saver) -> None:
    configs = [thread(str(i)) for i in range(RECENT + 20)]
    stored = []
    for config in configs:
        checkpoint = {**empty_checkpoint(), "channel_values": {"k": [config["configurable"]["thread_id"] * 60] * 3}, "channel_versions": {"k": "1"}}  # fmt: skip
        config["configurable"]["checkpoint_ns"] = ""
        stored.append(saver.put(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {"k": "1"}))  # type: ignore[arg-type]
    for i in (0, 5, RECENT + 19):
        found = saver.get_tuple(stored[i])
        assert found is not None
        assert found.checkpoint["channel_values"]["k"] == [str(i) * 60] * 3
        child = {**empty_checkpoint(), "channel_values": {"k": ["x" * 90, "y" * 90]}, "channel_versions": {"k": "2"}}
        saver.put(stored[i], child, {"source": "loop", "step": 2, "parents": {}}, {"k": "2"})  # type: ignore[arg-type]


def test_a_config_without_a_thread_is_told(saver: Saver) -> None:
    for config in ({"configurable": {}}, {"configurable": {"thread_id": ""}}, {"configurable": {"thread_id": "ghp_" + "a1B2c3D4e5F6" * 3}}):  # fmt: skip
        with pytest.raises(InvalidInput, match="thread_id"):
            saver.get_tuple(config)  # type: ignore[arg-type]


def test_prune_leaves_no_parent_that_is_gone(saver: Saver) -> None:
    graph = chat(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}"), thread())
    saver.prune(["t"])
    head = graph.get_state(thread())
    assert head.parent_config is None
    assert saver.store.verify().ok
    graph.update_state(head.config, None, as_node="__copy__")
    assert graph.get_state(thread()).values == head.values
    graph.invoke(say("more"), thread())
    assert [c.config["configurable"]["checkpoint_id"] for c in graph.get_state_history(thread())][-1] == head.config[
        "configurable"
    ]["checkpoint_id"]


def test_prune_lets_the_calls_of_subgraphs_go_with_what_they_were_made_from(saver: Saver) -> None:
    """Each call has a namespace of its own: they were one more with every turn, for ever."""
    from langgraph.graph import START, MessagesState, StateGraph

    inner = StateGraph(MessagesState).add_node("n", lambda state: {"messages": [("ai", "there")]}).add_edge(START, "n")
    outer = StateGraph(MessagesState).add_node("call", inner.compile()).add_edge(START, "call")
    graph = outer.compile(checkpointer=saver)
    for i in range(4):
        graph.invoke(say(f"hi {i}"), thread())
        saver.prune(["t"])
    assert [c.config["configurable"]["checkpoint_ns"] for c in saver.list(thread())] == [""]
    assert len(graph.get_state(thread()).values["messages"]) == 8
    assert saver.store.verify().ok
