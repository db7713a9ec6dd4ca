"""Retention: what has had its time goes. A plan is made first; applying it is a dull second step, and a dry run is the
plan alone.

What hooks recorded, or somebody over HTTP, goes event by event, each when it is `retention_days` old, and a conversation goes with
its last one: a `default` session that never ends keeps what is recent. Conversations of the application and of LangGraph stay, or
go whole when nothing happened in them for as long as a setting says. What was learned from them stays: a memory outlives its
conversation. Memories go when they were not important enough to be kept without being said again, or when the day until
which they were true has passed. What is pinned stays, and so does the conversation that it stands in.
"""

from __future__ import annotations

from functools import partial

from . import branches, conversations, edits, ids, removal, sources
from .errors import NotFound
from .model import Expiry, Retention
from .search import index
from .views import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .config import Settings
    from .conversations import Found
    from .db import Database, Row, Tx

RECORDED = ("hook", "http")
"""Origins of conversations that expire by default."""


def pin(tx: Tx, event: str, pinned: bool) -> None:
    """Keep an event, or no longer."""
    named = ids.event(event)
    if named is None:
        raise NotFound(f"{event!r} is no event: its id is the conversation's, a colon and its number.")
    found, seq = conversations.find(tx, named[0], lock=True), named[1]
    if pinned:
        there = any(
            tx.one(
                "select 1 from events where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq",
                c=found.no, b=branch, seq=seq,
            )
            for branch in branches.tree(tx, found.no)
        )  # fmt: skip
        if not there:
            raise NotFound(f"Conversation {found.id!r} has no event {seq}: it was deleted, or never written.")
        tx.run(
            "insert into pins (user_no, conversation_no, seq, pinned_at) values (:user, :c, :seq, :now) on conflict do nothing",
            c=found.no, seq=seq, now=ids.now(),
        )  # fmt: skip
    else:
        tx.run("delete from pins where user_no = :user and conversation_no = :c and seq = :seq", c=found.no, seq=seq)


def pins(tx: Tx, conversation: str) -> list[int]:
    """Which events of a conversation are kept whatever happens."""
    found = conversations.find(tx, conversation)
    rows = tx.all("select seq from pins where user_no = :user and conversation_no = :c order by seq", c=found.no)
    return [int(row[0]) for row in rows]


def has_any(tx: Tx) -> bool:
    """Whether there is anything that will expire some day."""
    return (
        tx.one(
            "select 1 from conversations where user_no = :user and origin in ('hook', 'http') and last_seq > 0 limit 1"
        )
        is not None
        or tx.one(
            # By the memory's number too: without it, Postgres compared each of 10,000 heads with each change (2.6 s).
            "select 1 from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head and r.memory = m.id"
            " where m.user_no = :user and m.state = 'active' and (r.expires_at is not null or r.valid_to is not null) limit 1"
        )
        is not None
    )


def retain(db: Database, user: str, settings: Settings, *, apply: bool) -> Retention:
    now = ids.now()
    expiries: list[Expiry] = []
    kept = 0
    due = db.read(user, lambda tx: [(row, days) for row in _recorded(tx) if (days := _due(row, settings, now))])
    for row, days in due:
        by_age = row[3] in RECORDED
        before = f"{days:,} day{'s' if days != 1 else ''}"
        why = f"older than {before}" if by_age else f"nothing happened in it for {before}"
        # Read and applied under one lock: what is said meanwhile stays.
        run = db.write if apply else db.read
        until = now - days * ids.DAY_MS if by_age else None
        expiry, pinned = run(user, partial(_expire, id=row[1], activity=row[5], until=until, why=why, apply=apply))
        kept += pinned
        if expiry is not None:
            expiries.append(expiry)
    run = db.write if apply else db.read
    gone, pinned = run(user, lambda tx: _memories(tx, now, apply))
    return Retention((*expiries, *gone), kept + pinned, apply)


def _recorded(tx: Tx) -> list[Row]:
    return tx.all(
        "select no, id, workspace, coalesce(origin, 'application'), updated_at, activity from conversations"
        " where user_no = :user and last_seq > 0 order by activity"
    )


def _due(row: Row, settings: Settings, now: int) -> int:
    """After how many days a conversation has expired, or events of it may have; 0: nothing has."""
    _, _, workspace, origin, updated_at, _ = row
    if workspace is not None and workspace in settings.retention_workspaces:
        days = int(settings.retention_workspaces[workspace])
    else:
        days = settings.retention_days if origin in RECORDED else settings.retention_application_days
    return days if days and (origin in RECORDED or updated_at <= now - days * ids.DAY_MS) else 0


