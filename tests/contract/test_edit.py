"""append(message=): a message takes the place of an earlier one, in what is shown, summarized and deleted."""

import pytest

import recollect
from recollect.errors import InvalidInput
from talk import Open, exchange, seqs, texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    return store.create("c").id


def six_with_the_third_corrected(store: recollect.Store) -> str:
    c = store.create().id
    store.append_many(c, exchange(6))
    store.append(c, role="user", text="message 3, corrected", message=3)
    return c


# -- what is shown


def test_it_stands_where_the_other_stood(store: recollect.Store) -> None:
    c = six_with_the_third_corrected(store)
    assert seqs(store.messages(c)) == [1, 2, 7, 4, 5, 6]
    assert seqs(store.messages(c, limit=4)) == [7, 4, 5, 6]


def test_a_version_can_be_corrected_by_the_number_that_is_shown(store: recollect.Store) -> None:
    c = six_with_the_third_corrected(store)
    again = store.append(c, role="user", text="message 3, corrected twice", message=7)
    assert again.message == 3, "the place is that of the first"
    assert seqs(store.messages(c)) == [1, 2, 8, 4, 5, 6]
    assert store.read(c)[-1] == again
    assert store.verify().ok


def test_in_one_batch(store: recollect.Store, c: str) -> None:
    store.append_many(
        c,
        [
            {"role": "user", "text": "one"},
            {"role": "assistant", "text": "two"},
            {"role": "user", "text": "one, corrected", "message": 1},
            {"role": "user", "text": "one, corrected twice", "message": 3},
        ],
    )
    assert texts(store.messages(c)) == ["one, corrected twice", "two"]
    assert store.verify().ok


def test_another_branch_keeps_the_old_text(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(4))
    store.fork(c, 4, name="idea")
    store.append(c, role="user", text="otherwise", message=1, branch="idea")
    assert seqs(store.messages(c)) == [1, 2, 3, 4]
    assert texts(store.messages(c, branch="idea"))[0] == "otherwise"


def test_what_is_no_message_has_no_place(store: recollect.Store, c: str) -> None:
    store.append(c, kind="tool_use", tool="Read", text="run")
    with pytest.raises(InvalidInput, match=r"message=1.*no message"):
        store.append(c, role="user", text="about the tool", message=1)
    with pytest.raises(InvalidInput, match=r"message=2.*no message"):
        store.append_many(c, [{"kind": "note", "text": "n"}, {"role": "user", "text": "about it", "message": 2}])
    assert seqs(store.read(c)) == [1]
    with pytest.raises(InvalidInput, match=r"message=1.*no message"):
        store.append(c, kind="reasoning", text="why it ran", message=1)


def test_what_was_deleted_or_lies_on_another_branch_has_no_place(store: recollect.Store, c: str) -> None:
    store.append_many(c, exchange(4))
    store.fork(c, 2, name="idea")
    store.delete_event(c, 1)
    for gone in (1, 4):
        with pytest.raises(InvalidInput, match="no message"):
            store.append(c, role="user", text="late", message=gone, branch="idea")


def test_a_corrected_message_keeps_its_reasoning(store: recollect.Store, c: str) -> None:
    m = store.append(c, role="assistant", text="v1", reasoning="why")
    store.append(c, role="assistant", text="v2", message=m.seq)
    (shown,) = store.messages(c, include_reasoning=True)
    assert (shown.text, shown.reasoning) == ("v2", "why")
    store.append(c, role="assistant", text="v3", message=m.seq, reasoning="why not")
    (shown,) = store.messages(c, include_reasoning=True)
    assert (shown.text, shown.reasoning) == ("v3", "why not")


def test_the_reasoning_of_the_others_is_there_when_the_first_was_corrected(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="q")
    store.append(c, role="assistant", text="a", reasoning="why")
    store.append(c, role="user", text="q, corrected", message=1)
    assert [m.reasoning for m in store.messages(c, include_reasoning=True)] == [None, "why"]


# -- what is summarized


