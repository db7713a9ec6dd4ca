"""What is recorded, on its way to the store: written in batches, answered when it is durable.

Requests for the same conversation that arrive while one is being written wait and go into one transaction together;
conversations are written side by side, and the store's writer commits what is queued there in one go. Nothing waits for a
clock: a lone record is written at once, and the batch grows with the load. One bad record fails alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from ..errors import AlreadyExists, ConversationDeleted, NotFound, RecollectError, StoreClosed
from ..model import Entry, Event
from ..store import Store

THREADS = 8
MOST = 256  # entries in one transaction
FLUSH_SECONDS = 4.0
Result = list[Event] | RecollectError


class Request:
    """Entries of one conversation that were sent together; all of them or none."""

    __slots__ = ("branch", "done", "entries", "session", "workspace")

    def __init__(self, session: str, workspace: str | None, branch: str | None, entries: list[Entry]) -> None:
        self.session, self.workspace, self.branch, self.entries = session, workspace, branch, entries
        self.done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()


class Recorder:
    """The way in. Lives in one event loop; the store is called in threads."""

    def __init__(self, store: Store, told: Callable[[], None]) -> None:
        self._store = store
        self._told = told
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-record")
        self._waiting: dict[tuple[str, str | None], list[Request]] = {}
        self._writing: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.Future[Result]] = set()
        self._closed = False

    async def add(self, requests: list[Request]) -> list[Result]:
        """Queue requests and wait until each is durable, or refused."""
        if self._closed:
            raise StoreClosed("The sidecar is stopping. Nothing was written; send it again to the next one.")
        for request in requests:
            self._open.add(request.done)
            request.done.add_done_callback(self._open.discard)
            key = (request.session, request.branch)
            queue = self._waiting.get(key)
            if queue is not None:
                queue.append(request)
                continue
            self._waiting[key] = [request]
            task = asyncio.create_task(self._write_all(key))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        # Shielded: a caller that goes away does not take back what was handed over.
        return [await asyncio.shield(request.done) for request in requests]

    async def _write_all(self, key: tuple[str, str | None]) -> None:
        """One conversation's turn: as long as something waits, write all of it."""
        loop = asyncio.get_running_loop()
        while queue := self._waiting[key]:
            batch, n = [queue[0]], len(queue[0].entries)
            while len(batch) < len(queue) and n + len(queue[len(batch)].entries) <= MOST:
                n += len(queue[len(batch)].entries)
                batch.append(queue[len(batch)])
            del queue[: len(batch)]
            try:
                results = await loop.run_in_executor(self._threads, self._write, batch)
            except Exception as e:
                for request in batch:
                    if not request.done.done():
                        request.done.set_exception(e)
            else:
                for request, result in zip(batch, results, strict=True):
                    if not request.done.done():
                        request.done.set_result(result)
                self._told()
        del self._waiting[key]

    def _write(self, batch: list[Request]) -> list[Result]:
        """In a thread. All of one conversation and branch."""
        session = batch[0].session
        results: list[Result | None] = [None] * len(batch)
        try:
            own = self._conversation(batch[0])
        except RecollectError as e:
            return [e for _ in batch]
        mine: list[int] = []
        for i, request in enumerate(batch):
            if request.workspace is not None and self._store._workspace(request.workspace) != own:
                results[i] = NotFound(f"There is no session {session!r} in this workspace.")
            else:
                mine.append(i)
        if mine:
            try:
                events = iter(self._append(session, batch[0].branch, [e for i in mine for e in batch[i].entries]))
                for i in mine:
                    results[i] = [next(events) for _ in batch[i].entries]
            except RecollectError as e:
                if len(mine) == 1:
                    results[mine[0]] = e
                else:
                    for i in mine:
                        results[i] = self._alone(batch[i])
        return [result for result in results if result is not None]

    def _alone(self, request: Request) -> Result:
        try:
            return self._append(request.session, request.branch, request.entries)
        except RecollectError as e:
            return e

    def _append(self, session: str, branch: str | None, entries: list[Entry]) -> list[Event]:
        return self._store.append_many(session, entries, branch=branch)

    def _conversation(self, request: Request) -> str | None:
        """The workspace of the conversation, which is created at first sight."""
        try:
            return self._store.get(request.session).workspace
        except ConversationDeleted:
            raise
        except NotFound:
            if request.branch is not None:
                raise NotFound(
                    f"Session {request.session!r} is new: it has no branch {request.branch!r} yet."
                ) from None
        with suppress(NotFound):  # what cannot be stored makes no session either
            for entry in request.entries:
                self._store._prepare(request.session, entry)
        with suppress(AlreadyExists):  # somebody else saw it first
            return self._store.create(request.session, workspace=request.workspace, origin="http").workspace
        return self._store.get(request.session).workspace

    async def flush(self) -> None:
        """Wait for what was handed over before now."""
        if self._open:
            await asyncio.wait(list(self._open), timeout=FLUSH_SECONDS)

    async def close(self) -> None:
        """Take nothing more, and write what was taken."""
        self._closed = True
        await self.flush()
        self._threads.shutdown(wait=False)
