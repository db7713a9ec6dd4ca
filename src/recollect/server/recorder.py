"""What is recorded, on its way to the store: written in batches, answered when it is durable.

Whatever arrives while a batch is being written waits, and is the next one: one transaction for all of it, whoever sent it.
A lone record is written at once. Those that come faster than they are written gather for some milliseconds: each commit
writes some twenty pages and waits for the disk, and at 500 a second one for each record is twice the bytes, a quarter more
work and longer stalls. One bad record fails alone.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress

from ..errors import AlreadyExists, InvalidInput, NotFound, RecollectError, StoreClosed
from ..model import Entry, Event
from ..store import Store

MOST = 256  # entries in one transaction
GATHER_SECONDS = 0.01  # from one batch to the next, where somebody waits
ENOUGH = 5  # requests that wait for no more
FLUSH_SECONDS = 2.5
ASIDE_SECONDS = 0.02
Result = list[Event] | RecollectError


class Request:
    """Entries of one conversation that were sent together; all of them or none."""

    __slots__ = ("again", "branch", "done", "entries", "session", "workspace")

    def __init__(
        self, session: str, workspace: str | None, branch: str | None, entries: list[Entry], again: bool = False
    ) -> None:
        self.session, self.workspace, self.branch, self.entries = session, workspace, branch, entries
        self.again = again
        """Whether the session is to be begun again if it was erased."""
        self.done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    @property
    def said(self) -> tuple[str, str | None, str | None, list[Entry], bool]:
        """As the store takes it."""
        return self.session, self.workspace, self.branch, self.entries, self.again


class Recorder:
    """The way in. Lives in one event loop; the store is called in a thread."""

    def __init__(self, store: Store, told: Callable[[], None]) -> None:
        self._store = store
        self._told = told
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recollect-record")
        self._waiting: list[Request] = []
        self._batch: list[Request] = []
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._asking = 0
        self._answered = asyncio.Event()
        self._enough = asyncio.Event()

    async def add(self, requests: list[Request]) -> list[Result]:
        """Queue requests and wait until each is durable, or refused."""
        if self._closed:
            raise StoreClosed("The sidecar is stopping. Nothing was written; send it again to the next one.")
        self._waiting += requests
        if len(self._waiting) >= ENOUGH:
            self._enough.set()
        if self._task is None:
            self._task = asyncio.create_task(self._write_all())
        # Shielded: a caller that goes away does not take back what was handed over.
        return [await asyncio.shield(request.done) for request in requests]

    async def _write_all(self) -> None:
        """As long as something waits, write it."""
        loop = asyncio.get_running_loop()
        began = -math.inf
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), began + GATHER_SECONDS - loop.time())
            if self._asking:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._answered.wait(), ASIDE_SECONDS)
            n = size = 0
            while n < len(self._waiting) and (not n or size + len(self._waiting[n].entries) <= MOST):
                size += len(self._waiting[n].entries)
                n += 1
            self._batch, self._waiting = self._waiting[:n], self._waiting[n:]
            if len(self._waiting) < ENOUGH:
                self._enough.clear()
            began = loop.time()
            try:
                results = await loop.run_in_executor(self._thread, self._write, self._batch)
            except Exception as e:
                for request in self._batch:
                    if not request.done.done():
                        request.done.set_exception(e)
            else:
                for request, result in zip(self._batch, results, strict=True):
                    if not request.done.done():
                        request.done.set_result(result)
                self._told()
            self._batch = []
        self._task = None

    def _write(self, batch: list[Request]) -> list[Result]:
        """In the thread."""
        try:
            results = self._store._append_each([r.said for r in batch])
        except (InvalidInput, NotFound, AlreadyExists) as e:
            # Something that only the database saw: a session that another process has just made, a value too large, a new
            # session of which nothing would be there.
            if len(batch) > 1:
                return [self._write([request])[0] for request in batch]
            return [self._again(batch[0]) if isinstance(e, AlreadyExists) else e]
        return results

    def _again(self, request: Request) -> Result:
        """Somebody else was faster to make its session."""
        try:
            return self._store._append_each([request.said])[0]
        except RecollectError as wrong:
            return wrong

    async def flush(self) -> None:
        """Wait for what was handed over before now."""
        self._enough.set()
        open = [r.done for r in (*self._batch, *self._waiting) if not r.done.done()]
        if open:
            await asyncio.wait(open, timeout=FLUSH_SECONDS)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """For a question: what was handed over before it is found, and what comes meanwhile waits for its answer, for a moment.
        Both are Python, of which one thread runs at a time: side by side with eight who record, a search took three times as
        long, and they gained nothing, since the next batch is the larger for it."""
        await self.flush()
        self._asking += 1
        self._answered.clear()
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._answered.set()

    async def close(self) -> None:
        """Take nothing more, and write what was taken."""
        self._closed = True
        await self.flush()
        self._thread.shutdown(wait=False)
