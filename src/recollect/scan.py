"""Secrets in what is already stored: found, and replaced where they stand.

This is the one place that changes an event: what was written before redaction was switched on, or before a pattern was
known, is brought to what it would be today. A page of events is read, judged outside any transaction, and written back
only where the row is still the one that was read.
"""

from __future__ import annotations

import json

from . import log
from .conversations import load_metadata
from .model import Scan, SecretPlace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .db import Database, Row, Tx
    from .model import Progress
    from .redact import Gate

PAGE = 500


def scan(db: Database, user: str, gate: Gate, fix: bool, progress: Progress | None) -> Scan:
    conversations = db.read(
        user,
        lambda tx: tx.all(
            "select no, id, title, workspace, workflow_id, metadata, last_seq from conversations"
            " where user_no = :user order by no"
        ),
    )
    places: list[SecretPlace] = []
    for row in conversations:
        found = _conversation(db, user, gate, row, fix)
        if found:
            places.append(SecretPlace(row[1], 0, found))
    ids = {row[0]: row[1] for row in conversations}
    total, seen, after = sum(row[6] for row in conversations), 0, 0
    while page := _page(db, user, after):
        changes: list[tuple[int, int, list[Any]]] = []
        for event in page:
            families, clean = _event(gate, event)
            if families and event[-2] in ids:  # a conversation that came meanwhile was written through the gate
                places.append(SecretPlace(ids[event[-2]], event[0], families))
                changes.append((event[-2], event[21], clean))
        if fix and changes:
            _write(db, user, changes)
        seen += len(page)
        after = page[-1][-1]
        if progress:
            progress("events", min(seen, total), total)
    return Scan(seen, tuple(places), fix)


def _page(db: Database, user: str, after: int) -> list[Row]:
    """Events in the order in which they were written, as `log.COLUMNS` has them, then conversation and id."""
    return db.read(
        user,
        lambda tx: tx.all(
            f"select {log.COLUMNS}, conversation_no, id from events where user_no = :user and id > :after"
            " and id <= (select max(id) from events where user_no = :user) order by id limit :page",
            after=max(after, tx.user << 32 if db.dialect == "sqlite" else 0),
            page=PAGE,
        ),
    )


def _conversation(db: Database, user: str, gate: Gate, row: Row, fix: bool) -> tuple[str, ...]:
    no, id, title, workspace, workflow, metadata, _ = row
    own = gate.another()
    clean = own.optional(title), own.optional(workspace), own.optional(workflow)
    loaded = load_metadata(id, metadata)
    kept = json.dumps(own.value(loaded), ensure_ascii=False) if loaded else metadata
    if own.families and fix:
        db.write(
            user,
            lambda tx: tx.run(
                "update conversations set title = :title, workspace = :workspace, workflow_id = :workflow,"
                " metadata = :metadata where user_no = :user and no = :c",
                c=no, title=clean[0], workspace=clean[1], workflow=clean[2], metadata=kept,
            ),
        )  # fmt: skip
    return tuple(dict.fromkeys(own.families))


def _event(gate: Gate, row: Row) -> tuple[tuple[str, ...], list[Any]]:
    """What is found in an event, and its columns as they would be written today. `row` is as `log.COLUMNS` selects it."""
    own = gate.another()
    seq, branch = row[0], row[19]
    columns = [*row[1:19], row[20]]
    for i in (1, 2, 3, 4, 5, 6, 7, 8, 12):
        columns[i] = own.optional(columns[i])
    if columns[17] is not None:
        columns[17] = log.safe_key(columns[17], own)
    if columns[11] is not None and not own.is_quiet(columns[11]):
        columns[11] = json.dumps(own.value(json.loads(columns[11])), ensure_ascii=False)
    tags = [own.text(tag) for tag in json.loads(columns[10] or "[]")]
    if own.families:
        columns[10] = json.dumps(list(dict.fromkeys([*tags, log.SENSITIVE])), ensure_ascii=False)
    crc = log.checksum(log.content_crc(columns), branch, seq, columns[9])
    return tuple(dict.fromkeys(own.families)), [branch, seq, *columns, crc]


def _write(db: Database, user: str, changes: list[tuple[int, int, list[Any]]]) -> None:
    def write(tx: Tx) -> None:
        for conversation, was, row in changes:
            tx.run(
                "update events set role = :role, text = :text, name = :name, tool = :tool, path = :path, agent = :agent,"
                " status = :status, task_id = :task, tags = :tags, payload = :payload, model = :model, key = :key,"
                " checksum = :crc where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq"
                " and checksum = :was",
                c=conversation, b=row[0], seq=row[1], role=row[3], text=row[4], name=row[5], tool=row[6], path=row[7],
                agent=row[8], status=row[9], task=row[10], tags=row[12], payload=row[13], model=row[14], key=row[19],
                crc=row[21], was=was,
            )  # fmt: skip

    db.write(user, write)
