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
    from .extract.frames import Frame

ACTIONS = ("add", "update", "delete", "noop", "conflict")


@dataclass(frozen=True)
class Policy:
    """How to decide; `Policy()` is the default of the settings."""

    similarity: float = 0.85  # memory_similarity_threshold: from here on two unread statements may be the same one


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
    policy = policy or Policy()
    active = [n for n in neighbours if n.state == "active"]
    if candidate.quarantine is not None:
        # Quarantined text touches nothing; the same text twice is one entry for the reviewer.
        for n in neighbours:
            if n.state == "quarantined" and n.content.casefold() == candidate.content.casefold():
                return Decision("noop", n.id, "waits for review already", store=False)
        return Decision("add", None, f"waits for review: {candidate.quarantine}")
    if candidate.operation == "retract":
        return _retract(candidate, active)
    if candidate.operation == "done":
        return _done(candidate, active)
    return _assert(candidate, active, policy)


def _guarded(decision: Decision, neighbours: Sequence[Neighbour]) -> Decision:
    """A decision that would retire what a person pinned or wrote becomes a conflict."""
    hit = {decision.id, *decision.others}
    held = [n for n in neighbours if n.id in hit and (n.pinned or n.by_hand)]
    if not held:
        return decision
    how = "pinned" if held[0].pinned else "written by hand"
    if decision.action == "delete":
        free = [n.id for n in neighbours if n.id in hit and not (n.pinned or n.by_hand)]
        if free:
            return Decision("delete", free[0], decision.why, tuple(free[1:]), store=False)
    return Decision("conflict", held[0].id, f"{decision.why}, but that is {how}", store=decision.action != "delete")


def _assert(candidate: Candidate, active: Sequence[Neighbour], policy: Policy) -> Decision:
    from .extract.frames import content_words
    from .extract.framing import frames

    content = candidate.content
    mine = frames(content) if candidate.kind != "todo" else ()
    key = content_words(content)
    same: Neighbour | None = None
    replaced: list[tuple[Neighbour, str]] = []
    for n in active:
        if n.content.casefold().rstrip(".") == content.casefold().rstrip("."):
            same = n
            break
        if (n.kind == "todo") != (candidate.kind == "todo"):
            continue
        theirs = frames(n.content) if n.kind != "todo" else ()
        relation, why = _relation(candidate, mine, key, n, theirs, content_words(n.content))
        if not relation and not mine and not theirs and _are_one(candidate, key, n, policy):
            relation = "same"
        if relation == "same":
            same = same or n
        elif relation == "replaces":
            replaced.append((n, why))
    if candidate.about is not None:
        for n in active:
            if not any(n is r for r, _ in replaced) and n is not same and _is_about(candidate.about, n, content):
                replaced.append((n, f"takes the place of “{n.content}”"))
    replaced = [(n, why) for n, why in replaced if n is not same]
    if same is not None and not replaced:
        return Decision("noop", same.id, "said again", store=False)
    if replaced:
        first, why = replaced[0]
        if same is not None:
            # The new value is held already, beside one that it contradicts: only that one goes.
            return _guarded(
                Decision("delete", first.id, why, tuple(n.id for n, _ in replaced[1:]), store=False), active
            )
        return _guarded(Decision("update", first.id, why, tuple(n.id for n, _ in replaced[1:])), active)
    return Decision("add", None, "nothing held says the same or the opposite")


def _are_one(c: Candidate, key: frozenset[str], n: Neighbour, policy: Policy) -> bool:
    """Two statements that nothing is known of, told apart by meaning: alike enough, and with the same names and figures."""
    from .extract.frames import content_words

    if n.score is None or n.score < policy.similarity or _negative(c.content) != _negative(n.content):
        return False
    marks = [
        frozenset(w.strip(".,") for w in t.split()[1:] if w[:1].isupper() or any(ch.isdigit() for ch in w))
        for t in (c.content, n.content)
    ]
    words = content_words(n.content)
    return marks[0] == marks[1] and len(key & words) >= 0.6 * len(key | words) > 0


