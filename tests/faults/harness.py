"""What the fault tests share: processes that can be killed, a checker that says what a fault has cost, and figures.

A `Child` runs a function in a clean process and hears what it says, line by line: what is acknowledged travels over a
pipe in one unbuffered write, *after* the verb has returned, so it outlives the process that is killed next.

Everything a child writes carries its own account: the text of an event is `<tag> <k>/<n> ...`, the k-th of a batch of
n. So `check` needs no record of what was tried: whatever is in the store is either a whole batch or a fault.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import platform
import random
import re
import signal
import threading
import time
import traceback
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import recollect

# Read at import: each test runs in an environment without the developer's RECOLLECT_ variables.
FIGURES = os.environ.get("RECOLLECT_FIGURES") == "1"
SOAK_SECONDS = float(os.environ.get("RECOLLECT_SOAK_SECONDS") or 3600)
SEED = os.environ.get("RECOLLECT_FAULT_SEED")
ARTIFACTS = Path(__file__).parents[2] / "test-artifacts" / "faults"

Say = Callable[..., None]

# A server that has imported the package and opened nothing; a child of it starts in a few milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["faults.warm", "faults.harness"])


@cache
def start_the_server() -> None:
    """It finds this folder by PYTHONPATH only."""
    from multiprocessing import forkserver

    with tests_on_the_path():
        forkserver.ensure_running()


@contextlib.contextmanager
def tests_on_the_path() -> Iterator[None]:
    before = os.environ.get("PYTHONPATH")
    tests = str(Path(__file__).parents[1])
    os.environ["PYTHONPATH"] = f"{before}{os.pathsep}{tests}" if before else tests
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before:
            os.environ["PYTHONPATH"] = before


def seeds(test: str, rounds: int) -> Iterator[int]:
    """A seed for each round, printed so that a failure says which; RECOLLECT_FAULT_SEED repeats one run.

    CI draws the same ones for the same commit, as with hypothesis; a developer's run and `make soak` draw new ones."""
    fixed = SEED or (str(zlib.crc32(test.encode())) if os.environ.get("CI") and "nightly" not in test else "")
    base = int(fixed) if fixed else random.SystemRandom().randrange(1 << 32)
    print(f"{test}: RECOLLECT_FAULT_SEED={base}")
    for i in range(rounds):
        yield base * 1_000_003 + i


# -- processes -------------------------------------------------------------------------------------------------------


class Child:
    """A process that runs `fn(say, *args)`. Leaving the `with` kills it, stopped or not."""

    def __init__(self, fn: Callable[..., None], *args: Any, may_have_children: bool = False) -> None:
        start_the_server()
        self._reader, writer = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=_child, args=(writer, fn, args), daemon=not may_have_children)
        self.process.start()
        writer.close()
        self.pid: int = self.process.pid or 0
        self._said = bytearray()
        self._heard = threading.Condition()
        self._silent = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        while True:
            try:
                data = os.read(self._reader.fileno(), 65536)
            except OSError:
                data = b""
            with self._heard:
                self._said += data
                self._silent = not data
                self._heard.notify_all()
            if not data:
                return

    def said(self) -> list[Any]:
        """Everything said so far. The last line may be cut by a kill: that was never said."""
        lines = bytes(self._said).split(b"\n")[:-1]
        return [json.loads(line) for line in lines]

    def hear(self, word: str, seconds: float = 60.0, *, times: int = 1) -> Any:
        """Wait until a line starts with this word, or so many do; returns the first of them."""
        end = time.monotonic() + seconds
        mark = f'["{word}"'.encode()
        with self._heard:
            while len(at := [line for line in bytes(self._said).split(b"\n")[:-1] if line.startswith(mark)]) < times:
                self._complain()
                assert not self._silent, f"the child ended and said {word!r} {len(at)} times: {self.said()[-3:]}"
                assert self._heard.wait(end - time.monotonic()), f"the child did not say {word!r} within {seconds} s"
        return json.loads(at[0])

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> list[Any]:
        """Kill -9; returns what was said before."""
        if self.process.is_alive():
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(self.pid, signal.SIGKILL)
        return self._gone(30.0)

    def finish(self, seconds: float = 120.0) -> list[Any]:
        """Wait for its end; an error in the child is an error here. Returns what was said."""
        self.process.join(seconds)
        assert not self.process.is_alive(), f"the child did not end within {seconds} s; last: {self.said()[-3:]}"
        said = self._gone(30.0)
        self._complain()
        assert self.process.exitcode == 0, f"the child ended with {self.process.exitcode}; last: {said[-3:]}"
        return said

    def ended(self, seconds: float = 120.0) -> list[Any]:
        """Wait for an end of whatever kind, a kill by its own hand say."""
        self.process.join(seconds)
        assert not self.process.is_alive(), f"the child did not end within {seconds} s; last: {self.said()[-3:]}"
        said = self._gone(30.0)
        self._complain()
        return said

    def _gone(self, seconds: float) -> list[Any]:
        self.process.join(seconds)
        self._listener.join(seconds)
        return self.said()

    def _complain(self) -> None:
        for line in self.said():
            assert line[0] != "error", f"in the child: {line[1]}"

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()
        self.process.close()
        self._reader.close()


