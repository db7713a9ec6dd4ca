"""Messages in a graph's state: how they are redacted, and what of them comes into the log.

State is a graph's own affair, and a graph goes on working with it: so by default only the *text* of messages is redacted.
Tool arguments (a pending approval runs with them), signed reasoning and ids stay as they are. The log gets what was said:
a message of its own for each speaker's text, `tool_use` and `tool_result` for tools, a trace for visible reasoning.
"""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.store.base import Item
from langgraph.types import Send
from pydantic import BaseModel

from .. import events
from ..checkpoints import draft, pieces
from ..errors import NotSerializable
from ..model import Entry, Reasoning
from ..redact import Gate
from ..search import fence
from ..search.index import HANDOFF
from . import handoffs
from .copies import COMMON

DEEPEST = 250
"""Levels that are searched. LangGraph's serializer goes no further than 254."""
START, ROOT = "__start__", "__root__"
"""LangGraph's names: the channel of a graph's input, and the only one of a graph whose state has no parts."""
HISTORY = "recollect_history"
"""In `additional_kwargs`: the message was brought in from a chat's history, where it is recorded already."""
ROLES = {"user", "human", "ai", "assistant", "system", "developer", "tool", "function"}
TEXT_BLOCKS = {"text", "input_text", "output_text", "text-plain"}
TYPED, TYPED_KEYS = {"text", "input_text"}, {"type", "text", "id", "index", "cache_control"}
"""A block that holds what a person typed: with a filename, a source or a mime type it holds a file's text."""
ATTACHED = "attachment"
"""The name of the event that holds the text of a file."""
THOUGHTS = {"reasoning", "thinking"}
CALLS = {"tool_use", "tool_call", "function_call", "server_tool_call", "invalid_tool_call"}
_NAMES = {"id", "type", "role", "name", "tool_call_id", "node"}
_IDS = _NAMES - {"name"}


# -- redaction


def clean(value: Any, gate: Gate, mode: str, channel: str, spoken: Sequence[str]) -> Any:
    """What a channel holds, with secrets replaced: in the text of messages, or with mode "all" in every text. The very same
    object when there is nothing to replace; otherwise a copy, since the graph goes on with what it has. `spoken`: the channels
    in which a bare text is a message too, as LangGraph takes it."""
    cleaner = _Cleaner(gate, mode == "all", spoken)
    try:
        return cleaner.told(value, 0) if channel == START else cleaner.value(value, channel in spoken, 0)
    except RecursionError:
        raise NotSerializable(
            f"The channel {channel!r} holds something that is too deep to be searched for secrets, or that holds itself: "
            f"{DEEPEST} levels at most."
        ) from None


