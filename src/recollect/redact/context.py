"""The contexts in the order in which they look; see `syntax`, `assign` and `prose` for what each of them knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .assign import assignments
from .prose import cards, memorables, near, phrases, sentences
from .scan import Scan, Span
from .syntax import commands, connection_strings, cookies, files, headers, private_keys, urls

__all__ = ["LOOKS", "cards", "files", "private_keys", "urls"]

LOOKS: tuple[Callable[[Scan], Iterator[Span]], ...] = (
    connection_strings, headers, cookies, commands, assignments, sentences, memorables, phrases, near,
)  # fmt: skip
