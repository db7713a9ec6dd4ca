"""append, append_many: one event, or all of them, or none."""

import enum
import json
import unicodedata

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open, seqs, texts

KINDS = "message tool_use tool_result approval error artifact reasoning ledger summary note event".split()
NEEDED = {
    "message": {"role": "user"},
    "artifact": {"path": "a.py"},
    "ledger": {"task_id": "t"},
    "event": {"name": "workflow.start"},
}


@pytest.fixture
def c(store: recollect.Store) -> str:
    return store.create("c").id


# -- what an event carries


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_kept_as_it_is(store: recollect.Store, c: str, kind: str) -> None:
    e = store.append(c, kind=kind, text="what happened", **NEEDED.get(kind, {}))
    assert (e.kind, e.text, e.seq, e.stored) == (kind, "what happened", 1, True)
    assert store.read(c) == [e]


def test_everything_an_event_can_say_comes_back(store: recollect.Store, c: str) -> None:
    said = {
        "kind": "tool_result",
        "role": "tool",
        "text": "wrote it",
        "name": "n",
        "tool": "Write",
        "path": "README.md",
        "agent": "coder",
        "status": "ok",
        "task_id": "t-1",
        "tags": ("a", "ü"),
        "payload": {"bytes": 12, "deep": [{"x": None}]},
        "model": "m-1",
        "input_tokens": 5,
        "output_tokens": 6,
        "cost": 0.1,
        "duration_ms": 7,
        "key": "k-1",
        "created_at": 1_700_000_000_000,
    }
    e = store.append(c, **said)  # type: ignore[arg-type]
    for name, value in said.items():
        assert getattr(e, name) == value, name
    assert (e.conversation_id, e.branch, e.id) == (c, "main", "c:1")
    assert store.read(c) == [e]


def test_the_answer_equals_what_is_read_back(store: recollect.Store, c: str) -> None:
    given = store.append_many(
        c,
        [
            {"role": "user", "text": "hi"},
            {"kind": "note", "payload": {"tuple": (1, 2)}, "tags": ["x", "x", "y"]},
            {"kind": "event", "name": "n", "cost": 3},
        ],
    )
    assert store.read(c) == given
    assert given[1].payload == {"tuple": [1, 2]}
    assert given[1].tags == ("x", "y")
    assert given[2].cost == 3.0


def test_time_is_now_unless_history_is_brought_in(store: recollect.Store, c: str) -> None:
    before = store.create().created_at
    assert store.append(c, role="user", text="now").created_at >= before
    assert store.append(c, role="user", text="then", created_at=5).created_at == 5
    assert texts(store.read(c)) == ["now", "then"]


def test_a_conversation_or_its_id_will_do(store: recollect.Store) -> None:
    c = store.create()
    store.append(c, role="user", text="a")
    store.append(c.id, role="user", text="b")
    assert texts(store.read(c)) == ["a", "b"]


def test_two_identical_messages_are_two_events(store: recollect.Store, c: str) -> None:
    first = store.append(c, role="user", text="yes", created_at=1)
    second = store.append(c, role="user", text="yes", created_at=1)
    assert (first.seq, second.seq) == (1, 2)
    assert seqs(store.append_many(c, [{"role": "user", "text": "yes"}] * 2)) == [3, 4]
    assert texts(store.messages(c)) == ["yes"] * 4


def test_appending_moves_the_conversation_on(store: recollect.Store, c: str) -> None:
    store.append_many(c, [{"role": "user", "text": "a"}, {"role": "user", "text": "b"}])
    assert store.get(c).last_seq == 2
    assert store.get(c).updated_at >= store.get(c).created_at


# -- idempotency keys


def test_the_same_key_returns_the_first_event(store: recollect.Store, c: str) -> None:
    first = store.append(c, role="user", text="once", key="k")
    again = store.append(c, role="user", text="twice", key="k")
    assert again == first
    assert store.read(c) == [first]
    assert store.get(c).last_seq == 1


