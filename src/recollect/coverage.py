"""How much of a question a text speaks to: whatever is asked, something is nearest, and nearest is not yet an answer.

A word of the question is covered where it stands in the text; where a word stands that is near to it in meaning (a cello for
an instrument); or where the text states what the word asks for, as extraction reads it ("Works as a nurse" is a job). Words
weigh as in the ranking, the rare ones most. A name has to stand there itself, and so have people and pets: Vienna is near to
Berlin, a sister to a brother, and neither answers for the other. Nor does what is said of somebody's mother answer what they
ask about themselves. A date counts as a word; whether it agrees is the ranking's to say.

It says nothing of the order, which is the ranking's; it says which of the ranked to quote where nobody but a rule reads them.
"""

from __future__ import annotations

from functools import lru_cache

from .extract.frames import SYNONYM
from .extract.framing import NOUNS, frames
from .extract.words import KIN, PETS, RIVALS
from .light import pattern
from .search import tokens
from .search.fusion import TERMS, understand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .search.fusion import Statistics

NEAR, ALONE = 0.25, 0.4
"""The cosine of two words in WordLlama, from which on one speaks of the other: an instrument and a cello 0.29, to expire and
to renew 0.32; a bank and a number 0.21, a train and a hotel 0.02. Where no word of the question stands in the text it has to
be more: a laptop and a computer 0.59, but an evening and the time 0.36, weather and December 0.31."""
LIGHT = 0.3
WHOLE = 0.75
"""As much has to be near where no word stands."""
LONGEST = 1_000
"""Characters of a text that are read word by word."""

_NAMED = pattern(r"(?<=[\w,;] )[A-Z][\w'-]+|\w*\d\w*")
_LIVING = pattern(r"(?i)\bdo I do (?:for a living|for work|professionally)\b|(?<=^what )do I do(?=\W*$)")
_FROM = pattern(r"(?i)\bwhere (?:am I|are we|do I come|do we come) from\b")
_LEAD = pattern(
    r"(?i)^(?:(?:hey|hi|so|ok|and|please),? )*(?:do you (?:still )?(?:remember|know|recall)|(?:can|could) you (?:please )?(?:tell|remind) me"
    r"|(?:tell|remind) me|i (?:forgot|forget)|what (?:do you know|do you remember|did i (?:tell|say to) you|have i told you) about)"
    r" (?=\S+ \S|my )"
)
"""What only asks that something be answered: "Do you remember my name?"."""
_THEN = pattern(r"(?i)\b(?:did|was|were|used|before|ever|formerly|previous(?:ly)?|earlier|past|once)\b")
_USED_TO = pattern(r"(?i)(?:I |We )?used to ")
_LIKING = pattern(r"(?i)\bdo (?:I|we) (?:like|love|enjoy)\b")
_LIGHT = frozenset(tokens.terms("go come look take make put keep need stand know find show bring start happen please"))
"""Verbs that say little by themselves; those that only ask weigh little already."""
_MINE = pattern(r"(?i)\b(?:my|I|me|our|we)\b")
_OWN = pattern(r"(?i)^(?:please )?(?:remember (?:that )?)?(?:(?:my|our) )?")
_OWNER = pattern(r"(?!(?i:it|that|he|she|there|here|what|who|let|today|where)'s)([\w-]+)'s ")
_STATED: dict[str, tuple[str, ...]] = {
    **NOUNS, "occupation": ("job",), "career": ("job",), "town": ("home",), "country": ("home", "origin"), "born": ("birth", "birth year"),
    "old": ("age", "birth year"), "live": ("home", "home address"), "work": ("job", "employer"), "vehicle": ("drive",), "wake": ("wake up",),
    "hobby": ("like", "play"), "hobbies": ("like", "play"), "languages": ("speak",), "language": ("speak",), "earn": ("earn",), "food": ("diet", "allergic"),
    "eat": ("diet", "allergic"), "afraid": ("fear",), "scared": ("fear",), "fear": ("fear",), "married": ("marital",), "single": ("marital",),
}  # fmt: skip
"""What a word of a question asks for, if it is asked of oneself: attributes of frames."""
_OF_PEOPLE = frozenset(
    """home job employer team age birth origin marital diet allergic like prefer speak earn play drive study birthplace fear drink
    eat know""".split()
)
"""What is only said of people: whoever lives in Hamburg is somebody."""
_SPOUSES = frozenset("wife husband partner spouse".split())
_GROUPS = {
    **dict.fromkeys(_SPOUSES, _SPOUSES),
    **{word: frozenset(("son", "daughter", "child", "children", "kid", "kids")) for word in ("child", "children", "kid", "kids")},
    **{word: PETS | {"pets"} for word in ("pet", "pets")},
}  # fmt: skip
"""The words for people and pets by which one is covered, where that is more than itself."""
_CALLED = frozenset("called named name names".split())
_A_NAME = pattern(r"(?<=[\w,] )(?<!in )(?<!at )(?<!to )(?<!on )(?<!from )[A-Z][a-z]+")
"""Somebody's name, not a place or a day: "two kids, Leo and Mia"."""
_TRIPS = frozenset("trip holiday vacation journey travel".split())
_TOOLS = {
    noun: frozenset(name for name, kind in RIVALS.items() if kind == RIVALS[one])
    for noun, one in (pair.split("=") for pair in "editor=vim ide=vim browser=firefox database=mysql shell=zsh os=linux cloud=aws framework=react".split())
}  # fmt: skip
"""Who uses Neovim has said which editor."""
_ALSO = {"theme": frozenset(("mode",)), "holiday": _TRIPS, "vacation": _TRIPS, "trip": _TRIPS, **_TOOLS}
"""What vectors of single words do not see: dark mode is a theme (0.14)."""


