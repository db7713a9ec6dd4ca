"""Find a browser for the browser tests: Chromium or Chrome. As root on a system with apt, install one; otherwise say how to."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (  # where macOS and Windows keep what is on nobody's PATH
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    os.path.expandvars(r"%ProgramFiles%\Google\Chrome\Application\chrome.exe"),
)


def find() -> str | None:
    return next((path for path in (*map(shutil.which, NAMES), *filter(os.path.isfile, PLACES)) if path), None)


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    import system

    there = system.provide("Chromium or Chrome", "the browser tests", find, ("chromium",))
    return 0 if there else system.failed()


if __name__ == "__main__":
    sys.exit(main())
