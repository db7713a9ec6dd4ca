"""Keys at the command line: encrypt, decrypt, rekey, key; and every other command on an encrypted store."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from console import Answer, Run, environment, flat

import recollect
from recollect import crypt, keys
from talk import eventually

PHRASE = "correct horse battery staple"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "the.key"


@pytest.fixture
def chat(own_store: Path, trip: str, run: Run) -> Path:
    """A plain store with a conversation and a backup."""
    assert run("backup").code == 0
    return own_store


@pytest.fixture
def locked(chat: Path, run: Run, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, encrypted, and the settings name its key."""
    assert run("encrypt", "--key-file", str(key_file)).code == 0
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(key_file))
    return chat


def is_plain(path: Path) -> bool:
    return path.read_bytes()[:6] == b"SQLite"


def backups(chat: Path) -> list[Path]:
    return [p for p in (chat.parent / "backups").iterdir() if p.suffix == ".db"]


# -- there and back ----------------------------------------------------------------------------------------------------


def test_encrypt_makes_a_key_and_says_what_it_means(run: Run, chat: Path, key_file: Path) -> None:
    answer = run("encrypt", "--key-file", str(key_file))
    assert answer.code == 0
    assert "A lost key is a lost store" in answer.out
    assert f"A new key is in {key_file}" in answer.out
    assert f"export RECOLLECT_KEY_FILE={key_file}" in answer.out
    assert "1 backup too" in answer.out
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert not is_plain(chat)
    assert not any(is_plain(p) for p in backups(chat))
    assert key_file.read_text().strip() not in answer.out + answer.err
    answer = run("conversations")
    assert (answer.code, "MissingKey" in answer.err or "encrypted" in answer.err) == (6, True)


def test_backups_made_elsewhere_go_along(run: Run, chat: Path, key_file: Path, tmp_path: Path) -> None:
    disk, stick = tmp_path / "disk" / "copy.db", tmp_path / "stick" / "copy.db"
    for copy in (disk, stick):
        copy.parent.mkdir()
        assert run("backup", str(copy)).code == 0
    stick.parent.rename(tmp_path / "taken out")
    listed = run("backups")
    assert str(disk) in listed.out
    assert f"Made at {stick}, which is not reachable now." in flat(listed.out + listed.err)
    answer = run("encrypt", "--key-file", str(key_file))
    assert "2 backups too" in answer.out
    assert f"{stick} stayed as it was: it is not reachable now" in flat(answer.out + answer.err)
    assert not is_plain(disk)
    assert is_plain(tmp_path / "taken out" / "copy.db")


def test_a_neighbour_keeps_its_backups_as_they_are(run: Run, chat: Path, key_file: Path, tmp_path: Path) -> None:
    """Encrypting one of two stores in a folder once took the other's backup with it, whose key its owner never had."""
    week2 = ["-d", str(chat.with_name("week2.db"))]
    assert run(*week2, "new").code == 0
    (theirs,) = backups(chat)
    assert run(*week2, "backup").code == 0
    (mine,) = set(backups(chat)) - {theirs}
    assert [b["path"] for b in run(*week2, "backups", "--json").json] == [str(mine)]
    answer = run(*week2, "encrypt", "--key-file", str(key_file))
    assert "1 backup too" in answer.out
    assert (is_plain(theirs), is_plain(mine)) == (True, False)
    assert run("backups", "--check").code == 0
    assert run("restore", str(theirs), "--yes").code == 0


