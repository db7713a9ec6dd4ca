"""Where an agent node keeps the turns of a chat: append-only, one record for each message, by the message's id.

In a store of ours the turns are events of a conversation under the chat's key: they are found by search, exported, erased
like any other, and never memories. In any other LangGraph store each message is an item of its own, so that two
processes that answer the same chat at the same time overwrite nothing of each other's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    messages_from_dict,
)
from langgraph.store.base import BaseStore, Op, Result

from .. import checks, conversations, ids
from ..aio import AsyncStore
from ..config import Settings
from ..errors import AlreadyExists, Erased, InvalidInput, NotFound
from ..model import Entry, Event
from ..store import Store
from .media import blocks_of, has_media, packed, unpacked
from .messages import text_of, typed
from .store import MemoryStore

if TYPE_CHECKING:
    from ..db import Tx

__all__ = ["History", "Items", "Log", "Tail", "as_stored", "check_place", "database_of", "history_of", "settings_of"]

PAGE = 200
RESET = "reset"
FIELDS = frozenset({"role", "type", "id", "at", "n", "name", "tool_calls", "tool_call_id", RESET})
"""Fields of a record that say something else than its text."""


class Tail(NamedTuple):
    """The newest part of a history, oldest first; and how many records could not be read."""

    messages: list[BaseMessage]
    unreadable: int = 0
    is_cut: bool = False
    """Whether there is more before it."""


class History(Protocol):
    """One chat's turns."""

    def tail(self, most: int) -> Tail:
        """The newest messages since the last reset, `most` of them."""
        ...

    def has(self, message: BaseMessage) -> bool:
        """Whether a message of that id is recorded, however long ago."""
        ...

    def append(self, messages: Sequence[BaseMessage], *, begins: bool = False) -> int:
        """Each message with an id, once. Returns how many were given. `begins`: a turn begins with them, so that a history
        which was erased begins anew; the rest of a turn that began before is not written after that."""
        ...

    def reset(self) -> None:
        """From now on the tail begins here. Nothing is deleted."""
        ...

    def words(self, message: BaseMessage) -> str:
        """What a message says, as it would be stored."""
        ...

    def give_up(self) -> None:
        """Nobody waits any more: a call that still hangs begins nothing after what it is doing."""
        ...


class GivenUp(Exception):
    """A call went on after its time, and has stopped."""


def history_of(
    store: Store | AsyncStore | BaseStore,
    namespace: Sequence[str],
    key: str,
    field: str,
    *,
    user: str | None = None,
    learn: bool = False,
    loop: asyncio.AbstractEventLoop | None = None,
) -> History:
    """The history of a chat in whatever store there is. `loop`: where a store of LangGraph's is awaited."""
    by_hand = store if isinstance(store, MemoryStore) else None
    store = _ours(store)
    if isinstance(store, Store):
        whose = store if user in (None, store.user) else store.for_user(str(user))
        return Log(whose, namespace, key, learn=learn, by_hand=by_hand, field=field)
    assert isinstance(store, BaseStore)
    if loop is not None:
        store = OnLoop(store, loop)
    return Items(store, (*namespace, *([f"user={_label(user)}"] if user is not None else [])), key, field)


def check_place(namespace: object, field: object) -> None:
    """Whether histories can be kept there in any LangGraph store; InvalidInput says why not."""
    if not isinstance(namespace, Sequence) or isinstance(namespace, (str, bytes)) or not namespace:
        raise InvalidInput("history_namespace is a list of labels, with at least one.")
    for label in namespace:
        if not isinstance(label, str) or not label or "." in label or checks.safe(label) != label:
            raise InvalidInput(
                f"history_namespace: {label!r} is no label: a text without dots, not empty, valid Unicode."
            )
    if namespace[0] == "langgraph":
        raise InvalidInput('history_namespace: the first label "langgraph" is LangGraph\'s own.')
    if not isinstance(field, str) or not field or checks.safe(field) != field or field in FIELDS:
        raise InvalidInput(
            f"history_value_field: {field!r} is no name for the text of a message. Taken are {', '.join(sorted(FIELDS))}."
        )


