"""Graphs of a known shape."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt
from typing_extensions import TypedDict


def thread(id: str = "t", **configurable: Any) -> Any:
    return {"configurable": {"thread_id": id, **configurable}}


def say(text: str, id: str | None = None) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=id)]}


def echo(state: Any) -> dict[str, Any]:
    return {"messages": [AIMessage(f"you said: {state['messages'][-1].content}")]}


def chat(saver: Any, answer: Callable[[Any], Any] = echo, **compile: Any) -> Any:
    """One node that answers."""
    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=saver, **compile)


class Counted(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    steps: Annotated[list[str], operator.add]


def two_steps(saver: Any, **compile: Any) -> Any:
    """Think, then answer: two nodes, so that there is something in between to go back to."""
    builder = StateGraph(Counted)
    builder.add_node("think", lambda state: {"steps": ["think"]})
    builder.add_node("answer", lambda state: {"steps": ["answer"], **echo(state)})
    builder.add_edge(START, "think")
    builder.add_edge("think", "answer")
    return builder.compile(checkpointer=saver, **compile)


def asking(saver: Any) -> Any:
    """Asks for permission before it answers."""

    def answer(state: Any) -> dict[str, Any]:
        allowed = interrupt("may I?")
        return {"messages": [AIMessage(f"you said {allowed}")]}

    return chat(saver, answer)


def _extend(value: list[Any], writes: list[list[Any]]) -> list[Any]:
    return [*value, *(item for write in writes for item in write)]


class Deltas(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_extend)]


def deltas(saver: Any) -> Any:
    """Its messages are stored as changes."""
    builder = StateGraph(Deltas)
    builder.add_node(
        "answer",
        lambda state: {"messages": [AIMessage(f"answer {len(state['messages'])}", id=f"a{len(state['messages'])}")]},
    )
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=saver)
