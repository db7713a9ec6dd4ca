"""What stands below a line that says what it is: what a command prints, and the lines of a file whose name tells how they are read.

Each way has a literal of its own, and nothing is searched for where that does not occur.
"""

from __future__ import annotations

from .engine import Lazy, rx
from .judge import is_path, is_phrase_of_words
from .scan import Scan, Span
from .values import classes, has_alpha, has_digit, has_symbol, is_file_name, is_placeholder, is_random, is_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BELOW = r"[^\n\x01]*\r?\n(?:\r?\n)?[ \t]*([^\s\x01]{8,})[ \t]*(?:\r?\n|$)"
# What makes a key, or shows one.
_MADE = (
    (r"(?m)^[^\n\x01]*\b(?:wg[ \t]+gen(?:key|psk)|openssl[ \t]+rand|pwgen|apg|gpg2?[ \t]+--gen-random|/dev/urandom)\b" + _BELOW, (b"wg gen", b"openssl rand", b"pwgen", b"apg ", b"gen-random", b"/dev/urandom")),
    (r"(?m)^[^\n\x01]*\bcat[ \t]+[^\s\x01]*(?:\.key|[/._-](?:token|secret|password|secret[_-]key))(?:\.txt)?[ \t]*\r?\n[ \t]*([^\s\x01]{8,})[ \t]*(?:\r?\n|$)", (b"cat ",)),
    (r"(?m)^[^\n\x01]*\bsecurity[ \t]+find-(?:generic|internet)-password\b[^\n\x01]*[ \t]-[a-z]*w[a-z]*\b" + _BELOW, (b"find-generic-password", b"find-internet-password")),
)  # fmt: skip
# What shows the clipboard: alone on the line below, or behind a colon.
_CLIPBOARD = (
    r"(?m)^[^\n\x01]*\b(?:pbpaste|xclip\b[^\n\x01]*[ \t]-o(?:ut)?|xsel\b[^\n\x01]*[ \t](?:-[a-z]*o|--output)|wl-paste|[Gg]et-[Cc]lipboard)\b"
    + _BELOW,
    r"(?mi)\bclipboard(?:'s)?(?:[ \t]+(?:content|contents|has|holds|is|now))*[ \t]*[:=][ \t]*[\"'`]?([^\s\"'`\x01]{8,})[\"'`]?[ \t]*\r?$",
)
# A name, and below it the password.
_USER_BELOW = r"(?m)^[^\n\x01]*\bcat[ \t]+[^\s\x01]*(?:openvpn/[\w.-]+|\b(?:auth|credentials?|creds|userpass|login)(?:\.txt|\.conf)?)[ \t]*\r?\n[\w.@+-]+\r?\n([^\s\x01]{6,})[ \t]*(?:\r?\n|$)"
# Lines of files.
_LINES = (
    (r"(?m)^[\"']?[\w.@\\-]+[\"']?[ \t]+(?:\*|[\w.-]+)[ \t]+[\"']?([^\s\"'#\x01]{6,})[\"']?[ \t]+(?:\*|-|[0-9][0-9.:/]+)[ \t]*\r?$", (b"chap-secrets", b"pap-secrets")),
    (r"(?m)^(?:https?://[^\s\x01]+|/[^\s\x01]+|\"[^\"\n\x01]+\")[ \t]+[^\s\x01]+[ \t]+\"?([^\s\"\x01]{6,})\"?[ \t]*\r?$", (b"davfs2",)),
)  # fmt: skip
_PUBLIC = Lazy(rb"(?i)pub|certs?\b|\.crt|ssh-rsa")


def printed(scan: Scan) -> Iterator[Span]:
    """`wg genkey`, `cat config/master.key` and the key below it; the lines of chap-secrets."""
    data = scan.data
    if scan.has(b"clip", b"paste", b"xsel"):
        for source in _CLIPBOARD:
            for _, (start, end) in scan.everywhere(source):
                if (
                    b"://" not in data[start:end]
                    and _is_shown(data[start:end])
                    and (has_symbol(data[start:end]) or classes(data[start:end]) >= 3)
                ):
                    yield Span(start, end, "password", 2)
    if b"\n" not in data:
        return
    for source, literals in _MADE:
        if scan.has(*literals):
            for whole, (start, end) in scan.everywhere(source):
                if _PUBLIC.search(data, whole[0], start) is None and _is_shown(data[start:end]):
                    yield Span(start, end, "api-key", 2)
    if scan.has(b"cat "):
        for _, (start, end) in scan.everywhere(_USER_BELOW):
            if _is_chosen(data[start:end]):
                yield Span(start, end, "password", 2)
    for source, literals in _LINES:
        if scan.has(*literals):
            for _, (start, end) in scan.everywhere(source):
                if _is_chosen(data[start:end]):
                    yield Span(start, end, "password", 2)


def _is_shown(value: bytes) -> bool:
    """Noise, or what a person chose with a digit in it; no message, no path, no line of another file."""
    if is_file_name(value):
        return False
    if is_random(value, 16):
        return not is_path(value)
    return (
        len(value) <= 40
        and has_digit(value)
        and rx(rb"[^:/\\=(){}]+").fullmatch(value) is not None
        and _is_chosen(value)
    )


def _is_chosen(value: bytes) -> bool:
    return (
        has_alpha(value)
        and (has_digit(value) or has_symbol(value) or is_phrase_of_words(value))
        and not is_placeholder(value)
        and not is_reference(value)
        and not is_path(value)
    )
