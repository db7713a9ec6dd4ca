"""Every SQL statement of ours: run by a tour of all verbs, explained by both databases, and tied to its user.

The tour is held against the source: a call of `tx.all`, `tx.one`, `tx.run` or `tx.many` that it does not reach fails the
test, so a new statement cannot escape it.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import urlsplit

import pytest

import recollect
import recollect.ids
import recollect.store
from recollect import conversations, jobs, memories, receipts, salvage
from talk import Hashed, eventually, exchange

pytest.importorskip("psycopg")

from recollect.db.postgres_tx import translate

ROOT = Path(recollect.__file__).parent
VERBS = ("all", "one", "run", "many", "put_off", "send", "later")
TENANT = re.compile(
    r"\b(?:from|join|into|update)\s+(conversations|branches|events|tombstones|jobs|receipts|memories|words|title_words"
    r"|vectors|passages|embeddings|statistics|memory_changes|memory_roots|considered|pins|items|item_texts|checkpoints"
    r"|checkpoint_writes|checkpoint_pieces|checkpoint_messages|erased)\b",
    re.I,
)
ONE_OR_THE_OTHER = {"sqlite": {"_late", "_distance"}, "postgres": {"_new"}}
"""Functions of vectors.py that only the other database needs; and `nearest` asks each in its own way."""
OF_A_SERVER = {"_nearest_there", "kept"}
"""The same of texts.py."""


class Statement(NamedTuple):
    sql: str
    params: dict[str, Any]
    site: tuple[str, int]


class Recorder:
    """A Tx that writes down what is asked of the real one."""

    def __init__(self, tx: Any, seen: list[Statement]) -> None:
        self._tx, self._seen = tx, seen

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._tx, name)
        return partial(self._call, name, real) if name in VERBS else real

    def _call(self, verb: str, real: Callable[..., Any], sql: str, *args: Any, **params: Any) -> Any:
        frame = sys._getframe(1)
        if verb in ("many", "put_off"):
            args = (rows := list(args[0]),)
            same = params.get("same", ())
            params_shown = dict(zip(translate(sql)[1], (*same, *rows[0]), strict=True)) if rows else {}
        else:
            params_shown = {**params, "user": self._tx.user}
        self._seen.append(Statement(sql, params_shown, (frame.f_code.co_filename, frame.f_lineno)))
        return real(sql, *args, **params)


def record(database: type, patch: pytest.MonkeyPatch, seen: list[Statement]) -> None:
    for name in ("read", "write"):
        real = getattr(database, name)
        recording = lambda self, user, fn, real=real, **how: real(self, user, lambda tx: fn(Recorder(tx, seen)), **how)  # noqa: E731
        patch.setattr(database, name, recording)


def tour(store: recollect.Store) -> None:
    """Every verb, with everything that makes it take another path."""
    c = store.create("c", title="T", workspace="/w", metadata={"k": 1})
    for again in ("c",):
        with pytest.raises(recollect.errors.AlreadyExists):
            store.create(again)
    store.append_many(c, exchange(22))
    store.search("message")
    store.append(c, role="assistant", text="a", reasoning="r", key="k")
    store.append(c, role="assistant", text="a", key="k")
    store._keyed("k")
    store._beginning("c")
    store.append(c, kind="ledger", task_id="t", goal="g")
    store.append(c, kind="artifact", path="a.py")
    store.record_workflow_event(c, {"type": "workflow.start"})
    store._catch_up()
    store.settle()
    store.fork(c, name="idea")
    store.fork(c, 3, branch="idea", switch=True)
    store.fork(c, 4)
    store.append_many(c, exchange(22), branch="idea")
    store.settle()
    store.summarize(c)
    for branch in (None, "idea", "*"):
        store.read(c, branch=branch, after=1, kinds=["message", "note"], names=["n"], limit=5)
        store.read(c, branch=branch)
    store.messages(c, include_reasoning=True, branch="main")
    store.formatted_history(c)
    store.with_history(c, "hi")
    store.ledger(c, at=50)
    store.reasoning(c, message=23)
    store.branches(c)
    # On a server that other tests write to, what is newest is shown when they are done.
    eventually(lambda: store.changes(after=0, limit=1).items, 60)
    store.changes(after=store.changes(after=0, limit=1).cursor, conversation="c", workspace="/w")
    store.switch(c, "main")
    store.delete_event(c, store.append(c, kind="note").seq)
    thought = store.create().id
    store.append(thought, kind="reasoning", text="why", message=store.append(thought, role="user", text="q").seq)
    store._held(store.conversations(workspace="/w"))
    store.conversations(deleted=True)
    store._read(lambda tx: conversations.by_date(tx, workspace="/w", limit=5, cursor=None))
    store.rename(c, "N")
    store.annotate(c, {"theme": "dark"})
    store.pins(c)
    store.delete(c)
    store.restore(c)
    store.get(c)
    for by in (None, "day", "kind", "tool", "agent", "model", "workspace"):
        store.stats(by=by, since=1)
    store.verify()
    open_gate = recollect.Store(store._db, "alex", store.settings.but(redact=False), None, store._worker)
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    open_gate.rename(c, secret)
    open_gate.append(c, role="user", text=f"use {secret}")
    open_gate.fork(c, name=secret)
    open_gate.erase(conversation=open_gate.create(secret))
    store._db.write("alex", lambda tx: jobs.enqueue(tx, secret, "1"))
    open_gate.settle()
    assert store.scan(fix=True).places
    store._db.write("alex", lambda tx: jobs.enqueue(tx, "from the future", "1"))
    store._db.write("alex", lambda tx: jobs.put_back(tx, job) if (job := jobs.claim(tx)) else None)
    store.settle()
    store.stats()
    searches(store, c)
    items_put(store, c)
    store.append_many(c, exchange(22))
    store.clear(c)
    store.append_many(c, exchange(22))
    store.erase(conversation=c)
    for verb in (store.clear, lambda c: store.delete_event(c, 1)):
        untitled = store.create()
        store.append(untitled, role="user", text="the title comes from here")
        verb(untitled.id)


def searches(store: recollect.Store, c: recollect.Conversation) -> None:
    from recollect.search.vectors import Semantic

    store.append_many(c, exchange(520))  # enough for the counts of terms to be kept
    store.append(c, role="user", text="we painted yesterday", created_at=1_683_504_000_000)
    store.append(c, kind="tool_use", tool="Read", path="/elsewhere/x")
    store.append(c, role="user", text="mine", key="message-17")
    store.get_event(c, key="message-17")
    store.append(c, role="user", text="a long story about the painted mode. " * 100)
    for _ in range(2):
        mine = store.remember("prefers dark mode", tags=["ui"], source="c:1")
        store.remember("only here", conversation=c, workspace="/w")
    store.settle()
    for scope in (
        {}, {"workspace": "/w"}, {"workspaces": ["/w", "/v"]}, {"conversation": c}, {"conversation": c, "branch": "idea"},
        {"branch": "*"}, {"types": "memories"}, {"types": "events", "kinds": ["message"], "tool": "x", "since": 1, "until": 2},
    ):  # fmt: skip
        store.search("painted message 7 May 2023 mode redacted", **scope)
    store.recall("mode", tags=["ui"], min_importance=0.1, since=1)
    assert store.context("mode", conversation=c).items
    Semantic(Hashed(), store._db.dialect).catch_up(store._db, "alex", lambda: None)
    if store._db.dialect == "postgres":  # something that was committed after a later id had been embedded
        store._db.write("alex", lambda tx: tx.run("delete from vectors where user_no = :user"))
        Semantic(Hashed(), store._db.dialect).catch_up(store._db, "alex", lambda: None)
    open_gate = recollect.Store(store._db, "alex", store.settings.but(redact=False), None, store._worker)
    secret = "ghp_" + "f6E5d4C3b2A1" * 3
    leaky = open_gate.create(title=secret, workspace=f"/{secret}")
    open_gate.append(leaky, role="user", text="hi")
    open_gate.fork(leaky, name=secret)
    open_gate.remember(f"the token is {secret}")
    assert store.scan(fix=True).places
    assert store._db.read("alex", lambda tx: memories.beginning(tx, mine.id[:4]))
    store.forget(mine)
    entire = "user_no = :user and id > :low and id <= :high"  # as before there were any
    store._db.write(
        "alex", lambda tx: tx.run(f"delete from passages where {entire}", low=tx.low_id(), high=tx.high_id())
    )
    store.reindex()
    store._db.write("alex", lambda tx: jobs.enqueue(tx, "index", "all"))
    store.settle()
    assert store.verify().ok


def lives(store: recollect.Store) -> None:
    """What can happen to a memory."""
    c = store.create("talk", workspace="/w", origin="hook")
    store.append(c, role="user", text="I live in Porto.")
    store.append(c, role="assistant", text="I prefer tabs.")
    store.consolidate(c)
    with mock.patch("recollect.consolidate.candidates", side_effect=IndexError):
        store.append(c, role="user", text="I left.")
        store.consolidate(c)
    store.fork(c, 1, name="other")
    store.append(c, role="user", text="I moved to Lisbon.", branch="other")
    store.consolidate(c, branch="other")
    store.append(c, role="user", text="I live in Porto.")
    store.append(c, role="user", text="I live in Porto.")
    store.consolidate(c)
    store.append(c, role="user", text="I live in Porto.")
    store.consolidate(c)
    for branch in (None, "main", "other"):
        store.memories(conversation=c, branch=branch)
        store.recall("lives", conversation=c, branch=branch)
    store.memories(conversation=c, as_of=1)
    store.pin(store.memories(conversation=c, branch="other")[0])
    store.memories(state=None, as_of=5, kinds=["fact"], tags=["x"], limit=1)
    root = store.remember("Works at Acme", source="talk:1", pinned=True)
    store.remember("Takes the train", derived_from=[root.id])
    moved = store.revise(root, content="Works at Globex")
    store.revise(moved, importance=0.9)
    store.undo(moved)
    store.undo(moved)
    store.pin(root)
    store.unpin(root)
    store.memory_history(root)
    store.memories(cursor=root.id)
    quiet = store.remember("Likes tea", role="tool")
    store.revise(quiet, promote=True)
    store.revise(store.remember("Only here", conversation=c), promote=True)
    store.revise(store.remember("Uses bun", source="talk:1"), scope="workspace")
    store.remember("On holiday", valid_to=1)
    store.pin("talk:1")
    store.search(store.read("talk", limit=1, branch="*")[0].text, conversation="talk")  # with a pin
    store.unpin("talk:1")
    store.settle()
    store.switch(c, "other")
    store.forget(quiet)
    with pytest.raises(recollect.errors.NotFound):
        store.forget(source="nowhere:1")
    store.forget(source="talk:1")
    store.append(c, role="user", text="I like ships.")
    store.consolidate(c)
    store.forget(source=c)
    store.forget(root, erase=True)
    small = recollect.Store(
        store._db,
        "alex",
        store.settings.but(memory_max_items_per_namespace=1, memory_promote=("tool",)),
        None,
        store._worker,
    )
    small.remember("one", workspace="/small", role="tool")
    small.remember("two", workspace="/small", role="tool")
    store.recall("two")
    store.stats()
    store.verify()
    store.append(store.create("lasting", origin="http"), role="user", text="old")
    store.append(store.create("lasting too"), role="user", text="old")
    now = recollect.ids.DAY_MS * 100 + recollect.ids.now()
    store.append("lasting", role="user", text="new", created_at=now)
    real, recollect.ids.now = recollect.ids.now, lambda: now
    try:
        store._db.write("alex", lambda tx: jobs.enqueue(tx, "retain", "all"))
        store.settle()
        for keep in (True, False):
            old = store.create(origin="hook")
            store.append(old, role="user", text="I live in Bonn.")
            store.consolidate(old)
            store.fork(old, 0, name="b")
            store.append(old, role="user", text="I live in Rome.", branch="b")
            store.consolidate(old, branch="b")
            store.remember("here", conversation=old)
            if keep:
                store.pin(f"{old.id}:1")
        now += recollect.ids.DAY_MS * 100
        store.retain(dry_run=True)
        store.retain()
        kept = store.settings.but(retention_application_days=1)
        recollect.Store(store._db, "alex", kept, None, store._worker).retain(dry_run=True)
    finally:
        recollect.ids.now = real
    away = store.create("away")
    store.append(away, role="user", text="I live in Oslo.")
    store.append(away, role="user", text="I like fjords.")
    store.consolidate(away)
    store.delete_event(away, 2)
    store.clear(away)
    store.append(away, role="user", text="I live in Oslo.")
    store.consolidate(away)
    store.erase(conversation=away)


def items_put(store: recollect.Store, c: recollect.Conversation) -> None:
    from recollect import items, mirror
    from recollect.langgraph.store import MemoryStore

    memory = MemoryStore(store, index={"embed": Hashed(dimension=256).embed, "dims": 256, "fields": ["content"]})
    here, away = ("memories", "alex", c.id), ("memories", "kim")
    for said in ("likes tea", "likes coffee"):
        for namespace in (here, away, ("n",), ("m",)):
            memory.put(namespace, "k", {"content": said, "n": 1})
    memory.put(("memories", "alex"), "k", {"content": "a memory of a run"})
    store._db.write("alex", lambda tx: mirror._newest_event(tx, c.id))
    memory.put(away, "k", {"nothing": "to remember"})
    store._db.write("alex", lambda tx: tx.run("update item_texts set model = null where user_no = :user"))
    for filter in (None, {"n": 1}):
        for query in (None, "tea or coffee"):
            memory.search((), query=query, filter=filter, limit=3)
            memory.search(("memories", "alex"), query=query, filter=filter)
            memory.search((), query=query, filter=filter, limit=1, offset=1)
    assert store._db.read("alex", lambda tx: items.places(tx, items.Scope(("n",)))) == ["n."]
    memory.get(("n",), "k")
    memory.list_namespaces(prefix=("n",))
    memory.delete(("m",), "k")
    memory.put(("short",), "k", {"content": "gone soon"}, ttl=1)
    memory.get(("short",), "k")
    mirror.sweep(store._db, "alex", recollect.ids.now() + 10**9)
    mirror.sweep_job(store._db, "alex")
    open_gate = recollect.Store(store._db, "alex", store.settings.but(redact=False), None, store._worker)
    MemoryStore(open_gate).put(("n",), "leaky", {"content": "use ghp_" + "b1C2d3E4f5A6" * 3})
    assert store.scan(fix=True).places
    assert store._db.read("alex", items.count)
    store.reindex()
    assert store.verify().ok


def graphs(store: recollect.Store) -> None:
    """Everything that a graph's state is asked for."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph

    from recollect.langgraph import AgentNode, Saver, ask, chat_graph, fork, resume

    assert list(ask(chat_graph(store=store), "g0", "hello"))
    saver = Saver(store)
    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [AIMessage(f"answer {len(state['messages'])}" * 20)]})
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "g"}}
    long = [HumanMessage(f"message {i} " * 20) for i in range(100)]
    graph.invoke({"messages": long}, {**thread, "metadata": {"run_id": "r"}})
    for _ in range(2):
        graph.invoke({"messages": [HumanMessage("hi " * 50, id="h")]}, thread)
    graph.update_state(thread, {"messages": [HumanMessage("edited", id="h")]})
    there = store.checkpoints("g", limit=100)[-1]  # the first: it has no parent
    resume(graph, fork(graph, there), {"messages": [HumanMessage("other")]})
    resume(graph, fork(graph, store.checkpoints("g", limit=100)[-2]))
    resume(graph, store.fork("g", 2, name="h"), {"messages": [HumanMessage("other")]})
    for config in (None, thread, {"configurable": {"thread_id": "g", "checkpoint_ns": ""}}):
        assert list(saver.list(config, filter={"source": "loop", "step": 0}, before=thread, limit=2)) is not None
    assert list(saver.list({"configurable": {"thread_id": "g", "checkpoint_id": there.id}}, before=there and None))
    saver.get_delta_channel_history(config=thread, channels=["nothing"])
    saver.starting({"configurable": {"thread_id": "g", "branch": "h"}})
    node = AgentNode(lambda _: AIMessage("answer"), use_graph_chat_history=True, max_messages=1, store=store)
    for _ in range(12):  # until the first is older than what is read
        node.invoke({"messages": [HumanMessage("yes")]}, {"configurable": {"thread_id": "chat"}})
    store.checkpoints("g", branch="main", before=there)
    assert store.verify().ok
    open_gate = recollect.Store(store._db, "alex", store.settings.but(redact=False), None, store._worker)
    leaky = builder.compile(checkpointer=Saver(open_gate))
    leaky.invoke(
        {"messages": [HumanMessage("use ghp_" + "b1C2d3E4f5G6" * 3)]}, {"configurable": {"thread_id": "leaky"}}
    )
    assert saver.scan(fix=True)
    archives(store)
    saver.copy_thread("g", "g2")
    saver.delete_thread("g2")
    saver.copy_thread("g", "g2")  # anew
    saver.delete_for_runs(["r"])
    saver.prune(["g2"])
    store.settle()
    store.clear("g2")
    saver.delete_thread("g")


