"""A transaction on Postgres, as the verbs see it: statements in our common SQL, put on the line to the server.

`:name` becomes `$1` here, in one place (`translate`). What a statement answers is awaited where it is needed, and not before:
`line.py` sends what was said meanwhile in one go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

from .. import ids
from . import QUEUE, Retry

if TYPE_CHECKING:
    from . import Row
    from .line import Answer, Line

FEW = 8  # rows that are one statement

_TICKS = "select nextval('event_ids') from users, generate_series(1, :n) where no = :user"
_PLACE = re.compile(r"\$(\d+)")
# A literal, a cast, a comment - or a parameter, the only one with a group.
_PARAMETER = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|::\w+|--[^\n]*|:([a-z_][a-z0-9_]*)""", re.IGNORECASE)


@cache
def translate(sql: str) -> tuple[str, tuple[str, ...]]:
    """A statement as the server itself takes it, with `$1` for the first of its names, and the names in that order. Literals and
    casts are skipped."""
    names: dict[str, int] = {}

    def parameter(m: re.Match[str]) -> str:
        name = m.group(1)
        return m.group(0) if name is None else f"${names.setdefault(name, len(names) + 1)}"

    return _PARAMETER.sub(parameter, sql), tuple(names)


@cache
def _numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    statement, names = translate(sql)
    return statement.encode(), names


@cache
def _block(sql: str, rows: int) -> bytes:
    """An insert for several rows at once, its values in order. Empty where it cannot be had that way: the same name twice, or a
    row that may meet another of the same statement, which Postgres does not update."""
    statement, names = translate(sql)
    head, values, one = statement.partition(" values ")
    one, conflict, rest = one.partition(" on conflict ")
    places = [int(n) for n in _PLACE.findall(one)]
    if (
        not sql.startswith("insert")
        or not one.endswith(")")
        or "do update" in rest
        or places != list(range(1, len(names) + 1))
    ):
        return b""
    number = count(1)
    each = _PLACE.sub(lambda _: f"${next(number)}", ", ".join([one] * rows))
    return (head + values + each + conflict + rest).encode()


FIND = "select id from find_{}(cast(:queries as tsquery[]), cast(:weights as bigint[]), cast(:needed as text[]), :most, :newest)"


def _lexeme(term: str) -> str:
    """A term as far as a tsvector takes it: 2,046 bytes."""
    return term[:500]


def _queries(terms: Iterable[str]) -> list[str]:
    return ["'" + _lexeme(t).replace("\\", "\\\\").replace("'", "''") + "'" for t in terms]


def _array(texts: Iterable[str]) -> str:
    """Texts as the server reads an array of them: psycopg would look at each, in Python."""
    return "{" + ",".join(['"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"' for t in texts]) + "}"


