"""The application: routes, one error shape, a schema with examples, and the guard around all of it.

A route translates and calls a verb; `routes_records` has what an agent does all day, `routes_history` what it looks at and
forgets. `state` is what they share. There is no page at /docs, because the usual one loads its code from elsewhere; the
schema is at /openapi.json, behind the token like everything else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from .. import __version__
from ..aio import AsyncStore
from ..errors import RecollectError
from ..store import Store
from . import routes_history, routes_records, routes_transfer
from .answers import CODES, error_body, invalid, message, status
from .guard import Guard, Limits, Receive, Scope, Send
from .recorder import Recorder
from .shapes import Batch, ErrorAnswer, Record
from .sse import Feed
from .state import State, only_known

DOCUMENTED = {
    400: "What was sent cannot be stored or asked.",
    401: "The token is missing or wrong.",
    403: "A web page, or another workspace than this sidecar's.",
    404: "No such session, record, fact, branch or route; or not in this workspace.",
    405: "The route does not know this method.",
    408: "The body did not arrive in time.",
    409: "That id or name is taken, or no more facts fit.",
    410: "The session is in the bin.",
    413: "The body is too large.",
    414: "The URL is too long.",
    415: "The body is not declared as JSON.",
    421: "The Host is not the sidecar's.",
    422: "A field is missing, misspelt or not of its kind; `details` says which.",
    500: "The store is damaged, or a bug.",
    503: "Busy, unavailable or stopping: try again, with the same key.",
    507: "The disk is full; nothing was written.",
}
RECORD = "/memory/record"
REF = "#/components/schemas/{model}"
ABOUT = """The memory of the AI agents of this machine, for any language.

Every request needs `Authorization: Bearer <token>`; `recollect serve` prints where the token file is. Every route takes a
`workspace`: what belongs to another one is then not found. Errors have one shape."""


def create_app(
    store: Store, *, token: str, hosts: tuple[str, ...] = (), workspace: str | None = None, limits: Limits | None = None
) -> Guard:
    """The sidecar of a store as an ASGI application. The store stays the caller's to close."""
    state = State(store, workspace)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        own = AsyncStore(store)
        state.start(own, Feed(own), lambda told: Recorder(store, told))
        try:
            yield
        finally:
            state.feed.close()
            await state.recorder.close()
            own._threads.close()

    api = FastAPI(
        title="Recollect", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan,
        responses={number: {"model": ErrorAnswer, "description": text} for number, text in DOCUMENTED.items()},
        separate_input_output_schemas=False, redirect_slashes=False,
    )  # fmt: skip
    api.state.sidecar = state
    for routes in (routes_records, routes_history, routes_transfer):
        api.include_router(routes.router, dependencies=[Depends(only_known)])
    _handlers(api)
    _secured(api)
    guard = Guard(Shortcut(api, state), token=token, hosts=hosts, limits=limits)
    guard.leaving = state.leave
    return guard


class Shortcut:
    """The one route that is called hundreds of times a second goes past FastAPI's routing and dependencies, which cost more
    than writing the record does. The same function answers either way."""

    def __init__(self, api: FastAPI, state: State) -> None:
        self.api, self._state = api, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != RECORD or scope["method"] != "POST" or scope["query_string"]:
            await self.api(scope, receive, send)
            return
        try:
            body = b""
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    break
            answer = await routes_records.recorded(self._state, body, None)
        except RecollectError as e:
            answer = refused(e)
        except HTTPException as e:
            answer = turned_away(e)
        await answer(scope, receive, send)


def refused(e: RecollectError) -> Response:
    number, code = status(e)
    return Response(
        error_body(code, message(e)), number, {"Retry-After": "1"} if number == 503 else None, "application/json"
    )


def turned_away(e: HTTPException) -> Response:
    said = str(e.detail)
    if e.status_code == 404:  # Starlette's own: what we do not find has words of its own
        said = "There is no such route. They begin with /memory/, and GET /openapi.json lists them."
    elif e.status_code == 405:
        said = f"This route takes {(e.headers or {}).get('Allow', 'another method')}."
    body = error_body(CODES.get(e.status_code, "error"), said)
    return Response(body, e.status_code, e.headers, "application/json")


def _handlers(api: FastAPI) -> None:
    @api.exception_handler(RecollectError)
    async def of_ours(request: Request, e: Exception) -> Response:
        assert isinstance(e, RecollectError)
        return refused(e)

    @api.exception_handler(HTTPException)
    async def of_http(request: Request, e: Exception) -> Response:
        assert isinstance(e, HTTPException)
        return turned_away(e)

    @api.exception_handler(RequestValidationError)
    async def of_checks(request: Request, e: Exception) -> Response:
        assert isinstance(e, RequestValidationError)
        return Response(invalid(list(e.errors())), 422, media_type="application/json")

    @api.exception_handler(Exception)
    async def of_bugs(request: Request, e: Exception) -> Response:
        body = error_body(CODES[500], "Something unexpected happened; the sidecar's log says what.")
        return Response(body, 500, media_type="application/json")


def _secured(api: FastAPI) -> None:
    make = api.openapi

    def openapi() -> dict[str, Any]:
        schema = make()
        own = models_json_schema([(Record, "validation"), (Batch, "validation")], ref_template=REF)[1]["$defs"]
        schema["components"]["schemas"] |= own
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}]
        return schema

    api.openapi = openapi  # type: ignore[method-assign]
