"""Many processes, one file: all of them get their turn, and one that stands still does not take the others with it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import recollect
from recollect.db import points

from .harness import Child, Say, acknowledged, caught, check_file, figures, inside, texts

PROCESSES = 8
SECONDS = 20.0
LONGEST_WAIT = 1.0
FAIREST = 0.25


# -- a crowd ---------------------------------------------------------------------------------------------------------


def one_of_many(say: Say, path: str, name: str, seconds: float, gated: bool) -> None:
    """Append as fast as possible; say how often, the longest wait, and every error."""
    timeout = 10_000
    if not gated:
        no_gate()
        timeout = 1_000
    store = recollect.open(path, user="alex", background=False, busy_timeout_ms=timeout)
    say("ready")
    while not os.path.exists(path + ".go"):
        time.sleep(0.001)
    done, longest, errors, last, overtaken = 0, 0.0, 0, 0, 0
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        try:
            seq = store.append("c", role="user", text=texts(f"{name}.{done}", 1)[0]).seq
            done += 1
            if last and time.monotonic() - began > LONGEST_WAIT:
                overtaken = max(overtaken, seq - last - 1)
            last = seq
        except recollect.errors.StoreBusy:
            errors += 1
        longest = max(longest, time.monotonic() - began)
    say("done", done, longest, errors, overtaken)
    store.close()


def no_gate() -> None:
    """The control: SQLite's own lock instead of a queue, and no patience."""
    from recollect.db import file, writer

    class Open:
        def __init__(self, path: str) -> None:
            pass

        def __enter__(self) -> None: ...
        def __exit__(self, *exc: object) -> None: ...
        def close(self) -> None: ...

    connect = file.connect

    def impatient(path: str, cipher: Any = None) -> Any:
        connection = connect(path, cipher)
        connection.set_busy_timeout(20)
        return connection

    writer.Gate = Open  # type: ignore[assignment]
    writer.connect = impatient


