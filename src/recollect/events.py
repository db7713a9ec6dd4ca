"""An event on its own: what it may say, made ready for the log, and the row it is kept in.

What a caller hands over is checked, redacted, serialised and hashed in the caller's thread (`prepare`), so that the writer,
on which everyone waits, only fills in its place. A stored event is a row (`COLUMNS`) with a checksum over what it says and
where it stands; `load` makes an `Event` of it again. Where an event stands, and what comes before it, is the log's: `log.py`.
"""

from __future__ import annotations

from zlib import crc32

from . import checks, ids
from .errors import Damaged, InvalidInput
from .light import loads
from .model import KINDS, MAIN, ROLES, SENSITIVE, Event, Reasoning
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import PurePath
    from typing import Any

    from .conversations import Found
    from .db import Row, Tx
    from .redact import Gate
    from .search.index import Terms

    Draft = tuple[Event, int, Terms | None, tuple[Any, ...] | None, Any]
    """An event on its way to the log: checked and serialised, without a number yet. (event, the CRC of what it says, what it
    is indexed under, the columns of its row from `kind` to `created_at`, the draft of its reasoning.) The event is laid
    out in the caller's thread, so that the writer, on which everyone waits, only fills in its place. The columns are None
    for a message with a role and a text and nothing else."""

SNIPPET_CHARACTERS = 400
DIFF_LINES = 200
LAST_MOMENT = 253_402_300_799_999  # the end of the year 9999
DIFF_CHARACTERS = 20_000

_NO_TAGS: tuple[str, ...] = ()
COLUMNS = (
    "seq, kind, role, text, name, tool, path, agent, status, task_id, message, tags, payload, model, input_tokens,"
    " output_tokens, cost, duration_ms, key, branch_no, created_at, checksum"
)
INSERT = (
    "insert into events (id, user_no, conversation_no, branch_no, seq, kind, role, text, name, tool, path, agent, status,"
    " task_id, message, tags, payload, model, input_tokens, output_tokens, cost, duration_ms, key, created_at, checksum)"
    " values (:id, :user_no, :conversation_no, :branch_no, :seq, :kind, :role, :text, :name, :tool, :path, :agent, :status,"
    " :task_id, :message, :tags, :payload, :model, :input_tokens, :output_tokens, :cost, :duration_ms, :key, :created_at,"
    " :checksum)"
)
# Most of what is ever appended is a role and a text: nine values to bind instead of twenty-five.
INSERT_PLAIN = (
    "insert into events (user_no, conversation_no, branch_no, id, seq, kind, role, text, created_at, checksum)"
    " values (:user_no, :conversation_no, :branch_no, :id, :seq, 'message', :role, :text, :created_at, :checksum)"
)
FEW = 50  # so many at most wait for what others append
LONG = 1 << 20  # characters from which on it does not pay to take the short way
SHORT = 100_000  # characters that are written in a millisecond or two


def frozen(values: dict[str, Any]) -> Event:
    """An event without its own __init__, which takes as long as the insert itself."""
    event = object.__new__(Event)
    event.__dict__.update(values)
    return event


