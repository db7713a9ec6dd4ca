"""Finding: search, recall and context in large stores, beside raw FTS5 and what else a user might pick.

Searches only read, so the processor's time is what they take on an idle machine; on a busy one the clock says more. The
figures are by the clock, as a user waits; the note gives the processor's time of the same calls.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw

import recollect
from recollect.search.tokens import terms

from . import Figure, Run, benchmark, most, times
from .corpus import Corpus, build
from .measure import in_turns, p50, p95, unindexed

WARM_UP = 30
_SEARCH = "select rowid from words where words match ? and rowid between ? and ? order by bm25(words) limit 20"


def questions(count: int, seed: int = 5) -> list[str]:
    """Of the language of the corpus that was stored: the same seed makes the same words."""
    corpus = Corpus(seed)
    return [corpus.question() for _ in range(count)]


def timed(call: Callable[[str], Any], asked: Sequence[str]) -> tuple[list[float], list[float]]:
    """(by the clock, of the processor), in milliseconds, of one call a question."""
    for question in asked[:WARM_UP]:
        call(question)
    clock: list[float] = []
    processor: list[float] = []
    for question in asked[WARM_UP:]:
        start, busy = time.perf_counter_ns(), time.thread_time_ns()
        call(question)
        processor.append((time.thread_time_ns() - busy) / 1e6)
        clock.append((time.perf_counter_ns() - start) / 1e6)
    return clock, processor


def figure(
    name: str, taken: tuple[list[float], list[float]], middle: Callable[[Sequence[float]], float], bar: float | None,
    reference: float | None = None, note: str = "",
) -> Figure:  # fmt: skip
    clock, processor = taken
    said = f"processor {middle(processor):.1f} ms (p50 {p50(processor):.1f})"
    return Figure(
        name, middle(clock), reference, "ms", (bar and most(bar)) or None, f"{said}; {note}" if note else said
    )


@benchmark
def search(run: Run) -> Iterator[Figure]:
    """Search and context over 100,000 events (1,000,000 with --full; 10,000 with --quick), beside raw FTS5."""
    sizes = [10_000] if run.quick else [100_000]
    if run.full:
        sizes.append(1_000_000)
    for size in sizes:
        path = run.folder / f"{size}.db"
        start = time.perf_counter()
        build(path, size, memories=500)
        run.say(f"{size:,} events written and embedded in {time.perf_counter() - start:.0f} s")
        yield from over(run, path, size)


def over(run: Run, path: Path, size: int) -> Iterator[Figure]:
    """The figures of one store that `corpus.build` made."""
    asked = questions(WARM_UP + run.rounds(300, 100))
    raw = _raw_fts5(path)
    in_raw = timed(raw, asked)
    bar = 15 if size <= 100_000 else 60
    with recollect.open(path, user="alex", background=False) as store:
        start = time.perf_counter()
        store.search(asked[0])
        first = (time.perf_counter() - start) * 1000
        taken = timed(lambda q: store.search(q, limit=20), asked)
        yield figure(
            f"search top 20 of {size:,} events, p95", taken, p95, bar, p95(in_raw[0]), "reference: raw FTS5, ids only"
        )
        yield Figure(
            f"the first search of a process, {size:,} events",
            first,
            None,
            "ms",
            None,
            "loads the model and the signatures",
        )
        some = iter(range(10**9))
        conversations = max(1, size // 100)
        taken = timed(lambda q: store.search(q, conversation=f"alex-{next(some) * 37 % conversations}"), asked)
        yield figure(f"search in one conversation of {size:,} events, p95", taken, p95, 5)
        taken = timed(lambda q: store.search(q, workspace="/repo/3"), asked)
        yield figure(f"search in one workspace of {size:,} events, p95", taken, p95, None)
        taken = timed(lambda q: store.context(q), asked)
        yield figure(f"context over {size:,} events, p95", taken, p95, 25 if size <= 100_000 else None)
        [kept] = store._semantic().signatures.values()  # type: ignore[union-attr]
        yield Figure(
            f"memory of a process, bytes per event, {size:,} events", kept.size / len(kept), None, "bytes", most(60),
            "what search keeps of an event: signature, id, conversation",
        )  # fmt: skip
    with recollect.open(path, user="alex", background=False, semantic=False) as store:
        taken = timed(lambda q: store.search(q, limit=20), asked)
        yield figure(f"search by words alone, {size:,} events, p95", taken, p95, None)
    sizes = _bytes(path)
    per = sum(sizes.values()) / (size * 1.2)
    note = ", ".join(f"{name} {amount / (size * 1.2):,.0f}" for name, amount in sizes.items())
    yield Figure(f"index, bytes per event, {size:,} events", per, None, "bytes", None, note)


def _raw_fts5(path: Path) -> Callable[[str], list[Any]]:
    """The same index asked by hand with all terms of the question: no rows, no ranking of ours."""
    connection = apsw.Connection(str(path))
    [(user,)] = connection.execute("select no from users where id = 'alex'").fetchall()
    low, high = user << 32, (user + 1 << 32) - 1

    def ask(question: str) -> list[Any]:
        wanted = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question)))
        return connection.execute(_SEARCH, (f"terms : ({wanted})", low, high)).fetchall()

    return ask


def _bytes(path: Path) -> dict[str, int]:
    connection = apsw.Connection(str(path))
    try:
        rows = connection.execute(
            "select case when name like '%words%' then 'words' when name like 'vectors%' then 'vectors' end, sum(pgsize)"
            " from dbstat where name like '%words%' or name like 'vectors%' group by 1"
        ).fetchall()
    except apsw.SQLError:  # a build without dbstat: the blobs of the index, pages not counted
        rows = [
            ("words", connection.execute("select sum(length(block)) from words_data").fetchall()[0][0]),
            (
                "vectors",
                connection.execute("select sum(length(signature) + length(vector) + 16) from vectors").fetchall()[0][0],
            ),
        ]
    connection.close()
    return {name: int(amount or 0) for name, amount in rows}


class Bare:
    """An embedder that costs next to nothing, of any dimension: what is measured is the store, not the model."""

    is_quick = True

    def __init__(self, dimension: int) -> None:
        self.name, self.dimension = f"bare-{dimension}", dimension

    def embed(self, texts: Sequence[str], /) -> Any:
        import numpy as np

        return np.stack(
            [
                np.random.default_rng(len(t) * 1009 + sum(map(ord, t[:40]))).standard_normal(self.dimension)
                for t in texts
            ]
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self.embed(texts).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@benchmark
def recall(run: Run) -> Iterator[Figure]:
    """Recall top 10 among 10,000 memories with 256 and 1,024 dimensions, beside LangGraph's InMemoryStore."""
    count = 2_000 if run.quick else 10_000
    corpus = Corpus()
    said = list({corpus.turn()[:200]: None for _ in range(count)})
    asked = questions(WARM_UP + run.rounds(200, 60))
    for dimension in (256, 1024):
        embedder = Bare(dimension)
        path = run.folder / f"{dimension}.db"
        with recollect.open(
            path, user="alex", background=False, embedder=embedder, memory_max_items_per_namespace=1_000_000
        ) as store:
            _remember(store, said)
            store.settle()
            taken = timed(lambda q: store.recall(q, limit=10), asked)
        reference, note = None, "langgraph is not installed"
        if find_spec("langgraph") is not None:
            other = timed(_langgraph(said, embedder), asked[: WARM_UP + 30])
            reference, note = p50(other[0]), "reference: LangGraph's InMemoryStore, vectors only"
        yield figure(
            f"recall top 10 of {len(said):,} memories, {dimension} dimensions, p50", taken, p50, 15, reference, note
        )


