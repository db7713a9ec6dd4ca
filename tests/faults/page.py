"""docs/faults.md, made from what the tests in this folder measured: `make faults-page`.

    RECOLLECT_FIGURES=1 python -m pytest tests/faults && python tests/faults/page.py

Each test writes its figures to test-artifacts/faults/<name>.json. This page names every fault, what must hold, what was
measured and what the negative control showed; a fault without figures stands there as not measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "test-artifacts" / "faults"
PAGE = ROOT / "docs" / "faults.md"

Figures = dict[str, dict[str, Any]]


class Fault(NamedTuple):
    name: str
    figures: str
    """The name of the file with its figures; with a `*`, of several that are added up."""
    holds: str
    measured: Callable[[Figures], str]
    control: str
    """The first part of the names of its controls' files: each is written by a control that caught what it had to."""


def one(found: Figures) -> dict[str, Any]:
    return next(iter(found.values()))


def added(found: Figures, key: str) -> int:
    return sum(int(figures.get(key, 0)) for figures in found.values())


def answers(found: Figures) -> str:
    total: dict[str, int] = {}
    for figures in found.values():
        for name, count in figures.get("answers", {}).items():
            total[name] = total.get(name, 0) + count
    return ", ".join(f"{count:,} x {name}" for name, count in sorted(total.items()))


FAULTS = (
    Fault(
        "fork() while threads write",
        "fork",
        "parent and child go on, each with connections and locks of its own; nothing acknowledged is lost",
        lambda f: f"{one(f)['forks']} forks, {one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost",
        "fork",
    ),
    Fault(
        "kill -9 at random",
        "kill",
        "nothing acknowledged is lost; a batch is there whole or not at all; no gap, no duplicate; counters and indexes "
        "equal the rows",
        lambda f: (
            f"{one(f)['rounds']} kills, {one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost, "
            f"{one(f)['half_batches']} half batches"
        ),
        "kill",
    ),
    Fault(
        "kill -9 at named points (creation, migration, commit, checkpoint, summary, job, backup, erase, compact, restore)",
        "kill-point-*",
        "what was under way is done or not begun, and can be done again",
        lambda f: f"{len(f)} points, {added(f, 'rounds')} kills, {added(f, 'failures')} failures",
        "points",
    ),
    Fault(
        "power cut (a VFS that drops or tears what was not synced)",
        "power-cut",
        "nothing acknowledged is lost, the file is sound",
        lambda f: (
            f"{one(f)['cuts']:,} cuts, {one(f)['acknowledged']:,} acknowledged events looked for, "
            f"{one(f)['lost']} lost or damaged"
        ),
        "power-cut",
    ),
    Fault(
        "8 processes write at once for 20 s",
        "crowd",
        "no write finds the store locked; the slowest writes at least a quarter of the fastest; nobody waits for more than "
        "1 s while the others write",
        lambda f: (
            f"{one(f)['appends']:,} appends ({one(f)['per_second']:,}/s), {one(f)['busy_errors']} locked, slowest to "
            f"fastest {one(f)['slowest_to_fastest']}, longest wait {one(f)['longest_wait_s']} s"
        ),
        "crowd",
    ),
    Fault(
        "disk full (a file system of 4 MB)",
        "disk-full",
        "`DiskFull`, nothing acknowledged lost, reads go on, work resumes when there is space",
        lambda f: f"{one(f)['refused']} times refused, {one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost",
        "disk",
    ),
    Fault(
        "each write, sync and truncation of SQLite fails in turn",
        "bad-disk-*",
        "a typed error; what an error called not written is not there; the open store works on",
        lambda f: f"{added(f, 'rounds'):,} faults, {added(f, 'lost')} lost; {answers(f)}",
        "disk",
    ),
    Fault(
        "flipped bits, lost, swapped and noisy pages, files cut short",
        "damage",
        "refused with a typed error, found by `verify()`, or without any effect on what is read",
        lambda f: (
            f"{one(f)['rounds']} damaged files: {one(f).get('refused', 0)} refused, {one(f).get('found', 0)} found, "
            f"{one(f).get('harmless', 0)} without effect, {one(f)['unnoticed']} unnoticed"
        ),
        "damage",
    ),
    Fault(
        "salvage after 64 flipped bytes",
        "salvage-64-bytes",
        "at least 98.5 % of the events are saved unchanged; the new store verifies",
        lambda f: (
            f"{one(f)['saved_worst']:.2%} at worst, {one(f)['saved_mean']:.2%} on average, of {one(f)['events']:,} "
            "events"
        ),
        "salvage",
    ),
    Fault(
        "salvage after a zeroed page",
        "salvage-a-zeroed-page",
        "everything but the page is saved",
        lambda f: (
            f"{one(f)['rounds']} pages, {one(f)['saved_worst']:.2%} at worst, of {one(f)['events']:,} events; never "
            "more lost than the page held"
        ),
        "salvage",
    ),
    Fault(
        "Postgres killed and restarted under load",
        "postgres-killed",
        "nothing acknowledged lost, nothing twice, typed errors meanwhile, no reopening",
        lambda f: (
            f"{one(f)['kills']} kills, {one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost, "
            f"{one(f)['twice']} twice; {answers(f)}"
        ),
        "postgres",
    ),
    Fault(
        "Postgres connections cut in the middle of transactions",
        "postgres-cut",
        "the same",
        lambda f: (
            f"{one(f)['cuts']} cuts, {one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost, "
            f"{one(f)['twice']} twice; {answers(f)}"
        ),
        "postgres",
    ),
    Fault(
        "the answer to a COMMIT is lost",
        "postgres-commit",
        "the server is asked what became of it: written once, or written once more by us",
        lambda f: (
            f"{one(f)['lost_before']} commits cut off before, {one(f)['lost_after']} after they were done; "
            f"{one(f)['acknowledged']:,} acknowledged, {one(f)['lost']} lost, {one(f)['twice']} twice"
        ),
        "postgres",
    ),
    Fault(
        "serialisation failures and deadlocks",
        "postgres-[sd]e*",
        "repeated, at most once each",
        lambda f: (
            f"{added(f, 'failures')} serialisation failures, {added(f, 'deadlocks')} deadlocks, "
            f"{added(f, 'lost')} lost, {added(f, 'twice')} twice"
        ),
        "postgres",
    ),
    Fault(
        "clocks that jump backwards or disagree",
        "clock-*",
        "order follows the sequence, never the clock",
        lambda f: (
            f"{added(f, 'events')} events over {added(f, 'jumps_backwards')} jumps backwards, "
            f"{added(f, 'out_of_order')} out of order"
        ),
        "clock",
    ),
    Fault(
        "everything at once, for an hour (nightly)",
        "soak",
        "memory, descriptors and the log do not grow",
        lambda f: (
            f"{one(f)['seconds']:.0f} s, {one(f)['acknowledged']:,} acknowledged; memory {one(f)['memory_growth_mb']:+} "
            f"MB, descriptors {one(f)['descriptors_growth']:+}, log at most {one(f)['wal_most_mb']} MB"
        ),
        "soak",
    ),
)


