"""Checkpoints of a thread as LangGraph reads them: the newest, one that is named, a list, the history of a channel."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
)

from .. import checks, ids
from ..checkpoints import lineage, pieces, stored
from ..checkpoints.stored import Loaded
from ..errors import Damaged, InvalidInput
from ..filters import Judge
from ..store import Store
from . import handoffs, messages, running, whose
from .messages import START
from .remembered import Place, Recent, Secret, Stored
from .values import Values, decoded

if TYPE_CHECKING:
    from ..db import Tx

DURABILITY, RUN = "__pregel_durability", "__pregel_runtime"
"""Where LangGraph says when checkpoints are put, and in which run: not public names. Without them, the words in a checkpoint
that was not made right after the input are nobody's."""
Page = tuple[Sequence[Loaded], Mapping[int, Stored | None]]
"""Checkpoints, and the secrets of their conversations."""


class Reader(Values):
    """The part of a checkpointer that finds threads, and reads them."""

    _is_handed_over = False
    """Whether `for_user` made it: then its user is who was named there, whoever is signed in to a server."""

    # -- where

    def _place(self, config: RunnableConfig) -> Place:
        given = self._told(config)
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

    def _told(self, config: RunnableConfig | None) -> Mapping[str, Any]:
        """A config's `configurable`, with the user that is meant in `user_id`."""
        given: Mapping[str, Any] = (config or {}).get("configurable") or {}
        user = whose.given_user(given) if self._is_handed_over else whose.user_of(given)
        if user is given.get("user_id"):
            return given
        rest = {name: value for name, value in given.items() if name != "user_id"}
        return rest if user is None else {**rest, "user_id": user}

    def _mine(self) -> Store:
        """The store of whom a verb acts for that carries no config."""
        return self._handle(self._told(None).get("user_id"))

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

    # -- the secret that a conversation's pieces are hashed with

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
        type, plain = self._opened(sealed)
        if type != "bytes" or len(plain) != 32:
            raise Damaged(f"The state of conversation {place.thread!r} cannot be read with this serializer.")
        found = Secret(no, plain, sealed)
        self._shared.keep(self._shared.secrets, (place.store.user, place.thread), found)
        return found

    # -- reading

    def _read(self, place: Place, checkpoint: str | None) -> tuple[Loaded | None, bytes]:
        known = self._shared.secrets.get((place.store.user, place.thread))
        have = self._shared.have(place.store.user, known.no) if known is not None else {}
        newest = checkpoint or self._shared.newest.get(place.key(None))
        likely = None if known is None or not known.no or newest is None else (known.no, newest)

        def read(tx: Tx) -> tuple[Loaded | None, Stored | None]:
            loaded = stored.get(tx, place.thread, place.namespace, checkpoint, place.branch, have, likely)
            if loaded is None or (known is not None and known.no == loaded.no):
                return loaded, None
            return loaded, pieces.secret(tx, loaded.no)

        loaded, sealed = place.store._read(read, brief=likely is not None, keyed=True)
        if loaded is None:
            return None, b""
        if known is not None and known.no == loaded.no:
            return loaded, known.plain
        if sealed is None:
            raise Damaged(f"The state of conversation {place.thread!r} has lost its key. Run `recollect doctor`.")
        return loaded, self._learn(place, loaded.no, sealed).plain

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
        tops, lists = {}, {}
        for channel, value in loaded.values.items():
            if isinstance(value, bytes) and loaded.have[value][0] == pieces.LIST:
                tops[channel] = frozenset(pieces.keys_in(loaded.have[value][1]))
                lists[channel] = value.hex()
        versions = {c: v for c, v in loaded.head.get("channel_versions", {}).items() if c in loaded.values}
        own: Mapping[str, messages.Own] = {}
        if loaded.source == "input" and START in loaded.values:
            start = self._value(loaded.values[START], loaded.have, secret)
            own = messages.own_words(start, self._channels)
        recent = Recent(versions, tops, lists, loaded.source, loaded.step, own)
        self._shared.keep(self._shared.recent, place.key(loaded.id), recent)
        return recent

    def _tuple(
        self, place: Place, loaded: Loaded, secret: bytes, config: RunnableConfig | None = None
    ) -> CheckpointTuple:
        head = dict(loaded.head)
        rest = head.pop("rest", None)
        found: dict[str, Any] = {**head, "id": loaded.id}
        if rest is not None:
            found |= self._load(decoded(rest), secret)
        found["channel_values"] = {
            channel: self._value(value, loaded.have, secret) for channel, value in loaded.values.items()
        }
        return CheckpointTuple(
            config or place.config(loaded.id),
            cast(Checkpoint, found),
            self._metadata_of(loaded, secret),
            place.config(loaded.parent) if loaded.parent is not None else None,
            [
                (task, channel, self._assemble((type, data), loaded.have, secret))
                for task, channel, type, data in loaded.writes
            ],
        )

    def _metadata_of(self, loaded: Loaded, secret: bytes) -> CheckpointMetadata:
        if isinstance(loaded.metadata, dict) and loaded.metadata.keys() == {"="}:
            return cast(CheckpointMetadata, self._load(decoded(loaded.metadata["="]), secret))
        return cast(CheckpointMetadata, loaded.metadata)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint: the one named, or the newest of the conversation's active branch (or of `configurable.branch`)."""
        place = self._place(config)
        self._hear(place)
        now = ids.now()
        loaded, secret = self._read(place, place.checkpoint)
        if loaded is None:
            self._missed(place, now)
            return None
        self._remember(place, loaded, secret)
        if place.checkpoint is None and place.branch is None:
            self._shared.keep(self._shared.newest, place.key(None), loaded.id)
        return self._tuple(place, loaded, secret, config if place.checkpoint is not None else None)

    def _hear(self, place: Place) -> None:
        """A run looks for its thread before any node of it runs. Its input is kept from here on: what stores its end only never
        hands it over, and what stores it in the background may do so when a node has changed it."""
        run = place.given.get(RUN)
        loop = running.loop() if run is not None else None
        if loop is not None:
            if found := handoffs.tools_of(loop):
                known = self._shared.handoffs.get((place.store.user, place.thread), {})
                self._shared.keep(self._shared.handoffs, (place.store.user, place.thread), {**known, **found})
            if not place.namespace:
                own = messages.own_words(loop.input, self._channels, copied=True)
                self._shared.keep(self._shared.inputs, id(run), (run, own))

    def _heard(self, place: Place) -> Mapping[str, messages.Own]:
        """What the person put into the run that is going on."""
        run = place.given.get(RUN)
        known, own = self._shared.inputs.get(id(run), (None, {}))
        return own if run is not None and known is run else {}

    def _missed(self, place: Place, at: int) -> None:
        """A run looks before it does anything else. Where it stores its end only, this is all that tells when it began."""
        if place.checkpoint is None and not place.namespace:
            self._shared.missed(place.store.user, place.thread, at)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first. A filter is compared with the metadata here, never written into a statement: a field, by full
        stops a field of a field, with a value, a part of an object, or an operator such as `$gt`."""
        if limit is not None and limit <= 0:
            return
        given = self._told(config)
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
        have: dict[int, pieces.Have] = {}
        judge = Judge(wanted, any_key=True)

        def first(tx: Tx) -> tuple[Sequence[tuple[int, str, str]], Page]:
            places = stored.find(
                tx, thread, None if namespace is None else str(namespace), None if not checkpoint else str(checkpoint),
                None if not last else str(last), only_source, only_step, None if wanted else limit,
            )  # fmt: skip
            return places, stored.load(tx, places[: stored.PAGE], have)

        places, page = store._read(first)
        for start in range(0, len(places), stored.PAGE):
            if start:
                some = places[start : start + stored.PAGE]
                page = store._read(lambda tx, some=some: stored.load(tx, some, have))  # type: ignore[misc]
            for tuple_ in self._on_page(store, given, page, judge):
                yield tuple_
                if limit is not None:
                    limit -= 1
                    if not limit:
                        return

    def _on_page(
        self, store: Store, given: Mapping[str, Any], page: Page, judge: Judge
    ) -> Iterator[CheckpointTuple]:  # fmt: skip
        loaded, sealed = page
        secrets = {no: self._opened(s)[1] for no, s in sealed.items() if s is not None}
        for one in loaded:
            if one.no not in secrets:
                raise Damaged(
                    f"The state of conversation {one.conversation!r} has lost its key. Run `recollect doctor`."
                )
            metadata = self._metadata_of(one, secrets[one.no])
            if judge.passes(cast(dict[str, Any], metadata)):
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
            chain = stored.ancestors(tx, place.thread, place.namespace, place.checkpoint, list(channels), place.branch)
            return chain, pieces.secret(tx, chain[0].no) if chain else None

        chain, sealed = place.store._read(read)
        secret = self._opened(sealed)[1] if sealed is not None else b""
        written: dict[str, builtins.list[PendingWrite]] = {channel: [] for channel in channels}
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

    def starting(self, config: RunnableConfig) -> RunnableConfig:
        """The same config; of a branch that was forked in the log, and on which nothing has run yet, with the checkpoint it
        starts from. LangGraph then runs on from there without touching what the other branch wrote."""
        place = self._place(config)
        if place.checkpoint is not None or place.namespace:
            return config
        found = place.store._read(lambda tx: lineage.start(tx, place.thread, place.branch))
        if found is None:
            return config
        return {**config, "configurable": {**place.given, "checkpoint_ns": "", "checkpoint_id": found}}
