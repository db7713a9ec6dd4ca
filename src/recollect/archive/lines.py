"""What may stand on a line of an archive: an object with a `type`, and the fields of that type.

Nothing is passed over: an unknown type or field is an error that names its line, because what a reader does not know it
would lose. Fields without a value are left out of a line, so that most events are short.
"""

from __future__ import annotations

import json
from base64 import b64decode
from binascii import Error as NotBase64

from .. import checks, ids
from ..errors import BadLine, InvalidInput
from ..events import LAST_MOMENT
from ..model import KINDS, MEMORY_KINDS, MEMORY_STATES, ORIGINS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Any

    Line = dict[str, Any]
    Check = Callable[[Any, str], Any]

LONGEST = 256 * 1024 * 1024
"""Characters on a line: more is no event of anybody's, and would fill the memory."""


# -- what a field may be


def _one_of(*values: str) -> Check:
    def check(value: Any, what: str) -> Any:
        if value not in values:
            raise InvalidInput(f"{what} is {value!r}; it must be one of {', '.join(values)}.")
        return value

    check.words = "one of " + ", ".join(f"`{v}`" for v in values)  # type: ignore[attr-defined]
    return check


def _text(value: Any, what: str) -> Any:
    return checks.text(value, what)


def _id(value: Any, what: str) -> Any:
    return ids.check(value, what)


def _count(value: Any, what: str) -> Any:
    return checks.count(value, what)


def _positive(value: Any, what: str) -> Any:
    if checks.count(value, what) == 0:
        raise InvalidInput(f"{what} must be 1 or more.")
    return value


def _whole(value: Any, what: str) -> Any:
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << 63) <= value < 1 << 63:
        raise InvalidInput(f"{what} must be a whole number, not {value!r}.")
    return value


def _moment(value: Any, what: str) -> Any:
    if checks.count(value, what) > LAST_MOMENT:
        raise InvalidInput(f"{what} lies after the year 9999; it is in milliseconds since 1970.")
    return value


def _share(value: Any, what: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidInput(f"{what} must be a number from 0 to 1, not {value!r}.")
    return float(value) + 0.0


def _cost(value: Any, what: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise InvalidInput(f"{what} must be a number from 0 on, not {value!r}.")
    return float(value) + 0.0


def _object(value: Any, what: str) -> Any:
    checks.payload(value, what)
    return value


def _any_object(value: Any, what: str) -> Any:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} must be an object, not {type(value).__name__}.")
    return value


def _texts(value: Any, what: str) -> Any:
    if not isinstance(value, list):
        raise InvalidInput(f"{what} must be a list of texts.")
    return [checks.text(one, f"one of {what}") for one in value]


def _tags(value: Any, what: str) -> Any:
    checks.tags(_texts(value, what))
    return value


def _numbers(value: Any, what: str) -> Any:
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"{what} must be a list of numbers.")
    return [checks.count(one, f"one of {what}") for one in value]


def _rows(*shape: Check) -> Check:
    def check(value: Any, what: str) -> Any:
        if not isinstance(value, list):
            raise InvalidInput(f"{what} must be a list.")
        for row in value:
            if not isinstance(row, list) or len(row) != len(shape):
                raise InvalidInput(f"{what} must hold lists of {len(shape)}.")
            for one, part in zip(row, shape, strict=True):
                part(one, f"a part of {what}")
        return value

    check.words = f"a list of lists of {len(shape)}"  # type: ignore[attr-defined]
    return check


def _branches(value: Any, what: str) -> Any:
    if not isinstance(value, list) or not value:
        raise InvalidInput(f"{what} must be a list that begins with main.")
    return [fields(one, BRANCH, what) for one in value]


def _base64(value: Any, what: str) -> Any:
    try:
        return b64decode(checks.text(value, what), validate=True)
    except (NotBase64, ValueError):
        raise InvalidInput(f"{what} is not base64.") from None


def _hex(value: Any, what: str) -> Any:
    try:
        return bytes.fromhex(checks.text(value, what))
    except ValueError:
        raise InvalidInput(f"{what} is not hexadecimal.") from None


# -- the types, with their fields; those that must be there end in "!"