def load(pattern: str) -> Figures:
    found = {}
    for path in sorted(ARTIFACTS.glob(f"{pattern}.json")):
        if "*" in pattern and "nightly" in path.stem:
            continue
        found[path.stem] = json.loads(path.read_text())
    return found


def controls(name: str) -> str:
    found = [json.loads(path.read_text())["what"] for path in sorted(ARTIFACTS.glob(f"control-{name}-*.json"))]
    return f"caught: {'; '.join(found)}" if found else "not run"


def page() -> str:
    rows = []
    machines: set[str] = set()
    dates: set[str] = set()
    for fault in FAULTS:
        found = load(fault.figures)
        machines |= {figures["machine"] for figures in found.values()}
        dates |= {figures["date"] for figures in found.values()}
        measured = fault.measured(found) if found else "not measured in this run"
        rows.append(f"| {fault.name} | {fault.holds} | {measured} | {controls(fault.control)} |")
    where = "; ".join(sorted(machines)) or "nowhere yet"
    when = f"{min(dates)} to {max(dates)}" if len(dates) > 1 else "".join(dates) or "never"
    table = "\n".join(rows)
    return f"""# What happens when things break

Made by `make faults-page` from the tests in `tests/faults`, which run with every `make test`; the long forms run with
`make soak`. Measured on {where} ({when}).

Each harness has a negative control: something that is wrong on purpose, which it has to catch. Without one, a figure of
zero could also mean that nobody looked.

| fault | what must hold | measured | negative control |
|---|---|---|---|
{table}

To repeat a run, set the `RECOLLECT_FAULT_SEED` that a failing test prints. What to do on the day it happens to you:
[My disk was full, my file is damaged, two programs at once](how-to/damage.md).
"""


def main() -> int:
    text = page()
    if "--check" in sys.argv:
        print(text)
        return 0
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text)
    print(f"wrote {PAGE.relative_to(ROOT)}: {len(FAULTS)} faults, {text.count('not measured')} of them not measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
