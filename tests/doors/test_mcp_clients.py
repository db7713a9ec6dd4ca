"""Clients of MCP that nobody here wrote, over stdio and HTTP: langchain-mcp-adapters with version 1 of MCP's library beside us,
the MCP Inspector, the TypeScript SDK; and what `recollect mcp --json` prints works in a client without an environment."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from console import SRC, Run
from packaging.requirements import Requirement

import recollect

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import clients  # noqa: E402

TOOLS = {"memory_search", "memory_context", "recall", "read_conversation", "list_conversations", "remember", "forget"}


@pytest.fixture
def boat(own_store: Path) -> Path:
    """A store of ann's in the data folder."""
    with recollect.open(own_store, user="ann", semantic=False, background=False) as store:
        talk = store.create("boat")
        store.append(talk, role="user", text="We painted the boat blue.")
    return own_store


@pytest.fixture
def printed(boat: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What ann puts into her agent's settings."""
    monkeypatch.setenv("RECOLLECT_USER", "ann")
    entry: dict[str, Any] = run("mcp", "--json").json["mcpServers"]["memory"]
    return entry


def bare(**more: str) -> dict[str, str]:
    """The environment that a client passes on that passes on nothing: what the system itself needs, and where our code lies."""
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "SYSTEMROOT", "TMPDIR") if k in os.environ}
    return {**kept, "PYTHONPATH": str(SRC), "PYTHONUTF8": "1", "RECOLLECT_SEMANTIC": "0", **more}


