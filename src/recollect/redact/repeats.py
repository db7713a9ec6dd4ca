"""A text that says the same over and over is searched once.

What a rule finds depends on what stands near it. So of a long stretch that repeats itself only the beginning and the end
are searched, with a whole number of repetitions cut out between them. What was found on both sides of the cut, if it is
the same there, is what would have been found in between. A log in a loop is quick that way, and a text that somebody made to be slow.
"""

from __future__ import annotations

from .scan import LONG, Span  # a text that is not longer is searched as it is

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Cut(NamedTuple):
        """`size` bytes were left out at a place, repetitions of the `unit` before it."""

        at: int
        size: int
        unit: int

else:
    from collections import namedtuple

    Cut = namedtuple("Cut", "at size unit")


_KEPT = 2_048  # how much is searched at each end of a stretch, beside the unit that is compared
_PROBE = 64
_MOST = 8


def cuts(data: bytes) -> tuple[bytes, list[Cut]]:
    """The text without its repetitions, and where they were, each in the text that the one before it left."""
    found: list[Cut] = []
    while len(found) < _MOST and len(data) > LONG and (cut := _cut(data)):
        found.append(cut)
        data = data[: cut.at] + data[cut.at + cut.size :]
    return data, found


def _cut(data: bytes) -> Cut | None:
    for middle in range(LONG // 4, len(data) - LONG // 4, LONG // 4):
        again = data.find(data[middle : middle + _PROBE], middle + 1, middle + _KEPT + _PROBE)
        if again < 0:
            continue
        period = again - middle
        start, end = _stretch(data, middle, period)
        unit = period * min(12, _KEPT // period)  # every third name may be judged otherwise: more than one is compared
        size = (end - start - 2 * (_KEPT + unit)) // unit * unit
        if size > LONG // 4:
            return Cut(start + _KEPT + unit, size, unit)
    return None


def repeats(sample: bytes) -> bool:
    """Whether a text of which this is the middle would be cut."""
    middle, size = len(sample) // 2, min(4 * _PROBE, len(sample) // 6)
    return sample.find(sample[middle : middle + size], middle + 1) >= 0


def _stretch(data: bytes, middle: int, period: int) -> tuple[int, int]:
    """From where to where each character is the one that stands a period after it."""
    low, high = 0, middle
    while low < high:
        at = (low + high) // 2
        if data[at:middle] == data[at + period : middle + period]:
            high = at
        else:
            low = at + 1
    start = low
    low, high = middle, len(data) - period
    while low < high:
        at = (low + high + 1) // 2
        if data[middle:at] == data[middle + period : at + period]:
            low = at
        else:
            high = at - 1
    return start, low + period


def restored(spans: list[Span], cut: Cut) -> list[Span] | None:
    """What was found in the shortened text, as it lies in the whole one. None if the two sides of the cut are unlike."""
    spans = sorted(spans)
    at, unit = cut.at, cut.unit
    # A secret that lies across the cut may be moved out of the way: within a repetition, any place is as good.
    while across := [s for s in spans if s.start < at < s.end]:
        (span,) = across
        if span.start <= at - unit and span.end >= at + unit:
            break  # it goes on through all that was left out
        if span.end > cut.at + unit:
            return None
        at = span.end
    before = [s for s in spans if at - unit < s.end and s.start < at]
    after = [s for s in spans if at < s.end and s.start < at + unit]
    if not across:
        if [s._replace(start=s.start + unit, end=s.end + unit) for s in before] != after:
            return None
        if before and before[0].start < at - unit:
            return None
    whole = [s for s in spans if s.end <= at]
    whole += [s._replace(end=s.end + cut.size) for s in across]
    if not across:
        shifts = range(unit, cut.size + 1, unit)
        whole += [Span(start + by, end + by, family, rank) for by in shifts for start, end, family, rank in before]
    size = cut.size
    return whole + [Span(start + size, end + size, family, rank) for start, end, family, rank in spans if start >= at]
