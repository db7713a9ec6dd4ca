"""A client of the sidecar (`recollect serve`), for sync and async code, with the same verbs.

    from recollect.client import Client

    with Client(workspace="/repo") as memory:                 # finds the sidecar of this user
        memory.record("prompt", "s1", "Use tabs in Makefiles.")
        print(memory.search("tabs")["hits"])
        for update in memory.events():                        # live, for ever; reconnects by itself
            print(update.name, update.data)

Each verb is written once, as a `Call`; `Client` sends it and waits, `AsyncClient` sends it and awaits. What is recorded gets
a key, so that sending it again after a broken connection stores it once; that is what `retry_seconds` does. `AsyncClient`
can also record without waiting (`record_soon`): what was handed over is sent every 100 ms, in batches, before a search, and
on `flush` and `close`.

httpx is imported when a client is made, not when this module is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, Generic, NotRequired, ParamSpec, TypedDict, TypeVar, overload

from . import ids, reach
from .errors import RecollectError
from .listening import Lines, Patience, SidecarError, Update, answer, listening, pauses, unreachable, updates

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence

    from .config import Settings

P = ParamSpec("P")
T = TypeVar("T")
Json = dict[str, Any]


class Error(TypedDict):
    """Why something was refused."""

    code: str
    message: str


class Recorded(TypedDict):
    """What became of a record."""

    id: str | None
    seq: int
    session_id: str
    stored: bool
    created_at: int
    error: NotRequired[Error]


class Hit(TypedDict):
    """A fact or a record that was found."""

    id: str
    type: str
    kind: str
    score: float
    snippet: str
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
    metadata: dict[str, Any]
    provenance: dict[str, Any] | None


class Hits(TypedDict):
    """What a search found. `note` says so where nothing is about the question."""

    hits: list[Hit]
    took_ms: float
    note: NotRequired[str]


RETRY_SECONDS = 5.0
TIMEOUT_SECONDS = 30.0
SOON_SECONDS = 0.1
SOON_MOST = 100
SOON_HELD = 10_000
NDJSON = {"content-type": "application/x-ndjson"}


class Call:
    """One request: what a verb sends, and what it makes of the answer."""

    def __init__(
        self,
        method: str,
        path: str,
        params: Json | None = None,
        body: Json | None = None,
        *,
        take: Callable[[Any], Any] = lambda answer: answer,
        repeat: bool = True,
    ) -> None:
        self.method, self.path, self.body, self.take = method, path, body, take
        self.params = {k: v for k, v in (params or {}).items() if v is not None}
        self.repeat = repeat
        """Whether sending it twice does what sending it once does."""


class Returns(Call, Generic[T]):
    """A call whose answer is a T."""


class _Verb(Generic[P, T]):
    """A verb of both clients, from the one function that says what it sends."""

    def __init__(self, make: Callable[Concatenate[_Verbs, P], Returns[T]]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, obj: Client, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, obj: AsyncClient, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, obj: None, owner: type) -> _Verb[P, T]: ...
    def __get__(self, obj: Any, owner: type) -> Any:
        if obj is None:
            return self

        def call(*args: Any, **kwargs: Any) -> Any:
            return obj._send(self._make(obj, *args, **kwargs))

        call.__doc__, call.__name__ = self._make.__doc__, self._make.__name__
        call.__wrapped__ = self._make  # type: ignore[attr-defined]
        return call


def record_of(type: str, session_id: str, content: str = "", **fields: Any) -> Json:
    """A record for `record_many`: with a key of its own unless one is given."""
    return keyed({"type": type, "session_id": session_id, "content": content, **fields})


def keyed(record: Json) -> Json:
    """With a key of its own, unless it has an `id` or a `key`: then sending it again stores it once."""
    return record if "id" in record else {"key": ids.new(), **record}


class _Verbs:
    """What both clients are: where the sidecar is, and what each verb sends."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        uds: str | None = None,
        workspace: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        settings: Settings | None = None,
    ) -> None:
        """Without a `url` the sidecar of this user is looked up (`recollect serve` leaves its address), and no token is needed.
        With one, the token is looked up unless it is given. It is never sent: before anything is, the other side proves that it
        is the same user's sidecar. `workspace` is the scope of every call. `retry_seconds`: how long to try again when nobody
        answers."""
        self._way = reach.Way(url, uds, token, settings)
        self._url, self._uds = self._way.url, self._way.uds
        self.workspace = workspace
        self._timeout, self._retry_seconds = timeout, retry_seconds
        self._connect()

    def _connect(self) -> None:
        raise NotImplementedError

    def _params(self, call: Call) -> Json:
        if self.workspace is None or "workspace" in call.params:
            return call.params
        return {**call.params, "workspace": self.workspace}

    def _options(self) -> Json:
        return {
            "base_url": self._url,
            "timeout": self._timeout,
            "trust_env": False,  # a proxy of the environment has no business on loopback
        }

    @_Verb
    def record(self, /, type: str, session_id: str, content: str = "", **fields: Any) -> Returns[Recorded]:
        """Record what happened; durable when this returns. `fields` are those of the route: tool, path, tags, metadata, ..."""
        return Returns("POST", "/memory/record", body=record_of(type, session_id, content, **fields))

    @_Verb
    def record_many(self, records: Sequence[Json]) -> Returns[list[Recorded]]:
        """Record several at once (see `record_of`). An `error` stands where one was refused."""
        sent = [keyed(record) for record in records]
        return Returns("POST", "/memory/record", body={"records": sent}, take=lambda a: a["records"])

    @_Verb
    def search(
        self,
        q: str,
        *,
        k: int = 20,
        type: str | None = None,
        session_id: str | None = None,
        workspace: str | None = None,
        since: int | str | None = None,
    ) -> Returns[Hits]:
        """What was said ("records") or learned ("facts"), best first."""
        params = {"q": q, "k": k, "type": type, "session_id": session_id, "workspace": workspace, "since": since}
        return Returns("GET", "/memory/search", params)

    @_Verb
    def context(
        self, /, prompt: str, *, session_id: str | None = None, budget: int = 800, **more: Any
    ) -> Returns[Json]:
        """The best evidence for a prompt, quoted as data: `text`, `tokens`, `items`."""
        body = {"prompt": prompt, "session_id": session_id, "budget": budget, **more}
        return Returns("POST", "/memory/context", body=body)

    @_Verb
    def summarize(self, session_id: str, *, branch: str | None = None) -> Returns[Json]:
        """Extract facts from a session now."""
        return Returns("POST", "/memory/summarize", {"session_id": session_id, "branch": branch})

    @_Verb
    def remember(self, /, content: str, **fields: Any) -> Returns[Json]:
        """Keep a statement as a fact."""
        return Returns("POST", "/memory/remember", body={"content": content, **fields})

    @_Verb
    def read(self, id: str) -> Returns[Json]:
        """One record with all that belongs to it, or a fact, by our id or the one it was recorded with."""
        return Returns("GET", f"/memory/record/{_quoted(id)}")

    @_Verb
    def delete(self, id: str) -> Returns[Json]:
        """Remove one record, or a fact with its history, for good."""
        return Returns("DELETE", f"/memory/record/{_quoted(id)}", repeat=False)

    @_Verb
    def pin(self, id: str) -> Returns[Json]:
        """Keep a record or a fact, whatever retention says."""
        return Returns("POST", "/memory/pin", body={"id": id})

    @_Verb
    def unpin(self, id: str) -> Returns[Json]:
        """Take a pin off again."""
        return Returns("POST", "/memory/unpin", body={"id": id})

    @_Verb
    def accept(self, id: str) -> Returns[Json]:
        """Let in a fact that waits in quarantine."""
        return Returns("POST", "/memory/accept", body={"id": id})

    @_Verb
    def edit(self, /, id: str, **fields: Any) -> Returns[Json]:
        """Correct a fact (content, kind, importance, tags), or move it (scope, move_to)."""
        return Returns("POST", "/memory/edit", body={"id": id, **fields}, repeat=False)

    @_Verb
    def reject(self, id: str) -> Returns[Json]:
        """Forget a fact; `undo` brings it back."""
        return Returns("POST", "/memory/reject", body={"id": id}, repeat=False)

    @_Verb
    def undo(self, id: str) -> Returns[Json]:
        """Take back the newest change of a fact."""
        return Returns("POST", "/memory/undo", body={"id": id}, repeat=False)

    @_Verb
    def forget_session(self, session_id: str) -> Returns[Json]:
        """Erase a session: nothing is left but a receipt."""
        return Returns("POST", "/memory/forget", body={"session_id": session_id}, repeat=False)

    @_Verb
    def forget_workspace(self, workspace: str) -> Returns[Json]:
        """Erase everything of a workspace: nothing is left but receipts."""
        return Returns("POST", "/memory/forget", {"workspace": workspace}, {"workspace": workspace}, repeat=False)

    @_Verb
    def conversations(self, *, limit: int = 50, cursor: str | None = None) -> Returns[Json]:
        """Sessions, newest activity first; `next` is the cursor of the next page."""
        return Returns("GET", "/memory/conversations", {"limit": limit, "cursor": cursor})

    @_Verb
    def conversation(self, session_id: str) -> Returns[Json]:
        """One session."""
        return Returns("GET", "/memory/conversation", {"session_id": session_id})

    @_Verb
    def replay(
        self,
        session_id: str,
        *,
        after: int = 0,
        limit: int = 100,
        kinds: Sequence[str] | None = None,
        branch: str | None = None,
    ) -> Returns[Json]:
        """Replay a session from a number on; `next` is the number to go on from."""
        params = {"session_id": session_id, "after": after, "limit": limit, "kinds": kinds, "branch": branch}
        return Returns("GET", "/memory/replay", params)

    @_Verb
    def branches(self, session_id: str) -> Returns[list[Json]]:
        """The branches of a session."""
        return Returns("GET", "/memory/branches", {"session_id": session_id}, take=lambda a: a["branches"])

    @_Verb
    def fork(
        self, session_id: str, *, at: int | None = None, name: str | None = None, switch: bool = False
    ) -> Returns[Json]:
        """Start a branch of a session."""
        body = {"session_id": session_id, "at": at, "name": name, "switch": switch}
        return Returns("POST", "/memory/fork", body=body, repeat=False)

    @_Verb
    def ledger(self, session_id: str, *, at: int | None = None, branch: str | None = None) -> Returns[list[Json]]:
        """The newest snapshot of each task."""
        params = {"session_id": session_id, "at": at, "branch": branch}
        return Returns("GET", "/memory/ledger", params, take=lambda a: a["tasks"])

    @_Verb
    def memories(
        self,
        *,
        session_id: str | None = None,
        kind: str | None = None,
        state: str = "active",
        limit: int = 50,
        cursor: str | None = None,
    ) -> Returns[Json]:
        """Facts, newest first; `next` is the cursor of the next page."""
        params = {"session_id": session_id, "kind": kind, "state": state, "limit": limit, "cursor": cursor}
        return Returns("GET", "/memory/memories", params)

    @_Verb
    def stats(self, *, by: str | None = None) -> Returns[Json]:
        """How much there is."""
        return Returns("GET", "/memory/stats", {"by": by})

    @_Verb
    def health(self) -> Returns[Json]:
        """Whether the sidecar and its store answer."""
        return Returns("GET", "/memory/health")


