"""Flatness: what an append and a tail read cost must not depend on how long the log is."""

from collections.abc import Iterator

import recollect

from . import Figure, Run, benchmark, raw, times
from .measure import in_turns, p50


@benchmark
def flatness(run: Run) -> Iterator[Figure]:
    """Append and tail reads in logs of 1,000 to 1,000,000 events (to 100,000 with --quick)."""
    sizes = [1000, 10_000, 100_000] + ([] if run.quick else [1_000_000])
    said = raw.text(120)
    stores: list[recollect.Store] = []
    try:
        for size in sizes:
            path = run.folder / f"{size}.db"
            with recollect.open(path) as store:
                store.create("c")
                batch: list[recollect.Entry] = [{"role": "user", "text": said}] * min(size, 10_000)
                for _ in range(size // len(batch)):
                    store.append_many("c", batch)
            run.say(f"a log of {size:,} events: {path.stat().st_size / 1e6:,.0f} MB")
            stores.append(recollect.open(path))

        def tail(store: recollect.Store) -> None:
            store.read("c", after=store.get("c").last_seq - 50)

        verbs = {
            "append": lambda store: store.append("c", role="user", text=said),
            "messages(limit=50)": lambda store: store.messages("c", limit=50),
            "read(after=last-50)": tail,
        }
        for verb, call in verbs.items():
            taken = in_turns([lambda s=s: call(s) for s in stores], run.rounds(600, 200), warm_up=20)  # type: ignore[misc] # noqa: B023
            middles = [p50(t) for t in taken]
            note = ", ".join(f"{size:,}: {m:.3f}" for size, m in zip(sizes, middles, strict=True))
            yield Figure(f"{verb}, {sizes[-1]:,} against 1,000 events", middles[-1], middles[0], "ms", times(1.5), note)
    finally:
        for store in stores:
            store.close()
