"""A coding agent's hooks: one short process for each thing that happens in a session.

The agent starts it, hands it a JSON object on standard input, and waits. So it is quick - what is heavy is imported where
it is needed, and a prompt needs little - and it is harmless: it ends with 0 whatever happens, says nothing but the context
that was asked for, and writes what went wrong into `hooks.log` in the data folder. Nothing of the agent's depends on it.

Installed by `recollect hooks install`, which writes the command that `command_line()` gives into the agent's settings.
"""

from __future__ import annotations

import os
import sys

from . import checks, claude_code, config, light, redact, typed
from .config import Settings
from .errors import AlreadyExists, ConversationDeleted, Erased, NotFound, RecollectError, SettingsError
from .model import DISOWNED
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from .model import Context, Entry
    from .turns import Turn

AGENTS = (claude_code.NAME,)
PARTS = ("recording", "injection", "extraction")
"""What can be paused, each by itself."""
BUDGET, MEMORIES, EXCERPTS = 800, 5, 3
"""Of what is handed to the agent with a prompt: tokens, memories and excerpts, at most."""
QUESTION = 4_000  # characters of a prompt that are looked for: a pasted log is no question
MOST_INPUT = 64 << 20
WAIT_MS = 2_000  # for a store that is busy: the agent waits too
COMPACT_SECONDS = 20.0  # for a transcript that is about to be compacted; what is left is brought in behind its back
FLUSH_SECONDS = 0.3  # the answer may reach the transcript a moment after the hook
USE_SECONDS = 0.5  # and a tool's use up to 100 ms after it
LOG_BYTES = 512 << 10
ERASED = (
    "Recollect: this session was erased, so nothing of it is recorded any more. Begin a new session, or say"
    " `recollect new --id {id} --again` to record this one again."
)
OURS = "from recollect.hooks import main"
START = f"{OURS}; main()"


# -- the process


def main() -> None:
    """What the agent starts. Never fails, and never says so."""
    try:
        os.umask(0o077)  # whatever it leaves in the data folder is the user's alone
        if sys.argv[1:2] != [claude_code.NAME] and hasattr(os, "nice"):
            os.nice(10)  # no one waits for it
            import gc

            gc.enable()
        said = run(sys.argv[1:], lambda: sys.stdin.buffer.read(MOST_INPUT))
        if said:
            sys.stdout.buffer.write(said.encode())
            sys.stdout.buffer.flush()
        light.put_away()
    except BaseException as e:
        note(e, sys.argv[1:])
    os._exit(0)  # without the interpreter's farewell, which takes as long as the append


