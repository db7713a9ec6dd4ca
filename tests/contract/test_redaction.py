"""No secret is ever stored: a canary goes through every field of every public verb, and is looked for everywhere.

`PATHS` lists the write paths, by verb and parameter. `test_every_path_is_listed` finds them by introspection, so a new verb,
parameter, entry key or setting fails until it is listed with how it is exercised and what becomes of a secret in it.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import io
import json
import logging
import random
import string
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from recollect import Entry, Reasoning, Settings, config, ids
from recollect.errors import InvalidInput, NotFound, RecollectError, SettingsError
from recollect.redact import Stream, redact
from talk import Open, Raw, exchange

LETTERS = string.ascii_letters + string.digits


# -- canaries --------------------------------------------------------------------------------------------------------


def noise(of: str, length: int) -> str:
    """Random letters and digits, the same for the same place."""
    drawn = random.Random(hashlib.sha256(of.encode()).digest())
    return "".join(drawn.choice(LETTERS) for _ in range(length))


class Canary(NamedTuple):
    """A text with a secret in it, and the secret itself."""

    place: str
    text: str
    secret: str

    def is_in(self, haystack: str | bytes) -> bool:
        """Whether any part of it is there that someone could use: 12 characters are 71 bits."""
        n = len(self.secret) - 12
        parts = [self.secret[i : i + 12] for i in (0, n // 2, n)]
        if isinstance(haystack, bytes):
            return any(part.encode() in haystack for part in parts)
        return any(part in haystack for part in parts)


def github(place: str) -> Canary:
    secret = "ghp_" + noise(place, 36)
    return Canary(f"{place} (github)", secret, secret)


def assigned(place: str) -> Canary:
    secret = noise(place, 40)
    return Canary(f"{place} (assignment)", f"aws_secret_access_key = {secret}", secret)


def in_url(place: str) -> Canary:
    secret = noise(place, 20)
    return Canary(f"{place} (url)", f"https://bot:{secret}@git.example.com/team/x.git", secret)


FORMS = (github, assigned, in_url)


# -- the paths -------------------------------------------------------------------------------------------------------


class Talk:
    """Where a canary is sent: a store, its address, and a fresh conversation with three messages and a branch."""

    def __init__(self, store: Any, url: str) -> None:
        self.store, self.url = store, url
        self.c = store.create(workspace="/work").id
        store.append_many(self.c, exchange(3))

    def append(self, **entry: Any) -> Any:
        return self.store.append(self.c, **entry)

    def trace(self, **entry: Any) -> Any:
        self.append(role="assistant", text="Done.", **entry)
        return self.store.reasoning(self.c)[-1]

    def record(self, event: Any) -> Any:
        return self.store.record_workflow_event(self.c, event)

    def open(self, **given: Any) -> None:
        recollect.open(self.url, **{"user": "alex", **given}).close()

    def summarized_by(self, model: Callable[[str], str]) -> Any:
        with recollect.open(self.url, user="alex", model=model, summary_keep_recent=0, background=False) as store:
            return store.summarize(self.c)

    def imported(self, **fields: Any) -> Any:
        """An event as it stands after it came in with an archive."""
        id = ids.new()
        rows = [
            {"type": "recollect", "version": 1, "exported_at": 1, "scope": {}, "state_redacted": "none"},
            {"type": "conversation", "id": id, "last_seq": 1, "branches": [{"name": "main", "at": 0, "created_at": 1}], "created_at": 1, "updated_at": 1},
            {"type": "event", "conversation": id, "seq": 1, "kind": "message", "role": "user", "created_at": 1, **fields},
            {"type": "end", "lines": 4},
        ]  # fmt: skip
        self.store.import_(io.StringIO("\n".join(map(json.dumps, rows))))
        return self.store.read(id)[0]

    def embedded_by(self, said: str) -> Any:
        with recollect.open(self.url, user="alex", embedder=Wordy(said), background=False) as store:
            store.append(self.c, role="user", text="heron")
            store.settle()
            return store.search("heron"), store.stats()


class Wordy:
    """An embedder that fails, and says why at length."""

    name, dimension = "wordy", 4

    def __init__(self, said: str) -> None:
        self._said = said

    def embed(self, texts: Any) -> Any:
        raise RuntimeError(f"no quota left for {self._said}")


KEPT = "kept"  # a marker stands in its place, and the event is tagged `sensitive`
HASHED = "hashed"  # it identifies something: a hash stands in its place, and the event is tagged
REFUSED = "refused"  # an error that does not quote it
LOST = "lost"  # it is not stored: it was looked for, or it is of no use here
HANDED_BACK = "handed back"  # to whoever gave it; not stored
FILE = "file"  # the name of a file, which is its caller's to choose

Way = Callable[[Talk, str], Any]
Path_ = tuple[str, tuple[Way, ...]]


def kept(*ways: Way) -> Path_:
    return KEPT, ways


def refused(*ways: Way) -> Path_:
    return REFUSED, ways


def lost(*ways: Way) -> Path_:
    return LOST, ways


def asked(verb: str, parameter: str, **others: Any) -> Path_:
    """A verb that only looks: whatever it is given, it stores nothing."""
    return lost(lambda t, v: getattr(t.store, verb)(**{"conversation": t.c, **others, parameter: v}))


ENTRY: dict[str, Path_] = {
    "kind": refused(lambda t, v: t.append(kind=v, text="x")),
    "role": kept(lambda t, v: t.append(kind="tool_use", role=v)),
    "text": kept(
        lambda t, v: t.append(role="user", text=v),
        lambda t, v: t.append(role="user", text=f"Here you are:\n\n    {v}\n\nKeep it safe."),
        lambda t, v: t.append(kind="tool_result", text=json.dumps({"stdout": v})),
        lambda t, v: t.append(kind="artifact", path="a.py", text=v),
        lambda t, v: t.append(kind="summary", text=v),
        lambda t, v: t.append(kind="reasoning", text=v),
        lambda t, v: t.append(kind="error", text=f"Traceback: cannot log in with {v}"),
    ),
    "name": kept(lambda t, v: t.append(kind="event", name=v), lambda t, v: t.append(kind="note", name=v)),
    "tool": kept(lambda t, v: t.append(kind="tool_use", tool=v)),
    "path": kept(
        lambda t, v: t.append(kind="tool_use", path=v),
        lambda t, v: t.append(kind="artifact", path=v),
        lambda t, v: t.append(kind="artifact", path=f"src/{v}/x.py"),
    ),
    "agent": kept(lambda t, v: t.append(kind="note", agent=v), lambda t, v: t.trace(agent=v, reasoning="so")),
    "status": kept(lambda t, v: t.append(kind="approval", status=v)),
    "task_id": (HASHED, (lambda t, v: t.append(kind="ledger", task_id=v), lambda t, v: t.append(kind="note", task_id=v))),
    "goal": kept(lambda t, v: t.append(kind="ledger", task_id="t", goal=v)),
    "message": refused(lambda t, v: t.append(kind="reasoning", text="x", message=v)),
    "tags": kept(
        lambda t, v: t.append(kind="note", tags=[v]),
        lambda t, v: t.append(kind="note", tags=("a", v, "b")),
        lambda t, v: t.append(kind="note", tags=(tag for tag in ["a", v])),
    ),
    "payload": kept(
        lambda t, v: t.append(kind="tool_use", payload={"arguments": v}),
        lambda t, v: t.append(kind="tool_use", payload={v: 1}),
        lambda t, v: t.append(kind="tool_use", payload={"a": {"b": [{"c": ({"d": v},)}]}}),
        lambda t, v: t.append(kind="tool_use", payload={"a": [{"b": {v: {"c": None}}}]}),
        lambda t, v: t.append(kind="tool_use", payload={"body": json.dumps({"inner": [v]})}),
        lambda t, v: t.append(kind="artifact", path="a", payload={"diff": v}),
    ),
    "model": kept(lambda t, v: t.append(role="assistant", text="x", model=v), lambda t, v: t.trace(model=v, reasoning="so")),
    "input_tokens": refused(lambda t, v: t.append(role="user", text="x", input_tokens=v)),
    "output_tokens": refused(lambda t, v: t.append(role="user", text="x", output_tokens=v)),
    "cost": refused(lambda t, v: t.append(role="user", text="x", cost=v)),
    "duration_ms": refused(lambda t, v: t.append(role="user", text="x", duration_ms=v)),
    "key": (HASHED, (lambda t, v: t.append(role="user", text="x", key=v),)),
    "created_at": refused(lambda t, v: t.append(role="user", text="x", created_at=v)),
    "reasoning": kept(lambda t, v: t.trace(reasoning=v)),
    "reasoning.text": kept(lambda t, v: t.trace(reasoning=Reasoning(v))),
    "reasoning.effort": kept(lambda t, v: t.trace(reasoning=Reasoning("so", effort=v))),
    "reasoning.metadata": kept(lambda t, v: t.trace(reasoning=Reasoning("so", metadata={"a": v}))),
    "effort": kept(lambda t, v: t.append(kind="reasoning", text="so", effort=v)),
    "verbosity": kept(lambda t, v: t.append(kind="reasoning", text="so", verbosity=v)),
    "reasoning.verbosity": kept(lambda t, v: t.trace(reasoning=Reasoning("so", verbosity=v))),
    "reasoning.model": kept(lambda t, v: t.trace(reasoning=Reasoning("so", model=v))),
    "reasoning.input_tokens": refused(lambda t, v: t.trace(reasoning=Reasoning("so", input_tokens=v))),  # type: ignore[arg-type]
    "reasoning.output_tokens": refused(lambda t, v: t.trace(reasoning=Reasoning("so", output_tokens=v))),  # type: ignore[arg-type]
    "reasoning.duration_ms": refused(lambda t, v: t.trace(reasoning=Reasoning("so", duration_ms=v))),  # type: ignore[arg-type]
    "diff": kept(lambda t, v: t.append(kind="artifact", path="a", diff=f"--- a\n+++ b\n+{v}\n")),
}  # fmt: skip

STORE: dict[str, Path_] = {
    "open.url": lost(lambda t, v: recollect.open(f"mysql://{v}", user="alex")),
    "open.user": refused(lambda t, v: t.open(user=v)),
    "open.model": (
        LOST,  # asked for a record below: the model may also fail, with the secret in what it says
        (lambda t, v: t.summarized_by(_raising(v)), lambda t, v: t.summarized_by(lambda _: v)),
    ),
    "open.embedder": (LOST, (lambda t, v: t.embedded_by(v),)),
    "open.key": refused(lambda t, v: t.open(key=v)),
    "open.settings": refused(lambda t, v: t.open(user=None, settings=Settings(user=v))),
    "for_user.user": refused(lambda t, v: t.store.for_user(v)),
    "create.id": refused(lambda t, v: t.store.create(v), lambda t, v: t.store.create(f"chat {v}")),
    "create.title": kept(lambda t, v: t.store.create(title=v), lambda t, v: t.store.create(title=f"All about\n {v} ")),
    "create.workspace": kept(lambda t, v: t.store.create(workspace=v), lambda t, v: t.store.create(workspace=f"/a/{v}")),
    "create.workflow_id": refused(lambda t, v: t.store.create(workflow_id=v)),
    "create.metadata": kept(
        lambda t, v: t.store.create(metadata={"a": v}),
        lambda t, v: t.store.create(metadata={v: "a"}),
        lambda t, v: t.store.create(metadata={"a": [{"b": {v: [v, 1, None]}}]}),
    ),
    "create.origin": refused(lambda t, v: t.store.create(origin=v)),
    "create.again": lost(lambda t, v: t.store.create(again=v)),
    "get.conversation": asked("get", "conversation"),
    "conversations.workspace": lost(lambda t, v: t.store.conversations(workspace=v)),
    "conversations.workflow_id": lost(lambda t, v: t.store.conversations(workflow_id=v)),
    "get_event.conversation": asked("get_event", "conversation", key="k"),
    "get_event.key": asked("get_event", "key"),
    "get_event.branch": asked("get_event", "branch", key="k"),
    "conversations.limit": refused(lambda t, v: t.store.conversations(limit=v)),
    "conversations.cursor": refused(lambda t, v: t.store.conversations(cursor=v)),
    "conversations.deleted": lost(lambda t, v: t.store.conversations(deleted=v)),
    "rename.conversation": asked("rename", "conversation", title="x"),
    "rename.title": kept(lambda t, v: t.store.rename(t.c, v), lambda t, v: t.store.rename(t.c, f"It is {v}")),
    "annotate.conversation": asked("annotate", "conversation", metadata={"a": "b"}),
    "annotate.metadata": kept(
        lambda t, v: t.store.annotate(t.c, {"a": v}),
        lambda t, v: t.store.annotate(t.c, {v: "a"}),
    ),
    "pins.conversation": asked("pins", "conversation"),
    "delete.conversation": asked("delete", "conversation"),
    "restore.conversation": asked("restore", "conversation"),
    "clear.conversation": asked("clear", "conversation"),
    **{
        f"erase.{p}": lost(lambda t, v, p=p: t.store.erase(**{p: v}))
        for p in ("conversation", "workspace", "user", "memory", "source")
    },
    "erase.dry_run": lost(lambda t, v: t.store.erase(conversation=t.c, dry_run=v)),
    "receipts.conversation": lost(lambda t, v: t.store.receipts(conversation=v)),
    "receipts.limit": refused(lambda t, v: t.store.receipts(limit=v)),
    "verify_receipt.receipt": lost(lambda t, v: t.store.verify_receipt(v)),
    "append.conversation": asked("append", "conversation", role="user", text="x"),
    "append.branch": asked("append", "branch", role="user", text="x"),
    **{f"append.entry.{key}": path for key, path in ENTRY.items()},
    "append_many.conversation": asked("append_many", "conversation", entries=exchange(2)),
    "append_many.entries": kept(
        lambda t, v: t.store.append_many(t.c, [*exchange(2), {"role": "user", "text": v}])[-1],
        lambda t, v: t.store.append_many(t.c, [{"role": "user", "text": v}, {"role": "assistant", "text": "x"}])[0],
        lambda t, v: t.store.append_many(t.c, ({"role": "user", "text": v, "key": "k"} for _ in range(3)))[1],
    ),
    "append_many.entries.unknown": refused(lambda t, v: t.store.append_many(t.c, [{"role": "user", "text": "x", v: 1}])),
    "append_many.branch": asked("append_many", "branch", entries=exchange(2)),
    "record_workflow_event.conversation": asked("record_workflow_event", "conversation", event={"type": "x"}),
    "record_workflow_event.event": kept(
        lambda t, v: t.record({"type": v}),
        lambda t, v: t.record({"type": "x", v: 1}),
        lambda t, v: t.record({"type": "x", "data": v}),
        lambda t, v: t.record({"type": "x", "data": [v]}),
        *(lambda t, v, k=k: t.record({"type": "x", "data": {k: v}}) for k in ("message", "text", "content", "delta", "output")),
        *(lambda t, v, k=k: t.record({"type": "x", k: v}) for k in ("agent_id", "agent", "id", "message", "kind")),
        *(
            lambda t, v, k=k: t.record({"type": "orchestrator.message", "data": {"kind": "task_ledger", k: v}})
            for k in ("goal", "title", "status", "state", "task_id", "id", "agent_id", "facts")
        ),
        lambda t, v: t.record({"type": "tool.call", "data": {"input": {"headers": [{"name": "x", "value": v}]}}}),
    ),
    "record_workflow_event.branch": asked("record_workflow_event", "branch", event={"type": "x"}),
    "delete_event.conversation": asked("delete_event", "conversation", seq=1),
    "delete_event.seq": asked("delete_event", "seq"),
    **{f"read.{p}": asked("read", p) for p in ("conversation", "after", "kinds", "names", "branch", "limit")},
    **{f"messages.{p}": asked("messages", p) for p in ("conversation", "limit", "include_reasoning", "branch")},
    **{f"formatted_history.{p}": asked("formatted_history", p) for p in ("conversation", "max_messages", "branch")},
    **{f"with_history.{p}": asked("with_history", p, message="x") for p in ("conversation", "max_messages", "branch")},
    "with_history.message": (HANDED_BACK, (lambda t, v: t.store.with_history(t.c, v),)),
    **{f"ledger.{p}": asked("ledger", p) for p in ("conversation", "at", "branch")},
    **{f"reasoning.{p}": asked("reasoning", p) for p in ("conversation", "message", "branch")},
    "fork.name": refused(lambda t, v: t.store.fork(t.c, name=v)),
    **{f"fork.{p}": asked("fork", p) for p in ("conversation", "at", "branch", "switch")},
    "branches.conversation": asked("branches", "conversation"),
    "checkpoints.conversation": asked("checkpoints", "conversation"),
    "checkpoints.before": asked("checkpoints", "before"),
    "checkpoints.branch": asked("checkpoints", "branch"),
    "checkpoints.limit": refused(lambda t, v: t.store.checkpoints(t.c, limit=v)),
    **{f"switch.{p}": asked("switch", p, **({"branch": "main"} if p == "conversation" else {})) for p in ("conversation", "branch")},
    "remember.content": kept(
        lambda t, v: t.store.remember(v),
        lambda t, v: t.store.remember(f"The login is {v}", conversation=t.c),
    ),
    "remember.kind": refused(lambda t, v: t.store.remember("x", kind=v)),
    "remember.importance": refused(lambda t, v: t.store.remember("x", importance=v)),
    "remember.tags": kept(lambda t, v: t.store.remember("Tea, not coffee", tags=["a", v])),
    "remember.conversation": lost(lambda t, v: t.store.remember("x", conversation=v)),
    "remember.workspace": kept(lambda t, v: t.store.remember("Likes tea", workspace=f"/a/{v}")),
    "remember.source": kept(lambda t, v: t.store.remember("Likes milk", source=v)),
    "remember.role": refused(lambda t, v: t.store.remember("x", role=v)),
    "remember.pinned": lost(lambda t, v: t.store.remember("Likes cake", pinned=v)),
    "remember.valid_from": refused(lambda t, v: t.store.remember("x", valid_from=v)),
    "remember.valid_to": refused(lambda t, v: t.store.remember("x", valid_to=v)),
    "remember.derived_from": lost(lambda t, v: t.store.remember("x", derived_from=[v])),
    "forget.memory": lost(lambda t, v: t.store.forget(v)),
    "forget.source": lost(lambda t, v: t.store.forget(source=v)),
    "forget.erase": lost(lambda t, v: t.store.forget(t.store.remember("Likes bread"), erase=v)),
    **{
        f"memories.{p}": lost(lambda t, v, p=p: t.store.memories(**{p: v}))
        for p in ("conversation", "branch", "workspace", "scope", "kinds", "tags", "state", "as_of", "limit", "cursor")
    },
    "revise.memory": lost(lambda t, v: t.store.revise(v, importance=0.1)),
    "revise.content": kept(lambda t, v: t.store.revise(t.store.remember("Likes rice"), content=f"The login is {v}")),
    "revise.kind": refused(lambda t, v: t.store.revise(t.store.remember("Likes rice"), kind=v)),
    "revise.importance": refused(lambda t, v: t.store.revise(t.store.remember("Likes rice"), importance=v)),
    "revise.tags": kept(lambda t, v: t.store.revise(t.store.remember("Likes oats"), tags=["a", v])),
    "revise.scope": refused(lambda t, v: t.store.revise(t.store.remember("Likes rye"), scope=v)),
    "revise.workspace": kept(
        lambda t, v: t.store.revise(t.store.remember("Likes corn"), scope="workspace", workspace=f"/a/{v}")
    ),
    "revise.promote": lost(lambda t, v: t.store.revise(t.store.remember("Likes rye"), promote=v)),
    **{f"{verb}.memory": lost(lambda t, v, verb=verb: getattr(t.store, verb)(v)) for verb in ("pin", "unpin", "undo", "memory_history")},  # type: ignore[misc]
    **{f"consolidate.{p}": asked("consolidate", p) for p in ("conversation", "branch")},
    "retain.dry_run": lost(lambda t, v: t.store.retain(dry_run=v)),
    "recall.q": lost(lambda t, v: t.store.recall(v)),
    **{f"recall.{p}": lost(lambda t, v, p=p: t.store.recall("x", **{p: v})) for p in ("kinds", "tags", "min_importance", "since", "conversation", "branch", "workspace", "limit")},  # type: ignore[misc]
    "search.q": lost(lambda t, v: t.store.search(v)),
    **{
        f"search.{p}": lost(lambda t, v, p=p: t.store.search("x", **{p: v}))
        for p in ("workspace", "workspaces", "conversation", "branch", "kinds", "types", "tool", "since", "until", "limit", "explain")
    },
    "context.prompt": lost(lambda t, v: t.store.context(v)),
    **{
        f"context.{p}": lost(lambda t, v, p=p: t.store.context("x", **{p: v}))
        for p in ("workspace", "conversation", "budget", "sensitive", "max_memories", "max_excerpts", "count", "why")
    },
    **{f"summarize.{p}": asked("summarize", p) for p in ("conversation", "branch")},
    **{f"changes.{p}": lost(lambda t, v, p=p: t.store.changes(**{p: v})) for p in ("after", "conversation", "workspace", "limit")},  # type: ignore[misc]
    "stats.by": refused(lambda t, v: t.store.stats(by=v)),
    "stats.since": refused(lambda t, v: t.store.stats(since=v)),
    "verify.progress": lost(lambda t, v: t.store.verify(progress=v)),
    "scan.fix": lost(lambda t, v: t.store.scan(fix=v)),
    "scan.progress": lost(lambda t, v: t.store.scan(progress=v)),
    "export.fp": lost(lambda t, v: t.store.export(v)),
    "export.conversation": asked("export", "conversation", fp=io.StringIO()),
    "export.workspace": lost(lambda t, v: t.store.export(io.StringIO(), workspace=v)),
    "export.format": refused(lambda t, v: t.store.export(io.StringIO(), format=v)),
    "export.progress": lost(lambda t, v: t.store.export(io.StringIO(), progress=v)),
    "import_.fp": kept(
        lambda t, v: t.imported(text=v),
        lambda t, v: t.imported(payload={"a": [{v: 1}]}),
        lambda t, v: t.imported(tags=[v], tool=v, path=v, agent=v, status=v, name=v, model=v),
        lambda t, v: t.imported(role=v, tags=["damaged"]),
    ),
    "import_.again": lost(lambda t, v: t.store.import_(io.StringIO(v), again=bool(v))),
    "import_.trust": lost(lambda t, v: t.store.import_(io.StringIO(v), trust=bool(v))),
    "import_.progress": lost(lambda t, v: t.store.import_(io.StringIO(v), progress=v)),
    "forget.role": refused(lambda t, v: t.store.forget(t.store.remember("Likes bread"), role=v)),
    "backup.path": (FILE, ()),
    "backup.progress": lost(lambda t, v: t.store.backup("/dev/null", progress=v)),
    "compact.progress": lost(lambda t, v: t.store.compact(progress=v)),
}  # fmt: skip

OTHERS: dict[str, Path_] = {
    "open_async.url": lost(lambda t, v: asyncio.run(recollect.open_async(f"mysql://{v}"))),
    "open_async.user": refused(lambda t, v: asyncio.run(recollect.open_async(t.url, user=v))),
    "open_async.model": lost(),  # `open`'s
    "open_async.embedder": lost(),
    "open_async.key": refused(lambda t, v: asyncio.run(recollect.open_async(t.url, key=v))),
    "open_async.settings": refused(lambda t, v: asyncio.run(recollect.open_async(t.url, settings=Settings(user=v)))),
    "admin.url": lost(lambda t, v: recollect.admin(f"mysql://{v}")),
    "admin.key": refused(lambda t, v: recollect.admin(t.url, key=v)),
    "admin.settings": refused(lambda t, v: recollect.admin(t.url, settings=Settings(user=v))),
    "Admin.for_user.user": refused(lambda t, v: _admin(t, v)),
    "Admin.erase.user": refused(lambda t, v: _erase_as_admin(t, v)),
    "Admin.erase.dry_run": lost(lambda t, v: _erase_as_admin(t, "somebody", dry_run=v)),
    **{  # a setting is not stored; a wrong one is quoted by the error
        f"setting.{name}": lost(lambda t, v, name=name: t.open(**{name: _as_setting(name, v)}))  # type: ignore[misc]
        for name in config.DEFAULTS
    },
    "setting.unknown": refused(lambda t, v: t.open(**{v: 1})),
}

PATHS = STORE | OTHERS


def _raising(said: str) -> Callable[[str], str]:
    def model(prompt: str) -> str:
        raise RuntimeError(f"no quota left for {said}")

    return model


def _erase_as_admin(t: Talk, user: str, **given: Any) -> Any:
    with recollect.admin(t.url) as admin:
        mine = admin.for_user("somebody")
        if not mine.conversations():
            mine.create()
        return admin.erase(user=user, **given)


def _admin(t: Talk, v: str) -> None:
    with recollect.admin(t.url) as everyone:
        everyone.for_user(v)


def _as_setting(name: str, value: str) -> Any:
    default = config.DEFAULTS[name]
    return (value,) if isinstance(default, tuple) else {value: value} if isinstance(default, dict) else value


def parameters(verb: Any) -> Iterator[str]:
    for name, p in inspect.signature(verb).parameters.items():
        if name in ("self", "cls") or (name == "overrides" and p.kind is p.VAR_KEYWORD):
            continue  # the settings are listed by name
        yield name


def verbs(of: Any) -> dict[str, Any]:
    return {n: v for n, v in inspect.getmembers(of) if not n.startswith("_") and not isinstance(v, property)}


def test_every_path_is_listed() -> None:
    there: set[str] = set()
    for name, verb in verbs(recollect.Store).items():
        there |= {f"{name}.{p}" for p in parameters(verb)}
    there.remove("append.entry")
    there |= {f"append.entry.{key}" for key in Entry.__annotations__}
    there |= {f"append.entry.reasoning.{key}" for key in Reasoning.__annotations__}
    there |= {"append_many.entries.unknown", "setting.unknown"} | {
        f"setting.{name}" for name in Settings.__annotations__
    }
    for name, verb in verbs(recollect.Admin).items():
        there |= {f"Admin.{name}.{p}" for p in parameters(verb)}
    there |= {f"{f.__name__}.{p}" for f in (recollect.admin, recollect.open_async) for p in parameters(f)}
    assert set(PATHS) == there


def test_async_code_has_the_same_paths() -> None:
    assert set(verbs(recollect.AsyncStore)) == set(verbs(recollect.Store)) - {"open"}
    for name, mirror in vars(recollect.AsyncStore).items():
        if type(mirror).__name__ == "_Mirror":
            assert mirror._verb is getattr(recollect.Store, name)


# -- sending -----------------------------------------------------------------------------------------------------------


class Awaited:
    """AsyncStore, called like Store."""

    def __init__(self, store: recollect.AsyncStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store, self._loop = store, loop

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._store, name)
        if not inspect.iscoroutinefunction(verb):
            return verb
        return lambda *args, **kwargs: self._loop.run_until_complete(verb(*args, **kwargs))


def said_by(error: BaseException) -> str:
    """All that an error would put into a log."""
    words = ["".join(traceback.format_exception(error))]
    seen: BaseException | None = error
    while seen is not None:
        words += [str(seen), repr(seen), repr(seen.args), repr(vars(seen))]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\n".join(words)


def send(talk: Talk, expected: str, way: Way, canary: Canary) -> str | None:
    """Send a canary down one way. Returns what is wrong with what came back."""
    try:
        answer = way(talk, canary.text)
    except Exception as e:
        if canary.is_in(said_by(e)):
            return f"{canary.place}: its error says it: {type(e).__name__}"
        if not isinstance(e, RecollectError) and (expected == REFUSED or type(e) is not TypeError):
            return f"{canary.place}: {e!r}"
        return None if expected in (REFUSED, LOST) else f"{canary.place}: {e!r}"
    if expected == HANDED_BACK:
        return None
    if canary.is_in(repr(answer)):
        return f"{canary.place}: the answer has it"
    if expected == REFUSED:
        return f"{canary.place}: not refused: {answer!r}"
    if expected in (KEPT, HASHED):
        marked = "[redacted:" in repr(answer) if expected == KEPT else "redacted:" in repr((answer.key, answer.task_id))
        if not marked or (isinstance(answer, recollect.Event) and "sensitive" not in answer.tags):
            return f"{canary.place}: no marker or no tag: {answer!r}"
    return None


def sent(store: Any, url: str, forms: Any, paths: dict[str, Path_] = PATHS) -> tuple[list[Canary], list[str]]:
    canaries, wrong = [], []
    for name, (expected, ways) in paths.items():
        for i, way in enumerate(ways):
            talk = Talk(store, url)
            for form in forms:
                canary = form(f"{name}[{i}]")
                canaries.append(canary)
                problem = send(talk, expected, way, canary)
                wrong += [problem] if problem else []
    return canaries, wrong


def everything_read(store: recollect.Store) -> str:
    """What every read verb says about everything there is."""
    said = [
        repr(store),
        repr(store.location),
        repr(store.conversations(limit=9999)),
        repr(store.conversations(deleted=True)),
    ]
    for c in store.conversations(limit=9999):
        said += [
            repr(answer)
            for answer in (
                store.get(c), store.read(c), store.read(c, branch="*"), store.messages(c, limit=None, include_reasoning=True),
                store.formatted_history(c, 9999), store.with_history(c, "x"), store.ledger(c), store.reasoning(c),
                store.branches(c),
            )
        ]  # fmt: skip
    said += [repr(store.stats(by=by)) for by in ("day", "kind", "tool", "agent", "model", "workspace")]
    return "\n".join(said)


def everything_stored(backend: str, url: str, raw: Raw) -> bytes:
    """Every byte of every file beside the store; every column of every table of the database, as its superuser."""
    if backend == "sqlite":
        files = [f for f in Path(url).parent.rglob("*") if f.is_file()]
        assert Path(url) in files
        return b"\n".join(f.read_bytes() for f in files)
    tables = raw(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')"
    )
    assert len(tables) > 5
    return "\n".join(row[0] for (table,) in tables for row in raw(f"select t::text from {table} t")).encode()


def check_nothing_is_left(store: recollect.Store, backend: str, url: str, raw: Raw, canaries: list[Canary]) -> None:
    assert store.verify().ok
    assert store.scan().places == (), "what was written through the gate has nothing left to find"
    if backend == "sqlite":
        store.backup(Path(url).parent / "copies" / "one.db")
    places = {"a read verb": everything_read(store).encode(), "the database": everything_stored(backend, url, raw)}
    assert b"[redacted:github-token]" in places["the database"], "the test would prove nothing"
    assert [
        f"{canary.place} in {where}" for canary in canaries for where, held in places.items() if canary.is_in(held)
    ] == []


def test_no_path_lets_a_secret_pass(
    store: recollect.Store, backend: str, url: str, raw: Raw, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canaries, wrong = sent(store, url, FORMS)
    assert wrong == []
    check_nothing_is_left(store, backend, url, raw, canaries)
    logged = "\n".join(f"{record.getMessage()} {record.args!r} {record.exc_text}" for record in caplog.records)
    assert [canary.place for canary in canaries if canary.is_in(logged)] == []


def test_no_path_of_async_code_does(backend: str, url: str, raw: Raw) -> None:
    with asyncio.Runner() as runner:
        store = runner.run(recollect.open_async(url, user="alex"))
        canaries, wrong = sent(Awaited(store, runner.get_loop()), url, [github], STORE)
        assert wrong == []
        check_nothing_is_left(store._store, backend, url, raw, canaries)
        runner.run(store.close())


def test_a_closed_store_does_not_quote_either(open_store: Open, url: str) -> None:
    store = open_store()
    talk = Talk(store, url)
    store.close()
    for name, (_, ways) in STORE.items():
        for way in ways:
            canary = github(name)
            try:
                assert not canary.is_in(repr(way(talk, canary.text))) or name == "with_history.message"
            except Exception as e:
                assert not canary.is_in(said_by(e)), name


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bot:{}@127.0.0.1:1/x", "postgresql://bot:{}@127.0.0.1:notaport/x", "postgresql://bot:{}@[::1/x",
        "postgresql://127.0.0.1:1/x?user=bot&password={}", "postgresql://bot:{}@127.0.0.1:1/x?nonsense=1",
        "postgresql://bot:{}/with/slashes@127.0.0.1:1/x", "postgres://{}@127.0.0.1:1/x?sslmode=wrong",
    ],
)  # fmt: skip
def test_the_password_of_an_address_stays_out_of_errors_and_logs(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = github(address)
    with pytest.raises(RecollectError) as caught:
        recollect.open(address.format(canary.secret), connect_timeout_ms=200)
    assert not canary.is_in(said_by(caught.value))
    assert not canary.is_in(caplog.text)


# -- what is made from what was written --------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["It is {}.", "x" * 5_980 + " {} " + "y" * 500, "{}" + "z" * 7_000])
def test_what_a_model_says_in_a_summary(open_store: Open, backend: str, url: str, raw: Raw, answer: str) -> None:
    canary = github(answer)
    store = open_store(model=lambda prompt: answer.format(canary.secret), summary_keep_recent=0, background=False)
    c = store.create().id
    store.append_many(c, exchange(4))
    summary = store.summarize(c)
    assert summary is not None
    assert summary.payload["by"] == "model"
    assert "sensitive" in summary.tags
    assert len(summary.text) < 7_000
    assert not canary.is_in(repr(summary))
    assert not canary.is_in(everything_stored(backend, url, raw))


def test_a_summary_of_what_was_stored_without_redaction(open_store: Open) -> None:
    """Sentences are cut after 200 characters and texts after 4,000: half a secret is no longer known for one."""
    long, late, prompts = github("long"), github("late"), list[str]()
    jwt = "eyJ" + noise("head", 30) + "." + noise("body", 200) + "." + noise("signature", 43)

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return ""

    before = open_store(redact=False, background=False)
    c = before.create().id
    before.append_many(c, [
        {"role": "user", "text": f"{jwt} is what I use"},
        {"role": "assistant", "text": "x " * 1_990 + late.secret},
        {"role": "user", "text": f"I use the key {'very ' * 36} {long.secret}"},
    ])  # fmt: skip
    store = open_store(model=model, summary_keep_recent=0, background=False)
    summary = store.summarize(c)
    assert summary is not None
    for text in (repr(summary), *prompts):
        assert not any(canary.is_in(text) for canary in (long, late, Canary("jwt", jwt, noise("body", 200))))
    assert len(prompts) == 1


def test_a_title_from_a_first_message(store: recollect.Store) -> None:
    for words in range(12):
        canary = github(f"title {words}")
        c = store.create().id
        store.append(c, role="user", text=f"{'word ' * words}{canary.secret} is my token")
        assert not canary.is_in(repr(store.get(c)))
    assert store.scan().places == ()


@pytest.mark.parametrize("margin", ["\n", "\n    ", "\n> "])
def test_what_is_kept_on_one_line_is_redacted_as_it_was_written(store: recollect.Store, margin: str) -> None:
    """White space is collapsed in memories and titles: a token with a new line in it is one before that."""
    for prefix in ("ghp_", "sk-proj-", "sk_live_", "npm_", "hf_", "sk-ant-api03-"):
        canary = Canary(prefix, "", prefix + noise(f"folded {prefix} {margin!r}", 36))
        folded = canary.secret[:24] + margin + canary.secret[24:]
        held = store.remember(f"Prefers {folded}")
        revised = store.revise(store.remember("Likes tea"), content=f"Likes {folded}")
        titled = store.rename(store.create().id, f"About {folded}")
        assert not canary.is_in(repr((held, revised, titled, store.memory_history(held))))
    lines = PEM.split("\n")[1:-1]  # no first line tells what it is
    held = store.remember("Keep " + margin.join(["", *lines]))
    assert not any(line in held.content for line in lines)


def test_a_failed_job_says_what_went_wrong_without_the_secret(
    open_store: Open, backend: str, url: str, raw: Raw
) -> None:
    canary, own = github("job"), "ACME-" + noise("own", 20)
    store = open_store(background=False, redact_patterns={"acme": r"ACME-\w+"})

    def handler(user: str, key: str) -> None:
        raise RuntimeError(f"cannot reach https://bot:{canary.secret}@example.com with {own}")

    store._handlers["summarize"] = handler
    c = store.create().id
    store.append_many(c, exchange(22))
    store.settle()
    assert "RuntimeError in jobs.py" in store.stats().job_errors[0], (
        "a foreign error may quote content: its words are not kept"
    )
    for held in (repr(store.stats()).encode(), everything_stored(backend, url, raw)):
        assert not canary.is_in(held)
        assert own.encode() not in held


def test_a_failed_job_names_our_own_place_whatever_the_folders_above_are_called(
    open_store: Open, tmp_path: Path
) -> None:
    """A program may live in a folder called `recollect`, as a clone of ours does; only the package's own folder is ours."""
    foreign = tmp_path / "recollect" / "recollect" / "theirs.py"
    found: dict[str, Any] = {}
    exec(compile("def handler(user, key):\n    raise RuntimeError('theirs')\n", str(foreign), "exec"), found)
    store = open_store(background=False)
    store._handlers["summarize"] = found["handler"]
    store.append_many(store.create().id, exchange(22))
    store.settle()
    (told,) = store.stats().job_errors
    assert "RuntimeError in jobs.py, line " in told and "theirs" not in told


PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(noise(f"pem {i}", 64) for i in range(25))
    + "\n-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    "entry",
    [
        {"text": "x" * 380 + " {} " + "y" * 100},
        {"text": "x" * 398 + " {}"},
        {"diff": "+ line\n" * 199 + "+{}\n" * 3},
        {"diff": "x" * 19_980 + " {} " + "y" * 100},
        {"text": "{}", "diff": "+{}"},
    ],
)
@pytest.mark.parametrize(
    "secret", ["ghp_" + noise("cut", 36), "eyJ" + noise("a", 40) + "." + noise("b", 900) + "." + noise("c", 43), PEM]
)
def test_a_secret_over_the_edge_of_what_an_artifact_keeps(
    store: recollect.Store, entry: dict[str, str], secret: str
) -> None:
    c = store.create().id
    made = store.append(c, kind="artifact", path="a", **{k: v.replace("{}", secret) for k, v in entry.items()})  # type: ignore[arg-type]
    said = repr(store.read(c)) + repr(made)
    pieces = [secret[i : i + 16] for i in range(4, len(secret) - 16, 8)] if secret != PEM else secret.split("\n")[1:-1]
    assert [piece for piece in pieces if piece in said] == []
    assert "sensitive" in made.tags
    assert store.scan().places == ()


