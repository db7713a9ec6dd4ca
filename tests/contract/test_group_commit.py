"""Requests that are committed together stay strangers to each other: what fails takes nobody with it."""

import itertools
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

import recollect
from recollect import events, jobs
from recollect.db import wal, writer
from recollect.errors import FileReplaced
from recollect.redact import Gate
from talk import Open, eventually

if TYPE_CHECKING:
    from recollect.db import Tx


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollect.Store]:
    with recollect.open(tmp_path / "chat.db", background=False) as opened:
        yield opened


def together(store: recollect.Store, *verbs: Callable[[], object]) -> list[object]:
    """Call verbs while the writer is held up, so that it finds them all queued. What each returned or raised."""
    held, go = threading.Event(), threading.Event()
    results: list[object] = [None] * len(verbs)

    def hold(_tx: "Tx") -> None:
        held.set()
        go.wait(60)

    def call(n: int) -> None:
        try:
            results[n] = verbs[n]()
        except Exception as e:
            results[n] = e

    threads = [threading.Thread(target=lambda: store._write(hold))]
    threads[0].start()
    assert held.wait(60)
    for n in range(len(verbs)):
        threads.append(threading.Thread(target=call, args=(n,)))
        threads[-1].start()
        # One after the other, so that they are queued in this order.
        waiting = store._db._engine._queue  # type: ignore[attr-defined]
        assert eventually(lambda n=n, waiting=waiting: waiting.qsize() > n)
    go.set()
    for t in threads:
        t.join()
    return results


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request is a transaction of its own, and all that are queued are written while the gate is held."""
    monkeypatch.setattr(writer, "MAX_BATCH_SECONDS", 0)
    monkeypatch.setattr(writer, "TURN_SECONDS", 60)


def hits(store: recollect.Store, word: str) -> int:
    return sum(word in hit.text for hit in store.search(word))


def test_one_that_fails_fails_alone(store: recollect.Store) -> None:
    a, b = store.create("a").id, store.create("b").id
    found = together(
        store,
        lambda: store.append(a, role="user", text="an apricot").seq,
        lambda: store.append(b, role="user", text="a banana").seq,
        lambda: store.append("nowhere", role="user", text="a cherry"),
        lambda: store.append(a, role="user", text="a date").seq,
        lambda: store.append(b, kind="reasoning", text="an elderberry", message=10**9),
        lambda: store.append(b, role="user", text="a fig").seq,
    )
    assert [n for n in found if isinstance(n, int)] == [1, 1, 2, 2]
    assert isinstance(found[2], recollect.errors.NotFound)
    assert isinstance(found[4], recollect.errors.InvalidInput)
    for fruit, times in {"apricot": 1, "banana": 1, "cherry": 0, "date": 1, "elderberry": 0, "fig": 1}.items():
        assert hits(store, fruit) == times, fruit
    assert store.verify().ok


def test_a_failure_after_looking_takes_back_only_its_own(store: recollect.Store) -> None:
    """To look means that the words of the others are written first, inside what is then rolled back."""
    c = store.create("c").id

    def append_look_fail(tx: "Tx") -> None:
        store._append(tx, c, [store._prepare(c, {"role": "user", "text": "a quince"})], None)
        assert len(tx.find_words("words", {"apricot": 1}, (), 10)) == 1
        raise ValueError("no")

    found = together(
        store,
        lambda: store.append("nowhere", role="user", text="from here on with savepoints"),
        lambda: store.append(c, role="user", text="an apricot").seq,
        lambda: store._write(append_look_fail),
        lambda: store.append(c, role="user", text="a date").seq,
    )
    assert isinstance(found[2], ValueError)
    assert [found[1], found[3]] == [1, 2]
    assert [hits(store, fruit) for fruit in ("apricot", "quince", "date")] == [1, 0, 1]
    assert store.verify().ok


def test_a_person_who_comes_to_be_in_a_failing_batch(store: recollect.Store) -> None:
    ada, ben = store.for_user("ada"), store.for_user("ben")
    found = together(
        store,
        lambda: ada.create("one").id,
        lambda: ben.rename("nothing", "x"),
        lambda: ben.create("one").id,
        lambda: ada.append("one", role="user", text="an apricot").seq,
    )
    assert [found[0], *found[2:]] == ["one", "one", 1]
    assert isinstance(found[1], recollect.errors.NotFound)
    assert [c.id for c in ben.conversations()] == ["one"]
    assert hits(ada, "apricot") == 1
    assert hits(ben, "apricot") == 0


def test_cleared_between_two_appends_of_one_batch(store: recollect.Store) -> None:
    """Numbers are never given twice, and of the words only what came after is found."""
    c = store.create("c").id
    store.append(c, role="user", text="an apricot")
    before = store._read(lambda tx: tx.user)
    found = together(
        store,
        lambda: store.append(c, role="user", text="a banana").seq,
        lambda: store.clear(c),
        lambda: store.append(c, role="user", text="a date").seq,
    )
    assert (found[0], found[2]) == (2, 3)
    assert store._read(lambda tx: tx.user) == before
    assert [hits(store, fruit) for fruit in ("apricot", "banana", "date")] == [0, 0, 1]
    assert store.verify().ok


def test_a_job_is_queued_again_after_another_process_took_it(open_store: Open) -> None:
    """The writer remembers what is queued, as long as that is true."""
    first, second = (open_store(background=False, memory_extract=True) for _ in range(2))
    c = first.create().id
    for n in range(3):
        first.append(c, role="user", text=f"I live in town number {n}.")
        queued = first.stats().jobs["queued"]
        assert queued >= 1
        assert second.settle() >= 1
        assert "queued" not in first.stats().jobs
        first.append(c, role="user", text=f"I moved to village number {n}.")
        assert first.stats().jobs["queued"] == queued
        assert first.settle() >= 1


def test_a_job_of_a_request_that_failed_is_not_taken_for_queued(store: recollect.Store) -> None:
    def ask_and_fail(tx: "Tx") -> None:
        jobs.enqueue(tx, "prune", "all", delay_ms=60_000)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store._write(ask_and_fail)
    assert store.stats().jobs == {}
    together(
        store,
        lambda: store.create("c"),
        lambda: store._write(ask_and_fail),
        lambda: store._write(lambda tx: jobs.enqueue(tx, "prune", "all", delay_ms=60_000)),
    )
    assert store.stats().jobs == {"queued": 1}


def test_words_that_cannot_be_written_fail_alone(store: recollect.Store) -> None:
    """They are written at the end of the batch, when nobody knows whose they were."""

    def poison(tx: "Tx") -> None:
        tx.index_words("words", [(tx.ticks(1)[0], "half of a pair: \ud800", "")])

    c = store.create("c").id
    found = together(
        store,
        lambda: store.append(c, role="user", text="an apricot").seq,
        lambda: store._write(poison),
        lambda: store.append(c, role="user", text="a banana").seq,
    )
    assert (found[0], found[2]) == (1, 2)
    assert isinstance(found[1], UnicodeEncodeError)
    assert [hits(store, fruit) for fruit in ("apricot", "banana")] == [1, 1]
    with pytest.raises(UnicodeEncodeError):
        store._write(poison)
    assert store.append(c, role="user", text="a cherry").seq == 3
    assert store.verify().ok


def test_what_is_run_again_asks_for_vectors_again(tmp_path: Path) -> None:
    """A search that meets no vectors has them made, once: also when its request was run twice."""
    with recollect.open(tmp_path / "chat.db", background=False, semantic=False) as plain:
        plain.append(plain.create("c").id, role="user", text="an apricot")
    with recollect.open(tmp_path / "chat.db", background=False, semantic=True) as store:
        found = together(
            store, lambda: store.search("apricot"), lambda: store.append("nowhere", role="user", text="a cherry")
        )
        assert isinstance(found[1], recollect.errors.NotFound)
        store.settle()
        assert store._read(lambda tx: tx.all("select count(*) from vectors where user_no = :user"))[0][0] == 1


def test_background_work_lets_callers_go_first(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RUSH_SECONDS", 3.0)  # however slow the machine: sixteen in a row are a rush
    monkeypatch.setattr(jobs, "POLL_SECONDS", 60.0)  # it is not awake by itself before the last of them
    store = open_store(background=False)
    ran_at: list[float] = []
    worker = jobs.Worker(store._db, {"mine": lambda user, key: ran_at.append(time.monotonic())}, Gate())
    store._write(lambda tx: jobs.enqueue(tx, "mine", "all"))
    worker.wake(store._user, 60_000)
    began = time.monotonic()
    for _ in range(jobs.RUSH - 1):
        worker.wake(store._user, 60_000)
    worker.wake(store._user)
    try:
        assert eventually(lambda: ran_at), "it goes on when they pause"
    finally:
        worker.stop()
    assert ran_at[0] - began > 3.0


def test_callers_who_are_served_together_are_in_a_hurry_too(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RUSH_SECONDS", 5.0)
    store = open_store(background=False)
    ran_at: list[float] = []
    worker = jobs.Worker(store._db, {"mine": lambda user, key: ran_at.append(time.monotonic())}, Gate())
    monkeypatch.setattr(store, "_worker", worker)
    monkeypatch.setattr(store, "_settings", store.settings.but(background=True, memory_extract=True))
    store._write(lambda tx: jobs.enqueue(tx, "mine", "all"))
    began = time.monotonic()
    try:
        store._append_each([(f"s{i}", None, None, [{"kind": "note", "text": "x"}], False) for i in range(jobs.RUSH)])
        assert eventually(lambda: ran_at)
    finally:
        worker.stop()
    assert ran_at[0] - began > 5.0, "after two seconds it was due"


def test_background_work_lets_a_question_go_first(open_store: Open) -> None:
    store = open_store(background=False)
    done = threading.Event()
    worker = jobs.Worker(store._db, {"mine": lambda user, key: done.set()}, Gate())
    store._write(lambda tx: jobs.enqueue(tx, "mine", "all"))
    try:
        with worker.questions:
            worker.wake(store._user)
            assert not done.wait(1.0)
        assert done.wait(60)
    finally:
        worker.stop()


def test_background_work_does_not_wait_for_ever(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RUSH_SECONDS", 1_000.0)
    monkeypatch.setattr(jobs, "PATIENCE_SECONDS", 100.0)
    monkeypatch.setattr(jobs, "PAUSE_SECONDS", 20.0)
    monkeypatch.setattr(jobs.time, "sleep", lambda seconds, real=time.sleep: real(min(seconds, 0.01)))
    store = open_store(background=False)
    done = threading.Event()
    worker = jobs.Worker(store._db, {"mine": lambda user, key: done.set()}, Gate())
    store._write(lambda tx: jobs.enqueue(tx, "mine", "all"))
    for _ in range(jobs.RUSH + 1):
        worker.wake(store._user, 200)
    try:
        assert done.wait(60)
    finally:
        worker.stop()


def test_background_work_takes_a_tenth_while_callers_hurry(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by how long it asked to sleep: how long that took says more about the machine."""
    monkeypatch.setattr(jobs, "PATIENCE_SECONDS", 0.0)
    store = open_store(background=False)
    slept: list[float] = []
    rested: list[float] = []
    done = threading.Event()
    real = time.sleep

    def sleep(seconds: float) -> None:
        if threading.current_thread() is worker._thread:
            slept.append(seconds)
        real(seconds)

    def long_work(user: str, key: str) -> None:
        for rush in (1_000.0, 0.0):  # callers are in a hurry; and now they pause
            monkeypatch.setattr(jobs, "RUSH_SECONDS", rush)
            worker.give_way()
            slept.clear()
            before = time.thread_time()
            while time.thread_time() - before < 0.02:
                pass
            worker.give_way()
            rested.append(sum(slept))
        done.set()

    monkeypatch.setattr(jobs.time, "sleep", sleep)
    worker = jobs.Worker(store._db, {"mine": long_work}, Gate())
    store._write(lambda tx: jobs.enqueue(tx, "mine", "all"))
    worker.wake(store._user, calls=jobs.RUSH)
    try:
        assert done.wait(60)
    finally:
        worker.stop()
    assert rested[0] >= 9 * 0.02
    assert rested[1] == 0


