"""python -m bench [names...] [--quick | --full] [--json FILE] [--page FILE] [--verbose]"""

import argparse
import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from . import SUBJECTS, Bar, Figure, Run, measure, registry

OUT = Path(__file__).parent / "out"


def main(argv: Sequence[str] | None = None) -> int:
    for subject in SUBJECTS:
        importlib.import_module(f".{subject}", __package__)
    width = max(map(len, registry)) + 2
    names = "\n".join(f"  {name:{width}}{(fn.__doc__ or '').splitlines()[0]}" for name, fn in registry.items())
    parser = argparse.ArgumentParser(
        "python -m bench", description=f"Measure Recollect against doing the same by hand.\n\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="name", help="which benchmarks to run; all of them without any")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and no log of a million events")
    parser.add_argument("--full", action="store_true", help="also search among a million events")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to save the figures (bench/out/<date>.json)")
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write them as a page (docs/benchmarks.md)")
    parser.add_argument("--folder", type=Path, default=OUT, help="the disk to measure on: a folder there")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is not met")
    parser.add_argument("--verbose", action="store_true", help="print what importing costs")
    chosen = parser.parse_args(argv)
    unknown = [name for name in chosen.names if name not in registry]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; choose from {', '.join(registry)}")

    console = Console(width=None if sys.stdout.isatty() else 150)
    # Not the system's temporary folder: that may be memory, where an fsync costs nothing.
    chosen.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=chosen.folder))
    started = datetime.now(UTC)
    figures: list[Figure] = []
    try:
        facts = measure.machine(folder)
        console.print(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items()), highlight=False)
        for name, fn in registry.items():
            if chosen.names and name not in chosen.names:
                continue
            own = folder / name
            own.mkdir()
            run = Run(
                own,
                chosen.quick,
                chosen.full,
                chosen.verbose,
                facts["fsync_p50_ms"],
                lambda s: console.print(s, style="dim", highlight=False),
            )
            with console.status(f"{name} ..."):
                figures += fn(run)
            shutil.rmtree(own)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    console.print(_table(figures))
    saved = chosen.json or OUT / f"{started:%Y-%m-%dT%H%M%SZ}.json"
    saved.parent.mkdir(parents=True, exist_ok=True)
    saved.write_text(json.dumps(_record(started, chosen.quick, facts, figures), indent=1) + "\n", "utf-8")
    console.print(f"saved in {saved}", style="dim", highlight=False)
    if chosen.page:
        chosen.page.write_text(_page(started, chosen.quick, facts, figures), "utf-8")
    return int(chosen.strict and any(f.met is False for f in figures))


def _number(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 20 else f"{value:.3f}"
    return f"{text}{unit}" if unit.startswith("/") else f"{text} {unit}"


def _bar(bar: Bar | None, unit: str) -> str:
    if bar is None:
        return ""
    if bar.kind == "times":
        return f"≤ {bar.value:g}x"
    amount = f"{bar.value:,g}" if bar.value < 1000 else f"{bar.value:,.0f}"
    return f"{'≤' if bar.kind == 'most' else '≥'} {amount}{'' if unit.startswith('/') else ' '}{unit}"


def _cells(f: Figure) -> tuple[str, str, str, str, str, str]:
    return (
        f.name,
        _number(f.ours, f.unit),
        "" if f.reference is None else _number(f.reference, f.unit),
        "" if f.ratio is None else f"{f.ratio:.2f}x",
        _bar(f.bar, f.unit),
        {True: "yes", False: "NO", None: ""}[f.met],
    )


HEADINGS = ("figure", "ours", "reference", "ratio", "bar", "met?")


def _table(figures: Sequence[Figure]) -> Table:
    table = Table()
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    table.add_column("note", style="dim")
    for f in figures:
        table.add_row(*_cells(f), f.note, style="red" if f.met is False else None)
    return table


def _record(started: datetime, quick: bool, facts: Mapping[str, Any], figures: Sequence[Figure]) -> dict[str, Any]:
    return {
        "date": started.isoformat(timespec="seconds"),
        "quick": quick,
        "machine": dict(facts),
        "figures": [
            {
                "name": f.name, "ours": f.ours, "reference": f.reference, "ratio": f.ratio, "unit": f.unit,
                "bar": f.bar and {f.bar.kind: f.bar.value}, "met": f.met, "note": f.note,
            }
            for f in figures
        ],
    }  # fmt: skip


def _page(started: datetime, quick: bool, facts: Mapping[str, Any], figures: Sequence[Figure]) -> str:
    lines = [f"| {' | '.join((*_cells(f), f.note))} |" for f in figures]
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Measured on {started:%Y-%m-%d}{' with --quick' if quick else ''}. Written by the bench itself; do not edit.",
            "",
            f"Machine: {facts['cpu']}, {facts['cores']} cores, {facts['system']}, {facts['file_system']}; "
            f"Python {facts['python']}, SQLite {facts['sqlite']}, Recollect {facts['recollect']}. "
            f"One fdatasync takes {facts['fsync_p50_ms']:.3f} ms (p50): no durable commit can be faster.",
            "",
            f"| {' | '.join((*HEADINGS, 'note'))} |",
            "|---|---:|---:|---:|---:|---:|---|",
            *lines,
            "",
            "*Reference* is the same work by hand (apsw or psycopg, the same tables, indexes and durability), measured in",
            "the same loop by turns, so that a busy machine slows both. All figures are medians unless they say p95; every",
            "SQLite commit is WAL with `synchronous=FULL`.",
            "",
            "To repeat it: `make bench`, or `python -m bench --page docs/benchmarks.md` for this page. `python -m bench",
            "--help` names the single benchmarks; `--quick` takes a minute, `--folder` chooses the disk to measure on.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
