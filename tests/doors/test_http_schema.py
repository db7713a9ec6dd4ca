"""Every route against its own schema: schemathesis makes requests that are as the schema says, and ones that are not.

Whatever comes back must be a status, a type and a shape that the schema knows, never a failure of the sidecar; and what
breaks the schema must be refused. The stream of live updates does not end, so of that only the head is read.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from sidecar import TOKEN, Sidecar, running

import recollect
from recollect.server.app import create_app


def described() -> dict[str, Any]:
    with recollect.open(":memory:", background=False, semantic=False) as store:
        schema: dict[str, Any] = create_app(store, token=TOKEN)._app.api.openapi()  # type: ignore[attr-defined]
        return schema


DESCRIBED = described()
SCHEMA = schemathesis.openapi.from_dict(DESCRIBED)
OPEN = schemathesis.openapi.from_dict({**DESCRIBED, "security": []})
"""Without the token, which is no part of what is to be broken."""
OPEN.config.checks.negative_data_rejection.expected_statuses = ["4XX"]
LIVE = ("GET", "/memory/events")
OPERATIONS = sorted((method.upper(), path) for path, item in DESCRIBED["paths"].items() for method in item)
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
    response_headers_conformance,
]  # fmt: skip
AUTH = {"Authorization": f"Bearer {TOKEN}"}
few = settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.generate),  # the first failure is told as it is: shrinking takes minutes
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/x-ndjson")
def lines(ctx: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def sidecar() -> Iterator[Sidecar]:
    with (
        recollect.open(":memory:", user="alex", semantic=False, background=False) as store,
        running(store) as made,
    ):
        c = store.create("5d7f3c1e", workspace="/repo")
        store.append_many(c, [{"role": "user", "text": f"m{i}"} for i in range(5)])
        store.append(c, kind="ledger", task_id="t", goal="g")
        yield made


@pytest.mark.parametrize(("method", "path"), [o for o in OPERATIONS if o != LIVE])
def test_what_is_as_the_schema_says_is_answered_as_it_says(sidecar: Sidecar, method: str, path: str) -> None:
    operation = SCHEMA[path][method]

    @few
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def ask(case: schemathesis.Case) -> None:
        response = case.call(base_url=sidecar.url, headers=AUTH, timeout=60)
        case.validate_response(response, checks=CHECKS)

    ask()


def can_be_wrong(method: str, path: str) -> bool:
    """Whether anything about a request can break the schema: any text is a path, and any bytes are lines."""
    return path not in ("/memory/record/{id}", "/memory/import")


@pytest.mark.parametrize(("method", "path"), [o for o in OPERATIONS if o != LIVE and can_be_wrong(*o)])
def test_what_breaks_the_schema_is_refused(sidecar: Sidecar, method: str, path: str) -> None:
    operation = OPEN[path][method]

    @few
    @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def ask(case: schemathesis.Case) -> None:
        response = case.call(base_url=sidecar.url, headers=AUTH, timeout=60)
        case.validate_response(response, checks=[*CHECKS, negative_data_rejection])

    ask()


@pytest.mark.parametrize(("method", "path"), [o for o in OPERATIONS if o != LIVE])
def test_the_token_is_needed_and_other_methods_are_refused(sidecar: Sidecar, method: str, path: str) -> None:
    operation = SCHEMA[path][method]

    @settings(few, max_examples=2)
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def ask(case: schemathesis.Case) -> None:
        response = case.call(base_url=sidecar.url, headers=AUTH, timeout=60)
        case.validate_response(response, checks=[ignored_auth, unsupported_method], headers=AUTH)

    ask()


def test_the_stream_is_answered_as_the_schema_says(sidecar: Sidecar) -> None:
    """By its head alone."""
    text = st.text(st.characters(codec="utf-8"), max_size=300)
    known = DESCRIBED["paths"][LIVE[1]]["get"]["responses"]

    @few
    @given(
        query=st.dictionaries(st.sampled_from(["session_id", "workspace", "after"]), text | st.integers().map(str)),
        last=st.none()
        | st.text(st.characters(codec="latin-1", exclude_categories=("Cc",)), max_size=30)
        | st.integers().map(str),
    )
    def ask(query: dict[str, str], last: str | None) -> None:
        connection = http.client.HTTPConnection(sidecar.host, sidecar.port, timeout=60)
        try:
            given = AUTH if last is None else {**AUTH, "Last-Event-ID": last}
            connection.request("GET", "/memory/events?" + urlencode(query), headers=given)
            answer = connection.getresponse()
            assert str(answer.status) in known and answer.status < 500
            kind = answer.getheader("content-type") or ""
            if answer.status == 200:
                assert kind.startswith("text/event-stream")
                assert answer.readline() == b"event: ready\n"
            else:
                assert kind == "application/json" and b'"error"' in answer.read()
        finally:
            connection.close()

    ask()
