"""`recollect chat`: at a real terminal, through a pipe, with a model and without; Ctrl-C at any moment."""

from __future__ import annotations

import json
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from console import Run, environment, flat
from terminal import CTRL_C, CTRL_D, Terminal

import recollect
from recollect.cli.lines import joined

needs_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")


def messages(own_store: Path, conversation: str | None = None) -> list[str]:
    with recollect.open(own_store, user="local", background=False) as store:
        c = conversation or store.conversations(limit=1)[0].id
        return [f"{e.role}: {e.text}" for e in store.messages(c, limit=None)]


# -- a pipe


def test_each_line_of_a_pipe_is_said_in_turn(process: Run, own_store: Path) -> None:
    answer = process("chat", stdin="Remember I prefer dark mode\n\nWhat are my preferences?\n")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Noted: Prefers dark mode.\n") and answer.out.count("dark mode") == 2
    said = messages(own_store)
    assert [m.split(":")[0] for m in said] == ["user", "assistant"] * 2
    assert said[2] == "user: What are my preferences?"


def test_a_mark_of_the_byte_order_is_not_said(process: Run, own_store: Path) -> None:
    assert process("chat", stdin="\ufeffHello\nAgain\n").code == 0
    assert [m for m in messages(own_store) if m.startswith("user")] == ["user: Hello", "user: Again"]


def test_several_lines_are_one_message_when_they_are_joined(run: Run, own_store: Path) -> None:
    assert run("chat", stdin='one \\\ntwo\n"""\nthree\n\n  four\n"""\n"""five"""\n//six\n').code == 0
    assert [m for m in messages(own_store) if m.startswith("user")] == [
        "user: one \ntwo", "user: three\n\n  four", "user: five", "user: /six",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["hello"], "hello"),
        (["a\\", "b\\", "c"], "a\nb\nc"),
        (["a\\"], "a"),
        (['"""a', 'b"""', "not read"], "a\nb"),
        (['"""', "a", "end of input"], "a\nend of input"),
        ([], None),
    ],
)
def test_joined_lines(lines: list[str], message: str | None) -> None:
    rest = iter(lines)
    assert joined(lambda more: next(rest, None)) == message


def test_json_is_one_document_with_the_turns(run: Run, own_store: Path) -> None:
    answer = run("chat", "--json", stdin="Remember I prefer tea\n").json
    assert answer["turns"] == [{"user": "Remember I prefer tea", "assistant": "Noted: Prefers tea."}]
    assert messages(own_store, answer["conversation"])[0] == "user: Remember I prefer tea"
    assert run("chat", "--json", stdin="").json == {"conversation": None, "turns": []}


def test_nothing_is_created_before_something_is_said(run: Run, own_store: Path) -> None:
    assert run("chat", stdin="/help\n/memories\n").code == 0
    assert run("conversations", "--json").json == []


def test_going_on_with_a_conversation(run: Run, trip: str) -> None:
    assert run("chat", "-c", "trip", stdin="Thanks!\n").code == 0
    assert [m["text"] for m in run("show", trip, "--json").json["messages"]][:3] == [
        "Which train?",
        "The 9:40.",
        "Thanks!",
    ]
    missing = run("chat", "-c", "nowhere", stdin="hello\n")
    assert missing.code == 3 and "nowhere" in missing.err
    assert run("chat", "--branch", "main", stdin="").code == 2


def test_a_wrong_command_is_told_and_the_rest_goes_on(run: Run, own_store: Path) -> None:
    answer = run("chat", stdin="/nonsense\nRemember I prefer tea\n")
    assert answer.code == 2 and "/nonsense" in answer.err and "Noted" in answer.out
    assert "could be" in run("chat", stdin="/f\n").err, "fork or forget"


def test_what_went_wrong_is_told_with_commands_of_the_talk(run: Run, trip: str) -> None:
    told = run("chat", "-c", trip, stdin="/switch nope\n/open nope\n/fork 99\n").err
    assert "'trip-1' has no branch 'nope'. /branches lists them." in told
    assert "no conversation 'nope'. /open lists what" in told
    assert "/fork 99: conversation 'trip-1' has events 1 to" in told
    assert "`recollect branches trip-1` lists them" in run("switch", trip, "nope").err, "one that can be copied"


