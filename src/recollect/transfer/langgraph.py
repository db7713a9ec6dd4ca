"""A database of LangGraph's own SqliteSaver, brought into a store: every thread with its checkpoints, writes and lineage.

The file is only read, with the one SQLite of this process. Each checkpoint is stored as a graph would have stored it, in the
order in which they were made: so its messages come into the log, forks become branches, and secrets are replaced. What is
there already is left alone, so that an import that was interrupted can be started again.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from ..errors import Damaged
from ..model import Imported, Problem
from . import erased, was_erased
from ._files import is_one, opened

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from ..langgraph import Saver
    from ..model import Progress
    from ..store import Store

ABOUT = "threads of LangGraph's SqliteSaver, with their checkpoints and lineage"
WHOSE = "LangGraph's SqliteSaver"
TABLES = {
    "checkpoints": {
        "thread_id",
        "checkpoint_ns",
        "checkpoint_id",
        "parent_checkpoint_id",
        "type",
        "checkpoint",
        "metadata",
    },
    "writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel", "type", "value"},
}


def looks_like(path: Path) -> bool:
    """Whether a file is a database of SqliteSaver, and not a store of ours, whose tables of these names are others."""
    return is_one(path, WHOSE, TABLES, never="events")


def bring(store: Store, path: Path, *, again: bool | None = None, progress: Progress | None = None) -> Imported:
    """`import_langgraph` as every format has it."""
    found = import_langgraph(store, path, again=bool(again), progress=progress)
    added = {"threads": found.threads, "checkpoints": found.checkpoints, "writes": found.writes}
    return Imported("langgraph", added, {"checkpoints": found.known}, found.problems)


class Threads(NamedTuple):
    """What was brought in."""

    threads: int
    checkpoints: int
    known: int
    """Checkpoints that were there already."""
    writes: int
    problems: tuple[Problem, ...] = ()
    """Threads that were left out."""


def import_langgraph(
    store: Store, path: Path | str, *, serde: SerializerProtocol | None = None, again: bool = False,
    progress: Progress | None = None,
) -> Threads:  # fmt: skip
    """Bring a database of SqliteSaver into a store, for its user. `serde` is the serializer it was written with, if it was
    not LangGraph's own. Threads that were erased here are left out, unless they are wanted `again`."""
    from ..langgraph import Saver  # here: to recognise a file must not take LangGraph, which loads for a second

    source = opened(Path(path), WHOSE, TABLES, never="events")
    try:
        saver = copy.copy(Saver(store, serde=serde))
        saver._historic = True
        counted: list[Any] = source.execute("select count(*) from checkpoints").fetchall()
        total = int(counted[0][0])
        has_path = any(row[1] == "task_path" for row in source.execute("pragma table_info(writes)"))
        threads = done = known = writes = 0
        names: list[Any] = source.execute("select distinct thread_id from checkpoints order by 1").fetchall()
        problems: list[Problem] = []
        for (thread,) in names:
            if was_erased(store, thread):
                if not again:
                    problems.append(erased(thread))
                    continue
                store.create(thread, origin="langgraph", again=True)
            threads += 1
            for row in _checkpoints(source, thread):
                added, written = _one(saver, source, thread, row, has_path)
                known += not added
                writes += written
                done += 1
                if progress:
                    progress("checkpoints", done, total)
        return Threads(threads, done - known, known, writes, tuple(problems))
    finally:
        source.close()


def _checkpoints(source: apsw.Connection, thread: str) -> Iterator[tuple[Any, ...]]:
    """One thread's checkpoints in the order in which they were made, a page at a time: each holds the whole state."""
    after: tuple[Any, ...] = ("", "")
    rows: list[Any]
    while rows := source.execute(
        "select checkpoint_id, checkpoint_ns, parent_checkpoint_id, type, checkpoint, metadata from checkpoints"
        " where thread_id = ? and (checkpoint_id, checkpoint_ns) > (?, ?) order by checkpoint_id, checkpoint_ns limit 20",
        (thread, *after),
    ).fetchall():
        yield from rows
        after = rows[-1][:2]


def _one(
    saver: Saver, source: apsw.Connection, thread: str, row: tuple[Any, ...], has_path: bool
) -> tuple[bool, int]:  # fmt: skip
    id, namespace, parent, type, data, metadata = row
    where: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": id}}
    if saver.get_tuple(where) is not None:
        return False, 0
    checkpoint = saver._loads((str(type), bytes(data)))
    if not isinstance(checkpoint, dict) or not {"id", "channel_versions"} <= checkpoint.keys():
        raise Damaged(f"Checkpoint {id} of thread {thread!r} in the file is not what SqliteSaver writes.")
    said: Any = json.loads(metadata) if metadata else {}
    before: Any = {}
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
    if parent:
        config["configurable"]["checkpoint_id"] = parent
        above = saver.get_tuple(config)
        before = above.checkpoint["channel_versions"] if above is not None else {}
    new: Any = {c: v for c, v in checkpoint["channel_versions"].items() if before.get(c) != v}
    saver.put(config, checkpoint, said, new)  # type: ignore[arg-type]
    rows: list[Any] = source.execute(
        f"select task_id, {'task_path' if has_path else repr('')}, idx, channel, type, value from writes"
        " where thread_id = ? and checkpoint_ns = ? and checkpoint_id = ? order by task_id, idx",
        (thread, namespace, id),
    ).fetchall()
    for (task, path), group in groupby(rows, key=lambda w: w[:2]):
        saver._keep(
            saver._place(where), [(w[2], w[3], saver._loads((str(w[4]), bytes(w[5])))) for w in group], task, path
        )
    return True, len(rows)