def command(words: Iterable[str]) -> list[str]:
    """A new process of ours. `-E -P`: no module of the folder that the agent works in, nor of its environment, is taken for
    one of ours. `-S`: what Python does before anything else is a quarter of a process that does nothing, so the folders in
    which we are, and what we need is, are said instead. And a process this short needs no garbage collector."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    packages = [p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")]
    places = [p.replace("\\", "\\\\").replace('"', '\\"') for p in dict.fromkeys([ours, *packages])]
    listed = '", "'.join(places)
    code = f'import gc, sys; gc.disable(); sys.path += ["{listed}"]; {START}'
    return [sys.executable, "-S", "-E", "-P", "-c", code, *words]


def command_line(agent: str, options: Iterable[str] = ()) -> str:
    """The command that the agent is to start, for its shell. Even a Python that is gone ends well."""
    words = command([agent, *options])
    return f"{' '.join(map(_quoted, words))} 2>/dev/null || true"


def _quoted(word: str) -> str:
    plain = word and all(c.isascii() and (c.isalnum() or c in "_-./:@%+=,") for c in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"


def run(arguments: Sequence[str], read: Callable[[], bytes]) -> str | None:
    """One event of an agent, or (`extract`, a conversation) what was put off by one. Returns what the agent is to read."""
    words, settings = _said(arguments)
    if not settings.enabled:
        return None
    folder = config.data_dir(settings)
    if words[:1] == ["extract"]:
        extract(settings, folder, words[1], whole="--whole" in words)
        return None
    if words[:1] == ["transcript"]:
        with Store.open(settings=settings) as store:
            _bring(store, words[1], None)
        return None
    if words != [claude_code.NAME]:
        raise ValueError(f"hooks: {' '.join(words)!r} is no agent; there is {', '.join(AGENTS)}")
    light.shelve(os.path.join(folder, "hooks", "patterns"))
    try:
        payload = light.loads(read().decode("utf-8", "replace").strip())
    except ValueError as e:
        raise ValueError(f"hooks: standard input is not valid JSON: {e}") from None
    if not isinstance(payload, dict) or not isinstance(payload.get("session_id"), str) or not payload["session_id"]:
        raise ValueError("hooks: standard input is not an object with a session_id")
    return Session(settings, folder, payload, [w for w in arguments if w != claude_code.NAME]).happened()


def _said(arguments: Sequence[str]) -> tuple[list[str], Settings]:
    """The words of a command line, and the settings it names."""
    given: dict[str, str] = {}
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word in ("--data-dir", "--database", "--user"):
            given[word[2:].replace("-", "_")] = next(rest)
        else:
            words.append(word)
    settings, _ = usable(**given, background=False, backup_every=0, busy_timeout_ms=WAIT_MS, connect_timeout_ms=WAIT_MS)
    if "data_dir" in given and "database" not in given:
        settings = settings.but(database=None)  # said here and now: it wins over a configured database
    return words, settings


def usable(**given: Any) -> tuple[Settings, list[str]]:
    """Settings with which something can be recorded, and what is wrong with them: that stops no recording, and `recollect hooks
    status` and `recollect doctor` say it. A pattern that is none is left out, the others are searched for."""
    settings, problems = Settings.usable(**given)
    if settings.redact_off or settings.redact_patterns:
        from .redact import Gate

        off, patterns = list[str](), dict[str, str]()
        for name in settings.redact_off:
            try:
                Gate(off=[name]).policy()
                off.append(name)
            except SettingsError as e:
                problems.append(str(e))
        for name, source in settings.redact_patterns.items():
            try:
                Gate(patterns={name: source}).policy()
                patterns[name] = source
            except SettingsError as e:
                problems.append(str(e))
        settings = settings.but(redact_off=tuple(off), redact_patterns=patterns)
    return settings, problems


# -- pausing, and the log


def paused(folder: str) -> tuple[str, ...]:
    """What is paused: recording, injection, extraction."""
    try:
        with open(os.path.join(folder, "hooks.paused"), encoding="utf-8") as f:
            words = f.read().split()
    except FileNotFoundError:
        return ()
    return tuple(part for part in PARTS if part in words)


def pause(folder: str, parts: Iterable[str], *, on: bool) -> tuple[str, ...]:
    """Pause some parts, or let them go on. Returns what is paused now."""
    off = [p for p in PARTS if (p in parts and on) or (p in paused(folder) and p not in parts)]
    path = os.path.join(folder, "hooks.paused")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if off:
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write("\n".join(off) + "\n")
        os.replace(path + ".new", path)
    elif os.path.exists(path):
        os.unlink(path)
    return tuple(off)


def note(error: BaseException, arguments: Sequence[str] = (), event: str = "") -> None:
    """Write down what went wrong: when, at what, and the error, in which no secret is left. Never fails itself."""
    try:
        import time

        try:
            folder = config.data_dir(_said(arguments)[1])
        except Exception:  # the settings themselves are broken
            said = dict(zip(arguments, arguments[1:], strict=False)).get("--data-dir")
            folder = said or os.environ.get("RECOLLECT_DATA_DIR") or config.folder("data")
        from .redact import Gate

        gate = Gate()
        words = claude_code.clip(" ".join(gate.text(f"{type(error).__name__}: {error}").split()), 1_000, gate)
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {event or '-'} {gate.text(words)}\n"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, "hooks.log")
        if os.path.exists(path) and os.path.getsize(path) > LOG_BYTES:
            os.replace(path, path + ".1")
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line.encode("utf-8", "replace"))
        finally:
            os.close(fd)
    except BaseException:
        return  # a full disk, a folder that is not ours: there is no one to tell


# -- what is handed out


def _quote(text: str) -> str:
    """A text as JSON has it, in ASCII."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring_ascii
    return encode_basestring_ascii(text)


