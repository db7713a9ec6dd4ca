"""What a saver remembers of what it wrote and read a moment ago, to save asking: nothing in here is the truth."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from ..store import Store
from .copies import Mould, things_in
from .messages import Own

if TYPE_CHECKING:
    from ..checkpoints.pieces import Have

Stored = tuple[str, bytes]

RECENT = 256
ROOM = 4_000
"""How many pieces are remembered: a chunk of a chat has 10 KB."""
HELD = 10_000
"""How many messages of chunks are: 2 KB each. A larger one counts for more."""
SEEN = 50_000


_absent: ContextVar[tuple[int, str, str, int]] = ContextVar("recollect_absent")
"""Whose thread was not there, and when: what is done in one run has one context, and another run has another."""


class Place(NamedTuple):
    """Where a call of LangGraph's leads."""

    store: Store
    thread: str
    namespace: str
    checkpoint: str | None
    branch: str | None
    given: Mapping[str, Any]

    def key(self, checkpoint: str | None) -> tuple[str, str, str, str]:
        return self.store.user, self.thread, self.namespace, checkpoint or ""

    def config(self, checkpoint: str) -> RunnableConfig:
        found = {
            "thread_id": self.given.get("thread_id", self.thread), "checkpoint_ns": self.namespace,
            "checkpoint_id": checkpoint,
        }  # fmt: skip
        # Whoever comes back with it must come back to the same person; the branch is the checkpoint's.
        if "user_id" in self.given:
            found["user_id"] = self.given["user_id"]
        return {"configurable": found}


class Recent(NamedTuple):
    """What is known of a checkpoint that was written or read a moment ago."""

    versions: Mapping[str, Any]
    """Of the channels whose value is stored with it."""
    tops: Mapping[str, frozenset[bytes]]
    """Of the channels whose value is a list: the keys in its row."""
    lists: Mapping[str, str]
    """Of the same: the list itself, as the checkpoint names it. One that is mended has another."""
    source: str | None
    step: int | None
    own: Mapping[str, Own]
    """What the person put in, by channel."""


class Secret(NamedTuple):
    no: int
    plain: bytes
    sealed: Stored