class Coverage:
    """One question, and how much of it texts speak to."""

    def __init__(
        self, question: str, statistics: Statistics, embed: Callable[[Sequence[str]], Any] | None = None
    ) -> None:
        """`embed` gives unit vectors of words, by which NEAR was measured; without it there is no nearness."""
        question = _FROM.sub("what is my hometown", _LIVING.sub("is my job", _said_plainly(question)))
        asked = understand(question)
        named = set(tokens.terms(" ".join(_NAMED.findall(question))))
        weights = {
            term: statistics.rarity(term) * weight * (LIGHT if term in _LIGHT else 1.0)
            for term, weight in asked.terms[:TERMS]
        }
        self._embed = embed
        self.knows_near = embed is not None
        self._weights = list(weights.values())
        self._date = statistics.rarity("") if asked.dates else 0.0
        self._total = sum(self._weights) + self._date
        self._sought = tokens.sought(list(weights))
        spelt = {term: word for word in reversed(tokens.words(question)) for term in tokens.terms(word)}
        self._words = [spelt.get(term, "") for term in weights]
        """As they were written, for what is looked for by meaning."""
        self._named = [i for i, term in enumerate(weights) if term in named]
        self.asks = {what for word in self._words for what in _STATED.get(word, (word,) if word in _TOOLS else ())}
        """The attributes that it asks for."""
        self.is_of_known = bool(self.asks or _people(question))
        """Whether `is_stated` may find what search does not."""
        self._is_mine = _MINE.search(question) is not None
        self._is_of_now = _THEN.search(question) is None
        self._asks_liking = _LIKING.search(question) is not None
        self._people = _people(question)
        self._asked = _words(question).union(*self._people)

    def of(self, text: str, *, is_dated: bool = False) -> float:
        """The share of the question's weight, 0 to 1. `is_dated`: it was said when the question asks for, or speaks of then."""
        words = _words(text)
        if not self._total or any(not group & words for group in self._people):
            return 0.0
        if self.is_of_others(text) or (self._is_of_now and _USED_TO.match(text)):
            return 0.0
        stated = _stated(text)
        (bits,) = tokens.which([text], self._sought)
        missing = [i for i in range(len(self._weights)) if not bits >> i & 1]
        if any(i in missing for i in self._named):
            return 0.0
        stands = len(missing) < len(self._weights) or (is_dated and bool(self._date))
        if missing:
            said = {what for who, what in stated if self._is_of(who)}
            covered = {w for i in missing if (w := self._words[i]) in _GROUPS or said.intersection(_STATED.get(w, ()))}
            covered |= {w for i in missing if words & _ALSO.get(w := self._words[i], frozenset())}
            if self._people and _A_NAME.search(text):
                covered |= {w for i in missing if (w := self._words[i]) in _CALLED}
            stands = stands or bool(covered) or (self._asks_liking and ("user", "like") in stated)
            rest = [w for i in missing if (w := self._words[i]) not in covered]
            covered |= self._near(rest, words, NEAR if stands else ALONE)
            missing = [i for i in missing if self._words[i] not in covered]
        lacks = sum(self._weights[i] for i in missing) + (0.0 if is_dated else self._date)
        share = 1.0 - lacks / self._total
        return share if stands or share >= WHOLE else 0.0

    def is_of_others(self, text: str) -> bool:
        """Whether somebody asks about themselves, and the text speaks of people whom the question does not name."""
        if not self._is_mine:
            return False
        owner = _OWNER.match(_OWN.sub("", text))
        if owner and owner[1].lower() not in self._asked and (owner[1][0].isupper() or owner[1] in KIN):
            return True
        stated = _stated(text)
        return bool(stated) and all(self._is_of_another(who, what) for who, what in stated)

    def is_stated(self, text: str) -> bool:
        """Whether a statement is of what the question asks for, in whatever words: no search by words would find it."""
        words = _words(text)
        if any(words & _TOOLS.get(word, frozenset()) for word in self._words):
            return True
        if self._people and not self.asks and all(group & words for group in self._people):
            return True
        return any(what in self.asks and self._is_of(who) for who, what in _stated(text))

    def _is_of(self, who: str) -> bool:
        """Whether the question is about them."""
        if self._people:
            return any(who in group for group in self._people)
        return who == "user" if self._is_mine else who in self._asked

    def _is_of_another(self, who: str, what: str) -> bool:
        """Whether something is said of a person whom the question does not speak of. Who holds a role is said of oneself."""
        if who == "user" or who.removesuffix("'s") in self._asked:
            return False
        if what == "name" and who in KIN:
            return "name" in self.asks
        return who.endswith("'s") or (what != "name" and (who in KIN or what in _OF_PEOPLE))

    def _near(self, asked: Sequence[str], words: frozenset[str], least: float) -> set[str]:
        asked = [w for w in asked if _is_word(w) and w not in KIN]
        others = [w for w in sorted(words) if _is_word(w) and w not in tokens.STOPWORDS]
        if not asked or not others or self._embed is None:
            return set()
        vectors = self._embed([*asked, *others])
        best = (vectors[: len(asked)] @ vectors[len(asked) :].T).max(axis=1)
        return {word for word, cosine in zip(asked, best, strict=True) if cosine >= least}


