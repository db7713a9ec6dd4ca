"""Language models by name, and where they may go.

`chat_model("ollama:llama3.2", settings)` is LangChain's `init_chat_model`, with one thing added: a model that would be asked
on another machine is refused unless the setting `allow_hosts` names that host. What a model's own library does by itself
cannot be seen from here; where its object names an address that must be allowed, and one that holds a key and names none is
refused.
"""

from __future__ import annotations

import functools
import os
import re
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, get_buffer_string
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

from .. import hosts
from ..asked import adapt, addresses, admit
from ..errors import InvalidInput, Refused
from .messages import text_of

if TYPE_CHECKING:
    from ..config import Settings

__all__ = ["TextModel", "admit", "chat_model", "text_model"]

TIMEOUT = 60.0
CONNECT_SECONDS = 3.0


def chat_model(
    name: str, settings: Settings, *, url: str | None = None, timeout: float = TIMEOUT, **kwargs: Any
) -> BaseChatModel:
    """A LangChain chat model by its name, `provider:model`. `url` is where it is asked (`http://localhost:11434`); further
    keywords are the provider's own. A host that is neither this machine nor in `allow_hosts` is HostNotAllowed."""
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("A model is named `provider:model`, for example `ollama:llama3.2`.")
    if url is None and name.startswith("ollama:"):
        url = _ollama()
    if url is not None:
        hosts.check(url, settings)  # before anything of the provider's runs
        kwargs["base_url"] = url
        if name.startswith("openai:") and hosts.parse(url).is_here:
            kwargs.setdefault("api_key", "none")  # a server on this machine wants none, the library wants one
        if name.startswith("openai:"):
            _go_straight(kwargs)
    kwargs.setdefault("timeout", timeout)
    kwargs.setdefault("max_retries", 1)
    if name.startswith("ollama:"):  # takes its time limit where its HTTP client is made
        kwargs.pop("max_retries")
        kwargs["client_kwargs"] = {"timeout": kwargs.pop("timeout"), **kwargs.get("client_kwargs", {})}
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as e:
        also = "" if name.startswith("openai:") else f"; {_package(name)} as well, if it is not there"
        raise Refused(
            f"A model by name needs the extra `agent`: pip install '.[agent]' in Recollect's own folder{also}."
        ) from e
    try:
        made: BaseChatModel = init_chat_model(name, **kwargs)
    except ImportError as e:  # LangChain knows its name: not every package is called as its provider is
        told = re.search(r"pip install ([\w.\[\]-]+)", str(e))
        package = told[1] if told else _package(name)
        raise Refused(f"The model {name!r} needs {package}, which is not installed here: pip install {package}") from e
    except Exception as e:  # each provider has errors of its own: an unknown name, a key that is missing
        why = (str(e) or type(e).__name__).splitlines()[0][:300]
        if "infer model provider" in why:  # it goes on with an argument that nobody can give here
            why = "LangChain knows no such provider. A model is named `provider:model`, for example `ollama:llama3.2`."
        raise InvalidInput(f"The model {name!r} cannot be used: {why}") from e
    admit(made, settings)
    return made


def _package(name: str) -> str:
    """What LangChain's package for a provider is called, as a rule."""
    provider = name.partition(":")[0] if ":" in name else ""
    return f"langchain-{provider.replace('_', '-')}" if provider.isidentifier() else "its provider's package"


def _ollama() -> str:
    """Where Ollama would be asked by itself: said here, so that it is checked."""
    host = os.environ.get("OLLAMA_HOST", "").strip() or "127.0.0.1:11434"
    host = host if "://" in host else f"http://{host}"
    return host.replace("//0.0.0.0", "//127.0.0.1")


def _go_straight(kwargs: dict[str, Any]) -> None:
    """What is sent goes to the address that was checked and nowhere else: no proxy of the environment is asked, and no
    redirect followed."""
    try:
        sync, asynchronous = _clients()
    except ImportError:
        return  # LangChain will say what is missing
    kwargs.setdefault("http_client", sync)
    kwargs.setdefault("http_async_client", asynchronous)


@functools.cache
def _clients() -> tuple[Any, Any]:
    """One for all models of the process, as LangChain has it: a model that is thrown away closes no connections."""
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

    straight: dict[str, Any] = {"trust_env": False, "follow_redirects": False}
    return DefaultHttpxClient(**straight), DefaultAsyncHttpxClient(**straight)


def away(model: Any) -> str | None:
    """The address of a model's server if nobody listens there. Nothing is sent; where a proxy is asked instead, nobody can say."""
    for url in dict.fromkeys(addresses(model)):
        address = hosts.parse(url)
        if not address.is_here and getproxies():
            continue
        try:
            socket.create_connection((address.host, address.port), CONNECT_SECONDS).close()
        except OSError:
            return str(address)
    return None


class Unavailable(BaseChatModel):
    """Stands where a model cannot be had and fails when it is asked, with the reason: so a person's words are kept as they
    are when a model fails, and can be answered once it can be had."""

    why: Any
    """The error that making it raised."""

    @property
    def _llm_type(self) -> str:
        return "unavailable"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise self.why

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """The graph has the same nodes as with the model itself, which is to go on in it."""
        return self


class TextModel:
    """A chat model as `recollect.open(model=...)` takes one: a callable from prompt to text, for summaries. Extraction of
    memories asks it for structured output."""

    def __init__(self, model: BaseChatModel) -> None:
        self.model = model
        self.model_name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or model.get_name())

    def __call__(self, prompt: str) -> str:
        said = self.model.invoke(prompt)
        return text_of(said) if isinstance(said, BaseMessage) else str(said)

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        """See LangChain's chat models."""
        return self.model.with_structured_output(schema, **kwargs)


class Asked(BaseChatModel):
    """Whatever `recollect.open(model=...)` takes, as a chat model: it is asked with the messages as one text, and knows no
    tools."""

    ask: Any

    @property
    def _llm_type(self) -> str:
        return "recollect-asked"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        said = AIMessage(str(self.ask(get_buffer_string(messages))))
        return ChatResult(generations=[ChatGeneration(message=said)])


def as_chat_model(model: Any, settings: Settings, url: str | None = None) -> Any:
    """What `chat_graph(model=...)` takes, as LangChain has it; InvalidInput says what is accepted."""
    if isinstance(model, str):
        return chat_model(model, settings, url=url)
    if isinstance(model, Runnable):
        return admit(model, settings, url=url)
    return Asked(ask=adapt(model, settings))


def text_model(model: str | BaseChatModel, settings: Settings | None = None, **kwargs: Any) -> TextModel:
    """A chat model, or its name, for `recollect.open(model=...)`: it writes the summaries, and helps to find memories."""
    if settings is None:
        from ..config import Settings as Loaded

        settings = Loaded.load()
    if isinstance(model, str):
        return TextModel(chat_model(model, settings, **kwargs))
    return TextModel(admit(model, settings))
