"""An hour of everything at once, with memory, descriptors and the log's size watched: nothing grows that should not.
RECOLLECT_SOAK_SECONDS sets another time; a minute of it runs in CI's nightly form only."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import recollect

from .harness import SOAK_SECONDS, Child, Say, acknowledged, caught, check_file, figures, seeds, write_some

MOST_MEMORY_GROWTH = 64 << 20
MOST_WAL = 96 << 20  # the writer checkpoints past 32 MB; a reader or a backup may hold it open for a while
PROCESSES = 3


def everything(say: Say, path: str, seed: int, name: str, seconds: float) -> None:
    """Write, read, fork, summarize, delete, erase, back up, compact: as a busy application with little discipline."""
    rng = random.Random(seed)
    store = recollect.open(path, user="alex", model=None)
    say("open")
    own = 0
    turn = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turn += 1
        conversation = f"{name}-{own}"
        if turn % 200 == 1:
            own += 1
            conversation = f"{name}-{own}"
            store.create(conversation)
            if own > 6:  # old ones go, so that the store does not grow for ever
                gone = f"{name}-{own - 6}"
                with contextlib.suppress(recollect.errors.StoreBusy):  # gone, but another's long read keeps the old log
                    store.erase(conversation=gone)
                say("erased", gone)
        tag = f"{name}.{turn}"
        seqs = write_some(store, conversation, rng, tag)
        if own > 0:
            say("ack", tag, seqs, conversation)
        match rng.randrange(40):
            case 0:
                store.summarize(conversation)
            case 1:
                store.read(conversation)
            case 2:
                branch = store.fork(conversation)
                store.append(conversation, role="assistant", text=f"{tag}b 1/1 x", branch=branch)
            case 3:
                store.conversations(limit=20)
            case 4 if turn % 7 == 0:
                with contextlib.suppress(recollect.errors.StoreBusy):
                    store.compact()
            case 5 if turn % 5 == 0:
                copy = f"{path}.{name}.copy"
                store.backup(copy)
                os.unlink(copy)
            case 6:
                store.stats(by="kind")
            case _:
                store.messages(conversation)
        if turn % 50 == 0:
            time.sleep(rng.uniform(0, 0.3))  # idle: the log is checkpointed
    store.settle()
    store.close()


def sample(children: list[Child], path: Path) -> dict[str, int]:
    memory = descriptors = 0
    for child in children:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(child.pid)
            memory = max(memory, process.memory_info().rss)
            descriptors = max(descriptors, process.num_fds())
    wal = Path(str(path) + "-wal")
    return {"memory": memory, "descriptors": descriptors, "wal": wal.stat().st_size if wal.exists() else 0}


def soak(path: Path, seconds: float) -> dict[str, Any]:
    (seed,) = seeds("soak", 1)
    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(Child(everything, str(path), seed + i, f"p{i}", seconds)) for i in range(PROCESSES)
        ]
        for child in children:
            child.hear("open")
        samples = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(1.0, seconds / 20))
            samples.append(sample(children, path))
        said = [child.finish(120) for child in children]
    erased = {line[1] for lines in said for line in lines if line[0] == "erased"}
    acked: dict[str, list[int] | None] = {}
    for lines in said:
        kept = [line for line in lines if line[0] == "ack" and line[3] not in erased]
        acked |= acknowledged(kept)
    settled = samples[len(samples) // 4 :]
    at_first = settled[: max(1, len(settled) // 3)]
    return {
        "seconds": seconds,
        "acknowledged": sum(len(acknowledged(lines)) for lines in said),
        "wrong": check_file(path, acked),
        "memory_growth_mb": round((settled[-1]["memory"] - settled[0]["memory"]) / 1e6, 1),
        "memory_most_mb": round(max(s["memory"] for s in samples) / 1e6, 1),
        "descriptors_growth": settled[-1]["descriptors"] - max(s["descriptors"] for s in at_first),
        "descriptors_most": max(s["descriptors"] for s in samples),
        "wal_most_mb": round(max(s["wal"] for s in samples) / 1e6, 1),
        "file_mb": round(path.stat().st_size / 1e6, 1),
    }


def complaints(measured: dict[str, Any]) -> list[str]:
    found = list(measured["wrong"][:10])
    if measured["memory_growth_mb"] > MOST_MEMORY_GROWTH / 1e6:
        found.append(f"memory grew by {measured['memory_growth_mb']} MB")
    if measured["descriptors_growth"] > 10 or measured["descriptors_most"] > 100:
        found.append(f"descriptors: {measured['descriptors_most']}, {measured['descriptors_growth']} more than before")
    if measured["wal_most_mb"] > MOST_WAL / 1e6:
        found.append(f"the log grew to {measured['wal_most_mb']} MB")
    return found


@pytest.mark.nightly
def test_an_hour_of_everything(tmp_path: Path) -> None:
    measured = soak(tmp_path / "chat.db", SOAK_SECONDS)
    assert complaints(measured) == [], measured
    figures("soak", **measured)
    shutil.rmtree(tmp_path, ignore_errors=True)


def leak(say: Say, path: str, seconds: float) -> None:
    """The control: stores that are opened and never closed."""
    kept = [recollect.open(path, user="alex", background=False) for _ in range(60)]
    say("leaking", len(kept))
    time.sleep(seconds)


def test_control_a_leak_of_descriptors_is_caught(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    recollect.open(path, user="alex", background=False).close()
    with Child(leak, str(path), 60.0) as child:
        child.hear("leaking")
        leaking = sample([child], path)["descriptors"]
    measured = {
        "wrong": [],
        "memory_growth_mb": 0,
        "descriptors_growth": leaking,
        "descriptors_most": leaking,
        "wal_most_mb": 0,
    }
    assert [line for line in complaints(measured) if line.startswith("descriptors")]
    caught("soak", "stores that are opened and never closed")


def test_a_few_seconds_of_everything(tmp_path: Path) -> None:
    """The short form: the same load and the same watch, too short to say much about growth."""
    measured = soak(tmp_path / "chat.db", 8.0)
    assert [line for line in complaints(measured) if not line.startswith("memory")] == [], measured
    figures("soak-short", **measured)
