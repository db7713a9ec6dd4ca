"""A statement read into frames: where its verb stands, and what that says of whom.

Two statements contradict each other only where their frames say so; what cannot be read has no frame, and is compared by
its words alone.
"""

from __future__ import annotations

from functools import lru_cache

from .cutting import words
from .frames import ANTONYM, MANY, SYNONYM, Frame
from .predicates import predicate, wish_frames
from .words import BASES, HABIT, ING, PARTICIPLE, PAST, THIRD, low, one_of

_FILLER = frozenset(
    "also too really just still already currently now actually again mostly always usually often generally very please anymore".split()
)


@lru_cache(maxsize=8192)
def frames(content: str) -> tuple[Frame, ...]:
    """What a statement says, the main thing first; nothing when it is not understood."""
    text = " ".join(content.split())
    lowered = text.lower()
    own = False
    for start in ("the user's ", "user's ", "the user ", "user ", "i ", "we ", "my ", "our ", "their "):
        if lowered.startswith(start):
            text = text[len(start) :]
            own = start in ("the user ", "user ", "i ", "we ")
            break
    tokens = words(text)
    if tokens and low(tokens[0]) in ("i", "we"):
        tokens = tokens[1:]
        own = True
    if not tokens:
        return ()
    return tuple(_read(tokens, own))


def _read(tokens: list[str], own: bool) -> list[Frame]:
    ls = [low(t) for t in tokens]
    if (
        ls[0] in ("always", "never", "do")
        and not own
        and len(ls) > 1
        and (ls[1] in BASES or ls[:2] == ["do", "not"])
        and ls[1] not in THIRD
    ):
        return wish_frames(tokens, ls)
    if ls[0] in BASES and ls[0] not in THIRD and not own and not one_of("is are was has were") & set(ls[1:7]):
        return wish_frames(tokens, ls)
    at = _verb(ls, own)
    if at is None:
        if ls[0] in BASES:
            return wish_frames(tokens, ls)
        return []
    subject = tokens[:at]
    while subject and low(subject[-1]) in HABIT | _FILLER:
        subject = subject[:-1]
    i = at
    negated = past = False
    adverbs = {w for w in ls[:at] if w in ("never", "rarely", "seldom")}
    aux = ""
    verb = ""
    while i < len(ls):
        w = ls[i]
        if w in ("does", "do", "did") and i + 1 < len(ls):
            past = past or w == "did"
        elif w == "not":
            negated = True
        elif w in ("never",):
            adverbs.add(w)
        elif w in HABIT or w in _FILLER:
            pass
        elif w == "no" and ls[i + 1 : i + 2] == ["longer"]:
            negated = True
            i += 1
        elif w in one_of("can will would should must could"):
            aux = w
        elif w == "used" and ls[i + 1 : i + 2] == ["to"]:
            past = True
            i += 1
        elif w in one_of("is are am was were been be"):
            verb = "be"
            past = past or w in ("was", "were")
            j = i + 1
            while j < len(ls) and (ls[j] in _FILLER or ls[j] == "not" or ls[j] in HABIT):
                negated = negated or ls[j] == "not"
                j += 1
            i = j - 1
        elif w in ("has", "have", "had") and verb == "" and i + 1 < len(ls):
            j = i + 1
            while j < len(ls) and ls[j] in _FILLER:
                j += 1
            if (
                j < len(ls)
                and (ls[j] in PARTICIPLE or ls[j] == "been")
                and ls[j] not in one_of("read run set cut")
                and ls[j] != "got"
            ):
                aux = "have"
                i = j - 1
                if ls[j] == "not":
                    negated = True
            else:
                verb = "have"
                past = past or w == "had"
                if j < len(ls) and ls[j] == "got":
                    i = j
        else:
            found = THIRD.get(w) or (w if w in BASES else None)
            if verb == "":
                if found is None and w in PAST:
                    found = PAST[w]
                    past = past or (aux != "have" and not (aux and found))
                elif found is None and w in PARTICIPLE:
                    found = PARTICIPLE[w]
                elif w in PAST and w not in BASES and aux == "":
                    found, past = PAST[w], True
                if found is None:
                    return []
                verb = found
            else:
                break
        if verb and not (verb == "be" and i + 1 < len(ls) and ls[i + 1] in ("not",)):
            i += 1
            break
        i += 1
    while i < len(ls) and (ls[i] in _FILLER):
        i += 1
    if not verb:
        return []
    negated = negated != ("never" in adverbs)
    who = _subject(subject)
    if who in ("team", "company", "startup", "dev team", "whole team") and verb != "be":
        who = "user"  # "our team uses Linear" and "we use Linear" are one statement
    rest, rl = tokens[i:], ls[i:]
    if verb == "be" and rl and (rl[0] in ING) and rl[0] not in ("interesting",):
        verb, rest, rl = ING[rl[0]], rest[1:], rl[1:]
        going = True
    else:
        going = False
    return predicate(who, verb, rest, rl, negated, past, aux, going)


