"""Messages that were read a moment ago are copied, and those that are what they were are not written anew: nobody notices."""

from __future__ import annotations

from typing import Any

import pytest
from graphs import thread
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from recollect.errors import Damaged
from recollect.langgraph import Saver, messages, remembered

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
    assert one == other and not messages.is_twin(one, other) and messages.is_twin(one, messages.twin(one))


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
    assert messages.as_read(message) is None


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
