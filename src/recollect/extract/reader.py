"""A message of the user while it is read: what was found so far, and what "that" and "it" point at."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..light import pattern
from . import Candidate, Turn, danger
from .clauses import Clause
from .dates import resolve
from .framing import frames
from .offer import offer
from .saying import Found, capital
from .statements import fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_WORDS = 60
_LOOSE = pattern(r"(?i)(?:,? (?:and|or)|, as)$")
# A statement that stops before what it would say: "Works as a", "Lives in". ("Moved in" and "with the light on" are whole.)
_HALF = pattern(
    r"(?i)(?:^| )(?:an?|the|my|our|their|as|of|from|at|into|to)$|^(?:is |was )?(?:live|work|born|based|raised|stud)\w* (?:in|on|for|with)$"
)


class Reader(ABC):
    """Reads one message of the user. How is said in the rooms above: `commands`, `mending`, `telling`, and `rules`."""

    def __init__(self, turn: Turn, before: Sequence[Turn]) -> None:
        self.turn = turn
        self.before = before
        self.out: list[Candidate] = []
        self.antecedent: str | None = None
        self.object: tuple[str, ...] = ()
        self.names: frozenset[str] = frozenset()
        self.asks = False
        self.sure = False
        self.count = 1
        self._last: list[Candidate] | None = None

    @abstractmethod
    def all(self) -> list[Candidate]:
        """What the message says, in order, each thing once."""

    def _add(self, found: Found, why: str | None, seqs: tuple[int, ...] | None = None) -> None:
        content, begins, ends = self._dated(found.content, found.future or found.family in ("todo", "plan"))
        if found.family not in ("plan", "remark"):
            ends = None  # "worked there until 2019" stays true
        content = _LOOSE.sub("", " ".join(content.split()))
        if not content or len(content.split()) > MOST_WORDS:
            return
        if found.operation in ("assert", "correct") and _HALF.search(content):
            return
        why = why or danger.reason(content)
        about = found.about
        operation = found.operation
        if operation == "assert" and "mend" in found.marks:
            operation = "correct"
            if about is None and "wrong" in found.marks:
                about = self._mended(content)
        if why and operation in ("retract", "done"):
            return
        mode = "also" if "also" in found.marks else "now" if found.marks & {"now", "again"} else ""
        self.out.append(
            offer(
                self.turn, capital(content), found.family, kind=found.kind, operation=operation, about=about,
                valid_from=begins, valid_to=ends, quarantine=why, mode=mode, **({"seqs": seqs} if seqs else {}),
            )
        )  # fmt: skip

    def _mended(self, content: str) -> str | None:
        """The statement that "sorry, I meant: ..." puts right: the last one, if it is about the same thing."""
        previous = self._previous()
        if previous is None:
            return None
        new, old = frames(content), frames(previous.content)
        return previous.content if new and old and new[0].key == old[0].key else None

    def _dated(self, text: str, future: bool) -> tuple[str, int | None, int | None]:
        try:
            return resolve(text, self.turn.created_at, future=future)
        except (ValueError, OverflowError, OSError):
            return text, None, None

    def _previous(self, kinds: tuple[str, ...] = ()) -> Candidate | None:
        """The statement that "that" and "it" point at: the last of this message, else of the user's last message that made one."""
        for c in reversed(self.out):
            if c.operation in ("assert", "correct") and (not kinds or c.kind in kinds):
                return c
        if self._last is None:
            self._last = []
            tried = 0
            for i in range(len(self.before) - 1, -1, -1):
                turn = self.before[i]
                if turn.role != "user" or not turn.own or turn.kind != "message":
                    continue
                tried += 1
                if tried > 3:
                    break
                found = type(self)(turn, self.before[:i]).all()
                made = [c for c in found if c.operation in ("assert", "correct") and c.quarantine is None]
                if made:
                    self._last = made
                    break
        for c in reversed(self._last):
            if not kinds or c.kind in kinds:
                return c
        return None

    def _fact(self, clause: Clause | None, *, loose: bool = False) -> Found | None:
        if clause is None:
            return None
        return fact(clause, loose=loose, asks=self.asks)
