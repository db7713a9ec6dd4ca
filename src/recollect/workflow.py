"""Events of other systems, on their way into the log: kept whole, filed under their own type."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InvalidInput
from .model import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("message", "text", "content", "delta", "output")


def entry(event: Mapping[str, Any]) -> Entry:
    """A foreign event as an entry of ours. Its `type` becomes the name, its data the payload, its text the text."""
    name = event.get("type") if isinstance(event, Mapping) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput("A workflow event needs a `type`, for example {'type': 'workflow.start', 'data': {...}}.")
    data = event.get("data")
    inner: Mapping[str, Any] = data if isinstance(data, Mapping) else event
    agent = _text(inner, "agent_id", "agent") or _text(event, "agent_id", "agent")
    if name == "orchestrator.message" and inner.get("kind") == "task_ledger":
        return Entry(
            kind="ledger",
            task_id=_text(inner, "task_id", "id") or "main",
            goal=_text(inner, "goal", "title", *_TEXTS) or "",
            status=_text(inner, "status", "state"),
            agent=agent,
            payload=dict(inner),
        )
    return Entry(kind="event", name=name, text=_text(inner, *_TEXTS) or "", agent=agent, payload=dict(event))


def _text(of: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = of.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None
