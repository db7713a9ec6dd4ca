"""With a language model: what it finds in a turn, checked as if a stranger had written it.

The model sees a bounded piece of the conversation with its turns numbered, and answers in JSON. It is asked in a thread of
its own, has a time to answer in and one more try when it answers nonsense; what is not well-formed is discarded item by
item; and whatever happens, the turn goes on with what the rules found. Its answer is no more trusted than the text it read:
what comes from somebody else's turn, what asks for something dangerous, and what its source does not say, is quarantined.
"""

from __future__ import annotations

from . import MOST, Candidate, Turn, danger, pasted
from .frames import content_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MOST_TOKENS = 2_000
"""What a model is given to read, by estimate."""
MOST_ANSWER = 16_000
"""Characters of an answer that are looked at."""
MOST_WORDS = 40
KINDS = ("fact", "preference", "todo", "project_state")


def ask(turns: Sequence[Turn], model: Any, *, timeout: float, most: int = MOST) -> list[Candidate]:
    """What a model finds in the turns, oldest first; [] when it fails, or was late a moment ago. Never raises."""
    from ..asked import Watched

    watched = model if isinstance(model, Watched) else None
    shown = _bounded(turns)
    if not shown or (watched is not None and watched.rests):
        return []
    prompt = _prompt(shown, most)
    made: list[Candidate] = []
    for _ in range(2):
        answer = _answer(model, prompt, timeout)
        if answer is _LATE:
            if watched is not None:
                watched.rest()
            return []  # one that takes too long would take as long again
        items = _items(answer)
        if items is None:
            continue
        for item in items:
            candidate = _checked(item, shown, model)
            if candidate is not None:
                made.append(candidate)
        return made[:most]
    return []


def _bounded(turns: Sequence[Turn]) -> list[Turn]:
    """The newest turns that fit; of one that is too long by itself, its beginning."""
    room = MOST_TOKENS - 450  # the instructions
    shown: list[Turn] = []
    for turn in reversed([t for t in turns if t.text.strip() and t.kind == "message"]):
        cost = _tokens(turn.text) + 8
        if cost > room:
            if not shown:
                shown.append(Turn(**{**turn.__dict__, "text": turn.text[: max(0, (room - 8) * 3)]}))
            break
        room -= cost
        shown.append(turn)
    return shown[::-1]


def _tokens(text: str) -> int:
    """Three characters a token: an estimate on the safe side, one each outside ASCII."""
    foreign = 0 if text.isascii() else sum(ord(c) > 127 for c in text)
    return (len(text) - foreign + 2) // 3 + foreign


