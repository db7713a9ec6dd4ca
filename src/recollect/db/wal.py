"""The write-ahead log of an open file: how much waits in it, room in it, and its way into the file.

SQLite would move the log into the file inside of COMMIT, while somebody waits for that; the writer does so when it is idle,
and when the log has become long all the same.
"""

from __future__ import annotations

import os
import time

import apsw

from ..errors import FileReplaced, StoreBusy
from .file import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .cipher import Cipher
    from .place import Place

MAX_PAGES = 1_000  # past this the writer checkpoints even when it is not idle; a longer log makes syncs dearer
ROOM, PIECE = 1 << 20, 1 << 15  # bytes by which the log is made longer at once, and which are written in one go
GROWTHS = 4  # commits that made it longer before that: who writes one thing and leaves needs no room
TRUNCATE_SECONDS = 5.0


class Wal:
    """Of a file that this process writes to. To be used under the writer's lock, and the gate."""

    __slots__ = ("_before", "_grown", "_place", "pages")

    def __init__(self, place: Place) -> None:
        self._place = place
        self.pages = 0
        """How many wait in it to be moved into the file, as far as is known."""
        self._before = 0
        """Its size when the transaction began."""
        self._grown = 0
        """How often a commit has made it longer."""

    def count(self, connection: apsw.Connection) -> None:
        """What others have left in it. Whoever writes a little and is gone has no idle moment, as a hook; while somebody else
        has the file open, it would grow with each of them."""
        try:
            pages, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            self.pages = pages - moved
        except apsw.Error:
            pass  # who writes will hear of it

    def begun(self) -> None:
        """A transaction was begun: nobody else writes to the log now, nor makes it shorter."""
        if self._grown >= GROWTHS:
            self._make_room()
        try:
            self._before = os.stat(self._place.log).st_size
        except OSError:
            pass  # the commit will tell

    def committed(self, connection: apsw.Connection) -> None:
        """FileReplaced when it went into a file that nobody will find."""
        self._grown += self._place.size() > self._before
        self.pages += connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE, True)[0]

    def _make_room(self) -> None:
        """A sync of a file that has become longer is two: of what was written, and of where its end is now. So the log of who
        goes on writing is made longer by much at once, with zeros, which are no frame of a log and end it for every reader.
        Not where another file has taken the place of ours, whose log somebody else may be writing to at this moment."""
        self._grown = GROWTHS - 1  # once it is full, the next commit tells
        try:
            self._place.size()
            log = os.open(self._place.log, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                for _ in range(0, ROOM, PIECE):
                    os.write(log, bytes(PIECE))
            finally:
                os.close(log)
        except OSError:  # no room on the disk, or not for us: then it grows by what is written
            self._grown = -(1 << 30)
        except FileReplaced:
            pass  # the commit will tell

    def checkpoint(self, connection: apsw.Connection) -> None:
        """Move what waits into the file, as far as no reader needs it where it is."""
        self.pages = 0
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.Error:
            pass  # busy readers: the next idle moment will do


def truncate(path: str, cipher: Cipher | None) -> None:
    """Move all of it into the file, and make it empty: what was deleted is in there too."""
    connection = connect(path, cipher)
    try:
        connection.execute("select 1 from sqlite_schema").fetchall()  # unread, it would not know that there is a log
        # SQLite waits for readers and writers, but answers at once when another checkpoint is under way.
        until = time.monotonic() + TRUNCATE_SECONDS
        while True:
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                return
            except apsw.BusyError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
    except apsw.BusyError as e:
        raise StoreBusy(
            f"It is gone from {path}, but a long read in another program keeps the old write-ahead log alive, "
            "which still holds it. Close that program, then run `recollect compact`."
        ) from e
    finally:
        connection.close()
