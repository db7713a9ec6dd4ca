"""Isolation as a whole: every way in is listed, and through each of them one user reads, changes and counts nothing of another's.

`VERBS`, `SAVER`, `KEPT`, `GRAPHS`, `ROUTES` and `TOOLS` are held against what the code offers: a new verb, route, tool or method
fails here until it is listed with what it is tried with. Each is called as Ann, with the ids of what Bob has, on a database
with Bob's things and on one without: the answer must be the same, and Bob's must be as it was.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import io
import json
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.graph import START, MessagesState, StateGraph

import recollect
from recollect import langgraph
from recollect.errors import RecollectError
from talk import exchange

SECRET = "qwxzbobsown"
Call = Callable[[Any, "Bobs"], Any]


class Bobs:
    """The ids of what Bob has; of nothing at all in a database where he has none."""

    conversation, branch, memory, receipt, checkpoint = "bobs", "idea", "0" * 32, "1" * 36, "2" * 36

    def __init__(self, store: recollect.Store | None) -> None:
        if store is None:
            return
        bob = store.for_user("bob")
        c = bob.create("bobs", title=SECRET, workspace="/w", metadata={"k": SECRET})
        bob.append(c, role="user", text=f"I live in {SECRET.capitalize()}.", key="k")
        bob.append(c, role="assistant", text=SECRET, reasoning=SECRET)
        bob.append(c, kind="ledger", task_id="t", goal=SECRET)
        bob.append(c, kind="event", name="n", tool=SECRET, agent=SECRET, model=SECRET, key="k")
        bob.append_many(c, exchange(9))
        bob.fork(c, 1, name="idea")
        bob.consolidate(c)
        bob.summarize(c)
        self.memory = bob.remember(f"has {SECRET}", tags=[SECRET]).id
        bob.pin(self.memory)
        bob.delete(bob.create("binned", title=SECRET))
        self.receipt = bob.erase(conversation=bob.create("erased")).id
        run(bob, "bobs", SECRET)
        self.checkpoint = bob.checkpoints("bobs")[0].id
        langgraph.MemoryStore(bob).put(("n",), "k", {"content": SECRET})
        told(bob).invoke({"messages": [HumanMessage(SECRET, id="s")]}, at(self))
        bob.settle()


def run(store: recollect.Store, thread: str, said: str) -> Any:
    graph = compiled(langgraph.Saver(store))
    graph.invoke({"messages": [HumanMessage(said)]}, {"configurable": {"thread_id": thread}})
    return graph


def compiled(saver: Any, **kw: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [AIMessage(f"answer {len(state['messages'])}")]})
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=saver, **kw)


def told(store: recollect.Store) -> Any:
    """An agent that says what it is shown, with a history under one key for everybody."""
    echo = lambda state: {"messages": [AIMessage(" | ".join(str(m.content) for m in state["messages"]))]}  # noqa: E731
    return langgraph.AgentNode(echo, use_graph_chat_history=True, store=store, history_key_candidates=["one-key"])


class Echo(FakeListChatModel):
    """A model that says what it is shown."""

    responses: list[str] = []  # noqa: RUF012 - pydantic's way

    def bind_tools(self, tools: Any, **kw: Any) -> Any:
        return self

    def _call(self, messages: Any, *args: Any, **kw: Any) -> str:
        return " | ".join(str(m.content) for m in messages)


def exported(store: Any, **part: Any) -> str:
    file = io.StringIO()
    store.export(file, **part)
    return file.getvalue()


# -- the verbs

VERBS: dict[str, Call] = {
    "create": lambda s, b: (s.create(b.conversation, title="mine"), s.append(b.conversation, role="user", text="x", key="k")),
    "get": lambda s, b: s.get(b.conversation),
    "conversations": lambda s, b: [s.conversations(), s.conversations(deleted=True), s.conversations(workspace="/w")],
    "rename": lambda s, b: s.rename(b.conversation, "x"),
    "delete": lambda s, b: s.delete(b.conversation),
    "restore": lambda s, b: s.restore("binned"),
    "clear": lambda s, b: s.clear(b.conversation),
    "erase": lambda s, b: [
        outcome(lambda kind=kind, what=what, dry=dry: s.erase(**{kind: what}, dry_run=dry))  # type: ignore[misc]
        for dry in (True, False)
        for kind, what in {
            "conversation": b.conversation, "workspace": "/w", "memory": b.memory, "source": f"{b.conversation}:1", "user": "bob",
        }.items()
    ],
    "receipts": lambda s, b: [s.receipts(), s.receipts(conversation="erased")],
    "verify_receipt": lambda s, b: s.verify_receipt(b.receipt),
    "append": lambda s, b: s.append(b.conversation, role="user", text="x", key="k"),
    "append_many": lambda s, b: s.append_many(b.conversation, exchange(2)),
    "record_workflow_event": lambda s, b: s.record_workflow_event(b.conversation, {"type": "x"}),
    "delete_event": lambda s, b: s.delete_event(b.conversation, 1),
    "read": lambda s, b: [outcome(lambda br=br: s.read(b.conversation, branch=br)) for br in (None, "*", b.branch)],  # type: ignore[misc]
    "get_event": lambda s, b: s.get_event(b.conversation, key="k"),
    "messages": lambda s, b: s.messages(b.conversation, include_reasoning=True),
    "formatted_history": lambda s, b: s.formatted_history(b.conversation),
    "with_history": lambda s, b: s.with_history(b.conversation, "hi"),
    "ledger": lambda s, b: s.ledger(b.conversation),
    "reasoning": lambda s, b: s.reasoning(b.conversation),
    "remember": lambda s, b: [
        outcome(lambda: s.remember("x", conversation=b.conversation)),
        outcome(lambda: s.remember("x", derived_from=[b.memory])),
        s.remember("has what Bob has", source=f"{b.conversation}:1").provenance,
    ],
    "forget": lambda s, b: [
        outcome(lambda: s.forget(b.memory)), outcome(lambda: s.forget(b.memory, erase=True)),
        outcome(lambda: s.forget(source=b.conversation, erase=True)),
    ],
    "recall": lambda s, b: [s.recall(SECRET), outcome(lambda: s.recall(SECRET, conversation=b.conversation))],
    "memories": lambda s, b: [
        s.memories(state=None), outcome(lambda: s.memories(conversation=b.conversation)),
        outcome(lambda: s.memories(cursor=b.memory)),
    ],
    "revise": lambda s, b: s.revise(b.memory, content="x"),
    "pin": lambda s, b: [outcome(lambda: s.pin(b.memory)), outcome(lambda: s.pin(f"{b.conversation}:1"))],
    "unpin": lambda s, b: [outcome(lambda: s.unpin(b.memory)), outcome(lambda: s.unpin(f"{b.conversation}:1"))],
    "undo": lambda s, b: s.undo(b.memory),
    "memory_history": lambda s, b: s.memory_history(b.memory),
    "consolidate": lambda s, b: s.consolidate(b.conversation),
    "retain": lambda s, b: [s.retain(dry_run=True), s.retain()],
    "search": lambda s, b: [s.search(SECRET), s.search(SECRET, branch="*"), s.search("message answer", workspaces=["/w"])],
    "context": lambda s, b: s.context(SECRET),
    "fork": lambda s, b: s.fork(b.conversation, 1),
    "branches": lambda s, b: s.branches(b.conversation),
    "checkpoints": lambda s, b: [s.checkpoints(b.conversation)],
    "switch": lambda s, b: s.switch(b.conversation, b.branch),
    "summarize": lambda s, b: s.summarize(b.conversation),
    "settle": lambda s, b: s.settle(),
    "reindex": lambda s, b: s.reindex(),
    "stats": lambda s, b: [s.stats(by=by) for by in (None, "day", "kind", "tool", "agent", "model", "workspace")],
    "verify": lambda s, b: s.verify(),
    "annotate": lambda s, b: s.annotate(b.conversation, {"mine": 1}),
    "pins": lambda s, b: s.pins(b.conversation),
    "changes": lambda s, b: [
        outcome(lambda c=c: [(i.type, i.event and i.event.text, i.memory and i.memory.content) for i in s.changes(after=0, conversation=c).items])  # type: ignore[misc]
        for c in (None, b.conversation)
    ],
    "export": lambda s, b: [exported(s), outcome(lambda: exported(s, conversation=b.conversation)), exported(s, workspace="/w")],
    "import_": lambda s, b: [s.import_(io.StringIO(json.dumps({"type": "recollect"})))],
    "scan": lambda s, b: [s.scan(), s.scan(fix=True)],
}  # fmt: skip
NOT_ABOUT_ROWS = {
    "open": "makes a handle", "for_user": "makes a handle of another person: whoever holds one has the database",
    "user": "the handle's own", "settings": "the handle's own", "location": "where the database is", "close": "ends the handle",
    "backup": "copies the whole file: a matter of who may read the file, not of the handle", "compact": "the whole file",
}  # fmt: skip

SAVER: dict[str, Call] = {
    "get": lambda g, b: g.get(at(b)),
    "get_tuple": lambda g, b: [g.get_tuple(at(b)), g.get_tuple(at(b, checkpoint_id=b.checkpoint))],
    "list": lambda g, b: [list(g.list(None)), list(g.list(at(b))), list(g.list(None, filter={"source": "loop"}))],
    "get_delta_channel_history": lambda g, b: g.get_delta_channel_history(config=at(b), channels=["messages"]),
    "put": lambda g, b: g.put(at(b), empty_checkpoint(), {"source": "input", "step": -1}, {}),
    "put_writes": lambda g, b: g.put_writes(at(b, checkpoint_id=b.checkpoint), [("x", 1)], "t"),
    "delete_thread": lambda g, b: g.delete_thread(b.conversation),
    "delete_for_runs": lambda g, b: g.delete_for_runs(["r"]),
    "copy_thread": lambda g, b: g.copy_thread(b.conversation, "mine"),
    "prune": lambda g, b: g.prune([b.conversation], strategy="delete"),
    "scan": lambda g, b: g.scan(fix=True),
    "starting": lambda g, b: g.starting({"configurable": {"thread_id": b.conversation, "branch": "main"}}),
}
KEPT: dict[str, Call] = {
    "get": lambda k, b: k.get(("n",), "k"),
    "search": lambda k, b: [k.search((), query=SECRET), k.search(("n",)), k.search(("memories", "bob"))],
    "list_namespaces": lambda k, b: k.list_namespaces(),
    "put": lambda k, b: k.put(("n",), "k", {"content": "mine"}),
    "delete": lambda k, b: k.delete(("n",), "k"),
    "provenance": lambda k, b: k.provenance(("n",), "k"),
    "batch": lambda k, b: k.batch([]),
    "sweep_ttl": lambda k, b: int(k.sweep_ttl()),
}
GRAPHS: dict[str, Call] = {
    "fork": lambda s, b: langgraph.fork(compiled(langgraph.Saver(s)), at(b, checkpoint_id=b.checkpoint)),
    "resume": lambda s, b: langgraph.resume(compiled(langgraph.Saver(s)), at(b, checkpoint_id=b.checkpoint)),
    "Saver": lambda s, b: compiled(langgraph.Saver(s)).get_state(at(b)).values,
    "MemoryStore": lambda s, b: langgraph.MemoryStore(s).search((), query=SECRET),
    "ask": lambda s, b: [
        "".join(langgraph.ask(langgraph.chat_graph(store=s), b.conversation, asked)) for asked in ("What are my preferences?", "Where do I live?")
    ],
    "memory_tools": lambda s, b: [
        tool.invoke(given, at(b)) for tool in langgraph.memory_tools(s)
        for given in [{"forget_memory": {"memory_id": b.memory}, "remember": {"content": "likes tea"}}.get(tool.name, {"query": "where do I live"})]
    ],
    "AgentNode": lambda s, b: [m.content for m in told(s).invoke({"messages": [HumanMessage("hi", id="h")]}, at(b))["messages"]],
    "MemoryMiddleware": lambda s, b: [
        m.content for m in create_agent(Echo(), middleware=[langgraph.MemoryMiddleware(s)]).invoke({"messages": [HumanMessage("Where do I live?", id="h")]}, at(b))["messages"]
    ],
    "OfflineModel": lambda s, b: langgraph.OfflineModel(store=s).invoke([HumanMessage("Where do I live?")], at(b)).content,
}  # fmt: skip
NOT_ALONE = {
    "afork": "fork, awaited", "aresume": "resume, awaited", "Persistence": "a Saver and a MemoryStore of one user",
    "persistence": "makes one", "compile_graph": "compiles with one", "create_checkpointer": "makes a Saver",
    "create_graph_store": "makes a MemoryStore", "aask": "ask, awaited", "chat_graph": "what `ask` asks", "TOOLS": "names",
    "chat_model": "makes a model, has no rows", "default_model": "makes a model", "text_model": "makes a model",
}  # fmt: skip
ROUTES: dict[str, Call] = {
    "POST /memory/record": lambda h, b: [
        h("POST", "/memory/record", {"type": "prompt", "session_id": "mine", "content": "x"}),
        h("POST", "/memory/record", {"type": "prompt", "session_id": b.conversation, "content": "x", "branch": b.branch}),
    ],
    "DELETE /memory/record/{id}": lambda h, b: [h("DELETE", f"/memory/record/{b.conversation}:1"), h("DELETE", f"/memory/record/{b.memory}")],
    "GET /memory/record/{id}": lambda h, b: [
        h("GET", f"/memory/record/{b.conversation}:1"), h("GET", f"/memory/record/{b.memory}"), h("GET", "/memory/record/k"),
    ],
    "GET /memory/search": lambda h, b: [
        h("GET", f"/memory/search?q={SECRET}"), h("GET", f"/memory/search?q={SECRET}&session_id={b.conversation}"),
        h("GET", "/memory/search?q=message&workspace=/w"),
    ],
    "POST /memory/context": lambda h, b: [
        h("POST", "/memory/context", {"prompt": SECRET}),
        h("POST", "/memory/context", {"prompt": SECRET, "session_id": b.conversation}),
    ],
    "POST /memory/summarize": lambda h, b: h("POST", f"/memory/summarize?session_id={b.conversation}"),
    "POST /memory/remember": lambda h, b: h("POST", "/memory/remember", {"content": "x", "session_id": b.conversation}),
    "POST /memory/pin": lambda h, b: [h("POST", "/memory/pin", {"id": b.memory}), h("POST", "/memory/pin", {"id": f"{b.conversation}:1"})],
    "POST /memory/unpin": lambda h, b: [h("POST", "/memory/unpin", {"id": b.memory}), h("POST", "/memory/unpin", {"id": f"{b.conversation}:1"})],
    **{
        f"POST /memory/{route}": lambda h, b, route=route: h("POST", f"/memory/{route}", {"id": b.memory, **({"content": "x"} if route == "edit" else {})})
        for route in ("accept", "edit", "reject", "undo")
    },
    "GET /memory/events": lambda h, b: (),  # endless: `test_nor_a_stream`
    "GET /memory/conversations": lambda h, b: [h("GET", "/memory/conversations"), h("GET", "/memory/conversations?workspace=/w")],
    "GET /memory/conversation": lambda h, b: h("GET", f"/memory/conversation?session_id={b.conversation}"),
    "GET /memory/replay": lambda h, b: h("GET", f"/memory/replay?session_id={b.conversation}&branch={b.branch}"),
    "GET /memory/branches": lambda h, b: h("GET", f"/memory/branches?session_id={b.conversation}"),
    "POST /memory/fork": lambda h, b: h("POST", "/memory/fork", {"session_id": b.conversation, "at": 1}),
    "GET /memory/ledger": lambda h, b: h("GET", f"/memory/ledger?session_id={b.conversation}"),
    "GET /memory/memories": lambda h, b: [
        h("GET", "/memory/memories?state=all"), h("GET", f"/memory/memories?session_id={b.conversation}"),
        h("GET", f"/memory/memories?cursor={b.memory}"),
    ],
    "POST /memory/forget": lambda h, b: [h("POST", "/memory/forget", {"session_id": b.conversation})],
    "GET /memory/stats": lambda h, b: [h("GET", "/memory/stats"), h("GET", "/memory/stats?by=kind"), h("GET", "/memory/stats?workspace=/w")],
    "GET /memory/health": lambda h, b: h("GET", "/memory/health"),
    "GET /memory/export": lambda h, b: [h("GET", "/memory/export"), h("GET", f"/memory/export?session_id={b.conversation}")],
    "POST /memory/import": lambda h, b: h("POST", "/memory/import", {"none": "of ours"}),
}  # fmt: skip
"""METHOD /path of recollect.server -> what it is tried with, as Ann."""
TOOLS: dict[str, Call] = {
    "memory_search": lambda m, b: [m("memory_search", query=SECRET), m("memory_search", query=SECRET, conversation_id=b.conversation)],
    "memory_context": lambda m, b: [m("memory_context", prompt=SECRET), m("memory_context", prompt=SECRET, conversation_id=b.conversation)],
    "recall": lambda m, b: m("recall", question=SECRET),
    "read_conversation": lambda m, b: m("read_conversation", conversation_id=b.conversation, branch=b.branch),
    "list_conversations": lambda m, b: m("list_conversations"),
    "remember": lambda m, b: m("remember", content="x", source=f"{b.conversation}:1"),
    "forget": lambda m, b: m("forget", memory_id=b.memory),
}  # fmt: skip
"""Tool of recollect.mcp -> what it is tried with, as Ann."""
RESOURCES = {
    "recollect://conversations": "recollect://conversations",
    "recollect://conversations/{id}": "recollect://conversations/bobs",
    "recollect://memories": "recollect://memories",
    "recollect://memories/{id}": "recollect://memories/{memory}",
}


def at(b: Bobs, **more: str) -> Any:
    return {"configurable": {"thread_id": b.conversation, "checkpoint_ns": "", **more}}


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (RecollectError, InvalidUpdateError, EmptyInputError) as e:
        return f"{type(e).__name__}: {e}"


def plain(answer: Any) -> str:
    """An answer without what differs between any two databases: ids, times, hashes, sizes, and the numbers that order a list
    (on Postgres they come from a sequence that all share)."""
    text = repr(answer)
    for pattern in (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,}", r"\b(?:[0-9a-f]{32}){1,2}\b", r"\b1[5-9]\d{11}\b", r"bytes=\d+", r"cursor='\d+'",
        r"0x[0-9a-f]+", r"'\d{4}-\d\d-\d\dT[^']*'", r"\d{4}-\d\d-\d\dT\d\d:\d\dZ",
        r"\b\d{4}-\d\d-\d\d\b", r"\d{32}\.0\.\d+", r"\d\.\d{5,}",
    ):  # fmt: skip
        text = re.sub(pattern, "…", text)
    return text


class Awaited:
    """An AsyncStore whose verbs answer at once."""

    def __init__(self, store: recollect.Store) -> None:
        self._store = recollect.AsyncStore(store)

    def __getattr__(self, verb: str) -> Any:
        found = getattr(self._store, verb)
        return lambda *args, **kw: asyncio.run(found(*args, **kw))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def worlds(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[tuple[recollect.Store, Bobs]]]:
    """A database where Bob is, and one where he is not. Every proof has an Ann of its own."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            folder = tmp_path_factory.mktemp("worlds")
            urls = [str(folder / "with.db"), str(folder / "without.db")]
        else:
            server: Any = request.getfixturevalue("postgres_server")
            urls = [stack.enter_context(server.database()) for _ in range(2)]
        stores = [
            stack.enter_context(recollect.open(url, user="keeper", background=False, semantic=False)) for url in urls
        ]
        yield [(stores[0], Bobs(stores[0])), (stores[1], Bobs(None))]


