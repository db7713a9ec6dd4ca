"""Install the clients that nobody here wrote, against which the tests run what is ours: pinned npm packages, in `.clients`.

They come by name from whichever registry npm is set up with; no script of theirs runs while they are installed. What is
there at the pinned version is left alone, so that a second `make test` installs nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".clients"
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


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    import system

    missing = [f"{name}@{version}" for name, version in PACKAGES.items() if installed(name) != version]
    if not missing and claude_code() is not None:
        return 0
    if not system.provide("Node.js with npm", "the tests with real clients", lambda: shutil.which("npm"), ("nodejs", "npm")):  # fmt: skip
        return system.failed()
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    system.say(f"installing {' '.join(wanted)} into {FOLDER.name}: once, and it takes a minute")
    FOLDER.mkdir(exist_ok=True)
    npm = ["npm", "install", "--prefix", ".", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [*npm, "--loglevel", "error", *wanted], cwd=FOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    if done.returncode == 0 and claude_code() is not None:
        return 0
    sys.stderr.write(
        f"npm could not install {' '.join(wanted)}. To see why, and try again:\n"
        f"    cd {FOLDER.name} && {' '.join([*npm, *wanted])}\n"
        "Without them the tests with real clients are left out, and everything else runs.\n"
    )
    return system.failed()


if __name__ == "__main__":
    sys.exit(main())
