"""One thing that is too large is refused by name, before it is searched and copied."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput, TooLarge
from talk import Open

MOST = 10_000


@pytest.fixture
def small(open_store: Open) -> recollect.Store:
    store = open_store(max_event_bytes=MOST)
    store.create("c")
    return store


@pytest.mark.parametrize(
    "entry",
    [
        {"role": "user", "text": "x" * (MOST + 1)},
        {"role": "user", "text": "ä" * (MOST // 2 + 1)},
        {"role": "user", "text": "日" * (MOST // 3 + 1)},
        {"kind": "tool_result", "tool": "Bash", "text": "x" * (MOST + 1)},
        {"kind": "note", "text": "x", "payload": {"a": {"b": ["x" * (MOST + 1)]}}},
        {"kind": "note", "text": "x" * (MOST // 2), "payload": {"a": "x" * (MOST // 2)}},
        {"kind": "artifact", "path": "a", "diff": "x" * (MOST + 1)},
        {"kind": "ledger", "task_id": "t", "goal": "x" * (MOST + 1)},
        {"role": "assistant", "text": "x", "reasoning": "x" * (MOST + 1)},
        {"role": "user", "text": "x", "name": "n" * (MOST + 1)},
    ],
)
def test_an_event_that_is_too_large_is_refused(small: recollect.Store, entry: dict[str, Any]) -> None:
    for append in (
        lambda: small.append("c", **entry),
        lambda: small.append_many("c", [{"role": "user", "text": "before"}, entry]),
    ):
        with pytest.raises(TooLarge, match="max_event_bytes") as told:
            append()
        assert isinstance(told.value, InvalidInput)
    assert small.read("c") == []


@pytest.mark.parametrize("text", ["x" * MOST, "ä" * (MOST // 2), "日" * (MOST // 3), "\U0001f600" * (MOST // 4)])
def test_what_just_fits_is_stored_whole(small: recollect.Store, text: str) -> None:
    small.append("c", role="user", text=text)
    small.append_many("c", [{"role": "user", "text": text}])
    assert [e.text for e in small.read("c")] == [text, text]


def test_nor_is_it_imported(small: recollect.Store, tmp_path: Path, open_store: Open) -> None:
    large = open_store("kim")
    large.create("c")
    large.append("c", role="user", text="fits")
    large.append("c", role="user", text="x" * (MOST + 1))
    file = io.StringIO()
    large.export(file)
    file.seek(0)
    jo = small.for_user("jo")
    with pytest.raises(TooLarge, match="max_event_bytes"):
        jo.import_(file)
    assert all("x" * MOST not in e.text for c in jo.conversations() for e in jo.read(c))


def test_nor_is_a_memory(small: recollect.Store) -> None:
    with pytest.raises(TooLarge):
        small.remember("I like " + "tea " * MOST)


def test_nor_an_item(small: recollect.Store) -> None:
    from recollect.langgraph import MemoryStore

    items = MemoryStore(small)
    with pytest.raises(TooLarge):
        items.put(("a",), "k", {"text": "x" * (MOST + 1)})
    assert items.get(("a",), "k") is None


def test_the_default_is_64_mb() -> None:
    assert recollect.Settings().max_event_bytes == 64_000_000


SCRIPT = """
import json, resource, sys, tempfile
import recollect
store = recollect.open(sys.argv[1], user="alex", background=False, semantic=False)
store.create("c")
store.append("c", role="user", text="the password is hunter2xyz9, to load what searches for secrets")
text = "hello there friend, this is a sentence. " * (int(sys.argv[2]) // 40)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    store.append("c", role="user", text=text)
    refused = False
except recollect.errors.TooLarge:
    refused = True
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([refused, (after - before) * unit / len(text)]))
"""


@pytest.mark.parametrize(("size", "refused", "times"), [(100_000_000, True, 0.5), (20_000_000, False, 7.0)])
def test_what_a_large_message_takes_of_memory(tmp_path: Path, size: int, refused: bool, times: float) -> None:
    """It was 15 times its size."""
    said = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "chat.db"), str(size)], capture_output=True, text=True, check=True
    )
    was_refused, took = json.loads(said.stdout)
    assert was_refused == refused
    assert took < times
