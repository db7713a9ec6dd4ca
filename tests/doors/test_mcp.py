"""A model's view of the store: a real MCP client, in process, over stdin and stdout of a real process, and over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from terminal import CTRL_C, Terminal

import recollect
from recollect.mcp import WINDOW, server

TOOLS = {
    "memory_search", "memory_context", "recall", "read_conversation", "list_conversations", "remember", "forget",
}  # fmt: skip


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return json.loads(answer.content[0].text)  # type: ignore[union-attr]


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


def fill(store: recollect.Store) -> None:
    c = store.create("boat", title="The boat", workspace="/w")
    for i in range(30):
        store.append(c, role="user", text=f"we painted part {i} of the boat blue")
        store.append(c, role="assistant", text=f"noted {i}")
    store.append(c, kind="tool_use", tool="Write", path="hull.md", text="x" * 3_000)
    other = store.create("secret plan", workspace="/other")
    store.append(other, role="user", text="the boat is a decoy")
    store.remember("Prefers dark mode", kind="preference", tags=["ui"], source="boat:1")
    store.remember("Only for the other one", workspace="/other")
    store.remember("Only in the plan", conversation=other)


@pytest.fixture
def filled(url: str) -> Iterator[recollect.Store]:
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        fill(store)
        yield store


class Model:
    """A client of its own for each call: one that is open for a whole test would be closed in another task."""

    def __init__(self, store: recollect.Store, workspace: str | None = None) -> None:
        self._server = server(store, workspace=workspace)

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            try:
                async with Client(self._server) as opened:
                    return await getattr(opened, name)(*args, **kwargs)
            except ExceptionGroup as group:
                error: BaseException = group
                while isinstance(error, BaseExceptionGroup):
                    error = error.exceptions[0]
                raise error from None

        return call


@pytest.fixture
def client(filled: recollect.Store) -> Any:
    return Model(filled)


# -- what a model sees


async def test_each_tool_says_what_it_is_for_and_what_it_does(client: Client, filled: recollect.Store) -> None:
    tools = {t.name: t for t in (await client.list_tools()).tools}
    assert tools.keys() == TOOLS
    for name, tool in tools.items():
        assert tool.description is not None
        assert len(tool.description) > 80
        assert "\n" not in tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name not in ("remember", "forget"))
        assert all("description" in p or "enum" in p for p in tool.input_schema["properties"].values()), name
    assert tools["forget"].annotations.destructive_hint  # type: ignore[union-attr]
    async with Client(server(filled, read_only=True)) as reader:
        assert {t.name for t in (await reader.list_tools()).tools} == TOOLS - {"remember", "forget"}


async def test_search_says_when_nothing_is_about_it(client: Client) -> None:
    found = await ask(client, "memory_search", query="quarterly tax filing in Peru")
    assert (found["hits"], found["note"]) == ([], "Nothing is about it.")


async def test_what_had_a_secret_in_it_is_left_out_unless_asked_for_and_marked(
    client: Client, filled: recollect.Store
) -> None:
    filled.append("boat", role="user", text="the harbour login is password=hunter2-Xk49vQ!7")
    assert not any("harbour" in h["text"] for h in (await ask(client, "memory_search", query="harbour login"))["hits"])
    (hit,) = (await ask(client, "memory_search", query="harbour login", sensitive=True, limit=1))["hits"]
    assert "harbour" in hit["text"]
    assert hit["sensitive"] is True
    read = await ask(client, "read_conversation", conversation_id="boat", around=hit["seq"], limit=1)
    assert [e.get("sensitive") for e in read["events"]] == [True]


async def test_search_finds_and_reading_shows_what_stood_around_it(client: Client) -> None:
    found = await ask(client, "memory_search", query="painted part 17", type="events", limit=3)
    hit = found["hits"][0]
    assert hit["text"] == "we painted part 17 of the boat blue"
    assert hit["id"] == f"boat:{hit['seq']}"
    shown = await ask(client, "read_conversation", conversation_id=hit["conversation_id"], around=hit["seq"], limit=5)
    assert hit["seq"] in [e["seq"] for e in shown["events"]]
    assert len(shown["events"]) == 5


async def test_answers_come_in_pages(client: Client) -> None:
    first = await ask(client, "memory_search", query="painted", type="events", limit=5)
    second = await ask(client, "memory_search", query="painted", type="events", limit=5, offset=first["next_offset"])
    ids = [h["id"] for h in first["hits"] + second["hits"]]
    assert len(set(ids)) == 10
    seqs: list[int] = []
    after = 0
    while True:
        page = await ask(client, "read_conversation", conversation_id="boat", after=after, everything=True, limit=25)
        seqs += [e["seq"] for e in page["events"]]
        if "next_after" not in page:
            break
        after = page["next_after"]
    assert seqs == list(range(1, 62))
    listed = await ask(client, "list_conversations", limit=1)
    assert "events" not in listed["conversations"][0], "the counter is no number of events: it stays when they go"
    rest = await ask(client, "list_conversations", limit=1, cursor=listed["next_cursor"])
    assert [listed["conversations"][0]["id"], rest["conversations"][0]["id"]] == ["secret plan", "boat"]


async def paged(client: Client, tool: str, what: str, **asked: Any) -> list[str]:
    """The ids of all pages of one question."""
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await ask(client, tool, offset=offset, **asked)
        assert page[what] or offset == 0
        found += [hit["id"] for hit in page[what]]
        offset = page.get("next_offset")
    return found


@pytest.mark.parametrize("limit", [7, 10, 50])
async def test_pages_of_one_question_neither_repeat_nor_miss(
    client: Client, filled: recollect.Store, limit: int
) -> None:
    """What is found, and its order, depend on how many are asked for: so all pages are cut from one answer."""
    filled.create("pears")
    filled.append_many("pears", [{"role": "user", "text": f"pear number {i}"} for i in range(600)])
    for i in range(130):
        filled.remember(f"Picked the pear of tree {i}")
    found = await paged(client, "memory_search", "hits", query="pear", type="events", limit=limit)
    assert 50 < len(found) == len(set(found)) <= WINDOW
    assert found == [h.id for h in filled.search("pear", types="events", limit=WINDOW)]
    found = await paged(client, "recall", "memories", question="pear", limit=limit)
    assert 50 < len(found) == len(set(found)) <= WINDOW
    past = await ask(client, "memory_search", query="pear", offset=WINDOW)
    assert past["hits"] == [] and "next_offset" not in past


async def test_what_is_shown_counts_as_recalled_and_nothing_else(client: Client, filled: recollect.Store) -> None:
    for i in range(20):
        filled.remember(f"Picked the pear of tree {i}")
    shown = await ask(client, "recall", question="pear", limit=3, offset=3)
    filled.settle()
    assert {m.id for m in filled.memories(limit=100) if m.uses} == {m["id"] for m in shown["memories"]}


async def test_answers_are_small(client: Client) -> None:
    answer = await client.call_tool("memory_search", {"query": "boat", "limit": 10})
    assert len(answer.content[0].text) < 3_000  # type: ignore[union-attr]
    assert answer.structured_content is None  # said once, not twice
    page = await ask(client, "read_conversation", conversation_id="boat", after=59, everything=True)
    (tool,) = [e for e in page["events"] if e.get("tool")]
    assert (len(tool["text"]), tool["cut"]) == (2_000, 1_000)


async def test_a_memory_says_where_it_came_from(client: Client) -> None:
    (memory,) = (await ask(client, "recall", question="dark mode?", tags=["ui"]))["memories"]
    assert memory["content"] == "Prefers dark mode"
    assert memory["from"] == {"conversation_id": "boat", "seqs": [1], "role": "user", "by": "hand"}
    assert (await ask(client, "recall", question="dark mode?", kinds=["todo"]))["memories"] == []
    every = await ask(client, "recall", question="dark mode?", kinds=[], tags=[])  # as models say that nothing is meant
    assert memory["id"] in [m["id"] for m in every["memories"]]


async def test_a_context_is_fenced_evidence_within_its_budget(client: Client) -> None:
    made = await ask(client, "memory_context", prompt="what colour is the boat?", budget=200)
    assert made["text"].startswith("<recollected")
    assert 0 < made["tokens"] <= 200
    assert made["sources"]
    assert (await ask(client, "memory_context", prompt="xyzzy"))["text"] == ""


async def test_the_tool_of_other_agents_is_answered_and_what_is_misspelt_is_refused(client: Client) -> None:
    facts = await ask(client, "MemorySearch", query="what do I prefer?", top_k=1, type="facts")
    assert all(":" not in hit["id"] for hit in facts["hits"]) and len(facts["hits"]) <= 1
    records = await ask(client, "MemorySearch", query="boat", top_k=1, type="records")
    assert [hit["type"] for hit in records["hits"]] == ["event"]
    wrong = await client.call_tool("memory_search", {"query": "boat", "worksapce": "/w"})
    assert wrong.is_error and "worksapce" in str(wrong.content)


# -- what a model may do


async def test_what_a_model_remembers_of_the_project_is_the_projects(filled: recollect.Store) -> None:
    client = Model(filled, workspace="/boats")
    made = await ask(client, "remember", content="Uses bun in this repo")
    theirs = await ask(client, "remember", content="Likes green tea")
    kept = {m.id: m.workspace for m in filled.memories(state="quarantined")}
    assert (kept[made["id"]], kept[theirs["id"]]) == ("/boats", None)


async def test_what_a_model_remembers_waits_for_the_user(client: Client, filled: recollect.Store) -> None:
    made = await ask(client, "remember", content="Likes green tea", source="boat:3", kind="preference")
    assert made["state"] == "quarantined"
    assert made["approve"] == f"recollect revise {made['id'][:8]} --promote"
    assert (await ask(client, "recall", question="green tea"))["memories"] == []
    assert all("tea" not in h["text"] for h in (await ask(client, "memory_search", query="green tea"))["hits"])
    again = await ask(client, "remember", content="Likes green tea")
    assert (again["id"], again["state"]) == (made["id"], "quarantined")
    (waiting,) = filled.memories(state="quarantined")
    assert (waiting.provenance.role, waiting.by_hand) == ("assistant", False)
    filled.revise(made["id"], promote=True)
    (found,) = (await ask(client, "recall", question="green tea"))["memories"]
    assert found["id"] == made["id"]


async def test_a_secret_is_not_remembered(client: Client, filled: recollect.Store) -> None:
    for secret in (
        "The token is ghp_" + "a1B2c3D4e5F6" * 3,
        "Wifi password is Sunflower",
        "Deploys with "
        + ".".join(
            ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
        ),
    ):
        told = await refused(client, "remember", content=secret)
        assert "Not kept: it says what a secret is." in told and "may be remembered" in told
    assert filled.memories(state="quarantined") == []
    assert (await ask(client, "remember", content="Wifi password is stored in 1Password"))["state"] == "quarantined"


async def test_what_the_user_wrote_a_model_cannot_forget(client: Client, filled: recollect.Store) -> None:
    (mine,) = filled.memories(kinds=["preference"])
    assert "only the user" in await refused(client, "forget", memory_id=mine.id)
    assert filled.memories(kinds=["preference"]) == [mine]
    filled.append("boat", role="user", text="I live in Porto.")
    filled.consolidate("boat")
    (learned,) = [m for m in (await ask(client, "recall", question="lives in Porto"))["memories"] if not m["by_hand"]]
    gone = await ask(client, "forget", memory_id=learned["id"])
    assert gone["bring_back"] == f"recollect undo {learned['id'][:8]}"
    last = filled.memory_history(learned["id"])[-1]
    assert (last.action, last.who) == ("forgotten", "assistant")
    assert filled.undo(learned["id"]).state == "active"


async def test_errors_are_plain_words(client: Client) -> None:
    assert "There is no conversation 'nobody'." in await refused(client, "read_conversation", conversation_id="nobody")
    assert "There is no memory" in await refused(client, "forget", memory_id="nothing")
    assert "is no day" in await refused(client, "memory_search", query="boat", since="yesterday-ish")
    wrong = await refused(client, "memory_search", query="boat", limit=1_000)
    assert "limit" in wrong
    assert "pydantic" not in wrong
    assert "no branch" in await refused(client, "read_conversation", conversation_id="boat", branch="x")


async def test_one_workspace_sees_nothing_of_another(filled: recollect.Store) -> None:
    async with Client(server(filled, workspace="/w")) as client:
        listed = await ask(client, "list_conversations")
        assert [c["id"] for c in listed["conversations"]] == ["boat"]
        told = json.dumps(await ask(client, "memory_search", query="decoy plan boat only other", limit=50))
        told += json.dumps(await ask(client, "recall", question="only for the other plan", limit=50))
        told += json.dumps(await ask(client, "memory_context", prompt="is the boat a decoy? the plan only"))
        told += (await client.read_resource("recollect://memories")).contents[0].text  # type: ignore[union-attr]
        told += (await client.read_resource("recollect://conversations")).contents[0].text  # type: ignore[union-attr]
        assert "decoy" not in told
        assert "Only" not in told
        assert "no conversation" in await refused(client, "read_conversation", conversation_id="secret plan")
        assert "no conversation" in await refused(client, "memory_search", query="x", conversation_id="secret plan")
        for hidden in (m for m in filled.memories() if m.scope != "user"):
            assert "no memory" in await refused(client, "forget", memory_id=hidden.id)
            with pytest.raises(Exception, match="no memory"):
                await client.read_resource(f"recollect://memories/{hidden.id}")
        with pytest.raises(Exception, match="no conversation"):
            await client.read_resource("recollect://conversations/secret%20plan")
        assert "no conversation" in await refused(client, "remember", content="x", source="secret plan:1")
        kept = await ask(client, "remember", content="Only for w", only_here=True)
        assert filled.memory_history(kept["id"])[-1].after.workspace == "/w"


async def test_resources_and_the_prompt(client: Client) -> None:
    async def text(uri: str) -> str:
        return str((await client.read_resource(uri)).contents[0].text)  # type: ignore[union-attr]

    (listed,) = [c for c in json.loads(await text("recollect://conversations")) if c["id"] == "secret plan"]
    assert "the boat is a decoy" in await text(listed["uri"])
    memories = json.loads(await text("recollect://memories"))
    (mine,) = [m for m in memories if m["content"] == "Prefers dark mode"]
    assert json.loads(await text(mine["uri"]))["history"][0]["what"] == "added"
    templates = (await client.list_resource_templates()).resource_templates
    assert {t.uri_template for t in templates} == {"recollect://conversations/{id}", "recollect://memories/{id}"}
    with pytest.raises(Exception, match="no conversation"):
        await text("recollect://conversations/nobody")
    (prompt,) = (await client.list_prompts()).prompts
    said = (await client.get_prompt(prompt.name)).messages[0].content.text  # type: ignore[union-attr]
    assert all(f"`{tool}`" in said for tool in ("memory_context", "recall", "memory_search", "remember", "forget"))
    assert "evidence" in said


# -- over stdin and stdout


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_over_stdio(url: str, filled: recollect.Store) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "recollect.cli", "mcp", "-d", url, "-u", "alex"], env=dict(os.environ)
    )
    async with Client(command) as client:
        assert {t.name for t in (await client.list_tools()).tools} == TOOLS
        found = await ask(client, "memory_search", query="painted part 3")
        assert found["hits"][0]["conversation_id"] == "boat"
        made = await ask(client, "remember", content="Sails on Sundays")
    assert [m.id for m in filled.memories(state="quarantined")] == [made["id"]]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_what_is_no_message_is_answered_as_json_rpc_has_it(url: str, filled: recollect.Store) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    told = (
        ("garbage", None, -32700), ('{"jsonrpc": "2.0", "id": 7,', None, -32700), ("\xff\xfe", None, -32700),
        (r'{"jsonrpc": "2.0", "id": 10, "method": "ping", "params": {"text": "\ud800"}}', 10, -32700),
        ('[{"jsonrpc": "2.0", "id": 11, "method": "ping"}]', None, -32600),
        ("[]", None, -32600), ("3", None, -32600), ("{}", None, -32600), ('{"jsonrpc": "2.0", "method": 1}', None, -32600),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 3}', 7, -32600),
        ('{"id": "a", "method": "ping"}', "a", -32600), ('{"jsonrpc": "2.0", "id": 9, "result": 3}', None, -32600),
    )  # fmt: skip
    lines = ["", *(line for line, _, _ in told), json.dumps(hello), " "]
    done = subprocess.run(
        [sys.executable, "-m", "recollect.cli", "-d", url, "-u", "alex", "mcp"],
        input="\n".join(lines).encode("latin-1"), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(a["id"], a["error"]["code"]) for a in answers if "error" in a] == [(id, code) for _, id, code in told]
    assert all(a["error"]["message"] for a in answers if "error" in a)
    assert [a["id"] for a in answers if "result" in a] == [1], "and it goes on"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("backend", ["sqlite"])
def test_at_a_terminal_it_says_what_it_waits_for_and_one_ctrl_c_ends_it(url: str) -> None:
    with Terminal("mcp", "-d", url) as t:
        t.see("Waiting for a program that speaks MCP")
        t.see("mcp --json")
        t.press(CTRL_C)
        assert t.end(20) == 0
        assert "Traceback" not in t.screen


# -- over HTTP

Served = tuple[str, Path]


@pytest.fixture
def served(url: str, filled: recollect.Store) -> Iterator[Served]:
    command = [sys.executable, "-m", "recollect.cli", "mcp", "--http", "--port", "0", "-d", url, "-u", "alex"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("MCP at http://127.0.0.1:"), line + process.stderr.read()
        address, file = line.removeprefix("MCP at ").strip().split(", token in ")
        yield address, Path(file)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
    assert out == ""
    assert "Traceback" not in err


@contextlib.asynccontextmanager
async def connected(address: str, secret: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def test_over_http(served: Served, filled: recollect.Store) -> None:
    address, file = served
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    async with connected(address, file.read_text()) as client:
        assert {t.name for t in (await client.list_tools()).tools} == TOOLS
        found = await ask(client, "memory_search", query="painted part 3")
        assert found["hits"][0]["conversation_id"] == "boat"
        await ask(client, "remember", content="Sails on Sundays")
    assert len(filled.memories(state="quarantined")) == 1


@pytest.mark.parametrize("backend", ["sqlite"])
async def test_only_who_has_the_token_and_is_no_web_page_comes_in(served: Served) -> None:
    address, file = served
    secret = file.read_text()
    place = urlsplit(address).netloc
    good = {"Authorization": f"Bearer {secret}", "Host": place, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}  # fmt: skip
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    cases: list[tuple[int, dict[str, str | None]]] = [
        (401, {"Authorization": None}),
        (401, {"Authorization": "Bearer wrong"}),
        (401, {"Authorization": f"Bearer {secret[:-1]}"}),
        (401, {"Authorization": f"Basic {secret}"}),
        (401, {"Authorization": f"Bearer {secret}x"}),
        (421, {"Host": "evil.example"}),
        (421, {"Host": "127.0.0.1"}),
        (421, {"Host": f"{place}.evil.example"}),
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1"}),
        (403, {"Sec-Fetch-Site": "cross-site"}),
        (403, {"Sec-Fetch-Site": "same-site"}),
    ]
    async with httpx2.AsyncClient(timeout=60) as http:
        for status, changed in cases:
            headers = {k: v for k, v in {**good, **changed}.items() if v is not None}
            for path in (address, address.removesuffix("mcp"), address + "/x"):
                for method in ("POST", "GET", "DELETE"):
                    answer = await http.request(method, path, headers=headers, json=body if method == "POST" else None)
                    assert answer.status_code == status, (changed, path, method)
                    assert secret not in answer.text
        assert (
            await http.post(address, headers={**good, "Content-Type": "text/plain"}, content=b"{}")
        ).status_code >= 400


def test_the_guard_needs_no_more_than_the_extra_brings() -> None:
    code = "import sys\nsys.modules['fastapi'] = None\nimport recollect.mcp_http, recollect.server.place"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("backend", ["sqlite"])
def test_only_this_machine_is_listened_on(url: str) -> None:
    command = [sys.executable, "-m", "recollect.cli", "mcp", "--http", "--host", "0.0.0.0", "-d", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "not this machine" in done.stderr
