"""Messages that a workflow hands in with its inputs: `inputs.message` as a text, as a message, or as the payload of a channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from .messages import as_messages

__all__ = ["messages_of"]

_TEXTS = ("text", "content", "caption", "body")
"""Where channels put the text of a message."""
_DEEPEST = 4


def messages_of(inputs: Any) -> list[BaseMessage]:
    """What `inputs` holds: `message`, else `messages`. Nothing where it is none."""
    for name in ("message", "messages"):
        found = inputs.get(name) if isinstance(inputs, Mapping) else getattr(inputs, name, None)
        if found:
            return _read(found, 0)
    return []


def _read(value: Any, depth: int) -> list[BaseMessage]:
    if isinstance(value, str):
        return [HumanMessage(value)] if value.strip() else []
    if isinstance(value, Mapping) and not isinstance(value.get("role"), str):
        return _payload(value, depth)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [HumanMessage(one) for one in value]
    return as_messages(value)


def _payload(value: Mapping[str, Any], depth: int) -> list[BaseMessage]:
    if "content" in value and isinstance(value.get("type"), str) and (found := as_messages(dict(value))):
        return found  # a message of LangChain's as a table
    id = value.get("id")
    for name in _TEXTS:
        inner = value.get(name)
        if isinstance(inner, (str, list)) and inner:
            return [HumanMessage(inner, id=id if isinstance(id, str) and id else None)]
        if isinstance(inner, Mapping) and depth < _DEEPEST:
            return _read(inner, depth + 1)
    inner = value.get("message")
    return _read(inner, depth + 1) if inner and depth < _DEEPEST else []
