"""Taking everything out, and bringing it in: lines of JSON, streamed both ways.

An export is written by a thread into a short queue, and goes no faster than it is read; one that nobody reads any more ends.
An import is put into a temporary file as it arrives, because a bad line must be met before anything is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from typing import IO, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from ..errors import InvalidInput
from .guard import LINES
from .shapes import ImportedAnswer
from .state import InWorkspace, Sidecar, answer

router = APIRouter(prefix="/memory")
HELD = 8
WAIT_SECONDS = 30.0
IN_MEMORY = 1024 * 1024
MEDIA = {"jsonl": LINES[0].decode(), "markdown": "text/markdown; charset=utf-8"}
EXAMPLE = '{"type":"recollect","version":1,"exported_at":1794802542975}\n'


class _Gone(Exception):
    """Nobody reads the export any more."""


class _Pipe:
    """A file to write to in a thread, and to read from in the event loop."""

    def __init__(self) -> None:
        self._chunks: queue.Queue[bytes | BaseException | None] = queue.Queue(HELD)
        self._is_open = True

    def write(self, text: str) -> int:
        self._put(text.encode("utf-8", "replace"))
        return len(text)

    def _put(self, chunk: bytes | BaseException | None) -> None:
        if not self._is_open:
            raise _Gone
        try:
            self._chunks.put(chunk, timeout=WAIT_SECONDS)
        except queue.Full:
            raise _Gone from None

    def start(self, fill: Callable[[Any], Any]) -> None:
        def run() -> None:
            with contextlib.suppress(_Gone):
                try:
                    fill(self)
                    self._put(None)
                except _Gone:
                    raise
                except BaseException as e:
                    self._put(e)

        threading.Thread(target=run, name="recollect-export", daemon=True).start()

    async def next(self) -> bytes | None:
        """The next piece; None at the end. What went wrong is raised."""
        chunk = await asyncio.to_thread(self._chunks.get)
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
            with contextlib.suppress(queue.Empty):
                while True:
                    self._chunks.get_nowait()


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
    session_id: Annotated[str | None, Query(min_length=1, max_length=256, description="Only this session.")] = None,
    workspace: InWorkspace = None,
) -> Response:
    """Everything there is, streamed: sessions with every branch, facts with their history. `jsonl` can be imported again."""
    place = sidecar.scope(workspace)
    await sidecar.recorder.flush()
    if session_id is not None:
        await sidecar.session(session_id, place)
        place = None
    pipe = _Pipe()
    pipe.start(lambda fp: sidecar.sync.export(fp, conversation=session_id, workspace=place, format=format))
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
    """Bring in what an export wrote. What is there already is left alone, so a second time adds nothing."""
    place = sidecar.scope(workspace)
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
        async for chunk in request.stream():
            if len(chunk) > IN_MEMORY or file.tell() + len(chunk) > IN_MEMORY:
                await asyncio.to_thread(file.write, chunk)
            else:
                file.write(chunk)
        file.seek(0)
        if place is not None:
            await asyncio.to_thread(_belongs, file, place)
        found = await sidecar.store.import_(file)
    sidecar.feed.wake()
    problems = [{"where": p.where, "what": p.what, "fix": p.fix} for p in found.problems]
    return answer({"added": dict(found.added), "known": dict(found.known), "problems": problems})


def _belongs(file: IO[bytes] | Any, place: str) -> None:
    """Into a workspace comes only what belongs to it: its sessions, and facts that no other workspace has to itself."""
    for number, text in enumerate(file, 1):
        try:
            line = json.loads(text)
        except ValueError:
            raise InvalidInput(f"Line {number} is not JSON.") from None
        kind = line.get("type") if isinstance(line, dict) else None
        where = line.get("workspace") if isinstance(line, dict) else place
        if kind == "item" or (where != place and (kind == "conversation" or (kind == "memory" and where is not None))):
            raise HTTPException(403, f"Line {number} belongs to another workspace. Nothing was written.")
    file.seek(0)
