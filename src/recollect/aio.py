"""The same verbs for async code: one mirrored line each, typed by the verb it mirrors.

A verb runs in a thread of the store's own executor, with the caller's context variables. Cancelling the caller does not
cancel a write that has been handed over: the await ends when its outcome is known, so "cancelled" never means "maybe".
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .config import Settings
from .db.cipher import Key
from .errors import InvalidInput, StoreClosed
from .other_names import missing
from .store import Store

if TYPE_CHECKING:
    from .model import Model
    from .search.embed import Embedder
    from .verbs.arguments import PathLike

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8


class _Mirror(Generic[P, R]):
    """A verb of Store as a coroutine method with the same signature."""

    def __init__(self, verb: Callable[Concatenate[Store, P], R]) -> None:
        self._verb = verb
        self.__doc__ = verb.__doc__

    @overload
    def __get__(self, obj: None, owner: type) -> _Mirror[P, R]: ...
    @overload
    def __get__(self, obj: AsyncStore, owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, obj: AsyncStore | None, owner: type) -> Any:
        if obj is None:
            return self

        @functools.wraps(self._verb)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return await obj._run(functools.partial(self._verb, obj._store, *args, **kwargs))

        return call


class _Threads:
    """The executor, shared by the handles of one store. A forked child has none of its threads and makes its own."""

    def __init__(self) -> None:
        self.closed = False
        self._pid = 0

    def executor(self) -> ThreadPoolExecutor:
        if self.closed:
            raise StoreClosed("The store was closed. Open it again with recollect.open_async().")
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-async")
        return self._executor

    def close(self) -> None:
        self.closed = True
        if self._pid:  # else nothing was ever asked of it
            self._executor.shutdown(wait=False)


async def outcome(future: asyncio.Future[R]) -> R:
    """What comes of something that cannot be taken back: who is cancelled meanwhile waits for it all the same."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as e:
            if future.cancelled():
                raise
            cancelled = e
        except BaseException:
            break
    if cancelled is not None:
        future.exception()  # looked at, so that nothing is reported as never retrieved
        raise cancelled
    return future.result()


class AsyncStore:
    """`Store` for async code. Made by `recollect.open_async()`."""

    def __init__(self, store: Store, threads: _Threads | None = None) -> None:
        self._store = store
        self._threads = threads or _Threads()

    async def _run(self, call: Callable[[], R]) -> R:
        context = contextvars.copy_context()
        return await outcome(asyncio.get_running_loop().run_in_executor(self._threads.executor(), context.run, call))

    def for_user(self, user: str) -> AsyncStore:
        """The same database for another person: nothing of this one is in reach."""
        return AsyncStore(self._store.for_user(user), self._threads)

    if not TYPE_CHECKING:  # as in `Store`

        def __getattr__(self, name):
            raise missing(self, name)

    @property
    def user(self) -> str:
        """Whose store this is."""
        return self._store.user

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._store.settings

    @property
    def location(self) -> str:
        """Where the data is: a path, an address without its password, or "memory"."""
        return self._store.location

    create = _Mirror(Store.create)
    get = _Mirror(Store.get)
    conversations = _Mirror(Store.conversations)
    rename = _Mirror(Store.rename)
    annotate = _Mirror(Store.annotate)
    delete = _Mirror(Store.delete)
    restore = _Mirror(Store.restore)
    clear = _Mirror(Store.clear)
    erase = _Mirror(Store.erase)
    receipts = _Mirror(Store.receipts)
    verify_receipt = _Mirror(Store.verify_receipt)
    append = _Mirror(Store.append)
    append_many = _Mirror(Store.append_many)
    record_workflow_event = _Mirror(Store.record_workflow_event)
    delete_event = _Mirror(Store.delete_event)
    read = _Mirror(Store.read)
    messages = _Mirror(Store.messages)
    formatted_history = _Mirror(Store.formatted_history)
    with_history = _Mirror(Store.with_history)
    get_event = _Mirror(Store.get_event)
    ledger = _Mirror(Store.ledger)
    changes = _Mirror(Store.changes)
    reasoning = _Mirror(Store.reasoning)
    remember = _Mirror(Store.remember)
    forget = _Mirror(Store.forget)
    recall = _Mirror(Store.recall)
    memories = _Mirror(Store.memories)
    revise = _Mirror(Store.revise)
    pin = _Mirror(Store.pin)
    unpin = _Mirror(Store.unpin)
    pins = _Mirror(Store.pins)
    undo = _Mirror(Store.undo)
    memory_history = _Mirror(Store.memory_history)
    consolidate = _Mirror(Store.consolidate)
    retain = _Mirror(Store.retain)
    search = _Mirror(Store.search)
    context = _Mirror(Store.context)
    fork = _Mirror(Store.fork)
    branches = _Mirror(Store.branches)
    checkpoints = _Mirror(Store.checkpoints)
    switch = _Mirror(Store.switch)
    summarize = _Mirror(Store.summarize)
    settle = _Mirror(Store.settle)
    reindex = _Mirror(Store.reindex)
    stats = _Mirror(Store.stats)
    verify = _Mirror(Store.verify)
    scan = _Mirror(Store.scan)
    export = _Mirror(Store.export)
    import_ = _Mirror(Store.import_)
    backup = _Mirror(Store.backup)
    compact = _Mirror(Store.compact)

    async def close(self) -> None:
        """Close the store, for all handles made from it."""
        if not self._threads.closed:
            await self._run(self._store.close)
            self._threads.close()

    async def __aenter__(self) -> AsyncStore:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


class _Opening(Coroutine[Any, Any, AsyncStore]):
    """A store on its way: `await` gives it, `async with` gives it and closes it at the end. A coroutine, for `asyncio.run`."""

    def __init__(self, opening: Callable[[], Store]) -> None:
        self._opening = opening
        self._opened: AsyncStore | None = None
        self._begun: Coroutine[Any, Any, AsyncStore] | None = None

    def send(self, value: Any, /) -> Any:
        self._begun = self._begun or self._open()
        return self._begun.send(value)

    def throw(self, *error: Any) -> Any:
        self._begun = self._begun or self._open()
        return self._begun.throw(*error)

    def close(self) -> None:
        if self._begun is not None:
            self._begun.close()

    async def _open(self) -> AsyncStore:
        threads = _Threads()
        store = await asyncio.get_running_loop().run_in_executor(threads.executor(), self._opening)
        return AsyncStore(store, threads)

    def __await__(self) -> Generator[Any, None, AsyncStore]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncStore:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, *exc: object) -> None:
        if self._opened is not None:
            await self._opened.close()


def sync_of(store: Any) -> Any:
    """The store below an async one; anything else as it is."""
    if isinstance(store, AsyncStore):
        return store._store
    if isinstance(store, Awaitable):
        raise InvalidInput(
            "This store is not open yet: pass `await recollect.open_async(...)`, an open store, or a path."
        )
    return store


def open_async(
    url: PathLike | None = None,
    *,
    user: str | None = None,
    model: Model | None = None,
    embedder: Embedder | Any = None,
    key: str | bytes | Key | None = None,
    settings: Settings | None = None,
    **overrides: Any,
) -> _Opening:
    """`recollect.open` for async code: opening reads and may migrate, so it is awaited too. `async with` closes the store at
    the end."""
    if key is not None:
        key = Key(key)  # out of the variables that a traceback could show
    opening = functools.partial(
        Store.open, url, user=user, model=model, embedder=embedder, key=key, settings=settings, **overrides
    )
    return _Opening(opening)
