"""A store's file: found fit to be written on, opened, migrated, copied, put in the place of another.

Everything here happens before a store is served, or beside it. Nothing is written before the file was found to be ours:
a foreign file, a newer schema, an old SQLite or a network file system is refused and left as it was.
"""

from __future__ import annotations

import os
import threading

import apsw

from .. import ids
from ..errors import (
    AlreadyExists,
    Damaged,
    DiskFull,
    MissingKey,
    NetworkFilesystem,
    NewerSchema,
    NotARecollectFile,
    NotEncrypted,
    RecollectError,
    Refused,
    SQLiteTooOld,
    StorageError,
    StoreBusy,
    TooLarge,
    WrongKey,
)
from . import migrate
from .gate import Gate, network_filesystem
from .points import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model import Progress
    from .cipher import Cipher, Key

APPLICATION_ID = 0x52434C54  # "RCLT"
MAGIC = b"SQLite format 3\0"
ENCRYPTED = b"RCE"  # how an encrypted store begins; `cipher` has the rest


def check_library() -> None:
    version = tuple(int(n) for n in apsw.sqlite_lib_version().split("."))
    if version < (3, 51, 3):
        raise SQLiteTooOld(
            f"SQLite {apsw.sqlite_lib_version()} is inside the range of the WAL-reset bug that corrupts databases "
            "(3.7.0 to 3.51.2). Upgrade: pip install -U apsw-sqlite3mc"
        )


def prepare(path: str, key: Key | None = None) -> Cipher | None:
    """Refuse what must not be written on, then make the folder and an empty file that only its user can read. Returns
    what the file's connections are opened with."""
    folder = os.path.dirname(path)
    there = folder
    while not os.path.exists(there) and there != os.path.dirname(there):
        there = os.path.dirname(there)
    kind = network_filesystem(there)
    if kind:
        raise NetworkFilesystem(
            f"{path} lies on a network file system ({kind}), where SQLite's locks do not hold. Use a local disk, or "
            "Postgres for many machines."
        )
    if os.path.isdir(path):
        raise NotARecollectFile(f"{path} is a folder. Name a file in it, for example {os.path.join(path, 'chat.db')}.")
    refuse_planted(path)
    if os.path.exists(path) and os.path.getsize(path):
        return unlock(path, key)
    try:
        make_folder(folder)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as e:
        raise Refused(f"{path} cannot be made ({e.strerror}). Check that you own its folder.") from e
    reach("file made")
    return None if key is None else _make_encrypted(path, key)


def refuse_planted(path: str) -> None:
    """In a folder where others may make files, one of them may have left an empty store or a log there before us, which they own
    and so can read: everything that is written goes through the log."""
    if not hasattr(os, "geteuid"):
        return
    owners = {os.geteuid(), 0}
    real = os.path.realpath(path)
    for name in (real, f"{real}-wal", f"{real}-shm", f"{real}-journal"):
        try:
            found = os.stat(name, follow_symlinks=False)
        except OSError:
            continue
        if name == real and found.st_size:
            owners.add(found.st_uid)  # a store of somebody who lets us in
        elif found.st_uid not in owners:
            raise Refused(
                f"{name} belongs to another account, which could read what is written here. Nothing was written. Keep the store"
                " in a folder that is yours alone, or remove that file."
            )


def _make_encrypted(path: str, key: Key) -> Cipher | None:
    """The first page of an encrypted store, under the gate: two processes at once would choose two salts."""
    cipher = key.seal()
    gate = Gate(path + ".lock")
    try:
        with gate.within(10), translated(path):
            if not os.path.getsize(path):
                connection = connect(path, cipher)
                try:
                    build(connection, 0)
                finally:
                    connection.close()
    finally:
        gate.close()
    return unlock(path, key)


def unlock(path: str, key: Key | None) -> Cipher | None:
    """What the connections of a file are opened with: None if it is plain. Refused when it is not ours, or not with this
    key; the file is only read."""
    header = check_header(path)
    if header is None and key is None:
        return None
    if header == b"":  # half created: SQLite mends it, and what it mends is nothing yet
        return None if key is None else key.seal()
    from .cipher import unlocked

    return unlocked(path, header, key)


def make_folder(folder: str) -> None:
    """A folder, and those above it that are missing, for its user alone. (makedirs gives the mode to the last one only.)"""
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass  # made by another process meanwhile


def check_header(path: str) -> bytes | None:
    """Refuse what is not a store. Returns None for a plain file, the first bytes of an encrypted one, and none at all of
    one that is half created."""
    try:
        with open(path, "rb") as f:
            header = f.read(100)
    except OSError as e:
        raise Refused(f"{path} cannot be read ({e.strerror}). Check that you own it.") from e
    if not header.strip(b"\0") and os.path.exists(path + "-journal"):
        return b""  # half created, with the journal that SQLite mends it by
    if header.startswith(ENCRYPTED) and len(header) == 100:
        return header[:16]
    if not header.startswith(MAGIC):
        raise NotARecollectFile(
            f"{path} is not a SQLite database. It was left untouched; choose another path. If it was a store and is "
            f"damaged: `recollect doctor {path}` says what to do."
        )
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise NotARecollectFile(
            f"{path} is a SQLite database of another program. It was left untouched; choose another path."
        )
    _refuse_newer(int.from_bytes(header[60:64]), path)
    return None


