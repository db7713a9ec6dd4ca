"""The search for secrets in a text, once it has been found worth it: rounds, floods, settling."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from operator import le
from sys import modules
from types import MappingProxyType

import recollect.redact as package

from ..light import dataclass
from . import context, floods
from .engine import BARRIER, Lazy, Pattern, pattern, rx
from .hexes import BARE_HEX, bare_hex
from .repeats import cuts, repeats, restored
from .scan import CROWD, LONG, Scan, Span
from .screen import ANNOUNCING, UNSPACED, Finding, is_quiet, seen, to_bytes, unseen
from .seams import View, bodies, joined
from .tokens import either_of
from .values import (
    count_digits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NamedTuple

    from .context import Look
    from .scan import Memo

    Looks = list[tuple[Look, ...]]
    Round = tuple[list[int], list[Span]]  # where the matches were, and what was found

_MARKER = Lazy(rb"\[redacted:[a-z0-9][a-z0-9-]{0,63}\]")


if TYPE_CHECKING:

    class Redacted(NamedTuple):
        """The safe text, and the findings in the order of their places."""

        text: str
        findings: tuple[Finding, ...]

else:
    from collections import namedtuple

    Redacted = namedtuple("Redacted", "text findings")
    Redacted.__doc__ = """The safe text, and the findings in the order of their places."""


@dataclass(frozen=True)
class Policy:
    """What a user adds to the gate or takes from it.

    `extra`: name -> pattern in re2's syntax; its first group, or all of it, is the secret.
    `allow`: values that are no secrets, each a literal or a pattern that must match the whole value.
    `disabled`: families that are switched off.
    """

    extra: Mapping[str, str] = MappingProxyType({})
    allow: tuple[str, ...] = ()
    disabled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", dict(self.extra))
        object.__setattr__(self, "allow", tuple(self.allow))
        object.__setattr__(self, "disabled", frozenset(self.disabled))
        for name, source in self.extra.items():
            if rx(rb"[a-z0-9][a-z0-9-]{0,63}").fullmatch(to_bytes(name)) is None:
                raise ValueError(f"a family's name is lower-case letters, digits and dashes, not {name!r}")
            _compiled(source)

    def allows(self, value: str) -> bool:
        if not self.allow:
            return False
        return any(
            value == entry or ((ok := _allow(entry)) is not None and ok.whole(to_bytes(value))) for entry in self.allow
        )


def _compiled(source: str) -> Pattern:
    return pattern(to_bytes(source).decode("latin-1"))


@cache
def _allow(entry: str) -> Pattern | None:
    try:
        return _compiled(entry)
    except ValueError:
        return None  # a literal that happens to be no pattern


DEFAULT = Policy()


def redact(text: str, policy: Policy | None = None) -> Redacted:
    """Replaces the secrets in a text. The same text always gives the same result, and redacting that changes nothing."""
    spans = spans_in(text, policy or DEFAULT)
    if not spans:
        return Redacted(text, ())
    pieces: list[str] = []
    at = 0
    for start, end, family, _ in spans:
        pieces += (text[at:start], f"[redacted:{family}]")
        at = end
    pieces.append(text[at:])
    return Redacted("".join(pieces), tuple([Finding(family, start, end) for start, end, family, _ in spans]))


# --- searching ----------------------------------------------------------------------------------------------------------


def spans_in(text: str, policy: Policy) -> list[Span]:
    """Where the secrets are, from the first to the last."""
    text = text.replace("\x01", "\x02")  # what stands for a marker is nothing that somebody writes
    view: View | None = None
    hidden = unseen(text)
    if "\x1b]" in text:  # a link's address is looked at where it stands if there is something in it
        hidden = [(start, end) for start, end in hidden if not _holds_any(text[start:end].replace("\x1b", " "), policy)]
    if hidden:
        view = View(
            list(zip([0, *[end for _, end in hidden]], [*[start for start, _ in hidden], len(text)], strict=True))
        )
        text = seen(text, hidden)
    with package.searching:
        found = _spans(text, policy)
        if policy.disabled and found:
            found = _with_the_rest(text, found, policy)
    return [Span(*view.back(start, end)[:2], family, rank) for start, end, family, rank in found] if view else found


def _holds_any(text: str, policy: Policy) -> bool:
    return "[redacted:" in text or bool(spans_in(text, policy))


def _with_the_rest(text: str, found: list[Span], policy: Policy) -> list[Span]:
    """And what is found once that is replaced. A secret of a family that is switched off is blanked while the text is searched and
    stands there again in the result; beside a marker it may no longer be known for what it is, and a looser family takes it."""
    new, rounds = found, 0
    while new:
        rounds += 1
        at, pieces = 0, list[str]()
        for start, end, _, _ in new:
            pieces += (text[at:start], "\x01" * (end - start))
            at = end
        text = "".join((*pieces, text[at:]))
        new = _spans(text, policy)
        if new and rounds > _LAST:
            new = [Span(0, len(text), new[0].family, 0)]  # as in `_found`
        # A flood goes with the markers in it; here each has its place already.
        data = to_bytes(text) if new else b""
        new = [Span(*gap, span.family, 0) for span in new for gap in _gaps(data, span.start, span.end)]
        found = found + new
    return sorted(found)


def _spans(text: str, policy: Policy) -> list[Span]:
    data = to_bytes(text)
    if b"[redacted:" in data:
        data = _MARKER.sub(lambda m: BARRIER * len(m.group()), data)
    found = _apart(_in_all(data, text, policy))
    for _ in range(_LAST):
        if not found or not _is_flood_then(data, text, policy, found):
            break
        more = _in_rest(data, text, policy, found, 0)
        if not more:
            break
        found = _apart(found + more)
    return found


def _is_flood_then(data: bytes, text: str, policy: Policy, found: list[Span]) -> bool:
    """Whether what is left would hold a flood if it were redacted again: other pieces of it would be looked into. Then it is one now, or
    redacting twice would change something."""
    if len(data) <= LONG or "flood" in policy.disabled:
        return False
    left, read, _, _ = _without(data, text, found)
    left, left_out = cuts(left)
    for cut in left_out:
        read = read[: cut.at] + read[cut.at + cut.size :]
    return len(left) - left.count(BARRIER) > LONG and bool(_floods(left, read, policy, is_rest=False))


def _apart(found: list[Span]) -> list[Span]:
    found = sorted(found)
    if _are_apart(found):
        return found
    spans: list[Span] = []
    for span in sorted(found, key=lambda s: (s.start, -s.end)):
        if not spans or span.start >= spans[-1].end:  # else a flood has swallowed it
            spans.append(span)
    return spans


def _are_apart(spans: list[Span]) -> bool:
    return all(map(le, [span[1] for span in spans], [span[0] for span in spans[1:]]))


def _in_all(data: bytes, text: str, policy: Policy, attempt: int = 0) -> list[Span]:
    """What a text holds, however long: of what repeats itself one is searched, and a flood goes whole."""
    if len(data) <= LONG or len(data) - data.count(BARRIER) <= LONG:
        return _found(data, text, policy, attempt)
    found = _found_once(data, text, policy, attempt)
    if found is None and "flood" not in policy.disabled:
        if regions := _floods(data, text, policy, is_rest=attempt > 0):
            taken = [span for region in floods.widened(data, regions) for span in _flooded(data, text, policy, *region)]
            return taken + _in_rest(data, text, policy, taken, attempt)
    return _found(data, text, policy, attempt) if found is None else found


def _found_once(data: bytes, text: str, policy: Policy, attempt: int) -> list[Span] | None:
    """What a long text holds that repeats itself; None if it does not, or not in what was found."""
    # Only the bytes are compared: characters that Latin-1 lacks are alike in them, and one of them may be allowed.
    if policy.extra or (policy.allow and not text.isascii()):
        return None
    short, left_out = cuts(data)
    if not left_out:
        return None
    for cut in left_out:
        text = text[: cut.at] + text[cut.at + cut.size :]
    found: list[Span] | None = _in_all(short, text, policy, attempt)
    for cut in reversed(left_out):
        found = found and restored(found, cut)
    return found


def _in_rest(data: bytes, text: str, policy: Policy, taken: list[Span], attempt: int) -> list[Span]:
    """What a text holds beside what was taken out of it: it is searched as it will be read, with markers."""
    rest, read, places, shifts = _without(data, text, taken)
    found = _in_all(rest, read, policy, attempt)
    moved: list[Span] = []
    for start, end, family, rank in found:
        first = bisect_right(places, start) - 1
        last = bisect_right(places, end - 1, first) - 1  # only a flood goes on behind a marker
        moved.append(Span(start + shifts[first], end + shifts[last], family, rank))
    return moved


def _without(data: bytes, text: str, taken: list[Span]) -> tuple[bytes, str, list[int], list[int]]:
    """A text with markers for what was taken out of it; the places behind these, and how far each was moved."""
    rest: list[bytes] = []
    read: list[str] = []
    places, shifts = [0], [0]
    at = size = 0
    for start, end, family, _ in taken:
        marker = f"[redacted:{family}]"
        rest += (data[at:start], BARRIER * len(marker))
        read += (text[at:start], marker)
        size += start - at + len(marker)
        at = end
        places.append(size)
        shifts.append(end - size)
    return b"".join((*rest, data[at:])), "".join((*read, text[at:])), places, shifts


def _found(data: bytes, text: str, policy: Policy, since: int, rounds: list[Round] | None = None) -> list[Span]:
    """What is found in rounds: each looks at the text without the secrets that the rounds before have found."""
    found: list[Span] = []
    memo: Memo = {}
    scan: Scan | None = None
    spans: list[Span] = []
    for attempt in range(since, _LAST + 1):  # in the last but one, nothing is left
        if "re2" not in modules and not policy.extra and is_quiet(data.decode("latin-1")):
            break
        scan = Scan(data, memo) if scan is None else scan.again(data, spans)
        spans = _round(scan, text, policy)
        if not text.isascii():
            whole = _from_their_first(spans, data, text)
            spans = [span for span in whole if not policy.allows(text[span.start : span.end])]
            if len(spans) < len(whole):
                scan.is_whole = False  # it may have ended early, for a crowd that is none now
        if rounds is not None:
            rounds.append((scan.places(), spans))
        if not spans:
            break
        is_dump = len(spans) > CROWD
        if is_dump:
            enabled = [(start, end) for start, end, family, _ in spans if family not in policy.disabled]
            if "flood" not in policy.disabled and (heaps := floods.heaps(data, enabled)):
                taken = [span for heap in heaps for span in _flooded(data, text, policy, *heap)]
                return found + taken + _in_rest(data, text, policy, taken, attempt + 1)
            spans = _merged(data, spans, policy)
        if attempt >= 16:
            # Each round uncovering the next is no text that anybody wrote: give up on precision, not on the promise.
            first, last = (spans[0].start, spans[-1].end) if attempt < _LAST else (0, len(data))
            spans = [Span(s, e, spans[0].family, 0) for s, e in _gaps(data, first, last)]
        # What a disabled family knows is let through: it is blanked as well, or a looser family would take it.
        found += [s for s in spans if s.family not in policy.disabled]
        if is_dump:
            return found + _in_rest(data, text, policy, spans, attempt + 1)
        data = _blanked(data, spans)
    return found


_LAST = 24


def _from_their_first(spans: list[Span], data: bytes, text: str) -> list[Span]:
    """With the Chinese, Japanese or Korean characters that a value begins with, if nothing but its name stands before them. They count
    as spaces: mostly they are words of a sentence."""
    whole: list[Span] = []
    end = 0
    for span in spans:
        start = span.start
        if span.rank >= 2:
            least = max(end, start - _FEW)
            while start > least and ord(text[start - 1]) in UNSPACED and data[start - 1] == 32:
                start -= 1
            if start < span.start and data[max(0, start - 4) : start].rstrip(b" ")[-1:] in _NAMED:
                span = span._replace(start=start)
        end = span.end
        whole.append(span)
    return whole


_FEW = 12
_NAMED = (b":", b"=", b'"', b"'")


def _blanked(data: bytes, spans: list[Span]) -> bytes:
    blanked = bytearray(data)
    for span in spans:
        blanked[span.start : span.end] = BARRIER * (span.end - span.start)
    return bytes(blanked)


def _merged(data: bytes, spans: list[Span], policy: Policy) -> list[Span]:
    """Hundreds of secrets are a dump: those that stand close together go as one, with what is between them."""
    merged: list[Span] = []
    has_blanks = BARRIER in data
    first, last, family, rank = spans[0]
    for span in spans[1:]:
        start, end, its_family, _ = span
        if (
            _are_close(data, last, start)
            and not (has_blanks and BARRIER in data[last:start])
            and (not policy.disabled or policy.disabled.isdisjoint((family, its_family)))
        ):
            last = end
        else:
            merged.append(Span(first, last, family, rank))
            first, last, family, rank = span
    merged.append(Span(first, last, family, rank))
    return merged


def _floods(data: bytes, text: str, policy: Policy, *, is_rest: bool) -> list[tuple[int, int]]:
    words = floods.Words(data.lower())
    rows = words.rows()
    if len(rows) > 1 and (whole := [spot for spot in words.dense() if _is_flood(data, text, policy, spot, is_rest)]):
        return whole  # each row would be taken by itself
    if rows:
        sample, _, rounds, _ = _looked_into(data, text, policy, max(rows, key=lambda row: row[1] - row[0]))
        if floods.is_row(sample, _work(sample, rounds)):
            return rows
    return [] if len(rows) > 1 else [spot for spot in words.dense() if _is_flood(data, text, policy, spot, is_rest)]


def _is_flood(data: bytes, text: str, policy: Policy, region: tuple[int, int], is_rest: bool) -> bool:
    sample, read, rounds, secrets = _looked_into(data, text, policy, region)
    if floods.is_flood(sample, _work(sample, rounds), secrets, is_rest=is_rest):
        return True
    first = rounds[0][1] if rounds else []
    if is_rest or not floods.is_dump(sample, len(first), region):
        return False
    # Its first round would go from end to end, for nothing if what is left of it then is a flood.
    left, read, _, _ = _without(sample, read, _merged(sample, first, policy))
    if (len(left) - left.count(BARRIER)) * (region[1] - region[0]) < LONG * len(sample) or repeats(left):
        return False
    more: list[Round] = []
    _found(left, read, policy, 1, more)
    return floods.is_rest_of_flood(left, _work(left, more))


def _looked_into(
    data: bytes, text: str, policy: Policy, region: tuple[int, int]
) -> tuple[bytes, str, list[Round], list[tuple[int, int]]]:
    """Pieces of a region, the rounds that searched them, and where the secrets are."""
    places = floods.pieces(region)
    sample, read = b"\n".join([data[s:e] for s, e in places]), "\n".join([text[s:e] for s, e in places])
    rounds: list[Round] = []
    secrets = _found(sample, read, policy, 0, rounds)
    return sample, read, rounds, [(start, end) for start, end, _, _ in secrets]


def _work(sample: bytes, rounds: list[Round]) -> int:
    return floods.work(sample, [at for places, _ in rounds for at in places])


def _flooded(data: bytes, text: str, policy: Policy, start: int, end: int) -> list[Span]:
    """A flood, and what is named in it and stands behind its end."""
    first, last = max(start, end - _EDGE), end + _EDGE
    behind: list[Span] = []
    for at, to, family, rank in sorted(_found(data[first:last], text[first:last], policy, 0)):
        if first + to <= end or (to > 2 * _EDGE - _SEEN and last < len(data)):
            continue
        if first + at < end:
            end = first + to
        else:
            behind.append(Span(first + at, first + to, family, rank))
    return [Span(start, end, "flood", 0), *behind]


_EDGE, _SEEN = 600, 200  # what is looked at beyond the end; at the end of that, a value may be cut off


def _gaps(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    for run in rx(rb"[^\x01]+").finditer(data[start:end]):
        yield start + run.start(), start + run.end()


def _round(scan: Scan, text: str, policy: Policy) -> list[Span]:
    """One look at the text. Where there is a crowd of secrets it ends early: the rest is looked for when they are out of the way."""
    spans: list[Span] = []
    for row in _looks(scan, policy):
        new = [span for look in row for span in scan.asks(look)]
        if policy.allow:
            new = [s for s in new if not policy.allows(text[s.start : s.end])]
        if new:
            spans += new
            if len(spans) > CROWD and len(settled := _settle(spans)) > CROWD:
                spans = settled + scan.asks(context.codes)  # the others of a list are not known without its first
                break
            scan.taken.update([span[0] for span in new])
            if not policy.extra:
                scan.sure.update([span[0] for span in new if span[3] == 0])
    below = [span for span in (*bodies(scan), *joined(scan, spans)) if not policy.allows(text[span.start : span.end])]
    spans += below
    seen: set[object] = set()
    more = [other for span in _followed(scan.data, spans, policy) for other in context.others(scan.data, span, seen)]
    return _settle(spans + [other for other in more if not policy.allows(text[other.start : other.end])])


def _followed(data: bytes, spans: list[Span], policy: Policy) -> list[Span]:
    """Those beside which others may stand that were not found. Of hundreds, what is between two that are close goes with them anyway."""
    if len(spans) <= CROWD or policy.disabled or BARRIER in data:
        return spans
    settled = _settle(spans)
    if len(settled) <= CROWD:
        return spans
    return [this for this, after in pairwise(settled) if not _are_close(data, this.end, after.start)] + settled[-1:]


def _are_close(data: bytes, end: int, start: int) -> bool:
    return start - end <= 64 and data.count(b"\n", end, start) < 2  # a line without any stays


def _looks(scan: Scan, policy: Policy) -> Looks:
    """What is to be looked for in a text, as far as a glance at it tells."""
    data = scan.data
    digits, announced = count_digits(data), _announced().has(scan.low)
    if (
        not announced
        and not policy.extra
        and scan.longest < 16
        and digits < 13
        and b"=" not in data
        and data.count(b":") < 4
    ):
        return []
    looks: Looks = [
        (_extra(name, source),) for name, source in policy.extra.items() if (name, source) not in BARE_HEX.items()
    ]
    if scan.longest >= 16:
        looks.append((context.tokens,))
    if b"PRIVATE KEY" in data or b"PuTTY-User" in data or b"LS0tLS1CRUdJTi" in data or b"RSAKeyValue" in data:
        looks.append((context.private_keys,))
    if digits >= 14:
        looks.append((context.cards,))
    if b"://" in data or b"=" in data:
        looks.append((context.urls,))
    looks.append((context.files, context.key_files))
    if announced:
        looks += context.LOOKS
    else:
        if scan.longest >= 40 and (b"AKIA" in data or b"ASIA" in data):
            looks.append((context.near,))  # the secret that goes with the key id
        if b"\tTRUE\t" in data:
            looks.append((context.cookies,))  # a cookie jar
    if scan.longest >= 16:
        looks += ((context.made_with,), (context.beside_vendors,), (context.literals,))
        if BARE_HEX.items() <= policy.extra.items():
            looks.append((bare_hex,))
    return looks


def _extra(name: str, source: str) -> Look:
    """What a user's own pattern finds."""

    def look(scan: Scan) -> Iterator[Span]:
        data, compiled = scan.data, _compiled(source)
        # From marker to marker, because it may match any character.
        for first, last in _gaps(data, 0, len(data)) if BARRIER in data else ((0, len(data)),):
            for spans in compiled.spans(data, first, last):
                start, end = spans[1] if len(spans) > 1 and spans[1][0] >= 0 else spans[0]
                if end > start:
                    yield Span(start, end, name, -1)

    return look


@cache
def _announced() -> Pattern:
    """What `is_announced` asks word by word, in one pass."""
    return pattern(either_of(word.encode() for word in ANNOUNCING))


def _settle(spans: list[Span]) -> list[Span]:
    """Overlaps settled: the better rank first, then the earlier, then the longer."""
    spans = sorted(set(spans))
    if _are_apart(spans):
        return spans
    chosen: list[Span] = []
    starts: list[int] = []
    for span in sorted(spans, key=lambda s: (s.rank, s.start, -s.end, s.family)):
        at = bisect_left(starts, span.start)
        if at < len(chosen) and chosen[at].start < span.end:
            continue
        if at and chosen[at - 1].end > span.start:
            continue
        chosen.insert(at, span)
        starts.insert(at, span.start)
    return chosen


def family_names() -> Iterable[str]:
    """The names of all families, for settings and documentation."""
    from .families import FAMILIES

    names = {f.name for f in FAMILIES} | {
        "private-key", "url-password", "url-token", "connection-string", "authorization", "cookie", "password", "api-key", "pin",
        "passphrase", "seed-phrase", "card-number", "jwk", "docker-auth", "kubernetes-secret", "kubernetes-token", "aws-secret-key", "flood",
    }  # fmt: skip
    return sorted(names)
