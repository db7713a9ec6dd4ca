"""messages: the newest N, oldest first."""

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    id = store.create("c").id
    store.append_many(id, [{"role": "user", "text": f"m{i}"} for i in range(1, 13)])
    store.append(id, kind="note", text="no message")
    store.append(id, kind="tool_use", tool="Read", text="none either")
    return id


def test_ten_unless_said(store: recollect.Store, c: str) -> None:
    assert texts(store.messages(c)) == [f"m{i}" for i in range(3, 13)]


def test_the_newest_oldest_first(store: recollect.Store, c: str) -> None:
    assert texts(store.messages(c, limit=3)) == ["m10", "m11", "m12"]


def test_zero_is_none_never_all(store: recollect.Store, c: str) -> None:
    assert store.messages(c, limit=0) == []


def test_none_is_all(store: recollect.Store, c: str) -> None:
    assert len(store.messages(c, limit=None)) == len(store.messages(c, limit=1000)) == 12


def test_only_messages_are_messages(store: recollect.Store, c: str) -> None:
    assert {e.kind for e in store.messages(c, limit=None)} == {"message"}


def test_every_role_is_shown(store: recollect.Store) -> None:
    c = store.create().id
    for role in ("system", "user", "assistant", "tool"):
        store.append(c, role=role, text=role)
    assert [e.role for e in store.messages(c)] == ["system", "user", "assistant", "tool"]


def test_on_a_branch_the_newest_are_found_through_its_ancestors(store: recollect.Store, c: str) -> None:
    store.fork(c, 4, name="idea")
    store.append(c, role="user", text="i1", branch="idea")
    store.append(c, role="user", text="i2", branch="idea")
    assert texts(store.messages(c, limit=2, branch="idea")) == ["i1", "i2"]
    assert texts(store.messages(c, limit=4, branch="idea")) == ["m3", "m4", "i1", "i2"]
    assert texts(store.messages(c, limit=1, branch="idea")) == ["i2"]
    assert len(store.messages(c, limit=None, branch="idea")) == 6


def test_messages_carry_no_reasoning_unless_asked(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="assistant", text="a", reasoning="because")
    assert store.messages(c)[0].traces == ()
    assert store.messages(c)[0].reasoning is None
    assert store.messages(c, include_reasoning=True)[0].reasoning == "because"


def test_bad_questions(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound):
        store.messages("nobody")
    with pytest.raises(NotFound):
        store.messages("nobody", limit=0)
    with pytest.raises(NotFound):
        store.messages(c, branch="nowhere")
    with pytest.raises(InvalidInput, match="limit"):
        store.messages(c, limit=-1)
