"""Start the application: on this machine only, on a free port, with nothing sent to anyone."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ADDRESS, PORT = "127.0.0.1", 8501
ANSWERING = "recollect-answer"
"""What the threads that give answers are called."""
SCREENS = Path(__file__).parent / "screens"
MAIN = SCREENS / "main.py"


def options(port: int) -> dict[str, Any]:
    """What Streamlit is told, whatever its own files say."""
    from .guard import NAMES
    from .look import THEME

    return {
        "server.address": ADDRESS,
        "server.port": port,
        "server.allowedHosts": list(NAMES),
        "server.headless": True,
        "server.showEmailPrompt": False,
        "server.fileWatcherType": "none",
        "server.runOnSave": False,
        "server.enableCORS": True,
        "server.corsAllowedOrigins": [],
        "server.enableXsrfProtection": True,
        "server.enableAgentApi": False,
        "server.enableStaticServing": False,
        "server.maxUploadSize": 1,
        "browser.serverAddress": ADDRESS,
        "browser.gatherUsageStats": False,
        "client.showErrorDetails": "none",
        "client.toolbarMode": "viewer",
        "logger.level": "error",
        "logger.hideWelcomeMessage": True,
        "runner.magicEnabled": False,
        **THEME,
    }


def free_port(wanted: int | None) -> int:
    """The port that was asked for or the usual one, if nobody has it; else one that is free."""
    for port in [wanted] if wanted is not None else [PORT, 0]:
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind((ADDRESS, port))
            except OSError:
                continue
            return int(s.getsockname()[1])
    from ..errors import Refused

    raise Refused(f"Port {wanted} is taken. Choose another one, or leave it out for one that is free.")


def warm() -> None:
    """LangGraph takes seconds to import: while the first page is looked at, and not when the first message is sent."""
    from ..errors import Refused

    try:
        from ..langgraph import ask, chat_graph, resume  # noqa: F401
    except Refused:
        return  # it is told when it is needed


def is_answering() -> bool:
    """Whether a model is still at it, although the application has ended."""
    return any(t.name == ANSWERING and t.is_alive() for t in threading.enumerate())


def run(port: int) -> None:
    """Serve until told to stop; then close the store."""
    from starlette.middleware import Middleware
    from streamlit.starlette import App

    from .guard import Guard

    @asynccontextmanager
    async def lifespan(_: App) -> AsyncIterator[dict[str, Any] | None]:
        # Streamlit puts the folder of the script first on the path, where `search` or `settings` would be our pages.
        sys.path[:] = [p for p in sys.path if p != str(SCREENS)]
        threading.Thread(target=warm, name="recollect-warm", daemon=True).start()
        try:
            yield None
        finally:
            from .state import reopen

            reopen()

    from .frame import said_wrong

    app = App(
        MAIN, middleware=[Middleware(Guard, port=port)], lifespan=lifespan, on_script_error=said_wrong, debug=False
    )
    argv, sys.argv = sys.argv, ["-c"]  # what is on our command line is none of Streamlit's
    try:
        app.run(config=options(port))
    finally:
        sys.argv = argv
