"""What a caller may hand to a verb, and what becomes of it: an id, a limit, several texts."""

from __future__ import annotations

import os

from .. import checks, ids
from ..errors import InvalidInput
from ..model import Conversation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import Branch, Memory
    from ..redact import Gate

    ConversationLike = str | Conversation
    BranchLike = str | Branch | None
    PathLike = str | os.PathLike[str]


def conversation_id(conversation: ConversationLike) -> str:
    return conversation.id if isinstance(conversation, Conversation) else ids.check(conversation, "conversation id")


def memory_id(memory: str | Memory) -> str:
    return ids.check(memory if isinstance(memory, str) else getattr(memory, "id", memory), "memory id")


def safe_id(value: str, what: str, gate: Gate) -> str:
    """An id stands for itself, so a secret in it cannot be replaced, only refused."""
    value = ids.check(value, what)
    if what == "user" and value.startswith(ids.ERASED):
        raise InvalidInput(
            f"No user is called {ids.ERASED}...: that is what stands in the place of those who were erased."
        )
    family = gate.names_a_secret(value)
    if family:
        raise InvalidInput(f"The {what} holds a secret ({family}). Ids are kept and shown as they are: choose another.")
    return value


def scope(value: str, what: str) -> str:
    checks.text(value, what)
    if not value.strip() or len(value) > 4096:
        raise InvalidInput(f"{what} must have 1 to 4096 characters.")
    return value


def limit_of(value: int | None, what: str = "limit") -> int | None:
    return None if value is None else checks.count(value, what)


def several(values: Sequence[str] | None, what: str) -> tuple[str, ...] | None:
    if values is None:
        return None
    return tuple(checks.text(v, what) for v in ((values,) if isinstance(values, str) else values))


def absolute_path(path: PathLike) -> str:
    return os.path.abspath(os.path.expanduser(path))
