"""An archive is written a page at a time, each page read in a transaction of its own: whoever reads it slowly holds nobody up.

So the store may change meanwhile. The conversations are listed first, with the number of their newest event; what comes
after that is not in this archive. What is deleted while it is written may be missing: a reader accounts for such numbers.
Events, memories and their changes come in the order of the one counter that numbered them all.
"""

from __future__ import annotations

import json
from array import array
from base64 import b64encode
from bisect import bisect_left
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter

from .. import events, ids, items, views
from ..checkpoints import record
from ..conversations import load_metadata
from ..errors import InvalidInput, NotFound
from ..model import MAIN
from . import VERSION
from .lines import dump
from .signed import Signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Any, TypeVar

    from ..db import Database, Row, Tx
    from ..model import Progress

    T = TypeVar("T")

PAGE = 500
FEW = 50
"""Of what may be large: pieces of a graph's state, and items."""
_CONVERSATION = (
    "select no, id, title, workspace, workflow_id, metadata, origin, last_seq, active_branch, created_at, updated_at,"
    " deleted_at, activity from conversations where user_no = :user"
)


class Known:
    """What the lines after it need to know of a conversation."""

    __slots__ = ("id", "last_seq", "names")

    def __init__(self, id: str, last_seq: int, names: dict[int, str]) -> None:
        self.id = id
        self.last_seq = last_seq
        self.names = names
        """Of its branches, by number, but for `main`."""

    def branch(self, no: int | None) -> str | None:
        """The name of a branch as a line has it: None for `main`."""
        return self.names.get(no or 0)