def test_what_the_writer_remembers_ends_where_somebody_else_writes(open_store: Open) -> None:
    """It does not ask again for what it has read and nobody has changed: conversations, counters, what was erased."""
    mine, other = open_store(), open_store()
    mine.create("c")
    events = [
        (mine, other)[n % 2].append("c", role="user", text=f"{n}", **({"key": f"k{n}"} if n % 3 else {}))
        for n in range(8)
    ]  # fmt: skip
    assert [event.seq for event in events] == list(range(1, 9))
    assert [event.text for event in mine.read("c")] == [event.text for event in events]
    other.rename("c", "another")
    mine.append("c", role="user", text="last")
    assert mine.get("c").title == "another"
    other.delete("c")
    with pytest.raises(recollect.errors.ConversationDeleted):
        mine.append("c", role="user", text="too late")
    other.restore("c")
    mine.append("c", role="user", text="again")
    other.erase(conversation="c")
    with pytest.raises(recollect.errors.Erased):
        mine.append("c", role="user", text="too late")
    other.create("c", again=True)
    assert mine.append("c", role="user", text="anew").seq == 1
    assert mine.verify().ok


def test_what_the_writer_remembers_is_forgotten_with_what_failed(store: recollect.Store) -> None:
    store.create("c")
    store.append("c", role="user", text="1")

    def fails(tx: "Tx") -> None:
        tx.run("update conversations set last_seq = 70 where user_no = :user")
        assert tx.known("conversations", "c", lambda: tx.one("select 1")) == (1,)
        tx.ticks(5)
        raise ValueError

    with pytest.raises(ValueError):
        store._write(fails)
    assert store.append("c", role="user", text="2").seq == 2
    results = together(store, lambda: store.append("c", role="user", text="3"), lambda: store._write(fails))
    assert results[0].seq == 3  # type: ignore[attr-defined]
    assert isinstance(results[1], ValueError)
    assert store.append("c", role="user", text="4").seq == 4
    assert [event.seq for event in store.read("c")] == [1, 2, 3, 4]


