"""What every test stands on: a fresh database of each kind, and three walls.

Databases: `backend` runs a test once on SQLite and once on Postgres; `url` is a fresh database of that kind and `store`
an open Store on it. `postgres_url` is a fresh Postgres database, `private_postgres` a whole server to kill.

Walls: nothing connects off this machine, nothing touches the developer's own data, and in CI nothing is skipped.
"""

from __future__ import annotations

import ipaddress
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path[:0] = [] if str(Path(__file__).parent) in sys.path else [str(Path(__file__).parent)]

from postgres_server import (  # noqa: E402
    Databases,
    ExternalPostgres,
    PostgresServer,
    find_programs,
    locked,
    temporary_folder,
)

CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")

# Examples may take as long as they take: a shared core makes any deadline a coin toss. CI draws the same examples for
# the same commit; a developer's run draws new ones, and prints what reproduces a failure.
slow_is_fine = [HealthCheck.too_slow]
settings.register_profile("dev", deadline=None, print_blob=True, suppress_health_check=slow_is_fine)
settings.register_profile(
    "ci", deadline=None, print_blob=True, derandomize=True, database=None, suppress_health_check=slow_is_fine
)
settings.register_profile("soak", deadline=None, print_blob=True, max_examples=2000, suppress_health_check=slow_is_fine)


# -- the run ---------------------------------------------------------------------------------------------------------

folder_key = pytest.StashKey[Path]()
token_key = pytest.StashKey[str]()
owner_key = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts its background jobs with Ctrl-C ignored, and so are their children: a command that a test starts and
    # then interrupts would never end. (`make test &` in a script hung on `replay --follow` for 21 minutes.)
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("soak" if "nightly" in config.option.markexpr else "ci" if CI else "dev")
    shared: dict[str, Any] | None = getattr(config, "workerinput", None)
    if shared is None:  # the controller of xdist, or the only process: the owner of the server
        shared = {
            "postgres_folder": str(temporary_folder(in_memory=True)),
            "postgres_token": secrets.token_hex(8),
            "postgres_owner": os.getpid(),
        }
    config.stash[folder_key] = Path(shared["postgres_folder"])
    config.stash[token_key] = shared["postgres_token"]
    config.stash[owner_key] = shared["postgres_owner"]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the one server's place to each worker of xdist; whichever needs it first starts it."""
    node.workerinput["postgres_folder"] = str(node.config.stash[folder_key])
    node.workerinput["postgres_token"] = node.config.stash[token_key]
    node.workerinput["postgres_owner"] = node.config.stash[owner_key]


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(owner_key, None) != os.getpid():
        return
    server = shared_server(config)
    if isinstance(server, ExternalPostgres) and (config.stash[folder_key] / "started").exists():
        server.remove()
    PostgresServer(config.stash[folder_key]).remove()


