"""The application as a server: who gets in, what a kill costs, and how it ends."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import expect
from tab import Application, Tab, application
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import recollect
from recollect.langgraph import ask, chat_graph


class SlowModel(BaseHTTPRequestHandler):
    """An OpenAI-compatible server that needs ten minutes for an answer."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for i in range(6000):
            delta = {"role": "assistant", "content": f"word{i} "}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "slow",
                     "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}  # fmt: skip
            try:
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            except OSError:
                return  # the one who asked is gone
            time.sleep(0.1)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def slow_model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), SlowModel)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def stream(app: Application, **headers: str) -> bytes:
    """What a WebSocket is told first, with these headers."""
    host = headers.pop("host", f"127.0.0.1:{app.port}")
    address = f"ws://{host}/_stcore/stream"
    raw = socket.create_connection(("127.0.0.1", app.port))
    headers = {"Cookie": app.cookie["Cookie"], **headers}
    with raw, connect(address, sock=raw, additional_headers=headers, open_timeout=60) as ws:
        ws.send(b"\x5a\x00")  # rerun_script, empty: draw the page
        said = ws.recv(timeout=60)
        return said if isinstance(said, bytes) else said.encode()


def test_a_websocket_with_a_foreign_host_or_origin_gets_nothing(shared_app: Application) -> None:
    app = shared_app
    assert stream(app)
    assert stream(app, Origin=app.url)
    hostile = [
        {"host": "evil.example"},
        {"host": f"evil.example:{app.port}"},
        {"host": f"127.0.0.1.evil.example:{app.port}"},
        {"host": "127.0.0.1:1"},
        {"host": f"0.0.0.0:{app.port}"},
        {"host": f"localhost:{app.port}"},  # somebody else may listen at [::1], and a browser may go there first
        {"Origin": f"http://localhost:{app.port}"},
        {"host": f"[::1]:{app.port}"},
        {"Origin": "http://evil.example"},
        {"Origin": f"http://evil.example:{app.port}"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},  # another program's page on this machine
        {"Origin": f"https://127.0.0.1:{app.port}"},
        {"Origin": "file://"},
        {"host": f"rebound.example:{app.port}", "Origin": f"http://rebound.example:{app.port}"},
    ]
    for headers in hostile:
        with pytest.raises(InvalidStatus) as refused:
            stream(app, **headers)
        assert refused.value.response.status_code == 403, headers


def test_pages_and_files_are_refused_to_a_foreign_host_too(shared_app: Application) -> None:
    for host, status in ((f"127.0.0.1:{shared_app.port}", 200), ("evil.example", 421), ("", 421)):
        for path in ("/", "/_stcore/health", "/_stcore/host-config"):
            client = http.client.HTTPConnection("127.0.0.1", shared_app.port, timeout=60)
            client.request("GET", path, headers={"Host": host, **shared_app.cookie})
            answer = client.getresponse()
            answer.read()
            client.close()
            assert answer.status == status, (host, path)


def test_by_another_name_a_short_page_says_which_address_it_has(shared_app: Application) -> None:
    client = http.client.HTTPConnection("127.0.0.1", shared_app.port, timeout=60)
    try:
        client.request("GET", "/", headers={"Host": f"localhost:{shared_app.port}", **shared_app.cookie})
        answer = client.getresponse()
        assert answer.status == 421
        assert f"Recollect answers at {shared_app.url} and at no other address" in answer.read().decode()
    finally:
        client.close()


def test_no_other_page_can_hold_it_in_a_frame(shared_app: Application) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", shared_app.port, timeout=60)
    try:
        connection.request("GET", "/", headers=shared_app.cookie)
        headers = connection.getresponse().headers
    finally:
        connection.close()
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "img-src 'self' data: blob:" in headers["Content-Security-Policy"]


def test_it_listens_on_this_machine_only(shared_app: Application) -> None:
    found = [c.laddr.ip for c in psutil.Process(shared_app.process.pid).net_connections() if c.status == "LISTEN"]
    assert found == ["127.0.0.1"]


