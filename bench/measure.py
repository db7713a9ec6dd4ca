"""Clocks, medians, and the facts of the machine that give a figure its meaning."""

import math
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sync = getattr(os, "fdatasync", os.fsync)


def percentile(values: Sequence[float], p: float) -> float:
    """By nearest rank: the smallest value with p of all values at or under it."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(p * len(ranked)) - 1)]


def p50(values: Sequence[float]) -> float:
    return percentile(values, 0.50)


def p95(values: Sequence[float]) -> float:
    return percentile(values, 0.95)


def ms(fn: Callable[[], Any]) -> float:
    """How long one call takes, in milliseconds, not counting what it takes to throw its answer away."""
    start = time.perf_counter_ns()
    answer = fn()
    end = time.perf_counter_ns()
    del answer
    return (end - start) / 1e6


def in_turns(calls: Sequence[Callable[[], Any]], rounds: int, *, warm_up: int = 5) -> list[list[float]]:
    """Milliseconds of every call, one list for each. They take turns, and who begins changes with every round: what
    the machine does meanwhile, and what one call leaves behind for the next, falls on all of them."""
    taken: list[list[float]] = [[] for _ in calls]
    order = list(range(len(calls)))
    for r in range(rounds + warm_up):
        for i in order:
            t = ms(calls[i])
            if r >= warm_up:
                taken[i].append(t)
        order.append(order.pop(0))
    return taken


def unindexed(call: Callable[[], Any]) -> Callable[[], Any]:
    """The same call, its events not indexed: what the log costs alone."""
    from recollect.search import index

    def bare() -> Any:
        kept = index.event_terms
        index.event_terms = lambda *said: None
        try:
            return call()
        finally:
            index.event_terms = kept

    return bare


def fsync_ms(folder: Path, rounds: int = 300) -> float:
    """p50 of making one appended page durable, which is what every commit waits for."""
    path = folder / "fsync-probe"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    page = os.urandom(4096)
    try:
        taken = []
        for _ in range(rounds):
            os.write(fd, page)
            taken.append(ms(lambda: sync(fd)))
        return p50(taken)
    finally:
        os.close(fd)
        path.unlink()


def environment(folder: Path) -> dict[str, str]:
    """The environment of a new process: a home of its own, so that the developer's settings stay out, and compiled
    modules as an installed package has them, even where this source tree has none (the first process makes them)."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RECOLLECT_", "XDG_", "PYTHONDONTWRITE"))}
    return kept | {"HOME": str(home), "PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def machine(folder: Path) -> dict[str, Any]:
    import apsw

    import recollect

    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "file_system": _file_system(folder),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "recollect": recollect.__version__,
        "fsync_p50_ms": round(fsync_ms(folder), 4),
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _file_system(folder: Path) -> str:
    if sys.platform != "linux":
        return "?"
    best, kind = -1, "?"
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        point = left.split(" ")[4]
        if folder.resolve().is_relative_to(point) and len(point) >= best:
            best, kind = len(point), right.split(" ")[0]
    return kind


def stolen() -> float:
    """Seconds that the machine under this one has kept its processors to itself so far; 0 where nobody says so."""
    try:
        with open("/proc/stat", encoding="ascii") as f:
            return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
