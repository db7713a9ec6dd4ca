"""The OpenAI Agents SDK's session over a conversation: what an agent's runs say is kept, searched and remembered as all else.

    session = Session("support-42", store)
    await Runner.run(agent, "Hello", session=session)

An item of the SDK is one event. The item itself stands in the event's payload, so that it comes back as it went in (but for
secrets, which are replaced before anything is written, and what no database keeps: NUL, halves of characters, NaN); its text is the event's text, so that it can be found. What other
doors have said in the same conversation is part of the history too, as plain messages.

A session is on a branch. What it shares with another branch it never deletes: to take back a shared item it forks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .aio import AsyncStore
from .checks import safe
from .errors import AlreadyExists, ConversationDeleted, InvalidInput, NotFound, StoreClosed
from .model import MAIN
from .store import Store
from .verbs.arguments import conversation_id

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory.session_settings import SessionSettings

    from .model import Branch, Entry, Event

KEY = "openai_item"
"""Under which an item stands in its event's payload."""
ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system", "tool": "tool"}
WINDOW = 64


def entry_of(item: Any) -> Entry:
    """An item of the SDK as an event."""
    if not isinstance(item, Mapping):
        dump = getattr(item, "model_dump", None)
        if dump is None:
            raise InvalidInput(f"An item of a session is a mapping, not {type(item).__name__}.")
        item = dump(exclude_unset=True)
    item = safe(dict(item))  # a tool may print anything: a NUL in its output is not to end the run
    kept = {KEY: item}
    kind, role = item.get("type"), item.get("role")
    if kind in (None, "message") and isinstance(role, str) and role in ROLES:
        return {"kind": "message", "role": ROLES[role], "text": _text(item.get("content")), "payload": kept}
    kind = str(kind or "item")
    if kind == "reasoning":
        said = _text(item.get("summary")) or _text(item.get("content"))
        return {"kind": "reasoning", "role": "assistant", "text": said, "payload": kept}
    if kind.endswith(("_output", "_response")):
        return {"kind": "tool_result", "role": "tool", "text": _text(item.get("output")), "payload": kept}
    if kind.endswith(("_call", "_request")):
        tool = item.get("name")
        asked = item.get("arguments") or item.get("input") or item.get("action")
        return {
            "kind": "tool_use",
            "tool": tool if isinstance(tool, str) else kind,
            "text": _text(asked),
            "payload": kept,
        }
    return {"kind": "note", "name": f"openai.{kind}", "text": _text(item.get("content")), "payload": kept}


