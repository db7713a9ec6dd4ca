"""The sidecar under load: durable appends over HTTP with the token and indexing, searches meanwhile; and for a long time.

`recollect serve` runs as shipped, in a process of its own; eight clients with a connection each send one record a request.
They and the sidecar share the machine's cores, as an agent and its memory do, so the sidecar's own processor time is told
beside the clock's.
"""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import Figure, Run, benchmark, least, most
from .corpus import Corpus, build
from .measure import p50, p95, percentile, stolen, sync

CLIENTS = 8
RATE = 505  # a second, when the pace is given: just over the bar
SLICES = 6  # of the time at a pace, by turns with the bare disk
SOAK_SECONDS = 600


class Sidecar:
    """`recollect serve` on a store of the benchmark's own."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "chat.db"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        self.child = subprocess.Popen(
            [sys.executable, "-m", "recollect.cli", "serve", "--port", "0", "--json", "--user", "alex"],
            stdout=subprocess.PIPE, env={**kept, "RECOLLECT_DATA_DIR": str(folder), "HOME": str(folder)},
        )  # fmt: skip
        assert self.child.stdout is not None
        said = json.loads(self.child.stdout.readline())
        self.host = said["url"].removeprefix("http://")
        token = Path(said["token_file"]).read_text()
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident megabytes."""
        return int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def files(self) -> int:
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def log(self) -> float:
        """Megabytes of the write-ahead log."""
        path = Path(f"{self.database}-wal")
        return path.stat().st_size / 1e6 if path.exists() else 0.0

    def end(self) -> None:
        self.child.terminate()
        self.child.wait(20)


@contextmanager
def serving(folder: Path, events: int) -> Iterator[Sidecar]:
    if events:
        build(folder / "chat.db", events)
    sidecar = Sidecar(folder)
    try:
        yield sidecar
    finally:
        sidecar.end()


