"""`AgentNode`: an agent in a graph whose history follows the chat, not the thread.

A bot's webhook starts a run with a new thread id each time, so what a checkpointer keeps by thread is of no use to it. This
node works out which chat a run belongs to (`keys`), reads the newest turns of that chat, gives them to its agent before
the current messages (`merge`), and appends what is new, one record for each message (`history`). It is off unless
`use_graph_chat_history` says so. It never makes a run fail, nor wait for long: a store that fails or does not answer in time is
warned about and counted, left alone for a while (`patience`), and the agent answers without its history. Log lines and numbers
hold no content and no ids.
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
from ..aio import AsyncStore
from ..config import Settings
from ..errors import InvalidInput, NotFound, StoreBusy
from ..store import Store
from . import handoffs, keys
from .history import History, Tail, check_place, database_of, history_of, settings_of
from .inputs import messages_of
from .merge import Place, known_again, merged
from .messages import HISTORY, as_messages, text_of, trimmed
from .models import admit, chat_model
from .patience import Breaker, Budget, TookTooLong, breaker_of, within
from .whose import user_of

__all__ = ["AgentNode"]

T = TypeVar("T")
RETRIES, FIRST_WAIT = 3, 0.025
FEWEST = 20
"""Messages that are read at least: with fewer, what a checkpoint holds could not be told from what is new."""
NAMESPACE = ("agent_chat_history",)
RESETS = ("/reset", "/new")
RESET_REPLY = "We start afresh: what was said before is kept, and I will not look at it."

logger = logging.getLogger("recollect.agent_node")
_salt = os.urandom(16)


class _Chat(NamedTuple):
    """A chat's history, and how long this run waits for it."""

    history: History
    key: str
    """The key as it may be logged."""
    breaker: Breaker
    budget: Budget
    cooldown: float
    """Seconds for which nobody asks after a failure."""


class _Turn(NamedTuple):
    """What one run works with."""

    chat: _Chat | None
    given: list[BaseMessage]
    """What the graph holds."""
    asked: BaseMessage | None
    """The question, where it came in the inputs and not among the messages."""
    unwritten: list[BaseMessage]
    """What of it is not recorded yet."""
    shown: list[BaseMessage]
    """What the agent is given."""
    resets: bool


