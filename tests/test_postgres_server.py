"""The tests' own Postgres: an ordinary role, fresh databases, a crash that recovers, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from postgres_server import Databases, PostgresServer, postmaster
from talk import eventually

HERE = Path(__file__).resolve().parent


def one(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    return row and row[0]


def test_tests_connect_as_an_ordinary_role(postgres_url: str, postgres_admin_url: str) -> None:
    powers = (
        "select rolsuper or rolbypassrls or rolcreatedb or rolcreaterole from pg_roles where rolname = current_user"
    )
    assert one(postgres_url, powers) is False
    assert one(postgres_admin_url, powers) is True


def test_role_owns_its_database_and_has_the_extensions(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("create extension if not exists vector")
        connection.execute("create table points (place vector(3))")
        connection.execute("insert into points values ('[1,2,3]')")
        assert connection.execute("select place <-> '[1,2,4]' from points").fetchone() == (1.0,)
        assert connection.execute("select similarity('recollect', 'recollect')").fetchone() == (1.0,)


def test_row_level_security_bites(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("create table things (owner text)")
        connection.execute("alter table things enable row level security")
        connection.execute("alter table things force row level security")
        connection.execute("create policy own on things using (owner = current_setting('test.who', true))")
        connection.execute("set test.who = 'alex'")
        connection.execute("insert into things values ('alex')")
        connection.execute("set test.who = 'kim'")
        assert connection.execute("select count(*) from things").fetchone() == (0,)


def test_each_database_is_fresh(postgres_server: Databases) -> None:
    with postgres_server.database() as first, postgres_server.database() as second:
        with psycopg.connect(first) as connection:
            connection.execute("create table only_here (id int)")
        assert one(second, "select to_regclass('only_here')") is None
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(first)


def test_killed_server_recovers_what_it_acknowledged(private_postgres: PostgresServer) -> None:
    url = private_postgres.new_url()
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (id int)")
        connection.execute("insert into kept values (7)")
    before = private_postgres.pid
    private_postgres.kill()
    assert private_postgres.pid is None
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    private_postgres.start()
    assert private_postgres.pid not in (None, before)
    assert one(url, "select id from kept") == 7
    private_postgres.restart()
    assert one(url, "select id from kept") == 7


@pytest.mark.parametrize("end", ["kill -9", "kill -9 after the server's own end"])
def test_nothing_survives_its_owner(end: str) -> None:
    """The process that started a server is killed: the server ends by itself and its files go."""
    program = "import sys, postgres_server as p; s = p.PostgresServer(); s.start(); print(s.folder, s.pid, flush=True)"
    program += "; s.kill()" if "after" in end else ""
    program += "; print('up', flush=True); sys.stdin.read()"
    owner = subprocess.Popen(
        [sys.executable, "-c", program], cwd=HERE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with owner:
        assert owner.stdout
        folder, pid = owner.stdout.readline().split()
        assert owner.stdout.readline() == "up\n"
        assert Path(folder).exists()
        assert (postmaster(Path(folder) / "data") is None) == ("after" in end)
        owner.kill()
    eventually(lambda: not Path(folder).exists(), 60)
    with contextlib.suppress(psutil.NoSuchProcess):  # its number may be another program's by now
        server = psutil.Process(int(pid))
        assert server.status() == psutil.STATUS_ZOMBIE or str(folder) not in " ".join(server.cmdline())


@pytest.mark.parametrize("ci", [True, False])
def test_skipping_fails_in_ci(ci: bool, tmp_path: Path) -> None:
    tests = tmp_path / "test_skips.py"
    tests.write_text(
        "import pytest\n"
        "def test_skip(): pytest.skip('no server')\n"
        "@pytest.mark.xfail\n"
        "def test_xfail(): assert False\n"
        "@pytest.mark.nightly\n"
        "def test_long(): assert False\n"
        "def test_pass(): pass\n"
    )
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = nightly\n")
    environment = os.environ | {"CI": "true" if ci else "", "PYTHONPATH": str(HERE)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
    ]
    done = subprocess.run([*command, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    closing = done.stdout.splitlines()[-1]
    if ci:
        assert done.returncode == 1
        assert "2 failed, 1 passed, 1 deselected, 1 error" in closing, done.stdout
    else:
        assert done.returncode == 0
        assert "1 passed, 2 skipped, 1 deselected, 1 xfailed" in closing, done.stdout
