"""The same work by hand: apsw, our schema, nothing in between. What every figure is compared with."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import apsw

import recollect
from recollect.db import migrate
from recollect.search import index

Row = tuple[Any, ...]
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


@cache
def event(said: str) -> dict[str, Any]:
    """The row that `append(role="user", text=said)` writes, by column: taken from a store, so it is always today's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.db"
        with recollect.open(path) as store:
            store.append(store.create().id, role="user", text=said)
        connection = apsw.Connection(str(path))
        cursor = connection.execute("select * from events")
        names = [column[0] for column in cursor.get_description()]
        row = dict(zip(names, cursor.fetchall()[0], strict=True))
        connection.close()
        return row


def insert(said: str, placeholder: str = "?") -> str:
    names = list(event(said))
    return f"insert into events ({', '.join(names)}) values ({', '.join([placeholder] * len(names))})"


def row(said: str, n: int) -> Row:
    """The n-th event of the first conversation."""
    return tuple((event(said) | {"id": (1 << 32) + n, "user_no": 1, "conversation_no": 1, "seq": n}).values())


class Log:
    """One conversation by hand. `append` is one insert, one commit, one fsync; `indexed`, also one into the index of
    words, whose terms are known beforehand."""

    def __init__(self, path: Path, said: str, *, indexed: bool = False) -> None:
        self._connection = connect(path)
        self._said = said
        self._insert = insert(said)
        self._next = 1
        names = list(event(said))
        self._id, self._seq = names.index("id"), names.index("seq")
        self._row = list(row(said, 0))
        self._terms = index.event_terms("message", said, self._row[names.index("created_at")]) if indexed else None

    def append(self) -> None:
        made = self._row
        made[self._id], made[self._seq] = (1 << 32) + self._next, self._next
        if self._terms is None:
            self._connection.execute(self._insert, made)
        else:
            self._connection.execute("begin immediate")
            self._connection.execute(self._insert, made)
            self._connection.execute(
                "insert into words (rowid, terms, scope) values (?, ?, ?)",
                (made[self._id], self._terms[0], self._terms[1] + index.place(1, None)),
            )
            self._connection.execute("commit")
        self._next += 1

    def take(self, count: int) -> list[Row]:
        """The next rows, ready to be written."""
        self._next += count
        return [row(self._said, n) for n in range(self._next - count, self._next)]

    def append_rows(self, rows: list[Row]) -> None:
        self._connection.execute("begin immediate")
        self._connection.executemany(self._insert, rows)
        self._connection.execute("commit")

    def close(self) -> None:
        self._connection.close()
