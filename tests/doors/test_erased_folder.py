"""Every door is used, everything is erased, and then the whole data folder is read."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from console import Run, environment
from mcp import Client as ModelClient
from mcp.client.stdio import StdioServerParameters
from sidecar import process

from recollect import hooks
from recollect.client import Client
from transcripts import Transcript

CANARY = "xqcanary"
SESSION = "5d2b0a11-0000-4000-8000-000000000001"


def holding(folder: Path) -> set[str]:
    """The files of a folder that tell of it, by their content or their name."""
    found = set()
    for path in folder.rglob("*"):
        told = str(path.relative_to(folder)).lower().encode() + (path.read_bytes().lower() if path.is_file() else b"")
        if CANARY.encode() in told:
            found.add(str(path.relative_to(folder)))
    return found


def use_all_hooks(project: Path) -> None:
    def hook(event: str, **more: object) -> None:
        given = {"session_id": SESSION, "cwd": str(project), "hook_event_name": event, "prompt_id": "p", **more}
        done = subprocess.run(
            hooks.command(["claude-code"]), input=json.dumps(given).encode(), env=environment(), capture_output=True
        )
        assert done.returncode == 0

    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt=f"Remember that I prefer {CANARY}01 soap.")
    hook("PreToolUse", tool_name="Bash", tool_input={"command": f"echo {CANARY}02"}, tool_use_id="t1")
    hook(
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "x"},
        tool_use_id="t1",
        tool_response={"stdout": f"{CANARY}03"},
    )
    hook("PostToolUseFailure", tool_name="Bash", tool_input={}, tool_use_id="t2", error=f"{CANARY}04")
    hook("Notification", message=f"{CANARY}05")
    hook("StopFailure", error=f"{CANARY}06")
    hook("Stop", last_assistant_message=f"{CANARY}07")
    hook("SessionEnd", reason=f"{CANARY}08")
    wrong = subprocess.run(hooks.command([f"{CANARY}09"]), input=b"{}", env=environment(), capture_output=True)
    assert wrong.returncode == 0


def test_nothing_in_the_data_folder_tells_of_what_was_erased(
    run: Run, own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_SEMANTIC", "false")
    monkeypatch.setenv("RECOLLECT_TELEMETRY_PLAIN_IDS", "true")
    folder = own_store.parent
    project = tmp_path / f"{CANARY}00-garden"
    project.mkdir()
    use_all_hooks(project)
    with process("--port", "0") as sidecar, Client(workspace=str(project)) as client:
        client.record(
            "prompt", f"{CANARY}10", f"I live in {CANARY}11.", tags=[f"{CANARY}12"], metadata={"a": f"{CANARY}13"}
        )
        client.record("tool_use", f"{CANARY}10", "x", tool="Write", path=f"{CANARY}14.py")
        client.remember(f"Likes {CANARY}15")
        client.summarize(f"{CANARY}10")
        assert client.search(f"{CANARY}11")["hits"]
        b"".join(client.export())
        sidecar.end()
    transcript = Transcript(cwd=str(project))
    transcript.prompt(f"Paint the {CANARY}16 blue.")
    transcript.says(f"{CANARY}17 is blue.")
    transcript.note("ai-title", aiTitle=f"Painting {CANARY}18")
    projects = tmp_path / "claude" / "projects"
    transcript.write(projects)
    assert run("import", "claude-code", str(projects)).code == 0

    async def by_a_model() -> None:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "recollect.cli", "mcp"], env=dict(os.environ)
        )
        async with ModelClient(command) as model:
            await model.call_tool("remember", {"content": f"{CANARY}19"})
            await model.call_tool("memory_search", {"query": f"{CANARY}16"})

    asyncio.run(by_a_model())
    assert run("new", f"About {CANARY}20", "--id", f"{CANARY}21").code == 0
    assert run("append", f"{CANARY}21", f"My cat is called {CANARY}22.").code == 0
    assert run("consolidate", f"{CANARY}21").code == 0
    assert run("remember", f"Owns a {CANARY}23").code == 0
    backup = folder / "backups" / "mine.db"
    assert run("backup", str(backup)).code == 0
    export = folder / "export.jsonl"
    assert run("export", str(export)).code == 0
    before = holding(folder)
    assert {"chat.db", "hooks/searched", "hooks.log"} <= before, "all of it was used"
    assert any(name.startswith("telemetry") for name in before)

    assert list(folder.glob("imports/**/*.json")), "how far the transcript was read"

    erased = run("erase", "--everything", "-y", "--json").json
    assert not list(folder.glob("imports/**/*.json")), "it names the session"
    assert "mine.db" in str(erased["backups"])
    copies = {str(copy.relative_to(folder)) for copy in (backup, export)}
    assert holding(folder) == copies, "a copy that a person made is that person's to delete"


def test_a_workspaces_path_goes_with_it(run: Run, own_store: Path, tmp_path: Path) -> None:
    project = tmp_path / f"{CANARY}-only"
    project.mkdir()
    given = {"session_id": "s", "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    hooks.run(["claude-code"], lambda: json.dumps(given).encode())
    assert "hooks/searched" in holding(own_store.parent)
    assert run("erase", "--workspace", str(project), "-y").code == 0
    assert holding(own_store.parent) == set()
    hooks.run(["claude-code"], lambda: json.dumps({**given, "session_id": "t"}).encode())
    assert "hooks/searched" in holding(own_store.parent), "it is made again when it is needed"
