"""What stands inside a secret and is no part of it: the view of a text in which it does not count.

A terminal colours a token in its middle, a web page puts soft hyphens and characters of no width into it, a mail, a box or an
editor goes on with it on the next line, behind a margin of its own. All of these are **seams**. The search looks at the text
without them, and what it finds is mapped back: the secret with its seams is replaced, nothing else is touched.

Seams that nobody sees are left out of every text before it is searched. A new line mostly is one: it is a seam only where
what follows it looks like the noise before it. The body of a PEM needs no name at all, its lines have a shape.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from .engine import BARRIER, Lazy, outline, pattern, rx
from .scan import Scan, Span
from .values import classes, count_digits, has_alpha, has_digit, is_file_name, is_hex, is_noise, is_scrambled, is_wordy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class View:
    """A text put together from stretches of a longer one, and where each part of it stands there."""

    __slots__ = ("_begins", "_whole")

    def __init__(self, stretches: list[tuple[int, int]]) -> None:
        self._whole = [start for start, _ in stretches]
        self._begins = [0, *accumulate([end - start for start, end in stretches])]

    def back(self, start: int, end: int) -> tuple[int, int, bool]:
        """The place in the longer text, and whether a seam is in it."""
        first = bisect_right(self._begins, start, 0, len(self._whole)) - 1
        last = bisect_right(self._begins, end - 1, 0, len(self._whole)) - 1
        shift = self._whole[last] - self._begins[last]
        return start + self._whole[first] - self._begins[first], end + shift, first != last


# --- a new line, and the margin behind it -------------------------------------------------------------------------------

_SPACE = r"(?:[ \t]|\\{1,4}t)"
_NEW_LINE = r"(?:\r?\n|[\r\x0b\x0c\x85]|<br ?/?>|(?:\\{1,4}r)?\\{1,4}n)"  # also as JSON writes it
# Bars, arrows and blocks are `?` or `=` in Latin-1. (`screen.to_bytes`)
_CLOSING = rf"(?:{_SPACE}|[|?\"'`&+])*"
_NUMBER = rf"(?:[\w./-]{{1,80}}[:-])?[0-9]{{1,6}}(?:{_SPACE}*[:|?>)=-]|{_SPACE})"
_TIME = r"\[?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?(?: (?:std(?:out|err) [FP]|[A-Z]{4,5}))?"
_WHO = rf"[\w.-]{{1,60}}{_SPACE}*\|"  # docker compose
_MARGIN = rf"[+-]?{_SPACE}*(?:{_TIME} |{_NUMBER}|{_WHO})?(?:{_SPACE}|[>|?#*\"'`]|//)*"
_SEAM = rf"[A-Za-z0-9_+/.~-]{_CLOSING}=?\\?{_NEW_LINE}{_MARGIN}[A-Za-z0-9_+/=.~-]"
_ENDS = Lazy(rf"{_CLOSING}[,;)}}\]]?\\?(?:{_NEW_LINE}|\Z)".encode())


def joined(scan: Scan, found: list[Span]) -> Iterator[Span]:
    """Tokens that go on below: those that were found as far as the end of their line, and those that are none without the rest."""
    from .tokens import tokens

    # In a long text a password that is told by its name may be one of thousands, and ends with its line.
    found = [span for span in found if span.rank == 0 or (not scan.is_long and span.end - span.start >= 16)]
    data, places = scan.data, _places(scan, found)
    ends = {span.end: span for span in found}
    for start, end in places:
        if (span := ends.get(start)) and _goes_on(data, start, end):
            run = rx(rb"[A-Za-z0-9_+/=.~-]+").match(data, end)
            to = end + len(run[0].rstrip(b".-_")) if run else end
            ends[to] = span = span._replace(end=to)
            yield span
    # What is noise is asked only where a token may come of it.
    for judged in (False, True):
        if judged:
            places = [place for place in places if _goes_on(data, *place)]
        stretches = _stretches(data, places)
        view = View(stretches)
        rest = Scan(b"".join([data[start:end] for start, end in stretches]))
        across = [(*view.back(start, end), family) for start, end, family, _ in tokens(rest)] if places else []
        across = [row for row in across if row[2]]
        if not across:
            return
    for start, end, _, family in across:
        yield Span(start, end, family, 0)  # it wins over what was found of its first line


def _places(scan: Scan, found: list[Span]) -> list[tuple[int, int]]:
    """Where a token may go on below: beside a run that may be a part of one, a vendor's prefix, or what was found already."""
    from .tokens import prefixes

    data, size, places = scan.data, len(scan.data), list[tuple[int, int]]()
    lines = {line for _, its in scan.kept.get("families", ()) if its for line in its}
    lines.update([(span.start, span.end) for span in found])
    if not scan.is_long:
        lines.update(scan.lines_with_runs())
    compiled, own, at, done = outline(_SEAM), prefixes(), 0, 0
    for first, last in sorted(lines):
        if last < done:  # thousands may stand in one line
            continue
        at = max(at, data.rfind(b"\n", 0, first) + 1)
        done = data.find(b"\n", last) + 1 or size
        stop = data.find(b"\n", done) + 1 or size
        while at < stop and (spans := compiled.first(data, at, stop)) is not None:
            ((start, end),) = spans
            at = end - 1
            if at not in scan.taken and own.first(data, at, min(size, at + 40), here=True) is None:
                places.append((start + 1, at))
    return places


