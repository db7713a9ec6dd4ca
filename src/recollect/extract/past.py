"""What the user did: what began, what ended, and what took another's place."""

from __future__ import annotations

from ..light import pattern
from .being import user_is
from .clauses import Clause
from .phrases import is_home, is_name, is_place, is_tool, noun, place_and_time, until, when_or_where
from .saying import Found, capital, say
from .words import BASES, DRINKS, GOING_ON, ING, LASTING, PETS, low, one_of, rewrite, third

_SWITCH = pattern(r"(?i)^(?:over )?(?:from (?P<a>.+?) (?:over )?to|to) (?P<b>.+)$")
_MOVES = frozenset("move relocate".split())
_PAST_KEPT = frozenset(
    "grow bear raise live work study graduate major attend teach play own serve marry start join begin adopt win found retire".split()
)
_PERFECT = frozenset(
    "live work play use study have know own teach lead manage run drive smoke speak practise practice collect follow".split()
)


def user_did(c: Clause, r: tuple[str, ...]) -> Found | None:
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
        return user_is(made, r)
    if v in ("unsubscribe", "resign", "unfollow") and r:
        return Found(content, "past", "retract", noun(c.rest[1:] if r[0] == "from" else c.rest), marks=c.marks)
    if v in _MOVES and r[:1] == ("back",):
        return user_did(Clause(**{**c.__dict__, "rest": c.rest[1:]}), r[1:])
    if v in _MOVES and r[:2] == ("out", "of") and len(r) > 2:
        return Found(content, "past", "retract", "Lives in " + noun(c.rest[2:]), marks=c.marks)
    if v in _MOVES:
        m = _SWITCH.match(" ".join(c.rest))
        if r[:1] == ("to",) or (m and m.group("b")):
            place = m.group("b") if m else " ".join(c.rest[1:])
            if not place:
                return None  # "we moved to!"
            if low(place.split()[0]) in one_of("using a an the") and c.group:
                what = place.split(" ", 1)
                if low(what[0]) == "using" and len(what) > 1:
                    return Found(
                        "Uses " + what[1],
                        "project",
                        about=("Uses " + m.group("a")) if m and m.group("a") else None,
                        marks=marks,
                    )
            if c.group and m and m.group("a") and not is_place(place):
                return Found("Uses " + place, "project", about="Uses " + m.group("a"), marks=marks)
            if low(place.split()[-1]) in one_of("team department group role position project company side squad"):
                return Found(f"Is in {' '.join(rewrite(place.split()))}", "work", marks=marks)
            when = place_and_time(place)
            place = when[0]
            since = f" since {when[1]}" if when[1] else ""
            if is_tool(place):
                does = "Drinks" if low(place.split()[-1]) in DRINKS else "Uses"
                old = f"{does} {m.group('a')}" if m and m.group("a") else None
                return Found(f"{does} {place}{since}", "project" if c.group else "habit", about=old, marks=marks)
            if not is_home(place):
                return None
            prep = "at" if place[:1].isdigit() else "in"  # "5 Elm Road"
            return Found(f"Lives {prep} {' '.join(rewrite(place.split()))}{since}", "home", marks=marks)
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
        when = place_and_time(new)
        new = when[0] + (f" since {when[1]}" if when[1] else "")
        does = "Drinks " if low(when[0].split()[-1]) in DRINKS else "Uses "
        return Found(
            does + new,
            "project" if c.group else "habit",
            about=does + m.group("a") if m.group("a") else None,
            marks=marks,
        )
    if v == "get":
        if r[:2] == ("rid", "of") and len(r) > 2:
            about = " ".join(rewrite(c.rest[2:]))
            return Found(content, "past", "retract", about, marks=c.marks)
        if r[:1] in (("fired",), ("laid",), ("dismissed",)):
            at = r.index("from") if "from" in r else -1
            return Found(
                content, "past", "retract", f"Works at {noun(c.rest[at + 1 :])}" if at > 0 else "job", marks=c.marks
            )
        if r[:1] in (("married",), ("engaged",), ("divorced",)):
            state = r[0]
            when = place_and_time(" ".join(c.rest[1:]))
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
        employed = _new_job(c.rest)
        if employed is not None:
            return Found(employed, "work", marks=marks)
        if r[:2] in (("a", "new"), ("my", "new")) and len(r) > 2:
            return Found("Has " + " ".join(rewrite(c.rest)), "habit", marks=c.marks)
        if r[:1] and r[0] in one_of("promoted hired fired accepted"):
            return Found(content, "past", marks=c.marks)
        return None
    if v == "adopt" and set(r[:5]) & PETS:
        return Found("Has " + " ".join(rewrite(c.rest)), "person", marks=c.marks)
    if v in ("delete", "uninstall") and c.rest and is_name(c.rest[0]):
        return Found(content, "past", "retract", noun(c.rest), marks=c.marks)
    if v == "buy" and r[:1] in (("a",), ("an",)) and len(r) > 1 and is_name(c.rest[1]):
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
            return Found(content, "past", "retract", _job(c.rest) or noun(c.rest), marks=c.marks)
        return None
    if v == "give" and r[:1] == ("up",) and len(r) > 1:
        if len(r) > 1 and r[1] in ING:
            held = Clause("", c.group, (), False, "", ING[r[1]], "present", c.rest[2:], frozenset())
            return Found(content, "past", "retract", say(held), marks=c.marks)
        return Found(content, "past", "retract", noun(c.rest[1:]), marks=c.marks)
    if v == "drop" and r[:2] == ("support", "for"):
        return Found(content, "past", "retract", "Supports " + " ".join(c.rest[2:]), marks=c.marks)
    if (
        v in one_of("cancel sell ditch drop abandon deprecate discontinue lose")
        and r
        and r[0] not in one_of("it that them weight interest")
    ):
        return Found(content, "past", "retract", _job(c.rest) or noun(c.rest), marks=c.marks)
    if v == "leave" and r and r[0] not in one_of("it that them a the for at out my early"):
        return Found(content, "past", "retract", "Works at " + until(c.rest), marks=c.marks)
    if v == "leave" and r[:1] in (("the",), ("my",), ("our",)) and _is_left(r[1:]):
        return Found(content, "past", "retract", noun(c.rest), marks=c.marks)
    if v == "leave" and (r[:2] in (("my", "job"), ("the", "company"))):
        return Found(content, "past", "retract", _job(c.rest) or "job", marks=c.marks)
    if v == "break" and r[:2] == ("up", "with") and len(r) > 2:
        return Found(content, "past", "retract", " ".join(rewrite(c.rest[2:])), marks=c.marks)
    if v == "join" and r and (is_name(c.rest[0]) or r[0] in one_of("a the my our")):
        return Found(content, "work" if is_name(c.rest[0]) else "habit", marks=marks)
    if v in ("start", "begin"):
        employed = _new_job(c.rest)
        if employed is not None:
            return Found(employed, "work", marks=marks)
        if r[:1] == ("at",) and len(r) > 1 and is_name(c.rest[1]):
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
    if v in ("visit", "travel") and c.rest and (is_name(c.rest[0]) or r[0] == "to"):
        return Found(content, "past", marks=c.marks)
    if v == "go" and r[:1] == ("to",) and len(r) > 1 and is_name(c.rest[1]):
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