def ann(store: recollect.Store, name: str) -> recollect.Store:
    mine = store.for_user(name)
    mine.append(mine.create("anns", workspace="/w"), role="user", text="I like tea.")
    mine.consolidate("anns")
    mine.settle()
    return mine


def everything_of(store: recollect.Store) -> str:
    bob = store.for_user("bob")
    answers = [
        bob.conversations(),
        bob.conversations(deleted=True),
        bob.memories(state=None),
        bob.stats(by="kind").rows,
    ]
    answers += [
        bob.read("bobs", branch="*"),
        bob.branches("bobs"),
        bob.checkpoints("bobs"),
        bob.receipts(),
        [(h.id, h.text) for h in bob.search(SECRET)],
    ]
    answers += [bob.memory_history(m) for m in bob.memories(state=None)]
    answers += [list(langgraph.Saver(bob).list(None)), langgraph.MemoryStore(bob).search(())]
    return re.sub(r"bytes=\d+", "", repr(answers))


def prove(
    worlds: list[tuple[recollect.Store, Bobs]], name: str, call: Call, wrap: Callable[[recollect.Store], Any]
) -> None:
    with_bob = worlds[0][0]
    before = everything_of(with_bob)
    answers = []
    for store, ids in worlds:
        mine = ann(store, f"ann {name}")
        said = outcome(lambda mine=mine, ids=ids: call(wrap(mine), ids))  # type: ignore[misc]
        answers.append(plain(said).replace(ids.memory, "…").replace(ids.receipt, "…").replace(ids.checkpoint, "…"))
    assert SECRET not in answers[0] and SECRET.capitalize() not in answers[0]
    assert answers[0] == answers[1], "the answer tells that Bob is there"
    if "reindex" in name:  # of a file the index is one: the others' part is filled again when they settle, as it says
        with_bob.for_user("bob").settle()
    assert everything_of(with_bob) == before


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_reads_changes_or_counts_anothers(worlds: Any, verb: str) -> None:
    prove(worlds, verb, VERBS[verb], lambda store: store)


