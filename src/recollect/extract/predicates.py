"""What a verb says of its subject, as frames: what somebody is, has, likes, is called, or wants done."""

from __future__ import annotations

from .frames import MANY, ONE, SYNONYM, UNKNOWN, Frame, stems
from .words import (
    DIETS,
    JOB_HEADS,
    KIN,
    KIN_MANY,
    LANGUAGES,
    LASTING,
    LIKES,
    MARITAL,
    MONTHS,
    NUMBERS,
    PARTICIPLE,
    PETS,
    PROJECT,
    TOOL_NOUNS,
    WEEKDAYS,
    low,
    one_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PREPS = frozenset(
    "in at for with on as from to by near since until till during over than about under into via through within before after without".split()
)


def _cut(rest: list[str], rl: list[str]) -> tuple[list[str], list[tuple[str, frozenset[str]]]]:
    """The object, and the phrases that follow it by preposition."""
    head: list[str] = []
    quals: list[tuple[str, frozenset[str]]] = []
    prep = ""
    part: list[str] = []
    for token, w in zip(rest, rl, strict=True):
        if w in _PREPS and (head or prep):
            if prep:
                quals.append((prep, stems(part)))
            prep, part = w, []
        elif prep:
            part.append(token)
        else:
            head.append(token)
    if prep:
        quals.append((prep, stems(part)))
    return head, quals


def predicate(
    who: str, verb: str, rest: list[str], rl: list[str], negated: bool, past: bool, aux: str, going: bool
) -> list[Frame]:
    def make(
        attribute: str, value: Iterable[str], quals: Iterable[tuple[str, frozenset[str]]], many: str, subject: str = who
    ) -> Frame:
        value = list(value)
        return Frame(
            subject,
            attribute,
            stems(value),
            tuple(sorted(quals, key=lambda q: (q[0], sorted(q[1])))),
            negated,
            many,
            past,
            " ".join(value),
        )

    first = rl[0] if rl else ""
    owner, _, thing = who.rpartition("'s ")
    if verb == "be" and owner:
        # "wife's name is Ingrid"
        subject = " ".join(owner.split())
        if thing == "name":
            return [_named(subject, rest, negated, past)]
        head, quals = _cut(rest, rl)
        return [make(thing, head, quals, ONE, subject)]
    if verb in ("live", "reside", "stay") or (verb == "be" and first in ("based", "located")):
        body, bl = (rest[1:], rl[1:]) if verb == "be" else (rest, rl)
        if bl and bl[0] in ("in", "near", "at"):
            head, quals = _cut(body[1:], bl[1:])
            at_number = bl[0] == "at" and len(bl) > 1 and bl[1][:1].isdigit()
            return [make("home address" if at_number else "home", head, quals, ONE)]
        prep = bl[0] if bl else ""
        head, quals = _cut(body[1:], bl[1:])
        return [make(f"live {prep}".strip(), head, quals, MANY if prep == "with" else ONE)]
    if verb == "turn" and first.isdigit():
        return [Frame(who, "age", frozenset({first}), (), negated, ONE, False, first)]
    if verb in ("move", "relocate") and first == "to" and not going and aux not in ("will", "would"):
        head, quals = _cut(rest[1:], rl[1:])
        return [Frame(who, "home", stems(head), tuple(quals), negated, ONE, False, " ".join(head))]
    if going and verb in one_of("move relocate switch migrate join leave start get go"):
        head, quals = _cut(rest, rl)
        return [make(f"plan {verb}", rest, (), MANY)]
    if aux in ("will", "would"):
        return [make(f"plan {verb}", rest, (), MANY)]
    if verb == "work" or (verb == "be" and first in ("employed",)):
        body, bl = (rest[1:], rl[1:]) if verb == "be" else (rest, rl)
        out: list[Frame] = []
        head, quals = _cut(["x", *body], ["x", *bl])
        other = [q for q in quals if q[0] not in one_of("at for as by")]
        for prep, attribute in (("as", "job"), ("at", "employer"), ("for", "employer"), ("by", "employer")):
            found = _phrase(body, bl, prep)
            if found and not (
                attribute == "employer"
                and set(map(low, found)) & one_of("years year months home night living decades weekends noon")
            ):
                out.append(make(attribute, found, other if not out else (), ONE))
        if not out and bl[:1] in (["on"], ["in"]) and ("team" in bl or "department" in bl):
            out.append(make("team", [t for t in body[1:] if low(t) not in ("team", "department")], (), ONE))
        if not out:
            prep = bl[0] if bl and bl[0] in _PREPS else ""
            head, quals = _cut(body[1:] if prep else body, bl[1:] if prep else bl)
            out.append(
                make(f"work {prep}".strip(), head, quals, MANY if prep in one_of("on with from in") else UNKNOWN)
            )
        return out
    if verb == "start" and first == "at" and not past:
        return [make("plan start", rest, (), MANY)]
    if verb == "join" or (verb == "start" and first == "at"):
        body, bl = (rest[1:], rl[1:]) if first in ("at", "as") else (rest, rl)
        head, quals = _cut(body, bl)
        if head and head[0][:1].isupper():
            return [Frame(who, "employer", stems(head), tuple(quals), negated, ONE, False, " ".join(head))]
    if verb == "be" and first in one_of("called named known nicknamed"):
        return [_named(who, rest[1:] if first != "known" else rest[2:], negated, past)]
    if verb in ("prefer", "go") and rl[:3] == ["to", "be", "called"]:
        return [make("called", rest[3:], (), ONE)]
    if verb == "prefer" or (verb == "would" and first == "rather"):
        return [_prefers(who, rest, rl, negated, past)]
    if verb in LIKES or (aux == "can" and negated and verb in ("stand", "bear")) or (verb == "be" and _liking(rl)):
        sign = LIKES.get(verb, 1)
        body, bl = rest, rl
        if verb in ("stand", "bear"):
            sign, negated = -1, False
        if verb == "be":
            n = _liking(rl)
            body, bl = rest[n:], rl[n:]
            if rl[0] in ("afraid", "scared", "terrified"):
                return [make("fear", body, (), MANY)]
        if bl and bl[0] == "to" and len(bl) > 1:
            body, bl = body[1:], bl[1:]
        if bl[:1] == ["their"] and len(bl) > 2 and bl[2] not in _PREPS and bl[2] != "and":
            # "likes their steak rare": how, not whether
            return [Frame(who, f"like {bl[1]}", stems(body[2:]), (), negated, ONE, past, " ".join(body[2:]))]
        return [Frame(who, "like", stems(body), (), negated != (sign < 0), MANY, past, " ".join(body))]
    if (verb == "be" and first in ("from",)) or (verb == "come" and first == "from"):
        head, quals = _cut(rest[1:], rl[1:])
        return [make("origin", head, quals, ONE)]
    if verb in ("bear", "be") and first == "born":
        body, bl = rest[1:], rl[1:]
        where = (
            "birthplace"
            if bl and bl[0] == "in" and len(bl) > 1 and not bl[1][:1].isdigit() and bl[1] not in _MONTH_WORDS
            else "birth"
        )
        if len(bl) == 2 and bl[1].isdigit() and len(bl[1]) == 4:
            where = "birth year"
        return [Frame(who, where, stems(body[1:]), (), negated, ONE, False, " ".join(body[1:]))]
    if verb == "grow" and first == "up":
        head, quals = _cut(rest[2:], rl[2:])
        return [Frame(who, "grew up", stems(head), tuple(quals), negated, ONE, False, " ".join(head))]
    if verb == "have":
        return _has(who, rest, rl, negated, past)
    if verb == "be":
        return _is(who, rest, rl, negated, past)
    if verb == "eat" and first in ("meat",) and len(rl) <= 2:
        return [Frame(who, "diet", frozenset({"meat"}), (), negated, ONE, past, "meat"), make("eat", rest, (), MANY)]
    if verb == "own":
        return _has(who, rest, rl, negated, past)
    if verb in ("use", "employ") or (going and verb == "use"):
        head, quals = _cut(rest, rl)
        return [make("use", head, quals, MANY)]
    if (verb in ("host", "run") and first in ("everything", "all")) or verb == "host":
        pairs = [(t, w) for t, w in zip(rest, rl, strict=True) if w not in one_of("everything all our their")]
        at = next((k for k, (_, w) in enumerate(pairs) if w in one_of("on at with in")), None)
        if at is not None:
            thing_ = [t for t, _ in pairs[:at]]
            return [make("host " + " ".join(sorted(stems(thing_))), [t for t, _ in pairs[at + 1 :]], (), ONE)]
    if verb in ("wake", "get") and first == "up":
        return [make("wake up", rest[1:], (), ONE)]
    if verb in ("buy", "adopt") and past:
        head, quals = _cut(rest, rl)
        return [Frame(who, "have", stems(head), tuple(quals), negated, MANY, False, " ".join(head))]
    # Anything else: the verb with its preposition is the attribute, its object the value.
    prep = first if first in _PREPS else ""
    head, quals = _cut(rest[1:], rl[1:]) if prep else _cut(rest, rl)
    attribute = f"{verb} {prep}".strip()
    if prep:
        return [
            make(
                attribute,
                head,
                quals,
                ONE if verb in _SINGLE and prep in one_of("with on to via at in") else UNKNOWN,
            )
        ]
    return [make(attribute, head, quals, ONE if verb in _SINGLE_OBJECT else MANY if verb in _SETS else UNKNOWN)]


_MONTH_WORDS = frozenset(
    "january february march april may june july august september october november december".split()
)
_SINGLE = frozenset(
    "deploy host listen report ship store track release weigh run meet end start begin expire leave land arrive".split()
)
_SINGLE_OBJECT = frozenset("weigh target drive cost earn".split())
_SETS = frozenset(
    """speak know play own study teach drink follow support collect wear use take read watch cook bake learn practise
    practice celebrate attend include own avoid eat enjoy write build manage lead maintain coach sell rent handle train
    visit date""".split()
)


def _phrase(rest: list[str], rl: list[str], prep: str) -> list[str]:
    if prep not in rl:
        return []
    at = rl.index(prep)
    out = []
    for token, w in zip(rest[at + 1 :], rl[at + 1 :], strict=True):
        if w in _PREPS or w in ("and", "but"):
            break
        out.append(token)
        if token.endswith((",", ".")):
            break
    return [t for t in out if low(t) not in ("a", "an", "the")]


def _dateish(rl: list[str]) -> bool:
    """Whether words begin a date: a weekday, 2026-03-16, 1 June, June."""
    first = rl[0]
    if first.rstrip("s") in WEEKDAYS or first in MONTHS or (first[:4].isdigit() and first[4:5] == "-"):
        return True
    return first[:1].isdigit() and len(rl) > 1 and rl[1] in MONTHS


_TITLES = frozenset("dr mr mrs ms st prof".split())


def _named(who: str, rest: list[str], negated: bool, past: bool) -> Frame:
    name = []
    for token in rest:
        if low(token) in one_of("and but with who from after in at for"):
            break
        name.append(token)
        if token.endswith((",", ".")) and low(token) not in _TITLES:
            break
    head = who.split()[-1] if who != "user" else "user"
    many = MANY if head in KIN_MANY or head in PETS or head in one_of("project team company app") else ONE
    value = frozenset(low(t) for t in name if low(t))
    return Frame(who, "name", value, (), negated, many, past, " ".join(name))


def _liking(rl: list[str]) -> int:
    """How many words of `a big fan of`, `really into`, `keen on` stand before what is liked; 0 for something else."""
    for i, w in enumerate(rl[:6]):
        if w in ("into",):
            return i + 1
        if w in one_of("fan fond lover enthusiast") and rl[i + 1 : i + 2] == ["of"]:
            return i + 2
        if (
            w in one_of("keen interested passionate obsessed crazy")
            and i + 1 < len(rl)
            and rl[i + 1] in one_of("on in about with")
        ):
            return i + 2
        if w in ("afraid", "scared", "terrified") and rl[i + 1 : i + 2] == ["of"]:
            return i + 2
    return 0


def _prefers(who: str, rest: list[str], rl: list[str], negated: bool, past: bool) -> Frame:
    """What is preferred; `over` and `to` name what it is preferred to."""
    head, quals = _cut(rest, rl)
    return Frame(
        who, "prefer", stems(head), tuple(sorted(quals, key=lambda q: q[0])), negated, UNKNOWN, past, " ".join(head)
    )


def _has(who: str, rest: list[str], rl: list[str], negated: bool, past: bool) -> list[Frame]:
    if not rest:
        return []
    i = 0
    number = ""
    for k, w in enumerate(rl[:5]):
        if w in one_of("a an my their the got another second new"):
            continue
        if w in NUMBERS or w.isdigit():
            number = str(NUMBERS.get(w, w))
            continue
        i = k
        break
    noun_at = None
    for k in range(i, min(i + 4, len(rl))):
        w = SYNONYM.get(rl[k], rl[k])
        if w in KIN or w.removesuffix("s") in KIN or w.removesuffix("ies") + "y" in KIN:
            noun_at = k
            break
    if noun_at is not None:
        noun = SYNONYM.get(rl[noun_at], rl[noun_at])
        single = noun if noun in KIN else noun.removesuffix("s")
        after = rl[noun_at + 1 : noun_at + 2]
        if after in (["called"], ["named"]):
            return [
                Frame(
                    single if who == "user" else f"{who}'s {single}",
                    "name",
                    frozenset(low(t) for t in rest[noun_at + 2 : noun_at + 4] if t[:1].isupper()),
                    (),
                    negated,
                    MANY if single in KIN_MANY | PETS else ONE,
                    past,
                    " ".join(rest[noun_at + 2 :]),
                )
            ]
        if number and single != "":
            return [Frame(who, f"number of {single}", frozenset({number}), (), negated, ONE, past, number)]
    head, quals = _cut(rest, rl)
    if number and i < len(rl) and rl[i].endswith("s") and len(head) <= i + 2:
        return [
            Frame(
                who,
                f"number of {' '.join(sorted(stems(head[i:])))}",
                frozenset({number}),
                tuple(quals),
                negated,
                ONE,
                past,
                number,
            )
        ]
    if low(head[-1]) in ("allergy", "intolerance") and len(head) > 1:
        return [
            Frame(
                who,
                "allergic",
                stems(t for t in head[:-1] if low(t) not in one_of("severe bad mild food")),
                (),
                negated,
                MANY,
                past,
                " ".join(head),
            )
        ]
    return [Frame(who, "have", stems(head), tuple(quals), negated, MANY, past, " ".join(head))]


def _is(who: str, rest: list[str], rl: list[str], negated: bool, past: bool) -> list[Frame]:
    if not rl:
        return []
    first = rl[0]
    head, quals = _cut(rest, rl)

    def make(
        attribute: str, value: Iterable[str], many: str, q: Iterable[tuple[str, frozenset[str]]] = ()
    ) -> list[Frame]:
        value = list(value)
        return [Frame(who, attribute, stems(value), tuple(q), negated, many, past, " ".join(value))]

    near = [w for w in rl[:3] if w not in ("a", "an", "the")]
    last = who.split()[-1]
    if who in ("address", "home address"):
        return [Frame("user", "home address", stems(rest), (), negated, ONE, past, " ".join(rest))]
    # "dentist appointment" is an appointment, not a dentist.
    if who not in ("user", "birthday") and (last in PROJECT or not any(w in KIN for w in who.split())):
        skip = 1 if first in ("on", "at", "by", "due") else 0
        if first in one_of("planned scheduled due set") and rl[1:2] in (["for"], ["on"], ["at"]):
            skip = 2
        if len(rl) > skip and _dateish(rl[skip:]):
            body, when = _cut(rest[skip:], rl[skip:])
            return make("when", body, ONE, when)
    if first == "in" and rl[1:3] == ["a", "relationship"]:
        return [Frame(who, "marital", frozenset({"relationship"}), (), negated, ONE, past, "in a relationship")]
    if who == "birthday":
        return [
            Frame(
                "user",
                "birth",
                stems(w for w in rest if low(w) not in ("on", "the")),
                (),
                negated,
                ONE,
                past,
                " ".join(rest),
            )
        ]
    if who == "name" or (last in ("name",) and len(who.split()) <= 2):
        subject = "user" if who in ("name", "first name", "full name") else who
        return [
            Frame(
                subject,
                "name" if subject == "user" else "value",
                frozenset(low(t) for t in rest),
                (),
                negated,
                ONE,
                past,
                " ".join(rest),
            )
        ]
    if near and near[0] in DIETS:
        return [Frame(who, "diet", frozenset({DIETS[near[0]]}), (), negated, ONE, past, near[0])]
    if first in MARITAL:
        return [Frame(who, "marital", frozenset({first}), (), negated, ONE, past, first)]
    # "Leo is 7" and "sister is 30", but neither a rent of 950 nor a limit of 20.
    is_someone = who == "user" or any(w in KIN for w in who.split()) or (" " not in who and who not in PROJECT)
    is_old = rl[1:2] in (["years"], ["year"]) or (is_someone and len(first) <= 2)
    if first.isdigit() and is_old and (len(rl) == 1 or rl[1] in ("years", "year", "now")):
        return [Frame(who, "age", frozenset({first}), (), negated, ONE, past, first)]
    if last in ("timezone", "zone"):
        return [Frame("user", "timezone", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if who == "hometown":
        return [Frame("user", "origin", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if last in ("home", "residence") and first == "in":
        return [Frame("user", "home", stems(rest[1:]), (), negated, ONE, past, " ".join(rest[1:]))]
    if last in ("employer", "company") and who in ("employer", "company"):
        return [Frame("user", "employer", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if who in ("job", "profession", "occupation", "job title") and first == "to":
        return make("duty", rest[1:], MANY)
    if who in ("job", "profession", "occupation", "job title"):
        return [Frame("user", "job", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if first in ("in", "at", "on") and who in ("infrastructure", "stack") and len(rl) > 1:
        return make("is on", rest[1:], ONE)
    if who in TOOL_NOUNS or (who.split()[0] in ("main", "primary", "default") and last in TOOL_NOUNS):
        return [Frame("user", last, stems(head), (), negated, ONE, past, " ".join(head))]
    if (any(w in JOB_HEADS for w in rl[:6]) and first in one_of("a an the student")) or first in (
        "student",
        "retired",
        "unemployed",
    ):
        at = _phrase(rest, rl, "at")
        until = next((k for k, w in enumerate(rl) if w in _PREPS), len(rl))
        out = make(
            "job",
            [t for t in rest[:until] if low(t) not in ("a", "an", "the")],
            ONE,
            [q for q in quals if q[0] not in ("at", "for")],
        )
        if at:
            out += make("employer", at, ONE)
        return out
    if first == "allergic" and "to" in rl:
        return make("allergic", rest[rl.index("to") + 1 :], MANY)
    if who == "car":
        return [Frame("user", "drive", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if who in ("salary", "income"):
        return [Frame("user", "earn", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if who == "weigh":
        return [Frame("user", "weigh", stems(rest), (), negated, ONE, past, " ".join(rest))]
    if who == "age":
        return [Frame("user", "age", stems(rest[:1]), (), negated, ONE, past, rest[0])]
    if first == "fluent" and rl[1:2] == ["in"]:
        return make("speak", rest[2:], MANY)
    if first == "at" and who == "user" and len(rest) > 1 and rest[1][:1].isupper():
        return make("employer", head[1:] if low(head[0]) == "at" else rest[1:], ONE)
    if who == "user" and first in ("in", "on") and ("team" in rl or "department" in rl):
        return make("team", [t for t in rest[1:] if low(t) not in ("team", "department")], ONE)
    if first in ("in", "at", "on") and len(rl) > 1:
        return make(f"is {first}", rest[1:], ONE if who != "user" else UNKNOWN)
    if first in PARTICIPLE and len(rl) > 1 and rl[1] in _PREPS:
        body, q = _cut(rest[2:], rl[2:])
        return make(
            f"{first} {rl[1]}",
            body,
            ONE
            if first in one_of("written hosted deployed located stored managed owned called named kept run led built")
            else UNKNOWN,
            q,
        )
    if first in LASTING:
        return make("is", rest, MANY)
    if first in ("member", "a", "an") and who == "user":
        return make("is a", rest, MANY)
    if who == "user":
        return make("is", rest, MANY)
    kin = [w for w in who.split() if w in KIN]
    if kin:
        # "manager is Omar": who holds the role. "sister is a doctor": what she is.
        if rest[0][:1].isupper() and rl[0] not in LASTING and first not in ("a", "an", "the"):
            return [_named(who, rest, negated, past)]
        if first in ("a", "an"):
            return make("is a", rest, MANY)
        return make("is", rest, MANY)
    plural = last.endswith("s") and not last.endswith("ss") and last not in ("pronouns", "address")
    return make("value", rest, MANY if plural else ONE)


def wish_frames(tokens: list[str], ls: list[str]) -> list[Frame]:
    """`Always run the tests first`, `Never push to main`, `Answer in French`."""
    negated = False
    i = 0
    while i < len(ls) and (ls[i] in one_of("always never do not please ever")):
        negated = negated or ls[i] in ("never", "not")
        i += 1
    if i >= len(ls):
        return []
    verb = ls[i]
    rest, rl = tokens[i + 1 :], ls[i + 1 :]
    spoken = [t for t in rest if low(t) in LANGUAGES]
    if verb in one_of("speak use talk write") and spoken and low(rest[0]) in LANGUAGES:
        return [Frame("assistant", "language ", stems(spoken), (), negated, ONE, False, " ".join(spoken))]
    if verb in one_of("answer reply respond speak talk write communicate") and "in" in rl:
        at = rl.index("in")
        if any(w in LANGUAGES for w in rl[at + 1 :]):
            lead = stems(w for w in rest[:at] if low(w) not in one_of("them to answers replies"))
            return [
                Frame(
                    "assistant",
                    "language " + " ".join(sorted(lead)),
                    stems(rest[at + 1 :]),
                    (),
                    negated,
                    ONE,
                    False,
                    " ".join(rest[at + 1 :]),
                )
            ]
    if verb in ("keep", "make") and rl and ("answers" in rl or "replies" in rl or "responses" in rl):
        return [
            Frame(
                "assistant",
                "answers",
                stems(w for w in rest if low(w) not in ("answers", "replies", "responses")),
                (),
                negated,
                ONE,
                False,
                " ".join(rest),
            )
        ]
    return [Frame("assistant", f"do {verb}", stems(rest), (), negated, MANY, False, " ".join(rest))]
