"""The key itself: in no message, log, repr, pickle, argument, statement that is traced, or variable of ours that a traceback
could show. Formatted the most talkative way there is: with the local variables of every frame."""

from __future__ import annotations

import asyncio
import copy
import io
import logging
import os
import pickle
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect
from encryption.conftest import opened
from recollect import crypt, keys
from recollect.db import cipher, file, writer
from recollect.errors import RecollectError

# Not in any variable of a test: those are the caller's, and a traceback shows them.
SECRETS = ("c0ffee" * 10 + "beef", "open sesame, it is the canary passphrase", "0ddba11" * 9 + "f")
RAW, PHRASE, OTHER = range(3)


def hidden(text: str) -> bool:
    """No secret in it, nor a part of one that would help."""
    low = text.lower()
    parts = [part for s in SECRETS for part in (s[:16], s[len(s) // 2 :][:16])]
    parts += [bytes.fromhex(SECRETS[n])[:8].hex() for n in (RAW, OTHER)]
    parts += [repr(bytes.fromhex(SECRETS[n])[:8])[2:-1].lower() for n in (RAW, OTHER)]
    return not any(part.lower() in low for part in parts)


def talkative(error: BaseException) -> str:
    """All that any reporter of errors could show of it."""
    from rich.console import Console
    from rich.traceback import Traceback

    out = io.StringIO()
    shown = Traceback.from_exception(
        type(error),
        error,
        error.__traceback__,
        show_locals=True,
        locals_max_string=10_000,
        locals_max_length=1_000,
        extra_lines=0,
    )
    Console(file=out, width=250).print(shown)
    standard = traceback.TracebackException.from_exception(error, capture_locals=True)
    words = [out.getvalue(), "".join(standard.format()), repr(error), repr(error.args), str(vars(error))]
    seen: BaseException | None = error
    while seen is not None:
        words += [repr(seen), repr(seen.args)]
        frame = seen.__traceback__
        while frame is not None:
            words.append(repr(frame.tb_frame.f_locals))
            frame = frame.tb_next
        seen = seen.__cause__ or seen.__context__
    return "\n".join(words)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("once") / "chat.db"
    with opened(path, SECRETS[RAW]) as store:
        store.append(store.create("c"), role="user", text="hi")
    content = bytearray(path.read_bytes())
    content[300] ^= 1
    path.with_name("damaged.db").write_bytes(content)
    path.with_name("foreign.db").write_bytes(b"Dear diary" * 1000)
    opened(path.with_name("plain.db")).close()
    opened(path.with_name("phrase.db"), SECRETS[PHRASE]).close()
    return path.parent


@pytest.fixture
def made(once: Path, tmp_path: Path) -> Path:
    """A store with a raw key, a damaged one, a foreign file and a plain one beside it."""
    return Path(shutil.copytree(once, tmp_path / "made"))


def breaks(*said: Any, **more: Any) -> Any:
    raise apsw.FullError("database or disk is full")


def _broken(made: Path, name: str, call: Callable[[], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer if name == "version_of" else file, name, breaks)
        return call()


async def _async(url: str, n: int) -> None:
    await recollect.open_async(url, key=SECRETS[n])


def _savers() -> tuple[Any, Any]:
    from recollect.langgraph import MemoryStore, Saver

    return Saver, MemoryStore


FAILURES: dict[str, Callable[[Path], Any]] = {
    "wrong": lambda d: recollect.open(d / "chat.db", key=SECRETS[OTHER]),
    "wrong bytes": lambda d: recollect.open(d / "chat.db", key=bytes.fromhex(SECRETS[OTHER])),
    "wrong passphrase": lambda d: recollect.open(d / "phrase.db", key=SECRETS[PHRASE] + "!"),
    "damaged": lambda d: recollect.open(d / "damaged.db", key=SECRETS[RAW]),
    "foreign": lambda d: recollect.open(d / "foreign.db", key=SECRETS[RAW]),
    "plain": lambda d: recollect.open(d / "plain.db", key=SECRETS[PHRASE]),
    "folder": lambda d: recollect.open(d, key=SECRETS[PHRASE]),
    "postgres": lambda d: recollect.open("postgresql://x@db.example/y", key=SECRETS[RAW]),
    "no key": lambda d: recollect.open(d / "chat.db", key=SECRETS[RAW].encode()),
    "no key at all": lambda d: recollect.open(d / "chat.db", key=[SECRETS[RAW]]),  # type: ignore[arg-type]
    "bad setting": lambda d: recollect.open(d / "chat.db", key=SECRETS[RAW], nonsense=1),
    "bad user": lambda d: recollect.open(d / "chat.db", key=SECRETS[RAW], user=""),
    "bad scheme": lambda d: recollect.open("mysql://x", key=SECRETS[PHRASE]),
    "async": lambda d: asyncio.run(_async(str(d / "chat.db"), OTHER)),
    "async plain": lambda d: asyncio.run(_async(str(d / "plain.db"), OTHER)),
    "admin": lambda d: recollect.admin(d / "chat.db", key=SECRETS[OTHER]),
    "saver": lambda d: _savers()[0](d / "chat.db", key=SECRETS[OTHER]),
    "saver from": lambda d: _savers()[0].from_conn_string(str(d / "chat.db"), key=SECRETS[OTHER]).__enter__(),
    "graph store": lambda d: _savers()[1](d / "chat.db", key=SECRETS[OTHER]),
    "graph store from": lambda d: _savers()[1].from_conn_string(str(d / "chat.db"), key=SECRETS[OTHER]).__enter__(),
    "connect": lambda d: _broken(d, "version_of", lambda: recollect.open(d / "chat.db", key=SECRETS[RAW])),
    "backup": lambda d: _broken(d, "copy", lambda: crypt.rekey(d / "chat.db", SECRETS[RAW], SECRETS[OTHER])),
    "encrypt": lambda d: _broken(d, "copy", lambda: crypt.encrypt(d / "plain.db", SECRETS[OTHER])),
    "decrypt": lambda d: _broken(d, "inspect", lambda: crypt.decrypt(d / "chat.db", SECRETS[RAW])),
    "rekey wrong": lambda d: crypt.rekey(d / "chat.db", SECRETS[OTHER], SECRETS[PHRASE]),
    "encrypt again": lambda d: crypt.encrypt(d / "chat.db", SECRETS[OTHER]),
    "save": lambda d: keys.save_file(keys.Key(SECRETS[RAW]), str(d / "chat.db")),
    "keyring": lambda d: keys.save_keyring(keys.Key(SECRETS[RAW]), str(d / "chat.db")),
    "pickle": lambda d: pickle.dumps(keys.Key(SECRETS[RAW])),
    "copy": lambda d: copy.deepcopy(keys.Key(SECRETS[PHRASE])),
    "pickle cipher": lambda d: pickle.dumps(keys.Key(SECRETS[RAW]).seal()),
    "pickle store": lambda d: pickle.dumps(recollect.open(d / "chat.db", key=SECRETS[RAW])),
    "library": lambda d: _without_mc(lambda: recollect.open(d / "chat.db", key=SECRETS[RAW])),
    "refused": lambda d: cipher.Cipher.apply(keys.Key(SECRETS[RAW]).seal(), _closed()),
    "refused rekey": lambda d: bad_rekey(),
}  # fmt: skip


def _closed() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.close()
    return connection


def bad_rekey() -> None:
    if not keys.Key(SECRETS[RAW]).seal().rekey(_closed()):
        raise RecollectError("it said no")


def _without_mc(call: Callable[[], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(apsw, "mc_version")
        return call()


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that anyone logs, and every statement that SQLite runs, as an application may have it."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)

    def traced(connection: apsw.Connection) -> None:
        connection.exec_trace = lambda cursor, sql, bindings: (out.write(f"{sql} {bindings}\n"), True)[1]

    apsw.connection_hooks.append(traced)
    try:
        yield out
    finally:
        apsw.connection_hooks.remove(traced)
        root.removeHandler(handler)
        root.setLevel(level)


@pytest.mark.parametrize("way", FAILURES)
def test_no_error_shows_it(made: Path, logged: io.StringIO, way: str) -> None:
    # In a call of its own: the lambda's frame is the caller's, and holds nothing.
    with pytest.raises(Exception) as caught:
        FAILURES[way](made)
    said = talkative(caught.value)
    assert len(said) > 200
    assert hidden(said)
    assert hidden(logged.getvalue())


def test_control_a_key_in_a_variable_is_seen() -> None:
    def careless(key: str) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        careless(SECRETS[RAW])
    assert not hidden(talkative(caught.value))


def test_nothing_that_works_shows_it_either(made: Path, logged: io.StringIO) -> None:
    with opened(made / "chat.db", SECRETS[RAW]) as store:
        store.append("c", role="user", text="again")
        store.backup(made / "copy.db")
        said = [repr(store), repr(store.settings), repr(store._db), repr(vars(store)), repr(vars(store._db))]
        said += [repr(vars(store._db._current())), repr(keys.Key(SECRETS[RAW])), str(keys.Key(SECRETS[PHRASE]).seal())]  # type: ignore[attr-defined]
        said += [f"{keys.Key(SECRETS[RAW])!s} {keys.Key(SECRETS[RAW]):}", store.location]
    assert "select" in logged.getvalue(), "the control: statements are traced"
    assert hidden("\n".join(said) + logged.getvalue())
    for file_ in made.rglob("*"):
        if file_.is_file():
            content = file_.read_bytes()
            for secret in SECRETS:
                assert secret.encode() not in content
            assert bytes.fromhex(SECRETS[RAW]) not in content


def test_a_key_is_compared_and_not_hashed() -> None:
    assert keys.Key(SECRETS[RAW]) == keys.Key(bytes.fromhex(SECRETS[RAW]))
    assert keys.Key(SECRETS[RAW]) != keys.Key(SECRETS[PHRASE])
    with pytest.raises(TypeError):
        hash(keys.Key(SECRETS[RAW]))


def test_no_command_takes_a_key_as_an_argument(made: Path) -> None:
    """What a command accepts is a file, the keyring, or what is typed: arguments are seen by all on the machine."""
    import typer.main

    from recollect.cli import app

    taken = {
        f"{name} {option}"
        for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
        for parameter in command.params
        for option in parameter.opts
        if "key" in option or "pass" in option
    }
    flags = {"encrypt --keyring", "encrypt --passphrase", "rekey --keyring", "rekey --passphrase", "key --keyring"}
    assert taken - flags == {
        "encrypt --key-file",
        "rekey --key-file",
        "append --key",
        "event key",
    }  # the last: of an event


def test_the_environment_of_a_child_names_the_file_only(made: Path) -> None:
    (made / "the.key").write_text(SECRETS[RAW])
    (made / "the.key").chmod(0o600)
    done = subprocess.run(
        [sys.executable, "-m", "recollect.cli", "-d", str(made / "chat.db"), "-u", "alex", "settings", "--json"],
        capture_output=True, text=True, timeout=120, env={**os.environ, "RECOLLECT_KEY_FILE": str(made / "the.key")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(made / "the.key") in done.stdout
    assert hidden(done.stdout + done.stderr)
