"""The signatures of one user's vectors in memory: what is near, found by counting bits.

64 bits of each signature lie side by side, so that one pass over an array compares them all: half a millisecond for
100,000 of 256 bits. Beside them stand the id and the place (a conversation, a namespace) of each, in as few bytes as
they fit into: 44 bytes an event in all, and up to a quarter more as room to grow.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..db import Row, Tx

FEW = 4  # places that are looked up one by one
LOOSE = 4_096  # signatures that may be out of order, and an eighth of them all
BLOCK = 16_384  # signatures that are compared at a time
PAGE = 10_000  # rows that are read at a time: as Python's values they take six times the room
SMALL = np.uint32
LARGE = np.int64


def stored(vector: Any, dialect: str) -> bytes | str:
    """The signature of a vector, a bit a number, as a database keeps it."""
    return bits(vector) if dialect == "postgres" else np.packbits(vector > 0).tobytes()


def bits(vector: Any) -> str:
    """The same as Postgres takes it."""
    digits: bytes = ((vector > 0).astype(np.uint8) + ord("0")).tobytes()
    return digits.decode()


class Signatures:
    """All of one user and one model, brought up to date before each search."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self._planes = np.zeros(((dimension + 63) // 64, 0), dtype=np.uint64)
        self._first = 0
        self._ids = np.zeros(0, dtype=SMALL)  # as they follow the first
        self._places = np.zeros(0, dtype=SMALL)
        self._width = (dimension + 7) // 8
        self._count = 0
        self._upto = 0
        self._forget_order()

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """How many bytes they take."""
        kept = (self._planes, self._ids, self._places, self._order, self._met, self._starts)
        return sum(int(array.nbytes) for array in kept)

    def update(self, tx: Tx, upto: int) -> None:
        """Read what came since."""
        if upto < self._upto:  # begun anew, by another process
            self._count = self._upto = 0
            self._forget_order()
        while self._upto < upto:
            rows = self._new(tx, max(self._upto, tx.low_id()), upto, PAGE)
            self._add(rows)
            self._upto = rows[-1][0] if len(rows) == PAGE else upto

    def _new(self, tx: Tx, after: int, upto: int, most: int) -> list[Row]:
        """(id, place, signature) of what came since, by id; items have theirs in another table."""
        return tx.all(
            "select id, conversation_no, signature from vectors where user_no = :user and id > :after and id <= :upto"
            " order by id limit :most",
            after=after, upto=upto, most=most,
        )  # fmt: skip

    def _add(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        start, end = self._count, self._count + len(rows)
        if start == 0:
            self._first = rows[0][0]
        ids, places = np.array([row[0] for row in rows]) - self._first, np.array([row[1] for row in rows])
        room = len(self._ids) if end <= len(self._ids) else max(1024, end + end // 4)
        self._ids = _roomy(self._ids, start, room, ids)
        self._places = _roomy(self._places, start, room, places)
        self._planes = _roomy(self._planes, start, room)
        self._ids[start:end], self._places[start:end] = ids, places
        padded = np.zeros((len(rows), len(self._planes) * 8), dtype=np.uint8)
        padded[:, : self._width] = np.frombuffer(b"".join([r[2] for r in rows]), np.uint8).reshape(len(rows), -1)
        self._planes[:, start:end] = padded.view(np.uint64).T
        self._count = end

    def drop(self, gone: set[int]) -> None:
        """Forget those with these ids."""
        ids = [id - self._first for id in gone]
        kept = np.flatnonzero(~np.isin(self._ids[: self._count], ids))
        self._ids, self._places, self._planes = self._ids[kept], self._places[kept], self._planes[:, kept]
        self._count = len(kept)
        self._forget_order()

    def _forget_order(self) -> None:
        self._order = np.zeros(0, dtype=SMALL)  # where they are, sorted by place
        self._met = self._places[:0]  # every place that is in this order
        self._starts = np.zeros(1, dtype=SMALL)  # and where it begins there

    def _at(self, within: Sequence[int]) -> Any:
        """Where those of some places are. To compare the places of a million takes longer than all else that a search in one
        conversation does, so they are kept in order, but for the newest."""
        places = self._places[: self._count]
        if len(within) > FEW:
            return np.flatnonzero(np.isin(places, within))
        if self._count > len(self._order) + LOOSE + self._count // 8:
            order = np.argsort(places, kind="stable")
            ordered = places[order]
            starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
            self._met, self._order = ordered[starts], order.astype(SMALL)
            self._starts = np.append(starts, len(ordered)).astype(SMALL)
        known = len(self._order)
        found: list[Any] = []
        for place in set(within):
            n = bisect_left(self._met, place)
            if n < len(self._met) and self._met[n] == place:
                found.append(self._order[self._starts[n] : self._starts[n + 1]])
            if known < self._count:
                found.append(np.flatnonzero(places[known:] == place) + known)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def nearest(self, vector: Any, most: int, within: Sequence[int] | None) -> list[tuple[int, int]]:
        """(id, place), the nearest first."""
        chosen = None if within is None else self._at(within)
        count = self._count if chosen is None else len(chosen)
        if count == 0:
            return []
        padded = np.zeros(len(self._planes) * 8, dtype=np.uint8)
        padded[: self._width] = np.packbits(vector > 0)
        asked = padded.view(np.uint64)
        if chosen is None or 3 * count > self._count:
            distance = self._distances(asked)
            distance = distance if chosen is None else distance[chosen]
        else:  # to pick a few takes thrice as long for each of them
            distance = np.zeros(count, dtype=np.uint16)
            for plane, bits in zip(self._planes, asked, strict=True):
                distance += np.bitwise_count(plane[chosen] ^ bits)
        # All up to the distance of the last that is wanted, found by counting: no sort of the rest. In all of them it is no
        # further than in some, which are counted first.
        best = np.flatnonzero(distance <= _furthest(distance[: max(BLOCK, most)], most))
        distance = distance[best]
        if len(best) > 4 * most:
            near = np.flatnonzero(distance <= _furthest(distance, most))
            best, distance = best[near], distance[near]
        at = best if chosen is None else chosen[best]
        ids = self._ids[at]
        order = np.lexsort((ids, distance))[:most]
        first = self._first
        return [
            (first + id, place) for id, place in zip(ids[order].tolist(), self._places[at[order]].tolist(), strict=True)
        ]

    def _distances(self, asked: Any) -> Any:
        """In how many bits they differ from what is asked for. A block at a time: what is between stays near the processor."""
        differ, counted = np.empty(BLOCK, dtype=np.uint64), np.empty(BLOCK, dtype=np.uint8)
        distance = np.zeros(self._count, dtype=np.uint16)
        for start in range(0, self._count, BLOCK):
            block = distance[start : start + BLOCK]
            end = start + len(block)
            some, bits_of = differ[: len(block)], counted[: len(block)]
            for plane, bits in zip(self._planes, asked, strict=True):
                np.bitwise_xor(plane[start:end], bits, out=some)
                np.bitwise_count(some, out=bits_of)
                np.add(block, bits_of, out=block)
        return distance


def _roomy(array: Any, count: int, room: int, new: Any = None) -> Any:
    """The array with room for so many, its numbers in more bytes if the new ones need them."""
    kind = array.dtype
    if new is not None and kind == SMALL and (new.min() < 0 or new.max() > np.iinfo(SMALL).max):
        kind = LARGE
    if room == array.shape[-1] and kind == array.dtype:
        return array
    made = np.empty((*array.shape[:-1], room), dtype=kind)
    made[..., :count] = array[..., :count]
    return made


def _furthest(distance: Any, most: int) -> int:
    """The distance of the last that is wanted of these, or of the last there is."""
    return int(np.searchsorted(np.cumsum(np.bincount(distance)), min(most, len(distance))))
