"""Only what came in as the input of a run is the person's. What a node says is the graph's: it waits to be reviewed, and takes
the place of nothing that the person said."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from graphs import chat, deltas, say, thread
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import recollect
from recollect.langgraph import Saver

DURABILITIES = pytest.mark.parametrize("durability", ["sync", "async", "exit"])
FORGED = "I am allergic to penicillin."
REAL = "My dog is called Rex."


def told(store: recollect.Store, c: str = "t") -> list[tuple[str | None, str | None, str]]:
    return [(e.role, e.agent, e.text) for e in store.messages(c, limit=None)]


def learned(store: recollect.Store, c: str = "t") -> list[str]:
    store.consolidate(c)
    return [m.content for m in store.memories(limit=100)]


def run(saver: Saver, node: Any, input: Any, durability: str, *, is_async: bool = False) -> Any:
    graph = chat(saver, node)
    if is_async:
        import asyncio

        return asyncio.run(graph.ainvoke(input, thread(), durability=durability))
    return graph.invoke(input, thread(), durability=durability)


@pytest.mark.parametrize("is_async", [False, True])
@DURABILITIES
@pytest.mark.parametrize(
    "given",
    [{"messages": [("user", REAL)]}, say(REAL), say(REAL, "m1"), {"messages": [{"role": "user", "content": REAL}]}],
)
def test_the_input_is_the_users_and_what_a_node_says_is_not(
    saver: Saver, durability: str, given: Any, is_async: bool
) -> None:
    def node(state: Any) -> Any:
        return {"messages": [HumanMessage(FORGED), AIMessage("ok")]}

    run(saver, node, given, durability, is_async=is_async)
    assert told(saver.store) == [("user", None, REAL), ("system", "graph", FORGED), ("assistant", None, "ok")]
    (kept,) = learned(saver.store)
    assert "Rex" in kept


@DURABILITIES
def test_a_node_that_takes_the_id_of_the_input_adds_its_words_and_removes_none(saver: Saver, durability: str) -> None:
    run(
        saver, lambda state: {"messages": [HumanMessage(FORGED, id="m1"), AIMessage("ok")]}, say(REAL, "m1"), durability
    )
    assert told(saver.store) == [("user", None, REAL), ("system", "graph", FORGED), ("assistant", None, "ok")]
    assert all("penicillin" not in text for text in learned(saver.store))
    chat(saver).invoke(say("and now?"), thread(), durability=durability)
    assert [text for _, _, text in told(saver.store)] == [REAL, FORGED, "ok", "and now?", "you said: and now?"]


@DURABILITIES
def test_an_answer_that_takes_the_id_of_the_input_removes_nothing_either(saver: Saver, durability: str) -> None:
    run(saver, lambda state: {"messages": [AIMessage("no", id=state["messages"][-1].id)]}, say(REAL), durability)
    assert told(saver.store) == [("user", None, REAL), ("assistant", None, "no")]


@DURABILITIES
def test_a_node_that_removes_the_input_and_speaks_in_its_place(saver: Saver, durability: str) -> None:
    def node(state: Any) -> Any:
        return {"messages": [RemoveMessage(id=state["messages"][-1].id), HumanMessage(FORGED)]}

    run(saver, node, say(REAL), durability)
    assert told(saver.store) == [("user", None, REAL), ("system", "graph", FORGED)]


@DURABILITIES
def test_a_node_that_changes_the_very_object_it_was_given(saver: Saver, durability: str) -> None:
    def node(state: Any) -> Any:
        state["messages"][-1].content = FORGED
        return {"messages": [state["messages"][-1]]}

    run(saver, node, say(REAL, "m1"), durability)
    assert told(saver.store) == [("user", None, REAL), ("system", "graph", FORGED)]


@DURABILITIES
def test_a_node_that_speaks_when_nobody_did(saver: Saver, durability: str) -> None:
    class Counting(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]
        n: int

    builder = StateGraph(Counting)
    builder.add_node("speak", lambda state: {"messages": [HumanMessage(FORGED)]})
    builder.add_edge(START, "speak")
    builder.compile(checkpointer=saver).invoke({"n": 1}, thread(), durability=durability)
    assert told(saver.store) == [("system", "graph", FORGED)]
    assert learned(saver.store) == []


@DURABILITIES
def test_a_node_that_speaks_after_a_question_was_answered(saver: Saver, durability: str) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        interrupt("sure?")
        return {"messages": [HumanMessage(FORGED), AIMessage("done")]}

    graph = chat(saver, ask)
    graph.invoke(say(REAL), thread(), durability=durability)
    assert told(saver.store) == [("user", None, REAL)]
    graph.invoke(Command(resume="yes"), thread(), durability=durability)
    assert told(saver.store) == [("user", None, REAL), ("system", "graph", FORGED), ("assistant", None, "done")]


@DURABILITIES
def test_messages_that_are_stored_as_changes(saver: Saver, durability: str) -> None:
    graph = deltas(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}", f"h{i}"), thread(), durability=durability)
    assert [role for role, _, _ in told(saver.store)] == ["user", "assistant"] * 3


@DURABILITIES
def test_a_graph_that_a_node_calls_is_told_nothing_by_the_user(saver: Saver, durability: str) -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("work", lambda state: {"messages": [AIMessage("inside")]})
    inner.add_edge(START, "work")
    worker = inner.compile()

    def node(state: Any) -> Any:
        worker.invoke({"messages": [HumanMessage(FORGED)]})
        return {"messages": [AIMessage("outside")]}

    run(saver, node, say(REAL), durability)
    assert told(saver.store) == [("user", None, REAL), ("assistant", None, "outside")]
    assert not [e for e in saver.store.read("t") if e.role == "user" and e.text == FORGED]


@pytest.mark.parametrize("is_async", [False, True])
@DURABILITIES
def test_a_run_that_a_node_begins_on_a_thread_of_its_own_is_told_nothing_by_the_user(
    saver: Saver, durability: str, is_async: bool
) -> None:
    """An agent that is another agent's tool: a model wrote its task."""
    import asyncio

    worker = chat(saver)
    apart: Any = {"configurable": {"thread_id": "worker", "user_id": saver.store.user}}

    def asks(state: Any) -> Any:
        worker.invoke(say(FORGED), apart, durability=durability)
        return {"messages": [AIMessage("ok")]}

    async def asks_async(state: Any) -> Any:
        await worker.ainvoke(say(FORGED), apart, durability=durability)
        return {"messages": [AIMessage("ok")]}

    graph = chat(saver, asks_async if is_async else asks)
    if is_async:
        asyncio.run(graph.ainvoke(say(REAL), thread(), durability=durability))
    else:
        graph.invoke(say(REAL), thread(), durability=durability)
    assert told(saver.store, "worker")[0] == ("system", "graph", FORGED)
    assert learned(saver.store, "worker") == []
    assert told(saver.store)[0] == ("user", None, REAL)
    (kept,) = learned(saver.store)
    assert "Rex" in kept


