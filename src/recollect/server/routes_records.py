"""What an agent does all day: record, search, ask for context, keep and pin, and listen."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException

from .. import ids
from ..branches import EVERY
from ..context import is_about
from ..errors import InvalidInput, NotFound, RecollectError
from ..model import Hit
from . import recorder, shapes, sse
from .answers import error_body, invalid, message, status
from .shapes import Batch, ContextAnswer, ContextRequest, Done, Hits, Learned, MemoryShape, Record, Remember, Target
from .state import Absent, Branch, InWorkspace, OfSession, SessionId, Sidecar, State, answer, moment

router = APIRouter(prefix="/memory")
ONE: TypeAdapter[Record] = TypeAdapter(Record)
MANY: TypeAdapter[Batch] = TypeAdapter(Batch)
EXAMPLES = {
    "prompt": {"value": {"type": "prompt", "session_id": "s1", "workspace": "/repo", "content": "Use tabs."}},
    "tool": {
        "value": {"type": "tool_use", "session_id": "s1", "tool": "Write", "path": "Makefile", "content": "all:"}
    },
    "batch": {
        "value": {
            "records": [
                {"type": "prompt", "session_id": "s1", "content": "Which tests fail?", "key": "m1"},
                {"type": "assistant", "session_id": "s1", "content": "None.", "key": "m2"},
            ]
        }
    },
}  # fmt: skip


@router.post(
    "/record",
    response_model=shapes.RecordedAnswer,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"anyOf": [{"$ref": "#/components/schemas/Record"}, {"$ref": "#/components/schemas/Batch"}]},
                    "examples": EXAMPLES,
                }
            },
        }
    },
)  # fmt: skip
async def record(request: Request, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Record what happened: one record, or a batch. Answered when it is durable.

    A session is created at first sight. With a `key`, the same record sent again is stored once: repeat after an error
    without fear. Of a batch, the records of one session are written together, all or none; `error` stands where one was
    refused."""
    return await recorded(sidecar, await request.body(), workspace)


async def recorded(sidecar: State, body: bytes, workspace: str | None) -> Response:
    try:
        # Which of the two is meant is seen by its field, so that the errors are about that one.
        sent = from_json(body, allow_inf_nan=False)
        adapter: TypeAdapter[Any] = MANY if isinstance(sent, dict) and "records" in sent else ONE
        given: Record | Batch = adapter.validate_python(sent)
    except ValueError as e:
        return Response(unread(e), 422, media_type="application/json")
    if isinstance(given, Batch):
        return answer(await _batch(sidecar, given, workspace))
    place = sidecar.scope(workspace, given.workspace)
    (result,) = await sidecar.record(
        [recorder.Request(given.session_id, place, given.branch, [given.entry()], given.again)]
    )
    if isinstance(result, RecollectError):
        raise result
    return answer(shapes.recorded(result[0]))


def unread(e: ValueError) -> bytes:
    """What is wrong with a body, without what was sent: that may be a secret."""
    if not isinstance(e, ValidationError):
        return error_body("invalid_request", f"The body is not JSON: {e}.")
    found = e.errors(include_url=False, include_input=False, include_context=False)
    return invalid([{**x, "loc": ("body", *x["loc"])} for x in found])


async def _batch(sidecar: State, given: Batch, workspace: str | None) -> dict[str, Any]:
    groups: dict[tuple[str, str | None, str | None], list[int]] = {}
    for i, r in enumerate(given.records):
        groups.setdefault((r.session_id, sidecar.scope(workspace, r.workspace), r.branch), []).append(i)
    requests = [
        recorder.Request(
            session, place, branch, [given.records[i].entry() for i in at], any(given.records[i].again for i in at)
        )
        for (session, place, branch), at in groups.items()
    ]
    done: list[dict[str, Any]] = [{}] * len(given.records)
    failed = 0
    for at, result in zip(groups.values(), await sidecar.record(requests), strict=True):
        for n, i in enumerate(at):
            if isinstance(result, RecollectError):
                failed += 1
                error = {"code": status(result)[1], "message": message(result)}
                done[i] = {"session_id": given.records[i].session_id, "stored": False, "error": error}
            else:
                done[i] = shapes.recorded(result[n])
    return {"records": done, "failed": failed}


RecordId = Annotated[
    str,
    Path(description="Of a record, ours or the one it was recorded with; or of a fact.", examples=[shapes.EVENT]),
]


