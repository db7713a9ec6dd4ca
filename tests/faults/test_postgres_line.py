"""What is said to a server goes as one message with its commit: whatever goes wrong in the middle of it, the error is the typed
one, nothing of it is there, and the same connection is fit for the next."""

from __future__ import annotations

import _thread
import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import recollect
from recollect.db import line
from recollect.errors import AlreadyExists, RecollectError, StorageError, StoreBusy
from talk import eventually

ADD = "insert into meta (name, value) values (:name, :value)"


@pytest.fixture(params=["at once", "by turns"])
def store(
    request: pytest.FixtureRequest, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[recollect.Store]:
    if request.param == "by turns":  # as with a libpq before 14
        monkeypatch.setattr(line, "PIPELINES", False)
    with recollect.open(postgres_url, user="alex", background=False, pool_max=1) as store:
        store.create("c")
        yield store


def add(store: recollect.Store, *names: str) -> None:
    def write(tx: Any) -> None:
        for name in names:
            tx.send(ADD, name=name, value="x")

    store._db.write("alex", write)


def there(store: recollect.Store, *names: str) -> list[str]:
    asked = "select name from meta where name = any(:names) order by name"
    return [row[0] for row in store._db.read("alex", lambda tx: tx.all(asked, names=list(names)))]


def backend(store: recollect.Store) -> int:
    return int(store._db.read("alex", lambda tx: tx.all("select pg_backend_pid()"))[0][0])


def test_a_statement_that_fails_takes_all_with_it(store: recollect.Store) -> None:
    add(store, "a")
    before = backend(store)
    for _ in range(8):  # until all of them are prepared, and beyond
        with pytest.raises(AlreadyExists):
            add(store, "b", "a", "c")
        assert there(store, "a", "b", "c") == ["a"]
    add(store, "b", "c")
    assert there(store, "a", "b", "c") == ["a", "b", "c"]
    assert backend(store) == before, "the connection was good"


def test_what_was_given_up_before_it_was_sent_is_not_taken_for_prepared(store: recollect.Store) -> None:
    def gives_up(tx: Any) -> None:
        tx.send(ADD, name="a", value="x")
        raise LookupError

    for _ in range(3):
        with pytest.raises(LookupError):
            store._db.write("alex", gives_up)
    for name in "abc":
        add(store, name)
    assert there(store, "a", "b", "c") == ["a", "b", "c"]


def test_what_psycopg_asks_by_itself_does_not_make_the_server_forget(store: recollect.Store) -> None:
    add(store, "a")
    for _ in range(10):
        store._db.settled()
    with pytest.raises(AlreadyExists):
        add(store, "b", "a")
    store._db.settled()
    add(store, "b")
    assert there(store, "a", "b") == ["a", "b"]


def test_a_value_that_no_server_takes_is_refused_before_it_is_sent(store: recollect.Store) -> None:
    with pytest.raises(StorageError):
        add(store, "a", "b\0")
    assert there(store, "a") == []
    assert store.append("c", role="user", text="works on").seq == 1


def test_a_statement_that_takes_too_long_is_given_up(store: recollect.Store, postgres_url: str) -> None:
    def slow(tx: Any) -> None:
        tx.send(ADD, name="a", value="x")
        tx.send("select pg_sleep(:seconds)", seconds=60)

    with recollect.open(postgres_url, background=False, pool_max=1, statement_timeout_ms=3_000) as hasty:
        before = backend(hasty)
        with pytest.raises(StoreBusy, match="statement_timeout_ms"):
            hasty._db.write("alex", slow)
        assert there(hasty, "a") == []
        assert backend(hasty) == before


def test_many_statements_are_remembered_and_forgotten_again(store: recollect.Store) -> None:
    def write(tx: Any) -> None:
        for n in range(line.MOST_PREPARED + 50):
            tx.send(f"insert into meta (name, value) values (:name, '{n}') on conflict do nothing", name=f"n{n}")

    for _ in range(2):
        store._db.write("alex", write)
    (count,) = store._db.read("alex", lambda tx: tx.one("select count(*) from pg_prepared_statements"))
    assert 0 < count <= line.MOST_PREPARED
    assert len(there(store, *(f"n{n}" for n in range(300)))) == line.MOST_PREPARED + 50


def test_answers_may_be_read_in_any_order_and_later(store: recollect.Store) -> None:
    def ask(tx: Any) -> Any:
        found = [tx.later("select cast(:n as bigint)", n=n) for n in range(5)]
        assert [found[n]() for n in (4, 0, 4)] == [[(4,)], [(0,)], [(4,)]]
        return found

    assert [rows() for rows in store._db.read("alex", ask)] == [[(n,)] for n in range(5)]


def test_what_is_on_its_way_is_answered_in_part_and_the_rest_with_what_follows(store: recollect.Store) -> None:
    def ask(tx: Any) -> Any:
        first, second = tx.later("select cast(:n as bigint)", n=1), tx.later("select cast(:n as bigint)", n=2)
        tx.go()
        third = tx.later("select cast(:n as bigint)", n=3)
        tx.go()
        assert second() == [(2,)] and first() == [(1,)]
        fourth = tx.later("select cast(:n as bigint)", n=4)
        assert fourth() == [(4,)] and third() == [(3,)]
        tx.later("select cast(:n as bigint)", n=5)
        tx.go()  # and nobody asks for it

    before = backend(store)
    for _ in range(3):
        store._db.read("alex", ask)
    assert there(store, "a") == [] and backend(store) == before


@pytest.mark.parametrize("read", [0, 1, 2])
def test_what_fails_on_its_way_takes_all_with_it(store: recollect.Store, read: int) -> None:
    def write(tx: Any) -> None:
        asked = [tx.later(ADD + " returning name", name="b", value="x")]
        asked.append(tx.later("select 1 / cast(:n as bigint)", n=0))
        tx.go()
        asked.append(tx.later(ADD + " returning name", name="c", value="x"))
        tx.go()
        asked[read]()

    before = backend(store)
    for _ in range(3):
        with pytest.raises(StorageError, match="zero"):
            store._db.write("alex", write)
        assert there(store, "b", "c") == [] and backend(store) == before
    add(store, "b", "c")
    assert there(store, "b", "c") == ["b", "c"]


@pytest.mark.parametrize("error", [LookupError, KeyboardInterrupt])
def test_who_gives_up_while_a_question_is_on_its_way_leaves_no_answer_to_the_next(
    store: recollect.Store, error: type[BaseException]
) -> None:
    def gives_up(tx: Any) -> None:
        tx.send(ADD, name="a", value="x")
        tx.later("select cast(:n as bigint)", n=1)
        tx.go()
        raise error

    for _ in range(3):
        with pytest.raises(error):
            store._db.write("alex", gives_up)
        assert there(store, "a") == []
    add(store, "a")
    assert there(store, "a") == ["a"]


def test_a_refused_answer_is_not_taken_for_an_empty_one(store: recollect.Store) -> None:
    def ask(tx: Any) -> Any:
        wrong, right = tx.later("select 1 / cast(:n as bigint)", n=0), tx.later("select cast(:n as bigint)", n=2)
        tx.go()
        with contextlib.suppress(psycopg.Error):
            wrong()
        return right()

    for _ in range(2):
        with pytest.raises(RecollectError):
            store._db.read("alex", ask)
    assert there(store, "a") == []


@pytest.mark.parametrize("early", [False, True])
def test_a_connection_that_died_while_nobody_used_it_is_replaced(
    store: recollect.Store, postgres_url: str, early: bool
) -> None:
    def ask(tx: Any) -> Any:
        rows = tx.later("select cast(:n as bigint)", n=1)
        if early:
            tx.go()
        return rows()

    before = backend(store)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 20000)", (before,))
    assert store._db.read("alex", ask) == [(1,)]
    assert backend(store) != before


