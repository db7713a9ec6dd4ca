"""Canaries: words that stand nowhere else, one in every field of everything that can be written.

`Planted` puts them in on every path and keeps a list of where; `traces` looks for them afterwards, as bytes in every file
and as text in every table. A canary that stays by design, to show that the search finds what is there, is a `witness`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import recollect
from recollect.langgraph import MemoryStore, Saver
from recollect.model import KINDS
from talk import Raw

FIELDS = ("text", "name", "tool", "path", "agent", "status", "model", "key", "task_id")


def word(of: str) -> str:
    """The same for the same place; no other begins like it, so that no index writes it as the end of another's beginning."""
    digest = hashlib.sha256(of.encode()).digest()
    return "".join("bcdfghjklmnpqrstvwxz"[b % 20] for b in digest[:20])


class Planted:
    """A user's store with a canary in every field. `here` are those of one conversation and all that came from it."""

    def __init__(self, store: recollect.Store, mark: str) -> None:
        self.store, self.mark = store, mark
        self.words: dict[str, str] = {}
        self.way: dict[str, Any] = {}
        """What its store is opened with besides."""

    def new(self, place: str) -> str:
        made = self.words[place] = word(f"{self.mark} {place}")
        return made

    def conversation(self, *, workspace: str | None = None, exact: str | None = None) -> str:
        """A conversation with everything: each field of each kind, branches, reasoning, a summary, a ledger, an artifact."""
        store, new = self.store, self.new
        c = store.create(
            exact or new("id"), title=new("title"), workspace=workspace or new("workspace"), workflow_id=new("workflow_id"),
            metadata={new("metadata key"): [new("metadata value")]},
        ).id  # fmt: skip
        for kind in KINDS:
            self.event(c, kind)
        store.append(
            c, role="assistant", text=new("answer"),
            reasoning=recollect.Reasoning(new("thought"), effort=new("effort"), verbosity=new("verbosity"), model=new("thinker")),
        )  # fmt: skip
        store.append(c, kind="artifact", path="x.py", text=new("snippet"), diff=f"+ {new('diff')}")
        store.record_workflow_event(c, {"type": new("event type"), "data": {"said": new("event data")}})
        store.fork(c, 2, name=new("branch"))
        store.append(c, role="user", text=new("on a branch"), branch=self.words["branch"])
        for kind in ("message", "tool_use", "tool_result", "note"):
            self.event(c, kind, branch=self.words["branch"])
        store.append(c, role="user", text=f"I live in {new('home')}.")
        store.append(c, role="user", text=f"My dog is called {new('dog')}.")
        store.append(c, role="assistant", text=f"I prefer {new('quarantine')}.")
        store.consolidate(c)
        mine = store.remember(f"drives a {new('by hand')}", source=f"{c}:1", tags=[new("tag of a memory")])
        store.remember(f"parks the {new('derived')}", derived_from=[mine.id])
        store.remember(f"only here {new('limited')}", conversation=c)
        store.pin(f"{c}:1")
        store.summarize(c)
        store.rename(c, new("second title"))
        return c

    def event(self, c: str, kind: str, branch: str | None = None) -> int:
        """An event of this kind with a canary in each of its fields."""
        new, where = self.new, kind if branch is None else f"{kind} on a branch"
        entry: Any = {field: new(f"{where}.{field}") for field in FIELDS}
        entry |= {
            "tags": [new(f"{where}.tags")],
            "payload": {new(f"{where}.payload key"): {"deep": [new(f"{where}.payload")]}},
        }
        if kind == "message":
            entry["role"] = "user"
        return self.store.append(c, kind=kind, branch=branch, **entry).seq

    def graph(self, c: str) -> None:
        """A graph in the same conversation: messages, other channels, a store's items, an interrupted task."""
        from langchain_core.messages import AIMessage, HumanMessage
        from langgraph.graph import START, MessagesState, StateGraph
        from langgraph.store.base import BaseStore
        from langgraph.types import interrupt

        new, user = self.new, self.store.user

        class State(MessagesState):
            notes: str

        def answer(state: State, *, store: BaseStore) -> dict[str, Any]:
            store.put(("n", new("label")), new("item key"), {"content": new("item"), new("item field"): 1})
            store.put(("memories", user, c), "k", {"content": f"graph says {new('item memory')}"})
            store.put(("memories", user), new("item id"), {"content": f"graph knows {new('item memory of the user')}"})
            return {"messages": [AIMessage(new("graph answer"), id=new("message id"))], "notes": new("channel") * 50}

        def ask(state: State) -> dict[str, Any]:
            return {"notes": interrupt(new("interrupt"))}

        builder = StateGraph(State)
        builder.add_node("answer", answer)
        builder.add_node("ask", ask)
        builder.add_edge(START, "answer")
        builder.add_edge("answer", "ask")
        graph = builder.compile(checkpointer=Saver(self.store), store=MemoryStore(self.store))
        config: Any = {"configurable": {"thread_id": c}, "metadata": {new("run metadata"): new("run metadata value")}}
        graph.invoke({"messages": [HumanMessage(new("graph input"))]}, config)
        graph.update_state(config, {"notes": new("updated")})


