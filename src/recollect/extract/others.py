"""What is said of others and of things: kin, pets, projects, appointments."""

from __future__ import annotations

from .clauses import Clause
from .phrases import is_home, over, place_and_time
from .saying import Found, capital, is_plural, say
from .words import GOING_ON, KIN, MONTHS, PARTICIPLE, PAST, PROJECT, STATES, TALK, WEEKDAYS, low, one_of, rewrite

_CODES = frozenset(
    "locker door alarm gate zip post postal area dress entry pin access country dial promo discount".split()
)
_BODY = frozenset(
    "knees knee back eyesight hearing heart stomach skin eyes memory blood hip hips shoulder balance".split()
)
_ADJECTIVES = frozenset(
    """great good bad fine ready done gone wrong broken slow here there back late nice awful terrible okay ok cool amazing
    awesome horrible down up offline online dead tired happy sad sick busy ill hungry angry upset mad confused weird full
    empty loud quiet clear unclear important true false possible impossible different same right simple hard easy boring
    interesting funny annoying killing hurting bothering""".split()
)


def said_of_others(c: Clause, r: tuple[str, ...], loose: bool) -> Found | None:
    subject = c.subject
    words = [low(w) for w in subject.split()]
    kin = any(w in KIN or w.removesuffix("'s") in KIN or w.removesuffix("s") in KIN for w in words)
    project = any(w in PROJECT or w.removesuffix("'s") in PROJECT for w in words)
    favourite = any(w in one_of("favourite favorite fave preferred") for w in words)
    if not loose:
        if _head(subject) in TALK and not kin and not favourite and not _CODES & set(words):
            if not (project and (c.group or c.verb in one_of("live run use go start take"))):
                return None
        if c.form == "modal":
            return None
        if not c.own and not project and not kin:
            return None
    if "over" in c.marks:
        return over(c)
    family = "person" if kin else "preference" if favourite else "project" if project else "habit"
    if words[-1] in one_of("name names birthday pronouns nickname surname age") and len(words) <= 3 and not kin:
        family = "identity"
    if words[-1] in one_of("address timezone time-zone hometown home") or words[-2:] == ["time", "zone"]:
        family = "home"
    if words[-1] in one_of("job employer boss manager profession occupation title salary company"):
        family = "work"
    if words[-1] in one_of("allergy allergies medication condition"):
        family = "health"
    if words[-1] in one_of("goal plan dream goals"):
        family = "plan"
    be, live = ("are", "live") if is_plural(subject) else ("is", "lives")
    if c.verb == "be" and c.form in ("present", "past"):
        if not r:
            return None
        if not loose and (
            (r[0] in one_of("that how what why if whether not") and not c.negated)
            or (r[0] in _ADJECTIVES and not kin and words[-1] not in _BODY)
        ):
            return None
        if not loose and kin and r[0] in _ADJECTIVES and len(r) < 3:
            return None
        if not loose and c.negated and not kin and not project:
            return None
        if (
            not kin
            and project
            and len(r) <= 2
            and (r[0] in one_of("cancelled canceled scrapped") or r == ("off",) or r == ("called", "off"))
        ):
            return Found(say(c), "past", "retract", subject, marks=c.marks)
        moved = (
            r[0] in one_of("moved changed postponed pushed rescheduled shifted delayed extended")
            and "to" in r[:3]
            and not kin
        )
        if moved and r.index("to") + 1 < len(r):
            new = c.rest[r.index("to") + 1 :]
            first = low(new[0])
            prep = (
                "at "
                if first[:1].isdigit() and not (len(new) > 1 and low(new[1]) in MONTHS)
                else "on "
                if first in WEEKDAYS or first[:1].isdigit()
                else ""
            )
            return Found(
                f"{capital(subject)} {be} {prep}{' '.join(rewrite(new))}", family, marks=c.marks | {"now"}, future=True
            )
        if c.form == "past" and not (
            kin
            or r[0] in one_of("born founded hired built")
            or words[0] in one_of("first last previous old former childhood")
        ):
            return None
        if c.form == "past" and not kin:
            return Found(say(c), "past", marks=c.marks)
        if project and not kin and not loose and r[0].endswith("ing") and len(r[0]) > 4 and r[0] not in GOING_ON:
            return None
        if (
            not kin
            and not loose
            and (r[0] in PARTICIPLE or r[0] in PAST or r[0].endswith("ed"))
            and (len(r) == 1 or (len(r) == 2 and r[1] in one_of("up out in off down over through")))
        ):
            return None
        if (
            project
            and not kin
            and r[0]
            in one_of(
                "done fixed merged finished paid sent renewed reviewed cleaned booked complete completed closed released deployed updated submitted signed cancelled canceled rotated resolved in upgraded"
            )
            and len(r) <= 2
            and not (r[0] in ("in", "deployed") and len(r) == 2)
        ):
            return None
        if r[0] in ("to",) and family != "plan" and words[-1] != "job":
            return None
        if family == "habit" and not loose and _finished(r):
            return None
        return Found(say(c), family, marks=c.marks)
    if c.form == "going" or c.form == "perfect":
        if not kin:
            return None
        return Found(say(c), family, marks=c.marks)
    if c.form == "future":
        return Found(say(c), "plan", marks=c.marks) if kin or project else None
    if c.form == "past":
        if not kin and (project or c.own) and c.verb in one_of("move relocate change switch") and "to" in r[:2]:
            new = c.rest[r.index("to") + 1 :]
            if new:
                first = low(new[0])
                prep = (
                    ""
                    if c.verb in ("change", "switch")
                    else "on "
                    if first in WEEKDAYS
                    or "floor" in r
                    or first in MONTHS
                    or (first[:1].isdigit() and len(new) > 1 and low(new[1]) in MONTHS)
                    else "at "
                    if first[:1].isdigit()
                    else "in "
                )
                return Found(f"{capital(subject)} {be} {prep}{' '.join(rewrite(new))}", family, marks=c.marks | {"now"})
        if kin and c.verb == "get" and r[:1] in (("married",), ("engaged",), ("divorced",)):
            return Found(f"{capital(subject)} {be} {' '.join(rewrite(c.rest))}", family, marks=c.marks | {"now"})
        if not kin and c.verb == "get" and r[:1] in (("cancelled",), ("canceled",), ("scrapped",)):
            return Found(say(c), "past", "retract", subject, marks=c.marks)
        if kin and c.verb in ("move", "relocate") and r[:1] == ("to",):
            when = place_and_time(" ".join(c.rest[1:]))
            if not is_home(when[0]):
                return None
            since = f" since {when[1]}" if when[1] else ""
            return Found(
                f"{capital(subject)} {live} in {' '.join(rewrite(when[0].split()))}{since}",
                family,
                marks=c.marks | {"now"},
            )
        if kin and c.verb in one_of(
            "have start join graduate retire die get turn quit adopt marry buy live work pass break win"
        ):
            return Found(say(c), "person", marks=c.marks)
        return None
    if c.verb in one_of("think say believe want hope claim tell ask wonder argue insist suggest recommend expect"):
        return None
    if c.verb in one_of("seem look feel mean say keep need hurt fail throw return get give crash") and not (
        kin and c.verb in ("need", "keep")
    ):
        return None
    if not (
        kin
        or project
        or c.verb in STATES
        or c.verb
        in one_of("start end leave expire begin land arrive depart include contain cost expose point accept rotate")
    ):
        return None
    if not r and c.verb not in ("smoke", "snore", "rotate"):
        return None
    if c.verb == "cost" and r[0] in ("me", "us"):
        return Found(say(c, rest=c.rest[1:]), family, marks=c.marks)
    if c.verb in one_of("start end leave expire begin land arrive depart"):
        family = "plan" if not project or family == "project" else family
    return Found(say(c), family, marks=c.marks, future=False)


def _head(subject: str) -> str:
    """The noun that a phrase is about: `alarm code hint` -> hint, `code in the repo` -> code."""
    head = ""
    for word in subject.split():
        if low(word) in one_of("in of for at on with from"):
            break
        if not word[:1].isupper() or not head:
            head = low(word).removesuffix("'s")
    return head


def _finished(r: tuple[str, ...]) -> bool:
    return len(r) <= 2 and r[0] in one_of(
        "done finished fixed paid sent renewed booked cleaned submitted completed complete signed ordered packed washed ready reviewed returned filed over written shipped delivered"
    )
