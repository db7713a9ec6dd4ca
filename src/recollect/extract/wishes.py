"""Standing wishes: what the user wants done from now on, as an imperative without first and second person.

"Please always run the tests first" is one, "run the tests" is not: a wish stands when it is said to (always, never, from now
on), or when it is about manner rather than matter (in French, without emojis, in short).
"""

from __future__ import annotations

from ..light import pattern
from .cutting import close_down, open_up
from .saying import capital
from .words import BASES, ING, PAST, low, one_of, rewrite

_IMPERATIVE = pattern(
    r"(?i)^(?:(?:can|could|will|would) you |i (?:want|need|would like|would love|expect|would prefer) (?:for )?you to |you (?:should|must|need to|have to|can|are to) |make sure (?:that )?(?:you |to )?|be sure to |try to |remember to |i would rather you |i would prefer (?:it )?(?:if|that) you |i prefer (?:it )?(?:if|when|that) you |i like it when you |i ask you to |it is important that you |let us )?"
    r"(?:(?:please|pls|kindly|just|also|simply) )*(?P<body>.+)$"
)
STANDING = pattern(
    r"(?i)\b(?:from now on|from here on(?: out)?|going forward|in (?:the )?future|from today(?: on)?|as of now|by default|as a rule|every time|each time|whenever|at all times|until further notice|in all (?:your )?(?:answers|replies|responses)|as a general rule|for all future \w+|henceforth|in everything you (?:write|do|say)(?: for me)?|in every (?:answer|reply|response|conversation))\b,?"
)
STYLE_VERBS = frozenset(
    "answer reply respond write speak talk use keep be format explain address give show avoid stick default sign start end skip include prefer make put wrap add cite drop leave limit provide communicate quote tell present output refer treat spell round".split()
)
_STYLE = pattern(
    r"(?i)\b(?:(?:your |the |all |any )?(?:answers?|repl(?:y|ies)|responses?|explanations?|tone|emojis?|emoticons|bullet points?|bullets|markdown|metric|imperial|celsius|fahrenheit|units|jargon|small talk|disclaimers?|apologies|preamble|greetings?|headings|tables)|formal|informal|informally|formally|concise|concisely|brief|briefly|terse|polite|casual|casually|direct|blunt|friendly|to the point|step by step"
    r"|(?:in|to me in|with me in) (?:(?:british|american|plain|simple|swiss|brazilian|mexican|easy) )?(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|czech|arabic|hindi|mandarin|chinese|japanese|korean|swedish|norwegian|danish|finnish|greek|turkish|hebrew|latin|romanian|hungarian|catalan)"
    r"|first name|last name|pronouns?|24-?hour|12-?hour|iso dates?|type hints|docstrings?|comments in|comments)\b"
)
_ONCE = pattern(
    r"(?i)\b(?:this|these|the following|below|above|here|now|once|for me a|an? (?:poem|story|email|letter|essay|haiku|joke|song|function|script|program|class|list|summary|tweet|blog)|one word|word|sentence|paragraph|it|today|tonight|else|anything|yet)\b"
)
CALL_ME = pattern(
    r"(?i)^(?:(?:can|could|will|would) you )?(?:please |just |do |simply |always |from now on,? )*(?:(?:i (?:would like|want|prefer|would prefer|like) (?:you )?to )|(?:you (?:can|may|should|could) (?:just |also |simply |always )?)|(?:(?:everyone|everybody|people|my friends|friends|most people|they|all) ))?"
    r"(?:call(?:s)? me|be called|refer to me as|address me as|go by|name me)\s+(?P<name>(?:(?:Dr|Mr|Mrs|Ms|Prof)\. ?)?[^,;.!?()]+)"
)
CALL_NOT = frozenset(
    "back later crazy tomorrow asap when if maybe a an the at on tonight today again once after before soon by in anytime any anything whatever stupid old-fashioned names out for now".split()
)