@pytest.mark.parametrize("worlds", ["sqlite"], indirect=True)
@pytest.mark.parametrize("verb", VERBS)
def test_nor_does_its_async_mirror(worlds: Any, verb: str) -> None:
    prove(worlds, f"a{verb}", VERBS[verb], Awaited)


@pytest.mark.parametrize("method", SAVER)
def test_nor_a_checkpointer(worlds: Any, method: str) -> None:
    prove(worlds, f"Saver.{method}", SAVER[method], langgraph.Saver)


@pytest.mark.parametrize("method", KEPT)
def test_nor_a_graphs_store(worlds: Any, method: str) -> None:
    prove(worlds, f"MemoryStore.{method}", KEPT[method], langgraph.MemoryStore)


@pytest.mark.parametrize("name", GRAPHS)
def test_nor_time_travel(worlds: Any, name: str) -> None:
    prove(worlds, f"graph {name}", GRAPHS[name], lambda store: store)


# -- everything is listed


def public(of: object) -> set[str]:
    return {n for n in dir(of) if not n.startswith("_")}


def test_every_verb_is_listed() -> None:
    assert public(recollect.Store) == VERBS.keys() | NOT_ABOUT_ROWS.keys()
    assert public(recollect.AsyncStore) <= public(recollect.Store)


