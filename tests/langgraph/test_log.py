"""What a graph says comes into the log, once, with whose words it is, in the transaction of its checkpoint."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import pytest
from graphs import chat, deltas, echo, say, thread
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import recollect
from recollect.checkpoints import upkeep
from recollect.langgraph import Saver


class Plain(TypedDict):
    messages: Annotated[list[Any], operator.add]


class Two(TypedDict):
    talk: Annotated[list[AnyMessage], add_messages]
    messages: Annotated[list[AnyMessage], add_messages]


class Shown(MessagesState):
    shown: int


SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def said(store: recollect.Store, c: str = "t", **which: Any) -> list[tuple[str | None, str]]:
    return [(e.role, e.text) for e in store.messages(c, limit=None, **which)]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_chat_is_in_the_log_once(saver: Saver, durability: str) -> None:
    graph = chat(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}"), thread(), durability=durability)
    expected = [pair for i in range(3) for pair in (("user", f"hi {i}"), ("assistant", f"you said: hi {i}"))]
    assert said(saver.store) == expected
    assert [e.kind for e in saver.store.read("t")] == ["message"] * 6
    assert saver.store.verify().ok


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_person_says_is_there_once_when_a_subgraph_asks_back(saver: Saver, durability: str) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"you said {interrupt('sure?')}")]}

    inner = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile()
    graph = StateGraph(MessagesState).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)
    graph.invoke(say("Book it"), thread(), durability=durability)
    assert [(e.kind, e.role, e.agent, e.text) for e in saver.store.read("t")] == [("message", "user", None, "Book it")]
    graph.invoke(Command(resume="yes"), thread(), durability=durability)
    assert said(saver.store) == [("user", "Book it"), ("assistant", "you said yes")]


async def test_the_same_async(saver: Saver) -> None:
    graph = chat(saver)
    for i in range(2):
        await graph.ainvoke(say(f"hi {i}"), thread())
    assert [text for _, text in said(saver.store)] == ["hi 0", "you said: hi 0", "hi 1", "you said: hi 1"]


def test_the_conversation_is_in_the_registry(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("Plan a trip to Lisbon"), thread("trip"))
    (c,) = saver.store.conversations()
    assert (c.id, c.title) == ("trip", "Plan a trip to Lisbon")
    assert c.checkpoint == graph.get_state(thread("trip")).config["configurable"]["checkpoint_id"]


def test_a_conversation_that_is_there_is_used(saver: Saver) -> None:
    saver.store.create("t", title="Mine", workspace="/w")
    chat(saver).invoke(say("hi"), thread())
    c = saver.store.get("t")
    assert (c.title, c.workspace, c.last_seq) == ("Mine", "/w", 2)


def test_what_was_said_can_be_searched(saver: Saver) -> None:
    chat(saver).invoke(say("the heron stands in the reeds"), thread())
    assert [h.conversation_id for h in saver.store.search("heron")] == ["t", "t"]


@pytest.mark.parametrize("given", [[("user", "hi")], [{"role": "user", "content": "hi"}], "hi", ["hi"]])
def test_input_in_any_form_is_the_persons_own(saver: Saver, given: Any) -> None:
    chat(saver).invoke({"messages": given}, thread())
    assert said(saver.store)[0] == ("user", "hi")


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_what_a_graph_puts_into_a_persons_mouth_is_not_theirs(saver: Saver, durability: str) -> None:
    def summarizing(state: Any) -> Any:
        return {"messages": [AIMessage("ok"), HumanMessage("Summary: they like herons")]}

    chat(saver, summarizing).invoke(say("hi"), thread(), durability=durability)
    events = saver.store.messages("t")
    assert [(e.role, e.agent) for e in events] == [("user", None), ("assistant", None), ("system", "graph")]


def test_a_person_who_repeats_themselves_is_heard_twice(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("again"), thread())
    graph.invoke(say("again"), thread())
    assert [t for r, t in said(saver.store) if r == "user"] == ["again", "again"]


def test_messages_without_ids_are_told_apart_by_their_place(saver: Saver) -> None:
    builder = StateGraph(Plain)
    builder.add_node("answer", lambda state: {"messages": [AIMessage("yes")]})
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=saver)
    for _ in range(2):
        graph.invoke({"messages": [HumanMessage("again?")]}, thread())
    assert said(saver.store) == [("user", "again?"), ("assistant", "yes")] * 2


def test_tools_are_tool_events(saver: Saver) -> None:
    def calling(state: Any) -> Any:
        call = {"name": "weather", "args": {"city": "Porto"}, "id": "call-1", "type": "tool_call"}
        return {
            "messages": [
                AIMessage("", tool_calls=[call]),
                ToolMessage("sunny", tool_call_id="call-1"),
                AIMessage("It is sunny."),
            ]
        }

    graph = chat(saver, calling)
    graph.invoke(say("weather?"), thread())
    events = saver.store.read("t")
    assert [(e.kind, e.tool, e.text) for e in events] == [
        ("message", None, "weather?"),
        ("tool_use", "weather", '{"city": "Porto"}'),
        ("tool_result", "weather", "sunny"),
        ("message", None, "It is sunny."),
    ]
    assert events[1].payload == events[2].payload == {"tool_call_id": "call-1"}
    assert len(saver.store.messages("t")) == 2


def test_a_message_that_is_changed_stands_in_its_place(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("first", "m1"), thread())
    graph.update_state(thread(), say("first, corrected", "m1"))
    graph.invoke(say("second"), thread())
    assert [t for _, t in said(saver.store)] == ["first, corrected", "you said: first", "second", "you said: second"]
    assert [e.text for e in saver.store.read("t")][:3] == ["first", "you said: first", "first, corrected"]
    assert saver.store.read("t")[2].message == 1
    assert [t for _, t in said(saver.store)][-2:] == [e.text for e in saver.store.messages("t", limit=2)]


def test_a_message_that_vanishes_stays_in_the_log(saver: Saver) -> None:
    def trimming(state: Any) -> Any:
        return {"messages": [*(RemoveMessage(id=m.id) for m in state["messages"][:-1]), AIMessage("short")]}

    graph = chat(saver, trimming)
    graph.invoke(say("one"), thread())
    graph.invoke(say("two"), thread())
    assert [t for _, t in said(saver.store)] == ["one", "short", "two", "short"]
    assert [m.content for m in graph.get_state(thread()).values["messages"]] == ["two", "short"]


def test_a_deleted_event_does_not_come_back(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("private"), thread())
    saver.store.delete_event("t", 1)
    graph.invoke(say("next"), thread())
    assert "private" not in [t for _, t in said(saver.store)]


def test_thoughts_become_a_trace(saver: Saver) -> None:
    def thinking(state: Any) -> Any:
        content = [{"type": "thinking", "thinking": "hmm", "signature": "s"}, {"type": "text", "text": "Yes."}]
        usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}
        return {"messages": [AIMessage(content, usage_metadata=usage, response_metadata={"model_name": "m-1"})]}

    chat(saver, thinking).invoke(say("?"), thread())
    answer = saver.store.messages("t", include_reasoning=True)[-1]
    assert (answer.text, answer.reasoning, answer.model) == ("Yes.", "hmm", "m-1")
    assert (answer.input_tokens, answer.output_tokens) == (3, 5)


def test_a_system_message_is_the_systems(saver: Saver) -> None:
    chat(saver).invoke({"messages": [SystemMessage("Be brief."), HumanMessage("hi")]}, thread())
    assert said(saver.store)[:2] == [("system", "Be brief."), ("user", "hi")]


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_messages_stored_as_changes_come_into_the_log_too(saver: Saver, durability: str) -> None:
    graph = deltas(saver)
    for i in range(3):
        graph.invoke(say(f"hi {i}", f"h{i}"), thread(), durability=durability)
    expected = [pair for i in range(3) for pair in (("user", f"hi {i}"), ("assistant", f"answer {2 * i + 1}"))]
    assert said(saver.store) == expected


def test_other_channels_by_setting(url: str) -> None:
    builder = StateGraph(Two)
    builder.add_node("answer", lambda state: {"talk": [AIMessage("heard")], "messages": [AIMessage("not heard")]})
    builder.add_edge(START, "answer")
    with Saver(url, user="alex", semantic=False, message_channels=("talk",)) as saver:
        builder.compile(checkpointer=saver).invoke({"talk": [HumanMessage("hi")]}, thread())
        assert said(saver.store) == [("user", "hi"), ("assistant", "heard")]


def test_a_subgraphs_messages_are_its_own(saver: Saver) -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("work", lambda state: {"messages": [AIMessage("inside", id="in")]})
    inner.add_edge(START, "work")
    worker = inner.compile()

    def ask(state: Any) -> Any:
        worker.invoke({"messages": [HumanMessage("task", id="task")]})
        return {"messages": [AIMessage("outside")]}

    graph = chat(saver, ask)
    graph.invoke(say("hi"), thread())
    assert said(saver.store) == [("user", "hi"), ("assistant", "outside")]
    inside = [e for e in saver.store.read("t") if e.kind != "message"]
    assert {e.text for e in inside} == {"task", "inside"}
    assert all(e.agent and e.agent.startswith("answer:") for e in inside)


def test_a_subgraphs_message_that_reaches_the_graph_is_shown_once(saver: Saver) -> None:
    inner = StateGraph(MessagesState)
    inner.add_node("work", echo)
    inner.add_edge(START, "work")
    builder = StateGraph(MessagesState)
    builder.add_node("sub", inner.compile())
    builder.add_edge(START, "sub")
    builder.compile(checkpointer=saver).invoke(say("hi"), thread())
    assert said(saver.store) == [("user", "hi"), ("assistant", "you said: hi")]


# -- redaction


def test_no_secret_is_in_state_or_log(saver: Saver, raw: Any) -> None:
    graph = chat(saver)
    graph.invoke(say(f"use {SECRET}"), thread())
    assert [m.content for m in graph.get_state(thread()).values["messages"]] == [
        "use [redacted:github-token]",
        "you said: use [redacted:github-token]",
    ]
    assert "sensitive" in saver.store.read("t")[0].tags
    for row in raw("select type, data from checkpoint_pieces") + raw("select type, data from checkpoint_writes"):
        assert SECRET.encode() not in bytes(row[1])


def test_a_running_graph_keeps_what_it_was_given(saver: Saver) -> None:
    seen = []

    def node(state: Any) -> Any:
        seen.append(state["messages"][-1].content)
        return {"messages": [AIMessage("ok")]}

    message = HumanMessage(f"use {SECRET}")
    chat(saver, node).invoke({"messages": [message]}, thread())
    assert seen == [f"use {SECRET}"]
    assert message.content == f"use {SECRET}"


def test_tool_arguments_stay_for_the_graph_and_go_from_the_log(saver: Saver) -> None:
    call = {"name": "login", "args": {"token": SECRET}, "id": "c", "type": "tool_call"}
    graph = chat(saver, lambda state: {"messages": [AIMessage("", tool_calls=[call])]})
    graph.invoke(say("log in"), thread())
    assert graph.get_state(thread()).values["messages"][-1].tool_calls[0]["args"] == {"token": SECRET}
    assert SECRET not in saver.store.read("t")[-1].text


@pytest.mark.parametrize(("mode", "text", "args"), [("all", False, False), ("none", True, True)])
def test_all_or_nothing_by_setting(url: str, mode: str, text: bool, args: bool) -> None:
    call = {"name": "login", "args": {"token": SECRET}, "id": "c", "type": "tool_call"}
    with Saver(url, user="alex", semantic=False, redact_state=mode) as saver:
        graph = chat(saver, lambda state: {"messages": [AIMessage("", tool_calls=[call])]})
        graph.invoke(say(f"use {SECRET}"), thread())
        first, last = graph.get_state(thread()).values["messages"]
        assert (SECRET in first.content) is text
        assert (SECRET in str(last.tool_calls[0]["args"])) is args
        assert all(SECRET not in e.text for e in saver.store.read("t"))


def test_a_key_in_a_config_does_not_reach_the_metadata(saver: Saver) -> None:
    graph = chat(saver)
    graph.invoke(say("hi"), thread(api_key=SECRET, note="fine"))
    metadata = graph.get_state(thread()).metadata
    assert SECRET not in str(metadata)
    assert metadata["note"] == "fine"


# -- encrypted state


class Reversing:
    """A cipher for tests: not safe, but nothing is readable in what it writes."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "reversed", bytes(b ^ 0x5A for b in reversed(plaintext))

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "reversed"
        return bytes(b ^ 0x5A for b in reversed(ciphertext))


