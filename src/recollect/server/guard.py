"""Who may speak to the sidecar, and to MCP over HTTP: decided from the head of a request, before a byte of its body is read.

Any web page that a user visits can send requests to loopback, and any program of any user of this machine can. So: the
token, compared in constant time, or the proof of having it that our own clients give (`peer`); the exact Host, against names that were made to point here (DNS rebinding); no Origin and
no Sec-Fetch-Site of another page; JSON declared as JSON, so that no form can send it. A body has a most, counted as it
arrives, and a time to arrive in. FastAPI reads the body before `Depends` runs, which is why all this is ASGI middleware.

Who has not shown yet that they may gets little: few places, and two seconds (`Slots`).

Errors have one shape everywhere: {"error": {"code": ..., "message": ...}}.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import traceback
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .. import peer
from ..redact import redact
from .answers import CODES, error_body

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("recollect.server")

MAX_BODY = 16 * 1024 * 1024
MAX_IMPORT = 4 * 1024 * 1024 * 1024
IDLE_SECONDS = 10.0
BODY_SECONDS = 20.0
SLOWEST = 64 * 1024  # bytes a second, past BODY_SECONDS
HEAD_SECONDS = 10.0
STRANGER_SECONDS = 2.0
MOST_CONNECTIONS = 256  # with the token; and as many again by our own socket
MOST_STRANGERS = 32
PRUNE_SECONDS = 0.005  # after which of too many strangers the oldest are dropped: what they said by then is heard first
LONGEST_URL = 16 * 1024
LONGEST_HEAD = 64 * 1024
MOST_WAITING = 256  # requests on one connection that were sent before the first was answered
IMPORT = "/memory/import"
LINES = (b"application/x-ndjson", b"application/jsonl")
HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


OWN_HOSTS = frozenset([b"localhost"])


class Refusal(NamedTuple):
    """An answer without a request having been looked at."""

    status: int
    message: str


class Limits(NamedTuple):
    """How much a body may be, and how long it may take."""

    body: int = MAX_BODY
    imported: int = MAX_IMPORT
    idle_seconds: float = IDLE_SECONDS
    body_seconds: float = BODY_SECONDS


class Guard:
    """ASGI middleware around the whole application: no route is outside it."""

    def __init__(self, app: App, *, token: str, hosts: Iterable[str] = (), limits: Limits | None = None) -> None:
        self._app = app
        self._token = token.encode()
        self.hosts = frozenset(host.encode() for host in hosts)
        """What a request may call us: set when the socket is bound, because only then is the port known."""
        self._limits = limits or Limits()
        self.leaving: Callable[[], None] = lambda: None
        """Called when the server is about to stop."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            headers: dict[bytes, list[bytes]] = {}
            for name, value in scope["headers"]:
                headers.setdefault(name, []).append(value)
            connection: Protocol | None = scope.get("connection")
            refusal = self._elsewhere(headers, connection)
            if refusal is None and scope["path"] == peer.PROOF and connection is not None:
                said = connection.challenged(self._token.decode(), headers.get(b"authorization", []))
                if said is not None:
                    await send({"type": "http.response.start", "status": 204, "headers": [*said, *HEADERS]})
                    await send({"type": "http.response.body", "body": b""})
                    return
            refusal = refusal or self._refusal(scope, headers, connection)
            if refusal is None and connection is not None and not connection.admit():
                refusal = Refusal(503, "Too many connections. Close some, and try again.")
            if refusal is None:
                await self._pass(scope, receive, send)
            else:
                await _answer(send, refusal.status, CODES[refusal.status], refusal.message)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _elsewhere(self, headers: dict[bytes, list[bytes]], connection: Protocol | None) -> Refusal | None:
        """Whether it was meant for another host, or comes from a web page."""
        host = headers.get(b"host", [])
        known = OWN_HOSTS if connection is not None and connection.is_own else self.hosts
        if len(host) != 1 or host[0] not in known:
            return Refusal(421, "This is not a host that is answered for here. Use the address that was printed.")
        own = [b"http://" + host[0]]
        if any([origin] != own for origin in headers.get(b"origin", [])):
            return Refusal(403, "Web pages may not call this.")
        if any(site not in (b"none", b"same-origin") for site in headers.get(b"sec-fetch-site", [])):
            return Refusal(403, "Web pages may not call this.")
        return None

    def _refusal(self, scope: Scope, headers: dict[bytes, list[bytes]], connection: Protocol | None) -> Refusal | None:
        given = headers.get(b"authorization", [])
        is_proven = connection is not None and connection.is_proven and not given
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        # Both are compared, whatever the first says: the time must not tell how far somebody got.
        if not is_proven and not (hmac.compare_digest(token.strip(), self._token) & (scheme.lower() == b"bearer")):
            return Refusal(
                401, "The token is missing or wrong: send `Authorization: Bearer <token>`, from the token file."
            )
        target = scope.get("raw_path", b"") + b"?" + scope["query_string"]
        if self._token in target:
            return Refusal(
                400,
                "The token stands in the URL, where it ends up in logs. Start `recollect serve` once more: it makes another.",
            )
        if len(target) > LONGEST_URL:
            return Refusal(414, f"The URL is longer than {LONGEST_URL} bytes. Long texts belong in a body.")
        if not scope["path"].startswith("/"):
            return Refusal(400, "The target of the request is no path.")
        return self._body_refusal(scope, headers)

    def _body_refusal(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> Refusal | None:
        chunked = b"transfer-encoding" in headers
        length = int(headers.get(b"content-length", [b"0"])[0])
        if not chunked and not length:
            return None
        most = self._most(scope)
        if length > most:
            return Refusal(413, f"The body has {length:,} bytes; at most {most:,} are read. Send it in parts.")
        kind = headers.get(b"content-type", [])
        wanted = LINES if scope["path"] == IMPORT else (b"application/json",)
        name, _, parameters = (kind[0] if len(kind) == 1 else b"").lower().partition(b";")
        if name.strip() not in wanted or parameters.strip() not in (b"", b"charset=utf-8", b'charset="utf-8"'):
            return Refusal(415, f"The body must be declared as {wanted[0].decode()}, in UTF-8.")
        if any(coding.lower() != b"identity" for coding in headers.get(b"content-encoding", [])):
            return Refusal(415, "Send the body as it is, without a content encoding.")
        if any(coding.lower() != b"chunked" for coding in headers.get(b"transfer-encoding", [])):
            return Refusal(415, "Send the body as it is, in chunks at most.")
        return None

    def _most(self, scope: Scope) -> int:
        return self._limits.imported if scope["path"] == IMPORT else self._limits.body

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive, self._most(scope), self._limits)
        body.is_read = not any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = [*message.get("headers", ()), *HEADERS]
                if not body.is_read:
                    headers.append((b"connection", b"close"))  # what is left of the body is not read
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._app(scope, body.receive, answer)
        except Exception as e:
            if type(e).__name__ == "SendTimeoutError":
                log.info("A reader of /memory/events was too slow, and was dropped.")
                return
            # A traceback may quote what was being stored.
            log.error(
                "%s %s failed\n%s", scope["method"], scope["path"], redact("".join(traceback.format_exception(e)))
            )
            if not started:
                await _answer(send, 500, CODES[500], "Something unexpected happened; the server's log says what.")


