"""The house: the commands a newcomer types, and what must never slip into a commit."""

from __future__ import annotations

import importlib.metadata
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["run", "test", "lint", "bench", "docs", "doctor", "soak", "help", "clean", "constraints"]
CORE = {"apsw-sqlite3mc", "google-re2", "platformdirs", "rich", "typer"}


def tracked_files() -> list[Path]:
    """What is, or by the next `git add` would be, in the repository."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [ROOT / name for name in names if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def make(*args: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(["make", *args], cwd=ROOT, capture_output=True, text=True, env=environment)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(distribution: str) -> list[str]:
    """The names that a distribution needs here, extras left out."""
    from packaging.requirements import Requirement

    needs = [Requirement(line) for line in importlib.metadata.requires(distribution) or []]
    return [normal(need.name) for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]


# -- make ------------------------------------------------------------------------------------------------------------


def test_make_alone_lists_every_target() -> None:
    alone, asked = make(), make("help")
    assert alone.returncode == asked.returncode == 0
    assert alone.stdout == asked.stdout
    listed = re.findall(r"^  (\w+) +\S", asked.stdout, re.MULTILINE)
    assert set(TARGETS) <= set(listed)


@pytest.mark.parametrize("target", TARGETS)
def test_target_has_a_recipe(target: str) -> None:
    dry = make("--dry-run", target)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.strip()


def test_second_setup_installs_nothing() -> None:
    """What the tests run from is up to date, so no recipe of theirs calls pip."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("these tests run from another environment than make's")
    dry = make("--dry-run", "test")
    assert "install" not in dry.stdout, dry.stdout


def test_ci_runs_lint_and_tests_by_make() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert re.search(r"^make .*\blint test\b", script.read_text(), re.MULTILINE)
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0


def test_doctor_finds_this_machine_well() -> None:
    done = subprocess.run([sys.executable, "tools/doctor.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    for name in ("Python", "SQLite", "Postgres (tests)", "data folder"):
        assert re.search(rf"^  ok {re.escape(name)} ", done.stdout, re.MULTILINE), f"{name}:\n{done.stdout}"


# -- what is committed -----------------------------------------------------------------------------------------------


def test_recollect_is_installed_from_its_own_folder() -> None:
    """The name on the public index belongs to somebody else: nobody is told to install that."""
    wrong = re.compile(r"pip install\s+['\"]?recollect\b")
    texts = [f for f in tracked_files() if f.suffix in (".py", ".md", ".toml", ".sh", ".js", ".html")]
    assert [f.name for f in texts if wrong.search(f.read_text("utf-8", "replace"))] == []


def test_no_registry_host_is_named() -> None:
    """Packages are named, never where they come from: that is pip's own setting on each machine."""
    hosts = [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry.npmjs", "org"),
        ("deb.debian", "org"),
        ("crates", "io"),
    ]
    names = [".".join(host).encode() for host in hosts]
    options = [b"--index" + b"-url", b"--extra-index" + b"-url", b"--trusted" + b"-host"]
    for file in tracked_files():
        content = file.read_bytes()
        assert not [name for name in names + options if name in content], file


def test_no_path_of_one_machine_is_named() -> None:
    roots = b"|".join([b"wo" + b"rk", b"ro" + b"ot", b"Use" + b"rs"])
    pattern = re.compile(rb"(?<![\w.$})/-])/(?:" + roots + rb")/\w+")
    here = str(ROOT).encode()
    for file in tracked_files():
        content = file.read_bytes()
        assert not (found := pattern.search(content)), f"{file}: {found and found.group()!r}"
        assert here not in content, file


def test_constraints_are_plain_versions() -> None:
    files = sorted((ROOT / "constraints").glob("*.txt"))
    assert [file.name for file in files] == ["dev.txt", "langgraph-server.txt", "run.txt"]
    pins = {file.name: file.read_text().splitlines() for file in files}
    for name, lines in pins.items():
        for line in lines:
            assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line), f"{name}: {line}"
        assert not [line for line in lines if line.lower().startswith("recollect")]
    assert set(pins["run.txt"]) <= set(pins["dev.txt"]), "run and dev disagree on a version: make constraints"


def test_every_core_dependency_is_pinned() -> None:
    pinned = {normal(line.partition("==")[0]) for line in (ROOT / "constraints" / "run.txt").read_text().splitlines()}
    assert pinned >= CORE


# -- the core stays light --------------------------------------------------------------------------------------------


def test_core_needs_exactly_five_packages() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in project["dependencies"]}
    assert names == CORE
    extras = {"semantic", "langgraph", "server", "mcp", "ui", "postgres", "otel", "all", "dev"}
    assert set(project["optional-dependencies"]) >= extras


def test_core_installs_in_under_30_megabytes() -> None:
    """By what each package's RECORD says was installed; byte code, which Python makes by itself, does not count."""
    wanted, sizes = sorted(CORE), dict[str, int]()
    while wanted:
        name = wanted.pop()
        if name in sizes:
            continue
        files = importlib.metadata.files(name) or []
        sizes[name] = sum(file.size or 0 for file in files if file.suffix != ".pyc")
        assert sizes[name] > 0, f"{name} has no RECORD"
        wanted += requirements(name)
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size / 1e6:7.2f} MB  {name}")
    total = sum(sizes.values())
    print(f"{total / 1e6:7.2f} MB  in all")
    assert total < 30e6


# -- the walls of the tests themselves -------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.invalid", 80), ("::ffff:192.0.2.1", 80)])
def test_connection_off_this_machine_is_refused(address: tuple[str, int], refused_connections: list[str]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family) as stream, pytest.raises(ConnectionRefusedError, match="stay on this machine"):
        stream.connect(address)
    with socket.socket(family, socket.SOCK_DGRAM) as packets, pytest.raises(ConnectionRefusedError):
        packets.sendto(b"x", address)
    assert len(refused_connections) == 2


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())


def test_environment_is_the_tests_own(own_environment: Path) -> None:
    assert os.environ["RECOLLECT_DATA_DIR"] == str(own_environment)
    assert [name for name in os.environ if name.startswith("RECOLLECT_")] == ["RECOLLECT_DATA_DIR"]
    assert Path.home() == own_environment.parent
    assert not own_environment.exists()


# -- temporary files -------------------------------------------------------------------------------------------------


def test_no_file_has_a_name_in_the_shared_temporary_folder_that_others_can_guess() -> None:
    """`tempfile` makes what it names itself, for its user alone; `gettempdir` is a folder where anybody may leave a link."""
    for file in tracked_files():
        if file.suffix == ".py" and file.relative_to(ROOT).parts[0] in ("src", "bench", "tools", "examples", "docs"):
            found = re.search(
                r"\b(?:gettempdirb?|mktemp|tempdir)\b|[\"']/(?:var/)?tmp/|environ.*\bTMPDIR", file.read_text("utf-8")
            )
            assert not found, f"{file.relative_to(ROOT)}: {found[0]}"
