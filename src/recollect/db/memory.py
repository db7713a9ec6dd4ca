"""A store in memory: one connection, taken in turns. What `writer.Engine` is for a file, without all that a file needs."""

from __future__ import annotations

import os
import threading

import apsw

from .file import build, copy
from .transaction import NESTED, Batch, SQLiteTx
from .users import Users

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..model import Progress
    from . import Row, Tx

    T = TypeVar("T")


class Memory:
    """See `writer.Engine`."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.unfinished: list[str] = []
        self._turn = threading.RLock()
        self._is_writing = False
        self._users = Users()
        self._batch = Batch()
        self._connection = apsw.Connection(":memory:")
        build(self._connection, 0)

    def read(self, user: str, fn: Callable[[Tx], T]) -> T:
        with self._turn:
            self._refuse_nesting()
            return fn(SQLiteTx(self._connection, self._users.number(self._connection, user)))

    def query(self, sql: str) -> list[Row]:
        with self._turn:
            return self._connection.execute(sql).fetchall()

    def check(self) -> list[str]:
        return [str(row[0]) for row in self.query("pragma integrity_check")]

    def write(self, user: str, fn: Callable[[Tx], T], brief: bool = False) -> T:
        with self._turn:
            self._refuse_nesting()
            self._is_writing = True
            try:
                self._connection.execute("begin immediate")
                self._batch.begin(self._connection)
                try:
                    result, _ = self._users.serve(self._connection, self._batch, user, fn, {})
                    self._batch.finish(self._connection)
                    self._connection.execute("commit")
                    self._batch.committed(self._connection)
                    return result
                except BaseException:
                    self._batch.undo()
                    if self._connection.in_transaction:
                        self._connection.execute("rollback")
                    raise
            finally:
                self._is_writing = False

    def _refuse_nesting(self) -> None:
        if self._is_writing:
            raise RuntimeError(NESTED)

    def copy(self, to: str, progress: Progress | None) -> None:
        with self._turn:
            copy(self._connection, to, progress)

    def compact(self, progress: Progress | None) -> None:
        with self._turn:
            self._connection.execute("vacuum")

    def truncate_wal(self) -> None:
        pass  # there is none

    def quiesce(self) -> list[Any]:
        self._turn.acquire()
        return [self._turn]

    def survive(self) -> bool:
        """Memory is copied by a fork: it goes on, with a fresh lock."""
        self.pid = os.getpid()
        self._turn = threading.RLock()
        self._is_writing = False
        return True

    def close(self) -> None:
        self._connection.close()
