"""A flood: text that nobody wrote by hand, made of words for secrets, which would take longer to judge than is allowed.

Hundreds of such words in a row, with next to nothing between them, are one whatever they say. Where there is more between
them it may be a file: the densest of ten thousand installed files are as dense as that. But in a file each secret has a value
of its own, and stands behind what others stand behind. A flood has secrets without that order, in pieces from its middle.

It is taken out whole. In what is left of one no other may be found: a marker ends a row, and what is redacted has no secrets.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from operator import sub

from .engine import BARRIER, Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    Region = tuple[int, int]

_WORDS = (b"pass", b"pw", b"secret", b"token", b"key", b"auth", b"cred", b"bearer", b"pin", b"cvv", b"cvc", b"otp",
          b"cookie", b"login", b"code", b"seed", b"basic", b"sess", b"://", b"sk-", b"ghp_")  # fmt: skip
_PIECE = 900


def of_words(low: bytes) -> tuple[list[Region], list[Region]]:
    """Where there are hundreds of words for secrets with next to nothing between them, which are floods whatever they say; and where
    there is one for forty-five characters, which may be."""
    places: list[int] = []
    for word in _WORDS:
        at = -len(word)
        for between in map(len, low.split(word)):
            at += between + len(word)
            places.append(at)
        places.pop()
    places.sort()
    sure = _in_a_row(low, places)
    return sure, [
        (first, last)
        for first, last in _dense(places)
        if not any(start <= first and last <= end for start, end in sure)
    ]


def _in_a_row(low: bytes, places: list[int]) -> list[Region]:
    """Where there are four hundred with at most twenty characters from one to the next. A marker ends it, and so does a line: a list of
    codes, keys or counts of tokens has one for each."""
    if len(places) < 400 or min(map(sub, places[399:], places)) > 20 * 400:
        return []
    gaps = [n for n, size in enumerate(map(sub, places[1:], places), 1) if size > 20]
    for end in (BARRIER, b"\n"):
        if end in low:
            gaps += [n for n, (last, place) in enumerate(pairwise(places), 1) if low.find(end, last, place) >= 0]
    ends = sorted({0, *gaps, len(places)})
    return [(places[first], places[end - 1]) for first, end in pairwise(ends) if end - first >= 400]


def _dense(places: list[int]) -> list[Region]:
    """Where two hundred in a row, and the next ones, are forty-five characters apart on average or less; many in all."""
    close = [n for n, size in enumerate(map(sub, places[199:], places)) if size <= 45 * 200]
    rows: list[tuple[int, int]] = []
    for n, last in zip(close, (-200, *close), strict=False):
        first = n if n - last >= 200 else rows.pop()[0]
        rows.append((first, n + 199))
    return [(places[first], places[last]) for first, last in rows if last - first >= _MANY]


_MANY = 800  # what has fewer is not slow


def pieces(region: Region) -> list[Region]:
    """From a quarter, the middle and three quarters of it."""
    first, last = region
    quarter = (last - first) // 4
    if quarter < _PIECE:
        return [region]
    return [(at, at + _PIECE) for at in range(first + quarter, last - _PIECE, quarter)]


def is_disorder(sample: bytes, secrets: list[Region], count: int) -> bool:
    """Whether there are secrets in so many pieces, and no order in them."""
    if len(secrets) < max(4, len(sample) // 700):
        return False
    values = {sample[start:end] for start, end in secrets}
    heads = Counter([_head(sample, start) for start, _ in secrets])
    has_lines = sample.count(b"\n") >= count + len(sample) // 500
    alike = sum([times for _, times in heads.most_common(2 if has_lines else 1)])
    return min(len(values), alike) < 0.9 * len(secrets)


def _head(sample: bytes, start: int) -> bytes:
    """What a secret stands behind: a few letters, or the sign alone if it has a line to itself."""
    line = sample[sample.rfind(b"\n", 0, start) + 1 : start]
    named = _NAMED.fullmatch(line)
    return named.group(1) if named else line[-8:]


_NAMED = Lazy(rb"[ \t]*(?:export[ ])?[\w.\"'-]+([ \t]*[=:][ \t]*[\"']?)")


_BESIDE = 100
_TAIL = 400


def widened(data: bytes, region: Region) -> Region:
    """With what the first word names, which may stand before it. Not to its end: what the last words name stands behind them, maybe
    below, so they are looked at with what follows."""
    first, last = region
    start = max(data.rfind(b"\n", 0, first), data.rfind(BARRIER, 0, first), first - _BESIDE) + 1
    end = last - _TAIL
    line = data.rfind(b"\n", end - _TAIL, end)
    return start, max(start, line + 1 if line >= 0 else end)


def joined(regions: list[Region]) -> list[Region]:
    """What overlaps, or nearly so, as one."""
    whole: list[Region] = []
    for first, last in sorted(regions):
        if whole and first <= whole[-1][1] + _BESIDE:
            first, last = whole[-1][0], max(last, whole.pop()[1])
        whole.append((first, last))
    return whole