def told(command: list[str], timeout: int = 120, **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, env=bare(**environment), timeout=timeout, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def spoken(lines: list[dict[str, Any]], command: list[str], **environment: str) -> tuple[list[dict[str, Any]], str]:
    """A few messages to a server over stdio, without any library; its answers, and what it said on stderr."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    sent = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, **line} for n, line in enumerate(lines, 1)),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=bare(**environment)
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        answers = []
        for message in sent:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            if "id" in message:
                answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        err = server.stderr.read()
        assert server.wait(60) == 0, err
    return answers, err


SERVE = [sys.executable, "-m", "recollect.cli", "mcp"]
SEARCH = {"method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "boat"}}}


@pytest.fixture(params=["new", "old"])
def library(request: pytest.FixtureRequest) -> dict[str, str]:
    """Each major version of MCP's library."""
    return {} if request.param == "new" else {"PYTHONPATH": os.pathsep.join([str(clients.old_mcp()), str(SRC)])}


# -- what is printed works as it stands, and who finds nothing says so


def test_what_is_printed_works_in_a_client_that_passes_no_environment(printed: dict[str, Any], boat: Path) -> None:
    assert printed["env"]["RECOLLECT_USER"] == "ann"
    assert Path(printed["env"]["RECOLLECT_DATA_DIR"]) == boat.parent
    answers, _ = spoken([SEARCH], [*SERVE, *printed["args"][1:]], **printed["env"])
    found = json.loads(answers[1]["result"]["content"][0]["text"])
    assert found["hits"][0]["text"] == "We painted the boat blue."
    assert "notice" not in found


def test_every_setting_of_the_shell_is_printed_with_full_paths_and_no_password(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text("semantic = false\n")
    monkeypatch.setenv("RECOLLECT_CONFIG", "my.toml")
    monkeypatch.setenv("RECOLLECT_KEY_FILE", "my.key")
    monkeypatch.setenv("RECOLLECT_REDACT_STATE", "all")
    monkeypatch.setenv("RECOLLECT_DATABASE", "postgresql://ann:hunter2@127.0.0.1/x")
    answer = run("mcp", "--json", "--user", "ann")
    entry = answer.json["mcpServers"]["memory"]
    assert "hunter2" not in answer.out + answer.err and "RECOLLECT_DATABASE" in answer.err
    assert entry["env"]["RECOLLECT_CONFIG"] == str(tmp_path / "my.toml")
    assert entry["env"]["RECOLLECT_KEY_FILE"] == str(tmp_path / "my.key")
    assert entry["env"]["RECOLLECT_REDACT_STATE"] == "all"
    assert entry["args"] == ["mcp", "-u", "ann"] and "RECOLLECT_USER" not in entry["env"]
    monkeypatch.setenv("RECOLLECT_DATABASE", "chat/other.db")
    assert run("mcp", "--json").json["mcpServers"]["memory"]["env"]["RECOLLECT_DATABASE"] == str(
        tmp_path / "chat/other.db"
    )


def test_a_server_that_finds_no_store_says_so_and_where_it_looked(
    boat: Path, tmp_path: Path, library: dict[str, str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for user, where, what in (
        ("ann", elsewhere, "there was no store"), ("bob", boat.parent, "the store holds nothing of this user"),
    ):  # fmt: skip
        place = {"RECOLLECT_DATA_DIR": str(where), "RECOLLECT_USER": user, **library}
        (hello, first, second), _ = spoken([SEARCH, SEARCH], SERVE, **place)
        notice = json.loads(first["result"]["content"][0]["text"])["notice"]
        assert what in notice and str(where / "chat.db") in notice and f"user {user}" in notice
        assert notice in hello["result"]["instructions"]
        assert "notice" not in json.loads(second["result"]["content"][0]["text"]), "once is enough"


def test_a_prompt_that_is_not_there_is_a_wrong_parameter(boat: Path, library: dict[str, str]) -> None:
    asked = {"method": "prompts/get", "params": {"name": "nonsense", "arguments": {}}}
    (_, wrong, right), err = spoken(
        [asked, {"method": "prompts/get", "params": {"name": "use_memory"}}], SERVE,
        RECOLLECT_DATA_DIR=str(boat.parent), RECOLLECT_USER="ann", **library,
    )  # fmt: skip
    assert wrong["error"]["code"] == -32602
    assert "nonsense" in wrong["error"]["message"] and "use_memory" in wrong["error"]["message"]
    assert "memory_context" in right["result"]["messages"][0]["content"]["text"]
    assert "Traceback" not in err


# -- with version 1 of MCP's library beside us

LANGCHAIN = """
import asyncio, json, sys
from importlib.metadata import version
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main():
    client = MultiServerMCPClient(json.loads(sys.argv[1]))
    tools = {tool.name: tool for tool in await client.get_tools()}
    async def call(name, **given):
        answer = await tools[name].ainvoke(given)
        return json.loads(answer if isinstance(answer, str) else answer[0]["text"])
    print(json.dumps({
        "mcp": version("mcp"),
        "tools": sorted(tools),
        "hits": (await call("memory_search", query="boat"))["hits"],
        "made": await call("remember", content="Owns a blue boat"),
        "prompt": len(await client.get_prompt("memory", "use_memory")),
        "resources": len(await client.get_resources("memory", uris=["recollect://conversations"])),
    }))

asyncio.run(main())
"""


def checked(said: str) -> None:
    got = json.loads(said.splitlines()[-1])
    assert got["mcp"].startswith("1.")
    assert set(got["tools"]) == TOOLS
    assert got["hits"][0]["text"] == "We painted the boat blue."
    assert got["made"]["state"] == "quarantined"
    assert (got["prompt"], got["resources"]) == (1, 1)


def test_langchains_adapters_with_the_old_library_over_stdio(printed: dict[str, Any]) -> None:
    path = os.pathsep.join([str(clients.old_mcp()), str(SRC)])
    entry = {
        "transport": "stdio", "command": SERVE[0], "args": [*SERVE[1:], *printed["args"][1:]],
        "env": {**bare(PYTHONPATH=path), **printed["env"]},
    }  # fmt: skip
    checked(told([sys.executable, "-c", LANGCHAIN, json.dumps({"memory": entry})], PYTHONPATH=path))


def test_langchains_adapters_with_the_old_library_over_http(printed: dict[str, Any]) -> None:
    path = os.pathsep.join([str(clients.old_mcp()), str(SRC)])
    with served(printed["env"], PYTHONPATH=path) as (url, token):
        entry = {"transport": "streamable_http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        checked(told([sys.executable, "-c", LANGCHAIN, json.dumps({"memory": entry})], PYTHONPATH=path))


def test_no_resolver_finds_a_conflict() -> None:
    """What we ask of `mcp` has versions in common with those who need version 1, and with those who need version 2."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    ours = next(r for r in map(Requirement, extras["mcp"]) if r.name == "mcp").specifier
    about = clients.old_mcp().glob("langchain_mcp_adapters-*.dist-info/METADATA")
    theirs = Requirement(re.findall(r"^Requires-Dist: (mcp\b.*)$", next(about).read_text("utf-8"), re.M)[0]).specifier
    old = next(name.partition("==")[2] for name in clients.OLD_MCP if name.startswith("mcp=="))
    assert ours.contains(old) and theirs.contains(old)
    assert ours.contains(distribution("mcp").version)


# -- the MCP Inspector and the TypeScript SDK


class served:
    """`with served(env) as (url, token)`: our server over HTTP."""

    def __init__(self, environment: dict[str, str], **more: str) -> None:
        self._is_old = "PYTHONPATH" in more  # version 1 logs a traceback of its own when a session ends
        self._process = subprocess.Popen(
            [*SERVE, "--http", "--port", "0"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=bare(**{**environment, **more}),
        )  # fmt: skip

    def __enter__(self) -> tuple[str, str]:
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        assert line.startswith("MCP at "), line + self._process.stderr.read()
        url, file = line.removeprefix("MCP at ").strip().split(", token in ")
        return url, Path(file).read_text()

    def __exit__(self, *exc: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        _, err = self._process.communicate(timeout=60)
        assert self._is_old or "Traceback" not in err


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    assert found is not None, "`make clients` says how to get Node.js"
    return found


@pytest.fixture(params=["stdio", "http"])
def reach(request: pytest.FixtureRequest, printed: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """How a client reaches our server: a command with its environment, or an address with its token."""
    if request.param == "stdio":
        yield {"command": [*SERVE, *printed["args"][1:]], "env": {"PYTHONPATH": str(SRC), **printed["env"]}}
        return
    with served(printed["env"]) as (url, token):
        yield {"url": url, "token": token}


def test_the_mcp_inspector(node: str, reach: dict[str, Any], tmp_path: Path) -> None:
    program = clients.beside("inspector") / ".bin" / "mcp-inspector"
    if "url" in reach:
        entry = {
            "type": "streamable-http",
            "url": reach["url"],
            "headers": {"Authorization": f"Bearer {reach['token']}"},
        }
    else:
        entry = {"command": reach["command"][0], "args": reach["command"][1:], "env": reach["env"]}
    settings = tmp_path / "inspector.json"
    settings.write_text(json.dumps({"mcpServers": {"memory": entry}}))

    def ask(*words: str) -> Any:
        return json.loads(told([node, str(program), "--cli", "--config", str(settings), "--server", "memory", *words], HOME=str(tmp_path)))  # fmt: skip

    assert {tool["name"] for tool in ask("--method", "tools/list", "--strict")["tools"]} == TOOLS
    got = ask("--method", "tools/call", "--tool-name", "memory_search", "--tool-arg", "query=boat")
    assert json.loads(got["content"][0]["text"])["hits"][0]["text"] == "We painted the boat blue."


TYPESCRIPT = """
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const reach = JSON.parse(process.argv[2]);
(async () => {
  const client = new Client({ name: "t", version: "1" });
  await client.connect(reach.url
    ? new StreamableHTTPClientTransport(new URL(reach.url), { requestInit: { headers: { Authorization: `Bearer ${reach.token}` } } })
    : new StdioClientTransport({ command: reach.command[0], args: reach.command.slice(1), env: reach.env }));
  const said = {
    server: client.getServerVersion().name,
    tools: (await client.listTools()).tools.map((tool) => tool.name),
    found: JSON.parse((await client.callTool({ name: "memory_search", arguments: { query: "boat" } })).content[0].text),
    wrong: (await client.callTool({ name: "memory_search", arguments: {} })).isError,
    resource: (await client.readResource({ uri: "recollect://conversations" })).contents[0].text,
    prompt: (await client.getPrompt({ name: "use_memory" })).messages.length,
    unknown: await client.getPrompt({ name: "nonsense" }).catch((error) => error.code),
  };
  console.log(JSON.stringify(said));
  await client.close();
})();
"""


def test_the_typescript_sdk(node: str, reach: dict[str, Any], tmp_path: Path) -> None:
    script = tmp_path / "client.cjs"
    script.write_text(TYPESCRIPT)
    got = json.loads(told([node, str(script), json.dumps(reach)], NODE_PATH=str(clients.beside("sdk"))))
    assert got["server"] == "recollect"
    assert set(got["tools"]) == TOOLS
    assert got["found"]["hits"][0]["text"] == "We painted the boat blue."
    assert got["wrong"] is True
    assert json.loads(got["resource"])[0]["id"] == "boat"
    assert (got["prompt"], got["unknown"]) == (1, -32602)