def test_who_looks_sees_what_others_of_the_batch_have_appended(store: recollect.Store) -> None:
    """Their rows are written together at the end, but before anyone asks."""
    a, b = store.create("a").id, store.create("b").id
    store.append(a, role="user", text="so that the writer knows it")

    def look(tx: "Tx") -> object:
        return tx.all("select c.id, c.last_seq, e.seq from conversations c join events e on e.conversation_no = c.no"
                      " where c.user_no = :user order by c.id, e.seq")  # fmt: skip

    found = together(
        store,
        lambda: store.append(a, role="user", text="two").seq,
        lambda: store.append(b, role="user", text="one").seq,
        lambda: store.append(a, role="user", text="three").seq,
        lambda: store._write(look),
        lambda: store.append(a, role="user", text="four", key="k").seq,
        lambda: store.append(a, role="user", text="four again", key="k").seq,
        lambda: store.fork(a, at=4).name,
        lambda: store.append(a, role="user", text="five", branch="main").seq,
    )
    assert [found[n] for n in (0, 1, 2, 4, 5)] == [2, 1, 3, 4, 4]
    assert found[3] == [("a", 3, 1), ("a", 3, 2), ("a", 3, 3), ("b", 1, 1)]
    assert [e.text for e in store.read(a, branch="main")] == [
        "so that the writer knows it",
        "two",
        "three",
        "four",
        "five",
    ]
    assert [c.last_seq for c in store.conversations()] == [5, 1]
    assert store.verify().ok


