"""A disk that loses its power: a VFS under the very code that users run, which knows what was synced and what was not.

Every write of SQLite goes to the real file, so the store runs as ever. Beside it the disk keeps, for each file, what was
synced and the writes since then. At a *cut* it says what a disk may hold after the power failed: all that was synced, and
of the rest any part - nothing, all, the beginning, or sectors of 512 bytes here and there, so that pages are torn and
later writes survive earlier ones. Names are kept like data: a file that was made or deleted is durable once its folder
was synced, which SQLite does with the first sync of a new journal or log; until then any number of the newest changes
of the folder may be missing.

A cut is a picture, not an end: the store works on, and one run gives many of them. Each is then opened as an ordinary file.
"""

from __future__ import annotations

import os
import random
import threading
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import apsw

import recollect

from .harness import Say, check, checkpoint_often, together, write_some

SECTOR = 512


class Inode:
    def __init__(self) -> None:
        self.synced = bytearray()
        self.pending: list[tuple[int, bytes | None]] = []
        """(offset, data), or (size, None) for a truncation."""
        self.syncs_folder = False

    def sync(self) -> None:
        for at, data in self.pending:
            apply(self.synced, at, data)
        self.pending = []

    def whole(self) -> bytes:
        """As the running program sees it."""
        content = bytearray(self.synced)
        for at, data in self.pending:
            apply(content, at, data)
        return bytes(content)

    def after_the_cut(self, rng: random.Random) -> bytes:
        content = bytearray(self.synced)
        mode = rng.choice(("nothing", "all", "beginning", "sectors", "sectors", "writes"))
        some = rng.random()
        end = rng.randint(0, len(self.pending))
        for i, (at, data) in enumerate(self.pending):
            if data is None:
                chance = {"nothing": 0.0, "all": 1.0, "beginning": float(i < end)}.get(mode, some)
                if rng.random() < chance:
                    apply(content, at, None)
                continue
            keep_write = rng.random() < some
            for start, sector in sectors(at, data):
                kept = {
                    "nothing": False,
                    "all": True,
                    "beginning": i < end or (i == end and rng.random() < 0.5),
                    "sectors": rng.random() < some,
                    "writes": keep_write,
                }[mode]
                if kept:
                    apply(content, start, sector)
        return bytes(content)