def _relation(
    c: Candidate,
    mine: Sequence[Frame],
    key: frozenset[str],
    n: Neighbour,
    theirs: Sequence[Frame],
    words: frozenset[str],
) -> tuple[str, str]:
    """How the candidate stands to one held statement: "same", "replaces" or "" (beside it), and why."""
    if c.kind == "todo":
        return ("same", "") if key == words else ("", "")
    if not mine or not theirs:
        if key == words and _negative(c.content) == _negative(n.content):
            return "same", ""
        if key == words:
            return "replaces", f"says the opposite of “{n.content}”"
        if c.operation == "correct" and not mine and not theirs and _one_word_apart(key, words):
            return "replaces", f"corrects “{n.content}”"
        return "", ""
    verdict = ""
    why = ""
    matched = 0
    for a in mine:
        for b in theirs:
            found, reason = _compare(c, a, b, n)
            if found == "replaces":
                return found, reason
            if found == "same":
                matched += 1
    if (matched and matched >= len(mine)) or (
        key == words and all(a.negated == b.negated and a.past == b.past for a in mine[:1] for b in theirs[:1])
    ):
        verdict = "same"
    return verdict, why


def _compare(c: Candidate, a: Frame, b: Frame, n: Neighbour) -> tuple[str, str]:
    """One frame of the candidate against one of a held statement."""
    from .extract.frames import MANY, ONE, UNKNOWN

    if a.past != b.past:
        return "", ""
    if a.subject == b.subject == "assistant" and _pull_apart(a, b):
        return "replaces", f"the newer wish replaces “{n.content}”"
    a, b = _aligned(a, b)
    if not _same_subject(a, b):
        return "", ""
    if (
        a.attribute in ("employer", "job")
        and b.attribute == "job"
        and _WITHOUT & set(b.text.lower().split())
        and a.subject == b.subject
        and not a.negated
    ):
        return "replaces", f"the newer value for work replaces “{n.content}”"
    if a.attribute != b.attribute:
        # Vegetarian, then "eats meat"; "doesn't eat fish" is something else.
        return "", ""
    opposite = f"says the opposite of “{n.content}”"
    if a.attribute == "like" or a.attribute.startswith("do "):
        if a.value == b.value:
            return ("same", "") if a.negated == b.negated else ("replaces", opposite)
        if (
            a.attribute.startswith("do ")
            and not a.negated
            and not b.negated
            and _poles(a) & _poles(b)
            and len(a.value ^ b.value) <= 2
        ):
            return "replaces", f"the newer wish replaces “{n.content}”"
        if (
            a.negated != b.negated
            and a.value
            and a.attribute.startswith("do ")
            and (a.value <= b.value or b.value <= a.value)
        ):
            return "replaces", opposite
        return "", ""
    if a.attribute == "prefer":
        return _prefer(c, a, b, n)
    if a.negated != b.negated:
        if a.value == b.value or (a.negated and a.value and a.value <= b.value and a.cardinality != MANY):
            return "replaces", opposite
        if a.attribute == "diet" and b.value != a.value:
            return ("", "")
        return "", ""
    quals_a, quals_b = dict(a.qualifiers), dict(b.qualifiers)
    places = {p for p in quals_a.keys() & quals_b.keys() if p not in ("since", "until", "till")}
    elsewhere = any(quals_a[p] != quals_b[p] for p in places)
    if a.value == b.value:
        if a.attribute == "name" and a.subject != b.subject:
            return "same", ""
        if not elsewhere and _within(quals_a, quals_b):
            return "same", ""
        if not elsewhere and a.cardinality == ONE and _within(quals_b, quals_a):
            return "replaces", f"says more than “{n.content}”"
        if elsewhere and c.mode == "now" and quals_a.keys() == quals_b.keys():
            return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
        if elsewhere and c.operation == "correct" and a.cardinality != MANY:
            return "replaces", f"corrects “{n.content}”"
        return "", ""
    if a.cardinality == ONE and b.cardinality == ONE and not a.negated:
        if elsewhere and c.operation != "correct":
            return "", ""
        if c.mode == "also":
            return "", ""
        if a.attribute in ("home",) and a.value and a.value > b.value:
            return "replaces", f"says more than “{n.content}”"
        if a.attribute in ("home", "job", "employer") and b.value > a.value:
            return "same", ""
        return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
    if c.operation == "correct" and c.about is None and not a.negated and a.cardinality == UNKNOWN:
        return "replaces", f"corrects “{n.content}”"
    if (
        a.cardinality == MANY
        and c.operation == "correct"
        and c.about is None
        and quals_a
        and quals_a == quals_b
        and not a.negated
    ):
        return "replaces", f"corrects “{n.content}”"
    if (
        c.mode == "now"
        and a.cardinality == MANY
        and quals_a
        and quals_a == quals_b
        and set(quals_a) & {"for", "as"}
        and not a.negated
    ):
        return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
    if a.cardinality == UNKNOWN and not a.negated and _figures_apart(a, b):
        return "replaces", f"the newer figure replaces that of “{n.content}”"
    if (
        c.mode == "now"
        and a.subject != "user"
        and not a.negated
        and a.cardinality != ONE
        and not elsewhere
        and _is_thing(a.subject)
    ):
        return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
    if c.mode == "now" and not a.negated and not elsewhere and (a.attribute == "study" or _are_rivals(a, b)):
        return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
    if a.cardinality == MANY and not a.negated and not elsewhere and _counts_apart(a, b):
        return "replaces", f"the newer figure replaces that of “{n.content}”"
    if a.cardinality == UNKNOWN and c.mode == "now" and a.value & b.value and not elsewhere:
        return "replaces", f"the newer value for {_spoken(a)} replaces “{n.content}”"
    return "", ""


