"""The sidecar: serve the store over HTTP to the other programs of this machine; and what happened in it, as a list."""

import time
from pathlib import Path
from typing import Annotated

import typer

from ..config import Settings, data_dir
from ..errors import InvalidInput, Refused
from ..model import Change
from . import output
from .session import Session, command, where_shown
from .store import PANEL

POLL_SECONDS = 0.25


@command("serve", panel=PANEL, creates=True)
def serve(
    s: Session,
    host: Annotated[str, typer.Option("--host", help="127.0.0.1 or ::1; other machines cannot be served.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option("--port", "-p", min=0, max=65535, show_default="7433", help="0 takes any that is free.")] = None,
    uds: Annotated[Path | None, typer.Option("--uds", metavar="PATH", help="A UNIX socket instead, which only you can open.")] = None,
    workspace: Annotated[
        str | None, typer.Option("--workspace", "-w", metavar="PATH", help="Serve this workspace alone: nothing of another is in reach.")
    ] = None,
    keep_token: Annotated[bool, typer.Option("--keep-token", help="Keep the token of the last start. It may have gone to a program that took the address in between.")] = False,
    beside: Annotated[bool, typer.Option("--beside", hidden=True, help="Beside the application, which has said the rest.")] = False,
) -> None:  # fmt: skip
    """Serve the memory over HTTP, for agents in any language on this machine.

    Listens on loopback or a UNIX socket only. Every request needs the token, which is another at every start and is in a
    file that only you can read; the first lines say where. It is never shown, logged or taken from a URL. Recollect's own
    hooks and Python client need no token. Ends with Ctrl-C or SIGTERM.

    The routes are described at /openapi.json and in the docs: Use it from any language."""
    try:
        from ..server import listen, place, run
    except ImportError as e:
        raise Refused(
            f"The sidecar needs the extra `server`: pip install '.[server]' in Recollect's own folder ({e.name})."
        ) from None
    if uds is not None and port is not None:
        raise InvalidInput("Say --port or --uds, not both.")
    try:
        listening = listen.listen(host, run.PORT if port is None else port, None if uds is None else str(uds))
    except Refused:
        if not beside:
            raise
        raise Refused(
            f"The application goes on, but other programs do not reach it: port {run.PORT} is taken, perhaps by another of "
            f"these. For one on a free port: {_by_name(s).command('serve', '--port', '0')}"
        ) from None
    try:
        # Not before the place is ours: a sidecar that runs there already goes on with the token that it has.
        token_file = place.token_file(s.settings, listening.url, listening.uds)
        token = place.make_token(s.settings, token_file, keep=keep_token)
        listen.tidy(data_dir(s.settings))
        listening.add_own(place.folder(s.settings))
        run.serve(
            s.store, s.settings, listening=listening, token=token, token_file=token_file, workspace=workspace,
            ready=lambda: _told(s, listening.url, listening.uds, token_file, workspace, beside),
        )  # fmt: skip
        if not keep_token:
            place.forget_token(token_file, token)
    finally:
        listening.close()


def _by_name(s: Session) -> Session:
    """The same, said on a command line: beside the application it stands in variables, which another terminal has not."""
    user = s.settings.user if s.settings.user != Settings().user else None
    if isinstance(s.where, Path):
        if s.settings.data_dir is not None and s.where == Path(data_dir(s.settings), "chat.db"):
            return Session(None, user, s.where.parent)
        return Session(str(s.where), user, None)
    return Session(None if s.where is None else where_shown(s.where), user, None)


def _told(s: Session, url: str, uds: str | None, token_file: str, workspace: str | None, beside: bool) -> None:
    if s.json:
        output.emit({
            "url": url, "uds": uds, "token_file": token_file, "store": s.location, "user": s.store.user,
            "workspace": workspace,
        })  # fmt: skip
    elif beside:
        output.line(f"Other programs reach it at {url} (token in {token_file})")
    else:
        output.line(f"Listening on {uds or url}")
        output.line(f"Token:       in {token_file} (send it as `Authorization: Bearer ...`)")
        output.line(f"Store:       {s.location}, user {s.store.user}")
        if workspace is not None:
            output.line(f"Workspace:   {workspace} alone")
        output.hint("Ctrl-C ends it.")


@command("changes", panel=PANEL)
def changes(
    s: Session,
    after: Annotated[int | None, typer.Option("--after", min=0, metavar="ID", help="From behind this id. Unsaid: from the beginning, or with --follow from now on.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", "-c", metavar="ID", help="Only of this one.")] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Only what is seen from this workspace.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more, until Ctrl-C; whichever program writes.")] = False,
) -> None:  # fmt: skip
    """List what happened in the whole store: events and changes of memories, in one order."""
    if follow and s.json:
        raise InvalidInput("--json is one document, and --follow never ends. Choose one of them.")
    if follow and after is None:
        after = s.store.changes().cursor
    at, shown = after or 0, 0
    try:
        while True:
            page = s.store.changes(after=at, conversation=conversation, workspace=workspace, limit=limit)
            if s.json:
                output.emit(page)
                return
            for change in page.items:
                output.line(_line(change))
            at, shown = page.cursor, shown + len(page.items)
            if not follow:
                break
            if len(page.items) < limit:
                time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        if not follow:
            raise
        return
    if not shown:
        output.line("Nothing happened there.")


def _line(change: Change) -> str:
    when = output.when(change.at)
    if change.event is not None:
        e = change.event
        return (
            f"{change.id}  {when}  {e.id}  {e.role or e.kind}: {output.one_line(e.text or e.tool or e.name or '', 80)}"
        )
    assert change.memory is not None
    return f"{change.id}  {when}  memory {change.action}: {output.one_line(change.memory.content, 80)}"
