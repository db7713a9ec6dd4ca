"""A sentence cut into clauses, and each freed of the little words around it.

"As I said, I don't live in Kiel anymore" is "I don't live in Kiel" with the marks *again* and *over*. Marks are what the
little words tell about the statement: that it is new (now, these days), that it comes on top (also, too), that it mends
something (actually), that it is over (no longer, anymore).
"""

from __future__ import annotations

from .words import HABIT, ING, PAST, PREPOSITIONS, THIRD, low, one_of

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

DROPPED = {
    "really": "", "also": "also", "now": "now", "currently": "now", "just": "", "already": "", "actually": "mend",
    "still": "", "absolutely": "", "definitely": "", "strongly": "", "personally": "", "both": "", "finally": "done",
    "recently": "", "basically": "", "simply": "", "truly": "", "totally": "", "honestly": "", "officially": "", "too": "also",
    "presently": "now", "nowadays": "now", "quite": "", "much": "", "generally": "", "obviously": "", "literally": "",
    "very": "", "especially": "", "particularly": "", "genuinely": "", "all": "", "newly": "now", "instead": "now",
    "sincerely": "", "secretly": "", "kinda": "", "firmly": "", "greatly": "", "deeply": "", "ever": "", "therefore": "",
    "successfully": "", "accidentally": "", "completely": "", "fully": "", "formally": "", "since": "",
}  # fmt: skip
BE = frozenset("am is are was were be".split())


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
                and (lowered[j] in DROPPED or lowered[j] in HABIT)
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
                    and (lowered[i + 1] in PAST or lowered[i + 1] in THIRD or lowered[i + 1] in BE)
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
        if lowered[k] in one_of("is are was were has") or (lowered[k] in THIRD and lowered[k] not in NOUNLIKE):
            return word in one_of("my our the his her") or k == j + 1 or (comma and k <= j + 2)
    return False


NOUNLIKE = frozenset(
    "works plays uses likes runs tests logs jobs books plans calls texts releases builds stores images mirrors drinks covers caches studies posts walks records charges points dates boxes files orders reports designs programs codes".split()
) - {"works", "runs", "uses", "likes", "plays"}


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
