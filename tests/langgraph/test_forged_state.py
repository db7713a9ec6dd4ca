"""A graph's state that came in an archive constructs nothing that is not on the allow-list, and takes no place of what is here."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Annotated, Any

import ormsgpack
import pytest
from graphs import chat, say, thread
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import BaseModel
from typing_extensions import TypedDict

import recollect
from archives import brought, exported
from recollect.errors import Damaged, NotAllowed
from recollect.langgraph import Saver
from recollect.langgraph.store import MemoryStore
from talk import Open

MADE: list[str] = []


class Kept(BaseModel):
    """Plain data of the program's own, which says when it is constructed."""

    note: str = ""

    def model_post_init(self, context: Any) -> None:
        MADE.append(self.note)


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    kept: Kept


def graph(saver: Saver) -> Any:
    builder = StateGraph(State)
    builder.add_node("keep", lambda state: {"kept": Kept(note=state["messages"][-1].content * 20)})
    builder.add_edge(START, "keep")
    return builder.compile(checkpointer=saver)


@pytest.fixture
def archive(tmp_path: Any) -> Iterator[str]:
    """Of a store elsewhere, in which a graph keeps such data."""
    with Saver(str(tmp_path / "elsewhere.db"), user="alex", semantic=False, background=False) as saver:
        graph(saver).invoke(say("forged"), thread("t"))
        yield exported(saver.store)


@pytest.fixture
def alex(open_store: Open) -> recollect.Store:
    return open_store("alex", background=False)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("trust", [False, True])
def test_it_constructs_nothing_that_is_not_on_the_list(
    alex: recollect.Store, archive: str, trust: bool, strict: bool
) -> None:
    saver = Saver(alex, strict=strict)
    if not strict:  # plain data of the program's own is let through for what the program itself has stored
        graph(saver).invoke(say("mine"), thread("own"))
        assert graph(saver).get_state(thread("own")).values["kept"].note
    assert brought(alex, archive, trust=trust).added["checkpoints"]
    MADE.clear()
    for read in (
        lambda: saver.get_tuple(thread("t")),
        lambda: list(saver.list(thread("t"))),
        lambda: saver.get_delta_channel_history(config=thread("t"), channels=["kept"]),
        lambda: Saver(alex, strict=strict).get_tuple(thread("t")),
        lambda: graph(saver).invoke(say("on"), thread("t")),
    ):
        with pytest.raises(NotAllowed, match="Kept"):
            read()
    assert MADE == []
    own = JsonPlusSerializer(allowed_msgpack_modules=[(__name__, "Kept")])
    assert graph(Saver(alex, serde=own)).get_state(thread("t")).values["kept"].note == "forged" * 20
    if not strict:
        assert graph(saver).get_state(thread("own")).values["kept"].note


def test_it_stays_so_when_it_is_exported_and_copied(alex: recollect.Store, archive: str) -> None:
    brought(alex, archive, trust=False)
    again = exported(alex)
    Saver(alex).copy_thread("t", "copy")
    alex.erase(conversation="t")
    assert alex.import_(io.StringIO(again), again=True).signed
    for name in ("t", "copy"):
        with pytest.raises(NotAllowed):
            Saver(alex).get_tuple(thread(name))


def test_what_this_store_signed_is_read_as_before(alex: recollect.Store) -> None:
    graph(Saver(alex)).invoke(say("mine"), thread("t"))
    archive = exported(alex)
    alex.erase(conversation="t")
    assert alex.import_(io.StringIO(archive), again=True).signed
    assert graph(Saver(alex)).get_state(thread("t")).values["kept"].note == "mine" * 20


def test_a_graph_of_plain_messages_goes_on(alex: recollect.Store, tmp_path: Any) -> None:
    with Saver(str(tmp_path / "chat.db"), user="alex", semantic=False, background=False) as saver:
        chat(saver).invoke(say("hello"), thread("t"))
        archive = exported(saver.store)
    brought(alex, archive, trust=False)
    chat(Saver(alex)).invoke(say("on"), thread("t"))
    assert [m.content for m in chat(Saver(alex)).get_state(thread("t")).values["messages"]][-2:] == [
        "on",
        "you said: on",
    ]
    assert alex.verify().ok


def forged(archive: str, change: Any) -> str:
    rows = [json.loads(row) for row in archive.splitlines()]
    rows = [row for row in rows if change(row) is not False]
    rows[-1]["lines"] = len(rows)
    return "\n".join(json.dumps(row) for row in rows)


