"""The OpenAI Agents SDK with the real package: a Runner whose model is faked, and its sessions brought in."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.items import ModelResponse
from agents.memory import Session as Protocol
from agents.memory import SessionSettings
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import recollect
from recollect.errors import InvalidInput, NotFound, StoreClosed
from recollect.openai_agents import Session
from recollect.transfer import openai_agents as importer

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """A model that answers what it is told to, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        self.asked.append(json.loads(json.dumps(input)))
        answer = self.answers.pop(0) if self.answers else f"answer {len(self.asked)}"
        return ModelResponse(output=[_output(answer, len(self.asked))], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _output(answer: Any, n: int) -> Any:
    if not isinstance(answer, str):
        return answer
    text = ResponseOutputText(text=answer, type="output_text", annotations=[])
    return ResponseOutputMessage(id=f"msg_{n}", content=[text], role="assistant", status="completed", type="message")


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


@pytest.fixture
def alex(url: str) -> Iterator[recollect.Store]:
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        yield store


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def said(items: list[Any]) -> list[str]:
    return [i["content"] if isinstance(i.get("content"), str) else i["content"][0]["text"] for i in items]


async def test_a_run_goes_on_where_the_last_one_ended(alex: recollect.Store) -> None:
    session = Session("talk", alex, workspace="/w")
    assert isinstance(session, Protocol)
    assert await session.get_items() == []
    model = Scripted("Hello Alex.", "You are Alex.")
    agent = Agent(name="helper", model=model)
    await Runner.run(agent, "I am Alex.", session=session, run_config=QUIET)
    done = await Runner.run(agent, "Who am I?", session=Session("talk", alex), run_config=QUIET)
    assert done.final_output == "You are Alex."
    assert said(model.asked[1]) == ["I am Alex.", "Hello Alex.", "Who am I?"]
    assert [(m.role, m.text) for m in alex.messages("talk")] == [
        ("user", "I am Alex."), ("assistant", "Hello Alex."), ("user", "Who am I?"), ("assistant", "You are Alex."),
    ]  # fmt: skip
    assert (alex.get("talk").title, alex.get("talk").workspace) == ("I am Alex.", "/w")
    assert alex.search("Alex")[0].conversation_id == "talk"


async def test_tools_are_events_and_come_back_as_they_were(alex: recollect.Store) -> None:
    call = ResponseFunctionToolCall(
        id="fc_1", call_id="call_1", name="weather", arguments='{"city":"Porto"}', type="function_call"
    )
    session, stock = Session("talk", alex), SQLiteSession("talk")
    for kept in (session, stock):
        agent = Agent(name="helper", model=Scripted(call, "It is sunny."), tools=[weather])
        await Runner.run(agent, "Weather in Porto?", session=kept, run_config=QUIET)
    assert await session.get_items() == await stock.get_items()  # what the SDK's own session gives
    stock.close()
    assert [(e.kind, e.tool, e.text) for e in alex.read("talk")] == [
        ("message", None, "Weather in Porto?"),
        ("tool_use", "weather", '{"city":"Porto"}'),
        ("tool_result", None, "sunny in Porto"),
        ("message", None, "It is sunny."),
    ]
    assert alex.search("sunny", kinds=["tool_result"])


ITEMS: list[Any] = [
    user("plain"),
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "parts"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}]},
    {"role": "developer", "content": "be brief"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "thinking"}], "encrypted_content": "gAAAAB=="},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "boats"}},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": ""},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "out"}]},
    {"type": "compaction", "encrypted_content": "x", "unknown": {"deep": [1, None, 1.5, "é\u2028"]}},
    {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [{"type": "refusal", "refusal": "no"}]},
]  # fmt: skip


