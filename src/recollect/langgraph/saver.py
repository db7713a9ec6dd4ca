"""`Saver`: a LangGraph checkpointer over the store's own tables.

One class, sync and async, SQLite and Postgres. It translates: LangGraph's `thread_id` is a conversation, its checkpoints go
to `checkpoints`, and the messages in them to the log, in one transaction. Values are serialised by LangGraph's own
serializer, `serde`, which may be replaced, by an encrypting one too; what is read back constructs nothing that is not on
its allow-list.
"""

from __future__ import annotations

import copy
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Generator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from .. import checks, events, ids
from ..aio import AsyncStore, sync_of
from ..checkpoints import pending, pieces, placing, stored
from ..checkpoints.draft import Draft
from ..checkpoints.pending import Write
from ..checkpoints.pieces import Unexpected
from ..db.cipher import hide
from ..errors import AlreadyExists, Damaged, Erased, InvalidInput, RecollectError
from ..model import Entry
from ..store import Store
from . import messages, running
from .messages import NOBODY, START, Own
from .reader import DURABILITY, RUN
from .remembered import Place, Recent, Remembered, Secret
from .threads import OWN, Threads
from .values import encoded, encrypts, listed

if TYPE_CHECKING:
    from ..checkpoints.pieces import Value
    from ..conversations import Found
    from ..db import Tx

T = TypeVar("T")

TRIES = 4
WAIT_SECONDS = 0.1
_KEPT = ("v", "ts", "channel_versions", "versions_seen", "updated_channels")


