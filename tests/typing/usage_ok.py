"""What a user writes, as a type checker sees it: nothing here may be complained about. Read, never run."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import recollect
from recollect import (
    Branch,
    Conversation,
    Entry,
    Event,
    LedgerEntry,
    Reasoning,
    Receipt,
    Settings,
    Stats,
    Store,
    Verification,
)


def sync(model: recollect.Store) -> None:
    store = recollect.open("chat.db", user="alex", summary_threshold=30, model=lambda prompt: prompt.upper())
    assert_type(store, Store)
    recollect.open(Path("chat.db"), settings=Settings(user="kim"))
    c = store.create(title="Trip", workspace="/repo", workflow_id="w", metadata={"k": [1, None]})
    assert_type(c, Conversation)
    store.create("own id")
    e = store.append(c.id, role="user", text="hi", tags=["a"], payload={"k": 1}, key="k", created_at=5)
    assert_type(e, Event)
    store.append(c, kind="tool_use", tool="Write", path="README.md", branch="main")
    store.append(c, role="assistant", text="x", reasoning=Reasoning("why", effort="high"))
    batch: list[Entry] = [{"role": "user", "text": "a"}, {"kind": "note", "text": "b"}]
    assert_type(store.append_many(c, batch), list[Event])
    store.append_many(c, ({"role": "user", "text": str(i)} for i in range(3)))
    assert_type(store.read(c.id, after=3, kinds=["message"], names=("n",), branch="*", limit=None), list[Event])
    assert_type(store.messages(c, limit=None, include_reasoning=True), list[Event])
    assert_type(store.formatted_history(c, 5), str)
    assert_type(store.with_history(c, "now", max_messages=5), str)
    assert_type(store.ledger(c, at=7), list[LedgerEntry])
    assert_type(store.reasoning(c, message=e.seq), list[Event])
    b = store.fork(c, 7, name="idea", switch=True)
    assert_type(b, Branch)
    store.read(c, branch=b)
    assert_type(store.switch(c, b), Conversation)
    assert_type(store.branches(c), list[Branch])
    assert_type(store.summarize(c), Event | None)
    assert_type(store.conversations(workspace=None, cursor=c.cursor), list[Conversation])
    assert_type(store.clear(c), int)
    assert_type(store.erase(conversation=c), Receipt)
    assert_type(store.stats(by="day", since=0), Stats)
    assert_type(store.verify(), Verification)
    assert_type(store.settle(), int)
    assert_type(store.for_user("kim"), Store)
    assert_type(e.text, str)
    assert_type(e.tags, tuple[str, ...])
    with store as same:
        assert_type(same, Store)
    with recollect.admin("chat.db") as admin:
        assert_type(admin.users(), list[str])


async def awaited(entries: Sequence[Entry]) -> None:
    async with await recollect.open_async("chat.db", user="alex") as store:
        assert_type(store, recollect.AsyncStore)
        c = await store.create(title="Trip")
        assert_type(c, Conversation)
        assert_type(await store.append(c.id, role="user", text="hi", tags=["a"]), Event)
        assert_type(await store.append_many(c, entries), list[Event])
        assert_type(await store.read(c, after=3, limit=5), list[Event])
        assert_type(await store.messages(c), list[Event])
        assert_type(await store.formatted_history(c, 3), str)
        assert_type(await store.fork(c, 7, name="idea"), Branch)
        assert_type(await store.summarize(c), Event | None)
        assert_type(await store.erase(conversation=c), Receipt)
        assert_type(await store.stats(by="kind"), Stats)
        assert_type(store.for_user("kim"), recollect.AsyncStore)


def errors() -> str:
    try:
        recollect.open(None, user="alex")
    except recollect.errors.NotFound as e:
        return str(e)
    except recollect.RecollectError as e:
        return str(e.args)
    return ""
