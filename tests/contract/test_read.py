"""read: replay from any point."""

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound, RecollectError
from talk import seqs, texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    """1 user, 2 tool_use, 3 tool_result, 4 assistant, 5 its reasoning, 6 event a, 7 event b, 8 note"""
    id = store.create("c").id
    store.append_many(
        id,
        [
            {"role": "user", "text": "one"},
            {"kind": "tool_use", "tool": "Write", "text": "two"},
            {"kind": "tool_result", "tool": "Write", "text": "three"},
            {"role": "assistant", "text": "four", "reasoning": "five"},
            {"kind": "event", "name": "workflow.start", "text": "six"},
            {"kind": "event", "name": "workflow.end", "text": "seven"},
            {"kind": "note", "text": "eight"},
        ],
    )
    return id


def test_all_of_it_oldest_first(store: recollect.Store, c: str) -> None:
    assert texts(store.read(c)) == ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    assert seqs(store.read(c)) == list(range(1, 9))


def test_from_behind_a_number(store: recollect.Store, c: str) -> None:
    assert seqs(store.read(c, after=5)) == [6, 7, 8]
    assert store.read(c, after=8) == store.read(c, after=1000) == []
    assert len(store.read(c, after=0)) == 8


def test_by_kind(store: recollect.Store, c: str) -> None:
    assert seqs(store.read(c, kinds=["tool_use", "tool_result"])) == [2, 3]
    assert seqs(store.read(c, kinds=["message"], after=1)) == [4]
    assert seqs(store.read(c, kinds=("note",))) == [8]
    assert store.read(c, kinds=["approval"]) == []


def test_no_kind_is_nothing_not_everything(store: recollect.Store, c: str) -> None:
    assert store.read(c, kinds=[]) == store.read(c, names=[]) == []


def test_by_name(store: recollect.Store, c: str) -> None:
    assert texts(store.read(c, names=["workflow.end"])) == ["seven"]
    assert texts(store.read(c, names=["workflow.start", "workflow.end"], after=6)) == ["seven"]
    assert store.read(c, names=["workflow"]) == store.read(c, names=["WORKFLOW.END"]) == []
    assert store.read(c, names=["workflow.end"], kinds=["note"]) == []


def test_one_name_or_kind_may_be_given_as_such(store: recollect.Store, c: str) -> None:
    assert seqs(store.read(c, kinds="note")) == [8]
    assert seqs(store.read(c, names="workflow.end")) == [7]


def test_limit(store: recollect.Store, c: str) -> None:
    assert seqs(store.read(c, limit=2)) == [1, 2]
    assert store.read(c, limit=0) == []
    assert len(store.read(c, limit=100)) == len(store.read(c, limit=None)) == 8
    assert seqs(store.read(c, kinds=["event", "note"], limit=2)) == [6, 7]


def test_pages_by_number_cover_all_once(store: recollect.Store, c: str) -> None:
    seen: list[int] = []
    while page := store.read(c, after=seen[-1] if seen else 0, limit=3):
        seen += seqs(page)
    assert seen == list(range(1, 9))


def test_pages_go_on_over_what_was_deleted(store: recollect.Store, c: str) -> None:
    store.delete_event(c, 3)
    store.delete_event(c, 4)
    assert seqs(store.read(c, after=2, limit=2)) == [5, 6]


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_is_a_whole_number(store: recollect.Store, c: str, limit: object) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        store.read(c, limit=limit)  # type: ignore[arg-type]


def test_unknown_conversation_and_branch(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound):
        store.read("nobody")
    with pytest.raises(NotFound, match="nowhere"):
        store.read(c, branch="nowhere")


def test_a_point_beyond_all_numbers_is_simply_beyond(store: recollect.Store, c: str) -> None:
    assert store.read(c, after=2**63 - 1) == []
    assert len(store.read(c, limit=2**62)) == 8


@pytest.mark.parametrize("after", [2**63, 2**80, "5", None, 1.5], ids=str)
def test_a_point_that_is_none_is_refused_in_our_words(store: recollect.Store, c: str, after: object) -> None:
    with pytest.raises(InvalidInput, match="after"):
        store.read(c, after=after)  # type: ignore[arg-type]


def test_a_limit_beyond_all_numbers(store: recollect.Store, c: str) -> None:
    try:
        assert len(store.read(c, limit=2**70)) == 8
        assert len(store.messages(c, limit=2**70)) == 2
        assert len(store.conversations(limit=2**70)) == 1
    except RecollectError as e:
        assert "limit" in str(e)


@pytest.mark.parametrize("what", ["kinds", "names", "branch"])
@pytest.mark.parametrize("bad", ["a\0b", "\ud800"], ids=["nul", "surrogate"])
def test_what_no_database_can_be_asked_is_refused_alike(store: recollect.Store, c: str, what: str, bad: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        store.read(c, **{what: bad if what == "branch" else [bad]})  # type: ignore[arg-type]


# -- branches


def test_a_branch_shows_its_lineage(store: recollect.Store, c: str) -> None:
    store.fork(c, 4, name="idea")
    store.append(c, role="user", text="nine", branch="idea")
    store.append(c, role="user", text="ten")
    assert seqs(store.read(c, branch="idea")) == [1, 2, 3, 4, 9]
    assert seqs(store.read(c)) == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert seqs(store.read(c, branch="idea", after=3, limit=2)) == [4, 9]
    assert [e.branch for e in store.read(c, branch="idea", after=3)] == ["main", "idea"]


def test_every_branch_in_the_order_in_which_things_happened(store: recollect.Store, c: str) -> None:
    store.fork(c, 4, name="idea")
    store.append(c, role="user", text="nine", branch="idea")
    store.append(c, role="user", text="ten")
    store.append(c, role="user", text="eleven", branch="idea")
    assert seqs(store.read(c, branch="*")) == list(range(1, 12))
    assert [e.branch for e in store.read(c, branch="*", after=8)] == ["idea", "main", "idea"]
    assert seqs(store.read(c, branch="*", after=8, limit=2)) == [9, 10]
    assert seqs(store.read(c, branch="*", limit=3)) == [1, 2, 3]
    assert seqs(store.read(c, branch="*", kinds=["message"], limit=4)) == [1, 4, 9, 10]


def test_every_branch_of_a_conversation_with_one(store: recollect.Store, c: str) -> None:
    assert store.read(c, branch="*") == store.read(c)
    assert store.read(c, branch="*", limit=0) == []


def test_a_branch_object_will_do(store: recollect.Store, c: str) -> None:
    b = store.fork(c, 2)
    assert store.read(c, branch=b) == store.read(c, branch=b.name)
    assert seqs(store.read(c, branch=b)) == [1, 2]


def test_an_event_is_found_by_its_own_key(store: recollect.Store) -> None:
    c = store.create().id
    first = store.append(c, role="user", text="hello", key="message-17")
    store.fork(c, name="idea")
    other = store.append(c, role="assistant", text="hi", key="message-18", branch="idea")
    assert store.get_event(c, key="message-17") == first
    assert store.get_event(c, key="message-17", branch="idea") == first
    assert store.get_event(c, key="message-18", branch="idea") == other
    for asked in ({"key": "message-18", "branch": "main"}, {"key": "message-19"}):
        with pytest.raises(NotFound, match="has no event with the key"):
            store.get_event(c, **asked)
