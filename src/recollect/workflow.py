"""Events of other systems, on their way into the log: kept whole, filed under their own type."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InvalidInput
from .light import loads, pattern
from .model import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("message", "text", "content", "delta", "output")
_LINE = pattern(r"(?im)^[\s*#>-]*(task|task[ _]id|id|goal|title|status|state)[\s*]*:[ \t*]*(\S.*?)[\s*]*$")


def entry(event: Mapping[str, Any]) -> Entry:
    """A foreign event as an entry of ours. Its `type` becomes the name, its data the payload, its text the text."""
    name = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput("A workflow event needs a `type`, for example {'type': 'workflow.start', 'data': {...}}.")
    data = event.get("data")
    inner: Mapping[str, Any] = data if isinstance(data, Mapping) else event
    agent = _text(inner, "agent_id", "agent") or _text(event, "agent_id", "agent")
    if name == "orchestrator.message" and inner.get("kind") == "task_ledger":
        said = _message(inner.get("message"))
        return Entry(
            kind="ledger",
            task_id=_text(inner, "task_id") or _text(said, "task_id", "task", "id") or _text(inner, "id") or "main",
            goal=_text(inner, "goal") or _text(said, "goal", "title", *_TEXTS) or _text(inner, "title", *_TEXTS) or "",
            status=_text(inner, "status", "state") or _text(said, "status", "state"),
            agent=agent or _text(said, "agent_id", "agent"),
            payload=dict(inner),
        )
    return Entry(kind="event", name=name, text=_text(inner, *_TEXTS) or "", agent=agent, payload=dict(event))


def _message(message: object) -> Mapping[str, Any]:
    """What the message of a ledger says: an object, the JSON of one, or lines such as `Task: T4`. Empty: it is a mere text."""
    text = message
    if isinstance(text, str):
        try:
            message = loads(text)
        except (ValueError, RecursionError):
            lines = _LINE.findall(text)
            # The first of a kind counts: what follows may be a list of steps with a state each.
            return {key.lower().replace(" ", "_"): value for key, value in reversed(lines)}
    return message if isinstance(message, Mapping) else {}


def _text(of: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = of.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None