def wish(body: str, *, sure: bool, question: bool = False, asks: bool = False, count: int = 1) -> str | None:
    """A standing wish as an imperative without first and second person, or None."""
    if sure:
        body = STANDING.sub("", body).strip(" ,:")
        body = " ".join(body.split())
    tokens, _ = open_up(body.split())
    body = " ".join(tokens)
    body, marks = close_down(body)
    sure = sure or "standing" in marks
    m = _IMPERATIVE.match(body)
    if m is None:
        return None
    polite = m.start("body") > 0 and body[: m.start("body")].strip().lower() not in one_of("please pls just also")
    asked = body[: m.start("body")].lower()
    if question and not polite:
        return None
    text = m.group("body").strip()
    tokens = text.split()
    if len(tokens) < 2 or len(tokens) > 40:
        return None
    lowered = [low(t) for t in tokens]
    if (
        len(tokens) <= 6
        and not polite
        and not question
        and (lowered[0] == "no" or lowered[-1] == "only")
        and _STYLE.search(text)
        and not _ONCE.search(text)
    ):
        return capital(" ".join(rewrite([t for t in tokens if low(t) not in ("your", "please")])))
    negative = False
    if lowered[:2] == ["do", "not"]:
        negative = True
        tokens, lowered = tokens[2:], lowered[2:]
        if lowered[:1] == ["ever"]:
            sure = True
            tokens, lowered = tokens[1:], lowered[1:]
    elif lowered[0] == "not" and polite:
        negative = True
        tokens, lowered = tokens[1:], lowered[1:]
    elif lowered[0] in ("always", "never"):
        if lowered[1] in one_of("a an the mind been heard had thought knew seen was i again wanted said") or (
            lowered[1] in PAST and lowered[1] not in BASES
        ):
            return None
        sure = True
        negative = lowered[0] == "never"
        tokens, lowered = tokens[1:], lowered[1:]
        if polite and not tokens:
            return None
        always = not negative
        return _imperative(tokens, negative, always=always, sure=True)
    elif lowered[0] == "stop" and lowered[1] in ING:
        negative = True
        tokens = [ING[lowered[1]], *tokens[2:]]
        lowered = [low(t) for t in tokens]
        return _imperative(tokens, True, always=False, sure=True, stop=True)
    elif lowered[0] == "no" and lowered[1] == "more" and len(lowered) <= 6:
        return capital(" ".join(rewrite([t for t in tokens if low(t) != "your"])))
    if not tokens:
        return None
    if lowered[0] in one_of("i we my our the he she it they a an you this that there"):
        return None
    if lowered[0] in one_of(
        "worry forget think know bother get you understand see mind need want remember believe have"
    ):
        return None
    if lowered[0] not in BASES and lowered[0] not in STYLE_VERBS:
        return None
    if "always" in lowered[:3]:
        sure = True
    if sure:
        return _imperative(tokens, negative, always=False, sure=True)
    if lowered[0] in one_of("use follow stick write put name keep prefer format indent avoid") and any(
        p in " " + " ".join(lowered)
        for p in (
            " in this project",
            " in this repo",
            " in this codebase",
            " in our codebase",
            " in our repo",
            " in all my ",
            " in my code",
            " in our code",
            " for this project",
        )
    ):
        return _imperative(tokens, negative, always=False, sure=True)
    if asked.startswith("you can") and marks & {"now", "again"} and not _ONCE.search(" ".join(lowered)):
        return _imperative(tokens, negative, always=False, sure=True)
    if asked.startswith(("i would rather you", "i prefer", "i would prefer", "i like it when")):
        return _imperative(tokens, negative, always=False, sure=True)
    text = " ".join(tokens)
    if (
        lowered[0] in STYLE_VERBS
        and _STYLE.search(text)
        and not _ONCE.search(text)
        and len(tokens) <= 16
        and "?" not in text
        and ":" not in text
    ):
        return _imperative(tokens, negative, always=False, sure=True)
    if negative and not asks and count <= 2 and len(tokens) <= 12 and not _ONCE.search(text) and not question and lowered[0] in one_of("push commit merge delete deploy touch edit modify use add write mention suggest schedule book force-push rebase send recommend rename install assume make be put include create change interrupt ask apologize apologise repeat explain summarize summarise lecture praise flatter guess invent translate"):  # fmt: skip
        return _imperative(tokens, negative, always=False, sure=True)
    return None


def _imperative(tokens: list[str], negative: bool, *, always: bool, sure: bool, stop: bool = False) -> str:
    out = []
    for i, token in enumerate(tokens):
        w = low(token)
        if w == "your" or (w == "me" and i == 1 and low(tokens[0]) in one_of("answer address give show tell")):
            continue
        if w in ("please", "pls") or (w == "ever" and i == 0):
            continue
        out.append(token)
    text = " ".join(rewrite(out)).strip(" ,")
    if always:
        return f"Always {text}"
    if negative:
        return f"{'Do not' if stop else 'Never'} {text}"
    return capital(text)
