"""A sentence cut into clauses, and a clause read as subject, verb and the rest, then said again in the third person.

"As I said, I don't live in Kiel anymore" is: the user, not, live, "in Kiel", with the marks *again* and *over*. Marks are
what the little words tell about the statement: that it is new (now, these days), that it comes on top (also, too), that
it mends something (actually), that it is over (no longer, anymore).
"""

from __future__ import annotations

from ..light import dataclass
from .words import (
    BASES,
    HABIT,
    ING,
    KIN,
    PARTICIPLE,
    PAST,
    PREPOSITIONS,
    STATES,
    THIRD,
    base_of,
    one_of,
    third,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTRACTED = {
    "i'm": "I am", "im": "I am", "i've": "I have", "ive": "I have", "i'd": "I would", "i'll": "I will", "we're": "we are",
    "we've": "we have", "we'd": "we would", "we'll": "we will", "you're": "you are", "you've": "you have",
    "you'll": "you will", "you'd": "you would",
    "they're": "they are", "they've": "they have", "they'll": "they will", "he's": "he is", "she's": "she is",
    "he'll": "he will", "she'll": "she will", "it'll": "it will",
    "it's": "it is", "that's": "that is", "there's": "there is", "here's": "here is", "what's": "what is",
    "who's": "who is", "where's": "where is", "let's": "let us", "don't": "do not", "dont": "do not",
    "doesn't": "does not", "doesnt": "does not", "didn't": "did not", "didnt": "did not", "isn't": "is not",
    "isnt": "is not", "aren't": "are not", "arent": "are not", "wasn't": "was not", "wasnt": "was not",
    "weren't": "were not", "haven't": "have not", "havent": "have not", "hasn't": "has not", "hasnt": "has not",
    "hadn't": "had not", "can't": "can not", "cant": "can not", "cannot": "can not", "couldn't": "could not",
    "won't": "will not", "wont": "will not", "wouldn't": "would not", "shouldn't": "should not", "mustn't": "must not",
    "gonna": "going to", "gotta": "got to", "wanna": "want to", "ain't": "am not",
}  # fmt: skip

# Said before a statement, meaning nothing for it. Longest first where one begins another.
_OPENERS = tuple(
    sorted(
        (
            tuple(line.split())
            for line in """as i said|like i said|as i told you|like i told you|as i mentioned|as i already said|as mentioned
as i said before|like i said before|as you know|again|once again|by the way|btw|well|oh|so|and|but|anyway|anyways|ok|okay|yes|yeah
yep|yup|sure|right|alright|hi|hello|hey|hi there|hey there|hello there|good morning|good evening|good afternoon|greetings
just so you know|so you know|for context|for your information|fyi|in case it matters|in case you need it|to be clear
just to be clear|for the record|you should know that|you should know|you should also know that|i should mention that
i should mention|i should also mention that|i should say that|i forgot to mention that|i forgot to mention|i forgot to say that
i forgot to say|i forgot to tell you that|i forgot to tell you|let me tell you that|let me tell you|let me add that
just to let you know|i want you to know that|i want you to know|i wanted to tell you that|i wanted to say that|one more thing
fun fact|ps|p.s|honestly|personally|in general|in fact|to be honest|tbh|frankly|thing is|the thing is|it turns out that
it turns out|turns out|turns out that|good news|great news|bad news|big news|update|quick update|small update|guess what
did i mention that|did i mention|did i tell you that|did i tell you|did you know that|i can tell you that|let me just say that
yes exactly|exactly|of course|obviously|clearly|basically|you see|look|listen|luckily|unfortunately|sadly|happily|hooray|yay
thanks|thank you|cool|great|nice|perfect|awesome|haha|lol|hmm|um|uh|erm|no worries|no problem|speaking of which|about me
a bit about me|a little about me|some context|some background|background|context|important|to be precise|more precisely
specifically|in other words|i mean it|believe it or not|i have to say|i must say|i have to admit|i must admit|i admit
i confess|note that|please note that|it is true that|the truth is that|the truth is|truth is|true story|heads up|quick note
i would like you to know that|since you ask|since you asked|if you must know|to answer your question|for what it is worth|fwiw
another thing|on another note|on a side note|side note|for reference|ah|ahh|aha|wow|yikes|phew|whew|ugh|dude|man|folks
fine|first of all|first|firstly|secondly|lastly|then|plus|too bad|that said|having said that|in case you wonder
in case you are wondering|in case you were wondering|if it helps|if you are curious|correct|that is right|indeed""".replace(
                "\n", "|"
            ).split("|")
        ),
        key=len,
        reverse=True,
    )
)
_OPENING: dict[str, tuple[tuple[str, ...], ...]] = {}
for _o in _OPENERS:
    _OPENING[_o[0]] = (*_OPENING.get(_o[0], ()), _o)
# Said before a statement, and meaning something for it.
_MARKED = {
    ("also",): "also", ("additionally",): "also", ("in addition",): "also", ("besides",): "also", ("on top of that",): "also",
    ("now",): "now", ("nowadays",): "now", ("these days",): "now", ("currently",): "now", ("lately",): "now",
    ("as of now",): "now", ("as of today",): "now", ("starting today",): "now", ("from today",): "now",
    ("as of this week",): "now", ("recently",): "now", ("by now",): "now", ("meanwhile",): "now", ("at the moment",): "now",
    ("right now",): "now", ("instead",): "now", ("since recently",): "now", ("for a change",): "now",
    ("actually",): "mend", ("in reality",): "mend",
    ("finally",): "done", ("just",): "", ("please",): "please", ("pls",): "please", ("kindly",): "please",
}  # fmt: skip
_MARKED_WORDS = {tuple(" ".join(k).split()): v for k, v in _MARKED.items()}

# Said after a statement.
_TRAILERS = (
    ("by the way", ""), ("btw", ""), ("just so you know", ""), ("so you know", ""), ("fyi", ""), ("please", "please"),
    ("pls", "please"), ("thanks", ""), ("thank you", ""), ("thx", ""), ("remember", ""), ("you know", ""), ("as you know", ""), ("always have", ""),
    ("as always", ""), ("as usual", ""), ("if that helps", ""), ("if it matters", ""), ("in case you need it", ""),
    ("in case it matters", ""), ("in case that matters", ""), ("too", "also"), ("as well", "also"), ("either", "also"),
    ("also", "also"), ("now", "now"), ("these days", "now"), ("nowadays", "now"), ("at the moment", "now"),
    ("currently", "now"), ("right now", "now"), ("for now", "now"), ("at present", "now"), ("lately", "now"), ("instead", "now"),
    ("anymore", "over"), ("any more", "over"), ("any longer", "over"), ("no more", "over"), ("after all", "over"),
    ("actually", "mend"), ("though", ""), ("tho", ""), ("already", ""), ("again", "again"), ("finally", "done"), ("at last", "done"),
    ("so much", ""), ("a lot", ""), ("very much", ""), ("to be honest", ""), ("tbh", ""), ("honestly", ""), ("really", ""),
    ("haha", ""), ("sorry", ""), ("my bad", ""), ("oops", ""), ("lol", ""), ("ok", ""), ("okay", ""), ("alright", ""), ("yay", ""), (":)", ""), (";)", ""), ("for sure", ""),
    ("of course", ""), ("obviously", ""), ("in general", ""), ("generally", ""), ("for the record", ""), ("if you're curious", ""),
    ("from now on", "standing"), ("going forward", "standing"), ("in future", "standing"), ("in the future", "standing"),
    ("from here on", "standing"), ("from today on", "standing"), ("for reference", ""), ("for context", ""), ("thank god", ""),
    ("since you ask", ""), ("since you asked", ""), ("as i said", ""), ("like i said", ""), ("i guess", "hedge"), ("i think", "hedge"),
    ("i suppose", "hedge"), ("i believe", "hedge"), ("maybe", "hedge"), ("perhaps", "hedge"), ("probably", "hedge"), ("what a day", ""),
    ("full stop", ""), ("period", ""), ("to be precise", ""), ("to be exact", ""), ("mind you", ""), ("you see", ""), ("ever", ""),
    ("by profession", ""), ("by trade", ""), ("by training", ""), ("for a living", ""),
)  # fmt: skip

_TRAILING: dict[str, list[tuple[str, str]]] = {}
for _t in _TRAILERS:
    _TRAILING.setdefault(_t[0].rsplit(" ", 1)[-1], []).append(_t)

_DROPPED = {
    "really": "", "also": "also", "now": "now", "currently": "now", "just": "", "already": "", "actually": "mend",
    "still": "", "absolutely": "", "definitely": "", "strongly": "", "personally": "", "both": "", "finally": "done",
    "recently": "", "basically": "", "simply": "", "truly": "", "totally": "", "honestly": "", "officially": "", "too": "also",
    "presently": "now", "nowadays": "now", "quite": "", "much": "", "generally": "", "obviously": "", "literally": "",
    "very": "", "especially": "", "particularly": "", "genuinely": "", "all": "", "newly": "now", "instead": "now",
    "sincerely": "", "secretly": "", "kinda": "", "firmly": "", "greatly": "", "deeply": "", "ever": "", "therefore": "",
    "successfully": "", "accidentally": "", "completely": "", "fully": "", "formally": "", "since": "",
}  # fmt: skip
_HEDGES = frozenset("maybe perhaps probably possibly might presumably supposedly apparently hopefully almost".split())
_BE = frozenset("am is are was were be".split())
_SUBJECTS = frozenset("i we my our".split())
_PRONOUNS = frozenset("he she it they his her their its".split())

_REWRITE = {
    "my": "their", "mine": "theirs", "me": "them", "i": "they", "myself": "themselves", "our": "their", "ours": "theirs",
    "us": "them", "we": "they", "ourselves": "themselves", "am": "are", "i'm": "they're", "i've": "they've",
    "we're": "they're", "we've": "they've", "you": "the assistant", "your": "the assistant's", "yours": "the assistant's",
    "yourself": "the assistant", "i'll": "they'll", "we'll": "they'll", "i'd": "they'd", "we'd": "they'd",
}  # fmt: skip
_EDGE = ".,;:!?\"'()[]*_"


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
        return tuple(w.strip(_EDGE).lower() for w in self.rest)


def low(word: str) -> str:
    """A word without case and edges."""
    return word.strip(_EDGE).lower()


def words(text: str) -> list[str]:
    """The words of a clause, contractions taken apart, punctuation left on."""
    out: list[str] = []
    parts = text.split()
    for i, part in enumerate(parts):
        key = part.lower().strip(",.;:!?")
        full = _CONTRACTED.get(key)
        if full is not None:
            tail = part[len(part.rstrip(",.;:!?")) :]
            made = full.split()
            if key in ("i'd", "we'd") and i + 1 < len(parts) and low(parts[i + 1]) == "better":
                made[1] = "had"
            # "he's gone" and "it's been" are "has".
            if key.endswith("'s") and i + 1 < len(parts) and low(parts[i + 1]) in one_of("been got had become"):
                made[1] = "has"
            made[-1] += tail
            out += made
        elif key.endswith("'s") and len(key) > 2 and i + 1 < len(parts) and _is_copula(parts, i):
            out += [part[: part.lower().rindex("'s")], "is"]
        else:
            out.append(part)
    return out


_AFTER_COPULA = frozenset(
    "a an the not from in at on called named now also my our allergic vegetarian vegan married single getting moving always".split()
)


def _is_copula(parts: list[str], i: int) -> bool:
    """`My husband's a chef` against `my husband's name`."""
    after = low(parts[i + 1])
    return after in _AFTER_COPULA or (after.isdigit()) or (after in ING and after not in ("living", "working"))


def open_up(tokens: list[str]) -> tuple[list[str], set[str]]:
    """What stands before the statement taken off, and what it meant."""
    marks: set[str] = set()
    while tokens:
        first = low(tokens[0])
        lowered = [low(t) for t in tokens[:7]]
        taken = 0
        for opener in _OPENING.get(first, ()):
            n = len(opener)
            # One that could begin the sentence itself ("so", "right", "first", "now") needs what follows to be a start.
            if tuple(lowered[:n]) == opener and n < len(tokens) and _may_open(opener, tokens, n):
                taken = n
                break
        if not taken:
            for opener, mark in _MARKED_WORDS.items():
                n = len(opener)
                if opener[0] == first and tuple(lowered[:n]) == opener and n < len(tokens):
                    if opener == ("just",) and lowered[1:2] == ["in"]:
                        break
                    taken = n
                    if mark:
                        marks.add(mark)
                    break
        if not taken:
            return tokens, marks
        tokens = tokens[taken:]
    return tokens, marks


_STARTS = frozenset("i we my our the he she it they his her remember please".split())
_LOOSE = frozenset(
    "fine look listen listen man first then important context background update right great nice perfect cool correct thanks thank sure clearly well".split()
)


def _may_open(opener: tuple[str, ...], tokens: list[str], n: int) -> bool:
    if opener[0] not in _LOOSE:
        return True
    return tokens[n - 1][-1:] in ",.!:;-" or (low(tokens[n]) in _STARTS and low(tokens[n]) not in ("the", "my", "our"))


def close_down(text: str) -> tuple[str, set[str]]:
    """What stands after the statement taken off, and what it meant."""
    marks: set[str] = set()
    text = text.rstrip(" ,;:.!?…")
    changed = True
    while changed:
        changed = False
        lowered = text.lower()
        for trailer, mark in _TRAILING.get(lowered.rsplit(" ", 1)[-1].lstrip("("), ()):
            if lowered.endswith(trailer) and len(text) > len(trailer) + 2:
                before = text[: -len(trailer)]
                if before[-1] not in " ,;:-(":
                    continue
                bare = before.rstrip(" ,;:-(")
                # "a lot", "too" ... only as an afterthought of a statement that has something left.
                if len(bare.split()) < 2 or (trailer == "remember" and not before.rstrip().endswith(",")):
                    continue
                if trailer == "ever" and not lowered.startswith(("never", "don't", "do not")):
                    continue
                if trailer in ("for a living", "period", "really", "now", "again", "though", "ok", "okay", "generally") and low(bare.split()[-1]) in one_of("until by is right for the trial every even as from"):  # fmt: skip
                    continue
                text = bare
                if mark:
                    marks.add(mark)
                changed = True
                break
    return text, marks


_CONJUNCTIONS = frozenset("and but so because while although though whereas or plus then since".split())
_ELIDED = frozenset("live work have prefer like love hate use speak play own drive study teach am".split())


def split(tokens: Sequence[str]) -> list[list[str]]:
    """The clauses of a sentence: cut where a conjunction or comma is followed by a subject, or a verb that shares one."""
    parts: list[list[str]] = []
    current: list[str] = []
    lowered = [low(t) for t in tokens]
    i = 0
    while i < len(tokens):
        word = lowered[i]
        comma = i > 0 and tokens[i - 1].endswith((",", ";", ":"))
        if current and word in _CONJUNCTIONS:
            j = i + 1
            while (
                j < len(tokens)
                and (lowered[j] in _DROPPED or lowered[j] in HABIT)
                and lowered[j] not in ("all", "both", "since")
            ):
                j += 1
            if (
                j < len(tokens)
                and (_begins(lowered, j, comma) or lowered[j : j + 2] == ["call", "me"])
                and not (word == "since" and not comma)
            ):
                if word == "or":
                    # "I'd use A or I'd use B": an alternative is no statement.
                    return []
                parts.append(current)
                current = [] if word not in ("because", "so") else [word] if word == "because" else []
                i += 1
                continue
            if (
                word == "and"
                and lowered[i + 1 : i + 2]
                and current
                and low(current[0]) in ("i", "we")
                and lowered[i + 1] in PAST
                and not one_of("have am are was") & set(lowered[1:4])
                and any(low(w) in PAST for w in current[1:3])
            ):
                parts.append(current)
                current = [current[0]]
                i += 1
                continue
            if (
                word == "and"
                and j < len(tokens)
                and lowered[j] in _ELIDED
                and current
                and low(current[0]) in ("i", "we")
                and "to" not in lowered[:i]
            ):
                parts.append(current)
                current = [current[0]]
                i += 1
                continue
        elif (
            current
            and comma
            and (
                (word in _STARTS and word != "the" and _begins(lowered, i, True))
                or (word in one_of("now today currently these nowadays") and {"i", "we"} & set(lowered[i + 1 : i + 3]))
                or (
                    tokens[i][:1].isupper()
                    and i + 1 < len(tokens)
                    and (lowered[i + 1] in PAST or lowered[i + 1] in THIRD or lowered[i + 1] in _BE)
                )
            )
        ):
            parts.append(current)
            current = []
        current.append(tokens[i])
        i += 1
    if current:
        parts.append(current)
    return [p for p in parts if p and low(p[0]) != "because"]


_SECOND = frozenset(
    "am is are was were have has had do does did will can live work prefer like love hate use would used can't don't".split()
)


def _begins(lowered: list[str], j: int, comma: bool) -> bool:
    """Whether a clause of its own begins at j."""
    word = lowered[j]
    after = lowered[j + 1] if j + 1 < len(lowered) else ""
    if word in ("i", "we"):
        return True
    if word in one_of("he she they it"):
        return after in _SECOND or after in THIRD or after in PAST
    # "and my sister lives", "and CI runs on", but not "my sister and my brother live together".
    for k in range(j + 1, min(j + 6, len(lowered))):
        if lowered[k] in PREPOSITIONS or lowered[k] in _CONJUNCTIONS:
            return False
        if lowered[k] in one_of("is are was were has") or (lowered[k] in THIRD and lowered[k] not in _NOUNLIKE):
            return word in one_of("my our the his her") or k == j + 1 or (comma and k <= j + 2)
    return False


_NOUNLIKE = frozenset(
    "works plays uses likes runs tests logs jobs books plans calls texts releases builds stores images mirrors drinks covers caches studies posts walks records charges points dates boxes files orders reports designs programs codes".split()
) - {"works", "runs", "uses", "likes", "plays"}


_NOUNS = frozenset(
    "work test plan call design play report support release store account box phone record name watch match cover".split()
)


def rotate(tokens: list[str]) -> list[str]:
    """`Since Monday I work at X` -> `I work at X since Monday`: what stands before the subject goes to the end."""
    first = low(tokens[0]) if tokens else ""
    if first not in one_of("since at in on for as after before with during when whenever until every most last next yesterday today tomorrow this outside apart besides within over two three once"):  # fmt: skip
        return tokens
    start = 2 if first in ("when", "whenever", "as") else 1
    for i in range(start, min(len(tokens), 9)):
        word = low(tokens[i])
        if word in one_of("i we my our") and (word in ("i", "we") or tokens[i - 1].endswith(",")):
            if first in ("when", "whenever") and not tokens[i - 1].endswith(","):
                continue
            head = [*tokens[:i]]
            head[0] = head[0][:1].lower() + head[0][1:]
            head[-1] = head[-1].rstrip(",")
            return [*tokens[i:], *head]
    return tokens


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
        while words_ and low(words_[-1]) in _DROPPED | dict.fromkeys(HABIT):
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
            elif w in _DROPPED and not (w == "all" and i + 1 < len(tokens) and lowered[i + 1] in ("my", "the")):
                if w in ("since",):
                    return
                if _DROPPED[w]:
                    found.add(_DROPPED[w])
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
        while j < len(tokens) and (lowered[j] in _DROPPED or lowered[j] in HABIT):
            if lowered[j] in HABIT:
                adverbs.append(lowered[j])
            elif _DROPPED[lowered[j]]:
                found.add(_DROPPED[lowered[j]])
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
    if w in _BE:
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
        if w in THIRD and (w not in _NOUNLIKE or (i > 1 and tokens[i - 1][:1].isupper()) or lowered[i - 1] in KIN):
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
            w in _DROPPED
            and i + 1 < len(lowered)
            and (lowered[i + 1] in THIRD or (lowered[i + 1] in BASES and lowered[i - 1].endswith("s")))
        ):
            return i
        if w in PREPOSITIONS and w not in one_of("of for in at from with on"):
            return 0
        if tokens[i - 1].endswith((",", ";")) and i > 1:
            return 0
    return 0


