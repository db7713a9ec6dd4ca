"""A socket that only this machine can reach, and a server on it that ends in time: for the sidecar, and for MCP over HTTP.

Without FastAPI: the extra `mcp` brings uvicorn and Starlette, and no more than that is needed here and in `guard`.
"""

from __future__ import annotations

import functools
import os
import socket
import stat
import tempfile
from collections.abc import Callable
from typing import Any

import uvicorn

from .. import peer
from ..errors import InvalidInput, Refused
from .guard import Guard, Protocol, Slots

LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
GRACE_SECONDS = 2
KEEP_ALIVE_SECONDS = 75
LONGEST_PATH = 100  # of a UNIX socket, in bytes
BACKLOG = 128  # connections that are taken in one go: of a flood no more, before those that said something are heard


class Listening:
    """A bound socket, and what clients call it. With `add_own`, another one for programs of this user alone."""

    def __init__(self, sock: socket.socket, url: str, uds: str | None, hosts: tuple[str, ...]) -> None:
        self.socket, self.url, self.uds, self.hosts = sock, url, uds, hosts
        self.sockets = [sock]
        self.own_path = ""

    def add_own(self, folder: str) -> None:
        own = listen_privately(folder)
        if own is not None:
            self.sockets.append(own)
            self.own_path = str(own.getsockname())

    def close(self) -> None:
        for sock in self.sockets:
            sock.close()
        peer.drop(self.own_path)
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
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise InvalidInput(f"The path of a UNIX socket has at most {LONGEST_PATH} bytes: {path}")
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
    try:
        sock = _bound(path)
    except OSError as e:
        raise Refused(f"{path} cannot be made ({e.strerror}). Does its folder exist?") from None
    return Listening(sock, "http://localhost", path, ("localhost",))


def _bound(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # ours alone from its first moment on
    try:
        sock.bind(path)
    except OSError:
        sock.close()
        raise
    finally:
        os.umask(before)
    return sock


def listen_privately(folder: str) -> socket.socket | None:
    """A UNIX socket that this user's programs alone reach, in `folder`, which is the user's alone; or in a temporary folder of
    its own where that path would be too long, or its file system knows no sockets. None where there can be none, or where
    the kernel does not say who is at the other end."""
    if not peer.KNOWS_PEERS:
        return None
    for above in (folder, os.environ.get("XDG_RUNTIME_DIR") or None, None):  # None: the system's temporary folder
        place = folder
        try:
            if above != folder:
                place = tempfile.mkdtemp(prefix=peer.TEMPORARY, dir=above)
            path = os.path.join(place, f"{os.getpid()}.socket")
            if len(os.fsencode(path)) > LONGEST_PATH:
                raise OSError("too long for a socket")
            sock = _bound(path)
        except OSError:
            if place != folder:
                os.rmdir(place)
            continue
        sock.listen(BACKLOG)  # at once: one that is bound and does not listen looks left behind
        return sock
    return None


def tidy(data_dir: str) -> None:
    """Remove what a sidecar that was killed left in the data folder."""
    left = peer.read(data_dir)
    if left is not None and left.socket and not _answers(left.socket):
        peer.forget(data_dir, left)
    own = os.path.join(data_dir, peer.FOLDER)
    for name in os.listdir(own) if peer.KNOWS_PEERS else ():
        path = os.path.join(own, name)
        if name.endswith(".socket") and not _answers(path):
            peer.drop(path)


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
        return True


class Server(uvicorn.Server):
    """uvicorn's, which tells the readers of live updates to go before it waits for them."""

    def __init__(
        self, app: Guard, *, ready: Callable[[], None] = lambda: None, own_path: str = "", **options: Any
    ) -> None:
        self._guard, self._ready = app, ready
        made: Any = functools.partial(Protocol, slots=Slots(own_path))
        config = uvicorn.Config(
            app, http=made, ws="none", lifespan="on", log_config=None,
            access_log=False, proxy_headers=False, server_header=False, timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS, backlog=BACKLOG, **options,
        )  # fmt: skip
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._guard.leaving()
        await super().shutdown(sockets)
