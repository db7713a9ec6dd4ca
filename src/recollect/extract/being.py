"""What the user is, was, and is doing at present."""

from __future__ import annotations

from .clauses import Clause
from .phrases import is_name, noun, until
from .prose import is_trouble
from .saying import Found, say
from .words import BASES, GOING_ON, ING, JOB_HEADS, LANGUAGES, LASTING, PASSING, PETS, SCREEN, one_of

_TIMEZONES = frozenset(
    "pst pdt est edt cst cdt mst mdt cet cest gmt utc bst ist jst aest aedt nzst eet eest wet hst msk sgt hkt".split()
)
WILL = frozenset(
    "move start join leave travel visit fly marry retire relocate turn become switch migrate begin attend launch release".split()
)
_GERUND_LIKES = frozenset("into fond keen interested passionate obsessed crazy fan addicted partial".split())
_TRAITS = frozenset(
    "afraid scared terrified fluent responsible sensitive intolerant allergic prone good bad based subscribed enrolled employed".split()
)


def user_is(c: Clause, r: tuple[str, ...]) -> Found | None:
    if not r:
        return None
    w = r[0]
    rest = c.rest
    past = c.form == "past"
    if c.form == "modal":
        return None
    if past and r[:1] in (("fired",), ("laid",), ("dismissed",)):
        at = r.index("from") if "from" in r else -1
        return Found(
            say(c), "past", "retract", f"Works at {noun(c.rest[at + 1 :])}" if at > 0 else "job", marks=c.marks
        )
    if past:
        if w in one_of("born raised diagnosed promoted laid fired hired adopted baptised baptized awarded"):
            family = "home" if w in ("born", "raised") else "health" if w == "diagnosed" else "past"
            return Found(say(c), family, marks=c.marks)
        if (w in ("a", "an") and len(r) > 1 and r[1] not in PASSING) or w in LASTING:
            return Found(say(c), "past", marks=c.marks)
        if w in one_of("working living studying teaching") and len(r) > 2:
            return Found(say(c), "past", marks=c.marks)
        return None
    if c.form == "perfect":
        # I have been to Japan, I have been a nurse for ten years, I have been vegetarian since 2010.
        if w == "to" and len(rest) > 1 and is_name(rest[1]):
            return Found(say(c), "past", marks=c.marks)
        if w in ("a", "an") and r[1:2] and r[1] not in PASSING:
            return Found(say(c), "work" if JOB_HEADS & set(r) else "habit", marks=c.marks)
        if w in LASTING or (w in ("with", "at", "in") and len(rest) > 1 and ("since" in r or "for" in r)):
            return Found(say(c), "home" if w == "in" else "habit", marks=c.marks)
        if w in one_of("diagnosed promoted accepted hired fired admitted"):
            return Found(say(c), "past", marks=c.marks)
        return None
    if w in ("called", "named", "known") and len(rest) > 1:
        name = rest[1:] if w != "known" else rest[2:]
        if not name or not is_name(name[0]):
            return None
        return Found("Name is " + until(name), "identity", marks=c.marks)
    if w == "from" and len(r) > 1:
        return Found(say(c), "home", marks=c.marks)
    if w in one_of("based living located staying") and len(r) > 2:
        return Found(say(c), "home", marks=c.marks)
    if w.isdigit() and (len(r) == 1 or r[1] in one_of("years year yo y/o and")) and 5 < int(w[:4]) < 120:
        return Found(f"Is {'not ' if c.negated else ''}{w} years old", "identity", marks=c.marks)
    if w[:1].isdigit() and ("tall" in r or "cm" in r):
        return Found(say(c), "identity", marks=c.marks)
    if w == "in" and ("timezone" in r[:5] or r[2:4] == ("time", "zone") or r[3:5] == ("time", "zone")):
        return Found(say(c), "home", marks=c.marks)
    if (
        w == "at"
        and len(rest) > 1
        and is_name(rest[1])
        and not (one_of("the until today right airport station") & set(r))
    ):
        return Found(say(c), "work", marks=c.marks)
    if w in _TIMEZONES or (w in ("in", "on") and len(r) > 1 and (r[1] in _TIMEZONES or r[1][:3] in ("utc", "gmt"))):
        zone = rest[1] if w in ("in", "on") else rest[0]
        return Found(f"Timezone is {zone}", "home", marks=c.marks)
    if w in ("a", "an"):
        return _user_is_a(c, r)
    if r[:3] == ("more", "of", "a") or r[:3] == ("very", "much", "a"):
        return Found(say(c), "preference", marks=c.marks)
    if c.group and w == "on" and len(rest) > 1 and rest[1][:1].isupper():
        return Found(say(c), "project", marks=c.marks)
    if w in one_of("the one head vice co-founder cofounder founder ceo cto chief director") and (
        JOB_HEADS & set(r[:4]) or one_of("head owner lead founder co-founder maintainer cofounder vp") & set(r[:4])
    ):
        return Found(say(c), "work", marks=c.marks)
    near = set(r[:3])
    if (
        near
        & one_of(
            "allergic intolerant diabetic coeliac celiac asthmatic epileptic lactose-intolerant pregnant deaf blind colourblind colorblind dyslexic autistic colour-blind color-blind"
        )
        and len(r) <= 14
    ):
        return Found(say(c), "health", marks=c.marks)
    if (
        w in LASTING
        or (
            len(r) > 1
            and r[1] in LASTING
            and w in one_of("half strictly mostly newly happily gluten severely originally very part legally")
        )
    ) and len(r) <= 12:
        if w in ("single", "straight", "blind") and len(r) > 1 and r[1] not in ("now", "again", "and"):
            return None
        return Found(
            say(c),
            "identity" if w in one_of("married single divorced engaged widowed") else "habit",
            kind="fact",
            marks=c.marks,
        )
    if (
        near & _GERUND_LIKES
        and len(r) > 1
        and (
            "in" in r[:2]
            or "into" in r[:2]
            or "of" in r[:3]
            or "on" in r[:2]
            or "about" in r[:2]
            or "with" in r[:2]
            or "to" in r[:2]
        )
    ):
        return Found(say(c), "preference", marks=c.marks)
    if w in _TRAITS and len(r) > 2 and r[1] in one_of("of in for to at by with"):
        if r[2] in one_of("that you what how"):
            return None
        return Found(say(c), "health" if w in ("sensitive", "prone") else "habit", marks=c.marks)
    if w in ("married", "engaged"):
        return Found(say(c), "person", marks=c.marks)
    if (
        w == "on"
        and len(r) > 1
        and r[1]
        in one_of(
            "vacation holiday leave parental maternity paternity sabbatical medication antibiotics insulin call a antidepressants"
        )
    ) or r[:3] in (("on", "the", "night"), ("on", "the", "pill"), ("on", "the", "early"), ("on", "the", "late")):
        if r[1] == "a" and r[2:3] not in (("diet",), ("sabbatical",), ("break",), ("trip",)):
            return None
        return Found(say(c), "plan" if one_of("until from next till this") & set(r) else "remark", marks=c.marks)
    if w == "in" and len(rest) > 1 and rest[1][:1].isupper():
        here = one_of("this until today tomorrow till for right") & set(r)
        return Found(say(c), "remark" if here else "home", marks=c.marks - {"now"} if here else c.marks)
    if w in ING or w in GOING_ON:
        return _user_is_doing(c, r)
    if w in ("available", "unavailable", "reachable") and len(r) > 1:
        return Found(say(c), "habit", marks=c.marks)
    if w in ("in", "on") and len(r) > 2 and r[-1] in ("team", "department") and r[1] in ("the", "a", "our"):
        return Found(say(c), "work", marks=c.marks)
    if r[:3] == ("in", "a", "relationship"):
        return Found(say(c), "identity", marks=c.marks)
    if w == "no" and len(r) > 2 and r[1] in ("fan",):
        return Found(say(c), "preference", marks=c.marks)
    if w in one_of("employed self-employed unemployed retired freelancing"):
        return Found(say(c), "work", marks=c.marks)
    if is_name(rest[0]) and w not in LASTING and w not in LANGUAGES and not c.negated and not c.group:
        own = until(rest)
        if own and len(own.split()) <= 3 and all(is_name(x) for x in own.split()):
            return Found(f"Name is {own}", "identity", marks=c.marks)
    return None