class _Body:
    """The receiving side of a request: counted, and with a time limit while the body is arriving."""

    def __init__(self, receive: Receive, most: int, limits: Limits) -> None:
        self._receive, self._most, self._limits = receive, most, limits
        self._got = 0
        self._began: float | None = None
        self.is_read = False

    async def receive(self) -> Message:
        if self.is_read:
            return await self._receive()
        if not self._got and not getattr(getattr(self._receive, "__self__", None), "more_body", True):
            return self._counted(await self._receive())  # uvicorn has all of it already: there is nothing to wait for
        now = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = now
        until = self._began + self._limits.body_seconds + self._got / SLOWEST
        try:
            async with asyncio.timeout(max(0.0, min(self._limits.idle_seconds, until - now))):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "The body did not arrive in time.") from None
        return self._counted(message)

    def _counted(self, message: Message) -> Message:
        self._got += len(message.get("body", b""))
        if self._got > self._most:
            raise HTTPException(413, f"The body has more than {self._most:,} bytes. Send it in parts.")
        self.is_read = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message


async def _answer(send: Send, status: int, code: str, message: str) -> None:
    body = error_body(code, message)
    headers = [
        (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close"),
        *HEADERS,
    ]  # fmt: skip
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Together:
    """A transport that sends what is written in one go in one piece: uvicorn writes head and body of an answer one after the
    other, and a call of the system with all its waiting for other threads costs more than the rest of the answer."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Slots:
    """The places of one server. Any account can open connections to a port, so those that have not shown the token yet are
    strangers: they have few places, and of too many the oldest go. Connections by our own socket have places of their own:
    no account but ours can take one."""

    def __init__(self, own_path: str = "") -> None:
        self.own_path = own_path
        self.own: set[Protocol] = set()
        self.known: set[Protocol] = set()
        self.strangers: dict[Protocol, None] = {}  # the oldest first
        self._is_pruning = False

    def enter(self, connection: Protocol) -> bool:
        """False: there is no place."""
        if connection.is_own:
            self.own.add(connection)
            return len(self.own) <= MOST_CONNECTIONS
        self.strangers[connection] = None
        if len(self.strangers) > 4 * MOST_STRANGERS:
            next(iter(self.strangers)).drop()
        elif len(self.strangers) > MOST_STRANGERS and not self._is_pruning:
            self._is_pruning = True
            connection.loop.call_later(PRUNE_SECONDS, self._prune)
        return True

    def _prune(self) -> None:
        self._is_pruning = False
        for connection in [c for c in self.strangers if c.awaits_head][: max(0, len(self.strangers) - MOST_STRANGERS)]:
            connection.drop()

    def admit(self, connection: Protocol) -> bool:
        """It has shown the token. False: there is no place."""
        if connection not in self.strangers:
            return True
        if len(self.known) >= MOST_CONNECTIONS:
            return False
        del self.strangers[connection]
        self.known.add(connection)
        return True

    def leave(self, connection: Protocol) -> None:
        self.strangers.pop(connection, None)
        self.own.discard(connection)
        self.known.discard(connection)


class Protocol(HttpToolsProtocol):
    """uvicorn's, with limits for the head of a request: whoever opens a connection and says nothing, or says more and more,
    is not kept. Its parser is written in C: h11, which is not, took a quarter of the sidecar's time."""

    head_seconds = HEAD_SECONDS
    stranger_seconds = STRANGER_SECONDS
    is_own = False
    """It came by our own socket, from a program of this account."""
    is_proven = False
    """It needs no token in its requests."""
    _nonces: tuple[str, str] | None = None
    _waiting: asyncio.TimerHandle | None = None
    _running: RequestResponseCycle | None = None
    """What is being answered. `cycle` is what was asked last, and may wait behind it."""
    _unread = 0
    """How many bytes came since the last that was part of a body, or the end of a head."""
    _is_past_head = False
    _is_refused = False

    def __init__(self, *args: Any, slots: Slots, **more: Any) -> None:
        super().__init__(*args, **more)
        self._slots = slots

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_Together(transport, self.loop))  # type: ignore[arg-type]
        if self._slots.own_path and self.server == (self._slots.own_path, None):
            self.is_own = self.is_proven = peer.is_ours(transport.get_extra_info("socket"))
        if self._slots.enter(self):
            self._wait()
        else:
            transport.abort()

    def admit(self) -> bool:
        """It has shown that it may speak, and has time from now on."""
        is_new = self in self._slots.strangers
        if not self._slots.admit(self):
            return False
        if is_new:
            self._stop()
        return True

    def drop(self) -> None:
        self._slots.leave(self)
        self.transport.abort()

    def challenged(self, token: str, given: list[bytes]) -> list[tuple[bytes, bytes]] | None:
        """The headers of the answer to one half of the challenge; None: it is refused."""
        scheme, _, said = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        what, _, value = said.partition("=")
        if scheme != peer.SCHEME or not peer.is_nonce(value):
            return None
        place = peer.end_of(self.server)
        if what == "challenge" and self._nonces is None:
            self._nonces = (value, os.urandom(peer.NONCE // 2).hex())
            return [(b"www-authenticate", peer.offer(token, *self._nonces, place).encode())]
        if what == "proof" and self._nonces is not None:
            wanted = peer.made(token, "client", *self._nonces, place)
            if hmac.compare_digest(value, wanted) and self.admit():
                self.is_proven = True
                return []
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._slots.leave(self)
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True  # uvicorn tells only what was asked last
            self._running.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self.flow.pause_reading()  # what is being answered has asked for more
            return
        self._unset_keepalive_if_required()
        self._unread += len(data)
        try:
            self._feed(data)
        except HttpParserError:
            self._refuse()
            return
        if self._unread > LONGEST_HEAD:
            self._refuse()
        elif self in self._slots.strangers:
            pass  # its time goes on, whatever it says
        elif not self.awaits_head:
            self._stop()
        elif self._waiting is None:
            self._wait()

    def _feed(self, data: bytes) -> None:
        while True:
            try:
                self.parser.feed_data(data)
                return
            except HttpParserUpgrade as offer:
                # The parser takes what follows for another protocol, and it is the body: read it all again without the offer.
                self.parser = HttpRequestParser(self)
                data = self._declined() + data[offer.args[0] :]

    def _declined(self) -> bytes:
        """The head of a request that offers to go on in another protocol, as `curl --http2` and Java's client do with every
        one, without the offer."""
        lines = [f"{self.scope['method']} ".encode() + self.url + b" HTTP/1.1"]
        lines += [name + b": " + value for name, value in self.headers if name not in (b"upgrade", b"connection")]
        if any(name == b"connection" and b"close" in value.lower() for name, value in self.headers):
            lines.append(b"connection: close")
        return b"\r\n".join([*lines, b"", b""])

    def _refuse(self) -> None:
        """What cannot be read is refused, with all that follows. What was asked before it is answered first: it is being
        done, and a 400 would be taken for its answer."""
        self._is_refused = True
        self.flow.pause_reading()
        last = self.cycle
        if self.pipeline and last.more_body:  # it is the body of this one that cannot be read
            self.pipeline.popleft()
            last = self.pipeline[0][0] if self.pipeline else self._running  # type: ignore[assignment]
        if last is None or last.response_complete or (last.more_body and not last.response_started):
            self.send_400_response("")
        elif last.more_body:
            self.transport.close()
        else:
            last.keep_alive = False

    def on_message_begin(self) -> None:
        self._is_past_head = False
        super().on_message_begin()
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._is_past_head:  # what stands behind a body is not what the request was judged by
            super().on_header(name, value.rstrip(b" \t"))  # the parser leaves what stands behind a value

    def on_headers_complete(self) -> None:
        self._unread, self._is_past_head = 0, True
        # Each of them is the parser's error, and so a 400.
        if not self.url.startswith(b"/") or b"#" in self.url:
            raise ValueError("a target that is no path")
        if self.parser.get_http_version() not in ("1.1", "1.0") or self.parser.get_method() == b"CONNECT":
            raise ValueError("another protocol")
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > LONGEST_HEAD:
            raise ValueError("a head that is too long")
        if len(self.pipeline) >= MOST_WAITING:
            raise ValueError("too many at once")
        if self.parser.should_upgrade():
            self.scope["method"] = self.parser.get_method().decode("ascii")
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is refused in the one shape, too."""
        body = error_body(CODES[400], "This is no HTTP that is understood here.")
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % len(body) + body)
        self.transport.close()

    @property
    def awaits_head(self) -> bool:
        """Whether nothing is being done for this connection: the head of a request is still to come, or only begun."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        seconds = self.stranger_seconds if self in self._slots.strangers else self.head_seconds
        self._waiting = self.loop.call_later(seconds, self._too_slow)

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_slow(self) -> None:
        self._waiting = None
        if self.transport.is_closing():
            return
        if self.awaits_head:
            self.transport.close()
        elif self in self._slots.strangers:
            self._wait()  # it is just being looked at
