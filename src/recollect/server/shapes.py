"""What goes over the wire: the bodies and answers of the routes, checked and documented by pydantic.

The words are those of coding agents: `session_id` is our conversation, `content` an event's text, `metadata` its payload,
a `record` an event, a `fact` a memory. Only the door speaks like this. Answers are made by the functions at the end, which
cost a tenth of validating what we wrote ourselves; a test holds them against these shapes.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from .. import ids
from ..model import (
    SENSITIVE,
    Branch,
    Change,
    Consolidation,
    Context,
    Conversation,
    Entry,
    Event,
    Hit,
    LedgerEntry,
    Memory,
    Provenance,
    Receipt,
)

Type = Literal[
    "prompt", "assistant", "system", "message", "tool_use", "tool_result", "approval", "error", "artifact", "reasoning",
    "ledger", "note", "event",
]  # fmt: skip
ROLES = {"prompt": "user", "assistant": "assistant", "system": "system"}
"""Types that are messages, and whose."""
Id = Annotated[str, Field(min_length=1, max_length=256)]


def placed(workspace: str) -> str:
    """A folder in one spelling: `/repo/` is `/repo`, as a hook says it. What is no absolute path may be of another system, or a
    name; it is taken as it is."""
    return posixpath.normpath(workspace) if workspace.startswith("/") else workspace


Workspace = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(placed)]
Whole = Annotated[int, Field(ge=0, le=2**53)]
MOST_RECORDS = 1000
FIRST_MS = 10**11  # 1973: a smaller number is in seconds
AHEAD_MS = 86_400_000  # a clock may be wrong by a day

LOOK = "Look from this workspace: what belongs to another is not found."
SESSION = "5d7f3c1e"
EVENT = f"{SESSION}:3"
MEMORY = "0a4be1f0c7d94b2f8f1e6f3d2a5b9c80"


class Shape(BaseModel):
    """What a client sends: a misspelt field is an error, not silence."""

    model_config = ConfigDict(extra="forbid")


class Record(Shape):
    """One thing that happened."""

    type: Type = Field(description="What it is: what the user said, a tool's input or output, ...")
    session_id: Id = Field(description="The conversation; it is created at first sight.")
    workspace: Workspace | None = Field(None, description="The project it belongs to; of a new session, for good.")
    content: str = Field("", description="What was said or done.")
    role: Literal["user", "assistant", "system", "tool"] | None = Field(None, description="Of a `message`: whose.")
    tool: str | None = Field(None, description="The tool.")
    path: str | None = Field(None, description="The file that is meant.")
    tags: list[str] = Field(default_factory=list, description="Free words to find it by.")
    metadata: dict[str, Any] | None = Field(
        None, description='Whatever else belongs to it. `"sensitive": true` is the same as the tag `sensitive`.'
    )
    key: Id | None = Field(None, description="Sent twice with the same key, it is stored once.")
    id: Id | None = Field(
        None, description="The same as `key`: an id of your own, by which it can be read and deleted."
    )
    name: str | None = Field(None, description="Of an `event`: its type, as in `workflow.start`.")
    agent: str | None = Field(None, description="Which agent did it.")
    status: str | None = Field(None, description="A state, of an approval for one.")
    task_id: str | None = Field(None, description="Of a `ledger` snapshot: its task.")
    message: Whole | None = Field(None, description="Of `reasoning`: the number of its message.")
    reasoning: str | None = Field(None, description="Of a message: the trace that led to it.")
    diff: str | None = Field(None, description="Of an `artifact`: what changed.")
    model: str | None = Field(None, description="The model that answered.")
    input_tokens: Whole | None = Field(None, description="Tokens it read.")
    output_tokens: Whole | None = Field(None, description="Tokens it wrote.")
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(None, description="In your currency.")
    duration_ms: Whole | None = Field(None, description="How long it took.")
    created_at: Whole | None = Field(None, description="When it happened, in ms, for history that is brought in.")
    ts: Whole | None = Field(None, description="The same as `created_at`.")
    branch: Id | None = Field(None, description="Which branch; the active one unless said.")
    again: bool = Field(False, description="Begin the session again, if it was erased.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"type": "prompt", "session_id": SESSION, "workspace": "/repo", "content": "Use tabs in Makefiles."},
                {
                    "type": "tool_use", "session_id": SESSION, "workspace": "/repo", "tool": "Write", "path": "Makefile",
                    "content": "all:", "tags": ["build"], "metadata": {"lines": 1}, "key": "call-17",
                },
            ]
        },
    )  # fmt: skip

    @model_validator(mode="after")
    def _said_once(self) -> Record:
        """The names of the record's own shape, where ours are not said."""
        for ours, theirs in (("key", "id"), ("created_at", "ts")):
            value = getattr(self, theirs)
            if value is None:
                continue
            if getattr(self, ours) not in (None, value):
                raise ValueError(f"{theirs} and {ours} are the same thing: say one of them.")
            setattr(self, ours, value)
        at = self.created_at
        if at is not None and not FIRST_MS <= at <= ids.now() + AHEAD_MS:
            raise ValueError(
                "created_at (or ts) is in milliseconds since 1970, from 1973 until now: is it in other units?"
            )
        return self

    def entry(self) -> Entry:
        """As `append` takes it."""
        given: Entry = {"text": self.content}
        role = ROLES.get(self.type)
        if role is not None:
            given["role"] = role
        else:
            given["kind"] = self.type
            if self.role is not None:
                given["role"] = self.role
        for name in PLAIN & self.model_fields_set:
            value = getattr(self, name)
            if value is not None:
                given[name] = value  # type: ignore[literal-required]
        if self.metadata is not None:
            given["payload"] = self.metadata
            if self.metadata.get("sensitive") is True:
                given["tags"] = list({**dict.fromkeys(self.tags), SENSITIVE: None})
        return given


