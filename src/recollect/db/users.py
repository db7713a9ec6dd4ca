"""Whose request it is: every table leads with a user's number, and this finds it, or gives one to who is new.

Someone who was erased keeps a number under a hash of their name: what is left of them is receipts, and what must not come
back. When they write again, they have their name back.
"""

from __future__ import annotations

from .. import ids
from ..errors import StorageError
from . import Retry
from .transaction import SQLiteTx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    import apsw

    from . import Row, Tx
    from .transaction import Batch

    T = TypeVar("T")


class Users:
    """The users of a SQLite database, by the numbers that are known in this process."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        """Of those whose number has been committed."""

    def number(self, connection: apsw.Connection, user: str) -> int:
        """0 for who was never here."""
        return self.known.get(user) or _find(connection, user) or _find_erased(connection, user)

    def serve(
        self, connection: apsw.Connection, batch: Batch, user: str, fn: Callable[[Tx], T], new: dict[str, int]
    ) -> tuple[T, tuple[int, int] | None]:
        """`fn` for this user, in a transaction of theirs. Who gets a number in it is in `new`, and is known once that is
        committed. Returns what `fn` did, and the user and the counter that it moved, if it did."""
        no = self.known.get(user) or new.get(user)
        if no is None:
            no = new[user] = self._enrol(connection, user)
        tx = SQLiteTx(connection, no, batch)
        try:
            return fn(tx), tx.drew
        except Retry:  # the user was erased, maybe by another process, and comes back as someone new
            self.known.pop(user, None)
            new.pop(user, None)
            if _find(connection, user) == no:
                raise StorageError("The event counter did not move. Run `recollect doctor`.") from None
            return self.serve(connection, batch, user, fn, new)

    def _enrol(self, connection: apsw.Connection, user: str) -> int:
        no = self.number(connection, user)
        if no:
            if not user.startswith(ids.ERASED):  # someone who was erased is back
                connection.execute("update users set id = ? where no = ? and id <> ?", (user, no, user)).fetchall()
            return no
        add = "insert into users (id, created_at) values (?, ?) returning no"
        return _number(connection.execute(add, (user, ids.now())).fetchall())


def _find(connection: apsw.Connection, id: str) -> int:
    return _number(connection.execute("select no from users where id = ?", (id,)).fetchall())


def _number(rows: list[Row]) -> int:
    return int(rows[0][0]) if rows else 0


def _find_erased(connection: apsw.Connection, user: str) -> int:
    key = connection.execute("select value from meta where name = 'erasure key'").fetchall()
    return _find(connection, ids.ERASED + ids.keyed(str(key[0][0]), "user", user)) if key else 0