def test_ten_megabytes_with_a_secret_in_the_middle(tmp_path: Path) -> None:
    canary = github("large")
    line = "The quick brown fox jumps over the lazy dog; 42 times, as def fox(x): return x.\n"
    half = line * (5_000_000 // len(line))
    with recollect.open(tmp_path / "chat.db", user="alex") as store:
        c = store.create(title="x").id
        event = store.append(c, role="tool", text=f"{half}export GITHUB_TOKEN={canary.secret}\n{half}")
        assert len(event.text) > 9_900_000
        assert "GITHUB_TOKEN=[redacted:github-token]" in event.text
        assert event.tags == ("sensitive",)
    assert not any(canary.is_in(f.read_bytes()) for f in tmp_path.iterdir())


def test_small_secrets_under_a_name(store: recollect.Store) -> None:
    """Nothing about `1234` gives it away but the key it stands under."""
    c = store.create(metadata={"pin": 4711}).id
    assert "4711" not in repr(store.get(c))
    for payload in (
        {"pin": 4711},
        {"a": [{"pin": "4711"}]},
        {"name": "pin", "value": "4711"},
        {"cvv": 471},
        {"haslo": "kot47x"},
    ):
        event = store.append(c, kind="tool_use", payload=payload)
        assert event.tags == ("sensitive",), payload
        assert "47" not in repr(event.payload)
    assert store.append(c, kind="tool_use", payload={"pinned": 4711, "name": "x"}).tags == ()


def test_plain_looking_keys_in_headers(store: recollect.Store) -> None:
    """`letmein42` is a key because it is in a header, whatever it looks like."""
    headers = {"Authorization": "Bearer mysecrettoken123", "X-Api-Key": "letmein42"}
    c = store.create(metadata={"headers": headers}).id
    curl = "curl -H 'Authorization: Bearer mysecrettoken123' -H 'X-Api-Key: letmein42' https://shop.example"
    said = store.append(c, role="user", text=curl)
    called = store.append(c, kind="tool_use", payload={"request": {"headers": headers}})
    for stored in (store.get(c), said, called):
        assert "mysecrettoken123" not in repr(stored)
        assert "letmein42" not in repr(stored)
    documented = {"headers": {"Authorization": "Bearer <token>", "X-Api-Key": "required"}}
    assert store.append(c, kind="tool_use", payload=documented).payload == documented


def test_ids_that_only_look_random_are_taken(store: recollect.Store) -> None:
    for i in range(50):
        for id in (f"conv_{noise(f'a{i}', 22)}", f"chat-{noise(f'b{i}', 24)}", noise(f"c{i}", 32), f"{4 * 10**15 + i * 7919}",
                   f"auth0|{hashlib.md5(str(i).encode()).hexdigest()}", f"agent:main:{ids.new()}"):  # fmt: skip
            c = store.create(id, workflow_id=f"run_{id}"[:200]).id
            assert store.append(c, kind="ledger", task_id=id, goal="x", key=id).tags == (), id
            assert store.fork(c, name=id).name == id
            assert store.ledger(c)[0].task_id == id
    assert store.scan().places == ()


def test_two_keys_that_are_secrets_stay_two(store: recollect.Store) -> None:
    c = store.create().id
    a, b = github("one").secret, github("two").secret
    first, second = store.append(c, role="user", text="a", key=a), store.append(c, role="user", text="b", key=b)
    assert first.key != second.key
    assert store.append(c, role="user", text="again", key=a) == first
    store.append(c, kind="ledger", task_id=a, goal="a")
    store.append(c, kind="ledger", task_id=b, goal="b")
    assert [entry.goal for entry in store.ledger(c)] == ["a", "b"]


def test_an_appended_message_is_not_repeated_in_its_prompt(store: recollect.Store) -> None:
    c = store.create().id
    said = f"My token is {github('prompt').secret}"
    store.append(c, role="assistant", text="Which one?")
    store.append(c, role="user", text=said)
    prompt = store.with_history(c, said)
    assert prompt.count("My token is") == 1


def test_a_secret_that_two_markers_share_a_key(store: recollect.Store) -> None:
    c = store.create().id
    event = store.append(c, kind="note", payload={github("k1").secret: 1, github("k2").secret: 2})
    assert sorted(event.payload.values()) == [1, 2]


# -- settings ----------------------------------------------------------------------------------------------------------

TOKEN = "ghp_" + noise("settings", 36)
GITLAB = "glpat-" + noise("gitlab", 20)


def test_switched_off_it_stores_as_is(open_store: Open) -> None:
    store = open_store(redact=False)
    c = store.create(TOKEN, title=TOKEN, workspace=TOKEN, workflow_id=TOKEN, metadata={"a": TOKEN})
    assert (c.id, c.title, c.workspace, c.workflow_id, c.metadata) == (TOKEN, TOKEN, TOKEN, TOKEN, {"a": TOKEN})
    event = store.append(c.id, role="user", text=TOKEN, tags=[TOKEN], payload={TOKEN: TOKEN}, key=TOKEN, path=TOKEN)
    assert (event.text, event.tags, event.payload, event.key, event.path) == (
        TOKEN,
        (TOKEN,),
        {TOKEN: TOKEN},
        TOKEN,
        TOKEN,
    )
    assert store.fork(c.id, name=TOKEN).name == TOKEN
    with pytest.raises(NotFound) as caught:
        store.get(GITLAB)
    assert GITLAB not in said_by(caught.value), "an error goes to a log, whatever may be stored"


def said(store: recollect.Store, text: str) -> str:
    return store.append(store.create().id, role="user", text=text).text


def test_a_family_can_be_let_through(open_store: Open) -> None:
    store = open_store(redact_off=["github-token"])
    assert said(store, f"{TOKEN} and {GITLAB}") == f"{TOKEN} and [redacted:gitlab-token]"
    c = store.create(TOKEN, metadata={"token": TOKEN, "other_token": GITLAB})
    assert (c.id, c.metadata) == (TOKEN, {"token": TOKEN, "other_token": "[redacted:gitlab-token]"})


@pytest.mark.parametrize("allow", [TOKEN, r"ghp_\w+"])
def test_a_value_can_be_allowed(open_store: Open, allow: str) -> None:
    assert said(open_store(redact_allow=[allow]), f"{TOKEN} and {GITLAB}") == f"{TOKEN} and [redacted:gitlab-token]"


def test_an_allowed_literal_is_that_one_alone(open_store: Open) -> None:
    other = "ghp_" + noise("other", 36)
    assert said(open_store(redact_allow=[TOKEN]), f"{TOKEN} {other}") == f"{TOKEN} [redacted:github-token]"


def test_patterns_of_ones_own(open_store: Open) -> None:
    store = open_store(redact_patterns={"acme": r"ACME-\d{4}", "badge": r"badge no (\d+)"})
    assert (
        said(store, "ACME-1234 at the door, badge no 77.") == "[redacted:acme] at the door, badge no [redacted:badge]."
    )
    c = store.create(title="ACME-1234", metadata={"ACME-1234": ["ACME-1234"]})
    assert (c.title, c.metadata) == ("[redacted:acme]", {"[redacted:acme]": ["[redacted:acme]"]})
    event = store.append(
        c.id, kind="note", tags=["ACME-1234"], payload={"a": "ACME-1234"}, key="ACME-1234", task_id="ACME-1"
    )
    assert event.tags == ("[redacted:acme]", "sensitive")
    assert (event.payload, event.task_id) == ({"a": "[redacted:acme]"}, "ACME-1")
    assert "ACME" not in str(event.key)
    badge = f"ACME-{4321}"
    with pytest.raises(InvalidInput, match="acme"):
        store.create(badge)
    with pytest.raises(NotFound) as caught:
        store.get(f"about {badge}")
    assert badge not in said_by(caught.value)
    assert said(store, f"still {TOKEN}") == "still [redacted:github-token]"


@pytest.mark.parametrize(
    "wrong",
    [
        {"redact_off": ["github-tokens"]},
        {"redact_patterns": {"acme": "("}},
        {"redact_patterns": {"acme": r"(?=x)"}},
        {"redact_patterns": {"Acme!": "x"}},
        {"redact_off": "github-token"},
        {"redact_patterns": {"acme": 5}},
        {"redact": "yes"},
    ],
)
def test_a_wrong_setting_is_told_when_opening_and_nothing_is_made(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        recollect.open(tmp_path / "chat.db", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_user_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="github-token"):
        recollect.open(tmp_path / "chat.db", user=TOKEN)
    assert list(tmp_path.iterdir()) == []


def test_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_REDACT_OFF", "gitlab-token, jwt")
    monkeypatch.setenv("RECOLLECT_REDACT_ALLOW", TOKEN)
    monkeypatch.setenv("RECOLLECT_REDACT_PATTERNS", '{"acme": "ACME-[0-9]+"}')
    with recollect.open(tmp_path / "chat.db") as store:
        assert said(store, f"{TOKEN} {GITLAB} ACME-12") == f"{TOKEN} {GITLAB} [redacted:acme]"
    monkeypatch.setenv("RECOLLECT_REDACT", "off")
    with recollect.open(tmp_path / "chat.db") as store:
        assert said(store, "ACME-12") == "ACME-12"
    for name, value in (
        ("REDACT", "maybe"),
        ("REDACT_PATTERNS", "acme"),
        ("REDACT_PATTERNS", '["x"]'),
        ("REDACT_OFF", "x"),
    ):
        with monkeypatch.context() as patch, pytest.raises(SettingsError):
            patch.setenv(f"RECOLLECT_{name}", value)
            recollect.open(tmp_path / "chat.db")


def test_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("RECOLLECT_CONFIG", str(path))
    path.write_text(
        f'redact_off = ["gitlab-token"]\nredact_allow = ["{TOKEN}"]\n[redact_patterns]\nacme = "ACME-[0-9]+"\n'
    )
    with recollect.open(tmp_path / "chat.db") as store:
        assert said(store, f"{TOKEN} {GITLAB} ACME-12") == f"{TOKEN} {GITLAB} [redacted:acme]"
    path.write_text('redact_off = ["no-such"]\n')
    with pytest.raises(SettingsError, match="no-such"):
        recollect.open(tmp_path / "chat.db")


# -- streams -----------------------------------------------------------------------------------------------------------


def test_an_answer_that_comes_in_chunks(store: recollect.Store) -> None:
    """A model streams its answer; what is shown while it comes, and what is appended when it is whole, is safe."""
    for attempt in range(25):
        draw = random.Random(attempt)
        canaries = [form(f"stream {attempt} {n}") for n, form in enumerate((*FORMS, github, in_url))]
        parts = [
            f"Here is number {n}: {canary.text}\n" + "Some prose in between. " * draw.randrange(60)
            for n, canary in enumerate(canaries)
        ]
        answer = "".join(parts) + (PEM if attempt % 2 else "") + "\nThat is all."
        stream, shown, at = Stream(), "", 0
        while at < len(answer):
            size = draw.choice((1, 2, 7, 40, 300, 2_000))
            shown += stream.feed(answer[at : at + size])
            at += size
            assert not any(canary.is_in(shown) for canary in canaries)
        shown += stream.finish()
        event = store.append(store.create().id, role="assistant", text=shown)
        assert not any(canary.is_in(event.text) for canary in canaries)
        assert not any(line in event.text for line in PEM.split("\n")[1:-1])
        assert event.text == shown == redact(answer).text
        assert len(stream.findings) == len(canaries) + attempt % 2
        assert {f.family for f in stream.findings} == {f.family for f in redact(answer).findings}
