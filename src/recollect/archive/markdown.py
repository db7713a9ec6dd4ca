"""An export for people: conversations as they are read, then what is remembered. It cannot be imported again.

Each conversation is shown along its active branch, and what other branches have of their own after it. Text stands as it
was said; only what would close a fence or begin a heading of ours is kept from doing so.
"""

from __future__ import annotations

from functools import partial

from .. import branches, conversations, ids, log, memories
from ..branches import NO_LIMIT
from ..views import View
from .write import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, TypeVar

    from ..conversations import Found
    from ..db import Database, Tx
    from ..model import Event, Memory, Progress

    T = TypeVar("T")

PAGE = 200
FENCED = ("tool_use", "tool_result", "artifact", "error")


def export(
    db: Database,
    user: str,
    fp: IO[str] | IO[bytes],
    conversation: str | None,
    workspace: str | None,
    progress: Progress | None,
) -> dict[str, int]:
    write = writer(fp)
    pages = _Pages(db, user)
    names = [conversation] if conversation is not None else pages.names(workspace)
    if conversation is None:
        write(
            f"# What {_line(user)} has said and done\n\n" + (f"Workspace: {_line(workspace)}\n\n" if workspace else "")
        )
    for done, name in enumerate(names):
        if progress:
            progress("conversations", done, len(names))
        for text in pages.conversation(name, "#" if conversation is not None else "##"):
            write(text)
    remembered = 0
    for memory in pages.memories(conversation, workspace):
        write(("" if remembered else "## What is remembered\n\n") + _memory(memory))
        remembered += 1
    if progress:
        progress("conversations", len(names), len(names))
    return {"conversations": len(names), "events": pages.events, "memories": remembered}


class _Pages:
    """What is read for it, a page a transaction."""

    def __init__(self, db: Database, user: str) -> None:
        self._db = db
        self._user = user
        self.events = 0

    def _read(self, fn: Callable[[Tx], T]) -> T:
        return self._db.read(self._user, fn)

    def names(self, workspace: str | None) -> list[str]:
        """Conversations that are not in the bin, the oldest activity first."""
        rows = self._read(
            lambda tx: tx.all(
                "select id from conversations where user_no = :user and deleted_at is null"
                " and (cast(:workspace as text) is null or workspace = :workspace) order by activity",
                workspace=workspace,
            )
        )
        return [row[0] for row in rows]

    def conversation(self, name: str, mark: str) -> Iterator[str]:
        found = self._read(lambda tx: conversations.find(tx, name))
        about = self._read(lambda tx: conversations.get(tx, name))
        tree = self._read(lambda tx: branches.tree(tx, found.no))
        facts = [f"id `{about.id}`", f"begun {_when(about.created_at)}"]
        if about.workspace:
            facts.append(f"workspace `{_line(about.workspace)}`")
        yield f"{mark} {_line(about.title or 'Untitled')}\n\n{' · '.join(facts)}\n\n"
        own = branches.climb(tree, found.active_branch)
        yield from self._branch(found, own)
        shown = dict(own)
        for no, (called, parent, at) in tree.items():
            if no == found.active_branch:
                continue
            of = "" if parent is None else f", from event {at} of `{_line(tree[parent][0])}`"
            heading = f"{mark}# Branch `{_line(called)}`{of}\n\n"
            for text in self._branch(found, [(no, NO_LIMIT)], after=shown.get(no, at)):
                yield heading + text
                heading = ""

    def _branch(self, found: Found, own: branches.Lineage, after: int = 0) -> Iterator[str]:
        while page := self._read(partial(log.walk, found=found, own=own, after=after, limit=PAGE)):
            for event in page:
                yield _event(event)
            self.events += len(page)
            after = page[-1].seq

    def memories(self, conversation: str | None, workspace: str | None) -> Iterator[Memory]:
        """Those that stand: of a conversation or a workspace its own, else all."""
        cursor: str | None = None
        scope = "conversation" if conversation is not None else "workspace" if workspace is not None else None

        def standing(tx: Tx, cursor: str | None) -> list[Memory]:
            return memories.listing(
                tx, View(tx), near=conversation, scope=scope, workspace=workspace, kinds=None, tags=None, wanted="active",
                limit=PAGE, cursor=cursor, now=ids.now(),
            )  # fmt: skip

        while page := self._read(partial(standing, cursor=cursor)):
            yield from page
            cursor = page[-1].id


def _event(e: Event) -> str:
    who = e.role or e.kind
    what = "" if e.kind == "message" else f" ({e.kind.replace('_', ' ')})" if e.role else ""
    named = ", ".join(f"`{_line(v)}`" for v in (e.tool, e.path, e.name, e.task_id) if v)
    head = f"**{_line(who)}**{what}{' ' + named if named else ''} · {_when(e.created_at)} · #{e.seq}\n\n"
    text = e.text.rstrip()
    if not text:
        return head
    if e.kind in FENCED:
        fence = "```"
        while fence in text:
            fence += "`"
        return f"{head}{fence}text\n{text}\n{fence}\n\n"
    if e.kind in ("reasoning", "summary", "note"):
        return head + "\n".join(f"> {line}".rstrip() for line in text.splitlines()) + "\n\n"
    return head + _body(text) + "\n\n"


def _body(text: str) -> str:
    """What was said, its own Markdown kept. A line that would be a heading is none of ours; an open fence is closed."""
    lines, fence = [], ""
    for line in text.splitlines():
        bare = line.lstrip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]).strip():
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        elif bare.startswith("#") or (bare and not bare.strip("=-") and len(bare) > 1):
            line = line.replace(bare, "\\" + bare, 1)
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def _memory(m: Memory) -> str:
    told = [m.kind.replace("_", " ")]
    if m.scope != "user":
        told.append(
            f"only in {'conversation `' + m.conversation_id + '`' if m.conversation_id else 'workspace `' + (m.workspace or '') + '`'}"
        )
    if m.source:
        told.append(f"from `{_line(m.source)}`")
    if m.pinned:
        told.append("pinned")
    return f"- {_line(m.content)} ({', '.join(told)}; {_when(m.updated_at)})\n"


def _line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("`", "'")


def _when(ms: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