def _refuse_newer(version: int, path: str) -> None:
    if version > migrate.LATEST:
        raise NewerSchema(
            f"{path} has schema {version}; this Recollect knows {migrate.LATEST}. It was left untouched. "
            "Upgrade: git pull && pip install ."
        )


connecting = threading.Lock()
"""Held while a connection is opened: SQLite's global locks must not be copied by a fork while they are taken."""


def connect(path: str, cipher: Cipher | None = None, flags: int = apsw.SQLITE_OPEN_READWRITE) -> apsw.Connection:
    with connecting:
        connection = apsw.Connection(path, flags)
    if cipher is not None:
        try:
            cipher.apply(connection)
        except BaseException:
            connection.close()
            raise
    connection.set_busy_timeout(5_000)  # for foreign programs and recovery; ours queue at the gate
    return connection


def version_of(connection: apsw.Connection, path: str) -> int:
    """The schema of an open file. Both questions in one snapshot: another process may be creating it at this moment."""
    connection.execute("begin")
    try:
        version = int(connection.pragma("user_version"))
        is_empty = not connection.execute("select 1 from sqlite_schema limit 1").fetchall()
    finally:
        if connection.in_transaction:
            connection.execute("commit")
    _refuse_newer(version, path)
    if version == 0 and not is_empty:
        raise NotARecollectFile(f"{path} is a SQLite database of another program. It was left untouched.")
    return version


def check_ours(connection: apsw.Connection, path: str) -> None:
    """What the header of a plain file says in the clear."""
    if connection.pragma("application_id") not in (0, APPLICATION_ID):
        raise NotARecollectFile(
            f"{path} is a SQLite database of another program. It was left untouched; choose another path."
        )


def bring_up_to_date(connection: apsw.Connection, path: str, version: int, cipher: Cipher | None = None) -> None:
    if version:
        aside = f"{path}.schema-{version}.{ids.now()}.backup"
        copy(connection, aside, cipher=cipher)
        reach("migration backed up")
    build(connection, version)
    if version:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def build(connection: apsw.Connection, version: int) -> None:
    for number, script in migrate.scripts("sqlite", version):
        connection.execute("begin immediate")
        try:
            for _ in connection.execute(script):  # lazily executed: exhaust it, or it stops at the first row
                pass
            connection.pragma("user_version", number)
            connection.pragma("application_id", APPLICATION_ID)
            reach("schema built")
            connection.execute("commit")
            reach("schema committed")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled back already
                connection.execute("rollback")
            raise


def copy(connection: apsw.Connection, to: str, progress: Progress | None = None, cipher: Cipher | None = None) -> None:
    """A copy that only its user can read, with nothing left in a log beside it; encrypted if what is copied is."""
    make_fresh(to)
    target = apsw.Connection(to, apsw.SQLITE_OPEN_READWRITE)
    try:
        if cipher is not None:
            cipher.apply(target)
        with target.backup("main", connection, "main") as job:
            while not job.done:
                job.step(512)
                if progress:
                    progress("copying", job.page_count - job.remaining, job.page_count)
        target.pragma("journal_mode", "delete")
    finally:
        target.close()


def make_fresh(path: str) -> None:
    """An empty file that only its user can read, made now: what lay there is removed, and no link is followed. The folder may
    be one that others can write to, and the name one that they can guess."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600))


def inspect(path: str, key: Key | None = None) -> int:
    """The number of events in a store's file, after reading all of it; Damaged or Refused if it is not sound. The file
    is opened read-only, as it lies there."""
    cipher = unlock(path, key)
    with translated(path, reads=True):
        connection = connect(path, cipher, apsw.SQLITE_OPEN_READONLY)
        try:
            version_of(connection, path)
            if cipher is not None:
                check_ours(connection, path)
            found = [str(row[0]) for row in connection.execute("pragma integrity_check")]
            if found != ["ok"]:
                raise Damaged(
                    f"{path} is damaged: {found[0]}. `recollect doctor {path}` says how to save what is readable."
                )
            return int(connection.execute("select count(*) from events").fetchall()[0][0])  # type: ignore[arg-type]
        finally:
            connection.close()


def replace(backup: str, path: str, progress: Progress | None, key: Key | None = None) -> str | None:
    """Put a verified file in the place of a store's, which is set aside. Only with no one else there."""
    import shutil

    aside: str | None = None
    make_folder(os.path.dirname(path))
    gate = Gate(path + ".lock")
    try:
        with gate.within(10), translated(path):
            part = path + ".part"
            cipher = unlock(backup, key)
            source = connect(backup, cipher, apsw.SQLITE_OPEN_READONLY)
            try:
                copy(source, part, progress, cipher)
            except BaseException:
                os.unlink(part)
                raise
            finally:
                source.close()
            if os.path.exists(path):
                aside = f"{path}.{ids.now()}.aside"
                alone_or_refuse(path, key)
                # The name is never without a file: a program that opened it in between would start an empty store.
                try:
                    os.link(path, aside)
                except OSError:  # a file system without links
                    shutil.copyfile(path, aside)
                for suffix in ("-wal", "-shm"):  # there only if it was too damaged to be closed; never for the new one
                    if os.path.exists(path + suffix):
                        os.replace(path + suffix, aside + suffix)
                reach("restore set aside")
            gate.note(b"")  # its salt, if it had one; the next opening notes the new one
            os.replace(part, path)
            sync_folder(os.path.dirname(path))
    finally:
        gate.close()
    return aside


