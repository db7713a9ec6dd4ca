"""Which chat is this? A key for a history that follows the chat, whatever thread a webhook's run is given.

A key is made from the first candidate that holds. A candidate is a literal (`support-room-1`) or a template
(`telegram:{{results.telegram_events_parser.chat_id}}`) over what a run knows: `inputs`, `results` (outputs of earlier nodes),
`configurable`, `config`, `thread_id`. The rules exist so that two chats never share a key:

- an empty or missing part invalidates the candidate: `telegram:` would be every chat whose payload was odd;
- texts and whole numbers are ids; booleans, fractions, lists and tables are not;
- a part is escaped (`%3A` for a colon), so that `a:b` + `c` and `a` + `b:c` stay two keys. A candidate that is one
  placeholder whose name ends in `key` (`{{configurable.history_key}}`) is a key already, and is taken as it is;
- a valid key has 1 to 256 characters of `A-Z a-z 0-9 . _ - @ + = ~ , : %`, and nothing in it still looks like a template;
- `{{thread_id}}` alone counts only where no channel's payload is present: behind a webhook it is a new one every time. Nor does
  it count where a candidate before it was given something that makes no key: whoever names a chat does not mean the thread.

A template goes around the key that was found (`bot-1:{{conversation_key}}`). One without `{{conversation_key}}` is a key of its
own, a literal or a direct path, and is tried before the candidates.

Everything here is pure and the same input gives the same key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import InvalidInput

__all__ = ["CANDIDATES", "CHANNELS", "OVERRIDES", "Key", "is_valid", "resolve"]

OVERRIDES = (
    "{{results.resolve_history_key.session_key}}",
    "{{configurable.history_key}}",
    "{{inputs.history_key}}",
)
CHANNELS = (
    "telegram:{{results.telegram_events_parser.chat_id}}",
    "wecom_cs:{{results.wecom_cs_sync.open_kf_id}}:{{results.wecom_cs_sync.external_userid}}",
    "wecom_aibot:{{results.wecom_ai_bot_events_parser.chat_type}}:{{results.wecom_ai_bot_events_parser.user}}",
    "wecom_dm:{{results.wecom_events_parser.user}}",
    "slack:{{results.slack_events_parser.team_id}}:{{results.slack_events_parser.channel}}",
)
"""One line a channel: its name, then what tells its chats apart."""
THREAD = "{{thread_id}}"
CANDIDATES = (*OVERRIDES, *CHANNELS, THREAD)
"""In the order in which they are tried."""
LONGEST = 256

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}")
_VALID = re.compile(r"[A-Za-z0-9._\-@+=~,:%]{1,256}")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+=~,")
_ROOTS = ("inputs", "results", "configurable", "config", "thread_id")
_NAMES = frozenset(channel.partition(":")[0] for channel in CHANNELS)
_PAYLOADS = frozenset(
    path.split(".")[1] for channel in CHANNELS for path in _PLACEHOLDER.findall(channel) if path.startswith("results.")
)


class Key(NamedTuple):
    """A key, and the candidate it was made from: what may be logged is the latter."""

    text: str
    candidate: str


def check(candidates: Sequence[str], template: str) -> None:
    """Whether candidates and template can ever make a key; InvalidInput says which cannot."""
    if isinstance(candidates, str) or not all(isinstance(c, str) for c in candidates):
        raise InvalidInput("history_key_candidates is a list of texts.")
    for candidate in candidates:
        _check(candidate, "history_key_candidates", _ROOTS)
    if not isinstance(template, str):
        raise InvalidInput("history_key_template is a text.")
    _check(template, "history_key_template", (*_ROOTS, "conversation_key"))
    if template in _NAMES or template.endswith(":"):
        raise InvalidInput(
            f"history_key_template: {template!r} names a channel and none of its chats, so that all of them would be one. Put "
            "what tells them apart behind it, such as telegram:{{results.telegram_events_parser.chat_id}}."
        )


def _check(text: str, what: str, roots: Sequence[str]) -> None:
    rest = _PLACEHOLDER.sub("", text)
    if "{{" in rest or "}}" in rest:
        raise InvalidInput(f"{what}: {text!r} holds something in braces that is no path such as {{{{inputs.chat}}}}.")
    for path in _PLACEHOLDER.findall(text):
        if path.split(".")[0] not in roots:
            raise InvalidInput(f"{what}: {path!r} begins with none of {', '.join(roots)}.")
    if not _PLACEHOLDER.search(text) and not is_valid(text):
        raise InvalidInput(f"{what}: {text!r} is no key: 1 to {LONGEST} of A-Z a-z 0-9 . _ - @ + = ~ , : %.")
    if rest and not _VALID.fullmatch(rest[:LONGEST]):
        raise InvalidInput(
            f"{what}: what stands around the braces of {text!r} must be A-Z a-z 0-9 . _ - @ + = ~ , : %."
        )


def is_valid(key: object) -> bool:
    """Whether something is a key as it is."""
    return isinstance(key, str) and _VALID.fullmatch(key) is not None


def resolve(
    sources: Mapping[str, Any],
    candidates: Sequence[str] = CANDIDATES,
    template: str = "{{conversation_key}}",
) -> Key | None:
    """The key of the first candidate that holds, put into the template; None when none does."""
    if "conversation_key" not in _PLACEHOLDER.findall(template):
        candidates, template = (template, *candidates), "{{conversation_key}}"
    is_named = False
    for candidate in candidates:
        if _path(candidate) == "thread_id" and (is_named or has_payload(sources)):
            continue
        found = _render(candidate, sources)
        if found is not None:
            made = _render(template, {**sources, "conversation_key": found}, inner="conversation_key")
            return None if made is None else Key(made, candidate)
        is_named = is_named or _is_wrong(candidate, sources)
    return None


def refused(
    sources: Mapping[str, Any], candidates: Sequence[str] = CANDIDATES, template: str = "{{conversation_key}}"
) -> list[str]:
    """The candidates before the one that holds which were given something that makes no key."""
    found = []
    for candidate in candidates if "conversation_key" in _PLACEHOLDER.findall(template) else (template, *candidates):
        if _render(candidate, sources) is not None:
            break
        if _is_wrong(candidate, sources):
            found.append(candidate)
    return found


def _is_wrong(candidate: str, sources: Mapping[str, Any]) -> bool:
    """Whether a candidate that does not hold was given all of its parts, or one that is no id."""
    parts = [_at(sources, path.split(".")) for path in _PLACEHOLDER.findall(candidate)]
    return all(part is not None for part in parts) or any(part is not None and _id(part) is None for part in parts)


def has_payload(sources: Mapping[str, Any]) -> bool:
    """Whether a channel's payload is there, sound or not."""
    return any(_at(sources, ["results", name]) is not None for name in _PAYLOADS)


