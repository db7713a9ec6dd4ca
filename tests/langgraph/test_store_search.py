"""A question finds items by words and by meaning; which fields count is the caller's to say."""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import PutOp

import recollect
from recollect.errors import HostNotAllowed, InvalidInput
from recollect.langgraph.store import MemoryStore
from recollect.search import texts
from talk import Hashed

Opener = Callable[..., MemoryStore]


class Model(Embeddings):
    """A LangChain model: every word is a direction. `synonyms` share one."""

    def __init__(self, dimension: int = 256, synonyms: dict[str, str] | None = None) -> None:
        self._hashed, self._synonyms = Hashed(dimension=dimension), synonyms or {}
        self.asked = 0
        self.fails = False

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self.fails:
            raise ConnectionError("no answer")
        self.asked += len(texts)
        same = [" ".join(self._synonyms.get(w.lower(), w) for w in text.split()) for text in texts]
        return self._hashed.embed(same)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def index(model: Embeddings, **more: Any) -> dict[str, Any]:
    return {"embed": model, "dims": 256, **more}


@pytest.fixture
def opener(url: str) -> Iterator[Opener]:
    opened: list[MemoryStore] = []

    def make(**settings: Any) -> MemoryStore:
        opened.append(MemoryStore(url, user="alex", **settings))
        return opened[-1]

    yield make
    for memory in opened:
        memory.close()


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


FACTS = {
    "theme": {"content": "Prefers the dark theme in every editor"},
    "food": {"content": "Allergic to peanuts and shellfish"},
    "trip": {"content": "Flew to Lisbon in May"},
    "other": {"title": "nothing to index here"},
}


def test_words_find_and_what_nothing_speaks_for_comes_last_without_a_score(opener: Opener) -> None:
    memory = opener(semantic=False)
    memory.batch([PutOp(("f",), key, value) for key, value in FACTS.items()])
    found = memory.search(("f",), query="which theme does she prefer?")
    assert keys(found) == ["theme", "other", "trip", "food"]
    assert found[0].score is not None and 0 < found[0].score <= 1
    assert [item.score for item in found[1:]] == [None, None, None]
    assert keys(memory.search(("f",), query="peanut allergies", limit=1)) == ["food"]
    assert keys(memory.search(("f",), query="nothing index")) != ["other"]  # only `content` is indexed unless said


def test_meaning_finds_what_no_word_does(opener: Opener) -> None:
    model = Model(synonyms={"automobile": "car"})
    memory = opener(index=index(model, fields=["content"]))
    memory.put(("f",), "car", {"content": "drives an automobile"})
    memory.put(("f",), "cat", {"content": "feeds three cats"})
    found = memory.search(("f",), query="car")
    assert keys(found) == ["car", "cat"]
    assert found[0].score > found[1].score  # type: ignore[operator]


def test_a_word_that_is_shared_raises_the_score_and_never_lowers_it(opener: Opener) -> None:
    memory = opener(index=index(Model(), fields=["content"]))
    memory.put(("f",), "same", {"content": "zebra crossing"})
    memory.put(("f",), "some", {"content": "zebra painting in the hall"})
    memory.put(("f",), "none", {"content": "the kettle is on"})
    found = memory.search(("f",), query="zebra crossing")
    assert keys(found) == ["same", "some", "none"]
    assert found[0].score == pytest.approx(1.0, abs=1e-3)
    assert found[0].score >= found[1].score >= found[2].score  # type: ignore[operator]


def test_the_bundled_model_is_used_where_it_is_installed(opener: Opener) -> None:
    memory = opener()
    memory.batch([PutOp(("f",), key, value) for key, value in FACTS.items()])
    found = memory.search(("f",), query="journey to Portugal")
    assert keys(found)[0] == "trip"
    assert found[0].score is not None
    assert found[-1].score is None  # `other` has nothing that is indexed


@pytest.mark.parametrize("made", ["function", "coroutine"])
def test_a_plain_function_may_embed(opener: Opener, made: str) -> None:
    model = Model(synonyms={"automobile": "car"})

    async def awaited(texts: list[str]) -> list[list[float]]:
        return model.embed_documents(texts)

    memory = opener(index=index(awaited if made == "coroutine" else model.embed_documents, fields=["content"]))  # type: ignore[arg-type]
    memory.put(("f",), "car", {"content": "drives an automobile"})
    memory.put(("f",), "cat", {"content": "feeds three cats"})
    assert keys(memory.search(("f",), query="car", limit=1)) == ["car"]


