"""Upkeep: old checkpoints go, what nothing refers to is swept, what is stored is checked, rewritten and copied."""

from __future__ import annotations

from bisect import bisect_left

from .. import branches, conversations, erased, jobs, log
from ..branches import NO_LIMIT
from ..errors import AlreadyExists, Damaged
from . import lineage, pending, pieces, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..branches import Tree
    from ..db import Row, Tx
    from .pending import Write
    from .pieces import Stored, Value
    from .stored import Loaded

SWEEP_DELAY_MS = 2_000


def drop_runs(tx: Tx, runs: Iterable[str]) -> None:
    for run in runs:
        rows = tx.all(
            "delete from checkpoints where user_no = :user and run_id = :run"
            " returning conversation_no, namespace, checkpoint_id",
            run=run,
        )
        _forget(tx, rows)


def _forget(tx: Tx, places: Sequence[Row]) -> None:
    """The writes of checkpoints that are gone go too; what they shared with others is swept by a job."""
    for no, namespace, id in places:
        tx.run(
            "delete from checkpoint_writes where user_no = :user and conversation_no = :c and namespace = :ns"
            " and checkpoint_id = :id",
            c=no, ns=namespace, id=id,
        )  # fmt: skip
    for no in {place[0] for place in places}:
        jobs.enqueue(tx, "sweep", f"{no}:0", delay_ms=SWEEP_DELAY_MS)


def prune(tx: Tx, conversation: str, *, keep: int, before: int | None = None) -> int:
    """Leave the newest `keep` checkpoints of every namespace on every branch, and those not older than `before`. Whatever a
    branch goes on from stays, in its subgraphs too, and so does what a channel that is stored as changes needs above it. A call
    of a subgraph goes with the checkpoint that it was made from. Returns how many went."""
    found = record.there(tx, conversation, lock=True)
    if found is None:
        return 0
    rows = {
        (row[0], row[1]): row
        for row in tx.all(
            f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c order by checkpoint_id desc",
            c=found.no,
        )
    }
    kept: set[tuple[str, str]] = set()
    calls: set[tuple[str, str]] = set()
    counted: dict[tuple[str, int], int] = {}
    for place, row in rows.items():
        n = counted[row[0], row[3]] = counted.get((row[0], row[3]), 0) + 1
        if before is not None and row[9] >= before:
            kept.add(place)
        elif n <= keep:
            (calls if CALL in row[0] else kept).add(place)
    if keep:
        known = branches.tree(tx, found.no)
        for branch in known:
            goes_on = lineage.newest_id(tx, found.no, "", branches.climb(known, branch))
            if goes_on is not None:
                kept.add(("", goes_on))
        found_by_forks = _inherited(rows, _forks(rows, known, kept))
        calls |= {place for place in found_by_forks if CALL in place[0]}
        still = {place for place in calls if (root := _made_from(rows[place])) is None or root in kept}
        kept |= still | (found_by_forks - calls)
    for place in list(kept):
        kept |= _needed(rows, place)
    gone = [(found.no, *place) for place in rows if place not in kept]
    tx.many(
        "delete from checkpoints where user_no = :user_no and conversation_no = :c and namespace = :ns and checkpoint_id = :id",
        [(tx.user, *place) for place in gone],
    )
    _forget(tx, gone)
    orphans = [rows[place] for place in kept if rows[place][2] is not None and (place[0], rows[place][2]) not in kept]
    tx.many(
        "update checkpoints set parent_id = null, checksum = :crc where user_no = :user_no and conversation_no = :c"
        " and namespace = :ns and checkpoint_id = :id",
        [(record.crc((*row[:2], None, *row[3:11])), tx.user, found.no, row[0], row[1]) for row in orphans],
    )
    return len(gone)


CALL = ":"
"""In the namespace of one call of a subgraph, before the task that made it; a subgraph that remembers has none."""


def _made_from(row: Row) -> tuple[str, str] | None:
    """The checkpoint of the graph itself that a call of a subgraph was made from; None where it does not say."""
    metadata = record.unpack(row)["metadata"]
    parents = metadata.get("parents") if isinstance(metadata, dict) else None
    root = parents.get("") if isinstance(parents, dict) else None
    return ("", root) if isinstance(root, str) else None


