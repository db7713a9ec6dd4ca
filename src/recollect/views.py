"""Where one looks from: which change of a memory is in force there.

A memory's changes are rows, never overwritten, and each says where it was made: at an event of a branch, or nowhere in
particular, which is everywhere. From a conversation, the changes along the lineage of its branch are seen; of every other
conversation, those along its active branch. The newest change that is seen, and was not undone, is how the memory stands.
So a fact that is updated on one branch stands unchanged on the other, and a rewind takes back what was learned after it.

The common case is kept ready: `memories.head` is the change in force as seen from outside. A view that sees the same
(`is_plain`) reads heads; any other one computes.
"""

from __future__ import annotations

from . import branches
from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .conversations import Found
    from .db import Row, Tx

NAMES = (
    "id, user_no, memory, change, action, state, wording, kind, importance, tags, pinned_at, by_hand, replaced_by,"
    " conflicts_with, flag, source, source_no, source_branch, source_seqs, checkpoint, role, extractor, valid_from, valid_to,"
    " expires_at, conversation_no, branch_no, seq, who, why, prior, at, undone_at"
)
"""The columns of `memory_changes`."""
INSERT = (
    f"insert into memory_changes ({NAMES}) values (:id, :user_no, :memory, :change, :action, :state, :wording, :kind,"
    " :importance, :tags, :pinned_at, :by_hand, :replaced_by, :conflicts_with, :flag, :source, :source_no, :source_branch,"
    " :source_seqs, :checkpoint, :role, :extractor, :valid_from, :valid_to, :expires_at, :conversation_no, :branch_no, :seq,"
    " :who, :why, :prior, :at, :undone_at)"
)


@dataclass(frozen=True)
class Change:
    """A row of `memory_changes`: how a memory stood after something happened to it."""

    id: int
    user_no: int
    memory: int
    change: int
    action: str
    state: str
    wording: str | None
    kind: str
    importance: float
    tags: str | None
    pinned_at: int | None
    by_hand: int | None
    replaced_by: str | None
    conflicts_with: str | None
    flag: str | None
    source: str | None
    source_no: int | None
    source_branch: int | None
    source_seqs: str | None
    checkpoint: str | None
    role: str | None
    extractor: str
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    conversation_no: int | None
    branch_no: int | None
    seq: int | None
    who: str
    why: str | None
    prior: int | None
    at: int
    undone_at: int | None

    def but(self, **changed: Any) -> Change:
        return Change(**{**self.__dict__, **changed})

    @property
    def place(self) -> Place | None:
        if self.conversation_no is None:
            return None
        return self.conversation_no, self.branch_no or 0, self.seq or 0

    @property
    def values(self) -> Row:
        return tuple(self.__dict__.values())


if TYPE_CHECKING:
    Place = tuple[int, int, int]
    """(conversation, branch, event number): where a change was made."""


class View:
    """A place to look from, within one transaction."""

    def __init__(
        self,
        tx: Tx,
        found: Found | None = None,
        branch: int | None = None,
        *,
        seq: int | None = None,
        time: int | None = None,
    ) -> None:
        self._tx = tx
        self.found = found
        self.is_plain = seq is None and time is None and (found is None or branch in (None, found.active_branch))
        """Whether it sees what is seen from outside: then heads tell how every memory stands."""
        self._lineages: dict[int, dict[int, int] | None] = {}
        """Conversation -> branch -> up to which event; None: all of it is seen."""
        self._time = time
        self._before: int | None = None
        if found is not None and not self.is_plain:
            at = branches.NO_LIMIT if seq is None else seq
            own = branches.lineage(tx, found.no, found.active_branch if branch is None else branch, at)
            self._lineages[found.no] = dict(own)
            if seq is not None:
                self._before = self._first_after(found.no, branches.climb(branches.tree(tx, found.no), own[0][0]), seq)

    def _first_after(self, conversation: int, own: branches.Lineage, seq: int) -> int | None:
        """The id of the event that came next: what was done by hand or elsewhere before it had been done by then."""
        for branch, high in reversed(own):
            if high > seq:
                row = self._tx.one(
                    "select id from events where user_no = :user and conversation_no = :c and branch_no = :b and seq > :seq"
                    " and seq <= :high order by seq limit 1",
                    c=conversation, b=branch, seq=seq, high=high,
                )  # fmt: skip
                if row is not None:
                    return int(row[0])
        return None

    def sees(self, change: Change) -> bool:
        if self._time is not None and change.at > self._time:
            return False
        no = change.conversation_no
        if no is None or self.found is None or no != self.found.no:
            if self._before is not None and change.id >= self._before:
                return False
        if no is None:
            return True
        if no not in self._lineages:
            self._lineages[no] = self._active(no)
        lineage = self._lineages[no]
        return lineage is None or (change.seq or 0) <= lineage.get(change.branch_no or 0, -1)

    def _active(self, no: int) -> dict[int, int] | None:
        tree = branches.tree(self._tx, no)
        if len(tree) <= 1:
            return None
        row = self._tx.one("select active_branch from conversations where user_no = :user and no = :c", c=no)
        return dict(branches.climb(tree, int(row[0]))) if row else {}

    def standing(self, changes: Iterable[Change]) -> Change | None:
        """The change in force among those of one memory, oldest first; None when the memory is not seen at all. What
        was only ever done and undone stands as forgotten."""
        last = first = None
        for change in changes:
            if self.sees(change):
                if change.undone_at is None or (self._time is not None and change.undone_at > self._time):
                    last = change
                elif first is None:
                    first = change
        return last if last is not None or first is None else first.but(state="forgotten")

    def among(self, memories: Sequence[int]) -> dict[int, Change]:
        """How each of these memories stands, by number; those that are not seen are missing."""
        found: dict[int, Change] = {}
        for memory, changes in of(self._tx, memories).items():
            change = self.standing(changes)
            if change is not None:
                found[memory] = change
        return found


def of(tx: Tx, memories: Sequence[int]) -> dict[int, list[Change]]:
    """All changes of some memories, oldest first."""
    found: dict[int, list[Change]] = {}
    for start in range(0, len(memories), 400):
        listed = ",".join(map(str, memories[start : start + 400]))
        for row in tx.all(
            f"select {NAMES} from memory_changes where user_no = :user and memory in ({listed}) order by memory, id"
        ):
            found.setdefault(row[2], []).append(Change(*row))
    return found


def may_be_active(changes: Iterable[Change]) -> bool:
    """Whether the memory stands as active from anywhere: only then can it be found by search. What is done everywhere
    settles it; what is done in one place leaves the others as they were."""
    possible: set[str] = set()
    for change in changes:
        if change.undone_at is None:
            if change.conversation_no is None:
                possible.clear()
            possible.add(change.state)
    return "active" in possible
