"""One scorer for every engine: given a question and some hundred candidates, which are the evidence?

The idea: **what a turn is about is said around it.** A reply seldom repeats the words of its question, and a story
names its subject once and then says "it". So a term of the question counts for a candidate where it stands in the
candidate itself (in full), in the turns just before and after (less with distance, and less after than before, since
people answer what came earlier), or anywhere in the same sitting (a little). Each term counts once, at its nearest
place, weighed by how rare it is among this user's events (the idf of BM25). Counting repetitions and dividing by
length, BM25's other half, made conversations worse; only a page of text counts less than a turn. That one sum is most
of the ranking; it needs no vectors and no training, and its two shares are the parts `words` and `neighbours`.

To it are added, all on the scale "1 = every word of the question stands in this very turn":

- `meaning`: the cosine of question and turn, and of the turns before and after, where there are vectors. The names of
  speakers are left out of the question first (`Question.meaning`): they are rare tokens with long vectors, in nearly
  every turn of a conversation, and drown the rest (the cosine alone finds 0.29 of the evidence with, 0.59 without).
- `speaker`: the question names one of the speakers, and this turn is theirs. "What did Kim paint?" is answered by Kim.
- `time`: the question names a date, and the turn was said then or speaks of then (read against the day it was said);
  or the question asks *when*, and the turn says when.
- `form`: a turn that ends in a question is worth less than one that tells, and one that only repeats what is on record
  much less; one that follows another's question is worth more, and one that names something or someone.
- `recency`: halves every 30 days; a whisper, unless the question asks for the latest.
- `pin`, `affinity`: as the caller says.

Scores are added, never ranks: the size of a lead is information. The weights are round numbers near those that a
listwise logistic model learns; it learns nearly the same ones whichever conversation is left out. The order is total
and deterministic: by score, then the newer, then by id.

This module is pure: no database, no numpy, no clock. The engine brings documents, document frequencies and, if it has
vectors, cosines; a `Ranker` ranks what was found, says which neighbours of the best to fetch, and ranks again:

    question = understand(text, speakers(found))        # after the words, before the vectors
    ranker = Ranker(question, Statistics(count, frequencies))
    ranker.add(found)
    ranker.add(fetch(ranker.wanted()))
    hits = ranker.best(20)
"""

from __future__ import annotations

from math import log, log2
from operator import attrgetter

from ..light import dataclass, pattern
from . import times, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

IGNORE_CASE = 2  # re.I, without importing re for it

__all__ = [
    "Doc",
    "Question",
    "Ranked",
    "Ranker",
    "Statistics",
    "Weights",
    "Words",
    "rank",
    "speaker_of",
    "speakers",
    "understand",
]


class Doc:
    """A candidate: an event, or a memory (no conversation, so no neighbours).

    Not frozen: a search makes hundreds, and `cosine` is often known last. It is the cosine of `Question.meaning` and
    this text, None where there is no vector (yet). Written out: `dataclasses` takes a hook 20 ms to import."""

    __slots__ = (
        "affinity", "also", "conversation", "cosine", "created_at", "id", "pinned", "repeats", "seq", "speaker", "text",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        text: str,
        conversation: str = "",
        seq: int = 0,
        created_at: int = 0,
        speaker: str = "",  # a name if there is one, else the role; "Kim: ..." at the head of the text will do as well
        cosine: float | None = None,
        pinned: bool = False,
        affinity: float = 0.0,  # 0..1, only when a search is widened to other workspaces
        also: str = "",  # what else it is found by: tags, path, tool, name, title
        repeats: bool = False,  # it only says what is on record elsewhere, as an answer without a model does
    ) -> None:
        self.id = id
        self.text = text
        self.conversation = conversation
        self.seq = seq
        self.created_at = created_at
        self.speaker = speaker
        self.cosine = cosine
        self.pinned = pinned
        self.affinity = affinity
        self.also = also
        self.repeats = repeats


