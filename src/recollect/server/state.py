"""What the routes of one sidecar share, and the scope of a request.

Every route has a workspace to look from: the one that the request names, or none. Then only sessions of that workspace and
memories that are seen from it are in reach; what belongs elsewhere is not found, as if it did not exist. A sidecar can be
confined to one workspace (`recollect serve --workspace`): then every request is in it, and one that names another is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import Depends, Query, Response
from pydantic import AfterValidator, BeforeValidator, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest

from .. import ids
from ..aio import AsyncStore
from ..errors import ConversationDeleted, InvalidInput, NotFound
from ..model import Conversation, Memory
from ..store import Store
from . import shapes
from .recorder import Recorder, Request, Result
from .sse import Feed

PAGE = 500
MOST_PARTS = 10_000


def part_of(session_id: str, workspace: str) -> str:
    """The conversation of a session in a workspace that is not its first: one `default` session may see several."""
    return f"{session_id}@{blake2b(workspace.encode(), digest_size=4).hexdigest()}"


def is_part(id: str) -> bool:
    mark = id.rpartition("@")[2]
    return len(mark) == 8 and all(c in "0123456789abcdef" for c in mark)


class State:
    """One sidecar."""

    recorder: Recorder
    feed: Feed
    store: AsyncStore

    def __init__(self, store: Store, workspace: str | None) -> None:
        self.sync = store
        self.workspace = None if workspace is None else store._workspace(shapes.placed(workspace))
        self._parts: dict[tuple[str, str | None], str] = {}
        """(session, workspace) -> the conversation of it there, where that is not the session's first."""

    def start(self, store: AsyncStore, feed: Feed, recorder: Callable[[Callable[[], None]], Recorder]) -> None:
        self.store, self.feed, self.recorder = store, feed, recorder(feed.wake)

    def leave(self) -> None:
        """The server is about to stop: whoever listens goes, and comes back to the next one."""
        if hasattr(self, "feed"):  # else it did not even start
            self.feed.close()

    # -- scope

    def scope(self, *named: str | None) -> str | None:
        """The workspace of a request, however often it is named."""
        said = {self.sync._workspace(name) for name in named if name is not None}
        if len(said) > 1:
            raise InvalidInput("The request names two workspaces; say one.")
        if self.workspace is not None:
            if said - {self.workspace}:
                raise HTTPException(403, "This sidecar serves one workspace, and not that one.")
            return self.workspace
        return said.pop() if said else None

    async def session(self, session_id: str, workspace: str | None) -> Conversation:
        """A session as it is seen from a workspace: each that it saw has a part of its own."""
        refused: NotFound | None = None
        try:
            found = await self.store.get(session_id)
            if workspace is None or found.workspace == workspace:
                return found
        except NotFound as e:
            if workspace is None:
                raise
            refused = e
        try:
            found = await self.store.get(part_of(session_id, workspace))
            if found.workspace == workspace:
                return found
        except ConversationDeleted:
            raise
        except (NotFound, InvalidInput):
            pass
        raise refused or NotFound(f"There is no session {session_id!r} in this workspace.")

    async def sessions(self, session_id: str, workspace: str | None) -> list[str]:
        """The conversations of a session, as seen from a workspace, or of all; [] when it is not known."""
        if workspace is None:
            found = await self.store._run(lambda: self.sync._beginning(session_id))
            return [id for id in found if id == session_id or (id.startswith(f"{session_id}@") and is_part(id))]
        try:
            return [(await self.session(session_id, workspace)).id]
        except ConversationDeleted:
            raise
        except NotFound:
            return []

    async def record(self, requests: list[Request]) -> list[Result]:
        """Hand over what is to be recorded. A session that is there already, in another workspace, has a part in this one."""
        for r in requests:
            r.session = self._parts.get((r.session, r.workspace), r.session)
        results = await self.recorder.add(requests)
        again: dict[int, Request] = {}
        for i, (r, result) in enumerate(zip(requests, results, strict=True)):
            if r.workspace is not None and isinstance(result, (NotFound, InvalidInput)) and await self._is_elsewhere(r):
                if len(self._parts) > MOST_PARTS:
                    self._parts.clear()
                part = self._parts[r.session, r.workspace] = part_of(r.session, r.workspace)
                again[i] = Request(part, r.workspace, r.branch, r.entries, r.again)
        if again:
            for i, result in zip(again, await self.recorder.add(list(again.values())), strict=True):
                results[i] = result
        return results

    async def _is_elsewhere(self, request: Request) -> bool:
        try:
            return (await self.store.get(request.session)).workspace != request.workspace
        except (NotFound, InvalidInput):
            return False

    async def fact(self, id: str, workspace: str | None) -> Memory:
        """A fact as it stands, if it is seen from a workspace."""
        if await self.target(id, workspace) is not None:
            raise NotFound(f"{id!r} is a record, and no fact.")
        changes = await self.store.memory_history(id)
        return next((c.after for c in reversed(changes) if c.undone_at is None), changes[-1].after)

    async def named(self, id: str, workspace: str | None) -> str:
        """Our own id of what an id means (see `target`)."""
        target = await self.target(id, workspace)
        return id if target is None else f"{target[0]}:{target[1]}"

    async def is_free(self, session_id: str, workspace: str) -> bool:
        """Whether an id is this workspace's to write under: a session of it, in the bin or not, or nobody's."""
        try:
            return (await self.store.get(session_id)).workspace == workspace
        except ConversationDeleted:
            return await self.is_in_the_bin(session_id, workspace)
        except NotFound:
            return True

    async def is_in_the_bin(self, session_id: str, workspace: str) -> bool:
        cursor = None
        while page := await self.store.conversations(workspace=workspace, limit=PAGE, cursor=cursor, deleted=True):
            if any(c.id == session_id for c in page):
                return True
            cursor = page[-1].cursor
        return False

    async def target(self, id: str, workspace: str | None) -> tuple[str, int] | None:
        """What an id means: (session, number) of a record, by our id or by the one that it was recorded with; None for a fact.
        Each is looked at from the workspace."""
        event = ids.event(id)
        try:
            if event is not None:
                return (await self.session(event[0], workspace)).id, event[1]
            changes = await self.store.memory_history(id)
            if workspace is not None and not await self.is_seen(changes[-1].after, workspace):
                raise NotFound(f"There is no fact {id!r} in this workspace.")
            return None
        except ConversationDeleted:
            raise
        except NotFound:
            own = await self.recorded_as(id, workspace)
            if own is None:
                raise
            return own

    async def recorded_as(self, id: str, workspace: str | None) -> tuple[str, int] | None:
        """The one record that was written with this id of its caller's."""
        found = await self.store._run(lambda: self.sync._keyed(id))
        seen = [f for f in found if workspace is None or (await self.store.get(f[0])).workspace == workspace]
        if len(seen) > 1:
            raise InvalidInput(f"Several records have the id {id!r}: say session_id:seq of the one that is meant.")
        return seen[0] if seen else None

    async def is_seen(self, memory: Memory, workspace: str) -> bool:
        if memory.conversation_id is not None:
            try:
                return (await self.store.get(memory.conversation_id)).workspace == workspace
            except ConversationDeleted:  # what is limited to a session goes into the bin with it
                return False
        return memory.workspace in (None, workspace)


