"""The day it happens: doctor, salvage, restore, backup and compact at the command line, on files in every state."""

from __future__ import annotations

import ast
import os
import random
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import SRC, Answer, Run, commands, environment, flat

import recollect
from postgres_server import Databases
from recollect.cli import examination
from sample import record
from talk import eventually, exchange

PAGE = 4096


@pytest.fixture
def chat(run: Run, own_store: Path) -> Path:
    """A store of two users, closed."""
    with recollect.open(own_store, user="local", summaries=False) as store:
        for i in range(6):
            c = store.create(f"talk-{i}")
            store.append_many(c, [{"role": "user", "text": f"message {n} of {i}: " + "word " * 20} for n in range(80)])
        store.delete_event("talk-0", 3)
        kim = store.for_user("kim")
        kim.append_many(kim.create("kim-1"), exchange(40))
    return own_store


EVENTS = 6 * 80 - 1 + 40


def damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    match how:
        case "flipped":
            chance = random.Random(7)
            for _ in range(64):
                content[chance.randrange(PAGE, len(content))] ^= 0xFF
        case "text":
            content[content.index(b"message 7 of 1")] ^= 0x20
        case "conversations":
            for at in range(PAGE, len(content), PAGE):
                if b"talk-5" in content[at : at + PAGE]:
                    content[at : at + PAGE] = bytes(PAGE)
        case "zeroed header":
            content[:PAGE] = bytes(PAGE)
        case "zeroed page":
            content[5 * PAGE : 6 * PAGE] = bytes(PAGE)
        case "truncated":
            # Three quarters stay: the first half of so small a file is the beginnings of tables, with nothing in them.
            del content[len(content) * 3 // 4 // PAGE * PAGE :]
        case "empty":
            content.clear()
        case "foreign":
            content = bytearray(b"Dear diary, " * 1000)
    path.write_bytes(content)


def told(answer: Answer) -> list[str]:
    """The commands that an answer says to run, in its order."""
    lines = [line.strip() for line in answer.out.splitlines()]
    return [line for line in lines if line.startswith("recollect ")]


# -- looking -----------------------------------------------------------------------------------------------------------


def test_a_sound_store(run: Run, chat: Path) -> None:
    before = chat.read_bytes()
    answer = run("doctor")
    assert answer.code == 0
    assert "All is well." in answer.out
    assert f"2 users, 7 conversations, {EVENTS} events, 1 tombstone" in answer.out
    assert run("doctor", str(chat)).code == 0
    assert chat.read_bytes() == before
    assert sorted(p.name for p in chat.parent.iterdir()) == ["chat.db", "chat.db.lock"], "looking left something behind"


def test_json(run: Run, chat: Path) -> None:
    found = run("doctor", "--json").json
    assert list(found) == [
        "location", "ok", "checks", "users", "conversations", "events", "tombstones", "problems", "next",
    ]  # fmt: skip
    assert (found["location"], found["ok"], found["users"], found["events"]) == (str(chat), True, 2, EVENTS)
    assert [c["name"] for c in found["checks"]] == [
        *(["file", "rights"] if os.name == "posix" else ["file"]),
        "header", "SQLite", "disk", "log", "in use", "integrity", "events", "jobs",
    ]  # fmt: skip
    assert {c["state"] for c in found["checks"]} == {"ok"}
    damage(chat, "text")
    answer = run("doctor", "--json")
    assert (answer.code, answer.err) == (6, "")
    found = answer.json
    assert found["ok"] is False
    assert list(found["problems"][0]) == ["where", "what", "fix"]
    assert list(found["next"][0]) == ["command", "what"]


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("flipped", "the file"),
        ("text", "local: conversation 'talk-1', event 8"),
        ("zeroed header", "zeros where the header should be"),
        ("zeroed page", "integrity"),
        ("truncated", "ends too early"),
        ("empty", "It is empty"),
        ("foreign", "not the beginning of a SQLite database"),
    ],
)
def test_damage_is_found_and_named(run: Run, chat: Path, how: str, says: str) -> None:
    damage(chat, how)
    before = chat.read_bytes()
    answer = run("doctor")
    assert answer.code == 6, answer
    assert says in flat(answer.out)
    assert "What to do" in answer.out
    assert told(answer)
    assert chat.read_bytes() == before, "looking changed it"
    if how != "empty":
        words = shlex.split(told(answer)[-1])
        assert words[:3] == ["recollect", "doctor", str(chat)]
        assert words[3] == "--salvage"