def _answer(context: str) -> str | None:
    """What Claude Code reads: text beside the prompt."""
    if not context:
        return None
    inner = f'{{"hookEventName": "UserPromptSubmit", "additionalContext": {_quote(context)}}}'
    return f'{{"suppressOutput": true, "hookSpecificOutput": {inner}}}'


# -- what happens in a session


def _root(folder: Any) -> str | None:
    """The workspace of a folder. A name that no database keeps loses the bytes that are none; what is no folder is None."""
    if not isinstance(folder, str) or not folder.strip() or len(folder) > 2_000 or "\0" in folder:
        return None
    try:
        return str(checks.safe(claude_code.workspace(folder)))
    except UnicodeError:
        return str(checks.safe(folder))


class Session:
    """One event in the session of an agent."""

    def __init__(self, settings: Settings, folder: str, payload: dict[str, Any], options: Sequence[str]) -> None:
        off = paused(folder)
        self._records, self._injects, self._extracts = (part not in off for part in PARTS)
        self._extracts = self._extracts and settings.memory_extract
        self._settings = settings if self._extracts else settings.but(memory_extract=False)
        self._folder, self._payload, self._options = folder, payload, list(options)
        self.event = str(payload.get("hook_event_name") or "")
        self.id = claude_code.conversation_id(payload["session_id"])
        here = os.environ.get("CLAUDE_PROJECT_DIR") or payload.get("cwd")
        self.root = _root(here)
        self._is_erased = False
        self._read: tuple[Turn, bool] | None = None
        """How far the transcript was read, for the next hook."""

    def happened(self) -> str | None:
        """Record it, and give back what the agent is to read."""
        what = getattr(self, f"_{self.event}", None) if self.event.isalpha() and self.event[0].isupper() else None
        if what is None:
            return None  # an event of another version: not ours
        if not self._records and not (self._injects and self.event == "UserPromptSubmit"):
            return None
        self._vouched()
        with Store.open(settings=self._settings) as store:
            store._shared["semantic"] = None  # searched by words: numpy alone takes longer than all of this
            try:
                answer: str | None = what(store)
            except ConversationDeleted:
                return None  # in the bin, by its user's own hand
        return self._with_notice(answer) if self._is_erased else answer

    def _with_notice(self, answer: str | None) -> str | None:
        """The session was erased while its agent goes on: its user is told so, once."""
        path = os.path.join(self._folder, "hooks", f"{claude_code.mark(self.id)}.erased")
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return answer
        said = f'{{"systemMessage": {_quote(ERASED.format(id=self.id))}'
        return f"{said}}}" if answer is None else f"{said}, {answer[1:]}"

    def _vouched(self) -> None:
        """A path is long enough to be searched for secrets each time, and loading the search is a fifth of what a prompt may
        take. That nothing was found in the workspace's is written down."""
        if self.root is None:
            return
        path = os.path.join(self._folder, "hooks", "searched")
        try:
            with open(path, encoding="utf-8") as f:
                known = f.read().split("\n")
        except OSError:
            known = []
        if self.root not in known and redact.Gate().text(self.root) == self.root and "\n" not in self.root:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join([*known[-200:], self.root]))
            known.append(self.root)
        if self.root in known:
            redact.vouch(self.root)

    def _UserPromptSubmit(self, store: Store) -> str | None:
        prompt = checks.safe(self._payload.get("prompt"))
        if not isinstance(prompt, str) or not prompt.strip():
            return None
        answer = None
        is_typed = typed.is_typed(self._payload, prompt) and not self._was_scheduled(prompt)
        if (
            is_typed and self._injects and self.root is not None
        ):  # from nowhere in particular, all projects would be in sight
            try:
                answer = self._context(store, prompt[:QUESTION])
            except RecollectError as e:  # what cannot be searched can still be recorded
                note(e, self._options, self.event)
        if self._records:
            # By the id that newer versions give a prompt, else by where the transcript stood.
            turn = self._payload.get("prompt_id") or claude_code.position(self._payload)
            entry: Entry = {"text": prompt, "key": claude_code.spoken_key("p", prompt, turn)}
            entry |= {"role": "user"} if is_typed else {"kind": "event", "name": claude_code.INJECTED}
            self._append(store, [*self._caught_up(store, over=True), entry])
        return answer

    def _context(self, store: Store, prompt: str) -> str | None:
        s = self._settings
        facts, excerpts = min(s.context_memories, MEMORIES), min(s.context_excerpts, EXCERPTS)
        told = self._by_sidecar(store.location, prompt, facts, excerpts) if s.context else None
        if told is not None:
            return _answer(told)

        def ask(conversation: str | None) -> Context:
            return store.context(
                prompt, conversation=conversation, workspace=self.root, budget=BUDGET, max_memories=facts, max_excerpts=excerpts
            )  # fmt: skip

        try:
            made = ask(self.id)
        except NotFound:
            made = ask(None)
        return _answer(made.text)

    def _by_sidecar(self, location: str, prompt: str, facts: int, excerpts: int) -> str | None:
        """The context as a sidecar gives it, which searches by meaning too, if one of this user answers at once. None: none
        does, and the file is asked. Spoken by hand: the standard library's client takes as long to import as all of this."""
        if not os.path.exists(os.path.join(self._folder, "sidecar", "address")):
            return None
        from . import asking, peer

        address = None
        try:
            address = peer.read(self._folder)
            if address is None or (address.store, address.user) != (location, self._settings.user):
                return None
            body = (
                f'{{"prompt": {_quote(prompt)}, "session_id": {_quote(self.id)}, "budget": {BUDGET}, '
                f'"max_memories": {facts}, "max_excerpts": {excerpts}'
                + (f', "workspace": {_quote(self.root)}}}' if self.root else "}")
            )
            head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            return str(asking.exchanged(address, f"POST /memory/context HTTP/1.1\r\n{head}\r\n{body}")["text"])
        except (ConnectionRefusedError, FileNotFoundError, peer.Unproven):
            if address is not None:
                peer.forget(self._folder, address)  # it was killed, and a stranger may sit there now
            return None
        except (OSError, ValueError, KeyError, TypeError, RecollectError):
            return None

    def _SessionStart(self, store: Store) -> None:
        self._append(store, [claude_code.began(self._payload, store._gate.another())])

    _PostCompact = _SessionStart

    def _SubagentStop(self, store: Store) -> None:
        ended = claude_code.agent_ended(self._payload, store._gate.another())
        if ended is not None:
            self._append(store, [ended])

    def _PreToolUse(self, store: Store) -> None:
        self._will_come(typed.scheduled(self._payload))
        used = claude_code.used(self._payload, self.root, store._gate.another())
        said = [] if self._payload.get("agent_id") else self._caught_up(store)
        self._append(store, [*said, used])

    def _PostToolUse(self, store: Store) -> None:
        payload = self._payload
        result = claude_code.gave(payload, self.root, store._gate.another())
        changed = claude_code.tasks(
            str(result["tool"]), str(payload.get("tool_use_id") or ""), payload.get("tool_input"),
            payload.get("tool_response"), result.get("agent"),
        )  # fmt: skip
        if any("goal" not in task for task in changed):
            try:
                known = {entry.task_id: entry.goal for entry in store.ledger(self.id)}
            except NotFound:
                known = {}
            for task in changed:
                task.setdefault("goal", known.get(str(task["task_id"]), ""))
        made = claude_code.wrote(result, payload.get("tool_input"), store._gate.another())
        self._append(store, [result, *([made] if made is not None else []), *changed])
        self._in_a_long_turn(store)

    def _PostToolUseFailure(self, store: Store) -> None:
        self._append(store, [claude_code.gave(self._payload, self.root, store._gate.another())])
        self._in_a_long_turn(store)

    def _PermissionRequest(self, store: Store) -> None:
        entry = claude_code.asked(self._payload, self.root, store._gate.another())
        if entry is not None:
            self._append(store, [entry])

    _PermissionDenied = _Notification = _PermissionRequest

    def _StopFailure(self, store: Store) -> None:
        entries = self._caught_up(store, over=True)
        if not any(entry.get("kind") == "error" for entry in entries):
            entries.append(claude_code.broke(self._payload, store._gate.another()))
        self._append(store, entries)

    def _Stop(self, store: Store) -> None:
        self._will_come(typed.scheduled(self._payload))
        told = self._payload.get("last_assistant_message")
        told = checks.safe(told) if isinstance(told, str) and told.strip() else None
        entries = self._caught_up(store, over=True, told=told)
        if told is not None and not any(entry.get("text") == told for entry in entries):
            # Not in the transcript yet. When it is brought in later, it will be known by what it says.
            turn = self._payload.get("prompt_id") or claude_code.position(self._payload)
            entries.append({"role": "assistant", "text": told, "key": claude_code.spoken_key("a", told, turn)})
        self._append(store, entries)
        self._later("extract", self.id)

    def _SessionEnd(self, store: Store) -> None:
        ended = claude_code.began(self._payload, store._gate.another())
        caught = self._caught_up(store, over=True)
        self._append(store, [*caught, ended], new=bool(caught))  # a session in which nothing happened is none
        if self._records:
            from .turns import forked_from

            try:
                claude_code.link(store, self.id, forked_from(str(self._payload.get("transcript_path") or ""), self.id))
            except NotFound:
                pass  # nothing happened in it
        self._later("extract", self.id, "--whole")

    def _PreCompact(self, store: Store) -> None:
        self._append(store, [claude_code.began(self._payload, store._gate.another())])
        path = str(self._payload.get("transcript_path") or "")
        if os.path.isfile(path) and not _bring(store, path, COMPACT_SECONDS):
            self._later("transcript", path)

    # -- what no hook is told

    def _caught_up(self, store: Store, *, over: bool = False, told: str | None = None) -> list[Entry]:
        """What the transcript has since the last hook looked. `over`: a turn is. What was `told` to be in it is waited for a
        moment."""
        path = str(self._payload.get("transcript_path") or "")
        if not self._records or not (over or path):
            return []
        from .turns import Turn

        turn = Turn(path, self._beside("read"))
        if turn.began is None and self.event == "UserPromptSubmit":  # what was before hooks came is for an import
            turn.at = claude_code.position(self._payload)
            turn.keep(over=True)
            return []
        use = self._payload.get("tool_use_id") if self.event == "PreToolUse" else None
        until = 0.0
        while True:  # what is awaited may reach the transcript a moment after the hook
            is_there = not isinstance(use, str) or turn.has(use) or turn.is_absent
            entries = turn.entries(store._gate.another(), self.root, whole=over) if is_there or until else []
            if is_there and (told is None or any(entry.get("text") == told for entry in entries)):
                break
            import time

            until = until or time.monotonic() + (FLUSH_SECONDS if use is None else USE_SECONDS)
            if time.monotonic() >= until:
                break
            time.sleep(0.02)
        self._read = turn, over
        return entries

    def _beside(self, what: str) -> str:
        """A file about this session beside the store: it goes with every erasure."""
        return os.path.join(self._folder, "hooks", f"{claude_code.mark(self.id)}.{what}")

    def _will_come(self, prompts: Iterable[str]) -> None:
        """Prompts that the agent scheduled come back as if they had been typed: they are known by a mark."""
        marks = {claude_code.mark(checks.safe(prompt)) for prompt in prompts}
        if marks and self._records:
            path = self._beside("scheduled")
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(path, "a", encoding="ascii") as f:
                f.write("".join(f"{mark}\n" for mark in marks))

    def _was_scheduled(self, prompt: str) -> bool:
        try:
            with open(self._beside("scheduled"), encoding="ascii") as f:
                return claude_code.mark(prompt) in f.read().split()
        except OSError:
            return False

    # -- how it is written

    def _append(self, store: Store, entries: list[Entry], *, new: bool = True) -> None:
        if not self._records:
            return
        if entries:
            self._write(store, entries, new)
        if self._read is not None:  # only now: the agent may end a hook in the middle, and the next one reads it again
            turn, over = self._read
            turn.keep(over=over)

    def _write(self, store: Store, entries: list[Entry], new: bool) -> None:
        clean: list[Entry] = [checks.safe(entry) for entry in entries]
        try:
            written = store.append_many(self.id, clean)
        except NotFound:
            if not new:
                return
            try:
                store.create(self.id, workspace=self.root, origin="hook")
            except AlreadyExists:
                pass  # another hook was quicker
            except Erased:
                self._is_erased = True
                return
            written = store.append_many(self.id, clean)
        # What was taken for typed, and the transcript says that nobody did.
        disowned: list[Entry] = [
            {"kind": "event", "name": DISOWNED, "message": event.seq, "key": f"{event.key}~{DISOWNED}"}
            for entry, event in zip(clean, written, strict=True)
            if entry.get("name") == claude_code.INJECTED and event.kind == "message"
        ]
        if disowned:
            store.append_many(self.id, disowned)

    def _in_a_long_turn(self, store: Store) -> None:
        if self._counted():
            self._append(store, self._caught_up(store, over=True))
            self._later("extract", self.id)

    def _counted(self) -> bool:
        """Whether it is time to extract again: every so many uses of tools."""
        every = self._settings.hook_extract_every
        if not self._extracts or not every:
            return False
        path = self._beside("uses")
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        try:
            with open(path, encoding="ascii") as f:
                count = int(f.read()) + 1
        except (OSError, ValueError):
            count = 1
        with open(path, "w", encoding="ascii") as f:
            f.write(str(count))
        return count % every == 0

    def _later(self, *words: str) -> None:
        """Go on in a process of its own, on which no one waits."""
        if words[0] == "extract" and not (self._extracts or "--whole" in words):
            return
        started = command([*words, *self._options])
        if hasattr(os, "posix_spawn"):
            null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
            try:
                os.posix_spawn(started[0], started, os.environ, file_actions=null, setsid=True)
            except NotImplementedError:
                os.posix_spawn(started[0], started, os.environ, file_actions=null, setpgroup=0)
        else:
            import subprocess

            flags = getattr(subprocess, "DETACHED_PROCESS", 0)
            subprocess.Popen(
                started,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=flags,
            )


