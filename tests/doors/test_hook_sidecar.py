"""A prompt's hook asks a sidecar that runs, and the file when none does. (tests/doors/, once branch s10 is merged.)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from console import environment

import recollect
from recollect import asking, hooks


@pytest.mark.parametrize("by", ["port", "uds"])
def test_a_sidecar_that_runs_is_asked(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(asking, "SIDECAR_SECONDS", 30.0)
    with recollect.open(own_store) as store:
        store.remember("Prefers oak over pine")
    asked: list[str | None] = []
    real = hooks.Session._by_sidecar
    monkeypatch.setattr(hooks.Session, "_by_sidecar", lambda self, *a: asked.append(real(self, *a)) or asked[-1])
    payload = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit", "prompt": "Oak or pine?"}

    def prompt(event: str = "UserPromptSubmit", *options: str) -> str:
        given = {**payload, "hook_event_name": event, "prompt_id": str(time.time_ns())}
        return hooks.run(["claude-code", *options], lambda: json.dumps(given).encode()) or ""

    prompt("SessionStart")
    assert "Prefers oak" in prompt() and asked == [None]
    where = ["--port", "0"] if by == "port" else ["--uds", str(tmp_path / "s.sock")]
    server = subprocess.Popen(
        [sys.executable, "-m", "recollect.cli", "serve", *where], env=environment(), stdout=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 120
        while not (own_store.parent / "sidecar" / "address").exists() and time.monotonic() < until:
            time.sleep(0.1)
        assert "Prefers oak" in prompt()
        assert asked[-1] is not None and "Prefers oak" in asked[-1]
        prompt("UserPromptSubmit", "--user", "kim")  # another user's sidecar is not asked
        assert asked[-1] is None
        other = tmp_path / "other.db"  # nor one of another store
        with recollect.open(other) as store:
            store.remember("Prefers beech over oak")
        assert "beech" in prompt("UserPromptSubmit", "--database", str(other)) and asked[-1] is None
        os.chmod(own_store.parent / "sidecar" / "address", 0o644)  # nor one whose address others could have written
        assert "Prefers oak" in prompt() and asked[-1] is None
    finally:
        server.terminate()
        server.wait(60)
    assert "Prefers oak" in prompt() and asked[-1] is None


def test_a_sidecar_of_another_store_is_not_asked(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves its address in the same data folder."""
    monkeypatch.setattr(asking, "SIDECAR_SECONDS", 30.0)
    other = tmp_path / "other.db"
    with recollect.open(other) as store:
        store.remember("Prefers beech over pine")
    with recollect.open(own_store) as store:
        store.create("s")
    command = [sys.executable, "-m", "recollect.cli", "--database", str(other), "serve", "--port", "0"]
    server = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not (own_store.parent / "sidecar" / "address").exists() and time.monotonic() < until:
            time.sleep(0.1)
        with recollect.open(other) as store:
            store.create("s", workspace=str(tmp_path))
        given = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit", "prompt": "Beech?"}
        assert hooks.run(["claude-code"], lambda: json.dumps(given).encode()) is None
    finally:
        server.terminate()
        server.wait(60)