def prepare(
    *,
    gate: Gate,
    kind: str = "message",
    role: str | None = None,
    text: str = "",
    name: str | None = None,
    tool: str | None = None,
    path: str | None = None,
    agent: str | None = None,
    status: str | None = None,
    task_id: str | None = None,
    goal: str | None = None,
    message: int | None = None,
    tags: Sequence[str] | None = _NO_TAGS,
    payload: Mapping[str, Any] | None = None,
    model: str | None = None,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cost: float | None = None,
    duration_ms: int | None = None,
    key: str | None = None,
    created_at: int | None = None,
    reasoning: str | Reasoning | None = None,
    diff: str | None = None,
    effort: str | None = None,
    verbosity: str | None = None,
) -> Draft:
    """Check, redact and serialise what `append` was given. Runs in the caller's thread; touches no database."""
    if kind not in KINDS:
        raise InvalidInput(f"There is no kind {kind!r}. The kinds are: {', '.join(KINDS)}.")
    if gate.most is not None:
        thought = reasoning.text if isinstance(reasoning, Reasoning) else reasoning
        checks.fits(gate.most, "The event", text, goal, diff, thought, tool, path, name, tags)
    kind = checks.text(kind, "kind")
    role = checks.optional(role, "role")
    if kind == "message" and role not in ROLES:
        raise InvalidInput(f"A message needs a role: one of {', '.join(ROLES)}; not {role!r}.")
    if goal is not None:
        if kind != "ledger":
            raise InvalidInput("goal= belongs to kind='ledger'.")
        text = goal
    asked = {k: checks.text(v, k) for k, v in (("effort", effort), ("verbosity", verbosity)) if v is not None}
    if asked:
        if kind != "reasoning":
            raise InvalidInput("effort= and verbosity= belong to a trace: to kind='reasoning', or to Reasoning(...).")
        for name, value in asked.items():
            if (payload or {}).get(name, value) != value:
                raise InvalidInput(
                    f"{name}= and the payload (metadata) both say {name!r}, and not the same: leave one of them out."
                )
        payload = {**(payload or {}), **asked}
    if diff is not None:
        # Redacted before it is cut: half a secret is no longer known for one.
        payload = {**(payload or {}), "diff": _cut_lines(gate.text(checks.text(diff, "diff")))}
    text = gate.text(checks.text(text, "text"))
    role, name = gate.optional(role), gate.optional(checks.optional(name, "name"))
    tool, path = gate.optional(checks.optional(tool, "tool")), gate.optional(checks.optional(path, "path"))
    agent, status = gate.optional(checks.optional(agent, "agent")), gate.optional(checks.optional(status, "status"))
    task_id, model = checks.optional(task_id, "task_id"), gate.optional(checks.optional(model, "model"))
    if kind == "ledger" and not task_id:
        raise InvalidInput("A ledger snapshot needs task_id=.")
    if task_id:
        task_id = checks.safe_key(task_id, gate)
    if kind == "event" and not name:
        raise InvalidInput("An event of kind 'event' needs name=, for example 'workflow.start'.")
    if kind == "artifact":
        if not path:
            raise InvalidInput("An artifact needs path=.")
        text = _cut(text)
    if key is not None:
        key = checks.safe_key(ids.check(key, "key"), gate)
    message = _count(message, "message")
    input_tokens, output_tokens = _count(input_tokens, "input_tokens"), _count(output_tokens, "output_tokens")
    duration_ms, created_at = _count(duration_ms, "duration_ms"), _count(created_at, "created_at")
    if created_at is not None and created_at > LAST_MOMENT:
        raise InvalidInput(f"created_at={created_at} lies after the year 9999; it is in milliseconds since 1970.")
    if cost is not None:
        if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < float("inf"):
            raise InvalidInput(f"cost must be a number from 0 on, not {cost!r}.")
        cost = float(cost) + 0.0  # minus zero is stored as zero
    stored_payload = None
    if payload is not None:
        stored_payload = checks.payload(payload)
        checks.fits(gate.most, "The event", text, stored_payload)
        if stored_payload is not None and (clean := gate.value(payload)) is not payload:
            stored_payload = checks.payload(clean)
    tags = checks.several_tags(tags)
    stored_tags = checks.tags(tags) if tags else None
    if stored_tags is not None or gate.families:
        safe = [gate.text(tag) for tag in tags]
        stored_tags = checks.tags([*safe, SENSITIVE] if gate.families else safe)
    if created_at is None:
        created_at = ids.now()
    columns = (
        kind, role, text, name, tool, path, agent, status, task_id, message, stored_tags, stored_payload, model,
        input_tokens, output_tokens, cost, duration_ms, key, created_at,
    )  # fmt: skip
    values = _values((0, *columns, 0, 0), _json(stored_tags, ()), _json(stored_payload, {}))
    values["created_at"] = created_at
    trace = None
    if reasoning is not None:
        if kind != "message":
            raise InvalidInput("reasoning= belongs to a message; write a trace of its own with kind='reasoning'.")
        r = reasoning if isinstance(reasoning, Reasoning) else Reasoning(checks.text(reasoning, "reasoning"))
        own = gate.another()
        own.families += gate.families  # thoughts about what had a secret in it
        trace = prepare(
            gate=own, kind="reasoning", role="assistant", text=r.text, agent=agent, payload=r.metadata or {},
            effort=r.effort, verbosity=r.verbosity, model=r.model or model,
            input_tokens=r.input_tokens, output_tokens=r.output_tokens, duration_ms=r.duration_ms, created_at=created_at,
        )  # fmt: skip
    return frozen(values), content_crc(columns), terms(columns), columns, trace