def test_every_verb_of_the_admin_is_listed() -> None:
    assert public(recollect.Admin) == {"users", "stats", "for_user", "erase", "receipts", "close"}
    assert not public(recollect.Store) & {"users"}


def test_every_entry_point_of_langgraph_is_listed() -> None:
    assert set(langgraph.__all__) == GRAPHS.keys() | NOT_ALONE.keys()
    asynced = {f"a{name}" for name in SAVER} - {"ascan", "astarting"}
    life = {
        "close",
        "setup",
        "from_conn_string",
        "for_user",
        "store",
        "serde",
        "config_specs",
        "get_next_version",
        "with_allowlist",
    }
    assert public(langgraph.Saver) == SAVER.keys() | asynced | life
    asynced = {f"a{name}" for name in KEPT} - {"aprovenance"}
    life = {
        "close",
        "setup",
        "from_conn_string",
        "for_user",
        "user",
        "supports_ttl",
        "ttl_config",
        "start_ttl_sweeper",
        "stop_ttl_sweeper",
    }
    assert public(langgraph.MemoryStore) == KEPT.keys() | asynced | life


# -- over HTTP, and for a model: where these doors are there

TOKEN = "t0ken-" + "x" * 40


def is_there(module: str) -> bool:
    return importlib.util.find_spec(f"recollect.{module}") is not None


