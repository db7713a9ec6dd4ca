"""Conversations: created, found, listed, renamed, put in the bin and taken out of it, cleared, erased.

A conversation is named by its id within its user; inside the database a short number stands for it. `activity` orders
the list: a number drawn from the same counter as event ids, because the clock of a machine can jump and two machines'
clocks differ, while "which one was touched last" must not.
"""

from __future__ import annotations

from . import checks, courtesies, erased, ids
from .errors import AlreadyExists, ConversationDeleted, Damaged, InvalidInput, NotFound
from .light import loads
from .model import MAIN, Conversation
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .db import Row, Tx
    from .model import Json

TITLE_LENGTH = 60
HISTORIES = "agent_chat_history/"
"""How the ids of bots' histories begin by default. Those that were begun before there was the origin `bot` have no other mark."""


class Found:
    """What the other tables need to know of a conversation."""

    __slots__ = ("active_branch", "id", "is_new", "last_seq", "no", "title", "workspace")

    def __init__(
        self,
        no: int,
        id: str,
        last_seq: int,
        active_branch: int,
        title: str | None = None,
        workspace: str | None = None,
    ) -> None:
        self.no = no
        self.id = id
        self.last_seq = last_seq
        self.active_branch = active_branch
        self.title = title
        self.workspace = workspace
        self.is_new = False
        """Whether this very transaction made it."""


_LOOK = (
    "select no, id, last_seq, active_branch, title, workspace, deleted_at from conversations"
    " where user_no = :user and id = :id"
)


def looking(tx: Tx, conversation: str, lock: str) -> Callable[[], Row | None]:
    """`look`, whose answer is read further on. `lock` is one of the transaction's, or nothing."""
    rows = tx.later(_LOOK + lock, id=conversation)

    def read() -> Row | None:
        row: Row | None = tx.known("conversations", conversation, lambda: next(iter(rows()), None))
        return row

    return read


def look(tx: Tx, conversation: str, *, lock: bool = False) -> Row | None:
    """The row behind an id, to be a `Found` but for its end, which says when it was deleted. None if there is none: an
    error, which would have to be redacted first, is dear where that is no news."""
    sql = _LOOK + tx.for_update if lock else _LOOK
    row: Row | None = tx.known("conversations", conversation, lambda: tx.one(sql, id=conversation))
    return row


def find(tx: Tx, conversation: str, *, lock: bool = False, deleted: bool = False) -> Found:
    """The conversation behind an id; with `lock`, no one else writes to it until this transaction ends."""
    row = look(tx, conversation, lock=lock)
    if row is None:
        if lock:  # somebody is about to write
            erased.refuse(tx, conversation)
        raise NotFound(
            f"There is no conversation {conversation!r}. `conversations()` lists them, `create()` makes one."
        )
    if row[6] is not None and not deleted:
        raise ConversationDeleted(f"Conversation {conversation!r} was deleted. `restore()` brings it back.")
    return Found(*row[:6])


def is_append_only(tx: Tx, found: Found) -> bool:
    """Whether a bot reads its history here (`AgentNode`): nothing of it goes under a summary by itself, and no summary deletes it."""
    if found.id.startswith(HISTORIES):
        return True
    row = tx.one("select origin from conversations where user_no = :user and no = :c", c=found.no)
    return row is not None and row[0] == "bot"


_NEWEST = (
    "(select max(k.checkpoint_id) from checkpoints k where k.user_no = c.user_no and k.conversation_no = c.no"
    " and k.namespace = '')"
)
# When the newest event happened, which is long before it was written where a history was imported.
# Mostly on the active branch: it is looked for there first, a seek instead of a join.
_HAPPENED = (
    "coalesce((select e.created_at from events e where e.user_no = c.user_no and e.conversation_no = c.no"
    " and e.branch_no = c.active_branch and e.seq = c.last_seq),"
    " (select max(e.created_at) from branches x join events e on e.user_no = x.user_no"
    " and e.conversation_no = x.conversation_no and e.branch_no = x.no and e.seq = c.last_seq"
    " where x.user_no = c.user_no and x.conversation_no = c.no))"
)
_COLUMNS = (
    "select c.id, c.title, c.workspace, c.workflow_id, c.metadata, b.name, c.last_seq, c.created_at, c.updated_at,"
    f" c.deleted_at, coalesce(c.origin, 'application'), {_NEWEST}, c.activity, {_HAPPENED} from conversations c join branches b"
    " on b.user_no = c.user_no and b.conversation_no = c.no and b.no = c.active_branch where c.user_no = :user"
)


def load_metadata(conversation: str, stored: str) -> dict[str, Json]:
    if stored == "{}":
        return {}
    try:
        loaded: dict[str, Json] = loads(stored)
    except ValueError as e:
        raise Damaged(
            f"The metadata of conversation {conversation!r} does not read back as it was written ({e}). "
            "Run `recollect doctor`."
        ) from None
    return loaded


