"""A line of a Claude Code transcript, as entries of a log and back.

A line is a JSON object: something somebody said, what a tool was asked or gave back, or one of many notes that the program
keeps for itself. Each block of what was said is one event, with its text where texts are found; the rest of the line goes
into the payload as it is. So nothing is lost: `original` makes the lines again from the events. (Secrets are: they are
replaced, as everywhere.) What is not known, or cannot be kept as it stands, is an event that holds the whole line.

The format is documented nowhere; this follows what versions 1 and 2 write.
"""

from __future__ import annotations

from .. import claude_code
from ..claude_code import mark
from ..search import fence
from ..typed import is_typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..model import Entry, Event
    from ..redact import Gate

KNOWN_VERSIONS = ("0", "1", "2")
INJECTED = claude_code.INJECTED
REST = "claude-code.rest"
"""The name of an event that holds a line of which hooks had recorded what is said in it."""
NOTES = frozenset(
    "summary system file-history-snapshot queue-operation progress attachment last-prompt ai-title custom-title agent-name"
    " agent-color agent-setting mode permission-mode tag pr-link worktree-state content-replacement task-summary"
    " marble-origami-commit marble-origami-snapshot attribution-snapshot speculation-accept frame-link atis-latch"
    " started result".split()
)
"""Types of lines that are known to be the program's own notes."""
REQUESTS = frozenset("api-request api-request-shape api-request-blob".split())
"""Types of lines that hold what was sent to the model: instructions, tools, and once more what was said."""
_ASSEMBLED = frozenset(
    "prompt_snapshot skill_listing agent_listing_delta deferred_tools_delta environment remote_session_change auto_mode"
    " hook_additional_context".split()
)
TITLES = {"custom-title": ("customTitle", 3), "agent-name": ("agentName", 2), "ai-title": ("aiTitle", 1)}
_TEXT = {"text": "text", "thinking": "thinking", "tool_result": "content"}


