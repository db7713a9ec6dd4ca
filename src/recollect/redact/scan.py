"""The text of one round: what the patterns match in it, and what of that has to be looked at again after a replacement."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from .engine import BARRIER, Match, either, has_counts, loose, outline, pattern, rx, together
from .judge import judge_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NamedTuple

    from .engine import Loose, Pattern
    from .names import Kind

CROWD = 300  # findings in one text; beyond it is a dump
MANY = 150  # findings of one sort; beyond it what looks like them is taken without a closer look
LONG = 16_384  # a text that is longer may be a dump
LONGEST = 8192  # of a value after a name; beyond it is a file, not a secret


# On overlap the lower rank wins: 0 a vendor's shape, 1 a syntax that has no other meaning, 2 a name, 3 a guess.
if TYPE_CHECKING:

    class Span(NamedTuple):
        start: int
        end: int
        family: str
        rank: int

else:  # typing takes as long to import as all of this package
    from collections import namedtuple

    Span = namedtuple("Span", "start end family rank")


if TYPE_CHECKING:
    Memo = dict[tuple[object, ...], int]
    Reach = Callable[[bytes, int, int], tuple[int, int]]
    Rule = Callable[["Scan"], Iterator[Span]]


_FEW = 4
_MANY_LINES = 12
_LINE = 400
_REACH = 100  # how many characters a rule sees past the match of its pattern, its line aside
_WORD = frozenset(bytes((c,)) for c in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_BEGINS = _WORD | frozenset((b"~", b".", b"+", b"/", b"-", b"="))  # what a token may begin with


def _runs(letters: str) -> str:
    """Sixteen characters of which keys are made, or more, and a digit among them, by the place of the first: so re2 needs few states."""
    some = [f"[{letters}]{{{first}}}[0-9][A-Za-z0-9_+/=.:~-]{{{15 - first}}}" for first in range(16)]
    return f"(?:^|[^0-9{letters}])(?:{'|'.join(some)}|[{letters}]{{16,}}[0-9])"


_RUN, _NOISE = _runs("A-Za-z_+/=.:~-"), _runs("A-Za-z_+/.:~-")  # the second without a name before it: `name=value`


class Scan:
    """The text of one round, in lower case too, and the judgements already made in this call (dropped with it).

    After the first round only what a replacement can have changed is looked at. No pattern matches a blank, so that blanks
    only take matches away; a new one is a match that one of those had covered, or it begins or ends beside a blank, which `\\b`
    and the like allow only beside a letter of its own (such a change is called **dirty**). So the matches of the round before are
    kept, and searched for again from those on that a blank touched until a match is one that is known: from there on all goes as
    it went. Patterns that match within a line (with at most the line's end before it *or* after it) need not be searched
    for beyond that line: `spans` and `find`. The others may have been shifted by a match before them, and that one by another:
    `across`; of these, none may begin anywhere else than right behind a dirty change. What was matched and dismissed before is
    looked at again where the rule **reaches** as far as a change: its line and the one below, unless the rule says otherwise.
    """

    __slots__ = (
        "_asked",
        "_before",
        "_changed",
        "_dirty",
        "_matched",
        "_reach",
        "_sources",
        "_starts",
        "_zones",
        "data",
        "is_long",
        "is_whole",
        "kept",
        "longest",
        "low",
        "memo",
        "sure",
        "taken",
        "windows",
    )

    def __init__(self, data: bytes, memo: Memo | None = None) -> None:
        self.data = data
        self.low = data.lower()
        self.is_long = _is_long(data)
        self.longest = _longest(data)
        self.memo: Memo = {} if memo is None else memo
        self.taken: set[int] = set()  # where this round's findings begin: what is found need not be judged again
        self.sure: set[int] = (
            set()
        )  # those of a vendor's shape, beside which no other rule's finding at the same place stands
        self.windows: list[tuple[int, int]] | None = None  # None: the whole text
        self.kept: dict[object, Any] = {}  # what a rule found out about the text and the next round may use
        self.is_whole = True  # no rule ended early, so that the next round may use windows
        self._before: dict[str, list[tuple[int, int]]] = {}
        self._matched: dict[str, list[tuple[int, int]]] = {}
        self._reach: dict[str, Reach | None] = {}  # of those that were searched for; None: it is not known
        self._asked: list[tuple[Rule, int, int]] = []  # which of them are a rule's: from, to
        self._sources: dict[Rule, set[str]] = {}  # those of each rule in the rounds before
        self._changed: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._dirty: list[int] = []  # which of the changes
        self._zones: list[int] | None = None  # where `_around` may see a change: from, to, from, to ...

    def again(self, data: bytes, changed: list[Span]) -> Scan:
        """For the round after this one, in whose text these spans were blanked."""
        windows = _windows(data, changed) if self.is_whole else None
        if windows is None:
            return Scan(data, self.memo)
        new = Scan.__new__(Scan)
        new.data = data
        new.low = data.lower()
        new.is_long = self.is_long and _is_long(data)
        new.longest = self.longest  # no run is longer now
        new.memo = self.memo
        new.taken, new.sure = set(), set()
        new.windows = windows
        new.kept = self.kept
        new.is_whole = True
        new._before, new._matched, new._reach = self._matched, {}, self._reach
        sources = list(self._matched)
        new._asked, new._sources = [], self._sources
        for rule, since, until in self._asked:
            new._sources.setdefault(rule, set()).update(sources[since:until])
        new._changed = [(start, end) for start, end, _, _ in changed] if windows else []
        new._starts = [start for start, _ in new._changed]
        new._dirty = [
            n
            for n, (start, end) in enumerate(new._changed)
            if data[start - 1 : start] in _WORD or data[end : end + 1] in _BEGINS
        ]
        new._zones = _zones(data, new._changed)
        return new

    def asks(self, rule: Rule) -> list[Span]:
        """What a rule finds. After the first round it is idle if none of its patterns can have a new match and no match of theirs
        reaches a change."""
        known = self._sources.get(rule)
        if known is not None and not self._dirty and not any(map(self._is_stirred, known)):
            for source in known:
                self._matched[source] = self._before.get(source, [])
            return []
        since = len(self._matched)
        found = list(rule(self))
        self._asked.append((rule, since, len(self._matched)))
        return found

    def _is_stirred(self, source: str) -> bool:
        """Whether a pattern's matches of the round before may be others now, or judged otherwise."""
        before = self._before.get(source)
        if not before:
            return False
        reach = self._reach[source]
        return reach is None or any(self._reaches(reach, span) for span in before)

    def places(self) -> list[int]:
        """Where the matches of this round begin. How many they are is how long it takes, told in a way that is the same on every machine."""
        return [start for spans in self._matched.values() for start, _ in spans]

    def may_wake(self) -> bool:
        """Whether a pattern that matched nowhere may match now."""
        return self.windows is None or bool(self._dirty)

    def has(self, *words: bytes) -> bool:
        """Whether one of these words stands in the text in lower case. What a round did not have, the next has not either; what it had
        is not looked for again if they are many, since they only tell whether a pattern is worth searching for."""
        known: dict[tuple[bytes, ...], bool] = self.kept.setdefault("words", {})
        has = known.get(words)
        if has is None or (has and len(words) <= 3):
            has = either(words).has(self.low) if len(words) > 3 else any(word in self.low for word in words)
            known[words] = has
        return has

    def spans(
        self,
        source: str,
        lines: Iterable[tuple[int, int]] | None = None,
        reach: Reach | None = None,
        *,
        groups: bool = True,
    ) -> Iterator[list[tuple[int, int]]]:
        """The matches of a pattern that stays within a line; of the lines, if they are known in which it can match."""
        return self._in_lines(source, pattern(source) if groups else outline(source), lines, reach)

    def find(self, source: str, lines: Iterable[tuple[int, int]] | None = None) -> Iterator[Match]:
        """The same."""
        for spans in self._in_lines(source, pattern(source), lines):
            yield Match(self.data, spans)

    def outlines(self, source: str, lines: Iterable[tuple[int, int]] | None = None) -> Iterator[list[tuple[int, int]]]:
        """As `spans`, without the groups."""
        return self._in_lines(source, loose(source) if has_counts(source) else outline(source), lines)

    def _in_lines(
        self,
        source: str,
        compiled: Pattern | Loose,
        lines: Iterable[tuple[int, int]] | None = None,
        reach: Reach | None = None,
    ) -> Iterator[list[tuple[int, int]]]:
        before, now = self._before.get(source), self._matched.setdefault(source, [])
        self._reach[source] = reach or _around
        if self.windows is None:
            if lines is None:
                return compiled.spans(self.data, noted=now)
            return self._within(lines, compiled, now)
        if before is None:
            return self._within(self.windows, compiled, now)
        if not before and not self._dirty:
            return iter(())
        return self._mended(compiled, before, now, reach or _around, within=True)

    def _within(
        self, places: Iterable[tuple[int, int]], compiled: Pattern | Loose, now: list[tuple[int, int]]
    ) -> Iterator[list[tuple[int, int]]]:
        for start, end in places:
            yield from compiled.spans(self.data, start, end, noted=now)

    def across(
        self, source: str, compiled: Pattern | Loose, start: int = 0, reach: Reach | None = None
    ) -> Iterator[list[tuple[int, int]]]:
        """The matches of a pattern that may go from line to line."""
        before, now = self._before.get(source), self._matched.setdefault(source, [])
        self._reach[source] = reach or _around
        if self.windows is None or before is None or start:
            return compiled.spans(self.data, start, noted=now)
        return self._mended(compiled, before, now, reach or _around, within=False)

    def _mended(
        self,
        compiled: Pattern | Loose,
        before: list[tuple[int, int]],
        now: list[tuple[int, int]],
        reach: Reach,
        *,
        within: bool,
    ) -> Iterator[list[tuple[int, int]]]:
        """The matches that are new, and those that may be judged otherwise now; all of them are noted."""
        data, size = self.data, len(before)
        starts, changed, dirty = self._starts, self._changed, self._dirty
        places: dict[tuple[int, int], int] = {}
        touched = len(dirty)
        for span in before:
            c = bisect_right(starts, span[1]) - 1
            if c >= 0 and changed[c][1] >= span[0]:
                touched += 1
        if touched > _FEW:  # then one search for all of them is quicker
            known = set(before)
            for spans in compiled.spans(data, noted=now):
                if spans[0] not in known or self._reaches(reach, spans[0]):
                    yield spans
            return
        n = at = d = 0
        while n < size or d < len(dirty):
            first, last = changed[dirty[d]] if d < len(dirty) else (len(data) + 1, -1)
            begin = max(0, data.rfind(b"\n", 0, first)) if within and last >= 0 else first
            if n < size and before[n][1] < begin:
                span = before[n]
                n += 1
                if span[0] < at:
                    continue
                c = bisect_right(starts, span[1]) - 1
                if c < 0 or changed[c][1] < span[0]:
                    now.append(span)
                    at = span[1]
                    if self._reaches(reach, span) and (same := compiled.known(data, span)) is not None:
                        yield same
                    continue
                begin, last = span[0], changed[c][1]
            else:
                d += 1
                if not within:  # a word may begin there now, or a match is touched
                    begin = min(before[n][0], last) if n < size else last
                if last < at:
                    continue
            stop = len(data)
            if within:
                stop = data.find(b"\n", last) + 1 or stop
            if not places:
                places = {span: n for n, span in enumerate(before)}
            for spans in compiled.spans(data, max(at, begin), stop):
                span = spans[0]
                if span[0] > last and span in places:
                    n = places[span]
                    break
                now.append(span)
                at = span[1]
                if span not in places or self._reaches(reach, span):
                    yield spans
            else:
                if not within:
                    return
                while n < size and before[n][1] <= stop:
                    n += 1

    def everywhere(self, source: str, *, groups: bool = True) -> Iterator[list[tuple[int, int]]]:
        """All matches of a pattern, as if for the first time; unless there were none and are none now."""
        before, now = self._before.get(source), self._matched.setdefault(source, [])
        self._reach[source] = None
        if before is not None and not before and not self.may_wake():
            return iter(())
        return (pattern(source) if groups else outline(source)).spans(self.data, noted=now)

    def lines_with(self, *sources: str) -> list[tuple[int, int]]:
        """The lines in which any of these patterns may match, each with the end of the one before it; if there are many, the whole
        text. One pass for all of them, so that patterns which hardly ever match cost next to nothing."""
        known: list[tuple[int, int]] | None = self.kept.get(sources)
        if known is None or (self._dirty and not known):
            data, size = self.data, len(self.data)
            compiled = together(sources)
            known, at, hits = [], 0, 0
            while 0 <= at < size and (found := compiled.first(data, at, size)) is not None:
                start, end = found[0]
                at = data.find(b"\n", end)
                line = (max(0, data.rfind(b"\n", 0, start)), at + 1 or size)
                if known and line[0] < known[-1][1]:
                    line = (known.pop()[0], line[1])
                known.append(line)
                hits += 1
                if hits > _MANY_LINES:
                    known = [(0, size)]
                    break
            self.kept[sources] = known
        return known

    def lines_with_runs(self) -> list[tuple[int, int]]:
        """The lines with a run of sixteen characters of which keys are made, and a digit among them: most texts have none."""
        return self.lines_with(_RUN)

    def lines_with_noise(self) -> list[tuple[int, int]]:
        """Those in which the run may be a key by its looks alone: no name and equals sign are part of it."""
        return self.lines_with(_NOISE) if self.lines_with_runs() else []

    def is_near(self, source: str, at: int) -> bool:
        """Whether a pattern of words in lower case matches in the line around a place. Where they stand is found out once: hundreds
        of places are asked for, and mostly none of the words is near."""
        places = self.kept.get((source,))
        if places is None:
            places = self.kept[source,] = [start for ((start, _),) in outline(source).spans(self.low)]
        n = bisect_left(places, at - _LINE)
        return n < len(places) and places[n] <= at + _LINE and outline(source).has(line_around(self.low, at))

    def _reaches(self, reach: Reach, span: tuple[int, int]) -> bool:
        """Whether a rule that looks at a match sees a change."""
        if reach is _around and self._zones is not None:
            at = bisect_left(self._zones, span[0])
            if not at & 1 and (at == len(self._zones) or self._zones[at] > span[1]):
                return False
        first, last = reach(self.data, *span)
        at = bisect_right(self._starts, last) - 1
        return at >= 0 and self._changed[at][1] >= first

    def judge(self, kind: Kind, value: bytes, *, quoted: bool, strict: bool, env: bool = False) -> bool:
        key = (kind, value, quoted, strict, env)
        known = self.memo.get(key)
        if known is None:
            shape = self._shape(value, kind, quoted, strict, env)
            if shape and self.memo.get(shape, 0) >= _ALIKE:
                return True
            known = self.memo[key] = judge_value(kind, value, quoted=quoted, strict=strict, env=env)
            if shape:
                self._note(shape, known)
        return known > 0

    def _shape(self, value: bytes, *asked: object) -> tuple[object, ...] | None:
        """How a value is written, letter for letter and digit for digit, where hundreds were judged in a long text: if a score of
        them were secrets and none was not, the next that is written so is taken without a closer look. Only where letters
        follow a digit: `required` is written like a password."""
        if not self.is_long or len(self.memo) <= MANY:
            return None
        shape = value.translate(_WRITTEN)
        return ("shape", shape, *asked) if b"0a" in shape or b"0A" in shape else None

    def _note(self, shape: tuple[object, ...], is_secret: int) -> None:
        self.memo[shape] = self.memo.get(shape, 0) + 1 if is_secret else -len(self.data)

    def is_sealed(self, value: bytes) -> bool:
        """Whether it is the cipher of a SealedSecret, which only its cluster can open."""
        return value.startswith(b"Ag") and len(value) >= 40 and self.has(b"encrypteddata")

    def recall(self, name: str, value: bytes, check: Callable[[bytes], bool], *, alike: bool = False) -> bool:
        """A check's answer, asked once for each value, or for a score of those that are written alike."""
        key = (name, value)
        known = self.memo.get(key)
        if known is None:
            shape = self._shape(value, name) if alike else None
            if shape and self.memo.get(shape, 0) >= _ALIKE:
                return True
            known = self.memo[key] = check(value)
            if shape:
                self._note(shape, known)
        return known > 0


_ALIKE = 20
_WRITTEN = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0" * 10 + b"a" * 26 + b"A" * 26
)


