"""Embedders: anything with a name, a dimension, and a way from texts to vectors.

The default is WordLlama's bundled weights: 256 dimensions, 0.06 ms a text, no download, no key. Others plug in by the
same three attributes.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    class Embedder(Protocol):
        """What search needs of a model."""

        name: str
        dimension: int
        is_quick: bool
        """Quick enough to embed some hundred texts while a search waits."""

        def embed(self, texts: Sequence[str], /) -> Any:
            """One vector a text; a list of lists or an array."""
            ...


def is_installed() -> bool:
    """Whether the extra `semantic` is there, without importing it."""
    return any(getattr(f, "find_spec", lambda *a: None)("wordllama", None) is not None for f in sys.meta_path)


class WordLlama:
    """The bundled weights of the package `wordllama`, found inside it: nothing is ever downloaded."""

    name = "wordllama-256"
    dimension = 256
    is_quick = True

    def __init__(self) -> None:
        from pathlib import Path

        import wordllama

        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True, dim=self.dimension)

    def embed(self, texts: Sequence[str], /) -> Any:
        return self._model.embed(list(texts))
