"""Conversations: begun, listed, put in the bin and taken out, cleared, and erased for good."""

from __future__ import annotations

from .. import checks, conversations, ids, jobs
from ..errors import InvalidInput
from ..model import ORIGINS, Conversation, Event
from ..other_names import says_ours
from .arguments import conversation_id, memory_id
from .handle import Handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..db import Tx
    from ..model import Memory, Receipt
    from .arguments import ConversationLike


class ConversationVerbs(Handle):
    # -- conversations

    @says_ours
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
        """Start a conversation. Without an `id` it gets one; without a `title`, the first thing a person says gives it one (a greeting does not). `origin`
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
                jobs.enqueue(tx, "retain", "all", delay_ms=ids.DAY_MS)
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

    @says_ours
    def get(self, conversation: ConversationLike) -> Conversation:
        """One conversation; NotFound if this user has none of that id."""
        name = conversation_id(conversation)
        return self._read(lambda tx: conversations.get(tx, name))

    def _held(self, found: Sequence[Conversation]) -> list[int]:
        """How many events each of them holds, for a door that lists them."""
        return self._read(lambda tx: conversations.counts(tx, [c.id for c in found]))

    def conversations(
        self,
        *,
        workspace: str | None = None,
        workflow_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        deleted: bool = False,
    ) -> list[Conversation]:
        """Conversations, newest activity first; only those of a workspace or a workflow if you name one. For the next page pass the `cursor` of the last one; `deleted=True`
        lists the bin."""
        limit = checks.count(limit, "limit")
        workspace = None if workspace is None else self._workspace(workspace)
        workflow_id = None if workflow_id is None else self._safe_id(workflow_id, "workflow_id")
        return self._read(
            lambda tx: conversations.listing(
                tx, workspace=workspace, workflow_id=workflow_id, limit=limit, cursor=cursor, deleted=deleted
            )
        )

    def rename(self, conversation: ConversationLike, title: str) -> Conversation:
        """Give a conversation another title."""
        name, title = conversation_id(conversation), self._title(title)
        return self._write(lambda tx: conversations.rename(tx, name, title))

    def annotate(self, conversation: ConversationLike, metadata: Mapping[str, Any]) -> Conversation:
        """Change a conversation's metadata: the keys that are given are set, those given as None go, the others stay.
        `{"context": False}` switches injection off there."""
        name = conversation_id(conversation)
        checks.payload(metadata, "metadata")
        changes = self._gate.value(dict(metadata))
        return self._write(lambda tx: conversations.annotate(tx, name, changes))

    def delete(self, conversation: ConversationLike) -> None:
        """Put a conversation in the bin: it is neither listed nor readable until `restore`."""
        name = conversation_id(conversation)
        self._write(lambda tx: conversations.delete(tx, name))
        self._tell("chat.session_deleted", thread_id=name)

    def restore(self, conversation: ConversationLike) -> Conversation:
        """Take a conversation out of the bin."""
        name = conversation_id(conversation)
        back = self._write(lambda tx: conversations.restore(tx, name))
        self._tell("chat.session_restored", thread_id=name)
        return back

    def clear(self, conversation: ConversationLike) -> int:
        """Remove all history of a conversation, on every branch; the conversation and its counter stay. Returns the
        number of events that went. They leave tombstones: their numbers are never used again."""
        from .. import removal

        name = conversation_id(conversation)
        gone = self._write(lambda tx: removal.clear(tx, name))
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
        from .. import receipts

        kind, what = receipts.asked(given)
        if kind == "conversation":
            what = conversation_id(what)
        elif kind == "workspace":
            what = self._workspace(what)
        elif kind == "memory":
            what = memory_id(what)
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
        """Conversations of this user were erased, or (None) everything: their pseudonyms go from the telemetry, and what hooks
        keep beside the store goes as well."""
        from .. import beside, config

        self._telemetry.erase(self._user, conversations)
        beside.erase(config.data_dir(self._settings))

    def _backups(self) -> list[str]:
        """Copies of the store, by name, and by path where they are not beside it: they hold what is erased until they
        are deleted."""
        path = getattr(self._db, "path", None)
        if path is None:
            return []
        from pathlib import Path

        from .. import backup

        store = Path(path)
        here = [backup.shown(found.path, store) for found in backup.found(store)]
        named = here + [f"{copy} (not reachable now)" for copy in backup.away(store)]
        return [self._gate.text(name) for name in named]  # a receipt keeps them

    def _erased_keys(self, conversation: str, keys: Iterable[str]) -> dict[str, int]:
        """Of these idempotency keys, those of events that were erased from it, and when."""
        from .. import erased

        safe = {key: key if "\0" in key else checks.safe_key(key, self._gate) for key in keys}
        gone = self._read(lambda tx: erased.keys(tx, conversation, safe.values()))
        return {key: gone[safe[key]] for key in safe if safe[key] in gone}

    def receipts(self, *, conversation: ConversationLike | None = None, limit: int = 50) -> list[Receipt]:
        """What was erased, the newest first: counts and hashes. With a `conversation`, its receipt, if it was erased and not
        begun anew: so one can ask whether an id was erased."""
        from .. import receipts

        name, limit = None if conversation is None else conversation_id(conversation), checks.count(limit, "limit")
        return self._read(lambda tx: receipts.listing(tx, name, limit))

    def verify_receipt(self, receipt: str | Receipt) -> Receipt:
        """Look once more for what a receipt says is gone. Returns it with the check as it came out now; `ok` says whether all
        of it is gone still."""
        from .. import receipts

        id = ids.check(receipt if isinstance(receipt, str) else getattr(receipt, "id", receipt), "receipt")
        return self._read(lambda tx: receipts.verify(tx, id))
