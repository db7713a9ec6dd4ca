"""What of an event or a memory can be found by words, kept in step with its row.

The terms are made by our own tokenizer, so that both databases index the same ones. On SQLite the index is an FTS5
table that holds no content: to take a row out, the very terms that went in must be said again, which is why everything
here is a function of the stored row. Scope is a handful of tokens beside the terms: they narrow a search inside the
index; equality is checked again on the rows.
"""

from __future__ import annotations

from zlib import crc32

from .tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..db import Row, Tx

CAP = 20_000  # characters of a text that are indexed: the whole is stored
UNINDEXED = ("reasoning", "summary")  # thoughts are no evidence, and a summary says again what was said


def conversation_token(no: int) -> str:
    return f"c{no}"


def workspace_token(workspace: str) -> str:
    return f"w{crc32(workspace.encode()):08x}"


def kind_token(kind: str) -> str:
    return f"k{kind}"


def tool_token(tool: str) -> str:
    return f"t{crc32(tool.encode()):08x}"


def event_terms(columns: Sequence[Any]) -> tuple[str, str] | None:
    """(terms, scope) of an event as far as they follow from itself; None if it is not to be found. `columns` are those of
    the table from `kind` on. Computed in the caller's thread: it takes 10 us for a turn."""
    kind, text, name, tool, path, tags = columns[0], columns[2], columns[3], columns[4], columns[5], columns[10]
    if kind in UNINDEXED:
        return None
    scope = "e " + kind_token(kind)
    if tool is not None:
        scope += " " + tool_token(tool)
    body = text[:CAP]
    if name or tool or path or tags:
        body = " ".join((body, name or "", tool or "", path or "", tags or ""))
    return " ".join(terms(body)), scope


def entry(id: int, conversation: int | None, workspace: str | None, found: tuple[str, str]) -> Row:
    """(id, terms, scope) as they are indexed."""
    scope = found[1]
    if conversation is not None:
        scope += " " + conversation_token(conversation)
    if workspace is not None:
        scope += " " + workspace_token(workspace)
    return id, found[0], scope


def memory_terms(kind: str, content: str, tags: str | None) -> tuple[str, str]:
    return " ".join(terms(f"{content[:CAP]} {tags or ''}")), f"m {kind_token(kind)}"


def title_entry(conversation: int, workspace: str | None, title: str) -> Row:
    return entry(conversation, conversation, workspace, (" ".join(terms(title)), "title"))


def add(tx: Tx, entries: Sequence[Row]) -> None:
    """Put entries into the index, by ascending id (FTS5 flushes when rowids go backwards)."""
    tx.index_words("words", entries)


def remove(tx: Tx, entries: Sequence[Row]) -> None:
    """Take entries out again, and the vectors with them. They must be the ones that went in; what is not there stays so."""
    tx.unindex_words("words", entries)
    for id, _, _ in entries:
        tx.run("delete from vectors where user_no = :user and id = :id", id=id)


def retitle(tx: Tx, conversation: int, workspace: str | None, before: str | None, after: str | None) -> None:
    if before == after:
        return
    if before is not None:
        tx.unindex_words("title_words", [title_entry(conversation, workspace, before)])
    if after is not None:
        tx.index_words("title_words", [title_entry(conversation, workspace, after)])