def test_rows_that_cannot_be_written_fail_alone(store: recollect.Store) -> None:
    """They are met at the end of the batch, when it is no longer known whose they are."""
    c, d = store.create("c").id, store.create("d").id

    def twice(tx: "Tx") -> None:
        rows = [(tx.user, 1, 0, tx.ticks(1)[0], 1, "user", "the same number twice", 0, 0)] * 2
        tx.put_off(events.INSERT_PLAIN, rows)

    found = together(
        store,
        lambda: store.append(c, role="user", text="an apricot").seq,
        lambda: store._write(twice),
        lambda: store.append(d, role="user", text="a banana").seq,
        lambda: store.append(c, role="user", text="a date").seq,
    )
    assert isinstance(found[1], Exception)
    assert [found[n] for n in (0, 2, 3)] == [1, 1, 2]
    assert [e.text for e in store.read(c)] == ["an apricot", "a date"]
    assert [hits(store, fruit) for fruit in ("apricot", "banana", "date", "number")] == [1, 1, 1, 0]
    assert store.verify().ok


@pytest.mark.usefixtures("one_by_one")
def test_nobody_waits_for_the_long_work_of_another(store: recollect.Store) -> None:
    """A caller may be told while the next batch is committed, but not after somebody's long transaction."""
    c = store.create("c").id
    begun, go = threading.Event(), threading.Event()
    told: list[int] = []

    def long(_tx: "Tx") -> None:
        begun.set()
        go.wait(60)

    def hold_and_queue(_tx: "Tx") -> None:
        """In the transaction of the first append: so the long one is the next."""
        threads[1].start()
        waiting = store._db._engine._queue  # type: ignore[attr-defined]
        assert eventually(lambda: waiting.qsize() > 0)

    threads = [
        threading.Thread(target=lambda: told.append(store._write(lambda tx: (hold_and_queue(tx), 1)[1], brief=True))),
        threading.Thread(target=lambda: store._write(long)),
    ]
    store.append(c, role="user", text="the writer is there")
    threads[0].start()
    assert begun.wait(60)
    threads[0].join(30)
    assert told == [1]
    go.set()
    for t in threads:
        t.join()


