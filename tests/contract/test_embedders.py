"""Any model makes vectors: the bundled one, one of another library, one behind an address. What all of them promise, and
what happens when they do not keep it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from postgres_server import free_port
from recollect import errors
from recollect.config import Settings
from recollect.search import embed
from recollect.search.embed import OpenAICompatible, WordLlama, adapt

TEXTS = ["The budget for the trip is 1,500 euros.", "Kim paints sunflowers", "", "été à 東京 🎉", "x " * 3000]

BUNDLED = WordLlama()


class Plain:
    """An embedder of one's own: three attributes and a method. Words are hashed into its dimensions."""

    is_quick = True

    def __init__(self, dimension: int = 32, name: str = "plain", gives: int | None = None) -> None:
        self.dimension, self.name, self._gives = dimension, name, gives or dimension

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        found = []
        for text in texts:
            row = [0.0] * self._gives
            for word in text.lower().split():
                row[sum(map(ord, word)) % self._gives] += 1.0
            found.append(row)
        return found


class SentenceTransformerLike:
    """Stands in for `sentence_transformers.SentenceTransformer`, which needs torch (gigabytes): the same two methods, with
    the same arguments and the same answers (a float32 array)."""

    model_card_data = type("Card", (), {"base_model": "tiny/stand-in"})()

    def get_sentence_embedding_dimension(self) -> int:
        return 24

    def encode(self, sentences: list[str], *, show_progress_bar: bool | None = None, batch_size: int = 32) -> Any:
        return np.array(Plain(24).embed(sentences), dtype=np.float32)


class LlamaIndexLike:
    """`llama_index.core.embeddings.BaseEmbedding` as far as it is used, where that library is not installed."""

    model_name = "stand-in"

    def get_text_embedding_batch(
        self, texts: list[str], show_progress: bool = False, **kwargs: Any
    ) -> list[list[float]]:
        return Plain(12).embed(texts)


def langchain() -> Any:
    from langchain_core.embeddings import DeterministicFakeEmbedding

    return DeterministicFakeEmbedding(size=48)


def llama_index() -> Any:
    try:
        from llama_index.core.embeddings import MockEmbedding  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return LlamaIndexLike()
    return MockEmbedding(embed_dim=12)


# -- a server on this machine


class Server(ThreadingHTTPServer):
    """Answers like OpenAI's endpoint; `answer` may be replaced, `asked` is what came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.status = 200
        self.body: bytes | None = None
        self.location: str | None = None
        self.dimension = 16

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **asked})
        self.server.headers_seen.append(dict(self.headers))
        rows = Plain(self.server.dimension).embed(asked["input"])
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        body = self.server.body
        if body is None:
            body = json.dumps({"object": "list", "data": data[::-1], "model": asked["model"]}).encode()
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


MODELS = {
    "bundled": (WordLlama, 256),
    "own": (Plain, 32),
    "langchain": (langchain, 48),
    "llama_index": (llama_index, 12),
    "sentence_transformers": (SentenceTransformerLike, 24),
}


@pytest.mark.parametrize("name", [*MODELS, "openai"])
def test_dimension_determinism_batch_equals_single(name: str, server: Server) -> None:
    if name == "openai":
        model, dimension = adapt(OpenAICompatible(server.url, "tiny", 16, batch=2)), 16
    else:
        made, dimension = MODELS[name]
        model = adapt(made(), Settings())
    assert model.dimension == dimension
    assert model.name and isinstance(model.name, str)
    together = np.asarray(model.embed(TEXTS), dtype=np.float32)
    assert together.shape == (len(TEXTS), dimension)
    assert np.array_equal(together, np.asarray(model.embed(TEXTS), dtype=np.float32))
    for text, row in zip(TEXTS, together, strict=True):
        assert np.array_equal(np.asarray(model.embed([text]), dtype=np.float32)[0], row)


def test_the_bundled_model_gives_what_its_package_gives() -> None:
    import logging
    from pathlib import Path

    root = logging.getLogger()
    before = root.level, list(root.handlers)
    try:
        import wordllama

        package = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, disable_download=True, dim=WordLlama.dimension
        )
    finally:  # it sets up the logging of the whole process: one reason why we read its weights ourselves
        root.setLevel(before[0])
        root.handlers[:] = before[1]
    assert np.allclose(WordLlama().embed(TEXTS), package.embed(TEXTS), atol=1e-6)


PIECES = (
    "a",
    "The",
    " ",
    "  ",
    "ing",
    "\n",
    "\t",
    ".",
    ",",
    "0",
    "\u2581",
    "<",
    "<s>",
    "</s>",
    "<unk>",
    "\u00a0",
    "é",
    "日",
    "🎉",
    "_",
    "-",
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text()), min_size=2, max_size=6)
)
def test_a_text_has_the_same_vector_whatever_came_before_it(texts: list[str]) -> None:
    """The bundled model remembers the words it has met: what it makes of a text must not depend on that."""
    together = BUNDLED.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(vector, BUNDLED.embed([text])[0]), text
        assert BUNDLED._by_words(text) == BUNDLED._whole(text)


def test_the_memory_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "KNOWN_WORDS", 50)
    model = WordLlama()
    texts = [" ".join(f"w{n}" for n in range(start, start + 9)) for start in range(0, 600, 3)]
    assert np.array_equal(model.embed(texts), np.concatenate([model.embed([t]) for t in texts]))
    assert len(model._known) <= 51


def test_the_bundled_model_keeps_no_texts() -> None:
    """Its tokenizer would keep ten thousand of them. Seen in a process of its own: this one has room already."""
    code = """if True:
        import random, resource, sys
        from recollect.search.embed import WordLlama
        model, chance = WordLlama(), random.Random(1)
        words = ["".join(chance.choices("aeioubdklmnrst", k=6)) for _ in range(3_000)]
        def some(n):
            for _ in range(n):
                model.embed([" ".join(chance.choices(words, k=20)) for _ in range(32)])
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        before = some(10)
        print(some(125) - before)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < 4_000_000, "22 MB for 4,000 texts while it kept them"


