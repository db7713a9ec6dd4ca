"""Our own exports (`recollect export`): JSON lines. Everything is done by the store's verb; this finds and opens the file."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from .. import keys, sealed
from ..errors import BadLine, InvalidInput, NotFound

if TYPE_CHECKING:
    from ..model import Imported, Progress
    from ..store import Store

ABOUT = "what `recollect export` wrote, plain, gzipped or encrypted"


def looks_like(path: Path) -> bool:
    """Whether the first line says that it is one of ours."""
    if not path.is_file():
        return False
    if sealed.is_sealed(path):
        return True
    try:
        with _open(path) as f:
            first = json.loads(f.readline(10_000).decode("utf-8-sig"))
    except (ValueError, OSError, EOFError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and first.get("type") == "recollect"


def bring(
    store: Store, path: Path, *, again: bool | None = None, trust: bool = False, progress: Progress | None = None
) -> Imported:
    """`store.import_` of a file."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name the file in it.")
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    try:
        if path.is_file() and sealed.is_sealed(path):
            with sealed.reading(path, keys.for_file(str(path), store.settings, also=store.location)) as f:
                return store.import_(f, again=bool(again), trust=trust, progress=progress)
        with _open(path) as f:
            return store.import_(f, again=bool(again), trust=trust, progress=progress)
    except BadLine as e:
        raise BadLine.of(path, e) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as e:
        raise InvalidInput(f"{path} cannot be unpacked ({e}): it was cut off or damaged, or is no gzip file.") from None


def _open(path: Path) -> IO[bytes]:
    """Opened once: what came out of a pipe cannot be read again."""
    raw = path.open("rb")
    if raw.peek(2)[:2] != b"\x1f\x8b":
        return raw
    packed = _Packed(fileobj=raw)
    packed.myfileobj = cast(Any, raw)  # closed with it
    return cast("IO[bytes]", packed)


class _Packed(gzip.GzipFile):
    def seekable(self) -> bool:
        return bool(self.myfileobj and self.myfileobj.seekable())
