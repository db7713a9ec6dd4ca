"""Erasure as a whole: two hundred canaries on every path, looked for as bytes, in every table and by every verb."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from canaries import Planted, by_verbs, in_files, in_tables, word
from recollect import backup, receipts
from recollect.errors import Erased, InvalidInput, NotFound
from recollect.langgraph import MemoryStore, Saver
from talk import Hashed, Open, Raw, exchange, texts

WAYS: dict[str, dict[str, Any]] = {"plain": {}, "encrypted": {"key": "5e" * 32}}
"""How a store is opened, on SQLite: what `recollect.open` takes besides."""


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    return WAYS[request.param]


@pytest.fixture
def planted(url: str, way: dict[str, Any], backend: str) -> Iterator[Planted]:
    """A store with a witness, to show that a search finds what is there, and room for canaries."""
    opening = way if backend == "sqlite" else {}
    with recollect.open(
        url,
        user="alex",
        embedder=Hashed(),
        background=False,
        model=lambda prompt: prompt[-400:],
        summary_keep_recent=2,
        **opening,
    ) as store:
        witness = store.create("witness", title="kept").id
        store.append(witness, role="user", text=f"I live in {word('witness')}.")
        store.consolidate(witness)
        planted = Planted(store, f"{backend} {sorted(way)}")
        planted.way = opening
        yield planted


def looking(planted: Planted, backend: str, raw: Raw) -> Raw:
    """SQL on the database as it is: past the library, but for a file that only the library can read."""
    return planted.store._db._current().query if backend == "sqlite" else raw  # type: ignore[attr-defined]


def search_everywhere(planted: Planted, url: str, backend: str, raw: Raw, words: list[str]) -> dict[str, Any]:
    held = [*words, word("witness")]
    found = {
        "files": in_files(Path(url).parent, held) if backend == "sqlite" else {},
        "tables": in_tables(looking(planted, backend, raw), backend, held),
        "verbs": by_verbs(planted.store, held),
    }
    assert word("witness") in found["tables"], "the search would not have found anything"
    assert word("witness") in found["verbs"]
    if backend == "sqlite" and not planted.way:  # in an encrypted file not even that is to be seen
        assert word("witness") in found["files"]
    return {where: {w: at for w, at in hits.items() if w != word("witness")} for where, hits in found.items()}


@pytest.mark.parametrize("what", ["conversation", "workspace", "user"])
def test_two_hundred_canaries_and_not_one_is_left(
    planted: Planted, url: str, backend: str, raw: Raw, what: str
) -> None:
    store = planted.store
    c = planted.conversation()
    planted.graph(c)
    store.settle()
    store.search("anything")
    if what == "conversation":
        del planted.words["workspace"], planted.words["id"]  # names of things that may be there again
        planted.words |= {"id": c}
    words = list(planted.words.values())
    assert len(words) >= 200
    before = in_tables(looking(planted, backend, raw), backend, words)
    assert len(before) > 190, "the test would prove little"
    owner = store if what != "user" else recollect.open(url, user="kim", semantic=False, **planted.way)
    try:
        if what == "user":
            owner.append(owner.create("kims"), role="user", text=word("witness"))
        plan = store.erase(**{what: _meant(planted, what, c)}, dry_run=True)
        receipt = store.erase(**{what: _meant(planted, what, c)})
        assert (plan.counts, plan.changed) == (receipt.counts, receipt.changed)
        assert receipt.ok and not any(receipt.checks.values())
        seen = Planted(owner, "")
        seen.way = planted.way
        assert search_everywhere(seen, url, backend, raw, words) == {"files": {}, "tables": {}, "verbs": {}}
        assert not [w for w in words if w in repr(receipt)]
        assert owner.verify().ok
    finally:
        if owner is not store:
            owner.close()


def _meant(planted: Planted, what: str, c: str) -> str:
    return {"conversation": c, "workspace": planted.store.get(c).workspace or "", "user": "alex"}[what]


@pytest.mark.parametrize("kind", recollect.model.KINDS)
def test_an_event_of_every_kind_goes_with_what_came_from_it(
    planted: Planted, url: str, backend: str, raw: Raw, kind: str
) -> None:
    store = planted.store
    c = store.create("c", title="kept").id
    store.append_many(c, exchange(3))
    seq = planted.event(c, kind)
    store.append_many(c, exchange(6))
    if kind == "message":
        store.append(c, kind="reasoning", role="assistant", text=planted.new("thought of it"), message=seq)
        mine = store.remember(f"knows {planted.new('learned')}", source=f"{c}:{seq}")
        store.remember(f"hence {planted.new('derived')}", derived_from=[mine.id])
    store.summarize(c)
    store.settle()
    words = list(planted.words.values())
    assert len(in_tables(looking(planted, backend, raw), backend, words)) == len(words)
    plan = store.erase(source=f"{c}:{seq}", dry_run=True)
    receipt = store.erase(source=f"{c}:{seq}")
    assert (plan.counts, plan.changed) == (receipt.counts, receipt.changed)
    assert receipt.ok
    assert search_everywhere(planted, url, backend, raw, words) == {"files": {}, "tables": {}, "verbs": {}}
    assert len(store.read(c, kinds=["message"])) == 9
    assert store.verify().ok


def test_a_memory_goes_with_what_was_derived_from_it(planted: Planted, url: str, backend: str, raw: Raw) -> None:
    store, new = planted.store, planted.new
    MemoryStore(store).put(
        ("memories", "alex"), new("key"), {"content": f"first {new('item')}", "tags": [new("item tag")]}
    )
    first = store.memories()[0]
    second = store.remember(f"second {new('second')}", derived_from=[first.id], tags=[new("tag")])
    store.remember(f"third {new('third')}", derived_from=[second.id])
    other = store.remember("something of its own")
    both = store.remember("rests on two", derived_from=[second.id, other.id])
    store.settle()
    plan = store.erase(memory=first, dry_run=True)
    assert plan.counts["memories"] == 3 and plan.changed == {"memories": 1}
    receipt = store.erase(memory=first)
    assert (plan.counts, plan.changed) == (receipt.counts, receipt.changed)
    assert search_everywhere(planted, url, backend, raw, list(planted.words.values())) == {
        "files": {}, "tables": {}, "verbs": {},
    }  # fmt: skip
    assert {m.id for m in store.memories()} >= {other.id, both.id}
    assert [m.flag for m in store.memories() if m.id == both.id] == ["What it rests on was erased."]


# -- what stays


def test_a_memory_with_another_source_loses_only_this_one(store: recollect.Store) -> None:
    for c in ("a", "b"):
        store.create(c)
        store.append(c, role="user", text="I live in Porto.")
        store.consolidate(c)
    (memory,) = store.memories()
    plan = store.erase(conversation="a", dry_run=True)
    assert plan.changed == {"memories": 1} and "memories" not in plan.counts
    assert store.get("a"), "a plan changes nothing"
    store.erase(conversation="a")
    (left,) = store.memories()
    assert left.id == memory.id
    assert left.provenance.conversation_id == "b"
    assert {ch.conversation_id for ch in store.memory_history(left)} == {"b"}
    store.erase(conversation="b")
    assert store.memories(state=None) == []


def test_histories_do_not_quote_what_is_gone(store: recollect.Store, raw: Raw, backend: str) -> None:
    """The newer statement says whose place it took, word for word."""
    for c, home in (("a", "qwxzporto"), ("b", "qwxzbonn")):
        store.create(c)
        store.append(c, role="user", text=f"I live in {home.capitalize()}.")
        store.consolidate(c)
    assert any("Qwxzporto" in ch.why for m in store.memories() for ch in store.memory_history(m)), "nothing to show"
    store.erase(conversation="a")
    assert in_tables(raw, backend, ["qwxzporto", "Qwxzporto"]) == {}
    assert [m.state for m in store.memories(state=None)] == ["active"]
    store.erase(conversation="b")
    assert in_tables(raw, backend, ["qwxzbonn", "Qwxzbonn"]) == {}


def test_what_was_replaced_from_there_stands_again(store: recollect.Store) -> None:
    for c, home in (("a", "Porto"), ("b", "Bonn")):
        store.create(c)
        store.append(c, role="user", text=f"I live in {home}.")
        store.consolidate(c)
    assert [m.content for m in store.memories()] != []
    store.erase(conversation="b")
    (left,) = store.memories()
    assert "Porto" in left.content and left.replaced_by is None


def test_a_summary_that_covered_it_is_made_anew(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=2, summary_threshold=4)
    c = store.create().id
    store.append(c, role="user", text="We decided to call it qwxzphoenix.")
    store.append_many(c, exchange(10))
    assert "qwxzphoenix" in (store.summarize(c) or exchange(1)[0]).text  # type: ignore[union-attr]
    receipt = store.erase(source=f"{c}:1")
    assert receipt.counts["events"] == 2
    store.settle()
    (summary,) = store.read(c, kinds=["summary"])
    assert "qwxzphoenix" not in summary.text and summary.payload["count"] > 0


def test_other_branches_and_summaries_that_do_not_cover_it_stay(open_store: Open) -> None:
    store = open_store(background=False, summary_keep_recent=1)
    c = store.create().id
    store.append_many(c, exchange(6))
    store.fork(c, 3, name="side")
    store.append_many(c, exchange(4, start=90), branch="side")
    kept = store.summarize(c)
    gone = store.summarize(c, branch="side")
    assert kept and gone
    store.erase(source=f"{c}:{gone.seq - 3}")
    assert [e.seq for e in store.read(c, kinds=["summary"], branch="*")] == [kept.seq]
    assert store.messages(c)[0].id == kept.id
    assert store.verify().ok


# -- the verb


def test_one_thing_at_a_time(store: recollect.Store) -> None:
    for given in ({}, {"conversation": "a", "memory": "b"}, {"user": "alex", "source": "a:1"}):
        with pytest.raises(InvalidInput, match="one thing at a time"):
            store.erase(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", [{"conversation": "no"}, {"workspace": "no"}, {"memory": "no"}, {"source": "no:1"}, {"source": "one:9"}]
)
def test_what_is_not_there_cannot_be_erased(store: recollect.Store, given: dict[str, str]) -> None:
    store.create("one")
    for dry_run in (True, False):
        with pytest.raises(NotFound):
            store.erase(**given, dry_run=dry_run)
    assert store.receipts() == []


def test_a_source_is_an_event(store: recollect.Store) -> None:
    store.create("one")
    for wrong in ("one", "one:\u00b2"):
        with pytest.raises(InvalidInput, match="is no event"):
            store.erase(source=wrong)


def test_the_plan_counts_what_is_in_the_tables(planted: Planted, backend: str, raw: Raw) -> None:
    store = planted.store
    look = looking(planted, backend, raw)
    c = planted.conversation()
    store.settle()
    tables = [
        "events", "branches", "tombstones", "pins", "considered", "memories", "memory_changes", "memory_roots", "vectors",
        "conversations", "items", "checkpoints", "checkpoint_pieces",
    ]  # fmt: skip

    def counted() -> dict[str, int]:
        return {t: look(f"select count(*) from {t}")[0][0] for t in tables}

    before = counted()
    receipt = store.erase(conversation=c)
    after = counted()
    assert {t: before[t] - after[t] for t in tables} == {t: receipt.counts.get(t, 0) for t in tables}


# -- users


def test_a_handle_erases_its_own_user_alone(store: recollect.Store) -> None:
    kim = store.for_user("kim")
    kim.create("kims")
    with pytest.raises(InvalidInput, match="its own user"):
        store.erase(user="kim")
    assert kim.get("kims")


def test_the_admin_erases_a_person_by_name(store: recollect.Store, url: str, raw: Raw, backend: str) -> None:
    kim = store.for_user("qwxzkim")
    kim.append(kim.create("hers"), role="user", text="hi")
    with recollect.admin(url) as admin:
        assert admin.erase(user="qwxzkim", dry_run=True).counts["events"] == 1
        receipt = admin.erase(user="qwxzkim")
        assert receipt.who == "admin" and receipt.ok
        assert "qwxzkim" not in admin.users()
        assert [r.id for found in admin.receipts().values() for r in found] == [receipt.id]
        assert in_tables(raw, backend, ["qwxzkim"]) == {}
        with pytest.raises(NotFound):
            admin.erase(user="nobody")


def test_who_was_erased_may_come_back_and_finds_nothing(store: recollect.Store, url: str) -> None:
    store.append(store.create("one"), role="user", text="I live in Porto.")
    receipt = store.erase(user="alex")
    assert store.conversations() == [] and store.memories(state=None) == []
    assert [r.id for r in store.receipts()] == [receipt.id]
    with pytest.raises(Erased):
        store.append("one", role="user", text="late")
    with pytest.raises(Erased):
        store.create("one")
    fresh = store.create("two")
    store.append(fresh, role="user", text="new")
    with recollect.open(url, user="alex") as again:
        assert [c.id for c in again.conversations()] == ["two"]
        assert [r.id for r in again.receipts()] == [receipt.id]
        assert again.verify_receipt(receipt).ok and again.verify().ok
    with recollect.admin(url) as admin:
        assert admin.users() == ["alex"]


def test_no_user_is_called_like_an_erased_one(store: recollect.Store) -> None:
    with pytest.raises(InvalidInput, match="erased:"):
        store.for_user("erased:" + "0" * 32)


def test_a_backend_keeps_nothing_of_hers(store: recollect.Store, raw: Raw, backend: str) -> None:
    """A backend's store keeps the items of all its users under its own name."""
    service = store.for_user("service")
    kept = MemoryStore(service)
    kept.put(("memories", "alex"), "theme", {"content": "prefers qwxzdark"})
    kept.put(("memories", "kim"), "theme", {"content": "prefers light"})
    kept.put(("memories", "alex", "t"), "x", {"content": "no such conversation"})
    assert [m.content for m in store.memories()] == ["prefers qwxzdark"]
    store.erase(memory="theme")
    assert in_tables(raw, backend, ["qwxzdark"]) == {}
    kept.put(("memories", "alex"), "theme", {"content": "prefers qwxzdark"})
    assert store.erase(user="alex").counts["items"] == 1
    assert in_tables(raw, backend, ["qwxzdark"]) == {}
    assert [m.content for m in store.for_user("kim").memories()] == ["prefers light"]


