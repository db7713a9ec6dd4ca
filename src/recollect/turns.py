"""What a session's hooks are not told, read from its transcript while it is written.

No hook has what the assistant says before a tool, and none comes when a turn is interrupted, a tool is refused or, without
a screen, the service fails. The transcript has all of it. So each hook reads what was added since the one before, and how far
that was stands beside the store, in two numbers: where the turn began that is going on, and how far it was read.
"""

from __future__ import annotations

import os

from . import checks, claude_code
from .light import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .model import Entry
    from .redact import Gate

TAIL = 8 << 20
"""Bytes of a transcript's end in which a turn is looked for that no hook has seen the beginning of."""
NEAR_THE_END = 1 << 18
_SAID = (b'"type":"assistant"', b'"type":"user"', b'"type": "assistant"', b'"type": "user"')


class Turn:
    """The turn that is going on in a transcript."""

    def __init__(self, path: str, place: str) -> None:
        self._path, self._place = path, place
        self.began: int | None = None
        """Where it began; None: no hook has seen that."""
        self.at = 0
        try:
            with open(place, encoding="ascii") as f:
                self.began, self.at = map(int, f.read().split())
        except (OSError, ValueError):
            pass
        self.is_absent = self.at < 0 and not os.path.exists(path)
        """Whether it was waited for already: there are sessions without a transcript."""
        self.at = max(0, self.at)

    def entries(self, gate: Gate, root: str | None, *, whole: bool) -> list[Entry]:
        """What was added: what the assistant said and thought, and the tools it used in the same breath. With `whole`, the
        turn is over, and what no hook told of it comes too: results, refusals, errors, and what nobody typed."""
        # Of a file that was not there when the first prompt was given, only what follows the prompt is of this session: a fork
        # begins with a copy.
        lines = self._lines((self.began if whole else self.at or self.began) or None)
        if not lines:
            return []  # as mostly between a turn's end and the next prompt, which must not wait for what follows
        from .transfer._claude_lines import Reader

        reader = Reader(gate, root)
        found: list[Entry] = []
        for line in lines:
            said = reader.entries(line, reader.key(line, b""))
            if line["type"] == "assistant":
                if any(e.get("kind", "message") in ("message", "reasoning", "error") for e in said):
                    found += said
            elif whole:
                found += self._from_elsewhere(line, said)
        return [checks.safe(entry) for entry in found]

    def _from_elsewhere(self, line: dict[str, Any], said: list[Entry]) -> list[Entry]:
        found: list[Entry] = []
        results = [e for e in said if e.get("kind") == "tool_result"]
        if not results:
            found = [] if self._is_prompt(line) else [e for e in said if e.get("name") == claude_code.INJECTED]
            if found and isinstance(line.get("promptId"), str) and isinstance(line["message"]["content"], str):
                found[0]["key"] = claude_code.spoken_key("p", found[0]["text"], line["promptId"])  # a hook had it too
                del found[0]["payload"]
            return found
        decision = line.get("permissionDecision")
        refused = isinstance(decision, dict) and decision.get("decision") not in (None, "accept")
        for entry in results:
            if entry.get("status") != "error":
                continue  # a hook has told it, with more
            found.append(entry)
            if refused or str(line.get("toolUseResult")) == "User rejected tool use":
                denied: Entry = {"kind": "approval", "status": "denied", "key": f"{entry.get('key')}:denied"}
                for name in ("tool", "path", "agent", "created_at"):
                    if name in entry:
                        denied[name] = entry[name]
                found.append(denied)
        return found

    def has(self, id: str) -> bool:
        """Whether a use of a tool has reached the file."""
        try:
            with open(self._path, "rb") as f:
                f.seek(max(0, f.seek(0, os.SEEK_END) - NEAR_THE_END))
                return id.encode("utf-8", "replace") in f.read()
        except OSError:
            return False

    def keep(self, *, over: bool) -> None:
        """Write down how far it was read. `over`: the next line begins another turn."""
        began = self.at if over or self.began is None else self.began
        if not over and not os.path.exists(self._path):
            self.at = -1
        os.makedirs(os.path.dirname(self._place), mode=0o700, exist_ok=True)
        with open(self._place, "w", encoding="ascii") as f:
            f.write(f"{began} {self.at}")

    def _lines(self, after: int | None) -> list[dict[str, Any]]:
        """The complete lines behind a place, of which anything is said; None: those since the last prompt."""
        if not os.path.isfile(self._path):
            return []  # a pipe or a device would be read for ever
        try:
            with open(self._path, "rb") as f:
                size = f.seek(0, os.SEEK_END)
                start = max(0, size - TAIL) if after is None or not 0 <= after <= size else after
                f.seek(start)
                data = f.read()
        except OSError:
            return []
        end = data.rfind(b"\n") + 1
        self.at = start + end
        raws = data[:end].split(b"\n")
        if after is None and start:
            del raws[0]  # half a line
        found: list[dict[str, Any]] = []
        for raw in reversed(raws):
            if not any(word in raw for word in _SAID):
                continue
            try:
                line = loads(raw.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if not isinstance(line, dict) or line.get("isSidechain") is True or not isinstance(line.get("uuid"), str):
                continue
            if after is None and self._is_prompt(line):
                break
            if line.get("type") in ("user", "assistant"):
                found.append(line)
        return found[::-1]

    @staticmethod
    def _is_prompt(line: dict[str, Any]) -> bool:
        from .transfer._claude_lines import is_prompt

        return is_prompt(line)


def forked_from(path: str, session: str) -> str | None:
    """The session that this one was forked from, as answers say that were copied into its transcript."""
    try:
        with open(path, "rb") as f:
            data = f.read(TAIL) if os.path.isfile(path) else b""
    except OSError:
        return None
    at = data.find(b'"requestSessionId"')
    if at < 0:
        return None
    raw = data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at)]
    try:
        line = loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return claude_code.parent_of(line, session) if isinstance(line, dict) else None