def archives(store: recollect.Store) -> None:
    """Everything is taken out and brought in again: by somebody who has nothing, has it all, and has a part of it."""
    import io

    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph

    from recollect.langgraph import Saver
    from recollect.langgraph.store import MemoryStore

    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [HumanMessage("in its place", id="h")]})
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=Saver(store))
    graph.invoke({"messages": [HumanMessage("mine", id="h")]}, {"configurable": {"thread_id": "stated"}})
    within = StateGraph(MessagesState).add_node("w", lambda state: {"messages": [AIMessage("of a subgraph", id="a")]})
    around = StateGraph(MessagesState).add_node("sub", within.add_edge(START, "w").compile()).add_edge(START, "sub")
    kept = around.compile(checkpointer=Saver(store))
    kept.invoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "subs"}}, durability="sync")
    c = store.create("archived", workspace="/w", origin="hook")
    store.append_many(c, exchange(22))
    store.consolidate(c)
    store.summarize(c)
    store.pin("archived:21")
    store.remember("here", conversation=c, derived_from=[store.remember("Lives in Oslo").id])
    MemoryStore(store).put(("n",), "archived", {"content": "x"}, ttl=1000)
    store.fork(c, 2, name="again")
    kim = store.for_user("kim")

    def bring(**part: str) -> str:
        file = io.StringIO()
        store.export(file, **part)  # type: ignore[arg-type]
        store.for_user("lee").import_(io.StringIO(file.getvalue()))
        kim.import_(io.StringIO(file.getvalue()), trust=True)
        return file.getvalue()

    for part in ({"conversation": "archived"}, {"workspace": "/w"}, {}):
        bring(**part)
        store.export(io.StringIO(), format="markdown", **part)  # type: ignore[arg-type]
    store.append(c, role="user", text="and on", branch="again")
    store.delete_event(c, store.append(c, role="user", text="gone").seq)
    kim.delete_event("archived", 20)
    MemoryStore(store).put(("memories", "kim"), "own", {"content": "likes ships"})
    bring()
    store.import_(io.StringIO(bring().replace(',"signature":"', ',"signature":"00')), trust=True)


