"""SQLite files of other programs: only read, with the one SQLite of this process, and known by their tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from ..errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Set


def opened(path: Path, whose: str, tables: Mapping[str, Set[str]], *, never: str | None = None) -> apsw.Connection:
    """A file that has these tables with these columns, and not the table `never`."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name the file in it.")
    if not path.is_file():
        raise NotFound(f"There is no file {path}.")
    try:
        connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(5_000)
        connection.pragma("temp_store", 2)  # in memory: what is sorted is not redacted yet
        found = {t: {row[1] for row in connection.execute(f"pragma table_info({t})")} for t in (*tables, never) if t}
    except apsw.Error as e:
        raise InvalidInput(f"{path} cannot be read as a SQLite database: {e}") from e
    if not all(wanted <= found[table] for table, wanted in tables.items()) or (never and found[never]):
        connection.close()
        raise InvalidInput(
            f"{path} is no database of {whose} as this version knows it: it has no tables {' and '.join(tables)} with "
            "their columns."
        )
    return connection


def is_one(path: Path, whose: str, tables: Mapping[str, Set[str]], *, never: str | None = None) -> bool:
    """Whether a file can be `opened`."""
    try:
        opened(path, whose, tables, never=never).close()
    except (InvalidInput, NotFound):
        return False
    return True
