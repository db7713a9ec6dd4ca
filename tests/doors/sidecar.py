"""A sidecar for tests: in a thread of this process, or as the command in a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollect
from recollect.client import AsyncClient, Client
from recollect.server.app import create_app
from recollect.server.guard import Guard, Limits
from recollect.server.listen import Server, listen

TOKEN = "t0ken-" + "x" * 40


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error, which has one shape only."""
        error = self.json
        assert set(error) == {"error"} and {"code", "message"} <= set(error["error"]) <= {"code", "message", "details"}
        return str(error["error"]["code"])


class Sidecar:
    """A running one."""

    def __init__(self, app: Guard, store: recollect.Store, url: str, host: str, port: int) -> None:
        self.app, self.store, self.url, self.host, self.port = app, store, url, host, port

    @property
    def api(self) -> Any:
        return self.app._app.api  # type: ignore[attr-defined]

    def client(self, **options: Any) -> Client:
        return Client(self.url, token=TOKEN, **options)

    def async_client(self, **options: Any) -> AsyncClient:
        return AsyncClient(self.url, token=TOKEN, **options)

    def ask(
        self, method: str, path: str, body: Any = None, *, token: str | None = TOKEN, **headers: str
    ) -> Answer:  # fmt: skip
        """One request by hand."""
        sent = {} if token is None else {"Authorization": f"Bearer {token}"}
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            connection.request(method, path, data, sent)
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def say(self, *parts: bytes, pause: float = 0.0, timeout: float = 60.0) -> bytes:
        """Bytes as they are, and all that comes back until the sidecar hangs up; a sidecar that does not, fails the test."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as s:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for part in parts:
                    s.sendall(part)
                    time.sleep(pause)
            got = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := s.recv(65536):
                    got += piece
            return got


@contextlib.contextmanager
def running(store: recollect.Store, *, workspace: str | None = None, limits: Limits | None = None) -> Iterator[Sidecar]:
    """A sidecar of this store on a free port, in a thread."""
    listening = listen("127.0.0.1", 0, None)
    app = create_app(store, token=TOKEN, hosts=listening.hosts, workspace=workspace, limits=limits)
    server = Server(app)
    thread = threading.Thread(target=lambda: server.run(sockets=[listening.socket]))  # in the loop that it ships with
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive() and time.monotonic() < until, "the sidecar did not start"
            time.sleep(0.01)
        host, port = listening.url.removeprefix("http://").rsplit(":", 1)
        yield Sidecar(app, store, listening.url, host, int(port))
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()
        assert not thread.is_alive(), "the sidecar did not stop"


class Process:
    """`recollect serve` in a process of its own."""

    def __init__(self, *args: str, **environment: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "recollect.cli", "serve", "--json", *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment},
        )  # fmt: skip
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            raise AssertionError(f"it did not start: {self.end()[1]}")
        self.said: dict[str, Any] = json.loads(line)

    @property
    def url(self) -> str:
        return str(self.said["url"])

    @property
    def token(self) -> str:
        return Path(self.said["token_file"]).read_text()

    def kill(self) -> None:
        self.child.send_signal(signal.SIGKILL)
        self.child.communicate(timeout=60)

    def end(self, number: int = signal.SIGTERM) -> tuple[str, str]:
        """Ask it to end. Returns what it wrote."""
        if self.child.poll() is None:
            self.child.send_signal(number)
        try:
            out, err = self.child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            raise
        return out.decode(), err.decode()


@contextlib.contextmanager
def process(*args: str, **environment: str) -> Iterator[Process]:
    made = Process(*args, **environment)
    try:
        yield made
    finally:
        if made.child.poll() is None:
            made.kill()