def test_fields_are_the_stores_unless_a_put_says_otherwise(opener: Opener) -> None:
    memory = opener(semantic=False, index={"fields": ["title", "meta.by", "parts[*].text"]})
    value = {
        "title": "alpha",
        "meta": {"by": "beta"},
        "parts": [{"text": "gamma"}, {"text": "delta"}],
        "body": "epsilon",
    }
    memory.put(("f",), "default", value)
    memory.put(("f",), "body", value, index=["body"])
    memory.put(("f",), "unindexed", value, index=False)

    def scored(query: str) -> list[str]:
        return [item.key for item in memory.search(("f",), query=query) if item.score is not None]

    for word in ("alpha", "beta", "gamma", "delta"):
        assert scored(word) == ["default"]
    assert scored("epsilon") == ["body"]
    assert memory.get(("f",), "unindexed") is not None


def test_an_index_without_fields_means_the_whole_item(opener: Opener) -> None:
    memory = opener(index=index(Model()))
    memory.put(("f",), "k", {"anything": "a walrus", "n": {"deep": "in the sea"}})
    assert memory.search(("f",), query="walrus sea")[0].score is not None


def test_an_update_is_found_by_its_new_words_only(opener: Opener) -> None:
    memory = opener(semantic=False)
    memory.put(("f",), "k", {"content": "likes tea"})
    memory.put(("f",), "k", {"content": "likes coffee"})
    assert [item.score for item in memory.search(("f",), query="tea")] == [None]
    assert memory.search(("f",), query="coffee")[0].score is not None
    memory.put(("f",), "k", {"content": "likes coffee"}, index=False)
    assert [item.score for item in memory.search(("f",), query="coffee")] == [None]


def test_filters_and_pages_hold_for_a_question(opener: Opener) -> None:
    memory = opener(index=index(Model(), fields=["content"]))
    memory.batch([PutOp(("f",), str(i), {"content": f"note {i} about tea", "n": i % 50}) for i in range(600)])
    found = memory.search(("f",), query="tea", filter={"n": 7}, limit=100)
    assert sorted(map(int, keys(found))) == list(range(7, 600, 50))
    assert all(item.score is not None for item in found)
    pages = [keys(memory.search(("f",), query="note tea", limit=40, offset=at)) for at in range(0, 600, 40)]
    assert len({key for page in pages for key in page}) == 600
    everything = memory.search(("f",), query="note tea", limit=600)
    scores = [item.score for item in everything if item.score is not None]
    assert scores == sorted(scores, reverse=True)


def test_a_namespace_in_a_large_store_is_searched_in_full(opener: Opener) -> None:
    """What others have must not crowd out the few in scope."""
    memory = opener(index=index(Model(), fields=["content"]))
    memory.batch([PutOp(("crowd", str(i % 7)), str(i), {"content": f"tea with milk {i}"}) for i in range(900)])
    memory.put(("few",), "mine", {"content": "tea with milk"})
    memory.put(("few", "below"), "deep", {"content": "tea with milk and honey"})
    found = memory.search(("few",), query="tea with milk")
    assert keys(found) == ["mine", "deep"]
    assert all(item.score is not None for item in found)


def test_a_model_that_does_not_answer_costs_no_item_and_catches_up(opener: Opener) -> None:
    model = Model(synonyms={"automobile": "car"})
    memory = opener(index=index(model, fields=["content"]))
    model.fails = True
    memory.put(("f",), "car", {"content": "drives an automobile"})
    memory.put(("f",), "cat", {"content": "feeds three cats"})
    assert keys(memory.search(("f",), query="automobile", limit=1)) == ["car"]  # by words
    model.fails = False
    assert keys(memory.search(("f",), query="car", limit=1)) == ["car"]


def test_what_a_model_missed_is_embedded_although_all_was_complete_before(opener: Opener) -> None:
    """That it was complete was remembered for ever: a question that shares no word with the text never found it."""
    model = Model(synonyms={"automobile": "car"})
    memory = opener(index=index(model, fields=["content"]))
    memory.put(("f",), "cat", {"content": "feeds three cats"})
    assert keys(memory.search(("f",), query="cats")) == ["cat"]
    model.fails = True
    memory.put(("f",), "car", {"content": "drives an automobile"})
    model.fails = False
    assert keys(memory.search(("f",), query="car", limit=1)) == ["car"]


def test_two_that_measure_differently_take_turns_in_one_store(opener: Opener) -> None:
    """Each embeds anew what the other left; one of them found nothing by meaning from then on."""
    by_angle = opener(index=index(Model(synonyms={"automobile": "car"}), fields=["content"]))
    by_length = opener(index=index(Model(synonyms={"automobile": "car"}), fields=["content"], distance_type="l2"))
    for i, name in enumerate(("car", "cat", "tea")):
        by_angle.put(("f",), name, {"content": ("drives an automobile", "feeds three cats", "drinks tea")[i]})
    for memory in (by_angle, by_length, by_angle, by_length, by_angle):
        found = memory.search(("f",), query="car")
        assert found[0].key == "car" and all(item.score is not None for item in found)


