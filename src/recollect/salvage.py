"""Saving what is readable from a damaged file.

SQLite reads a table from its root; one broken page on the way hides everything behind it. So nothing is asked of
SQLite here: every page of the file (as the write-ahead log has it, if there is one) is looked at by itself, the rows on
it are decoded, and what has the shape of one of our rows is ours. A lost interior page costs nothing that way, a lost
leaf only its own rows.

The rows go into a new store, under their own numbers. A number that is missing there becomes a tombstone; a row whose
checksum does not fit is kept and tagged `damaged`; a conversation or branch whose own row is lost gets a name that says
so. The damaged file is only read.
"""

from __future__ import annotations

import contextlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import backup, branches, conversations, edits, events, ids, memories, views
from .conversations import Found
from .db import file
from .db.chacha import RESERVED
from .db.cipher import spare_header
from .db.sqlite import SQLite
from .errors import AlreadyExists, InvalidInput, NotFound, WrongKey
from .model import KINDS, MAIN, MEMORY_KINDS, MEMORY_STATES, Salvage
from .search import index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .db import Tx
    from .db.cipher import Cipher, Key
    from .model import Progress

TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02
BATCH = 1_000
USER, CONVERSATION, BRANCH, EVENT = 4, 14, 8, 25  # how many columns each has; a conversation may be older than its last
MEMORY, CHANGE = 15, 33
PLAIN_MEMORY = -13  # of the schema before its changes were kept: as many as a conversation had then
_WAL_MAGIC = (0x377F0682, 0x377F0683)


# -- pages


