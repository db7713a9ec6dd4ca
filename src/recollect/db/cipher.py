"""Encryption of a store's file: keys, and the sixteen bytes by which an encrypted file is known.

SQLite3 Multiple Ciphers encrypts every page with ChaCha20 and signs it with Poly1305, in the file, the write-ahead log
and the journal. It leaves the first sixteen bytes of a file for a salt. They are ours to choose, because the key is
handed over raw, and they say what to do without a key in hand:

    RCE, then the form of the key (1 raw, 2 a passphrase)   4 bytes
    salt, from which a passphrase becomes a key             8 bytes
    keyed hash of the twelve bytes before                   4 bytes

So a missing key, a wrong key, a damaged file and a foreign one are told apart before SQLite is asked. The hash helps
nobody to guess: the signature of the first page tells the same.

A key never stands in a message, a log, a repr, a pickle or the local variables of a traceback: `Key` and `Cipher` show
nothing, and no function here that can fail has key material in a variable of its own.
"""

from __future__ import annotations

import os

import apsw

from ..errors import Damaged, InvalidInput, MissingKey, NotEncrypted, StorageError, WrongKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

MAGIC = b"RCE"
RAW, PASSPHRASE = 1, 2
LENGTH = 16
KEY_BYTES = 32
# scrypt, as OWASP asks for it: 32 MB and 0.25 s on the machine it was chosen on. A key file with a raw key needs none.
COST = {"n": 1 << 15, "r": 8, "p": 3}
MOST_DERIVED = 16

_derived: dict[tuple[bytes, bytes], bytes] = {}
"""What was derived in this process: a passphrase costs its quarter of a second once, not for every connection."""


