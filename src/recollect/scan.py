"""Secrets in what is already stored: found, and replaced where they stand.

This is the one place that changes an event: what was written before redaction was switched on, or before a pattern was
known, is brought to what it would be today. A page of events is read, judged outside any transaction, and written back
only where the row is still the one that was read.

A title and a summary were made from messages and may have cut a secret in two, so that no pattern knows it any more. What
was found in a conversation's messages is therefore looked for in them by its value.
"""

from __future__ import annotations

import json
import re
from functools import partial

from . import checks, edits, events, items, log, memories
from .conversations import Found, load_metadata, title_from
from .errors import Damaged
from .model import SENSITIVE, Scan, SecretPlace
from .search import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .db import Database, Row, Tx
    from .model import Progress
    from .redact import Gate

PAGE = 500


class Known:
    """What the messages of a conversation say about its title and its summaries. Never leaves this module."""

    __slots__ = ("derived", "secrets", "title")

    def __init__(self, title: str | None) -> None:
        self.title = title
        self.derived: str | None = None
        """The title as it would be today, if a message gave it."""
        self.secrets: dict[str, str] = {}
        """What was found, and its family."""


def scan(db: Database, user: str, gate: Gate, fix: bool, progress: Progress | None) -> Scan:
    conversations = db.read(
        user, lambda tx: tx.all("select no, id, last_seq, title from conversations where user_no = :user order by no")
    )
    total, seen, after = sum(row[2] for row in conversations), 0, 0
    known = {row[0]: Known(row[3]) for row in conversations}
    found: dict[tuple[int, int], list[str]] = {}
    while page := _page(db, user, after):
        changes: list[tuple[int, int, list[Any]]] = []
        for event in page:
            no = event[-2]
            if no not in known:
                continue  # a conversation that came meanwhile was written through the gate
            families, clean = _event(gate, event, known[no])
            if families:
                found[no, event[0]] = families
                changes.append((no, event[21], clean))
        if fix and changes:
            _write(db, user, changes)
        seen += len(page)
        after = page[-1][-1]
        if progress:
            progress("events", min(seen, total), total)
    for no, _, _, _ in conversations:
        found[no, 0] = _conversation(db, user, gate, no, known[no], fix) + _branches(db, user, gate, no, fix)
    for families in _memories(db, user, gate, fix):
        found[-1, 0] = found.get((-1, 0), []) + families
    for families in _items(db, user, gate, fix):
        found[-1, 0] = found.get((-1, 0), []) + families
    for no, families in _jobs(db, user, gate, fix):
        found[no, 0] = found.get((no, 0), []) + families
    ids = {no: checks.safe_key(id, gate.another()) for no, id, _, _ in conversations}
    places = [
        SecretPlace(ids.get(no, ""), seq, tuple(dict.fromkeys(families)))
        for (no, seq), families in sorted(found.items())
        if families
    ]
    return Scan(seen, (*places, *_receipts(db, user, gate, fix)), fix)


def _page(db: Database, user: str, after: int) -> list[Row]:
    """Events in the order in which they were written, as `events.COLUMNS` has them, then conversation and id."""
    return db.read(
        user,
        lambda tx: tx.all(
            f"select {events.COLUMNS}, conversation_no, id from events where user_no = :user and id > :after"
            " and id <= (select max(id) from events where user_no = :user) order by id limit :page",
            after=max(after, tx.user << 32 if db.dialect == "sqlite" else 0),
            page=PAGE,
        ),
    )


# -- events


