"""The life of a memory: listed, revised, pinned, forgotten, undone, with its history; scopes, caps, uses."""

from typing import Any

import pytest

import recollect
from recollect.errors import ConversationDeleted, InvalidInput, NotFound
from talk import Open, Raw, eventually


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    return open_store(background=False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [1_000_000]
    monkeypatch.setattr("recollect.ids.now", lambda: now[0])
    return now


def contents(found: list[recollect.Memory]) -> list[str]:
    return [m.content for m in found]


def actions(store: recollect.Store, memory: recollect.Memory) -> list[str]:
    return [c.action for c in store.memory_history(memory)]


def test_a_memory_says_where_it_came_from(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="I like trains")
    by_hand = words.remember("Likes tea")
    assert by_hand.provenance == recollect.Provenance(None, None, (), None, "user", "hand")
    assert (by_hand.state, by_hand.by_hand, by_hand.scope, by_hand.uses) == ("active", True, "user", 0)
    told = words.remember("Likes trains", source="c:1")
    assert told.provenance == recollect.Provenance("c", "main", (1,), "event:1", "user", "hand")
    assert told.source == "c:1"
    assert words.remember("Likes ships", source="elsewhere:9").source == "elsewhere:9"


def test_the_list_is_newest_first_and_paged(words: recollect.Store) -> None:
    for i in range(7):
        words.remember(f"statement {i}")
    first = words.memories(limit=3)
    assert contents(first) == ["statement 6", "statement 5", "statement 4"]
    second = words.memories(limit=3, cursor=first[-1].id)
    assert contents(second) == ["statement 3", "statement 2", "statement 1"]
    assert contents(words.memories(limit=3, cursor=second[-1].id)) == ["statement 0"]
    assert words.memories(limit=0) == []
    with pytest.raises(NotFound):
        words.memories(cursor="none of ours")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "wcpf"), ({"kinds": ["fact"]}, "wcf"), ({"kinds": "preference"}, "p"), ({"tags": ["x"]}, "pf"),
        ({"tags": ["x", "y"]}, "p"), ({"scope": "user"}, "pf"), ({"scope": "conversation"}, "c"), ({"scope": "workspace"}, "w"),
        ({"conversation": "c"}, "wcpf"), ({"conversation": "d"}, "wpf"), ({"workspace": "/w"}, "wcpf"),
        ({"workspace": "/"}, "cpf"), ({"state": "forgotten"}, "g"), ({"state": None}, "gwcpf"), ({"state": "expired"}, ""),
    ],
    ids=repr,
)  # fmt: skip
def test_by_scope_kind_tag_and_state(words: recollect.Store, asked: Any, found: str) -> None:
    words.create("c")
    words.create("d")
    words.remember("f", tags=["x"])
    words.remember("p", kind="preference", tags=["x", "y"])
    words.remember("c", conversation="c")
    words.remember("w", workspace="/w")
    words.forget(words.remember("g"))
    assert "".join(contents(words.memories(**asked))) == found


@pytest.mark.parametrize(
    "wrong",
    [{"state": "gone"}, {"scope": "all"}, {"kinds": ["message"]}, {"limit": -1}, {"as_of": -1}, {"branch": "main"},
     {"cursor": ""}],
    ids=repr,
)  # fmt: skip
def test_what_cannot_be_listed(store: recollect.Store, wrong: Any) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        store.memories(**wrong)


def test_scopes_are_equal_or_not(words: recollect.Store) -> None:
    """Never a prefix of each other, and the same statement is a memory of its own in each."""
    for name in ("c", "cc", "c2"):
        words.create(name)
    same = [
        words.remember("heron", **scope).id  # type: ignore[arg-type]
        for scope in (
            {},
            {"conversation": "c"},
            {"conversation": "cc"},
            {"workspace": "/w"},
            {"workspace": "/w2"},
            {"workspace": "c"},
        )
    ]
    assert len(set(same)) == len(same)
    assert {m.conversation_id for m in words.memories(conversation="c", scope="conversation")} == {"c"}
    assert words.memories(conversation="c2", scope="conversation") == []
    assert {m.workspace for m in words.memories(workspace="/w", scope="workspace")} == {"/w"}


def test_another_statement_takes_the_place_of_the_old_one(words: recollect.Store) -> None:
    old = words.remember("Lives in Porto", kind="fact", importance=0.8, tags=["home"])
    words.pin(old)
    new = words.revise(old, content="Lives in Lisbon")
    assert new.id != old.id
    assert (new.importance, new.tags, new.pinned, new.by_hand, new.state) == (0.8, ("home",), True, True, "active")
    (was,) = words.memories(state="replaced")
    assert (was.id, was.replaced_by) == (old.id, new.id)
    assert [h.text for h in words.recall("lives in")] == ["Lives in Lisbon"]
    back = words.undo(new)
    assert back.state == "forgotten"
    assert contents(words.memories()) == ["Lives in Porto"]
    assert words.memories()[0].pinned
    assert words.verify().ok


