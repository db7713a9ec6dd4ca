"""What an operator may know: that something happened, when, how long it took and how much of it. Never what was said.

Events are lines of JSON in the folder `telemetry` of the data folder; a store in memory has none. Nothing is sent anywhere.
An event has a fixed set of fields, and each is a number, a word of ours, or an id: there is none that could hold a title or
a text. Ids are written as pseudonyms, hashes under a key that is made once and kept, readable by its owner only, in the
same folder. It is there and not in the store, because a line must be written without asking the database even when that is
what fails, and because deleting that one file makes every line that is left anonymous for good.

Unless the settings say otherwise there is telemetry of the one store that they name, which hooks, commands, sidecar and
application share. A program that opens a file of its own gets that file and nothing else.

Several processes write to one file. Each line is written under a lock, which also covers rotation and erasure; whoever
does not get it at once drops the line and counts it, because nobody should wait for telemetry. A failure to write is no
failure of what was done.

With the setting `opentelemetry`, spans go to the tracer provider that the program has configured, and only there.
"""

from __future__ import annotations

import os
import time

from . import config, ids
from .db.gate import Gate
from .errors import Refused, StoreBusy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    from .config import Settings

    T = TypeVar("T")

FILE = "events.jsonl"
KEY = "key"
LOCK = "lock"
KEY_BYTES = 32
PATIENCE = 0.05  # seconds for the lock; a line takes 30 us
ERASE_PATIENCE = 30.0

