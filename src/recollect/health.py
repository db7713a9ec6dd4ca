"""How the store is: what is in it (`stats`), and whether it is what was written (`verify`)."""

from __future__ import annotations

from functools import partial

from . import ids, items, jobs, views
from .branches import climb, newest_summary
from .checkpoints import upkeep
from .conversations import load_metadata
from .errors import Damaged
from .events import COLUMNS, checksum, content_crc
from .model import Problem, StatRow, Stats, Verification
from .search.tokens import term_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .db import Database, Row, Tx
    from .model import Progress

GROUPS = ("day", "kind", "tool", "agent", "model", "workspace")
PAGE = 500


def stats(db: Database, user: str, by: str | None, since: int | None) -> Stats:
    size, schema = db.size(), db.schema()
    after = -1 if since is None else since - 1

    def read(tx: Tx) -> Stats:
        alive, deleted = tx.all(
            "select count(*) - count(deleted_at), count(deleted_at) from conversations where user_no = :user"
        )[0]
        branches = tx.all("select count(*) from branches where user_no = :user")[0][0]
        events, messages, first_at, last_at = tx.all(
            "select count(*), coalesce(sum(case when kind = 'message' then 1 else 0 end), 0), min(created_at),"
            " max(created_at) from events where user_no = :user and created_at > :after",
            after=after,
        )[0]
        return Stats(
            user=user, conversations=alive, deleted_conversations=deleted, events=events, messages=int(messages),
            branches=branches, first_at=first_at, last_at=last_at, jobs=jobs.counts(tx), job_errors=jobs.errors(tx),
            bytes=size, schema=schema, memories=_memories(tx), rows=_rows(tx, by, after) if by else (),
            items=items.count(tx),
        )  # fmt: skip

    return db.read(user, read)


def _memories(tx: Tx) -> dict[str, int]:
    """By state, and what somebody should look at."""
    found = dict.fromkeys(("active", "duplicates", "stale", "never_recalled", "conflicts", "quarantined"), 0)
    found |= dict(
        tx.all(
            "select state, count(*) from memories where user_no = :user and state <> 'hidden' group by state order by state"
        )
    )
    stale, unused, conflicts = tx.all(
        "select count(case when r.expires_at <= :now or (r.valid_to <= :now and r.kind <> 'todo') then 1 end),"
        " count(case when m.uses = 0 then 1 end), count(case when r.flag is not null or r.conflicts_with is not null then 1"
        " end) from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head"
        " where m.user_no = :user and m.state = 'active'",
        now=ids.now(),
    )[0]
    found["stale"], found["never_recalled"], found["conflicts"] = int(stale), int(unused), int(conflicts)
    found["not_understood"] = tx.all(
        "select count(*) from jobs where user_no = :user and kind = :kind and state = 'failed'", kind=jobs.EXTRACT
    )[0][0]
    seen: dict[tuple[str, frozenset[str]], int] = {}
    for namespace, content in tx.all(
        "select namespace, content from memories where user_no = :user and state = 'active'"
    ):
        said = (namespace, frozenset(term_set(content)))
        seen[said] = seen.get(said, 0) + 1
    found["duplicates"] = sum(n - 1 for n in seen.values())
    return found


def _rows(tx: Tx, by: str, after: int) -> tuple[StatRow, ...]:
    sums = (
        " count(*), coalesce(sum(e.input_tokens), 0), coalesce(sum(e.output_tokens), 0), coalesce(sum(e.cost), 0),"
        " coalesce(sum(e.duration_ms), 0) from events e"
    )
    what = {
        "day": f"e.created_at / {ids.DAY_MS}",
        "kind": "e.kind",
        "tool": "e.tool",
        "agent": "e.agent",
        "model": "e.model",
        "workspace": "c.workspace",
    }[by]
    join = " join conversations c on c.user_no = e.user_no and c.no = e.conversation_no" if by == "workspace" else ""
    rows = tx.all(
        f"select {what},{sums}{join} where e.user_no = :user and e.created_at > :after and {what} is not null"
        f" group by {what} order by {'1' if by == 'day' else '2 desc, 1'}",
        after=after,
    )
    if by == "day":
        from datetime import UTC, datetime

        rows = [(datetime.fromtimestamp(day * ids.DAY_MS / 1000, UTC).date().isoformat(), *rest) for day, *rest in rows]
    return tuple(
        StatRow(str(key), n, int(tokens_in), int(tokens_out), float(cost), int(ms))
        for key, n, tokens_in, tokens_out, cost, ms in rows
    )


