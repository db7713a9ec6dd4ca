"""Answers without a model: what is remembered and what was said, quoted with its date.

"What are my preferences?" is answered with the list. What a person says about themselves is acknowledged, and a secret that
they tell is said to be gone. Anything else is looked up, and the best evidence is quoted, with a remark that no model is set up. The same question over the same store
gives the same answer. What these answers quote is not evidence a second time: `fence.is_answer` knows them.
"""

from __future__ import annotations

import re

from . import ids
from .context import day
from .errors import NotFound
from .model import OFFLINE, Hit
from .search import fence
from .search.find import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Conversation, Memory
    from .store import Store

NAME = OFFLINE
"""What these answers are recorded under as their model."""
NO_MODEL, NOTED, LISTED = fence.NO_MODEL, fence.NOTED, fence.LISTED
EVIDENCE, NOTHING, EMPTY, SECRET = fence.EVIDENCE, fence.NOTHING, fence.EMPTY, fence.SECRET
MOST_LISTED, MOST_QUOTED, LONGEST = 50, 3, 300
LEAST, LEAST_SCORE = 0.45, 0.15
"""What is quoted has at least this share of the best hit's score, and this score: below is what merely shares a word."""
MEANT, MEANT_OF_ME, AROUND_IT = 0.3, 0.2, 0.3
"""How near in meaning it is where no word is shared, less if the question is about who asks; and what stands around it."""
MOST_LEFT = 200

_ASKS = re.compile(r"(?i)^\W*(what|which|list|show|tell|do|does|did|who|how|have|can|could|give|name|any|my)\b|\?\s*$")
_LISTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("preferences", r"\bpreferences?\b|\bwhat (?:do|did) i (?:like|prefer|want)\b", ("preference",)),
    ("todos", r"\b(?:to-?dos?|to do list|tasks)\b|\bwhat (?:do|should) i (?:have to|need to|still have to) do\b", ("todo",)),
    (
        "memories",
        r"\bwhat (?:do|can|did) you (?:know|remember|recall|learn)\b(?! about (?!me\b|myself\b))|\bwho am i\b|\babout me\b"
        r"|\bmy memories\b|\bwhat have i (?:told|said)\b(?=.{0,12}$)",
        ("preference", "fact", "todo", "project_state"),
    ),
)  # fmt: skip
_ORDER = {"preference": 0, "fact": 1, "todo": 2, "project_state": 3}


def answer(store: Store, question: str, *, conversation: str | None = None, branch: str | None = None) -> str:
    """An answer to what somebody just said, from this user's store alone. With a `conversation`, its own memories are seen
    too, as its active branch has them, or `branch`."""
    said, quoted = answered(store, question, conversation=conversation, branch=branch)
    store._used(q for q in quoted if isinstance(q, Hit))
    return said


def answered(
    store: Store, question: str, *, conversation: str | None = None, branch: str | None = None
) -> tuple[str, Sequence[Memory | Hit]]:
    """The answer, and what is quoted in it, in its order. Nothing counts as recalled: this may be asked as a look ahead."""
    question = store._gate.another().text(" ".join(question.split()))
    if not question:
        return f"{NOTHING} {NO_MODEL}", ()
    here = _here(store, conversation)
    kinds = _asked_for(question)
    if kinds is not None:
        return _listed(store, kinds[0], kinds[1], here, branch)
    noted = _noted(store, question)
    if "[redacted:" in question and (noted or not question.endswith("?")):
        return (f"{noted} {SECRET}" if noted else SECRET), ()
    return (noted, ()) if noted else _evidence(store, question, here, branch)


def _here(store: Store, conversation: str | None) -> Conversation | None:
    try:
        return None if conversation is None else store.get(conversation)
    except NotFound:
        return None


def _asked_for(question: str) -> tuple[str, tuple[str, ...]] | None:
    """(name, kinds) of the list that is asked for."""
    if not _ASKS.search(question):
        return None
    for name, how, kinds in _LISTS:
        if re.search(how, question, re.IGNORECASE):
            return name, kinds
    return None


def _listed(
    store: Store, name: str, kinds: Sequence[str], here: Conversation | None, branch: str | None
) -> tuple[str, Sequence[Memory]]:
    seen = store.memories(
        conversation=None if here is None else here.id, branch=branch if here is not None else None, kinds=kinds,
        limit=MOST_LISTED,
    )  # fmt: skip
    workspace = None if here is None else here.workspace
    listed = [m for m in seen if m.workspace in (None, workspace) and m.conversation_id in (None, here and here.id)]
    if not listed:
        return (EMPTY if name == "memories" else f"{EMPTY} I know of no {name} of yours."), ()
    listed.sort(key=lambda m: (_ORDER.get(m.kind, 9), _since(m), m.id))
    head = f"{LISTED} about you:" if name == "memories" else f"{LISTED} as your {name}:"
    return "\n".join([head, *(f"- {m.content} ({_dates(m)})" for m in listed)]), listed


def _since(memory: Memory) -> int:
    return memory.valid_from or memory.created_at


def _dates(memory: Memory) -> str:
    until = f", until {day(memory.valid_to)}" if memory.valid_to is not None and memory.kind != "todo" else ""
    due = f", due {day(memory.valid_to)}" if memory.valid_to is not None and memory.kind == "todo" else ""
    return f"{'' if memory.kind == 'todo' else 'since '}{day(_since(memory))}{until}{due}"


