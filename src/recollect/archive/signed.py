"""Which store made an archive. Its last line carries a keyed hash of all lines before it, and the key never leaves the database.

So an archive that this store made for this user is known again, whole and unchanged, and so is one made by a copy of this
store. Of any other nobody knows who wrote it: its memories wait for a person, as everything does that the user did not say.
"""

from __future__ import annotations

import hmac
import json
from array import array

from .. import erased, ids
from ..errors import BadLine
from .lines import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from ..db import Database

UNSIGNED = "it came in an archive that this store did not sign"


class Signature:
    """A keyed hash of lines, one after the other."""

    def __init__(self, db: Database, user: str) -> None:
        secret = db.read(user, erased.key)
        self._hash = hmac.new(ids.keyed(secret, "archive", user).encode(), digestmod="sha256") if secret else None

    def add(self, line: str) -> None:
        if self._hash is not None:
            self._hash.update(line.strip().encode("utf-8", "surrogatepass") + b"\n")

    def hex(self) -> str | None:
        """None where the database has lost its key: then nothing is signed, and nothing is known again."""
        return None if self._hash is None else self._hash.hexdigest()


class Lines:
    """The lines of a file that is read several times. One that changes in between is refused: what is checked the first time
    is what is written the last time."""

    def __init__(self, file: IO[str] | IO[bytes]) -> None:
        self._file = file
        self._start = file.tell()
        self._hashes = array("q")
        self._is_known = False

    def __iter__(self) -> Iterator[tuple[int, str]]:
        self._file.seek(self._start)
        n = 0
        for number, text in numbered(self._file):
            if not self._is_known:
                self._hashes.append(hash(text))
            elif n >= len(self._hashes) or self._hashes[n] != hash(text):
                raise BadLine("the file was changed while it was read.", number)
            n += 1
            yield number, text
        self._is_known = True

    def are_signed(self, signature: Signature) -> bool:
        """Whether the last line holds the signature of all before it."""
        last: str | None = None
        for _, text in self:
            if last is not None:
                signature.add(last)
            last = text
        try:
            given = json.loads(last or "")
        except (ValueError, RecursionError):
            return False
        own, said = signature.hex(), given.get("signature") if isinstance(given, dict) else None
        return (
            own is not None
            and isinstance(said, str)
            and hmac.compare_digest(own.encode(), said.encode("utf-8", "replace"))
        )
