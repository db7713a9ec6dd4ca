"""What of an event or a memory can be found by words, kept in step with its row.

The terms are made by our own tokenizer, so that both databases index the same ones. On SQLite the index is an FTS5
table that holds no content: to take a row out, the very terms that went in must be said again, which is why everything
here is a function of the stored row. Scope is a handful of tokens beside the terms: they narrow a search inside the
index; equality is checked again on the rows.
"""

from __future__ import annotations

from zlib import crc32

from . import fence, times
from .tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..db import Row, Tx

CAP = 20_000  # characters of a text that are indexed: the whole is stored
SMALL = 2_000  # and of its name, tool, path and tags, each
UNINDEXED = ("reasoning", "summary")  # thoughts are no evidence, and a summary says again what was said


def is_silent(text: str, tool: str | None) -> bool:
    """Whether it is a call of our own tools, of which nothing is kept but that it was made."""
    return not text and fence.is_own_tool(tool)


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


def event_terms(
    kind: str,
    text: str,
    at: int,
    name: str | None = None,
    tool: str | None = None,
    path: str | None = None,
    tags: str | None = None,
) -> tuple[str, str] | None:
    """(terms, scope) of an event as far as they follow from itself; None if it is not to be found. Computed in the caller's
    thread: it takes 10 us for a turn.

    Days are terms too: the one on which it was said, and those it speaks of, so that "yesterday" is found by its date."""
    if kind in UNINDEXED or is_silent(text, tool):
        return None
    scope = "e " + kind_token(kind)
    if tool is not None:
        scope += " " + tool_token(tool)
    body = fence.without(text)[:CAP]
    if name or tool or path or tags:
        body = " ".join((body, *(value[:SMALL] for value in (name, tool, path, tags) if value)))
    found = terms(body)
    if times.mentions(body, found):
        found += times.tokens(times.dates(body[: times.READ], at))
    found.append(times.said(at))
    return " ".join(found), scope


def place(conversation: int | None, workspace: str | None) -> str:
    """What of a scope says where something stands; it goes behind what follows from the thing itself."""
    scope = "" if conversation is None else " " + conversation_token(conversation)
    return scope if workspace is None else f"{scope} {workspace_token(workspace)}"


def entry(id: int, conversation: int | None, workspace: str | None, found: tuple[str, str]) -> Row:
    """(id, terms, scope) as they are indexed."""
    return id, found[0], found[1] + place(conversation, workspace)


def memory_terms(kind: str, content: str, tags: str | None) -> tuple[str, str]:
    return " ".join(terms(f"{content[:CAP]} {(tags or '')[:SMALL]}")), f"m {kind_token(kind)}"


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
    """Put entries into the index, by ascending id (FTS5 flushes when rowids go backwards)."""
    tx.index_words("words", entries)


def remove(tx: Tx, entries: Sequence[Row]) -> None:
    """Take entries out again, and the vectors with them. They must be the ones that went in; what is not there stays so.
    The counts of terms go too, since they may name a word that is said nowhere any more; a search makes them anew."""
    if not entries:
        return
    tx.unindex_words("words", entries)
    tx.run("delete from statistics where user_no = :user")
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
