"""Transcripts of Claude Code: a JSONL file a session, in a folder a project, kept by it for thirty days.

A session is a conversation of the same id. A file is read from where it was left the last time (a cursor in the data
folder says so) and line by line, so its size does not matter, and nothing is added twice: every event has a key that
follows from its line. Where hooks recorded the same session, what they wrote is met, not doubled. A prompt that goes back
before an earlier one is a fork; agents that the session started speak in the same conversation under their own names.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import checks, claude_code, config
from .. import erased as erasing
from ..errors import AlreadyExists, ConversationDeleted, Erased, InvalidInput, NotFound
from ..model import DISOWNED, MAIN, Imported, Problem
from . import was_erased
from ._claude_files import (
    SAID_OR_NOTED,
    SESSION,
    begins,
    files,
    is_foreign,
    is_something_else,
    last_session,
    lines_before,
    lines_of,
    looks_like,
    usual_place,
)
from ._claude_lines import (
    INJECTED,
    KNOWN_VERSIONS,
    REST,
    Reader,
    is_of_request,
    is_prompt,
    kept,
    original,
    raw_entry,
    title_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Entry, Event, Progress
    from ..store import Store

__all__ = ["ABOUT", "bring", "files", "looks_like", "original", "put_back", "save", "usual_place"]

ABOUT = "transcripts of Claude Code, of all projects or of one"
BATCH_LINES, BATCH_BYTES = 200, 1 << 20
LOOKED_BACK = 500  # events before the last import among which hooks may have left something unmet
LATER = 1 << 60  # what is in the log comes before what is on its way
QUIET_SECONDS = 60  # a line that is not complete after that will not be
SPOKEN = ("p:", "a:")  # how the keys begin of what hooks recorded without knowing its line
HEAD = 256  # bytes by which a file is known for the one it was


def bring(store: Store, path: Path, *, again: bool | None = None, progress: Progress | None = None) -> Imported:
    """Bring in what is new in the transcripts at a place. What was erased or has expired here since is not brought
    back, unless it is wanted `again` or the file itself is named; where `again` is False, what was erased never."""
    if not path.exists():
        raise NotFound(f"There is nothing at {path}. Claude Code keeps its transcripts in {usual_place()}.")
    named = not path.is_dir()
    if named and path.stat().st_size and (is_foreign(path) or is_something_else(path)):
        raise InvalidInput(
            f"{path} is no transcript: none of its first lines is an object as Claude Code writes them, with a sessionId or a "
            "type such as user or assistant. Nothing was brought in."
        )
    found = files(path)
    run = Run(store, progress)
    for file in found:
        with contextlib.suppress(OSError):
            run.total += file.stat().st_size
    for file in found:
        try:
            if not named and is_something_else(file):
                run.count(run.known, "files that are no transcripts")
                continue
            run.file(file, again=named or bool(again), anew=named if again is None else again, whole=bool(again))
        except OSError as e:
            run.problem(file, f"cannot be read: {e.strerror or e}.", "It was left out; look at it and import again.")
    return run.report()


def save(store: Store, path: Path, *, seconds: float | None = None) -> bool:
    """One transcript, as far as it has come: what a hook does before it is compacted. Returns whether time sufficed."""
    run = Run(store, None, None if seconds is None else time.monotonic() + seconds, origin="hook")
    run.file(path)
    return not run.was_cut


class Where(NamedTuple):
    """Where a line stands in the log."""

    branch: str
    seq: int


class Item(NamedTuple):
    """A line on its way: what it is known by, itself, what it says as JSON (None: nothing that is known), its entries."""

    base: str
    raw: bytes
    line: dict[str, Any] | None
    entries: list[Entry]


class Run:
    """One import: of many files, into one store."""

    def __init__(
        self, store: Store, progress: Progress | None, until: float | None = None, origin: str = "import"
    ) -> None:
        self.store = store
        self._progress = progress
        self._until = until
        self._origin = origin
        self.total = self._done = 0
        self.added: dict[str, int] = {}
        self.known: dict[str, int] = {}
        self._problems: list[Problem] = []
        self.was_cut = False
        folder = config.data_dir(store.settings)
        place = claude_code.mark(store.location, store.user)
        self._cursors = None if store.location == "memory" else os.path.join(folder, "imports", claude_code.NAME, place)
        newest = [int(c.cursor) for bin in (False, True) for c in store.conversations(limit=1, deleted=bin)]
        self._newest = max(newest, default=-1)
        """When something last happened in the store, on its own clock: a cursor from later is of a store that was put back."""
        self._restored_at = _restored_at(_mark_of(folder, store.location))

    def count(self, into: dict[str, int], what: str, n: int = 1) -> None:
        if n:
            into[what] = into.get(what, 0) + n

    def problem(self, file: Path, what: str, fix: str) -> None:
        self._problems.append(Problem(file.name, what, fix))

    def report(self) -> Imported:
        return Imported(claude_code.NAME, self.added, self.known, tuple(self._problems))

    def step(self, file: Path, size: int) -> bool:
        """So many bytes more are done. False: time is up."""
        self._done += size
        if self._progress is not None:
            self._progress(f"Importing {file.stem[:8]}", self._done, max(self.total, self._done))
        self.was_cut = self.was_cut or (self._until is not None and time.monotonic() > self._until)
        return not self.was_cut

    # -- cursors

    def load(self, file: Path) -> dict[str, Any]:
        """Where the last import of a file ended; {} if it is to be read from its beginning."""
        if self._cursors is None or self._newest < 0:
            return {}
        try:
            with open(self._cursor(file), encoding="utf-8") as f:
                if os.fstat(f.fileno()).st_mtime_ns <= self._restored_at:
                    return {}
                cursor: dict[str, Any] = json.load(f)
            if cursor.get("tick", 0) > self._newest:
                return {}
            with open(file, "rb") as data:
                head = data.read(cursor["head"])
            same = claude_code.mark(head) == cursor["begins"] and os.path.getsize(file) >= cursor["offset"]
            return cursor if same else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def keep(self, file: Path, cursor: dict[str, Any]) -> None:
        if self._cursors is None:
            return
        with open(file, "rb") as data:
            head = data.read(min(HEAD, cursor["offset"]))
        os.makedirs(self._cursors, mode=0o700, exist_ok=True)
        path = self._cursor(file)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as f:
            json.dump({**cursor, "head": len(head), "begins": claude_code.mark(head)}, f)
        os.replace(f"{path}.{os.getpid()}", path)

    def _cursor(self, file: Path) -> str:
        return os.path.join(self._cursors or "", f"{claude_code.mark(os.path.realpath(file))}.json")

    # -- one file

    def file(self, file: Path, *, again: bool = False, anew: bool = False, whole: bool = False) -> None:
        """One file from its cursor on. `again`: also if its conversation is gone; `anew`: also if it was erased; `whole`: from
        the beginning, so that also what was deleted from a conversation that is there comes back."""
        cursor = self.load(file)
        size = file.stat().st_size
        if cursor and cursor["offset"] >= size and not again:
            self.count(self.known, "files")
            self.step(file, size)
            return
        one = Transcript(self, file, cursor, again=again, anew=anew, whole=whole)
        if one.was_deleted:
            self.count(self.known, "conversations that were deleted here since")
            self.step(file, size)
            return
        self.step(file, one.offset)
        try:
            one.read()
        except Erased:  # while it was read
            self.count(self.known, "conversations that were deleted here since")
            return
        self.count(self.added, "files" if not cursor else "files that went on", int(one.added > 0))
        self.count(self.known, "files", int(bool(cursor) and not one.added))


class Transcript:
    """One file on its way into a conversation."""

    def __init__(
        self, run: Run, file: Path, cursor: dict[str, Any], *, again: bool = False, anew: bool = False,
        whole: bool = False,
    ) -> None:  # fmt: skip
        self._run, self._file, self._store, self._anew = run, file, run.store, anew
        first = begins(file)
        is_agent = file.stem.startswith("agent-")
        self.id = self._named(first.get("sessionId") or "", is_agent, cursor)
        cwd = first.get("cwd", "")
        self._root = claude_code.workspace(cwd) if cwd.strip() and len(cwd) <= 2_000 else None
        agent = str(first.get("agentId") or file.stem.removeprefix("agent-")) if is_agent else None
        gate = self._store._gate
        agent = None if agent is None else claude_code.clip(agent, 100, gate.another())
        self._reader = Reader(gate, self._root, agent)
        self.offset = 0
        self.added = 0
        self._seen: dict[str, int] = {}
        self._where: dict[str, Where] = {}
        self._partly: dict[str, int] = {}
        """Lines of which so many blocks are not there: a hook took what was said in them, and no more."""
        # Which branch a line is on, and the how manieth it is: a prompt goes back in time if there is a later one.
        self._order: dict[str, tuple[str, int]] = {}
        self._prompts: dict[str, int] = {}
        self._count = 0
        self._unmet: list[Event] = []
        self._title: tuple[str, int] = (str(cursor.get("title") or ""), int(cursor.get("rank") or 0))
        self._new_title: tuple[str, int] | None = None
        self._branch = MAIN
        self.parent: str | None = None
        """The session that this one was forked from: answers that came with it name it."""
        self._stands_at: dict[str, str] = {}
        """Lines that were left out, and the line before each."""
        self._last = str(cursor.get("base") or "")
        self._is_new = self._is_loaded = self.was_deleted = False
        try:
            here = self._store.get(self.id)
        except ConversationDeleted:
            self.was_deleted = True
            return
        except NotFound:
            # Its cursor is there and the conversation is not: erased, or expired. That is not undone behind one's back.
            self.was_deleted = (bool(cursor) and not again) or (not anew and was_erased(self._store, self.id))
            self._is_new = self._is_loaded = True
            return
        self._branch = here.active_branch
        if whole or not cursor or here.last_seq < cursor["seq"]:
            self._load()
            return
        r = self._reader
        self.offset, self._branch = cursor["offset"], cursor["branch"]
        r.base, r.since, r.at, r.message = cursor["base"], cursor["since"], cursor["at"], cursor["message"]
        self._where[r.base] = Where(self._branch, cursor["seq"])
        self._order[r.base] = self._branch, 0
        after = max(0, cursor["seq"] - LOOKED_BACK)
        self._look_for_hooks(after)
        for event in self._store.read(self.id, after=after, kinds=("tool_use",), branch="*"):
            block = event.payload.get("block")
            id = block.get("id") if isinstance(block, dict) else event.payload.get("tool_use_id")
            given = block.get("input") if isinstance(block, dict) else event.payload.get("input")
            if isinstance(id, str):
                r.tools[id] = event.tool or "?", given

    def _named(self, session: str, is_agent: bool, cursor: dict[str, Any]) -> str:
        """The conversation of a file. A session's file is named by its id, an agent's is its session's. Another name is
        that of a copy ("backup", "<id> (1)"), which is the same session if its first and last lines say so, or of what lies
        in the session's own folder and names none (a workflow's journal); unless it was brought in under its own name before
        this was known."""
        named = claude_code.conversation_id((session if is_agent else "") or self._file.stem)
        if cursor:
            return str(cursor.get("id") or named)
        inside = session
        session = session or next((p.name for p in self._file.parents if SESSION.fullmatch(p.name)), "")
        if is_agent or SESSION.fullmatch(self._file.stem) or not SESSION.fullmatch(session):
            return named
        if last_session(self._file) != inside or was_erased(self._store, named):
            return named
        try:
            self._store.get(named)
        except ConversationDeleted:
            return named
        except NotFound:
            return session
        return named

    def _load(self) -> None:
        """All that is known of this session: which lines are there, and where."""
        self._is_loaded = True
        for event in self._store.read(self.id, branch="*"):
            base, order = event.payload.get("of"), event.seq - LATER
            if isinstance(base, str):
                seq = event.message if event.name == REST and event.message else event.seq
                self._where.setdefault(base, Where(event.branch, seq))
                self._order.setdefault(base, (event.branch, order))
                if event.payload.get("whole"):
                    self._partly.pop(base, None)
                elif "blocks" in event.payload:
                    self._partly[base] = event.payload["blocks"] - 1
                elif base in self._partly and "block" in event.payload:
                    self._partly[base] -= 1
            if event.kind == "message" and event.role == "user" and event.agent is None:
                self._prompts[event.branch] = max(self._prompts.get(event.branch, order), order)
        self._look_for_hooks(0)

    def _look_for_hooks(self, after: int) -> None:
        """What hooks recorded of what is said, which has no id that a line would have: it is met by what it says."""
        events = self._store.read(self.id, after=after, kinds=("message", "event"), branch="*")
        met = {e.message for e in events if e.name == REST}
        self._unmet = [
            e
            for e in events
            if (e.kind == "message" or e.name == INJECTED) and (e.key or "").startswith(SPOKEN) and e.seq not in met
        ]

    # -- reading

    def read(self) -> None:
        """From the cursor to the end of what is complete."""
        batch: list[Item] = []
        size, start, end = 0, self.offset, self.offset
        for n, (raw, end) in enumerate(lines_of(self._file, start), 1):
            batch += self._line(raw, start, n)
            size += len(raw)
            if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
                if not self._write(batch, end):
                    return
                batch, size = [], 0
        self._write(batch, end, last=True)
        there = self._file.stat()
        if there.st_size > self.offset and time.time() - there.st_mtime > QUIET_SECONDS:
            left = there.st_size - self.offset
            self._run.problem(
                self._file, f"its last line is incomplete ({left:,} bytes).", "The lines before it are in."
            )

    def _line(self, raw: bytes, start: int, n: int) -> Iterator[Item]:
        """The n-th line after an offset."""
        if not raw.strip():
            return
        reader, run = self._reader, self._run
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            line = None
        base = reader.key(line, raw)
        if self._seen.setdefault(base, hash(raw)) != hash(raw):
            # The same id with other content: both are kept, and it is said once.
            key = f"{base}~{claude_code.mark(raw)}"
            payload = {"of": key, **kept(line), "whole": True}
            yield Item(key, raw, None, [{"kind": "event", "name": "claude-code.again", "key": key, "payload": payload}])
            return
        if not isinstance(line, dict):
            if base in self._where:
                run.count(run.known, "lines")
                return
            what = f"line {lines_before(self._file, start) + n:,} is no JSON object ({len(raw):,} bytes)."
            run.problem(self._file, what, "It was kept as it is, in a payload.")
            yield Item(base, raw, None, [raw_entry(raw, base, reader.at, "unreadable")])
            return
        if is_of_request(line):
            run.count(run.known, "lines of requests, left out")
            yield Item(base, raw, line, [])  # what follows it may be known by it
            return
        entries = reader.entries(line, base)
        if base in self._where and self._is_loaded and self._partly.get(base, 0) <= 0:
            run.count(run.known, "lines")
            return
        self._said_of(line)
        self.parent = self.parent or claude_code.parent_of(line, self.id)
        yield Item(base, raw, line, entries)

    def _said_of(self, line: dict[str, Any]) -> None:
        """Reports and titles."""
        run, kind, version = self._run, line.get("type"), line.get("version")
        if isinstance(version, str) and version.split(".")[0] not in KNOWN_VERSIONS:
            what = f"lines of version {version[:20]}, kept whole"
            if what not in run.added:
                fix = "Its lines were kept as they are; a newer Recollect will read them."
                run.problem(self._file, f"was written by version {version[:20]}, which is not known here.", fix)
            run.count(run.added, what)
        elif str(kind) not in SAID_OR_NOTED:
            unknown = "without a type" if kind is None else f"of the unknown type {str(kind)[:40]!r}"
            run.count(run.added, f"lines {unknown}, kept whole")
        found = title_of(line)
        if found is not None and found[1] >= (self._new_title or self._title)[1]:
            self._new_title = found

    # -- writing

    def _write(self, batch: list[Item], end: int, *, last: bool = False) -> bool:
        """Lines into the log, those of one branch in one transaction; then the cursor moves. False: time is up."""
        group: list[Item] = []
        for item in batch:
            branch = self._branch_of(item)
            if branch is None or branch != self._branch:
                self._append(group)
                group = []
                self._branch = self._rewind(item) if branch is None else branch
            self._count += 1
            self._order[item.base] = self._branch, self._count
            if item.line is not None and is_prompt(item.line):
                self._prompts[self._branch] = self._count
            if item.entries:
                group.append(item)
                self._last = item.base
            else:
                self._stands_at[item.base] = self._last
        self._append(group)
        moved, self.offset = end - self.offset, end
        if not self._is_new:
            if last:
                self._retitle()
                claude_code.link(self._store, self.id, self.parent)
            r = self._reader
            at = self._where.get(self._stands_at.get(r.base, r.base), Where(self._branch, 0))
            self._run.keep(self._file, {
                "id": self.id, "tick": int(self._store.get(self.id).cursor), "offset": end, "base": r.base, "since": r.since, "at": r.at, "message": r.message, "branch": self._branch,
                "seq": at.seq, "title": self._title[0], "rank": self._title[1],
            })  # fmt: skip
        return self._run.step(self._file, moved)

    def _branch_of(self, item: Item) -> str | None:
        """The branch on which a line belongs: its parent's. None: a prompt whose parent stands before an earlier prompt goes
        back in time, and a new branch begins. (Answers to parallel calls have the same parent and are no fork.)"""
        line = item.line
        parent = line.get("parentUuid") if line is not None else None
        if line is None or not isinstance(parent, str) or line.get("isSidechain") is True or self._reader.agent:
            return self._branch
        if parent not in self._order and not self._is_loaded:
            self._load()
        if parent not in self._order or self._stands_at.get(parent, parent) not in self._order:
            return self._branch
        branch, order = self._order[parent]
        goes_back = is_prompt(line) and self._prompts.get(branch, order) > order
        return None if goes_back and self._meets(item.entries[0]) is None else branch

    def _rewind(self, item: Item) -> str:
        assert item.line is not None
        parent = item.line["parentUuid"]
        at = self._where[self._stands_at.get(parent, parent)]
        name = f"rewind-{claude_code.mark(item.base)[:8]}"
        with contextlib.suppress(AlreadyExists):  # an import that was interrupted right here
            self._store.fork(self.id, at=at.seq, name=name, branch=at.branch, switch=True)
            self._run.count(self._run.added, "branches")
        return name

    def _append(self, group: list[Item]) -> None:
        if not group:
            return
        self._create()
        flat = self._left([met for item in group for entry in item.entries for met in self._met(item, entry)])
        self._goals(flat)
        lines = {item.base: item.line for item in group}
        try:
            self._store_all(flat, lines)
        except InvalidInput:
            # Something in it no database keeps as it stands. One line after the other, that one kept as its text.
            for item in group:
                own = [entry for entry in flat if (entry.get("payload") or {}).get("of") == item.base]
                own += [entry for entry in item.entries if "payload" not in entry]
                try:
                    self._store_all(own, lines)
                except InvalidInput:
                    self._store_all(self._plain(item), lines)

    def _left(self, entries: list[Entry]) -> list[Entry]:
        """Without what was erased from this conversation event by event."""
        if not self._store._read(lambda tx: erasing.has_any(tx, erasing.KEY)):
            return entries
        names = [(e.get("key") or "", self._words(e)) for e in entries]
        gone = self._store._erased_keys(self.id, {name for both in names for name in both if name})
        # The same words said again since are another matter.
        return [
            e
            for e, (key, words) in zip(entries, names, strict=True)
            if key not in gone and not (e.get("created_at") or 0) <= gone.get(words, -1)
        ]

    def _words(self, entry: Entry) -> str:
        """A hook had another key for the same words."""
        if entry.get("kind", "message") != "message" or entry.get("agent"):
            return ""
        text = self._store._gate.another().text(checks.safe(entry.get("text", "")))
        return erasing.said(entry.get("role"), text)

    def _store_all(self, entries: list[Entry], lines: Mapping[str, Any]) -> None:
        """Write, and see what was there: a line of which something had been recorded otherwise is kept whole besides."""
        before = self._store.get(self.id).last_seq
        events = self._store.append_many(self.id, entries, branch=self._branch)
        rests: dict[str, Entry] = {}
        for entry, event in zip(entries, events, strict=True):
            base = (entry.get("payload") or {}).get("of")
            if not isinstance(base, str):
                continue
            is_this = event.payload.get("of") == base
            seq = event.message if is_this and event.name == REST and event.message else event.seq
            self._where.setdefault(base, Where(event.branch, seq))
            if not is_this and event.seq:
                rests.setdefault(base, self._rest(base, event.seq, entry, lines.get(base)))
        if rests:
            events += self._store.append_many(self.id, list(rests.values()), branch=self._branch)
        new = len({e.seq for e in events if e.seq > before})
        self.added += new
        self._run.count(self._run.added, "events", new)

    def _rest(self, base: str, seq: int, entry: Entry, line: Any) -> Entry:
        """A line of which hooks, or another line, had said it already: the whole of it, pointing at what was said."""
        rest: Entry = {
            "kind": "event", "name": REST, "key": f"{base}~rest", "message": seq,
            "payload": {"of": base, **kept(line), "whole": True},
        }  # fmt: skip
        for name in ("created_at", "agent", "model", "input_tokens", "output_tokens"):
            if name in entry:
                rest[name] = entry[name]
        return rest

    def _meets(self, entry: Entry) -> Event | None:
        """What a hook recorded of the same words, and no line was found for yet."""
        injected = entry.get("name") == INJECTED
        if not self._unmet or entry.get("agent") or not (injected or entry.get("kind", "message") == "message"):
            return None
        text = self._store._gate.another().text(checks.safe(entry.get("text", "")))
        role = "user" if injected else entry.get("role")
        return next((e for e in self._unmet if e.text == text and e.role in (role, entry.get("role"))), None)

    def _met(self, item: Item, entry: Entry) -> list[Entry]:
        event = self._meets(entry)
        if event is None:
            return [entry]
        self._unmet.remove(event)
        rest = self._rest(item.base, event.seq, entry, item.line)
        if event.kind == "message" and entry.get("name") == INJECTED:  # the hook took it for typed
            return [rest, {"kind": "event", "name": DISOWNED, "message": event.seq, "key": f"{event.key}~{DISOWNED}"}]
        return [rest]

    def _plain(self, item: Item) -> list[Entry]:
        """A line as its text, and what is said in it as far as a database keeps it."""
        found = [raw_entry(item.raw, item.base, self._reader.at, "raw")]
        for entry in item.entries:
            clean: Entry = checks.safe({k: v for k, v in entry.items() if k not in ("payload", "diff")})
            clean["payload"] = {"of": item.base}
            found.append(clean)
        return found

    def _create(self) -> None:
        if not self._is_new:
            return
        with contextlib.suppress(AlreadyExists):
            about = {"agent": claude_code.NAME, "project": self._file.parent.name}
            self._store.create(
                self.id,
                workspace=self._root,
                origin=self._run._origin,
                metadata=checks.safe(about),
                again=self._anew,
            )
            self._run.count(self._run.added, "conversations")
        self._is_new = False

    def _goals(self, entries: list[Entry]) -> None:
        """A task that was only updated keeps its goal."""
        missing = [e for e in entries if e.get("kind") == "ledger" and "goal" not in e]
        if missing:
            known = {e.task_id: e.goal for e in self._store.ledger(self.id, branch=self._branch)}
            known |= {str(e["task_id"]): e["goal"] or "" for e in entries if e.get("kind") == "ledger" and "goal" in e}
            for entry in missing:
                entry["goal"] = known.get(str(entry["task_id"])) or ""

    def _retitle(self) -> None:
        """The session's title, unless somebody gave it one here."""
        if self._new_title is None or self._is_new or self._reader.agent:
            return
        from ..conversations import title_from

        here = self._store.get(self.id)
        first = self._store.read(self.id, kinds=("message",), limit=1)
        given = {None, title_from(first[0].text) if first else None}
        gate = self._store._gate.another()
        title = claude_code.clip(checks.line(checks.safe(self._new_title[0]), gate), 200, gate)
        is_ours = here.title in given or claude_code.mark(here.title) == self._title[0]
        if is_ours and title and here.title != title:
            kept_as = self._store.rename(self.id, title).title
            # By a mark alone: the cursor lies beside the store, in the clear, and outlives an erasure.
            self._title = claude_code.mark(kept_as or ""), self._new_title[1]


def put_back(folder: str, location: str) -> None:
    """A backup has taken a store's place: what its cursors say was read is no longer in it."""
    mark = _mark_of(folder, location)
    if os.path.isdir(os.path.dirname(mark)):
        with open(mark, "w", encoding="utf-8"):
            pass


def _mark_of(folder: str, location: str) -> str:
    return os.path.join(folder, "imports", claude_code.NAME, f"{claude_code.mark(location)}.restored")


def _restored_at(mark: str) -> int:
    try:
        return os.stat(mark).st_mtime_ns
    except OSError:
        return 0
