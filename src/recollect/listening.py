"""What the clients of the sidecar make of what comes back: answers, errors, and the lines of a stream of live updates.

Nothing here sends anything. `Patience` says how long to wait before the next connection, and when to give up; `Lines` makes
updates of lines.
"""

from __future__ import annotations

from .errors import RecollectError
from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    import httpx

    Json = dict[str, Any]

PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)


class SidecarError(RecollectError):
    """The sidecar refused, or could not. `status` and `code` say what."""

    def __init__(self, message: str, status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Update:
    """One live update: an `event` that was appended, a `memory_update`; `ready` comes first, with the position."""

    name: str  # event, memory_update or ready
    id: int  # the position; events(after=id) goes on from here
    data: Mapping[str, Any]  # the record, or the fact with what happened to it


def answer(response: httpx.Response) -> Any:
    if response.status_code < 400:
        return response.json()
    try:
        error = response.json()["error"]
        said = "; ".join([error["message"], *(f"{d['where']}: {d['what']}" for d in error.get("details", ()))])
        raise SidecarError(said, response.status_code, error["code"])
    except (ValueError, KeyError, TypeError):
        raise SidecarError(f"The sidecar answered {response.status_code}.", response.status_code, "error") from None


def unreachable(url: str, uds: str | None, e: Exception) -> SidecarError:
    if isinstance(e, SidecarError):
        return e
    return SidecarError(
        f"Nobody answers at {uds or url} ({type(e).__name__}). Start the sidecar with `recollect serve`."
    )


def pauses(seconds: float) -> Iterator[float | None]:
    """How long to wait before each further try; None says that there is none."""
    import time

    until = time.monotonic() + seconds
    n = 0
    while (left := until - time.monotonic()) > 0:
        yield min(PAUSES[min(n, len(PAUSES) - 1)], left)
        n += 1
    yield None


class Patience:
    """Pauses between connections of a reader: from short again whenever one succeeded."""

    def __init__(self, most: float) -> None:
        self._most = most
        self.seconds = PAUSES[0]
        self.reset()

    def reset(self) -> None:
        self._n = 0
        self._since: float | None = None

    def check(self, e: Exception, url: str, uds: str | None) -> None:
        import time

        now = time.monotonic()
        self._since = self._since or now
        if now - self._since > self._most:
            raise unreachable(url, uds, e) from e
        self._n += 1

    def __iter__(self) -> Iterator[Patience]:
        while True:
            self.seconds = PAUSES[min(self._n, len(PAUSES) - 1)]
            yield self


def listening(params: Json, after: int | None) -> Json:
    from httpx import Timeout

    headers = {"accept": "text/event-stream", **({} if after is None else {"last-event-id": str(after)})}
    return {
        "params": {k: v for k, v in params.items() if v is not None},
        "headers": headers,
        "timeout": Timeout(5.0, read=60.0),  # a ping comes every 15 s
    }


class Lines:
    """The lines of a stream on their way to updates."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def add(self, line: str) -> Update | None:
        if line:
            name, _, value = line.partition(":")
            if name:
                self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields or "id" not in fields:
            return None
        import json

        return Update(fields.get("event", "message"), int(fields["id"]), json.loads(fields["data"]))


def updates(lines: Iterator[str]) -> Iterator[Update]:
    parser = Lines()
    for line in lines:
        update = parser.add(line)
        if update is not None:
            yield update
