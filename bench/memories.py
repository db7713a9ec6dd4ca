"""Memories: what it costs to turn what is said into them, a turn at a time, while a scope is full."""

import time
from collections.abc import Iterator

import recollect

from . import Figure, Run, benchmark, most, times
from .measure import p50, p95

NAMES = "Ana Ben Cleo Dan Eva Finn Gia Hugo Ida Jon Kaya Leo Mia Noa Otto Pia Quin Rosa Sam Tea".split()
PLACES = "Porto Lisbon Berlin Madrid Oslo Rome Vienna Paris Prague Turin".split()


def turn(i: int) -> str:
    """Of ten turns five say something to remember: new, known, changed; the others are talk and questions."""
    who, where = NAMES[i % 20], PLACES[i // 20 % 10]
    return (
        f"My friend {who} lives in {where}.",
        "What do you think about that?",
        f"I live in {where}.",
        f"ok, let us look at part {i} of the report together, the numbers still look odd",
        f"Remember that the {who.lower()}{i} service runs on port {8000 + i}.",
        "thanks, that works",
        f"I prefer {where} time over UTC.",
        f"could you run it once more for {who}?",
        f"todo: call {who} about item {i}",
        "hm, the tests of yesterday failed again",
    )[i % 10]


@benchmark
def consolidation(run: Run) -> Iterator[Figure]:
    """1,000 turns consolidated one by one without a model, 200 memories in scope; CPU time, and whether it stays flat."""
    turns = run.rounds(1000, 300)
    with recollect.open(run.folder / "chat.db", background=False, semantic=False) as store:
        c = store.create("c")
        for i in range(200):
            store.append(c, role="user", text=f"Remember that the thing{i} of {NAMES[i % 20]} costs {i} euros.")
        store.consolidate(c)
        held = store.stats().memories["active"]
        cpu: list[float] = []
        for i in range(turns):
            store.append(c, role="user", text=turn(i))
            start = time.process_time_ns()
            store.consolidate(c)
            cpu.append((time.process_time_ns() - start) / 1e6)
        run.say(f"{held} memories at first, {store.stats().memories} at the end")
        tenth = turns // 4
        note = f"p50 {p50(cpu):.2f} ms, most {max(cpu):.1f} ms; {held} in scope at first"
        yield Figure(f"consolidate, a turn, p95 of {turns:,}", p95(cpu), None, "ms", most(5), note)
        first, last = p50(cpu[:tenth]), p50(cpu[-tenth:])
        yield Figure("consolidate, the last quarter against the first", last, first, "ms", times(1.5), "CPU time, p50")
        d = store.create("d")
        store.append_many(d, [{"role": "user", "text": turn(i)} for i in range(turns)])
        start = time.process_time_ns()
        store.consolidate(d)
        each = (time.process_time_ns() - start) / 1e6 / turns
        yield Figure(f"consolidate, {turns:,} turns at once, each", each, None, "ms", most(5), "CPU time, mean")
