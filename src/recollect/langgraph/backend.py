"""Both halves of a graph's persistence, from settings: for a backend that is configured, not wired by hand.

    with persistence({"backend": "postgres", "database": "postgresql://..."}) as p:
        graph = p.compile(builder)

Checkpointer and store share one database, one pool and one life, unless `checkpointer_database` or `graph_store_database` says
that one of them is elsewhere. A database is opened once, when it is first needed, which also brings the schema up to date;
several processes may do so at the same time. Settings are those of Recollect: the others come from `RECOLLECT_*` variables and
the settings file, so that a rollout is a matter of configuration.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..config import Settings, database, is_postgres
from ..errors import SettingsError, StoreClosed
from ..other_names import TAKEN
from ..store import Store
from .saver import Saver
from .store import MemoryStore

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol
    from langgraph.graph import StateGraph
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.store.base import IndexConfig, TTLConfig

__all__ = ["Persistence", "compile_graph", "create_checkpointer", "create_graph_store", "persistence"]

SettingsLike = Settings | Mapping[str, Any] | None


def _settings(given: Any) -> Settings:
    if given is None:
        return Settings.load()
    if isinstance(given, Settings):
        return given
    if isinstance(given, Mapping):
        said: dict[str, Any] = {}
        for other, value in given.items():
            name = TAKEN.get(str(other), str(other))
            if value is not None and said.setdefault(name, value) != value:
                raise SettingsError(f"{name} is given twice, as {said[name]!r} and as {value!r}.")
        return Settings.load(**said)
    raise SettingsError(f"settings must be recollect.Settings or a mapping of their names, not {type(given).__name__}.")


def _for(settings: Settings, half: str) -> Settings:
    """The settings of one half: with the database that is its own, if there is one."""
    own, kind = getattr(settings, f"{half}_database"), getattr(settings, f"{half}_backend")
    if own is None and kind is None:
        return settings
    if own is None:
        if (kind == "postgres") != is_postgres(settings.database or ""):
            raise SettingsError(f"{half}_backend = {kind!r} and `database` is of the other kind: set {half}_database.")
        return settings
    return settings.but(database=database(settings, f"{half}_database", f"{half}_backend"), backend=kind)


class Persistence:
    """A checkpointer and a store on one database, or on two. Made by `persistence()`; opens at the first use, or by `with`."""

    def __init__(
        self,
        settings: Settings,
        *,
        index: IndexConfig | Mapping[str, Any] | None = None,
        ttl: TTLConfig | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        self.settings = settings
        self._index, self._ttl, self._serde = index, ttl, serde
        self._lock = threading.Lock()
        self._opened: Store | None = None
        self._opened_for_items: Store | None = None
        self._closed = False
        self._saver: Saver | None = None
        self._graph_store: MemoryStore | None = None

    def _open(self) -> Store:
        with self._lock:
            if self._closed:
                raise StoreClosed("This persistence was closed. Make another with persistence(settings).")
            if self._opened is None:
                here, there = _for(self.settings, "checkpointer"), _for(self.settings, "graph_store")
                with contextlib.ExitStack() as undone:
                    opened = undone.enter_context(Store.open(settings=here))
                    self._saver = Saver(opened, serde=self._serde)
                    if self.settings.graph_store:
                        of_items = opened
                        if _place(here) != _place(there):
                            of_items = undone.enter_context(Store.open(settings=there))
                            self._opened_for_items = of_items
                        self._graph_store = MemoryStore(of_items, index=self._index, ttl=self._ttl)
                    undone.pop_all()
                self._opened = opened
            return self._opened

    @property
    def checkpointer(self) -> Saver:
        """For `builder.compile(checkpointer=...)`."""
        self._open()
        assert self._saver is not None
        return self._saver

    @property
    def store(self) -> MemoryStore | None:
        """For `builder.compile(store=...)`; None where the setting `graph_store` is off."""
        self._open()
        return self._graph_store

    @property
    def recollect(self) -> Store:
        """What lies under the checkpointer, and unless it is elsewhere under the store: the log, its search, the memories."""
        return self._open()

    def compile(self, builder: StateGraph[Any, Any, Any, Any], **kw: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
        """`builder.compile` with both. What is said in `kw` wins."""
        kw.setdefault("checkpointer", self.checkpointer)
        kw.setdefault("store", self.store)
        return builder.compile(**kw)

    def close(self) -> None:
        """Close the database. What was compiled with it is of no more use."""
        with self._lock:
            self._closed = True
            opened = [store for store in (self._opened, self._opened_for_items) if store is not None]
            self._opened = self._opened_for_items = None
        if self._graph_store is not None:
            self._graph_store.close()
        if self._saver is not None:
            self._saver.close()
        for store in opened:
            store.close()

    def __enter__(self) -> Persistence:
        self._open()
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Persistence:
        await asyncio.get_running_loop().run_in_executor(None, self._open)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)


def persistence(
    settings: SettingsLike = None,
    *,
    index: IndexConfig | Mapping[str, Any] | None = None,
    ttl: TTLConfig | None = None,
    serde: SerializerProtocol | None = None,
) -> Persistence:
    """Checkpointer and store with one life, for `with` and `async with`. Wrong settings are told now, before anything is
    opened. `index` and `ttl` are the store's, `serde` the checkpointer's."""
    found = _settings(settings)
    _check(found)
    return Persistence(found, index=index, ttl=ttl, serde=serde)


def create_checkpointer(settings: SettingsLike = None, *, serde: SerializerProtocol | None = None) -> Saver:
    """A checkpointer alone, opened now. Close it (or use `with`) when the backend stops."""
    return Saver(None, settings=_for(_settings(settings), "checkpointer"), serde=serde)


def create_graph_store(
    settings: SettingsLike = None,
    *,
    index: IndexConfig | Mapping[str, Any] | None = None,
    ttl: TTLConfig | None = None,
) -> MemoryStore | None:
    """A store alone, opened now; None where the setting `graph_store` is off. Close it when the backend stops."""
    found = _settings(settings)
    _check(found)
    return MemoryStore(settings=_for(found, "graph_store"), index=index, ttl=ttl) if found.graph_store else None


_shared: dict[str, Persistence] = {}
_sharing = threading.Lock()


def compile_graph(
    builder: StateGraph[Any, Any, Any, Any], settings: SettingsLike | Persistence = None, **kw: Any
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """`builder.compile` with a checkpointer and a store from settings; `kw` is passed on and wins. Graphs compiled with the
    same settings share one database handle, which is closed when the process ends; to say when, pass a `Persistence`."""
    if not isinstance(settings, Persistence):
        found = _settings(settings)
        _check(found)
        with _sharing:
            key = repr(sorted(found.__dict__.items()))
            shared = _shared.get(key)
            if shared is None or shared._closed:
                shared = _shared[key] = Persistence(found)
                atexit.register(shared.close)
        settings = shared
    return settings.compile(builder, **kw)


def _check(settings: Settings) -> None:
    if settings.enabled:
        for half in ("checkpointer", "graph_store"):
            database(_for(settings, half))


def _place(settings: Settings) -> str | None:
    return database(settings) if settings.enabled else None