def _noted(store: Store, said: str) -> str | None:
    """What will be remembered of it; None when that is nothing, or nothing is looked for."""
    if not store.settings.memory_extract:
        return None
    from .extract import Turn, candidates

    offered = [c for c in candidates(Turn("user", "message", said, 1, ids.now())) if c.quarantine is None]
    lines = [c.content for c in offered if c.operation in ("assert", "correct")]
    lines += [f"no longer: {c.about}" for c in offered if c.operation == "retract" and c.about]
    if not lines:
        lines = [f"done: {c.about}" for c in offered if c.operation == "done" and c.about]
    return f"{NOTED}{'; '.join(lines)}." if lines else None


def _evidence(store: Store, question: str, here: Conversation | None, branch: str | None) -> tuple[str, Sequence[Hit]]:
    hits = found(store, question, here, branch, counts=False)
    asked, is_question = plain(question), _ASKS.search(question) is not None
    useful = [
        h
        for h in hits
        if not h.sensitive and plain(h.text) != asked and _is_said(h) and _answers(h, here, is_question=is_question)
    ]
    gone = _gone(store, here, branch) if useful else set()
    answers = [h for h in useful if h.id not in gone and not h.text.rstrip().endswith("?") and not _takes_back(h)]
    if not answers or answers[0].score < LEAST_SCORE:
        return f"{NOTHING} {NO_MODEL}", ()
    chosen: list[Hit] = []
    for hit in answers:
        if _fit(hit) < LEAST * _fit(answers[0]):
            continue
        same = next((i for i, other in enumerate(chosen) if _says_the_same(hit, other)), None)
        if same is None:
            chosen.append(hit)
        elif hit.type == "memory":  # the statement rather than the words it was taken from
            chosen[same] = hit
    chosen = chosen[:MOST_QUOTED]
    # A blank line, or Markdown takes the remark for a part of the last quotation.
    return "\n".join([EVIDENCE, *(_quoted(h) for h in chosen), "", NO_MODEL]), chosen


def found(
    store: Store,
    question: str,
    here: Conversation | None,
    branch: str | None,
    types: Sequence[str] = ("events", "memories"),
    counts: bool = True,
) -> list[Hit]:
    """What was said anywhere, in this conversation on this branch, and what is remembered as seen from here; best first.
    Neither the question itself, nor answers that only quote. With `counts`, the memories among it count as recalled."""
    workspace = None if here is None else here.workspace
    hits: list[Hit] = []
    if "events" in types:
        hits = store._search(
            question, types="events", conversation=None, workspace=workspace, limit=40, evidence=True
        )  # fmt: skip
        if here is not None:
            hits = [h for h in hits if h.conversation_id != here.id]
            hits += store._search(
                question, types="events", conversation=here, branch=branch, limit=20, evidence=True
            )  # fmt: skip
    if "memories" in types:
        seen = store._recalled(
            question, kinds=None, tags=None, conversation=here, branch=branch if here is not None else None,
            workspace=workspace, limit=20, shown=slice(None if counts else 0),
        )  # fmt: skip
        hits += [h for h in seen if h.conversation_id in (None, here and here.id)]
    return sorted(hits, key=lambda h: (-h.score, h.id))


def _answers(hit: Hit, here: Conversation | None, *, is_question: bool) -> bool:
    """Whether it speaks of what was asked: whatever is said, something is nearest, and "Thanks" got somebody's allergies for an
    answer. What stands around it counts only elsewhere: here, it stands around the question itself."""
    parts = hit.parts
    if parts.get("words", 0.0) > 0:
        return True
    if not is_question:
        return False
    if parts.get("meaning", 0.0) >= (MEANT_OF_ME if parts.get("speaker") else MEANT):
        return True
    return parts.get("neighbours", 0.0) >= AROUND_IT and hit.conversation_id != (here and here.id)


def _gone(store: Store, here: Conversation | None, branch: str | None) -> set[str]:
    """The messages of which nothing holds any more: what was learned from them was replaced or forgotten."""

    def sources(state: str) -> set[str]:
        on = branch if here is not None else None
        return {
            m.source for m in store.memories(conversation=here, branch=on, state=state, limit=MOST_LEFT) if m.source
        }

    return (sources("replaced") | sources("forgotten")) - sources("active")


def _takes_back(hit: Hit) -> bool:
    """`forget my dog` says nothing about the dog."""
    if hit.type == "memory" or hit.speaker != "user":
        return False
    from .extract import Turn, candidates

    offered = candidates(Turn("user", "message", hit.text[:LONGEST], 1, ids.now()))
    return bool(offered) and all(c.operation == "retract" for c in offered)


def _fit(hit: Hit) -> float:
    """How well it answers by itself: not because it was said beside something that does."""
    return hit.parts.get("words", 0.0) + hit.parts.get("meaning", 0.0)


def _says_the_same(a: Hit, b: Hit) -> bool:
    one, other = set(plain(a.text).split()), set(plain(b.text).split())
    share = 0.8 if a.type == b.type else 0.6  # a statement and the words it was taken from differ by their grammar
    return len(one & other) >= share * min(len(one), len(other))


def _is_said(hit: Hit) -> bool:
    return hit.type == "memory" or hit.kind in ("message", "note", "artifact", "tool_result", "summary")


def _quoted(hit: Hit) -> str:
    text = " ".join((hit.text if len(hit.text) <= LONGEST else hit.snippet).split())[:LONGEST]
    if hit.type == "memory":
        return f"- {day(hit.created_at)}, remembered: {text}"
    who = {"user": "you", "assistant": "I"}.get(hit.speaker or "", hit.speaker or hit.kind)
    return f'- {day(hit.created_at)}, {who} said: "{text}"'
