"""What state may hold, what is refused, and that nothing but what was written is ever read back."""

from __future__ import annotations

import random
import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import ormsgpack
import pytest
from graphs import chat, say, thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.base import Item
from langgraph.types import Send
from pydantic import BaseModel, ConfigDict, SecretStr
from typing_extensions import TypedDict

from recollect.errors import Damaged, InvalidInput, NotAllowed, NotSerializable, RecollectError
from recollect.langgraph import Saver, messages
from recollect.redact import Gate


class Any_(TypedDict):
    value: Any


def holding(saver: Any, value: Any) -> Any:
    builder = StateGraph(Any_)
    builder.add_node("set", lambda state: {"value": value})
    builder.add_edge(START, "set")
    return builder.compile(checkpointer=saver)


def put(saver: Saver, value: Any, config: Any = None) -> Any:
    checkpoint = {**empty_checkpoint(), "channel_values": {"value": value}, "channel_versions": {"value": "1"}}
    config = config or {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    return saver.put(config, checkpoint, {"source": "loop", "step": 0, "parents": {}}, {"value": "1"})  # type: ignore[arg-type]


# -- what cannot be stored


@pytest.mark.parametrize("value", [threading.Lock(), lambda: 1, object(), [object()], {"a": {1, 2, object()}}])
def test_what_cannot_be_serialized_is_named(saver: Saver, value: Any) -> None:
    with pytest.raises(NotSerializable, match="'value'"):
        put(saver, value)
    with pytest.raises(NotSerializable, match="'value'"):
        holding(saver, value).invoke({"value": 1}, thread("u"))
    assert saver.get_tuple(thread("t")) is None


def test_nothing_is_pickled_even_if_the_serializer_would(url: str) -> None:
    serde = JsonPlusSerializer(pickle_fallback=True)
    with Saver(url, user="alex", semantic=False, serde=serde) as saver, pytest.raises(NotSerializable, match="pickled"):
        put(saver, threading.local)


def test_a_pickle_is_never_loaded(saver: Saver, raw: Any) -> None:
    import pickle

    with pytest.raises(NotAllowed):
        saver._loads(("pickle", pickle.dumps({"a": 1})))


# -- types of one's own


@dataclass
class Point:
    x: int


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    a: int
    b: str


class Person(BaseModel):
    name: str
    at: Point | None = None


class Bomb:
    """No plain data: whoever constructs one is told."""

    gone_off: ClassVar[list[Any]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Bomb.gone_off.append(args)


OWN = [Point(1), Colour.RED, Pair(1, "b"), Person(name="kim", at=Point(2)), [Point(1), Person(name="x" * 100)] * 3]


@pytest.mark.parametrize("value", OWN)
def test_plain_data_of_ones_own_comes_back(saver: Saver, open_store: Any, value: Any, caplog: Any) -> None:
    config = put(saver, value)
    with Saver(open_store()) as fresh:
        found = fresh.get_tuple(config)
        assert found is not None
        assert found.checkpoint["channel_values"]["value"] == value
    assert caplog.text == ""


def test_a_strict_saver_takes_only_what_is_on_the_list(saver: Saver) -> None:
    config = put(saver, Point(1))
    strict = Saver(saver.store, strict=True)
    with pytest.raises(NotAllowed, match="Point"):
        strict.get_tuple(config)
    allowed = Saver(saver.store, strict=True, serde=JsonPlusSerializer(allowed_msgpack_modules=[Point]))
    found = allowed.get_tuple(config)
    assert found is not None
    assert found.checkpoint["channel_values"]["value"] == Point(1)


def crafted(module: str, name: str, args: Any, code: int) -> bytes:
    payload = (module, name, args, "__call__") if code in (3, 5) else (module, name, args)
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(payload)))


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("test_safety", "Bomb"), ("antigravity", "fly")],
)
def test_a_crafted_value_constructs_nothing(saver: Saver, module: str, name: str, code: int) -> None:
    import sys

    args: Any = {0: "true", 1: ["true"], 3: "true"}.get(code, {"args": "true"})
    Bomb.gone_off.clear()
    with pytest.raises(NotAllowed):
        saver._loads(("msgpack", crafted(module, name, args, code)))
    assert Bomb.gone_off == []
    assert "antigravity" not in sys.modules


# -- damage


