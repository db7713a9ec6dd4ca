"""Benchmarks that anyone with the data can repeat; those of speed are in `bench/` of the repository."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidInput
from . import output
from .session import Session, command
from .store import PANEL

BENCHMARKS = ("locomo",)


def complete_benchmark(incomplete: str) -> list[str]:
    return [b for b in BENCHMARKS if b.startswith(incomplete)]


@command("bench", panel=PANEL)
def bench(
    s: Session,
    benchmark: Annotated[str, typer.Argument(metavar="BENCHMARK", help=f"One of {', '.join(BENCHMARKS)}.", autocompletion=complete_benchmark, show_default=False)],
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help="The data set, as JSON. It does not come with Recollect.", show_default=False)],
    misses: Annotated[
        Path | None, typer.Option("--misses", metavar="FILE", help="Where to write what was not found, as JSON lines. By default in a new folder among the temporary files.")
    ] = None,
    words_only: Annotated[bool, typer.Option("--words-only", help="Without vectors.")] = False,
) -> None:  # fmt: skip
    """Measure how much of the evidence search and context find, in a scratch store of its own."""
    from . import locomo

    if benchmark not in BENCHMARKS:
        raise InvalidInput(f"There is no benchmark {benchmark!r}. There is: {', '.join(BENCHMARKS)}.")
    if s.named:
        raise InvalidInput("A benchmark makes a store of its own: leave --database and --data-dir out.")
    # A folder of its own: in the one that everybody shares, another account could leave a link under the name we would take.
    target = (
        (misses or Path(tempfile.mkdtemp(prefix="recollect-bench-")) / f"{benchmark}-misses.jsonl")
        .expanduser()
        .resolve()
    )
    if any((folder / ".git").exists() for folder in target.parents):
        raise InvalidInput(
            f"{target} is in a git repository, and what is written there is text of the data: choose another place."
        )
    dialogs = locomo.load(data.expanduser())
    with output.progress("Loading", shown=not s.json) as bar:
        report = locomo.measure(dialogs, words_only=words_only, progress=bar)
    missed = [a for a in report.answers if a.missed]
    with target.open("w", encoding="utf-8") as f:
        for a in missed:
            f.write(json.dumps(output.plain(a), ensure_ascii=False) + "\n")
    rows = report.rows()
    if s.json:
        output.emit({
            "benchmark": benchmark, "data": data, "dialogs": len(dialogs), "turns": report.turns,
            "words_only": words_only, "load_seconds": round(report.load_seconds, 2),
            "results": [{"category": name, "questions": n, **means} for name, n, means in rows],
            "times_ms": report.times(), "misses": target, "missed_questions": len(missed),
        })  # fmt: skip
        return
    output.show(output.table(
        "Category", "Questions", "Turn @10", "800 tokens", "Session @5", "Context 800",
        rows=[
            [output.styled(cell, "bold" if name == "all" else "") for cell in
             (name, f"{n:,}", *(f"{means[m]:.3f}" for m in locomo.MEASURES))]
            for name, n, means in rows
        ],
        right=["Questions", "Turn @10", "800 tokens", "Session @5", "Context 800"],
    ), "")  # fmt: skip
    took = report.times()
    output.show(output.facts([
        ("loaded", f"{output.count(report.turns, 'turn')} of {output.count(len(dialogs), 'dialog')} in {report.load_seconds:.1f} s, {'words only' if words_only else 'words and vectors'}"),
        *((name, f"p50 {t['p50']:.1f} ms, p95 {t['p95']:.1f} ms") for name, t in took.items()),
        ("missed", f"{output.count(len(missed), 'question')} without a turn among the first {locomo.FIRST_TURNS} hits: {target}"),
    ]))  # fmt: skip