@pytest.mark.parametrize("logged", [False, True])
def test_encrypted_state_is_opaque_and_its_messages_are_logged_by_setting(url: str, raw: Any, logged: bool) -> None:
    serde = EncryptedSerializer(Reversing())
    with Saver(url, user="alex", semantic=False, serde=serde, log_encrypted_state=logged) as saver:
        graph = chat(saver)
        for _ in range(20):
            graph.invoke(say("the heron stands in the reeds, and it is quite a long sentence" * 3), thread())
        assert len(graph.get_state(thread()).values["messages"]) == 40
        assert len(saver.store.read("t", kinds=["message"])) == (40 if logged else 0)
        for table in ("checkpoint_pieces", "checkpoint_writes"):
            for type, data in raw(f"select type, data from {table}"):
                assert b"heron" not in bytes(data), type


# -- what is stored already


def test_scan_finds_and_mends_what_was_stored_unredacted(url: str, raw: Any) -> None:
    with Saver(url, user="alex", semantic=False, background=False, redact=False) as open_gate:
        graph = chat(open_gate)
        for i in range(14):
            graph.invoke(say(f"use {SECRET} in turn {i}, and some more words to make it long"), thread(api_key=SECRET))
        fork_point = list(graph.get_state_history(thread()))[20].config
        graph.invoke(say("elsewhere"), fork_point)
    with Saver(url, user="alex", semantic=False, background=False) as saver:
        assert saver.scan()
        assert saver.store.scan(fix=True).places
        assert saver.scan(fix=True)
        assert saver.scan() == []
        assert saver.store.verify().ok
        graph = chat(saver)
        for branch in ("main", "branch-1"):
            said = graph.get_state(thread(branch=branch)).values["messages"]
            assert said[0].content.startswith("use [redacted:github-token] in turn 0")
        assert SECRET not in str(list(saver.list(None)))
        for table in ("checkpoint_pieces", "checkpoint_writes"):
            for (data,) in raw(f"select data from {table}"):
                assert SECRET.encode() not in bytes(data)
        graph.invoke(say("on"), thread())
        assert len(graph.get_state(thread()).values["messages"]) == len(said) + 2


