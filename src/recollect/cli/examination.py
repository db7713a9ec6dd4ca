"""An examination of a store: what the file is, whether its pages hold together, whether everyone's events are as written.

Looking changes nothing: a file is read through a connection that only reads (`Snapshot`), never opened as a store, so it
is neither migrated nor moved into another journal mode, and a backup can be looked at like a store. It goes from the
outside in, and as far as it can: what opens no more is still told apart (empty, zeros, foreign, newer, torn).
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import errors, health, jobs
from ..db import file, gate, migrate
from ..errors import RecollectError, StorageError
from ..model import Problem, Verification
from . import output
from .session import Session

if TYPE_CHECKING:
    import apsw

    from ..db import Database, Tx
    from ..db.cipher import Key
    from ..model import Progress

T = TypeVar("T")

LOW_SPACE = 100_000_000
LONG_LOG = 64_000_000
PATIENCE_SECONDS = 1.0
LOOKS_AT_LOCKS = 20
SHOWN = 20


# -- reading without opening


class Snapshot:
    """A store's file as the rest of Recollect reads a database, through one connection that never writes."""

    dialect = "sqlite"

    def __init__(self, path: Path, key: "Key | None" = None) -> None:
        self.path, self.location = path, str(path)
        with file.translated(self.location):
            self._connection = _connect(path, key)

    def read(self, user: str, fn: "Callable[[Tx], T]", /, *, brief: bool = False, keyed: bool = False) -> T:
        from ..db.transaction import SQLiteTx

        with file.translated(self.location):
            connection = self._connection
            rows: list[Any] = connection.execute("select no from users where id = ?", (user,)).fetchall()
            connection.execute("begin")
            try:
                return fn(SQLiteTx(connection, int(rows[0][0]) if rows else 0))
            finally:
                connection.execute("rollback")

    def write(self, user: str, fn: "Callable[[Tx], T]", /, *, brief: bool = False, keyed: bool = False) -> T:
        raise AssertionError("a snapshot is only read")

    def settled(self, patience: float = 0.0) -> int:
        return (1 << 63) - 1  # nothing is written to a copy

    def scrub(self) -> None:
        raise AssertionError("a snapshot is only read")

    def compact(self, progress: "Progress | None", /) -> tuple[int, int]:
        raise AssertionError("a snapshot is only read")

    def unfinished(self) -> list[str]:
        return []

    def users(self, *, erased: bool = False) -> list[str]:
        return [str(row[0]) for row in self.query("select id from users order by id")]

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with file.translated(self.location):
            return self._connection.execute(sql).fetchall()

    def check(self) -> list[str]:
        return []  # `pages` has looked, once for all users

    def pages(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        found = [str(row[0]) for row in self.query("pragma integrity_check(1000)")]
        return [] if found == ["ok"] else found

    def size(self) -> int:
        return self.path.stat().st_size

    def schema(self) -> int:
        return int(self.query("pragma user_version")[0][0])

    def close(self) -> None:
        self._connection.close()


def _connect(path: Path, key: "Key | None") -> "apsw.Connection":
    import apsw

    with path.open("rb") as f:
        is_encrypted = f.read(3) == file.ENCRYPTED
    cipher = file.unlock(str(path), key) if is_encrypted else None
    # Where there is something in the log, closing a connection that may write could move it into a damaged file. Where
    # there is nothing, one that may not write would leave an empty log behind.
    log = path.with_name(path.name + "-wal")
    quiet = not log.exists() or log.stat().st_size == 0
    writable = quiet and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    flags, name = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY, str(path)
    if not writable and not log.exists():
        # SQLite would want to make a log where nothing may be made, and call the file unreadable. Nobody else has it open.
        flags, name = flags | apsw.SQLITE_OPEN_URI, f"{path.absolute().as_uri()}?immutable=1"
    connection = file.connect(name, cipher, flags)
    connection.pragma("query_only", True)
    return connection


@contextmanager
def snapshot(path: Path, key: "Key | None" = None) -> Iterator[Snapshot]:
    db = Snapshot(path, key)
    try:
        yield db
    finally:
        db.close()


class Contents(NamedTuple):
    """How much is in a file, and from when."""

    events: int
    newest_at: int | None


def contents(path: Path, key: "Key | None" = None) -> Contents:
    with snapshot(path, key) as db:
        return Contents(*db.query("select count(*), max(created_at) from events")[0])


# -- what is found


@dataclass
class Check:
    """One step: what was looked at, how it stands (ok, note, bad or skipped), and what was found."""

    name: str
    state: str
    found: str
    fix: str = ""


@dataclass
class Report:
    """Everything the doctor says, in the order in which it says it."""

    location: str
    ok: bool = True
    checks: list[Check] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    users: int = 0
    conversations: int = 0
    events: int = 0
    tombstones: int = 0
    next: list[tuple[str, str]] = field(default_factory=list)
    """Commands to run, and what they do."""
    newer: bool = False
    """Nothing is wrong with it but that this Recollect is too old for it."""
    half_made: bool = False
    locked: bool = False
    """Encrypted, and the key is not at hand: nobody can say how it is inside."""

    def say(self, name: str, state: str, found: str, fix: str = "") -> Check:
        check = Check(name, state, found, fix)
        self.checks.append(check)
        self.ok = self.ok and state != "bad"
        return check

    def wrong(self, where: str, what: str, fix: str = "") -> None:
        self.ok = False
        self.problems.append(Problem(where, what, fix))

    def counted(self) -> str:
        users = f"{output.count(self.users, 'user')}, " if self.users > 1 else ""
        conversations = output.count(self.conversations, "conversation")
        tombstones = f", {output.count(self.tombstones, 'tombstone')}" if self.tombstones else ""
        return f"{users}{conversations}, {output.count(self.events, 'event')}{tombstones}"

    def document(self) -> dict[str, Any]:
        return {
            "location": self.location,
            "ok": self.ok,
            "checks": self.checks,
            "users": self.users,
            "conversations": self.conversations,
            "events": self.events,
            "tombstones": self.tombstones,
            "problems": self.problems,
            "next": [{"command": line, "what": what} for line, what in self.next],
        }


# -- the file


def look_at_file(report: Report, path: Path, key: "Key | None" = None) -> bool:
    """What can be known without reading the pages. False when there is no point in going on."""
    try:
        status = path.stat()
        with path.open("rb") as f:
            header = f.read(100)
    except OSError as e:
        report.say("file", "bad", f"cannot be read: {e.strerror}", "Check that you own the file and its folder.")
        return False
    report.say("file", "ok", output.size(status.st_size))
    if header.startswith((file.MAGIC, file.ENCRYPTED)):  # else it may not be ours to advise on
        _rights(report, path, status)
    good = _locked(report, path, key) if header.startswith(file.ENCRYPTED) else _header(report, path, header)
    _library(report)
    _place(report, path, status.st_size)
    return good


def _rights(report: Report, path: Path, status: os.stat_result) -> None:
    if os.name != "posix":
        return
    mode = f"{status.st_mode & 0o777:04o}"
    if status.st_uid != os.geteuid():
        report.say("rights", "note", f"{mode}, owned by user {status.st_uid}, not by you ({os.geteuid()})",
                   "Run this as the owner, or give yourself the file: chown.")  # fmt: skip
    elif status.st_mode & 0o077:
        report.say(
            "rights", "note", f"{mode}: others on this machine may read it", f"chmod 600 {output.quoted(str(path))}"
        )
    elif not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        report.say("rights", "note", f"{mode}: it, or its folder, may only be read, so that no command can open it",
                   f"chmod u+w {output.quoted(str(path))} {output.quoted(str(path.parent))}")  # fmt: skip
    else:
        report.say("rights", "ok", f"{mode}, yours alone")


def _header(report: Report, path: Path, header: bytes) -> bool:
    journal = path.with_name(path.name + "-journal")
    if not header:
        report.say("header", "bad", "the file is empty")
        report.wrong("the file", "It is empty. It was cut off, or a program stopped while making it.")
        return False
    if not header.strip(b"\0"):
        if journal.exists():
            report.half_made = True
            report.say("header", "bad", "half made")
            report.wrong("the file", "A program stopped while making it. Opening it once mends it.")
        else:
            report.say("header", "bad", "all zeros")
            report.wrong("the first page", "It holds zeros where the header should be, so nothing can open the file.")
        return False
    if not header.startswith(file.MAGIC):
        report.say("header", "bad", "not a SQLite database")
        report.wrong("the first page", "It is not the beginning of a SQLite database: overwritten, or never a store.")
        return False
    try:
        file.check_header(str(path))
    except RecollectError as e:
        report.newer = isinstance(e, errors.NewerSchema)
        report.say("header", "bad", "written by a newer Recollect" if report.newer else "another program's database")
        report.wrong("the file", output.words(e))
        return False
    whole = _whole(header)
    log = path.with_name(path.name + "-wal")
    there = path.stat().st_size
    if there < whole and not (log.exists() and log.stat().st_size):  # otherwise the rest may be in the log
        report.say("header", "bad", f"a Recollect store, cut short: {there:,} of {whole:,} bytes are there")
        report.wrong("the file", f"It ends too early: {there:,} of {whole:,} bytes are there.")
    else:
        report.say("header", "ok", f"a Recollect store, schema {int.from_bytes(header[60:64])}")
    return True


def _locked(report: Report, path: Path, key: "Key | None") -> bool:
    """The same of an encrypted store: what is in the clear of it is whether the key fits."""
    try:
        file.unlock(str(path), key)
    except (errors.MissingKey, errors.WrongKey) as e:
        report.locked = True
        report.say("header", "ok", "an encrypted store")
        missing = isinstance(e, errors.MissingKey)
        report.say("key", "bad", "none was found" if missing else "it is not the one of this file")
        fix = "Name the file that holds it in RECOLLECT_KEY_FILE; `recollect key status` says where it was looked for."
        report.wrong("the key", "Without its key nobody can say how the store is inside.", fix)
        return False
    except StorageError as e:
        report.say("header", "bad", "an encrypted store, its first bytes are not what was written")
        report.wrong("the first page", output.words(e))
        return False
    report.say("header", "ok", "an encrypted store")
    report.say("key", "ok", f"it fits; from {key.source}" if key is not None else "")
    return True


def _whole(header: bytes) -> int:
    """How long the file should be by its own account; 0 when it does not say."""
    page = int.from_bytes(header[16:18])
    said = header[24:28] == header[92:96]
    return int.from_bytes(header[28:32]) * (65536 if page == 1 else page) if said else 0


def _library(report: Report) -> None:
    import apsw

    try:
        file.check_library()
        report.say("SQLite", "ok", apsw.sqlite_lib_version())
    except errors.SQLiteTooOld as e:
        report.say("SQLite", "bad", apsw.sqlite_lib_version(), "pip install -U apsw-sqlite3mc")
        report.wrong("this machine", str(e), "pip install -U apsw-sqlite3mc")


def _place(report: Report, path: Path, size: int) -> None:
    kind = gate.network_filesystem(str(path.parent))
    free = shutil.disk_usage(path.parent).free
    if kind:
        report.say("disk", "bad", f"a network file system ({kind})")
        report.wrong(
            "the disk",
            f"{path.parent} is a network file system ({kind}), where SQLite's locks do not hold.",
            "Move the file to a local disk, or use Postgres.",
        )
    elif free < LOW_SPACE:
        fix = "Free some space elsewhere: to compact it, too, needs room for a copy."
        report.say("disk", "note", f"only {output.size(free)} free", fix)
    else:
        # A copy beside the file is what a backup, a salvage and a migration need.
        state, fix = ("ok", "") if free > size else ("note", "Not enough for a backup beside it.")
        report.say("disk", state, f"{output.size(free)} free", fix)
    log = path.with_name(path.name + "-wal")
    length = log.stat().st_size if log.exists() else 0
    if length > LONG_LOG:
        fix = "A program with a long read keeps it: close it, then `recollect compact`."
        report.say("log", "note", f"{output.size(length)} waiting in {log.name}", fix)
    else:
        report.say("log", "ok", f"{output.size(length)} in {log.name}" if length else "nothing waiting")
    _company(report, path)


def _company(report: Report, path: Path) -> None:
    holder = lock_holder(path)
    if holder is not None:
        report.say("in use", "note", f"held for writing by {holder}", "Others get StoreBusy meanwhile: let it go on, or end it.")  # fmt: skip
        return
    others = open_in(path)
    report.say("in use", "ok", "by " + ", ".join(others[:3]) if others else "by no other program of yours")


def open_in(path: Path) -> list[str]:
    """Other processes that have a store's file open, as far as this user may see. Linux only: [] elsewhere."""
    found = []
    try:
        wanted = {(s.st_dev, s.st_ino) for s in [path.stat()]}
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in processes:
        if pid == os.getpid():
            continue
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                s = os.stat(f"/proc/{pid}/fd/{name}")
                if (s.st_dev, s.st_ino) in wanted:
                    found.append(process(pid))
                    break
        except OSError:
            continue  # gone, or another user's
    return found


def process(pid: int) -> str:
    """A process as a person would look for it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return f"process {pid}"
    stopped = f", which is stopped (kill -CONT {pid} lets it go on)" if state in "tT" else ""
    return f"process {pid} ({output.one_line(' '.join(words), 40)}){stopped}"


def lock_holder(path: Path) -> str | None:
    """Who holds the gate for longer than a write takes; None when it is free, or cannot be known."""
    lock = path.with_name(path.name + ".lock")
    if sys.platform == "win32" or not lock.exists() or not os.access(lock, os.R_OK):
        return None
    import fcntl
    import time

    with lock.open("rb") as f:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
            except OSError:
                if time.monotonic() > until:
                    break
                time.sleep(0.01)
    for _ in range(LOOKS_AT_LOCKS):
        pid = _holder_of(lock.stat().st_ino)
        if pid is not None:
            return process(pid)
    return "another process"


def _holder_of(inode: int) -> int | None:
    """Whom the kernel's list names. It is read a page at a time, so a row can be missed while others lock and unlock."""
    try:
        rows = [row.split() for row in Path("/proc/locks").read_text().splitlines()]
    except OSError:
        return None
    return next((int(r[4]) for r in rows if r[1] == "FLOCK" and r[5].rpartition(":")[2] == str(inode)), None)


# -- the rows


def look_at_pages(report: Report, db: Snapshot) -> bool:
    try:
        found = db.pages()
    except StorageError as e:
        found = [why(e)]
    for what in found[:SHOWN]:
        report.wrong("the file", what)
    if len(found) > SHOWN:
        report.wrong("the file", f"... and {len(found) - SHOWN:,} more of the kind")
    report.say("integrity", "bad" if found else "ok",
               f"{output.count(len(found), 'error')} in the structure of the file" if found else "every page is sound")  # fmt: skip
    return not found


def why(e: StorageError) -> str:
    """The driver's own reason: our words around it would send the reader to the doctor."""
    return f"SQLite cannot read it: {e.__cause__}" if e.__cause__ else output.words(e)


def look_at_events(
    report: Report,
    users: list[str],
    verify: "Callable[[str], Verification]",
    failed: "Callable[[str], tuple[str, ...]]",
) -> None:
    """Everyone's events, then everyone's jobs."""
    trouble: list[tuple[str, str]] = []
    wrong = 0
    for user in users:
        try:
            found = verify(user)
            trouble += [(user, e) for e in failed(user)]
        except StorageError as e:
            found = Verification(0, 0, 0, (Problem("the events", why(e), ""),))
        report.users += 1
        report.conversations += found.conversations
        report.events += found.events
        report.tombstones += found.tombstones
        wrong += len(found.problems)
        for p in found.problems:
            report.wrong(f"{user}: {p.where}" if len(users) > 1 else p.where, p.what, p.fix)
    state, what = ("bad", f": {output.count(wrong, 'problem')}") if wrong else ("ok", ", all as they were written")
    report.say("events", state, report.counted() + what)
    if trouble:
        user, error = trouble[0]
        more = f" (and {len(trouble) - 1} more)" if len(trouble) > 1 else ""
        report.say("jobs", "note", output.one_line(f"{user}: {error}", 160) + more, f"`recollect -u {output.quoted(user)} settle` tries again what waits.")  # fmt: skip
    else:
        report.say("jobs", "ok", "none failed")


def _failed(tx: "Tx") -> tuple[str, ...]:
    return jobs.errors(tx)


def examine_file(
    path: Path,
    bar: "Progress | None" = None,
    step: "Callable[[Check], None] | None" = None,
    key: "Key | None" = None,
) -> Report:
    """Look at a store's file from the outside in, as far as one can get. `step` hears of each check as it is done."""
    report = Report(str(path))
    told = 0

    def tell() -> None:
        nonlocal told
        for check in report.checks[told:] if step else ():
            step(check)  # type: ignore[misc]
        told = len(report.checks)

    going = look_at_file(report, path, key)
    tell()
    if going:
        try:
            with snapshot(path, key) as db:
                _inside(report, db, bar, tell)
        except StorageError as e:
            report.say("integrity", "bad", "it cannot be opened")
            report.wrong("the file", why(e))
    tell()
    return report


def _inside(report: Report, db: Snapshot, bar: "Progress | None", tell: Callable[[], None]) -> None:
    if bar:
        bar("reading every page", 0, 0)
    sound = look_at_pages(report, db)
    tell()
    if not sound:
        # A damaged tree can have a cycle: to walk its rows could take for ever.
        report.say("events", "skipped", "not looked at, because the file itself is damaged")
    elif db.schema() < migrate.LATEST:
        report.say("events", "skipped", f"schema {db.schema()} is older than this Recollect's", "`recollect migrate` brings it up to date.")  # fmt: skip
    else:
        users = db.users()
        look_at_events(
            report, users, lambda u: health.verify(db, u, _for(bar, u, users)), lambda u: db.read(u, _failed)
        )


def _for(bar: "Progress | None", user: str, users: list[str]) -> "Progress | None":
    if bar is None or len(users) < 2:
        return bar
    return lambda what, done, of: bar(f"{what} of {output.one_line(user, 20)}", done, of)


def examine_server(s: Session, bar: "Progress | None", step: Callable[[Check], None]) -> Report:
    """What can be known of a store on Postgres: its pages are the server's own."""
    from .. import admin

    report = Report(s.location)
    s.store.location  # noqa: B018 - says in our words when the server is away
    with admin(s.where, settings=s.settings) as everyone:
        store = everyone.for_user(s.settings.user)
        found = store.stats()
        report.say("server", "ok", f"answers; schema {found.schema}, {output.size(found.bytes)}")
        _role(report, everyone._store._db)
        report.say("integrity", "skipped", "the server's own (data_checksums, amcheck): docs/how-to/postgres.md")
        for check in report.checks:
            step(check)
        said = len(report.checks)
        users = everyone.users()
        look_at_events(
            report, users,
            lambda u: everyone.for_user(u).verify(progress=_for(bar, u, users)),
            lambda u: everyone.for_user(u).stats().job_errors,
        )  # fmt: skip
    for check in report.checks[said:]:
        step(check)
    if not report.ok:
        report.problems = [Problem(p.where, p.what, "Restore it from a dump with pg_restore.") for p in report.problems]
    return report


def _role(report: Report, db: "Database") -> None:
    from ..db.postgres import Postgres

    assert isinstance(db, Postgres)
    role, is_bound = db.role()
    if is_bound:
        report.say("role", "ok", f"{role}: row-level security holds for it")
    else:
        report.say("role", "note", f"{role}: row-level security does not hold for it, nor for a mistake made under it",
                   "Use an ordinary role (nosuperuser nobypassrls): docs/how-to/postgres.md")  # fmt: skip
