"""Who answers in `recollect chat`, and one answer in the making.

An answer is made in a thread of its own while the main one shows it, so that Ctrl-C is heard at any moment, even while a model
is silent: the model is stopped at its next word.
"""

import importlib.util
import queue
import threading
from collections.abc import Iterator
from typing import Any

from . import output
from .session import Session

STOP_SECONDS = 2.0
"""How long a model may take to notice that it was stopped before the prompt comes back without it."""
NO_MODEL = "none"
STOPPED = "The answer was stopped."


class Agent:
    """Who answers: loaded while the first message is being typed, because LangGraph takes a second to come. A model that was
    named is waited for: whether it can be had is known before anything is said."""

    def __init__(self, s: Session, model: str | None, url: str | None) -> None:
        self._s = s
        self._given = (model, url)
        self._graph: Any = None
        self._away: str | None = None
        self._error: BaseException | None = None
        s.store  # noqa: B018 - opened here, in the main thread
        self._loading = threading.Thread(target=self._load, name="recollect-agent", daemon=True)
        self._loading.start()

    @property
    def model(self) -> str | None:
        """Its name; None for the one that answers from memory."""
        named = self._given[0] or self._s.settings.chat_model
        return None if named is None or named.strip().casefold() == NO_MODEL else named

    @property
    def name(self) -> str:
        return self.model or "from memory alone (no model is set up: --model, or the setting chat_model)"

    def _load(self) -> None:
        try:
            from ..langgraph import OfflineModel, chat_graph, chat_model, default_model
            from ..langgraph.models import away

            store, (model, url) = self._s.store, self._given
            if self.model is None:
                found: Any = OfflineModel(store=store)
            else:
                found = default_model(store, url=url) if model is None else chat_model(model, store.settings, url=url)
            self._away = away(found)
            self._graph = chat_graph(found, store=store)
        except BaseException as e:
            self._error = e

    def check(self) -> None:
        """End here if there is nobody to talk to. A server that is away may come: what is said until then is kept."""
        if self.model is None and importlib.util.find_spec("langgraph") is not None:
            return
        self.graph  # noqa: B018 - waited for
        if self._away is not None:
            output.warn(
                f"nobody answers at {self._away}, where {self.model} is asked. Start its server; until then what you say is "
                "kept and not answered."
            )

    @property
    def graph(self) -> Any:
        while self._loading.is_alive():
            self._loading.join(0.1)  # a bare join would not hear Ctrl-C on every system
        if self._error is not None:
            raise self._error
        return self._graph


class Stopped(BaseException):
    """Somebody pressed Ctrl-C during an answer. No `Exception`: nothing failed, so nothing on the way is to note a failure."""


class Answer:
    """One answer in the making: its pieces, and a way to stop it."""

    def __init__(self, graph: Any, conversation: str, text: str, *, inject: bool, branch: str | None) -> None:
        self._pieces: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._made = graph.with_config({"callbacks": [_stopper(self._stop)]})
        self._asked: dict[str, Any] = {"inject": inject, "branch": branch}
        self._thread = threading.Thread(
            target=self._make, args=(conversation, text), name="recollect-answer", daemon=True
        )
        self._thread.start()

    def _make(self, conversation: str, text: str) -> None:
        from ..langgraph import ask

        try:
            for piece in ask(self._made, conversation, text, **self._asked):
                self._pieces.put(piece)
        except BaseException as e:
            self._pieces.put(e)
        finally:
            self._pieces.put(None)

    def __iter__(self) -> Iterator[str]:
        while True:
            try:
                piece = self._pieces.get(timeout=0.25)
            except queue.Empty:
                continue
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> bool:
        """Have no more of it. True when that is done; a silent model is stopped when it says its next word."""
        self._stop.set()
        self._thread.join(STOP_SECONDS)
        return not self.is_alive


def _stopper(stop: threading.Event) -> Any:
    """What LangChain calls at every word of a model, in the thread that the model runs in."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Stopper(BaseCallbackHandler):
        raise_error = True
        run_inline = True

        def _look(self, *args: Any, **kwargs: Any) -> None:
            if stop.is_set():
                raise Stopped(STOPPED)

        on_llm_new_token = on_llm_end = on_chat_model_start = on_tool_start = _look

    return Stopper()
