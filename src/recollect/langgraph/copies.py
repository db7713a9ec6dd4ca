"""Copies of messages: another that says the same and shares nothing, without validating it anew.

What a state held a moment ago is asked for again and again, and pydantic would take ten times as long to make it. Only common
messages that hold plain data are copied so; of anything else a serializer makes another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

COMMON = frozenset({HumanMessage, AIMessage, SystemMessage, ToolMessage})
_INNER = frozenset({dict, list})
_set = object.__setattr__  # pydantic's own asks first whether a field is frozen
_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})


def is_plain(message: Any) -> bool:
    """Whether a message is one of the common ones and holds nothing but plain data: then `twin` makes another."""
    return (
        type(message) in COMMON
        and not message.__pydantic_extra__
        and not message.__pydantic_private__
        and all(map(_is_plain, message.__dict__.values()))
    )


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    return kind in _ATOMS or (kind is list and all(map(_is_plain, value)))


_BLANK = {kind: kind("", id="").__dict__ for kind in (HumanMessage, AIMessage, SystemMessage)}


def as_read(message: Any) -> BaseMessage | None:
    """A copy of a message as it would be read back, where that is plain to see: it has a text, an id, maybe a name, and nothing
    else. Of the copy it is certain what it holds: a graph may give the message itself an id at this moment."""
    blank = _BLANK.get(type(message))
    if blank is None or message.__pydantic_extra__ or message.__pydantic_private__:
        return None
    found = twin(message)
    said = found.__dict__
    if len(said) != len(blank):
        return None
    for name, usual in blank.items():
        value = said.get(name)
        if type(value) is not type(usual):
            if name != "name" or type(value) is not str:
                return None
        elif value != usual and name not in ("content", "id"):
            return None
    _set(found, "__pydantic_fields_set__", set(blank))
    return found


def twin(message: BaseMessage) -> BaseMessage:
    """Another message that says the same and shares nothing that can be changed: a tenth of the time that validating its
    fields once more would take, and two thirds of what pydantic needs to copy it."""
    kind = type(message)
    found = kind.__new__(kind)
    inner = message.__dict__.copy()
    for name, value in inner.items():
        if type(value) not in _ATOMS:
            inner[name] = _copy(value)
    _set(found, "__dict__", inner)
    _set(found, "__pydantic_fields_set__", message.__pydantic_fields_set__.copy())
    _set(found, "__pydantic_extra__", _copy(message.__pydantic_extra__))
    _set(found, "__pydantic_private__", _copy(message.__pydantic_private__))
    return found


class Mould(NamedTuple):
    """A plain message, taken apart: whatever is cast in it shares nothing that can be changed."""

    kind: type[BaseMessage]
    whole: dict[str, Any]
    """Its fields."""
    inner: tuple[tuple[str, Any], ...]
    """Those of them that can be changed inside: mostly they are empty."""
    given: set[str]
    extra: bool
    """Whether it may be given more fields."""


def moulds(messages: Sequence[Any]) -> list[Mould] | None:
    """To make copies of messages in half the time that `twin` takes; None where not all of them are plain."""
    if not all(is_plain(message) and message.__pydantic_private__ is None for message in messages):
        return None
    found = []
    for message in map(twin, messages):
        inner = tuple([(name, value) for name, value in message.__dict__.items() if type(value) not in _ATOMS])
        extra = message.__pydantic_extra__ is not None
        found.append(Mould(type(message), message.__dict__, inner, message.__pydantic_fields_set__, extra))
    return found


def things_in(moulds: Iterable[Mould]) -> int:
    """How many values there are inside the fields."""
    return sum([_things_in(value) for mould in moulds for _, value in mould.inner if value])


def _things_in(value: Any) -> int:
    kind = type(value)
    if kind is dict:
        return 1 + sum(map(_things_in, value.values()))
    return 1 + sum(map(_things_in, value)) if kind is list else 1


def cast(moulds: Iterable[Mould]) -> list[BaseMessage]:
    """A message of each."""
    made: list[BaseMessage] = []
    for kind, whole, inner, given, extra in moulds:
        message = kind.__new__(kind)
        said = whole.copy()
        for name, value in inner:
            said[name] = _copy(value) if value else value.copy()
        _set(message, "__dict__", said)
        _set(message, "__pydantic_fields_set__", given.copy())
        _set(message, "__pydantic_extra__", {} if extra else None)
        _set(message, "__pydantic_private__", None)
        made.append(message)
    return made


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _copy(v) for key, v in value.items()} if value else {}
    return [_copy(v) for v in value] if kind is list else value


def is_twin(message: BaseMessage, other: BaseMessage) -> bool:
    """Whether two messages would be written as the same bytes; the other `is_plain`."""
    said, known = message.__dict__, other.__dict__
    if (
        type(message) is not type(other)
        or message.__pydantic_extra__
        or message.__pydantic_private__
        or said != known
    ):  # fmt: skip
        return False
    for name, value in said.items():  # nearly all are texts and nothing else
        if value and type(value) in _INNER and not _is_same(value, known[name]):
            return False
    return True


def _is_same(a: Any, b: Any) -> bool:
    """Equal in kind and order too: 1 is not True, and a dict is written in its order."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is dict:
        return len(a) == len(b) and (not a or (list(a) == list(b) and all(map(_is_same, a.values(), b.values()))))
    if kind is list:
        return len(a) == len(b) and all(map(_is_same, a, b))
    if kind is float:
        return str(a) == str(b)  # 0.0 is not -0.0
    return kind in _ATOMS and bool(a == b)
