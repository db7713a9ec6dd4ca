"""Install the programs that nobody here wrote, against which the tests run what is ours, in `.clients`: pinned npm packages,
and LangGraph's server in an environment of its own (it wants older versions of what our tests need).

They come by name from whichever registries npm and pip are set up with; no script of the npm packages runs while they are
installed. What is there at the pinned version is left alone, so that a second `make test` installs nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".clients"
SERVER = FOLDER / "langgraph-server"
"""The environment of LangGraph's server. Our own code is not installed there: the tests name `src` in PYTHONPATH."""
SERVER_PACKAGES = ("langgraph-cli[inmem]",)
SERVER_VERSIONS = ROOT / "constraints" / "langgraph-server.txt"
PACKAGES = {
    # Its native binary comes as one of its optional packages, for this system alone (370 MB).
    "@anthropic-ai/claude-code": "2.1.327",
}
"""Raise a version together with what the tests and docs/how-to say of it."""


def installed(name: str) -> str | None:
    """The version of a package that is in the folder."""
    try:
        about = json.loads((FOLDER / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
        return str(about["version"])
    except (OSError, ValueError, KeyError):
        return None


def claude_code() -> Path | None:
    """The program of Claude Code, if it is here."""
    found = sorted((FOLDER / "node_modules" / "@anthropic-ai").glob("claude-code-*/claude*"))
    return next((path for path in found if os.access(path, os.X_OK)), None)


def langgraph() -> Path | None:
    """The command `langgraph` of the server's environment, if it is here at the pinned versions."""
    try:
        if (SERVER / "versions.txt").read_bytes() != SERVER_VERSIONS.read_bytes():
            return None
    except OSError:
        return None
    found = SERVER / "bin" / "langgraph"
    return found if found.is_file() else None


def server_packages() -> list[str]:
    """What is installed there: the server, and what our package for LangGraph needs."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*SERVER_PACKAGES, *about["dependencies"], *about["optional-dependencies"]["langgraph"]]


def install_langgraph() -> bool:
    import system

    system.say(f"installing {' '.join(SERVER_PACKAGES)} into {FOLDER.name}: once, and it takes a minute")
    shutil.rmtree(SERVER, ignore_errors=True)
    FOLDER.mkdir(exist_ok=True)
    pip = [str(SERVER / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    for command in (
        [sys.executable, "-m", "venv", str(SERVER)],
        [*pip, "-c", str(SERVER_VERSIONS), *server_packages()],
    ):
        if subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
            sys.stderr.write("Without LangGraph's server the tests with it are left out, and everything else runs.\n")
            return False
    shutil.copyfile(SERVER_VERSIONS, SERVER / "versions.txt")
    return True


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    import system

    is_whole = langgraph() is not None or install_langgraph()
    return system.failed() if not install_npm() or not is_whole else 0


def install_npm() -> bool:
    import system

    missing = [f"{name}@{version}" for name, version in PACKAGES.items() if installed(name) != version]
    if not missing and claude_code() is not None:
        return True
    if not system.provide("Node.js with npm", "the tests with real clients", lambda: shutil.which("npm"), ("nodejs", "npm")):  # fmt: skip
        return False
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    system.say(f"installing {' '.join(wanted)} into {FOLDER.name}: once, and it takes a minute")
    FOLDER.mkdir(exist_ok=True)
    npm = ["npm", "install", "--prefix", ".", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [*npm, "--loglevel", "error", *wanted], cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    if done.returncode == 0 and claude_code() is not None:
        return True
    sys.stderr.write(
        f"npm could not install {' '.join(wanted)}. To see why, and try again:\n"
        f"    cd {FOLDER.name} && {' '.join([*npm, *wanted])}\n"
        "Without them the tests with real clients are left out, and everything else runs.\n"
    )
    return False


if __name__ == "__main__":
    sys.exit(main())
