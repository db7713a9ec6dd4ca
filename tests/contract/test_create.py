"""create, get: a conversation begins."""

import uuid

import pytest

import recollect
from recollect.errors import AlreadyExists, InvalidInput, NotFound


def test_a_new_conversation_gets_a_uuid7(store: recollect.Store) -> None:
    made = store.create()
    assert uuid.UUID(made.id).version == 7
    assert made.id == str(uuid.UUID(made.id))


def test_a_new_conversation_is_empty(store: recollect.Store) -> None:
    c = store.create()
    assert (c.title, c.workspace, c.workflow_id, c.metadata) == (None, None, None, {})
    assert (c.active_branch, c.last_seq, c.deleted_at) == ("main", 0, None)
    assert c.created_at == c.updated_at > 1_600_000_000_000
    assert store.read(c.id) == store.messages(c.id) == []


def test_everything_said_is_kept(store: recollect.Store) -> None:
    c = store.create(
        "trip-1", title="Trip", workspace="/repo", workflow_id="wf 7", metadata={"tags": ["a", "ü"], "n": 2**70}
    )
    assert (c.id, c.title, c.workspace, c.workflow_id) == ("trip-1", "Trip", "/repo", "wf 7")
    assert c.metadata == {"tags": ["a", "ü"], "n": 2**70}
    assert store.get("trip-1") == c
    assert store.get(c) == c


@pytest.mark.parametrize(
    "id", ["1", "trip 1", "日本語", "🦜", "a/b:c?d=e", "'; drop table events; --", "x" * 256, "%s"]
)
def test_any_printable_id_will_do(store: recollect.Store, id: str) -> None:
    assert store.create(id).id == id
    assert store.get(id).id == id
    assert store.append(id, role="user", text="hi").conversation_id == id


def test_an_id_can_be_taken_once(store: recollect.Store) -> None:
    store.create("one", title="first")
    with pytest.raises(AlreadyExists, match="'one'"):
        store.create("one", title="second")
    assert store.get("one").title == "first"


def test_an_id_in_the_bin_is_still_taken_and_the_error_says_so(store: recollect.Store) -> None:
    store.create("one")
    store.delete("one")
    with pytest.raises(AlreadyExists, match=r"bin.*restore"):
        store.create("one")


def test_an_unknown_id_is_not_found(store: recollect.Store) -> None:
    with pytest.raises(NotFound, match="'nobody'"):
        store.get("nobody")


def test_metadata_is_json(store: recollect.Store) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        store.create(metadata={"x": float("nan")})
    with pytest.raises(InvalidInput, match="metadata"):
        store.create(metadata=["no", "mapping"])  # type: ignore[arg-type]
    assert store.conversations() == []


def test_a_title_is_one_line_without_margins(store: recollect.Store) -> None:
    assert store.create(title="  A\n trip\t to Rome ").title == "A trip to Rome"
    for title in ("", " \n ", "x" * 501, "a\0b"):
        with pytest.raises(InvalidInput, match="title"):
            store.create(title=title)


@pytest.mark.parametrize(
    "workspace", ["/repo", "C:\\repo", "日" * 4096, "".join(map(chr, range(0x4E00, 0x4E00 + 4096)))]
)
def test_a_workspace_may_be_long(store: recollect.Store, workspace: str) -> None:
    c = store.create(workspace=workspace)
    assert [found.id for found in store.conversations(workspace=workspace)] == [c.id]


@pytest.mark.parametrize("workspace", ["", "  ", "x" * 4097, "a\0b", "\ud800"])
def test_a_workspace_that_cannot_be_is_refused(store: recollect.Store, workspace: str) -> None:
    with pytest.raises(InvalidInput, match="workspace"):
        store.create(workspace=workspace)


# -- titles from the first message


def test_an_untitled_conversation_is_named_by_its_first_message(store: recollect.Store) -> None:
    c = store.create()
    store.append(c.id, kind="note", text="a note is no message")
    assert store.get(c.id).title is None
    store.append(c.id, role="user", text="  Plan a trip\nto Rome ")
    store.append(c.id, role="assistant", text="With pleasure")
    assert store.get(c.id).title == "Plan a trip to Rome"


def test_a_long_first_message_is_cut_at_a_word(store: recollect.Store) -> None:
    c = store.create()
    store.append(c.id, role="user", text="word " * 1000)
    title = store.get(c.id).title
    assert title is not None
    assert len(title) <= 60
    assert title.endswith("word…")


def test_a_blank_first_message_leaves_the_title_to_the_next(store: recollect.Store) -> None:
    c = store.create()
    store.append_many(c.id, [{"role": "user", "text": " \n"}, {"role": "user", "text": "Shoes"}])
    assert store.get(c.id).title == "Shoes"


def test_a_greeting_and_what_answers_it_leave_the_title_to_what_is_asked(store: recollect.Store) -> None:
    c = store.create()
    store.append(c.id, role="assistant", text="Welcome! What can I do for you?")
    store.append(c.id, role="user", text="Hi there!")
    store.append(c.id, role="assistant", text="Hello! Ask me anything.")
    assert store.get(c.id).title is None
    store.append(c.id, role="user", text="Bom dia!")
    store.append(c.id, role="user", text="ghp_" + "Zx81kLmQ2v9TqW3nB7yRaB4cD5eF6gH7iJ8k")
    assert store.get(c.id).title is None
    store.append(c.id, role="user", text="Hi, which shoes for rain?")
    assert store.get(c.id).title == "Hi, which shoes for rain?"


def test_a_given_title_stays(store: recollect.Store) -> None:
    c = store.create(title="Mine")
    store.append(c.id, role="user", text="Something else")
    assert store.get(c.id).title == "Mine"


def test_metadata_can_be_changed_afterwards(store: recollect.Store) -> None:
    c = store.create(metadata={"colour": "red", "size": 3})
    changed = store.annotate(c.id, {"context": False, "size": None})
    assert changed.metadata == store.get(c.id).metadata == {"colour": "red", "context": False}
    assert store.annotate(c.id, {"context": None, "colour": None}).metadata == {}
    with pytest.raises(NotFound):
        store.annotate("nobody", {"a": 1})
    with pytest.raises(NotFound):
        store.for_user("kim").annotate(c.id, {"a": 1})
    with pytest.raises(InvalidInput):
        store.annotate(c.id, {"a": float("nan")})