async def _state(
    request: HttpRequest,
) -> State:  # async: a plain function would be sent to a thread, which costs more than it
    state: State = request.app.state.sidecar
    return state


async def only_known(request: HttpRequest) -> None:
    """A misspelt parameter is an error: `worksapce=` would else look from everywhere. So is one that is said twice."""
    route = request.scope["route"]
    known = _known.get(route.path_format)
    if known is None:
        known = _known[route.path_format] = {p.alias for p in route.dependant.query_params}
    names = [name for name, _ in request.query_params.multi_items() if name != "kinds"]
    if len(names) != len(set(names)):
        raise HTTPException(422, "A parameter is there twice; which one is meant cannot be known.")
    if not known.issuperset(request.query_params):
        raise HTTPException(
            422, f"There is no parameter like that here. The parameters are: {', '.join(sorted(known))}."
        )


_known: dict[str, set[str]] = {}
Sidecar = Annotated[State, Depends(_state)]
Absent = BeforeValidator(lambda said: said if said != "" else None)
"""`session_id=&workspace=&since=`: an empty one is none."""
InWorkspace = Annotated[
    Annotated[str, Field(max_length=4096), AfterValidator(shapes.placed)] | None,
    Absent,
    Query(description="Look from this workspace: what belongs to another is not found."),
]
Session = Annotated[str, Field(max_length=256)]
OfSession = Annotated[Session | None, Absent, Query(description="Only of this session.")]
SessionId = Annotated[str, Query(min_length=1, max_length=256, description="The session.", examples=[shapes.SESSION])]
Branch = Annotated[str | None, Query(min_length=1, max_length=256, description="Which branch. Unsaid: the active one.")]


def answer(value: Any, status: int = 200) -> Response:
    return Response(shapes.dumps(value), status, media_type="application/json")


def moment(text: str | None, name: str) -> int | None:
    """Milliseconds since 1970, or ISO 8601; without a zone it is UTC."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    try:
        when = datetime.fromisoformat(text)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0, int(when.timestamp() * 1000))
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name} must be milliseconds since 1970 or ISO 8601, such as 2026-11-16T08:00Z.") from None
