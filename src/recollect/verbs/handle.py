"""What every verb stands on: one user's side of a database, with the gate, the settings and the telemetry it goes by."""

from __future__ import annotations

from .. import checks, jobs, telemetry
from ..errors import StorageError
from ..redact import Gate, patterns_of
from .arguments import safe_id, scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ..config import Settings
    from ..db import Database, Tx
    from ..model import Model
    from ..search.embed import Embedder
    from ..search.vectors import Semantic

    T = TypeVar("T")

EMBED_DELAY_MS = 300
_GEN_AI = {"remember": "create_memory", "revise": "update_memory", "forget": "delete_memory"}
"""What OpenTelemetry's conventions call these verbs."""


class Handle:
    """Reads and writes for one user, and tells the operator of it."""

    _handlers: dict[str, jobs.Handler]
    _worker: jobs.Worker
    """What is done in the background, and by whom: the store says so, for all its handles."""

    def __init__(self, db: Database, user: str, settings: Settings, model: Model | None) -> None:
        self._db = db
        self._settings = settings
        self._gate = gate_of(settings)
        self._user = self._safe_id(user, "user")
        self._model = model
        self._all_on = settings.events and settings.ledger and settings.reasoning_traces
        self._embedder: Embedder | None = None
        self._telemetry = telemetry.OFF
        self._shared: dict[str, Any] = {}
        """What all handles of this store share: the semantic search, loaded when it is first needed."""

    def _read(self, fn: Callable[[Tx], T], **how: bool) -> T:
        return self._do(self._db.read, fn, **how) if self._telemetry.traces else self._run(self._db.read, fn, **how)

    def _write(self, fn: Callable[[Tx], T], **how: bool) -> T:
        return self._do(self._db.write, fn, **how) if self._telemetry.traces else self._run(self._db.write, fn, **how)

    def _run(self, way: Callable[..., Any], fn: Callable[[Tx], T], **how: bool) -> T:
        try:
            result: T = way(self._user, fn, **how)
            return result
        except StorageError as e:
            self._tell("store.error", error=type(e).__name__, backend=self._db.dialect)
            raise

    def _do(self, way: Callable[..., Any], fn: Callable[[Tx], T], **how: bool) -> T:
        """The same in a span, named after the verb it belongs to."""
        verb = getattr(fn, "__qualname__", "other").split(".<locals>")[0].rpartition(".")[2].strip("_")
        with self._telemetry.span(
            f"store.{verb}", db__operation__name=way.__name__, gen_ai__operation__name=_GEN_AI.get(verb),
            db__system__name="postgresql" if self._db.dialect == "postgres" else "sqlite",
        ):  # fmt: skip
            return self._run(way, fn, **how)

    def _note_model(self) -> None:
        """Write down that the model failed, for `stats()` and the doctor; and when it answers again, that it does."""
        fared = getattr(self._model, "fared", "")
        noted = self._shared.setdefault("model", {})
        if fared == "" or noted.get(self._user, "") == fared:
            return
        if fared is None:
            self._write(lambda tx: jobs.take_back(tx, "model", "answers"))
        else:
            told = f"the model raised {fared} when it was asked; summaries and memories were made without it"
            self._write(lambda tx: jobs.give_up(tx, "model", "answers", told))
        noted[self._user] = fared

    def _tell(self, event: str, **fields: Any) -> None:
        """Tell the operator, after the fact: numbers and ids, never content."""
        if self._telemetry.on:
            self._telemetry.emit(event, self._user, **fields)

    # -- what may be written, and how

    def _safe_id(self, value: str, what: str) -> str:
        return safe_id(value, what, self._gate)

    def _title(self, value: str) -> str:
        return checks.title(value, self._gate)

    def _workspace(self, value: str) -> str:
        """A workspace as it is stored and looked for: the same secret becomes the same marker on both ways."""
        return self._gate.text(scope(value, "workspace"))

    # -- what has a meaning besides its words

    def _embeds(self) -> bool:
        """Whether what is written will be embedded in this process or another that has the means."""
        if not self._settings.semantic:
            return False
        if self._embedder is not None:
            return True
        if "installed" not in self._shared:
            from ..search.embed import is_installed

            self._shared["installed"] = is_installed()
        return bool(self._shared["installed"])

    def _semantic(self) -> Semantic | None:
        if not self._embeds():
            return None
        if "semantic" not in self._shared:
            from ..search.embed import WordLlama
            from ..search.vectors import Semantic

            self._shared["semantic"] = Semantic(self._embedder or WordLlama(), self._db.dialect)
        semantic: Semantic = self._shared["semantic"]
        return semantic

    def _remembering(self, fn: Callable[[Tx], T]) -> T:
        """Write what can be found from now on, and have it embedded."""
        embeds = self._embeds()

        def write(tx: Tx) -> T:
            if embeds:
                jobs.enqueue(tx, "embed", "all", delay_ms=EMBED_DELAY_MS)
            return fn(tx)

        write.__qualname__ = getattr(fn, "__qualname__", "other")
        done = self._write(write)
        if embeds and self._settings.background:
            self._worker.wake(self._user, EMBED_DELAY_MS)
        return done


def gate_of(settings: Settings) -> Gate:
    most = settings.max_event_bytes
    gate = Gate(settings.redact, settings.redact_off, settings.redact_allow, patterns_of(settings), most)
    if settings.redact_off or settings.redact_patterns:
        gate.policy()  # a misspelt family or pattern is told now, not at the first secret
    return gate
