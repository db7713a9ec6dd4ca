"""Errors as clients get them: one shape, a status, and a code that a program can go by."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import errors
from ..errors import RecollectError

CODES = {
    400: "invalid_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed",
    408: "too_slow", 413: "too_large", 414: "url_too_long", 415: "unsupported_media_type", 421: "wrong_host",
    422: "invalid_request", 500: "internal_error", 503: "unavailable",
}  # fmt: skip
STATUS: tuple[tuple[type[RecollectError], int, str], ...] = (
    (errors.InvalidInput, 400, "invalid_input"),
    (errors.SettingsError, 400, "settings"),
    (errors.ConversationDeleted, 410, "deleted"),
    (errors.NotFound, 404, "not_found"),
    (errors.AlreadyExists, 409, "already_exists"),
    (errors.ScopeFull, 409, "scope_full"),
    (errors.StoreBusy, 503, "busy"),
    (errors.Unavailable, 503, "unavailable"),
    (errors.StoreClosed, 503, "stopping"),
    (errors.OutcomeUnknown, 503, "outcome_unknown"),
    (errors.DiskFull, 507, "disk_full"),
    (errors.FileReplaced, 503, "file_replaced"),
    (errors.Damaged, 500, "damaged"),
    (errors.RecollectError, 500, "storage"),
)
"""Which error of ours is which status, the nearest first."""


def error_body(code: str, message: str, details: list[dict[str, str]] | None = None) -> bytes:
    """The one shape of an error."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = details
    return json.dumps({"error": error}, ensure_ascii=False).encode()


def message(error: RecollectError) -> str:
    """What an error says, in this door's words: a conversation is a session, and what the advice names is a route, or a
    command where there is none."""
    said = str(error).replace(ANEW, ANEW_HERE) if isinstance(error, errors.Erased) else str(error)
    # The first one alone: what comes later may be in somebody's id.
    said = re.sub(r"\b([Cc])onversation (?=['\"])", lambda m: "Session " if m[1] == "C" else "session ", said, count=1)
    return re.sub(r"`([a-z_]+)\(\)`", _place, said)


def _place(verb: re.Match[str]) -> str:
    route = ROUTES.get(verb[1])
    return f"`{route}`" if route else f"`recollect {verb[1]}` on the sidecar's machine"


ROUTES = {
    "branches": "GET /memory/branches",
    "conversations": "GET /memory/conversations",
    "create": "POST /memory/record",
    "memories": "GET /memory/memories",
    "messages": "GET /memory/replay",
}
"""Where a client finds what a verb of Python's gives."""
ANEW = "to begin one of that id anew, say so: `create(id, again=True)`, or `recollect new --id ID --again`."
ANEW_HERE = 'record under another session_id, or begin it again: send `"again": true` with the record.'


def status(error: RecollectError) -> tuple[int, str]:
    return next((number, code) for kind, number, code in STATUS if isinstance(error, kind))


def invalid(found: Sequence[Mapping[str, Any]]) -> bytes:
    """What pydantic found, without what was sent: that may be a secret."""
    details = [{"where": ".".join(map(str, x["loc"])), "what": str(x["msg"])[:300]} for x in found[:20]]
    return error_body("invalid_request", "The request is not as the schema says: see `details`.", details)
