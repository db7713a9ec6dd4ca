"""What an agent, or its user, looks at and forgets: sessions, replay, branches, ledger, facts, figures."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from .. import __version__
from ..errors import ConversationDeleted, InvalidInput, NotFound
from ..model import KINDS, Memory
from . import shapes
from .shapes import (
    Branches,
    BranchShape,
    Conversations,
    ConversationShape,
    Forget,
    Forgotten,
    Fork,
    Health,
    Ledger,
    Memories,
    Replay,
    StatsAnswer,
)
from .state import PAGE, Absent, Branch, InWorkspace, Session, SessionId, Sidecar, State, answer, part_of

router = APIRouter(prefix="/memory")
Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many.")]
Cursor = Annotated[str | None, Query(min_length=1, max_length=256, description="`next` of the page before.")]


@router.get("/conversations", response_model=Conversations)
async def conversations(
    sidecar: Sidecar, workspace: InWorkspace = None, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """Sessions, newest activity first."""
    found = await sidecar.store.conversations(workspace=sidecar.scope(workspace), limit=limit, cursor=cursor)
    more = found[-1].cursor if len(found) == limit else None
    return answer({"conversations": [shapes.conversation(c) for c in found], "next": more})


@router.get("/conversation", response_model=ConversationShape)
async def conversation(session_id: SessionId, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """One session."""
    return answer(shapes.conversation(await sidecar.session(session_id, sidecar.scope(workspace))))


@router.get("/replay", response_model=Replay)
async def replay(
    session_id: SessionId,
    sidecar: Sidecar,
    workspace: InWorkspace = None,
    after: Annotated[int, Query(ge=0, le=2**53, description="From behind this number.")] = 0,
    limit: Limit = 100,
    kinds: Annotated[list[str] | None, Query(description=f"Only these: {', '.join(KINDS)}.")] = None,
    branch: Annotated[
        str | None,
        Query(min_length=1, max_length=256, description="Which branch; `*` for all. Unsaid: the active one."),
    ] = None,
) -> Response:
    """Replay a session from a number on, oldest first."""
    here = await sidecar.session(session_id, sidecar.scope(workspace))
    found = await sidecar.store.read(here, after=after, limit=limit, kinds=kinds, branch=branch)
    more = found[-1].seq if len(found) == limit else None
    return answer({"session_id": session_id, "events": [shapes.event(e) for e in found], "next": more})


@router.get("/branches", response_model=Branches)
async def branches(session_id: SessionId, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """The branches of a session."""
    here = await sidecar.session(session_id, sidecar.scope(workspace))
    found = await sidecar.store.branches(here)
    return answer({"session_id": session_id, "branches": [shapes.branch(b) for b in found]})


@router.post("/fork", response_model=BranchShape)
async def fork(body: Fork, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Start a branch of a session. Nothing is copied; both histories stay."""
    here = await sidecar.session(body.session_id, sidecar.scope(workspace, body.workspace))
    made = await sidecar.store.fork(
        here, body.at, name=body.name, branch=body.branch, switch=body.switch
    )  # fmt: skip
    return answer(shapes.branch(made))


@router.get("/ledger", response_model=Ledger)
async def ledger(
    session_id: SessionId,
    sidecar: Sidecar,
    workspace: InWorkspace = None,
    at: Annotated[int | None, Query(ge=0, le=2**53, description="As it stood at this number.")] = None,
    branch: Branch = None,
) -> Response:
    """The newest snapshot of each task."""
    here = await sidecar.session(session_id, sidecar.scope(workspace))
    found = await sidecar.store.ledger(here, at=at, branch=branch)
    return answer({"session_id": session_id, "tasks": [shapes.task(entry) for entry in found]})


