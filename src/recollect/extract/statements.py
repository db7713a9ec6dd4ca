"""Which clauses are statements worth keeping, and how they read in a memory.

One function a kind of subject. A clause that none of them knows is not kept: "I got an error" and "the answer is 42" are
as grammatical as "I got a dog" and "the office is in Soho".
"""

from __future__ import annotations

from ..light import pattern
from .clauses import DEICTIC, OWN_PLACES, Clause, Found, capital, low, rewrite, say
from .prose import is_trouble
from .words import (
    BASES,
    GOING_ON,
    HABIT_PHRASES,
    ING,
    JOB_HEADS,
    KIN,
    KIN_ONE,
    LANGUAGES,
    LASTING,
    LIKES,
    MONTHS,
    NUMBERS,
    PARTICIPLE,
    PASSING,
    PAST,
    PETS,
    PROJECT,
    STATES,
    TALK,
    WEAK,
    WEEKDAYS,
    one_of,
    third,
)

_SCREEN = frozenset(
    """list array string table file files function script dataframe data csv json column row class object loop number
    numbers set dict dictionary variable query question questions problem problems issue issues idea doubt feeling look
    trouble time thing things way hunch point request error bug code example text sentence test form button page
    headache fever cold cough stomachache deadline-question suspicion hard difficulty difficulties chance clue""".split()
)
_GOALS = frozenset(
    "learn become visit travel move run lose retire write buy start improve build study climb join get".split()
)
_TIMEZONES = frozenset(
    "pst pdt est edt cst cdt mst mdt cet cest gmt utc bst ist jst aest aedt nzst eet eest wet hst msk sgt hkt".split()
)
_SWITCH = pattern(r"(?i)^(?:over )?(?:from (?P<a>.+?) (?:over )?to|to) (?P<b>.+)$")
_CODES = frozenset(
    "locker door alarm gate zip post postal area dress entry pin access country dial promo discount".split()
)
_BODY = frozenset(
    "knees knee back eyesight hearing heart stomach skin eyes memory blood hip hips shoulder balance".split()
)
_CHOICES = frozenset(
    "first second third last latter former other one original new old previous next shorter longer simpler version option approach way solution answer draft variant".split()
)
_MOVES = frozenset("move relocate".split())
_LEAVE = {
    "quit", "stop", "give", "cancel", "sell", "drop", "leave", "ditch", "abandon", "lose", "end", "deprecate", "retire",
    "remove", "discontinue", "delete", "break",
}  # fmt: skip
_PAST_KEPT = frozenset(
    "grow bear raise live work study graduate major attend teach play own serve marry start join begin adopt win found retire".split()
)
_WILL = frozenset(
    "move start join leave travel visit fly marry retire relocate turn become switch migrate begin attend launch release".split()
)
_PERFECT = frozenset(
    "live work play use study have know own teach lead manage run drive smoke speak practise practice collect follow".split()
)
_GERUND_LIKES = frozenset("into fond keen interested passionate obsessed crazy fan addicted partial".split())
_TRAITS = frozenset(
    "afraid scared terrified fluent responsible sensitive intolerant allergic prone good bad based subscribed enrolled employed".split()
)
_ADJECTIVES = frozenset(
    """great good bad fine ready done gone wrong broken slow here there back late nice awful terrible okay ok cool amazing
    awesome horrible down up offline online dead tired happy sad sick busy ill hungry angry upset mad confused weird full
    empty loud quiet clear unclear important true false possible impossible different same right simple hard easy boring
    interesting funny annoying killing hurting bothering""".split()
)


def fact(c: Clause, *, loose: bool = False, asks: bool = False) -> Found | None:
    """The clause as a statement to keep, or None. `loose`: it was asked to be remembered, so any clause will do."""
    if c.marks & {"hedge"} and not loose:
        return None
    lowered = c.lower
    if not loose:
        if is_trouble(list(lowered)) and c.subject == "" and c.verb not in one_of("work like love hate prefer be"):
            return None
        if is_trouble(list(lowered)) and (c.subject or c.verb == "be") and "working" not in lowered[:1]:
            return None
        if _deictic(lowered, c):
            return None
    found = _user(c, lowered, loose, asks) if c.subject == "" else _other(c, lowered, loose, asks)
    if (
        found is None
        and loose
        and (c.subject or c.verb in STATES or c.verb == "be")
        and c.form in one_of("present past perfect future")
    ):
        if "over" in c.marks or (c.negated and "over" in c.marks):
            return _over(c)
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