async def test_no_item_is_lost_whatever_it_is(alex: recollect.Store) -> None:
    session = Session("talk", alex)
    await session.add_items(ITEMS)
    await session.add_items([])
    assert await session.get_items() == ITEMS
    texts = ["plain", "parts", "be brief", "thinking", "boats", "", "out", "", "no"]
    assert [e.text for e in alex.read("talk")] == texts
    for limit in (1, 3, len(ITEMS), 100):
        assert await session.get_items(limit) == ITEMS[-limit:]
    assert await session.get_items(0) == []
    few = Session("talk", alex, session_settings=SessionSettings(limit=2))
    assert await few.get_items() == ITEMS[-2:]
    assert await few.get_items(4) == ITEMS[-4:]
    with pytest.raises(InvalidInput):
        await session.add_items([3])  # type: ignore[list-item]
    assert len(await session.get_items()) == len(ITEMS)


async def test_settings_are_the_sdks_whichever_way_they_come(alex: recollect.Store) -> None:
    assert Session("a", alex).session_settings == SQLiteSession("a").session_settings == SessionSettings()
    few = Session("a", alex, session_settings={"limit": 2})
    assert few.session_settings == SessionSettings(limit=2)
    await few.add_items([{"role": "user", "content": str(n)} for n in range(4)])
    assert [item["content"] for item in await few.get_items()] == ["2", "3"]
    assert len(await few.get_items(limit=3)) == 3
    few.session_settings = {"limit": 1}  # type: ignore[assignment]
    assert [item["content"] for item in await few.get_items()] == ["3"]
    for wrong in ({"most": 2}, {"limit": "two"}):
        with pytest.raises(InvalidInput, match="limit"):
            Session("a", alex, session_settings=wrong)


async def test_closing_a_session_leaves_the_store_open(alex: recollect.Store) -> None:
    session = Session("a", alex)
    await session.add_items([{"role": "user", "content": "hello"}])
    session.close()
    session.close()
    for use in (session.get_items, session.pop_item, session.clear_session, lambda: session.add_items([])):
        with pytest.raises(StoreClosed, match="closed"):
            await use()
    assert [e.text for e in alex.messages("a")] == ["hello"]


async def test_what_no_database_keeps_does_not_end_a_run(alex: recollect.Store) -> None:
    odd: list[Any] = [
        {"role": ["user"], "content": "a list"},
        {"type": "function_call_output", "call_id": "1", "output": "\x7fELF\0\0 and \ud83d"},
        {"role": "user", "content": "a number", "n": float("nan"), "k\0": {7: "\0"}},
    ]
    session = Session("talk", alex)
    await session.add_items(odd)
    assert [e.text for e in alex.read("talk")] == ["a list", "\x7fELF\ufffd\ufffd and ?", "a number"]
    found: list[Any] = await session.get_items()
    assert found[1] == {**odd[1], "output": "\x7fELF\ufffd\ufffd and ?"}
    assert found[2] == {"role": "user", "content": "a number", "n": "nan", "k\ufffd": {"7": "\ufffd"}}


async def test_the_newest_of_many_are_found_behind_other_events(alex: recollect.Store) -> None:
    session = Session("talk", alex)
    await session.add_items([user(f"item {i}") for i in range(5)])
    alex.append_many("talk", [{"kind": "note", "text": "noise"}] * 400)
    assert said(await session.get_items(3)) == ["item 2", "item 3", "item 4"]


async def test_two_that_pop_at_once_get_two_items(store: recollect.Store) -> None:
    session = Session("s", store)
    await session.add_items([user(f"{n}") for n in range(10)])
    popped = await asyncio.gather(*(session.pop_item() for _ in range(10)))
    assert sorted(said(list(popped))) == [f"{n}" for n in range(10)]
    assert await session.pop_item() is None


async def test_items_are_taken_back(alex: recollect.Store) -> None:
    session = Session("talk", alex)
    assert await session.pop_item() is None
    await session.add_items([user("one"), user("two")])
    assert await session.pop_item() == user("two")
    assert await session.get_items() == [user("one")]
    assert await session.pop_item() == user("one")
    assert await session.pop_item() is None
    await session.add_items([user("three")])
    assert alex.read("talk")[0].seq == 3  # numbers are never used again
    await session.clear_session()
    assert await session.get_items() == []
    assert alex.verify().ok
    await Session("nobody", alex).clear_session()
    with pytest.raises(NotFound):
        alex.get("nobody")


