"""A server: psycopg 3, pooled connections, the tables in a schema of their own (`recollect`).

Each write is one transaction on a pooled connection, and leaves a mark of its own in the table `meta`. When a connection
breaks during COMMIT, the mark is looked for once the server answers again: the answer to "was it written?" is never a
guess. (The transaction's number would not do: after a crash, one that was never flushed is handed out again.) Row-level
security repeats the WHERE of every statement; the settings it reads are set for each transaction.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg import errors as pg
from psycopg import pq
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from .. import ids
from ..config import Settings
from ..errors import (
    AlreadyExists,
    DiskFull,
    InvalidInput,
    NewerSchema,
    OutcomeUnknown,
    RecollectError,
    Refused,
    StorageError,
    StoreBusy,
    StoreClosed,
    Unavailable,
)
from . import Retry, migrate
from .line import Line, More, Prepared
from .postgres_tx import PostgresTx

if TYPE_CHECKING:
    from ..model import Progress
    from . import Row, Tx

    Connection = psycopg.Connection[Row]

T = TypeVar("T")
MIGRATION_LOCK = 0x52434C54
TRIES = 8
SETTLE_PAUSE = 0.005  # seconds between looks at who is still writing
LOOK_SECONDS = 0.05  # while opening: how often to look whether the server has said no
ASK_SECONDS = 10.0  # how long to look for the outcome of a commit whose answer was lost

_WHOSE = b"select set_config('recollect.user_id', $1, true), set_config('recollect.user_no', $2, true)"
_MARK = b"with mark as (insert into meta (name, value) values ($3, $4) on conflict (name) do update set value = excluded.value) "
_PLANNED_ONCE = b", set_config('plan_cache_mode', 'force_generic_plan', true)"
"""Else a server plans a statement five times anew, on each connection, before it keeps a plan: twice what it takes to run it."""


ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}
"""A server whose machine or network went away without a word is given up after 25 seconds, not after 15 minutes or two hours,
as the system would. An address may say otherwise."""


class Postgres:
    """See `Database`."""

    dialect = "postgres"

    def __init__(self, url: str, settings: Settings) -> None:
        self.location = _without_password(url)
        self._users: dict[str, int] = {}
        self._sessions: weakref.WeakKeyDictionary[Connection, _Session] = weakref.WeakKeyDictionary()
        self._settling = threading.Lock()
        self._settled = 0
        self._drawn: list[tuple[int, int]] = []
        """What had been drawn at some moments, and the next transaction's number just after: see `settled`."""
        self._wait = settings.connect_timeout_ms / 1000
        options = f"-c statement_timeout={settings.statement_timeout_ms} -c search_path=recollect,public"
        try:
            given = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as e:
            why = str(e).strip() if self.location == url else _ENCODE  # it quotes what it stumbles over
            raise InvalidInput(f"{self.location} is not a Postgres address: {why}") from None
        self._last = last = _LastAttempt(is_misread=_is_misread(url, given.get("password")))
        self._make: Callable[[], ConnectionPool[Connection]] = (
            lambda: ConnectionPool(
                url,
                kwargs={
                    "autocommit": True,  # BEGIN and COMMIT are ours: what COMMIT answers decides everything
                    "prepare_threshold": None,  # with its own, psycopg makes the server forget all others after a rollback
                    "options": f"{given.get('options') or ''} {options}".strip(),
                    "connect_timeout": max(2, round(self._wait)),
                    "application_name": given.get("application_name") or "recollect",
                    **{name: value for name, value in ALIVE.items() if name not in given},
                },
                connection_class=_noted(last),
                min_size=settings.pool_min,
                max_size=settings.pool_max,
                timeout=self._wait,
                reconnect_timeout=self._wait,
                open=True,
            )
        )
        # What goes wrong is raised to the caller, typed; the pool's own warnings would land on a user's terminal.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        self._pid = os.getpid()
        with self._translated():
            self._pool_here: ConnectionPool[Connection] = self._make()
            try:
                self._reach()
                self._migrate()
            except BaseException:
                self._pool_here.close()
                raise

    @property
    def _pool(self) -> ConnectionPool[Connection]:
        if self._pid != os.getpid():  # forked: the inherited sockets are the parent's, left alone for ever
            _left_alone.append(self._pool_here)
            self._pool_here, self._pid = self._make(), os.getpid()
        return self._pool_here

    # -- transactions

    def read(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        begin = b"begin isolation level repeatable read read only"
        with self._translated():
            return self._transaction(user, fn, begin, create=False, brief=brief, keyed=keyed)

    def write(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        with self._translated():
            return self._transaction(user, fn, b"begin", create=True, keyed=keyed)

    def _transaction(
        self, user: str, fn: Callable[[Tx], T], begin: bytes, *, create: bool, brief: bool = False, keyed: bool = False
    ) -> T:
        may_end = True
        for attempt in range(TRIES):
            try:
                return self._once(user, fn, begin, create, brief, keyed, may_end)
            except More:  # not so brief after all
                brief = may_end = False
            except Retry:
                self._users.pop(user, None)
            except (pg.SerializationFailure, pg.DeadlockDetected):
                if attempt == TRIES - 1:
                    raise
                time.sleep(random.uniform(0, 0.01 * 2**attempt))
            except _Stale:
                self._pool.check()  # the server was restarted: throw the dead connections away
        raise Unavailable(f"{self.location} keeps dropping connections. Nothing was written; try again.")

    def _once(
        self, user: str, fn: Callable[[Tx], T], begin: bytes, create: bool, brief: bool, keyed: bool, may_end: bool
    ) -> T:
        with self._pool.connection() as connection:
            session = self._sessions.get(connection)
            if session is None:
                session = self._sessions[connection] = _Session()
            no = self._users.get(user, 0)
            line = Line(connection, session.prepared, ends_with=b"commit" if brief and no else None)
            mark = _Mark(session.name, f"{secrets.token_hex(8)} {ids.now()}", connection.info.backend_pid)
            is_ending = False
            try:
                # The beginning goes on its way with the first question, and the commit with what was written last.
                line.say(begin)
                whose = _WHOSE + _PLANNED_ONCE if keyed else _WHOSE
                if create:
                    line.say(_MARK + whose, (user, str(no), mark.owner, mark.token))
                else:
                    line.say(whose, (user, str(no)))
                if not no:
                    no = self._learn_number(line, user, create)
                result = fn(PostgresTx(line, no, may_end=may_end and not create))
                is_ending = True
                if not line.has_ended:
                    line.say(b"commit")
                    line.exchange()
            except BaseException as e:
                line.give_up(e)
                if not line.is_lost:
                    if connection.pgconn.transaction_status != pq.TransactionStatus.IDLE:
                        with contextlib.suppress(psycopg.Error):
                            connection.execute(b"rollback")
                    raise
                if not isinstance(e, (psycopg.OperationalError, psycopg.InterfaceError)):
                    raise
                if not is_ending:
                    if line.was_answered:
                        raise
                    raise _Stale from e  # nothing was heard from it yet: a fresh connection may try
                if create and not self._was_committed(mark, e):
                    raise _Stale from e
        if create:
            self._users[user] = no
        return result

    def _learn_number(self, line: Line, user: str, create: bool) -> int:
        found = line.say(b"select no from users where id = $1", (user,)).rows()
        found = found or self._erased_no(line, user, create)
        if not found and create:
            line.say(
                b"insert into users (id, created_at) values ($1, $2) on conflict (id) do nothing", (user, ids.now())
            )
            found = line.say(b"select no from users where id = $1", (user,)).rows()
            if not found:
                raise StorageError(f"{self.location}: the user could not be added.")
        no = int(found[0][0]) if found else 0
        line.say(b"select set_config('recollect.user_no', $1, true)", (str(no),))
        return no

    def _erased_no(self, line: Line, user: str, create: bool) -> list[Row]:
        """The number of someone who was erased: what is left of them is receipts, and what must not come back. When they
        write again, they have their name back."""
        key = line.say(b"select value from meta where name = 'erasure key'").rows()
        name = ids.ERASED + ids.keyed(str(key[0][0]) if key else "", "user", user)
        line.say(b"select set_config('recollect.admin', 'on', true)")
        found = line.say(b"select no from users where id = $1", (name,)).rows()
        if found and create:
            line.say(b"update users set id = $1 where no = $2", (user, found[0][0]))
        line.say(b"select set_config('recollect.admin', '', true)")
        return found

    def _was_committed(self, mark: _Mark, cause: BaseException) -> bool:
        """Look for a transaction's mark once the server answers again. That it is not there is final only when the backend
        that was to write it is gone: its COMMIT may still be running."""
        until = time.monotonic() + ASK_SECONDS
        while time.monotonic() < until:
            try:
                self._pool.check()
                with self._pool.connection(timeout=1.0) as connection:
                    gone = not connection.execute(
                        "select 1 from pg_stat_activity where pid = %s and pid <> pg_backend_pid()", (mark.backend,)
                    ).fetchone()
                    if connection.execute(
                        "select 1 from meta where name = %s and value = %s", (mark.owner, mark.token)
                    ).fetchone():
                        return True
                    if gone:
                        return False
            except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout):
                pass
            time.sleep(0.1)
        raise OutcomeUnknown(
            f"{self.location} went away during a commit and did not come back within {ASK_SECONDS:g} s. "
            "Read before you repeat, or repeat with the same key=."
        ) from cause

    # -- the rest of the protocol

    def users(self, *, erased: bool = False) -> list[str]:
        with self._translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute("select set_config('recollect.admin', 'on', true)")
            found = connection.execute("select id from users order by id")
            return [row[0] for row in found if erased or not row[0].startswith(ids.ERASED)]

    def unfinished(self) -> list[str]:
        if migrate.LATEST < migrate.ERASURE:
            return []
        with self._translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute("select set_config('recollect.admin', 'on', true)")
            rows = connection.execute(
                "select id from users where no in (select user_no from receipts where finished_at is null)"
            )
            return [row[0] for row in rows]

    def check(self) -> list[str]:
        return []  # the server's own checksums and amcheck are its operator's: docs/how-to/postgres.md

    def scrub(self) -> None:
        pass  # VACUUM is the server's; what it leaves behind, and for how long, is in docs/how-to/postgres.md

    def compact(self, progress: Progress | None, /) -> tuple[int, int]:
        with self._translated(), self._pool.connection():
            pass  # closed or away comes first
        raise Refused(f"{self.location} is compacted by the server's own VACUUM; see docs/how-to/postgres.md.")

    def settled(self, patience: float = 0.0) -> int:
        """Ids come from a sequence, so that a lower one may be committed after a higher one. Every writer has its
        transaction's number before it draws an id (`_once` leaves a mark). So an id that was drawn when we looked belongs
        to a transaction below the next number that the server would give after that, and once the oldest transaction under
        way has passed this number, they have all ended. (A snapshot's xmax would not do: it follows the newest transaction
        that has ended, and others beyond it may be under way. `age` knows the next number without taking one.) A long
        transaction anywhere on the server, in another database too, holds this up; nothing is missed."""
        until = time.monotonic() + patience
        settled, drawn = self._look_for_settled()
        while settled < drawn and time.monotonic() < until:
            time.sleep(SETTLE_PAUSE)
            settled, _ = self._look_for_settled()
        return settled

    def _look_for_settled(self) -> tuple[int, int]:
        """Up to where all is settled, and what has been drawn by now."""
        with self._translated(), self._pool.connection() as connection:
            drawn = connection.execute("select last_value from event_ids").fetchone()
            seen = connection.execute(
                "select cast(pg_snapshot_xmin(s) as text), age(xid(pg_snapshot_xmin(s))) from pg_current_snapshot() s"
            ).fetchone()
        assert drawn is not None and seen is not None
        with self._settling:
            mark = (int(drawn[0]), int(seen[0]) + int(seen[1]))
            last = self._drawn[-1][0] if self._drawn else self._settled
            if mark[0] > last and len(self._drawn) < 64:
                self._drawn.append(mark)
            elif mark[0] > last:
                self._drawn[-1] = mark  # a later mark takes longer to settle, and settles more
            while self._drawn and self._drawn[0][1] <= int(seen[0]):
                self._settled = max(self._settled, self._drawn.pop(0)[0])
            return self._settled, mark[0]

    def size(self) -> int:
        with self._translated(), self._pool.connection() as connection:
            row = connection.execute(
                "select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c "
                "join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'recollect' and c.relkind = 'r'"
            ).fetchone()
            return int(row[0]) if row else 0

    def schema(self) -> int:
        with self._translated(), self._pool.connection() as connection:
            return _version(connection)

    def role(self) -> tuple[str, bool]:
        """As whom we work here, and whether row-level security binds them: a superuser sees through it."""
        with self._translated(), self._pool.connection() as connection:
            row = connection.execute("select current_user, row_security_active('recollect.events')").fetchone()
        assert row is not None
        return str(row[0]), bool(row[1])

    def close(self) -> None:
        self._pool.close()

    # -- opening

    def _reach(self) -> None:
        """Until the server takes us, or says what will not change while we wait. The pool itself would go on trying."""
        until = time.monotonic() + self._wait
        while True:
            try:
                self._pool_here.putconn(self._pool_here.getconn(timeout=LOOK_SECONDS))
                return
            except PoolTimeout:
                if time.monotonic() > until or (self._last.failure and _FINAL.search(self._last.failure)):
                    raise

    def _migrate(self) -> None:
        with self._pool.connection() as connection:
            if connection.info.server_version < 150000:
                raise Refused(
                    f"{self.location} runs Postgres {connection.info.server_version // 10000}; 15 or newer is needed."
                )
            version = _version(connection)
            for number, script in migrate.scripts("postgres", version) if version < migrate.LATEST else []:
                with connection.transaction():
                    connection.execute("select pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
                    if _version(connection) >= number:  # another client was faster
                        continue
                    connection.execute("create schema if not exists recollect")
                    connection.execute(
                        "create table if not exists recollect.schema_versions "
                        "(version bigint primary key, applied_at bigint not null)"
                    )
                    connection.execute("set local search_path = recollect, public")
                    connection.execute(script.encode())
                    connection.execute(
                        "insert into schema_versions (version, applied_at) values (%s, %s)", (number, ids.now())
                    )
            if version <= migrate.LATEST:  # marks of connections that ended days ago
                connection.execute(
                    "delete from recollect.meta where name like 'commit %%'"
                    " and cast(split_part(value, ' ', 2) as bigint) < %s",
                    (ids.now() - ids.DAY_MS,),
                )
            if version > migrate.LATEST:
                raise NewerSchema(
                    f"{self.location} has schema {version}; this Recollect knows {migrate.LATEST}. Nothing was touched. "
                    "Upgrade: git pull && pip install ."
                )

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, PoolTimeout, PoolClosed) as e:
            raise self._translate(e) from e

    def _translate(self, e: Exception) -> RecollectError:
        reason = str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__
        if isinstance(e, PoolTimeout) and self._last.failure:
            asked = ". Is the server running?" if self._last.failure.endswith("refused") else "."
            return Unavailable(f"{self.location} cannot be reached: {self._last.failure}{asked} Nothing was written.")
        if isinstance(e, PoolTimeout):
            return Unavailable(
                f"{self.location} did not answer within {self._wait:g} s. Nothing was written. Is the server running, "
                "and are pool_max connections enough?"
            )
        if isinstance(e, PoolClosed):
            return StoreClosed(f"{self.location} was closed. Open it again with recollect.open().")
        if isinstance(e, pg.QueryCanceled):
            return StoreBusy(
                f"{self.location}: {reason}. Nothing was written; raise statement_timeout_ms if it needs longer."
            )
        if isinstance(e, (pg.SerializationFailure, pg.DeadlockDetected, pg.LockNotAvailable)):
            return StoreBusy(f"{self.location}: {reason}. Nothing was written; try again.")
        if isinstance(e, pg.DiskFull):
            return DiskFull(f"{self.location}: {reason}. Nothing was written.")
        if isinstance(e, pg.UniqueViolation):
            return AlreadyExists(f"{self.location}: {reason}")
        if isinstance(e, pg.InsufficientPrivilege):
            return Refused(f"{self.location}: {reason}. The role needs its tables, or the right to create them.")
        if isinstance(e, pg.ProgramLimitExceeded):
            return InvalidInput(f"{self.location}: {reason}. Nothing was written.")
        if isinstance(e, (psycopg.OperationalError, psycopg.InterfaceError)):
            return Unavailable(
                f"{self.location} cannot be reached ({reason}). Nothing was written; it is tried anew with every call."
            )
        return StorageError(f"{self.location}: {reason}")


_left_alone: list[object] = []


_FINAL = re.compile(
    "Connection refused|authentication failed|does not exist|pg_hba.conf|not permitted|permission denied|no password"
    "|not known|No such file|support SSL|certificate|percent-encode"
)
"""What a server that is starting, or that has no connection left for the moment, does not say. In another language than English
it is waited for as for those; libpq tells no code of an attempt to connect."""

_ENCODE = "what the password has of @ : / and % must be percent-encoded (%40, %3A, %2F, %25)"


class _LastAttempt:
    """Why the last attempt to connect failed, if it did. The pool, which tries in a thread of its own, keeps it to itself."""

    def __init__(self, *, is_misread: bool) -> None:
        self.failure: str | None = None
        self._is_misread = is_misread

    def note(self, e: Exception) -> None:
        said = (str(e).strip() or type(e).__name__).splitlines()[0]
        said = re.sub(r"^(connection failed: )?(connection to server .* failed: )?([A-Z]+:  )?", "", said)
        self.failure = _ENCODE if self._is_misread else said


def _noted(last: _LastAttempt) -> type[Connection]:
    class Noted(psycopg.Connection[Any]):
        @classmethod
        def connect(cls, *args: Any, **options: Any) -> Self:
            try:
                made = super().connect(*args, **options)
            except Exception as e:
                last.note(e)
                raise
            last.failure = None
            return made

    return Noted


class _Mark(NamedTuple):
    """By what a commit is known again: a row of `meta`, and the backend that was to write it."""

    owner: str
    token: str
    backend: int


class _Session:
    """What is kept of a connection while it lasts: the name of the one row in which its commits leave their marks, and what the
    server has prepared for it."""

    def __init__(self) -> None:
        self.name = f"commit {secrets.token_hex(8)}"
        self.prepared = Prepared()


class _Stale(Exception):
    """The connection was dead before anything was heard from it, or the commit is known not to have happened."""


def _version(connection: Connection) -> int:
    # Of the catalogue itself: to_regclass() remembers a "no" for the session, even after another client has built it.
    row = connection.execute(
        "select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'recollect' and c.relname = 'schema_versions'"
    ).fetchone()
    if row is None:
        return 0
    row = connection.execute("select coalesce(max(version), 0) from recollect.schema_versions").fetchone()
    return int(row[0]) if row else 0


def _is_misread(url: str, password: str | int | None) -> bool:
    """A password with an @ or a / in it ends there for libpq, which takes the rest for the host's name, and shows it."""
    meant = re.match(r"\w+://[^:/@]*:(.*)@", url)
    return meant is not None and unquote(meant[1]) != password


def _without_password(url: str) -> str:
    """The address as it may be shown and logged."""
    return re.sub(r"([?&]password=)[^&]*", r"\1***", re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url))
