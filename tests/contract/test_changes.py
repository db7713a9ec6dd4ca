"""`changes`: one order for everything that happens, from any position, whoever writes; nothing missed, nothing twice."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

import recollect
from recollect.errors import InvalidInput
from talk import Open


def told(page: recollect.Changes) -> list[str]:
    return [c.event.text if c.event else c.memory.content if c.memory else "" for c in page.items]


def test_without_a_position_it_says_where_now_is(open_store: Open) -> None:
    store = open_store()
    assert store.changes().items == ()
    store.append(store.create("c"), role="user", text="before")
    now = store.changes()
    assert now.items == ()
    store.append("c", role="user", text="after")
    page = store.changes(after=now.cursor)
    assert told(page) == ["after"]
    assert told(store.changes(after=page.cursor)) == []


def test_events_and_memories_are_in_one_order(open_store: Open) -> None:
    store = open_store()
    start = store.changes().cursor
    c = store.create("c", workspace="/w")
    event = store.append(c, role="user", text="one", reasoning="because")
    memory = store.remember("Two is a number")
    store.append(c, kind="note", text="three")
    store.pin(memory)
    page = store.changes(after=start)
    assert [(x.type, x.action) for x in page.items] == [
        ("event", None), ("event", None), ("memory", "added"), ("event", None), ("memory", "pinned"),
    ]  # fmt: skip
    assert page.items[0].event == event
    assert (page.items[0].conversation_id, page.items[0].workspace) == ("c", "/w")
    assert page.items[2].memory is not None and page.items[2].memory.pinned is False, "as it stood then"
    assert page.items[4].memory is not None and page.items[4].memory.pinned is True
    ids = [x.id for x in page.items]
    assert ids == sorted(set(ids)) and page.cursor == ids[-1]


def test_any_page_size_gives_the_same(open_store: Open) -> None:
    store = open_store()
    for i in range(7):
        store.append(store.create(f"c{i}"), role="user", text=f"m{i}")
        store.remember(f"Statement {i} is kept")
    whole = store.changes(after=0).items
    assert len(whole) == 14
    for limit in (1, 2, 3, 5):
        seen: list[recollect.Change] = []
        at = 0
        while page := store.changes(after=at, limit=limit):
            seen += page.items
            at = page.cursor
            if len(page.items) < limit:
                break
        assert tuple(seen) == whole, limit


def test_by_conversation_and_by_workspace(open_store: Open) -> None:
    store = open_store()
    for name, place in (("a", "/w1"), ("b", "/w2"), ("c", None)):
        store.append(store.create(name, workspace=place), role="user", text=f"in {name}")
        store.remember(f"Limited to {name}", conversation=name)
    store.remember("Limited to w1", workspace="/w1")
    store.remember("Of the user")
    assert told(store.changes(after=0, conversation="a")) == ["in a", "Limited to a"]
    assert told(store.changes(after=0, workspace="/w1")) == ["in a", "Limited to a", "Limited to w1", "Of the user"]
    assert told(store.changes(after=0, workspace="/w")) == ["Of the user"], "a workspace is no prefix"
    assert told(store.changes(after=0, conversation="not yet there")) == []


def test_what_is_in_the_bin_or_erased_is_not_told(open_store: Open) -> None:
    store = open_store()
    for name in ("a", "b", "c"):
        store.append(store.create(name), role="user", text=name)
    store.delete("a")
    store.erase(conversation="b")
    assert told(store.changes(after=0)) == ["c"]
    store.restore("a")
    assert told(store.changes(after=0)) == ["a", "c"]


def test_another_user_is_not_told(open_store: Open) -> None:
    alex, kim = open_store("alex"), open_store("kim")
    alex.append(alex.create("c"), role="user", text="alex")
    kim.append(kim.create("c"), role="user", text="kim")
    kim.remember("Kim likes rice")
    assert told(alex.changes(after=0)) == ["alex"]
    assert told(kim.changes(after=0)) == ["kim", "Kim likes rice"]
    assert told(open_store("nobody").changes(after=0)) == []


def test_wrong_positions_are_refused(open_store: Open) -> None:
    store = open_store()
    for wrong in (-1, "1", 1.5, True):
        with pytest.raises(InvalidInput):
            store.changes(after=wrong)  # type: ignore[arg-type]


def test_what_was_written_before_is_told_although_others_write(
    postgres_url: str, postgres_admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's transaction, in another database of the same server, ends a little later: whoever has written and then
    asks is told of it, as on SQLite. One that lasts holds nobody up, and what it held back comes afterwards."""
    with (
        psycopg.connect(postgres_admin_url) as other,
        recollect.open(postgres_url, user="alex", semantic=False, memory_extract=False) as store,
    ):
        start = store.changes().cursor
        other.execute("select pg_current_xact_id()")
        ends = threading.Timer(0.2, other.commit)
        ends.start()
        store.append(store.create("c"), role="user", text="meanwhile")
        page = store.changes(after=start)
        ends.join()
        assert told(page) == ["meanwhile"]
        other.execute("select pg_current_xact_id()")
        store.append("c", role="user", text="held back")
        with monkeypatch.context() as patch:
            patch.setattr("recollect.verbs.log.SETTLED_SOON_SECONDS", 0.5)
            assert store.changes(after=page.cursor) == recollect.Changes((), page.cursor)
        other.commit()
        assert told(store.changes(after=page.cursor)) == ["held back"]


