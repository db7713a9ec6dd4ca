"""retain: what has had its time goes, by a plan that can be looked at first; what is pinned stays."""

from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open, Raw, eventually

DAY = 86_400_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [1_700_000_000_000]
    monkeypatch.setattr("recollect.ids.now", lambda: now[0])
    return now


def talk(store: recollect.Store, id: str, **about: Any) -> recollect.Conversation:
    c = store.create(id, **about)
    store.append(c, role="user", text=f"the heron of {id}")
    store.append(c, role="assistant", text="I see")
    return c


def expiring(plan: recollect.Retention) -> list[tuple[str, str]]:
    return sorted((e.type, e.id if e.type == "conversation" else e.title) for e in plan.expiries)


def test_conversations_of_hooks_and_http_expire(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    for origin in ("application", "langgraph", "bot", "import", "hook", "http"):
        assert talk(store, origin, origin=origin).origin == origin
        assert store.get(origin).origin == origin
    clock[0] += 90 * DAY - 1
    assert store.retain(dry_run=True).expiries == ()
    store.append("http", role="user", text="still here")
    clock[0] += 1
    plan = store.retain(dry_run=True)
    assert expiring(plan) == [("conversation", "hook"), ("events", "the heron of http")]
    assert (plan.applied, plan.expiries[0].events, plan.expiries[0].title) == (False, 2, "the heron of hook")
    assert "90 days" in plan.expiries[0].why
    assert len(store.conversations()) == 6, "a dry run changes nothing"
    done = store.retain()
    assert (done.expiries, done.applied) == (plan.expiries, True)
    with pytest.raises(NotFound):
        store.get("hook")
    assert "hook" not in [h.conversation_id for h in store.search("heron")]
    assert store.retain().expiries == ()
    assert store.verify().ok
    with pytest.raises(InvalidInput):
        store.create(origin="nowhere")


def test_nothing_of_it_is_left_in_the_database(open_store: Open, clock: list[int], raw: Raw) -> None:
    store = open_store(background=False, semantic=True)
    talk(store, "c", origin="hook", title="zeppelin")
    store.settle()
    clock[0] += 91 * DAY
    store.retain()
    for table in ("events", "branches", "tombstones", "vectors", "conversations"):
        assert raw(f"select count(*) from {table}") == [(0,)], table
    assert store.search("zeppelin heron") == []


@pytest.mark.parametrize(
    ("settings", "gone"),
    [
        ({}, "hw"), ({"retention_days": 0}, ""), ({"retention_days": 200}, ""), ({"retention_application_days": 30}, "ahw"),
        ({"retention_workspaces": {"/w": "0"}}, "h"), ({"retention_workspaces": {"/a": "10"}}, "ahw"),
        ({"retention_workspaces": {"/": "10"}}, "hw"),
    ],
    ids=repr,
)  # fmt: skip
def test_how_long(open_store: Open, clock: list[int], settings: Any, gone: str) -> None:
    store = open_store(background=False, **settings)
    talk(store, "a", workspace="/a")
    talk(store, "h", origin="hook")
    talk(store, "w", origin="http", workspace="/w")
    clock[0] += 100 * DAY
    assert "".join(id for _, id in expiring(store.retain())) == gone
    assert {c.id for c in store.conversations()} == set("ahw") - set(gone)


def test_what_was_learned_outlives_its_conversation(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False, memory_extract=True)
    c = store.create("c", origin="hook")
    store.append(c, role="user", text="I live in Porto.")
    store.fork(c, name="b")
    store.append(c, role="user", text="I moved to Lisbon.", branch="b")
    store.settle()
    store.remember("Only here", conversation=c)
    clock[0] += 91 * DAY
    store.retain()
    (m,) = store.memories()
    assert (m.content, m.source, m.provenance.role, m.provenance.seqs) == ("Lives in Porto", "c:1", "user", (1,))
    assert store.memories(state=None) == [m]
    assert store.recall("Porto")[0].id == m.id
    assert store.verify().ok


def test_pinned_events_stay_with_their_conversation(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    c = talk(store, "c", origin="hook")
    kept = store.append(c, role="user", text="keep this one")
    store.pin(kept)
    store.pin("c:1")
    store.unpin("c:1")
    clock[0] += 91 * DAY
    plan = store.retain(dry_run=True)
    assert (plan.kept, plan.expiries[0].events) == (1, 2)
    store.retain()
    assert [e.text for e in store.read(c)] == ["keep this one"]
    assert store.search("heron") == []
    assert store.search("keep")[0].id == "c:3"
    again = store.retain()
    assert (again.expiries, again.kept) == ((), 1)
    store.unpin("c:3")
    assert expiring(store.retain()) == [("conversation", "c")]
    assert store.verify().ok
    for wrong in ("c:1", "nowhere:1", "d:x", ":", "c:\u00b2"):
        with pytest.raises((NotFound, InvalidInput)):
            store.pin(wrong)


def test_pins_lists_them(store: recollect.Store) -> None:
    c = store.create("c")
    store.append_many(c, [{"role": "user", "text": f"line {i}"} for i in range(3)])
    assert store.pins(c) == []
    store.pin("c:3")
    store.pin("c:1")
    assert store.pins("c") == [1, 3]
    store.unpin("c:3")
    assert store.pins("c") == [1]
    with pytest.raises(NotFound):
        store.for_user("kim").pins("c")


def test_a_pinned_memory_keeps_what_it_is_limited_to(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    talk(store, "c", origin="hook")
    store.pin(store.remember("Only here", conversation="c"))
    clock[0] += 91 * DAY
    store.retain()
    assert [m.content for m in store.memories(conversation="c")] == ["Only here"]
    assert store.read("c") == []
    assert store.verify().ok


def test_memories_expire(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False, memory_promote=("tool",))
    store.remember("in passing", role="tool", importance=0.1)
    store.pin(store.remember("in passing, pinned", role="tool", importance=0.1, valid_to=clock[0] + DAY))
    store.remember("on holiday", valid_to=clock[0] + DAY)
    store.remember("call the bank", kind="todo", valid_to=clock[0] + DAY)
    store.remember("kept")
    clock[0] += 15 * DAY
    plan = store.retain(dry_run=True)
    assert expiring(plan) == [("memory", "in passing"), ("memory", "on holiday")]
    assert plan.kept == 1
    assert store.retain().expiries == plan.expiries
    assert {m.content for m in store.memories()} == {"in passing, pinned", "call the bank", "kept"}
    assert {m.content for m in store.memories(state="expired")} == {"in passing", "on holiday"}
    (gone,) = [m for m in store.memories(state="expired") if m.content == "on holiday"]
    assert [(h.action, h.who) for h in store.memory_history(gone)] == [("added", "user"), ("expired", "retention")]
    assert store.undo(gone).state == "active"
    assert store.verify().ok


def test_it_happens_once_a_day_where_there_is_something_to_expire(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    talk(store, "a")
    assert store.stats().jobs == {}
    talk(store, "h", origin="hook")
    assert store.stats().jobs == {"queued": 1}
    for _ in range(92):
        clock[0] += DAY
        store.settle()
    assert [c.id for c in store.conversations()] == ["a"]
    clock[0] += DAY
    store.settle()
    assert store.stats().jobs == {}, "and stops when there is nothing left"


def test_what_is_said_meanwhile_keeps_it(open_store: Open, clock: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    store, other = open_store(background=False), open_store(background=False)
    talk(store, "c", origin="hook")
    clock[0] += 91 * DAY
    from recollect import retention

    due = retention._due
    said: list[int] = []

    def meanwhile(*args: Any) -> int:
        days = due(*args)
        if days and not said:
            said.append(1)
        return days

    monkeypatch.setattr(retention, "_due", meanwhile)
    write = store._db.write

    def first_the_other(user: str, fn: Any, **how: Any) -> Any:
        if said == [1]:
            said.append(2)
            other.append("c", role="user", text="wait")
        return write(user, fn, **how)

    monkeypatch.setattr(store._db, "write", first_the_other)
    assert [(e.type, e.events) for e in store.retain().expiries] == [("events", 2)]
    assert said == [1, 2]
    assert [e.text for e in store.read("c")] == ["wait"]


def test_a_session_that_never_ends_keeps_what_is_recent(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    c = talk(store, "default", origin="http")
    store.append(c, role="user", text="brought in late", created_at=clock[0] - 200 * DAY)
    clock[0] += 50 * DAY
    corrected = store.append(c, role="user", text="I paint boats")
    clock[0] += 50 * DAY
    store.append(c, role="user", text="I paint ships", message=corrected.seq)
    store.append(c, role="assistant", text="Good")
    assert expiring(store.retain()) == [("events", "the heron of default")]
    assert [e.text for e in store.read(c)] == ["I paint boats", "I paint ships", "Good"]
    assert store.search("heron") == [] and store.get(c.id).title != "the heron of default"
    clock[0] += 50 * DAY
    assert store.retain().expiries == (), "what was corrected is as old as its correction"
    clock[0] += 50 * DAY
    assert expiring(store.retain()) == [("conversation", "default")]
    assert store.verify().ok


def test_of_another_user_nothing_expires(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False)
    talk(store, "c", origin="hook")
    talk(store.for_user("kim"), "c", origin="hook")
    clock[0] += 91 * DAY
    assert len(store.retain().expiries) == 1
    assert len(store.for_user("kim").conversations()) == 1


def test_what_fell_due_while_nothing_ran_runs_at_the_start(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False)
    c = store.create("old", origin="hook")
    store.append(c, role="user", text="long ago", created_at=1_500_000_000_000)
    raw("update conversations set created_at = 1500000000000, updated_at = 1500000000000")
    raw("update jobs set run_at = 1500000000000 where kind = 'retain'")
    store.close()
    again = open_store(background=True, backup_every=0)
    eventually(lambda: not again.conversations())
