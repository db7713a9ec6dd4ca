"""Branches and checkpoints: where a conversation parts, and where a graph can travel back to."""

from __future__ import annotations

from .. import branches, checks, conversations
from ..errors import InvalidInput
from .arguments import conversation_id
from .handle import Handle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..db import Tx
    from ..model import Branch, Checkpoint, Conversation
    from .arguments import BranchLike, ConversationLike


class BranchVerbs(Handle):
    # -- branches

    def fork(
        self,
        conversation: ConversationLike,
        at: int | None = None,
        *,
        name: str | None = None,
        branch: BranchLike = None,
        switch: bool = False,
    ) -> Branch:
        """Start a branch that shares history up to event `at` (the newest unless said; 0 is before the first). Nothing
        is copied, and both histories stay. `switch=True` makes it the active one."""
        c = conversation_id(conversation)
        at = None if at is None else checks.count(at, "at")
        if name is not None and self._safe_id(name, "branch name") == branches.EVERY:
            raise InvalidInput("'*' stands for every branch and cannot be the name of one.")

        def write(tx: Tx) -> Branch:
            made = branches.fork(tx, c, at, branch, name, switch)
            if switch:
                self._look_again(tx, c)
            return made

        made = self._write(write)
        self._tell("chat.branch_forked", thread_id=c, at_event=made.fork_seq)
        return made

    def _look_again(self, tx: Tx, conversation: str) -> None:
        """Another branch is the active one: what was learned on the others is not seen from outside any more."""
        from .. import edits

        edits.refresh_of(tx, conversations.find(tx, conversation).no)

    def branches(self, conversation: ConversationLike) -> list[Branch]:
        """All branches of a conversation with parent, fork point, head, last activity and a preview, `main` first."""
        name = conversation_id(conversation)
        return self._read(lambda tx: branches.listing(tx, name))

    def switch(self, conversation: ConversationLike, branch: str | Branch) -> Conversation:
        """Make a branch the active one: what reads and writes mean when they name none."""
        name = conversation_id(conversation)

        def write(tx: Tx) -> Conversation:
            branches.set_active(tx, name, branch)
            self._look_again(tx, name)
            return conversations.get(tx, name)

        return self._write(write)

    def checkpoints(
        self,
        conversation: ConversationLike,
        *,
        limit: int = 20,
        before: str | Checkpoint | None = None,
        branch: BranchLike = None,
    ) -> list[Checkpoint]:
        """Where a graph can travel back to, newest first, of every branch unless one is said. For the next page pass the
        last one as `before`. A graph that is compiled with `recollect.langgraph.Saver` writes them."""
        from ..checkpoints import stored

        name, limit = conversation_id(conversation), checks.count(limit, "limit")
        last = None if before is None else before if isinstance(before, str) else before.id
        if last is not None:
            checks.text(last, "before")
        with self._telemetry.span("chat.time_travel.list_history", self._user, thread_id=name):
            return self._read(lambda tx: stored.listing(tx, name, limit=limit, before=last, branch=branch))
