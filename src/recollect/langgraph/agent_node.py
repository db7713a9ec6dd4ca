"""`AgentNode`: an agent in a graph whose history follows the chat, not the thread.

A bot's webhook starts a run with a new thread id each time, so what a checkpointer keeps by thread is of no use to it. This
node works out which chat a run belongs to (`keys`), reads the newest turns of that chat, gives them to its agent before
the current messages, and appends what is new, one record for each message (`history`). It is off unless
`use_graph_chat_history` says so. It never makes a run fail: a store that does not answer is tried again, then warned
about and counted, and the agent answers without its history. Log lines and numbers hold no content and no ids.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase
from langgraph.config import get_store
from langgraph.store.base import BaseStore

from .. import ids
from ..config import Settings
from ..errors import InvalidInput, NotFound
from ..store import Store
from . import keys
from .history import History, Tail, history_of
from .messages import HISTORY, as_messages, text_of, trimmed
from .models import admit, chat_model

__all__ = ["AgentNode"]

T = TypeVar("T")
RETRIES, FIRST_WAIT = 3, 0.025
NAMESPACE = ("agent_chat_history",)
RESETS = ("/reset", "/new")
RESET_REPLY = "We start afresh: what was said before is kept, and I will not look at it."

logger = logging.getLogger("recollect.agent_node")
_salt = os.urandom(16)


class _Turn(NamedTuple):
    """What one run works with."""

    history: History | None
    current: list[BaseMessage]
    """What the graph holds, since the last reset."""
    new: list[BaseMessage]
    """What of it is not the checkpointer's from earlier turns: to be recorded."""
    shown: list[BaseMessage]
    """What the agent is given."""
    resets: bool
    key: str
    """The key as it may be logged."""


