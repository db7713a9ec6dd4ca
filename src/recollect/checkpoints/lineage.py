"""Which checkpoint a branch goes on from, and which branch a checkpoint belongs to."""

from __future__ import annotations

from .. import branches, edits
from ..branches import NO_LIMIT
from ..model import MAIN
from . import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..branches import Lineage
    from ..conversations import Found
    from ..db import Row, Tx
    from ..model import Branch
    from .draft import Draft


def branch_of(tx: Tx, found: Found, d: Draft, again: Row | None, parent: Row | None, has_child: bool) -> int:
    """The branch a checkpoint belongs to. A second child of one parent starts one."""
    d.forked_from = None
    if d.namespace:
        root = d.metadata.get("parents", {}).get("") if isinstance(d.metadata, dict) else None
        row = record.find(tx, found.no, "", root) if isinstance(root, str) else None
        return int(row[3]) if row is not None else found.active_branch
    meant = branches.number(tx, found, d.branch)
    if again is not None and again[2] == d.parent:
        return int(again[3])  # stored once more
    model = _original(tx, found.no, d) if d.source == "fork" else None
    if model is not None:
        branch = _fork(tx, found, model)
    elif parent is None:
        return meant
    elif meant != parent[3] and newest_id(tx, found.no, "", branches.lineage(tx, found.no, meant)) == parent[1]:
        branch = meant  # forked in the log: this is where it goes on
    elif has_child:
        branch = _fork(tx, found, parent)
    else:
        branch = int(parent[3])
    at = model or parent
    if at is not None and branch != at[3]:
        d.forked_from = str(at[1])
    if d.branch is None and branch != found.active_branch:
        tx.run("update conversations set active_branch = :b where user_no = :user and no = :c", c=found.no, b=branch)
        found.active_branch = branch
        edits.refresh_of(tx, found.no)
    return branch


def _fork(tx: Tx, found: Found, at: Row) -> int:
    """A new branch at the stamp of a checkpoint."""
    name = branches.tree(tx, found.no)[at[3]][0] if at[3] else MAIN
    return branches.number(tx, found, branches.fork(tx, found.id, int(at[4]), name, None, False))


def _children(tx: Tx, no: int, parent: str | None) -> list[Row]:
    if parent is None:
        return tx.all(
            f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
            " and parent_id is null",
            c=no,
        )
    return tx.all(
        f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
        " and parent_id = :id",
        c=no, id=parent,
    )  # fmt: skip


def _original(tx: Tx, no: int, d: Draft) -> Row | None:
    """The checkpoint of which this one is a clone: LangGraph gives a clone the parent of what it was cloned from."""
    versions = d.head.get("channel_versions")
    twins = [
        row for row in _children(tx, no, d.parent) if record.unpack(row)["head"].get("channel_versions") == versions
    ]
    return max(twins, key=lambda row: str(row[1])) if twins else None


def newest(tx: Tx, no: int, namespace: str, own: Lineage) -> Row | None:
    """The newest checkpoint of a lineage. Where it is cut off by a fork, an input is not meant: what was put in there comes
    into the log one step later."""
    for branch, high in own:
        row = tx.one(
            f"select {record.COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
            " and branch_no = :b and seq <= :high and (:high = :all or source is null or source <> 'input')"
            " order by checkpoint_id desc limit 1",
            c=no, ns=namespace, b=branch, high=high, all=NO_LIMIT,
        )  # fmt: skip
        if row is not None:
            return row
    return None


def newest_id(tx: Tx, no: int, namespace: str, own: Lineage) -> str | None:
    row = newest(tx, no, namespace, own)
    return None if row is None else str(row[1])


def latest(tx: Tx, found: Found, namespace: str, branch: str | Branch | None) -> str | None:
    """The checkpoint that is meant when none is named: the newest of the branch, which is the active one unless said."""
    return newest_id(tx, found.no, namespace, branches.lineage(tx, found.no, branches.number(tx, found, branch)))


def head(tx: Tx, no: int, branch: int) -> int:
    """The number of the newest event to be seen on a branch."""
    row = tx.one(
        "select max(seq) from events where user_no = :user and conversation_no = :c and branch_no = :b", c=no, b=branch
    )
    if row is not None and row[0] is not None:
        return int(row[0])
    return branches.tree(tx, no)[branch][2] if branch else 0


def start(tx: Tx, conversation: str, branch: str | Branch | None) -> str | None:
    """The checkpoint from which a branch starts, if it was forked in the log and no graph has run on it yet."""
    found = record.there(tx, conversation)
    if found is None:
        return None
    id = latest(tx, found, "", branch)
    row = None if id is None else record.find(tx, found.no, "", id)
    return None if row is None or row[3] == branches.number(tx, found, branch) else id
