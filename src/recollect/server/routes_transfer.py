"""Taking everything out, and bringing it in: lines of JSON, streamed both ways.

An export is written by a thread into a short queue, and goes no faster than it is read; one that nobody reads any more ends.
An import is kept as it arrives, a large one in an encrypted temporary file, because a bad line must be met before anything
is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import IO, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from ..archive.lines import numbered, parse
from ..spool import IN_MEMORY, Spool
from .guard import LINES
from .shapes import ImportedAnswer
from .state import InWorkspace, OfSession, Sidecar, answer

router = APIRouter(prefix="/memory")
HELD = 8
WAIT_SECONDS = 30.0
TOGETHER = 64 * 1024  # bytes of an export that are sent in one piece
MEDIA = {"jsonl": LINES[0].decode(), "markdown": "text/markdown; charset=utf-8"}
EXAMPLE = '{"type":"recollect","version":1,"exported_at":1794802542975}\n'


class _Gone(Exception):
    """Nobody reads the export any more."""


class _Pipe:
    """A file to write to in a thread, and to read from in the event loop. The loop never waits in a thread of its own: one that
    nobody reads any more would keep it for ever, and a few of those stop everything else."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self._room = threading.Semaphore(HELD)
        self._is_open = True
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, text: str) -> int:
        part = text.encode("utf-8", "replace")
        self._parts.append(part)
        self._size += len(part)
        if self._size >= TOGETHER:
            self._flush()
        return len(text)

    def _flush(self) -> None:
        parts, self._parts, self._size = self._parts, [], 0
        if parts:
            self._put(b"".join(parts))

    def _put(self, chunk: bytes | BaseException | None) -> None:
        if not self._room.acquire(timeout=WAIT_SECONDS) or not self._is_open:
            raise _Gone
        try:
            self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
        except RuntimeError:  # the loop is closed
            raise _Gone from None

    def start(self, fill: Callable[[Any], Any]) -> None:
        def run() -> None:
            with contextlib.suppress(_Gone):
                try:
                    fill(self)
                    self._flush()
                    self._put(None)
                except _Gone:
                    raise
                except BaseException as e:
                    self._put(e)

        threading.Thread(target=run, name="recollect-export", daemon=True).start()

    async def next(self) -> bytes | None:
        """The next piece; None at the end. What went wrong is raised."""
        chunk = await self._chunks.get()
        self._room.release()
        if isinstance(chunk, BaseException):
            raise chunk
        return chunk

    async def read(self, first: bytes | None) -> AsyncIterator[bytes]:
        try:
            chunk = first
            while chunk is not None:
                yield chunk
                chunk = await self.next()
        finally:
            self._is_open = False
            self._room.release()  # whoever waits for room learns that there is no reader


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Lines of JSON, as docs/reference/archive.md has them; or Markdown.",
            "content": {
                "application/x-ndjson": {"schema": {"type": "string"}, "example": EXAMPLE},
                "text/markdown": {"schema": {"type": "string"}, "example": "# Trip\n"},
            },
        }
    },
)
async def export(
    sidecar: Sidecar,
    format: Literal["jsonl", "markdown"] = "jsonl",
    session_id: OfSession = None,
    workspace: InWorkspace = None,
) -> Response:
    """Everything there is, streamed: sessions with every branch, facts with their history. `jsonl` can be imported again."""
    place = sidecar.scope(workspace)
    await sidecar.recorder.flush()
    here = None
    if session_id is not None:
        here = (await sidecar.session(session_id, place)).id
        place = None
    pipe = _Pipe()
    pipe.start(lambda fp: sidecar.sync.export(fp, conversation=here, workspace=place, format=format))
    first = await pipe.next()  # what is wrong from the start is an error with a status
    return StreamingResponse(pipe.read(first), media_type=MEDIA[format])


@router.post(
    "/import",
    response_model=ImportedAnswer,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/x-ndjson": {"schema": {"type": "string"}, "example": EXAMPLE}},
        }
    },
)
async def bring_in(request: Request, sidecar: Sidecar, workspace: InWorkspace = None) -> Response:
    """Bring in what an export wrote. What is there already is left alone, so a second time adds nothing. The
    memories of an export that this store did not sign wait to be reviewed."""
    place = sidecar.scope(workspace)
    with Spool() as spool:
        async for chunk in request.stream():
            if spool.size + len(chunk) > IN_MEMORY:
                await asyncio.to_thread(spool.write, chunk)
            else:
                spool.write(chunk)
        file = spool.reading()
        if place is not None:
            for id in await asyncio.to_thread(_belonging, file, place):
                if not await sidecar.is_free(id, place):
                    raise HTTPException(403, f"The session {id!r} is another workspace's. Nothing was written.")
        found = await sidecar.store.import_(file)
    sidecar.feed.wake()
    problems = [{"where": p.where, "what": p.what, "fix": p.fix} for p in found.problems]
    return answer(
        {"added": dict(found.added), "known": dict(found.known), "problems": problems, "trusted": found.trusted}
    )


def _belonging(file: IO[bytes] | Any, place: str) -> list[str]:
    """Into a workspace comes only what belongs to it: its sessions, and facts that no other workspace has to itself. Returns
    the sessions."""
    sessions = []
    for number, text in numbered(file):
        kind, line = parse(text, number)
        where = line.get("workspace")
        if kind == "item" or (where != place and (kind == "conversation" or (kind == "memory" and where is not None))):
            raise HTTPException(403, f"Line {number} belongs to another workspace. Nothing was written.")
        if kind == "conversation":
            sessions.append(str(line["id"]))
    file.seek(0)
    return sessions
