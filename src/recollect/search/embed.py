"""Embedders: anything with a name, a dimension, and a way from texts to vectors.

The default is WordLlama's bundled weights: 256 dimensions, 0.05 ms a text, no download, no key. Others plug in:
`recollect.open(embedder=...)` takes an `Embedder`, a LangChain `Embeddings`, a LlamaIndex embedding model, a
sentence-transformers model, or an `OpenAICompatible` endpoint, and `adapt` tells which it is by what it can do; none of
those libraries is imported here. A model that is asked over the network is refused unless its host is allowed
(`hosts`). What a foreign library does by itself cannot be seen from here: where its object names an address or holds a
key, that address must be allowed too, but a library that hides both is trusted like any code you pass in.
"""

from __future__ import annotations

import sys
from array import array

from ..errors import EmbeddingFailed, HostNotAllowed, InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from ..config import Settings

    class Embedder(Protocol):
        """What search needs of a model."""

        @property
        def name(self) -> str:
            """Stored with the vectors: another name means that they are made anew."""
            ...

        @property
        def dimension(self) -> int: ...

        @property
        def is_quick(self) -> bool:
            """Quick enough to embed some hundred texts while a search waits."""
            ...

        def embed(self, texts: Sequence[str], /) -> Any:
            """One vector a text; a list of lists or an array."""
            ...


_ADDRESSES = (
    "url", "base_url", "api_base", "openai_api_base", "endpoint", "endpoint_url", "azure_endpoint", "api_url", "host",
)  # fmt: skip
_KEYS = ("api_key", "_api_key", "api_token", "access_token")


def adapt(model: Any, settings: Settings | None = None) -> Embedder:
    """An `Embedder` of whatever was passed in, known by what it can do; HostNotAllowed if it goes where nothing may go."""
    made: Embedder
    if isinstance(model, _Adapter):
        made = model
    elif all(hasattr(model, name) for name in ("name", "dimension", "embed")):
        ask = getattr(model, "embed_question", None)
        made = model if hasattr(model, "is_quick") else _Adapter(model.name, model.embed, model.dimension, ask=ask)
    elif hasattr(model, "embed_documents"):
        made = from_langchain(model)
    elif hasattr(model, "get_text_embedding_batch"):
        made = from_llama_index(model)
    elif hasattr(model, "encode") and not isinstance(model, str):
        made = from_sentence_transformers(model)
    else:
        raise InvalidInput(
            f"{type(model).__name__} is no embedder: it has neither `embed` with a name and a dimension, nor "
            "`embed_documents` (LangChain), `get_text_embedding_batch` (LlamaIndex), `encode` (sentence-transformers)."
        )
    if isinstance(model, OpenAICompatible):
        model.admit(settings)
    else:
        _check_address(made if isinstance(made, _Adapter) else model, settings)
    return made


def from_langchain(model: Any, *, name: str | None = None, url: str | None = None) -> Embedder:
    """A LangChain `Embeddings`. `url` is where it goes, for one that asks a server and does not say which."""
    return _Adapter(
        name or _name(model), lambda texts: model.embed_documents(list(texts)), None, model, url,
        ask=getattr(model, "embed_query", None),
    )  # fmt: skip


def from_llama_index(model: Any, *, name: str | None = None, url: str | None = None) -> Embedder:
    """A LlamaIndex `BaseEmbedding`; `url` as for LangChain."""
    return _Adapter(
        name or _name(model), lambda texts: model.get_text_embedding_batch(list(texts)), None, model, url,
        ask=getattr(model, "get_query_embedding", None),
    )  # fmt: skip


def from_sentence_transformers(model: Any, *, name: str | None = None) -> Embedder:
    """A sentence-transformers model (or anything with its `encode`)."""
    ask = getattr(model, "get_sentence_embedding_dimension", None) or getattr(model, "get_embedding_dimension", None)
    return _Adapter(
        name or _name(model), lambda texts: model.encode(list(texts), show_progress_bar=False), ask and ask(), model,
        ask=getattr(model, "encode_query", None),
    )  # fmt: skip


