"""LangGraph's store over our tables: items under namespaces, found by words and meaning, and memories among them.

One class for sync and async code and for both databases. It translates: LangGraph's operations come in, `items` and
`search.texts` do the work, LangGraph's items go out. Everything that is stored passes the redaction gate first.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from .. import checks, erased, ids, items, jobs, mirror, telemetry
from ..aio import AsyncStore, sync_of
from ..config import Settings
from ..db.cipher import hide
from ..errors import InvalidInput, SettingsError
from ..filters import Judge
from ..search.fusion import Doc
from ..search.texts import Found, Texts
from ..store import Store
from .gathered import Gathered
from .whose import user_of

if TYPE_CHECKING:
    from ..db import Tx
    from ..model import Memory

    _Asked = tuple[list[Op], dict[tuple[tuple[str, ...], str], "_Write"], "_Asker"]
    """Operations of one call, by namespace and key what is to be written of them, and who asks."""

T = TypeVar("T")

__all__ = ["MemoryStore"]

DEFAULT_FIELDS = ("content",)
_RUN = ("user_id", "thread_id", "checkpoint_ns", "checkpoint_id", "run_id")
_META = ("langgraph_node", "langgraph_step", "run_id")


class MemoryStore(BaseStore):
    """A `BaseStore` for `builder.compile(store=...)`.

    `store` is an open `recollect.Store`, or what `recollect.open` takes: then it is opened here, and closed by `close`.
    `index` is LangGraph's: `embed` (a model or a function), `dims`, `fields`. Without one, the field `content` is found by
    words, and by meaning where the extra `semantic` is installed. `ttl` is LangGraph's too: with one, expired items
    are seen until they are swept unless it says `omit_expired`; without one, they are gone at once. With `memories=False` no item becomes a memory.
    """

    supports_ttl = True

    def __init__(
        self,
        store: Store | AsyncStore | str | os.PathLike[str] | None = None,
        *,
        index: IndexConfig | Mapping[str, Any] | None = None,
        ttl: TTLConfig | None = None,
        user: str | None = None,
        memories: bool = True,
        **settings: Any,
    ) -> None:
        hide(settings)
        super().__init__()
        given = sync_of(store)
        self._owns = not isinstance(given, Store)
        if isinstance(given, Store) and settings:
            raise InvalidInput(f"The store is open already: {sorted(settings)[0]} is said where it is opened.")
        self._store = given if isinstance(given, Store) else Store.open(given, user=user, **settings)
        if user is not None and user != self._store.user:
            self._store = self._store.for_user(user)
        try:
            self._begin(index, ttl, memories)
        except BaseException:
            if self._owns:
                self._store.close()
            raise

    def _begin(self, index: IndexConfig | Mapping[str, Any] | None, ttl: TTLConfig | None, memories: bool) -> None:
        self._async = AsyncStore(self._store)
        self._gathered: Gathered[_Asked, list[Result]] = Gathered(self._async, self._ready, self._do)
        self._memories = memories
        self._sweeper: tuple[threading.Thread, threading.Event] | None = None
        self.ttl_config = None if ttl is None else TTLConfig(**ttl)
        self.index_config: dict[str, Any] | None = None if index is None else dict(index)
        self.embeddings: Embeddings | None = None
        given = self.index_config or {}
        fields = given.get("fields") or given.get("text_fields") or (["$"] if index is not None else DEFAULT_FIELDS)
        self._fields = [_tokens(field) for field in fields]
        semantic = self._store._semantic
        if given.get("embed") is not None:
            self.embeddings = ensure_embeddings(given["embed"])
            semantic = functools.cache(functools.partial(_semantic, self._store, self.embeddings, given))
            semantic()  # a host that is not allowed, or numpy missing, is told now
        distance = given.get("distance_type") or "cosine"
        if distance not in ("cosine", "inner_product", "l2", "hamming"):
            raise InvalidInput(f"distance_type={distance!r}: choose cosine, inner_product or l2.")
        self._texts = Texts(semantic, distance)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | Mapping[str, Any] | None = None,
        ttl: TTLConfig | None = None,
        user: str | None = None,
        memories: bool = True,
        settings: Settings | None = None,
        pool_config: Mapping[str, Any] | None = None,
        pipeline: bool = False,
        **overrides: Any,
    ) -> _Opening:
        """A store of its own, as a context manager for `with` and for `async with`: a path, `:memory:` or
        `postgresql://...`. `pipeline` is accepted and means nothing here."""
        hide(overrides)
        if "://" not in conn_string and any(part in conn_string for part in ("dbname=", "host=")):
            raise InvalidInput("Give a Postgres database as an address: postgresql://user:password@host:5432/name")
        for name, setting in (("min_size", "pool_min"), ("max_size", "pool_max")):
            if pool_config and pool_config.get(name) is not None:
                overrides.setdefault(setting, pool_config[name])

        return _Opening(
            functools.partial(
                cls, conn_string, index=index, ttl=ttl, user=user, memories=memories, settings=settings, **overrides
            )
        )

    def for_user(self, user: str) -> MemoryStore:
        """The same database for another person: nothing of this one is in reach."""
        handle = MemoryStore(self._store.for_user(user), ttl=self.ttl_config, memories=self._memories)
        handle.index_config, handle.embeddings = self.index_config, self.embeddings
        handle._fields, handle._texts, handle._async._threads = self._fields, self._texts, self._async._threads
        return handle

    @property
    def user(self) -> str:
        """Whose items these are."""
        return self._store.user

    # -- life

    def setup(self) -> _Done:
        """Nothing to do: opening has made the tables. May be awaited, for code that was written for an async store."""
        return _Done()

    def close(self) -> None:
        """Stop the sweeper; close the database if this store opened it."""
        self.stop_ttl_sweeper()
        if self._async._threads._pid:
            self._async._threads.close()
        if self._owns:
            self._store.close()

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> MemoryStore:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    # -- BaseStore

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations: first what reads, on what was there before; then what writes, all of it or nothing."""
        return self._do([self._ready(ops)])[0]

    def _ready(self, ops: Iterable[Op]) -> _Asked:
        asked = list(ops)
        for op in asked:
            if not isinstance(op, (GetOp, PutOp, SearchOp, ListNamespacesOp)):
                raise ValueError(f"Unknown operation type: {type(op)}")
            _is_labels(op)
            validate_op_namespace(op)
        writes = {(tuple(op.namespace), op.key): op for op in asked if isinstance(op, PutOp)}
        return asked, {place: self._prepare(op) for place, op in writes.items()}, _asker(self._store.user)

    def _do(self, requests: Sequence[_Asked]) -> list[list[Result]]:
        asked = [op for ops, _, _ in requests for op in ops]
        askers = [asker for ops, _, asker in requests for _ in ops]
        drafts = {place: draft for _, prepared, _ in requests for place, draft in prepared.items()}
        now = ids.now()
        read: list[int] = []
        results: list[Result] = [None] * len(asked)
        gets = {i: op for i, op in enumerate(asked) if isinstance(op, GetOp)}
        if gets:
            for i, found in self._get(gets, self._seen(now), read, askers):
                results[i] = found
        for i, op in enumerate(asked):
            if isinstance(op, SearchOp):
                results[i] = self._search(op, self._seen(now), read, askers[i])
            elif isinstance(op, ListNamespacesOp):
                results[i] = self._list(op, self._seen(now), askers[i])
        if read:
            self._write(lambda tx: items.touch(tx, read))
        if drafts:
            self._put(list(drafts.values()))
        given = iter(results)
        return [list(islice(given, len(ops))) for ops, _, _ in requests]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` for async code, in a thread of the store's own, together with what others ask at the same moment; a cancelled
        caller waits for the outcome of a write."""
        asked = list(ops)
        if any(isinstance(op, SearchOp) and op.query for op in asked):  # a model may take its time: by itself
            return await self._async._run(lambda: self.batch(asked))
        return await self._gathered.call(asked)

    def _seen(self, now: int) -> int:
        """Items that expired before this are not seen."""
        return now if self.ttl_config is None or self.ttl_config.get("omit_expired") else 0

    def _read(self, fn: Callable[[Tx], Any], **how: bool) -> Any:
        return self._store._db.read(self._store.user, fn, **how)

    def _write(self, fn: Callable[[Tx], Any]) -> Any:
        return self._store._db.write(self._store.user, fn)

    # -- reading

    def _key(self, key: str) -> str:
        return checks.safe_key(items.check_key(key), self._store._gate.another())

    def _get(
        self, ops: Mapping[int, GetOp], seen: int, read: list[int], askers: Sequence[_Asker]
    ) -> list[tuple[int, Item | None]]:  # fmt: skip
        wanted = [(i, items.path(op.namespace), self._key(op.key)) for i, op in ops.items()]
        rows = self._read(
            lambda tx: [(i, items.get(tx, path, key, seen)) for i, path, key in wanted],
            brief=len(wanted) == 1, keyed=True,
        )  # fmt: skip
        found: list[tuple[int, Item | None]] = []
        for i, row in rows:
            namespace, key = tuple(ops[i].namespace), ops[i].key
            name = key if row is None else row[8]
            learned = None if name is None or "\0" in name else self._learned(namespace, askers[i], name)
            if row is None:
                memory = None if learned is None else learned.memories.get(key)
                found.append((i, None if memory is None else Item(**_as_item(memory, namespace))))
                continue
            if ops[i].refresh_ttl and row[6] is not None:
                read.append(row[0])
            value: dict[str, Any] | None = items.load(row)
            if learned is not None and learned.has_ended(row):
                value = _corrected(value, learned.now(row))
            if value is None:
                found.append((i, None))
                continue
            item = Item(
                value=value, key=key, namespace=items.labels(row[1]), created_at=_time(row[4]), updated_at=_time(row[5])
            )  # fmt: skip
            found.append((i, item))
        return found

    def _learned(self, namespace: tuple[str, ...], asker: _Asker, only: str | None = None) -> mirror.Learned | None:
        """What is known in a namespace besides what was put there: of the store's own user, and of the one whose run asks."""
        whose = mirror.user_of(namespace) if self._memories else None
        if whose is None or whose not in (self._store.user, asker.user):
            return None
        found: mirror.Learned = self._store._db.read(
            whose, lambda tx: mirror.Learned(tx, namespace, whose == self._store.user, only)
        )
        return found if found.memories or found.since else None

    def _search(self, op: SearchOp, seen: int, read: list[int], asker: _Asker) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        # Any text is a question; half of a surrogate pair is none that a tokenizer takes.
        query = op.query.encode("utf-8", "replace").decode() if op.query else op.query
        # What is remembered for a user and what for one thread of theirs are two scopes, though one is a prefix.
        exact = prefix[:1] == (mirror.ROOT,) and len(prefix) in (2, 3)
        started = time.perf_counter()
        whose, thread = asker.told(prefix)
        learned = self._learned(prefix, asker) if exact else None
        limit, offset = max(0, op.limit), max(0, op.offset)
        with self._store._telemetry.span(
            "chat.memory.search", whose, thread_id=thread, gen_ai__operation__name="search_memory",
            recollect__top_k=op.limit,
        ) as span:  # fmt: skip
            more = 0 if learned is None else offset + len(learned.since)
            found = self._texts.search(
                self._store._db, self._store.user, items.Scope(prefix, exact), query, op.filter, limit + more,
                offset if learned is None else 0, seen,
            )  # fmt: skip
            shown: list[tuple[SearchItem, Found | None]] = [(_found(f), f) for f in found]
            if learned is not None:
                shown = self._with_learned(op, prefix, query, found, learned)[offset : offset + limit]
            span.set(gen_ai__memory__record__count=len(shown))
        if op.query:
            took = telemetry.since(started)
            self._store._telemetry.emit(
                "chat.memory_searched", whose, thread_id=thread, top_k=op.limit, count=len(shown), latency_ms=took,
                source="langgraph",
            )  # fmt: skip
        if op.refresh_ttl:
            read += [f.row[0] for _, f in shown if f is not None and f.row[6] is not None]
        return [item for item, _ in shown]

    def _with_learned(
        self, op: SearchOp, prefix: tuple[str, ...], query: str | None, found: Sequence[Found], learned: mirror.Learned
    ) -> list[tuple[SearchItem, Found | None]]:  # fmt: skip
        """Items as the user has corrected them since, and what was learned, in one order."""
        judge = Judge(op.filter)
        scores = self._scores(query, prefix[1], learned)
        shown: list[tuple[SearchItem, Found | None]] = []
        there: set[str] = set()
        for f in found:
            item = _found(f)
            if learned.has_ended(f.row):
                memory = learned.now(f.row)
                value = _corrected(f.value, memory)
                if memory is None or value is None or not judge.passes(value):
                    continue
                there.add(memory.id)
                best = max((s for s in (f.score, scores.get(memory.id)) if s is not None), default=None)
                item = SearchItem(item.namespace, item.key, value, item.created_at, _time(memory.updated_at), best)
            shown.append((item, f))
        for memory in learned.memories.values():
            if memory.id not in there and judge.passes(mirror.value_of(memory)):
                shown.append((SearchItem(**_as_item(memory, prefix), score=scores.get(memory.id)), None))
        # A stable sort: among equals, what was put comes first, in its own order.
        newest = {id(item): item.updated_at for item, _ in shown}
        shown.sort(key=lambda one: (one[0].score is None, -(one[0].score or 0.0), -newest[id(one[0])].timestamp()))
        return shown

    def _scores(self, query: str | None, whose: str, learned: mirror.Learned) -> dict[str, float | None]:
        if not query or not query.strip():
            return {}
        docs = {learned.numbers[id]: Doc(id, memory.content) for id, memory in learned.memories.items()}
        semantic = self._store._semantic() if self.embeddings is None else None
        if semantic is not None and docs:
            vector = semantic.question(query)
            if vector is not None:
                self._store._db.read(whose, lambda tx: semantic.set_cosines(tx, vector, docs))
        said = list(docs.values())
        rated = self._texts.rate(query, [doc.text for doc in said], [doc.cosine for doc in said])
        return dict(zip(learned.memories, rated, strict=True))

    def _list(self, op: ListNamespacesOp, seen: int, asker: _Asker) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        for c in conditions:
            if c.match_type not in ("prefix", "suffix"):
                raise ValueError(f"Unsupported match type: {c.match_type}")
        narrow: tuple[str, ...] = ()
        for c in conditions:
            if c.match_type == "prefix":
                plain = tuple(c.path)[: next((i for i, label in enumerate(c.path) if label == "*"), len(c.path))]
                narrow = max(narrow, plain, key=len)
        rows = self._read(lambda tx: items.namespaces(tx, items.Scope(narrow), seen))
        all_ = {items.labels(row) for row in rows}
        for whose in {self._store.user, asker.user} if self._memories else ():
            all_.update(self._store._db.read(whose, functools.partial(mirror.spaces, user=whose)))
        kept = {ns[: op.max_depth] for ns in all_ if all(_matches(c, ns) for c in conditions)}
        return sorted(kept)[op.offset : op.offset + op.limit]

    def provenance(self, namespace: tuple[str, ...], key: str) -> dict[str, Any] | None:
        """What put an item: the thread, checkpoint, node and run it was put in. Empty outside a graph, None if there is no
        such item."""
        import json

        path, stored = items.path(namespace), self._key(str(key))
        row = self._read(lambda tx: items.get(tx, path, stored, ids.now()))
        if row is None:
            return None
        found: dict[str, Any] = {} if row[7] is None else json.loads(row[7])
        return found

    # -- writing

    def _prepare(self, op: PutOp) -> _Write:
        namespace = tuple(op.namespace)
        for label in namespace:
            family = self._store._gate.names_a_secret(_label(label))
            if family:
                raise InvalidNamespaceError(
                    f"A label of the namespace holds a secret ({family}). Namespaces are kept and shown as they are: choose "
                    "another."
                )
        key = self._key(op.key)
        if op.value is None:
            return _Write(namespace, key, None, None, _asker(self._store.user))
        if not isinstance(op.value, Mapping):
            raise InvalidInput(f"value must be a mapping, not {type(op.value).__name__}.")
        # What cannot be stored is refused before anything else is done to it.
        checks.fits(self._store._gate.most, "The item", items.dump(op.value))
        value = self._store._gate.another().value(dict(op.value))
        source = _provenance(self._store._gate.another())
        fields = self._fields if op.index is None else [_tokens(field) for field in op.index or ()]
        texts = [made for field in fields for text in get_text_at_path(value, field) for made in items.by_passage(text)]
        draft = items.Draft(namespace, key, items.dump(value), texts, items.ttl(op.ttl), source)
        wish = mirror.wanted(namespace, key, value, source, self._store._gate) if self._memories else None
        return _Write(namespace, key, draft, wish, _asker(self._store.user))

    def _put(self, writes: Sequence[_Write]) -> None:
        store, db, user = self._store, self._store._db, self._store.user
        self._texts.embed([text for w in writes if w.draft is not None for text in w.draft.texts])
        embeds = store._embeds()
        lives = [w.draft.ttl_ms for w in writes if w.draft is not None and w.draft.ttl_ms is not None]
        for w in writes:  # another user's memory goes before its item: what is derived never outlives what it came from
            if w.draft is None and mirror.user_of(w.namespace) not in (None, user):
                self._forget_elsewhere(w)

        for owner, thread in {place for w in writes if w.draft is not None for place in _places(w, user)}:
            # A run that is still going on brings back nothing of a conversation that was erased.
            db.read(owner, functools.partial(erased.refuse_thread, conversation=thread))

        def write(tx: Tx) -> list[int]:
            behind: list[int] = []
            remembers = False
            for w in writes:
                if w.draft is None:
                    was = items.delete(tx, items.path(w.namespace), w.key)
                    if was is not None and mirror.user_of(w.namespace) == user:
                        mirror.forget(tx, was)
                    continue
                id, was = items.put(tx, w.draft)
                owner = mirror.user_of(w.namespace)
                if owner is None or (w.wish is None and was is None):
                    continue
                if owner != user:
                    jobs.enqueue(tx, mirror.KIND, str(id))
                    behind.append(id)
                elif w.wish is None:
                    mirror.forget(tx, str(was))
                    items.set_memory(tx, id, None)
                else:
                    remembers = True
                    kept = mirror.keep(tx, w.wish, was, user, id)
                    if kept != was:
                        items.set_memory(tx, id, kept)
            if lives:
                jobs.enqueue(tx, "expire", "items", delay_ms=min(lives) + items.GRACE_MS)
            if remembers and embeds:
                jobs.enqueue(tx, "embed", "all")
            return behind

        for id in self._write(write):
            mirror.follow(db, user, id, store._gate, embeds)
            self._write(functools.partial(jobs.drop, kind=mirror.KIND, key=str(id)))
        saved = [w.asker.told(w.namespace) for w in writes if w.wish is not None]
        for whose, where in dict.fromkeys(saved):
            n = saved.count((whose, where))
            store._telemetry.emit("chat.memory_saved", whose, thread_id=where, count=n, source="langgraph")
        if store.settings.background:
            if lives:
                store._worker.wake(user, min(lives) + items.GRACE_MS)
            for whose in {w.wish.user for w in writes if w.wish is not None} if embeds else ():
                store._worker.wake(whose)

    def _forget_elsewhere(self, w: _Write) -> None:
        row = self._read(lambda tx: items.get(tx, items.path(w.namespace), w.key, 0))
        owner = mirror.user_of(w.namespace)
        if row is not None and row[8] is not None and owner is not None:
            self._store._db.write(owner, lambda tx: mirror.forget(tx, row[8]))

    # -- expiry

    def sweep_ttl(self) -> _Done:
        """Remove what has expired; a job does so too, a minute later. Returns how many items went. May be awaited."""
        return _Done(mirror.sweep(self._store._db, self._store.user, ids.now()))

    async def asweep_ttl(self) -> int:
        """`sweep_ttl` in a thread."""
        return await self._async._run(lambda: int(self.sweep_ttl()))

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> _Done:
        """Sweep in a thread, every `sweep_interval_minutes` of `ttl` or as said here (5 unless said). May be awaited."""
        configured = self.ttl_config.get("sweep_interval_minutes") if self.ttl_config is not None else None
        every = float(sweep_interval_minutes or configured or 5)
        if self._sweeper is None:
            stop = threading.Event()
            thread = threading.Thread(target=self._sweep, args=(stop, every * 60), name="recollect-sweep", daemon=True)
            self._sweeper = (thread, stop)
            thread.start()
        return _Done()

    def stop_ttl_sweeper(self, timeout: float | None = None) -> _Done:
        """Stop that thread. 1 if it has ended."""
        sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper[1].set()
            sweeper[0].join(timeout if timeout is not None else 5.0)
            return _Done(not sweeper[0].is_alive())
        return _Done(1)

    def _sweep(self, stop: threading.Event, seconds: float) -> None:
        while not stop.wait(seconds):
            try:
                self.sweep_ttl()
            except Exception:
                continue  # away, busy or full: callers meet the error themselves, the next round tries again

    def __repr__(self) -> str:
        store = getattr(self, "_store", None)  # a traceback that shows variables asks before there is one
        return f"<recollect.langgraph.MemoryStore {store.location} user={store.user!r}>" if store else "<MemoryStore>"


class _Write:
    """One put or delete, checked and redacted."""

    __slots__ = ("asker", "draft", "key", "namespace", "wish")

    def __init__(
        self, namespace: tuple[str, ...], key: str, draft: items.Draft | None, wish: mirror.Wanted | None, asker: _Asker
    ) -> None:
        self.asker = asker
        self.namespace, self.key, self.draft, self.wish = namespace, key, draft, wish


def _places(w: _Write, user: str) -> list[tuple[str, str]]:
    """(user, conversation) that a write comes from, or is kept for."""
    found = []
    if len(w.namespace) > 2 and w.namespace[0] == mirror.ROOT:
        found.append((w.namespace[1], w.namespace[2]))
    if w.draft is not None and w.draft.source is not None:
        import json

        said = json.loads(w.draft.source)
        if isinstance(said.get("thread_id"), str):
            found.append((str(said.get("user_id", user)), said["thread_id"]))
    return found


class _Done(int):
    """A number that may be awaited: one class serves code written for LangGraph's sync stores and for its async ones."""

    def __await__(self) -> Any:
        return int(self)
        yield


class _Opening:
    """A store that is opened by `with` or by `async with`, and closed at the end."""

    def __init__(self, opening: Callable[[], MemoryStore]) -> None:
        self._opening = opening
        self._opened: MemoryStore | None = None

    def __enter__(self) -> MemoryStore:
        self._opened = self._opening()
        return self._opened

    def __exit__(self, *exc: object) -> None:
        if self._opened is not None:
            self._opened.close()

    async def __aenter__(self) -> MemoryStore:
        self._opened = await asyncio.get_running_loop().run_in_executor(None, self._opening)
        return self._opened

    async def __aexit__(self, *exc: object) -> None:
        if self._opened is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._opened.close)


class _Awaited(Embeddings):
    """A model that can only be awaited, for threads that cannot: each call has a loop of its own."""

    def __init__(self, model: Embeddings) -> None:
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._awaited(lambda: self.model.aembed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        return self._awaited(lambda: self.model.aembed_query(text))

    def _awaited(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        made: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                made.append(asyncio.run(call()))
            except BaseException as e:
                failed.append(e)

        thread = threading.Thread(target=run, name="recollect-embed")
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return made[0]


def _semantic(store: Store, model: Embeddings, given: Mapping[str, Any]) -> Any:
    from ..search.embed import adapt, from_langchain

    try:
        from ..search.vectors import Semantic
    except ImportError as e:
        raise SettingsError(
            "index={'embed': ...} needs numpy: pip install '.[semantic]' in Recollect's own folder"
        ) from e
    embed = given["embed"]
    called = embed if asyncio.iscoroutinefunction(embed) else getattr(embed, "__call__", None)  # noqa: B004
    name = getattr(embed, "__qualname__", None) if not isinstance(embed, Embeddings) else None
    is_awaited = not isinstance(embed, Embeddings) and asyncio.iscoroutinefunction(called)
    made = adapt(from_langchain(_Awaited(model) if is_awaited else model, name=name), store.settings)
    if given.get("dims"):
        made._dimension = int(given["dims"])  # type: ignore[attr-defined]
    return Semantic(made, store._db.dialect)


def _tokens(field: str) -> Any:
    return "$" if field == "$" else tokenize_path(field)


def _is_labels(op: Op) -> None:
    """A text is a sequence of texts too: LangGraph's checks let `put("memo", ...)` through, as a namespace of four letters."""
    if isinstance(op, ListNamespacesOp):
        given: list[Any] = [condition.path for condition in op.match_conditions or ()]
    else:
        given = [op.namespace_prefix if isinstance(op, SearchOp) else op.namespace]
    for one in given:
        if isinstance(one, str):
            raise InvalidNamespaceError(
                "A namespace is a tuple of labels: put a comma behind a single one, as in (name,)."
            )


def _label(label: str) -> str:
    try:
        label.encode()
    except UnicodeEncodeError:
        raise InvalidNamespaceError(
            "A label of the namespace holds half of a surrogate pair: no valid Unicode."
        ) from None
    return label


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _found(f: Found) -> SearchItem:
    row = f.row
    return SearchItem(items.labels(row[1]), row[2], f.value, _time(row[4]), _time(row[5]), f.score)


class _Asker(NamedTuple):
    """Who asks: the user and the thread of the run that is going on. Without a run, or where it does not say: the store's."""

    user: str
    thread: str | None
    is_named: bool
    """Whether the run says whose it is."""

    def told(self, namespace: Sequence[str]) -> tuple[str, str | None]:
        """(user, thread) for telemetry: outside of a run, a namespace of memories tells whose it is."""
        owner = None if self.is_named else mirror.user_of(tuple(namespace))
        where = namespace[2] if owner is not None and len(namespace) == 3 else None
        return owner or self.user, self.thread or where


def _asker(user: str) -> _Asker:
    given = _run().get("configurable") or {}
    asks, thread = given.get("user_id"), given.get("thread_id")
    return _Asker(str(asks) if asks else user, None if thread is None else str(thread), bool(asks))


def _as_item(memory: Memory, namespace: tuple[str, ...]) -> dict[str, Any]:
    return {
        "namespace": namespace, "key": memory.id, "value": mirror.value_of(memory),
        "created_at": _time(memory.created_at), "updated_at": _time(memory.updated_at),
    }  # fmt: skip


def _corrected(value: dict[str, Any] | None, memory: Memory | None) -> dict[str, Any] | None:
    """An item in the words that hold now; None where nothing does."""
    if value is None or memory is None:
        return None
    return {**value, "content": memory.content, "learned": True}


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    wanted = condition.path
    if len(namespace) < len(wanted):
        return False
    part = namespace[: len(wanted)] if condition.match_type == "prefix" else namespace[len(namespace) - len(wanted) :]
    return all(w in ("*", label) for w, label in zip(wanted, part, strict=True))


def _run() -> Mapping[str, Any]:
    """The config of the run that is going on here; empty outside a graph."""
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:
        return {}


def _provenance(gate: Any) -> str | None:
    """The run that is going on here, as JSON; None outside a graph."""
    import json

    config = _run()
    configurable, metadata = config.get("configurable") or {}, config.get("metadata") or {}
    said = {k: configurable[k] for k in _RUN if isinstance(configurable.get(k), str) and configurable[k]}
    user = user_of(configurable)
    if user is not None:
        said["user_id"] = str(user)
    said |= {k.removeprefix("langgraph_"): metadata[k] for k in _META if isinstance(metadata.get(k), (str, int))}
    clean = {k: checks.safe_key(v, gate) if isinstance(v, str) else v for k, v in said.items()}
    return json.dumps(clean) if clean else None