def _expire(tx: Tx, id: str, activity: int, until: int | None, why: str, apply: bool) -> tuple[Expiry | None, int]:
    """(what goes, how much stays because it is pinned): of what was recorded, the events that happened by `until`; else the
    conversation, unless something was said since it was looked at."""
    try:
        found = conversations.find(tx, id, lock=apply, deleted=True)
    except NotFound:
        return None, 0
    if until is not None:
        some = _aged(tx, found, until, why, apply)
        if some is not None:
            return some
    elif tx.all("select activity from conversations where user_no = :user and no = :c", c=found.no) != [(activity,)]:
        return None, 0
    pins = {row[0] for row in tx.all("select seq from pins where user_no = :user and conversation_no = :c", c=found.no)}
    limited = tx.all(
        "select count(*) from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head"
        " where m.user_no = :user and m.conversation_no = :c and r.pinned_at is not null",
        c=found.no,
    )[0][0]
    seqs = [
        row[0]
        for row in tx.all(
            "select seq from events where user_no = :user and conversation_no = :c order by seq", c=found.no
        )
        if row[0] not in pins
    ]
    if not seqs and (pins or limited):
        return None, len(pins) + limited
    expiry = Expiry("conversation", found.id, found.title or "", why, len(seqs))
    if apply and (pins or limited):
        said = removal.remove(tx, found, seqs)
        if found.title in {conversations.title_from(text) for kind, text in said if kind == "message"}:
            conversations.untitle(tx, found)
        conversations.drop_jobs(tx, found.no)
        conversations.drop_state(tx, found.no, keep_key=True)  # it says all of it once more
    elif apply:
        sources.outlive(tx, found, keep_place=False)
        removal.unindex(tx, found)
        index.retitle(tx, found.no, found.workspace, found.title, None)
        removal.drop(tx, found)
    return expiry, len(pins) + limited


def _aged(tx: Tx, found: Found, until: int, why: str, apply: bool) -> tuple[Expiry | None, int] | None:
    """The events of a conversation that have had their time, by their own age; None when all of them have, and so it has."""
    old = tx.all(
        "select distinct seq from events where user_no = :user and conversation_no = :c and created_at <= :until order by seq",
        c=found.no, until=until,
    )  # fmt: skip
    young = "from events where user_no = :user and conversation_no = :c and created_at > :until"
    if tx.one(f"select 1 {young} limit 1", c=found.no, until=until) is None:
        return None
    pins = {row[0] for row in tx.all("select seq from pins where user_no = :user and conversation_no = :c", c=found.no)}
    # What was corrected since stays, and so does what a trace that stays belongs to.
    needed = {row[0] for row in tx.all(f"select message {young} and message is not null", c=found.no, until=until)}
    kept = sum(row[0] in pins for row in old)
    seqs = [row[0] for row in old if row[0] not in pins and row[0] not in needed]
    if not seqs:
        return None, kept
    if apply:
        said = removal.remove(tx, found, seqs)
        if found.title in {conversations.title_from(text) for kind, text in said if kind == "message"}:
            conversations.untitle(tx, found)
    return Expiry("events", found.id, found.title or "", why, len(seqs)), kept


def _memories(tx: Tx, now: int, apply: bool) -> tuple[list[Expiry], int]:
    rows = tx.all(
        "select m.id, m.memory_id, coalesce(r.wording, m.content), r.expires_at, r.valid_to, r.kind, r.pinned_at, r.by_hand"
        " from memories m join memory_changes r on r.user_no = m.user_no and r.id = m.head"
        " where m.user_no = :user and m.state = 'active' and (r.expires_at <= :now or r.valid_to <= :now) order by m.id",
        now=now,
    )
    gone: list[Expiry] = []
    kept = 0
    edit = edits.Edit(tx, View(tx), who="retention") if apply and rows else None
    standing = View(tx).among([row[0] for row in rows]) if apply else {}
    for no, id, content, expires_at, valid_to, kind, pinned_at, by_hand in rows:
        if expires_at is not None and expires_at <= now and by_hand is None:
            why = "not important enough to be kept without being said again"
        elif valid_to is not None and valid_to <= now and kind != "todo":  # what is overdue is still to be done
            why = "no longer true"
        else:
            continue
        if pinned_at is not None:
            kept += 1
            continue
        gone.append(Expiry("memory", id, content, why, 0))
        if edit is not None:
            edit.put(no, standing[no], "expired", why, state="expired")
    if edit is not None:
        edit.finish()
    return gone, kept