class AgentNode(Runnable[Any, dict[str, Any]]):
    """A node for `builder.add_node("agent", AgentNode(model, use_graph_chat_history=True))`.

    `model_or_agent` is a chat model (or its name), a compiled agent, or a function from `{"messages": [...]}`. The history is
    kept in `store`, else in the store that the graph was compiled with: ours, or any other of LangGraph's. `max_messages` is
    how many messages the agent is given; with 0 it sees the current ones alone. `history_key_candidates` are tried in their
    order (`recollect.langgraph.keys`), `history_key_template` is rendered over the first that holds. `learn` lets what people
    say become memories of the store's user, which is right for a bot with one user only. A message that is one of
    `reset_commands` begins a new conversation under the same key."""

    def __init__(
        self,
        model_or_agent: Any,
        use_graph_chat_history: bool = False,
        max_messages: int = 30,
        history_namespace: Sequence[str] = NAMESPACE,
        history_key_template: str = "{{conversation_key}}",
        history_key_candidates: Sequence[str] | None = None,
        history_value_field: str = "content",
        *,
        store: Store | BaseStore | None = None,
        messages_key: str = "messages",
        reset_commands: Sequence[str] = RESETS,
        reset_reply: str = RESET_REPLY,
        learn: bool = False,
        name: str = "agent",
    ) -> None:
        if isinstance(max_messages, bool) or not isinstance(max_messages, int) or max_messages < 0:
            raise InvalidInput("max_messages is a number of messages, 0 for no history.")
        if isinstance(history_namespace, str) or not history_namespace or not all(history_namespace):
            raise InvalidInput("history_namespace is a list of labels, with at least one.")
        self._candidates = tuple(keys.CANDIDATES if history_key_candidates is None else history_key_candidates)
        keys.check(self._candidates, history_key_template)
        settings = store.settings if isinstance(store, Store) else Settings.load()
        self._agent = chat_model(model_or_agent, settings) if isinstance(model_or_agent, str) else model_or_agent
        if isinstance(self._agent, BaseLanguageModel):
            admit(self._agent, settings)
        elif not isinstance(self._agent, Runnable) and not callable(self._agent):
            raise InvalidInput("model_or_agent is a chat model, its name, an agent, or a function.")
        self._on, self._most, self._store = bool(use_graph_chat_history), max_messages, store
        self._namespace, self._template = tuple(map(str, history_namespace)), history_key_template
        self._field, self._messages, self._learn = history_value_field, messages_key, learn
        self._resets = frozenset(command.strip().casefold() for command in reset_commands)
        self._reply = reset_reply
        self.name = name
        self._numbers: dict[str, float] = dict.fromkeys(
            (
                "runs", "keyed_runs", "key_failures", "reads", "read_errors", "read_ms", "writes", "write_errors",
                "write_ms", "retries", "messages_read", "messages_written", "truncations", "unreadable", "resets",
            ),
            0,
        )  # fmt: skip
        self._lock = threading.Lock()

    # -- LangGraph

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the node."""
        config = config or {}
        if not self._on:
            return self._said(self._ask(self._current(input), input, config), self._current(input), input)
        turn = self._before(input, config)
        if turn.resets:
            return self._reset(turn)
        said = self._ask(turn.shown, input, config)
        return self._after(turn, said, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """`invoke` for async graphs; the store is asked in a thread."""
        config = config or {}
        if not self._on:
            return self._said(await self._aask(self._current(input), input, config), self._current(input), input)
        turn = await asyncio.to_thread(self._before, input, config)
        if turn.resets:
            return await asyncio.to_thread(self._reset, turn)
        said = await self._aask(turn.shown, input, config)
        return await asyncio.to_thread(self._after, turn, said, input)

    def metrics(self) -> dict[str, float]:
        """Numbers since this node was made: runs, errors, retries, key failures, truncations, milliseconds. No content."""
        with self._lock:
            return dict(self._numbers)

    def key(self, input: Any, config: RunnableConfig | None = None) -> str | None:
        """The key that a run with this state and config has; None for none."""
        found = keys.resolve(self._sources(input, config or {}), self._candidates, self._template)
        return None if found is None else found.text

    def reset(self, key: str, *, store: Store | BaseStore | None = None, user: str | None = None) -> None:
        """Begin a new conversation under a key, from outside a run. What was said before stays."""
        where = store or self._store
        if where is None:
            raise InvalidInput("Say store=...: outside a run there is no graph whose store could be meant.")
        history_of(where, self._namespace, key, self._field, user=user, learn=self._learn).reset()
        self._count(resets=1)

    # -- before the agent

    def _before(self, input: Any, config: RunnableConfig) -> _Turn:
        given = self._current(input)
        current = self._identified(given, config)
        history, key = self._history(input, config)
        resets = bool(current) and self._is_reset(current[-1])
        if not resets:  # what stands before a reset is not to be looked at, though the checkpointer holds it
            current = current[max((i + 1 for i, m in enumerate(current) if self._is_reset(m)), default=0) :]
        tail = Tail([])
        if history is not None and not resets:
            tail = self._read(history, key)
            if current and not given[-1].id:
                current = [*current[:-1], self._told_apart(current[-1], history, tail, key)]
        new = current[-1:] if resets else [m for m in current if not isinstance(m, SystemMessage)]
        if history is not None:
            self._count(keyed_runs=1)
            known = {m.id for m in tail.messages}
            new = [m for m in new if m.id not in known]
            self._write(
                history, new, key, begins=True
            )  # before the agent is asked: what was said is kept even if it fails
        self._count(runs=1)
        return _Turn(history, current, new, self._merged(tail, current), resets, key)

    def _sources(self, input: Any, config: RunnableConfig) -> dict[str, Any]:
        given = config.get("configurable") or {}
        return {
            "inputs": _get(input, "inputs"), "results": _get(input, "results"), "configurable": given, "config": config,
            "thread_id": given.get("thread_id"),
        }  # fmt: skip

    def _history(self, input: Any, config: RunnableConfig) -> tuple[History | None, str]:
        try:
            found = keys.resolve(self._sources(input, config), self._candidates, self._template)
        except Exception as e:  # what earlier nodes left may be anything, and read like anything
            logger.warning("history: no key (%s)", type(e).__name__, extra=_about("no_key", error=type(e).__name__))
            found = None
        where = self._store if self._store is not None else _graph_store()
        if found is None or where is None:
            self._count(key_failures=found is None)
            why = "no candidate holds" if found is None else "the graph has no store"
            logger.warning("history: none, %s; this run has none", why, extra=_about("no_history", reason=why))
            return None, ""
        key = blake2b(found.text.encode(), key=_salt, digest_size=6).hexdigest()
        user = (config.get("configurable") or {}).get("user_id")
        try:
            made = history_of(where, self._namespace, found.text, self._field, user=user, learn=self._learn)
        except Exception as e:
            self._count(key_failures=1)
            logger.warning("history: none (%s)", type(e).__name__, extra=_about("no_history", error=type(e).__name__))
            return None, ""
        logger.debug(
            "history: key %s from %s", key, found.candidate, extra=_about("key", key=key, candidate=found.candidate)
        )
        return made, key

    def _current(self, input: Any) -> list[BaseMessage]:
        found = input if isinstance(input, (list, BaseMessage)) else _get(input, self._messages)
        return [m for m in as_messages(found) if not isinstance(m, RemoveMessage)]

    def _identified(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> list[BaseMessage]:
        """Every message with an id. One that has none gets the same in the same place of the same thread, so that what a
        checkpointer brings back is known; in another thread it is another message, though it says the same."""
        thread = (config.get("configurable") or {}).get("thread_id")
        made = []
        for n, m in enumerate(messages):
            if not m.id:
                said = f"{thread}|{n}|{m.type}|{text_of(m)}".encode("utf-8", "replace")
                id = ids.new() if thread is None else blake2b(said, digest_size=16).hexdigest()
                m = m.model_copy(update={"id": id})
            made.append(m)
        return made

    def _told_apart(self, last: BaseMessage, history: History, tail: Tail, key: str) -> BaseMessage:
        """Where nothing is carried from turn to turn, "yes" stands in the same place of the same thread every time. One that
        was answered is of an earlier turn: this is another, known by the answer it follows (so a retry is the same)."""
        if not isinstance(last, HumanMessage):
            return last
        if not self._most:  # nothing was read
            tail = self._tried("read", lambda: history.tail(1), tail, key)
        places = {m.id: n for n, m in enumerate(tail.messages)}
        answers = [n for n, m in enumerate(tail.messages) if not isinstance(m, HumanMessage)]
        at = places.get(last.id)
        if not answers or (at is not None and at > answers[-1]):
            return last
        if at is None and not (tail.is_cut and self._tried("read", lambda: history.has(last), False, key)):
            return last
        said = f"{last.id}|{tail.messages[answers[-1]].id}".encode("utf-8", "replace")
        return last.model_copy(update={"id": blake2b(said, digest_size=16).hexdigest()})

    def _merged(self, tail: Tail, current: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Oldest to newest: what is stored, in the words of the present where both have it, then what is new; of that the
        newest, and the current turn always."""
        by_id = {m.id: m for m in current}
        system = [m for m in current if isinstance(m, SystemMessage)]
        stored = {m.id for m in tail.messages}
        past = [by_id.get(m.id) or _marked(m) for m in tail.messages]
        rest = [m for m in current if m.id not in stored and not isinstance(m, SystemMessage)]
        merged = [*past, *rest]
        last = next((i for i in range(len(merged) - 1, -1, -1) if isinstance(merged[i], HumanMessage)), 0)
        least = len(merged) - last
        if len(merged) > max(self._most, least) or tail.is_cut:
            self._count(truncations=1)
        return [*system, *trimmed(merged, max(self._most, least))]

    def _is_reset(self, message: BaseMessage) -> bool:
        if not isinstance(message, HumanMessage):
            return False
        said = text_of(message).strip().casefold()
        return said in self._resets or (said.startswith("/") and said.partition("@")[0] in self._resets)

    # -- the agent

    def _ask(self, messages: list[BaseMessage], input: Any, config: RunnableConfig) -> Any:
        agent = self._agent
        if isinstance(agent, Runnable):
            return agent.invoke(self._given(messages, input), config)
        return agent(self._given(messages, input))

    async def _aask(self, messages: list[BaseMessage], input: Any, config: RunnableConfig) -> Any:
        agent = self._agent
        if isinstance(agent, Runnable):
            return await agent.ainvoke(self._given(messages, input), config)
        said = agent(self._given(messages, input))
        return await said if asyncio.iscoroutine(said) else said

    def _given(self, messages: list[BaseMessage], input: Any) -> Any:
        if _is_model(self._agent):
            return messages
        return {**input, self._messages: messages} if isinstance(input, Mapping) else {self._messages: messages}

    def _said(self, said: Any, shown: Sequence[BaseMessage], input: Any) -> dict[str, Any]:
        """The agent's answer as an update of the state: of its messages, and of all else, what it was not given."""
        told = said if isinstance(said, Mapping) else {}
        rest = {k: v for k, v in told.items() if k != self._messages and _get(input, k) is None}
        answer = said.get(self._messages) if isinstance(said, Mapping) else said
        found = [AIMessage(answer)] if isinstance(answer, str) else as_messages(answer)
        given = {m.id for m in shown if m.id}
        if len(found) >= len(shown) and all(map(_is_same, shown, found)):  # all of its state came back
            found = found[len(shown) :]
        new = [m for m in found if not m.id or m.id not in given]
        return {**rest, self._messages: [m if m.id else m.model_copy(update={"id": ids.new()}) for m in new]}

    # -- after the agent

    def _after(self, turn: _Turn, said: Any, input: Any) -> dict[str, Any]:
        update = self._said(said, turn.shown, input)
        if turn.history is not None:
            kept = [m for m in update[self._messages] if not isinstance(m, (SystemMessage, RemoveMessage))]
            self._write(turn.history, kept, turn.key)
        return update

    def _reset(self, turn: _Turn) -> dict[str, Any]:
        self._count(resets=1)
        if turn.history is not None:
            history = turn.history
            self._tried("write", lambda: history.reset(), None, turn.key)
        logger.info("history: reset", extra=_about("reset", key=turn.key))
        return {self._messages: [AIMessage(self._reply, id=ids.new())]}

    # -- the store

    def _read(self, history: History, key: str) -> Tail:
        if not self._most:
            return Tail([])
        tail = self._tried("read", lambda: history.tail(self._most), Tail([]), key)
        self._count(messages_read=len(tail.messages), unreadable=tail.unreadable)
        if tail.unreadable:
            logger.warning(
                "history: %d records cannot be read", tail.unreadable, extra=_about("unreadable", n=tail.unreadable)
            )
        return tail

    def _write(self, history: History, messages: Sequence[BaseMessage], key: str, *, begins: bool = False) -> None:
        if messages:
            written = self._tried("write", lambda: history.append(messages, begins=begins), 0, key)
            self._count(messages_written=written)

    def _tried(self, what: str, call: Callable[[], T], otherwise: T, key: str) -> T:
        """The outcome, after at most three more tries; `otherwise` when none succeeds."""
        started = time.perf_counter()
        try:
            for attempt in range(RETRIES + 1):
                try:
                    return call()
                except Exception as e:
                    if attempt == RETRIES or isinstance(
                        e, (InvalidInput, NotFound)
                    ):  # in the bin, or erased: it stays so
                        self._count(**{f"{what}_errors": 1})
                        logger.warning(
                            "history: %s failed (%s), the run goes on without", what, type(e).__name__,
                            extra=_about(f"{what}_failed", key=key, error=type(e).__name__, attempts=attempt + 1),
                        )  # fmt: skip
                        return otherwise
                    self._count(retries=1)
                    time.sleep(FIRST_WAIT * 2**attempt * random.uniform(0.5, 1.5))
            return otherwise
        finally:
            ms = (time.perf_counter() - started) * 1000
            self._count(**{f"{what}s": 1, f"{what}_ms": ms})
            logger.debug("history: %s took %.1f ms", what, ms, extra=_about(what, key=key, ms=round(ms, 1)))

    def _count(self, **numbers: float) -> None:
        with self._lock:
            for name, n in numbers.items():
                self._numbers[name] += n


def _about(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": f"agent_history.{event}", "history": fields}


def _get(input: Any, name: str) -> Any:
    return input.get(name) if isinstance(input, Mapping) else getattr(input, name, None)


def _graph_store() -> BaseStore | None:
    try:
        return get_store()
    except (RuntimeError, KeyError, AttributeError):
        return None


def _is_model(agent: Any) -> bool:
    while isinstance(agent, RunnableBindingBase):
        agent = agent.bound
    return isinstance(agent, BaseLanguageModel)


def _marked(message: BaseMessage) -> BaseMessage:
    """A message of the history, marked: a checkpointer of ours does not record it again under the run's own thread."""
    return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, HISTORY: True}})


def _is_same(given: BaseMessage, other: BaseMessage) -> bool:
    """Whether a message that came back is one that was given; two that say the same in the same words may be two."""
    if given.id:
        return given.id == other.id
    return given.type == other.type and given.content == other.content