def test_keys_are_compared_exactly(store: recollect.Store, c: str) -> None:
    for key in ("k", "K", "k ", "kk"):
        store.append(c, role="user", text="x", key=key)
    assert len(store.read(c)) == 4


def test_a_key_belongs_to_its_conversation(store: recollect.Store, c: str) -> None:
    other = store.create().id
    store.append(c, role="user", text="here", key="k")
    assert store.append(other, role="user", text="there", key="k").text == "there"


def test_a_key_belongs_to_its_branch(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="here", key="k")
    store.fork(c, name="idea")
    assert store.append(c, role="user", text="there", key="k", branch="idea").seq == 2
    assert store.append(c, role="user", text="there", key="k", branch="idea").seq == 2


def test_keys_within_one_batch(store: recollect.Store, c: str) -> None:
    events = store.append_many(
        c, [{"role": "user", "text": t, "key": k} for t, k in (("a", "1"), ("b", "2"), ("c", "1"))]
    )
    assert texts(events) == ["a", "b", "a"]
    assert seqs(events) == [1, 2, 1]
    assert store.get(c).last_seq == 2


def test_a_batch_repeated_with_its_keys_appends_nothing(store: recollect.Store, c: str) -> None:
    batch: list[recollect.Entry] = [{"role": "user", "text": t, "key": t} for t in "abc"]
    first = store.append_many(c, batch)
    assert store.append_many(c, batch) == first
    more = store.append_many(c, [*batch, {"role": "user", "text": "d", "key": "d"}])
    assert seqs(more) == [1, 2, 3, 4]


def test_a_long_batch_is_stored_as_it_was_given(store: recollect.Store, c: str) -> None:
    """Longer than what one statement inserts, and of every sort: plain, redacted, with a key, with reasoning."""
    entries: list[recollect.Entry] = [
        {"role": "user", "text": f"my password is Falcon#44{n}"} if n % 50 == 7
        else {"role": "assistant", "text": f"answer {n}", "reasoning": f"because {n}"} if n % 50 == 21
        else {"role": "user", "text": f"question {n}", "key": f"key {n // 100}"} if n % 50 == 33
        else {"role": "assistant", "text": f"line {n} \U0001f680"}
        for n in range(431)
    ]  # fmt: skip
    given = store.append_many(c, entries)
    assert len(given) == 431 and given[33] == given[83]  # the same key
    read = store.read(c)
    assert seqs(read) == list(range(1, len(read) + 1))
    assert [e for e in read if e.kind == "message"] == list({e.seq: e for e in given}.values())
    assert [e.text for e in read if e.kind == "reasoning"] == [f"because {n}" for n in range(21, 431, 50)]
    assert [e.tags for e in given if "redacted" in e.text] == [("sensitive",)] * 9
    assert store.verify().ok


def test_a_key_with_reasoning_writes_the_trace_once(store: recollect.Store, c: str) -> None:
    for _ in range(2):
        store.append(c, role="assistant", text="a", reasoning="r", key="k")
    assert [e.kind for e in store.read(c)] == ["message", "reasoning"]


# -- batches


def test_a_batch_is_all_or_nothing(store: recollect.Store, c: str) -> None:
    with pytest.raises(InvalidInput):
        store.append_many(c, [{"role": "user", "text": "good"}, {"role": "nobody", "text": "bad"}])
    assert store.read(c) == []
    # this one is found out only inside the transaction: a trace of a message that is not there
    with pytest.raises(InvalidInput, match="no event 99"):
        store.append_many(c, [{"role": "user", "text": "good"}, {"kind": "reasoning", "text": "why", "message": 99}])
    assert store.read(c) == []
    assert store.get(c).last_seq == 0
    assert store.append(c, role="user", text="first").seq == 1


def test_an_empty_batch_is_nothing(store: recollect.Store, c: str) -> None:
    assert store.append_many(c, []) == []
    with pytest.raises(NotFound):
        store.append_many("nobody", [])


