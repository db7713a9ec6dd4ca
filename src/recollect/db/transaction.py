"""A transaction on SQLite, as the verbs see it, and what the requests of one batch share.

The writer commits many requests at once (`writer.py`), and some of what each of them does costs the same for all of them
together: to count, to index, to queue the same job. `Batch` puts that off to the end.
"""

from __future__ import annotations

from functools import partial
from itertools import chain

from .. import ids
from . import QUEUE, Retry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    import apsw

    from . import Row

NESTED = "A verb was called inside a transaction; pass the tx on instead."
BLOCKS = (100, 10)  # rows in one statement: 1.3 us each instead of 2.4, and each hands over the interpreter's lock
MOST_QUEUED = 1_000
MOST_KNOWN = 1_000
MERGED = 64  # pages of an index that are written at once to bring its pieces together
APART = 4  # pieces are brought into one when the smaller ones are together this part of the largest


class Batch:
    """What the requests of one transaction of the writer have in common, and what it knows from one to the next."""

    __slots__ = ("drawn", "known", "moved", "queued", "unindexed", "version", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[str, list[Row]] = {}
        """Statement -> rows that were put off: the appends of eight threads are one insert. Any other statement of a request
        comes after them."""
        self.moved: dict[int, Row] = {}
        """Conversations that went on, by their number: the same."""
        self.unindexed: list[tuple[str, Row]] = []
        """Words that wait for the end: (table, entry). One insert of many is cheaper for FTS5 than many of one."""
        self.drawn: dict[int, int] = {}
        """The counters of users that were read and moved on here, and wait to be written."""
        self.queued: set[tuple[int, str, str]] = set()
        """Jobs that are queued, so that appends do not ask for them again and again. True as long as no statement about
        jobs ran here, nothing was rolled back, and no other connection wrote (`version`)."""
        self.known: dict[str, dict[Any, Any]] = {}
        """Table -> what `SQLiteTx.known` read of it. True as long as no statement wrote to that table here, and the rest as
        with `queued`."""
        self.version = 0

    def begin(self, connection: apsw.Connection) -> None:
        if (self.queued or self.known) and self.version != connection.data_version():
            self.queued.clear()
            self.known.clear()
        elif len(self.queued) > MOST_QUEUED:
            self.queued.clear()

    def wrote(self, sql: str) -> None:
        """A statement that changes something is about to run."""
        for table in [table for table in self.known if table in sql]:
            del self.known[table]
        if "jobs" in sql:
            self.queued.clear()

    def finish(self, connection: apsw.Connection) -> None:
        """Write what waits: before the commit, and before somebody looks."""
        self.write_rows(connection)
        if self.drawn:
            connection.executemany(
                "update users set last_event = ? where no = ?", [(last, user) for user, last in self.drawn.items()]
            )
            self.known.setdefault("users", {}).update(self.drawn)
            self.drawn.clear()
        if self.unindexed:
            for table, statements in _FTS.items():
                # By id: FTS5 writes a segment of its own wherever they go backwards.
                entries = sorted(entry for at, entry in self.unindexed if at == table)
                if entries:
                    _many(connection, statements[0], entries)
            self.unindexed.clear()

    def write_rows(self, connection: apsw.Connection) -> None:
        """The rows that were put off: before any other statement."""
        if self.waiting:
            waiting, self.waiting = self.waiting, {}
            for sql, rows in waiting.items():
                _many(connection, sql, rows)
        if self.moved:
            moved, self.moved = self.moved, {}
            _many(connection, _MOVE_ON, list(moved.values()))

    def committed(self, connection: apsw.Connection | None) -> None:
        """None: the connection is lost, and the next one counts from the beginning."""
        if connection is None:
            self.queued.clear()
            self.known.clear()
        elif self.queued or self.known:
            self.version = connection.data_version()  # our own commit has moved it as well

    def undo(self) -> None:
        """All is rolled back, or all since the last `finish`."""
        self.waiting.clear()
        self.moved.clear()
        self.unindexed.clear()
        self.drawn.clear()
        self.queued.clear()
        self.known.clear()


class SQLiteTx:
    """See `Tx`."""

    for_update = for_change = for_adding = ""
    by_id = " not indexed"
    among = " in (select value from json_each(:ids))"

    def __init__(self, connection: apsw.Connection, user: int, batch: Batch | None = None) -> None:
        self.user = user
        self._batch = batch
        self._connection = connection
        self._execute = connection.execute
        self.drew: tuple[int, int] | None = None
        """The user and their counter after the last draw: proof, later, that this transaction was committed."""

    def all(self, sql: str, /, **params: Any) -> list[Row]:
        params["user"] = self.user
        if (batch := self._batch) is not None:
            batch.write_rows(self._connection)
            if sql[0] != "s":
                batch.wrote(sql)
        return self._execute(sql, params).fetchall()

    def one(self, sql: str, /, **params: Any) -> Row | None:
        rows = self.all(sql, **params)
        return rows[0] if rows else None

    def run(self, sql: str, /, **params: Any) -> int:
        self.all(sql, **params)
        return self._connection.changes()

    def send(self, sql: str, /, **params: Any) -> None:
        self.all(sql, **params)

    def later(self, sql: str, /, **params: Any) -> Callable[[], list[Row]]:
        return partial(self.all, sql, **params)

    blobs = later

    def go(self) -> None:
        pass  # nothing is on its way to anywhere

    def many(self, sql: str, rows: Sequence[Row], /, *, same: Row = ()) -> None:
        if (batch := self._batch) is not None:
            batch.write_rows(self._connection)
            batch.wrote(sql)
        _many(self._connection, sql, rows, same)

    def put_off(self, sql: str, rows: Sequence[Row], /) -> None:
        assert self._batch is not None
        self._batch.waiting.setdefault(sql, []).extend(rows)

    def move_on(self, conversation: str, no: int, seq: int, activity: int, /) -> None:
        batch = self._batch
        assert batch is not None
        batch.moved[no] = (seq, activity, ids.now(), self.user, no)
        known, key = batch.known.get("conversations", {}), (self.user, conversation)
        if key in known:
            row = known[key]
            known[key] = (*row[:2], seq, *row[3:])

    def known(self, table: str, key: Any, ask: Callable[[], Any], /) -> Any:
        if self._batch is None:
            return ask()
        found = self._batch.known.setdefault(table, {})
        key = (self.user, key)
        if key not in found:
            answer = ask()
            if answer is None:
                return None
            if len(found) >= MOST_KNOWN:
                found.clear()
            found[key] = answer
        return found[key]

    def some(self, ids: Sequence[int], /) -> str:
        return str(list(ids))

    def those(self, select: str, /) -> str:
        return f" in ({select})"

    def ends(self) -> None:
        pass  # there is nobody to tell

    def index_words(self, table: str, entries: Sequence[Row], /) -> None:
        assert self._batch is not None
        self._batch.unindexed += [(table, entry) for entry in entries]

    def unindex_words(self, table: str, entries: Sequence[Row], /) -> None:
        self._write_out()
        # To take out what is not there would leave the index damaged, so each is looked for first.
        there = [e for e in entries if self._execute(_FTS[table][3], (e[0],)).fetchall()]
        if there:
            self._connection.executemany(_FTS[table][1], there)

    def find_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, /, *, newest: bool = False,
        memories: Collection[int] | None = None,
    ) -> list[int]:  # fmt: skip
        self._write_out()
        # The scope first, since it is mostly rarer. Events are nearly all there is: "no memory" is found in half the time.
        narrow = "".join([f"scope : {_quoted(token)} AND " for token in allof if token != "e"])
        but = ' NOT scope : "m"' if "e" in allof and memories is None else ""
        low = 0 if table == "title_words" else self.user << 32
        high = (1 << 62) if table == "title_words" else (self.user + 1 << 32) - 1

        def rows(terms: str, limit: int = -1, order: int = 4) -> list[int]:
            match = f"({narrow}terms : ({terms})){but}"
            sql, last = (_FTS[table][2], ()) if limit < 0 else (_FTS[table][order], (limit,))
            found: list[Row] = self._execute(sql, (match, low, high, *last)).fetchall()
            return [row[0] for row in found]

        left_out = memories if "e" in allof and memories else ()
        if newest or len(anyof) == 1:
            terms, limit = " OR ".join(map(_quoted, anyof)), most + len(left_out)
            # Of one conversation there are mostly few, and forwards FTS5 finds them in two thirds of the time.
            is_one = any(token[0] == "c" for token in allof)
            found = rows(terms, limit, 5)[::-1] if is_one else []
            if not is_one or len(found) == limit:
                found = rows(terms, limit)
        else:
            found = _heaviest(anyof, rows, most + len(left_out))
        return [id for id in found if id not in left_out][:most] if left_out else found

    def finding_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, select: str, /
    ) -> Callable[[], list[Row]]:
        return lambda: self.all(select + self.among, ids=self.some(self.find_words(table, anyof, allof, most)))

    def indexed_words(self, table: str, after: int, most: int, /) -> list[int]:
        self._write_out()
        found: list[Row]
        if table != "title_words":
            sql = f"select rowid from {table} where rowid > ? and rowid <= ? order by rowid limit ?"
            found = self._execute(sql, (max(after, self.low_id()), self.high_id(), most)).fetchall()
        else:  # numbered by conversation: what belongs to no conversation is everyone's business
            sql = (
                "select w.rowid from title_words w left join conversations c on c.no = w.rowid"
                " where (c.user_no = ? or c.no is null) and w.rowid > ? order by w.rowid limit ?"
            )
            found = self._execute(sql, (self.user, after, most)).fetchall()
        return [row[0] for row in found]

    def tidy_words(self) -> bool:
        # FTS5 does so by itself, but waits until 64 pages were written or there are 16 pieces of a size: with 12 of them a
        # search in one conversation spends twice the time on words, and with five still half as much again. All become one
        # (a negative number) where the smaller ones are together a quarter of the largest, so that a page is written five
        # times in its life; else nothing is written where fewer than four are of a size.
        self._write_out()
        is_more = False
        for table in ("words", "title_words"):
            found: list[Row] = self._execute(f"select count(*) from {table}_idx group by segid").fetchall()
            pieces = sorted([row[0] for row in found])
            is_scattered = len(pieces) > 1 and APART * sum(pieces[:-1]) >= pieces[-1]
            before = self._connection.total_changes()
            pages = -MERGED if is_scattered else MERGED
            self._execute(f"insert into {table} ({table}, rank) values ('merge', {pages})").fetchall()
            if is_scattered and sum(pieces) > MERGED and self._connection.total_changes() - before >= 2:
                is_more = True
        return is_more

    def forget_words(self) -> None:
        self._write_out()
        for table in _FTS:
            self._execute(f"insert into {table} ({table}) values ('delete-all')").fetchall()
        self._execute(
            "insert into jobs (user_no, kind, key, state, run_at, created_at)"
            " select no, 'index', 'all', 'queued', 0, ? from users where last_event > 0 on conflict do nothing",
            (ids.now(),),
        ).fetchall()

    def queue(self, kind: str, key: str, delay_ms: int, /) -> None:
        assert self._batch is not None
        job = (self.user, kind, key)
        if job not in self._batch.queued:
            now = ids.now()
            params = {"user": self.user, "kind": kind, "key": key, "at": now + delay_ms, "now": now}
            self._execute(QUEUE, params).fetchall()
            self._batch.queued.add(job)

    def low_id(self) -> int:
        return self.user << 32

    def high_id(self) -> int:
        return (self.user + 1 << 32) - 1

    def rename_user(self, id: str, /) -> None:
        self._write_out()
        if self._batch is not None:
            self._batch.known.pop("users", None)
        self._execute("update users set id = ? where no = ?", (id, self.user)).fetchall()

    def expect(self, n: int, /) -> None:
        pass  # they are drawn in this process

    def ticks(self, n: int) -> range:
        assert self._batch is not None
        last = self._batch.drawn.get(self.user) or self._batch.known.get("users", {}).get(self.user)
        if last is None:
            # Not for someone who was erased: they come back by their name first, or what they write would be nobody's.
            rows: list[Row] = self._execute(
                "select last_event from users where no = ? and substr(id, 1, 7) <> 'erased:'", (self.user,)
            ).fetchall()
            if not rows:
                raise Retry
            last = int(rows[0][0])
        last += n
        self._batch.drawn[self.user] = last
        self.drew = (self.user, last)
        end = (self.user << 32) + last + 1
        return range(end - n, end)

    def _write_out(self) -> None:
        """What the batch has put off, before something is done for which all must be in its place."""
        if self._batch is not None:
            self._batch.finish(self._connection)


