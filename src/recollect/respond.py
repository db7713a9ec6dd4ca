"""Answers without a model: what is remembered and what was said, quoted with its date.

"What are my preferences?" is answered with the list, and a greeting with a greeting. What a person says about themselves is
acknowledged, what ended is said to be over if it was on record, and a secret that they tell is said to be gone. Anything else is
looked up, and the best evidence is quoted, with a remark, once in a while, that no model is set up; what speaks to less than half of the question
(`coverage`) is none. The same question over the same store gives the same answer.
What these answers quote is not evidence a second time: `fence.is_answer` knows them.
"""

from __future__ import annotations

import re

from . import courtesies, erased, ids, memories
from .context import day
from .coverage import Coverage
from .errors import NotFound
from .extract.frames import content_words
from .extract.german import in_english, is_order
from .model import OFFLINE, SENSITIVE, Hit
from .search import fence, statistics
from .search.find import plain
from .search.fusion import WEIGHTS, Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .db import Tx
    from .extract import Candidate, Turn
    from .model import Conversation, Memory
    from .store import Store

NAME = OFFLINE
"""What these answers are recorded under as their model."""
NO_MODEL, NOTED, LISTED = fence.NO_MODEL, fence.NOTED, fence.LISTED
EVIDENCE, NOTHING, EMPTY, SECRET = fence.EVIDENCE, fence.NOTHING, fence.EMPTY, fence.SECRET
ONE_BY_ONE, SECRETIVE, FORGOTTEN, WORDS_STAY = fence.ONE_BY_ONE, fence.SECRETIVE, fence.FORGOTTEN, fence.WORDS_STAY
UNLEARNED, REVIEW, UNCHANGED, STAYS = fence.UNLEARNED, fence.REVIEW, fence.UNCHANGED, fence.STAYS
GREETING, WELCOME, GOODBYE, AGREED, MYSELF = fence.GREETING, fence.WELCOME, fence.GOODBYE, fence.AGREED, fence.MYSELF
_IN_RETURN = {"who": MYSELF, "goodbye": GOODBYE, "thanks": WELCOME, "greeting": GREETING, "consent": AGREED}
MOST_LISTED, MOST_QUOTED, MOST_SAID, LONGEST = 50, 3, 1_000, 300
COVERED, LEAST = 0.5, 0.75
"""What is quoted speaks to half of the question at least, and to this share of what the best speaks to."""
MEANT, MEANT_OF_ME = 0.3, 0.2
"""How near in meaning it is where words cannot be compared one by one, less if the question is about who asks."""
MOST_WEIGHED, MOST_LEFT, MOST_HELD, MOST_LATELY = 80, 200, 1_000, 30

