"""A file that is removed or replaced while a store has it open: nothing is acknowledged that nobody will find."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import crypt
from recollect.db import place
from recollect.errors import FileReplaced, RecollectError, Refused

KEY = "ab" * 32
ROUNDS = 30


@pytest.fixture(params=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {} if request.param == "plain" else {"key": KEY}


def opened(path: Path, **more: Any) -> recollect.Store:
    return recollect.open(path, user="alex", background=False, semantic=False, memory_extract=False, **more)


def texts(path: Path, conversation: str = "c", **more: Any) -> list[str]:
    """Everything in a store, by a store that was opened just now; it must be sound."""
    with opened(path, **more) as store:
        assert store.verify().problems == ()
        return [e.text for e in store.read(conversation, limit=10_000)]


def another_store(path: Path, **more: Any) -> None:
    """Of another history: what belongs to the first one would damage it."""
    with opened(path, **more) as store:
        store.create("c")
        store.append_many("c", [{"role": "user", "text": f"other {i} {'x' * 400}"} for i in range(100)])


def replace(path: Path, other: Path) -> None:
    os.replace(other, path)


def move_away(path: Path, other: Path) -> None:
    path.rename(path.with_name("moved.db"))
    shutil.copyfile(other, path)


def remove(path: Path, other: Path) -> None:
    path.unlink()


def remove_all(path: Path, other: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink()


def by_another_program(path: Path, other: Path) -> None:
    subprocess.run(["mv", str(other), str(path)], check=True)


def by_a_store_of_another_process(path: Path, other: Path) -> None:
    """It is removed, and another program begins a new one there and writes to it."""
    remove_all(path, other)
    script = (
        "import sys, recollect\n"
        "with recollect.open(sys.argv[1], user='alex', background=False, key=sys.argv[2] or None) as store:\n"
        "    store.create('c')\n"
        "    store.append('c', role='user', text='of the other process')\n"
    )
    encrypted = other.read_bytes()[:3] == b"RCE"
    subprocess.run([sys.executable, "-c", script, str(path), KEY if encrypted else ""], check=True)


def remove_folder(path: Path, other: Path) -> None:
    shutil.rmtree(path.parent)


WAYS = (replace, move_away, remove, remove_all, by_another_program, remove_folder)


def lose(folder: Path, way: Callable[[Path, Path], None], key: dict[str, Any], before: int) -> FileReplaced:
    """A store that is written to, and whose file goes: what the next append says."""
    path, other = folder / "chat.db", folder / "other.db"
    another_store(other, **key)
    store = opened(path, **key)
    try:
        store.create("c")
        for i in range(before):
            store.append("c", role="user", text=f"mine {i}")
        way(path, other)
        with pytest.raises(FileReplaced) as told:
            store.append("c", role="user", text="lost")
        for _ in range(2):
            with pytest.raises(FileReplaced):
                store.append("c", role="user", text="lost")
            with pytest.raises(FileReplaced):
                store.read("c")
    finally:
        store.close()
    return told.value


def test_nothing_is_acknowledged_that_went_into_a_file_that_is_gone(tmp_path: Path, key: dict[str, Any]) -> None:
    for n, way in zip(range(ROUNDS), itertools.cycle(WAYS), strict=False):
        folder = tmp_path / str(n)
        folder.mkdir()
        error = lose(folder, way, key, before=n % 7)
        assert str(folder / "chat.db") in str(error)
        assert "recollect doctor" in str(error) and "recollect restore" in str(error)
        if way in (remove, remove_all, remove_folder):
            assert "was removed" in str(error)
            with opened(folder / "chat.db", **key) as store:
                assert store.conversations() == []
        else:  # what lies there now is whole, and has nothing of the first one in it
            found = texts(folder / "chat.db", **key)
            assert len(found) == 100 and all(text.startswith("other") for text in found)


def test_what_another_process_wrote_into_the_new_file_stays(tmp_path: Path, key: dict[str, Any]) -> None:
    lose(tmp_path, by_a_store_of_another_process, key, before=5)
    assert texts(tmp_path / "chat.db", **key) == ["of the other process"]


def test_a_file_that_was_moved_away_is_whole(tmp_path: Path, key: dict[str, Any]) -> None:
    lose(tmp_path, move_away, key, before=5)
    (log,) = tmp_path.glob("chat.db.*.aside-wal")
    log.rename(tmp_path / "moved.db-wal")
    assert texts(tmp_path / "moved.db", **key)[:5] == [f"mine {i}" for i in range(5)]


@pytest.mark.parametrize("where", ["this process", "another process"])
def test_a_program_that_opens_the_new_file_too_early_leaves_it_whole(tmp_path: Path, where: str) -> None:
    """It finds the log of the first file beside the second one, and reads a mixture of both. With the next commit of the
    first store the log goes aside."""

    def way(path: Path, other: Path) -> None:
        replace(path, other)
        if where == "another process":
            run(f"import contextlib, recollect\nwith contextlib.suppress(recollect.RecollectError), "
                f"recollect.open({str(path)!r}, user='alex', background=False) as store: store.read('c')")  # fmt: skip
            return
        with contextlib.suppress(RecollectError), opened(path) as early:
            early.read("c")

    lose(tmp_path, way, {}, before=5)
    assert len(texts(tmp_path / "chat.db")) == 100


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_without_its_log_a_store_neither_writes_nor_reads(tmp_path: Path, key: dict[str, Any], suffix: str) -> None:
    for n in range(ROUNDS // 2):
        path = tmp_path / f"{n}.db"
        with opened(path, **key) as store:
            store.create("c")
            store.append_many("c", [{"role": "user", "text": f"mine {i}"} for i in range(20)])
            store.read("c")
            Path(f"{path}{suffix}").unlink()
            if n % 2:
                time.sleep(2 * place.LOOK_SECONDS)
                with pytest.raises(FileReplaced, match=rf"{suffix} was removed .*recollect doctor"):
                    store.read("c")
            with pytest.raises(FileReplaced, match=rf"{suffix} was removed"):
                store.append("c", role="user", text="perhaps")
            with pytest.raises(FileReplaced):
                store.read("c")
        # Nothing that was acknowledged is lost: what was in the log is brought into the file.
        assert texts(path, **key)[:20] == [f"mine {i}" for i in range(20)]


def test_readers_notice_as_well(tmp_path: Path, key: dict[str, Any]) -> None:
    path, other = tmp_path / "chat.db", tmp_path / "other.db"
    another_store(other, **key)
    with opened(path, **key) as store:
        store.create("c")
        store.append("c", role="user", text="mine")
        assert len(store.read("c")) == 1
        replace(path, other)
        time.sleep(2 * place.LOOK_SECONDS)
        with pytest.raises(FileReplaced):
            store.read("c")
        with pytest.raises(FileReplaced):
            store.append("c", role="user", text="lost")
    assert len(texts(path, **key)) == 100


def test_a_thread_that_begins_to_read_does_not_read_the_other_file(tmp_path: Path) -> None:
    path, other = tmp_path / "chat.db", tmp_path / "other.db"
    another_store(other)
    with opened(path) as store:
        store.create("c")
        store.append("c", role="user", text="mine")
        store.read("c")
        replace(path, other)
        found: list[Any] = []

        def read() -> None:
            try:
                found.append([e.text for e in store.read("c")])
            except RecollectError as e:
                found.append(type(e))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        assert found == [FileReplaced]


def test_everyone_whose_append_was_in_that_commit_is_told(tmp_path: Path) -> None:
    path, other = tmp_path / "chat.db", tmp_path / "other.db"
    another_store(other)
    answers: list[str] = []
    with opened(path) as store:
        store.create("c")
        go = threading.Barrier(9)

        def write(n: int) -> None:
            go.wait()
            for i in range(200):
                try:
                    store.append("c", role="user", text=f"{n} {i}")
                    answers.append("acknowledged after" if gone.is_set() else "acknowledged")
                except FileReplaced:
                    answers.append("told")

        gone = threading.Event()
        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        go.wait()
        time.sleep(0.05)
        replace(path, other)
        late = store  # whatever begins from here on has to be told
        for _ in range(5):
            with pytest.raises(FileReplaced):
                late.append("c", role="user", text="late")
        gone.set()
        for thread in threads:
            thread.join()
    assert "told" in answers
    assert "acknowledged after" not in answers
    assert len(texts(path)) == 100


def test_a_link_to_a_file_is_watched_like_the_file(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    real, link = tmp_path / "disk" / "real.db", tmp_path / "chat.db"
    link.symlink_to(real)
    with opened(real) as first:
        first.create("c")
    with opened(link) as store:
        store.append("c", role="user", text="through the link")
        Path(f"{real}-wal").unlink()
        with pytest.raises(FileReplaced):
            store.append("c", role="user", text="perhaps")
    assert texts(real)[:1] == ["through the link"]


def test_our_own_ways_to_exchange_a_file_go_on_working(tmp_path: Path) -> None:
    """None of them does it under an open store, in whichever process; those that leave the file in place may."""
    path = tmp_path / "chat.db"
    with opened(path) as store:
        store.create("c")
        store.append_many("c", [{"role": "user", "text": f"mine {i} {'x' * 500}"} for i in range(100)])
        store.backup(tmp_path / "backup.db")
        store.append("c", role="user", text="after the backup")
        store.delete_event("c", 50)
        store.compact()
        store.append("c", role="user", text="after VACUUM")
        run(
            f"import recollect.administration, recollect\nwith recollect.open({str(path)!r}, user='alex') as s: s.compact()"
        )
        store.append("c", role="user", text="after that of another process")
        assert len(store.read("c", limit=1000)) == 102
    command(path, "restore", str(tmp_path / "backup.db"), "--yes")
    with opened(path) as store:
        store.append("c", role="user", text="after restore")
        assert len(store.read("c", limit=1000)) == 101
    crypt.encrypt(path, KEY)
    crypt.rekey(path, KEY, "cd" * 32)
    with opened(path, key="cd" * 32) as store:
        store.append("c", role="user", text="after rekey")
    crypt.decrypt(path, "cd" * 32)
    with opened(path) as store:
        store.append("c", role="user", text="after decrypt")
        assert len(store.read("c", limit=1000)) == 103


def run(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True)


def command(path: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "recollect.cli", "-d", str(path), *words], check=True)


@pytest.mark.parametrize("what", ["", "-wal", "-shm", "-journal"])
def test_a_file_that_another_account_left_there_is_not_written_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = tmp_path / "chat.db"
    planted = tmp_path / f"chat.db{what}"
    planted.touch(mode=0o666)
    if (uid := os.geteuid()) == 0:
        os.chown(planted, 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.raises(Refused, match="another account"):
        opened(path)
    assert planted.stat().st_size == 0
    assert [p.name for p in tmp_path.iterdir()] == [planted.name]