def sidecar(store: recollect.Store) -> Any:
    """A way to ask a sidecar of this store: (method, path, body) -> (status, text)."""
    from starlette.testclient import TestClient

    make = importlib.import_module("recollect.server.app").create_app

    def ask(method: str, path: str, body: Any = None) -> tuple[int, str]:
        with TestClient(make(store, token=TOKEN, hosts=("testserver",))) as client:
            got = client.request(method, path, json=body, headers={"Authorization": f"Bearer {TOKEN}"})
            return got.status_code, re.sub(r'"(took_ms|uptime_ms|uptime|pid|bytes)": ?[\d.]+', "", got.text)

    return ask


def model(store: recollect.Store) -> Any:
    """A way to call a tool of an MCP server of this store, or to read a resource of it."""
    from mcp import Client

    made = importlib.import_module("recollect.mcp").server(store)

    def call(tool: str, **given: Any) -> str:
        async def go() -> Any:
            async with Client(made) as client:
                if "://" in tool:
                    return await client.read_resource(tool)
                return await client.call_tool(tool, given)

        try:
            return repr(asyncio.run(go()))
        except BaseException as e:
            while isinstance(e, BaseExceptionGroup):
                e = e.exceptions[0]
            return f"{type(e).__name__}: {e}"

    return call


