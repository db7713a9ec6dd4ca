"""Recollect: the memory of an AI agent, in one file its user owns.

import recollect
store = recollect.open("chat.db", user="alex")
c = store.create(title="Trip")
store.append(c.id, role="user", text="Remember I prefer dark mode")
print(store.formatted_history(c.id))
"""

from __future__ import annotations

from . import errors
from .config import Settings
from .errors import RecollectError
from .model import (
    Backup,
    Branch,
    Change,
    Changes,
    Checkpoint,
    Consolidation,
    Context,
    ContextItem,
    Conversation,
    Entry,
    Event,
    Expiry,
    Hit,
    Imported,
    LedgerEntry,
    Memory,
    MemoryChange,
    Provenance,
    Reasoning,
    Receipt,
    Retention,
    Salvage,
    Scan,
    SecretPlace,
    Stats,
    Verification,
)
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .administration import Admin, admin
    from .aio import AsyncStore, open_async

__version__ = "0.1.0"

open = Store.open

__all__ = [
    "Admin",
    "AsyncStore",
    "Backup",
    "Branch",
    "Change",
    "Changes",
    "Checkpoint",
    "Consolidation",
    "Context",
    "ContextItem",
    "Conversation",
    "Entry",
    "Event",
    "Expiry",
    "Hit",
    "Imported",
    "LedgerEntry",
    "Memory",
    "MemoryChange",
    "Provenance",
    "Reasoning",
    "Receipt",
    "RecollectError",
    "Retention",
    "Salvage",
    "Scan",
    "SecretPlace",
    "Settings",
    "Stats",
    "Store",
    "Verification",
    "admin",
    "errors",
    "open",
    "open_async",
]

_LAZY = {"AsyncStore": "aio", "open_async": "aio", "Admin": "administration", "admin": "administration"}


def __getattr__(name: str) -> Any:
    """What costs more to import than a hook may take (asyncio, for one) comes when it is asked for."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    from .other_names import NAMES

    ours = f". Call {NAMES[name]}." if name in NAMES else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{ours}")
