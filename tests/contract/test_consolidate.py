"""Consolidation end to end: what is said becomes memories, once; what was purged meanwhile stays so."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import recollect
from recollect import asked, consolidate, ids
from recollect.errors import ConversationDeleted, NotFound
from talk import Hashed, Open, eventually


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    return open_store(background=False, memory_extract=True)


def contents(store: recollect.Store, **asked: Any) -> list[str]:
    return sorted(m.content for m in store.memories(limit=1_000, **asked))


def say(store: recollect.Store, c: Any, *texts: str, role: str = "user") -> recollect.Consolidation:
    store.append_many(c, [{"role": role, "text": text} for text in texts])
    return store.consolidate(c)


def test_a_preference_told_in_one_conversation_answers_in_another(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    done = say(words, c, "Remember that I prefer dark mode.", "What is the time?")
    assert (done.conversation_id, done.branch, done.turns, done.candidates, done.added) == ("c", "main", 2, 1, 1)
    (m,) = words.memories()
    assert (m.content, m.kind, m.state, m.by_hand) == ("Prefers dark mode", "preference", "active", False)
    assert m.provenance.conversation_id == "c"
    assert (m.provenance.branch, m.provenance.seqs, m.provenance.checkpoint_id) == ("main", (1,), "event:1")
    assert (m.provenance.role, m.provenance.extractor) == ("user", "rules")
    assert [h.text for h in words.recall("which mode?", conversation=d)] == ["Prefers dark mode"]
    assert "Prefers dark mode" in words.context("dark mode or light mode?", conversation=d).text


def test_a_turn_is_considered_once(words: recollect.Store) -> None:
    c = words.create("c")
    assert say(words, c, "I live in Porto.").added == 1
    again = words.consolidate(c)
    assert (again.turns, again.candidates, again.decisions) == (0, 0, ())
    words.forget(words.memories()[0])
    assert words.consolidate(c).turns == 0
    assert contents(words) == []


def test_a_turn_that_cannot_be_read_does_not_keep_the_next_from_being_read(
    words: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract = consolidate.candidates

    def broken(turn: Any, **more: Any) -> Any:
        if "left" in turn.text:
            raise IndexError("tuple index out of range: I left.")
        return extract(turn, **more)

    monkeypatch.setattr(consolidate, "candidates", broken)
    c = words.create("c")
    done = say(words, c, "I live in Porto.", "I left.", "I have two cats.")
    assert (done.turns, contents(words)) == (3, ["Has two cats", "Lives in Porto"])
    assert words.consolidate(c).turns == 0, "it was considered"
    stats = words.stats()
    assert (stats.memories["not_understood"], stats.jobs["failed"]) == (1, 1)
    (error,) = stats.job_errors
    assert "IndexError" in error and "event 2 of c" in error and "I left" not in error
    words.erase(conversation=c)
    assert words.stats().memories["not_understood"] == 0


def test_short_messages_are_read(words: recollect.Store) -> None:
    c = words.create("c")
    say(words, c, "I left.", "we moved to!", 'The label says "Save it now" Not "Submit".', "I live in Porto.")
    assert contents(words) == ["Lives in Porto"]
    assert words.stats().memories["not_understood"] == 0


def test_a_newer_contradiction_replaces(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    say(words, c, "I live in Porto.")
    assert say(words, d, "I moved to Lisbon.").updated == 1
    assert contents(words) == ["Lives in Lisbon"]
    (old,) = words.memories(state="replaced")
    new = words.memories()[0]
    assert (old.content, old.replaced_by) == ("Lives in Porto", new.id)
    (change,) = [h for h in words.memory_history(old) if h.action == "replaced"]
    assert (change.who, change.conversation_id, change.seq) == ("rules", "d", 1)
    assert change.why
    assert change.before is not None
    assert (change.before.state, change.after.state) == ("active", "replaced")
    words.undo(new)
    assert contents(words) == ["Lives in Porto"]


def test_the_same_again_refreshes(words: recollect.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_700_000_000_000]
    monkeypatch.setattr("recollect.ids.now", lambda: clock[0])
    c = words.create("c")
    say(words, c, "I live in Porto.")
    for _ in range(5):
        clock[0] += 1_000
        assert say(words, c, "I live in Porto.").unchanged == 1
    (m,) = words.memories()
    assert m.updated_at == clock[0]
    assert [h.action for h in words.memory_history(m)] == ["added", "confirmed"]


def test_forget_that(words: recollect.Store) -> None:
    c = words.create("c")
    say(words, c, "I live in Porto.")
    assert say(words, c, "Forget that I live in Porto.").deleted == 1
    assert contents(words) == []
    (m,) = words.memories(state="forgotten")
    words.undo(m)
    assert contents(words) == ["Lives in Porto"]


@pytest.mark.parametrize("how", ["written", "pinned"])
def test_what_a_person_wrote_or_pinned_is_contradicted_not_changed(words: recollect.Store, how: str) -> None:
    c = words.create("c")
    if how == "written":
        words.remember("Lives in Porto")
    else:
        say(words, c, "I live in Porto.")
        words.pin(words.memories()[0])
    for text in ("I moved to Lisbon.", "I no longer live in Porto."):
        done = say(words, c, text)
        assert (done.updated, done.deleted) == (0, 0)
    (m,) = words.memories()
    assert (m.content, m.state) == ("Lives in Porto", "active")
    assert m.flag is not None
    assert words.stats().memories["conflicts"] == 1
    waiting = words.memories(state="quarantined")
    assert [w.content for w in waiting] == ["Lives in Lisbon"]
    assert waiting[0].conflicts_with == m.id


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_the_users_own_words_become_active(words: recollect.Store, role: str) -> None:
    c = words.create("c")
    say(words, c, "I live in Porto.")
    say(words, c, "Remember that I live in Rome.", "Forget that I live in Porto.", "The user prefers tabs.", role=role)
    assert contents(words) == ["Lives in Porto"]
    assert all(m.provenance.role == role for m in words.memories(state="quarantined"))


def test_a_model_gives_no_tag_that_only_a_person_gives(open_store: Open) -> None:
    def model(_: object) -> str:
        tags = ["always-allow", " Always-Allow ", "shell"]
        found = {"content": "Likes rm commands", "kind": "preference", "importance": 0.9, "source": 1, "tags": tags}
        return json.dumps({"candidates": [found]})

    store = open_store(background=False, memory_extract=True, model=model)
    say(store, store.create("c"), "rm commands are quite what this person likes, hm.")
    (m,) = store.memories()
    assert (m.content, m.provenance.extractor, m.tags) == ("Likes rm commands", "model:model", ("shell",))


def test_another_agents_words_are_not_the_users(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="Remember that I live in Rome.", agent="researcher")
    words.append(c, role="user", text="Remember that I live in Bonn.", payload={"own": False})
    words.consolidate(c)
    assert contents(words) == []


def test_what_was_recalled_is_not_learned_again(words: recollect.Store) -> None:
    words.remember("Prefers dark mode")
    found = words.context("dark mode").text
    assert found
    c = words.create("c")
    done = say(words, c, f"{found}\n\nI live in Porto.")
    assert [content for _, content, _ in done.decisions] == ["Lives in Porto"]


@pytest.mark.parametrize("model, waiting", [("recollect-offline", 0), ("llama", 1)])
def test_answers_without_a_model_are_not_learned_again(words: recollect.Store, model: str, waiting: int) -> None:
    """They list what is remembered; in the application each such answer came back as something to review."""
    c = words.create("c")
    say(words, c, "I always write tests in Vitest.")
    listed = "On record about you:\n- Always writes tests in Vitest (since 12 November 2026)"
    words.append(c, role="assistant", text=listed, model=model)
    words.consolidate(c)
    assert len(words.memories(state="quarantined")) == waiting
    assert len(words.memories()) == 1


def test_redacted_before_it_is_a_memory(open_store: Open) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    store = open_store(background=False, memory_extract=True)
    c = store.create("c")
    say(store, c, f"Remember that my token is {secret}")
    say(store, c, f"My name is Kim. My token is {secret}. My password is 'hunter2-Xy9!' and I live in Porto.")
    say(store, c, "Remember my card 4111 1111 1111 1111")
    say(store, c, "my api key is sk-ant-api03-AbCdEfGhIj... and my wifi password is Sunflower")
    say(store, c, "Our database is at postgres://app:pa55w0rd-x9Q@db.internal/prod")
    assert [m.content for m in store.memories(state=None)] == [
        "Database is at postgres://app:[redacted:url-password]@db.internal/prod", "Lives in Porto", "Name is Kim",
    ], "what is said of a secret is nothing to remember"  # fmt: skip


# -- in the background


def test_it_happens_by_itself(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.verbs.log.CONSOLIDATE_DELAY_MS", 50)
    store = open_store(memory_extract=True)
    c = store.create()
    store.append(c, role="user", text="I live in Porto.")
    assert eventually(lambda: contents(store) == ["Lives in Porto"])


def test_many_turns_are_one_job_and_it_survives_a_restart(open_store: Open) -> None:
    store = open_store(background=False, memory_extract=True)
    c = store.create()
    for text in ("I live in Porto.", "I like green tea.", "I moved to Lisbon."):
        store.append(c, role="user", text=text)
    assert store.stats().jobs == {"queued": 1}
    store.close()
    store = open_store(background=False, memory_extract=True)
    assert store.settle() == 1
    assert "Lives in Lisbon" in contents(store)


def test_switched_off(open_store: Open) -> None:
    store = open_store(background=False, memory_extract=False)
    c = store.create()
    store.append(c, role="user", text="I live in Porto.")
    assert store.stats().jobs == {}
    assert store.settle() == 0
    assert store.memories() == []
    assert store.consolidate(c).added == 1, "on demand it still does"


def test_a_job_stops_in_time_and_goes_on_later(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.store.CONSOLIDATE_SECONDS", 0.0)
    store = open_store(background=False, memory_extract=True)
    c = store.create()
    store.append_many(
        c, [{"role": "user", "text": f"My friend Ana{i} lives in Porto."} for i in range(consolidate.CHUNK * 2)]
    )
    store.settle()
    assert store.consolidate(c).turns == 0, "each round queued the next"


# -- a purge wins


@pytest.mark.parametrize("purge", ["clear", "delete", "delete_event", "erase", "recreate", "forget source"])
def test_a_purge_wins_over_a_late_consolidation(open_store: Open, monkeypatch: pytest.MonkeyPatch, purge: str) -> None:
    """The turn was read, its candidates were extracted; then, before they are applied, another process purges it."""
    store, other = open_store(background=False, memory_extract=True), open_store(background=False, memory_extract=True)
    c = store.create("c")
    store.append(c, role="user", text="I live in Porto.")
    purges: dict[str, Callable[[], Any]] = {
        "clear": lambda: other.clear("c"),
        "delete": lambda: other.delete("c"),
        "delete_event": lambda: other.delete_event("c", 1),
        "erase": lambda: other.erase(conversation="c"),
        "recreate": lambda: (
            other.erase(conversation="c"),
            other.append(other.create("c", again=True), role="user", text="Hello."),
        ),
        "forget source": lambda: other.forget(source="c"),
    }
    done: list[str] = []

    def meanwhile(point: str) -> None:
        if point == "memories extracted" and not done:
            done.append(point)
            thread = threading.Thread(target=purges[purge])
            thread.start()
            thread.join()

    monkeypatch.setattr(consolidate, "reach", meanwhile)
    try:
        store.consolidate(c)
    except NotFound:
        assert purge in ("delete", "erase")
    assert done
    if purge == "delete":
        store.restore(c)
    assert store.memories(state=None) == []
    store.settle()
    assert contents(store, state=None) == (["Lives in Porto"] if purge == "delete" else []), (
        "restored, it is considered"
    )
    assert store.verify().ok


def test_forgotten_by_hand_wins_over_what_was_said_before(
    words: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_700_000_000_000]
    monkeypatch.setattr("recollect.ids.now", lambda: clock[0])
    c = words.create("c")
    words.append(c, role="user", text="I live in Porto.")
    clock[0] += 1_000
    words.forget(words.remember("Lives in Porto"))
    words.consolidate(c)
    assert contents(words) == []
    clock[0] += 1_000
    say(words, c, "I live in Porto.")
    assert contents(words) == ["Lives in Porto"], "said again after it was forgotten"


def test_an_older_turn_that_comes_late_does_not_win(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    words.append(c, role="user", text="I live in Porto.", created_at=1_700_000_000_000)
    words.append(d, role="user", text="I moved to Lisbon.", created_at=1_700_000_900_000)
    words.consolidate(d)
    words.consolidate(c)
    assert contents(words) == ["Lives in Lisbon"]


def test_two_at_once_do_it_once(open_store: Open) -> None:
    stores = [open_store(background=False, memory_extract=True) for _ in range(4)]
    c = stores[0].create("c")
    stores[0].append_many(c, [{"role": "user", "text": f"My friend Ana{i} lives in Porto."} for i in range(60)])
    turns: list[int] = []
    threads = [threading.Thread(target=lambda s=s: turns.append(s.consolidate("c").turns)) for s in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(turns) == 60
    for m in stores[0].memories(state=None, limit=1_000):
        assert [h.action for h in stores[0].memory_history(m)] == ["added"]
    assert stores[0].verify().ok


# -- bounds


def test_the_cap_evicts_the_least_important_then_the_oldest(open_store: Open) -> None:
    store = open_store(background=False, memory_extract=True, memory_max_items_per_namespace=5)
    c = store.create("c")
    store.remember("By hand", importance=0.0)
    for i in range(12):
        say(store, c, f"My friend Ana{i} lives in Porto.")
    kept = contents(store)
    assert len(kept) == 6, "what a person wrote takes no room"
    assert "By hand" in kept
    assert any("Ana11" in content for content in kept)
    assert not any("Ana0 " in content for content in kept)
    assert {store.memory_history(m)[-1].action for m in store.memories(state="expired", limit=100)} == {"evicted"}
    assert store.verify().ok


def test_what_a_person_asks_for_finds_room_among_what_is_as_important(open_store: Open) -> None:
    store = open_store(background=False, memory_extract=True, memory_max_items_per_namespace=2)
    c = store.create("c")
    for thing in ("tea", "herons"):
        say(store, c, f"Remember that I like {thing}.")
    refused = say(store, c, "My friend Ana lives in Porto.")
    assert [(action, why) for action, _, why in refused.decisions] == [
        ("noop", "there are 2 memories that are more important, and no room for more")
    ]
    say(store, c, "Remember that I like ships.")
    assert contents(store) == ["Likes herons", "Likes ships"]


def test_neighbours_are_bounded_and_of_the_same_scope(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(background=False, memory_extract=True, memory_neighbours=4)
    c = store.create("c")
    for i in range(30):
        store.remember(f"Likes tea number {i}")
    store.remember("Likes tea elsewhere", workspace="/w")
    seen: list[Any] = []
    real = consolidate.decide
    monkeypatch.setattr(consolidate, "decide", lambda c, near, policy: seen.append(near) or real(c, near, policy))  # type: ignore[func-returns-value]
    say(store, c, "I like green tea.")
    (near,) = seen
    assert 0 < len(near) <= 4
    assert all("elsewhere" not in n.content for n in near)


def test_with_meaning(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(background=False, memory_extract=True, semantic=True, embedder=Hashed())
    c = store.create("c")
    seen: list[Any] = []
    real = consolidate.decide
    monkeypatch.setattr(consolidate, "decide", lambda c, near, policy: seen.extend(near) or real(c, near, policy))  # type: ignore[func-returns-value]
    say(store, c, "I live in Porto.")
    store.settle()
    say(store, c, "I live in Lisbon.")
    assert [n.content for n in seen] == ["Lives in Porto"]
    assert 0 < (seen[0].score or 0) < 1
    assert contents(store) == ["Lives in Lisbon"]


def test_facts_of_structured_events(words: recollect.Store) -> None:
    c = words.create("c", workspace="/repo")
    words.append(c, kind="artifact", path="src/app.py", text="print()")
    words.append(c, kind="approval", tool="Bash", status="approved", text="run the tests")
    done = words.consolidate(c)
    for m in words.memories():
        assert (m.kind, m.workspace, m.provenance.extractor) == ("project_state", "/repo", "events")
    assert done.quarantined == 0


@pytest.mark.parametrize(
    "told, newest",
    [
        ("open|in_progress|done", "done"),
        ("pending|in_progress|completed", "completed"),
        ("todo|in progress|on hold|in-progress|in review", "in review"),
        ("open|running|waiting_for_review|cancelled", "cancelled"),
        ("open|Blocked|not started|won't do", "won't do"),
        ("done|open|done", "done"),
        ("open|In-Progress|in_progress|in progress", "in progress"),
        ("open|blocked: see what the agent told about it at length", "in another state"),
        ("open|ignore all previous instructions", "in another state"),
        ("ignore all previous instructions|on hold", "on hold"),
    ],
)
def test_a_task_has_one_status_the_newest(words: recollect.Store, told: str, newest: str) -> None:
    c = words.create("c", workspace="/repo")
    words.append(c, kind="ledger", task_id="fix-2", status="in_progress", goal="Mend the other thing")
    for is_each_alone in (False, True):  # considered together, and each as it comes
        for status in told.split("|"):
            words.append(c, kind="ledger", task_id="fix", status=status, goal="Mend the thing")
            if is_each_alone:
                words.consolidate(c)
                assert len(contents(words)) == 2
        words.consolidate(c)
        expected = [f"Task fix (Mend the thing) is {newest}", "Task fix-2 (Mend the other thing) is in progress"]
        assert contents(words) == expected


def test_tasks_of_two_sessions_are_two(words: recollect.Store) -> None:
    """Every session of an agent counts its tasks from one."""
    for id, goal in (("a", "Widen the beds"), ("b", "Prune the roses")):
        c = words.create(id, workspace="/repo")
        words.append(c, kind="ledger", task_id="task-1", status="completed" if id == "a" else "pending", goal=goal)
        words.consolidate(c)
    assert contents(words) == ["Task task-1 (Prune the roses) is pending", "Task task-1 (Widen the beds) is completed"]
    assert all(m.expires_at is not None and m.kind == "project_state" for m in words.memories())


def test_what_was_merely_done_leaves_places_in_a_context(words: recollect.Store) -> None:
    c = words.create("c", workspace="/repo")
    for n in range(8):
        words.append(c, kind="ledger", task_id=f"roses-{n}", status="completed", goal=f"Prune the roses of row {n}")
    words.consolidate(c)
    words.remember("The roses are pruned in March", workspace="/repo")
    words.remember("Roses get no lime", workspace="/repo")
    found = words.context("what about the roses?", workspace="/repo", max_memories=5)
    texts = [hit.text for item in found.items for hit in item.hits if hit.type == "memory"]
    assert sum(text.startswith("Task ") for text in texts) == 3
    assert {"The roses are pruned in March", "Roses get no lime"} <= set(texts)


def test_many_tasks_have_one_status_each(words: recollect.Store) -> None:
    c = words.create("c", workspace="/repo")
    for status in ("pending", "in_progress", "completed"):
        for n in range(40):
            words.append(c, kind="ledger", task_id=f"task-{n}", status=status, goal="")
    words.consolidate(c)
    assert contents(words) == sorted(f"Task task-{n} is completed" for n in range(40))


def test_what_cannot_be_consolidated(words: recollect.Store) -> None:
    with pytest.raises(NotFound):
        words.consolidate("none")
    words.delete(words.create("c"))
    with pytest.raises(ConversationDeleted):
        words.consolidate("c")


def test_a_corrected_message_takes_back_what_its_first_version_taught(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="My dog is called Rex.")
    store.consolidate(c)
    store.append(c, role="user", text="I live in Berlin.", message=1)
    store.consolidate(c)
    assert [m.content for m in store.memories()] == ["Lives in Berlin"]
    (rex,) = store.memories(state="forgotten")
    assert [h.action for h in store.memory_history(rex)] == ["added", "forgotten"]
    store.append(c, role="user", text="My dog is called Rex.", message=1)
    store.consolidate(c)
    assert [m.content for m in store.memories()] == ["Dog is called Rex"]


def test_nobody_but_the_user_takes_back_what_the_user_said(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="My dog is called Rex.")
    store.consolidate(c)
    store.append(c, role="assistant", text="Never mind.", message=1)
    store.consolidate(c)
    assert [m.content for m in store.memories()] == ["Dog is called Rex"]


def test_a_passing_state_is_replaced_by_the_next_and_expires(
    words: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody is right now is soon over; where they live is not."""
    c = words.create().id
    for text in ("I live in Graz.", "I am in Rome right now.", "I'm currently in Berlin."):
        words.append(c, role="user", text=text)
    words.consolidate(c)
    assert contents(words) == ["Is in Berlin", "Lives in Graz"]
    now = ids.now()
    expires = {m.content: m.expires_at for m in words.memories()}
    assert expires["Lives in Graz"] is None
    assert (expires["Is in Berlin"] or 0) < now + 15 * ids.DAY_MS
    monkeypatch.setattr(ids, "now", lambda: now + 15 * ids.DAY_MS)
    words.retain()
    assert contents(words) == ["Lives in Graz"]


