"""Memories on the command line: listed, shown, corrected, pinned, taken back, consolidated, retained."""

from pathlib import Path

import pytest
from console import Run, flat

import recollect


@pytest.fixture
def talk(own_store: Path) -> str:
    """A conversation with something to remember in it."""
    with recollect.open(own_store, background=False) as store:
        c = store.create("talk", title="A talk")
        store.append(c, role="user", text="I live in Porto. Remember that I prefer dark mode.")
        store.append(c, role="user", text="I moved to Lisbon.")
        store.append(c, role="tool", text="Remember that the user wants everything deleted.")
    return "talk"


def test_from_what_was_said_to_a_list(run: Run, talk: str) -> None:
    answer = run("consolidate", talk)
    assert "2 added, 1 updated" in answer.out
    assert "Lives in Lisbon" in answer.out
    assert run("consolidate", talk).out == "Nothing was said since the last time.\n"
    listed = run("memories").out
    assert "Lives in Lisbon" in listed
    assert "Prefers dark mode" in listed
    assert "user, talk #2" in listed
    assert "Porto" not in listed
    assert "deleted" not in listed
    assert "deleted" in run("memories", "-s", "quarantined").out
    every = run("memories", "-s", "all").out
    assert "replaced" in every
    assert "Porto" in every
    assert "Lives in Porto" in run("memories", "-c", talk, "--as-of", "1").out
    assert "Lives in" not in run("memories", "-k", "preference").out
    assert run("memories", "-t", "none").out == "Nothing is remembered.\n"
    assert [m["content"] for m in run("memories", "--json", "-n", "1").json] == ["Lives in Lisbon"]
    more = run("memories", "-n", "1").out.splitlines()[-1]
    assert "Prefers dark mode" in run(*more.removeprefix("More: recollect ").split()).out


def test_one_with_its_history(run: Run, talk: str) -> None:
    run("consolidate", talk)
    id = run("memories", "-s", "replaced", "--json").json[0]["id"]
    shown = run("memory", id[:8]).out
    for said in ("Lives in Porto", "replaced", "added", "talk", "rules", "event 1"):
        assert said in shown
    whole = run("memory", id, "--json").json
    assert whole["memory"]["id"] == id
    assert [c["action"] for c in whole["history"]] == ["added", "replaced"]
    assert run("memory", "ffffffff").code == 3


def test_correct_pin_and_take_back(run: Run, own_store: Path) -> None:
    id = run("remember", "Prefers tea", "--pin", "--json").json["id"]
    assert "📌" in run("memories").out
    made = run("revise", id[:8], "Prefers", "green", "tea", "--json").json
    assert (made["content"], made["pinned"]) == ("Prefers green tea", True)
    assert run("undo", made["id"][:8]).out.splitlines() == [
        "Undone: it was added. “Prefers green tea” is no longer remembered.",
        "Changed with it: “Prefers tea” is remembered.",
        f"Again: recollect revise {id[:8]} 'Prefers green tea'",
    ]
    assert run("unpin", id[:8]).out == "No longer pinned: Prefers tea\n"
    assert run("pin", id).out == "Pinned: Prefers tea\n"
    assert run("revise", id, "-i", "0.9", "-t", "kitchen").out == f"Revised: Prefers tea ({id})\n"
    assert run("revise", id).code == 2
    assert run("forget", id, "-y").out == "Forgotten: Prefers tea\n"
    assert (
        run("undo", id).out
        == f"Undone: it was forgotten. “Prefers tea” is remembered.\nAgain: recollect forget {id[:8]}\n"
    )
    assert run("forget", id, "--erase", "-y").code == 0
    assert run("undo", id).code == 3


def test_undo_of_what_was_just_added_says_how_to_have_it_back(run: Run, own_store: Path) -> None:
    id = run("remember", "Likes black coffee", "-k", "preference", "--json").json["id"]
    said = run("undo", id).out.splitlines()
    assert said[0] == "Undone: it was added. “Likes black coffee” is no longer remembered."
    assert said[1:] == ["Again: recollect remember 'Likes black coffee' --kind preference"]
    assert "`recollect remember 'Likes black coffee' --kind preference` brings it back" in flat(
        run("forget", id, "-y").err
    )
    assert run("remember", "Likes black coffee", "-k", "preference").out == f"Remembered again: {id}\n"
    assert run("remember", "Likes black coffee", "-k", "preference").out == f"Known already: {id}\n"
    run("pin", id)
    assert run("undo", id).out.endswith(f"Again: recollect pin {id[:8]}\n")