def test_who_is_interrupted_while_statements_get_their_names_takes_none_of_them_for_prepared(
    store: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = line.Line._named

    def interrupted(self: Any, waiting: Any) -> Any:
        named(self, waiting)
        raise KeyboardInterrupt

    for early in (True, False):

        def ask(tx: Any, early: bool = early) -> Any:
            rows = tx.later(f"select cast(:n as bigint), {int(early)}", n=1)
            if early:
                tx.go()
            return rows()

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(line.Line, "_named", interrupted)
            store._db.read("alex", ask)
        assert store._db.read("alex", ask) == [(1, int(early))]


def test_who_asks_more_than_goes_at_once_asks_all_in_one_transaction(store: recollect.Store) -> None:
    """The last one used to go by itself, after the commit: without a person's setting, of another moment."""

    def ask(tx: Any) -> Any:
        asked = "select cast(:n as bigint), current_setting('recollect.user_id', true)"
        answers = [tx.later(asked, n=n) for n in range(many)]
        return [rows() for rows in answers]

    for many in range(line.MOST_AT_ONCE - 4, line.MOST_AT_ONCE + 3):
        assert store._db.read("alex", ask, brief=True) == [[(n, "alex")] for n in range(many)]


def test_who_is_not_as_brief_as_they_thought_still_sees_one_moment(postgres_url: str) -> None:
    with (
        recollect.open(postgres_url, user="alex", background=False) as store,
        recollect.open(postgres_url, user="alex", background=False) as other,
    ):
        store.create("c")
        runs = []

        def ask(tx: Any) -> tuple[int, int]:
            runs.append(1)
            (first,) = tx.one("select count(*) from events where user_no = :user")
            other.append("c", role="user", text="meanwhile")
            (second,) = tx.one("select count(*) from events where user_no = :user")
            return first, second

        first, second = store._db.read("alex", ask, brief=True)
        assert first == second
        assert len(runs) == 2
        assert store._db.read("alex", lambda tx: tx.one("select 1"), brief=True) == (1,)


def test_who_asks_on_after_the_end_begins_anew(store: recollect.Store) -> None:
    asked: list[int] = []

    def ask(tx: Any) -> list[Any]:
        asked.append(1)
        tx.ends()
        first = tx.one("select cast(:n as int)", n=1)
        return [first, tx.one("select cast(:n as int)", n=2)] if len(asked) < 4 else [first]

    assert store._db.read("alex", ask) == [(1,), (2,)]
    assert len(asked) == 2, "the second time nothing ends before it is over"
    asked += [1, 1]
    assert store._db.read("alex", ask) == [(1,)]
    assert store._db.read("alex", lambda tx: tx.one("select 3")) == (3,), "the connection was good"


def test_bytes_come_as_they_are(store: recollect.Store) -> None:
    every = bytes(range(256))
    sql = "select cast(:b as bytea), cast(:n as bigint), cast(:t as text), cast(null as text), 1"
    for _ in range(3):
        found = store._db.read("alex", lambda tx: tx.blobs(sql, b=every, n=-(1 << 60), t="süß")())
        assert found == [(every, -(1 << 60), "süß", None, 1)]


def test_an_interrupted_wait_leaves_no_answer_to_the_next(store: recollect.Store, postgres_url: str) -> None:
    asleep = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'"
    interrupted_at: list[float] = []

    def interrupt() -> None:
        with psycopg.connect(postgres_url, autocommit=True) as look:
            eventually(lambda: look.execute(asleep).fetchone(), 20)  # not before: it would hit whoever comes next
        interrupted_at.append(time.monotonic())
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        store._db.write(
            "alex", lambda tx: (tx.send(ADD, name="a", value="x"), thread.start(), tx.all("select pg_sleep(25)"))
        )
    assert time.monotonic() - interrupted_at[0] < 10, "it waited on"
    thread.join()
    assert there(store, "a") == []
    assert store.append("c", role="user", text="works on").seq == 1