class Pages:
    """The pages of a database file, each from the log where that has a newer one that was committed."""

    def __init__(self, path: Path, key: Key | None = None) -> None:
        self._file = path.open("rb")
        header = self._file.read(100)
        try:
            self._cipher = None if header.startswith(file.MAGIC) else _cipher(path, header, key)
        except BaseException:
            self._file.close()
            raise
        if self._cipher is not None and not header.startswith(file.ENCRYPTED):
            header = b""
        size = int.from_bytes(header[16:18])
        self.size = 65536 if size == 1 else size if size >= 512 and size & (size - 1) == 0 else 4096
        self.usable = self.size - (header[20] if header[20:21] and header[20] <= 32 else 0)
        if self._cipher is not None:
            self.usable = self.size - RESERVED
        self._newer = self._read_log(path.with_name(path.name + "-wal"))
        self.count = max([(path.stat().st_size + self.size - 1) // self.size, *self._newer])

    def _read_log(self, path: Path) -> dict[int, bytes]:
        newer: dict[int, bytes] = {}
        if not path.exists() or path.stat().st_size <= 32:
            return newer
        with path.open("rb") as f:
            header = f.read(32)
            if int.from_bytes(header[:4]) not in _WAL_MAGIC:
                return newer
            salts = header[16:24]
            waiting: dict[int, bytes] = {}
            while len(frame := f.read(24 + self.size)) == 24 + self.size and frame[8:16] == salts:
                waiting[int.from_bytes(frame[:4])] = frame[24:]
                if int.from_bytes(frame[4:8]):  # the last frame of a transaction
                    newer |= waiting
                    waiting = {}
        return newer

    def __getitem__(self, number: int) -> bytes:
        page = self._newer.get(number)
        if page is None:
            self._file.seek((number - 1) * self.size)
            page = self._file.read(self.size).ljust(self.size, b"\0")
        return page if self._cipher is None else self._cipher.page(number, page)

    def close(self) -> None:
        self._file.close()


def _cipher(path: Path, header: bytes, key: Key | None) -> Cipher | None:
    """What the pages are decrypted with. Where the first bytes are lost, the lock file and the backups have them too."""
    if key is None:
        if header.startswith(file.ENCRYPTED):
            file.unlock(str(path), None)  # says that a key is needed
        return None
    spare = spare_header(str(path))
    copies = []
    for copy in backup.found(path):
        with contextlib.suppress(OSError), copy.path.open("rb") as f:
            copies.append(f.read(16))
    for known in [header[:16], *([spare] if spare else []), *copies]:
        if len(known) == 16 and known.startswith(file.ENCRYPTED) and (found := key.unlock(known)) is not None:
            return found
    if key.is_raw and not header.startswith(file.ENCRYPTED):
        return key.raw_for(bytes(16))
    file.unlock(str(path), key)  # says that it is the wrong one
    raise WrongKey(f"The salt of {path} is lost with its first page, and without it a passphrase opens nothing.")


class Record(NamedTuple):
    is_table: bool
    rowid: int
    values: list[Any]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(8):
        byte = data[at + i]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + i + 1
    return value << 8 | data[at + 8], at + 9


def records(pages: Pages, number: int) -> Iterator[Record]:
    """The rows on one page; what cannot be decoded is passed over."""
    page = pages[number]
    start = 100 if number == 1 else 0
    kind = page[start]
    if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
        return
    pointers = start + (12 if kind == INDEX_INTERIOR else 8)
    for i in range(min(int.from_bytes(page[start + 3 : start + 5]), (pages.size - pointers) // 2)):
        at = int.from_bytes(page[pointers + 2 * i : pointers + 2 * i + 2])
        try:
            record = _cell(pages, page, at, kind)
        except (IndexError, ValueError, OverflowError):
            continue
        if record is not None:
            yield record


def _cell(pages: Pages, page: bytes, at: int, kind: int) -> Record | None:
    if kind == INDEX_INTERIOR:
        at += 4
    size, at = _varint(page, at)
    rowid = 0
    if kind == TABLE_LEAF:
        rowid, at = _varint(page, at)
    if not 0 < size < 1 << 31 or size > pages.count * pages.size:
        return None
    u = pages.usable
    most = u - 35 if kind == TABLE_LEAF else (u - 12) * 64 // 255 - 23
    least = (u - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (u - 4)
        if local > most:
            local = least
    payload = page[at : at + local]
    if size > local:
        parts = [payload]
        have = len(payload)
        following = int.from_bytes(page[at + local : at + local + 4])
        seen: set[int] = set()
        while have < size:
            if not 0 < following <= pages.count or following in seen:
                return None
            seen.add(following)
            more = pages[following]
            part = more[4 : min(u, 4 + size - have)]
            parts.append(part)
            have += len(part)
            following = int.from_bytes(more[:4])
        payload = b"".join(parts)
    if len(payload) < size:
        return None
    return Record(kind == TABLE_LEAF, rowid, _values(payload))


def _values(payload: bytes) -> list[Any]:
    end, at = _varint(payload, 0)
    if not 0 < end <= len(payload):
        raise ValueError("no record")
    types: list[int] = []
    while at < end:
        type_, at = _varint(payload, at)
        types.append(type_)
    values: list[Any] = []
    at = end
    for type_ in types:
        if type_ >= 12:
            length = (type_ - 12) // 2
            data = payload[at : at + length]
            if len(data) < length:
                raise ValueError("cut short")
            values.append(data.decode("utf-8", "replace") if type_ % 2 else data)
        elif type_ in (8, 9):
            values.append(type_ - 8)
            length = 0
        elif type_ == 7:
            import struct

            if len(payload) < at + 8:
                raise ValueError("cut short")
            values.append(struct.unpack(">d", payload[at : at + 8])[0])
            length = 8
        else:
            length = (0, 1, 2, 3, 4, 6, 8)[type_]
            data = payload[at : at + length]
            if len(data) < length:
                raise ValueError("cut short")
            values.append(int.from_bytes(data, signed=True) if length else None)
        at += length
    return values


# -- rows of ours


NONE = type(None)


def _is(value: Any, *types: type) -> bool:
    return isinstance(value, types)


def _kind_of(r: Record) -> int:
    """Which table a record belongs to by its shape: USER, CONVERSATION, BRANCH, EVENT, MEMORY, or 0."""
    v = r.values
    if (
        r.is_table
        and len(v) == 13
        and _is(v[1], int)
        and _is(v[2], str)
        and v[3] in MEMORY_KINDS
        and _is(v[8], str, NONE)
    ):
        return PLAIN_MEMORY if _is(v[4], str) and _is(v[5], int, float) and _is(v[7], int, NONE) else 0
    if (
        r.is_table
        and len(v) == MEMORY
        and _is(v[1], int)
        and _is(v[2], str)
        and _is(v[3], str)
        and v[4] in MEMORY_KINDS
    ):
        return MEMORY if _is(v[6], int, NONE) and _is(v[7], str, NONE) and _is(v[14], int) else 0
    if r.is_table and len(v) == CHANGE and all(_is(x, int) for x in v[1:4]) and v[5] in MEMORY_STATES:
        return CHANGE if v[7] in MEMORY_KINDS and _is(v[8], int, float) and _is(v[31], int) else 0
    if r.is_table and len(v) == EVENT and v[5] in KINDS and all(_is(x, int) for x in v[1:5]) and _is(v[7], str):
        return EVENT
    if (
        r.is_table
        and len(v) in (CONVERSATION - 1, CONVERSATION)
        and _is(v[1], int)
        and _is(v[2], str)
        and _is(v[7], int)
    ):
        return CONVERSATION
    if r.is_table and len(v) == USER and v[0] is None and _is(v[1], str) and _is(v[2], int) and _is(v[3], int):
        return USER
    if not r.is_table and len(v) == BRANCH and all(_is(x, int) for x in v[:3]) and _is(v[3], str) and _is(v[5], int):
        return BRANCH
    return 0


class _Plan:
    """What the first pass over the pages found."""

    def __init__(self) -> None:
        self.users: dict[int, tuple[str, int]] = {}
        self.conversations: dict[tuple[int, int], list[Any]] = {}
        self.branches: dict[tuple[int, int], dict[int, list[Any]]] = {}
        self.seqs: dict[tuple[int, int], dict[int, int]] = {}
        """(user, conversation) -> event number -> branch."""
        self.memories: dict[tuple[int, str], tuple[int, list[Any]]] = {}
        """(user, id) -> number, row."""
        self.changes: dict[tuple[int, int], dict[int, list[Any]]] = {}
        """(user, memory's number) -> change's number -> row."""
        self.doubtful: set[tuple[int, int, int]] = set()
        """Events whose checksum does not fit, where no sound one has the number they claim."""

    def last_seq(self, at: tuple[int, int]) -> int:
        """How far the numbers of a conversation go. A counter far beyond every event there is was hit itself."""
        newest = max(self.seqs.get(at, {}), default=0)
        row = self.conversations.get(at)
        return max(newest, row[7]) if row and 0 <= row[7] <= newest + 100_000 else newest


def _is_sound(v: list[Any]) -> bool:
    try:
        return bool(events.checksum(events.content_crc(v[5:]), v[2], v[3], v[4], v[14]) == v[24])
    except TypeError:
        return False


def salvage(damaged: Path, out: Path, progress: Progress | None = None, *, key: Key | None = None) -> Salvage:
    """Save every readable row of a damaged store into a new one at `out`, with the `key` of the old one if it has one."""
    if not damaged.exists():
        raise NotFound(f"There is no file {damaged}.")
    if out.exists():
        raise AlreadyExists(f"{out} exists already; choose another name.")
    pages = Pages(damaged, key)
    try:
        plan = _survey(pages, progress)
        db = SQLite(str(out), busy_timeout_ms=10_000, key=key)
        try:
            return _rebuild(pages, plan, db, out, progress)
        finally:
            db.close()
    finally:
        pages.close()


def _survey(pages: Pages, progress: Progress | None) -> _Plan:
    plan = _Plan()
    suspects: list[tuple[int, int, int, int]] = []
    for number in range(1, pages.count + 1):
        if progress and number % 256 == 0:
            progress("looking", number, pages.count)
        for r in records(pages, number):
            v = r.values
            match _kind_of(r):
                case 4:
                    plan.users[r.rowid] = (v[1], v[3])
                case 14:
                    plan.conversations[v[1], r.rowid] = v
                case -13:
                    _, user, id, kind, content, importance, tags, c, workspace, source, pinned_at, created, updated = v
                    plan.memories[user, id] = (
                        r.rowid, [None, user, id, content, kind, tags, c, workspace, "", "", None, None, 0, None, created]
                    )  # fmt: skip
                    was: dict[str, Any] = dict.fromkeys(views.NAMES.split(", "))
                    was |= {
                        "user_no": user, "memory": r.rowid, "change": 0, "action": "added", "state": "active", "kind": kind,
                        "importance": importance, "tags": tags, "pinned_at": pinned_at, "by_hand": created, "role": "user",
                        "source": source, "extractor": "hand", "valid_from": created, "who": "user", "at": updated,
                    }  # fmt: skip
                    plan.changes.setdefault((user, r.rowid), {})[0] = [0, *list(was.values())[1:]]
                case 15:
                    plan.memories[v[1], v[2]] = r.rowid, v
                case 33:
                    plan.changes.setdefault((v[1], v[2]), {})[r.rowid] = [r.rowid, *v[1:]]
                case 8:
                    plan.branches.setdefault((v[0], v[1]), {})[v[2]] = v
                case 25 if _is_sound(v):
                    plan.seqs.setdefault((v[1], v[2]), {})[v[4]] = v[3]
                case 25:
                    suspects.append((v[1], v[2], v[4], v[3]))
    for user, conversation, seq, branch in suspects:
        at = user, conversation
        seqs, known = plan.seqs.get(at), plan.branches.get(at, {})
        if seqs is not None and seq not in seqs and 0 < seq <= plan.last_seq(at) and (branch in known or branch == 0):
            plan.doubtful.add((*at, seq))
            seqs[seq] = branch
    return plan


def _rebuild(pages: Pages, plan: _Plan, db: SQLite, out: Path, progress: Progress | None) -> Salvage:
    everyone = {user for user, _ in [*plan.conversations, *plan.seqs, *plan.memories]}
    names = {user: _name(plan.users.get(user, ("", 0))[0], f"salvaged-user-{user}") for user in everyone}
    places: dict[tuple[int, int], int] = {}
    missing = 0
    for user, conversation in sorted({*plan.conversations, *plan.seqs}):
        no, gone = db.write(names[user], partial(_make_place, plan=plan, at=(user, conversation)))
        places[user, conversation] = no
        missing += gone
    saved = damaged = 0
    waiting: dict[int, list[list[Any]]] = {}
    done: set[tuple[int, int, int]] = set()

    def flush(user: int) -> None:
        rows = waiting.pop(user, [])
        if rows:
            db.write(names[user], lambda tx: _put(tx, rows))

    for number in range(1, pages.count + 1):
        if progress and number % 256 == 0:
            progress("saving", number, pages.count)
        for r in records(pages, number):
            if _kind_of(r) != EVENT:
                continue
            v = r.values
            user, conversation, _ = place = v[1], v[2], v[4]
            sound = _is_sound(v)
            if place in done or not (sound or place in plan.doubtful) or (sound and place in plan.doubtful):
                continue
            done.add(place)
            row = [*v[3:]]
            if not sound:
                damaged += 1
                row = _mark(row)
            no = places[user, conversation]
            row[-1] = events.checksum(events.content_crc(row[2:]), no, row[0], row[1], row[11])
            waiting.setdefault(user, []).append([no, *row])
            saved += 1
            if len(waiting[user]) >= BATCH:
                flush(user)
    for user in list(waiting):
        flush(user)
    for (user, _), no in places.items():
        db.write(names[user], partial(_settle, no=no))
    remembered = 0
    for user in everyone:
        own = [m for m in plan.memories.values() if m[1][1] == user and (m[1][6] is None or (user, m[1][6]) in places)]
        if own:
            db.write(names[user], partial(_remember, rows=own, plan=plan, places=places))
        remembered += len(own)
    if progress:
        progress("saving", pages.count, pages.count)
    return Salvage(out, len(names), len(places), saved, damaged, missing, remembered)


def _settle(tx: Tx, no: int) -> None:
    """What was found is all there is: summaries point at it, and it was considered for memories once."""
    branches.renew_summaries(tx, no)
    last = tx.all("select last_seq from conversations where user_no = :user and no = :c", c=no)[0][0]
    tx.many(
        "insert into considered (user_no, conversation_no, branch_no, upto) values (:user_no, :c, :b, :upto)",
        [(tx.user, no, branch, last) for branch in branches.tree(tx, no)],
    )


def _remember(tx: Tx, rows: list[tuple[int, list[Any]]], plan: _Plan, places: dict[tuple[int, int], int]) -> None:
    """Memories with what is left of their history, in the order in which it happened. One whose history is lost is active."""
    made: list[int] = []
    for tick, (was, v) in zip(tx.ticks(len(rows)), rows, strict=True):
        content, tags = str(v[3]).replace("\0", "�"), v[5] if _is(v[5], str) and _is_list(v[5]) else None
        no = None if v[6] is None else places[v[1], v[6]]
        created = v[14] if _is(v[14], int) else 0
        tx.run(
            "insert into memories (id, user_no, memory_id, content, kind, tags, conversation_no, workspace, namespace, state,"
            " uses, created_at) values (:tick, :user, :id, :content, :kind, :tags, :c, :workspace, :namespace, 'hidden', :uses,"
            " :created)",
            tick=tick, id=v[2], content=content, kind=v[4], tags=tags, c=no, workspace=v[7],
            namespace=memories.namespace(no, v[7]), uses=v[12] if _is(v[12], int) else 0, created=created,
        )  # fmt: skip
        history = [plan.changes[v[1], was][id] for id in sorted(plan.changes.get((v[1], was), ()))]
        new = dict(zip(sorted(plan.changes.get((v[1], was), ())), tx.ticks(len(history)), strict=True))
        found = [_change(tx, old, new, tick, places) for old in history]
        if not found:
            unknown: dict[str, Any] = dict.fromkeys(views.NAMES.split(", "))
            unknown |= {
                "id": tx.ticks(1)[0], "user_no": tx.user, "memory": tick, "change": tick, "action": "added", "state": "active",
                "kind": v[4], "importance": 0.5, "tags": tags, "extractor": "salvage", "who": "salvage", "at": created,
                "why": "its history was lost",
            }  # fmt: skip
            found = [views.Change(**unknown)]
        tx.many(views.INSERT, [change.values for change in found])
        made.append(tick)
    edits.refresh(tx, made)


def _change(tx: Tx, v: list[Any], new: dict[int, int], memory: int, places: dict[tuple[int, int], int]) -> views.Change:
    was = views.Change(*v)
    user = v[1]
    ids_ = list(new.values())
    at = new.get(was.id, ids_[0]) if was.id is not None else ids_[0]
    place = places.get((user, was.conversation_no)) if was.conversation_no is not None else None
    source = places.get((user, was.source_no)) if was.source_no is not None else None
    here: dict[str, Any] = {} if place is not None else {"branch_no": None, "seq": None}
    tags = was.tags if was.tags is not None and _is(was.tags, str) and _is_list(was.tags) else None
    return was.but(
        id=at, user_no=tx.user, memory=memory, change=at, conversation_no=place, source_no=source, tags=tags,
        prior=new.get(was.prior) if was.prior is not None else None, importance=min(max(float(was.importance), 0.0), 1.0),
        **here,
    )  # fmt: skip


def _is_list(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return isinstance(json.loads(text), list)
    return False


def _make_place(tx: Tx, plan: _Plan, at: tuple[int, int]) -> tuple[int, int]:
    """A conversation with its branches and tombstones. Returns its number and how many event numbers are missing."""
    row = plan.conversations.get(at)
    seqs = plan.seqs.get(at, {})
    now = ids.now()
    id = _name(row[2] if row else "", f"salvaged-{at[1]}")
    last_seq = plan.last_seq(at)
    taken = tx.one("select 1 from conversations where user_no = :user and id = :id", id=id)
    if taken or not id:
        id = f"salvaged-{at[1]}-{ids.new()}"
    title, workspace, workflow, metadata = row[3:7] if row else ("Salvaged conversation", None, None, "{}")
    title, workspace = (None if not isinstance(text, str) or "\0" in text else text for text in (title, workspace))
    no = tx.all(
        "insert into conversations (user_no, id, title, workspace, workflow_id, metadata, last_seq, active_branch, activity,"
        " created_at, updated_at, deleted_at) values (:user, :id, :title, :workspace, :workflow, :metadata, :last, 0,"
        " :activity, :created, :updated, :deleted) returning no",
        id=id, title=title, workspace=workspace, workflow=workflow, metadata=_json(metadata), last=last_seq,
        activity=tx.ticks(1)[0], created=row[10] if row else now, updated=row[11] if row else now,
        deleted=row[12] if row else None,
    )[0][0]  # fmt: skip
    if title is not None:
        index.retitle(tx, int(no), workspace, None, title)
    found = plan.branches.get(at, {})
    for branch in sorted({0, *found, *seqs.values()}):
        b = found.get(branch)
        first = min([seq for seq, owner in seqs.items() if owner == branch], default=1)
        parent = None if branch == 0 else b[4] if b and _is(b[4], int) and b[4] < branch else 0
        tx.run(
            "insert into branches (user_no, conversation_no, no, name, parent, fork_seq, created_at)"
            " values (:user, :c, :no, :name, :parent, :fork, :now)",
            c=no, no=branch, name=MAIN if branch == 0 else _name(b[3] if b else "", f"salvaged-{branch}"), parent=parent,
            fork=0 if branch == 0 else min(b[5], last_seq) if b else first - 1, now=now,
        )  # fmt: skip
        if row and row[8] == branch and branch:
            tx.run("update conversations set active_branch = :b where user_no = :user and no = :c", b=branch, c=no)
    missing = [seq for seq in range(1, last_seq + 1) if seq not in seqs]
    conversations.bury(tx, Found(no, id, last_seq, 0), missing, now)
    return int(no), len(missing)


def _name(read: str, otherwise: str) -> str:
    """A name as it was read, if it is one that a verb accepts."""
    try:
        return ids.check(read, "name")
    except InvalidInput:
        return otherwise


def _put(tx: Tx, rows: list[list[Any]]) -> None:
    ticks = tx.ticks(len(rows))
    tx.many(events.INSERT, [(tick, tx.user, *row) for tick, row in zip(ticks, rows, strict=True)])
    entries = []
    for tick, row in zip(ticks, rows, strict=True):
        terms = events.terms(row[3:])
        if terms is not None:
            workspace = tx.all("select workspace from conversations where user_no = :user and no = :c", c=row[0])[0][0]
            entries.append(index.entry(tick, row[0], workspace, terms))
    index.add(tx, entries)


_TEXTS = frozenset([*range(9), 10, 11, 12])  # of an event's columns from `kind` on
_COUNTS = frozenset([9, 13, 14, 16, 18])


def _mark(row: list[Any]) -> list[Any]:
    """A row that is not what was written: readable, so kept, and tagged. branch_no, seq come before the columns."""
    columns = row[2:-1]
    tags: list[str] = []
    with contextlib.suppress(ValueError):
        tags = [str(t) for t in json.loads(columns[10] or "[]")]
    columns[10] = json.dumps([*tags, "damaged"], ensure_ascii=False)
    columns[11] = _json(columns[11]) if columns[11] is not None else None
    columns = [c.decode("utf-8", "replace") if _is(c, bytes) else c for c in columns]
    columns = [c.replace("\0", "�") if _is(c, str) else c for c in columns]
    # A number where a text was, or the other way round: the database would store another form of it than was summed up.
    columns = [str(c) if i in _TEXTS and c is not None else c for i, c in enumerate(columns)]
    columns = [c if i not in _COUNTS or _is(c, int) else None for i, c in enumerate(columns)]
    columns[15] = float(columns[15]) if _is(columns[15], int, float) else None
    columns[17] = None  # its key may be another's by now
    columns[18] = columns[18] or 0
    return [*row[:2], *columns, 0]


def _json(text: Any) -> str:
    try:
        return text if isinstance(json.loads(text), dict) else "{}"
    except (ValueError, TypeError):
        return json.dumps({"damaged": str(text)})
