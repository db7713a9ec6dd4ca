"""The line to a server: what is to be said waits until an answer is needed, and then goes as one message.

What a statement costs a client is the way there and back, and psycopg's own way to it: six of them in psycopg's pipeline take
0.7 ms, since each goes off by itself, and 0.2 ms as one message on libpq's. Values are adapted, and errors raised, as psycopg
does it. Each message is read to its end before anything is raised, so that the connection is fit for a rollback.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.waiting import Ready, Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn, PGresult

    from . import Row

    T = TypeVar("T")
    Talk = Generator[Wait, Ready | int, T]

PIPELINES = psycopg.Pipeline.is_supported()  # by libpq 14 and later
MOST_AT_ONCE = 256
"""Statements that wait for an answer to be needed: what waits is in memory, and the server could be at work."""
MOST_PREPARED = 200
"""Statements that the server remembers for a connection. Most are said again and again."""
_WELL = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY)


class More(Exception):
    """Something is said on a line that has ended."""


class Answer:
    """What the server said to one statement, once it has."""

    __slots__ = ("_line", "_result")

    def __init__(self, line: Line) -> None:
        self._line = line
        self._result: PGresult | None = None

    def rows(self) -> list[Row]:
        return self._line.rows(self._heard())

    def count(self) -> int:
        """How many rows were changed."""
        return self._heard().command_tuples or 0

    def _heard(self) -> PGresult:
        if self._result is None:
            self._line.hear(self)
        if self._result is None:
            raise psycopg.InterfaceError("the statement was given up with one before it")
        refused = self._line.refusal(self._result)
        if refused is not None:  # it was raised when it came: who did not mind then must not take it for no rows
            raise refused
        return self._result


class Prepared:
    """What the server remembers for one connection."""

    def __init__(self) -> None:
        self.statements: OrderedDict[tuple[bytes, tuple[int, ...]], bytes] = OrderedDict()
        """Statement and types of its values -> its name."""
        self.named = 0
        self.unsure: dict[bytes, tuple[bytes, tuple[int, ...]]] = {}
        """Names that the server has not confirmed yet, and what they stand for."""

    def forget_the_unsure(self) -> None:
        """Whatever went wrong, and wherever: what was not confirmed is not there."""
        while self.unsure:
            name, key = self.unsure.popitem()
            if self.statements.get(key) == name:
                del self.statements[key]


class _Said:
    __slots__ = ("answer", "as_bytes", "formats", "key", "name", "prepare", "values")

    def __init__(
        self, key: tuple[bytes, tuple[int, ...]], values: Any, formats: Any, answer: Answer, as_bytes: bool = False
    ) -> None:
        self.key = key
        self.values = values
        self.formats = formats
        self.answer = answer
        self.as_bytes = as_bytes
        self.name = b""
        self.prepare = False
        """Whether the name is new to the server."""


class Line:
    """One transaction's side of a connection."""

    def __init__(
        self, connection: psycopg.Connection[Any], prepared: Prepared, *, ends_with: bytes | None = None
    ) -> None:
        self._connection = connection
        self.ends_with = ends_with
        """What is said at the end of the first message, which is the last: who says more meets `More`."""
        self.has_ended = False
        prepared.forget_the_unsure()
        self._prepared = prepared
        self._adapt = Transformer(connection)
        self._waiting: list[_Said] = []
        self._on_its_way: list[_Said] = []
        """Sent, and not answered yet."""
        self._is_open = False
        """Whether `go` has begun a message that has no end yet."""
        self._error: psycopg.Error | None = None
        """What the server refused first, of this message."""
        self.was_answered = False
        """Whether the server has answered anything."""
        self.is_lost = False
        """Whether nobody knows what the server made of what was said last."""

    def say(self, statement: bytes, values: Sequence[Any] = (), *, as_bytes: bool = False) -> Answer:
        """To be said, in this order. `as_bytes`: the answer comes as the server has it, not spelled out."""
        if len(self._waiting) >= MOST_AT_ONCE:
            self.exchange()
        if self.has_ended:
            raise More
        answer = Answer(self)
        if values:
            adapt = self._adapt
            dumped = adapt.dump_sequence(values, [PyFormat.AUTO] * len(values))
            self._waiting.append(_Said((statement, adapt.types or ()), dumped, adapt.formats, answer, as_bytes))
        else:
            self._waiting.append(_Said((statement, ()), None, None, answer))
        return answer

    def _named(self, waiting: Sequence[_Said]) -> list[_Said]:
        """Statements go by a name. They get it when they are sent: what waits may be given up."""
        statements, found = self._prepared.statements, []
        for said in waiting:
            if said.values is not None:
                if said.key in statements:
                    statements.move_to_end(said.key)
                else:
                    self._prepared.named += 1
                    name = b"recollect_%d" % self._prepared.named
                    self._prepared.unsure[name] = said.key
                    statements[said.key] = name
                    said.prepare = True
                said.name = statements[said.key]
                if len(statements) > MOST_PREPARED:
                    _, name = statements.popitem(last=False)
                    found.append(_Said((b"deallocate " + name, ()), None, None, Answer(self)))
            found.append(said)
        return found

    def go(self) -> None:
        """Send what waits, and hear the answers when one is needed: the server is at work while something else is done here."""
        if not PIPELINES or self.ends_with is not None or not self._waiting:
            return
        said, self._waiting = self._named(self._waiting), []
        self._on_its_way += said
        self._is_open = True
        server = self._connection.pgconn
        try:
            self._send_all(said)
            server.send_flush_request()
            server.flush()
        except BaseException:
            self._failed()
            raise

    def hear(self, answer: Answer) -> None:
        """The answer to one statement, and to all before it; where it was not sent yet, to all that wait."""
        if all(one.answer is not answer for one in self._on_its_way):
            self.exchange()
            return
        try:
            self._connection.wait(self._talk_upto(answer))
        except BaseException:
            self._failed()
            raise
        if self._error is not None:  # maybe libpq's own: of a server that is gone nothing was heard
            self.exchange()
        self.was_answered = True

    def exchange(self) -> None:
        """Say what waits, and hear all answers. The first error in them is raised."""
        if not self._waiting and not self._is_open:
            return
        if self.ends_with is not None:
            self._waiting.append(_Said((self.ends_with, ()), None, None, Answer(self)))
            self.has_ended = True
        said, self._waiting = self._named(self._waiting), []
        self._on_its_way += said
        try:
            self._connection.wait(self._talk(said) if PIPELINES else self._talk_by_turns(said))
        except BaseException:
            self._failed()
            raise
        self.was_answered = True

    def give_up(self, error: BaseException) -> None:
        """Something went wrong here: what waits is not said any more. What is on its way is answered first, unless somebody
        wants to end: then it is not waited for."""
        self._waiting, self.ends_with = [], None
        if self.is_lost or not self._is_open:
            return
        if not isinstance(error, Exception):
            self._failed()
            return
        with contextlib.suppress(psycopg.Error):
            self.exchange()

    def _failed(self) -> None:
        self._on_its_way = []
        server = self._connection.pgconn
        if server.pipeline_status or server.transaction_status == pq.TransactionStatus.ACTIVE or _is_cut(server):
            self.is_lost = True
            self._connection.close()  # nobody would know where the next answer begins

    def rows(self, result: PGresult) -> list[Row]:
        self._adapt.set_pgresult(result)
        return self._adapt.load_rows(0, result.ntuples, tuple)

    def _send_all(self, said: Sequence[_Said]) -> None:
        server = self._connection.pgconn
        server.enter_pipeline_mode()  # it may be on already
        for one in said:
            if one.prepare:
                server.send_prepare(one.name, *one.key)
            self._send(one)

    def _talk(self, said: Sequence[_Said]) -> Talk[None]:
        server = self._connection.pgconn
        self._send_all(said)
        server.pipeline_sync()
        try:
            yield from self._flushed()
            while self._on_its_way:
                yield from self._answered(self._on_its_way[0])
                del self._on_its_way[0]
            ended = yield from self._hear()
            if ended.status != pq.ExecStatus.PIPELINE_SYNC:  # it hangs up, whatever it did before
                self._error = self._error or psycopg.OperationalError(ended.get_error_message())
        except psycopg.OperationalError as e:
            raise self._error or e from None  # what the server said before it hung up
        if ended.status == pq.ExecStatus.PIPELINE_SYNC:
            server.exit_pipeline_mode()
            self._is_open = False
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _talk_upto(self, answer: Answer) -> Talk[None]:
        """The part of it that comes before the end."""
        try:
            yield from self._flushed()
            while self._error is None:
                one = self._on_its_way[0]
                yield from self._answered(one)
                del self._on_its_way[0]
                if one.answer is answer:
                    return
        except psycopg.OperationalError as e:
            raise self._error or e from None

    def _flushed(self) -> Talk[None]:
        server = self._connection.pgconn
        while server.flush():
            yield Wait.RW
            server.consume_input()

    def _answered(self, one: _Said) -> Talk[None]:
        if one.prepare:
            refused = self.refusal((yield from self._hear()))
            self._error = self._error or refused
            if refused is None:
                del self._prepared.unsure[one.name]
        one.answer._result = yield from self._hear()
        self._error = self._error or self.refusal(one.answer._result)

    def _talk_by_turns(self, said: Sequence[_Said]) -> Talk[None]:
        """For a libpq that knows no pipelines."""
        server = self._connection.pgconn
        for one in said:
            for _ in range(1 + one.prepare):
                if one.prepare:
                    server.send_prepare(one.name, *one.key)
                else:
                    self._send(one)
                yield from self._flushed()
                one.answer._result = yield from self._hear()
                error = self.refusal(one.answer._result)
                if error is not None:
                    raise error
                if one.prepare:
                    del self._prepared.unsure[one.name]
                    one.prepare = False
        self._on_its_way.clear()

    def _send(self, one: _Said) -> None:
        server = self._connection.pgconn
        if one.name:
            server.send_query_prepared(one.name, one.values, one.formats, one.as_bytes)
        else:
            server.send_query_params(one.key[0], one.values, one.key[1], one.formats)

    def _hear(self) -> Talk[PGresult]:
        """The answer to one statement, or that there is no more to come."""
        server = self._connection.pgconn
        found: PGresult | None = None
        while True:
            while server.is_busy():
                yield Wait.R
                server.consume_input()
            result = server.get_result()
            if result is None:
                if found is None:
                    raise psycopg.OperationalError("the connection is lost")
                return found
            found = found or result
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                return result

    def refusal(self, result: PGresult) -> psycopg.Error | None:
        """What the server refused."""
        if result.status in _WELL:
            return None
        encoding = self._connection.info.encoding
        if result.status == pq.ExecStatus.PIPELINE_ABORTED or not result.error_field(pq.DiagnosticField.SQLSTATE):
            return psycopg.OperationalError(
                result.get_error_message(encoding)
            )  # libpq's own words: the server said nothing
        return errors.error_from_result(result, encoding)


def _is_cut(server: PGconn) -> bool:
    return server.status == pq.ConnStatus.BAD
