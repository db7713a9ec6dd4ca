"""The one place that knows which major version of MCP's library is installed.

Version 2 renamed `FastMCP` to `MCPServer` and moved what lies around it; what it can do for us is in both. Packages that an
agent has beside us decide which one it is: langchain-mcp-adapters and CrewAI need version 1.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.shared.message import SessionMessage

IS_NEW = importlib.util.find_spec("mcp.server.mcpserver") is not None

if TYPE_CHECKING or IS_NEW:
    from mcp.server import MCPServer as Base
    from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
    from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations
else:
    from mcp.server.fastmcp import FastMCP
    from mcp.server.fastmcp.exceptions import ResourceError, ToolError
    from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations

    class ResourceNotFoundError(ResourceError):
        """Version 1 has none."""

    T = TypeVar("T")

    class Base(FastMCP[T]):
        async def read_resource(self, uri: Any) -> Any:
            try:
                return await super().read_resource(uri)
            except Exception as e:
                why: BaseException | None = e
                while why is not None and not isinstance(why, ResourceNotFoundError):
                    why = why.__cause__ or why.__context__
                raise e if why is None else refusal(INVALID_PARAMS, str(why)) from None


__all__ = [
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "PARSE_ERROR",
    "Base",
    "ResourceError",
    "ResourceNotFoundError",
    "ToolError",
    "answer",
    "hints",
    "http_app",
    "low",
    "made",
    "refusal",
    "stdio",
]


def made(kind: type[Base[Any]], name: str, *, title: str, version: str, instructions: str, log_level: str) -> Any:
    """A server of this kind."""
    if IS_NEW:
        from mcp.server.mcpserver.resources import ResourceSecurity

        ids = ResourceSecurity(exempt_params={"id"})
        return kind(
            name, title=title, version=version, instructions=instructions, log_level=log_level, resource_security=ids  # type: ignore[arg-type]
        )  # fmt: skip
    server: Any = kind(name, instructions=instructions, log_level=log_level)  # type: ignore[arg-type]
    low(server).version = version
    return server


def low(server: Any) -> Any:
    """The server below it, which speaks the protocol."""
    return server._lowlevel_server if IS_NEW else server._mcp_server


def stdio() -> Any:
    """The two streams of this process. Version 1 would close them both when it is through."""
    from mcp.server.stdio import stdio_server

    if IS_NEW:
        return stdio_server()
    import anyio

    lines = open(os.dup(0), encoding="utf-8", errors="replace")  # noqa: SIM115 - they live as long as the server
    out = open(os.dup(1), "w", encoding="utf-8")  # noqa: SIM115
    return stdio_server(anyio.wrap_file(lines), anyio.wrap_file(out))


def hints(*, reads: bool, destroys: bool | None = None, idempotent: bool | None = None) -> ToolAnnotations:
    """What a tool does to what it works on: nothing outside of the store."""
    said = {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": idempotent, "openWorldHint": False}
    return ToolAnnotations.model_validate({name: value for name, value in said.items() if value is not None})


def answer(code: int, message: str, id: int | str | None) -> SessionMessage:
    """An error as an answer to what was no message; `id` is None where it had none that can be read."""
    told = ErrorData(code=code, message=message)
    if IS_NEW:
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=told))
    types: Any = importlib.import_module("mcp.types")
    error = JSONRPCError.model_construct(
        jsonrpc="2.0", id=id, error=told
    )  # its model wants an id where JSON-RPC has null
    return SessionMessage(types.JSONRPCMessage.model_construct(root=error))


def refusal(code: int, message: str) -> Exception:
    """What a handler raises to answer with an error of the protocol."""
    exceptions: Any = importlib.import_module("mcp.shared.exceptions")
    if IS_NEW:
        return exceptions.MCPError(code=code, message=message)  # type: ignore[no-any-return]
    return exceptions.McpError(ErrorData(code=code, message=message))  # type: ignore[no-any-return]


def http_app(server: Any, path: str, security: Any) -> Any:
    """The server as an ASGI application that answers with JSON."""
    if IS_NEW:
        return server.streamable_http_app(streamable_http_path=path, transport_security=security, json_response=True)
    settings = server.settings
    settings.streamable_http_path, settings.transport_security, settings.json_response = path, security, True
    return server.streamable_http_app()