def _child(writer: Any, fn: Callable[..., None], args: tuple[Any, ...]) -> None:
    def say(*what: Any) -> None:
        line = json.dumps(what).encode() + b"\n"
        assert len(line) <= 4096, "longer lines of several threads would mix"
        os.write(writer.fileno(), line)

    try:
        fn(say, *args)
    except BaseException:
        say("error", traceback.format_exc()[-3000:])
        os._exit(1)
    os._exit(0)  # a child has nothing to tidy: what it did not write by now was not acknowledged


def inside(fn: Callable[..., None], *args: Any, seconds: float = 120.0, may_have_children: bool = False) -> list[Any]:
    """Run `fn(say, *args)` in a process of its own to its end; returns what it said."""
    with Child(fn, *args, may_have_children=may_have_children) as child:
        return child.finish(seconds)


# -- writers ---------------------------------------------------------------------------------------------------------


def texts(tag: str, size: int, padding: int = 0) -> list[str]:
    return [f"{tag} {k}/{size} {'.' * padding}" for k in range(1, size + 1)]


def write_some(store: recollect.Store, conversation: str, rng: random.Random, tag: str) -> list[int]:
    """One append of one or several events, small or over several pages; returns their numbers."""
    size = rng.choice((1, 1, 1, 2, 5, 9))
    padding = rng.choice((0, 0, 40, 400, 6000)) if size < 5 else 20
    if size == 1:
        event = store.append(conversation, role="user", text=texts(tag, 1, padding)[0], key=rng.choice((None, tag)))
        return [event.seq]
    entries: list[recollect.Entry] = [{"role": "user", "text": text} for text in texts(tag, size, padding)]
    return [event.seq for event in store.append_many(conversation, entries)]


def writer(say: Say, path: str, seed: int, threads: int = 3, honest: bool = True, turns: int = 1 << 30) -> None:
    """Append until killed, acknowledging each batch once it is durable - or, dishonestly, before."""
    store = recollect.open(path, user="alex", background=False)
    say("open")

    def work(number: int) -> None:
        rng = random.Random(seed * 31 + number)
        conversation = f"c{rng.randrange(3)}"
        with contextlib.suppress(recollect.errors.AlreadyExists):
            store.create(conversation)
        for n in range(turns):
            tag = f"{seed}.{number}.{n}"
            if not honest:
                say("ack", tag, None)
            seqs = write_some(store, conversation, rng, tag)
            if honest:
                say("ack", tag, seqs)

    together(*(partial(work, i) for i in range(threads)))
    store.close()


