"""summarize: an overlay that stands where old messages stood."""

import threading
from typing import Any

import pytest

import recollect
from recollect.errors import NotFound
from recollect.model import OFFLINE
from talk import Open, eventually, exchange, seqs, texts

HEADING = "**Conversation Summary**"


# -- when


def test_nineteen_messages_are_left_alone(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(19))
    assert store.stats().jobs == {}
    assert store.settle() == 0


def test_the_assistants_word_that_makes_it_twenty_starts_it(open_store: Open) -> None:
    """As the specification counts: messages 1 to 14 are summarized, 15 to 20 stay in full."""
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(18))
    store.append(c, role="user", text="message 19")
    assert store.stats().jobs == {}
    store.append(c, role="assistant", text="message 20")
    assert store.stats().jobs == {"queued": 1}
    assert store.settle() == 1
    summary, *kept = store.messages(c, limit=None)
    assert "_Summarized 14 messages._" in summary.text
    assert texts(kept) == [f"message {n}" for n in range(15, 21)]


def test_a_users_twentieth_message_does_not(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(19))
    store.append(c, role="user", text="the 20th")
    assert store.stats().jobs == {}
    store.append(c, role="assistant", text="the 21st")
    assert store.settle() == 1
    assert "_Summarized 15 messages._" in store.messages(c, limit=None)[0].text


def test_it_happens_by_itself_off_the_callers_path(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(20))
    summary = eventually(lambda: store.read(c, kinds=["summary"]))[0]
    assert "_Summarized 14 messages._" in summary.text
    eventually(lambda: store.stats().jobs == {})


def test_what_is_no_message_does_not_count(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, [{"kind": "note", "text": "n"}] * 30)
    store.append_many(c, exchange(19))
    assert store.stats().jobs == {}


def test_the_next_round_comes_after_as_many_live_messages(open_store: Open) -> None:
    store = open_store(background=False, summary_threshold=6, summary_keep_recent=2)
    c = store.create().id
    store.append_many(c, exchange(8))
    assert store.settle() == 1
    store.append_many(c, exchange(3))  # two were kept: five are live
    assert store.settle() == 0
    store.append(c, role="assistant", text="one more")
    assert store.settle() == 1
    assert "_Summarized 10 messages._" in store.messages(c, limit=None)[0].text


def test_summaries_can_be_switched_off(open_store: Open) -> None:
    store = open_store(background=False, summaries=False)
    c = store.create().id
    store.append_many(c, exchange(40))
    assert store.stats().jobs == {}
    assert store.summarize(c), "asked for, it is done"


# -- where it stands


def test_it_stands_before_the_kept_messages(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(10))
    summary = store.summarize(c)
    assert summary is not None
    assert (summary.kind, summary.role, summary.seq) == ("summary", "system", 11)
    shown = store.messages(c, limit=None)
    assert seqs(shown) == [11, 5, 6, 7, 8, 9, 10]
    assert shown[0] == summary
    assert summary.text.startswith(HEADING + "\n")
    assert summary.text.endswith("_Summarized 4 messages._")


def test_read_still_shows_everything(store: recollect.Store) -> None:
    c = store.create().id
    events = store.append_many(c, exchange(10))
    summary = store.summarize(c)
    assert store.read(c) == [*events, summary]


def test_the_limit_counts_it_as_one(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(10))
    store.summarize(c)
    assert seqs(store.messages(c, limit=7)) == [11, 5, 6, 7, 8, 9, 10]
    assert seqs(store.messages(c, limit=6)) == [5, 6, 7, 8, 9, 10]
    assert seqs(store.messages(c, limit=2)) == [9, 10]


def test_what_comes_later_stands_after_the_kept_ones(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(10))
    store.summarize(c)
    store.append(c, role="user", text="later")
    assert seqs(store.messages(c, limit=None)) == [11, 5, 6, 7, 8, 9, 10, 12]


