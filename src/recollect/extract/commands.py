"""What is said to the memory itself: forget, remember, remind me, that is done, call me, from now on."""

from __future__ import annotations

from ..light import pattern
from . import danger
from .clauses import (
    read as read_clause,
)
from .cutting import close_down, open_up, rotate, split, words
from .offer import KINDS, offer
from .prose import Sentence
from .reader import Reader
from .saying import Found, capital, say
from .wishes import CALL_ME, CALL_NOT, STANDING, wish
from .words import BASES, DEICTIC, low, one_of, rewrite, third

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
    r"(?i)^(?:(?:can|could|will|would) you )?(?:please |pls |kindly |just |you can |you may |you should |now |also |oh |never ?mind,? (?=forget|just forget|please forget))*(?:i (?:want|need|would like) you to )?(?:please )?"
    r"(?:(?:forget|unlearn|un-remember)(?: (?:about|that|everything|anything|all|what (?:i|you)(?: have)? (?:said|told you|know|mentioned))*)*(?P<a>.*)"
    r"|(?:delete|erase|remove|drop|wipe|clear|discard|scrub)(?P<b> .*(?:memor\w+|what you know|what i (?:said|told)|you know about|from your (?:notes|records|memory)|everything about|anything about|the note about|the fact|all (?:of )?(?:my )?preferences).*)"
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


class Commands(Reader):
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
            is_place = what[:1].isupper() and low(what.split()[0]) not in BASES  # "we are going to Rome"
            if s.mark == "?" or is_place or not self._is_duty(body, what):
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