@dataclass(frozen=True)
class Statistics:
    """How many events the user has, and in how many of them a term stands (absent: in none, so it is rare)."""

    count: int
    frequencies: Mapping[str, int] = {}  # never written to

    def rarity(self, term: str) -> float:
        df = min(self.frequencies.get(term, 0), self.count)
        return log(1.0 + (self.count - df + 0.5) / (df + 0.5))


@dataclass(frozen=True)
class Weights:
    """What each thing is worth, where 1 is every word of the question in the turn itself."""

    meaning: float = 0.6
    meaning_before: float = 0.5  # of that, for the turn before
    meaning_after: float = 0.3
    speaker: float = 0.6
    speaker_first: float = 0.3  # where the question names two, for the first of them: most often the one who acts
    speaker_self: float = 0.15  # where it says "I" or "my", for the user's own turns; small, since it is not measured
    date_said: float = 1.2
    date_meant: float = 0.7
    when: float = 0.4
    asks: float = -0.15
    repeats: float = -0.5
    answers: float = 0.1
    names: float = 0.1
    recency: float = 0.02
    recency_asked: float = 0.2
    pin: float = 0.3
    affinity: float = 0.2


@dataclass(frozen=True)
class Question:
    """A question as the scorer reads it."""

    text: str
    meaning: str  # what to embed: the text without the names of speakers
    terms: tuple[tuple[str, float], ...]  # each with its weight beside rarity: 1, or less for a word that only asks
    named: tuple[str, ...]  # the speakers it names, in order, lower case
    speakers: frozenset[str]  # all parts of the names of all speakers, lower case
    dates: frozenset[str]
    asks_when: bool
    asks_latest: bool
    asks_of_self: bool


class Ranked:
    """A candidate with its score and what that is made of; the parts sum to the score."""

    __slots__ = ("doc", "parts", "score")

    def __init__(self, doc: Doc, score: float, parts: dict[str, float]) -> None:
        self.doc = doc
        self.score = score
        self.parts = parts


WEIGHTS = Weights()
PARTS = ("words", "neighbours", "meaning", "speaker", "time", "form", "recency", "pin", "affinity")

# A term found this many turns away counts this much. In descending order: the first place found is the best.
NEAR = ((-1, 0.8), (-2, 0.6), (1, 0.6), (2, 0.45), (-3, 0.4), (3, 0.3))
IN_SITTING = 0.2
SITTING_GAP_MS = 3_600_000  # an hour of silence ends a sitting
HALF_LIFE_MS = 30 * 86_400_000
LOOKED_AT = 40  # as many of the best are looked at for dates and names, at up to 60 us a text: 60 found no more of LoCoMo (the dev half)
SCANNED = 4000  # characters of a text that are read: of a longer one the engine passes the part that matched
ORDINARY = 800  # characters of a turn, up to which its length does not matter
TERMS = 64  # of a question are looked for, the rarest

# Words that ask rather than name: rare in what people say, so their rarity would mislead.
_ASKING = frozenset(
    tokens.terms(
        """kind type sort specific name mention describe main reason way thing stuff something someone recently
        currently ever first last new time date day year month certain particular plan call said tell talk discuss
        think feel able use based consider likely still want different according"""
    )
)
_ASKING_WEIGHT = 0.3
_WHEN = pattern(r"\b(when|what (?:date|day|month|year|time)|how long|which (?:day|month|year))\b", IGNORE_CASE)
_LATEST_WORDS = ("latest", "newest", "most recent", "currently", "these days", "right now", "at the moment")
_LATEST = pattern(rf"\b({'|'.join(_LATEST_WORDS)})\b", IGNORE_CASE)
_SELF = pattern(r"\b(?:I|[Mm]y|[Mm]ine)\b")
_HEAD = pattern(r"\s*(?:[\[(][^\])]{1,60}[\])]\s*)?([A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30}){0,2}):\s")
_NAME = pattern(r" [A-Z]\w{2,}")
_TOLD = frozenset({".", "!"})  # how most of what is said ends
_ROLES = frozenset({"", "user", "assistant", "system", "tool", "human", "ai", "agent"})


def speaker_of(doc: Doc) -> str:
    """Who said it, lower case: the speaker given, or where that is a role, the name at the head of the text."""
    who = doc.speaker.lower()
    if who in _ROLES and ":" in (start := doc.text[:160]) and (head := _HEAD.match(start)):
        return head.group(1).lower()
    return who


