"""Writing: one event, a thousand at once, eight threads at once. Every commit is a real one (WAL, synchronous=FULL)."""

import threading
import time
from collections.abc import Iterator

import recollect

from . import Figure, Run, benchmark, least, most, raw, times
from .measure import in_turns, p50, p95, unindexed


@benchmark
def single(run: Run) -> Iterator[Figure]:
    """One durable append against one raw insert with the same columns and indexes."""
    for characters in (60, 400):
        said = raw.text(characters)
        by_hand = raw.Log(run.folder / f"raw-{characters}.db", said)
        with_words = raw.Log(run.folder / f"words-{characters}.db", said, indexed=True)
        with (
            recollect.open(run.folder / f"ours-{characters}.db") as store,
            recollect.open(
                run.folder / f"alone-{characters}.db", redact=False, semantic=False, memory_extract=False
            ) as plain,
        ):
            c, d = store.create().id, plain.create().id
            ours, alone, reference, indexed = in_turns(
                [
                    lambda: store.append(c, role="user", text=said),  # noqa: B023
                    unindexed(lambda: plain.append(d, role="user", text=said)),  # noqa: B023
                    by_hand.append,
                    with_words.append,
                ],
                run.rounds(3000, 500),
                warm_up=50,
            )
        by_hand.close()
        with_words.close()
        about = f"{characters} characters"
        yield Figure(
            f"single append p50, {about}",
            p50(ours),
            p50(indexed),
            "ms",
            times(2),
            "as shipped; raw insert with all our indexes, the one of words too",
        )
        yield Figure(
            f"the log alone p50, {about}", p50(alone), p50(reference), "ms", times(2), "neither redacted nor indexed"
        )
        yield Figure(
            f"single append p95, {about}",
            p95(ours),
            p95(reference),
            "ms",
            most(2),
            f"fdatasync p50 {run.fsync_ms:.3f} ms",
        )


@benchmark
def turns(run: Run) -> Iterator[Figure]:
    """The same with a user's and an assistant's message by turns, so that summaries are made in the background."""
    said = raw.text(400)
    by_hand = raw.Log(run.folder / "raw.db", said)
    with recollect.open(run.folder / "ours.db") as store:
        c = store.create().id
        roles = iter(["user", "assistant"] * 10_000)
        ours, reference = in_turns(
            [lambda: store.append(c, role=next(roles), text=said), by_hand.append], run.rounds(1000, 300)
        )
    by_hand.close()
    yield Figure(
        "append p50 while summaries are made", p50(ours), p50(reference), "ms", None, "user and assistant by turns"
    )
    yield Figure("append p95 while summaries are made", p95(ours), p95(reference), "ms")


@benchmark
def batch(run: Run) -> Iterator[Figure]:
    """append_many of 1,000 events against a raw executemany of the same rows, one transaction each."""
    for characters in (60, 400):
        said = raw.text(characters)
        by_hand = raw.Log(run.folder / f"raw-{characters}.db", said)
        rounds, warm_up = run.rounds(60, 20), 5
        ready = iter([by_hand.take(1000) for _ in range(2 * (rounds + warm_up))])
        entries: list[recollect.Entry] = [{"role": "user", "text": said} for _ in range(1000)]
        # Each by itself: a store that is open embeds in the background what the other calls have to wait for.
        with recollect.open(
            run.folder / f"alone-{characters}.db", redact=False, semantic=False, memory_extract=False
        ) as store:
            c = store.create().id
            alone, reference = in_turns(
                [unindexed(lambda: store.append_many(c, entries)), lambda: by_hand.append_rows(next(ready))],  # noqa: B023
                rounds,
                warm_up=warm_up,
            )
        with recollect.open(run.folder / f"ours-{characters}.db") as store:
            c = store.create().id
            ours, again = in_turns(
                [lambda: store.append_many(c, entries), lambda: by_hand.append_rows(next(ready))],  # noqa: B023
                rounds,
                warm_up=warm_up,
            )
        by_hand.close()
        about = f"batch of 1,000, {characters} characters"
        # The bar is for the log; to look for secrets and to index are work that the raw insert does not do.
        yield Figure(f"{about}, the log alone", p50(alone), p50(reference), "ms", times(1.5), "raw executemany")
        yield Figure(about, p50(ours), p50(again), "ms", None, "redacted and indexed; raw executemany")


@benchmark
def threads(run: Run) -> Iterator[Figure]:
    """Eight threads, a conversation each, every append durable: the writer groups their commits."""
    said = raw.text(60)
    each = run.rounds(1500, 500)
    by_hand = raw.Log(run.folder / "raw.db", said)
    rates: list[float] = []
    bare_rates: list[float] = []
    raw_rates: list[float] = []
    later: list[float] = []

    def rate(store: recollect.Store, own: list[str]) -> float:
        def append(c: str) -> None:
            for _ in range(each):
                store.append(c, role="user", text=said)

        workers = [threading.Thread(target=append, args=(c,)) for c in own]
        start = time.perf_counter()
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        return 8 * each / (time.perf_counter() - start)

    with (
        recollect.open(run.folder / "ours.db") as store,
        recollect.open(run.folder / "alone.db", redact=False, semantic=False, memory_extract=False) as plain,
    ):
        own = [store.create().id for _ in range(8)]
        bare = [plain.create().id for _ in range(8)]
        for _ in range(run.rounds(7, 3)):
            rates.append(rate(store, own))
            # What waited for the rush to be over is done before the next, and counted: nothing is left out, only put off.
            start = time.perf_counter()
            store.settle()
            while {"running", "to_embed"} & store.stats().jobs.keys():
                time.sleep(0.01)
            later.append(8 * each / (8 * each / rates[-1] + time.perf_counter() - start))
            bare_rates.append(unindexed(lambda: rate(plain, bare))())
            start = time.perf_counter()
            for _ in range(each):
                by_hand.append()
            raw_rates.append(each / (time.perf_counter() - start))
    by_hand.close()
    about = f"a burst of {8 * each:,}; reference: one thread by hand; fdatasync p50 {run.fsync_ms:.3f} ms"
    yield Figure("8 threads, events/s", p50(rates), p50(raw_rates), "/s", least(5000), f"as shipped; {about}")
    yield Figure(
        "8 threads, the log alone, events/s", p50(bare_rates), p50(raw_rates), "/s", least(5000),
        "neither redacted nor indexed",
    )  # fmt: skip
    yield Figure(
        "8 threads, until all is embedded and learned", p50(later), None, "/s", None, "the same burst, and settle()"
    )
