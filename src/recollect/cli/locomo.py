"""LoCoMo, a public set of long conversations with questions: how much of the evidence for an answer is found?

Each dialog becomes one user of a scratch store, each of its sessions a conversation, each turn a message with its
speaker as agent and the time it was said. Then every question is asked as a caller would ask it, with the default
settings: `store.search` and `store.context`. Of each question's evidence is counted the share that is

- among the first 10 hits (turn recall@10);
- among the hits that fit into 800 tokens, taken in order, `ceil(len("Speaker: text") / 4)` tokens each, one that does
  not fit skipped;
- of its sessions, among the first 5 that the hits come from (session recall@5);
- quoted by `store.context(budget=800)`.

A figure is the mean over questions. The set itself is not ours to hand on (CC BY-NC 4.0): it is read where it lies, and
what was missed is written beside nothing of ours.
"""

import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config import Settings
from ..errors import InvalidInput
from ..model import Entry
from ..store import Store

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
FIRST_TURNS = 10
FIRST_SESSIONS = 5
BUDGET = 800
HITS = 50  # asked for: more than ever fit into the budget
MEASURES = ("turn_recall_10", "recall_800_tokens", "session_recall_5", "context_800_tokens")


@dataclass(frozen=True)
class Turn:
    """One thing that was said."""

    id: str
    session: str
    at: int
    speaker: str
    text: str


@dataclass(frozen=True)
class Dialog:
    """One long conversation in sessions, and what is asked about it."""

    id: str
    speakers: tuple[str, ...]
    turns: tuple[Turn, ...]
    questions: tuple[tuple[str, frozenset[str], int], ...]  # question, turns that are its evidence, category


@dataclass(frozen=True)
class Answer:
    """What was found for one question."""

    dialog: str
    question: str
    category: int
    recall: dict[str, float]
    search_ms: float
    context_ms: float
    missed: tuple[Turn, ...] = ()  # evidence that is not among the first 10 hits
    instead: tuple[Turn, ...] = ()  # the first 10 hits


