"""Meaning: found by words before it is embedded, embedded by a durable job, embedded anew when the model is another."""

from collections.abc import Sequence
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput
from talk import Hashed, Open, Raw, eventually


def vectors(raw: Raw) -> int:
    return int(raw("select count(*) from vectors")[0][0])


def model(raw: Raw) -> list[tuple[Any, ...]]:
    return raw("select model, dimension from embeddings")


def talk(store: recollect.Store, n: int = 10) -> str:
    c = store.create("c").id
    store.append_many(
        c, [{"role": "user", "text": f"the heron number {i} flew", "created_at": i * 10**8} for i in range(n)]
    )
    return c


def test_embedding_is_a_durable_job(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, embedder=Hashed(), semantic=True)
    talk(store)
    store.remember("likes herons")
    assert vectors(raw) == 0
    assert store.stats().jobs == {"queued": 1}, "however much was appended"
    store.close()
    again = open_store(background=False, embedder=Hashed(), semantic=True)
    assert again.settle() == 1
    assert vectors(raw) == 11
    assert model(raw) == [("hashed", 64)]
    assert again.settle() == 0


def test_in_the_background(open_store: Open, raw: Raw) -> None:
    store = open_store(embedder=Hashed(), semantic=True)
    talk(store)
    eventually(lambda: vectors(raw) == 10)
    store.append("c", role="user", text="one more")
    eventually(lambda: vectors(raw) == 11)


def test_without_meaning_nothing_is_embedded(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, semantic=False, embedder=Hashed())
    talk(store)
    assert store.settle() == 0
    assert vectors(raw) == 0
    hits = store.search("heron number 3")
    assert hits[0].seq == 4
    assert all("meaning" not in h.parts for h in hits)


def test_before_it_is_embedded_it_is_found_by_words_and_weighed_by_meaning(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, embedder=Hashed(), semantic=True)
    talk(store)
    before = store.search("heron number 3")
    assert vectors(raw) == 0
    assert before[0].seq == 4
    assert before[0].parts["meaning"] > 0.5
    store.settle()
    after = store.search("heron number 3")
    assert [h.id for h in after] == [h.id for h in before]
    assert [h.score for h in after] == pytest.approx([h.score for h in before], abs=1e-3)


def test_one_that_is_slow_is_not_asked_while_a_search_waits(open_store: Open) -> None:
    slow = Hashed()
    slow.is_quick = False
    store = open_store(background=False, embedder=slow, semantic=True)
    talk(store)
    assert store.search("heron number 3")[0].seq == 4
    assert slow.asked == 1, "the question alone"
    store.settle()
    assert store.search("heron number 3")[0].parts["meaning"] > 0.5


def test_found_by_meaning_alone(open_store: Open) -> None:
    class Synonyms(Hashed):
        def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            return super().embed([t.replace("feline", "cat") for t in texts])

    store = open_store(background=False, embedder=Synonyms(), semantic=True)
    talk(store, 300)
    e = store.append(store.create(), role="user", text="cat")
    assert e.id not in [h.id for h in store.search("feline")], "there is no vector yet, and not one word in common"
    store.settle()
    assert store.search("feline")[0].id == e.id


def test_another_embedder_embeds_anew_while_searches_go_on(open_store: Open, raw: Raw) -> None:
    first = open_store(background=False, embedder=Hashed("one", 64), semantic=True)
    talk(first, 300)
    first.settle()
    assert model(raw) == [("one", 64)]
    other = Hashed("two", 100)
    second = open_store(background=False, embedder=other, semantic=True)
    found: list[int | None] = []

    class Watched(Hashed):
        def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            if len(texts) > 1:
                for store in (first, second):
                    found.append(store.search("heron number 3")[0].seq)
            return super().embed(texts)

    third = open_store(background=False, embedder=Watched("three", 72), semantic=True)
    assert second.search("heron number 3")[0].seq == 4, "not one vector of its model"
    assert second.stats().jobs == {"queued": 1}, "the search has asked for them"
    second.settle()
    assert model(raw) == [("two", 100)]
    assert vectors(raw) == 300
    assert second.search("heron number 3")[0].parts["meaning"] > 0.5
    third.search("heron")
    third.settle()
    assert found
    assert set(found) == {4}
    assert model(raw) == [("three", 72)]
    assert {row[0] for row in raw("select length(vector) from vectors")} == {144}
    assert third.verify().ok