def test_a_backup_whose_key_is_not_at_hand_is_encrypted_not_damaged(
    run: Run, locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "keys" / "other.key"
    keys.save_file(keys.Key.new(), str(other))
    for named in ("", str(other)):
        monkeypatch.setenv("RECOLLECT_KEY_FILE", named)
        answer = run("backups", "--check")
        assert answer.code == 6, "it was not read back"
        assert "encrypted" in answer.out and "damaged" not in answer.out
        answer = run("backups", "--check", "--json")
        (found,) = answer.json
        assert (answer.code, found["sound"], "encrypted" in found["problem"]) == (6, None, True), found


def test_and_back(run: Run, locked: Path, key_file: Path) -> None:
    assert run("show", "trip-1").code == 0
    answer = run("decrypt")
    assert (answer.code, "--yes" in answer.err) == (2, True)
    answer = run("decrypt", "--yes")
    assert answer.code == 0
    assert "key_file still names a key" in answer.out
    assert is_plain(locked)
    assert all(is_plain(p) for p in backups(locked))
    answer = run("show", "trip-1")
    assert (answer.code, "not encrypted" in answer.err) == (6, True)


def test_json(run: Run, chat: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(key_file))
    found = run("encrypt", "--json").json
    assert (found["location"], found["changed"], found["left"]) == (str(chat), True, [])
    assert found["backups"] == [str(p) for p in backups(chat)]
    found = run("key", "status", "--json").json
    assert found == {
        "location": str(chat), "exists": True, "encrypted": True, "form": "raw key", "key": str(key_file), "fits": True,
        "plain_backups": [], "problem": None,
    }  # fmt: skip


def test_a_passphrase_from_standard_input(run: Run, chat: Path) -> None:
    assert run("encrypt", "--passphrase", stdin="short\n").code == 2
    assert is_plain(chat)
    assert run("encrypt", "--passphrase", stdin=f"{PHRASE}\n").code == 0
    with recollect.open(chat, key=PHRASE) as store:
        assert store.conversations()


def test_rekey(run: Run, locked: Path, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("rekey").code == 2
    other = tmp_path / "other.key"
    answer = run("rekey", "--key-file", str(other))
    assert answer.code == 0
    assert f"export RECOLLECT_KEY_FILE={other}" in answer.out
    assert run("show", "trip-1").code == 6
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(other))
    assert run("show", "trip-1").code == 0
    assert run("backups", "--check").code == 0


def test_rekey_goes_on_where_it_was_interrupted(run: Run, locked: Path, key_file: Path, tmp_path: Path) -> None:
    """After the store and before its backups: the settings still name the old key, which the backups have."""
    other = tmp_path / "other.key"
    keys.save_file(keys.Key.new(), str(other))
    crypt.rekey(locked, keys.read(str(key_file)), keys.read(str(other)), backups=False)
    answer = run("rekey", "--key-file", str(other), "--json")
    assert answer.code == 0, answer
    assert answer.json["backups"] == [str(p) for p in backups(locked)]


def test_what_is_already_so(run: Run, locked: Path, tmp_path: Path) -> None:
    assert "was encrypted already" in run("encrypt").out
    answer = run("encrypt", "--key-file", str(tmp_path / "new.key"))
    assert (answer.code, "rekey" in answer.err) == (2, True)
    assert not (tmp_path / "new.key").exists()


def test_nothing_said_and_nobody_to_ask(run: Run, chat: Path) -> None:
    answer = run("encrypt")
    assert (answer.code, "--key-file" in answer.err) == (2, True)
    assert run("decrypt", "--yes").code == 6
    assert run("rekey", "--passphrase", stdin=PHRASE).code == 6
    assert is_plain(chat)


def test_what_is_no_file(run: Run, own_store: Path) -> None:
    assert run("encrypt", "--passphrase", stdin=PHRASE).code == 3
    for words in (["encrypt", "--keyring"], ["decrypt", "--yes"], ["rekey", "--keyring"], ["key", "status"]):
        answer = run("-d", "postgresql://app@db.example/x", *words)
        assert (answer.code, "its disk or its server" in answer.err) == (6, True)


def test_open_in_another_program(run: Run, chat: Path, key_file: Path) -> None:
    code = "import recollect, sys\ns = recollect.open(sys.argv[1])\ns.conversations()\nprint(1, flush=True)\nsys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(chat)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    )
    try:
        assert other.stdout
        other.stdout.readline()
        answer = run("encrypt", "--key-file", str(key_file))
        assert (answer.code, "another program" in answer.err) == (5, True)
        assert is_plain(chat)
    finally:
        other.communicate(timeout=60)


# -- key ---------------------------------------------------------------------------------------------------------------


def test_key_status(run: Run, own_store: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "it will be plain" in run("key", "status").out
    assert run("new", "Trip").code == 0
    assert "not encrypted" in run("key", "status").out
    assert run("backup").code == 0
    assert run("encrypt", "--key-file", str(key_file), "--no-backups").code == 0
    answer = run("key", "status")
    assert (answer.code, "RECOLLECT_KEY_FILE" in answer.out) == (6, True)
    assert "1 backup of it in the clear" in flat(answer.err)
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(key_file))
    answer = run("key", "status")
    assert (answer.code, "it fits" in answer.out) == (0, True)
    assert run("encrypt").code == 0  # what was left
    assert run("key", "status", "--json").json["plain_backups"] == []
    key_file.chmod(0o644)
    answer = run("key", "status")
    assert (answer.code, f"chmod 600 {key_file}" in flat(answer.out)) == (6, True)
    answer = run("conversations")
    assert (answer.code, f"chmod 600 {key_file}" in flat(answer.err)) == (2, True)


def test_key_new_and_save(run: Run, locked: Path, tmp_path: Path, key_file: Path) -> None:
    copy, fresh = tmp_path / "copy.key", tmp_path / "fresh.key"
    answer = run("key", "save", str(copy))
    assert (answer.code, "A lost key is a lost store" in answer.out) == (0, True)
    assert copy.read_text() == key_file.read_text()
    answer = run("key", "new", str(fresh))
    assert (answer.code, "A lost key is a lost store" in answer.out) == (0, True)
    assert fresh.stat().st_mode & 0o777 == 0o600
    assert keys.read(str(fresh)) != keys.read(str(copy))
    assert fresh.read_text().strip() not in answer.out + answer.err
    assert run("key", "new", str(fresh)).code == 4
    assert run("key", "new").code == 2
    assert run("key", "nonsense").code == 2
    assert run("key", "save", str(tmp_path / "x"), "--keyring").code == 2


RING = """
import json, os, keyring.backend
FILE = os.environ["RING"]
def all():
    return json.load(open(FILE)) if os.path.exists(FILE) else {}
class Keyring(keyring.backend.KeyringBackend):
    priority = 1
    def get_password(self, service, username):
        return all().get(username)
    def set_password(self, service, username, password):
        found = all() | {username: password}
        json.dump(found, open(FILE, "w"))
    def delete_password(self, service, username):
        if os.environ.get("RING_IS_LOCKED"):
            raise keyring.errors.KeyringLocked("somebody has to unlock it")
        found = all()
        del found[username]
        json.dump(found, open(FILE, "w"))
"""


@pytest.fixture
def ring(tmp_path: Path) -> dict[str, Any]:
    """What a process needs to find a keyring of its own."""
    (tmp_path / "ring.py").write_text(RING)
    return {
        "PYTHON_KEYRING_BACKEND": "ring.Keyring", "RING": str(tmp_path / "ring.json"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]]),
    }  # fmt: skip


