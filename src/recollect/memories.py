"""Memories: short statements that outlive their conversation, and how they are read.

A memory belongs to the user, or is limited to one conversation or one workspace. Its id follows from its scope and its
words, so that the same statement in the same scope is one memory, however often it is said. Nothing about it is ever
overwritten: what happens to it is a row of `memory_changes`, with who, why, where and how it stood afterwards (`edits`
writes those), and how it stands is a question of where one looks from (`views`).
"""

from __future__ import annotations

from . import branches, conversations, ids, views
from .errors import InvalidInput, NotFound
from .light import loads
from .model import MEMORY_KINDS, Memory, MemoryChange, Provenance
from .search import index
from .views import Change, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .conversations import Found
    from .db import Row, Tx

COLUMNS = (
    "m.memory_id, r.kind, coalesce(r.wording, m.content), r.importance, r.tags, c.id, m.workspace, r.source, r.pinned_at,"
    " m.created_at, r.at, m.id, m.conversation_no, r.state, r.by_hand, r.replaced_by, r.conflicts_with, r.flag, s.id, b.name,"
    " r.source_seqs, r.checkpoint, r.role, r.extractor, r.valid_from, r.valid_to, r.expires_at, m.uses, m.used_at,"
    " c.deleted_at, r.undone_at, s.workspace"
)
PLACES = (
    " left join conversations c on c.user_no = m.user_no and c.no = m.conversation_no"
    " left join conversations s on s.user_no = m.user_no and s.no = r.source_no"
    " left join branches b on b.user_no = m.user_no and b.conversation_no = r.source_no and b.no = r.source_branch"
)
FROM = " from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head" + PLACES
"""As memories stand from outside. Any change at all: `_FROM_ANY`."""
_FROM_ANY = " from memory_changes r join memories m on m.user_no = r.user_no and m.id = r.memory" + PLACES
COLUMNS_LIST = COLUMNS.replace("coalesce(r.wording, m.content)", "content").split(", ")
STORED = "select id, kind, content, tags, conversation_no, workspace, indexed_at, state, head from memories where user_no = :user"
"""A memory as the index needs to know it."""
ACTIVE = "active"
PAGE = 200


def namespace(conversation: int | None, workspace: str | None) -> str:
    """A scope as one text, compared by equality only."""
    limited = ("" if conversation is None else f"c{conversation}") + ("" if workspace is None else f"w{workspace}")
    return limited or "u"


def id_of(content: str, conversation: str | None, workspace: str | None) -> str:
    from hashlib import blake2b

    scope = f"{conversation or ''}\0{workspace or ''}\0{content.casefold()}"
    return blake2b(scope.encode(), digest_size=16).hexdigest()


def kind_of(kind: str) -> str:
    if kind not in MEMORY_KINDS:
        raise InvalidInput(f"There is no kind of memory {kind!r}. The kinds are: {', '.join(MEMORY_KINDS)}.")
    return kind


# -- one of them


def number(tx: Tx, id: str) -> int:
    row = tx.one("select id from memories where user_no = :user and memory_id = :id", id=id)
    if row is None:
        raise NotFound(f"There is no memory {id!r}. `memories()` lists them.")
    return int(row[0])


def ids_of(tx: Tx, memories: Sequence[int]) -> list[str]:
    found: list[str] = []
    for start in range(0, len(memories), 400):
        listed = ",".join(map(str, memories[start : start + 400]))
        found += [
            row[0] for row in tx.all(f"select memory_id from memories where user_no = :user and id in ({listed})")
        ]
    return found


def locked(tx: Tx, id: str) -> tuple[tuple[int, int | None, str | None], Change]:
    """(number, conversation, workspace) of a memory, locked, and how it stands from outside; or, when it is not seen from
    there, how it last stood."""
    row = tx.one(
        "select id, conversation_no, workspace from memories where user_no = :user and memory_id = :id" + tx.for_update,
        id=id,
    )
    if row is None:
        raise NotFound(f"There is no memory {id!r}. `memories()` lists them.")
    changes = views.of(tx, [row[0]])[row[0]]
    return (row[0], row[1], row[2]), View(tx).standing(changes) or changes[-1]


