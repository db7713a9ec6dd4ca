"""Values of a graph's state as bytes, and back: what is stored, under which key, and what was at hand already.

They are serialised by LangGraph's own serializer, `serde`, which may be replaced, by an encrypting one too; what is read back
constructs nothing that is not on its allow-list.
"""

from __future__ import annotations

import builtins
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..checkpoints import pieces
from ..errors import Damaged, InvalidInput, NotAllowed, NotSerializable, RecollectError
from ..redact import Gate
from ..store import Store
from . import copies, messages
from .allowed import is_data, listening
from .remembered import HELD, Remembered, Stored

if TYPE_CHECKING:
    from ..checkpoints.pieces import Have, Value

KEPT = 8_000
"""A message of at most so many bytes is remembered as it was read."""
PASSED = 50_000
WRITTEN = {"null", "bytes", "bytearray", "msgpack"}
"""What LangGraph's serializer writes. It still reads JSON, whose constructors have another list."""
SMALL = 48
"""A list whose elements are smaller on average is stored whole."""
_NOTHING: tuple[None, None] = (None, None)


class Foreign(bytes):
    """The secret of a conversation whose state came in an archive that this store did not sign."""


class Values(BaseCheckpointSaver[str]):
    """The part of a checkpointer that serialises."""

    serde: SerializerProtocol
    _given: SerializerProtocol | None = None
    """The serializer as it was given, once types of the program's own were let through. What came in an archive is read with
    this one: it constructs nothing but what is on the list."""
    _wider: SerializerProtocol | None = None
    _store: Store
    _strict: bool
    _channels: tuple[str, ...]
    _shared: Remembered

    @property
    def _inner(self) -> SerializerProtocol:
        """The serializer itself, below the encryption."""
        return self.serde.serde if encrypts(self.serde) else self.serde

    def _reading(self, secret: bytes) -> SerializerProtocol:
        """The serializer that reads the state of a conversation."""
        is_widened = self._given is not None and self.serde is self._wider
        return self._given if is_widened and isinstance(secret, Foreign) else self._inner  # type: ignore[return-value]

    def _opened(self, sealed: Stored) -> tuple[str, bytes]:
        """The secret of a conversation, from what is stored."""
        type, plain = self._unseal((pieces.plain_format(sealed[0]), sealed[1]))
        return type, Foreign(plain) if pieces.is_foreign(sealed[0]) else plain

    @property
    def _is_stock(self) -> bool:
        """Whether values are written and read by LangGraph's own serializer, as it is."""
        inner = self._inner
        return type(inner) is JsonPlusSerializer and not getattr(inner, "_custom_unpack_ext_hook", False)

    def _dump(self, value: Any, channel: str) -> Stored:
        try:
            type, data = self._inner.dumps_typed(value)
        except RecollectError:
            raise
        except Exception as e:
            raise NotSerializable(
                f"The channel {channel!r} holds something that cannot be stored ({first_line(e)}). "
                "Keep plain data in the state: messages, dicts, pydantic models, dataclasses."
            ) from e
        if type == "pickle":
            raise NotSerializable(
                f"The channel {channel!r} would be pickled, which is never done: keep plain data in it."
            )
        return type, bytes(data)

    def _seal(self, plain: Stored) -> Stored:
        if encrypts(self.serde):
            name, data = self.serde.cipher.encrypt(plain[1])
            return f"{plain[0]}+{name}", data
        return plain

    def _unseal(self, stored: Stored) -> Stored:
        type, data = stored
        if encrypts(self.serde) and "+" in type:
            type, name = type.split("+", 1)
            try:
                data = self.serde.cipher.decrypt(name, data)
            except Exception as e:
                raise Damaged(
                    f"A value of the state cannot be decrypted ({first_line(e)}): another key, or not what was written."
                ) from e
        return type, data

    def _pack(self, value: Any, channel: str, secret: bytes, gate: Gate | None) -> Value:
        if type(value) is list and len(value) > 0:
            keys, elements = self._elements(value, channel, secret, gate)
            if sum([len(data) for _, data in elements]) >= SMALL * len(elements):
                chunks = isinstance(self._inner, JsonPlusSerializer) and {type for type, _ in elements} == {"msgpack"}
                return pieces.many(secret, keys, elements, self._seal, chunks=chunks)
        if gate is not None:
            value = messages.clean(value, gate, self._store.settings.redact_state, channel, self._channels)
        plain = self._dump(value, channel)
        return pieces.one(secret, *plain, self._seal(plain))

    def _elements(
        self, values: Sequence[Any], channel: str, secret: bytes, gate: Gate | None
    ) -> tuple[builtins.list[bytes], builtins.list[Stored]]:
        keys, found = [], []
        passed, mode = self._shared.passed.setdefault(channel, {}), self._store.settings.redact_state
        digest, dump, is_twin, common = pieces.digest, self._dump, copies.is_twin, copies.COMMON
        stock, shared = self._is_stock, self._shared
        shared.make_room()
        said = shared.said.get(secret, {}) if stock else {}
        for value in values:
            # What was written or read a moment ago, and is what it was, is neither serialised nor hashed once more.
            known = said.get(value.id) if said and type(value) in common else None
            model: BaseMessage | None = None
            if known is not None and is_twin(value, known[2]):
                key, plain = known[0], ("msgpack", known[1])
            else:
                model = copies.as_read(value) if stock else None
                value = model or value
                plain = dump(value, channel)
                key = digest(secret, *plain)
            if gate is not None and key not in passed:
                safe = messages.clean(value, gate, mode, channel, self._channels)
                if safe is not value:
                    plain = dump(safe, channel)
                    key = digest(secret, *plain)
                    model = None
                if len(passed) >= PASSED:
                    passed.clear()
                passed[key] = None
            if model is not None and len(plain[1]) <= KEPT and plain[0] == "msgpack":
                shared.learn(secret, key, plain[1], model)
            keys.append(key)
            found.append(plain)
        return keys, found

    def _load(self, stored: Stored, secret: bytes, key: bytes | None = None) -> Any:
        """A value from what is stored; with a key, only if it is what was written under it."""
        plain = self._unseal(stored)
        if key is not None and pieces.digest(secret, *plain) != key:
            raise Damaged("A value of the state is not what was written. Run `recollect doctor`.")
        return self._loads(plain, secret)

    def _loads(self, plain: Stored, secret: bytes = b"") -> Any:
        return self._loads_whole(plain, secret)[0]

    def _loads_whole(self, plain: Stored, secret: bytes) -> tuple[Any, bool]:
        """A value, and whether all of it could be constructed: else it may be another the next time."""
        if plain[0] == "pickle":
            raise NotAllowed("A value of the state is a pickle, which is never loaded.")
        strict, inner = self._strict or isinstance(secret, Foreign), self._reading(secret)
        if isinstance(secret, Foreign) and isinstance(inner, JsonPlusSerializer) and plain[0] not in WRITTEN:
            raise NotAllowed(
                f"A value of the state that came in an archive is {plain[0]!r}, which is not written any more."
            )
        for _ in range(8):
            with listening() as refused:
                try:
                    value = inner.loads_typed(plain)
                except Exception as e:
                    raise Damaged(f"A value of the state cannot be read ({first_line(e)}).") from e
            if not refused or not self._allow(refused, strict):
                break
            inner = self._inner
        return value, not refused

    def _allow(self, refused: Sequence[tuple[str, str]], strict: bool) -> bool:
        """Types that are not on the serializer's list: let plain data of the program's own through, and nothing else. Says
        whether there is anything to load again."""
        wanted = []
        for module, name in refused:
            known = sys.modules.get(module)
            if not strict and known is not None and not hasattr(known, name):
                continue  # of a function's own: there is nothing to construct, and its data is what it comes back as
            if strict or not is_data(module, name):
                raise NotAllowed(
                    f"The state holds a {module}.{name}, which is not on the allow-list. If it is yours: "
                    f"Saver(..., serde=JsonPlusSerializer(allowed_msgpack_modules=[({module!r}, {name!r})]))."
                )
            wanted.append((module, name))
        inner = self._inner
        if not wanted or not isinstance(inner, JsonPlusSerializer):
            return False
        wider = inner.with_msgpack_allowlist(wanted)
        if self._given is None or self.serde is not self._wider:
            self._given = inner
        self._wider = self.serde = EncryptedSerializer(self.serde.cipher, wider) if encrypts(self.serde) else wider
        return wider is not inner

    def _value(self, value: bytes | Stored, have: Have, secret: bytes) -> Any:
        if isinstance(value, bytes):
            return self._assemble(have[value], have, secret, value)
        return self._load(value, secret)

    def _assemble(self, stored: Stored, have: Have, secret: bytes, key: bytes | None = None) -> Any:
        if stored[0] != pieces.LIST:
            return self._load(stored, secret, key)
        if key is not None:
            parts = pieces.flat(have, key)
        else:
            parts = [p for top in pieces.keys_in(stored[1]) for p in pieces.flat(have, top)]
        return self._list([have[part] for part in parts], secret, parts)

    def _list(self, stored: Sequence[Stored], secret: bytes, keys: Sequence[bytes]) -> Any:
        """The elements of a list. What LangGraph's own serializer wrote one by one is read at once, as the array that it
        would have been."""
        if encrypts(self.serde):
            stored = [self._unseal(one) for one in stored]
        self._shared.make_room()
        digest = pieces.digest
        count, parts, kinds = 0, [], {type for type, _ in stored}
        sound, chunks, stock = self._shared.sound, self._shared.chunks, self._is_stock
        made: builtins.list[Any] = []
        """A copy of a message, or how many elements are to be read in its place, and what they are kept under."""
        for key, (type, data) in zip(keys, stored, strict=True):
            if type == pieces.CHUNK:
                known, moulds = chunks.get(key, _NOTHING)
                if moulds is not None and known == data and stock:
                    made += copies.cast(moulds)
                    continue
                whole = data
                n, data = pieces.unchunked(key, data)
                made.append((n, key, data, whole))
            else:
                known, model = sound.get(key, _NOTHING)
                if known != data:
                    if digest(secret, type, data) != key:
                        raise Damaged("A value of the state is not what was written. Run `recollect doctor`.")
                    sound[key] = (data, None)
                elif model is not None and stock and type == "msgpack":
                    made.append(copies.twin(model))
                    continue
                n = 1
                made.append((1, key, data, None))
            count += n
            parts.append(data)
        if kinds <= {"msgpack", pieces.CHUNK} and isinstance(self._inner, JsonPlusSerializer):
            if not count:
                return made
            found, is_whole = self._loads_whole(("msgpack", b"\xdd" + count.to_bytes(4) + b"".join(parts)), secret)
            if not isinstance(found, builtins.list) or len(found) != count:
                raise Damaged("A list of the state is not what was written. Run `recollect doctor`.")
            return self._merged(made, found, secret, stock and is_whole)
        if pieces.CHUNK in kinds:
            raise Damaged("The state was written by another serializer: open it with the one it was written with.")
        return [self._loads(plain, secret) for plain in stored]

    def _merged(
        self, made: Sequence[Any], found: builtins.list[Any], secret: bytes, may_keep: bool
    ) -> builtins.list[Any]:
        """Copies and what was read, in their order. Messages that were read are kept, to be copied the next time; those of a
        chunk when they are read again, since most threads are read once."""
        merged: builtins.list[Any] = []
        start = 0
        shared = self._shared
        is_room = len(found) + sum([len(one[2]) for one in made if type(one) is tuple]) // 1_000 <= HELD
        for one in made:
            if type(one) is not tuple:
                merged.append(one)
                continue
            n, key, data, chunk = one
            some = found[start : start + n]
            if not may_keep:
                pass
            elif chunk is not None:
                if is_room and len(data) <= KEPT * n and shared.is_seen_again(key):
                    moulds = copies.moulds(some)
                    if moulds is not None:
                        shared.hold(key, chunk, moulds)
            elif len(data) <= KEPT and copies.is_plain(some[0]):
                shared.learn(secret, key, data, copies.twin(some[0]))
            merged += some
            start += n
        return merged

    def _refuse_secrets(self, gate: Gate | None, names: Iterable[str]) -> None:
        """A graph is resumed by the names of its nodes, channels and tasks, so they cannot be replaced: with "all" none may hold
        a secret."""
        if gate is None or self._store.settings.redact_state != "all":
            return
        for name in dict.fromkeys(names):
            if isinstance(name, str) and (family := gate.names_a_secret(name)) is not None:
                raise InvalidInput(
                    f"The name of a node, channel or task holds a secret ({family}), and redact_state is 'all': "
                    "names cannot be replaced, so take the secret out of it."
                )

    def _state_gate(self) -> Gate | None:
        settings = self._store.settings
        return self._store._gate.another() if settings.redact and settings.redact_state != "none" else None


_kinds: dict[type, bool] = {}


def encrypts(serde: SerializerProtocol) -> TypeGuard[EncryptedSerializer]:
    """`isinstance`, remembered: of a protocol's subclass it takes 4 us, and a state has thousands of elements."""
    kind = type(serde)
    if kind not in _kinds:
        _kinds[kind] = issubclass(kind, EncryptedSerializer)
    return _kinds[kind]


def encoded(stored: Stored) -> Sequence[str]:
    return [stored[0], b64encode(stored[1]).decode()]


def decoded(stored: Sequence[str]) -> Stored:
    return stored[0], b64decode(stored[1])


def listed(value: Any) -> Any:
    """Tuples as the lists that JSON makes of them; anything else that JSON would change is an error."""
    if isinstance(value, (list, tuple)):
        return [listed(v) for v in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("JSON keys are texts")
        return {key: listed(v) for key, v in value.items()}
    if value is not None and type(value) not in (str, int, float, bool):
        raise TypeError(type(value).__name__)
    if type(value) is float and not isfinite(value):
        raise ValueError("JSON has no such number")
    return value


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
