"""A socket that only this machine can reach, and a server on it that ends in time: for the sidecar, and for MCP over HTTP.

Without FastAPI: the extra `mcp` brings uvicorn and Starlette, and no more than that is needed here and in `guard`.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from typing import Any

import uvicorn

from ..errors import InvalidInput, Refused
from .guard import Guard, Protocol

LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
GRACE_SECONDS = 2
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
            f"{host!r} is not this machine: choose 127.0.0.1 or ::1. "
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
            f"Port {port} of {name} cannot be used ({e.strerror}). Perhaps one runs there already; "
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
                raise Refused(f"Somebody listens on {path} already.")
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
