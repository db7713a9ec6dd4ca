"""Transcripts of Claude Code come in whole, once, and meet what hooks recorded of the same session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import transfer
from recollect.errors import InvalidInput
from recollect.transfer import claude_code
from talk import Open
from transcripts import SESSION, Transcript, session


def bring(store: recollect.Store, path: Path) -> recollect.Imported:
    return transfer.bring(store, "claude-code", path)


def test_a_session_becomes_a_conversation(store: recollect.Store, tmp_path: Path) -> None:
    found = bring(store, session().write(tmp_path).parents[1])
    c = store.get(SESSION)
    assert (c.title, c.workspace, c.origin) == ("Wider beds for the garden", "/repo/garden", "import")
    assert found.added["conversations"] == 1 and not found.problems
    said = [(m.role, m.text) for m in store.messages(c.id, limit=None)]
    assert said == [
        ("user", "Please make the beds 20 cm wider. I prefer centimetres."),
        ("assistant", "I will look at the plan."),
        ("assistant", "The beds are 100 cm wide now; one test fails."),
    ]
    events = store.read(c.id)
    uses = {e.tool: e for e in events if e.kind == "tool_use"}
    results = {e.tool: e for e in events if e.kind == "tool_result"}
    assert uses["Bash"].text == "pytest -q" and uses["Edit"].path == "src/plan.py"
    assert results["Edit"].payload["diff"] == "@@ -1,1 +1,1 @@\n-WIDTH = 80\n+WIDTH = 100"
    assert (results["Bash"].status, results["Read"].status) == ("error", "ok")
    assert [r.text for r in store.reasoning(c.id)] == ["Look first."]
    assert [(task.goal, task.status) for task in store.ledger(c.id)] == [("Widen the beds", "completed")]
    assert not any("sensitive" in e.tags for e in events)  # or it would never be handed out
    first = events[1]
    assert (first.text, first.created_at) == (said[0][1], 1_791_194_401_250)
    # One answer is several lines that repeat what it cost: it is counted once.
    assert sum(e.output_tokens or 0 for e in events) == 7 * 5


def test_a_session_is_as_old_as_what_was_said_in_it_and_kept_from_the_day_it_came(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store(retention_application_days=30)
    bring(store, session().write(tmp_path).parents[1])
    c, newest = store.get(SESSION), store.read(SESSION, branch="*")[-1]
    assert newest.created_at < recollect.ids.now() - 30 * 86_400_000
    assert c.updated_at == store.conversations()[0].updated_at == newest.created_at
    assert [b.updated_at for b in store.branches(SESSION) if b.active] == [newest.created_at]
    assert store.retain(dry_run=True).expiries == (), "its days begin when it comes in"
    said = store.append(SESSION, role="user", text="Go on")
    assert store.get(SESSION).updated_at == said.created_at


def test_nothing_is_lost(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    t.answer({"type": "text", "text": "a"}, {"type": "server_tool_use", "x": [1, None]}, {"type": "text", "text": "b"})
    t.prompt("", parent="unknown", unknownField={"deep": [1.5, "x"]})
    t.line("from-the-future", what={"is": "this"})
    found = bring(store, t.write(tmp_path))
    assert claude_code.original(store.read(SESSION, branch="*")) == t.lines
    assert found.added["lines of the unknown type 'from-the-future', kept whole"] == 1


def test_a_second_import_adds_nothing(open_store: Open, tmp_path: Path) -> None:
    file = session().write(tmp_path)
    first = open_store()
    bring(first, file)
    before = first.read(SESSION)
    again = open_store()
    for path in (tmp_path, file):  # found, and named
        found = bring(again, path)
        assert not found.added and found.known
    assert again.read(SESSION) == before


@pytest.mark.parametrize("content", [b"\x7fELF\x00\x01\n\x02", b"# A page\n\nwith words\n", b'["a", "list"]\n'])
def test_a_file_that_is_no_transcript_is_refused(store: recollect.Store, tmp_path: Path, content: bytes) -> None:
    """Any file became a conversation of lines that nobody could read."""
    (tmp_path / "page.md").write_bytes(content)
    with pytest.raises(InvalidInput, match="no transcript"):
        bring(store, tmp_path / "page.md")
    assert store.conversations() == []


@pytest.mark.parametrize("content", ['{"id": 1, "name": "a customer"}\n' * 60, "1\n2\n", "", '{"type": 7}\n', "\0\n"])
def test_files_of_other_programs_in_a_folder_are_left_out(store: recollect.Store, tmp_path: Path, content: str) -> None:
    """Each became a conversation: the rows that a tool had written, of whatever they were."""
    place = session().write(tmp_path).with_suffix("") / "tool-results"
    place.mkdir(parents=True)
    (place / "rows.jsonl").write_text(content)
    found = bring(store, tmp_path)
    assert [c.id for c in store.conversations()] == [SESSION]
    assert (found.known, found.problems) == ({"files that are no transcripts": 1}, ())


def test_only_new_lines_are_read(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    bring(store, t.write(tmp_path).parents[1])
    t.prompt("And the paths?")
    t.uses("Bash", {"command": "ls"}, "toolu_05")
    text = t.text()
    t.gets("toolu_05", "plan.py")
    half = text + t.text()[len(text) : len(text) + 40]
    file = tmp_path / "-repo-garden" / f"{SESSION}.jsonl"
    file.write_text(half, "utf-8")
    assert bring(store, tmp_path).added["events"] == 2
    assert not bring(store, tmp_path).added
    t.write(tmp_path)
    assert bring(store, tmp_path).added["events"] == 1
    newest = store.read(SESSION)[-1]
    assert (newest.kind, newest.tool, newest.text) == ("tool_result", "Bash", "plan.py")
    assert claude_code.original(store.read(SESSION)) == t.lines


def test_an_interrupted_import_goes_on_where_it_was(
    store: recollect.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    t = Transcript()
    for i in range(60):
        t.prompt(f"question {i}")
        t.says(f"answer {i}")
    file = t.write(tmp_path)
    monkeypatch.setattr(claude_code, "BATCH_LINES", 25)
    steps = iter(range(10))
    with pytest.raises(KeyboardInterrupt):
        transfer.bring(
            store,
            "claude-code",
            tmp_path,
            progress=lambda *_: next(steps) < 3 or (_ for _ in ()).throw(KeyboardInterrupt),
        )
    part = store.get(SESSION).last_seq
    assert 0 < part < 120
    bring(store, file.parents[1])
    assert [e.text for e in store.read(SESSION, kinds=["message"])] == [
        w for i in range(60) for w in (f"question {i}", f"answer {i}")
    ]


def test_a_rewound_prompt_is_a_branch(store: recollect.Store, tmp_path: Path) -> None:
    t = Transcript()
    t.prompt("Which colour?")
    fork = t.says("Red or blue?")
    t.prompt("Red.")
    t.says("Painting it red.")
    t.prompt("Blue.", parent=fork)
    t.says("Painting it blue.")
    # Parallel calls answer to the same line: that is no fork.
    one = t.answer({"type": "tool_use", "id": "toolu_a", "name": "Bash", "input": {"command": "a"}}, id="msg_p")
    two = t.answer({"type": "tool_use", "id": "toolu_b", "name": "Bash", "input": {"command": "b"}}, id="msg_p")
    t.gets("toolu_a", "A", parent=one)
    t.gets("toolu_b", "B", parent=two)
    t.says("Done.")
    file = t.write(tmp_path)
    assert bring(store, file).added["branches"] == 1
    said = [m.text for m in store.messages(SESSION, limit=None)]
    assert said == ["Which colour?", "Red or blue?", "Blue.", "Painting it blue.", "Done."]
    assert [m.text for m in store.messages(SESSION, limit=None, branch="main")][-2:] == ["Red.", "Painting it red."]
    assert len(store.branches(SESSION)) == 2
    assert not bring(store, file).added
    t.prompt("Red after all.", parent=fork)
    t.write(tmp_path)
    bring(store, tmp_path)
    assert len(store.branches(SESSION)) == 3
    assert [m.text for m in store.messages(SESSION, limit=None)] == ["Which colour?", "Red or blue?", "Red after all."]


def test_agents_speak_under_their_own_names(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    t.prompt("Survey the beds.", parent=None, isSidechain=True)
    file = t.write(tmp_path)
    agent = Transcript()
    agent.lines = []
    agent.prompt("Count the seeds; I prefer that you are quick.", isSidechain=True, agentId="a748733")
    agent.says("There are 40.", isSidechain=True, agentId="a748733")
    folder = file.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for line in agent.lines:
        line["uuid"] = "agent-" + line["uuid"]
    (folder / "agent-a748733.jsonl").write_text(agent.text(), "utf-8")
    bring(store, tmp_path)
    assert len(store.messages(SESSION, limit=None)) == 3
    assert {e.agent for e in store.read(SESSION)} == {None, "sidechain", "a748733"}
    assert [e.text for e in store.read(SESSION) if e.agent == "a748733"][-1] == "There are 40."
    store.consolidate(SESSION)
    assert [m.content for m in store.memories() if "quick" in m.content] == []


def test_what_is_put_into_the_users_mouth_is_not_theirs(store: recollect.Store, tmp_path: Path) -> None:
    t = Transcript()
    t.prompt("I prefer green gates.")
    t.prompt("<system-reminder>I prefer red gates.</system-reminder>", isMeta=True)
    t.prompt("This session continues. I prefer blue gates.", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    t.prompt("<command-name>/gates</command-name> I prefer black gates.")
    t.prompt("Agent finished. I prefer white gates.", origin={"kind": "task-notification"})
    bring(store, t.write(tmp_path))
    assert [m.text for m in store.messages(SESSION)] == ["I prefer green gates."]
    store.consolidate(SESSION)
    assert [m.content for m in store.memories(kinds=["preference"])] == ["Prefers green gates"]


def test_an_unknown_version_is_reported_and_kept_uninterpreted(store: recollect.Store, tmp_path: Path) -> None:
    t = Transcript(version="9.0.1")
    t.prompt("Who knows what this means?")
    found = bring(store, t.write(tmp_path))
    assert ["9.0.1" in p.what for p in found.problems] == [True]
    assert store.messages(SESSION) == []
    assert claude_code.original(store.read(SESSION)) == t.lines


def test_what_was_deleted_here_does_not_come_back_by_itself(store: recollect.Store, tmp_path: Path) -> None:
    store.create("other")
    t = session()
    file = t.write(tmp_path)
    bring(store, tmp_path)
    store.delete(SESSION)
    t.prompt("More?")
    t.write(tmp_path)
    assert "events" not in bring(store, tmp_path).added
    store.restore(SESSION)
    store.erase(conversation=SESSION)
    assert "events" not in bring(store, tmp_path).added
    with pytest.raises(recollect.errors.NotFound):
        store.get(SESSION)
    assert bring(store, file).added["conversations"] == 1  # named, it is meant


@pytest.mark.parametrize("name", ["backup", f"{SESSION} (1)", f"old.{SESSION}", f"{SESSION}.jsonl"])
def test_a_copy_under_another_name_is_the_same_session(store: recollect.Store, tmp_path: Path, name: str) -> None:
    t = session()
    t.write(tmp_path / "copies", name)
    t.prompt("More?")
    t.write(tmp_path / "projects")
    for place in ("copies", "projects", "copies"):
        bring(store, tmp_path / place)
        assert [c.id for c in store.conversations()] == [SESSION]
    assert claude_code.original(store.read(SESSION)) == t.lines
    store.erase(conversation=SESSION)
    t.write(tmp_path / "copies", f"{name} again")
    bring(store, tmp_path / "copies")
    assert store.conversations() == [], "what was erased does not come back by a copy"


def test_a_store_that_was_put_back_gets_again_what_it_lost(tmp_path: Path) -> None:
    def opened() -> recollect.Store:
        return recollect.open(tmp_path / "chat.db", data_dir=str(tmp_path), background=False, semantic=False)

    t, other = session(), Transcript(session=SESSION.replace("95e6", "0000"))
    t.write(tmp_path / "projects")
    with opened() as store:
        bring(store, tmp_path / "projects")
        store.backup(tmp_path / "old.db")
        t.prompt("More?")
        t.write(tmp_path / "projects")
        other.prompt("Another matter.")
        other.write(tmp_path / "projects")
        bring(store, tmp_path / "projects")
        held = {c.id: c.last_seq for c in store.conversations()}
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"chat.db{end}").unlink(missing_ok=True)
    (tmp_path / "old.db").rename(tmp_path / "chat.db")
    with opened() as store:
        bring(store, tmp_path / "projects")
        assert {c.id: c.last_seq for c in store.conversations()} == held
        assert [m.text for m in store.messages(SESSION, limit=1)] == ["More?"]
        assert bring(store, tmp_path / "projects").added == {}


def test_an_event_that_was_deleted_here_does_not_come_back_when_the_file_is_named(
    store: recollect.Store, tmp_path: Path
) -> None:
    t = session()
    file = t.write(tmp_path)
    bring(store, file)
    first = store.messages(SESSION)[0]
    store.delete_event(SESSION, first.seq)
    left = store.read(SESSION)
    for _ in range(2):
        assert "events" not in bring(store, file).added
        assert store.read(SESSION) == left
    t.prompt("More?")
    t.write(tmp_path)
    assert bring(store, file).added["events"] == 1
    transfer.bring(store, "claude-code", file, again=True)
    assert store.read(SESSION)[-1].text == first.text, "it was asked for"


def test_a_file_that_goes_away_meanwhile_stops_nothing(
    store: recollect.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = session().write(tmp_path, "gone")
    other = Transcript(session=SESSION.replace("95e6", "0000"))
    other.prompt("Another matter.")
    other.write(tmp_path)
    real = Path.is_file

    def is_file(self: Path) -> bool:  # as Claude Code deletes old ones: right after it was looked at
        was = real(self)
        if self == gone:
            gone.unlink(missing_ok=True)
        return was

    monkeypatch.setattr(Path, "is_file", is_file)
    assert bring(store, tmp_path).added["conversations"] == 1


def test_what_lies_in_the_folder_of_a_session_and_names_none_is_of_that_session(
    store: recollect.Store, tmp_path: Path
) -> None:
    sessions = [SESSION, SESSION.replace("95e6", "0000")]
    for n, id in enumerate(sessions):
        t = Transcript(session=id, cwd=f"/repo/{n}")
        t.prompt(f"Begin {n}.")
        place = t.write(tmp_path / str(n)).with_suffix("") / "workflows" / "w"
        place.mkdir(parents=True)
        line = {"type": "started", "key": f"step {n}"}
        (place / "journal.jsonl").write_text(json.dumps(line) + "\n")
    bring(store, tmp_path)
    assert {c.id: c.workspace for c in store.conversations()} == {sessions[0]: "/repo/0", sessions[1]: "/repo/1"}
    for n, id in enumerate(sessions):
        assert claude_code.original(store.read(id))[-1] == {"type": "started", "key": f"step {n}"}


def test_a_file_of_two_sessions_is_known_by_its_name(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    t.session = SESSION.replace("95e6", "0000")
    t.prompt("Elsewhere now.")
    t.write(tmp_path, "joined")
    bring(store, tmp_path)
    assert [c.id for c in store.conversations()] == ["joined"]


def test_a_copy_that_was_brought_in_under_its_own_name_goes_on_there(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    store.create("backup")
    t.write(tmp_path, "backup")
    for _ in range(2):
        bring(store, tmp_path)
        assert [c.id for c in store.conversations()] == ["backup"]
        t.prompt("More?")
        t.write(tmp_path, "backup")


def test_what_was_erased_does_not_come_back_and_stops_nothing(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    one = t.write(tmp_path)
    bring(store, tmp_path)
    store.erase(conversation=SESSION)  # the only one there was: cursors of an empty store count for nothing
    t.prompt("More?")
    t.write(tmp_path)
    other = Transcript(session=SESSION.replace("95e6", "0000"))
    other.prompt("Another matter.")
    other.write(tmp_path, "other")
    for place in (tmp_path, one):  # `watch` of a folder, and of a file
        found = transfer.bring(store, "claude-code", place, again=False)
        assert found.known["conversations that were deleted here since"] == 1
        assert [c.id for c in store.conversations()] == [other.session]
    assert claude_code.save(store, one), "a hook that saves it before it is compacted"
    assert [c.id for c in store.conversations()] == [other.session]
    assert bring(store, one).added["conversations"] == 1, "named, it is meant"


def test_an_event_that_was_erased_is_left_out(store: recollect.Store, tmp_path: Path) -> None:
    path = session().write(tmp_path)
    bring(store, path)
    said = store.read(SESSION, kinds=("message",))[0]
    held = len(store.read(SESSION, branch="*"))
    store.erase(source=said)
    bring(store, path)
    assert len(store.read(SESSION, branch="*")) < held and said.text not in [e.text for e in store.read(SESSION)]


def test_what_a_hook_recorded_and_was_erased_does_not_come_by_its_transcript(
    store: recollect.Store, tmp_path: Path
) -> None:
    t = Transcript()
    t.prompt("a slip of mine")
    t.prompt("and more")
    store.create(SESSION)
    said = store.append(SESSION, role="user", text="a slip of mine", key="p:abc")
    store.erase(source=said)
    claude_code.save(store, t.write(tmp_path))
    assert [e.text for e in store.read(SESSION, kinds=("message",))] == ["and more"]


def test_a_title_given_here_stays(store: recollect.Store, tmp_path: Path) -> None:
    t = session()
    bring(store, t.write(tmp_path))
    store.rename(SESSION, "Mine")
    t.note("ai-title", aiTitle="Another title")
    t.write(tmp_path)
    bring(store, tmp_path)
    assert store.get(SESSION).title == "Mine"


def test_a_secret_across_the_edge_of_what_is_shown_is_replaced(store: recollect.Store, tmp_path: Path) -> None:
    """Half a secret is no longer known for one, so it is replaced before anything is cut."""
    t = Transcript()
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    t.prompt("Write it down.")
    t.uses("Write", {"file_path": "a", "content": "a b " * 97 + f"{secret} and so on " + "a b " * 100}, "toolu_01")
    t.uses("x" * 188 + f" {secret}", {}, "toolu_02")
    t.note("ai-title", aiTitle="a b " * 47 + f"{secret} and so on")
    bring(store, t.write(tmp_path))
    for event in store.read(SESSION):
        assert secret[:8] not in repr((event.text, event.tool, event.payload))
        assert ("sensitive" in event.tags) == (event.kind != "message" and "[redacted:" in repr(event))
    assert secret[:8] not in (store.get(SESSION).title or "")


def test_secrets_of_a_transcript_are_replaced(store: recollect.Store, tmp_path: Path) -> None:
    t = Transcript()
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    t.prompt(f"Use {secret} for the push.", unknown={"kept": secret})
    t.uses("Bash", {"command": f"curl -H 'Authorization: Bearer {secret}' x"}, "toolu_09")
    t.gets("toolu_09", f"token {secret}", {"stdout": secret})
    t.note("ai-title", aiTitle=f"Pushing with {secret}")
    bring(store, t.write(tmp_path))
    for event in store.read(SESSION):
        assert secret not in event.text and secret not in json.dumps(event.payload)

    cursors = [f for f in Path(store.settings.data_dir or "").rglob("*.json") if f.is_file()]
    assert cursors and all(secret not in f.read_text("utf-8") for f in cursors)


def test_large_files_are_streamed(open_store: Open, tmp_path: Path) -> None:
    import tracemalloc

    store = open_store(background=False)
    t = Transcript()
    for i in range(40):
        t.uses("Bash", {"command": f"run {i}"}, f"toolu_{i}")
        t.gets(f"toolu_{i}", f"{i}:" + "x" * 500_000)
    file = t.write(tmp_path)
    t.lines.clear()
    tracemalloc.start()
    bring(store, file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < file.stat().st_size / 1.5 > 10_000_000
    assert store.get(SESSION).last_seq == 80


# -- wild lines ------------------------------------------------------------------------------------------------------

ids = st.one_of(st.none(), st.text(max_size=6), st.sampled_from(["u1", "u2", "u3", "u4"]))
tools = st.sampled_from(["toolu_1", "toolu_2", "", None, 7])
words = st.one_of(st.text(max_size=30), st.sampled_from(["hello", "<command-name>x", "a\u0000b", "\ud800"]))
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
blocks = st.one_of(
    st.fixed_dictionaries({"type": st.just("text")}, optional={"text": words | anything}),
    st.fixed_dictionaries({"type": st.just("thinking")}, optional={"thinking": words | anything, "signature": words}),
    st.fixed_dictionaries({"type": st.just("tool_use")}, optional={"id": tools, "name": words, "input": anything}),
    st.fixed_dictionaries(
        {"type": st.just("tool_result")},
        optional={"tool_use_id": tools, "content": words | anything, "is_error": anything},
    ),
    anything,
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "summary", "progress", "new"]) | anything},
    optional={
        "uuid": ids, "parentUuid": ids, "timestamp": st.sampled_from(["2026-10-05T10:00:00.000Z", "never", 5]),
        "sessionId": words, "cwd": words, "version": st.sampled_from(["2.1.3", "1.0.0", "7.1", 3]),
        "isSidechain": st.booleans(), "isMeta": st.booleans(), "toolUseResult": anything, "agentId": anything,
        "message": anything | st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"])},
            optional={"content": words | st.lists(blocks, max_size=4) | anything, "usage": anything, "model": anything, "id": ids},
        ),
    },
)  # fmt: skip


def as_json(value: Any) -> Any:
    """NaN is not itself."""
    return json.dumps(value, sort_keys=True)


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(
    found=st.lists(st.one_of(lines, lines, anything), max_size=8), garbage=st.lists(st.binary(max_size=20), max_size=2)
)
def test_wild_lines_are_kept_as_they_are_and_once(
    tmp_path_factory: pytest.TempPathFactory, found: list[Any], garbage: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("wild")
    file = folder / f"{SESSION}.jsonl"  # by its name a damaged one is known too
    junk = [g.replace(b"\n", b"").replace(b"\r", b"").strip() for g in garbage]
    raw = [json.dumps(line).encode() for line in found] + [g for g in junk if g]
    file.write_bytes(b"".join(line + b"\n" for line in raw))
    with recollect.open(folder / "a.db", semantic=False, background=False, redact=False, memory_extract=False) as store:
        transfer.bring(store, "claude-code", folder)  # a file that is named and holds no object at all is refused
        if not raw:
            return
        events = store.read(SESSION, branch="*")
        kept = [json.dumps(x, sort_keys=True) if not isinstance(x, bytes) else x for x in claude_code.original(events)]
        wanted: list[Any] = []
        for line in raw:
            try:
                wanted.append(json.dumps(json.loads(line), sort_keys=True))
            except (ValueError, RecursionError):
                wanted.append(line)
        for one in wanted:
            assert one in kept, (one, kept)
        again = transfer.bring(store, "claude-code", folder, again=True)
        assert "events" not in again.added
        assert store.read(SESSION, branch="*") == events


def test_the_bulk_of_requests_is_left_out_and_counted(open_store: Open, tmp_path: Path) -> None:
    """483 KB became 3.8 MB: each request is in a transcript once more, with all instructions and tools."""
    t = Transcript()
    t.note("api-request-shape", shape={"tools": ["x" * 30_000]})
    first = t.prompt("Make the beds wider.")
    t.line("attachment", attachment={"type": "prompt_snapshot", "systemPrompt": ["y" * 50_000]})
    t.line("attachment", attachment={"type": "todo_reminder"})
    t.says("They are wider.")
    t.note("api-request-blob", message={"role": "user", "content": "Make the beds wider."})
    t.line("attachment", attachment={"type": "skill_listing", "content": "z" * 9_000})
    left_out = t.tip
    t.prompt("And deeper.")
    t.prompt("No: flatter.", parent=left_out)  # gone back to a line that is not here
    store = open_store()
    done = transfer.bring(store, "claude-code", t.write(tmp_path))
    assert done.known["lines of requests, left out"] == 4 and not done.problems
    assert len(json.dumps([e.payload for e in store.read(SESSION, branch="*")])) < 10_000
    assert [m.text for m in store.messages(SESSION)] == ["Make the beds wider.", "They are wider.", "No: flatter."]
    assert first in {line["uuid"] for line in claude_code.original(store.read(SESSION, branch="*"))}
    t.says("Flat they are.")
    transfer.bring(store, "claude-code", t.write(tmp_path))
    assert store.messages(SESSION)[-1].text == "Flat they are."
