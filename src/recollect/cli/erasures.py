"""Erasing for good, and the receipts of it: the plan is shown first, then asked for, then carried out and checked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidInput, NotFound
from . import output
from .conversations import PANEL, called, exact
from .doctor import DAMAGED
from .session import Session, Yes, command, complete_conversation, confirm

if TYPE_CHECKING:
    from ..model import Receipt

NOUNS = {
    "conversations": ("conversation", ""), "events": ("event", ""), "memories": ("memory", "memories"),
    "items": ("item of a graph", "items of graphs"), "checkpoints": ("checkpoint", ""), "pins": ("pin", ""),
}  # fmt: skip
"""What a person knows of. The other tables hold what was made of it: `--json` counts those too."""
REQUESTS = {"source": "an event", "user": "all that a user had"}


@command("erase", panel=PANEL)
def erase(
    s: Session,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION", help="Its id, or an unambiguous beginning of it.", autocompletion=complete_conversation,
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
            _show(plan)
        return
    if not yes and output.is_interactive():
        _show(plan, err=True)
    confirm(f"Erase {what}, {_summary(plan.counts) or 'nothing else'}, for good?", yes)
    receipt = s.store.erase(**given)
    if s.json:
        output.emit(receipt)
        return
    output.line(f"Erased {what}.")
    _show(receipt)


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
        exact(event.partition(":")[0])
        try:
            event = s.event(event, deleted=True)
        except NotFound:
            pass  # it may be another program's, and memories came from it
        return {"source": event}, f"the event {event}"
    if workspace is not None:
        return {"workspace": workspace}, f"everything of the workspace {workspace}"
    return {"user": s.store.user}, f"everything of {s.store.user}"


def _summary(counts: Mapping[str, int]) -> str:
    return ", ".join(output.count(n, *nouns) for what, nouns in NOUNS.items() if (n := counts.get(what, 0)))


def _show(receipt: "Receipt", *, err: bool = False, checked: str = "checked") -> None:
    gone = _summary(receipt.counts)
    rows = [("gone" if receipt.applied else "would go", f"{gone}, and all that was made of it" if gone else "nothing")]
    stays = _summary(receipt.changed)
    if stays:
        rows.append(("stays" if receipt.applied else "would stay", f"{stays}: said elsewhere as well"))
    if receipt.applied:
        rows.append((checked, "nothing is left" if receipt.ok else _left(receipt)))
        rows.append(("receipt", receipt.id))
    if receipt.backups:
        rows.append(("still in", ", ".join(receipt.backups) + " (backups are yours to delete)"))
    output.show(output.facts(rows), out=output.console(err=True) if err else None)


def _left(receipt: "Receipt") -> str:
    if receipt.finished_at is None:
        return "not finished: the next opening goes on with it"
    return "STILL THERE, by table: " + ", ".join(f"{what} {n:,}" for what, n in receipt.checks.items() if n)


@command("receipts", panel=PANEL)
def receipts(
    s: Session,
    verify: Annotated[
        str | None, typer.Argument(metavar="verify", help="`verify` runs the checks again.", show_default=False)
    ] = None,
    receipt: Annotated[str | None, typer.Argument(metavar="RECEIPT", help="Only this one.", show_default=False)] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", "-c", metavar="ID", help="Of the conversation that had this id.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 50,
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
        output.line("Nothing was erased." if verify is None else "Nothing was erased, so there is nothing to verify.")
    else:
        for i, r in enumerate(found):
            asked = ", ".join(REQUESTS.get(kind, f"a {kind}") for kind in r.request)
            output.line(f"{chr(10) if i else ''}{output.when(r.erased_at)}  {asked}, asked for by {r.who}")
            _show(r, checked="checked" if verify is None else "verified")
        if verify is not None:
            output.line("")
            _verdict(found)
    if verify is not None and not all(r.ok for r in found):
        raise typer.Exit(DAMAGED)


def _verdict(found: Sequence["Receipt"]) -> None:
    looked = f"Verified {output.count(len(found), 'receipt')} now"
    if bad := sum(not r.ok for r in found):
        output.line(f"{looked}: {bad:,} of them {'does' if bad == 1 else 'do'} not hold, see above.", style="red")
        return
    memories = sum("memory" in r.request for r in found)
    where = "the memories, the index or the embeddings"
    if memories < len(found):
        where = "the log, the memories, the state of graphs, the index or the embeddings"
    stays = " What was said stays in the log where only a memory of it was erased." if memories else ""
    output.line(f"{looked}: nothing of what was erased is in {where}.{stays}", style="green")
