"""What of an event or a memory can be found by words, kept in step with its row.

The terms are made by our own tokenizer, so that both databases index the same ones. On SQLite the index is an FTS5
table that holds no content: to take a row out, the very terms that went in must be said again, which is why everything
here is a function of the stored row. Scope is a handful of tokens beside the terms: they narrow a search inside the
index; equality is checked again on the rows.

A long text is indexed by passage, each an entry with an id of its own, so that a line at the end of a tool's output is
found like a message. The table `passages` says which id is which part of which event; the first has the event's own id.
Events that an earlier version indexed have no rows there and one entry, until a job has cut them (`reindex`).
"""

from __future__ import annotations

from zlib import crc32

from . import fence, times
from .tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..db import Row, Tx

    Terms = tuple[str, str] | tuple[str, str, tuple[tuple[int, int, str], ...]]
    """(terms, scope) of an event; of a long one also (start, length, terms) of each passage."""

LONG = 2_000  # characters from which on a text is indexed by passage
PASSAGE = 1_000  # the longest passage
CAP = 200_000  # characters that are indexed: of a longer text the first half of them and the last; the whole is stored
WHOLE = 20_000  # characters of the one entry that a long event had before there were passages, and of a memory's
SMALL = 2_000  # and of its name, tool, path and tags, each
UNINDEXED = ("reasoning", "summary")  # thoughts are no evidence, and a summary says again what was said
HANDOFF = "langgraph.handoff"  # events of this name: agents that pass the turn to each other say nothing


def conversation_token(no: int) -> str:
    return f"c{no}"


def workspace_token(workspace: str) -> str:
    return f"w{crc32(workspace.encode()):08x}"


def kind_token(kind: str) -> str:
    return f"k{kind}"


def tool_token(tool: str) -> str:
    return f"t{crc32(tool.encode()):08x}"


def user_token(no: int) -> str:
    """For titles: their rows are numbered by conversation, so that a range does not tell whose they are."""
    return f"u{no}"


def is_indexed(kind: str, name: str | None, text: str, tool: str | None) -> bool:
    """Whether an event is to be found by words. Calls of our own tools are not: nothing is kept but that they were made."""
    if kind in UNINDEXED or (kind == "event" and name == HANDOFF):
        return False
    return bool(text) or not fence.is_own_tool(tool)


def event_terms(
    kind: str,
    text: str,
    at: int,
    name: str | None = None,
    tool: str | None = None,
    path: str | None = None,
    tags: str | None = None,
    spans: Sequence[tuple[int, int]] | None = None,
) -> Terms | None:
    """What an event is indexed under as far as it follows from itself; None if it is not to be found. Computed in the
    caller's thread: it takes 10 us for a turn. `spans` are its passages where it is in the index already (none: it is
    there as a whole).

    Days are terms too: the one on which it was said, and those it speaks of, so that "yesterday" is found by its date."""
    if not is_indexed(kind, name, text, tool):
        return None
    scope = "e " + kind_token(kind)
    if tool is not None:
        scope += " " + tool_token(tool)
    body = fence.without(text)
    if spans is None:
        spans = passages(body) if len(body) > LONG else ()
    first = body[:WHOLE] if not spans else body[: spans[0][1]]
    if name or tool or path or tags:
        first = " ".join((first, *(value[:SMALL] for value in (name, tool, path, tags) if value)))
    head = f"{_terms(first, at)} {times.said(at)}"
    if not spans:
        return head, scope
    rest = [(start, length, _terms(body[start : start + length], at)) for start, length in spans[1:]]
    return head, scope, ((*spans[0], head), *rest)


def _terms(body: str, at: int) -> str:
    found = terms(body)
    if times.mentions(body, found):
        found += times.tokens(times.dates(body[: times.READ], at))
    return " ".join(found)


