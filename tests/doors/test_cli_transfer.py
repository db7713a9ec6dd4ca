"""Taking a history out and bringing one in, on the command line."""

from __future__ import annotations

import gzip
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from console import Run, flat
from terminal import Terminal

import recollect
from recollect import transfer
from recollect.errors import InvalidInput, NotFound, Unavailable
from recollect.model import Imported, Problem
from transcripts import SESSION, Transcript, session


def test_out_and_in_again(run: Run, trip: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert run("remember", "Prefers trains").code == 0
    answer = run("export", str(file))
    assert answer.code == 0
    assert "1 conversation, 3 events, 1 memory" in flat(answer.out)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = str(tmp_path / "other.db")
    answer = run("import", str(file), "-d", other)
    assert "Brought in: 1 conversation, 3 events, 1 memory." in flat(answer.out)
    assert "The 9:40." in run("show", "trip-1", "-d", other).out
    again = run("import", "recollect", str(file), "-d", other)
    assert "Nothing new." in again.out
    assert "There already: 1 conversation, 3 events, 1 memory." in flat(again.out)
    found = run("import", str(file), "-d", other, "--json").json
    assert (found["format"], found["added"]["events"], found["known"]["events"]) == ("recollect", 0, 3)


@pytest.mark.parametrize("packed", [False, True])
def test_an_export_comes_in_out_of_a_pipe(run: Run, trip: str, tmp_path: Path, packed: bool) -> None:
    file = tmp_path / ("all.jsonl.gz" if packed else "all.jsonl")
    assert run("export", str(file)).code == 0
    for n, given in enumerate((["-"], ["recollect", "/dev/stdin"])):
        command = [sys.executable, "-m", "recollect.cli", "import", *given, "-d", str(tmp_path / f"{n}.db"), "--json"]
        done = subprocess.run(command, input=file.read_bytes(), capture_output=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["added"]["events"] == 3


def test_to_standard_output_packed_and_as_markdown(run: Run, trip: str, tmp_path: Path) -> None:
    lines = run("export").out.splitlines()
    assert [json.loads(line)["type"] for line in lines][0::5] == ["recollect", "end"]
    assert run("export", "-").out.splitlines()[1:-1] == lines[1:-1]
    packed = tmp_path / "all.jsonl.gz"
    assert run("export", str(packed), "--json").json["events"] == 3
    assert gzip.decompress(packed.read_bytes()).decode().splitlines()[1:-1] == lines[1:-1]
    assert run("import", str(packed), "-d", str(tmp_path / "o.db"), "--json").json["added"]["events"] == 3
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "cut off" in run("import", "recollect", str(packed), "-d", str(tmp_path / "p.db")).err
    markdown = run("export", "-f", "markdown", "-c", "trip").out
    assert markdown.startswith("# Trip to Łódź 🚂\n")
    assert "The 9:40." in markdown
    for name, begin in (("all.md", "# "), ("all.txt", "{")):
        assert run("export", str(tmp_path / name)).code == 0
        assert (tmp_path / name).read_text("utf-8").startswith(begin)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")
def test_no_lines_of_json_are_poured_into_a_terminal(trip: str) -> None:
    with Terminal("export", "-c", "trip") as t:
        assert t.end() == 2
        assert "recollect export recollect.jsonl -c trip-1" in t.screen and '"type"' not in t.screen
    with Terminal("export", "-") as t:
        t.see('"type"')
        assert t.end() == 0
    with Terminal("export", "-c", "trip", "-f", "markdown") as t:
        t.see("# Trip to")
        assert t.end() == 0


def test_a_part_and_what_is_there_already(run: Run, trip: str, tmp_path: Path) -> None:
    run("new", "Other", "--id", "other-1", "--workspace", "/elsewhere")
    file = tmp_path / "part.jsonl"
    assert run("export", str(file), "-w", "/elsewhere", "--json").json["conversations"] == 1
    assert run("export", str(file)).code == 4
    assert "--force" in run("export", str(file)).err
    assert run("export", str(file), "--force", "-c", "@", "--json").json["conversations"] == 1
    assert run("export", str(file), "--force", "-c", "nobody").code == 3
    assert run("export", "-f", "xml").code == 2
    assert list(tmp_path.glob(".*part")) == []
    nowhere = run("export", str(tmp_path / "nowhere" / "a.jsonl"))
    assert nowhere.code == 2
    assert flat(nowhere.err).endswith("nowhere. Nothing was exported.")


def test_conflicts_are_listed_and_told_by_the_exit_code(run: Run, trip: str, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.db")
    run("export", str(file))
    with recollect.open(other) as store:
        store.append(store.create("trip-1"), role="user", text="another trip")
    answer = run("import", str(file), "-d", other)
    assert answer.code == 8
    assert "conversation trip-1: There is another one of that id here" in flat(answer.out)
    assert run("show", "trip-1", "-d", other).out.count("another trip") >= 1
    assert run("import", str(file), "-d", other, "--json").json["problems"][0]["where"] == "conversation trip-1"


def test_a_bad_line_and_other_files(run: Run, trip: str, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.db")
    run("export", str(file))
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*lines[:3], "{", *lines[3:]]), "utf-8")
    answer = run("import", str(file), "-d", other)
    assert answer.code == 2
    assert "Line 4:" in answer.err
    assert run("conversations", "-d", other, "--json").json == []
    file.write_text(lines[0].replace('"version":2', '"version":9'), "utf-8")
    newer = run("import", str(file), "-d", other)
    assert newer.code == 6
    assert "git pull && pip install ." in newer.err
    (tmp_path / "text").write_text("hello")
    assert "of no known format" in flat(run("import", str(tmp_path / "text"), "-d", other).err)
    assert run("import", str(tmp_path / "nothing"), "-d", other).code == 3
    assert run("import", "elsewhere", str(file), "-d", other).code == 2
    assert "say which file" in flat(run("import", "recollect", "-d", other).err)


def test_what_is_wrong_with_a_file_is_told_with_its_name_and_line(run: Run, trip: str, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.db")
    run("export", str(file))
    first = file.read_text("utf-8").splitlines()[0]
    for line, said in (
        ('{"foo": 1}', "it has no type; each line of an export is an object of type recollect, conversation, "),
        ('{"type": "foo"}', "its type is 'foo'; each line"),
        ("[1]", "it is no object; each line"),
        ('{"type": "event"}', "a line of type event needs 'conversation'."),
    ):
        file.write_text(f"{first}\n{line}\n", "utf-8")
        assert f"{file}: Line 2: {said}" in flat(run("import", str(file), "-d", other).err)
    (tmp_path / "text").write_text("hello")
    assert f"as in `recollect import claude-code {tmp_path / 'text'}`" in flat(
        run("import", str(tmp_path / "text")).err
    )


def test_a_named_file_of_another_program_is_no_transcript(run: Run, tmp_path: Path) -> None:
    """Its rows became a conversation of "2 lines of the unknown type 'None', kept whole"."""
    (tmp_path / "rows.jsonl").write_text('{"role": "user", "text": "hi"}\n{"foo": 1}\n')
    answer = run("import", "claude-code", str(tmp_path / "rows.jsonl"))
    assert answer.code == 2 and "with a sessionId or a type such as user" in flat(answer.err)
    (tmp_path / "odd.jsonl").write_text('{"sessionId": "s"}\nrubbish\n')
    answer = run("import", "claude-code", str(tmp_path / "odd.jsonl"))
    assert answer.code == 8 and "1 line without a type, kept whole" in answer.out
    assert "odd.jsonl: line 2 is no JSON object" in flat(answer.out)
    with (tmp_path / "odd.jsonl").open("a") as f:
        f.write('{"sessionId": "s", "type": "user"}\nmore\n')
    assert "odd.jsonl: line 4 is no JSON object" in flat(run("import", "claude-code", str(tmp_path / "odd.jsonl")).out)


def test_a_damaged_gzip_file_is_told(run: Run, trip: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl.gz"
    run("export", str(file))
    packed = bytearray(file.read_bytes())
    for damage in (bytes(packed[:40]), bytes([*packed[:40], *(255 - b for b in packed[40:120]), *packed[120:]])):
        file.write_bytes(damage)
        for said in ([str(file)], ["recollect", str(file)]):
            answer = run("import", *said, "-d", str(tmp_path / "other.db"))
            assert answer.code == 2 and "unexpected" not in answer.err


def test_a_format_is_a_module_named_like_it() -> None:
    assert {"langgraph", "openai-agents", "recollect"} <= set(transfer.names())
    for name in transfer.names():
        module = transfer.load(name)
        assert module.ABOUT
        assert callable(module.looks_like)
        assert callable(module.bring)
    with pytest.raises(InvalidInput, match="no format"):
        transfer.load("telepathy")
    with pytest.raises(NotFound):
        transfer.recognise(Path("nothing-here"))


def test_to_recognise_a_file_takes_no_framework(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite import SqliteSaver

    with SqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver:
        saver.setup()
    code = (
        "import sys\nfrom pathlib import Path\nfrom recollect import open, transfer\nfrom recollect.errors import Refused\n"
        "sys.modules.update(langgraph=None, langchain_core=None, agents=None, pydantic=None)\n"
        "file = Path(sys.argv[1])\n"
        "print(transfer.recognise(file))\n"
        "try:\n    transfer.bring(open(':memory:'), 'langgraph', file)\n"
        "except Refused as e:\n    print(e)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "graph.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines()[0] == "langgraph"
    assert "pip install '.[langgraph]'" in done.stdout


def test_a_file_is_brought_in_by_the_format_that_knows_it(run: Run, trip: str, tmp_path: Path) -> None:
    from agents import SQLiteSession  # its own tables

    SQLiteSession("s", tmp_path / "agents.db").close()
    assert transfer.recognise(tmp_path / "agents.db") == "openai-agents"
    run("export", str(tmp_path / "all.jsonl"))
    assert transfer.recognise(tmp_path / "all.jsonl") == "recollect"
    with recollect.open(tmp_path / "ours.db") as store:
        store.create("c")
    with pytest.raises(InvalidInput):
        transfer.recognise(tmp_path / "ours.db")  # a store is opened with -d, not imported


def test_watching_outlives_a_store_that_is_away_for_a_while(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Problem("a.jsonl", "cannot be read.", "Look at it.")
    answers: list[object] = [
        Unavailable("The server is away."), Unavailable("The server is away."),
        Imported("claude-code", {}, {}, (bad,)), Imported("claude-code", {"events": 3}, {}, (bad,)),
        Imported("claude-code", {}, {}, (bad,)), KeyboardInterrupt(),
    ]  # fmt: skip

    def bring(*_: object, **__: object) -> object:
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(transfer, "bring", bring)
    done = run("watch", "claude-code", str(tmp_path), "--every", "0.1")
    assert answers == []
    assert flat(done.err).count("The server is away. Trying again every 0.1 seconds.") == 1
    assert done.out.count("cannot be read") == 2
    assert "3 events" in done.out
    answers.append(Unavailable("The server is away."))
    assert run("watch", "claude-code", str(tmp_path), "--once").code != 0


def test_what_a_restored_backup_lacks_is_imported_again(run: Run, tmp_path: Path, own_store: Path) -> None:
    t = session()
    t.write(tmp_path / "projects")
    run("import", "claude-code", str(tmp_path / "projects"))
    assert run("backup", str(tmp_path / "old.db")).code == 0
    other = Transcript(session=SESSION.replace("95e6", "0000"))
    other.prompt("Another matter.")
    other.write(tmp_path / "projects")
    assert run("import", "claude-code", str(tmp_path / "projects"), "--json").json["added"]["conversations"] == 1
    assert run("restore", str(tmp_path / "old.db"), "--yes").code == 0
    for n in range(30):
        run("new", f"Since then {n}")  # the store has gone on since: nothing about it shows that it was put back
    found = run("import", "claude-code", str(tmp_path / "projects"), "--json").json
    assert (found["added"]["conversations"], found["added"]["events"]) == (1, 1)
    assert run("import", "claude-code", str(tmp_path / "projects"), "--json").json["added"] == {}


def test_what_this_store_did_not_sign_waits_unless_it_is_trusted(run: Run, trip: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert run("remember", "Prefers trains").code == 0
    assert run("export", str(file)).code == 0
    stranger, mine = str(tmp_path / "stranger.db"), str(tmp_path / "mine.db")
    answer = run("import", str(file), "-d", stranger)
    assert answer.code == 0
    assert "This store did not sign that archive, so its memories wait to be reviewed" in flat(answer.out)
    assert "Prefers trains" not in run("memories", "-d", stranger).out
    assert "Prefers trains" in run("memories", "--state", "quarantined", "-d", stranger).out
    answer = run("import", str(file), "--trust", "-d", mine)
    assert "did not sign" not in answer.out
    assert "Prefers trains" in run("memories", "-d", mine).out
    found = run("import", str(file), "--json").json  # what this store made itself
    assert (found["signed"], found["trusted"]) == (True, True)


def test_only_an_export_of_ours_can_be_trusted(run: Run, tmp_path: Path) -> None:
    file = session().write(tmp_path)
    answer = run("import", "claude-code", str(file), "--trust")
    assert answer.code == 2 and "Only an export of ours can be trusted" in flat(answer.err + answer.out)