def test_the_name_tells_models_apart() -> None:
    names = {adapt(made(), Settings()).name for made, _ in MODELS.values()}
    assert len(names) == len(MODELS)
    assert adapt(SentenceTransformerLike(), Settings()).name == "SentenceTransformerLike:tiny/stand-in"
    assert embed.from_langchain(langchain(), name="mine").name == "mine"


def test_what_is_no_embedder_is_told() -> None:
    with pytest.raises(errors.InvalidInput, match="no embedder"):
        adapt(object(), Settings())
    with pytest.raises(errors.InvalidInput, match="no embedder"):
        recollect.open(":memory:", embedder="wordllama")


# -- in a store


@pytest.mark.parametrize("name", ["own", "langchain", "llama_index", "sentence_transformers", "openai"])
def test_a_store_takes_any_of_them(url: str, name: str, server: Server) -> None:
    model: Any = OpenAICompatible(server.url, "tiny", 16) if name == "openai" else MODELS[name][0]()
    with recollect.open(url, user="alex", embedder=model, background=False) as store:
        c = store.create().id
        store.append_many(
            c, [{"role": "user", "text": text} for text in ("kim paints sunflowers", "the budget is 1500")]
        )
        store.settle()
        assert store.stats().jobs == {}
        hits = store.search("who paints sunflowers")
        assert hits[0].text == "kim paints sunflowers"
        assert hits[0].parts["meaning"] != 0


def test_a_wrong_dimension_is_a_clear_error(url: str) -> None:
    with recollect.open(url, user="alex", embedder=Plain(32, gives=31), background=False) as store:
        c = store.create().id
        store.append(c, role="user", text="kim paints sunflowers")
        with pytest.raises(errors.InvalidInput, match=r"'plain'.*31.*32"):
            store.search("sunflowers")
        store.settle()
        assert any("dimension" in error for error in store.stats().job_errors)
        assert store.messages(c)[0].text == "kim paints sunflowers"


def test_numbers_that_are_none_are_refused(url: str) -> None:
    class Broken(Plain):
        def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            return [[float("nan")] * self.dimension for _ in texts]

    with recollect.open(url, user="alex", embedder=Broken(), background=False) as store:
        store.append(store.create().id, role="user", text="kim paints sunflowers")
        with pytest.raises(errors.InvalidInput, match="finite"):
            store.search("sunflowers")


def test_another_model_makes_the_vectors_anew_while_search_goes_on(url: str) -> None:
    said = [f"note {n}: kim paints {what}" for n, what in enumerate(["sunflowers", "boats", "the sea"] * 200)]
    with recollect.open(url, user="alex", embedder=Plain(32, "first"), background=False) as store:
        c = store.create().id
        store.append_many(c, [{"role": "user", "text": text} for text in said])
        store.settle()
        assert all(h.parts.get("meaning") for h in store.search("paints boats", limit=5))

    slow = threading.Event()
    first_batch = threading.Event()

    class Slow(Plain):
        is_quick = False

        def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            if len(texts) > 1 and first_batch.is_set():
                assert slow.wait(60)
            if len(texts) > 1:
                first_batch.set()
            return super().embed(texts)

    with recollect.open(url, user="alex", embedder=Slow(64, "second"), background=False) as store:
        hits = store.search("paints boats", limit=5)  # by words: the vectors are another model's
        assert [h.text for h in hits] and "boats" in hits[0].text
        assert store.stats().jobs.get("queued") == 1  # and that search asked for new ones
        worker = threading.Thread(target=store.settle)
        worker.start()
        try:
            assert first_batch.wait(60)
            deadline = threading.Event()
            for _ in range(600):
                jobs = store.stats().jobs
                if 0 < jobs.get("to_embed", 0) < len(said):
                    break
                deadline.wait(0.05)
            assert jobs["running"] == 1
            assert 0 < jobs["to_embed"] < len(said)  # progress
            assert "boats" in store.search("paints boats", limit=5)[0].text
        finally:
            slow.set()
            worker.join()
        assert store.stats().jobs == {}
        after = store.search("paints boats", limit=5)
        assert all("boats" in h.text and h.parts.get("meaning") for h in after)