def speakers(docs: Iterable[Doc]) -> set[str]:
    """Who speaks in these documents: names, not roles."""
    return {speaker_of(doc) for doc in docs} - _ROLES


def understand(text: str, speakers: Iterable[str] = ()) -> Question:
    """Read a question, knowing who has spoken, so that a speaker's name is not taken for a word to look for."""
    if len(text) > SCANNED:  # a pasted page is a query too: what is asked stands at its head or its end
        text = f"{text[: SCANNED // 2]} {text[-SCANNED // 2 :]}"
    called: dict[str, str] = {}
    for name in sorted({s.lower() for s in speakers} - _ROLES):
        for part in tokens.words(name):
            if len(part) >= 3:
                called.setdefault(part, name)
    named: dict[str, None] = {}
    kept: list[str] = []
    found: dict[str, float] = {}
    for chunk in text.split():
        who = _who(chunk, called)
        if who is not None:
            named[who] = None
            continue
        kept.append(chunk)
        for term in tokens.terms(chunk):
            found[term] = _ASKING_WEIGHT if term in _ASKING else 1.0
    dates = times.dates(text)
    if dates:  # these are matched as dates; as words they would find other years' Julys
        spelt = times.date_words(text)
        found = {term: weight for term, weight in found.items() if term not in spelt} or found
    return Question(
        text=text,
        meaning=" ".join(kept) or text,
        terms=tuple(found.items()),
        named=tuple(named),
        speakers=frozenset(called),
        dates=dates,
        asks_when=bool(_WHEN.search(text)),
        asks_latest=any(word in text.lower() for word in _LATEST_WORDS) and bool(_LATEST.search(text)),
        asks_of_self=bool(_SELF.search(text)),
    )


def _who(chunk: str, called: Mapping[str, str]) -> str | None:
    """The speaker that a word of the question names: `Melanie's`, or `Mel` where only one speaker begins like that."""
    if not called or not chunk.lstrip("\"'([")[:1].isupper():
        return None
    for word in tokens.words(chunk):
        if word in called:
            return called[word]
        if 3 <= len(word) <= 5:
            fits = {who for part, who in called.items() if part.startswith(word)}
            if len(fits) == 1:
                return fits.pop()
    return None


class _Seen:
    """What has been read in a document, once, however often it is ranked."""

    __slots__ = ("asks", "base", "bits", "density", "doc", "fixed", "names", "seq", "time", "who", "words")

    bits: int
    """The terms of the question that it has."""
    words: float
    """What they are worth."""
    fixed: tuple[float, float, float, float, float]
    """Speaker, time, recency, pin, affinity."""
    base: float
    """The sum of all of these: what does not depend on who else is here."""

    def __init__(self, doc: Doc, who: str, asks: float) -> None:
        self.doc = doc
        self.who = who
        self.asks = asks
        self.seq = doc.seq
        self.density = 1.0
        self.names: float | None = None  # these two only once it is among the best
        self.time = 0.0


DIGITS = 12  # of a score that count: sums of the same parts in another order differ behind them

# (minus the score, minus the time, id: best first; what was seen, and what depends on the others: neighbours, meaning,
# form). Its order is the ranking, so that a sort compares numbers and calls nothing.
_Scored = tuple[float, int, str, _Seen, float, float, float]