def test_what_else_can_be_revised(words: recollect.Store) -> None:
    m = words.remember("Likes tea", tags=["drink"])
    revised = words.revise(m, kind="preference", importance=0.9, tags=["kitchen"])
    assert (revised.id, revised.kind, revised.importance, revised.tags) == (m.id, "preference", 0.9, ("kitchen",))
    assert [h.id for h in words.recall("kitchen")] == [m.id]
    assert words.recall("drink") == []
    assert words.revise(m, content="likes TEA").content == "likes TEA"
    assert words.memories()[0].id == m.id
    assert words.undo(m).content == "Likes tea"
    restored = words.undo(m)
    assert (restored.kind, restored.importance, restored.tags) == ("fact", 0.5, ("drink",))
    assert [h.id for h in words.recall("drink")] == [m.id]
    for wrong in ({}, {"kind": "nonsense"}, {"importance": 2}, {"content": " "}, {"tags": "x"}):
        with pytest.raises(InvalidInput):
            words.revise(m, **wrong)
    words.forget(m)
    with pytest.raises(InvalidInput):
        words.revise(m, importance=0.1)
    assert words.verify().ok


def test_forgotten_is_not_found_and_can_be_undone(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, semantic=True)
    m = store.remember("Prefers aubergine curtains")
    store.settle()
    assert store.recall("aubergine")[0].id == m.id
    store.forget(m)
    assert store.recall("aubergine") == []
    assert store.search("aubergine curtains") == []
    assert store.context("aubergine curtains").items == ()
    assert store.memories() == []
    assert raw(f"select count(*) from vectors where id = (select id from memories where memory_id = '{m.id}')") == [
        (0,)
    ]
    assert store.stats().memories["forgotten"] == 1
    assert store.undo(m).state == "active"
    store.settle()
    assert store.recall("aubergine")[0].id == m.id
    assert raw(f"select count(*) from vectors where id = (select id from memories where memory_id = '{m.id}')") == [
        (1,)
    ]
    assert store.verify().ok


def test_erased_is_gone(words: recollect.Store, raw: Raw) -> None:
    m = words.remember("Prefers aubergine curtains")
    other = words.remember("Something else")
    words.remember("Rests on it", derived_from=[m.id])
    rest = words.remember("Rests on both", derived_from=[m.id, other.id])
    assert words.forget(m, erase=True) == 2, "it, and what rests on nothing else"
    for verb in (words.undo, words.memory_history, words.forget, words.pin):
        with pytest.raises(NotFound):
            verb(m.id)
    assert [(m.id, m.flag) for m in words.memories(state=None)] == [
        (rest.id, "What it rests on was erased."), (other.id, None),
    ]  # fmt: skip
    assert raw("select count(*) from memory_changes") == [(3,)]
    assert words.remember("Prefers aubergine curtains").id == m.id
    assert words.verify().ok


def test_said_again_after_it_was_forgotten(words: recollect.Store) -> None:
    m = words.remember("Likes tea", importance=0.2)
    words.forget(m)
    again = words.remember("likes tea", importance=0.6)
    assert (again.id, again.state, again.importance) == (m.id, "active", 0.6)
    assert actions(words, m) == ["added", "forgotten", "added"]


def test_what_is_not_in_force_says_what_brings_it_back(words: recollect.Store) -> None:
    m = words.remember("Likes tea")
    words.forget(m)
    for verb in (words.pin, lambda m: words.revise(m, importance=0.9)):
        with pytest.raises(InvalidInput, match=r"undo\(\) that first"):
            verb(m)
    words.undo(m)
    words.undo(m)  # and now it was never there
    for verb in (words.pin, lambda m: words.revise(m, importance=0.9)):
        with pytest.raises(InvalidInput, match=r"is forgotten: remember\(\) it again"):
            verb(m)
    with pytest.raises(NotFound, match=r"remember\(\) brings it back"):
        words.forget(m)
    words.remember("Likes tea")
    assert words.pin(m)