def test_what_was_kept_stays_when_an_earlier_one_was_corrected(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=3)
    c = six_with_the_third_corrected(store)
    summary = store.summarize(c)
    assert summary is not None
    assert "message 3, corrected" in summary.text
    assert "_Summarized 3 messages._" in summary.text
    assert (summary.message, summary.payload["covers"]) == (3, [1, 3])
    assert seqs(store.messages(c, limit=None)) == [summary.seq, 4, 5, 6]
    store.append_many(c, exchange(2, start=7))
    again = store.summarize(c)
    assert again is not None
    assert "message 5" in again.text
    assert "_Summarized 5 messages._" in again.text
    assert texts(store.messages(c, limit=None))[1:] == ["message 6", "message 7", "message 8"]
    assert store.verify().ok


def test_the_first_one_corrected_can_be_summarized(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=2)
    c = store.create().id
    store.append_many(c, exchange(4))
    store.append(c, role="user", text="message 1, corrected", message=1)
    summary = store.summarize(c)
    assert summary is not None
    assert summary.payload["covers"] == [1, 2]
    assert seqs(store.messages(c, limit=None)) == [summary.seq, 3, 4]


def test_a_correction_of_what_was_kept_goes_under_the_next(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=3)
    c = store.create().id
    store.append_many(c, exchange(6))
    store.summarize(c)
    store.append(c, role="user", text="message 5, corrected", message=5)
    assert texts(store.messages(c, limit=None))[1:] == ["message 4", "message 5, corrected", "message 6"]
    store.append_many(c, exchange(2, start=7))
    summary = store.summarize(c)
    assert summary is not None
    assert "message 5, corrected" in summary.text
    assert texts(store.messages(c, limit=None))[1:] == ["message 6", "message 7", "message 8"]


def test_a_correction_of_what_is_summarized_shows_until_the_next_folds_it_in(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=2)
    c = store.create().id
    store.append(c, role="user", text="We decided to go with Rome.")
    store.append_many(c, exchange(5, start=2))
    first = store.summarize(c)
    assert first is not None
    store.append(c, role="user", text="We decided to go with Berlin.", message=1)
    assert texts(store.messages(c, limit=None))[1:] == ["We decided to go with Berlin.", "message 5", "message 6"]
    assert texts(store.messages(c, limit=2)) == ["message 5", "message 6"]
    assert texts(store.messages(c, limit=3))[0] == "We decided to go with Berlin."
    second = store.summarize(c)
    assert second is not None
    assert "Berlin" in second.text and "Rome" not in second.text
    assert "_Summarized 4 messages._" in second.text, "it is one message, however often it was corrected"
    assert seqs(store.messages(c, limit=None)) == [second.seq, 5, 6]
    store.append(c, role="user", text="We decided to go with Oslo.", message=1)
    third = store.summarize(c)
    assert third is not None
    assert "Oslo" in third.text and "Berlin" not in third.text
    assert store.summarize(c) is None
    assert store.verify().ok


def test_a_model_is_told_what_was_corrected(open_store: Open) -> None:
    prompts: list[str] = []
    store = open_store(background=False, summary_keep_recent=2, model=lambda p: prompts.append(p) or "Noted.")
    c = store.create().id
    store.append_many(c, exchange(6))
    store.summarize(c)
    store.append(c, role="user", text="Berlin, not Rome", message=1)
    store.summarize(c)
    assert "USER, correcting what is summarized above: Berlin, not Rome" in prompts[1]


def test_what_is_corrected_while_the_model_thinks_is_not_lost(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(10))

    def model(prompt: str) -> str:
        store.append(c, role="user", text="meanwhile", message=2)
        return "STALE"

    assert open_store(model=model, background=False).summarize(c) is None
    assert texts(store.messages(c, limit=None))[1] == "meanwhile"