def _path(candidate: str) -> str | None:
    """The path of a candidate that is nothing but one placeholder."""
    found = _PLACEHOLDER.fullmatch(candidate)
    return None if found is None else found[1]


def _render(text: str, sources: Mapping[str, Any], inner: str | None = None) -> str | None:
    path = _path(text)
    whole = path if path is not None and path.endswith("key") else None
    missing = False

    def part(match: re.Match[str]) -> str:
        nonlocal missing
        value = _id(_at(sources, match[1].split(".")))
        if value is None:
            missing = True
            return ""
        return value if match[1] in (whole, inner) else _escaped(value)

    try:
        made = _PLACEHOLDER.sub(part, text)
    except UnicodeEncodeError:  # half a character is no id
        return None
    return made if not missing and is_valid(made) else None


def _at(value: Any, path: Sequence[str]) -> Any:
    """What lies at a path of tables, or of plain objects' fields. Nothing is called, nothing private is reached."""
    for name in path:
        if isinstance(value, Mapping):
            value = value.get(name)
        elif value is None or isinstance(value, (str, bytes, int, float, list, tuple, type)) or name.startswith("_"):
            return None
        else:
            fields = getattr(type(value), "model_fields", None) or getattr(type(value), "__dataclass_fields__", {})
            value = getattr(value, name, None) if name in fields else None
    return value


def _id(value: Any) -> str | None:
    """A value as an id; None for what is none."""
    if type(value) is int:
        return str(value) if value.bit_length() <= 4 * LONGEST else None
    if not isinstance(value, str) or not value.strip() or "{{" in value or len(value) > LONGEST:
        return None
    return str.__str__(value)


def _escaped(value: str) -> str:
    return "".join(c if c in _PLAIN else "".join(f"%{b:02X}" for b in c.encode()) for c in value)
