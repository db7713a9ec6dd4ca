"""`recollect erase` and `recollect receipts`."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from console import Run, flat

from recollect.cli import output


@pytest.fixture
def trip(run: Run) -> str:
    run("new", "Trip", "--id", "trip-1", "-w", "/travel")
    for said in ("I live in Porto.", "I have a dog."):
        run("append", "trip-1", said)
    run("consolidate", "trip-1")
    return "trip-1"


def test_the_plan_is_shown_and_asked_for(run: Run, trip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = run("erase", trip, "--dry-run", "--json").json
    assert (plan["applied"], plan["id"], plan["counts"]["events"]) == (False, "", 2)
    assert "would go" in run("erase", trip, "--dry-run").out
    assert run("erase", trip).code == 2
    monkeypatch.setattr(output, "is_interactive", lambda: True)
    declined = run("erase", trip, stdin="n\n")
    assert declined.code == 130
    assert "2 events" in flat(declined.err) and "would go" in flat(declined.err)
    assert run("show", trip).code == 0
    done = run("erase", trip, stdin="y\n")
    assert done.code == 0 and "nothing is left" in done.out
    assert run("show", trip).code == 3


def test_each_thing_by_its_option(run: Run, trip: str) -> None:
    (memory, *_) = run("memories", "--json").json
    assert run("erase", "--memory", memory["id"][:8], "-y", "--json").json["counts"]["memories"] == 1
    assert run("erase", "--event", f"{trip}:2", "-y", "--json").json["counts"]["events"] == 1
    assert run("erase", "--workspace", "/travel", "-y", "--json").json["counts"]["conversations"] == 1
    run("new", "--id", "other")
    everything = run("erase", "--everything", "-y", "--json").json
    assert everything["counts"]["conversations"] == 1 and list(everything["request"]) == ["user"]
    assert run("conversations", "--json").json == []
    assert run("erase", "-y").code == run("erase", trip, "--everything", "-y").code == 2


def test_an_event_is_named_as_its_conversation_is_with_a_number(run: Run, trip: str) -> None:
    for wrong in (trip, f"{trip}:", ":1", "", f"{trip}:x", "1"):
        for asked in (("erase", "--event", wrong, "-y"), *([("pin", wrong)] if ":" in wrong else [])):
            answer = run(*asked)
            assert answer.code == 2
            assert "is no event" in flat(answer.err) and "CONVERSATION:NUMBER" in flat(answer.err)
            assert "`recollect replay @` shows the numbers" in flat(answer.err)
    for name in ("@:1", "@"):
        newest = run("erase", "--event", name, "-y")
        assert newest.code == 2
        assert "another program may make a newer one. Give its id" in flat(newest.err)
    assert "no conversation 'nowhere'" in flat(run("erase", "--event", "nowhere:1", "-y").err)
    assert "has events 1 to 2; there is no 9" in flat(run("erase", "--event", f"{trip}:9", "-y").err)
    assert run("erase", "--event", "trip:2", "-y", "--json").json["counts"]["events"] == 1
    for asked in (
        ("pin", "@:1"),
        ("pin", "trip:1"),
        ("forget", "--source", "@:1", "-y"),
        ("forget", "--source", "trip:1", "-y"),
    ):
        assert run(*asked).code == 0
    assert run("pins", trip).out == f"{trip}:1\n"
    assert run("memories", "--json").json == []
    assert run("remember", "Has a cat", "--source", "@:1", "--json").json["source"] == f"{trip}:1"
    assert run("remember", "Has a bird", "--source", "a letter: 1", "--json").json["source"] == "a letter: 1"


def test_of_a_memory_that_was_erased_what_was_said_stays_and_is_told_so(run: Run, trip: str) -> None:
    (memory, *_) = run("memories", "--json").json
    run("erase", "--memory", memory["id"], "-y")
    said = flat(run("receipts", "verify").out)
    assert (
        "nothing of what was erased is in the memories, the index" in said and "What was said stays in the log" in said
    )
    run("erase", trip, "-y")
    both = flat(run("receipts", "verify").out)
    assert "is in the log, the memories" in both and "where only a memory of it was erased" in both


def test_receipts_are_listed_and_verified(run: Run, trip: str, own_store: Path) -> None:
    assert run("receipts").out == "Nothing was erased.\n"
    assert "nothing to verify" in run("receipts", "verify").out
    receipt = run("erase", trip, "-y", "--json").json
    assert [r["id"] for r in run("receipts", "--json").json] == [receipt["id"]]
    assert [r["id"] for r in run("receipts", "-c", trip, "--json").json] == [receipt["id"]]
    assert run("receipts", "-c", "other", "--json").json == []
    verified = run("receipts", "verify")
    assert verified.code == 0 and "Verified 1 receipt now: nothing" in verified.out
    assert "verified  nothing is left" in verified.out and "verified" not in run("receipts").out.lower()
    assert run("receipts", "verify", receipt["id"], "--json").json[0]["checks"]["events"] == 0
    assert run("receipts", "verify", "unknown").code == 3
    assert run("receipts", "nonsense").code == 2
    made = apsw.Connection(str(own_store))
    made.execute("insert into tombstones select no, 1, 1, 1, 0 from users").fetchall()
    made.close()
    found = run("receipts", "verify")
    assert found.code == 6 and "tombstones 1" in flat(found.out)
    assert "1 of them does not hold" in found.out


def test_what_went_is_said_in_words_of_who_erased_it(run: Run, trip: str) -> None:
    plan, done = run("erase", trip, "--dry-run").out, run("erase", trip, "-y").out
    assert "would go  1 conversation, 2 events, 2 memories, and all that was made of it" in plan
    assert "gone     1 conversation, 2 events, 2 memories, and all that was made of it" in done
    listed = run("receipts").out
    assert "a conversation, asked for by user" in listed
    for internal in ("memory_changes", "vectors", "considered", "branches"):
        assert internal not in plan + done + listed


def test_an_erased_id_is_refused_unless_said(run: Run, trip: str) -> None:
    run("erase", trip, "-y")
    assert "again" in flat(run("append", trip, "late").err) or run("append", trip, "late").code == 3
    refused = run("new", "--id", trip)
    assert refused.code == 3 and "was erased" in flat(refused.err)
    assert run("new", "--id", trip, "--again").code == 0


def test_backups_are_named(run: Run, trip: str, own_store: Path) -> None:
    run("backup")
    held = [p.name for p in (own_store.parent / "backups").iterdir() if p.suffix == ".db"]
    said = run("erase", trip, "-y").out
    assert all(name in flat(said) for name in held) and held
