"""One file: apsw, WAL, synchronous=FULL.

Writing: every process has one writer thread. A verb queues a closure and waits; the writer takes what is queued,
runs it in one transaction under the gate (a savepoint for each request, so that one bad row fails alone) and commits
once for all of them. A lone caller waits for one fsync, eight callers share it.

Reading: a connection for each thread, on a snapshot, never waiting for the writer.

Forking: the child inherits connections and a lock that are not its own. They are left alone for ever (closing them
could delete the parent's write-ahead log) and everything is opened anew.
"""

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import apsw

from .. import ids
from ..errors import (
    AlreadyExists,
    Damaged,
    DiskFull,
    InvalidInput,
    NetworkFilesystem,
    NewerSchema,
    NotARecollectFile,
    OutcomeUnknown,
    RecollectError,
    Refused,
    SQLiteTooOld,
    StorageError,
    StoreBusy,
    StoreClosed,
)
from ..model import Progress
from . import Retry, Row, Tx, migrate
from .gate import Gate, network_filesystem
from .points import reach

T = TypeVar("T")

APPLICATION_ID = 0x52434C54  # "RCLT"
MAGIC = b"SQLite format 3\0"
MAX_BATCH = 256
MAX_BATCH_SECONDS = 0.010
IDLE_SECONDS = 0.2
MAX_WAL_PAGES = 8_000  # 32 MB: past this the writer checkpoints even when it is not idle


class SQLiteTx:
    """See `Tx`."""

    for_update = ""

    def __init__(self, connection: apsw.Connection, user: int) -> None:
        self.user = user
        self._connection = connection
        self._execute = connection.execute
        self.drew: tuple[int, int] | None = None
        """The user and their counter after the last draw: proof, later, that this transaction was committed."""

    def all(self, sql: str, /, **params: Any) -> list[Row]:
        params["user"] = self.user
        return self._execute(sql, params).fetchall()

    def one(self, sql: str, /, **params: Any) -> Row | None:
        params["user"] = self.user
        rows = self._execute(sql, params).fetchall()
        return rows[0] if rows else None

    def run(self, sql: str, /, **params: Any) -> int:
        params["user"] = self.user
        self._execute(sql, params).fetchall()
        return self._connection.changes()

    def many(self, sql: str, rows: Iterable[Row], /) -> None:
        self._connection.executemany(sql, rows)

    def ticks(self, n: int) -> int:
        last = self._execute(
            "update users set last_event = last_event + ? where no = ? returning last_event", (n, self.user)
        ).fetchall()
        if not last:
            raise Retry
        self.drew = (self.user, _int(last))
        return (self.user << 32) + _int(last) - n + 1


def _int(rows: list[Row]) -> int:
    return int(rows[0][0])


class _Request:
    """What a caller hands to the writer. The token decides who has it: the writer that starts it, or the caller that
    gives up waiting; `list.pop` is atomic, so exactly one of them gets it."""

    __slots__ = ("alone", "done", "error", "fn", "result", "token", "user")

    def __init__(self, user: str, fn: Callable[[Tx], Any], *, alone: bool = False) -> None:
        self.user = user
        self.alone = alone
        self.fn = fn
        self.result: Any = None
        self.error: BaseException | None = None
        self.token = [True]
        self.done = threading.Lock()
        self.done.acquire()

    def claim(self) -> bool:
        try:
            return self.token.pop()
        except IndexError:
            return False


