"""The lock of the application, tried as another account of this machine would: by raw sockets, and with its cookie stolen."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import psutil
import pytest
from playwright.sync_api import expect
from tab import Application, Tab, application

import recollect
from recollect import peer
from recollect.ui.lock import ASKED, HEADER, Lock, cookie

CANARY = "quincequay"

# `recollect app`, which also says what it serves: the routing table of the very server that is attacked.
TELLING = """
import json
from starlette.applications import Starlette
from recollect.cli import main

def walk(routes, above=""):
    for route in routes:
        path = above + getattr(route, "path", "")
        inner = getattr(route, "routes", None) or ()
        yield from walk(inner, path)
        yield type(route).__name__, path

real = Starlette.__init__

def telling(self, *args, **kw):
    real(self, *args, **kw)
    print("ROUTES " + json.dumps(list(walk(self.routes))), flush=True)

Starlette.__init__ = telling
main()
"""


class Telling(Application):
    program = ("-c", TELLING)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    data = tmp_path_factory.mktemp("locked")
    with recollect.open(data / "chat.db", background=False) as store:
        store.append(store.create(title=f"{CANARY} title"), role="user", text=f"My word is {CANARY}")
    started = Telling(data)
    yield started
    started.end(signal.SIGTERM)


def said(app: Application, request: str, **headers: str) -> bytes:
    """What the port answers to a request that is written by hand."""
    lines = {
        "Host": f"127.0.0.1:{app.port}",
        "Connection": "close",
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    with socket.create_connection(("127.0.0.1", app.port), timeout=60) as line:
        line.sendall(
            f"{request} HTTP/1.1\r\n".encode() + b"".join(f"{k}: {v}\r\n".encode() for k, v in lines.items()) + b"\r\n"
        )
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def knock(app: Application, path: str = "/_stcore/stream", **headers: str) -> bytes:
    """The handshake of a WebSocket, without Origin unless one is given."""
    upgrade = {"Upgrade": "websocket", "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec_WebSocket_Version": "13"}
    with socket.create_connection(("127.0.0.1", app.port), timeout=60) as line:
        lines = {"Host": f"127.0.0.1:{app.port}", "Connection": "Upgrade", **upgrade, **headers}
        line.sendall(
            f"GET {path} HTTP/1.1\r\n".encode()
            + b"".join(f"{k.replace('_', '-')}: {v}\r\n".encode() for k, v in lines.items())
            + b"\r\n"
        )
        return line.recv(65536)


def wrong_keys(app: Application) -> dict[str, str]:
    """Cookies that open nothing."""
    name, _, right = app.cookie["Cookie"].partition("=")
    return {
        "none": "",
        "empty": f"{name}=",
        "nothing": name,
        "wrong": f"{name}={right[:-1]}{'0' if right[-1] != '0' else '1'}",
        "short": f"{name}={right[:-1]}",
        "the secret itself": f"{name}={app.secret}",
        "another port's": f"recollect-1={right}",
        "another name": f"x{name}={right}",
        "not ASCII": f"{name}=\u00e9\u0130",
        "many": "; ".join(f"{name}={i:064x}" for i in range(50)),
    }


def test_nothing_that_is_served_is_served_without_the_cookie(app: Application) -> None:
    """Whatever Streamlit has, as its own table says: pages, files, uploads, media, components, health, and what is not there."""
    served = [
        tuple(r) for line in app.said if line.startswith("ROUTES ") for r in json.loads(line.removeprefix("ROUTES "))
    ]
    paths = {re.sub(r"\{[^}]*\}", "x", path) or "/" for _, path in served}
    assert {
        "/_stcore/health",
        "/_stcore/host-config",
        "/_stcore/stream",
        "/_stcore/upload_file/x/x",
        "/media/x",
    } <= paths
    paths |= {
        "/", "/memories", "/static/js/index.js", "/favicon.png", "/app/static/x", "/nothing/here", "//twice", "/..%2f..%2fetc",
        "/_stcore/metrics", "/_stcore/script-health-check", "/?chat=x", f"/?{ASKED}=", f"/?{ASKED}=wrong", "/?SECRET=" + str(app.secret),
        "http://evil.example/", "*",
    }  # fmt: skip
    cookies = wrong_keys(app)
    for path in sorted(paths):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND"):
            answer = said(app, f"{method} {path}", Cookie=cookies["wrong"])
            assert status(answer) == 403, (method, path, answer)
    for name, value in cookies.items():
        answer = said(app, "GET /", **({"Cookie": value} if value else {}))
        assert status(answer) == 403 and b"is locked" in answer, name
    for path in sorted(path for path in paths if path.startswith("/")):
        for name, value in cookies.items():
            answer = knock(app, path, **({"Cookie": value} if value else {}))
            assert status(answer) == 403, (path, name)
    for method in ("POST", "PUT", "DELETE"):  # the secret in the address is for opening a page, and nothing else
        assert status(said(app, f"{method} /_stcore/upload_file/x/x?{ASKED}={app.secret}")) == 403
    assert status(knock(app, f"/_stcore/stream?{ASKED}={app.secret}")) == 403
    with_it = app.cookie["Cookie"]
    assert status(said(app, "GET /", Cookie=with_it)) == 200
    assert status(said(app, "GET /_stcore/host-config", Cookie=f"a=b; {with_it};c")) == 200
    assert status(knock(app, Cookie=with_it)) == 101


def test_what_a_stranger_is_shown_says_how_to_get_in_and_nothing_else(app: Application) -> None:
    answer = said(app, f"GET /memories?chat={CANARY}%22%3E%3Cscript%3E")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"recollect app" in body and b"?secret=" in body
    assert b"started again" not in body
    assert CANARY.encode() not in body and b"<script" not in body and str(app.data).encode() not in answer
    assert str(app.secret).encode() not in answer
    for line in (
        b"cache-control: no-store",
        b"referrer-policy: no-referrer",
        b"x-frame-options: DENY",
        HEADER.encode(),
    ):
        assert line in head, head
    assert b"started again since" in said(app, "GET /", Cookie=f"{cookie(app.port)}=of-a-start-before")
    assert said(app, "HEAD /").partition(b"\r\n\r\n")[2] == b""


def test_the_right_cookie_helps_nobody_from_elsewhere(app: Application) -> None:
    with_it = app.cookie["Cookie"]
    for elsewhere in (
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
    ):
        assert status(knock(app, Cookie=with_it, **elsewhere)) == 403, elsewhere
        assert status(said(app, f"GET /?{ASKED}={app.secret}", **elsewhere)) == 421, elsewhere


def test_the_secret_becomes_a_strict_cookie_and_leaves_the_address(app: Application) -> None:
    answer = said(app, f"GET /time_travel?chat=a%26b&{ASKED}={app.secret}&branch=main").decode()
    assert f"set-cookie: {app.cookie['Cookie']}; Path=/; HttpOnly; SameSite=Strict\r\n" in answer
    assert "referrer-policy: no-referrer" in answer and "cache-control: no-store" in answer
    assert 'content="0; url=/time_travel?chat=a%26b&amp;branch=main"' in answer
    assert str(app.secret) not in answer, "the cookie is not the secret, and the page does not repeat it"
    other = said(app, f"GET //evil.example/%5c%5cevil?{ASKED}={app.secret}").decode()
    assert 'content="0; url=/evil.example/%5C%5Cevil"' in other, "it never leads elsewhere"
    again = said(app, f"GET /?{ASKED}=of-yesterday&chat=c", Cookie=app.cookie["Cookie"]).decode()
    assert 'content="0; url=/?chat=c"' in again, "who is in already is not locked out by an old address"


STOLEN = """
import encodings.idna, os, socket, sys  # what is imported later may not be theirs to read
os.setuid(65534)
port, path, cookie = int(sys.argv[1]), sys.argv[2], sys.argv[3]
line = socket.create_connection(("127.0.0.1", port), timeout=60)
lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", f"Cookie: {cookie}", *sys.argv[4:], "", ""]
line.sendall("\\r\\n".join(lines).encode())
print(line.recv(100).decode("latin-1").split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose a TCP connection is")
def test_a_stolen_cookie_opens_nothing_for_another_account(app: Application) -> None:
    """A browser sends it to every port of this machine, and another account may listen at one."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=60) as line:
        assert peer.account(line.getsockname(), line.getpeername()) == os.getuid()
        ends = line.getsockname(), line.getpeername()
    assert peer.account(*ends) in (-1, None), "a connection that nobody holds is nobody's"
    if os.getuid() == 0:  # only root can be somebody else

        def theirs(path: str, cookie: str, *more: str) -> str:
            with_it = [sys.executable, "-c", STOLEN, str(app.port), path, cookie, *more]
            return subprocess.run(with_it, capture_output=True, text=True, check=True).stdout.strip()

        assert theirs("/", app.cookie["Cookie"]) == "403"
        assert theirs("/_stcore/health", app.cookie["Cookie"]) == "403"
        with socket.create_connection(("127.0.0.1", app.port), timeout=60) as victim:
            host, port = victim.getsockname()
            for said_to_be in (f"{host}:{port}", host, f"{host}:{port}, {host}:{port}", "[::1]:1", ""):
                assert theirs("/", app.cookie["Cookie"], f"X-Forwarded-For: {said_to_be}") == "403", said_to_be
        assert theirs(f"/?{ASKED}={app.secret}", "") == "200", "who was given the secret is let in, as whoever they are"
    assert status(said(app, "GET /", Cookie=app.cookie["Cookie"])) == 200


def test_a_cookie_is_for_the_account_that_brought_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    async def behind(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})

    lock = Lock(behind, 8501, "s" * 43)

    def ask(account: int | None, query: str = "", shown: str = "") -> tuple[int, str]:
        monkeypatch.setattr(peer, "account", lambda *ends: account)
        told: list[Any] = []

        async def send(message: Any) -> None:
            told.append(message)

        scope = {"type": "http", "method": "GET", "path": "/", "query_string": query.encode(), "client": ("127.0.0.1", 2),
                 "server": ("127.0.0.1", 8501), "headers": [(b"cookie", shown.encode())]}  # fmt: skip
        asyncio.run(lock(scope, None, send))  # type: ignore[arg-type]
        return told[0]["status"], dict(told[0]["headers"]).get(b"set-cookie", b"").decode().partition(";")[0]

    for account in (1000, 0, None):
        opened, given = ask(account, f"{ASKED}={'s' * 43}")
        assert opened == 200
        assert ask(account, shown=given)[0] == 204
        for other in {1000, 1001, 0, -1, None} - {account}:
            assert ask(other, shown=given)[0] == 403, (account, other)


def test_the_secret_is_another_at_every_start_and_in_no_file_and_no_argument(tmp_path: Path) -> None:
    with application(tmp_path / "data", "--serve") as first:
        port = first.port
        of_it = [psutil.Process(first.process.pid), *psutil.Process(first.process.pid).children(recursive=True)]
        assert len(of_it) > 1, "the sidecar"
        for process in of_it:
            assert str(first.secret) not in " ".join(process.cmdline())
            assert str(first.secret) not in str(process.environ())
        before = first.cookie["Cookie"]
        assert status(said(first, "GET /", Cookie=before)) == 200
        first.end(signal.SIGTERM)
    assert "".join(first.said).count(str(first.secret)) == 1, "said once, where it is asked for"
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or str(first.secret).encode() not in path.read_bytes(), path
    with application(tmp_path / "data", "--port", str(port)) as second:
        assert second.secret != first.secret
        answer = said(second, "GET /", Cookie=before)
        assert status(answer) == 403 and b"started again since" in answer
        assert status(knock(second, Cookie=before)) == 403
        assert status(said(second, f"GET /?{ASKED}={first.secret}")) == 403


def test_a_browser_is_started_without_the_secret_in_its_arguments(tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser.sh", tmp_path / "seen"
    os.mkfifo(seen)
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$*" > {seen}\n')
    browser.chmod(0o700)
    with application(tmp_path / "data", "--open", BROWSER=f"{browser} %s") as app:
        given = seen.read_text()
        assert str(app.secret) not in given
        page = Path(unquote(urlparse(given).path))
        assert f"{app.url}/?{ASKED}={app.secret}" in page.read_text()
        assert stat.S_IMODE(page.stat().st_mode) == 0o600 and stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        app.end(signal.SIGTERM)
    assert not page.exists()


def test_what_it_says_into_a_file_has_no_secret(tmp_path: Path) -> None:
    """`recollect app > app.log`: such a file may be read by everybody."""
    log = tmp_path / "app.log"
    env = {**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path / "data"), "PYTHONUNBUFFERED": "1"}
    pages = tmp_path / "data" / "application"
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "recollect.cli", "app"], env=env, stdout=out, stderr=out)
    try:
        while "Recollect is at" not in log.read_text():
            assert process.poll() is None, log.read_text()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.05)
        (page,) = pages.iterdir()
        assert page.as_uri() in " ".join(log.read_text().split())
        found = re.search(rf"{ASKED}=([\w-]+)", page.read_text())
        assert found and found[1] not in log.read_text()
    finally:
        process.terminate()
        process.wait(60)
    assert found[1] not in log.read_text()


def test_without_a_lock_it_says_so_and_lets_everybody_in(tmp_path: Path) -> None:
    with application(tmp_path / "data", "--no-lock") as app:
        assert app.secret is None
        assert status(said(app, "GET /")) == 200
        app.end(signal.SIGTERM)
    assert "every account of this machine" in " ".join("".join(app.said).split())


# -- in a browser


def test_the_first_opening_lets_in_and_leaves_no_secret_behind(
    tab: Callable[..., Tab], app: Application, tmp_path: Path
) -> None:
    """From a file, as `--open` does it: the browser takes that for another site."""
    with app.store() as store:
        (c,) = store.conversations()
        store.fork(c.id, at=1, name="aside")
    opening = tmp_path / "open.html"
    there = f"{app.url}/?chat={c.id}&{ASKED}={app.secret}&branch=aside"
    opening.write_text(f'<meta http-equiv="refresh" content="0; url={there.replace("&", "&amp;")}">')
    t = tab(to=app)
    t.page.on("request", lambda r: seen.append(r.headers.get("referer", "")))
    seen: list[str] = []
    t.page.goto(opening.as_uri())
    expect(t.page.get_by_text(f"My word is {CANARY}")).to_be_visible()
    expect(t.page).to_have_url(f"{app.url}/?chat={c.id}&branch=aside")
    (kept,) = [k for k in t.context.cookies() if k["name"] == cookie(app.port)]
    assert (kept["httpOnly"], kept["sameSite"], kept["path"], kept["expires"]) == (True, "Strict", "/", -1)
    assert not any(str(app.secret) in r for r in seen)
    t.page.go_back()
    assert str(app.secret) not in t.page.url
    t.page.goto(f"{app.url}/?chat={c.id}")  # a deep link needs no secret any more
    expect(t.page.get_by_text(f"My word is {CANARY}")).to_be_visible()
    t.elsewhere[:] = [url for url in t.elsewhere if url != opening.as_uri()]


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_a_stranger_sees_a_page_that_says_how_to_get_in(tab: Callable[..., Tab], app: Application, size: str) -> None:
    t = tab(size, to=app)
    t.page.goto(f"{app.url}/memories")
    expect(t.page.get_by_role("heading", name="Recollect is locked")).to_be_visible()
    t.shot("0-locked")
    assert t.page.evaluate("document.documentElement.scrollWidth") <= t.page.viewport_size["width"]  # type: ignore[index]
    t.complaints.clear()  # the 403


def test_a_page_that_was_open_over_a_restart_says_so_and_goes_on(tab: Callable[..., Tab], tmp_path: Path) -> None:
    with application(tmp_path / "data") as first:
        t = tab(to=first).open()
        t.say("We go to Porto")
        t.box.fill("half a sentence")
        first.end(signal.SIGTERM)
    with application(tmp_path / "data", "--port", str(first.port)) as second:
        expect(t.dialog()).to_contain_text("Recollect was started again")
        t.shot("0-cut-off")
        other = t.context.new_page()
        other.goto(f"{second.url}/?{ASKED}={second.secret}")
        expect(other.get_by_test_id("stChatMessage").first).to_contain_text("We go to Porto")
        expect(t.dialog()).to_have_count(0)
        expect(t.box).to_have_value("half a sentence")
        expect(t.said().first).to_contain_text("We go to Porto")
        t.complaints.clear()  # the server went away under it, and the browser said so
        t.context.close()