def _over(c: Clause) -> Found:
    """Something that held and does not any more."""
    held = Clause(c.subject, c.group, (), False, "" if c.aux in ("can",) else c.aux, c.verb, "present", c.rest, c.marks)
    about = say(held)
    text = say(c, negated=True) if c.negated else say(held)
    return Found(f"No longer: {about}" if not c.negated else f"{text} anymore", "past", "retract", about, marks=c.marks)


def _habitual(c: Clause) -> bool:
    text = " ".join(c.lower) + " "
    return bool(c.adverbs) or any(p in text for p in HABIT_PHRASES)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.strip(",.").replace("-", "").replace("'", "").isalpha() and len(word) > 1


def _user(c: Clause, r: tuple[str, ...], loose: bool, asks: bool) -> Found | None:
    if "over" in c.marks and c.form in ("present",):
        if c.verb == "be" and not r:
            return None
        return _over(c)
    if c.verb == "be" and c.form != "future":
        return _user_is(c, r, loose)
    if c.form == "modal":
        return _user_modal(c, r)
    if c.form == "future":
        if (
            c.verb == "be"
            and r
            and r[0] not in one_of("in at away out on back a working living moving travelling traveling")
        ):
            return None
        if (
            c.verb in _WILL
            or c.verb == "be"
            or (c.verb in ("go",) and len(c.rest) > 1 and _is_name(c.rest[1]))
            or (c.verb == "have" and "baby" in r)
        ):
            return Found(say(c), "plan", marks=c.marks)
        return None
    if c.aux == "used":
        return Found(say(c), "past", marks=c.marks)
    if c.form in ("past", "perfect") or (c.form == "going" and c.aux):
        return _user_past(c, r)
    return _user_present(c, r, asks)


def _user_is(c: Clause, r: tuple[str, ...], loose: bool) -> Found | None:
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
            say(c), "past", "retract", f"Works at {_noun(c.rest[at + 1 :])}" if at > 0 else "job", marks=c.marks
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
        if w == "to" and len(rest) > 1 and _is_name(rest[1]):
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
        if not name or not _is_name(name[0]):
            return None
        return Found("Name is " + _until(name), "identity", marks=c.marks)
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
        and _is_name(rest[1])
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
            "home"
            if False
            else "identity"
            if w in one_of("married single divorced engaged widowed")
            else "preference"
            if False
            else "habit",
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
    if _is_name(rest[0]) and w not in LASTING and w not in LANGUAGES and not c.negated and not c.group:
        own = _until(rest)
        if own and len(own.split()) <= 3 and all(_is_name(x) for x in own.split()):
            return Found(f"Name is {own}", "identity", marks=c.marks)
    return None


