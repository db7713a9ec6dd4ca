"""formatted_history, with_history: what goes into a prompt, to the letter."""

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open, exchange


@pytest.fixture
def c(store: recollect.Store) -> str:
    return store.create("c").id


def test_role_and_content_joined_by_blank_lines(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="Hello")
    store.append(c, role="assistant", text="Hi!\nHow are you?")
    assert store.formatted_history(c) == "USER: Hello\n\nASSISTANT: Hi!\nHow are you?"


def test_empty_is_the_empty_text(store: recollect.Store, c: str) -> None:
    assert store.formatted_history(c) == ""
    store.append(c, kind="note", text="no message")
    assert store.formatted_history(c) == ""


def test_ten_messages_unless_said(store: recollect.Store, c: str) -> None:
    store.append_many(c, exchange(12))
    assert store.formatted_history(c).count("\n\n") == 9
    assert store.formatted_history(c, 2) == "USER: message 11\n\nASSISTANT: message 12"
    assert store.formatted_history(c, max_messages=1) == "ASSISTANT: message 12"
    assert store.formatted_history(c, max_messages=0) == ""


def test_with_history_puts_the_message_last(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="Hello")
    store.append(c, role="assistant", text="Hi!")
    assert store.with_history(c, "And now?") == (
        "Previous conversation:\nUSER: Hello\n\nASSISTANT: Hi!\n\nUser's current message: And now?"
    )


def test_with_history_of_nothing_is_the_bare_message(store: recollect.Store, c: str) -> None:
    assert store.with_history(c, "Hello") == "Hello"
    store.append(c, role="user", text="Before")
    assert store.with_history(c, "Hello", max_messages=0) == "Hello"


def test_the_current_message_is_never_there_twice(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="Hello")
    assert store.with_history(c, "Hello") == "Hello"
    store.append(c, role="assistant", text="Hi!")
    store.append(c, role="user", text="And now?")
    expected = "Previous conversation:\nUSER: Hello\n\nASSISTANT: Hi!\n\nUser's current message: And now?"
    assert store.with_history(c, "And now?") == expected


def test_the_same_words_earlier_are_history(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="yes")
    store.append(c, role="assistant", text="Sure?")
    assert store.with_history(c, "yes") == (
        "Previous conversation:\nUSER: yes\n\nASSISTANT: Sure?\n\nUser's current message: yes"
    )


@pytest.mark.parametrize("appended_already", [False, True])
def test_max_messages_counts_history_not_the_current_one(
    store: recollect.Store, c: str, appended_already: bool
) -> None:
    store.append_many(c, exchange(6))
    if appended_already:
        store.append(c, role="user", text="now")
    assert store.with_history(c, "now", max_messages=2) == (
        "Previous conversation:\nUSER: message 5\n\nASSISTANT: message 6\n\nUser's current message: now"
    )


def test_a_summary_is_part_of_the_history(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="We decided to go with Rome.")
    store.append_many(c, exchange(9))
    assert store.summarize(c)
    for history in (store.formatted_history(c), store.with_history(c, "next"), store.formatted_history(c, 3)):
        assert "SYSTEM: **Conversation Summary**" in history
        assert "We decided to go with Rome." in history
        assert "_Summarized 4 messages._" in history
        assert history.index("Summary") < history.index("ASSISTANT: message 9")
    assert store.formatted_history(c).endswith("USER: message 8\n\nASSISTANT: message 9")
    assert store.with_history(c, "next", 4).endswith("ASSISTANT: message 9\n\nUser's current message: next")


def test_the_newest_message_is_there_however_few_are_asked_for(store: recollect.Store, c: str) -> None:
    store.append_many(c, exchange(10))
    store.summarize(c)
    assert store.formatted_history(c, 1).endswith("ASSISTANT: message 10")


def test_with_a_summary_the_current_message_is_not_there_twice(store: recollect.Store, c: str) -> None:
    store.append_many(c, exchange(10))
    store.summarize(c)
    store.append(c, role="user", text="now")
    for most in (1, 2, 7, 10):
        assert store.with_history(c, "now", most).count("now") == 1, most


def test_a_question_without_an_answer_is_not_summarized(open_store: Open) -> None:
    """The job is queued by an answer; before it runs, the user goes on."""
    store = open_store(background=False, summary_threshold=4, summary_keep_recent=0)
    c = store.create().id
    store.append_many(c, exchange(5))
    store.append(c, role="user", text="One more thing.")
    store.append(c, role="user", text="What is our budget?")
    assert store.settle() == 1
    summary, *waiting = store.messages(c, limit=None)
    assert "_Summarized 5 messages._" in summary.text
    assert [m.text for m in waiting] == ["One more thing.", "What is our budget?"]
    assert store.with_history(c, "What is our budget?").count("What is our budget?") == 1
    store.append_many(c, exchange(5))
    assert store.settle() == 1
    assert "What is our budget?" in store.messages(c, limit=None)[0].text


def test_on_a_branch(store: recollect.Store, c: str) -> None:
    store.append_many(c, exchange(2))
    store.fork(c, 1, name="idea")
    store.append(c, role="assistant", text="Otherwise", branch="idea")
    assert store.formatted_history(c, branch="idea") == "USER: message 1\n\nASSISTANT: Otherwise"
    assert "Otherwise" in store.with_history(c, "x", branch="idea")
    assert "Otherwise" not in store.with_history(c, "x")


def test_an_unknown_conversation_is_not_found_however_little_is_asked(store: recollect.Store) -> None:
    for most in (0, 1):
        with pytest.raises(NotFound):
            store.formatted_history("nobody", most)
        with pytest.raises(NotFound):
            store.with_history("nobody", "hi", most)


def test_a_negative_number_of_messages_is_refused(store: recollect.Store, c: str) -> None:
    with pytest.raises(InvalidInput):
        store.formatted_history(c, -1)
    with pytest.raises(InvalidInput):
        store.with_history(c, "hi", -1)


def test_a_number_that_is_none_is_named_as_it_was_passed(store: recollect.Store) -> None:
    c = store.create().id
    for verb in (store.formatted_history, lambda c, n: store.with_history(c, "now", n)):
        with pytest.raises(recollect.errors.InvalidInput, match=r"^max_messages must be"):
            verb(c, "10")  # type: ignore[arg-type]
