"""Where a sidecar is found: a folder of its own (0700) with its token (0600) and its address.

The token is 256 random bits, made once and kept, so that clients survive a restart. It stands in a file that only its
owner can read, and nowhere else: not in an address, an argument, a log. A file that others could read is refused rather
than used. Light: hooks and clients read it in a millisecond.
"""

from __future__ import annotations

import os
import stat

from .. import config
from ..config import Settings
from ..errors import NotFound, Refused

FOLDER, TOKEN, ADDRESS = "sidecar", "token", "address"
TOKEN_BYTES = 32


def folder(settings: Settings) -> str:
    """The sidecar's own folder, whether or not it is there."""
    return os.path.join(config.data_dir(settings), FOLDER)


def token_file(settings: Settings) -> str:
    return os.path.join(folder(settings), TOKEN)


def make_folder(settings: Settings) -> str:
    from ..db import file

    path = folder(settings)
    file.make_folder(path)
    _private(path, os.lstat(path), stat.S_ISDIR, 0o700)
    return path


def make_token(settings: Settings, *, renew: bool = False) -> str:
    """The token, made now if there is none. `renew` makes another, and the old one is worth nothing any more."""
    import secrets

    make_folder(settings)
    path = token_file(settings)
    if renew:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        return read_token(settings)
    with os.fdopen(file, "w") as f:
        f.write(secrets.token_urlsafe(TOKEN_BYTES))
        f.flush()
        os.fsync(f.fileno())
    return read_token(settings)


def read_token(settings: Settings) -> str:
    """The token of this user's sidecar; refused when anybody else could have read or written it."""
    path = token_file(settings)
    try:
        _private(folder(settings), os.lstat(folder(settings)), stat.S_ISDIR, 0o700)
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        raise NotFound(f"There is no token at {path}: start the sidecar with `recollect serve`.") from None
    except OSError as e:
        raise Refused(f"{path} cannot be read: {e.strerror}. Remove it; `recollect serve` makes another.") from None
    with os.fdopen(file) as f:
        _private(path, os.fstat(f.fileno()), stat.S_ISREG, 0o600)
        token = f.read().strip()
    if len(token) < TOKEN_BYTES:
        raise Refused(f"{path} holds no token of ours. Remove it; `recollect serve` makes another.")
    return token


def _private(path: str, found: os.stat_result, is_kind: object, mode: int) -> None:
    if not is_kind(found.st_mode):  # type: ignore[operator]
        raise Refused(f"{path} is not what it should be. Remove it; `recollect serve` makes another.")
    if not hasattr(os, "getuid"):
        return  # Windows: the profile's own access list keeps others out
    if found.st_uid != os.getuid():
        raise Refused(f"{path} belongs to somebody else. Remove it; `recollect serve` makes another.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Refused(
            f"{path} could be read by others: `chmod {mode:o} {path}`, and then `recollect serve --new-token`."
        )


def write_address(settings: Settings, url: str, uds: str | None, store: str = "") -> None:
    """Leave word where the sidecar listens, and which store it serves, for clients of the same user."""
    path = os.path.join(folder(settings), ADDRESS)
    draft = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        f.write(f"{url}\n{uds or ''}\n{store}\n")
    os.replace(draft, path)


def read_address(settings: Settings) -> tuple[str, str | None]:
    """(url, path of the UNIX socket) of the newest sidecar; whether it still answers is another question."""
    path = os.path.join(folder(settings), ADDRESS)
    try:
        with open(path) as f:
            url, uds, *_ = [*f.read().split("\n"), "", ""]
    except FileNotFoundError:
        raise NotFound(f"No sidecar has left its address at {path}: start one with `recollect serve`.") from None
    return url, uds or None


def forget_address(settings: Settings, url: str, uds: str | None) -> None:
    """On the way out; not when another sidecar has left its own by now."""
    try:
        if read_address(settings) == (url, uds):
            os.unlink(os.path.join(folder(settings), ADDRESS))
    except (NotFound, OSError):
        pass
