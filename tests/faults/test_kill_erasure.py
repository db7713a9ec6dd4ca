"""kill -9 at every step of an erasure, on both databases: the next opening finishes it before anything else is served."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import recollect
from canaries import in_files

from . import scenarios
from .harness import Child, Say, figures

WORD = "qwxztheworditisabout"
STEPS = [
    ("before commit", 1), ("erasure begun", 1), ("erased elsewhere", 1), ("erased", 1), ("erased", 2), ("erased", 3), ("erased", 4),
    ("erased", 5), ("erasure scrubbed", 1),
]  # fmt: skip
"""A user with three conversations is erased in five transactions: what was learned, each conversation, the rest."""
ON_POSTGRES = [step for step in STEPS if step[0] != "before commit"]  # a point of the file's writer


def plant(url: str) -> None:
    with recollect.open(url, user="alex", background=False, semantic=False) as store:
        for n in range(3):
            c = store.create(f"c{n}").id
            for i in range(10):
                store.append(c, role="user", text=f"I like {WORD} {n} {i}.")
            store.fork(c, 4, name="side")
            store.append(c, role="user", text=WORD, branch="side")
            store.consolidate(c)
        store.remember(f"by hand {WORD}", tags=[WORD])
        store.for_user("kim").append(store.for_user("kim").create("hers"), role="user", text="kept")


def erase_and_die(say: Say, url: str, point: str, time: int, request: dict[str, str]) -> None:
    with recollect.open(url, user="alex", background=False, semantic=False) as store:
        scenarios.die_at(point, time)
        store.erase(**request)  # type: ignore[arg-type]
    say("survived")


@pytest.mark.parametrize(("point", "time"), STEPS, ids=lambda x: str(x).replace(" ", "-"))
def test_what_was_begun_is_finished_at_the_next_opening(
    url: str, backend: str, point: str, time: int, request: pytest.FixtureRequest
) -> None:
    if backend == "postgres" and (point, time) not in ON_POSTGRES:
        return  # the server commits there: no point of ours
    plant(url)
    with Child(erase_and_die, url, point, time, {"user": "alex"}) as child:
        said = child.ended()
        assert child.process.exitcode == -signal.SIGKILL, f"{point} was not reached: {said}"
    with recollect.open(url, user="kim", background=False, semantic=False) as store:  # whoever opens it
        alex = store.for_user("alex")
        begun = point != "before commit"
        assert len(alex.receipts()) == begun
        if begun:
            (receipt,) = alex.receipts()
            assert receipt.ok and receipt.counts["events"] == 33 and receipt.counts["conversations"] == 3
            assert alex.verify_receipt(receipt).ok
        else:
            assert len(alex.conversations()) == 3
            assert alex.erase(user="alex").counts["events"] == 33
        assert alex.conversations() == alex.conversations(deleted=True) == alex.memories(state=None) == []
        assert alex.search(WORD) == []
        assert alex.verify().ok
        assert [e.text for e in store.read("hers")] == ["kept"]
        if backend == "sqlite":
            assert in_files(Path(url).parent, [WORD]) == {}
        else:
            _no_row(url, request)
    figures(f"kill-erasure-{backend}-{point.replace(' ', '-')}-{time}", rounds=1, failures=0)


def _no_row(url: str, request: pytest.FixtureRequest) -> None:
    from urllib.parse import urlsplit

    import psycopg

    server: Any = request.getfixturevalue("postgres_server")
    with psycopg.connect(
        server.admin_url(urlsplit(url).path.lstrip("/")), options="-c search_path=recollect"
    ) as connection:
        for (table,) in connection.execute("select tablename from pg_tables where schemaname = 'recollect'").fetchall():
            rows = connection.execute(f"select t::text from {table} t".encode()).fetchall()
            assert not [row for row in rows if WORD in row[0]], table


def test_control_an_erasure_that_nobody_finishes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "chat.db")
    plant(path)
    with Child(erase_and_die, path, "erased", 2, {"user": "alex"}) as child:
        child.ended()
    monkeypatch.setattr("recollect.store._finished", lambda db: db)
    with recollect.open(path, user="alex", background=False, semantic=False) as store:
        assert store.conversations() != []
        assert [r.ok for r in store.receipts()] == [False]
