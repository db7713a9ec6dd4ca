"""Memories: remembered by hand or learned from what was said, listed, corrected, pinned, forgotten, let go of."""

from __future__ import annotations

import threading
import time

from .. import checks, conversations, ids, jobs
from ..errors import InvalidInput, NotFound, RecollectError
from ..model import MEMORY_STATES, ROLES, Event
from .arguments import conversation_id, memory_id, several
from .conversations import ConversationVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..db import Tx
    from ..edits import Limits
    from ..model import Consolidation, Memory, MemoryChange, Model, Retention
    from .arguments import BranchLike, ConversationLike

CATCH_UP_SECONDS = 1.0  # what an answer waits for at most, so that it knows what was said a moment ago
_LEARNING = threading.Lock()


class MemoryVerbs(ConversationVerbs):
    # -- memories and search

    def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        importance: float = 0.5,
        tags: Sequence[str] | None = (),
        conversation: ConversationLike | None = None,
        workspace: str | None = None,
        source: str | None = None,
        role: str = "user",
        pinned: bool = False,
        valid_from: int | None = None,
        valid_to: int | None = None,
        derived_from: Sequence[str] = (),
    ) -> Memory:
        """Keep a statement beyond its conversation, by hand: no extraction will change it. The same statement in the same
        scope is one memory, however often it is said. `conversation` or `workspace` limit it; `source` is the id of the
        event it came from; `derived_from` names memories it rests on, so that it is flagged when one of them changes. In
        another `role` than the user's it waits in quarantine, unless `memory_promote` says otherwise; then the least important
        one goes where a scope is full (`made_room` says which). What the user remembers always fits."""
        name = None if conversation is None else conversation_id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        if role not in ROLES:
            raise InvalidInput(f"There is no role {role!r}. The roles are: {', '.join(ROLES)}.")
        from .. import edits

        draft = edits.Draft(
            self._gate.another(), content, kind, importance, tags, workspace, source, role=role, valid_from=valid_from,
            valid_to=valid_to, roots=() if isinstance(derived_from, str) else tuple(derived_from),
        )  # fmt: skip
        if isinstance(derived_from, str):
            raise InvalidInput("derived_from must be a list of memory ids, not one text.")
        limits = self._limits()
        made = self._remembering(lambda tx: edits.remember(tx, draft, name, limits, pinned=bool(pinned)))
        self._tell("chat.memory_saved", thread_id=name, count=1)
        return made

    def _why_not(self, content: str) -> str | None:
        """Why a model may not have this remembered; None if it may. Redaction lets an ordinary word be, and takes a key out of what
        says nothing without it; either way every later model would be given the memory."""
        from ..extract import secrets

        if secrets.tells(content) or secrets.tells(self._gate.another().text(content)):
            return "Not kept: it says what a secret is. Where a secret is kept may be remembered."
        return None

    def _limits(self) -> Limits:
        from ..edits import Limits

        s = self._settings
        return Limits(
            s.memory_max_items_per_namespace, s.memory_low_importance_threshold, s.memory_low_importance_ttl_days,
            s.memory_promote,
        )  # fmt: skip

    def memories(
        self,
        *,
        conversation: ConversationLike | None = None,
        branch: BranchLike = None,
        workspace: str | None = None,
        scope: str | None = None,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        state: str | None = "active",
        as_of: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> list[Memory]:
        """Memories, the newest first; for the next page pass the id of the last one as `cursor`. From a `conversation`, on
        the active branch or on `branch`, its own and the user's are seen; without, all of them, each conversation's as its
        active branch has it. `scope` is "user", "conversation" or "workspace"; `state` "all" (or None) lists every state. `as_of`
        gives them as they stood: at an event, when a `conversation` is named and has that number, else at a time."""
        from .. import memories

        if scope not in (None, "user", "conversation", "workspace"):
            raise InvalidInput(f"scope={scope!r}: choose user, conversation or workspace, or leave it out for all.")
        state = None if state == "all" else state
        if state is not None and state not in MEMORY_STATES:
            raise InvalidInput(f"state={state!r}: choose one of {', '.join(MEMORY_STATES)}, or all.")
        only, tagged = several(kinds, "kinds"), several(tags, "tags")
        for kind in only or ():
            memories.kind_of(kind)
        tagged = None if tagged is None else tuple(map(self._gate.text, tagged))
        name = None if conversation is None else conversation_id(conversation)
        if branch is not None and name is None:
            raise InvalidInput("branch= needs conversation=: branches are a conversation's own.")
        workspace = None if workspace is None else self._workspace(workspace)
        as_of = None if as_of is None else checks.count(as_of, "as_of")
        limit = checks.count(limit, "limit")
        now = ids.now() if as_of is None else as_of

        def read(tx: Tx) -> list[Memory]:
            view, found = memories.view(tx, name, branch, as_of)
            at = ids.now() if found is not None and as_of is not None and as_of <= found.last_seq else now
            return memories.listing(
                tx, view, near=name, scope=scope, workspace=workspace, kinds=only, tags=tagged, wanted=state, limit=limit,
                cursor=None if cursor is None else ids.check(cursor, "cursor"), now=at,
            )  # fmt: skip

        return self._read(read)

    def revise(
        self,
        memory: str | Memory,
        *,
        content: str | None = None,
        kind: str | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        promote: bool = False,
        scope: str | None = None,
        workspace: str | None = None,
    ) -> Memory:
        """Correct a memory by hand. Another `content` is another memory, which takes the place of the old one. With
        `promote` a person has accepted it: it is out of quarantine, and seen from every conversation and branch; what is
        a workspace's stays there. `scope` moves it: "user" makes it seen from everywhere, "workspace" only from `workspace`, or
        from that of the conversation it came from. Returns the memory that stands now."""
        from .. import edits, memories

        id = memory_id(memory)
        gate = self._gate.another()
        changes: dict[str, Any] = {}
        if kind is not None:
            changes["kind"] = memories.kind_of(kind)
        if importance is not None:
            changes["importance"] = edits.importance_of(importance)
        draft = None
        if content is not None:
            draft = edits.Draft(gate, content, tags=tags or ())
        if tags is not None:
            changes["tags"] = edits.tags_of(tags, gate)
        if scope not in (None, "user", "workspace"):
            raise InvalidInput(f"scope={scope!r}: choose user or workspace.")
        if workspace is not None:
            if scope == "user":
                raise InvalidInput(
                    "What is the user's is in no workspace: leave out workspace=, or say scope='workspace'."
                )
            scope, workspace = "workspace", self._workspace(workspace)
        if not changes and draft is None and not promote and scope is None:
            raise InvalidInput("There is nothing to revise: say content, kind, importance, tags, scope or promote.")
        limits = self._limits()
        made = self._remembering(
            lambda tx: edits.revise(
                tx, id, draft, changes, limits, promote=bool(promote), scope=scope, workspace=workspace
            )
        )
        self._tell("chat.memory_revised", count=1)
        return made

    def pin(self, memory: str | Memory | Event) -> Memory | None:
        """Keep a memory, or an event (by its id, `<conversation>:<number>`), whatever retention, caps and extraction say.
        Returns the memory; None for an event."""
        return self._pin(memory, True)

    def unpin(self, memory: str | Memory | Event) -> Memory | None:
        """Take a pin off again."""
        return self._pin(memory, False)

    def pins(self, conversation: ConversationLike) -> list[int]:
        """The numbers of a conversation's events that are pinned, in order."""
        from .. import retention

        name = conversation_id(conversation)
        return self._read(lambda tx: retention.pins(tx, name))

    def _pin(self, memory: str | Memory | Event, pinned: bool) -> Memory | None:
        from .. import edits, retention

        if isinstance(memory, Event) or (isinstance(memory, str) and ":" in memory):
            event = memory.id if isinstance(memory, Event) else memory
            ids.check(
                event.rpartition(":")[0] or event, "event id"
            )  # the longest conversation id has a number behind it too
            self._write(lambda tx: retention.pin(tx, event, pinned))
            return None
        id = memory_id(memory)
        return self._write(lambda tx: edits.pin(tx, id, pinned))

    def undo(self, memory: str | Memory) -> Memory:
        """Take back the newest change of a memory, and whatever was changed together with it: a replaced statement stands
        again, its replacement does not. Once more goes one change further back. Returns the memory as it stands now."""
        from .. import edits

        id = memory_id(memory)
        return self._remembering(lambda tx: edits.undo(tx, id))

    def memory_history(self, memory: str | Memory) -> list[MemoryChange]:
        """Everything that happened to a memory, oldest first: who, why, before and after, on every branch."""
        from .. import memories

        id = memory_id(memory)
        return self._read(lambda tx: memories.history(tx, id))

    def forget(
        self,
        memory: str | Memory | None = None,
        *,
        source: ConversationLike | Event | None = None,
        erase: bool = False,
        role: str = "user",
    ) -> int:
        """Forget a memory: it is not found any more, and `undo` brings it back. With `source`, an event or a conversation,
        everything that came from there, also what an agent saved there. With `erase` nothing is left of it, nor of what was derived from it alone. In another
        `role` than the user's only what was extracted can be forgotten, one at a time, and never for good. Returns how many
        were forgotten."""
        from .. import edits, sources

        if role not in ROLES:
            raise InvalidInput(f"There is no role {role!r}. The roles are: {', '.join(ROLES)}.")
        if role != "user" and (source is not None or erase):
            raise InvalidInput("source= and erase= are the user's alone: leave role= out.")

        if (memory is None) == (source is None):
            raise InvalidInput("Say which memory to forget, or source= for everything that came from there.")
        if memory is not None:
            id = memory_id(memory)
            if erase:
                return self.erase(memory=id).counts["memories"]
            self._write(lambda tx: edits.forget(tx, id, role=role))
            gone = 1
        else:
            name = source if isinstance(source, str) else getattr(source, "id", "")
            name = ids.check(name, "source")
            if erase:
                self._forget_elsewhere(name)
            gone = len(self._write(lambda tx: sources.forget_source(tx, name, erase=bool(erase))))
        self._db.scrub()
        self._tell("chat.memory_forgotten", count=gone)
        return gone

    def _forget_elsewhere(self, conversation: str) -> None:
        """Items that runs of a conversation put where a backend keeps those of all its users."""
        from .. import learned

        try:
            no = self._read(lambda tx: conversations.find(tx, conversation, deleted=True)).no
        except NotFound:
            return
        wanted = {"kind": "conversation", "conversations": [no], "event": None, "memories": [], "items": []}
        learned.elsewhere(self._db, self._user, wanted, apply=True)

    def consolidate(self, conversation: ConversationLike, *, branch: BranchLike = None) -> Consolidation:
        """Turn what was said since the last time into memories, now: extract, compare with what is held, apply. Happens by
        itself in the background after turns, when `memory_extract` is on."""
        return self._consolidate(conversation_id(conversation), branch)[0]

    def _consolidate(
        self, conversation: str, branch: BranchLike | int, seconds: float | None = None
    ) -> tuple[Consolidation, bool]:
        from .. import consolidate

        run = consolidate.Run(self._db, self._user, self._settings, self._reader(), self._gate, self._semantic)
        done = run.all(conversation, branch, self._limits(), seconds=seconds, between=self._worker.give_way)
        self._note_model()
        if done.added + done.updated:
            self._tell("chat.memory_saved", thread_id=conversation, count=done.added + done.updated)
            self._remembering(self._retain_later)
        return done, run.is_done

    def _reader(self) -> Model | None:
        """The model that looks for memories beside the rules: the store's own, or what a door made ready for when it is first
        needed. One that cannot be had leaves the rules."""
        make = self._shared.get("make reader")
        if self._model is not None or make is None:
            return self._model
        if "reader" not in self._shared:
            from ..asked import adapt

            try:
                self._shared["reader"] = adapt(make(), self._settings)
            except Exception as e:  # each provider has errors of its own
                import logging

                logging.getLogger("recollect.model").warning("Memories are looked for by rules alone: %s", e)
                self._shared["reader"] = None
        reader: Model | None = self._shared["reader"]
        return reader

    def _retain_later(self, tx: Tx) -> None:
        from .. import retention

        if retention.has_any(tx):
            jobs.enqueue(tx, "retain", "all", delay_ms=ids.DAY_MS)

    def _catch_up(self, seconds: float | None = None) -> None:
        """Learn now from what was said and not considered yet, in whatever conversation, so that an agent which is about to
        answer knows it. Rules take 5 ms a turn; a model is given `seconds`, and goes on behind the answer's back."""
        seconds = CATCH_UP_SECONDS if seconds is None else seconds

        def learn(key: str, left: float) -> None:
            conversation_no, branch = (int(n) for n in key.split(":"))
            try:
                name = self._read(lambda tx: conversations.by_number(tx, conversation_no))
                self._consolidate(name, branch, left)
            except NotFound:
                pass  # deleted or erased meanwhile

        def work() -> None:
            until = time.monotonic() + seconds
            for key in self._read(lambda tx: jobs.waiting(tx, "consolidate")):
                left = until - time.monotonic()
                if left <= 0:
                    return  # it stays queued
                learn(key, left)

        def quietly() -> None:
            try:
                work()
            except RecollectError:
                return  # a full disk or a busy file must not keep anyone from answering: the job is still there

        if self._reader() is None:
            quietly()
        else:
            name = f"learning {self._user}"
            with _LEARNING:  # one at a time: two would ask the model the same
                thread: threading.Thread | None = self._shared.get(name)
                if thread is None or not thread.is_alive():
                    thread = self._shared[name] = threading.Thread(target=quietly, name="recollect-learn", daemon=True)
                    thread.start()
            thread.join(seconds)

    def retain(self, *, dry_run: bool = False) -> Retention:
        """Let go of what has had its time: events of hooks and HTTP (`retention_days`, each by its own age), memories that were not
        important enough, or are no longer true. Never what was pinned. With `dry_run`, says what would go. Happens by
        itself once a day where there is anything to expire."""
        from .. import retention

        plan = retention.retain(self._db, self._user, self._settings, apply=not dry_run)
        if plan.expiries and not dry_run:
            self._db.scrub()
            gone = [e.id for e in plan.expiries if e.type == "conversation"]
            self._telemetry.erase(self._user, gone)
            memories = sum(e.type == "memory" for e in plan.expiries)
            self._tell("chat.retained", conversations=len(gone), memories=memories)
        return plan
