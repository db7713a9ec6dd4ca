"""Pictures, sound and files in messages, as a history keeps them and gives them back.

The log shows their names (`[image_url]`); the blocks themselves are in the event's payload. Text in them is searched for secrets
like any other. What is base64 of something that is no text is a picture's or a file's own bytes: there is no secret to be read
there, but in 5 of 24 pictures of 200 KB something looked like a key, and a picture with a marker in it is broken. So
such bytes are stored as one letter each, of an alphabet in which no secret is written (U+0200 to U+02FF): 1.5 times the size of
base64, and searched in no time.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from ..model import Event
from .messages import CALLS, TEXT_BLOCKS, THOUGHTS

__all__ = ["blocks_of", "has_media", "packed", "unpacked"]

BYTES = "recollect_bytes"
_ALPHABET = {byte: 0x200 + byte for byte in range(256)}
_BACK = {letter: byte for byte, letter in _ALPHABET.items()}
_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*;base64,", re.ASCII)
_SHORTEST = 64


def has_media(message: BaseMessage) -> bool:
    """Whether a message holds more than text, thoughts and calls."""
    return isinstance(message.content, list) and any(
        isinstance(b, dict) and b.get("type") not in TEXT_BLOCKS | THOUGHTS | CALLS for b in message.content
    )


def blocks_of(message: BaseMessage) -> list[Any]:
    """The content of a message as blocks, without thoughts and calls, which are of one run only or kept elsewhere."""
    return [b for b in message.content if isinstance(b, str) or b.get("type") not in THOUGHTS | CALLS]


def packed(message: BaseMessage) -> list[Any]:
    """The blocks as they are stored."""
    return [_packed(block) for block in blocks_of(message)]


def unpacked(event: Event) -> str | list[Any]:
    """The content of a stored message: its text, or the blocks that it had."""
    stored = event.payload.get("content")
    return [_unpacked(block) for block in stored] if isinstance(stored, (list, tuple)) and stored else event.text


def _packed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _packed(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_packed(one) for one in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = base64.b64encode(bytes(value)).decode()
    if not isinstance(value, str) or len(value) < _SHORTEST:
        return value
    head = _DATA.match(value)
    at = head.end() if head else 0
    data = _noise(value[at:])
    return value if data is None else {BYTES: [value[:at], data.decode("latin-1").translate(_ALPHABET)]}


def _noise(text: str) -> bytes | None:
    """The bytes of which this is the base64, if they are no text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    if base64.b64encode(data).decode() != text:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return data
    return data if b"\0" in data else None


def _unpacked(value: Any) -> Any:
    if isinstance(value, Mapping):
        stored = value.get(BYTES)
        if isinstance(stored, (list, tuple)) and len(stored) == 2:
            return stored[0] + base64.b64encode(stored[1].translate(_BACK).encode("latin-1")).decode()
        return {key: _unpacked(one) for key, one in value.items()}
    return [_unpacked(one) for one in value] if isinstance(value, (list, tuple)) else value
