"""Meaning: vectors as rows, found by the signs of their numbers first, then by themselves.

A vector is stored twice: as half-precision floats, and as one bit a dimension (its signature). The first pass compares
signatures, 100,000 in about a millisecond; the best 200 are compared as floats. On SQLite the signatures of a user are
kept in memory, brought up to date before each search; Postgres counts the bits itself.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..db import Database, Tx
    from .embed import Embedder
    from .fusion import Doc

BATCH = 256
CAP = 2_000  # characters of a text that are embedded
ON_THE_FLY = 600  # as many texts without a vector are embedded while searching


class Semantic:
    """An embedder, and what it takes to search with it. One for all handles of a store in a process."""

    def __init__(self, embedder: Embedder, dialect: str) -> None:
        self.embedder = embedder
        self._dialect = dialect
        self._signatures: dict[int, _Signatures] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors, one a text."""
        found = np.asarray(self.embedder.embed([t[:CAP] for t in texts]), dtype=np.float32)
        if found.shape != (len(texts), self.embedder.dimension):
            raise InvalidInput(
                f"The embedder {self.embedder.name!r} gave {found.shape} for {len(texts)} texts of dimension "
                f"{self.embedder.dimension}."
            )
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths == 0, 1, lengths)

    def question(self, text: str) -> Any:
        return self.embed([text])[0]

    # -- searching

    def nearest(self, tx: Tx, vector: Any, most: int) -> list[int]:
        """The ids of what means nearly the same, by signature."""
        if not self._is_current(tx):
            return []
        if self._dialect == "postgres":
            bits = "".join("1" if x > 0 else "0" for x in vector)
            rows = tx.all(
                "select id from vectors where user_no = :user order by bit_count(signature # cast(:bits as bit varying)), id"
                " limit :most",
                bits=bits, most=most,
            )  # fmt: skip
            return [row[0] for row in rows]
        known = self._signatures.setdefault(tx.user, _Signatures())
        known.update(tx, self.embedder.dimension)
        return known.nearest(_signature(vector), most)

    def set_cosines(self, tx: Tx, vector: Any, docs: Iterable[Doc], numbers: Mapping[int, str]) -> None:
        """Give each doc its cosine; what has no vector yet is embedded now, as far as that is quick."""
        ids = {doc: id for id, doc in numbers.items()}
        wanted = [doc for doc in docs if doc.cosine is None]
        found: dict[int, Any] = {}
        if self._is_current(tx):
            for start in range(0, len(wanted), 400):
                marks = {f"i{i}": ids[doc.id] for i, doc in enumerate(wanted[start : start + 400])}
                listed = ", ".join(":" + m for m in marks)
                rows = tx.all(f"select id, vector from vectors where user_no = :user and id in ({listed})", **marks)
                found |= {id: np.frombuffer(blob, dtype=np.float16) for id, blob in rows}
        missing = [doc for doc in wanted if ids[doc.id] not in found]
        if missing and self.embedder.is_quick:
            some = missing[:ON_THE_FLY]
            found |= {ids[doc.id]: v for doc, v in zip(some, self.embed([d.text for d in some]), strict=True)}
        for doc in wanted:
            own = found.get(ids[doc.id])
            if own is not None and len(own) == len(vector):
                doc.cosine = float(np.dot(own.astype(np.float32), vector))

    def _is_current(self, tx: Tx) -> bool:
        row = tx.one("select model, dimension from embeddings where user_no = :user")
        return row is not None and row[0] == self.embedder.name and row[1] == self.embedder.dimension

    # -- embedding

    def catch_up(self, db: Database, user: str) -> int:
        """Embed what has no vector yet, a batch at a time; start over when the model is another. Returns how many."""
        db.write(user, self._begin)
        done = 0
        while True:
            batch = db.read(user, self._next)
            if not batch:
                return done
            vectors = self.embed([text for _, text in batch if text is not None] or [""])
            rows = iter(vectors)
            made = [(id, next(rows)) for id, text in batch if text is not None]
            db.write(user, lambda tx, made=made, batch=batch: self._put(tx, made, batch))  # type: ignore[misc]
            done += len(made)

    def _begin(self, tx: Tx) -> None:
        if not self._is_current(tx):
            tx.run("delete from vectors where user_no = :user")
            tx.run("delete from embeddings where user_no = :user")
            tx.run(
                "insert into embeddings (user_no, model, dimension, upto) values (:user, :model, :dimension, 0)",
                model=self.embedder.name, dimension=self.embedder.dimension,
            )  # fmt: skip

    def _next(self, tx: Tx) -> list[tuple[int, str | None]]:
        row = tx.one("select upto from embeddings where user_no = :user")
        upto = row[0] if row else 0
        events = tx.all(
            "select id, kind, substr(text, 1, :cap) from events where user_no = :user and id > :upto and id <= :high"
            " order by id limit :n",
            cap=CAP, upto=max(upto, tx.low_id()), high=tx.high_id(), n=BATCH,
        )  # fmt: skip
        memories = tx.all(
            "select id, kind, content from memories where user_no = :user and id > :upto order by id limit :n",
            upto=upto, n=BATCH,
        )  # fmt: skip
        rows = sorted([*events, *memories])[:BATCH]
        return [(id, None if kind in ("reasoning", "summary") or not text else text) for id, kind, text in rows]

    def _put(self, tx: Tx, made: list[tuple[int, Any]], batch: list[tuple[int, str | None]]) -> None:
        row = tx.one("select upto from embeddings where user_no = :user" + tx.for_update)
        if row is None or row[0] >= batch[-1][0]:
            return  # another process was faster
        for id, vector in made:
            there = tx.one(
                "select 1 from events where user_no = :user and id = :id"
                " union all select 1 from memories where user_no = :user and id = :id",
                id=id,
            )
            if there is None:
                continue  # erased meanwhile: that wins
            signature: Any = _signature(vector).tobytes()
            if self._dialect == "postgres":
                signature = "".join("1" if x > 0 else "0" for x in vector)
            tx.run(
                "insert into vectors (id, user_no, signature, vector) values (:id, :user, "
                + ("cast(:signature as bit varying)" if self._dialect == "postgres" else ":signature")
                + ", :vector) on conflict do nothing",
                id=id, signature=signature, vector=vector.astype(np.float16).tobytes(),
            )  # fmt: skip
        tx.run("update embeddings set upto = :upto where user_no = :user", upto=batch[-1][0])