@dataclass
class Report:
    """All answers, and what the loading cost."""

    answers: list[Answer] = field(default_factory=list)
    turns: int = 0
    load_seconds: float = 0.0

    def rows(self) -> list[tuple[str, int, dict[str, float]]]:
        """(name, questions, means) by category, then overall."""
        found = []
        for category in sorted({a.category for a in self.answers}):
            some = [a for a in self.answers if a.category == category]
            name = CATEGORIES.get(category, f"category {category}")
            found.append((f"{category} {name}" if category in CATEGORIES else name, len(some), _means(some)))
        return [*found, ("all", len(self.answers), _means(self.answers))]

    def times(self) -> dict[str, dict[str, float]]:
        found = {}
        for name in ("search", "context"):
            took = sorted(getattr(a, f"{name}_ms") for a in self.answers)
            found[name] = {f"p{p}": round(took[min(len(took) - 1, len(took) * p // 100)], 2) for p in (50, 95)}
        return found


def _means(answers: Sequence[Answer]) -> dict[str, float]:
    return {m: round(sum(a.recall[m] for a in answers) / len(answers), 4) for m in MEASURES}


# -- reading


def load(file: Path) -> list[Dialog]:
    """The dialogs of a file; whatever does not fit the format is said with its place."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {file}.") from None
    except ValueError as e:
        raise InvalidInput(f"{file} is not JSON: {e}.") from None
    if not isinstance(data, list) or not data:
        raise InvalidInput(f"{file} should be a list of dialogs.")
    dialogs = [_dialog(item, f"{file}: dialog {i}") for i, item in enumerate(data)]
    if not any(d.questions for d in dialogs):
        raise InvalidInput(f"{file} has no question with evidence.")
    return dialogs


def _dialog(item: Any, where: str) -> Dialog:
    try:
        turns = tuple(
            Turn(str(t["id"]), str(t["session"]), moment(t["at"]), str(t["speaker"]), str(t["text"]))
            for t in item["turns"]
        )
        known = {t.id for t in turns}
        questions = tuple(
            (str(q["question"]), frozenset(map(str, q["evidence"])), int(q["category"])) for q in item["questions"]
        )
    except (KeyError, TypeError, ValueError) as e:
        raise InvalidInput(f"{where} does not have the form of LoCoMo ({type(e).__name__}: {e}).") from None
    for question, evidence, _ in questions:
        if not evidence <= known:
            raise InvalidInput(f"{where}: the evidence of {question!r} is not among the turns.")
    speakers = tuple(item.get("speakers") or dict.fromkeys(t.speaker for t in turns))
    return Dialog(str(item.get("id", where)), speakers, turns, tuple(q for q in questions if q[1]))


def moment(at: Any) -> int:
    """`1:56 pm on 8 May, 2023`, an ISO time, or milliseconds."""
    if isinstance(at, (int, float)):
        return int(at)
    for read in (_spoken, datetime.fromisoformat):
        try:
            then = read(at)
        except ValueError:
            continue
        return round((then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() * 1000)
    raise ValueError(f"{at!r} is no time")


def _spoken(at: str) -> datetime:
    return datetime.strptime(at, "%I:%M %p on %d %B, %Y")


# -- measuring


def measure(
    dialogs: Sequence[Dialog], *, words_only: bool = False, progress: Callable[[str, int, int], None] | None = None
) -> Report:
    """Load every dialog into a store made for this, ask every question, count."""
    report = Report()
    settings = Settings().but(semantic=not words_only, background=False)  # defaults, whatever this machine's settings
    total = sum(len(d.questions) for d in dialogs)
    with (
        tempfile.TemporaryDirectory(prefix="recollect-locomo-") as folder,
        Store.open(Path(folder) / "scratch.db", settings=settings) as store,
    ):
        for i, dialog in enumerate(dialogs):
            if progress is not None:
                progress(f"Loading {dialog.id}", len(report.answers), total)
            mine = store.for_user(f"dialog {i}")
            begun = time.perf_counter()
            where = bring_in(mine, dialog)
            report.load_seconds += time.perf_counter() - begun
            report.turns += len(where)
            for question in dialog.questions:
                report.answers.append(ask(mine, dialog, where, *question))
                if progress is not None:
                    progress(f"Asking {dialog.id}", len(report.answers), total)
    return report


def bring_in(store: Store, dialog: Dialog) -> dict[str, Turn]:
    """Append every turn, one conversation a session; returns which event is which turn."""
    sessions: dict[str, list[Turn]] = {}
    for turn in dialog.turns:
        sessions.setdefault(turn.session, []).append(turn)
    where: dict[str, Turn] = {}
    for session, turns in sessions.items():
        c = store.create(f"session {session}")
        entries: list[Entry] = [
            {
                "role": "user" if turn.speaker == dialog.speakers[0] else "assistant",
                "agent": turn.speaker,
                "text": turn.text,
                "created_at": turn.at,
            }
            for turn in turns
        ]
        for turn, event in zip(turns, store.append_many(c.id, entries), strict=True):
            where[event.id] = turn
    store.settle()
    return where


def ask(
    store: Store, dialog: Dialog, where: dict[str, Turn], question: str, evidence: frozenset[str], category: int
) -> Answer:
    """One question, through the two verbs that a caller has."""
    begun = time.perf_counter()
    hits = store.search(question, limit=HITS)
    searched = time.perf_counter()
    context = store.context(question, budget=BUDGET)
    ended = time.perf_counter()
    found = [where[h.id] for h in hits if h.id in where]
    first = found[:FIRST_TURNS]
    sessions = list(dict.fromkeys(t.session for t in found))[:FIRST_SESSIONS]
    wanted = {t.session for t in where.values() if t.id in evidence}
    recall = {
        "turn_recall_10": _share(evidence, {t.id for t in first}),
        "recall_800_tokens": _share(evidence, {t.id for t in fitting(found, BUDGET)}),
        "session_recall_5": _share(wanted, set(sessions)),
        "context_800_tokens": _share(
            evidence, {where[h.id].id for i in context.items for h in i.hits if h.id in where}
        ),
    }
    missing = evidence - {t.id for t in first}
    return Answer(
        dialog.id, question, category, recall, (searched - begun) * 1000, (ended - searched) * 1000,
        tuple(t for t in where.values() if t.id in missing), tuple(first) if missing else (),
    )  # fmt: skip


def fitting(turns: Sequence[Turn], budget: int) -> list[Turn]:
    """The turns that fit, in order; one that does not is skipped."""
    kept, spent = [], 0
    for turn in turns:
        cost = math.ceil(len(f"{turn.speaker}: {turn.text}") / 4)
        if spent + cost <= budget:
            spent += cost
            kept.append(turn)
    return kept


def _share(wanted: frozenset[str] | set[str], found: set[str]) -> float:
    return len(wanted & found) / len(wanted)
