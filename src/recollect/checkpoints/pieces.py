"""Pieces: the values of a state, stored once for each conversation under a keyed hash of their content."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from hashlib import blake2b
from zlib import crc32

from ..errors import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..db import Row, Tx

    Stored = tuple[str, bytes]
    """How it is to be read, and the bytes."""
    Have = dict[bytes, Stored]

KEY = 12
"""Bytes of a key: 96 bits of a hash whose secret nobody outside knows."""
FAN = 15
"""A group ends at a key with these bits clear: sixteen long on average."""
LONGEST = 128
FEW = 24
LIST, GROUP, CHUNK = "=list", "=group", "=chunk"
INLINE = 100
"""A value of at most so many bytes stands in the checkpoint's own row."""
AT_ONCE = (8, 64, 500)
DAMAGED = "Run `recollect doctor`; a backup from before has it whole."
PIECE = (
    "insert into checkpoint_pieces (user_no, conversation_no, key, type, data) values (:user_no, :c, :key, :type, :data)"
    " on conflict (user_no, conversation_no, key) do nothing"
)


def digest(secret: bytes, type: str, data: bytes) -> bytes:
    """What a piece is known by."""
    return blake2b(type.encode() + b"\0" + data, digest_size=KEY, key=secret).digest()


class Value:
    """A channel's value on its way to the tables: inside the checkpoint's row, or the key of a piece. `pieces` are those it
    needs, itself included; those that are mostly there already are only made when they are not."""

    __slots__ = ("inline", "inside", "key", "parts", "pieces", "tops")

    def __init__(
        self, key: bytes | None, inline: Stored | None, pieces: dict[bytes, Stored | Callable[[], Stored]]
    ) -> None:
        self.key = key
        self.inline = inline
        self.pieces = pieces
        self.parts: list[bytes] = []
        """The keys of a list's elements, in order."""
        self.inside: dict[bytes, list[bytes]] = {}
        """Of each chunk and group, and of the list itself: the keys of what is in it."""
        self.tops: frozenset[bytes] = frozenset()
        """The keys in a list's own row. Whatever list has them too shares what they stand for."""

    def lend(self, have: Have) -> None:
        """Add what was stored to the pieces at hand, where whatever is in there has all that is below it in there too. A chunk
        that is new has not been made here: then a reader asks for it."""
        if self.key is None:
            return
        new: Have = {}
        for key in (*self.inside.get(self.key, ()), self.key):
            if key not in have:
                stored = self.pieces.get(key)
                if stored is None or (key in self.inside and key != self.key):
                    return
                new[key] = stored if isinstance(stored, tuple) else stored()
        have.update(new)

    def plain(self) -> Any:
        if self.inline is not None:
            return [self.inline[0], b64encode(self.inline[1]).decode()]
        assert self.key is not None
        return self.key.hex()


def one(secret: bytes, type: str, plain: bytes, stored: Stored) -> Value:
    """A value that is stored whole. `plain` is what it is known by; `stored` may be encrypted."""
    if len(stored[1]) <= INLINE:
        return Value(None, stored, {})
    key = digest(secret, type, plain)
    return Value(key, None, {key: stored})