def sync_folder(folder: str) -> None:
    if os.name == "posix":  # a rename is durable only with its folder; Windows has no such call
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def alone_or_refuse(path: str, key: Key | None = None) -> None:
    """Leaving WAL mode needs every other connection to be closed, so it tells whether there are any. It also moves what
    is in the log into the file."""
    try:
        cipher = unlock(path, key)
    except (NotARecollectFile, MissingKey, WrongKey, NotEncrypted, Damaged):
        return _nobody_there(path)
    connection = connect(path, cipher)
    connection.set_busy_timeout(1_000)
    try:
        connection.pragma("journal_mode", "delete")
    except (apsw.BusyError, apsw.LockedError) as e:
        raise _in_use(path) from e
    except apsw.Error:
        pass  # too damaged for that: it is set aside as it is
    finally:
        connection.close()


def _nobody_there(path: str) -> None:
    """The same for a file that SQLite cannot read: everyone who has it open as a store holds a lock on it."""
    try:
        held = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
        try:
            for level in (apsw.SQLITE_LOCK_SHARED, apsw.SQLITE_LOCK_RESERVED, apsw.SQLITE_LOCK_EXCLUSIVE):
                held.xLock(level)
            held.xUnlock(apsw.SQLITE_LOCK_NONE)
        finally:
            held.xClose()
    except (apsw.BusyError, apsw.LockedError) as e:
        raise _in_use(path) from e


def _in_use(path: str) -> StoreBusy:
    return StoreBusy(
        f"{path} is open in another program (`recollect doctor {path}` says which). Close it, then try again."
    )


def fails_all(error: BaseException) -> bool:
    """Errors that say the disk or the file is in trouble: no request of the batch may be called done."""
    return isinstance(error, (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.NoMemError, apsw.NotADBError))


class translated:
    """`with translated(location):` turns apsw's errors into ours, once. (contextlib's decorator costs an import and 1 us.)"""

    __slots__ = ("_location", "_reads")

    def __init__(self, location: str, *, reads: bool = False) -> None:
        self._location = location
        self._reads = reads

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: object) -> None:
        if self._reads and isinstance(e, (apsw.NoMemError, MemoryError)) and _asks_too_much(self._location):
            raise Damaged(
                f"{self._location} is damaged: to read it, more memory is needed than all of it takes, so a length in it is not "
                f"what was written. `recollect doctor {self._location}` says how to save what is readable."
            ) from e
        if isinstance(e, apsw.Error):
            raise _translate(e, self._location) from e
        if isinstance(e, UnicodeDecodeError):
            raise Damaged(
                f"A text in {self._location} does not read back as it was written. "
                f"`recollect doctor {self._location}` says where."
            ) from e


def _asks_too_much(location: str) -> bool:
    """SQLite got no memory to read a file. When there is room for all of the file, it is not the machine that has too little."""
    try:
        bytearray(os.path.getsize(location))
    except (OSError, MemoryError):
        return False
    return True


# How SQLite, and FTS5 reading the definition and the settings of our index, say that the schema is not ours any more.
_LOST = (
    "no such table",
    "no such column",
    "no such index",
    "malformed database schema",
    "unsupported file format",
    "invalid fts5 file format",
    "parse error in",
    "unrecognized ",
    "no such tokenizer",
    "error in tokenizer constructor",
    "vtable constructor failed",
    "fts5: ",
    "reserved fts5",
    "malformed ",
    "multiple ",
    "missing ",
)


def _translate(e: apsw.Error, location: str) -> RecollectError:
    no_room_for_the_index = (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP)
    if isinstance(e, apsw.FullError) or getattr(e, "extendedresult", 0) in no_room_for_the_index:
        return DiskFull(f"No space left for {location}. Nothing was written; free some space and try again.")
    if isinstance(e, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{location} is locked by another program ({e}). Nothing was written; close it and try again.")
    # Our own SQL is explained by the tests: where it no longer fits the tables, the file is not what was written.
    if isinstance(e, (apsw.CorruptError, apsw.NotADBError)) or str(e).removeprefix("SQLError: ").startswith(_LOST):
        return Damaged(
            f"{location} is damaged ({e}). `recollect doctor {location}` says how badly, and how to save what is readable."
        )
    if isinstance(e, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)):
        return Refused(f"{location} cannot be written ({e}). Check that you own the file and its folder.")
    if isinstance(e, apsw.TooBigError):
        return TooLarge(f"Too large for one row: {e}")
    if isinstance(e, apsw.ConstraintError):
        return AlreadyExists(f"{location}: {e}")
    return StorageError(f"{location}: {e}")
