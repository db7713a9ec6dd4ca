"""A server that goes away: killed under load, connections cut, commits whose answer is lost, two clients that migrate at
once, serialisation failures, deadlocks. Nothing acknowledged is lost, nothing is there twice, every error is a typed one,
and the store that was open all the time works on."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage

import recollect
from postgres_server import Databases, PostgresServer
from recollect.errors import OutcomeUnknown, StoreBusy, Unavailable
from recollect.langgraph import AgentNode
from recollect.langgraph.patience import breaker_of
from talk import eventually

from .harness import Child, Say, caught, check, figures, seeds, texts, together
from .proxy import Proxy

THREADS = 6


class Load:
    """Threads that append, each text once. What came of each is kept: acknowledged, refused, or unknown."""

    def __init__(self, store: recollect.Store, seed: int, conversations: int = 3) -> None:
        self.store = store
        self.seed = seed
        self.conversations = conversations
        self.acked: dict[str, list[int] | None] = {}
        self.refused: list[str] = []
        self.answers: Counter[str] = Counter()
        self.unexpected: list[str] = []
        self.longest = 0.0
        self._stop = threading.Event()
        for i in range(conversations):
            store.create(f"c{i}")

    def _work(self, number: int) -> None:
        rng = random.Random(self.seed * 31 + number)
        n = 0
        while not self._stop.is_set():
            tag = f"{number}.{n}"
            n += 1
            size = rng.choice((1, 1, 3))
            began = time.monotonic()
            try:
                events = self.store.append_many(
                    f"c{number % self.conversations}",
                    [{"role": "user", "text": text} for text in texts(tag, size, 50)],
                )
                self.acked[tag] = [e.seq for e in events]
                self.answers["written"] += 1
            except OutcomeUnknown:
                self.answers["OutcomeUnknown"] += 1
            except (Unavailable, StoreBusy) as e:
                self.refused.append(tag)
                self.answers[type(e).__name__] += 1
                time.sleep(0.01)
            except Exception as e:
                self.unexpected.append(f"{type(e).__name__}: {e}"[:500])
                time.sleep(0.05)
            self.longest = max(self.longest, time.monotonic() - began)

    def during(self, trouble: Callable[[], None], threads: int = THREADS) -> None:
        def make_trouble() -> None:
            try:
                trouble()
            finally:
                self._stop.set()

        together(make_trouble, *(partial(self._work, i) for i in range(threads)))

    def wrong(self) -> list[str]:
        """The store works again, without being opened anew; then look at all that was said."""
        end = time.monotonic() + 60
        while True:
            try:
                self.acked["afterwards"] = [self.store.append("c0", role="user", text=texts("afterwards", 1)[0]).seq]
                break
            except (Unavailable, StoreBusy):
                assert time.monotonic() < end, "no recovery within 60 s"
                time.sleep(0.1)
        found = check(self.store, self.acked)
        there = {e.text.split(" ")[0] for i in range(self.conversations) for e in self.store.read(f"c{i}", branch="*")}
        found += [f"said to be not written, and there: {tag}" for tag in self.refused if tag in there]
        return found + self.unexpected[:5]


def opened(url: str, **settings: Any) -> recollect.Store:
    return recollect.open(url, user="alex", background=False, **settings)


def test_the_server_is_killed_and_restarted_under_load(private_postgres: PostgresServer) -> None:
    (seed,) = seeds("postgres killed", 1)
    rng = random.Random(seed)
    with private_postgres.database() as url:
        store = opened(url, connect_timeout_ms=2_000)
        load = Load(store, seed)

        servers = set()

        def written_by_this_server() -> None:
            before = load.answers["written"]
            eventually(lambda: load.answers["written"] > before + 2 * THREADS, 60)
            servers.add(private_postgres.pid)

        def trouble() -> None:
            for _ in range(3):
                written_by_this_server()
                time.sleep(rng.uniform(0.3, 0.8))
                private_postgres.kill()
                time.sleep(rng.uniform(0.0, 0.5))
                private_postgres.start()
            written_by_this_server()
            time.sleep(0.5)

        load.during(trouble)
        wrong = load.wrong()
        store.close()
    assert wrong == []
    assert len(servers) == 4  # whether a caller met an error is chance: a server that is soon back is waited for
    assert load.answers["written"] > 50
    figures("postgres-killed", kills=3, acknowledged=len(load.acked), lost=0, twice=0, answers=dict(load.answers))


def test_the_server_stays_away(private_postgres: PostgresServer) -> None:
    """Clear errors, in bounded time; then all is as before."""
    with private_postgres.database() as url:
        store = opened(url, connect_timeout_ms=2_000)
        store.create("c")
        store.append("c", role="user", text=texts("a", 1)[0])
        private_postgres.kill()
        began = time.monotonic()
        with pytest.raises((Unavailable, OutcomeUnknown)):
            store.append("c", role="user", text=texts("b", 1)[0])
        with pytest.raises(Unavailable, match="Connection refused"):
            store.read("c")
        with pytest.raises(Unavailable):
            opened(url, connect_timeout_ms=2_000)
        assert time.monotonic() - began < 60
        private_postgres.start()
        end = time.monotonic() + 60
        while True:
            try:
                store.append("c", role="user", text=texts("c", 1)[0])
                break
            except Unavailable:
                assert time.monotonic() < end
                time.sleep(0.1)
        assert check(store, {"a": [1], "c": [2]}) == []
        store.close()


@contextlib.contextmanager
def killed(server: PostgresServer) -> Iterator[None]:
    server.kill()
    try:
        yield
    finally:
        server.start()


@pytest.mark.parametrize("how", ["killed", "stopped"])
@pytest.mark.parametrize("called", ["sync", "async"])
def test_a_bot_answers_while_its_history_is_away(private_postgres: PostgresServer, how: str, called: str) -> None:
    """Killed, and stopped (SIGSTOP: connections stay open, nothing answers). The first message waits for the deadline, those
    after it do not wait; once the server is back, so is the history. All with the default settings of store and pool."""
    shown: list[list[str]] = []

    def agent(state: dict[str, Any]) -> AIMessage:
        shown.append([m.text for m in state["messages"]])
        return AIMessage("ok")

    with private_postgres.database() as url, opened(url) as store:
        node = AgentNode(
            agent, use_graph_chat_history=True, history_key_candidates=["room"], store=store,
            history_retry_after_ms=60_000,
        )  # fmt: skip

        def say(text: str) -> float:
            began = time.monotonic()
            if called == "sync":
                node.invoke({"messages": [HumanMessage(text)]})
            else:
                asyncio.run(node.ainvoke({"messages": [HumanMessage(text)]}))
            return time.monotonic() - began

        say("before")
        with private_postgres.frozen() if how == "stopped" else killed(private_postgres):
            first = say("away")
            others = [say(f"away {n}") for n in range(10)]
            away = list(shown[-1])
        breaker_of(store._db).failed(0)  # the cool-down is over
        eventually(lambda: say("after") and len(shown[-1]) > 1)
        met = node.metrics()
    assert first < 2.0 + 1.5  # it was 60 s for one, and for the other without end
    assert max(others) < 1.0
    assert away == ["away 9"]
    assert shown[-1][:2] == ["before", "ok"]
    assert met["read_errors"] >= 1 and met["skipped"] >= 20
    figures(
        f"postgres-history-{how}-{called}", first_ms=round(first * 1000), longest_after_it_ms=round(max(others) * 1000)
    )


def cut_connections(admin: str, database: str, rng: random.Random, seconds: float, load: Load) -> int:
    """For so long, and until enough was cut and written that it says something."""
    cut = 0
    with psycopg.connect(admin, autocommit=True) as connection:
        began = time.monotonic()
        while (now := time.monotonic() - began) < seconds or cut <= 20 or load.answers["written"] <= 100:
            assert now < seconds + 60, f"{cut} cuts, {dict(load.answers)}"
            time.sleep(rng.uniform(0.0, 0.03))
            row = connection.execute(
                "select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity where datname = %s"
                " and state <> 'idle' order by random() limit 1) victims",
                (database,),
            ).fetchone()
            cut += row[0] if row else 0
    return cut


def test_connections_are_cut_in_the_middle_of_transactions(postgres_server: Databases, postgres_url: str) -> None:
    (seed,) = seeds("postgres cut", 1)
    store = opened(postgres_url)
    load = Load(store, seed)
    database = postgres_url.rpartition("/")[2].partition("?")[0]
    counted: list[int] = []
    admin = postgres_server.admin_url()
    load.during(lambda: counted.append(cut_connections(admin, database, random.Random(seed), 4.0, load)))
    wrong = load.wrong()
    store.close()
    assert wrong == []
    figures("postgres-cut", cuts=counted[0], acknowledged=len(load.acked), lost=0, twice=0, answers=dict(load.answers))


def commits_without_answer(url: str, seed: int, seconds: float) -> tuple[Load, Proxy, list[str]]:
    proxy = Proxy(url, random.Random(seed), 0.0)
    store = opened(proxy.url)
    try:
        load = Load(store, seed)
        proxy.chance = 0.1

        def trouble() -> None:
            time.sleep(seconds)
            eventually(lambda: min(proxy.cut.values()) >= 3, 60)

        load.during(trouble)
        proxy.chance = 0.0
        return load, proxy, load.wrong()
    finally:
        store.close()
        proxy.close()


def test_the_answer_to_a_commit_is_lost(postgres_url: str) -> None:
    (seed,) = seeds("postgres commit", 1)
    load, proxy, wrong = commits_without_answer(postgres_url, seed, 4.0)
    assert wrong == []
    assert load.answers["OutcomeUnknown"] == 0, "the server was there to be asked"
    figures(
        "postgres-commit",
        lost_before=proxy.cut["before"],
        lost_after=proxy.cut["after"],
        acknowledged=len(load.acked),
        lost=0,
        twice=0,
        answers=dict(load.answers),
    )


@pytest.mark.parametrize(("guess", "found"), [(False, "there twice"), (True, "lost: ")])
def test_control_a_client_that_guesses_is_caught(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, guess: bool, found: str
) -> None:
    """Without asking the server: to repeat makes duplicates, to believe loses."""
    from recollect.db.postgres import Postgres

    monkeypatch.setattr(Postgres, "_was_committed", lambda *_: guess)
    (seed,) = seeds("postgres guess", 1)
    _, _, wrong = commits_without_answer(postgres_url, seed, 3.0)
    assert [line for line in wrong if found in line], wrong[:5]
    said = "believes that it was done: losses" if guess else "repeats without asking: duplicates"
    caught("postgres", f"a client that {said}")


def test_a_crash_during_a_commit_is_not_taken_for_success(private_postgres: PostgresServer) -> None:
    """The server dies with our transaction open, and comes back. It then hands out the same transaction number once more:
    what became of that number says nothing about us."""
    for _ in range(4):
        with private_postgres.database() as url:
            other = opened(url)
            proxy = Proxy(url, random.Random(0), 0.0)
            store = opened(proxy.url)
            store.create("c")
            acked: dict[str, list[int] | None] = {}
            proxy.hold = True

            def append(store: recollect.Store = store, acked: dict[str, list[int] | None] = acked) -> None:
                with contextlib.suppress(OutcomeUnknown, Unavailable):
                    acked["ours"] = [store.append("c", role="user", text=texts("ours", 1)[0]).seq]

            def crash(proxy: Proxy = proxy, other: recollect.Store = other) -> None:
                assert proxy.held.wait(60)
                private_postgres.kill()
                private_postgres.start()
                written = 0
                end = time.monotonic() + 60
                while written < 20:  # whoever comes first gets our number
                    assert time.monotonic() < end
                    with contextlib.suppress(Unavailable):
                        other.create()
                        written += 1
                proxy.release.set()

            together(append, crash)
            assert check(other, acked) == []
            store.close()
            proxy.close()
            other.close()


def test_concurrent_batches_do_not_collide(postgres_url: str) -> None:
    store = opened(postgres_url)
    acked: dict[str, list[int] | None] = {}

    def work(number: int) -> None:
        store.create(f"c{number}")
        for n in range(12):
            events = store.append_many(
                f"c{number}", [{"role": "user", "text": text} for text in texts(f"{number}.{n}", 600)]
            )
            acked[f"{number}.{n}"] = [e.seq for e in events]

    together(*(partial(work, i) for i in range(4)))
    assert check(store, acked) == []
    store.close()


# -- migrating at once -----------------------------------------------------------------------------------------------


def open_it(say: Say, url: str) -> None:
    say("ready")
    with opened(url) as store:
        say("opened", store.stats().schema)
        store.create()


def test_many_clients_migrate_at_once(postgres_server: Databases) -> None:
    for _ in range(2):
        with postgres_server.database() as url:
            children = [Child(open_it, url) for _ in range(5)]
            try:
                schemas = [child.hear("opened")[1] for child in children]
                for child in children:
                    child.finish()
            finally:
                for child in children:
                    with child:
                        pass
            with opened(url) as store:
                assert store.verify().ok
                assert store.stats().conversations == 5
                assert set(schemas) == {store.stats().schema}
            with psycopg.connect(url) as connection:
                rows = connection.execute("select version from recollect.schema_versions order by version").fetchall()
                assert rows == [(n + 1,) for n in range(len(rows))]


def test_a_client_dies_while_it_migrates(postgres_server: Databases) -> None:
    (seed,) = seeds("postgres migration", 1)
    rng = random.Random(seed)
    with postgres_server.database() as url:
        for _ in range(4):
            with Child(open_it, url) as child:
                child.hear("ready")
                time.sleep(rng.uniform(0.0, 0.15))
                child.kill()
        with opened(url) as store:
            assert store.verify().ok
            assert check(store, {}) == []


# -- transactions that fail ------------------------------------------------------------------------------------------


def test_serialisation_failures_are_repeated(postgres_url: str) -> None:
    """The strictest isolation, everyone on one conversation: the server refuses many transactions, and asks to repeat."""
    (seed,) = seeds("postgres serialisation", 1)
    joint = "&" if "?" in postgres_url else "?"
    store = opened(f"{postgres_url}{joint}options=-c%20default_transaction_isolation%3Dserializable")
    failures = count_retries(store)
    load = Load(store, seed, conversations=1)

    def trouble() -> None:
        time.sleep(3.0)
        eventually(lambda: failures[0] > 10 and load.answers["written"] > 20, 60)  # something was repeated

    load.during(trouble, threads=5)
    wrong = load.wrong()
    store.close()
    assert wrong == []
    figures("postgres-serialisation", failures=failures[0], acknowledged=len(load.acked), lost=0, twice=0)


def count_retries(store: recollect.Store) -> list[int]:
    """How often a transaction was begun beyond those that came to an end."""
    db: Any = store._db
    once = db._once
    counted = [0]

    def counting(*args: Any) -> Any:
        try:
            return once(*args)
        except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
            counted[0] += 1
            raise

    db._once = counting
    return counted


def test_deadlocks_are_repeated(postgres_server: Databases) -> None:
    """Someone else takes our rows in the other order: one of the two is chosen to fail, and does it again."""
    with postgres_server.database() as url:
        store = opened(
            f"{url}{'&' if '?' in url else '?'}application_name=ours", summary_threshold=1, summary_keep_recent=0
        )
        store.create("c")
        database = url.rpartition("/")[2].partition("?")[0]
        repeated = count_retries(store)
        admin = postgres_server.admin_url(database)
        acked: dict[str, list[int] | None] = {}
        # It never gives way: ours is the one that fails. But a server looks for a deadlock once, after a second of waiting:
        # if there was none yet, because this machine stood still, nobody would fail. Then it gives up, and begins anew.
        with psycopg.connect(admin, options="-c deadlock_timeout=60s -c lock_timeout=5s") as other:
            n = 0
            while repeated[0] < 3:
                n += 1
                assert n <= 12, f"{repeated[0]} deadlocks in 12 rounds"
                store.settle()
                for k in (0, 1):
                    acked[f"{n}.{k}"] = None
                # It holds the job that our append wants to queue, then wants the conversation that our append holds.
                other.execute(
                    "insert into recollect.jobs (user_no, kind, key, state, run_at, created_at) select user_no,"
                    " 'summarize', no || ':0', 'queued', 0, 0 from recollect.conversations where id = 'c'"
                )

                def ours(n: int = n) -> None:
                    for k in (0, 1):
                        store.append("c", role="assistant", text=texts(f"{n}.{k}", 1)[0])

                def theirs() -> None:
                    wait_for_a_blocked_one(admin, database)
                    with contextlib.suppress(psycopg.errors.LockNotAvailable):
                        other.execute("update recollect.conversations set updated_at = updated_at where id = 'c'")
                    other.rollback()

                together(ours, theirs)
        assert check(store, acked) == []
        figures("postgres-deadlock", deadlocks=repeated[0], acknowledged=len(acked), lost=0, twice=0)
        store.close()


def wait_for_a_blocked_one(admin: str, database: str) -> None:
    with psycopg.connect(admin, autocommit=True) as look:
        end = time.monotonic() + 60
        while True:
            row = look.execute(
                "select count(*) from pg_stat_activity where datname = %s and application_name = 'ours'"
                " and wait_event_type = 'Lock'",
                (database,),
            ).fetchone()
            if row and row[0]:
                return
            assert time.monotonic() < end, "our append never waited"
            time.sleep(0.005)


def test_a_server_that_is_silent_is_given_up(postgres_url: str) -> None:
    """No test can take the network away; that the system is told to notice it can be seen."""

    def asked(url: str) -> dict[str, str]:
        with recollect.open(url, user="alex") as store, store._db._pool.connection() as connection:  # type: ignore[attr-defined]
            found: dict[str, str] = connection.info.get_parameters()
            return found

    waits = asked(postgres_url)
    assert int(waits["tcp_user_timeout"]) <= 30_000
    assert int(waits["keepalives_idle"]) + int(waits["keepalives_interval"]) * int(waits["keepalives_count"]) <= 30
    own = f"{postgres_url}{'&' if '?' in postgres_url else '?'}tcp_user_timeout=7000"
    assert asked(own)["tcp_user_timeout"] == "7000"