def _stretches(data: bytes, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The lines with seams, without these."""
    stretches: list[tuple[int, int]] = []
    until = -1  # where the last line ends
    for start, end in places:
        line = data.rfind(b"\n", 0, start) + 1
        if until >= start:
            stretches[-1] = (stretches[-1][0], start)
        else:
            stretches.append((line, start))
        until = data.find(b"\n", end) + 1 or len(data)
        stretches.append((end, until))
    return stretches


def _goes_on(data: bytes, end: int, start: int) -> bool:
    """Whether what stands before a new line and what stands behind it are parts of one token."""
    after = data[start : start + _SEEN]
    tail = after[: len(after) - len(after.lstrip(_LETTERS + b"="))]
    stop = start + len(tail)
    before = data[max(0, end - _SEEN) : end]
    head = before[len(before.rstrip(_LETTERS)) :]
    if b"=" in tail.rstrip(b"=") or data[stop : stop + 1] in _NAMES or is_file_name(tail):
        return False
    bare = tail.translate(None, b"._+/~-")
    if len(tail) >= _LONG:
        if len(head) >= _LONG and _has_both_cases(head) and not _has_both_cases(tail):
            return False  # a hash below a token of both cases is none of it
        if (
            is_noise(tail, _LONG)
            or is_scrambled(bare.translate(None, b"0123456789"))
            or (is_hex(tail) and has_digit(tail))
        ):
            return True
        if is_wordy(tail):
            return False
    # The last of it has the line to itself.
    return (
        len(head) >= _SHORT
        and not is_wordy(head)
        and has_alpha(bare)
        and (has_digit(bare) or not (bare.islower() or bare.isupper() or bare.istitle()))
        and _ENDS.match(data, stop) is not None
    )


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/.~-"
_NAMES = (b":", b"(", b"[", b"{")
_LONG, _SHORT, _SEEN = 12, 8, 200


def _has_both_cases(run: bytes) -> bool:
    return run.lower() != run and run.upper() != run


# --- the body of a private key ------------------------------------------------------------------------------------------

_B = "[A-Za-z0-9+/]"
_BREAK = rf"(?:{_SPACE}|[|?\"'`&,]|[ \"'`]\+|\\{{1,4}}n[\"'`])*\\?{_NEW_LINE}{_MARGIN}"
_FULL = rf"{_B}{{64}}(?:{_B}{{6}})?"
_BODY = rf"(?:^[+-]?|\n[+-]?|[^A-Za-z0-9+/])((?:{_B}{{16,70}}{_BREAK})?{_FULL}(?:{_BREAK}{_FULL})*(?:{_BREAK}{_B}{{4,69}}={{0,2}})?)(?:$|[^A-Za-z0-9+/=])"
_ENDED = rf"{_B}{{16,76}}={{0,2}}{_BREAK}(?:{_B}{{1,76}}={{0,2}}{_BREAK})*(?:={_B}{{4}}{_BREAK})?-----END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
_BREAKS = Lazy(_BREAK.encode())
_LONGEST_KEY = 256  # lines: more is a file
# What is public, by the line above it, by what it begins with, or by the line below it.
_PUBLIC_ABOVE = Lazy(
    rb"(?i)-----BEGIN|BEGIN SSH2 PUB|base64,|encoding: *base64|x509|(?:image|audio|video|font|application)/[a-z]|ssh-(?:rsa|dss|ed25519)"
)
_PUBLIC = Lazy(
    rb"iVBORw0KGgo|/9j/|R0lGOD|UklGR|d09G|AAEAAAA|H4sI|UEsDB|JVBERi0|PD94bWw|PHN2Zy|AAAA[BCE][23][A-Z]|MII[A-Za-z0-9+/]{5,10}gAwIBAg|MIIBIjANBgkqhkiG9w0B|MFkwEwYHKoZIzj0C"
)
_PUBLIC_BELOW = Lazy(rb"[^A-Za-z0-9]{0,12}-----END (?![A-Z0-9 ]*PRIVATE)|[^A-Za-z0-9]{0,12}</")


def bodies(scan: Scan) -> Iterator[Span]:
    """Private keys without their first line: by their last one, or by lines of base64 that are as long as a PEM's."""
    data = scan.data
    if scan.longest >= 16 and b"-----END " in data and b"PRIVATE KEY" in data:
        for ((start, end),) in outline(_ENDED).spans(data):
            yield Span(start, end, "private-key", 0)
    if scan.longest >= 64:
        for _, (start, end) in pattern(_BODY).spans(data):
            lines = _BREAKS.split(data[start:end])
            if not _is_base64(lines[0]) and len(lines[0]) not in (64, 70):
                start += data[start:end].index(lines[1])  # a word at the end of the line above
                lines = lines[1:]
            if not _is_rest(lines[-1]):
                end = data.rindex(lines.pop(), start, end)
                end = start + len(data[start:end].rstrip())
            if (
                2 <= len(lines) <= _LONGEST_KEY
                and all(map(_is_base64, lines[:-1]))
                and not _is_public(data, start, end)
            ):
                yield Span(start, end, "private-key", 0)


def _is_public(data: bytes, start: int, end: int) -> bool:
    above = data[max(0, start - 400) : start].rpartition(b"-----END ")[2].rpartition(BARRIER)[2]
    return bool(_PUBLIC.match(data, start) or _PUBLIC_ABOVE.search(above) or _PUBLIC_BELOW.match(data, end, end + 100))


def _is_base64(line: bytes) -> bool:
    return classes(line) >= 3 and not is_hex(line) and 2 * count_digits(line) < len(line) and not is_wordy(line)


def _is_rest(line: bytes) -> bool:
    return line.endswith(b"=") or (classes(line) >= 3 and not is_wordy(line))
