"""An encrypted file of anything: whole or not there, read back byte for byte, and told apart when it cannot be."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from encryption.conftest import CANARY, RAW, fill, leaks, opened
from recollect import sealed
from recollect.errors import AlreadyExists, Damaged, MissingKey, NotARecollectFile, NotFound, WrongKey


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_000_000])
def test_what_goes_in_comes_out(path: Path, size: int) -> None:
    content = random.Random(size).randbytes(size)
    with sealed.writing(path, RAW) as f:
        for at in range(0, size, 10_007):
            f.write(content[at : at + 10_007])
    assert path.stat().st_mode & 0o777 == 0o600
    with sealed.reading(path, RAW) as f:
        assert f.read() == content


def test_lines_of_a_history(path: Path, key: str) -> None:
    """Every event of a store, line by line, as an export is written."""
    out = path.with_name("all.sealed")
    with opened(path, key) as store:
        fill(store)
        events = [e.text for c in store.conversations() for e in store.read(c, branch="*")]
        with sealed.writing(out, key) as f:
            for text in events:
                f.write(json.dumps(text).encode() + b"\n")
    assert any(CANARY in text for text in events)
    assert set(leaks(path.parent).values()) == {0}
    with sealed.reading(out, key) as f:
        assert [json.loads(line) for line in f] == events


def test_what_fails_leaves_no_file(path: Path) -> None:
    with pytest.raises(ValueError, match="no more"), sealed.writing(path, RAW) as f:
        f.write(b"x" * 200_000)
        raise ValueError("no more")
    assert list(path.parent.iterdir()) == []


def test_told_apart(path: Path) -> None:
    with pytest.raises(NotFound), sealed.reading(path, RAW):
        pass
    with sealed.writing(path, RAW) as f:
        f.write(b"x" * 300_000)
    before = path.read_bytes()
    with pytest.raises(AlreadyExists), sealed.writing(path, RAW):
        pass
    with pytest.raises(WrongKey), sealed.reading(path, "0" * 64):
        pass
    with pytest.raises(MissingKey), sealed.reading(path, None):
        pass
    with pytest.raises(NotARecollectFile):
        opened(path, RAW)  # it is no store
    assert path.read_bytes() == before
    content = bytearray(before)
    content[9 * 4096 + 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(Damaged), sealed.reading(path, RAW) as f:
        f.read()
    path.write_bytes(b"Dear diary" * 100)
    with pytest.raises(NotARecollectFile), sealed.reading(path, RAW):
        pass
    path.unlink()
    opened(path, RAW).close()
    with pytest.raises(NotARecollectFile, match="an encrypted store"), sealed.reading(path, RAW):
        pass
    with sealed.writing(path, RAW, replace=True) as f:
        f.write(b"over it")
    with sealed.reading(path, RAW) as f:
        assert f.read() == b"over it"
