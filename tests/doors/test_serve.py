"""`recollect serve` as a user starts it: where it listens, what it says, how it ends, and what kill -9 cannot take."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from console import Run, flat
from sidecar import process

import recollect
from postgres_server import free_port
from recollect.client import Client, SidecarError, Update
from talk import eventually


@pytest.fixture(autouse=True)
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_SEMANTIC", "false")


def test_it_says_where_it_listens_and_never_the_token(own_store: Path) -> None:
    with process("--port", "0") as sidecar:
        assert sidecar.said["store"] == str(own_store) and sidecar.said["user"] == "local"
        token = sidecar.token
        with Client() as client:
            client.record("prompt", "s", "hello")
            with pytest.raises(SidecarError):
                client.conversation("none")
        arguments = Path(f"/proc/{sidecar.child.pid}/cmdline")
        if arguments.exists():
            assert token.encode() not in arguments.read_bytes()
        out, err = sidecar.end()
        assert sidecar.child.returncode == 0
        assert token not in out + err + str(sidecar.said)
    with recollect.open(own_store) as store:
        assert [e.text for e in store.read("s")] == ["hello"]
    with pytest.raises(recollect.errors.NotFound, match="recollect serve"):
        Client(), "its address is gone with it"


def test_people_are_told_in_words(run: Run) -> None:
    said = run("serve", "--help").out
    for word in ("--host", "--port", "--uds", "--workspace", "--keep-token", "token", "Ctrl-C"):
        assert word in said


def test_only_this_machine_is_served(run: Run) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        refused = run("serve", "--host", host, "--port", "0")
        assert refused.code == 2 and "not this machine" in refused.err, host
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = run("serve", "--port", str(taken.getsockname()[1]))
        assert refused.code == 6 and "--port" in refused.err
        application = run("app", "--port", str(taken.getsockname()[1]))
        assert application.code == 6 and "is taken" in application.err, "as for every door"


def test_beside_the_application_a_taken_port_is_no_riddle(
    run: Run, monkeypatch: pytest.MonkeyPatch, own_store: Path, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr("recollect.server.run.PORT", port)
        refused = run("serve", "--beside")
        monkeypatch.setenv("RECOLLECT_DATABASE", str(tmp_path / "other.db"))
        monkeypatch.setenv("RECOLLECT_USER", "kim")
        other = run("serve", "--beside")
        monkeypatch.setenv("RECOLLECT_DATABASE", "postgresql://alex:geheim1@db.example/agent")
        server = run("serve", "--beside")
    assert refused.code == 6 and "The application goes on" in refused.err and str(port) in refused.err
    # What it is told by the environment, whoever copies the line has not.
    assert f"recollect --data-dir {own_store.parent} serve --port 0" in flat(refused.err)
    assert f"recollect -d {tmp_path / 'other.db'} -u kim serve --port 0" in flat(other.err)
    assert "alex:***@db.example/agent" in server.err and "geheim1" not in server.err


def test_a_unix_socket_is_its_owners_alone(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "s.sock"
    with process("--uds", str(path)) as sidecar:
        assert sidecar.said["uds"] == str(path)
        assert stat.S_ISSOCK(path.stat().st_mode) and stat.S_IMODE(path.stat().st_mode) == 0o600
        with Client() as client:
            assert client.record("note", "s", "by a socket")["stored"]
            assert next(client.events(after=0)).data["content"] == "by a socket"
        assert "already" in run("serve", "--uds", str(path)).err
        sidecar.kill()
    assert path.exists(), "left behind by the kill"
    with process("--uds", str(path)) as sidecar:
        with Client() as client:
            assert client.health()["status"] == "ok"
        sidecar.end()
    assert not path.exists()
    path.write_text("mine")
    refused = run("serve", "--uds", str(path))
    assert refused.code == 6 and path.read_text() == "mine"


def test_a_new_token_makes_the_old_one_worthless() -> None:
    with process("--port", "0") as sidecar:
        old = sidecar.token
        sidecar.end(signal.SIGINT)
        assert sidecar.child.returncode == 0
    with process("--port", "0") as sidecar:
        assert sidecar.token != old
        with Client(sidecar.url, token=old) as client, pytest.raises(SidecarError) as refused:
            client.health()
        assert refused.value.status == 401


def test_a_start_at_a_place_that_is_taken_changes_nothing(run: Run) -> None:
    with process("--port", "0") as sidecar:
        refused = run("serve", "--port", sidecar.url.rsplit(":", 1)[1])
        assert refused.code == 6
        with Client(sidecar.url) as client:
            assert client.health()["status"] == "ok", "with the token that is in the file"
        with Client() as client:
            assert client.health()["status"] == "ok"


def test_sigterm_writes_what_was_accepted() -> None:
    """Whatever was answered with success is stored, whatever was not may be; and it ends within five seconds, unless the
    machine is busy with something else: then the next one does."""
    took: list[float] = []
    while not took or (min(took) >= 5 and len(took) < 5):
        took.append(ended_under_load())
    assert min(took) < 5, took


def ended_under_load() -> float:
    """Four clients record when it is told to end. Returns how many seconds it took."""
    stored: list[str] = []
    with process("--port", "0") as sidecar:
        stop = threading.Event()

        def send(n: int) -> None:
            with Client(sidecar.url, token=sidecar.token, retry_seconds=0) as client:
                i = 0
                while not stop.is_set():
                    try:
                        stored.append(client.record("note", f"s{n}", f"{n}.{i}")["id"] or "")
                    except SidecarError:
                        return
                    i += 1

        threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        time.sleep(1)
        eventually(lambda: stored)
        began = time.monotonic()
        sidecar.end()
        took = time.monotonic() - began
        stop.set()
        for t in threads:
            t.join(60)
    assert sidecar.child.returncode == 0
    with recollect.open() as store:
        assert set(stored) <= {e.id for n in range(4) for e in store.read(f"s{n}")}
    return took


CLIENTS, READERS = 8, 2


def killed_under_load(kills: int, seconds: float, *args: str) -> None:
    """Eight clients record and two listen while the sidecar is killed and started again. Afterwards: what was acknowledged is
    stored, once; and the listeners saw all that is stored, once, in order."""
    port = str(free_port())
    acknowledged: list[dict[str, str]] = [{} for _ in range(CLIENTS)]
    seen: list[list[Update]] = [[] for _ in range(READERS)]
    wrong: list[BaseException] = []
    stop, finished = threading.Event(), threading.Event()

    args = ("--keep-token", *args)

    def client(token: str, n: int = 0) -> Client:
        """Half of them look the sidecar up, and half go on with what they were given."""
        return (
            Client(f"http://127.0.0.1:{port}", token=token, retry_seconds=240) if n % 2 else Client(retry_seconds=240)
        )

    def send(n: int, token: str) -> None:
        try:
            with client(token, n) as c:
                i = 0
                while not stop.is_set():
                    done = c.record_many(
                        [{"type": "note", "session_id": f"s{n}", "content": f"{n}.{i}.{k}"} for k in range(1 + i % 3)]
                    )
                    for k, r in enumerate(done):
                        acknowledged[n][f"{n}.{i}.{k}"] = r["id"] or ""
                    i += 1
        except BaseException as e:
            wrong.append(e)

    def listen(n: int, token: str) -> None:
        try:
            with client(token, n) as c:
                for update in c.events(after=0):
                    seen[n].append(update)
                    if finished.is_set() and update.data["content"] == "the end":
                        return
        except BaseException as e:
            wrong.append(e)

    with contextlib.ExitStack() as stack:
        sidecar = stack.enter_context(process("--port", port, *args))
        token = sidecar.token
        listeners = [threading.Thread(target=listen, args=(n, token), daemon=True) for n in range(READERS)]
        senders = [threading.Thread(target=send, args=(n, token), daemon=True) for n in range(CLIENTS)]
        for t in (*listeners, *senders):
            t.start()

        def work() -> None:
            """For a while, and until enough was acknowledged: a busy machine takes longer for it."""
            before = sum(map(len, acknowledged))
            time.sleep(seconds)
            eventually(lambda: wrong or sum(map(len, acknowledged)) > before + 50, 120)

        for _ in range(kills):
            work()
            sidecar.kill()
            sidecar = stack.enter_context(process("--port", port, *args))
        work()
        stop.set()
        for t in senders:
            t.join(240)
        finished.set()
        with client(token) as c:
            c.record("note", "last", "the end")
        for t in listeners:
            t.join(240)
        assert not any(t.is_alive() for t in (*listeners, *senders)), "somebody hangs"
        sidecar.end()
    assert not wrong, wrong
    with recollect.open(args[args.index("-d") + 1] if "-d" in args else None) as store:
        assert store.verify().ok
        everything: dict[str, str] = {}
        for n in range(CLIENTS):
            events = store.read(f"s{n}")
            texts = [e.text for e in events]
            assert len(texts) == len(set(texts)), "stored once"
            everything |= {e.text: e.id for e in events}
        for mine in acknowledged:
            assert mine.items() <= everything.items(), "acknowledged is stored"
        assert sum(map(len, acknowledged)) > 100
        stored = {*everything.values(), "last:1"}
        for updates in seen:
            ids = [u.data["id"] for u in updates]
            assert len(ids) == len(set(ids)), "nothing twice"
            assert set(ids) == stored, "nothing missed"
            assert [u.id for u in updates] == sorted(u.id for u in updates)


def test_killed_under_load(backend: str, request: pytest.FixtureRequest) -> None:
    where: list[Any] = [] if backend == "sqlite" else ["-d", request.getfixturevalue("postgres_url")]
    killed_under_load(2, 1.5, *where)


@pytest.mark.nightly
def test_killed_under_load_for_long() -> None:
    killed_under_load(20, 3.0)


def test_changes_on_the_command_line(run: Run, own_store: Path) -> None:
    assert run("new", "Trip", "--id", "t").code == 0
    run("append", "t", "The first")
    run("remember", "Prefers trains")
    said = run("changes").out
    assert "The first" in said and "memory added: Prefers trains" in said
    assert os.path.exists(own_store)
    page = run("changes", "--json", "--limit", "1").json
    assert [c["type"] for c in page["items"]] == ["event"]
    assert "Prefers trains" in run("changes", "--after", str(page["cursor"])).out
    assert "The first" not in run("changes", "--after", str(page["cursor"])).out
    assert "Nothing happened" in run("changes", "--conversation", "none").out