def _said_plainly(question: str) -> str:
    return _LEAD.sub("", question).replace("get up", "wake up").replace("time zone", "timezone")


def _is_word(text: str) -> bool:
    return len(text) > 2 and text.isascii() and text.isalpha()


@lru_cache(maxsize=2048)
def _words(text: str) -> frozenset[str]:
    text = text[:LONGEST].replace("VS Code", "VSCode")
    return frozenset(word.removesuffix("'s") for word in tokens.words(text))


def _people(question: str) -> tuple[frozenset[str], ...]:
    """For each of the people and pets that a question names by what they are, the words that may stand for it."""
    return tuple(
        _GROUPS.get(word) or frozenset((word, word.removesuffix("s"), f"{word}s", SYNONYM.get(word, word)))
        for word in sorted(_words(question))
        if word in KIN or word.removesuffix("s") in KIN or word in _GROUPS
    )


@lru_cache(maxsize=2048)
def _stated(text: str) -> frozenset[tuple[str, str]]:
    """What a statement is about: whom (the user, or by the word for them), and which attribute of theirs."""
    if len(text) > LONGEST:
        return frozenset()
    text = _OWN.sub("", text)
    # Of "Tom's salary" the frame says Tom, and of "rent" that it is the rent: whose it is stands in the text alone.
    first = text.partition(" ")[0].lower()
    return frozenset(
        (who, f.attribute) for f in frames(text) if f.subject and not f.past for who in _whom(first, f.subject.split())
    )


def _whom(first: str, subject: list[str]) -> list[str]:
    """By which words they are known: "daughter Emma" by both, the neighbour's dog as the neighbour's."""
    owner = next((word for word in (first, subject[0]) if word.endswith("'s")), None)
    return subject if owner is None else [owner]
