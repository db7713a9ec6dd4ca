"""Consolidation: what was said since the last time becomes memories.

Three steps, a few turns at a time. What has not been considered is read; candidates are taken from it outside any
transaction, since a model may be asked; then, in one transaction, each candidate is compared with its neighbours, and what
is decided is written down together with the mark that says how far a branch has been considered. So a turn is considered
once, whoever does it and however often it is tried. Everything is looked at again inside that transaction: if the history
was cleared, erased or forgotten meanwhile, in this process or another, that wins.

A change is made where its turn stands, on the turn's branch, and compared with what is seen from there.
"""

from __future__ import annotations

import time
from functools import lru_cache
from math import log as ln

from . import branches, conversations, edits, erased, ids, jobs, log, memories, views
from .checkpoints import record
from .db.points import reach
from .decide import Decision, Policy, decide
from .errors import EmbeddingFailed, NotFound, place
from .extract import Turn, candidates, topic
from .extract.belonging import is_of_project
from .model import DISOWNED, MAIN, OFFLINE, Consolidation
from .relations import PASSING, Neighbour, is_passing
from .search import fence
from .search.times import calendar
from .search.tokens import term_set
from .views import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .config import Settings
    from .conversations import Found
    from .db import Database, Tx
    from .edits import Limits
    from .extract import Candidate
    from .model import Event, Model
    from .redact import Gate
    from .search.vectors import Semantic
    from .views import Change

CHUNK = 25  # turns in one transaction: what others wait for is short
BEFORE = 6  # messages before a turn that its candidates may refer to
LEARNED = ("message", "artifact", "approval", "tool_result", "ledger", "event", "note")
PROTECTED = "a person wrote or pinned what it contradicts"


class _Plan:
    """Turns of one conversation that have not been considered."""

    def __init__(self, found: Found, marks: dict[int, int]) -> None:
        self.found = found
        self.marks = marks
        """How far each branch of the lineage had been considered."""
        self.after: dict[int, int] = {}
        """How far it will have been."""
        self.turns: list[tuple[int, Event]] = []
        """(branch, event), oldest first."""
        self.checkpoints: dict[int, str] = {}
        """Event number -> the graph's checkpoint in which it was said."""
        self.is_all = True
        """Whether that is everything there was."""
        self.before: list[Event] = []
        """Messages just before the first of them."""
        self.disowned: frozenset[int] = frozenset()
        """Messages of the user's that nobody typed, as was found out later."""
        self.unread: list[tuple[int, int, str]] = []
        """(branch, number, error) of turns that could not be read."""


class _Held:
    """An active memory as it stands where a turn was said. `change` is the number of the change in force: the row itself
    is read when it is needed, since two hundred are looked at for each candidate and one is changed."""

    __slots__ = (
        "at", "change", "content", "conversation", "cosine", "expires_at", "id", "importance", "is_by_hand", "is_kept",
        "is_pinned", "kind", "no", "valid_from", "workspace",
    )  # fmt: skip

    def __init__(
        self, no: int, id: str, content: str, change: int, kind: str, importance: float, pinned_at: int | None,
        by_hand: int | None, valid_from: int | None, expires_at: int | None, conversation: int | None, at: int,
        extractor: str, workspace: str | None,
    ) -> None:  # fmt: skip
        self.no, self.id, self.content, self.change, self.kind, self.importance = (
            no,
            id,
            content,
            change,
            kind,
            importance,
        )
        self.is_pinned, self.is_by_hand = pinned_at is not None, by_hand is not None
        self.valid_from, self.expires_at, self.conversation, self.at = valid_from, expires_at, conversation, at
        self.is_kept, self.workspace = extractor == edits.KEPT, workspace
        self.cosine: float | None = None

    @property
    def may_go(self) -> bool:
        """Whether it may be let go of to make room: what may not takes none."""
        return not self.is_protected and not self.is_kept

    @property
    def is_protected(self) -> bool:
        """Whether a person wrote or pinned it."""
        return self.is_pinned or self.is_by_hand

    @property
    def text(self) -> str:
        return self.content


