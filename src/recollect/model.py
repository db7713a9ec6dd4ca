"""The values that verbs take and give: frozen, equal when equal, and ignorant of any database.

Times are integer milliseconds UTC. An event is named by its conversation and its number there, which is what
`Event.id` spells ("<conversation>:<seq>"): it survives export and import, and needs no column of its own.
"""

from __future__ import annotations

from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypedDict
else:

    class TypedDict(dict):
        """At run time an Entry is a dict, and `typing` stays out."""

        def __init_subclass__(cls, total: bool = True) -> None: ...


KINDS = (
    "message", "tool_use", "tool_result", "approval", "error", "artifact",
    "reasoning", "ledger", "summary", "note", "event",
)  # fmt: skip
ROLES = ("user", "assistant", "system", "tool")
MAIN = "main"

if TYPE_CHECKING:
    Json = Any
    Model = Callable[[str], str]
    """A prompt in, an answer out."""
    Progress = Callable[[str, int, int], None]
    """Called with (what is being done, done so far, out of how many) by the verbs that take long."""


@dataclass(frozen=True)
class Conversation:
    """One ordered, append-only log. `last_seq` is the number of its newest event and never goes back."""

    id: str
    title: str | None
    workspace: str | None
    workflow_id: str | None
    metadata: Mapping[str, Json]
    active_branch: str
    last_seq: int
    created_at: int
    updated_at: int
    deleted_at: int | None
    cursor: str = ""
    """Where this conversation stands in the list by activity: pass it as `conversations(cursor=...)` for what follows."""

    uncompared = ("cursor",)


@dataclass(frozen=True)
class Event:
    """One thing that happened. `seq` is its number in the conversation; 0 means it was not stored (see `stored`)."""

    conversation_id: str
    seq: int
    kind: str
    role: str | None
    text: str
    name: str | None
    tool: str | None
    path: str | None
    agent: str | None
    status: str | None
    task_id: str | None
    message: int | None
    """For reasoning: the number of the message it led to."""
    tags: tuple[str, ...]
    payload: Mapping[str, Json]
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    duration_ms: int | None
    key: str | None
    branch: str
    created_at: int
    traces: tuple[Event, ...] = ()
    """Reasoning events of this message, filled by `messages(include_reasoning=True)`."""

    @property
    def id(self) -> str:
        return f"{self.conversation_id}:{self.seq}"

    @property
    def stored(self) -> bool:
        """False when the kind is switched off in the settings: then nothing was written and `seq` is 0."""
        return self.seq > 0

    @property
    def reasoning(self) -> str | None:
        """The text of the joined traces, None without any."""
        return "\n\n".join(t.text for t in self.traces) or None


@dataclass(frozen=True)
class Branch:
    """A pointer into the log: `parent`'s history up to `fork_seq`, then its own events. `main` has no parent."""

    name: str
    conversation_id: str
    parent: str | None
    fork_seq: int
    head: int
    """The number of the newest event to be seen on this branch, 0 when there is none."""
    active: bool
    created_at: int
    updated_at: int
    preview: str

    @property
    def id(self) -> str:
        return self.name


@dataclass(frozen=True)
class LedgerEntry:
    """The newest snapshot of one task."""

    task_id: str
    goal: str
    status: str | None
    payload: Mapping[str, Json]
    seq: int
    created_at: int


@dataclass(frozen=True)
class Reasoning:
    """What may be known of a trace besides its text, for `append(reasoning=...)`."""

    text: str
    effort: str | None = None
    verbosity: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: int | None = None


class Entry(TypedDict, total=False):
    """One item of `append_many`: the keyword arguments of `append`."""

    kind: str
    role: str | None
    text: str
    name: str | None
    tool: str | None
    path: str | None
    agent: str | None
    status: str | None
    task_id: str | None
    goal: str | None
    message: int | None
    tags: Sequence[str]
    payload: Mapping[str, Json] | None
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    duration_ms: int | None
    key: str | None
    created_at: int | None
    reasoning: str | Reasoning | None
    diff: str | None


@dataclass(frozen=True)
class StatRow:
    """One line of `stats(by=...)`."""

    key: str
    events: int
    input_tokens: int
    output_tokens: int
    cost: float
    duration_ms: int


@dataclass(frozen=True)
class Stats:
    """How much there is, and of what. `rows` answers `by=`; `jobs` counts the background work by state."""

    user: str
    conversations: int
    deleted_conversations: int
    events: int
    messages: int
    branches: int
    first_at: int | None
    last_at: int | None
    jobs: Mapping[str, int]
    job_errors: tuple[str, ...]
    bytes: int
    schema: int
    rows: tuple[StatRow, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One thing `verify` found: where, what, and what to do about it."""

    where: str
    what: str
    fix: str


@dataclass(frozen=True)
class Verification:
    """What `verify` looked at and what it found. `ok` means: every row is what was written, every number accounted for."""

    conversations: int
    events: int
    tombstones: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True)
class Backup:
    """A copy of a store that was read back and found sound."""

    path: Path
    bytes: int
    events: int
    created_at: int


@dataclass(frozen=True)
class Salvage:
    """What was saved from a damaged file into a new store."""

    path: Path
    users: int
    conversations: int
    events: int
    damaged: int
    """Events whose checksum does not fit: kept, and tagged `damaged`."""
    missing: int
    """Event numbers for which no row was found: deleted earlier, or lost. They are tombstones in the new store."""


@dataclass(frozen=True)
class Receipt:
    """What an erasure removed: counts by table, no content."""

    id: str
    request: Mapping[str, str]
    counts: Mapping[str, int]
    erased_at: int
