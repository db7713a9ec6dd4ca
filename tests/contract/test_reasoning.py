"""reasoning: the trace beside the message."""

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open, exchange, texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    return store.create("c").id


def test_message_and_trace_are_written_at_once(store: recollect.Store, c: str) -> None:
    m = store.append(c, role="assistant", text="42", reasoning="six times seven")
    assert m.seq == 1
    message, trace = store.read(c)
    assert (message.kind, trace.kind, trace.message, trace.text) == ("message", "reasoning", 1, "six times seven")
    assert store.get(c).last_seq == 2


def test_what_may_be_known_of_a_trace(store: recollect.Store, c: str) -> None:
    r = recollect.Reasoning(
        "why", effort="high", verbosity="low", model="m-2", input_tokens=1, output_tokens=2, duration_ms=3
    )
    store.append(c, role="assistant", text="a", agent="coder", reasoning=r)
    (trace,) = store.reasoning(c)
    assert trace.payload == {"effort": "high", "verbosity": "low"}
    assert (trace.model, trace.input_tokens, trace.output_tokens, trace.duration_ms) == ("m-2", 1, 2, 3)
    assert trace.agent == "coder"


def test_a_trace_has_its_messages_model_unless_said(store: recollect.Store, c: str) -> None:
    store.append(c, role="assistant", text="a", model="m-1", reasoning="why")
    assert store.reasoning(c)[0].model == "m-1"


def test_by_conversation_and_by_message(store: recollect.Store, c: str) -> None:
    first = store.append(c, role="assistant", text="a", reasoning="ra")
    second = store.append(c, role="assistant", text="b", reasoning="rb")
    store.append(c, kind="reasoning", text="more of b", message=second.seq)
    store.append(c, kind="reasoning", text="of none")
    assert texts(store.reasoning(c)) == ["ra", "rb", "more of b", "of none"]
    assert texts(store.reasoning(c, message=first.seq)) == ["ra"]
    assert texts(store.reasoning(c, message=second.seq)) == ["rb", "more of b"]
    assert store.reasoning(c, message=999) == []


def test_joined_to_the_messages(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="q")
    m = store.append(c, role="assistant", text="a", reasoning="first")
    store.append(c, kind="reasoning", text="second", message=m.seq)
    user, assistant = store.messages(c, include_reasoning=True)
    assert (user.traces, user.reasoning) == ((), None)
    assert texts(assistant.traces) == ["first", "second"]
    assert assistant.reasoning == "first\n\nsecond"


def test_joined_in_a_batch_too(store: recollect.Store, c: str) -> None:
    events = store.append_many(c, [{"role": "assistant", "text": t, "reasoning": f"r{t}"} for t in "abc"])
    assert [e.seq for e in events] == [1, 3, 5]
    assert [m.reasoning for m in store.messages(c, include_reasoning=True)] == ["ra", "rb", "rc"]
    assert [t.message for t in store.reasoning(c)] == [1, 3, 5]


@pytest.mark.parametrize("delete", [False, True])
def test_traces_survive_summarization(open_store: Open, delete: bool) -> None:
    store = open_store(summary_delete=delete)
    c = store.create().id
    store.append(c, role="assistant", text="a", reasoning="why")
    store.append_many(c, exchange(10))
    assert store.summarize(c)
    assert texts(store.reasoning(c)) == ["why"]
    assert texts(store.reasoning(c, message=1)) == ["why"]
    assert store.verify().ok


def test_a_trace_survives_its_message(store: recollect.Store, c: str) -> None:
    m = store.append(c, role="assistant", text="a", reasoning="why")
    store.delete_event(c, m.seq)
    assert store.messages(c) == []
    assert texts(store.reasoning(c, message=m.seq)) == ["why"]
    assert store.verify().ok


def test_a_branch_shows_the_traces_of_its_lineage(store: recollect.Store, c: str) -> None:
    store.append(c, role="assistant", text="a", reasoning="shared")
    store.fork(c, 2, name="idea")
    store.append(c, role="assistant", text="b", reasoning="main only")
    store.append(c, role="assistant", text="c", reasoning="idea only", branch="idea")
    assert texts(store.reasoning(c)) == ["shared", "main only"]
    assert texts(store.reasoning(c, branch="idea")) == ["shared", "idea only"]


def test_an_empty_trace_is_a_trace(store: recollect.Store, c: str) -> None:
    store.append(c, role="assistant", text="a", reasoning="")
    assert texts(store.reasoning(c)) == [""]


def test_bad_questions(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound):
        store.reasoning("nobody")
    with pytest.raises(NotFound):
        store.reasoning(c, branch="nowhere")


@pytest.mark.parametrize("message", [2**80, "1"], ids=str)
def test_a_number_that_is_none_is_refused(store: recollect.Store, c: str, message: object) -> None:
    with pytest.raises(recollect.errors.InvalidInput, match="message"):
        store.reasoning(c, message=message)  # type: ignore[arg-type]


def test_a_trace_of_its_own_has_effort_and_verbosity(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="why?")
    trace = store.append(
        c, kind="reasoning", text="because", message=1, effort="high", verbosity="low", payload={"n": 1}
    )
    assert trace.payload == {"n": 1, "effort": "high", "verbosity": "low"}
    assert store.reasoning(c, message=1) == [trace]
    with pytest.raises(InvalidInput, match="effort= and verbosity= belong to a trace"):
        store.append(c, role="user", text="x", effort="high")


def test_a_trace_keeps_its_metadata(store: recollect.Store) -> None:
    c = store.create().id
    thought = recollect.Reasoning("because", effort="high", metadata={"tokens": 1_000})
    store.append(c, role="assistant", text="so", reasoning=thought)
    [trace] = store.reasoning(c)
    assert trace.payload == {"tokens": 1_000, "effort": "high"}


def test_a_trace_of_what_is_no_message_is_refused(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="q")  # 1
    store.append(c, kind="note", text="n")  # 2
    store.append(c, role="assistant", text="a", reasoning="why")  # 3, 4
    store.fork(c, 1, name="idea")
    for number, branch in ((2, None), (4, None), (3, "idea")):
        with pytest.raises(InvalidInput, match=rf"message={number}: event {number} .* is no message"):
            store.append(c, kind="reasoning", text="because", message=number, branch=branch)
    with pytest.raises(InvalidInput, match=r"message=5: event 5 .* is no message"):
        store.append_many(c, [{"kind": "note", "text": "n"}, {"kind": "reasoning", "text": "because", "message": 5}])
    _, trace = store.append_many(
        c, [{"role": "user", "text": "q"}, {"kind": "reasoning", "text": "because", "message": 5}]
    )
    assert trace.message == 5
    store.delete_event(c, 1)
    assert store.append(c, kind="reasoning", text="late", message=1).message == 1


def test_an_effort_that_is_said_twice_is_refused(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="q")
    with pytest.raises(InvalidInput, match=r"effort= and the payload \(metadata\) both say 'effort'"):
        store.append(c, kind="reasoning", text="r", message=1, effort="high", payload={"effort": "mine"})
    with pytest.raises(InvalidInput, match="verbosity= and the payload"):
        thought = recollect.Reasoning("r", verbosity="low", metadata={"verbosity": "mine"})
        store.append(c, role="assistant", text="a", reasoning=thought)
    same = store.append(c, kind="reasoning", text="r", message=1, effort="high", payload={"effort": "high"})
    assert same.payload == {"effort": "high"}