def _signature(vector: Any) -> Any:
    return np.packbits(np.asarray(vector) > 0)


class _Signatures:
    """The signatures of one user, in memory."""

    def __init__(self) -> None:
        self._ids = np.zeros(0, dtype=np.int64)
        self._bits: Any = None
        self._upto = 0
        self._stamp: tuple[Any, ...] = ()

    def update(self, tx: Tx, dimension: int) -> None:
        row = tx.one("select model, dimension, upto from embeddings where user_no = :user")
        stamp = (row[0], row[1]) if row else ()
        if stamp != self._stamp:
            self.__init__()  # type: ignore[misc]
            self._stamp = stamp
        if row is None or row[2] <= self._upto:
            return
        rows = tx.all(
            "select id, signature from vectors where user_no = :user and id > :upto and id <= :high order by id",
            upto=max(self._upto, tx.low_id()), high=tx.high_id(),
        )  # fmt: skip
        self._upto = row[2]
        if not rows:
            return
        width = (dimension + 7) // 8
        new = np.frombuffer(b"".join(r[1] for r in rows), dtype=np.uint8).reshape(len(rows), width)
        self._ids = np.concatenate([self._ids, np.array([r[0] for r in rows], dtype=np.int64)])
        self._bits = new if self._bits is None else np.concatenate([self._bits, new])

    def nearest(self, signature: Any, most: int) -> list[int]:
        if self._bits is None:
            return []
        distance = np.bitwise_count(self._bits ^ signature).sum(axis=1, dtype=np.int32)
        if len(distance) > most:
            best = np.argpartition(distance, most)[:most]
        else:
            best = np.arange(len(distance))
        order = best[np.lexsort((self._ids[best], distance[best]))]
        return [int(self._ids[i]) for i in order]