def verify(db: Database, user: str, progress: Progress | None) -> Verification:
    broken = db.check()
    if broken and all("FTS5" in found or "fts5" in found for found in broken):
        from .search import reindex

        # The index holds nothing that is not in the rows: those are looked at as usual.
        problems = [Problem("the index", found, reindex.FIX) for found in broken]
        broken = []
    else:
        problems = [
            Problem("the file", found, "Save what is readable: `recollect doctor --salvage OUT`.") for found in broken
        ]
    if broken:  # a damaged tree can have a cycle: to walk its rows could take for ever
        problems.append(Problem("the events", "not looked at, because the file itself is damaged", _SALVAGE))
        return Verification(0, 0, 0, tuple(problems))
    conversations = db.read(
        user, lambda tx: tx.all("select no, id, last_seq from conversations where user_no = :user order by no")
    )
    events = tombstones = 0
    for i, (no, id, _) in enumerate(conversations):
        if progress:
            progress("conversations", i, len(conversations))
        seen, buried, found = db.read(user, partial(_conversation, no=no, id=id))
        events += seen
        tombstones += buried
        problems += found
    orphans = db.read(
        user,
        lambda tx: tx.all(
            "select distinct e.conversation_no from events e where e.user_no = :user and not exists (select 1 from"
            " conversations c where c.user_no = e.user_no and c.no = e.conversation_no)"
        ),
    )
    problems += [Problem(f"conversation number {no}", "events without a conversation", _SALVAGE) for (no,) in orphans]
    problems += _items(db, user)
    if not problems:
        problems += db.read(user, _check_memories)
    if not problems:  # what the rows should be comes first
        from .search import reindex

        problems += reindex.check(db, user)
    if progress:
        progress("conversations", len(conversations), len(conversations))
    return Verification(len(conversations), events, tombstones, tuple(problems))


def _items(db: Database, user: str) -> list[Problem]:
    """Items whose content is not what was put."""
    problems: list[Problem] = []
    after = 0
    while page := db.read(user, partial(items.page, after=after, most=PAGE)):
        for row in page:
            if items.checksum(row[1], row[2], row[3]) != row[-1]:
                where = f"item {row[2]!r} in {items.labels(row[1])!r}"
                problems.append(Problem(where, "its value is not what was put", "Put it again, or restore a backup."))
        after = page[-1][0]
    return problems


_SALVAGE = "Restore a backup, or save what is readable: `recollect doctor --salvage OUT`."


def _check_memories(tx: Tx) -> list[Problem]:
    """Heads against changes: what is kept ready must be what the history says."""
    problems: list[Problem] = []
    view = views.View(tx)
    after = 0
    while page := tx.all(
        "select id, memory_id, state, head, indexed_at from memories where user_no = :user and id > :after"
        " order by id limit :page",
        after=after, page=PAGE,
    ):  # fmt: skip
        known = views.of(tx, [row[0] for row in page])
        for no, id, state, head, indexed_at in page:
            changes = known.get(no, [])
            standing = view.standing(changes)
            if not changes:
                problems.append(Problem(f"memory {id!r}", "nothing says where it came from", _SALVAGE))
            elif (state, head) != (("hidden", None) if standing is None else (standing.state, standing.id)):
                problems.append(Problem(f"memory {id!r}", "it does not stand as its history says", _REFRESH))
            elif (indexed_at is not None) != views.may_be_active(changes):
                problems.append(Problem(f"memory {id!r}", "it can be found and should not, or the reverse", _REFRESH))
        after = page[-1][0]
    lost = tx.all(
        "select count(*) from memory_changes r where r.user_no = :user and not exists (select 1 from memories m"
        " where m.user_no = r.user_no and m.id = r.memory)"
    )[0][0]
    if lost:
        problems.append(Problem("the memories", f"{lost:,} changes are of no memory", _SALVAGE))
    return problems