class Words:
    """What of a question's weight stands in a text: the part `words` of a score, for who needs no other."""

    def __init__(self, question: Question, statistics: Statistics | None = None) -> None:
        """Without statistics it can be told which terms a text has, and what they are worth once they are weighed."""
        self._weights = dict(question.terms)
        terms = list(self._weights)
        self.is_few = len(terms) <= TERMS
        """Whether all are looked for: of more it is the rarest, and statistics come first."""
        if statistics is not None and not self.is_few:
            terms = list(self._rarities(terms, statistics))[:TERMS]
        self._terms = terms
        self._sought = tokens.sought(terms)
        self._shares: list[tuple[int, float]] = []
        self._share: dict[int, float] = {}
        if statistics is not None:
            self.weigh(statistics)

    def _rarities(self, terms: Iterable[str], statistics: Statistics) -> dict[str, float]:
        """What each term weighs, the rarest first."""
        found = {term: statistics.rarity(term) * self._weights[term] for term in terms}
        return {term: found[term] for term in sorted(found, key=lambda term: -found[term])}

    def weigh(self, statistics: Statistics) -> None:
        """Say how rare the terms are."""
        rarities = self._rarities(self._terms, statistics)
        total = sum(rarities.values()) or 1.0
        places = {term: i for i, term in enumerate(self._terms)}
        self._shares = [(places[term], rarity / total) for term, rarity in rarities.items()]
        self._share = {0: 0.0}

    def bits(self, texts: Sequence[str], counts: dict[str, int] | None = None) -> list[int]:
        """The terms of the question that each text has; `counts` as `tokens.which` takes them."""
        return tokens.which(texts, self._sought, counts)

    def worth(self, bits: int) -> float:
        """The share of the question's weight that these terms carry."""
        share = self._share.get(bits)
        if share is None:
            share = self._share[bits] = sum(s for i, s in self._shares if bits >> i & 1)
        return share

    def shares(self, texts: Sequence[str], bits: Sequence[int]) -> list[float]:
        """What each text is worth by the words in it; a page has every word somewhere and counts less."""
        found = map(self.worth, bits)
        return [
            share * _density(text) if len(text) > ORDINARY else share for share, text in zip(found, texts, strict=True)
        ]


