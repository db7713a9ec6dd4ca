"""Context: the best of what is stored, within a token budget, quoted as evidence.

What was said is data, never instruction. So it comes fenced, every line of it marked as a quotation, with the fence's own
words made harmless inside, and under a heading that says what it is. The heading is also how such a text is known when
it comes back in a transcript: it is never stored as if somebody had said it, and never learned.
"""

from __future__ import annotations

from .light import pattern
from .model import Context, ContextItem
from .search.fence import CLOSING, OPENING, is_ours
from .search.fusion import SITTING_GAP_MS, WEIGHTS
from .search.times import calendar
from .search.tokens import term_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .model import Hit

__all__ = ["CLOSING", "NOTHING", "OPENING", "build", "day", "estimate", "is_about", "is_ours", "is_repeat", "quotation"]

LONGEST = 600  # characters of one quotation
NAME = 60  # and of a speaker's name
OTHERS = 2  # places of memories that what was merely done (a task's state, a file written) never takes
LEAST = 0.45  # of the best hit's score: what is below is filler (on LoCoMo, leaving it out costs nothing)
AROUND, NEAR, NEAR_ME = 0.15, 0.15, 0.05  # see `is_about`
NOTHING = Context("", (), 0)
_DONE = pattern(
    r"^(?:Task \S+ (?:\(.*\) )?is |File \S+ was written$|Tests (?:passed|failed) \(|Use of .+ was (?:approved|refused)$)"
)
"""What `extract.events` reads off what was done, and nobody said."""
_MONTHS = "January February March April May June July August September October November December".split()

# What shows as nothing and changes how the rest is read, or carries words that no one sees: control characters, the marks that
# turn the direction of text, tags, the controls of notations. A joiner or a selector stays where its script needs it: in Arabic,
# Mongolian and the scripts of India and South-East Asia after a letter, in emoji between two and behind one.
_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\ua87f\ua8e0-\ua8ff\ua980-\ua9ff\uaa60-\uaa7f"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_PICTURES = "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_UNSEEN = pattern(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0d\ufeff\ufff9-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<![{_JOINED}])\u200c|(?<![{_JOINED}{_PICTURES}\ufe0f])\u200d|(?<=[{_PICTURES}\ufe0f])\u200d(?![{_PICTURES}])"
    f"|(?<![{_PICTURES}#*0-9])[\ufe0e\ufe0f]|(?<=[#*0-9])[\ufe0e\ufe0f](?!\u20e3)|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
)
# Blank, and no blank to anybody who counts them: in Braille and between the letters of old Korean they are signs.
_BLANK = pattern(
    "[\u3164\uffa0]|(?<![\u2801-\u28ff])\u2800(?![\u2801-\u28ff])|(?<![\u1100-\u115e\u1161-\u11ff])[\u115f\u1160](?![\u1100-\u115e\u1161-\u11ff])"
)
# Angle brackets in every form in which a reader, or a model, would take them for the fence's.
_HARMLESS = str.maketrans(dict.fromkeys("<＜﹤", "‹") | dict.fromkeys(">＞﹥", "›"))


def estimate(text: str) -> int:
    """Tokens without a tokenizer: four characters each in plain English, one each outside ASCII; rounded up."""
    foreign = sum(ord(c) > 127 for c in text) if not text.isascii() else 0
    return (len(text) - foreign + 3) // 4 + foreign


def build(
    hits: Sequence[Hit],
    *,
    budget: int,
    max_memories: int,
    max_excerpts: int,
    sensitive: bool,
    count: Callable[[str], int] = estimate,
    why: bool = False,
) -> Context:
    """The best hits that fit: memories first named, then excerpts, each from one sitting, its quotations in order."""
    chosen: list[tuple[Hit, str]] = []
    seen: list[set[str]] = []
    sittings: list[Hit] = []
    memories = books = 0
    spent = count(f"{OPENING}\n{CLOSING}") + 2
    best: dict[str, float] = {}
    is_book = False
    for hit in hits:
        if hit.score < LEAST * best.setdefault(hit.type, hit.score):
            continue
        if not (is_about(hit) or hit.kind == "preference" or hit.parts.get("pin")):  # those hold whatever is asked
            continue
        if (hit.sensitive and not sensitive) or is_ours(hit.text) or not hit.text.strip():
            continue
        new_sitting = False
        if hit.type == "memory":
            if memories == max_memories:
                continue
            is_book = hit.kind == "project_state" and _DONE.match(hit.text) is not None
            if is_book and books >= max(1, max_memories - OTHERS):
                continue
        else:
            new_sitting = not any(_same_sitting(hit, other) for other in sittings)
            if new_sitting and len(sittings) == max_excerpts:
                continue
        line = quotation(hit)
        cost = count(line + "\n") + (count(_heading(hit) + "\n") if new_sitting else 0)
        if spent + cost > budget:
            continue
        # Of a long text what is quoted; asked last, since it takes longer than all the rest.
        words = term_set(hit.text if len(hit.text) <= LONGEST else hit.snippet)
        if any(_same(words, other) for other in seen):
            continue
        spent += cost
        chosen.append((hit, line))
        seen.append(words)
        if hit.type == "memory":
            memories += 1
            books += is_book
        elif new_sitting:
            sittings.append(hit)
    while chosen and count(text := _render(chosen)) > budget:  # the parts were counted alone, a tokenizer may differ
        chosen.pop()
    if not chosen:
        return NOTHING
    items = [
        ContextItem(
            group[0][0], tuple(hit for hit, _ in _in_order(group)), sum(count(line) for _, line in group),
            reasons(group[0][0]) if why else "",
        )
        for group in _excerpts(chosen)
    ]  # fmt: skip
    return Context(text, tuple(items), count(text))