PLAIN = frozenset(Record.model_fields) & Entry.__annotations__.keys() - {"role"}


class Batch(Shape):
    """Several at once, of one session or more."""

    records: Annotated[list[Record], Field(min_length=1, max_length=MOST_RECORDS)] = Field(
        description=f"Up to {MOST_RECORDS}; those of one session are written together, all or none."
    )


class Recorded(BaseModel):
    """What became of a record: stored for good, or an error."""

    id: str | None = Field(None, description="What it is called from now on.", examples=[EVENT])
    seq: int | None = Field(None, description="Its number in the session; 0 when its type is switched off.")
    session_id: str
    stored: bool = Field(description="Whether it was written.")
    created_at: int | None = Field(None, description="When it happened, in ms.")
    error: ErrorWhat | None = Field(None, description="Why it was not written.")


class RecordedAnswer(Recorded):
    """One record, or those of a batch, in the order in which they were sent."""

    session_id: str | None = None  # type: ignore[assignment]
    stored: bool | None = None  # type: ignore[assignment]
    records: list[Recorded] | None = Field(None, description="Of a batch: one for each, in order.")
    failed: int | None = Field(None, description="Of a batch: how many were not written.")


class ErrorDetail(BaseModel):
    where: str
    what: str


class ErrorWhat(BaseModel):
    code: str = Field(examples=["not_found"])
    message: str = Field(examples=["There is no conversation '5d7f3c1e'."])
    details: list[ErrorDetail] | None = None


class ErrorAnswer(BaseModel):
    """The one shape of an error."""

    error: ErrorWhat


class FoundHit(BaseModel):
    """A memory (`fact`) or an event (`record`)."""

    id: str = Field(examples=[EVENT])
    type: Literal["fact", "record"]
    kind: str = Field(description="Of a fact: fact, preference, todo, project_state; of a record: what it is.")
    score: float
    snippet: str = Field(description="The part that matched.")
    text: str
    session_id: str | None
    seq: int | None
    speaker: str | None
    created_at: int
    sensitive: bool
    workspace: str | None
    tool: str | None
    path: str | None
    tags: list[str]
    metadata: dict[str, Any] = Field(description="Of a record, in a search; else empty.")
    provenance: dict[str, Any] | None = Field(
        description="Of a fact: the session and the workspace it was learned in, and how. None of another workspace is named."
    )


class Hits(BaseModel):
    hits: list[FoundHit] = Field(description="Best first. What is not about the question is left out.")
    took_ms: float
    note: str | None = Field(None, description="That nothing is about the question, where that is so.")


class Learned(BaseModel):
    """What extraction made of a session."""

    session_id: str
    branch: str
    turns: int
    candidates: int
    added: int
    updated: int
    deleted: int
    unchanged: int
    conflicts: int
    quarantined: int
    decisions: list[dict[str, str]]


