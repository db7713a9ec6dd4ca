"""`recollect telemetry`: an operator sees what happened, and nothing of what was said."""

from __future__ import annotations

import json
from pathlib import Path

from console import Run

from recollect.telemetry import Telemetry


def test_what_happened_is_counted(run: Run, trip: str, own_store: Path) -> None:
    run("remember", "Likes trains")
    for _ in range(3):
        run("recall", "trains")
    told = Telemetry(str(own_store.parent / "telemetry"))
    told.emit("job.failed", "local", job="embed", error="DiskFull")
    answer = run("telemetry")
    assert answer.code == 0
    rows = {r["event"]: r for r in run("telemetry", "--json").json["events"]}
    assert rows["chat.session_created"]["count"] == rows["chat.memory_saved"]["count"] == 1
    assert rows["chat.memory_searched"]["count"] == 3 and rows["chat.memory_searched"]["p95_ms"] > 0
    assert "job.failed embed DiskFull" in answer.out and "chat.memory_searched" in answer.out
    assert "train" not in answer.out.lower() and trip not in answer.out


def test_one_conversation_and_its_lines(run: Run, trip: str) -> None:
    run("new", "Other")
    lines = [json.loads(line) for line in run("telemetry", "-c", trip, "--lines").out.splitlines()]
    assert [line["event"] for line in lines] == ["chat.session_created"]
    assert lines[0]["thread_id"].startswith("t_")
    assert run("telemetry", "--since", "2999-01-01").out.endswith("Nothing is noted.\n")


def test_erased_conversations_are_not_in_it(run: Run, trip: str, own_store: Path) -> None:
    known = json.loads(run("telemetry", "--lines").out.splitlines()[0])["thread_id"]
    assert run("erase", trip, "-y").code == 0
    assert known not in (own_store.parent / "telemetry" / "events.jsonl").read_text()


def test_a_store_that_was_named_has_none(run: Run, tmp_path: Path, own_store: Path) -> None:
    run("-d", str(tmp_path / "mine.db"), "new", "Mine")
    assert "(off; " in run("-d", str(tmp_path / "mine.db"), "telemetry").out
    assert not own_store.parent.exists()