def erasures(store: recollect.Store) -> None:
    """Everything that can be erased, and what must not come back."""
    import io

    from langchain_core.messages import HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph

    from recollect.langgraph import MemoryStore, Saver

    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [HumanMessage("answer")]})
    builder.add_edge(START, "answer")
    kept = MemoryStore(store)

    def keeps(state: MessagesState) -> dict[str, Any]:
        kept.put(("memories", "alex"), "of a run", {"content": "Likes figs"})
        return {}

    saving = StateGraph(MessagesState)
    saving.add_node("keep", keeps)
    saving.add_edge(START, "keep")
    saving.compile(checkpointer=Saver(store), store=kept).invoke(
        {"messages": []}, {"configurable": {"thread_id": "e0"}}
    )
    store.forget(source="e0")
    edited = store.create().id
    for text, message in (("My dog is called Rex.", None), ("My dog is called Max.", 1)):
        store.append(edited, role="user", text=text, message=message)
        store.consolidate(edited)
    for c, text in (("e4", "Remember I prefer dark mode."), ("e5", "Forget all my preferences.")):
        store.create(c)
        store.append(c, role="user", text=text)
        store.consolidate(c)
    store.erase(conversation="e5")
    graph = builder.compile(checkpointer=Saver(store), store=kept)
    for c in ("e1", "e2", "e3"):
        store.create(c, workspace="/e")
        for said in ("I live in Porto.", "I live in Bonn.", "I have a dog."):
            store.append(c, role="user", text=said)
        store.consolidate(c)
        graph.invoke({"messages": [HumanMessage("hi", id="h")]}, {"configurable": {"thread_id": c}})
        kept.put(("memories", "alex", c), "k", {"content": f"of {c}"})
        store.remember(f"limited {c}", workspace="/e")
    MemoryStore(store.for_user("service")).put(("memories", "alex"), "theirs", {"content": "kept elsewhere"})
    root = store.remember("a root", source="e1:1")
    store.remember("of a root", derived_from=[root.id])
    store.remember("of two", derived_from=[root.id, store.remember("another").id])
    store.remember("of nobody", source="elsewhere:3")
    store.summarize("e1")
    store.pin("e1:1")
    for request in (
        {"source": "e1:1"}, {"source": next(e.id for e in store.read("e3") if e.text == "hi")}, {"source": "elsewhere:3"}, {"memory": store.remember("gone soon").id},
        {"conversation": "e2"}, {"workspace": "/e"},
    ):  # fmt: skip
        store.erase(**request, dry_run=True)
        store.erase(**request)  # type: ignore[arg-type]
    with pytest.raises(recollect.errors.Erased):
        store.append("e2", role="user", text="late")
    store.create("e2", again=True)
    store.receipts()
    store.verify_receipt(store.receipts(conversation="e1")[0])
    store._db.write("alex", lambda tx: tx.run('update items set source = \'{"thread_id": "x"}\' where user_no = :user'))
    kept.put(("n",), "k", {"content": "of a run"})
    store._db.write("alex", lambda tx: tx.run('update items set source = \'{"thread_id": "x"}\' where user_no = :user'))
    file, theirs = io.StringIO(), io.StringIO()
    MemoryStore(store.for_user("service")).put(("memories", "alex", "x"), "k", {"content": "of a run"})
    store.export(file)
    store.for_user("service").export(theirs)
    store.erase(conversation="x")
    for late in (file, theirs):
        assert store.import_(io.StringIO(late.getvalue())).problems
    old = recollect.ids.new()
    store._db.write("alex", lambda tx: tx.run(
        "insert into receipts (user_no, id, request, counts, erased_at) values (:user, :id, :request, '{}', 1)",
        id=old, request='{"conversation": "before"}',
    ))  # fmt: skip
    receipts.resume(store._db, "alex")
    assert store.receipts(conversation="before")
    store.erase(user="alex")


