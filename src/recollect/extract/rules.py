"""The rules: a turn in, candidates out.

A user's own words are read sentence by sentence: first what is said to the memory itself (forget, remember, remind me),
then corrections, standing wishes, and plain statements. Words of anyone else are never taken as true; of those only what
looks meant for a memory is kept at all, in quarantine.
"""

from __future__ import annotations

from ..light import pattern
from . import Candidate, Turn, danger, pasted
from .cutting import close_down, open_up, words
from .events import derive
from .foreign import foreign
from .german import dated, in_english
from .mending import Mending
from .prose import Sentence, is_foreign, sentences
from .saying import Found, ing
from .telling import Telling
from .wishes import STYLE_VERBS
from .words import BASES, low, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 600
"""Characters of a sentence that is read: what is longer is a paste, not a statement."""
_REACH = pattern(
    r"(?i)^(?:you|people|clients|they) can (?:always |usually |best )?(?:reach|find|contact) me ((?:at|on|in|via|by|under) .+)$"
)
_WH = frozenset("what why how when where who which whose whom".split())
# As they are mistyped: "Wat is my favourite color" would be a favourite color. ("Wen" and "Ho" are names.)
_MISTYPED = frozenset(
    """wat waht whta hwat wht whats wats wut wich whcih whihc wihch hwich whic wo hwo woh whoo wher hwere whre wehre wheer whare whne hwen
    wehn hwy wyh whyy whoes""".split()
)
_INVERTED = frozenset("do does did is are was were can could would should shall will am has have may might".split())
_MEND = pattern(
    r"(?i)^(?:(?:no|nope|nah|sorry|oops|whoops|wait|hold on|hang on|hmm|actually|correction|my bad|my mistake|pardon|ah|oh|well|ugh|er|erm|um|in fact|to be precise|apologies|mea culpa|i misspoke|i was wrong|i got that wrong|i made a mistake|i made a typo|typo|that is wrong|that is not right|that is not correct|that is incorrect|that was wrong|that was a typo|not quite|wrong|i said that wrong|i mistyped|i was mistaken|let me correct that|let me correct myself|correcting myself|strike that|scratch that|edit|rather|i mean|i meant(?: to say)?|make that|make it|should be|it should be|i should have said|i meant to write|that should (?:be|have been|read|say)|read that as)(?:\s*[,:;.!–—-]+\s*|\s+|$)(?:but |and |it is just that )?)+"
)
_MEND_SURE = pattern(
    r"(?i)\b(?:no|nope|sorry|oops|whoops|wait|correction|my bad|my mistake|misspoke|mistyped|wrong|typo|not right|not correct|incorrect|i mean|i meant|make that|make it|should be|should have said|not quite|let me correct|mistake|mistaken|strike that|scratch that|actually|rather|hold on|hang on)\b"
)
_AFFIRM = pattern(
    r"(?i)^(?:yes|yeah|yep|yup|exactly|correct|right|that is right|that is correct|indeed|absolutely|true|precisely|you got it|yes exactly|spot on|sure|of course|please do|yes please|that's it|that's right|that's correct|[\s,.!])+$"
)


def read(turn: Turn, before: Sequence[Turn], most: int) -> list[Candidate]:
    """See `candidates`."""
    if turn.kind not in ("message", "note"):
        return derive(turn)[:most]
    if not turn.text or not turn.text.strip():
        return []
    if turn.role != "user" or not turn.own:
        return foreign(turn)[:most]
    found = _Rules(turn, before).all()
    if len(found) > most:
        kept = sorted(sorted(range(len(found)), key=lambda i: -found[i].importance)[:most])
        found = [found[i] for i in kept]
    return found


def _waiting(found: list[Candidate]) -> list[Candidate]:
    """What a message offers of which nobody knows who wrote it: it takes nothing back, and a person looks at the rest."""
    kept = [c for c in found if c.operation in ("assert", "correct")]
    return [Candidate(**{**c.__dict__, "quarantine": c.quarantine or pasted.WAITS}) for c in kept]


