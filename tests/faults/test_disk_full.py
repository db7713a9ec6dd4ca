"""The disk is full, or fails: a typed error, nothing acknowledged lost, reads go on, work resumes when there is space."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect import backup
from recollect.errors import DiskFull

from .baddisk import acknowledge_anyway, try_all
from .harness import acknowledged, caught, check, check_file, figures, inside, texts

SIZE = "4m"


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, leave: int = 0) -> None:
        """Take all space but `leave` bytes."""
        with contextlib.suppress(OSError), open(self.folder / "ballast", "ab", buffering=0) as f:
            while f.write(bytes(4096)):
                pass
        if leave:
            os.truncate(self.folder / "ballast", max(0, (self.folder / "ballast").stat().st_size - leave))

    def free(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of 4 MB: mounted where we may (CI runs as root), else in user space. Never skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        yield from quota(folder)
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def quota(folder: Path) -> Iterator[SmallDisk]:
    """Without the right to mount: an ext2 file system in a file."""
    image = folder.with_suffix(".img")
    with image.open("wb") as f:
        f.truncate(4 << 20)
    subprocess.run(["mke2fs", "-q", "-F", str(image)], check=True)
    subprocess.run(["fuse2fs", "-o", "rw,fakeroot", str(image), str(folder)], check=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["fusermount", "-u", str(folder)], check=True)


def write_until_full(store: recollect.Store, acked: dict[str, list[int] | None], name: str, padding: int) -> int:
    """Append until DiskFull; returns how often it said so before giving up (it must go on saying so)."""
    refused = 0
    n = 0
    while refused < 5:
        tag = f"{name}.{n}"
        n += 1
        assert n < 5_000, "the disk never became full"
        size = 4 if n % 5 == 0 else 1
        try:
            events = store.append_many("c", [{"role": "user", "text": t} for t in texts(tag, size, padding)])
            acked[tag] = [e.seq for e in events]
        except DiskFull:
            refused += 1
            there = [e.text.split(" ")[0] for e in store.read("c")]  # reads go on
            assert tag not in there
            assert len(store.messages("c", limit=5)) == min(5, len(there))
    return refused


def test_full_disk(small_disk: SmallDisk) -> None:
    path = small_disk.folder / "chat.db"
    acked: dict[str, list[int] | None] = {}
    small_disk.fill(leave=1_500_000)
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    refused = 0
    for i, padding in enumerate((2000, 100, 20_000)):
        refused += write_until_full(store, acked, f"w{i}", padding)
        assert check(store, acked) == []
        small_disk.free()
        acked[f"free{i}"] = [store.append("c", role="user", text=texts(f"free{i}", 1)[0]).seq]
        assert check(store, acked) == []
        small_disk.fill(leave=300_000)
    small_disk.free()
    store.close()
    assert check_file(path, acked) == []
    figures("disk-full", refused=refused, acknowledged=len(acked), lost=0)


def test_opening_and_reading_on_a_full_disk(small_disk: SmallDisk) -> None:
    """A store that was closed properly can be read when there is not one byte left."""
    path = small_disk.folder / "chat.db"
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
        store.append("c", role="user", text=texts("a", 1)[0])
    small_disk.fill()
    try:
        with recollect.open(path, user="alex", background=False) as store:
            with pytest.raises(DiskFull):
                store.append("c", role="user", text=texts("b", 1, 5000)[0])
            assert len(store.read("c")) == 1
    except DiskFull:
        pass  # not even the 32 KB of the WAL's index fit: said with its name
    small_disk.free()
    assert check_file(path, {"a": [1]}) == []


def test_creating_on_a_full_disk(small_disk: SmallDisk) -> None:
    path = small_disk.folder / "chat.db"
    for leave in (0, 4096, 16_384, 65_536, 100_000):
        small_disk.fill(leave=leave)
        with pytest.raises(DiskFull):
            store = recollect.open(path, user="alex", background=False)
            try:
                store.create("c")
                for n in range(200):
                    store.append("c", role="user", text=texts(f"{leave}.{n}", 1, 3000)[0])
            finally:
                store.close()
        small_disk.free()
        with recollect.open(path, user="alex", background=False) as store:
            assert check(store, {}) == []
            for c in store.conversations():
                store.erase(conversation=c)
        for file in small_disk.folder.glob("chat.db*"):
            file.unlink()


def test_backup_and_compact_on_a_full_disk(small_disk: SmallDisk) -> None:
    path = small_disk.folder / "chat.db"
    acked: dict[str, list[int] | None] = {}
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
        for n in range(25):
            acked[f"t{n}"] = [store.append("c", role="user", text=texts(f"t{n}", 1, 10_000)[0]).seq]
        store.compact()
        small_disk.fill(leave=200_000)
        with pytest.raises(DiskFull):
            store.backup(small_disk.folder / "copy.db")
        assert sorted(p.name for p in small_disk.folder.iterdir() if "copy" in p.name) == []
        with pytest.raises(DiskFull):
            store.compact()
        assert check(store, acked) == []
        small_disk.free()
        made = store.backup(small_disk.folder / "copy.db")
        store.compact()
        assert check(store, acked) == []
        small_disk.fill(leave=200_000)
    with pytest.raises(DiskFull):
        backup.restore(made.path, path)
    assert check_file(path, acked) == []
    small_disk.free()
    backup.restore(made.path, path)
    assert check_file(path, acked) == []


# -- every single operation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("creating", [False, True], ids=["appending", "creating"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "until mended"])
@pytest.mark.parametrize("kind", ["full", "write error", "sync error", "truncate error"])
def test_each_operation_fails_in_turn(tmp_path: Path, kind: str, lasting: bool, creating: bool) -> None:
    said = inside(try_all, str(tmp_path), kind, lasting, creating, 400, seconds=240)
    rounds = [line for line in said if line[0] == "round"]
    wrong = [line for line in rounds if line[3]]
    assert wrong == [], json.dumps(wrong[:5], indent=1)
    answers: dict[str, int] = {}
    for line in rounds:
        for name, count in line[2].items():
            answers[name] = answers.get(name, 0) + count
    if kind != "truncate error":
        assert len(rounds) > 3, "the fault was hardly ever met"
    name = f"bad-disk-{kind}-{'lasting' if lasting else 'once'}-{'creating' if creating else 'appending'}"
    figures(name.replace(" ", "-"), rounds=len(rounds), answers=answers, lost=0)


def test_control_an_error_taken_for_success_is_caught(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    said = inside(acknowledge_anyway, str(path))
    assert ["full"] in said
    assert [line for line in check_file(path, acknowledged(said)) if line.startswith("lost: ")]
    caught("disk", "an error taken for success")
