"""Which items answer a question: candidates by words and by meaning, one score.

An item has one text or several; its score is that of its best. The score is the cosine of question and text, raised by
the words they share: `1 - (1 - cosine) * (1 - 0.7 * words)`, where `words` is the share of the question's weight that
stands in the text (`fusion` reads and weighs it). So it is the plain cosine where no word is shared, and the plain share
of words where there is no vector; it never goes down for a word more. What nothing speaks for comes last, without a
score, the newest first: who asks for ten gets ten.
"""

from __future__ import annotations

import math
import threading
import time
from functools import cache, cached_property
from hashlib import blake2b

from .. import items
from ..errors import EmbeddingFailed
from ..filters import Judge
from .fusion import SCANNED, Statistics, Words, understand
from .tokens import term_set, terms, twins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from ..db import Database, Row, Tx
    from ..filters import Filter
    from ..items import Scope, Text
    from .fusion import Question
    from .vectors import Semantic

    Near = tuple[float | None, float, float]
    """The cosine of a text and the question, the length of the text's vector and of the question's."""

TEXT = "t.id, t.text, t.model, t.vector, t.item, t.namespace"
MOST = (100, 1_000, 10_000, 100_000, 1_000_000)  # as many texts are looked at until filters leave enough
CLOSE = 128  # dimensions below which signatures are too coarse to choose 100 by
BATCH = 256
CAP = 2_000  # characters of a text that count in the sample
SHARE = 0.7  # of the way to 1 that all the words of the question lead; the rest is the cosine's, or ten items would tie
SAMPLE = 2_000  # of the newest texts tell which words are common; with fewer, all words are looked for
COMMON = 0.05  # a word in more of them than this finds much and decides nothing
FRESH = 200  # searches until the sample is drawn anew
USERS = 64  # whose signatures are kept in memory
MOST_KEPT = (
    200_000  # texts of one user whose signatures are; a server has as many in its own memory, and counts for itself
)
SETTLE_SECONDS = 1.0
HALF = 65_504  # the greatest number of two bytes, as vectors are kept
TINY = 1e-30  # what has no length has no direction either
NOWHERE: Near = (None, 1.0, 1.0)


class Found:
    """An item that was found: its row as `items.COLUMNS` has it, its value, its score."""

    __slots__ = ("row", "score", "value")

    def __init__(self, row: Row, value: dict[str, Any], score: float | None) -> None:
        self.row, self.value, self.score = row, value, score