class Target(Shape):
    # As long as the longest session's id, with a number behind it.
    id: str = Field(min_length=1, max_length=273, description="Of a hit: a fact's or a record's.", examples=[MEMORY])
    workspace: Workspace | None = Field(None, description=LOOK)


class Edit(Target):
    """What a fact is to say instead, or where it is to hold. What is left out stays as it is."""

    content: Annotated[str, Field(min_length=1)] | None = Field(None, description="Another statement.")
    kind: Literal["fact", "preference", "todo", "project_state"] | None = Field(None, description="Another kind.")
    importance: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="How much it matters: 0 to 1.")
    tags: list[str] | None = Field(None, description="The labels it has from now on.")
    scope: Literal["user", "workspace"] | None = Field(
        None, description="Move it: to the user, or to `move_to`, or else to the workspace it came from."
    )
    move_to: Workspace | None = Field(None, description="The workspace to move it to.")


class Done(BaseModel):
    id: str
    done: Literal[True] = True


class ContextRequest(Shape):
    """What evidence is wanted for."""

    prompt: Annotated[str, Field(min_length=1)] = Field(
        description="What the model is about to be asked.", examples=["Which indentation do I use?"]
    )
    session_id: Id | None = Field(None, description="Where it is asked: what its window shows anyway is left out.")
    workspace: Workspace | None = Field(None, description=LOOK)
    budget: Annotated[int, Field(ge=0, le=1_000_000)] = Field(800, description="In tokens.")
    max_memories: Annotated[int, Field(ge=0, le=100)] | None = Field(None, description="Most facts.")
    max_excerpts: Annotated[int, Field(ge=0, le=100)] | None = Field(None, description="Most excerpts of sessions.")
    sensitive: bool | None = Field(
        None, description="Also what had a secret in it. Absent: as the setting `context_sensitive` says."
    )
    why: bool = Field(False, description="Say why each item is there.")


class ContextPiece(BaseModel):
    type: Literal["fact", "record"]
    id: str
    tokens: int
    why: str
    hits: list[FoundHit]


class ContextAnswer(BaseModel):
    text: str = Field(description="Quoted and fenced as data, for a message of its own. Empty when there is nothing.")
    tokens: int
    items: list[ContextPiece]
    note: str | None = Field(None, description="That nothing is about the prompt, where that is so.")


class Forget(Shape):
    """Exactly one of the two."""

    session_id: Id | None = Field(None, description="The session to erase.")
    workspace: Workspace | None = Field(None, description="The workspace to erase, with all its sessions and facts.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"session_id": SESSION}, {"workspace": "/repo"}]}
    )


class Forgotten(BaseModel):
    sessions: int
    events: int
    memories: int
    receipts: list[str] = Field(description="Ids of the receipts.")


class Remember(Shape):
    """A statement to keep beyond its session."""

    content: Annotated[str, Field(min_length=1)] = Field(
        description="The statement.", examples=["Prefers tabs in Makefiles"]
    )
    kind: Literal["fact", "preference", "todo", "project_state"] = "fact"
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5
    tags: list[str] = Field(default_factory=list, description="Free labels.")
    session_id: Id | None = Field(None, description="Limits it to a session.")
    workspace: Workspace | None = Field(None, description="Limits it to a workspace.")
    source: str | None = Field(None, description="The id of the record it came from.", examples=[EVENT])
    role: Literal["user", "assistant", "system", "tool"] = Field(
        "user", description="Whose words. What is not the user's waits in quarantine."
    )
    pinned: bool = Field(False, description="Keep it whatever retention says.")


class MemoryShape(BaseModel):
    id: str = Field(examples=[MEMORY])
    kind: str
    content: str
    importance: float
    tags: list[str]
    state: str
    scope: str
    session_id: str | None
    workspace: str | None
    source: str | None
    pinned: bool
    by_hand: bool
    flag: str | None
    replaced_by: str | None
    valid_from: int | None
    valid_to: int | None
    created_at: int
    updated_at: int
    provenance: dict[str, Any] = Field(
        description="The session and the workspace it was learned in, and how. None of another workspace is named."
    )


class Memories(BaseModel):
    memories: list[MemoryShape]
    next: str | None = Field(None, description="Pass it as `cursor` for the next page.")


