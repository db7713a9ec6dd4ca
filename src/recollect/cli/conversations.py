"""Conversations: list, start, show, rename, bin, restore, clear, erase."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import backup
from ..errors import InvalidInput, NotFound
from ..model import Conversation
from . import output
from .session import (
    DEMO,
    BranchName,
    ConversationId,
    ExactConversationId,
    Session,
    Yes,
    command,
    complete_conversation,
    confirm,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

PANEL = "Conversations"
WIDE_ENOUGH_FOR_IDS = 110
BACKUP_SUFFIXES = (".db", ".backup", ".aside")


def called(c: Conversation, *, with_id: bool = False) -> str:
    if not c.title:
        return f"the untitled conversation {c.id}"
    return f"“{output.one_line(c.title, 80)}”" + (f" ({c.id})" if with_id else "")


@command("conversations", panel=PANEL)
def conversations(
    s: Session,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Only those of this workspace.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20,
    cursor: Annotated[
        str | None, typer.Option("--cursor", metavar="CURSOR", help="Go on behind this one: the cursor of a listed conversation.")
    ] = None,
    deleted: Annotated[bool, typer.Option("--deleted", help="List the bin instead.")] = False,
) -> None:  # fmt: skip
    """List conversations, newest activity first; what was imported stands by its own dates."""
    found = _page(s, workspace, limit, cursor, deleted)
    if s.json:
        output.emit(found)
        return
    if not found:
        _nothing(s, workspace, cursor, deleted)
        return
    ids = s.ids(found, short=output.console().width < WIDE_ENOUGH_FOR_IDS)
    columns = ["Id", "Title", "Events", "Deleted" if deleted else "Last activity"]
    if any(c.workspace for c in found) and workspace is None:
        columns.insert(2, "Workspace")
    rows = []
    for id, c, events in zip(ids, found, s.store._held(found), strict=True):
        title = output.styled(c.title or "untitled", "" if c.title else "dim italic")
        row: list[str | Text] = [id, title, f"{events:,}", output.when(c.deleted_at if deleted else c.updated_at)]
        if "Workspace" in columns:
            row.insert(2, output.styled(c.workspace or "", "dim"))
        rows.append(row)
    output.show(output.table(*columns, rows=rows, right=["Events"], wide=("Title", "Workspace")))
    if limit and len(found) == limit and _page(s, workspace, 1, found[-1].cursor, deleted):
        words = ["--workspace", workspace] if workspace else []
        words += ["--deleted"] if deleted else []
        output.line("")
        output.line(
            f"More: {s.command('conversations', '--cursor', found[-1].cursor, '-n', str(limit), *words)}", style="dim"
        )


def _page(s: Session, workspace: str | None, limit: int, cursor: str | None, deleted: bool) -> list[Conversation]:
    if deleted:
        return s.store.conversations(workspace=workspace, limit=limit, cursor=cursor, deleted=True)
    return s.newest(workspace=workspace, limit=limit, cursor=cursor)


def _nothing(s: Session, workspace: str | None, cursor: str | None, deleted: bool) -> None:
    if cursor is not None:
        output.line("That was the last of them.")
    elif deleted:
        output.line("The bin is empty.")
    elif workspace is not None:
        output.line(
            f"No conversations in the workspace {output.clean(workspace)}. `{s.command('conversations')}` lists them all."
        )
    else:
        output.line(f"No conversations yet for {s.settings.user} in {s.location}.")
        s.hint_at_others()
        output.show(output.tries([
            (DEMO, "record a week of conversations to look around in, in a store of its own"),
            (s.command("new", "My first"), "start one, and print its id"),
        ]))  # fmt: skip


@command("new", panel=PANEL, creates=True)
def new(
    s: Session,
    title: Annotated[
        str | None, typer.Argument(metavar="TITLE", help="What to call it. Unsaid: its first message gives it a title.", show_default=False)
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="An id of your own. Unsaid: a new UUID.")] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="The workspace it belongs to.")] = None,
    workflow: Annotated[str | None, typer.Option("--workflow", help="The id of the workflow it belongs to.")] = None,
    metadata: Annotated[str | None, typer.Option("--metadata", metavar="JSON", help="A JSON object to keep with it.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also if a conversation of that id was erased.")] = False,
) -> None:  # fmt: skip
    """Start a conversation and print its id."""
    c = s.store.create(
        id, title=title, workspace=workspace, workflow_id=workflow, metadata=json_object(metadata, "--metadata"),
        again=again,
    )  # fmt: skip
    if s.json:
        output.emit(c)
        return
    output.line(c.id)
    if s.where is None:
        output.warn("persistence is off (the setting `enabled`): this conversation is gone already.")
    else:
        output.hint(f"Next: {s.command('append', c.id, 'Hello')}")


def json_object(text: str | None, what: str) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as e:
        raise InvalidInput(f"{what} is not JSON: {e}.") from None
    if not isinstance(value, dict):
        raise InvalidInput(f'{what} must be a JSON object, for example {{"a": 1}}.')
    return value


@command("show", panel=PANEL)
def show(
    s: Session,
    conversation: ConversationId,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="The newest so many messages.")] = 20,
    everything: Annotated[bool, typer.Option("--all", "-a", help="All messages, whatever --limit says.")] = False,
    branch: BranchName = None,
    reasoning: Annotated[bool, typer.Option("--reasoning", "-r", help="With the reasoning that led to them.")] = False,
) -> None:
    """Show the messages of a conversation like a chat."""
    c = s.find(conversation)
    # One more than is shown tells whether that is all; not where that many cannot be asked for.
    most = None if everything else limit + (0 < limit < 1 << 62)
    messages = s.store.messages(c.id, limit=most, include_reasoning=reasoning, branch=branch)
    is_cut = not everything and len(messages) > limit
    messages = messages[1:] if is_cut else messages
    if s.json:
        output.emit({"conversation": c, "messages": messages})
        return
    held = s.store._held([c])[0]
    output.show(header(c, held, branch), "")
    if not messages:
        gone = f"Its history was removed; its next event is #{c.last_seq + 1}."
        empty = "No messages yet." if held or not c.last_seq else gone
        output.line(empty if c.last_seq == 0 or limit else "None were asked for (--limit 0).")
        if c.last_seq == 0:
            output.hint(f"Next: {s.command('append', c.id, 'Hello')}")
        return
    if is_cut:
        whole = s.command("show", c.id, *(("--branch", branch) if branch else ()), "--all")
        newest = "message" if limit == 1 else f"{limit:,} messages"
        output.line(f"Only the newest {newest}. All of them: {whole}", style="dim")
        output.line("")
    output.show(*output.chat(messages, reasoning=reasoning))
    if held > len(messages):
        output.show(output.tries([(s.command("replay", c.id), "every event: tools, reasoning, artifacts")]))


def header(c: Conversation, events: int, branch: str | None = None) -> "RenderableType":
    from rich.console import Group

    title = output.styled(output.one_line(c.title) if c.title else "untitled", "bold")
    about = [output.count(events, "event")]
    if (branch or c.active_branch) != "main":
        about.append(f"branch {branch or c.active_branch}")
    if c.workspace:
        about.append(c.workspace)
    about.append(output.when(c.updated_at))
    return Group(title, output.styled(c.id, "dim"), output.styled(" · ".join(about), "dim"))


@command("rename", panel=PANEL)
def rename(
    s: Session, conversation: ConversationId, title: Annotated[str, typer.Argument(metavar="TITLE", help="Its new title.", show_default=False)]
) -> None:  # fmt: skip
    """Give a conversation another title."""
    before = s.find(conversation)
    c = s.store.rename(before.id, title)
    if s.json:
        output.emit(c)
        return
    output.line(f"{called(before)} is now {called(c)}.")


@command("annotate", panel=PANEL)
def annotate(
    s: Session,
    conversation: ConversationId,
    metadata: Annotated[str, typer.Argument(metavar="JSON", help="A JSON object: keys to set, or null to take one away.", show_default=False)],
) -> None:  # fmt: skip
    """Change a conversation's metadata: keys given are set, those given as null go. {"context": false} switches injection off."""
    c = s.store.annotate(s.find(conversation).id, json_object(metadata, "The metadata") or {})
    if s.json:
        output.emit(c)
        return
    output.line(f"{called(c)}: {output.as_json(c.metadata)}")