@pytest.mark.parametrize("at", ["think", "answer"])
@pytest.mark.parametrize("gate", [{"redact_state": "none"}, {"redact": False}])
def test_a_run_goes_on_when_what_it_goes_on_from_is_mended_meanwhile(url: str, gate: dict[str, Any], at: str) -> None:
    """A run knows what its last checkpoint shares with the next one. Another handle puts something else there and sweeps."""
    builder = StateGraph(Shown)

    def node(name: str, answer: Any) -> Any:
        def run(state: Any) -> Any:
            if name == at and state["messages"][-1].content == "go":
                with Saver(url, user="alex", semantic=False, background=False, summaries=False) as other:
                    assert other.scan(fix=True)
                    other.store.settle()
            return answer(state)

        return run

    builder.add_node("think", node("think", lambda state: {"shown": state["shown"] + 1}))
    builder.add_node("answer", node("answer", echo))
    builder.add_edge(START, "think")
    builder.add_edge("think", "answer")
    gate = {"user": "alex", "semantic": False, "background": False, "summaries": False, **gate}
    turns = [f"use {SECRET} in turn {i}" for i in range(14)]
    with Saver(url, **gate) as saver:
        graph = builder.compile(checkpointer=saver)
        for turn in turns:
            graph.invoke({"shown": 0, **say(turn)}, thread(), durability="sync")
        graph.invoke(say("go"), thread(), durability="sync")
    with Saver(url, **gate) as saver:
        assert saver.store.verify().problems == ()
        state = builder.compile(checkpointer=saver).get_state(thread()).values["messages"]
        assert [m.content for m in state[-2:]] == ["go", "you said: go"]
        assert len(state) == 30
        assert [role for role, _ in said(saver.store)] == ["user", "assistant"] * 15