class Key:
    """A raw key of 32 bytes (also as 64 hex digits) or a passphrase. It shows itself to nobody.

    To make one never fails, so that what was passed in is out of the caller's variables before anything can go wrong;
    `check` says what is wrong with it."""

    __slots__ = ("_raw", "_said", "_wrong", "source")

    def __init__(self, secret: object, source: str = "key=") -> None:
        self.source = source
        """Where it came from, for messages."""
        self._raw: bytes | None = None
        self._said: bytes | None = None
        self._wrong = ""
        if isinstance(secret, Key):
            self._raw, self._said, self._wrong, self.source = secret._raw, secret._said, secret._wrong, secret.source
        elif isinstance(secret, (bytes, bytearray)):
            if len(secret) == KEY_BYTES:
                self._raw = bytes(secret)
            else:
                self._wrong = f"a raw key has {KEY_BYTES} bytes, this one {len(secret)}"
        elif isinstance(secret, str):
            self._take(secret)
        else:
            self._wrong = f"a key is text or {KEY_BYTES} bytes, not {type(secret).__name__}"

    def _take(self, text: str) -> None:
        if len(text) == 2 * KEY_BYTES and not text.strip("0123456789abcdefABCDEF"):
            self._raw = bytes.fromhex(text)
        elif not text.strip():
            self._wrong = "it is empty"
        else:
            import unicodedata

            # The same letter is typed as one sign here and as two there.
            self._said = unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")

    @classmethod
    def new(cls, source: str = "a new key") -> Key:
        """A random raw key."""
        return cls(os.urandom(KEY_BYTES), source)

    def check(self) -> Key:
        if self._wrong:
            raise InvalidInput(
                f"The key ({self.source}) cannot be used: {self._wrong}. Give a passphrase, or a raw key: 64 hex digits or "
                f"{KEY_BYTES} bytes (`recollect key new` makes one)."
            )
        return self

    @property
    def is_raw(self) -> bool:
        return self._raw is not None

    @property
    def length(self) -> int:
        """How many bytes a passphrase has; of a raw key, its own."""
        return len(self._raw or self._said or b"")

    def reveal(self) -> str:
        """The key as text, to be saved: 64 hex digits, or the passphrase. The one way out of here."""
        return self._raw.hex() if self._raw is not None else (self._said or b"").decode("utf-8", "surrogatepass")

    def unlock(self, header: bytes) -> Cipher | None:
        """What opens the file that begins with `header`; None when this is not its key."""
        self.check()
        if header[3] not in (RAW, PASSPHRASE) or (header[3] == RAW) != self.is_raw:
            return None
        found = Cipher(self._file_key(header[4:12]), header)
        return found if found.fits() else None

    def raw_for(self, header: bytes) -> Cipher:
        """The same without looking whether it fits: to save what is readable of a file that is damaged there."""
        self.check()
        return Cipher(self._file_key(header[4:12]), header)

    def seal(self) -> Cipher:
        """What a new file is made with."""
        self.check()
        begin = MAGIC + bytes([RAW if self.is_raw else PASSPHRASE]) + os.urandom(8)
        return Cipher(self._file_key(begin[4:12]), begin).sealed()

    def _file_key(self, salt: bytes) -> bytes:
        return self._raw if self._raw is not None else self._derive(salt)

    def _derive(self, salt: bytes) -> bytes:
        import hashlib

        known = (hashlib.blake2b(self._said or b"", digest_size=32).digest(), salt)
        if known not in _derived:
            if len(_derived) >= MOST_DERIVED:
                _derived.clear()
            _derived[known] = hashlib.scrypt(
                self._said or b"", salt=b"recollect:" + salt, maxmem=1 << 27, dklen=KEY_BYTES, **COST
            )
        return _derived[known]

    def __eq__(self, other: object) -> bool:
        import hmac

        return isinstance(other, Key) and hmac.compare_digest(
            (self._raw or b"") + b"\0" + (self._said or b""), (other._raw or b"") + b"\0" + (other._said or b"")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "<Key, not shown>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("A key is not pickled: pass it on another way, for example as a key file.")


class Cipher:
    """What the connections of one file are opened with. It shows itself to nobody either."""

    __slots__ = ("_raw", "header")

    def __init__(self, raw: bytes, header: bytes) -> None:
        self._raw = raw
        self.header = header

    def _hash(self) -> bytes:
        from _blake2 import blake2b  # hashlib costs a millisecond more, and every hook would pay it

        return blake2b(self.header[:12], key=self._raw, digest_size=4, person=b"recollect key").digest()

    def fits(self) -> bool:
        return self._hash() == self.header[12:16]

    def sealed(self) -> Cipher:
        return Cipher(self._raw, self.header[:12] + self._hash())

    def apply(self, connection: apsw.Connection) -> None:
        """Give a connection its key, before anything else is asked of it."""
        traced, connection.exec_trace = connection.exec_trace, None
        done = False
        try:
            connection.pragma("cipher", "chacha20")
            connection.pragma("key", "raw:" + self._raw.hex() + self.header.hex())
            connection.pragma("temp_store", 2)  # in memory: SQLite does not encrypt its temporary files
            done = hasattr(apsw, "mc_version")
        except apsw.Error:
            pass  # the driver's own error carries the statement, and with it the key, in the variables of its traceback
        finally:
            connection.exec_trace = traced
        if not done:
            raise StorageError("This SQLite cannot encrypt. Install the one that can: pip install -U apsw-sqlite3mc")

    def rekey(self, connection: apsw.Connection) -> bool:
        """Turn a plain file, in no use by anyone, into one of this key. False when SQLite did not do it."""
        try:
            connection.pragma("cipher", "chacha20")
            connection.pragma("rekey", "raw:" + self._raw.hex() + self.header.hex())
            return True
        except apsw.Error:
            return False

    def page(self, number: int, page: bytes) -> bytes:
        """A page as it was before it was encrypted, whether or not its signature fits: for salvage, where SQLite would
        not even open the file."""
        from . import chacha

        return chacha.page(self._raw, number, page)

    def __repr__(self) -> str:
        return "<Cipher, not shown>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("A key is not pickled.")


def hide(given: dict[str, Any]) -> None:
    """Put a `key` among keywords out of sight, before anything is done with them."""
    if given.get("key") is not None:
        given["key"] = Key(given["key"])


def spare_header(path: str) -> bytes | None:
    """The copy of an encrypted store's first bytes that its lock file keeps."""
    try:
        with open(path + ".lock", "rb") as f:
            noted = f.read(LENGTH + 1)
    except OSError:
        return None
    return noted if len(noted) == LENGTH and noted.startswith(MAGIC) else None


def unlocked(path: str, header: bytes | None, key: Key | None) -> Cipher | None:
    """What opens a file, by the first bytes of it (None: it is not encrypted) and the key at hand."""
    if header is None:
        if key is None:
            return None
        raise NotEncrypted(
            f"{path} is not encrypted, and a key was given ({key.source}). It was left untouched. `recollect encrypt` "
            "encrypts it; or leave the key out."
        )
    if key is None:
        raise MissingKey(
            f"{path} is encrypted and no key was given. It was left untouched. Pass its key, or name a key file in "
            "RECOLLECT_KEY_FILE; `recollect key status` says where a key was looked for."
        )
    cipher = key.unlock(header)
    if cipher is None:
        spare = spare_header(path)
        if spare is not None and spare != header and key.unlock(spare) is not None:
            raise Damaged(
                f"The key is the one that {path} had, but its first bytes are not what was written: it is damaged, or another "
                f"file was put in its place. `recollect doctor {path}` says how to save what is readable."
            )
        form = "a passphrase" if header[3] == PASSPHRASE else "a raw key"
        raise WrongKey(
            f"The key ({key.source}) is not the one that {path} was encrypted with, which was {form}. It was left "
            "untouched. Without its key nobody can read it."
        )
    return cipher
