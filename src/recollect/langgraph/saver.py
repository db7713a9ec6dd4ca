"""`Saver`: a LangGraph checkpointer over the store's own tables.

One class, sync and async, SQLite and Postgres. It translates: LangGraph's `thread_id` is a conversation, its checkpoints go
to `checkpoints`, and the messages in them to the log, in one transaction. Values are serialised by LangGraph's own
serializer, `serde`, which may be replaced, by an encrypting one too; what is read back constructs nothing that is not on
its allow-list.
"""

from __future__ import annotations

import builtins
import copy
import logging
import os
import random
import sys
import threading
import time
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar, cast

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from .. import checkpoints, checks, jobs, log
from ..aio import AsyncStore
from ..checkpoints import Draft, Loaded, Unexpected, Value, Write
from ..db.cipher import hide
from ..errors import AlreadyExists, Damaged, Erased, InvalidInput, NotAllowed, NotFound, NotSerializable, RecollectError
from ..model import Entry, SecretPlace
from ..redact import Gate
from ..store import Store
from . import messages
from .messages import NOBODY, Own

if TYPE_CHECKING:
    from ..conversations import Found
    from ..db import Tx

T = TypeVar("T")
Stored = tuple[str, bytes]

START = "__start__"
RECENT = 256
ROOM = 4_000
"""How many pieces are remembered: a chunk of a chat has 10 KB."""
KEPT = 8_000
"""A message of at most so many bytes is remembered as it was read."""
PASSED = 50_000
TRIES = 4
WAIT_SECONDS = 0.1
SMALL = 48
"""A list whose elements are smaller on average is stored whole."""
_OWN = frozenset({"source", "step", "parents", "run_id", "counters_since_delta_snapshot", "langgraph_auth_user"})
_KEPT = ("v", "ts", "channel_versions", "versions_seen", "updated_channels")
_NOTHING: tuple[None, None] = (None, None)
_CONFIG = ("thread_id", "checkpoint_ns", "checkpoint_id")


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
        # Whoever comes back with it must come back to the same person, and to the same branch.
        found |= {name: self.given[name] for name in ("user_id",) if name in self.given}
        return {"configurable": found}


class Recent(NamedTuple):
    """What is known of a checkpoint that was written or read a moment ago."""

    versions: Mapping[str, Any]
    """Of the channels whose value is stored with it."""
    tops: Mapping[str, frozenset[bytes]]
    source: str | None
    step: int | None
    own: Own


class Secret(NamedTuple):
    no: int
    plain: bytes
    sealed: Stored