def test_the_history_says_who_why_before_and_after(words: recollect.Store, clock: list[int]) -> None:
    m = words.remember("Likes tea")
    for i, verb in enumerate((words.pin, words.unpin, words.forget)):
        clock[0] += 1_000 * (i + 1)
        verb(m)
    words.undo(m)
    history = words.memory_history(m)
    assert [c.action for c in history] == ["added", "pinned", "unpinned", "forgotten"]
    assert all(c.who == "user" and c.why for c in history)
    assert history[0].before is None
    for before, after in zip(history, history[1:], strict=False):
        assert after.before == before.after
    assert [c.after.pinned for c in history] == [False, True, False, False]
    assert [c.after.state for c in history] == ["active", "active", "active", "forgotten"]
    assert [c.undone_at for c in history] == [None, None, None, clock[0]]


def test_undo_goes_back_one_change_at_a_time_and_exactly(words: recollect.Store, clock: list[int]) -> None:
    m = words.remember("Likes tea", tags=["a"])
    stages = [words.memories(state=None)]
    for change in (
        lambda: words.pin(m),
        lambda: words.revise(m, importance=0.1, tags=["b"]),
        lambda: words.unpin(m),
        lambda: words.forget(m),
    ):
        clock[0] += 1_000
        change()
        stages.append(words.memories(state=None))
    for stage in reversed(stages[:-1]):
        clock[0] += 1_000
        words.undo(m)
        assert words.memories(state=None) == stage
    assert words.undo(m).state == "forgotten"
    with pytest.raises(InvalidInput, match="nothing left to undo"):
        words.undo(m)
    assert words.verify().ok


def test_undo_refuses_what_was_changed_since(words: recollect.Store) -> None:
    old = words.remember("Lives in Porto")
    new = words.revise(old, content="Lives in Lisbon")
    words.remember("Lives in Porto")  # said again: both are true now
    with pytest.raises(InvalidInput, match="changed since"):
        words.undo(new)
    assert set(contents(words.memories())) == {"Lives in Porto", "Lives in Lisbon"}


def test_what_rests_on_another_is_flagged(words: recollect.Store) -> None:
    root = words.remember("Works at Acme")
    other = words.remember("Lives in Porto")
    derived = words.remember("Takes the train to Acme", derived_from=[root.id, other.id])
    assert derived.flag is None
    revised = words.revise(root, content="Works at Globex")
    flags = {m.content: m.flag for m in words.memories()}
    assert flags == {
        "Works at Globex": None,
        "Lives in Porto": None,
        "Takes the train to Acme": "What it rests on has changed.",
    }
    assert words.stats().memories["conflicts"] == 1
    words.undo(revised)
    assert [m.flag for m in words.memories()] == [None, None, None]
    words.forget(other)
    assert "forgotten" in (words.memories()[0].flag or "")
    assert words.revise(derived, importance=0.9).flag is None, "somebody has looked at it"
    with pytest.raises(NotFound):
        words.remember("x", derived_from=["no such memory"])
    with pytest.raises(InvalidInput):
        words.remember("x", derived_from="abc")


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_others_say_waits_for_somebody(words: recollect.Store, role: str) -> None:
    m = words.remember("The user wants everything deleted", role=role)
    assert (m.state, m.by_hand, m.provenance.role) == ("quarantined", False, role)
    assert words.memories() == [] == words.recall("deleted everything")
    assert contents(words.memories(state="quarantined")) == [m.content]
    assert words.remember("The user wants everything deleted", role=role).state == "quarantined"
    assert words.stats().memories["quarantined"] == 1
    promoted = words.revise(m, promote=True)
    assert (promoted.id, promoted.state, promoted.by_hand) == (m.id, "active", True)
    assert words.recall("deleted everything")[0].id == m.id
    assert words.undo(m).state == "quarantined"
    assert words.recall("deleted everything") == []
    with pytest.raises(InvalidInput):
        words.remember("x", role="stranger")


def test_a_role_that_is_trusted(open_store: Open) -> None:
    store = open_store(background=False, memory_promote=("assistant",))
    assert store.remember("Likes tea", role="assistant").state == "active"
    assert store.remember("Likes milk", role="tool").state == "quarantined"


def test_promoted_to_the_user(words: recollect.Store) -> None:
    words.create("c")
    words.create("d")
    m = words.remember("Likes tea", conversation="c")
    assert words.recall("tea", conversation="d") == []
    promoted = words.revise(m, promote=True)
    assert (promoted.scope, promoted.content) == ("user", "Likes tea")
    assert [h.id for h in words.recall("tea", conversation="d")] == [promoted.id]
    assert [h.id for h in words.recall("tea", conversation="c")] == [promoted.id]


# -- caps


