"""The schema's history: the same on both databases, whichever way it was reached; and what is refused untouched."""

import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import apsw
import pytest

import recollect
from recollect import erased
from recollect.db import migrate
from recollect.errors import NewerSchema, NotARecollectFile, RecollectError
from talk import eventually, exchange

FOLDER = Path(migrate.__file__).parent / "migrations"


def numbered(dialect: str) -> list[str]:
    return sorted(p.name for p in (FOLDER / dialect).glob("*.sql"))


def fingerprint(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir() if f.is_file()}


def sqlite_columns(path: str | Path) -> dict[str, list[str]]:
    connection = apsw.Connection(str(path))
    try:
        tables = connection.execute(
            "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and not exists (select 1 from"
            " sqlite_schema v where v.sql like 'create virtual table%' and instr(sqlite_schema.name, v.name || '_') = 1)"
            " order by 1"
        ).fetchall()
        return {t: sorted(r[1] for r in connection.execute(f"pragma table_info({t})")) for (t,) in tables}
    finally:
        connection.close()


def sqlite_schema(path: str | Path) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute("select type, name, tbl_name, sql from sqlite_schema order by 1, 2").fetchall()
    finally:
        connection.close()


def postgres_rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql.encode()).fetchall()


def postgres_columns(url: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in postgres_rows(
        url,
        "select table_name, column_name from information_schema.columns where table_schema = 'recollect'"
        " and table_name <> 'schema_versions'",
    ):
        found.setdefault(table, []).append(column)
    return {t: sorted(cs) for t, cs in sorted(found.items())}


def postgres_schema(url: str) -> list[tuple[Any, ...]]:
    return postgres_rows(
        url,
        "select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns"
        " where table_schema = 'recollect' union all"
        " select tablename, indexname, indexdef, '', '' from pg_indexes where schemaname = 'recollect' union all"
        " select tablename, policyname, qual, with_check, '' from pg_policies where schemaname = 'recollect'"
        " order by 1, 2, 3",
    )


# -- the files


def test_latest_is_the_newest_file() -> None:
    assert int(numbered("sqlite")[-1][:4]) == migrate.LATEST


def test_every_migration_is_there_for_both_under_the_same_name() -> None:
    assert numbered("sqlite") == numbered("postgres")


def test_they_are_numbered_without_a_gap() -> None:
    assert [int(name[:4]) for name in numbered("sqlite")] == list(range(1, migrate.LATEST + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", name) for name in numbered("sqlite"))


def test_scripts_are_those_after_a_version() -> None:
    for dialect in ("sqlite", "postgres"):
        assert [n for n, _ in migrate.scripts(dialect, 0)] == list(range(1, migrate.LATEST + 1))
        assert list(migrate.scripts(dialect, migrate.LATEST)) == []


# -- both databases, both ways


def test_both_databases_have_the_same_tables_and_columns(tmp_path: Path, postgres_url: str) -> None:
    for where in (tmp_path / "chat.db", postgres_url):
        recollect.open(where, user="alex").close()
    there = postgres_columns(postgres_url)
    for index in (
        "words",
        "title_words",
        "item_words",
    ):  # virtual on SQLite: the id is the rowid, and has the user in it
        there[index] = [column for column in there[index] if column not in ("id", "user_no")]
    assert sqlite_columns(tmp_path / "chat.db") == there


def test_every_tenant_table_leads_with_its_user(postgres_url: str) -> None:
    """For sharding: the primary key of each table with a user begins with it."""
    recollect.open(postgres_url, user="alex").close()
    keys = postgres_rows(
        postgres_url,
        "select c.relname, a.attname from pg_index i join pg_class c on c.oid = i.indrelid"
        " join pg_namespace n on n.oid = c.relnamespace"
        " join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]"
        " where i.indisprimary and n.nspname = 'recollect'",
    )
    first = dict(keys)
    for table, columns in postgres_columns(postgres_url).items():
        if "user_no" in columns:
            assert first[table] == "user_no", table


def step_by_step(monkeypatch: pytest.MonkeyPatch, where: str | Path) -> None:
    real = migrate.scripts
    latest = migrate.LATEST
    for version in range(1, latest + 1):
        monkeypatch.setattr(migrate, "LATEST", version)
        monkeypatch.setattr(
            migrate, "scripts", lambda dialect, after, v=version: [s for s in real(dialect, after) if s[0] <= v]
        )
        recollect.open(where, user="alex").close()
    monkeypatch.undo()


def test_built_step_by_step_or_at_once_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recollect.open(tmp_path / "once.db", user="alex").close()
    step_by_step(monkeypatch, tmp_path / "steps.db")
    assert sqlite_schema(tmp_path / "once.db") == sqlite_schema(tmp_path / "steps.db")


def test_built_step_by_step_or_at_once_postgres(postgres_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with postgres_server.database() as once, postgres_server.database() as steps:
        recollect.open(once, user="alex").close()
        step_by_step(monkeypatch, steps)
        assert postgres_schema(once) == postgres_schema(steps)


# -- from the first schema, which had no index


def schema_one(monkeypatch: pytest.MonkeyPatch, where: str, fill: Callable[[recollect.Store], None]) -> None:
    """A store as the first version left it: its tables alone, filled by verbs that know of no index."""
    from recollect import conversations
    from recollect.search import index

    real = migrate.scripts
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "LATEST", 1)
        patch.setattr(migrate, "scripts", lambda dialect, after: [s for s in real(dialect, after) if s[0] == 1])
        for verb in ("add", "remove", "retitle"):
            patch.setattr(index, verb, lambda *args: None)
        known = conversations._COLUMNS.replace("coalesce(c.origin, 'application')", "'application'")
        patch.setattr(conversations, "_COLUMNS", known.replace(conversations._NEWEST, "null"))
        patch.setattr(erased, "has_any", lambda tx, kind: False)
        with recollect.open(where, user="alex", semantic=False, background=False, memory_extract=False) as store:
            fill(store)
            assert store._db.schema() == 1


def test_a_store_of_the_first_schema_becomes_findable(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(store: recollect.Store) -> None:
        for user in ("alex", "kim"):
            mine = store.for_user(user)
            c = mine.create("c", title=f"Holidays of {user}", workspace="/w")
            mine.append_many(c, [{"role": "user", "text": f"{user} saw zebra number {i}"} for i in range(700)])
            mine.append(c, kind="tool_use", tool="Read", path="src/parse_config.py", text="", tags=["giraffe"])
            mine.fork(c, 3, name="idea")
            mine.append(c, role="assistant", text="an okapi", branch="idea", reasoning="a quagga")
        store.create("empty")

    schema_one(monkeypatch, url, fill)
    with recollect.open(url, user="alex", background=False) as store:
        assert store.stats().jobs["queued"] == 1
        assert store.verify().ok, "what waits to be indexed is not missing"
        assert store.search("zebra", types="events") == [], "the test would prove nothing"
        store.settle()
        for user in ("alex", "kim"):
            mine = store.for_user(user)
            mine.settle()
            assert mine.search("zebra 699")[0].text == f"{user} saw zebra number 699"
            for words in ("parse_config", "config", "giraffe", "Read"):
                assert mine.search(words, kinds=["tool_use"])[0].seq == 701, words
            assert mine.search("okapi", conversation="c", branch="idea", kinds=["message"])[0].text == "an okapi"
            assert mine.search("holidays")[0].conversation_id == "c"
            assert "a quagga" not in [h.text for h in mine.search("quagga", branch="*")]
            assert mine.verify().ok
        store.append("c", role="user", text="afterwards a walrus")
        assert store.search("walrus")[0].text == "afterwards a walrus"
        store.delete_event("c", 1)
        store.clear("c")
        assert store.verify().ok


def test_receipts_of_before_become_hashes_and_keep_late_writers_out(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fifth schema kept the id of what was erased in its receipt."""
    real = migrate.scripts
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "LATEST", 5)
        patch.setattr(migrate, "scripts", lambda dialect, after: [s for s in real(dialect, after) if s[0] <= 5])
        patch.setattr(erased, "has_any", lambda tx, kind: False)
        with recollect.open(url, user="alex", background=False) as store:
            for n, id in enumerate(("gone", "there")):
                store._db.write("alex", lambda tx, n=n, id=id: tx.run(  # type: ignore[misc]
                    "insert into receipts (user_no, id, request, counts, erased_at) values (:user, :r, :asked, :counts, 7)",
                    r=f"r{n}", asked=f'{{"conversation": "{id}"}}', counts='{"events": 3}',
                ))  # fmt: skip
            store.create("there")
    with recollect.open(url, user="alex", background=False) as store:
        assert [(r.id, dict(r.counts), r.ok) for r in store.receipts()] == [
            ("r1", {"events": 3}, True),
            ("r0", {"events": 3}, True),
        ]
        assert "gone" not in repr(store.receipts())
        assert [r.id for r in store.receipts(conversation="gone")] == ["r0"]
        with pytest.raises(recollect.errors.Erased):
            store.create("gone")
        assert store.append("there", role="user", text="hi").seq == 1, "created anew before"
        assert store.verify_receipt("r0").ok


def test_plain_memories_get_a_history(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories of the second schema, which knew no changes: active, by hand, found as before."""
    from recollect.search import index

    real = migrate.scripts
    rows = [
        ("m1", "Prefers dark mode", "preference", 0.7, '["ui"]', None, None, None, 5, 1_000, 2_000),
        ("m2", "Likes tea", "fact", 0.5, None, 1, None, "c:1", None, 1_500, 1_500),
        ("m3", "Uses tabs", "fact", 0.5, None, None, "/w", None, None, 1_600, 1_600),
    ]

    def write(tx: Any) -> None:
        for tick, (id, content, kind, importance, tags, c, workspace, source, pinned, created, updated) in zip(
            tx.ticks(len(rows)), rows, strict=True
        ):
            no = tx.one("select no from conversations where user_no = :user and id = 'c'")[0] if c else None
            tx.run(
                "insert into memories (id, user_no, memory_id, kind, content, importance, tags, conversation_no, workspace,"
                " source, pinned_at, created_at, updated_at) values (:tick, :user, :id, :kind, :content, :importance, :tags,"
                " :c, :workspace, :source, :pinned, :created, :updated)",
                tick=tick, id=id, kind=kind, content=content, importance=importance, tags=tags, c=no, workspace=workspace,
                source=source, pinned=pinned, created=created, updated=updated,
            )  # fmt: skip
            index.add(tx, [index.entry(tick, no, workspace, index.memory_terms(kind, content, tags))])

    with monkeypatch.context() as patch:
        from recollect import conversations

        patch.setattr(migrate, "LATEST", 2)
        patch.setattr(migrate, "scripts", lambda dialect, after: [s for s in real(dialect, after) if s[0] <= 2])
        known = conversations._COLUMNS.replace("coalesce(c.origin, 'application')", "'application'")
        patch.setattr(conversations, "_COLUMNS", known.replace(conversations._NEWEST, "null"))
        patch.setattr(erased, "has_any", lambda tx, kind: False)
        with recollect.open(url, user="alex", semantic=False, background=False, memory_extract=False) as store:
            store.append(store.create("c"), role="user", text="I like tea")
            store._db.write("alex", write)
            assert store._db.schema() == 2
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        assert store.verify().ok
        found = {m.id: m for m in store.memories(conversation="c")}
        assert set(found) == {"m1", "m2", "m3"}
        m = found["m1"]
        assert (m.content, m.kind, m.importance, m.tags, m.pinned) == (
            "Prefers dark mode",
            "preference",
            0.7,
            ("ui",),
            True,
        )
        assert (m.state, m.by_hand, m.created_at, m.updated_at, m.scope) == ("active", True, 1_000, 2_000, "user")
        assert (found["m2"].scope, found["m2"].source, found["m3"].scope) == ("conversation", "c:1", "workspace")
        assert [c.action for c in store.memory_history("m1")] == ["added"]
        assert store.recall("dark mode")[0].id == "m1"
        store.forget("m1")
        assert store.recall("dark mode") == []
        store.undo("m1")
        assert store.erase(conversation="c").counts["memories"] == 1
        assert {m.id for m in store.memories()} == {"m1", "m3"}
        assert store.verify().ok
        assert store.for_user("kim").memories() == []


# -- going on to a newer schema


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Pretend that one more migration has been written."""
    real, latest = migrate.scripts, migrate.LATEST

    def pretend(sql: str) -> int:
        monkeypatch.setattr(migrate, "LATEST", latest + 1)
        monkeypatch.setattr(
            migrate,
            "scripts",
            lambda dialect, after: [*real(dialect, after), *([(latest + 1, sql)] if after <= latest else [])],
        )
        return latest + 1

    return pretend


def test_an_older_store_is_brought_up_to_date(url: str, next_version: Callable[[str], int]) -> None:
    with recollect.open(url, user="alex") as store:
        store.append_many(store.create("c"), exchange(5))
    newest = next_version("create table extra (x text)")
    for _ in range(2):
        with recollect.open(url, user="alex") as store:
            assert store.stats().schema == newest
            assert [e.text for e in store.read("c", limit=5)] == [f"message {i}" for i in range(1, 6)]
            assert store.append("c", role="user", text="on").seq > 5
            assert store.verify().ok


def test_a_backup_is_taken_first(tmp_path: Path, next_version: Callable[[str], int]) -> None:
    path = tmp_path / "chat.db"
    with recollect.open(path, user="alex") as store:
        store.append(store.create("c"), role="user", text="before")
    assert list(tmp_path.glob("*backup*")) == [], "a new file needs none"
    next_version("create table extra (x text)")
    recollect.open(path, user="alex").close()
    (backup,) = tmp_path.glob("*backup*")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert "extra" not in sqlite_columns(backup)
    connection = apsw.Connection(str(backup), apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("select text from events").fetchall() == [("before",)]
    assert connection.pragma("user_version") == migrate.LATEST - 1
    connection.close()


def test_a_migration_that_fails_changes_nothing(
    url: str, next_version: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with recollect.open(url, user="alex") as store:
        store.append(store.create("c"), role="user", text="before")
        schema = store.stats().schema
    next_version("create table extra (x text); insert into nowhere values (1)")
    with pytest.raises(RecollectError):
        recollect.open(url, user="alex")
    monkeypatch.undo()
    with recollect.open(url, user="alex") as store:
        assert store.stats().schema == schema
        assert store.append("c", role="user", text="after").seq == 2
        assert store.verify().ok


def test_many_programs_migrating_at_once(url: str) -> None:
    recollect.open(url, user="alex").close()
    code = (
        "import sys, recollect\nfrom recollect.db import migrate\nreal, n = migrate.scripts, migrate.LATEST + 1\n"
        "migrate.LATEST = n\n"
        "migrate.scripts = lambda d, after: [*real(d, after), *([(n, 'create table extra (x text)')] if after < n else [])]\n"
        "with recollect.open(sys.argv[1], user='alex') as s: s.create(); print(s.stats().schema)"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = [p.communicate()[0].strip() for p in programs]
    assert said == [str(migrate.LATEST + 1)] * 4


def test_a_client_that_waited_sees_what_the_first_one_built(postgres_url: str) -> None:
    """It asked before the lock, and asks again after it: the second answer must not come from its session's cache."""
    import psycopg

    from recollect.db.postgres import MIGRATION_LOCK

    with psycopg.connect(postgres_url, autocommit=True) as first, ThreadPoolExecutor(1) as pool:
        first.execute("select pg_advisory_lock(%s)", (MIGRATION_LOCK,))
        second = pool.submit(recollect.open, postgres_url, user="alex")
        waits = (
            "select 1 from pg_locks l join pg_database d on d.oid = l.database"
            " where d.datname = current_database() and l.locktype = 'advisory' and not l.granted"
        )
        eventually(lambda: first.execute(waits).fetchone(), 60)
        with first.transaction():
            first.execute("create schema recollect")
            first.execute(
                "create table recollect.schema_versions (version bigint primary key, applied_at bigint not null)"
            )
            first.execute("set local search_path = recollect, public")
            for number, script in migrate.scripts("postgres", 0):
                first.execute(script.encode())
                first.execute("insert into schema_versions values (%s, 0)", (number,))
        first.execute("select pg_advisory_unlock(%s)", (MIGRATION_LOCK,))
        with second.result(60) as store:
            store.create()
            assert store.stats().schema == migrate.LATEST


# -- refused, untouched


def refused(path: Path, error: type[Exception]) -> str:
    """Opening is refused, and not a byte of the file nor a file beside it changes."""
    before = fingerprint(path.parent)
    for _ in range(2):
        with pytest.raises(error) as caught:
            recollect.open(path, user="alex")
    after = fingerprint(path.parent)
    after.pop(path.name + ".lock", None)
    before.pop(path.name + ".lock", None)
    assert after == before
    return str(caught.value)


def test_a_newer_schema_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with recollect.open(path, user="alex") as store:
        store.create()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", migrate.LATEST + 1)
    connection.close()
    said = refused(path, NewerSchema)
    assert f"schema {migrate.LATEST + 1}" in said
    assert "git pull && pip install ." in said


def test_a_newer_schema_that_is_still_in_the_log_is_refused(tmp_path: Path) -> None:
    """Its program was killed: the version stands in the write-ahead log, not yet in the file."""
    path = tmp_path / "chat.db"
    recollect.open(path, user="alex").close()
    code = (
        f"import apsw, os\nc = apsw.Connection({str(path)!r})\nc.pragma('wal_autocheckpoint', 0)\n"
        f"c.pragma('user_version', {migrate.LATEST + 1})\nc.execute('create table newer (x)')\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "chat.db-wal").stat().st_size > 0
    with pytest.raises(NewerSchema):
        recollect.open(path, user="alex")
    assert "newer" in sqlite_columns(path)


def test_a_newer_schema_on_postgres_is_refused_untouched(postgres_url: str) -> None:
    import psycopg

    recollect.open(postgres_url, user="alex").close()
    before = postgres_schema(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("insert into recollect.schema_versions values (%s, 0)", (migrate.LATEST + 1,))
    with pytest.raises(NewerSchema, match=f"schema {migrate.LATEST + 1}"):
        recollect.open(postgres_url, user="alex")
    assert postgres_schema(postgres_url) == before


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("create table t (x); insert into t values (1)")
    connection.close()
    assert "another program" in refused(path, NotARecollectFile)


def test_another_programs_database_with_events_in_it_too(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.execute("create table events (x); create table conversations (x)")
    connection.pragma("user_version", 1)
    connection.close()
    refused(path, NotARecollectFile)


@pytest.mark.parametrize(
    "content", [b"not a database", b"\0" * 5000, b"SQLite format 2\0" + b"x" * 200, b"x", os.urandom(9000)],
    ids=["text", "zeros", "old", "one byte", "noise"],
)  # fmt: skip
def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    refused(path, NotARecollectFile)
    assert path.read_bytes() == content


def test_with_another_programs_journal_beside_it_too(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database, but it has a namesake")
    (tmp_path / "notes.txt-journal").write_bytes(b"dear diary")
    refused(path, NotARecollectFile)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotARecollectFile, match="folder"):
        recollect.open(tmp_path / "folder", user="alex")


def test_a_parent_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RecollectError):
        recollect.open(tmp_path / "file" / "chat.db", user="alex")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts this process's open files")
def test_what_is_refused_leaves_nothing_open(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    recollect.open(path, user="alex").close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", migrate.LATEST + 1)
    connection.close()
    # In a process of its own: here, what is left of other tests may open something at any moment.
    code = (
        "import os, sys, recollect\n"
        "for _ in range(6):\n"
        "    try:\n        recollect.open(sys.argv[1], user='alex')\n"
        "    except recollect.errors.NewerSchema:\n        print(len(os.listdir('/proc/self/fd')))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    first, *later = map(int, done.stdout.split())
    assert len(later) == 5, done.stderr
    assert max(later) <= first


# -- how files are made


@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes there")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_are_for_their_user_only(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with recollect.open(tmp_path / "new" / "deeper" / "chat.db", user="alex") as store:
            store.append_many(store.create(), exchange(5))
            store.messages(store.conversations()[0])
            modes = {f.name: stat.S_IMODE(f.stat().st_mode) for f in (tmp_path / "new" / "deeper").iterdir()}
    finally:
        os.umask(before)
    assert "chat.db-wal" in modes
    assert set(modes.values()) == {0o600}, modes
    assert stat.S_IMODE((tmp_path / "new" / "deeper").stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="there are no modes there")
def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    recollect.open(tmp_path / "chat.db", user="alex").close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.touch()
    with recollect.open(path, user="alex") as store:
        store.create()
        assert store.verify().ok


CREATE_AND_DIE = """
import os, sys, recollect
from recollect.db import migrate
real = migrate.scripts
def scripts(dialect, after):
    for number, sql in real(dialect, after):
        half = sql.rfind("create table")
        yield number, sql[:half] + ";" + "select 1/0 from nowhere_at_all;" if sys.argv[2] == "error" else sql
    if sys.argv[2] == "between":
        os._exit(9)
migrate.scripts = scripts
recollect.open(sys.argv[1], user="alex")
"""


@pytest.mark.parametrize("how", ["error", "between"])
def test_a_creation_that_was_cut_short_is_taken_up_again(tmp_path: Path, how: str) -> None:
    path = tmp_path / "chat.db"
    done = subprocess.run([sys.executable, "-c", CREATE_AND_DIE, str(path), how], capture_output=True, text=True)
    assert done.returncode == (9 if how == "between" else 1), done.stderr
    with recollect.open(path, user="alex") as store:
        store.append(store.create("c"), role="user", text="hi")
        assert store.verify().ok
    recollect.open(tmp_path / "fresh.db", user="alex").close()
    assert sqlite_schema(path) == sqlite_schema(tmp_path / "fresh.db")


def test_a_creation_killed_in_the_middle_of_its_commit(tmp_path: Path) -> None:
    """What a power cut leaves: a half-written file and the journal that undoes it."""
    recollect.open(tmp_path / "whole.db", user="alex").close()
    path = tmp_path / "chat.db"
    code = (
        f"import apsw, os\nc = apsw.Connection({str(path)!r})\nc.pragma('cache_size', 1)\nc.pragma('cache_spill', 1)\n"
        "c.execute('begin immediate')\n"
        "for i in range(200): c.execute(f'create table t{i} (x); insert into t{i} values (zeroblob(5000))').fetchall()\n"
        "os._exit(0)"
    )
    path.touch()
    subprocess.run([sys.executable, "-c", code], check=True)
    assert path.stat().st_size > 0, "the test would prove nothing"
    assert (tmp_path / "chat.db-journal").exists()
    with recollect.open(path, user="alex") as store:
        store.create()
        assert store.verify().ok
    assert sqlite_schema(path) == sqlite_schema(tmp_path / "whole.db")


def test_journal_and_safety_are_set(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with recollect.open(path, user="alex") as store:
        store.create()
        connection = apsw.Connection(str(path))
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("application_id") == 0x52434C54
        connection.close()


def test_the_tables_are_in_a_schema_of_their_own(postgres_url: str) -> None:
    recollect.open(postgres_url, user="alex").close()
    assert postgres_rows(postgres_url, "select 1 from information_schema.tables where table_schema = 'public'") == []


def test_two_stores_of_one_server_are_two_databases(postgres_server: Any) -> None:
    with postgres_server.database() as one, postgres_server.database() as two:
        assert urlsplit(one).path != urlsplit(two).path
        with recollect.open(one, user="alex") as a, recollect.open(two, user="alex") as b:
            a.create("c")
            assert b.conversations() == []