class _Shared:
    """What a saver and its copies remember, to save asking: nothing in here is the truth."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.handles: OrderedDict[str, Store] = OrderedDict()
        self.names: OrderedDict[str, bool] = OrderedDict()
        self.recent: OrderedDict[tuple[str, str, str, str], Recent] = OrderedDict()
        self.secrets: OrderedDict[tuple[str, str], Secret] = OrderedDict()
        self.pieces: OrderedDict[tuple[str, int], checkpoints.Have] = OrderedDict()
        """What was read a moment ago: a piece never changes, its key is its content."""
        self.sound: dict[bytes, tuple[bytes, BaseMessage | None]] = {}
        """Elements whose content was found to be what their key says: the same bytes need no second look, and a message made
        of them is only to be copied."""
        self.ids: dict[tuple[bytes, str], bytes] = {}
        """(secret, id of a message) -> its key, of those in `sound`."""
        self.room = ROOM
        self.passed: dict[bytes, None] = {}
        """Keys of elements that went through the gate as they are."""

    def keep(self, where: OrderedDict[Any, Any], key: Any, value: Any) -> None:
        with self.lock:
            where[key] = value
            where.move_to_end(key)
            while len(where) > RECENT:
                where.popitem(last=False)

    def have(self, user: str, no: int) -> checkpoints.Have:
        """Pieces of a conversation that are at hand; what is read is added to them."""
        with self.lock:
            found = self.pieces.setdefault((user, no), {})
            self.pieces.move_to_end((user, no))
            if len(self.sound) > self.room:
                self.sound.clear()
                self.ids.clear()
            while len(self.pieces) > 1 and sum(map(len, self.pieces.values())) > self.room:
                self.pieces.popitem(last=False)
            if len(found) > self.room:
                found = self.pieces[user, no] = {}
            return found

    def forget(self, user: str, thread: str) -> None:
        with self.lock:
            known = self.secrets.pop((user, thread), None)
            if known is not None:
                self.pieces.pop((user, known.no), None)
            for key in [key for key in self.recent if key[:2] == (user, thread)]:
                del self.recent[key]


class Saver(BaseCheckpointSaver[str]):
    """A checkpointer for `builder.compile(checkpointer=...)`.

    `store` is an open `recollect.Store`, or what `recollect.open` takes: then the saver opens it, and closes it. `user` is
    whose conversations its threads are, unless a config says `user_id`. `serde` is LangGraph's serializer: types of your own
    are let through when they are plain data (pydantic, dataclass, enum, named tuple) of a module that is loaded already; with
    `strict`, only what is on the serializer's allow-list.
    """

    serde: SerializerProtocol

    def __init__(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        *,
        user: str | None = None,
        serde: SerializerProtocol | None = None,
        strict: bool = False,
        **settings: Any,
    ) -> None:
        hide(settings)
        super().__init__(serde=serde or JsonPlusSerializer(allowed_msgpack_modules=None))
        self._owns = not isinstance(store, Store)
        self._store = store if isinstance(store, Store) else Store.open(store, user=user, **settings)
        if isinstance(store, Store):
            if settings:
                raise InvalidInput(f"The store is open already: {sorted(settings)[0]} is said where it is opened.")
            if user is not None and user != store.user:
                self._store = store.for_user(user)
        self._strict = strict
        self._historic = False
        """Whether what is put happened when its checkpoint says: it is being brought in from elsewhere."""
        self._channels = tuple(self._store.settings.message_channels)
        self._shared = _Shared()
        self._async = AsyncStore(self._store)

    @classmethod
    def from_conn_string(
        cls, conn_string: str, *, user: str | None = None, serde: SerializerProtocol | None = None, **settings: Any
    ) -> _Opening:
        """A saver on a path, ":memory:" or a `postgresql://` address, for `with` and `async with`; closed at the end."""
        hide(settings)
        return _Opening(partial(cls, conn_string, user=user, serde=serde, **settings))

    @property
    def store(self) -> Store:
        """The store behind it: the log, search and everything else."""
        return self._store

    def for_user(self, user: str) -> Saver:
        """The same saver for another person: for the verbs of LangGraph that carry no config."""
        twin = copy.copy(self)
        twin._store = self._store.for_user(user)
        twin._owns = False
        twin._async = AsyncStore(twin._store, self._async._threads)
        return twin

    def setup(self) -> _Done:
        """Nothing to do: opening a store sets it up. It may be awaited."""
        return _Done()

    def close(self) -> None:
        """Close the store, if this saver opened it."""
        if self._owns:
            self._store.close()

    def __enter__(self) -> Saver:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Saver:
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._owns:
            await self._async.close()

    # -- where

    def _place(self, config: RunnableConfig) -> Place:
        given = config.get("configurable") or {}
        if given.get("thread_id") is None:
            raise InvalidInput('A config needs a thread_id: {"configurable": {"thread_id": "..."}}.')
        checkpoint, branch = given.get("checkpoint_id"), given.get("branch")
        if branch is not None and not isinstance(branch, str):
            raise InvalidInput("configurable.branch is the name of a branch.")
        return Place(
            self._handle(given.get("user_id")), self._thread(given["thread_id"]),
            checks.text(str(given.get("checkpoint_ns") or ""), "checkpoint_ns"),
            checks.text(str(checkpoint), "checkpoint_id") if checkpoint else None, branch or None, given,
        )  # fmt: skip

    def _thread(self, thread_id: Any) -> str:
        name = str(thread_id)
        if name not in self._shared.names:
            self._shared.keep(self._shared.names, self._store._safe_id(name, "thread_id"), True)
        return name

    def _handle(self, user: Any) -> Store:
        if user is None or user == self._store.user:
            return self._store
        found = self._shared.handles.get(str(user))
        if found is None:
            found = self._store.for_user(str(user))
            self._shared.keep(self._shared.handles, str(user), found)
        return found

    # -- values

    @property
    def _inner(self) -> SerializerProtocol:
        """The serializer itself, below the encryption."""
        return self.serde.serde if _encrypts(self.serde) else self.serde

    @property
    def _is_stock(self) -> bool:
        """Whether values are written and read by LangGraph's own serializer, as it is."""
        return type(self._inner) is JsonPlusSerializer

    def _dump(self, value: Any, channel: str) -> Stored:
        try:
            type, data = self._inner.dumps_typed(value)
        except RecollectError:
            raise
        except Exception as e:
            raise NotSerializable(
                f"The channel {channel!r} holds something that cannot be stored ({_first_line(e)}). "
                "Keep plain data in the state: messages, dicts, pydantic models, dataclasses."
            ) from e
        if type == "pickle":
            raise NotSerializable(
                f"The channel {channel!r} would be pickled, which is never done: keep plain data in it."
            )
        return type, bytes(data)

    def _seal(self, plain: Stored) -> Stored:
        if _encrypts(self.serde):
            name, data = self.serde.cipher.encrypt(plain[1])
            return f"{plain[0]}+{name}", data
        return plain

    def _unseal(self, stored: Stored) -> Stored:
        type, data = stored
        if _encrypts(self.serde) and "+" in type:
            type, name = type.split("+", 1)
            try:
                data = self.serde.cipher.decrypt(name, data)
            except Exception as e:
                raise Damaged(
                    f"A value of the state cannot be decrypted ({_first_line(e)}): another key, or not what was written."
                ) from e
        return type, data

    def _pack(self, value: Any, channel: str, secret: bytes, gate: Gate | None) -> Value:
        spoken = channel in self._channels
        if type(value) is list and len(value) > 0:
            keys, elements = self._elements(value, channel, secret, gate, spoken)
            if sum([len(data) for _, data in elements]) >= SMALL * len(elements):
                chunks = isinstance(self._inner, JsonPlusSerializer) and {type for type, _ in elements} == {"msgpack"}
                return checkpoints.many(secret, keys, elements, self._seal, chunks=chunks)
        if gate is not None:
            value = messages.clean(value, gate, self._store.settings.redact_state, spoken=spoken)
        plain = self._dump(value, channel)
        return checkpoints.one(secret, *plain, self._seal(plain))

    def _elements(
        self, values: Sequence[Any], channel: str, secret: bytes, gate: Gate | None, spoken: bool
    ) -> tuple[builtins.list[bytes], builtins.list[Stored]]:
        keys, found = [], []
        passed, mode = self._shared.passed, self._store.settings.redact_state
        digest, dump, is_twin, common = checkpoints.digest, self._dump, messages.is_twin, messages.COMMON
        sound, ids = self._shared.sound, self._shared.ids if self._is_stock else {}
        for value in values:
            # What was read a moment ago, and is what it was, is neither serialised nor hashed once more.
            known = ids.get((secret, value.id)) if ids and type(value) in common and value.id else None
            data, model = sound.get(known, _NOTHING) if known is not None else _NOTHING
            if known is not None and data is not None and model is not None and is_twin(value, model):
                plain, key = ("msgpack", data), known
            else:
                plain = dump(value, channel)
                key = digest(secret, *plain)
            if gate is not None and key not in passed:
                safe = messages.clean(value, gate, mode, spoken=spoken)
                if safe is not value:
                    plain = dump(safe, channel)
                    key = digest(secret, *plain)
                if len(passed) >= PASSED:
                    passed.clear()
                passed[key] = None
            keys.append(key)
            found.append(plain)
        return keys, found

    def _load(self, stored: Stored, secret: bytes | None = None, key: bytes | None = None) -> Any:
        """A value from what is stored; with a key, only if it is what was written under it."""
        plain = self._unseal(stored)
        if key is not None and secret is not None and checkpoints.digest(secret, *plain) != key:
            raise Damaged("A value of the state is not what was written. Run `recollect doctor`.")
        return self._loads(plain)

    def _loads(self, plain: Stored) -> Any:
        if plain[0] == "pickle":
            raise NotAllowed("A value of the state is a pickle, which is never loaded.")
        for _ in range(8):
            with _listening() as refused:
                try:
                    value = self._inner.loads_typed(plain)
                except Exception as e:
                    raise Damaged(f"A value of the state cannot be read ({_first_line(e)}).") from e
            if not refused or not self._allow(refused):
                return value
        return value

    def _allow(self, refused: Sequence[tuple[str, str]]) -> bool:
        """Types that are not on the serializer's list: let plain data of the program's own through, and nothing else. Says
        whether there is anything to load again."""
        wanted = []
        for module, name in refused:
            known = sys.modules.get(module)
            if not self._strict and known is not None and not hasattr(known, name):
                continue  # of a function's own: there is nothing to construct, and its data is what it comes back as
            if self._strict or not _is_data(module, name):
                raise NotAllowed(
                    f"The state holds a {module}.{name}, which is not on the allow-list. If it is yours: "
                    f"Saver(..., serde=JsonPlusSerializer(allowed_msgpack_modules=[({module!r}, {name!r})]))."
                )
            wanted.append((module, name))
        inner = self._inner
        if not wanted or not isinstance(inner, JsonPlusSerializer):
            return False
        wider = inner.with_msgpack_allowlist(wanted)
        self.serde = EncryptedSerializer(self.serde.cipher, wider) if _encrypts(self.serde) else wider
        return wider is not inner

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Saver:
        """A copy whose serializer lets more types through; LangGraph calls it in its strict mode."""
        return cast(Saver, super().with_allowlist(extra_allowlist))

    # -- secrets of the hash

    def _secret(self, place: Place) -> Secret:
        known = self._shared.secrets.get((place.store.user, place.thread))
        if known is None:
            plain = os.urandom(32)
            known = Secret(0, plain, self._seal(("bytes", plain)))
        return known

    def _learn(self, place: Place, no: int, sealed: Stored | None) -> Secret:
        """The secret that a conversation has; a new one where it has none."""
        self._shared.forget(place.store.user, place.thread)
        if sealed is None:
            return self._secret(place)
        type, plain = self._unseal(sealed)
        if type != "bytes" or len(plain) != 32:
            raise Damaged(f"The state of conversation {place.thread!r} cannot be read with this serializer.")
        found = Secret(no, plain, sealed)
        self._shared.keep(self._shared.secrets, (place.store.user, place.thread), found)
        return found

    # -- writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and in the same transaction what its messages say for the first time."""
        place = self._place(config)
        store = place.store
        stored_metadata = self._metadata(config, metadata, store)
        queued = False

        def append(tx: Tx, conversation: Found, drafts: list[log.Draft], branch: str) -> list[int]:
            nonlocal queued
            wanted = [d for d in drafts if store._is_on(d[0].kind)]
            events, queued = store._append(tx, conversation, wanted, branch) if wanted else ([], False)
            written = iter(events)
            return [next(written).seq if store._is_on(d[0].kind) else 0 for d in drafts]

        previous = self._previous(place)
        secret = self._secret(place)
        for attempt in range(TRIES):
            draft, recent = self._draft(place, checkpoint, metadata, stored_metadata, new_versions, previous, secret)
            try:
                placed = store._write(lambda tx, draft=draft: checkpoints.put(tx, draft, append))  # type: ignore[misc]
                break
            except AlreadyExists:
                if attempt == TRIES - 1:  # on Postgres, another write may be making the conversation at this moment
                    raise
            except Unexpected as e:
                secret = self._learn(place, e.no, e.secret)
                previous = None
                if attempt == TRIES - 1:
                    raise Damaged(
                        f"The state of conversation {place.thread!r} changes faster than it is written."
                    ) from e
        shared = self._shared
        shared.keep(shared.secrets, (store.user, place.thread), secret._replace(no=placed.found.no))
        shared.keep(shared.recent, place.key(checkpoint["id"]), recent)
        if not _encrypts(self.serde):  # what is sealed anew is not what was stored
            have = shared.have(store.user, placed.found.no)
            for value in draft.values.values():
                value.lend(have)
        if draft.items:
            store._appended(queued)
        if placed.found.is_new:
            store._tell("chat.session_created", thread_id=place.thread, source="langgraph")
        if draft.forked_from is not None:
            store._tell(
                "chat.checkpoint_forked",
                thread_id=place.thread,
                from_checkpoint_id=draft.forked_from,
                new_checkpoint_id=draft.id,
            )
        return place.config(checkpoint["id"])

    def _draft(
        self, place: Place, checkpoint: Checkpoint, metadata: CheckpointMetadata, stored_metadata: Any,
        new_versions: ChannelVersions, previous: Recent | None, secret: Secret,
    ) -> tuple[Draft, Recent]:  # fmt: skip
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        gate = self._state_gate()
        d = Draft(place.thread, place.namespace, checkpoint["id"], place.checkpoint)
        d.branch, d.secret, d.known_as = place.branch, secret.sealed, secret.no
        d.made_at = _moment(checkpoint.get("ts"))
        d.created_at = d.made_at if self._historic else None
        d.limited = bool(self._store.settings.checkpoint_keep or self._store.settings.checkpoint_days)
        d.source, d.step = metadata.get("source"), metadata.get("step")
        if not isinstance(d.step, int):
            d.step = None
        run = metadata.get("run_id") or (stored_metadata.get("run_id") if isinstance(stored_metadata, dict) else None)
        d.run_id = str(run) if run is not None else None
        d.metadata = stored_metadata
        d.head = {name: checkpoint[name] for name in _KEPT if name in checkpoint}  # type: ignore[literal-required]
        rest = {k: v for k, v in checkpoint.items() if k not in (*_KEPT, "id", "channel_values")}
        if rest:
            d.head["rest"] = _encoded(self._seal(self._dump(rest, "pending_sends")))
        shared: set[bytes] = set()
        tops: dict[str, frozenset[bytes]] = {}
        known = previous.versions if previous is not None else {}
        for channel in {**versions, **values}:
            version = versions.get(channel)
            if channel not in new_versions and version is not None and known.get(channel) == version:
                d.inherits[channel] = version
                if previous is not None and channel in previous.tops:
                    tops[channel] = previous.tops[channel]
            elif channel in values:
                value = self._pack(values[channel], channel, secret.plain, gate)
                d.values[channel] = value
                if value.tops:
                    tops[channel] = value.tops
                if previous is not None:
                    shared |= previous.tops.get(channel, frozenset())
        d.shared = frozenset(shared)
        self._say(d, place, values, new_versions, previous, secret.plain)
        d.needs_parent = previous is not None and d.parent is not None
        stored = {channel: versions[channel] for channel in (*d.values, *d.inherits) if channel in versions}
        start = values.get(START)
        own = messages.own_words(start, self._channels) if d.source == "input" and start is not None else NOBODY
        return d, Recent(stored, tops, d.source, d.step, own)

    def _state_gate(self) -> Gate | None:
        settings = self._store.settings
        return self._store._gate.another() if settings.redact and settings.redact_state != "none" else None

    def _metadata(self, config: RunnableConfig, metadata: CheckpointMetadata, store: Store) -> Any:
        """As it is stored: JSON, or what the serializer makes of it. What an application put into its config may hold a
        key for some service: it goes through the gate."""
        found = dict(get_checkpoint_metadata(config, metadata))
        foreign = {name: value for name, value in found.items() if name not in _OWN}
        if foreign and store.settings.redact:
            try:
                found |= store._gate.another().value(foreign)
            except RecollectError:
                raise
            except Exception:
                found = messages.clean(found, store._gate.another(), "all")
        try:
            return _listed(found)
        except (TypeError, ValueError):
            return {"=": _encoded(self._seal(self._dump(found, "metadata")))}

    # -- the log

    def _logs(self) -> bool:
        return not _encrypts(self.serde) or self._store.settings.log_encrypted_state

    def _say(
        self, d: Draft, place: Place, values: Mapping[str, Any], new_versions: ChannelVersions, previous: Recent | None,
        secret: bytes,
    ) -> None:  # fmt: skip
        """What this checkpoint says for the first time, by the log rule."""
        if d.source == "fork" or not self._logs():
            return
        for channel in self._channels:
            if channel not in new_versions:
                continue
            packed = d.values.get(channel)
            if channel in values:
                said = messages.as_messages(values[channel])
                new = list(range(len(said)))
                if packed is not None and len(packed.parts) == len(said) and previous is not None:
                    new = checkpoints.news(packed, previous.tops.get(channel, frozenset()))
                    if not all(m.id for m in said):  # what is said twice has one key: its place tells
                        often = Counter(packed.parts)
                        twice = {i for i, m in enumerate(said) if not m.id and often[packed.parts[i]] > 1}
                        new = sorted({*new, *twice})
            else:
                said = self._written(place, d.parent, channel)
                new = list(range(len(said)))
            if new:
                self._items(d, place, said, new, packed, previous, secret)

    def _items(
        self, d: Draft, place: Place, said: Sequence[BaseMessage], new: Sequence[int], packed: Value | None,
        previous: Recent | None, secret: bytes,
    ) -> None:  # fmt: skip
        store = place.store
        gate = store._gate.another()

        def prepare(entry: Entry) -> log.Draft:
            if d.created_at is not None:
                entry["created_at"] = d.created_at
            return store._prepare(d.conversation, entry)

        logger = messages.Logger(secret, d.namespace, gate, prepare)
        tools = messages.calls_in(said) if any(m.type == "tool" and not m.name for m in (said[i] for i in new)) else {}
        # A run that stores only its end has the input of the person at the beginning of what is new.
        whole_run = d.source == "loop" and (
            previous is None or previous.step is None or (d.step is not None and d.step - previous.step > 1)
        )
        leading = whole_run and (previous is None or previous.source != "input")
        for i in new:
            message = said[i]
            own = False
            if isinstance(message, HumanMessage):
                own = leading or (previous is not None and previous.own.says(message, gate))
            elif not isinstance(message, HumanMessage):
                leading = False
            id = ""
            if not message.id:
                key = packed.parts[i] if packed is not None and len(packed.parts) == len(said) else None
                if key is None:
                    plain = self._dump(message, "messages")
                    key = checkpoints.digest(secret, *plain)
                    before = sum(1 for m in said[:i] if self._dump(m, "messages") == plain)
                else:
                    assert packed is not None
                    before = packed.parts[:i].count(key)
                id = f"{key.hex()}#{before}"
            d.items += logger.items(message, id, own, tools)

    def _written(self, place: Place, parent: str | None, channel: str) -> list[BaseMessage]:
        """The messages that were written to a channel since the parent: where a channel is stored as changes, they are
        all there is of it."""
        if parent is None:
            return []
        loaded, secret = self._read(place, parent)
        if loaded is None:
            return []
        found: list[BaseMessage] = []
        for _, name, type, data in loaded.writes:
            if name == channel:
                found += messages.as_messages(self._assemble((type, data), loaded.have, secret))
        return found

    def _previous(self, place: Place) -> Recent | None:
        """What is known of the parent; read, if it is not remembered."""
        if place.checkpoint is None:
            return None
        found = self._shared.recent.get(place.key(place.checkpoint))
        if found is None:
            loaded, secret = self._read(place, place.checkpoint)
            if loaded is not None:
                found = self._remember(place, loaded, secret)
        return found

    def _remember(self, place: Place, loaded: Loaded, secret: bytes) -> Recent:
        tops = {}
        for channel, value in loaded.values.items():
            if isinstance(value, bytes) and loaded.have[value][0] == checkpoints.LIST:
                tops[channel] = frozenset(checkpoints.keys_in(loaded.have[value][1]))
        versions = {c: v for c, v in loaded.head.get("channel_versions", {}).items() if c in loaded.values}
        own = NOBODY
        if loaded.source == "input" and START in loaded.values:
            start = self._value(loaded.values[START], loaded.have, secret)
            own = messages.own_words(start, self._channels)
        recent = Recent(versions, tops, loaded.source, loaded.step, own)
        self._shared.keep(self._shared.recent, place.key(loaded.id), recent)
        return recent

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote since a checkpoint."""
        place = self._place(config)
        if place.checkpoint is None:
            raise InvalidInput("Writes belong to a checkpoint: the config needs a checkpoint_id.")
        self._keep(place, [(WRITES_IDX_MAP.get(c, i), c, v) for i, (c, v) in enumerate(writes)], task_id, task_path)

    def _keep(self, place: Place, writes: Sequence[tuple[int, str, Any]], task_id: str, task_path: str) -> None:
        checkpoint = place.checkpoint or ""
        task_id, task_path = checks.text(task_id, "task_id"), checks.text(task_path, "task_path")
        for _, channel, _ in writes:
            checks.text(channel, "channel")
        gate = self._state_gate()
        secret = self._secret(place)
        for attempt in range(TRIES):
            packed = [Write(i, c, self._pack(value, c, secret.plain, gate)) for i, c, value in writes]
            try:
                found = place.store._write(
                    lambda tx, packed=packed, secret=secret: checkpoints.put_writes(  # type: ignore[misc]
                        tx,
                        place.thread,
                        place.namespace,
                        checkpoint,
                        task_id,
                        task_path,
                        packed,
                        secret.sealed,
                        secret.no,
                    )
                )
                break
            except AlreadyExists:
                if attempt == TRIES - 1:
                    raise
            except Erased:
                if attempt == TRIES - 1:
                    raise
                time.sleep(
                    WAIT_SECONDS
                )  # the first write of a thread that begins anew may overtake its first checkpoint
            except Unexpected as e:
                secret = self._learn(place, e.no, e.secret)
                if attempt == TRIES - 1:
                    raise Damaged(
                        f"The state of conversation {place.thread!r} changes faster than it is written."
                    ) from e
        shared = self._shared
        shared.keep(shared.secrets, (place.store.user, place.thread), secret._replace(no=found.no))
        if found.is_new:
            place.store._tell("chat.session_created", thread_id=place.thread, source="langgraph")

    # -- reading

    def _read(self, place: Place, checkpoint: str | None) -> tuple[Loaded | None, bytes]:
        known = self._shared.secrets.get((place.store.user, place.thread))

        have = self._shared.have(place.store.user, known.no) if known is not None else {}

        def read(tx: Tx) -> tuple[Loaded | None, Stored | None]:
            loaded = checkpoints.get(tx, place.thread, place.namespace, checkpoint, place.branch, have)
            if loaded is None or (known is not None and known.no == loaded.no):
                return loaded, None
            return loaded, checkpoints.secret(tx, loaded.no)

        loaded, sealed = place.store._read(read)
        if loaded is None:
            return None, b""
        if known is not None and known.no == loaded.no:
            return loaded, known.plain
        if sealed is None:
            raise Damaged(f"The state of conversation {place.thread!r} has lost its key. Run `recollect doctor`.")
        return loaded, self._learn(place, loaded.no, sealed).plain

    def _value(self, value: bytes | Stored, have: checkpoints.Have, secret: bytes) -> Any:
        if isinstance(value, bytes):
            return self._assemble(have[value], have, secret, value)
        return self._load(value)

    def _assemble(self, stored: Stored, have: checkpoints.Have, secret: bytes, key: bytes | None = None) -> Any:
        if stored[0] != checkpoints.LIST:
            return self._load(stored, secret, key)
        if key is not None:
            parts = checkpoints.flat(have, key)
        else:
            parts = [p for top in checkpoints.keys_in(stored[1]) for p in checkpoints.flat(have, top)]
        return self._list([have[part] for part in parts], secret, parts)

    def _list(self, stored: Sequence[Stored], secret: bytes, keys: Sequence[bytes]) -> Any:
        """The elements of a list. What LangGraph's own serializer wrote one by one is read at once, as the array that it
        would have been."""
        if _encrypts(self.serde):
            stored = [self._unseal(one) for one in stored]
        digest = checkpoints.digest
        count, parts, kinds = 0, [], {type for type, _ in stored}
        sound, stock = self._shared.sound, self._is_stock
        made: builtins.list[Any] = []
        """A copy of a message, or how many elements are to be read in its place, and under which key one is kept."""
        for key, (type, data) in zip(keys, stored, strict=True):
            if type == checkpoints.CHUNK:
                n, data = checkpoints.unchunked(key, data)
                made.append((n, None, data))
            else:
                known, model = sound.get(key, _NOTHING)
                if known != data:
                    if digest(secret, type, data) != key:
                        raise Damaged("A value of the state is not what was written. Run `recollect doctor`.")
                    sound[key] = (data, None)
                elif model is not None and stock and type == "msgpack":
                    made.append(messages.twin(model))
                    continue
                n = 1
                made.append((1, key, data))
            count += n
            parts.append(data)
        if kinds <= {"msgpack", checkpoints.CHUNK} and isinstance(self._inner, JsonPlusSerializer):
            if not count:
                return made
            found = self._loads(("msgpack", b"\xdd" + count.to_bytes(4) + b"".join(parts)))
            if not isinstance(found, builtins.list) or len(found) != count:
                raise Damaged("A list of the state is not what was written. Run `recollect doctor`.")
            return self._merged(made, found, secret)
        if checkpoints.CHUNK in kinds:
            raise Damaged("The state was written by another serializer: open it with the one it was written with.")
        return [self._loads(plain) for plain in stored]

    def _merged(self, made: Sequence[Any], found: builtins.list[Any], secret: bytes) -> builtins.list[Any]:
        """Copies and what was read, in their order. Messages that were read are kept, to be copied the next time."""
        merged: builtins.list[Any] = []
        start = 0
        shared, stock = self._shared, self._is_stock
        for one in made:
            if type(one) is not tuple:
                merged.append(one)
                continue
            n, key, data = one
            if key is not None and stock and len(data) <= KEPT and messages.is_plain(found[start]):
                shared.sound[key] = (data, messages.twin(found[start]))
                if found[start].id:
                    shared.ids[secret, found[start].id] = key
            merged += found[start : start + n]
            start += n
        return merged

    def _tuple(
        self, place: Place, loaded: Loaded, secret: bytes, config: RunnableConfig | None = None
    ) -> CheckpointTuple:
        head = dict(loaded.head)
        rest = head.pop("rest", None)
        found: dict[str, Any] = {**head, "id": loaded.id}
        if rest is not None:
            found |= self._load(_decoded(rest))
        found["channel_values"] = {
            channel: self._value(value, loaded.have, secret) for channel, value in loaded.values.items()
        }
        return CheckpointTuple(
            config or place.config(loaded.id),
            cast(Checkpoint, found),
            self._metadata_of(loaded),
            place.config(loaded.parent) if loaded.parent is not None else None,
            [
                (task, channel, self._assemble((type, data), loaded.have, secret))
                for task, channel, type, data in loaded.writes
            ],
        )

    def _metadata_of(self, loaded: Loaded) -> CheckpointMetadata:
        if isinstance(loaded.metadata, dict) and loaded.metadata.keys() == {"="}:
            return cast(CheckpointMetadata, self._load(_decoded(loaded.metadata["="])))
        return cast(CheckpointMetadata, loaded.metadata)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint: the one named, or the newest of the conversation's active branch (or of `configurable.branch`)."""
        place = self._place(config)
        loaded, secret = self._read(place, place.checkpoint)
        if loaded is None:
            return None
        self._remember(place, loaded, secret)
        return self._tuple(place, loaded, secret, config if place.checkpoint is not None else None)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first. A filter is compared with the metadata here, never written into a statement."""
        if limit is not None and limit <= 0:
            return
        given = (config.get("configurable") or {}) if config is not None else {}
        store = self._handle(given.get("user_id"))
        thread = self._thread(given["thread_id"]) if given.get("thread_id") is not None else None
        found = self._found(store, given, thread, filter, before, limit)
        yield from store._telemetry.span("chat.time_travel.list_history", store.user, thread_id=thread).each(found)

    def _found(
        self,
        store: Store,
        given: Mapping[str, Any],
        thread: str | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Iterator[CheckpointTuple]:
        namespace, checkpoint = given.get("checkpoint_ns"), given.get("checkpoint_id")
        last = (before.get("configurable") or {}).get("checkpoint_id") if before is not None else None
        wanted = dict(filter or {})
        source, step = wanted.get("source"), wanted.get("step")
        only_source = source if isinstance(source, str) and "\0" not in source else None
        only_step = step if type(step) is int and -(1 << 62) < step < 1 << 62 else None
        if any("\0" in str(name) for name in (namespace, checkpoint, last)):
            return  # no database keeps that: nothing is called so
        places = store._read(
            lambda tx: checkpoints.find(
                tx, thread, None if namespace is None else str(namespace), None if not checkpoint else str(checkpoint),
                None if not last else str(last), only_source, only_step, None if wanted else limit,
            )
        )  # fmt: skip
        have: dict[int, checkpoints.Have] = {}
        for start in range(0, len(places), checkpoints.PAGE):
            for tuple_ in self._page(store, given, places[start : start + checkpoints.PAGE], have, wanted):
                yield tuple_
                if limit is not None:
                    limit -= 1
                    if not limit:
                        return

    def _page(
        self, store: Store, given: Mapping[str, Any], places: Sequence[tuple[int, str, str]],
        have: dict[int, checkpoints.Have], wanted: Mapping[str, Any],
    ) -> Iterator[CheckpointTuple]:  # fmt: skip
        def read(tx: Tx) -> tuple[Sequence[Loaded], dict[int, Stored | None]]:
            found = checkpoints.load(tx, places, have)
            return found, {no: checkpoints.secret(tx, no) for no in {loaded.no for loaded in found}}

        loaded, sealed = store._read(read)
        secrets = {no: self._unseal(s)[1] for no, s in sealed.items() if s is not None}
        for one in loaded:
            if one.no not in secrets:
                raise Damaged(
                    f"The state of conversation {one.conversation!r} has lost its key. Run `recollect doctor`."
                )
            metadata = self._metadata_of(one)
            if all(metadata.get(name) == value for name, value in wanted.items()):
                known = {"thread_id": one.conversation, **({"user_id": given["user_id"]} if "user_id" in given else {})}
                yield self._tuple(
                    Place(store, one.conversation, one.namespace, None, None, known), one, secrets[one.no]
                )

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What was written to each channel on the way to a checkpoint, from the nearest stored value of it on."""
        if not channels:
            return {}
        place = self._place(config)

        def read(tx: Tx) -> tuple[Sequence[Loaded], Stored | None]:
            chain = checkpoints.ancestors(
                tx, place.thread, place.namespace, place.checkpoint, list(channels), place.branch
            )
            return chain, checkpoints.secret(tx, chain[0].no) if chain else None

        chain, sealed = place.store._read(read)
        secret = self._unseal(sealed)[1] if sealed is not None else b""
        written: dict[str, list[PendingWrite]] = {channel: [] for channel in channels}
        seeds: dict[str, Any] = {}
        for loaded in chain:
            left = [channel for channel in channels if channel not in seeds]
            for task, channel, type, data in reversed(loaded.writes):
                if channel in left:
                    written[channel].append((task, channel, self._assemble((type, data), loaded.have, secret)))
            for channel in left:
                if channel in loaded.values:
                    seeds[channel] = self._value(loaded.values[channel], loaded.have, secret)
        found: dict[str, DeltaChannelHistory] = {}
        for channel in channels:
            found[channel] = {"writes": written[channel][::-1]}
            if channel in seeds:
                found[channel]["seed"] = seeds[channel]
        return found

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Counts up. The random end keeps the versions of two branches apart."""
        if current is None:
            n = 0
        elif isinstance(current, (int, float)):
            n = int(current)
        else:
            n = int(current.split(".")[0])
        return f"{n + 1:010}.{random.getrandbits(32):08x}"

    def starting(self, config: RunnableConfig) -> RunnableConfig:
        """The same config; of a branch that was forked in the log, and on which nothing has run yet, with the checkpoint it
        starts from. LangGraph then runs on from there without touching what the other branch wrote."""
        place = self._place(config)
        if place.checkpoint is not None or place.namespace:
            return config
        found = place.store._read(lambda tx: checkpoints.start(tx, place.thread, place.branch))
        if found is None:
            return config
        return {**config, "configurable": {**place.given, "checkpoint_ns": "", "checkpoint_id": found}}

    # -- whole threads, for the handle's user

    def delete_thread(self, thread_id: str) -> None:
        """Erase a conversation: its log, its state, everything."""
        thread = self._thread(thread_id)
        self._shared.forget(self._store.user, thread)
        try:
            self._store._erase({"conversation": thread}, "langgraph", False)
        except NotFound:
            pass

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that these runs made. The log stays: it is what happened."""
        runs = [str(run) for run in run_ids]
        self._store._write(lambda tx: checkpoints.drop_runs(tx, runs))
        self._swept()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """A conversation once more under another id: log, branches, checkpoints."""
        source, target = self._thread(source_thread_id), self._thread(target_thread_id)

        def write(tx: Tx) -> None:
            checkpoints.copy(tx, source, target)
            if self._store._embeds():
                jobs.enqueue(tx, "embed", "all")

        self._store._write(write)
        self._store._appended(False)

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep: int = 1,
        before: int | None = None,
    ) -> None:
        """Delete old checkpoints: all but the newest `keep` of every branch and namespace, and those made since `before`
        (milliseconds UTC). With strategy "delete", all of them. Branches stay resumable, and what a delta channel is made
        of stays. The log stays."""
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(f"strategy={strategy!r}: choose 'keep_latest' or 'delete'.")
        if keep < 1:
            raise InvalidInput("keep must be at least 1; strategy='delete' deletes all.")
        for thread_id in thread_ids:
            thread = self._thread(thread_id)
            self._store._write(
                lambda tx, thread=thread: checkpoints.prune(  # type: ignore[misc]
                    tx,
                    thread,
                    keep=0 if strategy == "delete" else keep,
                    before=None if strategy == "delete" else before,
                )
            )
            self._shared.forget(self._store.user, thread)
        self._swept()

    def scan(self, *, fix: bool = False) -> builtins.list[SecretPlace]:
        """Look for secrets in the state that is stored already, as far as `redact_state` says; `store.scan` does the rest.
        With `fix` they are replaced, in every checkpoint, and nothing of them stays. An encrypted state is read with `serde`."""
        store, mode = self._store, self._store.settings.redact_state
        places = store._read(lambda tx: checkpoints.find(tx, None, None, None, None, None, None, None))
        found: dict[tuple[str, int], dict[str, None]] = {}
        for place in places if mode != "none" else ():
            loaded, sealed = store._read(
                lambda tx, place=place: (  # type: ignore[misc]
                    checkpoints.load(tx, [place], {}), checkpoints.secret(tx, place[0])
                )
            )  # fmt: skip
            if not loaded or sealed is None:
                continue
            one, secret = loaded[0], self._unseal(sealed)[1]
            gate = Gate(True, store.settings.redact_off, store.settings.redact_allow, store.settings.redact_patterns)
            values, writes = self._cleaned(one, secret, gate, mode)
            metadata = one.metadata
            foreign = (
                {k: v for k, v in metadata.items() if k not in _OWN and k != "="} if isinstance(metadata, dict) else {}
            )
            if foreign:
                metadata = {**metadata, **gate.value(foreign)}
            if gate.families:
                found.setdefault((one.conversation, one.seq), {}).update(dict.fromkeys(gate.families))
                if fix:
                    store._write(
                        lambda tx, one=one, v=values, m=metadata, w=writes: checkpoints.rewrite(tx, one, v, m, w)  # type: ignore[misc]
                    )
                    self._shared.__init__()  # type: ignore[misc]
        if fix and found:
            store.settle()
            store._db.scrub()
        return [SecretPlace(name, seq, tuple(families)) for (name, seq), families in sorted(found.items())]

    def _cleaned(
        self, one: Loaded, secret: bytes, gate: Gate, mode: str
    ) -> tuple[dict[str, Value], dict[int, Write]]:  # fmt: skip
        values, writes = {}, {}
        for channel, stored in one.values.items():
            value = self._value(stored, one.have, secret)
            safe = messages.clean(value, gate, mode, spoken=channel in self._channels)
            if safe is not value:
                values[channel] = self._pack(safe, channel, secret, None)
        for i, (_, channel, type, data) in enumerate(one.writes):
            value = self._assemble((type, data), one.have, secret)
            safe = messages.clean(value, gate, mode, spoken=channel in self._channels)
            if safe is not value:
                writes[i] = Write(0, channel, self._pack(safe, channel, secret, None))
        return values, writes

    def _swept(self) -> None:
        if self._store.settings.background:
            self._store._worker.wake(self._store.user, checkpoints.SWEEP_DELAY_MS)

    # -- the same for async code

    async def _go(self, call: Callable[[], T]) -> T:
        return await self._async._run(call)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._go(partial(self.put, config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._go(partial(self.put_writes, config, writes, task_id, task_path))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._go(partial(self.get_tuple, config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await self._go(partial(next, found, None))) is not None:
            yield one

    async def adelete_thread(self, thread_id: str) -> None:
        await self._go(partial(self.delete_thread, thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._go(partial(self.delete_for_runs, run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._go(partial(self.copy_thread, source_thread_id, target_thread_id))

    async def aprune(
        self, thread_ids: Sequence[str], *, strategy: str = "keep_latest", keep: int = 1, before: int | None = None
    ) -> None:
        await self._go(partial(self.prune, thread_ids, strategy=strategy, keep=keep, before=before))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self._go(partial(self.get_delta_channel_history, config=config, channels=channels))


class _Done:
    """What `setup` gives back: nothing, awaited or not."""

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


class _Opening:
    """A saver that is opened by `with` or `async with`, and closed at the end."""

    def __init__(self, make: Callable[[], Saver]) -> None:
        self._make = make

    def __enter__(self) -> Saver:
        self._saver = self._make()
        return self._saver

    def __exit__(self, *exc: object) -> None:
        self._saver.close()

    async def __aenter__(self) -> Saver:
        import asyncio

        self._saver = await asyncio.get_running_loop().run_in_executor(None, self._make)
        return self._saver

    async def __aexit__(self, *exc: object) -> None:
        await self._saver._async.close()


# -- the allow-list

_heard = threading.local()


def _hear(event: SerdeEvent) -> None:
    """LangGraph's serializer says what it did not construct; whoever is loading in this thread hears it."""
    found = getattr(_heard, "found", None)
    if found is not None and "blocked" in event["kind"]:
        found.append((event["module"], event["name"]))


register_serde_event_listener(_hear)


def _is_news(record: logging.LogRecord) -> bool:
    """What is refused becomes an error, or is let through: to warn of it as well would only confuse."""
    return getattr(_heard, "found", None) is None or not str(record.msg).startswith("Blocked deserialization")


logging.getLogger("langgraph.checkpoint.serde.jsonplus").addFilter(_is_news)


@contextmanager
def _listening() -> Iterator[list[tuple[str, str]]]:
    found: list[tuple[str, str]] = []
    _heard.found = found
    try:
        yield found
    finally:
        _heard.found = None


def _is_data(module: str, name: str) -> bool:
    """Whether a type is plain data of a module that the program has loaded itself: nothing is imported for a blob's sake,
    and nothing but the fields of such a type is filled."""
    found = getattr(sys.modules.get(module), name, None)
    if not isinstance(found, type):
        return False
    return (
        issubclass(found, (BaseModel, Enum))
        or hasattr(found, "__dataclass_fields__")
        or (issubclass(found, tuple) and hasattr(found, "_fields"))
        or hasattr(found, "__fields__")
    )


_kinds: dict[type, bool] = {}


def _encrypts(serde: SerializerProtocol) -> TypeGuard[EncryptedSerializer]:
    """`isinstance`, remembered: of a protocol's subclass it takes 4 us, and a state has thousands of elements."""
    kind = type(serde)
    if kind not in _kinds:
        _kinds[kind] = issubclass(kind, EncryptedSerializer)
    return _kinds[kind]


def _encoded(stored: Stored) -> Sequence[str]:
    return [stored[0], b64encode(stored[1]).decode()]


def _decoded(stored: Sequence[str]) -> Stored:
    return stored[0], b64decode(stored[1])


def _listed(value: Any) -> Any:
    """Tuples as the lists that JSON makes of them; anything else that JSON would change is an error."""
    if isinstance(value, (list, tuple)):
        return [_listed(v) for v in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("JSON keys are texts")
        return {key: _listed(v) for key, v in value.items()}
    if value is not None and type(value) not in (str, int, float, bool):
        raise TypeError(type(value).__name__)
    if type(value) is float and not isfinite(value):
        raise ValueError("JSON has no such number")
    return value


def _moment(ts: object) -> int | None:
    """A checkpoint's own time, in milliseconds UTC."""
    try:
        return int(datetime.fromisoformat(str(ts)).timestamp() * 1000)
    except ValueError:
        return None


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
