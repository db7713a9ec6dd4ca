"""`recollect demo`: a week to look around in. Every page of the application has something to show, and nobody's store is touched."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from console import Run

import recollect
from recollect import ids


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded once for all that only look."""
    from recollect.cli.demo import record

    path = tmp_path_factory.mktemp("demo") / "chat.db"
    with recollect.open(path, user="local", background=False) as store:
        record(store)
    return path


def test_there_is_something_of_every_kind(demo: Path) -> None:
    with recollect.open(demo, user="local", background=False) as store:
        everything = [(c, store.read(c.id, branch="*")) for c in store.conversations()]
        kinds = Counter(e.kind for _, events in everything for e in events)
        assert set(kinds) >= {
            "message", "tool_use", "tool_result", "approval", "error", "artifact", "reasoning", "ledger", "summary", "event",
        }  # fmt: skip
        assert {c.workspace for c, _ in everything} >= {"garden-planner", "weather-bot", None}
        assert {c.origin for c, _ in everything} >= {"application", "hook"}
        assert sum(len(store.branches(c.id)) > 1 for c, _ in everything) >= 4
        assert any(c.active_branch != "main" for c, _ in everything)
        assert [c.id for c in store.conversations(deleted=True)] == ["demo-scratch"]
        assert [t.status for t in store.ledger("demo-frost")] == ["done"] * 3
        assert len({t.status for t in store.ledger("demo-frost", at=14)}) == 3
        diffs = [e for e in store.read("demo-frost", kinds=["artifact"]) if "+++" in str(e.payload.get("diff"))]
        assert len(diffs) == 2
        assert {e.status for e in store.read("demo-frost", kinds=["approval"])} == {"granted", "denied"}


def test_memories_in_every_state_and_a_review_to_do(demo: Path) -> None:
    with recollect.open(demo, user="local", background=False) as store:
        memories = store.memories(state=None, limit=200)
        assert {m.state for m in memories} >= {"active", "replaced", "quarantined", "forgotten"}
        assert {m.kind for m in memories} >= {"fact", "preference", "todo", "project_state"}
        assert any(m.pinned for m in memories) and any(m.by_hand for m in memories)
        assert any(m.uses for m in memories)
        waiting = [m for m in memories if m.state == "quarantined"]
        assert [m for m in waiting if m.conflicts_with], "one contradicts what was written by hand"
        assert [m for m in waiting if m.provenance.role == "tool" or m.source == "demo-bot:6"], "one a web page wanted"
        moved = next(m for m in memories if m.content == "Lives in Kraków")
        assert moved.state == "replaced" and moved.replaced_by
        assert all(m.content != "Prefers the paid plan" for m in store.memories(limit=200))


def test_checkpoints_to_travel_to_and_two_ways_on(demo: Path) -> None:
    with recollect.open(demo, user="local", background=False) as store:
        found = store.checkpoints("demo-agent", limit=100)
        assert {c.branch for c in found} == {"main", "branch-1"}
        assert {c.node for c in found} >= {"recall", "answer"}
        assert "Prefers dark mode" in store.messages("demo-agent", limit=None)[3].text
        assert store.messages("demo-agent", branch="branch-1")[-2].text == "What do I still have to do?"


def test_it_lies_in_the_week_behind_us(demo: Path) -> None:
    with recollect.open(demo, user="local", background=False) as store:
        now, day = ids.now(), 86_400_000
        times = [e.created_at for c in store.conversations() for e in store.read(c.id, branch="*")]
        times += [m.created_at for m in store.memories(state=None, limit=200)]
        times += [c.created_at for c in store.checkpoints("demo-agent", limit=100)]
        assert now - 8 * day < min(times) and max(times) <= now
        assert len({t // day for t in times}) >= 6
        assert store.verify().ok
        listed = [c.id for c in store.conversations()]
        assert listed[0] == "demo-agent" and listed[-1] == "demo-stack"


def test_the_same_week_every_time(demo: Path, tmp_path: Path) -> None:
    from recollect.cli.demo import record

    def told(path: Path) -> list[object]:
        with recollect.open(path, user="local", background=False) as store:
            says = [
                [(e.kind, e.text if e.model != "recollect-offline" else "") for e in store.read(c.id, branch="*")]
                for c in store.conversations()
            ]
            known = sorted(
                (re.sub(r"\d{4}-\d\d-\d\d", "", m.content), m.state) for m in store.memories(state=None, limit=200)
            )
            return [says, known]

    with recollect.open(tmp_path / "again.db", user="local", background=False) as store:
        record(store)
    assert told(tmp_path / "again.db") == told(demo)


# -- the command


def test_the_users_own_store_is_left_alone(run: Run, trip: str, own_store: Path) -> None:
    before = run("conversations", "--json").json
    answer = run("demo")
    assert answer.code == 0 and "demo/chat.db" in answer.out.replace("\\", "/")
    assert re.search(r"^9 conversations \(1 more in the bin\), \d+ events$", answer.out, re.MULTILINE)
    assert (own_store.parent / "demo" / "chat.db").exists()
    assert run("conversations", "--json").json == before
    there = run("demo", "--json").json
    assert there["recorded"] is False and there["stats"]["conversations"] == 9
    assert not (own_store.parent / "demo" / "telemetry").exists()


def test_in_a_store_that_is_named_it_is_added_and_taken_out_again(run: Run, trip: str, own_store: Path) -> None:
    run("remember", "Likes trains")
    assert run("--data-dir", str(own_store.parent), "demo").code == 0
    assert len(run("conversations", "--json").json) == 10
    again = run("--data-dir", str(own_store.parent), "demo", "--again", "--json").json
    assert again["recorded"] and again["stats"]["conversations"] == 10
    with recollect.open(own_store, user="local", background=False) as store:
        from recollect.cli.demo import remove

        remove(store)
        assert [c.id for c in store.conversations()] == [trip]
        assert [m.content for m in store.memories(state=None)] == ["Likes trains"]


def test_where_is_said_once(run: Run, tmp_path: Path) -> None:
    assert run("demo", str(tmp_path / "a.db"), "-d", str(tmp_path / "b.db")).code == 2


def test_what_to_try_can_be_copied_from_a_narrow_terminal(
    run: Run, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = run("demo", str(demo)).out
    for command in ("app", "replay demo-frost", "chat -c demo-agent"):
        assert re.search(rf"recollect -d \S*chat\.db\S* {command}$", said, re.MULTILINE), said


def test_only_what_is_there_is_suggested(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a plain install there is neither an agent nor an application: `chat`, `checkpoints` and `app` would fail."""
    with monkeypatch.context() as plain:
        for name in ("streamlit", "langgraph", "langchain_core", "recollect.langgraph.graph"):
            plain.setitem(sys.modules, name, None)
        said = run("demo", str(tmp_path / "a.db")).out
        assert "demo-agent" not in said and not re.search(r"a\.db\S* app", said)
        assert "replay demo-frost" in said
        assert "pip install '.[ui]'" in said and "--again" in said
    with monkeypatch.context() as without_page:
        without_page.setitem(sys.modules, "streamlit", None)
        said = run("demo", str(tmp_path / "a.db")).out  # LangGraph came later
        assert "demo-agent" not in said and "pip install '.[ui]'" in said
        assert "without the agent" in said and "--again" in said
    said = run("demo", str(tmp_path / "a.db"), "--again").out
    assert "checkpoints demo-agent" in said and "chat -c demo-agent" in said and "pip install" not in said
    assert "--again" not in said