def test_every_route_is_listed_with_its_proof() -> None:
    if not is_there("server"):
        return
    make = importlib.import_module("recollect.server.app").create_app
    with recollect.open(":memory:", user="ann") as store:
        api = make(store, token=TOKEN)._app.api
        there = {f"{method.upper()} {path}" for path, methods in api.openapi()["paths"].items() for method in methods}
    assert there == ROUTES.keys()


def test_every_tool_is_listed_with_its_proof() -> None:
    if not is_there("mcp"):
        return
    with recollect.open(":memory:", user="ann") as store:
        made = importlib.import_module("recollect.mcp").server(store)
        assert {tool.name for tool in asyncio.run(made.list_tools())} == TOOLS.keys()
        listed = {str(r.uri) for r in asyncio.run(made.list_resources())}
        listed |= {str(r.uri_template) for r in asyncio.run(made.list_resource_templates())}
        assert listed == RESOURCES.keys()


@pytest.mark.parametrize("route", ROUTES)
def test_nor_a_route(worlds: Any, route: str) -> None:
    if is_there("server"):
        prove(worlds, route.replace("/", " "), ROUTES[route], sidecar)


def test_nor_a_stream(worlds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_there("server"):
        return
    import http.client

    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "doors"))

    from sidecar import TOKEN, running  # type: ignore[import-not-found]

    store = worlds[0][0]
    mine, bob = ann(store, "ann streaming"), store.for_user("bob")
    with running(mine) as served:
        connection = http.client.HTTPConnection(served.host, served.port, timeout=30)
        connection.request("GET", "/memory/events?after=0", headers={"Authorization": f"Bearer {TOKEN}"})
        got = connection.getresponse()
        assert got.status == 200
        bob.append("bobs", role="user", text=f"{SECRET} once more")
        mine.append("anns", role="user", text="qwxzmarker")
        heard = b""
        while b"qwxzmarker" not in heard:
            heard += got.readline()
        connection.close()
    assert SECRET.encode() not in heard and b"bobs" not in heard


