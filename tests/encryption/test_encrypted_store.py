"""An encrypted store: nothing of it lies anywhere in the clear, it does what a plain one does, and whoever has no key, the
wrong key, a damaged or a foreign file is told which."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect
from encryption.conftest import CANARY, PASSPHRASE, RAW, fill, leaks, opened
from recollect import Settings, backup, ids, keys, salvage
from recollect.db import chacha, cipher, migrate
from recollect.errors import (
    BadKeyFile,
    Damaged,
    InvalidInput,
    MissingKey,
    NotARecollectFile,
    NotEncrypted,
    RecollectError,
    SettingsError,
    WrongKey,
)
from talk import exchange, texts

PAGE = 4096


# -- nothing in the clear ----------------------------------------------------------------------------------------------


def a_migration_later(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts, latest = migrate.scripts, migrate.LATEST
    more = (latest + 1, "create table later (name text primary key) without rowid;")
    monkeypatch.setattr(migrate, "LATEST", latest + 1)
    monkeypatch.setattr(migrate, "scripts", lambda dialect, after: [*scripts(dialect, after), more])


def in_every_file(path: Path, key: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """All that makes a file of a store, and how often a canary is in each: while it is open, and when it is closed."""
    found: dict[str, int] = {}

    def look(when: str) -> None:
        found.update({f"{name} {when}": n for name, n in leaks(path.parent).items()})

    with opened(path, key, backup_every=1) as store:
        assert fill(store) > 40
        look("while it is written")
        store.backup(path.parent / "backups" / "by-hand.db")
        later = ids.now() + 2 * 3_600_000
        monkeypatch.setattr(ids, "now", lambda: later)
        store.settle()  # the scheduled one
        look("with backups")
        store.compact()
        look("compacted")
        store.clear(store.conversations()[0])
        look("cleared")
    a_migration_later(monkeypatch)
    with opened(path, key):
        look("migrated")
    salvage.salvage(path, path.parent / "saved.db", key=None if key is None else keys.Key(key))
    backup.restore(path.parent / "backups" / "by-hand.db", path, key=None if key is None else keys.Key(key))
    look("saved and restored")
    return found


KINDS = ("chat.db ", "chat.db-wal ", "chat.db-shm ", "chat.db.lock ", "backups/by-hand.db ", "-auto.db ", ".backup ", "saved.db ", ".aside ")  # fmt: skip


def test_no_file_holds_a_word_of_it(path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = in_every_file(path, key, monkeypatch)
    assert {name: n for name, n in found.items() if n} == {}
    for kind in KINDS:
        assert any(kind in name for name in found), f"no file {kind}was looked at: {sorted(found)}"


def test_control_the_same_on_a_plain_store_is_full_of_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = in_every_file(path, None, monkeypatch)
    for kind in KINDS:
        seen = max(n for name, n in found.items() if kind in name)
        assert (seen > 0) == (kind not in ("chat.db-shm ", "chat.db.lock ")), kind


class Spy(apsw.VFS):
    """Sees which files SQLite opens."""

    def __init__(self) -> None:
        self.temporary: list[int] = []
        self.journals: list[str] = []
        super().__init__("spy", "", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        temporary = (
            apsw.SQLITE_OPEN_TEMP_DB | apsw.SQLITE_OPEN_TRANSIENT_DB | apsw.SQLITE_OPEN_TEMP_JOURNAL
            | apsw.SQLITE_OPEN_SUBJOURNAL
        )  # fmt: skip
        if flags[0] & temporary:
            self.temporary.append(flags[0])
        return super().xOpen(name, flags)


SPIED = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from encryption.test_encrypted_store import Spy, temporary_files
print(temporary_files(Spy(), Path({store!r}), {key!r}))
"""


