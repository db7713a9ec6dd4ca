"""No secret is ever stored: the gate that every write path calls.

`redact(text)` replaces each secret in a text by a marker such as `[redacted:github-token]` and says what it found
and where, never the value. It works in three steps. A **prefilter** in plain Python asks whether the text has any word that
announces a secret or any run long enough to be one; most prose has neither and is done in microseconds, without loading
re2. Then the **families** whose literals occur run their patterns, and the **contexts** (assignments, headers, URLs,
command lines, sentences) look at what their names promise. Last, overlaps are settled - the more specific wins - and the
search is repeated with the found spans blanked, near them, until nothing more is found, so that redacting twice changes
nothing, for any input.
"""

from __future__ import annotations

import threading

from .. import errors
from .screen import Finding, is_quiet, loud_pattern, seen, to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..config import Settings
    from .engine import Pattern
    from .objects import redact_value
    from .search import DEFAULT, Policy, Redacted, family_names, redact
    from .stream import Stream

_own_patterns: dict[str, str] = {}


def _safe(message: str) -> str:
    """Errors quote what they were given, and do not know which store it was meant for: every store's patterns count."""
    return Gate(patterns=_own_patterns).text(message)


errors.safe = _safe  # told from here: `errors` itself imports nothing

searching = threading.Lock()
"""Held while re2 is at work: its own locks must not be copied by a fork while they are taken. (`db.sqlite` takes it.)"""

__all__ = [
    "DEFAULT",
    "Finding",
    "Gate",
    "Policy",
    "Redacted",
    "Stream",
    "family_names",
    "patterns_of",
    "redact",
    "redact_value",
]


def __getattr__(name: str) -> Any:
    """The search itself costs 20 ms to import; quiet text never needs it."""
    if name in __all__:
        from importlib import import_module

        module = {"redact_value": "objects", "Stream": "stream"}.get(name, "search")
        return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Findings that an id may have: it is made to look random, and a long number may be a card's.
_FIT_FOR_IDS = ("vendor-token", "card-number")


_asked = 0
_loud: Pattern | None = None
_quiet: dict[str, None] = {}
"""Texts that were found quiet a moment ago: a graph hands the same message over several times in one turn."""
MOST_KEPT, LONGEST_KEPT = 128, 4_000
SHORT = 100  # characters: re2 hands over the interpreter's lock, which is dearer than to look without it
SETTLED = 50  # after so many texts a process is no hook: loading re2 (4 ms) pays off


def _settled(count: int) -> Pattern | None:
    """What re2 asks texts, once it has been worth loading."""
    global _asked, _loud
    if _loud is None:
        _asked += count
        if _asked >= SETTLED:
            from .engine import Pattern

            _loud = Pattern(loud_pattern())
    return _loud


def quiet(text: str) -> bool:
    """`screen.is_quiet`, the quick way where there is much to ask."""
    if text in _quiet:
        return True
    pattern = _settled(1)
    if pattern is None or "\0" in text:
        found = is_quiet(text)
    else:
        with searching:
            found = not pattern.has(to_bytes(seen(text)))
    if found and len(text) <= LONGEST_KEPT:
        if len(_quiet) >= MOST_KEPT:
            _quiet.clear()
        _quiet[text] = None
    return found


def vouch(text: str) -> None:
    """Take a text for quiet that an earlier process has searched, and found nothing in."""
    _quiet[text] = None


def _loud_ones(texts: Sequence[str]) -> list[int]:
    """Which of these texts, none of which holds a NUL, are not quiet: asked all at once."""
    if len(texts) == 1 and texts[0] in _quiet:
        return []
    pattern = _settled(len(texts))
    if pattern is None or (len(texts) == 1 and len(texts[0]) <= SHORT):
        return [n for n, text in enumerate(texts) if not is_quiet(text)]
    texts = [seen(text) for text in texts]
    loud: list[int] = []
    data = to_bytes("\0".join(texts))
    n = at = 0  # a text, and where it begins
    with searching:
        found = next(pattern.spans(data), None)
        while found is not None:
            while at + len(texts[n]) < found[0][0]:
                at += len(texts[n]) + 1
                n += 1
            loud.append(n)
            at += len(texts[n]) + 1
            n += 1
            found = next(pattern.spans(data, at), None)
    return loud