class Load:
    """Clients that record, and one that searches, until told to stop."""

    def __init__(self, sidecar: Sidecar, *, rate: float | None, search_every: float) -> None:
        self._sidecar, self._rate, self._search_every = sidecar, rate, search_every
        self.appends: list[float] = []
        self.searches: list[float] = []
        self.wrong: list[str] = []
        self._stop = threading.Event()
        # Made beforehand: a client that still writes its records holds up the others, and that would count as the sidecar's.
        self._records = [self._written(n) for n in range(CLIENTS)]
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(CLIENTS)]
        self._threads.append(threading.Thread(target=self._search))

    def run(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> float:
        """Returns how long it took."""
        began = time.perf_counter()
        for t in self._threads:
            t.start()
        while (left := began + seconds - time.perf_counter()) > 0:
            time.sleep(min(left, 5))
            meanwhile()
        self._stop.set()
        took = time.perf_counter() - began
        for t in self._threads:
            t.join()
        if self.wrong:
            raise AssertionError(f"{len(self.wrong)} requests failed: {self.wrong[0]}")
        return took

    def _ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> float:
        began = time.perf_counter()
        connection.request(method, path, body, self._sidecar.headers)
        answer = connection.getresponse()
        said = answer.read()
        took = (time.perf_counter() - began) * 1000
        if answer.status != 200:
            self.wrong.append(said.decode())
            self._stop.set()
        return took

    def _send(self, n: int) -> None:
        records = self._records[n]
        connection = http.client.HTTPConnection(self._sidecar.host, timeout=30)
        pause = CLIENTS / self._rate if self._rate else 0
        due = time.perf_counter() + pause * n / CLIENTS
        i = 0
        while not self._stop.is_set():
            if pause:
                time.sleep(max(0.0, due - time.perf_counter()))
                # Counted from when it was due: whoever is late waits, and that is the latency.
                late = max(0.0, time.perf_counter() - due) * 1000
                due += pause
            else:
                late = 0.0
            self.appends.append(late + self._ask(connection, "POST", "/memory/record", records[i % len(records)]))
            i += 1
        connection.close()

    def _written(self, n: int) -> list[bytes]:
        corpus = Corpus(seed=100 + n, words=5_000)
        return [self._record(corpus, n, i) for i in range(400)]

    def _record(self, corpus: Corpus, n: int, i: int) -> bytes:
        """As a coding agent's hooks send: mostly tools, now and then a turn."""
        type = ("prompt", "assistant")[i // 10 % 2] if i % 10 == 0 else ("tool_use", "tool_result")[i % 2]
        record: dict[str, Any] = {
            "type": type,
            "session_id": f"load-{n}",
            "workspace": "/repo/1",
            "content": corpus.turn(),
        }
        if type.startswith("tool"):
            record |= {"tool": "Bash", "metadata": {"exit": 0}}
        return json.dumps(record).encode()

    def _search(self) -> None:
        corpus = Corpus(seed=7)
        connection = http.client.HTTPConnection(self._sidecar.host, timeout=30)
        while not self._stop.wait(self._search_every):
            path = f"/memory/search?q={quote(corpus.question())}&k=20"
            self.searches.append(self._ask(connection, "GET", path))
        connection.close()


def bare(folder: Path, seconds: float) -> list[float]:
    """A page of a file of its own made durable at the same pace, each counted from when it was due as well: nobody's durable
    append is faster, and the disk of a machine that is shared stands still now and then, whoever writes."""
    path, taken = folder / "fsync-probe", []
    with open(path, "wb", buffering=0) as f:
        f.write(bytes(4096))
        due = time.perf_counter()
        until = due + seconds
        while due < until:
            time.sleep(max(0.0, due - time.perf_counter()))
            f.seek(0)
            f.write(os.urandom(4096))
            sync(f.fileno())
            taken.append((time.perf_counter() - due) * 1000)
            due += 1 / RATE
    path.unlink()
    return taken


@benchmark
def sidecar(run: Run) -> Iterator[Figure]:
    """Durable appends over HTTP by eight clients, with the token and indexing, and searches meanwhile."""
    seconds = run.rounds(30, 10)
    with serving(run.folder, run.rounds(20_000, 2_000)) as there:
        Load(there, rate=None, search_every=0.2).run(3)
        before = there.cpu()
        load = Load(there, rate=None, search_every=0.2)
        took = load.run(seconds)
        each = (there.cpu() - before) / len(load.appends) * 1000
        yield Figure(
            "sidecar, as fast as it can: durable appends", len(load.appends) / took, None, "/s", least(500),
            f"8 clients, one record a request; {each:.2f} ms of processor time each, all background work included",
        )  # fmt: skip
        yield Figure("sidecar, as fast as it can: append p99", percentile(load.appends, 0.99), None, "ms")
        yield Figure("sidecar, as fast as it can: search p95", p95(load.searches), None, "ms")
        loads, disk, took, others = [], [], 0.0, stolen()
        before, own = there.cpu(), time.process_time()
        for _ in range(SLICES):
            loads.append(Load(there, rate=RATE, search_every=0.2))
            took += loads[-1].run(seconds / SLICES)
            disk.append(bare(run.folder, seconds / SLICES))
        appends = [ms for load in loads for ms in load.appends]
        searches = [ms for load in loads for ms in load.searches]
        away = (stolen() - others) / 2 / took / (os.cpu_count() or 1)
        busy = f"the machine was away for {away:.1%} of it; the sidecar took {(there.cpu() - before) / took:.2f} of a core, the clients {(time.process_time() - own) / took:.2f}"
        note = f"at {len(appends) / took:.0f}/s, counted from when each was due; p50 {p50(appends):.1f} ms; {busy}; "
        note += (
            f"in each slice of {seconds / SLICES:g} s: {_p99s(load.appends for load in loads)} ms; reference: a bare"
        )
        note += f" fdatasync at the same pace, in slices between them: {_p99s(disk)} ms"
        bare_p99 = percentile([ms for taken in disk for ms in taken], 0.99)
        yield Figure("sidecar, at a pace: append p99", percentile(appends, 0.99), bare_p99, "ms", most(50), note)
        note = f"{len(searches)} searches, p50 {p50(searches):.1f} ms"
        yield Figure("sidecar, at a pace: search p95", p95(searches), None, "ms", most(50), note)


def _p99s(slices: Iterable[list[float]]) -> str:
    return ", ".join(f"{percentile(taken, 0.99):.0f}" for taken in slices)


@benchmark
def sidecar_soak(run: Run) -> Iterator[Figure]:
    """The sidecar for ten minutes (with --full; else one): memory, files and write-ahead log stay where they are."""
    seconds = SOAK_SECONDS if run.full else run.rounds(60, 15)
    with serving(run.folder, 0) as there:
        Load(there, rate=200, search_every=0.2).run(min(60, seconds / 3))  # caches fill, models load
        memory, files, seen, log = there.memory(), there.files(), [], []

        def look() -> None:
            seen.append((there.memory(), there.files()))
            log.append(there.log())

        load = Load(there, rate=200, search_every=0.2)
        load.run(seconds, look)
        time.sleep(2)
        look()
    minutes = f"{seconds / 60:g} minutes at 200 appends/s"
    grown = max(m for m, _ in seen[-3:]) - memory
    yield Figure(
        "sidecar, soak: growth of memory", max(grown, 0.0), None, "MB", most(20), f"{minutes}; {memory:.0f} MB before"
    )
    note = f"{files} before, {max(f for _, f in seen)} at most"
    yield Figure("sidecar, soak: growth of open files", max(seen[-1][1] - files, 0), None, "files", most(8), note)
    yield Figure(
        "sidecar, soak: write-ahead log", max(log), None, "MB", most(64), f"at most; {log[-1]:.1f} MB at the end"
    )
