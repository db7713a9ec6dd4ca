"""close: the end of a handle, and of all made from it."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import recollect
from recollect.errors import StoreClosed
from talk import Open, exchange, texts

VERBS = {
    "create": lambda s: s.create(),
    "get": lambda s: s.get("c"),
    "conversations": lambda s: s.conversations(),
    "rename": lambda s: s.rename("c", "x"),
    "delete": lambda s: s.delete("c"),
    "restore": lambda s: s.restore("c"),
    "clear": lambda s: s.clear("c"),
    "erase": lambda s: s.erase(conversation="c"),
    "append": lambda s: s.append("c", role="user", text="x"),
    "append_many": lambda s: s.append_many("c", []),
    "record_workflow_event": lambda s: s.record_workflow_event("c", {"type": "x"}),
    "delete_event": lambda s: s.delete_event("c", 1),
    "read": lambda s: s.read("c"),
    "messages": lambda s: s.messages("c"),
    "formatted_history": lambda s: s.formatted_history("c"),
    "with_history": lambda s: s.with_history("c", "x"),
    "ledger": lambda s: s.ledger("c"),
    "reasoning": lambda s: s.reasoning("c"),
    "fork": lambda s: s.fork("c"),
    "branches": lambda s: s.branches("c"),
    "switch": lambda s: s.switch("c", "main"),
    "summarize": lambda s: s.summarize("c"),
    "settle": lambda s: s.settle(),
    "stats": lambda s: s.stats(),
    "verify": lambda s: s.verify(),
    "compact": lambda s: s.compact(),
}


@pytest.mark.parametrize("where", ["file", "memory"])
def test_every_verb_of_a_closed_store_says_so(store: recollect.Store, where: str) -> None:
    closed = store if where == "file" else recollect.open(":memory:", user="alex")
    closed.create("c")
    other = closed.for_user("kim")
    closed.close()
    for handle in (closed, other):
        for verb, call in VERBS.items():
            with pytest.raises(StoreClosed, match=r"recollect.open"):
                call(handle)
                pytest.fail(verb)


def test_closing_twice_is_fine(store: recollect.Store) -> None:
    store.close()
    store.close()
    store.for_user("kim").close()


def test_a_with_block_closes_whatever_happens(url: str) -> None:
    with pytest.raises(ZeroDivisionError), recollect.open(url, user="alex") as store:
        store.create("c")
        raise ZeroDivisionError
    with pytest.raises(StoreClosed):
        store.get("c")
    with recollect.open(url, user="alex") as again:
        assert again.get("c").id == "c"


def test_what_was_written_is_there_when_it_is_opened_again(url: str) -> None:
    with recollect.open(url, user="alex") as store:
        store.append(store.create("c"), role="user", text="hi")
    for _ in range(3):
        with recollect.open(url, user="alex") as store:
            assert texts(store.read("c")) == ["hi"]
            assert store.verify().ok


def test_the_name_is_known_after_closing(store: recollect.Store) -> None:
    store.close()
    assert store.user == "alex"
    assert "alex" in repr(store)
    assert store.location


def test_other_stores_on_the_same_database_stay_open(store: recollect.Store, url: str) -> None:
    with recollect.open(url, user="alex") as other:
        store.create("c")
        other.append("c", role="user", text="x")
        store.close()
        assert other.append("c", role="user", text="y").seq == 2


def test_closing_under_readers_and_writers_breaks_nothing(open_store: Open, url: str) -> None:
    """Each call either happens or says that the store is closed."""
    store = open_store()
    c = store.create().id
    written: list[int] = []
    odd: list[BaseException] = []
    started = threading.Barrier(5)

    def work() -> None:
        started.wait()
        while True:
            try:
                written.append(store.append(c, role="user", text="x").seq)
                store.messages(c)
            except StoreClosed:
                return
            except BaseException as e:
                odd.append(e)
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    started.wait()
    while len(written) < 20 and not odd:
        pass
    store.close()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a caller hangs on a closed store"
    assert odd == []
    with recollect.open(url, user="alex") as again:
        assert [e.seq for e in again.read(c)] == sorted(written)
        assert again.verify().ok


def test_a_program_that_never_closes_ends_by_itself(url: str) -> None:
    code = (
        "import sys, recollect\nstore = recollect.open(sys.argv[1], user='alex')\n"
        "store.append(store.create('c'), role='user', text='hi')"
    )
    done = subprocess.run([sys.executable, "-c", code, url], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with recollect.open(url, user="alex") as store:
        assert texts(store.read("c")) == ["hi"]


def test_a_program_that_ends_with_work_in_the_background(url: str) -> None:
    code = (
        "import sys, recollect\nstore = recollect.open(sys.argv[1], user='alex')\n"
        "store.append_many(store.create('c'), [{'role': 'assistant', 'text': str(i)} for i in range(30)])"
    )
    done = subprocess.run([sys.executable, "-c", code, url], timeout=120, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with recollect.open(url, user="alex", background=False) as store:
        assert len(store.read("c", kinds=["message"])) == 30
        assert store.verify().ok


@pytest.mark.parametrize("backend", ["sqlite"])
def test_closing_leaves_one_file_and_its_lock(store: recollect.Store, tmp_path: Path) -> None:
    store.append_many(store.create(), exchange(4))
    store.messages(store.conversations()[0])
    store.close()
    assert sorted(f.name for f in tmp_path.iterdir()) == ["chat.db", "chat.db.lock"]
