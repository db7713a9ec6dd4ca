"""A database of the OpenAI Agents SDK's SQLiteSession: every session becomes a conversation, every item an event.

The file is only read, with the one SQLite of this process. An item is stored as `recollect.openai_agents.Session` would have
stored it, whole in its payload, so that the session can go on from here. Each carries a key made of its row: a second import
adds what has come since and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ..errors import ConversationDeleted, InvalidInput, NotFound
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
            name = self._enter(session, created_at)
            for rows in self._pages(session):
                if name is not None:
                    self._append(name, session, rows)
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

    def _pages(self, session: str) -> Iterator[list[Any]]:
        after = -1
        while rows := self._all(
            "select id, message_data, created_at from agent_messages where session_id = ? and id > ? order by id limit ?",
            session, after, PAGE,
        ):  # fmt: skip
            yield rows
            after = rows[-1][0]

    def _enter(self, session: str, created_at: Any) -> str | None:
        """The conversation of a session, made where there is none; None if another one has its id."""
        mark = {"imported_from": NAME, "session_created_at": str(created_at)}
        try:
            name = self._store._safe_id(session, "session id")
        except InvalidInput:  # an id that we would not take: a hash of it does
            name = f"{NAME}-{blake2b(str(session).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
        try:
            there = self._store.get(name)
        except ConversationDeleted:
            self._left_out(name, "It is in the bin here.", "Restore or erase it, then import again.")
            return None
        except NotFound:
            if not self._again and was_erased(self._store, name):
                self._problems.append(erased(name))
                return None
            about = mark | ({} if name == session else {"session_id": session})
            self._store.create(name, metadata=about, origin="import", again=self._again)
            self._added["conversations"] += 1
            return name
        if any(there.metadata.get(what) != said for what, said in mark.items()):
            self._left_out(
                name, "There is another conversation of that id here.", "Rename the session, then import again."
            )
            return None
        self._known["conversations"] += 1
        return name

    def _left_out(self, where: str, what: str, fix: str) -> None:
        self._problems.append(Problem(f"session {where}", f"{what} It was left as it is.", fix))

    def _append(self, name: str, session: str, rows: list[Any]) -> None:
        from ..openai_agents import entry_of

        entries: list[Entry] = []
        for id, data, created_at in rows:
            try:
                item = json.loads(data)
                entry = entry_of(item)
            except (ValueError, TypeError, RecursionError):
                what = "Its data is no item of a session; it was left out."
                self._problems.append(
                    Problem(f"row {id} of agent_messages", what, "Look at it with the sqlite3 command.")
                )
                continue
            entry["key"] = f"{NAME}:{id}"
            at = _moment(created_at)
            if at is not None:
                entry["created_at"] = at
            entries.append(entry)
        if not entries:
            return
        before = self._store.get(name).last_seq
        written = self._store.append_many(name, entries, branch=MAIN)
        added = sum(event.seq > before for event in written)
        self._added["events"] += added
        self._known["events"] += len(written) - added


def _moment(text: Any) -> int | None:
    """SQLite's CURRENT_TIMESTAMP as milliseconds UTC."""
    try:
        return round(datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
