"""From a turn to candidates: what a person says about themselves, their wishes and their work, as short statements.

No model is needed. A turn is cut into sentences; what is a question, a supposition, a quotation, code or somebody else's
text is left alone; what remains is matched against what people say when they want something to be kept, and rewritten
in the third person ("I'm allergic to nuts" becomes "Allergic to nuts"). Precision comes before recall: a memory that is
wrong is worse than one that is missing, and a sentence that is not understood is still in the log.

Everything here is pure: no database, no clock but the turn's own, and time linear in the length of the turn.
"""

from __future__ import annotations

from ..light import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..model import Event

MOST = 8
"""Candidates of one turn, unless the setting `memory_max_candidates_per_turn` says otherwise."""
SESSION, SESSION_WORDS = 10, 40
"""Statements of a whole session, and words of each."""
RULES = "rules"
"""`Candidate.extractor` of what the rules found in prose; `events` is what was derived from a structured event."""


@dataclass(frozen=True)
class Turn:
    """An event as extraction sees it. `Turn.of(event)` makes one."""

    role: str | None  # who speaks
    kind: str  # the event's kind
    text: str  # what was said
    seq: int  # the event's number
    created_at: int  # when it was said: relative dates are resolved against it
    tool: str | None = None  # of a tool_use, tool_result or approval
    path: str | None = None  # the file that is meant
    status: str | None = None  # of an approval, ledger entry or tool result
    name: str | None = None  # of an event of another system
    task_id: str | None = None  # of a ledger entry
    payload: object = None  # the event's payload, a mapping
    checkpoint_id: str | None = None  # the graph's checkpoint it came with; None outside a graph
    own: bool = (
        True  # False for a user message that the graph injected, not the person: it is then somebody else's text
    )

    @staticmethod
    def of(event: Event, *, checkpoint_id: str | None = None, own: bool = True) -> Turn:
        """An event of the log as a turn."""
        return Turn(
            event.role, event.kind, event.text, event.seq, event.created_at, event.tool, event.path, event.status,
            event.name, event.task_id, event.payload, checkpoint_id, own,
        )  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A statement that a turn offers to memory, and what it would do there.

    `operation` says how to take it: "assert" states something; "correct" states something and says that what was held
    about the same thing was wrong; "retract" says that `about` no longer holds (its `content` is what was said, for the
    history, and is never stored); "done" says that the todo in `about` is finished (likewise never stored).
    """

    content: str  # the statement in the third person, without a subject where that is the user: "Prefers dark mode"
    kind: str  # fact, preference, todo, project_state
    importance: float  # 0..1, from one table by family
    tags: tuple[str, ...]  # free words
    source_checkpoint_id: str  # the checkpoint's id, or "event:<seq>" outside a graph
    seqs: tuple[int, ...]  # the events it came from; the first is the turn's own
    role: str | None  # whose words: user, assistant, tool, system
    extractor: str  # "rules", "events", or "model:<name>"
    operation: str = "assert"  # assert, retract, correct, done
    about: str | None = None  # what it replaces, retracts or finishes, in the third person
    valid_from: int | None = None  # when it began to be true, if that was said; else the turn's time holds
    valid_to: int | None = None  # when it stops being true or is due, if that was said
    quarantine: str | None = None  # why a person has to look at it first; None: it may become active
    family: str = ""  # which rule found it: a row of `IMPORTANCE`
    mode: str = ""  # "now" when it was said as news (now, these days), "also" when it was said as one more (too, also)
    slot: str | None = None  # how the statements begin of which one of this conversation holds at a time: "Task fix "

    @property
    def query(self) -> str:
        """The words to look for neighbours with: the statement, what it is about, and what it might be held as."""
        from .framing import query

        return query(self.content, self.about)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics (see `topic`) under which a memory would be held that this one could touch."""
        from .framing import topic

        found = [topic(text) for text in (self.content, self.about) if text]
        return tuple(dict.fromkeys(t for t in found if t))


def topic(content: str) -> str | None:
    """What a statement is about, as one short key: "user/home" for "Lives in Lisbon" and for "Moved to Porto".

    Two statements of one topic are neighbours even when they share no word, which no search by words or meaning can
    promise. Keep it in a column beside each memory (by hand or not), and hand `decide` the memories of the candidate's
    `topics` first, then those that search finds. None when the statement is not understood."""
    from .framing import topic

    return topic(content)


def candidates(
    turn: Turn,
    *,
    before: Sequence[Turn] = (),
    most: int = MOST,
    model: Any = None,
    timeout: float = 1.0,
) -> list[Candidate]:
    """What a turn offers to memory, most important first when there are more than `most`, else in the order said.

    `before`: the few messages before it, oldest first ("yes, exactly" and "no, Anna with two n" need them). `model`: a
    LangChain chat model or a callable that is asked as well, for `timeout` seconds at most; what it finds comes on top of what
    the rules found. What a secret is, is not offered. Never raises on any text."""
    from .rules import read
    from .secrets import may_tell_another, offers

    found = [c for c in read(turn, before, most) if offers(c)]
    if "[redacted:" in turn.text:
        found = [c for c in found if c.operation == "retract" or not may_tell_another(c.content)]
    if model is None or turn.kind != "message" or turn.role != "user" or not turn.own:
        return found
    from .asking import ask, merged

    answered = ask([*before, turn], model, timeout=timeout, most=most)
    # What came before was considered before: of the model's answer only this turn counts.
    return merged(found, [c for c in answered if c.seqs == (turn.seq,) and offers(c)], most)


def session(turns: Sequence[Turn], *, model: Any = None, timeout: float = 1.0) -> list[Candidate]:
    """What a whole session offers: at most 10 statements of at most 40 words, the most important, in the order said."""
    found: list[Candidate] = []
    for i, turn in enumerate(turns):
        found += candidates(turn, before=turns[max(0, i - 6) : i])
    if model is not None:
        from .asking import ask, merged
        from .secrets import offers

        answered = [c for c in ask(turns, model, timeout=timeout, most=SESSION) if offers(c)]
        found = merged(found, answered, len(found) + SESSION)
    found = [c for c in found if len(c.content.split()) <= SESSION_WORDS]
    best = sorted(range(len(found)), key=lambda i: (-found[i].importance, -found[i].seqs[0]))[:SESSION]
    return [found[i] for i in sorted(best)]
