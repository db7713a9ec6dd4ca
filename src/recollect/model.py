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
RESERVED = frozenset({"always-allow"})  # tags that only a person gives, on the page or in the terminal
SENSITIVE = "sensitive"  # the tag of what had a secret in it; such records stay out of contexts
OFFLINE = "recollect-offline"  # the model of an answer that was given without one
DISOWNED = "disowned"  # the name of an event that says of the message it points at: nobody typed it
MEMORY_KINDS = ("fact", "preference", "todo", "project_state")
MEMORY_STATES = ("active", "replaced", "quarantined", "forgotten", "expired")
ORIGINS = ("application", "langgraph", "bot", "import", "hook", "http")

if TYPE_CHECKING:
    Json = Any
    Model = Callable[[str], str]
    """A prompt in, an answer out."""
    Progress = Callable[[str, int, int], None]
    """Called with (what is being done, done so far, out of how many) by the verbs that take long."""


@dataclass(frozen=True)
class Conversation:
    """One ordered, append-only log. `last_seq` is the number of its newest event and never goes back."""

    id: str  # the caller's own or a UUIDv7; unique within its user
    title: str | None  # given, or taken from the first message; None until there is one
    workspace: str | None  # the folder or project it belongs to; at most one
    workflow_id: str | None  # the run of another system that it belongs to
    metadata: Mapping[str, Json]  # the caller's own JSON object, given at `create`
    active_branch: str  # what reads and writes mean when they name no branch
    last_seq: int  # the number of its newest event; never goes back, not even after `clear`
    created_at: int  # when it was created
    updated_at: int  # when its newest event happened; when it was made while it has none
    deleted_at: int | None  # when it was put in the bin; None outside it
    origin: str = "application"  # what records it: application, langgraph, bot (AgentNode), import, hook or http; the last two expire
    checkpoint: str | None = None  # the id of its newest checkpoint, if a graph keeps its state here
    cursor: str = ""
    """Where this conversation stands in the list by activity: pass it as `conversations(cursor=...)` for what follows."""

    uncompared = ("cursor",)


@dataclass(frozen=True)
class Event:
    """One thing that happened. `seq` is its number in the conversation; 0 means it was not stored (see `stored`)."""

    conversation_id: str  # the conversation it stands in
    seq: int  # its number there: 1, 2, 3, ...; 0 when it was not stored
    kind: str  # what it is; see the words below
    role: str | None  # who speaks: user, assistant, system or tool; None for most other kinds
    text: str  # what was said; the goal of a ledger entry, the snippet of an artifact
    name: str | None  # for kind `event`: its type in the system it came from, such as `workflow.start`
    tool: str | None  # the tool that was used
    path: str | None  # the file that was meant; an artifact's is relative to the workspace
    agent: str | None  # which agent did it
    status: str | None  # the state of a ledger entry, an approval or a tool's result
    task_id: str | None  # for a ledger snapshot: its task
    message: int | None
    """For reasoning: the number of the message it led to. For a message: the number of the one whose place it takes."""
    tags: tuple[str, ...]  # free words to find it by
    payload: Mapping[str, Json]  # whatever else belongs to it, a JSON object
    model: str | None  # the model that answered
    input_tokens: int | None  # tokens read by the model
    output_tokens: int | None  # tokens written by the model
    cost: float | None  # what it cost, in the caller's currency
    duration_ms: int | None  # how long it took
    key: str | None  # the idempotency key it was appended with
    branch: str  # the branch it was written on
    created_at: int  # when it happened
    traces: tuple[Event, ...] = ()
    """Reasoning events of this message, filled by `messages(include_reasoning=True)`."""

    @property
    def id(self) -> str:
        """The event's name everywhere: conversation and number."""
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

    name: str  # unique within its conversation; `main` is the first
    conversation_id: str  # the conversation it belongs to
    parent: str | None  # the branch it was forked from; None for `main`
    fork_seq: int  # the last event number it shares with its parent
    head: int
    """The number of the newest event to be seen on this branch, 0 when there is none."""
    active: bool  # whether it is the one meant when none is named
    created_at: int  # when it was forked
    updated_at: int  # when its newest own event happened; when it was forked while it has none
    preview: str  # the beginning of the newest thing said on it, in one line

    @property
    def id(self) -> str:
        """The same as `name`."""
        return self.name


@dataclass(frozen=True)
class Checkpoint:
    """A graph's state at one moment: where to travel back to. Its values are the graph's own; LangGraph reads them."""

    id: str  # LangGraph's checkpoint_id; sorts by time
    conversation_id: str  # the conversation (LangGraph's thread_id)
    parent: str | None  # the checkpoint it came from
    branch: str  # the branch of the log it belongs to
    seq: int  # the number of the newest event when it was taken; 0 before the first
    source: str | None  # what made it: input, loop, update or fork
    step: int | None  # the graph's own counter; -1 is the first input
    node: str | None  # which node had just run; several are joined by commas
    created_at: int  # when it was stored
    preview: str  # the beginning of the newest thing said, in one line