class SQLite:
    """See `Database`. `path=None` is a store in memory: one connection, taken in turns."""

    dialect = "sqlite"

    def __init__(self, path: Path | None, *, busy_timeout_ms: int) -> None:
        _check_library()
        self.path = path
        self.location = str(path) if path else "memory"
        self._timeout = busy_timeout_ms / 1000
        self._closed = False
        self._engine: _Engine | None = None
        self._opening = threading.Lock()
        with _translated(self.location):
            self._engine = _Engine(path, self._timeout)
        _live.add(self)

    def _current(self) -> "_Engine":
        engine = self._engine
        if engine is not None and engine.pid == os.getpid():
            return engine
        if self._closed:
            raise StoreClosed(f"{self.location} was closed. Open it again with recollect.open().")
        with self._opening:
            if self._engine is None or self._engine.pid != os.getpid():
                _leave_alone(self._engine)
                self._engine = _Engine(self.path, self._timeout)
            return self._engine

    def read(self, user: str, fn: Callable[[Tx], T], /) -> T:
        with _translated(self.location):
            return self._current().read(user, fn)

    def write(self, user: str, fn: Callable[[Tx], T], /) -> T:
        with _translated(self.location):
            return self._current().write(user, fn)

    def users(self) -> list[str]:
        with _translated(self.location):
            return [row[0] for row in self._current().query("select id from users order by id")]

    def check(self) -> list[str]:
        with _translated(self.location):
            found = [str(row[0]) for row in self._current().query("pragma integrity_check")]
        return [] if found == ["ok"] else found

    def scrub(self) -> None:
        with _translated(self.location):
            self._current().truncate_wal()

    def size(self) -> int:
        if self.path is None:
            pages, page = self._current().query("select * from pragma_page_count(), pragma_page_size()")[0]
            return int(pages) * int(page)
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        return sum(f.stat().st_size for f in files if f.exists())

    def schema(self) -> int:
        return int(self._current().query("pragma user_version")[0][0])

    def copy(self, to: Path, progress: Progress | None = None) -> None:
        """A consistent copy of the store as it stands now, while writers go on."""
        with _translated(self.location):
            self._current().copy(to, progress)

    def compact(self, progress: Progress | None = None) -> tuple[int, int]:
        """Give free pages back to the disk. Returns the size before and after."""
        before = self.size()
        with _translated(self.location):
            self._current().compact(progress)
        return before, self.size()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        engine, self._engine = self._engine, None
        if engine is None:
            return
        if engine.pid == os.getpid():
            engine.close()
        else:
            _leave_alone(engine)