def mutated(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        way = rng.randrange(4)
        at = rng.randrange(len(out)) if out else 0
        if way == 0 and out:
            out[at] ^= 1 << rng.randrange(8)
        elif way == 1 and out:
            out[at] = rng.randrange(256)
        elif way == 2 and out:
            del out[at : at + rng.randrange(1, 5)]
        else:
            out[at:at] = rng.randbytes(rng.randrange(1, 5))
    return bytes(out)


def test_a_mutated_blob_is_a_typed_error() -> None:
    """Ten thousand mutations of everything that is stored: each is read back as it was, or refused by a typed error."""
    import apsw

    rng = random.Random(7)
    with Saver.from_conn_string(":memory:", user="alex", semantic=False, background=False, summaries=False) as saver:

        def answer(state: Any) -> Any:
            return {"messages": [AIMessage(f"answer {len(state['messages'])} " + "words " * 20)]}

        graph = chat(saver, answer)
        for i in range(20):
            graph.invoke(say(f"message {i} " + "of some length " * 10), thread())
        expected = saver.get_tuple(thread())
        assert expected is not None
        connection: apsw.Connection = saver.store._db._engine._connection  # type: ignore[attr-defined]
        head = expected.config["configurable"]["checkpoint_id"]
        parent = expected.parent_config["configurable"]["checkpoint_id"]  # type: ignore[index]
        places = [
            ("checkpoint_pieces", "data", id) for (id,) in connection.execute("select rowid from checkpoint_pieces")
        ]
        places += [("checkpoint_pieces", "type", id) for _, _, id in places[:10]]
        places += [
            ("checkpoints", column, id)
            for (id,) in connection.execute(
                "select rowid from checkpoints where checkpoint_id in (?, ?)", (head, parent)
            )
            for column in ("state", "metadata", "parent_id", "seq")
            if column != "metadata"
        ]
        saver._shared.__init__()  # type: ignore[misc]
        changed = refused = 0
        before = [expected, saver.get_tuple(expected.parent_config)]  # type: ignore[arg-type]
        while changed < 10_000:
            table, column, id = rng.choice(places)
            (original,) = connection.execute(f"select {column} from {table} where rowid = ?", (id,)).fetchall()[0]
            if isinstance(original, bytes):
                broken: Any = mutated(original, rng)
            elif isinstance(original, int):
                broken = original + rng.choice((-1, 1, 1000))
            else:
                broken = str(original) + rng.choice(("x", "+aes", "=list"))
            if broken == original:
                continue
            changed += 1
            saver._shared.pieces.clear()
            connection.execute(f"update {table} set {column} = ? where rowid = ?", (broken, id)).fetchall()
            try:
                for config, was in ((thread(), before[0]), (expected.parent_config, before[1])):
                    try:
                        assert saver.get_tuple(config) == was
                    except RecollectError as e:
                        assert isinstance(e, Damaged), e
                        refused += 1
            finally:
                connection.execute(f"update {table} set {column} = ? where rowid = ?", (original, id)).fetchall()
        assert refused > 1_000
        saver._shared.pieces.clear()  # the last one may be remembered as it was read
        assert saver.get_tuple(thread()) == expected


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_typed_error(data: bytes) -> None:
    try:
        SHARED._loads(("msgpack", data))
    except RecollectError as e:
        assert isinstance(e, Damaged)


SHARED = Saver(":memory:", user="alex", semantic=False, background=False)


def test_damage_in_writes_is_told(saver: Saver, raw: Any, backend: str) -> None:
    config = put(saver, 1)
    saver.put_writes(config, [("value", {"a": "b" * 10})], "task")
    value = "x'00'" if backend == "sqlite" else "'\\x00'::bytea"
    raw(f"update checkpoint_writes set data = {value}")
    with pytest.raises(Damaged):
        saver.get_tuple(config)
    assert not saver.store.verify().ok


def test_a_missing_piece_is_told(saver: Saver, raw: Any) -> None:
    config = put(saver, ["long " * 40, "longer " * 40])
    raw("delete from checkpoint_pieces where type = 'msgpack'")
    with Saver(saver.store) as other, pytest.raises(Damaged):  # which does not have it at hand, having put it itself
        other.get_tuple(config)
    assert any("piece" in p.what or "value" in p.what for p in saver.store.verify().problems)


# -- filters


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(key=st.text(max_size=30), value=st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.floats(), st.lists(st.integers())))  # fmt: skip
def test_a_filter_is_compared_and_never_a_statement(key: str, value: Any) -> None:
    store = SHARED.store
    config = {"configurable": {"thread_id": "filtered", "checkpoint_ns": ""}}
    if SHARED.get_tuple(config) is None:  # type: ignore[arg-type]
        put(SHARED, 1, config)
    found = list(SHARED.list(config, filter={key: value}))  # type: ignore[arg-type]
    metadata = {"source": "loop", "step": 0, "parents": {}}
    assert bool(found) == (metadata.get(key) == value)
    assert store.get("filtered").id == "filtered"


