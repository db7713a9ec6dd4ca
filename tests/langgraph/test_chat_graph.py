"""The ready agent: it recalls, answers, records; with a model and without."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage
from scripted import call, scripted

import recollect
from recollect import ids
from recollect.errors import HostNotAllowed, InvalidInput, ModelFailed, Refused
from recollect.langgraph import Saver, aask, ask, chat_graph, fork, resume
from recollect.model import MAIN
from recollect.search import fence
from talk import Open, texts


def say(graph: Any, conversation: str, text: str, **kw: Any) -> str:
    return "".join(ask(graph, conversation, text, **kw))


@pytest.fixture
def memory(open_store: Open) -> recollect.Store:
    return open_store(memory_extract=True, background=False)


def test_what_is_said_in_one_conversation_is_known_in_the_next(memory: recollect.Store) -> None:
    graph = chat_graph(store=memory)
    assert say(graph, "monday", "Remember I prefer dark mode") == "Noted: Prefers dark mode."
    assert "Prefers dark mode" in say(graph, "tuesday", "What are my preferences?")


def test_the_answer_comes_in_pieces_and_everything_is_recorded(memory: recollect.Store) -> None:
    graph = chat_graph(store=memory)
    pieces = list(ask(graph, "c", "Remember I prefer dark mode"))
    assert len(pieces) > 2
    said = memory.read("c")
    assert [(e.role, e.text) for e in said] == [
        ("user", "Remember I prefer dark mode"), ("assistant", "Noted: Prefers dark mode."),
    ]  # fmt: skip
    assert said[1].model == "recollect-offline"
    assert memory.get("c").title == "Remember I prefer dark mode"
    assert memory.checkpoints("c")


async def test_async_code_asks_the_same(memory: recollect.Store) -> None:
    graph = chat_graph(store=memory)
    assert [p async for p in aask(graph, "a", "Remember I prefer dark mode")]
    said = "".join([p async for p in aask(graph, "b", "What are my preferences?")])
    assert "Prefers dark mode" in said
    assert len(memory.messages("b")) == 2


def test_what_expires_beside_something_pinned_is_in_no_state_either(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events went, and every checkpoint still said them."""
    store = open_store(background=False, retention_application_days=1)
    graph = chat_graph(store=store)
    say(graph, "c", "My dog is called Zebedee")
    say(graph, "c", "Keep this one")
    store.pin("c:3")
    later = ids.now() + 2 * ids.DAY_MS
    monkeypatch.setattr(ids, "now", lambda: later)
    assert store.retain().kept == 1
    assert texts(store.read("c")) == ["Keep this one"]
    assert store.checkpoints("c") == []
    assert graph.get_state({"configurable": {"thread_id": "c"}}).values == {}
    say(graph, "c", "And now?")
    assert store.verify().ok


def test_what_another_door_recorded_is_shown_at_every_turn(open_store: Open) -> None:
    """At the second turn it was forgotten; what the application took out of the state does not come back by it."""
    store = open_store(background=False)
    store.append(store.create("c"), role="user", text="I keep bees.")
    store.append("c", role="assistant", text="How many hives?")
    model = scripted("Fine.", "Fine.", "Fine.")
    graph = chat_graph(model, store=store, max_messages=6, budget=0, tools=[])
    config = {"configurable": {"thread_id": "c"}}
    for asked in ("Three.", "Two of them swarmed.", "What now?"):
        say(graph, "c", asked)
        if asked.startswith("Two"):
            first = graph.get_state(config).values["messages"][0]
            graph.update_state(config, {"messages": [RemoveMessage(id=first.id)]})
    shown = [[str(m.content) for m in call if not isinstance(m, SystemMessage)] for call in model.shown]
    recorded = ["I keep bees.", "How many hives?"]
    assert shown[0] == [*recorded, "Three."]
    assert shown[1] == [*recorded, "Three.", "Fine.", "Two of them swarmed."]
    assert shown[2] == [*recorded, "Fine.", "Two of them swarmed.", "Fine.", "What now?"]


