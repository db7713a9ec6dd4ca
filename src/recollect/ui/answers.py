"""Answers are given in the background: a page that is left, reloaded or clicked on does not cut one off.

An answer runs in a thread of a small pool, and whoever looks at its conversation reads along. When it is done, it is in
the log, and nothing of it is left here.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue

from .launch import ANSWERING

AT_ONCE = 4
"""Threads, and with them connections, that answers use at most; more of them wait for their turn."""

Where = tuple[str, str, str]
"""Profile, conversation, branch."""


class Answer:
    """One answer while it is given: its pieces so far, and whether there will be more."""

    def __init__(self, text: str | None, after: int) -> None:
        self.text = text
        """What it answers, shown until it is in the log; None when it goes on with what is there."""
        self.after = after
        """The newest event when it was asked for: what comes later is this answer's."""
        self.error: Exception | None = None
        self._pieces: list[str] = []
        self._more = threading.Condition()
        self._done = False

    @property
    def is_done(self) -> bool:
        return self._done

    def add(self, piece: str) -> None:
        with self._more:
            self._pieces.append(piece)
            self._more.notify_all()

    def end(self, error: Exception | None = None) -> None:
        with self._more:
            self.error, self._done = error, True
            self._more.notify_all()

    def pieces(self, patience: float = 0.25) -> Iterator[str]:
        """Read along from the beginning until it is done. Yields "" now and then while nothing comes: a page that is to
        be drawn anew is told so only when it says something."""
        at = 0
        while True:
            with self._more:
                if at == len(self._pieces) and not self._done:
                    self._more.wait(patience)
                new, is_done = self._pieces[at:], self._done
            at += len(new)
            if new:
                yield "".join(new)
            elif is_done:
                return
            else:
                yield ""

    def wait(self, seconds: float) -> bool:
        with self._more:
            return self._more.wait_for(lambda: self._done, seconds)


class Answers:
    """The answers that are being given in this process."""

    def __init__(self) -> None:
        # Threads of our own and not an executor's: those are waited for when the process ends, however long a model takes.
        self._queue: SimpleQueue[tuple[Where, Answer, Callable[[], Iterator[str]]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._running: dict[Where, Answer] = {}
        self._waiting: dict[Where, deque[tuple[Answer, Callable[[], Iterator[str]], Callable[[], int]]]] = {}
        self._failed: dict[Where, Exception] = {}
        self._lock = threading.Lock()

    def get(self, where: Where) -> Answer | None:
        with self._lock:
            return self._running.get(where)

    def start(
        self,
        where: Where,
        text: str | None,
        after: int,
        give: Callable[[], Iterator[str]],
        newest: Callable[[], int] | None = None,
    ) -> Answer:
        """Begin to answer. While another answer is given there, what was said waits for its turn: two at once on one branch
        would cross. Then `newest` says what the newest event is by now. With nothing said, the running answer will do."""
        with self._lock:
            running = self._running.get(where)
            if running is not None and text is None:
                return running
            answer = Answer(text, after)
            if running is not None:
                self._waiting.setdefault(where, deque()).append((answer, give, newest or (lambda: after)))
                return answer
            self._failed.pop(where, None)
            self._running[where] = answer
            if len(self._threads) < min(AT_ONCE, len(self._running)):
                thread = threading.Thread(target=self._work, name=ANSWERING, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put((where, answer, give))
        return answer

    def waiting(self, where: Where) -> list[str]:
        """What was said there and is answered after the running answer, oldest first."""
        with self._lock:
            return [answer.text or "" for answer, _, _ in self._waiting.get(where, ())]

    def _work(self) -> None:
        while (given := self._queue.get()) is not None:
            self._run(*given)

    def _run(self, where: Where, answer: Answer, give: Callable[[], Iterator[str]]) -> None:
        error: Exception | None = None
        try:
            for piece in give():
                answer.add(piece)
        except Exception as e:
            error = e
        with self._lock:
            line = self._waiting.get(where)
            following = line.popleft() if line else None
            if not line:
                self._waiting.pop(where, None)
            if following is None:
                self._running.pop(where, None)
                if error is not None:
                    self._failed[where] = error
        if following is not None:  # the place stays taken meanwhile, so that nobody overtakes it
            nxt, give_next, newest = following
            with suppress(Exception):
                nxt.after = newest()
            with self._lock:
                self._running[where] = nxt
            self._queue.put((where, nxt, give_next))
        answer.end(error)

    def failed(self, where: Where) -> Exception | None:
        """Why the last answer there could not be given, until the next one is asked for."""
        with self._lock:
            return self._failed.get(where)

    def busy(self) -> int:
        with self._lock:
            return len(self._running)

    def settle(self, seconds: float = 3.0) -> None:
        """Wait for what is being answered, but not for ever."""
        with self._lock:
            waiting = list(self._running.values())
        for answer in waiting:
            answer.wait(seconds)

    def close(self) -> None:
        self.settle()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(0.2)
