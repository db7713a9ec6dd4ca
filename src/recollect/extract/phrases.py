"""Phrases inside a statement: a name, a noun without its owner, a place and a time, a habit, what is over."""

from __future__ import annotations

from .clauses import Clause
from .saying import Found, say
from .words import HABIT_PHRASES, MONTHS, RIVALS, WEEKDAYS, low, one_of, rewrite


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
    return text[:1].isupper() and not is_tool(text)


def is_tool(text: str) -> bool:
    """Whether it is something that people use: Linux, TypeScript, the Google Drive."""
    words = [low(w) for w in text.split()]
    while words and words[0] in one_of("the a an my our using"):
        words = words[1:]
    return bool(words) and (words[0] in _TOOLS or words[0] in RIVALS)


def is_home(text: str) -> bool:
    """Whether one can move to it to live there: `Porto`, `the Netherlands`, `5 Elm Road`, `a small village`; not `Linux`,
    `the kitchen` or `part-time`."""
    words = text.split()
    if not words or is_tool(text):
        return False
    first = low(words[0])
    if first in one_of("a an the my our their another"):
        return len(words) > 1 and (words[1][:1].isupper() or bool(_DWELLINGS.intersection(map(low, words))))
    if first[:1].isdigit():
        return len(words) > 1 and words[1][:1].isupper()
    if first in _UNITS or first.endswith("ing"):
        return False
    is_written_small = first.isalpha() and (
        len(words) == 1 or first in one_of("new san los las saint st cape hong rio tel")
    )
    return words[0][:1].isupper() or is_written_small or words[-1][:1].isupper()


def when_or_where(text: str) -> str | None:
    """`on Friday`, `at 3pm`, `on GitHub`: when something is that was put off, or what it is on now; None if it is no such thing."""
    if is_tool(text):
        return f"on {text}"
    words = [low(w) for w in text.split()]
    if not words:
        return None
    if words[0] in one_of("noon midnight") or (
        words[0][:1].isdigit() and (words[1:] or ["am"])[0] in one_of("am pm o'clock")
    ):
        return f"at {text}"
    if words[0] in one_of("next tomorrow today this") and words[1:2] != ["place"]:
        return text
    if words[0] in WEEKDAYS or words[0] in MONTHS:
        return f"on {text}"
    if words[0][:1].isdigit() and (words[1] in MONTHS or words[1] == "of"):
        return f"on {text}"
    return None


_TOOLS = frozenset(
    """postgres postgresql mysql kubernetes aws gcp azure docker podman fly.io heroku github gitlab bitbucket typescript javascript rust go
    python kafka redis mongodb vercel netlify react vue svelte django rails linear jira notion slack terraform pulumi google gmail dropbox
    icloud onedrive sharepoint confluence signal telegram whatsapp mastodon bluesky dvorak colemak kde gnome wayland arch nixos nix gentoo
    mint swift php perl scala elixir clojure haskell julia c c++ c# .net f# cobol nextjs next.js remix astro nuxt node node.js deno
    wordpress shopify excel hetzner digitalocean cloudflare ovh s3 ec2 lambda openshift argocd ansible helm poetry uv pip conda pytest
    playwright cypress cursor copilot claude chatgpt gpt gemini mistral llama zed helix intellij pycharm vs ios apple samsung mac macbook
    ipad thunderbird zoom bitwarden 1password lastpass todoist things ynab duckdb clickhouse elasticsearch""".split()
)
# The departments and ways of working that one moves to.
_UNITS = one_of(
    """marketing sales product engineering finance hr support management research operations legal security design platform infrastructure
    part-time full-time freelance remote nights days tier level plan version backend frontend data"""
)
_DWELLINGS = one_of(
    """city town village country countryside suburb suburbs flat apartment house home place coast capital island mountains district
    neighbourhood neighborhood street road avenue farm cottage cabin studio houseboat beach sea seaside north south east west centre center
    outskirts dorm bungalow condo loft state province region"""
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
