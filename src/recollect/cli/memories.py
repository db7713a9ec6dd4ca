"""Memories: remember, recall, forget."""

from typing import Annotated

import typer

from .. import memories
from ..errors import InvalidInput, NotFound
from ..model import MEMORY_KINDS, Memory
from . import output
from .search import PANEL, Explain, Limit, Question, Since, nothing, question_of, show_hits, split
from .session import SHORTEST_PREFIX, Session, Yes, command, complete_conversation, confirm
from .store import since_when


def complete_memory_kind(incomplete: str) -> list[str]:
    return [k for k in MEMORY_KINDS if k.startswith(incomplete)]


@command("remember", panel=PANEL, creates=True)
def remember(
    s: Session,
    content: Annotated[list[str], typer.Argument(metavar="STATEMENT", help="One short statement; - reads it from standard input.", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", "-k", help=f"One of {', '.join(MEMORY_KINDS)}.", autocompletion=complete_memory_kind)] = "fact",
    importance: Annotated[float, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = 0.5,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="CONVERSATION", help="Limit it to this conversation.", autocompletion=complete_conversation),
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Limit it to this workspace.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="EVENT", help="The id of the event it came from.")] = None,
) -> None:  # fmt: skip
    """Keep a statement beyond its conversation. The same statement again is the same memory."""
    made = s.store.remember(
        question_of(content), kind=kind, importance=importance, tags=tag or (),
        conversation=None if conversation is None else s.find(conversation).id, workspace=workspace, source=source,
    )  # fmt: skip
    if s.settings.background:
        s.store.settle()  # this process ends before the background begins: have it found by meaning from now on
    if s.json:
        output.emit(made)
        return
    again = made.updated_at > made.created_at
    output.line(f"{'Known already' if again else 'Remembered'}: {made.id}")


@command("recall", panel=PANEL)
def recall(
    s: Session,
    question: Question,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", help="Only these kinds: with commas, or repeated.", autocompletion=complete_memory_kind),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; repeated: with all of them.")] = None,
    min_importance: Annotated[float | None, typer.Option("--min-importance", "-i", min=0, max=1, help="Only what is at least as important.")] = None,
    since: Since = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="CONVERSATION", help="Also what is limited to this conversation.", autocompletion=complete_conversation),
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Of what is limited to a workspace, only this one's.")] = None,
    limit: Limit = 10,
    explain: Explain = False,
) -> None:  # fmt: skip
    """Find the memories that answer a question, best first."""
    asked = question_of(question)
    hits = s.store.recall(
        asked, kinds=split(kinds, MEMORY_KINDS), tags=split(tag), min_importance=min_importance,
        since=since_when(since), conversation=None if conversation is None else s.find(conversation).id,
        workspace=workspace, limit=limit,
    )  # fmt: skip
    if s.json:
        output.emit(hits)
    elif hits:
        show_hits(s, asked, hits, explain=explain)
    else:
        narrowed = any((kinds, tag, min_importance, since, workspace))
        nothing(s, asked, "recall", narrowed=narrowed)


@command("forget", panel=PANEL)
def forget(
    s: Session,
    memory: Annotated[str, typer.Argument(metavar="MEMORY", help="Its id, or an unambiguous beginning of it.", show_default=False)],
    yes: Yes = False,
) -> None:  # fmt: skip
    """Remove a memory for good."""
    found = _find(s, memory)
    confirm(f"Forget “{output.one_line(found.content, 60)}” ({found.kind}) for good?", yes)
    s.store.forget(found.id)
    if s.json:
        output.emit({"id": found.id, "forgotten": True})
        return
    output.line(f"Forgotten: {output.one_line(found.content, 60)}")


def _find(s: Session, ref: str) -> Memory:
    found = s.store._read(lambda tx: memories.beginning(tx, ref))
    if not found or (len(ref) < SHORTEST_PREFIX and found[0].id != ref):
        short = f"; the beginning of an id needs {SHORTEST_PREFIX} characters or more" if found else ""
        raise NotFound(f"There is no memory {ref!r}{short}. `{s.command('recall', '...')}` finds them with their ids.")
    if len(found) > 1:
        listed = "; ".join(f"{m.id} ({output.one_line(m.content, 40)})" for m in found[:8])
        raise InvalidInput(f"{ref!r} could be any of {listed}. Give more of the id.")
    return found[0]