def _user_is_a(c: Clause, r: tuple[str, ...]) -> Found | None:
    if len(r) < 2 or r[1] in PASSING:
        return None
    content = say(c)
    words = set(r)
    if "fan" in r[:5] or "lover" in r[:5] or "enthusiast" in r[:6] or "addict" in r[:4]:
        return Found(content, "preference", marks=c.marks)
    if r[1] in LASTING:
        return Found(content, "habit", marks=c.marks)
    if JOB_HEADS & words or "student" in words:
        return Found(content, "work", marks=c.marks)
    if (
        one_of("sister brother mother father parent twin mum mom dad uncle aunt grandmother grandfather widow widower")
        & words
    ):
        return Found(content, "person", marks=c.marks)
    if {"new", "user", "developer"} & words and "here" in words:
        return None
    return Found(content, "habit", marks=c.marks)


def _user_is_doing(c: Clause, r: tuple[str, ...]) -> Found | None:
    w = r[0]
    more = r[1:]
    if w not in GOING_ON and w not in ("going", "thinking"):
        return None
    if w == "thinking":
        if (
            more[:1] in (("of",), ("about",))
            and more[1:2]
            and more[1] in ING
            and more[1] not in one_of("using doing trying adding")
        ):
            return Found(say(c), "plan", marks=c.marks)
        return None
    if w == "going":
        if more[:1] == ("to",) and len(more) > 1:
            if is_name(c.rest[2]) and more[1] not in BASES:
                return Found(say(c), "plan", marks=c.marks)
            if (
                more[1] in WILL
                or (more[1] == "be" and more[2:3] in (("a",), ("an",)))
                or (more[1] == "have" and "baby" in more)
            ):
                return Found(say(c), "plan", marks=c.marks)
        return None
    if not more:
        return None
    if (
        not c.group
        and {x.removesuffix("s") for x in more[:4]} & (SCREEN | one_of("regex method api wrapper parser endpoint bot"))
        and w in one_of("writing building using developing designing editing running working")
    ):
        if not one_of("my our called named") & set(more[:5]):
            return None
    if w == "looking":
        if more[0] != "for" or len(more) < 2 or (more[1] in ("a", "an", "the") and more[2:3] and more[2] in one_of("way function library tool method solution good simple package word regex command better quick fast list")):  # fmt: skip
            return None
        if more[1] in one_of(
            "help advice something someone information info ways ideas suggestions recommendations tips"
        ):
            return None
        return Found(say(c), "plan", marks=c.marks)
    if w == "getting":
        if more[0] in ("married", "divorced", "ready") or (
            more[0] in one_of("a my our an")
            and set(more[1:4]) & (PETS | one_of("degree phd car house flat tattoo licence license divorce"))
        ):
            return Found(say(c), "plan", marks=c.marks)
        return None
    if w == "seeing" and not (is_name(c.rest[1]) or "therapist" in more or "someone" in more):
        return None
    if w in one_of(
        "running taking playing following considering editing recording growing writing starting reading tracking building using working seeing"
    ):
        if more[0] in one_of("into out through it this these the them") and w in one_of(
            "running taking playing reading tracking following editing"
        ):
            if not (w == "reading" and len(c.rest) > 2 and is_name(c.rest[2])) and not (
                w == "playing" and more[0] == "the"
            ):
                return None
        if w in ("using", "working", "building") and is_trouble(list(more)):
            return None
        if (
            w == "working"
            and more[0] == "with"
            and len(more) > 1
            and more[1] in ("a", "the")
            and more[2:3]
            and more[2] in one_of("list dataframe dataset string array file function large")
        ):
            return None
    family = {
        "living": "home", "moving": "plan", "relocating": "plan", "working": "work", "studying": "work", "using": "project" if c.group else "habit",
        "building": "project", "developing": "project", "migrating": "project", "deploying": "project", "dating": "person", "learning": "habit",
        "planning": "plan", "leaving": "plan", "retiring": "plan", "expecting": "plan", "flying": "plan", "visiting": "plan",
        "travelling": "plan", "traveling": "plan", "switching": "plan", "starting": "plan", "joining": "plan",
    }.get(w, "habit")  # fmt: skip
    return Found(say(c), family, marks=c.marks)
