"""One ordered history out of two: the stored tail of a chat, and what a run's graph holds of it.

Both are parts of the same history, each in its order. A checkpoint may hold messages that are stored and older than the tail,
messages that were never stored because the store was away, messages whose words were edited, and the new question; another
device may have stored messages that the checkpoint has never seen. What both have is found by its id. A message without one, in
a list that an application keeps itself, is found by its words, the newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

if TYPE_CHECKING:
    from .history import History, Tail

__all__ = ["Place", "known_again", "merged"]


class Place(NamedTuple):
    """A message in the order in which a graph holds it."""

    message: BaseMessage
    has_own_id: bool
    """Whether it came with its id; else the id says only where it stands."""


def merged(past: Sequence[BaseMessage], current: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Oldest to newest, each message once, in the words of the present where both have it. Between two messages that both
    have, what is stored comes first."""
    stored = {m.id for m in past}
    waiting = list(reversed(list({m.id: m for m in current}.values())))
    left = {m.id for m in waiting}
    found: list[BaseMessage] = []
    for m in past:
        if m.id not in left:
            found.append(m)
            continue
        while waiting:
            one = waiting.pop()
            left.discard(one.id)
            if one.id == m.id or one.id not in stored:
                found.append(one)
            if one.id == m.id:
                break
    return [*found, *(m for m in reversed(waiting) if m.id not in stored)]


def known_again(tail: Tail, places: Sequence[Place], history: History) -> list[BaseMessage]:
    """The current messages, those that are stored under their stored ids, without those that are older than the tail."""
    asked = len(places)
    while asked and isinstance(places[asked - 1].message, HumanMessage):
        asked -= 1
    head = _by_their_words(tail, places[:asked], {p.message.id for p in places if p.has_own_id}, history.words)
    last = [p.message if p.has_own_id else _told_apart(p.message, tail, history) for p in places[asked:]]
    if not tail.is_cut:
        return [*head, *last]
    stored = {m.id for m in tail.messages}
    older = next((i for i, m in enumerate(head) if m.id in stored), None)
    if older is None:
        older = next((i + 1 for i in range(len(head) - 1, -1, -1) if _is_stored(head[i], history)), 0)
    return [*(m for m in head[:older] if isinstance(m, SystemMessage)), *head[older:], *last]


def _is_stored(message: BaseMessage, history: History) -> bool:
    return not isinstance(message, SystemMessage) and history.has(message)


def _by_their_words(
    tail: Tail, head: Sequence[Place], own: set[str | None], words: Callable[[BaseMessage], str]
) -> list[BaseMessage]:
    """Earlier messages, with the ids that they are stored under. Where one has no id of its own, the longest common
    subsequence of the two lists tells which it is, and of several the newest."""
    messages = [p.message for p in head]
    if all(p.has_own_id for p in head) or not tail.messages:
        return messages
    stored = tail.messages
    first = max(0, len(head) - 2 * len(stored))
    said = [(m.type, words(m)) for m in messages[first:]]
    kept = [(m.type, words(m)) for m in stored]

    def is_same(i: int, j: int) -> bool:
        if messages[first + i].id == stored[j].id:
            return True
        return not head[first + i].has_own_id and stored[j].id not in own and said[i] == kept[j]

    longest = [[0] * (len(kept) + 1) for _ in range(len(said) + 1)]
    for i in range(len(said)):
        for j in range(len(kept)):
            better = max(longest[i][j + 1], longest[i + 1][j])
            longest[i + 1][j + 1] = longest[i][j] + 1 if is_same(i, j) else better
    i, j = len(said), len(kept)
    while i and j:
        if is_same(i - 1, j - 1):
            i, j = i - 1, j - 1
            messages[first + i] = messages[first + i].model_copy(update={"id": stored[j].id})
        elif longest[i - 1][j] >= longest[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return messages


def _told_apart(message: BaseMessage, tail: Tail, history: History) -> BaseMessage:
    """Where nothing is carried from turn to turn, "yes" stands in the same place of the same thread every time. One that was
    answered is of an earlier turn: this is another, known by the answer it follows (so a retry is the same)."""
    places = {m.id: n for n, m in enumerate(tail.messages)}
    answers = [n for n, m in enumerate(tail.messages) if not isinstance(m, HumanMessage)]
    at = places.get(message.id)
    if not answers or (at is not None and at > answers[-1]):
        return message
    if at is None and not (tail.is_cut and history.has(message)):
        return message
    said = f"{message.id}|{tail.messages[answers[-1]].id}".encode("utf-8", "replace")
    return message.model_copy(update={"id": blake2b(said, digest_size=16).hexdigest()})
