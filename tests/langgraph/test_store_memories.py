"""`("memories", user)` and `("memories", user, thread)`: items that are also memories, in scopes that never meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore, PutOp

import recollect
from recollect import ids, jobs, mirror, views
from recollect.errors import AlreadyExists, NotFound
from recollect.langgraph.store import MemoryStore
from talk import eventually


class State(TypedDict):
    x: int


Opened = tuple[recollect.Store, MemoryStore]


@pytest.fixture
def opened(url: str) -> Iterator[Opened]:
    """alex's own store, and a graph's store on it."""
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        yield store, MemoryStore(store)


def recalled(store: recollect.Store, q: str, **scope: Any) -> list[str]:
    return [hit.text for hit in store.recall(q, **scope)]


def test_a_content_in_memories_is_a_memory_under_its_key(opened: Opened) -> None:
    store, memory = opened
    memory.put(
        ("memories", "alex"),
        "theme",
        {"content": "Prefers dark mode", "kind": "preference", "importance": 0.9, "tags": ["ui"], "source": "c:7"},
    )
    (hit,) = store.recall("dark mode")
    assert (hit.id, hit.text, hit.kind) == ("theme", "Prefers dark mode", "preference")
    assert store.recall("dark mode", tags=["ui"], min_importance=0.9)
    assert store._db.read("alex", lambda tx: recollect.memories.get(tx, "theme")).source == "c:7"


@pytest.mark.parametrize(
    ("namespace", "value"),
    [
        (("memories", "alex"), {"text": "no content"}),
        (("memories", "alex"), {"content": ["not", "a", "text"]}),
        (("memories", "alex"), {"content": "  "}),
        (("memories", "alex"), {"content": "nul \0"}),
        (("memories",), {"content": "whose?"}),
        (("memories", "alex", "t", "deeper"), {"content": "deeper"}),
        (("notes", "alex"), {"content": "not in memories"}),
    ],
)
def test_anything_else_is_an_item_and_no_more(opened: Opened, namespace: tuple[str, ...], value: Any) -> None:
    store, memory = opened
    memory.put(namespace, "k", value)
    item = memory.get(namespace, "k")
    assert item is not None and item.value == value
    assert store.recall("content deeper memories whose text nul not") == []


def test_it_changes_and_goes_with_its_item(opened: Opened) -> None:
    store, memory = opened
    memory.put(("memories", "alex"), "k", {"content": "Lives in Lisbon"})
    memory.put(("memories", "alex"), "k", {"content": "Lives in Porto"})
    assert recalled(store, "lives") == ["Lives in Porto"]
    memory.put(("memories", "alex"), "k", {"note": "no longer a statement"})
    assert recalled(store, "lives porto") == []
    memory.put(("memories", "alex"), "k", {"content": "Lives in Faro"})
    assert recalled(store, "lives") == ["Lives in Faro"]
    memory.delete(("memories", "alex"), "k")
    assert recalled(store, "lives") == []
    assert store.verify().ok


def test_the_same_words_under_two_keys_are_two_memories(opened: Opened) -> None:
    store, memory = opened
    store.remember("Likes tea")
    memory.put(("memories", "alex"), "a", {"content": "Likes tea"})
    memory.put(("memories", "alex"), "b", {"content": "Likes tea"})
    assert recalled(store, "tea") == ["Likes tea"] * 3
    memory.delete(("memories", "alex"), "a")
    assert sorted(hit.id for hit in store.recall("tea"))[-1] == "b"
    assert len(store.recall("tea")) == 2


def test_a_key_that_is_taken_or_unfit_for_an_id_gets_another_id(opened: Opened) -> None:
    store, memory = opened
    mine = store.remember("Learned by hand")
    memory.put(("memories", "alex"), mine.id, {"content": "Put by a graph"})
    memory.put(("memories", "alex"), "x" * 400, {"content": "A graph's long key"})
    memory.put(("memories", "alex"), "", {"content": "A graph's empty key"})
    assert recalled(store, "learned hand") [:1] == ["Learned by hand"]  # fmt: skip
    assert sorted(recalled(store, "graph")) == ["A graph's empty key", "A graph's long key", "Put by a graph"]
    for key in (mine.id, "x" * 400, ""):
        assert memory.get(("memories", "alex"), key) is not None
        memory.delete(("memories", "alex"), key)
    assert recalled(store, "graph learned") == ["Learned by hand"]


def test_a_thread_and_its_user_never_leak_into_each_other(opened: Opened) -> None:
    store, memory = opened
    for thread in ("t1", "t2"):
        store.create(thread)
    memory.put(("memories", "alex"), "k", {"content": "secret plan of the user"})
    memory.put(("memories", "alex", "t1"), "k", {"content": "secret plan of thread one"})
    memory.put(("memories", "alex", "t2"), "k", {"content": "secret plan of thread two"})
    assert recalled(store, "secret plan") == ["secret plan of the user"]
    near = recalled(store, "secret plan", conversation="t1")
    assert "secret plan of thread one" in near and "secret plan of thread two" not in near
    for query in (None, "secret plan"):
        assert [i.value["content"] for i in memory.search(("memories", "alex"), query=query)] == [
            "secret plan of the user"
        ]
        (found,) = memory.search(("memories", "alex", "t1"), query=query)
        assert found.namespace == ("memories", "alex", "t1")
    assert len(memory.search(("memories",))) == 3  # who asks for all of them gets all of them
    assert memory.list_namespaces(prefix=("memories", "alex")) == [
        ("memories", "alex"), ("memories", "alex", "t1"), ("memories", "alex", "t2"),
    ]  # fmt: skip


def test_a_thread_that_is_no_conversation_has_items_only(opened: Opened) -> None:
    store, memory = opened
    memory.put(("memories", "alex", "t9"), "k", {"content": "before the thread began"})
    assert memory.get(("memories", "alex", "t9"), "k") is not None
    assert recalled(store, "thread began") == []
    store.create("t9")
    memory.put(("memories", "alex", "t9"), "k", {"content": "after the thread began"})
    assert recalled(store, "thread began", conversation="t9") == ["after the thread began"]


def test_erasing_a_conversation_takes_what_was_kept_for_it(opened: Opened) -> None:
    store, memory = opened
    for thread in ("t1", "t10"):
        store.create(thread)
        memory.put(("memories", "alex", thread), "k", {"content": f"kept for {thread}"})
    memory.put(("memories", "alex"), "k", {"content": "kept for the user"})
    receipt = store.erase(conversation="t1")
    assert receipt.counts["items"] == 1
    assert memory.search(("memories", "alex", "t1")) == []
    assert len(memory.search(("memories", "alex", "t10"))) == 1
    assert len(memory.search(("memories", "alex"))) == 1
    assert store.verify().ok


# -- a backend keeps the items of all its users under its own name


def test_a_memory_belongs_to_the_user_its_namespace_names(url: str) -> None:
    with recollect.open(url, user="backend", semantic=False, background=False) as store:
        memory = MemoryStore(store)
        memory.batch([PutOp(("memories", who), "drink", {"content": f"{who} drinks tea"}) for who in ("alex", "kim")])
        memory.put(("memories", "backend"), "drink", {"content": "backend drinks electricity"})
        for who in ("alex", "kim"):
            (hit,) = store.for_user(who).recall("drinks")
            assert (hit.id, hit.text) == ("drink", f"{who} drinks tea")
        assert recalled(store, "drinks") == ["backend drinks electricity"]
        assert store.stats().jobs == {}  # nothing is left to follow
        assert len(memory.search(("memories",), limit=10)) == 3
        memory.put(("memories", "alex"), "drink", {"content": "alex drinks coffee"})
        assert recalled(store.for_user("alex"), "drinks") == ["alex drinks coffee"]
        memory.delete(("memories", "alex"), "drink")
        assert recalled(store.for_user("alex"), "drinks") == []
        memory.put(("memories", "kim"), "drink", {"no": "content"})
        assert recalled(store.for_user("kim"), "drinks") == []


def test_two_backends_with_the_same_key_do_not_overwrite_each_other(url: str) -> None:
    with recollect.open(url, user="one", semantic=False, background=False) as one:
        for handle in (one, one.for_user("two")):
            MemoryStore(handle).put(("memories", "alex"), "k", {"content": f"said by {handle.user}"})
        assert sorted(recalled(one.for_user("alex"), "said")) == ["said by one", "said by two"]


def test_a_process_that_dies_in_between_leaves_a_job_that_finishes_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recollect.open(url, user="backend", semantic=False, background=False) as store:

        def dies(*args: object) -> None:
            raise SystemExit

        with monkeypatch.context() as patch, pytest.raises(SystemExit):
            patch.setattr(mirror, "follow", dies)
            MemoryStore(store).put(("memories", "alex"), "k", {"content": "nearly lost"})
        assert recalled(store.for_user("alex"), "lost") == []
        assert store.settle() == 1
        assert recalled(store.for_user("alex"), "lost") == ["nearly lost"]
        assert store._db.read("backend", jobs.counts) == {}


def test_memories_can_be_switched_off(url: str) -> None:
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        MemoryStore(store, memories=False).put(("memories", "alex"), "k", {"content": "just an item"})
        assert recalled(store, "item") == []


def test_a_memory_goes_when_its_item_expires(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollect.open(url, user="backend", semantic=False, background=False) as store:
        memory = MemoryStore(store)
        for who in ("alex", "backend"):
            memory.put(("memories", who), "k", {"content": "for a minute"}, ttl=1)
        later = ids.now() + 61_000
        monkeypatch.setattr(ids, "now", lambda: later)
        assert memory.sweep_ttl() == 2
        assert recalled(store, "minute") == recalled(store.for_user("alex"), "minute") == []


def test_what_a_graph_learns_knows_where_it_was_said(opened: Opened) -> None:
    store, memory = opened
    store.append(store.create("t1"), role="user", text="I take my coffee black")

    def learn(state: State, *, store: BaseStore) -> State:
        store.put(("memories", "alex"), "coffee", {"content": "Takes coffee black"})
        return state

    builder = StateGraph(State)
    builder.add_node("learn", learn)
    builder.add_edge(START, "learn")
    builder.compile(store=memory).invoke({"x": 1}, {"configurable": {"thread_id": "t1"}})
    get: Callable[..., Any] = lambda tx: recollect.memories.get(tx, "coffee")  # noqa: E731
    assert store._db.read("alex", get).source == "t1:1"
    store.erase(conversation="t1")
    with pytest.raises(NotFound):
        store._db.read("alex", get)


def test_a_memory_that_had_a_secret_in_it_is_marked(opened: Opened) -> None:
    store, memory = opened
    memory.put(("memories", "alex"), "k", {"content": "the deploy token is ghp_" + "a1B2c3D4e5F6" * 3})
    (hit,) = store.recall("deploy token")
    assert hit.sensitive and "[redacted:" in hit.text
    assert store.context("deploy token").items == ()


def test_the_memory_of_another_user_is_found_by_meaning_too(url: str) -> None:
    with recollect.open(url, user="backend") as store:
        MemoryStore(store).put(("memories", "alex"), "k", {"content": "Flew to Lisbon in May"})
        alex = store.for_user("alex")
        eventually(lambda: not alex.stats().jobs)
        assert alex.recall("journey to Portugal")[0].parts.get("meaning")


# -- what is put takes no room from what is learned


@pytest.mark.parametrize("importance", [0.1, 1.0])
def test_a_full_store_does_not_keep_a_person_from_being_heard(opened: Opened, importance: float) -> None:
    store, memory = opened
    puts = [
        PutOp(("memories", "alex"), f"k{i}", {"content": f"Note {i}", "importance": importance}) for i in range(201)
    ]
    memory.batch(puts)
    store.append(store.create("t"), role="user", text="Remember I prefer dark mode. I like tea.")
    done = store.consolidate("t")
    assert [action for action, _, _ in done.decisions] == ["add", "add"]
    assert {"Prefers dark mode", "Likes tea"} <= {m.content for m in store.memories()}
    assert store.remember("Has a sister").state == "active"
    assert store.memories(state="expired", limit=1) == [], "what a graph put stays"


def test_ten_thousand_items_do_not_slow_learning_down(opened: Opened) -> None:
    """Each turn looks at all that is held: 0.1 s at 10,000 where this was written. Rows are multiplied, since it takes a
    database ten seconds and more to put so many."""
    store, memory = opened
    memory.put(("memories", "alex"), "k", {"content": "Note"})

    def multiply(tx: Any) -> None:
        ((change, no),) = tx.all("select head, id from memories where user_no = :user")
        for table, id, columns in (
            ("memory_changes", change, views.NAMES), ("memories", no, "id, user_no, memory_id, content, kind, tags, namespace, state, head, created_at, uses"),
        ):  # fmt: skip
            rows = tx.all(f"select {columns} from {table} where user_no = :user and id = :id", id=id)
            names = columns.replace(" ", "").split(",")
            marks = ", ".join(f":{n}" for n in names)
            many = []
            for n in range(1, 10_000):
                row = dict(zip(names, rows[0], strict=True))
                row |= {"id": row["id"] + 10 * n}
                row |= {"memory": no + 10 * n} if table == "memory_changes" else {}
                row |= {"head": change + 10 * n, "memory_id": f"k{n}", "content": f"Note {n}"} if "head" in row else {}
                many.append(tuple(row.values()))
            tx.many(f"insert into {table} ({columns}) values ({marks})", many)
        tx.ticks(100_100)

    store._db.write("alex", multiply)
    store.append(store.create("t"), role="user", text="Remember I prefer dark mode.")
    store.consolidate("t")
    store.append("t", role="user", text="I live in Porto.")
    started = time.perf_counter()
    store.consolidate("t")
    assert time.perf_counter() - started < 2
    assert {"Prefers dark mode", "Lives in Porto"} <= {m.content for m in store.memories()}
    assert len(store.memories(limit=11_000)) == 10_002


# -- what is learned is found by a graph

MINE = ("memories", "alex")


def learn(store: recollect.Store, text: str, c: str = "t") -> None:
    try:
        store.create(c)
    except AlreadyExists:
        pass
    store.append(c, role="user", text=text)
    store.consolidate(c)


def test_what_is_learned_is_found_under_its_id_and_marked(opened: Opened) -> None:
    store, memory = opened
    learn(store, "I live in Porto. I like tea.")
    held = {m.content: m for m in store.memories()}
    found = {item.value["content"]: item for item in memory.search(MINE)}
    assert found.keys() == held.keys() == {"Lives in Porto", "Likes tea"}
    porto = found["Lives in Porto"]
    assert porto.key == held["Lives in Porto"].id and porto.namespace == MINE
    assert (porto.value["learned"], porto.value["kind"], porto.value["source"]) == (True, "fact", "t:1")
    assert memory.get(MINE, porto.key).value == porto.value
    assert memory.list_namespaces() == memory.list_namespaces(prefix=("memories",), max_depth=2) == [MINE]
    assert memory.search(MINE, query="where does alex live?")[0].key == porto.key
    assert [i.key for i in memory.search(MINE, filter={"content": "Likes tea"})] == [held["Likes tea"].id]
    pages = [memory.search(MINE, limit=1, offset=n) for n in range(3)]
    assert [len(page) for page in pages] == [1, 1, 0] and pages[0] != pages[1]
    store.forget(held["Lives in Porto"])
    assert memory.get(MINE, porto.key) is None
    assert [item.value["content"] for item in memory.search(MINE)] == ["Likes tea"]


def test_what_is_put_and_what_is_learned_stand_in_one_order(opened: Opened) -> None:
    store, memory = opened
    memory.put(MINE, "a", {"content": "Has a bicycle"})
    learn(store, "I live in Porto.")
    memory.put(MINE, "b", {"content": "Plays the bassoon"})
    assert memory.search(MINE, query="bassoon", limit=1)[0].key == "b"
    assert memory.search(MINE, query="Porto", limit=1)[0].value["content"] == "Lives in Porto"
    assert len(memory.search(MINE, query="Porto")) == 3
    assert MemoryStore(store, memories=False).search(MINE, query="Porto", limit=3)[0].key in ("a", "b")


def test_what_the_user_says_later_updates_what_an_agent_put(opened: Opened) -> None:
    store, memory = opened
    memory.put(MINE, "home", {"content": "Lives in Lisbon", "by": "agent"})
    memory.put(MINE, "drink", {"content": "Likes tea"})
    learn(store, "I live in Porto now.")
    item = memory.get(MINE, "home")
    assert item is not None and item.value == {"content": "Lives in Porto", "by": "agent", "learned": True}
    assert sorted(i.value["content"] for i in memory.search(MINE)) == ["Likes tea", "Lives in Porto"]
    assert memory.search(MINE, query="Porto")[0].key == "home"
    store.forget("drink")
    assert memory.get(MINE, "drink") is None
    assert [i.key for i in memory.search(MINE)] == ["home"]
    store.undo("drink")
    assert memory.get(MINE, "drink") is not None
    memory.put(MINE, "home", {"content": "Lives in Faro"})
    item = memory.get(MINE, "home")
    assert item is not None and item.value == {"content": "Lives in Faro"}, "what is put is there"


def test_nobody_reads_through_to_somebody_else(url: str) -> None:
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        kim = store.for_user("kim")
        learn(kim, "I live in Oslo.", "k")
        (held,) = kim.memories()
        for memory in (MemoryStore(store), MemoryStore(store.for_user("backend"))):
            assert memory.search(("memories", "kim")) == [] and memory.search(("memories",)) == []
            assert memory.get(("memories", "kim"), held.id) is None
            assert memory.list_namespaces() == []
        assert MemoryStore(store).for_user("kim").get(("memories", "kim"), held.id) is not None


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_backend_reads_through_for_the_user_whose_run_it_is(url: str, is_async: bool) -> None:
    seen: dict[str, list[str]] = {}

    async def alook(state: State, *, store: BaseStore) -> State:
        for who in ("alex", "kim"):
            seen[who] = [i.value["content"] for i in await store.asearch(("memories", who))]
        return state

    def look(state: State, *, store: BaseStore) -> State:
        for who in ("alex", "kim"):
            seen[who] = [i.value["content"] for i in store.search(("memories", who))]
        return state

    with recollect.open(url, user="backend", semantic=False, background=False) as store:
        for who, city in (("alex", "Porto"), ("kim", "Oslo")):
            learn(store.for_user(who), f"I live in {city}.")
        builder = StateGraph(State)
        builder.add_node("look", alook if is_async else look)
        builder.add_edge(START, "look")
        graph = builder.compile(store=MemoryStore(store))
        config: Any = {"configurable": {"thread_id": "t", "user_id": "kim"}}
        await graph.ainvoke({"x": 1}, config) if is_async else graph.invoke({"x": 1}, config)
    assert seen == {"alex": [], "kim": ["Lives in Oslo"]}


# -- everything that came from one conversation


def saving(store: recollect.Store, memory: MemoryStore, thread: str, user: str = "alex") -> None:
    """A run that saves what it was told."""

    def save(state: State, *, store: BaseStore) -> State:
        store.put(("memories", user), f"coffee-{thread}", {"content": f"Takes coffee black, said in {thread}"})
        store.put(("notes",), f"note-{thread}", {"n": 1})
        return state

    store.for_user(user).append(store.for_user(user).create(thread), role="user", text="I take my coffee black")
    builder = StateGraph(State)
    builder.add_node("save", save)
    builder.add_edge(START, "save")
    builder.compile(store=memory).invoke({"x": 1}, {"configurable": {"thread_id": thread, "user_id": user}})


@pytest.mark.parametrize("erase", [False, True])
def test_forgetting_a_conversation_reaches_what_an_agent_saved_there(opened: Opened, erase: bool) -> None:
    store, memory = opened
    for thread in ("t1", "t10"):
        saving(store, memory, thread)
    assert store.forget(source="t1", erase=erase) == 1
    assert memory.get(MINE, "coffee-t1") is None and memory.get(MINE, "coffee-t10") is not None
    assert [i.key for i in memory.search(MINE, query="coffee")] == ["coffee-t10"]
    assert [hit.id for hit in store.recall("coffee")] == ["coffee-t10"]
    assert (memory.get(("notes",), "note-t1") is None) == erase
    assert memory.get(("notes",), "note-t10") is not None
    if not erase:
        store.undo("coffee-t1")
        assert memory.get(MINE, "coffee-t1") is not None
    assert store.verify().ok


def test_a_backends_items_go_with_the_conversation_of_its_user(url: str) -> None:
    with recollect.open(url, user="backend", semantic=False, background=False) as store:
        memory = MemoryStore(store)
        for thread in ("t1", "t2"):
            saving(store, memory, thread, "kim")
        store.for_user("kim").forget(source="t1", erase=True)
        assert [i.key for i in memory.search(("memories", "kim"))] == ["coffee-t2"]
        assert [hit.id for hit in store.for_user("kim").recall("coffee")] == ["coffee-t2"]


def test_what_a_person_took_over_does_not_go_with_the_conversation(opened: Opened) -> None:
    store, memory = opened
    saving(store, memory, "t1")
    store.pin("coffee-t1")
    store.forget(source="t1")
    assert [m.id for m in store.memories()] == ["coffee-t1"]
