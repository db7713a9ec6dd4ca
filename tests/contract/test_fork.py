"""fork, branches, switch: a branch is a pointer; nothing is copied, both histories stay."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from talk import exchange, seqs, texts


@pytest.fixture
def c(store: recollect.Store) -> str:
    id = store.create("c").id
    store.append_many(id, exchange(4))
    return id


def test_a_fork_shares_history_up_to_its_point(store: recollect.Store, c: str) -> None:
    b = store.fork(c, at=2)
    assert seqs(store.read(c, branch=b)) == [1, 2]
    assert (b.parent, b.fork_seq, b.head, b.active, b.conversation_id) == ("main", 2, 2, False, c)


def test_both_histories_go_on(store: recollect.Store, c: str) -> None:
    b = store.fork(c, at=2)
    store.append(c, role="user", text="on the branch", branch=b)
    store.append(c, role="user", text="on main")
    assert seqs(store.read(c, branch=b)) == [1, 2, 5]
    assert seqs(store.read(c)) == [1, 2, 3, 4, 6]


def test_a_fork_writes_no_event(store: recollect.Store, c: str) -> None:
    store.fork(c, at=2)
    assert store.get(c).last_seq == 4
    assert store.stats().events == 4


def test_the_newest_event_unless_said(store: recollect.Store, c: str) -> None:
    assert store.fork(c).fork_seq == 4
    store.fork(c, at=2, name="idea")
    store.append(c, role="user", text="x", branch="idea")
    assert store.fork(c, branch="idea").fork_seq == 5


def test_before_the_first_event(store: recollect.Store, c: str) -> None:
    b = store.fork(c, at=0)
    assert store.read(c, branch=b) == []
    assert b.head == 0
    store.append(c, role="user", text="afresh", branch=b)
    assert texts(store.messages(c, branch=b)) == ["afresh"]


def test_a_fork_of_an_empty_conversation(store: recollect.Store) -> None:
    c = store.create().id
    b = store.fork(c)
    assert (b.fork_seq, b.head) == (0, 0)
    store.append(c, role="user", text="main")
    assert store.read(c, branch=b) == []


def test_names_are_given_or_made(store: recollect.Store, c: str) -> None:
    assert store.fork(c, name="idea").name == "idea"
    made = {store.fork(c).name for _ in range(3)}
    assert len(made) == 3
    with pytest.raises(AlreadyExists, match="'idea'"):
        store.fork(c, name="idea")
    with pytest.raises(AlreadyExists):
        store.fork(c, name="main")


def test_a_name_that_looks_made_does_not_get_in_the_way(store: recollect.Store, c: str) -> None:
    for name in ("branch-1", "branch-2", "branch-3", "branch-4"):
        store.fork(c, name=name)
    assert store.fork(c).name not in {"branch-1", "branch-2", "branch-3", "branch-4", "main"}


@pytest.mark.parametrize("name", ["", " ", "*", "x" * 257, "a\nb", "a\0b"])
def test_bad_names_are_refused(store: recollect.Store, c: str, name: str) -> None:
    with pytest.raises(InvalidInput):
        store.fork(c, name=name)
    assert len(store.branches(c)) == 1


@pytest.mark.parametrize("at", [-1, 5, 2**80])
def test_a_point_that_never_was_is_refused(store: recollect.Store, c: str, at: int) -> None:
    with pytest.raises(InvalidInput, match=r"\bat\b"):
        store.fork(c, at=at)


def test_unknown_conversation_and_branch(store: recollect.Store, c: str) -> None:
    with pytest.raises(NotFound):
        store.fork("nobody")
    with pytest.raises(NotFound):
        store.fork(c, branch="nowhere")
    with pytest.raises(NotFound):
        store.switch(c, "nowhere")
    with pytest.raises(NotFound):
        store.branches("nobody")


def test_the_number_alone_tells_the_branch(store: recollect.Store, c: str) -> None:
    """Event 5 stands on `idea`: forking there continues `idea`, whichever branch is active."""
    store.fork(c, at=2, name="idea")
    store.append(c, role="user", text="on the idea", branch="idea")
    b = store.fork(c, at=5)
    assert b.parent == "idea"
    assert seqs(store.read(c, branch=b)) == [1, 2, 5]


def test_forks_of_forks(store: recollect.Store, c: str) -> None:
    store.fork(c, at=3, name="a")
    store.append(c, role="user", text="5", branch="a")
    store.fork(c, branch="a", name="b")
    store.append(c, role="user", text="6", branch="b")
    store.append(c, role="user", text="7", branch="a")
    store.fork(c, at=1, branch="b", name="early")
    assert seqs(store.read(c, branch="b")) == [1, 2, 3, 5, 6]
    assert seqs(store.read(c, branch="a")) == [1, 2, 3, 5, 7]
    assert seqs(store.read(c, branch="early")) == [1]


def test_a_chain_of_two_hundred(store: recollect.Store) -> None:
    c = store.create().id
    store.append(c, role="user", text="root")
    name = "main"
    for i in range(200):
        name = store.fork(c, branch=name).name
        store.append(c, role="user", text=str(i), branch=name)
    assert texts(store.read(c, branch=name)) == ["root", *map(str, range(200))]
    assert texts(store.messages(c, branch=name, limit=3)) == ["197", "198", "199"]
    assert len(store.branches(c)) == 201
    assert store.branches(c)[-1].head == 201
    assert texts(store.read(c)) == ["root"]
    assert store.verify().ok


# -- the active branch


def test_reads_and_writes_mean_the_active_branch(store: recollect.Store, c: str) -> None:
    store.fork(c, at=2, name="idea", switch=True)
    assert store.get(c).active_branch == "idea"
    e = store.append(c, role="user", text="here")
    assert e.branch == "idea"
    assert seqs(store.read(c)) == seqs(store.messages(c)) == [1, 2, 5]
    assert seqs(store.read(c, branch="main")) == [1, 2, 3, 4]


def test_switch_there_and_back(store: recollect.Store, c: str) -> None:
    b = store.fork(c, at=2)
    assert store.switch(c, b).active_branch == b.name
    assert [x.active for x in store.branches(c)] == [False, True]
    assert store.switch(c, "main").active_branch == "main"
    assert len(store.read(c)) == 4


def test_a_fork_leaves_the_active_branch_unless_told(store: recollect.Store, c: str) -> None:
    store.fork(c)
    assert store.get(c).active_branch == "main"


# -- the list


def test_branches_tell_what_they_are(store: recollect.Store, c: str) -> None:
    store.fork(c, at=2, name="idea")
    e = store.append(c, role="user", text="  A wholly\n different idea", branch="idea")
    store.append(c, role="assistant", text="x", reasoning="not for the preview", branch="idea")
    main, idea = store.branches(c)
    assert (main.name, main.parent, main.fork_seq, main.head, main.preview) == ("main", None, 0, 4, "message 4")
    assert (idea.name, idea.parent, idea.fork_seq, idea.head, idea.preview) == ("idea", "main", 2, 7, "x")
    assert idea.updated_at >= e.created_at
    store.delete_event(c, 6)
    assert store.branches(c)[1].preview == "A wholly different idea"


def test_a_long_preview_is_cut(store: recollect.Store, c: str) -> None:
    store.append(c, role="user", text="word " * 1000)
    assert len(store.branches(c)[0].preview) <= 80


def test_a_branch_without_own_events_shows_its_parents(store: recollect.Store, c: str) -> None:
    store.fork(c, at=2)
    assert store.branches(c)[1].preview == "message 2"


def test_an_empty_conversation_has_main(store: recollect.Store) -> None:
    (main,) = store.branches(store.create().id)
    assert (main.name, main.head, main.active, main.preview) == ("main", 0, True, "")


# -- against a model in a few lines of Python

Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "fork", "fork at", "delete", "switch"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=25,
)


class Model:
    """A branch is the list of numbers to be seen on it. Nothing is shared."""

    def __init__(self) -> None:
        self.shown: dict[str, list[int]] = {"main": []}
        self.written_on: dict[int, str] = {}
        self.active = "main"
        self.last = 0

    def append(self, branch: str) -> int:
        self.last += 1
        self.shown[branch].append(self.last)
        self.written_on[self.last] = branch
        return self.last

    def fork(self, name: str, at: int, branch: str | None) -> None:
        source = branch or self.written_on.get(at, self.active)
        self.shown[name] = [seq for seq in self.shown[source] if seq <= at]

    def delete(self, seq: int) -> bool:
        there = seq in self.written_on
        self.written_on.pop(seq, None)
        for shown in self.shown.values():
            if seq in shown:
                shown.remove(seq)
        return there


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps=steps)
def test_any_tree_of_forks_reads_as_if_everything_were_copied(store: recollect.Store, steps: list[Step]) -> None:
    c = store.create().id
    model = Model()
    for what, x, y in steps:
        names = list(model.shown)
        branch = names[x % len(names)]
        if what == "append":
            assert store.append(c, role="user", text="m", branch=branch).seq == model.append(branch)
        elif what == "fork":
            at = y % (model.last + 1)
            model.fork(store.fork(c, at, branch=branch).name, at, branch)
        elif what == "fork at":
            at = y % (model.last + 1)
            model.fork(store.fork(c, at).name, at, None)
        elif what == "delete":
            if model.delete(y):
                store.delete_event(c, y)
        else:
            store.switch(c, branch)
            model.active = branch
    for name, shown in model.shown.items():
        assert seqs(store.read(c, branch=name)) == shown
        assert seqs(store.messages(c, branch=name, limit=None)) == shown
        assert seqs(store.messages(c, branch=name, limit=3)) == shown[-3:]
        assert seqs(store.read(c, branch=name, after=4, limit=2)) == [s for s in shown if s > 4][:2]
    assert {b.name: b.head for b in store.branches(c)} == {n: max(s, default=0) for n, s in model.shown.items()}
    assert seqs(store.read(c, branch="*")) == sorted(model.written_on)
    assert seqs(store.read(c)) == model.shown[model.active]
    assert store.verify().problems == ()