@dataclass(frozen=True)
class LedgerEntry:
    """The newest snapshot of one task."""

    task_id: str  # which task
    goal: str  # what is to be reached
    status: str | None  # how it stands, in the caller's words
    payload: Mapping[str, Json]  # whatever else the snapshot holds
    seq: int  # the event it was taken from
    created_at: int  # when it was taken
    agent: str | None = None  # which agent took it


@dataclass(frozen=True)
class Reasoning:
    """What may be known of a trace besides its text, for `append(reasoning=...)`."""

    text: str  # the trace itself
    effort: str | None = None  # how hard the model was asked to think
    verbosity: str | None = None  # how much it was asked to say
    model: str | None = None  # the model; the message's own unless said
    input_tokens: int | None = None  # tokens read
    output_tokens: int | None = None  # tokens written
    duration_ms: int | None = None  # how long it thought
    metadata: Mapping[str, Json] | None = None  # whatever else is known of it; the trace's payload


class Entry(TypedDict, total=False):
    """One item of `append_many`: the keyword arguments of `append`."""

    kind: str  # "message" unless said
    role: str | None  # needed by a message: user, assistant, system or tool
    text: str  # what was said; empty is fine, NUL is not
    name: str | None  # needed by kind `event`: its type
    tool: str | None  # the tool that was used
    path: str | None  # the file that is meant; needed by an artifact
    agent: str | None  # which agent did it
    status: str | None  # a state, in your words
    task_id: str | None  # needed by a ledger snapshot
    goal: str | None  # for a ledger snapshot: its text
    message: int | None  # for reasoning: the number of its message
    tags: Sequence[str] | None  # free words
    payload: Mapping[str, Json] | None  # a JSON object; NaN and Infinity are refused
    model: str | None  # the model that answered
    input_tokens: int | None  # tokens read by the model
    output_tokens: int | None  # tokens written by the model
    cost: float | None  # from 0 on, in your currency
    duration_ms: int | None  # how long it took
    key: str | None  # the same key on the same branch appends once
    created_at: int | None  # for history that is brought in; now unless said
    reasoning: str | Reasoning | None  # a trace, written in the message's transaction
    effort: str | None  # for reasoning: how hard the model was asked to think
    verbosity: str | None  # for reasoning: how much it was asked to say
    diff: str | None  # for an artifact: kept in the payload, cut after 200 lines


@dataclass(frozen=True)
class Provenance:
    """Where a memory came from."""

    conversation_id: str | None  # the conversation it was said in; None: none, or one that has expired
    branch: str | None  # the branch it was said on
    seqs: tuple[int, ...]  # the numbers of the events it came from; () when it came from none
    checkpoint_id: str | None  # the checkpoint of a graph it came with
    role: str | None  # whose words: user, assistant, tool, system
    extractor: str  # what took it from them: hand, rules, events, model:...
    workspace: str | None = None  # the workspace of that conversation


@dataclass(frozen=True)
class Memory:
    """A short statement that outlives its conversation, as it stands from where one looks."""

    id: str  # stable for the same statement in the same scope
    kind: str  # fact, preference, todo, project_state
    content: str  # the statement
    importance: float  # 0 to 1
    tags: tuple[str, ...]  # free labels
    conversation_id: str | None  # the conversation it is limited to; None: the user's
    workspace: str | None  # the workspace it is limited to; None: everywhere
    source: str | None  # the id of the event it came from
    pinned: bool  # whether it was pinned
    created_at: int  # when it was remembered
    updated_at: int  # when it was last said again or changed
    state: str  # active, replaced, quarantined, forgotten, expired
    by_hand: bool  # whether a person wrote or revised it: then no extraction changes it
    provenance: Provenance  # where it came from
    valid_from: int | None  # since when it is true
    valid_to: int | None  # until when it is true, or when it is due
    expires_at: int | None  # when it goes unless it is said again; None: never
    replaced_by: str | None  # the id of the memory that took its place
    conflicts_with: str | None  # the id of a memory that it contradicts and may not replace
    flag: str | None  # why somebody should look at it
    uses: int  # how often it was recalled
    used_at: int | None  # when it was last recalled
    made_room: tuple[str, ...] = ()  # from `remember` alone: ids of what had to go because the scope was full

    uncompared = ("made_room",)

    @property
    def scope(self) -> str:
        """Where it is seen: "user", "conversation" or "workspace"."""
        return "conversation" if self.conversation_id else "workspace" if self.workspace else "user"