def pytest_report_header(config: pytest.Config) -> list[str]:
    if "RECOLLECT_TEST_DATABASE_URL" in os.environ:
        return ["postgres: the server of RECOLLECT_TEST_DATABASE_URL"]
    try:
        return [f"postgres: {find_programs().parents[1].name}, started when a test asks for it"]
    except RuntimeError as error:
        return [f"postgres: {error}"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long form of a test runs only where it is asked for: `make soak`, or -m nightly."""
    if config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker("nightly")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]


# -- wall: in CI nothing is skipped ----------------------------------------------------------------------------------


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not CI or report.outcome != "skipped":
        return
    why = getattr(report, "wasxfail", None)
    if why is None:
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    else:
        del report.wasxfail
        why = f"expected to fail: {why}"
    report.outcome = "failed"
    report.longrepr = f"Skipped in CI, where every test runs: {why}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    refuse_skip(report)
    return report


# -- wall: nothing leaves this machine -------------------------------------------------------------------------------

strays: list[str] = []


def stays_here(family: int, address: Any) -> bool:
    if family not in (socket.AF_INET, socket.AF_INET6):
        return True  # AF_UNIX, AF_NETLINK, ...: this machine by definition
    host = address[0] if isinstance(address, tuple) else address
    host = host.decode() if isinstance(host, bytes) else str(host)
    if host in ("", "localhost"):
        return True
    try:
        number = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False  # a name: whatever it resolves to, a test has no business there
    mapped = getattr(number, "ipv4_mapped", None)
    return (mapped or number).is_loopback or number.is_unspecified


class OffLoopback(ConnectionRefusedError):
    """The code under test sees a refused connection, as on a machine without network; the test fails all the same."""


def only_loopback(verb: str) -> Callable[..., Any]:
    real = getattr(socket.socket, verb)

    def guarded(self: socket.socket, *args: Any) -> Any:
        address = args[-1]  # connect(address), sendto(data, [flags,] address)
        if not stays_here(self.family, address):
            strays.append(f"{verb} {address!r}")
            raise OffLoopback(f"a test tried to reach {address!r}; tests stay on this machine")
        return real(self, *args)

    return guarded


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for verb in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, verb, only_loopback(verb))
        yield


@pytest.fixture(autouse=True)
def no_stray_connection(no_network: None) -> Iterator[None]:
    """Fail the test during which a connection was tried, even where the code swallowed the error."""
    strays.clear()
    yield
    assert not strays, f"tried to leave this machine: {strays}"


@pytest.fixture
def refused_connections() -> Iterator[list[str]]:
    """For the tests of the wall itself, and of code that must survive it: what was tried and refused."""
    yield strays
    strays.clear()


# -- wall: nothing of the developer's own ----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of its own for each test; no RECOLLECT_ setting of the developer's reaches it. Returns its data folder."""
    home = tmp_path_factory.mktemp("home")
    data = home / "recollect-data"
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("RECOLLECT_"):
                patch.delenv(name)
        patch.setenv("RECOLLECT_DATA_DIR", str(data))
        patch.setenv("HOME", str(home))
        patch.setenv("APPDATA", str(home))
        patch.setenv("LOCALAPPDATA", str(home))
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / f".{name.lower()}"))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        patch.delenv("XDG_DATA_DIRS", raising=False)
        patch.delenv("XDG_CONFIG_DIRS", raising=False)
        yield data


# -- databases -------------------------------------------------------------------------------------------------------


EXTERNAL_URL = os.environ.get("RECOLLECT_TEST_DATABASE_URL")


def shared_server(config: pytest.Config) -> PostgresServer | ExternalPostgres:
    if EXTERNAL_URL:
        return ExternalPostgres(EXTERNAL_URL, config.stash[token_key])
    return PostgresServer(config.stash[folder_key], owners=(config.stash[owner_key],))


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Databases:
    """The run's one server, shared by all workers of xdist. To stop or kill one, take `private_postgres`."""
    server = shared_server(pytestconfig)
    folder = pytestconfig.stash[folder_key]
    with locked(folder / "lock"):
        if not (folder / "started").exists():
            server.start()
            (folder / "started").touch()
    return server


@pytest.fixture(scope="session")
def postgres_admin_url(postgres_server: Databases) -> str:
    """The superuser's URL: it sees through row-level security."""
    return postgres_server.admin_url()


@pytest.fixture
def postgres_url(postgres_server: Databases) -> Iterator[str]:
    """A fresh, empty database, with the extensions `vector` and `pg_trgm`, owned by the role that connects: an ordinary
    one, so row-level security holds (for an owner: where the table says `force row level security`)."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture
def private_postgres(pytestconfig: pytest.Config) -> Iterator[PostgresServer]:
    """A running server of the test's own, with fsync on: `.kill()` (-9), `.stop()`, `.start()`, and
    `with .database() as url`. About a second."""
    server = PostgresServer(owners=(os.getpid(), pytestconfig.stash[owner_key]), durable=True)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each database in turn: a test that takes it (or `url`, or `store`) runs twice."""
    return str(request.param)


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `recollect.open` takes: a path that does not exist yet, or the URL of an empty Postgres database."""
    if backend == "sqlite":
        return str(tmp_path / "chat.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def store(url: str) -> Iterator[Any]:
    """An open Store of the user alex on a fresh database."""
    import recollect

    opened = recollect.open(url, user="alex")
    try:
        yield opened
    finally:
        opened.close()


# -- spans


@pytest.fixture(scope="session")
def _exporter() -> Any:
    """The one tracer provider of this process: OpenTelemetry takes no second."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(_exporter: Any) -> Iterator[Callable[[], list[Any]]]:
    """What was exported since the test began."""
    _exporter.clear()
    yield lambda: list(_exporter.get_finished_spans())
    _exporter.clear()