class Run:
    """One round of consolidation."""

    def __init__(
        self,
        db: Database,
        user: str,
        settings: Settings,
        model: Model | None,
        gate: Gate,
        semantic: Callable[[], Semantic | None],
    ) -> None:
        self._db, self._user, self._settings, self._model, self._gate = db, user, settings, model, gate
        self._find_semantic = semantic
        self._semantic: Semantic | None = None
        self._policy = Policy(settings.memory_similarity_threshold)
        self.is_done = True
        """Whether everything was considered, or time ran out before."""

    def all(
        self,
        conversation: str,
        branch: Any,
        limits: Limits,
        *,
        seconds: float | None = None,
        between: Callable[[], None] = lambda: None,
    ) -> Consolidation:
        """Consider all turns along a branch that have not been considered, a few at a time and `between` before each; for
        `seconds` at most."""
        started = time.monotonic()
        total = _Total()
        while True:
            between()
            name, plan = self._db.read(self._user, lambda tx: self._plan(tx, conversation, branch))
            if plan is None:
                break
            offers = self._extract(plan)
            vectors = self._embed([c for _, _, found in offers for c in found])
            reach("memories extracted")
            part = self._db.write(self._user, lambda tx: self._apply(tx, plan, offers, vectors, limits))  # noqa: B023
            if part is not None:
                total.add(part)
                if plan.is_all:
                    break
            if seconds is not None and time.monotonic() - started > seconds:
                self.is_done = False
                break
        return total.value(conversation, name)

    # -- what is to be considered

    def _plan(self, tx: Tx, conversation: str, branch: Any) -> tuple[str, _Plan | None]:
        """The branch's name, and what is to be considered along it; None when there is nothing."""
        found = conversations.find(tx, conversation)
        b = branch if isinstance(branch, int) else branches.number(tx, found, branch)
        name, own = MAIN, [(0, branches.NO_LIMIT)]
        if b:
            tree = branches.tree(tx, found.no)
            if b not in tree:
                raise NotFound(f"Conversation {found.id!r} has no such branch any more.")
            name, own = tree[b][0], branches.climb(tree, b)
        plan = _Plan(found, _marks(tx, found.no))
        for no, high in reversed(own):
            mark = plan.marks.get(no, 0)
            upto = min(high, found.last_seq)
            if mark >= upto:
                continue
            left = CHUNK - len(plan.turns)
            if left == 0:
                break
            events = log.walk(tx, found, [(no, high)], after=mark, kinds=LEARNED, limit=left)
            plan.turns += [(no, event) for event in events]
            plan.checkpoints |= record.said_in(tx, found.no, no, [event.seq for event in events])
            plan.after[no] = upto if len(events) < left else events[-1].seq
        if not plan.after:
            return name, None
        plan.is_all = len(plan.turns) < CHUNK
        plan.turns.sort(key=lambda turn: turn[1].seq)
        if plan.turns:
            first = plan.turns[0]
            before = branches.lineage(tx, found.no, first[0], first[1].seq - 1)
            plan.before = log.walk(tx, found, before, kinds=("message",), limit=BEFORE, newest=True)
            plan.disowned = _disowned(tx, found.no, plan.turns)
        return name, plan

    def _extract(self, plan: _Plan) -> list[tuple[int, Turn, list[Candidate]]]:
        # What was stored without redaction is redacted before a model sees it.
        gate = None if self._model is None else self._gate
        said = [_turn(event, gate) for event in plan.before]
        offers: list[tuple[int, Turn, list[Candidate]]] = []
        most = self._settings.memory_max_candidates_per_turn
        for branch, event in plan.turns:
            turn = _turn(event, gate, plan.checkpoints.get(event.seq), event.seq not in plan.disowned)
            # What answers without a model repeats what is known: learned again, it would wait to be reviewed for ever.
            found: list[Candidate] = []
            try:
                if event.model != OFFLINE:
                    found = self._candidates(turn, said[-BEFORE:], most)
            except Exception as e:  # an error of ours in one turn must not keep the others from being read
                plan.unread.append((branch, event.seq, f"{type(e).__name__} in {place(e)}"))
            offers.append((branch, turn, found[:most]))
            if event.kind == "message":
                said.append(turn)
        return offers

    def _candidates(self, turn: Turn, before: Sequence[Turn], most: int) -> list[Candidate]:
        timeout = self._settings.memory_extract_timeout
        return candidates(turn, before=before, most=most, model=self._model, timeout=timeout)

    def _embed(self, offered: Sequence[Candidate]) -> dict[str, Any]:
        """The vectors of what the candidates ask for, made before the transaction: an embedder may be far away."""
        self._semantic = self._find_semantic() if offered else None
        if self._semantic is None:
            return {}
        asked = list(dict.fromkeys(c.query for c in offered))
        try:
            return dict(zip(asked, self._semantic.embed(asked), strict=True))
        except EmbeddingFailed:
            return {}

    # -- what comes of it

    def _apply(
        self, tx: Tx, plan: _Plan, offers: list[tuple[int, Turn, list[Candidate]]], vectors: dict[str, Any], limits: Limits
    ) -> _Total | None:  # fmt: skip
        """Decide and write, if nothing has happened meanwhile that would make it wrong; else None."""
        found = conversations.find(tx, plan.found.id, lock=True)
        marks = _marks(tx, found.no)
        if found.no != plan.found.no or any(marks.get(b, 0) != plan.marks.get(b, 0) for b in plan.after):
            return None  # considered by another, cleared, or forgotten: look again
        total = _Total(turns=len(offers))
        events = {(branch, event.seq): event for branch, event in plan.turns}
        for branch, turn, offered in offers:
            event = events[branch, turn.seq]
            is_edit = event.kind == "message" and event.message is not None
            if (offered or is_edit) and _is_there(tx, found.no, branch, turn.seq):
                if is_edit:
                    _take_back(tx, found, branch, event)
                for candidate in offered:
                    self._consider(tx, found, branch, turn, candidate, vectors, limits, total)
        for branch, seq, error in plan.unread:
            if _is_there(tx, found.no, branch, seq):
                said = f"{error}: no memory was taken from event {seq} of {found.id}"
                jobs.give_up(tx, jobs.EXTRACT, f"{found.no}:{branch}:{seq}", said)
        for branch, upto in plan.after.items():
            if branch in marks:
                tx.run(
                    "update considered set upto = :upto where user_no = :user and conversation_no = :c and branch_no = :b",
                    c=found.no, b=branch, upto=upto,
                )  # fmt: skip
            else:
                tx.run(
                    "insert into considered (user_no, conversation_no, branch_no, upto) values (:user, :c, :b, :upto)",
                    c=found.no, b=branch, upto=upto,
                )  # fmt: skip
        return total

    def _consider(
        self, tx: Tx, found: Found, branch: int, turn: Turn, candidate: Candidate, vectors: dict[str, Any], limits: Limits,
        total: _Total,
    ) -> None:  # fmt: skip
        view = View(tx, found, branch)
        workspace = found.workspace if is_of_project(candidate, turn) else None
        passing = is_passing(candidate, "{:04d}-{:02d}-{:02d}".format(*calendar(turn.created_at)))

        def drafted(content: str, workspace: str | None, of: _Held | None = None) -> edits.Draft:
            c = candidate
            kind, importance, tags, since, until = c.kind, c.importance, c.tags, c.valid_from, c.valid_to
            if passing:
                importance = min(importance, PASSING)
            if of is not None:
                kind, importance, tags, since, until = of.kind, of.importance, (), of.valid_from, None
            return edits.Draft(
                gate, content, kind, importance, tags, workspace, role=c.role, extractor=c.extractor, valid_from=since,
                valid_to=until, seqs=c.seqs, checkpoint=c.source_checkpoint_id,
            )  # fmt: skip

        gate = self._gate.another()
        draft = drafted(candidate.content, workspace)
        edit = edits.Edit(
            tx, view, who=candidate.extractor, place=(found.no, branch, turn.seq), at=turn.created_at
        )  # fmt: skip
        asked_for = candidate.role == "user" and candidate.family == "explicit"
        doing = _Doing(tx, view, edit, draft, limits, turn, asked_for)
        trusted = candidate.role == "user" or candidate.role in limits.promote
        if candidate.quarantine is not None and not (trusted and candidate.role != "user"):
            action, why = doing.quarantine(candidate)
        elif candidate.operation in ("retract", "done") and not trusted:
            action, why = "noop", "only the user takes a memory back"
        else:
            # "Forget that we use bun" does not say whether the project or the user is meant.
            places = (
                [workspace] if candidate.operation == "assert" else list({workspace: 0, found.workspace: 0, None: 0})
            )
            held = [h for place in places for h in _held(tx, view, place)]
            # Another conversation's task of that name is another task.
            own = held if candidate.slot is None else [h for h in held if h.conversation == found.no]
            near = self._neighbours(tx, candidate, own, vectors)
            decision = decide(candidate, [_neighbour(h) for h in near], self._policy)
            was = next((h for h in near if h.id == decision.id), None)
            if was is not None and decision.content is not None:
                draft = drafted(decision.content, was.workspace, was)
            elif was is not None and was.workspace != workspace:
                draft = drafted(candidate.content, was.workspace)
            doing = _Doing(tx, view, edit, draft, limits, turn, asked_for)
            action, why = doing.apply(decision, held)
        edit.finish()
        total.note(action, draft.content, why)

    def _neighbours(self, tx: Tx, candidate: Candidate, held: list[_Held], vectors: dict[str, Any]) -> list[_Held]:
        """The nearest of the same scope: those about the same thing first, then by words and meaning together."""
        most = self._settings.memory_neighbours
        for h in held:
            h.cosine = None
        topics = set(candidate.topics)
        slot = candidate.slot.casefold() if candidate.slot is not None else None
        same = [
            h for h in held
            if (topics and _topic(h.content) in topics) or (slot is not None and h.content.casefold().startswith(slot))
        ]  # fmt: skip
        asked = _terms(candidate.query)
        counts: dict[str, int] = {}
        shared: list[tuple[_Held, frozenset[str]]] = []
        for h in held:
            common = asked & _terms(h.content)
            if common:
                shared.append((h, common))
                for term in common:
                    counts[term] = counts.get(term, 0) + 1
        rarity = {term: ln(1 + len(held) / n) for term, n in counts.items()}
        whole = sum(rarity.get(term, ln(1 + len(held))) for term in asked) or 1.0
        words = {h.no: sum(rarity[t] for t in common) / whole for h, common in shared}
        chosen = {h.no: h for h in [*same, *(h for h, _ in sorted(shared, key=lambda s: -words[s[0].no])[: 4 * most])]}
        vector = vectors.get(candidate.query)
        if vector is not None and self._semantic is not None:
            by_no = {h.no: h for h in held}
            for no, _ in self._semantic.nearest(tx, vector, 4 * most, [0]):
                if no in by_no:
                    chosen[no] = by_no[no]
            unknown = {no: h for no, h in chosen.items() if h.cosine is None}
            self._semantic.set_cosines(tx, vector, unknown)  # type: ignore[arg-type]
        about = {h.no for h in same}
        ranked = sorted(
            chosen.values(),
            key=lambda h: (h.no not in about, -(words.get(h.no, 0.0) + max(0.0, h.cosine or 0.0)), h.no),
        )
        return ranked[: max(most, len(about))]