class AgentNode(Runnable[Any, dict[str, Any]]):
    """A node for `builder.add_node("agent", AgentNode(model, use_graph_chat_history=True))`.

    `model_or_agent` is a chat model (or its name), a compiled agent, or a function from `{"messages": [...]}`. The history is
    kept in `store`, else in the store that the graph was compiled with: ours, or any other of LangGraph's. `max_messages` is
    how many messages the agent is given; with 0 it sees the current ones alone. `history_key_candidates` are tried in their
    order (`recollect.langgraph.keys`), `history_key_template` is rendered over the first that holds, or is a key of its own.
    `learn` lets what people say become memories of the store's user, which is right for a bot with one user only. A message
    that is one of `reset_commands` begins a new conversation under the same key. A run waits `history_timeout_ms` for its
    history at most, and after a failure nobody asks the store for `history_retry_after_ms`; both are settings too."""

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
        store: Store | AsyncStore | BaseStore | None = None,
        messages_key: str = "messages",
        reset_commands: Sequence[str] = RESETS,
        reset_reply: str = RESET_REPLY,
        learn: bool = False,
        history_timeout_ms: int | None = None,
        history_retry_after_ms: int | None = None,
        name: str = "agent",
    ) -> None:
        if isinstance(max_messages, bool) or not isinstance(max_messages, int) or max_messages < 0:
            raise InvalidInput("max_messages is a number of messages, 0 for no history.")
        for what, flag in {"use_graph_chat_history": use_graph_chat_history, "learn": learn}.items():
            if not isinstance(flag, bool):
                raise InvalidInput(f"{what} is True or False, not {flag!r}.")
        if isinstance(reset_commands, str):
            raise InvalidInput("reset_commands is a list of texts.")
        check_place(history_namespace, history_value_field)
        if isinstance(history_key_candidates, str):
            raise InvalidInput("history_key_candidates is a list of texts.")
        self._candidates = tuple(keys.CANDIDATES if history_key_candidates is None else history_key_candidates)
        keys.check(self._candidates, history_key_template)
        waits = {"history_timeout_ms": history_timeout_ms, "history_retry_after_ms": history_retry_after_ms}
        self._waits = {name: ms for name, ms in waits.items() if ms is not None}
        self._settings = settings = (settings_of(store) or Settings.load()).but(**self._waits)
        self._agent = chat_model(model_or_agent, settings) if isinstance(model_or_agent, str) else model_or_agent
        if isinstance(self._agent, BaseLanguageModel):
            admit(self._agent, settings)
        elif not isinstance(self._agent, Runnable) and not callable(self._agent):
            raise InvalidInput("model_or_agent is a chat model, its name, an agent, or a function.")
        self._on, self._most, self._store = use_graph_chat_history, max_messages, store
        self._namespace, self._template = tuple(history_namespace), history_key_template
        self._field, self._messages, self._learn = history_value_field, messages_key, learn
        self._resets = frozenset(command.strip().casefold() for command in reset_commands)
        self._reply = reset_reply
        self.name = name
        self._numbers: dict[str, float] = dict.fromkeys(
            (
                "runs", "keyed_runs", "key_failures", "reads", "read_errors", "read_ms", "writes", "write_errors",
                "write_ms", "retries", "timeouts", "skipped", "messages_read", "messages_written", "truncations", "unreadable",
                "resets",
            ),
            0,
        )  # fmt: skip
        self._lock = threading.Lock()

    # -- LangGraph

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Run the node."""
        config = config or {}
        turn = self._before(input, config)
        if turn.resets:
            return self._reset(turn)
        return self._after(turn, self._ask(turn.shown, input, config), input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """`invoke` for async graphs. A store of LangGraph's is asked by its async methods."""
        config = config or {}
        loop = asyncio.get_running_loop()
        turn = await asyncio.to_thread(self._before, input, config, loop)
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

    def reset(self, key: str, *, store: Store | AsyncStore | BaseStore | None = None, user: str | None = None) -> None:
        """Begin a new conversation under a key, from outside a run. The turns before it stay."""
        where = store or self._store
        if where is None:
            raise InvalidInput("Say store=...: outside a run there is no graph whose store could be meant.")
        history_of(where, self._namespace, key, self._field, user=user, learn=self._learn).reset()
        self._count(resets=1)

    # -- before the agent

    def _before(self, input: Any, config: RunnableConfig, loop: asyncio.AbstractEventLoop | None = None) -> _Turn:
        given = self._current(input)
        asked = self._asked(given, input)
        if asked is not None:
            given = [*given, asked if self._on or asked.id else asked.model_copy(update={"id": ids.new()})]
            asked = given[-1]
        if not self._on:
            return _Turn(None, given, asked, [], given, False)
        chat = self._chat(input, config, loop)
        self._count(runs=1, keyed_runs=chat is not None)
        places = self._places(given, config)
        if places and self._is_reset(places[-1].message):
            return _Turn(chat, given, asked, [places[-1].message], [], True)
        # What stands before a reset is not to be looked at, though the checkpointer holds it.
        places = places[max((i + 1 for i, p in enumerate(places) if self._is_reset(p.message)), default=0) :]
        tail, current = Tail([]), [p.message for p in places]
        new: list[BaseMessage] = []
        if chat is not None:
            found = self._tried("read", lambda: self._look(chat.history, places), None, chat)
            if found is not None:
                tail, current = found
                self._told_of(tail)
            known = {m.id for m in tail.messages}
            begins = 0 if found is not None else _last_question(current)  # unread, nobody knows what is recorded
            new = [m for m in current[begins:] if m.id not in known and not isinstance(m, SystemMessage)]
            # Before the agent is asked: the question is kept even if the agent fails.
            if self._write(chat, new, begins=True):
                new = []
        return _Turn(chat, given, asked and current[-1], new, self._shown(tail, current), False)

    def _look(self, history: History, places: Sequence[Place]) -> tuple[Tail, list[BaseMessage]]:
        """The stored tail, and of the current messages those that are in it or new."""
        tail = history.tail(max(self._most, FEWEST))
        return tail, known_again(tail, places, history)

    def _told_of(self, tail: Tail) -> None:
        self._count(messages_read=len(tail.messages), unreadable=tail.unreadable)
        if tail.unreadable:
            logger.warning(
                "history: %d records cannot be read", tail.unreadable, extra=_about("unreadable", n=tail.unreadable)
            )

    def _sources(self, input: Any, config: RunnableConfig) -> dict[str, Any]:
        given = config.get("configurable") or {}
        return {
            "inputs": _get(input, "inputs"), "results": _get(input, "results"), "configurable": given, "config": config,
            "thread_id": given.get("thread_id"),
        }  # fmt: skip

    def _chat(self, input: Any, config: RunnableConfig, loop: asyncio.AbstractEventLoop | None) -> _Chat | None:
        wrong: list[str] = []
        try:
            sources = self._sources(input, config)
            found = keys.resolve(sources, self._candidates, self._template)
            wrong = keys.refused(sources, self._candidates, self._template)
        except Exception as e:  # what earlier nodes left may be anything, and read like anything
            logger.warning("history: no key (%s)", type(e).__name__, extra=_about("no_key", error=type(e).__name__))
            found = None
        self._count(key_failures=found is None or bool(wrong))
        if wrong:
            named = ", ".join(wrong)
            logger.warning("history: %s makes no key", named, extra=_about("key_refused", candidates=wrong))
        where = self._store if self._store is not None else _graph_store()
        if found is None or where is None:
            why = "no candidate holds" if found is None else "the graph has no store"
            logger.warning("history: none, %s; this run has none", why, extra=_about("no_history", reason=why))
            return None
        key = blake2b(found.text.encode(), key=_salt, digest_size=6).hexdigest()
        user = user_of(config.get("configurable"))
        try:
            made = history_of(where, self._namespace, found.text, self._field, user=user, learn=self._learn, loop=loop)
        except Exception as e:
            self._count(key_failures=1)
            logger.warning("history: none (%s)", type(e).__name__, extra=_about("no_history", error=type(e).__name__))
            return None
        logger.debug(
            "history: key %s from %s", key, found.candidate, extra=_about("key", key=key, candidate=found.candidate)
        )
        theirs = settings_of(where)
        settings = self._settings if theirs is None else theirs.but(**self._waits)
        waits = settings.history_timeout_ms / 1000, settings.history_retry_after_ms / 1000
        return _Chat(made, key, breaker_of(database_of(where)), Budget(waits[0]), waits[1])

    def _current(self, input: Any) -> list[BaseMessage]:
        found = input if isinstance(input, (list, BaseMessage)) else _get(input, self._messages)
        return [m for m in as_messages(found) if not isinstance(m, RemoveMessage)]

    def _asked(self, given: Sequence[BaseMessage], input: Any) -> BaseMessage | None:
        """The question that the inputs hold, unless the messages end in one, or in an answer that is still being worked on."""
        last = next((m for m in reversed(given) if not isinstance(m, SystemMessage)), None)
        if last is not None and (not isinstance(last, AIMessage) or last.tool_calls):
            return None
        found = messages_of(_get(input, "inputs"))
        return found[-1] if found and isinstance(found[-1], HumanMessage) else None

    def _places(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> list[Place]:
        """Every message with an id. One that has none gets the same in the same place of the same thread, so that a turn which
        is tried again is known; in another thread it is another message, though it says the same."""
        thread = (config.get("configurable") or {}).get("thread_id")
        made = []
        for n, m in enumerate(messages):
            if m.id:
                made.append(Place(m, True))
                continue
            said = f"{thread}|{n}|{m.type}|{text_of(m)}".encode("utf-8", "replace")
            id = ids.new() if thread is None else blake2b(said, digest_size=16).hexdigest()
            made.append(Place(m.model_copy(update={"id": id}), False))
        return made

    def _shown(self, tail: Tail, current: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The newest messages of both, and the current turn always."""
        system = [m for m in current if isinstance(m, SystemMessage)]
        past = [_marked(m) for m in tail.messages]
        both = merged(past, [m for m in current if not isinstance(m, SystemMessage)])
        most = max(self._most, len(both) - _last_question(both))
        if len(both) > most or tail.is_cut:
            self._count(truncations=1)
        return [*system, *trimmed(both, most)]

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
        update = self._said(said, turn.shown if self._on else turn.given, input)
        if turn.chat is not None:
            new = handoffs.without(update[self._messages])
            kept = [m for m in new if not isinstance(m, (SystemMessage, RemoveMessage))]
            self._write(turn.chat, [*turn.unwritten, *kept], begins=bool(turn.unwritten))
        if turn.asked is not None:
            update[self._messages] = [turn.asked, *update[self._messages]]
        return update

    def _reset(self, turn: _Turn) -> dict[str, Any]:
        self._count(resets=1)
        if turn.chat is not None:
            self._write(turn.chat, turn.unwritten, begins=True)
            self._tried("write", turn.chat.history.reset, None, turn.chat)
            logger.info("history: reset", extra=_about("reset", key=turn.chat.key))
        return {self._messages: [AIMessage(self._reply, id=ids.new())]}

    # -- the store

    def _write(self, chat: _Chat, messages: Sequence[BaseMessage], *, begins: bool = False) -> bool:
        """Whether all of them are recorded now."""
        if not messages:
            return True
        written = self._tried("write", lambda: chat.history.append(messages, begins=begins), None, chat)
        self._count(messages_written=written or 0)
        return written is not None

    def _tried(self, what: str, call: Callable[[], T], otherwise: T, chat: _Chat) -> T:
        """The outcome, after at most three more tries in the time that is left; `otherwise` when none succeeds."""
        if chat.budget.left <= 0 or not chat.breaker.admits():
            self._count(skipped=1)
            logger.debug("history: %s skipped", what, extra=_about(f"{what}_skipped", key=chat.key))
            return otherwise
        started = time.monotonic()
        left, attempt = chat.budget.left, 0
        try:
            while True:
                try:
                    found = within(left - (time.monotonic() - started), call, chat.breaker)
                except TookTooLong as e:
                    chat.history.give_up()
                    self._count(timeouts=1)
                    return self._failed(what, e, attempt, otherwise, chat)
                except Exception as e:
                    pause = FIRST_WAIT * 2**attempt * random.uniform(0.5, 1.5)
                    if _is_refused(e) or attempt == RETRIES or time.monotonic() - started + pause >= left:
                        return self._failed(what, e, attempt, otherwise, chat)
                    attempt += 1
                    self._count(retries=1)
                    time.sleep(pause)
                else:
                    chat.breaker.worked()
                    return found
        finally:
            chat.budget.spend(started)
            ms = (time.monotonic() - started) * 1000
            self._count(**{f"{what}s": 1, f"{what}_ms": ms})
            logger.debug("history: %s took %.1f ms", what, ms, extra=_about(what, key=chat.key, ms=round(ms, 1)))

    def _failed(self, what: str, e: Exception, attempt: int, otherwise: T, chat: _Chat) -> T:
        if _is_refused(e) or isinstance(e, StoreBusy):
            chat.breaker.worked()  # the store answers: it is about this chat, or it is at work
        else:
            chat.breaker.failed(chat.cooldown)
        self._count(**{f"{what}_errors": 1})
        logger.warning(
            "history: %s failed (%s), the run goes on without", what, type(e).__name__,
            extra=_about(f"{what}_failed", key=chat.key, error=type(e).__name__, attempts=attempt + 1),
        )  # fmt: skip
        return otherwise

    def _count(self, **numbers: float) -> None:
        with self._lock:
            for name, n in numbers.items():
                self._numbers[name] += n


def _about(event: str, **fields: Any) -> dict[str, Any]:
    return {"event": f"agent_history.{event}", "history": fields}


def _is_refused(e: Exception) -> bool:
    """Whether a store is there and cannot take this one value, or not for this chat (in the bin, erased): another try ends the
    same, and other chats are none the worse. Python's database drivers agree on these two names for a wrong value."""
    is_of_the_value = any(kind.__name__ in ("DataError", "IntegrityError") for kind in type(e).__mro__)
    return is_of_the_value or isinstance(e, (NotFound, ValueError, TypeError, OverflowError))


def _last_question(messages: Sequence[BaseMessage]) -> int:
    """Where the current turn begins."""
    return next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage)), 0)


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