class Client(_Verbs):
    """The sidecar, for sync code."""

    def _connect(self) -> None:
        import httpx

        self._httpx = httpx
        self._http = httpx.Client(transport=reach.transport(self._way), **self._options())

    def _send(self, call: Call) -> Any:
        for pause in pauses(self._retry_seconds if call.repeat else 0):
            try:
                response = self._http.request(call.method, call.path, params=self._params(call), json=call.body)
                return call.take(answer(response))
            except self._httpx.TransportError as e:
                self._pause(pause, e)
            except SidecarError as e:
                if e.status != 503 or pause is None:
                    raise
                self._pause(pause, e)
        raise AssertionError("unreachable: the last pause raises")

    def _pause(self, seconds: float | None, e: Exception) -> None:
        if seconds is None:
            raise unreachable(self._url, self._uds, e) from e
        import time

        time.sleep(seconds)

    def events(
        self,
        *,
        session_id: str | None = None,
        after: int | None = None,
        workspace: str | None = None,
        ready: bool = False,
    ) -> Iterator[Update]:
        """Live updates, for ever: everything that is committed behind `after`, or from now on. Reconnects by itself, and goes
        on where it was. With `ready`, also the first update, which says where that is. Ends by SidecarError when nobody
        answers for `retry_seconds`."""
        params = {"session_id": session_id, "workspace": workspace or self.workspace}
        for pause in Patience(self._retry_seconds):
            try:
                with self._http.stream("GET", "/memory/events", **listening(params, after)) as response:
                    if response.status_code != 200:
                        response.read()
                        answer(response)
                    pause.reset()
                    for update in updates(response.iter_lines()):
                        after = update.id
                        if ready or update.name != "ready":
                            yield update
            except self._httpx.TransportError as e:
                pause.check(e, self._url, self._uds)
            except SidecarError as e:
                if e.status != 503:
                    raise
                pause.check(e, self._url, self._uds)
            self._pause(pause.seconds, SidecarError("The stream ended."))

    def export(
        self, *, format: str = "jsonl", session_id: str | None = None, workspace: str | None = None
    ) -> Iterator[bytes]:
        """Everything there is, piece by piece, for a file."""
        params = {"format": format, "session_id": session_id, "workspace": workspace or self.workspace}
        with self._http.stream("GET", "/memory/export", params={k: v for k, v in params.items() if v}) as response:
            if response.status_code != 200:
                response.read()
                answer(response)
            yield from response.iter_bytes()

    def import_(self, lines: Iterable[bytes]) -> Json:
        """Bring in what an export wrote: an open file, or its pieces."""
        params = {} if self.workspace is None else {"workspace": self.workspace}
        done: Json = answer(self._http.post("/memory/import", params=params, content=lines, headers=NDJSON))
        return done

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncClient(_Verbs):
    """The sidecar, for async code."""

    def _connect(self) -> None:
        import httpx

        self._httpx = httpx
        self._http = httpx.AsyncClient(transport=reach.async_transport(self._way), **self._options())
        self._held: list[Json] = []
        self._sending: asyncio.Task[None] | None = None
        self._failed: list[str] = []

    async def _send(self, call: Call) -> Any:
        if self._held and call.path in ("/memory/search", "/memory/context", "/memory/summarize"):
            await self.flush()
        for pause in pauses(self._retry_seconds if call.repeat else 0):
            try:
                response = await self._http.request(call.method, call.path, params=self._params(call), json=call.body)
                return call.take(answer(response))
            except self._httpx.TransportError as e:
                await self._pause(pause, e)
            except SidecarError as e:
                if e.status != 503 or pause is None:
                    raise
                await self._pause(pause, e)
        raise AssertionError("unreachable: the last pause raises")

    async def _pause(self, seconds: float | None, e: Exception) -> None:
        if seconds is None:
            raise unreachable(self._url, self._uds, e) from e
        import asyncio

        await asyncio.sleep(seconds)

    def record_soon(self, type: str, session_id: str, content: str = "", **fields: Any) -> None:
        """Hand a record over and go on: it is sent within 100 ms, together with others. `flush` waits until all are durable
        and says what was refused."""
        if len(self._held) >= SOON_HELD:
            raise SidecarError(f"{SOON_HELD} records wait to be sent. Await flush() before handing over more.")
        self._held.append(record_of(type, session_id, content, **fields))
        if self._sending is None or self._sending.done():
            import asyncio

            self._sending = asyncio.get_running_loop().create_task(self._send_soon())

    async def _send_soon(self) -> None:
        import asyncio

        if len(self._held) < SOON_MOST:
            await asyncio.sleep(SOON_SECONDS)
        while self._held:
            batch = self._held[:SOON_MOST]
            try:
                done = await self.record_many(batch)
            except RecollectError as e:
                self._failed.append(f"{len(batch)} records were not written: {e}")
            else:
                self._failed += [r["error"]["message"] for r in done if "error" in r]
            del self._held[: len(batch)]

    async def flush(self) -> None:
        """Wait until everything that was handed over is durable. Raises SidecarError if something was not written."""
        while self._held or (self._sending is not None and not self._sending.done()):
            if self._sending is None or self._sending.done():
                await self._send_soon()
            else:
                await self._sending
        failed, self._failed = self._failed, []
        if failed:
            raise SidecarError("; ".join(failed[:5]), code="not_written")

    async def events(
        self,
        *,
        session_id: str | None = None,
        after: int | None = None,
        workspace: str | None = None,
        ready: bool = False,
    ) -> AsyncIterator[Update]:
        """Live updates, for ever, as `Client.events` has them."""
        params = {"session_id": session_id, "workspace": workspace or self.workspace}
        for pause in Patience(self._retry_seconds):
            try:
                async with self._http.stream("GET", "/memory/events", **listening(params, after)) as response:
                    if response.status_code != 200:
                        await response.aread()
                        answer(response)
                    pause.reset()
                    lines = Lines()
                    async for line in response.aiter_lines():
                        update = lines.add(line)
                        if update is not None:
                            after = update.id
                            if ready or update.name != "ready":
                                yield update
            except self._httpx.TransportError as e:
                pause.check(e, self._url, self._uds)
            except SidecarError as e:
                if e.status != 503:
                    raise
                pause.check(e, self._url, self._uds)
            await self._pause(pause.seconds, SidecarError("The stream ended."))

    async def export(
        self, *, format: str = "jsonl", session_id: str | None = None, workspace: str | None = None
    ) -> AsyncIterator[bytes]:
        """Everything there is, piece by piece, for a file."""
        await self.flush()
        params = {"format": format, "session_id": session_id, "workspace": workspace or self.workspace}
        given = {k: v for k, v in params.items() if v}
        async with self._http.stream("GET", "/memory/export", params=given) as response:
            if response.status_code != 200:
                await response.aread()
                answer(response)
            async for piece in response.aiter_bytes():
                yield piece

    async def import_(self, lines: AsyncIterable[bytes] | bytes) -> Json:
        """Bring in what an export wrote."""
        params = {} if self.workspace is None else {"workspace": self.workspace}
        done: Json = answer(await self._http.post("/memory/import", params=params, content=lines, headers=NDJSON))
        return done

    async def close(self) -> None:
        """Send what was handed over, and close."""
        try:
            await self.flush()
        finally:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _quoted(id: str) -> str:
    from urllib.parse import quote

    return quote(id, safe="")
