"""A chat model that needs no model: it answers from the store, by the rules of `recollect.respond`.

It is what `chat_graph()` uses when none is set up, and stands in for one wherever LangChain wants a chat model, so that an
agent, its tests and its examples run without a network. It never calls a tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, ensure_config

from .. import respond
from ..store import Store
from .messages import question
from .whose import user_of

__all__ = ["OfflineModel"]

SILENT = f"Memory is switched off for this answer. {respond.NO_MODEL}"


class OfflineModel(BaseChatModel):
    """Answers the newest human message from what the store holds: `OfflineModel(store=store)`."""

    store: Any
    """An open `recollect.Store`; a config's `user_id` says whose, if not its own user's."""
    model_name: str = respond.NAME

    @property
    def _llm_type(self) -> str:
        return respond.NAME

    def _answer(self, messages: Sequence[BaseMessage]) -> str:
        given = ensure_config().get("configurable") or {}
        if given.get("inject") is False:
            return SILENT
        store: Store = self.store
        user = user_of(given)
        if user not in (None, store.user):
            store = store.for_user(str(user))
        asked = question(messages)
        store._catch_up()
        thread, branch = given.get("thread_id"), given.get("branch")
        return respond.answer(
            store, asked, conversation=None if thread is None else str(thread), branch=branch or None
        )  # fmt: skip

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = AIMessage(self._answer(messages), response_metadata={"model_name": self.model_name})
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        words = re.findall(r"\S+\s*|\s+", self._answer(messages))
        for i, word in enumerate(words):
            about = {"model_name": self.model_name} if i == 0 else {}
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word, response_metadata=about))
            if run_manager is not None:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Tools are for models that think: this one looks into the store itself."""
        return self
