"""What encryption costs: the same store twice, one with a key, measured in turns."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import recollect
from recollect import crypt

from . import Figure, Run, benchmark, raw, times
from .corpus import build
from .measure import environment, in_turns, p50, p95
from .search import questions
from .start import OURS

KEY = "a1" * 32
WARM_UP = 30


def busy(call: Callable[[], Any]) -> float:
    """The processor's time of all threads, in milliseconds."""
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e6


@benchmark
def encryption(run: Run) -> Iterator[Figure]:
    """Insert, search, open and start with a key, against the same without."""
    yield from _writing(run)
    yield from _searching(run)
    yield from _starting(run)


def _writing(run: Run) -> Iterator[Figure]:
    said = raw.text(400)
    with (
        recollect.open(run.folder / "plain.db", background=False) as plain,
        recollect.open(run.folder / "locked.db", background=False, key=KEY) as locked,
    ):
        c, d = plain.create().id, locked.create().id
        ours, reference = in_turns(
            [lambda: locked.append(d, role="user", text=said), lambda: plain.append(c, role="user", text=said)],
            run.rounds(3000, 800),
            warm_up=50,
        )
        yield Figure(
            "encrypted insert p50, 400 characters", p50(ours), p50(reference), "ms", times(1.6), "plain, same run"
        )
        yield Figure("encrypted insert p95, 400 characters", p95(ours), p95(reference), "ms", None, "plain, same run")
        entries: list[recollect.Entry] = [{"role": "user", "text": said} for _ in range(1000)]
        ours, reference = in_turns(
            [lambda: locked.append_many(d, entries), lambda: plain.append_many(c, entries)], run.rounds(30, 10)
        )
        yield Figure("encrypted batch of 1,000", p50(ours), p50(reference), "ms", times(1.6), "plain, same run")


def _searching(run: Run) -> Iterator[Figure]:
    size = run.rounds(100_000, 10_000)
    path, other = run.folder / "search.db", run.folder / "search-locked.db"
    build(path, size, memories=500)
    shutil.copyfile(path, other)
    start = time.perf_counter()
    crypt.encrypt(other, KEY)
    run.say(f"{size:,} events encrypted and compared in {time.perf_counter() - start:.1f} s")
    asked = questions(WARM_UP + run.rounds(300, 100))
    with (
        recollect.open(path, user="alex", background=False) as plain,
        recollect.open(other, user="alex", background=False, key=KEY) as locked,
    ):
        for verb in ("search", "context"):
            turns = iter([q for q in asked for _ in range(2)])
            ours, reference = in_turns(
                [lambda: getattr(locked, verb)(next(turns)), lambda: getattr(plain, verb)(next(turns))],  # noqa: B023
                len(asked) - WARM_UP,
                warm_up=WARM_UP,
            )
            about = f"encrypted {verb} over {size:,} events"
            yield Figure(f"{about}, p50", p50(ours), p50(reference), "ms", times(1.3), "plain, same run")
            yield Figure(f"{about}, p95", p95(ours), p95(reference), "ms", times(1.3), "plain, same run")


def _starting(run: Run) -> Iterator[Figure]:
    env = environment(run.folder)
    key_file = run.folder / "the.key"
    key_file.write_text(KEY)
    key_file.chmod(0o600)
    paths = {"plain": run.folder / "plain-start.db", "locked": run.folder / "locked-start.db"}
    for name, path in paths.items():
        with recollect.open(path, key=KEY if name == "locked" else None) as store:
            store.create("c")

    def program(name: str) -> None:
        own = env | ({"RECOLLECT_KEY_FILE": str(key_file)} if name == "locked" else {})
        subprocess.run([sys.executable, "-c", OURS, str(paths[name]), "hello"], check=True, env=own)

    ours, reference = in_turns([lambda: program("locked"), lambda: program("plain")], run.rounds(40, 15), warm_up=3)
    yield Figure("new process, one append, with a key file", p50(ours), p50(reference), "ms", None, "plain, same run")
    taken = [busy(lambda: recollect.open(run.folder / f"phrase-{n}.db", key=f"words {n}").close()) for n in range(3)]  # noqa: B023
    yield Figure("a passphrase, once in a process", p50(taken), None, "ms", None, "scrypt, 32 MB; processor's time")
