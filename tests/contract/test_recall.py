"""remember, recall, forget: memories in their plain form, beside the events in every search."""

from typing import Any

import pytest

import recollect
from recollect.errors import ConversationDeleted, InvalidInput, NotFound
from talk import Open


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    return open_store(background=False)


def contents(hits: list[recollect.Hit]) -> list[str]:
    return [h.text for h in hits]


def test_what_was_remembered_is_recalled(store: recollect.Store) -> None:
    m = store.remember("Prefers dark mode", kind="preference", importance=0.7, tags=["ui"])
    assert (m.kind, m.content, m.importance, m.tags) == ("preference", "Prefers dark mode", 0.7, ("ui",))
    assert (m.conversation_id, m.workspace, m.source, m.pinned) == (None, None, None, False)
    hit = store.recall("which mode?")[0]
    assert (hit.type, hit.kind, hit.id, hit.text, hit.seq) == ("memory", "preference", m.id, m.content, None)
    assert (hit.conversation_id, hit.created_at, hit.branch) == (None, m.created_at, None)


def test_by_content_and_by_tags(words: recollect.Store) -> None:
    words.remember("Prefers dark mode", tags=["user interface", "theme"])
    words.remember("Lives in Lisbon")
    assert contents(words.recall("themes")) == ["Prefers dark mode"]
    assert contents(words.recall("interface")) == ["Prefers dark mode"]
    assert contents(words.recall("lisbon living")) == ["Lives in Lisbon"]
    assert words.recall("zebra") == []


def test_search_spans_events_and_memories(words: recollect.Store) -> None:
    words.append(words.create("c"), role="user", text="the theme is dark")
    words.remember("Prefers a dark theme")
    assert {h.type for h in words.search("dark theme")} == {"event", "memory"}
    assert [h.type for h in words.search("dark theme", types="memories")] == ["memory"]
    assert [h.type for h in words.search("dark theme", types="events")] == ["event"]
    assert [h.type for h in words.recall("dark theme")] == ["memory"]


def test_the_same_statement_is_one_memory(words: recollect.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000]
    monkeypatch.setattr("recollect.ids.now", lambda: clock[0])
    first = words.remember("Prefers dark mode")
    clock[0] = 2_000
    again = words.remember("  prefers   DARK mode ")
    assert again.id == first.id
    assert (again.content, again.created_at, again.updated_at) == ("Prefers dark mode", 1_000, 2_000)
    assert len(words.recall("dark mode")) == 1
    elsewhere = words.remember("Prefers dark mode", workspace="/w")
    assert elsewhere.id != first.id


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ({}, "fpt"),
        ({"kinds": ["fact"]}, "f"),
        ({"kinds": ["preference", "todo"]}, "pt"),
        ({"kinds": []}, ""),
        ({"tags": ["x"]}, "fp"),
        ({"tags": ["x", "y"]}, "p"),
        ({"tags": "y"}, "p"),
        ({"tags": ["X"]}, ""),
        ({"tags": ['a "quoted" \\ one']}, "t"),
        ({"min_importance": 0.5}, "pt"),
        ({"min_importance": 0.9}, "t"),
        ({"since": 2_000}, "pt"),
        ({"limit": 0}, ""),
        ({"kinds": ["preference"], "tags": ["x"], "min_importance": 0.1, "since": 1}, "p"),
    ],
    ids=repr,
)
def test_filters(words: recollect.Store, monkeypatch: pytest.MonkeyPatch, scope: Any, found: str) -> None:
    clock = [1_000]
    monkeypatch.setattr("recollect.ids.now", lambda: clock[0])
    words.remember("heron f", kind="fact", importance=0.1, tags=["x"])
    clock[0] = 2_000
    words.remember("heron p", kind="preference", importance=0.5, tags=["x", "y"])
    words.remember("heron t", kind="todo", importance=1, tags=['a "quoted" \\ one'])
    assert sorted(h.text[-1] for h in words.recall("heron", **scope)) == sorted(found)


def test_a_filter_is_inside_the_search(open_store: Open) -> None:
    """Not after it: what is wanted is found however much else matches better."""
    words = open_store(background=False, memory_max_items_per_namespace=1_000)
    wanted = words.remember("heron " + "and so much more that it ranks low " * 10, tags=["rare"])
    for i in range(250):
        words.remember(f"heron heron{i}")
    assert [h.id for h in words.recall("heron", tags=["rare"])] == [wanted.id]