def test_a_taken_port_is_no_obstacle(shared_app: Application, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        except OSError:
            pass  # somebody has it: that is the point
        with application(tmp_path / "data") as second:
            assert second.port != 8501
            assert second.end(signal.SIGTERM) == 0


def test_two_that_start_in_the_same_moment_are_two(tmp_path: Path) -> None:
    """Both once said port 8501: whoever opened the address of the second saw the first."""
    with ThreadPoolExecutor() as pool:
        started = list(pool.map(Application, (tmp_path / "one", tmp_path / "two")))
    try:
        assert len({app.port for app in started}) == 2
        for app in started:
            found = [c.laddr.port for c in psutil.Process(app.process.pid).net_connections() if c.status == "LISTEN"]
            assert found == [app.port], "what it said is where it listens"
        assert [app.end(signal.SIGTERM) for app in started] == [0, 0]
    finally:
        for app in started:
            if app.process.poll() is None:
                app.kill()


def test_a_connection_that_comes_before_the_server_waits_for_it(tmp_path: Path) -> None:
    """As soon as the address is said, it can be opened."""
    (tmp_path / "data").mkdir()
    with socket.socket() as early:

        class Early(Application):
            def _wait(self) -> None:
                early.connect(("127.0.0.1", self.port))
                super()._wait()

        app = Early(tmp_path / "data")
        try:
            early.settimeout(60)
            early.sendall(f"GET /_stcore/health HTTP/1.1\r\nHost: 127.0.0.1:{app.port}\r\n".encode())
            early.sendall(f"Cookie: {app.cookie['Cookie']}\r\n\r\n".encode())
            assert early.recv(12) == b"HTTP/1.1 200"
        finally:
            app.end(signal.SIGTERM)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_ended_as_soon_as_it_has_said_where_it_is(tmp_path: Path, how: signal.Signals) -> None:
    """The signal's handler came after the sentence: who was quick saw -15, and a sidecar was left behind."""

    class Hasty(Application):
        def _wait(self) -> None:
            pass

    (tmp_path / "data").mkdir()
    app = Hasty(tmp_path / "data", "--serve")
    assert app.end(how) == 0
    of_it = [
        p for p in psutil.process_iter(["environ"]) if (p.info["environ"] or {}).get("HOME") == str(tmp_path / "data")
    ]
    assert not of_it, "the sidecar outlived it"


def test_ctrl_c_ends_it_and_its_sidecar(tmp_path: Path) -> None:
    with application(tmp_path / "data", "--serve") as app:
        children = psutil.Process(app.process.pid).children()
        assert app.end(signal.SIGINT) == 0
        assert not any(child.is_running() for child in children), "the sidecar outlived it"
    assert app.said[-1] == f"Ended. Everything is kept in {tmp_path / 'data' / 'chat.db'}\n"


def test_ctrl_c_does_not_wait_for_a_slow_model(tab: Callable[..., Tab], tmp_path: Path, slow_model: str) -> None:
    where = {"RECOLLECT_CHAT_MODEL": "openai:slow", "RECOLLECT_CHAT_MODEL_URL": slow_model}
    with application(tmp_path / "data", **where) as app:
        t = tab(to=app).open()
        t.box.fill("Where should we go?")
        t.box.press("Enter")
        expect(t.said().last).to_contain_text("word3", timeout=90_000)
        assert app.end(signal.SIGINT, patience=120) == 0  # the answer would take ten minutes
        assert app.said[-1].startswith("Ended. Everything is kept in ")
        t.page.close()
        t.complaints.clear()  # the server went away under it, and the browser said so


def test_killed_in_the_middle_of_an_answer(tab: Callable[..., Tab], tmp_path: Path, slow_model: str) -> None:
    """Everything acknowledged is there after the restart, and the conversation goes on."""
    data = tmp_path / "data"
    data.mkdir()
    with recollect.open(data / "chat.db", background=False) as store:
        c = store.create(title="Travel")
        "".join(ask(chat_graph(store=store), c.id, "Remember I prefer trains"))
        known = [e.text for e in store.messages(c, limit=None)]
    with application(data, RECOLLECT_CHAT_MODEL="openai:slow", RECOLLECT_CHAT_MODEL_URL=slow_model) as second:
        t = tab(to=second).open()
        expect(t.said()).to_have_count(2)
        t.box.fill("Where should we go?")
        t.box.press("Enter")
        expect(t.said().last).to_contain_text("word3", timeout=90_000)  # the first call imports a library
        second.kill()
        t.page.close()
        t.complaints.clear()  # the server went away under it, and the browser said so
    with application(data) as third:
        with third.store() as store:
            after = [e.text for e in store.messages(c.id, limit=None)]
            assert after[: len(known)] == known
            assert after[len(known)] == "Where should we go?"
            assert store.verify().ok
        t = tab(to=third).open(chat=c.id)
        expect(t.page.get_by_text("was not answered yet")).to_be_visible()
        t.press("Answer it now")
        expect(t.said()).to_have_count(4)
        t.say("What are my preferences?")
        expect(t.said().last).to_contain_text("trains")
        t.page.close()