def passages(text: str) -> list[tuple[int, int]]:
    """(start, length) of each passage of a long text. Cut at the end of a line if there is one in the second half, else at
    that of a sentence, else between words."""
    found: list[tuple[int, int]] = []
    ends = [(0, len(text))] if len(text) <= CAP else [(0, CAP // 2), (len(text) - CAP // 2, len(text))]
    for start, end in ends:
        while start < end:
            cut = min(start + PASSAGE, end)
            if cut < end:
                for mark in ("\n", ". ", " "):
                    at = text.rfind(mark, start + PASSAGE // 2, cut)
                    if at >= 0:
                        cut = at + len(mark)
                        break
            if not found or not text[start:cut].isspace():
                found.append((start, cut - start))
            start = cut
    return found


def place(conversation: int | None, workspace: str | None) -> str:
    """What of a scope says where something stands; it goes behind what follows from the thing itself."""
    scope = "" if conversation is None else " " + conversation_token(conversation)
    return scope if workspace is None else f"{scope} {workspace_token(workspace)}"


def entry(id: int, conversation: int | None, workspace: str | None, found: Terms) -> Row:
    """(id, terms, scope) as they are indexed, and the passages of a long text."""
    return id, found[0], found[1] + place(conversation, workspace), *found[2:]


def memory_terms(kind: str, content: str, tags: str | None) -> tuple[str, str]:
    return " ".join(terms(f"{content[:WHOLE]} {(tags or '')[:SMALL]}")), f"m {kind_token(kind)}"


def title_entry(user: int, conversation: int, workspace: str | None, title: str) -> Row:
    return entry(conversation, conversation, workspace, (" ".join(terms(title)), f"title {user_token(user)}"))


def is_outside(path: str | None, workspace: str | None) -> bool:
    """Whether a path leads out of the workspace, by its name alone: the file may be gone by now. What is not named by
    a folder (a workspace may be just a word) has no outside."""
    if not path or not workspace:
        return False
    windows = "\\" in workspace or workspace[1:2] == ":"
    if windows:
        path, workspace = path.replace("\\", "/").lower(), workspace.replace("\\", "/").lower()
    elif workspace[0] != "/":
        return False
    if path[0] == "~":
        return True  # somebody's home
    if path[0] != "/" and not (windows and path[1:2] == ":"):
        path = f"{workspace}/{path}"
    root, parts = _parts(workspace), _parts(path)
    return parts[: len(root)] != root


def _parts(path: str) -> list[str]:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def add(tx: Tx, entries: Sequence[Row]) -> None:
    """Put entries into the index, by ascending id (FTS5 flushes when rowids go backwards). Passages get their ids here."""
    if any(len(e) > 3 for e in entries):
        entries = sorted(e for one in entries for e in (_cut(tx, one) if len(one) > 3 else (one,)))
    tx.index_words("words", entries)


def _cut(tx: Tx, long: Row) -> list[Row]:
    """The entries of a long event, one a passage."""
    event, _, scope, parts = long
    numbers = (event, *tx.ticks(len(parts) - 1)) if len(parts) > 1 else (event,)
    tx.many(
        "insert into passages (id, user_no, event_id, start, length) values (:id, :user_no, :event_id, :start, :length)",
        [(id, tx.user, event, start, length) for id, (start, length, _) in zip(numbers, parts, strict=True)],
    )
    return [(id, found, scope) for id, (_, _, found) in zip(numbers, parts, strict=True)]


def spans(tx: Tx, events: Sequence[int]) -> dict[int, list[tuple[int, int, int]]]:
    """(id, start, length) of the passages of each of these events that is indexed by passage."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    if events:
        for event, *span in tx.all(
            f"select event_id, id, start, length from passages where user_no = :user and event_id{tx.among} order by id",
            ids=tx.some(events),
        ):
            found.setdefault(event, []).append((span[0], span[1], span[2]))
    return found


def remove(tx: Tx, entries: Sequence[Row]) -> None:
    """Take entries out again, with their vectors and passages. They must be the ones that went in; what is not there stays so.
    The counts of terms go too, since they may name a word that is said nowhere any more; a search makes them anew."""
    if not entries:
        return
    tx.unindex_words("words", entries)
    tx.run("delete from statistics where user_no = :user")
    tx.run(f"delete from passages where user_no = :user and id{tx.among}", ids=tx.some([e[0] for e in entries]))
    for id, _, _ in entries:
        tx.run("delete from vectors where user_no = :user and id = :id", id=id)


def embed_again(tx: Tx, id: int) -> None:
    """What has this id says something else now: the job goes on from before it."""
    tx.run("update embeddings set upto = :before where user_no = :user and upto > :before", before=id - 1)


def retitle(tx: Tx, conversation: int, workspace: str | None, before: str | None, after: str | None) -> None:
    if before == after:
        return
    if before is not None:
        tx.unindex_words("title_words", [title_entry(tx.user, conversation, workspace, before)])
    if after is not None:
        tx.index_words("title_words", [title_entry(tx.user, conversation, workspace, after)])
