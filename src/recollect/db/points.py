"""Named places at which a fault test may stop the process.

`reach("before commit")` does nothing unless a test has set `hook`. It costs 30 ns, and it means that the code which is
killed in tests/faults is the very code that runs for users.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

hook: Callable[[str], None] | None = None

NAMES = (
    "file made",
    "schema built",
    "schema committed",
    "migration backed up",
    "gate taken",
    "transaction begun",
    "request applied",
    "before commit",
    "after commit",
    "before checkpoint",
    "after checkpoint",
    "summary planned",
    "summary written",
    "job claimed",
    "job done",
    "backup copied",
    "backup verified",
    "erasure begun",
    "erased elsewhere",
    "erased",
    "erasure scrubbed",
    "compacted",
    "restore set aside",
    "conversion copied",
    "conversion verified",
    "conversion placed",
    "conversion noted",
)


def reach(name: str) -> None:
    if hook is not None:
        hook(name)
