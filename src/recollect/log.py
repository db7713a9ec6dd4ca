"""The log: a conversation is one ordered, append-only sequence of events, numbered 1, 2, 3, ... by one counter.

An event is made ready in the caller's thread (`events.prepare`), then written by `append` in one transaction together with
the counter, the title and the work it causes. Nothing is ever changed in place; what is deleted leaves a tombstone, so
every number up to `last_seq` is accounted for. Reading walks the branch's lineage, one index range per ancestor.
"""

from __future__ import annotations

from zlib import crc32

from . import branches, conversations, erased, events
from .branches import EVERY, NO_LIMIT
from .conversations import Found, find
from .errors import InvalidInput, NotFound
from .events import COLUMNS, FEW, INSERT, INSERT_PLAIN, checksum, content_crc, entries, load
from .model import MAIN, Branch, Event, LedgerEntry
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .branches import Lineage
    from .db import Row, Tx
    from .events import Draft
    from .model import Hit


# -- writing


def append(
    tx: Tx, conversation: str | Found, drafts: Sequence[Draft], branch: str | Branch | None, *, outside: bool = False,
    strict: bool = False,
) -> tuple[Found, int, list[Event]]:  # fmt: skip
    """Write drafts at the end of a branch. Returns the conversation, the branch's number, and an event for each draft. The
    conversation is an id, or one that this transaction has found and locked. `outside`: index also those that name a path
    outside the workspace. `strict`: refuse a message in the place of what is no message here. (A graph goes on with its
    own state whatever was deleted from the log: it is not to fail for that.)"""
    found = find(tx, conversation, lock=True) if isinstance(conversation, str) else conversation
    b = branches.number(tx, found, branch)
    name = branches.tree(tx, found.no)[b][0] if b else MAIN
    events = [draft[0] for draft in drafts]
    new = drafts
    if any(event.key is not None for event in events):
        # The same key is one event, whether it is there already or stands twice in one batch.
        known = _known(tx, found, b, name, events)
        erased.refuse_keys(tx, found.id, [e.key for e in events if e.key is not None and e.key not in known])
        new = [d for d in drafts if d[0].key is None or known.setdefault(d[0].key, d[0]) is d[0]]
        events = [e if e.key is None else known[e.key] for e in events]
    if new:
        _insert(tx, found, b, name, new, outside, strict)
    return found, b, events


def _known(tx: Tx, found: Found, branch: int, name: str, events: Iterable[Event]) -> dict[str, Event]:
    """The events that are there already, by idempotency key."""
    known: dict[str, Event] = {}
    for event in events:
        if event.key is not None:
            row = tx.one(
                f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
                " and key = :key",
                c=found.no, b=branch, key=event.key,
            )  # fmt: skip
            if row is not None:
                known[event.key] = load(found.id, row, {branch: name})
    return known


def keyed(tx: Tx, key: str) -> list[tuple[str, int]]:
    """(conversation, number) of the events that were written with this key, in any conversation: one seek for each branch."""
    rows = tx.all(
        "select distinct c.id, e.seq from conversations c join branches b on b.user_no = c.user_no and b.conversation_no = c.no"
        " join events e on e.user_no = b.user_no and e.conversation_no = b.conversation_no and e.branch_no = b.no"
        " and e.key = :key where c.user_no = :user and c.deleted_at is null order by c.id, e.seq limit 9",
        key=key,
    )
    return [(row[0], row[1]) for row in rows]


def payloads(tx: Tx, hits: Sequence[Hit]) -> dict[str, Mapping[str, Any]]:
    """What else belongs to events that were found, by their ids."""
    told: dict[str, Mapping[str, Any]] = {}
    for hit in hits:
        if hit.type == "event" and hit.conversation_id is not None and hit.seq is not None:
            try:
                found = find(tx, hit.conversation_id)
            except NotFound:
                continue  # deleted since
            place = [(branches.number(tx, found, hit.branch), hit.seq)]
            told |= {e.id: e.payload for e in walk(tx, found, place, after=hit.seq - 1)}
    return told


