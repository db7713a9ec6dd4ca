"""Events: append, record, replay, history; ledger, reasoning, summaries; delete one."""

import json
import time
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..errors import InvalidInput, NotFound
from ..model import KINDS, ROLES, Entry, Event, Reasoning
from . import output
from .conversations import called, exact, json_object
from .interrupts import Interrupts
from .session import BranchName, ConversationId, ExactConversationId, Session, Yes, command, confirm, read_stdin

PANEL = "Events"
PAGE = 500
POLL_SECONDS = 0.5
STDIN = "-"


def _kinds(values: list[str] | None) -> list[str] | None:
    """Kinds as people give them: several options, or one with commas."""
    kinds = [k.strip() for v in values or [] for k in v.split(",") if k.strip()]
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        raise InvalidInput(f"There is no kind {unknown[0]!r}. The kinds are: {', '.join(KINDS)}.")
    return kinds or None


def complete_kind(incomplete: str) -> list[str]:
    return [k for k in KINDS if k.startswith(incomplete)]


def complete_role(incomplete: str) -> list[str]:
    return [r for r in ROLES if r.startswith(incomplete)]


@command("append", panel=PANEL)
def append(
    s: Session,
    conversation: ConversationId,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What it says; - reads it from standard input.", show_default=False)] = None,
    kind: Annotated[str, typer.Option("--kind", "-k", help=f"One of {', '.join(KINDS)}.", autocompletion=complete_kind)] = "message",
    role: Annotated[
        str | None, typer.Option("--role", help=f"Of a message: {', '.join(ROLES)}. Unsaid: user.", autocompletion=complete_role)
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Of kind event: its type, as in workflow.start.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="The tool that was used.")] = None,
    path: Annotated[str | None, typer.Option("--path", help="The file it is about.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="The agent it comes from.")] = None,
    status: Annotated[str | None, typer.Option("--status", help="Of an approval or a task.")] = None,
    task_id: Annotated[str | None, typer.Option("--task-id", help="Of kind ledger: the task.")] = None,
    goal: Annotated[str | None, typer.Option("--goal", help="Of kind ledger: what the task is to achieve.")] = None,
    message: Annotated[int | None, typer.Option("--message", min=0, metavar="N", help="Of kind reasoning: the number of its message.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")] = None,
    payload: Annotated[str | None, typer.Option("--payload", metavar="JSON", help="A JSON object to keep with it.")] = None,
    diff: Annotated[str | None, typer.Option("--diff", help="Of an artifact: what changed.")] = None,
    reasoning: Annotated[str | None, typer.Option("--reasoning", help="Of a message: the reasoning that led to it.")] = None,
    effort: Annotated[str | None, typer.Option("--effort", help="Of the reasoning: how hard the model was asked to think.")] = None,
    verbosity: Annotated[str | None, typer.Option("--verbosity", help="Of the reasoning: how much the model was asked to say.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="The model that wrote it.")] = None,
    input_tokens: Annotated[int | None, typer.Option("--input-tokens", min=0, help="Tokens that went into it.")] = None,
    output_tokens: Annotated[int | None, typer.Option("--output-tokens", min=0, help="Tokens that came out.")] = None,
    cost: Annotated[float | None, typer.Option("--cost", min=0, help="What it cost.")] = None,
    duration_ms: Annotated[int | None, typer.Option("--duration-ms", min=0, help="How long it took.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key: the same again appends nothing and shows the first event.")] = None,
    created_at: Annotated[int | None, typer.Option("--created-at", min=0, metavar="MS", help="When it happened, for history that is brought in.")] = None,
    entries: Annotated[
        str | None,
        typer.Option("--entries", metavar="FILE", help="Append many in one transaction: a JSON list or JSON lines of entries; - is standard input."),
    ] = None,
    branch: BranchName = None,
) -> None:  # fmt: skip
    """Append an event; durable when this returns."""
    c = s.find(conversation)
    if entries is not None:
        if text is not None:
            raise InvalidInput("Give a text or --entries, not both.")
        items = _documents(read_stdin() if entries == STDIN else read_file(entries), "--entries")
        _tell(s, s.store.append_many(c.id, [cast(Entry, item) for item in items], branch=branch), many=True)
        return
    if text == STDIN:
        text = read_stdin()
    says_nothing = text is None or not (text.strip() or payload or reasoning)  # a message may be its calls alone
    if says_nothing and kind == "message":
        raise InvalidInput("What should the message say? Give the text, or - to read it from standard input.")
    trace: str | Reasoning | None = reasoning
    own = {}
    if kind == "reasoning":
        own = {"effort": effort, "verbosity": verbosity}
    elif effort is not None or verbosity is not None:
        if reasoning is None:
            raise InvalidInput("--effort and --verbosity belong to --reasoning, or to --kind reasoning.")
        trace = Reasoning(reasoning, effort=effort, verbosity=verbosity, model=model)
    given: dict[str, Any] = {
        "kind": kind, "role": role or ("user" if kind == "message" else None), "text": text or "", "name": name,
        "tool": tool, "path": path, "agent": agent, "status": status, "task_id": task_id, "goal": goal,
        "message": message, "tags": tag or [], "payload": json_object(payload, "--payload"), "diff": diff,
        "reasoning": trace, "model": model, "input_tokens": input_tokens, "output_tokens": output_tokens, "cost": cost,
        "duration_ms": duration_ms, "key": key, "created_at": created_at, **own,
    }  # fmt: skip
    _tell(s, [s.store.append(c.id, branch=branch, **cast(Entry, given))])


def read_file(name: str) -> str:
    try:
        return Path(name).read_text("utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"There is no file {name}.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{name} is a folder; give a file.") from None
    except UnicodeDecodeError as e:
        raise InvalidInput(f"{name} is not UTF-8 (byte {e.start}).") from None


def _documents(text: str, what: str) -> list[dict[str, Any]]:
    """One JSON object, a list of them, or one a line."""
    try:
        value = json.loads(text)
        items = value if isinstance(value, list) else [value]
    except ValueError as whole:
        try:
            items = [json.loads(line) for line in text.split("\n") if line.strip()]
        except ValueError:
            raise InvalidInput(f"{what} is neither JSON nor JSON lines: {whole}.") from None
    if not items:
        raise InvalidInput(f"{what} is empty.")
    for item in items:
        if not isinstance(item, dict):
            raise InvalidInput(f"{what} must hold JSON objects, not {type(item).__name__}.")
    return items


def _tell(s: Session, events: list[Event], *, many: bool = False) -> None:
    """What was appended, or that nothing was."""
    if s.json:
        output.emit(events if many else events[0])
        return
    stored = [e for e in events if e.stored]
    if len(stored) == 1:
        output.line(f"#{stored[0].seq}" + (f" on {stored[0].branch}" if stored[0].branch != "main" else ""))
    elif stored:
        output.line(f"#{stored[0].seq} to #{stored[-1].seq}: {output.count(len(stored), 'event')}")
    for kind in dict.fromkeys(e.kind for e in events if not e.stored):
        output.warn(f"kind {kind} is switched off in the settings: nothing was written (`recollect settings`).")


@command("record", panel=PANEL)
def record(
    s: Session,
    conversation: ConversationId,
    event: Annotated[
        str, typer.Argument(metavar="JSON", help="The event as JSON, with a `type`; - (or nothing) reads one or several from standard input.", show_default=False)
    ] = STDIN,
    branch: BranchName = None,
) -> None:  # fmt: skip
    """Append an event of another system, as JSON, under its own type."""
    c = s.find(conversation)
    if event == STDIN and output.is_interactive():
        output.hint("Reading a JSON event from the keyboard; end with Ctrl-D (Windows: Ctrl-Z, Enter).")
    items = _documents(read_stdin() if event == STDIN else event, "The event")
    recorded = [s.store.record_workflow_event(c.id, item, branch=branch) for item in items]
    _tell(s, recorded, many=len(recorded) > 1)


@command("replay", panel=PANEL)
def replay(
    s: Session,
    conversation: ConversationId,
    after: Annotated[int, typer.Option("--after", min=0, metavar="N", help="Only events behind this number.")] = 0,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kinds", "-k", help="Only these kinds: with commas, or repeated.", autocompletion=complete_kind),
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option("--names", help="Only workflow events of these names: with commas, or repeated.")
    ] = None,
    branch: Annotated[
        str | None, typer.Option("--branch", "-b", metavar="NAME", help="Which branch; * is every one. Unsaid: the active one.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="At most so many.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Do not cut long texts.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more and show it as it comes, until Ctrl-C. With --json: one line an event.")] = False,
) -> None:  # fmt: skip
    """Replay every event of a conversation in order."""
    with Interrupts() as ctrl_c:  # from the beginning: it may come, and be lost, while the store is being opened
        try:
            _replay(s, conversation, _kinds(kinds), names, after, branch, limit, full, follow, ctrl_c)
        except KeyboardInterrupt:
            if not follow:
                raise  # for a follower it is the only way to end it: not an error


def _replay(
    s: Session, conversation: str, wanted: list[str] | None, names: list[str] | None, after: int, branch: str | None,
    limit: int | None, full: bool, follow: bool, ctrl_c: Interrupts,
) -> None:  # fmt: skip
    c = s.find(conversation)
    called_so = [n.strip() for v in names or [] for n in v.split(",") if n.strip()] or None

    def read(after: int, most: int | None) -> list[Event]:
        return s.store.read(c.id, after=after, kinds=wanted, names=called_so, branch=branch, limit=most)

    if s.json and not follow:
        output.emit(read(after, limit))
        return
    out = output.console()
    shown = 0
    while not ctrl_c.came:
        most = PAGE if limit is None else min(PAGE, limit - shown)
        page = read(after, most) if most else []
        for e in page:
            if s.json:
                output.emit(e, lines=True)
                continue
            output.show(*output.event(e, full=full, branch=branch == "*"), out=out)
        shown += len(page)
        if page:
            after = page[-1].seq
        if limit is not None and shown >= limit:
            break
        if len(page) < most:
            if not follow:
                break
            time.sleep(POLL_SECONDS)
    if ctrl_c.came:
        raise KeyboardInterrupt
    if not shown and not s.json:
        output.line("Nothing to replay." if c.last_seq else "No events yet.")


@command("event", panel=PANEL)
def event(
    s: Session,
    conversation: ConversationId,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key it was appended with.", show_default=False)],
    branch: BranchName = None,
    full: Annotated[bool, typer.Option("--full", help="Do not cut long texts.")] = False,
) -> None:
    """Show the event that was appended with a key of your own, such as a message id."""
    found = s.store.get_event(s.find(conversation).id, key=key, branch=branch)
    if s.json:
        output.emit(found)
    else:
        output.show(*output.event(found, full=full))


@command("history", panel=PANEL)
def history(
    s: Session,
    conversation: ConversationId,
    max_messages: Annotated[int, typer.Option("--max", "-n", min=0, help="The newest so many messages.")] = 10,
    message: Annotated[
        str | None, typer.Option("--with", metavar="MESSAGE", help="Make a prompt of it: what was said before, then this message.")
    ] = None,
    branch: BranchName = None,
) -> None:  # fmt: skip
    """Print the newest messages as plain text, as an agent gets them."""
    c = s.find(conversation)
    if message is None:
        text = s.store.formatted_history(c.id, max_messages, branch=branch)
    else:
        text = s.store.with_history(c.id, message, max_messages, branch=branch)
    if s.json:
        output.emit({"text": text})
    elif text:
        output.line(output.clean(text))
    else:
        output.hint("No messages yet.")


@command("ledger", panel=PANEL)
def ledger(
    s: Session,
    conversation: ConversationId,
    at: Annotated[
        int | None, typer.Option("--at", min=0, metavar="N", help="As it stood at this event number.")
    ] = None,
    branch: BranchName = None,
) -> None:
    """Show the newest snapshot of each task."""
    c = s.find(conversation)
    found = s.store.ledger(c.id, at=at, branch=branch)
    if s.json:
        output.emit(found)
        return
    if not found:
        output.line(f"No tasks in the ledger of {called(c)}{f' at #{at}' if at is not None else ''}.")
        return
    colours = {"done": "green", "completed": "green", "failed": "red", "blocked": "red", "in_progress": "yellow"}
    output.show(output.table(
        "Task", "Goal", "Status", "Agent", "Event", "When",
        rows=[
            (e.task_id, e.goal, output.styled(e.status or "–", colours.get((e.status or "").lower(), "")), e.agent or "",
             f"#{e.seq}", output.when(e.created_at))
            for e in found
        ],
        right=["Event"], wide=["Goal"],
    ))  # fmt: skip


@command("reasoning", panel=PANEL)
def reasoning(
    s: Session,
    conversation: ConversationId,
    message: Annotated[int | None, typer.Option("--message", "-m", min=0, metavar="N", help="Only of the message with this number.")] = None,
    branch: BranchName = None,
) -> None:  # fmt: skip
    """Show reasoning traces, of a conversation or of one message."""
    c = s.find(conversation)
    found = s.store.reasoning(c.id, message=message, branch=branch)
    if s.json:
        output.emit(found)
        return
    if not found:
        output.line(f"No reasoning {f'for message #{message}' if message is not None else f'in {called(c)}'}.")
        if not s.settings.reasoning_traces:
            output.warn("reasoning traces are switched off in the settings (reasoning_traces).")
        return
    for e in found:
        output.show(*output.event(e))


@command("summarize", panel=PANEL)
def summarize(s: Session, conversation: ConversationId, branch: BranchName = None) -> None:
    """Summarize now all but the newest messages; the events stay."""
    c = s.find(conversation)
    summary = s.store.summarize(c.id, branch=branch)
    if s.json:
        output.emit(summary)
        return
    if summary is None:
        keep = s.settings.summary_keep_recent
        output.line(
            f"Nothing to summarize: the newest {output.count(keep, 'message')} always stay (summary_keep_recent)."
        )
        return
    output.show(*output.chat([summary]))


@command("delete-event", panel=PANEL)
def delete_event(
    s: Session,
    conversation: ExactConversationId,
    seq: Annotated[int, typer.Argument(metavar="N", min=1, help="The number of the event.", show_default=False)],
    yes: Yes = False,
) -> None:
    """Remove one event from the log for good; its number is never used again. What a graph's checkpoints hold of it stays:
    `recollect erase --event CONVERSATION:N` takes them too."""
    c = s.find(exact(conversation))
    there = s.store.read(c.id, after=seq - 1, branch="*", limit=1) if seq <= c.last_seq else []
    if not there or there[0].seq != seq:
        raise NotFound(f"Conversation {c.id!r} has no event {seq}: it was deleted before, or never written.")
    says = output.one_line(there[0].text or there[0].tool or there[0].name or "", 60)
    confirm(f"Remove event #{seq} ({there[0].kind}: {says}) of {called(c)} for good?", yes)
    s.store.delete_event(c.id, seq)
    if s.json:
        output.emit({"id": f"{c.id}:{seq}", "deleted": True})
        return
    output.line(f"Removed event #{seq}.")
