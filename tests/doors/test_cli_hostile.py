"""Stored text can do nothing to the terminal of whoever reads it: every command, with hostile text in every field."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import commands

import recollect
from recollect.cli import app, output

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[12][KA]|[\r\x01\x02]")
"""Colours, what a progress bar does, the marks of a prompt that readline takes. Nothing hostile below looks like it."""
HOSTILE = "\x1b]0;pwned\x07\x1b[2J\x1bc\x08\x0b\x7f\x85\x9b2J\u202eevil\u202c\u2066\u061c\u200e\u200f\u2028end"
BAD = f"heron {HOSTILE} end"
PLACE = "/place\x1b]0;pwned\x07\u202e\x9b2J"


class Screen(io.TextIOWrapper):
    """Standard output of a command, as a terminal or as a pipe."""

    def __init__(self, *, tty: bool, content: str = "") -> None:
        super().__init__(io.BytesIO(content.encode()), encoding="utf-8", newline="")
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")

    @property
    def said(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


def run(*args: str, tty: bool, stdin: str = "") -> tuple[int, str, str]:
    out, err = Screen(tty=tty), Screen(tty=tty)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Screen(tty=tty, content=stdin))
        try:
            app(list(args), prog_name="recollect")
            code: Any = 0
        except SystemExit as e:
            code = e.code or 0
    return int(code), out.said, err.said


def fill(path: Path) -> dict[str, str]:
    """Hostile text in every field that takes any text."""
    with recollect.open(path, user="alex", background=False, redact=False) as store:
        c = store.create("talk", title=BAD, workspace=PLACE, metadata={BAD: [BAD, {"deep": BAD}]}).id
        store.append(
            c, role="user", text=BAD, tags=[BAD], agent=BAD, model=BAD, payload={BAD: BAD}, name=BAD, path=BAD,
            tool=BAD, key="first",
        )  # fmt: skip
        store.append(c, role="assistant", text=BAD, reasoning=recollect.Reasoning(BAD, effort=BAD, model=BAD))
        store.append(c, kind="tool_use", tool=BAD, path=BAD, text=BAD, payload={"in": BAD})
        store.append(c, kind="tool_result", tool=BAD, text=BAD, status=BAD)
        store.append(c, kind="artifact", path=BAD, text=BAD, diff=f"--- a\n+++ b\n+{BAD}\n")
        store.append(c, kind="ledger", task_id="t1", goal=BAD, status=BAD, payload={"plan": [BAD]})
        store.append(c, kind="error", text=BAD)
        store.append(c, kind="approval", text=BAD, status=BAD)
        store.append(c, role="assistant", text="a second answer")
        store.record_workflow_event(c, {"type": f"workflow.{BAD}", "data": {"said": BAD}})
        store.pin(store.read(c)[0])
        store.fork(c, name="other")
        store.append(c, role="user", text=f"{BAD} on the branch", branch="other")
        store.create("gone", title=BAD)
        store.delete("gone")
        ids = {}
        for name in ("first", "revised", "forgotten", "waiting"):
            made = store.remember(
                f"{BAD} {name}", tags=[BAD], role="assistant" if name == "waiting" else "user", workspace=PLACE if name == "first" else None
            )  # fmt: skip
            ids[name] = made.id
        store.revise(ids["revised"], content=f"{BAD} again")
        store.forget(ids["forgotten"])
        store.erase(conversation=store.create("erased", title=BAD).id)
        store.summarize(c)
        store.settle()
    return ids


def calls(m: dict[str, str], tmp: Path) -> dict[str, list[list[str]]]:
    """What is asked of each command; a new one fails the test until it stands here."""
    story = str(tmp / "in.jsonl")
    return {
        "conversations": [[], ["--deleted"], ["-w", PLACE]], "new": [[BAD]], "show": [["talk", "-r"], ["talk", "--limit", "1"]],
        "rename": [["talk", f"{BAD} new"]], "annotate": [["talk", json.dumps({BAD: BAD})]], "delete": [["talk"]],
        "restore": [["gone"]], "clear": [["talk", "-y"], ["talk"]], "chat": [["-c", "talk"]],
        "erase": [["talk", "--dry-run"], ["talk"], ["talk", "-y"], ["--workspace", PLACE, "-y"]], "receipts": [[], ["verify"]],
        "append": [["talk", BAD, "--tag", BAD]], "record": [["talk", json.dumps({"type": BAD})]],
        "replay": [["talk"], ["talk", "--full"]], "event": [["talk", "first"]], "history": [["talk"]], "ledger": [["talk"]], "reasoning": [["talk"]],
        "summarize": [["talk"]], "delete-event": [["talk", "1", "-y"], ["talk", "2"]], "search": [["heron", "--explain"], [BAD], ["nothing" + BAD]],
        "context": [["heron", "--why"]], "remember": [[f"{BAD} more", "-t", BAD]], "recall": [["heron", "--explain"]],
        "memories": [[], ["--state", "all"], ["-w", PLACE]], "memory": [[m["first"]], [m["revised"]]],
        "revise": [[m["first"], f"{BAD} other"]], "pin": [[m["first"]]], "unpin": [[m["first"]]], "pins": [["talk"]],
        "undo": [[m["revised"]], [m["forgotten"]]], "forget": [[m["first"], "-y"], [m["first"]], ["--source", "talk:1", "-y"]],
        "consolidate": [["talk"]], "retain": [["--dry-run"]], "fork": [["talk"]], "branches": [["talk"]],
        "switch": [["talk", "other"]], "checkpoints": [["talk"]],
        "stats": [[], *(["--by", by] for by in ("day", "kind", "tool", "agent", "model", "workspace"))], "migrate": [[]],
        "settings": [[]], "settle": [[]], "reindex": [[]], "users": [[]], "demo": [[str(tmp / "demo.db")]], "hooks": [["status"]],
        "mcp": [["--json", "-w", PLACE]], "changes": [[]], "telemetry": [[]],
        "export": [["-", "-f", "markdown"], ["-", "-f", "jsonl"], [str(tmp / "out.md"), "--force"]], "import": [[story], [story, "--trust"]],
        "watch": [["claude-code", str(tmp), "--once"]], "doctor": [[]], "backup": [[str(tmp / f"{BAD.replace('/', '')}.db")]],
        "backups": [[]], "compact": [[]], "key": [["status"]], "redact": [[str(tmp / "bad.txt"), "--show"]], "scan": [[]],
        "bench": [["locomo", "--data", str(tmp / "locomo.json"), "--misses", str(tmp / "misses")]],
    }  # fmt: skip


# They never end, or change the key, and show places and names of users alone; what they print, `output` prints.
ELSEWHERE = {"serve", "app", "encrypt", "rekey", "decrypt"}
SHOW = {
    "conversations", "show", "event", "rename", "annotate", "delete", "restore", "chat", "erase", "replay", "history", "ledger",
    "reasoning", "search", "recall", "memories", "memory", "revise", "pin", "undo", "forget", "branches", "stats", "changes",
    "export", "redact", "clear", "delete-event", "backup",
}  # fmt: skip
"""Here some of it must have been seen, or the test looks at nothing."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, dict[str, list[list[str]]]]]:
    monkeypatch.setenv("RECOLLECT_USER", "alex")
    monkeypatch.setenv("RECOLLECT_REDACT", "0")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm-256color")
    first = tmp_path / "first"
    first.mkdir()
    ids = fill(first / "chat.db")
    turn = {"id": "D1:1", "session": 1, "at": 0, "speaker": BAD, "text": BAD}
    (tmp_path / "locomo.json").write_text(
        json.dumps(
            [{"id": BAD, "turns": [turn], "questions": [{"question": BAD, "evidence": ["D1:1"], "category": 4}]}]
        )
    )
    (tmp_path / "bad.txt").write_text(BAD, "utf-8")
    with recollect.open(first / "chat.db", user="alex") as store, (tmp_path / "in.jsonl").open("w") as f:
        store.export(f)
    yield first, calls(ids, tmp_path)


