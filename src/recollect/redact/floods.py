"""A flood: text that nobody wrote by hand, made of words for secrets, which would take longer to judge than is allowed.

A file may have as many of them as a flood. But pieces from the middle of a flood show more to look at than those of any file, and
no order: in a file a secret has a value of its own and stands behind what others stand behind, and in a log the next word
follows from the last ones. Only hundreds of such words in a row on one line, with next to nothing between them, need no disorder.

A flood is taken out whole, and what is left is searched as it will be read, with a marker in its place.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from operator import sub

from .engine import BARRIER, Lazy
from .scan import CROWD, LONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    Region = tuple[int, int]

_WORDS = (b"pass", b"pw", b"secret", b"token", b"key", b"auth", b"cred", b"bearer", b"pin", b"cvv", b"cvc", b"otp",
          b"cookie", b"login", b"code", b"seed", b"basic", b"sess", b"://", b"sk-", b"ghp_")  # fmt: skip
_ANY = Lazy(b"|".join(_WORDS))
_BLOCK, _STEP = 4_096, 256
_APART, _NEAR = 100, 20  # characters from word to word
_ROW = 400
_LINE = Lazy(rb"[^\n\x01]+")
_PIECE = 900


class Words:
    """How many words for secrets stand in each block of a text, in lower case."""

    def __init__(self, low: bytes) -> None:
        self._low = low
        self._counts = [_count(low[start : start + _BLOCK]) for start in range(0, len(low), _BLOCK)]

    def rows(self) -> list[Region]:
        """Where there are four hundred on one line with at most twenty characters from one to the next. A marker ends a row, and
        so does a line: a list of codes, keys or counts of tokens has one for each."""
        low, found = self._low, []
        for line in [line for run in self._runs(_NEAR) for line in _LINE.finditer(low, *run)]:
            if line.end() - line.start() < 2 * _ROW:
                continue  # no word is shorter than two letters
            places = [match.start() for match in _ANY.finditer(low, *line.span())]
            gaps = [n for n, size in enumerate(map(sub, places[1:], places), 1) if size > _NEAR]
            found += [
                (places[this], places[end - 1]) for this, end in pairwise((0, *gaps, len(places))) if end - this >= _ROW
            ]
        return found

    def dense(self) -> list[Region]:
        """Where there is one every hundred characters or more often, for longer than a text is that is never slow; from the first of
        them to the last."""
        return [_narrowed(self._low, first, last) for first, last in self._runs(_APART) if last - first > LONG]

    def _runs(self, apart: int) -> list[Region]:
        """Where there are as many; a block with fewer between two others does not count."""
        runs: list[Region] = []
        for n, count in enumerate(self._counts):
            start = n * _BLOCK
            end = min(start + _BLOCK, len(self._low))
            if count * apart >= end - start:
                first = runs.pop()[0] if runs and runs[-1][1] >= start - _BLOCK else start
                runs.append((first, end))
        return runs


def _count(low: bytes) -> int:
    return sum(map(low.count, _WORDS))


def _narrowed(low: bytes, first: int, last: int) -> Region:
    """Without what is not dense at either end."""
    while _count(low[first : first + _STEP]) * _APART < _STEP:
        first += _STEP
    while _count(low[last - _STEP : last]) * _APART < _STEP:
        last -= _STEP
    starts = [at for word in _WORDS if (at := low.find(word, first, first + _STEP)) >= 0]
    ends = [at for word in _WORDS if (at := low.rfind(word, last - _STEP, last)) >= 0]
    return min(starts), max(ends)


def pieces(region: Region) -> list[Region]:
    """From a quarter, the middle and three quarters of it."""
    first, last = region
    quarter = (last - first) // 4
    return [(at, at + _PIECE) for at in (first + quarter, first + 2 * quarter, first + 3 * quarter)]


def work(sample: bytes, places: list[int]) -> int:
    """How many matches there are in a sample; hardly more than the middle one of its thirds would make. A flood is one in most places,
    and of a text that is put together from several the next sample may show another part."""
    thirds = [0, 0, 0]
    for place in places:
        thirds[3 * place // len(sample)] += 1
    return min(len(places), 4 * sorted(thirds)[1])


def is_row(sample: bytes, matches: int) -> bool:
    """Whether there is more to look at than in a file, and it is no JSON."""
    return matches * 1000 > _MOST_OF_A_REST * len(sample) and not _is_data(sample)


def is_flood(sample: bytes, matches: int, secrets: list[Region], *, is_rest: bool) -> bool:
    """Whether there is more to look at than in any file, and no order in it; in the rest of a dump, whatever its order, unless there
    are as many secrets in it as in a dump.

    What was redacted may not be one when it is redacted again, though there were values where there are markers now."""
    slack = 1.3 if BARRIER in sample else 1
    per_thousand = matches * 1000 / len(sample) / slack
    found, secrets = len(secrets), sorted(secrets + [run.span() for run in _BLANKS.finditer(sample)])
    if is_rest and per_thousand * slack > _MOST_OF_A_REST:
        # One kind of secret may be out of the way, and the others stand there as before.
        return found * 150 < len(sample) or not _has_order(sample, secrets, _has_lines(sample), 0.9)
    has_secrets = len(secrets) * 700 >= len(sample)
    if per_thousand <= (_MOST_WITH_SECRETS if has_secrets else _MOST):
        return False
    has_lines, is_data, follows = _has_lines(sample), _is_data(sample), _follows(sample.lower())
    if not has_secrets:
        return not is_data and not follows
    if not is_data and not follows and matches > (20 if has_lines else 10) * slack * len(secrets):
        return True  # nothing comes of most of it
    if not has_lines and len(secrets) * 36 > len(sample):
        return True  # nothing but secrets on one line
    return not _has_order(sample, secrets, has_lines, 0.9 / slack)


def is_dump(sample: bytes, secrets: int, region: Region) -> bool:
    """Whether a region with so many secrets in a sample of it has far more than make a crowd."""
    return 2 * secrets * (region[1] - region[0]) > 3 * CROWD * len(sample)


def is_rest_of_flood(sample: bytes, matches: int) -> bool:
    """Whether what is left of a sample of a dump has more to look at than what is left of any dump that is none."""
    return matches * 1000 > _MOST_OF_A_SAMPLE * len(sample)


def heaps(data: bytes, secrets: list[Region]) -> list[Region]:
    """Where hundreds of secrets were found on one line, in no order and with little but noise between them. What people and
    programs write has words between its secrets, however long its lines are, and stays."""
    holes = [n for n, (this, after) in enumerate(pairwise(secrets), 1) if after[0] - this[1] > _HOLE]
    groups = [secrets[first:end] for first, end in pairwise((0, *holes, len(secrets))) if end - first > CROWD]
    return [(group[0][0], group[-1][1]) for group in groups if _is_heap(data, group)]


_HOLE = 2_500  # characters without a secret: of what was found in heaps of 100 KB, no two stood as far apart


def _is_heap(data: bytes, secrets: list[Region]) -> bool:
    region = data[secrets[0][0] : secrets[-1][1]]
    return (
        len(region) > LONG
        and not _has_lines(region)
        and not _is_data(region)
        and not _has_order(data, secrets, False, 0.9)
        and not _is_worded(b" ".join([data[this[1] : after[0]] for this, after in pairwise(secrets)]))
    )


def _is_worded(between: bytes) -> bool:
    """Whether most of its letters and digits are words, names and numbers: nine in ten of a file's are, of noise less than half."""
    stretches = range(0, len(between), len(between) // 8 + 1)
    runs = _RUN.findall(b" ".join([between[at : at + _PIECE] for at in stretches]))
    return 3 * sum([len(run) for run in runs if _WORD.fullmatch(run)]) > 2 * sum(map(len, runs))


_RUN = Lazy(rb"[A-Za-z0-9\xc0-\xff?]+")  # `?` is any letter that Latin-1 lacks
_WORD = Lazy(
    rb"[A-Za-z\xc0-\xff]?[a-z\xc0-\xff]{0,11}(?:[A-Z][a-z]{1,11}){0,4}[0-9]?|[A-Z]{1,12}|[0-9]{1,19}|[?]{1,20}"
)


def _has_lines(sample: bytes) -> bool:
    return sample.count(b"\n") >= 3 + len(sample) // 500


# Matches in a thousand characters. Of 8,876 installed files none has more than 25; what is left of a dump has at most 35.
_MOST_WITH_SECRETS, _MOST_OF_A_SAMPLE, _MOST_OF_A_REST, _MOST = 40, 40, 45, 50


def _is_data(sample: bytes) -> bool:
    """Whether it is JSON, which has a key every eighty characters or more often."""
    return sample.count(b'":') * 80 >= len(sample)


def _follows(low: bytes) -> bool:
    """Whether of three words, with the signs behind them, the last follows from the two before it, as in what a program prints."""
    words = [match.group() + _signs(low[match.end() : match.end() + 16]) for match in _ANY.finditer(low)]
    after: dict[tuple[bytes, bytes], Counter[bytes]] = {}
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        after.setdefault((first, second), Counter())[third] += 1
    known = sum([times.total() - 1 for times in after.values()])
    return sum([max(times.values()) - 1 for times in after.values()]) >= 0.75 * known


def _signs(after: bytes) -> bytes:
    """Up to the next word: `s": 12, "` and `": 7, "` are alike."""
    signs: bytes = _LETTERS.sub(b"", _DIGITS.sub(b"0", after))
    return signs[:3]


def _has_order(sample: bytes, secrets: list[Region], has_lines: bool, most: float) -> bool:
    """Whether most secrets stand behind the same signs as others, and have values of their own; a report may say each twice."""
    values = {sample[start:end] for start, end in secrets}
    ends = (0, *(end for _, end in secrets))
    heads = Counter([_head(sample, last, start) for last, (start, _) in zip(ends, secrets, strict=False)])
    alike = sum([times for _, times in heads.most_common(2 if has_lines else 1)])
    return alike >= most * len(secrets) and (BARRIER in sample or 2 * len(values) >= len(secrets))


def _head(sample: bytes, last: int, start: int) -> bytes:
    """What a secret stands behind: a few letters, or signs, whatever the words before them are (`kim:` and `example.com,` are values
    themselves), or the sign alone if it has a line to itself."""
    line = sample[max(last, sample.rfind(b"\n", 0, start) + 1) : start]
    if named := _NAMED.fullmatch(line):
        sign: bytes = named.group(1)
        return sign
    signs: bytes = _NAMES.sub(b"a", _DIGITS.sub(b"0", line[-12:]))[-4:]
    return line[-8:] if signs.rstrip(b" ").endswith((b"a", b"0")) else signs


_LETTERS, _NAMES, _DIGITS, _BLANKS = Lazy(rb"[a-z]+"), Lazy(rb"[A-Za-z_\xc0-\xff]+"), Lazy(rb"[0-9]+"), Lazy(rb"\x01+")
_NAMED = Lazy(rb"[ \t]*(?:export[ ])?[\w.\"'-]+([ \t]*[=:][ \t]*[\"']?)")


_BESIDE = 100
_TAIL = 400


def widened(data: bytes, regions: list[Region]) -> list[Region]:
    """With what the first word names, which may stand before it. Not to its end: what the last words name stands behind them, maybe
    below, so they are looked at with what follows."""
    whole: list[Region] = []
    for first, last in regions:
        start = max(data.rfind(b"\n", 0, first), data.rfind(BARRIER, 0, first), first - _BESIDE) + 1
        if start == first - _BESIDE + 1:
            start = max(start - _BESIDE, data.rfind(b" ", 0, start) + 1)  # no value is cut in two
        end = last - _TAIL
        line = data.rfind(b"\n", end - _TAIL, end)
        end = start + len(data[start : line + 1 if line >= 0 else end].rstrip(BARRIER))
        if whole and start <= whole[-1][1] + _BESIDE:
            start = whole.pop()[0]
        whole.append((start, end))
    return whole
