"""What Claude Code says, in our words: its hooks' payloads and its transcripts' lines, turned into entries of a log.

Hooks tell of a session while it happens, a transcript tells of it afterwards, and both may be brought into one
conversation. So whatever both name has the same key here: a tool call is known by its `tool_use_id`, a line by its
`uuid`. This module touches no database, and imports nothing that a hook, one process an event, would feel.
"""

from __future__ import annotations

import os
from zlib import crc32

from .model import SENSITIVE
from .search import fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .model import Entry
    from .redact import Gate
    from .store import Store

NAME = "claude-code"
OUTPUT = 2_000
"""Characters that a hook keeps of the beginning of what a tool said, and as many of its end, where the error is; the
transcript has the whole."""
INPUT = 4_000
"""Characters of each text in a tool's input that a hook keeps."""
SHOWN = 400
"""Characters of a file's content that stand for it."""
PIECE = 180
"""Characters of a new file's beginning, and as many of its end, in its artifact: with the remark on what is missing between them,
they fit into the 400 that an artifact has."""
FORKED = "forked_from"
"""What a conversation's metadata says of a session that was forked (`--fork-session`): the id of the other one."""
BEYOND = 4_096
"""Characters behind a cut in which a secret that begins before it is looked for to its end."""
LONGEST_KEY = 65_536
NEAR = 512
"""Characters behind a cut that must be quiet too, or the search is loaded, which takes as long as all the rest of a hook:
what begins before the cut is announced in these if anywhere."""
INJECTED = "claude-code.injected"
"""The name of an event that holds what the program said in its user's place."""
WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")


# -- names


def conversation_id(session: str) -> str:
    """A session's id is the conversation's. One that no id of ours can be becomes a hash of it."""
    if session and len(session) <= 200 and session.isascii() and session.isprintable() and not session.isspace():
        return session
    return f"{NAME}-{_hash(session)}"


def use_key(id: str) -> str:
    return f"{_short(id)}:use"


def result_key(id: str) -> str:
    return f"{_short(id)}:result"


def _short(id: str) -> str:
    return id if id and len(id) <= 200 and id.isascii() and id.isprintable() and not id.isspace() else _hash(id)