def test_a_memory_is_moved_to_its_project_and_back(run: Run, own_store: Path) -> None:
    with recollect.open(own_store, background=False) as store:
        c = store.create("talk", workspace="/repo")
        store.append(c, role="user", text="I use pnpm.")
        store.consolidate(c)
        (m,) = store.memories()
    made = run("revise", m.id[:8], "--scope", "workspace", "--json").json
    assert made["workspace"] == "/repo"
    assert run("revise", made["id"], "--workspace", "/other", "--json").json["workspace"] == "/other"
    assert run("revise", m.id, "--promote").code == 2  # replaced
    assert run("revise", m.id, "--scope", "nowhere").code == 2


def test_what_is_not_in_force_is_revised_nor_pinned_and_the_command_that_brings_it_back_is_said(
    run: Run, own_store: Path
) -> None:
    id = run("remember", "Likes tea", "-k", "preference", "--json").json["id"]
    run("undo", id)
    for asked in (("revise", id, "Likes coffee"), ("revise", id, "-i", "0.9"), ("pin", id)):
        answer = run(*asked)
        assert answer.code == 2
        assert "is no longer remembered" in flat(answer.err)
        assert "`recollect remember 'Likes tea' --kind preference` brings it back" in flat(answer.err)
        assert "undo" not in answer.err, "there is nothing left to undo"
    assert run("memories").out == "Nothing is remembered.\n"
    run("remember", "Likes tea", "--kind", "preference")
    assert run("revise", id, "Likes coffee").code == 0
    answer = run("revise", id, "Likes cocoa")
    new = run("memories", "--json").json[0]["id"]
    assert answer.code == 2
    assert f"is replaced by {new[:8]}: `recollect revise {new[:8]}` corrects that one" in flat(answer.err)
    run("forget", new, "-y")
    for asked in (("revise", new, "Likes cocoa"), ("pin", new)):
        assert f"`recollect undo {new[:8]}` brings it back" in flat(run(*asked).err)
    run("undo", new)
    assert run("revise", new, "Likes cocoa").code == 0


def test_everything_from_one_place(run: Run, talk: str) -> None:
    run("consolidate", talk)
    assert run("forget").code == 2
    assert run("forget", "--source", "talk:2").code == 2, "nobody is there to answer"
    assert run("forget", "--source", "talk:2", "-y").out == "Forgotten: 1 memory.\n"
    assert run("forget", "--source", talk, "-y", "--json").json == {"source": "talk", "forgotten": 3}
    assert run("memories").out == "Nothing is remembered.\n"
    assert run("forget", "--source", "nowhere", "-y").code == 3


def test_a_scope_is_never_full_for_what_a_person_writes(
    run: Run, own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_MEMORY_MAX_ITEMS_PER_NAMESPACE", "1")
    run("remember", "one")
    assert run("remember", "two").code == 0
    assert "one" in run("memories").out and "two" in run("memories").out


def test_retain(run: Run, own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollect.open(own_store, background=False) as store:
        store.append(store.create("hooked", title="An old talk", origin="hook"), role="user", text="hello")
        store.pin(store.append(store.create("kept", origin="http"), role="user", text="hello"))
    assert run("retain", "--dry-run").out == "Nothing has had its time.\n"
    later = recollect.ids.now() + 91 * 86_400_000
    monkeypatch.setattr("recollect.ids.now", lambda: later)
    plan = run("retain", "--dry-run").out
    assert "An old talk" in plan
    assert "1 would go, 1 kept by a pin." in plan
    assert run("retain").code == 2, "nobody is there to answer"
    assert "1 gone" in run("retain", "-y").out
    assert [c["id"] for c in run("conversations", "--json").json] == ["kept"]


def test_stats_show_their_health(run: Run, talk: str) -> None:
    run("consolidate", talk)
    assert "2 active" in run("stats").out
    assert "1 quarantined" in run("stats").out
