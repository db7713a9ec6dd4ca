"""Filters: what a search in items asks of their values, and a list of checkpoints of their metadata.

They are judged here, in Python, on the value itself: no key or value of a filter ever stands in a statement. A statement may
look for a text that every value that passes certainly holds, given as a parameter (`Judge.where`).
"""

from __future__ import annotations

from itertools import chain
from itertools import count as numbers

from .errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .db import Tx

    Filter = Mapping[str, Any]

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


class Judge:
    """A filter, read: what it asks of a value. Keys are of the shape that LangGraph's stores take, unless `any_key`."""

    def __init__(self, filter: Filter | None, *, any_key: bool = False) -> None:
        field = _named if any_key else _field
        self._wanted = [(field(key), condition) for key, condition in (filter or {}).items()]
        for _, condition in self._wanted:
            _check_operators(condition)
        self.needles = [needle for key, condition in (filter or {}).items() for needle in _needle(key, condition)]
        """Texts of which one at least stands in every value that passes. To look for them is cheap; to read JSON is not."""

    @property
    def is_open(self) -> bool:
        """Whether everything passes."""
        return not self._wanted

    def passes(self, value: dict[str, Any]) -> bool:
        return all(_holds(find(value), condition) for find, condition in self._wanted)

    def where(self, tx: Tx) -> str:
        """What a statement can tell beforehand: parameters, one for each needle, and nothing of the caller's in it."""
        has, number = "strpos" if tx.for_update else "instr", numbers()
        return "".join(
            " and (" + " or ".join(f"{has}(i.value, :needle{next(number)}) > 0" for _ in either) + ")"
            for either in self.needles
        )

    @property
    def params(self) -> dict[str, str]:
        return {f"needle{i}": needle for i, needle in enumerate(chain.from_iterable(self.needles))}


def _needle(key: str, condition: Any) -> list[tuple[str, ...]]:
    """What a value that passes certainly has in its JSON, as `items.dump` writes it: `"color": "red"`. Nothing where equal values
    can be written in two ways."""
    import json

    ends: tuple[str, ...] = ()
    if _is_operators(condition):
        return _needle(key, condition["$eq"]) if "$eq" in condition else []
    if isinstance(condition, str):
        if not condition.isascii() or not condition.isprintable():
            return []
        written = json.dumps(condition)
    elif isinstance(condition, bool):
        written = json.dumps(condition)
    elif isinstance(condition, (int, float)) and abs(condition) < 1e15:  # 7 is 7.0
        written = str(int(condition)) if condition == int(condition) else repr(float(condition))
        written = "" if written in ("0", "-0") else written  # -0.0
        # 70 begins like it too. How it ends is only looked at where it begins so.
        ends = (",", "}", ".0") if written and condition == int(condition) else ends
    else:
        return []
    if "." in key:
        return [(written,)] if isinstance(condition, str) else []
    begin = f"{json.dumps(key)}: {written}"
    if not key.isascii() or not key.isprintable():
        return []
    return [(begin,), tuple(begin + end for end in ends)] if ends else [(begin,)]


def _field(key: Any) -> Callable[[dict[str, Any]], Any]:
    """How to find what a filter's key names: a field of that name, or by full stops a field of a field."""
    if not isinstance(key, str) or not key or any(c in key for c in "'\"`\\;()[]{}\0"):
        raise InvalidInput(f"Invalid filter key: {key!r}. A key names a field, or by full stops a field of a field.")
    return _named(key)


def _named(key: str) -> Callable[[dict[str, Any]], Any]:
    parts = key.split(".")

    def find(value: Any) -> Any:
        if key in value:
            return value[key]
        for part in parts:
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
        return value

    return find


def _is_operators(condition: Any) -> bool:
    return isinstance(condition, dict) and any(isinstance(k, str) and k.startswith("$") for k in condition)


def _check_operators(condition: Any) -> None:
    if _is_operators(condition):
        for operator in condition:
            if operator not in OPERATORS:
                raise InvalidInput(f"Unsupported operator: {operator!r}. There are {', '.join(OPERATORS)}.")
    elif isinstance(condition, dict):
        for inner in condition.values():
            _check_operators(inner)


def _holds(value: Any, condition: Any) -> bool:
    if _is_operators(condition):
        return all(_compare(value, operator, with_) for operator, with_ in condition.items())
    if isinstance(condition, dict):  # a part of an object
        return isinstance(value, dict) and all(_holds(value.get(k), c) for k, c in condition.items())
    return _equal(value, condition)


def _equal(a: Any, b: Any) -> bool:
    """As JSON sees it: true is not 1, and [1] is (1,)."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return _equal(value, other)
    if operator == "$ne":
        return not _equal(value, other)
    if isinstance(value, str) is not isinstance(other, str):  # a number may be written as a text
        value, other = _number(value), _number(other)
    if value is None or other is None or isinstance(value, (dict, list)) or isinstance(other, (dict, list)):
        return False  # what is not there is neither more nor less
    if operator == "$gt":
        return bool(value > other)
    if operator == "$gte":
        return bool(value >= other)
    if operator == "$lt":
        return bool(value < other)
    return bool(value <= other)


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return None
