"""Facts that our own code reads off structured events: a file written, tests run, an approval given.

Only fields with a fixed meaning are used, and only where they hold nothing but a name: free text of a tool never gets
in, and a path or tool name that is made of sentences is left alone.
"""

from __future__ import annotations

from ..light import pattern
from . import Candidate, Turn, danger
from .foreign import foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = "events"
PASSING = 0.25
"""Below `memory_low_importance_threshold`: that tests passed on a day matters for days."""
_PATH = pattern(r"^[\w./@+~:\\-]{1,160}$")
_NAME = pattern(r"^[\w.:/-]{1,40}$")
_STATUS = pattern(r"^(?=.{1,40}$)[\w.:/'’-]+(?: [\w.:/'’-]+){0,3}$")
LONGEST_GOAL = 120
_GOAL = pattern(r"^[\w'’.:/#+()&…-]+(?:,? [\w'’.:/#+()&…-]+)*$")
"""What a task is about, where it is plain words."""
_UNTOLD = "in another state"
"""For a status that is free text: it is not repeated, but what was held before no longer holds."""
_WRITERS = frozenset(
    "write edit multiedit create write_file edit_file create_file str_replace apply_patch notebookedit save_file".split()
)
_RUNNERS = pattern(
    r"^(?:\S*/)?(?:python\d?(?:\.\d+)? -m |npx |uv run |poetry run |make |npm (?:run )?|pnpm (?:run )?|yarn (?:run )?|cargo |go |bundle exec |\./)?(pytest|unittest|tox|nox|test|tests|jest|vitest|mocha|rspec|phpunit|ctest|check|gradlew? test|mvn test)\b"
)
_GRANTED = frozenset("granted approved allowed accept accepted yes always".split())
_DENIED = frozenset("denied rejected refused declined no".split())
_GOOD = frozenset("ok success succeeded passed done completed 0".split())
_BAD = frozenset("error failed failure".split())


def derive(turn: Turn) -> list[Candidate]:
    """What a structured event says, as active facts; and what a tool's free text wants remembered, in quarantine."""
    payload: Mapping[str, Any] = turn.payload if isinstance(turn.payload, dict) else {}
    tool = turn.tool if turn.tool and _NAME.match(turn.tool) else None
    path = turn.path if turn.path and _safe_path(turn.path) else None
    found: str | None = None
    slot: str | None = None
    if (turn.kind == "artifact" and path) or (turn.kind == "tool_use" and tool and path and tool.lower() in _WRITERS):
        found = f"File {path} was written"
    elif turn.kind == "approval" and turn.status and tool:
        status = turn.status.lower()
        what = f"{tool} on {path}" if path else tool
        if status in _GRANTED:
            found = f"Use of {what} was approved"
        elif status in _DENIED:
            found = f"Use of {what} was refused"
    elif turn.kind == "tool_result":
        found = _tests(turn, payload)
    elif turn.kind == "ledger" and turn.task_id and turn.status and _NAME.match(turn.task_id):
        if not _commands(turn.task_id):
            slot = f"Task {turn.task_id} "
            goal = _goal(turn.text)
            found = f"{slot}{goal and f'({goal}) '}is {_status(turn.task_id, turn.status)}"
    out: list[Candidate] = []
    if found is not None:
        out.append(_made(turn, found, None, slot))
    if turn.kind in ("tool_result", "error", "event", "artifact", "reasoning", "summary") and turn.text:
        out += foreign(turn)
    return out


def _made(turn: Turn, content: str, quarantine: str | None, slot: str | None = None) -> Candidate:
    return Candidate(
        content=content, kind="project_state", importance=PASSING, tags=(),
        source_checkpoint_id=turn.checkpoint_id or f"event:{turn.seq}", seqs=(turn.seq,), role=turn.role,
        extractor=EVENTS, family="event", quarantine=quarantine, slot=slot,
    )  # fmt: skip


def _status(task: str, status: str) -> str:
    """A status in one spelling, since `in_progress`, `In-Progress` and `in progress` are one."""
    spoken = " ".join(status.lower().replace("_", " ").replace("-", " ").split())
    return spoken if _STATUS.match(spoken) and not _commands(f"{task} {spoken}") else _UNTOLD


def _goal(text: str) -> str:
    """What a task is to reach, in one line; "" where that is no plain words, or an instruction to whoever reads it."""
    said = " ".join(text.split())
    if len(said) > LONGEST_GOAL:
        said = said[:LONGEST_GOAL].rsplit(" ", 1)[0] + "…"
    return said if _GOAL.match(said) and not _commands(said) else ""


def _commands(name: str) -> bool:
    return danger.reason(name.replace("-", " ").replace("_", " ")) is not None


def _tests(turn: Turn, payload: Mapping[str, Any]) -> str | None:
    command = payload.get("command")
    if not isinstance(command, str):
        given = payload.get("input")
        command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str):
        return None
    m = _RUNNERS.match(command.strip())
    if m is None:
        return None
    code = payload.get("exit_code", payload.get("returncode"))
    status = (turn.status or "").lower()
    if code == 0 or (code is None and status in _GOOD):
        return f"Tests passed ({m.group(1)})"
    if isinstance(code, int) or status in _BAD:
        return f"Tests failed ({m.group(1)})"
    return None


def _safe_path(path: str) -> bool:
    """A path that names a file and says nothing: no spaces, and no sentence spelled with dashes."""
    if not _PATH.match(path):
        return False
    spoken = path.replace("-", " ").replace("_", " ").replace("/", " ").replace(".", " ")
    return danger.reason(spoken) is None and danger.reason(path.replace("-", " ").replace("_", " ")) is None
