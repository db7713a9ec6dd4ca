"""Live updates: after the commit, in order, whoever writes; a reader that comes back misses nothing and sees nothing twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sidecar import TOKEN, Sidecar, running

import recollect
from recollect.aio import AsyncStore
from recollect.client import Client, Update
from recollect.server import sse
from talk import eventually


@pytest.fixture
def sidecar(url: str) -> Iterator[Sidecar]:
    with recollect.open(url, user="alex", semantic=False, background=False) as store, running(store) as made:
        yield made


class Reader:
    """Listens in a thread of its own."""

    def __init__(self, client: Client, **wanted: Any) -> None:
        self.seen: list[Update] = []
        self.ready = threading.Event()
        self._client = client
        self._thread = threading.Thread(target=self._read, kwargs=wanted, daemon=True)
        self._thread.start()
        assert self.ready.wait(60)

    def _read(self, **wanted: Any) -> None:
        with contextlib.suppress(Exception):  # closed under its feet
            for update in self._client.events(ready=True, **wanted):
                if update.name == "ready":
                    self.ready.set()
                else:
                    self.seen.append(update)

    @property
    def texts(self) -> list[str]:
        return [u.data["content"] if u.name == "event" else f"{u.data['action']} {u.data['memory']['content']}" for u in list(self.seen)]  # fmt: skip

    def has(self, n: int, seconds: float = 60) -> bool:
        return bool(eventually(lambda: len(self.seen) >= n, seconds))

    def close(self) -> None:
        """No further reconnecting; the thread ends when the stream does, with the sidecar."""
        self._client.close()


def test_what_is_recorded_is_told_after_the_commit(sidecar: Sidecar) -> None:
    reader = Reader(sidecar.client())
    with sidecar.client() as client:
        client.record("prompt", "s", "one", workspace="/w")
        fact = client.remember("Two is a number")
        client.pin(fact["id"])
    assert reader.has(3), reader.texts
    assert reader.texts == ["one", "added Two is a number", "pinned Two is a number"]
    assert [u.name for u in reader.seen] == ["event", "memory_update", "memory_update"]
    first = reader.seen[0].data
    assert (first["id"], first["type"], first["workspace"]) == ("s:1", "prompt", "/w")
    assert sidecar.store.read("s")[0].text == "one", "what is told is there"
    reader.close()


def test_what_another_process_writes_is_told(sidecar: Sidecar, url: str) -> None:
    reader = Reader(sidecar.client())
    with recollect.open(url, user="alex", semantic=False, background=False) as other:
        other.create("c")
        took: list[float] = []
        while not took or (min(took) >= 2 and len(took) < 8):  # a busy machine may be late, but not every time
            other.append("c", role="user", text=f"from elsewhere {len(took)}")
            began = time.monotonic()
            assert reader.has(len(took) + 1)
            took.append(time.monotonic() - began)
    assert min(took) < 2, took
    assert reader.texts == [f"from elsewhere {i}" for i in range(len(took))]
    reader.close()


def test_a_reader_that_comes_back_goes_on_where_it_was(sidecar: Sidecar) -> None:
    with sidecar.client() as client:
        for i in range(10):
            client.record("note", "s", str(i))
        seen: list[str] = []
        at: int | None = 0
        for n in (3, 4, 3):
            with sidecar.client() as own:
                events = own.events(after=at)
                for _ in range(n):
                    update = next(events)
                    seen.append(update.data["content"])
                    at = update.id
        assert seen == [str(i) for i in range(10)]


def test_far_behind_is_read_from_the_store_and_live_goes_on(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PAGE", 7)
    sidecar.store.create("s")
    sidecar.store.append_many("s", [{"kind": "note", "text": str(i)} for i in range(40)])
    behind = Reader(sidecar.client(), after=0)
    live = Reader(sidecar.client())
    with sidecar.client() as client:
        for i in range(40, 80):
            client.record("note", "s", str(i))
    assert behind.has(80) and live.has(40)
    assert behind.texts == [str(i) for i in range(80)]
    assert live.texts == [str(i) for i in range(40, 80)]
    behind.close()
    live.close()


WAYS_TO_GO: dict[str, Callable[[recollect.Store], object]] = {
    "clear": lambda store: store.clear("s"),
    "delete of a record": lambda store: store.delete_event("s", 1),
    "delete of the conversation": lambda store: store.delete("s"),
    "erase": lambda store: store.erase(conversation="s"),
}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "by another process"])
@pytest.mark.parametrize("way", WAYS_TO_GO)
def test_what_is_gone_is_told_to_nobody_who_comes_later(sidecar: Sidecar, url: str, way: str, elsewhere: bool) -> None:
    live = Reader(sidecar.client(), after=0)
    with sidecar.client() as client:
        client.record("note", "other", "before")
        client.record("note", "s", "my diagnosis is private")
        assert live.has(2)
        if elsewhere:
            with recollect.open(url, user="alex", semantic=False, background=False) as other:
                WAYS_TO_GO[way](other)
        else:
            WAYS_TO_GO[way](sidecar.store)
        late = Reader(sidecar.client(), after=0)
        client.record("note", "other", "after")
        assert late.has(2) and live.has(3)
    assert late.texts == ["before", "after"]
    assert live.texts == ["before", "my diagnosis is private", "after"]
    late.close()
    live.close()


def test_a_reader_that_is_behind_is_not_sent_what_went_meanwhile(
    sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read for it a while ago is read again."""
    monkeypatch.setattr(sse, "FRESH_SECONDS", 0.0)
    sidecar.store.create("s")
    sidecar.store.append_many("s", [{"kind": "note", "text": text} for text in ("one", "two", "three")])

    async def slowly() -> list[bytes]:
        seen: list[bytes] = []
        feed = sse.Feed(AsyncStore(sidecar.store))
        async for text in feed.follow(0, sse.Wanted()):
            seen.append(text)
            if b"one" in text:
                sidecar.store.delete_event("s", 2)
            if b"three" in text:
                break
        feed.close()
        return seen

    told = b"".join(asyncio.run(slowly()))
    assert b"one" in told and b"three" in told and b"two" not in told


