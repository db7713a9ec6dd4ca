"""Where the bytes live. Two databases, one protocol, the same SQL.

Everything above this package writes lower-case SQL in the subset both databases share, with `:name` parameters, and
hands it to a `Tx`. The user is bound as `:user` by the Tx itself: a statement says `user_no = :user`, and no caller
ever passes whose rows are meant.

`read(user, fn)` runs `fn(tx)` on a consistent snapshot; `write(user, fn)` runs it in one transaction that is durable
when it returns. `fn` may run more than once (a serialisation failure is retried), so it does nothing but SQL. There is
no public transaction: a caller's network call must never sit under a lock that other processes wait for.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..model import Progress

T = TypeVar("T")
Row = tuple[Any, ...]


class Tx(Protocol):
    """One transaction of one user."""

    user: int
    """The user's number, bound as `:user`; 0 for someone who never wrote anything."""
    for_update: str
    """Appended to a select that must lock its row: ` for update` on Postgres, nothing where the writer is alone."""

    def all(self, sql: str, /, **params: Any) -> list[Row]: ...
    def one(self, sql: str, /, **params: Any) -> Row | None: ...
    def run(self, sql: str, /, **params: Any) -> int:
        """Execute, and return the number of rows changed."""
        ...

    def many(self, sql: str, rows: Iterable[Row], /) -> None:
        """Execute once per row; the values stand in the order in which the statement first names them."""
        ...

    def ticks(self, n: int) -> int:
        """Draw n numbers from the counter that orders events and activity; returns the first of them."""
        ...


class Database(Protocol):
    """One open database, shared by the handles of all users."""

    dialect: str
    location: str
    """Where it is, as a person would say it; never holds a password."""

    def read(self, user: str, fn: Callable[[Tx], T], /) -> T: ...
    def write(self, user: str, fn: Callable[[Tx], T], /) -> T: ...
    def users(self) -> list[str]: ...
    def check(self) -> list[str]:
        """The engine's own integrity check: what it found wrong, nothing when all is well."""
        ...

    def scrub(self) -> None:
        """After an erasure: leave nothing of it in write-ahead logs and free pages, as far as the engine can."""
        ...

    def compact(self, progress: Progress | None, /) -> tuple[int, int]: ...
    def size(self) -> int: ...
    def schema(self) -> int: ...
    def close(self) -> None: ...


class Retry(Exception):
    """Raised inside `fn` or by the engine: the user's number was stale; resolve it again and repeat."""


def connect(where: str | Path | None, settings: Any) -> Database:
    """Open the database behind a path, a `postgresql://` address, or None for one in memory."""
    if isinstance(where, str):
        from .postgres import Postgres

        return Postgres(where, settings)
    from .sqlite import SQLite

    return SQLite(where, busy_timeout_ms=settings.busy_timeout_ms)
