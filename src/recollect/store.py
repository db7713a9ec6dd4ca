"""The store: one handle, one user, every verb.

What a verb does is in the room of `verbs` named after its noun. Here a store is opened, handed to another user, worked for
in the background, and closed.
"""

from __future__ import annotations

import os

from . import checks, config, conversations, ids, jobs, telemetry
from .config import Settings
from .db import connect
from .errors import InvalidInput, MissingKey, NotFound, StorageError
from .verbs.arguments import absolute_path, safe_id
from .verbs.branches import BranchVerbs
from .verbs.conversations import ConversationVerbs
from .verbs.handle import gate_of
from .verbs.log import LogVerbs
from .verbs.memories import MemoryVerbs
from .verbs.search import SearchVerbs
from .verbs.upkeep import UpkeepVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .db import Database
    from .db.cipher import Key
    from .model import Model
    from .search.embed import Embedder
    from .verbs.arguments import PathLike

START_DELAY_MS = 1_000  # whoever opens a store for one command is gone by then
CONSOLIDATE_SECONDS = 30.0  # then other work has its turn: a lease is two minutes


class Store(UpkeepVerbs, BranchVerbs, SearchVerbs, MemoryVerbs, LogVerbs, ConversationVerbs):
    """Everything one user has said and done. Made by `recollect.open()`; safe to share between threads."""

    def __init__(
        self, db: Database, user: str, settings: Settings, model: Model | None, worker: jobs.Worker | None
    ) -> None:
        super().__init__(db, user, settings, model)
        handlers: dict[str, jobs.Handler] = {
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
        self._handlers = {kind: self._watched(kind, handler) for kind, handler in handlers.items()}
        self._worker = worker or jobs.Worker(db, self._handlers, self._gate, self._note_uses)
        if worker is None and settings.backup_every and db.dialect == "sqlite":
            self._schedule_backup()
        elif worker is None and settings.background and db.location != "memory":
            self._worker.wake(user, START_DELAY_MS)  # what fell due while nothing ran

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

        `user` is whose conversations the handle sees. `model` writes summaries and helps to find memories: a function
        from prompt to text (`async` too), a chat model of LangChain's, or an OpenAI client (the setting `chat_model` names
        the model). `embedder` replaces the bundled one: an `Embedder`, or a model of LangChain, LlamaIndex or
        sentence-transformers. Further keywords are settings (`docs/reference/settings.md`).
        """
        if key is not None:
            from .db.cipher import Key

            key = Key(key)  # out of the variables that a traceback could show
        settings = settings.but(**overrides) if settings is not None else Settings.load(**overrides)
        user = safe_id(settings.user if user is None else user, "user", gate_of(settings))  # before anything is touched
        if model is not None:
            from .asked import adapt as ask

            model = ask(model, settings)
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

    if not TYPE_CHECKING:  # to a type checker, what is not there stays an error

        def __getattr__(self, name):
            from .other_names import missing

            raise missing(self, name)

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

    # -- background work: a job each

    def _watched(self, kind: str, handler: jobs.Handler) -> jobs.Handler:
        def watched(user: str, key: str) -> None:
            try:
                with self._telemetry.span(f"job.{kind}"):
                    handler(user, key)
            except Exception as e:
                self._telemetry.emit("job.failed", user, job=kind, error=type(e).__name__)
                raise

        return watched

    def _summarize_job(self, user: str, key: str) -> None:
        handle = self if user == self._user else self.for_user(user)
        conversation_no, branch = (int(n) for n in key.split(":"))
        try:
            found = handle._read(lambda tx: conversations.by_number(tx, conversation_no))
            handle._summarize(found, branch, self._settings.summary_threshold)
        except NotFound:
            pass  # deleted or erased meanwhile: that wins

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

    def _retain_job(self, user: str, key: str) -> None:
        handle = self if user == self._user else self.for_user(user)
        handle.retain()
        handle._write(handle._retain_later)

    def _embed_job(self, user: str, key: str) -> None:
        semantic = self._semantic()
        if semantic is not None:
            from .search import statistics

            semantic.catch_up(self._db, user, self._worker.give_way)
            statistics.refresh(self._db, user, self._worker.give_way)

    def _index_job(self, user: str, key: str) -> None:
        from .search import reindex

        outside = self._settings.index_outside_workspace
        if key != reindex.PASSAGES:
            reindex.reindex(self._db, user, outside)
        elif reindex.cut(self._db, user, outside, self._worker.give_way) and self._embeds():
            self._db.write(user, lambda tx: jobs.enqueue(tx, "embed", "all"))

    def _mirror_job(self, user: str, key: str) -> None:
        """An item was put and its process died before the memory that it also is had followed."""
        from . import mirror

        mirror.follow(self._db, user, int(key), self._gate, self._embeds())

    def _expire_job(self, user: str, key: str) -> None:
        from . import mirror

        wait = mirror.sweep_job(self._db, user)
        if wait is not None:
            self._db.write(user, lambda tx: jobs.enqueue(tx, "expire", "items", delay_ms=wait))

    def _prune_job(self, user: str, key: str) -> None:
        from .checkpoints import upkeep

        keep, days = self._settings.checkpoint_keep, self._settings.checkpoint_days
        before = ids.now() - days * ids.DAY_MS if days else None
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

    def _backup_job(self, user: str, key: str) -> None:
        every = self._settings.backup_every * 3_600_000
        if every:
            from . import backup

            wait = backup.scheduled(self._db, every, self._settings.backup_keep)
            self._db.write(user, lambda tx: jobs.enqueue(tx, "backup", "file", delay_ms=wait))

    def _schedule_backup(self) -> None:
        try:
            self._write(lambda tx: jobs.enqueue(tx, "backup", "file"))
        except StorageError:
            return  # a full disk or a busy file must not keep anyone from reading: the next opening asks again
        if self._settings.background:
            self._worker.wake(self._user)

    # -- the whole

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
    return absolute_path(checks.text(path, "path").removeprefix("sqlite://"))


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
