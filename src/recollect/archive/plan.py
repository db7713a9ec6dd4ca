"""Before anything is written: every line of an archive is read, checked, and held against what the store has.

A conversation is the same one where its id and the moment of its creation are: then what the store has of it must be what
the archive says, event by event, and what the archive has beyond that is added. Anything else under that id is another
conversation's, and is reported and left alone. A memory whose id is there is known, if it says the same; an item likewise.
What was deleted here stays deleted, and what was erased stays away, unless it is asked for `again`.
"""

from __future__ import annotations

from hashlib import blake2b

from .. import branches, erased, events, items, mirror, views
from ..checkpoints import pieces
from ..errors import BadLine, NewerSchema
from ..memories import ACTIVE
from ..model import MAIN, Problem
from . import NAME, VERSION, clean
from .lines import parse
from .signed import Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..db import Database, Tx
    from ..model import Progress
    from ..redact import Gate
    from .lines import Line
    from .signed import Lines

    T = TypeVar("T")

AT_ONCE = 200
LAST = 1 << 53
"""The highest number of an event: what counts on from there is still a number to every database and every reader of JSON."""
STRICT = {"none": 0, "messages": 1, "all": 2}
NEW, SAME, OTHER = "new", "same", "other"
AGAIN = "`import_(..., again=True)`, or `recollect import --again`, brings back what was erased."