class Saver(Threads):
    """A checkpointer for `builder.compile(checkpointer=...)`.

    `store` is an open `recollect.Store`, or what `recollect.open` takes: then the saver opens it, and closes it. `user` is
    whose conversations its threads are, unless a config says `user_id`. `serde` is LangGraph's serializer: types of your own
    are let through when they are plain data (pydantic, dataclass, enum, named tuple) of a module that is loaded already; with
    `strict`, only what is on the serializer's allow-list.
    """

    serde: SerializerProtocol

    def __init__(
        self,
        store: Store | AsyncStore | str | os.PathLike[str] | None = None,
        *,
        user: str | None = None,
        serde: SerializerProtocol | None = None,
        strict: bool = False,
        **settings: Any,
    ) -> None:
        hide(settings)
        super().__init__(serde=serde or JsonPlusSerializer(allowed_msgpack_modules=None))
        given = sync_of(store)
        self._owns = not isinstance(given, Store)
        self._store = given if isinstance(given, Store) else Store.open(given, user=user, **settings)
        if isinstance(given, Store):
            if settings:
                raise InvalidInput(f"The store is open already: {sorted(settings)[0]} is said where it is opened.")
            if user is not None and user != given.user:
                self._store = given.for_user(user)
        self._strict = strict
        self._historic = False
        """Whether what is put happened when its checkpoint says: it is being brought in from elsewhere."""
        self._channels = tuple(self._store.settings.message_channels)
        self._shared = Remembered()
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
        twin._is_handed_over = True
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

    # -- values

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Saver:
        """A copy whose serializer lets more types through; LangGraph calls it in its strict mode."""
        return cast(Saver, super().with_allowlist(extra_allowlist))

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
        key = place.key(checkpoint["id"])
        if place.namespace and metadata.get("source") == "input":
            self._await_parents(place)
        self._shared.announce(key)
        by_hand = metadata.get("source") in ("update", "fork") and not place.namespace and not running.told.get()
        try:
            if not by_hand:
                return self._put(place, config, checkpoint, metadata, new_versions)
            with place.store._telemetry.span(
                "chat.time_travel.update_state", place.store.user, thread_id=place.thread
            ):  # fmt: skip
                return self._put(place, config, checkpoint, metadata, new_versions)
        finally:
            self._shared.arrived(key)

    def _await_parents(self, place: Place) -> None:
        """LangGraph puts checkpoints in the background, so a subgraph's first may overtake the one it was started from. What a
        person says to the graph would then be taken for what the subgraph was told."""
        if place.given.get(DURABILITY) == "exit":  # nothing is put before the end
            return
        for namespace, id in (place.given.get("checkpoint_map") or {}).items():
            if namespace != place.namespace:
                self._shared.wait_for(place._replace(namespace=namespace).key(id), WAIT_SECONDS)

    def _put(
        self, place: Place, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:  # fmt: skip
        store = place.store
        stored_metadata = self._metadata(config, metadata, store)
        queued = False

        def append(tx: Tx, conversation: Found, drafts: list[events.Draft], branch: str) -> list[int]:
            nonlocal queued
            wanted = [d for d in drafts if store._is_on(d[0].kind)]
            appended, queued = store._append(tx, conversation, wanted, branch) if wanted else ([], False)
            written = iter(appended)
            return [next(written).seq if store._is_on(d[0].kind) else 0 for d in drafts]

        previous = self._previous(place)
        secret = self._secret(place)
        for attempt in range(TRIES):
            made, recent = self._draft(place, checkpoint, metadata, stored_metadata, new_versions, previous, secret)
            try:
                found = store._write(lambda tx, made=made: placing.put(tx, made, append), keyed=True)  # type: ignore[misc]
                break
            except AlreadyExists:
                if attempt == TRIES - 1:  # on Postgres, another write may be making the conversation at this moment
                    raise
            except Unexpected as e:
                secret = self._learn(place, e.no, e.secret)
                previous = self._previous(place)  # as it is now: what was remembered is forgotten
                if attempt == TRIES - 1:
                    raise Damaged(
                        f"The state of conversation {place.thread!r} changes faster than it is written."
                    ) from e
        shared = self._shared
        shared.keep(shared.secrets, (store.user, place.thread), secret._replace(no=found.no))
        shared.keep(shared.recent, place.key(checkpoint["id"]), recent)
        shared.keep(shared.newest, place.key(None), checkpoint["id"])
        if made.source == "loop" and not place.namespace:
            shared.inputs.pop(
                id(place.given.get(RUN)), None
            )  # what a node says later is its own, in the same words too
        if not encrypts(self.serde):  # what is sealed anew is not what was stored
            have = shared.have(store.user, found.no)
            for value in made.values.values():
                value.lend(have)
        if made.items:
            store._appended(queued)
        if found.is_new:
            store._tell("chat.session_created", thread_id=place.thread, source="langgraph")
        if made.forked_from is not None:
            store._tell(
                "chat.checkpoint_forked",
                thread_id=place.thread,
                from_checkpoint_id=made.forked_from,
                new_checkpoint_id=made.id,
            )
        return place.config(checkpoint["id"])

    def _draft(
        self, place: Place, checkpoint: Checkpoint, metadata: CheckpointMetadata, stored_metadata: Any,
        new_versions: ChannelVersions, previous: Recent | None, secret: Secret,
    ) -> tuple[Draft, Recent]:  # fmt: skip
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        gate = self._state_gate()
        seen = checkpoint.get("versions_seen") or {}
        self._refuse_secrets(
            gate, (place.namespace, *versions, *values, *seen, *[name for of in seen.values() for name in of])
        )
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
        if d.parent is None and d.source != "fork":  # a clone of what is gone is nothing new
            once = not d.namespace and d.source in ("input", "update")
            d.begun_at = d.made_at if once else self._shared.missed_at(place.store.user, place.thread)
        d.metadata = stored_metadata
        d.head = {name: checkpoint[name] for name in _KEPT if name in checkpoint}  # type: ignore[literal-required]
        rest = {k: v for k, v in checkpoint.items() if k not in (*_KEPT, "id", "channel_values")}
        if rest:
            d.head["rest"] = encoded(self._seal(self._dump(rest, "pending_sends")))
        shared: set[bytes] = set()
        tops: dict[str, frozenset[bytes]] = {}
        lists: dict[str, str] = {}
        known = previous.versions if previous is not None else {}
        for channel in {**versions, **values}:
            version = versions.get(channel)
            if channel not in new_versions and version is not None and known.get(channel) == version:
                d.inherits[channel] = version
                if previous is not None and channel in previous.tops:
                    tops[channel] = previous.tops[channel]
                    lists[channel] = d.lists[channel] = previous.lists[channel]
            elif channel in values:
                value = self._pack(values[channel], channel, secret.plain, gate)
                d.values[channel] = value
                if value.tops:
                    assert value.key is not None
                    tops[channel], lists[channel] = value.tops, value.key.hex()
                if previous is not None and channel in previous.tops:
                    shared |= previous.tops[channel]
                    d.lists[channel] = previous.lists[channel]
        d.shared = frozenset(shared)
        self._say(d, place, values, new_versions, previous, secret.plain)
        d.needs_parent = previous is not None and d.parent is not None
        stored = {channel: versions[channel] for channel in (*d.values, *d.inherits) if channel in versions}
        start = values.get(START)
        own = messages.own_words(start, self._channels) if d.source == "input" and start is not None else {}
        return d, Recent(stored, tops, lists, d.source, d.step, own)

    def _metadata(self, config: RunnableConfig, metadata: CheckpointMetadata, store: Store) -> Any:
        """As it is stored: JSON, or what the serializer makes of it. What an application put into its config may hold a
        key for some service: it goes through the gate."""
        found = dict(get_checkpoint_metadata(config, metadata))
        foreign = {name: value for name, value in found.items() if name not in OWN}
        if foreign and store.settings.redact:
            try:
                own = {name: value for name, value in found.items() if name in OWN}
                found = own | store._gate.another().value(foreign)
            except RecollectError:
                raise
            except Exception:
                found = messages.clean(found, store._gate.another(), "all", "metadata", ())
        try:
            return listed(found)
        except (TypeError, ValueError):
            return {"=": encoded(self._seal(self._dump(found, "metadata")))}

    # -- the log

    def _logs(self) -> bool:
        return not encrypts(self.serde) or self._store.settings.log_encrypted_state

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
                if packed is not None and said and len(packed.parts) == len(said) and previous is not None:
                    new = pieces.news(packed, previous.tops.get(channel, frozenset()))
                    if not all(m.id for m in said):  # what is said twice has one key: its place tells
                        often = Counter(packed.parts)
                        twice = {i for i, m in enumerate(said) if not m.id and often[packed.parts[i]] > 1}
                        new = sorted({*new, *twice})
            else:
                said = self._written(place, d.parent, channel)
                new = list(range(len(said)))
            own, lost = self._own(d, place, channel, previous, said, new)
            if new or lost:
                self._items(d, place, said, new, packed, previous, secret, own, lost)

    def _items(
        self, d: Draft, place: Place, said: Sequence[BaseMessage], new: Sequence[int], packed: Value | None,
        previous: Recent | None, secret: bytes, own: Own, lost: Sequence[BaseMessage],
    ) -> None:  # fmt: skip
        store = place.store
        gate = store._gate.another()

        one = partial(store._prepare, d.conversation)

        def prepare(entry: Entry) -> events.Draft:
            if d.created_at is not None:
                entry["created_at"] = d.created_at
            elif entry["kind"] == "message" and len(entry) == 3:  # a role and a text, as most are
                del entry["kind"]
                return events.prepare_all(d.conversation, [entry], store._gate, one)[0]
            return one(entry)

        handoffs = self._shared.handoffs.get((store.user, place.thread))
        logger = messages.Logger(secret, d.namespace, gate, prepare, handoffs)
        tools = messages.calls_in(said) if any(m.type == "tool" and not m.name for m in (said[i] for i in new)) else {}
        for n, message in enumerate(lost):
            d.items += logger.items(message, f"{d.id}/{n}", True, tools)
        # Of a database that another checkpointer wrote, only the end of such a run is left. Who is to read it should see who
        # seems to have spoken; what nobody can tell is not learned.
        leading = self._historic and _is_whole_run(d, previous)
        by_hand = d.source == "update" and not running.is_inside()
        edited = self._edited(place, [said[i] for i in new], logger) if by_hand and not d.namespace else frozenset()
        # Where only the end is stored, a subgraph's comes before the root's: what was said to the root would be there twice.
        waits = bool(place.namespace) and place.given.get(DURABILITY) == "exit"
        for i in new:
            message = said[i]
            if waits and isinstance(message, HumanMessage):
                continue
            is_own = False
            if isinstance(message, HumanMessage):
                is_own = own.says(message, gate) or message.id in edited
            else:
                leading = False
            id = ""
            if not message.id:
                key = packed.parts[i] if packed is not None and len(packed.parts) == len(said) else None
                if key is None:
                    plain = self._dump(message, "messages")
                    key = pieces.digest(secret, *plain)
                    before = sum(1 for m in said[:i] if self._dump(m, "messages") == plain)
                else:
                    assert packed is not None
                    before = packed.parts[:i].count(key)
                id = f"{key.hex()}#{before}"
            made = logger.items(message, id, is_own or leading, tools, is_sure=is_own)
            for item in made:
                item.is_graphs = not is_own and not by_hand
            d.items += made

    def _edited(self, place: Place, said: Sequence[BaseMessage], logger: messages.Logger) -> frozenset[str]:
        """The ids of messages that were the user's before somebody changed the state by hand: they still are."""
        names = {f"m:{logger.name(m.id)}": m.id for m in said if isinstance(m, HumanMessage) and m.id}
        if not names:
            return frozenset()
        found = place.store._read(lambda tx: stored.said_by_user(tx, place.thread, [*names]))
        return frozenset(names[name] for name in found)

    def _own(
        self, d: Draft, place: Place, channel: str, previous: Recent | None, said: Sequence[BaseMessage], new: Sequence[int]
    ) -> tuple[Own, Sequence[BaseMessage]]:  # fmt: skip
        """What the person put into the run, and what of it the state does not hold any more. In a subgraph, and in a run that a
        node of another graph began, nothing: what it is given is a graph's."""
        if place.namespace or running.is_inside():
            return NOBODY, []
        own = self._heard(place).get(channel) if d.source == "loop" else None
        if own is not None:
            return own, own.missing(said, new)
        return (previous.own.get(channel, NOBODY) if previous is not None else NOBODY), []

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
        self._refuse_secrets(gate, (place.namespace, task_path, *[channel for _, channel, _ in writes]))
        secret = self._secret(place)
        for attempt in range(TRIES):
            packed = [Write(i, c, self._pack(value, c, secret.plain, gate)) for i, c, value in writes]
            try:
                found = place.store._write(
                    lambda tx, packed=packed, secret=secret: pending.put(  # type: ignore[misc]
                        tx,
                        place.thread,
                        place.namespace,
                        checkpoint,
                        task_id,
                        task_path,
                        packed,
                        secret.sealed,
                        secret.no,
                    ),
                    keyed=True,
                )
                break
            except AlreadyExists:
                if attempt == TRIES - 1:
                    raise
            except Erased:
                if attempt == TRIES - 1:
                    raise
                # The first write of a thread that begins anew may overtake its first checkpoint, which takes as long as the
                # disk likes. Only that one is waited for: a write of a run that is dead would wait until the next run ends.
                self._shared.wait_for(place.key(checkpoint), WAIT_SECONDS, or_another=True)
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

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Counts up. The random end keeps the versions of two branches apart."""
        if current is None:
            n = 0
        elif isinstance(current, (int, float)):
            n = int(current)
        else:
            n = int(current.split(".")[0])
        return f"{n + 1:010}.{random.getrandbits(32):08x}"

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
        now = ids.now()
        place = self._place(config)
        self._hear(place)  # here: in its thread, the run is not to be seen
        found = await self._go(partial(self.get_tuple, config))
        if found is None:
            self._missed(place, now)  # once more: that was the context of another thread
        return found

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


def _is_whole_run(d: Draft, previous: Recent | None) -> bool:
    """Whether a checkpoint holds what several steps said, the input among it."""
    if d.source != "loop" or (previous is not None and previous.source == "input"):
        return False
    return previous is None or previous.step is None or (d.step is not None and d.step - previous.step > 1)


def _moment(ts: object) -> int | None:
    """A checkpoint's own time, in milliseconds UTC."""
    try:
        return int(datetime.fromisoformat(str(ts)).timestamp() * 1000)
    except ValueError:
        return None