# -- receipts


def test_a_receipt_can_be_checked_again(store: recollect.Store, raw: Raw) -> None:
    c = store.create("one").id
    store.append_many(c, exchange(3))
    receipt = store.erase(conversation=c)
    assert store.receipts() == [receipt] == store.receipts(conversation="one")
    assert store.verify_receipt(receipt.id) == receipt
    assert receipt.checks["events"] == 0 and receipt.finished_at is not None
    number = raw("select target from receipts")[0][0]
    no = int(number.split('"conversations": [')[1].split("]")[0])
    user = raw("select no from users where id = 'alex'")[0][0]
    raw(f"insert into tombstones values ({user}, {no}, 1, 3, 0)")
    found = store.verify_receipt(receipt.id)
    assert not found.ok and found.checks["tombstones"] == 1
    with pytest.raises(NotFound):
        store.verify_receipt("nothing")


def test_a_conversation_that_was_never_erased_has_no_receipt(store: recollect.Store) -> None:
    store.create("one")
    assert store.receipts(conversation="one") == store.receipts(conversation="two") == []


def test_backups_that_still_hold_it_are_named(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "chat.db", user="alex") as store:
        store.append(store.create("one"), role="user", text="hi")
        store.backup(tmp_path / "backups" / "before.db")
        plan = store.erase(conversation="one", dry_run=True)
        assert plan.backups == ("before.db",) == store.erase(conversation="one").backups


