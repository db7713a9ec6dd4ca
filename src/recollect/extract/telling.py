"""Plain statements: what a sentence tells of the user, of others, and of what is done."""

from __future__ import annotations

from ..light import pattern
from .clauses import Clause
from .clauses import (
    read as read_clause,
)
from .commands import Commands
from .cutting import close_down, open_up, rotate, split
from .framing import frames
from .offer import offer
from .phrases import place_and_time
from .saying import Found, capital
from .words import KIN, PARTICIPLE, PAST, low, one_of, rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_LONGER = pattern(
    r"(?i)^(?P<name>(?-i:[A-Z])[\w.-]+(?: (?-i:[A-Z])[\w.-]+)?) is (?:no longer|not) (?:my|our) (?P<np>[\w' -]+?)(?: any ?more)?$"
)
_BREAKUP = pattern(
    r"(?i)^(?:my )?(?P<name>[A-Z][\w-]+) and i (?:broke up|split up|split|separated|divorced|got divorced|are divorced|are no longer together|are not together|are no longer a couple|are no longer dating)"
)
_INVERSE = pattern(
    r"(?i)^(?P<x>.{1,60}?) (?:is|are) (?:(?P<where>where|what|who|how) (?P<who>i|we) (?P<v>.+)|(?P<my>my|our) (?P<np>[\w' -]{2,40}))$"
)
_GREW = pattern(
    r"(?i)^(?:(?P<my>my|our) (?P<own>[\w' -]{2,40}?)|(?:the )?(?P<known>rent|salary|pay|wage|weight|mortgage|budget|price|fee|income))"
    r" (?:(?:has|have|had|is|are|was|were|got|been|just|now|recently|finally|already|gone|went|going) ){0,4}"
    r"(?:went up|gone up|going up|goes up|went down|gone down|down|up|risen|rose|raised|dropped|fallen|fell|jumped|climbed|increased|decreased"
    r"|reduced|cut|lowered|shrunk|shrank|grew|grown|changed|adjusted|bumped|sunk|sank)(?: up| down)?"
    r"(?: from [^ ]*\d[^ ]*(?: [a-z%€$£]+)?)? to (?P<new>(?:about |around |over |almost )?[€$£]?\d.*)$"
)
_BOTH = pattern(r"(?i),? and (?=(?:my|our) )")
_PAYS = pattern(
    r"(?i)^(?:i|we) (?:now |currently )?pay (?P<new>[€$£]?\d[\d.,]*k?(?: ?(?:euros?|dollars?|pounds?|francs|€|eur|usd|gbp|chf))?"
    r"(?: (?:a|per) (?:month|week|year)| monthly)?)(?: in| for| of)?(?: my| our| the)? (?P<own>rent|mortgage|insurance)"
    r"(?P<per> (?:a|per) (?:month|week|year)| monthly)?$"
)
_ANOTHER = pattern(r"(?i)^(?:another|one more|a second|one other|one) (?P<np>[a-z]+) of (?:mine|ours) is (?P<x>.+)$")


class Telling(Commands):
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
        cut = _BOTH.search(body)
        if cut and _GREW.match(body[: cut.start()]):
            self._one(body[: cut.start()].split(), marks, why)
            self._one(body[cut.end() :].split(), marks, why)
            return
        m = _PAYS.match(body)
        if m:
            part = ["my", m.group("own"), "is", *m.group("new").split(), *(m.group("per") or "").split()]
            body, first = " ".join(part), "my"
        m = _GREW.match(body)
        if m:
            # "My rent went up to 1020" is what the rent is now; how it came about is in the log.
            new, when = place_and_time(m.group("new"))
            whose = m.group("my") or "my"
            since = ["since", *when.split()] if when else []
            part = [whose, *(m.group("own") or m.group("known")).split(), "is", *new.split(), *since]
            marks |= {"now"}
            body = " ".join(part)
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
        made = self._which(self._instead(made, body))
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

    def _which(self, made: Found) -> Found:
        """`The appointment was moved to Friday`, when the last was a dentist appointment: it is that one."""
        previous = self._previous() if "now" in made.marks and made.operation == "assert" else None
        new, old = (frames(x.content) if x is not None else () for x in (made, previous))
        if previous is None or not new or not old or not new[0].attribute == old[0].attribute == "when":
            return made
        short, long = new[0].subject.split(), old[0].subject.split()
        head = previous.content[: previous.content.lower().find(" is ")]
        if short == long or not set(short) < set(long) or " is " not in made.content or not head:
            return made
        return Found(**{**made.__dict__, "content": head + made.content[made.content.find(" is ") :]})

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
