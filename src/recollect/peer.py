"""Who is on the other side: a local connection proved to lead to this user's own sidecar before anything is said on it.

Any account of this machine may bind a port, and take over the port of a sidecar that was killed. So an address proves
nothing, and a client of ours that sent its token to whoever answers would give it away. There are two proofs:

- A UNIX socket: the kernel knows which account listens at the other end, and which one connected. Our own programs come
  this way: `recollect serve` binds such a socket in its own folder, which no other account can enter. No token is needed.
- The challenge, over TCP: the client sends a random number, and the sidecar answers with one of its own and a keyed hash
  of both, which only a holder of the token can make; then the client does the same. The token itself never travels. The
  hash names the address that the connection leads to, so a program that passes the question on to the true sidecar, at
  another address, proves nothing. A proof is for one connection.

Light: hooks import this. The file that says where the sidecar is, `address`, is read here too.
"""

from __future__ import annotations

import os
import stat
import sys

from .errors import RecollectError, Refused
from .light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Generator
    from typing import Any, TypeAlias

    Handshake: TypeAlias = Generator[bytes, bytes, None]

FOLDER, ADDRESS = "sidecar", "address"
TEMPORARY = "recollect-sidecar-"  # how a folder begins that holds a socket whose path would be too long
PROOF = "/memory/proof"  # where the challenge is made
SCHEME = "Recollect"  # of its Authorization header
NONCE = 64  # hexadecimal digits
LONGEST_ANSWER = 8192
SECONDS = 5.0  # that a challenge may take
KNOWS_PEERS = sys.platform == "linux" or sys.platform == "darwin" or sys.platform.startswith("freebsd")
"""Whether the kernel says which account is at the other end of a UNIX socket."""


class Unproven(RecollectError):
    """What answers there did not prove to be this user's sidecar. Nothing was sent to it."""


# -- the kernel's word


def is_ours(line: _socket.socket) -> bool:
    """Whether the other end of a UNIX socket belongs to this account. False where the kernel does not say."""
    import _socket

    try:
        if sys.platform == "linux":
            found = line.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)  # pid, uid, gid
        elif KNOWS_PEERS:
            found = line.getsockopt(0, 1, 128)  # SOL_LOCAL, LOCAL_PEERCRED: version, uid, ...
        else:
            return False
    except OSError:
        return False
    return len(found) >= 8 and int.from_bytes(found[4:8], sys.byteorder) == os.geteuid()


def account(theirs: Any, ours: Any) -> int | None:
    """The account at the other end of a local TCP connection over IPv4, of which these are the ends: its number, or -1 when
    nobody holds that end any more. None where the kernel does not say, which is everywhere but on Linux."""
    if sys.platform != "linux":
        return None
    import _socket
    import struct

    try:  # NETLINK_SOCK_DIAG: SOCK_DIAG_BY_FAMILY for one connection, answered by an inet_diag_msg. 0.05 ms
        ends = struct.pack("!HH", theirs[1], ours[1])
        ends += b"".join(_socket.inet_aton(end[0]).ljust(16, b"\0") for end in (theirs, ours))
        asked = struct.pack("=BBBxI", _socket.AF_INET, _socket.IPPROTO_TCP, 0, 0xFFFFFFFF)
        asked += ends + struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
        line = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 4)
        try:
            line.settimeout(1)
            line.send(struct.pack("=IHHII", 16 + len(asked), 20, 1, 0, 0) + asked)
            said = line.recv(4096)
        finally:
            line.close()
        if struct.unpack_from("=H", said, 4)[0] != 20:
            return None
        uid, inode = struct.unpack_from("=II", said, 80)
    except (OSError, TypeError, struct.error):
        return None
    return int(uid) if inode else -1


# -- the challenge


def made(token: str, who: str, *parts: str) -> str:
    """The keyed hash that one side (`who`) proves with."""
    import hmac

    said = "\n".join(("recollect", who, *parts))
    return hmac.digest(token.encode(), said.encode(), "sha256").hex()


def end_of(name: Any) -> str:
    """One end of a connection, as both sides know it."""
    return f"{name[0]} {name[1]}" if isinstance(name, tuple) and name[1] is not None else "unix"


def is_nonce(text: str) -> bool:
    return len(text) == NONCE and all(c in "0123456789abcdef" for c in text)


