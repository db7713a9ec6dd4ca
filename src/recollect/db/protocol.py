"""What a database is to the rest of Recollect: two small protocols. Imported by type checkers only."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ..model import Progress

T = TypeVar("T")
Row = tuple[Any, ...]


class Tx(Protocol):
    """One transaction of one user."""

    user: int
    """The user's number, bound as `:user`; 0 for someone who never wrote anything."""
    for_update: str
    """Appended to a select that must lock its row: ` for update` on Postgres, nothing where the writer is alone."""
    for_change: str
    """The same for who only changes the row: ` for no key update`. Those who add to what belongs to it need not wait."""
    for_adding: str
    """The same for who adds to what belongs to the row, as others do meanwhile: ` for key share`. Nobody deletes it, and nobody
    has it `for_update`."""
    by_id: str
    """Stands behind the name of `events` where its rows are asked for by id. SQLite knows no statistics and takes an index
    on the user instead, which reads all of them: 13 ms for 200 rows of 100,000 instead of 0.2."""
    among: str
    """`id` + this is true of the numbers that were given as `ids=tx.some(...)`: one statement, however many they are."""

    def all(self, sql: str, /, **params: Any) -> list[Row]: ...
    def one(self, sql: str, /, **params: Any) -> Row | None: ...
    def run(self, sql: str, /, **params: Any) -> int:
        """Execute, and return the number of rows changed."""
        ...

    def send(self, sql: str, /, **params: Any) -> None:
        """Execute; nobody waits for the answer. Where there is a server, an error is met with the next statement that is
        waited for, at the latest before the commit."""
        ...

    def later(self, sql: str, /, **params: Any) -> Callable[[], list[Row]]:
        """A question whose answer is read further on. A server gets it with the next one, so that several are one round
        trip; elsewhere it is asked when it is read."""
        ...

    def go(self) -> None:
        """A server gets what was asked `later` now, and answers it while something else is done here."""
        ...

    def blobs(self, sql: str, /, **params: Any) -> Callable[[], list[Row]]:
        """`later` for rows that hold bytes beside texts and numbers, and nothing else: a server would spell out each of them
        with two characters, and here they would be read from those."""
        ...

    def many(self, sql: str, rows: Sequence[Row], /, *, same: Row = ()) -> None:
        """Execute once per row; the values stand in the order in which the statement first names them. `same` are the first
        of them, where they are the same for all rows."""
        ...

    def put_off(self, sql: str, rows: Sequence[Row], /) -> None:
        """`many`, but before the next statement at the latest: where the writer is alone, the rows of everyone in its batch
        go together. Not for a table of which something is `known`."""
        ...

    def move_on(self, conversation: str, no: int, seq: int, activity: int, /) -> None:
        """A conversation, by its id and its number, has events up to `seq` now. Put off in the same way."""
        ...

    def known(self, table: str, key: Any, ask: Callable[[], Any], /) -> Any:
        """What `ask` finds in one table alone, or what it found the last time if nobody has written to the table since. That
        is only certain where the writer is alone; elsewhere it is asked every time. None is not remembered."""
        ...

    def some(self, ids: Sequence[int], /) -> Any:
        """Numbers as the statement takes them, for `among`."""
        ...

    def queue(self, kind: str, key: str, delay_ms: int, /) -> None:
        """Put a job into the queue, unless it is there already. See `jobs.enqueue`."""
        ...

    def those(self, select: str, /) -> str:
        """`id` + this is true of the numbers that a select gives. A server looks them up one by one, whatever it believes their
        number to be."""
        ...

    def ends(self) -> None:
        """What is asked next is the last of a reading transaction, as far as one can tell: a server hears the end of it with
        the question. If more is asked, it begins anew, as with `brief`."""
        ...

    def index_words(self, table: str, entries: Sequence[Row], /) -> None:
        """Put (id, terms, scope) into an index of words."""
        ...

    def unindex_words(self, table: str, entries: Sequence[Row], /) -> None:
        """Take them out again; what is given must be what went in."""
        ...

    def find_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, /, *, newest: bool = False,
        memories: Collection[int] | None = None,
    ) -> list[int]:  # fmt: skip
        """The ids of rows with any of these terms and all of these scope tokens: those whose terms weigh most, or the
        newest. The order is the same on every database. `memories` are all that have these terms, where that is known:
        then the index need not be asked about each row whether it is one."""
        ...

    def finding_words(
        self, table: str, anyof: Mapping[str, int], allof: Sequence[str], most: int, select: str, /
    ) -> Callable[[], list[Row]]:
        """`find_words` by weight, and of those what `select` says, which ends where ids are to follow; read further
        on. A server looks for them at once."""
        ...

    def indexed_words(self, table: str, after: int, most: int, /) -> list[int]:
        """The ids of this user that are in an index, ascending, from behind `after`."""
        ...

    def tidy_words(self) -> bool:
        """Bring together the pieces in which words lie, for some milliseconds: a search looks into every one of them.
        Returns whether there is more to do."""
        ...

    def forget_words(self) -> None:
        """Empty the indexes of words, and queue a job that fills them again. On SQLite they are everyone's."""
        ...

    def low_id(self) -> int:
        """Every id of this user is larger than this."""
        ...

    def high_id(self) -> int:
        """No id of this user is larger than this."""
        ...

    def rename_user(self, id: str, /) -> None:
        """This user goes by another name from now on: a hash, when everything of theirs was erased."""
        ...

    def expect(self, n: int, /) -> None:
        """So many `ticks` will be drawn, as far as one can tell: a server hands them out with its next answer."""
        ...

    def ticks(self, n: int) -> Sequence[int]:
        """Draw n ascending numbers from the counter that orders events and activity."""
        ...


class Database(Protocol):
    """One open database, shared by the handles of all users."""

    dialect: str
    location: str
    """Where it is, as a person would say it; never holds a password."""

    def read(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        """`brief`: all is asked at once, as far as one can tell. Then a server hears the end of it with the question; if more
        is asked, it begins anew. `keyed`: it asks for nothing but rows by their keys, so that a server may plan each statement
        once and for all."""
        ...

    def write(self, user: str, fn: Callable[[Tx], T], /, *, brief: bool = False, keyed: bool = False) -> T:
        """`brief`: it takes microseconds, so that whoever was written before may hear of it when this is written too. `keyed`:
        as in `read`."""
        ...

    def users(self, *, erased: bool = False) -> list[str]:
        """Everyone who ever wrote here; those who were erased as well, by the hash that stands in their place, if so said."""
        ...

    def unfinished(self) -> list[str]:
        """Users with an erasure that was interrupted, as it was found when this database was opened."""
        ...

    def check(self) -> list[str]:
        """The engine's own integrity check: what it found wrong, nothing when all is well."""
        ...

    def scrub(self) -> None:
        """After an erasure: leave nothing of it in write-ahead logs and free pages, as far as the engine can."""
        ...

    def settled(self, patience: float = 0.0) -> int:
        """No id up to this one will appear any more: a transaction that drew it has ended before this returns. 0 when that
        is not known yet; ask again. With patience (seconds), it waits so long for all that was drawn before the call."""
        ...

    def compact(self, progress: Progress | None, /) -> tuple[int, int]: ...
    def size(self) -> int: ...
    def schema(self) -> int: ...
    def close(self) -> None: ...
