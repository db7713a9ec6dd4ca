"""LangGraph on a Recollect store.

    from recollect.langgraph import Saver
    graph = builder.compile(checkpointer=Saver("chat.db"))

`Saver` is the checkpointer, `MemoryStore` the store, `persistence` both from settings; `fork` and `resume` travel in time.
What is not asked for is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import Persistence as Persistence
    from .backend import compile_graph as compile_graph
    from .backend import create_checkpointer as create_checkpointer
    from .backend import create_graph_store as create_graph_store
    from .backend import persistence as persistence
    from .saver import Saver as Saver
    from .store import MemoryStore as MemoryStore
    from .time_travel import afork as afork
    from .time_travel import aresume as aresume
    from .time_travel import fork as fork
    from .time_travel import resume as resume

_WHERE = {
    "MemoryStore": "store",
    "Persistence": "backend",
    "Saver": "saver",
    "afork": "time_travel",
    "aresume": "time_travel",
    "compile_graph": "backend",
    "create_checkpointer": "backend",
    "create_graph_store": "backend",
    "fork": "time_travel",
    "persistence": "backend",
    "resume": "time_travel",
}

__all__ = [
    "MemoryStore",
    "Persistence",
    "Saver",
    "afork",
    "aresume",
    "compile_graph",
    "create_checkpointer",
    "create_graph_store",
    "fork",
    "persistence",
    "resume",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from ..errors import Refused

    try:
        module = import_module(f".{_WHERE[name]}", __name__)
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] in ("langgraph", "langchain_core"):
            raise Refused("LangGraph needs the extra `langgraph`: pip install 'recollect[langgraph]'") from e
        raise
    return getattr(module, name)
