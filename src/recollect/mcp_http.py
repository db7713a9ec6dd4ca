"""MCP over HTTP: on loopback only, and only for whoever has the token.

The same socket, guard and token as the sidecar's: `server.listen`, `server.guard` and `server.place` need nothing that the
extra `mcp` does not bring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from .server.guard import Guard
from .server.listen import Listening, Server

PATH = "/mcp"


def run(server: MCPServer[Any], listening: Listening, *, token: str, ready: Callable[[], None]) -> None:
    """Serve until it is interrupted. The socket is closed by the caller."""
    security = TransportSecuritySettings(
        allowed_hosts=list(listening.hosts), allowed_origins=[f"http://{host}" for host in listening.hosts]
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, json_response=True)
    Server(Guard(app, token=token, hosts=listening.hosts), ready=ready).run(sockets=[listening.socket])