def _insert(tx: Tx, found: Found, branch: int, name: str, new: Sequence[Draft], outside: bool, strict: bool) -> None:
    ticks = iter(tx.ticks(len(new) + sum([draft[4] is not None for draft in new])))
    no, user, seq, title, workspace = found.no, tx.user, found.last_seq, found.title, found.workspace
    place, scope = b"%d:%d:" % (no, branch), index.place(no, workspace)
    tick = 0
    rows: list[Row] = []
    plain: list[Row] = []
    entries: list[Row] = []
    for event, crc, found_by, columns, trace in new:
        seq += 1
        tick = next(ticks)
        values = event.__dict__
        values["branch"] = name
        values["seq"] = seq
        if title is None and values["kind"] == "message" and values["role"] != "assistant":
            title = conversations.title_from(values["text"])
        if columns is None:
            # As `checksum` has it.
            crc = crc32(b"%b%d:0" % (place, seq), crc)
            plain.append((tick, seq, values["role"], values["text"], values["created_at"], crc))
            if found_by is not None:
                entries.append((tick, found_by[0], found_by[1] + scope, *found_by[2:]))
            continue
        values["conversation_id"] = found.id
        about = columns[9]
        if about is not None and about >= seq:
            raise InvalidInput(f"message={about}: conversation {found.id!r} has no event {about} yet.")
        if strict and about is not None and columns[0] == "message":
            values["message"] = about = _place(tx, found, branch, new, event, about)
            columns = (*columns[:9], about, *columns[10:])
        elif strict and about is not None and columns[0] == "reasoning":
            _is_thought_about(tx, found, branch, new, event, about)
        rows.append((tick, user, no, branch, seq, *columns, checksum(crc, no, branch, seq, about)))
        if found_by is not None and (outside or not index.is_outside(columns[5], workspace)):
            entries.append((tick, found_by[0], found_by[1] + scope, *found_by[2:]))
        if trace is not None:
            seq += 1
            tick = next(ticks)
            _, crc, _, columns, _ = trace
            rows.append(
                (
                    tick,
                    user,
                    no,
                    branch,
                    seq,
                    *columns[:9],
                    seq - 1,
                    *columns[10:],
                    checksum(crc, no, branch, seq, seq - 1),
                )
            )
    if len(plain) > FEW:
        tx.many(INSERT_PLAIN, plain, same=(user, no, branch))
    elif plain:
        tx.put_off(INSERT_PLAIN, [(user, no, branch, *row) for row in plain])
    if rows:
        tx.put_off(INSERT, rows)
    index.add(tx, entries)
    if title != found.title:
        index.retitle(tx, no, workspace, found.title, title)
        tx.send("update conversations set title = :title where user_no = :user and no = :c", c=no, title=title)
    tx.move_on(found.id, no, seq, tick)


def _place(tx: Tx, found: Found, branch: int, new: Sequence[Draft], event: Event, about: int) -> int:
    """Where a message stands that takes another's place: the number of the first version, whichever of them was named."""
    named: list[Event] = []
    if about <= found.last_seq:
        own = branches.lineage(tx, found.no, branch, about)
        named = walk(tx, found, own, after=about - 1, kinds=("message",), limit=1)
    else:
        for before, *_ in new:  # it came with the same batch
            if before is event:
                break
            if before.seq == about and before.kind == "message":
                named = [before]
    if not named:
        raise InvalidInput(
            f"message={about}: event {about} of conversation {found.id!r} is no message on this branch, so none can take its"
            " place. Name a message that `messages()` shows, or leave message= out."
        )
    return named[0].message or about