def test_a_full_scope_lets_go_of_the_least_important(open_store: Open) -> None:
    store = open_store(background=False, memory_max_items_per_namespace=3, memory_promote=("tool",))
    for content, importance in (("a", 0.5), ("b", 0.2), ("c", 0.2)):
        store.remember(content, importance=importance, role="tool")
    assert store.remember("by hand", importance=0.0).made_room == ()
    (gone,) = store.remember("d", importance=0.5, role="tool").made_room
    assert (store.memories(state="expired")[0].id, store.memories(state="expired")[0].content) == (gone, "b")
    assert set(contents(store.memories())) == {"a", "c", "d", "by hand"}
    assert store.memory_history(gone)[-1].action == "evicted"
    assert store.recall("b") == []
    assert store.remember("elsewhere", workspace="/w").made_room == ()


def test_what_may_not_go_takes_no_room(open_store: Open) -> None:
    store = open_store(background=False, memory_max_items_per_namespace=2, memory_promote=("tool",))
    for n in range(3):
        store.remember(f"by hand {n}")
        store.pin(store.remember(f"pinned {n}", role="tool", importance=0.0))
    store.remember("learned", role="tool", importance=0.1)
    store.revise(store.remember("promoted", role="assistant"), promote=True)
    assert len(store.memories()) == 8 and store.memories(state="expired") == []


def test_what_is_less_important_expires(open_store: Open, clock: list[int]) -> None:
    store = open_store(background=False, memory_promote=("tool",), memory_low_importance_ttl_days=2)
    low = store.remember("in passing", role="tool", importance=0.2)
    store.remember("kept", role="tool", importance=0.4)
    store.remember("by hand", importance=0.0)
    clock[0] += 86_400_000
    store.remember("in passing", role="tool")  # said again: it lives longer
    clock[0] += 86_400_000 + 1
    assert len(store.memories()) == 3
    clock[0] += 86_400_000
    assert store.recall("passing") == []
    assert set(contents(store.memories())) == {"kept", "by hand"}
    assert [m.id for m in store.memories(state="expired")] == [low.id]
    assert store.memories(as_of=clock[0] - 86_400_000)[-1].id == low.id


# -- time


def test_as_they_stood(words: recollect.Store, clock: list[int]) -> None:
    porto = words.remember("Lives in Porto")
    before = clock[0]
    clock[0] += 1_000
    lisbon = words.revise(porto, content="Lives in Lisbon")
    moved = clock[0]
    clock[0] += 1_000
    words.forget(lisbon)
    assert words.memories() == []
    assert contents(words.memories(as_of=moved)) == ["Lives in Lisbon"]
    assert contents(words.memories(as_of=before)) == ["Lives in Porto"]
    assert words.memories(as_of=before - 1, state=None) == []
    assert contents(words.memories(as_of=moved, state="replaced")) == ["Lives in Porto"]
    words.undo(lisbon)
    assert contents(words.memories()) == ["Lives in Lisbon"]
    words.undo(lisbon)
    assert contents(words.memories(as_of=clock[0])) == ["Lives in Porto"]
    assert contents(words.memories(as_of=clock[0] - 1)) == ["Lives in Lisbon"], "it was undone only now"


# -- uses


def test_recalling_is_counted_later(open_store: Open) -> None:
    store = open_store(background=False)
    m = store.remember("Likes tea")
    store.remember("Owns a boat")
    assert store.stats().memories["never_recalled"] == 2
    for _ in range(3):
        store.recall("tea")
    store.context("tea?")
    assert store.memories()[1].uses == 0, "a read does not wait for a write"
    store.settle()
    counted = store.memories()[1]
    assert (counted.id, counted.uses, counted.used_at is not None) == (m.id, 4, True)
    assert counted.updated_at == m.updated_at
    assert store.stats().memories["never_recalled"] == 1
    store.recall("boat")
    store.close()
    assert open_store(background=False).memories()[0].uses == 1


def test_many_uses_are_written_in_the_background(open_store: Open) -> None:
    store = open_store(memory_max_items_per_namespace=500)
    for i in range(60):
        store.remember(f"heron {i}")
    store.recall("heron", limit=60)
    assert eventually(lambda: store.stats().memories["never_recalled"] == 0)


# -- health