def temporary_files(spy: Spy, path: Path, key: str | None) -> int:
    with opened(path, key) as store:
        fill(store)
        many = [{"role": "user", "text": f"{CANARY} {n} " + "word " * 60} for n in range(3_000)]
        store.append_many(store.create("big"), many)  # type: ignore[arg-type]
        store.compact()
        store.search(CANARY, limit=500)
        store.stats(by="day")
        # A sort larger than its memory, which ours never are. This SQLite keeps such things in memory unless told
        # otherwise; the control tells it.
        reader = store._db._current()._reader().connection  # type: ignore[attr-defined]
        reader.pragma("cache_size", 10)
        if key is None:
            reader.pragma("temp_store", 1)
        else:
            assert reader.pragma("temp_store") == 2
        rows = store._db.read("alex", lambda tx: tx.all("select text from events order by text || id, text desc"))
        assert len(rows) > 3_000
    return len(spy.temporary)


@pytest.mark.parametrize("key", [RAW, None])
def test_no_temporary_file_is_made(path: Path, key: str | None) -> None:
    """SQLite leaves its temporary files in the clear, so an encrypted store has none; a plain one shows that the spy sees."""
    code = SPIED.format(path=[str(Path(__file__).parents[1])], store=str(path), key=key)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (int(done.stdout) > 0) == (key is None)


# -- what it can do ----------------------------------------------------------------------------------------------------


def seen(store: recollect.Store) -> tuple[Any, ...]:
    found = [hit.id for hit in store.search("message 7")]
    assert found[0] == "c:7"
    return store.read("c"), found, [m.content for m in store.memories()]


def test_it_does_what_a_plain_one_does(path: Path, key: str) -> None:
    with opened(path, key) as store:
        c = store.create("c")
        store.append_many(c, exchange(12))
        store.remember("Prefers dark mode")
        store.settle()
        before = seen(store)
        assert store.context("which mode?").items
        kim = store.for_user("kim")
        assert kim.conversations() == []
        assert store.verify().ok
    with opened(path, key) as store:
        assert seen(store) == before
        assert repr(store) == f"<recollect.Store {path} user='alex'>"
    with recollect.admin(path, key=key) as everyone:
        assert everyone.users() == ["alex"]

    async def read() -> list[recollect.Event]:
        async with await recollect.open_async(path, user="alex", key=key, background=False) as store:
            return await store.read("c")

    assert asyncio.run(read()) == before[0]


def test_the_same_key_in_other_words(path: Path) -> None:
    opened(path, RAW).close()
    for same in (RAW.upper(), bytes.fromhex(RAW), bytearray.fromhex(RAW)):
        opened(path, same).close()
    other = path.with_name("other.db")
    opened(other, "Caf\u00e9 au lait").close()
    opened(other, "Cafe\u0301 au lait").close()


