"""What the tests need of the system and pip cannot bring: found, or as root on a system with apt installed, or said how.

Needs no environment of ours, so that `make test` says what is missing before it installs anything.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def install(packages: tuple[str, ...]) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet, stdin=subprocess.DEVNULL)
    subprocess.run(
        [*INSTALL, "-qq", *packages], check=True, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )


def provide(what: str, purpose: str, find: Callable[[], str | None], packages: tuple[str, ...]) -> bool:
    """Whether it is here now. Otherwise stderr says which command brings it."""
    if find() is not None:
        return True
    can_apt = shutil.which("apt-get") is not None
    if can_apt and hasattr(os, "geteuid") and os.geteuid() == 0:
        say(f"installing {' '.join(packages)} for {purpose}")
        install(packages)
        return find() is not None
    how = (
        f"sudo {' '.join((*INSTALL, *packages))}" if can_apt else "your system's package manager, or its own installer"
    )
    sys.stderr.write(
        f"{purpose[0].upper()}{purpose[1:]} need {what}, and there is none here. Only an administrator can install it:\n"
        f"    {how}\n"
        "Without it those tests are left out, and everything else runs.\n"
    )
    return False


def failed() -> int:
    """A developer can go on without; in CI, where no test may be skipped, what is missing is a failure."""
    return 1 if os.environ.get("CI") else 0
