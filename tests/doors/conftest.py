"""A command line of the test's own: a data folder, a home, and nobody's settings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from console import Answer, Run, environment
from typer.testing import CliRunner

from recollect.cli import app


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder and a home of the test's own; nobody's RECOLLECT_ settings. Returns where the store will be."""
    for name in list(os.environ):
        if name.startswith("RECOLLECT_") or name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECOLLECT_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "data" / "chat.db"


@pytest.fixture
def run() -> Run:
    """A command, in this process."""

    def go(*args: str, stdin: str | bytes | None = None) -> Answer:
        result = CliRunner().invoke(app, list(args), input=stdin, prog_name="recollect")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return go


@pytest.fixture
def process() -> Run:
    """A command, in a process of its own."""

    def go(*args: str, stdin: str | bytes = b"", **extra: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "recollect.cli", *args],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=environment(**extra),
            timeout=120,
        )
        return Answer(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    return go


@pytest.fixture
def trip(run: Run) -> str:
    """A conversation with a question and an answer."""
    assert run("new", "Trip to Łódź 🚂", "--id", "trip-1", "--workspace", "/maps").code == 0
    assert run("append", "trip-1", "Which train?").code == 0
    answer = run("append", "trip-1", "The 9:40.", "--role", "assistant", "--reasoning", "It is the earliest.")
    assert answer.code == 0
    return "trip-1"
