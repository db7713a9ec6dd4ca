"""Lines of an archive as they are stored: redacted, and in the order of the columns.

The gate is the same that every verb writes through. It is run here and not by the verbs themselves because an archive has
what a verb makes: numbers, changes, what was cut short. Ids stand for themselves, so a secret in one is refused.
"""

from __future__ import annotations

import json

from .. import checks, items
from ..edits import HAND
from ..errors import BadLine, InvalidInput
from ..memories import ACTIVE
from ..model import ROLES, SENSITIVE
from .signed import UNSIGNED

IMPORTED = "import"
"""Who did what an archive says that this store did not sign."""
QUARANTINED = "quarantined"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..redact import Gate
    from .lines import Line


def id_of(value: str | None, what: str, gate: Gate, number: int) -> str | None:
    if value is None:
        return None
    family = gate.names_a_secret(value)
    if family:
        raise BadLine(f"the {what} holds a secret ({family}). Ids are kept and shown as they are.", number)
    return value


def conversation(line: Line, gate: Gate, number: int) -> dict[str, Any]:
    """The columns of a conversation that are texts."""
    gate = gate.another()
    for what in ("id", "workflow_id"):
        id_of(line[what], f"conversation's {what}", gate, number)
    for branch in line["branches"]:
        id_of(branch["name"], "branch's name", gate, number)
    return {
        "title": None if line["title"] is None else gate.text(line["title"]),
        "workspace": gate.optional(line["workspace"]),
        "metadata": checks.payload(gate.value(line["metadata"]), "metadata") or "{}",
    }


def event(line: Line, gate: Gate, number: int) -> tuple[Any, ...]:
    """The columns of an event from `kind` to `created_at`."""
    gate = gate.another()
    tags = line["tags"] or []
    checks.fits(gate.most, f"Line {number:,}: the event", line["text"], line["payload"], tags)
    if line["kind"] == "message" and line["role"] not in ROLES and "damaged" not in tags:
        raise BadLine(f"a message needs a role: one of {', '.join(ROLES)}; not {line['role']!r}.", number)
    text = gate.text(line["text"] or "")
    role, name, tool, path, agent, status, model = (
        gate.optional(line[what]) for what in ("role", "name", "tool", "path", "agent", "status", "model")
    )
    task, key = (None if line[what] is None else checks.safe_key(line[what], gate) for what in ("task_id", "key"))
    payload = None if line["payload"] is None else checks.payload(gate.value(line["payload"]))
    safe = [gate.text(tag) for tag in tags]
    stored = checks.tags([*safe, SENSITIVE] if gate.families else safe)
    return (
        line["kind"], role, text, name, tool, path, agent, status, task, line["message"], stored, payload, model,
        line["input_tokens"], line["output_tokens"], line["cost"], line["duration_ms"], key, line["created_at"],
    )  # fmt: skip


def memory(line: Line, gate: Gate, number: int) -> dict[str, Any]:
    gate = gate.another()
    id_of(line["id"], "memory's id", gate, number)
    checks.fits(gate.most, f"Line {number:,}: the memory", line["content"])
    content = checks.line(line["content"], gate)
    if not content:
        raise BadLine("a memory's content must not be empty.", number)
    return {"content": content, "workspace": gate.optional(line["workspace"]), "sensitive": bool(gate.families)}


def change(line: Line, gate: Gate, number: int, sensitive: bool, is_trusted: bool) -> dict[str, Any]:
    """What of a change is text or needs no other table. What nobody vouches for waits to be reviewed, is nobody's by hand, and
    has neither a pin nor a tag that only a person gives."""
    gate = gate.another()
    if not is_trusted:
        line = {
            **line, "state": QUARANTINED if line["state"] == ACTIVE else line["state"], "by_hand": None, "pinned_at": None,
            "role": None, "extractor": IMPORTED if line["extractor"] == HAND else line["extractor"], "who": IMPORTED,
            "why": UNSIGNED, "tags": checks.unreserved(line["tags"] or ()),
        }  # fmt: skip
    said = {
        what: gate.optional(line[what]) for what in ("action", "wording", "flag", "source", "role", "extractor", "who", "why")
    }  # fmt: skip
    for what in ("replaced_by", "conflicts_with"):
        said[what] = id_of(line[what], f"{what} of a change", gate, number)
    said["checkpoint"] = None if line["checkpoint"] is None else checks.safe_key(line["checkpoint"], gate)
    tags = [gate.text(tag) for tag in line["tags"] or ()]
    seqs = line["source_seqs"]
    return {
        **said,
        "tags": checks.tags([*tags, SENSITIVE] if gate.families or sensitive else tags),
        "source_seqs": None if seqs is None else ",".join(map(str, seqs)),
        **{
            what: line[what]
            for what in (
                "state", "kind", "importance", "pinned_at", "by_hand", "valid_from", "valid_to", "expires_at", "seq", "at",
                "undone_at",
            )
        },
    }  # fmt: skip


def item(line: Line, gate: Gate, number: int) -> dict[str, Any]:
    gate = gate.another()
    checks.fits(gate.most, f"Line {number:,}: the item", line["value"], line["value_text"])
    if (line["value"] is None) == (line["value_text"] is None):
        raise BadLine("an item needs a value, or a value_text.", number)
    for label in line["namespace"]:
        if not label or "." in label:
            raise BadLine("a label of a namespace must not be empty or hold a full stop.", number)
    try:
        value: Any = json.loads(line["value_text"]) if line["value"] is None else line["value"]
        if not isinstance(value, dict):
            raise InvalidInput("the value must be an object.")
        stored = items.dump(gate.value(value))
    except (ValueError, RecursionError) as e:
        raise BadLine(f"the value of the item cannot be read ({e}).", number) from None
    source = None if line["source"] is None else json.dumps(gate.value(line["source"]))
    return {
        "namespace": items.path([checks.safe_key(label, gate) for label in line["namespace"]]),
        "key": checks.safe_key(line["key"], gate) if line["key"] else "",
        "value": stored,
        "source": source,
        "texts": [items.Text(gate.text(text)) for text in line["texts"] or ()],
    }


def secret_in(line: Line, gate: Gate) -> str | None:
    """The family of a secret in a piece of a graph's state, whose texts stand in it as they are."""
    gate = gate.another()
    data = line.get("data")
    text = json.dumps(line["state"], ensure_ascii=False) if data is None else bytes(data).decode("utf-8", "ignore")
    gate.text(text.replace("\0", " "))
    return gate.families[0] if gate.families else None