def fresh(first: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(first, folder)


@pytest.mark.parametrize("tty", [True, False], ids=["terminal", "pipe"])
def test_no_command_lets_stored_text_act_on_the_terminal(
    asked: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path, tty: bool
) -> None:
    first, table = asked
    assert set(table) == set(commands()) - ELSEWHERE, "a new command stands here with what is asked of it"
    shown = set()
    for name, ways in table.items():
        for args in ways:
            fresh(first, tmp_path / "data")
            talk = (
                "hello\n/branches\n/memories heron\n/search heron\n/why\n/export\n/quit\n" if name == "chat" else "n\n"
            )
            code, out, err = run(name, *args, tty=tty, stdin=talk)
            if not tty and name == "export" and args[0] == "-":
                continue  # a pipe gets the bytes as they are stored
            where = f"{name} {args!r} ended with {code}"
            assert code in (0, 4, 7, 8, 130) or "No one is there to answer" in err, f"{where}: {err}"
            assert (found := UNSAFE.search(OURS.sub("", out))) is None, f"{where}: {found!r} in {out!r}"
            assert (found := UNSAFE.search(OURS.sub("", err))) is None, f"{where}: {found!r} in {err!r}"
            if "␛]0;pwned" in out + err:
                shown.add(name)
    fresh(first, tmp_path / "data")
    missing = SHOW - shown - (set() if tty else {"export", "chat"})
    assert not missing, f"{missing}: what was stored was not shown, so nothing was tested"


def test_json_escapes_what_acts_on_a_terminal_and_comes_back_as_it_was(
    asked: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path
) -> None:
    first, table = asked
    for name, ways in table.items():
        for args in ways:
            fresh(first, tmp_path / "data")
            code, out, err = run(name, *args, *([] if "--json" in args else ["--json"]), tty=True, stdin="n\n")
            where = f"{name} {args!r} ended with {code}"
            assert (found := UNSAFE.search(out)) is None, f"{where}: {found!r}"
            assert (found := UNSAFE.search(OURS.sub("", err))) is None, f"{where}: {found!r}"
            while out.strip() and code in (0, 7, 8) and "markdown" not in args:  # one document, or one after the other
                _, end = json.JSONDecoder().raw_decode(out.lstrip())
                out = out.lstrip()[end:]
    fresh(first, tmp_path / "data")
    text = json.loads(run("replay", "talk", "--json", tty=True)[1])[0]["text"]
    with recollect.open(first / "chat.db", user="alex") as store:
        assert text == store.read("talk")[0].text
    assert text == BAD


@pytest.mark.parametrize(
    "text", [HOSTILE, "\ud800 alone \udc00", "\u2028\u2029\x00\x1f\x7f\x80\x9f", 'plain é 猫 🎉 می‌خواهم \\ " \n\t']
)
def test_any_text_comes_back_out_of_json(text: str) -> None:
    for indent in (None, 2):
        made = output.as_json({text: [text]}, indent=indent)
        assert UNSAFE.search(made) is None
        assert json.loads(made) == {text: [text]}
    assert "猫" not in text or "猫" in output.as_json(text), "what is harmless stays readable"


def test_what_is_harmless_is_shown_as_it_is() -> None:
    text = "plain é 猫 🎉 👩\u200d👩\u200d👧 می\u200cخواهم ❤\ufe0f\n\tשלום"
    assert output.clean(text) == text
    assert output.clean("\ud800") == "\ufffd"


def test_only_one_module_writes_to_the_terminal() -> None:
    """Whatever a command prints goes through `output`, which lets nothing through that acts on a terminal."""
    root = Path(recollect.__file__).parent / "cli"
    wrong = []
    for file in sorted(root.glob("*.py")):
        if file.name == "output.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                asks = called in ("typer.confirm", "typer.prompt")
                if asks and not ast.unparse(node.args[0]).startswith("output.clean("):
                    wrong.append(f"{file.name}:{node.lineno}: a question that is not `output.clean`ed")
                if re.fullmatch(r"print|(typer|click)\.(echo|secho|launch|edit)|sys\.(stdout|stderr)\.(buffer\.)?write|(\w+\.)?Console|os\.write", called):  # fmt: skip
                    wrong.append(f"{file.name}:{node.lineno}: {called}")
    assert wrong == []
