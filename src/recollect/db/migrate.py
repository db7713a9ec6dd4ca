"""The schema's history: numbered SQL files, one list per database, each run in the transaction that records it.

`LATEST` is written down instead of counted, so that opening a store of today's schema reads no folder; a test keeps it
equal to the files.
"""

from __future__ import annotations

LATEST = 7
ERASURE = 6  # the first that knows of erasures that were interrupted


def scripts(dialect: str, after: int) -> list[tuple[int, str]]:
    """(version, SQL) of every migration newer than `after`, oldest first."""
    from pathlib import Path

    folder = Path(__file__).parent / "migrations" / dialect
    found = sorted((int(p.name[:4]), p) for p in folder.glob("*.sql"))
    return [(version, path.read_text("utf-8")) for version, path in found if version > after]
