"""Ctrl-C that cannot be lost.

Python notes the signal at once and raises KeyboardInterrupt when the main thread next comes by. There are two ways to lose it.
If the main thread is just about to wait in C (for a key, in readline), the signal has come and gone before the wait begins,
and nothing ends the wait. And if it is in a callback of C code or in a finaliser, the exception is thrown away there: a loop
that waits for it goes on for ever. (Of 2,500 that were sent to a process which followed a conversation again and again, 23 fell
into the callbacks of weak references to what was left of the time before.) So whoever loops until Ctrl-C notes it as a fact as well,
and looks at it; and where keys are waited for, a thread that is told of the signal by the C side (`set_wakeup_fd`) sends it
again until it was heard.

While a command starts, `starting` hears it.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

AGAIN_SECONDS = 0.2


class Interrupts:
    """`with Interrupts() as ctrl_c:` - KeyboardInterrupt as ever, and `ctrl_c.take()` says whether there was one. With
    `repeats`, one that is not heard is sent again."""

    def __init__(self, *, repeats: bool = False) -> None:
        self._repeats = repeats
        self.came = False
        self._before: Any = None
        self._heard = 0
        self._ends: tuple[int, int] | None = None
        self._wakeup = -1

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread hears signals
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and not sys.stdin.isatty():
            return self  # a script's background job: the Ctrl-C of whoever is in front is not meant for it
        self._before = signal.signal(signal.SIGINT, self._hear)
        if self._repeats and hasattr(signal, "pthread_kill"):
            read, write = self._ends = os.pipe()
            os.set_blocking(write, False)
            self._wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            main = threading.get_ident()
            threading.Thread(target=self._repeat, args=(read, main), name="recollect-ctrl-c", daemon=True).start()
        return self

    def _hear(self, signum: int, frame: FrameType | None) -> None:
        self._heard += 1
        self.came = True
        raise KeyboardInterrupt

    def _repeat(self, read: int, main: int) -> None:
        """Send the signal again while the main thread has not heard it: that ends whatever wait it is in."""
        heard = 0
        while signals := os.read(read, 512):
            if signal.SIGINT not in signals:
                continue
            while self._heard == heard and self._ends is not None:
                time.sleep(AGAIN_SECONDS)
                if self._heard == heard and self._ends is not None:
                    signal.pthread_kill(main, signal.SIGINT)
            heard = self._heard
            while select.select([read], [], [], 0)[0] and os.read(read, 512):
                pass  # what was sent again is here as well
        os.close(read)

    def take(self) -> bool:
        """Whether there was one since the last time somebody asked."""
        came, self.came = self.came, False
        return came

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._ends is not None:
            signal.set_wakeup_fd(self._wakeup)
            write, self._ends = self._ends[1], None
            with contextlib.suppress(OSError):
                os.close(write)  # the thread reads its end, and ends
