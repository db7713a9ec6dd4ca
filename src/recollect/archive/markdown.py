"""An export for people: conversations as they are read, then what is remembered. It cannot be imported again.

Each conversation is shown along its active branch, and what other branches have of their own after it. Text stands as it
was said; only what would close a fence or begin a heading of ours is kept from doing so.
"""

from __future__ import annotations

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
    counts = {"conversations": 0, "events": 0, "memories": 0}

    def read(fn: Callable[[Tx], T]) -> T:
        return db.read(user, fn)

    names = [conversation] if conversation is not None else read(lambda tx: _names(tx, workspace))
    if conversation is None:
        write(
            f"# What {_line(user)} has said and done\n\n" + (f"Workspace: {_line(workspace)}\n\n" if workspace else "")
        )
    for done, name in enumerate(names):
        if progress:
            progress("conversations", done, len(names))
        for text, events in _conversation(read, name, "#" if conversation is not None else "##"):
            write(text)
            counts["events"] += events
        counts["conversations"] += 1
    heading = "## What is remembered"
    for memory in _memories(read, conversation, workspace):
        if heading:
            write(f"{heading}\n\n")
            heading = ""
        counts["memories"] += 1
        write(_memory(memory))
    if progress:
        progress("conversations", len(names), len(names))
    return counts


def _names(tx: Tx, workspace: str | None) -> list[str]:
    """Conversations that are not in the bin, the oldest activity first."""
    rows = tx.all(
        "select id from conversations where user_no = :user and deleted_at is null"
        " and (cast(:workspace as text) is null or workspace = :workspace) order by activity",
        workspace=workspace,
    )
    return [row[0] for row in rows]


def _conversation(read: Callable[[Callable[[Tx], T]], T], name: str, mark: str) -> Iterator[tuple[str, int]]:
    found, about = read(lambda tx: (conversations.find(tx, name), conversations.get(tx, name)))  # type: ignore[assignment,return-value,arg-type]
    yield f"{mark} {_line(about.title or 'Untitled')}\n\n", 0  # type: ignore[attr-defined]
    facts = [f"id `{about.id}`", f"begun {_when(about.created_at)}"]  # type: ignore[attr-defined]
    if about.workspace:  # type: ignore[attr-defined]
        facts.append(f"workspace `{_line(about.workspace)}`")  # type: ignore[attr-defined]
    yield " · ".join(facts) + "\n\n", 0
    tree = read(lambda tx: branches.tree(tx, found.no))  # type: ignore[arg-type,attr-defined]
    active = found.active_branch  # type: ignore[attr-defined]
    yield from _branch(read, found, branches.climb(tree, active))  # type: ignore[arg-type]
    for no, (called, parent, at) in tree.items():  # type: ignore[attr-defined]
        shown = dict(branches.climb(tree, active))  # type: ignore[arg-type]
        after = shown.get(no, at)
        if no == active or after == NO_LIMIT:
            continue
        first = True
        for text, n in _branch(read, found, [(no, NO_LIMIT)], after=after):  # type: ignore[arg-type]
            if first:
                of = "" if parent is None else f", from event {at} of `{_line(tree[parent][0])}`"  # type: ignore[index]
                yield f"{mark}# Branch `{_line(called)}`{of}\n\n", 0
                first = False
            yield text, n


def _branch(
    read: Callable[[Callable[[Tx], list[Event]]], list[Event]], found: Found, own: branches.Lineage, after: int = 0
) -> Iterator[tuple[str, int]]:
    while page := read(lambda tx, after=after: log.walk(tx, found, own, after=after, limit=PAGE)):  # type: ignore[misc]
        for event in page:
            yield _event(event), 1
        after = page[-1].seq


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


def _memories(
    read: Callable[[Callable[[Tx], list[Memory]]], list[Memory]], conversation: str | None, workspace: str | None
) -> Iterator[Memory]:
    """Those that stand: of a conversation or a workspace its own, else all."""
    cursor: str | None = None
    scope = "conversation" if conversation is not None else "workspace" if workspace is not None else None
    while page := read(lambda tx, cursor=cursor: _page(tx, conversation, workspace, scope, cursor)):  # type: ignore[misc]
        yield from page
        cursor = page[-1].id


def _page(tx: Tx, near: str | None, workspace: str | None, scope: str | None, cursor: str | None) -> list[Memory]:
    return memories.listing(
        tx, View(tx), near=near, scope=scope, workspace=workspace, kinds=None, tags=None, wanted="active", limit=PAGE,
        cursor=cursor, now=ids.now(),
    )  # fmt: skip


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