class Texts:
    """Searches items, with a model where there is one. One for all handles of a store in a process."""

    def __init__(self, semantic: Callable[[], Semantic | None], distance: str = "cosine") -> None:
        self._semantic = semantic
        self._distance = distance
        self.is_whole = distance in ("l2", "inner_product")
        """Whether vectors are kept as long as the model made them: by these distances a longer one is another one."""
        self._signatures: dict[int, Any] = {}
        self._complete: dict[int, float] = {}
        """When it was last seen that all texts of a user have vectors of this model. Another process may write others."""
        self._common: dict[int, tuple[int, frozenset[str]]] = {}
        self._lock = threading.Lock()
        self._settled = 0
        self._asked_at = 0.0

    # -- embedding

    def embed(self, texts: Sequence[Text]) -> None:
        """Give each text its vector. Where the model does not answer they are stored without: a search asks again."""
        semantic = self._semantic() if texts else None
        if semantic is None:
            return
        embed = semantic.embed_whole if self.is_whole else semantic.embed
        try:
            made = embed([t.text for t in texts])
        except EmbeddingFailed:
            self._complete.clear()
            return
        import numpy as np

        from .signatures import stored

        made = np.clip(made, -HALF, HALF)
        name = self.model(semantic)
        for text, vector in zip(texts, made, strict=True):
            text.model = name
            text.signature = stored(vector, semantic.dialect)
            text.vector = vector.astype(np.float16).tobytes()

    def catch_up(self, db: Database, user: str, semantic: Semantic, most: int = BATCH) -> int:
        """Embed texts that have no vector of this model. Returns how many were."""
        rows = db.read(user, lambda tx: _waiting(tx, self.model(semantic), most))
        if not rows:
            return 0
        made = [items.Text(row[2]) for row in rows]
        self.embed(made)
        if made[0].model is None:
            return 0
        changes = list(zip(rows, made, strict=True))
        db.write(user, lambda tx: _put_again(tx, changes))
        return len(rows)

    # -- searching

    def search(
        self, db: Database, user: str, scope: Scope, query: str | None, filter: Filter | None, limit: int, offset: int,
        now: int,
    ) -> list[Found]:  # fmt: skip
        judge = Judge(filter)
        if not query or not query.strip():
            # Mostly on one page, unless what passes can be told only here.
            brief = bool(judge.needles) or (judge.is_open and not offset)
            return db.read(user, lambda tx: _unranked(tx, scope, judge, limit, offset, now), brief=brief)
        semantic = self._semantic()
        vector = None
        if semantic is not None:
            vector = semantic.question_whole(query) if self.is_whole else semantic.question(query)

        settled = self._settle(db) if semantic is not None else 0
        must_wait, began = vector is not None, time.monotonic()
        checked = bool(offset) or not judge.is_open

        def read(tx: Tx) -> list[Found] | None:
            nonlocal must_wait
            is_known = must_wait and began - self._complete.get(tx.user, -math.inf) <= SETTLE_SECONDS
            if semantic is not None and must_wait and not is_known:
                if _waiting(tx, self.model(semantic), 1):
                    return None
                self._complete[tx.user] = began
            must_wait = False
            given = semantic if vector is not None else None
            one = _Search(tx, self, given, scope, query, judge, now, settled, checked)
            found = one.found(vector, limit, offset)
            if one.met_another_model:
                self._complete.pop(tx.user, None)
                if is_known:  # and is so no more
                    must_wait = True
                    return None
            return found

        while (found := db.read(user, read)) is None:
            if semantic is not None and must_wait:
                # One batch is caught up with; the rest is found by words until the next search.
                self.catch_up(db, user, semantic)
                must_wait = False
            else:
                checked = True
        return found

    def _settle(self, db: Database) -> int:
        """Before the snapshot of a search: up to which id a server will show nothing new any more."""
        now = time.monotonic()
        if db.dialect == "postgres" and now - self._asked_at > SETTLE_SECONDS:
            self._asked_at = now
            self._settled = db.settled()
        return self._settled

    def nearest(
        self, tx: Tx, semantic: Semantic, vector: Any, scope: Scope, most: int, settled: int
    ) -> Callable[[], list[Row]]:  # fmt: skip
        """The texts of a scope that mean nearly the same, by signature, as `TEXT` has them; read further on."""
        if tx.for_update:
            return self._nearest_there(tx, semantic, vector, scope, most, settled)
        model = self.model(semantic)

        def read() -> list[Row]:
            within = [_place(n) for n in items.places(tx, scope)] if scope.low else None
            if within == []:
                return []
            row = tx.one(
                "select max(id) from item_texts where user_no = :user and id > :low and id <= :high and model = :model",
                low=tx.low_id(), high=tx.high_id(), model=model,
            )  # fmt: skip
            if row is None or row[0] is None:
                return []
            with self._lock:
                known = self._known(tx.user, model, semantic)
                known.update(tx, int(row[0]))
                while True:
                    found = [id for id, _ in known.nearest(vector, most, within)]
                    there = tx.all(
                        f"select {TEXT} from item_texts t{tx.by_id} where t.user_no = :user and t.id{tx.among}",
                        ids=tx.some(found),
                    )
                    if len(there) == len(found):
                        return there
                    known.drop(set(found).difference(row[0] for row in there))  # put again or deleted since

        return read

    def _known(self, user: int, model: str, semantic: Semantic) -> Any:
        """The signatures of a user's texts that are at hand, or the place for them. Under the lock."""
        known = self._signatures.get(user)
        if known is None or known.model != model:
            while len(self._signatures) >= USERS:
                del self._signatures[next(iter(self._signatures))]
            known = self._signatures[user] = _signatures(model, semantic.embedder.dimension)
        return known

    def _nearest_there(
        self, tx: Tx, semantic: Semantic, vector: Any, scope: Scope, most: int, settled: int
    ) -> Callable[[], list[Row]]:  # fmt: skip
        """The same of a server. It counts the bits of what is new itself; of the rest it would read every row, with its text
        and its vector (7 ms for 10,000), while here the signatures lie side by side. What they propose is asked for at once."""
        from .signatures import bits

        model = self.model(semantic)
        distance = semantic._distance(tx)

        def ask() -> tuple[list[int], Callable[[], list[Row]]]:
            found: list[int] = []
            with self._lock:
                known = self._known(tx.user, model, semantic)
                upto = known.kept(tx, settled)
                if upto:
                    found = [id for id, _ in known.nearest(vector, most, known.within(scope))]
            rows = tx.blobs(
                f"select {TEXT} from item_texts t where t.user_no = :user and t.id{tx.among} union all select * from"
                f" (select {TEXT} from item_texts t where t.user_no = :user and t.model = :model and t.id > :upto"
                f"{scope.on('t')} order by {distance}, t.id limit :most) as fresh",
                ids=tx.some(found), model=model, upto=upto, bits=bits(vector), most=most, **scope.params,
            )  # fmt: skip
            tx.go()
            return found, rows

        asked = [ask()]

        def read() -> list[Row]:
            while True:
                found, rows = asked[-1][0], asked[-1][1]()
                gone = set(found).difference([row[0] for row in rows])
                # What is beyond may only be too new for this snapshot: another thread had a later one.
                deleted = {id for id in gone if id <= settled}
                if not deleted:
                    return rows
                with self._lock:
                    self._known(tx.user, model, semantic).drop(deleted)  # put again or deleted since
                asked.append(ask())

        return read

    def common(self, tx: Tx) -> frozenset[str]:
        """Words that are in too many of a user's texts to look for, where there are others."""
        left, found = self._common.get(tx.user, (0, frozenset()))
        if left <= 0:
            rows = tx.all(
                f"select text from item_texts{tx.by_id} where user_no = :user and id > :low and id <= :high"
                " order by id desc limit :sample",
                low=tx.low_id(), high=tx.high_id(), sample=SAMPLE,
            )  # fmt: skip
            counts: dict[str, int] = {}
            if len(rows) == SAMPLE:
                for (text,) in rows:
                    for term in term_set(text[:CAP]):
                        counts[term] = counts.get(term, 0) + 1
            left, found = FRESH, frozenset(term for term, n in counts.items() if n > COMMON * SAMPLE)
            while len(self._common) >= USERS:
                del self._common[next(iter(self._common))]
        self._common[tx.user] = (left - 1, found)
        return found

    def model(self, semantic: Semantic) -> str:
        """What vectors are known by: those of one name can be compared."""
        return f"{semantic.embedder.name}/{semantic.embedder.dimension}{'/whole' if self.is_whole else ''}"

    def rate(self, query: str, said: Sequence[str], cosines: Sequence[float | None]) -> list[float | None]:
        """The scores of texts that are no items, on the same scale; None where nothing speaks for one."""
        if not said:
            return []
        lower = [text.lower() for text in said]
        counts = {term: sum(term in text for text in lower) for term in dict.fromkeys(terms(query)[:64])}
        words = Words(understand(query), Statistics(len(said), counts))
        shares = words.shares(said, words.bits([text[:SCANNED] for text in said]))
        scored = self.scores(shares, [(cosine, 1.0, 1.0) for cosine in cosines])
        return [
            score if share or cosine is not None else None
            for score, share, cosine in zip(scored, shares, cosines, strict=True)
        ]

    def scores(self, words: Sequence[float], near: Sequence[Near]) -> list[float]:
        """On the scale that was asked for: the cosine; or of the text's vector, which is so long, and of the question's, which
        is as long as `asked` says, the inner product or the negative distance."""
        both = zip([share if share < 1.0 else 1.0 for share in words], near, strict=True)
        raised = [share if cosine is None else 1 - (1 - cosine) * (1 - SHARE * share) for share, (cosine, _, _) in both]
        if self._distance == "inner_product":
            return [asked * length * score for score, (_, length, asked) in zip(raised, near, strict=True)]
        if self._distance == "l2":
            return [
                -math.sqrt(max(0.0, asked * asked + length * length - 2 * asked * length * score))
                for score, (_, length, asked) in zip(raised, near, strict=True)
            ]
        return raised


