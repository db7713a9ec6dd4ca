"""A store used before and after fork(): the child opens everything anew, and neither side takes from the other.

SQLite itself forbids this (https://www.sqlite.org/howtocorrupt.html, 2.6): its locks are the process's, its list of
open files is copied with memory. People do it all the same: gunicorn preloads, multiprocessing, os.fork in a test.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import multiprocessing
import os
import random
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import recollect
from talk import eventually

from .harness import Say, acknowledged, caught, check_file, figures, inside, seeds, texts, write_some

ROUNDS = 12


def forked(fn: Any) -> int:
    """Run fn in a forked child, which then ends without Python's own tidying; returns its pid."""
    pid = os.fork()
    if pid:
        return pid
    if sys.platform == "linux":  # should this test fail, nothing of it is left behind: the child dies with its parent
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    code = 1
    try:
        fn()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def wait(pid: int, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, f"the forked process ended with {status}"
            return
        if time.monotonic() > end:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            raise AssertionError(f"the forked process hung for {seconds} s")
        time.sleep(0.002)


def append(say: Say, store: recollect.Store, tag: str, conversation: str = "c") -> None:
    seq = store.append(conversation, role="user", text=texts(tag, 1)[0]).seq
    say("ack", tag, [seq])


def both_sides(say: Say, path: str, closes_first: str) -> None:
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    append(say, store, "before")
    store.read("c")
    told, tell = os.pipe()

    def child() -> None:
        append(say, store, "child-1")
        assert [e.text.split()[0] for e in store.read("c")][:1] == ["before"]
        if closes_first == "child":
            store.close()
            return
        os.read(told, 1)  # the parent has closed by now
        append(say, store, "child-2")
        store.close()

    pid = forked(child)
    append(say, store, "parent-1")
    if closes_first == "parent":
        store.close()
        os.write(tell, b".")
        wait(pid)
    else:
        wait(pid)
        append(say, store, "parent-2")
        store.close()


@pytest.mark.parametrize("closes_first", ["child", "parent"])
def test_parent_and_child_append_and_close(tmp_path: Path, closes_first: str) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(both_sides, path, closes_first))
    assert len(acked) == 4
    assert check_file(path, acked) == []


def third_party(say: Say, path: str) -> None:
    """The child works on while the parent, and then another process, open and close the same file: if SQLite in the
    child believed in the parent's locks, one of them would take the log away under its hands."""
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    append(say, store, "before")
    told, tell = os.pipe()
    answer, answered = os.pipe()

    def child() -> None:
        append(say, store, "child-first")
        os.write(answered, b".")
        os.read(told, 1)
        for n in range(20):
            append(say, store, f"child-{n}")
        os._exit(0)  # killed, as it were: nothing is closed

    pid = forked(child)
    os.read(answer, 1)
    store.close()
    other = forked(lambda: _open_and_append(say, path, "other"))
    wait(other)
    os.write(tell, b".")
    wait(pid)


def _open_and_append(say: Say, path: str, tag: str) -> None:
    with recollect.open(path, user="alex", background=False) as store:
        append(say, store, tag)


def test_the_child_holds_locks_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(third_party, path))
    assert len(acked) == 23
    assert check_file(path, acked) == []


def fork_amid_writers(say: Say, path: str, seed: int) -> None:
    rng = random.Random(seed)
    store = recollect.open(path, user="alex", background=False)
    for i in range(3):
        store.create(f"c{i}")
    stop = threading.Event()

    def work(number: int) -> None:
        mine = random.Random(seed * 31 + number)
        n = 0
        while not stop.is_set():
            tag = f"parent.{number}.{n}"
            say("ack", tag, write_some(store, f"c{number}", mine, tag))
            if n % 3 == 0:
                store.messages(f"c{number}")
            n += 1

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    pids = []
    for i in range(4):
        time.sleep(rng.uniform(0, 0.02))

        def child(i: int = i) -> None:
            mine = random.Random(seed * 37 + i)
            for n in range(5):
                tag = f"child.{i}.{n}"
                say("ack", tag, write_some(store, f"c{mine.randrange(3)}", mine, tag))
            store.messages("c0")
            if i % 2:
                store.close()

        pids.append(forked(child))
    for pid in pids:
        wait(pid)
    stop.set()
    for thread in threads:
        thread.join()
    store.close()


def test_a_fork_while_other_threads_write(tmp_path: Path) -> None:
    total = 0
    for i, seed in enumerate(seeds("fork amid writers", ROUNDS)):
        path = str(tmp_path / f"{i}.db")
        acked = acknowledged(inside(fork_amid_writers, path, seed))
        total += len(acked)
        assert sum(tag.startswith("child.") for tag in acked) == 20
        assert check_file(path, acked) == [], f"seed {seed}"
    figures("fork", rounds=ROUNDS, forks=ROUNDS * 4, acknowledged=total, lost=0)


def fork_amid_an_import(say: Say, path: str, folder: str) -> None:
    sys.path.insert(0, folder)
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    thread = threading.Thread(target=importlib.import_module, args=("slow_to_import",))
    thread.start()
    eventually(lambda: "slow_to_import" in sys.modules)
    wait(
        forked(
            lambda: say(
                "ack", importlib.import_module("slow_to_import").VALUE, store.append("c", role="user", text="x").seq
            )
        )
    )
    thread.join()
    store.close()


def test_a_fork_while_another_thread_imports_a_module(tmp_path: Path) -> None:
    """Locked in the child for ever, whatever needs it there would hang."""
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(1.5)\nVALUE = 'whole'\n")
    said = inside(fork_amid_an_import, str(tmp_path / "chat.db"), str(tmp_path))
    assert [message[1] for message in said if message[0] == "ack"] == ["whole"]