_ASKS = re.compile(r"(?i)^\W*(what|which|list|show|tell|do|does|did|who|how|have|can|could|give|name|any|my)\b|\?\s*$")
_LISTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("preferences", r"\bpreferences?\b|\bwhat (?:do|did|don't|do not) i (?:not )?(?:like|dislike|love|hate|prefer|want)\b", ("preference",)),
    ("todos", r"\b(?:to-?dos?|to do list|tasks)\b|\bwhat (?:do|should) i (?:have to|need to|still have to) do\b", ("todo",)),
    (
        "memories",
        r"\bwhat (?:do|can|did) you (?:know|remember|recall|learn)\b(?! about (?!me\b|myself\b))|\bwho am i\b|\babout me\b"
        r"|\bmy memories\b|\bwhat have i (?:told|said)\b(?=.{0,12}$)",
        ("preference", "fact", "todo", "project_state"),
    ),
)  # fmt: skip
_OVER, _DONE = "no longer: ", "done: "
_FORGETS = re.compile(r"(?i)\b(?:forget|delete|erase|remove|unlearn|clear (?:all|my)|vergiss|vergesse|lösche?)\b")
"""An order: what it is about is forgotten, and need not be over."""
_FORGET_ALL = re.compile(
    r"(?i)\W*(?:please )?(?:forget|delete|erase|clear|wipe) (?:me|everything|it all|all of it|all memories"
    r"|(?:all )?(?:of )?my (?:data|memor(?:y|ies)))(?: (?:that )?(?:you|i) (?:(?!about|of\b|on\b).){1,25}?)?"
    r"(?: (?:about|of|on) me)?(?:,? (?:please|now|thanks))?\W*$"
)
"""An order that names nothing in particular."""
_SUPPOSES = re.compile(
    r"(?i)\W*(?:what )?(?:if|suppose|imagine|maybe|perhaps|i (?:think |guess )?i? ?(?:might|may|could|wish|would)|i'd) "
)
"""What is only supposed is no evidence for anything: "If I lived in Rome"."""
_SUBJECTS = frozenset("i we you he she it they this that there these those yesterday today ich wir mein meine".split())
_IS = frozenset("is are was were has have had".split())
_WH = frozenset("what which who how where when why whose whom".split())
_INVERTED = frozenset("is are was were am had has will would should may might must".split())
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
    said = store._gate.another().text(question)  # its lines tell what of it was typed
    question = " ".join(said.split())
    if not question:
        return f"{NOTHING} {NO_MODEL}", ()
    courtesy = courtesies.courtesy(question)
    if courtesy is not None:
        return _IN_RETURN[courtesy], ()
    here = _here(store, conversation)
    english = in_english(question)
    kinds = _asked_for(english or question)
    if kinds is not None:
        return _listed(store, kinds[0], kinds[1], here, branch)
    if _FORGET_ALL.match(question):
        return ONE_BY_ONE, ()
    noted = _noted(store, said, here, branch)
    if "[redacted:" in question and (noted or not question.endswith("?")):
        return (f"{noted} {SECRET}" if noted else SECRET), ()
    if noted:
        return noted, ()
    if english is None and is_order(question):
        return UNLEARNED, ()  # it asks for nothing that could be quoted
    said, quoted = _evidence(store, english or question, here, branch)
    if not quoted and english is not None:
        said, quoted = _evidence(store, question, here, branch)
    if not quoted and store.settings.memory_extract and is_statement(question):
        return UNLEARNED, ()
    return _remarked(store, said, here, branch), quoted


def _remarked(store: Store, said: str, here: Conversation | None, branch: str | None) -> str:
    """With the remark that no model is set up, unless it was made a while ago in the same conversation."""
    lately = [] if here is None else store.messages(here, limit=MOST_LATELY, branch=branch)
    if any(e.role == "assistant" and e.text.endswith(NO_MODEL) for e in lately):
        return said
    # After a list a blank line, or Markdown takes the remark for a part of the last quotation.
    return said + ("\n\n" if "\n" in said else " ") + NO_MODEL


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
    listed = _seen(store, here, branch, kinds=kinds, limit=MOST_LISTED)
    if not listed:
        return (EMPTY if name == "memories" else f"{EMPTY} I know of no {name} of yours."), ()
    listed.sort(key=lambda m: (_ORDER.get(m.kind, 9), _since(m), m.id))
    head = f"{LISTED} about you:" if name == "memories" else f"{LISTED} as your {name}:"
    return "\n".join([head, *(f"- {m.content} ({_dates(m)})" for m in listed)]), listed


def _seen(store: Store, here: Conversation | None, branch: str | None, **asked: Any) -> list[Memory]:
    """The memories that hold here."""
    found = store.memories(
        conversation=here, branch=branch if here is not None else None, **{"limit": MOST_HELD, **asked}
    )
    workspace = None if here is None else here.workspace
    return [m for m in found if m.workspace in (None, workspace) and m.conversation_id in (None, here and here.id)]


def _since(memory: Memory) -> int:
    return memory.valid_from or memory.created_at


def _dates(memory: Memory) -> str:
    until = f", until {day(memory.valid_to)}" if memory.valid_to is not None and memory.kind != "todo" else ""
    due = f", due {day(memory.valid_to)}" if memory.valid_to is not None and memory.kind == "todo" else ""
    return f"{'' if memory.kind == 'todo' else 'since '}{day(_since(memory))}{until}{due}"


