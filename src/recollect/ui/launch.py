"""Start the application: on this machine only, on a free port, with nothing sent to anyone."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

ADDRESS, PORT = "127.0.0.1", 8501
BACKLOG = 128
"""Connections that wait while the server is not there yet."""
ANSWERING = "recollect-answer"
"""What the threads that give answers are called."""
SCREENS = Path(__file__).parent / "screens"
MAIN = SCREENS / "main.py"


def options(port: int) -> dict[str, Any]:
    """What Streamlit is told, whatever its own files say."""
    from .look import THEME

    return {
        "server.address": ADDRESS,
        "server.port": port,
        "server.allowedHosts": [ADDRESS],
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


def listen(wanted: int | None) -> socket.socket:
    """A socket on the port that was asked for or the usual one, if nobody has it; else on one that is free.

    It listens at once: a port that is only found free is free for everybody, and Streamlit takes seconds to be loaded.
    Of two applications started in the same moment, both said port 8501, and one of them ended.
    """
    for port in [wanted] if wanted is not None else [PORT, 0]:
        # By name: asyncio switches Nagle's algorithm off only on a socket that says it is TCP.
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":  # elsewhere it lets in a second listener
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((ADDRESS, port))
            s.listen(BACKLOG)
        except OSError:
            s.close()
            continue
        return s
    from ..errors import Refused

    raise Refused(f"Port {wanted} is taken. Choose another one, or leave it out for one that is free.")


@contextmanager
def handed_over(listening: socket.socket) -> Iterator[None]:
    """Streamlit binds its port itself, by a function of its own; in here that function gives the socket we have."""
    from streamlit.web.server.starlette import starlette_server

    def ours(address: str, port: int, backlog: int) -> socket.socket:
        listening.setblocking(False)
        return listening

    if not hasattr(starlette_server, "_bind_socket"):  # another version's way: it takes the port when we let go of it
        listening.close()
        yield
        return
    real = starlette_server._bind_socket
    starlette_server._bind_socket = ours
    try:
        yield
    finally:
        starlette_server._bind_socket = real


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


def run(listening: socket.socket, secret: str | None) -> None:
    """Serve on this socket until told to stop; then close the store. `secret`: what opens it, None for no lock."""
    from starlette.middleware import Middleware
    from streamlit.starlette import App

    from .guard import Guard
    from .lock import Lock

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

    port = int(listening.getsockname()[1])
    doors = [Middleware(Guard, port=port)]
    if secret is not None:
        doors.append(Middleware(Lock, port=port, secret=secret))
    app = App(MAIN, middleware=doors, lifespan=lifespan, on_script_error=said_wrong, debug=False)
    argv, sys.argv = sys.argv, ["-c"]  # what is on our command line is none of Streamlit's
    try:
        with handed_over(listening):
            app.run(config=options(port))
    finally:
        sys.argv = argv
        listening.close()
