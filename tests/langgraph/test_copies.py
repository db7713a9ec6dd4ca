"""Messages that were read a moment ago are copied, and those that are what they were are not written anew: nobody notices."""

from __future__ import annotations

import sys
import types
from enum import Enum
from typing import Any

import pytest
from graphs import thread
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from recollect.errors import Damaged
from recollect.langgraph import Saver, copies, messages, remembered

CALL = {"name": "look", "args": {"at": [1, {"deep": "sea"}]}, "id": "c1", "type": "tool_call"}


def said() -> list[Any]:
    return [
        SystemMessage("be kind " * 9, id="s"),
        HumanMessage([{"type": "text", "text": "look " * 9}], id="h"),
        AIMessage("", id="a", tool_calls=[CALL], response_metadata={"n": 1}, usage_metadata=None),
        ToolMessage("fish " * 9, id="t", tool_call_id="c1", artifact={"kept": [1.5, None]}),
        AIMessage("no id " * 9),
    ]


def put(saver: Saver, value: Any, id: str, parent: Any = None) -> Any:
    checkpoint: Any = {
        **empty_checkpoint(),
        "id": id,
        "channel_values": {"value": value},
        "channel_versions": {"value": id},
    }
    config = parent or {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    return saver.put(config, checkpoint, {"source": "loop", "step": 0, "parents": {}}, {"value": id})


def read(saver: Saver, config: Any = None) -> Any:
    found = saver.get_tuple(config or thread())
    assert found is not None
    return found.checkpoint["channel_values"]["value"]


def test_what_is_read_again_is_the_same_and_nobody_elses(saver: Saver) -> None:
    put(saver, said(), "1")
    first = read(saver)
    for one, again in zip(first, read(saver), strict=True):
        assert type(one) is type(again) and one == again and one.model_fields_set == again.model_fields_set
        assert one is not again and one.model_dump() == again.model_dump()
    assert first == said()
    first[1].content[0]["text"] = "changed"
    first[2].tool_calls[0]["args"]["at"][1]["deep"] = "changed"
    first[2].response_metadata["n"] = "changed"
    first[3].artifact["kept"].append("changed")
    first[4].content = "changed"
    assert read(saver) == said()
    assert [t.checkpoint["channel_values"]["value"] for t in saver.list(thread())] == [said()]


def long() -> list[Any]:
    """So long that most of it is stored in chunks."""
    return [type(m)(**{**m.model_dump(), "id": f"{m.id}{n}"}) for n in range(40) for m in said()]


def spoil(messages: list[Any]) -> None:
    for m in messages:
        m.additional_kwargs["new"] = m.response_metadata["n"] = "changed"
        m.more = "changed"  # a field that it did not have
        m.model_fields_set.clear()
        if isinstance(m, AIMessage):
            m.tool_calls.append(dict(CALL))  # type: ignore[arg-type]
            m.tool_calls[0]["args"] = {}
        if isinstance(m, HumanMessage):
            m.content[0]["text"] = "changed"  # type: ignore[index]
        if isinstance(m, ToolMessage):
            m.artifact["kept"].clear()
    messages.clear()


def test_a_long_list_is_the_same_however_often_it_is_read_and_nobody_elses(saver: Saver) -> None:
    parent = None
    for n in range(4):
        parent = put(saver, long()[: 200 - n], str(n), parent)
    saver._shared.sound.clear()
    first = read(saver, parent)
    assert first == long()[:197] and not saver._shared.chunks
    for _ in range(4):
        again = read(saver, parent)
        assert again == first
        for one, other in zip(first, again, strict=True):
            assert type(one) is type(other) and one is not other and one.model_fields_set == other.model_fields_set
            assert one.model_dump() == other.model_dump() and repr(one) == repr(other)
        spoil(again)
    assert saver._shared.chunks, "what is read again is kept"
    for _ in range(2):
        for n, found in enumerate(saver.list(thread())):
            value = found.checkpoint["channel_values"]["value"]
            assert value == long()[: 197 + n]
            spoil(value)


def test_a_chunk_that_was_changed_is_noticed_though_its_messages_are_at_hand(saver: Saver) -> None:
    put(saver, long(), "1")
    for _ in range(3):
        assert read(saver) == long()
    assert saver._shared.chunks
    saver._shared.pieces.clear()
    (key,) = list(saver._shared.chunks)[:1]
    saver._store._db.write(
        saver._store.user,
        lambda tx: tx.run(
            "update checkpoint_pieces set data = :data where user_no = :user and key = :key", data=b"x" * 50, key=key
        ),
    )
    with pytest.raises(Damaged):
        read(saver)


class Shifting:
    """A cipher for tests."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "shifted", bytes(b ^ 0x5A for b in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "shifted"
        return bytes(b ^ 0x5A for b in ciphertext)


def test_what_is_at_hand_is_no_way_around_a_key(saver: Saver) -> None:
    plain, saver.serde = saver.serde, EncryptedSerializer(Shifting())
    put(saver, long(), "1")
    for _ in range(3):
        assert read(saver) == long()
    assert saver._shared.chunks
    saver.serde = plain
    with pytest.raises(Damaged):
        read(saver)


def test_no_more_messages_of_chunks_are_held_than_there_is_room_for(
    saver: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "HELD", 120)
    put(saver, long(), "1")
    for _ in range(4):
        assert read(saver) == long()
        assert sum(len(moulds) for _, moulds in saver._shared.chunks.values()) <= 120
    assert saver._shared.chunks
    saver._shared.forget_all()
    assert not saver._shared.chunks and read(saver) == long()


def test_few_messages_are_held_where_each_is_large_or_has_many_parts(
    saver: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte of what is stored may be an empty dict, of 64 bytes: with 7,000 of them a message had half a megabyte."""
    monkeypatch.setattr(remembered, "HELD", 1_000)
    many = [ToolMessage("x", id=f"{n}", tool_call_id="c", artifact={"rows": [{}] * 500}) for n in range(200)]
    large = [HumanMessage("x" * 4_000, id=f"{n}") for n in range(500)]
    for n, value in enumerate((many, large)):
        put(saver, value, str(n))
        for _ in range(3):
            assert read(saver) == value
        held = [m for _, moulds in saver._shared.chunks.values() for m in moulds]
        assert sum(len(m.whole["content"]) for m in held) <= 1_000_000
        assert sum(len(m.whole["artifact"]["rows"]) for m in held if "artifact" in m.whole) <= 20_000


def test_who_only_lists_does_not_remember_without_end(saver: Saver) -> None:
    for n in range(12):
        config: Any = {"configurable": {"thread_id": f"t{n}", "checkpoint_ns": ""}}
        put(saver, [HumanMessage(f"{n}-{i} " * 20, id=f"{n}-{i}") for i in range(10)], "1", config)
    with Saver(saver.store) as other:
        other._shared.room = 25
        assert len(list(other.list(None))) == 12
        assert 0 < len(other._shared.sound) <= 35, "what there is room for, and a list"
        assert sum(map(len, other._shared.said.values())) <= 35


@pytest.mark.parametrize("away", ["deleted", "pruned"])
def test_what_is_deleted_is_not_kept_in_memory(saver: Saver, away: str) -> None:
    put(saver, [*long(), HumanMessage("loose " * 20, id="loose")], "1")
    for _ in range(3):
        read(saver)
    assert saver._shared.chunks and saver._shared.sound
    if away == "deleted":
        saver.delete_thread("t")
    else:
        saver.prune(["t"], strategy="delete")
    kept = saver._shared
    assert not kept.chunks and not kept.sound and not kept.said and not kept.pieces


def test_a_type_that_was_not_there_is_constructed_when_it_is(saver: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, whose cells are run one after the other: until then its data is all there is of it."""
    module = types.ModuleType("cells")
    monkeypatch.setitem(sys.modules, "cells", module)
    kind = Enum("Fish", {"TENCH": "tench"}, module="cells")
    module.Fish = kind  # type: ignore[attr-defined]
    fish = ToolMessage("look " * 20, id="fish", tool_call_id="c", artifact=[kind("tench")])
    put(saver, [fish, *long(), fish, *long()], "1")
    saver._shared.forget_all()
    del module.Fish  # type: ignore[attr-defined]
    for _ in range(3):
        assert [m.artifact for m in read(saver) if m.id == "fish"] == [["tench"]] * 2
    module.Fish = kind  # type: ignore[attr-defined]
    for _ in range(3):
        assert [m for m in read(saver) if m.id == "fish"] == [fish, fish]


def test_a_serializer_that_constructs_by_itself_always_does(saver: Saver) -> None:
    put(saver, long(), "1")
    for _ in range(3):
        read(saver)
    saver.serde = JsonPlusSerializer(__unpack_ext_hook__=lambda code, data: "mine")
    assert read(saver) == ["mine"] * 200


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=9)
ATOM = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | TEXT
DATA = st.recursive(
    ATOM, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
DICT = st.dictionaries(TEXT, DATA, max_size=2)
CONTENT = TEXT | st.lists(
    TEXT | st.fixed_dictionaries({"type": st.just("text"), "text": TEXT, "more": DATA}), max_size=2
)
CALLS = st.lists(st.fixed_dictionaries({"name": TEXT, "args": DICT, "id": TEXT}), max_size=2)
BASE = {"content": CONTENT, "id": st.none() | TEXT, "additional_kwargs": DICT, "response_metadata": DICT}
ANY = st.one_of(
    st.builds(HumanMessage, **BASE),
    st.builds(SystemMessage, **BASE, name=st.none() | TEXT),
    st.builds(AIMessage, **BASE, tool_calls=CALLS),
    st.builds(ToolMessage, **BASE, tool_call_id=TEXT, artifact=DATA, status=st.sampled_from(["success", "error"])),
)


def parts(value: Any) -> set[int]:
    """All that can be changed in it."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(parts, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(parts, value))
    if isinstance(value, messages.BaseMessage):
        inner = [parts(value.__dict__), parts(value.__pydantic_extra__), parts(value.__pydantic_private__)]
        return {id(value), id(value.__pydantic_fields_set__)}.union(*inner)
    return set()


@given(st.lists(ANY, min_size=1, max_size=3))
def test_a_copy_is_what_reading_would_give_and_shares_nothing(said: list[Any]) -> None:
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    stored = serde.dumps_typed(said)
    fresh, known = serde.loads_typed(stored), serde.loads_typed(stored)
    moulds = copies.moulds(known)
    assert moulds is not None
    one, other = copies.cast(moulds), copies.cast(moulds)
    assert not parts(one) & parts(other) and not parts(one) & parts(known)
    for read, copied in zip(fresh, one, strict=True):
        assert type(read) is type(copied) and read == copied and repr(read) == repr(copied)
        assert list(read.__dict__) == list(copied.__dict__)
        for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
            assert getattr(read, name) == getattr(copied, name)
        assert read.model_dump() == copied.model_dump() and read.model_dump_json() == copied.model_dump_json()
        assert serde.dumps_typed(read) == serde.dumps_typed(copied)


@pytest.mark.parametrize(
    ("which", "change"),
    [
        (0, lambda m: setattr(m, "content", "be quick " * 9)),
        (1, lambda m: m.content.append({"type": "text", "text": "there"})),
        (2, lambda m: m.tool_calls[0]["args"].update(at=[True, {"deep": "sea"}])),
        (2, lambda m: m.response_metadata.update(n=True)),
        (2, lambda m: m.response_metadata.update(n=1.0)),
        (3, lambda m: m.artifact.update(kept=(1.5, None))),
        (3, lambda m: setattr(m, "status", "error")),
    ],
)
def test_a_message_that_was_changed_is_stored_as_it_is_now(saver: Saver, which: int, change: Any) -> None:
    config = put(saver, said(), "1")
    read(saver)
    value = read(saver)
    change(value[which])
    after = put(saver, value, "2", config)
    with Saver(saver.store) as other:  # which remembers nothing
        assert repr(read(other, after)) == repr([*value]).replace("(1.5, None)", "[1.5, None]")
        assert read(other, config) == said()


def test_the_order_of_a_dict_is_part_of_it() -> None:
    one, other = AIMessage("", additional_kwargs={"a": 1, "b": 2}), AIMessage("", additional_kwargs={"b": 2, "a": 1})
    assert one == other and not copies.is_twin(one, other) and copies.is_twin(one, copies.twin(one))


SIMPLE: list[Any] = [
    HumanMessage("look at the sea " * 4, id="1"),
    AIMessage("there is a fish " * 4, id="2", name="heron"),
    SystemMessage("be kind and brief " * 4, id="3"),
]


def test_what_was_written_a_moment_ago_is_read_as_another_reads_it(saver: Saver) -> None:
    put(saver, [m.model_copy() for m in SIMPLE], "1")
    mine = read(saver)
    with Saver(saver.store) as other:  # which remembers nothing
        theirs = read(other)
    for one, another in zip(mine, theirs, strict=True):
        assert type(one) is type(another) and one == another and one.model_fields_set == another.model_fields_set
        assert list(one.__dict__.items()) == list(another.__dict__.items())
        assert saver.serde.dumps_typed(one) == saver.serde.dumps_typed(another)
    mine[0].content = "changed"
    assert read(saver) == SIMPLE


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("no id"),
        HumanMessage([{"type": "text", "text": "blocks"}], id="1"),
        AIMessage("calls", id="1", tool_calls=[CALL]),
        AIMessage("more", id="1", additional_kwargs={"n": 1}),
        ToolMessage("fish", id="1", tool_call_id="c1"),
        HumanMessage.model_construct(content="odd", id="1", name=5),
        HumanMessage.model_construct(content="odd", id="1", type="ai"),
        AIMessage.model_construct(content="odd", id="1", usage_metadata={}),
        {"content": "no message", "id": "1"},
    ],
)
def test_only_what_is_plain_to_see_is_taken_for_what_would_be_read(message: Any) -> None:
    assert copies.as_read(message) is None


def test_an_id_that_a_message_gets_while_it_is_written_is_not_mixed_up(
    saver: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph gives ids to messages while what was written of them is stored in the background."""
    message, dump = AIMessage("first " * 20, id="old"), saver.serde.dumps_typed
    config = put(saver, ["begun " * 20], "1")

    def overtaken(value: Any) -> Any:
        found = dump(value)
        message.id = "new"
        return found

    monkeypatch.setattr(saver.serde, "dumps_typed", overtaken)
    saver.put_writes(config, [("value", [message])], "task")
    monkeypatch.undo()
    after = put(saver, [message], "2", config)
    for reader in (saver, Saver(saver.store)):
        assert [m.id for m in read(reader, after)] == ["new"]
        written = reader.get_tuple(config)
        assert written is not None and [m.id for m in (written.pending_writes or [])[0][2]] == ["old"]
