"""Ctrl-C that cannot be lost.

Python notes a signal at once and raises KeyboardInterrupt when the main thread next runs Python code. Two things can go wrong:

- The main thread is just about to wait in C (readline, for a key). The signal comes before the wait begins, so nothing ends
  the wait. Therefore a thread that the C side tells of each signal (`set_wakeup_fd`) nudges the main thread a few times
  afterwards: any wait ends, and Python looks. A nudge is a signal of its own that no Python code hears. Sending SIGINT again
  could count as a second Ctrl-C, asking first whether it was heard is a race (one in 5,000 was lost), and `input()` breaks
  if a second Python handler is due while the first one's KeyboardInterrupt is on its way.
- The main thread is in a callback of C code or in a finaliser, where Python throws the exception away. (Of 2,500 sent to a
  process that followed a conversation, 23 fell into callbacks of weak references.) Therefore a loop that runs until Ctrl-C
  also looks at a note: `take()`.

While a command starts, `starting` hears Ctrl-C.
"""

import faulthandler
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import IO, Any

NUDGE_SECONDS = (0.02, 0.05, 0.1, 0.3)
"""When the main thread is nudged after a signal, each counted from the one before. The last ones are for a machine so busy
that the main thread did not get from the signal to its wait in the time of the first ones."""


class Interrupts:
    """`with Interrupts() as ctrl_c:` - KeyboardInterrupt as ever, and `ctrl_c.take()` says whether there was one. With
    `keys`, for a loop that waits for keys, one that comes just before the wait is not lost."""

    def __init__(self, *, keys: bool = False) -> None:
        self._keys = keys
        self.came = False
        self._before: Any = None
        self._nothing: IO[bytes] | None = None
        self._write = -1
        self._wakeup = -1

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread hears signals
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and not sys.stdin.isatty():
            return self  # a script's background job: the Ctrl-C of whoever is in front is not meant for it
        self._before = signal.signal(signal.SIGINT, self._hear)
        if self._keys and sys.platform != "win32":  # there, the console waits for a key and for Ctrl-C at once
            # faulthandler has the one handler of the standard library that runs no Python. What it writes goes nowhere.
            self._nothing = open(os.devnull, "wb")
            faulthandler.register(signal.SIGURG, self._nothing, all_threads=False)
            signal.siginterrupt(signal.SIGURG, True)
            read, self._write = os.pipe()
            os.set_blocking(self._write, False)
            self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            main = threading.get_ident()
            threading.Thread(target=self._nudge, args=(read, main), name="recollect-ctrl-c", daemon=True).start()
        return self

    def _hear(self, signum: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _nudge(self, read: int, main: int) -> None:
        while signals := os.read(read, 512):
            if signal.SIGINT not in signals:
                continue
            for seconds in NUDGE_SECONDS:
                time.sleep(seconds)
                if self._nothing is None:
                    break
                signal.pthread_kill(main, signal.SIGURG)
        os.close(read)

    def take(self) -> bool:
        """Whether there was one since the last time somebody asked."""
        came, self.came = self.came, False
        return came

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._nothing is not None:
            signal.set_wakeup_fd(self._wakeup)
            os.close(self._write)  # the thread reads the other end, and ends
            faulthandler.unregister(signal.SIGURG)
            nothing, self._nothing = self._nothing, None
            nothing.close()