@dataclass(frozen=True)
class MemoryChange:
    """One thing that happened to a memory: who did it, why, and how it stood before and after."""

    action: str  # added, confirmed, revised, replaced, forgotten, expired, evicted, quarantined, promoted, pinned, ...
    who: str  # user, or what made the change: an extractor, retention
    why: str  # for a person to read
    at: int  # when it was said, or done by hand
    before: Memory | None  # how it stood before; None: it was not there
    after: Memory  # how it stood afterwards
    conversation_id: str | None  # the conversation it was changed in; None: everywhere
    branch: str | None  # the branch it was changed on
    seq: int | None  # the event it was changed at
    undone_at: int | None  # when it was undone; None: it was not


@dataclass(frozen=True)
class Consolidation:
    """What `consolidate` did: how much it considered, and what came of each candidate."""

    conversation_id: str  # of which conversation
    branch: str  # along which branch
    turns: int  # events that had not been considered before
    candidates: int  # statements that they offered
    added: int  # became memories
    updated: int  # took the place of others
    deleted: int  # retired others
    unchanged: int  # were known already, or could not be kept
    conflicts: int  # contradict what a person wrote or pinned
    quarantined: int  # wait for a person to look at them
    decisions: tuple[tuple[str, str, str], ...]  # (action, statement, why) of each, in the order said


@dataclass(frozen=True)
class Expiry:
    """One thing that retention lets go."""

    type: str  # "conversation", "events" (some of a conversation that stays) or "memory"
    id: str  # its id, or the conversation's
    title: str  # a conversation's title, a memory's statement
    why: str  # for a person to read
    events: int  # how many events go with it


@dataclass(frozen=True)
class Retention:
    """What `retain` lets go, or would."""

    expiries: tuple[Expiry, ...]  # what goes
    kept: int  # events and memories that stay only because they are pinned
    applied: bool  # whether it was done


@dataclass(frozen=True)
class Hit:
    """One thing that search found. `parts` say what its score is made of; they sum to it."""

    type: str  # "event" or "memory"
    kind: str  # the kind of the event or memory
    id: str  # the id of the event or memory
    conversation_id: str | None  # where it was said; None for a memory of the user's
    seq: int | None  # the event's number there; None for a memory
    text: str  # all of it
    snippet: str  # the part that matched, bounded
    score: float  # 1 is: every word of the question stands in it
    parts: Mapping[str, float]  # words, neighbours, meaning, speaker, time, form, recency, pin, affinity
    created_at: int  # when it was said or remembered
    speaker: str | None = None  # who said it: an agent's name, or the role
    branch: str | None = None  # the branch it was written on
    sensitive: bool = False  # whether a secret was taken out of it
    workspace: str | None = None  # of its conversation, or the one a memory is limited to
    tool: str | None = None  # of an event: which tool
    path: str | None = None  # of an event: which file
    tags: tuple[str, ...] = ()  # its labels
    provenance: Provenance | None = None  # of a memory: where it came from


@dataclass(frozen=True)
class ContextItem:
    """One piece of evidence in a context: a memory, or an excerpt of a conversation."""

    hit: Hit  # what was found: of an excerpt, its best event
    hits: tuple[Hit, ...]  # everything that is quoted, as it was said
    tokens: int  # what it costs
    why: str  # with `why=True`: why it is there


@dataclass(frozen=True)
class Context:
    """The best evidence within a budget, quoted as data."""

    text: str  # for a data message of the prompt; "" when there is nothing
    items: tuple[ContextItem, ...]  # what it holds, best first
    tokens: int  # what the text costs by the tokenizer in use


@dataclass(frozen=True)
class StatRow:
    """One line of `stats(by=...)`."""

    key: str  # the day, kind, tool, ... that was counted
    events: int  # how many events
    input_tokens: int  # their sum
    output_tokens: int  # their sum
    cost: float  # their sum
    duration_ms: int  # their sum


@dataclass(frozen=True)
class Stats:
    """How much there is, and of what. `rows` answers `by=`; `jobs` counts the background work by state."""

    user: str  # whose
    conversations: int  # without those in the bin
    deleted_conversations: int  # those in the bin
    events: int  # of every kind
    messages: int  # events of kind `message`
    branches: int  # all of them, every `main` included
    first_at: int | None  # when the oldest event happened
    last_at: int | None  # when the newest event happened
    jobs: Mapping[str, int]  # background work by state: queued, running, failed; `to_embed`: texts without a vector yet
    job_errors: tuple[str, ...]  # what went wrong with the newest ten that failed
    bytes: int  # the size of the whole database, all users
    schema: int  # the schema's number
    memories: Mapping[str, int]
    """Memories by state, and their health: `duplicates`, `stale` (true until a day that has passed), `never_recalled`,
    `conflicts` (contradicted, or resting on what has changed); `quarantined` ones wait for somebody to look at them;
    `not_understood` counts turns that could not be read for memories because of an error of ours."""
    rows: tuple[StatRow, ...] = ()  # one for each group, when `by` was given
    items: int = 0  # kept by a graph's store (recollect.langgraph.MemoryStore)