def _prompt(turns: Sequence[Turn], most: int) -> str:
    from datetime import UTC, datetime
    from importlib.resources import files

    text = files("recollect").joinpath("prompts/extract.md").read_text("utf-8")
    try:
        today = datetime.fromtimestamp(turns[-1].created_at / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        today = "unknown"
    lines = [f"[{n}] {_who(t)}: {_fenced(t.text)}" for n, t in enumerate(turns, 1)]
    return text.format(today=today, most=most, lines="\n".join(lines))


def _who(turn: Turn) -> str:
    return (turn.role or turn.kind).upper() if turn.own else "SOMEBODY ELSE"


def _fenced(text: str) -> str:
    """One line, and nothing in it that closes the fence."""
    return " ".join(text.split()).replace("<", "‹").replace(">", "›")


class _Late:
    """The model did not answer in time."""


_LATE = _Late()


def _answer(model: Any, prompt: str, timeout: float) -> object:
    """What the model says, `_LATE`, or None when it fails."""
    import threading

    said: list[object] = []

    def run() -> None:
        try:
            said.append(_call(model)(prompt))
        except Exception as e:  # whatever a model raises must not reach the turn
            import logging

            # Its kind alone: the message may quote what was said.
            logging.getLogger("recollect.model").info("Nothing was extracted: the model raised %s.", type(e).__name__)
            said.append(None)

    thread = threading.Thread(target=run, name="recollect-extract", daemon=True)
    thread.start()
    thread.join(timeout)
    return said[0] if said else _LATE


def _call(model: Any) -> Callable[[str], object]:
    """How to ask: a LangChain chat model for structured output, or for text where it has none; any callable as it is."""
    if hasattr(model, "with_structured_output"):
        try:
            from ..schema import Offers

            structured = model.with_structured_output(Offers)
        except (NotImplementedError, ImportError):
            pass
        else:
            ask: Callable[[str], object] = structured.invoke
            return ask
    if hasattr(model, "invoke"):
        invoke = model.invoke
        return lambda prompt: getattr(invoke(prompt), "content", None)
    call: Callable[[str], object] = model
    return call


def _items(answer: object) -> list[object] | None:
    """The items of an answer: an object of the schema, a mapping, or JSON with or without a fence around it."""
    if hasattr(answer, "model_dump"):
        answer = answer.model_dump()
    if isinstance(answer, str):
        import json

        text = answer[:MOST_ANSWER]
        start = min((i for i in (text.find("{"), text.find("[")) if i >= 0), default=-1)
        if start < 0:
            return None
        try:
            answer, _ = json.JSONDecoder().raw_decode(text[start:])
        except (ValueError, RecursionError):
            return None
    if isinstance(answer, dict):
        answer = answer.get("candidates")
    return answer if isinstance(answer, list) else None


def _checked(item: object, turns: Sequence[Turn], model: Any) -> Candidate | None:
    """An item as a candidate, None when it is not well-formed."""
    if hasattr(item, "model_dump"):
        item = item.model_dump()
    if not isinstance(item, dict):
        return None
    content, kind, importance, source = (item.get(k) for k in ("content", "kind", "importance", "source"))
    if not isinstance(content, str) or kind not in KINDS:
        return None
    content = " ".join(content.replace("\0", "").split())
    if not content or len(content) > 400 or len(content.split()) > MOST_WORDS:
        return None
    if isinstance(importance, bool) or not isinstance(importance, (int, float)) or not 0 <= importance <= 1:
        return None
    if isinstance(source, bool) or not isinstance(source, int) or not 1 <= source <= len(turns):
        return None
    given = item.get("tags")
    if given is not None and not isinstance(given, list):
        return None
    tags = tuple(t for t in (given or [])[:8] if isinstance(t, str) and 0 < len(t) <= 40)
    turn = turns[source - 1]
    why = danger.reason(content) or danger.reason(turn.text)
    if turn.role != "user" or not turn.own:
        why = f"said by the {turn.role or 'tool'}" if turn.role != "user" else "not the user's own words"
    elif why is None:
        shape = pasted.look(turn.text)
        if shape.waits:
            why = pasted.WAITS
        elif not is_grounded(content, shape.own):
            why = "not found in what was said"
    name = str(
        getattr(model, "model_name", None) or getattr(model, "model", None) or getattr(model, "__name__", "") or "model"
    )
    return Candidate(
        content=content[:1].upper() + content[1:], kind=kind, importance=float(importance), tags=tags,
        source_checkpoint_id=turn.checkpoint_id or f"event:{turn.seq}", seqs=(turn.seq,), role=turn.role,
        extractor=f"model:{name[:60]}", quarantine=why, family="model",
    )  # fmt: skip


def is_grounded(content: str, text: str) -> bool:
    """Whether half of the content words, and every name and number of a statement, stand in the turn it is said to be from."""
    said, meant = content_words(text), content_words(content)
    names = content_words(" ".join(w for w in content.split()[1:] if w[:1].isupper()))
    return bool(meant) and 2 * len(meant & said) >= len(meant) and names <= said


def merged(rules: Sequence[Candidate], found: Sequence[Candidate], most: int) -> list[Candidate]:
    """What the rules found, then what only the model found: the same statement once."""
    out = list(rules)
    known = [content_words(c.content) for c in out if c.operation in ("assert", "correct")]
    for candidate in found:
        key = content_words(candidate.content)
        if not any(key == k or (key and k and len(key & k) / len(key | k) >= 0.6) for k in known):
            out.append(candidate)
            known.append(key)
    return out[:most]
