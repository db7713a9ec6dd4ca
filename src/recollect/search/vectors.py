"""Meaning: vectors as rows, found by the signs of their numbers first, then by themselves.

A vector is stored twice: as half-precision floats, and as one bit a dimension (its signature). The first pass compares
signatures, 100,000 in about a millisecond; the best 200 are compared as floats. On SQLite the signatures of a user are
kept in memory, brought up to date before each search; Postgres counts the bits itself.

A user's vectors are made in the order of ids, by one model, and `embeddings` says how far they are. When the model is
another, that mark goes back to nothing and the vectors are written over as it advances: what lies beyond the mark is not
read, and found by words meanwhile.
"""

from __future__ import annotations

import threading
from functools import partial

import numpy as np

from ..errors import EmbeddingFailed, InvalidInput
from . import fence
from .signatures import Signatures, bits, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..db import Database, Row, Tx
    from .embed import Embedder
    from .fusion import Doc

BATCH = 256
PART = 32  # of them are embedded in one go where that is quick: 5 ms, then callers are let through
CAP = 2_000  # characters of a text that are embedded
ON_THE_FLY = 600  # as many texts without a vector are embedded while searching
USERS = 64  # whose signatures are kept in memory
MEMORIES = 0  # stands for a conversation's number: what belongs to none
LATE = 5_000  # Postgres: as many ids back, a transaction may have drawn one and not committed yet


class Misfit(InvalidInput):
    """What an embedder gave is not what it said it would. Says its name and numbers, so that a job may keep it."""

    quotes = False


def _by_passage(tx: Tx, rows: list[Row]) -> list[Row]:
    """(id, conversation, text) with the text of the passage where an id is one's."""
    spans = {
        id: (event, start, length)
        for id, event, start, length in tx.all(
            f"select id, event_id, start, length from passages where user_no = :user and id{tx.among}",
            ids=tx.some([row[0] for row in rows]),
        )
    }
    if not spans:
        return rows
    events = sorted({event for event, _, _ in spans.values()})
    stored = tx.all(
        f"select id, text from events{tx.by_id} where user_no = :user and id{tx.among}", ids=tx.some(events)
    )
    texts = {id: fence.without(text) for id, text in stored}
    made = []
    for id, no, text in rows:
        if id in spans:
            event, start, length = spans[id]
            text = texts[event][start : start + length]
        made.append((id, no, text))
    return made


def _unit(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths == 0, 1, lengths)