class _Cleaner:
    def __init__(self, gate: Gate, everything: bool, channels: Sequence[str]) -> None:
        self._gate = gate
        self._all = everything
        self._channels = channels

    def told(self, value: Any, depth: int) -> Any:
        """A graph's input, or what a node is sent: a whole state, before its parts have come into their channels."""
        if isinstance(value, dict):
            return self._dict(value, False, depth, self._channels)
        if not isinstance(value, BaseMessage) and (names := _fields(value)) is not None:
            return self._object(value, names, False, depth, self._channels)
        return self.value(value, ROOT in self._channels, depth)

    def value(self, value: Any, spoken: bool, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value) if spoken or self._all else value
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._bytes(value) if self._all else value
        if depth > DEEPEST:
            raise RecursionError
        if isinstance(value, BaseMessage):
            return self._message(value, depth)
        if isinstance(value, dict):
            return self._dict(value, spoken, depth)
        if isinstance(value, (list, tuple, set, frozenset, deque)):
            return self._several(value, spoken, depth)
        if isinstance(value, Send):  # its node is what LangGraph runs
            arg = self.told(value.arg, depth + 1)
            if arg is value.arg:
                return value
            sent = copy.copy(value)
            sent.arg = arg
            return sent
        names = _fields(value)
        if names is not None:
            return self._object(value, names, spoken, depth)
        return self._other(value, depth) if self._all else value

    def _text(self, value: str) -> str:
        if type(value) is str:
            return self._gate.text(value)
        plain = str.__str__(value)
        safe = plain if isinstance(value, Enum) else self._gate.text(plain)
        return value if safe == plain else safe

    def _bytes(self, value: bytes | bytearray | memoryview) -> bytes | bytearray | memoryview:
        try:
            text = bytes(value).decode()
        except UnicodeDecodeError:
            return value
        safe = self._gate.text(text)
        if safe == text:
            return value
        return bytearray(safe.encode()) if isinstance(value, bytearray) else safe.encode()

    def _id(self, value: str) -> str:
        """What things are told apart by: a number or noise stays, whatever it looks like. The same secret becomes the same
        marker everywhere, so that an answer still belongs to its call."""
        return value if self._gate.names_a_secret(value) is None else self._gate.text(value)

    def _several(self, values: Any, spoken: bool, depth: int) -> Any:
        if isinstance(values, tuple) and len(values) == 2 and isinstance(values[0], str) and values[0] in ROLES:
            spoken = spoken or isinstance(values[1], str)  # a role and a text: a message, wherever it stands
        done, changed = [], False
        for value in values:
            safe = self.value(value, spoken, depth + 1)
            changed = changed or safe is not value
            done.append(safe)
        if not changed:
            return values
        if isinstance(values, list):
            return done
        if isinstance(values, deque):
            return deque(done, values.maxlen)
        return type(values)(*done) if hasattr(values, "_fields") else type(values)(done)

    def _dict(
        self, value: dict[Any, Any], spoken: bool, depth: int, channels: Sequence[str] = ()
    ) -> dict[Any, Any]:  # fmt: skip
        message = "content" in value and ("role" in value or "type" in value)
        spoken = spoken and not message
        done: dict[Any, Any] = {}
        changed = False
        for key, item in value.items():
            if message and key == "content":
                safe = self._content(item, depth)
            elif key in channels:
                safe = self.value(item, True, depth + 1)
            else:
                safe = self._field(key, item, spoken and not (key in _NAMES and isinstance(item, str)), depth)
            name = self.value(key, False, depth + 1) if self._all else key
            while name is not key and (name in done or name in value):
                name = f"{name}'"  # two keys that were both secrets stay two keys
            changed = changed or safe is not item or name is not key
            done[name] = safe
        return done if changed else value

    def _field(self, name: Any, item: Any, spoken: bool, depth: int) -> Any:
        if self._all and name in _IDS and isinstance(item, str):
            return self._id(item)
        return self.value(item, spoken, depth + 1)

    def _object(
        self, value: Any, names: Iterable[str], spoken: bool, depth: int, channels: Sequence[str] = ()
    ) -> Any:  # fmt: skip
        changed = {}
        for name in names:
            before = getattr(value, name, None)
            after = self._field(name, before, spoken or name in channels, depth)
            if after is not before:
                changed[name] = after
        if not changed:
            return value
        if isinstance(value, BaseModel):
            return value.model_copy(update=changed)
        twin = copy.copy(value)
        for name, after in changed.items():
            object.__setattr__(twin, name, after)
        return twin

    def _other(self, value: Any, depth: int) -> Any:
        """What is no plain data, but stored as a text."""
        make: Callable[[Any], Any] = type(value)
        if isinstance(value, BaseException):  # LangGraph stores no more of it
            text, make = repr(value), str
        elif isinstance(value, PurePath):
            text = str(value)
        elif hasattr(value, "get_secret_value"):
            text = value.get_secret_value()
        else:
            return value
        safe = self.value(text, False, depth + 1)
        return value if safe is text else make(safe)

    def _message(self, message: BaseMessage, depth: int) -> BaseMessage:
        changed = {}
        content = self._content(message.content, depth)
        if content is not message.content:
            changed["content"] = content
        if self._all:
            for name, before in {**message.__dict__, **(message.__pydantic_extra__ or {})}.items():
                if name != "content" and (after := self._field(name, before, False, depth)) is not before:
                    changed[name] = after
        return message.model_copy(update=changed) if changed else message

    def _content(self, content: Any, depth: int) -> Any:
        if isinstance(content, str):
            return self._gate.text(content)
        if not isinstance(content, list):
            return self.value(content, False, depth + 1) if self._all else content
        done: list[Any] = []
        for block in content:
            if isinstance(block, str):
                done.append(self._gate.text(block))
            elif self._all:
                done.append(self.value(block, False, depth + 1))
            elif isinstance(block, dict) and isinstance(block.get("text"), str) and block.get("type") in TEXT_BLOCKS:
                text = self._gate.text(block["text"])
                done.append(block if text is block["text"] else {**block, "text": text})
            else:
                done.append(block)
        return content if all(a is b for a, b in zip(done, content, strict=True)) else done


def _fields(value: Any) -> Iterable[str] | None:
    """The names of what an object holds; None of what is no object of plain data."""
    if isinstance(value, BaseModel):
        return [*type(value).model_fields, *(value.model_extra or ())]
    if isinstance(value, Item):
        return Item.__slots__
    return [f.name for f in fields(value)] if is_dataclass(value) and not isinstance(value, type) else None