class _Doing:
    """One candidate's change."""

    def __init__(
        self, tx: Tx, view: View, edit: edits.Edit, draft: edits.Draft, limits: Limits, turn: Turn,
        is_asked_for: bool = False,
    ) -> None:  # fmt: skip
        self._is_asked_for = is_asked_for
        self._tx, self._view, self._edit, self._draft = tx, view, edit, draft
        self._id, self._limits, self._turn = memories.id_of(draft.content, None, draft.workspace), limits, turn
        self._conversation = None if view.found is None else view.found.no
        self._own = self._there()

    def _there(self) -> tuple[int, Change | None] | None:
        """The same statement, if it was ever held: its number, and how it stands here."""
        row = self._tx.one("select id from memories where user_no = :user and memory_id = :id", id=self._id)
        return None if row is None else (row[0], self._view.among([row[0]]).get(row[0]))

    def quarantine(self, candidate: Candidate) -> tuple[str, str]:
        """Somebody has to look at it first. It touches nothing that is held."""
        why = candidate.quarantine or ""
        if candidate.operation not in ("assert", "correct"):
            return "noop", why
        if self._own is not None and self._own[1] is not None and self._own[1].state != "expired":
            return "noop", "it is there already"
        if self._is_forgotten_since():
            return "noop", "it was erased since"
        self._edit.add(self._draft, None, self._id, "quarantined", why, self._limits)
        return "quarantined", why

    def apply(self, decision: Decision, held: list[_Held]) -> tuple[str, str]:
        by_id = {h.id: h for h in held}
        hit = [by_id[id] for id in dict.fromkeys((decision.id, *decision.others)) if id in by_id]
        action = decision.action
        if action in ("update", "delete"):
            if any(h.is_protected for h in hit):
                hit, action = [h for h in hit if h.is_protected], "conflict"
                decision = Decision(
                    "conflict", hit[0].id, f"{decision.why}; {PROTECTED}", (), decision.action == "update"
                )
            elif any(self._is_newer(h) for h in hit):
                # An older turn that is considered late does not change what was said after it.
                return "noop", "something newer was said about it"
        if action == "noop":
            if hit and not self._is_newer(hit[0]):
                self._edit.confirm(
                    hit[0].no, self._standing(hit[0]), decision.why or "said again", self._limits, self._draft
                )
            return "noop", decision.why
        if action == "delete":
            for h in hit:
                self._edit.put(
                    h.no,
                    self._standing(h),
                    "forgotten",
                    decision.why,
                    state="forgotten",
                    valid_to=self._turn.created_at,
                )
            return ("delete" if hit else "noop"), decision.why
        if action == "conflict":
            return self._conflict(decision, hit)
        return self._add(decision, hit, held)

    def _standing(self, h: _Held) -> Change:
        change = memories.change(self._tx, h.change)
        assert change is not None
        return change

    def _is_newer(self, h: _Held) -> bool:
        """Whether a memory was said after the turn, elsewhere: within a conversation, turns are considered in order."""
        return h.at > self._turn.created_at and h.conversation != self._conversation

    def _is_forgotten_since(self) -> bool:
        """A person forgot the very statement after this was said: that wins over a late consolidation."""
        if self._own is None:  # nothing is left of what was erased but a hash and the time
            at = erased.at(self._tx, erased.MEMORY, self._id)
            return at is not None and at >= self._turn.created_at
        if self._own[1] is None:
            return False
        change = self._own[1]
        return change.state == "forgotten" and change.who == "user" and change.at > self._turn.created_at

    def _conflict(self, decision: Decision, hit: list[_Held]) -> tuple[str, str]:
        for h in hit:
            if self._standing(h).flag is None:
                self._edit.put(
                    h.no, self._standing(h), "flagged", decision.why, flag=f"Contradicted: {self._draft.content}"
                )  # fmt: skip
        if decision.store and not self._is_forgotten_since():
            if self._own is None or self._own[1] is None or self._own[1].state in ("expired", "forgotten"):
                self._edit.add(
                    self._draft, None, self._id, "quarantined", decision.why, self._limits,
                    conflicts_with=hit[0].id if hit else decision.id,
                )  # fmt: skip
        return "conflict", decision.why

    def _add(self, decision: Decision, hit: list[_Held], held: list[_Held]) -> tuple[str, str]:
        if self._is_forgotten_since():
            return "noop", "it was forgotten since"
        own = self._own[1] if self._own is not None else None
        if own is not None and own.state == "active" and not memories.is_over(own, ids.now()) and self._own is not None:
            hit = [h for h in hit if h.id != self._id]
            self._edit.confirm(self._own[0], own, "said again", self._limits, self._draft)
        else:
            reason = self._room([h for h in held if h.may_go and h not in hit])
            if reason is not None:
                return "noop", reason
            self._edit.add(self._draft, None, self._id, "active", decision.why, self._limits)
        for h in hit:
            self._edit.put(
                h.no, self._standing(h), "replaced", decision.why, state="replaced", replaced_by=self._id,
                valid_to=self._turn.created_at,
            )  # fmt: skip
        return ("update" if hit else decision.action if decision.action == "add" else "add"), decision.why

    def _room(self, held: list[_Held]) -> str | None:
        """Let go of the least important, then the oldest, when there are too many; why not, if the new one would be it. What a
        person asks for explicitly always finds room."""
        held = [h for h in held if h.workspace == self._draft.workspace]
        going = sorted(held, key=lambda h: (h.importance, h.at, h.no))[: max(0, len(held) + 1 - self._limits.most)]
        if going and going[-1].importance > self._draft.importance and not self._is_asked_for:
            return f"there are {len(held)} memories that are more important, and no room for more"
        for h in going:
            self._edit.put(h.no, self._standing(h), "evicted", f"made room for {self._id}", state="expired")
        return None