def rewrite(tokens: Sequence[str]) -> list[str]:
    """Words of the first person in the third: `my kids` -> `their kids`."""
    out: list[str] = []
    for token in tokens:
        bare = token.lower().strip(_EDGE)
        to = _REWRITE.get(bare)
        if to is None:
            out.append(token)
        else:
            at = token.lower().find(bare)
            out.append(token[:at] + to + token[at + len(bare) :])
    return out


_NEGATED = {"is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "does": "doesn't", "do": "don't",
            "did": "didn't", "will": "won't", "can": "can't", "has": "hasn't", "could": "couldn't", "would": "wouldn't",
            "should": "shouldn't", "must": "mustn't"}  # fmt: skip


def say(c: Clause, *, rest: Sequence[str] | None = None, negated: bool | None = None) -> str:
    """The clause as a statement in the third person, the user left out as its subject."""
    neg = c.negated if negated is None else negated
    plural = c.subject != "" and _is_plural(c.subject)
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


def _is_plural(subject: str) -> bool:
    last = low(subject.split()[-1])
    if " and " in subject:
        return True
    return last in one_of("children people kids parents") or (
        last.endswith("s") and not last.endswith(("ss", "us", "is", "'s", "ws")) and last[:1] == subject.split()[-1][:1]
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


DEICTIC = frozenset("this these it here below above following that those them such something anything someone".split())
OWN_PLACES = frozenset(
    "repo project codebase workspace week month year team company house office app summer winter spring autumn repository quarter morning evening afternoon weekend".split()
)
