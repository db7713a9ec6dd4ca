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
NPM = ["npm", "install", "--prefix", ".", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
PACKAGES = {
    # Its native binary comes as one of its optional packages, for this system alone (370 MB).
    "@anthropic-ai/claude-code": "2.1.327",
}
"""Raise a version together with what the tests and docs/how-to say of it."""
BESIDE = {
    "inspector": {"@modelcontextprotocol/inspector": "2.12.0"},
    "sdk": {"@modelcontextprotocol/sdk": "1.32.2"},
}
"""Clients of MCP, each in a folder of its own."""
OLD_MCP = (
    "mcp==1.30.0",
    "langchain-mcp-adapters==0.3.2",
    "httpx-sse==0.4.3",
    "pydantic-settings==2.16.3",
    "python-dotenv==1.2.4",
)
"""Python packages that need version 1 of MCP's library, with what they need that we don't: by pip, into `old-mcp`."""


def installed(name: str) -> str | None:
    """The version of a package that is in the folder."""
    return _version(FOLDER, name)


def _version(folder: Path, name: str) -> str | None:
    try:
        about = json.loads((folder / "node_modules" / name / "package.json").read_text(encoding="utf-8"))
        return str(about["version"])
    except (OSError, ValueError, KeyError):
        return None


def beside(name: str) -> Path:
    """The `node_modules` of a client in a folder of its own; installed if it is not there."""
    folder, wanted = FOLDER / name, BESIDE[name]
    if all(_version(folder, package) == version for package, version in wanted.items()):
        return folder / "node_modules"
    _npm(folder, wanted).check_returncode()
    return folder / "node_modules"


def old_mcp() -> Path:
    """The folder of Python packages with version 1 of MCP's library, for PYTHONPATH; installed if it is not there."""
    folder = FOLDER / "old-mcp"
    note = folder / "installed"
    if not note.is_file() or note.read_text("utf-8").split() != list(OLD_MCP):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps", "--upgrade"]
        subprocess.run([*pip, "--target", str(folder), *OLD_MCP], check=True, stdin=subprocess.DEVNULL)
        note.write_text(" ".join(OLD_MCP), "utf-8")
    return folder


def _npm(folder: Path, wanted: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [*NPM, "--loglevel", "error", *(f"{name}@{version}" for name, version in wanted.items())],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip


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
    apart = [name for name, wanted in BESIDE.items() if any(_version(FOLDER / name, p) != v for p, v in wanted.items())]
    try:
        old_mcp()
    except subprocess.CalledProcessError:
        sys.stderr.write("Without it the tests with version 1 of MCP's library fail, and everything else runs.\n")
        return system.failed()
    if not missing and not apart and claude_code() is not None:
        return True
    if not system.provide("Node.js with npm", "the tests with real clients", lambda: shutil.which("npm"), ("nodejs", "npm")):  # fmt: skip
        return False
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    wanted += [f"{package}@{version}" for name in apart for package, version in BESIDE[name].items()]
    system.say(f"installing {' '.join(wanted)} into {FOLDER.name}: once, and it takes a minute")
    done = [_npm(FOLDER, PACKAGES)] if missing or claude_code() is None else []
    done += [_npm(FOLDER / name, BESIDE[name]) for name in apart]
    if not any(each.returncode for each in done) and claude_code() is not None:
        return True
    sys.stderr.write(
        f"npm could not install {' '.join(wanted)}. To see why, and try again:\n"
        f"    cd {FOLDER.name} && {' '.join([*NPM, *wanted])}\n"
        "Without them the tests with real clients are left out, and everything else runs.\n"
    )
    return False


if __name__ == "__main__":
    sys.exit(main())
