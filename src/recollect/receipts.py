"""Receipts: that an erasure was asked for, what went, and the proof that it is gone.

A receipt is written before anything goes and finished when nothing is left; in between it is the list of what is still to be
done. It holds numbers, counts and keyed hashes, and never an id or a word of what was erased.
"""

from __future__ import annotations

import json
from functools import partial

from . import erased, erasure, ids, learned
from .db.points import reach
from .errors import InvalidInput, NotFound, StoreBusy
from .model import Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .db import Database, Row, Tx
    from .learned import Counts, Target

    Told = Callable[[Sequence[str] | None], None]
    """Is given the ids of conversations that were erased, None for all of the user's: for what holds pseudonyms of them
    outside the database."""

COLUMNS = "id, request, counts, erased_at, who, target, changed, hashes, backups, checks, finished_at"
ONE = "Say one of conversation=, workspace=, user=, memory= or source=: erase() does one thing at a time."


def asked(given: dict[str, Any]) -> tuple[str, Any]:
    """The one thing that is to go."""
    said = [(kind, what) for kind, what in given.items() if what is not None]
    if len(said) != 1:
        raise InvalidInput(ONE)
    return said[0]


def erase(
    db: Database,
    user: str,
    kind: str,
    what: str,
    *,
    who: str,
    summaries: bool,
    backups: Sequence[str],
    told: Told,
    dry_run: bool,
) -> Receipt:
    """Plan, and unless it is a dry run: write down, carry out, clean up, check. `summaries`: make those anew that covered an
    erased event. `backups`: files that still hold it."""
    wanted = db.read(user, lambda tx: erasure.target(tx, kind, what))
    away = learned.elsewhere(db, user, wanted, apply=False)
    if dry_run:

        def look(tx: Tx) -> Receipt:
            counts, changed = erasure.plan(tx, wanted)
            counts["items"] = counts.get("items", 0) + away
            request = {kind: _hash(tx, kind, what)}
            return Receipt(
                "", request, _shown(counts), ids.now(), who, changed, (), tuple(backups), {}, None, applied=False
            )

        return db.read(user, look)
    # Before anything goes, because whoever finishes it after a crash knows no names any more; and again, because this very
    # conversation may have been spoken of meanwhile.
    told(None if kind == "user" else db.read(user, lambda tx: _named(tx, kind, what, wanted)))
    id, named = db.write(user, lambda tx: _begin(tx, kind, what, who, backups, away))
    reach("erasure begun")
    told(None if kind == "user" else named)
    resume(db, user, id, summaries=summaries)
    # By the name they had: somebody who was erased is known by it as well, and may be back already.
    return db.read(user, lambda tx: get(tx, id))


def _hash(tx: Tx, kind: str, what: str) -> str:
    return erased.hash_of(tx, kind, what)


def _shown(counts: Counts) -> Counts:
    return {what: n for what, n in counts.items() if n}


def _named(tx: Tx, kind: str, what: str, wanted: Target) -> list[str]:
    """The conversations that go, by their ids. One that is known of items only is what was said."""
    return erasure.names_of(tx, wanted)[0] or ([what] if kind == "conversation" else [])


def _begin(tx: Tx, kind: str, what: str, who: str, backups: Sequence[str], away: int) -> tuple[str, list[str]]:
    wanted = erasure.target(tx, kind, what)
    wanted["steps"] = erasure.steps(wanted)
    if kind == "user":
        wanted["upto"] = tx.ticks(1)[0]
    now, id = ids.now(), ids.new()
    conversations, memories = erasure.names_of(tx, wanted)
    if kind == "conversation" and not conversations:
        conversations = [what]
    hashes = [
        *erased.note(tx, erased.CONVERSATION, conversations, id, now),
        *erased.note(tx, erased.MEMORY, memories, id, now),
    ]
    tx.run(
        "insert into receipts (user_no, id, request, counts, erased_at, who, target, changed, hashes, backups)"
        " values (:user, :id, :request, :counts, :now, :who, :target, '{}', :hashes, :backups)",
        id=id, request=json.dumps({kind: _hash(tx, kind, what)}), counts=json.dumps({"items": away} if away else {}), now=now,
        who=who, target=json.dumps(wanted), hashes=json.dumps(hashes), backups=json.dumps(list(backups)),
    )  # fmt: skip
    return id, conversations


# -- carrying it out


def resume(db: Database, user: str, only: str | None = None, *, summaries: bool = False) -> None:
    """Finish what was begun: this erasure, or every one of the user's that was interrupted."""
    back = None
    for id in [only] if only is not None else db.read(user, _unfinished):
        while True:
            step = db.read(user, partial(_next, id=id))
            if step is None:
                break
            wanted, first = step
            if first == ["learned"]:
                learned.elsewhere(db, user, wanted, apply=True)
                reach("erased elsewhere")
            done = db.write(user, partial(_step, id=id, summaries=summaries))
            reach("erased")
            if done == ["rest"]:
                name = db.read(user, partial(_name_of_erased, user=user))
                user, back = name, user
                break
        db.scrub()
        reach("erasure scrubbed")
        try:
            db.write(user, partial(_finish, id=id))
        except NotFound:
            if back is None:
                raise
            user, back = back, None  # they wrote meanwhile, and have their name again
            db.write(user, partial(_finish, id=id))