def change(tx: Tx, id: int) -> Change | None:
    row = tx.one(f"select {views.NAMES} from memory_changes where user_no = :user and id = :id", id=id)
    return None if row is None else Change(*row)


def is_over(change: Change, now: int) -> bool:
    return change.expires_at is not None and change.expires_at <= now


def get(tx: Tx, id: str) -> Memory:
    """A memory as it stands from outside; when it is not seen from there, as it last stood."""
    row = tx.one(f"select {COLUMNS}{FROM} where m.user_no = :user and m.memory_id = :id", id=id)
    if row is None:
        memory = number(tx, id)
        (row,) = tx.all(
            f"select {COLUMNS}{_FROM_ANY} where r.user_no = :user and r.memory = :memory order by r.id desc limit 1",
            memory=memory,
        )
    return load(row, ids.now())


def history(tx: Tx, id: str) -> list[MemoryChange]:
    """Everything that happened to a memory, oldest first, on every branch."""
    memory = number(tx, id)
    rows = tx.all(
        f"select {COLUMNS}, r.id, r.action, r.who, r.why, r.prior, p.id, pb.name, r.seq{_FROM_ANY}"
        " left join conversations p on p.user_no = m.user_no and p.no = r.conversation_no"
        " left join branches pb on pb.user_no = m.user_no and pb.conversation_no = r.conversation_no and pb.no = r.branch_no"
        " where r.user_no = :user and r.memory = :memory order by r.id",
        memory=memory,
    )
    n = len(COLUMNS_LIST)
    after = {row[n]: load((*row[:30], None, row[31]), 0) for row in rows}
    return [
        MemoryChange(
            row[n + 1], row[n + 2], row[n + 3] or "", row[10], after.get(row[n + 4]), after[row[n]], row[n + 5], row[n + 6],
            row[n + 7], row[30],
        )
        for row in rows
    ]  # fmt: skip


# -- many


def view(
    tx: Tx, conversation: str | None = None, branch: Any = None, as_of: int | None = None
) -> tuple[View, Found | None]:
    """A place to look from. With a conversation, a number up to its newest event is an event's; any other is a time."""
    found = None if conversation is None else conversations.find(tx, conversation)
    at = None if found is None or branch == branches.EVERY else branches.number(tx, found, branch)
    if as_of is not None and found is not None and as_of <= found.last_seq:
        return View(tx, found, at, seq=as_of), found
    return View(tx, found, at, time=as_of), found


def rows(tx: Tx, numbers: Sequence[int], view: View) -> list[Row]:
    """Memories (as `COLUMNS`) by number as they stand in a view; those that are not seen there are missing."""
    if not numbers:
        return []
    if view.is_plain:
        return tx.all(
            f"select {COLUMNS}{FROM.replace(' m ', f' m{tx.by_id} ', 1)} where m.user_no = :user and m.id{tx.among}",
            ids=tx.some(numbers),
        )
    standing = view.among(numbers)
    if not standing:
        return []
    chosen = ",".join(str(change.id) for change in standing.values())
    return tx.all(f"select {COLUMNS}{_FROM_ANY} where r.user_no = :user and r.id in ({chosen})")


def listing(
    tx: Tx,
    view: View,
    *,
    near: str | None,
    scope: str | None,
    workspace: str | None,
    kinds: Sequence[str] | None,
    tags: Sequence[str] | None,
    wanted: str | None,
    limit: int,
    cursor: str | None,
    now: int,
) -> list[Memory]:
    """Newest first. A page is read by number and filtered as it stands in the view, until there are enough."""
    before = branches.NO_LIMIT if cursor is None else number(tx, cursor)
    # Narrowed by what is kept ready where the view is the plain one: the states of others follow from their changes.
    exact = " and m.state = :state" if view.is_plain and wanted in ("replaced", "quarantined", ACTIVE) else ""
    params = {"state": wanted} if exact else {}
    found: list[Memory] = []
    while len(found) < limit:
        page = tx.all(
            f"select m.id from memories m where m.user_no = :user and m.id < :before{exact} order by m.id desc limit :page",
            before=before, page=PAGE, **params,
        )  # fmt: skip
        if not page:
            break
        by_number = {row[11]: row for row in rows(tx, [row[0] for row in page], view)}
        for (no,) in page:
            row = by_number.get(no)
            if row is not None and _is_listed(row, near, scope, workspace, kinds, tags, wanted, now):
                found.append(load(row, now))
                if len(found) == limit:
                    break
        before = page[-1][0]
    return found


