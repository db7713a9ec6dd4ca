"""Memory as tools of an agent. Their schemas are fixed, and none of them says whose memory is meant.

Whose, in which conversation and on which branch comes from the run's config (`user_id`, `thread_id`, `branch`), which the
application writes and the model never sees. What the tools give back is quoted and fenced as evidence, so that it is not
learned a second time. What a model wants remembered becomes a memory at once only if the person has just said so; anything
else waits in quarantine, because a model repeats what a web page told it to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from ..context import CLOSING, OPENING, day, quotation
from ..errors import InvalidInput, NotFound, RecollectError
from ..model import Conversation, Hit
from ..respond import found
from ..store import Store
from .whose import user_of

__all__ = ["TOOLS", "memory_tools"]

TOOLS = ("MemorySearch", "recall_memories", "remember", "forget_memory")
READ_ONLY = ("MemorySearch",)
NOT = frozenset("not no never nor neither without cannot dont doesnt didnt isnt".split())
FORGET = frozenset("forget delete remove erase drop discard".split())
RECENT = 6
"""How many of the newest messages are looked at for the person's own words."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Search(_Arguments):
    """Look something up in what this person said before, and in what is remembered of it."""

    query: str = Field(description="What to look for, in plain words", min_length=1, max_length=2000)
    top_k: int = Field(5, description="How many results at most", ge=1, le=20)
    type: Literal["facts", "records"] | None = Field(
        None, description="'facts' for remembered statements, 'records' for what was said; leave out for both"
    )


class Recall(_Arguments):
    """List remembered statements that answer a question, each with the id that forget_memory takes."""

    query: str = Field(description="What to recall, in plain words", min_length=1, max_length=2000)
    limit: int = Field(5, description="How many at most", ge=1, le=20)


class Remember(_Arguments):
    """Keep a short statement about the person beyond this conversation. Only for what they said themselves."""

    content: str = Field(
        description="One short statement in the third person: 'Prefers dark mode'", min_length=1, max_length=400
    )
    kind: Literal["fact", "preference", "todo", "project_state"] = Field("fact", description="What sort of statement")


class Forget(_Arguments):
    """Forget one remembered statement, because the person asked for it."""

    memory_id: str = Field(
        description="The id that recall_memories gave, in its brackets", min_length=1, max_length=128
    )


class Scope:
    """Whose memory a run means, by its config. `Scope(store, config)`."""

    def __init__(self, store: Store, config: RunnableConfig | Mapping[str, Any] | None) -> None:
        given = (config or {}).get("configurable") or {}
        user = user_of(given)
        self.store = store if user in (None, store.user) else store.for_user(str(user))
        self.thread = None if given.get("thread_id") is None else str(given["thread_id"])
        self.branch: str | None = given.get("branch") or None
        self.injects = given.get("inject") is not False

    @property
    def here(self) -> Conversation | None:
        """The conversation, if it is there already."""
        try:
            return None if self.thread is None else self.store.get(self.thread)
        except NotFound:
            return None

    def said(self) -> list[tuple[str, str]]:
        """(event id, text) of what the person said last, newest first."""
        if self.here is None or self.thread is None:
            return []
        try:
            recent = self.store.messages(self.thread, limit=RECENT, branch=self.branch)
        except NotFound:  # a branch that is about to be made
            return []
        return [(e.id, e.text) for e in reversed(recent) if e.role == "user" and e.kind == "message"]


def memory_tools(store: Store, names: Sequence[str] = TOOLS) -> list[BaseTool]:
    """The tools, for `ToolNode`, `create_agent` or `bind_tools`. `MemorySearch` alone only reads what was said and kept."""
    made: dict[str, tuple[Callable[..., str], type[BaseModel]]] = {
        "MemorySearch": (_search(store), Search),
        "recall_memories": (_recall(store), Recall),
        "remember": (_remember(store), Remember),
        "forget_memory": (_forget(store), Forget),
    }
    unknown = [name for name in names if name not in made]
    if unknown:
        raise InvalidInput(f"There is no tool {unknown[0]!r}. The tools are: {', '.join(TOOLS)}.")
    return [
        StructuredTool.from_function(
            func=_safe(made[name][0]), name=name, description=str(made[name][1].__doc__), args_schema=made[name][1]
        )
        for name in names
    ]