def test_a_write_that_comes_while_its_neighbour_is_mended_stays_as_it_is(url: str, monkeypatch: Any) -> None:
    """What is mended was read a moment before: other tasks of the run may have written since, or their writes may be gone."""
    with Saver(url, user="alex", semantic=False, background=False, redact=False) as saver:
        config = saver.put(
            {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {"source": "input", "step": -1}, {}
        )  # fmt: skip
        for task in ("b", "c"):
            saver.put_writes(config, [("messages", [HumanMessage(f"{task} uses {SECRET}")])], task)
        rewrite = upkeep.rewrite

        def late(tx: Any, *rest: Any) -> None:
            tx.run("delete from checkpoint_writes where user_no = :user and task_id = 'c'")
            rewrite(tx, *rest)

        with Saver(url, user="alex", semantic=False, background=False) as other:
            real = other._cleaned

            def slow(*given: Any) -> Any:
                found = real(*given)
                saver.put_writes(config, [("messages", [AIMessage("first")])], "a")
                return found

            monkeypatch.setattr(other, "_cleaned", slow)
            monkeypatch.setattr(upkeep, "rewrite", late)
            assert other.scan(fix=True)
        found = saver.get_tuple(config)
        assert found is not None and found.pending_writes is not None
        assert [(task, value[0].content) for task, _, value in found.pending_writes] == [
            ("a", "first"),
            ("b", "b uses [redacted:github-token]"),
        ]
        assert saver.store.verify().ok


@pytest.mark.parametrize("backend", ["sqlite"])
def test_the_command_scan_looks_into_state(url: str) -> None:
    import subprocess
    import sys

    with Saver(url, user="local", semantic=False, background=False, redact=False) as saver:
        call = {"name": "x", "args": {}, "id": "c", "type": "tool_call"}
        node = lambda state: {"messages": [AIMessage("", tool_calls=[call])]}  # noqa: E731
        chat(saver, node).invoke(say(f"use {SECRET}"), thread())
    for words, code in ((["scan"], 7), (["scan", "--fix", "--yes"], 0), (["scan"], 0)):
        done = subprocess.run(
            [sys.executable, "-m", "recollect.cli", *words, "-d", url], capture_output=True, text=True
        )
        assert done.returncode == code, done.stdout + done.stderr
    with open(url, "rb") as f:
        assert SECRET.encode() not in f.read()


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_memory_knows_the_checkpoint_in_which_it_was_said(saver: Saver, durability: str) -> None:
    store, graph = saver.store, chat(saver)
    for text in ("My dog is called Rex.", "I live in Porto."):
        graph.invoke(say(text), thread(), durability=durability)
    store.append("t", role="user", text="I like tea.")  # by another door, and no graph was there
    store.consolidate("t")
    found = {m.content: m.provenance.checkpoint_id for m in store.memories()}
    assert found["Likes tea"] == "event:5"
    for content, said in (("Dog is called Rex", "My dog is called Rex."), ("Lives in Porto", "I live in Porto.")):
        holding = [
            s.config["configurable"]["checkpoint_id"]
            for s in graph.get_state_history(thread())
            if said in [m.content for m in s.values.get("messages", [])]
        ]
        assert found[content] == holding[-1], "the first that holds it"
    by_hand = store.remember("Rex is a terrier", source="t:1")
    assert by_hand.provenance.checkpoint_id == found["Dog is called Rex"]


def test_a_memory_of_a_fork_knows_the_checkpoint_of_its_branch(saver: Saver) -> None:
    from recollect.langgraph import fork, resume

    store, graph = saver.store, chat(saver)
    graph.invoke(say("hello"), thread())
    resume(graph, fork(graph, store.checkpoints("t")[0]), say("I live in Porto."))
    store.consolidate("t")
    (memory,) = store.memories()
    (said,) = [c for c in store.checkpoints("t") if c.id == memory.provenance.checkpoint_id]
    assert (said.branch, said.preview) == ("branch-1", "I live in Porto.")
