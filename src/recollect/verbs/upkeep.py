"""Upkeep: summaries and what else waits to be done, and the whole of a store: counted, checked, copied, moved."""

from __future__ import annotations

from .. import checks, jobs
from ..db.points import reach
from ..errors import InvalidInput
from .arguments import absolute_path, conversation_id
from .handle import EMBED_DELAY_MS, gate_of
from .search import SearchVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

    from ..model import Backup, Event, Imported, Progress, Scan, Stats, Verification
    from .arguments import BranchLike, ConversationLike, PathLike


class UpkeepVerbs(SearchVerbs):
    # -- summaries and background work

    def summarize(self, conversation: ConversationLike, *, branch: BranchLike = None) -> Event | None:
        """Summarize now all but the newest `summary_keep_recent` messages. None when there is nothing to summarize."""
        return self._summarize(conversation_id(conversation), branch, threshold=0)

    def _summarize(self, conversation: str, branch: BranchLike | int, threshold: int) -> Event | None:
        from .. import summarize

        s = self._settings
        plan = self._read(lambda tx: summarize.plan(tx, conversation, branch, s.summary_keep_recent, threshold))
        if plan is None:
            return None
        reach("summary planned")
        draft = summarize.write(plan, self._model, s.summary_timeout_ms, self._gate.another())
        self._note_model()
        return self._write(lambda tx: summarize.apply(tx, plan, draft, delete=s.summary_delete))

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
        from ..search import reindex

        done = reindex.reindex(self._db, self._user, self._settings.index_outside_workspace)
        for key in ("all", reindex.PASSAGES):
            self._write(lambda tx, key=key: jobs.drop(tx, "index", key))  # type: ignore[misc]
        return done

    # -- the whole

    def stats(self, *, by: str | None = None, since: int | None = None) -> Stats:
        """How much there is. `by` ("day", "kind", "tool", "agent", "model", "workspace") adds a line for each, with
        tokens, cost and durations; `since` counts only what is newer (milliseconds UTC)."""
        from .. import health

        if by is not None and by not in health.GROUPS:
            raise InvalidInput(f"by={by!r}: choose one of {', '.join(health.GROUPS)}.")
        since = None if since is None else checks.count(since, "since")
        return health.stats(self._db, self._user, by, since)

    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Check the file and every event: checksums against content, numbers against counters, branches against events."""
        from .. import health

        return health.verify(self._db, self._user, progress)

    def scan(self, *, fix: bool = False, progress: Progress | None = None) -> Scan:
        """Look for secrets in what is stored already: written before redaction, or before a pattern was known. With `fix`
        they are replaced where they stand, in titles and metadata too, and nothing of them stays in the file."""
        from .. import scan

        found = scan.scan(self._db, self._user, gate_of(self._settings.but(redact=True)), bool(fix), progress)
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
        from ..archive import markdown, write

        if format not in ("jsonl", "markdown"):
            raise InvalidInput(f"format={format!r}: choose jsonl or markdown.")
        if conversation is not None and workspace is not None:
            raise InvalidInput("Say conversation or workspace, not both.")
        name = None if conversation is None else conversation_id(conversation)
        workspace = None if workspace is None else self._workspace(workspace)
        if format == "markdown":
            return markdown.export(self._db, self._user, fp, name, workspace, progress)
        safe = self._settings.redact_state if self._settings.redact else "none"
        archive = write.Archive(
            self._db, self._user, conversation=name, workspace=workspace, state_redacted=safe, progress=progress
        )
        return write.export(archive, fp)

    def import_(
        self, fp: IO[str] | IO[bytes], *, again: bool = False, trust: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Bring in what `export` wrote, here or elsewhere, from a file open for reading. What is there already is left alone,
        so a second time adds nothing and an interrupted import is finished by starting it again; what is there under the
        same id and says something else is reported and left alone too, and so is what was erased here, unless it is wanted
        `again`. Everything goes through redaction. An export that this store, or a copy of it, made for this user is signed, and
        comes in as it was. Any other comes in with its memories in quarantine, not pinned, nobody's by hand and without
        reserved tags, and nothing is learned from its messages, unless you `trust` it. A line that is not what an export
        writes is a BadLine, and then nothing was written."""
        from ..archive.read import Import

        if not callable(getattr(fp, "readline", None)):
            raise InvalidInput("import_() reads from an open file.")
        s = self._settings
        found = Import(
            self._db, self._user, self._gate, state_mode=s.redact_state, outside=s.index_outside_workspace,
            extracts=s.memory_extract, again=bool(again), trust=bool(trust), progress=progress,
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

        from .. import backup

        return backup.make(self._db, Path(absolute_path(path)), progress)

    def compact(self, *, progress: Progress | None = None) -> tuple[int, int]:
        """Give the space of what was deleted back to the disk. Returns the size in bytes before and after."""
        return self._db.compact(progress)
