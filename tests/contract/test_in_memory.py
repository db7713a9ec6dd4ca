"""enabled=False, ":memory:": everything works, nothing is kept."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import eventually, exchange, seqs, texts


@pytest.fixture(params=["disabled", "disabled with a path", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    if request.param == "memory":
        opened = recollect.open(":memory:", user="alex")
    elif request.param == "disabled":
        opened = recollect.open(user="alex", enabled=False)
    else:
        opened = recollect.open(tmp_path / "chat.db", user="alex", enabled=False)
    with opened:
        yield opened


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_every_verb_works_and_no_file_appears(
    store: recollect.Store, tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for delay in ("log.EMBED_DELAY_MS", "handle.EMBED_DELAY_MS", "log.CONSOLIDATE_DELAY_MS"):
        monkeypatch.setattr(f"recollect.verbs.{delay}", 600_000)  # not in the background, before it is settled
    c = store.create("c", workspace="/w").id
    store.append_many(c, exchange(8))
    store.append(c, role="assistant", text="a", reasoning="r")
    store.append(c, kind="ledger", task_id="t", goal="g")
    store.record_workflow_event(c, {"type": "workflow.start"})
    store.fork(c, 3, name="idea", switch=True)
    store.append(c, role="user", text="on the idea")
    store.switch(c, "main")
    assert len(store.read(c, branch="*")) == 13
    assert store.summarize(c)
    assert store.formatted_history(c)
    assert store.ledger(c)
    assert store.reasoning(c)
    assert store.stats().events == 14
    store.rename(c, "N")
    store.delete_event(c, 1)
    store.delete(c)
    store.restore(c)
    assert store.verify().ok
    store.clear(c)
    store.erase(conversation=c)
    assert store.settle() == 1, "what was said is embedded"
    store.compact()
    assert store.location == "memory"
    assert files(tmp_path) == []
    assert not own_environment.exists()


def test_refusals_are_the_same(store: recollect.Store) -> None:
    with pytest.raises(NotFound):
        store.get("nobody")
    c = store.create().id
    with pytest.raises(InvalidInput):
        store.append_many(c, [{"role": "user", "text": "x"}, {"kind": "reasoning", "message": 99}])
    assert store.read(c) == []


def test_threads_share_it(store: recollect.Store) -> None:
    c = store.create().id
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda i: store.append(c, role="user", text=str(i)).seq, range(100)))
    assert sorted(numbers) == list(range(1, 101)) == seqs(store.read(c))


def test_users_are_apart(store: recollect.Store) -> None:
    store.create("c")
    with pytest.raises(NotFound):
        store.for_user("kim").get("c")


def test_the_background_works_there_too(store: recollect.Store) -> None:
    c = store.create().id
    store.append_many(c, exchange(21))
    eventually(lambda: store.read(c, kinds=["summary"]))


def test_two_are_strangers() -> None:
    with recollect.open(":memory:", user="alex") as one, recollect.open(":memory:", user="alex") as two:
        one.create("c")
        with pytest.raises(NotFound):
            two.get("c")


def test_by_environment(monkeypatch: pytest.MonkeyPatch, own_environment: Path) -> None:
    monkeypatch.setenv("RECOLLECT_ENABLED", "off")
    with recollect.open(user="alex") as store:
        store.append(store.create("c"), role="user", text="hi")
        assert texts(store.read("c")) == ["hi"]
    assert not own_environment.exists()


def test_a_postgres_address_is_not_called_when_persistence_is_off() -> None:
    with recollect.open("postgresql://nobody@127.0.0.1:1/none", user="alex", enabled=False) as store:
        store.create()
        assert store.location == "memory"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_goes_on_with_its_copy() -> None:
    with recollect.open(":memory:", user="alex") as store:
        store.create("c")
        read, write = os.pipe()
        assert threading.active_count() >= 1
        pid = os.fork()
        if pid == 0:
            try:
                seq = store.append("c", role="user", text="in the child").seq
                os.write(write, str(seq).encode())
            finally:
                os._exit(0)
        os.close(write)
        assert os.read(read, 10) == b"1"
        os.close(read)
        os.waitpid(pid, 0)
        assert store.read("c") == []