def _waiting(tx: Tx, model: str, most: int) -> list[Row]:
    """Texts without a vector of this model: three ranges of an index, where "<>" would read all of it at every search."""
    return tx.all(
        "select id, item, text from item_texts where user_no = :user"
        " and (model is null or model < :model or model > :model) limit :most",
        model=model, most=most,
    )  # fmt: skip


def _place(namespace: str) -> int:
    """A namespace as a number beside its vectors. Two may share one: the rows are compared again."""
    return int.from_bytes(blake2b(namespace.encode(), digest_size=8).digest()) >> 1


def _signatures(model: str, dimension: int) -> Any:
    from .signatures import Signatures

    class OfItems(Signatures):
        spaces: dict[str, int]
        """Every namespace that was met, and the number that stands for it."""

        def _new(self, tx: Tx, after: int, upto: int, most: int) -> list[Row]:
            rows = tx.all(
                "select id, namespace, signature from item_texts where user_no = :user and model = :model and id > :after"
                " and id <= :upto order by id limit :most",
                model=self.model, after=after, upto=upto, most=most,
            )  # fmt: skip
            for row in rows:
                if row[1] not in self.spaces:
                    self.spaces[row[1]] = _place(row[1])
            signatures = [row[2] for row in rows]
            if tx.for_update and rows:  # bits as a text of as many characters
                import numpy as np

                bits = np.frombuffer("".join(signatures).encode(), np.uint8).reshape(len(rows), dimension)
                signatures = [row.tobytes() for row in np.packbits(bits == ord("1"), axis=1)]
            return [(row[0], self.spaces[row[1]], said) for row, said in zip(rows, signatures, strict=True)]

        def kept(self, tx: Tx, settled: int) -> int:
            """Bring them up to date. Returns up to which id they are here; 0: they are too many."""
            if not self._upto:
                row = tx.one(
                    "select count(*) from (select 1 from item_texts where user_no = :user and model = :model"
                    " and id <= :upto limit :most) as t",
                    model=self.model, upto=settled, most=MOST_KEPT + 1,
                )  # fmt: skip
                if row is None or row[0] > MOST_KEPT:
                    return 0
            if settled > self._upto:
                self.update(tx, settled)
            return self._upto

        def within(self, scope: Scope) -> list[int] | None:
            if not scope.low and not scope.exact:
                return None
            if scope.exact:
                return [self.spaces[scope.low]] if scope.low in self.spaces else []
            return [place for namespace, place in self.spaces.items() if scope.holds(namespace)]

    made = OfItems(model, dimension)
    made.spaces = {}
    return made