def salvage_something(store: recollect.Store, url: str) -> None:
    c = store.create()
    store.append_many(c, exchange(3))
    store.fork(c, 1, switch=True)
    store.append(c, role="user", text="x")
    store.remember("kept", conversation=c)
    salvage.salvage(Path(url), Path(url).with_name("salvaged.db"))


@pytest.fixture
def seen(url: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> Iterable[list[Statement]]:
    found: list[Statement] = []
    with recollect.open(url, user="alex", background=False, summary_delete=True, backup_every=1) as store:
        record(type(store._db), monkeypatch, found)
        tour(store)
        lives(store)
        graphs(store)
        erasures(store)
        if backend == "sqlite":
            salvage_something(store, url)
        yield found


@pytest.fixture
def inner(monkeypatch: pytest.MonkeyPatch) -> list[Statement]:
    """What a transaction on Postgres asks of itself: the index of words."""
    from recollect.db.postgres_tx import PostgresTx

    found: list[Statement] = []
    real, real_many = PostgresTx._say, PostgresTx.many

    def say(self: Any, sql: str, params: dict[str, Any]) -> Any:
        found.append(Statement(sql, {**params, "user": self.user}, ("", 0)))
        return real(self, sql, params)

    def many(self: Any, sql: str, rows: Iterable[Any], /, *, same: tuple[Any, ...] = ()) -> None:
        rows = list(rows)
        found.extend(
            Statement(sql, dict(zip(translate(sql)[1], (*same, *row), strict=True)), ("", 0)) for row in rows[:1]
        )
        real_many(self, sql, rows, same=same)

    monkeypatch.setattr(PostgresTx, "_say", say)
    monkeypatch.setattr(PostgresTx, "many", many)
    return found


def distinct(seen: list[Statement]) -> list[Statement]:
    return list({s.sql: s for s in sorted(seen, key=lambda s: len(s.params))}.values())


def call_sites() -> dict[tuple[str, int, int], str]:
    sites = {}
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in VERBS
                and ast.unparse(node.func.value) in ("tx", "self._tx")
            ):
                sites[str(file), node.lineno, node.end_lineno or node.lineno] = f"{file.name}:{node.lineno}"
    return sites