def _noted(store: Store, said: str, here: Conversation | None, branch: str | None) -> str | None:
    """What will be remembered of it, or was a moment ago; None when that is nothing, or nothing is looked for."""
    if not store.settings.memory_extract:
        return None
    from .extract import Turn, candidates
    from .extract.rules import read

    turn, before = Turn("user", "message", said, 1, ids.now()), _before(store, said, here, branch)
    most = store.settings.memory_max_candidates_per_turn
    every = candidates(turn, before=before, most=most)
    if not every and any(c.operation in ("assert", "correct") for c in read(turn, before, most)):
        return None if "[redacted:" in said else SECRETIVE  # it would be offered, were it no secret
    offered = [c for c in every if c.quarantine is None]
    new = [c for c in offered if c.operation in ("assert", "correct")]
    held_back, stays = _contradicted(store, new, here, branch) if new else ([], [])
    lines = [c.content for c in new if c not in held_back]
    endings = [c for c in offered if c.operation == "retract"] or [
        c for c in offered if c.operation == "done" and not lines
    ]
    over, left = _ended(store, endings, here, branch) if endings else ([], [])
    gone = [line.removeprefix(_OVER) for line in over if line.startswith(_OVER)] if _FORGETS.search(said) else []
    lines += [line for line in over if not gone or not line.startswith(_OVER)]
    stays += left
    parts = [f"{NOTED}{'; '.join(lines)}."] if lines else []
    whole = candidates(turn, before=before, most=MOST_SAID) if len(every) == most > 0 else []
    left_out = sum(c.quarantine is None and c.operation in ("assert", "correct") for c in whole) - len(new)
    if left_out > 0:
        parts.append(f"Left out: {left_out} more. I take at most {most} from one message; say the others again.")
    parts += [f"{FORGOTTEN}{'; '.join(gone)}. {WORDS_STAY}"] if gone else []
    parts += [REVIEW] if held_back else []
    parts += [f"{STAYS}{'; '.join(stays)}."] if stays else []
    if parts:
        return " ".join(parts)
    if every and not offered:
        return REVIEW
    return UNCHANGED if endings and endings[0].operation == "retract" else None


def _contradicted(
    store: Store, new: Sequence[Candidate], here: Conversation | None, branch: str | None
) -> tuple[list[Candidate], list[str]]:
    """What of it is not taken as it is said, because it contradicts what a person wrote or pinned; and that."""
    from .decide import decide
    from .relations import Neighbour

    held = [m for m in _seen(store, here, branch) if m.conversation_id is None]
    back: list[Candidate] = []
    stays: list[str] = []
    for c in new:
        workspace = here.workspace if c.kind == "project_state" and here is not None else None
        near = [m for m in held if m.workspace == workspace]
        decision = decide(c, [Neighbour(m.id, m.content, m.kind, pinned=m.pinned, by_hand=m.by_hand) for m in near])
        if decision.action == "conflict":
            back.append(c)
            stays += [m.content for m in near if m.id in (decision.id, *decision.others)]
    return back, list(dict.fromkeys(stays))


def _before(store: Store, said: str, here: Conversation | None, branch: str | None) -> list[Turn]:
    """The messages before it: "no, it's Jon" needs them. What is answered may be among them already, as the last."""
    from .extract import Turn

    events = [] if here is None else store.messages(here, limit=7, branch=branch)
    if events and events[-1].role == "user" and events[-1].text.split() == said.split():
        events = events[:-1]
    return [Turn.of(e) for e in events[-6:] if e.kind == "message"]


