"""Find a browser for the browser tests: Chromium or Chrome. As root on a system with apt, install one; otherwise say how to.

Needs no environment of ours, so that `make test` says what is missing before it installs anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (  # where macOS and Windows keep what is on nobody's PATH
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    os.path.expandvars(r"%ProgramFiles%\Google\Chrome\Application\chrome.exe"),
)
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")


def find() -> str | None:
    return next((path for path in (*map(shutil.which, NAMES), *filter(os.path.isfile, PLACES)) if path), None)


def install() -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet, stdin=subprocess.DEVNULL)
    subprocess.run([*INSTALL, "-qq"], check=True, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def main() -> int:
    if find() is not None:
        return 0
    can_apt = shutil.which("apt-get") is not None
    if can_apt and hasattr(os, "geteuid") and os.geteuid() == 0:
        sys.stdout.write("installing chromium for the browser tests\n")
        sys.stdout.flush()
        install()
        return 0 if find() is not None else 1
    how = f"sudo {' '.join(INSTALL)}" if can_apt else "your system's package manager, or the browser's own installer"
    sys.stderr.write(
        "The browser tests need Chromium or Chrome, and there is none here. Only an administrator can install it:\n"
        f"    {how}\n"
        "Without it those tests are left out, and everything else runs.\n"
    )
    # Here a developer can go on without; in CI a missing browser is a failure.
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