def _are_rivals(a: Frame, b: Frame) -> bool:
    """Whether two values are of the kind of which people have one at a time: npm and pnpm, Chrome and Firefox."""
    from .extract.words import RIVALS

    return bool(
        {RIVALS[w] for w in a.text.lower().split() if w in RIVALS}
        & {RIVALS[w] for w in b.text.lower().split() if w in RIVALS}
    )


def _counts_apart(a: Frame, b: Frame) -> bool:
    """`two coffees a day` and `three coffees a day`."""
    from .extract.words import NUMBERS

    left, right = a.text.lower().split(), b.text.lower().split()
    counted = [w and (w[0].isdigit() or w[0] in NUMBERS) for w in (left, right)]
    return all(counted) and left[1:] == right[1:] != []


def _is_thing(subject: str) -> bool:
    from .extract.words import KIN

    return subject != "assistant" and not any(w.removesuffix("'s") in KIN for w in subject.split())


def _aligned(a: Frame, b: Frame) -> tuple[Frame, Frame]:
    """`Editor is Neovim` and `Uses Neovim` are the same thing said of a role and of a tool."""
    from .extract.frames import Frame as Made
    from .extract.frames import content_words
    from .extract.words import TOOL_NOUNS

    if (
        a.attribute == "is on"
        and b.attribute == "use"
        and b.subject == "user"
        and dict(b.qualifiers).get("for") == content_words(a.subject)
    ):
        return a, Made(a.subject, "is on", b.value, (), b.negated, a.cardinality, b.past, b.text)
    if {a.attribute, b.attribute} == {"use", "work with"} and a.subject == b.subject and a.value == b.value:
        return _as(a, "use"), _as(b, "use")
    if a.attribute == "is on" and b.subject == "user" and b.attribute in _KEPT and content_words(a.subject) == b.value:
        place = next((v for p, v in b.qualifiers if p in ("on", "in", "at", "with")), None)
        if place is not None:
            return a, Made(a.subject, "is on", place, (), b.negated, a.cardinality, b.past, b.text)
    if {a.attribute, b.attribute} & {"use"} and a.subject == b.subject == "user" and a.value == b.value:
        other = b.attribute if a.attribute == "use" else a.attribute
        if other in TOOL_NOUNS:
            return _as(a, "use"), _as(b, "use")
    if {a.attribute, b.attribute} <= {"name", "called"} and a.subject == b.subject == "user" and a.value == b.value:
        return _as(a, "name"), _as(b, "name")
    if a.attribute != b.attribute and a.value == b.value and _hosting(a) and _hosting(b):
        return _as(a, "host"), _as(b, "host", a.subject)
    return a, b


