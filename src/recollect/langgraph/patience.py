"""How long a run waits for its history, and when it stops asking.

A call to a store can hang for minutes: a server that is stopped keeps its connections open. So each call runs in a thread of its
own, and whoever waits for it goes on when its time is up. The thread stays behind until the call ends; its outcome is dropped.
After a failure the breaker of that store is open: nobody asks it until a cool-down has passed. Then one call is let through, and
the breaker closes if that call succeeds.
"""

from __future__ import annotations

import atexit
import contextvars
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Breaker", "Budget", "TookTooLong", "breaker_of", "within"]

T = TypeVar("T")
MOST_HANGING = 4
"""Calls that still hang, at which even the one call after a cool-down is not made: each of them holds a thread and a connection."""


class TookTooLong(Exception):
    """The time that a run has for its history is used up."""


class Budget:
    """The time that one run may wait for its history, over all of its calls. What the agent takes does not count."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def spend(self, since: float) -> None:
        """Take off what has passed since a reading of `time.monotonic()`."""
        self.left = max(0.0, self.left - (time.monotonic() - since))


class Breaker:
    """Whether a store is asked. Shared by all nodes of a process that use the same store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open_until: float | None = None
        self._is_trying = False
        self._hanging = 0

    @property
    def is_open(self) -> bool:
        return self._open_until is not None

    def admits(self) -> bool:
        """Whether a call may be made now. After a cool-down that is true for one caller, who then has to say how it went."""
        with self._lock:
            if self._open_until is None:
                return True
            if self._is_trying or self._hanging >= MOST_HANGING or time.monotonic() < self._open_until:
                return False
            self._is_trying = True
            return True

    def worked(self) -> None:
        """The store answered."""
        with self._lock:
            self._open_until, self._is_trying = None, False

    def failed(self, cooldown: float) -> None:
        """The store failed or did not answer: it is left alone for so many seconds."""
        with self._lock:
            self._open_until, self._is_trying = time.monotonic() + cooldown, False

    def hangs(self, more: int) -> None:
        """A call was left behind, or one of these has ended."""
        with self._lock:
            self._hanging += more


_left: set[threading.Thread] = set()


@atexit.register
def _let_them_end() -> None:
    """A thread that the interpreter stops in the middle of C++ ends the process with an abort. What hangs for good is in no such
    place; what is merely slow gets a second."""
    until = time.monotonic() + 1.0
    for thread in list(_left):
        thread.join(max(0.0, until - time.monotonic()))


_breakers: weakref.WeakKeyDictionary[Any, Breaker] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def breaker_of(store: object) -> Breaker:
    """The one breaker of a store."""
    with _making:
        return _breakers.setdefault(store, Breaker())


def within(seconds: float, call: Callable[[], T], breaker: Breaker) -> T:
    """What a call returns or raises; `TookTooLong` if it takes longer. Then it goes on in its thread, unattended."""
    if seconds <= 0:
        raise TookTooLong
    returned: list[T] = []
    raised: list[BaseException] = []
    done = threading.Event()
    lock = threading.Lock()
    is_left = False
    context = contextvars.copy_context()

    def run() -> None:
        try:
            returned.append(context.run(call))
        except BaseException as e:
            raised.append(e)
        with lock:
            done.set()
            if is_left:
                breaker.hangs(-1)
                _left.discard(thread)

    thread = threading.Thread(target=run, name="recollect-history", daemon=True)
    thread.start()
    if not done.wait(seconds):
        with lock:
            is_left = not done.is_set()
            if is_left:
                breaker.hangs(1)
                _left.add(thread)
        if is_left:
            raise TookTooLong
    if raised:
        raise raised[0]
    return returned[0]
