"""The same work by hand: apsw, our schema, nothing in between. What every figure is compared with."""

from pathlib import Path
from typing import Any

import apsw

from recollect import log
from recollect.db import migrate

INSERT = f"insert into events values ({', '.join('?' * 25)})"
WORDS = (
    "Please book the early train to Lisbon and remember that I prefer a window seat, away from the doors; the budget "
    "for the hotel is 120 a night. "
)


def text(characters: int) -> str:
    return (WORDS * (characters // len(WORDS) + 1))[:characters]


def schema() -> str:
    return "".join(script for _, script in migrate.scripts("sqlite", 0))


def connect(path: Path) -> apsw.Connection:
    """A connection to a file with our tables and indexes, as durable as ours."""
    fresh = not path.exists()
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    if fresh:
        for _ in connection.execute(schema()):
            pass
    return connection


def rows(first: int, count: int, said: str) -> list[tuple[Any, ...]]:
    """Rows of the events table, the very ones that `append` writes."""
    columns = log.prepare(role="user", text=said).columns
    return [((1 << 32) + n, 1, 1, 0, n, *columns) for n in range(first, first + count)]


class Log:
    """One conversation by hand. `append` is one insert, one commit, one fsync."""

    def __init__(self, path: Path, said: str) -> None:
        self.connection = connect(path)
        self.said = said
        self.next = 1

    def append(self) -> None:
        row = ((1 << 32) + self.next, 1, 1, 0, self.next, *self._columns)
        self.connection.execute(INSERT, row)
        self.next += 1

    def append_rows(self, made: list[tuple[Any, ...]]) -> None:
        self.connection.execute("begin immediate")
        self.connection.executemany(INSERT, made)
        self.connection.execute("commit")

    def take(self, count: int) -> list[tuple[Any, ...]]:
        made = rows(self.next, count, self.said)
        self.next += count
        return made

    @property
    def _columns(self) -> tuple[Any, ...]:
        if not hasattr(self, "_made"):
            self._made = log.prepare(role="user", text=self.said).columns
        return self._made

    def close(self) -> None:
        self.connection.close()