def _conversation(row: Row) -> Conversation:
    id, title, workspace, workflow_id, metadata, branch, last_seq, created_at, updated_at, deleted_at, *rest = row
    origin, checkpoint, activity, happened_at = rest
    return Conversation(
        id, title, workspace, workflow_id, load_metadata(id, metadata), branch, last_seq, created_at,
        updated_at if happened_at is None else min(updated_at, happened_at), deleted_at,
        origin, checkpoint, str(activity),
    )  # fmt: skip


def create(
    tx: Tx,
    conversation: str,
    *,
    title: str | None,
    workspace: str | None,
    workflow_id: str | None,
    metadata: str | None,
    origin: str | None = None,
    again: bool = False,
) -> Conversation:
    there = tx.one("select deleted_at from conversations where user_no = :user and id = :id", id=conversation)
    if there is not None:
        where = (
            " in the bin: restore() or erase() it" if there[0] is not None else ": go on with it, or choose another id"
        )
        raise AlreadyExists(f"There already is a conversation {conversation!r}{where}.")
    if again:
        erased.forgive(tx, erased.CONVERSATION, conversation)
    else:
        erased.refuse(tx, conversation)
    now = ids.now()
    row = tx.one(
        "insert into conversations (user_no, id, title, workspace, workflow_id, metadata, activity, created_at, updated_at)"
        " values (:user, :id, :title, :workspace, :workflow, :metadata, :activity, :now, :now) returning no",
        id=conversation, title=title, workspace=workspace, workflow=workflow_id, metadata=metadata or "{}",
        activity=tx.ticks(1)[0], now=now,
    )  # fmt: skip
    assert row is not None
    if origin is not None:
        tx.run("update conversations set origin = :origin where user_no = :user and no = :c", c=row[0], origin=origin)
    tx.run(
        "insert into branches (user_no, conversation_no, no, name, fork_seq, created_at)"
        " values (:user, :c, 0, :main, 0, :now)",
        c=row[0], main=MAIN, now=now,
    )  # fmt: skip
    if title is not None:
        index.retitle(tx, row[0], workspace, None, title)
    return get(tx, conversation)


def get(tx: Tx, conversation: str) -> Conversation:
    row = tx.one(_COLUMNS + " and c.id = :id", id=conversation)
    if row is None or row[9] is not None:
        find(tx, conversation)  # raises the right error
        raise AssertionError("unreachable")
    return _conversation(row)


def beginning(tx: Tx, prefix: str) -> list[str]:
    """The ids that begin like this, those in the bin too."""
    rows = tx.all(
        "select id from conversations where user_no = :user and substr(id, 1, :n) = :prefix order by no",
        n=len(prefix), prefix=prefix,
    )  # fmt: skip
    return [row[0] for row in rows]


def by_number(tx: Tx, no: int) -> str:
    """The id of a conversation that jobs know by its number."""
    row = tx.one("select id from conversations where user_no = :user and no = :c and deleted_at is null", c=no)
    if row is None:
        raise NotFound(f"There is no conversation number {no}.")
    return str(row[0])


def counts(tx: Tx, found: Sequence[str]) -> list[int]:
    """How many events each of these conversations holds: the counter goes on where they were deleted or cleared."""
    return [
        tx.all(
            "select count(*) from events where user_no = :user and conversation_no ="
            " (select no from conversations where user_no = :user and id = :id)",
            id=id,
        )[0][0]
        for id in found
    ]


def listing(
    tx: Tx, *, workspace: str | None, limit: int, cursor: str | None, deleted: bool, workflow_id: str | None = None
) -> list[Conversation]:
    """Newest activity first. The cursor is the activity number of the last one seen."""
    try:
        before = (1 << 63) - 1 if cursor is None else checks.count(int(cursor), "cursor")
    except ValueError:
        raise InvalidInput(f"cursor={cursor!r} is none of ours: pass the `cursor` of a listed conversation.") from None
    rows = tx.all(
        _COLUMNS
        + " and c.activity < :before and (cast(:workspace as text) is null or c.workspace = :workspace)"
        + " and (cast(:workflow as text) is null or c.workflow_id = :workflow)"
        + (" and c.deleted_at is not null" if deleted else " and c.deleted_at is null")
        + " order by c.activity desc limit :limit",
        before=before, workspace=workspace, workflow=workflow_id, limit=limit,
    )  # fmt: skip
    return [_conversation(row) for row in rows]


_DATE = f"case when {_HAPPENED} < c.updated_at then {_HAPPENED} else c.updated_at end"  # what `updated_at` is read as