def _event(gate: Gate, row: Row, known: Known) -> tuple[list[str], list[Any]]:
    """What is found in an event, and its columns as they would be written today. `row` is as `events.COLUMNS` selects it."""
    own = gate.another()
    seq, branch = row[0], row[19]
    columns = [*row[1:19], row[20]]
    try:
        tags, payload = json.loads(columns[10] or "[]"), json.loads(columns[11] or "{}")
    except ValueError as e:
        raise Damaged(f"Event {seq} does not read back as it was written ({e}). Run `recollect doctor`.") from None
    if columns[0] == "summary":
        columns[2] = _without(columns[2], known, own)
        if isinstance(payload.get("points"), list):
            points = [[_without(part, known, own) for part in point] for point in payload["points"]]
            payload = payload | {"points": points}
    _remember(gate, columns[2], known)
    said = columns[2]
    for i in (1, 2, 3, 4, 5, 6, 7, 12):
        columns[i] = own.optional(columns[i])
    if columns[0] == "message" and known.title is not None and title_from(said) == known.title:
        known.derived = title_from(columns[2])
    for i in (8, 17):
        columns[i] = None if columns[i] is None else checks.safe_key(columns[i], own)
    payload, tags = own.value(payload), [own.text(tag) for tag in tags]
    if own.families:
        columns[10] = json.dumps(list(dict.fromkeys([*tags, SENSITIVE])), ensure_ascii=False)
        columns[11] = None if columns[11] is None else json.dumps(payload, ensure_ascii=False)
    crc = events.checksum(events.content_crc(columns), row[-2], branch, seq, columns[9])
    return own.families, [branch, seq, *columns, crc]


def _remember(gate: Gate, text: str, known: Known) -> None:
    if gate.is_quiet(text):
        return
    from .redact import redact

    for family, start, end in redact(text, gate.policy()).findings:
        # A summary takes texts apart at their lines, and a title joins them.
        for piece in {*text[start:end].splitlines(), " ".join(text[start:end].split())}:
            if len(piece.strip()) >= 4:
                known.secrets[piece.strip()] = family


def _without(text: str, known: Known, gate: Gate) -> str:
    """A text that was made from others, without what was found in those: whole, or as the last thing before a cut."""
    for value, family in sorted(known.secrets.items(), key=lambda item: -len(item[0])):
        marker = f"[redacted:{family}]"
        if value in text:
            text = text.replace(value, marker)
            gate.families.append(family)
        for cut in reversed([m.start() for m in re.finditer(r"…|\n|\Z", text)]):
            least = 3 if text[cut : cut + 1] == "…" else 8
            part = next((n for n in range(len(value) - 1, least - 1, -1) if text.endswith(value[:n], 0, cut)), 0)
            if part:
                text = text[: cut - part] + marker + text[cut:]
                gate.families.append(family)
    return text


def _title(title: str | None, known: Known, gate: Gate) -> str | None:
    if title is None or title != known.title or known.derived is None:
        return None if title is None else _line(_without(title, known, gate), gate)
    if title != known.derived:  # what is derived from a safe text is safe, however it was cut
        gate.families += known.secrets.values()
    return known.derived


def _line(text: str, gate: Gate) -> str:
    """What was put on one line when it was stored: a secret that went on in the next line has a space in it."""
    lines = re.sub(r"(?<![ >|#*+]) (?=\S)", "\n", text)  # behind a mark of a margin it was a space before
    if not gate.is_quiet(lines):
        from .redact import redact
        from .redact.values import is_noise

        for family, start, end in reversed(redact(lines, gate.policy()).findings):
            *pieces, rest = lines[start:end].encode("latin-1", "replace").split(b"\n")
            # A word is no piece of a token, and a long checksum before a word no line of a private key.
            if pieces and all(is_noise(piece, 12) for piece in pieces) and (len(pieces) > 1 or not rest.endswith(b"=")):
                text = f"{text[:start]}[redacted:{family}]{text[end:]}"
                gate.families.append(family)
    return gate.text(text)


# -- what belongs to a conversation, and what to none


def _conversation(db: Database, user: str, gate: Gate, no: int, known: Known, fix: bool) -> list[str]:
    while True:
        row = db.read(
            user,
            lambda tx: tx.one(
                "select id, title, workspace, workflow_id, metadata from conversations where user_no = :user and no = :c",
                c=no,
            ),
        )
        if row is None:
            return []  # erased meanwhile
        own = gate.another()
        id, title, workspace, workflow, metadata = row
        loaded = load_metadata(checks.safe_key(id, gate.another()), metadata)
        clean = {
            "id": checks.safe_key(id, own),
            "title": _title(title, known, own),
            "workspace": own.optional(workspace),
            "workflow": None if workflow is None else checks.safe_key(workflow, own),
            "metadata": json.dumps(own.value(loaded), ensure_ascii=False) if loaded else metadata,
        }
        was = dict(zip(("was_id", "was_title", "was_workspace", "was_workflow", "was_metadata"), row, strict=True))
        if not own.families or not fix or _replace(db, user, no, clean, was):
            return own.families  # else it was renamed between reading and writing: look again