_MOVE_ON = (
    "with moved (seq, activity, now, user_no, no) as (values (:seq, :activity, :now, :user_no, :no))"
    " update conversations set last_seq = moved.seq, activity = moved.activity, updated_at = moved.now from moved"
    " where conversations.user_no = moved.user_no and conversations.no = moved.no"
)
_FTS = {
    table: (
        f"insert into {table} (rowid, terms, scope) values (:id, :terms, :scope)",
        f"insert into {table} ({table}, rowid, terms, scope) values ('delete', ?, ?, ?)",
        f"select rowid from {table} where {table} match ? and rowid between ? and ?",
        f"select rowid from {table} where rowid = ?",
        f"select rowid from {table} where {table} match ? and rowid between ? and ? order by rowid desc limit ?",
        f"select rowid from {table} where {table} match ? and rowid between ? and ? order by rowid limit ?",
    )
    for table in ("words", "title_words", "item_words")
}


class _Blocks(dict[tuple[str, int, int], str]):
    """Statements with `values (...)`, for several rows at once; so many of the first values are the same for all rows. They
    stand in order and need no names. Empty where a statement cannot be had that way."""

    def __missing__(self, key: tuple[str, int, int]) -> str:
        sql, same, rows = key
        head, values, rest = sql.partition("values (")
        end = rest.find(")")
        while rest.count("(", 0, end) > rest.count(")", 0, end):  # that of a function among the values
            end = rest.find(")", end + 1)
        one, rest = rest[:end], rest[end:]
        first, *parts = one.split(":")
        behind = [part.lstrip("abcdefghijklmnopqrstuvwxyz_") for part in parts]
        names = {part.removesuffix(other) for part, other in zip(parts, behind, strict=True)}
        found = ""
        if parts and ":" not in head + rest and len(names) == len(parts):
            for n, other in enumerate(behind, 1):
                first += (f"?{n}" if n <= same else "?") + other
            found = head + values + "), (".join([first] * rows) + rest
        self[key] = found
        return found


