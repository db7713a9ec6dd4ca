"""Graphs: where they can travel back to, and threads brought in from LangGraph's own database."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput, Refused
from . import output
from .branches import PANEL
from .session import BranchName, ConversationId, Session, command
from .store import PANEL as STORE

SOURCES = ("langgraph",)


@command("checkpoints", panel=PANEL)
def checkpoints(
    s: Session,
    conversation: ConversationId,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="At most so many.")] = 20,
    before: Annotated[str | None, typer.Option("--before", metavar="ID", help="Only those older than this checkpoint.", show_default=False)] = None,
    branch: BranchName = None,
) -> None:  # fmt: skip
    """List where a graph can travel back to, newest first."""
    c = s.find(conversation)
    found = s.store.checkpoints(c.id, limit=limit, before=before, branch=branch)
    if s.json:
        output.emit(found)
        return
    if not found:
        output.line("No graph keeps its state here: compile one with recollect.langgraph.Saver.")
        return
    output.show(output.table(
        "Checkpoint", "When", "Step", "After", "Branch", "Event", "Last message",
        rows=[
            [k.id, output.when(k.created_at), "" if k.step is None else str(k.step), output.clean(k.node or k.source or ""),
             output.clean(k.branch), f"#{k.seq}", output.clean(k.preview)]
            for k in found
        ],
        right=["Step", "Event"],
    ))  # fmt: skip
    if len(found) == limit:
        output.hint(f"Older ones: {s.command('checkpoints', c.id, '--before', found[-1].id)}")


def complete_source(incomplete: str) -> list[str]:
    return [source for source in SOURCES if source.startswith(incomplete)]


@command("import", panel=STORE, creates=True)
def import_(
    s: Session,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=f"What wrote it: {', '.join(SOURCES)}.", autocompletion=complete_source, show_default=False)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file. It is only read.", show_default=False)],
    module: Annotated[list[str] | None, typer.Option("--module", metavar="NAME", help="A module of yours that defines types which the state holds. May be said again.", show_default=False)] = None,
) -> None:  # fmt: skip
    """Bring threads of LangGraph's SqliteSaver into the store: checkpoints, lineage, and their messages into the log."""
    if source not in SOURCES:
        raise InvalidInput(f"There is nothing to import from {source!r}. There is: {', '.join(SOURCES)}.")
    for name in module or ():
        try:
            importlib.import_module(name)
        except ImportError as e:
            raise InvalidInput(f"--module {name}: {e}") from e
    try:
        from ..transfer.langgraph import import_langgraph
    except ModuleNotFoundError as e:
        raise Refused("This needs the extra `langgraph`: pip install 'recollect[langgraph]'") from e
    with output.progress("Importing", shown=not s.json) as bar:
        found = import_langgraph(s.store, file.expanduser(), progress=bar)
    if s.json:
        output.emit(found._asdict())
        return
    output.line(
        f"{output.count(found.threads, 'thread')} with {output.count(found.checkpoints, 'checkpoint')} and "
        f"{output.count(found.writes, 'write')} brought in"
        + (f"; {output.count(found.known, 'checkpoint')} were there already." if found.known else ".")
    )
