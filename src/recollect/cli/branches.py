"""Branches: fork, list, switch."""

from typing import Annotated

import typer

from . import output
from .conversations import called
from .session import BranchName, ConversationId, Session, command

PANEL = "Branches"


@command("fork", panel=PANEL)
def fork(
    s: Session,
    conversation: ConversationId,
    at: Annotated[int | None, typer.Option("--at", min=0, metavar="N", help="Share history up to this event number; 0 is before the first. Unsaid: the newest.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="What to call the branch. Unsaid: branch-1, branch-2, ...")] = None,
    branch: BranchName = None,
    switch: Annotated[bool, typer.Option("--switch", "-s", help="Make it the active one.")] = False,
) -> None:  # fmt: skip
    """Start a branch that shares history up to an event. Nothing is copied; both histories stay."""
    c = s.find(conversation)
    b = s.store.fork(c.id, at, name=name, branch=branch, switch=switch)
    if s.json:
        output.emit(b)
        return
    output.line(
        f"Branch {output.clean(b.name)} of {called(c)} goes on from #{b.fork_seq} of {output.clean(b.parent or '')}."
    )
    if not switch:
        output.hint(f"Work on it: {s.command('switch', c.id, b.name)}")


@command("branches", panel=PANEL)
def branches(s: Session, conversation: ConversationId) -> None:
    """Draw the branches of a conversation as a tree."""
    c = s.find(conversation)
    found = s.store.branches(c.id)
    if s.json:
        output.emit(found)
        return
    output.show(output.branch_tree(found))
    if len(found) == 1 and c.last_seq:
        output.hint(f"No forks yet: {s.command('fork', c.id, '--at', str(max(1, c.last_seq // 2)))}")


@command("switch", panel=PANEL)
def switch(
    s: Session,
    conversation: ConversationId,
    branch: Annotated[str, typer.Argument(metavar="BRANCH", help="The name of the branch.", show_default=False)],
) -> None:
    """Make a branch the active one: what commands mean when they name none."""
    c = s.store.switch(s.find(conversation).id, branch)
    if s.json:
        output.emit(c)
        return
    output.line(f"{called(c)} is now on branch {output.clean(c.active_branch)}.")