# -- what was put in by the person


class Own(NamedTuple):
    """What the person put into a run: their own messages, as they were before any node ran."""

    said: tuple[tuple[HumanMessage, HumanMessage], ...]
    """Each as it was given, and a copy of it. LangGraph gives the first its id; a node may change it, but not the copy."""
    texts: frozenset[str]

    def says(self, message: HumanMessage, gate: Gate) -> bool:
        """Whether the person said this. The text tells: an id is whatever a node writes into it."""
        text = text_of(message)
        return text in self.texts or (bool(self.texts) and gate.another().text(text) in self.texts)

    def missing(self, state: Sequence[BaseMessage], new: Sequence[int]) -> list[HumanMessage]:
        """Their messages that a state does not hold: a node has removed them, or put something else in their place."""
        by_id = {m.id: text_of(m) for m in state if m.id}
        texts = {text_of(state[i]) for i in new if isinstance(state[i], HumanMessage)}
        lost = []
        for given, kept in self.said:
            text = text_of(kept)
            if by_id.get(given.id) != text if given.id else text not in texts:
                lost.append(kept.model_copy(update={"id": given.id}))
        return lost


NOBODY = Own((), frozenset())


def own_words(start: Any, channels: Sequence[str], *, copied: bool = False) -> dict[str, Own]:
    """The person's messages in a graph's input, by channel; `copied`, to be logged even when the graph drops them."""
    own = {}
    for channel in channels:
        part = start.get(channel) if isinstance(start, Mapping) else getattr(start, channel, None)
        if part is None and isinstance(start, (list, BaseMessage)):
            part = start
        found = [m for m in as_messages(part) if isinstance(m, HumanMessage)]
        if found:
            said = tuple((m, m.model_copy(deep=not isinstance(m.content, str))) for m in found) if copied else ()
            own[channel] = Own(said, frozenset(map(text_of, found)))
    return own


def as_messages(value: Any) -> list[BaseMessage]:
    """Whatever LangGraph takes for messages, as messages; nothing where it is none."""
    if value is None:
        return []
    if getattr(value, "_fields", None) == ("value",):  # a snapshot of a channel that is stored as changes
        value = value.value
    if type(value).__name__ == "Overwrite" and hasattr(value, "value"):
        value = value.value
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, list) and (
        COMMON.issuperset(map(type, value)) or all(isinstance(m, BaseMessage) for m in value)
    ):
        return value
    try:
        return list(convert_to_messages(value if isinstance(value, list) else [value]))
    except (ValueError, TypeError, NotImplementedError):
        return []


# -- what a model is shown


def trimmed(messages: Sequence[BaseMessage], most: int) -> list[BaseMessage]:
    """The newest messages, and no tool result whose call is not among them, nor a call whose results are not."""
    kept = list(messages[-most:]) if most > 0 else []
    waiting: dict[str | None, int] = {}  # by order, since many a server calls every first call "call_0"
    answers: dict[int, int] = {}
    for i, m in enumerate(kept):
        if isinstance(m, AIMessage):
            waiting |= {call["id"]: i for call in m.tool_calls}
        elif isinstance(m, ToolMessage) and m.tool_call_id in waiting:
            answers[i] = waiting.pop(m.tool_call_id)
    answered = list(answers.values())
    lost: set[int] = set()
    whole: list[BaseMessage] = []
    for i, m in enumerate(kept):
        if isinstance(m, AIMessage) and m.tool_calls and i < len(kept) - 1:  # the last one may be about to be answered
            if answered.count(i) < len({call["id"] for call in m.tool_calls}):
                lost.add(i)
                if text_of(m).strip():
                    whole.append(AIMessage(text_of(m), id=m.id, name=m.name))
                continue
        if not isinstance(m, ToolMessage) or answers.get(i, -1) not in {-1, *lost}:
            whole.append(m)
    return whole


# -- what comes into the log


def text_of(message: BaseMessage) -> str:
    """What a message says. Pictures and the like are named, thoughts and calls left out."""
    if isinstance(message.content, str):
        return message.content
    parts: list[str] = []
    for block in message.content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block.get("text"), str) and block.get("type") not in THOUGHTS:
            parts.append(block["text"])
        elif block.get("type") not in THOUGHTS | CALLS:
            parts.append(f"[{block.get('type') or 'content'}]")
    return "\n".join(parts)


