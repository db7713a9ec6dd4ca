"""The rules: a turn in, candidates out.

A user's own words are read sentence by sentence: first what is said to the memory itself (forget, remember, remind me),
then corrections, standing wishes, and plain statements. Words of anyone else are never taken as true; of those only what
looks meant for a memory is kept at all, in quarantine.
"""

from __future__ import annotations

from ..light import pattern
from . import Candidate, Turn, danger
from .clauses import (
    DEICTIC,
    Clause,
    Found,
    capital,
    close_down,
    ing,
    low,
    open_up,
    rewrite,
    rotate,
    say,
    split,
    words,
)
from .clauses import (
    read as read_clause,
)
from .corrections import NOT_FIRST, SPELLED, WITH_LETTER, holds, mend
from .dates import resolve
from .events import derive
from .foreign import foreign
from .frames import frames
from .offer import KINDS, offer
from .prose import Sentence, is_foreign, sentences
from .statements import fact
from .wishes import CALL_ME, CALL_NOT, STANDING, STYLE_VERBS, wish
from .words import BASES, KIN, PARTICIPLE, PAST, one_of, third

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 600
"""Characters of a sentence that is read: what is longer is a paste, not a statement."""
MOST_WORDS = 60

_REMEMBER = pattern(
    r"(?i)^(?:(?:can|could|will|would) you )?(?:please |pls |kindly |just |also |always )*(?:i (?:want|need|would like) you to )?"
    r"(?:remember|keep in mind|bear in mind|make a note|take note|take a note|note to self|memo to self|reminder to self|note down|note|jot down"
    r"|write down|memorize|memorise|save|store|do not forget|never forget|for the record|for future reference|please remember|fyi|know|record)"
    r"(?: for (?:me|later|next time|the future|future reference|the record))?(?: the fact)?(?:,? that\b|\s*[:,]|\s+)\s*(?:that )?(?P<what>.+)$"
)
_REMEMBER_SURE = pattern(
    r"(?i)(?:remember|in mind|forget|a note|note to self|memo|reminder|memori[sz]e)\b|(?:that|[:,])\s"
)
_FORGET = pattern(
    r"(?i)^(?:(?:can|could|will|would) you )?(?:please |pls |kindly |just |you can |you may |you should |now |also |oh )*(?:i (?:want|need|would like) you to )?(?:please )?"
    r"(?:(?:forget|unlearn|un-remember)(?: (?:about|that|everything|anything|all|what (?:i|you)(?: have)? (?:said|told you|know|mentioned))*)*(?P<a>.*)"
    r"|(?:delete|erase|remove|drop|wipe|clear|discard|scrub)(?P<b> .*(?:memor\w+|what you know|what i (?:said|told)|you know about|from your (?:notes|records|memory)|everything about|anything about|the note about|the fact).*)"
    r"|(?:disregard|ignore|scratch|strike)(?P<c> (?:that|what i (?:said|told you|mentioned).*|my (?:last|previous).*|the (?:thing|part|bit) about.*|everything i said.*))"
    r"|never mind (?:about |what i said about |the )(?P<d>.+)"
    r"|(?:there is no need to|no need to|i do not want you to|you (?:do not|need not)(?: need to| have to)?) (?:remember|keep|store|save|hold on to)(?P<g> (?:that|about|my|the|anything|what|it|this|our|who|where|how|when)\b.*)"
    r"|(?:cancel|delete|remove|drop|scrap|skip) (?:the|that|my) (?:reminder|to-?do|task)(?: item)?(?: (?:to|about|for))?(?P<h>.*)"
    r"|(?:no need to|you do not (?:need|have) to|do not) remind me (?:to|about|of)(?P<i> .+)"
    r"|(?:i|we) (?:(?:do not|no longer) (?:need|have) to|(?:do not|no longer) have to) (?P<j>.+)"
    r"|(?:do not|stop) (?:ever )?(?:remember|remembering|keep|keeping|store|storing|save|saving|memori[sz]e|memori[sz]ing|hold on to)(?P<e>(?: (?:that|about|my|the|anything|what|it|this|i|our)\b.*)?)"
    r"|it is not worth remembering(?P<f>.*)"
    r"|(?:i take (?:that|it) back|(?:i was |i am )?(?:just|only) (?:joking|kidding)|(?:just )?kidding|that was a joke|(?:that|it) is (?:no longer|not) (?:true|the case|correct)(?: any ?more)?"
    r"|that is outdated|not any ?more|that has changed)(?P<k>))$"
)
_DELETE_THAT = pattern(r"(?i)^(?:please |now |just )*(?:delete|erase|remove) (?:that|this)$")
_ABOUT = pattern(
    r"(?i)^\s*(?:(?:the |your |any |all |every )*(?:memor(?:y|ies)|notes?|facts?|records?|entr(?:y|ies)|everything|anything|all|things?|part|bit)\b\s*)?"
    r"(?:what (?:you|i)(?:'ve| have)? (?:know|knew|said|told you|mentioned|remember(?:ed)?|saved|stored)\s*)?(?:that i (?:said|told you|mentioned)\s*)?(?:you (?:know|have|stored|saved|remember)\s*)?"
    r"(?:(?:that )?i(?:'ve| have)? (?:ever |just )?(?:said|told you|mentioned)\s*(?:anything |something |a word )?)?(?:earlier |before )?(?:about |on |of |regarding |concerning |that )*"
)
_FROM_MEMORY = pattern(
    r"(?i)\s*(?:,? (?:please|thanks|ok)|(?:in|on) (?:your |the )?(?:memory|file|record)|from (?:your|the) (?:memory|memories|notes|records|mind)|again)\s*$"
)
_THAT = frozenset(
    (
        "",
        "that",
        "it",
        "this",
        "that one",
        "what i just said",
        "the last thing",
        "what i said",
        "my last message",
        "the last message",
        "the last one",
        "my previous message",
        "last message",
        "just said",
        "last thing",
    )
)
_REACH = pattern(
    r"(?i)^(?:you|people|clients|they) can (?:always |usually |best )?(?:reach|find|contact) me ((?:at|on|in|via|by|under) .+)$"
)
_INDIRECT = pattern(
    r"(?i)^(?P<w>where|what|how much|how many|how old|how|who|when|which) (?:(?:i|we) (?P<v>.+)|(?:my|our) (?P<np>.+?) (?:is|are|was|lives?|works?))$"
)
_TODO = pattern(
    r"(?i)^(?:(?:new |add a |another )?(?:to-?do|to do|task|action item|reminder)(?: item| for me| list)?\s*[:\-–]\s*(?P<a>.+)"
    r"|to-?do (?P<a2>[a-z].+)"
    r"|(?:(?:can|could|will|would) you )?(?:please )?(?:set|create|make|add) (?:me )?a reminder (?:for me )?(?:to|about) (?P<a3>.+)"
    r"|(?:(?:can|could|will|would) you )?(?:please |pls |also |and )*remind me (?:(?P<when>(?:at|on|in|by|tomorrow|tonight|today|next|this|before|after|later)\b[a-z0-9: ]{0,30}? ?)?to |about |that i (?:need|have) to )(?P<b>.+)"
    r"|(?:please )?(?:do not|never) (?:let me forget|forget) to (?P<c>.+)"
    r"|(?:please )?remember to (?P<d>.+)"
    r"|(?:(?:can|could|will|would) you )?(?:please )?(?:add|put) (?:(?:to|on) (?:my|the|our) (?:to-?do|to do|task|shopping)?\s*list\s*:?\s*(?P<e>.+)|(?P<f>.+?) (?:to|on|onto) (?:my|the|our) (?:to-?do|to do|task)?\s*list)"
    r"|(?:i|we) (?:still |really |also |just |urgently |definitely )*(?:(?:need|have|ought|got|have got|am supposed|are supposed|have still|have yet|are going) to|must|had better) (?P<g>.+)"
    r"|(?:i|we) (?:must not|can not|should not|do not want to) forget to (?P<h>.+)"
    r"|on my (?:to-?do list|list)(?: for [a-z ]+)?\s*:\s*(?P<i>.+)"
    r"|(?:still )?(?:to be done|outstanding|open)\s*:\s*(?P<j>.+))$"
)
_DUTY_NOT = frozenset(
    """say admit know understand see find figure get make be do go sort parse convert think ask tell have talk use work learn
    choose decide show look keep handle run call-out deal agree confess wait rush leave stop start compute calculate print
    iterate loop return filter extract solve prove show explain compare create generate write-a match split join remember
    forget live worry apologise apologize stress wonder hear believe question disagree wake eat sleep drive commute speak wear
    take give implement stay""".split()
)
_WH = frozenset("what why how when where who which whose whom".split())
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
_NO_LONGER = pattern(
    r"(?i)^(?P<name>(?-i:[A-Z])[\w.-]+(?: (?-i:[A-Z])[\w.-]+)?) is (?:no longer|not) (?:my|our) (?P<np>[\w' -]+?)(?: any ?more)?$"
)
_BREAKUP = pattern(
    r"(?i)^(?P<name>[A-Z][\w-]+) and i (?:broke up|split up|split|separated|divorced|got divorced|are divorced|are no longer together|are not together|are no longer a couple|are no longer dating)"
)
_INVERSE = pattern(
    r"(?i)^(?P<x>.{1,60}?) (?:is|are) (?:(?P<where>where|what|who|how) (?P<who>i|we) (?P<v>.+)|(?P<my>my|our) (?P<np>[\w' -]{2,40}))$"
)
_ANOTHER = pattern(r"(?i)^(?:another|one more|a second|one other|one) (?P<np>[a-z]+) of (?:mine|ours) is (?P<x>.+)$")