def test_a_graph_that_goes_on_with_what_another_door_recorded_is_shown_its_summary(open_store: Open) -> None:
    """It was left out where more messages stood behind it than the model sees, and a caller's own remark of that kind was
    taken for it."""
    store = open_store(background=False, summary_threshold=6, summary_keep_recent=4)
    for n in range(4):
        store.append(store.create("c") if n == 0 else "c", role="user", text=f"question {n}")
        store.append("c", role="assistant", text=f"answer {n}")
    store.settle()
    store.append("c", kind="summary", text="of a meeting")
    model = scripted("Fine.", "Fine.", "Fine.")
    graph = chat_graph(model, store=store, max_messages=2, budget=0, tools=[])
    for asked in ("And now?", "And then?", "And after that?"):
        say(graph, "c", asked)
    for shown, before in ((model.shown[0], ["question 3", "answer 3"]), (model.shown[2], ["And then?", "Fine."])):
        _, summary, *said = (str(m.content) for m in shown)
        assert summary.startswith("Summary of what was said before:")
        assert "question 0" in summary
        assert said[:-1] == before


def test_a_model_is_shown_the_evidence_as_data_and_the_question_last(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted("Use the dark one.")
    assert say(chat_graph(model, store=memory), "new", "Which mode do I prefer?") == "Use the dark one."
    system, data, asked = model.shown[0]
    assert system.type == "system"
    assert fence.is_ours(str(data.content))
    assert "Prefers dark mode" in str(data.content)
    assert asked.content == "Which mode do I prefer?"
    assert texts(memory.messages("new")) == ["Which mode do I prefer?", "Use the dark one."]


def test_evidence_is_in_no_checkpoint(memory: recollect.Store) -> None:
    """What is erased in one conversation must not live on in another's state."""
    memory.append(memory.create("old"), role="user", text="The Zephyr budget is 4711 crowns")
    model = scripted("I see.")
    graph = chat_graph(model, store=memory)
    say(graph, "new", "What about the Zephyr budget?")
    assert any("4711" in m.text for m in model.shown[0])
    stored = list(Saver(memory).list({"configurable": {"thread_id": "new"}}))
    assert any("What about the Zephyr budget?" in repr(one) for one in stored)
    assert not any("4711" in repr(one) for one in stored)
    assert "recalled" not in graph.get_state({"configurable": {"thread_id": "new"}}).values


def test_injection_can_be_switched_off_for_an_answer(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted("Dark.", "I do not know.")
    graph = chat_graph(model, store=memory)
    say(graph, "one", "Which mode do I prefer?")
    say(graph, "two", "Which mode do I prefer?", inject=False)
    assert [len(shown) for shown in model.shown] == [3, 2]
    offline = chat_graph(store=memory)
    assert "dark" not in say(offline, "three", "What are my preferences?", inject=False)


def test_a_model_sees_the_conversation_so_far(memory: recollect.Store) -> None:
    model = scripted("one", "two")
    graph = chat_graph(model, store=memory, budget=0)
    say(graph, "c", "first")
    say(graph, "c", "second")
    assert [m.content for m in model.shown[1]][1:] == ["first", "one", "second"]


def test_a_conversation_that_was_recorded_through_another_door_is_seen_too(memory: recollect.Store) -> None:
    c = memory.create("c")
    memory.append(c, role="user", text="We go to Porto")
    memory.append(c, role="assistant", text="Nice.")
    model = scripted("To Porto.")
    say(chat_graph(model, store=memory, budget=0), "c", "Where do we go?")
    assert [m.content for m in model.shown[0]][1:] == ["We go to Porto", "Nice.", "Where do we go?"]
    assert texts(memory.messages("c")) == ["We go to Porto", "Nice.", "Where do we go?", "To Porto."]


def test_a_long_conversation_is_shown_in_part(memory: recollect.Store) -> None:
    model = scripted(*(f"answer {i}" for i in range(6)))
    graph = chat_graph(model, store=memory, budget=0, max_messages=3)
    for i in range(6):
        say(graph, "c", f"question {i}")
    assert [m.content for m in model.shown[-1]][1:] == ["answer 3", "question 4", "answer 4", "question 5"]
    assert len(memory.messages("c", limit=None)) == 12


def test_a_model_uses_its_memory_by_a_tool(memory: recollect.Store) -> None:
    memory.append(memory.create("old"), role="user", text="Remember I prefer dark mode")
    model = scripted(call("MemorySearch", query="mode"), "You prefer dark mode.")
    assert say(chat_graph(model, store=memory, budget=0), "c", "Which one?") == "You prefer dark mode."
    assert model.tools == ["MemorySearch"]
    assert [e.kind for e in memory.read("c")] == ["message", "tool_use", "tool_result", "message"]
    assert "Prefers dark mode" in memory.read("c", kinds=["tool_result"])[0].text


def test_a_model_that_never_stops_calling_tools_is_made_to_answer(memory: recollect.Store) -> None:
    model = scripted(*(call("MemorySearch", f"call-{i}", query="mode") for i in range(5)), "Enough.")
    assert say(chat_graph(model, store=memory, budget=0), "c", "Which one?") == "Enough."


def test_a_model_that_knows_no_tools_answers_without(memory: recollect.Store) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    model = GenericFakeChatModel(messages=iter([AIMessage("Hello there.")]))
    assert say(chat_graph(model, store=memory), "c", "Hi") == "Hello there."


def test_what_was_said_survives_a_model_that_dies_in_the_middle(memory: recollect.Store) -> None:
    graph = chat_graph(scripted("It is DIES", "It is dark."), store=memory)
    got: list[str] = []
    with pytest.raises(ModelFailed, match="ConnectionError"):
        for piece in ask(graph, "c", "Which mode do I prefer?"):
            got.append(piece)
    assert "".join(got) == "It is "
    said = memory.read("c")
    assert [(e.kind, e.role) for e in said] == [("message", "user"), ("error", None)]
    assert said[1].payload == {"partial": "It is "}
    assert "server went away" not in said[1].text
    assert resume(graph, {"configurable": {"thread_id": "c"}})["messages"][-1].text == "It is dark."
    assert [e.role for e in memory.messages("c")] == ["user", "assistant"]


def test_the_conversation_goes_on_after_a_failure(memory: recollect.Store) -> None:
    graph = chat_graph(scripted(TimeoutError("slow"), "Hello."), store=memory, budget=0)
    with pytest.raises(ModelFailed):
        say(graph, "c", "Hi")
    assert say(graph, "c", "Hi again") == "Hello."


def test_a_tool_that_breaks_is_written_down_and_its_call_is_not_shown_again(memory: recollect.Store) -> None:
    from langchain_core.tools import tool

    @tool
    def explode() -> str:
        """Breaks."""
        raise OSError("the private words of an exception")

    model = scripted(call("explode"), "Never mind.")
    graph = chat_graph(model, store=memory, tools=[explode], budget=0)
    with pytest.raises(OSError, match="private"):
        say(graph, "c", "Do it")
    assert memory.read("c", kinds=["error"])[0].text == "The answer failed (OSError)."
    assert say(graph, "c", "Leave it then") == "Never mind."
    assert [m.text for m in model.shown[1]][1:] == ["Do it", "Leave it then"]


def test_an_answer_may_be_left_in_the_middle(memory: recollect.Store) -> None:
    graph = chat_graph(scripted("It is a long story", "Short."), store=memory, budget=0)
    pieces = ask(graph, "c", "Tell me")
    assert next(pieces) == "It "
    pieces.close()  # type: ignore[attr-defined]
    assert texts(memory.messages("c")) == ["Tell me"]
    assert say(graph, "c", "Shorter, please") == "Short."


def test_a_branch_is_asked_apart(memory: recollect.Store) -> None:
    model = scripted("one", "two", "on the branch", "on main")
    graph = chat_graph(model, store=memory, budget=0)
    say(graph, "c", "first")
    say(graph, "c", "second")
    branch = memory.fork("c", at=2, name="idea")
    say(graph, "c", "instead", branch=branch)
    assert [m.content for m in model.shown[2]][1:] == ["first", "one", "instead"]
    say(graph, "c", "third", branch=MAIN)
    assert [m.content for m in model.shown[3]][1:] == ["first", "one", "second", "two", "third"]
    assert texts(memory.messages("c", branch="idea")) == ["first", "one", "instead", "on the branch"]


def test_a_turn_can_be_travelled_back_to(memory: recollect.Store) -> None:
    graph = chat_graph(scripted("one", "two", "three"), store=memory, budget=0)
    say(graph, "c", "first")
    say(graph, "c", "second")
    there = next(c for c in memory.checkpoints("c") if c.seq == 2 and c.node == "record")
    config = fork(graph, there)
    resume(graph, config, {"messages": [HumanMessage("other")]})
    assert texts(memory.messages("c")) == ["first", "one", "other", "three"]


def test_users_never_meet(memory: recollect.Store) -> None:
    graph = chat_graph(store=memory)
    say(graph, "c", "Remember I prefer dark mode")
    assert "dark" not in say(graph, "c", "What are my preferences?", user="kim")
    assert "dark" in say(graph, "d", "What are my preferences?")
    assert len(memory.for_user("kim").messages("c")) == 2


def test_nothing_is_asked_before_the_first_piece_is_wanted_and_nonsense_is_refused_at_once(
    memory: recollect.Store,
) -> None:
    graph = chat_graph(store=memory)
    ask(graph, "c", "Hi")
    assert memory.conversations() == []
    with pytest.raises(InvalidInput):
        ask(graph, "c", "  ")
    for wrong in (5, None):
        with pytest.raises(InvalidInput, match="must be a text, not"):
            ask(graph, "c", wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        ask(graph, "", "Hi")


def test_a_remote_model_needs_the_allowlist(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(allow_hosts=("models.example",))
    with pytest.raises(HostNotAllowed):
        chat_graph("openai:gpt", store=store, url="https://elsewhere.example/v1")
    with pytest.raises(HostNotAllowed):
        chat_graph("openai:gpt", store=store, url="https://models.example.evil.example/v1")
    assert chat_graph("openai:gpt", store=store, url="http://127.0.0.1:9/v1")
    with pytest.raises(InvalidInput, match="API_KEY"):
        chat_graph("openai:gpt", store=store, url="https://models.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert chat_graph("openai:gpt", store=store, url="https://models.example/v1")


def test_a_model_of_its_own_library_is_checked_too(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_openai import ChatOpenAI

    store = open_store()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(HostNotAllowed, match=r"api\.openai\.com"):
        chat_graph(ChatOpenAI(model="gpt"), store=store)
    with pytest.raises(HostNotAllowed, match=r"api\.openai\.com"):
        chat_graph("openai:gpt", store=store)
    assert chat_graph(ChatOpenAI(model="gpt", base_url="http://localhost:9/v1"), store=store)


def test_a_model_that_does_not_say_where_it_goes_is_refused_until_somebody_does(open_store: Open) -> None:
    from langchain_core.language_models import GenericFakeChatModel

    made = type("ChatElsewhere", (GenericFakeChatModel,), {"__module__": "langchain_elsewhere.chat"})
    store = open_store()
    model = made(messages=iter([AIMessage("Hello.")]))
    with pytest.raises(HostNotAllowed, match="url="):
        chat_graph(model, store=store)
    assert say(chat_graph(model, store=store, url="http://localhost"), "c", "Hi") == "Hello."


def test_an_ollama_elsewhere_is_elsewhere(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "gpu.example:11434")
    with pytest.raises(HostNotAllowed, match="gpu"):
        chat_graph("ollama:llama3.2", store=open_store())


def test_what_a_model_lacks_is_named(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store()
    monkeypatch.setitem(sys.modules, "langchain_ollama", None)
    with pytest.raises(Refused, match=r"pip install langchain-ollama$"):
        chat_graph("ollama:llama3.2", store=store)
    monkeypatch.setitem(sys.modules, "langchain_google_genai", None)
    with pytest.raises(Refused, match=r"pip install langchain-google-genai$"):
        chat_graph("google_genai:small", store=store)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(Refused, match=r"`agent`.*langchain-ollama"):
        chat_graph("ollama:llama3.2", store=store)
    with pytest.raises(Refused, match=r"'\.\[agent\]' in Recollect's own folder\.$"):
        chat_graph("openai:small", store=store, url="http://localhost:9/v1")


def test_the_model_of_the_settings_is_used(open_store: Open) -> None:
    store = open_store(chat_model="openai:small", chat_model_url="https://elsewhere.example/v1")
    with pytest.raises(HostNotAllowed):
        chat_graph(store=store)
    with pytest.raises(InvalidInput):
        chat_graph("nonsense", store=store)


def test_on_another_checkpointer_the_last_step_records(memory: recollect.Store) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    graph = chat_graph(store=memory, checkpointer=InMemorySaver())
    for text in ("Remember I prefer dark mode", "What are my preferences?"):
        graph.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "c"}})
    assert [e.role for e in memory.messages("c")] == ["user", "assistant", "user", "assistant"]