def _is_listed(
    row: Row, near: str | None, scope: str | None, workspace: str | None, kinds: Sequence[str] | None,
    wanted_tags: Sequence[str] | None, wanted: str | None, now: int,
) -> bool:  # fmt: skip
    if row[12] is not None and (row[29] is not None or (near is not None and row[5] != near)):
        return False  # another conversation's, or one's that is in the bin
    if workspace is not None and row[6] is not None and row[6] != workspace:
        return False
    own = "conversation" if row[12] is not None else "workspace" if row[6] is not None else "user"
    return (
        (scope is None or own == scope)
        and (wanted is None or state(row, now) == wanted)
        and (kinds is None or row[1] in kinds)
        and (not wanted_tags or set(wanted_tags) <= set(tags(row)))
    )


def beginning(tx: Tx, id: str, limit: int = 9) -> list[Memory]:
    """Memories whose id begins like this: people do not type 32 characters."""
    found = tx.all(
        "select m.memory_id from memories m where m.user_no = :user and substr(m.memory_id, 1, :n) = :id"
        " order by m.memory_id limit :limit",
        id=id, n=len(id), limit=limit,
    )  # fmt: skip
    return [get(tx, row[0]) for row in found]


def used(tx: Tx, counts: dict[str, int], at: int) -> None:
    """Memories were shown to somebody: counted later, in one go."""
    for id, n in counts.items():
        tx.run(
            "update memories set uses = uses + :n, used_at = :at where user_no = :user and memory_id = :id",
            id=id, n=n, at=at,
        )  # fmt: skip


# -- a row


def state(row: Row, now: int) -> str:
    """How a row (as `COLUMNS`) stands now: what was undone is forgotten, and what has expired is so before retention
    writes it down."""
    if row[30] is not None and row[30] <= now:
        return "forgotten"
    return "expired" if row[13] == ACTIVE and row[26] is not None and row[26] <= now else str(row[13])


def tags(row: Row) -> tuple[str, ...]:
    if row[4] is None:
        return ()
    return tuple(loads(row[4]))


def provenance(row: Row) -> Provenance:
    seqs = () if row[20] is None else tuple(int(n) for n in row[20].split(","))
    return Provenance(row[18], row[19], seqs, row[21], row[22], row[23], row[31])


def load(row: Row, now: int) -> Memory:
    came = provenance(row)
    source = row[7] if row[18] is None or not came.seqs else f"{row[18]}:{came.seqs[0]}"
    return Memory(
        id=row[0], kind=row[1], content=row[2], importance=row[3], tags=tags(row), conversation_id=row[5], workspace=row[6],
        source=source, pinned=row[8] is not None, created_at=row[9], updated_at=max(row[9], row[10]), state=state(row, now),
        by_hand=row[14] is not None, provenance=came,
        valid_from=row[24], valid_to=row[25], expires_at=row[26], replaced_by=row[15], conflicts_with=row[16], flag=row[17],
        uses=row[27], used_at=row[28],
    )  # fmt: skip


# -- the index


def page(tx: Tx, after: int, most: int) -> list[Row]:
    """Stored memories that can be found, by id, as `entry` takes them."""
    return tx.all(
        STORED + " and id > :after and indexed_at is not null order by id limit :most", after=after, most=most
    )


def stored(tx: Tx, after: int, most: int) -> list[Row]:
    """All stored memories by id, those too that cannot be found."""
    return tx.all(STORED + " and id > :after order by id limit :most", after=after, most=most)


def told(tx: Tx, after: int, most: int) -> list[Row]:
    """What the changes of memories say in words, by id."""
    return tx.all(
        "select id, wording, tags, source, flag, why, who, checkpoint, extractor from memory_changes where user_no = :user"
        " and id > :after order by id limit :most",
        after=after, most=most,
    )  # fmt: skip


def entry(row: Row) -> Row:
    """What a stored memory is indexed under."""
    id, kind, content, tags, conversation, workspace = row[:6]
    return index.entry(id, conversation, workspace, index.memory_terms(kind, content, tags))