def _ended(
    store: Store, endings: Sequence[Candidate], here: Conversation | None, branch: str | None
) -> tuple[list[str], list[str]]:
    """What is over by these words, and what would be if nobody had written or pinned it. What was said may have been
    considered already: what it ended is among what was forgotten then."""
    from .decide import decide
    from .relations import Neighbour

    held = _seen(store, here, branch) + _seen(store, here, branch, state="forgotten", limit=MOST_LEFT)
    over: list[str] = []
    stays: list[str] = []
    for c in endings:
        workspace = here.workspace if c.kind == "project_state" and here is not None else None
        for among in (held, _seen(store, here, branch, state="replaced", limit=MOST_LEFT)):
            near = [m for m in among if m.conversation_id is None and m.workspace == workspace]
            decision = decide(c, [Neighbour(m.id, m.content, m.kind, pinned=m.pinned, by_hand=m.by_hand) for m in near])
            if among is not held and decision.content is None:
                continue  # it was replaced for another reason
            hit = [m.content for m in near if m.id in (decision.id, *decision.others)]
            if decision.action == "conflict":
                stays += hit
            elif decision.content is not None:
                over.append(decision.content)
            else:
                over += [f"{_DONE if c.operation == 'done' else _OVER}{content}" for content in hit]
            if hit:
                break
    return list(dict.fromkeys(over)), list(dict.fromkeys(stays))


def is_statement(said: str) -> bool:
    """Whether it tells something rather than asks for it: it has a subject before its verb, and no mark of a question."""
    from .extract.clauses import read
    from .extract.cutting import open_up, words
    from .extract.words import BASES, PAST, THIRD, low

    tokens = open_up(words(said))[0]
    first = low(tokens[0]) if tokens else ""
    if said.endswith("?") or len(tokens) < (2 if first in _SUBJECTS else 3):
        return False
    if (_ASKS.search(said) and first != "my") or first in _INVERTED:
        return False
    if first in ("my", "our", "the"):
        return any((w := low(t)) in _IS or w in THIRD or w in PAST for t in tokens[2:])
    return first in _SUBJECTS or (
        not _WH & {low(t) for t in tokens} and first not in BASES and read(tokens) is not None
    )


def _evidence(store: Store, question: str, here: Conversation | None, branch: str | None) -> tuple[str, Sequence[Hit]]:
    hits = found(store, question, here, branch, counts=False, most=MOST_WEIGHED)
    asked, gone = plain(question), _gone(store, here, branch)
    covers = _coverage(store, question)
    hits += _stated(store, covers, here, branch, {h.id for h in hits})
    answers: list[tuple[float, Hit]] = []
    beside: list[tuple[float, Hit]] = []
    for hit in hits:
        if (
            (hit.sensitive and not store.settings.context_sensitive)
            or not _is_said(hit)
            or plain(hit.text) == asked
            or hit.text.rstrip().endswith("?")
        ):
            continue
        if hit.type == "event" and _SUPPOSES.match(hit.text):
            continue
        share = covers.of(hit.text, is_dated=_is_dated(hit))
        share = max(share, 0.0 if covers.knows_near else _meant(hit))
        around = 0.0 if covers.is_of_others(hit.text) else _around(hit, here)
        if max(share, around) < COVERED or (hit.type == "event" and _is_void(store, hit, gone, here)):
            continue
        (answers if share >= COVERED else beside).append((max(share, around), hit))
    # What is remembered is how things stand; what was said is how they stood then.
    remembered = {h.id for _, h in answers if h.type == "memory"}
    if remembered:
        sources = {m.source for m in _seen(store, here, branch) if m.id in remembered}
        answers = [(share, h) for share, h in answers if h.id not in sources]
    else:
        answers += beside
    if not answers:
        return NOTHING, ()
    best = max(share for share, _ in answers)
    chosen: list[Hit] = []
    for share, hit in sorted(answers, key=lambda a: (a[1].type != "memory", -round(a[0], 1), -a[1].score, a[1].id)):
        if share < LEAST * best or any(_says_the_same(hit, other) for other in chosen):
            continue
        chosen.append(hit)
    chosen = chosen[:MOST_QUOTED]
    return "\n".join([EVIDENCE, *(_quoted(h) for h in chosen)]), chosen


def _stated(
    store: Store, covers: Coverage, here: Conversation | None, branch: str | None, known: set[str]
) -> list[Hit]:
    """The memories that state what is asked for in words of which search knows nothing."""
    held = _seen(store, here, branch) if covers.is_of_known else ()
    return [
        Hit("memory", m.kind, m.id, m.conversation_id, None, m.content, m.content, 0.0, {}, m.created_at, None, None, SENSITIVE in m.tags)
        for m in held
        if m.id not in known and covers.is_stated(m.content)
    ]  # fmt: skip


