"""What graphs keep is exported and imported too: checkpoints with their lineage and writes, items with their provenance."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from graphs import asking, deltas, say, thread, two_steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.types import Command

import recollect
from archives import assert_same, brought, exported, timeless
from recollect.errors import BadLine
from recollect.langgraph import Saver
from recollect.langgraph.store import MemoryStore
from talk import Open

numbered = count()
Two = Callable[[], tuple[recollect.Store, recollect.Store]]


@pytest.fixture
def two(open_store: Open) -> Two:
    everyone = open_store(background=False)
    # Names that base64 does not spell: they are replaced in what was exported.
    return lambda: (everyone.for_user(f"u-{next(numbered)}-"), everyone.for_user(f"u-{next(numbered)}-"))


def states(saver: Saver) -> list[Any]:
    """Every checkpoint with its values, its parent and what was written since."""
    return [(t.config, t.checkpoint, t.metadata, t.parent_config, t.pending_writes) for t in saver.list(None)]


def items(store: recollect.Store) -> list[Any]:
    return [i.dict() for i in MemoryStore(store).search((), limit=100)]


step = st.tuples(
    st.sampled_from(["invoke", "back", "ask", "answer", "delta", "put", "delete", "remember"]), st.integers(0, 5)
)


def do(store: recollect.Store, saver: Saver, kept: MemoryStore, what: str, n: int) -> None:
    name = f"t{n % 2}"
    match what:
        case "invoke":
            two_steps(saver).invoke(say(f"hello {n}"), thread(name))
        case "back":
            history = list(two_steps(saver).get_state_history(thread(name)))
            if history:
                two_steps(saver).invoke(say(f"otherwise {n}"), history[n % len(history)].config)
        case "ask":
            asking(saver).invoke(say("go"), thread(f"ask{n % 2}"))
        case "answer":
            if asking(saver).get_state(thread(f"ask{n % 2}")).interrupts:
                asking(saver).invoke(Command(resume=f"yes {n}"), thread(f"ask{n % 2}"))
        case "delta":
            deltas(saver).invoke(say(f"d{n}", f"h{next(numbered)}"), thread("delta"))
        case "put":
            kept.put(
                ("notes", f"n{n % 2}"), f"k{n}", {"text": f"note {n}", "n": [n, None, float("nan") if n == 5 else 1.5]}
            )
        case "delete":
            kept.delete(("notes", f"n{n % 2}"), f"k{n}")
        case "remember":
            kept.put(("memories", store.user), f"m{n}", {"content": f"Likes boat {n}", "kind": "preference"})


@pytest.mark.parametrize("backend", ["sqlite"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(step, min_size=2, max_size=10))
def test_a_graph_goes_on_elsewhere(two: Two, drawn: list[Any]) -> None:
    _there_and_back(*two(), drawn)


ALL = [
    ("invoke", 0), ("invoke", 0), ("back", 3), ("ask", 1), ("delta", 1), ("delta", 2), ("put", 1), ("put", 5), ("put", 1),
    ("remember", 2), ("remember", 3),
]  # fmt: skip


def test_everything_at_once_on_both_databases(two: Two) -> None:
    one, other = two()
    _there_and_back(one, other, ALL)
    graph = two_steps(Saver(other))
    graph.invoke(say("on"), thread("t0"))
    assert other.messages("t0", limit=1)[0].text == "you said: on"
    assert asking(Saver(other)).invoke(Command(resume="yes"), thread("ask1"))["messages"][-1].content == "you said yes"
    before = len(deltas(Saver(other)).get_state(thread("delta")).values["messages"])
    deltas(Saver(other)).invoke(say("more", "hx"), thread("delta"))
    assert len(deltas(Saver(other)).get_state(thread("delta")).values["messages"]) == before + 2
    assert [h.text for h in other.recall("boat")] == [h.text for h in one.recall("boat")]
    assert other.verify().ok


def _there_and_back(one: recollect.Store, other: recollect.Store, drawn: list[Any]) -> None:
    saver, kept = Saver(one), MemoryStore(one)
    for what, n in drawn:
        do(one, saver, kept, what, n)
    archive = exported(one)
    found = brought(other, archive.replace(f'["memories","{one.user}"]', f'["memories","{other.user}"]'))
    assert found.problems == ()
    assert states(Saver(other)) == states(saver)
    assert _plain(items(other)) == _plain(items(one)).replace(one.user, other.user)
    # Without the items that name their user, which were moved to another name.
    assert not brought(other, archive.replace(f'["memories","{one.user}"]', f'["memories","{other.user}"]')).added[
        "checkpoints"
    ]
    assert timeless(exported(other)).replace(other.user, one.user) == timeless(archive)
    if not any(what == "remember" for what, _ in drawn):
        assert_same(one, other)
    assert other.verify().problems == ()


def _plain(value: Any) -> str:
    return json.dumps(value, default=str)


def test_from_one_database_to_another_and_back(two: Two, backend: str, postgres_url: str, tmp_path: Any) -> None:
    one, _ = two()
    for what, n in ALL:
        do(one, Saver(one), MemoryStore(one), what, n)
    elsewhere = postgres_url if backend == "sqlite" else str(tmp_path / "elsewhere.db")
    options = {"semantic": False, "memory_extract": False, "background": False}
    with (
        recollect.open(elsewhere, user=one.user, **options) as there,
        recollect.open(tmp_path / "back.db", user=one.user, **options) as back,
    ):
        brought(there, exported(one))
        assert states(Saver(there)) == states(Saver(one))
        brought(back, exported(there))
        assert states(Saver(back)) == states(Saver(one))
        assert sorted(timeless(exported(back)).splitlines()) == sorted(timeless(exported(one)).splitlines())
        assert back.verify().ok


def test_one_thread_is_exported_with_its_state(two: Two) -> None:
    one, other = two()
    for what, n in (("invoke", 0), ("invoke", 1), ("put", 1)):
        do(one, Saver(one), MemoryStore(one), what, n)
    brought(other, exported(one, conversation="t0"))
    assert [c.id for c in other.conversations()] == ["t0"]
    assert states(Saver(other)) == [s for s in states(Saver(one)) if s[0]["configurable"]["thread_id"] == "t0"]
    assert items(other) == []


def test_a_thread_that_went_on_in_both_places_is_left_alone(two: Two) -> None:
    one, other = two()
    two_steps(Saver(one)).invoke(say("first"), thread("t"))
    brought(other, exported(one))
    two_steps(Saver(one)).invoke(say("here"), thread("t"))
    two_steps(Saver(other)).invoke(say("there"), thread("t"))
    before = states(Saver(other))
    found = brought(other, exported(one))
    assert [p.where for p in found.problems] == ["conversation t"]
    assert states(Saver(other)) == before
    assert other.verify().ok


def test_a_thread_that_went_on_there_goes_on_here(two: Two) -> None:
    one, other = two()
    two_steps(Saver(one)).invoke(say("first"), thread("t"))
    brought(other, exported(one))
    two_steps(Saver(one)).invoke(say("second"), thread("t"))
    assert brought(other, exported(one)).problems == ()
    assert states(Saver(other)) == states(Saver(one))


def test_an_item_with_another_value_is_reported(two: Two) -> None:
    one, other = two()
    MemoryStore(one).put(("a",), "k", {"v": 1})
    MemoryStore(other).put(("a",), "k", {"v": 2})
    (problem,) = brought(other, exported(one)).problems
    assert "item 'k'" in problem.where
    assert MemoryStore(other).get(("a",), "k").value == {"v": 2}  # type: ignore[union-attr]


def test_an_item_in_the_name_of_somebody_else_makes_no_memory_of_theirs(two: Two) -> None:
    one, other = two()
    MemoryStore(one).put(("memories", one.user), "m", {"content": "Owes me money"})
    brought(other, exported(one))
    assert MemoryStore(other).get(("memories", one.user), "m") is not None
    assert len(one.memories()) == 1
    other.settle()
    assert len(one.memories()) == 1


def test_a_state_with_a_secret_is_not_stored_where_states_are_redacted(open_store: Open) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    plain, kim = open_store("plain", redact=False, background=False), open_store("kim", background=False)
    two_steps(Saver(plain)).invoke(say(f"my token is {secret}"), thread("t"))
    two_steps(Saver(plain)).invoke(say("nothing here"), thread("quiet"))
    found = brought(kim, exported(plain))
    assert [p.where for p in found.problems] == ["conversation t"]
    assert {c["configurable"]["thread_id"] for c, *_ in states(Saver(kim))} == {"quiet"}
    assert "[redacted:" in kim.read("t")[0].text
    assert "a1B2c3" not in exported(kim)
    assert Saver(kim).scan() == []
    free = open_store("free", background=False, redact=False)
    brought(free, exported(plain))
    assert states(Saver(free)) == states(Saver(plain))


def test_a_state_that_is_none_is_refused(two: Two) -> None:
    one, other = two()
    two_steps(Saver(one)).invoke(say("first"), thread("t"))
    rows = exported(one).splitlines()
    n = next(i for i, row in enumerate(rows) if '"type":"checkpoint"' in row)
    for wrong in ({"messages": "zz"}, {"messages": ["msgpack", "!"]}, {"messages": 3}, {"messages": "00"}):
        row = json.loads(rows[n])
        row["state"]["values"] = wrong
        with pytest.raises(BadLine) as raised:
            brought(other, "\n".join([*rows[:n], json.dumps(row), *rows[n + 1 :]]))
        assert raised.value.line == n + 1
    assert other.conversations() == []