class Ranker:
    """Ranks candidates for one question: `add` what was found, `add` what is `wanted` around it, take the `best`."""

    def __init__(self, question: Question, statistics: Statistics, *, now: int = 0, weights: Weights = WEIGHTS) -> None:
        """`now` (milliseconds) is what recency is measured against; 0 leaves recency out."""
        self.question, self.now, self.weights = question, now, weights
        self._words = Words(question, statistics)
        self._seen: dict[str, _Seen] = {}
        self._places: dict[str, list[_Seen]] = {}
        """What is here by conversation."""
        self._alone: list[list[_Seen]] = []
        """What belongs to none, each by itself."""
        self._speaker: dict[str, float] = {}
        if question.named:
            self._speaker[question.named[0]] = weights.speaker if len(question.named) == 1 else weights.speaker_first
        elif question.asks_of_self:
            self._speaker = {"user": weights.speaker_self, "human": weights.speaker_self}

    def add(self, docs: Iterable[Doc]) -> None:
        """Take candidates in; one that is here already stays as it was."""
        # This and `_first_look` are much of a search: what is the same for all is looked up before the loops.
        seen, places, asks, repeats = self._seen, self._places, self.weights.asks, self.weights.repeats
        new: list[_Seen] = []
        texts: list[str] = []
        for doc in docs:
            id = doc.id
            if id in seen:
                continue
            text = doc.text
            told = text[-1:] in _TOLD or not _ends_in_question(text)
            one = seen[id] = _Seen(doc, speaker_of(doc), repeats if doc.repeats else 0.0 if told else asks)
            new.append(one)
            place = doc.conversation
            if place in places:
                places[place].append(one)
            elif place:
                places[place] = [one]
            else:
                self._alone.append([one])
            if len(text) > SCANNED:
                text = text[:SCANNED]
            texts.append(f"{text} {doc.also}" if doc.also else text)
        w, now, dates, speaker = self.weights, self.now, self.question.dates, self._speaker
        worth, known = self._words.worth, self._words._share
        recency = w.recency_asked if self.question.asks_latest else w.recency
        for one, bits in zip(new, self._words.bits(texts), strict=True):
            doc = one.doc
            at = doc.created_at
            one.bits = bits
            words = known.get(bits)
            if words is None:
                words = worth(bits)
            if len(doc.text) > ORDINARY:
                one.density = _density(doc.text)
                words *= one.density
            one.words = words
            by_speaker = speaker.get(one.who, 0.0)
            by_date = w.date_said * _agreement(dates, times.day(at)) if dates else 0.0
            by_recency = (recency * 0.5 ** ((now - at) / HALF_LIFE_MS) if at < now else recency) if now else 0.0
            by_pin = w.pin if doc.pinned else 0.0
            by_affinity = w.affinity * doc.affinity
            one.fixed = (by_speaker, by_date, by_recency, by_pin, by_affinity)
            one.base = words + one.asks + (by_speaker + by_date + by_recency + by_pin + by_affinity)

    def wanted(self, best: int = 20, reach: int = 3) -> list[tuple[str, int]]:
        """Which (conversation, seq) to fetch: those around the best candidates that are not here yet."""
        keys: dict[tuple[str, int], None] = {}
        for scored in self._first_look()[:best]:
            seen = scored[3]
            place, seq = seen.doc.conversation, seen.seq
            if place:
                have = [other.seq for other in self._places[place]]
                for near in range(max(1, seq - reach), seq + reach + 1):
                    if near not in have:
                        keys[place, near] = None
        return list(keys)

    def best(self, limit: int | None = None) -> list[Ranked]:
        """The best candidates, best first, each with the parts of its score."""
        scored = self._first_look()
        looked_at = scored[:LOOKED_AT]
        if limit is not None and 0 < limit < len(looked_at):
            # A second look only adds. Who would stay behind the last that is wanted even with all of it is not looked at.
            least = looked_at[limit - 1][0] + self._most_by_second_look()
            looked_at = [one for one in looked_at if one[0] <= least]
        self._look_again([one[3] for one in looked_at if one[3].names is None])
        scored[: len(looked_at)] = [
            (round(score - (seen.names or 0.0) - seen.time, DIGITS), at, id, seen, around, meaning, form)
            for score, at, id, seen, around, meaning, form in looked_at
        ]
        scored.sort()
        return [self._ranked(one) for one in scored[:limit]]

    def _first_look(self) -> list[_Scored]:
        """Everything scored by all that is cheap to know, best first."""
        w = self.weights
        cosines = [seen.doc.cosine for seen in self._seen.values() if seen.doc.cosine is not None]
        typical = sum(cosines) / len(cosines) if cosines else 0.0  # stands in for a vector that is not there (yet)
        share, share_before, share_after = w.meaning if cosines else 0.0, w.meaning_before, w.meaning_after
        alone = share_before * typical + share_after * typical
        scored: list[_Scored] = []
        add = scored.append
        for sitting in self._sittings():
            if len(sitting) == 1:
                seen = sitting[0]
                doc = seen.doc
                cosine = doc.cosine
                meaning = ((typical if cosine is None else cosine) + alone) * share
                add((-round(seen.base + meaning, DIGITS), -doc.created_at, doc.id, seen, 0.0, meaning, seen.asks))
                continue
            anywhere = 0
            for seen in sitting:
                anywhere |= seen.bits
            by_number = {seen.seq: seen for seen in sitting}
            if len(by_number) < len(sitting):  # passages of one event: the best of them stands for it
                for seen in sitting:
                    other = by_number[seen.seq]
                    if seen is not other and _alone(seen, typical, share) >= _alone(other, typical, share):
                        by_number[seen.seq] = seen
            for seq, seen in by_number.items():
                doc = seen.doc
                around, near, form = 0.0, alone, seen.asks
                before, after = by_number.get(seq - 1), by_number.get(seq + 1)
                if before is not None or after is not None:
                    near = share_before * _cosine(before, typical) + share_after * _cosine(after, typical)
                    if before is not None and before.who != seen.who and "?" in before.doc.text:
                        form += w.answers
                if anywhere != seen.bits:
                    around = self._around(by_number, seq, seen.bits, anywhere)
                cosine = doc.cosine
                meaning = ((typical if cosine is None else cosine) + near) * share
                score = seen.base + (form - seen.asks) + around + meaning
                add((-round(score, DIGITS), -doc.created_at, doc.id, seen, around, meaning, form))
        scored.sort()
        return scored

    def _look_again(self, best: Sequence[_Seen]) -> None:
        """Of some of the best what costs more to know: do they say when, do they name something?"""
        q, w = self.question, self.weights
        for seen in best:
            text = seen.doc.text[:SCANNED]
            seen.names = w.names if _names(text, q.speakers) else 0.0
            if q.asks_when and times.has_time(text):
                seen.time += w.when
            if q.dates and times.may_have_time(text):
                seen.time += w.date_meant * _agreement(q.dates, times.dates(text, seen.doc.created_at))

    def _most_by_second_look(self) -> float:
        """The most that it can add, and a little for the rounding."""
        q, w = self.question, self.weights
        return w.names + (w.when if q.asks_when else 0.0) + (w.date_meant if q.dates else 0.0) + 1e-9

    def _ranked(self, scored: _Scored) -> Ranked:
        score, _, _, seen, around, meaning, form = scored
        speaker, time, *rest = seen.fixed
        names = seen.names or 0.0
        parts = (seen.words, around, meaning, speaker, time + seen.time, form + names, *rest)
        return Ranked(seen.doc, -score, {name: part for name, part in zip(PARTS, parts, strict=True) if part})

    def _sittings(self) -> Iterator[list[_Seen]]:
        """What is here by sitting, each by number: one conversation, cut where an hour passes in silence."""
        yield from self._alone
        for place in self._places.values():
            if len(place) == 1:
                yield place
                continue
            place.sort(key=_by_number)
            first = 0
            for i in range(1, len(place)):
                if place[i].doc.created_at - place[i - 1].doc.created_at > SITTING_GAP_MS:
                    yield place[first:i]
                    first = i
            yield place[first:]

    def _around(self, sitting: Mapping[int, _Seen], seq: int, covered: int, anywhere: int) -> float:
        """What the terms that a turn itself lacks are worth, each at the nearest place where it stands."""
        total = 0.0
        for offset, share in NEAR:
            near = sitting.get(seq + offset)
            if near is not None:
                new = near.bits & ~covered
                if new:
                    total += share * near.density * self._words.worth(new)
                    covered |= new
        return total + IN_SITTING * self._words.worth(anywhere & ~covered)