BRANCH: dict[str, Check] = {"name!": _id, "parent": _id, "at!": _count, "created_at!": _moment}

TYPES: dict[str, dict[str, Check]] = {
    "recollect": {
        "version!": _positive, "exported_at!": _moment, "scope!": _any_object, "state_redacted!": _one_of("none", "messages", "all"),
    },
    "conversation": {
        "id!": _id, "title": _text, "workspace": _text, "workflow_id": _id, "metadata": _object,
        "origin": _one_of(*ORIGINS), "last_seq!": _count, "active_branch": _id, "branches!": _branches,
        "tombstones": _rows(_positive, _positive, _moment), "pins": _rows(_positive, _moment),
        "considered": _rows(_id, _count), "created_at!": _moment, "updated_at!": _moment, "deleted_at": _moment,
    },
    "event": {
        "conversation!": _id, "seq!": _positive, "branch": _id, "kind!": _one_of(*KINDS), "role": _text, "text": _text,
        "name": _text, "tool": _text, "path": _text, "agent": _text, "status": _text, "task_id": _text, "message": _count,
        "tags": _tags, "payload": _object, "model": _text, "input_tokens": _count, "output_tokens": _count, "cost": _cost,
        "duration_ms": _count, "key": _text, "created_at!": _moment,
    },
    "memory": {
        "id!": _id, "content!": _text, "conversation": _id, "workspace": _text, "uses": _count, "used_at": _moment,
        "created_at!": _moment,
    },
    "change": {
        "n!": _positive, "memory!": _id, "group!": _positive, "action!": _text, "state!": _one_of(*MEMORY_STATES),
        "wording": _text, "kind!": _one_of(*MEMORY_KINDS), "importance!": _share, "tags": _tags, "pinned_at": _moment,
        "by_hand": _moment, "replaced_by": _id, "conflicts_with": _id, "flag": _text, "source": _text,
        "source_conversation": _id, "source_branch": _id, "source_seqs": _numbers, "checkpoint": _text, "role": _text,
        "extractor!": _text, "valid_from": _count, "valid_to": _count, "expires_at": _count, "conversation": _id,
        "branch": _id, "seq": _count, "who!": _text, "why": _text, "prior": _positive, "at!": _count,
        "undone_at": _moment,
    },
    "derived": {"memory!": _id, "root!": _id},
    "item": {
        "namespace!": _texts, "key!": _text, "value": _any_object, "value_text": _text, "ttl_ms": _count,
        "expires_at": _count, "source": _any_object, "memory": _id, "texts": _texts, "created_at!": _moment,
        "updated_at!": _moment,
    },
    "piece": {"conversation!": _id, "key!": _hex, "format!": _text, "data!": _base64},
    "checkpoint": {
        "conversation!": _id, "namespace": _text, "id!": _text, "parent": _text, "branch": _id, "seq!": _count,
        "source": _text, "step": _whole, "node": _text, "run_id": _text, "created_at!": _moment, "state!": _any_object,
    },
    "write": {
        "conversation!": _id, "namespace": _text, "checkpoint!": _text, "task!": _text, "index!": _whole, "path": _text,
        "channel!": _text, "format!": _text, "data!": _base64,
    },
    "logged": {
        "conversation!": _id, "message!": _text, "branch": _id, "seq!": _positive, "first!": _positive, "digest!": _hex,
    },
    "end": {"lines!": _count, "signature": _hex},
}  # fmt: skip