def by_date(tx: Tx, *, workspace: str | None, limit: int, cursor: str | None) -> list[Conversation]:
    """For people, who read the dates: the newest first, so that what was imported stands where it belongs and not before all
    else. All of a user's conversations are looked at for it. The cursor holds the date and the activity of the last one seen."""
    from dataclasses import replace

    try:
        date, activity = ((1 << 63) - 1,) * 2 if cursor is None else map(int, cursor.split("."))
        before = {"date": checks.count(date, "cursor"), "activity": checks.count(activity, "cursor")}
    except ValueError:
        raise InvalidInput(f"cursor={cursor!r} is none of ours: pass the `cursor` of a listed conversation.") from None
    rows = tx.all(
        f"{_COLUMNS} and c.deleted_at is null and (cast(:workspace as text) is null or c.workspace = :workspace)"
        f" and ({_DATE} < :date or ({_DATE} = :date and c.activity < :activity))"
        f" order by {_DATE} desc, c.activity desc limit :limit",
        workspace=workspace, limit=checks.count(limit, "limit"), **before,
    )  # fmt: skip
    return [replace(c, cursor=f"{c.updated_at}.{c.cursor}") for c in map(_conversation, rows)]


def rename(tx: Tx, conversation: str, title: str) -> Conversation:
    found = find(tx, conversation, lock=True)
    index.retitle(tx, found.no, found.workspace, found.title, title)
    tx.run("update conversations set title = :title where user_no = :user and id = :id", title=title, id=conversation)
    return get(tx, conversation)


def annotate(tx: Tx, conversation: str, changes: dict[str, Json]) -> Conversation:
    find(tx, conversation, lock=True)
    merged = {**get(tx, conversation).metadata, **changes}
    stored = checks.payload({k: v for k, v in merged.items() if v is not None}, "metadata") or "{}"
    tx.run(
        "update conversations set metadata = :metadata where user_no = :user and id = :id",
        id=conversation, metadata=stored,
    )  # fmt: skip
    return get(tx, conversation)


def delete(tx: Tx, conversation: str) -> None:
    find(tx, conversation, lock=True)
    tx.run(
        "update conversations set deleted_at = :now where user_no = :user and id = :id", id=conversation, now=ids.now()
    )


def restore(tx: Tx, conversation: str) -> Conversation:
    find(tx, conversation, lock=True, deleted=True)
    tx.run("update conversations set deleted_at = null where user_no = :user and id = :id", id=conversation)
    return get(tx, conversation)


def bury(tx: Tx, found: Found, seqs: list[int], now: int) -> None:
    """Leave tombstones for events that are gone: runs of numbers and the time, no content."""
    runs: list[list[int]] = []
    for seq in sorted(seqs):
        if runs and runs[-1][1] == seq - 1:
            runs[-1][1] = seq
        else:
            runs.append([seq, seq])
    tx.many(
        "insert into tombstones (user_no, conversation_no, first_seq, last_seq, deleted_at)"
        " values (:user_no, :c, :first, :last, :now)",
        [(tx.user, found.no, first, last, now) for first, last in runs],
    )


def untitle(tx: Tx, found: Found) -> None:
    """A title that was taken from the history goes with it."""
    index.retitle(tx, found.no, found.workspace, found.title, None)
    tx.run("update conversations set title = null where user_no = :user and no = :c", c=found.no)


def drop_jobs(tx: Tx, conversation: int) -> int:
    """Work queued for a conversation, whose key starts with its number: `<conversation>:<branch>`."""
    rows = tx.all("select id, key from jobs where user_no = :user")
    return sum(
        tx.run("delete from jobs where user_no = :user and id = :id", id=id)
        for id, key in rows
        if key.partition(":")[:2] == (str(conversation), ":")  # without a colon it is the number of something else
    )


STATE = ("checkpoints", "checkpoint_writes", "checkpoint_pieces", "checkpoint_messages")


def drop_state(tx: Tx, conversation: int, *, keep_key: bool = False) -> dict[str, int]:
    """The state that graphs keep beside the log: all of it. Returns how many rows went, by table. Where the conversation goes on,
    the key that its pieces are hashed with stays, which says nothing: savers know it by heart, in other processes too."""
    return {
        table: tx.run(
            f"delete from {table} where user_no = :user and conversation_no = :c"
            + (" and length(key) > 0" if keep_key and table == "checkpoint_pieces" else ""),
            c=conversation,
        )
        for table in STATE
    }


def title_from(text: str) -> str | None:
    """A title for an untitled conversation: the beginning of its first message that is more than a greeting, cut at a word."""
    words = " ".join(text[: TITLE_LENGTH * 8].split())
    if courtesies.courtesy(words) is not None or (words.startswith("[redacted:") and words.find("]") == len(words) - 1):
        return None
    if len(words) <= TITLE_LENGTH:
        return words or None
    cut = words[: TITLE_LENGTH - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > TITLE_LENGTH // 2 else cut) + "…"