def read(turn: Turn, before: Sequence[Turn], most: int) -> list[Candidate]:
    """See `candidates`."""
    if turn.kind not in ("message", "note"):
        return derive(turn)[:most]
    if not turn.text or not turn.text.strip():
        return []
    if turn.role != "user" or not turn.own:
        return foreign(turn)[:most]
    found = _Reader(turn, before).all()
    if len(found) > most:
        kept = sorted(sorted(range(len(found)), key=lambda i: -found[i].importance)[:most])
        found = [found[i] for i in kept]
    return found


class _Reader:
    """Reads one message of the user."""

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

    def all(self) -> list[Candidate]:
        if _AFFIRM.match(self.turn.text) and self._affirmed():
            return self.out
        said = [s for s in sentences(self.turn.text) if s.text]
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
        for c in self.out:
            key = (c.content.lower(), c.operation, c.about)
            if key not in seen:
                seen.add(key)
                unique.append(c)
        return unique

    # -- one sentence

    def _sentence(self, s: Sentence, mending: bool) -> bool:
        """Reads a sentence; True when it only announced a correction that is still to come."""
        text = s.text
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

    def _add(self, found: Found, why: str | None, seqs: tuple[int, ...] | None = None) -> None:
        content, begins, ends = self._dated(found.content, found.future or found.family in ("todo", "plan"))
        if found.family not in ("plan", "remark"):
            ends = None  # "worked there until 2019" stays true
        content = " ".join(content.split())
        if not content or len(content.split()) > MOST_WORDS:
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

    # -- what was said before

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
                made = [c for c in _Reader(turn, self.before[:i]).all() if c.operation in ("assert", "correct")]
                if made:
                    self._last = made
                    break
        for c in reversed(self._last):
            if not kinds or c.kind in kinds:
                return c
        return None

    # -- forget

    def _forget(self, body: str) -> bool:
        m = _FORGET.match(body)
        if m is None:
            return _DELETE_THAT.match(body) is not None and self._delete_that()
        lowered = body.lower()
        if "forget to " in lowered or lowered.startswith(("do not forget", "never forget")):
            return False
        what = next((g for g in m.groups() if g), "") or ""
        what = what.strip(" ,:")
        command = lowered[: len(body) - len(what)] if what else lowered
        for _ in range(3):
            what = _FROM_MEMORY.sub("", what).strip()
        what = _ABOUT.sub("", what, count=1).strip(" ,:")
        for _ in range(3):
            what = _FROM_MEMORY.sub("", what).strip(" ,:")
        tail = what.split(", ")
        if len(tail) > 1 and (
            low(tail[1].split()[0]) in one_of("that it we i this because please thanks ok") if tail[1].split() else True
        ):
            what = tail[0]
        if danger.reason(body):
            return True
        if low(what) in _THAT or not what:
            if command.strip() in ("forget it", "just forget it", "oh forget it") or (
                lowered.strip() in ("forget it", "just forget it")
            ):
                return True
            previous = self._previous()
            if previous is not None:
                if previous in self.out:
                    self.out.remove(previous)
                    return True
                made = [c for c in self._last or [] if c.seqs == previous.seqs] or [previous]
                for c in made:
                    self.out.append(
                        offer(
                            self.turn,
                            f"Forget: {c.content}",
                            c.family,
                            kind=c.kind,
                            operation="retract",
                            about=c.content,
                        )
                    )
            return True
        about = self._asked_about(what) or self._in_third(what)
        self.out.append(offer(self.turn, f"Forget: {about}", "explicit", operation="retract", about=about))
        return True

    def _delete_that(self) -> bool:
        """`Please delete that`: meant for the memory only right after a statement, and in a talk without code."""
        last = next((t for t in reversed(self.before) if t.role == "user"), None)
        previous = self._previous()
        if last is None or previous is None or self.asks or "```" in last.text or previous.seqs[0] != last.seq:
            return False
        self.out.append(
            offer(
                self.turn, f"Forget: {previous.content}", previous.family, operation="retract", about=previous.content
            )
        )
        return True

    @staticmethod
    def _asked_about(text: str) -> str | None:
        """`where I live` -> `Lives in`, `who my boss is` -> `Boss`: what a question is about, without its answer."""
        m = _INDIRECT.match(text)
        if m is None:
            return None
        if m.group("np"):
            return capital(m.group("np"))
        verb = m.group("v").split()
        base = low(verb[0])
        if base in ("am", "are"):
            return "Is years old" if m.group("w").lower() == "how old" else "Is"
        rest = " ".join(rewrite(verb[1:]))
        prep = (
            {"live": "in", "work": "at", "come": "from"}.get(base, "")
            if m.group("w").lower() == "where" and not rest
            else ""
        )
        return capital(" ".join(x for x in (third(base) if base in BASES else base, rest, prep) if x))

    def _in_third(self, text: str) -> str:
        """Any clause or noun phrase in the third person, whether or not it is one we would learn."""
        tokens, _ = open_up(words(text))
        bare, marks = close_down(" ".join(tokens))
        tokens = rotate(bare.split())
        clause = read_clause(tokens, frozenset(marks)) if len(tokens) > 1 else None
        if clause is not None:
            made = self._fact(clause, loose=True)
            return made.content if made else say(clause)
        if tokens and low(tokens[0]) in ("my", "our", "the"):
            tokens = tokens[1:]
        return capital(" ".join(rewrite(tokens)))

    # -- remember

    def _remember(self, body: str, s: Sentence, why: str | None) -> bool:
        m = _REMEMBER.match(body)
        if m is None:
            return False
        head = body[: m.start("what")]
        what = m.group("what").strip(" ,:")
        if not _REMEMBER_SURE.search(head + " "):
            return False
        verb = head.lower()
        if (
            "save" in verb
            or "store" in verb
            or "record" in verb
            or "know" in verb
            or "note" in verb.split()[-1:]
            or "write" in verb
        ) and not ("that" in verb or ":" in head):
            return False
        first = low(what.split()[0])
        if first in ("when", "how", "to", "me", "the time", "if", "why", "who", "back") or low(what) in (
            "this",
            "that",
            "it",
            "me",
            "that for later",
            "this for later",
            "it for later",
        ):
            return first in ("me",)
        if s.mark == "?" and not body.lower().startswith(("can you", "could you", "will you", "would you", "please")):
            return False
        tokens, marks = open_up(words(what))
        parts = split(tokens)
        if not parts:
            return True
        whole = [tokens] if any(not self._starts(p) for p in parts) else parts
        for part in whole:
            bare, more = close_down(" ".join(part))
            toks = rotate(bare.split())
            clause = read_clause(toks, frozenset(marks | more), self.names) if len(toks) > 1 else None
            made = self._fact(clause, loose=True) if clause is not None else None
            if clause is not None and clause.aux in ("would",) and made is None:
                clause = None
            if made is not None and made.operation in ("retract",):
                self._add(made, why)
                continue
            if made is not None:
                content = made.content
                kind = made.kind or KINDS.get(made.family)
            else:
                if clause is None and len(toks) > 2 and low(toks[0]) in ("i", "we") and low(toks[1]).isalpha():
                    toks = [third(low(toks[1])), *toks[2:]]
                content = say(clause) if clause is not None else capital(" ".join(rewrite(self._untitled(toks))))
                kind = None
                style = wish(" ".join(toks), sure=False, asks=self.asks, count=self.count)
                if style is not None:
                    content, kind = style, "preference"
            if kind == "todo":
                kind = None
            self._add(
                Found(content, "explicit", kind=kind, marks=frozenset(marks | more) - {"mend"}, future=False), why
            )
        return True

    @staticmethod
    def _untitled(tokens: list[str]) -> list[str]:
        return tokens[1:] if tokens and low(tokens[0]) in ("my", "our") else tokens

    @staticmethod
    def _starts(tokens: list[str]) -> bool:
        return bool(tokens) and low(tokens[0]) in one_of("i we my our")

    # -- todos

    def _todo(self, body: str, s: Sentence, why: str | None) -> bool:
        m = _TODO.match(body)
        if m is None:
            return False
        group = next((name for name, value in m.groupdict().items() if value and name != "when"), None)
        if group is None:
            return False
        what = m.group(group).strip(" ,:")
        if group == "g":
            if s.mark == "?" or not self._is_duty(body, what):
                return False
        if s.mark == "?" and not body.lower().startswith(("can you", "could you", "will you", "would you", "please")):
            return False
        items = [what]
        if group in ("b", "a") and " and to " in what:
            items = what.split(" and to ")
        for item in items:
            tokens = words(item)
            while tokens and low(tokens[0]) in one_of("please also pls that"):
                tokens = tokens[1:]
            bare, marks = close_down(" ".join(tokens))
            tokens = bare.split()
            if not tokens:
                continue
            if low(tokens[0]) == "to":
                tokens = tokens[1:]
            if group == "g" and tokens and low(tokens[0]) not in BASES and not low(tokens[0]).isalpha():
                continue
            when = (m.groupdict().get("when") or "").strip()
            content = " ".join(rewrite(self._untitled_list(tokens)) + ([when] if when else []))
            if group in ("d", "c") and (low(tokens[0]) in ("always", "never")):
                self._add(Found(capital(content), "wish"), why)
                continue
            self._add(Found(capital(content), "todo", future=True, marks=frozenset(marks & {"also"})), why)
        return True

    @staticmethod
    def _untitled_list(tokens: list[str]) -> list[str]:
        return [t for t in tokens if t not in ("\x00",)]

    def _is_duty(self, body: str, what: str) -> bool:
        lowered = [low(w) for w in what.split()]
        second = [low(w) for w in body.split()[:6]]
        if "to" not in second and "must" not in second and "better" not in second:
            return False
        if not lowered or lowered[0] in _DUTY_NOT or lowered[0] in one_of("a an the to not some more no my your"):
            return False
        if any(w in DEICTIC for w in lowered) or "how" in lowered or self.asks or len(lowered) > 25:
            return False
        return not any(
            p in " " + what.lower() for p in (" every ", " each ", " daily", " all the time", " usually", " often")
        )

    # -- done

    def _done_command(self, body: str) -> bool:
        lowered = body.lower()
        what = None
        for start, end in (("mark ", " as done"), ("mark ", " as complete"), ("mark ", " as completed"), ("mark ", " as finished"), ("mark ", " done"), ("tick ", " off"), ("check ", " off"), ("cross ", " off"), ("take ", " off my list"), ("take ", " off the list"), ("remove ", " from my list"), ("remove ", " from my todo list"), ("remove ", " from my to-do list"), ("take ", " off my todo list"), ("take ", " off my to-do list")):  # fmt: skip
            at = lowered.find(start)
            if 0 <= at <= 20 and lowered.endswith(end):
                what = body[at + len(start) : len(body) - len(end)]
                break
        else:
            for start in (
                "cross off ",
                "tick off ",
                "check off ",
                "done with ",
                "i am done with ",
                "we are done with ",
                "i finished with ",
                "finished with ",
                "all done with ",
                "strike off ",
            ):
                at = lowered.find(start)
                if 0 <= at <= 12:
                    what = body[at + len(start) :]
                    break
        if what is None and lowered in (
            "done",
            "all done",
            "that is done",
            "it is done",
            "finished",
            "i did it",
            "done and dusted",
            "did it",
            "i have done it",
            "i have done that",
            "i did that",
            "that one is done",
            "check",
        ):
            previous = self._previous(("todo",))
            if previous is None:
                return True
            self.out.append(
                offer(self.turn, f"Done: {previous.content}", "todo", operation="done", about=previous.content)
            )
            return True
        if not what:
            return False
        about = "Finish " + " ".join(rewrite(what.strip(" ,").split()))
        self.out.append(offer(self.turn, f"Done: {about}", "todo", operation="done", about=about))
        return True

    # -- names and wishes

    def _call_me(self, body: str, why: str | None) -> bool:
        lowered = body.lower()
        if lowered.startswith(
            (
                "stop calling me ",
                "do not call me ",
                "please stop calling me ",
                "never call me ",
                "please do not call me ",
            )
        ):
            name = body[lowered.index("call") :].split(" ", 2)[-1].strip(" .!,")
            name, _ = close_down(name + " .")
            self.out.append(
                offer(
                    self.turn,
                    f"Doesn't want to be called {name}",
                    "identity",
                    operation="retract",
                    about=f"Prefers to be called {name}",
                    kind="preference",
                )
            )
            return True
        m = CALL_ME.match(body)
        if m is None:
            if lowered.startswith("i go by "):
                name = body[8:]
            else:
                return False
        else:
            if "go by" in m.group(0).lower() and not lowered.startswith("i "):
                return False
            name = m.group("name")
        name, marks = close_down(name.strip())
        parts = name.split()
        for stop in (
            "instead",
            "not",
            "because",
            "for",
            "from",
            "and",
            "or",
            "as",
            "when",
            "if",
            "since",
            "but",
            "unless",
            "in",
            "at",
            "at",
        ):
            if stop in parts:
                parts = parts[: parts.index(stop)]
        if not parts or len(parts) > 3 or low(parts[0]) in CALL_NOT:
            return False
        if not parts[0][:1].isupper():
            parts = [p.capitalize() for p in parts]
        self._add(
            Found(f"Prefers to be called {' '.join(parts)}", "identity", kind="preference", marks=frozenset(marks)), why
        )
        return True

    def _wish(self, body: str, s: Sentence, marks: set[str], why: str | None) -> bool:
        sure = bool(STANDING.search(body)) or "standing" in marks or self.sure
        self.sure = False
        content = wish(body, sure=sure, question=s.mark == "?", asks=self.asks, count=self.count)
        if content is None:
            return False
        self._add(Found(content, "wish", marks=frozenset(marks) - {"mend"}), why)
        return True

    # -- corrections

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
        if not asked or len(asked) > 3:
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

    # -- statements

    def _statements(self, tokens: list[str], marks: frozenset[str], why: str | None) -> None:
        lowered = [low(t) for t in tokens]
        if (
            lowered
            and lowered[0]
            in one_of(
                "if unless suppose maybe perhaps would imagine whether say though although once even as like while"
            )
            and not (lowered[0] == "as" and lowered[1:2] == ["of"])
        ):
            if not (lowered[0] in one_of("once as while although though") and "," in " ".join(tokens)):
                return
        body = " ".join(tokens)
        if body.lower().startswith(
            (
                "for example",
                "for instance",
                "e.g",
                "in this example",
                "in the example",
                "in that case",
                "in the story",
                "in my dream",
                "according to",
                "in theory",
                "in this scenario",
                "in the scenario",
                "as a user",
            )
        ):
            return
        m = _NO_LONGER.match(body)
        if m:
            about = f"{capital(m.group('np'))} is {m.group('name')}"
            self._add(Found(f"{m.group('name')} is no longer {m.group('np')}", "past", "retract", about), why)
            return
        m = _BREAKUP.match(body)
        if m:
            self._add(Found(f"Broke up with {m.group('name')}", "past", "retract", m.group("name")), why)
            return
        if "if" in lowered or "whether" in lowered:
            at = next(i for i, w in enumerate(lowered) if w in ("if", "whether"))
            if at < 3 or lowered[at - 1] in one_of("even as know sure wonder wondering see ask only"):
                return
            tokens = tokens[:at]
            if lowered[0] in ("i", "we") and lowered[1:2] not in (
                ["prefer"],
                ["like"],
                ["hate"],
                ["love"],
                ["never"],
                ["always"],
            ):
                return
        parts = self._contrast(split(rotate(tokens)))
        for n, part in enumerate(parts):
            part, more = open_up(part)
            if n and not part:
                continue
            bare, trailing = close_down(" ".join(part))
            bare = _purpose(bare)
            bare, again = close_down(bare)
            part = rotate(bare.split())
            all_marks = marks | more | trailing | again
            if "hedge" in all_marks or len(part) < 2:
                continue
            self._one(part, frozenset(all_marks), why)

    @staticmethod
    def _contrast(parts: list[list[str]]) -> list[list[str]]:
        """`I'm not 34, I'm 35`: the first half only says what the second replaces."""
        out = []
        for i, part in enumerate(parts):
            ls = [low(t) for t in part]
            after = [low(t) for t in parts[i + 1]] if i + 1 < len(parts) else []
            if "not" in ls[:4] and after[:1] == ls[:1] and ls[:1] in (["i"], ["we"], ["my"]) and "not" not in after[:4]:
                verb = next((w for w in ls[1:4] if w not in ("not", "do")), "")
                if verb and verb in after[1:3] and "anymore" not in ls and "longer" not in ls:
                    continue
            out.append(part)
        return out

    def _one(self, part: list[str], marks: frozenset[str], why: str | None) -> None:
        body = " ".join(part)
        first = low(part[0])
        if first in ("call", "please") and self._call_me(body, why):
            return
        m = _ANOTHER.match(body)
        if m:
            self._add(
                Found(
                    f"{capital(m.group('np'))}: {' '.join(rewrite(m.group('x').split()))}",
                    "habit",
                    marks=marks | {"also"},
                ),
                why,
            )
            return
        if first not in one_of("i we my our"):
            inverse = self._inverse(body)
            if inverse is not None:
                part = inverse.split()
                first = low(part[0])
        if first in one_of("he she it they his her its their") and self.antecedent:
            noun = self.antecedent
            part = (
                ["my", *noun.split(), *part[1:]]
                if first in one_of("he she it they")
                else ["my", *(noun + "'s").split(), *part[1:]]
            )
            if len(part) > 1 and low(part[len(noun.split()) + 1]) in ("have", "are") and first != "they":
                return
        clause = read_clause(part, marks, self.names)
        if clause is None:
            self._telegraphic(part, marks, why)
            return
        if clause.marks & {"hedge"}:
            return
        if (
            clause.lower[:1] in (("it",), ("that",), ("them",))
            and clause.subject == ""
            and "over" in clause.marks
            and self.object
        ):
            clause = Clause(**{**clause.__dict__, "rest": (*self.object, *clause.rest[1:])})
        elif clause.subject == "":
            self.object = clause.rest[:4]
        made = self._fact(clause)
        if made is None and "wrong" in clause.marks:
            made = self._fact(clause, loose=True)
            if made is not None and self._mended(made.content) is None:
                made = None
        self._note_names(clause)
        if made is None:
            self._maybe_done(clause, part, why)
            return
        made = self._instead(made, body)
        if (
            clause.subject == ""
            and clause.verb == "be"
            and made.family == "identity"
            and "," in body
            and made.content.startswith("Name is")
        ):
            tail = body.split(",", 1)[1].strip()
            if tail.lower().startswith(("a ", "an ")):
                more = read_clause(["I", "am", *tail.split()])
                second = self._fact(more) if more is not None else None
                if second is not None:
                    self._add(made, why)
                    self._add(second, why)
                    return
        self._add(made, why)
        if clause.subject or clause.form in ("past", "perfect"):
            self._maybe_done(clause, part, why)

    @staticmethod
    def _instead(made: Found, body: str) -> Found:
        """`Uses Firefox instead of Chrome`: what it says, and what that replaces."""
        if made.operation != "assert" or made.about is not None:
            return made
        for mark in (" instead of ", " rather than "):
            at = made.content.find(mark)
            if at > 0 and not made.content.startswith("Prefers"):
                old, kept = made.content[at + len(mark) :], made.content[:at]
                read = frames(kept)
                if read and read[0].text and read[0].text in kept and 0 < len(old.split()) <= 5:
                    return Found(**{**made.__dict__, "content": kept, "about": kept.replace(read[0].text, old)})
        return made

    def _note_names(self, clause: Clause) -> None:
        if clause.subject:
            heads = [low(w) for w in clause.subject.split()]
            if any(h in KIN for h in heads):
                self.antecedent = clause.subject
        elif clause.verb in ("have", "get", "adopt"):
            rest = clause.lower
            for i, w in enumerate(rest[:6]):
                if w in KIN:
                    tail = [low(x) for x in rest[i + 1 : i + 2]]
                    if tail and tail[0] in ("called", "named") and i + 2 < len(rest):
                        self.antecedent = f"{w} {clause.rest[i + 2].strip(',.')}"
                    else:
                        lead = [x for x in rest[:i] if x not in one_of("a an my the one new little lovely")]
                        self.antecedent = " ".join([*lead[-1:], w])
                    break
        found = {low(w) for w in clause.rest + tuple(clause.subject.split()) if w[:1].isupper() and len(w) > 2}
        self.names = self.names | frozenset(found)

    @staticmethod
    def _inverse(body: str) -> str | None:
        m = _INVERSE.match(body)
        if m is None:
            return None
        x = m.group("x")
        if low(x.split()[0]) in one_of("this that it these here what which there the he she they one such something"):
            return None
        if m.group("my"):
            if not x[:1].isupper() and "favo" not in m.group("np"):
                return None
            return f"{m.group('my')} {m.group('np')} is {x}"
        v = m.group("v")
        if m.group("where") == "where":
            prep = "at" if v.lower().startswith(("work", "study")) else "in"
            return f"{m.group('who')} {v} {prep} {x}"
        if m.group("where") == "what":
            return f"{m.group('who')} {v} {x}"
        return None

    def _telegraphic(self, part: list[str], marks: frozenset[str], why: str | None) -> None:
        """`Prefer tabs`, `Allergic to nuts`, `Passport renewed`, `Picked up the parcel`."""
        lowered = [low(w) for w in part]
        first = lowered[0]
        if first in one_of("prefer allergic based vegetarian vegan love hate") and len(part) > 1 and not self.asks:
            tokens = ["I", *(["am"] if first in one_of("allergic based vegetarian vegan") else []), *part]
            clause = read_clause(tokens, marks)
            made = self._fact(clause) if clause is not None else None
            if made is not None:
                self._add(made, why)
            return
        if self.asks:
            return
        if (
            first in one_of("moved switched joined started quit got bought adopted became left working living learning")
            and len(part) > 1
        ):
            tokens = ["I", *(["am"] if first.endswith("ing") else []), *part]
            clause = read_clause(tokens, marks)
            fact_ = self._fact(clause) if clause is not None else None
            if fact_ is not None:
                self._add(fact_, why)
                if fact_.operation != "assert":
                    return
        start = next((i for i, w in enumerate(lowered[:3]) if w not in one_of("just finally already have has")), 0)
        if (
            lowered[start] in PAST
            or (lowered[start] in PARTICIPLE)
            or (lowered[start].endswith("ed") and len(lowered[start]) > 4)
        ):
            from .words import base_of

            rest = part[start + 1 :]
            if rest and low(rest[0]) not in one_of("by to that if"):
                self._finish(base_of(lowered[start]), rest)
            return
        last = len(lowered) - 1
        while last > 0 and lowered[last] in one_of("finally already now today yesterday done"):
            if lowered[last] == "done":
                break
            last -= 1
        if 1 <= last <= 7 and (lowered[last] in PARTICIPLE or lowered[last] == "done"):
            self._finish(PARTICIPLE.get(lowered[last], "do"), part[:last])

    def _maybe_done(self, clause: Clause, part: list[str], why: str | None) -> None:
        """What was done may be on a list."""
        if clause.negated or why or "never" in clause.adverbs:
            return
        if clause.subject == "" and clause.form in ("past", "perfect") and clause.aux != "used":
            if clause.verb == "be":
                if clause.lower[:2] == ("done", "with"):
                    self._finish("do", clause.rest[2:])
                return
            self._finish(clause.verb, clause.rest)
        elif clause.subject and clause.verb == "be" and clause.form in ("present", "perfect", "past") and clause.rest:
            rest = [w for w in clause.lower if w not in one_of("now all finally already fully been")]
            if (
                rest
                and (rest[0] in PARTICIPLE or rest[0] in one_of("done ready in out live complete over behind"))
                and len(rest) <= 4
            ):
                self._finish(PARTICIPLE.get(rest[0], "do"), clause.subject.split() + list(clause.rest[1:]))

    def _finish(self, verb: str, rest: Sequence[str]) -> None:
        lead = [low(w) for w in rest[:2]]
        if (verb, lead) == ("take", ["care", "of"]) or (verb in ("deal",) and lead[:1] == ["with"]):
            verb, rest = "finish", rest[2 if verb == "take" else 1 :]
        elif verb in ("sort", "wrap") and lead[:1] in (["out"], ["up"]):
            verb, rest = "finish", rest[1:]
        elif verb == "get" and rest and low(rest[-1]) == "done":
            verb, rest = "finish", rest[:-1]
        about = " ".join(rewrite(rest)).strip(" ,.")
        if not about or verb in one_of("be see think say know want like hear tell"):
            return
        text = f"{verb} {about}"
        self.out.append(offer(self.turn, f"Done: {text}", "todo", operation="done", about=capital(text)))

    def _fact(self, clause: Clause | None, *, loose: bool = False) -> Found | None:
        if clause is None:
            return None
        return fact(clause, loose=loose, asks=self.asks)


_SECOND_TO_FIRST = {"you": "I", "your": "my", "you're": "I am", "yours": "mine", "yourself": "myself"}


def _purpose(text: str) -> str:
    """Without the consequence or reason that trails a statement: `, so no shrimp`, ` because it is fast`."""
    for cut in (
        ", so ",
        " because ",
        ", since ",
        ", which means ",
        ", hence ",
        ", therefore ",
        ", but ",
        " so please ",
        ", please ",
        ", not ",
        ", never ",
        ", nobody ",
        ", no ",
        ", if ",
        ", unless ",
        ", and no ",
        ", though ",
        ", whatever ",
        ", otherwise ",
        " so that you ",
    ):
        at = text.lower().find(cut)
        if at > 5:
            text = text[:at]
    return text
