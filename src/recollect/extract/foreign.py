"""Other voices: what a tool, a page, a file or the assistant would like to be remembered. Never active."""

from __future__ import annotations

from ..light import pattern
from . import Candidate, Turn, danger
from .offer import offer
from .prose import is_foreign, sentences
from .saying import capital

LONGEST = 600
_SAFE = pattern(
    r"(?i)^\W*(?:the )?(?:user|human|person|customer)(?:'s)? |\b(?:remember|memor|always|never|from now on|must|prefer|ignore|instruct|password|secret|send|note to|do not|don't)\b"
)


def foreign(turn: Turn) -> list[Candidate]:
    """What somebody else's text would like to be remembered: for a person to look at, never active."""
    who = {"assistant": "said by the assistant", "tool": "said by a tool", "system": "said by the system"}.get(
        turn.role or "", "not the user's own words"
    )
    if turn.kind == "message" and turn.role == "user":
        who = "not the user's own words"
    out: list[Candidate] = []
    for sentence in sentences(turn.text):
        text = sentence.text
        if not 8 <= len(text) <= LONGEST or sentence.mark == "?" or is_foreign(text) or not _SAFE.search(text):
            continue
        why = danger.reason(text)
        out.append(offer(turn, capital(" ".join(text.split())), "remark", quarantine=f"{who}, {why}" if why else who))
        if len(out) >= 3:
            break
    return out
