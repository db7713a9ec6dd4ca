"""encrypt, decrypt, rekey: the old file stays until the new one was read back, whoever has it open is not robbed of it, and
killed at any point the store is as it was or as it should be."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import recollect
from encryption.conftest import CANARY, PASSPHRASE, RAW, fill, leaks, opened
from recollect import crypt, keys
from recollect.db import file, points
from recollect.errors import (
    AlreadyExists,
    Damaged,
    DiskFull,
    MissingKey,
    NotARecollectFile,
    NotEncrypted,
    NotFound,
    RecollectError,
    StoreBusy,
    WrongKey,
)
from talk import exchange

OTHER = "b3" * 32


def everything(path: Path, key: Any) -> list[Any]:
    with opened(path, key) as store:
        assert store.verify().ok
        found: list[Any] = [store.memories(), store.stats().events]
        for c in sorted(store.conversations(), key=lambda c: c.id):
            found += [c, store.read(c, branch="*"), store.branches(c)]
        assert store.search(CANARY)
        return found


@pytest.fixture
def full(path: Path) -> Path:
    """A plain store with a canary in every field, and a backup."""
    with opened(path) as store:
        fill(store)
        store.backup(path.parent / "backups" / "chat-20261101-120000.db")
    return path


def names(path: Path) -> list[str]:
    return sorted(p.relative_to(path.parent).as_posix() for p in path.parent.rglob("*") if p.is_file())


# -- there and back ----------------------------------------------------------------------------------------------------


def test_there_another_key_and_back(full: Path) -> None:
    before = everything(full, None)
    files = names(full)
    done = crypt.encrypt(full, PASSPHRASE)
    assert (done.changed, done.left, len(done.backups)) == (True, (), 1)
    assert set(leaks(full.parent).values()) == {0}
    assert everything(full, PASSPHRASE) == before
    done = crypt.rekey(full, PASSPHRASE, RAW)
    assert set(leaks(full.parent).values()) == {0}
    with pytest.raises(WrongKey):
        opened(full, PASSPHRASE)
    assert everything(full, RAW) == before
    backup = full.parent / "backups" / "chat-20261101-120000.db"
    assert everything(backup, RAW) == before
    crypt.rekey(full, RAW, OTHER, backups=False)
    assert everything(backup, RAW) == before
    done = crypt.decrypt(full, OTHER)
    assert [p for p, _ in done.left] == [backup], "a backup of another key stays as it is"
    assert everything(full, None) == before
    assert full.stat().st_mode & 0o777 == 0o600
    assert set(files) <= set(names(full))
    assert not [n for n in names(full) if "converting" in n]


def test_progress_is_told(full: Path) -> None:
    told: list[tuple[str, int, int]] = []
    crypt.encrypt(full, RAW, progress=lambda *step: told.append(step))
    steps = [what for what, _, _ in told]
    assert steps.index("copying") < steps.index("encrypting") < steps.index("comparing")
    assert told[steps.index("copying")][2] > 0
    assert "chat-20261101-120000.db: copying" in steps
    told.clear()
    crypt.decrypt(full, RAW, progress=lambda *step: told.append(step))
    assert "decrypting" in [what for what, _, _ in told]


def test_again_is_no_harm(full: Path) -> None:
    crypt.encrypt(full, RAW, backups=False)
    before = full.read_bytes()
    done = crypt.encrypt(full, RAW)  # goes on with what was left
    assert (done.changed, len(done.backups)) == (False, 1)
    assert full.read_bytes() == before
    with pytest.raises(AlreadyExists, match="rekey"):
        crypt.encrypt(full, OTHER)
    assert crypt.rekey(full, RAW, RAW).changed is False
    crypt.decrypt(full, RAW)
    with pytest.raises(NotEncrypted):
        crypt.decrypt(full, RAW)
    with pytest.raises(NotEncrypted):
        crypt.rekey(full, RAW, OTHER)


# -- refused -----------------------------------------------------------------------------------------------------------


def test_refused_and_left_as_it_was(full: Path) -> None:
    with pytest.raises(NotFound):
        crypt.encrypt(full.with_name("nowhere.db"), RAW)
    crypt.encrypt(full, RAW)
    before = {name: (full.parent / name).read_bytes() for name in names(full)}
    for wrong in (lambda: crypt.decrypt(full, OTHER), lambda: crypt.rekey(full, PASSPHRASE, OTHER)):
        with pytest.raises(WrongKey):
            wrong()
    content = bytearray(before["chat.db"])
    content[5 * 4096 + 7] ^= 1
    full.write_bytes(content)
    with pytest.raises(Damaged):
        crypt.decrypt(full, RAW, backups=False)
    assert full.read_bytes() == content
    full.write_bytes(b"Dear diary" * 1000)
    with pytest.raises(NotARecollectFile):
        crypt.encrypt(full, RAW)
    full.write_bytes(before["chat.db"])
    assert {name: (full.parent / name).read_bytes() for name in names(full)} == before


HOLD = """
import sys, recollect
store = recollect.open(sys.argv[1], user="alex", key=sys.stdin.readline().strip() or None, background=False)
print(len(store.conversations()), flush=True)
sys.stdin.readline()
store.append(store.create(), role="user", text="still mine")
store.close()
"""


@pytest.mark.parametrize("key", [None, RAW])
def test_refused_while_another_process_has_it_open(full: Path, key: str | None) -> None:
    if key:
        crypt.encrypt(full, key, backups=False)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(full)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdin and other.stdout
        other.stdin.write(f"{key or ''}\n")
        other.stdin.flush()
        assert other.stdout.readline().strip()
        with pytest.raises(StoreBusy, match="another program"):
            crypt.rekey(full, key, OTHER) if key else crypt.encrypt(full, OTHER)
        other.communicate("\n", timeout=120)
        assert other.returncode == 0
    finally:
        other.kill()
        other.wait()
    with opened(full, key) as store:
        assert "still mine" in [e.text for c in store.conversations() for e in store.read(c)]


def test_refused_while_this_process_has_it_open(full: Path) -> None:
    with opened(full) as store, pytest.raises(StoreBusy):
        store.conversations()
        crypt.encrypt(full, RAW)
    crypt.encrypt(full, RAW)


def test_whoever_waits_to_open_it_finds_the_new_file(full: Path) -> None:
    """Opened in the middle of it, by a process that has no key: it waits, and is told what it needs."""
    before = everything(full, None)
    started: list[subprocess.Popen[str]] = []

    def hook(name: str) -> None:
        if name == "conversion copied" and not started:
            code = f"import recollect\nrecollect.open({str(full)!r}, user='alex', background=False, busy_timeout_ms=60_000)"
            started.append(subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True))
            time.sleep(1.5)

    points.hook = hook
    try:
        crypt.encrypt(full, RAW, backups=False)
    finally:
        points.hook = None
    assert "MissingKey" in started[0].communicate(timeout=120)[1]
    assert everything(full, RAW) == before


def test_a_copy_that_differs_is_not_taken(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(full, None)
    copy = file.copy

    def lossy(connection: Any, to: str, *rest: Any) -> None:
        copy(connection, to, *rest)
        import apsw

        damaged = apsw.Connection(to)
        damaged.execute("update events set text = 'other' where id = (select max(id) from events)").fetchall()
        damaged.close()

    monkeypatch.setattr(file, "copy", lossy)
    with pytest.raises(Damaged, match="differs in events"):
        crypt.encrypt(full, RAW)
    assert everything(full, None) == before
    assert not list(full.parent.rglob("*converting*"))


def test_no_room_for_the_copy(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import apsw

    def no_room(*said: Any) -> None:
        raise apsw.FullError("database or disk is full")

    before = everything(full, None)
    with monkeypatch.context() as patch, pytest.raises(DiskFull):
        patch.setattr(file, "copy", no_room)
        crypt.encrypt(full, RAW)
    assert everything(full, None) == before
    assert not list(full.parent.rglob("*converting*"))


# -- kill -9 -----------------------------------------------------------------------------------------------------------

WAYS = {
    "encrypt": (None, PASSPHRASE, "crypt.encrypt(path, new)"),
    "rekey": (PASSPHRASE, RAW, "crypt.rekey(path, old, new)"),
    "decrypt": (RAW, None, "crypt.decrypt(path, old)"),
}
DIE = """
import os, signal, sys, threading, time
from recollect import crypt
from recollect.db import points
path, old, new = sys.argv[1], sys.argv[2] or None, sys.argv[3] or None
said = sys.stdin.readline().split(":")
left = int(said[1]) if said[0] == "point" else -1
def hook(name):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
points.hook = hook
if said[0] == "time":
    threading.Thread(target=lambda: (time.sleep(float(said[1])), os.kill(os.getpid(), signal.SIGKILL)), daemon=True).start()
{work}
"""


def die(path: Path, way: str, when: str) -> bool:
    old, new, work = WAYS[way]
    done = subprocess.run(
        [sys.executable, "-c", DIE.format(work=work), str(path), old or "", new or ""],
        input=when, text=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == -signal.SIGKILL


def look(path: Path, way: str, before: list[Any]) -> None:
    """As it was or as it should be, and the same done again succeeds; then nothing is left over."""
    old, new, _ = WAYS[way]
    states = []
    for key in (old, new):
        try:
            states.append(everything(path, key) == before)
        except (WrongKey, MissingKey, NotEncrypted):
            pass
    assert states == [True], f"{way}: it opens with {len(states)} of both keys, and is the same: {states}"
    if way == "decrypt" and opens(path, old):
        assert set(leaks(path.parent).values()) == {0}, "what is left of a killed decryption is in the clear"
    try:
        if way == "encrypt":
            crypt.encrypt(path, new or "")
        elif way == "decrypt":
            crypt.decrypt(path, old or "")
        else:
            crypt.rekey(path, old or "", new or "")
    except NotEncrypted:
        assert way == "decrypt"
    assert everything(path, new) == before
    assert everything(path.parent / "backups" / "chat-20261101-120000.db", new) == before
    assert not list(path.parent.rglob("*converting*"))
    if new:
        assert set(leaks(path.parent).values()) == {0}


def opens(path: Path, key: str | None) -> bool:
    try:
        opened(path, key).close()
    except RecollectError:
        return False
    return True


def killed(folder: Path, way: str, moments: list[str]) -> int:
    """One store, killed at each of the moments. Returns how often the process did die."""
    first = folder / "first"
    first.mkdir()
    path = first / "chat.db"
    old, _, _ = WAYS[way]
    with opened(path, old) as store:
        c = store.create("c", title=CANARY)
        store.append_many(c, [{**e, "text": f"{CANARY} {e['text']}"} for e in exchange(40)])
        store.backup(first / "backups" / "chat-20261101-120000.db")
    before = everything(path, old)
    died = 0
    for i, moment in enumerate(moments):
        place = folder / str(i)
        shutil.copytree(first, place)
        died += die(place / "chat.db", way, moment)
        look(place / "chat.db", way, before)
        shutil.rmtree(place)
    return died


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is Posix's")
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_every_point(tmp_path: Path, way: str) -> None:
    assert killed(tmp_path, way, [f"point:{n}" for n in range(1, 6)]) == 5


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is Posix's")
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_any_time_fifty_times(tmp_path: Path, way: str) -> None:
    assert killed(tmp_path, way, [f"time:{0.2 + 0.01 * n:.3f}" for n in range(50)]) >= 10


def test_a_key_object_is_taken_as_it_is(full: Path) -> None:
    key = keys.Key.new()
    crypt.encrypt(full, key)
    with recollect.open(full, user="alex", key=key) as store:
        assert store.conversations()
