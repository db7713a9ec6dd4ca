"""The command line: a command for every verb of `Store`, one file a noun.

`session` finds the store and gives commands what they share, `output` says things to people and programs. Importing
this package registers the commands; what is heavy (tables, drivers) is imported by the command that needs it.
"""

from . import starting

starting.begin_quietly()  # before all that takes time

import shutil  # noqa: E402
import sys  # noqa: E402
from typing import Annotated  # noqa: E402

import typer  # noqa: E402

from . import (  # noqa: E402, F401 - some only register
    application,
    backups,
    bench,
    branches,
    chat,
    conversations,
    demo,
    doctor,
    erasures,
    events,
    graphs,
    hooks,
    keys,
    mcp,
    memories,
    output,
    redaction,
    search,
    serve,
    store,
    telemetry,
    transfer,
    watch,
)
from .session import Database, DataDir, Json, Session, User, app, guarded  # noqa: E402

__all__ = ["app", "main"]

ROOM = 70
"""Columns that help in frames needs: in fewer it cuts off names of options."""
_PANELS = [noun.PANEL for noun in (conversations, events, search, branches, store, doctor)]
app.registered_commands.sort(key=lambda c: _PANELS.index(str(c.rich_help_panel)))


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        output.line(f"recollect {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def recollect(
    ctx: typer.Context,
    json: Json = False,
    database: Database = None,
    user: User = None,
    data_dir: DataDir = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if ctx.invoked_subcommand is None:
        s = Session(database, user, data_dir, json)
        guarded(s, lambda: store.overview(s))


def main() -> None:
    """What `recollect` and `python -m recollect` start."""
    output.prepare_streams()
    if shutil.get_terminal_size().columns < ROOM:
        app.rich_markup_mode = None
    try:
        try:
            app(prog_name="recollect")
        except SystemExit as e:
            if isinstance(e.__context__, BrokenPipeError):  # while help was written: click and rich make 1 of it
                raise e.__context__ from None
            sys.stdout.flush()
            raise
    except BrokenPipeError:
        output.end_unread()
        sys.exit(output.UNREAD)
