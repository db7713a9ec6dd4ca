"""Background work that survives a crash: a table of jobs, and a thread that does them.

A job is (kind, key). While one is queued, asking for the same again changes nothing: that is the debounce. A worker
claims a job by writing a lease into it; when its process dies, the lease runs out and another worker takes over. What
fails is tried again later and later, and after the last try stays visible with its error in `stats()`.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections import deque

from . import ids
from .db.points import reach
from .errors import InvalidInput, RecollectError, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .db import Database, Tx
    from .redact import Gate

    Handler = Callable[[str, str], None]
    """Does the job of (user, key); raises when it could not."""

LEASE_MS = 120_000
MAX_ATTEMPTS = 6
BACKOFF_MS = 1_000
LONGEST_BACKOFF_MS = 3_600_000
FOR_EVER = ("backup", "retain")
"""Kinds that come back by themselves: given up after a disk was full for two minutes, there would be no backup again."""
EXTRACT = "extract"
"""The kind under which a turn stands that could not be read for memories: `<conversation>:<branch>:<event>`."""
POLL_SECONDS = 5.0
RUSH, RUSH_SECONDS = 16, 0.1
"""So many appends in so short a time, and callers are in a hurry: 160 a second, more than anybody types."""
PAUSE_SECONDS = 0.025
"""How long it sleeps before it looks again whether callers are still in a hurry."""
PATIENCE_SECONDS = 10.0
STOP_SECONDS = 2.0
"""How long closing waits for a part of long work; then it is left to end with the process."""
END_SECONDS = 30.0
"""The same of the process itself: what is left then would take it down."""
REST = 9
"""As long as callers stay in a hurry beyond that, it rests so many times as long as it works."""


class Stopped(BaseException):
    """Raised between the parts of long work: the store is being closed."""


class Job:
    __slots__ = ("attempts", "id", "key", "kind")

    def __init__(self, id: int, kind: str, key: str, attempts: int) -> None:
        self.id = id
        self.kind = kind
        self.key = key
        self.attempts = attempts


def enqueue(tx: Tx, kind: str, key: str, *, delay_ms: int = 0) -> None:
    tx.queue(kind, key, delay_ms)


def claim(tx: Tx, but: Iterable[int] = ()) -> Job | None:
    """The next job that is due, taken for the time of a lease. A job whose worker vanished is due as well. What was
    tried before in the same round (`but`) is left for another."""
    now = ids.now()
    row = tx.one(
        "select id, kind, key, attempts from jobs where user_no = :user and"
        " ((state = 'queued' and run_at <= :now) or (state = 'running' and lease_until <= :now))"
        f" and id not in ({', '.join(str(int(id)) for id in but) or '0'})"
        " order by run_at, id limit 1" + (tx.for_update and " for update skip locked"),
        now=now,
    )
    if row is None:
        return None
    tx.run(
        "update jobs set state = 'running', lease_until = :until, attempts = attempts + 1 where user_no = :user and id = :id",
        id=row[0], until=now + LEASE_MS,
    )  # fmt: skip
    return Job(row[0], row[1], row[2], row[3] + 1)


def finish(tx: Tx, job: Job) -> None:
    tx.run("delete from jobs where user_no = :user and id = :id", id=job.id)


def drop(tx: Tx, kind: str, key: str) -> None:
    """What is queued has been done already."""
    tx.run(
        "delete from jobs where user_no = :user and kind = :kind and key = :key and state = 'queued'",
        kind=kind,
        key=key,
    )


def waiting(tx: Tx, kind: str) -> list[str]:
    """The keys of what is queued, or being done at this moment; oldest first."""
    rows = tx.all(
        "select key from jobs where user_no = :user and state in ('queued', 'running') and kind = :kind order by id",
        kind=kind,
    )
    return [row[0] for row in rows]


def fail(tx: Tx, job: Job, error: str) -> None:
    """Queue it again for later; give up after the last attempt. If the same was queued meanwhile, that one stands."""
    if _is_queued_again(tx, job):
        finish(tx, job)
        return
    tx.run(
        "update jobs set state = :state, run_at = :at, lease_until = null, last_error = :error"
        " where user_no = :user and id = :id",
        id=job.id, error=error,
        state="queued" if job.attempts < MAX_ATTEMPTS or job.kind in FOR_EVER else "failed",
        at=ids.now() + min(BACKOFF_MS * 2 ** min(job.attempts, 30), LONGEST_BACKOFF_MS),
    )  # fmt: skip


def take_back(tx: Tx, kind: str, key: str) -> None:
    """Remove the note that `give_up` left: it works again."""
    tx.run(
        "delete from jobs where user_no = :user and kind = :kind and key = :key and state = 'failed'",
        kind=kind,
        key=key,
    )


def give_up(tx: Tx, kind: str, key: str, error: str) -> None:
    """Leave a note of what could not be done and will not be tried again: `stats()` counts it and the doctor names it."""
    take_back(tx, kind, key)
    tx.run(
        "insert into jobs (user_no, kind, key, state, run_at, attempts, last_error, created_at)"
        " values (:user, :kind, :key, 'failed', :now, 1, :error, :now)",
        kind=kind, key=key, error=error, now=ids.now(),
    )  # fmt: skip


def put_back(tx: Tx, job: Job) -> None:
    """Begun, and not to be done by this process: whoever comes next takes it, and need not wait for the lease to end."""
    if _is_queued_again(tx, job):
        finish(tx, job)
        return
    tx.run(
        "update jobs set state = 'queued', lease_until = null, attempts = attempts - 1 where user_no = :user and id = :id",
        id=job.id,
    )


def _is_queued_again(tx: Tx, job: Job) -> bool:
    sql = "select 1 from jobs where user_no = :user and kind = :kind and key = :key and state = 'queued'"
    return tx.one(sql, kind=job.kind, key=job.key) is not None


def counts(tx: Tx) -> dict[str, int]:
    """How many there are by state; while there is embedding to do, `to_embed` says how much of it."""
    found = dict(tx.all("select state, count(*) from jobs where user_no = :user group by state order by state"))
    mark = tx.one(
        "select upto from embeddings where user_no = :user and exists"
        " (select 1 from jobs where user_no = :user and kind = 'embed')"
    )
    if mark is not None:
        left = tx.all(
            f"select (select count(*) from events{tx.by_id} where user_no = :user and id > :upto and id <= :high)"
            " + (select count(*) from memories where user_no = :user and id > :upto)"
            " + (select count(*) from passages where user_no = :user and id > :upto and id <= :high and id <> event_id)",
            upto=max(int(mark[0]), tx.low_id()), high=tx.high_id(),
        )[0][0]  # fmt: skip
        if left:
            found["to_embed"] = int(left)
    return found


def errors(tx: Tx) -> tuple[str, ...]:
    rows = tx.all(
        "select kind, key, attempts, last_error from jobs where user_no = :user and last_error is not null"
        " order by run_at desc limit 10"
    )
    return tuple(f"{kind} {key}, {attempts} attempts: {error}" for kind, key, attempts, error in rows)


def run_due(
    db: Database,
    user: str,
    handlers: Mapping[str, Handler],
    gate: Gate,
    *,
    hurry: tuple[str, ...] = (),
    before_each: Callable[[], None] | None = None,
) -> int:
    """Do what is due, one after the other; of the kinds in `hurry` also what was put off. Returns how many were done."""
    done = 0
    tried: set[int] = set()
    for kind in hurry:
        _hurry(db, user, kind)
    while True:
        if before_each is not None:
            before_each()
        job = db.write(user, lambda tx: claim(tx, tried))
        if job is None:
            return done
        tried.add(job.id)
        done += _do(db, user, job, handlers, gate)


def _hurry(db: Database, user: str, kind: str) -> None:
    db.write(
        user,
        lambda tx: tx.run(
            "update jobs set run_at = 0 where user_no = :user and state = 'queued' and kind = :kind",
            kind=kind,
        ),
    )


def _kept_of(e: Exception) -> str:
    """What a job remembers of an error: what we say ourselves. The words of a model or a driver may quote what it was given,
    and jobs hold no content: of those, the kind of error and where it met us."""
    cause = e.__cause__ or e.__context__
    if isinstance(e, RecollectError) and not (isinstance(e, InvalidInput) and e.quotes):
        said = str(e)
        for foreign in (str(cause), repr(cause)) if cause is not None else ():
            said = said.replace(foreign, "(its words are not kept)") if foreign.strip() else said
        return f"{type(e).__name__}: {said}"
    where = place(e)
    return type(e).__name__ if where is None else f"{type(e).__name__} in {where}"


def _do(db: Database, user: str, job: Job, handlers: Mapping[str, Handler], gate: Gate) -> bool:
    reach("job claimed")
    try:
        handler = handlers.get(job.kind)
        if handler is None:
            raise LookupError(f"no handler for jobs of kind {job.kind!r} in this process")
        handler(user, job.key)
    except Stopped:
        db.write(user, lambda tx: put_back(tx, job))
        raise
    except Exception as e:
        said = gate.another().text(_kept_of(e))
        db.write(user, lambda tx: fail(tx, job, said))
        return False
    reach("job done")
    db.write(user, lambda tx: finish(tx, job))
    return True


class Questions:
    """`with` it somebody looks for something, and waits for the answer: that goes before what is done in the background."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.open = 0

    def __enter__(self) -> None:
        with self._lock:
            self.open += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self.open -= 1


