"""A clause read as subject, verb and the rest: the user, not, live, "in Kiel"."""

from __future__ import annotations

from ..light import dataclass
from .cutting import BE, DROPPED, NOUNLIKE
from .words import (
    BASES,
    EDGE,
    HABIT,
    ING,
    KIN,
    PARTICIPLE,
    PAST,
    PREPOSITIONS,
    STATES,
    THIRD,
    base_of,
    low,
    one_of,
    rewrite,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HEDGES = frozenset("maybe perhaps probably possibly might presumably supposedly apparently hopefully almost".split())
_SUBJECTS = frozenset("i we my our".split())
_PRONOUNS = frozenset("he she it they his her their its".split())


@dataclass(frozen=True)
class Clause:
    """A clause as it was understood."""

    subject: str  # "" for the user, else a noun phrase: "sister Ana", "staging server"
    group: bool  # whether it was "we" or "our"
    adverbs: tuple[str, ...]  # those that matter: usually, always, never, ...
    negated: bool  # "do not", "is not", "never" is an adverb instead
    aux: str  # "", "will", "can", "would", "used", "have" (perfect), "be" (progressive, passive)
    verb: str  # the base: "be", "live"
    form: str  # "present", "past", "perfect", "going", "passive", "future", "modal"
    rest: tuple[str, ...]  # the words after the verb
    marks: frozenset[str]  # now, also, mend, over, again, done, please, standing
    own: bool = True  # whether the subject is the user, or was introduced with "my" or "our"

    @property
    def lower(self) -> tuple[str, ...]:
        """The rest without case and edges, for looking words up."""
        return tuple(w.strip(EDGE).lower() for w in self.rest)


_NOUNS = frozenset(
    "work test plan call design play report support release store account box phone record name watch match cover".split()
)


def read(
    tokens: Sequence[str], marks: frozenset[str] = frozenset(), known: frozenset[str] = frozenset()
) -> Clause | None:
    """A clause whose subject and verb are understood, or None. `known`: names that were introduced before."""
    found = _read(tokens, marks, known)
    if found is None:
        return None
    first = low(tokens[0])
    if first in ("all", "most", "each", "both") and len(tokens) > 1:
        first = low(tokens[1])
    own = first in _SUBJECTS or first in known
    return found if own else Clause(**{**found.__dict__, "own": False})


def _read(tokens: Sequence[str], marks: frozenset[str], known: frozenset[str]) -> Clause | None:
    if len(tokens) < 2:
        return None
    lowered = [low(t) for t in tokens]
    found = set(marks)
    first = lowered[0]
    if first in ("all", "most", "each", "both") and lowered[1] in ("my", "our", "of"):
        tokens = tokens[1:] if lowered[1] != "of" else tokens[2:]
        if len(tokens) < 2:
            return None
        lowered = [low(t) for t in tokens]
        first = lowered[0]
    group = first in ("we", "our")
    if first in ("i", "we"):
        subject, i = "", 1
    elif first in _PRONOUNS or first in one_of("this that there these those you your"):
        return None
    elif first in ("my", "our", "the") or first in known or tokens[0][:1].isupper() or first in _PROJECT_STARTS:
        at = _verb_at(lowered, tokens)
        if at < 1:
            return None
        words_ = list(tokens[:at])
        if first in ("my", "our", "the"):
            words_ = words_[1:]
        if len(words_) > 1 and low(words_[0]) in ("new", "current", "latest"):
            words_ = words_[1:]
            found.add("now")
        if words_ and first in _PROJECT_STARTS:
            words_[0] = words_[0] if words_[0][1:2].isupper() else words_[0][:1].lower() + words_[0][1:]
        while words_ and low(words_[-1]) in DROPPED | dict.fromkeys(HABIT):
            # "my brother also lives", "our team usually deploys"
            at -= 1
            words_.pop()
        subject = " ".join(rewrite(words_)).rstrip(",")
        if not subject or len(words_) > 7:
            return None
        i = at
    else:
        return None
    adverbs: list[str] = []
    negated = False
    aux = ""
    form = "present"

    def skip() -> None:
        nonlocal i
        while i < len(tokens):
            w = lowered[i]
            if w in HABIT:
                adverbs.append(w)
            elif w in _HEDGES:
                found.add("hedge")
            elif w in DROPPED and not (w == "all" and i + 1 < len(tokens) and lowered[i + 1] in ("my", "the")):
                if w in ("since",):
                    return
                if DROPPED[w]:
                    found.add(DROPPED[w])
            elif w == "no" and i + 1 < len(tokens) and lowered[i + 1] == "longer":
                found.add("over")
                i += 1
            elif w in ("kind", "sort") and i + 1 < len(tokens) and lowered[i + 1] == "of":
                i += 1
            elif w == "at" and lowered[i : i + 3] == ["at", "the", "moment"]:
                found.add("now")
                i += 2
            else:
                return
            i += 1

    skip()
    if i >= len(tokens):
        return None
    w = lowered[i]
    if w in ("do", "does", "did") and i + 1 < len(tokens) and (lowered[i + 1] == "not" or lowered[i + 1] in BASES):
        form = "past" if w == "did" else "present"
        i += 1
        if lowered[i] == "not":
            negated = True
            i += 1
        skip()
    elif w in one_of("will can could would should must might may shall"):
        aux, form = w, "future" if w in ("will", "shall") else "modal"
        i += 1
        if i < len(tokens) and lowered[i] == "not":
            negated = True
            i += 1
        skip()
    elif w == "used" and i + 2 < len(tokens) and lowered[i + 1] == "to":
        aux, form = "used", "past"
        i += 2
        skip()
    elif w in ("have", "has", "had") and i + 1 < len(tokens):
        j = i + 1
        neg = lowered[j] == "not"
        j += neg
        while j < len(tokens) and (lowered[j] in DROPPED or lowered[j] in HABIT):
            if lowered[j] in HABIT:
                adverbs.append(lowered[j])
            elif DROPPED[lowered[j]]:
                found.add(DROPPED[lowered[j]])
            j += 1
        if (
            j < len(tokens)
            and (
                lowered[j] in PARTICIPLE or lowered[j] == "been" or (lowered[j].endswith("ed") and len(lowered[j]) > 4)
            )
            and lowered[j] not in _NOUN_PARTICIPLES
        ):
            if lowered[j] == "got" and w != "had":
                # "I've got a dog" is "I have a dog"; "I've got to" is a duty.
                if lowered[j + 1 : j + 2] == ["to"]:
                    return Clause(
                        subject,
                        group,
                        tuple(adverbs),
                        neg,
                        "",
                        "have",
                        "present",
                        tuple(tokens[j + 1 :]),
                        frozenset(found),
                    )
                return Clause(
                    subject, group, tuple(adverbs), neg, "", "have", "present", tuple(tokens[j + 1 :]), frozenset(found)
                )
            negated, aux = neg, "have"
            verb = PARTICIPLE.get(lowered[j]) or ("be" if lowered[j] == "been" else base_of(lowered[j]))
            i = j + 1
            if verb == "be" and i < len(tokens) and lowered[i] in ING:
                return Clause(
                    subject,
                    group,
                    tuple(adverbs),
                    negated,
                    "have been",
                    ING[lowered[i]],
                    "going",
                    tuple(tokens[i + 1 :]),
                    frozenset(found),
                )
            return Clause(
                subject, group, tuple(adverbs), negated, "have", verb, "perfect", tuple(tokens[i:]), frozenset(found)
            )
    if i >= len(tokens):
        return None
    w = lowered[i]
    if w in BE:
        i += 1
        past = w in ("was", "were")
        if i < len(tokens) and lowered[i] == "not":
            negated = True
            i += 1
        skip()
        if i < len(tokens) and lowered[i] == "not":
            negated = True
            i += 1
            skip()
        rest = tuple(tokens[i:])
        return Clause(
            subject, group, tuple(adverbs), negated, aux, "be", "past" if past else form, rest, frozenset(found)
        )
    if w in THIRD and (subject or first not in ("i", "we")):
        verb = THIRD[w]
    elif w in BASES and not (w in PAST and not aux and form == "present" and w in ("quit", "put", "set")):
        verb = w
    elif w in PAST:
        verb, form = PAST[w], "past"
    elif aux or negated or adverbs:
        verb = w
    elif w.endswith("ed") and len(w) > 4 and not subject:
        verb, form = base_of(w), "past"
    elif not subject and w.isalpha() and _habitual(lowered[i:]):
        verb = w
    else:
        return None
    return Clause(subject, group, tuple(adverbs), negated, aux, verb, form, tuple(tokens[i + 1 :]), frozenset(found))


_NOUN_PARTICIPLES = frozenset("read run set cut put let".split())
_PROJECT_STARTS = frozenset(
    "production staging ci standup deploys deployments releases builds logs backups tests prod".split()
)


_WAYS = frozenset("flight flights train bus ferry trip ticket tickets journey drive".split())
"""What goes somewhere: "my flight to Oslo is on Monday"."""


def _habitual(lowered: Sequence[str]) -> bool:
    text = " ".join(lowered)
    return any(p in text for p in ("every ", "each ", "twice a ", "once a ", "times a "))


def _verb_at(lowered: Sequence[str], tokens: Sequence[str]) -> int:
    """Where the verb of a noun phrase subject stands, or 0."""
    for i in range(1, min(len(lowered), 9)):
        w = lowered[i]
        if w in one_of("is are was were has does will can had did used"):
            return i
        if w == "have" and lowered[i - 1].endswith("s"):
            return i
        if w in BASES and i > 1 and lowered[0] in ("my", "our") and i + 1 < len(lowered):
            # "our customers include", "my brother and his wife live"
            if lowered[i - 1].endswith("s") and not lowered[i - 1].endswith(("'s", "ss")) and w not in _NOUNS:
                return i
            if "and" in lowered[1:i] and w in STATES:
                return i
        if w in THIRD and (w not in NOUNLIKE or (i > 1 and tokens[i - 1][:1].isupper()) or lowered[i - 1] in KIN):
            return i
        if tokens[i][:1].isupper():
            continue
        if (
            w in THIRD
            and i + 1 < len(lowered)
            and (lowered[i + 1] in PREPOSITIONS or lowered[i + 1] in one_of("a the my our your"))
        ):
            return i
        if w in one_of("live work love like hate use speak prefer run deploy meet own come go") and lowered[
            i - 1
        ].endswith(("s", "people", "children", "team", "family")):
            return i
        if w in PAST and w not in PARTICIPLE:
            return i
        if w in PAST and (lowered[i - 1] in KIN or (i > 1 and tokens[i - 1][:1].isupper())):
            return i
        if (
            w
            in one_of(
                "moved started died joined worked lived retired graduated got had broke left turned quit switched changed"
            )
            and i >= 1
        ):
            return i
        if w in ("no",) and lowered[i + 1 : i + 2] == ["longer"]:
            return i
        if w in HABIT and i + 1 < len(lowered) and (lowered[i + 1] in THIRD or lowered[i + 1] in BASES):
            return i
        if (
            w in DROPPED
            and i + 1 < len(lowered)
            and (lowered[i + 1] in THIRD or (lowered[i + 1] in BASES and lowered[i - 1].endswith("s")))
        ):
            return i
        if w in PREPOSITIONS and w not in one_of("of for in at from with on") and lowered[i - 1] not in _WAYS:
            return 0
        if tokens[i - 1].endswith((",", ";")) and i > 1:
            return 0
    return 0
