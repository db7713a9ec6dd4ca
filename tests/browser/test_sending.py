"""What the box takes is never lost: while an answer is given it takes nothing, and says so."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tab import Application, Tab, application


@pytest.fixture
def model() -> Iterator[tuple[str, threading.Event]]:
    """An OpenAI-compatible server that begins its answers and ends them when it is told to."""
    go = threading.Event()

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for word in ("Well, ", "yes."):
                delta = {"role": "assistant", "content": word}
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "slow",
                         "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}  # fmt: skip
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
                assert go.wait(120)
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", go
    finally:
        go.set()
        server.shutdown()
        server.server_close()


def send(t: Tab, text: str) -> None:
    """As soon as the box takes it, and until it has taken it."""
    t.box.fill(text)
    for _ in range(50):
        expect(t.box).to_be_enabled()
        t.box.press("Enter")
        if t.box.input_value() != text:
            return
    raise AssertionError(f"the box does not take {text!r}")


def said(app: Application) -> list[str]:
    with app.store() as store:
        (c,) = store.conversations()
        return [e.text for e in store.read(c, kinds=["message"]) if e.role == "user"]


def test_while_an_answer_is_given_the_box_is_closed_and_the_address_is_set(
    tab: Callable[..., Tab], tmp_path: Path, model: tuple[str, threading.Event]
) -> None:
    url, go = model
    where = {"RECOLLECT_CHAT_MODEL": "openai:slow", "RECOLLECT_CHAT_MODEL_URL": url}
    with application(tmp_path / "data", **where) as app:
        t = tab(to=app).open()
        send(t, "Tell me about bees")
        expect(t.said().last).to_contain_text("Well,", timeout=90_000)  # the first call imports a library
        expect(t.page).to_have_url(re.compile(r"[?&]chat="))
        expect(t.box).to_be_disabled()
        expect(t.box).to_have_attribute("placeholder", re.compile("when the answer is there"))
        t.page.reload()
        expect(t.said().last).to_contain_text("Well,")
        expect(t.box).to_be_disabled()
        go.set()
        expect(t.said().last).to_contain_text("yes.")
        other = tab(to=app).open()
        expect(other.said()).to_have_count(2)
        other.quiet()
        go.clear()
        send(t, "Remember that I am allergic to honey")
        send(other, "Also remember that my name is Kim")  # its page does not know yet that an answer is given
        go.set()
        for one in (t, other):
            expect(one.said()).to_have_count(6)
        assert said(app) == [
            "Tell me about bees", "Remember that I am allergic to honey", "Also remember that my name is Kim",
        ]  # fmt: skip
        for one in (t, other):
            one.page.close()  # before the server goes away under it


def test_what_is_sent_in_quick_succession_is_all_there_in_order(tab: Callable[..., Tab], app: Application) -> None:
    t = tab().open()
    texts = [f"Number {n} of six" for n in range(6)]
    for text in texts:
        send(t, text)
        t.page.wait_for_timeout(100)
    expect(t.said()).to_have_count(12)
    assert said(app) == texts


def test_what_was_sent_is_kept_when_another_conversation_is_begun_at_once(
    tab: Callable[..., Tab], app: Application
) -> None:
    t = tab().open().say("What is a heron?")
    send(t, "Remember I prefer trains")
    t.page.keyboard.press("Control+Alt+n")
    expect(t.page.get_by_text("What is on your mind?")).to_be_visible()
    t.choose("What is a heron?")
    expect(t.said()).to_have_count(4)
    assert said(app) == ["What is a heron?", "Remember I prefer trains"]
