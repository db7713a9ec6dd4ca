"""Both halves of a graph's persistence, from settings: for a backend that is configured, not wired by hand.

    with persistence({"backend": "postgres", "database": "postgresql://..."}) as p:
        graph = p.compile(builder)

Checkpointer and store share one database, one pool and one life. It is opened once, when it is first needed, which also
brings the schema up to date; several processes may do so at the same time. Settings are those of Recollect: whatever is
not said comes from `RECOLLECT_*` variables and the settings file, so that a rollout is a matter of configuration.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..config import Settings
from ..errors import SettingsError, StoreClosed
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
        return Settings.load(**given)
    raise SettingsError(f"settings must be recollect.Settings or a mapping of their names, not {type(given).__name__}.")


class Persistence:
    """A checkpointer and a store on one database. Made by `persistence()`; opens at the first use, or by `with`."""

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
        self._closed = False
        self._saver: Saver | None = None
        self._graph_store: MemoryStore | None = None

    def _open(self) -> Store:
        with self._lock:
            if self._closed:
                raise StoreClosed("This persistence was closed. Make another with persistence(settings).")
            if self._opened is None:
                opened = Store.open(settings=self.settings)
                try:
                    self._saver = Saver(opened, serde=self._serde)
                    if self.settings.graph_store:
                        self._graph_store = MemoryStore(opened, index=self._index, ttl=self._ttl)
                except BaseException:
                    opened.close()
                    raise
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
        """What lies under both: the log, its search, the memories."""
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
            opened, self._opened = self._opened, None
        if self._graph_store is not None:
            self._graph_store.close()
        if self._saver is not None:
            self._saver.close()
        if opened is not None:
            opened.close()

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
    return Saver(None, settings=_settings(settings), serde=serde)


def create_graph_store(
    settings: SettingsLike = None,
    *,
    index: IndexConfig | Mapping[str, Any] | None = None,
    ttl: TTLConfig | None = None,
) -> MemoryStore | None:
    """A store alone, opened now; None where the setting `graph_store` is off. Close it when the backend stops."""
    found = _settings(settings)
    _check(found)
    return MemoryStore(settings=found, index=index, ttl=ttl) if found.graph_store else None


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
    from ..config import database

    if settings.enabled:
        database(settings)
