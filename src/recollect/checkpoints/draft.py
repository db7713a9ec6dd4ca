"""A checkpoint on its way to the tables, as it is prepared in the caller's thread."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .. import events
    from .pieces import Stored, Value


class Item:
    """Something a state says: at most one event of the log. `id` is the message's own, or a hash; `also` is another id under
    which it may be there: then nothing is added. `over` is the id under which a subgraph said it: the event of that gives way. What
    the graph itself says takes the place of nothing that the user said."""

    __slots__ = ("also", "digest", "draft", "id", "is_graphs", "over")

    def __init__(self, id: str, digest: bytes, draft: events.Draft, also: str | None = None) -> None:
        self.id = id
        self.digest = digest
        self.draft = draft
        self.is_graphs = False
        self.also = also
        self.over: str | None = None


class Draft:
    """A checkpoint, prepared in the caller's thread."""

    def __init__(self, conversation: str, namespace: str, id: str, parent: str | None) -> None:
        self.conversation = conversation
        self.namespace = namespace
        self.id = id
        self.parent = parent
        self.branch: str | None = None
        """The branch that the caller named."""
        self.source: str | None = None
        self.step: int | None = None
        self.run_id: str | None = None
        self.head: dict[str, Any] = {}
        """The checkpoint itself without its values."""
        self.metadata: Any = {}
        self.values: dict[str, Value] = {}
        self.inherits: dict[str, Any] = {}
        """Channel -> version, of those that may be taken over from the parent."""
        self.items: list[Item] = []
        self.shared: frozenset[bytes] = frozenset()
        """Keys in the rows of the parent's lists: what they stand for is there, as long as the parent has these lists."""
        self.lists: dict[str, str] = {}
        """Channel -> the parent's list, as its row names it, of those whose keys are known."""
        self.needs_parent = False
        """Whether the draft was made with what the parent is known to hold."""
        self.secret: Stored = ("", b"")
        self.created_at: int | None = None
        """When it was made, if not now."""
        self.made_at: int | None = None
        """When the graph says that it was made."""
        self.begun_at: int | None = None
        """When a run began that holds nothing of what the thread said before, if it is one. What was erased later than that
        stays erased."""
        self.limited = False
        """Whether old checkpoints are to go."""
        self.known_as = 0
        """The number of the conversation whose secret the keys were made with; 0: not known to have one."""
        self.forked_from: str | None = None
        """Said by `put`: the checkpoint at which this one starts a branch."""