def test_a_user_who_goes_on_writing_is_erased_up_to_then(
    store: recollect.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is begun while it goes on goes too, out of the index as well; who writes before it is finished is back."""
    store.append(store.create("one"), role="user", text="qwxzbefore")

    def meanwhile(point: str) -> None:
        if point == "erasure begun":
            store.append(store.create("two", title="qwxztitle"), role="user", text="qwxzduring")
            store.remember("Likes qwxzduring")
        if point == "erasure scrubbed":
            store.append(store.create("three"), role="user", text="qwxzafter")

    monkeypatch.setattr(receipts, "reach", meanwhile)
    receipt = store.erase(user=store.user)
    assert receipt.ok and receipt.finished_at is not None
    assert [c.id for c in store.conversations()] == ["three"]
    assert [hit.text for hit in store.search("qwxzbefore qwxzduring qwxztitle qwxzafter")] == ["qwxzafter"]
    assert store.verify().ok
    assert store.verify_receipt(receipt).ok


def test_backups_made_elsewhere_are_named_by_their_path(tmp_path: Path) -> None:
    disk, gone, beside = tmp_path / "disk" / "a.db", tmp_path / "stick" / "b.db", tmp_path / "store" / "c.db"
    with recollect.open(tmp_path / "store" / "chat.db", user="alex") as store:
        store.append(store.create("one"), role="user", text="hi")
        for copy in (disk, gone, beside):
            store.backup(copy)
        gone.parent.rename(tmp_path / "taken out")
        away = f"{gone} (not reachable now)"
        assert set(store.erase(conversation="one", dry_run=True).backups) == {str(disk), "c.db", away}
        gone.parent.mkdir()  # its folder is here, and it is not in it: somebody deleted it
        assert set(store.erase(conversation="one").backups) == {str(disk), "c.db"}


def test_a_backup_of_a_backup_that_was_put_back_knows_the_others(tmp_path: Path) -> None:
    chat, disk = tmp_path / "store" / "chat.db", tmp_path / "disk"
    with recollect.open(chat, user="alex") as store:
        store.append(store.create("one"), role="user", text="hi")
        store.backup(disk / "a.db")
        store.backup(disk / "b.db")
    aside = backup.restore(disk / "a.db", chat)
    assert aside is not None
    with recollect.open(chat, user="alex") as store:
        named = store.erase(conversation="one").backups
    assert set(named) == {str(disk / "a.db"), str(disk / "b.db"), aside.name}


def test_jobs_and_receipts_hold_ids_only(open_store: Open, raw: Raw, backend: str) -> None:
    def fails(prompt: str) -> str:
        raise RuntimeError(prompt)

    class Quoting(Hashed):
        def embed(self, texts: Any, /) -> Any:
            raise RuntimeError(f"cannot embed {list(texts)}")

    store = open_store(
        background=False,
        semantic=True,
        memory_extract=True,
        model=fails,
        embedder=Quoting(),
        summary_threshold=2,
        summary_keep_recent=1,
    )
    planted = Planted(store, "jobs")
    c = store.create().id
    for i in range(6):
        store.append(c, role="user" if i % 2 == 0 else "assistant", text=planted.new(f"text {i}"))
    store.settle()
    assert store.stats().jobs.get("queued"), "nothing failed"
    held = in_tables(raw, backend, list(planted.words.values()))
    assert {t for tables in held.values() for t in tables}.isdisjoint({"jobs", "receipts", "erased"})
    store.erase(conversation=c)
    assert in_tables(raw, backend, list(planted.words.values())) == {}


# -- late writers


def test_nothing_is_appended_to_what_was_erased(store: recollect.Store) -> None:
    store.create("one")
    store.erase(conversation="one")
    for late in (
        lambda: store.append("one", role="user", text="late"),
        lambda: store.append_many("one", exchange(2)),
        lambda: store.create("one"),
        lambda: store.create("one", origin="import"),
        lambda: store.fork("one"),
        lambda: store.rename("one", "back"),
        lambda: store.record_workflow_event("one", {"type": "x"}),
    ):
        with pytest.raises(Erased):
            late()
    with pytest.raises(NotFound):
        store.read("one")
    assert store.conversations() == []
    assert store.for_user("kim").create("one").id == "one", "another's of the same name is another"


def test_created_anew_it_is_a_new_one(store: recollect.Store) -> None:
    store.append(store.create("one"), role="user", text="old")
    receipt = store.erase(conversation="one")
    store.append(store.create("one", again=True), role="user", text="new")
    assert texts(store.read("one")) == ["new"]
    assert store.receipts(conversation="one") == []
    assert store.verify_receipt(receipt).ok
    again = store.erase(conversation="one")
    assert again.counts["events"] == 1 and len(store.receipts()) == 2


def test_another_process_is_refused_too(store: recollect.Store, url: str) -> None:
    with recollect.open(url, user="alex") as other:
        other.append(other.create("one"), role="user", text="hi")
        store.erase(conversation="one")
        with pytest.raises(Erased):
            other.append("one", role="user", text="late")


def running(store: recollect.Store, meanwhile: Any) -> Any:
    """A graph of two nodes; between them something happens elsewhere."""
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.store.base import BaseStore

    builder = StateGraph(MessagesState)
    builder.add_node("one", lambda state: {"messages": [AIMessage("qwxzanswer one")]})

    def two(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        meanwhile(store)
        return {"messages": [AIMessage("qwxzanswer two")]}

    builder.add_node("two", two)
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    return builder.compile(checkpointer=Saver(store), store=MemoryStore(store))


@pytest.mark.parametrize(
    ("what", "durability"),
    [*((w, d) for w in ("conversation", "user") for d in ("sync", "async", "exit")), ("source", "sync")],
)
def test_a_running_graph_brings_nothing_back(
    store: recollect.Store, raw: Raw, backend: str, what: str, durability: Any
) -> None:
    meant = {"conversation": "t", "user": "alex", "source": "t:2"}[what]
    graph = running(store, lambda _: store.erase(**{what: meant}))
    config: Any = {"configurable": {"thread_id": "t"}}
    store.append(store.create("t"), role="user", text="hello")
    with pytest.raises(Erased):
        graph.invoke({"messages": [("user", "qwxzquestion")]}, config, durability=durability)
    if what == "source":
        assert in_tables(raw, backend, ["qwxzquestion"]) == {}
        assert texts(store.read("t")) == ["hello", "qwxzanswer one"]
        graph = running(store, lambda _: None)
        graph.invoke({"messages": [("user", "again")]}, config)
        assert texts(store.read("t"))[2:] == ["again", "qwxzanswer one", "qwxzanswer two"]
    else:
        assert in_tables(raw, backend, ["qwxzquestion", "qwxzanswer"]) == {}
        assert store.conversations() == []


def test_a_run_that_begins_anew_may_use_the_thread(store: recollect.Store) -> None:
    graph = running(store, lambda _: None)
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"messages": [("user", "before")]}, config)
    graph.checkpointer.delete_thread("t")
    assert [r.who for r in store.receipts()] == ["langgraph"]
    for _ in range(3):
        graph.invoke({"messages": [("user", "after")]}, config)
    assert "before" not in repr(store.read("t"))
    assert store.verify().ok


def test_an_item_of_an_erased_thread_is_refused(store: recollect.Store, raw: Raw, backend: str) -> None:
    def meanwhile(kept: Any) -> None:
        store.erase(conversation="t")
        with pytest.raises(Erased):
            kept.put(("n",), "k", {"content": "qwxzlate"})

    graph = running(store, meanwhile)
    store.create("t")
    with pytest.raises(Erased):
        graph.invoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": "t"}})
    with pytest.raises(Erased):
        MemoryStore(store).put(("memories", "alex", "t"), "k", {"content": "qwxzlate"})
    with pytest.raises(Erased):
        MemoryStore(store.for_user("service")).put(("memories", "alex", "t"), "k", {"content": "qwxzlate"})
    assert in_tables(raw, backend, ["qwxzlate"]) == {}


def test_a_late_consolidation_does_not_remember_it_again(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect import consolidate

    store = open_store(background=False)
    for c in ("a", "b"):
        store.append(store.create(c), role="user", text="I live in Porto.")
    store.consolidate("a")
    (memory,) = store.memories()
    real = consolidate.Run._extract

    def slow(self: Any, plan: Any) -> Any:
        found = real(self, plan)
        store.erase(memory=memory)
        return found

    monkeypatch.setattr(consolidate.Run, "_extract", slow)
    store.consolidate("b")
    assert store.memories(state=None) == []
    monkeypatch.undo()
    store.append("b", role="user", text="Remember that I live in Porto.")
    store.consolidate("b")
    assert store.memories() != [], "said anew, it is remembered"


def test_an_event_that_was_erased_is_not_written_again(store: recollect.Store) -> None:
    c = store.create("one").id
    said = store.append(c, role="user", text="a slip", key="k1")
    store.append(c, role="user", text="stays", key="k2")
    receipt = store.erase(source=said)
    for late in (
        lambda: store.append(c, role="user", text="a slip", key="k1"),
        lambda: store.append_many(
            c, [{"role": "user", "text": said, "key": key} for said, key in (("a slip", "k1"), ("more", "k3"))]
        ),
    ):
        with pytest.raises(Erased):
            late()
    assert store.append(c, role="user", text="stays", key="k2").seq == 2, "what is there is there"
    assert texts(store.read(c)) == ["stays"]
    assert store.append(store.create("two"), role="user", text="a slip", key="k1").seq == 1, "elsewhere it is another"
    assert store.verify_receipt(receipt).ok


@pytest.mark.parametrize("what", ["conversation", "memory", "workspace", "user"])
def test_an_export_does_not_bring_it_back_unless_asked(store: recollect.Store, what: str) -> None:
    c = store.create("one", workspace="/w")
    store.append(c, role="user", text="I live in Oslo.")
    store.consolidate(c)
    mine = store.remember("drives a van", source="one:1")
    store.remember("parks a van", derived_from=[mine.id])
    store.remember("works here", workspace="/w")
    MemoryStore(store).put(("memories", store.user, "one"), "k", {"content": "an item"})
    held = archive(store)
    before = everything(store)
    store.erase(**{what: {"conversation": "one", "memory": mine.id, "workspace": "/w", "user": store.user}[what]})
    after = everything(store)
    assert after != before
    found = store.import_(io.StringIO(held))
    assert everything(store) == after and not any(found.added.values())
    assert any("erased here" in problem.what for problem in found.problems)
    assert not store.import_(io.StringIO(held), again=True).problems
    assert everything(store) == before
    assert not store.import_(io.StringIO(held)).problems, "who was asked for is no longer kept out"


def archive(store: recollect.Store) -> str:
    fp = io.StringIO()
    store.export(fp)
    return fp.getvalue()


def everything(store: recollect.Store) -> list[str]:
    kept = [item.value["content"] for item in MemoryStore(store).search((), limit=100)]
    said = [e.text for c in store.conversations() for e in store.read(c)]
    return sorted([*said, *(m.content for m in store.memories(state=None)), *kept])


@pytest.mark.parametrize("what", ["conversation", "event"])
@pytest.mark.parametrize("seen_from", ["outside", "A"])
def test_what_is_forgotten_stays_forgotten_when_the_wish_is_erased(open_store: Open, what: str, seen_from: str) -> None:
    store = open_store(background=False, memory_extract=True)
    a, b = store.create("A"), store.create("B")
    store.append(a, role="user", text="Remember I prefer dark mode.")
    store.consolidate(a)
    store.append(b, role="user", text="Forget all my preferences.")
    assert store.consolidate(b).deleted == 1
    store.erase(**{"conversation": {"conversation": "B"}, "event": {"source": "B:1"}}[what])
    assert store.memories(conversation=None if seen_from == "outside" else "A") == []
    (m,) = store.memories(state="forgotten")
    assert "B" not in [c.conversation_id for c in store.memory_history(m.id)]
    assert store.memory_history(m.id)[-1].why == "(erased)"