@pytest.mark.parametrize("tool", TOOLS)
def test_nor_a_tool(worlds: Any, tool: str) -> None:
    if is_there("mcp"):
        prove(worlds, f"mcp {tool}", TOOLS[tool], model)


@pytest.mark.parametrize("resource", RESOURCES)
def test_nor_a_resource(worlds: Any, resource: str) -> None:
    if is_there("mcp"):
        where = RESOURCES[resource]
        prove(worlds, f"mcp {where[12:15]} {len(resource)}", lambda m, b: m(where.replace("{memory}", b.memory)), model)


# -- the second wall, on Postgres


def test_row_level_security_is_forced_on_every_table(postgres_url: str) -> None:
    import psycopg

    recollect.open(postgres_url, user="ann").close()
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "select c.relname, c.relrowsecurity, c.relforcerowsecurity from pg_class c join pg_namespace n"
            " on n.oid = c.relnamespace where n.nspname = 'recollect' and c.relkind in ('r', 'p')"
        ).fetchall()
    found = {name: (enabled, forced) for name, enabled, forced in rows}
    # No row of anybody's: marks of commits and the key of hashes; numbers of migrations.
    assert {name for name, (enabled, _) in found.items() if not enabled} == {"meta", "schema_versions"}
    # Read through functions that repeat the policy, because a forced one would switch their index off.
    assert {name for name, (_, forced) in found.items() if not forced} == {
        "meta", "schema_versions", "words", "title_words", "item_words",
    }  # fmt: skip