def _forks(
    rows: Mapping[tuple[str, str], Row], known: Tree, kept: Iterable[tuple[str, str]]
) -> dict[int, list[int]]:  # fmt: skip
    """Branch -> at which event numbers it is cut off for another: for those that were forked from it, and for those that may
    be, at a checkpoint of the graph itself that is kept."""
    seen = {(branch, NO_LIMIT) for branch in known} | {
        (rows[place][3], rows[place][4]) for place in kept if not place[0]
    }
    cut: dict[int, set[int]] = {}
    for branch, at in seen:
        for ancestor, high in branches.climb(known, branch, at):
            if high != NO_LIMIT:
                cut.setdefault(ancestor, set()).add(high)
    return {branch: sorted(highs) for branch, highs in cut.items()}


def _inherited(rows: Mapping[tuple[str, str], Row], forks: Mapping[int, list[int]]) -> set[tuple[str, str]]:
    """What `lineage.newest` finds in subgraphs below these forks. One that remembers is found there by whoever goes on from a
    fork. The rows come newest first: each is found from its own number up to that of the next newer one."""
    found: set[tuple[str, str]] = set()
    newer: dict[tuple[str, int], int] = {}
    for place, (namespace, _, _, branch, seq, source, *_) in rows.items():
        below = newer.get((namespace, branch), NO_LIMIT)
        if not namespace or source == "input" or seq >= below:
            continue
        newer[namespace, branch] = seq
        highs = forks.get(branch, [])
        first = bisect_left(highs, seq)
        if first < len(highs) and highs[first] < below:
            found.add(place)
    return found


def _needed(rows: Mapping[tuple[str, str], Row], place: tuple[str, str]) -> set[tuple[str, str]]:
    """The checkpoints above one that hold what its delta channels are made of, up to a stored value of each."""
    state = record.unpack(rows[place])
    counters = state["metadata"].get("counters_since_delta_snapshot") if isinstance(state["metadata"], dict) else None
    left = {channel for channel in counters or () if channel not in state["values"]}
    needed: set[tuple[str, str]] = set()
    while left:
        parent = rows[place][2]
        place = (place[0], parent or "")
        if parent is None or place not in rows or place in needed:
            break
        needed.add(place)
        left -= record.unpack(rows[place])["values"].keys()
    return needed