def _replace(db: Database, user: str, no: int, clean: dict[str, Any], was: dict[str, Any]) -> bool:
    def write(tx: Tx) -> bool:
        changed = tx.run(
            "update conversations set id = :id, title = :title, workspace = :workspace, workflow_id = :workflow,"
            " metadata = :metadata where user_no = :user and no = :c and id = :was_id"
            " and title is not distinct from :was_title and workspace is not distinct from :was_workspace"
            " and workflow_id is not distinct from :was_workflow and metadata = :was_metadata",
            c=no, **clean, **was,
        )  # fmt: skip
        if not changed:
            return False
        before = Found(no, "", 0, 0, was["was_title"], was["was_workspace"])
        after = Found(no, "", 0, 0, clean["title"], clean["workspace"])
        if before.workspace != after.workspace:
            log.move(tx, before, after)
            index.retitle(tx, no, before.workspace, before.title, None)
            index.retitle(tx, no, after.workspace, None, after.title)
        else:
            index.retitle(tx, no, after.workspace, before.title, after.title)
        return True

    return db.write(user, write)


def _memories(db: Database, user: str, gate: Gate, fix: bool) -> list[list[str]]:
    """Memories with a secret in them, found or not, and what happened to them: its families, for each."""
    found: list[list[str]] = []
    after = 0
    while page := db.read(user, partial(memories.stored, after=after, most=PAGE)):
        for row in page:
            own = gate.another()
            content, workspace = _line(row[2], own), own.optional(row[5])
            tags = [own.text(tag) for tag in json.loads(row[3] or "[]")]
            if own.families:
                found.append(own.families)
                stored = json.dumps(list(dict.fromkeys([*tags, SENSITIVE])), ensure_ascii=False)
                clean = (row[0], row[1], content, stored, row[4], workspace)
                if fix:
                    db.write(user, partial(edits.replace, row=row, clean=clean))
        after = page[-1][0]
    return found + _changes(db, user, gate, fix)


def _changes(db: Database, user: str, gate: Gate, fix: bool) -> list[list[str]]:
    found: list[list[str]] = []
    after = 0
    while page := db.read(user, partial(memories.told, after=after, most=PAGE)):
        for row in page:
            own = gate.another()
            wording = None if row[1] is None else _line(row[1], own)
            source, flag, why, who, extractor = (own.optional(row[i]) for i in (3, 4, 5, 6, 8))
            checkpoint = None if row[7] is None else checks.safe_key(row[7], own)
            tags = [own.text(tag) for tag in json.loads(row[2] or "[]")]
            if own.families:
                found.append(own.families)
                stored = json.dumps(list(dict.fromkeys([*tags, SENSITIVE])), ensure_ascii=False)
                if fix:
                    _run(
                        db, user,
                        "update memory_changes set wording = :wording, tags = :tags, source = :source, flag = :flag,"
                        " why = :why, who = :who, checkpoint = :checkpoint, extractor = :extractor"
                        " where user_no = :user and id = :id",
                        id=row[0], wording=wording, tags=stored, source=source, flag=flag, why=why, who=who,
                        checkpoint=checkpoint, extractor=extractor,
                    )  # fmt: skip
        after = page[-1][0]
    return found


def _items(db: Database, user: str, gate: Gate, fix: bool) -> list[list[str]]:
    """Items with a secret in their value, key, namespace or texts: its families, for each."""
    found: list[list[str]] = []
    after = 0
    while page := db.read(user, partial(items.page, after=after, most=PAGE)):
        for row in page:
            own = gate.another()
            value = own.value(items.load(row))
            key = checks.safe_key(row[2], own)
            namespace = items.path([checks.safe_key(label, own) for label in items.labels(row[1])])
            texts = db.read(user, partial(items.texts_of, id=row[0]))
            clean = [own.text(text) for text in texts]
            if own.families:
                found.append(own.families)
                if fix:
                    _replace_item(db, user, row, namespace, key, items.dump(value), clean)
        after = page[-1][0]
    return found


