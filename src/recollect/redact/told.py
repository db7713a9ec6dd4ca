"""Secrets that people tell in passing: passphrases of plain words, notes of several passwords below one heading, a login without a sign."""

from __future__ import annotations

from .engine import BARRIER, Lazy
from .judge import PREDICATES, is_phrase_of_words, is_predicate, speaks_of_forms
from .prose import is_strong
from .scan import Scan, Span
from .values import classes, has_digit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# `my password is correct horse battery staple`, `the passphrase: blue whale 42`
_WORDED = (
    r"(?im)(?:\b(?:my|our|the|your|wifi|wi-fi|wlan|router|guest|master|new|old)[ \t](?:[\w-]{1,16}[ \t]){0,2})?\b(pass(?:word|phrase|wd)|pwd|pw)\b"
    r"(?:[ \t]+(?:for|to|on|of)[ \t]+[\w' -]{1,24}?)?([ \t]+(?:is|was)(?:[ \t]+(?:now|still))?:?|[ \t]*:|)[ \t]+"
    r"((?-i:[a-z]{3,12}(?:[ ][a-z]{3,12}){1,7}?(?:[ ][0-9]{1,6})?))[ \t]*(?:[.,;!?)]|\r?$|[ ](?:and|but|so|which)[ ])"
)
# A heading, and below it a line for each: `gmail - Rosebud7!`
_HEADING = r"(?im)^[ \t#>*_-]*(?:[\w'&-]+[ \t]+){0,3}(?:passwords|passw\xf6rter|logins|creds|credentials|pws)[ \t*_]*:?[ \t*_]*\r?\n(?:[ \t]*\r?\n)?"
_NOTE = Lazy(
    rb"[ \t>*-]*(?:[0-9]{1,2}[.)][ \t]+)?[A-Za-z][\w.@&' ]{0,30}?(?:[ \t]+[-=:|/>]{1,2}[ \t]+|[ \t]*[:=][ \t]*|[ \t]+)"
    rb"([^\s\x01]{5,64}|\x01+)[ \t]*(?:\r?\n|\Z)"
)
_MOST_NOTES = 100
# `spotify login kim@mail.com Popcorn99!`
_LOGIN = (
    r"(?im)\b(?:log ?in|account|creds?|credentials|user(?:name)?)\b[^\n@\x01]{0,24}?[ \t:][A-Za-z0-9_.+-]+@[A-Za-z0-9.-]+\.[a-z]{2,10}[ \t]+"
    r"([^\s\"'`\x01]{6,64})[ \t]*\r?$"
)


def told(scan: Scan) -> Iterator[Span]:
    """Passphrases in words, passwords in notes, a password behind the address that it goes with."""
    data = scan.data
    lines = scan.lines_with(_WORDED, _LOGIN)
    for whole, noun, link, (start, end) in scan.spans(_WORDED, lines) if lines else ():
        is_phrase = scan.low.startswith(b"passp", noun[0])
        is_said = data[slice(*link)].strip() not in (b"", b":")
        words, _, number = data[start:end].rpartition(b" ")
        if not number.isdigit():
            words, number = data[start:end], b""
        if is_said or is_phrase or (link[1] > link[0] and whole[0] < noun[0]):
            if _is_phrase(words) if number else link[1] > link[0] and _is_passphrase(words):
                yield Span(start, end, "passphrase", 3)
    for _, (start, end) in scan.spans(_LOGIN, lines) if lines else ():
        if start not in scan.taken and _is_noted(scan, data[start:end]):
            yield Span(start, end, "password", 3)
    if b"\n" in data and scan.has(b"passwords", b"logins", b"cred", b"pws", b"passw\xf6rter"):
        done = 0
        for ((_, at),) in scan.everywhere(_HEADING, groups=False):
            at = max(at, done)
            for _ in range(_MOST_NOTES):
                note = _NOTE.match(data, at, at + 160)
                if note is None:
                    break
                start, done = note.start(1), note.end()
                if BARRIER not in note.group(1) and start not in scan.taken and _is_noted(scan, note.group(1)):
                    yield Span(start, note.end(1), "password", 3)
                at = done


def _joined(words: bytes) -> bytes:
    return words.replace(b" ", b"-")


def _is_passphrase(words: bytes) -> bool:
    """Four words or more that make no sentence: `correct horse battery staple`, not `shared between four people`."""
    first, *others = words.split()
    return (
        is_phrase_of_words(_joined(words))
        and not is_predicate(first)
        and _OF_SENTENCES.isdisjoint(others)
        and PREDICATES.isdisjoint(others)
    )


_OF_SENTENCES = frozenset(
    b"""between among during through around across against every people someone somebody everyone everybody anyone anybody nobody again then than
    them him her when where whenever once twice first last next day days week weeks month year time times today tomorrow yesterday tonight away back
    down off out almost already even ever much many few here there will would could should can cannot may might does did has had have
    """.split()
)


def _is_phrase(words: bytes) -> bool:
    """Two words or more, before a number, none of which says anything of a password."""
    parts = words.split()
    return (
        len(parts) >= 2
        and _OF_SENTENCES.isdisjoint(parts)
        and PREDICATES.isdisjoint(parts)
        and not any(map(is_predicate, parts))
        and not speaks_of_forms(_joined(words))
    )


def _is_noted(scan: Scan, value: bytes) -> bool:
    return (
        has_digit(value)
        and classes(value.translate(None, b"-_.:/,()")) >= 3
        and b"=" not in value
        and scan.recall("strong", value, is_strong)
    )