def test_a_key_that_the_keyring_keeps_is_not_called_forgotten(
    process: Run, chat: Path, tmp_path: Path, ring: dict[str, Any]
) -> None:
    assert process("key", "forget", **ring).out.strip() == "The keyring had no key of it."
    assert process("encrypt", "--keyring", **ring).code == 0
    held = (tmp_path / "ring.json").read_text()
    locked = process("key", "forget", RING_IS_LOCKED="1", **ring)
    assert locked.code != 0
    assert "KeyringLocked" in locked.err and "had no key" not in locked.out
    assert (tmp_path / "ring.json").read_text() == held
    assert process("key", "forget", **ring).out.strip() == "The keyring has no key of it any more."


def test_the_keyring(process: Run, chat: Path, tmp_path: Path, ring: dict[str, Any]) -> None:
    assert "A lost key is a lost store" in process("encrypt", "--keyring", **ring).out
    assert not is_plain(chat)
    assert process("show", "trip-1", **ring).code == 0
    before = (tmp_path / "ring.json").read_text()
    assert process("rekey", "--keyring", **ring).code == 0
    after = (tmp_path / "ring.json").read_text()
    assert (before != after, "(next)" in after) == (True, False)
    assert process("backups", "--check", **ring).code == 0, "a backup is looked up under its store's name"
    saved = tmp_path / "saved.key"
    assert process("key", "save", str(saved), **ring).code == 0
    assert process("key", "forget", **ring).code == 0
    assert process("show", "trip-1", **ring).code == 6
    assert process("show", "trip-1", RECOLLECT_KEY_FILE=str(saved), **ring).code == 0


# -- at a terminal -----------------------------------------------------------------------------------------------------


