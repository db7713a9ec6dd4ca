"""What tests of export and import share: an archive as text, and everything that can be seen of a store through its verbs."""

from __future__ import annotations

import io
import re
from typing import Any

import recollect


def exported(store: recollect.Store, **what: Any) -> str:
    file = io.StringIO()
    store.export(file, **what)
    return file.getvalue()


def brought(store: recollect.Store, archive: str | bytes, *, trust: bool = True) -> recollect.Imported:
    """One user's archive comes to another, who knows where it is from."""
    return store.import_(io.BytesIO(archive if isinstance(archive, bytes) else archive.encode()), trust=trust)


def timeless(archive: str) -> str:
    """An archive without the moment at which it was made, nor by whom."""
    plain = re.sub(r'"exported_at":\d+', '"exported_at":0', archive, count=1)
    plain = re.sub(r',"signature":"\w+"', "", plain)
    return re.sub(r'("type":"piece","conversation":"[^"]+","key":"","format":")archive:', r"\1", plain)


def seen(store: recollect.Store) -> dict[str, Any]:
    """Everything a user can see: equal for two stores that are the same."""
    found: dict[str, Any] = {
        "listed": store.conversations(limit=1000),
        "binned": store.conversations(limit=1000, deleted=True),
        "memories": store.memories(state=None, limit=1000),
        "stats": [getattr(store.stats(), n) for n in ("events", "messages", "branches", "first_at", "last_at", "memories", "items")],
    }  # fmt: skip
    for m in found["memories"]:
        found[f"history {m.id}"] = store.memory_history(m)
    for c in found["listed"]:
        found[f"log {c.id}"] = store.read(c, branch="*")
        found[f"checkpoints {c.id}"] = store.checkpoints(c, limit=1000)
        for b in found.setdefault(f"branches {c.id}", store.branches(c)):
            for verb in (store.read, store.ledger, store.reasoning):
                found[f"{verb.__name__} {c.id} {b.name}"] = verb(c, branch=b)
            found[f"messages {c.id} {b.name}"] = store.messages(c, limit=None, include_reasoning=True, branch=b)
            found[f"memories {c.id} {b.name}"] = store.memories(conversation=c, branch=b, state=None, limit=1000)
            for seq in range(0, c.last_seq + 1, 1 + c.last_seq // 5):
                found[f"as of {c.id} {b.name} {seq}"] = store.memories(
                    conversation=c, branch=b, state=None, as_of=seq, limit=1000
                )
    return found


def assert_same(one: recollect.Store, other: recollect.Store) -> None:
    first, second = seen(one), seen(other)
    assert first.keys() == second.keys()
    for what in first:
        assert first[what] == second[what], what
    assert timeless(exported(one)) == timeless(exported(other))
