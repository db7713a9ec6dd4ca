"""The wire to a language model, tried with a real one: SmolLM2 on this machine, behind an OpenAI-compatible server.

What it says is of no interest, it has 135 million parameters. That it streams, that it answers in a schema, that it
writes summaries, that it may be too slow or die in the middle of a word: that is what a program meets.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import ModelFailed
from recollect.langgraph import ask, chat_graph, chat_model, text_model
from recollect.langgraph.models import TextModel
from recollect.schema import Offers
from talk import eventually

NAME = "openai:smollm2-135m"


@contextmanager
def serving() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, str(Path(__file__).with_name("model_server.py"))]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address
        yield f"{address}/v1", process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """The model's server, started once for all of these tests."""
    with serving() as (url, _):
        yield url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollect.Store]:
    with recollect.open(tmp_path / "chat.db", user="alex", background=False) as opened:
        yield opened


def test_the_answer_streams_and_is_recorded(model_url: str, store: recollect.Store) -> None:
    store.append(store.create("old"), role="user", text="Remember I prefer dark mode")
    graph = chat_graph(NAME, store=store, url=model_url, prompt="Answer in one short sentence.")
    pieces = list(ask(graph, "c", "Which mode do I prefer?"))
    assert len(pieces) > 2
    asked, answer = store.read("c")
    assert answer.text == "".join(pieces)
    assert (asked.role, answer.role, answer.model) == ("user", "assistant", "smollm2-135m")


def test_it_answers_in_a_schema_and_what_it_finds_is_checked(model_url: str, tmp_path: Path) -> None:
    answers: list[Any] = []

    class Watched(TextModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            structured = super().with_structured_output(schema, **kwargs)
            return structured | (lambda answer: (answers.append(answer), answer)[1])

    settings = recollect.Settings.load()
    model = Watched(chat_model(NAME, settings, url=model_url, max_tokens=400, timeout=300))
    with recollect.open(
        tmp_path / "c.db", user="alex", model=model, background=False, memory_extract_timeout=300.0
    ) as store:
        c = store.create("c")
        store.append(c, role="user", text="I prefer dark mode in every editor.")
        done = store.consolidate(c)
        assert done.turns == 1
        assert "dark mode" in store.memories()[0].content
        # Whatever it said, nothing it made up is believed.
        assert all("dark" in m.content or m.provenance.role != "user" for m in store.memories())
    assert answers
    assert isinstance(answers[0], Offers)


def test_it_writes_summaries(model_url: str, tmp_path: Path) -> None:
    model = text_model(NAME, recollect.Settings.load(), url=model_url, max_tokens=40, timeout=300)
    with recollect.open(
        tmp_path / "c.db", user="alex", model=model, background=False, memory_extract=False, summary_keep_recent=1,
        summary_timeout_ms=300_000,
    ) as store:  # fmt: skip
        c = store.create("c")
        for i in range(3):
            store.append(c, role="user", text=f"We decided to ship on day {i}")
        summary = store.summarize(c)
        assert summary is not None
        assert summary.payload["by"] == "model"


def test_a_server_that_dies_in_the_middle_of_an_answer(store: recollect.Store) -> None:
    with serving() as (url, process):
        graph = chat_graph(NAME, store=store, url=url)
        got: list[str] = []
        with pytest.raises(ModelFailed):
            for piece in ask(graph, "c", "Tell me a very long story about the sea."):
                got.append(piece)
                process.kill()
        assert got
    asked, error = store.read("c")
    assert asked.text == "Tell me a very long story about the sea."
    assert error.kind == "error"
    assert error.payload["partial"] == "".join(got)
    offline = chat_graph(store=store)
    assert "".join(ask(offline, "c", "Remember I prefer tea")) == "Noted: Prefers tea."


@contextmanager
def stalling(answer: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes a request and never answers, or always the same."""
    asked: list[bytes] = []
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                taken.append(connection)
                asked.append(connection.recv(65536))
                if answer:
                    asked.append(connection.recv(65536) if b"private" not in asked[-1] else b"")
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", asked
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()
            thread.join(5)
            for connection in taken:
                connection.close()


def test_what_is_sent_goes_straight_there(store: recollect.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the environment sees it, and a redirect leads nowhere: the wall around the tests would tell."""
    answer = (
        b"HTTP/1.1 307 Elsewhere\r\nLocation: http://192.0.2.1/v1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    with stalling(answer) as (url, asked), stalling() as (proxy, seen):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        graph = chat_graph(NAME, store=store, url=url)
        with pytest.raises(ModelFailed):
            list(ask(graph, "c", "A private question"))
        assert b"A private question" in b"".join(asked)
        assert seen == []


def test_a_model_that_does_not_answer_in_time(store: recollect.Store) -> None:
    with stalling() as (url, asked):
        model = chat_model(NAME, store.settings, url=url, timeout=0.3, max_retries=0)
        graph = chat_graph(model, store=store)
        started = time.monotonic()
        with pytest.raises(ModelFailed, match="Timeout"):
            list(ask(graph, "c", "Are you there?"))
        assert time.monotonic() - started < 50  # a minute is what it has unless told otherwise
        assert eventually(lambda: asked)
    assert [(e.kind, e.role) for e in store.read("c")] == [("message", "user"), ("error", None)]


def test_a_model_that_is_not_there_leaves_extraction_and_summaries_to_the_rules(tmp_path: Path) -> None:
    with stalling() as (url, asked):
        model = text_model(NAME, recollect.Settings.load(), url=url, timeout=0.3, max_retries=0)
        with recollect.open(
            tmp_path / "c.db", user="alex", model=model, background=False, memory_extract_timeout=2.0,
            summary_keep_recent=1, summary_timeout_ms=2_000,
        ) as store:  # fmt: skip
            c = store.create("c")
            for text in ("Remember I prefer dark mode", "We decided to ship on Friday", "Good"):
                store.append(c, role="user", text=text)
            store.consolidate(c)
            assert "Prefers dark mode" in [m.content for m in store.memories()]
            summary = store.summarize(c)
            assert summary is not None
            assert summary.payload["by"] == "extract"
        assert eventually(lambda: asked)
