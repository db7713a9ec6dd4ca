"""Which files are transcripts of Claude Code, whose session one is, and its lines."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import checks
from ._claude_lines import NOTES, REQUESTS

SESSION = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What Claude Code calls a session, and its file."""
SAID_OR_NOTED = NOTES | REQUESTS | {"user", "assistant"}
TAIL = 1 << 20  # bytes in which the last line is looked for that names its session


def usual_place() -> Path:
    """Where Claude Code keeps its transcripts."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "projects"


def looks_like(path: Path) -> bool:
    """A folder with transcripts in it, or a file whose first lines are of one."""
    if path.is_dir():
        return any(is_transcript(file) for file in files(path)[:3])
    return is_transcript(path)


def is_transcript(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    try:
        with open(path, "rb") as f:
            for raw in (f.readline(1 << 20) for _ in range(20)):
                with contextlib.suppress(ValueError, RecursionError):
                    line = json.loads(raw)
                    if isinstance(line, dict) and ("sessionId" in line or "leafUuid" in line) and "type" in line:
                        return True
    except OSError:
        pass
    return False


def files(path: Path) -> list[Path]:
    """The transcripts at a place: a file, a project, all projects, or the folder that holds them. Sessions come before the
    agents that they started, and older ones first."""
    if not path.is_dir():
        return [path]
    inner = path / "projects"
    found = []
    for p in (inner if inner.is_dir() else path).rglob("*.jsonl"):
        with contextlib.suppress(OSError):  # Claude Code deletes old ones at any moment
            if p.is_file():
                found.append((SESSION.fullmatch(p.stem) is None, p.stat().st_mtime_ns, str(p), p))
    return [p for *_, p in sorted(found)]


def begins(file: Path) -> dict[str, Any]:
    """What the first lines say of a session: its id, its folder, its agent."""
    found: dict[str, Any] = {}
    with open(file, "rb") as f:
        for raw in (f.readline(1 << 24) for _ in range(50)):
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(raw)
                for name in ("sessionId", "cwd", "agentId"):
                    if isinstance(line, dict) and isinstance(line.get(name), str) and line[name]:
                        found.setdefault(name, checks.safe(line[name]))
            if "sessionId" in found and "cwd" in found:
                break
    return found


def last_session(file: Path) -> str:
    """The session that the last lines are of."""
    with open(file, "rb") as f:
        size = f.seek(0, os.SEEK_END)
        f.seek(max(0, size - TAIL))
        lines = f.read().split(b"\n")
    for raw in reversed(lines[1 if size > TAIL else 0 :]):
        with contextlib.suppress(ValueError, RecursionError):
            line = json.loads(raw)
            if isinstance(line, dict) and isinstance(line.get("sessionId"), str):
                return str(checks.safe(line["sessionId"]))
    return ""


def is_foreign(file: Path) -> bool:
    """Whether a file has lines, and none of the first is what a transcript is made of. A damaged one is brought in as it is."""
    written = 0
    with open(file, "rb") as f:
        for raw in (f.readline(1 << 24) for _ in range(200)):
            written += bool(raw.strip())
            with contextlib.suppress(ValueError, RecursionError):
                if isinstance(json.loads(raw), dict):
                    return False
    return written > 0


def is_something_else(file: Path) -> bool:
    """Whether a file that was found, not named, is of another program: a tool may leave its rows in the same folders. By
    Claude Code's own names a damaged transcript is known too."""
    if SESSION.fullmatch(file.stem) or file.stem.startswith("agent-"):
        return False
    with open(file, "rb") as f:
        for raw in (f.readline(1 << 20) for _ in range(50)):
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(raw)
                if isinstance(line, dict) and ("sessionId" in line or str(line.get("type")) in SAID_OR_NOTED):
                    return False
    return True


@functools.lru_cache(1)
def lines_before(file: Path, offset: int) -> int:
    """How many lines end before an offset: a file is read on from where it was left, and people count from its beginning."""
    with open(file, "rb") as f:
        return sum(f.read(min(1 << 20, offset - at)).count(b"\n") for at in range(0, offset, 1 << 20))


def lines_of(file: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    """Complete lines from an offset on, each with where it ends. The last one may still be on its way: it counts when it is
    complete JSON."""
    with open(file, "rb") as f:
        f.seek(offset)
        for raw in f:
            offset += len(raw)
            if not raw.endswith(b"\n"):
                try:
                    json.loads(raw)
                except (ValueError, RecursionError):
                    return
            yield raw, offset
