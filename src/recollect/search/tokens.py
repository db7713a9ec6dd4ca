"""Words as search sees them: one tokenizer for events, memories and questions, the same on every database.

A text becomes a list of *terms*. Case, accents and apostrophes go; endings go too (`paintings`, `painted` and
`painting` are one term, by Porter's rules), and so do the irregular forms no rule reaches (`went` is `go`, `children`
is `child`). What people search for exactly is kept exactly: numbers, dates, versions, and identifiers, which are
indexed whole *and* in parts (`parse_config`, `parseConfig` and `src/parse.py` are all found by `parse`). A script
written without spaces is cut into overlapping pairs of characters, and a Chinese character, which may be a word, also
stands for itself. Nothing here needs more than the standard library.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain

from ..light import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Sought = tuple[str, int, tuple[str, ...]]  # a term, its bit, its hints

_RUN = pattern(r"\w+(?:'\w+)*")
# The joints that identifiers, versions, dates and paths have inside; possessive, so linear on 10 KB of "aaaa".
_JOINED = pattern(r"(?<!\w)\w++(?:[./:\\@+#-]\w++)++")
_JOINT = pattern(r"\w[+-]\w")
_CAMEL = pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_PARTS = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: no spaces between words (Hangul has, but its endings stick).
_UNSPACED = pattern(r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+)")
_HAN = pattern(r"[\u3400-\u9fff\uf900-\ufaff]")

STOPWORDS = frozenset(
    """a about after again against all also am an and any are aren as at be because been before being below between both
    but by can cannot could couldn d did didn do does doesn doing don done down during each few for from further had
    hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me might more most must my myself no nor not now of off on once only or other our ours ourselves out over own
    re s same shall she should shouldn so some such t than that the their theirs them themselves then there these they
    this those through to too under until up upon us ve very was wasn we were weren what when where which while who
    whom whose why will with won would wouldn yes you your yours yourself yourselves im ive dont didnt thats lets let
    oh ok okay hey hi hello wow yeah yep got get gets getting gonna wanna really much many like""".split()
)

# The first of each is what the others become: forms no rule reaches, and a few words that people use for one another.
_FORMS = """
be am is are was were been being|go went gone goes|have has had having|do did done does|say said|make made
get got gotten|take took taken|see saw seen|come came|think thought|know knew known|give gave given|find found
tell told|become became|leave left|feel felt|bring brought|begin began begun|keep kept|hold held|write wrote written
stand stood|hear heard|mean meant|meet met|run ran|pay paid|sit sat|speak spoke spoken|lead led|grow grew grown
lose lost|fall fell fallen|send sent|build built|understand understood|draw drew drawn|break broke broken
spend spent|rise rose risen|drive drove driven|buy bought|wear wore worn|choose chose chosen|eat ate eaten
teach taught|sell sold|catch caught|fight fought|throw threw thrown|sing sang sung|swim swam swum|fly flew flown
ride rode ridden|win won|sleep slept|dream dreamt|learn learnt|forget forgot forgotten|wake woke woken
hide hid hidden|bite bit bitten|steal stole stolen|tear tore torn|shake shook shaken|freeze froze frozen
drink drank drunk|ring rang rung|sink sank sunk|stick stuck|strike struck|swing swung|hang hung|dig dug|feed fed
shoot shot|light lit|lend lent|bend bent|deal dealt|sweep swept|weep wept|creep crept|lay laid|seek sought
bind bound|wind wound|child children kid kids|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese
person people|wife wives|life lives|knife knives|leaf leaves|shelf shelves|wolf wolves|half halves|loaf loaves
self selves|mother mom mum mommy mama moms mums|father dad daddy papa dads
photo picture pic photograph pics photos pictures|television tv|bicycle bike|refrigerator fridge|movie film
grandmother grandma granny|grandfather grandpa|good better best|bad worse worst|far farther farthest
family fam|favorite favourite fav|color colour
"""
_IRREGULAR = {
    form: first for first, *forms in map(str.split, _FORMS.strip().replace("\n", "|").split("|")) for form in forms
}

_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_VOWELS = frozenset("aeiouy")


def _measure(w: str) -> int:
    """How many times a run of vowels is followed by a run of consonants (Porter's m)."""
    count, before = 0, False
    for i, ch in enumerate(w):
        vowel = ch in "aeiou" or (ch == "y" and i > 0 and w[i - 1] not in "aeiou")
        if before and not vowel:
            count += 1
        before = vowel
    return count


def _has_vowel(w: str) -> bool:
    return not _VOWELS.isdisjoint(w[1:]) or w[:1] in tuple("aeiou")


def _ends_cvc(w: str) -> bool:
    return len(w) >= 3 and w[-1] not in "aeiouwxy" and w[-2] in "aeiouy" and w[-3] not in "aeiou"


_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP3 = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""))
_STEP4 = (  # the longest first, as they are tried
    "ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent", "ism", "ate", "iti", "ous", "ive",
    "ize", "al", "er", "ic", "ou",
)  # fmt: skip
# Asked all at once: most words have none of them, and a new process has to stem every word that it meets.
_ENDINGS2, _ENDINGS3 = tuple(ending for ending, _ in _STEP2), tuple(ending for ending, _ in _STEP3)