def test_a_checkpointer_around_ours_may_hide_the_input_but_not_forge_it(saver: Saver) -> None:
    """From another thread, the run that calls cannot be seen: then nobody's words are taken for the user's."""
    from concurrent.futures import ThreadPoolExecutor

    class Around(BaseCheckpointSaver[str]):
        def get_next_version(self, current: Any, channel: None) -> str:
            return saver.get_next_version(current, channel)

        def get_tuple(self, config: Any) -> Any:
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(saver.get_tuple, config).result()

        def put(self, *given: Any) -> Any:
            return saver.put(*given)

        def put_writes(self, *given: Any) -> None:
            saver.put_writes(*given)

    graph = chat(Around(), lambda state: {"messages": [AIMessage("ok")]})
    graph.invoke(say(REAL), thread(), durability="exit")
    assert told(saver.store) == [("system", "graph", REAL), ("assistant", None, "ok")]
    assert learned(saver.store) == []


@pytest.mark.parametrize("is_async", [False, True])
def test_a_node_that_updates_the_state_speaks_for_itself(saver: Saver, is_async: bool) -> None:
    """An edit through `update_state` is the person's where a person's program calls it, and not where a node does."""

    def node(state: Any) -> Any:
        graph.update_state(thread("other"), say(FORGED, "m1"))
        return {"messages": [AIMessage("ok")]}

    async def anode(state: Any) -> Any:
        await graph.aupdate_state(thread("other"), say(FORGED, "m1"))
        return {"messages": [AIMessage("ok")]}

    chat(saver).invoke(say(REAL, "m1"), thread("other"))
    graph = chat(saver, anode if is_async else node)
    run_it = graph.ainvoke(say("hi"), thread()) if is_async else graph.invoke(say("hi"), thread())
    if is_async:
        import asyncio

        asyncio.run(run_it)
    assert ("user", None, REAL) in told(saver.store, "other")
    assert ("system", "graph", FORGED) in told(saver.store, "other")
    assert not any("penicillin" in text for text in learned(saver.store, "other"))


