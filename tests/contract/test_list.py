"""conversations: newest activity first, page by page."""

from typing import Any

import pytest

import recollect
from recollect import conversations
from recollect.errors import InvalidInput


def listed(store: recollect.Store, **what: object) -> list[str]:
    return [c.id for c in store.conversations(**what)]  # type: ignore[arg-type]


def test_newest_activity_first(store: recollect.Store) -> None:
    for id in ("a", "b", "c"):
        store.create(id)
    assert listed(store) == ["c", "b", "a"]
    store.append("a", role="user", text="hi")
    assert listed(store) == ["a", "c", "b"]


def test_the_order_is_that_of_the_writes_not_of_the_clock(store: recollect.Store) -> None:
    store.create("a")
    store.create("b")
    store.append("a", role="user", text="old news", created_at=1)
    assert listed(store) == ["a", "b"]


def test_pages_by_cursor_cover_all_once(store: recollect.Store) -> None:
    made = [store.create().id for _ in range(7)]
    seen: list[str] = []
    cursor = None
    while page := store.conversations(limit=3, cursor=cursor):
        seen += [c.id for c in page]
        cursor = page[-1].cursor
    assert seen == made[::-1]


def test_what_moves_up_while_paging_is_not_shown_twice(store: recollect.Store) -> None:
    for id in "abcd":
        store.create(id)
    first = store.conversations(limit=2)
    store.append("d", role="user", text="again")
    assert [c.id for c in first] == ["d", "c"]
    assert listed(store, limit=2, cursor=first[-1].cursor) == ["b", "a"]


def test_by_workspace_is_equality(store: recollect.Store) -> None:
    store.create("a", workspace="/repo")
    store.create("b", workspace="/repo2")
    store.create("c", workspace="/REPO")
    store.create("d")
    assert listed(store, workspace="/repo") == ["a"]
    assert listed(store, workspace="/rep_") == listed(store, workspace="/repo%") == []
    assert listed(store) == ["d", "c", "b", "a"]


def test_pages_within_a_workspace(store: recollect.Store) -> None:
    for i in range(6):
        store.create(str(i), workspace="/odd" if i % 2 else "/even")
    first = store.conversations(workspace="/odd", limit=2)
    assert [c.id for c in first] == ["5", "3"]
    assert listed(store, workspace="/odd", cursor=first[-1].cursor) == ["1"]


def test_fifty_unless_said(store: recollect.Store) -> None:
    for i in range(52):
        store.create(str(i))
    assert len(store.conversations()) == 50
    assert len(store.conversations(limit=100)) == 52
    assert store.conversations(limit=0) == []


def test_the_bin_is_a_list_of_its_own(store: recollect.Store) -> None:
    store.create("kept")
    store.create("gone")
    store.delete("gone")
    assert listed(store) == ["kept"]
    assert listed(store, deleted=True) == ["gone"]
    assert store.conversations(deleted=True)[0].deleted_at is not None


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_is_a_whole_number(store: recollect.Store, limit: object) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        store.conversations(limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("cursor", ["x", "", "1; drop table events", "9" * 40, "-" + "9" * 40])
def test_a_foreign_cursor_is_refused(store: recollect.Store, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        store.conversations(cursor=cursor)


def test_a_listed_conversation_equals_the_one_got(store: recollect.Store) -> None:
    c = store.create("a", title="T", workspace="/w", metadata={"k": [1]})
    store.append(c.id, role="user", text="hi")
    assert store.conversations() == [store.get("a")]


def test_by_date_what_was_brought_in_stands_where_it_belongs(store: recollect.Store) -> None:
    """For people, page by page: an import of last year is not what they did last."""
    now = recollect.ids.now()
    for id, at in (
        ("mine", None),
        ("of march", now - 86_400_000),
        ("empty", None),
        ("of may", now - 3_600_000),
        ("same", now - 3_600_000),
    ):
        c = store.create(id, workspace="/w" if id.startswith("of") else None)
        if id != "empty":
            store.append(c, role="user", text="said", **({} if at is None else {"created_at": at}))

    def by_date(**given: Any) -> list[recollect.Conversation]:
        asked = {"workspace": None, "limit": 50, "cursor": None, **given}
        return store._read(lambda tx: conversations.by_date(tx, **asked))

    assert listed(store)[0] == "same", "the one that was written to last"
    assert [c.id for c in by_date()] == ["empty", "mine", "same", "of may", "of march"]
    assert [c.id for c in by_date(workspace="/w")] == ["of may", "of march"]
    seen: list[str] = []
    cursor = None
    while page := by_date(limit=2, cursor=cursor):
        seen += [c.id for c in page]
        cursor = page[-1].cursor
    assert seen == ["empty", "mine", "same", "of may", "of march"]
    for foreign in ("7", "a.b", "1.2.3", ""):
        with pytest.raises(InvalidInput):
            by_date(cursor=foreign)


def test_those_of_one_workflow(store: recollect.Store) -> None:
    store.create("a", workflow_id="fleet")
    store.create("b", workflow_id="other")
    store.create("c")
    store.create("d", workflow_id="fleet")
    assert [c.id for c in store.conversations(workflow_id="fleet")] == ["d", "a"]
    assert [c.id for c in store.conversations(workflow_id="fleet", limit=1)] == ["d"]
    assert store.conversations(workflow_id="nothing") == []
