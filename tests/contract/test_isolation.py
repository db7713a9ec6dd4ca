"""One handle, one user: nobody sees, changes or even notices another's."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.errors import NotFound
from talk import Open, exchange, texts

LOOKALIKES = [
    "user10",
    "user",
    "USER1",
    "User1",
    "user1 ",
    " user1",
    "user1\u00a0" if "\u00a0".isprintable() else "user1_",
    "user_",
    "user%",
    "uѕer1",  # Cyrillic ѕ
    "ｕｓｅｒ１",
    unicodedata.normalize("NFD", "üser1"),
    unicodedata.normalize("NFC", "üser1"),
    "user1'--",
    "*",
]


@pytest.fixture
def victim(store: recollect.Store) -> recollect.Store:
    """user1, with one of everything in the conversation `c`."""
    user1 = store.for_user("user1")
    user1.create("c", title="private", workspace="/w")
    user1.append("c", role="user", text="SECRET", key="k")
    user1.append("c", role="assistant", text="SECRET", reasoning="SECRET")
    user1.append("c", kind="ledger", task_id="t", goal="SECRET")
    user1.append("c", kind="event", name="n", text="SECRET", tool="SECRET", agent="SECRET", model="SECRET")
    user1.fork("c", 1, name="idea")
    user1.create("binned")
    user1.delete("binned")
    return user1


READS = {
    "get": lambda s: s.get("c"),
    "read": lambda s: s.read("c"),
    "read *": lambda s: s.read("c", branch="*"),
    "read idea": lambda s: s.read("c", branch="idea"),
    "messages": lambda s: s.messages("c", include_reasoning=True),
    "formatted_history": lambda s: s.formatted_history("c"),
    "with_history": lambda s: s.with_history("c", "hi"),
    "ledger": lambda s: s.ledger("c"),
    "reasoning": lambda s: s.reasoning("c"),
    "branches": lambda s: s.branches("c"),
}
WRITES = {
    "rename": lambda s: s.rename("c", "mine now"),
    "delete": lambda s: s.delete("c"),
    "restore": lambda s: s.restore("binned"),
    "clear": lambda s: s.clear("c"),
    "erase": lambda s: s.erase(conversation="c"),
    "append": lambda s: s.append("c", role="user", text="x"),
    "append with key": lambda s: s.append("c", role="user", text="x", key="k"),
    "record": lambda s: s.record_workflow_event("c", {"type": "x"}),
    "delete_event": lambda s: s.delete_event("c", 1),
    "fork": lambda s: s.fork("c"),
    "switch": lambda s: s.switch("c", "idea"),
    "summarize": lambda s: s.summarize("c"),
}


def snapshot(store: recollect.Store) -> list[object]:
    return [READS[verb](store) for verb in sorted(READS)] + [store.conversations(deleted=True)]


@pytest.mark.parametrize("other", LOOKALIKES, ids=ascii)
def test_users_that_look_alike_are_strangers(victim: recollect.Store, other: str) -> None:
    stranger = victim.for_user(other)
    before = snapshot(victim)
    for verb in (*READS.values(), *WRITES.values()):
        with pytest.raises(NotFound) as caught:
            verb(stranger)
        assert type(caught.value) is NotFound, "not even that it is in the bin"
        assert "SECRET" not in str(caught.value)
    assert stranger.conversations() == stranger.conversations(deleted=True) == []
    assert stranger.conversations(workspace="/w") == []
    stats = stranger.stats(by="agent")
    assert (stats.conversations, stats.events, stats.rows, stats.jobs) == (0, 0, (), {})
    assert stranger.verify().events == 0
    assert snapshot(victim) == before


def test_two_users_may_have_the_same_conversation(victim: recollect.Store) -> None:
    kim = victim.for_user("kim")
    kim.create("c", title="kim's")
    assert kim.append("c", role="user", text="hers", key="k").seq == 1
    kim.fork("c", name="idea")
    before = snapshot(victim)
    assert texts(kim.read("c", branch="*")) == ["hers"]
    assert [x.id for x in kim.conversations()] == ["c"]
    for verb in ("rename", "append with key", "delete_event", "switch", "clear", "delete"):
        WRITES[verb](kim)
    kim.erase(conversation="c")
    assert snapshot(victim) == before
    assert victim.verify().ok


def test_a_cursor_of_one_user_shows_another_only_her_own(victim: recollect.Store) -> None:
    kim = victim.for_user("kim")
    kim.create("k1")
    kim.create("k2")
    (mine,) = victim.conversations()
    assert {c.id for c in kim.conversations(cursor=mine.cursor)} <= {"k1", "k2"}


def test_statistics_and_jobs_are_ones_own(open_store: Open) -> None:
    store = open_store(background=False)
    kim = store.for_user("kim")
    c = kim.create().id
    kim.append_many(c, exchange(21))
    assert store.stats().jobs == {}
    assert store.settle() == 0
    assert kim.stats().jobs == {"queued": 1}


def test_a_stranger_who_only_looks_leaves_no_trace(store: recollect.Store, url: str) -> None:
    store.create()
    store.for_user("passer-by").conversations()
    with recollect.admin(url) as admin:
        assert admin.users() == ["alex"]


def test_only_the_admin_sees_across_users(store: recollect.Store, url: str) -> None:
    for user in ("kim", "alex", "Ümit"):
        mine = store.for_user(user)
        mine.append(mine.create(), role="user", text="hi")
    with recollect.admin(url) as admin:
        assert sorted(admin.users()) == sorted(["alex", "kim", "Ümit"])
        assert {(s.user, s.events) for s in admin.stats()} == {("alex", 1), ("kim", 1), ("Ümit", 1)}
        assert len(admin.for_user("kim").conversations()) == 1


# -- the second wall: row-level security

TENANT_TABLES = [
    "conversations", "branches", "events", "tombstones", "jobs", "receipts", "memories", "vectors", "passages", "embeddings",
    "statistics",
]  # fmt: skip


@pytest.fixture
def walled(postgres_url: str) -> Iterator[Any]:
    """alex and kim with rows in every table, and a plain connection of the store's own role."""
    import psycopg

    with recollect.open(postgres_url, user="alex", background=False) as store:
        for user in ("alex", "kim"):
            mine = store.for_user(user)
            c = mine.create("c").id
            mine.append_many(c, exchange(21))
            mine.delete_event(c, 1)
            mine.erase(conversation=mine.create())
            mine.append_many(c, exchange(500))
            mine.remember("prefers dark mode")
            mine.settle()
            mine.search("message")
            mine.append_many(c, exchange(2))
            mine.append(c, role="user", text="a long story. " * 200)
        with psycopg.connect(postgres_url, autocommit=True, options="-c search_path=recollect") as connection:
            yield connection