def _put_again(tx: Tx, changes: Sequence[tuple[Row, Text]]) -> None:
    """Texts with their new vectors, under new ids: who keeps vectors in memory looks for what is new."""
    for (id, item, text), made in changes:
        row = tx.one(
            "select i.namespace from item_texts t join items i on i.user_no = t.user_no and i.id = t.item"
            " where t.user_no = :user and t.id = :id",
            id=id,
        )
        if row is None:
            continue  # put again or deleted meanwhile
        tx.unindex_words("item_words", [items.entry(row[0], (id, text))])
        tx.run("delete from item_texts where user_no = :user and id = :id", id=id)
        items.add_texts(tx, item, row[0], [made], tx.ticks(1))


def _unranked(tx: Tx, scope: Scope, judge: Judge, limit: int, offset: int, now: int) -> list[Found]:
    if judge.is_open:
        return [Found(row, items.load(row), None) for row in items.newest(tx, scope, now, limit, offset)]
    return _passing(tx, scope, judge, limit, offset, now, ())


def _passing(
    tx: Tx, scope: Scope, judge: Judge, limit: int, offset: int, now: int, but: Collection[int]
) -> list[Found]:
    """A page of what passes, the newest first."""
    found: list[Found] = []
    for row in items.walk(tx, scope, now, judge, offset + limit + 2 + len(but)):
        if len(found) >= limit:
            break
        if row[0] in but:
            continue
        value = items.load(row)
        if judge.passes(value):
            offset -= 1
            if offset < 0:
                found.append(Found(row, value, None))
    return found


