"""How fast Recollect is, measured against doing the same by hand in the same run.

A benchmark is a function that yields `Figure`s. What is measured and what it is compared with take turns in one loop,
so that a busy machine slows both; medians are compared. One file a subject: to add one, write `bench/<subject>.py` with
functions marked `@benchmark`, and name it in `SUBJECTS`. `python -m bench --help` says how to run them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

SUBJECTS = (
    "hooks",
    "append", "reading", "flat", "start", "search", "memories", "redaction", "graph_saver", "graph_store", "peers", "postgres",
)  # fmt: skip


@dataclass(frozen=True)
class Bar:
    """What a figure has to reach: a share of its reference ("times"), or a value of its own ("most", "least")."""

    kind: str
    value: float


def times(value: float) -> Bar:
    """At most this many times the reference."""
    return Bar("times", value)


def most(value: float) -> Bar:
    """At most this, in the figure's own unit."""
    return Bar("most", value)


def least(value: float) -> Bar:
    """At least this, in the figure's own unit."""
    return Bar("least", value)


@dataclass(frozen=True)
class Figure:
    """One line of the table. A figure without a bar is there to be read, not to be met."""

    name: str
    ours: float
    reference: float | None = None
    unit: str = "ms"
    bar: Bar | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.reference if self.reference else None

    @property
    def met(self) -> bool | None:
        if self.bar is None:
            return None
        if self.bar.kind == "times":
            return self.ratio is not None and self.ratio <= self.bar.value
        return self.ours <= self.bar.value if self.bar.kind == "most" else self.ours >= self.bar.value


@dataclass(frozen=True)
class Run:
    """What a benchmark is given: a folder of its own on a real disk, and how thorough to be."""

    folder: Path
    quick: bool
    full: bool
    verbose: bool
    fsync_ms: float
    say: Callable[[str], None]

    def rounds(self, thorough: int, quick: int) -> int:
        return quick if self.quick else thorough


Benchmark = Callable[[Run], Iterator[Figure]]
registry: dict[str, Benchmark] = {}


def benchmark(fn: Benchmark) -> Benchmark:
    """Register a benchmark under its function's name; the first line of its docstring says what it measures."""
    registry[fn.__name__] = fn
    return fn
