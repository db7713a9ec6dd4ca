"""Whether a statement belongs to the project that it was said in, or to the person who said it.

"Uses bun in this repo" is true of one project, and "Prefers dark mode" of a person wherever they are. This is the one place
that tells them apart: by what a statement says of this project, and by where it came from.
"""

from __future__ import annotations

from ..light import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Candidate, Turn

_OURS = (
    "ci|cd|ci/cd|pipelines?|staging|production|prod|builds?|builder|tests?|test suite|linter|deploys?|deployments?"
    "|releases?|branch|main|backend|frontend|server|api|database|db|schema|migrations?|cluster|infra|infrastructure"
    "|environments?|code|stack|config|docs|app|service|website|repo\\w*|project|codebase|code base|monorepo|workspace"
)
_THIS = pattern(
    r"(?i)\b(?:(?:this|the current|our|dies\w*|unser\w*)\s+(?:[\w-]+\s+){0,2}?|the\s+)"
    r"(?:repo|repository|project|projekt|codebase|code base|monorepo|workspace)\b"
    rf"|\b(?:our|unser\w*)\s+(?:[\w-]+\s+){{0,2}}?(?:{_OURS})\b"
)
_OUR = pattern(rf"(?i)\b(?:our|unser\w*)\s+((?:[\w-]+\s+){{0,2}}?(?:{_OURS}))\b")
_SAID = ("message", "note")
"""Kinds of events in which somebody speaks; every other one tells what happened in the project."""


def is_of_project(candidate: Candidate, turn: Turn) -> bool:
    """Whether a candidate belongs to its turn's project: it came from a tool or another event, or it speaks of the project."""
    if candidate.kind == "project_state" or turn.kind not in _SAID:
        return True
    if speaks_of_project(candidate.content) or speaks_of_project(candidate.about or ""):
        return True
    # "Our CI runs on Node 20" is kept as "CI runs on Node 20".
    content = candidate.content.casefold()
    return any(m[1].casefold() in content for m in _OUR.finditer(turn.text))


def speaks_of_project(statement: str) -> bool:
    """Whether a statement by itself says that it is about this project."""
    return _THIS.search(statement) is not None