def catch_up(db: Database) -> None:
    """Before anything is served: finish what another process could not."""
    for user in db.unfinished():
        try:
            resume(db, user)
        except StoreBusy:
            # All of it is gone from the rows. A long read in another program keeps the old log alive: the next opening
            # tries to cut it again.
            if db.read(user, lambda tx: any(_next(tx, id) for id in _unfinished(tx))):
                raise


def _unfinished(tx: Tx) -> list[str]:
    return [
        row[0]
        for row in tx.all(
            "select id from receipts where user_no = :user and finished_at is null order by erased_at, id"
        )
    ]


def _load(tx: Tx, id: str, *, lock: bool = False) -> Row:
    row = tx.one(
        f"select {COLUMNS} from receipts where user_no = :user and id = :id" + (tx.for_update if lock else ""), id=id
    )
    if row is None:
        raise NotFound(f"There is no receipt {id!r}. `receipts()` lists them.")
    return row


def _name_of_erased(tx: Tx, user: str) -> str:
    return erased.user_name(erased.key(tx), user)


def _next(tx: Tx, id: str) -> tuple[Target, list[Any]] | None:
    """What is to go, and the step that comes next; None when all are done."""
    row = _load(tx, id)
    if row[10] is not None or row[5] is None:
        return None
    wanted: Target = json.loads(row[5])
    return (wanted, wanted["steps"][0]) if wanted["steps"] else None


def _step(tx: Tx, id: str, summaries: bool) -> list[Any] | None:
    """The next step, with its counts, struck off the list in the same transaction."""
    row = _load(tx, id, lock=True)
    wanted: Target = json.loads(row[5])
    if not wanted["steps"]:
        return None  # another process did it
    step: list[Any] = wanted["steps"].pop(0)
    counts, changed = erasure.do(tx, wanted, step, id, row[3], summaries)
    tx.run(
        "update receipts set target = :target, counts = :counts, changed = :changed where user_no = :user and id = :id",
        id=id, target=json.dumps(wanted), counts=json.dumps(_shown(_plus(row[2], counts))),
        changed=json.dumps(_plus(row[6], changed)),
    )  # fmt: skip
    return step


def _plus(stored: str | None, more: Counts) -> Counts:
    return learned.total(json.loads(stored or "{}"), more)


def _finish(tx: Tx, id: str) -> None:
    row = _load(tx, id, lock=True)
    if row[10] is not None:
        return
    if row[5] is None:
        _renew(tx, row)
        return
    tx.run(
        "update receipts set checks = :checks, finished_at = :now where user_no = :user and id = :id",
        id=id, checks=json.dumps(erasure.check(tx, json.loads(row[5]))), now=ids.now(),
    )  # fmt: skip


def _renew(tx: Tx, row: Row) -> None:
    """A receipt from before there were hashes: the id in it becomes one, and is known as erased from now on."""
    request = {}
    for kind, what in json.loads(row[1]).items():
        request[kind] = _hash(tx, kind, what)
        there = tx.one("select 1 from conversations where user_no = :user and id = :id", id=what)
        if kind == "conversation" and there is None:
            erased.note(tx, erased.CONVERSATION, [what], row[0], row[3])
    tx.run(
        "update receipts set request = :request, who = 'user', changed = '{}', hashes = :hashes, backups = '[]', checks = '{}',"
        " finished_at = :at where user_no = :user and id = :id",
        id=row[0], request=json.dumps(request), hashes=json.dumps(list(request.values())), at=row[3],
    )  # fmt: skip


# -- reading


def _receipt(row: Row, checks: Counts | None = None) -> Receipt:
    found = json.loads(row[9] or "{}") if checks is None else checks
    return Receipt(
        row[0], json.loads(row[1]), json.loads(row[2]), row[3], row[4] or "user", json.loads(row[6] or "{}"),
        tuple(json.loads(row[7] or "[]")), tuple(json.loads(row[8] or "[]")), found, row[10],
    )  # fmt: skip


def get(tx: Tx, id: str) -> Receipt:
    return _receipt(_load(tx, id))


def listing(tx: Tx, conversation: str | None, limit: int) -> list[Receipt]:
    """The newest first; of one conversation, by the hash of its id."""
    if conversation is not None:
        row = tx.one(
            "select receipt from erased where user_no = :user and hash = :hash",
            hash=erased.hash_of(tx, erased.CONVERSATION, conversation),
        )
        return [] if row is None else [get(tx, row[0])]
    rows = tx.all(
        f"select {COLUMNS} from receipts where user_no = :user order by erased_at desc, id desc limit :limit",
        limit=limit,
    )
    return [_receipt(row) for row in rows]


def verify(tx: Tx, id: str) -> Receipt:
    """The receipt with the check that was run now."""
    row = _load(tx, id)
    return _receipt(row, {} if row[5] is None else erasure.check(tx, json.loads(row[5])))
