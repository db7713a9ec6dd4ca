"""The core of the contract, on an encrypted file: the same tests, word for word, where the settings name a key.

Every `recollect.open` in them then opens, and makes, an encrypted store."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw
import pytest

from contract.conftest import open_store  # noqa: F401 - the fixture, the same here as there
from talk import Raw

KEY = "d1" * 32
NOUNS = "append fork messages recall index erase clear".split()


for noun in NOUNS:
    for name, found in vars(import_module(f"contract.test_{noun}")).items():
        if name.startswith("test_"):
            globals()[f"test_{noun}_{name.removeprefix('test_')}"] = found
        elif type(found).__name__ == "FixtureFunctionDefinition":
            globals()[name] = found


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
