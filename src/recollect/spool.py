"""What arrives once and is read several times: in memory while it is small, then in an encrypted temporary file.

An import is checked before anything is written, so it is read more than once, and a pipe or a request cannot be read again.
What arrives is neither redacted nor encrypted yet. So the file's key is random and exists only in this process's memory, and
on POSIX the file has no name from its first byte on: a process that is killed leaves nothing that anyone could read.
"""

from __future__ import annotations

import io
import os
from typing import IO, TYPE_CHECKING

from . import sealed
from .db import file
from .db.cipher import Key

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    import apsw

IN_MEMORY = 1024 * 1024


class Spool:
    """`write` it, then read it with `reading()`."""

    def __init__(self) -> None:
        self.size = 0
        self._memory = io.BytesIO()
        self._pieces: apsw.Connection | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self._pieces is None and self.size <= IN_MEMORY:
            self._memory.write(data)
            return
        if self._pieces is None:
            self._pieces = self._opened()
            sealed.put(self._pieces, self._memory.getvalue())
            self._memory = io.BytesIO()
        sealed.put(self._pieces, data)

    def reading(self) -> IO[bytes]:
        """All that was written, from its beginning."""
        if self._pieces is None:
            self._memory.seek(0)
            return self._memory
        return sealed.pieces(self._pieces)

    def _opened(self) -> apsw.Connection:
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory(prefix="recollect-spool-", ignore_cleanup_errors=True)
        path = os.path.join(self._folder.name, "pieces")
        file.make_fresh(path)
        connection = file.connect(path, Key.new().seal())
        sealed.begin(connection)
        if os.name == "posix":  # elsewhere an open file keeps its name until it is closed
            self._folder.cleanup()
        return connection

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *exc: object) -> None:
        self._memory.close()
        if self._pieces is not None:
            self._pieces.close()
        if self._folder is not None:
            self._folder.cleanup()
