"""One file: apsw, WAL, synchronous=FULL. `file` opens it, `writer` serves it (`memory` where there is none); here they become a
`Database`.

Forking: before a fork every thread is brought out of SQLite; the child closes what it inherited without touching the
parent's files and opens everything anew when it is first used.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref

from .. import ids, redact
from ..errors import Damaged, StoreClosed
from . import file
from .file import check_library, translated
from .writer import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..model import Progress
    from . import Tx
    from .cipher import Key
    from .memory import Memory

    T = TypeVar("T")


class SQLite:
    """See `Database`. `path=None` is a store in memory: one connection, taken in turns."""

    dialect = "sqlite"

    def __init__(self, path: str | None, *, busy_timeout_ms: int, key: Key | None = None) -> None:
        check_library()
        self.path = path
        self.key = key
        self.location = path or "memory"
        self._timeout = busy_timeout_ms / 1000
        self._closed = False
        self._engine: Engine | Memory | None = None
        self._opening = threading.Lock()
        with translated(self.location, reads=True):
            self._engine = self._open()
        _live.add(self)

    def _open(self) -> Engine | Memory:
        if self.path is not None:
            for store in list(_live):
                engine = store._engine
                if store.path == self.path and isinstance(engine, Engine) and engine.pid == os.getpid():
                    engine.watch()
            return Engine(self.path, self._timeout, self.key)
        from .memory import Memory

        return Memory()

    def _current(self) -> Engine | Memory:
        engine = self._engine
        if engine is not None:
            return engine
        if self._closed:
            raise StoreClosed(f"{self.location} was closed. Open it again with recollect.open().")
        with self._opening:
            if self._engine is None:
                self._engine = self._open()
            return self._engine

    def read(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        with translated(self.location, reads=True):
            return self._current().read(user, fn)

    def write(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        with translated(self.location):
            return self._current().write(user, fn, brief)

    def users(self, *, erased: bool = False) -> list[str]:
        with translated(self.location, reads=True):
            found = [row[0] for row in self._current().query("select id from users order by id")]
        if not all(isinstance(id, str) for id in found):
            raise Damaged(f"The users of {self.location} are not what was written. Run `recollect doctor`.")
        return [id for id in found if erased or not id.startswith(ids.ERASED)]

    def unfinished(self) -> list[str]:
        return list(self._current().unfinished)

    def check(self) -> list[str]:
        with translated(self.location, reads=True):
            found = self._current().check()
        return [] if found == ["ok"] else found

    def scrub(self) -> None:
        with translated(self.location):
            self._current().truncate_wal()

    def settled(self, patience: float = 0.0) -> int:
        return (1 << 63) - 1  # one writer at a time, in whichever process: ids are committed in the order of drawing

    def size(self) -> int:
        if self.path is None:
            pages, page = self._current().query("select * from pragma_page_count(), pragma_page_size()")[0]
            return int(pages) * int(page)
        return sum(os.path.getsize(f) for f in (self.path, self.path + "-wal") if os.path.exists(f))

    def schema(self) -> int:
        return int(self._current().query("pragma user_version")[0][0])

    def copy(self, to: str, progress: Progress | None = None) -> None:
        """A consistent copy of the store as it stands now, while writers go on."""
        with translated(self.location):
            self._current().copy(to, progress)

    def compact(self, progress: Progress | None = None) -> tuple[int, int]:
        """Give free pages back to the disk. Returns the size before and after."""
        before = self.size()
        with translated(self.location):
            self._current().compact(progress)
        return before, self.size()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


# -- fork

_live: weakref.WeakSet[SQLite] = weakref.WeakSet()
_held: list[Any] = []
LAZY = (
    "json", "hashlib", "pathlib", "re2", "recollect.redact.objects", "recollect.redact.search", "recollect.redact.families", "recollect.summarize",
    "recollect.health", "recollect.workflow",
)  # fmt: skip


def _before_fork() -> None:
    import importlib

    # A module that another thread is importing at this moment would stay locked in the child for ever. Those who are at it
    # are waited for, as long as they can still get at the store: a module may use it when it is imported.
    for name in _being_imported():
        try:
            importlib.import_module(name)
        except Exception:
            pass  # the thread that wanted it hears of that
    for store in list(_live):
        if store._engine is not None and store._engine.pid == os.getpid():
            _held.extend(store._engine.quiesce())
    # What verbs import when they need it is imported now, which also waits for those who have begun since.
    for name in LAZY:
        importlib.import_module(name)
    for lock in (file.connecting, redact.searching):
        lock.acquire()
        _held.append(lock)


def _being_imported() -> list[str]:
    """Modules that some thread has begun to import, ours or not."""
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return [spec.name for spec in specs if spec is not None and getattr(spec, "_initializing", False)]


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().release()


def _after_fork_in_child() -> None:
    _held.clear()
    file.connecting = threading.Lock()
    redact.searching = threading.Lock()
    for store in list(_live):
        store._opening = threading.Lock()
        engine, store._engine = store._engine, None
        if engine is not None and engine.survive():
            store._engine = engine


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