def typed(words: list[str], *answers: str) -> Answer:
    """A command at a terminal, where each question that ends in a colon gets its answer."""
    terminal, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "recollect.cli", *words], stdin=other, stdout=subprocess.PIPE, stderr=other,
        env=environment(TERM="dumb", COLUMNS="200"), start_new_session=True,  # no terminal but this one
    )  # fmt: skip
    os.close(other)
    shown, left = "", list(answers)
    until = time.monotonic() + 120
    try:
        while time.monotonic() < until:
            ready, _, _ = select.select([terminal], [], [], 0.2)
            if ready:
                try:
                    shown += os.read(terminal, 4096).decode(errors="replace")
                except OSError:
                    break
                if left and shown.endswith(": "):
                    eventually(
                        lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO
                    )  # what is typed before is thrown away
                    shown += "\n"
                    os.write(terminal, (left.pop(0) + "\n").encode())
            elif running.poll() is not None:
                break
        out = running.communicate(timeout=60)[0].decode(errors="replace")
    finally:
        running.kill()
        running.communicate()
        os.close(terminal)
    return Answer(running.returncode, out, shown)


def test_whoever_sits_there_is_asked(chat: Path) -> None:
    answer = typed(["encrypt"], PHRASE, PHRASE)
    assert (answer.code, "A lost key is a lost store" in answer.err) == (0, True), answer
    assert not is_plain(chat)
    answer = typed(["show", "trip-1"], PHRASE)
    assert (answer.code, "Which train?" in answer.out) == (0, True), answer
    assert PHRASE not in answer.err + answer.out
    answer = typed(["show", "trip-1"], "not the passphrase")
    assert (answer.code, "is not the one" in flat(answer.err)) == (6, True), answer
    answer = typed(["backups", "--check"], PHRASE)
    assert answer.code == 0, answer


# -- every other command -----------------------------------------------------------------------------------------------


def test_commands_work_on_an_encrypted_store(run: Run, locked: Path, tmp_path: Path) -> None:
    for words in (
        ["conversations"], ["show", "trip-1"], ["append", "trip-1", "More"], ["search", "train"], ["stats"], ["users"],
        ["migrate", "--check"], ["settle"], ["scan", "--all-users"], ["compact"], ["backup"], ["backups", "--check"],
        ["doctor"], ["reindex"], ["settings"], ["export-nothing"],
    ):  # fmt: skip
        answer = run(*words)
        assert answer.code == (2 if words == ["export-nothing"] else 0), (words, answer)
    assert "schema" in run("migrate", "--check").out


def test_restore(run: Run, locked: Path) -> None:
    backup = backups(locked)[0]
    assert run("append", "trip-1", "Later").code == 0
    answer = run("restore", str(backup), "--yes")
    assert answer.code == 0, answer
    assert not is_plain(locked)
    assert "Later" not in run("show", "trip-1").out
    assert not any(is_plain(p) for p in locked.parent.glob("*.aside"))


def test_doctor_with_and_without_the_key(
    run: Run, locked: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = locked.read_bytes()
    answer = run("doctor")
    assert (answer.code, "All is well." in answer.out) == (0, True), answer
    assert "an encrypted store" in answer.out
    monkeypatch.delenv("RECOLLECT_KEY_FILE")
    answer = run("doctor")
    assert answer.code == 6
    assert "none was found" in answer.out
    assert "Without its key nobody can say" in flat(answer.out)
    assert "salvage" not in answer.out
    assert "All is well" not in answer.out
    wrong = tmp_path / "wrong.key"
    keys.save_file(keys.Key.new(), str(wrong))
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(wrong))
    answer = run("doctor")
    assert (answer.code, "not the one of this file" in answer.out) == (6, True)
    assert locked.read_bytes() == before


@pytest.mark.parametrize("what", ["the first page", "a page"])
def test_doctor_saves_a_damaged_one(run: Run, locked: Path, tmp_path: Path, what: str) -> None:
    with recollect.open(locked, key_file=os.environ["RECOLLECT_KEY_FILE"]) as store:
        c = store.create("long")
        store.append_many(c, [{"role": "user", "text": f"message {n}"} for n in range(400)])
    content = bytearray(locked.read_bytes())
    start = 0 if what == "the first page" else 3 * 4096
    content[start : start + 4096] = bytes(4096)
    locked.write_bytes(content)
    answer = run("doctor")
    assert (answer.code, "--salvage" in answer.out) == (6, True), answer
    out = tmp_path / "saved.db"
    answer = run("doctor", "--salvage", str(out))
    assert answer.code == 0, answer
    assert not is_plain(out)
    assert run("restore", str(out), "--yes").code == 0
    assert run("doctor").code == 0
