"""Every error Recollect raises on purpose, in one tree.

    RecollectError
    ├── InvalidInput            what was passed in cannot be stored or asked; nothing was written
    │   ├── NotSerializable     a graph's state holds something that cannot be stored; nothing was written
    │   ├── TooLarge            it has more text than `max_event_bytes` allows; nothing was written
    │   └── BadLine             a line of a file that is to be imported is not what an export writes; nothing was written
    ├── SettingsError           a setting is unknown or has a value that cannot be used
    │   ├── BadKeyFile          the key file is missing, empty, or readable by others
    │   └── HostNotAllowed      something would have gone to a host that the settings do not allow; nothing did
    ├── EmbeddingFailed         the embedder did not answer, or not with vectors
    ├── ModelFailed             the language model did not answer, or broke off
    ├── NotFound                no such conversation, branch, event
    │   ├── ConversationDeleted it is in the bin: restore it or erase it
    │   └── Erased              it was erased: a late writer brings nothing back; nothing was written
    ├── AlreadyExists           that id or name is taken
    ├── ScopeFull               no longer raised: a memory written by hand always fits
    ├── StoreClosed             the handle was closed
    └── StorageError            the database could not do it
        ├── StoreBusy           another process held the store for too long; nothing was written
        ├── DiskFull            no space left; nothing was written
        ├── Unavailable         the server cannot be reached; nothing was written
        ├── OutcomeUnknown      the commit was sent and no answer came back: look before you repeat
        ├── FileReplaced        the file was removed or replaced while it was open; the store has to be opened again
        ├── Damaged             the file or a row in it is not what was written
        │   └── NotAllowed      a graph's state holds a type that is not on the allow-list; nothing was constructed
        └── Refused             this file or machine is not safe to write on; it was left untouched
            ├── NewerSchema     written by a newer Recollect
            ├── MissingKey      it is encrypted and no key was given
            ├── WrongKey        it is encrypted with another key
            ├── NotEncrypted    a key was given and it is not encrypted
            ├── NotARecollectFile
            ├── SQLiteTooOld
            └── NetworkFilesystem

A message says what happened and what to do next. Driver errors (apsw, psycopg) are wrapped once, in `db/`, and stay
reachable as `__cause__`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

safe: Callable[[str], str] | None = None
"""Takes secrets out of a message; set by `redact`. What was passed in is quoted in errors, and errors end up in logs."""


def place(e: BaseException) -> str | None:
    """Where an error met us: file and line of the last frame that is our own code. This can be told where the error's words
    cannot, because they may quote what it was given. Our own code is what lies in this package's folder: a folder further up
    may be called `recollect` too."""
    import os

    ours = os.path.join(os.path.dirname(os.path.realpath(__file__)), "")
    found, at = None, e.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if os.path.realpath(file).startswith(ours):
            found = f"{os.path.basename(file)}, line {at.tb_lineno}"
        at = at.tb_next
    return found


class RecollectError(Exception):
    """The root: `except recollect.RecollectError` catches everything raised on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(safe(message) if safe is not None else message)


class InvalidInput(RecollectError, ValueError):
    """What was passed in cannot be stored or asked; nothing was written."""

    quotes = True  # its text may hold what was given: jobs and telemetry keep its kind alone


class NotSerializable(InvalidInput, TypeError):
    """A channel of a graph's state holds something that its serializer cannot write; nothing was written."""


class TooLarge(InvalidInput):
    """An event, an item or a memory has more text than `max_event_bytes` allows; nothing was written."""


class BadLine(InvalidInput):
    """A line of a file that is to be imported is not what an export writes; nothing was written."""

    def __init__(self, message: str = "", line: int = 0) -> None:
        super().__init__(f"Line {line:,}: {message}" if line else message)
        self.line = line

    @classmethod
    def of(cls, file: object, error: BadLine) -> BadLine:
        """The same error, with the name of the file."""
        named = cls(f"{file}: {error}")
        named.line = error.line
        return named


class SettingsError(RecollectError, ValueError):
    """A setting is unknown or has a value that cannot be used."""


class HostNotAllowed(SettingsError):
    """Something would have gone to a host that `allow_hosts` does not name; nothing was sent."""


class BadKeyFile(SettingsError):
    """The key file is missing, cannot be read, holds no key, or may be read by others than its owner."""


class EmbeddingFailed(RecollectError):
    """The embedder did not answer, or not with vectors. Searches go on by words; what waits to be embedded still waits."""


class ModelFailed(RecollectError):
    """The language model did not answer, or broke off in the middle. What was said to it is kept."""


class NotFound(RecollectError, LookupError):
    """No such conversation, branch or event for this user."""


class ConversationDeleted(NotFound):
    """The conversation is in the bin: restore it to read or write, or erase it for good."""


class Erased(NotFound):
    """What this would write belongs to something that was erased; nothing was written. `create(id, again=True)` begins a
    conversation of that id anew."""


class AlreadyExists(RecollectError):
    """That id or name is taken."""


class ScopeFull(RecollectError):
    """No longer raised: what you pinned or wrote by hand takes no room of `memory_max_items_per_namespace`."""


class StoreClosed(RecollectError):
    """The handle was closed; open the store again."""


class StorageError(RecollectError):
    """The database could not do what was asked."""


class StoreBusy(StorageError):
    """Another process held the store for longer than `busy_timeout_ms`; nothing was written."""


class DiskFull(StorageError):
    """No space left on the device; nothing was written, reads go on."""


class Unavailable(StorageError):
    """The database server cannot be reached; nothing was written."""


class OutcomeUnknown(StorageError):
    """The commit was sent and no answer came back: read before repeating, or repeat with the same `key=`."""


class FileReplaced(StorageError):
    """The store's file (or its `-wal` or `-shm`) was removed or replaced while it was open: what was being written is not in
    the file at that path. Nothing more is read or written until the store is closed and opened again."""


class Damaged(StorageError):
    """The file, or a row in it, is not what was written."""


class NotAllowed(Damaged):
    """A graph's state holds a type that is not on the allow-list; nothing of it was constructed."""


class Refused(StorageError):
    """This file or this machine is not safe to write on; nothing was touched."""


class NewerSchema(Refused):
    """The store was written by a newer Recollect: upgrade the package."""


class MissingKey(Refused):
    """The store is encrypted and no key was given; nothing was touched."""


class WrongKey(Refused):
    """The store is encrypted with another key than the one given; nothing was touched."""


class NotEncrypted(Refused):
    """A key was given for a store that is not encrypted; nothing was touched."""


class NotARecollectFile(Refused):
    """The file exists and is not a Recollect store."""


class SQLiteTooOld(Refused):
    """SQLite before 3.51.3 can corrupt a WAL database: upgrade apsw-sqlite3mc."""


class NetworkFilesystem(Refused):
    """SQLite's locks do not hold on network file systems: use a local disk, or Postgres."""
