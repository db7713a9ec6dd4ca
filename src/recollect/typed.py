"""What a person typed, in a session of a coding agent: one answer for hooks, transcripts and imports alike.

Claude Code hands a model much more than its user's prompts, and in the same shape: a line of a log it watches, the report of
a background task, a wake-up that the model scheduled with words of its own. Whatever can't be told to be the person's is not
the person's: it is recorded, and no memory of them is made of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MARKS = (
    "<command-", "<local-command-", "<bash-", "<task-notification", "<system-reminder", "<ide_", "<user-prompt-submit-hook",
    "<session-start-hook", "<teammate-message", "<agent-message", "<cross-session-message", "<channel ", "<tick>",
    "[Request interrupted", "Caveat: The messages below",
    "This session is being continued from a previous conversation",
)  # fmt: skip
"""How texts begin that the program writes, in versions that say nothing else about them."""
_NOT = (
    "isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly", "isVirtual", "textNotTyped", "wakeupSource",
    "repeatsCompactSummary",
)  # fmt: skip
_PEOPLE = {
    "promptSource": (
        "typed",
        "queued",
        "suggestion_accepted",
        "sdk",
    ),  # of a line; `sdk` is `claude -p` and programs like it
    "turnOrigin": ("human", "sdk"),
    "source": ("user", "sdk"),  # of a hook's payload, in versions that say it there
}
SCHEDULERS = ("ScheduleWakeup", "CronCreate")
"""Tools whose `prompt` comes back later as if somebody had typed it."""


def is_typed(about: Mapping[str, Any], text: str) -> bool:
    """Whether a person typed a text; `about` is its line of a transcript, or the payload of the hook it came with."""
    if any(about.get(name) for name in _NOT):
        return False
    for name, people in _PEOPLE.items():
        if about.get(name) is not None and about[name] not in people:
            return False
    origin = about.get("origin")
    if isinstance(origin, dict) and origin.get("kind") not in (None, "human"):
        return False
    return not text.lstrip().startswith(MARKS)


def scheduled(payload: Mapping[str, Any]) -> list[str]:
    """The prompts that a hook's payload says will come by themselves."""
    found = [payload.get("tool_input")] if payload.get("tool_name") in SCHEDULERS else []
    crons = payload.get("session_crons")
    found += crons if isinstance(crons, list) else []
    return [each["prompt"] for each in found if isinstance(each, dict) and isinstance(each.get("prompt"), str)]
