"""The application in the browser, alone or with the HTTP sidecar beside it."""

import os
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from ..errors import Refused
from . import output
from .session import Session, command
from .session import app as commands
from .store import PANEL

SIDECAR = "serve"
PATIENCE_SECONDS = 5.0


@command("app", panel=PANEL, creates=True)
def application(
    s: Session,
    port: Annotated[
        int | None, typer.Option("--port", "-p", min=1, max=65535, help="Unsaid: 8501, or a free one if that is taken.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    sidecar: Annotated[
        bool, typer.Option("--serve", help="Start the HTTP sidecar beside it, and stop it with it.")
    ] = False,
) -> None:
    """Chat, travel in time, look after memories, search: in the browser, on this machine only. Ctrl-C ends it."""
    try:
        import streamlit  # noqa: F401
    except ModuleNotFoundError as e:
        raise Refused("The application needs the extra `ui`: pip install '.[ui]' in Recollect's own folder") from e
    from ..ui import launch

    listening = launch.listen(port)
    address = f"http://{launch.ADDRESS}:{listening.getsockname()[1]}"
    hand_over(s)
    child, is_interrupted = None, False
    # Streamlit's server raises the signal again once it has stopped: end as after Ctrl-C, so that what follows is done. Before
    # anything is said: whoever reads where it is may end it at once.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if s.json:
            output.emit({"url": address, "database": s.location, "sidecar": sidecar and has_sidecar()})
        else:
            output.line(f"Recollect is at {address} (open it in your browser; Ctrl-C ends it)")
            output.line(f"Everything is kept in {s.location} (user {s.settings.user})")
            if port is None and not address.endswith(f":{launch.PORT}"):
                output.hint(f"Port {launch.PORT} is taken, perhaps by another one of these.")
        sys.stdout.flush()
        if sidecar:
            with signals_held():
                child = start_sidecar()
        if open_it:
            webbrowser.open(address)
        launch.run(listening)
    except KeyboardInterrupt:
        is_interrupted = True
        # Before the server stood, it leaves an event loop half made, whose complaint is no news to whoever pressed Ctrl-C.
        sys.unraisablehook = lambda _: None
    finally:
        if child is not None:
            end(child)
        if is_interrupted and not s.json:
            with suppress(OSError):  # whoever read along may have gone first
                if sys.stdout.isatty():
                    output.line("")  # the terminal has written ^C
                output.line(f"Ended. Everything is kept in {s.location}" if s.where else "Ended. Nothing is kept.")
        if launch.is_answering():
            # A model may take a minute more, and Python waits for such threads when it ends. What was said is durable,
            # the store is closed: there is nothing to wait for.
            sys.stdout.flush()
            os._exit(0)


def hand_over(s: Session) -> None:
    """The pages open the store by the settings: let them say what this command line said."""
    where = s.where
    if where is not None:
        os.environ["RECOLLECT_DATABASE"] = str(where)
    os.environ["RECOLLECT_USER"] = s.settings.user
    if s.settings.data_dir is not None:
        os.environ["RECOLLECT_DATA_DIR"] = s.settings.data_dir


def has_sidecar() -> bool:
    return any(c.name == SIDECAR for c in commands.registered_commands)


@contextmanager
def signals_held() -> Iterator[None]:
    """Whoever ends us while a child is being started is heard once we know the child: nobody else would end it. (Not by a mask,
    which the child would inherit.)"""
    heard: list[int] = []
    held = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda number, _: heard.append(number)) for number in held]
    try:
        yield
    finally:
        for number, handler in zip(held, before, strict=True):
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])


def start_sidecar() -> "subprocess.Popen[Any] | None":
    """`recollect serve`, where this version has it. What it says is said here; if it cannot start, the application can."""
    if not has_sidecar():
        return None
    return subprocess.Popen([sys.executable, "-m", "recollect.cli", SIDECAR, "--beside"])


def end(child: "subprocess.Popen[Any]") -> None:
    """Ctrl-C reached it as well; anything else did not. It gets its time to write down what it has."""
    if child.poll() is None:
        child.terminate()
    try:
        child.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