def _json(stored: str | None, empty: Any) -> Any:
    return empty if stored is None else loads(stored)


def _count(value: int | None, what: str) -> int | None:
    return None if value is None else checks.count(value, what)


def terms(columns: Sequence[Any], spans: Sequence[tuple[int, int]] | None = None) -> Terms | None:
    """What an event is indexed under, from its columns; `spans` as `index.event_terms` has them."""
    return index.event_terms(
        columns[0], columns[2], columns[18], columns[3], columns[4], columns[5], columns[10], spans
    )


def content_crc(columns: Sequence[Any]) -> int:
    """A CRC of what an event says, from `kind` to `created_at`, without the number it refers to (`message`), which is
    known only when it is written. It is there to find damage, not forgery: 0.2 us, where a cryptographic hash takes 1.
    NUL is in no stored text, so the join is unambiguous."""
    return crc32("\0".join(map(str, (*columns[:9], *columns[10:19]))).encode())


def checksum(content: int, conversation: int, branch: int, seq: int, message: int | None) -> int:
    """The CRC that is stored: of the content and of its place in the log."""
    return crc32(b"%d:%d:%d:%d" % (conversation, branch, seq, message or 0), content)


def _values(row: Row, tags: Sequence[str], payload: Mapping[str, Any]) -> dict[str, Any]:
    """What an Event holds, from a row as `COLUMNS` selects it; conversation, branch and traces are filled in later."""
    return {
        "conversation_id": "", "seq": row[0], "kind": row[1], "role": row[2], "text": row[3], "name": row[4],
        "tool": row[5], "path": row[6], "agent": row[7], "status": row[8], "task_id": row[9], "message": row[10],
        "tags": tuple(tags), "payload": payload, "model": row[13], "input_tokens": row[14], "output_tokens": row[15],
        "cost": row[16], "duration_ms": row[17], "key": row[18], "branch": "", "created_at": row[20], "traces": (),
    }  # fmt: skip


_PLAIN = _values((0, "message", None, "", *(None,) * 15, 0, 0), (), {})
# The CRC of what stands before a plain message's text, and what stands between its text and its time.
_BEFORE = {role: crc32(f"message\0{role}\0".encode()) for role in ROLES}
_BETWEEN = "\0None" * 14 + "\0"