class ConversationShape(BaseModel):
    session_id: str
    title: str | None
    workspace: str | None
    metadata: dict[str, Any]
    branch: str = Field(description="The active one.")
    last_seq: int
    origin: str
    created_at: int
    updated_at: int


class Conversations(BaseModel):
    conversations: list[ConversationShape]
    next: str | None = Field(None, description="Pass it as `cursor` for the next page.")


class EventShape(BaseModel):
    id: str = Field(examples=[EVENT])
    session_id: str
    seq: int
    type: str
    kind: str
    role: str | None
    content: str
    name: str | None
    tool: str | None
    path: str | None
    agent: str | None
    status: str | None
    task_id: str | None
    message: int | None
    tags: list[str]
    metadata: dict[str, Any]
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    duration_ms: int | None
    key: str | None
    branch: str
    created_at: int


class RecordShape(EventShape):
    """A record, with the workspace of its session."""

    workspace: str | None


class Replay(BaseModel):
    session_id: str
    events: list[EventShape]
    next: int | None = Field(None, description="Pass it as `after` for what follows; null at the end.")


class BranchShape(BaseModel):
    name: str
    session_id: str
    parent: str | None
    fork_seq: int
    head: int
    active: bool
    created_at: int
    updated_at: int
    preview: str


class Branches(BaseModel):
    session_id: str
    branches: list[BranchShape]


class Fork(Shape):
    """A branch that shares history up to an event."""

    session_id: Id = Field(description="The session.", examples=[SESSION])
    at: Whole | None = Field(None, description="The last event that both share; the newest unless said.")
    name: Id | None = Field(None, description="Its name; it gets one unless said.")
    branch: Id | None = Field(None, description="Of which branch; the active one unless said.")
    switch: bool = Field(False, description="Make it the active one.")
    workspace: Workspace | None = Field(None, description=LOOK)


class Task(BaseModel):
    task_id: str
    goal: str
    status: str | None
    metadata: dict[str, Any]
    seq: int
    created_at: int
    agent: str | None = None


class Ledger(BaseModel):
    session_id: str
    tasks: list[Task]


class StatsAnswer(BaseModel):
    user: str
    workspace: str | None = None
    conversations: int
    events: int
    memories: dict[str, int] | None = None
    jobs: dict[str, int] | None = None
    bytes: int | None = None
    first_at: int | None = None
    last_at: int | None = None
    rows: list[dict[str, Any]] = Field(description="With `by`: one line for each.")


class ImportedAnswer(BaseModel):
    """What an import brought in, and what it left alone."""

    added: dict[str, int]
    known: dict[str, int]
    problems: list[dict[str, str]]
    trusted: bool = Field(description="Whether this store signed it. If not, its memories wait to be reviewed.")


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str
    user: str
    store: Literal["sqlite", "postgres", "memory"]
    schema_: int = Field(alias="schema")
    workspace: str | None = Field(description="The one that this sidecar is confined to, if it is.")
    readers: int = Field(description="Who listens to /memory/events.")


# -- answers


def dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def recorded(event: Event) -> dict[str, Any]:
    return {
        "id": event.id if event.stored else None, "seq": event.seq, "session_id": event.conversation_id,
        "stored": event.stored, "created_at": event.created_at,
    }  # fmt: skip


def event(e: Event) -> dict[str, Any]:
    said = {"user": "prompt", "assistant": "assistant", "system": "system"}
    return {
        "id": e.id, "session_id": e.conversation_id, "seq": e.seq,
        "type": said.get(e.role or "", "message") if e.kind == "message" else e.kind, "kind": e.kind, "role": e.role,
        "content": e.text, "name": e.name, "tool": e.tool, "path": e.path, "agent": e.agent, "status": e.status,
        "task_id": e.task_id, "message": e.message, "tags": list(e.tags), "metadata": e.payload, "model": e.model,
        "input_tokens": e.input_tokens, "output_tokens": e.output_tokens, "cost": e.cost, "duration_ms": e.duration_ms,
        "key": e.key, "branch": e.branch, "created_at": e.created_at,
    }  # fmt: skip


def provenance(p: Provenance, place: str | None) -> dict[str, Any]:
    """Where a fact came from. From a workspace, another one and its sessions are not named."""
    hidden = place is not None and p.workspace not in (None, place)
    return {
        "session_id": None if hidden else p.conversation_id, "workspace": None if hidden else p.workspace,
        "branch": p.branch, "seqs": [] if hidden else list(p.seqs), "checkpoint_id": None if hidden else p.checkpoint_id,
        "role": p.role, "extractor": p.extractor,
    }  # fmt: skip


