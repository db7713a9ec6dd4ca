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

from ..errors import ConversationDeleted, Damaged, InvalidInput, NotFound
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
            why = _refused(store, thread, again)
            if why is not None:
                problems.append(why)
                continue
            threads += 1
            for row in _checkpoints(source, thread):
                try:
                    here = saver.get_tuple(_place(thread, row))
                    if here is None or len(here.pending_writes or ()) < _written(source, thread, row):
                        # Also where it is here: an import was interrupted between the two, or the run went on there.
                        writes += _one(saver, thread, row, _read(saver, source, thread, row, has_path), here is None)
                except _Unreadable as e:  # what comes after it in its thread rests on it; other threads do not
                    fix = "What came before it is in. Mend the file, or name the types, and import again."
                    problems.append(Problem(f"thread {thread!r}, checkpoint {row[0]}", str(e), fix))
                    break
                except ConversationDeleted:  # while it was read
                    problems.append(_binned(thread))
                    break
                known += here is not None
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


def _refused(store: Store, thread: Any, again: bool) -> Problem | None:
    """Why a thread cannot come in, if so: one of them does not keep the others out."""
    try:
        store._safe_id(thread, "thread id")
        if was_erased(store, thread):
            if not again:
                return erased(thread)
            store.create(thread, origin="langgraph", again=True)
        store.get(thread)
    except ConversationDeleted:
        return _binned(thread)
    except NotFound:
        pass
    except InvalidInput as e:
        name = str(store._gate.another().text(str(thread)))[:60]
        return Problem(f"thread {name!r}", f"{e} It was left out.", "No run could go on with it here: rename it there.")
    return None


def _binned(thread: str) -> Problem:
    what, fix = "It is in the bin here. It was left as it is.", "Restore or erase it, then import again."
    return Problem(f"thread {thread!r}", what, fix)


class _Unreadable(Exception):
    """A row of the file is not what SqliteSaver writes, or holds what is not allowed."""


def _place(thread: str, row: tuple[Any, ...]) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": row[1], "checkpoint_id": row[0]}}


def _written(source: apsw.Connection, thread: str, row: tuple[Any, ...]) -> int:
    found: list[Any] = source.execute(
        "select count(*) from writes where thread_id = ? and checkpoint_ns = ? and checkpoint_id = ?",
        (thread, row[1], row[0]),
    ).fetchall()
    return int(found[0][0])


class _Read(NamedTuple):
    """A checkpoint and what was written since it, as values."""

    checkpoint: Any
    metadata: Any
    writes: list[tuple[str, str, int, str, Any]]


def _read(saver: Saver, source: apsw.Connection, thread: str, row: tuple[Any, ...], has_path: bool) -> _Read:
    id, namespace, _, type, data, metadata = row
    rows: list[Any] = source.execute(
        f"select task_id, {'task_path' if has_path else repr('')}, idx, channel, type, value from writes"
        " where thread_id = ? and checkpoint_ns = ? and checkpoint_id = ? order by task_id, idx",
        (thread, namespace, id),
    ).fetchall()
    try:
        checkpoint = saver._loads((str(type), bytes(data)))
        if not isinstance(checkpoint, dict) or not {"id", "channel_versions"} <= checkpoint.keys():
            raise _Unreadable("It is not what SqliteSaver writes.")
        said: Any = json.loads(metadata) if metadata else {}
        return _Read(checkpoint, said, [(*w[:4], saver._loads((str(w[4]), bytes(w[5])))) for w in rows])
    except (Damaged, ValueError, TypeError) as e:
        raise _Unreadable(str(e)) from e


def _one(saver: Saver, thread: str, row: tuple[Any, ...], read: _Read, is_new: bool) -> int:
    """One checkpoint, unless it is there, and its writes. Returns how many of these there are."""
    _, namespace, parent, *_ = row
    if is_new:
        before: Any = {}
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
        if parent:
            config["configurable"]["checkpoint_id"] = parent
            above = saver.get_tuple(config)
            before = above.checkpoint["channel_versions"] if above is not None else {}
        new: Any = {c: v for c, v in read.checkpoint["channel_versions"].items() if before.get(c) != v}
        saver.put(config, read.checkpoint, read.metadata, new)
    for (task, path), group in groupby(read.writes, key=lambda w: w[:2]):
        saver._keep(saver._place(_place(thread, row)), [(w[2], w[3], w[4]) for w in group], task, path)
    return len(read.writes)