def test_a_question_is_embedded_as_one(opener: Opener) -> None:
    """Some models want a question otherwise than what answers it; it was embedded as if it stood in the store."""

    class TwoSided(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0, 0.0] if "left" in text else [0.0, 1.0] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return [0.0, 1.0]

    memory = opener(index={"embed": TwoSided(), "dims": 2, "fields": ["content"]})
    memory.put(("f",), "left", {"content": "to the left"})
    memory.put(("f",), "right", {"content": "to the east"})
    assert keys(memory.search(("f",), query="on the left of it, or where"))[0] == "right"


def test_another_model_embeds_anew(opener: Opener, url: str) -> None:
    memory = opener(index=index(Model(), fields=["content"]))
    memory.batch([PutOp(("f",), str(i), {"content": f"the vehicle number {i}"}) for i in range(300)])
    other = Model(synonyms={"vehicle": "car"})
    again = opener(index={"embed": recollect_named(other), "dims": 256, "fields": ["content"]})
    found = again.search(("f",), query="car number 17", limit=3)
    assert found[0].score is not None
    for _ in range(3):
        again.search(("f",), query="car")
    assert other.asked >= 300
    assert all(item.score is not None for item in again.search(("f",), query="car", limit=300))


def recollect_named(model: Model) -> Callable[[list[str]], list[list[float]]]:
    """The same model under another name: it is by their names that models are told apart."""

    def another_model(texts: list[str]) -> list[list[float]]:
        return model.embed_documents(texts)

    return another_model


def test_a_wrong_dimension_and_a_model_elsewhere_are_refused(opener: Opener) -> None:
    memory = opener(index={"embed": Model(dimension=64), "dims": 128})
    with pytest.raises(InvalidInput, match="dimension"):
        memory.put(("f",), "k", {"content": "x"})

    class Remote(Model):
        openai_api_key = "anything"
        base_url = "https://api.example.com/v1"

    with pytest.raises(HostNotAllowed, match=r"api\.example\.com"):
        opener(index=index(Remote()))
    opener(index=index(Remote()), allow_hosts=["api.example.com"])
    with pytest.raises(InvalidInput, match="distance_type"):
        opener(index=index(Model(), distance_type="manhattan"))


class Fixed(Embeddings):
    """Vectors of different lengths, by the first word."""

    vectors: ClassVar = {"long": [3.0, 0.4], "short": [0.5, 0.0], "across": [0.0, 1.0], "where": [1.0, 0.0]}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text.split()[0]] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("cosine", {"short": 1.0, "long": 3 / math.hypot(3, 0.4), "across": 0.0}),
        ("inner_product", {"long": 3.0, "short": 0.5, "across": 0.0}),
        ("l2", {"short": -0.5, "across": -math.sqrt(2), "long": -math.hypot(2, 0.4)}),
    ],
)
def test_the_length_of_a_vector_counts_where_the_distance_says_so(
    opener: Opener, distance: str, expected: dict[str, float]
) -> None:
    """With unit vectors, by which a store compared, all three were the cosine."""
    memory = opener(index={"embed": Fixed(), "dims": 2, "fields": ["content"], "distance_type": distance})
    for name in ("across", "long", "short"):
        memory.put(("f",), name, {"content": f"{name} arrow"})
    found = memory.search(("f",), query="where")
    assert {item.key: item.score for item in found} == pytest.approx(expected, abs=1e-3)
    assert keys(found) == list(expected)


@pytest.mark.parametrize("distance", ["inner_product", "l2"])
def test_who_is_long_is_found_among_many_that_are_nearer_in_direction(opener: Opener, distance: str) -> None:
    """Candidates are told by direction: the hundred nearest were all that was looked at."""
    dims, asked = 128, 1.0 if distance == "inner_product" else 10.0

    def leaning(cosine: float, length: float, seed: int) -> list[float]:
        """Of such an angle with the question, which is the first axis."""
        rest = [random.Random(seed * dims + i).gauss(0, 1) for i in range(dims - 1)]
        scale = math.sqrt((1 - cosine**2) / sum(x * x for x in rest))
        return [length * cosine, *(length * scale * x for x in rest)]

    vectors = {f"doc{i}": leaning(0.9, 1, i) for i in range(150)}
    vectors |= {
        "best": leaning(0.5, 10, 999) if asked == 1 else leaning(0.7, 7, 999),
        "zebra": [asked] + [0.0] * (dims - 1),
    }
    memory = opener(
        index={
            "embed": lambda texts: [vectors[t] for t in texts],
            "dims": dims,
            "fields": ["t"],
            "distance_type": distance,
        }
    )
    memory.batch([PutOp(("f",), name, {"t": name}) for name in vectors if name != "zebra"])
    found = memory.search(("f",), query="zebra", limit=3)
    assert found[0].key == "best"
    assert found[0].score == pytest.approx(5.0 if asked == 1 else -math.sqrt(51), abs=0.01)