def test_many_writers_and_a_long_one_lose_nothing(store: recollect.Store) -> None:
    own = [store.create().id for _ in range(6)]

    def talk(c: str) -> None:
        for n in range(60):
            assert store.append(c, role="user", text=f"number {n}").seq == n + 1

    def import_some() -> None:
        for _ in range(5):
            store.append_many(own[0], [])
            store.append_many(store.create().id, [{"role": "user", "text": f"old {n}"} for n in range(300)])

    threads = [threading.Thread(target=talk, args=(c,)) for c in own] + [threading.Thread(target=import_some)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [store.get(c).last_seq for c in own] == [60] * 6
    assert sorted(c.last_seq for c in store.conversations(limit=20)) == [60] * 6 + [300] * 5
    assert store.verify().ok


def test_the_log_of_those_who_write_a_little_and_leave_does_not_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook is gone before it is idle, and counts only its own pages; a server keeps the file open meanwhile."""
    monkeypatch.setattr(wal, "MAX_PAGES", 100)
    with recollect.open(tmp_path / "chat.db", background=False) as stays:
        c = stays.create().id
        sizes = []
        for n in range(24):
            with recollect.open(tmp_path / "chat.db", background=False) as leaves:
                leaves.append_many(c, [{"role": "user", "text": f"word{n} " * 500} for _ in range(20)])
            sizes.append((tmp_path / "chat.db-wal").stat().st_size // 4120)
        assert sizes[0] < 100
        assert sizes[-1] < 300
        assert stays.get(c).last_seq == 480


def test_the_log_of_who_goes_on_writing_is_made_longer_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To sync a file that has become longer takes twice as long. What a killed process leaves behind is whole all the same."""
    monkeypatch.setattr(
        writer, "IDLE_SECONDS", 60
    )  # a slow machine is not idle: the log would begin at its start again
    log = tmp_path / "chat.db-wal"
    said = [f"line {n}" for n in range(40)]
    with recollect.open(tmp_path / "chat.db", background=False) as store:
        c = store.create().id
        sizes = []
        for text in said:
            store.append(c, role="user", text=text)
            sizes.append(log.stat().st_size)
        assert sizes[0] < wal.ROOM < sizes[-1]
        assert sum(a != b for a, b in itertools.pairwise(sizes)) < 10
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"chat.db{suffix}", tmp_path / f"killed.db{suffix}")
    with recollect.open(tmp_path / "killed.db", background=False) as again:
        assert [event.text for event in again.read(c)] == said
        assert again.verify().ok
        again.append(c, role="user", text="and on")
        assert again.get(c).last_seq == 41


