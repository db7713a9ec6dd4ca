"""Handoffs: the messages with which agents pass the turn to each other.

A supervisor calls a tool that hands over to a worker; the worker's reply comes back with a pair of messages that say so. A
chat model needs them to see valid history. Nobody else does: in the log each handoff is one event, in no index, and our
own agents do not show them to their models. They are recognised by the marks of langgraph-supervisor and langgraph-swarm in
the metadata of messages and tools, never by their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["destination", "is_back", "tools_of", "without"]

BACK, DESTINATION = "__is_handoff_back", "__handoff_destination"
"""Their marks: in a message's `response_metadata`, and the second in the `metadata` of a tool."""


def is_back(message: BaseMessage) -> bool:
    """Whether a message says that a worker gives the turn back."""
    return isinstance(message, (AIMessage, ToolMessage)) and message.response_metadata.get(BACK) is True


def destination(message: BaseMessage) -> str | None:
    """To whom a tool's result says that the turn was handed."""
    found = message.response_metadata.get(DESTINATION) if isinstance(message, ToolMessage) else None
    return found if isinstance(found, str) else None


def tools_of(loop: Any) -> dict[str, str]:
    """The handoff tools of the graph that runs in a loop of LangGraph's: tool -> agent."""
    found = {}
    for node in getattr(loop, "nodes", {}).values():
        for name, tool in _tools(getattr(node, "bound", None)):
            to = (getattr(tool, "metadata", None) or {}).get(DESTINATION)
            if isinstance(to, str):
                found[name] = to
    return found


def _tools(runnable: Any) -> Iterator[tuple[str, Any]]:
    for one in (runnable, *(getattr(runnable, "steps", None) or ())):
        tools = getattr(one, "tools_by_name", None)
        if isinstance(tools, Mapping):
            yield from tools.items()


def without(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages, less those that only hand over: a call goes together with its result."""
    handed = {m.tool_call_id for m in messages if isinstance(m, ToolMessage) and (is_back(m) or destination(m))}
    if not handed:
        return list(messages)
    kept: list[BaseMessage] = []
    for m in messages:
        if isinstance(m, ToolMessage) and m.tool_call_id in handed:
            continue
        if isinstance(m, AIMessage) and m.tool_calls and not any(c["id"] not in handed for c in m.tool_calls):
            if is_back(m) or not m.text.strip():
                continue
            m = AIMessage(m.text, id=m.id, name=m.name)
        kept.append(m)
    return kept