@router.get("/memories", response_model=Memories)
async def memories(
    sidecar: Sidecar,
    session_id: Annotated[Session | None, Absent, Query(description="As seen from this one.")] = None,
    workspace: InWorkspace = None,
    kind: Literal["fact", "preference", "todo", "project_state"] | None = None,
    state: Literal["active", "replaced", "quarantined", "forgotten", "expired", "any"] = "active",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Facts, newest first."""
    place = sidecar.scope(workspace)
    here = None if session_id is None else await sidecar.session(session_id, place)
    found: list[Memory] = []
    more: str | None = cursor
    while len(found) < limit:
        page = await sidecar.store.memories(
            conversation=here, workspace=place, kinds=None if kind is None else [kind], limit=limit, cursor=more,
            state=None if state == "any" else state,
        )  # fmt: skip
        more = page[-1].id if len(page) == limit else None
        # A fact that is limited to a session of another workspace belongs there.
        found += [m for m in page if place is None or m.conversation_id is None or await sidecar.is_seen(m, place)]
        if more is None:
            break
    if len(found) > limit:
        found = found[:limit]
        more = found[-1].id
    return answer({"memories": [shapes.memory(m, place) for m in found], "next": more})


@router.post("/forget", response_model=Forgotten)
async def forget(body: Forget, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Erase a session, or everything of a workspace: nothing is left but receipts, which hold no content."""
    if (body.session_id is None) == (body.workspace is None):
        raise InvalidInput("Say session_id or workspace: one of them.")
    await sidecar.recorder.flush()
    place = sidecar.scope(workspace, body.workspace)
    if body.session_id is not None:
        named = await _seen_even_in_the_bin(sidecar, body.session_id, place)
        receipts = [await sidecar.store.erase(conversation=id) for id in named]
    else:
        assert place is not None
        receipts = [await sidecar.store.erase(workspace=place)]
    return answer(shapes.forgotten(receipts))


async def _seen_even_in_the_bin(sidecar: State, session_id: str, place: str | None) -> list[str]:
    """The conversations of a session: all its parts, or that of a workspace."""
    if place is None:
        return await sidecar.sessions(session_id, None) or [session_id]
    for id in (session_id, part_of(session_id, place)):
        try:
            if (await sidecar.session(id, place)).id == id:
                return [id]
        except ConversationDeleted:
            if await sidecar.is_in_the_bin(id, place):
                return [id]
        except NotFound:
            pass
    raise NotFound(f"There is no session {session_id!r} in this workspace.")


@router.get("/stats", response_model=StatsAnswer)
async def stats(
    sidecar: Sidecar,
    workspace: InWorkspace = None,
    by: Literal["day", "kind", "tool", "agent", "model", "workspace"] | None = None,
) -> Response:
    """How much there is. From a workspace: its own sessions and events alone."""
    place = sidecar.scope(workspace)
    if place is None:
        found = await sidecar.store.stats(by=by)
        rows = [{**vars(row)} for row in found.rows]
        return answer({
            "user": found.user, "workspace": None, "conversations": found.conversations, "events": found.events,
            "memories": dict(found.memories), "jobs": dict(found.jobs), "bytes": found.bytes, "first_at": found.first_at,
            "last_at": found.last_at, "rows": rows,
        })  # fmt: skip
    if by not in (None, "workspace"):
        raise InvalidInput("From a workspace, figures are by workspace alone.")
    found = await sidecar.store.stats(by="workspace")
    rows = [{**vars(row)} for row in found.rows if row.key == place]
    sessions, cursor = 0, None
    while page := await sidecar.store.conversations(workspace=place, limit=PAGE, cursor=cursor):
        sessions += len(page)
        cursor = page[-1].cursor
    return answer({
        "user": found.user, "workspace": place, "conversations": sessions, "events": sum(row["events"] for row in rows),
        "rows": rows if by else [],
    })  # fmt: skip


@router.get("/health", response_model=Health)
async def health(sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Whether the sidecar and its store answer."""
    place = sidecar.scope(workspace)
    await sidecar.store.conversations(workspace=place, limit=1)
    db = sidecar.sync._db
    kind = "memory" if sidecar.sync.location == "memory" else db.dialect
    return answer({
        "status": "ok", "version": __version__, "user": sidecar.sync.user, "store": kind, "schema": db.schema(),
        "workspace": sidecar.workspace, "readers": sidecar.feed.readers,
    })  # fmt: skip