class _Stems(dict[str, str]):
    """The stems met so far; it starts over when full."""

    def __missing__(self, w: str) -> str:
        if len(self) >= 65_536:
            self.clear()
        found = self[w] = _stem(w)
        return found


_STEMS = _Stems()


def stem(w: str) -> str:
    """Porter's stem of a lower-case English word; anything else comes back as it is."""
    return _STEMS[w]


def _stem(w: str) -> str:
    if len(w) > 40 or not (w.isascii() and w.isalpha() and w.islower()):
        return w
    w = _IRREGULAR.get(w, w)
    if len(w) < 3:
        return w
    if w.endswith("s"):
        if w.endswith(("sses", "ies")):
            w = w[:-2]
        elif not w.endswith("ss"):
            w = w[:-1]
    if w.endswith("eed"):
        if _measure(w[:-3]) > 0:
            w = w[:-1]
    else:
        for ending in ("ed", "ing") if w.endswith(("ed", "ing")) else ():
            if w.endswith(ending) and _has_vowel(w[: -len(ending)]):
                w = w[: -len(ending)]
                if w.endswith(("at", "bl", "iz")):
                    w += "e"
                elif len(w) > 1 and w[-1] == w[-2] and w[-1] not in "lszaeiou":
                    w = w[:-1]
                elif _measure(w) == 1 and _ends_cvc(w):
                    w += "e"
                break
    if w.endswith("y") and _has_vowel(w[:-1]):
        w = w[:-1] + "i"
    for ending, other in _STEP2 if w.endswith(_ENDINGS2) else ():
        if w.endswith(ending):
            if _measure(w[: -len(ending)]) > 0:
                w = w[: -len(ending)] + other
            break
    for ending, other in _STEP3 if w.endswith(_ENDINGS3) else ():
        if w.endswith(ending):
            if _measure(w[: -len(ending)]) > 0:
                w = w[: -len(ending)] + other
            break
    for ending in _STEP4 if w.endswith(_STEP4) else ():
        if w.endswith(ending):
            cut = w[:-3] if ending in ("sion", "tion") else w[: -len(ending)]
            if _measure(cut) > 1:
                w = cut
            break
    if w.endswith("e"):
        m = _measure(w[:-1])
        if m > 1 or (m == 1 and not _ends_cvc(w[:-1])):
            w = w[:-1]
    if w.endswith("ll") and _measure(w) > 1:
        w = w[:-1]
    return w


def _fold(text: str) -> str:
    """Compatibility forms, accents and vowel signs away, case kept (camelCase still has to be seen)."""
    if text.isascii():
        return text
    import unicodedata

    text = unicodedata.normalize("NFKD", text.replace("\u2019", "'"))
    return unicodedata.normalize("NFC", "".join(ch for ch in text if unicodedata.category(ch)[0] != "M"))


def _split(chunk: str) -> Iterator[str]:
    """The words in a run of characters without white space."""
    chunk = _fold(chunk)
    for match in _JOINED.finditer(chunk):
        whole = match.group().lower()
        if not any(ch in "./:\\@#" for ch in whole) and not any(ch.isdigit() for ch in whole):
            yield whole.replace("-", "").replace("+", "")  # de-stress is destress
        elif not whole.replace("/", "").isalpha():
            yield whole  # a path, a version, a date, an address: itself; and/or is not
    for run in _RUN.findall(chunk):
        if run.isascii():
            yield from _word(run)
            continue
        for i, part in enumerate(_UNSPACED.split(run)):
            if i % 2 == 0:
                yield from _word(part) if part else ()
            else:
                yield from (part[i : i + 2] for i in range(max(1, len(part) - 1)))
                yield from _HAN.findall(part) if len(part) > 1 else ()


def _word(run: str) -> Iterator[str]:
    word = run.lower().partition("'")[0]
    yield word
    if "_" in run or _CAMEL.search(run):
        yield from (part.lower() for part in _PARTS.findall(run) if part.lower() != word)


def words(text: str) -> list[str]:
    """The words of a text in order, lower case, not stemmed, nothing left out."""
    return [w for chunk in text.split() for w in _split(chunk)]


def _is_plain(text: str) -> bool:
    return not text or (text.isalnum() and (text.islower() or text.isdigit()))


