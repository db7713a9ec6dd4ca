"""The feed: what happened in the whole store, in one order, from any position on.

Events and changes of memories draw their ids from one counter, so that one number says how far somebody has read. A
reader that comes back with the last number it saw misses nothing and sees nothing twice, whichever process wrote it. What
was undone or erased is not told: it leaves no row behind. What is in the bin is passed over, for good: to hold the number
back until somebody restores or empties it would hold up everything behind it, for weeks.
"""

from __future__ import annotations

from . import events, memories
from .model import Change, Changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .db import Row, Tx

_COLUMNS = ", ".join(f"e.{name}" for name in events.COLUMNS.split(", "))


def changes(
    tx: Tx, after: int | None, upto: int, *, conversation: str | None, workspace: str | None, limit: int
) -> Changes:
    """What has a number behind `after`, up to `upto`, behind which something may still be on its way."""
    upto = min(upto, tx.high_id())
    if after is None:
        return Changes((), _newest(tx, tx.low_id(), upto))
    after = max(after, tx.low_id())
    if not limit or after >= upto:
        return Changes((), after)
    found = [*_events(tx, after, upto, conversation, workspace, limit)]
    found += _memories(tx, after, upto, conversation, workspace, limit)
    found.sort(key=lambda change: change.id)
    if len(found) >= limit:
        return Changes(tuple(found[:limit]), found[limit - 1].id)
    return Changes(tuple(found), max(after, _newest(tx, after, upto)))


def _newest(tx: Tx, after: int, upto: int) -> int:
    """The highest number in use up to `upto`, or `after`."""
    rows = [
        *tx.all(
            f"select e.id from events e{tx.by_id} where e.user_no = :user and e.id > :after and e.id <= :upto"
            " order by e.id desc limit 1",
            after=after, upto=upto,
        ),
        *tx.all(
            f"select r.id from memory_changes r{tx.by_id} where r.user_no = :user and r.id > :after and r.id <= :upto"
            " order by r.id desc limit 1",
            after=after, upto=upto,
        ),
    ]  # fmt: skip
    return max([after, *(int(row[0]) for row in rows)])


def _events(tx: Tx, after: int, upto: int, conversation: str | None, workspace: str | None, limit: int) -> list[Change]:
    rows = tx.all(
        f"select e.id, c.id, c.workspace, b.name, {_COLUMNS} from events e{tx.by_id}"
        " join conversations c on c.user_no = e.user_no and c.no = e.conversation_no"
        " join branches b on b.user_no = e.user_no and b.conversation_no = e.conversation_no and b.no = e.branch_no"
        " where e.user_no = :user and e.id > :after and e.id <= :upto and c.deleted_at is null"
        " and (cast(:conversation as text) is null or c.id = :conversation)"
        " and (cast(:workspace as text) is null or c.workspace = :workspace) order by e.id limit :limit",
        after=after, upto=upto, conversation=conversation, workspace=workspace, limit=limit,
    )  # fmt: skip
    found = []
    for id, name, place, branch, *columns in rows:
        event = events.loaded(name, tuple(columns), branch)
        found.append(Change(int(id), "event", name, place, event, None, None, None, None, event.created_at))
    return found


def _memories(
    tx: Tx, after: int, upto: int, conversation: str | None, workspace: str | None, limit: int
) -> list[Change]:
    """Of a conversation: what is limited to it, or was said in it. Of a workspace: what is limited to it or to
    one of its conversations, and the user's own, which are seen from everywhere."""
    rows: list[Row] = tx.all(
        f"select {memories.COLUMNS}, c.workspace, r.id, r.action, r.who, r.why from memory_changes r{tx.by_id}"
        f" join memories m on m.user_no = r.user_no and m.id = r.memory{memories.PLACES}"
        " where r.user_no = :user and r.id > :after and r.id <= :upto and c.deleted_at is null"
        " and (cast(:conversation as text) is null or c.id = :conversation or s.id = :conversation)"
        " and (cast(:workspace as text) is null or coalesce(m.workspace, c.workspace, '') = :workspace"
        " or (m.workspace is null and m.conversation_no is null)) order by r.id limit :limit",
        after=after, upto=upto, conversation=conversation, workspace=workspace, limit=limit,
    )  # fmt: skip
    n = len(memories.COLUMNS_LIST)
    found = []
    for row in rows:
        memory = memories.load((*row[:30], None, row[31]), 0)
        place, id, action, who, why = row[n : n + 5]
        where = memory.workspace or place
        found.append(
            Change(int(id), "memory", memory.conversation_id, where, None, memory, action, who, why or "", row[10])
        )
    return found