def typed(content: Sequence[Any]) -> tuple[str, list[str], bool]:
    """Of a person's message in blocks: what it says, the texts that came inside of files, and whether it is plain what the
    person typed. One block that holds nothing but a text is; of several, one may be the text of a file."""
    parts: list[str] = []
    carried: list[str] = []
    plain = 0
    for block in content:
        text = block if isinstance(block, str) else block.get("text")
        if not isinstance(text, str) or (isinstance(block, dict) and block.get("type") in THOUGHTS):
            if block.get("type") not in THOUGHTS | CALLS:
                parts.append(f"[{block.get('type') or 'content'}]")
        elif isinstance(block, str) or (block.get("type") in TYPED and block.keys() <= TYPED_KEYS):
            parts.append(text)
            plain += 1
        else:
            parts.append(f"[{block.get('type') or 'content'}]")
            carried.append(text)
    return "\n".join(parts), carried, plain < 2


def is_question(message: BaseMessage) -> bool:
    """Whether a message is a person's, and not evidence that was put beside it."""
    return isinstance(message, HumanMessage) and not fence.is_ours(text_of(message))


def question(messages: Sequence[BaseMessage]) -> str:
    """The newest thing the person said."""
    return next((text_of(m) for m in reversed(messages) if is_question(m)), "")


def turn_start(messages: Sequence[BaseMessage]) -> int:
    """Where the current turn begins: at the newest thing the person said."""
    return next((i for i in range(len(messages) - 1, -1, -1) if is_question(messages[i])), 0)


