"""What a type checker must refuse. Each wrong line says so with an ignore; an ignore that is not needed is an error itself
(mypy --strict and the comment below see to that), so a signature that grows too lax fails the test. Read, never run."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

import recollect


def sync(store: recollect.Store) -> None:
    store.create(5)  # type: ignore[arg-type]
    store.create("id", "title")  # type: ignore[call-arg]
    store.create(titel="x")  # type: ignore[call-arg]
    store.get()  # type: ignore[call-arg]
    store.get(5)  # type: ignore[arg-type]
    store.append("c", "hello")  # type: ignore[call-arg]
    store.append("c", role="user", text=5)  # type: ignore[arg-type]
    store.append("c", role="user", txt="x")  # type: ignore[call-arg]
    store.append("c", role="user", text="x", tags=5)  # type: ignore[arg-type]
    store.append("c", role="user", text="x", created_at="now")  # type: ignore[arg-type]
    store.append_many("c", [{"role": "user", "txt": "x"}])  # type: ignore[typeddict-unknown-key]
    store.append_many("c", ["x"])  # type: ignore[list-item]
    store.read("c", 5)  # type: ignore[call-arg]
    store.read("c", after="5")  # type: ignore[arg-type]
    store.messages("c", limit="10")  # type: ignore[arg-type]
    store.with_history("c")  # type: ignore[call-arg]
    store.fork("c", at="7")  # type: ignore[arg-type]
    store.erase("c")  # type: ignore[call-arg]
    store.rename("c", None)  # type: ignore[arg-type]
    store.ledger("c", at="x")  # type: ignore[arg-type]
    store.stats(since="yesterday")  # type: ignore[arg-type]
    store.user = "kim"  # type: ignore[misc]
    store.append("c", role="user", text="x").text = "changed"  # type: ignore[misc]
    recollect.open(5)  # type: ignore[arg-type]
    recollect.open("chat.db", model="gpt")  # type: ignore[arg-type]
    number: int = store.formatted_history("c")  # type: ignore[assignment]
    print(number)


async def awaited(store: recollect.AsyncStore) -> None:
    await store.create(5)  # type: ignore[arg-type]
    await store.get()  # type: ignore[call-arg]
    await store.append("c", role="user", text=5)  # type: ignore[arg-type]
    await store.append("c", role="user", txt="x")  # type: ignore[call-arg]
    await store.append_many("c", ["x"])  # type: ignore[list-item]
    await store.read("c", after="5")  # type: ignore[arg-type]
    await store.messages("c", limit="10")  # type: ignore[arg-type]
    await store.fork("c", at="7")  # type: ignore[arg-type]
    await store.nonsense()  # type: ignore[attr-defined]
    events: list[str] = await store.read("c")  # type: ignore[assignment]
    print(events)
    print(store.messages("c")[0])  # type: ignore[index]
