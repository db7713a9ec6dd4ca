"""A language model that says what it is told to, and writes down what it was shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class Scripted(BaseChatModel):
    """Its answers in their order: a text, streamed word by word; a message; an error. At the word DIES it dies."""

    answers: list[Any]
    shown: list[list[BaseMessage]]
    tools: list[str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.tools[:] = [tool.name if hasattr(tool, "name") else str(tool) for tool in tools]
        return self

    def _next(self, messages: list[BaseMessage]) -> Any:
        self.shown.append(list(messages))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        answer = self._next(messages)
        made = answer if isinstance(answer, AIMessage) else AIMessage(answer)
        return ChatResult(generations=[ChatGeneration(message=made)])

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Iterator[Any]:
        answer = self._next(messages)
        if isinstance(answer, AIMessage):
            chunks = [AIMessageChunk(content=answer.content, tool_calls=answer.tool_calls)]
        else:
            chunks = [AIMessageChunk(content=word) for word in re.findall(r"\S+\s*", answer)]
        for chunk in chunks:
            if chunk.content == "DIES":
                raise ConnectionError("the server went away")
            made = ChatGenerationChunk(message=chunk)
            if run_manager is not None:
                run_manager.on_llm_new_token(str(chunk.content), chunk=made)
            yield made


def scripted(*answers: Any) -> Scripted:
    return Scripted(answers=list(answers), shown=[], tools=[])


def call(tool: str, id: str = "call-1", **arguments: Any) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": id}])
