"""The store: one handle, one user, every verb.

Each verb checks what it was given in the caller's thread, then runs one function of `log`, `branches`,
`conversations`, ... in one transaction. There is nothing else in here: to change what a verb does, go to the module
named after its noun.
"""

from __future__ import annotations

import os
import threading
import time

from . import branches, checks, config, conversations, ids, jobs, log, telemetry
from .config import Settings
from .db import connect
from .db.points import reach
from .errors import InvalidInput, MissingKey, NotFound, RecollectError, StorageError, StoreBusy
from .model import KINDS, MAIN, MEMORY_KINDS, MEMORY_STATES, ORIGINS, ROLES, Conversation, Entry, Event
from .redact import Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import IO, Any, TypeVar, Unpack

    from .conversations import Found
    from .db import Database, Tx
    from .db.cipher import Key
    from .memories import Limits
    from .model import (
        Backup,
        Branch,
        Changes,
        Checkpoint,
        Consolidation,
        Context,
        Hit,
        Imported,
        LedgerEntry,
        Memory,
        MemoryChange,
        Model,
        Progress,
        Receipt,
        Retention,
        Scan,
        Stats,
        Verification,
    )
    from .search.embed import Embedder
    from .search.vectors import Semantic

    T = TypeVar("T")
    ConversationLike = str | Conversation
    BranchLike = str | Branch | None
    PathLike = str | os.PathLike[str]

EMBED_DELAY_MS = 300
CONSOLIDATE_DELAY_MS = 2_000  # turns come in pairs: one job for both
SETTLE_SECONDS = 5.0
CONSOLIDATE_SECONDS = 30.0  # then other work has its turn: a lease is two minutes
CATCH_UP_SECONDS = 1.0  # what an answer waits for at most, so that it knows what was said a moment ago
DAY_MS = 86_400_000
LEARNED = frozenset(("message", "artifact", "approval", "tool_result", "ledger", "event", "note"))
"""Kinds of events that memories are looked for in."""
USES_MOST = 50
_USES = threading.Lock()
_GEN_AI = {"remember": "create_memory", "revise": "update_memory", "forget": "delete_memory"}
"""What OpenTelemetry's conventions call these verbs."""
_SWITCHES = {"event": "events", "ledger": "ledger", "reasoning": "reasoning_traces"}