def test_another_distance_embeds_anew(opener: Opener) -> None:
    """What was kept as a unit vector has lost its length."""
    given = {"embed": Fixed(), "dims": 2, "fields": ["content"]}
    memory = opener(index=given)
    memory.put(("f",), "long", {"content": "long arrow"})
    assert memory.search(("f",), query="where")[0].score == pytest.approx(0.9912, abs=1e-3)
    again = opener(index={**given, "distance_type": "inner_product"})
    assert again.search(("f",), query="where")[0].score == pytest.approx(3.0, abs=1e-3)


def test_any_text_is_a_safe_question(opener: Opener) -> None:
    memory = opener(semantic=False)
    memory.put(("f",), "k", {"content": "plain"})
    for query in (
        '"',
        "'; drop table items; --",
        "a AND OR NOT (",
        "*",
        "\0",
        "half \ud800",
        " ",
        "é" * 5000,
        "scope : n",
    ):
        assert len(memory.search(("f",), query=query)) == 1


def test_items_do_not_come_up_in_the_search_of_the_log(opener: Opener, url: str) -> None:
    memory = opener(semantic=False)
    memory.put(("f",), "k", {"content": "a walrus"})
    with recollect.open(url, user="alex", semantic=False) as store:
        assert store.search("walrus") == []
        assert store.recall("walrus") == []


@pytest.mark.parametrize("backend", ["postgres"], indirect=True)  # a file has one writer at a time
def test_what_a_server_shows_late_is_found_too(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are drawn in one order and committed in another, and what was found a moment ago is remembered: nobody is missed
    for it, and nobody comes back."""
    monkeypatch.setattr(texts, "SETTLE_SECONDS", 0.0)
    model = Model(synonyms={"automobile": "car"})
    memory, other = opener(index=index(model)), opener(index=index(model))
    other.put(("g",), "first", {"content": "there is an alex now"})
    began, go_on = threading.Event(), threading.Event()
    write = other._write

    def slowly(fn: Callable[[Any], Any]) -> Any:
        def held(tx: Any) -> Any:
            made = fn(tx)
            began.set()
            assert go_on.wait(30)
            return made

        return write(held)

    monkeypatch.setattr(other, "_write", slowly)

    def by_meaning() -> set[str]:
        return {item.key for item in memory.search(("f",), query="car", limit=50) if item.score is not None}

    late = threading.Thread(target=lambda: other.put(("f",), "late", {"content": "bought an automobile"}))
    late.start()
    assert began.wait(30)
    for n in range(3):
        memory.put(("f",), f"early {n}", {"content": "sold the automobile"})
        assert by_meaning() == {f"early {i}" for i in range(n + 1)}
    go_on.set()
    late.join()
    for _ in range(3):
        assert by_meaning() == {"late", "early 0", "early 1", "early 2"}
    memory.delete(("f",), "late")
    memory.put(("f",), "early 1", {"content": "peanuts"})
    assert by_meaning() - {"early 1"} == {"early 0", "early 2"}  # whose cosine is nothing, but is one
    monkeypatch.setattr(texts, "MOST_KEPT", 1)  # too many for memory: the server counts
    with opener(index=index(model)) as third:
        assert {i.key for i in third.search(("f",), query="car", limit=50)} == {"early 0", "early 1", "early 2"}


def test_half_a_character_is_a_safe_question_by_meaning_too(opener: Opener) -> None:
    """As a broken file gives it: the tokenizer of the model that ships with us had an error of its own for it."""
    memory = opener(semantic=True)
    memory.put(("f",), "k", {"content": "plain"})
    assert keys(memory.search(("f",), query="\ud800")) == keys(memory.search(("f",), query="half \ud800")) == ["k"]


def test_the_end_of_a_long_item_is_found(opener: Opener) -> None:
    memory = opener(index=index(Model()))
    rng = random.Random(3)
    filler = ["".join(rng.choice("abcdefgh") for _ in range(6)) for _ in range(60)]

    def long(needle: str) -> str:
        return "".join(" ".join(rng.choice(filler) for _ in range(9)) + ".\n" for _ in range(130)) + needle

    for n in range(30):
        memory.put(("doc",), f"other{n}", {"text": long("nothing here.")})
    memory.put(("doc",), "wanted", {"text": long("the quokka was seen in Perth.")})
    found = memory.search(("doc",), query="quokka Perth", limit=5)
    assert found[0].key == "wanted"
    assert len({item.key for item in found}) == 5, "each item once"