def test_every_user_is_embedded_for_herself(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, embedder=Hashed(), semantic=True)
    kim = store.for_user("kim")
    talk(store)
    talk(kim, 3)
    store.settle()
    assert vectors(raw) == 10
    kim.settle()
    assert vectors(raw) == 13


@pytest.mark.parametrize(
    "vectors_of", [lambda n: [[1.0] * 63] * n, lambda n: [[1.0] * 64] * (n + 1), lambda n: [[float("nan")] * 64] * n],
    ids=["too short", "too many", "not numbers"],
)  # fmt: skip
def test_what_is_no_vector_of_its_dimension_is_a_clear_error(open_store: Open, raw: Raw, vectors_of: Any) -> None:
    class Wrong(Hashed):
        def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            return list(vectors_of(len(texts)))

    store = open_store(background=False, embedder=Wrong(), semantic=True)
    talk(store)
    with pytest.raises(InvalidInput, match="'hashed'"):
        store.search("heron")
    assert store.settle() == 0
    assert "'hashed'" in store.stats().job_errors[0]
    assert vectors(raw) == 0
    assert open_store(background=False).search("heron"), "by words it is found all the same"


@pytest.mark.parametrize("dimension", [1, 7, 8, 65, 256, 1024])
def test_any_dimension(open_store: Open, raw: Raw, dimension: int) -> None:
    store = open_store(background=False, embedder=Hashed(dimension=dimension), semantic=True)
    talk(store, 30)
    store.settle()
    assert model(raw) == [("hashed", dimension)]
    assert store.search("heron number 3")[0].seq == 4


def test_what_is_no_evidence_has_no_vector(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, embedder=Hashed(), semantic=True)
    c = store.create("c")
    store.append(c, role="assistant", text="yes", reasoning="because")
    store.append(c, kind="summary", role="system", text="they agreed")
    store.append(c, kind="note", text="")
    store.settle()
    assert vectors(raw) == 1


@pytest.mark.parametrize("verb", ["delete_event", "clear", "erase", "forget"])
def test_vectors_go_with_what_they_are_of(open_store: Open, raw: Raw, verb: str) -> None:
    embedder = Hashed()
    store = open_store(background=False, embedder=embedder, semantic=True)
    c = talk(store)
    m = store.remember("a heron of one's own")
    store.settle()
    store.search("heron")  # the signatures are in memory now
    gone = {"delete_event": 1, "clear": 10, "erase": 10, "forget": 1}[verb]
    if verb == "delete_event":
        store.delete_event(c, 4)
    elif verb == "forget":
        store.forget(m)
    else:
        store.clear(c) if verb == "clear" else store.erase(conversation=c)
    assert vectors(raw) == 11 - gone
    left = {h.id for h in store.search("heron number 3 flew of one's own")}
    assert len(left) == 11 - gone
    store.settle()
    assert vectors(raw) == 11 - gone
    assert store.verify().ok


def test_what_was_changed_is_embedded_anew(open_store: Open, raw: Raw) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    store = open_store(background=False, embedder=Hashed(), semantic=True, redact=False)
    c = talk(store)
    store.append(c, role="user", text=f"the token is {secret}")
    store.settle()
    before = raw("select vector from vectors order by id desc limit 1")
    assert store.scan(fix=True).places
    assert vectors(raw) == 10
    store.settle()
    assert vectors(raw) == 11
    assert raw("select vector from vectors order by id desc limit 1") != before