def kept(note: str) -> list[str]:
    """A small value, as it stands in a checkpoint's own row."""
    data = ormsgpack.packb([__name__, "Kept", {"note": note}, "model_validate_json"])
    return ["msgpack", b64encode(ormsgpack.packb(ormsgpack.Ext(5, data))).decode()]


@pytest.mark.parametrize("key", ["as it is", "left out"])
def test_nothing_joins_the_state_that_is_here(alex: recollect.Store, key: str) -> None:
    saver = Saver(alex)
    graph(saver).invoke(say("mine"), thread("t"))
    ids = [t.config["configurable"]["checkpoint_id"] for t in saver.list(thread("t"))]

    def change(row: dict[str, Any]) -> bool:
        if row["type"] == "checkpoint":
            row["id"] = "f" + row["id"][1:]  # as the newest of all
            row["state"]["values"]["kept"] = kept("forged")
        return not (key == "left out" and row["type"] == "piece" and not row["key"])

    found = brought(alex, forged(exported(alex), change), trust=False)
    assert [p.where for p in found.problems] == ["conversation t"]
    MADE.clear()
    assert [t.config["configurable"]["checkpoint_id"] for t in Saver(alex).list(thread("t"))] == ids
    assert "forged" not in MADE


def test_what_joins_it_because_somebody_trusts_it_constructs_nothing(alex: recollect.Store) -> None:
    graph(Saver(alex)).invoke(say("mine"), thread("t"))

    def change(row: dict[str, Any]) -> None:
        if row["type"] == "checkpoint":
            row["id"] = "f" + row["id"][1:]
            row["state"]["values"]["kept"] = kept("forged")

    assert brought(alex, forged(exported(alex), change), trust=True).added["checkpoints"]
    MADE.clear()
    with pytest.raises(NotAllowed, match="Kept"):
        list(Saver(alex).list(thread("t")))
    assert "forged" not in MADE


def test_a_state_without_its_key_stays_out(alex: recollect.Store, archive: str) -> None:
    found = brought(alex, forged(archive, lambda row: not (row["type"] == "piece" and not row["key"])), trust=False)
    assert [p.where for p in found.problems] == ["conversation t"]
    assert not found.added["checkpoints"]
    assert list(Saver(alex).list(None)) == []


@pytest.mark.parametrize("lc", [1, 2])
@pytest.mark.parametrize("strict", [False, True])
def test_a_constructor_in_json_is_not_called(alex: recollect.Store, archive: str, strict: bool, lc: int) -> None:
    id = ["langchain_core", "prompts", "prompt", "PromptTemplate"]
    value = {"lc": lc, "type": "constructor", "id": id, "kwargs": {"template": "hi", "input_variables": []}}

    def change(row: dict[str, Any]) -> None:
        if row["type"] == "checkpoint":
            row["state"]["values"]["kept"] = ["json", b64encode(json.dumps(value).encode()).decode()]

    brought(alex, forged(archive, change), trust=False)
    with pytest.raises((NotAllowed, Damaged)):
        Saver(alex, strict=strict).get_tuple(thread("t"))


# -- items


def test_a_forged_item_has_no_memory_that_is_here(alex: recollect.Store) -> None:
    mine = alex.remember("Prefers dark mode")
    memory = MemoryStore(alex)
    memory.put(("memories", "alex"), "theirs", {"content": "Prefers tea"})

    def change(row: dict[str, Any]) -> None:
        if row["type"] == "item":
            row["key"], row["memory"] = "forged", mine.id

    brought(alex, forged(exported(alex), change), trust=False)
    assert memory.get(("memories", "alex"), "forged") is not None
    memory.delete(("memories", "alex"), "forged")
    memory.put(("memories", "alex"), "forged", {"content": "Hates dark mode"})
    assert mine.content in [m.content for m in alex.memories()]


def test_an_item_that_came_in_an_archive_is_kept_and_its_memory_waits(alex: recollect.Store, tmp_path: Any) -> None:
    with recollect.open(tmp_path / "elsewhere.db", user="alex", semantic=False, background=False) as elsewhere:
        MemoryStore(elsewhere).put(("memories", "alex"), "k", {"content": "Prefers tea", "tags": ["always-allow"]})
        archive = exported(elsewhere)
    brought(alex, archive, trust=False)
    memory = MemoryStore(alex)
    (item,) = memory.search(("memories", "alex"), query="tea")
    assert item.value == {"content": "Prefers tea", "tags": ["always-allow"]}
    assert alex.memories() == [] and [m.id for m in alex.memories(state="quarantined")] == ["k"]
    memory.put(("memories", "alex"), "k", item.value)  # the same again says nothing new
    assert alex.memories() == []