class Runs:
    """A set of numbers that mostly follow one another."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[list[int]] = []

    def add(self, first: int, last: int) -> bool:
        """False if one of them was there."""
        runs = self._runs
        if not runs or first > runs[-1][1]:
            if runs and first == runs[-1][1] + 1:
                runs[-1][1] = last
            else:
                runs.append([first, last])
            return True
        from bisect import bisect_right

        at = bisect_right(runs, [first, 1 << 63])
        if (at and runs[at - 1][1] >= first) or (at < len(runs) and runs[at][0] <= last):
            return False
        runs.insert(at, [first, last])
        if at + 1 < len(runs) and runs[at + 1][0] == last + 1:
            runs[at][1] = runs.pop(at + 1)[1]
        if at and runs[at - 1][1] + 1 == first:
            runs[at - 1][1] = runs.pop(at)[1]
        return True

    def missing(self, upto: int) -> list[tuple[int, int]]:
        found, at = [], 1
        for first, last in self._runs:
            if first > at:
                found.append((at, first - 1))
            at = last + 1
        if at <= upto:
            found.append((at, upto))
        return found


class Place:
    """A conversation of an archive, and what there is of it here."""

    __slots__ = (
        "branches", "buried", "gaps", "has_key", "held", "id", "is_checked", "is_lost", "last", "last_seq", "missing", "no",
        "numbers", "runs", "state_is_lost", "status", "title", "workspace",
    )  # fmt: skip

    def __init__(self, id: str, last_seq: int) -> None:
        self.id = id
        self.last_seq = last_seq
        self.status = NEW
        self.no: int | None = None
        self.held = 0
        """The number of the newest event that the store had of it."""
        self.last = 0
        """And has by now."""
        self.numbers: dict[str, int] = {MAIN: 0}
        """Of its branches, here."""
        self.branches: set[str] = {MAIN}
        self.title: str | None = None
        self.workspace: str | None = None
        self.buried: list[list[int]] = []
        self.runs: Runs | None = Runs()
        self.missing: set[int] = set()
        """Numbers up to `held` that the store does not account for: an import was interrupted."""
        self.gaps: list[tuple[int, int]] = []
        self.is_lost = False
        """Whether somebody else has written to it since it was looked at."""
        self.state_is_lost = False
        self.has_key = self.is_checked = False
        """Of the state that a graph keeps for it: whether its key is in the archive, and whether it may come in."""

    @property
    def is_wanted(self) -> bool:
        return self.status != OTHER and not self.is_lost


class Statement:
    """A memory of an archive, and what there is of it here."""

    __slots__ = ("hashes", "held", "is_wanted", "made", "no", "sensitive", "taken")

    def __init__(self) -> None:
        self.no: int | None = None
        self.hashes: list[bytes] = []
        """Of what happened to it, as the store has it."""
        self.held: list[int] = []
        """And the numbers of those changes."""
        self.taken = 0
        """How many changes of the archive were looked at."""
        self.is_wanted = True
        self.sensitive = False
        self.made: dict[str, Any] | None = None
        """The row that is written with its first change."""


def change_hash(said: dict[str, Any], source: tuple[Any, ...], place: tuple[Any, ...]) -> bytes:
    """Of what a change says that never changes: when it was last said again and undone may differ."""
    at = None if said["action"] == "confirmed" else said["at"]
    told = (
        said["action"], said["state"], said["wording"], said["kind"], said["importance"], said["tags"], said["source"],
        said["source_seqs"], said["role"], said["extractor"], said["who"], said["why"], at, source, place,
    )  # fmt: skip
    return blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Plan:
    """What an archive would bring."""

    def __init__(self, db: Database, user: str, gate: Gate, state_mode: str, again: bool) -> None:
        self._db = db
        self._again = again
        self.is_signed = self.is_trusted = False
        """Whether this store made it, and whether it is to be believed."""
        self._user = user
        self._gate = gate
        self._state_mode = state_mode
        self.places: dict[str, Place] = {}
        self.statements: dict[str, Statement] = {}
        self.problems: list[Problem] = []
        self.lines = 0
        self.exported_at = 0
        self._changes = 0
        self._state_is_safe = True
        self._waiting: list[tuple[Place, Line, int]] = []
        self._ended = False

    def _read(self, fn: Callable[[Tx], T]) -> T:
        return self._db.read(self._user, fn)

    def make(self, lines: Lines, progress: Progress | None, trust: bool) -> None:
        self.is_signed = lines.are_signed(Signature(self._db, self._user))
        self.is_trusted = trust or self.is_signed
        number = 0
        for number, text in lines:
            if self._ended:
                raise BadLine("there is something behind the end.", number)
            kind, line = self._header(text, number) if self.lines == 0 else parse(text, number)
            self.lines += 1
            getattr(self, f"_{kind}")(line, number)
            if progress and self.lines % 500 == 0:
                progress("checking", self.lines, 0)
        if not self.lines:
            raise BadLine("It is empty: an export begins with a line that says what it is.")
        if not self._ended:
            raise BadLine("the end is missing: the file was cut off. Export again.", number)
        self._compare()
        for place in self.places.values():
            assert place.runs is not None
            place.gaps = place.runs.missing(place.last_seq)
            place.runs = None

    def _header(self, text: str, number: int) -> tuple[str, Line]:
        """The first line. A newer version is refused before anything else is asked of it."""
        import json

        try:
            given = json.loads(text)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict) or given.get("type") != NAME:
            raise BadLine("this is no export of ours: it does not begin with the line that says so.", number)
        version = given.get("version")
        if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
            raise NewerSchema(
                f"The file has version {version} of the format; this Recollect knows {VERSION}. Nothing was written. "
                "Upgrade: git pull && pip install ."
            )
        return parse(text, number)

    def _recollect(self, line: Line, number: int) -> None:
        if self.lines != 1:
            raise BadLine("this line stands only at the beginning.", number)
        self.exported_at = line["exported_at"]
        self._state_is_safe = not self._gate.is_on or STRICT[line["state_redacted"]] >= STRICT[self._state_mode]

    def _end(self, line: Line, number: int) -> None:
        if line["lines"] != self.lines:
            raise BadLine(
                f"the export had {line['lines']:,} lines, the file has {self.lines:,}: some are lost.", number
            )
        self._ended = True

    def _left_out(self, where: str, what: str, fix: str) -> None:
        self.problems.append(Problem(where, what, fix))

    # -- conversations and events

    def place(self, id: str | None, number: int) -> Place:
        found = None if id is None else self.places.get(id)
        if found is None:
            raise BadLine(f"there is no conversation {id!r} before it.", number)
        return found

    def _conversation(self, line: Line, number: int) -> None:
        if line["id"] in self.places:
            raise BadLine(f"the conversation {line['id']!r} is there twice.", number)
        if line["last_seq"] > LAST:
            raise BadLine(f"no conversation has {line['last_seq']:,} events: none could follow.", number)
        stored = clean.conversation(line, self._gate, number)
        place = self.places[line["id"]] = Place(line["id"], line["last_seq"])
        place.title, place.workspace = stored["title"], stored["workspace"]
        _check_branches(line, place, number)
        assert place.runs is not None
        for first, last, _ in line["tombstones"] or ():
            if not first <= last <= place.last_seq or not place.runs.add(first, last):
                raise BadLine(f"the tombstones {first} to {last} cannot be.", number)
        for seq, _ in line["pins"] or ():
            if seq > place.last_seq:
                raise BadLine(f"there is no event {seq} to be pinned.", number)
        place.buried = line["tombstones"] or []
        self._read(lambda tx: self._look(tx, place, line))
        if place.status == OTHER and place.no is None:
            self._left_out(f"conversation {place.id}", "It was erased here, and was left out.", AGAIN)
        elif place.status == OTHER:
            self._left_out(
                f"conversation {place.id}", "There is another one of that id here; it was left as it is.",
                "Erase or export one of them under another id, then import again.",
            )  # fmt: skip

    def _look(self, tx: Tx, place: Place, line: Line) -> None:
        """What the store has of a conversation."""
        row = tx.one(
            "select no, last_seq, created_at, workspace from conversations where user_no = :user and id = :id",
            id=place.id,
        )
        if row is None:
            if not self._again and erased.at(tx, erased.CONVERSATION, place.id) is not None:
                place.status = OTHER
            return
        place.no, place.held, created_at, place.workspace = row
        place.last = place.held
        tree = branches.tree(tx, row[0])
        have = {name: (None if parent is None else tree[parent][0], at) for name, parent, at in tree.values()}
        same = created_at == line["created_at"] and all(
            have[b["name"]] == (b["parent"], b["at"]) for b in line["branches"] if b["name"] in have
        )
        place.status = SAME if same else OTHER
        place.numbers = {name: no for no, (name, _, _) in tree.items()}

    def _event(self, line: Line, number: int) -> None:
        place = self.place(line["conversation"], number)
        seq = line["seq"]
        if (line["branch"] or MAIN) not in place.branches:
            raise BadLine(f"the conversation has no branch {line['branch']!r}.", number)
        assert place.runs is not None
        if seq > place.last_seq or not place.runs.add(seq, seq):
            raise BadLine(f"the conversation cannot have an event {seq} here: it is there twice, or deleted.", number)
        if line["message"] is not None and line["message"] >= seq:
            raise BadLine(f"it refers to event {line['message']}, which comes later.", number)
        if place.status == SAME and seq <= place.held:
            self._waiting.append((place, line, number))
            if len(self._waiting) >= AT_ONCE:
                self._compare()
        elif place.status == NEW:
            columns = clean.event(line, self._gate, number)
            self._retitle(place, line, columns[2])

    def _retitle(self, place: Place, line: Line, text: str) -> None:
        """A title that was cut from a message with a secret in it is cut anew: half of a secret is no longer known for one."""
        from ..conversations import title_from

        if line["kind"] == "message" and place.title is not None and text != line["text"]:
            if place.title == title_from(line["text"] or ""):
                place.title = title_from(text)

    def _compare(self) -> None:
        """Events that the store should have."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            for place, seq, is_there in self._read(lambda tx: [self._one(tx, *w) for w in waiting]):
                if is_there is None:
                    place.missing.add(seq)
                elif not is_there and place.status != OTHER:
                    place.status = OTHER
                    self._left_out(
                        f"conversation {place.id}", f"Its event {seq} is another one here; it was left as it is.",
                        "Erase or export one of them under another id, then import again.",
                    )  # fmt: skip

    def _one(self, tx: Tx, place: Place, line: Line, number: int) -> tuple[Place, int, bool | None]:
        """Whether an event is the one that the store has; None if it has none and does not say that it was deleted."""
        seq, assert_no = line["seq"], place.no
        row = tx.one(
            f"select {', '.join('e.' + c for c in events.COLUMNS.split(', '))}, b.name from branches b join events e"
            " on e.user_no = b.user_no and e.conversation_no = b.conversation_no and e.branch_no = b.no and e.seq = :seq"
            " where b.user_no = :user and b.conversation_no = :c",
            c=assert_no, seq=seq,
        )  # fmt: skip
        if row is None:
            buried = tx.one(
                "select 1 from tombstones where user_no = :user and conversation_no = :c and first_seq <= :seq"
                " and last_seq >= :seq",
                c=assert_no, seq=seq,
            )  # fmt: skip
            return place, seq, True if buried else None
        columns = clean.event(line, self._gate, number)
        return place, seq, (*row[1:19], row[20]) == columns and row[-1] == (line["branch"] or MAIN)

    # -- memories

    def _memory(self, line: Line, number: int) -> None:
        id = line["id"]
        if id in self.statements:
            raise BadLine(f"the memory {id!r} is there twice.", number)
        place = None if line["conversation"] is None else self.place(line["conversation"], number)
        stored = clean.memory(line, self._gate, number)
        found = self.statements[id] = Statement()
        found.sensitive = stored["sensitive"]
        if place is not None and place.status == OTHER:
            found.is_wanted = False
            return
        content = self._read(lambda tx: self._look_for(tx, found, id))
        if content is None and not found.is_wanted:
            self._left_out(f"memory {id}", "It was erased here, and was left out.", AGAIN)
        elif content is not None and content != stored["content"]:
            found.is_wanted = False
            self._left_out(
                f"memory {id}", "Another statement has that id here; it was left as it is.", "Forget one of them."
            )

    def _look_for(self, tx: Tx, found: Statement, id: str) -> str | None:
        row = tx.one("select id, content from memories where user_no = :user and memory_id = :id", id=id)
        if row is None:
            kinds = (erased.MEMORY, erased.LEARNED)  # by itself, or with what it came from
            found.is_wanted = self._again or all(erased.at(tx, kind, id) is None for kind in kinds)
            return None
        found.no = row[0]
        names: dict[int, tuple[str, dict[int, str]]] = {}

        def place(no: int | None, branch: int | None) -> tuple[str | None, str | None]:
            if no is None:
                return None, None
            if no not in names:
                owner = tx.one("select id from conversations where user_no = :user and no = :c", c=no)
                names[no] = ("" if owner is None else owner[0], {b: t[0] for b, t in branches.tree(tx, no).items()})
            return names[no][0], names[no][1].get(branch or 0)

        for c in views.of(tx, [row[0]]).get(row[0], ()):
            if not self.is_trusted and c.state == ACTIVE:
                found.is_wanted = False  # it stood here, by what was said here
            found.held.append(c.id)
            where = (*place(c.conversation_no, c.branch_no), c.seq)
            found.hashes.append(change_hash(c.__dict__, place(c.source_no, c.source_branch), where))
        return str(row[1])

    def _change(self, line: Line, number: int) -> None:
        self._changes += 1
        if line["n"] != self._changes:
            raise BadLine(f"changes are numbered 1, 2, 3, ...; this one should be {self._changes:,}.", number)
        if line["group"] > line["n"] or (line["prior"] or 0) >= line["n"]:
            raise BadLine("it refers to a change that comes later.", number)
        found = self.statements.get(line["memory"])
        if found is None:
            raise BadLine(f"there is no memory {line['memory']!r} before it.", number)
        for conversation, branch in (("conversation", "branch"), ("source_conversation", "source_branch")):
            if line[conversation] is not None:
                place = self.place(line[conversation], number)
                if (line[branch] or MAIN) not in place.branches:
                    raise BadLine(f"the conversation {line[conversation]!r} has no branch {line[branch]!r}.", number)
                if place.status == OTHER:
                    found.is_wanted = False
            elif line[branch] is not None:
                raise BadLine(f"{branch} needs {conversation}.", number)
        if line["conversation"] is not None and line["seq"] is None:
            raise BadLine("conversation needs seq.", number)
        said = clean.change(line, self._gate, number, found.sensitive, self.is_trusted)
        if found.taken < len(found.hashes) and found.hashes[found.taken] != hash_of(line, said):
            found.is_wanted = False  # the same statement with a history of its own: it is known here
        found.taken += 1

    def _derived(self, line: Line, number: int) -> None:
        for what in ("memory", "root"):
            if line[what] not in self.statements:
                raise BadLine(f"there is no memory {line[what]!r} before it.", number)

    # -- what graphs keep

    def _item(self, line: Line, number: int) -> None:
        stored = clean.item(line, self._gate, number)
        if not self._again and self._read(lambda tx: self.is_of_erased(tx, line)):
            where = f"item {line['key']!r} in {items.labels(stored['namespace'])!r}"
            self._left_out(where, "It was erased here, and was left out.", AGAIN)
            return
        row = self._read(
            lambda tx: tx.one(
                "select value from items where user_no = :user and namespace = :namespace and key = :key",
                namespace=stored["namespace"], key=stored["key"],
            )
        )  # fmt: skip
        if row is not None and row[0] != stored["value"]:
            where = f"item {line['key']!r} in {items.labels(stored['namespace'])!r}"
            self._left_out(where, "It has another value here, and was left as it is.", "Delete one of them.")

    def is_of_erased(self, tx: Tx, line: Line) -> bool:
        """Whether an item was erased, or came from, or is kept for, a conversation that was; and is not there anew."""
        if self._again:
            return False
        where = items.path(line["namespace"])
        if erased.at(tx, erased.ITEM, f"{where}\0{line['key']}") is not None:
            held = "select 1 from items where user_no = :user and namespace = :namespace and key = :key"
            return tx.one(held, namespace=where, key=line["key"]) is None
        if not erased.has_any(tx, erased.CONVERSATION):
            return False
        labels, source = line["namespace"], line["source"] or {}
        named = [labels[2]] if len(labels) > 2 and labels[0] == mirror.ROOT and labels[1] == self._user else []
        if isinstance(source.get("thread_id"), str) and source.get("user_id", self._user) == self._user:
            named.append(source["thread_id"])
        return any(
            erased.at(tx, erased.CONVERSATION, id) is not None
            and tx.one("select 1 from conversations where user_no = :user and id = :id", id=id) is None
            for id in named
        )

    def _piece(self, line: Line, number: int) -> None:
        place = self.place(line["conversation"], number)
        if not line["key"]:
            place.has_key = True
            stored = self._key_of(place)
            same = stored is None or pieces.plain_format(stored[0]) == pieces.plain_format(line["format"])
            if not same or (stored is not None and bytes(stored[1]) != line["data"]):
                self._no_state(place, "A graph keeps another state for it here")
        self._safe(place, line)

    def _key_of(self, place: Place) -> pieces.Stored | None:
        """What the state that a graph keeps for a conversation here is kept under."""
        no = place.no
        return None if no is None or place.status != SAME else self._read(lambda tx: pieces.secret(tx, no))

    def _safe(self, place: Place, line: Line) -> None:
        if place.state_is_lost:
            return
        if not self.is_signed and not place.is_checked:
            place.is_checked = True
            stored = self._key_of(place)
            if stored is None and not place.has_key:
                self._no_state(place, "The key of the state that a graph keeps for it is missing", "Export again.")
            elif stored is not None and not self.is_trusted and not pieces.is_foreign(stored[0]):
                self._no_state(place, "A graph keeps a state for it here, and this store did not sign the archive")
        if not self._state_is_safe and not place.state_is_lost:
            family = clean.secret_in(line, self._gate)
            if family is not None:
                fix = "Take secrets out where it comes from (`recollect scan --fix`) and export again."
                self._no_state(place, f"The state that a graph keeps for it holds a secret ({family})", fix)

    def _no_state(
        self, place: Place, why: str, fix: str = "Leave it at that, or erase the conversation here and import again."
    ) -> None:
        place.state_is_lost = True
        self._left_out(
            f"conversation {place.id}", f"{why}: its checkpoints were left out, its log was not.", fix,
        )  # fmt: skip

    def _checkpoint(self, line: Line, number: int) -> None:
        place = self.place(line["conversation"], number)
        if (line["branch"] or MAIN) not in place.branches:
            raise BadLine(f"the conversation has no branch {line['branch']!r}.", number)
        state = line["state"]
        if not {"head", "values", "metadata"} <= state.keys() or not isinstance(state["values"], dict):
            raise BadLine("the state of the checkpoint is not what a graph keeps.", number)
        if not isinstance(state["head"], dict) or not all(map(_is_value, state["values"].values())):
            raise BadLine("a value of the checkpoint is not what a graph keeps.", number)
        self._safe(place, line)

    def _write(self, line: Line, number: int) -> None:
        self._safe(self.place(line["conversation"], number), line)

    def _logged(self, line: Line, number: int) -> None:
        place = self.place(line["conversation"], number)
        if (line["branch"] or MAIN) not in place.branches:
            raise BadLine(f"the conversation has no branch {line['branch']!r}.", number)