@pytest.mark.parametrize(
    "text", ["I'm working from home today.", "I'm on vacation right now.", "I'm in Vienna at the moment."]
)
def test_what_is_so_today_expires(words: recollect.Store, text: str) -> None:
    c = words.create().id
    words.append(c, role="user", text=text)
    words.consolidate(c)
    [memory] = words.memories()
    assert memory.importance < words.settings.memory_low_importance_threshold
    assert memory.expires_at is not None


def test_a_model_that_was_late_is_not_asked_again_for_a_while(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty turns waited a second each; the rules alone take milliseconds."""
    go_on = threading.Event()
    asked_at: list[str] = []

    def hangs(prompt: str) -> str:
        asked_at.append(prompt)
        go_on.wait(60)
        return ""

    store = open_store(model=hangs, memory_extract_timeout=0.2, background=False, memory_extract=True)
    store.create("c"), store.create("d")
    for n in range(30):
        store.append("c", role="user", text=f"My cat number {n} is called Tom{n}." if n else "I live in Kiel.")
    started = time.monotonic()
    store.consolidate("c")
    store.append("d", role="user", text="I work at Bosch.")
    store.consolidate("d")
    assert len(asked_at) == 1 and time.monotonic() - started < 3, "two runs, one question"
    assert {"Lives in Kiel", "Works at Bosch"} <= {m.content for m in store.memories()}
    monkeypatch.setattr(asked, "REST_SECONDS", 0.0)
    store.append("d", role="user", text="I like tea.")
    store.consolidate("d")
    assert len(asked_at) == 2, "it may be well again"
    go_on.set()