class Semantic:
    """An embedder, and what it takes to search with it. One for all handles of a store in a process."""

    def __init__(self, embedder: Embedder, dialect: str) -> None:
        self.embedder = embedder
        self.dialect = dialect
        self.signatures: dict[int, Signatures] = {}
        """By user."""
        self._lock = threading.Lock()
        self._counting: str | None = None
        self._behind: set[int] = set()
        self._asked: set[int] = set()

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors, one a text."""
        return _unit(self.embed_whole(texts))

    def embed_whole(self, texts: Sequence[str]) -> Any:
        """The same with the lengths that the model gave them."""
        return self._checked(self.embedder.embed([t[:CAP] for t in texts]), len(texts))

    def _checked(self, made: Any, count: int) -> Any:
        found = np.asarray(made, dtype=np.float32)
        if found.shape != (count, self.embedder.dimension):
            raise Misfit(
                f"The embedder {self.embedder.name!r} gave numbers of the shape {found.shape} for {count} texts; its "
                f"dimension is said to be {self.embedder.dimension}. Say the right one, or choose another model."
            )
        if not np.isfinite(found).all():
            raise Misfit(f"The embedder {self.embedder.name!r} gave something else than finite numbers.")
        return found

    def question(self, text: str) -> Any:
        """The unit vector of a question; None when the embedder does not answer: the search goes on by words."""
        found = self.question_whole(text)
        return None if found is None else _unit(found[None])[0]

    def question_whole(self, text: str) -> Any:
        """The same with its length. Some models embed a question otherwise than what answers it."""
        ask = getattr(self.embedder, "embed_question", None)
        try:
            return self._checked([ask(text[:CAP])], 1)[0] if ask is not None else self.embed_whole([text])[0]
        except EmbeddingFailed:
            return None

    # -- searching

    def nearest(
        self, tx: Tx, vector: Any, most: int, within: Sequence[int] | None = None, upto: int | None = None
    ) -> list[tuple[int, int]]:
        """What means nearly the same, by signature: (id, conversation); `within` some conversations (`MEMORIES` for
        memories). `upto` is what `upto` says, for who knows it already."""
        upto = self.upto(tx) if upto is None else upto
        if upto == 0:
            return []
        if self.dialect == "postgres":
            where = (
                ""
                if within is None
                else f" and conversation_no in ({', '.join(str(int(no)) for no in within) or '-1'})"
            )
            rows = tx.all(
                f"select id, conversation_no from vectors where user_no = :user and id <= :upto{where}"
                f" order by {self._distance(tx)}, id limit :most",
                bits=bits(vector), most=most, upto=upto,
            )  # fmt: skip
            return [(row[0], row[1]) for row in rows]
        with self._lock:
            known = self.signatures.get(tx.user)
            if known is None or known.model != self.embedder.name:
                while len(self.signatures) >= USERS:
                    del self.signatures[next(iter(self.signatures))]
                known = self.signatures[tx.user] = Signatures(self.embedder.name, self.embedder.dimension)
            known.update(tx, upto)
            return known.nearest(vector, most, within)

    def _distance(self, tx: Tx) -> str:
        """In how many bits two signatures differ: by pgvector where the server has it, else by Postgres itself, which
        says the same in twice the time; a server that one may not add extensions to will do."""
        if self._counting is None:
            row = tx.one(
                "select n.nspname, e.extversion from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
                " where e.extname = 'vector'"
            )
            n = int(self.embedder.dimension)
            self._counting = "bit_count(signature # cast(:bits as bit varying))"
            if row is not None and not str(row[1]).startswith(tuple(f"0.{old}." for old in range(7))):  # bits: 0.7
                schema = '"' + str(row[0]).replace('"', '""') + '"'
                self._counting = f"cast(signature as bit({n})) operator({schema}.<~>) cast(:bits as bit({n}))"
        return self._counting

    def drop_deleted(self, tx: Tx, ids: Sequence[int]) -> bool:
        """Forget the signatures of what somebody has deleted since they were read. Returns whether there were any."""
        there = tx.all(f"select id from vectors where user_no = :user and id{tx.among}", ids=tx.some(ids))
        gone = set(ids).difference(row[0] for row in there)
        with self._lock:
            if gone and tx.user in self.signatures:
                self.signatures[tx.user].drop(gone)
                return True
        return False

    def set_cosines(self, tx: Tx, vector: Any, docs: Mapping[int, Doc], upto: int | None = None) -> None:
        """Give each doc, by the number of its row, its cosine; what has no vector yet is embedded now, as far as that is
        quick."""
        wanted = dict(docs)
        if not wanted:
            return
        upto = self.upto(tx) if upto is None else upto
        rows: list[Row] = []
        stored = sorted([id for id in wanted if id <= upto])
        if stored:
            rows = tx.blobs(
                f"select id, vector from vectors where user_no = :user and id{tx.among}", ids=tx.some(stored)
            )()
        width = 2 * self.embedder.dimension
        rows = [row for row in rows if len(row[1]) == width]
        if rows:
            matrix = np.frombuffer(b"".join([row[1] for row in rows]), dtype=np.float16).reshape(len(rows), -1)
            for row, cosine in zip(rows, (matrix.astype(np.float32) @ vector).tolist(), strict=True):
                wanted.pop(row[0]).cosine = cosine
        if wanted and self.embedder.is_quick:
            some = list(wanted.values())[:ON_THE_FLY]
            # Through half precision, as if it had been stored: a score must not change when the job has run.
            made = self.embed([doc.text for doc in some]).astype(np.float16).astype(np.float32)
            for doc, cosine in zip(some, (made @ vector).tolist(), strict=True):
                doc.cosine = cosine

    def upto(self, tx: Tx) -> int:
        """Up to which id this user's vectors are there; 0 while they are another model's."""
        row = tx.one("select model, dimension, upto from embeddings where user_no = :user")
        if row is not None and row[0] == self.embedder.name and row[1] == self.embedder.dimension:
            return int(row[2])
        if tx.user not in self._asked and (row or tx.one("select 1 from events where user_no = :user limit 1")):
            self._behind.add(tx.user)
        return 0

    @property
    def is_behind(self) -> bool:
        """Whether a search met a user without vectors of this model, and nobody has asked for them yet."""
        return bool(self._behind)

    def lacks(self, user: int) -> bool:
        """Whether that is so for this user."""
        return user in self._behind

    def was_asked(self, user: int) -> None:
        """Somebody has asked for them: it is done once, so that two processes with two models do not write over each
        other's vectors for ever."""
        self._behind.discard(user)
        self._asked.add(user)

    # -- embedding

    def catch_up(self, db: Database, user: str, between: Callable[[], None]) -> int:
        """Embed what has no vector yet, a few at a time and `between` before each; start over when the model is another.
        Returns how many."""
        self.embedder.dimension  # noqa: B018  one that asks its model for it does so here, outside any transaction
        db.write(user, self._begin)
        part = PART if self.embedder.is_quick else BATCH
        done = 0
        while True:
            between()
            batch = db.read(user, self._next)
            if not batch:
                while done and db.write(user, lambda tx: tx.tidy_words()):
                    between()
                return done
            texts = [row for row in batch if row[2]]
            made: list[Any] = []
            for at in range(0, len(texts), part):
                if at:
                    between()
                made += list(self.embed([row[2] for row in texts[at : at + part]]))
            rows = [(row[0], row[1], vector) for row, vector in zip(texts, made, strict=True)]
            last = batch[-1][0]
            if not db.write(user, partial(self._put, made=rows, last=last)):
                return done  # the model was changed meanwhile, by another process: it goes on from there
            done += len(rows)

    def _begin(self, tx: Tx) -> None:
        if tx.one("select 1 from embeddings where user_no = :user") is None:
            tx.run(
                "insert into embeddings (user_no, model, dimension, upto) values (:user, :model, :dimension, 0)",
                model=self.embedder.name, dimension=self.embedder.dimension,
            )  # fmt: skip
        else:
            tx.run(
                "update embeddings set model = :model, dimension = :dimension, upto = 0"
                " where user_no = :user and (model <> :model or dimension <> :dimension)",
                model=self.embedder.name, dimension=self.embedder.dimension,
            )  # fmt: skip

    def _next(self, tx: Tx) -> list[Row]:
        """The next (id, conversation, text), by id; without a text if it is not to be embedded."""
        row = tx.one("select upto from embeddings where user_no = :user")
        upto = int(row[0]) if row else 0
        rows = self._after(tx, max(upto, tx.low_id()))
        if not rows and self.dialect == "postgres":
            rows = self._late(tx, upto)
        return _by_passage(tx, rows)

    def _after(self, tx: Tx, upto: int) -> list[Row]:
        events = tx.all(
            "select id, conversation_no, case when kind in ('reasoning', 'summary') then '' else substr(text, 1, :cap) end"
            f" from events{tx.by_id} where user_no = :user and id > :upto and id <= :high order by id limit :n",
            cap=CAP, upto=upto, high=tx.high_id(), n=BATCH,
        )  # fmt: skip
        memories = tx.all(
            "select id, 0, case when indexed_at is null then '' else substr(content, 1, :cap) end from memories"
            " where user_no = :user and id > :upto order by id limit :n",
            cap=CAP, upto=upto, n=BATCH,
        )  # fmt: skip
        passages = tx.all(
            "select p.id, e.conversation_no, '' from passages p join events e on e.user_no = p.user_no and e.id = p.event_id"
            " where p.user_no = :user and p.id <> p.event_id and p.id > :upto and p.id <= :high order by p.id limit :n",
            upto=upto, high=tx.high_id(), n=BATCH,
        )  # fmt: skip
        return sorted([*events, *memories, *passages])[:BATCH]

    def _late(self, tx: Tx, upto: int) -> list[Row]:
        """What was committed after something with a later id had been embedded."""
        return tx.all(
            "select e.id, e.conversation_no, substr(e.text, 1, :cap) from events e left join vectors v"
            " on v.user_no = e.user_no and v.id = e.id where e.user_no = :user and e.id > :first and e.id <= :upto"
            " and v.id is null and e.kind not in ('reasoning', 'summary') and e.text <> ''"
            " union all select m.id, 0, substr(m.content, 1, :cap) from memories m left join vectors v"
            " on v.user_no = m.user_no and v.id = m.id where m.user_no = :user and m.id > :first and m.id <= :upto"
            " and v.id is null and m.indexed_at is not null"
            " union all select p.id, e.conversation_no, '' from passages p join events e on e.user_no = p.user_no"
            " and e.id = p.event_id left join vectors v on v.user_no = p.user_no and v.id = p.id where p.user_no = :user"
            " and p.id > :first and p.id <= :upto and p.id <> p.event_id and v.id is null order by 1 limit :n",
            cap=CAP, first=upto - LATE, upto=upto, n=BATCH,
        )  # fmt: skip

    def _put(self, tx: Tx, made: Sequence[tuple[int, int, Any]], last: int) -> bool:
        row = tx.one("select upto, model, dimension from embeddings where user_no = :user" + tx.for_update)
        if row is None or row[1] != self.embedder.name or row[2] != self.embedder.dimension:
            return False
        if made:
            ids = tx.some([id for id, _, _ in made])
            there = {
                row[0]
                for row in tx.all(
                    f"select id from events{tx.by_id} where user_no = :user and id{tx.among}"
                    f" union all select id from memories where user_no = :user and id{tx.among} and indexed_at is not null"
                    f" union all select id from passages where user_no = :user and id{tx.among}",
                    ids=ids,
                )
            }  # what was erased meanwhile stays so
            tx.run(f"delete from vectors where user_no = :user and id{tx.among}", ids=ids)
            tx.many(
                "insert into vectors (id, user_no, conversation_no, signature, vector) values (:id, :user_no, :c, "
                + ("cast(:signature as bit varying)" if tx.for_update else ":signature")
                + ", :vector)",
                [
                    (id, tx.user, no, stored(v, self.dialect), v.astype(np.float16).tobytes())
                    for id, no, v in made
                    if id in there
                ],
            )
        if last > row[0]:
            tx.run("update embeddings set upto = :upto where user_no = :user", upto=last)
        return True
