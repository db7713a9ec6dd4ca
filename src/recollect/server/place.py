"""Where a sidecar is found: a folder of its own (0700) with its address and, for programs of others, its token (0600).

Our own programs come by a UNIX socket, where the kernel says whose program is at the other end (`peer`). curl and other
languages send the token: 256 random bits in a file that only its owner can read, and nowhere else; not in an address, an
argument, a log. It is made at every start, so that a token which went to a stranger - who took the port of a sidecar that was
killed - opens nothing once the sidecar is back. Light: clients read it in a millisecond.
"""

from __future__ import annotations

import os

from .. import config, peer
from ..config import Settings
from ..errors import NotFound, Refused
from ..peer import Address

TOKEN = "token"
TOKEN_BYTES = 32
PORT = 7433


def folder(settings: Settings) -> str:
    """The sidecar's own folder, whether or not it is there."""
    return os.path.join(config.data_dir(settings), peer.FOLDER)


def token_file(settings: Settings, url: str = "", uds: str | None = None) -> str:
    """Each address has a token of its own; the usual one has the plain name."""
    name = TOKEN
    port = url.rpartition(":")[2].rstrip("/")
    if uds is not None:
        import hashlib

        name = f"{TOKEN}-{hashlib.sha256(os.fsencode(os.path.abspath(uds))).hexdigest()[:8]}"
    elif port.isdigit() and int(port) != PORT:
        name = f"{TOKEN}-{port}"
    return os.path.join(folder(settings), name)


def make_folder(settings: Settings) -> str:
    from ..db import file

    path = folder(settings)
    file.make_folder(path)
    peer.refuse_others(path, os.lstat(path), folder=True)
    return path


def make_token(settings: Settings, path: str, *, keep: bool = False) -> str:
    """A new token, in the place of the last one. With `keep` the last one, if there is one."""
    import secrets

    make_folder(settings)
    if keep:
        try:
            return read_token(path)
        except NotFound:
            pass
    draft = f"{path}.{os.getpid()}"
    if os.path.lexists(draft):
        os.unlink(draft)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
        f.write(secrets.token_urlsafe(TOKEN_BYTES))
        f.flush()
        os.fsync(f.fileno())
    os.replace(draft, path)
    return read_token(path)


def read_token(path: str) -> str:
    """The token of this user's sidecar; refused when anybody else could have read or written it."""
    above = os.path.dirname(path)
    try:
        peer.refuse_others(above, os.lstat(above), folder=True)
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        raise NotFound(f"There is no token at {path}: start the sidecar with `recollect serve`.") from None
    except OSError as e:
        raise Refused(f"{path} cannot be read: {e.strerror}. Remove it; `recollect serve` makes another.") from None
    with os.fdopen(file) as f:
        peer.refuse_others(path, os.fstat(f.fileno()))
        token = f.read().strip()
    if len(token) < TOKEN_BYTES:
        raise Refused(f"{path} holds no token of ours. Remove it; `recollect serve` makes another.")
    return token


def forget_token(path: str, token: str) -> None:
    """On the way out: it opens nothing any more."""
    try:
        if read_token(path) == token:
            os.unlink(path)
    except (NotFound, Refused, OSError):
        pass


def write_address(settings: Settings, address: Address) -> None:
    """Leave word where the sidecar listens, and which store it serves, for clients of the same user."""
    path = os.path.join(make_folder(settings), peer.ADDRESS)
    draft = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as f:
        f.write("\n".join((
            address.url, address.uds or "", address.socket, address.token_file, address.user, address.store, ""
        )))  # fmt: skip
    os.replace(draft, path)


def read_address(settings: Settings) -> Address:
    """Where the newest sidecar of this user is; whether it still answers is another question."""
    found = peer.read(config.data_dir(settings))
    if found is None:
        raise NotFound(f"No sidecar has left its address in {folder(settings)}: start one with `recollect serve`.")
    return found


def forget_address(settings: Settings, address: Address) -> None:
    """On the way out; not when another sidecar has left its own by now."""
    peer.forget(config.data_dir(settings), address)
