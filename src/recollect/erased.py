"""What was erased is known by a hash, so that a late writer cannot bring it back.

A running graph, a queued job, a hook or an import may still hold what was erased a moment ago. Each meets `Erased` where it
would write: the conversation's id is refused, and so are the checkpoints that a running graph would go on from and the
messages that it would say again. The hashes are keyed with a secret of the database: they tell nothing, and whoever asks
with an id gets an answer.
"""

from __future__ import annotations

from . import ids
from .errors import Erased

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .db import Row, Tx

CONVERSATION, CHECKPOINT, MESSAGE, MEMORY = "conversation", "checkpoint", "message", "memory"
KEY, LEARNED, ITEM = "key", "learned", "item"
"""The key that an event was written with; and what went with something else. The latter an import does not bring back; saying it
again is no bringing back."""


def key(tx: Tx) -> str:
    row = tx.one("select value from meta where name = 'erasure key'")
    return "" if row is None else str(row[0])


def hashed(secret: str, user: int, kind: str, id: str) -> str:
    return ids.keyed(secret, user, kind, id)


def user_name(secret: str, user: str) -> str:
    """What a user is called in the database once everything of theirs is erased."""
    return ids.ERASED + ids.keyed(secret, "user", user)


def hash_of(tx: Tx, kind: str, id: str) -> str:
    return hashed(key(tx), tx.user, kind, id)


def asking(tx: Tx, kind: str) -> Callable[[], bool]:
    """`has_any`, whose answer is read further on."""
    rows = tx.later("select 1 from erased where user_no = :user and kind = :kind limit 1", kind=kind)
    return lambda: bool(tx.known("erased", kind, lambda: bool(rows())))


def asking_both(tx: Tx, kind: str, other: str) -> tuple[Callable[[], bool], Callable[[], bool]]:
    """`asking` for two kinds at once."""
    rows = tx.later(
        "select exists (select 1 from erased where user_no = :user and kind = :kind),"
        " exists (select 1 from erased where user_no = :user and kind = :other)",
        kind=kind, other=other,
    )  # fmt: skip
    answer: list[Row] = []

    def ask(n: int) -> bool:
        answer[:] = answer or rows()
        return bool(answer[0][n])

    return (
        lambda: bool(tx.known("erased", kind, lambda: ask(0))),
        lambda: bool(tx.known("erased", other, lambda: ask(1))),
    )


def has_any(tx: Tx, kind: str) -> bool:
    """Whether anything of this kind was ever erased: mostly not, and then there is nothing to compute."""
    return asking(tx, kind)()


def at(tx: Tx, kind: str, id: str) -> int | None:
    """When something was erased; None: it was not, or has been created anew since."""
    if not has_any(tx, kind):
        return None
    row = tx.one("select erased_at from erased where user_no = :user and hash = :hash", hash=hash_of(tx, kind, id))
    return None if row is None else int(row[0])


def note(tx: Tx, kind: str, names: Iterable[str], receipt: str, now: int) -> list[str]:
    """Remember that these were erased. Returns their hashes."""
    secret = key(tx)
    hashes = [hashed(secret, tx.user, kind, id) for id in names]
    for hash in hashes:
        tx.run(
            "insert into erased (user_no, hash, kind, erased_at, receipt) values (:user, :hash, :kind, :now, :receipt)"
            " on conflict (user_no, hash) do update set erased_at = excluded.erased_at, receipt = excluded.receipt",
            hash=hash, kind=kind, now=now, receipt=receipt,
        )  # fmt: skip
    return hashes


def forgive(tx: Tx, kind: str, id: str) -> None:
    """It is created anew, because somebody asked for it."""
    if has_any(tx, kind):
        tx.run("delete from erased where user_no = :user and hash = :hash", hash=hash_of(tx, kind, id))


def refuse(tx: Tx, conversation: str) -> None:
    """Raise if a conversation of this id was erased and not created anew."""
    when = at(tx, CONVERSATION, conversation)
    if when is not None:
        raise Erased(
            f"Conversation {conversation!r} was erased. Nothing was written; to begin one of that id anew, say so: "
            "`create(id, again=True)`, or `recollect new --id ID --again`."
        )


def refuse_thread(tx: Tx, conversation: str | None) -> None:
    """The same for what only names a conversation: one that is there again may be written to."""
    if conversation is not None and has_any(tx, CONVERSATION):
        there = tx.one("select 1 from conversations where user_no = :user and id = :id", id=conversation)
        if there is None:
            refuse(tx, conversation)


def refuse_checkpoint(tx: Tx, conversation: str, *checkpoints: str | None, any: Callable[[], bool]) -> None:
    """Raise for a graph that goes on from a state that was erased. `any` is what `asking` gave for its kind."""
    if any():
        for checkpoint in checkpoints:
            if checkpoint is not None and at(tx, CHECKPOINT, f"{conversation}\0{checkpoint}") is not None:
                raise Erased(
                    f"The state that this run of conversation {conversation!r} goes on from was erased. Nothing was written; "
                    "start the run again."
                )


def said(role: str | None, text: str) -> str:
    """What stands for the words of a message where its key does not: a hook and a transcript have a key each for the same."""
    return f"said\0{role}\0{text}"


def keys(tx: Tx, conversation: str, among: Iterable[str]) -> dict[str, int]:
    """Of these idempotency keys, those of events that were erased, and when."""
    if not has_any(tx, KEY):
        return {}
    return {key: when for key in among if (when := at(tx, KEY, f"{conversation}\0{key}")) is not None}


def refuse_keys(tx: Tx, conversation: str, among: Iterable[str]) -> None:
    """Raise for whoever writes an event again that was erased: a hook, an import or a queue that is late."""
    if keys(tx, conversation, among):
        raise Erased(
            f"An event of conversation {conversation!r} with this key was erased. Nothing was written; leave it out, or write "
            "it with another key."
        )


def refuse_messages(tx: Tx, conversation: str, messages: Iterable[str], *, any: Callable[[], bool]) -> None:
    """Raise for a graph that says again what was erased."""
    if any():
        for message in messages:
            if at(tx, MESSAGE, f"{conversation}\0{message}") is not None:
                raise Erased(
                    f"A message of this state was erased from conversation {conversation!r}. Nothing was written; start the "
                    "run again without it."
                )
