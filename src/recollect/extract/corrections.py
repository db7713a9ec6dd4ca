"""A correction worked into what it corrects: "no, it's Anna with two n", "sorry, 9:50", "Marcin, not Marek".

The fragment says what is right, seldom what it is right of. It takes the place of what is of its own sort in the statement:
a number that of a number, a weekday that of a weekday, a name that of the name spelled most like it.
"""

from __future__ import annotations

from ..light import pattern
from .words import MONTHS, WEEKDAYS, low, one_of

WITH_LETTER = pattern(
    r"(?i)^(?P<name>[\w'-]+),? (?:is )?(?:spelled |spelt )?with (?P<how>an? |one |two |a double |double |no |the )?(?:letter )?(?P<letter>[a-z]{1,2})(?:'?s)?\b"
)
SPELLED = pattern(
    r"(?i)^(?:it is |that is |my name is |his name is |her name is )?(?:spelled|spelt|written) (?:as )?(?P<name>[\w' -]+)$"
)
_NOT = pattern(r"(?i)^(?P<x>.+?),? (?:and )?not (?P<y>[^,]+)$")
NOT_FIRST = pattern(r"(?i)^not (?P<y>[^,.]+?)(?:,? but|,)\s*(?P<x>.+)$")
_NUMBERISH = pattern(
    r"(?i)^(?:\d[\d.,:/%k-]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|noon|midnight)(?:am|pm|st|nd|rd|th)?$"
)


def mend(held: str, fragment: str, *, sure: bool) -> str | None:
    """A held statement with the part that the fragment corrects put right, or None when it is not clear which.

    The held statement itself comes back when the fragment says what it says already."""
    fragment = fragment.strip(" ,.!")
    m = _NOT.match(fragment) or NOT_FIRST.match(fragment)
    if m:
        x, y = m.group("x").strip(" ,"), m.group("y").strip(" ,.")
        for start in ("it is ", "that is "):
            if x.lower().startswith(start):
                x = x[len(start) :]
        found = _replace_words(held, y, x)
        if found is not None:
            return found
        if holds(held, x):
            return held
        fragment = x
    m = WITH_LETTER.match(fragment) or SPELLED.match(fragment)
    if m:
        name = m.group("name").strip()
        return _replace_alike(held, name) or (_replace_value(held, name) if sure else None)
    parts = fragment.split()
    if not parts or len(parts) > 8:
        return None
    if holds(held, fragment):
        return held
    lowered = [low(p) for p in parts]
    tokens = held.split()
    hl = [low(t) for t in tokens]
    # "at 4", "with Paula", "on Tuesday": the phrase with the same preposition.
    if lowered[0] in one_of("at on in with from by for to near") and len(parts) > 1 and lowered[0] in hl:
        at = len(hl) - 1 - hl[::-1].index(lowered[0])
        end = _phrase_end(hl, at + 1)
        if _same_sort(lowered[1:], hl[at + 1 : end]):
            return " ".join([*tokens[:at], *parts, *tokens[end:]])
        return None
    head = parts[1:] if lowered[0] in ("the", "a", "an") and len(parts) > 1 else parts
    hlow = [low(p) for p in head]
    # A number for a number, a weekday for a weekday, a month for a month.
    sort = _sort(hlow[0])
    if sort != "word":
        matches = [i for i, w in enumerate(hl) if _sort(w) == sort]
        if len(head) > 1 and hlow[-1] in hl:
            matches = [i for i in matches if hl[i + 1 : i + 2] == hlow[1:2]] or matches
        if matches:
            i = matches[-1]
            span = 1
            while (
                span < len(head)
                and i + span < len(hl)
                and (hl[i + span] == hlow[span] or _sort(hl[i + span]) == _sort(hlow[span]) != "word")
            ):
                span += 1
            keep = head[: max(span, 1)] if span < len(head) and _sort(hlow[span]) == "word" else head
            return " ".join([*tokens[:i], *keep, *tokens[i + span :]])
    # "the fourth floor", "two brothers": the same head noun.
    if len(head) > 1 and hlow[-1] in hl:
        i = hl.index(hlow[-1])
        begin = i - (len(head) - 1)
        if begin >= 0:
            return " ".join([*tokens[:begin], *head, *tokens[i + 1 :]])
    if len(head) <= 3 and (head[0][:1].isupper() or sure):
        return _replace_alike(held, " ".join(head)) or (_replace_value(held, " ".join(parts)) if sure else None)
    return None


def _sort(word: str) -> str:
    if word[4:5] == "-" and word[:4].isdigit():
        return "date"
    if word in WEEKDAYS or word.rstrip("s") in WEEKDAYS:
        return "weekday"
    if word in MONTHS:
        return "month"
    if _NUMBERISH.match(word):
        return "number"
    return "word"


def _same_sort(a: list[str], b: list[str]) -> bool:
    return bool(a) and bool(b) and (_sort(a[0]) == _sort(b[0]))


def _phrase_end(lowered: list[str], start: int) -> int:
    for i in range(start, len(lowered)):
        if lowered[i] in one_of("at on in with from by for to and as since until near"):
            return i
    return len(lowered)


def holds(held: str, x: str) -> bool:
    return f" {x.lower()} " in f" {held.lower()} "


def _replace_words(held: str, old: str, new: str) -> str | None:
    at = f" {held.lower()} ".find(f" {old.lower()} ")
    if at < 0:
        return None
    return held[:at] + new + held[at + len(old) :]


def _replace_alike(held: str, name: str) -> str | None:
    """The word of the statement that is spelled most like the name, replaced by it."""
    best, score = None, 0.6
    for token in held.split():
        bare = token.strip(".,")
        if bare.lower() == name.lower():
            return held if bare == name else held.replace(bare, name)
        ratio = _ratio(bare.lower(), name.lower())
        if ratio >= score and (bare[:1].isupper() or not name[:1].isupper()):
            best, score = bare, ratio
    return held.replace(best, name) if best is not None else None


def _ratio(a: str, b: str) -> float:
    """How much of two words is the same, 0..1: twice the longest common subsequence over both lengths."""
    if len(a) > 40 or len(b) > 40:
        return 0.0
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return 2 * row[-1] / (len(a) + len(b)) if a and b else 0.0


def _replace_value(held: str, new: str) -> str | None:
    """What follows the last "is", "called", "named", "at" ... of a statement, replaced."""
    tokens = held.split()
    lowered = [low(t) for t in tokens]
    for at in range(len(tokens) - 2, -1, -1):
        if lowered[at] in one_of("is called named are") and lowered[at + 1] not in one_of("from in at on with for to"):
            end = _phrase_end(lowered, at + 1)
            return " ".join([*tokens[: at + 1], *new.split(), *tokens[end:]])
    for at in range(len(tokens) - 2, -1, -1):
        if lowered[at] in one_of("in at with on for from prefers uses likes speaks plays drives owns lives works"):
            end = _phrase_end(lowered, at + 1)
            return " ".join([*tokens[: at + 1], *new.split(), *tokens[end:]])
    return None