def functions(name: str) -> dict[str, set[int]]:
    """Function -> its lines, in a file of ours."""
    (file,) = ROOT.rglob(name)
    lines: dict[str, set[int]] = {}
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            lines.setdefault(node.name, set()).update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def test_the_tour_reaches_every_statement(seen: list[Statement], backend: str) -> None:
    reached = {s.site for s in seen}
    missed = [
        shown
        for (file, first, last), shown in call_sites().items()
        if not any(f == file and first <= line <= last for f, line in reached)
    ]
    if backend == "postgres":  # only a file can be salvaged
        missed = [shown for shown in missed if not shown.startswith("salvage.py")]
    there = {**functions("vectors.py"), **functions("signatures.py")}
    for file in ("vectors.py", "signatures.py", "texts.py"):
        lines = functions(file)
        other = set().union(*(lines.get(name, set()) for name in ONE_OR_THE_OTHER[backend] | {"nearest"}))
        if backend == "sqlite":
            other |= set().union(*(lines.get(name, set()) for name in OF_A_SERVER))
        missed = [m for m in missed if not (m.startswith(file) and int(m.split(":")[1]) in other)]
    assert not missed, "\n".join(missed)
    for name in (
        "nearest" if backend == "postgres" else "_new",
        *(ONE_OR_THE_OTHER["sqlite" if backend == "postgres" else "postgres"]),
    ):
        files = ("vectors.py", "signatures.py")
        assert any(f.endswith(files) and line in there[name] for f, line in reached), name


