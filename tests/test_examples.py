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


NEEDS = {
    "telegram_bot": ("langgraph", "pip install '.[langgraph]'"),
    "supervisor": ("langgraph_supervisor", "pip install '.[langgraph]' langgraph-supervisor"),
    "middleware_agent": ("langchain", "pip install '.[agent]'"),
}
WITHOUT = """
import runpy, sys

program, *absent = sys.argv[1:]
sys.argv = [program]

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
runpy.run_path(program, run_name="__main__")
"""


def run_without(name: str, *absent: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As on a machine where these packages are not installed."""
    command = [sys.executable, "-c", WITHOUT, str(EXAMPLES / f"{name}.py"), *absent]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_says_what_to_install(name: str, tmp_path: Path) -> None:
    package, install = NEEDS[name]
    done = run_without(name, package, folder=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"No module named '{package}" in done.stderr
    assert done.stderr.endswith(f"In Recollect's own folder: {install}\n")
    assert install in (EXAMPLES / f"{name}.py").read_text("utf-8").split('"""')[1]


@pytest.mark.parametrize("name", ["telegram_bot", "supervisor"])
def test_an_example_needs_no_more_than_it_says(name: str, tmp_path: Path) -> None:
    done = run_without(name, "langchain", "langchain_openai", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in EXPECTED[name]:
        assert line in done.stdout


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
