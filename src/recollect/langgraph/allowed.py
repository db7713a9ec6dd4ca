"""What may be constructed from a blob: types on the serializer's list, and plain data of the program's own."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from pydantic import BaseModel

_heard = threading.local()


def _hear(event: SerdeEvent) -> None:
    """LangGraph's serializer says what it did not construct; whoever is loading in this thread hears it."""
    found = getattr(_heard, "found", None)
    if found is not None and "blocked" in event["kind"]:
        found.append((event["module"], event["name"]))


register_serde_event_listener(_hear)


def _is_news(record: logging.LogRecord) -> bool:
    """What is refused becomes an error, or is let through: to warn of it as well would only confuse."""
    return getattr(_heard, "found", None) is None or not str(record.msg).startswith("Blocked deserialization")


logging.getLogger("langgraph.checkpoint.serde.jsonplus").addFilter(_is_news)


@contextmanager
def listening() -> Iterator[list[tuple[str, str]]]:
    found: list[tuple[str, str]] = []
    _heard.found = found
    try:
        yield found
    finally:
        _heard.found = None


def is_data(module: str, name: str) -> bool:
    """Whether a type is plain data of a module that the program has loaded itself: nothing is imported for a blob's sake,
    and nothing but the fields of such a type is filled."""
    found = getattr(sys.modules.get(module), name, None)
    if not isinstance(found, type):
        return False
    return (
        issubclass(found, (BaseModel, Enum))
        or hasattr(found, "__dataclass_fields__")
        or (issubclass(found, tuple) and hasattr(found, "_fields"))
        or hasattr(found, "__fields__")
    )
