"""The application in the browser, alone or with the HTTP sidecar beside it."""

import os
import signal
import stat
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import config
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
    no_lock: Annotated[
        bool, typer.Option("--no-lock", help="No secret: every account of this machine can read and change everything.")
    ] = False,
) -> None:
    """Chat, travel in time, look after memories, search: in the browser, on this machine only. Ctrl-C ends it.

    The address it prints has a secret, which is new at every start and lets a browser in.
    """
    try:
        import streamlit  # noqa: F401
    except ModuleNotFoundError as e:
        raise Refused("The application needs the extra `ui`: pip install '.[ui]' in Recollect's own folder") from e
    from ..ui import launch, lock

    listening = launch.listen(port)
    at = listening.getsockname()[1]
    url = f"http://{launch.ADDRESS}:{at}"
    secret = None if no_lock else lock.new_secret()
    address = url if secret is None else lock.address(url, secret)
    hand_over(s)
    opening = None
    if secret is not None and (open_it or is_logged()):
        opening = lock.opening(config.data_dir(s.settings), address, at)
    child, is_interrupted = None, False
    # Streamlit's server raises the signal again once it has stopped: end as after Ctrl-C, so that what follows is done. Before
    # anything is said: whoever reads where it is may end it at once.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        shown = Path(opening).as_uri() if opening and is_logged() else address
        if s.json:
            output.emit({
                "url": shown, "locked": secret is not None, "database": s.location, "sidecar": sidecar and has_sidecar(),
            })  # fmt: skip
        else:
            output.line(f"Recollect is at {shown} (open it in your browser; Ctrl-C ends it)")
            output.line(f"Everything is kept in {s.location} (user {s.settings.user})")
            if secret is None:
                output.line("It is not locked: every account of this machine can read and change everything.")
            if port is None and at != launch.PORT:
                output.hint(f"Port {launch.PORT} is taken, perhaps by another one of these.")
        sys.stdout.flush()
        if sidecar:
            with signals_held():
                child = start_sidecar()
        if open_it:
            # Some browsers end when they are closed, and this page is served after this line.
            page = Path(opening).as_uri() if opening else address
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        launch.run(listening, secret)
    except KeyboardInterrupt:
        is_interrupted = True
        # Before the server stood, it leaves an event loop half made, whose complaint is no news to whoever pressed Ctrl-C.
        sys.unraisablehook = lambda _: None
    finally:
        if child is not None:
            end(child)
        if opening is not None:
            with suppress(OSError):
                os.unlink(opening)
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


def is_logged() -> bool:
    """Whether what is said goes into a file or a log, where others may read it: the secret is not written there."""
    try:
        said = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):
        return False  # somebody's own object
    return not (sys.stdout.isatty() or stat.S_ISFIFO(said))


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
