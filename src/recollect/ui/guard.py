"""Nobody but this machine's own browser: Host and Origin are checked before anything else is done.

Streamlit's own check lets any page of this machine in, whatever its port, and asks a server on the internet for this
machine's address when a foreign page knocks. So a request gets as far as Streamlit only if it names exactly this
application: a page elsewhere, a rebound name, or another program's page on this machine gets nothing. `localhost` is another
name: a browser may look for it at [::1] first, where another account can listen on our port.

And no page may show the application inside of itself, where a click meant for that page would land here; nor does the
application fetch a picture from anywhere else, whatever a message says: the address of one can carry what was said away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .launch import ADDRESS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = b"img-src 'self' data: blob:; media-src 'self' data: blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'none'"
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Guard:
    """ASGI middleware: exact Host, exact Origin where there is one, on HTTP and WebSocket alike."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{ADDRESS}:{port}".encode()}
        if port == 80:
            self._hosts.add(ADDRESS.encode())
        self._origins = {b"http://" + host for host in self._hosts}
        self._refused = (
            f"Recollect answers at http://{ADDRESS}:{port} and at no other address or name, localhost included. "
            "Open the address that it printed when it started.\n"
        ).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._is_ours(scope):
            await self._app(scope, receive, _with_headers(send) if scope["type"] == "http" else send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the answer is a plain 403
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(self._refused))]
            await send({"type": "http.response.start", "status": 421, "headers": headers})
            await send({"type": "http.response.body", "body": self._refused})

    def _is_ours(self, scope: Scope) -> bool:
        hosts = [value.lower() for name, value in scope["headers"] if name == b"host"]
        origins = [value.lower() for name, value in scope["headers"] if name == b"origin"]
        return len(hosts) == 1 and hosts[0] in self._hosts and all(origin in self._origins for origin in origins)


def _with_headers(send: Send) -> Send:
    named = {name for name, _ in _HEADERS}

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [h for h in message.get("headers", ()) if h[0].lower() not in named]
            message = {**message, "headers": [*kept, *_HEADERS]}
        await send(message)

    return answer
