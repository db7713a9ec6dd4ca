"""The files behind an open store, and whether they are still the ones at its path.

A file that is removed or replaced stays open for the programs that have it open: SQLite goes on writing to it, and nobody ever
finds what it writes there. So the writer looks at the path after each commit, before it answers, and a reader looks now and
then. Once another file was found, the store refuses everything until it is opened again. The write-ahead log and its index
(`-wal`, `-shm`) count as well: without them other processes do not see what this one commits.
"""

from __future__ import annotations

import os
import time

from .. import ids
from ..errors import FileReplaced, StoreClosed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LOOK_SECONDS = 0.01  # a look costs 5 us and a short read 27, so that readers look this often and not each time

Which = tuple[int, ...]


def which(*names: str) -> Which | None:
    """What tells these files from any others, as long as somebody has them open. None when one is not there."""
    try:
        found = [os.stat(name) for name in names]
    except OSError:
        return None
    return tuple(n for one in found for n in (one.st_dev, one.st_ino))


class Place:
    """Where an engine has its file open."""

    __slots__ = ("_looked_at", "_names", "_ours", "gone", "is_closing", "log")

    def __init__(self, path: str) -> None:
        # SQLite keeps the log beside the file itself, also where `path` is a link to it.
        self.log = os.path.realpath(path) + "-wal"
        self._names = (path, self.log, self.log[:-3] + "shm")
        self._ours: Which | None = None
        self._looked_at = 0.0
        self.gone: str | None = None
        """What was found instead of our files."""
        self.is_closing = False
        """SQLite removes the log with the last connection: a reader that is late by that must not take it for a stranger's deed."""

    def taken(self, opened: Which | None) -> None:
        """The store is open. `opened` is the file that was at the path just before; it has to be there still, and to be the
        first one's if this is not the first time."""
        before, self._ours = self._ours, which(*self._names)
        if self._ours is None or self._ours[:2] != opened or (before and before[:2] != opened):
            self._ours = (before or opened or ())[:2]
            self.refuse()

    def without_log(self) -> None:
        """The writer's connection was closed after a failed commit, and SQLite may have removed the log with it."""
        self._ours = (self._ours or ())[:2]

    def size(self) -> int:
        """The size of the log; FileReplaced when not all three files are ours."""
        path, log, index = self._names
        try:
            a, b, c = os.stat(path), os.stat(log), os.stat(index)
            found = (a.st_dev, a.st_ino, b.st_dev, b.st_ino, c.st_dev, c.st_ino)
        except OSError:
            found = None
        if found == self._ours and not self.gone:
            return b.st_size
        if self.gone or len(self._ours or ()) > 2 or which(path) != self._ours:
            self.refuse()
        return 0

    def now_and_then(self) -> None:
        """The same for readers."""
        now = time.monotonic()
        if self.gone or now - self._looked_at > LOOK_SECONDS:
            self.size()
            self._looked_at = now

    def has_lost_its_log(self) -> bool:
        """The file is ours and there is no log beside it: what is in ours, which only we have open, can still be saved."""
        return self._ours is not None and which(self._names[0]) == self._ours[:2] and which(self.log) is None

    def set_aside(self) -> None:
        """Another file has taken the place of ours, and our log still lies beside it: whoever opens that file would read our
        pages in the place of its own. The log goes aside under the gate. Without any file SQLite removes the log by itself."""
        path, log, index = self._names
        ours = self._ours or ()
        if which(path) in (None, ours[:2]) or which(log) != ours[2:4]:
            return
        try:
            os.replace(log, f"{log[:-4]}.{ids.now()}.aside-wal")
            if which(index) == ours[4:6]:
                os.unlink(index)  # SQLite makes it again from the log
        except OSError:
            pass  # not our folder any more

    def refuse(self) -> NoReturn:
        """Say which of the files is not there any more."""
        if self.is_closing:
            raise StoreClosed(f"{self._names[0]} was closed. Open it again with recollect.open().")
        if self.gone is None:
            self.gone = self._said()
        raise FileReplaced(self.gone)

    def _said(self) -> str:
        path, ours = self._names[0], self._ours or ()
        name, was = next(
            (
                (name, found)
                for name, mine in zip(self._names, (ours[:2], ours[2:4], ours[4:]), strict=True)
                if mine and (found := which(name)) != mine
            ),
            (path, ours[:2]),
        )
        fate = "was removed" if was is None else "was replaced by another file"
        outcome = (
            "What was being written is not in the file that this path names now."
            if name == path
            else "What was being written may be in the file or not: look before you repeat it."
        )
        return (
            f"{name} {fate} while the store was open. {outcome} Nothing more is read or written until you close the store and "
            f"open it again. First run `recollect doctor {path}`, which looks at what is there now; `recollect backups` lists what "
            "`recollect restore` can go back to."
        )
