"""record_workflow_event: another system's events, filed under their own type."""

import json

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open, texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    return store.create("c").id


def test_an_event_is_kept_whole_under_its_type(store: recollect.Store, c: str) -> None:
    event = {"type": "workflow.start", "data": {"agent_id": "planner", "text": "off we go", "n": 1}, "ts": 5}
    e = store.record_workflow_event(c, event)
    assert (e.kind, e.name, e.text, e.agent) == ("event", "workflow.start", "off we go", "planner")
    assert e.payload == event
    assert store.read(c, names=["workflow.start"]) == [e]


def test_events_are_filtered_by_name(store: recollect.Store, c: str) -> None:
    for name in ("workflow.start", "agent.message.delta", "agent.message.complete", "workflow.end"):
        store.record_workflow_event(c, {"type": name, "data": {"delta": name}})
    assert texts(store.read(c, names=["agent.message.complete", "workflow.end"])) == [
        "agent.message.complete",
        "workflow.end",
    ]


def test_a_task_ledger_becomes_a_snapshot(store: recollect.Store, c: str) -> None:
    data = {"kind": "task_ledger", "task_id": "t1", "goal": "Write the docs", "status": "open", "facts": ["a"]}
    e = store.record_workflow_event(c, {"type": "orchestrator.message", "data": data})
    assert e.kind == "ledger"
    (entry,) = store.ledger(c)
    assert (entry.task_id, entry.goal, entry.status) == ("t1", "Write the docs", "open")
    assert entry.payload == data


def test_the_next_ledger_of_the_same_task_takes_its_place(store: recollect.Store, c: str) -> None:
    for status in ("open", "done"):
        store.record_workflow_event(
            c, {"type": "orchestrator.message", "data": {"kind": "task_ledger", "status": status, "message": "plan"}}
        )
    (entry,) = store.ledger(c)
    assert (entry.status, entry.goal) == ("done", "plan")


def test_another_orchestrator_message_is_an_event(store: recollect.Store, c: str) -> None:
    e = store.record_workflow_event(c, {"type": "orchestrator.message", "data": {"kind": "notice", "message": "hi"}})
    assert (e.kind, e.name, e.text) == ("event", "orchestrator.message", "hi")
    assert store.ledger(c) == []


@pytest.mark.parametrize("event", [{"type": "x"}, {"type": "x", "data": None}, {"type": "x", "data": "plain"}], ids=str)
def test_little_is_enough(store: recollect.Store, c: str, event: dict[str, object]) -> None:
    e = store.record_workflow_event(c, event)
    assert (e.name, e.payload) == ("x", event)


@pytest.mark.parametrize("event", [{}, {"type": ""}, {"type": 5}, {"data": {"type": "x"}}], ids=str)
def test_an_event_without_a_type_is_refused(store: recollect.Store, c: str, event: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="type"):
        store.record_workflow_event(c, event)


@pytest.mark.parametrize("event", [None, "text", ["type"]], ids=str)
def test_what_is_no_mapping_is_refused(store: recollect.Store, c: str, event: object) -> None:
    with pytest.raises(InvalidInput):
        store.record_workflow_event(c, event)  # type: ignore[arg-type]


def test_switches_hold_for_foreign_events_too(open_store: Open) -> None:
    store = open_store(events=False, ledger=False)
    c = store.create().id
    assert not store.record_workflow_event(c, {"type": "workflow.start"}).stored
    ledger = {"type": "orchestrator.message", "data": {"kind": "task_ledger"}}
    assert not store.record_workflow_event(c, ledger).stored
    assert store.read(c) == []


def test_on_a_branch_and_in_an_unknown_conversation(store: recollect.Store, c: str) -> None:
    store.fork(c, name="idea")
    assert store.record_workflow_event(c, {"type": "x"}, branch="idea").branch == "idea"
    assert store.read(c) == []
    with pytest.raises(NotFound):
        store.record_workflow_event("nobody", {"type": "x"})


LEDGER = {"task_id": "T2", "goal": "G2", "status": "done"}


@pytest.mark.parametrize(
    "message",
    [
        LEDGER,
        json.dumps(LEDGER),
        "Task: T2\nGoal: G2\nStatus: done",
        "**Task ID:** T2\n- goal: G2\n- status: done\n\nSteps:\n- status: open",
    ],
    ids=str,
)
def test_the_message_of_a_task_ledger_is_read(store: recollect.Store, c: str, message: object) -> None:
    data = {"kind": "task_ledger", "id": "msg-7", "message": message}
    e = store.record_workflow_event(c, {"type": "orchestrator.message", "data": data})
    (entry,) = store.ledger(c)
    assert (entry.task_id, entry.goal, entry.status) == ("T2", "G2", "done")
    assert e.payload == data


def test_what_stands_beside_the_message_wins(store: recollect.Store, c: str) -> None:
    data = {"kind": "task_ledger", "task_id": "T9", "status": "open", "message": json.dumps(LEDGER)}
    store.record_workflow_event(c, {"type": "orchestrator.message", "data": data})
    (entry,) = store.ledger(c)
    assert (entry.task_id, entry.goal, entry.status) == ("T9", "G2", "open")
