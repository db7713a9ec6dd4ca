"""What is not safe to write on is refused before anything is written."""

from pathlib import Path

import apsw
import pytest

import recollect
from recollect.db import file
from recollect.db.gate import network_filesystem
from recollect.errors import NetworkFilesystem, SQLiteTooOld, StoreBusy

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:30 / /home rw - nfs4 server:/home rw
31 30 0:31 / /home/me/local\\040disk rw - ext4 /dev/vdb rw
32 22 0:32 / /mnt/c rw - 9p drvfs rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/data", None),
        ("/home/me", "nfs4"),
        ("/home/me/local disk/store", None),
        ("/home2", None),
        ("/mnt/c/Users", "9p"),
    ],
)
def test_the_mount_that_holds_a_path_decides(path: str, kind: str | None) -> None:
    assert network_filesystem(path, MOUNTS) == kind


def test_a_network_file_system_is_refused_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "network_filesystem", lambda path: "nfs4")
    with pytest.raises(NetworkFilesystem, match="Postgres for many machines"):
        recollect.open(tmp_path / "new" / "chat.db")
    assert list(tmp_path.iterdir()) == []


def test_an_old_sqlite_is_refused_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(SQLiteTooOld, match="3\\.51\\.2"):
        recollect.open(tmp_path / "chat.db")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.3")
    recollect.open(tmp_path / "chat.db").close()


def test_a_statement_that_takes_too_long_is_stopped_and_the_store_goes_on(postgres_url: str) -> None:
    with recollect.open(postgres_url, user="alex", statement_timeout_ms=200) as store:
        c = store.create()
        with pytest.raises(StoreBusy, match="statement_timeout_ms"):
            store._db.write("alex", lambda tx: tx.all("select pg_sleep(5)"))
        assert store.append(c, role="user", text="still here").seq == 1


def test_no_more_connections_than_allowed(postgres_url: str, postgres_admin_url: str) -> None:
    import threading

    import psycopg

    with recollect.open(postgres_url, user="alex", pool_min=0, pool_max=3) as store:
        c = store.create()
        threads = [
            threading.Thread(target=lambda: [store.append(c, role="user", text="x") for _ in range(5)])
            for _ in range(12)
        ]
        for t in threads:
            t.start()
        name = postgres_url.rsplit("/", 1)[-1].split("?")[0]
        with psycopg.connect(postgres_admin_url) as admin:
            row = admin.execute("select count(*) from pg_stat_activity where datname = %s", (name,)).fetchone()
        for t in threads:
            t.join()
        assert row is not None
        assert row[0] <= 3
        assert [e.seq for e in store.read(c)] == list(range(1, 61))
