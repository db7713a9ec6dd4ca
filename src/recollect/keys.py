"""Where the key of an encrypted store comes from, and where a new one is kept.

In this order: what was passed in (`key=`), the file that `key_file` (RECOLLECT_KEY_FILE) names, the keyring of the system,
and, at a terminal, the person in front of it. Every door asks here. A lost key is a lost store: there is no other way in.
"""

from __future__ import annotations

import os

from . import config
from .db import file
from .db.cipher import KEY_BYTES, Key, spare_header
from .errors import AlreadyExists, BadKeyFile, InvalidInput, Refused, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .config import Settings

__all__ = [
    "LOST", "NEXT", "Key", "for_file", "forget_keyring", "from_keyring", "header_of", "of", "read", "save_file",
    "save_keyring",
]  # fmt: skip

SERVICE = "recollect"
NEXT = " (next)"
"""A new key's place in the keyring while the file is on its way to it: killed in between, one of both fits."""
LOST = "A lost key is a lost store: nobody can open it then, we least of all. Keep a copy of the key apart from this machine."
LARGEST = 4_096

ask: Callable[[str], Key | None] | None = None
"""How a person is asked for the key of a file; set by the command line where there is one."""
_said: list[Key] = []
"""What was answered: one question is enough for a store and its backups."""


def of(where: str | None, settings: Settings, given: Key | None) -> Key | None:
    """The key to open or make a store with, where one was given or a key file is set."""
    if where is not None and config.is_postgres(where):
        if given is not None:
            raise InvalidInput(
                "key= is for a store in a file. What Postgres stores is encrypted by its disk or its server: "
                "docs/how-to/encryption.md."
            )
        return None
    if given is not None:
        return given.check()
    if where is None:
        return None  # in memory: nothing lies anywhere
    return read(settings.key_file) if settings.key_file else None


def for_file(path: str, settings: Settings, *, also: str | None = None) -> Key | None:
    """The key of a file that is there: None if it is plain, or none was found. `also` names the store that a backup is
    of, whose key it may have."""
    header = header_of(path)
    if header is None:
        return None
    first: Key | None = None
    for key in _candidates(path, settings, also):
        if key.unlock(header) is not None:
            return key
        first = first or key
    if ask is not None and first is None:
        first = ask(path)
        if first is not None and first.unlock(header) is not None:
            _said.append(first)
    return first  # the wrong one, if it is: whoever opens with it says so


def _candidates(path: str, settings: Settings, also: str | None) -> list[Key]:
    found = [read(settings.key_file)] if settings.key_file else []
    if not found:
        names = [n for name in dict.fromkeys((path, also)) if name for n in (name, name + NEXT)]
        found = [key for name in names if (key := from_keyring(name)) is not None]
    return [*found, *_said]


def header_of(path: str) -> bytes | None:
    """The first bytes of a file that is an encrypted store, also of one whose first bytes are lost; None of any other."""
    try:
        with open(path, "rb") as f:
            header = f.read(16)
    except OSError:
        return None
    if header.startswith(file.ENCRYPTED) and len(header) == 16:
        return header
    return None if header.startswith(file.MAGIC) else spare_header(path)


# -- a file


def read(path: str, source: str = "key_file") -> Key:
    """The key in a file: 64 hex digits, 32 bytes that are no text, or else a passphrase in one line."""
    path = config.absolute(path, source)
    try:
        status = os.stat(path)
        if os.name == "posix" and status.st_mode & 0o077:
            raise BadKeyFile(
                f"The key file {path} may be read by others (mode {status.st_mode & 0o777:04o}). Make it yours alone: "
                f"chmod 600 {path}"
            )
        if status.st_size > LARGEST:
            raise BadKeyFile(f"The key file {path} has {status.st_size:,} bytes; a key has fewer. Is it another file?")
        with open(path, "rb") as f:
            key = _parsed(f.read(LARGEST), path)
    except OSError as e:
        raise BadKeyFile(f"The key file {path} cannot be read ({e.strerror}). Check {source}.") from None
    if key is None:
        raise BadKeyFile(f"The key file {path} holds no key: 64 hex digits, {KEY_BYTES} bytes, or a passphrase.")
    return key


def _parsed(found: bytes, path: str) -> Key | None:
    if len(found) == KEY_BYTES and not (found.isascii() and found.decode("ascii").isprintable()):
        return Key(found, path)
    try:
        return Key(found.decode().strip("\r\n") or b"", path) if found.strip() else None
    except UnicodeDecodeError:
        return None


def save_file(key: Key, path: str) -> str:
    """Write a key where only its owner can read it; never over another."""
    path = os.path.abspath(os.path.expanduser(path))
    try:
        file.make_folder(os.path.dirname(path))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise AlreadyExists(f"{path} exists already, and may be the key of something. Choose another name.") from None
    except OSError as e:
        raise Refused(f"{path} cannot be made ({e.strerror}). Check that you own its folder.") from None
    try:
        os.write(fd, key.reveal().encode() + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    file.sync_folder(os.path.dirname(path))
    return path


# -- the keyring of the system


def from_keyring(path: str) -> Key | None:
    """The key that the system's keyring has for a file; None if there is none, or no keyring."""
    try:
        import keyring

        found = Key(keyring.get_password(SERVICE, os.path.realpath(path)) or b"", "the keyring")
    except Exception:  # whatever a backend of the system does: it has no key for us
        return None
    return found if found.length else None


def save_keyring(key: Key, path: str) -> None:
    """Let the system's keyring remember a file's key."""
    try:
        import keyring
    except ImportError:
        raise SettingsError(
            "The keyring needs the package `keyring`: pip install '.[keyring]' in Recollect's own folder"
        ) from None
    failed = ""
    try:
        keyring.set_password(SERVICE, os.path.realpath(path), key.reveal())
    except Exception as e:  # its frames have the key among their variables: it goes no further
        failed = type(e).__name__
    if failed or from_keyring(path) != key:
        raise SettingsError(
            f"The keyring of this system did not take the key ({failed or 'it gives another back'}). Use a key file."
        )


def forget_keyring(path: str) -> bool:
    """Take a file's key out of the keyring. False if there was none; one that stays there is an error."""
    try:
        import keyring
        from keyring.errors import NoKeyringError
    except ImportError:
        return False
    name = os.path.realpath(path)
    try:
        keyring.delete_password(SERVICE, name)
    except NoKeyringError:
        return False
    except Exception as e:  # each backend has errors of its own for a key that is not there: look, and do not guess
        failed = type(e).__name__
    else:
        return True
    try:
        is_there = keyring.get_password(SERVICE, name) is not None
    except Exception:  # locked, for one: nobody can say that it is gone
        is_there = True
    if is_there:
        raise SettingsError(f"The keyring of this system keeps the key ({failed}). Unlock it, and try again.")
    return False