def many(
    secret: bytes, keys: list[bytes], plain: Sequence[Stored], seal: Callable[[Stored], Stored], *, chunks: bool
) -> Value:
    """A list, from the keys and contents of its elements. With `chunks`, contents may be joined: they are all of the kind
    that can be read one after the other."""
    value = Value(None, None, {})
    pieces, inside = value.pieces, value.inside
    tails: list[list[bytes]] = []
    level = lead = ended = 0
    current = keys
    while len(current) > FEW:
        groups: list[bytes] = []
        start = first = 0
        kind = CHUNK if chunks and not level else GROUP
        for i, key in enumerate(current):
            if i > start and (not key[level % KEY] & FAN or i - start >= LONGEST):
                members = current[start : i + 1]
                start, begun = i + 1, start
                if kind == CHUNK and not begun:
                    first = (
                        start  # what comes before the first cut may have been cut off itself: its elements are there
                    )
                    continue
                data = b"".join(members)
                group = digest(secret, kind, data)
                inside[group] = members
                pieces[group] = partial(_chunk, group, plain[begun:start], seal) if kind == CHUNK else (GROUP, data)
                groups.append(group)
        if not groups:
            break
        if kind == CHUNK:
            lead, ended = first, start
        tails.append(current[start:])
        current = groups
        level += 1
    tails.append(current)
    for i in (*range(lead), *range(ended, len(keys))):
        if keys[i] not in pieces:
            pieces[keys[i]] = partial(seal, plain[i])
    own = [*keys[:lead], *(key for tail in reversed(tails) for key in tail)]
    data = b"".join(own)
    value.key = digest(secret, LIST, data)
    pieces[value.key] = (LIST, data)
    inside[value.key] = own
    value.parts = keys
    value.tops = frozenset(own)
    return value


def _chunk(key: bytes, plain: Sequence[Stored], seal: Callable[[Stored], Stored]) -> Stored:
    joined = b"".join(data for _, data in plain)
    return seal((CHUNK, crc32(joined, crc32(key)).to_bytes(4) + len(plain).to_bytes(4) + joined))


def unchunked(key: bytes, data: bytes) -> tuple[int, bytes]:
    """How many elements are in a chunk, and their contents one after the other."""
    if len(data) < 8 or crc32(data[8:], crc32(key)) != int.from_bytes(data[:4]):
        raise Damaged(f"A value of the state is not what was written. {DAMAGED}")
    return int.from_bytes(data[4:8]), data[8:]


def keys_in(data: bytes) -> list[bytes]:
    """The keys in the data of a list or group."""
    if len(data) % KEY:
        raise Damaged(f"A list of a graph's state is not what was written. {DAMAGED}")
    return [data[i : i + KEY] for i in range(0, len(data), KEY)]


def news(value: Value, tops: frozenset[bytes]) -> list[int]:
    """Where in a list its elements stand that another list, known by its `tops`, does not share with it for certain."""
    if not tops:
        return list(range(len(value.parts)))
    assert value.key is not None
    found: list[int] = []
    i = 0
    sizes: dict[bytes, int] = {}

    def size(key: bytes) -> int:
        inner = value.inside.get(key)
        if inner is None:
            return 1
        if key not in sizes:
            sizes[key] = sum(map(size, inner))
        return sizes[key]

    stack = list(reversed(value.inside[value.key]))
    while stack:
        key = stack.pop()
        if key in tops:
            i += size(key)
        elif key in value.inside:
            stack += reversed(value.inside[key])
        else:
            found.append(i)
            i += 1
    return found


def flat(have: Have, key: bytes) -> list[bytes]:
    """The keys of a list's chunks and elements, in order."""
    found: list[bytes] = []
    stack = [key]
    while stack:
        key = stack.pop()
        if have[key][0] in (LIST, GROUP):
            stack += reversed(keys_in(have[key][1]))
        else:
            found.append(key)
    return found


# -- in the tables


def secret(tx: Tx, no: int) -> Stored | None:
    return asking_secret(tx, no)()


FOREIGN = "archive:"
"""What the format of a conversation's secret begins with whose state came in an archive that this store did not sign: whoever
wrote it may have written anything."""


def is_foreign(format: str) -> bool:
    return format.startswith(FOREIGN)


def plain_format(format: str) -> str:
    return format.removeprefix(FOREIGN)


def asking_secret(tx: Tx, no: int) -> Callable[[], Stored | None]:
    """`secret`, whose answer is read further on."""
    rows = tx.blobs(
        "select type, data from checkpoint_pieces where user_no = :user and conversation_no = :c and key = :key",
        c=no, key=b"",
    )  # fmt: skip
    return lambda: next(((type, data) for type, data in rows()), None)


