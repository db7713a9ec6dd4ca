"""LangGraph on a Recollect store.

    from recollect.langgraph import Saver
    graph = builder.compile(checkpointer=Saver("chat.db"))

`Saver` is the checkpointer, `MemoryStore` the store, `persistence` both from settings; `fork` and `resume` travel in time;
`chat_graph` is a ready agent, `ask` talks to it, `memory_tools` are its tools for an agent of your own.
What is not asked for is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..store import Store
    from .agent_node import AgentNode as AgentNode
    from .backend import Persistence as Persistence
    from .backend import compile_graph as compile_graph
    from .backend import create_checkpointer as create_checkpointer
    from .backend import create_graph_store as create_graph_store
    from .backend import persistence as persistence
    from .graph import aask as aask
    from .graph import ask as ask
    from .graph import chat_graph as chat_graph
    from .graph import default_model as default_model
    from .middleware import MemoryMiddleware as MemoryMiddleware
    from .models import chat_model as chat_model
    from .models import text_model as text_model
    from .offline import OfflineModel as OfflineModel
    from .saver import Saver as Saver
    from .store import MemoryStore as MemoryStore
    from .time_travel import afork as afork
    from .time_travel import aresume as aresume
    from .time_travel import fork as fork
    from .time_travel import resume as resume
    from .tools import TOOLS as TOOLS
    from .tools import memory_tools as memory_tools

_WHERE = {
    "AgentNode": "agent_node",
    "MemoryMiddleware": "middleware",
    "MemoryStore": "store",
    "OfflineModel": "offline",
    "Persistence": "backend",
    "Saver": "saver",
    "TOOLS": "tools",
    "aask": "graph",
    "afork": "time_travel",
    "aresume": "time_travel",
    "ask": "graph",
    "chat_graph": "graph",
    "chat_model": "models",
    "compile_graph": "backend",
    "create_checkpointer": "backend",
    "create_graph_store": "backend",
    "default_model": "graph",
    "fork": "time_travel",
    "memory_tools": "tools",
    "persistence": "backend",
    "resume": "time_travel",
    "text_model": "models",
}

__all__ = [
    "TOOLS",
    "AgentNode",
    "MemoryMiddleware",
    "MemoryStore",
    "OfflineModel",
    "Persistence",
    "Saver",
    "aask",
    "afork",
    "aresume",
    "ask",
    "chat_graph",
    "chat_model",
    "compile_graph",
    "create_checkpointer",
    "create_graph_store",
    "default_model",
    "fork",
    "memory_tools",
    "persistence",
    "resume",
    "text_model",
]


def read_with_model(store: Store) -> None:
    """For the doors of a person's own processes: the model that the settings name looks for memories, too. It is made when it
    is first needed."""
    s = store.settings
    name = s.memory_model or s.chat_model
    if name is None or name.strip().casefold() in ("", "none"):
        return
    is_there = s.chat_model is not None and name.partition(":")[0] == s.chat_model.partition(":")[0]

    def made() -> Any:
        from .models import text_model

        return text_model(name, s, url=s.chat_model_url if is_there else None)

    store._shared["make reader"] = made


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from ..errors import Refused

    try:
        module = import_module(f".{_WHERE[name]}", __name__)
    except ModuleNotFoundError as e:
        if (e.name or "").split(".")[0] in ("langgraph", "langchain_core"):
            raise Refused(
                "LangGraph needs the extra `langgraph`: pip install '.[langgraph]' in Recollect's own folder"
            ) from e
        if (e.name or "").split(".")[0] == "langchain":
            raise Refused(
                "LangChain's agents need the extra `agent`: pip install '.[agent]' in Recollect's own folder"
            ) from e
        raise
    return getattr(module, name)
