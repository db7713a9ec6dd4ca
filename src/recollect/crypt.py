"""A store gets a key, another key, or none: `encrypt`, `rekey`, `decrypt`.

The file is never changed where it lies. A copy is made in a folder beside it that only its owner can enter, brought to its
new form there, read back row by row against the old one, and only then put in its place, in one rename. Killed at any
point, the store is as it was or as it should be; what is left of the copy goes at the next opening or the next try.

No other process may have the store open meanwhile. SQLite does neither for a file that is in use: `rekey` fails in WAL
mode, and its backup refuses to go from a plain file to an encrypted one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import apsw

from . import backup
from .db import file
from .db.cipher import Cipher, Key
from .db.gate import Gate
from .db.points import reach
from .db.writer import CONVERTING
from .errors import AlreadyExists, Damaged, NotEncrypted, NotFound, RecollectError, StorageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .model import Progress

    PathLike = str | os.PathLike[str]
    KeyLike = str | bytes | Key

__all__ = ["Converted", "decrypt", "encrypt", "rekey"]


class Converted(NamedTuple):
    """What was done."""

    path: Path
    events: int
    bytes: int
    backups: tuple[Path, ...]
    """Copies of the store that were brought to the same form."""
    left: tuple[tuple[Path, str], ...]
    """Copies that stayed as they were, and why."""
    changed: bool
    """False: the store itself had that form already."""


def encrypt(path: PathLike, key: KeyLike, *, backups: bool = True, progress: Progress | None = None) -> Converted:
    """Encrypt a plain store, and its backups. Again with the same key, it goes on where it was interrupted."""
    key = Key(key)  # out of the variables that a traceback could show
    return _convert(path, None, key.check(), backups, progress)


def decrypt(path: PathLike, key: KeyLike, *, backups: bool = True, progress: Progress | None = None) -> Converted:
    """Turn an encrypted store, and the backups of it that have its key, into plain files."""
    key = Key(key)
    return _convert(path, key.check(), None, backups, progress)


def rekey(
    path: PathLike, key: KeyLike, new: KeyLike, *, backups: bool = True, progress: Progress | None = None
) -> Converted:
    """Give an encrypted store, and the backups of it that have its key, another key. Both are the whole file's key:
    every page is written anew, so the old key opens nothing any more."""
    key, new = Key(key), Key(new)
    return _convert(path, key.check(), new.check(), backups, progress)


def _convert(path: PathLike, old: Key | None, new: Key | None, backups: bool, progress: Progress | None) -> Converted:
    name = os.path.realpath(os.path.expanduser(path))
    if not os.path.exists(name):
        raise NotFound(f"There is no store at {name}.")
    gate = Gate(name + ".lock")
    try:
        with gate.within(10):
            form = _Form(name, old, new)
            if form.is_done:
                events = file.inspect(name, new)
            else:
                file.alone_or_refuse(name, old)
                events = form.put(progress, gate)
                gate.note(form.target.header if form.target is not None else b"")
                reach("conversion noted")
            shutil.rmtree(name + CONVERTING, ignore_errors=True)
    finally:
        gate.close()
    done, left = _backups(Path(name), form, progress) if backups else ((), ())
    if form.is_done and new is None and not done and not left:
        raise NotEncrypted(f"{name} is not encrypted: there is nothing to decrypt.")
    if backups:
        left += tuple((copy, "it is not reachable now") for copy in backup.away(Path(name)))
    return Converted(Path(name), events, os.path.getsize(name), done, left, not form.is_done)


def _backups(
    store: Path, like: _Form, progress: Progress | None
) -> tuple[tuple[Path, ...], tuple[tuple[Path, str], ...]]:
    done: list[Path] = []
    left: list[tuple[Path, str]] = []
    for found in backup.found(store):
        try:
            shutil.rmtree(str(found.path) + CONVERTING, ignore_errors=True)  # of a try that was killed
            form = like.for_copy(str(found.path))
            if not form.is_done:
                form.put(_about(progress, found.path.name))
                done.append(found.path)
        except (RecollectError, OSError) as e:
            left.append((found.path, str(e)))
    return tuple(done), tuple(left)


def _about(progress: Progress | None, name: str) -> Progress | None:
    return None if progress is None else lambda what, done, of: progress(f"{name}: {what}", done, of)


class _Form:
    """One file on its way from one key to another."""

    def __init__(self, path: str, old: Key | None, new: Key | None, target: Cipher | None = None) -> None:
        self._path, self._old, self._new = path, old, new
        header = file.check_header(path)
        self.is_done = self._has_it(header)
        self.target = target
        if self.is_done:
            self.target = target or file.unlock(path, new)
            return
        if new is not None and old is None and header:
            raise AlreadyExists(f"{path} is encrypted already, with another key. `recollect rekey` gives it a new one.")
        self._source = file.unlock(path, old)
        self.target = target or (None if new is None else new.seal())

    def _has_it(self, header: bytes | None) -> bool:
        """Whether it is in the form that is wanted: of a try that was interrupted after the rename."""
        if self._new is None or not header:
            return self._new is None and header is None
        return self._new.unlock(header) is not None

    def for_copy(self, path: str) -> _Form:
        """The same for a backup; of one key, so that a passphrase is worked out once."""
        return _Form(path, None if file.check_header(path) is None else self._old, self._new, self.target)

    def put(self, progress: Progress | None, gate: Gate | None = None) -> int:
        """Make the new file, read it back, put it in the old one's place. Returns the number of events in it."""
        folder = self._path + CONVERTING
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder, 0o700)
        try:
            return self._put(os.path.join(folder, os.path.basename(self._path)), progress, gate)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _put(self, part: str, progress: Progress | None, gate: Gate | None) -> int:
        with file.translated(self._path):
            self._make(part, progress)
            reach("conversion copied")
            events = file.inspect(part, self._new)
            self._compare(part, progress)
            file_sync(part)
            reach("conversion verified")
        for suffix in ("-wal", "-journal"):
            if os.path.exists(self._path + suffix):
                raise StorageError(
                    f"{self._path}{suffix} is still there: open the store once, close it, then try again."
                )
        if gate is not None:
            gate.note(b"")  # what it says of the file's first bytes is true at every moment, or it says nothing
        os.replace(part, self._path)
        file.sync_folder(os.path.dirname(self._path))
        reach("conversion placed")
        return events

    def _make(self, part: str, progress: Progress | None) -> None:
        source = file.connect(self._path, self._source, apsw.SQLITE_OPEN_READONLY)
        try:
            # From key to key it never is in the clear. Where one of both is plain, SQLite does it in the copy.
            through = self.target if self._source is not None and self.target is not None else self._source
            file.copy(source, part, progress, through)
        finally:
            source.close()
        if through is self.target:
            return
        if progress:
            progress("encrypting" if self.target is not None else "decrypting", 0, 0)
        copy = file.connect(part, through)
        try:
            copy.pragma("temp_store", 2)
            copy.pragma("journal_mode", "off")  # nothing of it to roll back to: the folder is thrown away
            done = self.target.rekey(copy) if self.target is not None else _clear(copy)
        finally:
            copy.close()
        if not done:
            raise StorageError(
                f"SQLite could not convert {self._path}. It was left as it was. Is there room for a copy?"
            )

    def _compare(self, part: str, progress: Progress | None) -> None:
        """Every row of every table, old against new."""
        before = file.connect(self._path, self._source, apsw.SQLITE_OPEN_READONLY)
        after = file.connect(part, self.target, apsw.SQLITE_OPEN_READONLY)
        try:
            tables = _tables(before)
            if _tables(after) != tables:
                raise Damaged(f"The copy of {self._path} has other tables. The store was left as it was.")
            for i, (name, _) in enumerate(tables):
                if progress:
                    progress("comparing", i, len(tables))
                if not _same(before, after, name):
                    raise Damaged(f"The copy of {self._path} differs in {name}. The store was left as it was.")
            if progress:
                progress("comparing", len(tables), len(tables))
        finally:
            before.close()
            after.close()


def _clear(copy: apsw.Connection) -> bool:
    try:
        copy.pragma("rekey", "")
        return True
    except apsw.Error:
        return False


def _tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    found = connection.execute(
        "select name, sql from sqlite_schema where type = 'table' and sql not like 'create virtual%' order by name"
    )
    return [(str(name), str(sql)) for name, sql in found.fetchall()]


def _same(before: apsw.Connection, after: apsw.Connection, table: str) -> bool:
    asked = 'select * from "{}"'.format(table.replace('"', '""'))
    left, right = before.execute(asked), after.execute(asked)
    for row in left:
        if next(right, None) != row:
            left.close(True)
            right.close(True)
            return False
    return next(right, None) is None


def file_sync(path: str) -> None:
    fd = os.open(path, os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