def test_everyone_is_looked_at(run: Run, chat: Path) -> None:
    import apsw

    connection = apsw.Connection(str(chat))
    connection.execute("update events set text = 'forged' where user_no = (select no from users where id = 'kim')")
    connection.close()
    answer = run("-u", "local", "doctor")
    assert answer.code == 6
    assert "40 problems" in answer.out
    assert "kim: conversation 'kim-1', event 1" in answer.out
    assert "and 20 more: --json lists them all" in answer.out
    assert len(run("doctor", "--json").json["problems"]) == 40


def test_a_file_that_is_not_there(run: Run, own_store: Path, tmp_path: Path) -> None:
    assert run("doctor").code == 0  # nothing was recorded yet
    answer = run("doctor", str(tmp_path / "typo.db"))
    assert answer.code == 3
    assert "no store at" in answer.err
    assert run("-d", str(tmp_path / "typo.db"), "doctor").code == 3
    assert run("doctor", str(tmp_path)).code == 2
    assert not own_store.parent.exists()


def test_a_file_that_is_gone_but_has_a_backup(run: Run, chat: Path) -> None:
    run("backup")
    chat.unlink()
    answer = run("doctor")
    assert answer.code == 3
    line = re.search(r"To go back to it: (recollect .*)", flat(answer.err))
    assert line is not None
    assert run(*shlex.split(line[1])[1:], "--yes").code == 0
    assert run("doctor", "--json").json["events"] == EVENTS


def test_a_newer_store(run: Run, chat: Path) -> None:
    content = bytearray(chat.read_bytes())
    content[60:64] = (99).to_bytes(4)
    chat.write_bytes(content)
    answer = run("doctor")
    assert answer.code == 6
    assert "git pull && pip install ." in flat(answer.out)
    assert "--salvage" not in answer.out, "nothing is lost"