class _Engine:
    """Everything of a store that belongs to one process."""

    def __init__(self, path: Path | None, timeout: float) -> None:
        self.pid = os.getpid()
        self._path = path
        self._timeout = timeout
        self._users: dict[str, int] = {}
        self._queue: SimpleQueue[_Request | None] = SimpleQueue()
        self._local = threading.local()
        self._readers: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wal_pages = 0
        self._batches = 0
        self._name = os.urandom(6).hex()
        self._proof: tuple[int, int] | None = None
        if path is None:
            self._memory = threading.RLock()
            self._inside = False
            self._connection = apsw.Connection(":memory:")
            _build(self._connection, 0)
        else:
            _prepare(path)
            self._gate = Gate(path.with_name(path.name + ".lock"))
            self._connection = self._connect_writer(path)

    # -- connections

    def _connect_writer(self, path: Path) -> apsw.Connection:
        inode = path.stat().st_ino
        connection = _connect(path)
        version = _version(connection, path)
        if version < migrate.LATEST or connection.pragma("journal_mode") != "wal":
            with self._gate:
                if path.stat().st_ino != inode:  # a backup was put in its place while we waited
                    connection.close()
                    return self._connect_writer(path)
                version = _version(connection, path)  # another process may have been faster
                if version < migrate.LATEST:
                    _migrate(connection, path, version)
                connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("secure_delete", True)
        connection.set_wal_hook(self._after_commit)  # takes the place of the automatic checkpoint inside COMMIT
        return connection

    def _after_commit(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return 0

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            assert self._path is not None
            connection = _connect(self._path)
            connection.pragma("query_only", True)
            self._local.connection = connection
            self._readers.add(connection)
        return connection

    # -- reading

    def read(self, user: str, fn: Callable[[Tx], T]) -> T:
        if self._path is None:
            with self._memory:
                self._refuse_nesting()
                return fn(SQLiteTx(self._connection, self._user_no(self._connection, user)))
        self._refuse_nesting()
        connection = self._reader()
        connection.execute("begin")
        try:
            return fn(SQLiteTx(connection, self._user_no(connection, user)))
        finally:
            if connection.in_transaction:
                connection.execute("commit")

    def query(self, sql: str) -> list[Row]:
        if self._path is None:
            with self._memory:
                return self._connection.execute(sql).fetchall()
        return self._reader().execute(sql).fetchall()

    def _user_no(self, connection: apsw.Connection, user: str) -> int:
        no = self._users.get(user)
        if no is None:
            rows = connection.execute("select no from users where id = ?", (user,)).fetchall()
            no = _int(rows) if rows else 0
        return no

    # -- writing

    def write(self, user: str, fn: Callable[[Tx], T]) -> T:
        if self._path is None:
            return self._write_memory(user, fn)
        self._refuse_nesting()
        if self._thread is None:
            self._start()
        return self._submit(_Request(user, fn))  # type: ignore[no-any-return]

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="recollect-writer", daemon=True)
                self._thread.start()

    def _submit(self, request: _Request) -> Any:
        self._queue.put(request)
        if not request.done.acquire(timeout=self._timeout):
            if request.claim():
                raise StoreBusy(
                    f"{self._path} is held by another process: no turn to write within {self._timeout:g} s. Nothing was "
                    "written. See which program has it open (it may be stopped), or raise busy_timeout_ms."
                )
            request.done.acquire()  # it has been started: its outcome is a commit away
        if request.error is not None:
            raise request.error
        return request.result

    def _write_memory(self, user: str, fn: Callable[[Tx], T]) -> T:
        with self._memory:
            self._refuse_nesting()
            self._inside = True
            try:
                self._connection.execute("begin immediate")
                try:
                    result = self._apply(user, fn, {})
                    self._connection.execute("commit")
                    return result
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("rollback")
                    raise
            finally:
                self._inside = False

    def _refuse_nesting(self) -> None:
        nested = self._inside if self._path is None else threading.current_thread() is self._thread
        if nested:
            raise RuntimeError("A verb was called inside a transaction; pass the tx on instead.")

    def _apply(self, user: str, fn: Callable[[Tx], T], new_users: dict[str, int]) -> T:
        no = self._users.get(user) or new_users.get(user)
        if no is None:
            no = self._user_no(self._connection, user)
            if not no:
                no = _int(
                    self._connection.execute(
                        "insert into users (id, created_at) values (?, ?) returning no", (user, ids.now())
                    ).fetchall()
                )
            new_users[user] = no
        tx = SQLiteTx(self._connection, no)
        try:
            result = fn(tx)
            self._proof = tx.drew or self._proof
            return result
        except Retry:  # the user was erased, maybe by another process, and comes back as someone new
            self._users.pop(user, None)
            new_users.pop(user, None)
            rows = self._connection.execute("select no from users where id = ?", (user,)).fetchall()
            if rows and rows[0][0] == no:
                raise StorageError("The event counter did not move. Run `recollect doctor`.") from None
            return self._apply(user, fn, new_users)

    def _serve(self) -> None:
        """The writer thread."""
        while True:
            try:
                first = self._queue.get(timeout=IDLE_SECONDS if self._wal_pages else None)
            except Empty:
                self._checkpoint()
                continue
            if first is None:
                return
            batch: list[_Request] = []
            error: BaseException | None = None
            try:
                with self._gate:
                    reach("gate taken")
                    last = self._alone(first, batch) if first.alone else self._fill(first, batch)
            except BaseException as e:
                error = e
                last = False
                first.claim()
                if first not in batch:
                    batch.append(first)
            for request in batch:
                if error is not None and request.error is None:
                    request.error = error
                request.done.release()
            if self._wal_pages > MAX_WAL_PAGES:
                self._checkpoint()
            if last:
                return

    def _fill(self, first: _Request, batch: list[_Request]) -> bool:
        """One transaction with all that is queued. True when the store is being closed."""
        connection = self._connection
        connection.execute("begin immediate")
        reach("transaction begun")
        until = time.monotonic() + MAX_BATCH_SECONDS
        new_users: dict[str, int] = {}
        self._proof = None
        applied = 0
        closing = False
        request: _Request | None = first
        try:
            while request is not None:
                if request.alone:
                    self._queue.put(request)  # after this batch
                elif request.claim():
                    batch.append(request)
                    # The first one has the transaction to itself until it succeeded; the others get a savepoint.
                    if applied:
                        connection.execute("savepoint one")
                    fresh = dict(new_users)
                    try:
                        request.result = self._apply(request.user, request.fn, fresh)
                        applied += 1
                        new_users = fresh
                        reach("request applied")
                        if applied > 1:
                            connection.execute("release one")
                    except BaseException as e:
                        if _fails_all(e) or not connection.in_transaction:
                            raise
                        request.error = e
                        if applied:
                            connection.execute("rollback to one")
                            connection.execute("release one")
                        else:
                            connection.execute("rollback")
                            connection.execute("begin immediate")
                if len(batch) >= MAX_BATCH or time.monotonic() > until:
                    break
                try:
                    request = self._queue.get_nowait()
                except Empty:
                    break
                closing = request is None
            if applied:
                self._commit()
                self._users |= new_users
            else:
                connection.execute("rollback")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
            raise
        return closing

    def _commit(self) -> None:
        # A counter that only ever grows is the mark by which a commit is known again. A batch that drew no number
        # (a rename, say) leaves one of its own: it costs a page, so appends do without.
        mark: tuple[str, tuple[Any, ...]]
        if self._proof is not None:
            mark = "select 1 from users where no = ? and last_event >= ?", self._proof
        else:
            self._batches += 1
            mark = "select 1 from meta where name = 'batch' and value = ?", (f"{self._name}:{self._batches}",)
            self._connection.execute("update meta set value = ? where name = 'batch'", mark[1])
        reach("before commit")
        try:
            self._connection.execute("commit")
            reach("after commit")
        except apsw.Error as e:
            if self._connection.in_transaction:
                raise  # it did not happen: the caller rolls back
            # Neither done nor undone as far as this connection knows. Open anew, which reads the log from the disk as
            # a recovery would, look for our mark, and only call it done after a sync that succeeded.
            assert self._path is not None
            try:
                self._connection.close(True)
                self._connection = self._connect_writer(self._path)
                if self._connection.execute(*mark).fetchall():
                    self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
                    return
            except apsw.Error as again:
                raise OutcomeUnknown(
                    f"{self._path}: the commit failed ({e}) and so did looking for it ({again}). Look before you "
                    "repeat, or repeat with the same key=; `recollect doctor` checks the file."
                ) from e
            raise

    # -- the whole file

    def _alone(self, request: _Request, batch: list[_Request]) -> bool:
        """A request that is no transaction but needs the file for itself."""
        if request.claim():
            batch.append(request)
            request.fn(SQLiteTx(self._connection, 0))
        return False

    def copy(self, to: Path, progress: Progress | None) -> None:
        if self._path is None:
            with self._memory:
                return copy(self._connection, to, progress)
        source = _connect(self._path)
        try:
            # The snapshot is held for as long as it takes: without it, every commit would start the copy anew.
            source.execute("begin")
            source.execute("select 1 from meta").fetchall()
            copy(source, to, progress)
        finally:
            source.close()
        return None

    def compact(self, progress: Progress | None) -> None:
        if self._path is None:
            with self._memory:
                self._connection.execute("vacuum")
            return
        wal = self._path.with_name(self._path.name + "-wal")

        def work(_tx: Tx) -> None:
            connection = self._connection
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            total = int(connection.pragma("page_count"))

            def watch() -> bool:
                if progress and wal.exists():  # VACUUM writes every page it keeps into the log
                    progress("compacting", min(total, wal.stat().st_size // 4120), total)
                return False

            connection.set_progress_handler(watch, 20_000)
            try:
                connection.execute("vacuum").fetchall()
            finally:
                connection.set_progress_handler(None)
            reach("compacted")
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            if progress:
                progress("compacting", total, total)

        self._start()
        self._submit(_Request("", work, alone=True))

    # -- the write-ahead log

    def _checkpoint(self) -> None:
        self._wal_pages = 0
        reach("before checkpoint")
        with contextlib.suppress(apsw.Error):  # busy readers: the next idle moment will do
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        reach("after checkpoint")

    def truncate_wal(self) -> None:
        if self._path is None:
            return
        connection = _connect(self._path)
        try:
            connection.execute(
                "select 1 from sqlite_schema"
            ).fetchall()  # unread, it would not know that there is a log
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError as e:
            raise StoreBusy(
                f"It is gone from {self._path}, but a long read in another program keeps the old write-ahead log alive, "
                "which still holds it. Close that program, then run `recollect compact`."
            ) from e
        finally:
            connection.close()

    def close(self) -> None:
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(self._timeout)
            if self._thread.is_alive():  # stuck at the gate behind a stopped process: it ends with the process
                return
        for connection in list(self._readers):
            with contextlib.suppress(apsw.Error):  # in use by another thread at this moment
                connection.close()
        self._connection.close()
        if self._path is not None:
            self._gate.close()


# -- opening


def _check_library() -> None:
    version = tuple(int(n) for n in apsw.sqlite_lib_version().split("."))
    if version < (3, 51, 3):
        raise SQLiteTooOld(
            f"SQLite {apsw.sqlite_lib_version()} is inside the range of the WAL-reset bug that corrupts databases "
            "(3.7.0 to 3.51.2). Upgrade: pip install -U apsw-sqlite3mc"
        )


def _prepare(path: Path) -> None:
    """Refuse what must not be written on, then make the folder and an empty file that only its user can read."""
    folder = path.parent
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    kind = network_filesystem(there)
    if kind:
        raise NetworkFilesystem(
            f"{path} lies on a network file system ({kind}), where SQLite's locks do not hold. Use a local disk, or "
            "Postgres for many machines."
        )
    if path.is_dir():
        raise NotARecollectFile(f"{path} is a folder. Name a file in it, for example {path / 'chat.db'}.")
    if path.exists() and path.stat().st_size:
        # With a rollback journal beside it the file may be half created: SQLite mends it first, then `_version` looks.
        if not path.with_name(path.name + "-journal").exists():
            _check_header(path)
        return
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    reach("file made")


def _check_header(path: Path) -> None:
    with path.open("rb") as f:
        header = f.read(100)
    if not header.startswith(MAGIC):
        raise NotARecollectFile(
            f"{path} is not a SQLite database. It was left untouched; choose another path. If it was a store and is "
            f"damaged: recollect doctor {path} --salvage OUT"
        )
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise NotARecollectFile(
            f"{path} is a SQLite database of another program. It was left untouched; choose another path."
        )


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(5_000)  # for foreign programs and recovery; ours queue at the gate
    return connection


def _version(connection: apsw.Connection, path: Path) -> int:
    version = int(connection.pragma("user_version"))
    if version > migrate.LATEST:
        raise NewerSchema(
            f"{path} has schema {version}; this Recollect knows {migrate.LATEST}. It was left untouched. "
            "Upgrade: pip install -U recollect"
        )
    if version == 0 and connection.execute("select 1 from sqlite_schema limit 1").fetchall():
        raise NotARecollectFile(f"{path} is a SQLite database of another program. It was left untouched.")
    return version


def _migrate(connection: apsw.Connection, path: Path, version: int) -> None:
    if version:
        aside = path.with_name(f"{path.name}.schema-{version}.{ids.now()}.backup")
        copy(connection, aside)
        reach("migration backed up")
    _build(connection, version)
    if version:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _build(connection: apsw.Connection, version: int) -> None:
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
            connection.execute("rollback")
            raise


def copy(connection: apsw.Connection, to: Path, progress: Progress | None = None) -> None:
    """A copy that only its user can read, with nothing left in a log beside it."""
    os.close(os.open(to, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    target = apsw.Connection(str(to), apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", connection, "main") as job:
            while not job.done:
                job.step(512)
                if progress:
                    progress("copying", job.page_count - job.remaining, job.page_count)
        target.pragma("journal_mode", "delete")
    finally:
        target.close()


def inspect(path: Path) -> int:
    """The number of events in a store's file, after reading all of it; Damaged or Refused if it is not sound. The file
    is opened read-only, as it lies there."""
    _check_header(path)
    with _translated(str(path)):
        connection = apsw.Connection(
            f"{path.absolute().as_uri()}?mode=ro", apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            _version(connection, path)
            found = [str(row[0]) for row in connection.execute("pragma integrity_check")]
            if found != ["ok"]:
                raise Damaged(
                    f"{path} is damaged: {found[0]}. Save what is readable: recollect doctor {path} --salvage OUT"
                )
            return _int(connection.execute("select count(*) from events").fetchall())
        finally:
            connection.close()


def replace(backup: Path, path: Path, progress: Progress | None) -> Path | None:
    """Put a verified file in the place of a store's, which is set aside. Only with no one else there."""
    aside: Path | None = None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    gate = Gate(path.with_name(path.name + ".lock"))
    try:
        with gate, _translated(str(path)):
            part = path.with_name(path.name + ".part")
            source = apsw.Connection(str(backup), apsw.SQLITE_OPEN_READONLY)
            try:
                copy(source, part, progress)
            finally:
                source.close()
            if path.exists():
                aside = path.with_name(f"{path.name}.{ids.now()}.aside")
                _alone_or_refuse(path)
                path.replace(aside)
                reach("restore set aside")
                for suffix in ("-wal", "-shm"):  # belong to the file that was set aside, if it was too damaged to close
                    rest = path.with_name(path.name + suffix)
                    if rest.exists():
                        rest.replace(aside.with_name(aside.name + suffix))
            part.replace(path)
    finally:
        gate.close()
    return aside


def _alone_or_refuse(path: Path) -> None:
    """Leaving WAL mode needs every other connection to be closed, so it tells whether there are any. It also moves what
    is in the log into the file."""
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(1_000)
    try:
        connection.pragma("journal_mode", "delete")
    except (apsw.BusyError, apsw.LockedError) as e:
        raise StoreBusy(
            f"{path} is open in another program. Close it (application, sidecar, hooks), then try again."
        ) from e
    except apsw.Error:
        pass  # too damaged for that: it is set aside as it is
    finally:
        connection.close()


# -- errors


def _fails_all(error: BaseException) -> bool:
    """Errors that say the disk or the file is in trouble: no request of the batch may be called done."""
    return isinstance(error, (apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.NoMemError, apsw.NotADBError))


@contextlib.contextmanager
def _translated(location: str) -> Iterator[None]:
    try:
        yield
    except apsw.Error as e:
        raise _translate(e, location) from e


def _translate(e: apsw.Error, location: str) -> RecollectError:
    if isinstance(e, apsw.FullError):
        return DiskFull(f"No space left for {location}. Nothing was written; free some space and try again.")
    if isinstance(e, (apsw.BusyError, apsw.LockedError)):
        return StoreBusy(f"{location} is locked by another program ({e}). Nothing was written; close it and try again.")
    if isinstance(e, (apsw.CorruptError, apsw.NotADBError)):
        return Damaged(
            f"{location} is damaged ({e}). Run `recollect doctor` to see how badly and to save what is readable."
        )
    if isinstance(e, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)):
        return Refused(f"{location} cannot be written ({e}). Check that you own the file and its folder.")
    if isinstance(e, apsw.TooBigError):
        return InvalidInput(f"Too large for one row: {e}")
    if isinstance(e, apsw.ConstraintError):
        return AlreadyExists(f"{location}: {e}")
    return StorageError(f"{location}: {e}")


# -- fork

_live: "weakref.WeakSet[SQLite]" = weakref.WeakSet()
_left_alone: list[object] = []


def _leave_alone(engine: "_Engine | None") -> None:
    """Keep an inherited engine for ever: to close its connections in a child could delete the parent's log."""
    if engine is None:
        return
    import ctypes

    for inherited in (engine, engine._connection, *engine._readers):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited))
    _left_alone.append(engine)


def _after_fork() -> None:
    for store in list(_live):
        store._opening = threading.Lock()
        inherited, store._engine = store._engine, None
        if inherited is not None and inherited._path is None:
            inherited.pid = os.getpid()  # memory is copied by fork: it goes on, with fresh locks
            inherited._memory = threading.RLock()
            inherited._inside = False
            store._engine = inherited
        else:
            _leave_alone(inherited)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