def test_the_application_need_not_own_its_tables(postgres_server: Any, postgres_url: str) -> None:
    """One role migrates and owns; another, which owns nothing, does everything else, behind the same wall."""
    import secrets
    from urllib.parse import urlsplit, urlunsplit

    import psycopg

    recollect.open(postgres_url, user="ann").close()
    role = f"app_{secrets.token_hex(4)}"
    admin = postgres_server.admin_url(urlsplit(postgres_url).path.lstrip("/"))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"create role {role} login password 'x'")
        connection.execute(f"grant usage on schema recollect to {role}")
        connection.execute(f"grant select, insert, update, delete on all tables in schema recollect to {role}")
        connection.execute(f"grant usage on all sequences in schema recollect to {role}")
        connection.execute(f"grant execute on all functions in schema recollect to {role}")
    try:
        parts = urlsplit(postgres_url)
        url = urlunsplit(parts._replace(netloc=f"{role}:x@{parts.netloc.rpartition('@')[2]}"))
        with recollect.open(url, user="ann", background=False, semantic=False) as store:
            bobs = Bobs(store)
            ann = store.append(store.create("anns"), role="user", text="tea").id
            assert [h.id for h in store.search("tea")] == [ann]
            assert store.search(SECRET) == [] and store.stats().events == 1
            with pytest.raises(RecollectError):
                store.memory_history(bobs.memory)
            assert store.erase(user="ann").ok
            assert store.for_user("bob").search(SECRET) != []
        with psycopg.connect(url, options="-c search_path=recollect") as connection:
            owned = connection.execute("select count(*) from pg_tables where tableowner = current_user").fetchone()
            assert owned == (0,)
            for table in ("conversations", "events", "memories", "items", "checkpoints", "receipts", "erased", "words"):
                assert connection.execute(f"select count(*) from {table}".encode()).fetchone() == (0,), table
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"drop owned by {role}")
            connection.execute(f"drop role {role}")


def test_signatures_take_no_user() -> None:
    """Whose rows are meant is the handle's matter: no verb is told, but for the one that erases its own."""
    for verb in VERBS:
        parameters = inspect.signature(getattr(recollect.Store, verb)).parameters
        assert ("user" in parameters) == (verb == "erase"), verb


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "chat.db"
    with recollect.open(path, user="ann") as store:
        store.append(store.create(), role="user", text="hi")
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
        assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
