"""ledger: the newest snapshot of each task, now or at any point."""

import pytest

import recollect
from recollect import log
from recollect.errors import NotFound
from talk import Open, exchange


@pytest.fixture
def c(store: recollect.Store) -> str:
    id = store.create("c").id
    store.append(id, kind="ledger", task_id="a", goal="Write", status="open", payload={"step": 1})  # 1
    store.append(id, kind="ledger", task_id="b", goal="Test", status="open")  # 2
    store.append(id, role="user", text="go on")  # 3
    store.append(id, kind="ledger", task_id="a", goal="Write it", status="done", payload={"step": 2})  # 4
    return id


def state(entries: list[recollect.LedgerEntry]) -> list[tuple[str, str, str | None, int]]:
    return [(e.task_id, e.goal, e.status, e.seq) for e in entries]


def test_the_newest_of_each_task_in_order_of_appearance(store: recollect.Store, c: str) -> None:
    assert state(store.ledger(c)) == [("a", "Write it", "done", 4), ("b", "Test", "open", 2)]
    assert [e.payload for e in store.ledger(c)] == [{"step": 2}, {}]


def test_as_it_stood_at_any_point(store: recollect.Store, c: str) -> None:
    assert store.ledger(c, at=0) == []
    assert state(store.ledger(c, at=1)) == [("a", "Write", "open", 1)]
    assert state(store.ledger(c, at=3)) == [("a", "Write", "open", 1), ("b", "Test", "open", 2)]
    assert store.ledger(c, at=4) == store.ledger(c, at=999) == store.ledger(c)


def test_empty_without_snapshots(store: recollect.Store) -> None:
    assert store.ledger(store.create().id) == []


def test_tasks_are_told_apart_exactly(store: recollect.Store) -> None:
    c = store.create().id
    for task in ("t", "T", "t ", "10", "1"):
        store.append(c, kind="ledger", task_id=task, goal=task)
    assert [e.task_id for e in store.ledger(c)] == ["t", "T", "t ", "10", "1"]


def test_a_branch_has_its_own(store: recollect.Store, c: str) -> None:
    store.fork(c, 3, name="idea")
    store.append(c, kind="ledger", task_id="b", goal="Test", status="skipped", branch="idea")
    assert state(store.ledger(c, branch="idea")) == [("a", "Write", "open", 1), ("b", "Test", "skipped", 5)]
    assert state(store.ledger(c)) == [("a", "Write it", "done", 4), ("b", "Test", "open", 2)]
    assert state(store.ledger(c, branch="idea", at=4)) == [("a", "Write", "open", 1), ("b", "Test", "open", 2)]


def test_it_survives_summarization(open_store: Open) -> None:
    store = open_store(summary_delete=True)
    c = store.create().id
    store.append(c, kind="ledger", task_id="a", goal="g", status="open")
    store.append_many(c, exchange(10))
    assert store.summarize(c)
    assert state(store.ledger(c)) == [("a", "g", "open", 1)]


def test_deleting_the_newest_snapshot_shows_the_one_before(store: recollect.Store, c: str) -> None:
    store.delete_event(c, 4)
    assert state(store.ledger(c)) == [("a", "Write", "open", 1), ("b", "Test", "open", 2)]


def test_bad_questions(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound):
        store.ledger("nobody")
    with pytest.raises(NotFound):
        store.ledger(c, branch="nowhere")


@pytest.mark.parametrize("at", [-1, 2**80, "3", 1.5], ids=str)
def test_a_point_that_is_none_is_refused(store: recollect.Store, c: str, at: object) -> None:
    with pytest.raises(recollect.errors.InvalidInput, match="at"):
        store.ledger(c, at=at)  # type: ignore[arg-type]


def test_an_entry_says_which_agent_took_it(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, kind="ledger", task_id="a", goal="Write", status="open", agent="planner")
    store.append(c, kind="ledger", task_id="a", goal="Write", status="done", agent="executor")
    store.append(c, kind="ledger", task_id="b", goal="Test")
    assert [e.agent for e in store.ledger(c)] == ["executor", None]


def test_tasks_of_two_conversations_are_two_tasks(open_store: Open) -> None:
    """Ids such as task-1 are each conversation's own: what one does says nothing about the other's."""
    store = open_store(background=False, memory_extract=True)
    for id, goal in (("a", "Fix the login page"), ("b", "Write the docs"), ("c", ""), ("d", "")):
        store.create(id)
        store.append(id, kind="ledger", task_id="task-1", goal=goal, status="in_progress")
        store.consolidate(id)
    for id, status in (("a", "done"), ("b", "blocked"), ("c", "done"), ("d", "blocked")):
        store.append(id, kind="ledger", task_id="task-1", goal={"a": "Fix the login page"}.get(id, ""), status=status)
        store.consolidate(id)
    assert sorted(m.content for m in store.memories()) == [
        "Task task-1 (Fix the login page) is done",
        "Task task-1 is blocked",
        "Task task-1 is done",
    ]


def test_of_many_snapshots_only_the_newest_are_loaded(store: recollect.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    c = store.create().id
    store.append_many(c, [{"kind": "ledger", "task_id": f"t{n % 3}", "goal": str(n)} for n in range(60)])
    store.fork(c, 60, name="idea")
    store.append(c, kind="ledger", task_id="t1", goal="other", branch="idea")
    loaded: list[object] = []
    load = log.load
    monkeypatch.setattr("recollect.log.load", lambda *row: loaded.append(row) or load(*row))
    assert state(store.ledger(c)) == [("t0", "57", None, 58), ("t1", "58", None, 59), ("t2", "59", None, 60)]
    assert [e.goal for e in store.ledger(c, branch="idea")] == ["57", "other", "59"]
    assert [e.goal for e in store.ledger(c, branch="idea", at=32)] == ["30", "31", "29"]
    assert len(loaded) == 10