class Remembered:
    """Shared by a saver and its copies."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.arrival = threading.Condition(self.lock)
        self.coming: set[tuple[str, str, str, str]] = set()
        """Checkpoints that are being put at this moment."""
        self.handles: OrderedDict[str, Store] = OrderedDict()
        self.names: OrderedDict[str, bool] = OrderedDict()
        self.recent: OrderedDict[tuple[str, str, str, str], Recent] = OrderedDict()
        self.inputs: OrderedDict[int, tuple[object, Mapping[str, Own]]] = OrderedDict()
        """Of runs whose input has not come into the log: the run, and what the person put into it."""
        self.handoffs: OrderedDict[tuple[str, str], dict[str, str]] = OrderedDict()
        """Of a thread: the tools with which its agents hand over to each other, and to whom."""
        self.newest: OrderedDict[tuple[str, str, str, str], str] = OrderedDict()
        """The id of the checkpoint that was written or read last, of a thread and namespace."""
        self.secrets: OrderedDict[tuple[str, str], Secret] = OrderedDict()
        self.pieces: OrderedDict[tuple[str, int], Have] = OrderedDict()
        """What was read a moment ago: a piece never changes, its key is its content."""
        self.sound: dict[bytes, tuple[bytes, BaseMessage | None]] = {}
        """Elements whose content was found to be what their key says: the same bytes need no second look, and a message made
        of them is only to be copied."""
        self.said: dict[bytes, dict[str, tuple[bytes, bytes, BaseMessage]]] = {}
        """Secret -> id of a message -> its key, its bytes and itself, of those in `sound`."""
        self.chunks: dict[bytes, tuple[bytes, list[Mould]]] = {}
        """Chunks that were found sound, and the moulds of the messages in them."""
        self._held = 0
        self._seen: set[bytes] = set()
        """Chunks that were read once."""
        self.room = ROOM
        self.passed: dict[str, dict[bytes, None]] = {}
        """Channel -> keys of elements that went through the gate as they are: a bare text that may stay in one is a message in
        another."""

    def make_room(self) -> None:
        """Before elements are met."""
        if len(self.sound) > self.room:
            with self.lock:
                self.sound.clear()
                self.said.clear()

    def learn(self, secret: bytes, key: bytes, data: bytes, model: BaseMessage) -> None:
        """Keep a message that is stored as these bytes, to be copied the next time."""
        self.sound[key] = (data, model)
        if model.id:
            self.said.setdefault(secret, {})[model.id] = (key, data, model)

    def is_seen_again(self, key: bytes) -> bool:
        """Whether a chunk was read before."""
        if key in self._seen:
            return True
        if len(self._seen) >= SEEN:
            self._seen.clear()
        self._seen.add(key)
        return False

    def hold(self, key: bytes, data: bytes, moulds: list[Mould]) -> None:
        """Keep the messages of a chunk that is stored as these bytes."""
        # The bytes, the texts made of them, and what an empty dict takes, which is one byte of these.
        many = len(moulds) + (2 * len(data) + 100 * things_in(moulds)) // 2_000
        with self.lock:
            if key in self.chunks or many > HELD:
                return
            if self._held + many > HELD:
                self.chunks.clear()
                self._held = 0
            self._held += many
            self.chunks[key] = (data, moulds)

    def keep(self, where: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        with self.lock:
            where[key] = value
            where.move_to_end(key)
            while len(where) > RECENT:
                where.popitem(last=False)

    def announce(self, key: tuple[str, str, str, str]) -> None:
        with self.arrival:
            self.coming.add(key)
            self.arrival.notify_all()

    def arrived(self, key: tuple[str, str, str, str]) -> None:
        with self.arrival:
            self.coming.discard(key)
            self.arrival.notify_all()

    def wait_for(self, key: tuple[str, str, str, str], seconds: float, *, or_another: bool = False) -> None:
        """Until a checkpoint is written. They come one after the other: for `seconds` at most while none of its graph does.
        `or_another`: until one of those is written that are being put, whichever it is."""
        with self.arrival:
            until = time.monotonic() + seconds
            while key not in self.recent:
                coming = {k for k in self.coming if k[:3] == key[:3]}
                if coming:
                    while coming <= self.coming and key not in self.recent:
                        self.arrival.wait()
                    if or_another:
                        return
                    until = time.monotonic() + seconds
                elif (left := until - time.monotonic()) > 0:
                    self.arrival.wait(left)
                else:
                    return

    def missed(self, user: str, thread: str, at: int) -> None:
        """A thread had no checkpoint at this time."""
        _absent.set((id(self), user, thread, at))

    def missed_at(self, user: str, thread: str) -> int | None:
        """When the run that is going on here found that its thread has no checkpoint; None: it did not look, or found one."""
        *which, at = _absent.get((0, "", "", 0))
        return at if which == [id(self), user, thread] else None

    def have(self, user: str, no: int) -> Have:
        """Pieces of a conversation that are at hand; what is read is added to them."""
        with self.lock:
            found = self.pieces.setdefault((user, no), {})
            self.pieces.move_to_end((user, no))
            while len(self.pieces) > 1 and sum(map(len, self.pieces.values())) > self.room:
                self.pieces.popitem(last=False)
            if len(found) > self.room:
                found = self.pieces[user, no] = {}
            return found

    def forget_all(self) -> None:
        """What is stored was rewritten: nothing that is remembered of it holds. Who waits for a checkpoint still does."""
        with self.lock:
            for known in (self.recent, self.newest, self.secrets, self.pieces, self.passed):
                known.clear()
        self.forget_messages()

    def forget_messages(self) -> None:
        """Something was deleted: what is remembered of messages does not say whose they are."""
        with self.lock:
            for known in (self.sound, self.said, self.chunks):
                known.clear()
            self._held = 0

    def forget(self, user: str, thread: str) -> None:
        with self.lock:
            known = self.secrets.pop((user, thread), None)
            if known is not None:
                self.pieces.pop((user, known.no), None)
            for where in (self.recent, self.newest):
                for key in [key for key in where if key[:2] == (user, thread)]:
                    del where[key]