class Store:
    """Everything one user has said and done. Made by `recollect.open()`; safe to share between threads."""

    def __init__(
        self, db: Database, user: str, settings: Settings, model: Model | None, worker: jobs.Worker | None
    ) -> None:
        self._db = db
        self._settings = settings
        self._gate = _gate(settings)
        self._user = self._safe_id(user, "user")
        self._model = model
        self._all_on = settings.events and settings.ledger and settings.reasoning_traces
        self._embedder: Embedder | None = None
        self._telemetry = telemetry.OFF
        self._shared: dict[str, Any] = {}
        """What all handles of this store share: the semantic search, loaded when it is first needed."""
        self._handlers: dict[str, jobs.Handler] = {
            "summarize": self._summarize_job,
            "backup": self._backup_job,
            "embed": self._embed_job,
            "index": self._index_job,
            "consolidate": self._consolidate_job,
            "retain": self._retain_job,
            "mirror": self._mirror_job,
            "expire": self._expire_job,
            "sweep": self._sweep_job,
            "prune": self._prune_job,
        }
        self._handlers = {kind: self._watched(kind, handler) for kind, handler in self._handlers.items()}
        self._worker = worker or jobs.Worker(db, self._handlers, self._gate, self._note_uses)
        if worker is None and settings.backup_every and db.dialect == "sqlite":
            self._schedule_backup()

    @classmethod
    def open(
        cls,
        url: PathLike | None = None,
        *,
        user: str | None = None,
        model: Model | None = None,
        embedder: Embedder | Any = None,
        key: str | bytes | Key | None = None,
        settings: Settings | None = None,
        **overrides: Any,
    ) -> Store:
        """Open a store: a path, a `postgresql://` address, or nothing for the one the settings name.

        `key` opens an encrypted file, or makes a new one encrypted: a passphrase, or a raw key (32 bytes, or 64 hex
        digits). Unsaid, it comes from the setting `key_file`, then from the keyring of the system
        (`docs/how-to/encryption.md`).

        `user` is whose conversations the handle sees. `model` is any callable from prompt to answer, used for
        summaries. `embedder` replaces the bundled one: an `Embedder`, or a model of LangChain, LlamaIndex or
        sentence-transformers. Further keywords are settings (`docs/reference/settings.md`).
        """
        if key is not None:
            from .db.cipher import Key

            key = Key(key)  # out of the variables that a traceback could show
        settings = settings.but(**overrides) if settings is not None else Settings.load(**overrides)
        user = _safe_id(settings.user if user is None else user, "user", _gate(settings))  # before anything is touched
        if embedder is not None:
            from .search.embed import adapt

            embedder = adapt(embedder, settings)
        where = _where(url, settings)
        told = telemetry.of(settings, where, named=url is not None)
        store = cls(_finished(_connect(where, settings, key)), user, settings, model, None)
        store._embedder, store._telemetry = embedder, told
        return store

    def for_user(self, user: str) -> Store:
        """The same database for another person: nothing of this one is in reach."""
        handle = Store(self._db, user, self._settings, self._model, self._worker)
        handle._embedder, handle._shared, handle._telemetry = self._embedder, self._shared, self._telemetry
        return handle

    @property
    def user(self) -> str:
        """Whose store this is."""
        return self._user

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def location(self) -> str:
        """Where the data is: a path, an address without its password, or "memory"."""
        return self._db.location

    def _read(self, fn: Callable[[Tx], T]) -> T:
        return self._do(self._db.read, fn) if self._telemetry.traces else self._run(self._db.read, fn)

    def _write(self, fn: Callable[[Tx], T]) -> T:
        return self._do(self._db.write, fn) if self._telemetry.traces else self._run(self._db.write, fn)

    def _run(self, way: Callable[[str, Callable[[Tx], T]], T], fn: Callable[[Tx], T]) -> T:
        try:
            return way(self._user, fn)
        except StorageError as e:
            self._tell("store.error", error=type(e).__name__, backend=self._db.dialect)
            raise

    def _do(self, way: Callable[[str, Callable[[Tx], T]], T], fn: Callable[[Tx], T]) -> T:
        """The same in a span, named after the verb it belongs to."""
        verb = getattr(fn, "__qualname__", "other").split(".<locals>")[0].rpartition(".")[2].strip("_")
        with self._telemetry.span(
            f"store.{verb}", db__operation__name=way.__name__, gen_ai__operation__name=_GEN_AI.get(verb),
            db__system__name="postgresql" if self._db.dialect == "postgres" else "sqlite",
        ):  # fmt: skip
            return self._run(way, fn)

    def _tell(self, event: str, **fields: Any) -> None:
        """Tell the operator, after the fact: numbers and ids, never content."""
        if self._telemetry.on:
            self._telemetry.emit(event, self._user, **fields)

    def _watched(self, kind: str, handler: jobs.Handler) -> jobs.Handler:
        def watched(user: str, key: str) -> None:
            try:
                with self._telemetry.span(f"job.{kind}"):
                    handler(user, key)
            except Exception as e:
                self._telemetry.emit("job.failed", user, job=kind, error=type(e).__name__)
                raise

        return watched

    # -- what may be written, and how

    def _safe_id(self, value: str, what: str) -> str:
        return _safe_id(value, what, self._gate)

    def _title(self, value: str) -> str:
        # As it was written first: a private key on one line is not known for one.
        as_written = self._gate.text(checks.text(value, "title"))
        return checks.title(self._gate.text(checks.title(as_written)))

    def _workspace(self, value: str) -> str:
        """A workspace as it is stored and looked for: the same secret becomes the same marker on both ways."""
        return self._gate.text(_scope(value, "workspace"))

    # -- conversations

    def create(
        self,
        id: str | None = None,
        *,
        title: str | None = None,
        workspace: str | None = None,
        workflow_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        origin: str = "application",
        again: bool = False,
    ) -> Conversation:
        """Start a conversation. Without an `id` it gets one; without a `title`, the first message gives it one. `origin`
        says what records it; those of a `hook` or `http` expire (`retention_days`). An id that was erased is refused
        (`Erased`), so that nothing brings it back by itself; `again=True` begins it anew."""
        if origin not in ORIGINS:
            raise InvalidInput(f"origin={origin!r}: choose one of {', '.join(ORIGINS)}.")
        name = ids.new() if id is None else self._safe_id(id, "conversation id")
        title = None if title is None else self._title(title)
        workspace = None if workspace is None else self._workspace(workspace)
        workflow_id = None if workflow_id is None else self._safe_id(workflow_id, "workflow_id")
        checks.payload(metadata, "metadata")
        stored = checks.payload(self._gate.value(metadata), "metadata")
        expires = origin in ("hook", "http")

        def write(tx: Tx) -> Conversation:
            if expires:
                jobs.enqueue(tx, "retain", "all", delay_ms=DAY_MS)
            return conversations.create(
                tx,
                name,
                title=title,
                workspace=workspace,
                workflow_id=workflow_id,
                metadata=stored,
                origin=None if origin == "application" else origin,
                again=bool(again),
            )

        made = self._write(write)
        self._tell("chat.session_created", thread_id=made.id, source=origin)
        return made

    def get(self, conversation: ConversationLike) -> Conversation:
        """One conversation; NotFound if this user has none of that id."""
        name = _id(conversation)
        return self._read(lambda tx: conversations.get(tx, name))

    def conversations(
        self,
        *,
        workspace: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        deleted: bool = False,
    ) -> list[Conversation]:
        """Conversations, newest activity first. For the next page pass the `cursor` of the last one; `deleted=True`
        lists the bin."""
        limit = checks.count(limit, "limit")
        workspace = None if workspace is None else self._workspace(workspace)
        return self._read(
            lambda tx: conversations.listing(tx, workspace=workspace, limit=limit, cursor=cursor, deleted=deleted)
        )

    def rename(self, conversation: ConversationLike, title: str) -> Conversation:
        """Give a conversation another title."""
        name, title = _id(conversation), self._title(title)
        return self._write(lambda tx: conversations.rename(tx, name, title))

    def annotate(self, conversation: ConversationLike, metadata: Mapping[str, Any]) -> Conversation:
        """Change a conversation's metadata: the keys that are given are set, those given as None go, the others stay.
        `{"context": False}` switches injection off there."""
        name = _id(conversation)
        checks.payload(metadata, "metadata")
        changes = self._gate.value(dict(metadata))
        return self._write(lambda tx: conversations.annotate(tx, name, changes))

    def delete(self, conversation: ConversationLike) -> None:
        """Put a conversation in the bin: it is neither listed nor readable until `restore`."""
        name = _id(conversation)
        self._write(lambda tx: conversations.delete(tx, name))
        self._tell("chat.session_deleted", thread_id=name)

    def restore(self, conversation: ConversationLike) -> Conversation:
        """Take a conversation out of the bin."""
        name = _id(conversation)
        back = self._write(lambda tx: conversations.restore(tx, name))
        self._tell("chat.session_restored", thread_id=name)
        return back

    def clear(self, conversation: ConversationLike) -> int:
        """Remove all history of a conversation, on every branch; the conversation and its counter stay. Returns the
        number of events that went. They leave tombstones: their numbers are never used again."""
        name = _id(conversation)
        gone = self._write(lambda tx: log.clear(tx, name))
        self._db.scrub()
        self._tell("chat.session_cleared", thread_id=name, events=gone)
        return gone

    def erase(
        self,
        *,
        conversation: ConversationLike | None = None,
        workspace: str | None = None,
        user: str | None = None,
        memory: str | Memory | None = None,
        source: str | Event | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Remove for good, and prove it: one conversation (in the bin or not), everything of a `workspace`, everything of the
        `user` (this one), a `memory`, or what one event said (`source`, its id). With it goes what came from it: memories and
        what was derived from them, summaries, vectors, the state of graphs. A memory that was also said elsewhere stays and
        loses only this source. With `dry_run` nothing is done: the receipt is a plan that counts what would go and what would
        change. The only verb after which nothing is left."""
        return self._erase(
            {"conversation": conversation, "workspace": workspace, "user": user, "memory": memory, "source": source},
            "user", bool(dry_run),
        )  # fmt: skip

    def _erase(self, given: dict[str, Any], who: str, dry_run: bool) -> Receipt:
        from . import receipts

        kind, what = receipts.asked(given)
        if kind == "conversation":
            what = _id(what)
        elif kind == "workspace":
            what = self._workspace(what)
        elif kind == "memory":
            what = _memory_id(what)
        elif kind == "source":
            what = ids.check(what.id if isinstance(what, Event) else what, "source")
        elif ids.check(what, "user") != self._user:
            raise InvalidInput("A handle erases its own user alone. Another one: recollect.admin(url).erase(user=...).")
        receipt = receipts.erase(
            self._db, self._user, kind, what, who=who, summaries=self._settings.summaries, backups=self._backups(),
            told=self._tell_erased, dry_run=dry_run,
        )  # fmt: skip
        if not dry_run:
            self._tell("chat.erased", count=sum(receipt.counts.values()))  # of what, is nobody's business any more
        return receipt

    def _tell_erased(self, conversations: Sequence[str] | None) -> None:
        """Conversations of this user were erased, or (None) everything: their pseudonyms go from the telemetry."""
        self._telemetry.erase(self._user, conversations)

    def _backups(self) -> list[str]:
        """Copies of the store, by name, and by path where they are not beside it: they hold what is erased until they
        are deleted."""
        path = getattr(self._db, "path", None)
        if path is None:
            return []
        from pathlib import Path

        from . import backup

        store = Path(path)
        here = [backup.shown(found.path, store) for found in backup.found(store)]
        named = here + [f"{copy} (not reachable now)" for copy in backup.away(store)]
        return [self._gate.text(name) for name in named]  # a receipt keeps them

    def _erased_keys(self, conversation: str, keys: Iterable[str]) -> dict[str, int]:
        """Of these idempotency keys, those of events that were erased from it, and when."""
        from . import erased

        safe = {key: key if "\0" in key else log.safe_key(key, self._gate) for key in keys}
        gone = self._read(lambda tx: erased.keys(tx, conversation, safe.values()))
        return {key: gone[safe[key]] for key in safe if safe[key] in gone}

    def receipts(self, *, conversation: ConversationLike | None = None, limit: int = 50) -> list[Receipt]:
        """What was erased, the newest first: counts and hashes. With a `conversation`, its receipt, if it was erased and not
        begun anew: so one can ask whether an id was erased."""
        from . import receipts

        name, limit = None if conversation is None else _id(conversation), checks.count(limit, "limit")
        return self._read(lambda tx: receipts.listing(tx, name, limit))

    def verify_receipt(self, receipt: str | Receipt) -> Receipt:
        """Look once more for what a receipt says is gone. Returns it with the check as it came out now; `ok` says whether all
        of it is gone still."""
        from . import receipts

        id = ids.check(receipt if isinstance(receipt, str) else getattr(receipt, "id", receipt), "receipt")
        return self._read(lambda tx: receipts.verify(tx, id))

    # -- writing

    def append(self, conversation: ConversationLike, *, branch: BranchLike = None, **entry: Unpack[Entry]) -> Event:
        """Append one event; durable when this returns.

        `kind` is "message" unless said, and a message needs a `role` ("user", "assistant", "system", "tool"). With a
        `key`, the same key on the same branch returns the first event and appends nothing. `reasoning` writes the
        message and its trace in one transaction. `created_at` is for history that is brought in. When the kind is
        switched off in the settings, nothing is written and the returned event's `stored` is false.
        """
        return self.append_many(conversation, [entry], branch=branch)[0]

    def append_many(
        self, conversation: ConversationLike, entries: Iterable[Entry], *, branch: BranchLike = None
    ) -> list[Event]:
        """Append many events in one transaction: all of them or none. Each entry has the keywords of `append`."""
        name = _id(conversation)
        drafts = log.prepare_all(name, list(entries), self._gate, lambda entry: self._prepare(name, entry))
        wanted = drafts if self._all_on else [d for d in drafts if self._is_on(d[0].kind)]
        if not wanted:
            self.get(name)  # an unknown conversation is an error whatever is switched off
            return [log.unstored(name, MAIN, d[0]) for d in drafts]

        events, queued = self._write(lambda tx: self._append(tx, name, wanted, branch))
        self._appended(queued)
        if len(wanted) == len(drafts):
            return events
        written = iter(events)
        return [next(written) if self._is_on(d[0].kind) else log.unstored(name, events[0].branch, d[0]) for d in drafts]

    def _append_each(
        self, requests: Sequence[tuple[str, str | None, str | None, list[Entry]]]
    ) -> list[list[Event] | RecollectError]:
        """For a door that records for many at once: (conversation, workspace, branch, entries), each of them all or nothing,
        and all written in one transaction. A conversation is created at first sight, and stays in its workspace. What is
        refused is an error in the answer, and leaves the others alone."""
        results: dict[int, list[Event] | RecollectError] = {}
        ready: list[tuple[str, int, str | None, str | None, list[log.Draft], list[log.Draft]]] = []
        checked: set[str] = self._shared.setdefault("ids", set())
        for i, (name, place, branch, entries) in enumerate(requests):
            try:
                if name not in checked:
                    if len(checked) > 10_000:
                        checked.clear()
                    checked.add(self._safe_id(name, "conversation id"))
                place = None if place is None else self._workspace(place)
                drafts = log.prepare_all(name, entries, self._gate, lambda entry, name=name: self._prepare(name, entry))  # type: ignore[misc]
            except RecollectError as e:
                results[i] = e
                continue
            ready.append(
                (name, i, place, branch, drafts, [d for d in drafts if self._all_on or self._is_on(d[0].kind)])
            )
        ready.sort(key=lambda r: r[:2])  # on Postgres, whoever locks several takes them in the same order

        def one(
            tx: Tx, name: str, place: str | None, branch: str | None, wanted: list[log.Draft]
        ) -> tuple[list[Event], bool]:
            there = conversations.look(tx, name)
            if there is None:
                if branch is not None:
                    raise NotFound(f"Conversation {name!r} is new: it has no branch {branch!r} yet.")
                conversations.create(
                    tx, name, title=None, workspace=place, workflow_id=None, metadata=None, origin="http"
                )
                jobs.enqueue(tx, "retain", "all", delay_ms=DAY_MS)
            elif place is not None and there[5] != place:
                raise NotFound(f"There is no conversation {name!r} in this workspace.")
            return self._append(tx, name, wanted, branch) if wanted else ([], False)

        def write(tx: Tx) -> list[tuple[list[Event], bool] | RecollectError]:
            done: list[tuple[list[Event], bool] | RecollectError] = []
            for name, _, place, branch, _, wanted in ready:
                try:
                    done.append(one(tx, name, place, branch, wanted))
                except (InvalidInput, NotFound) as e:
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
                next(written) if stored or self._is_on(d[0].kind) else log.unstored(name, at, d[0]) for d in drafts
            ]
        self._appended(queued)
        return [results[i] for i in range(len(requests))]

    def _append(
        self, tx: Tx, conversation: str | Found, drafts: Sequence[log.Draft], branch: BranchLike
    ) -> tuple[list[Event], bool]:
        """Events and the work they cause, in a transaction. Says whether something is to be summarized."""
        found, b, events = log.append(tx, conversation, drafts, branch, outside=self._settings.index_outside_workspace)
        if self._embeds():
            jobs.enqueue(tx, "embed", "all", delay_ms=EMBED_DELAY_MS)
        if self._settings.memory_extract and any(d[0].kind in LEARNED for d in drafts):
            jobs.enqueue(tx, "consolidate", f"{found.no}:{b}", delay_ms=CONSOLIDATE_DELAY_MS)
        answered = self._settings.summaries and any(d[0].role == "assistant" and d[0].kind == "message" for d in drafts)
        if answered and branches.has_more_than(tx, found.no, b, self._settings.summary_threshold):
            jobs.enqueue(tx, "summarize", f"{found.no}:{b}")
            return events, True
        return events, False

    def _appended(self, queued: bool) -> None:
        """After the commit: there is work."""
        embeds = self._embeds()
        if self._settings.background and (queued or embeds or self._settings.memory_extract):
            self._worker.wake(self._user, 0 if queued else EMBED_DELAY_MS if embeds else CONSOLIDATE_DELAY_MS)

    def _is_on(self, kind: str) -> bool:
        switch = _SWITCHES.get(kind)
        return switch is None or bool(getattr(self._settings, switch))

    def _prepare(self, conversation: str, entry: Entry) -> log.Draft:
        if entry.get("kind") == "summary" and entry.get("message") is not None:
            raise InvalidInput("What a summary covers is said by summarize() alone; leave message= out.")
        if not entry.keys() <= Entry.__annotations__.keys():
            unknown = sorted(entry.keys() - Entry.__annotations__.keys())
            raise InvalidInput(f"append does not know {', '.join(unknown)}.")
        gate = self._gate.another()
        if entry.get("kind") == "artifact" and entry.get("path"):
            outside = self._settings.artifacts_outside_workspace
            # Redacted before it is taken apart: `https://bot:pw@host` has one slash less afterwards.
            path = gate.text(checks.text(entry["path"], "path"))
            path = log.relative_path(path, self.get(conversation).workspace, outside_is_fine=outside)
            entry = {**entry, "path": path}
        draft = log.prepare(gate=gate, **entry)
        return draft if self._settings.reasoning_traces else (*draft[:4], None)

    def record_workflow_event(
        self, conversation: ConversationLike, event: Mapping[str, Any], *, branch: BranchLike = None
    ) -> Event:
        """Append another system's event under its own `type`. An `orchestrator.message` whose data has
        `kind: task_ledger` becomes a ledger snapshot."""
        from . import workflow

        return self.append(conversation, branch=branch, **workflow.entry(event))

    def delete_event(self, conversation: ConversationLike, seq: int) -> None:
        """Remove one event for good; a tombstone keeps its number. The reasoning of a message stays."""
        name = _id(conversation)
        self._write(lambda tx: log.delete_event(tx, name, seq))
        self._db.scrub()

    # -- reading

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
        name, limit, after = _id(conversation), _limit(limit), checks.count(after, "after")
        only, named = _several(kinds, "kinds"), _several(names, "names")
        for kind in only or ():
            if kind not in KINDS:
                raise InvalidInput(f"There is no kind {kind!r}. The kinds are: {', '.join(KINDS)}.")
        return self._read(
            lambda tx: log.read(tx, name, after=after, kinds=only, names=named, branch=branch, limit=limit)
        )

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
        name, limit = _id(conversation), _limit(limit)
        return self._read(
            lambda tx: log.messages(tx, name, limit=limit, include_reasoning=include_reasoning, branch=branch)
        )

    def formatted_history(
        self, conversation: ConversationLike, max_messages: int = 10, *, branch: BranchLike = None
    ) -> str:
        """The newest messages as text: `ROLE: content`, joined by blank lines; "" when there are none. A summary comes
        first, whatever the number of messages after it."""
        return _formatted(self._history(conversation, max_messages, branch))

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
        name, most = _id(conversation), _limit(limit)
        return self._read(
            lambda tx: log.messages(tx, name, limit=most, include_reasoning=False, branch=branch, always_summary=True)
        )

    def ledger(
        self, conversation: ConversationLike, *, at: int | None = None, branch: BranchLike = None
    ) -> list[LedgerEntry]:
        """The newest snapshot of each task; with `at`, as it stood at that event number."""
        name = _id(conversation)
        at = None if at is None else checks.count(at, "at")
        return self._read(lambda tx: log.ledger(tx, name, at=at, branch=branch))

    def reasoning(
        self, conversation: ConversationLike, *, message: int | None = None, branch: BranchLike = None
    ) -> list[Event]:
        """Reasoning traces of a conversation, or of one message."""
        name = _id(conversation)
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
        not told."""
        name = None if conversation is None else _id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        after = None if after is None else checks.count(after, "after")
        limit = checks.count(limit, "limit")
        from . import feed

        upto = self._settled(after is None)
        return self._read(lambda tx: feed.changes(tx, after, upto, conversation=name, workspace=workspace, limit=limit))

    def _settled(self, wait: bool) -> int:
        """Up to where nothing is on its way any more. At the first look on Postgres others may just be writing: to know
        where "now" is takes until they have ended."""
        upto = self._db.settled()
        if wait and not upto:
            import time

            until = time.monotonic() + SETTLE_SECONDS
            while not upto:
                if time.monotonic() > until:
                    raise StoreBusy(
                        f"{self.location}: a transaction has been open for {SETTLE_SECONDS:g} s, so it is not known what is "
                        "still on its way. Nothing was read; try again."
                    )
                time.sleep(0.01)
                upto = self._db.settled()
        return upto

    # -- memories and search

    def remember(
        self,
        content: str,
        *,
        kind: str = "fact",
        importance: float = 0.5,
        tags: Sequence[str] = (),
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
        another `role` than the user's it waits in quarantine, unless `memory_promote` says otherwise. When the scope is
        full, the least important one goes (`made_room` says which); when none may go, ScopeFull is raised."""
        name = None if conversation is None else _id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        if role not in ROLES:
            raise InvalidInput(f"There is no role {role!r}. The roles are: {', '.join(ROLES)}.")
        from . import memories

        draft = memories.Draft(
            self._gate.another(), content, kind, importance, tags, workspace, source, role=role, valid_from=valid_from,
            valid_to=valid_to, roots=() if isinstance(derived_from, str) else tuple(derived_from),
        )  # fmt: skip
        if isinstance(derived_from, str):
            raise InvalidInput("derived_from must be a list of memory ids, not one text.")
        limits = self._limits()
        made = self._remembering(lambda tx: memories.remember(tx, draft, name, limits, pinned=bool(pinned)))
        self._tell("chat.memory_saved", thread_id=name, count=1)
        return made

    def _limits(self) -> Limits:
        from .memories import Limits

        s = self._settings
        return Limits(
            s.memory_max_items_per_namespace, s.memory_low_importance_threshold, s.memory_low_importance_ttl_days,
            s.memory_promote,
        )  # fmt: skip

    def _remembering(self, fn: Callable[[Tx], T]) -> T:
        """Write what can be found from now on, and have it embedded."""
        embeds = self._embeds()

        def write(tx: Tx) -> T:
            if embeds:
                jobs.enqueue(tx, "embed", "all", delay_ms=EMBED_DELAY_MS)
            return fn(tx)

        write.__qualname__ = getattr(fn, "__qualname__", "other")
        done = self._write(write)
        if embeds and self._settings.background:
            self._worker.wake(self._user, EMBED_DELAY_MS)
        return done

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
        active branch has it. `scope` is "user", "conversation" or "workspace"; `state` None lists every state. `as_of`
        gives them as they stood: at an event, when a `conversation` is named and has that number, else at a time."""
        from . import memories

        if scope not in (None, "user", "conversation", "workspace"):
            raise InvalidInput(f"scope={scope!r}: choose user, conversation or workspace, or leave it out for all.")
        if state is not None and state not in MEMORY_STATES:
            raise InvalidInput(f"state={state!r}: choose one of {', '.join(MEMORY_STATES)}, or None for all.")
        only, tagged = _several(kinds, "kinds"), _several(tags, "tags")
        for kind in only or ():
            memories.kind_of(kind)
        tagged = None if tagged is None else tuple(map(self._gate.text, tagged))
        name = None if conversation is None else _id(conversation)
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
    ) -> Memory:
        """Correct a memory by hand. Another `content` is another memory, which takes the place of the old one. With
        `promote` it is the user's from now on: out of quarantine, seen from everywhere, whatever branch it was said on.
        Returns the memory that stands now."""
        from . import memories

        id = _memory_id(memory)
        gate = self._gate.another()
        changes: dict[str, Any] = {}
        if kind is not None:
            changes["kind"] = memories.kind_of(kind)
        if importance is not None:
            changes["importance"] = memories.importance_of(importance)
        draft = None
        if content is not None:
            draft = memories.Draft(gate, content, tags=tags or ())
        if tags is not None:
            changes["tags"] = memories.tags_of(tags, gate)
        if not changes and draft is None and not promote:
            raise InvalidInput("There is nothing to revise: say content, kind, importance, tags or promote.")
        limits = self._limits()
        made = self._remembering(lambda tx: memories.revise(tx, id, draft, changes, limits, promote=bool(promote)))
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
        from . import retention

        name = _id(conversation)
        return self._read(lambda tx: retention.pins(tx, name))

    def _pin(self, memory: str | Memory | Event, pinned: bool) -> Memory | None:
        from . import memories, retention

        if isinstance(memory, Event) or (isinstance(memory, str) and ":" in memory):
            event = memory.id if isinstance(memory, Event) else ids.check(memory, "event id")
            self._write(lambda tx: retention.pin(tx, event, pinned))
            return None
        id = _memory_id(memory)
        return self._write(lambda tx: memories.pin(tx, id, pinned))

    def undo(self, memory: str | Memory) -> Memory:
        """Take back the newest change of a memory, and whatever was changed together with it: a replaced statement stands
        again, its replacement does not. Once more goes one change further back. Returns the memory as it stands now."""
        from . import memories

        id = _memory_id(memory)
        return self._remembering(lambda tx: memories.undo(tx, id))

    def memory_history(self, memory: str | Memory) -> list[MemoryChange]:
        """Everything that happened to a memory, oldest first: who, why, before and after, on every branch."""
        from . import memories

        id = _memory_id(memory)
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
        everything that came from there. With `erase` nothing is left of it, nor of what was derived from it alone. In another
        `role` than the user's only what was extracted can be forgotten, one at a time, and never for good. Returns how many
        were forgotten."""
        from . import memories

        if role not in ROLES:
            raise InvalidInput(f"There is no role {role!r}. The roles are: {', '.join(ROLES)}.")
        if role != "user" and (source is not None or erase):
            raise InvalidInput("source= and erase= are the user's alone: leave role= out.")

        if (memory is None) == (source is None):
            raise InvalidInput("Say which memory to forget, or source= for everything that came from there.")
        if memory is not None:
            id = _memory_id(memory)
            if erase:
                return self.erase(memory=id).counts["memories"]
            self._write(lambda tx: memories.forget(tx, id, role=role))
            gone = 1
        else:
            name = source if isinstance(source, str) else getattr(source, "id", "")
            name = ids.check(name, "source")
            gone = len(self._write(lambda tx: memories.forget_source(tx, name, erase=bool(erase))))
        self._db.scrub()
        self._tell("chat.memory_forgotten", count=gone)
        return gone

    def consolidate(self, conversation: ConversationLike, *, branch: BranchLike = None) -> Consolidation:
        """Turn what was said since the last time into memories, now: extract, compare with what is held, apply. Happens by
        itself in the background after turns, when `memory_extract` is on."""
        return self._consolidate(_id(conversation), branch)[0]

    def _consolidate(
        self, conversation: str, branch: BranchLike | int, seconds: float | None = None
    ) -> tuple[Consolidation, bool]:
        from . import consolidate

        run = consolidate.Run(self._db, self._user, self._settings, self._model, self._gate, self._semantic)
        done = run.all(conversation, branch, self._limits(), seconds=seconds, between=self._worker.give_way)
        if done.added + done.updated:
            self._tell("chat.memory_saved", thread_id=conversation, count=done.added + done.updated)
            self._remembering(self._retain_later)
        return done, run.is_done

    def _retain_later(self, tx: Tx) -> None:
        from . import retention

        if retention.has_any(tx):
            jobs.enqueue(tx, "retain", "all", delay_ms=DAY_MS)

    def _consolidate_job(self, user: str, key: str) -> None:
        handle = self if user == self._user else self.for_user(user)
        conversation_no, branch = (int(n) for n in key.split(":"))
        try:
            name = handle._read(lambda tx: conversations.by_number(tx, conversation_no))
            _, is_done = handle._consolidate(name, branch, CONSOLIDATE_SECONDS)
        except NotFound:
            return  # deleted or erased meanwhile: that wins
        if not is_done:  # other jobs come in between
            handle._write(lambda tx: jobs.enqueue(tx, "consolidate", key))

    def _catch_up(self, seconds: float = CATCH_UP_SECONDS) -> None:
        """Learn now from what was said and not considered yet, in whatever conversation, so that an agent which is about to
        answer knows it. Rules take 5 ms a turn; a model is given `seconds`, and goes on behind the answer's back."""
        import time

        def work() -> None:
            until = time.monotonic() + seconds
            for key in self._read(lambda tx: jobs.waiting(tx, "consolidate")):
                left = until - time.monotonic()
                if left <= 0:
                    return  # it stays queued
                conversation_no, branch = (int(n) for n in key.split(":"))
                try:
                    name = self._read(lambda tx, no=conversation_no: conversations.by_number(tx, no))  # type: ignore[misc]
                    self._consolidate(name, branch, left)
                except NotFound:
                    continue

        def quietly() -> None:
            try:
                work()
            except RecollectError:
                return  # a full disk or a busy file must not keep anyone from answering: the job is still there

        if self._model is None:
            quietly()
        else:
            name = f"learning {self._user}"
            with _USES:  # one at a time: two would ask the model the same
                thread: threading.Thread | None = self._shared.get(name)
                if thread is None or not thread.is_alive():
                    thread = self._shared[name] = threading.Thread(target=quietly, name="recollect-learn", daemon=True)
                    thread.start()
            thread.join(seconds)

    def retain(self, *, dry_run: bool = False) -> Retention:
        """Let go of what has had its time: conversations of hooks and HTTP (`retention_days`), memories that were not
        important enough, or are no longer true. Never what was pinned. With `dry_run`, says what would go. Happens by
        itself once a day where there is anything to expire."""
        from . import retention

        plan = retention.retain(self._db, self._user, self._settings, apply=not dry_run)
        if plan.expiries and not dry_run:
            self._db.scrub()
            gone = [e.id for e in plan.expiries if e.type == "conversation"]
            self._telemetry.erase(self._user, gone)
            self._tell("chat.retained", conversations=len(gone), memories=len(plan.expiries) - len(gone))
        return plan

    def _retain_job(self, user: str, key: str) -> None:
        handle = self if user == self._user else self.for_user(user)
        handle.retain()
        handle._write(handle._retain_later)

    def _used(self, hits: Iterable[Hit]) -> None:
        """Count what was recalled, later: a read does not wait for a write."""
        with _USES:
            counts: dict[str, int] = self._shared.setdefault("uses", {}).setdefault(self._user, {})
            for hit in hits:
                if hit.type == "memory":
                    counts[hit.id] = counts.get(hit.id, 0) + 1
            many = len(counts) >= USES_MOST
        if many and self._settings.background:
            self._worker.wake(self._user)

    def _note_uses(self) -> None:
        """Write down how often memories were recalled: in the background, when settling, and when closing."""
        from . import memories

        with _USES:
            waiting: dict[str, dict[str, int]] = self._shared.get("uses", {})
            taken = {user: waiting.pop(user) for user in list(waiting) if waiting[user]}
        for user, counts in taken.items():
            try:
                self._db.write(user, lambda tx, counts=counts: memories.used(tx, counts, ids.now()))  # type: ignore[misc]
            except RecollectError:
                return  # a count is not worth an error: a full disk, a closed store

    def recall(
        self,
        q: str,
        *,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        min_importance: float | None = None,
        since: int | None = None,
        conversation: ConversationLike | None = None,
        branch: BranchLike = None,
        workspace: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """The memories that answer a question, best first; the filters are inside the search. From a `conversation`, its
        own and the user's are seen, as its active branch has them, or `branch`."""
        hits = self._search(
            q, types="memories", kinds=_several(kinds, "kinds"), tags=_several(tags, "tags"), since=since,
            min_importance=min_importance, conversation=conversation, branch=branch, workspace=workspace, limit=limit,
        )  # fmt: skip
        self._used(hits)
        return hits

    def search(
        self,
        q: str,
        *,
        workspace: str | None = None,
        workspaces: Sequence[str] | None = None,
        conversation: ConversationLike | None = None,
        branch: BranchLike = None,
        kinds: Sequence[str] | None = None,
        types: str | None = None,
        tool: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 20,
        explain: bool = False,
    ) -> list[Hit]:
        """Events and memories that answer a question, best first. Any text is a safe query. `types` is "events" or
        "memories"; `workspaces` widens a search beyond its own `workspace`, and only then does nearness rank. Each hit's
        `parts` say what its score is made of (with `explain`, rounded for reading)."""
        if types not in (None, "events", "memories"):
            raise InvalidInput(f"types={types!r}: choose 'events' or 'memories', or leave it out for both.")
        hits = self._search(
            q, types=types, kinds=_several(kinds, "kinds"), tool=tool, since=since, until=until, limit=limit,
            conversation=conversation, workspace=workspace, workspaces=_several(workspaces, "workspaces"), branch=branch,
        )  # fmt: skip
        if explain:
            from dataclasses import replace

            return [replace(h, parts={k: round(v, 4) for k, v in h.parts.items()}) for h in hits]
        return hits

    def _search(self, question: str, *, limit: int, conversation: ConversationLike | None, **scope: Any) -> list[Hit]:
        from .search import find

        if not checks.text(question, "question").strip():
            raise InvalidInput("The question is empty.")
        for name in ("workspace", "tool"):
            if scope.get(name) is not None:
                scope[name] = self._gate.text(checks.text(scope[name], name))
        for name in ("workspaces", "tags"):
            if scope.get(name) is not None:
                scope[name] = tuple(map(self._gate.text, scope[name]))
        least = scope.get("min_importance")
        if least is not None and (isinstance(least, bool) or not isinstance(least, (int, float))):
            raise InvalidInput(f"min_importance must be a number, not {least!r}.")
        known = {"memories": MEMORY_KINDS, "events": KINDS}.get(scope.get("types") or "", (*KINDS, *MEMORY_KINDS))
        for kind in scope.get("kinds") or ():
            if kind not in known:
                raise InvalidInput(f"There is no kind {kind!r} here. The kinds are: {', '.join(known)}.")
        for name in ("since", "until"):
            if scope.get(name) is not None:
                checks.count(scope[name], name)
        request = find.Request(
            question, limit=checks.count(limit, "limit"), now=ids.now(),
            conversation=None if conversation is None else _id(conversation),
            outside=self._settings.index_outside_workspace, **scope,
        )  # fmt: skip
        semantic = self._semantic()
        started = time.perf_counter()
        looks_at_memories = scope.get("types") != "events"
        with self._telemetry.span(
            "chat.memory.search" if looks_at_memories else "chat.history.search", self._user, thread_id=request.conversation,
            gen_ai__operation__name="search_memory" if looks_at_memories else "retrieval",
            recollect__top_k=request.limit,
        ) as span:  # fmt: skip
            hits = find.search(self._db, self._user, request, semantic)
            span.set(gen_ai__memory__record__count=sum(h.type == "memory" for h in hits))
        self._tell(
            "chat.memory_searched" if looks_at_memories else "chat.history_searched",
            thread_id=request.conversation or scope.get("near"), top_k=request.limit, count=len(hits),
            latency_ms=telemetry.since(started),
        )  # fmt: skip
        if semantic is not None and semantic.is_behind:
            self._embed_anew(semantic)
        return hits

    def context(
        self,
        prompt: str,
        *,
        workspace: str | None = None,
        conversation: ConversationLike | None = None,
        budget: int = 800,
        sensitive: bool = False,
        max_memories: int | None = None,
        max_excerpts: int | None = None,
        count: Callable[[str], int] | None = None,
        why: bool = False,
    ) -> Context:
        """The best evidence for a prompt within a token budget, quoted and fenced as data, for a message of its own. With a
        `conversation`, its workspace is the scope unless `workspace` says otherwise, what its live window shows anyway is
        left out, and it may be switched off there (`create(metadata={"context": False})`). What had a secret in it stays
        out, unless `sensitive`. `count` is your tokenizer; without one, tokens are estimated. With `why`, each item says why it
        is there. A `budget` of 0 is none: nothing is looked for."""
        from . import context

        s = self._settings
        budget = checks.count(budget, "budget")
        most = [s.context_memories, s.context_excerpts]
        for i, given in enumerate((max_memories, max_excerpts)):
            if given is not None:
                most[i] = checks.count(given, ("max_memories", "max_excerpts")[i])
        started = time.perf_counter()
        here = None if conversation is None else self.get(conversation)
        if budget == 0 or not s.context or (here is not None and here.metadata.get("context") is False):
            return context.NOTHING
        near = None if here is None else here.id
        if workspace is None and here is not None:
            workspace = here.workspace
        hits = self._search(
            prompt, limit=100, conversation=None, workspace=workspace, near=near, shown=context.LONGEST
        )  # fmt: skip
        if here is not None:
            shown = {m.seq for m in self.messages(here, limit=None)}
            hits = [h for h in hits if h.conversation_id != here.id or h.seq not in shown]
        made = context.build(
            hits, budget=budget, max_memories=most[0], max_excerpts=most[1], sensitive=sensitive,
            count=count or context.estimate, why=why,
        )  # fmt: skip
        self._used(item.hit for item in made.items)
        self._tell(
            "chat.context_built",
            thread_id=near,
            items=len(made.items),
            tokens=made.tokens,
            latency_ms=telemetry.since(started),
        )
        return made

    def _embeds(self) -> bool:
        """Whether what is written will be embedded in this process or another that has the means."""
        if not self._settings.semantic:
            return False
        if self._embedder is not None:
            return True
        if "installed" not in self._shared:
            from .search.embed import is_installed

            self._shared["installed"] = is_installed()
        return bool(self._shared["installed"])

    def _semantic(self) -> Semantic | None:
        if not self._embeds():
            return None
        if "semantic" not in self._shared:
            from .search.embed import WordLlama
            from .search.vectors import Semantic

            self._shared["semantic"] = Semantic(self._embedder or WordLlama(), self._db.dialect)
        semantic: Semantic = self._shared["semantic"]
        return semantic

    def _embed_anew(self, semantic: Semantic) -> None:
        """A search met vectors of another model, or none: have them made, in the background."""

        def write(tx: Tx) -> int:
            if semantic.lacks(tx.user):
                jobs.enqueue(tx, "embed", "all")
            return tx.user

        try:
            semantic.was_asked(self._write(write))
        except StorageError:
            return  # a full disk or a busy file must not keep anyone from searching: the next search asks again
        if self._settings.background:
            self._worker.wake(self._user)

    def _embed_job(self, user: str, key: str) -> None:
        semantic = self._semantic()
        if semantic is not None:
            semantic.catch_up(self._db, user, self._worker.give_way)

    def _index_job(self, user: str, key: str) -> None:
        from .search import reindex

        reindex.reindex(self._db, user, self._settings.index_outside_workspace)

    def _mirror_job(self, user: str, key: str) -> None:
        """An item was put and its process died before the memory that it also is had followed."""
        from . import mirror

        mirror.follow(self._db, user, int(key), self._gate, self._embeds())

    def _expire_job(self, user: str, key: str) -> None:
        from . import mirror

        wait = mirror.sweep_job(self._db, user)
        if wait is not None:
            self._db.write(user, lambda tx: jobs.enqueue(tx, "expire", "items", delay_ms=wait))

    # -- branches

    def fork(
        self,
        conversation: ConversationLike,
        at: int | None = None,
        *,
        name: str | None = None,
        branch: BranchLike = None,
        switch: bool = False,
    ) -> Branch:
        """Start a branch that shares history up to event `at` (the newest unless said; 0 is before the first). Nothing
        is copied, and both histories stay. `switch=True` makes it the active one."""
        c = _id(conversation)
        at = None if at is None else checks.count(at, "at")
        if name is not None and self._safe_id(name, "branch name") == branches.EVERY:
            raise InvalidInput("'*' stands for every branch and cannot be the name of one.")

        def write(tx: Tx) -> Branch:
            made = branches.fork(tx, c, at, branch, name, switch)
            if switch:
                self._look_again(tx, c)
            return made

        made = self._write(write)
        self._tell("chat.branch_forked", thread_id=c, at_event=made.fork_seq)
        return made

    def _look_again(self, tx: Tx, conversation: str) -> None:
        """Another branch is the active one: what was learned on the others is not seen from outside any more."""
        from . import memories

        memories.refresh_of(tx, conversations.find(tx, conversation).no)

    def branches(self, conversation: ConversationLike) -> list[Branch]:
        """All branches of a conversation with parent, fork point, head, last activity and a preview, `main` first."""
        name = _id(conversation)
        return self._read(lambda tx: branches.listing(tx, name))

    def switch(self, conversation: ConversationLike, branch: str | Branch) -> Conversation:
        """Make a branch the active one: what reads and writes mean when they name none."""
        name = _id(conversation)

        def write(tx: Tx) -> Conversation:
            branches.set_active(tx, name, branch)
            self._look_again(tx, name)
            return conversations.get(tx, name)

        return self._write(write)

    def checkpoints(
        self,
        conversation: ConversationLike,
        *,
        limit: int = 20,
        before: str | Checkpoint | None = None,
        branch: BranchLike = None,
    ) -> list[Checkpoint]:
        """Where a graph can travel back to, newest first, of every branch unless one is said. For the next page pass the
        last one as `before`. A graph that is compiled with `recollect.langgraph.Saver` writes them."""
        from .checkpoints import stored

        name, limit = _id(conversation), checks.count(limit, "limit")
        last = None if before is None else before if isinstance(before, str) else before.id
        if last is not None:
            checks.text(last, "before")
        with self._telemetry.span("chat.time_travel.list_history", self._user, thread_id=name):
            return self._read(lambda tx: stored.listing(tx, name, limit=limit, before=last, branch=branch))

    def _prune_job(self, user: str, key: str) -> None:
        from .checkpoints import upkeep

        keep, days = self._settings.checkpoint_keep, self._settings.checkpoint_days
        before = ids.now() - days * 86_400_000 if days else None
        no = int(key.split(":")[0])
        try:
            name = self._db.read(user, lambda tx: conversations.by_number(tx, no))
        except NotFound:
            return  # deleted or erased meanwhile: that wins
        if keep or days:
            self._db.write(user, lambda tx: upkeep.prune(tx, name, keep=max(1, keep), before=before))

    def _sweep_job(self, user: str, key: str) -> None:
        from .checkpoints import upkeep

        no = int(key.split(":")[0])
        if self._db.write(user, lambda tx: upkeep.sweep(tx, no)):
            self._db.scrub()

    # -- summaries and background work

    def summarize(self, conversation: ConversationLike, *, branch: BranchLike = None) -> Event | None:
        """Summarize now all but the newest `summary_keep_recent` messages. None when there is nothing to summarize."""
        return self._summarize(_id(conversation), branch, threshold=0)

    def _summarize(self, conversation: str, branch: BranchLike | int, threshold: int) -> Event | None:
        from . import summarize

        s = self._settings
        plan = self._read(lambda tx: summarize.plan(tx, conversation, branch, s.summary_keep_recent, threshold))
        if plan is None:
            return None
        reach("summary planned")
        draft = summarize.write(plan, self._model, s.summary_timeout_ms, self._gate.another())
        return self._write(lambda tx: summarize.apply(tx, plan, draft, delete=s.summary_delete))

    def _summarize_job(self, user: str, key: str) -> None:
        handle = self if user == self._user else self.for_user(user)
        conversation_no, branch = (int(n) for n in key.split(":"))
        try:
            found = handle._read(lambda tx: conversations.by_number(tx, conversation_no))
            handle._summarize(found, branch, self._settings.summary_threshold)
        except NotFound:
            pass  # deleted or erased meanwhile: that wins

    def settle(self) -> int:
        """Finish queued background work now. Returns how many jobs were done; `stats()` shows what failed."""
        self._note_uses()
        hurry = ("consolidate", "summarize", "embed", "index", "prune", "sweep")
        total = 0
        for _ in range(4):  # what is found to remember is to be embedded as well
            self._worker.wait()
            done = jobs.run_due(self._db, self._user, self._handlers, self._gate, hurry=hurry)
            total += done
            if not done:
                break
        return total

    def reindex(self) -> int:
        """Build the index of words anew from what is stored, when `verify` says that it is not what it should be. Returns
        how many events and memories were indexed. On SQLite the index is everyone's: the others' follows when they settle."""
        self._write(lambda tx: tx.forget_words())
        from .search import reindex

        done = reindex.reindex(self._db, self._user, self._settings.index_outside_workspace)
        self._write(lambda tx: jobs.drop(tx, "index", "all"))
        return done

    # -- the whole

    def stats(self, *, by: str | None = None, since: int | None = None) -> Stats:
        """How much there is. `by` ("day", "kind", "tool", "agent", "model", "workspace") adds a line for each, with
        tokens, cost and durations; `since` counts only what is newer (milliseconds UTC)."""
        from . import health

        if by is not None and by not in health.GROUPS:
            raise InvalidInput(f"by={by!r}: choose one of {', '.join(health.GROUPS)}.")
        since = None if since is None else checks.count(since, "since")
        return health.stats(self._db, self._user, by, since)

    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Check the file and every event: checksums against content, numbers against counters, branches against events."""
        from . import health

        return health.verify(self._db, self._user, progress)

    def scan(self, *, fix: bool = False, progress: Progress | None = None) -> Scan:
        """Look for secrets in what is stored already: written before redaction, or before a pattern was known. With `fix`
        they are replaced where they stand, in titles and metadata too, and nothing of them stays in the file."""
        from . import scan

        found = scan.scan(self._db, self._user, _gate(self._settings.but(redact=True)), bool(fix), progress)
        if fix and found.places:
            if self._embeds():
                self._write(lambda tx: jobs.enqueue(tx, "embed", "all"))
            self._db.scrub()
        return found

    def export(
        self,
        fp: IO[str] | IO[bytes],
        *,
        conversation: ConversationLike | None = None,
        workspace: str | None = None,
        format: str = "jsonl",
        progress: Progress | None = None,
    ) -> Mapping[str, int]:
        """Write everything this user has to an open file: conversations with every branch, those in the bin too, memories
        with their history, the state of graphs. `conversation` or `workspace` take a part of it. As "jsonl" it can be
        imported again, anywhere; "markdown" is for reading. Returns how many there were of each. Embeddings are left out:
        they are made anew."""
        from .archive import markdown, write

        if format not in ("jsonl", "markdown"):
            raise InvalidInput(f"format={format!r}: choose jsonl or markdown.")
        if conversation is not None and workspace is not None:
            raise InvalidInput("Say conversation or workspace, not both.")
        name = None if conversation is None else _id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        if format == "markdown":
            return markdown.export(self._db, self._user, fp, name, workspace, progress)
        safe = self._settings.redact_state if self._settings.redact else "none"
        archive = write.Archive(
            self._db, self._user, conversation=name, workspace=workspace, state_redacted=safe, progress=progress
        )
        return write.export(archive, fp)

    def import_(self, fp: IO[str] | IO[bytes], *, again: bool = False, progress: Progress | None = None) -> Imported:
        """Bring in what `export` wrote, here or elsewhere, from a file open for reading. What is there already is left alone,
        so a second time adds nothing and an interrupted import is finished by starting it again; what is there under the
        same id and says something else is reported and left alone too, and so is what was erased here, unless it is wanted
        `again`. Everything goes through redaction. A line that is not
        what an export writes is a BadLine, and then nothing was written."""
        from .archive.read import Import

        if not callable(getattr(fp, "readline", None)):
            raise InvalidInput("import_() reads from an open file.")
        s = self._settings
        found = Import(
            self._db, self._user, self._gate, state_mode=s.redact_state, outside=s.index_outside_workspace,
            extracts=s.memory_extract, again=bool(again), progress=progress,
        ).run(fp)  # fmt: skip
        if any(found.added.values()):
            if self._embeds():
                self._write(lambda tx: jobs.enqueue(tx, "embed", "all", delay_ms=EMBED_DELAY_MS))
            self._appended(False)
        return found

    def backup(self, path: PathLike, *, progress: Progress | None = None) -> Backup:
        """Copy the whole store (all users) to a new file while work goes on, and read it back before it is called good.
        SQLite only; Postgres has pg_dump."""
        from pathlib import Path

        from . import backup

        return backup.make(self._db, Path(_path(path)), progress)

    def compact(self, *, progress: Progress | None = None) -> tuple[int, int]:
        """Give the space of what was deleted back to the disk. Returns the size in bytes before and after."""
        return self._db.compact(progress)

    def _schedule_backup(self) -> None:
        try:
            self._write(lambda tx: jobs.enqueue(tx, "backup", "file"))
        except StorageError:
            return  # a full disk or a busy file must not keep anyone from reading: the next opening asks again
        if self._settings.background:
            self._worker.wake(self._user)

    def _backup_job(self, user: str, key: str) -> None:
        every = self._settings.backup_every * 3_600_000
        if every:
            from . import backup

            wait = backup.scheduled(self._db, every, self._settings.backup_keep)
            self._db.write(user, lambda tx: jobs.enqueue(tx, "backup", "file", delay_ms=wait))

    def close(self) -> None:
        """Close the store, for all handles made from it. Queued background work stays queued."""
        self._note_uses()
        self._worker.stop()
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<recollect.Store {self._db.location} user={self._user!r}>"


def _finished(db: Database) -> Database:
    """The database once every erasure that was interrupted is finished: before anything else is served."""
    if db.unfinished():
        from . import receipts

        try:
            receipts.catch_up(db)
        except BaseException:
            db.close()
            raise
    return db


def _gate(settings: Settings) -> Gate:
    gate = Gate(settings.redact, settings.redact_off, settings.redact_allow, settings.redact_patterns)
    if settings.redact_off or settings.redact_patterns:
        gate.policy()  # a misspelt family or pattern is told now, not at the first secret
    return gate


def _safe_id(value: str, what: str, gate: Gate) -> str:
    """An id stands for itself, so a secret in it cannot be replaced, only refused."""
    value = ids.check(value, what)
    if what == "user" and value.startswith(ids.ERASED):
        raise InvalidInput(
            f"No user is called {ids.ERASED}...: that is what stands in the place of those who were erased."
        )
    family = gate.names_a_secret(value)
    if family:
        raise InvalidInput(f"The {what} holds a secret ({family}). Ids are kept and shown as they are: choose another.")
    return value


def _where(url: PathLike | None, settings: Settings) -> str | None:
    """The path or address that is meant; None for a store in memory."""
    if not settings.enabled:
        return None
    if url is None:
        return config.database(settings)
    path = os.fspath(url)
    if path == ":memory:":
        return None
    if config.is_postgres(path):
        return path
    if not path.startswith("sqlite:///") and "://" in path:
        raise InvalidInput(f"{path.split('://')[0]}:// is no address of ours: use a path or postgresql://...")
    if not path.strip():
        raise InvalidInput("The path is empty. Leave it out for the store that the settings name.")
    return _path(checks.text(path, "path").removeprefix("sqlite://"))


def _connect(where: str | None, settings: Settings, key: Key | None) -> Database:
    """The database, with the key that was given or found. Whoever has none, and needs none, pays nothing for it."""
    if key is None and settings.key_file is None:
        try:
            return connect(where, settings)
        except MissingKey as e:
            missing = e
        from . import keys

        key = keys.for_file(str(where), settings)
        if key is None:
            raise missing
        return connect(where, settings, key)
    from . import keys

    return connect(where, settings, keys.of(where, settings, key))


def _path(path: PathLike) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _memory_id(memory: str | Memory) -> str:
    return ids.check(memory if isinstance(memory, str) else getattr(memory, "id", memory), "memory id")


def _id(conversation: ConversationLike) -> str:
    return conversation.id if isinstance(conversation, Conversation) else ids.check(conversation, "conversation id")


def _scope(value: str, what: str) -> str:
    checks.text(value, what)
    if not value.strip() or len(value) > 4096:
        raise InvalidInput(f"{what} must have 1 to 4096 characters.")
    return value


def _limit(value: int | None) -> int | None:
    return None if value is None else checks.count(value, "limit")


def _several(values: Sequence[str] | None, what: str) -> tuple[str, ...] | None:
    if values is None:
        return None
    return tuple(checks.text(v, what) for v in ((values,) if isinstance(values, str) else values))


def _formatted(said: list[Event]) -> str:
    return "\n\n".join(f"{(e.role or e.kind).upper()}: {e.text}" for e in said)