def _replace_item(db: Database, user: str, row: Row, namespace: str, key: str, value: str, texts: list[str]) -> None:
    made = [items.Text(text) for text in texts]
    db.write(user, lambda tx: items.replace(tx, row, namespace, key, value, made, row[7]))


def _branches(db: Database, user: str, gate: Gate, no: int, fix: bool) -> list[str]:
    own = gate.another()
    rows = db.read(
        user,
        lambda tx: tx.all("select no, name from branches where user_no = :user and conversation_no = :c", c=no),
    )
    for branch, name in rows:
        clean = checks.safe_key(name, own)
        if fix and clean != name:
            _run(
                db, user,
                "update branches set name = :name where user_no = :user and conversation_no = :c and no = :b",
                c=no, b=branch, name=clean,
            )  # fmt: skip
    return own.families


def _jobs(db: Database, user: str, gate: Gate, fix: bool) -> list[tuple[int, list[str]]]:
    """Jobs that failed with a secret in what they said: the conversation they were for, -1 for none."""
    found = []
    rows = db.read(
        user,
        lambda tx: tx.all("select id, key, last_error from jobs where user_no = :user and last_error is not null"),
    )
    for id, key, said in rows:
        own = gate.another()
        clean = own.text(said)
        if own.families:
            conversation = key.split(":")[0]
            found.append((int(conversation) if conversation.isdigit() else -1, own.families))
            if fix:
                _run(
                    db, user, "update jobs set last_error = :said where user_no = :user and id = :id", id=id, said=clean
                )
    return found


def _receipts(db: Database, user: str, gate: Gate, fix: bool) -> list[SecretPlace]:
    """Receipts of conversations whose id held a secret."""
    places = []
    for id, request in db.read(user, lambda tx: tx.all("select id, request from receipts where user_no = :user")):
        own = gate.another()
        clean = {what: checks.safe_key(value, own) for what, value in json.loads(request).items()}
        if own.families:
            places.append(SecretPlace(clean.get("conversation", ""), 0, tuple(dict.fromkeys(own.families))))
            if fix:
                _run(
                    db, user, "update receipts set request = :request where user_no = :user and id = :id",
                    id=id, request=json.dumps(clean),
                )  # fmt: skip
    return places


# -- writing back


def _run(db: Database, user: str, sql: str, **params: Any) -> None:
    write: Callable[[Tx], int] = lambda tx: tx.run(sql, **params)  # noqa: E731 - typed for mypy
    db.write(user, write)


def _write(db: Database, user: str, changes: list[tuple[int, int, list[Any]]]) -> None:
    def write(tx: Tx) -> None:
        for conversation, was, row in changes:
            place = _place(tx, conversation)
            before = events.indexed(tx, place, _stored(tx, conversation, row))
            there = tx.indexed_words("words", before[0][0] - 1, 1)[:1] == [before[0][0]] if before else False
            index.remove(tx, before)
            tx.run(
                "update events set role = :role, text = :text, name = :name, tool = :tool, path = :path, agent = :agent,"
                " status = :status, task_id = :task, tags = :tags, payload = :payload, model = :model, key = :key,"
                " checksum = :crc where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq"
                " and checksum = :was",
                c=conversation, b=row[0], seq=row[1], role=row[3], text=row[4], name=row[5], tool=row[6], path=row[7],
                agent=row[8], status=row[9], task=row[10], tags=row[12], payload=row[13], model=row[14], key=row[19],
                crc=row[21], was=was,
            )  # fmt: skip
            if there:  # what was left out stays out
                index.add(tx, events.entries(place, _stored(tx, conversation, row)))
            for id, _, _ in before:
                index.embed_again(tx, id)

    db.write(user, write)


def _place(tx: Tx, conversation: int) -> Found:
    row = tx.one("select title, workspace from conversations where user_no = :user and no = :c", c=conversation)
    return Found(conversation, "", 0, 0, *(row or (None, None)))


def _stored(tx: Tx, conversation: int, row: list[Any]) -> list[Row]:
    return tx.all(
        f"select id, {events.COLUMNS} from events where user_no = :user and conversation_no = :c and branch_no = :b"
        " and seq = :seq",
        c=conversation, b=row[0], seq=row[1],
    )  # fmt: skip
