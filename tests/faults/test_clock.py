"""Clocks that jump, and clocks that disagree: order follows the sequence, never the clock. On both databases."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import recollect
from recollect import ids

from .harness import Child, Say, caught, check, figures, seeds, texts

HOUR = 3_600_000
DAY = 24 * HOUR
YEAR = 365 * DAY


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the clock: it stands still at the given time."""

    def set_to(at: int) -> None:
        monkeypatch.setattr(ids, "now", lambda: at)

    set_to(1_800_000_000_000)
    return set_to


def test_the_clock_jumps_backwards(store: recollect.Store, clock: Callable[[int], None], backend: str) -> None:
    (seed,) = seeds("clock jumps", 1)
    rng = random.Random(seed)
    at = 1_800_000_000_000
    store.create("c")
    acked: dict[str, list[int] | None] = {}
    backwards = 0
    for n in range(120):
        jump = rng.choice((1, 0, -1, -HOUR, -DAY, DAY, -20 * YEAR, 20 * YEAR))
        backwards += jump < 0
        at = max(0, at + jump)
        clock(at)
        acked[f"t{n}"] = [store.append("c", role="user", text=texts(f"t{n}", 1)[0]).seq]
    in_order = [f"t{n}" for n in range(120)]
    assert [acked[tag] for tag in in_order] == [[n + 1] for n in range(120)]
    assert [e.text.split()[0] for e in store.read("c")] == in_order
    assert [e.text.split()[0] for e in store.messages("c", limit=10)] == in_order[-10:]
    assert check(store, acked) == []
    branch = store.fork("c", at=60)
    clock(0)
    store.append("c", role="user", text=texts("on-the-branch", 1)[0], branch=branch)
    assert [e.seq for e in store.read("c", branch=branch)] == [*range(1, 61), 121]
    figures(f"clock-{backend}", events=120, jumps_backwards=backwards, out_of_order=0)


def test_summaries_and_jobs_live_with_a_clock_that_jumps(url: str, clock: Callable[[int], None], backend: str) -> None:
    # Without the background: whose turn it is to summarize is not what is tested here.
    with recollect.open(url, user="alex", background=False) as store:
        summaries_and_jobs(store, clock)


def summaries_and_jobs(store: recollect.Store, clock: Callable[[int], None]) -> None:
    now = 1_800_000_000_000
    store.create("c")
    sent = []
    for n in range(30):
        clock(now - n * DAY)  # each message is older than the one before
        sent.append(store.append("c", role="assistant" if n % 2 else "user", text=texts(f"t{n}", 1)[0]).seq)
    summary = store.summarize("c")
    assert summary is not None
    assert summary.payload["covers"] == [sent[0], sent[23]]
    shown = store.messages("c", limit=None)
    assert [e.kind for e in shown] == ["summary"] + ["message"] * 6
    assert [e.seq for e in shown[1:]] == sent[24:]
    clock(now - YEAR)
    store.settle()
    clock(now + YEAR)
    store.settle()
    assert not store.stats().jobs
    assert check(store, {}) == []


def test_the_list_follows_activity(store: recollect.Store, clock: Callable[[int], None]) -> None:
    now = 1_800_000_000_000
    for n, name in enumerate("abcde"):
        clock(now - n * DAY)  # the one made last has the oldest time
        store.create(name)
        store.append(name, role="user", text=texts(name, 1)[0])
    assert [c.id for c in store.conversations()] == list("edcba")
    clock(0)
    store.append("b", role="user", text=texts("b2", 1)[0])
    assert [c.id for c in store.conversations()] == list("bedca")
    clock(now + 20 * YEAR)
    store.append("d", role="user", text=texts("d2", 1)[0])
    clock(1)
    store.append("a", role="user", text=texts("a2", 1)[0])
    assert [c.id for c in store.conversations()] == list("adbec")
    pages = []
    cursor = None
    while page := store.conversations(limit=2, cursor=cursor):
        pages += [c.id for c in page]
        cursor = page[-1].cursor
    assert pages == list("adbec")


def test_ids_made_while_the_clock_stands_still_differ(clock: Callable[[int], None]) -> None:
    clock(1_800_000_000_000)
    assert len({ids.new() for _ in range(10_000)}) == 10_000


def elsewhere(say: Say, url: str, name: str, offset: int, turns: int) -> None:
    """Another machine, whose clock is off."""
    real = ids.now
    ids.now = lambda: real() + offset
    with recollect.open(url, user="alex", background=False) as store:
        say("ready")
        for n in range(turns):
            event = store.append("c", role="user", text=texts(f"{name}.{n}", 1)[0])
            say("ack", f"{name}.{n}", [event.seq])


def test_two_machines_whose_clocks_differ(store: recollect.Store, url: str) -> None:
    """Each machine's own events stand in the order in which it wrote them, and all of them in the order of the numbers."""
    store.create("c")
    with Child(elsewhere, url, "fast", 3 * DAY, 60) as fast, Child(elsewhere, url, "slow", -3 * DAY, 60) as slow:
        said = [*fast.finish(), *slow.finish()]
    acked: dict[str, Any] = {line[1]: line[2] for line in said if line[0] == "ack"}
    assert check(store, acked) == []
    events = store.read("c")
    assert [e.seq for e in events] == list(range(1, 121))
    for name in ("fast", "slow"):
        mine = [e for e in events if e.text.startswith(name)]
        assert [e.text.split()[0] for e in mine] == [f"{name}.{n}" for n in range(60)]
    newest = store.messages("c", limit=20)
    assert [e.seq for e in newest] == list(range(101, 121))


# -- the control -----------------------------------------------------------------------------------------------------


def test_control_an_order_by_the_clock_is_caught(store: recollect.Store, clock: Callable[[int], None]) -> None:
    store.create("c")
    for n in range(10):
        clock(1_800_000_000_000 - n)
        store.append("c", role="user", text=texts(f"t{n}", 1)[0])
    by_clock = sorted(store.read("c"), key=lambda e: e.created_at)
    assert [e.text.split()[0] for e in by_clock] != [f"t{n}" for n in range(10)]
    caught("clock", "an order by the clock")