class PostgresTx:
    """See `Tx`."""

    for_update = " for update"
    for_change = " for no key update"
    for_adding = " for key share"
    by_id = ""
    among = " = any(cast(:ids as bigint[]))"

    def __init__(self, line: Line, user: int, *, may_end: bool) -> None:
        self.user = user
        self._line = line
        self._may_end = may_end
        self._expected: list[Answer] = []

    def _say(self, sql: str, params: dict[str, Any]) -> Answer:
        params["user"] = self.user
        statement, names = _numbered(sql)
        return self._line.say(statement, [params[name] for name in names])

    def all(self, sql: str, /, **params: Any) -> list[Row]:
        return self._say(sql, params).rows()

    def one(self, sql: str, /, **params: Any) -> Row | None:
        found = self._say(sql, params).rows()
        return found[0] if found else None

    def run(self, sql: str, /, **params: Any) -> int:
        return self._say(sql, params).count()

    def send(self, sql: str, /, **params: Any) -> None:
        self._say(sql, params)

    def later(self, sql: str, /, **params: Any) -> Callable[[], list[Row]]:
        return self._say(sql, params).rows

    def go(self) -> None:
        self._line.go()

    def blobs(self, sql: str, /, **params: Any) -> Callable[[], list[Row]]:
        params["user"] = self.user
        statement, names = _numbered(sql)
        return self._line.say(statement, [params[name] for name in names], as_bytes=True).rows

    def queue(self, kind: str, key: str, delay_ms: int, /) -> None:
        now = ids.now()
        self.send(QUEUE, kind=kind, key=key, at=now + delay_ms, now=now)

    def many(self, sql: str, rows: Sequence[Row], /, *, same: Row = ()) -> None:
        if 1 < len(rows) <= FEW and (block := _block(sql, len(rows))):
            self._line.say(block, [value for row in rows for value in (*same, *row)])
            return
        statement, _ = _numbered(sql)
        for row in rows:
            self._line.say(statement, (*same, *row))

    def put_off(self, sql: str, rows: Sequence[Row], /) -> None:
        self.many(sql, rows)

    def move_on(self, conversation: str, no: int, seq: int, activity: int, /) -> None:
        self.send(
            "update conversations set last_seq = :seq, activity = :activity, updated_at = :now"
            " where user_no = :user and no = :no",
            no=no, seq=seq, activity=activity, now=ids.now(),
        )  # fmt: skip

    def known(self, table: str, key: Any, ask: Callable[[], Any], /) -> Any:
        return ask()

    def some(self, ids: Sequence[int], /) -> str:
        return f"{{{','.join(map(str, ids))}}}"  # psycopg would look at each of them, in Python

    def those(self, select: str, /) -> str:
        return f" = any(array({select}))"

    def ends(self) -> None:
        if self._may_end:
            self._line.ends_with = b"commit"

    def index_words(self, table: str, entries: Sequence[Row], /) -> None:
        if entries:
            self.many(
                f"insert into {table} (user_no, id, terms, scope) values (:user_no, :id,"
                " array_to_tsvector(string_to_array(:terms, ' ')), string_to_array(:scope, ' '))",
                [
                    (self.user, id, " ".join({_lexeme(t) for t in terms.split()}), " ".join(scope.split()))
                    for id, terms, scope in entries
                ],
            )

    def unindex_words(self, table: str, entries: Sequence[Row], /) -> None:
        if entries:
            self.run(f"delete from {table} where user_no = :user and id = any(:ids)", ids=[e[0] for e in entries])

    def find_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, /, *, newest: bool = False,
        memories: Collection[int] | None = None,
    ) -> list[int]:  # fmt: skip
        queries = _queries(anyof)
        rows = self.all(
            FIND.format(table),
            queries=[" | ".join(queries)] if newest else queries, weights=list(anyof.values())[: 1 if newest else None],
            needed=list(allof), most=most, newest=newest,
        )  # fmt: skip
        return [row[0] for row in rows]

    def finding_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, select: str, /
    ) -> Callable[[], list[Row]]:
        # With a plan for these very terms: one for any terms reads far more of a small table.
        self._line.say(b"set local plan_cache_mode = force_custom_plan")
        rows = self.blobs(
            select + self.those(FIND.format(table)),
            queries=_array(_queries(anyof)), weights=self.some(list(anyof.values())), needed=_array(allof), most=most,
            newest=False,
        )  # fmt: skip
        self._line.say(b"set local plan_cache_mode to default")
        self.go()  # it takes as long as all that is to be done here meanwhile
        return rows

    def indexed_words(self, table: str, after: int, most: int, /) -> list[int]:
        rows = self.all(
            f"select id from {table} where user_no = :user and id > :after order by id limit :most",
            after=after,
            most=most,
        )
        return [row[0] for row in rows]

    def tidy_words(self) -> bool:
        return False  # autovacuum does it

    def forget_words(self) -> None:
        for table in ("words", "title_words", "item_words"):
            self.run(f"delete from {table} where user_no = :user")
        self.run(
            "insert into jobs (user_no, kind, key, state, run_at, created_at)"
            " values (:user, 'index', 'all', 'queued', 0, :now) on conflict do nothing",
            now=ids.now(),
        )

    def low_id(self) -> int:
        return 0

    def high_id(self) -> int:
        return (1 << 63) - 1

    def rename_user(self, id: str, /) -> None:
        # The policy shows a user by the name that the transaction was begun with, before and after: the administrator's
        # setting lets the row pass from one to the other.
        self.run("select set_config('recollect.admin', 'on', true)")
        self.run("update users set id = :id where no = :user", id=id)
        self.run("select set_config('recollect.admin', '', true)")

    def expect(self, n: int, /) -> None:
        if n:
            self._expected.append(self._say(_TICKS, {"n": n}))

    def ticks(self, n: int) -> list[int]:
        # A sequence instead of the users row: it takes no lock, so that one person's conversations do not wait for
        # each other. Another session's draws fall in between, and a rollback leaves some out; only a conversation's own
        # counter is free of gaps.
        rows = self._expected.pop().rows() if self._expected else []
        if len(rows) < n:
            rows = self.all(_TICKS, n=n)
        if not rows:
            raise Retry
        return sorted(int(row[0]) for row in rows)[:n]
