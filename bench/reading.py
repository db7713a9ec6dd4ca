"""Opening a conversation, as a page does: the list of 1,000 conversations and the newest 50 messages of a long one."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import recollect

from . import Figure, Run, benchmark, most, raw
from .measure import environment, in_turns, p50, p95

_NEW_PROCESS = """
import sys, time
import recollect
start = time.perf_counter_ns()
store = recollect.open(sys.argv[1], user="local")
listed = store.conversations(limit=int(sys.argv[3]))
said = store.messages(sys.argv[2], limit=50)
print((time.perf_counter_ns() - start) / 1e6, len(listed), len(said))
"""


def build(path: Path, conversations: int = 1000, events: int = 10_000) -> str:
    """A store of many conversations, one of them long; returns the long one's id."""
    said = raw.text(200)
    with recollect.open(path, background=False) as store:
        for n in range(conversations - 1):
            c = store.create(title=f"Conversation {n}", workspace=f"/work/{n % 10}", metadata={"n": n})
            store.append(c.id, role="user", text=said)
        long = store.create(title="The long one").id
        for _ in range(events // 1000):
            store.append_many(long, [{"role": ("user", "assistant")[i % 2], "text": said} for i in range(1000)])
    return long


@benchmark
def opening(run: Run) -> Iterator[Figure]:
    """The list of 1,000 conversations plus the newest 50 messages of one with 10,000 events."""
    path = run.folder / "chat.db"
    long = build(path)
    rounds = run.rounds(200, 50)
    with recollect.open(path, background=False) as store:
        for limit in (50, 1000):
            warm, listed, said = in_turns(
                [
                    lambda: (store.conversations(limit=limit), store.messages(long, limit=50)),  # noqa: B023
                    lambda: store.conversations(limit=limit),  # noqa: B023
                    lambda: store.messages(long, limit=50),
                ],
                rounds,
            )
            what = "first 50 of 1,000 listed" if limit == 50 else "all 1,000 listed"
            note = f"list {p50(listed):.2f} ms, messages {p50(said):.2f} ms; p95 {p95(warm):.2f} ms"
            yield Figure(f"open a conversation, {what}, p50", p50(warm), None, "ms", most(10), note)

    def handle(limit: int) -> None:
        with recollect.open(path, background=False) as fresh:
            fresh.conversations(limit=limit)
            fresh.messages(long, limit=50)

    first, every = in_turns([lambda: handle(50), lambda: handle(1000)], run.rounds(100, 30))
    yield Figure("the same in a new handle, first 50", p50(first), None, "ms", most(10), "open() and close() included")
    yield Figure("the same in a new handle, all 1,000", p50(every), None, "ms", most(10), "open() and close() included")

    env = environment(run.folder)
    for limit, what in ((50, "first 50"), (1000, "all 1,000")):
        inside: list[float] = []
        whole: list[float] = []
        command = [sys.executable, "-c", _NEW_PROCESS, str(path), long, str(limit)]
        for r in range(run.rounds(20, 8) + 1):
            start = time.perf_counter_ns()
            out = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
            spent = (time.perf_counter_ns() - start) / 1e6
            taken, listed_count, said_count = out.split()
            assert (int(listed_count), int(said_count)) == (limit, 50)
            if r:
                whole.append(spent)
                inside.append(float(taken))
        note = f"open() included, start and import not; the whole process {p50(whole):.0f} ms"
        yield Figure(f"the same in a new process, {what}", p50(inside), None, "ms", most(10), note)