def test_keeping_none(open_store: Open) -> None:
    store = open_store(background=False, summary_threshold=4, summary_keep_recent=0)
    c = store.create().id
    store.append_many(c, exchange(5))
    assert store.settle() == 1
    (summary,) = store.messages(c, limit=None)
    assert "_Summarized 5 messages._" in summary.text
    store.append(c, role="user", text="next")
    assert texts(store.messages(c, limit=None))[1:] == ["next"]
    assert store.summarize(c)
    assert "_Summarized 6 messages._" in store.messages(c, limit=None)[0].text
    assert store.verify().ok


def test_one_message_is_called_one_message(open_store: Open) -> None:
    store = open_store(summary_keep_recent=0)
    c = store.create().id
    store.append(c, role="user", text="alone")
    summary = store.summarize(c)
    assert summary is not None
    assert summary.text.endswith("_Summarized 1 message._")


def test_nothing_to_summarize_is_none(store: recollect.Store) -> None:
    c = store.create().id
    assert store.summarize(c) is None
    store.append_many(c, exchange(6))
    assert store.summarize(c) is None
    store.append(c, role="user", text="seven")
    assert store.summarize(c)
    assert store.summarize(c) is None
    with pytest.raises(NotFound):
        store.summarize("nobody")


# -- what it says, without a model


def test_it_says_only_what_was_said(store: recollect.Store) -> None:
    c = store.create().id
    said = [
        "We decided to go with Postgres.",
        "My name is Alex and I live in Lisbon.",
        "Please remember to book the hotel by Friday.",
        "Nice weather.",
    ]
    store.append_many(c, [{"role": "user", "text": t} for t in said])
    store.append_many(c, exchange(6))
    summary = store.summarize(c)
    assert summary is not None
    for text in said:
        assert text in summary.text
    for heading, text in (("Decisions:", said[0]), ("Facts:", said[1]), ("Action items:", said[2])):
        assert summary.text.index(heading) < summary.text.index(text)
    assert summary.payload["by"] == "extract"
    assert summary.payload["count"] == 4


def test_folding_loses_nothing(open_store: Open) -> None:
    """Ten rounds: each decision of each round is in the last summary."""
    store = open_store(background=False, summary_threshold=6, summary_keep_recent=2)
    c = store.create().id
    n = 0
    for round in range(10):
        store.append(c, role="user", text=f"We decided on plan number {round}. Thanks.")
        store.append_many(c, exchange(5))
        n += 6
        store.settle()
        store.summarize(c)
    (summary,) = [m for m in store.messages(c, limit=None) if m.kind == "summary"]
    for round in range(10):
        assert f"plan number {round}." in summary.text
    assert f"_Summarized {n - 2} messages._" in summary.text
    assert len(store.read(c, kinds=["message"])) == n
    assert store.verify().ok


def test_it_stays_bounded_and_says_what_it_left_out(open_store: Open) -> None:
    store = open_store(summary_keep_recent=0)
    c = store.create().id
    store.append(c, role="user", text="We decided to keep the blue door.")
    for _ in range(3):
        store.append_many(c, [{"role": "user", "text": "chatter " * 30} for _ in range(60)])
        summary = store.summarize(c)
    assert summary is not None
    assert len(summary.text) < 8_000
    assert "We decided to keep the blue door." in summary.text
    assert "not shown here; the log has them" in summary.text
    assert "_Summarized 181 messages._" in summary.text


@pytest.mark.parametrize("text", ["", " \n", "🦜" * 5000, "x" * 300_000, "a\n" * 50_000], ids=lambda t: repr(t[:4]))
def test_odd_messages_can_be_summarized(open_store: Open, text: str) -> None:
    store = open_store(summary_keep_recent=0)
    c = store.create().id
    store.append_many(c, [{"role": "user", "text": text}] * 3)
    summary = store.summarize(c)
    assert summary is not None
    assert len(summary.text) < 8_000


# -- with a model


def summarized_by(open_store: Open, model: Any, **settings: Any):
    store = open_store(model=model, background=False, **settings)
    c = store.create().id
    store.append_many(c, exchange(10))
    return store, c, store.summarize(c)


