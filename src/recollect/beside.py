"""What lies beside a store in the data folder, and may tell of what was erased: it goes with every erasure.

Hooks write down which workspaces were searched for secrets, how often each session used a tool, and what went wrong; imports,
how far each transcript was read. None of it says whose it is, and all of it is made again when it is needed; so all of it goes,
whatever was erased. Telemetry erases its own lines (`telemetry`), and backups are the user's to delete: receipts name them.
"""

from __future__ import annotations

import os

SEARCHED = os.path.join("hooks", "searched")
IMPORTS = "imports"
LOGS = ("hooks.log", "hooks.log.1")
SESSION = (".uses", ".read", ".scheduled")  # counters, places in transcripts, and marks of prompts that will come


def erase(folder: str) -> None:
    """Remove it from a data folder. OSError if that could not be done."""
    hooks = os.path.join(folder, "hooks")
    counters = (
        [os.path.join(hooks, n) for n in os.listdir(hooks) if n.endswith(SESSION)] if os.path.isdir(hooks) else []
    )
    cursors = [
        os.path.join(where, name)
        for where, _, names in os.walk(os.path.join(folder, IMPORTS))
        for name in names
        if name.endswith(".json")
    ]
    for path in (*(os.path.join(folder, name) for name in (SEARCHED, *LOGS)), *counters, *cursors):
        try:
            # Overwritten first: a file that is only removed leaves its bytes on the disk.
            with open(path, "r+b") as f:
                f.write(bytes(os.fstat(f.fileno()).st_size))
                f.flush()
                os.fsync(f.fileno())
            os.unlink(path)
        except FileNotFoundError:
            continue