def _hash(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def mark(*parts: object) -> str:
    """A short name for what has none: the same parts, the same name."""
    joined = "\0".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return f"{crc32(joined):08x}{crc32(joined[::-1]):08x}"


def spoken_key(kind: str, said: str, turn: object) -> str:
    """The key of something said whose line is not known yet (`p` for a prompt, `a` for an answer). Short, and of letters
    alone: a key that looks like no secret is not searched for one, which takes longer than to write it down."""
    return f"{kind}:{mark(turn, said)[2:14].translate(_LETTERS)}"


_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


# -- places


def workspace(folder: str) -> str:
    """The workspace that a folder belongs to: the git top level around it, else the folder itself, links resolved. Whoever
    keeps the home folder itself in git does not have one workspace of everything below."""
    if not os.path.isabs(folder):
        return folder  # a path of another system, in a transcript that was brought here
    folder = os.path.realpath(folder)
    home = os.path.realpath(os.path.expanduser("~"))
    at = folder
    while True:
        if at != home and os.path.exists(os.path.join(at, ".git")):
            return at
        above = os.path.dirname(at)
        if above == at or at == home:
            return folder
        at = above


def place(path: str, root: str | None, cwd: str | None = None) -> str:
    """A file's path as it is kept: relative to the workspace inside of it, in full outside."""
    if root is None or not os.path.isabs(root):
        return path
    full = path if os.path.isabs(path) else os.path.join(cwd or root, path)
    if not os.path.isabs(full):
        return path
    try:
        full = os.path.realpath(full)
    except ValueError:
        return path  # a name that no file has
    return os.path.relpath(full, root) if full.startswith(root.rstrip(os.sep) + os.sep) else full


# -- tools


def path_of(given: Any) -> str | None:
    if isinstance(given, dict):
        for name in ("file_path", "notebook_path", "path", "filePath"):
            value = given.get(name)
            if isinstance(value, str) and value and len(value) <= 4_096:
                return value
    return None


def told(tool: str, given: Any, gate: Gate) -> str:
    """What a tool was asked, for people to read and to be found by."""
    if not isinstance(given, dict):
        return cut(_json(given), OUTPUT, gate) if given else ""
    parts = [given.get(name) for name in ("command", "query", "pattern", "url", "skill", "description", "subject")]
    if tool in WRITERS:
        parts += [cut(new, SHOWN, gate) for new in _written(given)]
    else:
        parts.append(given.get("prompt"))
    said = [part for part in parts if isinstance(part, str) and part]
    if not said and tool.startswith("mcp__"):
        return cut(_json(given), OUTPUT, gate)
    return "\n".join(dict.fromkeys(said))


def _written(given: Any) -> list[str]:
    """The texts that a tool that writes was given."""
    if not isinstance(given, dict):
        return []
    edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
    texts = [e.get("content", e.get("new_string", e.get("new_source"))) for e in edits if isinstance(e, dict)]
    return [text for text in texts if isinstance(text, str)]


def answered(response: Any) -> str:
    """The text in what a tool gave back."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return "\n".join(filter(None, map(answered, response)))
    if not isinstance(response, dict):
        return ""
    if isinstance(response.get("file"), dict):
        response = response["file"]
    found = [response.get(name) for name in ("text", "stdout", "stderr", "content", "result", "error", "message")]
    said = "\n".join(filter(None, map(answered, [part for part in found if isinstance(part, (str, list))])))
    return said or "\n".join(_row(one) for part in response.values() if isinstance(part, list) for one in part)


def _row(one: Any) -> str:
    """One of a list that a tool gave back: a file's name, or a task with its state."""
    if not isinstance(one, dict):
        return one if isinstance(one, str) else ""
    short = [v for k, v in one.items() if k != "type" and (isinstance(v, str) or type(v) is int)]
    return answered(one) or " ".join(str(v)[:200] for v in short)


def difference(tool: str, given: Any, response: Any) -> str | None:
    """What an edit changed, as a diff: the patch that Claude Code made, else the two texts."""
    hunks = response.get("structuredPatch") if isinstance(response, dict) else None
    lines: list[str] = []
    if isinstance(hunks, list):
        for hunk in hunks:
            if isinstance(hunk, dict) and isinstance(hunk.get("lines"), list):
                old, new = hunk.get("oldStart", 0), hunk.get("newStart", 0)
                lines.append(f"@@ -{old},{hunk.get('oldLines', 0)} +{new},{hunk.get('newLines', 0)} @@")
                lines += [str(line) for line in hunk["lines"]]
    if not lines and tool in WRITERS and isinstance(given, dict):
        edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
        for edit in edits:
            if isinstance(edit, dict) and isinstance(edit.get("new_string"), str):
                lines += [f"-{line}" for line in str(edit.get("old_string") or "").splitlines()]
                lines += [f"+{line}" for line in edit["new_string"].splitlines()]
    return "\n".join(lines) or None


def trimmed(value: Any, gate: Gate, most: int = INPUT, depth: int = 0) -> Any:
    """A value with its long texts cut and its long lists ended: what a hook keeps of a tool's input and answer."""
    if isinstance(value, str):
        return cut(value, most, gate)
    if isinstance(value, dict):
        few = list(value.items())[:50]
        return {clip(str(k), 200, gate): trimmed(v, gate, most, depth + 1) for k, v in few} if depth < 6 else "…"
    if isinstance(value, (list, tuple)):
        return [trimmed(v, gate, most, depth + 1) for v in value[:50]] if depth < 6 else "…"
    return value


def cut(text: str, most: int, gate: Gate) -> str:
    """The beginning of a text, and how much more there was."""
    if len(text) <= most:
        return text
    return f"{clip(text, most, gate)}\n[cut: {len(text) - most:,} more characters]"


def cut_middle(text: str, most: int, gate: Gate) -> str:
    """The beginning of a text and its end, and how much there was between them."""
    if len(text) <= 2 * most:
        return text
    between = f"\n[cut: {len(text) - 2 * most:,} more characters]\n"
    return f"{clip(text, most, gate)}{between}{clip_end(text, most, gate)}"


def clip_end(text: str, most: int, gate: Gate) -> str:
    """The end of a long text, in which no secret is divided; as `clip`, with a stretch before the cut."""
    first = len(text) - most
    if gate.is_quiet(text[first - NEAR :]):
        return text[first:]
    near = max(0, first - BEYOND)
    if (key := text.rfind("-----BEGIN", max(0, first - LONGEST_KEY), first)) >= 0:
        near = min(near, key)
    from .redact import redact

    pieces: list[str] = []
    at = first
    for family, start, end in redact(text[near:], gate.policy()).findings:
        if near + end > first:
            pieces += (text[at : max(at, near + start)], f"[redacted:{family}]")
            gate.families.append(family)
            at = near + end
    return "".join([*pieces, text[at:]])


def clip(text: str, most: int, gate: Gate) -> str:
    """The beginning of a text, in which no secret is divided: half of one is no longer known for one, so what is cut is
    searched first, a stretch beyond the cut too. What is short is left to `append`, which searches all that is written.
    The gate remembers what was replaced."""
    if len(text) <= most:
        return text
    if gate.is_quiet(text[: most + NEAR]):
        return text[:most]
    far = most + BEYOND
    if (key := text.rfind("-----BEGIN", 0, most)) >= 0:  # a private key may be longer, and is known by its last line
        far = max(far, text.find("-----END", key, key + LONGEST_KEY) + 80)
    from .redact import redact

    pieces: list[str] = []
    at = 0
    for family, start, end in redact(text[:far], gate.policy()).findings:
        if start >= most:
            break
        pieces += (text[at:start], f"[redacted:{family}]")
        gate.families.append(family)
        at = end
    return "".join([*pieces, text[at:most]])


def _tagged(entry: Entry, gate: Gate) -> Entry:
    """`append` finds nothing any more in what was replaced here, so it is said that there was something."""
    if gate.families:
        entry["tags"] = [SENSITIVE]
    return entry


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


# -- the task list


def tasks(tool: str, id: str, given: Any, response: Any, agent: str | None) -> list[Entry]:
    """What a change of the agent's task list means for the ledger: one snapshot for each task that changed. A task that is
    only updated has no `goal` here; whoever records it knows the one it had."""
    own = f"{agent}/" if agent else ""
    given = given if isinstance(given, dict) else {}
    response = response if isinstance(response, dict) else {}
    found: list[Entry] = []

    def snapshot(task: str, status: object, goal: object = None) -> None:
        entry: Entry = {
            "kind": "ledger", "task_id": f"{own}{task}"[:200], "status": str(status or "pending"),
            "key": f"{_short(id)}:task:{mark(task, status, goal)}",
        }  # fmt: skip
        if isinstance(goal, str) and goal:
            entry["goal"] = goal
        if agent:
            entry["agent"] = agent
        found.append(entry)

    if tool == "TodoWrite" and (
        "newTodos" in response or "oldTodos" in response
    ):  # else it failed, and changed nothing
        old, new = _todos(response.get("oldTodos")), _todos(response.get("newTodos", given.get("todos")))
        for task, (status, goal) in new.items():
            if task not in old or old[task][0] != status:
                snapshot(task, status, goal)
        for task, (_, goal) in old.items():
            if task not in new:
                # A list that is done is emptied: what was finished stays finished.
                if old[task][0] != "completed":
                    snapshot(task, "dropped", goal)
    elif tool == "TaskCreate":
        made = response.get("task")
        made = made if isinstance(made, dict) else {}
        number = made.get("id") or made.get("taskId")
        if number:
            snapshot(f"task-{number}", "pending", made.get("subject") or given.get("subject"))
    elif tool == "TaskUpdate" and response.get("success", bool(response)):
        number, now = given.get("taskId"), given.get("status")
        if number and now:
            snapshot(f"task-{number}", now, given.get("subject"))
    return found


def _todos(items: Any) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("content"), str) and item["content"]:
            goal: str = item["content"]
            found[f"todo-{mark(goal)[:8]}"] = str(item.get("status") or "pending"), goal
    return found


