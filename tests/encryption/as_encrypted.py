"""Fixtures that put tests of the contract on an encrypted file: the settings name a key, so every `recollect.open` in them
opens, and makes, an encrypted store. `test_encrypted_*.py` take the tests of one noun each, word for word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from contract.conftest import open_store
from talk import Raw

KEY = "d1" * 32
__all__ = ["and_is_encrypted", "backend", "every_store_has_a_key", "open_store", "raw"]


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture(autouse=True)
def every_store_has_a_key(own_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    file = tmp_path_factory.mktemp("key") / "the.key"
    file.write_text(KEY)
    file.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_KEY_FILE", str(file))
        yield


@pytest.fixture(autouse=True)
def and_is_encrypted(url: str, every_store_has_a_key: None) -> Iterator[None]:
    yield
    if Path(url).exists():
        assert Path(url).read_bytes()[:3] == b"RCE", "the test was on a plain file"


@pytest.fixture
def raw(url: str) -> Raw:
    def run(sql: str) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(url, apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.pragma("cipher", "chacha20")
            connection.pragma("key", f"raw:{KEY}")
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    return run
