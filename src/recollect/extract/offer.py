"""A candidate from what a rule found: its importance and kind follow from the family of the rule."""

from __future__ import annotations

from . import RULES, Candidate, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IMPORTANCE = {
    "explicit": 0.9,  # "remember that ..."
    "identity": 0.8,  # name, pronouns, birthday, what to be called
    "health": 0.8,  # allergies, conditions, what must not be eaten
    "wish": 0.8,  # "from now on ...", "always ...", "never ..."
    "preference": 0.7,  # prefers, likes, hates, favourite
    "home": 0.7,  # where they live and come from
    "work": 0.7,  # job, employer, what they study
    "person": 0.6,  # family, friends, pets
    "project": 0.6,  # "we deploy with ...", "the database is ..."
    "todo": 0.6,  # "remind me to ...", "I need to ..."
    "plan": 0.5,  # what is going to happen
    "habit": 0.5,  # what they do, use, own, can
    "past": 0.4,  # what was so, or happened
    "event": 0.4,  # derived from a structured event
    "remark": 0.2,  # said in passing, soon stale
}
KINDS = {"wish": "preference", "preference": "preference", "todo": "todo", "event": "project_state"}


def offer(turn: Turn, content: str, family: str, **more: Any) -> Candidate:
    """A candidate of a turn; `more` are further fields of it."""
    kind = more.pop("kind", None) or KINDS.get(family, "fact")
    return Candidate(
        content=content, kind=kind, importance=IMPORTANCE[family], tags=(),
        source_checkpoint_id=turn.checkpoint_id or f"event:{turn.seq}", seqs=more.pop("seqs", (turn.seq,)),
        role=turn.role, extractor=RULES, family=family, **more,
    )  # fmt: skip