IDS = {
    "user_id": "u",
    "thread_id": "t",
    "from_checkpoint_id": "c",
    "new_checkpoint_id": "c",
}
"""Fields that are ids, with what their pseudonyms begin with."""
NUMBERS = frozenset(
    "count top_k latency_ms tokens items at_event conversations memories events dropped attempts".split()
)
WORDS = frozenset("error verb job backend source".split())
"""Fields whose value is a name of ours or of a class: letters, digits, `_` and `.`."""
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class Telemetry:
    """Where one store's events go. Shared by the handles of all its users; safe between threads, processes and forks: it
    holds nothing open."""

    def __init__(
        self,
        folder: str | None,
        *,
        on: bool = True,
        plain: bool = False,
        max_bytes: int = 1_000_000,
        keep: int = 5,
        traces: bool = False,
    ) -> None:
        self.folder = folder
        self.on = on and folder is not None
        self.traces = traces
        self._plain = plain
        self._max_bytes = max_bytes
        self._keep = keep
        self._key: bytes | None = None
        self._dropped = 0
        self._tracer: Any = None

    # -- events

    def emit(self, event: str, user: str, /, **fields: Any) -> None:
        """Write a line. Returns at once when telemetry is off, and never fails: a full disk or a folder that may not be
        written to must not undo what was done."""
        if not self.on or self.folder is None:
            return
        try:
            try:
                self._append(event, user, fields)
            except FileNotFoundError:  # the first event, or someone removed the folder
                self._key = None
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
                self._append(event, user, fields)
        except (OSError, StoreBusy):
            self._dropped += 1

    def _append(self, event: str, user: str, fields: Mapping[str, Any]) -> None:
        gate = self._gate()
        try:
            with gate.within(PATIENCE):
                line = self._line(event, user, fields)
                self._rotate(len(line))
                file = os.open(self._path(0), os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
                try:
                    size = os.fstat(file).st_size
                    if size and _last_byte(file, size) != b"\n":
                        line = b"\n" + line  # a process died in the middle of its line
                    if os.write(file, line) != len(line):
                        os.ftruncate(file, size)
                        raise OSError("the disk is full")
                finally:
                    os.close(file)
        finally:
            gate.close()
        self._dropped = 0

    def _gate(self) -> Gate:
        # Opened anew each time: a lock that is kept open is shared with whoever is forked.
        return Gate(os.path.join(self.folder or "", LOCK))

    def _path(self, n: int) -> str:
        return os.path.join(self.folder or "", FILE if n == 0 else f"events.{n}.jsonl")

    def _line(self, event: str, user: str, fields: Mapping[str, Any]) -> bytes:
        parts = [f'"at":{ids.now()}', f'"event":"{_word(event)}"', f'"user_id":{self._shown("user_id", user, user)}']
        for name, value in fields.items():
            if value is None:
                continue
            if name in IDS:
                parts.append(f'"{name}":{self._shown(name, user, value)}')
            elif name in NUMBERS:
                parts.append(f'"{name}":{_number(value)}')
            elif name in WORDS:
                parts.append(f'"{name}":"{_word(value)}"')
            else:
                raise ValueError(f"an event has no field {name!r}")  # a mistake of ours, met by the tests
        parts.append(f'"pid":{os.getpid()}')
        if self._dropped:
            parts.append(f'"dropped":{self._dropped}')
        return ("{" + ",".join(parts) + "}\n").encode()

    def _shown(self, field: str, user: str, value: str) -> str:
        if self._plain:
            import json

            return json.dumps(value)
        return f'"{self.pseudonym(field, user, value)}"'

    def pseudonym(self, field: str, user: str, value: str) -> str:
        """What stands for an id. Ids are a user's own, so two users' thread "1" are two pseudonyms."""
        from _blake2 import blake2b  # hashlib costs a millisecond more, and every hook would pay it

        what = IDS[field]
        text = "\0".join((what, user) if field == "user_id" else (what, user, value))
        return f"{what}_{blake2b(text.encode(), key=self._secret(), digest_size=10).hexdigest()}"

    def _secret(self) -> bytes:
        """The key, made when it is first needed. Called under the lock."""
        if self._key is None:
            path = os.path.join(self.folder or "", KEY)
            try:
                with open(path, "rb") as f:
                    key = f.read()
            except FileNotFoundError:
                key = b""
            if len(key) != KEY_BYTES:
                key = os.urandom(KEY_BYTES)
                _replace(path, key)
            self._key = key
        return self._key

    def _rotate(self, more: int) -> None:
        try:
            if os.stat(self._path(0)).st_size + more <= self._max_bytes:
                return
        except FileNotFoundError:
            return
        for n in range(self._keep - 1, 0, -1):
            if os.path.exists(self._path(n - 1)):
                os.replace(self._path(n - 1), self._path(n))
        if self._keep == 1:
            os.unlink(self._path(0))
        for n in self._numbers():
            if n >= self._keep:  # fewer are kept than were
                os.unlink(self._path(n))

    def _numbers(self) -> list[int]:
        names = (name.split(".") for name in os.listdir(self.folder))
        return sorted(
            int(p[1]) if len(p) == 3 else 0
            for p in names
            if p[0] == "events" and p[-1] == "jsonl" and (len(p) == 2 or (len(p) == 3 and p[1].isdigit()))
        )

    def read(self) -> Iterator[dict[str, Any]]:
        """Every event in the files, oldest first. Half a line of a process that died is left out."""
        import json

        if self.folder is None or not os.path.isdir(self.folder):
            return
        for n in reversed(self._numbers()):
            try:
                with open(self._path(n), "rb") as f:
                    lines = f.read().splitlines()
            except FileNotFoundError:
                continue  # rotated away meanwhile
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue

    def known_as(self, user: str, conversation: str) -> str:
        """What stands for a conversation in the files, for an operator who looks for one."""
        return self._id("thread_id", user, conversation)

    # -- erasure

    def erase(self, user: str, conversations: Iterable[str] | None = None) -> int:
        """Remove every line about these conversations of a user; with None, every line about the user. Works when
        telemetry is switched off too: there may be lines from before. Returns how many went; StoreBusy or OSError if it
        could not be done."""
        if self.folder is None or not os.path.isdir(self.folder):
            return 0
        import json

        gate = self._gate()
        try:
            with gate.within(ERASE_PATIENCE):
                self._key = None
                who = {user, self.pseudonym("user_id", user, user)}
                names = None if conversations is None else set(conversations)
                if names is not None:
                    names |= {self.pseudonym("thread_id", user, name) for name in names}

                def goes(line: bytes) -> bool:
                    try:
                        found = json.loads(line)
                        mine = found.get("user_id") in who
                        return bool(mine and (names is None or found.get("thread_id") in names))
                    except (ValueError, AttributeError):
                        return True  # half a line: nobody can say whom it is about

                return sum(self._erase_in(self._path(n), goes) for n in self._numbers())
        finally:
            gate.close()

    def _erase_in(self, path: str, goes: Any) -> int:
        with open(path, "rb") as f:
            lines = f.read().splitlines(keepends=True)
        gone = [goes(line) for line in lines]
        if not any(gone):
            return 0
        # Overwritten where they stand first: a file that is only replaced leaves its bytes on the disk.
        with open(path, "r+b") as f:
            at = 0
            for line, is_gone in zip(lines, gone, strict=True):
                if is_gone:
                    f.seek(at)
                    f.write(b" " * (len(line) - 1) + b"\n")
                at += len(line)
            f.flush()
            os.fsync(f.fileno())
        _replace(path, b"".join(line for line, is_gone in zip(lines, gone, strict=True) if not is_gone))
        return sum(gone)

    # -- spans

    def span(self, name: str, user: str | None = None, /, *, thread_id: str | None = None, **attributes: Any) -> Span:
        """A span of OpenTelemetry for `with`; what is raised inside is noted by its type alone. Costs nothing when off."""
        if not self.traces:
            return NO_SPAN
        if self._tracer is None:
            from opentelemetry import trace

            self._tracer = trace.get_tracer("recollect")
        made = _Open(self._tracer, name)
        if user is not None:
            made.attributes["user.id"] = self._id("user_id", user, user)
            if thread_id is not None:
                made.attributes["gen_ai.conversation.id"] = self._id("thread_id", user, thread_id)
        made.set(**attributes)
        return made

    def _id(self, field: str, user: str, value: str) -> str:
        if self._plain:
            return value
        if self._key is None:
            if self.folder is None:
                self._key = os.urandom(KEY_BYTES)  # a store in memory: good for this process
            else:
                os.makedirs(self.folder, mode=0o700, exist_ok=True)
                gate = self._gate()
                try:
                    with gate.within(ERASE_PATIENCE):
                        self._secret()
                finally:
                    gate.close()
        return self.pseudonym(field, user, value)


class Span:
    """What is timed: nothing, when tracing is off."""

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def set(self, **attributes: Any) -> None:
        """Numbers and words of ours; `gen_ai__memory__record__count` is `gen_ai.memory.record.count`."""

    def each(self, steps: Iterator[T]) -> Iterator[T]:
        """Hand on what an iterator gives, within the span; between two steps the caller's own is the current one."""
        return steps

    def aeach(self, steps: AsyncIterator[T]) -> AsyncIterator[T]:
        """`each` for async code."""
        return steps


NO_SPAN = Span()


class _Open(Span):
    def __init__(self, tracer: Any, name: str) -> None:
        self._tracer = tracer
        self._name = name
        self._span: Any = None
        self._current: Any = None
        self.attributes: dict[str, Any] = {}

    def set(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            if value is None:
                continue
            value = value if isinstance(value, (bool, int, float)) else _word(value)
            self.attributes[name.replace("__", ".")] = value
            if self._span is not None:
                self._span.set_attribute(name.replace("__", "."), value)

    def _start(self) -> Any:
        if self._span is None:
            self._span = self._tracer.start_span(self._name, attributes=self.attributes, record_exception=False)
        return self._span

    def _use(self) -> Any:
        from opentelemetry import trace

        return trace.use_span(self._start(), end_on_exit=False, record_exception=False, set_status_on_exception=False)

    def __enter__(self) -> Span:
        self._current = self._use()
        self._current.__enter__()
        return self

    def __exit__(self, kind: Any = None, *exc: object) -> None:
        self._current.__exit__(None, None, None)
        self._end(kind)

    def _end(self, kind: Any) -> None:
        if kind is not None and kind is not GeneratorExit:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", kind.__name__)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()

    def each(self, steps: Iterator[T]) -> Iterator[T]:
        self._start()
        kind: Any = None
        try:
            while True:
                with self._use():
                    try:
                        step = next(steps)
                    except StopIteration:
                        return
                yield step
        except BaseException as e:
            kind = type(e)
            raise
        finally:
            self._end(kind)

    async def aeach(self, steps: AsyncIterator[T]) -> AsyncIterator[T]:
        self._start()
        kind: Any = None
        try:
            while True:
                with self._use():
                    try:
                        step = await anext(steps)
                    except StopAsyncIteration:
                        return
                yield step
        except BaseException as e:
            kind = type(e)
            raise
        finally:
            self._end(kind)


OFF = Telemetry(None, on=False)


def of(settings: Settings, where: str | None, *, named: bool) -> Telemetry:
    """The telemetry of a store at a path, at an address, or in memory; `named`: the caller said where, not the settings."""
    if settings.opentelemetry:
        from importlib.util import find_spec

        if find_spec("opentelemetry") is None:
            raise Refused(
                "The setting `opentelemetry` needs the extra `otel`: pip install '.[otel]' in Recollect's own folder"
            )
    return Telemetry(
        None if where is None else os.path.join(config.data_dir(settings), "telemetry"),
        on=settings.telemetry == "on" or (settings.telemetry == "auto" and not named),
        plain=settings.telemetry_plain_ids,
        max_bytes=settings.telemetry_max_bytes,
        keep=settings.telemetry_keep,
        traces=settings.opentelemetry,
    )


def selected(store: Any, conversation: str) -> None:
    """For doors: someone turned to a conversation. No verb of the store means that, reading is not choosing."""
    store._tell("chat.session_selected", thread_id=conversation)


def since(started: float) -> float:
    """Milliseconds since a moment of `time.perf_counter()`."""
    return round((time.perf_counter() - started) * 1000, 3)


def _word(value: object) -> str:
    """A name, and nothing that could be a sentence."""
    text = str(value)
    if not text or len(text) > 80 or not _NAME.issuperset(text):
        return "other"
    return text


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("an event's number must be one")
    return repr(value)


def _last_byte(file: int, size: int) -> bytes:
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1)


def _replace(path: str, content: bytes) -> None:
    """A file with this content or the one before, never half of it."""
    part = f"{path}.part"
    try:
        os.unlink(part)
    except FileNotFoundError:
        pass
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(part, path)