class _Adapter:
    """A model of another library. Its dimension, where it does not say, is that of the first vector it makes."""

    is_quick = False

    def __init__(
        self, name: str, embed: Callable[[Sequence[str]], Any], dimension: int | None, model: Any = None,
        url: str | None = None, ask: Callable[[str], Any] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.model, self.url = name, model, url
        self._embed = embed
        self._ask = ask
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self._dimension = len(self.embed(["dimension"])[0])
        return self._dimension

    def embed(self, texts: Sequence[str], /) -> Any:
        return self._asked(self._embed, texts)

    def embed_question(self, text: str, /) -> Any:
        """As the model wants what is asked, where it tells that from what is found."""
        return self.embed([text])[0] if self._ask is None else self._asked(self._ask, text)

    def _asked(self, call: Callable[[Any], Any], given: Any) -> Any:
        try:
            return call(given)
        except Exception as e:
            raise EmbeddingFailed(f"The embedder {self.name!r} failed: {type(e).__name__}: {e}") from e


def _name(model: Any) -> str:
    """What a model is called, so that another one is known to be another: its own name if it has one, and its class."""
    for attribute in ("model_name", "model", "model_id", "deployment_name", "name_or_path"):
        own = getattr(model, attribute, None)
        if isinstance(own, str) and own and own != "unknown":
            return f"{type(model).__name__}:{own}"
    card = getattr(model, "model_card_data", None)  # sentence-transformers
    own = getattr(card, "base_model", None)
    return f"{type(model).__name__}:{own}" if isinstance(own, str) and own else type(model).__name__


def _check_address(made: Any, settings: Settings | None) -> None:
    """Where a model of another library says where it goes, that must be allowed; one with a key goes somewhere."""
    from .. import hosts

    model = getattr(made, "model", None) or made
    said = [getattr(made, "url", None), *(getattr(model, name, None) for name in _ADDRESSES)]
    addresses = [a.partition("?")[0].partition("#")[0] for a in said if isinstance(a, str) and "://" in a]
    allowed = _allowed(settings)
    for address in addresses:
        hosts.admit(hosts.parse(address), allowed)
    keys = {k for k in (*dir(type(model)), *getattr(model, "__dict__", {})) if k.endswith(_KEYS)}
    if not addresses and any(getattr(model, key, None) for key in keys):
        raise HostNotAllowed(
            f"{type(model).__name__} holds a key, so it asks a server, and does not say which. Pass it as "
            "from_langchain(model, url=...) or from_llama_index(model, url=...), and name the host in allow_hosts."
        )


def _allowed(settings: Settings | None) -> tuple[str, ...]:
    if settings is None:
        from ..config import Settings as Loaded

        settings = Loaded.load()
    return settings.allow_hosts


def is_installed() -> bool:
    """Whether the extra `semantic` is there, without importing it."""
    return any(getattr(f, "find_spec", lambda *a: None)("wordllama", None) is not None for f in sys.meta_path)


KNOWN_WORDS, LONGEST_WORD = 40_000, 24
"""Of words the tokens are remembered, packed: 200 bytes a word, 8 MB in all."""
TOKEN = 2
LEARN = 4
"""So many new words are learned from a text that is mostly new: to learn them all would cost more than to read it whole."""


class WordLlama:
    """The bundled weights of the package `wordllama`, read from its folder: nothing is ever downloaded.

    A text's vector is the mean of its tokens' vectors, so the two files are all there is to it. The package itself is
    not imported: that took ten times as long (pydantic, requests), and sets up the logging of the whole process."""

    name = "wordllama-256"
    dimension = 256
    is_quick = True

    def __init__(self) -> None:
        from importlib.util import find_spec
        from pathlib import Path

        import numpy as np
        from tokenizers import Tokenizer

        spec = find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise EmbeddingFailed("wordllama is not installed: pip install '.[semantic]' in Recollect's own folder.")
        folder = Path(spec.submodule_search_locations[0])
        try:
            self._vectors = _weights(folder / "weights" / "l2_supercat_256.safetensors", self.dimension)
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        except (OSError, ValueError, KeyError) as e:
            raise EmbeddingFailed(f"The weights in {folder} cannot be read ({e}): install wordllama 0.4 again.") from e
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        # To this model a text is one word, so its memory of words keeps ten thousand texts, 50 MB, that do not come again.
        resize = getattr(self._tokenizer.model, "_resize_cache", None)
        if resize is not None:
            resize(0)
        self._np = np
        self._space = self._whole("a ")[TOKEN:]
        self._known = {"": self._space}

    def embed(self, texts: Sequence[str], /) -> Any:
        np = self._np
        if len(texts) == 1:  # a question: the same numbers in half the time
            ids = np.frombuffer(self._whole(texts[0]), dtype=np.uint16)
            if len(ids):
                return self._vectors.take(ids, axis=0, mode="clip").astype(np.float32).sum(axis=0)[None] / len(ids)
        made = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at in range(0, len(texts), 64):
            part = [self._by_words(text) for text in texts[at : at + 64]]
            # A word's numbers are widened once, however often it comes: that took as long as everything else.
            words, places = np.unique(np.frombuffer(b"".join(part), dtype=np.uint16), return_inverse=True)
            rows = self._vectors.take(words, axis=0, mode="clip").astype(np.float32).take(places, axis=0)
            start = 0
            for i, tokens in enumerate(part, at):
                if n := len(tokens) // TOKEN:
                    made[i] = rows[start : start + n].sum(axis=0) / n
                    start += n
        return made

    def _whole(self, text: str) -> bytes:
        """The tokens of a text, two bytes each: the model knows 32,000."""
        # Never a batch: that would start the tokenizer's threads, which are lost in a fork.
        return array("H", self._tokenizer.encode(text, add_special_tokens=False).ids).tobytes()

    def _by_words(self, text: str) -> bytes:
        """The same tokens, put together from those of words that were met before, in a third of the time: no token of this
        model has a space behind a letter. What stands for itself in it, or for a space, is left to the tokenizer."""
        if not text or "<" in text or "\u2581" in text:
            return self._whole(text)
        known, words = self._known, text.split(" ")
        if "  " in text or text[0] == " ":
            words = _with_spaces(words)
        new = [word for word in words if word not in known]
        for word in new if len(new) <= len(words) // 4 else new[:LEARN]:
            if len(word) <= LONGEST_WORD:
                if len(known) >= KNOWN_WORDS:
                    known.clear()
                    known[""] = self._space
                known[word] = self._whole(word)
        try:
            return b"".join([known[word] for word in words])
        except KeyError:
            return self._whole(text)


def _with_spaces(words: list[str]) -> list[str]:
    """What a split at spaces took apart: of several spaces in a row, all but the first belong to the word behind them."""
    found, spaces = [], ""
    for word in words[:-1]:
        if word:
            found.append(spaces + word)
            spaces = ""
        else:
            spaces += " "
    return [*found, spaces + words[-1]]


def _weights(path: Any, dimension: int) -> Any:
    """The one matrix of a safetensors file: a length, a JSON header, the numbers. Mapped, not read: a process that
    embeds one question touches a few pages of the 16 MB."""
    import json

    import numpy as np

    with open(path, "rb") as f:
        length = int.from_bytes(f.read(8), "little")
        tensor = json.loads(f.read(length))["embedding.weight"]
    kind = {"F16": np.float16, "F32": np.float32}[tensor["dtype"]]
    rows, columns = tensor["shape"]
    if columns != dimension:
        raise ValueError(f"{columns} dimensions instead of {dimension}")
    mapped = np.memmap(path, dtype=kind, mode="r", offset=8 + length + tensor["data_offsets"][0], shape=(rows, columns))
    return mapped.view(np.ndarray)


class OpenAICompatible:
    """A server that answers `POST {url}/embeddings` as OpenAI's does: Ollama, vLLM, llama.cpp, LM Studio, a gateway.

    `url` ends before `/embeddings` (`http://localhost:11434/v1`). A host other than this machine must be allowed; no
    redirect is followed and no proxy asked, so what is sent goes there and nowhere else."""

    is_quick = False

    def __init__(
        self, url: str, model: str, dimension: int, *, key: str | None = None, batch: int = 64, timeout: float = 30.0
    ) -> None:
        from .. import hosts

        self.url = url
        self.name = model
        self.dimension = dimension
        self._address = hosts.parse(url)
        self._key = key
        self._batch = batch
        self._timeout = timeout
        self._admitted = self._address.is_here
        if not model or batch < 1 or dimension < 1:
            raise InvalidInput("An embedder needs the name of its model, a dimension and a batch of at least 1.")
        if key is not None and (not key.isascii() or not key.isprintable()):
            raise InvalidInput("The key has characters that cannot be sent in a header.")

    def __repr__(self) -> str:
        return f"OpenAICompatible({str(self._address)!r}, {self.name!r}, {self.dimension})"  # never the key

    def admit(self, settings: Settings | None) -> None:
        """Check its host against the settings (those of the environment without any)."""
        from .. import hosts

        hosts.admit(self._address, _allowed(settings))
        self._admitted = True

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        if not self._admitted:
            self.admit(None)
        found: list[list[float]] = []
        for start in range(0, len(texts), self._batch):
            found += self._ask([text or " " for text in texts[start : start + self._batch]])  # "" is refused by some
        return found

    def _ask(self, texts: list[str]) -> list[list[float]]:
        import http.client
        import json

        a = self._address
        body = json.dumps({"model": self.name, "input": texts, "encoding_format": "float"})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        kind = http.client.HTTPSConnection if a.scheme == "https" else http.client.HTTPConnection
        connection = kind(a.host, a.port, timeout=self._timeout)
        try:
            connection.request("POST", a.path.rstrip("/") + "/embeddings", body, headers)
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise EmbeddingFailed(f"{a.host}:{a.port} did not answer: {type(e).__name__}: {e}") from e
        finally:
            connection.close()
        if answer.status != 200:
            hint = " Redirects are not followed: give the address it leads to." if 300 <= answer.status < 400 else ""
            raise EmbeddingFailed(f"{a.host}:{a.port} answered {answer.status} {answer.reason}.{hint}")
        try:
            rows = sorted(json.loads(said)["data"], key=lambda row: row["index"])
            vectors = [[float(x) for x in row["embedding"]] for row in rows]
        except (ValueError, KeyError, TypeError) as e:
            raise EmbeddingFailed(f"{a.host}:{a.port} answered with something else than embeddings: {e!r}") from e
        if len(vectors) != len(texts):
            raise EmbeddingFailed(f"{a.host}:{a.port} gave {len(vectors)} vectors for {len(texts)} texts.")
        return vectors