def is_ours(tool: str, given: Any) -> bool:
    """Whether a call asks us: by MCP, or by our command. What it asks and what we answer is on record already, and would be
    evidence for the next such question, louder each time."""
    if fence.is_own_tool(tool):
        return True
    command = given.get("command") if isinstance(given, dict) else None
    return isinstance(command, str) and command.split(None, 1)[:1] == ["recollect"]


# -- what a hook says


def used(payload: Mapping[str, Any], root: str | None, gate: Gate) -> Entry:
    """A tool is about to be used."""
    tool, given = _tool(payload, gate), payload.get("tool_input")
    id = payload.get("tool_use_id") or mark(tool, _json(given), position(payload))
    entry: Entry = {
        "kind": "tool_use", "tool": tool, "text": told(tool, given, gate), "key": use_key(str(id)),
        "payload": {"hook": "PreToolUse", "tool_use_id": id, "input": trimmed(given, gate), **_turn(payload)},
    }  # fmt: skip
    if is_ours(tool, given):
        entry["text"], entry["payload"] = "", {"hook": "PreToolUse", "tool_use_id": id, **_turn(payload)}
    return _placed(entry, payload, root, gate)


def gave(payload: Mapping[str, Any], root: str | None, gate: Gate) -> Entry:
    """A tool has been used, and this is what came of it; or it failed."""
    tool, given, response = _tool(payload, gate), payload.get("tool_input"), payload.get("tool_response")
    failed = payload.get("hook_event_name") == "PostToolUseFailure"
    id = payload.get("tool_use_id") or mark(tool, _json(given), position(payload))
    said = answered(payload.get("error")) if failed else answered(response)
    status = ("interrupted" if payload.get("is_interrupt") is True else "error") if failed else "ok"
    kept: dict[str, Any] = {
        "hook": str(payload.get("hook_event_name")), "tool_use_id": id, "characters": len(said), **_turn(payload)
    }  # fmt: skip
    if isinstance(given, dict) and isinstance(given.get("command"), str):
        kept["input"] = {"command": cut(given["command"], INPUT, gate)}  # what was run says what the answer means
    if isinstance(response, dict):
        facts = {
            k: v
            for k, v in response.items()
            if isinstance(v, (bool, int, float)) or (isinstance(v, str) and len(v) <= 200)
        }
        kept["response"] = trimmed(facts, gate, 200)
    entry: Entry = {
        "kind": "tool_result", "role": "tool", "tool": tool, "text": cut_middle(said, OUTPUT, gate), "status": status,
        "key": result_key(str(id)), "payload": kept,
    }  # fmt: skip
    if is_ours(tool, given) or fence.repeats(said):
        entry["text"] = ""
        entry["payload"] = {k: v for k, v in kept.items() if k not in ("input", "response")}
    took = payload.get("duration_ms")
    if isinstance(took, int) and not isinstance(took, bool) and 0 <= took < 1 << 40:  # what is odd costs itself alone
        entry["duration_ms"] = took
    changed = difference(tool, given, response)
    if changed:
        entry["diff"] = changed
        if not failed:
            entry["text"] = ""  # "The file has been updated" and a listing of it: the diff says more
    return _placed(entry, payload, root, gate)


