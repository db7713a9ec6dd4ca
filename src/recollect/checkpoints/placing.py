"""A draft takes its place: the row, its pieces and what it says for the first time, in one transaction."""

from __future__ import annotations

from typing import NamedTuple

from .. import branches, conversations, erased, events, ids, jobs
from ..errors import NotFound
from ..model import MAIN
from . import lineage, pieces, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..branches import Lineage
    from ..conversations import Found
    from ..db import Row, Tx
    from .draft import Draft, Item

PRUNE_DELAY_MS = 60_000
FEW = 8
"""So many messages are mostly all new. Of more, most may have been said before."""


def put(tx: Tx, d: Draft, append: Callable[[Tx, Found, list[events.Draft], str], list[int]]) -> Found:
    """Write a checkpoint, the pieces that are not there yet, and the events that its state says for the first time.
    `append` writes events to a branch and returns their numbers. Returns the
    conversation."""
    looked = conversations.looking(tx, d.conversation, tx.for_change)
    about = _Asked(tx, d.known_as, d) if d.known_as else None  # its number is mostly known, and all is asked at once
    found = record.enter(tx, d.conversation, looked, begun_at=d.begun_at)
    if about is None or found.no != d.known_as:
        about = _Asked(tx, found.no, d)
    erased.refuse_checkpoint(tx, d.conversation, d.parent, d.id, any=about.erased)
    pieces.same_secret(tx, found.no, d.secret, d.known_as)
    again, parent, has_child = _self_and_parent(about.rows(), d)
    if d.needs_parent and parent is None:
        raise pieces.Unexpected(found.no, d.secret)
    branch = lineage.branch_of(tx, found, d, again, parent, has_child)
    was = record.was(parent) if parent is not None else {}
    for channel, key in d.lists.items():
        if was.get("values", {}).get(channel) != key:  # rewritten under the same id: what was in it may be swept
            raise pieces.Unexpected(found.no, d.secret)
    values = {}
    for channel, version in d.inherits.items():
        if channel not in was.get("values", ()) or was["head"]["channel_versions"].get(channel) != version:
            raise pieces.Unexpected(found.no, d.secret)
        values[channel] = was["values"][channel]
    values |= {channel: value.plain() for channel, value in d.values.items()}
    about.add()
    said = _say(tx, found, branch, d.items, about, append) if d.items else None
    if said:
        seq = said
    elif said is None and parent is not None and parent[3] == branch and parent[4] == found.last_seq:
        seq = found.last_seq  # nothing was said by anyone meanwhile
    else:
        seq = lineage.head(tx, found.no, branch)
    state = record.pack({"head": d.head, "values": values, "metadata": d.metadata})
    row = (
        d.namespace, d.id, d.parent, branch, seq, d.source, d.step, _nodes(was, d.head), d.run_id, d.created_at or ids.now(), state,
    )  # fmt: skip
    tx.send(
        record.CHECKPOINT,
        c=found.no, ns=row[0], id=row[1], parent=row[2], b=row[3], seq=row[4], source=row[5], step=row[6], node=row[7],
        run=row[8], now=row[9], state=row[10], crc=record.crc(row),
    )  # fmt: skip
    if d.limited:
        jobs.enqueue(tx, "prune", f"{found.no}:0", delay_ms=PRUNE_DELAY_MS)
    record.remember(state, d.head, values)
    return found


class _Asked:
    """What a checkpoint has to know of what is there. Before anything is written, so that it is one round trip."""

    def __init__(self, tx: Tx, no: int, d: Draft) -> None:
        self.erased, self.erased_messages = erased.asking_both(tx, erased.CHECKPOINT, erased.MESSAGE)
        self.rows = tx.blobs(
            f"select {record.COLUMNS}, (select 1 from checkpoints k where k.user_no = :user and k.conversation_no = :c"
            " and k.namespace = :ns and k.parent_id = :parent limit 1) from checkpoints"
            " where user_no = :user and conversation_no = :c and namespace = :ns and checkpoint_id in (:id, :parent)",
            c=no, ns=d.namespace, id=d.id, parent=d.parent or d.id,
        )  # fmt: skip
        self.add = pieces.adding(tx, no, d.values.values(), d.shared)
        if len(d.items) <= FEW:
            tx.expect(sum([1 + (i.draft[4] is not None) for i in d.items]))
        names = sorted({name for i in d.items for name in (i.id, i.also, i.over) if name})
        self.messages: list[Callable[[], list[Row]]] = []
        for start in range(0, len(names), pieces.AT_ONCE[-1]):
            marks = record.marks("m", names[start : start + pieces.AT_ONCE[-1]])
            self.messages.append(
                tx.blobs(
                    "select message_id, branch_no, seq, first_seq, digest from checkpoint_messages where user_no = :user"
                    f" and conversation_no = :c and message_id in ({', '.join(':' + m for m in marks)})",
                    c=no, **marks,
                )
            )  # fmt: skip