class _Total:
    def __init__(self, turns: int = 0) -> None:
        self.turns = turns
        self.decisions: list[tuple[str, str, str]] = []

    def note(self, action: str, content: str, why: str) -> None:
        self.decisions.append((action, content, why))

    def add(self, other: _Total) -> None:
        self.turns += other.turns
        self.decisions += other.decisions

    def value(self, conversation: str, branch: str) -> Consolidation:
        n = [action for action, _, _ in self.decisions]
        return Consolidation(
            conversation, branch, self.turns, len(n), n.count("add"), n.count("update"), n.count("delete"), n.count("noop"),
            n.count("conflict"), n.count("quarantined"), tuple(self.decisions),
        )  # fmt: skip


def _marks(tx: Tx, conversation: int) -> dict[int, int]:
    rows = tx.all(
        "select branch_no, upto from considered where user_no = :user and conversation_no = :c", c=conversation
    )
    return dict(rows)


def _is_there(tx: Tx, conversation: int, branch: int, seq: int) -> bool:
    row = tx.one(
        "select 1 from events where user_no = :user and conversation_no = :c and branch_no = :b and seq = :seq",
        c=conversation, b=branch, seq=seq,
    )  # fmt: skip
    return row is not None


def _take_back(tx: Tx, found: Found, branch: int, edit: Event) -> None:
    """A message was edited: what its earlier versions did to memories is taken back on this branch, unless something has
    happened to a memory since or somebody else says it too."""
    versions = _versions(tx, found.no, branch, edit)
    if not versions:
        return
    view = View(tx, found, branch)
    listed = ",".join(map(str, sorted(versions)))
    rows = tx.all(
        "select distinct memory from memory_changes where user_no = :user and conversation_no = :c"
        f" and seq in ({listed}) and undone_at is null",
        c=found.no,
    )
    change = edits.Edit(tx, view, who=edits.EDITED, place=(found.no, branch, edit.seq), at=edit.created_at)
    for memory, changes in views.of(tx, sorted(row[0] for row in rows)).items():
        standing = view.standing(changes)
        if standing is None or not _is_from(standing, found.no, versions) or standing.who == "user":
            continue
        before = view.standing(c for c in changes if not _is_from(c, found.no, versions))
        if before is not None:
            change.put(memory, before, "restored", "the message that changed it was edited")
        elif standing.state in ("active", "quarantined"):
            change.put(memory, standing, "forgotten", "the message that said it was edited", state="forgotten")
    change.finish()


