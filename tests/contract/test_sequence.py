"""Numbers: 1, 2, 3, ... without a gap or a duplicate, whoever appends, from wherever."""

import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import recollect
from talk import seqs

EACH = 40


def append_some(url: str, user: str, conversation: str, who: int, n: int = EACH) -> list[int]:
    with recollect.open(url, user=user) as store:
        return [store.append(conversation, role="user", text=f"{who}:{i}").seq for i in range(n)]


PROGRAM = """
import sys, recollect
url, user, conversation, who, n = sys.argv[1:]
with recollect.open(url, user=user) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for i in range(int(n)):
        print(store.append(conversation, role="user", text=f"{who}:{i}").seq)
"""


def check(store: recollect.Store, conversation: str, answers: list[list[int]]) -> None:
    """Every answer is true, every number is there once, and each writer's events stand in its own order."""
    events = store.read(conversation, branch="*")
    n = sum(len(a) for a in answers)
    assert seqs(events) == list(range(1, n + 1))
    assert sorted(seq for a in answers for seq in a) == list(range(1, n + 1))
    by_seq = {e.seq: e.text for e in events}
    for who, answer in enumerate(answers):
        assert [by_seq[seq] for seq in answer] == [f"{who}:{i}" for i in range(len(answer))]
        assert answer == sorted(answer)
    assert store.get(conversation).last_seq == n
    assert store.verify().ok


def test_threads_sharing_a_store(store: recollect.Store) -> None:
    c = store.create().id
    start = threading.Barrier(8)

    def work(who: int) -> list[int]:
        start.wait()
        return [store.append(c, role="user", text=f"{who}:{i}").seq for i in range(EACH)]

    with ThreadPoolExecutor(8) as pool:
        check(store, c, list(pool.map(work, range(8))))


def test_threads_with_a_store_each(store: recollect.Store, url: str) -> None:
    c = store.create().id
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda who: append_some(url, "alex", c, who), range(4)))
    check(store, c, answers)


def test_spawned_processes(store: recollect.Store, url: str) -> None:
    c = store.create().id
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        answers = pool.starmap(append_some, [(url, "alex", c, who) for who in range(3)], chunksize=1)
        pool.close()
        pool.join()
    check(store, c, answers)


def test_independent_programs_starting_together(store: recollect.Store, url: str) -> None:
    c = store.create().id
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, url, "alex", c, str(who), str(EACH)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in range(4)
    ]
    for p in programs:
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
    for p in programs:
        assert p.stdin is not None
        p.stdin.write("go\n")
        p.stdin.flush()
    answers = [[int(line) for line in p.communicate()[0].split()] for p in programs]
    assert [p.returncode for p in programs] == [0] * 4
    check(store, c, answers)


def test_a_program_can_make_the_store_while_another_does(url: str) -> None:
    """Four programs open a database that is not there yet; all of them get in."""
    code = "import sys, recollect\nwith recollect.open(sys.argv[1], user=sys.argv[2]) as s: print(s.create().id)"
    programs = [
        subprocess.Popen([sys.executable, "-c", code, url, f"user {i}"], stdout=subprocess.PIPE, text=True)
        for i in range(4)
    ]
    made = [p.communicate()[0].strip() for p in programs]
    assert [p.returncode for p in programs] == [0] * 4
    for i, id in enumerate(made):
        with recollect.open(url, user=f"user {i}") as store:
            assert store.get(id).id == id
            assert store.verify().ok


def test_batches_of_several_writers_stay_together(store: recollect.Store) -> None:
    c = store.create().id
    with ThreadPoolExecutor(6) as pool:
        batches = list(
            pool.map(
                lambda who: seqs(store.append_many(c, [{"role": "user", "text": f"{who}"}] * 25)),
                range(6),
            )
        )
    for numbers in batches:
        assert numbers == list(range(numbers[0], numbers[0] + 25))
    assert sorted(n for numbers in batches for n in numbers) == list(range(1, 151))


def test_the_same_key_from_many_threads_is_one_event(store: recollect.Store) -> None:
    c = store.create().id
    with ThreadPoolExecutor(8) as pool:
        events = list(pool.map(lambda _: store.append(c, role="user", text="x", key="k"), range(32)))
    assert {e.seq for e in events} == {1}
    assert len(store.read(c)) == 1


def test_the_same_key_from_many_processes_is_one_event(store: recollect.Store, url: str) -> None:
    c = store.create().id
    code = (
        "import sys, recollect\nwith recollect.open(sys.argv[1], user='alex') as s:\n"
        "    for i in range(30): s.append(sys.argv[2], role='user', text='x', key=str(i))"
    )
    programs = [subprocess.Popen([sys.executable, "-c", code, url, c]) for _ in range(3)]
    assert [p.wait() for p in programs] == [0] * 3
    assert sorted(int(e.key or "") for e in store.read(c)) == list(range(30))
    assert store.get(c).last_seq == 30


def test_failures_in_between_leave_no_gap(store: recollect.Store) -> None:
    c = store.create().id

    def work(i: int) -> int:
        try:
            return store.append(c, kind="reasoning", text="t", message=10**9 if i % 3 == 0 else None).seq
        except recollect.errors.InvalidInput:
            return 0

    with ThreadPoolExecutor(8) as pool:
        numbers = [n for n in pool.map(work, range(90)) if n]
    assert sorted(numbers) == list(range(1, 61))
    assert store.verify().ok


def test_branches_share_the_conversations_numbers(store: recollect.Store) -> None:
    c = store.create().id
    for name in ("a", "b", "c"):
        store.fork(c, 0, name=name)
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda i: store.append(c, role="user", text=str(i), branch=("main", "a", "b", "c")[i % 4]), range(80)
            )
        )
    assert seqs(store.read(c, branch="*")) == list(range(1, 81))
    assert [len(store.read(c, branch=b)) for b in ("main", "a", "b", "c")] == [20] * 4


def test_users_and_conversations_created_at_once(store: recollect.Store) -> None:
    def work(i: int) -> int:
        mine = store.for_user(f"user {i % 5}")
        return mine.append(mine.create(str(i)), role="user", text="hi").seq

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(40))) == {1}
    for i in range(5):
        assert len(store.for_user(f"user {i}").conversations()) == 8


def test_creating_the_same_id_at_once_gives_it_to_one(store: recollect.Store) -> None:
    def work(_: int) -> bool:
        try:
            return bool(store.create("same"))
        except recollect.errors.AlreadyExists:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(16))) == 1


@pytest.mark.parametrize("threads", [4])
def test_readers_see_whole_batches_only(store: recollect.Store, threads: int) -> None:
    c = store.create().id
    done = threading.Event()
    seen: list[int] = []

    def watch() -> None:
        while True:  # once at least
            last = done.is_set()
            seen.append(len(store.read(c)))
            if last:
                return

    with ThreadPoolExecutor(threads) as pool:
        watching = [pool.submit(watch) for _ in range(threads - 1)]
        for _ in range(15):
            store.append_many(c, [{"role": "user", "text": "x"}] * 7)
        done.set()
        for w in watching:
            w.result()
    assert seen
    assert {n % 7 for n in seen} == {0}