def patterns_of(settings: Settings) -> Mapping[str, str]:
    """The patterns that settings add: a user's own, and that of bare hex."""
    if not settings.redact_bare_hex:
        return settings.redact_patterns
    from .hexes import BARE_HEX

    return {**settings.redact_patterns, **BARE_HEX}


class Gate:
    """What every write path calls: secrets in, markers out.

    `families` says what was replaced since the gate was made, which is how an event comes by its tag `sensitive`; so
    there is one gate for each thing that is written, made by `another()`.
    """

    __slots__ = ("_allow", "_off", "_patterns", "_policy", "families", "is_on", "most")

    def __init__(
        self,
        on: bool = True,
        off: Sequence[str] = (),
        allow: Sequence[str] = (),
        patterns: Mapping[str, str] | None = None,
        most: int | None = None,
    ) -> None:
        self.is_on = on
        self.most = most
        """How many bytes of text one thing that is written may have: asked before they are searched and copied."""
        self._off = off
        self._allow = allow
        self._patterns = patterns or {}
        self._policy: Policy | None = None
        self.families: list[str] = []

    def another(self) -> Gate:
        twin = Gate(self.is_on, self._off, self._allow, self._patterns, self.most)
        twin._policy = self._policy
        return twin

    def policy(self) -> Policy:
        """What the settings say, checked when it is first needed."""
        if self._policy is None:
            from .search import Policy, family_names

            unknown = set(self._off) - set(family_names())
            if unknown:
                raise errors.SettingsError(
                    f"redact_off: there is no family {sorted(unknown)[0]!r}. docs/redaction-quality.md lists them."
                )
            try:
                self._policy = Policy(self._patterns, tuple(self._allow), frozenset(self._off))
            except ValueError as e:
                raise errors.SettingsError(f"redact_patterns: {e}") from None
            for name, source in self._patterns.items():
                if source not in _own_patterns.values():
                    _own_patterns[name if name not in _own_patterns else f"own-{len(_own_patterns)}"] = source
        return self._policy

    def is_quiet(self, text: str) -> bool:
        """Nothing to look for; microseconds."""
        return not self.is_on or (not self._patterns and quiet(text))

    def loud(self, texts: Sequence[str]) -> list[int]:
        """In which of these texts, none of which holds a NUL, there is something to look for."""
        if not self.is_on:
            return []
        return list(range(len(texts))) if self._patterns else _loud_ones(texts)

    def text(self, value: str) -> str:
        if self.is_quiet(value):
            return value
        from .search import redact

        clean, findings = redact(value, self.policy())
        self.families += [f.family for f in findings]
        return clean

    def optional(self, value: str | None) -> str | None:
        return None if value is None else self.text(value)

    def value(self, value: Any) -> Any:
        """A JSON value, however deep, keys included."""
        if not self.is_on or not value or (not self._patterns and _is_quiet_value(value)):
            return value
        from .objects import redact_value

        clean, findings = redact_value(value, self.policy())
        self.families += [f.family for f in findings]
        return clean

    def names_a_secret(self, id: str) -> str | None:
        """The family of a secret in an id, which cannot be replaced, only refused. Numbers and random ids pass."""
        if self.is_quiet(id):
            return None
        from .search import redact

        return next((f.family for f in redact(id, self.policy()).findings if f.family not in _FIT_FOR_IDS), None)


def _is_quiet_value(value: Any) -> bool:
    """`is_quiet` for JSON: no name in it promises a secret either (`{"pin": 1234}` has no word that announces one)."""
    if isinstance(value, str):
        return is_quiet(value)
    if isinstance(value, (list, tuple)):
        return all(map(_is_quiet_value, value))
    if isinstance(value, dict):
        from .names import kind_of

        called = (value.get("name"), value.get("key"))  # {"name": "pin", "value": 1234}
        return all(
            kind_of(to_bytes(name)) is None and is_quiet(name) for name in (*value, *called) if isinstance(name, str)
        ) and all(map(_is_quiet_value, value.values()))
    # Whoever brings a mapping of another kind waits 20 ms once.
    return value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and -(10**12) < value < 10**12)
