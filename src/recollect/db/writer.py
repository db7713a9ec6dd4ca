"""One process's share of a store's file: a writer thread, and a reading connection for each thread.

Writing: a verb queues a closure and waits; the writer takes what is queued, runs it in one transaction under the gate
and commits once for all of them. A lone caller waits for one fsync, eight callers share it. There is no timed wait for
more to come: what is there is committed. One bad request fails alone: when it does, all is rolled back and the others
are run again, with a savepoint for each.
"""

from __future__ import annotations

import os
import threading
import time
import weakref

import apsw

from ..errors import FileReplaced, OutcomeUnknown, StoreBusy
from . import migrate, wal
from .file import bring_up_to_date, check_ours, connect, copy, fails_all, prepare, unlock, version_of
from .gate import Gate
from .place import Place, which
from .points import reach
from .transaction import NESTED, Batch, SQLiteTx
from .users import Users
from .wal import Wal

try:
    from _queue import Empty, SimpleQueue
except ImportError:  # an interpreter without the C module
    from queue import Empty, SimpleQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..model import Progress
    from . import Row, Tx
    from .cipher import Cipher, Key
    from .place import Which

    T = TypeVar("T")

UNFINISHED = "select id from users where no in (select user_no from receipts where finished_at is null)"
MAX_BATCH = 256
MAX_BATCH_SECONDS = 0.010
TURN_SECONDS = 0.003  # so long the gate is kept while there is more to write: to take it again costs a tenth of a batch
IDLE_SECONDS = 0.2
READ_CACHE_KB = -16_000  # negative: kilobytes, not pages
CONVERTING = ".converting"  # the folder beside a store in which it gets another key
BUSY_MS = (1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100)  # between tries for a locked file, as SQLite itself has it
BUSY_TRIES = 58  # 5 s in all


class Request:
    """What a caller hands to the writer. The token decides who has it: the writer that starts it, or the caller that
    gives up waiting; `list.pop` is atomic, so exactly one of them gets it."""

    __slots__ = ("alone", "brief", "done", "error", "fn", "result", "token", "user")

    def __init__(self, user: str, fn: Callable[[Tx], Any], *, brief: bool = False, alone: bool = False) -> None:
        self.user = user
        self.brief = brief
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


def _answer(batch: list[Request], error: BaseException | None = None) -> None:
    """Let those go on whose request is done, or failed."""
    for request in batch:
        if error is not None and request.error is None:
            request.error = error
        request.done.release()
    batch.clear()


class Reader:
    """A connection for reading, and the lock that is held while it is in use."""

    __slots__ = ("__weakref__", "connection", "lock")

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.lock = threading.Lock()


