"""A message cut into the sentences that its author says in their own voice.

Code, logs, quoted lines, quotations, and what follows "translate this:" or "she wrote:" are other people's text or no
text at all, and go first. A scene ("imagine I'm a pirate", "act as a doctor") makes the rest of the message a play.
"""

from __future__ import annotations

from ..light import dataclass, pattern
from ..search import fence
from .words import TROUBLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

MOST = 8_000
"""Characters of one message that are read. People do not tell more about themselves than that in one go; pastes do."""

LONGEST = 2_000
"""Characters of one line that are read."""

_BLOCK = pattern(r"(?s)(?:```|~~~).*?(?:```|~~~|\Z)")
_TICKS = pattern(r"`([^`\n]{1,60})`")
_TAG = pattern(r"(?s)<(?:recollected|context|document|file|quote|email|system|tool|code|pre|blockquote)\b.*")
_QUOTED = pattern(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|„([^“”\n]{1,400})[“”]|«([^»\n]{1,400})»|(?<!\w)'([^\n]{2,120}?)(?<!\s)'(?!\w)"
)
_SPLIT = pattern(r"(?<=[.!?…])[\"')\]]*\s+|\n+|;\s+|\s+[–—]\s+|\s+--?\s+(?=[a-zA-Z])|(?<=[)\]])\s+(?=[A-Z])")
ABBREVIATED = pattern(
    r"(?i)(?:^|\s)(?:dr|mr|mrs|ms|st|prof|vs|etc|e\.g|i\.e|approx|no|jr|sr|inc|ltd|co|dept|fig|ca|(?-i:[A-HJ-Z]))\.$"
)
_CODE = pattern(
    r"^\s*(?:[{}\[\]();]|//|/\*|#!|#include|import \w|from \S+ import|def \w|class \w+[:({]|return\b|const \w|let \w+ =|var \w"
    r"|function\b|public |private |if \(|for \(|while \(|\$ |>>> |at \S+\(|File \"|Traceback|\w+Error:|SELECT |INSERT |UPDATE \w+ SET"
    r"|<\/?\w+|\d{4}-\d\d-\d\d[T ]\d\d:|\[\d|@@ |[+-]{3} |diff --|\|)"
)
_SYMBOLS = frozenset("{}[]();=<>|&*\\/_$%^~")
_LIST = pattern(r"^\s*(?:[-*•]|\d{1,2}[.)]|\[[ xX]?\])\s+")
OPEN = pattern(r"(?i)\w\s+(?:an?|the|my|our|in|at|on|as|of|to|for|from|with|by|into)\s*$")
_QUOTE_LINE = pattern(r"^\s*(?:>|\|)")

# "Translate to German: ..." - what follows the colon is the material, not the author.
_MATERIAL = pattern(
    r"(?i)\b(?:translat\w*|summari[sz]\w*|rewrit\w*|rephras\w*|proofread\w*|paraphras\w*|explain\w*|review\w*|edit|fix|debug"
    r"|improve|polish|classif\w*|analy[sz]\w*|continue|complete|correct|check|reply|respond|answer this|draft|write|compose|parse"
    r"|convert|format|extract|refactor|read|look at|consider|spell-?check|shorten|expand|test|debug|generate|create|make up"
    r"|what does|what do you think|said|says|wrote|writes|tweeted|posted|texted|replied|asked|asks|told|quote|quoting|story"
    r"|poem|lyrics|essay|letter|email|text|sentence|paragraph|phrase|article|transcript|bio|review|message|example|excerpt|snippet"
    r"|error|log|output|following|below|prompt|dialogue|script|character|persona|joke|caption|headline|cover letter|from him"
    r"|from her|from them|reads|goes|states|here is|here's|title|subject|dataset|csv|json|yaml|input)\b[^:\n]{0,120}:\s*$"
)
_OWN_COLON = pattern(
    r"(?i)^\W*(?:(?:and|also|so|ok|okay|hey|hi|please|btw|oh)[\s,]+)*(?:please\s+)?(?:remember|note|todo|to-?do|to do|reminder|remind me"
    r"|correction|fyi|note to self|keep in mind|important|ps|p\.s|update|edit|context|background|about me|preference|my preference"
    r"|for the record|rule|new rule|ground rules?|one more thing|quick note|memo|save|add to my .{0,20}list"
    r"|on my (?:todo|to-do) list|don't forget|reminder to self|sorry|actually|wait|mea culpa|my mistake|my bad"
    r"|i misspoke|i was wrong|done|fixed|still to do|next up|for future reference|just so you know|one thing|heads up)[^:\n]{0,24}:"
)
# From here on the message is a play, a supposition or a draft.
_SCENE = pattern(
    r"(?i)^\W*(?:(?:now|please|ok|okay|so|hey|hi|and|then)[\s,]+)*(?:can you |could you |will you |would you |i want you to |let's |lets )?"
    r"(?:imagine|pretend|suppose|supposing|assume|assuming|hypothetically|let us say|let's say|lets say|say that i|say i"
    r"|picture this|act as|act like|roleplay|role-?play|play the role|you are now|you play|in this scenario|in the scenario"
    r"|in a parallel|for the sake of argument|what if|as an example|for example,? (?:say|suppose|imagine)|for instance"
    r"|here is (?:a|an|the|my|some) (?:text|email|letter|story|draft|essay|article|transcript|log|bio|example)"
    r"|here's (?:a|an|the|my|some) (?:text|email|letter|story|draft|essay|article|transcript|log|bio|example)"
    r"|write (?:me )?(?:a|an|the|some|this|in) |compose |translate |summari[sz]e |rewrite |proofread |rephrase |paraphrase "
    r"|once upon a time|user story|as a user,? i|given that i am a|story:|draft:|dear (?!assistant)\w+,?$|quote of the day|from an email"
    r"|she writes|he writes|they write|the (?:email|letter|text|article|review|comment|ticket|message|prompt|note) (?:says|reads|goes))"
)
_SPEECH = frozenset(
    """said says say saying wrote writes write told tells asked asks replied replies texted tweeted posted shouted shouts whispered
    quoted quote quotes lyrics sang sings song movie film line goes joke joked joking meme phrase sentence translate meaning mean
    means word words expression reads read title titled commented comments answered yelled mutters muttered spell
    pronounce synonym synonyms rhyme slogan caption heard hear keeps kept like""".split()
)
_FIRST = frozenset("i i'm im i've i'd i'll my we we're we've our me".split())


