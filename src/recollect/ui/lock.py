"""The lock of the application: each start has a secret, and nothing is served without it.

Any account of this machine can connect to the port, and a program need not send an Origin. So the address that
`recollect app` prints carries a secret. Who opens it gets a cookie for it, and the address without it; every other request,
for whatever there is, gets a page that says how to get in, and a WebSocket is closed before it opens.

The address is left by a page of our own and not by a redirect: a browser that came from elsewhere (a file, a link in another
program's page) would follow a redirect without the strict cookie that it has just got. A browser started with the address
would show it to everybody who lists processes; so `opening()` writes it into a file that only its owner can read.

Browsers send a cookie to every port of a machine. A page that is left open asks at its old port for ever, where another
account may listen by now, and would get the cookie of the application that was started since. So the cookie holds for the
account alone whose connection brought the secret, where the kernel says which account that is (Linux).
"""

from __future__ import annotations

import hmac
import html
import os
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from .. import peer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ASKED = "secret"
"""What the secret is called in the address."""
HEADER = "x-recollect-locked"
"""On what is refused for want of the cookie: an open page knows by it why it was cut off."""
FOLDER = "application"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recollect</title>{head}<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.05rem/1.55 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto 0; padding: 0 1.2rem; }}
h1 {{ font-size: 1.35rem; }} code {{ font-size: .95em; white-space: nowrap; }} a {{ color: #2f6f5e; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181a; color: #e6eae8; }} a {{ color: #7fcbb4; }} }}
</style></head><body>{body}</body></html>
"""
_LOCKED = """<h1>Recollect is locked</h1>
{again}<p>To get in, open the address that Recollect printed when it started: look in the terminal where <code>recollect app</code>
or <code>make run</code> runs. The address has a <code>?secret=</code> in it. If that terminal is gone, end Recollect and start it again.</p>
<p>If this browser is already let in and you came from a link on another site, <a href="">go on</a>.</p>"""
_AGAIN = (
    "<p>This browser had been let in, but Recollect was started again since, and every start has a new address. "
    "Your conversations are safe.</p>\n"
)


def new_secret() -> str:
    return secrets.token_urlsafe(24)  # 192 bits, and the address fits on a line of a terminal


def cookie(port: int) -> str:
    """The cookie's name: browsers keep cookies for a machine, whatever the port, and there may be two applications."""
    return f"recollect-{port}"


def address(url: str, secret: str) -> str:
    return f"{url}/?{urlencode({ASKED: secret})}"


def opening(folder: str, url: str, port: int) -> str:
    """A file for this account alone, with a page that goes to the address. Returns its path."""
    from ..db import file

    above = os.path.join(folder, FOLDER)
    file.make_folder(above)
    peer.refuse_others(above, os.lstat(above), folder=True)
    path = os.path.join(above, f"open-{port}.html")
    if os.path.lexists(path):
        os.unlink(path)  # that of a start before
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
        f.write(_leave(url))
    return path


def _leave(to: str) -> bytes:
    """A page that goes on at once, and is not kept in the browser's history."""
    there = html.escape(to, quote=True)
    head = f'<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={there}">'
    return _PAGE.format(head=head, body=f'<p><a href="{there}">Open Recollect</a></p>').encode()


class Lock:
    """ASGI middleware: what has not the cookie gets nothing of what is behind."""

    def __init__(self, app: ASGIApp, port: int, secret: str) -> None:
        self._app = app
        self._name = cookie(port).encode()
        self._secret = secret.encode()

    def _pass(self, scope: Scope) -> bytes:
        """What the cookie holds for the account at the other end."""
        # The server lets this header say who connects. Who uses it is not taken for anybody.
        is_said = any(name == b"x-forwarded-for" for name, _ in scope["headers"])
        who = "said" if is_said else peer.account(scope["client"], scope["server"])
        return hmac.digest(self._secret, self._name + f" {who}".encode(), "sha256").hex().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        shown = self._shown(scope)
        is_open = bool(shown) and _is_among(self._pass(scope), shown)
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            asked = [value.encode() for name, value in query if name == ASKED]
            if asked and (is_open or _is_among(self._secret, asked)):
                await self._enter(scope, [(name, value) for name, value in query if name != ASKED], send)
                return
        if is_open:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the answer is a plain 403
        else:
            said = _PAGE.format(head="", body=_LOCKED.format(again=_AGAIN if shown else ""))
            await _answer(scope, send, 403, said.encode(), [(HEADER.encode(), b"yes")])

    def _shown(self, scope: Scope) -> list[bytes]:
        """The values of our cookie, right or wrong."""
        pairs = (
            pair.partition(b"=") for name, value in scope["headers"] if name == b"cookie" for pair in value.split(b";")
        )
        return [value.strip() for name, _, value in pairs if name.strip() == self._name]

    async def _enter(self, scope: Scope, query: list[tuple[str, str]], send: Send) -> None:
        """To the same place, with the cookie and without the secret in the address."""
        there = "/" + quote(scope["path"].lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")
        said = b"%s=%s; Path=/; HttpOnly; SameSite=Strict" % (self._name, self._pass(scope))
        await _answer(scope, send, 200, _leave(there), [(b"set-cookie", said)])


def _is_among(wanted: bytes, values: list[bytes]) -> bool:
    found = False
    for value in values:
        found |= hmac.compare_digest(value, wanted)
    return found


async def _answer(scope: Scope, send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    usual = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*usual, *headers]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