def _remember(store: recollect.Store, said: Sequence[str]) -> None:
    """As `remember`, many to a transaction: 10,000 commits are not what is measured."""
    from recollect import edits

    limits = edits.Limits(1 << 62, 0.0, 0, ())
    for start in range(0, len(said), 500):
        drafts = [edits.Draft(store._gate.another(), text) for text in said[start : start + 500]]
        store._write(lambda tx, drafts=drafts: [edits.remember(tx, d, None, limits) for d in drafts])  # type: ignore[misc]
    store.remember("the last one asks for vectors")


def _langgraph(said: Sequence[str], embedder: Bare) -> Callable[[str], Any]:
    from langchain_core.embeddings import Embeddings
    from langgraph.store.base import PutOp
    from langgraph.store.memory import InMemoryStore

    model = type(
        "Model",
        (Embeddings,),
        {
            "embed_documents": lambda s, t: embedder.embed_documents(t),
            "embed_query": lambda s, t: embedder.embed_query(t),
        },
    )()
    store = InMemoryStore(index={"embed": model, "dims": embedder.dimension, "fields": ["text"]})
    for start in range(0, len(said), 500):
        store.batch(
            [PutOp(("alex", "memories"), str(start + i), {"text": t}) for i, t in enumerate(said[start : start + 500])]
        )
    return lambda question: store.search(("alex", "memories"), query=question, limit=10)


@benchmark
def indexing(run: Run) -> Iterator[Figure]:
    """What the index adds to an append: the same with and without it, by turns."""
    corpus = Corpus()
    said = iter([corpus.turn() for _ in range(40_000)])

    with (
        recollect.open(run.folder / "with.db", background=False, semantic=False) as store,
        recollect.open(run.folder / "without.db", background=False, semantic=False) as plain,
    ):
        c, d = store.create().id, plain.create().id
        ours, reference = in_turns(
            [
                lambda: store.append(c, role="user", text=next(said)),
                unindexed(lambda: plain.append(d, role="user", text=next(said))),
            ],
            run.rounds(2000, 400),
            warm_up=50,
        )
        yield Figure("append with the index against without, p50", p50(ours), p50(reference), "ms", times(1.5))

        def many(store: recollect.Store, c: str) -> Callable[[], Any]:
            return lambda: store.append_many(c, [{"role": "user", "text": next(said)} for _ in range(200)])

        ours, reference = in_turns([many(store, c), unindexed(many(plain, d))], run.rounds(60, 20))
        each = statistics.median(ours) / 200, statistics.median(reference) / 200
        yield Figure("the same, an event in a batch of 200", *each, "ms", None, "no fsync to hide behind")
