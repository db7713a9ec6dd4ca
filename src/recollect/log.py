"""The log: a conversation is one ordered, append-only sequence of events, numbered 1, 2, 3, ... by one counter.

An event is prepared in the caller's thread (checked, serialised, hashed: `prepare`), then written by `append` in one
transaction together with the counter, the title and the work it causes. Nothing is ever changed in place; what is
deleted leaves a tombstone, so every number up to `last_seq` is accounted for. Reading walks the branch's lineage, one
index range per ancestor.
"""

from __future__ import annotations

from zlib import crc32

from . import branches, checks, conversations, erased, ids
from .branches import EVERY, NO_LIMIT
from .conversations import Found, find
from .errors import Damaged, InvalidInput
from .light import loads
from .model import KINDS, MAIN, ROLES, Branch, Event, LedgerEntry, Reasoning
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import PurePath
    from typing import Any

    from .branches import Lineage
    from .db import Row, Tx
    from .redact import Gate

    Terms = tuple[str, str]
    Draft = tuple[Event, int, Terms | None, tuple[Any, ...] | None, Any]
    """An event on its way to the log: checked and serialised, without a number yet. (event, the CRC of what it says, what it
    is indexed under, the columns of its row from `kind` to `created_at`, the draft of its reasoning.) The event is laid
    out in the caller's thread, so that the writer, on which everyone waits, only fills in its place. The columns are None
    for a message with a role and a text and nothing else."""

SENSITIVE = "sensitive"
"""The tag of what had a secret in it; such records stay out of contexts."""
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
SHORT = 100_000  # characters that are written in a millisecond or two


def _frozen(values: dict[str, Any]) -> Event:
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
    tags: Sequence[str] = _NO_TAGS,
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
) -> Draft:
    """Check, redact and serialise what `append` was given. Runs in the caller's thread; touches no database."""
    if kind not in KINDS:
        raise InvalidInput(f"There is no kind {kind!r}. The kinds are: {', '.join(KINDS)}.")
    kind = checks.text(kind, "kind")
    role = checks.optional(role, "role")
    if kind == "message" and role not in ROLES:
        raise InvalidInput(f"A message needs a role: one of {', '.join(ROLES)}; not {role!r}.")
    if goal is not None:
        if kind != "ledger":
            raise InvalidInput("goal= belongs to kind='ledger'.")
        text = goal
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
        task_id = safe_key(task_id, gate)
    if kind == "event" and not name:
        raise InvalidInput("An event of kind 'event' needs name=, for example 'workflow.start'.")
    if kind == "artifact":
        if not path:
            raise InvalidInput("An artifact needs path=.")
        text = _cut(text)
    if key is not None:
        key = safe_key(ids.check(key, "key"), gate)
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
        if stored_payload is not None and (clean := gate.value(payload)) is not payload:
            stored_payload = checks.payload(clean)
    tags = tags if isinstance(tags, str) else tuple(tags)  # read twice below
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
        extra = {k: v for k, v in (("effort", r.effort), ("verbosity", r.verbosity)) if v is not None}
        own = gate.another()
        own.families += gate.families  # thoughts about what had a secret in it
        trace = prepare(
            gate=own, kind="reasoning", role="assistant", text=r.text, agent=agent, payload=extra, model=r.model or model,
            input_tokens=r.input_tokens, output_tokens=r.output_tokens, duration_ms=r.duration_ms, created_at=created_at,
        )  # fmt: skip
    return _frozen(values), content_crc(columns), terms(columns), columns, trace


def safe_key(key: str, gate: Gate) -> str:
    """A key with a secret in it is kept as a hash: a marker would make two different keys one."""
    family = gate.names_a_secret(key)
    if family is None:
        return key
    gate.families.append(family)
    from hashlib import blake2b

    return "redacted:" + blake2b(key.encode(), digest_size=16).hexdigest()


def _json(stored: str | None, empty: Any) -> Any:
    return empty if stored is None else loads(stored)


def _count(value: int | None, what: str) -> int | None:
    return None if value is None else checks.count(value, what)


