"""Graphs: where they can travel back to."""

from typing import Annotated

import typer

from . import output
from .branches import PANEL
from .session import BranchName, ConversationId, Session, command


@command("checkpoints", panel=PANEL)
def checkpoints(
    s: Session,
    conversation: ConversationId,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
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