def everything(root: Path) -> list[Path]:
    return [f for f in sorted(root.rglob("*")) if f.is_file() and f.stat().st_size]


def in_files(root: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """Word -> the files that hold it."""
    found: dict[str, list[str]] = {}
    for file in everything(root):
        data = file.read_bytes()
        for w in words:
            if w.encode() in data or w[2:-2].encode() in data:
                found.setdefault(w, []).append(file.name)
    return found


def in_tables(raw: Raw, backend: str, words: Iterable[str]) -> dict[str, list[str]]:
    """Word -> the tables that hold it, in any column, text or bytes."""
    found: dict[str, list[str]] = {}
    if backend == "postgres":
        tables = [r[0] for r in raw("select tablename from pg_tables where schemaname = 'recollect'")]
    else:
        tables = [r[0] for r in raw("select name from sqlite_schema where type = 'table' and sql is not null")]
    for table in tables:
        for row in raw(f"select * from {table}"):
            for value in row:
                held = bytes(value) if isinstance(value, (bytes, memoryview)) else str(value).encode()
                for data in (held, _inflated(held)):
                    for w in words:
                        if w.encode() in data:
                            found.setdefault(w, []).append(table)
    return found


def _inflated(data: bytes) -> bytes:
    """Checkpoints are deflated: a canary would not be seen in them as they are."""
    import zlib

    try:
        return zlib.decompress(data)
    except zlib.error:
        return b""


def by_verbs(store: recollect.Store, words: Iterable[str]) -> dict[str, list[str]]:
    """Word -> the verbs whose answer holds it."""
    found: dict[str, list[str]] = {}
    saver, kept = Saver(store), MemoryStore(store)
    listed = [*store.conversations(limit=1000), *store.conversations(limit=1000, deleted=True)]
    answers: dict[str, Any] = {
        "conversations": listed,
        "memories": (held := store.memories(state=None, limit=10_000)),
        "memory_history": [store.memory_history(m) for m in held],
        "receipts": store.receipts(limit=1000),
        "verify_receipt": [store.verify_receipt(r) for r in store.receipts(limit=1000)],
        "stats": [store.stats(by=by) for by in (None, "day", "kind", "tool", "agent", "model", "workspace")],
        "verify": store.verify(),
        "scan": store.scan(),
        "Saver.list": list(saver.list(None)),
        "MemoryStore.search": kept.search((), limit=10_000),
        "list_namespaces": kept.list_namespaces(limit=10_000),
    }
    for c in [c for c in listed if c.deleted_at is None]:
        for verb in ("read", "messages", "branches", "ledger", "reasoning", "formatted_history", "checkpoints"):
            answers.setdefault(verb, []).append(getattr(store, verb)(c.id))
        answers["read"].append(store.read(c.id, branch="*"))
    for w in words:
        said = f"search {w}: {[(h.id, h.text) for h in store.search(w, limit=5)]}"
        said = said.replace(w, "", 1) + str([(h.id, h.text) for h in store.recall(w, limit=5)])
        answers.setdefault("search", []).append(said)
        answers.setdefault("context", []).append(store.context(w).text)
        answers.setdefault("items", []).append([i.value for i in kept.search((), query=w, limit=5)])
    for verb, answer in answers.items():
        text = repr(answer)
        for w in words:
            if w in text:
                found.setdefault(w, []).append(verb)
    return found
