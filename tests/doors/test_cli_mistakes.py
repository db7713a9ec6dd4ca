"""What a person gets wrong at the command line, and what stands in the way: a sentence that says what to do, and an exit code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from console import Run, environment, flat

HUGE = str(10**20)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes them")
@pytest.mark.parametrize(
    ("command", "code", "kept"),
    [
        ("conversations >&-", 0, ""), ("conversations --json >&-", 0, ""), ("--help >&-", 0, ""), ("show nowhere 2>&-", 3, ""),
        ("conversations 2>&-", 0, "trip-1"), ("append trip-1 - <&-", 2, ""), ("append trip-1 Hello <&- >&- 2>&-", 0, ""),
    ],
)  # fmt: skip
def test_a_stream_that_is_closed_is_no_reason_to_fail(run: Run, trip: str, command: str, code: int, kept: str) -> None:
    python = f"'{sys.executable}' -m recollect.cli {command}"
    done = subprocess.run(["sh", "-c", python], capture_output=True, env=environment(), timeout=120, check=False)
    assert (done.returncode, kept.encode() in done.stdout) == (code, True)
    assert b"Error" not in done.stderr, "neither a traceback nor a name of Python's"
    if "Hello" in command:
        assert run("replay", trip, "--json").json[-1]["text"] == "Hello"


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        (("conversations", "-n"), "--limit"), (("memories", "-n"), "--limit"), (("search", "train", "-n"), "--limit"),
        (("receipts", "-n"), "--limit"), (("checkpoints", "@", "-n"), "--limit"), (("show", "@", "-n"), "--limit"),
        (("replay", "@", "--after"), "--after"), (("context", "train", "--budget"), "--budget"), (("fork", "@", "--at"), "--at"),
        (("memories", "-c", "@", "--as-of"), "--as-of"),
    ],
)  # fmt: skip
def test_a_number_too_large_is_told_what_the_largest_is(
    run: Run, trip: str, asked: tuple[str, ...], option: str
) -> None:
    answer = run(*asked, HUGE)
    assert answer.code == 2
    assert f"{option} must be a whole number from 0 to {(1 << 63) - 1}, not {HUGE}" in flat(answer.err)


def test_an_event_whose_number_is_too_large_is_not_there(run: Run, trip: str) -> None:
    answer = run("delete-event", trip, HUGE, "-y")
    assert answer.code == 3 and f"has no event {HUGE}" in flat(answer.err)


@pytest.mark.parametrize(
    "asked", [("conversations",), ("memories",), ("receipts",), ("checkpoints", "@"), ("replay", "@")]
)
def test_none_at_all_is_not_asked_for(run: Run, trip: str, asked: tuple[str, ...]) -> None:
    """`conversations -n 0` said that there are none."""
    answer = run(*asked, "-n", "0")
    assert answer.code == 2 and "0 is not in the range x>=1" in flat(answer.err)


def test_nothing_yet_says_what_makes_something(run: Run) -> None:
    for command in ("show", "replay", "branches"):
        answer = run(command, "@")
        assert answer.code == 3
        assert "There is no conversation yet: `recollect new` starts one" in flat(answer.err)


def test_a_folder_in_the_place_of_a_file_is_told_so(run: Run, trip: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for asked in (
        ("restore",), ("export", "--force"), ("import", "langgraph"), ("import", "openai-agents"), ("import", "recollect"),
    ):  # fmt: skip
        answer = run(*asked, str(tmp_path / "folder"))
        assert answer.code == 2 and "is a folder" in flat(answer.err), asked
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".part")] == []
    assert list((tmp_path / "folder").iterdir()) == []


def test_what_may_not_be_read_is_not_of_an_unknown_format(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text("{}")

    def locked(self: Path, *args: object, **kwargs: object) -> None:  # root, who runs the tests, may read everything
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", locked)
    answer = run("import", str(file))
    assert answer.code == 5
    assert "export.jsonl: Permission denied. Check that you own it" in flat(answer.err)


def test_a_state_is_named_as_it_is_here(run: Run) -> None:
    answer = run("memories", "-s", "nonsense")
    assert answer.code == 2
    assert "--state nonsense: choose one of active, replaced, quarantined, forgotten, expired, all." in flat(answer.err)


def test_metadata_that_is_no_json(run: Run, trip: str) -> None:
    assert "The metadata is not JSON" in flat(run("annotate", trip, "{").err)
    assert "The metadata must be a JSON object" in flat(run("annotate", trip, "[1]").err)


def test_what_is_not_in_the_bin_is_not_said_to_be_back(run: Run, trip: str) -> None:
    assert "is not in the bin" in run("restore", trip).out
    run("delete", trip)
    assert "is back" in run("restore", trip).out


def test_an_event_that_goes_for_good_is_of_a_named_conversation(run: Run, trip: str) -> None:
    answer = run("delete-event", "@", "1", "-y")
    assert answer.code == 2 and "Give its id" in flat(answer.err)
    assert run("delete-event", trip, "1", "-y").code == 0


@pytest.mark.parametrize("width", ["40", "60", "80", "100"])
def test_a_narrow_window_cuts_nothing_off(run: Run, trip: str, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    """`memories` had no memory in a window of 60 columns, and half an id."""
    said = "Prefers the train at 9:40 to the one at 10:10, and a seat by the window"
    made = run("remember", said, "-k", "preference", "--json").json["id"]
    monkeypatch.setenv("COLUMNS", width)
    listed = run("memories").out
    assert made[:8] in listed and "preference" in listed and "just now)" in listed
    assert said in flat(listed) or int(width) > 80, "in a wide window its words stand below each other in a column"
    assert all(len(line) <= int(width) for line in listed.splitlines())
    told = run("conversations").out
    assert trip in told and "just now)" in told and "Trip to" in told
    for command in ("backups", "memory " + made[:8], "users", "stats --by kind"):
        assert all(len(line) <= int(width) for line in run(*command.split()).out.splitlines()[1:]), command


@pytest.mark.parametrize("command", [(), ("search",), ("append",), ("erase",)])
def test_help_in_a_narrow_window_names_every_option_whole(process: Run, command: tuple[str, ...]) -> None:
    narrow, wide = (process(*command, "--help", COLUMNS=width).out for width in ("40", "200"))
    options = set(re.findall(r"(?m)^│ (--[a-z][a-z-]+)", wide))
    assert len(options) > 4
    assert not options - set(re.findall(r"--[a-z][a-z-]+", narrow)) and "…" not in narrow
    assert all(len(line) <= 50 for line in narrow.splitlines()), "as narrow as its library makes help"


def test_a_setting_is_not_called_an_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('backup_every = "often"\n')
    answer = run("conversations")
    assert answer.code == 2 and "recollect: backup_every must be a whole number, not 'often'" in flat(answer.err)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
def test_what_is_no_file_is_not_put_away_for_one(run: Run, trip: str, tmp_path: Path) -> None:
    """`export /dev/null --force`, by root, left a file in the place of the device. A pipe with a name stands for it here."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for asked in (("export", "--force"), ("export", "--force", "--encrypt"), ("doctor",)):
        answer = run(*asked, str(pipe))
        assert answer.code == 2 and "is no file, but a device or a pipe" in flat(answer.err), asked
    assert pipe.is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
def test_settings_that_are_no_file_are_left_alone(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some have their settings lead to /dev/null; others have a folder there."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    file = tmp_path / "claude" / "settings.json"
    file.parent.mkdir()
    file.mkdir()
    assert "Errno" not in run("hooks", "status").out and "Is a directory" in flat(run("hooks", "status").out)
    file.rmdir()
    os.mkfifo(tmp_path / "pipe")
    file.symlink_to(tmp_path / "pipe")
    for action in ("install", "uninstall"):
        answer = run("hooks", action, "claude-code", "--user", "--yes")
        assert answer.code == 6 and "is no file, but a device or a pipe" in flat(answer.err)
    assert (tmp_path / "pipe").is_fifo()
    assert run("hooks", "status").code == 0
