"""How one statement stands to another: the same, in its place, or beside it.

Every statement is read into a frame: about whom, which attribute, which value, and whether that attribute has one value
at a time (where one lives) or many (which languages one speaks). A new value of a single attribute replaces the old one;
a set grows; a denial takes away; the same again changes nothing.
"""

from __future__ import annotations

from .extract import Candidate
from .extract.frames import ANTONYM, MANY, ONE, UNKNOWN, Frame, content_words
from .extract.framing import frames
from .extract.words import KIN, KIN_ONE, NUMBERS, PROJECT, RIVALS, TOOL_NOUNS
from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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


PASSING = 0.2
"""The importance of a state that passes: below the default of `memory_low_importance_threshold`, so it expires."""
_WHERE = frozenset(("is in", "is at", "is on"))


def is_passing(c: Candidate, today: str) -> bool:
    """Whether a statement says how things are at this moment, which is soon over: where the user is "right now", or a state
    of the day (`today`, as in 2023-05-07) on which it is said. Where somebody lives or works is not passing."""
    if c.kind != "fact" or c.operation not in ("assert", "correct") or not c.content.startswith("Is "):
        return False
    return today in c.content or (c.mode == "now" and any(f.attribute in _WHERE for f in frames(c.content)[:1]))


def stands_to(
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
        if key == words and is_negative(c.content) == is_negative(n.content):
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

    if a.past != b.past:
        return "", ""
    if a.subject == b.subject == "assistant" and _pull_apart(a, b):
        return "replaces", f"the newer wish replaces “{n.content}”"
    a, b = aligned(a, b)
    if not are_of_one(a, b):
        return "", ""
    if c.mode == "now" and a.attribute == b.attribute and a.attribute in _WHERE and a.value != b.value:
        if n.importance <= PASSING and not a.negated and not b.negated:
            return "replaces", f"the newer state replaces “{n.content}”"
    if (
        a.attribute in ("employer", "job")
        and b.attribute == "job"
        and _WITHOUT & set(b.text.lower().split())
        and a.subject == b.subject
        and not a.negated
    ):
        return "replaces", f"the newer value for work replaces “{n.content}”"
    if c.mode == "now" and a.attribute == "use" and b.attribute in TOOL_NOUNS and not a.negated and _are_rivals(a, b):
        return "replaces", f"the newer value for {b.attribute} replaces “{n.content}”"
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
        if not elsewhere and is_within(quals_a, quals_b):
            return "same", ""
        if not elsewhere and a.cardinality == ONE and is_within(quals_b, quals_a):
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

    one, other = (
        {RIVALS[w] for w in f.text.lower().replace("vs code", "vscode").split() if w in RIVALS} for f in (a, b)
    )
    return bool(one & other)


def _counts_apart(a: Frame, b: Frame) -> bool:
    """`two coffees a day` and `three coffees a day`."""

    left, right = a.text.lower().split(), b.text.lower().split()
    counted = [w and (w[0].isdigit() or w[0] in NUMBERS) for w in (left, right)]
    return all(counted) and left[1:] == right[1:] != []


def _is_thing(subject: str) -> bool:

    return subject != "assistant" and not any(w.removesuffix("'s") in KIN for w in subject.split())


def aligned(a: Frame, b: Frame) -> tuple[Frame, Frame]:
    """`Editor is Neovim` and `Uses Neovim` are the same thing said of a role and of a tool."""

    if (
        a.attribute == "is on"
        and b.attribute == "use"
        and b.subject == "user"
        and dict(b.qualifiers).get("for") == content_words(a.subject)
    ):
        return a, Frame(a.subject, "is on", b.value, (), b.negated, a.cardinality, b.past, b.text)
    if a.attribute == "when" and b.attribute == "have" and b.subject == "user":
        # "Meeting with Paula is on Tuesday" and "Has a meeting with Paula on Monday at 10"
        held = dict(b.qualifiers)
        at = held.pop("on", None) or held.pop("at", None)
        if at is not None and content_words(a.subject) == b.value.union(*(held.get(p, ()) for p in ("with", "for"))):
            return a, Frame(a.subject, "when", at, (), b.negated, ONE, b.past, b.text)
    if {a.attribute, b.attribute} == {"use", "work with"} and a.subject == b.subject and a.value == b.value:
        return _as(a, "use"), _as(b, "use")
    if a.attribute == "is on" and b.subject == "user" and b.attribute in _KEPT and content_words(a.subject) == b.value:
        place = next((v for p, v in b.qualifiers if p in ("on", "in", "at", "with")), None)
        if place is not None:
            return a, Frame(a.subject, "is on", place, (), b.negated, a.cardinality, b.past, b.text)
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

    return Frame(subject or f.subject, attribute, f.value, f.qualifiers, f.negated, f.cardinality, f.past, f.text)


def are_of_one(a: Frame, b: Frame) -> bool:
    if a.subject == b.subject:
        return True
    if a.attribute == b.attribute == "name":
        # "Daughter is called Lena" and "daughter Lena is called Lena": the kin word is the first.
        return a.subject.split()[0] == b.subject.split()[0]
    # "sister" and "sister Ana" are one only where a name does not tell them apart.
    short, long = sorted((a.subject, b.subject), key=len)

    return (long.startswith(short + " ") and short in KIN_ONE) or (short in PROJECT and long in ("the " + short,))


def _prefer(c: Candidate, a: Frame, b: Frame, n: Neighbour) -> tuple[str, str]:

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
        if qa == qb or is_within(qa, qb):
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

    return {ANTONYM[w] for w in f.text.lower().split() if ANTONYM.get(w)}


def is_within(a: dict[str, frozenset[str]], b: dict[str, frozenset[str]]) -> bool:
    return all(p in b and v <= b[p] for p, v in a.items() if p not in ("since", "until"))


def _figures_apart(a: Frame, b: Frame) -> bool:
    """`listens on port 8080` and `listens on port 9090`: only the figure differs."""
    left, right = a.value - b.value, b.value - a.value
    return len(left) == len(right) == 1 and bool(a.value & b.value) and all(w[:1].isdigit() for w in (*left, *right))


def _spoken(f: Frame) -> str:
    return f.attribute if f.subject == "user" else f"{f.subject}'s {f.attribute}"


def is_negative(text: str) -> bool:
    lowered = f" {text.lower()} "
    return any(w in lowered for w in (" not ", "n't ", " never ", " no longer "))


def _one_word_apart(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a - b) <= 1 and len(b - a) <= 1 and len(a & b) >= 2


def is_about(about: str, n: Neighbour, content: str) -> bool:
    """Whether a held statement is the one that the candidate says it replaces."""

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
                and b.attribute not in LASTING
                and _is_thing(b.subject)
            )
        if a.attribute == "drink" and b.attribute == "prefer":
            return a.value == b.value and a.subject == b.subject
        return wanted <= words and a.value <= b.value and a.attribute == b.attribute
    return wanted == words


LASTING = frozenset("like prefer fear allergic know".split())
