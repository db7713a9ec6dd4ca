"""A clause said again in the third person, and a statement on its way to a candidate."""

from __future__ import annotations

from ..light import dataclass
from .clauses import Clause
from .words import ING, PARTICIPLE, PAST, low, one_of, rewrite, third

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_NEGATED = {"is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "does": "doesn't", "do": "don't",
            "did": "didn't", "will": "won't", "can": "can't", "has": "hasn't", "could": "couldn't", "would": "wouldn't",
            "should": "shouldn't", "must": "mustn't"}  # fmt: skip


def say(c: Clause, *, rest: Sequence[str] | None = None, negated: bool | None = None) -> str:
    """The clause as a statement in the third person, the user left out as its subject."""
    neg = c.negated if negated is None else negated
    plural = c.subject != "" and is_plural(c.subject)
    be = "are" if plural else "is"
    has = "have" if plural else "has"
    adverbs = " ".join(c.adverbs)
    if c.verb == "be" and c.form in ("present", "past") and not c.aux:
        head = ("were" if plural else "was") if c.form == "past" else be
        verb = f"{head} not" if neg else head
    elif c.form == "perfect":
        verb = (f"{has}n't " if neg else f"{has} ") + _participle(c.verb)
    elif c.form == "going" and c.aux == "have been":
        verb = (f"{has}n't been " if neg else f"{has} been ") + ing(c.verb)
    elif c.aux == "used":
        verb = f"used to {c.verb}"
    elif c.aux:
        verb = (_NEGATED.get(c.aux, c.aux + " not") if neg else c.aux) + " " + c.verb
    elif c.form == "past":
        verb = f"didn't {c.verb}" if neg else _past(c.verb)
    elif neg:
        verb = ("don't " if plural else "doesn't ") + c.verb
    else:
        verb = c.verb if plural else third(c.verb)
    tail = " ".join(rewrite(c.rest if rest is None else rest))
    if adverbs and (c.verb == "be" or c.aux):
        first, _, more = verb.partition(" ")
        verb = " ".join(x for x in (first, adverbs, more) if x)
        adverbs = ""
    text = " ".join(x for x in (c.subject, adverbs, verb, tail) if x)
    return capital(text.rstrip(" ,;:.!"))


def is_plural(subject: str) -> bool:
    """Whether several are spoken of, by the noun that a phrase is about: the passes of "bus passes in Paris"."""
    words = subject.split()
    at = next(
        (i for i, word in enumerate(words) if i and low(word) in one_of("in of for at on with from to by")), len(words)
    )
    if words[at - 1].lower() in one_of("most some all both many several few lots couple"):  # "most of my colleagues"
        at = len(words)
    if "and" in words[:at]:
        return True
    last = low(words[at - 1])
    if last in one_of("children people men women feet teeth"):
        return True
    is_name = last[:1] != words[at - 1][:1]
    return (
        last.endswith("s")
        and not is_name
        and not last.endswith(("ss", "us", "is", "'s"))
        and last
        not in one_of("news aws gas lens canvas atlas chaos bias alias physics maths economics gymnastics series")
    )


def _past(base: str) -> str:
    return next((form for form, b in PAST.items() if b == base), None) or (
        base + "d" if base.endswith("e") else base + "ed"
    )


def _participle(base: str) -> str:
    return next((form for form, b in PARTICIPLE.items() if b == base), None) or (
        base + "d" if base.endswith("e") else base + "ed"
    )


def ing(base: str) -> str:
    return next((form for form, b in ING.items() if b == base), None) or base + "ing"


def capital(text: str) -> str:
    """The first letter in upper case; `iOS` and `npm` keep theirs only inside a sentence."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Found:
    """A statement on its way to a candidate."""

    content: str
    family: str
    operation: str = "assert"
    about: str | None = None
    kind: str | None = None
    marks: frozenset[str] = frozenset()
    future: bool = False
