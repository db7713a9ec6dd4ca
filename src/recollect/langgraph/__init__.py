"""LangGraph on a Recollect store.

    from recollect.langgraph import Saver
    graph = builder.compile(checkpointer=Saver("chat.db"))

`Saver` is the checkpointer, `MemoryStore` the store, `persistence` both from settings; `fork` and `resume` travel in time.
What is not asked for is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .persistence import Persistence as Persistence
    from .persistence import compile_graph as compile_graph
    from .persistence import create_checkpointer as create_checkpointer
    from .persistence import create_graph_store as create_graph_store
    from .persistence import persistence as persistence
    from .saver import Saver as Saver
    from .store import MemoryStore as MemoryStore
    from .time_travel import afork as afork
    from .time_travel import aresume as aresume
    from .time_travel import fork as fork
    from .time_travel import resume as resume

_WHERE = {
    "MemoryStore": "store",
    "Persistence": "persistence",
    "Saver": "saver",
    "afork": "time_travel",
    "aresume": "time_travel",
    "compile_graph": "persistence",
    "create_checkpointer": "persistence",
    "create_graph_store": "persistence",
    "fork": "time_travel",
    "persistence": "persistence",
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
    # Importing a module puts it here under its own name, and one of them has the name of its function.
    globals().update({called: getattr(module, called) for called, where in _WHERE.items() if where == _WHERE[name]})
    return globals()[name]