def sweep(tx: Tx, no: int) -> int:
    """Delete the pieces that nothing refers to any more. Returns how many."""
    row = tx.one("select no from conversations where user_no = :user and no = :c" + tx.for_update, c=no)
    if row is None:
        return 0
    inner: dict[bytes, list[bytes]] = {}
    every: set[bytes] = set()
    for key, type, data in tx.all(
        "select key, type, case when type in ('=list', '=group') then data end from checkpoint_pieces"
        " where user_no = :user and conversation_no = :c",
        c=no,
    ):
        every.add(bytes(key))
        if type in (pieces.LIST, pieces.GROUP):
            inner[bytes(key)] = pieces.keys_in(data)
    todo: list[bytes] = [b""]
    for row in tx.all(f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c", c=no):
        todo += [bytes.fromhex(v) for v in record.unpack(row)["values"].values() if isinstance(v, str)]
    for (data,) in tx.all(
        "select data from checkpoint_writes where user_no = :user and conversation_no = :c and type = '=list'", c=no
    ):
        todo += pieces.keys_in(data)
    reached: set[bytes] = set()
    while todo:
        key = todo.pop()
        if key not in reached:
            reached.add(key)
            todo += inner.get(key, ())
    gone = every - reached
    tx.many(
        "delete from checkpoint_pieces where user_no = :user_no and conversation_no = :c and key = :key",
        [(tx.user, no, key) for key in gone],
    )
    return len(gone)


def check(tx: Tx, no: int) -> list[str]:
    """What is wrong with the state of a conversation. Encrypted values are not looked into."""
    wrong: list[str] = []
    asked: dict[bytes, str] = {}
    sealed = pieces.secret(tx, no)
    for row in tx.all(f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c", c=no):
        try:
            state = record.unpack(row)
            asked |= {bytes.fromhex(v): row[1] for v in state["values"].values() if isinstance(v, str)}
            for task, _, type, data in pending.since(tx, no, row[0], [row[1]])[row[1]]:
                asked |= dict.fromkeys(pieces.keys_in(data) if type == pieces.LIST else (), f"{row[1]}, task {task}")
        except Damaged:
            wrong.append(f"checkpoint {row[1]} or what was written since is not what was written")
    if asked and sealed is None:
        return [*wrong, "the key of its graph's state is missing"]
    there: set[bytes] = set()
    after = b""
    while page := tx.all(
        "select key, type, data from checkpoint_pieces where user_no = :user and conversation_no = :c and key > :after"
        " order by key limit :page",
        c=no, after=after, page=500,
    ):  # fmt: skip
        for key, type, data in page:
            key = bytes(key)
            there.add(key)
            if not _is_sound(sealed, key, type, data):
                wrong.append(f"a value of its graph's state ({key.hex()}) is not what was written")
            elif type in (pieces.LIST, pieces.GROUP):
                asked |= dict.fromkeys(pieces.keys_in(data), key.hex())
        after = bytes(page[-1][0])
    wrong += [f"a value of its graph's state is missing ({asked[key]})" for key in asked if key not in there]
    return wrong


def _is_sound(sealed: Stored | None, key: bytes, type: str, data: bytes) -> bool:
    if sealed is None or sealed[0] != "bytes" or "+" in type:
        return True
    try:
        if type == pieces.CHUNK:
            return pieces.unchunked(key, data)[0] > 0
        return pieces.digest(sealed[1], type, data) == key
    except Damaged:
        return False


def rewrite(
    tx: Tx, loaded: Loaded, values: Mapping[str, Value], metadata: Any, writes: Mapping[int, Write]
) -> None:  # fmt: skip
    """Put other values in the place of some of a checkpoint's, and of some of what was written since (by its place among
    `loaded.writes`); what is not referred to any more is swept by a job."""
    # Nothing that is found here may be swept before it is referred to.
    tx.one("select no from conversations where user_no = :user and no = :c" + tx.for_update, c=loaded.no)
    row = record.find(tx, loaded.no, loaded.namespace, loaded.id)
    if row is None:
        return  # deleted meanwhile
    state = record.unpack(row)
    state["values"] |= {channel: value.plain() for channel, value in values.items()}
    state["metadata"] = metadata
    pieces.adding(tx, loaded.no, [*values.values(), *(w.value for w in writes.values())], frozenset())()
    packed = record.pack(state)
    tx.run(
        "update checkpoints set state = :state, checksum = :crc where user_no = :user and conversation_no = :c"
        " and namespace = :ns and checkpoint_id = :id",
        c=loaded.no, ns=loaded.namespace, id=loaded.id, state=packed, crc=record.crc((*row[:10], packed)),
    )  # fmt: skip
    rows = tx.all(
        "select task_id, idx, task_path, channel, type, data from checkpoint_writes where user_no = :user"
        " and conversation_no = :c and namespace = :ns and checkpoint_id = :id",
        c=loaded.no, ns=loaded.namespace, id=loaded.id,
    )  # fmt: skip
    for i, write in writes.items():
        for task, idx, path, channel, type, data in rows:
            if (task, channel, type, bytes(data)) == loaded.writes[i]:  # others may have come or gone since it was read
                again = (loaded.namespace, loaded.id, task, idx, path, channel, *write.stored)
                tx.many(pending.WRITE + pending.AGAIN, [(tx.user, loaded.no, *again, record.crc(again))])
    jobs.enqueue(tx, "sweep", f"{loaded.no}:0")


def copy(tx: Tx, source: str, target: str) -> None:
    """A conversation with its log and its state once more, under another id. One of that id that was erased begins anew."""
    found = conversations.find(tx, source, lock=True)
    row = tx.one("select no, last_seq from conversations where user_no = :user and id = :id", id=target)
    if row is not None:
        raise AlreadyExists(f"There already is a conversation {target!r}: erase it first, or copy to another id.")
    no = log.copy(tx, found, target)
    for table, columns in (
        ("checkpoints", record.COLUMNS),
        ("checkpoint_writes", "namespace, checkpoint_id, task_id, idx, task_path, channel, type, data, checksum"),
        ("checkpoint_pieces", "key, type, data"),
        ("checkpoint_messages", "message_id, branch_no, seq, first_seq, digest"),
    ):
        tx.run(
            f"insert into {table} (user_no, conversation_no, {columns})"
            f" select user_no, cast(:target as bigint), {columns} from {table}"
            " where user_no = :user and conversation_no = :c",
            c=found.no, target=no,
        )  # fmt: skip
    if erased.has_any(tx, erased.CHECKPOINT):  # a copy that was erased had the same: this one is to be gone on from
        for (id,) in tx.all(
            "select checkpoint_id from checkpoints where user_no = :user and conversation_no = :c", c=no
        ):
            erased.forgive(tx, erased.CHECKPOINT, f"{target}\0{id}")