_WITHOUT = frozenset("unemployed jobless".split())
_KEPT = frozenset("store keep host save manage track deploy run".split())
_WHOLE = frozenset("user infrastructure everything stack".split())


def _hosting(f: Frame) -> bool:
    return f.attribute in ("host", "host ", "run on", "hosted on", "is on") and f.subject in _WHOLE


def _as(f: Frame, attribute: str, subject: str | None = None) -> Frame:
    from .extract.frames import Frame as Made

    return Made(subject or f.subject, attribute, f.value, f.qualifiers, f.negated, f.cardinality, f.past, f.text)


def _same_subject(a: Frame, b: Frame) -> bool:
    if a.subject == b.subject:
        return True
    if a.attribute == b.attribute == "name":
        # "Daughter is called Lena" and "daughter Lena is called Lena": the kin word is the first.
        return a.subject.split()[0] == b.subject.split()[0]
    # "sister" and "sister Ana" are one only where a name does not tell them apart.
    short, long = sorted((a.subject, b.subject), key=len)
    from .extract.words import KIN_ONE, PROJECT

    return (long.startswith(short + " ") and short in KIN_ONE) or (short in PROJECT and long in ("the " + short,))


def _prefer(c: Candidate, a: Frame, b: Frame, n: Neighbour) -> tuple[str, str]:
    from .extract.frames import ANTONYM

    qa, qb = dict(a.qualifiers), dict(b.qualifiers)
    over_a, over_b = (
        qa.pop("over", frozenset()) | qa.pop("than", frozenset()),
        qb.pop("over", frozenset()) | qb.pop("than", frozenset()),
    )
    if "to" in qa and not over_a:
        over_a = qa.pop("to")
    if "to" in qb and not over_b:
        over_b = qb.pop("to")
    if a.value == b.value:
        if a.negated != b.negated:
            return "replaces", f"says the opposite of “{n.content}”"
        if qa == qb or _within(qa, qb):
            return "same", ""
        if c.mode == "now" and qa.keys() == qb.keys():
            return "replaces", f"the newer preference replaces “{n.content}”"
        return "", ""
    if a.negated or b.negated:
        return "", ""
    if any(qa.get(p) != qb.get(p) for p in set(qa) | set(qb) if p not in ("since", "until")):
        return "", ""
    turned = bool(over_b and a.value <= over_b) or bool(over_a and b.value <= over_a)
    words_a, words_b = set(a.text.lower().split()), set(b.text.lower().split())
    heads = a.text.lower().split()[-1:] == b.text.lower().split()[-1:] != [] and len(words_a) == len(words_b) == 2
    poles = {ANTONYM[w] for w in words_a if ANTONYM.get(w)} & {ANTONYM[w] for w in words_b if ANTONYM.get(w)}
    if (
        turned
        or poles
        or (c.mode == "now" and _are_rivals(a, b))
        or (heads and (c.mode == "now" or c.operation == "correct"))
    ):
        return "replaces", f"the newer preference replaces “{n.content}”"
    if c.operation == "correct" or (c.mode == "now" and heads):
        return "replaces", f"corrects “{n.content}”"
    return "", ""


_REPLIES = frozenset("answers answer replies reply responses response explanations explanation".split())


def _pull_apart(a: Frame, b: Frame) -> bool:
    """`Use a formal tone` and `Be informal`, `Keep answers short` and `Give long answers`: opposite wishes in other words."""
    from .extract.frames import ANTONYM

    if a.negated or b.negated:
        return False
    one, two = set(a.text.lower().split()), set(b.text.lower().split())
    for w in one:
        pole = ANTONYM.get(w)
        other = {x for x in two if pole and ANTONYM.get(x) == pole}
        if other and w not in two and not (pole == "length" and _SHORT.get(w) == _SHORT.get(min(other))):
            if pole in ("formality", "units", "degrees", "indent"):
                return True
            if pole == "length":
                return all(_REPLIES & words or f.attribute == "answers" for words, f in ((one, a), (two, b)))
    return False