def test_a_model_on_another_machine_is_refused(run: Run) -> None:
    answer = run("chat", "--model", "openai:gpt-4o", "--url", "https://models.example.com/v1", stdin="hello\n")
    assert answer.code == 2 and "set RECOLLECT_ALLOW_HOSTS=models.example.com, or allow_hosts in" in flat(answer.err)
    assert run("conversations", "--json").json == [], "nothing was begun"


def test_a_model_that_cannot_be_had_is_told_and_nothing_is_kept(run: Run) -> None:
    answer = run("chat", "--model", "foo:bar", stdin="hello\n")
    assert answer.code == 2
    assert "LangChain knows no such provider" in answer.err and "model_provider" not in answer.err
    assert run("conversations", "--json").json == []


@needs_a_terminal
def test_a_model_that_cannot_be_had_is_told_before_anything_is_typed(own_store: Path) -> None:
    with Terminal("chat", "--model", "foo:bar") as t:
        assert t.end() == 2
        assert "LangChain knows no such provider" in flat(t.screen)
        assert "From memory alone: recollect chat --model none" in t.screen
        assert "you ›" not in t.screen


def test_no_model_can_be_said_where_the_settings_name_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_CHAT_MODEL", "foo:bar")
    assert run("chat", stdin="My name is Kim.\n").code == 2
    for none in ("none", "NONE", "None", " none "):
        assert "Kim" in run("chat", "--model", none, stdin="My name is Kim.\nWhat is my name?\n").out
    monkeypatch.setenv("RECOLLECT_CHAT_MODEL", "None")
    assert "Kim" in run("chat", stdin="What is my name?\n").out


def test_a_server_that_is_away_is_told_before_anything_is_said(run: Run) -> None:
    """It may come while one is typing: so the talk begins, and what is said is kept."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert "nobody answers" not in run("chat", "--model", "openai:m", "--url", url, stdin="/help\n").err
    answer = run("chat", "--model", "openai:m", "--url", url, stdin="/help\n")
    assert answer.code == 0 and "/help" in answer.out
    assert f"nobody answers at {url}" in answer.err


def test_a_missing_framework_is_told_before_anything_is_said(own_store: Path) -> None:
    script = "import sys\nsys.modules['langgraph'] = None\nfrom recollect.cli import main\nmain()"
    command = [sys.executable, "-c", script, "chat"]
    done = subprocess.run(command, input="/help\n", capture_output=True, text=True, env=environment(), timeout=60)
    assert (done.returncode, done.stdout) == (6, "")
    assert "extra `langgraph`" in done.stderr


def test_a_missing_extra_ends_it_as_it_ends_every_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_ollama", None)
    answer = run("chat", "--model", "ollama:llama3.2", stdin="hello\n/nonsense\n")
    assert answer.code == 6 and "langchain-ollama" in answer.err, "the first of what went wrong"


def test_searching_in_a_conversation(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    """No option of `search` is one of /search; what is only on another branch is hinted at."""
    said: list[str] = []
    script = "The tulips are planted in rows\n/fork 0 other\nAnother subject\n/search tulips in rows\n/search xyzzy\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recollect.cli.output.hint", said.append)
        answer = run("chat", stdin=script)
    assert answer.out.count("Other branches have something") == 1 and "recollect search" in answer.out
    assert not any("; --json" in hint for hint in said), said


def test_commands_in_a_conversation(run: Run, tmp_path: Path, own_store: Path) -> None:
    file = tmp_path / "talk.md"
    script = f"""Remember I prefer dark mode
