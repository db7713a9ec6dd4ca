"""stats: how much there is, and of what."""

import pytest

import recollect
from recollect.errors import InvalidInput
from talk import Open, exchange

DAY = 86_400_000
MONDAY = 1_700_438_400_000  # 2023-11-20


@pytest.fixture
def filled(store: recollect.Store) -> recollect.Store:
    a, b = store.create("a", workspace="/repo").id, store.create("b").id
    store.append(a, role="user", text="q", created_at=MONDAY)
    store.append(
        a, role="assistant", text="a", model="m1", agent="coder", input_tokens=10, output_tokens=5, cost=0.25,
        duration_ms=100, created_at=MONDAY + 1,
    )  # fmt: skip
    store.append(a, kind="tool_use", tool="Write", agent="coder", duration_ms=7, created_at=MONDAY + DAY)
    store.append(b, kind="tool_use", tool="Read", created_at=MONDAY + DAY)
    store.append(
        b,
        role="assistant",
        text="z",
        model="m1",
        input_tokens=1,
        output_tokens=1,
        cost=0.5,
        created_at=MONDAY + 2 * DAY,
    )
    return store


def rows(store: recollect.Store, by: str, since: int | None = None) -> dict[str, tuple[object, ...]]:
    return {
        r.key: (r.events, r.input_tokens, r.output_tokens, r.cost, r.duration_ms)
        for r in store.stats(by=by, since=since).rows
    }


def test_an_empty_store(store: recollect.Store) -> None:
    s = store.stats()
    assert (s.user, s.conversations, s.events, s.messages, s.branches) == ("alex", 0, 0, 0, 0)
    assert (s.first_at, s.last_at, s.jobs, s.job_errors, s.rows) == (None, None, {}, (), ())
    assert s.schema >= 1
    assert s.bytes > 0


def test_counts(filled: recollect.Store) -> None:
    filled.fork("a")
    filled.delete(filled.create())
    s = filled.stats()
    assert (s.conversations, s.deleted_conversations, s.events, s.messages) == (2, 1, 5, 3)
    assert (s.first_at, s.last_at) == (MONDAY, MONDAY + 2 * DAY)
    assert s.branches == 4


def test_by_kind(filled: recollect.Store) -> None:
    assert rows(filled, "kind") == {"message": (3, 11, 6, 0.75, 100), "tool_use": (2, 0, 0, 0.0, 7)}


def test_by_tool_agent_model_and_workspace(filled: recollect.Store) -> None:
    assert rows(filled, "tool") == {"Read": (1, 0, 0, 0.0, 0), "Write": (1, 0, 0, 0.0, 7)}
    assert rows(filled, "agent") == {"coder": (2, 10, 5, 0.25, 107)}
    assert rows(filled, "model") == {"m1": (2, 11, 6, 0.75, 100)}
    assert rows(filled, "workspace") == {"/repo": (3, 10, 5, 0.25, 107)}


def test_by_day_in_order(filled: recollect.Store) -> None:
    found = filled.stats(by="day").rows
    assert [(r.key, r.events) for r in found] == [("2023-11-20", 2), ("2023-11-21", 2), ("2023-11-22", 1)]


def test_the_largest_first(store: recollect.Store) -> None:
    c = store.create().id
    for tool, n in (("a", 1), ("b", 3), ("c", 2), ("d", 2)):
        store.append_many(c, [{"kind": "tool_use", "tool": tool}] * n)
    assert [r.key for r in store.stats(by="tool").rows] == ["b", "c", "d", "a"]


def test_since(filled: recollect.Store) -> None:
    assert filled.stats(since=MONDAY + DAY).events == 3
    assert filled.stats(since=MONDAY + DAY + 1).events == 1
    assert rows(filled, "model", MONDAY + DAY) == {"m1": (1, 1, 1, 0.5, 0)}
    assert filled.stats(since=0).events == 5
    assert filled.stats(since=MONDAY + 9 * DAY).first_at is None


def test_a_far_away_time_is_still_a_day(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, kind="note", created_at=0)
    store.append(c, kind="note", created_at=253402300799999)
    assert [r.events for r in store.stats(by="day").rows] == [1, 1]
    assert store.stats(by="day").rows[0].key == "1970-01-01"


def test_many_tokens_add_up_exactly(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, [{"kind": "note", "model": "m", "input_tokens": 2**60}] * 3)
    assert rows(store, "model")["m"][1] == 3 * 2**60


@pytest.mark.parametrize("by", ["nonsense", "", "text", "kind; drop table events"])
def test_only_the_six_groups(store: recollect.Store, by: str) -> None:
    with pytest.raises(InvalidInput, match="day, kind, tool"):
        store.stats(by=by)


def test_jobs_are_counted_by_state(open_store: Open) -> None:
    store = open_store(background=False)
    store.append_many(store.create(), exchange(21))
    assert store.stats().jobs == {"queued": 1}


def test_deleted_events_no_longer_count(filled: recollect.Store) -> None:
    filled.delete_event("a", 2)
    filled.clear("b")
    assert filled.stats().events == 2
    assert rows(filled, "model") == {}


def test_size_grows(store: recollect.Store) -> None:
    before = store.stats().bytes
    store.append(store.create(), role="user", text="x" * 3_000_000)
    assert store.stats().bytes > before
