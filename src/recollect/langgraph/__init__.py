"""LangGraph on a Recollect store.

    from recollect.langgraph import Saver
    graph = builder.compile(checkpointer=Saver("chat.db"))

`Saver` is the checkpointer; `fork` and `resume` travel in time. What is not asked for is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .saver import Saver as Saver
    from .time_travel import afork as afork
    from .time_travel import aresume as aresume
    from .time_travel import fork as fork
    from .time_travel import resume as resume

_WHERE = {
    "Saver": "saver",
    "fork": "time_travel",
    "resume": "time_travel",
    "afork": "time_travel",
    "aresume": "time_travel",
}

__all__ = ["Saver", "afork", "aresume", "fork", "resume"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from ..errors import Refused

    try:
        return getattr(import_module(f".{_WHERE[name]}", __name__), name)
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] in ("langgraph", "langchain_core"):
            raise Refused("LangGraph needs the extra `langgraph`: pip install 'recollect[langgraph]'") from e
        raise