def _bring(store: Store, path: str, seconds: float | None) -> bool:
    """A transcript, as far as it has come and time allows. Returns whether that was all of it."""
    from pathlib import Path

    from .transfer import claude_code as transcripts

    return transcripts.save(store, Path(path), seconds=seconds)


def extract(settings: Settings, folder: str, conversation: str, *, whole: bool) -> None:
    """Memories from what was said since the last time; with `whole`, all the work that hooks left: a session has ended."""
    import contextlib

    if "extraction" in paused(folder):
        settings = settings.but(memory_extract=False)
    lock = _lock(os.path.join(folder, "hooks"), wait=whole)
    if lock is None:
        return  # one is at it, and the next turn asks again
    with lock, Store.open(settings=settings) as store:
        from . import langgraph

        langgraph.read_with_model(store)
        if settings.memory_extract:
            with contextlib.suppress(NotFound, ConversationDeleted):
                store.consolidate(conversation)
        if whole:
            store.settle()


def _lock(folder: str, *, wait: bool) -> Any:
    """Held while it is open, so that turns in quick succession do not extract side by side. None: it is taken."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    held = open(os.path.join(folder, "extract.lock"), "w")  # noqa: SIM115 - the caller closes it
    try:
        import fcntl
    except ImportError:
        return held
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        held.close()
        return None
    return held


def installed(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """The commands of ours in an agent's settings, by event."""
    found: dict[str, list[str]] = {}
    hooks = settings.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, dict) else None
            for hook in inner if isinstance(inner, list) else ():
                if is_ours(hook):
                    found.setdefault(event, []).append(hook["command"])
    return found


def is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and isinstance(hook.get("command"), str) and OURS in hook["command"]
