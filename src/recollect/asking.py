"""What a hook asks a running sidecar: over a line of its own, by hand. The standard library's client takes as long to import
as all of a hook, and whoever does not answer at once is not waited for."""

from __future__ import annotations

from . import light

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import peer

MOST_ANSWER = 4 << 20
SIDECAR_SECONDS = 0.1  # for a sidecar that does not answer at once: then the file is asked


def _connected(address: peer.Address, until: float) -> tuple[Any, str]:
    """A connection to a sidecar that has proved to be this user's own, and the Host that it answers to."""
    import _socket
    import time

    from . import peer

    host = address.url.partition("://")[2]
    name, _, port = host.rpartition(":")
    family = _socket.AF_UNIX if address.socket else _socket.AF_INET6 if "[" in name else _socket.AF_INET
    line = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        line.settimeout(SIDECAR_SECONDS)
        if address.socket:
            line.connect(address.socket)
            if not peer.is_ours(line):
                raise peer.Unproven("Another account listens there.")
            return line, "localhost"
        from .server import place

        token = place.read_token(address.token_file)
        line.connect((name.strip("[]"), int(port)))
        peer.prove(line, token, host, until - time.monotonic())
        line.settimeout(SIDECAR_SECONDS)
        return line, host
    except BaseException:
        line.close()
        raise


def exchanged(address: peer.Address, asked: str) -> Any:
    """What is answered to the rest of a request, as JSON; an error unless it is answered well, and at once. Nothing is said
    to, nor taken from, whoever has not proved to be ours."""
    import time

    until = time.monotonic() + 3 * SIDECAR_SECONDS
    line, host = _connected(address, until)
    try:
        left = asked.replace("\r\n", f"\r\nHost: {host}\r\nConnection: close\r\n", 1).encode("ascii")
        while left:
            left = left[line.send(left) :]
        data = b""
        while part := line.recv(1 << 16):
            data += part
            if len(data) > MOST_ANSWER or time.monotonic() > until:  # whoever this is, it is no sidecar in a hurry
                raise ValueError("it does not come to an end")
    finally:
        line.close()
    head, _, body = data.partition(b"\r\n\r\n")
    if head.split()[1:2] != [b"200"]:
        raise ValueError("it is not answered well")
    return light.loads(body.decode())