def handshake(token: str, host: str, place: str) -> Handshake:
    """The client's side of the challenge: yields what is to be sent, and is sent what came back. Raises Unproven unless the
    other side, at `place`, has the token, and takes ours for proved."""
    import hmac

    def request(said: str) -> bytes:
        head = f"GET {PROOF} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {SCHEME} {said}\r\n\r\n"
        return head.encode("ascii")

    ours = os.urandom(NONCE // 2).hex()
    theirs, proof = _offered((yield request(f"challenge={ours}")))
    if not hmac.compare_digest(proof, made(token, "sidecar", ours, theirs, place)):
        raise Unproven("It did not prove to be your sidecar.")
    answer = yield request(f"proof={made(token, 'client', ours, theirs, place)}")
    if answer.split(b" ", 2)[1:2] != [b"204"]:
        raise Unproven("It did not take our proof.")


def offer(token: str, nonce: str, theirs: str, place: str) -> str:
    """The sidecar's answer to a challenge, as a header has it."""
    return f"{SCHEME} nonce={theirs}, proof={made(token, 'sidecar', nonce, theirs, place)}"


def _offered(answer: bytes) -> tuple[str, str]:
    for line in answer.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        words = value.replace(",", " ").split()
        if name.lower() == "www-authenticate" and words[:1] == [SCHEME]:
            given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            nonce, proof = given.get("nonce", ""), given.get("proof", "")
            if is_nonce(nonce) and is_nonce(proof):
                return nonce, proof
    raise Unproven("It did not answer the challenge.")


def is_whole(answer: bytes) -> bool:
    """Whether an answer to the challenge has come to its end: those of a sidecar have no body. Raises Unproven when it
    grows and grows."""
    if len(answer) > LONGEST_ANSWER:
        raise Unproven("It did not answer the challenge.")
    return b"\r\n\r\n" in answer


def prove(line: _socket.socket, token: str, host: str, seconds: float = SECONDS) -> None:
    """Have the other end of a connected socket prove that it has the token, and prove it in turn."""
    answered(line, handshake(token, host, end_of(line.getpeername())), seconds)


def answered(line: _socket.socket, challenge: Handshake, seconds: float = SECONDS) -> None:
    """Carry a handshake out on a connected socket."""
    import time

    until = time.monotonic() + seconds
    said = next(challenge)
    while True:
        line.settimeout(max(0.001, until - time.monotonic()))
        line.sendall(said)
        answer = b""
        while not is_whole(answer):
            line.settimeout(max(0.001, until - time.monotonic()))
            piece = line.recv(4096)
            if not piece:
                raise Unproven("It did not answer the challenge.")
            answer += piece
        try:
            said = challenge.send(answer)
        except StopIteration:
            return


# -- where the sidecar is


@dataclass(frozen=True)
class Address:
    """What a sidecar leaves in the data folder for clients of the same user."""

    url: str
    uds: str | None  # the UNIX socket that was asked for, if one was
    socket: str  # the UNIX socket for our own programs; empty where there can be none
    token_file: str
    user: str
    store: str


def read(folder: str) -> Address | None:
    """The newest sidecar of a data folder, or None. Whether it still answers is another question. Refused when another account
    could have written it."""
    own = os.path.join(folder, FOLDER)
    path = os.path.join(own, ADDRESS)
    try:
        _private(own, os.lstat(own), stat.S_ISDIR, 0o700)
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    except OSError as e:
        raise Refused(f"{path} cannot be read: {e.strerror}.") from None
    with open(fd, encoding="utf-8") as f:
        _private(path, os.fstat(fd), stat.S_ISREG, 0o600)
        url, uds, line, token_file, user, *rest = [*f.read().split("\n"), "", "", "", "", ""]
    if not url.startswith("http://") or not user:
        return None  # an older version's
    return Address(url, uds or None, line, token_file, user, "\n".join(rest).rstrip("\n"))


def forget(folder: str, address: Address) -> None:
    """An address that nobody answers at any more. That of another sidecar stays."""
    try:
        if read(folder) == address:
            os.unlink(os.path.join(folder, FOLDER, ADDRESS))
            drop(address.socket)
    except (OSError, Refused):
        pass


def drop(path: str) -> None:
    """A UNIX socket of ours that is not used any more, and the folder that was made for it alone."""
    try:
        if path and stat.S_ISSOCK(os.lstat(path).st_mode):
            os.unlink(path)
            if os.path.basename(os.path.dirname(path)).startswith(TEMPORARY):
                os.rmdir(os.path.dirname(path))
    except OSError:
        pass


def refuse_others(path: str, found: os.stat_result, *, folder: bool = False) -> None:
    """Raise unless it belongs to this account, and no other can read or write it."""
    _private(path, found, stat.S_ISDIR if folder else stat.S_ISREG, 0o700 if folder else 0o600)


def _private(path: str, found: os.stat_result, is_kind: Any, mode: int) -> None:
    if not is_kind(found.st_mode):
        raise Refused(f"{path} is not what it should be. Remove it; `recollect serve` makes another.")
    if not hasattr(os, "getuid"):
        return  # Windows: the profile's own access list keeps others out
    if found.st_uid != os.geteuid():
        raise Refused(f"{path} belongs to somebody else. Remove it; `recollect serve` makes another.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(
            f"{path} could be read by others: `chmod {mode:o} {path}`, and then start `recollect serve` once more."
        )
