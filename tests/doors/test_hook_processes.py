"""Hooks as an agent starts them, and as a person installs them: quick to end, never in the way, nobody's file harmed."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from console import Run, flat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import hooks
from recollect.cli.hooks import EVENTS, Settings
from recollect.ui import preferences
from talk import eventually
from transcripts import SESSION, Transcript


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in git, in which commands and hooks run."""
    folder = tmp_path / "garden"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return folder


def start(command: str, payload: dict[str, Any] | str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """One hook, as the agent starts it: by a shell, in the project's folder."""
    given = payload if isinstance(payload, str) else json.dumps(payload)
    return subprocess.run(
        ["sh", "-c", command], input=given.encode(), capture_output=True, timeout=120, env={**os.environ, **env}
    )


def event(name: str, **payload: Any) -> dict[str, Any]:
    return {"session_id": SESSION, "cwd": os.getcwd(), "hook_event_name": name, **payload}


# -- installing ------------------------------------------------------------------------------------------------------


def test_alone_it_lists_what_it_can_do(run: Run) -> None:
    answer = run("hooks")
    assert answer.code == 0
    for action in ("install claude-code", "uninstall claude-code", "status", "pause", "resume"):
        assert f"recollect hooks {action} " in flat(answer.out), answer.out
    assert set(run("hooks", "--json").json["actions"]) == {"install", "uninstall", "status", "pause", "resume"}


def test_install_says_what_it_does_and_asks(run: Run, project: Path, own_store: Path) -> None:
    assert "the agent that is known is claude-code" in flat(run("hooks", "install", "another").err)
    refused = run("hooks", "install", "claude-code")
    assert refused.code == 2 and not (project / ".claude").exists()
    for word in ("your prompts", "90 days", str(own_store), "nothing leaves this machine"):
        assert word in " ".join(refused.out.split())
    done = run("hooks", "install", "claude-code", "--yes")
    assert done.code == 0
    file = project / ".claude" / "settings.local.json"
    table = json.loads(file.read_text())["hooks"]
    assert set(table) == set(EVENTS)
    assert {h["command"] for groups in table.values() for g in groups for h in g["hooks"]} == {
        hooks.command_line("claude-code", ["--data-dir", str(own_store.parent)])
    }
    assert table["PreToolUse"][0]["matcher"] == "*" and "matcher" not in table["Stop"][0]
    assert not list(file.parent.glob("*before-recollect*"))  # there was nothing to copy
    status = run("hooks", "status", "--json").json
    assert [len(p["events"]) for p in status["places"]] == [0, len(EVENTS)] and status["failures"] == 0


def test_how_long_events_are_kept_is_told_as_it_is(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retention goes event by event, whatever happens in the session later; a project may have days of its own."""
    for said in (run("hooks", "install", "claude-code").out, run("hooks", "status").out):
        assert "90 days, each event by its own age" in flat(said) and "activity" not in said
    monkeypatch.setenv("RECOLLECT_RETENTION_WORKSPACES", json.dumps({str(project): "7"}))
    assert "7 days, each event by its own age" in flat(run("hooks", "status").out)
    assert "(setting `retention_workspaces`)" in flat(run("hooks", "install", "claude-code").out)
    assert "90 days, each event by its own age" in flat(run("hooks", "install", "claude-code", "--user").out), (
        "all projects"
    )
    assert run("hooks", "status", "--json").json["retention_days"] == 7


@pytest.mark.parametrize(
    ("setting", "part"),
    [("context", "injection"), ("memory_extract", "extraction"), ("enabled", "recording")],
)  # fmt: skip
@pytest.mark.parametrize("place", ["file", "variable"])
def test_status_knows_the_switches_of_the_settings(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, setting: str, part: str, place: str
) -> None:
    """What is switched off in the application, or by a variable, was told to be on."""
    assert run("hooks", "status", "--json").json["parts"] == dict.fromkeys(hooks.PARTS, "on")
    if place == "variable":
        monkeypatch.setenv(f"RECOLLECT_{setting.upper()}", "off")
    else:
        preferences.save({setting: False})
    assert flat(f"{part} off (setting `{setting}`)") in flat(run("hooks", "status").out)
    run("hooks", "pause", part)
    assert run("hooks", "status", "--json").json["parts"][part] == "paused"


def test_install_says_when_git_would_take_the_file_in(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "none"))  # where else a machine may ignore it for all projects
    out = run("hooks", "install", "claude-code", "--yes").out
    assert "git does not ignore" not in out, "there is no repository"
    run("hooks", "uninstall", "claude-code")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    said = flat(run("hooks", "install", "claude-code", "--yes").out)
    assert "keep it out of commits with a line .claude/settings.local.json in .git/info/exclude" in said
    run("hooks", "uninstall", "claude-code")
    (project / ".gitignore").write_text("settings.local.json\n")
    assert "git does not ignore" not in run("hooks", "install", "claude-code", "--yes").out


def test_uninstall_takes_away_the_file_that_install_made(run: Run, project: Path) -> None:
    """It stayed behind as `{}`, for git to find."""
    assert run("hooks", "install", "claude-code", "--yes").code == 0
    assert run("hooks", "uninstall", "claude-code").code == 0
    assert not (project / ".claude").exists()
    (project / ".claude").mkdir()
    (project / ".claude" / "mine.md").write_text("mine")
    run("hooks", "install", "claude-code", "--yes")
    run("hooks", "uninstall", "claude-code")
    assert [p.name for p in (project / ".claude").iterdir()] == ["mine.md"]


@pytest.mark.parametrize(
    "before",
    ["{}", "{}\n", "", '{"hooks": {}}\n', '{"hooks":{"Stop":[]},"a":[1,2]}', '{"b": true,\n    "a": {"x": [1, 2]}}\n'],
)
def test_uninstall_leaves_the_file_that_was_there_before(run: Run, project: Path, tmp_path: Path, before: str) -> None:
    """`{}` was taken away, and what was written in another shape stayed in ours."""
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(before)
    assert run("hooks", "install", "claude-code", "--user", "--yes").code == 0
    assert run("hooks", "-d", str(tmp_path / "other.db"), "install", "claude-code", "--user", "--yes").code == 0, "anew"
    assert run("hooks", "uninstall", "claude-code", "--user").code == 0
    assert file.read_text() == before
    assert run("hooks", "install", "claude-code", "--user", "--yes").code == 0
    file.write_text(json.dumps(json.loads(file.read_text()) | {"a": 1}))
    assert run("hooks", "uninstall", "claude-code", "--user").code == 0
    assert json.loads(file.read_text())["a"] == 1, "what was written since stays"


def test_install_keeps_the_line_ends_and_every_character(run: Run, project: Path, tmp_path: Path) -> None:
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    for before in (b'{\r\n  "a": 1\r\n}\r\n', b'{\r\n  "a": 1\r\n}', b'{\n  "half": "\\ud800"\n}\n'):
        file.write_bytes(before)
        assert run("hooks", "install", "claude-code", "--user", "--yes").code == 0
        changed = file.read_bytes()
        assert changed.count(b"\n") == changed.count(b"\r\n") or b"\r" not in before
        assert run("hooks", "uninstall", "claude-code", "--user").code == 0
        assert file.read_bytes() == before


@pytest.mark.parametrize("group", [{"hooks": None}, {"hooks": 5}, {"hooks": "x"}, None, []])
def test_a_group_without_hooks_has_none_of_ours(run: Run, project: Path, tmp_path: Path, group: object) -> None:
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    before = json.dumps({"hooks": {"Stop": [group]}})
    file.write_text(before)
    assert run("hooks", "status").code == 0
    assert run("hooks", "install", "claude-code", "--user", "--yes").code == 0
    assert json.loads(file.read_text())["hooks"]["Stop"][0] == group
    assert run("hooks", "uninstall", "claude-code", "--user").code == 0
    assert json.loads(file.read_text()) == json.loads(before)


def test_a_file_that_could_not_be_kept_as_it_is_is_refused(run: Run, project: Path, tmp_path: Path) -> None:
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    for before in ('{"a": 1e999}', '{"a": NaN}'):
        file.write_text(before)
        assert run("hooks", "install", "claude-code", "--user", "--yes").code == 6
        assert file.read_text() == before
    file.write_text('{"a": 1}')
    file.chmod(0o400)
    refused = run("hooks", "install", "claude-code", "--user", "--yes")
    assert refused.code == 6 and "read-only" in refused.err and file.read_text() == '{"a": 1}'
    assert [p.name for p in file.parent.iterdir()] == ["settings.json"]


def test_install_keeps_what_is_there(run: Run, project: Path, tmp_path: Path) -> None:
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    mine = {
        "model": "opus", "permissions": {"allow": ["Bash(ls:*)"]},
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
            "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "ruff format é"}]}],
            "Other": [],
        },
        "z": None,
    }  # fmt: skip
    text = json.dumps(mine, indent=4, ensure_ascii=False) + "\n"
    file.write_text(text, "utf-8")
    file.chmod(0o640)
    assert run("hooks", "install", "claude-code", "--user", "--dry-run").code == 0
    assert file.read_text("utf-8") == text
    assert run("hooks", "install", "claude-code", "--user", "-y").code == 0
    now = json.loads(file.read_text("utf-8"))
    assert now["hooks"]["Stop"][0] == mine["hooks"]["Stop"][0] and len(now["hooks"]["Stop"]) == 2  # type: ignore[index]
    assert list(now)[:2] == ["model", "permissions"] and file.stat().st_mode & 0o777 == 0o640
    (copy,) = file.parent.glob("settings.json.before-recollect-*")
    assert copy.read_text("utf-8") == text
    before = file.read_bytes()
    assert "already" in run("hooks", "install", "claude-code", "--user", "-y").out
    assert file.read_bytes() == before and len(list(file.parent.iterdir())) == 2
    assert run("hooks", "uninstall", "claude-code", "--user").code == 0
    assert file.read_text("utf-8") == text and not copy.exists(), "it is as it was, and there is nothing to go back to"
    assert "none of ours" in run("hooks", "uninstall", "claude-code", "--user").out


def test_a_dry_run_says_what_would_change_in_a_few_lines(run: Run, project: Path) -> None:
    file = project / ".claude" / "settings.local.json"
    said = run("hooks", "install", "claude-code", "--dry-run").out.splitlines()
    assert said[0].startswith(f"{file} would be made") and not file.exists()
    assert said[1].startswith("+ ") and "recollect.hooks" in said[1]
    assert "SessionStart" in said[2] and "SessionEnd" in said[2] and len(said) == 3
    assert '"SessionStart": [' in run("hooks", "install", "claude-code", "--dry-run", "--verbose").out
    run("hooks", "install", "claude-code", "-y")
    assert "would stay as it is" in run("hooks", "install", "claude-code", "--dry-run").out
    assert run("hooks", "uninstall", "claude-code", "--dry-run").out.splitlines()[1] == said[1].replace("+", "-", 1)
    file.write_text(file.read_text().replace("gc.disable(); ", ""))
    assert [line[:1] for line in run("hooks", "install", "claude-code", "--dry-run").out.splitlines()[1:]] == [*"- + "]


def test_a_link_stays_a_link(run: Run, project: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = tmp_path / "claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert run("hooks", "install", "claude-code", "--user", "-y").code == 0
    assert link.is_symlink() and "recollect.hooks" in real.read_text()


@pytest.mark.parametrize(
    "text", ["{", '{"hooks": []}', "[]", '{"hooks": {"Stop": {}}}', '{"a": 1, "a": 2}', "// note\n{}", "\xff", "{}}"]
)
def test_what_is_not_understood_is_not_touched(run: Run, project: Path, tmp_path: Path, text: str) -> None:
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(text.encode("latin-1"))
    for action in ("install", "uninstall"):
        answer = run("hooks", action, "claude-code", "--user", *(["-y"] if action == "install" else []))
        assert answer.code == 6 and str(file) in answer.err.replace("\n", "")
    assert file.read_bytes() == text.encode("latin-1") and list(file.parent.iterdir()) == [file]
    assert run("hooks", "status").code == 0


def test_a_file_that_changes_meanwhile_is_left(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    read = Settings.read(file)
    read.install("python -c 'from recollect.hooks import main; main()'")
    file.write_text('{"theirs": 1}')
    with pytest.raises(recollect.errors.RecollectError, match="meanwhile"):
        read.write()
    assert file.read_text() == '{"theirs": 1}'


def test_a_moved_python_is_put_right(run: Run, project: Path) -> None:
    file = project / ".claude" / "settings.local.json"
    assert run("hooks", "install", "claude-code", "-y").code == 0
    file.write_text(file.read_text().replace(sys.executable, "/gone/bin/python"))
    assert "another command" in " ".join(run("hooks", "status").out.split())
    assert run("hooks", "install", "claude-code", "-y").code == 0
    assert "/gone" not in file.read_text() and file.read_text().count("recollect.hooks") == len(EVENTS)


def test_a_hook_of_theirs_in_a_folder_of_our_name_is_theirs(run: Run, project: Path) -> None:
    file = project / ".claude" / "settings.local.json"
    file.parent.mkdir(exist_ok=True)
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/home/kim/recollect.hooks/notify.sh"}]}]}}
    file.write_text(json.dumps(theirs))
    assert run("hooks", "install", "claude-code", "-y").code == 0
    assert run("hooks", "uninstall", "claude-code").code == 0
    assert json.loads(file.read_text()) == theirs


def test_a_password_does_not_go_into_settings(run: Run, project: Path) -> None:
    answer = run("hooks", "install", "claude-code", "-y", "-d", "postgresql://app:hunter2@db.example/agent")
    assert answer.code == 2 and "hunter2" not in answer.err + answer.out and not (project / ".claude").exists()


def test_wrong_words_are_refused(run: Run, project: Path) -> None:
    assert run("hooks", "instal", "claude-code").code == 2
    assert run("hooks", "install").code == 2
    assert run("hooks", "install", "emacs").code == 2
    assert run("hooks", "install", "claude-code", "--user", "--project").code == 2
    assert run("hooks", "pause", "everything").code == 2


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda i: st.lists(i, max_size=2) | st.dictionaries(st.text(max_size=4), i, max_size=2),
    max_leaves=5,
)
group = (
    st.fixed_dictionaries(
        {
            "hooks": st.lists(
                st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=9)}) | values, max_size=3
            )
        },
        optional={"matcher": st.text(max_size=4)},
    )
    | values
)
table = st.dictionaries(st.sampled_from([*EVENTS[:4], "Other"]), st.lists(group, max_size=3), max_size=4)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.fixed_dictionaries({}, optional={"hooks": table, "a": values, "b": values}))
def test_install_and_uninstall_leave_any_settings_as_they_were(tmp_path: Path, content: dict[str, Any]) -> None:
    file = tmp_path / "any.json"
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    one = Settings.read(file)
    assert one.install("x -c 'from recollect.hooks import main'")
    assert not one.install("x -c 'from recollect.hooks import main'")
    assert one.uninstall() and not one.uninstall()
    wanted = dict(content)
    if "hooks" in wanted:
        wanted["hooks"] = {event: groups for event, groups in content["hooks"].items() if groups or event not in EVENTS}
        if not wanted["hooks"]:
            del wanted["hooks"]
    assert one.content == wanted


# -- running ---------------------------------------------------------------------------------------------------------


def installed(run: Run, project: Path) -> str:
    assert run("hooks", "install", "claude-code", "-y").code == 0
    table = json.loads((project / ".claude" / "settings.local.json").read_text())["hooks"]
    command: str = table["UserPromptSubmit"][0]["hooks"][0]["command"]
    return command


def test_a_session_from_install_to_memory(run: Run, project: Path, own_store: Path, tmp_path: Path) -> None:
    command = installed(run, project)
    t = Transcript(cwd=str(project))
    t.prompt("Remember that I prefer oak over pine.")
    t.says("Oak it is.")
    file = t.write(tmp_path)
    silent = start(
        command, event("UserPromptSubmit", prompt="Remember that I prefer oak over pine.", transcript_path=str(file))
    )
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, b"", b"")
    start(command, event("Stop", transcript_path=str(file), last_assistant_message="Oak it is."))
    with recollect.open(own_store) as store:
        assert [m.content for m in eventually(store.memories, 120)] == ["Prefers oak over pine"]
        assert [m.text for m in store.messages(SESSION)] == ["Remember that I prefer oak over pine.", "Oak it is."]
    told = start(command, {**event("UserPromptSubmit", prompt="Which wood do I prefer?"), "session_id": "another"})
    answer = json.loads(told.stdout)
    assert "Prefers oak over pine" in answer["hookSpecificOutput"]["additionalContext"]
    assert run("hooks", "status", "--json").json["failures"] == 0


def test_what_is_no_json_is_told_in_a_sentence(run: Run, project: Path, own_store: Path) -> None:
    """Of a text that ends after its first brace, hooks.log had a SystemError of Python's scanner."""
    start(installed(run, project), "{")
    told = (own_store.parent / "hooks.log").read_text()
    assert "hooks: standard input is not valid JSON: " in told and "SystemError" not in told


def test_whatever_happens_the_agent_goes_on(run: Run, project: Path, own_store: Path, tmp_path: Path) -> None:
    command = installed(run, project)
    log = own_store.parent / "hooks.log"
    hello = event("UserPromptSubmit", prompt="Hello.")

    def is_harmless(payload: dict[str, Any] | str, told: int, **env: str) -> None:
        done = start(command, payload, **env)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert (len(log.read_text().splitlines()) if log.exists() else 0) == told

    is_harmless("not json", 1)
    is_harmless("", 2)
    is_harmless("[1]", 3)
    is_harmless({"hook_event_name": "UserPromptSubmit", "prompt": "no session"}, 4)
    is_harmless({**hello, "hook_event_name": "FromTheFuture"}, 4)
    is_harmless({**hello, "hook_event_name": "__init__"}, 4)
    own_store.parent.mkdir(exist_ok=True)
    own_store.write_bytes(b"this is no database, whatever its name says" * 100)
    is_harmless(hello, 5)
    own_store.unlink()
    config = tmp_path / "config.toml"
    config.write_text("nonsense = ")  # a name that is none would stop nothing
    is_harmless(hello, 6)
    config.unlink()
    own_store.mkdir()
    is_harmless(hello, 7)
    own_store.rmdir()
    is_harmless(hello, 7)
    with recollect.open(own_store) as store:
        assert [m.text for m in store.messages(SESSION)] == ["Hello."]
    lines = log.read_text().splitlines()
    assert len(lines) == 7 and log.stat().st_mode & 0o777 == 0o600
    assert f"{len(lines)}, the last" in run("hooks", "status").out
    gone = command.replace(sys.executable, "/gone/bin/python")
    assert start(gone, hello).returncode == 0 and start(gone, hello).stderr == b""


def test_a_busy_store_is_not_waited_for_long(run: Run, project: Path, own_store: Path) -> None:
    import apsw

    command = installed(run, project)
    assert start(command, event("UserPromptSubmit", prompt="First.")).returncode == 0
    holder = apsw.Connection(str(own_store))
    try:
        holder.execute("begin immediate")
        began = time.monotonic()
        patient = {"RECOLLECT_BUSY_TIMEOUT_MS": "600000"}  # whatever others wait
        done = start(command, event("UserPromptSubmit", prompt="Second."), **patient)
        assert (done.returncode, done.stderr) == (0, b"") and time.monotonic() - began < 100
    finally:
        holder.close()
    assert len((own_store.parent / "hooks.log").read_text().splitlines()) == 1
    start(command, event("UserPromptSubmit", prompt="Third."))
    with recollect.open(own_store) as store:
        assert [m.text for m in store.messages(SESSION)] == ["First.", "Third."]


def test_modules_of_the_project_are_not_run(run: Run, project: Path, own_store: Path) -> None:
    command = installed(run, project)
    for name in ("json", "recollect", "apsw", "sitecustomize"):
        (project / f"{name}.py").write_text(f"open({str(project / 'ran')!r}, 'w')\nraise SystemExit(3)")
    done = start(command, event("UserPromptSubmit", prompt="Hello."), PYTHONPATH=str(project))
    assert done.returncode == 0 and not (project / "ran").exists()
    with recollect.open(own_store) as store:
        assert [m.text for m in store.messages(SESSION)] == ["Hello."]


def test_pausing_is_seen_by_the_next_hook(run: Run, project: Path, own_store: Path) -> None:
    command = installed(run, project)
    assert run("hooks", "pause", "recording", "--json").json == {"paused": ["recording"]}
    start(command, event("UserPromptSubmit", prompt="Unheard."))
    assert "Nothing is paused" in run("hooks", "resume").out
    start(command, event("UserPromptSubmit", prompt="Heard."))
    with recollect.open(own_store) as store:
        assert [m.text for m in store.messages(SESSION)] == ["Heard."]
    assert "recording, injection, extraction" in run("hooks", "pause").out


def test_pausing_means_the_store_that_the_hooks_were_installed_for(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said "Paused" of the folder that the settings name, and recording went on in the one that the hooks name."""
    monkeypatch.delenv("RECOLLECT_DATA_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    folder = tmp_path / "my data"
    assert run("--data-dir", str(folder), "hooks", "install", "claude-code", "--yes").code == 0
    table = json.loads((project / ".claude" / "settings.local.json").read_text())["hooks"]
    command = table["Stop"][0]["hooks"][0]["command"]
    start(command, event("UserPromptSubmit", prompt="Heard."))
    assert run("hooks", "pause", "recording", "--json").json == {"paused": ["recording"]}
    start(command, event("UserPromptSubmit", prompt="Unheard."))
    status = run("hooks", "status", "--json").json
    assert status["store"] == str(folder / "chat.db") and status["paused"] == ["recording"]
    assert status["places"][1]["state"] == f"{len(EVENTS)} of {len(EVENTS)} events"
    assert run("hooks", "resume", "--json").json == {"paused": []}
    start(command, event("UserPromptSubmit", prompt="Heard again."))
    with recollect.open(folder / "chat.db") as store:
        assert [m.text for m in store.messages(SESSION)] == ["Heard.", "Heard again."]


def test_a_prompt_loads_little(run: Run, project: Path, own_store: Path) -> None:
    """Start-up time as a list of modules: a clock would depend on the machine."""
    start(installed(run, project), event("UserPromptSubmit", prompt="I prefer oak."))  # the first makes the file
    data = json.dumps(event("UserPromptSubmit", prompt="Which wood do I prefer?"))
    code = f"import sys\nfrom recollect import hooks\nhooks.run(['claude-code'], {data!r}.encode)\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout
    loaded = set(out.split())
    heavy = "dataclasses inspect typing pathlib subprocess hashlib re2 numpy typer rich tomllib socket logging asyncio recollect.transfer"
    assert loaded & set(heavy.split()) == set()
    assert "recollect.hooks" in loaded


def test_a_long_quiet_answer_of_a_tool_loads_no_search(run: Run, project: Path, own_store: Path) -> None:
    """It is cut, and what is cut is searched for secrets first: by a look that needs nothing loaded."""
    start(installed(run, project), event("UserPromptSubmit", prompt="I prefer oak."))  # the first makes the file
    said = "the boat was painted in the yard\n" * 400
    data = json.dumps(event("PostToolUse", tool_name="Read", tool_input={}, tool_response=said, tool_use_id="toolu"))
    code = f"import sys\nfrom recollect import hooks\nhooks.run(['claude-code'], {data!r}.encode)\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout
    assert set(out.split()) & {"re2", "recollect.redact.search"} == set() and "recollect.hooks" in out


def test_what_hooks_leave_in_the_data_folder_is_the_users_alone(run: Run, project: Path, own_store: Path) -> None:
    command = installed(run, project)
    before = os.umask(0o022)
    try:
        start(command, event("UserPromptSubmit", prompt="Which colour has the shed?"))
        start(command, event("PostToolUse", tool_name="X", tool_input={}, tool_response="done", tool_use_id="toolu"))
        start(command, event("Stop", last_assistant_message="Green."))  # extracts, in a process of its own
        folder = own_store.parent / "hooks"
        assert eventually(lambda: (folder / "extract.lock").exists())
    finally:
        os.umask(before)
    modes: dict[str, str] = {}
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # the process that extracts is still at it
            if stat.S_ISREG(mode := file.stat().st_mode):
                modes[file.name] = oct(mode & 0o777)
    assert set(modes) >= {"patterns", "searched", "extract.lock"}
    assert set(modes.values()) == {"0o600"}, modes


@pytest.mark.parametrize("state", ["kept", "damaged", "of another Python"])
def test_a_second_prompt_compiles_no_pattern(run: Run, project: Path, own_store: Path, state: str) -> None:
    """Patterns take a quarter of a prompt's time to compile, so a hook keeps them; a file that is no good is made anew."""
    command = installed(run, project)
    asked = event("UserPromptSubmit", prompt="When did I say - on 3 May? - that I prefer the oak to be dark?")
    start(
        command, event("UserPromptSubmit", session_id="other", prompt="I prefer the oak. I said so yesterday, to Kim.")
    )
    start(command, asked)
    told = start(command, asked).stdout.decode()  # what was asked is now among what is read
    assert "I prefer the oak" in told
    kept = own_store.parent / "hooks" / "patterns"
    sound = kept.read_bytes()
    if state == "damaged":
        head, _, codes = sound.partition(b"\n")
        kept.write_bytes(head + b"\n" + bytes(len(codes)))
        assert start(command, asked).stdout.decode() == told
        kept.write_bytes(b"[1]\n")
        assert start(command, asked).stdout.decode() == told
    elif state == "of another Python":
        kept.write_bytes(sound.replace(sys.version.split()[0].encode(), b"2.7.18", 1))
        assert start(command, asked).stdout.decode() == told
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\nfrom recollect import hooks\n"
        f"said = hooks.run(['claude-code'], {json.dumps(asked)!r}.encode)\nprint('re' in sys.modules)\nprint(said)"
    )
    out = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    assert out == f"False\n{told}\n"
    assert not (own_store.parent / "hooks.log").exists()


# -- importing and watching ------------------------------------------------------------------------------------------


def test_import_and_watch(run: Run, project: Path, tmp_path: Path, own_store: Path) -> None:
    t = Transcript(cwd=str(project))
    t.prompt("Plant the oak.")
    t.says("Planted.")
    t.write(tmp_path / "claude" / "projects")
    done = run("import", "claude-code")
    assert done.code == 0 and "1 conversation" in done.out and "2 events" in done.out
    assert "Nothing new" in run("import", "claude-code").out
    assert run("import", str(tmp_path / "claude" / "projects"), "--json").json["format"] == "claude-code"
    t.prompt("Water it.")
    t.write(tmp_path / "claude" / "projects")
    assert run("watch", "claude-code", "--once", "--json").json["added"]["events"] == 1
    assert run("import", "claude-code", str(tmp_path / "nowhere")).code == 3


def test_watch_goes_on_until_it_is_stopped(process: Run, project: Path, tmp_path: Path, own_store: Path) -> None:
    import signal

    from console import environment

    projects = tmp_path / "claude" / "projects"
    watching = subprocess.Popen(
        [sys.executable, "-m", "recollect.cli", "watch", "claude-code", "--every", "0.2", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
    )  # fmt: skip
    try:
        t = Transcript(cwd=str(project))
        for text in ("One.", "Two."):
            t.prompt(text)
            t.write(projects)
            assert watching.stdout is not None
            assert json.loads(watching.stdout.readline())["added"]["events"] == 1
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 130
    finally:
        watching.kill()
        watching.communicate()
    with recollect.open(own_store) as store:
        assert [m.text for m in store.messages(SESSION)] == ["One.", "Two."]