class _Search:
    """One search, on one snapshot."""

    def __init__(
        self, tx: Tx, texts: Texts, semantic: Semantic | None, scope: Scope, query: str, judge: Judge, now: int, settled: int,
        checked: bool,
    ) -> None:  # fmt: skip
        """`checked`: every item is read before it is ranked, because of a filter, of what expired, or of earlier pages. Else it
        is read when it is shown: most are not."""
        self._settled, self._checked = settled, checked
        self._tx, self._texts, self._semantic, self._scope, self._now = tx, texts, semantic, scope, now
        self._judge, self._query = judge, query
        self._is_weighed = False
        self._asked = list(dict.fromkeys(terms(query)))[:64]
        self._rows: dict[int, Row] = {}
        self._values: dict[int, dict[str, Any] | None] = {}
        """Only with a filter: else a value is read when it is shown."""
        self._seen: set[int] = set()
        """Texts that were proposed."""
        self._is_all = False
        """Whether these are all there are."""
        self.met_another_model = False
        """Or may have: there is nothing of this one."""

    def found(self, vector: Any, limit: int, offset: int) -> list[Found] | None:
        """A page of all that is in scope, in one order. The best are looked for among the first few hundred candidates; what
        more candidates add comes behind those, so that a later page never changes an earlier one. None if something expired
        is among what would be shown: then all is to be checked."""
        ordered: list[tuple[int, float]] = []
        # Signatures know a direction and no length.
        is_coarse = self._texts.is_whole or (self._semantic is not None and self._semantic.embedder.dimension < CLOSE)
        for most in MOST[1:] if is_coarse else MOST:
            texts: list[Row] = []
            near: list[Near] = []
            bits: list[int] = []
            counts = dict.fromkeys(self._asked, 0)
            for proposed in self._proposed(vector, most):
                passing = self._passing(proposed)
                texts += passing
                near += self._near(vector, passing)
                bits += self._bits(passing, counts)
            if not self._is_weighed:  # how rare a term is among the candidates: nobody else's items have a say in it
                bits = self._weigh(Statistics(len(texts), counts), texts, bits)
            shares = self._words.shares([text[1] for text in texts], bits)
            ordered += self._ranked(texts, self._texts.scores(shares, near), ordered)
            if self._is_all or len(ordered) >= offset + limit:
                break
        shown = ordered[offset : offset + limit]
        if not self._checked:
            if len(shown) == limit <= items.PAGE:
                self._tx.ends()
            self._rows = {row[0]: row for row in items.some(self._tx, [id for id, _ in shown]) if self._is_alive(row)}
            if len(self._rows) < len(shown):
                return None
        hits = [self._hit(id, score) for id, score in shown]
        if len(hits) < limit:
            hits += self._rest({id for id, _ in ordered}, limit - len(hits), max(0, offset - len(ordered)))
        return hits

    def _ranked(
        self, texts: Sequence[Row], scores: Sequence[float], before: Sequence[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        """(item, score), best first, of those that are not ranked yet; of equals, the one that was put last."""
        done = {id for id, _ in before}
        best: dict[int, tuple[float, int, int]] = {}
        for text, score in zip(texts, scores, strict=True):
            item = text[4]
            if item not in done:
                found = score, text[0], item
                known = best.get(item)
                if known is None or known < found:
                    best[item] = found
        ordered = sorted(best.values(), reverse=True)
        most = before[-1][1] if before else math.inf
        return [(item, score if score < most else most) for score, _, item in ordered]

    def _hit(self, id: int, score: float) -> Found:
        row = self._rows[id]
        return Found(row, self._values.get(id) or items.load(row), score)

    def _proposed(self, vector: Any, most: int) -> Iterator[list[Row]]:
        """The texts that words or meaning propose, each once: what comes first is looked at while a server reads the rest."""
        asked = self._asking_words(most)
        asked_too: Callable[[], list[Row]] = list
        is_asked = self._semantic is not None and vector is not None
        if self._semantic is not None and is_asked:
            asked_too = self._texts.nearest(self._tx, self._semantic, vector, self._scope, most, self._settled)
        self._words  # noqa: B018  the question is read while the server looks
        by_words = asked()
        first = self._new(by_words)
        if not self._checked:  # else another question would follow each part
            yield first
            first = []
        by_meaning = asked_too()
        self.met_another_model |= is_asked and not by_meaning
        self._is_all = len(by_words) < most and len(by_meaning) < most
        yield first + self._new(by_meaning)

    def _new(self, texts: Sequence[Row]) -> list[Row]:
        """Those that were not proposed before."""
        found = [text for text in texts if text[0] not in self._seen]
        self._seen.update([text[0] for text in found])
        return found

    def _asking_words(self, most: int) -> Callable[[], list[Row]]:
        """Who has words of the question; a server is asked with the next question."""
        if not self._asked:
            return list
        common = self._texts.common(self._tx)
        asked = [term for term in self._asked if term not in common] or self._asked
        asked = [form for term in asked for form in (term, *twins(term))]
        return self._tx.finding_words(
            "item_words", dict.fromkeys(asked, 1), self._scope.tokens, most,
            f"select {TEXT} from item_texts t{self._tx.by_id} where t.user_no = :user and t.id",
        )  # fmt: skip

    def _passing(self, texts: Sequence[Row]) -> list[Row]:
        """Those that are in scope; if all is checked, those whose items pass."""
        # Where and how long is compared here: said in the statement, Postgres took the index on it and read all of it.
        inside = [text for text in texts if self._scope.holds(text[5])]
        if not self._checked:
            return inside
        for row in items.some(self._tx, list({text[4] for text in inside}.difference(self._rows))):
            if self._is_alive(row):
                self._rows[row[0]] = row
                if not self._judge.is_open:
                    value = items.load(row)
                    self._values[row[0]] = value if self._judge.passes(value) else None
        return [t for t in inside if t[4] in self._rows and (self._judge.is_open or self._values[t[4]] is not None)]

    def _is_alive(self, row: Row) -> bool:
        return row[10] is None or row[10] > self._now

    def _near(self, vector: Any, texts: Sequence[Row]) -> list[Near]:
        if vector is None or self._semantic is None:
            return [NOWHERE] * len(texts)
        near = _near(self._texts.model(self._semantic), vector, texts)
        self.met_another_model |= NOWHERE in near
        return near

    @cached_property
    def _question(self) -> Question:
        return understand(self._query)

    @cached_property
    def _words(self) -> Words:
        return Words(self._question)

    def _bits(self, texts: Sequence[Row], counts: dict[str, int]) -> list[int]:
        """Which words of the question each text has. Until they are weighed, it is counted in how many texts a term stands."""
        said = [text[1] for text in texts]
        if self._is_weighed:
            return self._words.bits([text[:SCANNED] for text in said])
        # A term is mostly a beginning of its words: that it stands in a text is told without taking the text apart.
        if self._words.is_few and max(map(len, said), default=0) <= SCANNED:
            return self._words.bits(said, counts)
        lower = [text.lower() for text in said]
        for term in counts:
            counts[term] += sum([term in text for text in lower])
        return self._words.bits([text[:SCANNED] for text in said]) if self._words.is_few else []

    def _weigh(self, statistics: Statistics, texts: Sequence[Row], bits: list[int]) -> list[int]:
        self._is_weighed = True
        if self._words.is_few:
            self._words.weigh(statistics)
            return bits
        self._words = Words(self._question, statistics)
        return self._words.bits([text[1][:SCANNED] for text in texts])

    def _rest(self, ranked: set[int], limit: int, offset: int) -> list[Found]:
        """What nothing speaks for."""
        return _passing(self._tx, self._scope, self._judge, limit, offset, self._now, ranked)


@cache
def _widened() -> Any:
    """Every number of two bytes as one of four: to look them up takes half the time of working each out."""
    import numpy as np

    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def _near(model: str, vector: Any, texts: Sequence[Row]) -> list[Near]:
    """How near each text is to the question; nowhere if it has no vector of this model."""
    import numpy as np

    those = [i for i, text in enumerate(texts) if text[2] == model]
    found = [NOWHERE] * len(texts)
    if those:
        matrix = np.frombuffer(b"".join([texts[i][3] for i in those]), dtype=np.uint16).reshape(len(those), -1)
        stored = _widened().take(matrix)
        # Of a unit vector 1 but for the rounding, which a distance would show: 0.004 for the same text.
        lengths = np.sqrt(np.einsum("ij,ij->i", stored, stored))
        asked = math.sqrt(vector @ vector)
        cosines = np.minimum((stored @ vector) / np.maximum(lengths, TINY) / (asked or 1), 1)
        for i, cosine, length in zip(those, cosines.tolist(), lengths.tolist(), strict=True):
            found[i] = cosine, length, asked
    return found