def derivations(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What it costs each time a passphrase is worked out, from now on."""
    asked: list[dict[str, Any]] = []
    real = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *said, **cost: (asked.append(cost), real(*said, **cost))[1])
    return asked


def test_a_passphrase_is_worked_out_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = derivations(monkeypatch)
    for _ in range(3):
        with opened(path, "a passphrase of this test") as store:
            store.conversations()
            store.backup(path.with_name(f"copy-{len(list(path.parent.iterdir()))}.db"))
    assert len(asked) == 1
    assert asked[0]["n"] * asked[0]["r"] * asked[0]["p"] >= 1 << 19
    with pytest.raises(WrongKey):
        opened(path, "another passphrase")


def test_two_processes_make_it_at_once(path: Path) -> None:
    """Each would choose a salt of its own; the second takes the first one's."""
    code = (
        f"import recollect\nwith recollect.open({str(path)!r}, user='alex', key={PASSPHRASE!r}, background=False) as s:\n"
        "    s.append(s.create(), role='user', text='hi')"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(p.communicate(timeout=120)[1], p.returncode) for p in running] == [("", 0)] * 2
    with opened(path, PASSPHRASE) as store:
        assert len(store.conversations()) == 2


def test_after_a_fork_the_child_has_the_key(path: Path) -> None:
    code = (
        "import os, sys, recollect\n"
        f"store = recollect.open({str(path)!r}, user='alex', key={RAW!r}, background=False)\n"
        "c = store.create('c')\nchild = os.fork()\nstore.append(c, role='user', text='from both')\n"
        "if child:\n    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    with opened(path, RAW) as store:
        assert len(store.read("c")) == 2


def test_langgraph_on_an_encrypted_file(path: Path) -> None:
    from recollect.langgraph import Saver

    with Saver.from_conn_string(str(path), user="alex", key=RAW, background=False) as saver:
        config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        from langgraph.checkpoint.base import empty_checkpoint

        saver.put(config, {**empty_checkpoint(), "channel_values": {"said": CANARY}}, {}, {})
        assert saver.get_tuple(config) is not None
        assert set(leaks(path.parent).values()) == {0}


# -- four ways not to get in -------------------------------------------------------------------------------------------


def ways(path: Path, key: str) -> dict[str, tuple[type[RecollectError], Any]]:
    with opened(path, key) as store:
        store.append_many(store.create("c"), exchange(200))
    wrong = "0" * 64 if key == RAW else "not the passphrase"
    return {"wrong": (WrongKey, wrong), "missing": (MissingKey, None), "damaged": (Damaged, key), "foreign": (NotARecollectFile, key)}  # fmt: skip


@pytest.mark.parametrize(
    "way", ["wrong", "wrong form", "missing", "damaged", "salt damaged", "foreign", "foreign sqlite"]
)
def test_refused_quickly_and_left_as_it_was(path: Path, key: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, given = ways(path, key)[way.split()[0] if way != "salt damaged" else "damaged"]
    content = bytearray(path.read_bytes())
    if way == "damaged":
        content[200] ^= 1
    elif way == "salt damaged":
        content[7] ^= 1
    elif way == "foreign":
        content = bytearray(os.urandom(len(content)))
    elif way == "foreign sqlite":
        path.unlink()
        connection = apsw.Connection(str(path))
        connection.execute("create table someone (elses)").fetchall()
        connection.close()
        content = bytearray(path.read_bytes())
    elif way == "wrong form":
        given = RAW if key == PASSPHRASE else PASSPHRASE
    path.write_bytes(content)
    there = sorted(p.name for p in path.parent.iterdir())
    cipher._derived.clear()
    asked = derivations(monkeypatch)
    started = time.monotonic()
    with pytest.raises(expected) as caught:
        opened(path, given, busy_timeout_ms=60_000)
    assert len(asked) <= 2, "each takes a quarter of a second"
    assert time.monotonic() - started < 30, "it waited for something"
    assert type(caught.value) is expected
    assert path.read_bytes() == content
    assert sorted(p.name for p in path.parent.iterdir()) == there
    assert str(path) in str(caught.value)


def test_a_damaged_page_is_told_when_it_is_read(path: Path) -> None:
    ways(path, RAW)
    content = bytearray(path.read_bytes())
    for at in range(2 * PAGE + 100, len(content), PAGE):
        content[at] ^= 1
    path.write_bytes(content)
    with pytest.raises(Damaged), opened(path, RAW) as store:
        store.read("c")


def test_a_key_for_a_plain_store(path: Path) -> None:
    opened(path).close()
    before = path.read_bytes()
    with pytest.raises(NotEncrypted, match="recollect encrypt"):
        opened(path, RAW)
    assert path.read_bytes() == before


def test_a_newer_or_foreign_encrypted_file(path: Path) -> None:
    opened(path, RAW).close()
    for pragma, expected in (
        ("user_version = 999", recollect.errors.NewerSchema),
        ("application_id = 7", NotARecollectFile),
    ):
        connection = apsw.Connection(str(path))
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", f"raw:{RAW}")
        before = connection.pragma("user_version")
        connection.execute(f"pragma {pragma}").fetchall()
        connection.close()
        with pytest.raises(expected):
            opened(path, RAW)
        connection = apsw.Connection(str(path))
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", f"raw:{RAW}")
        connection.pragma("user_version", before)
        connection.close()


@pytest.mark.parametrize("bad", ["", "   ", b"short", b"", 7, ["a"], b"x" * 33])
def test_what_is_no_key(path: Path, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="key"):
        opened(path, bad)
    assert not path.exists()


def test_postgres_and_memory() -> None:
    with pytest.raises(InvalidInput, match="its disk or its server"):
        recollect.open("postgresql://app@db.example/agent", key=RAW)
    with recollect.open(":memory:", key=RAW) as store:
        assert store.location == "memory"


# -- where a key comes from --------------------------------------------------------------------------------------------


def key_file(path: Path, content: bytes | str = RAW + "\n", mode: int = 0o600) -> Path:
    file = path.with_name("the.key")
    file.unlink(missing_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    "content", [RAW, RAW.upper() + "\n", bytes.fromhex(RAW), f"{PASSPHRASE}\n", f"{PASSPHRASE}\r\n"]
)
def test_a_key_file(path: Path, content: bytes | str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = key_file(path, content)
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(file))
    opened(path).close()  # new, and encrypted because a key is at hand
    assert path.read_bytes().startswith(b"RCE")
    opened(path).close()
    said = PASSPHRASE if PASSPHRASE.encode() in (content if isinstance(content, bytes) else content.encode()) else RAW
    monkeypatch.delenv("RECOLLECT_KEY_FILE")
    opened(path, said).close()
    opened(path, key_file=str(file)).close()
    with recollect.admin(path, settings=Settings(key_file=str(file))) as everyone:
        assert everyone.users() == []


@pytest.mark.skipif(os.name != "posix", reason="rights of files are Posix's")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_key_file_that_others_may_read(path: Path, mode: int) -> None:
    file = key_file(path, mode=mode)
    with pytest.raises(BadKeyFile, match=f"chmod 600 {file}"):
        opened(path, key_file=str(file))
    assert not path.exists()


@pytest.mark.parametrize(("content", "says"), [(b"", "holds no key"), (b"\n", "holds no key"), (b"\xff\xfe", "holds no key"), (b"x" * 5000, "another file")])  # fmt: skip
def test_a_key_file_that_is_none(path: Path, content: bytes, says: str) -> None:
    with pytest.raises(BadKeyFile, match=says):
        opened(path, key_file=str(key_file(path, content)))
    with pytest.raises(BadKeyFile, match="cannot be read"):
        opened(path, key_file=str(path.with_name("nowhere.key")))
    with pytest.raises(SettingsError, match="relative"):
        opened(path, key_file="the.key")


def test_a_key_is_saved_for_its_owner_alone_and_never_over_another(path: Path) -> None:
    to = path.parent / "deep" / "the.key"
    made = keys.Key.new()
    keys.save_file(made, str(to))
    assert to.stat().st_mode & 0o777 == 0o600
    assert keys.read(str(to)) == made
    with pytest.raises(recollect.errors.AlreadyExists):
        keys.save_file(keys.Key.new(), str(to))
    assert keys.read(str(to)) == made
    assert len({keys.Key.new().reveal() for _ in range(50)}) == 50


KEYRING = """
import json, keyring.backend
class Keyring(keyring.backend.KeyringBackend):
    priority = 1
    def _all(self):
        try:
            return json.load(open({file!r}))
        except OSError:
            return {{}}
    def get_password(self, service, username):
        return self._all().get(service + ":" + username)
    def set_password(self, service, username, password):
        found = self._all() | {{service + ":" + username: password}}
        with open({file!r}, "w") as f:
            json.dump(found, f)
    def delete_password(self, service, username):
        found = self._all()
        del found[service + ":" + username]
        with open({file!r}, "w") as f:
            json.dump(found, f)
"""


def test_the_keyring_of_the_system(path: Path, tmp_path: Path) -> None:
    """In a process of its own: which keyring there is is decided when it is imported."""
    (tmp_path / "ring.py").write_text(KEYRING.format(file=str(tmp_path / "ring.json")))
    code = (
        "import recollect\nfrom recollect import keys\n"
        f"keys.save_keyring(keys.Key({PASSPHRASE!r}), {str(path)!r})\n"
        f"recollect.open({str(path)!r}, user='alex').close()\n"
        f"keys.forget_keyring({str(path)!r})\n"
        f"try:\n    recollect.open({str(path)!r})\nexcept recollect.errors.MissingKey:\n    print('missing')"
    )
    opened(path, PASSPHRASE).close()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHON_KEYRING_BACKEND": "ring.Keyring"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert (done.stdout, done.returncode) == ("missing\n", 0), done.stderr


def test_whoever_needs_no_key_pays_for_none(path: Path) -> None:
    code = (
        f"import sys, recollect\nwith recollect.open({str(path)!r}, user='alex', background=False) as s:\n"
        "    s.append(s.create(), role='user', text='hi')\n"
        "print([m for m in sys.modules if m in ('keyring', 'recollect.keys', 'recollect.crypt', 'recollect.db.cipher')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


# -- damage ------------------------------------------------------------------------------------------------------------


def said(path: Path, key: Any) -> list[str]:
    with opened(path, key) as store:
        return [text for c in store.conversations() for text in texts(store.read(c))]


@pytest.mark.parametrize("how", ["a page", "the first page", "the first bytes", "with a log"])
def test_what_is_readable_of_a_damaged_one_is_saved_and_encrypted(path: Path, key: str, how: str) -> None:
    with opened(path, key) as store:
        store.append_many(store.create("c", title=CANARY), exchange(600))
        if how == "with a log":  # as a kill leaves it: the newest of it is in the log alone
            store.append_many("c", [{"role": "user", "text": f"{CANARY} {n}"} for n in range(50)])
            files = {suffix: path.with_name(path.name + suffix).read_bytes() for suffix in ("", "-wal", ".lock")}
    if how == "with a log":
        path = path.with_name("killed.db")
        for suffix, content in files.items():
            path.with_name(path.name + suffix).write_bytes(content)
    content = bytearray(path.read_bytes())
    start, end = {"a page": (3 * PAGE, 4 * PAGE), "the first bytes": (0, 16)}.get(how, (0, PAGE))
    content[start:end] = bytes(end - start)
    path.write_bytes(content)
    out = path.with_name("saved.db")
    salvage.salvage(path, out, key=keys.Key(key))
    assert path.read_bytes() == content
    assert set(leaks(path.parent).values()) == {0}
    saved = said(out, key)
    assert len(saved) >= 550
    if how == "with a log":
        assert f"{CANARY} 49" in saved
    with opened(out, key) as store:
        assert store.verify().ok


def test_salvage_says_what_it_needs(path: Path) -> None:
    opened(path, PASSPHRASE).close()
    out = path.with_name("saved.db")
    with pytest.raises(MissingKey):
        salvage.salvage(path, out)
    with pytest.raises(WrongKey):
        salvage.salvage(path, out, key=keys.Key("something else"))
    assert not out.exists()


def test_a_page_is_decrypted_as_sqlite_does_it(path: Path) -> None:
    """Page by page against SQLite's own decrypted file."""
    from recollect import crypt

    with opened(path, RAW) as store:
        store.append_many(store.create(), exchange(300))
    content = path.read_bytes()
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    clear = [chacha.page(bytes.fromhex(RAW), n, page) for n, page in enumerate(pages, 1)]
    assert clear[0].startswith(b"SQLite format 3\0")
    together = path.with_name("clear.db")
    together.write_bytes(b"".join(clear))
    connection = apsw.Connection(str(together), apsw.SQLITE_OPEN_READONLY)
    assert connection.pragma("integrity_check") == "ok"
    ours = connection.execute("select * from events").fetchall()
    connection.close()
    crypt.decrypt(path, RAW)
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("select * from events").fetchall() == ours
    connection.close()
    assert len(ours) == 300


def test_other_programs_can_open_it(path: Path) -> None:
    """No lock-in: whoever has SQLite3 Multiple Ciphers and the raw key needs nothing of ours."""
    with opened(path, RAW) as store:
        store.append(store.create(), role="user", text="mine")
    connection = apsw.Connection(str(path))
    connection.pragma("cipher", "chacha20")
    connection.pragma("key", f"raw:{RAW}")
    assert connection.execute("select text from events").fetchall() == [("mine",)]
    connection.close()