def test_a_large_batch(store: recollect.Store, c: str) -> None:
    events = store.append_many(c, ({"role": "user", "text": str(i)} for i in range(3000)))
    assert seqs(events) == list(range(1, 3001))
    assert store.get(c).last_seq == 3000
    assert texts(store.messages(c, limit=2)) == ["2998", "2999"]


# -- switches


@pytest.mark.parametrize(
    ("switch", "kind"), [("events", "event"), ("ledger", "ledger"), ("reasoning_traces", "reasoning")]
)
def test_a_kind_that_is_off_writes_nothing_and_says_so(open_store: Open, switch: str, kind: str) -> None:
    store = open_store(**{switch: False})
    c = store.create().id
    e = store.append(c, kind=kind, text="lost", **NEEDED.get(kind, {}))
    assert (e.stored, e.seq, e.text, e.kind) == (False, 0, "lost", kind)
    assert store.read(c) == []
    assert store.get(c).last_seq == 0
    assert store.append(c, role="user", text="kept").seq == 1


def test_a_batch_keeps_what_is_on(open_store: Open) -> None:
    store = open_store(events=False)
    c = store.create().id
    events = store.append_many(
        c, [{"kind": "event", "name": "a"}, {"role": "user", "text": "hi"}, {"kind": "event", "name": "b"}]
    )
    assert [(e.kind, e.stored, e.seq) for e in events] == [
        ("event", False, 0),
        ("message", True, 1),
        ("event", False, 0),
    ]


def test_a_message_is_kept_without_its_reasoning_when_traces_are_off(open_store: Open) -> None:
    store = open_store(reasoning_traces=False)
    c = store.create().id
    assert store.append(c, role="assistant", text="a", reasoning="r").stored
    assert [e.kind for e in store.read(c)] == ["message"]


def test_an_unknown_conversation_is_an_error_even_when_the_kind_is_off(open_store: Open) -> None:
    store = open_store(events=False)
    with pytest.raises(NotFound):
        store.append("nobody", kind="event", name="n")


# -- text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\r\n ",
        "\x01\x1b[31m\x7f\x85\u2028",
        "Ünïcödé, 日本語, עברית, हिन्दी",
        "\ufeff\ufffe\uffff\ufffd",
        "👩‍👩‍👧‍👦 🏳️‍🌈 🇦🇶",
        "".join(chr(plane << 16 | 0x100) for plane in range(17)),
        "\U0010ffff",
        unicodedata.normalize("NFD", "é") + unicodedata.normalize("NFC", "é"),
        "%s %(user)s :user ::text $1 ? {0} \\ ' \" `",
    ],
    ids=lambda t: ascii(t[:12]),
)
def test_text_comes_back_as_it_went_in(store: recollect.Store, c: str, text: str) -> None:
    store.append(c, role="user", text=text, payload={text or "k": [text]}, tags=[text or "t"])
    (e,) = store.read(c)
    assert (e.text, e.payload, e.tags) == (text, {text or "k": [text]}, (text or "t",))
    assert store.messages(c)[0].text == text


def test_ten_megabytes_are_one_message(store: recollect.Store, c: str) -> None:
    text = "0123456789 ä€🦜\n" * 600_000
    assert len(text.encode()) > 10_000_000
    store.append(c, role="user", text=text)
    assert store.messages(c)[0].text == text
    assert len(store.get(c).title or "") <= 60
    assert store.branches(c)[0].preview.startswith("0123456789")
    assert store.verify().ok


@pytest.mark.parametrize(
    "field", ["text", "name", "tool", "path", "agent", "status", "task_id", "model", "role", "key", "goal"]
)
@pytest.mark.parametrize("bad", ["a\0b", "\ud83d", 5, b"bytes"], ids=["nul", "surrogate", "number", "bytes"])
def test_what_no_database_keeps_is_refused_by_name(store: recollect.Store, c: str, field: str, bad: object) -> None:
    entry = {"kind": "ledger", "task_id": "t"} if field == "goal" else {"kind": "note"}
    with pytest.raises(InvalidInput, match="text" if field == "goal" else field):
        store.append(c, **{**entry, field: bad})  # type: ignore[arg-type]
    assert store.read(c) == []


