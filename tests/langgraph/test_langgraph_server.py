"""LangGraph's own server (`langgraph dev`) runs on our checkpointer and store: the files of docs/how-to/langgraph-server.md.

The server is in an environment of its own, `.clients/langgraph-server`, which `make clients` fills.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollect
from recollect.langgraph import Saver

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "how-to" / "langgraph-server.md"
Start = Callable[..., str]

sys.path[:0] = [] if str(ROOT / "tools") in sys.path else [str(ROOT / "tools")]

from clients import langgraph  # noqa: E402


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the server on the page's files, and return its address. `auth` as the page has it."""
    servers: list[subprocess.Popen[bytes]] = []

    def go(*, auth: bool) -> str:
        program = langgraph()
        if program is None:
            pytest.skip("LangGraph's server is not installed: make clients")
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
        for kind, text in blocks:
            if kind == "python" and (named := re.match(r"# (\w+\.py)\n", text)):
                (tmp_path / named[1]).write_text(text)
        about = json.loads(next(text for kind, text in blocks if kind == "json"))
        if auth:
            about["auth"] = {"path": "./auth.py:auth"}
        (tmp_path / "langgraph.json").write_text(json.dumps(about))
        says = next(text for kind, text in blocks if kind == "sh" and "langgraph dev" in text)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower() and "LANG" not in name}
        env |= dict(re.findall(r"(\w+)=(\S+)", says)) | {"PYTHONPATH": str(ROOT / "src"), "RECOLLECT_SEMANTIC": "false"}
        log = tmp_path / "server.log"
        with log.open("wb") as out:
            command = [str(program), "dev", "--no-browser", "--no-reload", "--port", str(port)]
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT}
            servers.append(subprocess.Popen(command, cwd=tmp_path, env=env, start_new_session=True, **streams))
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 120
        while servers[-1].poll() is None and time.monotonic() < deadline:
            try:
                if httpx.get(f"{url}/ok", trust_env=False).status_code == 200:
                    return url
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(log.read_text())

    yield go
    for server in servers:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def client(url: str, token: str | None = None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)


def say(c: httpx.Client, thread: str, text: str, **more: Any) -> str:
    """Say something in a thread, and return the answer."""
    input = {"messages": [{"role": "user", "content": text}]}
    made = c.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "agent", "input": input, **more})
    assert made.status_code == 200, made.text
    assert "__error__" not in made.json(), made.text
    return str(made.json()["messages"][-1]["content"])


def new(c: httpx.Client) -> str:
    made = c.post("/threads", json={})
    assert made.status_code == 200, made.text
    return str(made.json()["thread_id"])


def test_without_auth_threads_and_memories_are_the_stores_users(start: Start, tmp_path: Path) -> None:
    with client(start(auth=False)) as c:
        thread = new(c)
        assert say(c, thread, "Remember likes trains") == "I know: likes trains"
        say(c, thread, "And now?")
        state = c.get(f"/threads/{thread}/state").json()
        assert [m["content"] for m in state["values"]["messages"]][::2] == ["Remember likes trains", "And now?"]
        assert len(c.get(f"/threads/{thread}/history", params={"limit": 10}).json()) > 3
        assert say(c, new(c), "Hello") == "I know: likes trains", "a memory outlives its thread"
        copied = c.post(f"/threads/{thread}/copy").json()["thread_id"]
        assert c.delete(f"/threads/{thread}").status_code == 204
    with recollect.open(tmp_path / "chat.db", semantic=False) as store:
        kept = {conversation.id for conversation in store.conversations()}
        assert thread not in kept and copied in kept
        assert [e.text for e in store.messages(copied) if e.role == "user"] == ["Remember likes trains", "And now?"]
        assert store.memories() == [], "what was learned in a thread is erased with it"


def test_with_auth_a_thread_belongs_to_who_is_signed_in(start: Start, tmp_path: Path) -> None:
    url = start(auth=True)
    with client(url, "alex's token") as alex, client(url, "kim's token") as kim:
        mine, theirs, gone = new(alex), new(kim), new(kim)
        say(alex, mine, "Remember likes trains")
        # A client may write what it likes into its request: who is signed in counts.
        forged = {"configurable": {"user_id": "alex", "langgraph_auth_user_id": "alex"}}
        assert say(kim, theirs, "Remember likes ships", config=forged) == "I know: likes ships"
        say(kim, gone, "Never mind")
        assert kim.delete(f"/threads/{gone}").status_code == 204
        assert kim.get(f"/threads/{mine}/state").status_code == 404
        told = {"values": {"messages": [{"role": "user", "content": "By night"}]}, "checkpoint": forged["configurable"]}
        assert kim.post(f"/threads/{theirs}/state", json=told).status_code == 200
        said = kim.get(f"/threads/{theirs}/state").json()["values"]["messages"]
        assert [m["content"] for m in said] == ["Remember likes ships", "I know: likes ships", "By night"]
        assert len(kim.get(f"/threads/{theirs}/history", params={"limit": 10}).json()) > 2
        copied = kim.post(f"/threads/{theirs}/copy").json()["thread_id"]
    with recollect.open(tmp_path / "chat.db", user="alex", semantic=False) as store:
        assert [c.id for c in store.conversations()] == [mine]
        at_kims = store.for_user("kim")
        assert {c.id for c in at_kims.conversations()} == {theirs, copied}, "what kim deleted is gone from kim's"
        assert [m.content for m in at_kims.memories()] == ["likes ships"]
        assert store.for_user("local").conversations() == []


@pytest.mark.parametrize("nobody", ["", None])
def test_an_empty_user_of_a_platform_is_the_stores(saver: Saver, nobody: str | None) -> None:
    from graphs import chat

    graph = chat(saver)
    config: Any = {"configurable": {"thread_id": "trip", "user_id": nobody, "langgraph_auth_user_id": ""}}
    graph.invoke({"messages": [("user", "Plan a trip")]}, config)
    assert saver.store.messages("trip")[0].text == "Plan a trip"
    assert len(graph.get_state(config).values["messages"]) == 2
    there = list(graph.get_state_history(config))[-1].config
    assert graph.get_state(there).config["configurable"]["thread_id"] == "trip"