def terms(columns: Sequence[Any]) -> Terms | None:
    """What an event is indexed under, from its columns."""
    return index.event_terms(columns[0], columns[2], columns[18], columns[3], columns[4], columns[5], columns[10])


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
    for entry in entries:
        try:
            role, text = entry["role"], entry["text"]
            if len(entry) != 2 or type(role) is not str or type(text) is not str or "\0" in text:
                raise KeyError
            crc = crc32(text.encode() + tail, _BEFORE[role])
        except (KeyError, UnicodeEncodeError):
            drafts.append(one(entry))
            continue
        event = new(Event)  # as `_frozen` makes it
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


# -- writing


def append(
    tx: Tx, conversation: str | Found, drafts: Sequence[Draft], branch: str | Branch | None, *, outside: bool = False,
    strict: bool = False,
) -> tuple[Found, int, list[Event]]:  # fmt: skip
    """Write drafts at the end of a branch. Returns the conversation, the branch's number, and an event for each draft. The
    conversation is an id, or one that this transaction has found and locked. `outside`: index also those that name a path
    outside the workspace. `strict`: refuse a message in the place of what is no message here. (A graph goes on with its
    own state whatever was deleted from the log: it is not to fail for that.)"""
    found = find(tx, conversation, lock=True) if isinstance(conversation, str) else conversation
    b = branches.number(tx, found, branch)
    name = branches.tree(tx, found.no)[b][0] if b else MAIN
    events = [draft[0] for draft in drafts]
    new = drafts
    if any(event.key is not None for event in events):
        # The same key is one event, whether it is there already or stands twice in one batch.
        known = _known(tx, found, b, name, events)
        erased.refuse_keys(tx, found.id, [e.key for e in events if e.key is not None and e.key not in known])
        new = [d for d in drafts if d[0].key is None or known.setdefault(d[0].key, d[0]) is d[0]]
        events = [e if e.key is None else known[e.key] for e in events]
    if new:
        _insert(tx, found, b, name, new, outside, strict)
    return found, b, events


def _known(tx: Tx, found: Found, branch: int, name: str, events: Iterable[Event]) -> dict[str, Event]:
    """The events that are there already, by idempotency key."""
    known: dict[str, Event] = {}
    for event in events:
        if event.key is not None:
            row = tx.one(
                f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
                " and key = :key",
                c=found.no, b=branch, key=event.key,
            )  # fmt: skip
            if row is not None:
                known[event.key] = _load(found.id, row, {branch: name})
    return known


def _insert(tx: Tx, found: Found, branch: int, name: str, new: Sequence[Draft], outside: bool, strict: bool) -> None:
    ticks = iter(tx.ticks(len(new) + sum([draft[4] is not None for draft in new])))
    no, user, seq, title, workspace = found.no, tx.user, found.last_seq, found.title, found.workspace
    place, scope = b"%d:%d:" % (no, branch), index.place(no, workspace)
    tick = 0
    rows: list[Row] = []
    plain: list[Row] = []
    entries: list[Row] = []
    for event, crc, found_by, columns, trace in new:
        seq += 1
        tick = next(ticks)
        values = event.__dict__
        values["branch"] = name
        values["seq"] = seq
        if title is None and values["kind"] == "message":
            title = conversations.title_from(values["text"])
        if columns is None:
            # As `checksum` has it.
            crc = crc32(b"%b%d:0" % (place, seq), crc)
            plain.append((tick, seq, values["role"], values["text"], values["created_at"], crc))
            if found_by is not None:
                entries.append((tick, found_by[0], found_by[1] + scope))
            continue
        values["conversation_id"] = found.id
        about = columns[9]
        if about is not None and about >= seq:
            raise InvalidInput(f"message={about}: conversation {found.id!r} has no event {about} yet.")
        if strict and about is not None and columns[0] == "message":
            values["message"] = about = _place(tx, found, branch, new, event, about)
            columns = (*columns[:9], about, *columns[10:])
        rows.append((tick, user, no, branch, seq, *columns, checksum(crc, no, branch, seq, about)))
        if found_by is not None and (outside or not index.is_outside(columns[5], workspace)):
            entries.append((tick, found_by[0], found_by[1] + scope))
        if trace is not None:
            seq += 1
            tick = next(ticks)
            _, crc, _, columns, _ = trace
            rows.append(
                (
                    tick,
                    user,
                    no,
                    branch,
                    seq,
                    *columns[:9],
                    seq - 1,
                    *columns[10:],
                    checksum(crc, no, branch, seq, seq - 1),
                )
            )
    if len(plain) > FEW:
        tx.many(INSERT_PLAIN, plain, same=(user, no, branch))
    elif plain:
        tx.put_off(INSERT_PLAIN, [(user, no, branch, *row) for row in plain])
    if rows:
        tx.put_off(INSERT, rows)
    index.add(tx, entries)
    if title != found.title:
        index.retitle(tx, no, workspace, found.title, title)
        tx.send("update conversations set title = :title where user_no = :user and no = :c", c=no, title=title)
    tx.move_on(found.id, no, seq, tick)


