"""Phrases inside a statement: a name, a noun without its owner, a place and a time, a habit, what is over."""

from __future__ import annotations

from .clauses import Clause
from .saying import Found, say
from .words import HABIT_PHRASES, low, one_of, rewrite


def over(c: Clause) -> Found:
    """Something that held and does not any more."""
    held = Clause(c.subject, c.group, (), False, "" if c.aux in ("can",) else c.aux, c.verb, "present", c.rest, c.marks)
    about = say(held)
    text = say(c, negated=True) if c.negated else say(held)
    return Found(f"No longer: {about}" if not c.negated else f"{text} anymore", "past", "retract", about, marks=c.marks)


def is_habitual(c: Clause) -> bool:
    text = " ".join(c.lower) + " "
    return bool(c.adverbs) or any(p in text for p in HABIT_PHRASES)


def is_name(word: str) -> bool:
    return word[:1].isupper() and word.strip(",.").replace("-", "").replace("'", "").isalpha() and len(word) > 1


def until(words: tuple[str, ...]) -> str:
    out = []
    for word in words:
        if low(word) in one_of("and from a an the by but at in with or as here speaking who i so now then on for to"):
            break
        out.append(word.strip(",."))
        if word.endswith((",", ".")):
            break
    return " ".join(out)


def is_place(text: str) -> bool:
    return text[:1].isupper() and low(text.split()[0]) not in _TECH


_TECH = frozenset(
    "postgres postgresql mysql kubernetes aws gcp azure docker fly.io heroku github gitlab typescript rust go python kafka redis mongodb vercel netlify react vue svelte django rails linear jira notion slack terraform pulumi".split()
)


def noun(words: tuple[str, ...]) -> str:
    """A noun phrase without its owner: `my gym membership` -> `gym membership`."""
    while words and low(words[0]) in one_of("my our the a an all on"):
        words = words[1:]
    return " ".join(rewrite(words))


def place_and_time(text: str) -> tuple[str, str]:
    """A place and the time that follows it: `Cologne two years ago` -> (`Cologne`, `two years ago`)."""
    tokens = text.split()
    lowered = [low(t) for t in tokens]
    for i, w in enumerate(lowered):
        if i and (
            w
            in one_of("last yesterday today this two three four five six ten a few in on back recently earlier around")
            or w.isdigit()
        ):
            tail = lowered[i:]
            if (
                w in ("yesterday", "today", "last")
                or "ago" in tail
                or (
                    w == "this"
                    and tail[1:2]
                    and tail[1] in one_of("week month year morning summer spring winter autumn weekend")
                )
            ):
                return " ".join(tokens[:i]).rstrip(","), " ".join(tokens[i:])
            if (
                w in ("in", "on")
                and tail[1:2]
                and (
                    tail[1].isdigit()
                    or tail[1]
                    in one_of("january february march april may june july august september october november december")
                )
            ):
                return " ".join(tokens[:i]).rstrip(","), " ".join(tokens[i + 1 :])
            if w in ("recently", "earlier"):
                return " ".join(tokens[:i]).rstrip(","), ""
    return text, ""
