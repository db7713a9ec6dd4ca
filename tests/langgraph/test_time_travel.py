"""Back to a checkpoint, on from there: branches of the graph are branches of the log."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import asking, chat, deltas, echo, say, thread, two_steps
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

import recollect
from recollect.errors import InvalidInput
from recollect.langgraph import MemoryStore, Saver, afork, aresume, fork, resume


def contents(values: Any) -> list[str]:
    return [m.content for m in values["messages"]]


def texts(saver: Saver, branch: str | None = None) -> list[str]:
    return [e.text for e in saver.store.messages("t", limit=None, branch=branch)]


def at(saver: Saver, **facts: Any) -> Any:
    """The newest checkpoint of which this is true."""
    found = saver.store.checkpoints("t", limit=100)
    return next(c for c in found if all(getattr(c, name) == value for name, value in facts.items()))


def test_checkpoints_say_what_they_are(saver: Saver) -> None:
    graph = two_steps(saver)
    graph.invoke(say("hello"), thread())
    found = saver.store.checkpoints("t")
    assert [(c.source, c.step, c.node, c.seq) for c in found] == [
        ("loop", 2, "answer", 2),
        ("loop", 1, "think", 1),
        ("loop", 0, "__start__", 1),
        ("input", -1, None, 0),
    ]
    assert [c.preview for c in found] == ["you said: hello", "hello", "hello", ""]
    assert {c.branch for c in found} == {"main"}
    assert [c.parent for c in found] == [*(c.id for c in found[1:]), None]
    assert all(c.created_at for c in found)


def test_checkpoints_by_pages(saver: Saver) -> None:
    graph = chat(saver)
    for i in range(4):
        graph.invoke(say(f"hi {i}"), thread())
    everything = saver.store.checkpoints("t", limit=100)
    assert len(everything) == 12
    first = saver.store.checkpoints("t", limit=5)
    second = saver.store.checkpoints("t", limit=5, before=first[-1])
    assert [*first, *second] == everything[:10]
    assert saver.store.checkpoints("t", limit=5, before=first[-1].id) == second
    assert saver.store.checkpoints("t", limit=0) == []


def test_a_run_from_an_older_checkpoint_is_a_branch(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    then = graph.get_state(thread()).config
    graph.invoke(say("left"), thread())
    graph.invoke(say("right"), then)
    branches = saver.store.branches("t")
    assert [(b.name, b.parent, b.fork_seq) for b in branches] == [("main", None, 0), ("branch-1", "main", 2)]
    assert texts(saver, "main") == ["one", "you said: one", "left", "you said: left"]
    assert texts(saver, "branch-1") == ["one", "you said: one", "right", "you said: right"]
    assert saver.store.get("t").active_branch == "branch-1"
    assert contents(graph.get_state(thread()).values) == texts(saver)
    assert saver.store.verify().ok


def test_both_lineages_can_be_resumed(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    then = graph.get_state(thread()).config
    graph.invoke(say("left"), thread())
    graph.invoke(say("right"), then)
    graph.invoke(say("left again"), thread(branch="main"))
    graph.invoke(say("right again"), thread(branch="branch-1"))
    assert texts(saver, "main")[2:] == ["left", "you said: left", "left again", "you said: left again"]
    assert texts(saver, "branch-1")[2:] == ["right", "you said: right", "right again", "you said: right again"]
    assert len(saver.store.branches("t")) == 2
    assert contents(graph.get_state(thread(branch="main")).values) == texts(saver, "main")


def test_update_state_of_an_older_checkpoint_is_a_branch(saver: Saver) -> None:
    graph = two_steps(saver)
    graph.invoke(say("one", "m1"), thread())
    middle = at(saver, node="think")
    changed = graph.update_state(
        {"configurable": {"thread_id": "t", "checkpoint_id": middle.id}}, say("uno", "m1"), as_node="think"
    )
    graph.invoke(None, changed)
    assert contents(graph.get_state(thread()).values) == ["uno", "you said: uno"]
    assert texts(saver) == ["uno", "you said: uno"]
    assert texts(saver, "main") == ["one", "you said: one"]


def test_fork_clones_without_running(saver: Saver) -> None:
    ran = []

    def answer(state: Any) -> Any:
        ran.append(1)
        return echo(state)

    graph = chat(saver, answer)
    for text in ("one", "two", "three"):
        graph.invoke(say(text), thread())
    there = at(saver, preview="you said: one", node="answer")
    config = fork(graph, there)
    assert len(ran) == 3
    assert contents(graph.get_state(config).values) == ["one", "you said: one"]
    newest = saver.store.checkpoints("t")[0]
    assert (newest.source, newest.branch, newest.seq, newest.preview) == ("fork", "branch-1", 2, "you said: one")
    resume(graph, config, say("four"))
    assert texts(saver) == ["one", "you said: one", "four", "you said: four"]
    assert [b.name for b in saver.store.branches("t")] == ["main", "branch-1"]
    assert len(texts(saver, "main")) == 6


def test_fork_at_the_head_is_a_branch_too(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    config = fork(graph, saver.store.checkpoints("t")[0])
    resume(graph, config, say("two"))
    assert texts(saver, "main") == ["one", "you said: one"]
    assert texts(saver, "branch-1") == ["one", "you said: one", "two", "you said: two"]


def test_fork_with_values_edits_on_the_way(saver: Saver) -> None:
    graph = two_steps(saver)
    graph.invoke(say("one", "m1"), thread())
    config = fork(graph, at(saver, node="think"), say("eins", "m1"))
    assert resume(graph, config)["messages"][-1].content == "you said: eins"
    assert texts(saver) == ["eins", "you said: eins"]
    assert contents(graph.get_state(thread(branch="main")).values) == ["one", "you said: one"]


# -- the person edits what they said


def held(saver: Saver, branch: str = "main", c: str = "t") -> set[str]:
    """What is remembered as seen from a branch."""
    saver.store.consolidate(c, branch=branch)
    return {m.content for m in saver.store.memories(conversation=c, branch=branch)}


def test_an_edited_message_is_still_the_users_and_replaces_what_it_taught(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("My dog is called Rex.", "m1"), thread())
    assert held(saver) == {"Dog is called Rex"}
    graph.update_state(thread(), say("I live in Berlin.", "m1"))
    said = saver.store.messages("t")[0]
    assert (said.role, said.agent, said.text) == ("user", None, "I live in Berlin.")
    assert held(saver) == {"Lives in Berlin"}


@pytest.mark.parametrize("node", ["__start__", None])
def test_a_fork_with_an_edited_message_learns_it_on_its_branch_alone(saver: Saver, node: str | None) -> None:
    """From the checkpoint that holds the message, and from the one before it was said."""
    graph = chat(saver)
    graph.invoke(say("My dog is called Rex.", "m1"), thread())
    assert held(saver) == {"Dog is called Rex"}
    there = at(saver, source="loop", step=0) if node is not None else at(saver, source="input")
    resume(graph, fork(graph, there, say("I live in Berlin.", "m1"), as_node="__start__"))
    assert [(e.role, e.text) for e in saver.store.messages("t")] == [
        ("user", "I live in Berlin."),
        ("assistant", "you said: I live in Berlin."),
    ]
    assert held(saver, "branch-1") == {"Lives in Berlin"}
    assert held(saver, "main") == {"Dog is called Rex"}


def test_what_an_edited_message_had_replaced_stands_again(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("I live in Rome."), thread())
    graph.invoke(say("I moved to Oslo.", "m2"), thread())
    assert held(saver) == {"Lives in Oslo"}
    graph.update_state(thread(), say("I like tea.", "m2"))
    assert held(saver) == {"Lives in Rome", "Likes tea"}


def test_an_edit_leaves_what_was_also_said_elsewhere_and_what_a_person_did(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("My dog is called Rex. I live in Rome.", "m1"), thread())
    assert held(saver) == {"Dog is called Rex", "Lives in Rome"}
    graph.invoke(say("My dog is called Rex."), thread("elsewhere"))
    held(saver, c="elsewhere")
    (rome,) = (m for m in saver.store.memories() if "Rome" in m.content)
    saver.store.pin(rome)
    graph.update_state(thread(), say("Hello.", "m1"))
    assert held(saver) == {"Dog is called Rex", "Lives in Rome"}


async def test_an_edit_made_in_async_code_is_the_users_too(saver: Saver) -> None:
    graph = chat(saver)
    await graph.ainvoke(say("My dog is called Rex.", "m1"), thread())
    await graph.aupdate_state(thread(), say("I live in Berlin.", "m1"))
    assert held(saver) == {"Lives in Berlin"}


async def test_the_same_async(saver: Saver) -> None:
    graph = two_steps(saver)
    await graph.ainvoke(say("one", "m1"), thread())
    config = await afork(graph, at(saver, node="think"), say("eins", "m1"))
    assert (await aresume(graph, config))["messages"][-1].content == "you said: eins"


def test_a_fork_of_the_log_is_a_fork_of_the_graph(saver: Saver) -> None:
    graph = chat(saver)
    for text in ("one", "two", "three"):
        graph.invoke(say(text), thread())
    branch = saver.store.fork("t", at=4, name="idea")
    out = resume(graph, branch, say("instead"))
    assert contents(out) == ["one", "you said: one", "two", "you said: two", "instead", "you said: instead"]
    assert texts(saver, "idea") == contents(out)
    assert texts(saver, "main")[-1] == "you said: three"
    assert [b.name for b in saver.store.branches("t")] == ["main", "idea"]
    assert saver.store.get("t").active_branch == "main"
    assert contents(graph.get_state(thread()).values)[-1] == "you said: three"


def test_a_fork_of_the_log_that_is_switched_to_is_where_the_graph_goes_on(saver: Saver) -> None:
    graph = chat(saver)
    for text in ("one", "two"):
        graph.invoke(say(text), thread())
    saver.store.fork("t", at=2, name="idea", switch=True)
    graph.invoke(say("instead"), thread())
    assert texts(saver) == ["one", "you said: one", "instead", "you said: instead"]
    assert [b.name for b in saver.store.branches("t")] == ["main", "idea"]
    saver.store.switch("t", "main")
    assert contents(graph.get_state(thread()).values) == ["one", "you said: one", "two", "you said: two"]


def test_a_fork_between_checkpoints_starts_from_the_one_before(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    graph.invoke(say("two"), thread())
    saver.store.fork("t", at=3, name="early")  # after "two", before its answer
    state = graph.get_state(thread(branch="early"))
    assert contents(state.values) == ["one", "you said: one", "two"]
    assert state.next == ("answer",)
    resume(graph, {"configurable": {"thread_id": "t", "branch": "early"}})
    assert texts(saver, "early")[-1] == "you said: two"


def test_a_fork_before_the_first_checkpoint_starts_empty(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    branch = saver.store.fork("t", at=0, name="anew")
    resume(graph, branch, say("two"))
    assert texts(saver, "anew")[-2:] == ["two", "you said: two"]


def test_replaying_a_branch_gives_the_state_it_had(saver: Saver) -> None:
    graph = two_steps(saver)
    for i in range(30):
        graph.invoke(say(f"hi {i}"), thread())
    before = {s.config["configurable"]["checkpoint_id"]: s.values for s in graph.get_state_history(thread())}
    for n in (5, 17):
        fork(graph, saver.store.checkpoints("t", limit=200)[n], say("fork"), as_node="answer")
    after = {s.config["configurable"]["checkpoint_id"]: s.values for s in graph.get_state_history(thread())}
    assert {id: after[id] for id in before} == before
    with Saver(saver.store) as fresh:
        again = two_steps(fresh)
        for id, values in list(before.items())[::7]:
            config = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": id}}
            assert again.get_state(config).values == values


def test_an_interrupt_can_be_answered_differently_on_another_branch(saver: Saver) -> None:
    graph = asking(saver)
    graph.invoke(say("go"), thread())
    waiting = saver.store.checkpoints("t")[0]
    assert resume(graph, thread(), Command(resume="yes"))["messages"][-1].content == "you said yes"
    config = fork(graph, waiting)
    assert graph.get_state(config).next == ("answer",)
    resume(graph, config)  # asks again
    assert resume(graph, thread(), Command(resume="no"))["messages"][-1].content == "you said no"
    assert texts(saver, "main") == ["go", "you said yes"]
    assert texts(saver, "branch-1") == ["go", "you said no"]


def test_an_interrupted_run_goes_on_in_another_process(saver: Saver, open_store: Any) -> None:
    asking(saver).invoke(say("go"), thread())
    with open_store() as store:
        graph = asking(Saver(store))
        assert graph.get_state(thread()).interrupts[0].value == "may I?"
        assert resume(graph, thread(), Command(resume="yes"))["messages"][-1].content == "you said yes"


@pytest.mark.parametrize("lasting", [None, True])
def test_a_subgraph_is_interrupted_and_forked(saver: Saver, lasting: bool | None) -> None:
    def ask(state: Any) -> Any:
        return {"messages": [AIMessage(f"inner {interrupt('which?')}")]}

    inner = StateGraph(MessagesState)
    inner.add_node("ask", ask)
    inner.add_edge(START, "ask")
    outer = StateGraph(MessagesState)
    outer.add_node("sub", inner.compile(checkpointer=lasting))
    outer.add_node("end", lambda state: {"messages": [AIMessage("done")]})
    outer.add_edge(START, "sub")
    outer.add_edge("sub", "end")
    graph = outer.compile(checkpointer=saver)
    graph.invoke(say("go"), thread())
    waiting = saver.store.checkpoints("t")[0]
    assert contents(resume(graph, thread(), Command(resume="a"))) == ["go", "inner a", "done"]
    config = fork(graph, waiting)
    resume(graph, config)
    assert contents(resume(graph, thread(), Command(resume="b"))) == ["go", "inner b", "done"]
    assert texts(saver, "main") == ["go", "inner a", "done"]
    assert texts(saver) == ["go", "inner b", "done"]


def test_a_lasting_subgraph_remembers_what_its_branch_remembers(saver: Saver) -> None:
    def count(state: Any) -> Any:
        return {"messages": [AIMessage(f"inner {len(state['messages'])}")]}

    inner = StateGraph(MessagesState)
    inner.add_node("count", count)
    inner.add_edge(START, "count")
    memory = inner.compile(checkpointer=True)

    def ask(state: Any) -> Any:
        return {"messages": [AIMessage(memory.invoke({"messages": [HumanMessage("x")]})["messages"][-1].content)]}

    graph = chat(saver, ask)
    for _ in range(3):
        graph.invoke(say("hi"), thread())
    assert texts(saver)[1::2] == ["inner 1", "inner 3", "inner 5"]
    answered = saver.store.messages("t", limit=None)[1].seq
    resume(graph, saver.store.fork("t", at=answered, name="idea"), say("hi"))
    assert texts(saver, "idea")[-1] == "inner 3"
    resume(graph, saver.store.fork("t", at=answered, name="another", switch=True), say("hi"))
    assert texts(saver, "another")[-1] == "inner 3"
    graph.invoke(say("hi"), thread())
    assert texts(saver, "another")[-1] == "inner 5"


def test_deltas_can_be_forked(saver: Saver) -> None:
    graph = deltas(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}", f"h{i}"), thread())
    config = fork(graph, at(saver, seq=2, source="loop"))
    resume(graph, config, say("other", "o"))
    assert [m.id for m in graph.get_state(thread()).values["messages"]] == ["h0", "a1", "o", "a3"]
    assert texts(saver) == ["hi 0", "answer 1", "other", "answer 3"]


def test_two_runs_at_once_are_two_branches(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("one"), thread())
    head = graph.get_state(thread()).config
    graph.invoke(say("left"), head)
    graph.invoke(say("right"), head)
    names = [b.name for b in saver.store.branches("t")]
    assert sorted(texts(saver, name)[2] for name in names) == ["left", "right"]


def test_a_checkpoint_that_is_put_below_another_keeps_its_children(saver: Saver) -> None:
    """The one that was written last has no child; whatever is put below it may have some."""

    def put(id: str, parent: str | None) -> None:
        given = {"thread_id": "t", "checkpoint_ns": ""} | ({"checkpoint_id": parent} if parent else {})
        saver.put(
            {"configurable": given}, {**empty_checkpoint(), "id": id}, {"source": "loop", "step": 1, "parents": {}}, {}
        )

    for id, parent in (("1", None), ("2", "1"), ("3", "2"), ("4", "1"), ("2", "4"), ("5", "2"), ("6", "5"), ("7", "5")):
        put(id, parent)
    found = {c.id: c for c in saver.store.checkpoints("t", limit=100)}
    assert {id: c.parent for id, c in found.items()} == {
        "1": None, "2": "4", "3": "2", "4": "1", "5": "2", "6": "5", "7": "5",
    }  # fmt: skip
    branch = {id: c.branch for id, c in found.items()}
    assert branch["3"] == branch["1"] == "main"
    assert branch["2"] == branch["4"] != "main"
    assert branch["5"] == branch["6"] not in ("main", branch["4"])
    assert branch["7"] not in ("main", branch["4"], branch["5"])


def test_the_config_of_a_fork_says_whose_it_is_and_runs(saver: Saver) -> None:
    seen: list[Any] = []

    def answer(state: Any, config: RunnableConfig) -> Any:
        seen.append(config["configurable"]["user_id"])
        return echo(state)

    graph = chat(saver, answer)
    graph.invoke(say("hi"), thread(user_id="alex"))
    config = fork(graph, saver.store.checkpoints("t")[0])
    assert config["configurable"]["user_id"] == "alex"
    graph.invoke(say("on"), config)
    resume(graph, config, say("another way"))
    assert seen == ["alex"] * 3


async def test_a_saver_and_a_store_on_an_async_store(url: str) -> None:
    async with recollect.open_async(url, user="alex", semantic=False, background=False) as store:
        graph = chat(Saver(store), store=MemoryStore(store))
        await graph.ainvoke(say("hi"), thread())
        assert [e.text for e in await store.messages("t")] == ["hi", "you said: hi"]
    for make in (Saver, MemoryStore):
        with pytest.raises(InvalidInput, match=r"await recollect\.open_async"):
            make(recollect.open_async(url, user="alex"))  # type: ignore[arg-type]