def _verb(ls: list[str], own: bool) -> int | None:
    """Where the verb group begins: at the start when the user is the subject."""
    first = ls[0]
    if not own and first in THIRD and len(ls) > 2 and ls[1] in one_of("is are was were has"):
        return 1  # "files are on Dropbox", "works council is ..."
    if own or first in one_of("is are was has does can will would used did isn't had am have") or first in THIRD:
        return 0
    if first in HABIT and len(ls) > 1 and (ls[1] in THIRD or ls[1] in ("is", "has")):
        return 0
    if first in ("no",) and ls[1:2] == ["longer"]:
        return 0
    if first in PAST and first not in BASES:
        return 0
    if first in ("do",):
        return None
    for i in range(1, min(len(ls), 9)):
        w = ls[i]
        if w in one_of("is are was were has does will can had used"):
            return i
        if w in THIRD and not (
            w in one_of("works logs tests builds releases jobs") and i + 1 < len(ls) and ls[i + 1] in ("is", "are")
        ):
            return i
        if (
            w in one_of("have live work like love hate run use speak meet do deploy come")
            and ls[i - 1].endswith(("s", "n"))
            and first not in BASES
        ):
            return i
        if w in PAST and w not in PARTICIPLE:
            return i
        if w in one_of("lived worked moved joined started retired died turned got") and first not in BASES:
            return i
    return None


def _subject(tokens: list[str]) -> str:
    out = []
    for token in tokens:
        w = low(token)
        if w in one_of("the a an their my our user his her also"):
            continue
        w = SYNONYM.get(w, w)
        out.append(w)
    if out[-2:] in (["mother", "tongue"], ["first", "language"]):
        return "native language"
    return " ".join(out) or "user"


NOUNS = {
    "address": ("home address", "home"), "home address": ("home address", "home"), "city": ("home",), "residence": ("home",), "location": ("home",), "home": ("home",),
    "job": ("job", "employer"), "work": ("job", "employer"), "profession": ("job",), "employer": ("employer",), "workplace": ("employer",),
    "company": ("employer",), "name": ("name", "called"), "nickname": ("called",), "age": ("age",), "birthday": ("birth",),
    "date of birth": ("birth",), "diet": ("diet",), "timezone": ("timezone",), "time zone": ("timezone",), "nationality": ("origin",),
    "hometown": ("origin",), "allergies": ("allergic",), "allergy": ("allergic",), "car": ("drive",), "weight": ("weigh",),
    "salary": ("earn",), "marital status": ("marital",),
}  # fmt: skip
"""What a bare noun stands for: "forget my address" means where the user lives."""


def topic(content: str) -> str | None:
    """See `extract.topic`."""
    if content.lower() in NOUNS:
        first = NOUNS[content.lower()][0]
        return "user/" + {"job": "work", "employer": "work", "called": "name"}.get(first, first)
    found = frames(content)
    if not found:
        return None
    f = found[0]
    poles = [ANTONYM[w] for w in f.text.lower().split() if ANTONYM.get(w)]
    if f.subject == "assistant" and poles:
        return f"assistant/{poles[0]}"
    attribute = {"job": "work", "employer": "work", "called": "name", "eat": "diet"}.get(f.attribute, f.attribute)
    if f.cardinality == MANY and f.subject == "user" and attribute not in ("work", "name"):
        head = min(f.value, default="", key=lambda w: (len(w), w)) if len(f.value) == 1 else " ".join(sorted(f.value))
        return f"{f.subject}/{attribute}/{head}"[:80]
    return f"{f.subject}/{attribute}"[:80]


def query(content: str, about: str | None) -> str:
    """See `Candidate.query`."""
    parts = [content]
    for word in (about or content).lower().split():
        if word in SYNONYM:
            parts.append(SYNONYM[word])
    if about and about.lower() not in content.lower():
        parts.append(about)
    return " ".join(parts)