def apply(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
        return
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data


def sectors(at: int, data: bytes) -> list[tuple[int, bytes]]:
    parts = []
    end = at + len(data)
    start = at
    while start < end:
        stop = min(end, start // SECTOR * SECTOR + SECTOR)
        parts.append((start, data[start - at : stop - at]))
        start = stop
    return parts


class Cut(NamedTuple):
    files: dict[str, bytes]
    acked: dict[str, list[int] | None]
    erased: list[str]
    what: str


class Disk(apsw.VFS):
    """The default VFS of this process from now on, as far as `folder` goes; other files are left to the real one."""

    def __init__(self, folder: str, rng: random.Random, chance: float) -> None:
        self.folder = folder
        self.below = apsw.vfs_names()[0]
        self.lock = threading.RLock()
        self.rng = rng
        self.chance = chance
        self.names: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.changes: list[tuple[str, Inode | None]] = []
        self.cuts: list[Cut] = []
        self.acked: dict[str, list[int] | None] = {}
        self.erased: list[str] = []
        self.syncs = 0
        super().__init__("power-cut", self.below, makedefault=True)

    def change(self, name: str, inode: Inode | None) -> None:
        if inode is None:
            self.names.pop(name, None)
        else:
            self.names[name] = inode
        self.changes.append((name, inode))

    def sync_folder(self) -> None:
        self.durable = dict(self.names)
        self.changes = []

    def maybe_cut(self, what: str) -> None:
        if self.rng.random() >= self.chance:
            return
        there = dict(self.durable)
        for name, inode in self.changes[: self.rng.randint(0, len(self.changes))]:
            if inode is None:
                there.pop(name, None)
            else:
                there[name] = inode
        files = {name: inode.after_the_cut(self.rng) for name, inode in there.items()}
        self.cuts.append(Cut(files, dict(self.acked), list(self.erased), what))

    # -- what SQLite calls

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or os.path.dirname(path) != self.folder:
            return apsw.VFSFile(self.below, name, flags)
        with self.lock:
            self.maybe_cut(f"before opening {path}")
            if path not in self.names:
                inode = Inode()
                kind = flags[0]
                inode.syncs_folder = bool(kind & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))
                self.change(path, inode)
            return File(self, path, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        with self.lock:
            if name in self.names:
                self.maybe_cut(f"before deleting {name}")
                self.change(name, None)
                self.maybe_cut(f"after deleting {name}")
                if syncdir:
                    self.sync_folder()
            super().xDelete(name, syncdir)


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, path: str, name: Any, flags: list[int]) -> None:
        super().__init__(disk.below, name, flags)
        self._disk = disk
        self._path = path
        self._inode = disk.names[path]

    def xWrite(self, data: bytes, offset: int) -> None:
        with self._disk.lock:
            self._inode.pending.append((offset, bytes(data)))
            super().xWrite(data, offset)
            self._disk.maybe_cut(f"after a write to {self._path} at {offset}")

    def xTruncate(self, newsize: int) -> None:
        with self._disk.lock:
            self._inode.pending.append((newsize, None))
            super().xTruncate(newsize)
            self._disk.maybe_cut(f"after truncating {self._path}")

    def xSync(self, flags: int) -> None:
        with self._disk.lock:
            self._disk.syncs += 1
            self._disk.maybe_cut(f"before a sync of {self._path}")
            self._inode.sync()
            if self._inode.syncs_folder:
                self._inode.syncs_folder = False
                self._disk.sync_folder()
            self._disk.maybe_cut(f"after a sync of {self._path}")


# -- the work under which the power fails ----------------------------------------------------------------------------


def unsafe() -> None:
    """The control: the same code, with synchronous=OFF on the writer's connection."""
    from recollect.db.writer import Engine

    connect = Engine._connect_writer

    def without_syncs(self: Engine, path: str) -> apsw.Connection:
        connection = connect(self, path)
        connection.pragma("synchronous", "off")
        return connection

    Engine._connect_writer = without_syncs  # type: ignore[method-assign]


def work(disk: Disk, path: str, seed: int, most: int) -> None:
    session = 0
    while len(disk.cuts) < most:
        session += 1
        store = recollect.open(path, user="alex", background=False)
        for i in range(3):
            if session == 1:
                store.create(f"c{i}")

        def write(number: int, session: int = session, store: recollect.Store = store) -> None:
            rng = random.Random(seed * 31 + session * 7 + number)
            for n in range(rng.randint(1, 12)):
                if len(disk.cuts) >= most:
                    return
                tag = f"{session}.{number}.{n}"
                seqs = write_some(store, f"c{number}", rng, tag)
                with disk.lock:
                    disk.acked[tag] = seqs

        together(*(partial(write, i) for i in range(3)))
        if session % 2:
            name = f"gone-{session}"
            store.create(name)
            store.append(name, role="user", text=f"{name} 1/1 x")
            store.erase(conversation=name)
            with disk.lock:
                disk.erased.append(name)
        if session % 3 == 0:
            store.compact()
        store.close()


def cut_the_power(say: Say, folder: str, seed: int, cuts: int, safe: bool) -> None:
    """Make cuts, then open every one of them and say what is wrong with it."""
    if not safe:
        unsafe()
    checkpoint_often(24)
    at_work = os.path.join(folder, "work")
    os.mkdir(at_work)
    path = os.path.join(at_work, "chat.db")
    rng = random.Random(seed)
    # By turns: were it drawn, nearly all of the cuts could come before much was acknowledged.
    disk = Disk(at_work, rng, (0.01, 0.03, 0.1)[seed % 3])
    work(disk, path, seed, cuts)
    disk.unregister()
    for name, inode in disk.names.items():  # the model is right: it holds what the real files hold
        assert Path(name).read_bytes() == inode.whole(), f"{name} is not what the simulator thinks"
    say("syncs", disk.syncs)
    for i, cut in enumerate(disk.cuts[:cuts]):
        place = os.path.join(folder, f"cut-{i}")
        os.mkdir(place)
        for name, content in cut.files.items():
            Path(place, os.path.basename(name)).write_bytes(content)
        wrong = after(os.path.join(place, "chat.db"), cut)
        say("cut", cut.what.replace(at_work + "/", ""), len(cut.acked), [line[:300] for line in wrong[:4]])
        for file in Path(place).iterdir():
            file.unlink()


def after(path: str, cut: Cut) -> list[str]:
    try:
        with recollect.open(path, user="alex", background=False) as store:
            wrong = store._db.check()
            if wrong:  # with a cycle in a tree, reading on would never end
                return [f"integrity_check: {line}" for line in wrong]
            wrong = check(store, cut.acked)
            known = {c.id for c in store.conversations(limit=1000)}
            wrong += [f"erased, and back: {name}" for name in cut.erased if name in known]
            store.create("and-on-it-goes")
            store.append("and-on-it-goes", role="user", text="next 1/1 x")
            return wrong
    except recollect.RecollectError as e:
        return [f"{type(e).__name__}: {e}"]
