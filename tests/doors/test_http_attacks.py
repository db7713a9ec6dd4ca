"""What was tried against the sidecar and once got through."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecar import Sidecar, process, running

import recollect
from recollect.client import Client


@pytest.fixture
def sidecar(url: str) -> Iterator[Sidecar]:
    with recollect.open(url, user="alex", semantic=False, background=False) as store, running(store) as made:
        for session, workspace in (("a", "/w1"), ("b", "/w2")):
            store.append(store.create(session, workspace=workspace), role="user", text=f"the zebra of {session}")
        yield made


def _hang_up(url: str, token: str) -> None:
    """Ask for everything, and leave."""
    host, port = url.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as s:
        s.sendall(
            f"GET /memory/export HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        s.recv(64)


def test_exports_that_nobody_reads_to_the_end_cost_nothing(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six of them once took all the threads: no export came any more, and SIGTERM did not end the sidecar."""
    monkeypatch.setenv("RECOLLECT_SEMANTIC", "false")
    with recollect.open(own_store, semantic=False) as store:
        store.append_many(store.create("s"), [{"role": "user", "text": "lorem " * 1_000}] * 1_000)
    with process("--port", "0") as sidecar:
        for _ in range(12):
            _hang_up(sidecar.url, sidecar.token)
        with Client(timeout=60) as client:
            assert b"".join(client.export()).endswith(b"}\n")
        began = time.monotonic()
        sidecar.end()
        assert time.monotonic() - began < 25, "a thread that waits for its turn waits thirty seconds"


def test_what_a_fact_rests_on_is_in_reach_of_the_workspace(sidecar: Sidecar) -> None:
    said = {"content": "Zebras sleep", "source": "b:1"}
    assert sidecar.ask("POST", "/memory/remember?workspace=%2Fw1", said).code == "not_found"
    assert sidecar.ask("POST", "/memory/remember?workspace=%2Fw1", {**said, "session_id": "a"}).code == "not_found"
    assert sidecar.ask("POST", "/memory/remember?workspace=%2Fw2", said).status == 200


def test_a_fact_of_a_session_in_the_bin_stops_no_list(sidecar: Sidecar) -> None:
    own = sidecar.store.remember("The zebra sleeps", conversation="a").id
    sidecar.store.remember("Stripes are black", workspace="/w1")
    sidecar.store.delete("a")
    for state in ("active", "any"):
        got = sidecar.ask("GET", f"/memory/memories?workspace=%2Fw1&state={state}")
        assert [m["content"] for m in got.json["memories"]] == ["Stripes are black"]
    assert sidecar.ask("DELETE", f"/memory/record/{own}?workspace=%2Fw1").status == 404
    assert sidecar.ask("POST", "/memory/forget?workspace=%2Fw2", {"session_id": "a"}).status == 404
    assert sidecar.ask("POST", "/memory/forget?workspace=%2Fw1", {"session_id": "a"}).status == 200


def test_nothing_is_imported_into_a_session_of_another_workspace(sidecar: Sidecar) -> None:
    """By saying that it is one's own."""
    lines = sidecar.ask("GET", "/memory/export?workspace=%2Fw2").body.splitlines()
    ndjson = {"Content_Type": "application/x-ndjson"}
    forged = []
    for line in map(json.loads, lines):
        if line["type"] == "conversation":
            line |= {"workspace": "/w1", "last_seq": 2}
        forged.append(line)
        if line["type"] == "event":
            forged.append({**line, "seq": 2, "text": "an intruder"})
    forged[-1]["lines"] = len(forged)
    body = "".join(json.dumps(line) + "\n" for line in forged).encode()
    assert sidecar.ask("POST", "/memory/import?workspace=%2Fw1", body, **ndjson).status == 403
    assert [e.text for e in sidecar.store.read("b")] == ["the zebra of b"]
    deep = lines[0] + b"\n" + b"[" * 200_000 + b"\n"
    assert sidecar.ask("POST", "/memory/import?workspace=%2Fw1", deep, **ndjson).status == 400


def test_a_parameter_that_is_said_twice_is_refused(sidecar: Sidecar) -> None:
    got = sidecar.ask("GET", "/memory/search?q=zebra&workspace=%2Fw1&workspace=%2Fw2")
    assert (got.status, got.code) == (422, "invalid_request")
    assert sidecar.ask("GET", "/memory/replay?session_id=a&kinds=message&kinds=note").status == 200


def test_what_is_no_http_is_refused_in_the_one_shape(sidecar: Sidecar) -> None:
    for said in (b"\x16\x03\x01\x02\x00 hello\r\n\r\n", b"GET /memory/health HTTP/1.1\r\nno header\r\n\r\n"):
        head, _, body = sidecar.say(said).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ") and json.loads(body)["error"]["code"] == "invalid_request"


def test_a_position_from_another_store_is_now(sidecar: Sidecar) -> None:
    """A store that was brought back from a copy is behind what its readers saw: they hear what comes, not nothing."""
    with sidecar.client() as client:
        updates = client.events(after=2**62, ready=True)
        assert next(updates).id < 2**62
        sidecar.store.append("a", role="user", text="news")
        assert next(updates).data["content"] == "news"