def _is_from(change: Change, conversation: int, seqs: set[int]) -> bool:
    return change.conversation_no == conversation and change.seq in seqs


def _versions(tx: Tx, conversation: int, branch: int, edit: Event) -> set[int]:
    """The numbers of a message's earlier versions, as a branch has them. Nobody but the user edits what the user said."""
    found: set[int] = set()
    for b, high in branches.lineage(tx, conversation, branch, edit.seq - 1):
        rows = tx.all(
            "select seq, role from events where user_no = :user and conversation_no = :c and branch_no = :b and seq >= :place"
            " and seq <= :high and kind = 'message' and (seq = :place or message = :place)",
            c=conversation, b=b, high=high, place=edit.message,
        )  # fmt: skip
        if edit.role != "user" and any(role == "user" for _, role in rows):
            return set()
        found |= {int(row[0]) for row in rows}
    return found


def _disowned(tx: Tx, conversation: int, turns: Sequence[tuple[int, Event]]) -> frozenset[int]:
    """Which of some messages nobody typed: an event behind them says so."""
    first: dict[int, int] = {}
    for branch, event in turns:
        if event.kind == "message" and event.role == "user":
            first.setdefault(branch, event.seq)
    found: set[int] = set()
    for branch, seq in first.items():
        rows = tx.all(
            "select message from events where user_no = :user and conversation_no = :c and branch_no = :b"
            " and kind = 'event' and seq > :seq and name = :name and message is not null",
            c=conversation, b=branch, seq=seq, name=DISOWNED,
        )  # fmt: skip
        found.update(row[0] for row in rows)
    return frozenset(found)