def test_a_branch_from_before_the_correction_is_summarized_with_the_old_text(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=3)
    c = store.create().id
    store.append_many(c, exchange(6))
    store.fork(c, 6, name="idea")
    store.append(c, role="user", text="otherwise", message=3)
    store.append(c, role="assistant", text="on the idea", branch="idea")
    mine, other = store.summarize(c), store.summarize(c, branch="idea")
    assert mine and other
    assert "otherwise" in mine.text and "otherwise" not in other.text
    assert seqs(store.messages(c, limit=None)) == [mine.seq, 4, 5, 6]
    assert seqs(store.messages(c, limit=None, branch="idea")) == [other.seq, 5, 6, 8]


def test_deleting_what_is_summarized_takes_every_version(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True, summary_keep_recent=3)
    c = six_with_the_third_corrected(store)
    assert store.summarize(c)
    assert seqs(store.read(c, kinds=["message"])) == [4, 5, 6]
    assert store.verify().ok


# -- what is deleted


@pytest.mark.parametrize("seq", [3, 7, 8])
def test_a_message_is_deleted_in_all_its_versions(open_store: Open, seq: int) -> None:
    store = open_store()
    c = six_with_the_third_corrected(store)
    store.append(c, role="user", text="message 3, corrected twice", message=3)
    store.delete_event(c, seq)
    assert seqs(store.messages(c)) == seqs(store.read(c)) == [1, 2, 4, 5, 6]
    assert store.search("corrected") == []
    found = store.verify()
    assert (found.ok, found.tombstones) == (True, 3)


def test_a_deleted_message_is_in_no_summary_any_more(open_store: Open) -> None:
    store = open_store(background=False, summary_threshold=4, summary_keep_recent=2)
    c = store.create().id
    store.append(c, role="user", text="My locker code word is zebrafish.")
    store.append_many(c, exchange(6, start=2))
    assert store.settle() == 1
    store.delete_event(c, 1)
    assert "zebrafish" not in store.formatted_history(c)
    store.settle()
    summary = store.messages(c, limit=None)[0]
    assert summary.kind == "summary"
    assert "zebrafish" not in summary.text and "message 2" in summary.text
    assert store.search("zebrafish") == []
    assert store.verify().ok


@pytest.mark.parametrize("verb", ["delete_event", "erase"])
def test_a_correction_that_was_folded_in_goes_from_the_summary_too(open_store: Open, verb: str) -> None:
    store = open_store(background=False, summary_threshold=4, summary_keep_recent=2)
    c = store.create().id
    store.append_many(c, exchange(6))
    store.summarize(c)
    late = store.append(c, role="user", text="My locker code word is zebrafish.", message=1)
    assert "zebrafish" in (store.summarize(c) or late).text
    if verb == "erase":
        store.erase(source=late.id)
    else:
        store.delete_event(c, late.seq)
    store.settle()
    assert not any("zebrafish" in e.text for e in store.read(c, branch="*"))


def test_what_a_summary_does_not_say_leaves_it_alone(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=2)
    c = store.create().id
    store.append(c, kind="note", text="aside")
    store.append_many(c, exchange(6))
    summary = store.summarize(c)
    assert summary is not None
    store.delete_event(c, 1)
    store.delete_event(c, 7)
    assert store.messages(c, limit=None)[0] == summary


def test_deleting_on_one_branch_leaves_the_summary_of_another(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=1)
    c = store.create().id
    store.append_many(c, exchange(4))
    store.fork(c, 2, name="idea")
    store.append_many(c, exchange(3), branch="idea")
    mine, other = store.summarize(c), store.summarize(c, branch="idea")
    assert mine and other
    store.delete_event(c, 5)
    assert store.messages(c, limit=None)[0] == mine
    assert {m.kind for m in store.messages(c, limit=None, branch="idea")} == {"message"}


def test_no_summary_is_made_anew_where_they_are_switched_off(open_store: Open) -> None:
    store = open_store(background=False, summaries=False, summary_threshold=4, summary_keep_recent=2)
    c = store.create().id
    store.append_many(c, exchange(8))
    store.summarize(c)
    store.delete_event(c, 1)
    assert store.stats().jobs == {}
    assert seqs(store.messages(c, limit=None)) == [2, 3, 4, 5, 6, 7, 8]
