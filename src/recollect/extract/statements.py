"""Which clauses are statements worth keeping, and how they read in a memory.

One room a kind of statement: what the user is (`being`), does and has (`habits`), did (`past`), and what is said of others
and of things (`others`). A clause that none of them knows is not kept: "I got an error" and "the answer is 42" are as
grammatical as "I got a dog" and "the office is in Soho".
"""

from __future__ import annotations

from .being import WILL, user_is
from .clauses import Clause
from .habits import user_can, user_does
from .others import said_of_others
from .past import user_did
from .phrases import is_name, over
from .prose import is_trouble
from .saying import Found, say
from .words import DEICTIC, OWN_PLACES, STATES, one_of


def fact(c: Clause, *, loose: bool = False, asks: bool = False) -> Found | None:
    """The clause as a statement to keep, or None. `loose`: it was asked to be remembered, so any clause will do."""
    if c.marks & {"hedge"} and not loose:
        return None
    lowered = c.lower
    if not loose:
        ends_work = c.verb in ("stop", "quit") and lowered[:1] == ("working",)  # "I stopped working at Bosch"
        if (
            is_trouble(list(lowered))
            and c.subject == ""
            and c.verb not in one_of("work like love hate prefer be")
            and not ends_work
        ):
            return None
        if is_trouble(list(lowered)) and (c.subject or c.verb == "be") and "working" not in lowered[:1]:
            return None
        if _deictic(lowered, c):
            return None
    found = _user(c, lowered, asks) if c.subject == "" else said_of_others(c, lowered, loose)
    if (
        found is None
        and loose
        and (c.subject or c.verb in STATES or c.verb == "be")
        and c.form in one_of("present past perfect future")
    ):
        if "over" in c.marks or (c.negated and "over" in c.marks):
            return over(c)
        return Found(say(c), "habit", marks=c.marks)
    return found


def _deictic(lowered: tuple[str, ...], c: Clause) -> bool:
    for i, w in enumerate(lowered[:6]):
        if w in DEICTIC:
            if w in ("this", "that", "these") and i + 1 < len(lowered) and lowered[i + 1] in OWN_PLACES:
                continue
            if w in one_of("that it them here") and i > 2:
                continue
            if w == "it" and lowered[i + 1 : i + 2] == ("when",):
                continue
            if w == "this" and c.verb == "be":
                continue
            return True
    return False


def _user(c: Clause, r: tuple[str, ...], asks: bool) -> Found | None:
    if "over" in c.marks and c.form in ("present",):
        if c.verb == "be" and not r:
            return None
        return over(c)
    if c.verb == "be" and c.form != "future":
        return user_is(c, r)
    if c.form == "modal":
        return user_can(c, r)
    if c.form == "future":
        if (
            c.verb == "be"
            and r
            and r[0] not in one_of("in at away out on back a working living moving travelling traveling")
        ):
            return None
        if (
            c.verb in WILL
            or c.verb == "be"
            or (c.verb in ("go",) and len(c.rest) > 1 and is_name(c.rest[1]))
            or (c.verb == "have" and "baby" in r)
        ):
            return Found(say(c), "plan", marks=c.marks)
        return None
    if c.aux == "used":
        return Found(say(c), "past", marks=c.marks)
    if c.form in ("past", "perfect") or (c.form == "going" and c.aux):
        return user_did(c, r)
    return user_does(c, r, asks)
