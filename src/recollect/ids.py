"""Identifiers and the clock: the two things every write starts with."""

import os
import time

from .errors import InvalidInput

MAX_ID = 256
DAY_MS = 86_400_000


def now() -> int:
    """Milliseconds since 1970, UTC. Looked up as `ids.now()` everywhere, so that a test can set the clock."""
    return time.time_ns() // 1_000_000


def new() -> str:
    """A UUIDv7: sorts by the time it was made. (The standard library has it only from Python 3.14.)"""
    rand = os.urandom(10)
    value = (
        (now() & 0xFFFF_FFFF_FFFF) << 80
        | 0x7 << 76
        | (rand[0] << 8 | rand[1]) >> 4 << 64
        | 0b10 << 62
        | int.from_bytes(rand[2:]) >> 2
    )
    h = f"{value:032x}"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def event(id: str) -> tuple[str, int] | None:
    """What the id of an event says: its conversation and its number; None if it is none. Digits of ASCII alone: `²` is one to
    Python as well, and no number."""
    name, _, tail = id.rpartition(":")
    return (name, int(tail)) if name and tail.isascii() and tail.isdigit() and len(tail) <= 18 else None


ERASED = "erased:"
"""What the name of an erased user begins with: a hash stands in its place, and no one is called like that."""


def keyed(key: str, *parts: object) -> str:
    """A keyed hash: whoever has the key and a guess can compare, and nobody can read it back."""
    from _blake2 import blake2b

    return blake2b("\0".join(map(str, parts)).encode(), key=key.encode()[:64], digest_size=16).hexdigest()


def check(value: object, what: str) -> str:
    """An id as callers bring it: compared by equality only, so nothing is trimmed, folded or normalised."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be a string, not {type(value).__name__}.")
    if not value or value.isspace():
        raise InvalidInput(f"{what} must not be empty.")
    if len(value) > MAX_ID:
        raise InvalidInput(f"{what} has {len(value)} characters; at most {MAX_ID} are allowed.")
    # Printable includes every letter of every script and the plain space; it leaves out control and format
    # characters, line separators and lone surrogates, which make two ids look alike or break a log line.
    if not value.isprintable():
        bad = next(c for c in value if not c.isprintable())
        raise InvalidInput(f"{what} contains the character U+{ord(bad):04X}, which is not printable.")
    return value if type(value) is str else str.__str__(value)
