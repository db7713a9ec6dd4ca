"""From a candidate to truth: what a new statement does to those that are held. Pure, and it says why.

Every statement is read into a frame: about whom, which attribute, which value, and whether that attribute has one value
at a time (where one lives) or many (which languages one speaks). A new value of a single attribute replaces the old one;
a set grows; a denial takes away; the same again changes nothing. What is merely alike stays beside it: to lose a true
statement is worse than to hold two that overlap. What a person wrote or pinned is never overwritten, only contradicted.
"""

from __future__ import annotations

from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .extract import Candidate

ACTIONS = ("add", "update", "delete", "noop", "conflict")


@dataclass(frozen=True)
class Policy:
    """How to decide; `Policy()` is the default of the settings."""

    similarity: float = 0.85  # memory_similarity_threshold: from here on two unread statements may be the same one
    promote: tuple[str, ...] = ()  # roles other than the user whose statements a person has allowed to become active


@dataclass(frozen=True)
class Neighbour:
    """A memory that is held in the candidate's scope, as `decide` needs to know it."""

    id: str  # the memory's id
    content: str  # its statement
    kind: str  # fact, preference, todo, project_state
    importance: float = 0.5  # 0..1
    pinned: bool = False  # whether it was pinned
    by_hand: bool = False  # whether a person wrote or revised it
    state: str = "active"  # only active ones can be updated or deleted; others are never touched
    valid_from: int | None = None  # since when it holds
    score: float | None = None  # likeness to the candidate by meaning, 0..1; None when it was not measured


@dataclass(frozen=True)
class Decision:
    """What to do with a candidate.

    "add": store it, beside what is there. "update": store it, and keep `id` (and `others`) as replaced by it. "delete":
    retire `id` (and `others`), store nothing. "noop": store nothing; refresh `id` when there is one (the same was said
    again). "conflict": store it flagged as contradicting `id`, which stays as it is because a person pinned or wrote it;
    when `store` is False there is nothing to store: the candidate would have deleted `id`, so only flag that."""

    action: str  # one of ACTIONS
    id: str | None = None  # the memory it acts on
    why: str = ""  # for a person to read
    others: tuple[str, ...] = ()  # further memories that the same decision retires
    store: bool = True  # whether the candidate's content is to be stored (add, update, conflict)


def decide(candidate: Candidate, neighbours: Sequence[Neighbour], policy: Policy | None = None) -> Decision:
    """What the candidate does to its neighbours. Pure: the same input gives the same answer."""
    raise NotImplementedError
