"""Random forests of forks and derived memories, some of it erased: what is left is what a small model says."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.errors import NotFound

Event = tuple[str, int]


@dataclass
class Held:
    """A memory as the model has it: the events that said it, the memories it was derived from, and whether by hand."""

    events: set[Event] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    by_hand: bool = False


class Model:
    def __init__(self) -> None:
        self.events: dict[Event, str] = {}
        self.branches: dict[tuple[str, str], tuple[str, int] | None] = {}
        self.memories: dict[str, Held] = {}
        self.workspaces: dict[str, str | None] = {}

    def erase(self, gone: set[Event], named: str | None = None) -> None:
        self.events = {e: text for e, text in self.events.items() if e not in gone}
        out = {named} if named else set()
        for name, held in self.memories.items():
            if held.events & gone:
                held.events -= gone
                if not held.events:
                    out.add(name)
        changed = True
        while changed:
            changed = False
            for name, held in self.memories.items():
                if name not in out and held.roots and held.roots <= out and not held.events:
                    out.add(name)
                    changed = True
        for name in out:
            del self.memories[name]
        for held in self.memories.values():
            held.roots -= out

    def erase_conversation(self, c: str) -> None:
        self.erase({e for e in self.events if e[0] == c})
        self.branches = {b: at for b, at in self.branches.items() if b[0] != c}
        del self.workspaces[c]

    def lineage(self, c: str, branch: str, upto: int = 1 << 30) -> list[int]:
        own = [s for (cc, s), b in self.events.items() if cc == c and b == branch and s <= upto]
        parent = self.branches[c, branch]
        return sorted((*own, *(self.lineage(c, parent[0], min(parent[1], upto)) if parent else ())))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "append", "append", "append", "fork", "learn", "learn", "derive", "derive", "again", "erase", "event", "memory", "space"]),
        st.integers(0, 1 << 16),
        st.integers(0, 1 << 16),
    ),
    min_size=8, max_size=40,
)  # fmt: skip


def play(store: recollect.Store, steps: list[tuple[str, int, int]]) -> Model:
    model = Model()
    made = 0
    for what, a, b in steps:
        made += 1
        talks = sorted({c for c, _ in model.branches})
        said = sorted(model.events)
        known = sorted(model.memories)
        if what == "create" or not talks:
            c = store.create(f"c{made}", workspace=(space := ["/x", "/y", None][a % 3])).id
            model.branches[c, "main"], model.workspaces[c] = None, space
        elif what == "append" or not said:
            c = talks[a % len(talks)]
            branch = sorted(n for cc, n in model.branches if cc == c)[
                b % len([1 for cc, _ in model.branches if cc == c])
            ]
            seq = store.append(c, role="user", text=f"word{made}", branch=branch).seq
            model.events[c, seq] = branch
        elif what == "fork":
            c, seq = said[a % len(said)]
            store.fork(c, seq, name=f"b{made}")
            model.branches[c, f"b{made}"] = (model.events[c, seq], seq)
        elif what == "learn":
            c, seq = said[a % len(said)]
            id = store.remember(f"statement {made}", source=f"{c}:{seq}").id
            model.memories[id] = Held({(c, seq)})
        elif what == "derive" and known:
            roots = {known[a % len(known)], known[b % len(known)]}
            id = store.remember(f"derived {made}", derived_from=sorted(roots)).id
            model.memories[id] = Held(roots=set(roots), by_hand=True)
        elif what == "again" and known:
            chosen = known[a % len(known)]
            held = model.memories[chosen]
            c, seq = said[b % len(said)]
            content = held_by(store, model)[chosen].content
            if held.events and (c, seq) not in held.events and c not in {cc for cc, _ in held.events}:
                store.remember(content, source=f"{c}:{seq}")
                held.events.add((c, seq))
        elif what == "erase":
            c = talks[a % len(talks)]
            check_plan(store, {"conversation": c})
            model.erase_conversation(c)
        elif what == "event":
            c, seq = said[a % len(said)]
            check_plan(store, {"source": f"{c}:{seq}"})
            model.erase({(c, seq)})
        elif what == "memory" and known:
            chosen = known[a % len(known)]
            check_plan(store, {"memory": chosen})
            model.erase(set(), chosen)
        elif what == "space":
            space = ["/x", "/y"][a % 2]
            inside = [c for c in talks if model.workspaces[c] == space]
            with contextlib.suppress(NotFound):
                check_plan(store, {"workspace": space})
            model.erase({e for e in model.events if e[0] in inside})
            for c in inside:
                model.erase_conversation(c)
    return model


def held_by(store: recollect.Store, model: Model) -> dict[str, recollect.Memory]:
    """All memories, those too that are seen from one branch only."""
    found = {m.id: m for m in store.memories(state=None, limit=1000)}
    for c, branch in model.branches:
        found |= {m.id: m for m in store.memories(state=None, limit=1000, conversation=c, branch=branch)}
    return found


def check_plan(store: recollect.Store, request: dict[str, Any]) -> None:
    plan = store.erase(**request, dry_run=True)
    receipt = store.erase(**request)
    assert (plan.counts, plan.changed) == (receipt.counts, receipt.changed)
    assert receipt.ok, receipt


def compare(store: recollect.Store, model: Model) -> None:
    assert {c.id for c in store.conversations(limit=1000)} == {c for c, _ in model.branches}
    for c, branch in model.branches:
        assert [e.seq for e in store.read(c, branch=branch)] == model.lineage(c, branch), (c, branch)
    held = held_by(store, model)
    assert held.keys() == model.memories.keys()
    for id, memory in model.memories.items():
        said = {
            (change.after.provenance.conversation_id, seq)
            for change in store.memory_history(id)
            for seq in change.after.provenance.seqs
        }
        assert said <= memory.events, "a source that is gone is still named"
    assert all(store.verify_receipt(r).ok for r in store.receipts(limit=1000))
    assert store.verify().ok, store.verify().problems


@settings(max_examples=40)
@given(steps=STEPS)
def test_what_is_left_is_what_the_model_says(steps: list[tuple[str, int, int]]) -> None:
    with recollect.open(":memory:", user="alex", background=False, semantic=False, memory_extract=False) as store:
        compare(store, play(store, steps))


@pytest.mark.nightly
@settings(max_examples=1000)
@given(steps=STEPS)
def test_what_is_left_is_what_the_model_says_a_thousand_times(steps: list[tuple[str, int, int]]) -> None:
    with recollect.open(":memory:", user="alex", background=False, semantic=False, memory_extract=False) as store:
        compare(store, play(store, steps))


@settings(max_examples=6)
@given(steps=STEPS)
def test_on_postgres_too(postgres_admin_url: str, postgres_server: Any, steps: list[tuple[str, int, int]]) -> None:
    with (
        postgres_server.database() as url,
        recollect.open(url, user="alex", background=False, semantic=False, memory_extract=False) as store,
    ):
        compare(store, play(store, steps))