ABOUT = {
    "recollect": "The first line: which version of the format this is, when it was made, of what (`scope` names a conversation or a "
    "workspace; empty: everything), and how far the state of graphs was redacted where it comes from.",
    "conversation": "All conversations come next, the one with the oldest activity first. `branches` begins with `main`; each other has "
    "its `parent` and `at`, the last event number that both share. `tombstones` are runs of deleted numbers: first, last, when. `pins` "
    "are event numbers and when. `considered` says for a branch up to which event memories were looked for. `deleted_at`: it is in the bin.",
    "event": "One thing that happened, as in [Event](values.md#event). Without a `branch` it is on `main`. Events, memories and changes "
    "stand in the order in which they happened.",
    "memory": "A statement, where it is first said. What can change about it is in its changes.",
    "change": "Something that happened to a memory, and how it stood afterwards. `n` counts them; those of one `group` were made "
    "together and are undone together; `prior` is the change that was in force before. `conversation`, `branch` and `seq` say where it "
    "was made (nowhere: everywhere); `source_conversation`, `source_branch` and `source_seqs` where the words are.",
    "derived": "A memory rests on another one.",
    "item": "What a graph's store keeps under a namespace and a key, in the order of putting. `value_text` instead of `value`: JSON that "
    "other readers may not take (NaN). `texts` are what it is found by; `memory` is the memory that it also is; `source` says which run put it.",
    "piece": "A value of a graph's state, or a part of one, by its key. The empty key holds the secret that the keys are made with.",
    "checkpoint": "The state of a graph at one moment: small values inside, large ones by the keys of their pieces.",
    "write": "What a task of a graph wrote since a checkpoint.",
    "logged": "Which event a message of a graph's state is.",
    "end": "The last line: how many there are, itself included. Without it the file was cut off. `signature` is a keyed hash (HMAC-SHA256) of all "
    "lines before it; only the store that wrote it, or a copy of that store, has the key.",
}
"""What each type is, for the reference."""


def words(check: Check) -> str:
    """What a field may be, for the reference."""
    return getattr(check, "words", "") or _WORDS[check.__name__]


_WORDS = {
    "_text": "text", "_id": "an id: 1 to 256 printable characters", "_count": "a number from 0 on", "_positive": "a number from 1 on",
    "_whole": "a whole number", "_moment": "milliseconds since 1970, UTC", "_share": "a number from 0 to 1", "_cost": "a number from 0 on",
    "_object": "an object", "_any_object": "an object", "_texts": "a list of texts", "_tags": "a list of texts",
    "_numbers": "a list of numbers", "_branches": "a list of objects", "_base64": "base64", "_hex": "hexadecimal digits",
}  # fmt: skip


def fields(given: Any, known: dict[str, Check], what: str) -> Line:
    """The fields of an object, checked; those that are not there are None."""
    if not isinstance(given, dict):
        raise InvalidInput(f"{what} must be an object, not {type(given).__name__}.")
    found: Line = {}
    for name, check in known.items():
        plain = name.removesuffix("!")
        value = given.get(plain)
        if value is None and plain != name:
            raise InvalidInput(f"{what} needs {plain!r}.")
        found[plain] = None if value is None else check(value, plain)
    unknown = given.keys() - found.keys() - {"type"}
    if unknown:
        raise InvalidInput(f"{what} has a field {min(unknown)!r}, which is not known here.")
    return found


def parse(text: str, number: int) -> tuple[str, Line]:
    """The type of a line and its fields."""
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as e:
        reason = e.msg if isinstance(e, json.JSONDecodeError) else "it is nested too deep or holds what JSON cannot say"
        raise BadLine(f"it is no JSON ({reason}).", number) from None
    kind = given.get("type") if isinstance(given, dict) else None
    if not isinstance(kind, str) or kind not in TYPES:
        what = "it has no type" if kind is None else f"its type is {kind!r}"
        what = what if isinstance(given, dict) else "it is no object"
        raise BadLine(f"{what}; each line of an export is an object of type {', '.join(TYPES)}.", number)
    try:
        return kind, fields(given, TYPES[kind], f"a line of type {kind}")
    except InvalidInput as e:
        raise BadLine(str(e), number) from None


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def numbered(fp: IO[str] | IO[bytes]) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, whether it is open for text or for bytes; empty ones are passed over."""
    number = 0
    while line := fp.readline(LONGEST):
        number += 1
        if len(line) >= LONGEST:
            raise BadLine(f"it is longer than {LONGEST:,} characters.", number)
        if isinstance(line, bytes):
            try:
                line = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as e:
                raise BadLine(f"it is not UTF-8 (byte {e.start}).", number) from None
        line = line.strip("\r\n\t ").removeprefix("\ufeff" if number == 1 else "")
        if line:
            yield number, line


def dump(kind: str, /, **values: Any) -> str:
    """A line; what is None, empty or said by its absence is left out."""
    said = {"type": kind} | {name: value for name, value in values.items() if value is not None and value != []}
    return json.dumps(said, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
