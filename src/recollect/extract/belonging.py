"""Whether a statement belongs to the project that it was said in, or to the person who said it.

"API runs on port 4000" is true of one project, and "Prefers dark mode" of a person wherever they are. What is learned in a
workspace is the workspace's unless it is about the person: what is handed out in another project must not be a client's. This
is the one place that tells them apart, by what a statement is about, by who said it of whom, and by where it came from.
"""

from __future__ import annotations

import re

from ..light import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Candidate, Turn

_THIS = pattern(
    r"(?i)\b(?:(?:this|the current|our|dies\w*|unser\w*)\s+(?:[\w-]+\s+){0,2}?|the\s+)"
    r"(?:repo|repository|project|projekt|codebase|code base|monorepo|workspace)\b"
)
_HERE = pattern(r"(?i)\b(?:here|hier)\b")
_WE = pattern(r"(?i)\b(?:we|us|our|ours|wir|uns|unser\w*)\b")
_I = pattern(r"(?i)\b(?:i|my|mine|me|ich|mein\w*|mir|mich)\b")
_SENTENCE = pattern(r"[.!?;]\s+|\n+")
_SAID = ("message", "note")
"""Kinds of events in which somebody speaks; every other one tells what happened in the project."""
_ITS = frozenset({"project", "remark"})
"""Families of what is said of things: the project's, unless the thing is one of somebody's life."""
_OWN = frozenset({"identity", "health", "home", "person"})
"""Families that are about people even where they say "we"."""
_TASTES = frozenset({"preference", "habit", "wish", "explicit", "model"})
"""Families of what may hold in one place only: "I prefer tabs here"."""


def is_of_project(candidate: Candidate, turn: Turn) -> bool:
    """Whether a candidate belongs to its turn's project."""
    if candidate.kind == "project_state" or turn.kind not in _SAID:
        return True
    if speaks_of_project(candidate.content) or speaks_of_project(candidate.about or ""):
        return True
    said = _sentence(candidate.content, turn.text)
    if candidate.family in _TASTES and _HERE.search(said):
        return True
    # What is taken back or done is in `about`.
    statement = candidate.content if candidate.operation in ("assert", "correct") else candidate.about or ""
    who = "we" if _WE.search(said) else "i" if _I.search(said) else ""
    return not _is_of_person(statement, candidate.family, who)


def is_of_workspace(statement: str) -> bool:
    """Whether a statement of which nothing else is known belongs to the workspace that it is proposed in."""
    return speaks_of_project(statement) or not _is_of_person(statement, "", "we" if _WE.search(statement) else "")


def speaks_of_project(statement: str) -> bool:
    """Whether a statement by itself says that it is about this project."""
    return _THIS.search(statement) is not None


def _is_of_person(statement: str, family: str, who: str) -> bool:
    """Whether a statement is about the person; `who` says it: "i", "we" or neither."""
    from .framing import frames
    from .words import ANSWERING, KIN, LIFE, WORK

    found = frames(statement)
    subject, attribute = (found[0].subject, found[0].attribute) if found else ("", "")
    words, about = _words(statement), _words(subject)
    if about & WORK:
        return False
    if about & KIN or (about & LIFE and who):  # "the school is ..." may be a client
        return True
    if family in ("explicit", "model") and who == "i":
        return True
    if subject == "assistant" or family == "wish":
        return attribute.startswith(("language", "answers")) or bool(words & ANSWERING)
    if family in _OWN or attribute == "like":
        return True
    if attribute == "have" or attribute.startswith("number of "):
        return bool(words & ((KIN | LIFE) - WORK)) or not (who == "we" or family in _ITS)
    if family in _ITS or who == "we":
        return False
    return subject == "user" or family in ("preference", "habit", "work")


def _words(text: str) -> set[str]:
    found = {w.removesuffix("'s") for w in text.lower().replace(",", " ").split()}
    return found | {w.removesuffix("s") for w in found}


def _sentence(content: str, text: str) -> str:
    """The sentence of a turn from which a statement was taken: the one with the most of its words."""
    words = set(re.findall(r"\w+", content.casefold()))
    return max(_SENTENCE.split(text), key=lambda s: len(words & set(re.findall(r"\w+", s.casefold()))))
