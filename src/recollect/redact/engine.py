"""The one door to google-re2.

Every pattern runs on **one byte per character**: text is encoded to Latin-1 with anything else replaced, so that a byte
offset *is* a character position and nothing has to be counted back. A span that is already a marker is blanked with
`BARRIER` bytes; no pattern may match that byte, so nothing is found across a marker, whatever its length - this is what
makes redacting twice a no-op.

re2 costs 6 ms to import and a pattern 0.2 ms to compile, which a hook that lives for milliseconds would feel. So the
import happens with the first pattern that has to run, and quiet prose never gets there.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Any

BARRIER = b"\x01"


class Lazy:
    """A standard-library pattern for short strings, compiled when it is first used: forty of them would cost 20 ms at import."""

    def __init__(self, source: bytes, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        import re

        compiled = re.compile(self._source, self._flags)
        for method in (
            "match",
            "search",
            "fullmatch",
            "finditer",
            "findall",
            "sub",
            "split",
        ):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


@cache
def rx(source: bytes) -> re.Pattern[bytes]:
    """A standard-library pattern for short strings, where it is used; the module's own functions take thrice as long to look it up."""
    import re

    return re.compile(source)


class Match:
    """Where a pattern and its groups matched; re2's own match object checks each access and costs four times as much."""

    __slots__ = ("_data", "_spans")

    def __init__(self, data: bytes, spans: list[tuple[int, int]]) -> None:
        self._data = data
        self._spans = spans

    def span(self, group: int = 0) -> tuple[int, int]:
        return self._spans[group]

    def start(self, group: int = 0) -> int:
        return self._spans[group][0]

    def end(self, group: int = 0) -> int:
        return self._spans[group][1]

    def group(self, group: int = 0) -> bytes:
        start, end = self._spans[group]
        return self._data[start:end] if start >= 0 else b""

    @property
    def groups(self) -> int:
        return len(self._spans) - 1


_NOWHERE = (-1, -1)


class Pattern:
    """A compiled pattern over bytes."""

    __slots__ = ("_anywhere", "_compiled", "_has_groups", "_here", "_match")

    def __init__(self, source: str, *, groups: bool = True) -> None:
        self._has_groups = groups
        import re2  # type: ignore[import-untyped,unused-ignore]

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.never_capture = not groups
        try:
            self._compiled: Any = re2.compile(source.encode("latin-1"), options)
        except (re2.error, UnicodeEncodeError) as error:
            raise ValueError(f"not a pattern that google-re2 can run: {error}") from None
        # The binding underneath the wrapper; the wrapper itself serves if a later version moves it.
        self._match: Any = getattr(getattr(self._compiled, "_regexp", None), "Match", None)
        self._anywhere: Any = getattr(getattr(re2, "_Anchor", None), "UNANCHORED", None)
        self._here: Any = getattr(getattr(re2, "_Anchor", None), "ANCHOR_START", None)

    def find(self, data: bytes, start: int = 0) -> Iterator[Match]:
        """All matches, left to right, without overlap."""
        for spans in self.spans(data, start):
            yield Match(data, spans)

    def spans(
        self,
        data: bytes,
        start: int = 0,
        end: int | None = None,
        *,
        overlapping: bool = False,
        noted: list[tuple[int, int]] | None = None,
    ) -> Iterator[list[tuple[int, int]]]:
        """As `find`, for where thousands of matches are only glanced at: the spans of all groups, without an object. Between
        two places, what stands before and after them still counts for `^`, `$` and `\\b`. Whole matches are `noted`."""
        if end is None:
            end = len(data)
        if self._match is None or self._anywhere is None:
            for found in self._compiled.finditer(data, start, end):
                if noted is not None:
                    noted.append(found.span())
                yield [found.span(n) for n in range(found.re.groups + 1)]
            return
        match, anywhere = self._match, self._anywhere
        while start <= end:
            spans = match(anywhere, data, start, end)
            first = spans[0]
            if first == _NOWHERE:
                return
            if noted is not None:
                noted.append(first)
            yield spans
            start = first[0] + 1 if overlapping else first[1] + (first[0] == first[1])

    def first(self, data: bytes, start: int, end: int, *, here: bool = False) -> list[tuple[int, int]] | None:
        """The spans of the first match, or of the one that begins where the search does."""
        if self._match is None or self._anywhere is None or self._here is None:
            found = (self._compiled.match if here else self._compiled.search)(data, start, end)
            return found and [found.span(n) for n in range(found.re.groups + 1)]
        spans: list[tuple[int, int]] = self._match(self._here if here else self._anywhere, data, start, end)
        return None if spans[0] == _NOWHERE else spans

    def known(self, data: bytes, span: tuple[int, int]) -> list[tuple[int, int]] | None:
        """The spans of a match that was found before."""
        return self.first(data, span[0], len(data), here=True) if self._has_groups else [span]

    def at(self, data: bytes, start: int, end: int | None = None) -> Match | None:
        """The match that begins at a place; not past another, if it is known that none goes there."""
        if self._match is None or self._here is None:
            found = self._compiled.match(data, start, len(data) if end is None else end)
            return found and Match(data, [found.span(n) for n in range(found.re.groups + 1)])
        spans = self._match(self._here, data, start, len(data) if end is None else end)
        return None if spans[0] == _NOWHERE else Match(data, spans)

    def has(self, data: bytes) -> bool:
        if self._match is None or self._anywhere is None:
            return self._compiled.search(data) is not None
        return bool(self._match(self._anywhere, data, 0, len(data))[0] != _NOWHERE)

    def whole(self, data: bytes) -> bool:
        return self._compiled.fullmatch(data) is not None