def memory_amid_writers(say: Say, seed: int) -> None:
    """Memory is copied: each side goes on with what was there, and sees nothing of the other's."""
    store = recollect.open(":memory:", user="alex", background=False)
    store.create("c")
    store.append("c", role="user", text=texts("before", 1)[0])
    stop = threading.Event()

    def work() -> None:
        n = 0
        while not stop.is_set():
            store.append("c", role="user", text=texts(f"thread.{n}", 1)[0])
            n += 1

    thread = threading.Thread(target=work)
    thread.start()
    rng = random.Random(seed)
    for i in range(6):
        time.sleep(rng.uniform(0, 0.01))

        def child(i: int = i) -> None:
            append(say, store, f"child.{i}")
            said = [e.text.split()[0] for e in store.read("c")]
            assert said[0] == "before", said
            assert said[-1] == f"child.{i}", said[-1]
            assert store.verify().ok
            store.close()

        wait(forked(child))
    stop.set()
    thread.join()
    said = [e.text.split()[0] for e in store.read("c")]
    assert not [tag for tag in said if tag.startswith("child")]
    assert store.verify().ok
    store.close()


def test_a_fork_with_a_store_in_memory() -> None:
    for seed in seeds("fork in memory", 4):
        assert len(acknowledged(inside(memory_amid_writers, seed))) == 6


def grandchildren(say: Say, path: str) -> None:
    store = recollect.open(path, user="alex", background=False)
    store.create("c")

    def down(depth: int) -> None:
        append(say, store, f"depth-{depth}")
        if depth < 4:
            wait(forked(lambda: down(depth + 1)))
        append(say, store, f"back-{depth}")

    down(0)
    store.close()


def test_a_fork_of_a_fork(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(grandchildren, path))
    assert len(acked) == 10
    assert check_file(path, acked) == []


def unused_then_forked(say: Say, path: str) -> None:
    """The store is opened before the fork and first used after it, on both sides; one child never uses it."""
    store = recollect.open(path, user="alex", background=False)
    idle = forked(lambda: None)
    first = forked(lambda: (store.create("c"), append(say, store, "child")))  # type: ignore[func-returns-value]
    wait(idle)
    wait(first)
    append(say, store, "parent")
    store.close()
    closed = forked(lambda: _refused(store))
    wait(closed)


def _refused(store: recollect.Store) -> None:
    with pytest.raises(recollect.errors.StoreClosed):
        store.conversations()


def test_opened_before_and_used_after(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(unused_then_forked, path))
    assert check_file(path, acked) == []
    assert len(acked) == 2


# -- multiprocessing -------------------------------------------------------------------------------------------------

_shared: recollect.Store | None = None


def _inherited(i: int) -> list[Any]:
    assert _shared is not None
    return [f"pool.{i}", [_shared.append("c", role="user", text=texts(f"pool.{i}", 1)[0]).seq]]


def _reopened(path: str, i: int) -> list[Any]:
    with recollect.open(path, user="alex", background=False) as store:
        return [f"pool.{i}", [store.append("c", role="user", text=texts(f"pool.{i}", 1)[0]).seq]]


def pool_by_fork(say: Say, path: str) -> None:
    global _shared
    _shared = recollect.open(path, user="alex", background=False)
    _shared.create("c")
    append(say, _shared, "before")
    with multiprocessing.get_context("fork").Pool(3) as pool:
        for tag, seqs in pool.imap_unordered(_inherited, range(40)):
            say("ack", tag, seqs)
    append(say, _shared, "after")
    _shared.close()


def pool_by_spawn(say: Say, path: str) -> None:
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    append(say, store, "before")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for tag, seqs in pool.starmap(_reopened, [(path, i) for i in range(10)]):
            say("ack", tag, seqs)
    append(say, store, "after")
    store.close()


@pytest.mark.parametrize(("how", "expected"), [(pool_by_fork, 42), (pool_by_spawn, 12)])
def test_multiprocessing(tmp_path: Path, how: Any, expected: int) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(how, path, may_have_children=True))
    assert len(acked) == expected
    assert check_file(path, acked) == []


# -- async -----------------------------------------------------------------------------------------------------------


def async_store(say: Say, path: str) -> None:
    async def before() -> recollect.AsyncStore:
        store = await recollect.open_async(path, user="alex", background=False)
        await store.create("c")
        event = await store.append("c", role="user", text=texts("before", 1)[0])
        say("ack", "before", [event.seq])
        return store

    async def one(store: recollect.AsyncStore, tag: str) -> None:
        event = await store.append("c", role="user", text=texts(tag, 1)[0])
        say("ack", tag, [event.seq])
        await store.close()

    store = asyncio.run(before())
    pid = forked(lambda: asyncio.run(one(store, "child")))
    wait(pid)
    asyncio.run(one(store, "parent"))


def test_an_async_store_is_used_after_a_fork(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    acked = acknowledged(inside(async_store, path))
    assert len(acked) == 3
    assert check_file(path, acked) == []


# -- the control -----------------------------------------------------------------------------------------------------


def naive(say: Say, path: str) -> None:
    """What happens to a store that does not notice the fork: the child takes the inherited engine for its own."""
    store = recollect.open(path, user="alex", background=False)
    store.create("c")
    db: Any = store._db
    engine = db._engine

    def child() -> None:
        engine.pid = os.getpid()
        db._engine = engine
        threading.Thread(target=lambda: (time.sleep(2), os._exit(7)), daemon=True).start()
        append(say, store, "child")

    pid = forked(child)
    wait(pid)


def test_control_a_store_that_ignores_the_fork_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"ended with|hung"):
        inside(naive, str(tmp_path / "chat.db"))
    caught("fork", "a store that takes the inherited connection for its own")
