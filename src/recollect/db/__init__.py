"""Where the bytes live. Two databases, one protocol, the same SQL.

Everything above this package writes lower-case SQL in the subset both databases share, with `:name` parameters, and
hands it to a `Tx`. The user is bound as `:user` by the Tx itself: a statement says `user_no = :user`, and no caller
ever passes whose rows are meant.

`read(user, fn)` runs `fn(tx)` on a consistent snapshot; `write(user, fn)` runs it in one transaction that is durable
when it returns. `fn` may run more than once (a serialisation failure is retried), so it does nothing but SQL. There is
no public transaction: a caller's network call must never sit under a lock that other processes wait for.
"""

from __future__ import annotations

from ..errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..config import Settings
    from .cipher import Key
    from .protocol import Database as Database
    from .protocol import Row as Row
    from .protocol import Tx as Tx


QUEUE = (
    "insert into jobs (user_no, kind, key, state, run_at, created_at) values (:user, :kind, :key, 'queued', :at, :now)"
    " on conflict do nothing"
)


class Retry(Exception):
    """Raised inside `fn` or by the engine: the user's number was stale; resolve it again and repeat."""


def connect(where: str | None, settings: Settings, key: Key | None = None) -> Database:
    """Open the database behind a path, a `postgresql://` address, or None for one in memory. A `key` is a file's."""
    if where is not None and where.startswith(("postgresql://", "postgres://")):
        try:
            from .postgres import Postgres
        except ImportError as e:
            raise Refused(
                "Postgres needs the extra `postgres`: pip install '.[postgres]' in Recollect's own folder"
            ) from e
        return Postgres(where, settings)
    from .sqlite import SQLite

    return SQLite(where, busy_timeout_ms=settings.busy_timeout_ms, key=key)