def thoughts_of(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        said = message.additional_kwargs.get("reasoning_content")
        return said if isinstance(said, str) else ""
    found = []
    for block in message.content:
        if isinstance(block, dict) and block.get("type") in THOUGHTS:
            said = block.get("reasoning") or block.get("thinking") or block.get("text")
            if isinstance(said, str):
                found.append(said)
    return "\n\n".join(found)


class Logger:
    """Makes items for the log from messages. `prepare` checks and redacts an entry; `namespace` is that of a subgraph."""

    def __init__(
        self, secret: bytes, namespace: str, gate: Gate, prepare: Callable[[Entry], events.Draft],
        handoffs: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._secret = secret
        self._handoffs = handoffs or {}
        """Tools that hand the turn to another agent, and to whom."""
        self._namespace = namespace
        self._gate = gate
        self._prepare = prepare

    def items(
        self, message: BaseMessage, id: str, own: bool, tools: Mapping[str, str], *, is_sure: bool = True
    ) -> list[draft.Item]:
        """At most one event for what is said, one for each call and for each text that came in a file. `tools` names the tool
        of a call. The person's `own` words are learned from where that `is_sure`."""
        if isinstance(message, RemoveMessage) or message.additional_kwargs.get(HISTORY) is True:
            return []
        if isinstance(message, ToolMessage) and (to := self._handed(message)) is not None:
            made = self._handoff(f"h:{self.name(message.tool_call_id)}", message, to)
            made.also = f"c:{self.name(message.tool_call_id)}"  # the call has told it already
            return [made]
        id = self.name(message.id) if isinstance(message.id, str) and message.id else id
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        if handoffs.is_back(message):
            name = (calls[0].get("id") if calls else None) or id
            return [self._handoff(f"c:{self.name(name)}", message, calls[0]["name"] if calls else "")]
        found = []
        text, thoughts = text_of(message), thoughts_of(message)
        is_own = own and isinstance(message, HumanMessage)
        is_typed = is_sure or not is_own
        if is_own and not isinstance(message.content, str):
            text, carried, is_plain = typed(message.content)
            is_typed = is_sure and is_plain
            for i, one in enumerate(carried):
                found.append(self._item(f"f:{id}/{i}", one, {"kind": "event", "name": ATTACHED, "text": _safe(one)}))
        if text.strip() or thoughts or not calls:
            found.append(self._said(message, id, own, is_typed, text, thoughts, tools))
        for call in calls:
            name = call.get("id") or f"{id}/{call['name']}"
            if call["name"] in self._handoffs:
                found.append(self._handoff(f"c:{self.name(name)}", message, self._handoffs[call["name"]]))
                continue
            entry: Entry = {
                "kind": "tool_use", "tool": call["name"] or "?", "text": _json(call["args"]),
                "payload": {"tool_call_id": call.get("id")}, "agent": self._agent(message),
            }  # fmt: skip
            found.append(self._item(f"c:{self.name(name)}", [call["name"], call["args"]], entry))
        return found

    def _handed(self, message: ToolMessage) -> str | None:
        """To whom a tool's result hands the turn; None if it does not."""
        if handoffs.is_back(message):
            return message.name or ""
        return handoffs.destination(message) or self._handoffs.get(message.name or "")

    def _handoff(self, id: str, message: BaseMessage, to: str) -> draft.Item:
        """A handoff is one event. What stands in its messages for a model to read is not what anybody said."""
        payload: dict[str, Any] = {"to": _safe(to)}
        if handoffs.is_back(message):
            payload = {"by": _safe(to), "said": _safe(text_of(message))}
        entry: Entry = {"kind": "event", "name": HANDOFF, "payload": payload, "agent": self._agent(message)}
        return self._item(id, [HANDOFF, to], entry)

    def _said(
        self, message: BaseMessage, id: str, own: bool, is_typed: bool, text: str, thoughts: str, tools: Mapping[str, str]
    ) -> draft.Item:  # fmt: skip
        entry: Entry
        if isinstance(message, (ToolMessage, FunctionMessage)):
            call = getattr(message, "tool_call_id", None)
            entry = {
                "kind": "tool_result", "role": "tool", "text": _safe(text), "tool": message.name or tools.get(call or ""),
                "status": getattr(message, "status", None), "payload": {"tool_call_id": call} if call else None,
            }  # fmt: skip
        else:
            entry = {"kind": "message", "role": _role(message, own), "text": _safe(text)}
            if not is_typed:
                entry["payload"] = {"own": False}
            if thoughts:
                entry["reasoning"] = Reasoning(_safe(thoughts))
            if isinstance(message, AIMessage):
                entry |= _costs(message)
        entry["agent"] = self._agent(message) or ("graph" if _is_injected(message, own) else None)
        content = message.content if isinstance(message.content, str) else _json(message.content)
        said = [message.type, message.name, content, _json(getattr(message, "tool_calls", None))]
        if not self._namespace:
            item = self._item(f"m:{id}", said, entry)
            if not isinstance(message, (HumanMessage, SystemMessage)):
                item.over = f"s:{id}"
            return item
        if entry["kind"] == "message":  # outside of what the conversation shows
            reasoning = entry.pop("reasoning", None)
            entry |= {"kind": "event", "name": "message"}
            if reasoning is not None:
                entry["payload"] = {"reasoning": reasoning.text}  # type: ignore[union-attr]
        item = self._item(f"s:{id}", said, entry)
        item.also = f"m:{id}"
        return item

    def _item(self, id: str, said: Any, entry: Entry) -> draft.Item:
        plain: Entry = {key: value for key, value in entry.items() if value is not None}  # type: ignore[assignment]
        known_by = pieces.digest(self._secret, "said", _json(said).encode("utf-8", "surrogatepass"))
        return draft.Item(id, known_by, self._prepare(plain))

    def _agent(self, message: BaseMessage) -> str | None:
        return _safe(self._namespace or message.name or "") or None

    def name(self, id: str) -> str:
        """A message's id as it is kept: a hash. Ids come from anywhere, and are only ever compared."""
        return pieces.digest(self._secret, "id", id.encode("utf-8", "surrogatepass")).hex()


def calls_in(messages: Iterable[BaseMessage]) -> dict[str, str]:
    """Which tool a call was of."""
    return {
        str(call["id"]): call["name"]
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call.get("id")
    }


def _is_injected(message: BaseMessage, own: bool) -> bool:
    return isinstance(message, HumanMessage) and not own


def _role(message: BaseMessage, own: bool) -> str:
    """Whose words. A HumanMessage that the graph made itself - a summary, say - is not the person's."""
    if isinstance(message, HumanMessage):
        return "user" if own else "system"
    if isinstance(message, SystemMessage):
        return "system"
    if isinstance(message, ChatMessage) and message.role in ("assistant", "system", "tool"):
        return message.role
    return "assistant" if isinstance(message, (AIMessage, ChatMessage)) else "system"


def _costs(message: AIMessage) -> Entry:
    found: Entry = {}
    model = message.response_metadata.get("model_name") or message.response_metadata.get("model")
    if isinstance(model, str) and model:
        found["model"] = model
    usage: Mapping[str, Any] = dict(message.usage_metadata or {})
    for name in ("input_tokens", "output_tokens"):
        count = usage.get(name)
        if isinstance(count, int) and count >= 0:
            found[name] = count
    return found


_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode


def _json(value: Any) -> str:
    return _safe(_encode(value))


def _safe(text: str) -> str:
    """A text that a database keeps: the log is for reading, the state has it as it was."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