@router.get("/record/{id:path}", response_model=shapes.RecordShape | MemoryShape)
async def read_record(id: RecordId, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """One record with all that belongs to it, or a fact; `id` as search gave it, or as you recorded it."""
    await sidecar.recorder.flush()
    target = await sidecar.target(id, sidecar.scope(workspace))
    if target is None:
        return answer(shapes.memory((await sidecar.store.memory_history(id))[-1].after, sidecar.scope(workspace)))
    session, seq = target
    found = await sidecar.store.read(session, after=seq - 1, limit=1, branch=EVERY)
    if not found or found[0].seq != seq:
        raise NotFound(f"Session {session!r} has no record {seq}: it was deleted, or never written.")
    home = await sidecar.store.get(session)
    return answer({**shapes.event(found[0]), "workspace": home.workspace})


@router.delete("/record/{id:path}", response_model=Done)
async def delete_record(
    id: RecordId,
    sidecar: Sidecar,
    workspace: InWorkspace = None,
) -> Response:
    """Remove one record from the log for good, or erase a fact with its history; `id` as search gave it, or as you recorded it.
    What a graph's checkpoints hold of a record stays. `POST /memory/reject` forgets a fact so that it can be brought back."""
    await sidecar.recorder.flush()
    target = await sidecar.target(id, sidecar.scope(workspace))
    if target is None:
        await sidecar.store.forget(id, erase=True)
    else:
        await sidecar.store.delete_event(*target)
    return answer({"id": id, "done": True})


@router.get("/search", response_model=Hits)
async def search(
    sidecar: Sidecar,
    q: Annotated[str, Query(min_length=1, max_length=8000, description="Any text.", examples=["tabs in Makefiles"])],
    k: Annotated[int, Query(ge=1, le=200, description="At most so many.")] = 20,
    type: Annotated[Literal["facts", "records"] | None, Query(description="Unsaid: both.")] = None,
    session_id: OfSession = None,
    workspace: InWorkspace = None,
    since: Annotated[str | None, Absent, Query(description="Not older: milliseconds since 1970, or ISO 8601.")] = None,
) -> Response:
    """What was said or learned, best first. What was recorded before is found; what is not about the question is left out. Of a session
    there is what was said and what was learned in it; one that is not known has none."""
    start = time.perf_counter()
    place = sidecar.scope(workspace)
    since_ms = moment(since, "since")
    async with sidecar.recorder.aside():
        within = [None] if session_id is None else await sidecar.sessions(session_id, place)
        found: dict[str, Hit] = {}
        for conversation in within:
            look = partial(
                sidecar.sync._search, q, limit=k, types={"facts": "memories", "records": "events", None: None}[type],
                conversation=conversation, workspace=place, since=since_ms, is_only=True,
            )  # fmt: skip
            for h in await sidecar.store._run(look):
                if is_about(h):
                    found.setdefault(h.id, h)
        hits = sorted(found.values(), key=lambda h: -h.score)[:k] if len(within) > 1 else list(found.values())
        told = await sidecar.store._run(lambda: sidecar.sync._payloads(hits))
    took = round((time.perf_counter() - start) * 1000, 2)
    listed = [shapes.hit(h, told.get(h.id), place) for h in hits]
    return answer({"hits": listed, "took_ms": took, **({} if listed else {"note": shapes.NOTHING})})


@router.post("/context", response_model=ContextAnswer)
async def context(body: ContextRequest, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """The best evidence for a prompt within a budget of tokens, quoted as data."""
    place = sidecar.scope(workspace, body.workspace)
    async with sidecar.recorder.aside():
        known = [] if body.session_id is None else await sidecar.sessions(body.session_id, place)
        here = known[0] if known else None  # None: nothing was recorded of it yet
        made = await sidecar.store.context(
            body.prompt, workspace=place, conversation=here, budget=body.budget, sensitive=body.sensitive,
            max_memories=body.max_memories, max_excerpts=body.max_excerpts, why=body.why,
        )  # fmt: skip
    return answer(shapes.context(made, place))


@router.post("/summarize", response_model=Learned)
async def summarize(
    session_id: SessionId, sidecar: Sidecar, workspace: InWorkspace = None, branch: Branch = None
) -> Response:
    """Extract facts from a session now, instead of in the background."""
    await sidecar.recorder.flush()
    found = await sidecar.session(session_id, sidecar.scope(workspace))
    return answer(shapes.learned(await sidecar.store.consolidate(found, branch=branch)))


@router.post("/remember", response_model=MemoryShape)
async def remember(body: Remember, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Keep a statement as a fact. Said again in the same scope it is the same fact."""
    place = sidecar.scope(workspace, body.workspace)
    if place is not None and body.source is not None:
        event = ids.event(body.source)
        if event is not None:
            await sidecar.session(event[0], place)  # what it rests on must be in reach, too
    here = None
    if body.session_id is not None:
        here = await sidecar.session(body.session_id, place)
        if body.workspace is not None:
            raise InvalidInput(
                "session_id limits it to the session, workspace to the workspace: leave one of them out."
            )
    kept = await sidecar.store.remember(
        body.content, kind=body.kind, importance=body.importance, tags=body.tags, conversation=here,
        workspace=place if here is None else None, source=body.source, role=body.role, pinned=body.pinned,
    )  # fmt: skip
    sidecar.feed.wake()
    return answer(shapes.memory(kept, place))


@router.post("/pin", response_model=Done)
async def pin(body: Target, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Keep a record or a fact, whatever retention says."""
    await sidecar.store.pin(await sidecar.named(body.id, sidecar.scope(workspace, body.workspace)))
    sidecar.feed.wake()
    return answer({"id": body.id, "done": True})


@router.post("/unpin", response_model=Done)
async def unpin(body: Target, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Take a pin off again."""
    await sidecar.store.unpin(await sidecar.named(body.id, sidecar.scope(workspace, body.workspace)))
    sidecar.feed.wake()
    return answer({"id": body.id, "done": True})


@router.post("/accept", response_model=MemoryShape)
async def accept(body: Target, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Let in a fact that waits in quarantine, in its workspace if it has one. What it contradicts is forgotten, as on the page."""
    place = sidecar.scope(workspace, body.workspace)
    held = await sidecar.fact(body.id, place)
    # What is limited to a session becomes everybody's by this; from a workspace, the workspace's.
    home = place if held.conversation_id is not None else None
    kept = await sidecar.store.revise(held.id, promote=True, workspace=home)
    if held.conflicts_with is not None:
        with contextlib.suppress(NotFound):
            await sidecar.store.forget(held.conflicts_with)
    sidecar.feed.wake()
    return answer(shapes.memory(kept, place))


@router.post("/edit", response_model=MemoryShape)
async def edit(body: shapes.Edit, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Correct a fact by hand, or move it to the user or to a workspace. Another statement, or another scope, is another fact, which
    takes its place: the answer has its id."""
    place = sidecar.scope(workspace, body.workspace)
    held = await sidecar.fact(body.id, place)
    if place is not None and (body.scope == "user" or body.move_to not in (None, place)):
        raise HTTPException(403, "From a workspace, a fact is not moved out of it.")
    kept = await sidecar.store.revise(
        held.id, content=body.content, kind=body.kind, importance=body.importance, tags=body.tags, scope=body.scope,
        workspace=body.move_to if body.scope != "workspace" or body.move_to is not None else place,
    )  # fmt: skip
    sidecar.feed.wake()
    return answer(shapes.memory(kept, place))


@router.post("/reject", response_model=Done)
async def reject(body: Target, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Forget a fact, one that waits in quarantine too. `undo` brings it back; `DELETE /memory/record/{id}` leaves nothing."""
    held = await sidecar.fact(body.id, sidecar.scope(workspace, body.workspace))
    await sidecar.store.forget(held.id)
    sidecar.feed.wake()
    return answer({"id": held.id, "done": True})


@router.post("/undo", response_model=MemoryShape)
async def undo(body: Target, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Take back the newest change of a fact, and what was changed together with it. Answers how it stands now."""
    held = await sidecar.fact(body.id, sidecar.scope(workspace, body.workspace))
    stands = await sidecar.store.undo(held.id)
    sidecar.feed.wake()
    return answer(shapes.memory(stands, sidecar.scope(workspace, body.workspace)))


@router.get(
    "/events",
    response_class=EventSourceResponse,
    responses={
        200: {
            "description": "A stream that does not end: `ready` with the position, then `event` and `memory_update`.",
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": 'event: event\nid: 4294967299\ndata: {"id":"s1:3","type":"prompt","content":"Use tabs."}\n\n',
                }
            },
        }
    },
)
async def events(
    sidecar: Sidecar,
    session_id: OfSession = None,
    workspace: InWorkspace = None,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="From behind this id. Unsaid: from now on.")] = None,
    last_event_id: Annotated[str | None, Header(description="The last id that was seen; wins over `after`.")] = None,
) -> sse.Stream:
    """Live: everything that is committed from now on, by whichever process, as server-sent events.

    `id` is the position. Come back with it in `Last-Event-ID`, and nothing is missed and nothing comes twice. Whoever does
    not read for ten seconds is dropped."""
    if last_event_id:
        if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 20):
            raise HTTPException(400, "Last-Event-ID is none of ours: a number is expected.")
        after = int(last_event_id)
    place = sidecar.scope(workspace)
    known = [] if session_id is None or place is None else await sidecar.sessions(session_id, place)
    wanted = sse.Wanted(known[0] if known else session_id, place)
    start = await sidecar.feed.now() if after is None else after
    return sse.Stream(sidecar.feed, start, wanted)
