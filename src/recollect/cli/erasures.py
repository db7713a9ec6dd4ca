"""Erasing for good, and the receipts of it: the plan is shown first, then asked for, then carried out and checked."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidInput, NotFound
from . import output
from .conversations import PANEL, called, exact
from .doctor import DAMAGED
from .session import Session, Yes, command, complete_conversation, confirm

if TYPE_CHECKING:
    from ..model import Receipt

COLUMNS = {
    "conversations": "conversation", "events": "event", "memories": "memory", "items": "item", "checkpoints": "checkpoint",
}  # fmt: skip


@command("erase", panel=PANEL)
def erase(
    s: Session,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONVERSATION]", help="Its id, or an unambiguous beginning of it.", autocompletion=complete_conversation,
            show_default=False,
        ),
    ] = None,
    memory: Annotated[str | None, typer.Option("--memory", metavar="MEMORY", help="A memory, and what was derived from it.")] = None,
    event: Annotated[str | None, typer.Option("--event", metavar="EVENT", help="What one event said (conversation:number), and what came from it.")] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Everything of a workspace.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Everything of this user.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")] = False,
    yes: Yes = False,
) -> None:  # fmt: skip
    """Erase a conversation for good, in the bin or not; or a memory, an event, a workspace, all that a user has.

    Whatever came from it goes with it. A receipt stays: counts and hashes, and a check that can be run again.
    """
    given, what = _meant(s, conversation, memory, event, workspace, everything)
    plan = s.store.erase(**given, dry_run=True)
    if dry_run:
        if s.json:
            output.emit(plan)
        else:
            output.line(f"This would erase {what}:")
            _show(s, plan)
        return
    if not yes and output.is_interactive():
        _show(s, plan, err=True)
    confirm(f"Erase {what}, {_summary(plan)}, for good?", yes)
    receipt = s.store.erase(**given)
    if s.json:
        output.emit(receipt)
        return
    output.line(f"Erased {what}.")
    _show(s, receipt)


def _meant(
    s: Session, conversation: str | None, memory: str | None, event: str | None, workspace: str | None, everything: bool
) -> tuple[dict[str, Any], str]:
    """The one thing that is to go, as the verb takes it and as a person says it."""
    if sum(x is not None for x in (conversation, memory, event, workspace)) + everything != 1:
        raise InvalidInput("Say what to erase: a conversation, or one of --memory, --event, --workspace, --everything.")
    if conversation is not None:
        c = s.find(exact(conversation), deleted=True)
        return {"conversation": c.id}, called(c, with_id=True)
    if memory is not None:
        from .memories import _find

        found = _find(s, memory)
        return {"memory": found.id}, f"the memory “{output.one_line(found.content, 60)}”"
    if event is not None:
        return {"source": event}, f"the event {event}"
    if workspace is not None:
        return {"workspace": workspace}, f"everything of the workspace {workspace}"
    return {"user": s.store.user}, f"everything of {s.store.user}"


def _summary(plan: "Receipt") -> str:
    said = [
        output.count(n, noun, "memories" if noun == "memory" else "")
        for table, noun in COLUMNS.items()
        if (n := plan.counts.get(table, 0))
    ]
    return ", ".join(said) or "nothing else"


def _show(s: Session, receipt: "Receipt", *, err: bool = False) -> None:
    listed = ", ".join(f"{what} {n:,}" for what, n in receipt.counts.items() if n)
    rows = [("removed" if receipt.applied else "would go", listed or "nothing")]
    if receipt.changed:
        stays = ", ".join(f"{what} {n:,}" for what, n in receipt.changed.items())
        rows.append(("changed" if receipt.applied else "would change", f"{stays} (said elsewhere as well)"))
    if receipt.applied:
        rows.append(("checked", "nothing is left" if receipt.ok else _left(receipt)))
        rows.append(("receipt", receipt.id))
    if receipt.backups:
        rows.append(("still in", ", ".join(receipt.backups) + " (backups are yours to delete)"))
    output.show(output.facts(rows), out=output.console(err=True) if err else None)


def _left(receipt: "Receipt") -> str:
    if receipt.finished_at is None:
        return "not finished: the next opening goes on with it"
    return "left over: " + ", ".join(f"{what} {n:,}" for what, n in receipt.checks.items() if n)


@command("receipts", panel=PANEL)
def receipts(
    s: Session,
    verify: Annotated[
        str | None, typer.Argument(metavar="[verify]", help="`verify` runs the checks again.", show_default=False)
    ] = None,
    receipt: Annotated[
        str | None, typer.Argument(metavar="[RECEIPT]", help="Only this one.", show_default=False)
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", "-c", metavar="ID", help="Of the conversation that had this id.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="At most so many.")] = 50,
) -> None:
    """List what was erased, or look once more that it is gone: `recollect receipts verify`."""
    if verify not in (None, "verify"):
        raise InvalidInput(f"{verify!r} is not known here: `receipts`, or `receipts verify`.")
    found = s.store.receipts(conversation=conversation, limit=limit)
    if receipt is not None:
        found = [r for r in found if r.id == receipt]
        if not found:
            raise NotFound(f"There is no receipt {receipt!r}. `{s.command('receipts')}` lists them.")
    if verify is not None:
        found = [s.store.verify_receipt(r) for r in found]
    if s.json:
        output.emit(found)
    elif not found:
        output.line("Nothing was erased.")
    else:
        for r in found:
            about = ", ".join(f"{kind} {hash[:12]}" for kind, hash in r.request.items())
            output.line(f"{output.when(r.erased_at)}  {about}  by {r.who}")
            _show(s, r)
    if verify is not None and not all(r.ok for r in found):
        raise typer.Exit(DAMAGED)