def test_readers_miss_nothing_while_many_write(open_store: Open) -> None:
    """Eight writers, each with a handle of its own, as other processes have one; two readers that read all the time. On
    Postgres a lower id is often committed after a higher one."""
    writers, each = 8, 60
    store = open_store()
    handles = [open_store(pool_max=2) for _ in range(writers)]
    for w in range(writers):
        store.create(f"c{w}")
    start = store.changes().cursor
    done = threading.Event()
    seen: list[list[str]] = [[], []]
    wrong: list[Any] = []

    def write(w: int) -> None:
        try:
            for i in range(each):
                if i % 10 == 9:
                    handles[w].remember(f"Writer {w} has written {i} times")
                else:
                    handles[w].append_many(
                        f"c{w}", [{"role": "user", "text": f"{w}.{i}.{n}"} for n in range(1 + i % 3)]
                    )
        except BaseException as e:
            wrong.append(e)

    def read(into: list[str], limit: int) -> None:
        try:
            at = start
            while True:
                last = done.is_set()
                page = store.changes(after=at, limit=limit)
                into += told(page)
                at = page.cursor
                if last and not page.items and at >= store.changes().cursor:
                    return
        except BaseException as e:
            wrong.append(e)

    readers = [threading.Thread(target=read, args=(into, limit)) for into, limit in zip(seen, (7, 100), strict=True)]
    threads = [threading.Thread(target=write, args=(w,)) for w in range(writers)]
    for t in (*readers, *threads):
        t.start()
    for t in threads:
        t.join(300)
    done.set()
    for t in readers:
        t.join(120)
    assert not wrong
    expected = [e.text for w in range(writers) for e in store.read(f"c{w}")] + [
        m.content for m in store.memories(limit=999)
    ]
    for found in seen:
        assert sorted(found) == sorted(expected)
        for w in range(writers):  # of one conversation, in its order
            own = [t for t in found if t.startswith(f"{w}.")]
            assert own == [e.text for e in store.read(f"c{w}")]


def test_what_is_in_the_bin_is_passed_over_and_a_restore_tells_nothing_again(open_store: Open) -> None:
    """Held back, it would hold up everything behind it until the bin is emptied."""
    store = open_store()
    start = store.changes().cursor
    store.append(store.create("c"), role="user", text="shortly before")
    store.delete("c")
    page = store.changes(after=start)
    assert told(page) == [] and page.cursor > start
    store.restore("c")
    assert told(store.changes(after=page.cursor)) == []
    store.append("c", role="user", text="afterwards")
    assert told(store.changes(after=page.cursor)) == ["afterwards"]
    assert told(store.changes(after=start)) == ["shortly before", "afterwards"], "whoever has not passed it is told"