def _text(content: Any) -> str:
    """The words of a content: a text, or parts of which some are."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        for name in ("text", "refusal", "transcript", "query", "command", "code"):
            if name in content:
                return _text(content[name])
        return ""  # an image, a file: kept in the payload, nothing to be found by
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    return ""


def item_of(event: Event) -> Any:
    """The item that an event is; None if it is none. A message that came through another door is one without an id."""
    kept = event.payload.get(KEY)
    if isinstance(kept, dict):
        return kept
    if event.kind == "message" and event.text and event.role in ("user", "assistant", "system"):
        return {"role": event.role, "content": event.text}
    return None


def _settings(given: SessionSettings | Mapping[str, Any] | None) -> SessionSettings | None:
    try:
        from agents.memory import SessionSettings as Settings
    except ImportError:
        if isinstance(given, Mapping):
            raise InvalidInput("This version of the OpenAI Agents SDK has no session settings.") from None
        return given
    if not isinstance(given, Mapping):
        return Settings() if given is None else given
    unknown = sorted(str(name) for name in given if name not in Settings.__dataclass_fields__)
    limit = given.get("limit")
    if unknown or not (limit is None or type(limit) is int):
        what = f"{unknown[0]!r} is none" if unknown else f"limit={limit!r} is no whole number"
        raise InvalidInput(
            f"session_settings: {what}. The SDK's settings are: {', '.join(Settings.__dataclass_fields__)}."
        )
    return Settings(**given)


class Session:
    """A conversation as the OpenAI Agents SDK's `Session`. It is made when the first item is added."""

    def __init__(
        self,
        session_id: str,
        store: Store | AsyncStore,
        *,
        branch: str | None = None,
        workspace: str | None = None,
        session_settings: SessionSettings | Mapping[str, Any] | None = None,
    ) -> None:
        """`session_id` is the conversation's id. `branch` is the one to be on; the active one unless said. `session_settings`
        are the SDK's, or a mapping such as `{"limit": 20}`; without any, `SessionSettings()` as its own sessions have."""
        self.session_id = conversation_id(session_id)
        self.session_settings = _settings(session_settings)
        self._is_closed = False
        self._store = store if isinstance(store, AsyncStore) else AsyncStore(store)
        self._branch = branch
        self._workspace = workspace

    @property
    def branch(self) -> str | None:
        """The branch that this session is on; None: the conversation's active one."""
        return self._branch

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items of this branch, oldest first; with a `limit` the newest so many."""
        self._check_open()
        if limit is None:  # whoever has the session may put other settings into it, a mapping too
            settings = _settings(self.session_settings)
            limit = None if settings is None else settings.limit
        if limit is not None and limit <= 0:
            return []
        return [item for _, item in await self._items(limit)]

    async def _items(self, limit: int | None = None) -> list[tuple[Event, Any]]:
        """Events of this branch that are items. With a limit, read backwards until there are enough."""
        try:
            last = (await self._store.get(self.session_id)).last_seq
        except NotFound:
            return []
        window = last if limit is None else limit + WINDOW
        while True:
            events = await self._store.read(self.session_id, after=max(0, last - window), branch=self._branch)
            changed = {e.message: e for e in events if e.kind == "message" and e.message is not None}
            standing = [changed.get(e.seq, e) for e in events if e.kind != "message" or e.message is None]
            found = [(e, item) for e in standing if (item := item_of(e)) is not None]
            if limit is None or len(found) >= limit or window >= last:
                return found if limit is None else found[-limit:]
            window *= 4

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items: all of them or none."""
        self._check_open()
        entries = [entry_of(item) for item in items]
        if not entries:
            return
        try:
            await self._store.append_many(self.session_id, entries, branch=self._branch)
        except NotFound:
            if self._branch not in (None, MAIN):
                raise
            try:
                await self._store.create(self.session_id, workspace=self._workspace)
            except AlreadyExists:
                pass  # somebody else was quicker; or it is in the bin, which the next line says
            await self._store.append_many(self.session_id, entries, branch=self._branch)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take back the newest item, and return it. One that another branch shows too stays there: this session goes on
        from before it, on a branch of its own."""
        self._check_open()
        while newest := await self._items(1):
            ((event, item),) = newest
            try:
                await self._take_back(event)
            except ConversationDeleted:
                raise
            except NotFound:
                continue  # somebody else took it: the one before is the newest now
            popped: TResponseInputItem = item
            return popped
        return None

    async def _take_back(self, event: Event) -> None:
        branches = await self._store.branches(self.session_id)
        mine = self._of(branches)
        is_shared = event.branch != mine.name or any(
            b.parent == mine.name and b.fork_seq >= event.seq for b in branches
        )
        if not is_shared:
            await self._store.delete_event(self.session_id, event.seq)
            return
        await self._go_on_from(event.seq - 1)

    def _of(self, branches: list[Branch]) -> Branch:
        return next(
            (b for b in branches if (b.active if self._branch is None else b.name == self._branch)), branches[0]
        )

    async def _go_on_from(self, seq: int) -> None:
        follows = self._branch is None
        made = await self._store.fork(self.session_id, seq, branch=self._branch, switch=follows)
        self._branch = None if follows else made.name

    async def clear_session(self) -> None:
        """Remove what this session holds. On the only branch of a conversation that is all of it; what another branch shows
        too stays there."""
        self._check_open()
        try:
            branches = await self._store.branches(self.session_id)
        except NotFound:
            return
        if len(branches) == 1:
            await self._store.clear(self.session_id)
            return
        mine = self._of(branches)
        shared = max([b.fork_seq for b in branches if b.parent == mine.name], default=0)
        for event in reversed(await self._store.read(self.session_id, branch=mine.name)):  # so no summary is made anew
            if event.branch == mine.name and event.seq > shared:
                try:
                    await self._store.delete_event(self.session_id, event.seq)
                except ConversationDeleted:
                    raise
                except NotFound:
                    continue  # an earlier version of a message: it went with the later one
        if await self._items(1):
            await self._go_on_from(0)

    def close(self) -> None:
        """This session is not used any more, and refuses to be. The store stays open: whoever opened it closes it."""
        self._is_closed = True

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreClosed(f"The session {self.session_id!r} is closed. Make another: Session(session_id, store).")

    async def fork(self, items: int | None = None, *, name: str | None = None) -> Session:
        """A session that shares the first `items` of this one, all unless said, and goes its own way from there. Nothing is
        copied, and this session does not change."""
        found = await self._items()
        if items is not None and not 0 <= items <= len(found):
            raise InvalidInput(f"items={items}: this session has {len(found)}.")
        at = (
            (found[items][0].seq - 1 if items < len(found) else found[-1][0].seq)
            if items is not None and found
            else None
        )
        made = await self._store.fork(self.session_id, at, branch=self._branch, name=name)
        return Session(
            self.session_id,
            self._store,
            branch=made.name,
            workspace=self._workspace,
            session_settings=self.session_settings,
        )
