"""A bot: one node behind a webhook, which gives every delivery a thread of its own."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from payloads import TELEGRAM, Payload
from typing_extensions import TypedDict

from recollect import ids


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    results: dict[str, Any]
    inputs: dict[str, Any]


def graph(node: Any, **compile: Any) -> Any:
    return StateGraph(State).add_node("agent", node).add_edge(START, "agent").compile(**compile)


def webhook(compiled: Any, text: str, payload: Payload = TELEGRAM, **configurable: Any) -> str:
    """A delivery: a new thread each time."""
    given = {"configurable": {"thread_id": ids.new(), **configurable}}
    return str(
        compiled.invoke({"messages": [HumanMessage(text)], "results": payload.results}, given)["messages"][-1].text
    )