class Reader:
    """Reads the lines of one file in their order, and remembers what a line means for the next."""

    def __init__(self, gate: Gate, root: str | None = None, agent: str | None = None) -> None:
        self._gate = gate
        self.root = root
        self.agent = agent
        self.at = 0
        """When the last line was written: some have no time of their own."""
        self.message: str = ""
        """Whose answer the last line was part of: one answer is several lines, and its tokens are counted once."""
        self.base = ""
        self.since = 0
        """The last line with an id, and how many came without one since: that is how those are known."""
        self.tools: dict[str, tuple[str, Any]] = {}

    def key(self, line: Any, raw: bytes) -> str:
        """What a line is known by: its id, or what it says and where it stands."""
        id = line.get("uuid") if isinstance(line, dict) else None
        if isinstance(id, str) and id and len(id) <= 100 and id.isascii() and id.isprintable() and not id.isspace():
            self.base, self.since = id, 0
            return id
        self.since += 1
        return f"line:{mark(self.base, self.since)}:{mark(raw)}"

    def entries(self, line: dict[str, Any], base: str) -> list[Entry]:
        """What a line says. Each entry's payload names the line (`of`), so that it is known again."""
        self.at = when(line.get("timestamp")) or self.at
        kind = line.get("type")
        version = line.get("version")
        if isinstance(version, str) and version.split(".")[0] not in KNOWN_VERSIONS:
            return [self._whole(line, base, f"raw:{base}")]
        if kind in ("user", "assistant") and isinstance(line.get("message"), dict):
            return self._said(line, base, str(kind))
        return [self._whole(line, base, base)]

    def _whole(self, line: dict[str, Any], base: str, key: str) -> Entry:
        """A line that stays as it is. What the program noted in words can be found by them."""
        kind = str(line.get("type") or "?")
        entry: Entry = {
            "kind": "event", "name": f"claude-code.{self._clip(kind)}", "key": key, "payload": {"of": base, **kept(line), "whole": True},
        }  # fmt: skip
        if kind == "system":
            subtype = self._clip(str(line.get("subtype") or "system"))
            entry["name"] = f"claude-code.{subtype}"
            if subtype == "api_error":
                entry["kind"] = "error"
            if isinstance(line.get("content"), str):
                entry["text"] = line["content"]
        elif kind == "summary" and isinstance(line.get("summary"), str):
            entry["text"] = line["summary"]
        return self._dated(entry, self._agent(line))

    def _dated(self, entry: Entry, agent: str | None) -> Entry:
        if self.at:
            entry["created_at"] = self.at
        if agent:
            entry["agent"] = agent
        return entry

    def _clip(self, text: str, most: int = 100) -> str:
        """What is replaced stands in the payload too, in full: so `append` sees by itself that there was a secret."""
        return claude_code.clip(text, most, self._gate.another())

    def _agent(self, line: dict[str, Any]) -> str | None:
        if self.agent or line.get("isSidechain") is True:
            own = line.get("agentId")
            return self.agent or (self._clip(str(own)) if own else "sidechain")
        return None

    def _said(self, line: dict[str, Any], base: str, role: str) -> list[Entry]:
        message: dict[str, Any] = line["message"]
        content = message.get("content")
        if not isinstance(content, (str, list)):
            return [self._whole(line, base, base)]
        envelope = {**line, "message": {k: v for k, v in message.items() if k != "content"}}
        agent = self._agent(line)
        found: list[Entry] = []
        if isinstance(content, str):
            entry = self._text(line, role, content, agent)
            entry["payload"] = {"of": base, **kept(envelope)}
            found.append(entry)
        else:
            for i, block in enumerate(content):
                entry, rest = self._block(line, role, block, agent)
                entry["payload"] = {"of": base, **rest, **({**kept(envelope), "blocks": len(content)} if not i else {})}
                found.append(entry)
            if not content:
                found.append(
                    {
                        "kind": "event",
                        "name": "claude-code.empty",
                        "payload": {"of": base, "line": envelope, "blocks": 0},
                    }
                )
        for i, entry in enumerate(found):
            entry.setdefault("key", base if not i else f"{base}#{i}")
            self._dated(entry, agent)
        if role == "assistant":
            self._costs(message, found[0])
        if line.get("toolUseResult") is not None:
            found += self._tasks(line, content, agent)
        return found

    def _text(self, line: dict[str, Any], role: str, text: str, agent: str | None) -> Entry:
        if role == "assistant" and line.get("isApiErrorMessage"):
            return {"kind": "error", "role": "assistant", "text": text, "status": "error"}
        if role == "assistant" or is_typed(line, text):
            if agent:  # what agents say to each other is not what the conversation shows
                return {"kind": "event", "name": "message", "role": role, "text": text}
            return {"role": role, "text": text}
        name = "claude-code.compact-summary" if line.get("isCompactSummary") else INJECTED
        return {"kind": "event", "name": "message" if agent else name, "text": text}

    def _block(self, line: dict[str, Any], role: str, block: Any, agent: str | None) -> tuple[Entry, dict[str, Any]]:
        """What a block says, and what of it goes into the payload."""
        kind = block.get("type") if isinstance(block, dict) else None
        rest: dict[str, Any] = {"block": block}
        field = _TEXT.get(kind) if isinstance(kind, str) else None
        text = block.get(field) if field else None
        if isinstance(text, str):
            rest = {"block": {k: v for k, v in block.items() if k != field}, "cut": field}
        if kind == "text" and isinstance(text, str):
            return self._text(line, role, text, agent), rest
        if kind in ("thinking", "redacted_thinking"):
            return {"kind": "reasoning", "role": "assistant", "text": text if isinstance(text, str) else ""}, rest
        if kind == "tool_use":
            return self._use(block, line), rest
        if kind == "tool_result":
            entry = self._result(line, block, text if isinstance(text, str) else claude_code.answered(text))
            return entry, rest if entry["text"] or not text else {"block": block}
        return {"kind": "event", "name": f"claude-code.{self._clip(str(kind)) if kind else 'block'}"}, rest

    def _use(self, block: dict[str, Any], line: dict[str, Any]) -> Entry:
        tool, given = self._clip(str(block.get("name") or "?"), 200), block.get("input")
        entry: Entry = {"kind": "tool_use", "tool": tool, "text": claude_code.told(tool, given, self._gate.another())}
        id = block.get("id")
        if isinstance(id, str) and id:
            self.tools[id] = tool, given
            entry["key"] = claude_code.use_key(id)
        if claude_code.is_ours(tool, given):
            entry["text"] = ""
        return self._placed(entry, given, line)

    def _result(self, line: dict[str, Any], block: dict[str, Any], text: str) -> Entry:
        entry: Entry = {
            "kind": "tool_result", "role": "tool", "text": text, "status": "error" if block.get("is_error") is True else "ok",
        }  # fmt: skip
        if fence.repeats(text):
            entry["text"] = ""  # an answer of ours: the line keeps it, and nothing finds it
        id = block.get("tool_use_id")
        if isinstance(id, str) and id:
            entry["key"] = claude_code.result_key(id)
            tool, given = self.tools.get(id, (None, None))
            if tool is not None:
                entry["tool"] = tool
                if claude_code.is_ours(tool, given):
                    entry["text"] = ""
                changed = claude_code.difference(tool, given, line.get("toolUseResult"))
                if changed:
                    entry["diff"] = changed
                self._placed(entry, given, line)
        return entry

    def _placed(self, entry: Entry, given: Any, line: dict[str, Any]) -> Entry:
        path = claude_code.path_of(given)
        if path is not None:
            cwd = line.get("cwd")
            entry["path"] = claude_code.place(path, self.root, cwd if isinstance(cwd, str) else None)
        return entry

    def _costs(self, message: dict[str, Any], first: Entry) -> None:
        model, usage, id = message.get("model"), message.get("usage"), message.get("id")
        if isinstance(model, str) and model and model != "<synthetic>":
            first["model"] = self._clip(model, 200)
        if not isinstance(usage, dict) or (isinstance(id, str) and id == self.message):
            return
        self.message = id if isinstance(id, str) else ""
        read = [usage.get(n) for n in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
        counts = [n for n in read if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 40]
        if counts:
            first["input_tokens"] = sum(counts)
        wrote = usage.get("output_tokens")
        if isinstance(wrote, int) and not isinstance(wrote, bool) and 0 <= wrote < 1 << 40:
            first["output_tokens"] = wrote

    def _tasks(self, line: dict[str, Any], content: Any, agent: str | None) -> list[Entry]:
        """The agent's task list, where a result changed it."""
        ids = [b.get("tool_use_id") for b in content if isinstance(b, dict)] if isinstance(content, list) else []
        if len(ids) != 1 or not isinstance(ids[0], str) or ids[0] not in self.tools:
            return []
        tool, given = self.tools[ids[0]]
        return [self._dated(e, agent) for e in claude_code.tasks(tool, ids[0], given, line["toolUseResult"], agent)]


def is_of_request(line: dict[str, Any]) -> bool:
    """Whether a line holds a piece of a request that the program assembled: several times the size of all that was said."""
    about = line.get("attachment")
    return str(line.get("type")) in REQUESTS or (isinstance(about, dict) and str(about.get("type")) in _ASSEMBLED)


def kept(line: Any) -> dict[str, Any]:
    """A line as a payload has it. The id of its session stands beside it: in `sessionId` it would be taken for a secret, as
    it is one in other programs, and everything ever said in the session would count as sensitive."""
    if not isinstance(line, dict) or not isinstance(line.get("sessionId"), str):
        return {"line": line}
    return {"line": {k: v for k, v in line.items() if k != "sessionId"}, "from": line["sessionId"]}


def is_prompt(line: dict[str, Any]) -> bool:
    """Whether a line is a prompt that the person gave: where a rewound conversation forks."""
    message = line.get("message")
    if line.get("type") != "user" or not isinstance(message, dict):
        return False
    content = message.get("content")
    if isinstance(content, str):
        return is_typed(line, content)
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    if any(b.get("type") == "tool_result" for b in blocks):
        return False
    return any(is_typed(line, str(b.get("text") or "")) for b in blocks if b.get("type") in ("text", "image"))


def title_of(line: dict[str, Any]) -> tuple[str, int] | None:
    """A title that a line gives the session, and its rank: what the person chose goes before what a model wrote."""
    field, rank = TITLES.get(str(line.get("type")), ("", 0))
    title = line.get(field) if field else None
    return (title, rank) if isinstance(title, str) and title.strip() else None


def when(stamp: Any) -> int | None:
    """Milliseconds of a time as transcripts have it: `2026-01-20T11:57:17.716Z`."""
    if not isinstance(stamp, str) or not 19 <= len(stamp) <= 40:
        return None
    from datetime import UTC, datetime

    try:
        at = datetime.fromisoformat(stamp)
        ms = int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000 + 0.5)
    except (ValueError, OverflowError):
        return None
    return ms if ms >= 0 else None


