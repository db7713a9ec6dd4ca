"""An archive is brought in: planned, then written in batches, each in one transaction.

What is written is always sound: an event comes with its number, its index and the counter; a memory with its first change
and how it stands. So an import that was interrupted leaves what it had brought by then, and is finished by starting it
again: what is there is known, and what is missing is added. A bad line is met while the plan is made, before anything is
written.
"""

from __future__ import annotations

from array import array
from functools import partial

from .. import branches, edits, erased, events, items, jobs, memories, mirror, views
from ..checkpoints import pending, pieces, record
from ..errors import BadLine
from ..model import MAIN, Imported, Problem
from ..search import index
from . import NAME, clean
from .lines import parse
from .plan import AGAIN, NEW, OTHER, SAME, Plan
from .signed import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import IO, Any

    from ..db import Database, Row, Tx
    from ..model import Progress
    from ..redact import Gate
    from .lines import Line
    from .plan import Place

    Op = tuple[str, Line, int, Any]
    """(type, line, its number, what was made ready of it in the caller's thread)."""

BATCH = 500
BATCH_CHARACTERS = 4_000_000
COUNTED = {
    "conversation": "conversations", "event": "events", "memory": "memories", "item": "items", "checkpoint": "checkpoints",
}  # fmt: skip
_INSERT_CONVERSATION = (
    "insert into conversations (user_no, id, title, workspace, workflow_id, metadata, origin, last_seq, active_branch,"
    " activity, created_at, updated_at, deleted_at) values (:user, :id, :title, :workspace, :workflow, :metadata, :origin,"
    " 0, :active, :activity, :created, :updated, :deleted) returning no"
)


class Outcome:
    """What one transaction did. It may be tried again, so nothing is believed of it before it is committed."""

    def __init__(self) -> None:
        self.added: dict[str, int] = {}
        self.known: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.nos: dict[str, int] = {}
        self.numbers: dict[str, dict[str, int]] = {}
        self.last: dict[str, int] = {}
        self.lost: set[str] = set()
        self.marked: set[str] = set()
        self.memories: dict[str, int] = {}
        self.changes: list[int] = []
        self.jobs: list[tuple[str, str]] = []