_STATEMENTS = _Blocks()


def _many(connection: apsw.Connection, sql: str, rows: Sequence[Row], same: Row = ()) -> None:
    """To start a statement takes as long as to insert a row, so as many rows as possible go with each."""
    execute = connection.execute
    done = 0
    for size in (*BLOCKS, len(rows) % BLOCKS[-1]):
        if size > 1 and len(rows) - done >= size and (block := _STATEMENTS[sql, len(same), size]):
            end = len(rows) - (len(rows) - done) % size
            for n in range(done, end, size):
                execute(block, (*same, *chain.from_iterable(rows[n : n + size]))).fetchall()
            done = end
    if done < len(rows):
        rest = rows[done:] if done else rows
        connection.executemany(sql, [(*same, *row) for row in rest] if same else rest)


def _heaviest(anyof: Mapping[str, int], rows: Callable[..., list[int]], most: int) -> list[int]:
    """The rows whose terms weigh most, the newer first where they weigh the same. Each term by itself, and the sum of what
    it weighs: quicker than bm25(), and the same on every database.

    Of a common term not every row is asked for. Those that have another term as well are, which FTS5 finds without handing
    out the rest; of the rest, which weigh the same, the newest are enough. And once there are enough rows that weigh more
    than all terms that are left do together (the heaviest come first), who has none of the terms so far cannot get among
    the first."""
    weights: dict[int, int] = {}
    terms = sorted(anyof, key=lambda term: -anyof[term])
    quoted = [_quoted(term) for term in terms]
    left = sum(anyof.values())
    for n, term in enumerate(terms):
        weight = anyof[term]
        if len(weights) >= most and left < sorted(weights.values())[-most]:
            for id in rows(f"{quoted[n]} AND ({' OR '.join(quoted[:n])})"):
                weights[id] = weights.get(id, 0) + weight
        else:
            found = rows(quoted[n], 4 * most)
            if len(found) == 4 * most:
                others = quoted[:n] + quoted[n + 1 :]
                found = list({*found, *rows(f"{quoted[n]} AND ({' OR '.join(others)})")})
            for id in found:
                weights[id] = weights.get(id, 0) + weight
        left -= weight
    least = sorted(weights.values())[-most] if len(weights) > most else 0
    best = sorted([(weight, id) for id, weight in weights.items() if weight >= least], reverse=True)
    return [id for _, id in best[:most]]


def _quoted(term: str) -> str:
    """A term as FTS5 takes it for nothing but itself, whatever is in it."""
    return '"' + term.replace('"', '""') + '"'
