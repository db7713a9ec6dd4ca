"""Background work: durable, done once, tried again, visible."""

import subprocess
import sys
import threading
import time

import pytest

import recollect
from recollect import ids
from talk import Open, Raw, eventually, exchange, texts


def queue_some(store: recollect.Store, n: int) -> list[str]:
    """n conversations that each want a summary."""
    made = [store.create().id for _ in range(n)]
    for c in made:
        store.append_many(c, exchange(21))
    return made


def summaries(store: recollect.Store, c: str) -> int:
    return len(store.read(c, kinds=["summary"]))


def test_a_job_outlives_the_process_that_queued_it(open_store: Open) -> None:
    first = open_store(background=False)
    (c,) = queue_some(first, 1)
    first.close()
    again = open_store(background=False)
    assert again.stats().jobs == {"queued": 1}
    assert summaries(again, c) == 0
    assert again.settle() == 1
    assert summaries(again, c) == 1
    assert again.stats().jobs == {}


def test_asking_twice_is_asking_once(open_store: Open) -> None:
    store = open_store(background=False)
    (c,) = queue_some(store, 1)
    for _ in range(5):
        store.append_many(c, exchange(2))
    assert store.stats().jobs == {"queued": 1}
    assert store.settle() == 1
    assert summaries(store, c) == 1


def test_settle_with_nothing_to_do(store: recollect.Store) -> None:
    assert store.settle() == 0


def test_a_job_that_has_become_needless_does_nothing(open_store: Open) -> None:
    store = open_store(background=False)
    (c,) = queue_some(store, 1)
    assert store.summarize(c)
    store.settle()
    assert summaries(store, c) == 1
    assert store.stats().jobs == {}


def test_the_job_of_a_deleted_conversation_goes_away(open_store: Open) -> None:
    store = open_store(background=False)
    (c,) = queue_some(store, 1)
    store.delete(c)
    store.settle()
    assert store.stats().jobs == {}
    assert store.stats().job_errors == ()


def test_one_users_settle_does_that_users_jobs(open_store: Open) -> None:
    store = open_store(background=False)
    kim = store.for_user("kim")
    (mine,), (hers,) = queue_some(store, 1), queue_some(kim, 1)
    assert store.stats().jobs == kim.stats().jobs == {"queued": 1}
    assert store.settle() == 1
    assert (summaries(store, mine), summaries(kim, hers)) == (1, 0)
    assert kim.settle() == 1
    assert summaries(kim, hers) == 1


def test_the_background_does_every_users_jobs(store: recollect.Store) -> None:
    kim = store.for_user("kim")
    (mine,), (hers,) = queue_some(store, 1), queue_some(kim, 1)
    eventually(lambda: summaries(store, mine) and summaries(kim, hers))


SETTLE = """
import sys, recollect
with recollect.open(sys.argv[1], user="alex", background=False) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    print(store.settle())
"""