def test_two_models_by_turns_do_not_write_over_each_other_for_ever(url: str) -> None:
    with recollect.open(url, user="alex", embedder=Plain(32, "first"), background=False) as store:
        store.append(store.create().id, role="user", text="kim paints sunflowers")
        store.settle()
        with recollect.open(url, user="alex", embedder=Plain(64, "second"), background=False) as other:
            other.search("sunflowers")
            assert other.settle() == 1
            for _ in range(3):
                assert store.search("sunflowers")
                assert other.search("sunflowers")
            assert store.settle() + other.settle() <= 1


def test_a_search_by_someone_who_never_wrote_leaves_nothing_behind(url: str) -> None:
    with recollect.open(url, user="alex", embedder=Plain(), background=False) as store:
        assert store.search("sunflowers") == []
    with recollect.admin(url) as admin:
        assert list(admin.users()) == []


# -- a server's mistakes


def test_what_is_sent(server: Server) -> None:
    model = OpenAICompatible(server.url + "/", "tiny", 16, key="sk-123", batch=2)
    model.embed(["a", "b", ""])
    assert [len(a["input"]) for a in server.asked] == [2, 1]
    assert server.asked[0]["path"] == "/v1/embeddings"
    assert server.asked[0]["model"] == "tiny"
    assert server.headers_seen[0]["Authorization"] == "Bearer sk-123"
    assert "sk-123" not in repr(model)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 429, 500])
def test_a_status_is_an_error_and_no_redirect_is_followed(server: Server, status: int) -> None:
    server.status, server.location = status, server.url + "/elsewhere"
    with pytest.raises(errors.EmbeddingFailed, match=str(status)):
        OpenAICompatible(server.url, "tiny", 16).embed(["a"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"data": 1}', b'{"data": []}', b'{"data": [{"index": 0}]}', b"\xff"]
)
def test_an_answer_that_is_none(server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(errors.EmbeddingFailed):
        OpenAICompatible(server.url, "tiny", 16).embed(["a"])


def test_a_server_that_is_away_leaves_search_by_words(url: str, server: Server) -> None:
    with recollect.open(url, user="alex", embedder=OpenAICompatible(server.url, "tiny", 16), background=False) as store:
        c = store.create().id
        store.append(c, role="user", text="kim paints sunflowers")
        store.settle()
        server.status = 503
        hits = store.search("sunflowers")
        assert hits[0].text == "kim paints sunflowers" and "meaning" not in hits[0].parts
        store.append(c, role="user", text="sam paints boats")
        store.settle()
        assert any("503" in error for error in store.stats().job_errors)
        assert store.stats().jobs["queued"] == 1  # tried again later
        server.status = 200


def test_nobody_listens() -> None:
    with pytest.raises(errors.EmbeddingFailed, match="did not answer"):
        OpenAICompatible(f"http://127.0.0.1:{free_port()}", "tiny", 16, timeout=2).embed(["a"])


# -- nothing goes out


def test_a_remote_endpoint_is_refused_unless_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OpenAICompatible("https://api.example.com/v1", "tiny", 16, key="sk-123")
    with pytest.raises(errors.HostNotAllowed, match="allow_hosts"):
        recollect.open(":memory:", embedder=model)
    with pytest.raises(errors.HostNotAllowed, match="RECOLLECT_ALLOW_HOSTS"):
        model.embed(["never sent"])
    recollect.open(":memory:", embedder=model, allow_hosts=["api.example.com"]).close()
    monkeypatch.setenv("RECOLLECT_ALLOW_HOSTS", "api.example.com")
    recollect.open(":memory:", embedder=OpenAICompatible("https://api.example.com/v1", "tiny", 16)).close()


def test_a_model_of_another_library_that_names_an_address_is_refused() -> None:
    class Remote:
        base_url = "https://api.example.com/v1?version=2"

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise AssertionError("was asked")

    with pytest.raises(errors.HostNotAllowed):
        recollect.open(":memory:", embedder=Remote())
    recollect.open(":memory:", embedder=Remote(), allow_hosts=["api.example.com"]).close()


def test_one_that_holds_a_key_must_say_where_it_goes() -> None:
    class Keyed:
        openai_api_key = "sk-123"

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise AssertionError("was asked")

    with pytest.raises(errors.HostNotAllowed, match="does not say which"):
        recollect.open(":memory:", embedder=Keyed(), allow_hosts=["api.example.com"])
    said = embed.from_langchain(Keyed(), url="https://api.example.com/v1")
    with pytest.raises(errors.HostNotAllowed, match="allow_hosts"):
        recollect.open(":memory:", embedder=said)
    recollect.open(":memory:", embedder=said, allow_hosts=["api.example.com"]).close()
