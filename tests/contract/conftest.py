"""What the contract suite needs besides a store: the same database opened again, and a way round the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

import recollect
from talk import Open, Raw


@pytest.fixture
def open_store(url: str) -> Iterator[Open]:
    """`recollect.open` on the test's database; everything it opened is closed at the end. By words alone unless said,
    and without looking for memories: these tests count jobs, and each is one."""
    with ExitStack() as stack:

        def opener(
            user: str = "alex", *, semantic: bool = False, memory_extract: bool = False, **settings: Any
        ) -> recollect.Store:
            opened = recollect.open(url, user=user, semantic=semantic, memory_extract=memory_extract, **settings)
            return stack.enter_context(opened)

        yield opener


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """`changes` on Postgres waits a second for transactions that are open anywhere on the server. Other tests have theirs
    there, and a slow disk keeps them open for longer; how long it waits is not what is tested here."""
    monkeypatch.setattr("recollect.verbs.log.SETTLED_SOON_SECONDS", 60.0)


@pytest.fixture
def raw(url: str, backend: str, request: pytest.FixtureRequest) -> Raw:
    """SQL on the test's database past the library, row-level security included: to tamper, and to look."""
    if backend == "sqlite":
        import apsw

        def run(sql: str) -> list[tuple[Any, ...]]:
            connection = apsw.Connection(url, apsw.SQLITE_OPEN_READWRITE)
            connection.set_busy_timeout(60_000)  # what is done in the background may be writing at this moment
            try:
                return connection.execute(sql).fetchall()
            finally:
                connection.close()

        return run

    import psycopg

    server = request.getfixturevalue("postgres_server")
    admin = server.admin_url(urlsplit(url).path.lstrip("/"))

    def run_there(sql: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(admin, autocommit=True, options="-c search_path=recollect") as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    return run_there


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """An encrypted way of opening is SQLite's alone."""
    given = [(item, getattr(getattr(item, "callspec", None), "params", {})) for item in items]
    items[:] = [i for i, p in given if not (p.get("way") == "encrypted" and p.get("backend") == "postgres")]