def wrote(result: Entry, given: Any, gate: Gate) -> Entry | None:
    """What a tool that writes left behind, as an artifact of its own: where, and what changed; of a new file, which has no diff, how
    it begins and ends. None if it wrote nothing."""
    if result.get("tool") not in WRITERS or result.get("status") != "ok":
        return None
    path = result.get("path")
    if not path or os.path.isabs(path):  # outside of the workspace no artifact is taken
        return None
    entry: Entry = {
        "kind": "artifact", "tool": result["tool"], "path": path, "key": f"{result['key']}:artifact",
        "tags": result.get("tags"), "agent": result.get("agent"),
    }  # fmt: skip
    if result.get("diff"):
        entry["diff"] = result["diff"]
    elif written := "\n".join(_written(given)):
        entry["text"] = cut_middle(written, PIECE, gate)
        if gate.families:
            entry["tags"] = [SENSITIVE]
    return entry


def asked(payload: Mapping[str, Any], root: str | None, gate: Gate) -> Entry | None:
    """Somebody was asked for permission, or it was refused."""
    event = payload.get("hook_event_name")
    tool, given = _tool(payload, gate), payload.get("tool_input")
    if event == "Notification":
        if payload.get("notification_type") not in (None, "permission_prompt"):
            return None
        said = str(payload.get("message") or "")
        if payload.get("notification_type") is None and "permission" not in said:
            return None
        entry: Entry = {
            "kind": "approval", "status": "asked", "text": cut(said, OUTPUT, gate),
            "key": f"asked:{mark(said, position(payload))}", "payload": {"hook": "Notification", **_turn(payload)},
        }  # fmt: skip
        return _tagged(entry, gate)
    status = "denied" if event == "PermissionDenied" else "requested"
    id = payload.get("tool_use_id") or mark(tool, _json(given), position(payload))
    entry = {
        "kind": "approval", "tool": tool, "status": status, "text": told(tool, given, gate),
        "key": f"{_short(str(id))}:{status}", "payload": {"hook": str(event), "tool_use_id": id, **_turn(payload)},
    }  # fmt: skip
    if is_ours(tool, given):
        entry["text"] = ""
    if isinstance(reason := payload.get("reason"), str) and reason:
        entry["text"] = cut(reason, OUTPUT, gate)
    return _placed(entry, payload, root, gate)