def test_two_processes_settling_at_once_do_each_job_once(open_store: Open, url: str) -> None:
    store = open_store(background=False)
    made = queue_some(store, 12)
    programs = [
        subprocess.Popen([sys.executable, "-c", SETTLE, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for p in programs:
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
    for p in programs:
        assert p.stdin is not None
        p.stdin.write("go\n")
        p.stdin.flush()
    done = [int(p.communicate()[0]) for p in programs]
    assert [p.returncode for p in programs] == [0, 0]
    assert sum(done) == 12
    assert [summaries(store, c) for c in made] == [1] * 12
    assert store.stats().jobs == {}


# -- what fails

Broken = tuple[recollect.Store, str, str]


@pytest.fixture
def broken(open_store: Open, raw: Raw) -> Broken:
    """A store with a job that cannot be done: the summary it should fold in is damaged."""
    store = open_store(background=False)
    (c,) = queue_some(store, 1)
    store.settle()
    store.append_many(c, exchange(21, start=22))
    (kept,) = raw("select payload from events where kind = 'summary'")[0]
    raw("update events set payload = '{broken' where kind = 'summary'")
    return store, c, kept


def test_a_failed_job_stays_and_says_why(broken: Broken) -> None:
    store, _, _ = broken
    assert store.settle() == 0
    assert store.stats().jobs == {"queued": 1}
    (error,) = store.stats().job_errors
    assert "summarize" in error
    assert "1 attempts" in error


def test_it_is_tried_again_later_and_later(broken: Broken, raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _, _ = broken
    now = ids.now()
    monkeypatch.setattr(ids, "now", lambda: now)  # a clock that stands: how long a try takes is no part of the wait
    waits = []
    for _ in range(4):
        raw("update jobs set run_at = 0")
        store.settle()
        waits.append(raw("select run_at from jobs")[0][0] - now)
    assert waits == sorted(waits)
    assert waits[3] > 3 * waits[1] > 3 * waits[0] > 0


def test_settle_tries_again_what_waits_for_a_later_try(broken: Broken, raw: Raw) -> None:
    store, c, kept = broken
    assert store.settle() == 0
    raw("update events set payload = '" + kept.replace("'", "''") + "' where kind = 'summary'")
    assert store.settle() == 1
    assert store.stats().jobs == {}
    assert store.stats().job_errors == ()
    assert "_Summarized 36 messages._" in store.messages(c, limit=None)[0].text


def test_after_the_last_try_it_stays_as_failed(broken: Broken, raw: Raw) -> None:
    store, _, _ = broken
    for _ in range(10):
        raw("update jobs set run_at = 0 where state = 'queued'")
        store.settle()
    assert store.stats().jobs == {"failed": 1}
    assert len(store.stats().job_errors) == 1


def test_a_failed_job_does_not_stop_the_others(broken: Broken) -> None:
    store, _, _ = broken
    (other,) = queue_some(store, 1)
    assert store.settle() == 1
    assert summaries(store, other) == 1


def test_a_new_reason_starts_it_again_after_it_failed_for_good(broken: Broken, raw: Raw) -> None:
    store, c, kept = broken
    raw("update jobs set state = 'failed', attempts = 6")
    raw("update events set payload = '" + kept.replace("'", "''") + "' where kind = 'summary'")
    store.append_many(c, exchange(2))
    assert store.settle() == 1


def test_no_job_is_left_claimed_by_a_settle_that_returned(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when the next try is due at once."""
    monkeypatch.setattr("recollect.jobs.BACKOFF_MS", 0)
    store, _, _ = broken
    store.settle()
    assert "running" not in store.stats().jobs


def test_a_job_whose_process_died_is_taken_over(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False)
    (c,) = queue_some(store, 1)
    raw("update jobs set state = 'running', lease_until = 1, attempts = 1")
    assert store.settle() == 1
    assert summaries(store, c) == 1


def test_a_job_that_another_process_is_doing_is_left_to_it(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False)
    queue_some(store, 1)
    raw(f"update jobs set state = 'running', lease_until = {2**62}, attempts = 1")
    assert store.settle() == 0
    assert store.stats().jobs == {"running": 1}


def test_a_job_of_an_unknown_kind_is_kept_with_its_error(open_store: Open, raw: Raw) -> None:
    """A newer version may have queued it."""
    store = open_store(background=False)
    store.create()
    raw(
        "insert into jobs (user_no, kind, key, state, run_at, created_at)"
        " select no, 'from the future', '1', 'queued', 0, 0 from users"
    )
    assert store.settle() == 0
    assert "from the future" in store.stats().job_errors[0]


def test_closing_leaves_queued_work_queued(open_store: Open) -> None:
    store = open_store(background=False)
    queue_some(store, 3)
    store.close()
    assert open_store(background=False).stats().jobs == {"queued": 3}


def test_closing_ends_long_work_and_puts_it_back(open_store: Open, raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to itself, the thread would be inside C++ when the interpreter ends, which aborts the process."""
    monkeypatch.setattr("recollect.jobs.STOP_SECONDS", 60.0)  # a part of it may take long where others use the machine
    store = open_store(memory_extract=True)
    c = store.create("c").id
    store.append_many(c, [{"role": "user", "text": f"I live at number {n} and like tea."} for n in range(3000)])
    assert eventually(lambda: store.stats().jobs.get("running") == 1)
    thread = store._worker._thread
    assert thread is not None
    store.close()
    assert not thread.is_alive()
    assert raw("select kind, state, attempts, last_error from jobs") == [("consolidate", "queued", 0, None)]
    with open_store(background=False) as again:
        assert again.stats().jobs == {"queued": 1}


def test_work_done_in_the_background_shows_to_other_handles(store: recollect.Store, open_store: Open) -> None:
    (c,) = queue_some(store, 1)
    other = open_store()
    eventually(lambda: summaries(other, c))
    assert texts(other.messages(c, limit=None))[1:] == [f"message {i}" for i in range(16, 22)]


def test_settle_waits_for_what_this_process_is_doing_already(open_store: Open) -> None:
    begun = threading.Event()

    def slow(prompt: str) -> str:
        begun.set()
        time.sleep(1.0)
        return "They talked."

    store = open_store(background=True, model=slow)
    (c,) = queue_some(store, 1)
    assert begun.wait(60)
    store.settle()
    assert summaries(store, c) == 1
    assert "running" not in store.stats().jobs


def test_stopped_in_the_moment_in_which_it_goes_to_sleep(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between asking whether it is to stop and clearing what wakes it: it slept on for five seconds, and closing gave up."""
    monkeypatch.setattr("recollect.jobs.POLL_SECONDS", 300.0)
    store = open_store(background=True)
    worker = store._worker
    stopped = threading.Event()

    class Late(threading.Event):
        def clear(self) -> None:
            worker._stopping = True
            self.set()
            stopped.set()
            super().clear()

    worker._wake = Late()
    worker.wake(store.user, 300_000)
    assert stopped.wait(60)
    thread = worker._thread
    assert thread is not None
    thread.join(30)
    assert not thread.is_alive()