def _is_value(value: Any) -> bool:
    """Whether a checkpoint's value is the key of a piece, or a type and base64."""
    from base64 import b64decode

    try:
        if isinstance(value, str):
            return len(bytes.fromhex(value)) == pieces.KEY
        kind, data = value
        b64decode(data, validate=True)
        return isinstance(kind, str)
    except (ValueError, TypeError):
        return False


def hash_of(line: Line, said: dict[str, Any]) -> bytes:
    """`change_hash` of a line."""
    source = line["source_conversation"], None if line["source_conversation"] is None else line["source_branch"] or MAIN
    where = line["conversation"], None if line["conversation"] is None else line["branch"] or MAIN
    return change_hash(said, source, (*where, line["seq"]))


def _check_branches(line: Line, place: Place, number: int) -> None:
    first, *rest = line["branches"]
    if first["name"] != MAIN or first["parent"] is not None or first["at"]:
        raise BadLine("the first branch is main, which has no parent.", number)
    for n, branch in enumerate(rest, 1):
        if branch["name"] in place.branches or branch["parent"] not in place.branches:
            raise BadLine(f"the branch {branch['name']!r} is there twice, or before its parent.", number)
        if branch["at"] > place.last_seq:
            raise BadLine(f"the branch {branch['name']!r} starts behind the last event.", number)
        place.branches.add(branch["name"])
        place.numbers[branch["name"]] = n
    for name in [line["active_branch"] or MAIN, *(b for b, _ in line["considered"] or ())]:
        if name not in place.branches:
            raise BadLine(f"the conversation has no branch {name!r}.", number)