class Worker:
    """The thread of this process that does jobs. It starts when the first one is queued here, and looks every few
    seconds for what other processes left behind.

    Callers go first: while appends come fast, or somebody searches, it waits for them to pause, since to embed and to
    extract take as much of Python as they do. It waits for ten seconds at most, so that what is found stays close behind
    what was said, and then takes a tenth of the time until they pause: in long turns of its own it doubled what an append
    took meanwhile."""

    def __init__(
        self, db: Database, handlers: Mapping[str, Handler], gate: Gate, chore: Callable[[], None] | None = None
    ) -> None:
        self._chore = chore
        """What is done whenever it is awake: small things that are not worth a job."""
        self._db = db
        self._handlers = handlers
        self._gate = gate
        self._fresh()

    def _fresh(self) -> None:
        self._pid = os.getpid()
        self._users: set[str] = set()
        self._calls: deque[float] = deque(maxlen=RUSH)
        self._waited = 0.0
        """For how long, since callers last paused."""
        self._worked = 0.0
        """The processor time of this thread, when it last gave way."""
        self._due = time.monotonic() + POLL_SECONDS
        self._wake = threading.Event()
        self._turn = threading.Lock()
        """Held while it does what is due."""
        self._awaited = 0
        """How many callers wait for it (`settle`)."""
        self.questions = Questions()
        self._stopping = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def wake(self, user: str, delay_ms: int = 0, calls: int = 1) -> None:
        """There is work, now or soon. What may wait is waited for, so that many small writes become one job. `calls`: how many
        callers it comes from, who were served together."""
        if self._pid != os.getpid():  # forked: the thread stayed with the parent
            self._fresh()
        now = time.monotonic()
        self._calls.extend([now] * calls)
        with self._lock:
            self._users.add(user)
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._serve, name="recollect-jobs", daemon=True)
                self._thread.start()
                _working.add(self)
            due = now + delay_ms / 1000
            if due >= self._due:
                return  # it will be awake by then
            self._due = due
        self._wake.set()

    def give_way(self) -> None:
        """Let callers go first who are in a hurry, and end with the store: a thread that is inside C++ when the interpreter
        ends takes the process down with it. Long work calls this between its parts; outside of this thread, where somebody
        waits for the work (`settle`), it does nothing."""
        if threading.current_thread() is not self._thread:
            return
        rest = REST * (time.thread_time() - self._worked)
        while self._is_rush() and (self._waited <= PATIENCE_SECONDS or rest > 0):
            time.sleep(PAUSE_SECONDS)
            self._waited += PAUSE_SECONDS
            rest -= PAUSE_SECONDS
        if self._stopping:
            raise Stopped
        self._worked = time.thread_time()

    def _is_rush(self) -> bool:
        if self._stopping or self._awaited:
            return False
        if self.questions.open:
            return True
        calls = list(self._calls)
        if len(calls) == RUSH and time.monotonic() - calls[0] <= RUSH_SECONDS:
            return True
        self._waited = 0.0
        return False

    def wait(self) -> None:
        """Until what is being done by this thread at the moment is done."""
        if self._pid == os.getpid() and threading.current_thread() is not self._thread:
            self._awaited += 1
            try:
                with self._turn:
                    pass
            finally:
                self._awaited -= 1

    def _serve(self) -> None:
        while True:
            self._wake.clear()
            if self._stopping:  # asked after clearing: to be stopped in between would go unheard
                return
            with self._lock:
                wait = self._due - time.monotonic()
                if wait <= 0:
                    self._due = time.monotonic() + POLL_SECONDS
            if wait > 0:
                self._wake.wait(wait)
                continue
            try:
                self.give_way()
                with self._turn:
                    self._do_what_is_due()
            except Stopped:
                return

    def _do_what_is_due(self) -> None:
        try:
            if self._chore is not None:
                self._chore()
            for user in list(self._users):
                run_due(self._db, user, self._handlers, self._gate, before_each=self.give_way)
        except Exception:
            # The database is away, busy or full: the jobs are in it and wait. Callers meet the error themselves.
            return

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        self._stopping = True
        if self._pid == os.getpid() and self._thread is not None:
            self._wake.set()
            self._thread.join(seconds)


_working: weakref.WeakSet[Worker] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Who leaves without closing a store: see `give_way`. What waits is in the store, and is done by whoever opens it next."""
    for worker in list(_working):
        worker.stop(END_SECONDS)
