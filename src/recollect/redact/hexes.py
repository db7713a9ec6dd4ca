"""Bare hex, for those who ask for it (`redact_bare_hex`): sixteen digits or more of which nothing around them says what they are.

Keys are written so, and so are commits, hashes and ids. What its line, or the one above, calls one of these stays, and so do lists of
hashes (`git log`, `sha256sum`) and UUIDs; the rest goes, and some of it was harmless.
"""

from __future__ import annotations

from .engine import outline
from .scan import Scan, Span
from .values import has_alpha, has_digit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BARE_HEX = {"bare-hex": r"\b(?:0x)?([0-9a-f]{16,}|[0-9A-F]{16,})\b"}
"""As it stands among the patterns of a gate; not all that it matches is taken."""
_HASHES = (32, 40, 56, 64, 96, 128)
_SAYS = (
    r"commit|merge|revert|rebase|cherry|bisect|checkout|\bgit\b|\bhead\b|\btree\b|\bparent\b|\bblob\b|\brev|branch|upstream|submodule|\.git\b|/tree/|/blob/"
    r"|sha-?[0-9]|\bsha\b|md5|hash|digest|integrity|checksum|resolved|etag|fingerprint|thumbprint|crc|uuid|guid|trace|span|\bid\b|_id\b|ids?[\"'` :=]|request|lock"
    r"|image|layer|docker|container|cache|chunk|build|version|colou?r|serial|address|0x[0-9a-f]{2}[ ,]"
)


def bare_hex(scan: Scan) -> Iterator[Span]:
    data, low = scan.data, scan.low
    (source,) = BARE_HEX.values()
    for _, (start, end) in scan.everywhere(source):
        value = data[start:end]
        if start in scan.taken or not has_digit(value) or not has_alpha(value) or len(set(value)) < 6:
            continue
        if data[start - 1 : start] in (b"-", b"/", b"#", b".", b"@") or data[end : end + 1] in (b"-", b"/"):
            continue  # part of a UUID, an address or a name
        if data[end : end + 1] == b"." and data[end + 1 : end + 2].isalnum():
            continue
        line = data.rfind(b"\n", 0, start) + 1
        if len(value) in _HASHES and not data[line:start].strip() and data[end : end + 1] in (b" ", b"\t"):
            continue  # a hash, and what it is of
        above = data.rfind(b"\n", 0, max(0, line - 1)) + 1
        stop = data.find(b"\n", end)
        around = (
            low[max(above, start - 200) : start] + b" " + low[end : min(end + 100, stop if stop >= 0 else len(low))]
        )
        if not outline(_SAYS).has(around.rpartition(b"\x01")[2] if b"\x01" in around else around):
            yield Span(start, end, "bare-hex", 3)
