"""Whole threads: erased, copied, pruned and looked through, for the handle's user."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import jobs
from ..checkpoints import stored, upkeep
from ..checkpoints.pending import Write
from ..errors import InvalidInput, NotFound
from ..model import SecretPlace
from ..redact import Gate, patterns_of
from . import messages
from .reader import Reader

if TYPE_CHECKING:
    from ..checkpoints.pieces import Value
    from ..checkpoints.stored import Loaded
    from ..db import Tx

OWN = frozenset({"source", "step", "parents", "run_id", "counters_since_delta_snapshot"})
"""What LangGraph itself says of a checkpoint."""


class Threads(Reader):
    """The part of a checkpointer that takes a thread as a whole."""

    def delete_thread(self, thread_id: str) -> None:
        """Erase a conversation: its log, its state, everything."""
        thread = self._thread(thread_id)
        store = self._mine()
        self._shared.forget(store.user, thread)
        try:
            store._erase({"conversation": thread}, "langgraph", False)
        except NotFound:
            pass
        self._shared.forget_messages()

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that these runs made. The log stays: it is what happened."""
        runs = [str(run) for run in run_ids]
        self._mine()._write(lambda tx: upkeep.drop_runs(tx, runs))
        self._shared.forget_messages()
        self._swept()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """A conversation once more under another id: log, branches, checkpoints."""
        store = self._mine()
        source, target = self._thread(source_thread_id), self._thread(target_thread_id)

        def write(tx: Tx) -> None:
            upkeep.copy(tx, source, target)
            if store._embeds():
                jobs.enqueue(tx, "embed", "all")

        store._write(write)
        store._appended(False)

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
        store = self._mine()
        for thread_id in thread_ids:
            thread = self._thread(thread_id)
            store._write(
                lambda tx, thread=thread: upkeep.prune(  # type: ignore[misc]
                    tx,
                    thread,
                    keep=0 if strategy == "delete" else keep,
                    before=None if strategy == "delete" else before,
                )
            )
            self._shared.forget(store.user, thread)
        self._shared.forget_messages()
        self._swept()

    def scan(self, *, fix: bool = False) -> builtins.list[SecretPlace]:
        """Look for secrets in the state that is stored already, as far as `redact_state` says; `store.scan` does the rest.
        With `fix` they are replaced, in every checkpoint, and nothing of them stays. An encrypted state is read with `serde`."""
        store, mode = self._mine(), self._store.settings.redact_state
        places = store._read(lambda tx: stored.find(tx, None, None, None, None, None, None, None))
        found: dict[tuple[str, int], dict[str, None]] = {}
        for place in places if mode != "none" else ():
            loaded, secrets = store._read(lambda tx, place=place: stored.load(tx, [place], {}))  # type: ignore[misc]
            sealed = secrets[place[0]]
            if not loaded or sealed is None:
                continue
            one, secret = loaded[0], self._opened(sealed)[1]
            gate = Gate(True, store.settings.redact_off, store.settings.redact_allow, patterns_of(store.settings))
            values, writes = self._cleaned(one, secret, gate, mode)
            metadata = one.metadata
            foreign = (
                {k: v for k, v in metadata.items() if k not in OWN and k != "="} if isinstance(metadata, dict) else {}
            )
            if foreign:
                metadata = {**{k: v for k, v in metadata.items() if k not in foreign}, **gate.value(foreign)}
            if gate.families:
                found.setdefault((one.conversation, one.seq), {}).update(dict.fromkeys(gate.families))
                if fix:
                    store._write(
                        lambda tx, one=one, v=values, m=metadata, w=writes: upkeep.rewrite(tx, one, v, m, w)  # type: ignore[misc]
                    )
                    self._shared.forget_all()
        if fix and found:
            store.settle()
            store._db.scrub()
        return [SecretPlace(name, seq, tuple(families)) for (name, seq), families in sorted(found.items())]

    def _cleaned(
        self, one: Loaded, secret: bytes, gate: Gate, mode: str
    ) -> tuple[dict[str, Value], dict[int, Write]]:  # fmt: skip
        values, writes = {}, {}
        for channel, kept in one.values.items():
            value = self._value(kept, one.have, secret)
            safe = messages.clean(value, gate, mode, channel, self._channels)
            if safe is not value:
                values[channel] = self._pack(safe, channel, secret, None)
        for i, (_, channel, type, data) in enumerate(one.writes):
            value = self._assemble((type, data), one.have, secret)
            safe = messages.clean(value, gate, mode, channel, self._channels)
            if safe is not value:
                writes[i] = Write(0, channel, self._pack(safe, channel, secret, None))
        return values, writes

    def _swept(self) -> None:
        if self._store.settings.background:
            self._store._worker.wake(self._mine().user, upkeep.SWEEP_DELAY_MS)
