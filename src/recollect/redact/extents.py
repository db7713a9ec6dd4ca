"""Where the value that stands after a sign begins and ends, in whatever syntax: quoted, bare, tagged, at the end of a list."""

from __future__ import annotations

from .engine import BARRIER, Lazy
from .scan import LONGEST
from .values import has_symbol

BARE = Lazy(rb"[^\s\"'`\x01]+")
# Each way begins with a letter of its own, so that a search leaps from one to the next.
_NEXT_FIELD = rb"(?=[\w .\-\"']{1,40}[=:])"
_CLOSED = rb"[)\]},]*[;,.]?$"
_CUT = Lazy(
    b"|".join(
        [
            *(mark + _NEXT_FIELD for mark in (rb",", rb";", rb"&", rb"\|")),
            rb"</|<br|\\n|\\r|\\t|\\\"|&quot;|&amp;|&#|\*\*",
            *(mark + _CLOSED for mark in (rb"\)", rb"\]", rb"\}", rb",")),
        ]
    )
)
_OPENING = Lazy(
    rb"[ \t]*(?:[rbfuRBFUL@$]{1,2}(?=[\"'])|<<(?=\"))?(\"\"\"|'''|\\\\\"|\\\"|\\'|\"|'|`|&quot;|\*\*|<code>)?"
)
_YAML_TAG = Lazy(rb"[ \t]*(?:[!&]!?[\w-]+[ \t]+|[|>][-+]?[ \t]*\n[-+]?[ \t]+)")


_CLOSING = b",;.)]}>\\:?"
_PLAIN = frozenset((b"-", b".", b"/", b"+", b"#", b"%", b"=", b"(", b"[", b"{", b"~", b"^", b"_"))  # opens no quote
QUOTES = (b'"', b"'")
_TRIPLE_QUOTES = (b'"""', b"'''")


def value_at(data: bytes, at: int) -> tuple[int, int, bool] | None:
    """The value that begins after a separator: where, and whether it was quoted."""
    first = data[at : at + 1]
    if first == b" ":
        at += 1
        first = data[at : at + 1]
    if first == b"\n":
        return None
    if first in _PLAIN or (
        first.isalnum() and data[at + 1 : at + 2] not in QUOTES and data[at + 2 : at + 3] not in QUOTES
    ):
        bare = BARE.match(data, at, at + LONGEST)  # the usual case, in a third of the time
        assert bare is not None
        return at, _trim(data, at, bare.end()), False
    if first in QUOTES:
        quote = data[at : at + 3]
        if quote not in _TRIPLE_QUOTES:
            quote = first
        start = at + len(quote)
    else:
        tag = _YAML_TAG.match(data, at)
        if tag and data[at - 1 : at] != b"=":  # `password=!oops next=...`
            at = tag.end()
        opening = _OPENING.match(data, at)
        if opening is None:
            return None
        start = opening.end()
        quote = opening.group(1)
    if quote:
        closing = b"</code>" if quote == b"<code>" else quote
        end = data.find(closing, start, start + LONGEST)
        if end >= 0:
            inside = data[start:end]
            if len(quote) == 1 and quote in b"\"'" and inside.endswith(b"\\") and not inside.endswith(b"\\\\"):
                again = data.find(closing, end + 1, start + LONGEST)  # an escaped quote inside the value
                if again >= 0 and b"\n" not in data[start:again] and BARRIER not in data[end:again]:
                    end, inside = again, data[start:again]
            if (b"\n" not in inside or len(quote) == 3) and BARRIER not in inside:
                return start, end, True
        if quote in (b"'", b'"', b"`"):
            bare = BARE.match(data, start, start + LONGEST)
            return (start, _trim(data, start, bare.end()), False) if bare else None
        return None
    bare = BARE.match(data, start, start + LONGEST)
    if bare is None:
        return None
    return start, _trim(data, start, bare.end()), False


def _trim(data: bytes, start: int, end: int) -> int:
    """Ends a bare value where the next field begins, and drops closing punctuation."""
    value = data[start:end]
    if value.isalnum():
        return end
    if value[:-1].isalnum():
        return end - (value[-1] in _CLOSING)
    if len(value.translate(None, b",;&|<\\)]}*")) < end - start:
        cut = _CUT.search(data, start, end)
        if cut and cut.start() > start:
            end = cut.start()
    while (
        end > start and data[end - 1] in _CLOSING and not (data[end - 1] in b".?" and has_symbol(data[start : end - 1]))
    ):
        end -= 1
    return end


def is_whole(data: bytes, value: tuple[int, int, bool]) -> bool:
    """Whether a value ends where it seems to: in .env it goes on behind a comma or a quote."""
    _, end, quoted = value
    return (
        quoted
        or data[end : end + 1] in _WHITE
        or (data[end : end + 1] in _PARTING and data[end + 1 : end + 2] in _WHITE)
    )


_WHITE, _PARTING = frozenset((b"", b" ", b"\t", b"\r", b"\n")), frozenset((b",", b";"))
