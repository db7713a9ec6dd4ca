"""Secrets in JSON-like values, however deep, in keys too: what a key calls a secret is one whole."""

from __future__ import annotations

from collections.abc import Mapping

from .engine import Lazy
from .judge import judge_value
from .names import kind_of
from .screen import Finding, to_bytes
from .search import DEFAULT, Policy, redact, spans_in
from .syntax import KEY_HEADER
from .values import is_card

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def redact_value(value: Any, policy: Policy | None = None) -> tuple[Any, tuple[Finding, ...]]:
    """A JSON-like value with the secrets in it replaced, however deep, in keys too. Positions are within each string."""
    findings: list[Finding] = []
    clean = _deep(value, policy or DEFAULT, None, findings)
    return clean, tuple(findings)


_WHOLE_KINDS = {
    "password": "password",
    "secret": "api-key",
    "key": "api-key",
    "pin": "pin",
    "phrase": "passphrase",
}


_HEADER = Lazy(rf"(?i)(?:{KEY_HEADER}|(?:set-)?cookie)".encode())


def _head(name: str) -> str:
    """A header's value and an environment variable's are read as the line they would be in."""
    if _HEADER.fullmatch(to_bytes(name)):
        return f"{name}: "
    return f"{name}=" if name.isupper() and kind_of(to_bytes(name)) else ""


def _deep(value: Any, policy: Policy, name: str | None, findings: list[Finding]) -> Any:
    if name is not None and "[redacted:" in name:
        name = None  # a marker speaks of tokens and keys, not of what stands below it
    if isinstance(value, str):
        if name is not None and value:
            family = _under_name(name, value, policy)
            if family:
                findings.append(Finding(family, 0, len(value)))
                return f"[redacted:{family}]"
        head = _head(name) if name is not None and value else ""
        text, found = redact(head + value, policy)
        if not text.startswith(head):
            head, (text, found) = "", redact(value, policy)
        findings += [Finding(f.family, f.start - len(head), f.end - len(head)) for f in found]
        return text[len(head) :]
    if isinstance(value, Mapping):
        result: dict[Any, Any] = {}
        paired = value.get("name") if isinstance(value.get("name"), str) else value.get("key")
        for key, item in value.items():
            named = key if isinstance(key, str) else None
            if named in ("value", "val", "default") and isinstance(paired, str):
                named = paired  # {"name": "DB_PASSWORD", "value": "..."}
            clean_key = _deep(key, policy, None, findings) if isinstance(key, str) else key
            while clean_key in result:
                clean_key = f"{clean_key}'"  # two keys that were both secrets stay two keys
            result[clean_key] = _deep(item, policy, named, findings)
        return result
    if isinstance(value, (list, tuple)):
        if len(value) == 2 and isinstance(value[0], str) and _HEADER.fullmatch(to_bytes(value[0])):
            name = value[0]  # ["Authorization", "Bearer ..."]
        items = [_deep(item, policy, name, findings) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, int) and not isinstance(value, bool):
        digits = to_bytes(str(value))
        kind = kind_of(to_bytes(name)) if name else None
        family = (
            "card-number"
            if len(digits) >= 14 and is_card(digits)
            else _WHOLE_KINDS[kind]
            if kind in ("pin", "password") and len(digits) >= 3
            else None
        )
        if family and family not in policy.disabled and not policy.allows(str(value)):
            findings.append(Finding(family, 0, len(digits)))
            return f"[redacted:{family}]"
    return value


def _under_name(name: str, value: str, policy: Policy) -> str | None:
    """The family of a whole string that its key calls a secret."""
    kind = kind_of(to_bytes(name))
    if kind is None or "[redacted:" in value:
        return None
    data = to_bytes(value)
    if not judge_value(kind, data, quoted=True, strict=False):
        return None
    family = _WHOLE_KINDS[kind]
    specific = spans_in(value, Policy(policy.extra, policy.allow) if policy.disabled else policy)
    if len(specific) == 1 and specific[0].start == 0 and specific[0].end == len(value):
        family = specific[0].family
    elif any(s.rank <= 1 for s in specific):
        return None  # a URL with a password in it keeps its host
    if family in policy.disabled or policy.allows(value):
        return None
    return family
