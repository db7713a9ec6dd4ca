"""clear, delete_event: history goes, numbers stay."""

import pytest

import recollect
from recollect.errors import NotFound
from talk import Open, exchange, seqs, texts


def test_clear_removes_history_and_keeps_the_conversation(store: recollect.Store) -> None:
    c = store.create("one", title="T", workspace="/w", metadata={"k": 1})
    store.append_many(c.id, exchange(4))
    assert store.clear(c.id) == 4
    assert store.read(c.id) == store.messages(c.id) == []
    assert store.formatted_history(c.id) == ""
    left = store.get(c.id)
    assert (left.title, left.workspace, left.metadata, left.last_seq) == ("T", "/w", {"k": 1}, 4)


def test_the_counter_never_restarts(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(4))
    store.clear(c.id)
    assert store.append(c.id, role="user", text="again").seq == 5
    assert seqs(store.read(c.id)) == [5]


def test_clear_takes_every_branch_and_goes_back_to_main(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    store.fork(c.id, 1, name="idea", switch=True)
    store.append(c.id, role="user", text="on the idea")
    assert store.clear(c.id) == 3
    assert [(b.name, b.head, b.active) for b in store.branches(c.id)] == [("main", 0, True)]
    assert store.read(c.id, branch="*") == []
    assert store.get(c.id).active_branch == "main"


def test_clear_takes_ledger_reasoning_and_summaries_too(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(8))
    store.append(c.id, role="assistant", text="done", reasoning="because")
    store.append(c.id, kind="ledger", task_id="t", goal="g")
    assert store.summarize(c.id)
    store.clear(c.id)
    assert store.ledger(c.id) == store.reasoning(c.id) == store.messages(c.id, limit=None) == []


def test_clear_twice_clears_nothing_more(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    assert [store.clear(c.id), store.clear(c.id)] == [2, 0]
    assert store.verify().ok


def test_clear_again_after_more_was_said(store: recollect.Store) -> None:
    c = store.create()
    for round in range(3):
        store.append_many(c.id, exchange(2))
        assert store.clear(c.id) == 2, round
    found = store.verify()
    assert (found.ok, found.tombstones, found.events) == (True, 6, 0)


def test_a_cleared_key_may_be_used_again(store: recollect.Store) -> None:
    c = store.create()
    store.append(c.id, role="user", text="hi", key="k")
    store.clear(c.id)
    assert store.append(c.id, role="user", text="hi", key="k").seq == 2


def test_a_deleted_event_leaves_its_number_behind(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(3))
    store.delete_event(c.id, 2)
    assert seqs(store.read(c.id)) == [1, 3]
    assert texts(store.messages(c.id)) == ["message 1", "message 3"]
    assert store.append(c.id, role="user", text="next").seq == 4
    found = store.verify()
    assert (found.ok, found.events, found.tombstones) == (True, 3, 1)


def test_the_newest_number_is_not_given_again_after_its_event_was_deleted(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    store.delete_event(c.id, 2)
    assert store.append(c.id, role="user", text="next").seq == 3


def test_an_event_is_deleted_on_whichever_branch_it_lies(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    store.fork(c.id, 2, name="idea")
    store.append(c.id, role="user", text="on the idea", branch="idea")
    store.delete_event(c.id, 3)
    store.delete_event(c.id, 1)
    assert seqs(store.read(c.id, branch="idea")) == seqs(store.read(c.id)) == [2]
    assert store.verify().ok


@pytest.mark.parametrize("seq", [0, 3, -1, 2**62, 2**80])
def test_deleting_what_is_not_there_is_not_found(store: recollect.Store, seq: int) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    with pytest.raises(NotFound):
        store.delete_event(c.id, seq)
    assert len(store.read(c.id)) == 2


def test_deleting_twice_is_not_found(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, exchange(2))
    store.delete_event(c.id, 1)
    with pytest.raises(NotFound, match="event 1"):
        store.delete_event(c.id, 1)
    assert store.verify().ok


def test_clearing_one_conversation_leaves_the_others(store: recollect.Store) -> None:
    a, b = store.create(), store.create()
    store.append(a.id, role="user", text="a")
    store.append(b.id, role="user", text="b")
    store.clear(a.id)
    assert texts(store.read(b.id)) == ["b"]


# -- titles taken from a message


def test_a_title_taken_from_what_was_cleared_goes_with_it(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="my secret plan")
    store.clear(c)
    assert store.get(c).title is None
    store.append(c, role="user", text="something harmless")
    assert store.get(c).title == "something harmless"


def test_a_title_taken_from_the_deleted_message_goes_with_it(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="my secret plan")
    store.append(c, role="user", text="something harmless")
    store.delete_event(c, 1)
    assert store.get(c).title is None


def test_a_given_title_stays_whatever_is_deleted(store: recollect.Store) -> None:
    c = store.create(title="Trip").id
    store.append(c, role="user", text="to Rome")
    store.delete_event(c, 1)
    store.clear(c)
    assert store.get(c).title == "Trip"


def test_a_title_taken_from_a_later_message_goes_too(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="")
    store.append(c, role="user", text="my secret plan")
    assert store.get(c).title == "my secret plan"
    store.clear(c)
    assert store.get(c).title is None


def test_a_title_taken_from_a_branch_goes_too(store: recollect.Store) -> None:
    c = store.create().id
    store.fork(c, at=0, switch=True)
    store.append(c, role="user", text="my secret plan")
    assert store.get(c).title == "my secret plan"
    store.clear(c)
    assert store.get(c).title is None


def test_a_title_whose_message_was_summarized_and_deleted_goes_too(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True, summary_keep_recent=2)
    given, taken = store.create(title="Trip").id, store.create().id
    for c in (given, taken):
        store.append(c, role="user", text="my secret plan. And more.")
        for _ in range(2):
            store.append_many(c, exchange(4))
            assert store.summarize(c)
    assert store.get(taken).title == "my secret plan. And more."
    for c in (given, taken):
        store.clear(c)
    assert [store.get(c).title for c in (given, taken)] == ["Trip", None]
    assert store.search("secret") == []


def test_a_title_given_later_stays_though_the_first_was_taken(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True, summary_keep_recent=2)
    c = store.create().id
    store.append(c, role="user", text="my secret plan")
    store.append_many(c, exchange(4))
    assert store.summarize(c)
    store.rename(c, "Trip")
    store.clear(c)
    assert store.get(c).title == "Trip"