class _Rules(Mending, Telling):
    """Sentence by sentence, each rule in its turn."""

    def all(self) -> list[Candidate]:
        if _AFFIRM.match(self.turn.text) and self._affirmed():
            return self.out
        shape = pasted.look(self.turn.text)
        said = [s for s in sentences(dated(shape.own)) if s.text]
        self.asks = any(s.mark == "?" for s in said) or "```" in self.turn.text
        self.count = len(said)
        mending = False
        for s in said:
            if s.scene or is_foreign(s.text) or len(s.text) > LONGEST:
                if s.scene:
                    self.asks = True
                continue
            n = len(self.out)
            mending = self._sentence(s, mending) and len(self.out) == n
        seen: set[tuple[str, str, str | None]] = set()
        unique = []
        for c in _waiting(self.out) if shape.waits else self.out:
            key = (c.content.lower(), c.operation, c.about)
            if key not in seen and not is_foreign(c.content + (c.about or "")):
                seen.add(key)
                unique.append(c)
        return unique

    def _sentence(self, s: Sentence, mending: bool) -> bool:
        """Reads a sentence; True when it only announced a correction that is still to come."""
        text = in_english(s.text) or s.text
        tokens = words(text)
        tokens, marks = open_up(tokens)
        if not tokens:
            return False
        tokens = self._condition(tokens)
        body = " ".join(tokens)
        why = danger.reason(body)
        plain = body.rstrip(" .!,")
        if self._forget(close_down(plain)[0]):
            return False
        if self._todo(plain, s, why):
            return False
        if self._remember(plain, s, why):
            return False
        if s.mark != "?" and self._done_command(plain):
            return False
        if self._call_me(plain, why):
            return False
        m = _REACH.match(plain)
        if m:
            self._add(Found(f"Can be reached {m.group(1)}", "habit"), why)
            return False
        if self._wish(plain, s, marks, why):
            return False
        first = low(tokens[0])
        if s.mark == "?" and not body.lower().endswith((", remember", ", ok", ", okay", ", alright")):
            return False
        if first in _MISTYPED or [first, *map(low, tokens[1:2])] == ["were", "is"]:
            return False
        if (first in _WH and not (first == "when" and "," in body)) or (
            first in _INVERTED
            and len(tokens) > 1
            and low(tokens[1]) in one_of("i we you it there this that he she they")
        ):
            return False
        m = _MEND.match(body)
        if m and _MEND_SURE.search(m.group(0)):
            rest = body[m.end() :].strip(" ,;:-")
            if not rest:
                return True
            if self._mend(rest, m.group(0).lower(), why):
                return False
            tokens, more = open_up(rest.split())
            marks |= more | {"mend"}
            if m.group(0).lower().strip(" ,:.!") not in one_of("actually well oh rather"):
                marks.add("wrong")
        elif mending or ("mend" in marks and low(tokens[0]) not in one_of("i we my our")):
            if self._mend(body, "", why):
                return False
            marks.add("mend")
        elif self._mend_bare(body, why):
            return False
        self._statements(tokens, frozenset(marks), why)
        return False

    def _condition(self, tokens: list[str]) -> list[str]:
        """`When you review my code, be honest` -> `be honest when reviewing my code`: a wish with its occasion behind it."""
        first = low(tokens[0])
        if first not in one_of("when whenever if every each") or self.asks:
            return tokens
        at = next((i for i, t in enumerate(tokens) if t.endswith(",")), -1)
        start = 2 if first in ("every", "each") else 1
        if at < start + 1 or at + 2 > len(tokens) or low(tokens[start]) not in ("you", "i", "we"):
            return tokens
        tail = tokens[at + 1 :]
        if low(tail[0]) in one_of("please then always just"):
            tail = tail[1:] or tail
        if (
            low(tail[0]) not in BASES
            and low(tail[0]) not in STYLE_VERBS
            and low(tail[0]) not in ("do", "never", "always")
        ):
            return tokens
        if low(tokens[start]) == "you" and len(tokens) > start + 1 and low(tokens[start + 1]) in BASES:
            occasion = ["when", ing(low(tokens[start + 1])), *tokens[start + 2 : at + 1]]
        else:
            occasion = ["when", *tokens[start : at + 1]]
        occasion[-1] = occasion[-1].rstrip(",")
        self.sure = True
        return [*tail, *occasion]