def together(*calls: Callable[[], None]) -> None:
    """Each in a thread of its own; the first error of any of them is raised."""
    errors: list[BaseException] = []

    def guarded(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def checkpoint_often(pages: int) -> None:
    """In this process the log goes into the file every so many pages, instead of 1,000: more happens in less time."""
    from recollect.db import wal

    assert wal.MAX_PAGES
    wal.MAX_PAGES = pages


def acknowledged(said: list[Any]) -> dict[str, list[int] | None]:
    """What a child was told is durable: the tag of each batch, and the numbers it got."""
    return {line[1]: line[2] for line in said if line[0] == "ack"}


# -- the checker -----------------------------------------------------------------------------------------------------


def check(store: recollect.Store, acked: Mapping[str, list[int] | None]) -> list[str]:
    """What is wrong with a store after a fault, nothing when all is well. `acked` maps tags to numbers (None: any)."""
    wrong: list[str] = []
    batches: dict[str, dict[int, int]] = defaultdict(dict)
    sizes: dict[str, int] = {}
    total = 0
    cursor = None
    while page := store.conversations(limit=500, cursor=cursor):
        cursor = page[-1].cursor
        for c in page:
            events = store.read(c.id, branch="*")
            total += len(events)
            numbers = [e.seq for e in events]
            if numbers != list(range(1, c.last_seq + 1)):
                seen = set(numbers)
                missing = [n for n in range(1, c.last_seq + 1) if n not in seen][:5]
                twice = sorted({n for n in numbers if numbers.count(n) > 1})[:5] if len(seen) < len(numbers) else []
                wrong.append(f"numbers of {c.id}: missing {missing}, twice {twice}, counter {c.last_seq}")
            for e in events:
                if e.kind != "message":
                    continue
                tag, part = e.text.split(" ")[:2]
                k, size = (int(n) for n in part.split("/"))
                if k in batches[tag]:
                    wrong.append(f"there twice: {tag} {part}, numbers {batches[tag][k]} and {e.seq}")
                batches[tag][k] = e.seq
                sizes[tag] = size
    for tag, parts in batches.items():
        if sorted(parts) != list(range(1, sizes[tag] + 1)):
            wrong.append(f"half a batch: {tag} has {len(parts)} of {sizes[tag]}")
    for tag, seqs in acked.items():
        if tag not in batches:
            wrong.append(f"lost: {tag} was acknowledged as {seqs}")
        elif seqs is not None and seqs != [batches[tag][k] for k in sorted(batches[tag])]:
            wrong.append(f"moved: {tag} was acknowledged as {seqs}, is {sorted(batches[tag].values())}")
    if (counted := store.stats().events) != total:
        wrong.append(f"stats() counts {counted} events, {total} were read")
    wrong += [f"verify: {p.where}: {p.what}" for p in store.verify().problems]
    return wrong


def check_file(path: str | Path, acked: Mapping[str, list[int] | None], user: str = "alex") -> list[str]:
    """`check`, on a store that is opened for it and closed again."""
    with recollect.open(path, user=user, background=False) as store:
        return check(store, acked)


# -- figures ---------------------------------------------------------------------------------------------------------


def machine() -> str:
    cpus = os.cpu_count() or 1
    return f"{platform.system()} {platform.release()}, {cpus} cores, Python {platform.python_version()}"


def figures(name: str, **measured: Any) -> None:
    """Print what was measured; keep it for docs/faults.md (page.py) where RECOLLECT_FIGURES=1 asks for it. Called last in
    a test: a figure that was not asserted is not published."""
    print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in measured.items()))
    if FIGURES:
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        record = {"name": name, "machine": machine(), "date": time.strftime("%Y-%m-%d", time.gmtime()), **measured}
        (ARTIFACTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def caught(fault: str, what: str) -> None:
    """A negative control did its work: called by the control itself, after its assertions."""
    figures(f"control-{fault}-{re.sub('[^a-z]+', '-', what.lower()).strip('-')}", what=what)