def test_a_model_is_asked_with_what_goes(open_store: Open) -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return "They counted to four."

    store, c, summary = summarized_by(open_store, model)
    assert summary.text == f"{HEADING}\n\nThey counted to four.\n\n_Summarized 4 messages._"
    assert summary.payload["by"] == "model"
    (prompt,) = prompts
    for word in ("message 1", "message 4", "Facts", "Decisions", "Action items"):
        assert word in prompt
    assert "message 5" not in prompt
    store.append_many(c, exchange(4))
    store.summarize(c)
    assert "They counted to four." in prompts[1]
    assert "message 1\n" not in prompts[1]


def test_the_prompt_is_bounded(open_store: Open) -> None:
    prompts: list[str] = []
    store = open_store(model=lambda p: prompts.append(p) or "ok", summary_keep_recent=0)
    c = store.create().id
    store.append_many(c, [{"role": "user", "text": "x" * 1_000_000}] * 3 + [{"role": "user", "text": "tiny"}] * 500)
    store.summarize(c)
    assert len(prompts[0]) < 40_000


def test_a_models_answer_is_bounded(open_store: Open) -> None:
    _, _, summary = summarized_by(open_store, lambda p: "blah " * 100_000)
    assert len(summary.text) < 8_000


def fails(prompt: str) -> str:
    raise ConnectionError("the model is away")


@pytest.mark.parametrize(
    "model", [fails, lambda p: "", lambda p: "  \n", lambda p: None, lambda p: 42, lambda p: "a\0b", lambda p: "\ud800"],
    ids=["raises", "empty", "blank", "none", "number", "nul", "surrogate"],
)  # fmt: skip
def test_a_model_that_fails_is_replaced_by_picked_sentences(open_store: Open, model: Any) -> None:
    _, _, summary = summarized_by(open_store, model)
    assert "message 4" in summary.text
    assert summary.payload["by"] == "extract"


def test_whoever_looks_can_see_that_it_failed(open_store: Open, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "recollect.model"):
        summarized_by(open_store, fails)
    assert "ConnectionError" in caplog.text
    assert "message" not in caplog.text and "away" not in caplog.text


def test_a_model_that_hangs_is_replaced_too(open_store: Open) -> None:
    release = threading.Event()

    def hangs(prompt: str) -> str:
        release.wait(30)
        return "too late"

    try:
        store, c, summary = summarized_by(open_store, hangs, summary_timeout_ms=50)
        assert summary.payload["by"] == "extract"
    finally:
        release.set()
    assert "too late" not in store.formatted_history(c)


def test_what_a_model_said_is_kept_when_it_fails_the_next_time(open_store: Open) -> None:
    answers = iter(["The door is blue."])
    store, c, _ = summarized_by(open_store, lambda p: next(answers))
    store.append_many(c, exchange(4))
    summary = store.summarize(c)
    assert "The door is blue." in summary.text
    assert "message 5" in summary.text
    assert "_Summarized 8 messages._" in summary.text


def test_a_model_may_use_the_store_itself(open_store: Open) -> None:
    other = open_store()
    note = other.create("notes").id

    def model(prompt: str) -> str:
        other.append(note, kind="note", text="asked")
        return "fine"

    _, _, summary = summarized_by(open_store, model)
    assert "fine" in summary.text
    assert texts(other.read(note)) == ["asked"]


def test_what_is_said_while_the_model_thinks_is_kept_live(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id

    def model(prompt: str) -> str:
        store.append(c, role="user", text="meanwhile")
        return "fine"

    slow = open_store(model=model, background=False)
    store.append_many(c, exchange(10))
    assert slow.summarize(c)
    assert texts(store.messages(c, limit=None))[-1] == "meanwhile"
    assert len(store.messages(c, limit=None)) == 8
    assert store.verify().ok


@pytest.mark.parametrize("verb", ["clear", "delete", "erase", "delete_event", "summarize"])
def test_what_happens_while_the_model_thinks_wins(open_store: Open, verb: str) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(10))

    def model(prompt: str) -> str:
        if verb == "erase":
            store.erase(conversation=c)
        elif verb == "delete_event":
            store.delete_event(c, 2)
        else:
            getattr(store, verb)(c)
        return "STALE"

    try:
        assert open_store(model=model, background=False).summarize(c) is None
    except NotFound:
        assert verb in ("delete", "erase")
    if verb not in ("delete", "erase"):
        assert "STALE" not in store.formatted_history(c)
    assert store.verify().ok