@dataclass(frozen=True)
class Sentence:
    """One sentence in its author's own voice."""

    text: str  # without its last mark
    mark: str  # the mark it ended with: ".", "?", "!", ":" or ""
    scene: bool  # whether it stands in a play or a supposition


def sentences(text: str) -> Iterator[Sentence]:
    """What is said in the author's own voice, in order."""
    is_cut = len(text) > MOST
    text = fence.without(text[:MOST])
    text = text.replace("’", "'").replace("‘", "'").replace("`' ", "' ")
    text = _BLOCK.sub("\n", text) if "```" in text or "~~~" in text else text
    if "<" in text:
        text = _TAG.sub("\n", text)
    text = _TICKS.sub(_untick, text) if "`" in text else text
    scene = False
    material = False
    lines = _unwrapped(text.split("\n"))
    for n, line in enumerate(lines, 1):
        bare = line.strip()
        if not bare:
            continue
        if material:
            # "Summarize this:" and then a text of any length: all of it is material, whatever it says of itself.
            continue
        if _QUOTE_LINE.match(line) or _CODE.match(line) or line.startswith(("    ", "\t")) or _is_symbols(bare):
            continue
        read = list(_line(_LIST.sub("", bare[:LONGEST])))
        # Of what was cut the last sentence is a half: "Lives in New".
        half = read[-1] if read and (len(bare) > LONGEST or (is_cut and n == len(lines))) else None
        for sentence in read:
            if sentence.mark == "material":
                material = True
                break
            if _SCENE.match(sentence.text):
                scene = True
            if sentence is not half:
                yield Sentence(sentence.text, sentence.mark, scene)


def _unwrapped(lines: list[str]) -> list[str]:
    """Lines that end in the middle of a phrase ("I live in") with the line after them."""
    out: list[str] = []
    for line in lines:
        if out and len(out[-1]) < LONGEST and line[:1].isalnum() and not _LIST.match(line) and OPEN.search(out[-1]):
            out[-1] = f"{out[-1].rstrip()} {line}"
        else:
            out.append(line)
    return out


def _line(line: str) -> Iterator[Sentence]:
    quoted = '"' in line or "“" in line or "„" in line or "«" in line or "'" in line
    if quoted:
        line = _QUOTED.sub(_unquote, line)
    at = line.find(":")
    if at >= 0 and not _OWN_COLON.match(line):
        # Only a colon that is followed by a space or the end introduces something; 7:40 and https: do not.
        for _ in range(4):
            if at < 0:
                break
            after = line[at + 1 : at + 2]
            if after in ("", " ") and _MATERIAL.search(line[max(0, at - 200) : at + 1]):
                head = line[:at]
                for part in _parts(head)[:-1]:
                    yield _sentence(part)
                yield Sentence("", "material", False)
                return
            at = line.find(":", at + 1)
    for part in _parts(line):
        yield _sentence(part)


def _sentence(part: str) -> Sentence:
    text = part.rstrip("\"')] *_")
    mark = ""
    while text and text[-1] in ".!?…:;,":
        mark = "?" if text[-1] == "?" or mark == "?" else text[-1]
        text = text[:-1]
    return Sentence(text.strip(" \"'([*_"), mark, False)


def _parts(line: str) -> list[str]:
    parts: list[str] = []
    for part in _SPLIT.split(line):
        if not part or not part.strip():
            continue
        if parts and ABBREVIATED.search(parts[-1]):
            parts[-1] += " " + part
        else:
            parts.append(part)
    return parts


_FOREIGN = "\x00"
"""Stands where somebody else's words stood: a sentence that holds it is left alone."""


def _unquote(match: re.Match[str]) -> str:
    """A quotation of a few words is a name ("Hey Jude"); a longer one, or one in the first person, is a voice."""
    found, whole = match.group(0), match.string
    inside = found[1:-1].strip()
    words = inside.lower().split()
    before = whole[max(0, match.start() - 40) : match.start()].lower().split()
    if (
        len(words) > 6
        or not words
        or inside[-1] in ".!?"
        or not _FIRST.isdisjoint(words)
        or any(w.strip(",:") in _SPEECH for w in before[-4:])
    ):
        return _FOREIGN
    return inside


def _untick(match: re.Match[str]) -> str:
    """What stands between backticks is a name or a command, unless it speaks in the first person."""
    return _FOREIGN if not _FIRST.isdisjoint(match[1].lower().split()) else match[1]


def is_foreign(sentence: str) -> bool:
    """Whether a sentence quotes somebody."""
    return _FOREIGN in sentence


def _is_symbols(line: str) -> bool:
    """A line of code or log that no keyword gave away: many signs, few words."""
    signs = sum(ch in _SYMBOLS for ch in line)
    return signs * 6 > len(line) and signs > 3


def is_trouble(words: list[str]) -> bool:
    """Whether a sentence reports something that went wrong at the screen rather than something that is so."""
    return not TROUBLE.isdisjoint(words)