def _is_thought_about(tx: Tx, found: Found, branch: int, new: Sequence[Draft], event: Event, about: int) -> None:
    """Refuse a trace of what is there and is no message on this branch. A message that was deleted may still get its trace."""
    kind: str | None = None
    if about <= found.last_seq:
        row = tx.one(
            "select 1 from tombstones where user_no = :user and conversation_no = :c and first_seq <= :n and last_seq >= :n",
            c=found.no, n=about,
        )  # fmt: skip
        own = branches.lineage(tx, found.no, branch, about)
        named = walk(tx, found, own, after=about - 1, limit=1)
        kind = named[0].kind if named else "message" if row is not None else None
    else:
        for before, *_ in new:  # it came with the same batch
            if before is event:
                break
            if before.seq == about:
                kind = before.kind
    if kind != "message":
        raise InvalidInput(
            f"message={about}: event {about} of conversation {found.id!r} is no message on this branch, so it has no reasoning."
            " Name a message, or leave message= out."
        )


def copy(tx: Tx, found: Found, target: str) -> int:
    """A conversation once more, under another id: every event, branch and tombstone. Returns its number."""
    made = tx.one(
        "select title, workspace, workflow_id, metadata, origin from conversations where user_no = :user and no = :c",
        c=found.no,
    )
    assert made is not None
    conversations.create(
        tx, target, title=made[0], workspace=made[1], workflow_id=made[2], metadata=made[3], origin=made[4], again=True
    )
    new = find(tx, target, lock=True)
    tx.run("delete from branches where user_no = :user and conversation_no = :c", c=new.no)
    for table, columns in (
        ("branches", "no, name, parent, fork_seq, summary_seq, created_at"),
        ("tombstones", "first_seq, last_seq, deleted_at"),
    ):
        tx.run(
            f"insert into {table} (user_no, conversation_no, {columns})"
            f" select user_no, cast(:target as bigint), {columns} from {table}"
            " where user_no = :user and conversation_no = :c",
            c=found.no, target=new.no,
        )  # fmt: skip
    for rows in pages(tx, found.no):
        ticks = tx.ticks(len(rows))
        again = []
        for tick, row in zip(ticks, rows, strict=True):
            seq, said, branch = row[1], (*row[2:20], row[21]), row[20]
            crc = checksum(content_crc(said), new.no, branch, seq, said[9])
            again.append((tick, tx.user, new.no, branch, seq, *said, crc))
        tx.many(INSERT, again)
        first, last = min(row[0] for row in rows), max(row[0] for row in rows)
        there = set(tx.indexed_words("words", first - 1, last - first + 1))
        indexed = [(tick, *row[1:]) for tick, row in zip(ticks, rows, strict=True) if row[0] in there]
        index.add(tx, entries(new, indexed))
    tx.run(
        "update conversations set last_seq = :seq, active_branch = :b where user_no = :user and no = :c",
        c=new.no, seq=found.last_seq, b=found.active_branch,
    )  # fmt: skip
    return new.no


def move(tx: Tx, before: Found, after: Found) -> None:
    """A conversation is in another workspace: so are its entries in the index. Its vectors stay."""
    for rows in pages(tx, before.no):
        ids = [row[0] for row in rows]
        there = set(tx.indexed_words("words", min(ids) - 1, max(ids) - min(ids) + 1))
        moved = [row for row in rows if row[0] in there]
        tx.unindex_words("words", events.indexed(tx, before, moved))
        tx.index_words("words", events.indexed(tx, after, moved))


def pages(tx: Tx, conversation: int) -> Iterator[list[Row]]:
    """Every event of a conversation (id, then `COLUMNS`), a page at a time."""
    for branch in branches.tree(tx, conversation):
        after = 0
        while rows := tx.all(
            f"select id, {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and seq > :after order by seq limit 500",
            c=conversation, b=branch, after=after,
        ):  # fmt: skip
            yield rows
            after = rows[-1][1]


# -- reading


