"""What the user does, has, likes, can do and would rather do."""

from __future__ import annotations

from .clauses import Clause
from .phrases import is_habitual, is_name, until
from .saying import Found, say
from .words import BASES, KIN, KIN_ONE, LIKES, NUMBERS, SCREEN, STATES, WEAK, one_of, rewrite

_GOALS = frozenset(
    "learn become visit travel move run lose retire write buy start improve build study climb join get".split()
)
_CHOICES = frozenset(
    "first second third last latter former other one original new old previous next shorter longer simpler version option approach way solution answer draft variant".split()
)


def user_can(c: Clause, r: tuple[str, ...]) -> Found | None:
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


def user_does(c: Clause, r: tuple[str, ...], asks: bool) -> Found | None:
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
    if v in ("do",) and is_habitual(c) and r and r[0] not in ("not",):
        return Found(say(c), "habit", marks=c.marks)
    if v == "think" or v == "believe" or v == "guess" or v == "hope" or v == "wish" or v == "suppose":
        return None
    if v not in STATES:
        if (
            is_habitual(c)
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
        if r[:1] == ("by",) and len(c.rest) > 1 and is_name(c.rest[1]):
            return Found(f"Prefers to be called {until(c.rest[1:])}", "identity", kind="preference", marks=c.marks)
        if is_habitual(c) or (
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
        if is_habitual(c) or (
            r
            and (
                one_of("mg medication insulin pills antidepressants supplements statins") & set(r)
                or r[0] in one_of("metformin insulin ibuprofen vitamin")
            )
        ):
            return Found(say(c), "health" if not is_habitual(c) or "medication" in r else "habit", marks=c.marks)
        return None
    if v in one_of("swear rely depend lean") and len(r) > 1 and r[0] in ("by", "on"):
        return Found(say(c), "preference" if v == "swear" else "habit", marks=c.marks)
    if v in one_of("swear rely depend lean"):
        return None
    if v == "start" and r[:1] == ("at",) and len(r) > 2 and is_name(c.rest[1]):
        return Found(say(c), "plan", marks=c.marks)
    if v in ("get", "wake") and r[:1] == ("up",) and (is_habitual(c) or "at" in r):
        return Found(say(c), "habit", marks=c.marks)
    if v in ("start", "finish") and r[:1] == ("work",):
        return Found(say(c), "habit", marks=c.marks)
    if v in WEAK and not c.group:
        if is_habitual(c) and v not in ("get", "expect"):
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
                or (is_name(c.rest[0]) and not asks)
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
                or is_name(c.rest[0])
            )
        ):
            return Found(say(c), "habit", marks=c.marks)
        return None
    if v in WEAK and c.group:
        if v in one_of("get need expect take know go walk stay finish start read") and not is_habitual(c):
            return None
        if not r:
            return None
        return Found(say(c), "project", marks=c.marks)
    if not r and v not in one_of(
        "smoke vape meditate freelance garden climb knit surf ski cycle sing dance swim run jog drink commute journal blog sail hike cook bake paint code"
    ):
        return None
    if v == "use" and asks and r and (r[0] in ("the", "a", "an")) and not is_habitual(c):
        return None
    if v in ("eat", "drink"):
        return Found(say(c), "habit", marks=c.marks)
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
    if (head | {w.removesuffix("s") for w in head}) & SCREEN and not (head & KIN):
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