def number(connection: Any, user: str) -> int:
    with connection.transaction():
        connection.execute("select set_config('recollect.user_id', %s, true)", (user,))
        return int(connection.execute("select no from users").fetchone()[0])


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_without_a_user_no_row_is_visible(walled: Any, table: str) -> None:
    assert walled.execute(f"select count(*) from {table}").fetchone() == (0,)


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_statement_that_forgot_its_where_shows_ones_own_rows_only(walled: Any, table: str) -> None:
    alex = number(walled, "alex")
    with walled.transaction():
        walled.execute("select set_config('recollect.user_no', %s, true)", (str(alex),))
        assert {row[0] for row in walled.execute(f"select user_no from {table}")} == {alex}


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_nor_does_it_change_anothers(walled: Any, table: str) -> None:
    alex, kim = number(walled, "alex"), number(walled, "kim")
    with walled.transaction():
        walled.execute("select set_config('recollect.user_no', %s, true)", (str(alex),))
        walled.execute(f"delete from {table}")
    with walled.transaction():
        walled.execute("select set_config('recollect.user_no', %s, true)", (str(kim),))
        assert walled.execute(f"select count(*) from {table}").fetchone()[0] > 0


def test_a_row_cannot_be_written_for_another(walled: Any) -> None:
    import psycopg

    alex, kim = number(walled, "alex"), number(walled, "kim")
    with pytest.raises(psycopg.errors.InsufficientPrivilege), walled.transaction():
        walled.execute("select set_config('recollect.user_no', %s, true)", (str(alex),))
        walled.execute("insert into tombstones values (%s, 1, 1000, 1000, 0)", (kim,))


def test_users_cannot_be_listed_without_the_admins_key(walled: Any) -> None:
    assert walled.execute("select count(*) from users").fetchone() == (0,)


def test_every_table_with_a_user_has_the_wall(walled: Any) -> None:
    rows = walled.execute(
        "select c.relname, c.relrowsecurity and c.relforcerowsecurity from pg_class c"
        " join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid"
        " where n.nspname = 'recollect' and c.relkind = 'r' and a.attname = 'user_no'"
    ).fetchall()
    assert {name for name, _ in rows} >= set(TENANT_TABLES)
    # The two are read through functions that repeat the policy: test_search_isolation.py has their wall.
    assert {name for name, walled_in in rows if not walled_in} == {"words", "title_words", "item_words"}