class Archive:
    """One export, on its way to a file."""

    def __init__(
        self, db: Database, user: str, *, conversation: str | None, workspace: str | None, state_redacted: str,
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self._db = db
        self._user = user
        self._conversation, self._workspace = conversation, workspace
        self._state_redacted = state_redacted
        self._progress = progress
        self._known: dict[int, Known] = {}
        self._memories: set[int] | None = None
        """The numbers of those that belong to a part; None: all."""
        self._changes = array("q")
        self._groups: dict[int, int] = {}
        self.counts = dict.fromkeys(("conversations", "events", "memories", "items", "checkpoints"), 0)

    def _read(self, fn: Callable[[Tx], T]) -> T:
        return self._db.read(self._user, fn)

    @property
    def _is_part(self) -> bool:
        return self._conversation is not None or self._workspace is not None

    def lines(self) -> Iterator[str]:
        scope = {
            name: value
            for name, value in (("conversation", self._conversation), ("workspace", self._workspace))
            if value
        }
        n, signature = 0, Signature(self._db, self._user)
        for line in self._all(scope):
            n += 1
            signature.add(line)
            yield line
        yield dump("end", lines=n + 1, signature=signature.hex())

    def _all(self, scope: dict[str, str]) -> Iterator[str]:
        yield dump(
            "recollect", version=VERSION, exported_at=ids.now(), scope=scope, state_redacted=self._state_redacted
        )
        yield from self._count("conversations", self._conversations())
        total, done = sum(known.last_seq for known in self._known.values()), 0
        self._memories = self._read(self._memories_in) if self._is_part else None
        for _, _, row in merge(self._events(), self._stored("memory"), self._stored("change"), key=itemgetter(0, 1)):
            if isinstance(row, str):
                yield row
                continue
            yield self._event(row)
            done += 1
            if self._progress and done % PAGE == 0:
                self._progress("events", done, max(total, done))
        self.counts["events"] = done
        yield from self._derived()
        yield from self._count("items", self._items())
        for no, known in self._known.items():
            yield from self._state(no, known)
        if self._progress:
            self._progress("events", max(done, total), max(done, total))

    def _count(self, what: str, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self.counts[what] += 1
            yield line

    # -- conversations

    def _conversations(self) -> Iterator[str]:
        """In the order of their activity, which is how they are listed."""
        after = -1
        while page := self._read(partial(self._page, after=after)):
            for no, line in page:
                if no not in self._known:  # it was touched meanwhile, and has moved to the end of the list
                    self._known[no] = line[0]
                    yield line[1]
            after = page[-1][1][2]
        if self._conversation is not None and not self._known:
            raise NotFound(f"There is no conversation {self._conversation!r}. `conversations()` lists them.")

    def _page(self, tx: Tx, after: int) -> list[tuple[int, tuple[Known, str, int]]]:
        if self._conversation is not None:
            rows = tx.all(f"{_CONVERSATION} and id = :id and activity > :after", id=self._conversation, after=after)
        else:
            rows = tx.all(
                f"{_CONVERSATION} and activity > :after and (cast(:workspace as text) is null or workspace = :workspace)"
                " order by activity limit :page",
                after=after, workspace=self._workspace, page=FEW,
            )  # fmt: skip
        return [(row[0], self._one(tx, row)) for row in rows]

    def _one(self, tx: Tx, row: Row) -> tuple[Known, str, int]:
        no, id, title, workspace, workflow, metadata, origin, last, active, created, updated, deleted, activity = row
        made = tx.all(
            "select no, name, parent, fork_seq, created_at from branches where user_no = :user and conversation_no = :c"
            " order by no",
            c=no,
        )
        names = {b[0]: b[1] for b in made}
        buried = tx.all(
            "select first_seq, last_seq, deleted_at from tombstones where user_no = :user and conversation_no = :c"
            " order by first_seq",
            c=no,
        )
        pinned = tx.all(
            "select seq, pinned_at from pins where user_no = :user and conversation_no = :c order by seq", c=no
        )
        considered = tx.all(
            "select branch_no, upto from considered where user_no = :user and conversation_no = :c order by branch_no",
            c=no,
        )
        line = dump(
            "conversation", id=id, title=title, workspace=workspace, workflow_id=workflow,
            metadata=load_metadata(id, metadata) or None, origin=origin, last_seq=last,
            active_branch=names[active] if active else None,
            branches=[
                {"name": name, **({} if parent is None else {"parent": names[parent]}), "at": at, "created_at": when}
                for _, name, parent, at, when in made
            ],
            tombstones=[list(b) for b in buried], pins=[list(p) for p in pinned],
            considered=[[names[b], upto] for b, upto in considered if b in names], created_at=created, updated_at=updated,
            deleted_at=deleted,
        )  # fmt: skip
        return Known(id, last, {n: name for n, name in names.items() if n}), line, activity

    # -- events

    def _events(self) -> Iterator[tuple[int, int, Any]]:
        """(id, 0, row) of every event, in order of ids."""
        if self._conversation is not None:
            (no,) = self._known
            return merge(*(self._of_branch(no, b) for b in (0, *self._known[no].names)), key=itemgetter(0))
        return self._by_id()

    def _of_branch(self, no: int, branch: int) -> Iterator[tuple[int, int, Any]]:
        after, high = 0, self._known[no].last_seq

        def page(tx: Tx, after: int) -> list[Row]:
            return tx.all(
                f"select id, conversation_no, {events.COLUMNS} from events where user_no = :user and conversation_no = :c"
                " and branch_no = :b and seq > :after and seq <= :high order by seq limit :page",
                c=no, b=branch, after=after, high=high, page=PAGE,
            )  # fmt: skip

        while rows := self._read(partial(page, after=after)):
            for row in rows:
                yield row[0], 0, row
            after = rows[-1][2]

    def _by_id(self) -> Iterator[tuple[int, int, Any]]:
        after = 0

        def page(tx: Tx, after: int) -> list[Row]:
            return tx.all(
                f"select id, conversation_no, {events.COLUMNS} from events{tx.by_id} where user_no = :user and id > :after"
                " and id <= :high order by id limit :page",
                after=max(after, tx.low_id()), high=tx.high_id(), page=PAGE,
            )  # fmt: skip

        while rows := self._read(partial(page, after=after)):
            for row in rows:
                known = self._known.get(row[1])
                if known is not None and row[2] <= known.last_seq:
                    yield row[0], 0, row
            after = rows[-1][0]

    def _event(self, row: Row) -> str:
        known = self._known[row[1]]
        e = events.load(known.id, row[2:], {0: MAIN, **known.names})
        return dump(
            "event", conversation=known.id, seq=e.seq, branch=known.branch(row[21]), kind=e.kind, role=e.role,
            text=e.text or None, name=e.name, tool=e.tool, path=e.path, agent=e.agent, status=e.status, task_id=e.task_id,
            message=e.message, tags=list(e.tags), payload=e.payload or None, model=e.model, input_tokens=e.input_tokens,
            output_tokens=e.output_tokens, cost=e.cost, duration_ms=e.duration_ms, key=e.key, created_at=e.created_at,
        )  # fmt: skip

    # -- memories

    def _memories_in(self, tx: Tx) -> set[int]:
        """Those that are limited to the part, were learned there, or changed there."""
        found: set[int] = set()
        for no in self._known:
            for (memory,) in tx.all(
                "select id from memories where user_no = :user and conversation_no = :c"
                " union select memory from memory_changes where user_no = :user and conversation_no = :c"
                " union select memory from memory_changes where user_no = :user and source_no = :c",
                c=no,
            ):
                found.add(memory)
        if self._workspace is not None:
            found |= {
                row[0]
                for row in tx.all(
                    "select id from memories where user_no = :user and workspace = :workspace and conversation_no is null",
                    workspace=self._workspace,
                )
            }
        return found

    def _stored(self, what: str) -> Iterator[tuple[int, int, Any]]:
        """(id, 1, line) of memories, or (id, 2, line) of their changes: the first change of one may have its number."""
        after, rank = 0, 1 if what == "memory" else 2
        page = self._memory_page if what == "memory" else self._change_page
        while rows := self._read(partial(page, after=after)):
            for row in rows:
                line = self._memory(row) if what == "memory" else self._change(row)
                if line is not None:
                    yield row[0], rank, line
            after = rows[-1][0]

    def _memory_page(self, tx: Tx, after: int) -> list[Row]:
        return tx.all(
            "select m.id, m.memory_id, m.content, m.conversation_no, m.workspace, m.uses, m.used_at, m.created_at"
            " from memories m where m.user_no = :user and m.id > :after and exists (select 1 from memory_changes r"
            " where r.user_no = m.user_no and r.memory = m.id) order by m.id limit :page",
            after=after, page=PAGE,
        )  # fmt: skip

    def _memory(self, row: Row) -> str | None:
        no, id, content, conversation, workspace, uses, used_at, created = row
        if self._memories is not None and no not in self._memories:
            return None
        if conversation is not None and conversation not in self._known:
            if self._memories is not None:
                self._memories.discard(no)  # limited to another conversation, and only touched from here
            return None
        self.counts["memories"] += 1
        return dump(
            "memory", id=id, content=content, conversation=None if conversation is None else self._known[conversation].id,
            workspace=workspace, uses=uses or None, used_at=used_at, created_at=created,
        )  # fmt: skip

    def _change_page(self, tx: Tx, after: int) -> list[Row]:
        names = ", ".join("r." + name for name in views.NAMES.split(", "))
        return tx.all(
            f"select {names}, m.memory_id, m.conversation_no, s.id from memory_changes r join memories m"
            " on m.user_no = r.user_no and m.id = r.memory"
            " left join conversations s on s.user_no = r.user_no and s.no = r.source_no"
            " where r.user_no = :user and r.id > :after order by r.id limit :page",
            after=after, page=PAGE,
        )  # fmt: skip

    def _change(self, row: Row) -> str | None:
        c, memory, limited, said_in = views.Change(*row[:-3]), row[-3], row[-2], row[-1]
        if self._memories is not None and c.memory not in self._memories:
            return None
        if (limited is not None and limited not in self._known) or (
            c.conversation_no is not None and c.conversation_no not in self._known
        ):
            return None  # it came meanwhile, or was done in a conversation that does not belong to this part
        place = None if c.conversation_no is None else self._known[c.conversation_no]
        seqs = None if c.source_seqs is None else [int(n) for n in c.source_seqs.split(",")]
        told = self._known.get(c.source_no) if c.source_no is not None else None
        source = c.source
        if told is None and said_in is not None:
            source, seqs = f"{said_in}:{(seqs or [0])[0]}", None
        self._changes.append(c.id)
        n = len(self._changes)
        group = self._groups.setdefault(c.change, n) if c.change != c.id else n
        if c.change == c.id:
            self._groups[c.id] = n
        return dump(
            "change", n=n, memory=memory, group=group, action=c.action, state=c.state, wording=c.wording, kind=c.kind,
            importance=c.importance, tags=json.loads(c.tags or "[]"), pinned_at=c.pinned_at, by_hand=c.by_hand,
            replaced_by=c.replaced_by, conflicts_with=c.conflicts_with, flag=c.flag, source=source,
            source_conversation=None if told is None else told.id,
            source_branch=None if told is None else told.branch(c.source_branch), source_seqs=seqs, checkpoint=c.checkpoint,
            role=c.role, extractor=c.extractor, valid_from=c.valid_from, valid_to=c.valid_to, expires_at=c.expires_at,
            conversation=None if place is None else place.id, branch=None if place is None else place.branch(c.branch_no),
            seq=c.seq, who=c.who, why=c.why, prior=self._number(c.prior), at=c.at, undone_at=c.undone_at,
        )  # fmt: skip

    def _number(self, change: int | None) -> int | None:
        """The number of a change in this archive; None if it is not in it."""
        if change is None:
            return None
        n = bisect_left(self._changes, change)
        return n + 1 if n < len(self._changes) and self._changes[n] == change else None

    def _derived(self) -> Iterator[str]:
        rows = self._read(
            lambda tx: tx.all(
                "select d.memory, m.memory_id, d.root, o.memory_id from memory_roots d"
                " join memories m on m.user_no = d.user_no and m.id = d.memory"
                " join memories o on o.user_no = d.user_no and o.id = d.root"
                " where d.user_no = :user order by d.memory, d.root"
            )
        )
        for memory, id, root, root_id in rows:
            if self._memories is None or {memory, root} <= self._memories:
                yield dump("derived", memory=id, root=root_id)

    # -- what graphs keep

    def _items(self) -> Iterator[str]:
        """In the order in which they were put; not those whose time has run out."""
        now = ids.now()
        threads = {known.id for known in self._known.values()} if self._is_part else None
        put = self._read(lambda tx: tx.all("select i.id from items i where i.user_no = :user order by i.tick"))
        for start in range(0, len(put), FEW):
            some = [row[0] for row in put[start : start + FEW]]
            for row, texts in self._read(partial(_with_texts, some=some)):
                line = None if row[10] is not None and row[10] <= now else self._item(row, texts, threads)
                if line is not None:
                    yield line

    def _item(self, row: Row, texts: list[str], threads: set[str] | None) -> str | None:
        labels = items.labels(row[1])
        source = None if row[7] is None else json.loads(row[7])
        if threads is not None and (source or {}).get("thread_id") not in threads:
            if labels[:2] != ("memories", self._user) or not threads & set(labels[2:3]):
                return None
        value: Any = items.load(row)
        told: dict[str, Any] = {"value": value}
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:  # NaN, or half of a surrogate pair: kept as it was put
            told = {"value_text": row[3]}
        return dump(
            "item", namespace=list(labels), key=row[2], **told, ttl_ms=row[6], expires_at=row[10], source=source,
            memory=row[8], texts=texts, created_at=row[4], updated_at=row[5],
        )  # fmt: skip

    def _state(self, no: int, known: Known) -> Iterator[str]:
        """The state of graphs: first the values, then what refers to them."""
        key: bytes | None = None
        while rows := self._read(partial(self._pieces, no=no, after=key)):
            for key, type, data in rows:
                yield dump("piece", conversation=known.id, key=bytes(key).hex(), format=type, data=_b64(data))
        last = ("", "")
        while found := self._read(partial(self._checkpoints, no=no, after=last)):
            for row in found:
                state = record.unpack(row)
                self.counts["checkpoints"] += 1
                yield dump(
                    "checkpoint", conversation=known.id, namespace=row[0] or None, id=row[1], parent=row[2],
                    branch=known.branch(row[3]), seq=row[4], source=row[5], step=row[6], node=row[7], run_id=row[8],
                    created_at=row[9], state=state,
                )  # fmt: skip
            last = found[-1][:2]
        at: tuple[Any, ...] = ("", "", "", 0)
        while rows := self._read(partial(self._writes, no=no, after=at)):
            for row in rows:
                yield dump(
                    "write", conversation=known.id, namespace=row[0] or None, checkpoint=row[1], task=row[2],
                    index=row[3], path=row[4] or None, channel=row[5], format=row[6], data=_b64(row[7]),
                )  # fmt: skip
            at = rows[-1][:4]
        at = (0, "")
        while rows := self._read(partial(self._logged, no=no, after=at)):
            for row in rows:
                yield dump(
                    "logged", conversation=known.id, message=row[0], branch=known.branch(row[1]), seq=row[2],
                    first=row[3], digest=bytes(row[4]).hex(),
                )  # fmt: skip
            at = rows[-1][2], rows[-1][0]

    def _pieces(self, tx: Tx, no: int, after: bytes | None) -> list[Row]:
        if after is None:
            return tx.all(
                "select key, type, data from checkpoint_pieces where user_no = :user and conversation_no = :c"
                " order by key limit :page",
                c=no, page=FEW,
            )  # fmt: skip
        return tx.all(
            "select key, type, data from checkpoint_pieces where user_no = :user and conversation_no = :c and key > :after"
            " order by key limit :page",
            c=no, after=bytes(after), page=FEW,
        )  # fmt: skip

    def _checkpoints(self, tx: Tx, no: int, after: tuple[str, str]) -> list[Row]:
        return tx.all(
            f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c"
            " and (namespace, checkpoint_id) > (:ns, :id) order by namespace, checkpoint_id limit :page",
            c=no, ns=after[0], id=after[1], page=FEW,
        )  # fmt: skip

    def _writes(self, tx: Tx, no: int, after: tuple[Any, ...]) -> list[Row]:
        return tx.all(
            "select namespace, checkpoint_id, task_id, idx, task_path, channel, type, data from checkpoint_writes"
            " where user_no = :user and conversation_no = :c"
            " and (namespace, checkpoint_id, task_id, idx) > (:ns, :id, :task, :idx)"
            " order by namespace, checkpoint_id, task_id, idx limit :page",
            c=no, ns=after[0], id=after[1], task=after[2], idx=after[3], page=FEW,
        )  # fmt: skip

    def _logged(self, tx: Tx, no: int, after: tuple[Any, ...]) -> list[Row]:
        return tx.all(
            "select message_id, branch_no, seq, first_seq, digest from checkpoint_messages where user_no = :user"
            " and conversation_no = :c and (seq, message_id) > (:seq, :id) order by seq, message_id limit :page",
            c=no, seq=after[0], id=after[1], page=PAGE,
        )  # fmt: skip


def _with_texts(tx: Tx, some: list[int]) -> list[tuple[Row, list[str]]]:
    return [(row, items.texts_of(tx, row[0])) for row in items.some(tx, some)]


def _b64(data: bytes) -> str:
    return b64encode(bytes(data)).decode()


def writer(fp: IO[str] | IO[bytes]) -> Callable[[str], object]:
    """How a line is written to a file that is open for text, or for bytes."""
    file: Any = fp
    try:
        file.write("")
    except TypeError:
        return lambda line: file.write(line.encode())
    except AttributeError:
        raise InvalidInput(
            "export() writes to a file that is open for writing, or to anything else with write()."
        ) from None
    return lambda line: file.write(line)


def export(archive: Archive, fp: IO[str] | IO[bytes]) -> dict[str, int]:
    """Write all lines. Returns how much of what there was."""
    write = writer(fp)
    for _, some in groupby(enumerate(archive.lines()), key=lambda pair: pair[0] // 64):
        write("".join(line for _, line in some))
    return archive.counts