# -- branches


def test_a_branch_forked_before_has_its_own(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(8))
    store.fork(c, name="idea")
    store.append_many(c, exchange(2), branch="idea")
    assert store.summarize(c)
    assert store.messages(c, limit=None)[0].kind == "summary"
    assert {m.kind for m in store.messages(c, limit=None, branch="idea")} == {"message"}
    assert store.summarize(c, branch="idea")
    assert "_Summarized 4 messages._" in store.messages(c, limit=None, branch="idea")[0].text
    assert "_Summarized 2 messages._" in store.messages(c, limit=None)[0].text
    assert store.verify().ok


def test_a_branch_forked_after_starts_with_it(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(8))
    summary = store.summarize(c)
    store.fork(c, name="idea")
    assert store.messages(c, limit=None, branch="idea")[0] == summary
    store.append_many(c, exchange(2))
    store.summarize(c)
    assert store.messages(c, limit=None, branch="idea")[0] == summary
    assert seqs(store.messages(c, limit=None, branch="idea"))[1:] == [3, 4, 5, 6, 7, 8]


def test_a_branch_forked_at_an_earlier_point_has_the_old_messages(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(8))
    store.summarize(c)
    store.fork(c, at=4, name="idea")
    assert seqs(store.messages(c, limit=None, branch="idea")) == [1, 2, 3, 4]


def test_jobs_are_per_branch(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(19))
    store.fork(c, name="idea")
    store.append(c, role="assistant", text="20", branch="idea")
    assert store.settle() == 1
    assert store.read(c, kinds=["summary"]) == []
    assert len(store.read(c, kinds=["summary"], branch="idea")) == 1
    store.append(c, role="assistant", text="20")
    assert store.settle() == 1
    assert len(store.read(c, kinds=["summary"])) == 1


# -- deleting what was summarized


def test_deleting_keeps_reasoning_and_ledger(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True)
    c = store.create().id
    store.append(c, role="assistant", text="first", reasoning="why")
    store.append(c, kind="ledger", task_id="t", goal="g")
    store.append(c, kind="tool_use", tool="Read", text="x")
    store.append_many(c, exchange(8))
    assert store.summarize(c)
    assert [e.kind for e in store.read(c)][:3] == ["reasoning", "ledger", "tool_use"]
    assert len(store.read(c, kinds=["message"])) == 6
    assert "first" in store.messages(c, limit=None)[0].text
    found = store.verify()
    assert (found.ok, found.tombstones) == (True, 3)


def test_deleting_spares_what_another_branch_shows(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True)
    c = store.create().id
    store.append_many(c, exchange(10))
    store.fork(c, at=2, name="idea")
    store.append(c, role="user", text="on the idea", branch="idea")
    assert store.summarize(c)
    assert seqs(store.messages(c, limit=None, branch="idea")) == [1, 2, 11]
    assert seqs(store.read(c, kinds=["message"])) == [1, 2, 5, 6, 7, 8, 9, 10]
    assert store.verify().ok


def test_a_branch_deletes_only_its_own(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True, summary_keep_recent=1)
    c = store.create().id
    store.append_many(c, exchange(4))
    store.fork(c, name="idea")
    store.append_many(c, exchange(4), branch="idea")
    assert store.summarize(c, branch="idea")
    assert seqs(store.messages(c, limit=None)) == [1, 2, 3, 4]
    assert seqs(store.read(c, branch="idea", kinds=["message"])) == [1, 2, 3, 4, 8]
    assert store.verify().ok


def test_deleting_round_after_round(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True, summary_threshold=4, summary_keep_recent=1)
    c = store.create().id
    for round in range(4):
        store.append(c, role="user", text=f"We decided on plan number {round}.")
        store.append_many(c, exchange(5))
        assert store.settle() == 1
    (summary, kept) = store.messages(c, limit=None)
    assert all(f"plan number {round}." in summary.text for round in range(4))
    assert "_Summarized 23 messages._" in summary.text
    assert kept.text == "message 5"
    assert store.verify().ok