def memory(m: Memory, place: str | None = None) -> dict[str, Any]:
    """A fact as it is seen from a workspace, or from none."""
    came = provenance(m.provenance, place)
    is_named = came["session_id"] is not None or m.provenance.conversation_id is None
    return {
        "id": m.id, "kind": m.kind, "content": m.content, "importance": m.importance, "tags": list(m.tags), "state": m.state,
        "scope": m.scope, "session_id": m.conversation_id, "workspace": m.workspace, "source": m.source if is_named else None, "pinned": m.pinned,
        "by_hand": m.by_hand, "flag": m.flag, "replaced_by": m.replaced_by, "valid_from": m.valid_from,
        "valid_to": m.valid_to, "created_at": m.created_at, "updated_at": m.updated_at,
        "provenance": came,
    }  # fmt: skip


NOTHING = "Nothing is about it."


def hit(h: Hit, metadata: Mapping[str, Any] | None = None, place: str | None = None) -> dict[str, Any]:
    return {
        "id": h.id, "type": "fact" if h.type == "memory" else "record", "kind": h.kind, "score": h.score,
        "snippet": h.snippet, "text": h.text, "session_id": h.conversation_id, "seq": h.seq, "speaker": h.speaker,
        "created_at": h.created_at, "sensitive": h.sensitive, "workspace": h.workspace, "tool": h.tool, "path": h.path,
        "tags": list(h.tags), "metadata": {} if metadata is None else dict(metadata),
        "provenance": None if h.provenance is None else provenance(h.provenance, place),
    }  # fmt: skip


def learned(c: Consolidation) -> dict[str, Any]:
    return {
        "session_id": c.conversation_id, "branch": c.branch, "turns": c.turns, "candidates": c.candidates,
        "added": c.added, "updated": c.updated, "deleted": c.deleted, "unchanged": c.unchanged, "conflicts": c.conflicts,
        "quarantined": c.quarantined,
        "decisions": [{"action": action, "content": said, "why": why} for action, said, why in c.decisions],
    }  # fmt: skip


def conversation(c: Conversation) -> dict[str, Any]:
    return {
        "session_id": c.id, "title": c.title, "workspace": c.workspace, "metadata": c.metadata, "branch": c.active_branch,
        "last_seq": c.last_seq, "origin": c.origin, "created_at": c.created_at, "updated_at": c.updated_at,
    }  # fmt: skip


def branch(b: Branch) -> dict[str, Any]:
    return {
        "name": b.name, "session_id": b.conversation_id, "parent": b.parent, "fork_seq": b.fork_seq, "head": b.head,
        "active": b.active, "created_at": b.created_at, "updated_at": b.updated_at, "preview": b.preview,
    }  # fmt: skip


def task(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "task_id": entry.task_id, "goal": entry.goal, "status": entry.status, "metadata": entry.payload, "seq": entry.seq,
        "created_at": entry.created_at, "agent": entry.agent,
    }  # fmt: skip


def context(c: Context, place: str | None = None) -> dict[str, Any]:
    items = []
    for item in c.items:
        own = hit(item.hit, place=place)
        hits = [hit(h, place=place) for h in item.hits]
        items.append({"type": own["type"], "id": own["id"], "tokens": item.tokens, "why": item.why, "hits": hits})
    return {"text": c.text, "tokens": c.tokens, "items": items, **({} if items else {"note": NOTHING})}


def forgotten(receipts: Sequence[Receipt]) -> dict[str, Any]:
    named = {"sessions": "conversations", "events": "events", "memories": "memories"}
    counts = {told: sum(r.counts.get(name, 0) for r in receipts) for told, name in named.items()}
    return {**counts, "receipts": [r.id for r in receipts]}


def change(c: Change) -> tuple[str, dict[str, Any]]:
    """The name and the data of a server-sent event."""
    if c.event is not None:
        return "event", {**event(c.event), "workspace": c.workspace}
    assert c.memory is not None
    told = memory(c.memory)
    if c.memory.scope == "user":  # it is told to readers in every workspace
        told["provenance"]["workspace"] = None
    return "memory_update", {"action": c.action, "who": c.who, "why": c.why, "at": c.at, "memory": told}