_SHORT = {"short": 0, "brief": 0, "concise": 0, "long": 1, "detailed": 1, "verbose": 1}


def _poles(f: Frame) -> set[str]:
    from .extract.frames import ANTONYM

    return {ANTONYM[w] for w in f.text.lower().split() if ANTONYM.get(w)}


def _within(a: dict[str, frozenset[str]], b: dict[str, frozenset[str]]) -> bool:
    return all(p in b and v <= b[p] for p, v in a.items() if p not in ("since", "until"))


def _figures_apart(a: Frame, b: Frame) -> bool:
    """`listens on port 8080` and `listens on port 9090`: only the figure differs."""
    left, right = a.value - b.value, b.value - a.value
    return len(left) == len(right) == 1 and bool(a.value & b.value) and all(w[:1].isdigit() for w in (*left, *right))


def _spoken(f: Frame) -> str:
    return f.attribute if f.subject == "user" else f"{f.subject}'s {f.attribute}"


def _negative(text: str) -> bool:
    lowered = f" {text.lower()} "
    return any(w in lowered for w in (" not ", "n't ", " never ", " no longer "))


def _one_word_apart(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a - b) <= 1 and len(b - a) <= 1 and len(a & b) >= 2


def _is_about(about: str, n: Neighbour, content: str) -> bool:
    """Whether a held statement is the one that the candidate says it replaces."""
    from .extract.frames import content_words
    from .extract.framing import frames

    held = n.content.casefold().rstrip(".")
    if held == content.casefold().rstrip("."):
        return False
    if held == about.casefold().rstrip("."):
        return True
    wanted, words = content_words(about), content_words(n.content)
    mine, theirs = frames(about), frames(n.content)
    if mine and theirs:
        a, b = mine[0], theirs[0]
        if b.past or a.negated != b.negated or not a.value:
            return False
        if a.attribute == "use":
            # "switched from Samsung": whatever said that it is used, had, or stands somewhere.
            return (
                a.value <= b.value.union(*(v for _, v in b.qualifiers))
                and b.attribute not in _LASTING
                and _is_thing(b.subject)
            )
        return wanted <= words and a.value <= b.value and a.attribute == b.attribute
    return wanted == words


def _retract(candidate: Candidate, active: Sequence[Neighbour]) -> Decision:
    from .extract.frames import content_words
    from .extract.framing import NOUNS, frames

    about = candidate.about or candidate.content
    wanted = content_words(about)
    mine = frames(about)
    meant = NOUNS.get(about.lower(), ())
    by_noun: list[tuple[int, Neighbour]] = []
    exact: list[Neighbour] = []
    named: list[Neighbour] = []
    partly: list[tuple[float, Neighbour]] = []
    for n in active:
        if n.content.casefold().rstrip(".") == about.casefold().rstrip("."):
            exact.append(n)
            continue
        words = content_words(n.content)
        theirs = frames(n.content)
        hit = [meant.index(f.attribute) for f in theirs if f.subject == "user" and f.attribute in meant and not f.past]
        if hit:
            by_noun.append((min(hit) if meant[0] == "home address" else 0, n))
            continue
        if mine and theirs:
            a, b = _aligned(mine[0], theirs[0])
            if _same_subject(a, b) and a.attribute == b.attribute and not b.past and a.negated == b.negated:
                if a.value <= b.value and (a.value or candidate.family == "explicit"):
                    if _within(dict(a.qualifiers), dict(b.qualifiers)) or not b.qualifiers:
                        exact.append(n)
                        continue
                if a.value and b.value and b.value <= a.value and b.cardinality == "one":
                    exact.append(n)
                    continue
            if (
                a.subject == b.subject
                and wanted
                and wanted <= words
                and a.negated == b.negated
                and not b.past
                and candidate.family == "explicit"
            ):
                named.append(n)
            elif candidate.family == "explicit" and wanted and len(wanted & words) / len(wanted) >= 0.5:
                partly.append((len(wanted & words) / len(wanted) + (n.score or 0.0) / 10, n))
            continue
        if not wanted:
            continue
        if wanted <= words and (candidate.family == "explicit" or _ends(wanted, theirs, words)):
            named.append(n)
        elif candidate.family == "explicit" and len(wanted & words) / len(wanted) >= 0.5:
            partly.append((len(wanted & words) / len(wanted) + (n.score or 0.0) / 10, n))
    if by_noun:
        # "address": the street if that is held, else the town.
        nearest = min(rank for rank, _ in by_noun)
        exact += [n for rank, n in by_noun if rank == nearest]
    found = exact or named
    if not found and partly:
        partly.sort(key=lambda p: -p[0])
        if len(partly) == 1 or partly[0][0] > partly[1][0]:
            found = [partly[0][1]]
    if not found:
        return Decision("noop", None, "nothing of the kind is held", store=False)
    why = f"no longer holds: {about}" if candidate.family != "explicit" else f"asked to forget: {about}"
    return _guarded(Decision("delete", found[0].id, why, tuple(n.id for n in found[1:]), store=False), active)