def _place(tx: Tx, found: Found, branch: int, new: Sequence[Draft], event: Event, about: int) -> int:
    """Where a message stands that takes another's place: the number of the first version, whichever of them was named."""
    named: list[Event] = []
    if about <= found.last_seq:
        own = branches.lineage(tx, found.no, branch, about)
        named = walk(tx, found, own, after=about - 1, kinds=("message",), limit=1)
    else:
        for before, *_ in new:  # it came with the same batch
            if before is event:
                break
            if before.seq == about and before.kind == "message":
                named = [before]
    if not named:
        raise InvalidInput(
            f"message={about}: event {about} of conversation {found.id!r} is no message on this branch, so none can take its"
            " place. Name a message that `messages()` shows, or leave message= out."
        )
    return named[0].message or about


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
    twin = _frozen({**event.__dict__, "message": seq})
    return twin, crc, found_by, (*columns[:9], seq, *columns[10:]), trace


def copy(tx: Tx, found: Found, target: str) -> int:
    """A conversation once more, under another id: every event, branch and tombstone. Returns its number."""
    made = tx.one(
        "select title, workspace, workflow_id, metadata, origin from conversations where user_no = :user and no = :c",
        c=found.no,
    )
    assert made is not None
    conversations.create(
        tx, target, title=made[0], workspace=made[1], workflow_id=made[2], metadata=made[3], origin=made[4], again=True
    )
    new = find(tx, target, lock=True)
    tx.run("delete from branches where user_no = :user and conversation_no = :c", c=new.no)
    for table, columns in (
        ("branches", "no, name, parent, fork_seq, summary_seq, created_at"),
        ("tombstones", "first_seq, last_seq, deleted_at"),
    ):
        tx.run(
            f"insert into {table} (user_no, conversation_no, {columns})"
            f" select user_no, cast(:target as bigint), {columns} from {table}"
            " where user_no = :user and conversation_no = :c",
            c=found.no, target=new.no,
        )  # fmt: skip
    for rows in pages(tx, found.no):
        ticks = tx.ticks(len(rows))
        again = []
        for tick, row in zip(ticks, rows, strict=True):
            seq, said, branch = row[1], (*row[2:20], row[21]), row[20]
            crc = checksum(content_crc(said), new.no, branch, seq, said[9])
            again.append((tick, tx.user, new.no, branch, seq, *said, crc))
        tx.many(INSERT, again)
        first, last = min(row[0] for row in rows), max(row[0] for row in rows)
        there = set(tx.indexed_words("words", first - 1, last - first + 1))
        indexed = [(tick, *row[1:]) for tick, row in zip(ticks, rows, strict=True) if row[0] in there]
        index.add(tx, entries(new, indexed))
    tx.run(
        "update conversations set last_seq = :seq, active_branch = :b where user_no = :user and no = :c",
        c=new.no, seq=found.last_seq, b=found.active_branch,
    )  # fmt: skip
    return new.no


def unstored(conversation: str, branch: str, event: Event) -> Event:
    """What `append` answers for a kind that is switched off: the event, without a number."""
    event.__dict__.update(conversation_id=conversation, branch=branch, seq=0)
    return event