def database_of(store: Store | AsyncStore | BaseStore) -> object:
    """What is away when it is away: several handles may share it."""
    store = _ours(store)
    return store._db if isinstance(store, Store) else store


def settings_of(store: Store | AsyncStore | BaseStore | None) -> Settings | None:
    """The settings of a store of ours; None for any other."""
    found = None if store is None else _ours(store)
    return found.settings if isinstance(found, Store) else None


def _ours(store: Store | AsyncStore | BaseStore) -> Store | AsyncStore | BaseStore:
    return store._store if isinstance(store, (MemoryStore, AsyncStore)) else store


class OnLoop(BaseStore):
    """A store whose async methods are used from a thread: some have no others."""

    def __init__(self, store: BaseStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store, self._loop = store, loop
        self.supports_ttl, self.ttl_config = store.supports_ttl, store.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        try:
            return asyncio.run_coroutine_threadsafe(self._store.abatch(ops), self._loop).result()
        except NotImplementedError:  # and some have only the others
            return self._store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._store.abatch(ops)


# -- in our own store


def conversation_id(namespace: Sequence[str], key: str) -> str:
    """The conversation of a key. Under the namespace, so that it is never that of a thread which has the same name."""
    name = f"{'/'.join(_label(part) for part in namespace)}/{key}"
    if len(name) <= ids.MAX_ID:
        return name
    return f"{name[:180]}/{blake2b(name.encode(), digest_size=16).hexdigest()}"


class Log:
    """A conversation of ours."""

    def __init__(
        self,
        store: Store,
        namespace: Sequence[str],
        key: str,
        *,
        learn: bool = False,
        by_hand: MemoryStore | None = None,
        field: str = "content",
    ) -> None:
        if not learn and store.settings.memory_extract:
            # Many people write to a bot: what one of them likes is not to be remembered of another.
            handle = Store(store._db, store.user, store.settings.but(memory_extract=False), store._model, store._worker)
            handle._embedder, handle._shared = store._embedder, store._shared
            store = handle
        self._store = store
        self.conversation = conversation_id(namespace, key)
        self._by_hand, self._place, self._field = by_hand, (tuple(namespace), key), field
        self._is_given_up = False
        self._made_at: int | None = None
        """When the conversation was made that this turn began in: one that was erased since and begun anew is another."""

    def tail(self, most: int) -> Tail:
        if most <= 0:
            return Tail([])
        try:
            last = self._store.get(self.conversation).last_seq
        except NotFound:
            return self._after_what_was_kept_by_hand([], most)
        window = max(20, 2 * most)
        while True:
            after = max(0, last - window)
            events = self._store.read(self.conversation, after=after, kinds=["message", "tool_result", "note"])
            start = max((i + 1 for i, e in enumerate(events) if _is_reset(e)), default=0)
            found = [_message(e) for e in events[start:] if e.kind != "note"]
            if len(found) >= most or start:
                return Tail(found[-most:], 0, bool(len(found) > most or after or start))
            if not after:
                return self._after_what_was_kept_by_hand(found, most)
            window *= 4

    def _after_what_was_kept_by_hand(self, found: list[BaseMessage], most: int) -> Tail:
        """The beginning may be an item that an application kept by hand, under the same namespace and key."""
        if self._by_hand is None:
            return Tail(found[-most:], 0, len(found) > most)
        items = self._by_hand
        kept = (items if items.user == self._store.user else items.for_user(self._store.user)).get(*self._place)
        before, bad = ([], 0) if kept is None else as_stored(kept.value, self._field, self._place[1])
        return Tail([*before, *found][-most:], bad, len(before) + len(found) > most)

    def has(self, message: BaseMessage) -> bool:
        key = checks.safe_key(_key(message), self._store._gate.another())

        def look(tx: Tx) -> bool:
            found = conversations.find(tx, self.conversation)
            sql = "select seq from events where user_no = :user and conversation_no = :c and branch_no = :b and key = :key"
            return tx.one(sql, c=found.no, b=found.active_branch, key=key) is not None

        return self._store._read(look)

    def append(self, messages: Sequence[BaseMessage], *, begins: bool = False) -> int:
        entries = [_entry(m) for m in messages]
        if entries and not begins and self._made_at is not None:
            try:
                is_same = self._store.get(self.conversation).created_at == self._made_at
            except NotFound:
                is_same = True  # writing says why
            if not is_same:
                raise Erased("The chat was erased while this turn was answered: the answer is not recorded.")
        if entries:
            try:
                self._write(entries)
            except Erased:
                # What a checkpointer still holds of before stays out; what a person says now is new.
                last = max((n for n, m in enumerate(messages) if isinstance(m, HumanMessage)), default=None)
                if not begins or last is None:
                    raise
                self._goes_on()
                self._store.create(self.conversation, origin="bot", again=True)
                self._store.append_many(self.conversation, entries[last:])
        if begins and entries:
            self._made_at = self._store.get(self.conversation).created_at
        return len(entries)

    def words(self, message: BaseMessage) -> str:
        return self._store._gate.another().text(str(checks.safe(text_of(message))))

    def give_up(self) -> None:
        self._is_given_up = True

    def _goes_on(self) -> None:
        """Before each call: a chat that is erased while one hangs is not begun again by the next."""
        if self._is_given_up:
            raise GivenUp

    def reset(self) -> None:
        self._write([{"kind": "note", "text": "The conversation was reset.", "payload": {RESET: True}}])

    def _write(self, entries: Sequence[Entry]) -> None:
        self._goes_on()
        try:
            try:
                self._store.append_many(self.conversation, entries)
            except Erased:  # one of them was: a checkpointer may still hold it, and what is new is kept
                gone = self._store._erased_keys(self.conversation, [e["key"] or "" for e in entries if "key" in e])
                if not gone:
                    raise
                self._store.append_many(self.conversation, [e for e in entries if e.get("key") not in gone])
        except NotFound as e:
            if type(e) is not NotFound:
                raise  # it is in the bin: that is the person's wish
            self._goes_on()
            try:
                self._store.create(self.conversation, origin="bot")
            except AlreadyExists:
                pass  # by another process, at this moment
            self._store.append_many(self.conversation, entries)


def _is_reset(event: Event) -> bool:
    return event.kind == "note" and event.payload.get(RESET) is True


def _key(m: BaseMessage) -> str:
    if _is_plain(m):
        return f"message:{m.id}"
    return f"message:{blake2b(str(m.id).encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def _is_plain(m: BaseMessage) -> bool:
    """Whether its id can be part of a key as it is."""
    return len(str(m.id)) <= 200 and str(m.id).isprintable()


def _entry(m: BaseMessage) -> Entry:
    entry: Entry = {"text": text_of(m), "key": _key(m)}
    payload: dict[str, Any] = {}
    if not _is_plain(m):
        payload["id"] = str(m.id)
    if isinstance(m, (ToolMessage, FunctionMessage)):
        entry |= {"kind": "tool_result", "role": "tool"}
        if m.name:
            entry["tool"] = m.name
        call = getattr(m, "tool_call_id", None)
        if call:
            payload["tool_call_id"] = call
        if getattr(m, "status", "success") != "success":
            entry["status"] = m.status  # type: ignore[union-attr]
        if has_media(m):
            payload["content"] = packed(m)
    else:
        entry |= {"kind": "message", "role": _role(m)}
        if isinstance(m, HumanMessage) and not isinstance(m.content, str):
            _, carried, is_plain = typed(m.content)
            if carried or not is_plain:
                payload["own"] = False  # there may be a file's text in it: it is not learned from as the user's
        if has_media(m):
            payload["content"] = packed(m)
        if isinstance(m, AIMessage):
            if m.tool_calls:
                payload["tool_calls"] = [{k: c[k] for k in ("name", "args", "id")} for c in m.tool_calls]
            model = m.response_metadata.get("model_name")
            if isinstance(model, str) and model:
                entry["model"] = model
        if m.name:
            payload["name"] = m.name
    if payload:
        entry["payload"] = payload
    # One odd character, of a model's arguments say, is not to keep the whole turn out.
    kept: Entry = checks.safe(entry)
    return kept


def _message(e: Event) -> BaseMessage:
    id = str(e.payload.get("id") or (e.key or "").removeprefix("message:") or e.id)
    if e.kind == "tool_result":
        return ToolMessage(unpacked(e), tool_call_id=str(e.payload.get("tool_call_id") or ""), name=e.tool, id=id)
    name = e.payload.get("name")
    name = name if isinstance(name, str) else None
    content: Any = unpacked(e)
    if e.role == "assistant":
        calls: Any = e.payload.get("tool_calls") or []
        return AIMessage(content, id=id, name=name, tool_calls=[dict(c, type="tool_call") for c in calls])
    return SystemMessage(content, id=id) if e.role == "system" else HumanMessage(content, id=id, name=name)


def _role(m: BaseMessage) -> str:
    return "user" if isinstance(m, HumanMessage) else "system" if isinstance(m, SystemMessage) else "assistant"


# -- in any other store


class Items:
    """Items of a LangGraph store: under (namespace, key), one for each message. What an application put together by hand
    under (namespace), key - a list of messages in one item - is read as the beginning."""

    def __init__(self, store: BaseStore, namespace: Sequence[str], key: str, field: str) -> None:
        self._store, self._key, self._field = store, key, field
        self._above = tuple(namespace)
        self._namespace = (*namespace, _label(key))
        self._is_given_up = False

    def tail(self, most: int) -> Tail:
        if most <= 0:
            return Tail([])
        by_key: dict[str, tuple[tuple[int, int, str], Mapping[str, Any]]] = {}
        offset = 0
        while True:
            page = self._store.search(self._namespace, limit=PAGE, offset=offset)
            offset += len(page)
            for item in page:
                if tuple(item.namespace) == self._namespace:  # a search also finds what lies below
                    at, n = item.value.get("at"), item.value.get("n")
                    order = at if isinstance(at, int) else int(item.created_at.timestamp() * 1e9)
                    by_key[item.key] = ((order, n if isinstance(n, int) else 0, item.key), item.value)
            if len(page) < PAGE:
                break
        rows = sorted(by_key.values(), key=lambda row: row[0])
        start = max((i + 1 for i, row in enumerate(rows) if row[1].get(RESET) is True), default=0)
        found: list[BaseMessage] = []
        bad = 0
        if not start:
            before = self._store.get(self._above, self._key)
            if before is not None:
                found, bad = as_stored(before.value, self._field, self._key)
        for place, value in rows[start:]:
            made, wrong = as_stored(value, self._field, place[2])
            found += made
            bad += wrong
        return Tail(found[-most:], bad, len(found) > most or start > 0)

    def has(self, message: BaseMessage) -> bool:
        return self._store.get(self._namespace, checks.safe(str(message.id))) is not None

    def append(self, messages: Sequence[BaseMessage], *, begins: bool = False) -> int:
        at = time.time_ns()
        for n, m in enumerate(messages):
            if self._is_given_up:
                raise GivenUp
            key = checks.safe(str(m.id))
            if self._store.get(self._namespace, key) is None:
                self._store.put(self._namespace, key, self._value(m, at, n), index=False)
        return len(messages)

    def _value(self, m: BaseMessage, at: int, n: int) -> dict[str, Any]:
        role = "tool" if isinstance(m, (ToolMessage, FunctionMessage)) else _role(m)
        content = blocks_of(m) if has_media(m) else text_of(m)
        value: dict[str, Any] = {self._field: content, "role": role, "id": m.id, "at": at, "n": n}
        if isinstance(m, AIMessage) and m.tool_calls:
            value["tool_calls"] = [{k: c[k] for k in ("name", "args", "id")} for c in m.tool_calls]
        if isinstance(m, ToolMessage):
            value["tool_call_id"] = m.tool_call_id
        if m.name:
            value["name"] = m.name
        kept: dict[str, Any] = checks.safe(value)  # else Postgres refuses a NUL, and SQLite half of a surrogate pair
        return kept

    def words(self, message: BaseMessage) -> str:
        return str(checks.safe(text_of(message)))

    def give_up(self) -> None:
        self._is_given_up = True

    def reset(self) -> None:
        value = {RESET: True, "at": time.time_ns(), "n": 0}
        self._store.put(self._namespace, f"reset-{ids.new()}", value, index=False)


def _label(text: object) -> str:
    """A text as a label of a namespace, which has no dots; two texts stay two."""
    return str(text).replace("%", "%25").replace(".", "%2E").replace("/", "%2F")


# -- whatever was stored, as messages


def as_stored(value: Any, field: str = "content", id: str | None = None) -> tuple[list[BaseMessage], int]:
    """The messages in a stored value, and how many things in it could not be read: a message, a text, a pair of role
    and text, a table with `role` and `content`, LangChain's own table, a table with the value field, or a list of any of them."""
    found: list[BaseMessage] = []
    bad = 0
    for n, one in enumerate(_each(value, field)):
        made = _read(one, field)
        if made is None:
            bad += 1
            continue
        if not made.id:
            made = made.model_copy(update={"id": f"{id or 'stored'}#{n}"})
        found.append(made)
    return found, bad


def _each(value: Any, field: str) -> Iterator[Any]:
    if isinstance(value, (list, tuple)) and len(value) == 2 and value[0] in _ROLES and isinstance(value[1], str):
        yield {"role": value[0], "content": value[1]}
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _each(one, field)
    elif isinstance(value, Mapping) and isinstance(value.get(field), (list, tuple)) and _holds_messages(value, field):
        yield from _each(value[field], field)
    elif isinstance(value, Mapping) and isinstance(value.get("messages"), (list, tuple)) and field not in value:
        yield from _each(value["messages"], field)
    else:
        yield value


_ROLES = ("user", "human", "ai", "assistant", "system", "developer")
"""The first half of a pair such as `("user", "hello")`, which JSON gives back as a list."""


def _holds_messages(value: Mapping[str, Any], field: str) -> bool:
    """Whether a list is one of messages, and not the blocks of a single one's content."""
    return "role" not in value and "type" not in value


def _read(value: Any, field: str) -> BaseMessage | None:
    if isinstance(value, BaseMessage):
        return value
    if isinstance(value, str):
        return HumanMessage(value)
    if not isinstance(value, Mapping):
        return None
    try:
        if isinstance(value.get("data"), Mapping) and isinstance(value.get("type"), str):
            return messages_from_dict([dict(value)])[0]
        inner = value.get(field, value.get("content"))
        role = value.get("role") or value.get("type")
        if isinstance(inner, Mapping):
            return _read(inner, field)
        if inner is None or (role is not None and not isinstance(role, str)):
            return None
        if not isinstance(inner, (str, list)):
            return None
        made: dict[str, Any] = {"role": role or "user", "content": inner}
        made |= {k: value[k] for k in ("id", "name", "tool_call_id") if isinstance(value.get(k), str) and value[k]}
        if isinstance(value.get("tool_calls"), list) and value["tool_calls"]:
            made["tool_calls"] = [dict(c, type="tool_call") for c in value["tool_calls"]]
        return convert_to_messages([made])[0]
    except (ValueError, TypeError, KeyError, NotImplementedError):
        return None
