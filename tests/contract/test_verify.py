"""verify: every row is what was written, every number accounted for - or it says which is not."""

import pytest

import recollect
from recollect.errors import Damaged
from talk import Raw, exchange


@pytest.fixture
def c(store: recollect.Store) -> str:
    """Of everything a little."""
    id = store.create("c", metadata={"k": 1}).id
    store.append_many(id, exchange(10))
    store.append(id, role="assistant", text="x", reasoning="y", cost=0.1, tags=["t"], payload={"a": [1.5, 2**80]})
    store.append(id, kind="ledger", task_id="t", goal="g")
    store.fork(id, 5, name="idea")
    store.append(id, role="user", text="on the idea", branch="idea")
    store.delete_event(id, 3)  # before: a summary that covers it would go as well
    store.summarize(id)
    return id


def problems(store: recollect.Store) -> str:
    return "\n".join(f"{p.where}: {p.what}" for p in store.verify().problems)


def test_an_empty_store_is_well(store: recollect.Store) -> None:
    found = store.verify()
    assert (found.ok, found.conversations, found.events, found.tombstones) == (True, 0, 0, 0)


def test_all_is_well_after_everything(store: recollect.Store, c: str) -> None:
    store.clear(store.create("cleared"))
    store.delete(store.create("binned"))
    store.erase(conversation=store.create("erased"))
    found = store.verify()
    assert found.problems == ()
    assert found.ok
    assert (found.conversations, found.tombstones) == (3, 1)
    assert found.events == len(store.read(c, branch="*"))


def test_progress_is_told(store: recollect.Store, c: str) -> None:
    store.create()
    told: list[tuple[str, int, int]] = []
    store.verify(progress=lambda *said: told.append(said))
    assert told[-1] == ("conversations", 2, 2)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.parametrize(
    "change",
    [
        "text = 'forged'",
        "text = text || ' '",
        "role = 'system'",
        "kind = 'note'",
        "payload = '{\"a\": 1}'",
        "payload = 'not json'",
        "tags = '[\"forged\"]'",
        "cost = 0.2",
        "created_at = created_at + 1",
        "agent = 'forged'",
        "key = 'forged'",
        "model = ''",
    ],
)
def test_a_changed_event_is_found(store: recollect.Store, c: str, raw: Raw, change: str) -> None:
    raw(f"update events set {change} where seq = 11")
    assert "event 11" in problems(store)
    assert "not what was written" in problems(store)


def test_a_missing_event_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("delete from events where seq in (2, 7)")
    assert "events are missing: 2, 7" in problems(store)


def test_a_missing_tombstone_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("delete from tombstones")
    assert "events are missing: 3" in problems(store)


def test_an_event_under_a_tombstone_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update tombstones set first_seq = 2")
    assert "event 2" in problems(store)


@pytest.mark.parametrize("by", [1, -1, 100])
def test_a_wrong_counter_is_found(store: recollect.Store, c: str, raw: Raw, by: int) -> None:
    raw(f"update conversations set last_seq = last_seq + {by}")
    assert not store.verify().ok
    assert "conversation 'c'" in problems(store)


def test_a_lost_branch_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("delete from branches where name = 'idea'")
    assert not store.verify().ok


def test_a_lost_parent_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update branches set parent = 77 where name = 'idea'")
    assert "lost its parent" in problems(store)


def test_a_lost_active_branch_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update conversations set active_branch = 77")
    assert "active branch" in problems(store)


def test_a_lost_conversation_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("delete from conversations")
    assert "events without a conversation" in problems(store)


def test_two_events_that_changed_places_are_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update events set seq = 1000 where seq = 1")
    raw("update events set seq = 1 where seq = 2")
    raw("update events set seq = 2 where seq = 1000")
    assert not store.verify().ok


def test_a_trace_tied_to_another_message_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update events set message = 1 where kind = 'reasoning'")
    assert not store.verify().ok


def test_a_summary_out_of_force_is_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update branches set summary_seq = null where no = 0")
    assert not store.verify().ok


def test_a_problem_says_where_what_and_what_to_do(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update events set text = 'forged' where seq = 1")
    (problem,) = store.verify().problems
    assert (problem.where, problem.what) == ("conversation 'c', event 1", "its content is not what was written")
    assert problem.fix


def test_every_conversation_is_looked_at_even_the_binned(store: recollect.Store, c: str, raw: Raw) -> None:
    store.create("fine")
    store.delete(c)
    raw("update events set text = 'forged' where seq = 1")
    assert "conversation 'c', event 1" in problems(store)


def test_one_users_damage_is_not_anothers(store: recollect.Store, c: str, raw: Raw) -> None:
    kim = store.for_user("kim")
    kim.append(kim.create(), role="user", text="hi")
    raw("update events set text = 'forged' where seq = 2")
    assert kim.verify().ok
    assert not store.verify().ok


def test_a_corrupt_row_is_refused_not_skipped(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update events set payload = '{broken' where seq = 11")
    with pytest.raises(Damaged, match=r"Event 11 .*doctor"):
        store.read(c)


def test_corrupt_metadata_is_refused_and_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update conversations set metadata = '{broken'")
    with pytest.raises(Damaged):
        store.get(c)
    with pytest.raises(Damaged):
        store.conversations()
    assert "'c'" in problems(store)


@pytest.mark.parametrize("backend", ["sqlite"])
def test_bytes_that_are_no_text_are_found(store: recollect.Store, c: str, raw: Raw) -> None:
    raw("update events set text = cast(x'c328ff' as text) where seq = 2")
    assert "event 2" in problems(store)
    with pytest.raises(Damaged):
        store.read(c)


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_damaged_file_is_found(store: recollect.Store, c: str, url: str) -> None:
    """A page of the file overwritten."""
    store.append_many(c, [{"kind": "note", "text": "x" * 500}] * 500)
    store.close()
    with open(url, "r+b") as f:
        f.seek(4096 * 20)
        f.write(b"\xa5" * 4096 * 8)
    with recollect.open(url, user="alex") as again:
        try:
            assert not again.verify().ok
        except Damaged as e:
            assert "doctor" in str(e)