def _until(words: tuple[str, ...]) -> str:
    out = []
    for word in words:
        if low(word) in one_of("and from a an the by but at in with or as here speaking who i so now then on for to"):
            break
        out.append(word.strip(",."))
        if word.endswith((",", ".")):
            break
    return " ".join(out)


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
            if _is_name(c.rest[2]) and more[1] not in BASES:
                return Found(say(c), "plan", marks=c.marks)
            if (
                more[1] in _WILL
                or (more[1] == "be" and more[2:3] in (("a",), ("an",)))
                or (more[1] == "have" and "baby" in more)
            ):
                return Found(say(c), "plan", marks=c.marks)
        return None
    if not more:
        return None
    if (
        not c.group
        and {x.removesuffix("s") for x in more[:4]} & (_SCREEN | one_of("regex method api wrapper parser endpoint bot"))
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
    if w == "seeing" and not (_is_name(c.rest[1]) or "therapist" in more or "someone" in more):
        return None
    if w in one_of(
        "running taking playing following considering editing recording growing writing starting reading tracking building using working seeing"
    ):
        if more[0] in one_of("into out through it this these the them") and w in one_of(
            "running taking playing reading tracking following editing"
        ):
            if not (w == "reading" and len(c.rest) > 2 and _is_name(c.rest[2])) and not (
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


def _user_modal(c: Clause, r: tuple[str, ...]) -> Found | None:
    if c.aux == "can":
        if c.negated:
            if c.verb in ("stand", "bear"):
                return Found(say(c), "preference", marks=c.marks)
            if c.verb in one_of("eat drink tolerate digest have") and r:
                return Found(say(c), "health", marks=c.marks)
            if c.verb in one_of("swim drive cook ride read whistle ski sing dance hear fly smell"):
                return Found(say(c), "habit", marks=c.marks)
            return None
        if c.verb in one_of("speak play swim cook ski juggle sail fly knit code program") and (
            r or c.verb in one_of("swim cook ski knit")
        ):
            return Found(say(c), "habit", marks=c.marks)
        return None
    if c.aux == "would":
        if c.verb == "rather" and r:
            if r[0] in one_of("have get see use drink eat take") and len(r) > 1:
                if r[0] in ("have", "get"):
                    return Found("Prefers " + " ".join(rewrite(c.rest[1:])), "preference", marks=c.marks)
                return Found("Prefers to " + " ".join(rewrite(c.rest)), "preference", marks=c.marks)
            if r[0] in BASES and r[0] not in ("know", "say"):
                return Found("Prefers to " + " ".join(rewrite(c.rest)), "preference", marks=c.marks)
            if r[0] == "not" and len(r) > 2:
                return Found("Prefers not to " + " ".join(rewrite(c.rest[1:])), "preference", marks=c.marks)
            return None
        if c.verb == "prefer" and r and r[0] not in ("if", "that", "you"):
            return Found("Prefers " + " ".join(rewrite(c.rest)), "preference", marks=c.marks)
        if (
            c.verb in ("love", "like")
            and r[:1] == ("to",)
            and r[1:2]
            and r[1] in one_of("visit learn travel become live move climb")
        ):
            return Found(say(c), "plan", marks=c.marks)
        return None
    return None


def _user_past(c: Clause, r: tuple[str, ...]) -> Found | None:
    v = c.verb
    if c.negated:
        return None
    content = say(c)
    marks = c.marks | {"now"}
    swapped = _replaced(c, r)
    if swapped is not None:
        return swapped
    if (v == "become" or (v in ("go", "turn") and r[:1] and r[0] in LASTING)) and r:
        made = Clause("", c.group, (), False, "", "be", "present", c.rest, marks)
        return _user_is(made, r, False)
    if v in ("unsubscribe", "resign", "unfollow") and r:
        return Found(content, "past", "retract", _noun(c.rest[1:] if r[0] == "from" else c.rest), marks=c.marks)
    if v in _MOVES and r[:1] == ("back",):
        return _user_past(Clause(**{**c.__dict__, "rest": c.rest[1:]}), r[1:])
    if v in _MOVES and r[:2] == ("out", "of") and len(r) > 2:
        return Found(content, "past", "retract", "Lives in " + _noun(c.rest[2:]), marks=c.marks)
    if v in _MOVES:
        m = _SWITCH.match(" ".join(c.rest))
        if m and m.group("a") and (c.group and not _is_name(m.group("b"))):
            pass
        if r[:1] == ("to",) or (m and m.group("b")):
            place = m.group("b") if m else " ".join(c.rest[1:])
            if not place or (low(place.split()[0]) in one_of("using a an the") and c.group):
                what = place.split(" ", 1)
                if low(what[0]) == "using" and len(what) > 1:
                    return Found(
                        "Uses " + what[1],
                        "project",
                        about=("Uses " + m.group("a")) if m and m.group("a") else None,
                        marks=marks,
                    )
            if c.group and m and m.group("a") and not _place_like(place):
                return Found("Uses " + place, "project", about="Uses " + m.group("a"), marks=marks)
            if low(place.split()[-1]) in one_of("team department group role position project company side squad"):
                return Found(f"Is in {' '.join(rewrite(place.split()))}", "work", marks=marks)
            when = _when(place)
            place = when[0]
            since = f" since {when[1]}" if when[1] else ""
            return Found(f"Lives in {' '.join(rewrite(place.split()))}{since}", "home", marks=marks)
        if r[:1] == ("in",) and r[1:2] == ("with",):
            return Found("Lives " + " ".join(rewrite(c.rest[1:])), "home", marks=marks)
        if r[:1] in (("house",), ("houses",), ("flat",)) or not r:
            return None
        return None
    if v == "upgrade" and c.group and r:
        return Found(content, "project", marks=marks)
    if v in one_of("switch migrate transition change") and r:
        m = _SWITCH.match(" ".join(c.rest))
        if m is None:
            if v == "change" and r[:2] == ("my", "name") and "to" in r:
                return Found("Name is " + " ".join(c.rest[r.index("to") + 1 :]), "identity", marks=marks)
            at = r.index("to") if "to" in r else -1
            if v in ("migrate", "switch") and at > 0 and at + 1 < len(r):
                thing = [w for w in c.rest[:at] if low(w) not in one_of("from our my the over")]
                if "from" in r[:at]:
                    old = " ".join(c.rest[r.index("from") + 1 : at])
                    return Found(
                        "Uses " + " ".join(rewrite(c.rest[at + 1 :])),
                        "project" if c.group else "habit",
                        about="Uses " + old,
                        marks=marks,
                    )
                if thing:
                    return Found(content, "project" if c.group else "habit", marks=marks)
            return None
        new = " ".join(rewrite(m.group("b").split()))
        if low(new.split()[0]) in ING:
            return None
        when = _when(new)
        new = when[0] + (f" since {when[1]}" if when[1] else "")
        return Found(
            "Uses " + new,
            "project" if c.group else "habit",
            about="Uses " + m.group("a") if m.group("a") else None,
            marks=marks,
        )
    if v == "get":
        if r[:2] == ("rid", "of") and len(r) > 2:
            about = " ".join(rewrite(c.rest[2:]))
            return Found(content, "past", "retract", about, marks=c.marks)
        if r[:1] in (("fired",), ("laid",), ("dismissed",)):
            at = r.index("from") if "from" in r else -1
            return Found(
                content, "past", "retract", f"Works at {_noun(c.rest[at + 1 :])}" if at > 0 else "job", marks=c.marks
            )
        if r[:1] in (("married",), ("engaged",), ("divorced",)):
            state = r[0]
            when = _when(" ".join(c.rest[1:]))
            tail = when[0] + (f" since {when[1]}" if when[1] else "")
            return Found(f"Is {state} {tail}".strip(), "identity", marks=marks)
        if (
            r[:1]
            and r[0] in one_of("a an another my two three")
            and set(r[:5]) & (PETS | one_of("car bike house flat"))
        ):
            return Found(
                "Has " + " ".join(rewrite(c.rest)),
                "person" if set(r[:5]) & PETS else "habit",
                marks=c.marks | {"also"} if r[0] == "another" else c.marks,
            )
        if r[:2] in (("a", "new"), ("my", "new")) and len(r) > 2:
            return Found("Has " + " ".join(rewrite(c.rest)), "habit", marks=c.marks)
        if r[:1] and r[0] in one_of("promoted hired fired accepted"):
            return Found(content, "past", marks=c.marks)
        return None
    if v == "adopt" and set(r[:5]) & PETS:
        return Found("Has " + " ".join(rewrite(c.rest)), "person", marks=c.marks)
    if v in ("delete", "uninstall") and c.rest and _is_name(c.rest[0]):
        return Found(content, "past", "retract", _noun(c.rest), marks=c.marks)
    if v == "buy" and r[:1] in (("a",), ("an",)) and len(r) > 1 and _is_name(c.rest[1]):
        return Found(content, "habit", marks=c.marks)
    if (
        v == "buy"
        and set(r[:5]) & one_of("car house flat apartment bike boat motorcycle laptop phone guitar piano cabin")
        and r[0] in one_of("a an my our")
    ):
        return Found(content, "habit", marks=c.marks)
    if (
        v == "find"
        and len(r) > 1
        and r[0] in ("a", "an", "my", "our")
        and r[1] not in one_of("bug way solution problem typo mistake good better nice great few file article")
    ):
        return Found(content, "past", "retract", "Is looking for " + " ".join(rewrite(c.rest)), marks=c.marks)
    if v in ("finish", "complete") and r and r[0] in ING:
        held = Clause(c.subject, c.group, (), False, "", ING[r[0]], "present", c.rest[1:], frozenset())
        return Found(content, "past", "retract", say(held), marks=c.marks)
    if v in ("quit", "stop") and r:
        if r[0] in ING:
            held = Clause(c.subject, c.group, (), False, "", ING[r[0]], "present", c.rest[1:], frozenset())
            return Found(content, "past", "retract", say(held), marks=c.marks)
        if r[0] in ("my", "our", "the") or v == "quit":
            return Found(content, "past", "retract", _noun(c.rest), marks=c.marks)
        return None
    if v == "give" and r[:1] == ("up",) and len(r) > 1:
        if len(r) > 1 and r[1] in ING:
            held = Clause("", c.group, (), False, "", ING[r[1]], "present", c.rest[2:], frozenset())
            return Found(content, "past", "retract", say(held), marks=c.marks)
        return Found(content, "past", "retract", _noun(c.rest[1:]), marks=c.marks)
    if v == "drop" and r[:2] == ("support", "for"):
        return Found(content, "past", "retract", "Supports " + " ".join(c.rest[2:]), marks=c.marks)
    if (
        v in one_of("cancel sell ditch drop abandon deprecate discontinue lose")
        and r
        and r[0] not in one_of("it that them weight interest")
    ):
        return Found(content, "past", "retract", _noun(c.rest), marks=c.marks)
    if v == "leave" and r and r[0] not in one_of("it that them a the for at out my early"):
        return Found(content, "past", "retract", "Works at " + _until(c.rest), marks=c.marks)
    if (
        v == "leave"
        and len(r) > 1
        and r[0] in ("the", "my")
        and r[1]
        in one_of(
            "band club team choir army navy church party group board company startup firm project orchestra union committee gym"
        )
        and not (r[1] == "company" or (r[1] == "party" and len(r) == 2))
    ):
        return Found(content, "past", "retract", _noun(c.rest), marks=c.marks)
    if v == "leave" and r[:2] in (("my", "job"), ("the", "company")):
        return Found(
            content, "past", "retract", "Works at " + " ".join(c.rest[3:]) if len(r) > 3 else "job", marks=c.marks
        )
    if v == "break" and r[:2] == ("up", "with") and len(r) > 2:
        return Found(content, "past", "retract", " ".join(rewrite(c.rest[2:])), marks=c.marks)
    if v == "join" and r and (_is_name(c.rest[0]) or r[0] in one_of("a the my our")):
        return Found(content, "work" if _is_name(c.rest[0]) else "habit", marks=marks)
    if v in ("start", "begin"):
        if r[:1] == ("at",) and len(r) > 1 and _is_name(c.rest[1]):
            return Found(content, "work", marks=marks)
        if (
            r[:1]
            and (
                r[0] in GOING_ON
                or (r[0] in ING and r[0] not in one_of("getting having seeing thinking wondering feeling"))
            )
            and len(r) > 1
        ):
            return Found(content, "habit", marks=c.marks)
        if r[:2] in (
            ("a", "company"),
            ("my", "own"),
            ("a", "business"),
            ("a", "blog"),
            ("a", "podcast"),
            ("a", "phd"),
            ("university",),
            ("school",),
            ("college",),
        ):
            return Found(content, "work", marks=c.marks)
        return None
    if v == "turn" and r[:1] and r[0].isdigit():
        return Found(content, "identity", marks=c.marks)
    if (
        v == "have"
        and c.form == "past"
        and ("baby" in r or "surgery" in r or "operation" in r or "accident" in r or "stroke" in r)
    ):
        return Found(content, "past", marks=c.marks)
    if (v in ("decide", "choose", "settle") and c.group and r[:1] and r[0] in ("to", "on", "for")) or (
        v == "choose" and c.group and r
    ):
        return Found(content, "project", marks=c.marks)
    if v in ("visit", "travel") and c.rest and (_is_name(c.rest[0]) or r[0] == "to"):
        return Found(content, "past", marks=c.marks)
    if v == "go" and r[:1] == ("to",) and len(r) > 1 and _is_name(c.rest[1]):
        return Found(content, "past", marks=c.marks)
    if c.form == "going" and c.aux:
        if (third(v) and (v + "ing" in GOING_ON or any(g for g in GOING_ON if ING.get(g) == v))) and r:
            family = "home" if v == "live" else "work" if v == "work" else "habit"
            return Found(content, family, marks=c.marks)
        return None
    if c.form == "perfect":
        if v in _PERFECT and ({"since", "for"} & set(r) or v in ("live", "work")) and r:
            family = "home" if v == "live" else "work" if v in ("work", "study", "teach") else "habit"
            return Found(content, family, marks=c.marks)
        if v in one_of("graduate retire marry divorce"):
            return Found(content, "past", marks=c.marks)
        return None
    if v == "grow" and r[:1] == ("up",):
        return Found(content, "home", marks=c.marks)
    if v in _PAST_KEPT and r and v not in one_of("start begin found play own serve win marry attend"):
        return Found(content, "past", marks=c.marks)
    if v in ("found", "serve", "marry") and r:
        return Found(content, "past", marks=c.marks)
    return None


_OUT_FOR = {"replace": ("with", "by"), "swap": ("for", "with"), "trade": ("for",), "ditch": ("for",), "drop": ("for",), "leave": ("for",),
            "abandon": ("for",), "exchange": ("for",), "dump": ("for",)}  # fmt: skip


def _replaced(c: Clause, r: tuple[str, ...]) -> Found | None:
    """One thing that took another's place: replaced A with B, left A for B, moved the pipeline to B."""
    marks = c.marks | {"now"}
    family = "project" if c.group else "habit"
    for prep in _OUT_FOR.get(c.verb, ()):
        if prep in r[1:-1]:
            at = r.index(prep, 1)
            if c.verb == "drop" and r[0] == "support":
                continue
            if prep == "for" and c.verb in ("leave", "drop") and not (_is_name(c.rest[at + 1]) or c.verb == "drop"):
                continue
            old, new = _noun(c.rest[:at]), _noun(c.rest[at + 1 :])
            if c.verb == "leave":
                return Found(f"Works at {new}", "work", about=f"Works at {old}", marks=marks)
            return Found(f"Uses {new}", family, about=f"Uses {old}", marks=marks)
    if (
        c.verb in one_of("move migrate switch port transfer")
        and "to" in r[1:-1]
        and r[0] in one_of("my our the all everything")
    ):
        at = r.index("to", 1)
        thing = _noun(c.rest[:at])
        if (
            at + 1 < len(r)
            and low(thing.split()[-1]) not in ("over", "from")
            and "from" not in r[:at]
            and r[at + 1] not in BASES
        ):
            if low(thing) in ("everything", "all"):
                return Found(f"Uses {_noun(c.rest[at + 1 :])}", family, marks=marks)
            prep = "at" if r[at + 1][:1].isdigit() and len(r) == at + 2 else "on"
            be = "are" if thing.endswith("s") and not thing.endswith("ss") else "is"
            return Found(f"{capital(thing)} {be} {prep} {_noun(c.rest[at + 1 :])}", family, marks=marks)
    return None


def _place_like(text: str) -> bool:
    return text[:1].isupper() and low(text.split()[0]) not in _TECH


_TECH = frozenset(
    "postgres postgresql mysql kubernetes aws gcp azure docker fly.io heroku github gitlab typescript rust go python kafka redis mongodb vercel netlify react vue svelte django rails linear jira notion slack terraform pulumi".split()
)


def _noun(words: tuple[str, ...]) -> str:
    """A noun phrase without its owner: `my gym membership` -> `gym membership`."""
    while words and low(words[0]) in one_of("my our the a an all on"):
        words = words[1:]
    return " ".join(rewrite(words))


def _when(text: str) -> tuple[str, str]:
    """A place and the time that follows it: `Cologne two years ago` -> (`Cologne`, `two years ago`)."""
    tokens = text.split()
    lowered = [low(t) for t in tokens]
    for i, w in enumerate(lowered):
        if i and (
            w
            in one_of("last yesterday today this two three four five six ten a few in on back recently earlier around")
            or w.isdigit()
        ):
            tail = lowered[i:]
            if (
                w in ("yesterday", "today", "last")
                or "ago" in tail
                or (
                    w == "this"
                    and tail[1:2]
                    and tail[1] in one_of("week month year morning summer spring winter autumn weekend")
                )
            ):
                return " ".join(tokens[:i]).rstrip(","), " ".join(tokens[i:])
            if (
                w in ("in", "on")
                and tail[1:2]
                and (
                    tail[1].isdigit()
                    or tail[1]
                    in one_of("january february march april may june july august september october november december")
                )
            ):
                return " ".join(tokens[:i]).rstrip(","), " ".join(tokens[i + 1 :])
            if w in ("recently", "earlier"):
                return " ".join(tokens[:i]).rstrip(","), ""
    return text, ""


def _user_present(c: Clause, r: tuple[str, ...], asks: bool) -> Found | None:
    v = c.verb
    if v == "prefer" and r:
        if r[0] in one_of("that you it if"):
            return None
        if (
            r[0] in one_of("option version number door")
            or (r[0] in ("the", "your") and len(r) > 1 and r[1] in _CHOICES)
            or (r[0] == "your")
        ):
            return None
        return Found(say(c), "preference", marks=c.marks)
    if v in LIKES and r:
        if r[:2] == ("it", "when") and len(r) > 3:
            return Found(say(c), "preference", marks=c.marks)
        if (
            r[0] == "the"
            and len(r) > 3
            and ("of" in r[2:4] or "in" in r[2:4] or r[1] in _CHOICES)
            and r[1] not in one_of("sound smell taste films books music works")
        ):
            return None
        if r[0] in one_of("how your what when you where seeing hearing") or r[:2] in (
            ("the", "way"),
            ("the", "idea"),
            ("the", "first"),
            ("the", "second"),
            ("to", "know"),
            ("to", "say"),
            ("to", "see"),
            ("to", "be"),
        ):
            return None
        return Found(say(c), "preference", marks=c.marks)
    if (
        v in ("plan", "intend")
        and r[:1] == ("to",)
        and len(r) > 2
        and not asks
        and r[1] not in one_of("use do try add make write")
    ):
        return Found(say(c), "plan", marks=c.marks)
    if v in ("plan", "intend"):
        return None
    if v == "want":
        if r[:1] == ("to",) and len(r) > 2 and r[1] in _GOALS and not asks and not c.negated:
            if r[1] in one_of("get start write build run improve buy") and not (
                one_of("a my fit marathon own") & set(r[2:5])
            ):
                return None
            return Found(say(c), "plan", marks=c.marks)
        return None
    if v in ("do",) and _habitual(c) and r and r[0] not in ("not",):
        return Found(say(c), "habit", marks=c.marks)
    if v == "think" or v == "believe" or v == "guess" or v == "hope" or v == "wish" or v == "suppose":
        return None
    if v not in STATES:
        if (
            _habitual(c)
            and c.rest
            and v
            not in one_of(
                "try see think wonder find say ask feel be forget want understand notice hear hope remember mean tell thank give make"
            )
            and v.isalpha()
        ):
            return Found(say(c), "habit", marks=c.marks)
        return None
    if v == "have":
        return _user_has(c, r, asks)
    if v == "know":
        if not c.rest or c.negated:
            return None
        names = [w for w in c.rest[:4] if w[:1].isupper()]
        if r[0] in one_of("that how what why you it if the this who where about of when there i all"):
            return None
        return Found(say(c), "habit", marks=c.marks) if names else None
    if v == "come":
        return Found(say(c), "home", marks=c.marks) if r[:1] == ("from",) and len(r) > 1 else None
    if v == "live" or v == "reside":
        return Found(say(c), "home", marks=c.marks) if r and r[0] not in ("for", "to") else None
    if v == "work":
        if not r or r[0] in one_of("it out through hard fine well"):
            return None
        if c.negated and r[0] not in one_of("at for as in on from with"):
            return None
        return Found(say(c), "project" if c.group else "work", marks=c.marks)
    if v == "go":
        if r[:1] == ("by",) and len(c.rest) > 1 and _is_name(c.rest[1]):
            return Found(f"Prefers to be called {_until(c.rest[1:])}", "identity", kind="preference", marks=c.marks)
        if _habitual(c) or (
            r[:1] == ("to",)
            and len(r) > 1
            and set(r[1:5]) & one_of("school university college church gym uni therapy mosque synagogue")
        ):
            return Found(say(c), "habit", marks=c.marks)
        return None
    if v == "keep" and r and r[0] in one_of("bees chickens goats ducks sheep rabbits hens horses reptiles"):
        return Found(say(c), "habit", marks=c.marks)
    if v == "need":
        return None
    if v == "take":
        if r[:1] == ("my",) and set(r) & one_of("coffee tea steak eggs whisky whiskey espresso"):
            return Found(say(c), "preference", marks=c.marks)
        if _habitual(c) or (
            r
            and (
                one_of("mg medication insulin pills antidepressants supplements statins") & set(r)
                or r[0] in one_of("metformin insulin ibuprofen vitamin")
            )
        ):
            return Found(say(c), "health" if not _habitual(c) or "medication" in r else "habit", marks=c.marks)
        return None
    if v in one_of("swear rely depend lean") and len(r) > 1 and r[0] in ("by", "on"):
        return Found(say(c), "preference" if v == "swear" else "habit", marks=c.marks)
    if v in one_of("swear rely depend lean"):
        return None
    if v == "start" and r[:1] == ("at",) and len(r) > 2 and _is_name(c.rest[1]):
        return Found(say(c), "plan", marks=c.marks)
    if v in ("get", "wake") and r[:1] == ("up",) and (_habitual(c) or "at" in r):
        return Found(say(c), "habit", marks=c.marks)
    if v in ("start", "finish") and r[:1] == ("work",):
        return Found(say(c), "habit", marks=c.marks)
    if v in WEAK and not c.group:
        if _habitual(c) and v not in ("get", "expect"):
            return Found(say(c), "habit", marks=c.marks)
        if (
            v == "run"
            and r
            and (
                (
                    r[0] in one_of("a my an our")
                    and r[1:2]
                    and r[1] not in one_of("script command test query program server loop build")
                )
                or (_is_name(c.rest[0]) and not asks)
            )
        ):
            return Found(say(c), "habit", marks=c.marks)
        if v == "run" and not r:
            return None
        if (
            v in one_of("write read watch build design develop grow")
            and r
            and not asks
            and (
                r[0]
                in one_of(
                    "a novels poetry books software music poems fiction my websites apps games tomatoes science anime code"
                )
                or _is_name(c.rest[0])
            )
        ):
            return Found(say(c), "habit", marks=c.marks)
        return None
    if v in WEAK and c.group:
        if v in one_of("get need expect take know go walk stay finish start read") and not _habitual(c):
            return None
        if not r:
            return None
        return Found(say(c), "project", marks=c.marks)
    if not r and v not in one_of(
        "smoke vape meditate freelance garden climb knit surf ski cycle sing dance swim run jog drink commute journal blog sail hike cook bake paint code"
    ):
        return None
    if v == "use" and asks and r and (r[0] in ("the", "a", "an")) and not _habitual(c):
        return None
    if v in ("eat", "drink"):
        return Found(say(c), "preference" if False else "habit", marks=c.marks)
    if v in ("suffer",):
        return Found(say(c), "health", marks=c.marks)
    family = (
        "project"
        if c.group
        else "work"
        if v
        in one_of("study teach manage lead report supervise freelance consult major specialise specialize maintain")
        else "preference"
        if v == "avoid"
        else "habit"
    )
    return Found(say(c), family, marks=c.marks)


def _user_has(c: Clause, r: tuple[str, ...], asks: bool) -> Found | None:
    if not r or (
        r[0] in one_of("to no been not never just")
        and not (r[0] == "no" and len(r) > 1 and set(r[1:3]) & (KIN | one_of("car allergies licence license")))
    ):
        return None
    head = set(r[:6])
    if (head | {w.removesuffix("s") for w in head}) & _SCREEN and not (head & KIN):
        return None
    if (
        r[:2] in (("a", "new"), ("a", "different"))
        and len(r) == 3
        and (r[2] in KIN_ONE or r[2] in one_of("job phone car employer"))
    ):
        return None  # who or which is said next, and that is what counts
    if head & KIN:
        return Found(say(c), "person", marks=c.marks)
    if asks and (r[0].isdigit() or r[0] in NUMBERS) and not head & KIN:
        return None
    if head & one_of(
        "diabetes asthma adhd epilepsy migraines arthritis celiac coeliac allergy allergies autism depression anxiety insomnia dyslexia cancer hypertension eczema pacemaker tinnitus scoliosis endometriosis hypothyroidism gout anemia anaemia intolerance condition disability nut"
    ):
        return Found(say(c), "health", marks=c.marks)
    if head & one_of(
        "meeting appointment flight interview exam presentation call concert wedding trip visit party reservation deadline conference doctor's dentist"
    ):
        return Found(say(c), "plan", marks=c.marks)
    if asks and not c.group and r[0] in one_of("a an the two some several"):
        if not head & one_of(
            "car house flat apartment garden degree phd subscription membership bike boat motorcycle tattoo business company blog"
        ):
            return None
    if r[0] in one_of("the all everything nothing enough lots plenty any") and not c.negated:
        return None
    return Found(say(c), "project" if c.group else "habit", marks=c.marks)


def _other(c: Clause, r: tuple[str, ...], loose: bool, asks: bool) -> Found | None:
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
        if asks and not kin and not favourite and project:
            pass
        if not c.own and not project and not kin:
            return None
    if "over" in c.marks:
        return _over(c)
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
                f"{capital(subject)} is {prep}{' '.join(rewrite(new))}", family, marks=c.marks | {"now"}, future=True
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
                return Found(f"{capital(subject)} is {prep}{' '.join(rewrite(new))}", family, marks=c.marks | {"now"})
        if kin and c.verb == "get" and r[:1] in (("married",), ("engaged",), ("divorced",)):
            return Found(f"{capital(subject)} is {' '.join(rewrite(c.rest))}", family, marks=c.marks | {"now"})
        if not kin and c.verb == "get" and r[:1] in (("cancelled",), ("canceled",), ("scrapped",)):
            return Found(say(c), "past", "retract", subject, marks=c.marks)
        if kin and c.verb in ("move", "relocate") and r[:1] == ("to",):
            when = _when(" ".join(c.rest[1:]))
            since = f" since {when[1]}" if when[1] else ""
            return Found(
                f"{capital(subject)} lives in {' '.join(rewrite(when[0].split()))}{since}",
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