def entries(found: Found, rows: Iterable[Row]) -> list[Row]:
    """What stored events (id, then `COLUMNS`) are indexed under."""
    indexed: list[Row] = []
    for row in rows:
        found_by = terms((*row[2:20], row[21]))  # without the branch, which stands before the time
        if found_by is not None:
            indexed.append(index.entry(row[0], found.no, found.workspace, found_by))
    return indexed


def move(tx: Tx, before: Found, after: Found) -> None:
    """A conversation is in another workspace: so are its entries in the index. Its vectors stay."""
    for rows in pages(tx, before.no):
        ids = [row[0] for row in rows]
        there = set(tx.indexed_words("words", min(ids) - 1, max(ids) - min(ids) + 1))
        indexed = [row for row in rows if row[0] in there]
        tx.unindex_words("words", entries(before, indexed))
        tx.index_words("words", entries(after, indexed))


def pages(tx: Tx, conversation: int) -> Iterator[list[Row]]:
    """Every event of a conversation (id, then `COLUMNS`), a page at a time."""
    for branch in branches.tree(tx, conversation):
        after = 0
        while rows := tx.all(
            f"select id, {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and seq > :after order by seq limit 500",
            c=conversation, b=branch, after=after,
        ):  # fmt: skip
            yield rows
            after = rows[-1][1]


# -- reading


def _load(conversation: str, row: Row, names: Mapping[int, str]) -> Event:
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
    return _frozen(values)


def loaded(conversation: str, row: Row, branch: str) -> Event:
    """An event from its row (`COLUMNS`), where its conversation and branch are known by name."""
    return _load(conversation, row, {row[19]: branch})