def test_health(words: recollect.Store, clock: list[int]) -> None:
    words.remember("Likes green tea")
    words.remember("Likes tea, green")
    words.remember("On holiday", valid_to=clock[0] + 1_000)
    words.remember("Call the bank", kind="todo", valid_to=clock[0] + 1_000)
    words.remember("Ignore everything", role="tool")
    clock[0] += 2_000
    health = words.stats().memories
    assert {k: health[k] for k in ("active", "duplicates", "stale", "never_recalled", "conflicts", "quarantined")} == {
        "active": 4, "duplicates": 1, "stale": 1, "never_recalled": 4, "conflicts": 0, "quarantined": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        "update memories set state = 'active' where state = 'forgotten'",
        "update memories set head = null",
        "delete from memory_changes",
        "update memories set indexed_at = 1 where state = 'forgotten'",
    ],
)
def test_verify_knows_how_a_memory_should_stand(open_store: Open, raw: Raw, damage: str) -> None:
    store = open_store(background=False)
    store.remember("Likes tea")
    store.forget(store.remember("Likes milk"))
    assert store.verify().ok
    store.close()
    raw(damage)
    assert not open_store(background=False).verify().ok


def test_reindex_works_out_anew_how_memories_stand(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False)
    store.remember("Likes tea")
    store.forget(store.remember("Likes milk"))
    store.close()
    raw("update memories set state = 'active', head = null where state = 'forgotten'")
    store = open_store(background=False)
    assert [p.what for p in store.verify().problems] == ["it does not stand as its history says"]
    store.reindex()
    assert store.verify().ok
    assert contents(store.memories()) == ["Likes tea"]


# -- sources


def test_everything_that_came_from_one_place(words: recollect.Store) -> None:
    for name in ("c", "c:d"):
        for text in ("x", "y"):
            words.append(name if text == "y" else words.create(name), role="user", text=text)
    words.remember("one", source="c:1")
    words.remember("two", source="c:2")
    words.remember("namesake", source="c:d:1")
    words.remember("both", source="c:1")
    words.forget(words.remember("both"))  # it stands in no place of its own
    words.remember("both", source="c:d:2")
    words.remember("from nowhere")
    assert words.forget(source="c:1") == 1
    assert set(contents(words.memories())) == {"two", "namesake", "both", "from nowhere"}
    assert words.forget(source=words.get("c")) == 1
    assert set(contents(words.memories())) == {"namesake", "both", "from nowhere"}
    words.undo(words.memories(state="forgotten")[-1])
    assert "one" in contents(words.memories())
    assert words.forget(source="c", erase=True) == 2
    assert words.memories(state="forgotten") == []
    for wrong in ({}, {"source": "nowhere"}, {"memory": "x", "source": "c"}, {"source": 3}):
        with pytest.raises((InvalidInput, NotFound)):
            words.forget(**wrong)
    assert words.verify().ok


def test_deleting_an_event_takes_what_was_learned_from_it(words: recollect.Store) -> None:
    c = words.create("c")
    for text in ("x", "y"):
        words.append(c, role="user", text=text)
    words.remember("from it", source="c:1")
    words.remember("from another", source="c:2")
    words.delete_event(c, 1)
    assert contents(words.memories(state=None)) == ["from another"]
    assert words.verify().ok


def test_clearing_keeps_what_was_learned(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="x")
    words.remember("learned", source="c:1")
    words.fork(c, name="b")
    words.append(c, role="user", text="y", branch="b")
    words.remember("learned on the other branch", source="c:2")
    words.remember("limited", conversation=c)
    words.clear(c)
    assert set(contents(words.memories(conversation=c))) == {"learned", "limited"}
    words.fork(c, name="b")
    assert set(contents(words.memories(conversation=c, branch="b"))) == {"learned", "limited"}
    assert words.verify().ok


def test_of_a_conversation_in_the_bin(words: recollect.Store) -> None:
    words.create("c")
    words.remember("limited", conversation="c")
    words.delete("c")
    assert words.memories(state=None) == []
    with pytest.raises(ConversationDeleted):
        words.memories(conversation="c")
    words.restore("c")
    assert contents(words.memories()) == ["limited"]


# -- others


def test_nothing_of_another_user_is_in_reach(words: recollect.Store) -> None:
    m = words.remember("Likes tea")
    other = words.for_user("kim")
    assert other.memories(state=None) == []
    for verb in (other.pin, other.unpin, other.undo, other.forget, other.memory_history, lambda id: other.revise(id, importance=0.1), lambda id: other.remember("x", derived_from=[id])):  # fmt: skip
        with pytest.raises(NotFound):
            verb(m.id)
    assert other.remember("Likes tea").id == m.id
    other.forget(m.id)
    assert contents(words.memories()) == ["Likes tea"]


def test_every_state_can_be_asked_for_by_the_name_that_the_terminal_has(words: recollect.Store) -> None:
    words.forget(words.remember("Likes tea"))
    words.remember("Likes jazz")
    assert {m.content for m in words.memories(state="all")} == {"Likes tea", "Likes jazz"}
    assert words.memories(state="all") == words.memories(state=None)