class _Chunks(dict[str, tuple[str, ...]]):
    """The terms of every run of characters met so far. People repeat themselves: nearly every run of a new text is here
    already, which makes `term_set` five times as fast as tokenizing. It starts over when full, so it stays bounded."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        word, _, rest = chunk.rstrip(".,!?;:").partition("'")
        if chunk.isascii() and (word.isalpha() or word.isdigit()) and _is_plain(word[1:]) and _is_plain(rest):
            word = word.lower()  # an ordinary word or number: a quarter of the time, and no pattern to compile
            found: tuple[str, ...] = () if word in STOPWORDS else (stem(word),)
        else:
            found = tuple(stem(w) for w in _split(chunk) if w not in STOPWORDS)
        if len(chunk) <= 40:
            if len(self) >= 60_000:
                self.clear()
            self[chunk] = found
        return found


_CHUNKS = _Chunks()


def terms(text: str) -> list[str]:
    """The terms of a text in order: stemmed, common words left out."""
    return list(chain.from_iterable(map(_CHUNKS.__getitem__, text.split())))


def term_set(text: str) -> set[str]:
    """The terms of a text, each once."""
    return set(chain.from_iterable(map(_CHUNKS.__getitem__, text.split())))


_FORMS_OF: dict[str, dict[str, tuple[str, ...]]] = {}


def _forms(initial: str) -> dict[str, tuple[str, ...]]:
    """The irregular forms of words with an initial, by their stem; a stem has the initial of its word."""
    if initial not in _FORMS_OF:
        found: dict[str, tuple[str, ...]] = {}
        for form, first in _IRREGULAR.items():
            if first.startswith(initial):
                of = stem(first)
                found[of] = (*found.get(of, (first,)), form)
        _FORMS_OF[initial] = found
    return _FORMS_OF[initial]


def hints(term: str) -> tuple[str, ...]:
    """Parts of a text in lower case of which one must be there if the term is. A stem is the beginning of its words, but
    for a last letter that Porter's rules put there (`happi`, `hope`, `visibl`), unless a form is irregular."""
    others = _forms(term[:1]).get(term, ())
    if len(term) > 2 and term.endswith("i"):
        return (term, term[:-1] + "y", *others)
    return (term[:-1] if len(term) > 2 and term.endswith(("e", "bl")) else term, *others)


# "Lives" is taken for the plural of a life and "leaves" for that of a leaf, since no rule tells them from the verbs.
_TWINS = {"live": "life", "life": "live", "leav": "leaf", "leaf": "leav"}


def twins(term: str) -> tuple[str, ...]:
    """Other terms that are looked for with one, since Porter's rules part forms of one word: `try` from `tries`, `die` from
    `dies`. The index keeps them apart: to change its terms would be to index every store anew."""
    if term in _TWINS:
        return (_TWINS[term],)
    if term[-1:] == "y" and term.isalpha() and not _has_vowel(term[:-1]):
        return (term[:-1] + "i",)
    if term[-1:] == "i" and len(term) > 1 and term.isalpha() and not _has_vowel(term[:-1]):
        return (term[:-1] + "y", term + "e")
    return (term[:-1],) if len(term) == 3 and term.endswith("ie") else ()


def sought(terms: Sequence[str]) -> list[Sought]:
    """What `which` takes: each term with a bit of its own, its twins with the same."""
    return [(form, 1 << i, hints(form)) for i, term in enumerate(terms) for form in (term, *twins(term))]


def which(
    texts: Sequence[str], sought: Sequence[Sought], counts: dict[str, int] | None = None
) -> list[int]:  # fmt: skip
    """Which of some (term, bit, hints) stand in each of some texts, as bits: what `term_set` says, in a tenth of the time,
    since only the runs of characters around a hint are read, and a hint is looked for in all texts at once.

    With `counts`, to what is in there is added in how many texts a term stands anywhere, be it inside a word."""
    found = [0] * len(texts)
    plain: list[int] = []
    ends: list[int] = []
    length = 0
    for i, text in enumerate(texts):
        # Accents, scripts without spaces, words joined to one: there a term need not begin as its word does.
        if not text.isascii() or (("-" in text or "+" in text) and _JOINT.search(text)):
            here = term_set(text)
            for term, bit, _ in sought:
                if term in here:
                    found[i] |= bit
            if counts is not None:
                low = text.lower()
                for term in counts:
                    counts[term] += term in low
        else:
            plain.append(i)
            length += len(text) + 1
            ends.append(length)
    whole = " ".join([texts[i] for i in plain])
    low = whole.lower()
    left = set(counts or ())
    for term, bit, parts in sought:
        is_counted = term in left
        left.discard(term)  # it may be another's twin
        for part in parts:
            last = -1  # the text in which the term was met last
            at = low.find(part)
            while at >= 0:
                n = -1
                if is_counted and (part == term or low.startswith(term, at)):
                    n = bisect_right(ends, at)
                    if n != last:
                        last = n
                        counts[term] += 1  # type: ignore[index]
                if at and whole[at] in _SMALL and whole[at - 1] in _SMALL:
                    at = low.find(part, at + 1)  # inside a word: no term begins there
                    continue
                if n < 0:
                    n = bisect_right(ends, at)
                end = whole.find(" ", at)
                if end < 0:
                    end = length
                run = whole[whole.rfind(" ", 0, at) + 1 : end]
                is_there = term in (_CHUNKS.get(run) or terms(run))
                if is_there:
                    found[plain[n]] |= bit
                if is_counted and n != last:
                    end = at + 1  # it may stand further on
                elif is_there:
                    end = ends[n]  # once is enough
                at = low.find(part, end)
            is_counted = False  # wherever the term stands, the first of its hints does
    return found