def mark(tx: Tx, no: int) -> None:
    """The state of a conversation came from somebody else, or some of it did."""
    stored = secret(tx, no)
    if stored is not None and not is_foreign(stored[0]):
        tx.run(
            "update checkpoint_pieces set type = :format where user_no = :user and conversation_no = :c and key = :key",
            c=no, key=b"", format=FOREIGN + stored[0],
        )  # fmt: skip


def same_secret(tx: Tx, no: int, mine: Stored, known_as: int) -> None:
    if known_as == no:
        return
    stored = secret(tx, no)
    if stored is None and not known_as:
        tx.many(PIECE, [(tx.user, no, b"", *mine)])
    elif stored != mine:
        raise Unexpected(no, stored)


class Unexpected(Exception):
    """What the draft was made with is not what is stored: make it anew."""

    def __init__(self, no: int, secret: Stored | None) -> None:
        super().__init__()
        self.no = no
        self.secret = secret


def adding(tx: Tx, no: int, values: Iterable[Value], known: frozenset[bytes]) -> Callable[[], None]:
    """Ask now what of these is there, and store the rest when called. What is `known` is there, and so is everything below it."""
    left: dict[bytes, Stored | Callable[[], Stored]] = {}
    for value in values:
        if value.key is None:
            continue
        stack = [value.key]
        while stack:
            key = stack.pop()
            if key in known:
                continue
            if key in value.pieces:
                left[key] = value.pieces[key]
            stack += [inner for inner in value.inside.get(key, ()) if inner in value.pieces]
    there = _asking(tx, no, "key", list(left)) if len(left) > 3 else []

    def add() -> None:
        for rows in there:
            for row in rows():
                left.pop(bytes(row[0]), None)
        # In the order of their keys: two who add the same at once wait for each other in one direction only.
        new = [
            (key, stored if isinstance(stored, tuple) else stored()) for key, stored in sorted(left.items(), key=_first)
        ]
        if new:
            tx.many(PIECE, [(tx.user, no, key, type, data) for key, (type, data) in new])

    return add


def _first(pair: tuple[bytes, Any]) -> bytes:
    return pair[0]


def by_keys(tx: Tx, no: int, keys: Sequence[bytes]) -> Iterator[Row]:
    """The pieces with these keys, as far as they are there."""
    for rows in _asking(tx, no, "key, type, data", keys):
        for key, type, data in rows():
            yield bytes(key), type, data


def _asking(tx: Tx, no: int, columns: str, keys: Sequence[bytes]) -> list[Callable[[], list[Row]]]:
    found = []
    start = 0
    while start < len(keys):
        size = next((n for n in AT_ONCE if n >= len(keys) - start), AT_ONCE[-1])
        some = keys[start : start + size]
        start += size
        marks = {f"k{i}": some[min(i, len(some) - 1)] for i in range(size)}
        found.append(
            tx.blobs(
                f"select {columns} from checkpoint_pieces where user_no = :user and conversation_no = :c"
                f" and key in ({', '.join(':' + m for m in marks)})",
                c=no, **marks,
            )
        )  # fmt: skip
    return found


def collect(tx: Tx, no: int, wanted: Iterable[bytes], have: Have) -> None:
    """Read pieces, and what they refer to, into `have`. Other threads read there too: whatever is in it has all that is below
    it in it already, so what was found last goes in first."""
    new: Have = {}
    asked = [key for key in dict.fromkeys(wanted) if key not in have]
    while asked:
        for key, type, data in by_keys(tx, no, asked):
            new[key] = (type, data)
        following: dict[bytes, None] = {}
        for key in asked:
            if key not in new:
                raise Damaged(f"A value of a graph's state is missing. {DAMAGED}")
            type, data = new[key]
            if type in (LIST, GROUP):
                following |= dict.fromkeys(inner for inner in keys_in(data) if inner not in have and inner not in new)
        asked = list(following)
    for key in reversed(new):
        have[key] = new[key]
