"""A real terminal for tests: a command on a pseudo-terminal of its own, keys pressed, what is on the screen waited for."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time

from console import environment

CTRL_C, CTRL_D = "\x03", "\x04"
_TERMINAL = "import fcntl, sys, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
"""Its controlling terminal: so that Ctrl-C is a signal."""
_LAUNCH = "from recollect.cli import main\nsys.argv[0] = 'recollect'\nmain()\n"
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\x01\x02\r]")


class Terminal:
    """`with Terminal("chat") as t: t.see("you ›"); t.type("hello")`"""

    def __init__(self, *args: str, width: int = 100, script: str = _LAUNCH, **extra: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TERMINAL + script, *args],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environment(TERM="xterm-256color", **extra),
        )  # fmt: skip
        os.close(slave)
        self._bytes = b""
        self._seen = 0

    @property
    def raw(self) -> str:
        return self._bytes.decode("utf-8", errors="ignore")

    @property
    def screen(self) -> str:
        """Everything that was shown so far, without colours."""
        return _CONTROLS.sub("", self.raw)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self._master, 65536)
        except OSError:  # the other end was closed
            return False
        self._bytes += got
        return bool(got)

    def see(self, text: str, seconds: float = 120) -> None:
        """Wait until this is shown, after what was seen before."""
        until = time.monotonic() + seconds
        while (at := self.screen.find(text, self._seen)) < 0:
            if time.monotonic() > until or not self._read(0.2):
                raise AssertionError(f"{text!r} was never shown:\n{self.screen[self._seen :]}")
        self._seen = at + len(text)

    def forget(self) -> None:
        """What was shown so far does not count any more: a long session would search all of it again and again."""
        self._bytes, self._seen = b"", 0

    def type(self, text: str, enter: bool = True) -> None:
        os.write(self._master, (text + ("\r" if enter else "")).encode())

    def press(self, key: str) -> None:
        os.write(self._master, key.encode())

    def signal(self, which: int) -> None:
        os.kill(self.process.pid, which)

    def end(self, seconds: float = 120) -> int:
        """Wait for the command to end; returns its exit code."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            if time.monotonic() > until:
                raise AssertionError(f"it does not end:\n{self.screen[self._seen :]}")
            self._read(0.1)
        while self._read(0.05) and select.select([self._master], [], [], 0)[0]:
            pass
        return self.process.returncode

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)
        os.close(self._master)
