"""MCP over HTTP: on loopback only, and only for whoever has the token.

Any web page can send requests to loopback, and so can any program of anybody on this machine. So before a byte of a body is
read: the exact Host (421), no Origin or Sec-Fetch-Site of another page (403), and the token (401), compared in constant time.
The token is the sidecar's: 256 bits in a file that only its owner can read, in a folder of its own; it stands in no address,
argument or log.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import stat
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from . import config
from .config import Settings
from .errors import InvalidInput, Refused

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]

PATH = "/mcp"
FOLDER, TOKEN = "sidecar", "token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: App, token: str, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(host.encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            status, message = refusal
            body = b'{"error":{"code":%d,"message":"%s"}}' % (status, message.encode())
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                (b"connection", b"close"),
            ]
            if status == 401:
                headers.append((b"www-authenticate", b"Bearer"))
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        elif scope["type"] in ("http", "lifespan"):
            await self._app(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0] not in self._hosts:
            return 421, "This is not a host that is answered for here. Use the address that was printed."
        if any(origin != b"http://" + host[0] for origin in headers.get(b"origin", [])):
            return 403, "Web pages may not call this."
        if any(site not in (b"none", b"same-origin") for site in headers.get(b"sec-fetch-site", [])):
            return 403, "Web pages may not call this."
        given = headers.get(b"authorization", [])
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        if not (hmac.compare_digest(token.strip(), self._token) & (scheme.lower() == b"bearer")):
            return 401, "The token is missing or wrong: send Authorization: Bearer, with what is in the token file."
        return None


def token_file(settings: Settings) -> str:
    return os.path.join(config.data_dir(settings), FOLDER, TOKEN)


def token(settings: Settings) -> str:
    """The token, made now if there is none. Refused if anybody else could have read it."""
    path = token_file(settings)
    folder = os.path.dirname(path)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
            f.write(secrets.token_urlsafe(32))
            f.flush()
            os.fsync(f.fileno())
    except FileExistsError:
        pass
    for private, is_kind in ((folder, stat.S_ISDIR), (path, stat.S_ISREG)):
        found = os.lstat(private)
        if not is_kind(found.st_mode) or (
            hasattr(os, "getuid") and (found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077)
        ):
            raise Refused(
                f"{private} is not yours alone: others could have read the token. Remove it; another is made."
            )
    with open(path) as f:
        found_token = f.read().strip()
    if len(found_token) < 32:
        raise Refused(f"{path} holds no token of ours. Remove it; another is made.")
    return found_token


def bind(host: str, port: int) -> tuple[socket.socket, str, tuple[str, ...]]:
    """A socket on loopback, its address, and what clients may call it."""
    if host not in LOOPBACK:
        raise InvalidInput(
            f"{host!r} is not this machine: choose 127.0.0.1 or ::1. To reach it from elsewhere, use ssh -L."
        )
    name = "127.0.0.1" if host == "localhost" else host
    sock = socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((name, port))
        sock.listen(64)  # whoever reads the address may connect at once
    except OSError as e:
        sock.close()
        raise Refused(
            f"Port {port} of {name} cannot be used ({e.strerror}). Choose another with --port, 0 for any."
        ) from None
    shown = f"[{name}]:{sock.getsockname()[1]}" if ":" in name else f"{name}:{sock.getsockname()[1]}"
    return sock, f"http://{shown}{PATH}", (shown, f"localhost:{sock.getsockname()[1]}")


def run(server: MCPServer[Any], sock: socket.socket, hosts: tuple[str, ...], secret: str) -> None:
    """Serve until it is interrupted."""
    security = TransportSecuritySettings(
        allowed_hosts=list(hosts), allowed_origins=[f"http://{host}" for host in hosts]
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, json_response=True)
    guarded = Guard(app, secret, hosts)
    config_ = uvicorn.Config(guarded, log_level="warning", access_log=False, timeout_graceful_shutdown=2, lifespan="on")
    uvicorn.Server(config_).run(sockets=[sock])