def _where(kinds: Sequence[str] | None, names: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    clause = ""
    params: dict[str, str] = {}
    for column, prefix, values in (("kind", "k", kinds), ("name", "n", names)):
        if values is not None:
            marks = {f"{prefix}{i}": value for i, value in enumerate(values)}
            clause += f" and {column} in ({', '.join(':' + m for m in marks)})"
            params |= marks
    return clause, params


def read(
    tx: Tx,
    conversation: str,
    *,
    after: int,
    kinds: Sequence[str] | None,
    names: Sequence[str] | None,
    branch: str | Branch | None,
    limit: int | None,
) -> list[Event]:
    found = find(tx, conversation)
    if branch == EVERY:
        own: Lineage = [(no, NO_LIMIT) for no in branches.tree(tx, found.no)]
    else:
        own = branches.lineage(tx, found.no, branches.number(tx, found, branch))
    events = walk(tx, found, own, after=after, kinds=kinds, names=names, limit=limit)
    return events[:limit] if branch == EVERY and limit is not None else events


def walk(
    tx: Tx,
    found: Found,
    own: Lineage,
    *,
    after: int = 0,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    limit: int | None = None,
    newest: bool = False,
    replacing: bool | None = None,
) -> list[Event]:
    """Events of a lineage in order of their numbers; with `newest`, the last `limit` of them. `replacing` says whether only
    those are meant that stand in another's place, or only the others."""
    if limit == 0 or kinds == () or names == ():
        return []
    clause, params = _where(kinds, names)
    if replacing is not None:
        clause += " and message is not null" if replacing else " and message is null"
    rows: list[Row] = []
    every = len(own) > 1 and own[1][1] == NO_LIMIT
    for b, high in own if newest else reversed(own):
        if high <= after:
            continue
        rows += tx.all(
            f"select {COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
            f" and seq > :after and seq <= :high{clause} order by seq {'desc' if newest else 'asc'} limit :limit",
            c=found.no, b=b, after=after, high=high, limit=NO_LIMIT if limit is None else limit - (0 if every else len(rows)),
            **params,
        )  # fmt: skip
        if limit is not None and len(rows) >= limit and not every:
            break
    rows.sort(key=lambda row: row[0])
    called = {0: MAIN} if len(own) == 1 and own[0][0] == 0 else {
        no: name for no, (name, _, _) in branches.tree(tx, found.no).items()
    }  # fmt: skip
    return [_load(found.id, row, called) for row in rows]


def messages(
    tx: Tx, conversation: str, *, limit: int | None, include_reasoning: bool, branch: str | Branch | None,
    always_summary: bool = False,
) -> list[Event]:  # fmt: skip
    """The newest messages, oldest first; a summary stands where the messages it covers stood."""
    found = find(tx, conversation)
    b = branches.number(tx, found, branch)
    own = branches.lineage(tx, found.no, b)
    summary = standing_summary(tx, found, b)
    places = standing(tx, found, own, summary, limit)
    live = [versions[-1] for _, versions in places]
    if include_reasoning and live:
        traces: dict[int, list[Event]] = {}
        for trace in walk(tx, found, own, after=places[0][0], kinds=("reasoning",)):
            traces.setdefault(trace.message or 0, []).append(trace)
        for place, versions in places:
            # What led to the newest version; a correction without thoughts of its own leaves those that were there.
            thought = (seq for seq in (*(e.seq for e in reversed(versions)), place) if seq in traces)
            versions[-1].__dict__["traces"] = tuple(traces.get(next(thought, 0), ()))
    if summary is not None and (limit is None or len(live) < limit or (always_summary and limit)):
        live.insert(0, summary)
    return live


def standing(
    tx: Tx, found: Found, own: Lineage, summary: Event | None, limit: int | None
) -> list[tuple[int, list[Event]]]:
    """The newest live messages in the order of their places: the number of the first version, and the versions, oldest first.
    What was corrected after it had been summarized is live again, in front, until the next summary has the new text."""
    through = 0 if summary is None else summary.message or 0
    said = walk(tx, found, own, after=through, kinds=("message",), limit=limit, newest=True, replacing=False)
    places = {e.seq: [e] for e in said}
    corrected: dict[int, list[Event]] = {}
    summarized_at = NO_LIMIT if summary is None or (limit is not None and len(said) >= limit) else summary.seq
    after = min(said[0].seq if said else NO_LIMIT, summarized_at)
    if after < found.last_seq:
        for e in walk(tx, found, own, after=after, kinds=("message",), replacing=True):
            place = e.message or 0
            if place in places:
                places[place].append(e)
            elif place <= through and e.seq > summarized_at:
                corrected.setdefault(place, []).append(e)
    early = sorted(corrected.items())
    if limit is not None:
        early = early[max(0, len(early) - (limit - len(said))) :]
    return [*early, *places.items()]


def standing_summary(tx: Tx, found: Found, branch: int) -> Event | None:
    """The summary in force on a branch; its `message` says up to which number it covers."""
    row = tx.one(
        "select summary_seq from branches where user_no = :user and conversation_no = :c and no = :b",
        c=found.no,
        b=branch,
    )
    if row is None or row[0] is None:
        return None
    own = branches.lineage(tx, found.no, branch, row[0])
    found_summary = walk(tx, found, own, after=row[0] - 1, kinds=("summary",), limit=1)
    return found_summary[0] if found_summary else None


def ledger(tx: Tx, conversation: str, *, at: int | None, branch: str | Branch | None) -> list[LedgerEntry]:
    """The newest snapshot of each task as the lineage stood at an event number, in the order tasks first appeared."""
    found = find(tx, conversation)
    own = branches.lineage(tx, found.no, branches.number(tx, found, branch), NO_LIMIT if at is None else at)
    newest: dict[str, LedgerEntry] = {}
    for e in walk(tx, found, own, kinds=("ledger",)):
        task = e.task_id or ""
        newest[task] = LedgerEntry(task, e.text, e.status, e.payload, e.seq, e.created_at)
    return list(newest.values())


def reasoning(tx: Tx, conversation: str, *, message: int | None, branch: str | Branch | None) -> list[Event]:
    found = find(tx, conversation)
    own = branches.lineage(tx, found.no, branches.number(tx, found, branch))
    traces = walk(tx, found, own, after=message or 0, kinds=("reasoning",))
    return traces if message is None else [t for t in traces if t.message == message]