def heartbeat(say: Say, path: str, seconds: float) -> None:
    """How long this machine itself stands still meanwhile: a process that sleeps, writes a page and syncs it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    say("ready")
    longest = 0.0
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        time.sleep(0.005)
        os.pwrite(fd, bytes(4096), 0)
        os.fdatasync(fd)
        longest = max(longest, time.monotonic() - began - 0.005)
    say("done", longest)


def crowd(path: Path, seconds: float, *, gated: bool = True) -> dict[str, Any]:
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
    with contextlib.ExitStack() as stack:
        beat = stack.enter_context(Child(heartbeat, str(path) + ".beat", seconds))
        children = [
            stack.enter_context(Child(one_of_many, str(path), f"p{i}", seconds, gated)) for i in range(PROCESSES)
        ]
        for child in (beat, *children):
            child.hear("ready")
        Path(str(path) + ".go").touch()
        figures = [child.hear("done", seconds + 60) for child in children]
        stood_still = beat.hear("done", seconds + 60)[1]
        for child in children:
            child.finish()
    counts = [line[1] for line in figures]
    acked: dict[str, list[int] | None] = {f"p{i}.{n}": None for i, count in enumerate(counts) for n in range(count)}
    return {
        "processes": PROCESSES,
        "seconds": seconds,
        "appends": sum(counts),
        "per_second": round(sum(counts) / seconds),
        "busy_errors": sum(line[3] for line in figures),
        "slowest_to_fastest": round(min(counts) / max(counts), 3) if max(counts) else 0.0,
        "longest_wait_s": round(max(line[2] for line in figures), 3),
        "overtaken": max(line[4] for line in figures),
        "machine_stood_still_s": round(stood_still, 3),
        "wrong": check_file(path, acked),
    }


def complaints(measured: dict[str, Any]) -> list[str]:
    """What a crowd may not do. A machine that stood still itself is not the store's doing: that time is allowed for, and so is
    a wait in which the others came no further either, as for a disk that takes a second for one sync."""
    found = list(measured["wrong"])
    if measured["busy_errors"]:
        found.append(f"{measured['busy_errors']} writes found the store locked")
    if measured["slowest_to_fastest"] < FAIREST:
        found.append(f"the slowest process wrote {measured['slowest_to_fastest']} of what the fastest did")
    much = max(4 * PROCESSES, LONGEST_WAIT * measured["per_second"])
    if measured["longest_wait_s"] > LONGEST_WAIT + measured["machine_stood_still_s"] and measured["overtaken"] > much:
        found.append(f"a write waited for {measured['longest_wait_s']} s, and {measured['overtaken']} others did not")
    return found


def test_eight_processes_write_for_twenty_seconds(tmp_path: Path) -> None:
    measured = crowd(tmp_path / "chat.db", SECONDS)
    assert complaints(measured) == [], measured
    assert measured["appends"] > 50 * PROCESSES
    figures("crowd", **measured)


def test_control_a_crowd_without_the_gate_is_caught(tmp_path: Path) -> None:
    measured, found = [], []
    for round in range(4):  # by luck a crowd may be orderly for some seconds
        measured.append(crowd(tmp_path / f"chat-{round}.db", 4.0, gated=False))
        found = complaints(measured[-1])
        if found:
            break
    assert found, f"without the gate nothing was found: {measured}"
    caught("crowd", "without the gate: " + "; ".join(found)[:200])


# -- a process that stands still -------------------------------------------------------------------------------------


def stop_at(say: Say, path: str, point: str, after: int) -> None:
    """Append; at the n-th passing of a point, stop as under a debugger or Ctrl-Z, holding whatever is held there."""
    left = after

    def hook(name: str) -> None:
        nonlocal left
        left -= name == point
        if name == point and left == 0:
            say("stopping")
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this very thread, before it goes on

    store = recollect.open(path, user="alex", background=False)
    points.hook = hook
    for n in range(20):
        seq = store.append("c", role="user", text=texts(f"stopped.{n}", 1)[0]).seq
        say("ack", f"stopped.{n}", [seq])
    store.close()


def meanwhile(say: Say, path: str) -> None:
    """Another process: it gets a typed error within its timeout, and reads go on; later it writes again."""
    store = recollect.open(path, user="alex", background=False, busy_timeout_ms=300)
    there = len(store.read("c"))
    began = time.monotonic()
    for n in range(2):
        with contextlib.suppress(recollect.errors.StoreBusy):
            seq = store.append("c", role="user", text=texts(f"meanwhile.{n}", 1)[0]).seq
            say("written", seq)
    say("refused", time.monotonic() - began)
    assert len(store.read("c")) == there
    assert store.messages("c") and store.stats().events == there
    assert store.verify().ok
    say("reads go on")
    end = time.monotonic() + 30
    while True:  # the first to get through says that it is over
        try:
            seq = store.append("c", role="user", text=texts("afterwards", 1)[0]).seq
            break
        except recollect.errors.StoreBusy:
            assert time.monotonic() < end, "still locked 30 s after the stopped process was gone"
            time.sleep(0.02)
    say("ack", "afterwards", [seq])
    store.close()


def wait_until_stopped(pid: int) -> None:
    end = time.monotonic() + 60
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < end, "the child did not stop"
        time.sleep(0.005)


@pytest.mark.parametrize("end", [signal.SIGCONT, signal.SIGKILL], ids=["resumed", "killed"])
@pytest.mark.parametrize(
    "point", ["gate taken", "transaction begun", "request applied", "before commit", "after commit"]
)
def test_a_process_stopped_while_it_holds_the_gate(tmp_path: Path, point: str, end: signal.Signals) -> None:
    path = tmp_path / "chat.db"
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
        store.append("c", role="user", text=texts("before", 1)[0])
    with Child(stop_at, str(path), point, 4) as stopped:
        stopped.hear("stopping")
        wait_until_stopped(stopped.pid)
        with Child(meanwhile, str(path)) as other:
            refused = other.hear("refused")
            assert refused[1] >= 0.55, "both writes must have waited for their time limit"
            assert refused[1] < 30
            assert not [line for line in other.said() if line[0] == "written"]
            other.hear("reads go on")
            stopped.signal(end)
            said = other.finish()
        acked = acknowledged(said)
        acked |= acknowledged(stopped.finish() if end == signal.SIGCONT else stopped.kill())
    assert "afterwards" in acked
    assert len(acked) == (21 if end == signal.SIGCONT else 4), acked
    assert check_file(path, acked) == []


def open_meanwhile(say: Say, path: str) -> None:
    began = time.monotonic()
    try:
        recollect.open(path, user="alex", background=False, busy_timeout_ms=300).close()
        say("opened", time.monotonic() - began)
    except recollect.errors.StoreBusy:
        say("refused", time.monotonic() - began)


def stop_while_creating(say: Say, path: str) -> None:
    def hook(name: str) -> None:
        if name == "schema built":
            say("stopping")
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this very thread, before it goes on

    points.hook = hook
    recollect.open(path, user="alex", background=False).close()


def test_opening_while_the_creator_stands_still_has_a_time_limit(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    with Child(stop_while_creating, path) as stopped:
        stopped.hear("stopping")
        wait_until_stopped(stopped.pid)
        said = inside(open_meanwhile, path, seconds=60)
        assert said[0][0] == "refused", said
        stopped.signal(signal.SIGKILL)
    inside(open_meanwhile, path)
    with recollect.open(path, user="alex", background=False) as store:
        assert store.verify().ok


def test_a_lone_writer_is_not_hindered_by_readers(tmp_path: Path) -> None:
    """Readers never block the writer, nor it them: no error on either side."""
    path = tmp_path / "chat.db"
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
        with Child(read_on, str(path), 2.0) as reader:
            reader.hear("ready")
            end = time.monotonic() + 2.0
            n = 0
            while time.monotonic() < end:
                store.append("c", role="user", text=texts(f"w.{n}", 1)[0])
                n += 1
            reader.finish()
    assert check_file(path, {f"w.{i}": [i + 1] for i in range(n)}) == []


def read_on(say: Say, path: str, seconds: float) -> None:
    store = recollect.open(path, user="alex", background=False)
    say("ready")
    end = time.monotonic() + seconds
    seen = 0
    while time.monotonic() < end:
        events = store.read("c")
        assert [e.seq for e in events] == list(range(1, len(events) + 1))
        assert len(events) >= seen
        seen = len(events)
    store.close()
