"""The log of a conversation: events appended, and read again in the ways that people and programs ask for."""

from __future__ import annotations

from functools import partial

from .. import branches, checks, conversations, events, ids, jobs, log
from ..errors import ConversationDeleted, InvalidInput, NotFound, RecollectError, StoreBusy
from ..model import KINDS, MAIN, Entry, Event
from ..other_names import arguments, says_ours
from .arguments import conversation_id, limit_of, several
from .conversations import ConversationVerbs
from .handle import EMBED_DELAY_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Unpack

    from ..conversations import Found
    from ..db import Tx
    from ..model import Changes, Hit, LedgerEntry
    from .arguments import BranchLike, ConversationLike

CONSOLIDATE_DELAY_MS = 2_000  # turns come in pairs: one job for both
SETTLE_SECONDS = 5.0
SETTLED_SOON_SECONDS = 1.0
LEARNED = frozenset(("message", "artifact", "approval", "tool_result", "ledger", "event", "note"))
"""Kinds of events that memories are looked for in."""
_SWITCHES = {"event": "events", "ledger": "ledger", "reasoning": "reasoning_traces"}


class LogVerbs(ConversationVerbs):
    # -- writing

    @says_ours
    def append(self, conversation: ConversationLike, *, branch: BranchLike = None, **entry: Unpack[Entry]) -> Event:
        """Append one event; durable when this returns.

        `kind` is "message" unless said, and a message needs a `role` ("user", "assistant", "system", "tool"). With a
        `key`, the same key on the same branch returns the first event and appends nothing. `reasoning` writes the
        message and its trace in one transaction. A message with `message` takes the place of that one: `messages`
        shows it there, `read` shows both. `created_at` is for history that is brought in. When the kind is switched off
        in the settings, nothing is written and the returned event's `stored` is false.
        """
        return self.append_many(conversation, [entry], branch=branch)[0]

    @says_ours
    def append_many(
        self, conversation: ConversationLike, entries: Iterable[Entry], *, branch: BranchLike = None
    ) -> list[Event]:
        """Append many events in one transaction: all of them or none. Each entry has the keywords of `append`."""
        name = conversation_id(conversation)
        drafts = events.prepare_all(name, list(entries), self._gate, partial(self._prepare, name))
        wanted = drafts if self._all_on else [d for d in drafts if self._is_on(d[0].kind)]
        if not wanted:
            self.get(name)  # an unknown conversation is an error whatever is switched off
            return [events.unstored(name, MAIN, d[0]) for d in drafts]

        brief = events.is_brief(wanted)
        written, queued = self._write(lambda tx: self._append(tx, name, wanted, branch, strict=True), brief=brief)
        self._appended(queued)
        if len(wanted) == len(drafts):
            return written
        stored, at = iter(written), written[0].branch
        return [next(stored) if self._is_on(d[0].kind) else events.unstored(name, at, d[0]) for d in drafts]

    def _append_each(
        self, requests: Sequence[tuple[str, str | None, str | None, list[Entry], bool]]
    ) -> list[list[Event] | RecollectError]:
        """For a door that records for many at once: (conversation, workspace, branch, entries, again), each of them all or
        nothing, and all written in one transaction. A conversation is created at first sight (with `again`, also one that was
        erased), and stays in its workspace. What is refused is an error in the answer, and leaves the others alone; raised is what would leave an empty conversation
        behind: then nothing of all this is written, and each may be tried by itself."""
        results: dict[int, list[Event] | RecollectError] = {}
        ready: list[tuple[str, int, str | None, str | None, list[events.Draft], list[events.Draft]]] = []
        checked: set[str] = self._shared.setdefault("ids", set())
        homes: dict[str, str] = {}  # whoever creates a conversation says where it belongs
        anew = {request[0] for request in requests if request[4]}
        for i, (name, place, branch, entries, _) in enumerate(requests):
            try:
                if name not in checked:
                    if len(checked) > 10_000:
                        checked.clear()
                    checked.add(self._safe_id(name, "conversation id"))
                place = None if place is None else self._workspace(place)
                home = homes.get(name, place or "")
                drafts = events.prepare_all(name, entries, self._gate, partial(self._prepare, name, of_new=home))
            except RecollectError as e:
                results[i] = e
                continue
            homes[name] = home
            ready.append(
                (name, i, place, branch, drafts, [d for d in drafts if self._all_on or self._is_on(d[0].kind)])
            )
        ready.sort(key=lambda r: r[:2])  # on Postgres, whoever locks several takes them in the same order
        made: set[str] = set()

        def one(
            tx: Tx, name: str, place: str | None, branch: str | None, wanted: list[events.Draft]
        ) -> tuple[list[Event], bool]:
            there = conversations.look(tx, name)
            if there is None:
                if branch is not None:
                    raise NotFound(f"Conversation {name!r} is new: it has no branch {branch!r} yet.")
                conversations.create(
                    tx,
                    name,
                    title=None,
                    workspace=place,
                    workflow_id=None,
                    metadata=None,
                    origin="http",
                    again=name in anew,
                )
                made.add(name)
                jobs.enqueue(tx, "retain", "all", delay_ms=ids.DAY_MS)
            elif place is not None and there[5] != place:
                raise NotFound(f"There is no conversation {name!r} in this workspace.")
            return self._append(tx, name, wanted, branch, strict=True) if wanted else ([], False)

        def write(tx: Tx) -> list[tuple[list[Event], bool] | RecollectError]:
            done: list[tuple[list[Event], bool] | RecollectError] = []
            made.clear()  # it may run more than once
            for name, _, place, branch, _, wanted in ready:
                try:
                    done.append(one(tx, name, place, branch, wanted))
                except (InvalidInput, NotFound) as e:
                    if name in made:
                        raise
                    done.append(e)
            return done

        queued = False
        for (name, i, _, _, drafts, wanted), got in zip(ready, self._write(write) if ready else (), strict=True):
            if isinstance(got, RecollectError):
                results[i] = got
                continue
            written = iter(got[0])
            queued = queued or got[1]
            at = got[0][0].branch if got[0] else MAIN
            stored = len(wanted) == len(drafts)
            results[i] = [
                next(written) if stored or self._is_on(d[0].kind) else events.unstored(name, at, d[0]) for d in drafts
            ]
        self._appended(queued, len(ready))
        return [results[i] for i in range(len(requests))]

    def _append(
        self,
        tx: Tx,
        conversation: str | Found,
        drafts: Sequence[events.Draft],
        branch: BranchLike,
        *,
        strict: bool = False,
    ) -> tuple[list[Event], bool]:
        """Events and the work they cause, in a transaction. Says whether something is to be summarized."""
        outside = self._settings.index_outside_workspace
        found, b, written = log.append(tx, conversation, drafts, branch, outside=outside, strict=strict)
        if self._embeds():
            jobs.enqueue(tx, "embed", "all", delay_ms=EMBED_DELAY_MS)
        if self._settings.memory_extract and any(d[0].kind in LEARNED for d in drafts):
            jobs.enqueue(tx, "consolidate", f"{found.no}:{b}", delay_ms=CONSOLIDATE_DELAY_MS)
        answered = self._settings.summaries and any(d[0].role == "assistant" and d[0].kind == "message" for d in drafts)
        if answered and branches.has_more_than(tx, found.no, b, self._settings.summary_threshold - 1):
            if conversations.is_append_only(tx, found):
                return written, False
            jobs.enqueue(tx, "summarize", f"{found.no}:{b}")
            return written, True
        return written, False

    def _appended(self, queued: bool, calls: int = 1) -> None:
        """After the commit: there is work."""
        embeds = self._embeds()
        if self._settings.background and (queued or embeds or self._settings.memory_extract):
            delay = 0 if queued else EMBED_DELAY_MS if embeds else CONSOLIDATE_DELAY_MS
            self._worker.wake(self._user, delay, calls)

    def _is_on(self, kind: str) -> bool:
        switch = _SWITCHES.get(kind)
        return switch is None or bool(getattr(self._settings, switch))

    def _prepare(self, conversation: str, entry: Entry, *, of_new: str | None = None) -> events.Draft:
        """`of_new`: the workspace of the conversation if it is still to be created, "" for none; None: it must be there."""
        if entry.get("kind") == "summary" and entry.get("message") is not None:
            raise InvalidInput("What a summary covers is said by summarize() alone; leave message= out.")
        if not entry.keys() <= Entry.__annotations__.keys():
            unknown = sorted(entry.keys() - Entry.__annotations__.keys())
            raise InvalidInput(f"append does not know {', '.join(unknown)}. {arguments('append', unknown)}".rstrip())
        gate = self._gate.another()
        if entry.get("kind") == "artifact" and entry.get("path"):
            outside = self._settings.artifacts_outside_workspace
            # Redacted before it is taken apart: `https://bot:pw@host` has one slash less afterwards.
            path = gate.text(checks.text(entry["path"], "path"))
            try:
                home = self.get(conversation).workspace
                if of_new and home != of_new:
                    raise InvalidInput(f"Conversation {conversation!r} is another workspace's.")
            except NotFound as e:
                if of_new is None or isinstance(e, ConversationDeleted):
                    raise
                home = of_new or None
            path = events.relative_path(path, home, outside_is_fine=outside)
            entry = {**entry, "path": path}
        draft = events.prepare(gate=gate, **entry)
        return draft if self._settings.reasoning_traces else (*draft[:4], None)

    def record_workflow_event(
        self, conversation: ConversationLike, event: Mapping[str, Any], *, branch: BranchLike = None
    ) -> Event:
        """Append another system's event under its own `type`. An `orchestrator.message` whose data has
        `kind: task_ledger` becomes a ledger snapshot."""
        from .. import workflow

        return self.append(conversation, branch=branch, **workflow.entry(event))

    def delete_event(self, conversation: ConversationLike, seq: int) -> None:
        """Remove one event for good; a tombstone keeps its number. A message goes in all its versions, whichever of them
        is named, and a summary that covers it is made anew without it. The reasoning of a message stays, and so does what a
        graph's checkpoints hold: those go with `erase(source="CONVERSATION:N")`."""
        from .. import removal

        name, summaries = conversation_id(conversation), self._settings.summaries
        covered = self._write(lambda tx: removal.delete_event(tx, name, seq, summaries=summaries))
        self._db.scrub()
        if covered and summaries:
            self._appended(True)

    def _keyed(self, key: str) -> list[tuple[str, int]]:
        """For a door whose callers give records ids of their own: (conversation, number) of those written with this key."""
        safe = checks.safe_key(ids.check(key, "id"), self._gate.another())
        return self._read(lambda tx: log.keyed(tx, safe))

    def _beginning(self, prefix: str) -> list[str]:
        """For a door that makes several conversations of one session: the ids that begin like this."""
        return self._read(lambda tx: conversations.beginning(tx, prefix))

    def _payloads(self, hits: Sequence[Hit]) -> Mapping[str, Mapping[str, Any]]:
        """The payloads of events that a search found, by their ids."""
        return self._read(lambda tx: log.payloads(tx, hits))

    # -- reading

    @says_ours
    def read(
        self,
        conversation: ConversationLike,
        *,
        after: int = 0,
        kinds: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        branch: BranchLike = None,
        limit: int | None = None,
    ) -> list[Event]:
        """Replay events, oldest first, from behind the number `after`. The active branch unless said; `branch="*"`
        reads every branch in the order in which things happened."""
        name, limit, after = conversation_id(conversation), limit_of(limit), checks.count(after, "after")
        only, named = several(kinds, "kinds"), several(names, "names")
        for kind in only or ():
            if kind not in KINDS:
                raise InvalidInput(f"There is no kind {kind!r}. The kinds are: {', '.join(KINDS)}.")
        return self._read(
            lambda tx: log.read(tx, name, after=after, kinds=only, names=named, branch=branch, limit=limit)
        )

    def get_event(self, conversation: ConversationLike, *, key: str, branch: BranchLike = None) -> Event:
        """The event that was appended with this `key`: your own message id, for example. NotFound if there is none on the
        branch (the active one by default)."""
        name = conversation_id(conversation)
        wanted = checks.safe_key(ids.check(key, "key"), self._gate.another())
        return self._read(lambda tx: log.by_key(tx, name, wanted, branch))

    @says_ours
    def messages(
        self,
        conversation: ConversationLike,
        *,
        limit: int | None = 10,
        include_reasoning: bool = False,
        branch: BranchLike = None,
    ) -> list[Event]:
        """The newest messages, oldest first: 10 unless said, none for 0, all for None. A summary stands in the place
        of the messages it covers."""
        name, limit = conversation_id(conversation), limit_of(limit)
        return self._read(
            lambda tx: log.messages(tx, name, limit=limit, include_reasoning=include_reasoning, branch=branch)
        )

    @says_ours
    def formatted_history(
        self, conversation: ConversationLike, max_messages: int = 10, *, branch: BranchLike = None
    ) -> str:
        """The newest messages as text: `ROLE: content`, joined by blank lines; "" when there are none. A summary comes
        first, whatever the number of messages after it."""
        return _formatted(self._history(conversation, max_messages, branch))

    @says_ours
    def with_history(
        self, conversation: ConversationLike, message: str, max_messages: int = 10, *, branch: BranchLike = None
    ) -> str:
        """A prompt: what was said before, then the current message; the bare message when there is nothing before it.
        If the message was appended already, it is not repeated."""
        checks.text(message, "message")
        said = self._history(conversation, checks.count(max_messages, "max_messages") + 1, branch)
        summary = said[:1] if said and said[0].kind == "summary" else []
        said = said[len(summary) :]
        if said and said[-1].role == "user" and said[-1].text in (message, self._gate.another().text(message)):
            said.pop()
        said = summary + said[-max_messages:] if max_messages else []
        history = _formatted(said)
        return f"Previous conversation:\n{history}\n\nUser's current message: {message}" if history else message

    def _history(self, conversation: ConversationLike, limit: int, branch: BranchLike) -> list[Event]:
        name, most = conversation_id(conversation), limit_of(limit, "max_messages")
        return self._read(
            lambda tx: log.messages(tx, name, limit=most, include_reasoning=False, branch=branch, always_summary=True)
        )

    @says_ours
    def ledger(
        self, conversation: ConversationLike, *, at: int | None = None, branch: BranchLike = None
    ) -> list[LedgerEntry]:
        """The newest snapshot of each task; with `at`, as it stood at that event number."""
        name = conversation_id(conversation)
        at = None if at is None else checks.count(at, "at")
        return self._read(lambda tx: log.ledger(tx, name, at=at, branch=branch))

    @says_ours
    def reasoning(
        self, conversation: ConversationLike, *, message: int | None = None, branch: BranchLike = None
    ) -> list[Event]:
        """Reasoning traces of a conversation, or of one message."""
        name = conversation_id(conversation)
        message = None if message is None else checks.count(message, "message")
        return self._read(lambda tx: log.reasoning(tx, name, message=message, branch=branch))

    def changes(
        self,
        *,
        after: int | None = None,
        conversation: ConversationLike | None = None,
        workspace: str | None = None,
        limit: int = 100,
    ) -> Changes:
        """What happened in this store since a position: events and changes of memories, in one order, committed, whichever
        process wrote them. Pass the `cursor` of the answer, or the id of a change, as `after`, and nothing is missed and
        nothing comes twice. Without `after` there are no items: the cursor says where "now" is. What was undone or erased is
        not told, nor what is in a conversation that is in the bin at that moment: when it is restored, nothing is told again,
        and what was written shortly before it was deleted may have been told to nobody. Read it anew."""
        name = None if conversation is None else conversation_id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        after = None if after is None else checks.count(after, "after")
        limit = checks.count(limit, "limit")
        from .. import feed

        upto = self._settled(must_know=after is None)
        return self._read(lambda tx: feed.changes(tx, after, upto, conversation=name, workspace=workspace, limit=limit))

    def _settled(self, must_know: bool) -> int:
        """Up to where nothing is on its way any more. On Postgres others may just be writing: what was written before this
        call is told once they have ended, and a transaction that lasts is not waited for, unless this is the first look and
        it is not known at all where "now" is."""
        upto = self._db.settled(SETTLED_SOON_SECONDS)
        if must_know and not upto:
            upto = self._db.settled(SETTLE_SECONDS)
            if not upto:
                raise StoreBusy(
                    f"{self._db.location}: a transaction has been open for {SETTLE_SECONDS:g} s, so it is not known what is "
                    "still on its way. Nothing was read; try again."
                )
        return upto


def _formatted(said: list[Event]) -> str:
    return "\n\n".join(f"{(e.role or e.kind).upper()}: {e.text}" for e in said)