def test_scopes(words: recollect.Store) -> None:
    words.create("c", workspace="/a")
    words.create("d", workspace="/a")
    for content, scope in (("everywhere", {}), ("in a", {"workspace": "/a"}), ("in b", {"workspace": "/b"}), ("in c", {"conversation": "c"})):  # fmt: skip
        words.remember(f"heron {content}", **scope)  # type: ignore[arg-type]

    def seen(**scope: Any) -> set[str]:
        recalled = {t[6:] for t in contents(words.recall("heron", **scope))}
        assert recalled == {t[6:] for t in contents(words.search("heron", types="memories", **scope))}
        return recalled

    assert seen() == {"everywhere", "in a", "in b"}
    assert seen(workspace="/a") == {"everywhere", "in a"}
    assert seen(workspace="/") == {"everywhere"}
    assert seen(conversation="c") == {"everywhere", "in a", "in b", "in c"}
    assert seen(conversation="d") == {"everywhere", "in a", "in b"}
    assert {t[6:] for t in contents(words.search("heron", workspaces=["/b"]))} == {"everywhere", "in b"}


def test_forgotten_is_gone(words: recollect.Store) -> None:
    m = words.remember("Prefers dark mode")
    other = words.remember("Prefers dark chocolate")
    words.forget(m)
    assert [h.id for h in words.recall("dark mode")] == [other.id]
    words.forget(other.id)
    assert words.recall("dark") == []
    for gone in (m, other.id, "never"):
        with pytest.raises(NotFound):
            words.forget(gone)
    assert words.remember("Prefers dark mode").created_at >= m.created_at
    assert contents(words.recall("dark")) == ["Prefers dark mode"]


def test_of_a_conversation_that_is_erased(words: recollect.Store) -> None:
    """What was limited to it or learned from it goes with it; the rest stays."""
    for name in ("c", "d", "c:d"):
        words.append(words.create(name), role="user", text="x")
    words.remember("heron here", conversation="c")
    words.remember("heron from here", source="c:1")
    words.remember("heron from elsewhere", source="d:1")
    words.remember("heron from a namesake", source="c:d:1")
    words.remember("heron from nowhere")
    assert words.erase(conversation="c").counts["memories"] == 2
    assert set(contents(words.recall("heron"))) == {
        "heron from elsewhere", "heron from a namesake", "heron from nowhere"
    }  # fmt: skip
    assert words.verify().ok


def test_of_a_conversation_in_the_bin(words: recollect.Store) -> None:
    words.create("c")
    words.remember("heron", conversation="c")
    words.delete("c")
    assert words.recall("heron") == []
    with pytest.raises(ConversationDeleted):
        words.recall("heron", conversation="c")
    with pytest.raises(ConversationDeleted):
        words.remember("another heron", conversation="c")
    words.restore("c")
    assert contents(words.recall("heron", conversation="c")) == ["heron"]


def test_secrets_are_taken_out(words: recollect.Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    m = words.remember(f"the token is {secret}", tags=[secret])
    assert secret not in m.content + str(m.tags)
    assert "sensitive" in m.tags
    (hit,) = words.recall("token")
    assert hit.sensitive
    assert [h.text for h in words.recall("token", tags=[secret])] == [m.content]


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""}, {"content": " \n"}, {"content": "a\0b"}, {"content": 7}, {"kind": "nonsense"}, {"importance": 1.1},
        {"importance": -0.1}, {"importance": float("nan")}, {"importance": "high"}, {"importance": True}, {"tags": "x"},
        {"tags": [""]}, {"tags": [3]}, {"workspace": " "}, {"source": 3}, {"source": "a\0b"},
    ],
    ids=repr,
)  # fmt: skip
def test_what_cannot_be_remembered(store: recollect.Store, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        store.remember(**{"content": "heron", **wrong})
    assert store.recall("heron") == []


@pytest.mark.parametrize(
    "wrong", [{"kinds": ["message"]}, {"min_importance": "high"}, {"limit": -1}, {"since": -1}], ids=repr
)
def test_what_cannot_be_asked(store: recollect.Store, wrong: Any) -> None:
    store.remember("heron")
    with pytest.raises(InvalidInput):
        store.recall("heron", **wrong)


def test_an_unknown_conversation(store: recollect.Store) -> None:
    with pytest.raises(NotFound):
        store.remember("heron", conversation="c")
    with pytest.raises(NotFound):
        store.recall("heron", conversation="c")


def test_a_long_one(store: recollect.Store) -> None:
    m = store.remember("heron " + "word " * 50_000, tags=["t" * 50_000])
    assert store.recall("heron")[0].id == m.id
    store.forget(m)
    assert store.verify().ok