@pytest.mark.parametrize("bad", ["a\0b", "\udc00"], ids=["nul", "surrogate"])
def test_nul_and_half_characters_are_refused_everywhere_else(store: recollect.Store, c: str, bad: str) -> None:
    for entry in (
        {"kind": "note", "payload": {"k": bad}},
        {"kind": "note", "payload": {bad: 1}},
        {"kind": "note", "payload": {"k": [{"deep": (bad,)}]}},
        {"kind": "note", "tags": [bad]},
        {"role": "assistant", "text": "x", "reasoning": bad},
        {"role": "assistant", "text": "x", "reasoning": recollect.Reasoning("r", effort=bad)},
        {"kind": "artifact", "path": "x", "diff": bad},
    ):
        with pytest.raises(InvalidInput):
            store.append(c, **entry)
    assert store.get(c).last_seq == 0


def test_enums_and_subclasses_of_text_are_plain_text_when_stored(store: recollect.Store, c: str) -> None:
    class Role(str, enum.Enum):  # noqa: UP042 - the older spelling is the one that prints as Role.USER
        USER = "user"

    class Kind(enum.StrEnum):
        NOTE = "note"

    class Tokens(int, enum.Enum):
        SEVEN = 7

    class Markup(str):
        def __str__(self) -> str:
            return "something else"

    store.append(c, role=Role.USER, text=Markup("hi"), input_tokens=Tokens.SEVEN)
    store.append(c, kind=Kind.NOTE, text="n", agent=Role.USER)
    first, second = store.read(c)
    assert (first.role, first.text, first.input_tokens) == ("user", "hi", 7)
    assert (second.kind, second.agent) == ("note", "user")
    assert {type(v) for v in (first.role, first.text, second.kind)} == {str}
    assert store.verify().problems == ()


# -- payload


def test_whole_numbers_of_any_size_are_exact(store: recollect.Store, c: str) -> None:
    numbers = [2**53 + 1, 2**63, -(2**64), 10**400, 0]
    store.append(c, kind="note", payload={"n": numbers})
    assert store.read(c)[0].payload["n"] == numbers


def test_a_number_too_long_to_be_read_back_is_refused(store: recollect.Store, c: str) -> None:
    """Python reads at most 4300 digits."""
    with pytest.raises(InvalidInput, match="payload"):
        store.append(c, kind="note", payload={"n": 10**5000})
    assert store.read(c) == []


def test_fractions_and_constants_are_exact(store: recollect.Store, c: str) -> None:
    values = [0.1, 1e308, 5e-324, -0.0, True, False, None, 1.0]
    store.append(c, kind="note", payload={"v": values})
    assert json.dumps(store.read(c)[0].payload["v"]) == json.dumps(values)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_refused(store: recollect.Store, c: str, bad: float) -> None:
    for payload in ({"x": bad}, {"x": [{"y": bad}]}):
        with pytest.raises(InvalidInput, match=r"payload\.x"):
            store.append(c, kind="note", payload=payload)
    assert store.read(c) == []


@pytest.mark.parametrize("payload", [{1: "a"}, {"a": {None: 1}}, {"a": [{True: 1}]}], ids=str)
def test_keys_are_texts(store: recollect.Store, c: str, payload: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="JSON keys are texts"):
        store.append(c, kind="note", payload=payload)


@pytest.mark.parametrize(
    "payload", [[1], "text", 5, {"a": {1, 2}}, {"a": b"x"}, {"a": object()}], ids=lambda p: type(p).__name__
)
def test_a_payload_is_a_json_object(store: recollect.Store, c: str, payload: object) -> None:
    with pytest.raises(InvalidInput, match="payload"):
        store.append(c, kind="note", payload=payload)  # type: ignore[arg-type]


def nested(depth: int) -> dict[str, object]:
    inner: dict[str, object] = {}
    for _ in range(depth):
        inner = {"k": inner}
    return inner


