"""Small talk for tests: conversations of a known shape, and what is looked at in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import recollect

Open = Callable[..., recollect.Store]
"""The fixture `open_store`: the test's database once more, for a user, with settings."""
Raw = Callable[..., list[tuple[Any, ...]]]
"""The fixture `raw`: SQL past the library."""


def exchange(n: int, *, start: int = 1) -> list[recollect.Entry]:
    """n messages, user and assistant in turn, the last one the assistant's."""
    roles = ["assistant", "user"]
    return [{"role": roles[(n - i) % 2], "text": f"message {start + i - 1}"} for i in range(1, n + 1)]


def texts(events: Iterable[recollect.Event]) -> list[str]:
    return [e.text for e in events]


def seqs(events: Iterable[recollect.Event]) -> list[int]:
    return [e.seq for e in events]


def eventually(claim: Callable[[], Any], seconds: float = 60) -> Any:
    """What background work will make true. Returns the first true answer."""
    until = time.monotonic() + seconds
    while not (answer := claim()):
        assert time.monotonic() < until, "it did not come true in time"
        time.sleep(0.01)
    return answer


class Hashed:
    """An embedder of our own: every word is a direction, told by its hash. The same on every machine, no model needed."""

    is_quick = True

    def __init__(self, name: str = "hashed", dimension: int = 64) -> None:
        self.name, self.dimension = name, dimension
        self.asked = 0

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.asked += len(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        total = [0.0] * self.dimension
        for word in text.lower().split():
            bits = int.from_bytes(blake2b(word.strip(".,?!").encode(), digest_size=64).digest())
            for i in range(self.dimension):
                total[i] += 1.0 if bits >> (i % 512) & 1 else -1.0
        return total