def test_every_statement_on_a_tenants_table_names_the_user(seen: list[Statement]) -> None:
    for s in seen:
        if TENANT.search(s.sql):
            assert re.search(r"(user_no = :user\b|\((:tick, )?:user\b|:user_no\b)", s.sql), s.sql


def test_every_joined_tenants_table_is_tied_to_the_user_too(seen: list[Statement]) -> None:
    """A join by number alone could meet another user's rows where numbers are per user."""
    for s in seen:
        for _ in range(len(TENANT.findall(s.sql)) - 1):
            assert len(re.findall(r"user_no\b", s.sql)) > len(TENANT.findall(s.sql)) - 1, s.sql


def test_no_value_is_written_into_a_statement(seen: list[Statement]) -> None:
    """The same verb gives the same statement, whatever it is asked: values travel as parameters."""
    for s in seen:
        for value in ("'c'", "'/w'", "'idea'", "'workflow.start'", "'k'"):
            assert value not in s.sql, s.sql


@pytest.mark.parametrize("backend", ["sqlite"])
def test_sqlite_explains_every_statement_without_a_scan(seen: list[Statement], url: str) -> None:
    import apsw

    connection = apsw.Connection(url, apsw.SQLITE_OPEN_READONLY)
    scans = []
    try:
        for sql, params, _ in distinct(seen):
            plan = connection.execute("explain query plan " + sql, params).fetchall()
            # A scan of what a subquery has found is none of a table.
            found = {row[3].split()[1] for row in plan if row[3].startswith(("CO-ROUTINE", "MATERIALIZE"))}
            tables = [
                row[3] for row in plan if re.match(r"SCAN (?!\(|CONSTANT|\d|json_each)", row[3])
            ]  # numbers that were given
            scans += [f"{scan}: {sql}" for scan in tables if scan.split()[1] not in found]
    finally:
        connection.close()
    assert scans == []