@pytest.mark.parametrize(
    "key", ["source') = '' or 1=1 --", "a' OR '1'='1", "x.y", '"', "'; drop table checkpoints; --", "%", "\0"]
)
def test_a_hostile_filter_finds_nothing(saver: Saver, key: str) -> None:
    config = put(saver, 1)
    put(saver.for_user("kim"), 2)
    assert list(saver.list(None, filter={key: "x"})) == []
    assert list(saver.list(None, filter={"source": key})) == []
    assert list(saver.list({"configurable": {"thread_id": "t", "checkpoint_ns": key}})) == []
    assert saver.get_tuple(config) is not None


@pytest.mark.parametrize(
    ("filter", "steps"),
    [
        ({"run.kind": "nightly"}, [2, 1]),
        ({"run.by.team": "infra"}, [1]),
        ({"run.by.team": None}, [3, 2]),
        ({"dotted.name": "yes"}, [3]),
        ({"run": {"kind": "nightly"}}, [2, 1]),
        ({"run": {"by": {"team": "infra"}, "kind": "nightly"}}, [1]),
        ({"run": {"by": {"team": "other"}}}, []),
        ({"run": {}}, [2, 1]),
        ({"run.tags": ["a", "b"]}, [2]),
        ({"run.tags": ["a"]}, []),
        ({"source": "loop", "step": 2, "run.kind": "nightly"}, [2]),
        ({"source.kind": "nightly"}, []),
        ({"run.": "x"}, []),
        ({".": "x"}, []),
    ],
)
async def test_a_filter_names_fields_of_fields_and_parts_of_objects(
    saver: Saver, filter: dict[str, Any], steps: list[int]
) -> None:
    """The first is what LangGraph's SqliteSaver takes, the second what its PostgresSaver does; here both, on both databases."""
    said: list[dict[str, Any]] = [
        {"run": {"kind": "nightly", "by": {"team": "infra", "name": "kim"}}},
        {"run": {"kind": "nightly", "tags": ["a", "b"]}},
        {"dotted.name": "yes", "run.kind": "by hand"},
    ]
    config = thread()
    for step, metadata in enumerate(said, 1):
        checkpoint = {**empty_checkpoint(), "channel_values": {"value": step}, "channel_versions": {"value": str(step)}}
        config["configurable"] |= {"checkpoint_ns": ""}
        config = saver.put(
            config, checkpoint, {"source": "loop", "step": step, "parents": {}, **metadata}, {"value": str(step)}
        )  # type: ignore[arg-type,typeddict-item]
    assert [t.metadata["step"] for t in saver.list(thread(), filter=filter)] == steps
    assert [t.metadata["step"] async for t in saver.alist(thread(), filter=filter, limit=1)] == steps[:1]


def test_ids_of_checkpoints_never_reach_a_statement(saver: Saver) -> None:
    config = put(saver, 1)
    for hostile in ("' or 1=1 --", "x" * 500):
        given = {"configurable": {**config["configurable"], "checkpoint_id": hostile}}
        assert saver.get_tuple(given) is None  # type: ignore[arg-type]
        assert list(saver.list(thread(), before=given)) is not None  # type: ignore[arg-type]


def test_writes_need_a_checkpoint(saver: Saver) -> None:
    with pytest.raises(InvalidInput):
        saver.put_writes(thread(), [("value", 1)], "task")


# -- secrets

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
TOLD = f"my key is {SECRET}"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Said(BaseModel):
    messages: Annotated[list[Any], add_messages]


