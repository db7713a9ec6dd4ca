"""AsyncStore: the same verbs, awaited; a cancelled write is never a maybe."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import recollect
from recollect.errors import InvalidInput, NotFound, Refused, StoreClosed
from talk import exchange, seqs, texts

NOT_AWAITED = {"open", "for_user", "user", "settings", "location"}


@pytest_asyncio.fixture
async def astore(url: str) -> AsyncIterator[recollect.AsyncStore]:
    async with await recollect.open_async(url, user="alex") as store:
        yield store


def verbs(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_every_verb_is_mirrored() -> None:
    assert verbs(recollect.AsyncStore) == verbs(recollect.Store) - {"open"}


@pytest.mark.parametrize("verb", sorted(verbs(recollect.Store) - NOT_AWAITED))
async def test_a_mirrored_verb_keeps_its_signature_and_its_words(astore: recollect.AsyncStore, verb: str) -> None:
    mirrored = getattr(astore, verb)
    assert inspect.iscoroutinefunction(mirrored)
    own = inspect.signature(getattr(recollect.Store, verb))
    seen = inspect.signature(mirrored)
    assert [p for p in seen.parameters if p != "self"] == [p for p in own.parameters if p != "self"]
    assert inspect.getdoc(mirrored)


async def test_a_tour_of_the_verbs(
    astore: recollect.AsyncStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for delay in ("log.EMBED_DELAY_MS", "handle.EMBED_DELAY_MS", "log.CONSOLIDATE_DELAY_MS"):
        monkeypatch.setattr(f"recollect.verbs.{delay}", 600_000)  # not in the background, before it is settled
    c = await astore.create("c", title="T")
    assert await astore.get("c") == c
    assert [x.id for x in await astore.conversations()] == ["c"]
    assert (await astore.rename("c", "N")).title == "N"
    await astore.append_many("c", exchange(8))
    await astore.append("c", role="assistant", text="done", reasoning="why")
    await astore.append("c", kind="ledger", task_id="t", goal="g")
    await astore.record_workflow_event("c", {"type": "workflow.start"})
    assert len(await astore.read("c")) == 12
    assert texts(await astore.messages("c", limit=1)) == ["done"]
    assert (await astore.formatted_history("c", 1)) == "ASSISTANT: done"
    assert (await astore.with_history("c", "hi", 1)).endswith("hi")
    assert len(await astore.ledger("c")) == len(await astore.reasoning("c")) == 1
    branch = await astore.fork("c", 2, name="idea")
    assert [b.name for b in await astore.branches("c")] == ["main", "idea"]
    assert (await astore.switch("c", branch)).active_branch == "idea"
    await astore.switch("c", "main")
    assert (await astore.summarize("c")) is not None
    await astore.delete_event("c", 1)
    assert await astore.settle() >= 1, "what was said is embedded, and looked at for memories"
    assert (await astore.stats()).conversations == 1
    assert (await astore.verify()).ok
    if "://" in astore.location:
        with pytest.raises(Refused, match="VACUUM"):
            await astore.compact()
    else:
        await astore.compact()
        assert (await astore.backup(tmp_path / "copy.db")).path
    await astore.delete("c")
    await astore.restore("c")
    assert await astore.clear("c") > 0
    assert (await astore.erase(conversation="c")).counts["conversations"] == 1


async def test_it_says_whose_and_where(astore: recollect.AsyncStore) -> None:
    assert astore.user == "alex"
    assert astore.location
    assert astore.settings.summary_threshold == 20


async def test_another_users_handle(astore: recollect.AsyncStore) -> None:
    await astore.create("c")
    kim = astore.for_user("kim")
    assert kim.user == "kim"
    with pytest.raises(NotFound):
        await kim.get("c")


async def test_errors_come_through(astore: recollect.AsyncStore) -> None:
    with pytest.raises(NotFound):
        await astore.get("nobody")
    with pytest.raises(InvalidInput):
        await astore.append("c", kind="nonsense")
    with pytest.raises(InvalidInput):
        await recollect.open_async("", user="alex")


async def test_a_hundred_at_once_without_a_gap(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    events = await asyncio.gather(*(astore.append(c, role="user", text=str(i)) for i in range(100)))
    assert sorted(seqs(events)) == list(range(1, 101))
    assert {e.text: e.seq for e in events} == {e.text: e.seq for e in await astore.read(c)}
    assert (await astore.verify()).ok


async def test_awaited_one_after_the_other_they_stand_in_order(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    for i in range(20):
        await astore.append(c, role="user", text=str(i))
    assert texts(await astore.read(c)) == [str(i) for i in range(20)]


async def test_the_loop_stays_free_while_a_verb_runs(astore: recollect.AsyncStore) -> None:
    """The model of a summary waits for the loop: if the verb blocked it, this would never end."""
    loop = asyncio.get_running_loop()
    ticked = threading.Event()

    def model(prompt: str) -> str:
        loop.call_soon_threadsafe(ticked.set)
        assert ticked.wait(60)
        return "the loop was free"

    async with await recollect.open_async(":memory:", user="alex", model=model) as store:
        c = await store.create()
        await store.append_many(c, exchange(10))
        summary = await store.summarize(c)
    assert summary is not None
    assert "the loop was free" in summary.text


async def test_context_variables_reach_the_verb() -> None:
    request = contextvars.ContextVar("request", default="none")
    seen: list[str] = []

    def progress(what: str, done: int, out_of: int) -> None:
        seen.append(request.get())

    async with await recollect.open_async(":memory:", user="alex") as store:
        await store.create()
        request.set("r-1")
        await store.verify(progress=progress)
    assert set(seen) == {"r-1"}


# -- cancellation


async def test_a_cancelled_append_is_there_when_the_await_ends(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    for i in range(30):
        task = asyncio.create_task(astore.append(c, role="user", text=str(i)))
        for _ in range(i % 4):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        there = texts(await astore.read(c))
        started = i % 4 > 0
        assert (str(i) in there) == started, i
        await asyncio.sleep(0)
        assert texts(await astore.read(c)) == there, "nothing is written after the cancellation was reported"
    assert (await astore.verify()).ok


async def test_a_timeout_is_a_timeout_and_the_outcome_is_known(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await astore.append(c, role="user", text="x")
    before = await astore.read(c)
    await astore.append(c, role="user", text="y")
    assert (await astore.read(c))[:-1] == before


async def test_cancelling_again_does_not_break_the_wait(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    task = asyncio.create_task(astore.append(c, role="user", text="x"))
    await asyncio.sleep(0)
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert texts(await astore.read(c)) == ["x"]


async def test_a_cancelled_call_that_fails_leaves_nothing_unheard(astore: recollect.AsyncStore) -> None:
    task = asyncio.create_task(astore.get("nobody"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_many_cancelled_in_a_queue(astore: recollect.AsyncStore) -> None:
    c = (await astore.create()).id
    tasks = [asyncio.create_task(astore.append(c, role="user", text=str(i))) for i in range(60)]
    await asyncio.sleep(0)
    for t in tasks[::2]:
        t.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(d, asyncio.CancelledError) for d in done[::2])
    there = await astore.read(c)
    assert {str(i) for i in range(1, 60, 2)} <= set(texts(there))
    assert seqs(there) == list(range(1, len(there) + 1))
    assert await astore.read(c) == there


# -- the end


async def test_a_closed_store_says_so(url: str) -> None:
    store = await recollect.open_async(url, user="alex")
    other = store.for_user("kim")
    await store.close()
    for handle in (store, other):
        with pytest.raises(StoreClosed):
            await handle.conversations()
    await store.close()


async def test_a_with_block_closes(url: str) -> None:
    async with await recollect.open_async(url, user="alex") as store:
        await store.create("c")
    with pytest.raises(StoreClosed):
        await store.get("c")


async def test_closing_waits_for_what_is_under_way(url: str) -> None:
    store = await recollect.open_async(url, user="alex")
    c = (await store.create()).id
    tasks = [asyncio.create_task(store.append(c, role="user", text=str(i))) for i in range(30)]
    await asyncio.sleep(0)
    await store.close()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(d) for d in done} <= {recollect.Event, StoreClosed}
    acknowledged = [d for d in done if isinstance(d, recollect.Event)]
    with recollect.open(url, user="alex") as again:
        assert {e.seq for e in acknowledged} <= set(seqs(again.read(c)))


def test_no_thread_is_left_behind(tmp_path: Path) -> None:
    async def use() -> None:
        async with await recollect.open_async(tmp_path / "chat.db", user="alex") as store:
            await asyncio.gather(*(store.create() for _ in range(20)))

    before = set(threading.enumerate())
    asyncio.run(use())
    for thread in set(threading.enumerate()) - before:
        thread.join(60)
        assert not thread.is_alive(), thread.name


def test_one_store_in_two_loops_after_each_other(tmp_path: Path) -> None:
    store = asyncio.run(recollect.open_async(tmp_path / "chat.db", user="alex"))
    asyncio.run(store.create("c"))
    assert asyncio.run(store.get("c")).id == "c"
    asyncio.run(store.close())


async def test_async_with_opens_and_closes(url: str) -> None:
    async with recollect.open_async(url, user="alex", background=False) as store:
        c = await store.create()
        assert (await store.get(c.id)).id == c.id
    with pytest.raises(StoreClosed):
        await store.get(c.id)
