"""Transcripts of Claude Code for the tests, line by line as versions 2.x write them; nothing here was ever said by anyone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "95e6f011-ec33-4b37-91ad-5d242b40ae3d"


class Transcript:
    """Writes lines; each follows the one before it unless said."""

    def __init__(self, cwd: str = "/repo/garden", session: str = SESSION, version: str = "2.1.319") -> None:
        self.cwd, self.session, self.version = cwd, session, version
        self.lines: list[dict[str, Any]] = []
        self.tip: str | None = None
        self._at = 0

    def line(self, type: str, parent: str | None = "", **more: Any) -> str:
        number = len(self.lines) + 1
        uuid = f"00000000-0000-4000-8000-{number:012d}"
        self._at += 1
        line: dict[str, Any] = {
            "parentUuid": self.tip if parent == "" else parent, "isSidechain": False, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": self.version, "gitBranch": "main", "type": type, "uuid": uuid,
            "timestamp": f"2026-10-05T10:{self._at // 60:02d}:{self._at % 60:02d}.250Z",
        }  # fmt: skip
        self.lines.append(line | more)
        self.tip = uuid
        return uuid

    def note(self, type: str, **more: Any) -> None:
        """A line without an id, as the program writes for itself."""
        self.lines.append({"type": type, "sessionId": self.session, **more})

    def prompt(self, text: str, parent: str | None = "", **more: Any) -> str:
        return self.line("user", parent, message={"role": "user", "content": text}, **more)

    def answer(self, *blocks: dict[str, Any], id: str = "", parent: str | None = "", **more: Any) -> str:
        message = {
            "model": "claude-sonnet-5", "id": id or f"msg_{len(self.lines)}", "type": "message", "role": "assistant",
            "content": list(blocks), "stop_reason": None,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7},
        }  # fmt: skip
        return self.line("assistant", parent, requestId="req_1", message=message, **more)

    def says(self, text: str, **more: Any) -> str:
        return self.answer({"type": "text", "text": text}, **more)

    def uses(self, tool: str, given: dict[str, Any], use: str, **more: Any) -> str:
        return self.answer({"type": "tool_use", "id": use, "name": tool, "input": given}, **more)

    def gets(self, id: str, content: Any, result: Any = None, parent: str | None = "", error: bool = False) -> str:
        block = {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": error}
        more = {} if result is None else {"toolUseResult": result}
        return self.line("user", parent, message={"role": "user", "content": [block]}, **more)

    def text(self) -> str:
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)

    def write(self, projects: Path, name: str = "") -> Path:
        file = projects / "-repo-garden" / f"{name or self.session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.text(), "utf-8")
        return file


def session() -> Transcript:
    """A short session with a bit of everything."""
    t = Transcript()
    t.note("queue-operation", operation="dequeue", timestamp="2026-10-05T10:00:00.000Z")
    t.prompt("Please make the beds 20 cm wider. I prefer centimetres.", promptId="p-1", origin={"kind": "human"})
    t.answer({"type": "thinking", "thinking": "Look first.", "signature": "c2ln"}, id="msg_a")
    t.says("I will look at the plan.", id="msg_a")
    t.uses("Read", {"file_path": "/repo/garden/src/plan.py"}, "toolu_01", id="msg_a")
    t.gets("toolu_01", "     1→WIDTH = 80\n", {"type": "text", "file": {"filePath": "/repo/garden/src/plan.py"}})
    t.uses("Edit", {"file_path": "/repo/garden/src/plan.py", "old_string": "80", "new_string": "100"}, "toolu_02")
    t.gets("toolu_02", "The file has been updated.", {
        "filePath": "/repo/garden/src/plan.py",
        "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-WIDTH = 80", "+WIDTH = 100"]}],
    })  # fmt: skip
    todos = [{"content": "Widen the beds", "status": "completed", "activeForm": "Widening"}]
    t.uses("TodoWrite", {"todos": todos}, "toolu_03")
    t.gets("toolu_03", "Todos have been modified", {"oldTodos": [], "newTodos": todos})
    t.uses("Bash", {"command": "pytest -q"}, "toolu_04")
    t.gets("toolu_04", "1 failed", "Error: Exit code 1", error=True)
    t.line("system", subtype="turn_duration", durationMs=5000, isMeta=False)
    t.says("The beds are 100 cm wide now; one test fails.")
    t.note("ai-title", aiTitle="Wider beds for the garden")
    return t