def rank(
    question: str, docs: Iterable[Doc], statistics: Statistics, *, now: int = 0, weights: Weights = WEIGHTS
) -> list[Ranked]:
    """All in one, for documents that are all there: read the question, rank them, best first."""
    docs = list(docs)
    ranker = Ranker(understand(question, speakers(docs)), statistics, now=now, weights=weights)
    ranker.add(docs)
    return ranker.best()


_by_number = attrgetter("seq")


def _cosine(seen: _Seen | None, otherwise: float) -> float:
    return otherwise if seen is None or seen.doc.cosine is None else seen.doc.cosine


def _alone(seen: _Seen, typical: float, share: float) -> float:
    """What a passage is worth by itself, to be compared with others of the same event."""
    return seen.base + share * _cosine(seen, typical)


def _density(text: str) -> float:
    """1 for a turn of ordinary length; less for a page, which has every word somewhere: 0.8 at 1,600, 0.6 at 5,000."""
    return 1.0 if len(text) <= ORDINARY else 1.0 / (1.0 + 0.25 * log2(len(text) / ORDINARY))


def _ends_in_question(text: str) -> bool:
    """What stands in brackets at the end (a caption, an attachment) does not count."""
    end = text[-400:].rstrip()
    if end.endswith("]"):
        end = end[: end.rfind("[")].rstrip()
    return end.endswith(("?", "\uff1f"))


def _names(text: str, but: frozenset[str]) -> bool:
    """Is there a capital inside a sentence, other than of these names? To look behind in Python is four times as fast."""
    for match in _NAME.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if (before == "," or "a" <= before <= "z") and match.group()[1:].lower() not in but:
            return True
    return False


def _agreement(asked: frozenset[str], given: frozenset[str]) -> float:
    """How much of the dates asked for is there, a day counting more than a month, a month more than a year."""
    both = asked & given
    return sum(map(_exactness, both)) / sum(map(_exactness, asked)) if both else 0.0


def _exactness(date: str) -> float:
    return 3.0 if len(date) == 10 else 2.0 if "-" in date else 0.3
