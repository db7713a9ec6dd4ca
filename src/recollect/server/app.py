"""The application: routes, one error shape, a schema with examples, and the guard around all of it.

A route translates and calls a verb; `routes_records` has what an agent does all day, `routes_history` what it looks at and
forgets. `state` is what they share. There is no page at /docs, because the usual one loads its code from elsewhere; the
schema is at /openapi.json, behind the token like everything else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from .. import __version__, errors
from ..aio import AsyncStore
from ..errors import RecollectError
from ..store import Store
from . import routes_history, routes_records
from .guard import CODES, Guard, Limits, error_body
from .recorder import Recorder
from .shapes import ErrorAnswer
from .sse import Feed
from .state import State

STATUS: tuple[tuple[type[RecollectError], int, str], ...] = (
    (errors.InvalidInput, 400, "invalid_input"),
    (errors.SettingsError, 400, "settings"),
    (errors.ConversationDeleted, 410, "deleted"),
    (errors.NotFound, 404, "not_found"),
    (errors.AlreadyExists, 409, "already_exists"),
    (errors.ScopeFull, 409, "scope_full"),
    (errors.StoreBusy, 503, "busy"),
    (errors.Unavailable, 503, "unavailable"),
    (errors.StoreClosed, 503, "stopping"),
    (errors.OutcomeUnknown, 503, "outcome_unknown"),
    (errors.DiskFull, 507, "disk_full"),
    (errors.Damaged, 500, "damaged"),
    (errors.RecollectError, 500, "storage"),
)
"""Which error of ours is which status, the nearest first."""
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
ABOUT = """The memory of the AI agents of this machine, for any language.

Every request needs `Authorization: Bearer <token>`; `recollect serve` prints where the token file is. Every route takes a
`workspace`: what belongs to another one is then not found. Errors have one shape."""


def status(error: RecollectError) -> tuple[int, str]:
    return next((number, code) for kind, number, code in STATUS if isinstance(error, kind))


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
    for routes in (routes_records, routes_history):
        api.include_router(routes.router)
    _handlers(api)
    _secured(api)
    return Guard(api, token=token, hosts=hosts, limits=limits)


def _handlers(api: FastAPI) -> None:
    def answer(number: int, body: bytes, **headers: str) -> Response:
        return Response(body, number, headers, "application/json")

    @api.exception_handler(RecollectError)
    async def of_ours(request: Request, e: Exception) -> Response:
        assert isinstance(e, RecollectError)
        number, code = status(e)
        again = {"Retry-After": "1"} if number == 503 else {}
        return answer(number, error_body(code, str(e)), **again)

    @api.exception_handler(HTTPException)
    async def of_http(request: Request, e: Exception) -> Response:
        assert isinstance(e, HTTPException)
        return answer(e.status_code, error_body(CODES.get(e.status_code, "error"), str(e.detail)), **(e.headers or {}))

    @api.exception_handler(RequestValidationError)
    async def of_checks(request: Request, e: Exception) -> Response:
        assert isinstance(e, RequestValidationError)
        return answer(422, wrong(e.errors()))

    @api.exception_handler(Exception)
    async def of_bugs(request: Request, e: Exception) -> Response:
        return answer(500, error_body(CODES[500], "Something unexpected happened; the sidecar's log says what."))


def wrong(found: Any) -> bytes:
    """What pydantic found, without what was sent: that may be a secret."""
    details = [
        {"where": ".".join(map(str, error["loc"])), "what": str(error["msg"])[:300]}
        for error in found[:20]
        if error["type"] != "value_error.jsondecode"
    ]
    return error_body("invalid_request", "The request is not as the schema says: see `details`.", details)


def _secured(api: FastAPI) -> None:
    make = api.openapi

    def openapi() -> dict[str, Any]:
        schema = make()
        schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}]
        return schema

    api.openapi = openapi  # type: ignore[method-assign]
