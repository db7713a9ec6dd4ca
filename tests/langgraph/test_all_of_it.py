"""`redact_state = "all"`: no text of anything a checkpointer stores holds a secret; what cannot be replaced is refused."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from typing import Any

import pytest
from graphs import thread
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from recollect.errors import InvalidInput
from recollect.langgraph import Saver

SECRETS = {name: f"ghp_{name:a<6}A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" for name in (
    "input", "channel", "args", "asked", "answer", "raised", "sent", "mkey", "mvalue", "ckey", "cvalue", "tag", "runname",
)}  # fmt: skip


def stored(raw: Any) -> bytes:
    """All that is in the tables, with what is deflated or in base64 as it was."""
    rows = [row for table in TABLES for row in raw(f"select * from {table}")]
    found = [
        bytes(cell) if isinstance(cell, (bytes, memoryview)) else str(cell).encode() for row in rows for cell in row
    ]
    for data in list(found):
        for wbits in (15, -15, 31):
            try:
                found.append(zlib.decompress(data, wbits))
            except zlib.error:
                continue
    for data in list(found):
        found += [
            b64decode(run + b"=" * (-len(run) % 4))
            for run in re.findall(rb"[A-Za-z0-9+/]{16,}", data)
            if len(run) % 4 != 1
        ]
    return b"\n".join(found)


TABLES = ("checkpoints", "checkpoint_writes", "checkpoint_pieces", "checkpoint_messages", "events", "conversations")


class State(TypedDict, total=False):
    messages: list[Any]
    notes: dict[str, Any]
    answer: str


def graph(saver: Saver) -> Any:
    def think(state: State) -> Any:
        call = {"name": "login", "args": {SECRETS["args"]: [SECRETS["args"]]}, "id": "c", "type": "tool_call"}
        return {"messages": [AIMessage("", tool_calls=[call])], "notes": {SECRETS["channel"]: {SECRETS["channel"]}}}

    def fan(state: State) -> list[Send]:
        return [Send("ask", {"notes": {"told": SECRETS["sent"]}})]

    def ask(state: State) -> Any:
        return {"answer": interrupt({"please": SECRETS["asked"]})}

    def fail(state: State) -> Any:
        raise ValueError(f"refused: {SECRETS['raised']}")

    builder = StateGraph(State)
    builder.add_node("think", think)
    builder.add_node("ask", ask)
    builder.add_node("fail", fail)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", fan, ["ask"])
    builder.add_edge("ask", "fail")
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_all_means_all(url: str, raw: Any, durability: Any) -> None:
    """Channels, writes, tool arguments, interrupts, what is sent and raised, the keys and values of a config."""
    config: Any = {
        **thread(**{SECRETS["ckey"]: 1, "note": SECRETS["cvalue"]}),
        "metadata": {
            SECRETS["mkey"]: 1,
            "deep": [{SECRETS["mkey"]: SECRETS["mvalue"]}],
            "writes": {SECRETS["mkey"]: 1},
        },
        "tags": [SECRETS["tag"]],
        "run_name": SECRETS["runname"],
    }
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        made = graph(saver)
        made.invoke({"notes": {"in": SECRETS["input"]}}, config, durability=durability)
        with pytest.raises(ValueError, match="refused"):
            made.invoke(Command(resume=SECRETS["answer"]), config, durability=durability)
        assert made.get_state(thread()).next == ("fail",)
        kept = stored(raw)
        left = [name for name, secret in SECRETS.items() if secret.encode() in kept]
        assert left == []
        assert saver.scan() == []


@pytest.mark.parametrize("where", ["node", "channel", "task"])
def test_a_name_that_is_a_secret_is_refused(url: str, raw: Any, where: str) -> None:
    """Names are what a graph is resumed by, so they cannot be replaced: they are the program's own, and no place for a secret."""
    secret = SECRETS["channel"]
    with Saver(url, user="alex", semantic=False, background=False, redact_state="all") as saver:
        builder = StateGraph(TypedDict("S", {"value": str, secret: str}) if where == "channel" else State)  # type: ignore[misc]
        name = secret if where == "node" else "work"
        builder.add_node(name, lambda state: {secret: "x"} if where == "channel" else {"answer": "x"})
        builder.add_edge(START, name)
        made = builder.compile(checkpointer=saver)
        with pytest.raises(InvalidInput, match="github-token") as e:
            if where == "task":
                found = made.invoke({"answer": "a"}, thread("u"))
                assert found
                state = made.get_state(thread("u"))
                saver.put_writes(state.config, [("answer", "b")], "task", secret)
            else:
                made.invoke({"value": "a", secret: "b"} if where == "channel" else {"answer": "a"}, thread())
        assert secret not in str(e.value)
        assert secret.encode() not in stored(raw)
