"""What an agent node is handed in, and how: payloads, pictures and files, stores that can only be awaited."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Iterable
from typing import Any

import pytest
from bots import graph, webhook
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from payloads import TELEGRAM
from test_agent_node import Bot

import recollect
from recollect.langgraph import AgentNode, MemoryStore
from talk import Open, texts

# -- the question in the inputs


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        HumanMessage("hello"),
        {"role": "user", "content": "hello"},
        {"type": "human", "content": "hello"},
        {"text": "hello", "chat": {"id": 7}},
        {"content": "hello", "message_id": 3},
        {"update_id": 1, "message": {"message_id": 3, "text": "hello"}},
        {"msgtype": "text", "text": {"content": "hello"}},
        {"photo": [{"file_id": "x"}], "caption": "hello"},
        [("user", "hello")],
        ["hello"],
    ],
    ids=str,
)
@pytest.mark.parametrize("is_on", [True, False])
def test_the_message_may_come_in_the_inputs(message: Any, is_on: bool) -> None:
    bot = Bot()
    node = AgentNode(bot, is_on, history_key_candidates=["room"], store=InMemoryStore())
    for _ in range(2):
        update = node.invoke({"inputs": {"message": message}})["messages"]
        assert [m.text for m in update] == ["hello", f"answer {len(bot.shown)}"]
    before = ["human: hello", "ai: answer 1"] if is_on else []
    assert bot.shown == [["human: hello"], [*before, "human: hello"]]


@pytest.mark.parametrize("inputs", [None, {}, {"message": ""}, {"message": 7}, {"message": {"photo": []}}, "hello", []])
def test_inputs_without_a_message_are_none(inputs: Any) -> None:
    bot = Bot()
    AgentNode(bot).invoke({"inputs": inputs})
    assert bot.shown == [[]]


def test_a_thread_with_a_checkpointer_takes_each_message_of_its_inputs_once(open_store: Open) -> None:
    bot, store = Bot(), open_store()
    compiled = graph(AgentNode(bot, True), checkpointer=InMemorySaver(), store=MemoryStore(store))
    said = ["yes", "yes", "no", "yes"]
    for text in said:
        compiled.invoke({"inputs": {"message": {"text": text}}}, {"configurable": {"thread_id": "t"}})
    assert bot.shown[-1][::2] == [f"human: {text}" for text in said]
    assert len(bot.shown[-1]) == 7
    kept = store.messages("agent_chat_history/t", limit=None)
    assert [m.text for m in kept if m.role == "user"] == said


def test_a_message_of_the_inputs_does_not_come_between_an_answer_and_its_tools() -> None:
    bot = Bot()
    call = {"name": "look", "args": {}, "id": "1"}
    given = [HumanMessage("look", id="h"), AIMessage("", tool_calls=[call])]
    AgentNode(bot).invoke({"messages": given, "inputs": {"message": "look"}})
    AgentNode(bot).invoke({"messages": given[:1], "inputs": {"message": "something else"}})
    assert bot.shown == [["human: look", "ai: "], ["human: look"]]


def test_off_nothing_is_cut() -> None:
    bot = Bot()
    AgentNode(bot, max_messages=3).invoke({"messages": [HumanMessage(f"turn {n}") for n in range(50)]})
    assert len(bot.shown[0]) == 50


# -- pictures and files


PICTURE = base64.b64encode(random.Random(7).randbytes(300_000)).decode()
BLOCKS: list[Any] = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}", "detail": "low"}},
    {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
    {"type": "image", "source_type": "base64", "data": PICTURE, "mime_type": "image/jpeg"},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PICTURE}"}},
    {"type": "input_audio", "input_audio": {"data": PICTURE, "format": "wav"}},
]


@pytest.mark.parametrize("where", ["ours", "stock"])
def test_pictures_and_files_survive(open_store: Open, where: str) -> None:
    store, shown = open_store(), list[list[BaseMessage]]()

    def agent(state: dict[str, Any]) -> AIMessage:
        shown.append(state["messages"])
        return AIMessage(
            [{"type": "text", "text": "A cat"}, {"type": "image_url", "image_url": {"url": "https://x/y"}}]
        )

    node = AgentNode(agent, True, history_key_candidates=["room"])
    compiled = graph(node, store=MemoryStore(store) if where == "ours" else InMemoryStore())
    compiled.invoke({"messages": [HumanMessage(BLOCKS)]})
    webhook(compiled, "and now?")
    assert shown[1][0].content == BLOCKS
    assert shown[1][1].content[1] == {"type": "image_url", "image_url": {"url": "https://x/y"}}
    if where == "ours":
        assert texts(store.messages("agent_chat_history/room"))[0].startswith("What is this?\n[image_url]")


def test_what_is_written_beside_a_picture_is_searched_for_secrets(open_store: Open) -> None:
    store, bot = open_store(), Bot()
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    told = base64.b64encode(f"my token is {secret}, and it is long enough to be a file".encode()).decode()
    blocks: list[Any] = [
        {"type": "text", "text": f"my token is {secret}"},
        {"type": "image_url", "image_url": {"url": f"https://example.com/?token={secret}"}},
        {"type": "file", "file": {"file_data": f"data:text/plain;base64,{told}"}},
    ]
    compiled = graph(AgentNode(bot, True, history_key_candidates=["room"]), store=MemoryStore(store))
    compiled.invoke({"messages": [HumanMessage(blocks)]})
    event = store.read("agent_chat_history/room")[0]
    assert secret not in event.text + str(event.payload)
    assert "[redacted:" in event.text
    assert told in str(event.payload)  # not taken to pieces: it is text, and whoever looks for secrets sees it whole


# -- a store that can only be awaited


class Awaited(BaseStore):
    def __init__(self) -> None:
        self.inner = InMemoryStore()
        self.loops: set[Any] = set()

    def batch(self, ops: Iterable[Any]) -> Any:
        raise NotImplementedError("await it")

    async def abatch(self, ops: Iterable[Any]) -> Any:
        self.loops.add(asyncio.get_running_loop())
        return await self.inner.abatch(ops)


class Sync(InMemoryStore):
    async def abatch(self, ops: Iterable[Any]) -> Any:
        raise NotImplementedError("call it")


@pytest.mark.parametrize("store", [Awaited(), Sync()], ids=["awaited", "sync"])
def test_a_store_of_one_kind_has_a_history_in_an_async_graph(store: Any) -> None:
    bot = Bot()
    node = AgentNode(bot, True)
    compiled = graph(node, store=store)

    async def go() -> None:
        for n in range(3):
            delivery = {"messages": [HumanMessage(f"turn {n}")], "results": TELEGRAM.results}
            await compiled.ainvoke(delivery, {"configurable": {"thread_id": f"t{n}"}})
        if isinstance(store, Awaited):
            assert store.loops == {asyncio.get_running_loop()}

    asyncio.run(go())
    assert bot.shown[2] == ["human: turn 0", "ai: answer 1", "human: turn 1", "ai: answer 2", "human: turn 2"]
    assert node.metrics()["read_errors"] == node.metrics()["write_errors"] == 0


def test_langgraphs_async_sqlite_store_and_our_async_store(url: str, tmp_path: Any) -> None:
    from langgraph.store.sqlite import AsyncSqliteStore

    async def go(store: Any, node_store: Any = None) -> None:
        bot = Bot()
        compiled = graph(AgentNode(bot, True, store=node_store), store=store)
        for n in range(2):
            delivery = {"messages": [HumanMessage(f"turn {n}")], "results": TELEGRAM.results}
            await compiled.ainvoke(delivery, {"configurable": {"thread_id": f"t{n}"}})
        assert bot.shown[1] == ["human: turn 0", "ai: answer 1", "human: turn 1"]

    async def both() -> None:
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "stock.db")) as stock:
            await stock.setup()
            await go(stock)
        ours = await recollect.open_async(url, user="bot", semantic=False, background=False)
        await go(None, node_store=ours)
        await ours.close()

    asyncio.run(both())


# -- what an application kept by hand


def test_a_list_that_was_kept_by_hand_in_our_store_is_the_beginning(open_store: Open) -> None:
    store, bot = open_store(), Bot()
    memory = MemoryStore(store)
    memory.put(("sessions",), "room", {"turns": [{"role": "user", "content": "I am Kim"}, "and 42", 7]})
    node = AgentNode(
        bot, True, history_namespace=["sessions"], history_value_field="turns", history_key_candidates=["room"]
    )
    compiled = graph(node, store=memory)
    webhook(compiled, "Who am I?")
    webhook(compiled, "And now?")
    assert bot.shown[1][0] == "human: I am Kim"
    assert bot.shown[1][-3:] == ["human: Who am I?", "ai: answer 1", "human: And now?"]
    assert node.metrics()["unreadable"] >= 2
    webhook(compiled, "/reset")
    webhook(compiled, "Who am I?")
    assert bot.shown[-1] == ["human: Who am I?"]
