"""A disk that fails: the n-th write, truncation or sync of SQLite ends in an error, once or until it is mended.

A full disk takes the first half of a write and refuses the rest, as real ones do.
"""

from __future__ import annotations

import os
from typing import Any

import apsw

import recollect
from recollect.db import writer

from .harness import Say, check, checkpoint_often, texts

KINDS = {
    "full": ("write", apsw.FullError),
    "write error": ("write", apsw.IOError),
    "sync error": ("sync", apsw.IOError),
    "truncate error": ("truncate", apsw.IOError),
}


class Disk(apsw.VFS):
    """The default VFS of this process from now on."""

    def __init__(self) -> None:
        self.below = apsw.vfs_names()[0]
        self.left = 0
        self.verb = ""
        self.error: type[Exception] = apsw.IOError
        self.lasting = False
        self.failed = 0
        super().__init__("bad-disk", self.below, makedefault=True)

    def fail(self, kind: str, at: int, *, lasting: bool) -> None:
        self.verb, self.error = KINDS[kind]
        self.left, self.lasting, self.failed = at, lasting, 0

    def mend(self) -> None:
        self.left = 0
        self.verb = ""

    def fails(self, verb: str) -> bool:
        if verb != self.verb or self.left <= 0:
            return False
        self.left -= 1
        if self.left:
            return False
        self.failed += 1
        self.left = 1 if self.lasting else 0
        return True

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return File(self, name, flags)


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__(disk.below, name, flags)
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._disk.fails("write"):
            if self._disk.error is apsw.FullError:
                super().xWrite(data[: len(data) // 2], offset)
            raise self._disk.error("the disk of this test failed")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._disk.fails("sync"):
            raise self._disk.error("the disk of this test failed")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if self._disk.fails("truncate"):
            raise self._disk.error("the disk of this test failed")
        super().xTruncate(newsize)


def try_all(say: Say, folder: str, kind: str, lasting: bool, creating: bool, most: int) -> None:
    """Let the first, second, third ... operation fail until the work gets through without meeting the fault."""
    disk = Disk()
    checkpoint_often(16)
    for n in range(1, most + 1):
        path = os.path.join(folder, f"{n}.db")
        wrong, met, answers = one(disk, path, kind, n, lasting=lasting, creating=creating)
        say("round", n, answers, [line[:400] for line in wrong[:5]])
        for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
        if not met:
            return


def one(
    disk: Disk, path: str, kind: str, n: int, *, lasting: bool, creating: bool
) -> tuple[list[str], bool, dict[str, int]]:
    acked: dict[str, list[int] | None] = {}
    undone: list[str] = []
    answers: dict[str, int] = {}
    wrong: list[str] = []
    if creating:
        disk.fail(kind, n, lasting=lasting)
        try:
            recollect.open(path, user="alex", background=False).close()
            answers["opened"] = 1
        except recollect.errors.StorageError as e:
            answers[type(e).__name__] = 1
            wrong += [f"a full disk said {e!r}"] * (kind == "full" and not isinstance(e, recollect.errors.DiskFull))
        met = disk.failed > 0
        disk.mend()
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    store.append("c", role="user", text=texts("first", 1)[0])
    acked["first"] = [1]
    if not creating:
        disk.fail(kind, n, lasting=lasting)
        for i in range(10):
            tag = f"t{i}"
            size = 3 if i % 4 == 3 else 1
            try:
                events = store.append_many("c", [{"role": "user", "text": t} for t in texts(tag, size, 900 * (i % 3))])
                acked[tag] = [e.seq for e in events]
                name = "written"
            except recollect.errors.OutcomeUnknown:
                name = "OutcomeUnknown"  # there or not, but once, and whole
            except recollect.errors.StorageError as e:
                undone.append(tag)
                name = type(e).__name__
                if kind == "full" and not isinstance(e, recollect.errors.DiskFull):
                    wrong.append(f"a full disk said {e!r}")
            answers[name] = answers.get(name, 0) + 1
            if not store.read("c"):
                wrong.append("reads did not go on")
        met = disk.failed > 0
        disk.mend()
    for i in range(3):  # the disk is well again: work resumes, with the store that was open all the time
        acked[f"later{i}"] = [store.append("c", role="user", text=texts(f"later{i}", 1)[0]).seq]
    wrong += check(store, acked)
    there = {e.text.split(" ")[0] for e in store.read("c")}
    wrong += [f"an error said that nothing was written, but it is there: {tag}" for tag in undone if tag in there]
    store.close()
    with recollect.open(path, user="alex", background=False) as store:
        wrong += [f"after reopening: {line}" for line in check(store, acked)]
    return wrong, met, answers


def acknowledge_anyway(say: Say, path: str) -> None:
    """The control: a caller that takes an error for success."""
    disk = Disk()
    writer.IDLE_SECONDS = 3600  # a checkpoint in an idle moment could meet the one error first, and say nothing of it
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    disk.fail("full", 3, lasting=False)
    for i in range(3):
        try:
            store.append("c", role="user", text=texts(f"t{i}", 1)[0])
        except recollect.errors.DiskFull:
            say("full")
        say("ack", f"t{i}", None)
    store.close()