class Import:
    """One archive on its way into a store."""

    def __init__(
        self, db: Database, user: str, gate: Gate, *, state_mode: str, outside: bool, extracts: bool,
        again: bool, trust: bool, progress: Progress | None,
    ) -> None:  # fmt: skip
        self._db = db
        self._trust = trust
        self._user = user
        self._gate = gate
        self._outside = outside
        self._extracts = extracts
        self._progress = progress
        self._plan = Plan(db, user, gate, state_mode, again)
        self._again = again
        self._changes = array("q")
        """Change of the archive -> its number here; 0: it was left out."""
        self._added: dict[str, int] = dict.fromkeys(COUNTED.values(), 0)
        self._known: dict[str, int] = {}

    def run(self, fp: IO[str] | IO[bytes]) -> Imported:
        with _Twice(fp) as twice:
            lines = Lines(twice.file)
            self._plan.make(lines, self._progress, self._trust)
            done = size = 0
            batch: list[Op] = []
            for number, text in lines:
                kind, line = parse(text, number)
                op = self._prepare(kind, line, number)
                if op is not None:
                    batch.append(op)
                    size += len(text)
                done += 1
                if len(batch) >= BATCH or size >= BATCH_CHARACTERS:
                    self._flush(batch)
                    batch, size = [], 0
                    if self._progress:
                        self._progress("lines", done, self._plan.lines)
            self._flush(batch)
        self._finish()
        if self._progress:
            self._progress("lines", self._plan.lines, self._plan.lines)
        known = {what: self._known[what] for what in COUNTED.values() if self._known.get(what)}
        plan = self._plan
        return Imported(NAME, self._added, known, tuple(plan.problems), plan.is_signed, plan.is_trusted)

    # -- in the caller's thread

    def _prepare(self, kind: str, line: Line, number: int) -> Op | None:
        plan = self._plan
        if kind in ("recollect", "end"):
            return None
        if kind == "conversation":
            place = plan.places[line["id"]]
            return (kind, line, number, clean.conversation(line, self._gate, number)) if place.status != OTHER else None
        if kind in ("memory", "change", "derived"):
            statement = plan.statements[line["id" if kind == "memory" else "memory"]]
            if kind == "memory":
                statement.taken = 0
                return kind, line, number, clean.memory(line, self._gate, number)
            return (
                kind,
                line,
                number,
                None
                if kind == "derived"
                else clean.change(line, self._gate, number, statement.sensitive, plan.is_trusted),
            )
        if kind == "item":
            return kind, line, number, clean.item(line, self._gate, number)
        place = plan.place(line["conversation"], number)
        if place.status == OTHER:
            return None
        if kind != "event":
            return None if place.state_is_lost else (kind, line, number, None)
        if place.status == SAME and line["seq"] <= place.held and line["seq"] not in place.missing:
            self._known["events"] = self._known.get("events", 0) + 1
            return None
        columns = clean.event(line, self._gate, number)
        return kind, line, number, (columns, events.content_crc(columns), events.terms(columns))

    # -- in a transaction

    def _flush(self, batch: Sequence[Op]) -> None:
        if not batch:
            return
        found = self._db.write(self._user, lambda tx: self._write(tx, batch))
        plan = self._plan
        for counts, more in ((self._added, found.added), (self._known, found.known)):
            for what, n in more.items():
                counts[what] = counts.get(what, 0) + n
        plan.problems += found.problems
        for id, no in found.nos.items():
            plan.places[id].no = no
        for id, numbers in found.numbers.items():
            plan.places[id].numbers = numbers
        for id, last in found.last.items():
            plan.places[id].last = last
        for id in found.lost:
            plan.places[id].is_lost = True
        for id, no in found.memories.items():
            plan.statements[id].no = no
        self._changes.extend(found.changes)
        for kind, line, _, ready in batch:
            if kind == "memory":
                plan.statements[line["id"]].made = {**line, **ready}
            elif kind == "change":
                statement = plan.statements[line["memory"]]
                statement.taken += 1
                statement.made = None if statement.no is not None else statement.made

    def _write(self, tx: Tx, batch: Sequence[Op]) -> Outcome:
        out = Outcome()
        made = {line["id"]: {**line, **ready} for kind, line, _, ready in batch if kind == "memory"}
        taken: dict[str, int] = {}
        run: list[Op] = []
        touched: set[int] = set()
        for op in batch:
            kind = op[0]
            if kind == "event":
                run.append(op)
                continue
            # What was said before it has a smaller number: as-of reads rest on that.
            self._events(tx, run, out)
            run = []
            if kind == "conversation":
                self._conversation(tx, op, out)
            elif kind == "change":
                self._change(tx, op, out, made, taken, touched)
            elif kind != "memory":
                getattr(self, "_write_line" if kind == "write" else f"_{kind}")(tx, op, out)
        self._events(tx, run, out)
        edits.refresh(tx, touched)
        for kind, key in out.jobs:
            jobs.enqueue(tx, kind, key)
        return out

    def _place(self, tx: Tx, id: str, out: Outcome, *, lock: bool = True) -> tuple[Place, int] | None:
        """A conversation of this archive and its number here; None if it is left out."""
        place = self._plan.places[id]
        no = out.nos.get(id, place.no)
        if no is None or id in out.lost or not place.is_wanted:
            return None
        if lock and id not in out.last:
            row = tx.one("select last_seq from conversations where user_no = :user and no = :c" + tx.for_update, c=no)
            if row is None or row[0] != place.last:
                out.lost.add(id)
                what = "Somebody wrote to it while it was imported; what was left of it then was left out."
                out.problems.append(Problem(f"conversation {id}", what, "Erase it and import again."))
                return None
            out.last[id] = place.last
        return place, no

    def _conversation(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, ready = op
        place = self._plan.places[line["id"]]
        numbers = dict(place.numbers)
        if place.status == NEW:
            if tx.one("select no from conversations where user_no = :user and id = :id", id=place.id):
                out.lost.add(place.id)
                out.problems.append(Problem(f"conversation {place.id}", "It was made while this ran.", "Import again."))
                return
            if self._again:
                erased.forgive(tx, erased.CONVERSATION, place.id)
            elif erased.at(tx, erased.CONVERSATION, place.id) is not None:
                out.lost.add(place.id)
                out.problems.append(Problem(f"conversation {place.id}", "It was erased while this ran.", AGAIN))
                return
            made = tx.one(
                _INSERT_CONVERSATION,
                id=place.id, title=place.title, workspace=ready["workspace"], workflow=line["workflow_id"],
                metadata=ready["metadata"], origin=None if line["origin"] == "application" else line["origin"],
                active=numbers[line["active_branch"] or MAIN], activity=tx.ticks(1)[0], created=line["created_at"],
                updated=line["updated_at"], deleted=line["deleted_at"],
            )  # fmt: skip
            assert made is not None
            no = int(made[0])
            out.last[place.id] = 0
            if place.title is not None:
                index.retitle(tx, no, ready["workspace"], None, place.title)
            new = line["branches"]
            out.added["conversations"] = out.added.get("conversations", 0) + 1
            if line["origin"] in ("hook", "http"):
                out.jobs.append(("retain", "all"))
        else:
            found = self._place(tx, place.id, out)
            if found is None:
                return
            no = found[1]
            new = [b for b in line["branches"] if b["name"] not in self._there(tx, no)]
            following = max(self._there(tx, no).values()) + 1
            numbers |= {b["name"]: following + i for i, b in enumerate(new)}
            out.known["conversations"] = out.known.get("conversations", 0) + 1
        out.nos[place.id], out.numbers[place.id] = no, numbers
        tx.many(
            "insert into branches (user_no, conversation_no, no, name, parent, fork_seq, created_at)"
            " values (:user_no, :c, :no, :name, :parent, :at, :created)",
            [
                (
                    tx.user, no, numbers[b["name"]], b["name"], None if b["parent"] is None else numbers[b["parent"]],
                    b["at"], b["created_at"],
                )
                for b in new
            ],
        )  # fmt: skip
        self._marks(tx, place, line, no, numbers)

    def _there(self, tx: Tx, no: int) -> dict[str, int]:
        return {name: b for b, (name, _, _) in branches.tree(tx, no).items()}

    def _marks(self, tx: Tx, place: Place, line: Line, no: int, numbers: dict[str, int]) -> None:
        """Pins of events that are new here, and how far they were considered for memories."""
        tx.many(
            "insert into pins (user_no, conversation_no, seq, pinned_at) values (:user_no, :c, :seq, :at)"
            " on conflict (user_no, conversation_no, seq) do nothing",
            [(tx.user, no, seq, at) for seq, at in line["pins"] or () if seq > place.held and self._plan.is_trusted],
        )
        if place.held >= place.last_seq and place.status == SAME:
            return
        considered = line["considered"] or ()
        if not self._plan.is_trusted:  # whoever wrote it may say what they like, but nothing is learned from it
            considered = [(branch["name"], line["last_seq"]) for branch in line["branches"]]
        for name, upto in considered:
            tx.run(
                "insert into considered (user_no, conversation_no, branch_no, upto) values (:user, :c, :b, :upto)"
                " on conflict (user_no, conversation_no, branch_no) do update set upto = excluded.upto"
                " where considered.upto < excluded.upto",
                c=no, b=numbers[name], upto=upto,
            )  # fmt: skip
        if place.status == SAME and self._plan.is_trusted:
            tx.run(
                "update conversations set active_branch = :b, updated_at = :updated where user_no = :user and no = :c",
                c=no, b=numbers[line["active_branch"] or MAIN], updated=line["updated_at"],
            )  # fmt: skip
            edits.refresh_of(tx, no)  # what was learned on the other branches is not seen any more

    def _events(self, tx: Tx, ops: Sequence[Op], out: Outcome) -> None:
        wanted = [(op, found) for op in ops if (found := self._place(tx, op[1]["conversation"], out)) is not None]
        rows: list[Row] = []
        entries: list[Row] = []
        newest: dict[str, int] = {}
        summarized: set[int] = set()
        for tick, ((_, line, _, ready), (place, no)) in zip(
            tx.ticks(len(wanted)) if wanted else (), wanted, strict=True
        ):
            columns, crc, found_by = ready
            branch = out.numbers.get(place.id, place.numbers)[line["branch"] or MAIN]
            seq = line["seq"]
            crc = events.checksum(crc, no, branch, seq, columns[9])
            rows.append((tick, tx.user, no, branch, seq, *columns, crc))
            if found_by is not None and (self._outside or not index.is_outside(columns[5], place.workspace)):
                entries.append(index.entry(tick, no, place.workspace, found_by))
            newest[place.id] = max(newest.get(place.id, 0), seq)
            if columns[0] == "summary":
                summarized.add(no)
        if not rows:
            return
        tx.many(events.INSERT, rows)
        index.add(tx, entries)
        for id, seq in newest.items():
            self._raise(tx, self._plan.places[id], out.nos.get(id) or self._plan.places[id].no, seq, out)
        for no in summarized:
            branches.renew_summaries(tx, no)
        out.added["events"] = out.added.get("events", 0) + len(rows)

    def _raise(self, tx: Tx, place: Place, no: int | None, upto: int, out: Outcome) -> None:
        """The counter goes on, and the numbers it passes that were deleted are accounted for."""
        before = out.last.get(place.id, place.last)
        if upto <= before:
            return
        gone = [
            (max(first, before + 1), last, at) for first, last, at in place.buried if last > before and first <= upto
        ]
        tx.many(
            "insert into tombstones (user_no, conversation_no, first_seq, last_seq, deleted_at)"
            " values (:user_no, :c, :first, :last, :at) on conflict (user_no, conversation_no, first_seq) do nothing",
            [(tx.user, no, *run) for run in gone],
        )
        tx.run("update conversations set last_seq = :seq where user_no = :user and no = :c", c=no, seq=upto)
        out.last[place.id] = upto

    # -- memories

    def _change(
        self, tx: Tx, op: Op, out: Outcome, made: dict[str, Line], taken: dict[str, int], touched: set[int]
    ) -> None:  # fmt: skip
        _, line, _, ready = op
        id = line["memory"]
        statement = self._plan.statements[id]
        nth = statement.taken + taken.get(id, 0)
        taken[id] = taken.get(id, 0) + 1
        here, said = self._places(line, out)
        if not statement.is_wanted or here is None:
            out.changes.append(0)
            if nth == 0 and statement.no is not None:
                out.known["memories"] = out.known.get("memories", 0) + 1
            return
        if nth < len(statement.held):
            out.changes.append(statement.held[nth])
            if nth == 0:
                out.known["memories"] = out.known.get("memories", 0) + 1
            return
        memory = out.memories.get(id, statement.no)
        if memory is None:
            memory = self._remember(tx, made.get(id) or statement.made, out)
            if memory is None:
                out.changes.append(0)
                return
        tick = tx.ticks(1)[0]
        before, own = self._changes, len(self._changes)

        def here_is(n: int | None) -> int | None:
            if n is None:
                return None
            return before[n - 1] if n <= own else out.changes[n - own - 1]

        group = tick if line["group"] == line["n"] else here_is(line["group"]) or tick
        change = views.Change(
            **{
                "id": tick, "user_no": tx.user, "memory": memory, "change": group, "prior": here_is(line["prior"]) or None,
                "conversation_no": here[0], "branch_no": here[1], "source_no": said[0], "source_branch": said[1], **ready,
            }
        )  # fmt: skip
        tx.many(views.INSERT, [tuple(getattr(change, name) for name in views.NAMES.split(", "))])
        out.changes.append(tick)
        touched.add(memory)

    def _places(
        self, line: Line, out: Outcome
    ) -> tuple[tuple[int | None, int | None] | None, tuple[int | None, int | None]]:
        """Where a change was made and where its source is, by number; None first if that place was left out."""
        found: list[tuple[int | None, int | None] | None] = []
        for conversation, branch in (("conversation", "branch"), ("source_conversation", "source_branch")):
            id = line[conversation]
            if id is None:
                found.append((None, None))
                continue
            place = self._plan.places[id]
            no = out.nos.get(id, place.no)
            is_out = no is None or not place.is_wanted or id in out.lost
            found.append(None if is_out else (no, out.numbers.get(id, place.numbers)[line[branch] or MAIN]))
        return found[0], found[1] or (None, None)

    def _remember(self, tx: Tx, made: Line | None, out: Outcome) -> int | None:
        if made is None:
            raise BadLine("the file was changed while it was read.")
        if tx.one("select id from memories where user_no = :user and memory_id = :id", id=made["id"]):
            return None  # it was remembered here meanwhile
        no = None
        if made["conversation"] is not None:
            place = self._plan.places[made["conversation"]]
            no = out.nos.get(made["conversation"], place.no)
            if no is None:
                return None
        if self._again:
            erased.forgive(tx, erased.LEARNED, made["id"])
            erased.forgive(tx, erased.MEMORY, made["id"])
        tick = int(tx.ticks(1)[0])
        tx.run(
            "insert into memories (id, user_no, memory_id, content, kind, conversation_no, workspace, namespace, state, uses,"
            " used_at, created_at) values (:tick, :user, :id, :content, 'fact', :c, :workspace, :namespace, 'hidden', :uses,"
            " :used, :created)",
            tick=tick, id=made["id"], content=made["content"], c=no, workspace=made["workspace"],
            namespace=memories.namespace(no, made["workspace"]), uses=made["uses"] or 0, used=made["used_at"],
            created=made["created_at"],
        )  # fmt: skip
        out.memories[made["id"]] = tick
        out.added["memories"] = out.added.get("memories", 0) + 1
        return tick

    def _derived(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, _ = op
        statement, root = self._plan.statements[line["memory"]], self._plan.statements[line["root"]]
        if not statement.is_wanted and not self._plan.is_trusted:
            return
        memory, rests = out.memories.get(line["memory"], statement.no), out.memories.get(line["root"], root.no)
        if memory is not None and rests is not None and memory != rests:
            tx.run(
                "insert into memory_roots (user_no, memory, root) values (:user, :memory, :root) on conflict do nothing",
                memory=memory, root=rests,
            )  # fmt: skip

    # -- what graphs keep

    def _item(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, ready = op
        if tx.one(
            "select id from items where user_no = :user and namespace = :namespace and key = :key",
            namespace=ready["namespace"], key=ready["key"],
        ):  # fmt: skip
            out.known["items"] = out.known.get("items", 0) + 1
            return
        if self._plan.is_of_erased(tx, line):
            return
        if self._again:
            erased.forgive(tx, erased.ITEM, f"{ready['namespace']}\0{ready['key']}")
        ticks = tx.ticks(1 + len(ready["texts"]))
        memory = line["memory"]
        if memory is not None:
            # A memory of its own it is only here; somebody else's follows when the item is put again.
            own = mirror.user_of(items.labels(ready["namespace"])) == self._user
            if not own or not tx.one("select id from memories where user_no = :user and memory_id = :id", id=memory):
                memory = None
            elif not self._plan.is_trusted and not self._is_new(memory):
                memory = None  # with the item it would go, or say something else
        tx.run(
            "insert into items (id, user_no, namespace, key, value, tick, ttl_ms, expires_at, source, memory, created_at,"
            " updated_at, checksum) values (:tick, :user, :namespace, :key, :value, :tick, :ttl, :expires, :source, :memory,"
            " :created, :updated, :crc)",
            tick=ticks[0], namespace=ready["namespace"], key=ready["key"], value=ready["value"], ttl=line["ttl_ms"],
            expires=line["expires_at"], source=ready["source"], memory=memory, created=line["created_at"],
            updated=line["updated_at"], crc=items.checksum(ready["namespace"], ready["key"], ready["value"]),
        )  # fmt: skip
        items.add_texts(tx, ticks[0], ready["namespace"], ready["texts"], ticks[1:])
        if line["expires_at"] is not None:
            out.jobs.append(("expire", "items"))
        out.added["items"] = out.added.get("items", 0) + 1

    def _is_new(self, memory: str) -> bool:
        statement = self._plan.statements.get(memory)
        return statement is not None and statement.is_wanted

    def _piece(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, _ = op
        found = self._graphs(tx, line["conversation"], out)
        if found is not None:
            is_marked = not line["key"] and not self._plan.is_signed
            format = pieces.FOREIGN + pieces.plain_format(line["format"]) if is_marked else line["format"]
            tx.many(pieces.PIECE, [(tx.user, found[1], line["key"], format, line["data"])])

    def _graphs(self, tx: Tx, id: str, out: Outcome) -> tuple[Place, int] | None:
        """The place of a graph's state. State that this store did not sign is marked, so that a graph constructs nothing of it that
        is not on its list."""
        found = self._place(tx, id, out)
        if found is not None and not self._plan.is_signed and id not in out.marked:
            out.marked.add(id)
            pieces.mark(tx, found[1])
        return found

    def _checkpoint(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, _ = op
        found = self._graphs(tx, line["conversation"], out)
        if found is None:
            return
        place, no = found
        branch = out.numbers.get(place.id, place.numbers)[line["branch"] or MAIN]
        row = (
            line["namespace"] or "", line["id"], line["parent"], branch, line["seq"], line["source"], line["step"],
            line["node"], line["run_id"], line["created_at"], record.pack(line["state"]),
        )  # fmt: skip
        there = record.find(tx, no, row[0], row[1])
        if there is not None:
            out.known["checkpoints"] = out.known.get("checkpoints", 0) + 1
            if record.unpack(there) != line["state"]:
                what = "It holds another state here, and was left as it is."
                out.problems.append(Problem(f"checkpoint {line['id']} of {place.id}", what, "Delete one of them."))
            return
        tx.many(
            "insert into checkpoints (user_no, conversation_no, namespace, checkpoint_id, parent_id, branch_no, seq, source,"
            " step, node, run_id, created_at, state, checksum) values (:user_no, :c, :ns, :id, :parent, :b, :seq, :source,"
            " :step, :node, :run, :created, :state, :crc)",
            [(tx.user, no, *row, record.crc(row))],
        )
        out.added["checkpoints"] = out.added.get("checkpoints", 0) + 1

    def _write_line(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, _ = op
        found = self._graphs(tx, line["conversation"], out)
        if found is not None:
            row = (
                line["namespace"] or "", line["checkpoint"], line["task"], line["index"], line["path"] or "", line["channel"],
                line["format"], line["data"],
            )  # fmt: skip
            tx.many(pending.WRITE + "nothing", [(tx.user, found[1], *row, record.crc(row))])

    def _logged(self, tx: Tx, op: Op, out: Outcome) -> None:
        _, line, _, _ = op
        found = self._place(tx, line["conversation"], out)
        if found is not None:
            place, no = found
            branch = out.numbers.get(place.id, place.numbers)[line["branch"] or MAIN]
            tx.many(
                "insert into checkpoint_messages (user_no, conversation_no, message_id, branch_no, seq, first_seq, digest)"
                " values (:user_no, :c, :id, :b, :seq, :first, :digest)"
                " on conflict (user_no, conversation_no, message_id, branch_no, seq) do nothing",
                [(tx.user, no, line["message"], branch, line["seq"], line["first"], line["digest"])],
            )

    # -- afterwards

    def _finish(self) -> None:
        """Every number is accounted for: what the archive has not was deleted while it was written."""
        for some in _parts([p for p in self._plan.places.values() if p.no is not None and p.is_wanted]):
            self._db.write(self._user, partial(self._settle, places=some))

    def _settle(self, tx: Tx, places: Iterable[Place]) -> None:
        for place in places:
            if place.status == SAME and place.held >= place.last_seq and not place.missing:
                continue
            out = Outcome()
            found = self._place(tx, place.id, out)
            if found is None:
                continue
            no = found[1]
            self._raise(tx, place, no, place.last_seq, out)
            tx.many(
                "insert into tombstones (user_no, conversation_no, first_seq, last_seq, deleted_at)"
                " values (:user_no, :c, :first, :last, :at) on conflict (user_no, conversation_no, first_seq) do nothing",
                [
                    (tx.user, no, max(first, place.held + 1), last, self._plan.exported_at)
                    for first, last in place.gaps
                    if last > place.held
                ],
            )
            branches.renew_summaries(tx, no)
            if self._extracts:
                for b in place.numbers.values():
                    jobs.enqueue(tx, "consolidate", f"{no}:{b}", delay_ms=2_000)


def _parts(places: list[Place]) -> Iterable[list[Place]]:
    return (places[i : i + 100] for i in range(0, len(places), 100))


class _Twice:
    """A file that is read more than once. One that cannot go back is kept meanwhile, encrypted."""

    def __init__(self, fp: IO[str] | IO[bytes]) -> None:
        from ..spool import Spool

        self._copy: Spool | None = None
        self.file: IO[str] | IO[bytes] = fp
        if not fp.seekable():
            self._copy = Spool()
            while part := fp.read(1 << 20):
                self._copy.write(part.encode() if isinstance(part, str) else part)
            self.file = self._copy.reading()

    def __enter__(self) -> _Twice:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._copy is not None:
            self._copy.__exit__(*exc)
