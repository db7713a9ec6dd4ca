"""The examples run as they stand, offline, each as a program of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
EXPECTED = {
    "telegram_bot": [
        "4711: What are my preferences?\n   -> On record as your preferences:\n- Prefers dark mode",
        "4712: What are my preferences?\n   -> On record as your preferences:\n- Prefers light mode",
        "-> We start afresh",
    ],
    "supervisor": [
        "[monday] Remember I prefer dark mode\n   scribe: Noted: Prefers dark mode.",
        "[tuesday] What are my preferences?\n   archivist: On record as your preferences:\n- Prefers dark mode",
        "remembered: Launch of Atlas is on 3 March 2027",
    ],
    "middleware_agent": [
        "- Is allergic to nuts", "remembered: Prefers to have lunch at noon", "8 messages in 2 conversations are on record.",
    ],
}  # fmt: skip


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for line in EXPECTED[name]:
        assert line in done.stdout
    assert done.stderr == ""
    assert os.listdir(tmp_path) == []


@contextmanager
def webhook(store: Path) -> Iterator[str]:
    command = [sys.executable, str(EXAMPLES / "telegram_bot.py"), "--serve", "0", "--store", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/)\n", process.stdout.readline())
        assert said is not None
        yield said[1]
    finally:
        process.kill()  # as a crash would: what was answered is kept
        process.wait()
        process.stdout.close()


def deliver(url: str, id: int, chat: int, text: str) -> str:
    update: dict[str, Any] = {"update_id": id, "message": {"chat": {"id": chat}, "text": text}}
    request = urllib.request.Request(url, json.dumps(update).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        said = json.load(answer)
    assert said["chat_id"] == chat
    return str(said["text"])


def test_the_bot_knows_its_chats_after_a_crash(tmp_path: Path) -> None:
    store = tmp_path / "bot.db"
    with webhook(store) as url:
        assert deliver(url, 1, -100200, "Remember I prefer dark mode") == "Noted: Prefers dark mode."
        deliver(url, 1, -100200, "Remember I prefer dark mode")  # delivered once more
    with webhook(store) as url:
        assert "Prefers dark mode" in deliver(url, 2, -100200, "What are my preferences?")
        assert "dark" not in deliver(url, 3, -100201, "What are my preferences?")
    import recollect

    with recollect.open(store, user="telegram:-100200") as opened:
        said = opened.messages("agent_chat_history/telegram:-100200", limit=None)
        assert [e.text for e in said if e.role == "user"] == ["Remember I prefer dark mode", "What are my preferences?"]