def test_a_backup_can_be_looked_at(run: Run, chat: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "copy.db"
    copy.parent.mkdir()
    run("backup", str(copy))
    before = copy.read_bytes()
    assert run("doctor", str(copy)).code == 0
    assert copy.read_bytes() == before
    assert [p.name for p in copy.parent.iterdir()] == ["copy.db"]


@pytest.mark.skipif(os.name != "posix", reason="rights of another kind")
def test_nothing_is_advised_on_a_file_that_is_no_store(run: Run, tmp_path: Path) -> None:
    somebodys = tmp_path / "passwd"
    somebodys.write_text("kim:x:1000:1000::/home/kim:/bin/sh\n" * 9)
    somebodys.chmod(0o644)
    done = run("doctor", str(somebodys))
    assert "not a SQLite database" in flat(done.out) and "chmod" not in done.out + done.err


def test_others_may_read_it(run: Run, chat: Path) -> None:
    chat.chmod(0o644)
    answer = run("doctor")
    assert answer.code == 0
    assert f"chmod 600 {chat}" in answer.out
    assert "Sound, with 1 remark." in answer.out


def as_nobody_special(*args: str) -> Answer:
    """A command by somebody for whom the rights of files count, as they do not for root."""

    def drop() -> None:
        import ctypes

        for right in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; whoever is not root has neither
            ctypes.CDLL(None).prctl(24, right, 0, 0, 0)

    done = subprocess.run(
        [sys.executable, "-m", "recollect.cli", *args],
        capture_output=True, env=environment(), timeout=120, check=False, preexec_fn=drop,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.skipif(sys.platform != "linux", reason="rights of another kind")
def test_a_store_that_may_only_be_read_is_not_damaged(chat: Path) -> None:
    """It was said to be, and that its rows should be saved into a new file."""
    chat.chmod(0o400)
    chat.parent.chmod(0o500)
    try:
        answer = as_nobody_special("doctor")
        assert "every page is sound" in flat(answer.out) and "all as they were written" in flat(answer.out)
        assert "may only be read" in flat(answer.out)
        assert answer.code == 0
        assert "cannot be written" in flat(as_nobody_special("append", "@", "x").err)
    finally:
        chat.parent.chmod(0o700)


@pytest.mark.skipif(sys.platform != "linux", reason="rights of another kind")
def test_a_store_that_may_not_be_read_is_nobodys_to_salvage(chat: Path) -> None:
    chat.chmod(0o000)
    answer = as_nobody_special("doctor")
    assert answer.code == 6
    assert "cannot be read: Permission denied" in flat(answer.out) and "Check that you own the file" in flat(answer.out)
    assert "salvage" not in answer.out and "0 problems" not in answer.out


def test_a_disk_that_is_nearly_full(run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "LOW_SPACE", 1 << 62)
    answer = run("doctor")
    assert answer.code == 0
    assert re.search(r"only [\d.]+ .B free", answer.out)


def test_a_network_file_system(run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.db.gate.network_filesystem", lambda path: "nfs4")
    answer = run("doctor")
    assert answer.code == 6
    assert "network file system (nfs4)" in flat(answer.out)


def test_a_turn_that_could_not_be_read_for_memories_is_named(
    run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise IndexError("of an empty tuple")

    monkeypatch.setattr("recollect.consolidate.candidates", broken)
    with recollect.open(chat, user="kim", background=False, memory_extract=True) as store:
        store.append(store.create("short"), role="user", text="I left.")
        store.consolidate("short")
    said = flat(run("doctor").out)
    assert "no memory was taken from event 1 of short" in said and "I left" not in said


def test_jobs_that_failed_are_said(run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect import jobs

    with recollect.open(chat, user="kim", background=False) as store:
        store._db.write("kim", lambda tx: jobs.enqueue(tx, "from the future", "1"))
        store.settle()
    answer = run("doctor")
    assert answer.code == 0
    assert "kim: from the future 1, 1 attempts" in flat(answer.out)
    assert "`recollect -u kim settle`" in flat(answer.out)


def test_persistence_off(run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_ENABLED", "off")
    assert "persistence is off" in run("doctor").out
    assert f"{EVENTS} events" in run("doctor", str(chat)).out
    for command in (["backup"], ["backups"], ["compact"], ["restore", str(chat), "-y"]):
        answer = run(*command)
        assert answer.code == 6
        assert "Persistence is off" in answer.err


def test_settings_that_are_wrong_do_not_keep_it_from_a_file(
    run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DATABASE", "relative.db")
    assert run("doctor").code == 2
    assert run("doctor", str(chat)).code == 0


# -- company -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def holder(chat: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the store open."""
    code = "import recollect\ns = recollect.open()\ns.conversations()\nprint('open', flush=True)\ninput()"
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    yield other
    other.communicate("\n")


@pytest.mark.skipif(sys.platform != "linux", reason="found in /proc")
def test_who_else_has_it_open(run: Run, holder: subprocess.Popen[str]) -> None:
    answer = run("doctor")
    assert answer.code == 0
    assert f"by process {holder.pid} (" in flat(answer.out)


def test_restore_is_refused_while_another_program_has_it_open(
    run: Run, chat: Path, tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    assert run("backup", str(tmp_path / "copy.db")).code == 0
    before = chat.read_bytes()
    answer = run("restore", str(tmp_path / "copy.db"), "--yes")
    assert answer.code == 5
    assert "is open in" in flat(answer.err)
    assert chat.read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="found in /proc")
def test_a_stopped_process_that_holds_the_gate_is_named(run: Run, chat: Path) -> None:
    code = (
        "import os, signal, recollect\nfrom recollect.db import points\ns = recollect.open()\n"
        "points.hook = lambda at: os.kill(os.getpid(), signal.SIGSTOP) if at == 'before commit' else None\n"
        "s.append('talk-0', role='user', text='never said')"
    )
    other = subprocess.Popen([sys.executable, "-c", code], env=environment())
    try:
        eventually(lambda: " T " in Path(f"/proc/{other.pid}/stat").read_text())
        answer = run("doctor")
        assert answer.code == 0
        said = flat(answer.out)
        assert f"held for writing by process {other.pid}" in said, answer.out
        assert f"kill -CONT {other.pid}" in said
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert "in use by no other program" in flat(run("doctor").out)


@pytest.mark.skipif(sys.platform != "linux", reason="found in /proc")
def test_who_holds_the_gate_is_known_while_others_lock_and_unlock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel gives its list of locks a page at a time: one reading in 200 missed the row, and CI with it."""
    import fcntl

    monkeypatch.setattr(examination, "PATIENCE_SECONDS", 0.0)
    noise = (
        "import fcntl, random, sys\nfiles = [open(f'{sys.argv[1]}.{i}', 'w') for i in range(150)]\n"
        "for f in files: fcntl.flock(f, fcntl.LOCK_EX)\nprint('locked', flush=True)\n"
        "while True: fcntl.flock(random.choice(files), random.choice([fcntl.LOCK_EX, fcntl.LOCK_UN]))"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", noise, str(tmp_path / f"noise{n}")], stdout=subprocess.PIPE, text=True)
        for n in range(2)
    ]
    try:
        assert [other.stdout and other.stdout.readline() for other in others] == ["locked\n"] * 2
        with (tmp_path / "chat.db.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            named = {str(examination.lock_holder(tmp_path / "chat.db")).partition(" (")[0] for _ in range(1000)}
        assert named == {f"process {os.getpid()}"}
    finally:
        for other in others:
            other.kill()
            other.communicate()


# -- salvage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["flipped", "text", "zeroed header", "zeroed page", "truncated"])
def test_from_damage_to_a_sound_store_by_copying_commands(run: Run, chat: Path, how: str) -> None:
    """Only what the doctor itself says to run."""
    damage(chat, how)
    answer = run("doctor")
    salvage = shlex.split(told(answer)[-1])[1:]
    answer = run(*salvage)
    assert answer.code == 0, answer
    for word in ("saved", "damaged", "missing", "read back"):
        assert word in answer.out
    put_back = shlex.split(next(line for line in told(answer) if " restore " in line))[1:]
    look = shlex.split(next(line for line in told(answer) if line.endswith(" conversations")))[1:]
    assert run(*look).code == 0
    answer = run(*put_back, "--yes")
    assert answer.code == 0, answer
    assert ".aside" in answer.out
    found = run("doctor", "--json").json
    assert found["ok"] is True
    # 64 flips in 40 pages; how much that is of a larger file is told in tests/faults.
    least = {"flipped": 0.95, "zeroed page": 0.9, "truncated": 0.1}.get(how, 1)
    assert found["events"] >= least * EVENTS
    assert run("append", run("conversations", "--json").json[0]["id"], "and on it goes").code == 0


def test_salvage_json(run: Run, chat: Path, tmp_path: Path) -> None:
    damage(chat, "zeroed header")
    out = tmp_path / "new" / "out.db"
    found = run("doctor", "--salvage", str(out), "--json").json
    assert list(found["salvage"]) == ["path", "users", "conversations", "events", "damaged", "missing", "memories"]
    assert (found["salvage"]["path"], found["salvage"]["events"], found["ok"]) == (str(out), EVENTS, True)
    assert (found["location"], found["events"]) == (str(out), EVENTS)


def test_salvage_never_overwrites(run: Run, chat: Path, tmp_path: Path) -> None:
    damage(chat, "flipped")
    before = chat.read_bytes()
    there = tmp_path / "there.db"
    there.write_text("precious")
    assert run("doctor", "--salvage", str(there)).code == 4
    assert run("doctor", "--salvage", str(chat)).code == 4
    assert (there.read_text(), chat.read_bytes()) == ("precious", before)


def test_nothing_to_save(run: Run, tmp_path: Path) -> None:
    diary = tmp_path / "diary.db"
    diary.write_text("Dear diary, " * 1000)
    answer = run("doctor", str(diary), "--salvage", str(tmp_path / "out.db"))
    assert answer.code == 6
    assert "No file was made" in flat(answer.err)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["diary.db"]


def test_a_relative_name(run: Run, chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("doctor", "--salvage", "out.db").code == 0
    assert (tmp_path / "out.db").exists()
    assert run("backup", "copy.db").code == 0
    assert run("restore", "copy.db", "--yes").code == 0


# -- backup and restore ------------------------------------------------------------------------------------------------


def test_backup_names_itself(run: Run, chat: Path) -> None:
    first, second = (Path(run("backup", "--json").json["path"]) for _ in range(2))
    assert first.parent == chat.parent / "backups"
    assert re.fullmatch(r"chat-\d{8}-\d{6}(-\d)?\.db", first.name)
    assert first != second
    answer = run("backup")
    assert f"Copied {EVENTS} events" in answer.out
    assert len(run("backups", "--json").json) == 3


def test_backup_makes_no_folder_that_was_named(run: Run, chat: Path, tmp_path: Path) -> None:
    answer = run("backup", str(tmp_path / "no such" / "folder" / "x.db"))
    assert (answer.code, "There is no folder" in answer.err) == (2, True)
    assert not (tmp_path / "no such").exists()
    assert not (chat.parent / "backups").exists(), "a copy that was not made is not written down"
    assert run("backup", str(chat.parent / "backups" / "x.db")).code == 0  # the store's own


def test_backups(run: Run, chat: Path) -> None:
    assert "recollect backup" in run("backups").out
    assert run("backups", "--json").json == []
    made = Path(run("backup", "--json").json["path"])
    (found,) = run("backups", "--json").json
    assert list(found) == ["path", "kind", "made_at", "bytes", "sound", "problem"]
    assert (found["path"], found["kind"], found["sound"]) == (str(made), "by hand", None)
    assert run("backups", "--check", "--json").json[0]["sound"] is True
    assert run("backups", "--check").code == 0
    damage(made, "text")  # SQLite sees nothing wrong with it
    answer = run("backups", "--check")
    assert answer.code == 6
    assert "1 problem in its events" in answer.out
    damage(made, "truncated")
    answer = run("backups", "--check", "--json")
    assert (answer.code, answer.json[0]["sound"]) == (6, False)
    assert run("backups").code == 0


def test_restore_asks_and_says_how_to_undo_it(run: Run, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("backup", "--json").json["path"]
    run("append", "talk-0", "one more")
    answer = run("restore", made)
    assert answer.code == 2, "nobody is there to answer"
    assert f"{EVENTS} events" in flat(answer.err) and f"now {EVENTS + 1} events" in flat(answer.err)
    monkeypatch.setattr("recollect.cli.output.is_interactive", lambda: True)
    answer = run("restore", made, stdin="n\n")
    assert answer.code == 130
    assert run("doctor", "--json").json["events"] == EVENTS + 1
    answer = run("restore", made, stdin="y\n")
    assert answer.code == 0
    assert f"now {EVENTS + 1} events" in flat(answer.err)
    assert run("doctor", "--json").json["events"] == EVENTS
    undo = re.search(r"Undo: recollect (.*)", answer.out)
    assert undo is not None
    back = run(*shlex.split(undo[1]), "--yes", "--json")
    assert list(back.json) == ["location", "backup", "events", "aside", "undo"]
    assert run("doctor", "--json").json["events"] == EVENTS + 1


def test_a_damaged_backup_is_refused(run: Run, chat: Path) -> None:
    made = Path(run("backup", "--json").json["path"])
    damage(made, "truncated")
    before = chat.read_bytes()
    answer = run("restore", str(made), "--yes")
    assert answer.code == 6
    assert chat.read_bytes() == before


def test_restore_names_events_that_are_not_as_written(run: Run, chat: Path) -> None:
    made = Path(run("backup", "--json").json["path"])
    damage(made, "text")
    assert "1 problem in them" in flat(run("restore", str(made)).err)


def test_what_restore_takes(run: Run, chat: Path, tmp_path: Path) -> None:
    run("delete", "talk-5")
    assert run("restore", "talk-5").code == 0
    answer = run("restore", str(tmp_path / "nope.db"))
    assert answer.code == 3
    assert "recollect backups" in flat(answer.err)
    assert run("restore", str(chat), "--yes").code == 2  # the store itself
    assert "CONVERSATION|BACKUP" in flat(run("restore", "--help").out)


def test_the_doctor_prefers_a_sound_backup(run: Run, chat: Path) -> None:
    good = run("backup", "--json").json["path"]
    bad = Path(run("backup", "--json").json["path"])
    damage(bad, "truncated")
    damage(chat, "flipped")
    answer = run("doctor")
    assert told(answer)[0] == f"recollect restore {good}"


def test_it_all_names_the_store_that_is_meant(run: Run, chat: Path, tmp_path: Path) -> None:
    other = tmp_path / "a b" / "other.db"
    other.parent.mkdir()
    run("backup", str(other))
    damage(other, "flipped")
    for line in told(run("doctor", str(other))):
        assert str(other) in shlex.split(line)
    answer = run("doctor", str(other), "--salvage", str(tmp_path / "out.db"))
    assert shlex.split(told(answer)[0])[1:] == ["-d", str(other), "restore", str(tmp_path / "out.db")]


def test_backup_and_compact(run: Run, trip: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert run("backup", str(copy), "--json").json["path"] == str(copy)
    assert run("-d", str(copy), "show", trip).code == 0
    assert run("backup", str(copy)).code == 4
    run("append", trip, "--entries", "-", stdin='[{"kind": "note", "text": "' + "x" * 500_000 + '"}]')
    run("clear", trip, "--yes")
    answer = run("compact")
    assert answer.code == 0
    assert re.search(r"[\d.]+ KB before, [\d.]+ KB now; \d+ KB given back", answer.out)
    assert set(run("compact", "--json").json) == {"before", "after"}
    again = run("compact").out
    assert "nothing to give back" in again and "before" not in again, "two sizes, the second the larger, say nothing"


def test_backup_needs_a_store(run: Run, tmp_path: Path, own_store: Path) -> None:
    for command in (["backup", str(tmp_path / "x.db")], ["backup"], ["compact"]):
        assert run(*command).code == 3
    assert not own_store.parent.exists()


def test_postgres(run: Run, postgres_url: str, tmp_path: Path) -> None:
    with recollect.open(postgres_url, user="kim") as store:
        record(store)
    answer = run("-d", postgres_url, "doctor")
    assert answer.code == 0, answer
    assert "1 conversation, 15 events" in answer.out
    assert "amcheck" in answer.out
    assert run("doctor", postgres_url, "--json").json["ok"] is True
    (tmp_path / "x.db").write_text("x")
    for command, words in (
        (["doctor", "--salvage", str(tmp_path / "o.db")], "server's own tools"),
        (["backup"], "pg_dump"),
        (["backups"], "pg_dump"),
        (["restore", str(tmp_path / "x.db"), "-y"], "pg_restore"),
        (["compact"], "VACUUM"),
    ):
        answer = run("-d", postgres_url, *command)
        assert answer.code == 6, command
        assert words in flat(answer.err)
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("select set_config('recollect.admin', 'on', false)")
        connection.execute("alter table recollect.events no force row level security")
        connection.execute("update recollect.events set text = 'forged' where seq = 1")
    answer = run("-d", postgres_url, "doctor")
    assert answer.code == 6
    assert "not what was written" in flat(answer.out)


def test_a_role_that_sees_through_row_level_security_is_remarked(
    run: Run, postgres_url: str, postgres_server: Databases
) -> None:
    answer = run("-d", postgres_url, "doctor")
    assert answer.code == 0, answer
    assert "All is well." in answer.out
    answer = run("-d", postgres_server.admin_url(postgres_url.rpartition("/")[2]), "doctor")
    assert answer.code == 0, answer
    assert "Sound, with 1 remark." in answer.out
    assert "row-level security does not hold for it" in flat(answer.out)
    assert "nosuperuser nobypassrls" in flat(answer.out)


# -- the next command to run -------------------------------------------------------------------------------------------


def said_in(file: Path) -> Iterator[str]:
    """Every text in a module, the values of f-strings as X; docstrings are for readers of the code."""
    tree = ast.parse(file.read_text("utf-8"))
    inside: set[ast.AST] = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= set(node.values)
            yield "".join(v.value if isinstance(v, ast.Constant) else "X" for v in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.value


def named_commands() -> list[tuple[str, str]]:
    found = []
    for file in sorted((SRC / "recollect").rglob("*.py")):
        for text in said_in(file):
            found += [(f"{file.name}: {text}", line) for line in re.findall(r"`recollect ([^`]+)`", text)]
            assert not re.search(r"(?<!`)\brecollect doctor\b", text) or file.parent.name == "cli", f"{file}: {text}"
    return found


def test_every_command_that_a_message_names_exists() -> None:
    named = named_commands()
    assert len({line.split()[0] for _, line in named}) >= 3, "nothing was found: the search is broken"
    for where, line in named:
        words = re.sub(r"^(-[du] X )+", "", line).split()
        assert words[0] in commands() or words[0] == "X", where
        known: set[str] = {o for p in commands()[words[0]].params for o in p.opts} if words[0] != "X" else set()
        for word in words[1:]:
            assert not word.startswith("-") or word in known, where


def test_damage_at_any_door_leads_to_the_doctor(run: Run, chat: Path) -> None:
    damage(chat, "conversations")
    answer = run("conversations")
    assert answer.code == 6
    lines: list[Any] = re.findall(r"`(recollect doctor[^`]*)`", flat(answer.err))
    assert lines
    assert run(*shlex.split(lines[0])[1:]).code == 6
