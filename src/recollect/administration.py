"""Seeing across users: a separate, explicit door, because every other handle belongs to one person."""

from __future__ import annotations

from .config import Settings
from .db.cipher import Key
from .model import Receipt, Stats
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .verbs.arguments import PathLike


class Admin:
    """All users of one database. Made by `recollect.admin(url)`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def users(self) -> list[str]:
        """Everyone who ever wrote here, by id."""
        return self._store._db.users()

    def stats(self) -> list[Stats]:
        """`Store.stats()` of every user."""
        return [self.for_user(user).stats() for user in self.users()]

    def erase(self, *, user: str, dry_run: bool = False) -> Receipt:
        """Remove a person: everything that is kept for them, and their name. `Store.erase` says how."""
        handle = self.for_user(user)
        return handle._erase({"user": handle.user}, "admin", bool(dry_run))

    def receipts(self) -> dict[str, list[Receipt]]:
        """What was erased, by user; of those who were erased themselves, by the hash that stands in their place."""
        return {user: found for user in self._everyone() if (found := self._receipts(user))}

    def _everyone(self) -> list[str]:
        return self._store._db.users(erased=True)

    def _receipts(self, user: str) -> list[Receipt]:
        from . import receipts

        return self._store._db.read(user, lambda tx: receipts.listing(tx, None, 1 << 40))

    def for_user(self, user: str) -> Store:
        """A handle of one person."""
        return self._store.for_user(user)

    def close(self) -> None:
        """Close the database, for all handles made from it."""
        self._store.close()

    def __enter__(self) -> Admin:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def admin(
    url: PathLike | None = None, *, key: str | bytes | Key | None = None, settings: Settings | None = None
) -> Admin:
    """Open a database to look after it: list its users, count what they have, act as one of them. `key` as in `open`."""
    key = None if key is None else Key(key)  # out of the variables that a traceback could show
    return Admin(Store.open(url, key=key, settings=settings))
