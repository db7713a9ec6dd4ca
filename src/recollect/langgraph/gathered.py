"""Calls that async code makes at once are done together: one transaction for five hundred `aput` in a `gather`, not one each.

Whatever is asked while others are being done waits, and is done next, all of it in one go. A lone call waits for nobody. What
is wrong with one call is told to its caller alone, and each is made ready in the context that it came from.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from ..aio import AsyncStore, outcome

A = TypeVar("A")
R = TypeVar("R")

MOST = 500  # calls in one transaction
_working: set[asyncio.Task[None]] = set()


class _Call(Generic[A, R]):
    __slots__ = ("context", "done", "failed", "given", "made", "ready")

    def __init__(self, given: Any) -> None:
        self.given = given
        self.context = contextvars.copy_context()
        self.done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.ready: A
        self.made: R
        self.failed: Exception | None = None


class Gathered(Generic[A, R]):
    """`ready` makes one call ready, in its own context; `do` does all that are ready, or none of them."""

    def __init__(self, store: AsyncStore, ready: Callable[[Any], A], do: Callable[[Sequence[A]], Sequence[R]]) -> None:
        self._store = store
        self._ready = ready
        self._do = do
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, list[_Call[A, R]]] = WeakKeyDictionary()
        """By event loop, while something is being done there."""

    async def call(self, given: Any) -> R:
        loop = asyncio.get_running_loop()
        call: _Call[A, R] = _Call(given)
        waiting = self._waiting.get(loop)
        if waiting is None:
            self._waiting[loop] = [call]
            task = loop.create_task(self._work(loop))
            _working.add(task)  # a loop alone would let go of it
            task.add_done_callback(_working.discard)
        else:
            waiting.append(call)
        return await outcome(call.done)

    async def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """As long as something waits, do it. Begun in the loop's next round: then all of a `gather` is there."""
        try:
            while calls := self._waiting[loop][:MOST]:
                del self._waiting[loop][:MOST]
                try:
                    await self._store._run(lambda calls=calls: self._all(calls))  # type: ignore[misc]
                except Exception as e:  # the store is closed
                    for call in calls:
                        call.failed = call.failed or e
                for call in calls:
                    if call.failed is not None:
                        call.done.set_exception(call.failed)
                    else:
                        call.done.set_result(call.made)
        finally:
            for call in self._waiting.pop(loop):
                call.done.cancel()

    def _all(self, calls: Sequence[_Call[A, R]]) -> None:
        """In a thread."""
        for call in calls:
            try:
                call.ready = call.context.run(self._ready, call.given)
            except Exception as e:
                call.failed = e
        left = [call for call in calls if call.failed is None]
        try:
            for call, made in zip(left, self._do([call.ready for call in left]), strict=True):
                call.made = made
        except Exception as e:
            if len(left) == 1:
                left[0].failed = e
                return
            for call in left:  # one of them, and only the database knew: each by itself
                try:
                    (call.made,) = self._do([call.ready])
                except Exception as e:
                    call.failed = e