class Engine:
    """Everything of a store's file that belongs to one process."""

    def __init__(self, path: str, timeout: float, key: Key | None = None) -> None:
        self.pid = os.getpid()
        self._path = path
        self._key = key
        self._timeout = timeout
        self._users = Users()
        self._queue: SimpleQueue[Request | None] = SimpleQueue()
        self._local = threading.local()
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        self._starting = threading.Lock()
        self._writing = threading.Lock()
        """Held while the writer's connection is in use. With it and every reader's lock in hand, nobody of this process
        is inside SQLite, and it can be forked."""
        self._thread: threading.Thread | None = None
        self._next: Request | None = None
        self._written: list[Request] = []
        """What the last transaction has done. When a brief one follows at once, the callers are told while it is being
        committed: earlier, they and the writer would only wait for each other, for the interpreter's lock."""
        self._lost = False
        self._place = Place(path)
        self._wal = Wal(self._place)
        self.unfinished: list[str] = []
        """Users with an erasure that was interrupted: found when the file was opened."""
        self._batches = 0
        self._name = os.urandom(6).hex()
        self._proof: tuple[int, int] | None = None
        self._batch = Batch()
        self._cipher = prepare(path, key)
        self._gate = Gate(path + ".lock")
        try:
            if self._cipher is not None:
                self._tidy(path, self._cipher)
            self._connection = self._connect_writer(path)
        except BaseException:
            self._gate.close()
            raise

    # -- connections

    def _connect_writer(self, path: str) -> apsw.Connection:
        opened = which(path)
        connection = connect(path, self._cipher)
        try:
            return self._set_up(connection, path, opened)
        except BaseException:
            connection.close(True)
            raise

    def _set_up(self, connection: apsw.Connection, path: str, opened: Which | None) -> apsw.Connection:
        version = version_of(connection, path)
        if self._cipher is not None:
            check_ours(connection, path)
        if version < migrate.LATEST or connection.pragma("journal_mode") != "wal":
            with self._gate.within(self._timeout):
                if which(path) != opened:  # a backup, or itself with another key, was put there while we waited
                    connection.close()
                    self._cipher = unlock(path, self._key)
                    return self._connect_writer(path)
                version = version_of(connection, path)  # another process may have been faster
                if version < migrate.LATEST:
                    bring_up_to_date(connection, path, version, self._cipher)
                connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("secure_delete", True)
        connection.wal_autocheckpoint(0)  # not inside COMMIT: see `_checkpoint`
        connection.set_busy_handler(self._while_busy)
        if migrate.LATEST >= migrate.ERASURE:
            self.unfinished = [row[0] for row in connection.execute(UNFINISHED)]
        connection.pragma("schema_version")  # SQLite makes the log at the first read, and `taken` looks for it
        self._place.taken(opened)
        return connection

    def _while_busy(self, tries: int) -> bool:
        """A foreign program has the file, or a checkpoint that waits for somebody's long read. Who is written already does
        not wait for that."""
        _answer(self._written)
        time.sleep(BUSY_MS[min(tries, len(BUSY_MS) - 1)] / 1000)
        return tries < BUSY_TRIES

    def _tidy(self, path: str, cipher: Cipher) -> None:
        """Of an encrypted store: keep its salt in the lock file as well, without which a passphrase opens nothing, and
        take away what is left of a conversion that was killed. It may be in the clear."""
        try:
            self._gate.note(cipher.header)
        except OSError:
            pass  # held by another process, which on Windows keeps everyone from reading it: the next opening notes it
        if os.path.isdir(path + CONVERTING):
            import shutil

            with self._gate.within(self._timeout):  # not while it is going on
                shutil.rmtree(path + CONVERTING, ignore_errors=True)

    def _reader(self) -> Reader:
        reader: Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._new_reader()
            with reader.lock:  # a fork in between would copy SQLite's own locks as they are taken
                reader.connection.pragma("query_only", True)
                # A search reads some hundred rows from everywhere.
                reader.connection.pragma("cache_size", READ_CACHE_KB)
        return reader

    def _new_reader(self) -> Reader:
        with self._starting:
            reader = Reader(connect(self._path, self._cipher))
            self._readers.add(reader)
        self._place.size()  # it may be another file that was opened just now
        return reader

    # -- reading

    def read(self, user: str, fn: Callable[[Tx], T]) -> T:
        self._refuse_nesting()
        self._place.now_and_then()
        reader = self._reader()
        connection = reader.connection
        with reader.lock:
            try:
                connection.execute("begin")
                try:
                    return fn(SQLiteTx(connection, self._users.number(connection, user)))
                finally:
                    if connection.in_transaction:
                        connection.execute("commit")
            except apsw.Error:
                self._place.size()  # what was replaced under a reader reads as damaged
                raise

    def query(self, sql: str) -> list[Row]:
        self._place.now_and_then()
        reader = self._reader()
        with reader.lock:
            return reader.connection.execute(sql).fetchall()

    def check(self) -> list[str]:
        """SQLite's own check, on a connection of its own: FTS5 remembers the shape of an index, and calls one that has
        shrunk since damaged."""
        reader = self._new_reader()
        with reader.lock:
            try:
                return [str(row[0]) for row in reader.connection.execute("pragma integrity_check")]
            finally:
                reader.connection.close()

    # -- writing

    def write(self, user: str, fn: Callable[[Tx], T], brief: bool = False) -> T:
        self._refuse_nesting()
        if self._thread is None:
            self._start()
        return self._submit(Request(user, fn, brief=brief))  # type: ignore[no-any-return]

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="recollect-writer", daemon=True)
                self._thread.start()

    def _submit(self, request: Request) -> Any:
        self._queue.put(request)
        if not request.done.acquire(timeout=self._timeout):
            if request.claim():
                raise StoreBusy(
                    f"{self._path} is held by another process: no turn to write within {self._timeout:g} s. Nothing was "
                    f"written. `recollect doctor {self._path}` says which program holds it; or raise busy_timeout_ms."
                )
            request.done.acquire()  # it has been started: its outcome is a commit away
        if request.error is not None:
            raise request.error
        return request.result

    def _refuse_nesting(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError(NESTED)

    def _serve(self) -> None:
        """The writer thread."""
        with self._writing:
            self._wal.count(self._connection)
        while True:
            try:
                first, self._next = self._next, None
                first = first or self._queue.get(timeout=IDLE_SECONDS if self._wal.pages else None)
            except Empty:
                self._checkpoint()
                continue
            if first is None:
                return
            batch: list[Request] = []
            error: BaseException | None = None
            last = False
            try:
                with self._gate, self._writing:
                    reach("gate taken")
                    until = time.monotonic() + TURN_SECONDS
                    while first is not None:
                        if self._lost:  # a commit failed in a way that closed the connection: try anew, every time
                            _answer(self._written)
                            self._connection = self._connect_writer(self._path)
                            self._lost = False
                        last = self._alone(first, batch) if first.alone else self._fill(first, batch)
                        _answer(self._written)
                        self._written, batch = batch, []
                        if last or self._next or self._queue.empty() or time.monotonic() > until:
                            break
                        first = self._queue.get_nowait()
                        last = first is None
            except BaseException as e:
                error = self._refusal(e)
                if self._place.gone:
                    self._leave()
                if first is not None and first not in self._written:  # else what failed came after it
                    first.claim()
                    if first not in batch:
                        batch.append(first)
            _answer(self._written)
            _answer(batch, error)
            if self._wal.pages > wal.MAX_PAGES:
                self._checkpoint()
            if last:
                return

    def _fill(self, first: Request, batch: list[Request]) -> bool:
        """One transaction with all that is queued. True when the store is being closed."""
        if self._place.gone:
            self._place.refuse()
        self._connection.execute("begin immediate")
        reach("transaction begun")
        self._wal.begun()
        until = time.monotonic() + MAX_BATCH_SECONDS
        self._batch.begin(self._connection)
        self._proof = None
        new_users: dict[str, int] = {}
        careful = False
        closing = False
        request: Request | None = first
        try:
            while request is not None:
                if request.alone:
                    self._next = request  # after this batch
                    break
                if not request.brief:
                    _answer(self._written)
                if request.claim():
                    batch.append(request)
                    if careful:
                        self._apply_carefully(request, new_users)
                    elif not self._apply_first(request, new_users):
                        new_users.clear()
                        careful = len(batch) > 1
                        if careful:
                            self._repeat(batch, new_users)
                if len(batch) >= MAX_BATCH or time.monotonic() > until:
                    break
                try:
                    request = self._queue.get_nowait()
                except Empty:
                    break
                closing = request is None
            if not careful and not self._finish():
                new_users.clear()
                self._repeat(batch, new_users)
            if any(request.error is None for request in batch):
                self._commit()
                self._batch.committed(None if self._lost else self._connection)
                if not self._lost:
                    self._wal.committed(self._connection)
                self._users.known |= new_users
            else:
                self._connection.execute("rollback")
        except BaseException:
            self._batch.undo()
            if closing:
                self._queue.put(None)  # still so
            if not self._lost and self._connection.in_transaction:
                self._connection.execute("rollback")
            raise
        return closing

    def _apply_first(self, request: Request, new_users: dict[str, int]) -> bool:
        """Hardly any request fails, and a savepoint costs as much as an insert: the first try is without. False when it
        failed, and with it all of the transaction, which has been begun anew."""
        try:
            self._apply(request, new_users)
            reach("request applied")
            return True
        except BaseException as e:
            self._begin_anew(e)
            request.error = e  # unless it has to be repeated
            return False

    def _apply(self, request: Request, new_users: dict[str, int]) -> None:
        request.result, drew = self._users.serve(self._connection, self._batch, request.user, request.fn, new_users)
        self._proof = drew or self._proof

    def _finish(self) -> bool:
        """What waits for the end is written. False when it failed, and with it all of the transaction."""
        try:
            self._batch.finish(self._connection)
            return True
        except BaseException as e:
            self._begin_anew(e)
            return False

    def _begin_anew(self, e: BaseException) -> None:
        self._place.size()  # what was replaced under us lacks this and that: a request fails by it
        if fails_all(e) or not self._connection.in_transaction:
            raise e
        self._connection.execute("rollback")
        self._connection.execute("begin immediate")
        self._batch.undo()
        self._proof = None

    def _repeat(self, batch: list[Request], new_users: dict[str, int]) -> None:
        for request in batch:
            self._apply_carefully(request, new_users)

    def _apply_carefully(self, request: Request, new_users: dict[str, int]) -> None:
        known, proof = dict(new_users), self._proof
        request.error = None
        self._connection.execute("savepoint one")
        try:
            self._apply(request, new_users)
            self._batch.finish(self._connection)
            reach("request applied")
        except BaseException as e:
            if fails_all(e) or not self._connection.in_transaction:
                raise
            request.error = e
            self._connection.execute("rollback to one")
            self._batch.undo()
            self._proof = proof
            new_users.clear()
            new_users |= known
        self._connection.execute("release one")

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
        _answer(self._written)
        try:
            self._connection.execute("commit")
            reach("after commit")
        except apsw.Error as e:
            if self._connection.in_transaction:
                raise  # it did not happen: the caller rolls back
            # Neither done nor undone as far as this connection knows. Open anew, which reads the log from the disk as
            # a recovery would, look for our mark, and only call it done after a sync that succeeded.
            self._lost = True
            self._place.size()
            self._place.without_log()
            try:
                self._connection.close(True)
                look = connect(self._path, self._cipher)
                try:
                    if look.execute(*mark).fetchall():
                        look.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
                        return
                finally:
                    look.close(True)
            except apsw.Error as again:
                raise OutcomeUnknown(
                    f"{self._path}: the commit failed ({e}) and so did looking for it ({again}). Look before you "
                    "repeat, or repeat with the same key=; `recollect doctor` checks the file."
                ) from e
            raise

    # -- the whole file

    def _alone(self, request: Request, batch: list[Request]) -> bool:
        """A request that is no transaction but needs the file for itself."""
        _answer(self._written)
        if request.claim():
            batch.append(request)
            self._batch.undo()
            self._place.size()
            request.fn(SQLiteTx(self._connection, 0))
            self._place.size()
        return False

    def copy(self, to: str, progress: Progress | None) -> None:
        reader = self._new_reader()
        source = reader.connection
        with reader.lock:
            # The snapshot is held for as long as it takes: without it, every commit would start the copy anew.
            source.execute("begin")
            source.execute("select 1 from meta").fetchall()
            copy(source, to, progress, self._cipher)
            source.close()
        self._place.size()

    def compact(self, progress: Progress | None) -> None:
        log = self._path + "-wal"

        def work(_tx: Tx) -> None:
            connection = self._connection
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            total = int(connection.pragma("page_count"))

            def watch() -> bool:
                if progress and os.path.exists(log):  # VACUUM writes every page it keeps into the log
                    progress("compacting", min(total, os.path.getsize(log) // 4120), total)
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
        self._submit(Request("", work, alone=True))

    def _checkpoint(self) -> None:
        reach("before checkpoint")
        with self._writing:
            self._wal.checkpoint(self._connection)
        reach("after checkpoint")

    def truncate_wal(self) -> None:
        wal.truncate(self._path, self._cipher)
        self._place.size()

    # -- forking

    def quiesce(self) -> list[Any]:
        """Wait until nobody of this process is inside SQLite, and keep everybody out. Returns the locks to release."""
        held = [self._starting, self._writing]
        for lock in held:
            lock.acquire()
        for reader in list(self._readers):
            reader.lock.acquire()
            held.append(reader.lock)
        return held

    def survive(self) -> bool:
        """In the child: close the copied connections without a checkpoint, without touching the parent's files. Left open,
        SQLite would believe that the child holds the parent's locks, which a fork does not inherit, and take none. Says
        whether it can still be used: it cannot."""
        for connection in (self._connection, *(reader.connection for reader in self._readers)):
            try:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                connection.close(True)
            except apsw.Error:
                pass
        self._gate.close()  # never unlock: the lock belongs to the open file, which the parent shares
        return False

    def _refusal(self, e: BaseException) -> BaseException:
        """A file that was replaced under us reads as damaged: then that is the error."""
        if isinstance(e, apsw.Error):
            try:
                self._place.size()
            except FileReplaced as replaced:
                replaced.__cause__ = e
                return replaced
        return e

    def watch(self) -> None:
        """Somebody is about to open the path in this process, where SQLite's locks do not keep two files apart that had the
        same name."""
        try:
            self._place.size()
        except FileReplaced:
            self._leave()

    def _leave(self) -> None:
        """Save what can be saved, and do no harm to the file that has taken the place of ours: SQLite would remove its log when
        the last connection to ours is closed."""
        for connection in (self._connection, *(reader.connection for reader in list(self._readers))):
            try:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            except apsw.Error:
                pass  # closed already
        try:
            gate = Gate(self._path + ".lock")  # the writer's own would let this thread in while the writer holds it
        except OSError:
            return  # the folder is gone as well
        try:
            with gate.within(self._timeout), self._writing:
                if self._place.has_lost_its_log():
                    self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
                self._place.set_aside()
        except (apsw.Error, StoreBusy):
            pass
        finally:
            gate.close()

    def close(self) -> None:
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(self._timeout)
            if self._thread.is_alive():  # stuck at the gate behind a stopped process: it ends with the process
                return
        if self._place.gone:
            self._leave()
        self._place.is_closing = True
        for reader in list(self._readers):
            try:
                reader.connection.close()
            except apsw.Error:
                pass  # in use by another thread at this moment
        self._connection.close()
        self._gate.close()
