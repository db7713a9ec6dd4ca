"""Branches: pointers into a conversation's log.

A branch is (parent branch, event number). What it shows is its *lineage*: its own events, then its parent's up to the
fork, then the grandparent's up to that fork, clipped on the way up. The lineage is computed once and read as one index
range per ancestor (1.9 ms on a chain 200 deep, where a recursive join took 1,281 ms). A fork copies nothing.
"""

from __future__ import annotations

from . import ids
from .conversations import Found, find
from .errors import AlreadyExists, InvalidInput, NotFound
from .model import MAIN, Branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .db import Tx

    Lineage = list[tuple[int, int]]
    """(branch number, up to which event number), the branch itself first, the root last."""

    Tree = dict[int, tuple[str, int | None, int]]
    """Branch number -> (name, parent, fork point)."""

NO_LIMIT = (1 << 63) - 1
EVERY = "*"


def number(tx: Tx, found: Found, branch: str | Branch | None) -> int:
    """The number of the branch that is meant: the conversation's active one unless said."""
    if branch is None:
        return found.active_branch
    name = branch.name if isinstance(branch, Branch) else ids.check(branch, "branch")
    if name == MAIN:
        return 0
    row = tx.one(
        "select no from branches where user_no = :user and conversation_no = :c and name = :name", c=found.no, name=name
    )
    if row is None:
        raise NotFound(f"Conversation {found.id!r} has no branch {name!r}. `branches()` lists them.")
    return int(row[0])


def tree(tx: Tx, conversation: int) -> Tree:
    rows = tx.all(
        "select no, name, parent, fork_seq from branches where user_no = :user and conversation_no = :c", c=conversation
    )
    return {no: (name, parent, fork_seq) for no, name, parent, fork_seq in rows}


def climb(tree: Tree, branch: int, at: int = NO_LIMIT) -> Lineage:
    """The lineage of a branch as it stood at an event number."""
    found: Lineage = []
    current: int | None = branch
    while current is not None:
        found.append((current, at))
        _, current, fork_seq = tree[current]
        at = min(at, fork_seq)
    return found


def lineage(tx: Tx, conversation: int, branch: int, at: int = NO_LIMIT) -> Lineage:
    """`climb`, without loading the tree for the branch that has no ancestors."""
    return [(0, at)] if branch == 0 else climb(tree(tx, conversation), branch, at)


def fork(
    tx: Tx, conversation: str, at: int | None, branch: str | Branch | None, name: str | None, switch: bool
) -> Branch:
    found = find(tx, conversation, lock=True)
    if at is not None and not 0 <= at <= found.last_seq:
        raise InvalidInput(
            f"at={at}: conversation {found.id!r} has events 1 to {found.last_seq}; 0 is before the first."
        )
    if branch is not None or at is None:
        parent = number(tx, found, branch)
    else:
        parent = _owner(tx, found, at)
    known = tree(tx, found.no)
    own = climb(known, parent)
    if at is None:
        at = _head(tx, found.no, own)[0]
    # An event number that belongs to an ancestor of the parent forks from that ancestor: same history, shorter lineage.
    # (own[-1] is the root and has no lower end.)
    for i, (ancestor, _) in enumerate(own):
        parent = ancestor
        if i + 1 == len(own) or at > own[i + 1][1]:
            break
    no, now = max(known) + 1, ids.now()
    taken = {called for called, _, _ in known.values()}
    if name is None:
        name = next(n for i in range(no, no + len(taken) + 1) if (n := f"branch-{i}") not in taken)
    elif name in taken:
        raise AlreadyExists(f"Conversation {found.id!r} already has a branch {name!r}.")
    # What the parent shows tells most of it: no summary, or one from before the fork, and there is nothing to look for.
    row = tx.one(
        "select summary_seq from branches where user_no = :user and conversation_no = :c and no = :b",
        c=found.no,
        b=parent,
    )
    summary = row[0] if row else None
    if summary is not None and summary > at:
        summary = newest_summary(tx, found.no, climb(known, parent, at))
    tx.run(
        "insert into branches (user_no, conversation_no, no, name, parent, fork_seq, summary_seq, created_at)"
        " values (:user, :c, :no, :name, :parent, :at, :summary, :now)",
        c=found.no, no=no, name=name, parent=parent, at=at, summary=summary, now=now,
    )  # fmt: skip
    if switch:
        set_active(tx, conversation, name)
        found.active_branch = no
    known[no] = (name, parent, at)
    return _branch(tx, found, known, no, now)


def _owner(tx: Tx, found: Found, at: int) -> int:
    """The branch on which event `at` was written; the active one when it was deleted or `at` is 0."""
    row = tx.one(
        "select e.branch_no from branches b join events e"
        " on e.user_no = b.user_no and e.conversation_no = b.conversation_no and e.branch_no = b.no and e.seq = :at"
        " where b.user_no = :user and b.conversation_no = :c",
        c=found.no, at=at,
    )  # fmt: skip
    return int(row[0]) if row else found.active_branch


