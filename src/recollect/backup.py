"""Backups of a store's file: made while it is in use, read back before they are called good, put back with care.

`make` copies a snapshot page by page, while writers go on. `restore` verifies the backup first and keeps the present
file aside. `scheduled` is the job behind `backup_every` and `backup_keep`. Postgres has tools of its own for all of
this: docs/how-to/postgres.md.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from . import ids
from .db import file
from .db.points import reach
from .db.sqlite import SQLite
from .errors import AlreadyExists, NotFound, Refused
from .model import Backup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .db import Database
    from .model import Progress


def make(db: Database, to: Path, progress: Progress | None = None) -> Backup:
    """A verified copy of the store at `to`, which must not exist yet."""
    if not isinstance(db, SQLite):
        raise Refused(f"{db.location} is backed up with pg_dump; see docs/how-to/postgres.md.")
    if to.exists():
        raise AlreadyExists(f"{to} exists already; a backup never overwrites. Choose another name.")
    file.make_folder(str(to.parent))
    part = to.with_name(f"{to.name}.{os.getpid()}.part")
    try:
        db.copy(str(part), progress)
        reach("backup copied")
        events = check(part)
        reach("backup verified")
        part.replace(to)
        file.sync_folder(str(to.parent))
    finally:
        part.unlink(missing_ok=True)
    return Backup(to, to.stat().st_size, events, ids.now())


def check(path: Path) -> int:
    """The number of events in a backup that is sound; Damaged or Refused when it is not."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    return file.inspect(str(path))


def restore(backup: Path, to: Path, progress: Progress | None = None) -> Path | None:
    """Put a backup in the place of a store. Returns where the present file was set aside, None if there was none.

    Refused while another process has the store open: it would go on writing into the file that was set aside.
    """
    check(backup)
    aside = file.replace(str(backup), str(to), progress)
    return Path(aside) if aside else None


def scheduled(db: Database, every_ms: int, keep: int) -> Path | None:
    """Make a backup in `backups` beside the store if the newest one is old enough, and let the oldest go."""
    path = Path(db.location)
    folder = path.parent / "backups"
    now = ids.now()
    there = sorted(folder.glob(f"{path.stem}-*.db"), key=lambda p: p.name)
    if there and now - there[-1].stat().st_mtime_ns // 1_000_000 < every_ms * 0.9:
        return None
    stamp = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    made = make(db, folder / f"{path.stem}-{stamp}.db")
    for old in there[: max(0, len(there) + 1 - keep)]:
        old.unlink(missing_ok=True)
    return made.path
