"""An encrypted file of anything, an export for one: the same cipher, key and first bytes as an encrypted store.

    with sealed.writing("all.sealed", key) as f:
        store.export(f)
    with sealed.reading("all.sealed", key) as f:
        other.import_(f)

Inside it is a SQLite database with one table of pieces, so that nothing of the cipher is ours. It appears under its name
when it is whole.
"""

from __future__ import annotations

import io
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import apsw

from .db import file
from .db.cipher import Key
from .errors import AlreadyExists, MissingKey, NotARecollectFile, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    PathLike = str | os.PathLike[str]

__all__ = ["reading", "writing"]

APPLICATION_ID = 0x52434C58  # "RCLX"
PIECE = 1 << 16


class _Writer(io.RawIOBase):
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        put(self._connection, bytes(data))
        return len(data)


class _Reader(io.RawIOBase):
    """The pieces, one after the other. It can go back, so that an import has no need of a second, plain copy."""

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection, self._path = connection, path
        self._next, self._rest, self._at = 1, b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, to: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            to += self._at
        elif whence != os.SEEK_SET:
            raise io.UnsupportedOperation("An encrypted export is read from its beginning.")
        if to < self._at:
            self._next, self._rest, self._at = 1, b"", 0
        while self._at < to and self.read(min(to - self._at, PIECE)):
            pass
        return self._at

    def readinto(self, into: bytearray, /) -> int:  # type: ignore[override]
        if not self._rest:
            with file.translated(self._path):
                found = self._connection.execute("select data from pieces where no = ?", (self._next,)).fetchall()
            if not found:
                return 0
            self._next += 1
            self._rest = found[0][0]  # type: ignore[assignment]
        n = min(len(into), len(self._rest))
        into[:n], self._rest = self._rest[:n], self._rest[n:]
        self._at += n
        return n


def begin(connection: apsw.Connection) -> None:
    """The table of pieces, in a file that has nothing to roll back to: a part of one is thrown away."""
    connection.pragma("journal_mode", "off")
    connection.execute("begin; create table pieces (no integer primary key, data blob not null)").fetchall()


def put(connection: apsw.Connection, data: bytes) -> None:
    connection.execute("insert into pieces (data) values (?)", (data,)).fetchall()


def pieces(connection: apsw.Connection, path: str = "the temporary file") -> IO[bytes]:
    return io.BufferedReader(_Reader(connection, path), PIECE)  # type: ignore[type-var]


@contextmanager
def writing(path: PathLike, key: str | bytes | Key, *, replace: bool = False) -> Iterator[IO[bytes]]:
    """A binary file to write to, encrypted. What fails in between leaves no file."""
    key = Key(key)  # out of the variables that a traceback could show
    name = os.path.abspath(os.path.expanduser(path))
    if os.path.exists(name) and not replace:
        raise AlreadyExists(f"{name} exists already; choose another name.")
    cipher = key.seal()
    file.make_folder(os.path.dirname(name))
    part = f"{name}.{os.getpid()}.part"
    file.make_fresh(part)
    try:
        with file.translated(name):
            connection = file.connect(part, cipher)
            try:
                begin(connection)
                connection.pragma("application_id", APPLICATION_ID)
                with io.BufferedWriter(_Writer(connection), PIECE) as buffered:  # type: ignore[type-var]
                    yield buffered
                connection.execute("commit")
            finally:
                connection.close()
        os.replace(part, name)
        file.sync_folder(os.path.dirname(name))
    finally:
        if os.path.exists(part):
            os.unlink(part)


@contextmanager
def reading(path: PathLike, key: str | bytes | Key | None) -> Iterator[IO[bytes]]:
    """What `writing` wrote, as a binary file to read from. Wrong key, missing key, damaged and foreign are told apart."""
    key = None if key is None else Key(key)
    name = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(name):
        raise NotFound(f"There is no file {name}.")
    if not is_sealed(name):
        raise NotARecollectFile(f"{name} is not an encrypted export.")
    if key is None:
        raise MissingKey(f"{name} is encrypted and no key was given. Pass its key.")
    cipher = file.unlock(name, key)
    with file.translated(name):
        connection = file.connect(name, cipher, apsw.SQLITE_OPEN_READONLY)
        try:
            if connection.pragma("application_id") != APPLICATION_ID:
                raise NotARecollectFile(
                    f"{name} is an encrypted store, not an export: open it, or `recollect restore` it."
                )
            with pieces(connection, name) as buffered:
                yield buffered
        finally:
            connection.close()


def is_sealed(path: PathLike) -> bool:
    """Whether a file is encrypted by us: an export, or a store."""
    try:
        with open(path, "rb") as f:
            return f.read(3) == file.ENCRYPTED
    except OSError:
        return False