@pytest.mark.parametrize("backend", ["postgres"])
def test_postgres_explains_every_statement(
    inner: list[Statement], seen: list[Statement], url: str, postgres_server: Any
) -> None:
    """Those of the index of words too, which the transaction makes itself."""
    import psycopg

    admin = postgres_server.admin_url(urlsplit(url).path.lstrip("/"))
    with psycopg.connect(admin, autocommit=True, options="-c search_path=recollect") as connection:
        for sql, params, _ in distinct([*seen, *inner]):
            statement, names = translate(sql)
            explained = psycopg.RawCursor(connection).execute(
                b"explain " + statement.encode(), [params[name] for name in names]
            )
            assert explained.fetchall()


def test_the_words_are_found_by_their_index(tmp_path: Path) -> None:
    """Each of FTS5's statements is understood, and none but the check of the index goes over all of it."""
    import apsw

    from recollect.db.transaction import _FTS

    recollect.open(tmp_path / "chat.db", user="alex").close()
    connection = apsw.Connection(str(tmp_path / "chat.db"), apsw.SQLITE_OPEN_READONLY)
    try:
        for statements in _FTS.values():
            for sql in statements:
                plan = connection.execute(
                    "explain query plan " + sql, (1,) * (sql.count("?") + sql.count(":"))
                ).fetchall()
                assert all(
                    "INDEX 0:" not in row[3] or "INDEX 0:=" in row[3] or "INDEX 0:M" in row[3] for row in plan
                ), plan
    finally:
        connection.close()