def _turn(event: Event, gate: Gate | None, checkpoint: str | None = None, typed: bool = True) -> Turn:
    """What the person said, without what was put there for a model to read; a graph's or an agent's words are not theirs,
    nor is what nobody typed."""
    own = typed and event.agent is None and event.payload.get("own") is not False
    turn = Turn.of(event, checkpoint_id=checkpoint, own=own)
    clean = fence.unquoted(turn.text)
    if gate is not None:
        clean = gate.another().text(clean)
    return turn if clean == turn.text else Turn(**{**turn.__dict__, "text": clean})


def _held(tx: Tx, view: View, workspace: str | None) -> list[_Held]:
    """Active memories of a workspace, or of the user, as they stand in a view."""
    now, scope = ids.now(), memories.namespace(None, workspace)
    if view.is_plain:
        rows = tx.all(
            "select m.id, m.memory_id, coalesce(r.wording, m.content), r.id, r.kind, r.importance, r.pinned_at, r.by_hand,"
            " r.valid_from, r.expires_at, r.conversation_no, r.at, r.extractor, m.workspace from memories m"
            " join memory_changes r on r.user_no = m.user_no and r.id = m.head"
            " where m.user_no = :user and m.namespace = :n and m.state = 'active'",
            n=scope,
        )
        found = [_Held(*row) for row in rows]
    else:
        stored = tx.all(
            "select id, memory_id, content from memories where user_no = :user and namespace = :n and indexed_at is not null",
            n=scope,
        )
        standing = view.among([row[0] for row in stored])
        found = [
            _Held(
                no, id, c.wording or content, c.id, c.kind, c.importance, c.pinned_at, c.by_hand, c.valid_from, c.expires_at,
                c.conversation_no, c.at, c.extractor, workspace,
            )
            for no, id, content in stored
            if (c := standing.get(no)) is not None and c.state == "active"
        ]  # fmt: skip
    return [h for h in found if h.expires_at is None or h.expires_at > now]


def _neighbour(h: _Held) -> Neighbour:
    return Neighbour(h.id, h.content, h.kind, h.importance, h.is_pinned, h.is_by_hand, "active", h.valid_from, h.cosine)


@lru_cache(maxsize=32_768)
def _terms(text: str) -> frozenset[str]:
    return frozenset(term_set(text))


@lru_cache(maxsize=32_768)
def _topic(content: str) -> str | None:
    return topic(content)