@command("delete", panel=PANEL)
def delete(s: Session, conversation: ConversationId) -> None:
    """Put a conversation in the bin; `restore` takes it out again."""
    c = s.find(conversation)
    s.store.delete(c.id)
    if s.json:
        output.emit({"id": c.id, "deleted": True})
        return
    output.line(f"Put {called(c)} in the bin.")
    output.line(f"Undo: {s.command('restore', c.id)}", style="dim")


def complete_restore(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """What is in the bin, and the backups beside the store."""
    found = complete_conversation(ctx, incomplete)
    try:
        where = Session(*(ctx.params.get(name) for name in ("database", "user", "data_dir"))).where  # type: ignore[arg-type]
        if isinstance(where, Path):
            listed = backup.found(where)
            found += [
                (str(b.path), f"{b.kind}, {output.age(b.made_at)}")
                for b in listed
                if str(b.path).startswith(incomplete)
            ]
    except Exception:
        pass  # a TAB is not a command
    return found


@command("restore", panel=PANEL)
def restore(
    s: Session,
    thing: Annotated[
        str,
        typer.Argument(
            metavar="CONVERSATION|BACKUP", autocompletion=complete_restore, show_default=False,
            help="A conversation: its id, or an unambiguous beginning of it. A backup: its file.",
        ),
    ],
    yes: Yes = False,
) -> None:  # fmt: skip
    """Take a conversation out of the bin; or, given a file, put that backup in the place of the store.

    A backup is read back first, and the present file is kept aside.
    """
    file = Path(thing).expanduser()
    if file.is_file():
        from .backups import put_back

        put_back(s, file, yes)
        return
    backups = f"`{s.command('backups')}` lists the backups there are."
    is_path = file.suffix in BACKUP_SUFFIXES or len(file.parts) > 1
    if is_path and not file.is_dir():
        raise NotFound(f"There is no file {thing}. {backups}")
    try:
        found = s.find(thing, deleted=True)
    except NotFound:
        if file.is_dir():
            raise InvalidInput(f"{thing} is a folder; name the file in it. {backups}") from None
        raise
    c = s.store.restore(found.id)
    if s.json:
        output.emit(c)
        return
    output.line(f"{called(c)} {'is not in the bin' if found.deleted_at is None else 'is back'}.")


@command("clear", panel=PANEL)
def clear(s: Session, conversation: ExactConversationId, yes: Yes = False) -> None:
    """Remove all history of a conversation, on every branch; the conversation and its counter stay."""
    c = s.find(exact(conversation))
    events = output.count(s.store._held([c])[0], "event")
    confirm(f"Remove all history of {called(c, with_id=True)}, {events}, for good?", yes)
    gone = s.store.clear(c.id)
    if s.json:
        output.emit({"id": c.id, "cleared": gone})
        return
    output.line(f"Removed {output.count(gone, 'event')} of {called(c)}. Its next event is #{c.last_seq + 1}.")


def exact(ref: str) -> str:
    """What goes for good is named: "the newest" may be another one by the time the answer is yes."""
    if ref == "@":
        raise InvalidInput("@ is not taken here, because another program may make a newer one. Give its id.")
    return ref
