"""What the tests of LangGraph stand on: a saver on a fresh database of each kind, and graphs to run with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [] if str(Path(__file__).parent) in sys.path else [str(Path(__file__).parent)]

from contract.conftest import open_store, raw  # noqa: E402, F401 - fixtures, the same here as there
from recollect.langgraph import Saver  # noqa: E402


@pytest.fixture(autouse=True)
def time_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer waits a second at most for what was said and is not learned yet. On a machine that stands still for so long
    it would be given without; how long that is, is not what is tested here."""
    monkeypatch.setattr("recollect.verbs.memories.CATCH_UP_SECONDS", 60.0)


@pytest.fixture
def saver(url: str) -> Iterator[Any]:
    """A Saver of the user alex on a fresh database."""
    with Saver.from_conn_string(url, user="alex", semantic=False, background=False) as opened:
        yield opened