def _self_and_parent(rows: Sequence[Row], d: Draft) -> tuple[Row | None, Row | None, bool]:
    """What is stored under a draft's own id and under its parent's, and whether that parent has a child already."""
    found = {row[1]: row[:12] for row in rows}
    has_child = bool(rows and rows[0][12])
    return found.get(d.id), None if d.parent is None else found.get(d.parent), has_child


def _nodes(was: Mapping[str, Any], head: Mapping[str, Any]) -> str | None:
    """Which nodes ran between a checkpoint and its parent: those that have seen something new."""
    before = was.get("head", {}).get("versions_seen", {})
    ran = [name for name, seen in head.get("versions_seen", {}).items() if seen != before.get(name, {})]
    return ", ".join(name for name in ran if name not in ("__interrupt__", "__input__")) or None


# -- the log


def _say(
    tx: Tx,
    found: Found,
    branch: int,
    items: Sequence[Item],
    about: _Asked,
    append: Callable[[Tx, Found, list[events.Draft], str], list[int]],
) -> int | None:
    """Append what is not in the log of this lineage yet. Returns the number of the newest event then: None if there was
    nothing to append, 0 if nothing of it is kept. A message that was changed is appended as its own replacement."""
    known = _known(about, branches.lineage(tx, found.no, branch))
    new: list[tuple[Item, events.Draft, int]] = []
    moved: list[tuple[str, _Known]] = []
    for item in items:
        first, said = known.get(item.id, NOT_KNOWN)[:2]
        if said == item.digest or (item.also and item.also in known):
            continue
        if first and item.is_graphs and _is_users(tx, found.no, first):
            first = 0  # a node has taken the id of a message that is not its own
        draft = item.draft
        of_subgraph = known.get(item.over or "", NOT_KNOWN)
        if not first and of_subgraph.digest == item.digest:
            if draft[0].kind != "message":
                continue  # a tool's result is the same, wherever it stands
            moved.append((item.over or "", of_subgraph))
        known[item.id] = _Known(first, item.digest, 0, branch)
        if first and draft[0].kind in ("message", "event"):
            draft = events.replacing(draft, first)
        new.append((item, draft, first))
    if not new:
        return None
    erased.refuse_messages(tx, found.id, [item.id for item, _, _ in new], any=about.erased_messages)
    name = branches.tree(tx, found.no)[branch][0] if branch else MAIN
    seqs = append(tx, found, [draft for _, draft, _ in new], name)
    tx.many(
        "insert into checkpoint_messages (user_no, conversation_no, message_id, branch_no, seq, first_seq, digest)"
        " values (:user_no, :c, :id, :b, :seq, :first, :digest)",
        [
            (tx.user, found.no, item.id, branch, seq, first or seq, item.digest)
            for (item, _, first), seq in zip(new, seqs, strict=True)
            if seq
        ],
    )
    for id, of_subgraph in moved:
        _give_way(tx, found, id, of_subgraph)
    # What was thought stands behind what was said.
    return max((seq + (draft[4] is not None) for (_, draft, _), seq in zip(new, seqs, strict=True) if seq), default=0)


def _give_way(tx: Tx, found: Found, id: str, known: _Known) -> None:
    """What a subgraph said has reached the graph, as a message: one answer is one event, so that of the subgraph goes. It stays
    where it was changed, pinned, or is part of another branch."""
    if known.first != known.seq:
        return
    if any(p == known.branch and at >= known.seq for _, p, at in branches.tree(tx, found.no).values()):
        return
    if tx.one(
        "select 1 from pins where user_no = :user and conversation_no = :c and seq = :seq", c=found.no, seq=known.seq
    ):
        return
    from .. import removal

    try:
        removal.remove(tx, found, [known.seq])
    except NotFound:
        return  # somebody has deleted it
    tx.run(
        "delete from checkpoint_messages where user_no = :user and conversation_no = :c and message_id = :id"
        " and branch_no = :b and seq = :seq",
        c=found.no, id=id, b=known.branch, seq=known.seq,
    )  # fmt: skip


def _is_users(tx: Tx, no: int, seq: int) -> bool:
    """Whether an event is what the user said."""
    row = tx.one(
        "select e.role from branches b join events e on e.user_no = b.user_no and e.conversation_no = b.conversation_no"
        " and e.branch_no = b.no and e.seq = :seq where b.user_no = :user and b.conversation_no = :c",
        c=no, seq=seq,
    )  # fmt: skip
    return row is not None and row[0] == "user"


class _Known(NamedTuple):
    first: int
    """The event that a message stands for."""
    digest: bytes | None
    """Of what it said last."""
    seq: int
    branch: int
    """The event in which it said so."""


NOT_KNOWN = _Known(0, None, 0, 0)


def _known(about: _Asked, lineage: Lineage) -> dict[str, _Known]:
    """Message id -> what is known of it, as this lineage has it."""
    own = dict(lineage)
    newest: dict[str, _Known] = {}
    for asked in about.messages:
        for id, b, seq, first, said in asked():
            if seq <= own.get(b, -1) and seq > newest.get(id, NOT_KNOWN).seq:
                newest[id] = _Known(first, bytes(said), seq, b)
    return newest