def is_about(hit: Hit) -> bool:
    """Whether it is about the question, and not merely the least far away: whatever is asked, something is nearest in
    meaning, and "ok thanks" brought up where somebody lives. It shares words, or what stands around it does; it was said by
    whom or when the question asks for; or it is near in meaning, which has to be less where the question is about the user,
    as most of what is stored is. What has nothing to do with a question reaches 0.09 in meaning; on LoCoMo one in 900 pieces
    of evidence has no more than that. A pin, and the form of a sentence, say nothing of it."""
    parts = hit.parts
    speaker = parts.get("speaker", 0.0)
    return (
        parts.get("words", 0.0) > 0
        or parts.get("neighbours", 0.0) >= AROUND
        or parts.get("time", 0.0) > 0
        or parts.get("recency", 0.0) > WEIGHTS.recency
        or speaker > WEIGHTS.speaker_self
        or parts.get("meaning", 0.0) >= (NEAR_ME if speaker else NEAR)
    )


def is_repeat(hit: Hit) -> bool:
    """Whether it is an answer that was given without a model, and says only what is on record elsewhere: nothing else loses as
    much by its form."""
    most = WEIGHTS.repeats + WEIGHTS.answers + WEIGHTS.names
    return hit.parts.get("form", 0.0) <= most + 0.001


def _same(a: set[str], b: set[str]) -> bool:
    """Near-duplicates: nine of ten terms in common."""
    return bool(a) and len(a & b) >= 0.9 * max(len(a), len(b))


def _same_sitting(a: Hit, b: Hit) -> bool:
    return a.conversation_id == b.conversation_id and abs(a.created_at - b.created_at) <= 4 * SITTING_GAP_MS


def day(at: int) -> str:
    year, month, number = calendar(at)
    return f"{number} {_MONTHS[month - 1]} {year}"


def _heading(hit: Hit) -> str:
    return f"{day(hit.created_at)}, conversation {_safe(hit.conversation_id or '', 36)}:"


def quotation(hit: Hit) -> str:
    """A hit in one line, marked as what was said or is remembered."""
    text = _safe(hit.text if len(hit.text) <= LONGEST else hit.snippet, LONGEST)
    if hit.type == "memory":
        return f"- {day(hit.created_at)}, {hit.kind}: {text}"
    return f"> [{hit.seq}] {_safe(hit.speaker or hit.kind, NAME)}: {text}"


def _safe(text: str, most: int) -> str:
    """One line, in which nothing can close the fence, open another, or be other than it looks."""
    return " ".join(_BLANK.sub(" ", _UNSEEN.sub("", text)).translate(_HARMLESS).replace("```", "ʼʼʼ").split())[:most]


def _render(chosen: Sequence[tuple[Hit, str]]) -> str:
    lines = [OPENING]
    lines += [line for hit, line in chosen if hit.type == "memory"]
    for group in _excerpts([pair for pair in chosen if pair[0].type == "event"]):
        lines.append(_heading(group[0][0]))
        lines += [line for _, line in _in_order(group)]
    return "\n".join([*lines, CLOSING])


def _excerpts(chosen: Sequence[tuple[Hit, str]]) -> list[list[tuple[Hit, str]]]:
    """What is chosen, a sitting at a time, a memory by itself; the best of each first."""
    groups: list[list[tuple[Hit, str]]] = []
    for pair in chosen:
        for group in groups:
            if pair[0].type == group[0][0].type == "event" and _same_sitting(pair[0], group[0][0]):
                group.append(pair)
                break
        else:
            groups.append([pair])
    return groups


def _in_order(group: Sequence[tuple[Hit, str]]) -> list[tuple[Hit, str]]:
    return sorted(group, key=lambda pair: pair[0].seq or 0)


def reasons(hit: Hit) -> str:
    """What its score is mostly made of, in one line."""
    strongest = sorted(hit.parts.items(), key=lambda part: -part[1])[:3]
    return ", ".join(f"{name} {value:.2f}" for name, value in strongest if value > 0)