async def test_a_branch_that_was_summarized_can_be_cleared(alex: recollect.Store) -> None:
    first = Session("talk", alex)
    await first.add_items([user("one")])
    second = await first.fork(name="other")
    await second.add_items([user(f"{n}") for n in range(10)])
    assert alex.summarize("talk", branch="other")
    await second.clear_session()
    assert await second.get_items() == []
    assert said(await first.get_items()) == ["one"]
    assert alex.verify().ok


async def test_a_branch_shares_what_was_before_it_and_leaves_it_alone(alex: recollect.Store) -> None:
    first = Session("talk", alex)
    await first.add_items([user("one"), user("two"), user("three")])
    second = await first.fork(2, name="other")
    assert second.branch == "other"
    await second.add_items([user("instead")])
    assert said(await second.get_items()) == ["one", "two", "instead"]
    assert said(await first.get_items()) == ["one", "two", "three"]
    assert said([await second.pop_item(), await second.pop_item()]) == ["instead", "two"]
    assert said(await second.get_items()) == ["one"]
    await second.add_items([user("again")])
    assert said(await second.get_items()) == ["one", "again"]
    assert said(await first.get_items()) == ["one", "two", "three"]
    assert said([await first.pop_item(), await first.pop_item()]) == ["three", "two"]
    assert said(await first.get_items()) == ["one"]
    await first.add_items([user("mine")])
    await second.clear_session()
    assert await second.get_items() == []
    assert said(await first.get_items()) == ["one", "mine"]
    third = await first.fork()
    await third.add_items([user("later")])
    assert said(await third.get_items()) == ["one", "mine", "later"]
    empty = await first.fork(0)
    assert await empty.get_items() == []
    with pytest.raises(InvalidInput):
        await first.fork(9)
    assert alex.verify().ok


async def test_what_other_doors_said_is_part_of_it(alex: recollect.Store) -> None:
    alex.append(alex.create("talk"), role="user", text="said elsewhere")
    model = Scripted("I know.")
    await Runner.run(Agent(name="a", model=model), "And now?", session=Session("talk", alex), run_config=QUIET)
    assert said(model.asked[0]) == ["said elsewhere", "And now?"]


async def test_many_sessions_at_once(alex: recollect.Store) -> None:
    async def talk(n: int) -> None:
        session = Session("talk", alex)
        for i in range(5):
            await session.add_items([user(f"{n}:{i} a"), user(f"{n}:{i} b")])

    await asyncio.gather(*map(talk, range(4)))
    items = said(await Session("talk", alex).get_items())
    assert len(items) == 40
    assert all(b == a[:-1] + "b" for a, b in zip(items[::2], items[1::2], strict=True))  # what came together stays so


