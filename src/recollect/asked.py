"""A language model, whatever it was passed as, as one that is asked with a prompt and answers with a text.

`recollect.open(model=...)` takes a callable (also an `async` one), a chat model of LangChain's, or a client of the OpenAI
library, whose model the setting `chat_model` names. Anything else is refused where it is passed: found out only when the
model is asked, it would mean that summaries are made without it and nobody knows.

`Watched` remembers that a model failed, so that `stats()` and the doctor can say so.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Iterator
from typing import Any

from . import hosts
from .errors import HostNotAllowed, InvalidInput

REST_SECONDS = 60.0
"""For how long a model that did not answer in time is not asked for memories."""
ACCEPTED = (
    "model= takes a function from prompt to text (`async` too), a chat model of LangChain's, a client of the OpenAI library "
    "(`OpenAI`, `AsyncOpenAI`; the setting chat_model names the model), or recollect.langgraph.text_model('provider:model')."
)


def adapt(model: Any, settings: Any) -> Watched | None:
    """The model as `Store` uses it; InvalidInput says what is accepted."""
    if model is None or isinstance(model, Watched):
        return model
    if isinstance(model, str):
        raise InvalidInput(f"model={model[:80]!r} is a name. {ACCEPTED}")
    if isinstance(model, type):
        raise InvalidInput(f"model={model.__name__} is a class; pass an instance of it. {ACCEPTED}")
    if is_openai(model):
        return Watched(_of_client(model, settings))
    if callable(model):
        try:
            inspect.signature(model).bind("prompt")
        except TypeError as e:
            raise InvalidInput(f"model= is called with the prompt and nothing else: {e}. {ACCEPTED}") from e
        except ValueError:
            pass  # a function written in C says nothing of its arguments
        return Watched(model)
    if callable(getattr(model, "invoke", None)):
        admit(model, settings)
        return Watched(_Invoked(model))
    raise InvalidInput(f"{type(model).__name__} is no model. {ACCEPTED}")


def is_openai(model: Any) -> bool:
    """Whether it is a client of the OpenAI library, or made like one."""
    try:
        return callable(model.chat.completions.create)
    except AttributeError:
        return False


class _Invoked:
    """A chat model of LangChain's."""

    def __init__(self, model: Any) -> None:
        self._model = model
        if hasattr(model, "with_structured_output"):
            self.with_structured_output = model.with_structured_output

    def __call__(self, prompt: str) -> str:
        said = self._model.invoke(prompt)
        text = getattr(said, "text", said)
        return str(text() if inspect.ismethod(text) else text)


def _of_client(client: Any, settings: Any) -> Any:
    name = (settings.chat_model or "").strip().removeprefix("openai:")
    if not name:
        raise InvalidInput(
            f"{type(client).__name__} does not say which model it is for: name it, open(..., model=client, chat_model='...')."
        )
    hosts.check(str(client.base_url), settings)

    def ask(prompt: str) -> Any:
        said = client.chat.completions.create(model=name, messages=[{"role": "user", "content": prompt}])
        return _content_of_waited(said) if inspect.isawaitable(said) else _content(said)

    return ask


def _content(said: Any) -> str:
    return said.choices[0].message.content or ""


async def _content_of_waited(said: Any) -> str:
    return _content(await said)


# -- where it may go

_ADDRESSES = (
    "base_url", "openai_api_base", "api_base", "url", "api_url", "endpoint", "endpoint_url", "azure_endpoint",
    "anthropic_api_url", "groq_api_base", "mistral_api_base", "host",
)  # fmt: skip
_CLIENTS = ("root_client", "_client", "client", "http_client")
_KEYS = ("api_key", "api_token", "access_token")


def admit(model: Any, settings: Any, *, url: str | None = None) -> Any:
    """The model, if it may be asked; else HostNotAllowed. `url` says where it goes, for one that does not say itself."""
    places = [url] if url is not None else list(addresses(model))
    for address in places:
        hosts.admit(hosts.parse(address), settings.allow_hosts)
    if not places and (_has_key(model) or _is_foreign(model)):
        raise HostNotAllowed(
            f"{type(model).__name__} does not say which server it asks. Say url=... and name its host in allow_hosts; for "
            "a model that runs in this process, url='http://localhost'."
        )
    return model


def addresses(model: Any) -> Iterator[str]:
    """What the parts of a model name as the address of a server."""
    clients = [getattr(model, name, None) for name in _CLIENTS]
    for owner in (model, *clients, *(getattr(client, "_client", None) for client in clients)):
        for name in _ADDRESSES:
            said = getattr(owner, name, None)
            if said is not None and "://" in str(said):
                yield str(said).partition("?")[0].partition("#")[0]


def _is_foreign(model: Any) -> bool:
    """Whether it is of a provider's package: those ask a server unless they say otherwise."""
    package = type(model).__module__.partition(".")[0]
    return package.startswith("langchain_") and package not in ("langchain_core", "langchain_tests")


def _has_key(model: Any) -> bool:
    names = {*dir(type(model)), *getattr(model, "__dict__", {})}
    return any(getattr(model, name, None) for name in names if name.endswith(_KEYS) and not name.startswith("__"))


class Watched:
    """A model, and how it fared when it was asked last."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.fared: str | None = ""
        """The kind of error that it raised last; None when it answered, empty when it was not asked."""
        self._was_late: float | None = None

    def rest(self) -> None:
        """It did not answer in time: each of the next turns would wait as long."""
        self._was_late = time.monotonic()

    @property
    def rests(self) -> bool:
        return self._was_late is not None and time.monotonic() - self._was_late < REST_SECONDS

    def __call__(self, prompt: str) -> Any:
        return self._watch(self._model, prompt)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._model, name)
        if name == "with_structured_output":
            return lambda *a, **k: _Part(self, found(*a, **k))
        return _Part(self, found).ask if name == "invoke" else found

    def _watch(self, ask: Any, prompt: Any) -> Any:
        try:
            said = ask(prompt)
            if inspect.isawaitable(said):
                said = waited(said)
        except Exception as e:
            self.fared = type(e).__name__
            raise
        self.fared = None
        return said


class _Part:
    """A way to ask a model that is watched: `with_structured_output` makes another."""

    def __init__(self, watched: Watched, model: Any) -> None:
        self._watched, self._model = watched, model

    def ask(self, prompt: Any) -> Any:
        return self._watched._watch(self._model, prompt)

    def invoke(self, prompt: Any) -> Any:
        return self._watched._watch(self._model.invoke, prompt)


# -- what is awaited

_lock = threading.Lock()
_loop: Any = None


def waited(coroutine: Any) -> Any:
    """What a coroutine gives back. All run in one loop, in a thread of its own: a client keeps its connections from one
    question to the next, and those belong to a loop."""
    import asyncio

    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="recollect-async-model", daemon=True).start()

    async def wait() -> Any:
        return await coroutine

    return asyncio.run_coroutine_threadsafe(wait(), _loop).result()
