"""Time travel: go back to a checkpoint, change something, run on. Nothing of what happened is lost.

`store.checkpoints(conversation)` says where one can go. `fork` makes a branch there without running anything; `resume` runs
a graph on. A branch that was forked in the log (`store.fork(c, at=7)`) is resumed the same way: it starts from its newest
checkpoint at or before that event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.pregel.protocol import PregelProtocol
from langgraph.types import Command

from ..errors import InvalidInput
from ..model import Branch, Checkpoint
from ..telemetry import NO_SPAN, Span
from . import running
from .saver import Saver

COPY = "__copy__"
"""LangGraph's name for "as it is": an update by this node is a clone."""

Graph = PregelProtocol[Any, Any, Any, Any]
Where = Checkpoint | Branch | RunnableConfig


def config_of(where: Where) -> RunnableConfig:
    """A config of LangGraph's for a checkpoint or a branch of ours; a config is taken as it is."""
    if isinstance(where, Checkpoint):
        found = {"thread_id": where.conversation_id, "checkpoint_ns": "", "checkpoint_id": where.id}
        return {"configurable": found}
    if isinstance(where, Branch):
        return {"configurable": {"thread_id": where.conversation_id, "branch": where.name}}
    if not isinstance(where, Mapping) or not isinstance(where.get("configurable"), Mapping):
        raise InvalidInput("Say where: a checkpoint of store.checkpoints(), a branch of store.branches(), or a config.")
    return where


def fork(graph: Graph, checkpoint: Where, values: Any = None, *, as_node: str | None = None) -> RunnableConfig:
    """Start a branch at a checkpoint, without running anything; with `values`, its state is updated first, as if `as_node`
    had written them. Returns the config from which to `resume`."""
    where = _whose(graph, config_of(checkpoint))
    with _updating(graph, where):
        made = graph.update_state(where, None, as_node=COPY)
        return made if values is None else graph.update_state(made, values, as_node=as_node)


def resume(graph: Graph, config: Where, input: Any = None, **kwargs: Any) -> Any:
    """Run a graph on from a checkpoint or at the end of a branch. `input` may be a new input, or a `Command` that answers an
    interrupt. Further keywords go to `graph.invoke`."""
    where = _merged(config, kwargs)
    saver = getattr(graph, "checkpointer", None)
    if isinstance(saver, Saver) and _runs_on(input):
        where = saver.starting(where)
    with span(graph, "chat.invoke", where, gen_ai__operation__name="invoke_agent"):
        return graph.invoke(input, where, **kwargs)


async def afork(graph: Graph, checkpoint: Where, values: Any = None, *, as_node: str | None = None) -> RunnableConfig:
    """`fork` for async code."""
    where = _whose(graph, config_of(checkpoint))
    with _updating(graph, where):
        made = await graph.aupdate_state(where, None, as_node=COPY)
        return made if values is None else await graph.aupdate_state(made, values, as_node=as_node)


async def aresume(graph: Graph, config: Where, input: Any = None, **kwargs: Any) -> Any:
    """`resume` for async code."""
    where = _merged(config, kwargs)
    saver = getattr(graph, "checkpointer", None)
    if isinstance(saver, Saver) and _runs_on(input):
        where = await saver._go(partial(saver.starting, where))
    with span(graph, "chat.invoke", where, gen_ai__operation__name="invoke_agent"):
        return await graph.ainvoke(input, where, **kwargs)


def _whose(graph: Graph, where: RunnableConfig) -> RunnableConfig:
    """The config with whose thread it is: nodes and tools ask for it, and whoever comes back must come back to the same."""
    saver = getattr(graph, "checkpointer", None)
    if not isinstance(saver, Saver) or where["configurable"].get("user_id") is not None:
        return where
    return cast(RunnableConfig, {**where, "configurable": {**where["configurable"], "user_id": saver.store.user}})


@contextmanager
def _updating(graph: Graph, where: RunnableConfig) -> Iterator[None]:
    """One span, however many checkpoints it takes."""
    before = running.told.set(True)
    try:
        with span(graph, "chat.time_travel.update_state", where):
            yield
    finally:
        running.told.reset(before)


def span(graph: Graph, name: str, where: RunnableConfig, **attributes: Any) -> Span:
    """A span of OpenTelemetry, where the graph runs on a store of ours that was told to make them."""
    saver = getattr(graph, "checkpointer", None)
    if not isinstance(saver, Saver) or not saver.store._telemetry.traces:
        return NO_SPAN
    place = saver._place(where)
    return place.store._telemetry.span(name, place.store.user, thread_id=place.thread, **attributes)


def _runs_on(input: Any) -> bool:
    """Whether what is run are the tasks that a checkpoint left open; a new input starts with a checkpoint of its own."""
    return input is None or isinstance(input, Command)


def _merged(where: Where, kwargs: dict[str, Any]) -> RunnableConfig:
    """The config, with what the caller gave besides (callbacks, a user) in `configurable=`."""
    found = config_of(where)
    extra = kwargs.pop("configurable", None)
    if not extra:
        return found
    return cast(RunnableConfig, {**found, "configurable": {**found["configurable"], **extra}})
