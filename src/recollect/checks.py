"""What may be stored: text without NUL, JSON that comes back as it went in. Everything else is refused by name, or where
nobody could mend it, because a program wrote it, made so (`safe`)."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InvalidInput, TooLarge
from .model import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .redact import Gate

MAX_TITLE = 500
PIECE = 1 << 20
MAX_COUNT = (1 << 63) - 1


def safe(value: Any) -> Any:
    """A value that a database keeps: without NUL, without halves of surrogate pairs, without numbers JSON cannot say."""
    if isinstance(value, str):
        value = value.replace("\0", "\ufffd")
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {safe(str(k)): safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return str(value)[:100] + "…" if isinstance(value, int) and abs(value) > 1 << 2_000 else value


def text(value: object, what: str) -> str:
    """Any Unicode text, as it is; refuses what a database could only store altered."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}.")
    if "\0" in value:
        raise InvalidInput(
            f"{what} contains a NUL character (at {value.index(chr(0))}), which no database keeps. Remove it."
        )
    try:
        value.encode()
    except UnicodeEncodeError as e:
        raise InvalidInput(f"{what} contains half of a surrogate pair at {e.start}: it is not valid Unicode.") from None
    # An enum that is also a text is stored as its text: str() of it would say "Role.USER".
    return value if type(value) is str else str.__str__(value)


def fits(most: int | None, what: str, *values: Any) -> None:
    """TooLarge when the texts in these values have more bytes together. Texts are counted and not copied, unless they may be
    on either side of the limit."""
    if most is not None and _characters(values) * 4 > most:  # a character has at most four bytes
        size = _bytes(values)
        if size > most:
            raise TooLarge(
                f"{what} has {size:,} bytes of text; at most {most:,} are stored. Keep it in a file and store its path "
                "(kind='artifact'), or raise max_event_bytes."
            )


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum([_characters(k) + _characters(v) for k, v in value.items()])
    return sum(map(_characters, value)) if isinstance(value, (list, tuple)) else 0


def _bytes(value: Any) -> int:
    if isinstance(value, str):
        return (
            len(value)
            if value.isascii()
            else sum(len(value[i : i + PIECE].encode(errors="replace")) for i in range(0, len(value), PIECE))
        )
    if isinstance(value, Mapping):
        return sum([_bytes(k) + _bytes(v) for k, v in value.items()])
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 0


def optional(value: object, what: str) -> str | None:
    return None if value is None else text(value, what)


def safe_key(key: str, gate: Gate) -> str:
    """A key with a secret in it is kept as a hash: a marker would make two different keys one."""
    family = gate.names_a_secret(key)
    if family is None:
        return key
    gate.families.append(family)
    from hashlib import blake2b

    return "redacted:" + blake2b(key.encode(), digest_size=16).hexdigest()


def line(value: str, gate: Gate) -> str:
    """A text on one line, without secrets. It is redacted as it was written first: a token that goes on in the next line, or a private
    key, is not recognised once its new lines are spaces."""
    return gate.text(" ".join(gate.text(value).split()))


def title(value: object, gate: Gate) -> str:
    cleaned = line(text(value, "title"), gate)
    if not cleaned:
        raise InvalidInput("title must not be empty.")
    if len(cleaned) > MAX_TITLE:
        raise InvalidInput(f"title has {len(cleaned)} characters; at most {MAX_TITLE} are allowed.")
    return cleaned


def count(value: object, what: str) -> int:
    """A whole number from 0 on that a database can hold."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
        is_large = isinstance(value, int) and value > MAX_COUNT
        upto = f"to {MAX_COUNT}" if is_large else "on"
        raise InvalidInput(f"{what} must be a whole number from 0 {upto}, not {value!r}.")
    return int(value)


def several_tags(values: Sequence[str] | None) -> tuple[str, ...]:
    """Tags as a caller gives them; None is none of them."""
    if values is None:
        return ()
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise InvalidInput(
            f"tags must be a list of texts, not {'one text' if isinstance(values, str) else type(values).__name__}."
        )
    return tuple(values)


def unreserved(values: Sequence[str]) -> list[str]:
    """Tags without those that only a person gives."""
    return [tag for tag in values if tag.strip().casefold() not in RESERVED]


def tags(values: Sequence[str]) -> str | None:
    """Tags as they are stored: a JSON list, None without any."""
    import json

    found = list(dict.fromkeys(text(t, "a tag") for t in values))
    if "" in found:
        raise InvalidInput("A tag must not be empty.")
    return json.dumps(found, ensure_ascii=False) if found else None


def payload(value: object, what: str = "payload") -> str | None:
    """A JSON object as it is stored, None for an empty one."""
    if not value and (value is None or isinstance(value, Mapping)):
        return None
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be a mapping, not {type(value).__name__}.")
    import json

    _check(value, what, 0)
    try:
        return text(json.dumps(value, ensure_ascii=False, allow_nan=False, default=dict), what)
    except InvalidInput:
        raise
    except (ValueError, TypeError) as e:  # a number of more digits than Python reads back, for one
        raise InvalidInput(f"{what} cannot be stored as JSON: {e}") from None


def _check(value: Any, where: str, depth: int) -> None:
    if depth > 100:
        raise InvalidInput(f"{where} is nested more than 100 deep.")
    if value is None or isinstance(value, (bool, int)):
        return
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(f"{where} contains a NUL character, which no database keeps. Remove it.")
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise InvalidInput(f"{where} is {value}, which JSON cannot say. Use None or a text.")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"{where} has the key {key!r}: JSON keys are texts.")
            _check(key, f"a key of {where}", depth + 1)
            _check(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check(item, f"{where}[{i}]", depth + 1)
    else:
        raise InvalidInput(f"{where} is a {type(value).__name__}: only JSON values can be stored.")
