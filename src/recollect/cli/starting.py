"""Ctrl-C while a command starts: there is nothing to lose and nothing to put away, so it ends the process there and then,
without a word, from `begin_quietly` to `begun`. Python's own way is a traceback out of the middle of an import.

It begins where the command line's own imports do: what the package itself takes before that is a twentieth of a second, and a
library that is imported leaves signals alone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_SCRIPTS = ("recollect", "recollect.exe")
_MODULES = ("recollect", "recollect.cli")


def begin_quietly() -> None:
    """For the process that is the command, not for a program that imports it."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_command() and is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def begun() -> None:
    """From here on whoever is at work hears it."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_command() -> bool:
    """Whether this is `recollect` or `python -m recollect`. While Python looks for a module to run, every module's name is "-m"."""
    name = sys.argv[0] if sys.argv else ""
    if name != "-m":
        return os.path.basename(name) in _SCRIPTS
    said = sys.orig_argv
    return any(flag == "-m" and module in _MODULES for flag, module in zip(said, said[1:], strict=False))


def _end(signum: int, frame: FrameType | None) -> None:
    os._exit(130)  # cli.output.INTERRUPTED, which is not imported yet