def _is_long(data: bytes) -> bool:
    """Whether it is, without its markers."""
    return len(data) > LONG and len(data) - data.count(BARRIER) > LONG


def _longest(data: bytes) -> int:
    """The length of the longest run without white space or markers, as far as anybody asks: 0 below 16, and 16, 20 or 24 below 30."""
    if not outline(r"[^\x01\t-\r ]{16}").has(data):
        return 0
    longest = max([end - start for ((start, end),) in outline(r"[^\x01\t-\r ]{30,}").spans(data)], default=0)
    if longest or outline(r"[^\x01\t-\r ]{24}").has(data):
        return longest or 24
    return 20 if outline(r"[^\x01\t-\r ]{20}").has(data) else 16


def _windows(data: bytes, changed: list[Span]) -> list[tuple[int, int]] | None:
    """The lines around what changed, from the end of the line before them on; None if there is too much of it."""
    if len(changed) > CROWD:
        return None
    windows: list[tuple[int, int]] = []
    for first, last, _, _ in changed:
        start = max(0, data.rfind(b"\n", 0, max(0, first - _REACH)))
        end = data.find(b"\n", last + _REACH) + 1 or len(data)
        if windows and windows[-1][1] >= start:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    if len(data) > LONG and any(2 * (end - start) > len(data) for start, end in windows):
        return None  # to tell what is in reach of a change would take longer than to look at all
    return windows