def broke(payload: Mapping[str, Any], gate: Gate) -> Entry:
    """A turn ended by an error of the service."""
    kind = payload.get("error_type") or payload.get("error") or "unknown"
    said = answered(payload.get("error_details")) or answered(payload.get("last_assistant_message")) or str(kind)
    entry: Entry = {
        "kind": "error", "name": cut(str(kind), 100, gate), "status": "error", "text": cut(said, OUTPUT, gate),
        "key": f"broke:{mark(kind, said, position(payload))}", "payload": {"hook": "StopFailure", **_turn(payload)},
    }  # fmt: skip
    return _tagged(entry, gate)


def began(payload: Mapping[str, Any], gate: Gate) -> Entry:
    """The session begins, goes on, or ends."""
    event = str(payload.get("hook_event_name"))
    why = payload.get("source") or payload.get("reason") or payload.get("trigger") or ""
    facts = {
        k: payload[k]
        for k in ("source", "reason", "trigger", "model", "permission_mode", "agent_type")
        if payload.get(k)
    }
    if event == "PostCompact":
        said = str(payload.get("compact_summary") or "")
        summary: Entry = {
            "kind": "event", "name": "claude-code.compact-summary", "text": cut(said, INPUT, gate),
            "key": f"compacted:{mark(said)}", "payload": {"hook": event, **trimmed(facts, gate, 200)},
        }  # fmt: skip
        return _tagged(summary, gate)
    name = {"SessionStart": "session.start", "SessionEnd": "session.end", "PreCompact": "session.compact"}.get(
        event, event
    )
    entry: Entry = {
        "kind": "event", "name": name, "status": cut(str(why), 100, gate) or None, "payload": {"hook": event, **trimmed(facts, gate, 200)},
        "key": f"{name}:{mark(why, position(payload))}",
    }  # fmt: skip
    return _tagged(entry, gate)


def agent_ended(payload: Mapping[str, Any], gate: Gate) -> Entry | None:
    """An agent that the session started is done, and this was its answer; None for those that the program starts for itself."""
    agent, kind = payload.get("agent_id"), payload.get("agent_type")
    if not isinstance(agent, str) or not agent or not kind:
        return None
    said = answered(payload.get("last_assistant_message"))
    entry: Entry = {
        "kind": "event", "name": "agent.end", "agent": cut(agent, 100, gate), "status": cut(str(kind), 100, gate),
        "text": cut(said, OUTPUT, gate), "key": f"ended:{mark(agent, said)}", "payload": {"hook": "SubagentStop", **_turn(payload)},
    }  # fmt: skip
    return _tagged(entry, gate)


def parent_of(line: Mapping[str, Any], session: str) -> str | None:
    """The session that a line was copied from, when this one was forked from it."""
    parent = line.get("requestSessionId")
    return conversation_id(parent) if isinstance(parent, str) and parent and parent != session else None


def link(store: Store, session: str, parent: str | None) -> None:
    """Note at a session that was forked where it came from."""
    if parent is not None and parent != session and FORKED not in store.get(session).metadata:
        store.annotate(session, {FORKED: parent})


def position(payload: Mapping[str, Any]) -> int:
    """How long the transcript is just now: what tells two deliveries of one event from two events that look alike."""
    try:
        return os.stat(str(payload.get("transcript_path") or "")).st_size
    except (OSError, ValueError):
        return 0


def _tool(payload: Mapping[str, Any], gate: Gate) -> str:
    return cut(str(payload.get("tool_name") or "?"), 200, gate)


def _turn(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt_id": payload["prompt_id"]} if isinstance(payload.get("prompt_id"), str) else {}


def _placed(entry: Entry, payload: Mapping[str, Any], root: str | None, gate: Gate) -> Entry:
    path = path_of(payload.get("tool_input"))
    if path is not None:
        entry["path"] = place(path, root, payload.get("cwd") if isinstance(payload.get("cwd"), str) else None)
    agent = payload.get("agent_id")
    if isinstance(agent, str) and agent:
        entry["agent"] = cut(agent, 100, gate)
    return _tagged(entry, gate)