def _where(kinds: Sequence[str] | None, names: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    clause = ""
    params: dict[str, str] = {}
    for column, prefix, values in (("kind", "k", kinds), ("name", "n", names)):
        if values is not None:
            marks = {f"{prefix}{i}": value for i, value in enumerate(values)}
            clause += f" and {column} in ({', '.join(':' + m for m in marks)})"
            params |= marks
    return clause, params


def read(
    tx: Tx,
    conversation: str,
    *,
    after: int,
    kinds: Sequence[str] | None,
    names: Sequence[str] | None,
    branch: str | Branch | None,
    limit: int | None,
) -> list[Event]:
    found = find(tx, conversation)
    if branch == EVERY:
        own: Lineage = [(no, NO_LIMIT) for no in branches.tree(tx, found.no)]
    else:
        own = branches.lineage(tx, found.no, branches.number(tx, found, branch))
    events = walk(tx, found, own, after=after, kinds=kinds, names=names, limit=limit)
    return events[:limit] if branch == EVERY and limit is not None else events


def walk(
    tx: Tx,
    found: Found,
    own: Lineage,
    *,
    after: int = 0,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    limit: int | None = None,
    newest: bool = False,
    replacing: bool | None = None,
) -> list[Event]:
    """Events of a lineage in order of their numbers; with `newest`, the last `limit` of them. `replacing` says whether only
    those are meant that stand in another's place, or only the others."""
    if limit == 0 or kinds == () or names == ():
        return []
    clause, params = _where(kinds, names)
    if replacing is not None:
        clause += " and message is not null" if replacing else " and message is null"
    rows: list[Row] = []
    every = len(own) > 1 and own[1][1] == NO_LIMIT
    for b, high in own if newest else reversed(own):
        if high <= after:
            continue
        rows += tx.all(
            f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
            f" and seq > :after and seq <= :high{clause} order by seq {'desc' if newest else 'asc'} limit :limit",
            c=found.no, b=b, after=after, high=high, limit=NO_LIMIT if limit is None else limit - (0 if every else len(rows)),
            **params,
        )  # fmt: skip
        if limit is not None and len(rows) >= limit and not every:
            break
    rows.sort(key=lambda row: row[0])
    called = {0: MAIN} if len(own) == 1 and own[0][0] == 0 else {
        no: name for no, (name, _, _) in branches.tree(tx, found.no).items()
    }  # fmt: skip
    return [load(found.id, row, called) for row in rows]


def messages(
    tx: Tx, conversation: str, *, limit: int | None, include_reasoning: bool, branch: str | Branch | None,
    always_summary: bool = False,
) -> list[Event]:  # fmt: skip
    """The newest messages, oldest first; a summary stands where the messages it covers stood."""
    found = find(tx, conversation)
    b = branches.number(tx, found, branch)
    own = branches.lineage(tx, found.no, b)
    summary = standing_summary(tx, found, b)
    places = standing(tx, found, own, summary, limit)
    live = [versions[-1] for _, versions in places]
    if include_reasoning and live:
        traces: dict[int, list[Event]] = {}
        for trace in walk(tx, found, own, after=places[0][0], kinds=("reasoning",)):
            traces.setdefault(trace.message or 0, []).append(trace)
        for place, versions in places:
            # What led to the newest version; a correction without thoughts of its own leaves those that were there.
            thought = (seq for seq in (*(e.seq for e in reversed(versions)), place) if seq in traces)
            versions[-1].__dict__["traces"] = tuple(traces.get(next(thought, 0), ()))
    if summary is not None and (limit is None or len(live) < limit or (always_summary and limit)):
        live.insert(0, summary)
    return live


def standing(
    tx: Tx, found: Found, own: Lineage, summary: Event | None, limit: int | None
) -> list[tuple[int, list[Event]]]:
    """The newest live messages in the order of their places: the number of the first version, and the versions, oldest first.
    What was corrected after it had been summarized is live again, in front, until the next summary has the new text."""
    through = 0 if summary is None else summary.message or 0
    said = walk(tx, found, own, after=through, kinds=("message",), limit=limit, newest=True, replacing=False)
    places = {e.seq: [e] for e in said}
    corrected: dict[int, list[Event]] = {}
    summarized_at = NO_LIMIT if summary is None or (limit is not None and len(said) >= limit) else summary.seq
    after = min(said[0].seq if said else NO_LIMIT, summarized_at)
    if after < found.last_seq:
        for e in walk(tx, found, own, after=after, kinds=("message",), replacing=True):
            place = e.message or 0
            if place in places:
                places[place].append(e)
            elif place <= through and e.seq > summarized_at:
                corrected.setdefault(place, []).append(e)
    early = sorted(corrected.items())
    if limit is not None:
        early = early[max(0, len(early) - (limit - len(said))) :]
    return [*early, *places.items()]


def standing_summary(tx: Tx, found: Found, branch: int) -> Event | None:
    """The summary in force on a branch; its `message` says up to which number it covers."""
    row = tx.one(
        "select summary_seq from branches where user_no = :user and conversation_no = :c and no = :b",
        c=found.no,
        b=branch,
    )
    if row is None or row[0] is None:
        return None
    own = branches.lineage(tx, found.no, branch, row[0])
    found_summary = walk(tx, found, own, after=row[0] - 1, kinds=("summary",), limit=1)
    return found_summary[0] if found_summary else None


def ledger(tx: Tx, conversation: str, *, at: int | None, branch: str | Branch | None) -> list[LedgerEntry]:
    """The newest snapshot of each task as the lineage stood at an event number, in the order tasks first appeared."""
    found = find(tx, conversation)
    own = branches.lineage(tx, found.no, branches.number(tx, found, branch), NO_LIMIT if at is None else at)
    appeared: dict[str, int] = {}
    newest: dict[str, LedgerEntry] = {}
    for b, high in own:  # the branch itself first: its snapshots are the newer ones
        # Of 100,000 snapshots only the newest of each task are made events of: that was most of the time.
        for *row, first in tx.all(
            f"select {COLUMNS}, appeared from events join (select min(seq) as appeared, max(seq) as newest from events"
            " where user_no = :user and conversation_no = :c and branch_no = :b and kind = 'ledger' and seq <= :high"
            " group by task_id) as of_task on newest = seq"
            " where user_no = :user and conversation_no = :c and branch_no = :b",
            c=found.no, b=b, high=high,
        ):  # fmt: skip
            e = load(found.id, tuple(row), {b: ""})
            task = e.task_id or ""
            appeared[task] = min(first, appeared.get(task, first))
            if task not in newest or newest[task].seq < e.seq:
                newest[task] = LedgerEntry(task, e.text, e.status, e.payload, e.seq, e.created_at, e.agent)
    return sorted(newest.values(), key=lambda entry: appeared[entry.task_id])


def by_key(tx: Tx, conversation: str, key: str, branch: str | Branch | None) -> Event:
    """The event of a lineage that was appended with this key; the newest, should two branches of it have used the key."""
    found = find(tx, conversation)
    names = {no: name for no, (name, _, _) in branches.tree(tx, found.no).items()}
    for b, high in branches.lineage(tx, found.no, branches.number(tx, found, branch)):
        row = tx.one(
            f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b and key = :key"
            " and seq <= :high",
            c=found.no, b=b, key=key, high=high,
        )  # fmt: skip
        if row is not None:
            return load(found.id, row, names)
    raise NotFound(f"Conversation {found.id!r} has no event with the key {key!r} on this branch.")


def reasoning(tx: Tx, conversation: str, *, message: int | None, branch: str | Branch | None) -> list[Event]:
    found = find(tx, conversation)
    own = branches.lineage(tx, found.no, branches.number(tx, found, branch))
    traces = walk(tx, found, own, after=message or 0, kinds=("reasoning",))
    return traces if message is None else [t for t in traces if t.message == message]