def test_two_who_write_do_not_drive_each_others_log_up(tmp_path: Path) -> None:
    """Each took the room that the other had made for growth of its own, and made some more: a megabyte a commit."""
    log = tmp_path / "chat.db-wal"
    with (
        recollect.open(tmp_path / "chat.db", user="kim", background=False) as one,
        recollect.open(tmp_path / "chat.db", user="lee", background=False) as other,
    ):
        c, d = one.create().id, other.create().id
        for n in range(40):
            one.append(c, role="user", text=f"line {n}")
            other.append(d, role="user", text=f"line {n}")
        assert log.stat().st_size < 6 * wal.ROOM


@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be moved there")
def test_the_log_of_a_file_that_took_our_place_is_left_alone(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "here", tmp_path / "there"
    folder.mkdir()
    with recollect.open(folder / "chat.db", background=False) as moved:
        c = moved.create().id
        moved.append(c, role="user", text="before it is moved away")
        folder.rename(elsewhere)
        folder.mkdir()
        with recollect.open(folder / "chat.db", background=False) as new:
            new.create()
            size = (folder / "chat.db-wal").stat().st_size
            for n in range(20):
                with pytest.raises(FileReplaced):
                    moved.append(c, role="user", text=f"line {n}")
            assert (folder / "chat.db-wal").stat().st_size == size


def test_no_room_for_a_longer_log_is_no_error(store: recollect.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, refused = os.open, []

    def full(path: str, *how: int) -> int:
        if str(path).endswith("-wal"):
            refused.append(path)
            raise OSError(28, "No space left on device")
        return opened(path, *how)

    monkeypatch.setattr(os, "open", full)
    c = store.create().id
    for n in range(10):
        store.append(c, role="user", text=f"line {n}")
    assert store.get(c).last_seq == 10
    assert len(refused) == 1, "it is not tried again"


@pytest.mark.usefixtures("one_by_one")
def test_nobody_who_is_written_waits_for_a_file_that_is_locked(
    store: recollect.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a foreign program, or by a checkpoint that waits for a long read."""
    monkeypatch.setattr(writer, "BUSY_TRIES", 100_000)  # it is locked for as long as this test likes
    c = store.create("c").id
    engine = store._db._engine  # type: ignore[attr-defined]
    foreign = apsw.Connection(str(tmp_path / "chat.db"))
    told: list[int] = []
    fill = engine._fill

    def lock_first(first: object, batch: object) -> bool:
        if engine._written:
            foreign.execute("begin immediate")
        return bool(fill(first, batch))

    def queue_another(_tx: "Tx") -> int:
        threads[1].start()
        assert eventually(lambda: engine._queue.qsize() > 0)
        return 1

    threads = [
        threading.Thread(target=lambda: told.append(store._write(queue_another, brief=True))),
        threading.Thread(target=lambda: told.append(store.append(c, role="user", text="an apricot").seq + 1)),
    ]
    engine._fill = lock_first
    threads[0].start()
    threads[0].join(30)
    assert told == [1]
    assert foreign.in_transaction
    foreign.execute("commit")
    threads[1].join()
    assert told == [1, 2]
    foreign.close()


def test_closing_while_the_last_commit_fails(tmp_path: Path) -> None:
    """That it is the last is not forgotten with what failed: closing would wait until it gives up."""
    store = recollect.open(tmp_path / "chat.db", background=False, busy_timeout_ms=90_000)
    c = store.create("c").id
    engine = store._db._engine  # type: ignore[attr-defined]
    held, go = threading.Event(), threading.Event()
    failed: list[Exception] = []

    def fails() -> None:
        raise apsw.IOError("no")

    def hold(_tx: "Tx") -> None:
        held.set()
        go.wait(60)

    def write(verb: Callable[[], object]) -> None:
        try:
            verb()
        except recollect.errors.StorageError as e:
            failed.append(e)

    engine._commit = fails
    threads = [
        threading.Thread(target=write, args=(lambda: store._write(hold),)),
        threading.Thread(target=write, args=(lambda: store.append(c, role="user", text="an apricot"),)),
        threading.Thread(target=store.close),
    ]
    threads[0].start()
    assert held.wait(60)
    for n, thread in enumerate(threads[1:]):
        thread.start()
        assert eventually(lambda n=n: engine._queue.qsize() > n)
    go.set()
    for thread in threads:
        thread.join(30)
    assert not threads[2].is_alive()
    assert len(failed) == 2


@pytest.mark.parametrize(
    ("entry", "is_brief"),
    [
        ({"role": "user", "text": "a word"}, True),
        ({"role": "user", "text": "a word " * 1_000_000}, False),
        ({"role": "user", "text": "a word", "payload": {"all": "a word " * 1_000_000}}, False),
        ({"role": "assistant", "text": "a word", "reasoning": "a word " * 1_000_000}, False),
        ({"role": "assistant", "text": "a word", "payload": {"some": 1}, "reasoning": "a thought"}, True),
    ],
)
def test_who_is_written_does_not_wait_for_a_book(
    store: recollect.Store, monkeypatch: pytest.MonkeyPatch, entry: Any, is_brief: bool
) -> None:
    """Few as they are: 20 MB in one message take 180 ms."""
    c = store.create("c").id
    write, asked = store._db.write, []

    def spy(user: str, fn: Any, brief: bool = False) -> Any:
        asked.append(brief)
        return write(user, fn, brief=brief)

    monkeypatch.setattr(store._db, "write", spy)
    store.append(c, **entry)
    assert asked == [is_brief]


def test_a_gate_that_cannot_be_left_harms_nobody_who_is_written(tmp_path: Path) -> None:
    """What fails behind the commit is not theirs, and the writer goes on."""
    store = recollect.open(tmp_path / "chat.db", background=False, busy_timeout_ms=60_000)
    c = store.create("c").id
    engine = store._db._engine  # type: ignore[attr-defined]

    class Stuck:
        def __init__(self, gate: Any) -> None:
            self.gate, self.close = gate, gate.close

        def __enter__(self) -> None:
            self.gate.__enter__()

        def __exit__(self, *exc: object) -> None:
            self.gate.__exit__(*exc)
            raise OSError("no")

    gate, engine._gate = engine._gate, Stuck(engine._gate)
    told: list[int] = []
    # Not in this thread: who is answered twice, or never, waits for ever.
    appends = [
        threading.Thread(target=lambda: told.append(store.append(c, role="user", text="an apricot").seq), daemon=True)
        for _ in range(3)
    ]
    for thread in appends:
        thread.start()
        thread.join(30)
    assert told == [1, 2, 3]
    engine._queue.put(None)  # as `close` does
    engine._thread.join(30)
    engine._gate = gate
    store.close()
    assert not engine._thread.is_alive()