def _coverage(store: Store, question: str) -> Coverage:
    count, frequencies = statistics.load(store._db, store._user)
    semantic = store._semantic()
    embed = None
    if semantic is not None:
        from .search.embed import WordLlama

        embed = semantic.embed if isinstance(semantic.embedder, WordLlama) else None
    asks = [part for part in re.split(r"(?<=[.!?])\s+", question) if part.endswith("?")]
    return Coverage(" ".join(asks) or question, Statistics(count, frequencies), embed)


def found(
    store: Store,
    question: str,
    here: Conversation | None,
    branch: str | None,
    types: Sequence[str] = ("events", "memories"),
    counts: bool = True,
    most: int = 20,
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
            workspace=workspace, limit=most, shown=slice(None if counts else 0),
        )  # fmt: skip
        hits += [h for h in seen if h.conversation_id in (None, here and here.id)]
    return sorted(hits, key=lambda h: (-h.score, h.id))


def _around(hit: Hit, here: Conversation | None) -> float:
    """A reply seldom repeats the words of its question: what stands around it counts. Elsewhere alone: here, it stands
    around the question itself."""
    return hit.parts.get("neighbours", 0.0) if hit.conversation_id != (here and here.id) else 0.0


def _is_dated(hit: Hit) -> bool:
    """Whether it agrees with the date that is asked for: to tell when, where that is asked, counts for less."""
    return hit.parts.get("time", 0.0) > WEIGHTS.when


def _meant(hit: Hit) -> float:
    """All of it or nothing, by the cosine of the whole."""
    near = hit.parts.get("meaning", 0.0) >= (MEANT_OF_ME if hit.parts.get("speaker") else MEANT)
    return 1.0 if near else 0.0


def _gone(store: Store, here: Conversation | None, branch: str | None) -> tuple[set[str], list[frozenset[str]]]:
    """What no longer holds: the messages it was learned from, and its words."""
    on = branch if here is not None else None
    sources: set[str] = set()
    words: list[frozenset[str]] = []
    for state in ("replaced", "forgotten", "expired"):
        for m in store.memories(conversation=here, branch=on, state=state, limit=MOST_LEFT):
            sources |= {m.source} if m.source else set()
            words.append(content_words(m.content))
    return sources, [w for w in words if w]


def _is_past(hit: Hit, gone: tuple[set[str], list[frozenset[str]]]) -> bool:
    """Whether a message says what was replaced or forgotten since, wherever and by whomever it was said. What else it says
    is remembered by itself, or else goes unsaid: better than what is out of date."""
    sources, words = gone
    said = content_words(hit.text[:LONGEST])
    return hit.id in sources or any(w <= said for w in words)


def _is_void(store: Store, hit: Hit, gone: tuple[set[str], list[frozenset[str]]], here: Conversation | None) -> bool:
    """Whether an answer must not be made of a message: what it says is past, taken back, or was erased since."""
    if _is_past(hit, gone):
        return True
    from .extract import Turn, candidates

    text = hit.text[:LONGEST]
    if hit.speaker == "assistant":
        text = re.sub(r"(?i)\byour\b", "my", re.sub(r"(?i)\byou(?: are\b|'re\b)", "I am", text))
        text = re.sub(r"(?i)\byou\b", "I", text)
    offered = candidates(Turn("user", "message", text, 1, hit.created_at))
    if hit.speaker == "user" and offered and all(c.operation == "retract" for c in offered):
        return True  # `forget my dog` says nothing about the dog
    places = (None,) if here is None else (None, here.workspace)
    names = [memories.id_of(c.content, None, place) for c in offered for place in places]
    return bool(names) and store._read(lambda tx: _is_erased(tx, names, hit.created_at))


def _is_erased(tx: Tx, memories: Sequence[str], said_at: int) -> bool:
    """Whether one of these memories was erased after that: a hash is all that is left to know it by."""
    return any((at := erased.at(tx, erased.MEMORY, id)) is not None and at >= said_at for id in memories)


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
