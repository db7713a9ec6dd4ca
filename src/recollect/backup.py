"""Backups of a store's file: made while it is in use, read back before they are called good, put back with care.

`make` copies a snapshot page by page, while writers go on. `restore` verifies the backup first and keeps the present
file aside. `scheduled` is the job behind `backup_every` and `backup_keep`; it removes only what it made itself. `found`
lists what there is to go back to, `away` what is on a disk that is not here now.

Stores in one folder share its `backups`. Which one a copy there is of, its name says: the store's, then the time. A backup
under any other name or in any other place is written down beside the store first: erasing and encrypting have to know of
it, and must not touch a neighbour's. Postgres has tools of its own for all of this: docs/how-to/postgres.md.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from . import ids
from .db import file
from .db.gate import Gate
from .db.points import reach
from .db.sqlite import SQLite
from .errors import AlreadyExists, NotFound, Refused
from .model import Backup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .db import Database
    from .db.cipher import Key
    from .model import Progress

FOLDER = "backups"
_STAMP = "%Y%m%d-%H%M%S"


class Found(NamedTuple):
    """A file that a store could be restored from."""

    path: Path
    kind: str
    """by hand, scheduled, before a migration, or set aside by a restore."""
    made_at: int
    bytes: int


def make(db: Database, to: Path, progress: Progress | None = None) -> Backup:
    """A verified copy of the store at `to`, which must not exist yet."""
    if not isinstance(db, SQLite):
        raise Refused(f"{db.location} is backed up with pg_dump; see docs/how-to/postgres.md.")
    to = to.absolute()
    if to.exists():
        raise AlreadyExists(f"{to} exists already; a backup never overwrites. Choose another name.")
    file.make_folder(str(to.parent))
    if db.path is not None:
        _write_down(Path(db.path), to)
    part = to.with_name(f"{to.name}.{os.getpid()}.part")
    try:
        db.copy(str(part), progress)
        reach("backup copied")
        events = check(part, db.key)
        reach("backup verified")
        part.replace(to)
        file.sync_folder(str(to.parent))
    finally:
        part.unlink(missing_ok=True)
    return Backup(to, to.stat().st_size, events, ids.now())


def check(path: Path, key: Key | None = None) -> int:
    """The number of events in a backup that is sound; Damaged or Refused when it is not. A backup of an encrypted store
    has its `key`."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    return file.inspect(str(path), key)


def restore(backup: Path, to: Path, progress: Progress | None = None, key: Key | None = None) -> Path | None:
    """Put a backup in the place of a store. Returns where the present file was set aside, None if there was none.

    Refused while another process has the store open: it would go on writing into the file that was set aside.
    """
    check(backup, key)
    aside = file.replace(str(backup.absolute()), str(to.absolute()), progress, key)
    return Path(aside) if aside else None


# -- which there are


def name(store: Path, *, scheduled: bool = False) -> Path:
    """What a backup made now is called: in `backups` beside the store, with the time (UTC)."""
    stamp = datetime.fromtimestamp(ids.now() / 1000, UTC).strftime(_STAMP)
    folder, end = store.parent / FOLDER, "-auto.db" if scheduled else ".db"
    path, n = folder / f"{_label(store)}-{stamp}{end}", 1
    while path.exists():
        n += 1
        path = folder / f"{_label(store)}-{stamp}-{n}{end}"
    return path


def _label(store: Path) -> str:
    """What the names of its backups begin with: `chat` for chat.db, `chat.sqlite` for chat.sqlite, `chat.` for a mere chat."""
    return store.stem if store.suffix == ".db" else store.name if store.suffix else f"{store.name}."


def found(store: Path) -> list[Found]:
    """Backups of a store, newest first: what is in `backups` beside it under its name, what migrations and restores left,
    and what was written down and is still there."""
    listed = []
    names = dict.fromkeys([store, Path(os.path.realpath(store))])  # a link may have another
    seen = {os.path.realpath(store)}  # a file may be reached in two ways, and a backup may have become the store
    beside = [(path, of) for of in names for folder in (of.parent / FOLDER, of.parent) for path in _files(folder)]
    for path, of in [*beside, *((path, None) for path in _written_down(store))]:
        try:
            made = _made(path, of) if of is not None else _by_hand(path) if path.is_file() else None
            real = os.path.realpath(path)
            if made is not None and real not in seen:
                listed.append(Found(path, *made, path.stat().st_size))
                seen.add(real)
        except OSError:
            continue  # gone meanwhile, or not ours to read
    return sorted(listed, key=lambda b: (b.made_at, b.path.name), reverse=True)


def shown(copy: Path, store: Path) -> str:
    """How a backup is called: by its name beside the store, elsewhere by its path."""
    return copy.name if copy.parent in (store.parent, store.parent / FOLDER) else str(copy)


