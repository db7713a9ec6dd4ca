"""MCP over HTTP: on loopback only, and only for whoever has the token.

The same socket, guard and token as the sidecar's: `server.listen`, `server.guard` and `server.place` need nothing that the
extra `mcp` does not bring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings

from .mcp_sdk import Base, http_app
from .server.guard import Guard
from .server.listen import Listening, Server

PATH = "/mcp"


def run(server: Base[Any], listening: Listening, *, token: str, ready: Callable[[], None]) -> None:
    """Serve until it is interrupted. The socket is closed by the caller."""
    security = TransportSecuritySettings(
        allowed_hosts=list(listening.hosts), allowed_origins=[f"http://{host}" for host in listening.hosts]
    )
    app = http_app(server, PATH, security)
    Server(Guard(app, token=token, hosts=listening.hosts), ready=ready).run(sockets=[listening.socket])