def prepare_all(
    conversation: str, entries: Sequence[Mapping[str, Any]], gate: Gate, one: Callable[[Any], Draft]
) -> list[Draft]:
    """`one(entry)`, which calls `prepare`, for each entry. One that is a role and a text, as most are, is made ready here in
    a tenth of the time, unless it may hold a secret or something is wrong with it."""
    now = ids.now()
    tail = f"{_BETWEEN}{now}".encode()
    common = {**_PLAIN, "conversation_id": conversation, "branch": MAIN, "created_at": now}
    new = object.__new__
    drafts: list[Draft] = []
    short = LONG if gate.most is None else min(LONG, gate.most // 4)
    for entry in entries:
        try:
            role, text = entry["role"], entry["text"]
            if len(entry) != 2 or type(role) is not str or type(text) is not str or len(text) > short or "\0" in text:
                raise KeyError
            crc = crc32(text.encode() + tail, _BEFORE[role])
        except (KeyError, UnicodeEncodeError):
            drafts.append(one(entry))
            continue
        event = new(Event)  # as `frozen` makes it
        values = event.__dict__
        values.update(common)
        values["role"] = role
        values["text"] = text
        values["payload"] = {}
        drafts.append((event, crc, index.event_terms("message", text, now), None, None))
    if gate.is_on:
        for n in gate.loud(["" if draft[3] else draft[0].text for draft in drafts]):
            drafts[n] = one(entries[n])
    return drafts


def _cut(snippet: str) -> str:
    if len(snippet) <= SNIPPET_CHARACTERS:
        return snippet
    return f"{snippet[:SNIPPET_CHARACTERS]}\n[cut: {len(snippet) - SNIPPET_CHARACTERS:,} more characters]"


def _cut_lines(diff: str) -> str:
    lines = diff.splitlines()
    kept = diff if len(lines) <= DIFF_LINES else "\n".join(lines[:DIFF_LINES])
    if len(kept) > DIFF_CHARACTERS:  # few lines may be endless ones
        return f"{kept[:DIFF_CHARACTERS]}\n[cut: {len(diff) - DIFF_CHARACTERS:,} more characters]"
    return kept if kept is diff else f"{kept}\n[cut: {len(lines) - DIFF_LINES:,} more lines]"


def relative_path(path: str, workspace: str | None, *, outside_is_fine: bool) -> str:
    """An artifact's path as it is kept: relative to the workspace. Purely by name: the file may be gone by now."""
    if workspace is None:
        return path
    from pathlib import PurePosixPath, PureWindowsPath

    flavour: type[PurePath] = PureWindowsPath if "\\" in workspace or workspace[1:2] == ":" else PurePosixPath
    root = flavour(workspace)
    parts: list[str] = []
    for part in (root / path).parts:
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != ".." and parts[-1] != root.anchor:
            parts.pop()
        elif not root.anchor:
            parts.append(part)
    inside = flavour(*parts)
    if inside.is_relative_to(root):
        return inside.relative_to(root).as_posix()
    if outside_is_fine:
        return str(inside)
    raise InvalidInput(
        f"The artifact {path!r} lies outside the workspace {workspace!r}. "
        "Set artifacts_outside_workspace if such pointers are wanted."
    )


def is_brief(drafts: Sequence[Draft]) -> bool:
    """Whether they are few and short, so that others may wait for them to be written."""
    if len(drafts) > FEW:
        return False
    length = 0
    for event, _, _, columns, trace in drafts:
        length += len(event.text)
        if columns is not None:  # else it is a role and a text
            length += len(columns[11] or "") + (0 if trace is None else len(trace[0].text))
    return length <= SHORT


def replacing(draft: Draft, seq: int) -> Draft:
    """The same event in the place of another: `messages` shows it where that one stood."""
    event, crc, found_by, columns, trace = draft
    if columns is None:
        columns = (event.kind, event.role, event.text, *(None,) * 15, event.created_at)
    twin = frozen({**event.__dict__, "message": seq})
    return twin, crc, found_by, (*columns[:9], seq, *columns[10:]), trace


def unstored(conversation: str, branch: str, event: Event) -> Event:
    """What `append` answers for a kind that is switched off: the event, without a number."""
    event.__dict__.update(conversation_id=conversation, branch=branch, seq=0)
    return event


# -- stored


def load(conversation: str, row: Row, names: Mapping[int, str]) -> Event:
    try:
        tags, payload = _json(row[11], ()), _json(row[12], {})
    except ValueError as e:
        raise Damaged(
            f"Event {row[0]} of conversation {conversation!r} does not read back as it was written ({e}). "
            "Run `recollect doctor`."
        ) from None
    values = _values(row, tags, payload)
    values["conversation_id"] = conversation
    values["branch"] = names[row[19]]
    return frozen(values)


def loaded(conversation: str, row: Row, branch: str) -> Event:
    """An event from its row (`COLUMNS`), where its conversation and branch are known by name."""
    return load(conversation, row, {row[19]: branch})


def entries(found: Found, rows: Iterable[Row]) -> list[Row]:
    """What stored events (id, then `COLUMNS`) are to be indexed under: for `index.add`."""
    made = []
    for row in rows:
        found_by = terms((*row[2:20], row[21]))  # without the branch, which stands before the time
        if found_by is not None:
            made.append(index.entry(row[0], found.no, found.workspace, found_by))
    return made


def indexed(tx: Tx, found: Found, rows: Sequence[Row]) -> list[Row]:
    """What stored events are in the index under, passages with the ids that they have there: for `index.remove`."""
    there: list[Row] = []
    spans = index.spans(tx, [row[0] for row in rows if len(row[4]) > index.LONG])
    for row in rows:
        parts = spans.get(row[0], ())
        found_by = terms((*row[2:20], row[21]), [(start, length) for _, start, length in parts])
        if found_by is not None:
            entry = index.entry(row[0], found.no, found.workspace, found_by)
            there.append(entry[:3])
            there += [(id, said, entry[2]) for (id, _, _), (_, _, said) in zip(parts, *entry[3:], strict=False)][1:]
    return there
