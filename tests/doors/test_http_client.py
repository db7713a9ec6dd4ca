"""The client: the same verbs for sync and async code, sends again what may be sent again, and records without waiting."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sidecar import TOKEN, Sidecar, running

import recollect
from recollect.client import AsyncClient, Client, SidecarError, record_of
from recollect.peer import Address
from recollect.server import place


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Sidecar]:
    with (
        recollect.open(tmp_path / "chat.db", user="alex", semantic=False, background=False) as store,
        running(store) as made,
    ):
        yield made


def verbs(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_both_clients_have_the_same_verbs_and_cover_every_route(sidecar: Sidecar) -> None:
    assert verbs(AsyncClient) - verbs(Client) == {"record_soon", "flush"}
    assert verbs(Client) - verbs(AsyncClient) == set()
    called: set[tuple[str, str]] = set()

    def remembering(client: Client) -> None:
        real = client._http.send

        def send(request: Any, **options: Any) -> Any:
            called.add((request.method.lower(), request.url.path))
            return real(request, **options)

        client._http.send = send  # type: ignore[method-assign]

    with sidecar.client(workspace="/w") as c:
        remembering(c)
        record = c.record("prompt", "s", "I prefer dark mode.", tags=["a"])
        assert record["stored"] and record["id"] == "s:1"
        done = c.record_many([record_of("note", "s", "two"), record_of("note", "t", "three")])
        assert [r["id"] for r in done] == ["s:2", "t:1"]
        c.record("ledger", "s", "reach it", task_id="t1")
        assert c.search("dark mode", k=3, type="records", session_id="s", since=0)["hits"][0]["id"] == "s:1"
        assert c.summarize("s")["added"] == 1
        fact = c.remember("Likes rice", importance=0.9)
        assert c.pin(fact["id"])["done"] and c.unpin(fact["id"])["done"]
        waits = c.remember("The port is 8080", role="tool")
        assert c.accept(waits["id"])["state"] == "active"
        assert c.edit(waits["id"], tags=["net"])["tags"] == ["net"]
        assert c.reject(waits["id"])["done"] and c.undo(waits["id"])["state"] == "active"
        assert "dark mode" in c.context("which mode?", session_id="t", budget=300)["text"]
        assert {m["content"] for m in c.memories()["memories"]} >= {"Likes rice"}
        assert [x["session_id"] for x in c.conversations()["conversations"]] == ["s", "t"]
        assert c.conversation("s")["workspace"] == "/w"
        assert [e["seq"] for e in c.replay("s", after=1, kinds=["note"])["events"]] == [2]
        assert c.fork("s", at=1, name="idea")["fork_seq"] == 1
        assert [b["name"] for b in c.branches("s")] == ["main", "idea"]
        assert c.ledger("s")[0]["task_id"] == "t1"
        assert c.stats()["events"] == 4 and c.health()["status"] == "ok"
        assert next(c.events(after=0)).data["id"] == "s:1"
        archive = b"".join(c.export())
        assert c.import_([archive])["known"]["events"] == 4
        assert c.read(record["id"] or "")["session_id"] == "s"
        assert c.delete(record["id"] or "")["done"]
        assert c.forget_session("t")["sessions"] == 1
        assert c.forget_workspace("/w")["sessions"] == 1
    schema = sidecar.ask("GET", "/openapi.json").json["paths"]
    there = {(method, path.replace("{id}", "s:1")) for path, item in schema.items() for method in item}
    assert there <= called, "a route that the client has no verb for"


def test_async_code_has_them_too(sidecar: Sidecar) -> None:
    async def talk() -> None:
        async with sidecar.async_client() as c:
            assert (await c.record("prompt", "s", "the heron"))["id"] == "s:1"
            assert (await c.search("heron"))["hits"][0]["id"] == "s:1"
            stream = c.events(after=0)
            assert (await anext(stream)).data["content"] == "the heron"
            await stream.aclose()
            archive = b"".join([piece async for piece in c.export()])
            assert (await c.import_(archive))["known"]["events"] == 1
            with pytest.raises(SidecarError) as refused:
                await c.conversation("none")
            assert (refused.value.status, refused.value.code) == (404, "not_found")

    asyncio.run(talk())
    for name in verbs(Client) & verbs(AsyncClient):
        ours, theirs = inspect.getattr_static(Client, name), inspect.getattr_static(AsyncClient, name)
        assert ours is theirs or name in ("events", "export", "import_", "close"), "written once"


def test_recording_without_waiting_takes_less_than_two_milliseconds(
    sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "recollect.server.recorder.FLUSH_SECONDS", 60
    )  # however long the disk takes for what was before

    async def talk() -> list[float]:
        took = []
        async with sidecar.async_client() as c:
            for i in range(300):
                began = time.thread_time()
                c.record_soon("tool_use", f"s{i % 3}", f"call {i}", tool="Bash")
                took.append(time.thread_time() - began)
                if i % 50 == 0:
                    await asyncio.sleep(0)
            hits = (await c.search("call 299"))["hits"]
            assert any(h["text"] == "call 299" for h in hits), "handed over before, found after"
            await c.flush()
            assert sum(len(sidecar.store.read(f"s{i}")) for i in range(3)) == 300
            c.record_soon("note", "s0", "the last one")
        return took

    took = sorted(asyncio.run(talk()))
    assert sidecar.store.read("s0")[-1].text == "the last one", "closing sends what is left"
    assert took[len(took) * 99 // 100] < 0.002


def test_what_was_not_written_is_told_at_the_flush(sidecar: Sidecar) -> None:
    sidecar.store.delete(sidecar.store.create("gone"))

    async def talk() -> None:
        async with sidecar.async_client() as c:
            c.record_soon("note", "gone", "x")
            c.record_soon("note", "fine", "y")
            with pytest.raises(SidecarError, match="deleted"):
                await c.flush()
            await c.flush()

    asyncio.run(talk())
    assert [e.text for e in sidecar.store.read("fine")] == ["y"]


def test_nobody_there_and_a_wrong_token_are_said(sidecar: Sidecar) -> None:
    with (
        Client("http://127.0.0.1:9", token=TOKEN, retry_seconds=0) as c,
        pytest.raises(SidecarError, match="recollect serve"),
    ):
        c.health()
    with Client(sidecar.url, token="wrong" * 10) as c:
        with pytest.raises(SidecarError) as refused:
            c.health()
        assert refused.value.status == 401
        with pytest.raises(SidecarError):
            next(c.events())
    with sidecar.client() as c, pytest.raises(SidecarError, match="type"):
        c.record("nonsense", "s")


def test_a_broken_connection_is_tried_again_and_stores_once(sidecar: Sidecar) -> None:
    import httpx

    with sidecar.client(retry_seconds=60) as c:
        real, answers = c._http.request, []

        def lossy(*args: Any, **kwargs: Any) -> Any:
            answers.append(real(*args, **kwargs))
            if len(answers) < 3:
                raise httpx.ReadError("the answer is lost")
            return answers[-1]

        c._http.request = lossy
        assert c.record("note", "s", "once")["id"] == "s:1"
        assert len(answers) == 3
    assert [e.text for e in sidecar.store.read("s")] == ["once"]


def test_the_sidecar_of_this_user_is_found(sidecar: Sidecar) -> None:
    """By the challenge, where there is no UNIX socket for it, as on Windows."""
    settings = recollect.Settings.load()
    with pytest.raises(recollect.errors.NotFound, match="recollect serve"):
        Client()
    file = place.token_file(settings, sidecar.url)
    place.make_token(settings, file)
    Path(file).write_text(TOKEN)
    left = Address(sidecar.url, None, "", file, "alex", "somewhere")
    place.write_address(settings, left)
    with Client() as c:
        assert c.health()["user"] == "alex"

    async def also() -> None:
        async with AsyncClient() as c:
            assert (await c.health())["user"] == "alex"

    asyncio.run(also())
    with Client(sidecar.url) as c:
        assert c.health()["user"] == "alex"
    place.forget_address(settings, replace(left, url="http://another"))
    assert place.read_address(settings) == left
    place.forget_address(settings, left)
    with pytest.raises(recollect.errors.NotFound):
        place.read_address(settings)


def test_importing_the_client_is_light() -> None:
    code = (
        "import sys, recollect.client, recollect.server.place\n"
        "print([m for m in ('httpx', 'pydantic', 'fastapi', 'asyncio', 'uvicorn', 'json') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
