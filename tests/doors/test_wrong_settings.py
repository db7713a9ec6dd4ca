"""A setting that is wrong stops no recording and is no secret: hooks use the default, `hooks status` and `doctor` say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from console import Run, flat
from test_hook_processes import event, start

import recollect
from recollect import config, hooks
from recollect.errors import SettingsError

SECRET = "ACME-12345"
TOKEN = "ghp_" + "k3JdP0sVx81LmQz7RtYwB2NcHfGu6Ae4ToIi"
WRONG = {
    "a number in the file": ('retention_days = "soon"', {}, "retention_days"),
    "a switch in the file": ("redact = 3", {}, "redact"),
    "out of range": ("retention_days = -4", {}, "retention_days"),
    "two that do not fit": ("pool_min = 20\npool_max = 4", {}, "pool_min"),
    "a name in the file": ("retention_dais = 3", {}, "Did you mean 'retention_days'?"),
    "a table": ('retention_workspaces = {"/work" = "soon"}', {}, "retention_workspaces"),
    "a family": ('redact_off = ["card-numbers"]', {}, "redact_off"),
    "a number in a variable": ("", {"RECOLLECT_RETENTION_DAYS": "soon"}, "RECOLLECT_RETENTION_DAYS"),
    "a switch in a variable": ("", {"RECOLLECT_REDACT": "maybe"}, "RECOLLECT_REDACT"),
    "a pattern among others": (
        f"redact_patterns = {{bad = \"(\", good = '{SECRET[:5]}[0-9]+'}}",
        {},
        "redact_patterns",
    ),
    "a misspelt variable": ("", {"RECOLLECT_RETENTON_DAYS": "3"}, "Did you mean 'RECOLLECT_RETENTION_DAYS'?"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_hook_records_and_status_and_doctor_say_what_is_wrong(
    what: str, run: Run, own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, variables, said = WRONG[what]
    Path(os.environ["RECOLLECT_CONFIG"]).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    command = hooks.command_line("claude-code", ["--data-dir", str(own_store.parent)])
    start(command, event("UserPromptSubmit", prompt=f"My dog is called Rex, badge {SECRET}, key {TOKEN}"))
    assert not (own_store.parent / "hooks.log").exists()
    status, doctor = run("hooks", "status"), run("doctor")
    assert status.code == 0 and said in flat(status.err), status
    assert said in flat(doctor.err), doctor
    assert any(said in problem for problem in run("hooks", "status", "--json").json["wrong_settings"])
    monkeypatch.setenv("RECOLLECT_CONFIG", str(tmp_path / "none.toml"))
    for name in variables:
        monkeypatch.delenv(name)
    with recollect.open(own_store, user="local") as store:
        (talk,) = store.conversations()
        told = [e.text for e in store.read(talk.id) if e.kind == "message"]
    assert len(told) == 1 and told[0].startswith("My dog is called Rex") and "[redacted:github-token]" in told[0]
    assert (SECRET in told[0]) is ("good" not in text), "the patterns that are sound are searched for"


def test_a_program_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(os.environ["RECOLLECT_CONFIG"]).write_text('retention_days = "soon"', "utf-8")
    with pytest.raises(SettingsError, match="retention_days"):
        config.Settings.load()


def test_a_misspelt_variable_is_told_once_by_any_command(process: Run) -> None:
    answer = process("conversations", RECOLLECT_RETENTON_DAYS="3")
    assert answer.code == 0
    assert flat(answer.err).count("Did you mean 'RECOLLECT_RETENTION_DAYS'?") == 1
    assert process("conversations", RECOLLECT_RETENTION_DAYS="3", RECOLLECT_DEBUG="1").err == ""


@pytest.mark.parametrize("text", ['{"/work" = 30, "/other" = "7"}', '{"/work" = "30", "/other" = 7}'])
def test_days_of_a_workspace_are_numbers_or_texts(text: str) -> None:
    Path(os.environ["RECOLLECT_CONFIG"]).write_text(f"retention_workspaces = {text}", "utf-8")
    assert config.Settings.load().retention_workspaces == {"/work": "30", "/other": "7"}
    with pytest.raises(SettingsError, match="number of days"):
        config.Settings(retention_workspaces={"/work": -1})  # type: ignore[dict-item]
