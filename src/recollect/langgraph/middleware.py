"""Memory for an agent of LangChain's: `create_agent(model, middleware=[MemoryMiddleware(store)])`.

Before each call of the model the best evidence for the question is put beside it, as data, for that call only: the agent's
state stays free of it. After the run what was said is in the log: the checkpointer of ours writes it, and where the agent
has another, or none, this does. The memory tools come with it. Whose memory, and which conversation, the run's config says
(`user_id`, `thread_id`).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import ensure_config

from ..store import Store
from .graph import is_kept_elsewhere, keep
from .messages import question, turn_start
from .tools import READ_ONLY, Scope, memory_tools

__all__ = ["MemoryMiddleware"]

REMEMBERED = 64


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recall before the model is asked, record after the run. `budget` is the tokens of evidence in a prompt, 0 for none;
    `tools` are names of `recollect.langgraph.TOOLS`; with `record=False` nothing is written."""

    def __init__(
        self, store: Store, *, budget: int = 800, tools: Sequence[str] = READ_ONLY, record: bool = True
    ) -> None:
        super().__init__()
        self.tools = memory_tools(store, tools)
        self._store, self._budget, self._records = store, budget, record
        self._found: OrderedDict[tuple[str, str | None, str | None], str] = OrderedDict()

    # -- before the agent: the person's turn is kept even if the model fails

    def before_agent(self, state: Any, runtime: Any) -> None:
        self._keep(state["messages"])
        self._scope().store._catch_up()

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        await asyncio.to_thread(self.before_agent, state, runtime)

    # -- before the model

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._with_evidence(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(await asyncio.to_thread(self._with_evidence, request))

    def _with_evidence(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        messages = list(request.messages)
        text = self._evidence(messages, self._scope())
        if not text:
            return request
        at = turn_start(messages)
        return request.override(messages=[*messages[:at], HumanMessage(text), *messages[at:]])

    def _evidence(self, messages: Sequence[BaseMessage], scope: Scope) -> str:
        asked = question(messages)
        if not self._budget or not scope.injects or not asked.strip():
            return ""
        # A model that uses tools is asked several times for one question: it is looked up once.
        id = messages[turn_start(messages)].id
        place = (scope.store.user, scope.thread, id)
        if id is None or place not in self._found:
            text = scope.store.context(asked, conversation=scope.here, budget=self._budget).text
            if id is None:
                return text
            self._found[place] = text
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)
        return self._found.get(place, "")

    # -- after the agent

    def after_agent(self, state: Any, runtime: Any) -> None:
        self._keep(state["messages"])

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _keep(self, messages: Sequence[BaseMessage]) -> None:
        config = ensure_config()
        if self._records and not is_kept_elsewhere(config):
            keep(Scope(self._store, config), messages)

    def _scope(self) -> Scope:
        return Scope(self._store, ensure_config())
