"""Live updates: server-sent events for everything that is committed, in this process or another.

One task asks the store what is new (`Store.changes`), at once after our own writes and ten times a second for those of
others, while anybody listens. What it finds is encoded once and handed to those who wait for it at that moment; whoever is
behind reads from the store, a page at a time. Nothing is kept for later: what was told may be erased the next moment, by
this process or by another, and is then nobody's to hear. Nor is anything buffered for a reader: one that does not keep up
for `SEND_SECONDS` is dropped, and comes back with `Last-Event-ID`, which is the position in the store's own order. Nothing
is missed, nothing comes twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any, NamedTuple

from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException

from ..aio import AsyncStore
from ..errors import RecollectError
from ..model import Change
from . import shapes

log = logging.getLogger("recollect.server")

POLL_SECONDS = 0.1
TOGETHER_SECONDS = 0.01  # our own commits that come close together are one look
PAGE = 200
FRESH_SECONDS = 1.0  # what was read longer ago, for a reader that is slow to take it, is read again: it may be gone
SEND_SECONDS = 10.0
PING_SECONDS = 15
MOST_READERS = 64


class Item(NamedTuple):
    """A change, ready to be sent."""

    id: int
    conversations: frozenset[str]
    workspace: str | None
    everywhere: bool
    text: bytes


class Wanted(NamedTuple):
    """What a reader asked for."""

    conversation: str | None = None
    workspace: str | None = None

    def has(self, item: Item) -> bool:
        """As the statement of `feed` has it."""
        if self.conversation is not None and self.conversation not in item.conversations:
            return False
        return self.workspace is None or item.everywhere or item.workspace == self.workspace


class News:
    """What is found next, for those who wait for it."""

    def __init__(self) -> None:
        self.has_come = asyncio.Event()
        self.items: Iterable[Item] = ()
        self.read_at = 0.0
        self.upto = 0


class Feed:
    """What all readers of one sidecar share."""

    def __init__(self, store: AsyncStore) -> None:
        self._store = store
        self._cursor = 0
        self._woken = asyncio.Event()
        self._news = News()
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self.readers = 0
        self.taken = 0
        """Places among `MOST_READERS`."""
        self.closed = False

    def wake(self) -> None:
        """Something was committed here."""
        self._woken.set()

    async def now(self) -> int:
        return (await self._store.changes()).cursor

    async def follow(self, after: int, wanted: Wanted) -> AsyncIterator[bytes]:
        """Everything behind a position, for ever."""
        self.readers += 1
        try:
            await self._start()
            if after > self._cursor:
                # A position of a store that was replaced since: whoever waited for it to come would wait for years.
                after = min(after, await self.now())
            yield encoded("ready", after, b'{"cursor":%d}' % after)
            while not self.closed:
                news, cursor = self._news, self._cursor
                if after < cursor:
                    read_at = time.monotonic()
                    page = await self._store.changes(
                        after=after, conversation=wanted.conversation, workspace=wanted.workspace, limit=PAGE
                    )
                    items: Iterable[Item] = map(made, page.items)
                    # What was newest may be erased: then the store's position lies before ours, which is right too.
                    upto = page.cursor if len(page.items) == PAGE else max(page.cursor, cursor)
                else:
                    await news.has_come.wait()
                    items, read_at, upto = news.items, news.read_at, news.upto
                for item in items:
                    if item.id > after and wanted.has(item):
                        yield item.text
                        after = item.id
                        if time.monotonic() - read_at > FRESH_SECONDS:
                            break
                else:
                    after = max(after, upto)
        except RecollectError as e:
            log.warning("A reader of live updates is let go, and may come back: %s", e)
        finally:
            self.readers -= 1

    async def _start(self) -> None:
        async with self._starting:
            if self._task is None:
                self._cursor = await self.now()
                self._task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while True:
            if not self.readers:
                self._task = None
                return
            read_at = time.monotonic()
            try:
                page = await self._store.changes(after=self._cursor, limit=PAGE)
            except RecollectError as e:
                log.warning("Live updates wait: %s", e)
                await asyncio.sleep(1)
                continue
            except Exception as e:  # else everybody would listen to nothing from now on
                log.error("Live updates wait: %s", type(e).__name__)
                await asyncio.sleep(1)
                continue
            if page.cursor > self._cursor:
                self._cursor = page.cursor
                self._tell(tuple(map(made, page.items)), read_at)
            if len(page.items) < PAGE:
                try:
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._woken.wait()
                    await asyncio.sleep(TOGETHER_SECONDS)
                except TimeoutError:
                    pass
                self._woken.clear()

    def _tell(self, items: Iterable[Item] = (), read_at: float = 0.0) -> None:
        news, self._news = self._news, News()
        news.items, news.read_at, news.upto = items, read_at, self._cursor
        news.has_come.set()

    def close(self) -> None:
        self.closed = True
        self._tell()
        if self._task is not None:
            self._task.cancel()


class Stream(EventSourceResponse):
    """The answer to one reader, who has a place from its first byte to its last. The place is taken in the moment it is
    found to be free: sixteen who asked together once saw the same one."""

    def __init__(self, feed: Feed, after: int, wanted: Wanted) -> None:
        super().__init__(feed.follow(after, wanted), ping=PING_SECONDS, send_timeout=SEND_SECONDS, sep="\n")
        self._feed = feed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._feed.taken >= MOST_READERS:
            raise HTTPException(503, "Too many are listening.")
        self._feed.taken += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feed.taken -= 1


def made(change: Change) -> Item:
    name, data = shapes.change(change)
    seen = {change.conversation_id or ""}
    memory = change.memory
    if memory is not None:
        seen.add(memory.provenance.conversation_id or "")
    everywhere = memory is not None and memory.scope == "user"
    return Item(change.id, frozenset(seen), change.workspace, everywhere, encoded(name, change.id, shapes.dumps(data)))


def encoded(name: str, id: int, data: bytes) -> bytes:
    """JSON has no raw line breaks, so that one `data:` line is enough."""
    return b"event: %b\nid: %d\ndata: %b\n\n" % (name.encode(), id, data)
