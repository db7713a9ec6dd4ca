"""What other systems call things of ours. Errors name ours by these tables, and `docs/how-to/from-in-memory.md` shows them."""

from __future__ import annotations

from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

TAKEN = {
    "graph_store_path": "graph_store_database",
    "graph_store_dsn": "graph_store_database",
    "checkpoint_backend": "checkpointer_backend",
    "checkpointer_path": "checkpointer_database",
    "checkpointer_dsn": "checkpointer_database",
    "pool_min_size": "pool_min",
    "pool_max_size": "pool_max",
}
"""Settings that are also taken by these names: as variables, and in a mapping that is passed to `recollect.langgraph`."""

SETTINGS = TAKEN | {
    "db_path": "database",
    "database_path": "database",
    "database_url": "database",
    "dsn": "database",
    "postgres_dsn": "database",
    "enable_persistence": "enabled",
    "enable_events": "events",
    "enable_ledger": "ledger",
    "enable_ledger_tracking": "ledger",
    "enable_reasoning": "reasoning_traces",
    "enable_reasoning_traces": "reasoning_traces",
    "conversation_summary_threshold": "summary_threshold",
    "conversation_summary_keep_recent": "summary_keep_recent",
    "keep_recent": "summary_keep_recent",
}
NEEDLESS = {
    "enable_sequencing": "Events are always numbered: leave it out.",
    "enable_event_sequencing": "Events are always numbered: leave it out.",
}
"""Settings that have no counterpart, and why."""

VERBS = {
    "create_conversation": "create(id, workflow_id=, metadata=)",
    "get_conversation": "get(conversation)",
    "list_conversations": "conversations()",
    "delete_conversation": "delete(conversation)",
    "add_message": "append(conversation, role=, text=)",
    "add_messages": "append_many(conversation, entries)",
    "add_event": "append(conversation, kind='event', name=, payload=)",
    "add_ledger_snapshot": "append(conversation, kind='ledger', task_id=, goal=, status=, payload=)",
    "add_reasoning": "append(conversation, kind='reasoning', text=, message=)",
    "get_conversation_history": "messages(conversation, limit=, include_reasoning=)",
    "get_formatted_history": "formatted_history(conversation, max_messages)",
    "get_event_history": "read(conversation, after=)",
    "get_ledger_state": "ledger(conversation)",
}

ARGUMENTS = {
    "conversation_id": "the conversation's id as the first argument",
    "content": "text=",
    "reasoning_text": "text=",
    "agent_id": "agent=",
    "message_id": "key=",
    "event_type": "name=",
    "event_data": "payload=",
    "snapshot_data": "payload=",
    "metadata": "payload=",
    "workflow_id": "create(workflow_id=)",
    "from_sequence": "after= (the number before the first: after=9 for 10)",
    "emit_event": "nothing (a message is one event)",
}
_OF_CREATE = {"conversation_id": "id="}

NAMES = {
    "ConversationPersistenceService": "recollect.open(path, model=...), or recollect.open_async(...) for async code",
    "ConversationService": "recollect.open(path), or recollect.open(enabled=False) to stay in memory",
    "DatabaseManager": "recollect.open(path)",
    "get_database_manager": "recollect.open(path)",
    "get_persistence_adapter": "recollect.open_async(path)",
    "PersistenceSettings": "recollect.Settings(...), or pass settings to recollect.open(path, ...)",
}


def arguments(verb: str, given: Iterable[str]) -> str:
    """What to pass instead of arguments that the verb does not know; "" if none of them is known here."""
    ours = ARGUMENTS | (_OF_CREATE if verb == "create" else {})
    told = ", ".join(f"{ours[name]} for {name}" for name in sorted(given) if name in ours)
    return f"Pass {told}." if told else ""


def says_ours(verb: F) -> F:
    """The verb; where Python refuses an argument by another system's name, its TypeError says ours too."""
    known = verb.__code__.co_varnames

    @wraps(verb)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except TypeError as e:
            in_the_call = e.__traceback__ is not None and e.__traceback__.tb_next is None
            told = in_the_call and arguments(verb.__name__, kwargs.keys() - {*known})
            if not told:
                raise
            raise TypeError(f"{e}. {told}") from None

    return called  # type: ignore[return-value]


def missing(of: object, name: str) -> AttributeError:
    """The error of a verb that a store has not: for one of another system's, with ours. Python's guess from the letters is kept
    out of that one, it would say `get_event` for `add_event`."""
    kind = type(of).__name__
    if name in VERBS:
        return AttributeError(f"{kind!r} object has no attribute {name!r}. Call {VERBS[name]}.", name=name, obj=None)
    return AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=of)