@dataclass(frozen=True)
class Problem:
    """One thing `verify` found: where, what, and what to do about it."""

    where: str  # the conversation, event or file
    what: str  # what is wrong with it
    fix: str  # what to do


@dataclass(frozen=True)
class Verification:
    """What `verify` looked at and what it found. `ok` means: every row is what was written, every number accounted for."""

    conversations: int  # how many were looked at
    events: int  # how many were looked at
    tombstones: int  # numbers that are accounted for by a deletion
    problems: tuple[Problem, ...]  # what was found; empty when all is well

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


@dataclass(frozen=True)
class Backup:
    """A copy of a store that was read back and found sound."""

    path: Path  # where it is
    bytes: int  # its size
    events: int  # how many were read back
    created_at: int  # when it was made


@dataclass(frozen=True)
class Imported:
    """What an import brought in. What it found there already it left alone; what it could not take is a problem each."""

    format: str  # which one it was: recollect, langgraph, ...
    added: Mapping[str, int]  # how many were brought in, by what they are: conversations, events, memories, ...
    known: Mapping[str, int]  # how many were there already, likewise
    problems: tuple[Problem, ...] = ()  # what was left out, where it stands, and what to do about it
    signed: bool = True  # of an export: whether this store, or a copy of it, made it for this user
    trusted: bool = True  # whether it was taken at its word; if not, its memories wait to be reviewed


@dataclass(frozen=True)
class SecretPlace:
    """Where a secret is stored, and of which families; never what it says."""

    conversation_id: str  # the conversation; "" for none, a hash for an id that is a secret itself
    seq: int  # the event's number; 0 for the conversation's own title, metadata, branch names, memories, failed jobs
    families: tuple[str, ...]  # what was found there


@dataclass(frozen=True)
class Scan:
    """What `scan` went over and found."""

    events: int  # how many events were looked at
    places: tuple[SecretPlace, ...]  # where secrets are stored, or were, if they were fixed
    fixed: bool  # whether they were replaced


@dataclass(frozen=True)
class Salvage:
    """What was saved from a damaged file into a new store."""

    path: Path  # the new store
    users: int  # how many were found
    conversations: int  # how many were found
    events: int  # how many were saved
    damaged: int
    """Events whose checksum does not fit: kept, and tagged `damaged`."""
    missing: int
    """Event numbers for which no row was found: deleted earlier, or lost. They are tombstones in the new store."""
    memories: int = 0  # how many were saved


@dataclass(frozen=True)
class Change:
    """One thing that happened in a store: an event was appended, or a memory changed."""

    id: int  # its place in the order of everything this user has; pass it as `changes(after=...)`
    type: str  # "event" or "memory"
    conversation_id: str | None  # where it was said; None for a memory of the user's or a workspace's
    workspace: str | None  # the workspace that it belongs to
    event: Event | None  # what was appended
    memory: Memory | None  # how the memory stood after the change
    action: str | None  # of a memory: added, confirmed, revised, replaced, forgotten, ...
    who: str | None  # of a memory: who changed it
    why: str | None  # of a memory: for a person to read
    at: int  # when


@dataclass(frozen=True)
class Changes:
    """A page of `changes`, oldest first, and where the next one begins."""

    items: tuple[Change, ...]  # what happened
    cursor: int  # pass it as `after` for what follows


@dataclass(frozen=True)
class Receipt:
    """What an erasure removed, and the proof that it is gone: counts and hashes, no id and no content. Of a dry run it is the
    plan: what would go, and nothing was done."""

    id: str  # a UUIDv7; "" for a plan
    request: Mapping[
        str, str
    ]  # what was asked: conversation, workspace, user, memory or source, and a keyed hash of its id
    counts: Mapping[str, int]  # how many rows went, by table
    erased_at: int  # when it was asked for
    who: str  # who asked: user, admin, or langgraph (`delete_thread`)
    changed: Mapping[str, int]  # how many rows stay and lose only what came from there, by table
    hashes: tuple[str, ...]  # keyed hashes of the ids of conversations and memories that went
    backups: tuple[str, ...]  # files that were there at the time and still hold it
    checks: Mapping[str, int]  # what was looked for afterwards, by table, and how much was found: all zero
    finished_at: int | None  # when all of it was gone; None: not yet
    applied: bool = True  # False for a plan

    @property
    def ok(self) -> bool:
        """Whether all of it is gone: it was finished, and the check found nothing."""
        return self.finished_at is not None and not any(self.checks.values())