def nowhere(saver: Saver, raw: Any) -> None:
    """The secret is neither read back nor in what is stored, and a scan agrees."""
    assert SECRET not in str(list(saver.list(None)))
    for table in ("checkpoint_pieces", "checkpoint_writes"):
        assert all(SECRET.encode() not in bytes(data) for (data,) in raw(f"select data from {table}"))
    assert saver.scan() == []


@pytest.mark.parametrize("schema", [MessagesState, Said])
@pytest.mark.parametrize(
    "given", [TOLD, [TOLD], ["hi", ("user", TOLD)], (TOLD, "hi"), [{"role": "user", "content": TOLD}]]
)
def test_bare_texts_in_a_graphs_input_are_messages(saver: Saver, raw: Any, schema: Any, given: Any) -> None:
    builder = StateGraph(schema)
    builder.add_node("answer", lambda state: {"messages": "a text is a message too: " + TOLD})
    builder.add_edge(START, "answer")
    try:
        builder.compile(checkpointer=saver).invoke({"messages": given}, thread())
    except (NotImplementedError, ValueError):
        assert given == (TOLD, "hi")  # no role is called so, but the input is stored before that is found out
    nowhere(saver, raw)


def test_bare_texts_that_a_node_is_sent_are_messages(saver: Saver, raw: Any) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("work", lambda state: {"messages": [AIMessage("done")]})
    builder.add_conditional_edges(START, lambda state: [Send("work", {"messages": [TOLD]})], ["work"])
    builder.compile(checkpointer=saver).invoke(say("hi"), thread())
    nowhere(saver, raw)


def test_a_scan_finds_bare_texts_in_a_graphs_input(url: str, raw: Any) -> None:
    with Saver(url, user="alex", semantic=False, background=False, redact=False) as open_gate:
        chat(open_gate).invoke({"messages": [TOLD]}, thread())
    with Saver(url, user="alex", semantic=False, background=False) as saver:
        assert {place.families for place in saver.scan(fix=True)} == {("github-token",)}
        nowhere(saver, raw)


def test_other_channels_of_the_input_stay_as_they_are(saver: Saver) -> None:
    graph = holding(saver, TOLD)
    graph.invoke({"value": [TOLD] * 3}, thread())
    first = list(saver.list(thread()))[-1].checkpoint["channel_values"]["__start__"]
    assert first == {"value": [TOLD] * 3}


def test_a_text_that_passed_elsewhere_does_not_pass_as_a_message(saver: Saver) -> None:
    config = put(saver, [TOLD + " and more words" * 5])
    saver.put_writes(config, [("messages", [TOLD + " and more words" * 5])], "task")
    found = saver.get_tuple(config)
    assert found is not None
    assert SECRET not in str(found.pending_writes)


@dataclass(frozen=True)
class Note:
    name: str
    id: str = "n-1"


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


class Label(str):
    pass


def nested(value: Any, levels: int) -> Any:
    for i in range(levels):
        value = [value] if i % 2 else {"in": value}
    return value


HOLDING: dict[str, Any] = {
    "a set": {SECRET, "x"},
    "a frozen set": frozenset({TOLD}),
    "a deque": deque([TOLD, "x"], maxlen=4),
    "a key": {TOLD: 1, "x": 2},
    "a key that is a pair": {(1, SECRET): 1},
    "the first of a pair": (SECRET, "x"),
    "both of a pair": (SECRET, SECRET),
    "after a role": ("user", TOLD),
    "text as bytes": TOLD.encode(),
    "text as bytes, further in": {"a": [bytearray(TOLD.encode())]},
    "names": [{name: TOLD} for name in ("name", "id", "type", "role", "node", "tool_call_id")],
    "an object's name": Note(TOLD, SECRET),
    "objects in a set": {Note(TOLD)},
    "what a model lets in": Loose(more=TOLD),  # type: ignore[call-arg]
    "a kind of text": Label(TOLD),
    "a path": Path("/home") / SECRET,
    "an error": ValueError(TOLD),
    "an item of a store": Item(value={"a": TOLD}, key=SECRET, namespace=(SECRET,), created_at=NOW, updated_at=NOW),
    "far in": nested(TOLD, 200),
    "a name of a message": HumanMessage("hi", name=SECRET),
    "a block": AIMessage([{"type": "text", "text": "hi", "id": SECRET, "annotations": [{"title": TOLD}]}]),
    "a block of another kind": AIMessage([{"type": "image", "id": SECRET, "url": "x"}]),
    "what a message came with": AIMessage("hi", additional_kwargs={"name": TOLD, SECRET: 1}, more=TOLD),  # type: ignore[call-arg]
    "a message as a dict": {"role": "user", "content": "hi", "name": SECRET},
    "a call": AIMessage("", tool_calls=[{"name": SECRET, "args": {SECRET: SECRET}, "id": "c", "type": "tool_call"}]),
    "an id": [AIMessage("", id=SECRET), ToolMessage("", tool_call_id=SECRET), RemoveMessage(SECRET)],
    "a sent node's": Send("work", {"a": {TOLD}}),
}