def _safe(func: Callable[..., str]) -> Callable[..., str]:
    """What goes wrong is told to the model in words: an agent goes on without its memory."""

    def call(config: RunnableConfig, **arguments: Any) -> str:
        try:
            return func(config, **arguments)
        except RecollectError as e:
            return f"That did not work: {e}"

    return call


def _fenced(lines: Sequence[str]) -> str:
    return "\n".join([OPENING, *lines, CLOSING]) if lines else "Nothing was found."


def _may_be_handed_out(hit: Hit, store: Store) -> bool:
    return store.settings.context_sensitive or not hit.sensitive


def _search(store: Store) -> Callable[..., str]:
    def search(config: RunnableConfig, query: str, top_k: int = 5, type: str | None = None) -> str:
        scope = Scope(store, config)
        said = {id for id, _ in scope.said()[:1]}
        types = {"facts": ("memories",), "records": ("events",)}.get(type or "", ("events", "memories"))
        hits = found(scope.store, query, scope.here, scope.branch, types)
        useful = [h for h in hits if h.id not in said and _may_be_handed_out(h, store)]
        return _fenced([_quoted(h) for h in useful[:top_k]])

    return search


def _quoted(hit: Hit) -> str:
    return quotation(hit) if hit.type == "memory" else f"> {day(hit.created_at)}, {quotation(hit).partition('] ')[2]}"


def _recall(store: Store) -> Callable[..., str]:
    def recall(config: RunnableConfig, query: str, limit: int = 5) -> str:
        scope = Scope(store, config)
        here = scope.here
        hits = scope.store.recall(
            query, conversation=here, branch=scope.branch if here is not None else None,
            workspace=None if here is None else here.workspace, limit=limit,
        )  # fmt: skip
        return _fenced([f"- [{h.id}] {quotation(h).removeprefix('- ')}" for h in hits if _may_be_handed_out(h, store)])

    return recall


def _remember(store: Store) -> Callable[..., str]:
    def remember(config: RunnableConfig, content: str, kind: str = "fact") -> str:
        from ..extract import danger

        if (why := store._why_not(content)) is not None:
            return why
        scope = Scope(store, config)
        source = None
        if danger.reason(content) is None:
            source = next((id for id, said in scope.said() if _is_said(content, said)), None)
        kept = scope.store.remember(
            content, kind=kind, importance=0.7, tags=("tool",), source=source,
            role="user" if source is not None else "assistant",
        )  # fmt: skip
        if kept.state == "quarantined":
            return f"Kept for the person to look at first: they have not said so in so many words. [{kept.id}]"
        return f"Remembered. [{kept.id}]"

    return remember


def _is_said(content: str, text: str) -> bool:
    """Whether a person says it in a message: in their own voice, and neither asked nor denied. What they paste is not theirs."""
    from ..extract.asking import is_grounded
    from ..extract.frames import content_words
    from ..extract.prose import sentences

    own = [s.text for s in sentences(text) if s.mark != "?" and not s.scene]
    meant = content_words(content)
    about = [s for s in own if meant & content_words(s)]
    return is_grounded(content, " ".join(own)) and all(_denies(s) == _denies(content) for s in about)


def _denies(text: str) -> bool:
    return any(w in NOT or w.endswith("n't") for w in text.replace("’", "'").casefold().split())


def _forget(store: Store) -> Callable[..., str]:
    def forget(config: RunnableConfig, memory_id: str) -> str:
        scope = Scope(store, config)
        id = memory_id.strip().strip("[]")
        # What a person wrote or pinned goes only when they have just asked for it: a model does what a web page tells it.
        scope.store.forget(id, role="user" if _is_asked(scope, id) else "assistant")
        return "Forgotten. The person can undo it."

    def _is_asked(scope: Scope, id: str) -> bool:
        from ..extract.frames import content_words
        from ..extract.prose import sentences

        held = content_words(scope.store.memory_history(id)[-1].after.content)
        asked = [s.text for _, said in scope.said()[:1] for s in sentences(said) if not s.scene]
        return any(FORGET & set(s.casefold().split()) and held & content_words(s) for s in asked)

    return forget