What are my preferences?
/memories
/why
/fork 2 other
Something else entirely
/branches
/switch main
/search dark
/export {file}
/export {file}
/forget 1
/memories dark
/undo
/memories dark
/memory off
What are my preferences?
/new Second
Hello again
/open
/history 1
/quit
never said
"""
    answer = run("chat", stdin=script)
    out = answer.out
    assert "Prefers dark mode" in out and "tokens" in out
    assert "On other now, from #2 on. /switch main goes back." in out and "other (active)" in out
    assert re.search(r"Forgotten: Prefers dark mode.*Nothing is remembered about that.*Remembered again", out, re.S)
    assert "is there already" in answer.err and answer.code == 2
    assert "Memory is switched off for this answer" in out
    assert "never said" not in out
    text = file.read_text()
    assert text.startswith("# Remember I prefer dark mode\n") and "**user** · " in text
    assert "Something else entirely" in text.partition("Branch `other`, from event 2 of `main`")[2]
    with recollect.open(own_store, user="local", background=False) as store:
        second, first = store.conversations()
        assert (second.title, first.active_branch) == ("Second", "main")
        assert "Something else entirely" in [e.text for e in store.messages(first.id, branch="other")]


# -- a terminal


@needs_a_terminal
def test_a_talk_at_a_terminal(own_store: Path) -> None:
    with Terminal("chat") as t:
        t.see("from memory alone")
        t.see("you ›")
        t.type("Remember I prefer dark mode")
        t.see("recollect ›")
        t.see("Noted: Prefers dark mode.")
        t.see("you ›")
        t.type("first line \\")
        t.see("…")
        t.type("second line")
        t.see("you ›")
        t.type("/mem\t")  # TAB completes, /memory or /memories is asked again
        t.see("you ›")
        t.type("/memories")
        t.see("Prefers dark mode")
        t.see("you ›")
        t.press(CTRL_D)
        assert t.end() == 0
        assert "\x1b[" in t.raw, "there should be colours"
    assert "user: first line \nsecond line" in messages(own_store)
    with Terminal("chat", "-c", "@") as t:  # history is there at once
        t.see("Remember I prefer dark mode")
        t.see("Noted: Prefers dark mode.")
        t.see("you ›")
        t.type("/quit")
        assert t.end() == 0


@needs_a_terminal
def test_ctrl_c_at_the_prompt_clears_then_leaves(own_store: Path) -> None:
    with Terminal("chat") as t:
        t.see("you ›")
        t.type("half a thou", enter=False)
        t.see("half a thou")
        t.press(CTRL_C)
        t.see("once more")
        t.see("you ›")
        t.type("Remember I prefer tea")
        t.see("Noted: Prefers tea.")
        t.see("you ›")
        t.type('"""')
        t.see("…")
        t.press(CTRL_C)
        t.see("you ›")
        t.press(CTRL_C)
        assert t.end() == 0
    assert messages(own_store) == ["user: Remember I prefer tea", "assistant: Noted: Prefers tea."]


PROMPTS = """
import itertools, readline
from recollect.cli.interrupts import Interrupts
with Interrupts(keys=True) as ctrl_c:
    for n in itertools.count():
        try:
            input(f"<{n}>")
            break
        except KeyboardInterrupt:
            ctrl_c.take()
"""


@needs_a_terminal
def test_ctrl_c_that_comes_just_before_the_wait_for_a_key_is_heard() -> None:
    """20,000 times it is pressed the moment a prompt appears. Of so many, about four came between Python's last look at
    signals and readline's wait, and were lost for good."""
    with Terminal(script=PROMPTS) as t:
        for n in range(20_000):
            t.see(f"<{n}>", 30)
            t.press(CTRL_C)
            t.forget()
        t.see("<20000>", 30)
        t.type("")
        assert t.end() == 0


class SlowModel:
    """An OpenAI-compatible server on this machine that takes its time. `words` come one every `pause` seconds; after them it
    falls silent if `silent`."""

    def __init__(self, words: int = 4000, pause: float = 0.05, silent: bool = False) -> None:
        self.asked: list[Any] = []
        self.hung_up = threading.Event()
        self.over = threading.Event()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                try:
                    for n in range(words):
                        self._chunk({"content": f"word{n} "})
                        time.sleep(pause)
                    if silent:
                        model.over.wait(600)
                    self._chunk({}, "stop")
                    self.wfile.write(b"data: [DONE]\n\n")
                except OSError:
                    model.hung_up.set()

            def _chunk(self, delta: dict[str, str], finish: str | None = None) -> None:
                data = {
                    "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "slow",
                    "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}],
                }  # fmt: skip
                self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.args = ("--model", "openai:slow", "--url", f"http://127.0.0.1:{self._server.server_port}/v1")

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def slow() -> Iterator[SlowModel]:
    model = SlowModel()
    yield model
    model.close()


