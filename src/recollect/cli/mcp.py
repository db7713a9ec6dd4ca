"""`recollect mcp`: the store for a model that speaks MCP."""

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from .. import config
from ..errors import Refused
from . import output
from .interrupts import Interrupts
from .session import Session, command, where_shown
from .store import PANEL

PATHS = ("config", "data_dir", "database", "key_file")


@command("mcp", panel=PANEL, creates=True)
def mcp(
    s: Session,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", metavar="NAME", help="Only what belongs to this workspace; a folder that exists is resolved.", show_default=False)] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Over HTTP on this machine instead of stdin and stdout.")] = False,
    host: Annotated[str, typer.Option("--host", help="With --http: 127.0.0.1 or ::1.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="With --http; 0 is any that is free.")] = 7434,
    keep_token: Annotated[bool, typer.Option("--keep-token", help="With --http: keep the token of the last start, for an agent's settings. It may have gone to a program that took the port in between.")] = False,
) -> None:  # fmt: skip
    """Give an agent this memory over MCP: search, recall, remember, read. Speaks on stdin and stdout unless --http.

    With --json it only prints what to put into an agent's settings, with the store and user of this shell: it works for an agent
    that passes on no environment."""
    if workspace is not None and Path(workspace).is_dir():
        workspace = str(Path(workspace).resolve())
    if s.json:
        entry = {"command": _program(), "args": _arguments(s, workspace, read_only), "env": _environment(s)}
        output.emit({"mcpServers": {"memory": entry}})
        return
    try:
        from .. import mcp as door
    except ModuleNotFoundError as e:
        raise Refused("This needs the extra `mcp`: pip install '.[mcp]' in Recollect's own folder") from e
    found = "" if s.is_there else "there was no store, so a new one was made"
    if s.is_there and not s.store.conversations(limit=1) and not s.store.memories(state=None, limit=1):
        found = "the store holds nothing of this user"
    notice = found and (
        f"Nothing is on record yet: {found}. Looked at: {s.location}, user {s.settings.user}. If the user expects memories here, "
        "this server was started without their settings; `recollect mcp --json` in their terminal prints what to put into "
        "the agent's settings. Tell them."
    )
    server = door.server(s.store, workspace=workspace, read_only=read_only, notice=output.clean(notice))
    if not http:
        _speak(s, server.run)
        return
    from .. import mcp_http
    from ..server import listen, place

    listening = listen.listen(host, port, None)
    token_file = place.token_file(s.settings, listening.url)

    def told() -> None:
        output.write(f"MCP at {listening.url + mcp_http.PATH}, token in {token_file}\n", err=True)

    try:
        token = place.make_token(s.settings, token_file, keep=keep_token)
        with contextlib.suppress(KeyboardInterrupt):
            mcp_http.run(server, listening, token=token, ready=told)
        if not keep_token:
            place.forget_token(token_file, token)
    finally:
        listening.close()


def _speak(s: Session, serve: Callable[[], None]) -> None:
    """Serve on stdin and stdout until stdin ends or somebody presses Ctrl-C. MCP's library waits for a line in a thread that
    nothing but a line ends, and Python would wait for that thread: of four Ctrl-C not one ended it."""
    at_a_terminal = sys.stdin.isatty()  # asked before the library puts nothing in its place
    failed: list[BaseException] = []

    def run() -> None:
        try:
            serve()
        except BaseException as e:
            failed.append(e)

    serving = threading.Thread(target=run, name="recollect-mcp", daemon=True)
    with Interrupts() as ctrl_c:
        try:
            serving.start()
            if at_a_terminal:
                output.hint(
                    "Waiting for a program that speaks MCP, on standard input: an agent starts this command by itself. "
                    f"{s.command('mcp', '--json')} prints what its settings need. Ctrl-C ends it."
                )
            while serving.is_alive() and not ctrl_c.came:
                serving.join(0.1)  # a bare join would not hear Ctrl-C on every system
        except KeyboardInterrupt:
            pass
        if serving.is_alive():
            try:
                s.close()
            finally:
                os._exit(0)
    if failed:
        raise failed[0]


def _program() -> str:
    """This command's full path: an agent is often started where the path of a shell is not known."""
    beside = Path(sys.executable).with_name("recollect.exe" if os.name == "nt" else "recollect")
    return str(beside) if beside.exists() else shutil.which("recollect") or "recollect"


def _arguments(s: Session, workspace: str | None, read_only: bool) -> list[str]:
    """The command line of a server like this one, for whoever starts it from anywhere."""
    given = s.given_settings()
    where = given.get("database")
    if where is not None and isinstance(s.where, Path):
        where = str(s.where.resolve())
    folder = None if (folder := given.get("data_dir")) is None else str(Path(folder).expanduser().resolve())
    named = (("-d", where), ("-u", given.get("user")), ("--data-dir", folder), ("--workspace", workspace))
    return [
        "mcp",
        *(word for flag, value in named if value is not None for word in (flag, value)),
        *(["--read-only"] if read_only else []),
    ]


def _environment(s: Session) -> dict[str, str]:
    """The settings of this shell for a server that is started without them: whose store, where, and how it is treated. The
    folder and the user stand there always, because their defaults come from the environment too."""
    given = s.given_settings()
    env = {}
    for variable, value in sorted(os.environ.items()):
        name = variable.removeprefix(config.PREFIX).lower()
        if (
            not variable.startswith(config.PREFIX)
            or (name not in config.DEFAULTS and name != "config")
            or name in given
        ):
            continue
        if config.is_postgres(value) and where_shown(value) != value:
            output.warn(f"{variable} holds a password and is not printed. Put it into {config.config_file()}.")
            continue
        is_path = name in PATHS and not config.is_postgres(value) and value != ":memory:"
        env[variable] = os.path.abspath(os.path.expanduser(value)) if is_path else value
    if "user" not in given:
        env["RECOLLECT_USER"] = s.settings.user
    if "data_dir" not in given and "database" not in given:
        env["RECOLLECT_DATA_DIR"] = os.path.abspath(config.data_dir(s.settings))
    if os.path.isfile(config.config_file()):
        env["RECOLLECT_CONFIG"] = os.path.abspath(config.config_file())
    return env