def _job(words: tuple[str, ...]) -> str | None:
    """`my job at Siemens` -> `Works at Siemens`; None for anything that is no job somewhere."""
    lowered = [low(w) for w in words]
    if lowered[:1] != ["my"] or len(words) < 4 or lowered[2] not in ("at", "with"):
        return None
    where = place_and_time(until(words[3:]))[0]
    return f"Works at {where}" if where and lowered[1] in one_of("job position role post gig") else None


def _new_job(words: tuple[str, ...]) -> str | None:
    """`a new job at Arup` -> `Works at Arup`; None for anything else."""
    lowered = [low(w) for w in words]
    at = lowered.index("job") if "job" in lowered[1:4] else 0
    if not at or lowered[0] not in ("a", "my") or lowered[at + 1 : at + 2] not in (["at"], ["with"], ["as"]):
        return None
    return f"Works {'as' if lowered[at + 1] == 'as' else 'at'} {' '.join(rewrite(words[at + 2 :]))}".rstrip()


_CIRCLES = one_of(
    "band club team choir army navy church group board startup firm project orchestra union committee gym"
)


def _is_left(r: tuple[str, ...]) -> bool:
    """Whether to leave this is to be no longer part of it: the chess club, not the gym at six or the party."""
    at = next(
        (i for i, w in enumerate(r) if w in one_of("at in of after before for with because when early late")), len(r)
    )
    return 0 < at <= 4 and r[at - 1] in _CIRCLES and r[at : at + 1] not in (("at",), ("early",), ("late",))


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
            if prep == "for" and c.verb in ("leave", "drop") and not (is_name(c.rest[at + 1]) or c.verb == "drop"):
                continue
            old, new = noun(c.rest[:at]), noun(c.rest[at + 1 :])
            if c.verb == "leave":
                return Found(f"Works at {new}", "work", about=f"Works at {old}", marks=marks)
            return Found(f"Uses {new}", family, about=f"Uses {old}", marks=marks)
    if (
        c.verb in one_of("move migrate switch port transfer")
        and "to" in r[1:-1]
        and r[0] in one_of("my our the all everything")
    ):
        at = r.index("to", 1)
        thing = noun(c.rest[:at])
        if (
            at + 1 < len(r)
            and low(thing.split()[-1]) not in ("over", "from")
            and "from" not in r[:at]
            and r[at + 1] not in BASES
        ):
            new = noun(c.rest[at + 1 :])
            if low(thing) in ("everything", "all"):
                return Found(f"Uses {new}", family, marks=marks) if c.verb != "move" or is_tool(new) else None
            where = when_or_where(new)
            if where is None and c.verb in ("move", "transfer"):
                return None  # money to Switzerland, a desk to the window: nothing is on these
            be = "are" if thing.endswith("s") and not thing.endswith("ss") else "is"
            return Found(f"{capital(thing)} {be} {where or f'on {new}'}", family, marks=marks)
    return None