def _zones(data: bytes, changed: list[tuple[int, int]]) -> list[int] | None:
    """Where a match must lie for `_around` to reach a change: on its line, on the one above it, or a hundred characters away."""
    if b'"""' in data or b"'''" in data:
        return None
    zones: list[int] = []
    for first, last in changed:
        line = data.rfind(b"\n", 0, first)
        start = min(first - _REACH, data.rfind(b"\n", 0, max(0, line)))
        end = data.find(b"\n", last + 1)
        end = len(data) if end < 0 else max(last + _REACH, end)
        if zones and zones[-1] >= start:
            zones[-1] = max(end, zones[-1])
        else:
            zones += (start, end)
    return zones


def _around(data: bytes, start: int, end: int) -> tuple[int, int]:
    """What a rule may look at for a match: its line and the one below, a hundred characters, a value in triple quotes."""
    after = data[end : end + 8]
    if b'"""' in after or b"'''" in after:
        return 0, len(data)  # the only values that go on for many lines
    below = data.find(b"\n", data.find(b"\n", end) + 1 or len(data))
    return min(start - _REACH, data.rfind(b"\n", 0, start)), len(data) if below < 0 else max(end + _REACH, below)


def nowhere_else(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The reach of a rule that looks at nothing but what was matched."""
    return start, end


def line_around(data: bytes, at: int) -> bytes:
    """The line around a place, at most 400 characters to each side, not past a marker."""
    first, last = max(0, at - _LINE), at + _LINE
    first = max(first, data.rfind(b"\n", first, at) + 1)
    first = max(first, data.rfind(BARRIER, first, at) + 1)
    if (end := data.find(b"\n", at, last)) >= 0:
        last = end
    if (end := data.find(BARRIER, at, last)) >= 0:
        last = end
    return data[first:last]


def beyond(data: bytes, at: int, size: int) -> int:
    """The place so many characters after another. For what goes on behind a marker: its length must not count, or what is found in a
    text would not be found in the same text with a longer marker."""
    end = at + size
    if data.find(BARRIER, at, end) >= 0:
        for blank in rx(rb"\x01+").finditer(data, at):
            if blank.start() > end:
                break
            end += blank.end() - blank.start()
    return min(end, len(data))