@pytest.mark.parametrize("what", HOLDING)
def test_all_of_the_state_is_every_text_of_it(url: str, raw: Any, what: str) -> None:
    value = HOLDING[what]
    before = repr(value)
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        config = put(saver, value)
        saver.put_writes(config, [("value", value), ("value", [value, value])], "task")
        assert "[redacted:github-token]" in str(saver.get_tuple(config))
        nowhere(saver, raw)
    assert repr(value) == before


@pytest.mark.parametrize("what", HOLDING)
def test_a_scan_of_all_finds_every_text(url: str, raw: Any, what: str) -> None:
    with Saver(url, user="alex", semantic=False, background=False, redact=False) as open_gate:
        put(open_gate, HOLDING[what])
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        assert len(saver.scan(fix=True)) == 1
        nowhere(saver, raw)


@pytest.mark.parametrize("value", [*HOLDING.values(), *OWN, b"\xff\xfe" + SECRET.encode()])
def test_what_holds_no_secret_stays_the_same_object(value: Any) -> None:
    gate = Gate(allow=[".*"])
    assert messages.clean(value, gate, "all", "value", ()) is value
    assert gate.families == []


def test_a_wrapped_secret_is_a_text_too(url: str) -> None:
    serde = JsonPlusSerializer(allowed_msgpack_modules=[SecretStr])
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all", serde=serde) as saver:
        found = saver.get_tuple(put(saver, {"key": SecretStr(SECRET)}))
        assert found is not None
        kept = found.checkpoint["channel_values"]["value"]["key"]
        assert kept.get_secret_value() == "[redacted:github-token]"
        assert saver.scan() == []


def test_two_keys_that_were_secrets_stay_two(url: str) -> None:
    other = SECRET[:-1] + "7"
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        found = saver.get_tuple(put(saver, {SECRET: 1, other: 2, "x": 3}))
        assert found is not None
        assert list(found.checkpoint["channel_values"]["value"].values()) == [1, 2, 3]
        assert saver.scan() == []


def test_what_a_graph_works_with_stays_when_all_is_redacted(url: str) -> None:
    """Ids, even those that look random or like a card's number, types and roles; an answer still belongs to its call."""
    ids = ["4111111111111111", "call_BHnEDRq9cv22tcEHLeW5Sss4", "3f0c1c0a9be14e6fb2c0f4f1a9d0c7e2"]
    calls = [{"name": "look", "args": {"q": TOLD}, "id": id, "type": "tool_call"} for id in ids]
    said = [AIMessage("", tool_calls=calls, id=ids[0]), *(ToolMessage("ok", tool_call_id=id) for id in ids)]
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        chat(saver, lambda state: {"messages": said}).invoke(say("look", id=ids[1]), thread())
        found = chat(saver).get_state(thread()).values["messages"]
    assert [m.id for m in found[:2]] == [ids[1], ids[0]]
    assert [c["id"] for c in found[1].tool_calls] == [m.tool_call_id for m in found[2:]] == ids
    assert [(c["name"], c["type"]) for c in found[1].tool_calls] == [("look", "tool_call")] * 3
    assert SECRET not in str(found)


@pytest.mark.parametrize("mode", ["messages", "all"])
def test_what_is_too_deep_to_be_searched_is_refused(url: str, mode: str) -> None:
    around: Any = {}
    around |= {"a": around, "b": around}
    with Saver(url, user="alex", semantic=False, background=False, redact_state=mode) as saver:
        for value in (around, nested(Note("x"), 251)):
            with pytest.raises(NotSerializable, match=r"'value'.*deep"):
                put(saver, value)
        deep = put(saver, nested(HumanMessage(TOLD), 230))
        assert SECRET not in str(saver.get_tuple(deep))