def test_deleting_for_space_keeps_the_title(open_store: Open) -> None:
    store = open_store(background=False, summary_delete=True)
    c = store.create().id
    store.append(c, role="user", text="Plan a trip")
    store.append_many(c, exchange(9))
    assert store.summarize(c)
    assert store.get(c).title == "Plan a trip"


# -- summaries and other verbs


def test_deleting_a_summary_brings_the_messages_back(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(10))
    summary = store.summarize(c)
    assert summary is not None
    store.delete_event(c, summary.seq)
    assert seqs(store.messages(c, limit=None)) == list(range(1, 11))
    assert store.verify().ok


def test_deleting_a_message_under_a_summary_leaves_the_others_and_makes_it_anew(open_store: Open) -> None:
    store = open_store(background=False, summary_threshold=7)
    c = store.create().id
    store.append_many(c, exchange(10))
    store.summarize(c)
    store.delete_event(c, 2)
    assert seqs(store.messages(c, limit=None)) == [1, 3, 4, 5, 6, 7, 8, 9, 10]
    store.delete_event(c, 4)
    assert store.settle() == 1
    summary, *kept = store.messages(c, limit=None)
    assert "_Summarized 2 messages._" in summary.text
    assert seqs(kept) == [5, 6, 7, 8, 9, 10]
    assert store.summarize(c) is None
    assert store.verify().ok


def test_after_clearing_it_begins_anew(open_store: Open) -> None:
    store = open_store(background=False)
    c = store.create().id
    store.append_many(c, exchange(20))
    store.clear(c)
    assert store.stats().jobs == {}
    store.append_many(c, exchange(19))
    assert store.settle() == 0
    store.append(c, role="assistant", text="20")
    assert store.settle() == 1


def test_a_summary_of_the_callers_own_is_only_an_event(store: recollect.Store) -> None:
    """kind="summary" may be appended (imports do); it must not upset ours, whatever else happens."""
    c = store.create().id
    store.append_many(c, exchange(10))
    own = store.append(c, kind="summary", text="my own words")
    shown = store.messages(c, limit=None)
    store.delete_event(c, store.append(c, kind="note", text="x").seq)
    assert store.messages(c, limit=None) == shown
    assert store.messages(c, limit=None, branch=store.fork(c)) == shown
    summary = store.summarize(c)
    assert summary is not None
    assert "_Summarized 4 messages._" in summary.text
    assert own in store.read(c)
    assert store.verify().ok


def test_a_summary_never_learns_from_itself(open_store: Open) -> None:
    """The events a summary covers are messages only: no tool output, no trace, no ledger in its words."""
    store = open_store(summary_keep_recent=0)
    c = store.create().id
    store.append(c, role="assistant", text="plain", reasoning="SECRET TRACE")
    store.append(c, kind="tool_result", tool="Read", text="SECRET FILE")
    summary = store.summarize(c)
    assert summary is not None
    assert "SECRET" not in summary.text


def test_answers_given_without_a_model_are_no_facts(open_store: Open) -> None:
    """They say "I have nothing on record about that", and "I have" was taken for a fact; or they repeat what was said."""
    store = open_store(background=False, summary_keep_recent=0)
    c = store.create().id
    for text, answer, model in (
        ("What is my budget?", "I have nothing on record about that.", OFFLINE),
        ("The boiler was fixed on Monday", "Noted: The boiler was fixed on Monday", OFFLINE),
        ("Which plumber?", "This is the closest I have on record:\n- The boiler was fixed on Monday", None),
        ("And the heating?", "Our plumber costs 300 a day.", "a-model"),
    ):
        store.append(c, role="user", text=text)
        store.append(c, role="assistant", text=answer, model=model)
    summary = store.summarize(c)
    assert summary is not None
    assert "on record" not in summary.text
    assert "Noted" not in summary.text
    assert summary.text.count("The boiler was fixed on Monday") == 1
    assert "Our plumber costs 300 a day." in summary.text
    assert "_Summarized 8 messages._" in summary.text
