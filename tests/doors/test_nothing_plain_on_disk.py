"""While an import runs, nothing that is not redacted yet, and nothing decrypted, is on the disk: not in a folder, and not in a
file without a name either (O_TMPFILE, or removed while open)."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from sidecar import running

import recollect
from recollect import keys, sealed, spool
from recollect.archive import signed
from recollect.transfer import _files
from recollect.transfer import recollect as ours

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2"
WORD = "quokka-in-the-garden"


class Watch:
    """Looks at everything on disk each time an import reads its first line and its last one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.looks = 0
        self.found: list[str] = []
        self.unnamed: list[str] = []
        self.words: tuple[bytes, ...] = ()

    def look(self) -> None:
        self.looks += 1
        for path in [p for p in self.folder.rglob("*") if p.is_file()]:
            self._search(str(path), path)
        for fd in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []:
            link = Path("/proc/self/fd") / fd
            try:
                target = os.readlink(link)
                if link.is_file() and not target.startswith(("/proc", "/sys", "/dev")):
                    if target.endswith("(deleted)"):
                        self.unnamed.append(target)
                        self._search(target, link)
            except OSError:
                continue  # closed meanwhile, by another thread

    def _search(self, name: str, path: Path) -> None:
        content = path.read_bytes()
        self.found += [f"{name}: {word.decode()}" for word in self.words if word in content]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    made = Watch(tmp_path / "disk")
    (made.folder / "tmp").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(made.folder / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    numbered: Callable[..., Iterator[tuple[int, str]]] = signed.numbered

    def seen(fp: Any) -> Iterator[tuple[int, str]]:
        made.look()
        yield from numbered(fp)
        made.look()

    monkeypatch.setattr(signed, "numbered", seen)
    return made


def archive(tmp_path: Path, text: str) -> bytes:
    """An export of more than what is kept in memory, in which this text stands."""
    with recollect.open(tmp_path / "made" / "chat.db", user="alex", background=False) as store:
        talk = store.create("c")
        store.append(talk, role="user", text="HERE is the place.")
        store.append_many(talk, [{"kind": "note", "text": f"{n} " + "filler words " * 800} for n in range(300)])
        out = io.BytesIO()
        store.export(out)
    made = out.getvalue().replace(b"HERE is", f"{text} is".encode())
    assert len(made) > 2 * spool.IN_MEMORY
    return made


class Pipe(io.RawIOBase):
    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def read(self, n: int = -1, /) -> bytes:
        return self._content.read(n)


def test_a_large_import_over_http_is_nowhere_plain(watch: Watch, tmp_path: Path) -> None:
    watch.words = (SECRET.encode(), b"filler words filler words")
    content = archive(tmp_path, SECRET)
    key = keys.Key.new()
    with recollect.open(watch.folder / "store" / "chat.db", user="alex", background=False, key=key) as store:
        with running(store) as sidecar:
            got = sidecar.ask("POST", "/memory/import", content, Content_Type="application/x-ndjson")
            assert (got.status, got.json["added"]["events"]) == (200, 301)
        assert SECRET not in "".join(e.text for e in store.read("c"))
    assert watch.looks >= 4
    assert watch.found == []
    assert list((watch.folder / "tmp").iterdir()) == []


def test_a_pipe_into_an_encrypted_store_is_nowhere_plain(watch: Watch, tmp_path: Path) -> None:
    watch.words = (WORD.encode(), b"filler words filler words")
    content = archive(tmp_path, WORD)
    with recollect.open(watch.folder / "chat.db", user="alex", background=False, key=keys.Key.new()) as store:
        assert store.import_(Pipe(content)).added["events"] == 301  # type: ignore[arg-type]
        assert any(WORD in e.text for e in store.read("c"))
    assert watch.found == []
    assert list((watch.folder / "tmp").iterdir()) == []
    if os.path.isdir("/proc/self/fd"):
        assert any("recollect-spool-" in name for name in watch.unnamed), "nothing was looked at"


def test_a_sealed_archive_is_read_twice_without_a_copy(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.words = (WORD.encode(), b"filler words filler words")
    file = watch.folder / "all.sealed"
    keys.save_file(keys.Key.new(), str(tmp_path / "the.key"))
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(tmp_path / "the.key"))
    with sealed.writing(file, keys.read(str(tmp_path / "the.key"))) as f:
        f.write(archive(tmp_path, WORD))
    with recollect.open(
        watch.folder / "chat.db", user="alex", background=False, key=keys.read(str(tmp_path / "the.key"))
    ) as store:
        assert ours.bring(store, file).added["events"] == 301
    assert watch.looks >= 4
    assert watch.found == []
    assert not any("spool" in name for name in watch.unnamed)


def test_what_is_small_stays_in_memory_and_what_is_large_comes_out_as_it_went_in() -> None:
    lines = [json.dumps({"n": n, "text": "x" * (5 * n)}).encode() + b"\n" for n in range(1_000)]
    with spool.Spool() as small, spool.Spool() as large:
        small.write(b"a few words")
        assert small._pieces is None
        for line in lines:
            large.write(line)
        assert large._pieces is not None
        for made, content in ((small, b"a few words"), (large, b"".join(lines))):
            file = made.reading()
            assert file.read() == content
            file.seek(0)
            assert file.readline() == content.split(b"\n")[0] + (b"\n" if b"\n" in content else b"")
            start = file.tell()
            rest = file.read()
            file.seek(start)
            assert file.read() == rest


def test_sorting_another_programs_file_makes_no_temporary_file(tmp_path: Path) -> None:
    apsw.Connection(str(tmp_path / "theirs.db")).execute("create table t (a)").fetchall()
    connection = _files.opened(tmp_path / "theirs.db", "theirs", {"t": {"a"}})
    assert connection.pragma("temp_store") == 2
    connection.close()


def test_no_other_temporary_file_holds_what_was_said() -> None:
    """Whoever adds a temporary file says here what is in it."""
    root = Path(recollect.__file__).parent
    using = {
        p.relative_to(root).as_posix() for p in root.rglob("*.py") if "tempfile" in p.read_text("utf-8")
    }  # fmt: skip
    assert using == {
        "spool.py",  # encrypted, with a key that exists in memory only
        "server/listen.py",  # a folder for a socket
        "cli/bench.py",  # questions of a public benchmark
        "cli/locomo.py",  # and its store
    }