def raw_entry(raw: bytes, base: str, at: int, name: str) -> Entry:
    """A line that cannot be kept as JSON: the text that it is, or its bytes where it is none."""
    raw = raw.rstrip(b"\r\n")
    try:
        text: dict[str, Any] = {"raw": raw.decode("utf-8")}
        if "\0" in text["raw"]:
            raise ValueError
    except ValueError:
        from base64 import b64encode

        text = {"base64": b64encode(raw).decode()}
    entry: Entry = {
        "kind": "event",
        "name": f"claude-code.{name}",
        "key": f"raw:{base}",
        "payload": {"of": base, **text},
    }
    if at:
        entry["created_at"] = at
    return entry


def original(events: Iterable[Event]) -> list[Any]:
    """The lines that events were made of, in their order; a line that was no JSON comes as bytes."""
    import json
    from base64 import b64decode

    found: dict[str, Any] = {}
    missing: dict[str, int] = {}
    for event in events:
        payload = event.payload
        base = payload.get("of")
        if not isinstance(base, str):
            continue
        if "raw" in payload or "base64" in payload:
            raw = payload["raw"].encode() if "raw" in payload else b64decode(payload["base64"])
            try:
                found[base] = json.loads(raw)
            except (ValueError, RecursionError):
                found[base] = raw
            continue
        block: Any = payload.get("block")
        if "cut" in payload:
            block = {**block, payload["cut"]: event.text}
        if "line" in payload:
            line = payload["line"]
            if "from" in payload:
                line = {**line, "sessionId": payload["from"]}
            if "blocks" in payload:
                line = {**line, "message": {**line["message"], "content": [block] if payload["blocks"] else []}}
                missing[base] = max(0, payload["blocks"] - 1)
            elif not payload.get("whole"):
                line = {**line, "message": {**line["message"], "content": event.text}}
            else:
                missing[base] = 0
            found[base] = line
        elif "block" in payload and missing.get(base):
            found[base]["message"]["content"].append(block)
            missing[base] -= 1
    return list(found.values())
