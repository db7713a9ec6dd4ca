"""Search: what answers a question, and the best of it as context for a prompt."""

from __future__ import annotations

import threading
import time
from functools import partial

from .. import checks, ids, jobs, telemetry
from ..errors import InvalidInput, RecollectError, StorageError
from ..model import KINDS, MEMORY_KINDS
from .arguments import conversation_id, several
from .log import LogVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..db import Tx
    from ..model import Context, Hit
    from ..search.vectors import Semantic
    from .arguments import BranchLike, ConversationLike

USES_MOST = 50
_USES = threading.Lock()


class SearchVerbs(LogVerbs):
    # -- memories and search

    def recall(
        self,
        q: str,
        *,
        kinds: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        min_importance: float | None = None,
        since: int | None = None,
        conversation: ConversationLike | None = None,
        branch: BranchLike = None,
        workspace: str | None = None,
        limit: int = 10,
    ) -> list[Hit]:
        """The memories that answer a question, best first; the filters are inside the search. From a `conversation`, its
        own and the user's are seen, as its active branch has them, or `branch`."""
        return self._recalled(
            q, kinds=kinds, tags=tags, since=since, min_importance=min_importance, conversation=conversation,
            branch=branch, workspace=workspace, limit=limit,
        )  # fmt: skip

    def _recalled(
        self,
        q: str,
        *,
        kinds: Sequence[str] | None,
        tags: Sequence[str] | None,
        limit: int,
        conversation: ConversationLike | None = None,
        shown: slice = slice(None),
        **scope: Any,
    ) -> list[Hit]:
        """`recall` for a door that shows a page of the hits: those count as recalled."""
        hits = self._search(
            q, types="memories", kinds=several(kinds, "kinds"), tags=several(tags, "tags"), conversation=conversation,
            limit=limit, **scope,
        )  # fmt: skip
        self._used(hits[shown])
        return hits

    def search(
        self,
        q: str,
        *,
        workspace: str | None = None,
        workspaces: Sequence[str] | None = None,
        conversation: ConversationLike | None = None,
        branch: BranchLike = None,
        kinds: Sequence[str] | None = None,
        types: str | None = None,
        tool: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 20,
        explain: bool = False,
    ) -> list[Hit]:
        """Events and memories that answer a question, best first. Any text is a safe query. `types` is "events" or
        "memories"; of a `tool` there are events alone; `workspaces` widens a search beyond its own `workspace`, and only then
        does nearness rank. Each hit's `parts` say what its score is made of (with `explain`, rounded for reading)."""
        if types not in (None, "events", "memories"):
            raise InvalidInput(f"types={types!r}: choose 'events' or 'memories', or leave it out for both.")
        if tool is not None:
            if types == "memories":
                raise InvalidInput("tool= is of events; leave types= out, or ask without it.")
            types = "events"
        hits = self._search(
            q, types=types, kinds=several(kinds, "kinds"), tool=tool, since=since, until=until, limit=limit,
            conversation=conversation, workspace=workspace, workspaces=several(workspaces, "workspaces"), branch=branch,
        )  # fmt: skip
        if explain:
            from dataclasses import replace

            return [replace(h, parts={k: round(v, 4) for k, v in h.parts.items()}) for h in hits]
        return hits

    def _search(self, question: str, *, limit: int, conversation: ConversationLike | None, **scope: Any) -> list[Hit]:
        from ..search import find

        if not checks.text(question, "question").strip():
            raise InvalidInput("The question is empty.")
        for name in ("workspace", "tool"):
            if scope.get(name) is not None:
                scope[name] = self._gate.text(checks.text(scope[name], name))
        for name in ("workspaces", "tags"):
            if scope.get(name) is not None:
                scope[name] = tuple(map(self._gate.text, scope[name]))
        least = scope.get("min_importance")
        if least is not None and (isinstance(least, bool) or not isinstance(least, (int, float))):
            raise InvalidInput(f"min_importance must be a number, not {least!r}.")
        known = {"memories": MEMORY_KINDS, "events": KINDS}.get(scope.get("types") or "", (*KINDS, *MEMORY_KINDS))
        for kind in scope.get("kinds") or ():
            if kind not in known:
                raise InvalidInput(f"There is no kind {kind!r} here. The kinds are: {', '.join(known)}.")
        for name in ("since", "until"):
            if scope.get(name) is not None:
                checks.count(scope[name], name)
        request = find.Request(
            question, limit=checks.count(limit, "limit"), now=ids.now(),
            conversation=None if conversation is None else conversation_id(conversation),
            outside=self._settings.index_outside_workspace, **scope,
        )  # fmt: skip
        semantic = self._semantic()
        started = time.perf_counter()
        looks_at_memories = scope.get("types") != "events"
        with self._telemetry.span(
            "chat.memory.search" if looks_at_memories else "chat.history.search", self._user, thread_id=request.conversation,
            gen_ai__operation__name="search_memory" if looks_at_memories else "retrieval",
            recollect__top_k=request.limit,
        ) as span:  # fmt: skip
            with self._worker.questions:
                hits = find.search(self._db, self._user, request, semantic)
            span.set(gen_ai__memory__record__count=sum(h.type == "memory" for h in hits))
        self._tell(
            "chat.memory_searched" if looks_at_memories else "chat.history_searched",
            thread_id=request.conversation or scope.get("near"), top_k=request.limit, count=len(hits),
            latency_ms=telemetry.since(started),
        )  # fmt: skip
        if semantic is not None and semantic.is_behind:
            self._embed_anew(semantic)
        return hits

    def context(
        self,
        prompt: str,
        *,
        workspace: str | None = None,
        conversation: ConversationLike | None = None,
        budget: int = 800,
        sensitive: bool | None = None,
        max_memories: int | None = None,
        max_excerpts: int | None = None,
        count: Callable[[str], int] | None = None,
        why: bool = False,
    ) -> Context:
        """The best evidence for a prompt within a token budget, quoted and fenced as data, for a message of its own. With a
        `conversation`, its workspace is the scope unless `workspace` says otherwise, what its live window shows anyway is
        left out, and it may be switched off there (`create(metadata={"context": False})`). What had a secret in it stays
        out, unless `sensitive`, or the setting `context_sensitive` where that is None. `count` is your tokenizer; without one, tokens are estimated. With `why`, each item says why it
        is there. A `budget` of 0 is none: nothing is looked for, and an empty prompt asks for nothing."""
        from .. import context

        s = self._settings
        budget = checks.count(budget, "budget")
        most = [s.context_memories, s.context_excerpts]
        for i, given in enumerate((max_memories, max_excerpts)):
            if given is not None:
                most[i] = checks.count(given, ("max_memories", "max_excerpts")[i])
        sensitive = s.context_sensitive if sensitive is None else sensitive
        started = time.perf_counter()
        here = None if conversation is None else self.get(conversation)
        if isinstance(prompt, str) and not prompt.strip():
            return context.NOTHING
        if budget == 0 or not s.context or (here is not None and here.metadata.get("context") is False):
            return context.NOTHING
        near = None if here is None else here.id
        if workspace is None and here is not None:
            workspace = here.workspace
        hits = self._search(
            prompt, limit=100, conversation=None, workspace=workspace, near=near, shown=context.LONGEST, evidence=True
        )  # fmt: skip
        if here is not None and any(h.conversation_id == here.id for h in hits):
            shown = {m.seq for m in self.messages(here, limit=None)}
            if here.origin == "hook":  # a coding agent has its tools and their results in sight as well
                shown.update(h.seq for h in hits if h.seq is not None and h.seq > min(shown, default=0))
            hits = [h for h in hits if h.conversation_id != here.id or h.seq not in shown]
        made = context.build(
            hits, budget=budget, max_memories=most[0], max_excerpts=most[1],
            sensitive=sensitive, count=count or context.estimate, why=why,
        )  # fmt: skip
        self._used(item.hit for item in made.items)
        self._tell(
            "chat.context_built",
            thread_id=near,
            items=len(made.items),
            tokens=made.tokens,
            latency_ms=telemetry.since(started),
        )
        return made

    def _used(self, hits: Iterable[Hit]) -> None:
        """Count what was recalled, later: a read does not wait for a write."""
        with _USES:
            counts: dict[str, int] = self._shared.setdefault("uses", {}).setdefault(self._user, {})
            for hit in hits:
                if hit.type == "memory":
                    counts[hit.id] = counts.get(hit.id, 0) + 1
            many = len(counts) >= USES_MOST
        if many and self._settings.background:
            self._worker.wake(self._user)

    def _note_uses(self) -> None:
        """Write down how often memories were recalled: in the background, when settling, and when closing."""
        with _USES:
            waiting: dict[str, dict[str, int]] = self._shared.get("uses", {})
            taken = {user: waiting.pop(user) for user in list(waiting) if waiting[user]}
        if not taken:
            return  # and nothing is loaded for it
        from .. import memories

        for user, counts in taken.items():
            try:
                self._db.write(user, partial(memories.used, counts=counts, at=ids.now()))
            except RecollectError:
                return  # a count is not worth an error: a full disk, a closed store

    def _embed_anew(self, semantic: Semantic) -> None:
        """A search met vectors of another model, or none: have them made, in the background."""

        def write(tx: Tx) -> int:
            if semantic.lacks(tx.user):
                jobs.enqueue(tx, "embed", "all")
            return tx.user

        try:
            semantic.was_asked(self._write(write))
        except StorageError:
            return  # a full disk or a busy file must not keep anyone from searching: the next search asks again
        if self._settings.background:
            self._worker.wake(self._user)