def test_a_deep_payload_is_kept_and_a_bottomless_one_refused(store: recollect.Store, c: str) -> None:
    store.append(c, kind="note", payload=nested(90))
    assert store.read(c)[0].payload == nested(90)
    with pytest.raises(InvalidInput, match="nested"):
        store.append(c, kind="note", payload=nested(100_000))
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(InvalidInput, match="nested"):
        store.append(c, kind="note", payload=loop)


def test_no_payload_is_an_empty_one(store: recollect.Store, c: str) -> None:
    store.append(c, kind="note")
    store.append(c, kind="note", payload={})
    store.append(c, kind="note", payload=None)
    assert [e.payload for e in store.read(c)] == [{}, {}, {}]


def test_changing_what_was_passed_in_changes_nothing_stored(store: recollect.Store, c: str) -> None:
    payload: dict[str, list[int]] = {"list": [1]}
    e = store.append(c, kind="note", payload=payload)
    payload["list"].append(2)
    assert e.payload == store.read(c)[0].payload == {"list": [1]}


# -- refusals


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "needs a role"),
        ({"role": "nobody"}, "needs a role"),
        ({"role": "USER"}, "needs a role"),
        ({"kind": "nonsense"}, "no kind 'nonsense'"),
        ({"kind": "ledger"}, "task_id"),
        ({"kind": "event"}, "name"),
        ({"kind": "artifact"}, "path"),
        ({"kind": "note", "goal": "g"}, "ledger"),
        ({"kind": "note", "reasoning": "r"}, "message"),
        ({"kind": "note", "tags": "one text"}, "tags"),
        ({"kind": "note", "tags": 5}, "tags must be a list of texts, not int"),
        ({"kind": "note", "tags": {"a": 1}}, "tags must be a list of texts, not dict"),
        ({"kind": "note", "tags": [""]}, "tag"),
        ({"kind": "note", "tags": [5]}, "tag"),
        ({"kind": "note", "cost": -1}, "cost"),
        ({"kind": "note", "cost": float("nan")}, "cost"),
        ({"kind": "note", "cost": True}, "cost"),
        ({"kind": "note", "input_tokens": -1}, "input_tokens"),
        ({"kind": "note", "output_tokens": 1.5}, "output_tokens"),
        ({"kind": "note", "duration_ms": 2**63}, "duration_ms"),
        ({"kind": "note", "created_at": "yesterday"}, "created_at"),
        ({"kind": "note", "key": ""}, "key"),
        ({"kind": "note", "key": "x" * 257}, "key"),
        ({"kind": "note", "key": "a\nb"}, "key"),
        ({"kind": "note", "nonsense": 1}, "nonsense"),
        ({"kind": "note", "message": 1}, "no event 1 yet"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(store: recollect.Store, c: str, entry: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        store.append(c, **entry)  # type: ignore[arg-type]
    assert store.get(c).last_seq == 0
    assert store.read(c) == []


def test_append_to_an_unknown_conversation_or_branch(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound, match="'nobody'"):
        store.append("nobody", role="user", text="x")
    with pytest.raises(NotFound, match="'nowhere'"):
        store.append(c, role="user", text="x", branch="nowhere")
    with pytest.raises((InvalidInput, NotFound)):
        store.append(c, role="user", text="x", branch="*")


def test_a_cost_of_minus_zero_is_zero(store: recollect.Store, c: str) -> None:
    assert store.append(c, kind="note", cost=-0.0).cost == 0
    assert store.verify().ok


def test_no_tags_may_be_said_as_none(store: recollect.Store, c: str) -> None:
    assert store.append(c, role="user", text="x", tags=None).tags == ()
    assert store.remember("Lives in Porto", tags=None).tags == ()


def test_another_systems_names_are_answered_with_ours(store: recollect.Store) -> None:
    c = store.create().id
    with pytest.raises(InvalidInput, match="text= for content") as caught:
        store.append(c, role="user", content="hello", agent_id="planner")  # type: ignore[call-arg]
    assert "agent= for agent_id" in str(caught.value)