def away(store: Path) -> list[Path]:
    """Backups that were made in a folder which is not here now, or does not let us in: of a disk that was taken out, they
    hold what they hold. One that is gone from a folder which is here was deleted."""
    return [p for p in _written_down(store) if _is_away(p)]


def _is_away(path: Path) -> bool:
    try:
        path.stat()
    except FileNotFoundError:
        return not os.path.isdir(path.parent)
    except OSError:
        return True
    return not os.access(path, os.R_OK)


def _places(store: Path) -> Path:
    """The list of backups elsewhere, or under a name of their own. Not in the store itself: one that is damaged has most
    need of it, and going back to a backup must not forget the later ones."""
    real = Path(os.path.realpath(store))
    return real.parent / FOLDER / f"{real.name}.elsewhere"


def _write_down(store: Path, to: Path) -> None:
    """Before the copy is begun, so that there is none that nobody knows of."""
    place, to = _places(store), Path(os.path.realpath(to))
    is_beside = to.parent == Path(os.path.realpath(place.parent))
    if is_beside and _named(to.name, Path(os.path.realpath(store))):
        return
    file.make_folder(str(place.parent))
    said = to.name if is_beside else str(to)  # a name alone is true after the folder was moved as well
    line = f"\n{json.dumps(said)}\n".encode()  # a line of its own, also behind one that was cut off
    fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        while line:
            line = line[os.write(fd, line) :]
        os.fsync(fd)
    finally:
        os.close(fd)
    file.sync_folder(str(place.parent))


def _written_down(store: Path) -> list[Path]:
    try:
        lines = _places(store).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    listed: dict[Path, None] = {}
    for line in lines:
        try:
            name = json.loads(line)
        except ValueError:
            continue  # a line that was cut off by a full disk: its backup was never begun
        if isinstance(name, str) and "\0" not in name:
            listed[_places(store).parent / name] = None
    return list(listed)


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.iterdir() if p.is_file()] if folder.is_dir() else []


def _made(path: Path, store: Path) -> tuple[str, int] | None:
    """How and when a file came to be, if it is a copy of the store."""
    if path.parent == store.parent:
        left = re.fullmatch(rf"{re.escape(store.name)}\.(?:(schema-\d+)\.(\d+)\.backup|(\d+)\.aside)", path.name)
        return (("before a migration", int(left[2])) if left[1] else ("set aside", int(left[3]))) if left else None
    made = _named(path.name, store)
    if made is None and not store.with_suffix(".db").exists():
        made = _named(path.name, store.with_suffix(".db"))  # once the ending of the store was not in the name
    return made


def _named(name: str, store: Path) -> tuple[str, int] | None:
    """What `name()` called so. From end to end: `chat-old-20261118-015748.db` is of chat-old.db, not of chat.db."""
    named = re.fullmatch(rf"{re.escape(_label(store))}-(\d{{8}}-\d{{6}})(?:-\d+)?(-auto)?\.db", name)
    try:
        at = datetime.strptime(named[1], _STAMP).replace(tzinfo=UTC) if named else None
    except ValueError:
        at = None  # a name that only looks like ours
    return ("scheduled" if named[2] else "by hand", round(at.timestamp() * 1000)) if named and at else None


def _by_hand(path: Path) -> tuple[str, int] | None:
    with path.open("rb") as f:
        header = f.read(72)
    ours = header.startswith(file.MAGIC) and int.from_bytes(header[68:72]) == file.APPLICATION_ID
    ours = ours or (header.startswith(file.ENCRYPTED) and len(header) == 72)
    return ("by hand", path.stat().st_mtime_ns // 1_000_000) if ours and path.suffix != ".part" else None


# -- the job


def scheduled(db: Database, every_ms: int, keep: int) -> int:
    """Make a backup if the newest one is old enough, and let the oldest of those made here go. Returns in how many
    milliseconds the next one is due."""
    if not isinstance(db, SQLite) or db.path is None:
        return every_ms  # a store in memory has no place beside it
    path = Path(db.path)
    folder = path.parent / FOLDER
    file.make_folder(str(folder))
    gate = Gate(str(folder / f".{path.name}.lock"))
    try:
        with gate:  # of two processes whose turn has come, the second finds the work done
            there = [b for b in found(path) if b.kind == "scheduled"]
            now = ids.now()
            # By the time in the name: copying a folder changes the files' own. One from the future is a clock's mistake.
            past = [b.made_at for b in there if b.made_at <= now]
            if past and now - past[0] < every_ms * 0.9:
                return past[0] + every_ms - now
            for left in folder.iterdir():
                part = re.fullmatch(r"(.+-auto\.db)\.\d+\.part", left.name)
                if part and _named(part[1], path):
                    left.unlink(missing_ok=True)  # of a process that was killed while it copied
            made = make(db, name(path, scheduled=True))
            kept = [b.path for b in there if b.path != made.path]
            for old in kept[keep - 1 :]:
                old.unlink(missing_ok=True)
    finally:
        gate.close()
    return every_ms