_REFRESH = "Have it worked out anew: `recollect reindex`."


def _conversation(tx: Tx, no: int, id: str) -> tuple[int, int, list[Problem]]:
    problems: list[Problem] = []
    where = f"conversation {id!r}"
    row = tx.one("select last_seq, active_branch, metadata from conversations where user_no = :user and no = :c", c=no)
    if row is None:
        return 0, 0, []  # erased meanwhile
    last_seq, active, metadata = row
    try:
        load_metadata(id, metadata)
    except Damaged:
        problems.append(Problem(where, "its metadata is not what was written", _SALVAGE))
    branches = tx.all(
        "select no, name, parent, fork_seq, summary_seq from branches"
        " where user_no = :user and conversation_no = :c order by no",
        c=no,
    )
    known = {b[0] for b in branches}
    if 0 not in known or active not in known:
        problems.append(Problem(where, "its active branch is missing", _SALVAGE))
    for b, name, parent, fork_seq, _ in branches:
        if (parent is None) != (b == 0) or (parent is not None and (parent not in known or parent >= b)):
            problems.append(Problem(where, f"branch {name!r} has lost its parent", _SALVAGE))
        if fork_seq > last_seq:
            problems.append(Problem(where, f"branch {name!r} starts behind the last event", _SALVAGE))
    buried = tx.all(
        "select first_seq, last_seq from tombstones where user_no = :user and conversation_no = :c order by first_seq",
        c=no,
    )
    taken: dict[int, str] = {}
    for first, last in buried:
        for seq in range(first, last + 1):
            if seq in taken:
                problems.append(Problem(f"{where}, event {seq}", "buried twice", _SALVAGE))
            taken[seq] = "tombstone"
    tombstones = len(taken)
    events = 0
    for branch, row in _events(tx, no, known):
        seq = row[0]
        events += 1
        if seq in taken:
            problems.append(Problem(f"{where}, event {seq}", f"there twice ({taken[seq]}, branch {branch})", _SALVAGE))
        taken[seq] = f"branch {branch}"
        content = content_crc((*row[1:19], row[20])) if len(row) > 1 else -1
        if len(row) == 1 or checksum(content, no, branch, seq, row[10]) != row[21]:
            problems.append(Problem(f"{where}, event {seq}", "its content is not what was written", _SALVAGE))
    missing = [seq for seq in range(1, last_seq + 1) if seq not in taken]
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
        problems.append(Problem(where, f"events are missing: {shown}", _SALVAGE))
    beyond = [seq for seq in taken if not 1 <= seq <= last_seq]
    if beyond:
        problems.append(Problem(where, f"the counter stands at {last_seq}, event {max(beyond)} is beyond it", _SALVAGE))
    problems += [Problem(where, what, _SALVAGE) for what in upkeep.check(tx, no)]
    if not problems:  # otherwise there may be no tree to climb
        tree = {b: (name, parent, fork_seq) for b, name, parent, fork_seq, _ in branches}
        for b, name, _, _, summary in branches:
            if newest_summary(tx, no, climb(tree, b)) != summary:
                problems.append(Problem(where, f"branch {name!r} does not show its newest summary", _SALVAGE))
    return events, tombstones, problems


def _events(tx: Tx, conversation: int, branches: set[int]) -> Iterator[tuple[int, Row]]:
    """Every event, a page at a time: a conversation may be larger than memory. A row whose text cannot be read back is
    given as its number alone."""
    for branch in sorted(branches):
        after = 0
        while page := tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and seq > :after order by seq limit :page",
            c=conversation, b=branch, after=after, page=PAGE,
        ):  # fmt: skip
            last = page[-1][0]
            for row in _read_back(tx, conversation, branch, after, last):
                yield branch, row
            after = last


def _read_back(tx: Tx, conversation: int, branch: int, after: int, last: int) -> list[Row]:
    try:
        return tx.all(
            f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and seq > :after and seq <= :last order by seq",
            c=conversation, b=branch, after=after, last=last,
        )  # fmt: skip
    except UnicodeDecodeError:
        if last - after == 1:
            return [(last,)]
        half = (after + last) // 2
        return _read_back(tx, conversation, branch, after, half) + _read_back(tx, conversation, branch, half, last)