def head(tx: Tx, found: Found, branch: int | None = None) -> int:
    """The number of the newest event on a branch, the active one unless said; 0 when there is none."""
    own = found.active_branch if branch is None else branch
    return _head(tx, found.no, lineage(tx, found.no, own))[0]


def _head(tx: Tx, conversation: int, own: Lineage) -> tuple[int, int, str]:
    """(number, time) of the newest event of a lineage and the text of the newest one to show, walking from its head."""
    seq, at, preview = 0, 0, ""
    for branch, high in own:
        rows = tx.all(
            "select seq, created_at, kind, substr(text, 1, 200), tool from events where user_no = :user"
            " and conversation_no = :c and branch_no = :b and seq <= :high order by seq desc limit 8",
            c=conversation, b=branch, high=high,
        )  # fmt: skip
        if rows and not seq:
            seq, at = int(rows[0][0]), int(rows[0][1])
        preview = next(
            (text or tool or "" for _, _, kind, text, tool in rows if kind not in ("reasoning", "summary")), ""
        )
        if preview:
            break
    return seq, at, preview


def preview(tx: Tx, conversation: int, own: Lineage) -> str:
    """The beginning of the newest thing said on a lineage, in one line."""
    return " ".join(_head(tx, conversation, own)[2].split())[:80]


def newest_summary(tx: Tx, conversation: int, own: Lineage) -> int | None:
    """The newest summary of a lineage: one that says what it covers. (A caller may append events of that kind too.)"""
    for branch, high in own:
        row = tx.one(
            "select max(seq) from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and kind = 'summary' and seq <= :high and message is not null",
            c=conversation, b=branch, high=high,
        )  # fmt: skip
        if row and row[0] is not None:
            return int(row[0])
    return None


def has_more_than(tx: Tx, conversation: int, branch: int, n: int) -> bool:
    """Whether more than n messages are live on a branch, that is: not covered by its summary. Counts no further."""
    row = tx.one(
        "select summary_seq from branches where user_no = :user and conversation_no = :c and no = :b",
        c=conversation,
        b=branch,
    )
    after = through(tx, conversation, row[0] if row else None)
    counted = 0
    for b, high in lineage(tx, conversation, branch):
        counted += len(tx.all(
            "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and kind = 'message' and seq > :after and seq <= :high order by seq desc limit :most",
            c=conversation, b=b, after=after, high=high, most=n + 1 - counted,
        ))  # fmt: skip
        if counted > n:
            return True
    return False


def through(tx: Tx, conversation: int, summary: int | None) -> int:
    """Up to which number a summary covers the messages of its lineage. It is kept in the summary's `message` column."""
    if summary is None:
        return 0
    row = tx.one(
        "select e.message from branches b join events e"
        " on e.user_no = b.user_no and e.conversation_no = b.conversation_no and e.branch_no = b.no and e.seq = :seq"
        " where b.user_no = :user and b.conversation_no = :c",
        c=conversation, seq=summary,
    )  # fmt: skip
    return int(row[0]) if row and row[0] is not None else 0


def renew_summaries(tx: Tx, conversation: int) -> None:
    """Point every branch at the newest summary that is still there; after something was deleted."""
    known = tree(tx, conversation)
    for branch in known:
        tx.run(
            "update branches set summary_seq = :summary where user_no = :user and conversation_no = :c and no = :b",
            c=conversation, b=branch, summary=newest_summary(tx, conversation, climb(known, branch)),
        )  # fmt: skip


def listing(tx: Tx, conversation: str) -> list[Branch]:
    found = find(tx, conversation)
    rows = tx.all(
        "select no, name, parent, fork_seq, created_at from branches"
        " where user_no = :user and conversation_no = :c order by no",
        c=found.no,
    )
    known: Tree = {no: (name, parent, fork_seq) for no, name, parent, fork_seq, _ in rows}
    return [_branch(tx, found, known, no, created_at) for no, _, _, _, created_at in rows]


def _branch(tx: Tx, found: Found, known: Tree, no: int, created_at: int) -> Branch:
    name, parent, fork_seq = known[no]
    head, at, preview = _head(tx, found.no, climb(known, no))
    return Branch(
        name=name,
        conversation_id=found.id,
        parent=None if parent is None else known[parent][0],
        fork_seq=fork_seq,
        head=head,
        active=no == found.active_branch,
        created_at=created_at,
        updated_at=at if head > fork_seq else created_at,
        preview=" ".join(preview.split())[:80],
    )


def set_active(tx: Tx, conversation: str, branch: str | Branch) -> None:
    found = find(tx, conversation, lock=True)
    tx.run(
        "update conversations set active_branch = :b where user_no = :user and no = :c",
        c=found.no, b=number(tx, found, branch),
    )  # fmt: skip