class Loose:
    """A pattern that counts far - `{0,60}` - searched for as if it did not.

    For each count re2 needs states of its own, for each mixture of two of them more, and to make them takes it ten times as
    long as to search: a text that it has not seen before is always slow. So the counts are left away at first. What is
    found then and is no longer than the least of them keeps them all, and it is what would have been found with them,
    since leaving them away only adds ways to match. Anything longer is asked again with its counts.
    """

    __slots__ = ("_exact", "_exact_groups", "_groups", "_loose", "_opening", "_sure")

    def __init__(self, source: str) -> None:
        import re

        opening = re.match(_OPENING, source)
        self._opening = opening and outline(opening[0])

        self._sure = min(int(most) for most in re.findall(_FAR, source))
        without = without_counts(source)
        self._loose, self._groups = outline(without), without
        self._exact, self._exact_groups = outline(source), source

    def spans(
        self,
        data: bytes,
        start: int = 0,
        end: int | None = None,
        *,
        noted: list[tuple[int, int]] | None = None,
    ) -> Iterator[list[tuple[int, int]]]:
        """As `Pattern.spans`, without groups."""
        if end is None:
            end = len(data)
        sure, loose, tries = self._sure, self._loose, 0
        match, anywhere = loose._match, loose._anywhere
        # Without its counts it may read on to the end of the line for each match: of a long one only so much at once.
        most = _LINE if _has_long_line(data, start, end) else end
        has_blanks = most == _LINE and BARRIER in data
        while start <= end:
            stop, near = min(end, start + most), _NEAR
            if has_blanks and stop < end and (blank := data.rfind(BARRIER, start, stop)) >= 0:
                stop, near = blank + 1, 0  # nothing is matched across it, so that its length does not count
            if match is not None and anywhere is not None:
                spans = match(anywhere, data, start, stop)
            else:
                spans = loose.first(data, start, stop) or [_NOWHERE]
            if spans[0] == _NOWHERE:
                if stop == end:
                    return
                start = stop - near
                continue
            first, last = spans[0]
            if last > stop - near and stop < end and first > start and (first > stop - near or last - first <= sure):
                start = first  # with what follows it
                continue
            if last - first > sure:
                spans = self._exact.first(data, first, end, here=True)
                if spans is None:
                    tries += 1
                    if tries > _TRIES:
                        # From here on with its counts, or a text could be made in which this happens at every place.
                        yield from self._counted(data, first + 1, end, noted)
                        return
                    start = first + 1
                    continue
                first, last = spans[0]
            if noted is not None:
                noted.append(spans[0])
            yield spans
            start = last + (first == last)

    def _counted(
        self, data: bytes, start: int, end: int, noted: list[tuple[int, int]] | None
    ) -> Iterator[list[tuple[int, int]]]:
        """With its counts. Asked where a match can begin, re2 has the counts of one match to keep, not of all that might overlap:
        a tenth of the time, in the text that we know to be worst."""
        if self._opening is None:
            yield from self._exact.spans(data, start, end, noted=noted)
            return
        for ((first, _),) in self._opening.spans(data, start, end, overlapping=True):
            if first >= start and (spans := self._exact.first(data, first, end, here=True)) is not None:
                if noted is not None:
                    noted.append(spans[0])
                yield spans
                start = spans[0][1]

    def known(self, data: bytes, span: tuple[int, int]) -> list[tuple[int, int]]:
        return [span]

    def at(self, data: bytes, start: int, end: int) -> Match | None:
        """The match that was found between two places, with its groups."""
        if end - start <= self._sure:
            found = pattern(self._groups).at(data, start, end)
            if found is not None and found.end() == end:
                return found
        return pattern(self._exact_groups).at(data, start, end)


def _has_long_line(data: bytes, start: int, end: int) -> bool:
    while start + _LINE < end:
        start = data.rfind(b"\n", start, start + _LINE) + 1
        if not start:
            return True
    return False


_LINE, _NEAR = 3_072, 1_024
_TRIES = 12
_OPENING = r"\(\?i\)\\b\((?:[^()\\]|\\.|\((?:[^()\\]|\\.|\([^()]*\))*\))*\)\\b"  # `(?i)\b(one|or|another)\b`
_FAR = r"\{\d,([4-9]\d|\d{3})\}"


@cache
def has_counts(source: str) -> bool:
    import re

    return re.search(_FAR, source) is not None


@cache
def without_counts(source: str) -> str:
    """A pattern that matches all that this one does, and more."""
    import re

    return re.sub(_FAR, lambda found: found[0].replace(f",{found[1]}}}", ",}"), source)


@cache
def loose(source: str) -> Loose:
    return Loose(source)


@cache
def pattern(source: str) -> Pattern:
    """Compiled on first need and kept."""
    return Pattern(source)


@cache
def either(words: tuple[bytes, ...]) -> Pattern:
    """Any of these words. One pass takes as long as three searches for a word by itself."""
    return Pattern("|".join([rf"\Q{word.decode('latin-1')}\E" for word in words]), groups=False)


@cache
def outline(source: str) -> Pattern:
    """The same without its groups. To find where a pattern matches takes re2 a quarter of what it takes to say where its
    groups do: where most matches are dismissed at a glance, the groups are asked for afterwards, with `at`."""
    return Pattern(source, groups=False)


@cache
def together(sources: tuple[str, ...]) -> Pattern:
    """Any of these patterns, searched for in one pass, without counts; it may match where none of them does, never the other way."""
    return outline("|".join([f"(?:{without_counts(source)})" for source in sources]))