async def test_secrets_are_replaced(alex: recollect.Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    session = Session("talk", alex)
    await session.add_items([user(f"my token is {secret}")])
    assert "a1B2c3" not in repr(await session.get_items()) + repr(alex.read("talk"))


# -- sessions that are there already


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.db"
    for name in ("one", "two"):
        session = SQLiteSession(name, path)
        await Runner.run(Agent(name="a", model=Scripted()), f"I am {name}.", session=session, run_config=QUIET)
        await session.add_items(ITEMS)
        session.close()
    return path


async def test_its_sessions_are_brought_in_whole(alex: recollect.Store, file: Path) -> None:
    was = hashlib.sha256(file.read_bytes()).hexdigest()
    told: list[Any] = []
    found = importer.bring(alex, file, progress=lambda *p: told.append(p))
    assert (found.added, found.known, found.problems) == ({"conversations": 2, "events": 22}, {}, ())
    assert told[-1] == ("items", 22, 22)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == was
    stock = SQLiteSession("one", file)
    mine = Session("one", alex)
    assert await mine.get_items() == await stock.get_items()
    assert (alex.get("one").title, alex.get("one").origin) == ("I am one.", "import")
    assert abs(alex.get("one").created_at - alex.read("one")[0].created_at) < 120_000
    await stock.add_items([user("since then")])
    stock.close()
    again = importer.bring(alex, file)
    assert (again.added, again.known["events"]) == ({"conversations": 0, "events": 1}, 22)
    assert said((await mine.get_items())[-1:]) == ["since then"]
    await mine.add_items([user("and here")])
    assert importer.bring(alex, file).added == {"conversations": 0, "events": 0}


async def test_what_was_taken_back_here_does_not_come_again(alex: recollect.Store, file: Path) -> None:
    importer.bring(alex, file)
    mine = Session("one", alex)
    await mine.pop_item()
    alex.delete_event("one", 2)
    alex.erase(source=alex.read("one")[1].id)
    alex.clear("two")
    left = await mine.get_items()
    assert importer.bring(alex, file).added == {"conversations": 0, "events": 0}
    stock = SQLiteSession("two", file)
    await stock.add_items([user("since then")])
    stock.close()
    assert importer.bring(alex, file).added == {"conversations": 0, "events": 1}
    assert await mine.get_items() == left
    assert said(await Session("two", alex).get_items()) == ["since then"]
    alex.annotate("one", {importer.LAST: None})  # as an import leaves it that was interrupted
    importer.bring(alex, file)
    assert len(await mine.get_items()) == len(left) + 2, "what was erased stays away"


async def test_two_imports_at_once_are_one(alex: recollect.Store, file: Path) -> None:
    found = await asyncio.gather(*[asyncio.to_thread(importer.bring, alex, file) for _ in range(4)])
    assert [one.problems for one in found] == [()] * 4
    assert sum(one.added["conversations"] for one in found) == 2
    assert [alex.get(name).last_seq for name in ("one", "two")] == [11, 11]


async def test_odd_sessions_keep_no_other_out(alex: recollect.Store, tmp_path: Path) -> None:
    names = ("", "a\0b", "last", "x" * 400)
    for name in names:
        session = SQLiteSession(name, tmp_path / "odd.db")
        await session.add_items([user("nul\0, half \ud83d")])
        session.close()
    found = importer.bring(alex, tmp_path / "odd.db")
    assert (found.added, found.problems) == ({"conversations": 4, "events": 4}, ())
    assert importer.bring(alex, tmp_path / "odd.db").added == {"conversations": 0, "events": 0}
    assert {c.metadata.get("session_id") for c in alex.conversations()} == {"", "a\ufffdb", None, "x" * 400}


async def test_what_cannot_be_taken_is_reported(alex: recollect.Store, file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute("update agent_messages set message_data = '{broken' where id = 2")
        connection.execute("update agent_messages set message_data = '[1]' where id = 3")
    connection.close()
    alex.append(alex.create("two"), role="user", text="mine")
    found = importer.bring(alex, file)
    assert [p.where for p in found.problems] == ["row 2 of agent_messages", "row 3 of agent_messages", "session two"]
    assert found.added == {"conversations": 1, "events": 9}
    assert [e.text for e in alex.read("two")] == ["mine"]
    again = importer.bring(alex, file)
    assert (again.added["events"], len(again.problems)) == (0, 3)
    with sqlite3.connect(file) as connection:
        connection.execute(
            'update agent_messages set message_data = \'{"role": "user", "content": "mended"}\' where id = 2'
        )
    connection.close()
    assert importer.bring(alex, file).added["events"] == 1


def test_other_files_are_refused(alex: recollect.Store, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        importer.bring(alex, tmp_path / "nothing")
    (tmp_path / "text").write_text("hello " * 1000)
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("create table agent_sessions (session_id text)")
    connection.close()
    for name in ("text", "other.db"):
        assert not importer.looks_like(tmp_path / name)
        with pytest.raises(InvalidInput):
            importer.bring(alex, tmp_path / name)
