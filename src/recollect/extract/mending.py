"""Corrections that need what was said before them: "no, Mayer with a y", and "yes, exactly" to what was asked."""

from __future__ import annotations

from . import danger
from .clauses import (
    read as read_clause,
)
from .corrections import NOT_FIRST, SPELLED, WITH_LETTER, holds, mend
from .cutting import close_down, open_up, words
from .offer import offer
from .prose import is_foreign, sentences
from .reader import Reader
from .saying import Found
from .words import BASES, low, one_of

_SECOND_TO_FIRST = {"you": "I", "your": "my", "you're": "I am", "yours": "mine", "yourself": "myself"}


class Mending(Reader):
    def _mend_bare(self, body: str, why: str | None) -> bool:
        """A correction without a "no" before it: "It's Mayer with a y", "I meant ..."."""
        body = close_down(body)[0]
        lowered = body.lower()
        m = NOT_FIRST.match(body)
        if m and len(body.split()) <= 8:
            previous = self._previous()
            return previous is not None and holds(previous.content, m.group("y")) and self._mend(body, "", why)
        if (
            WITH_LETTER.match(body)
            and len(body.split()) <= 6
            and body[:1].isupper()
            and lowered.split()[0].strip(",") not in ("it", "i", "we", "he", "she")
        ):
            return self._previous() is not None and self._mend(body, "", why)
        if not lowered.startswith(("it is ", "that is ", "it's ", "his name is ", "her name is ", "he is ", "she is ")):
            return False
        rest = (
            body.split(" ", 2)[2]
            if lowered.startswith(("it is", "that is", "he is", "she is")) and len(body.split()) > 2
            else body
        )
        if not (WITH_LETTER.match(rest) or SPELLED.match(body) or lowered.endswith((" actually", ", actually"))):
            if not (" actually " in f" {lowered} " and len(body.split()) <= 8):
                return False
        return self._mend(body, "", why)

    def _mend(self, rest: str, lead: str, why: str | None) -> bool:
        """A correction that needs what was said before it; False when it stands on its own."""
        rest = close_down(rest)[0]
        tokens = rest.split()
        lowered = [low(t) for t in tokens]
        if not tokens:
            return False
        if lowered[0] in one_of("i we my our") and len(tokens) > 2:
            return False
        if lowered[0] == "the" and len(tokens) > 4 and read_clause(tokens) is not None:
            return False
        if lowered[0] in BASES and lowered[0] not in ("read", "set") and len(tokens) > 1 and not rest[0].isupper():
            return False
        previous = self._previous()
        if previous is None:
            return False
        fragment = rest
        pronoun = False
        for start in (
            "it is ",
            "that is ",
            "it was ",
            "he is ",
            "she is ",
            "they are ",
            "his name is ",
            "her name is ",
            "its name is ",
            "the name is ",
            "it should be ",
            "it has to be ",
            "his ",
            "it ",
        ):
            if fragment.lower().startswith(start):
                fragment = fragment[len(start) :]
                pronoun = True
                break
        fragment = close_down(fragment)[0]
        held = previous.content
        new = mend(held, fragment, sure=pronoun or bool(lead))
        if new is None:
            return False
        if new == held:
            # "No, Slovenia, not Slovakia" when Slovenia is what is held: said again.
            self.out.append(
                offer(self.turn, held, previous.family, kind=previous.kind, seqs=(self.turn.seq, *previous.seqs))
            )
            return True
        if previous in self.out:
            self.out.remove(previous)
            held = previous.about or held
        self._add(Found(new, previous.family, "correct", held, previous.kind), why, (self.turn.seq, *previous.seqs))
        return True

    def _affirmed(self) -> bool:
        """`So you live in Graz?` - `Yes, exactly`: what the assistant understood, confirmed by the user."""
        if not self.before or self.before[-1].role != "assistant":
            return False
        asked = [s for s in sentences(self.before[-1].text) if s.text]
        if not asked or len(asked) > 3 or is_foreign(asked[-1].text):
            return False
        tokens, _ = open_up(words(asked[-1].text))
        turned = [_SECOND_TO_FIRST.get(low(t), t) for t in tokens]
        if not turned or turned[0] not in ("I", "my") or danger.reason(asked[-1].text):
            return False
        if len(turned) > 2 and turned[1] == "are":
            turned[1] = "am"
        clause = read_clause(turned)
        made = self._fact(clause) if clause is not None else None
        if made is None or made.operation != "assert":
            return False
        self._add(made, None, (self.turn.seq, self.before[-1].seq))
        return True
