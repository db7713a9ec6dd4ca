"""Listening: a socket on loopback or in the file system, and a server that ends in time.

On SIGTERM or Ctrl-C it stops accepting, lets the readers of live updates go, writes what it was handed, and closes: within
five seconds, mostly at once.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from ..config import Settings
from ..errors import InvalidInput, Refused
from ..store import Store
from . import place
from .app import create_app
from .guard import Guard, Limits, Protocol

LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
PORT = 7433
GRACE_SECONDS = 2
TURN_SECONDS = 0.0005
KEEP_ALIVE_SECONDS = 75


class Listening:
    """A bound socket, and what clients call it."""

    def __init__(self, sock: socket.socket, url: str, uds: str | None, hosts: tuple[str, ...]) -> None:
        self.socket, self.url, self.uds, self.hosts = sock, url, uds, hosts

    def close(self) -> None:
        self.socket.close()
        if self.uds is not None:
            try:
                os.unlink(self.uds)
            except FileNotFoundError:
                pass


def listen(host: str, port: int, uds: str | None) -> Listening:
    """Bind. Only this machine can reach it, whatever was asked for."""
    return _listen_there(os.path.abspath(uds)) if uds is not None else _listen_here(host, port)


def _listen_here(host: str, port: int) -> Listening:
    if host not in LOOPBACK:
        raise InvalidInput(
            f"{host!r} is not this machine: the sidecar listens on 127.0.0.1, ::1 or a UNIX socket only. "
            "To reach it from elsewhere, forward the port through ssh."
        )
    name = "127.0.0.1" if host == "localhost" else host
    # By name: asyncio switches Nagle's algorithm off only on a socket that says it is TCP. Left on, an answer took 40 ms.
    sock = socket.socket(LOOPBACK[host], socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((name, port))
    except OSError as e:
        sock.close()
        raise Refused(
            f"Port {port} of {name} cannot be used ({e.strerror}). Perhaps a sidecar runs already; "
            "else choose another with --port, 0 for any that is free."
        ) from None
    bound = sock.getsockname()[1]
    shown = f"[{name}]" if ":" in name else name
    names = [f"{shown}:{bound}", f"localhost:{bound}"] + ([shown, "localhost"] if bound == 80 else [])
    return Listening(sock, f"http://{shown}:{bound}", None, tuple(names))


def _listen_there(path: str) -> Listening:
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput("This system has no UNIX sockets; use --port.")
    if len(os.fsencode(path)) > 100:
        raise InvalidInput(f"The path of a UNIX socket has at most 100 bytes: {path}")
    if os.path.lexists(path):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise Refused(f"{path} is there already, and is no socket. It was left alone.")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except OSError:
                os.unlink(path)  # its server was killed
            else:
                raise Refused(f"A sidecar listens on {path} already.")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # ours alone from its first moment on
    try:
        sock.bind(path)
    except OSError as e:
        sock.close()
        raise Refused(f"{path} cannot be made ({e.strerror}). Does its folder exist?") from None
    finally:
        os.umask(before)
    return Listening(sock, "http://localhost", path, ("localhost",))


class Server(uvicorn.Server):
    """uvicorn's, which tells the readers of live updates to go before it waits for them."""

    def __init__(self, app: Guard, *, ready: Callable[[], None] = lambda: None, **options: Any) -> None:
        self._guard, self._ready = app, ready
        config = uvicorn.Config(
            app, http=Protocol, ws="none", lifespan="on", log_config=None, access_log=False, proxy_headers=False,
            server_header=False, timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=GRACE_SECONDS,
            **options,
        )  # fmt: skip
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._guard.leaving()
        await super().shutdown(sockets)


def serve(
    store: Store,
    settings: Settings,
    *,
    listening: Listening,
    token: str,
    workspace: str | None = None,
    limits: Limits | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal comes. The store and the socket are closed by the caller."""
    app = create_app(store, token=token, hosts=listening.hosts, workspace=workspace, limits=limits)

    def told() -> None:
        place.write_address(settings, listening.url, listening.uds, store.location)
        ready()

    # Many threads take turns here, and some compute: in 5 ms turns, which are Python's own, an append waits for several.
    turns = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    # uvicorn raises the signal once more when it is done, which would end the process before anything is put away.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        Server(app, ready=told).run(sockets=[listening.socket])
    except KeyboardInterrupt:
        pass  # the usual way to end it
    finally:
        place.forget_address(settings, listening.url, listening.uds)
        signal.signal(signal.SIGTERM, before)
        sys.setswitchinterval(turns)
