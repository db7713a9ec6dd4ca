"""A graph's state beside LangGraph's own savers: bytes and time a turn, reading, listing, writes of many threads.

A turn of a plain chat is one `invoke`: one read, three checkpoints, two sets of writes. Ours also keeps the log and its index
of words in that time; theirs does not. LangGraph's own savers are measured where they are installed
(`pip install langgraph-checkpoint-sqlite langgraph-checkpoint-postgres`).
"""

import importlib.util
import itertools
import os
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


def savers(run: Run, stack: ExitStack) -> dict[str, tuple[Any, Any]]:
    """Ours and theirs, on files of their own."""
    from recollect.langgraph import Saver

    ours = stack.enter_context(Saver.from_conn_string(str(run.folder / "ours.db"), semantic=False, summaries=False))
    found = {"ours": (ours, run.folder / "ours.db")}
    if importlib.util.find_spec("langgraph.checkpoint.sqlite") is not None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        theirs = stack.enter_context(SqliteSaver.from_conn_string(str(run.folder / "stock.sqlite")))
        found["stock"] = (theirs, run.folder / "stock.sqlite")
    return found


@benchmark
def graph_saver(run: Run) -> Iterator[Figure]:
    """A chat of up to 2,000 turns in our checkpointer and in LangGraph's SqliteSaver, taking turns."""
    marks = [10, 100] if run.quick else [10, 100, 500, 2000]
    with ExitStack() as stack:
        both = savers(run, stack)
        graphs = {name: chat(saver) for name, (saver, _) in both.items()}
        turns = {name: turn(graph, itertools.count(1)) for name, graph in graphs.items()}
        taken: dict[str, list[float]] = {name: [] for name in both}
        grown: dict[int, float] = {}
        for i in range(1, marks[-1] + 1):
            for name in both if i % 2 else reversed(both):
                if name == "stock" and i > 500:  # a gigabyte more every hundred turns
                    continue
                start = time.perf_counter_ns()
                turns[name]()
                taken[name].append((time.perf_counter_ns() - start) / 1e6)
            if i in marks:
                window = {name: p50(found[-min(20, i) :]) for name, found in taken.items()}
                settle(both["ours"][0])
                grown[i] = size(both["ours"][1]) / i
                stock = both.get("stock") if i <= 500 else None
                yield Figure(
                    f"a turn, {i} turns in", window["ours"], window["stock"] if stock else None,
                    bar=times(1.2) if stock else None, note="with the log and its index",
                )  # fmt: skip
                theirs = size(stock[1]) / 1e6 if stock else None
                bar = most(10) if i == 500 else None
                yield Figure(f"{i} turns on disk", size(both["ours"][1]) / 1e6, theirs, "MB", bar)
                if i == 500 and theirs:
                    times_smaller = theirs / (size(both["ours"][1]) / 1e6)
                    yield Figure("smaller at 500 turns", times_smaller, unit="x", bar=least(40))
                yield from reading(run, both, i if i <= 500 else 0, i)
        if 2000 in grown:
            growth = (grown[2000] * 2000 - grown[100] * 100) / 1900 / 1000
            early = (grown[100] * 100 - grown[10] * 10) / 90 / 1000
            yield Figure("KB a turn, 100 to 2,000", growth, early, "KB", times(1.2), "reference: turns 10 to 100")
        yield from writes(run, both)


def settle(saver: Any) -> None:
    """What is in the write-ahead log goes into the file, so that it is counted once."""
    saver.store._db.scrub()


def reading(run: Run, both: dict[str, tuple[Any, Any]], at: int, turns: int) -> Iterator[Figure]:
    pair = [both[name][0] for name in both if name == "ours" or at]
    there = len(pair) > 1
    rounds = run.rounds(15, 5)
    head = in_turns([lambda s=s: s.get_tuple(CONFIG) for s in pair], rounds, warm_up=2)  # type: ignore[misc]
    yield Figure(
        f"newest state, {turns} turns", p50(head[0]), p50(head[1]) if there else None, bar=times(1.2) if there else None
    )
    listed = in_turns(
        [lambda s=s: sum(1 for _ in s.list(CONFIG, limit=20)) for s in pair],  # type: ignore[misc]
        run.rounds(5, 3), warm_up=1,
    )  # fmt: skip
    yield Figure(
        f"list 20, {turns} turns", p50(listed[0]), p50(listed[1]) if there else None, bar=times(1.2) if there else None
    )
    if turns >= 500:
        back = [[t.config for t in s.list(CONFIG, limit=500)][-1] for s in pair]
        older = in_turns([lambda s=s, c=c: s.get_tuple(c) for s, c in zip(pair, back, strict=True)], rounds, warm_up=2)  # type: ignore[misc]
        yield Figure(
            f"state 500 back, {turns} turns", p50(older[0]), p50(older[1]) if there else None,
            bar=times(1.2) if there else None,
        )  # fmt: skip


def writes(run: Run, both: dict[str, tuple[Any, Any]]) -> Iterator[Figure]:
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

    found = in_turns([go(saver) for saver, _ in both.values()], run.rounds(5, 2), warm_up=1)
    rates = [THREADS * each / (p50(ms) / 1000) for ms in found]
    yield Figure(
        "put_writes, 8 threads", 1000 / rates[0], 1000 / rates[1] if len(rates) > 1 else None, "ms",
        times(1.2) if len(rates) > 1 else None, f"{rates[0]:,.0f}/s",
    )  # fmt: skip