def test_by_session_and_by_workspace(sidecar: Sidecar) -> None:
    readers = [Reader(sidecar.client(), **wanted) for wanted in ({"session_id": "a"}, {"workspace": "/w2"}, {})]
    with sidecar.client() as client:
        for session, place in (("a", "/w1"), ("b", "/w2"), ("c", "/w1")):
            client.record("note", session, f"in {session}", workspace=place)
        client.remember("Limited to w1", workspace="/w1")
        client.remember("Of the user")
    assert readers[2].has(5)
    assert readers[2].texts == ["in a", "in b", "in c", "added Limited to w1", "added Of the user"]
    assert readers[1].has(2) and readers[1].texts == ["in b", "added Of the user"]
    assert readers[0].has(1) and readers[0].texts == ["in a"]
    # The same from the store as from what is new.
    for reader, wanted in zip(readers, ({"session_id": "a"}, {"workspace": "/w2"}, {}), strict=True):
        again = Reader(sidecar.client(), after=0, **wanted)
        assert again.has(len(reader.seen)) and again.texts == reader.texts
        again.close()
        reader.close()


def test_a_slow_reader_is_dropped_and_nothing_is_kept_for_it(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "SEND_SECONDS", 0.5)
    slow = socket.create_connection((sidecar.host, sidecar.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(
        f"GET /memory/events?after=0 HTTP/1.1\r\nHost: {sidecar.host}:{sidecar.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    )
    feed = sidecar.api.state.sidecar.feed
    assert eventually(lambda: feed.readers == 1)
    reader = Reader(sidecar.client())
    sidecar.store.create("s")
    for i in range(60):  # more than the buffers of both sides hold
        sidecar.store.append("s", kind="note", text=f"{i}:" + "x" * 200_000)
    assert reader.has(60), "whoever reads is not held up"
    assert eventually(lambda: feed.readers == 1), "the slow one is gone"
    slow.close()
    reader.close()


def test_pings_keep_an_idle_stream_open(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PING_SECONDS", 0.1)
    with socket.create_connection((sidecar.host, sidecar.port), timeout=60) as s:
        s.sendall(
            f"GET /memory/events HTTP/1.1\r\nHost: {sidecar.host}:{sidecar.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
        )
        got = b""
        while got.count(b": ping") < 2:
            got += s.recv(4096)
    assert b"text/event-stream" in got and b"event: ready" in got


def test_readers_do_not_hold_up_the_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.server.listen.GRACE_SECONDS", 50)  # what it takes when somebody does
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        with running(store) as made:
            reader = Reader(made.client(retry_seconds=0))
            began = time.monotonic()
        assert time.monotonic() - began < 40
        reader.close()


def test_too_many_readers_are_refused(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MOST_READERS", 1)
    reader = Reader(sidecar.client())
    got = sidecar.ask("GET", "/memory/events")
    assert (got.status, json.loads(got.body)["error"]["code"]) == (503, "unavailable")
    reader.close()