@needs_a_terminal
def test_ctrl_c_stops_an_answer_and_keeps_what_was_said(own_store: Path, slow: SlowModel) -> None:
    with Terminal("chat", *slow.args) as t:
        t.see("you ›")
        t.type("Tell me a story")
        t.see("word3")
        t.press(CTRL_C)
        t.see("Stopped. What you said is kept.")
        t.see("you ›")
        assert slow.hung_up.wait(60), "the model is not asked any further"
        t.type("And another")
        t.see("word2")
        t.press(CTRL_C)
        t.see("you ›")
        t.type("/quit")
        assert t.end() == 0
    with recollect.open(own_store, user="local", background=False) as store:
        (c,) = store.conversations()
        events = store.read(c.id)
        said = [e.text for e in events if e.kind == "message"]
        assert said == ["Tell me a story", "And another"], "a stopped answer is no message"
        assert {e.kind for e in events} == {"message", "event"}, "and nothing has failed"
        stops = [e for e in events if e.kind == "event"]
        assert [e.name for e in stops] == ["chat.answer_stopped"] * 2
        assert str(stops[0].payload["partial"]).startswith("word0 word1 word2 word3")
        assert len(store.branches(c.id)) == 1
    assert [m["content"] for m in slow.asked[1]["messages"] if m["role"] == "user"][-2:] == [
        "Tell me a story",
        "And another",
    ]


@needs_a_terminal
def test_ctrl_c_comes_through_while_a_model_is_silent(own_store: Path) -> None:
    model = SlowModel(words=1, silent=True)
    try:
        with Terminal("chat", *model.args) as t:
            t.see("you ›")
            t.type("Hello?")
            t.see("word0")
            began = time.monotonic()
            t.press(CTRL_C)
            t.see("has not noticed yet")
            t.see("you ›")
            assert time.monotonic() - began < 120, "the model is silent for ten minutes"
            t.type("/quit")
            assert t.end() == 0
    finally:
        model.close()
    assert messages(own_store) == ["user: Hello?"]


@needs_a_terminal
def test_killed_in_the_middle_of_an_answer(own_store: Path, slow: SlowModel) -> None:
    with Terminal("chat", *slow.args) as t:
        t.see("you ›")
        t.type("Tell me a story")
        t.see("word5")
        t.signal(signal.SIGKILL)
        t.end()
    with Terminal("chat", "-c", "@") as t:
        t.see("Tell me a story")
        t.see("you ›")
        t.type("Remember I prefer tea")
        t.see("Noted: Prefers tea.")
        t.see("you ›")
        t.press(CTRL_D)
        assert t.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_in_a_pipe_ends_it_with_what_was_said_kept(own_store: Path, slow: SlowModel) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "recollect.cli", "chat", *slow.args],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as talking:  # fmt: skip
        try:
            assert talking.stdin is not None and talking.stdout is not None
            talking.stdin.write(b"Tell me a story\nnever said\n")
            talking.stdin.flush()
            assert talking.stdout.read(6) == b"word0 "
            talking.send_signal(signal.SIGINT)
            assert talking.wait(60) == 130
        finally:
            talking.kill()
    assert messages(own_store) == ["user: Tell me a story"]


@needs_a_terminal
def test_ctrl_c_at_any_moment_loses_nothing_and_never_hangs(own_store: Path, slow: SlowModel) -> None:
    """Presses at random moments, from the first line of Python on; then the talk goes on as if nothing had been."""
    moments = random.Random(9)
    said = 0
    for round in range(4):
        with Terminal("chat", *slow.args, *(["-c", "@"] if said else [])) as t:
            t.see("you ›")
            t.type(f"message {round}")
            said += 1
            until = time.monotonic() + moments.uniform(0.0, 1.5)
            while time.monotonic() < until:
                t._read(0.02)
            t.press(CTRL_C)
            t.see("you ›")
            t.press(CTRL_D)
            assert t.end() == 0, t.screen
        with recollect.open(own_store, user="local", background=False) as store:
            assert store.verify().ok
            assert len(store.conversations()) <= 1
            said = min(said, len(store.conversations()))
