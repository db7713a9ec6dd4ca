"""A database of the OpenAI Agents SDK's SQLiteSession: every session becomes a conversation, every item an event.

The file is only read, with the one SQLite of this process. An item is stored as `recollect.openai_agents.Session` would have
stored it, whole in its payload, so that the session can go on from here. Each carries a key made of its row, and the
conversation remembers the last of them: a second import adds what has come since and nothing else, also where something was
taken back or cleared here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ..checks import safe
from ..errors import AlreadyExists, ConversationDeleted, InvalidInput, NotFound
from ..model import MAIN, Imported, Problem
from . import erased, was_erased
from ._files import is_one, opened

if TYPE_CHECKING:
    from ..model import Entry, Progress
    from ..store import Store

ABOUT = "sessions of the OpenAI Agents SDK (SQLiteSession)"
NAME = "openai-agents"
WHOSE = "SQLiteSession"
TABLES = {
    "agent_sessions": {"session_id", "created_at", "updated_at"},
    "agent_messages": {"id", "session_id", "message_data", "created_at"},
}
PAGE = 200
LAST = "imported_upto"
"""Where a conversation's metadata says which row was the last."""


def looks_like(path: Path) -> bool:
    """Whether a file is a database of SQLiteSession."""
    return is_one(path, WHOSE, TABLES)


def bring(store: Store, path: Path, *, again: bool | None = None, progress: Progress | None = None) -> Imported:
    """Bring all its sessions into a store."""
    source = opened(path, WHOSE, TABLES)
    try:
        return _Sessions(store, source, bool(again), progress).bring()
    finally:
        source.close()


class _Sessions:
    def __init__(self, store: Store, source: apsw.Connection, again: bool, progress: Progress | None) -> None:
        self._store = store
        self._again = again
        self._source = source
        self._progress = progress
        self._added = {"conversations": 0, "events": 0}
        self._known = {"conversations": 0, "events": 0}
        self._problems: list[Problem] = []
        self._is_whole = True
        """Whether each row of this session could be read so far."""

    def _all(self, sql: str, *values: Any) -> list[Any]:
        found: list[Any] = self._source.execute(sql, values).fetchall()
        return found

    def bring(self) -> Imported:
        if self._has_branches():
            what = "It was written by AdvancedSQLiteSession: items come in the order in which they were written, branches are not kept."
            self._problems.append(Problem("the file", what, "Look at the conversations that had branches."))
        total, done = self._all("select count(*) from agent_messages")[0][0], 0
        for session, created_at in self._all(
            "select session_id, created_at from agent_sessions order by created_at, session_id"
        ):
            name, last = self._enter(session, created_at)
            self._is_whole = True
            known = self._all("select count(*) from agent_messages where session_id = ? and id <= ?", session, last)
            done += known[0][0]
            self._known["events"] += known[0][0]
            for rows in self._pages(session, last):
                if name is not None:
                    self._append(name, rows)
                done += len(rows)
                if self._progress:
                    self._progress("items", done, total)
        return Imported(NAME, self._added, {k: n for k, n in self._known.items() if n}, tuple(self._problems))

    def _has_branches(self) -> bool:
        """Whether an AdvancedSQLiteSession has left some in it."""
        if not self._all("select 1 from sqlite_schema where name = 'message_structure'"):
            return False
        return bool(
            self._all("select 1 from message_structure group by session_id having count(distinct branch_id) > 1")
        )

    def _pages(self, session: str, after: int) -> Iterator[list[Any]]:
        while rows := self._all(
            "select id, message_data, created_at from agent_messages where session_id = ? and id > ? order by id limit ?",
            session, after, PAGE,
        ):  # fmt: skip
            yield rows
            after = rows[-1][0]

    def _enter(self, session: str, created_at: Any) -> tuple[str | None, int]:
        """The conversation of a session, made where there is none (None if another one has its id), and the last row that it
        was given."""
        mark = {"imported_from": NAME, "session_created_at": str(created_at)}
        try:
            name = self._store._safe_id(session, "session id")
        except InvalidInput:  # an id that we would not take: a hash of it does
            name = f"{NAME}-{blake2b(str(session).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
        try:
            there = self._store.get(name)
        except ConversationDeleted:
            self._left_out(name, "It is in the bin here.", "Restore or erase it, then import again.")
            return None, -1
        except NotFound:
            if not self._again and was_erased(self._store, name):
                self._problems.append(erased(name))
                return None, -1
            about = mark | ({} if name == session else {"session_id": safe(session)})
            try:
                self._store.create(name, metadata=about, origin="import", again=self._again)
            except AlreadyExists:  # another import, at this moment
                return self._enter(session, created_at)
            self._added["conversations"] += 1
            return name, -1
        if any(there.metadata.get(what) != said for what, said in mark.items()):
            self._left_out(
                name, "There is another conversation of that id here.", "Rename the session, then import again."
            )
            return None, -1
        self._known["conversations"] += 1
        last = there.metadata.get(LAST)
        return name, last if isinstance(last, int) else -1

    def _left_out(self, where: str, what: str, fix: str) -> None:
        self._problems.append(Problem(f"session {where}", f"{what} It was left as it is.", fix))

    def _append(self, name: str, rows: list[Any]) -> None:
        from ..openai_agents import entry_of

        entries: list[Entry] = []
        upto: int | None = None
        for id, data, created_at in rows:
            try:
                item = json.loads(data)
                entry = entry_of(item)
            except (ValueError, TypeError, RecursionError):
                what = "Its data is no item of a session; it was left out."
                self._problems.append(
                    Problem(f"row {id} of agent_messages", what, "Look at it with the sqlite3 command.")
                )
                self._is_whole = False  # it may be mended: from here on is read again the next time
                continue
            upto = id if self._is_whole else upto
            entry["key"] = f"{NAME}:{id}"
            at = _moment(created_at)
            if at is not None:
                entry["created_at"] = at
            entries.append(entry)
        gone = self._store._erased_keys(name, [str(entry["key"]) for entry in entries])
        entries = [entry for entry in entries if entry["key"] not in gone]
        if entries:
            before = self._store.get(name).last_seq
            written = self._store.append_many(name, entries, branch=MAIN)
            added = sum(event.seq > before for event in written)
            self._added["events"] += added
            self._known["events"] += len(written) - added
        if upto is not None:
            self._store.annotate(name, {LAST: upto})


def _moment(text: Any) -> int | None:
    """SQLite's CURRENT_TIMESTAMP as milliseconds UTC."""
    try:
        return round(datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