_LASTING = frozenset("like prefer fear allergic know".split())
_COUPLES = frozenset("girlfriend boyfriend wife husband partner fiance fiancé fiancee fiancée spouse".split())


def _ends(wanted: frozenset[str], theirs: Sequence[Frame], words: frozenset[str]) -> bool:
    """Whether the end of a thing ("sold the car") ends what a statement says: to have it or use it, not to like it."""
    if not theirs:
        return wanted == words
    f = theirs[0]
    if f.past or f.negated:
        return False
    if (f.attribute == "name" and wanted <= f.value and f.subject in _COUPLES) or (
        f.attribute in ("date", "live with") and wanted <= f.value
    ):
        return True
    if f.attribute in ("value", "drive") and wanted == f.value:
        return True
    if wanted == frozenset(f.subject.split()) or (
        wanted <= frozenset(f.subject.split()) and f.attribute in ("name", "value")
    ):
        return True
    around = f.value.union(*(v for _, v in f.qualifiers))
    return f.subject == "user" and wanted <= around and f.attribute not in _LASTING


_FINISHING = frozenset("do finish complete handle mark cross tick".split())
_ALIKE = {
    verb: group[0]
    for group in map(
        str.split,
        ("buy get purchase order pick", "call phone ring", "email mail write message text", "send ship mail", "fix repair mend", "submit file hand turn", "talk speak chat"),
    )
    for verb in group
}  # fmt: skip
"""Verbs that people use for one another when they say that something is done."""


def _done(candidate: Candidate, active: Sequence[Neighbour]) -> Decision:
    from .extract.frames import content_words, stems
    from .extract.words import base_of

    about = candidate.about or ""
    tokens = about.split()
    wanted = stems(tokens)
    verb = base_of(tokens[0].lower()) if tokens else ""
    best: tuple[float, Neighbour] | None = None
    tie = False
    for n in active:
        if n.kind != "todo":
            continue
        if n.content.casefold() == about.casefold():
            best, tie = (9.0, n), False
            break
        words = content_words(n.content)
        own = n.content.split()
        first = base_of(own[0].lower()) if own else ""
        nouns = wanted - stems([verb]) - stems([tokens[0]])
        theirs = words - stems([first])
        if verb in _FINISHING or not nouns:
            nouns = wanted - stems(_FINISHING)
            theirs = words
        elif verb != first and not (stems([verb]) & words) and _ALIKE.get(verb, verb) != _ALIKE.get(first, first):
            continue
        both = nouns & theirs
        if not both:
            continue
        score = len(both) / len(nouns) + len(both) / max(len(theirs), 1)
        if len(both) / len(nouns) < 0.5 and len(both) / len(theirs) < 0.99:
            continue
        if best is None or score > best[0] + 1e-9:
            best, tie = (score, n), False
        elif abs(score - best[0]) <= 1e-9:
            tie = True
    if best is None or tie:
        return Decision("noop", None, "no open todo is meant", store=False)
    return _guarded(Decision("delete", best[1].id, "done", store=False), active)
