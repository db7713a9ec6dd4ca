"""rename, delete, restore: the bin, and out of it again."""

import pytest

import recollect
from recollect.errors import ConversationDeleted, InvalidInput, NotFound
from talk import texts


def test_rename_changes_the_title_only(store: recollect.Store) -> None:
    c = store.create(title="Old", workspace="/w")
    renamed = store.rename(c.id, " New\nname ")
    assert renamed.title == store.get(c.id).title == "New name"
    assert (renamed.workspace, renamed.last_seq, renamed.created_at) == ("/w", 0, c.created_at)


def test_a_renamed_conversation_keeps_its_title_when_a_message_comes(store: recollect.Store) -> None:
    c = store.create()
    store.rename(c, "Chosen")
    store.append(c, role="user", text="Other words")
    assert store.get(c).title == "Chosen"


def test_rename_refuses_an_empty_title_and_an_unknown_id(store: recollect.Store) -> None:
    c = store.create(title="Old")
    with pytest.raises(InvalidInput, match="title"):
        store.rename(c.id, "  ")
    with pytest.raises(NotFound):
        store.rename("nobody", "x")
    assert store.get(c.id).title == "Old"


def test_a_deleted_conversation_can_neither_be_read_nor_written(store: recollect.Store) -> None:
    c = store.create("one")
    store.append(c.id, role="user", text="hi")
    store.delete(c.id)
    for verb in (
        lambda: store.get("one"),
        lambda: store.read("one"),
        lambda: store.messages("one"),
        lambda: store.formatted_history("one"),
        lambda: store.with_history("one", "hi"),
        lambda: store.ledger("one"),
        lambda: store.reasoning("one"),
        lambda: store.branches("one"),
        lambda: store.append("one", role="user", text="more"),
        lambda: store.fork("one"),
        lambda: store.switch("one", "main"),
        lambda: store.rename("one", "x"),
        lambda: store.clear("one"),
        lambda: store.delete("one"),
        lambda: store.delete_event("one", 1),
        lambda: store.summarize("one"),
    ):
        with pytest.raises(ConversationDeleted, match="restore"):
            verb()


def test_restore_brings_everything_back(store: recollect.Store) -> None:
    c = store.create("one", title="T")
    store.append(c.id, role="user", text="hi")
    before = store.get(c.id)
    store.fork(c.id, name="idea")
    store.delete(c.id)
    assert store.restore(c.id) == before == store.get(c.id)
    assert texts(store.read(c.id)) == ["hi"]
    assert [b.name for b in store.branches(c.id)] == ["main", "idea"]
    assert store.append(c.id, role="user", text="on").seq == 2


def test_restore_of_what_was_not_deleted_changes_nothing(store: recollect.Store) -> None:
    c = store.create()
    assert store.restore(c.id) == c


def test_restore_of_an_unknown_id_is_not_found(store: recollect.Store) -> None:
    with pytest.raises(NotFound):
        store.restore("nobody")
