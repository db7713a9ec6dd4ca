"""Find Chromium for the browser tests. As root on a system with apt, install it; otherwise say how to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


def install() -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet, stdin=subprocess.DEVNULL)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
    subprocess.run(command, check=True, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def main() -> int:
    if find() is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stdout.write("installing chromium for the browser tests\n")
        sys.stdout.flush()
        install()
    path = find()
    if path is None:
        sys.stderr.write(
            "The browser tests need Chromium, and none is on the PATH. Install it with your system's package manager\n"
            "(Debian: apt-get install chromium), or leave those tests out: make test ARGS='--ignore=tests/browser'\n"
        )
        # Here a developer can go on without; in CI a missing browser is a failure.
        return 1 if os.environ.get("CI") else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
