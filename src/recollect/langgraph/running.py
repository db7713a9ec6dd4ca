"""The run that calls a checkpointer.

A run that stores its end only (`durability="exit"`) never hands over its input, and its last state does not say which of the
words in it were the input. LangGraph has no public way to ask. But its loop is what calls the checkpointer, and it holds
what `invoke` was given: so we look for the loop among our callers. If it is not there, those words are nobody's.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any

told: ContextVar[bool] = ContextVar("recollect_told", default=False)
"""Whether a span of ours is open already for what changes the state here."""
CALLERS = 8
"""How far up the loop is looked for: a checkpointer may be wrapped in another one."""


def loop() -> Any | None:
    """The loop of LangGraph's that is calling here; None if it is somebody else."""
    try:
        from langgraph.pregel._loop import PregelLoop
    except ImportError:
        return None
    frame = sys._getframe(1)
    for _ in range(CALLERS):
        frame = frame.f_back  # type: ignore[assignment]
        if frame is None:
            return None
        caller = frame.f_locals.get("self")
        if isinstance(caller, PregelLoop) and hasattr(caller, "input"):
            return caller
    return None


def is_inside() -> bool:
    """Whether a node of a graph is what calls here: then it is not a person who changes a state."""
    from langgraph.config import get_config

    try:
        config = get_config()
    except RuntimeError:
        return False
    return "langgraph_node" in (config.get("metadata") or {})