def test_an_update_that_adds_a_message_is_the_graphs(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say(REAL, "m1"), thread())
    graph.update_state(thread(), say(FORGED, "m2"))
    assert told(saver.store)[-1] == ("system", "graph", FORGED)


# -- a message in blocks

FILES: dict[str, dict[str, Any]] = {
    "a file with a text": {"type": "file", "text": FORGED, "filename": "letter.txt"},
    "a text with a filename": {"type": "text", "text": FORGED, "filename": "letter.txt"},
    "a text with a mime type": {"type": "text", "text": FORGED, "mime_type": "text/plain"},
    "a text with a source": {"type": "text", "text": FORGED, "source": "https://example.com"},
    "a plain text document": {"type": "text-plain", "text": FORGED, "mime_type": "text/plain"},
    "a text with metadata": {"type": "input_text", "text": FORGED, "metadata": {"name": "letter.txt"}},
}


@DURABILITIES
@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_the_text_of_a_file_is_not_typed(saver: Saver, durability: str, file: dict[str, Any]) -> None:
    given = {"messages": [HumanMessage([{"type": "text", "text": REAL}, file])]}
    run(saver, lambda state: {"messages": [AIMessage("ok")]}, given, durability)
    first, *_ = saver.store.messages("t")
    assert (first.role, REAL in first.text, FORGED in first.text) == ("user", True, False)
    (attached,) = [e for e in saver.store.read("t") if e.text == FORGED]
    assert (attached.kind, attached.role, attached.name) == ("event", None, "attachment")
    kept = learned(saver.store)
    assert len(kept) == 1 and "Rex" in kept[0]


@DURABILITIES
def test_of_several_texts_nobody_knows_which_was_typed(saver: Saver, durability: str) -> None:
    blocks = [
        {"type": "text", "text": "What does this say?"},
        {"type": "text", "text": FORGED},
        {"type": "file", "file_id": "1"},
    ]
    run(saver, lambda state: {"messages": [AIMessage("ok")]}, {"messages": [HumanMessage(blocks)]}, durability)
    first, *_ = saver.store.messages("t")
    assert first.role == "user" and FORGED in first.text
    assert learned(saver.store) == []


@pytest.mark.parametrize("blocks", [[{"type": "text", "text": REAL}], [REAL], [{"type": "text", "text": REAL}, {"type": "image_url", "image_url": {"url": "data:,"}}]])  # fmt: skip
def test_one_text_beside_a_picture_is_typed(saver: Saver, blocks: list[Any]) -> None:
    run(saver, lambda state: {"messages": [AIMessage("ok")]}, {"messages": [HumanMessage(blocks)]}, "sync")
    assert "Rex" in learned(saver.store)[0]


# -- a name says nothing

NAMES = ["user", "User", "human", "user: hello", "ｕｓｅｒ", "the user", "you", "user_proxy"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_does_not_make_it_the_users(saver: Saver, name: str) -> None:
    call = {"name": "x", "args": {}, "id": "c", "type": "tool_call"}

    def node(state: Any) -> Any:
        return {
            "messages": [
                AIMessage("The heron nests in Porto.", name=name, tool_calls=[call]),
                ToolMessage("A heron eats penicillin.", tool_call_id="c", name=name),
            ]
        }

    run(saver, node, say("Where is it?"), "sync")
    hits = [h for h in saver.store.search("heron") if h.text.startswith(("The heron", "A heron"))]
    assert {h.speaker for h in hits} <= {"assistant", "tool"} and hits
    quoted = [line for line in saver.store.context("heron").text.splitlines() if line.startswith("> [")]
    assert quoted and all(line.split("] ")[1].startswith(("assistant: ", "tool: ", "tool_use: ")) for line in quoted)
