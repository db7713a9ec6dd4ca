"""Pasted text is not the user's: what a message's shape says of who typed it.

Two sets of wrappers and of typed messages. The rules were mended against the first. The second was written before there
was a rule and run when the rules stood; what came out then is in docs/memory-quality.md, and here is that it stays so.
"""

import ast
import importlib.util
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Store
from recollect import open as open_store
from recollect.extract import Turn, candidates
from recollect.extract.pasted import LONG, look

FOLDER = Path(__file__).parent.parent / "memory"
DOCS = Path(__file__).parent.parent.parent / "docs"
AT = 1_773_136_800_000


def rows(group: str, kind: str) -> list[str]:
    lines = (FOLDER / f"pasted_{group}.jsonl").read_text("utf-8").splitlines()
    return [row[kind] for row in map(json.loads, lines) if kind in row]


def active(text: str, *before: Turn) -> list[str]:
    return [c.content for c in candidates(Turn("user", "message", text, 9, AT), before=before) if c.quarantine is None]


def is_typed(text: str) -> bool:
    shape = look(text)
    return not shape.waits and shape.own.strip() == text.strip()


@pytest.mark.parametrize("group", ["first", "second"])
def test_at_most_one_pasted_line_in_a_hundred_becomes_active(group: str) -> None:
    wrappers, lines = rows(group, "wrapper"), rows(group, "line")
    through = [(w, line) for w in wrappers for line in lines if active(w.replace("{line}", line))]
    assert len(wrappers) >= 60 and len(lines) >= 10
    assert len(through) <= len(wrappers) * len(lines) // 100, through[:20]


@pytest.mark.parametrize(("group", "share"), [("first", 0.04), ("second", 0.02)])
def test_what_people_type_is_not_held_up(group: str, share: float) -> None:
    """The first set has messages that were made to be hard: fragments, and paragraphs in which nobody says "I"."""
    typed = rows(group, "typed")
    held = [t for t in typed if not is_typed(t)]
    assert len(typed) >= 150
    assert len(held) <= share * len(typed), held


def test_the_lines_that_are_wrapped_are_learned_when_they_are_typed() -> None:
    """Otherwise the wrappers would prove nothing."""
    lines = rows("first", "line") + rows("second", "line")
    assert [line for line in lines if not active(line)] == []


@pytest.mark.parametrize(
    "text",
    [
        "My todos:\n- buy milk\n- call mum",
        "todo: buy milk, call mum",
        "Remember that: I prefer short answers.",
        "A few things about me:\n1. I'm a vegetarian\n2. I live in Kiel\n\nWhat should I cook?",
        "I'm a nurse.\n\nI work nights and I sleep badly.\n\nWhat can I do?",
        "hey\n\nso i live in oslo and its dark all day\n\nwhat lamp should i get",
        "My doctor is Dr. Lang. Is he any good?",
        "Remember that I prefer tabs. Run the tests.",
        "I'm on Windows. Start the server and open the page.",
        "I prefer pytest.\nWrite the tests first.\nThen run them.",
    ],
)
def test_lists_and_paragraphs_can_be_typed(text: str) -> None:
    assert is_typed(text)


@pytest.mark.parametrize(
    ("text", "learned"),
    [
        ("I'm vegan. Can you summarize this article?\n\nI live in Rome and I love steak.", ["Is vegan"]),
        ("I live in Porto, by the way. Translate this:\nI moved to Mars.", ["Lives in Porto"]),
        ("I use Python 3.12. What does this print?\n```\nprint('I live in Rome')\n# I prefer tabs\n```", ["Uses Python 3.12"]),
        ("> I live in Rome and I want a refund.\n\nI work at a hotel. How do I answer?", ["Works at a hotel"]),
    ],
)  # fmt: skip
def test_the_sentences_around_a_block_are_the_users(text: str, learned: list[str]) -> None:
    assert active(text) == learned


def test_where_it_is_unclear_what_was_typed_all_of_it_waits() -> None:
    text = "Dana Wu  9:14 AM\nI prefer dark mode.\nForget that I live in Porto."
    offered = candidates(Turn("user", "message", text, 1, AT))
    assert [(c.content, c.quarantine, c.operation) for c in offered] == [
        ("Prefers dark mode", "looks pasted, not typed", "assert")
    ]


def test_what_waits_is_seen_and_adopted_in_a_store() -> None:
    store = open_store(":memory:", user="alex")
    c = store.create()
    store.append(c, role="user", text="Contents of notes.txt\n\nI prefer dark mode.")
    store.append(c, role="user", text="I live in Porto.")
    store.consolidate(c)
    assert [m.content for m in store.memories()] == ["Lives in Porto"]
    (waiting,) = store.memories(state="quarantined")
    store.revise(waiting, promote=True)
    assert {m.content for m in store.memories()} == {"Lives in Porto", "Prefers dark mode"}
    assert "waits to be reviewed" in _answer(store, "Contents of notes.txt\n\nI own a red bicycle.")
    store.close()


def test_that_points_at_nothing_that_was_pasted() -> None:
    """ "Sorry, I meant Bonn" mends what the user said, never what stands in a paste."""
    pasted = Turn("user", "message", "Bio of our intern\n\nI live in Kiel.", 1, AT)
    assert active("Sorry, Bonn, not Kiel.", pasted) == []


def test_a_model_teaches_nothing_from_a_block_either() -> None:
    def model(_: str) -> dict[str, object]:
        found = {"kind": "fact", "importance": 0.7, "source": 1, "tags": []}
        return {"candidates": [{**found, "content": "Lives in Rome"}, {**found, "content": "Is vegan"}]}

    text = "I'm vegan. Can you summarize this article?\n\nI live in Rome and I love steak."
    offered = candidates(Turn("user", "message", text, 1, AT), model=model, timeout=60.0)
    assert {c.content for c in offered if c.quarantine is None} == {"Is vegan"}
    text = "Bio of our intern\n\nI live in Rome. I am vegan."
    offered = candidates(Turn("user", "message", text, 1, AT), model=model, timeout=60.0)
    assert offered and all(c.quarantine for c in offered)


def test_who_sends_very_much_has_it_from_elsewhere() -> None:
    long = "I like tea. I had some today. " * (LONG // 25)
    assert look(long).waits and not look(long[: LONG // 2]).waits


# -- nothing raises


def _prose() -> list[str]:
    """Paragraphs of our pages, and docstrings of what is installed beside us."""
    found: list[str] = []
    for page in sorted(DOCS.rglob("*.md")):
        found += re.split(r"\n\s*\n", page.read_text("utf-8"))
    for name in ("hypothesis", "pytest", "typer", "fastapi", "json", "email", "argparse", "unittest"):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin:
            continue
        for file in sorted(Path(spec.origin).parent.glob("*.py"))[:12]:
            try:
                tree = ast.parse(file.read_text("utf-8"))
            except (SyntaxError, UnicodeDecodeError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    found.append(ast.get_docstring(node) or "")
    return [text for text in found if text.strip()]


def _check(text: str, before: str = "") -> None:
    earlier = [Turn("user", "message", before, 1, AT), Turn("assistant", "message", before, 2, AT)] if before else []
    for role in ("user", "assistant"):
        for c in candidates(Turn(role, "message", text, 9, AT), before=earlier):
            assert "\0" not in c.content and "\0" not in (c.about or "")


@pytest.mark.parametrize(
    "text",
    ["I left.", "We left.", "So I left.", "we moved to!", "I moved to!", "We moved to using!", "I left up and I left.",
     'The label says "Save it now" Not "Submit".', 'Not "Submit".'],
)  # fmt: skip
def test_short_everyday_messages_do_not_raise(text: str) -> None:
    _check(text)
    _check(text, 'So your button is called "I am Bob"?')
    _check("Yes, exactly", text)


def test_a_quotation_that_is_confirmed_is_not_learned() -> None:
    asked = Turn("assistant", "message", 'So your label is "I am Bob"?', 1, AT)
    assert candidates(Turn("user", "message", "Yes exactly", 2, AT), before=[asked]) == []


def test_real_prose_does_not_raise() -> None:
    found = _prose()
    assert len(found) > 1_000
    for text, before in zip(found, [*found[1:], ""], strict=True):
        _check(text[:3_000], before[:500])


_SUBJECTS = (
    "I",
    "We",
    "So I",
    "my sister",
    "I am",
    "I have",
    "I don't",
    "Sorry, I",
    "No, I",
    "our team",
    "I no longer",
    "not",
)
_TAILS = (".", " to!", " in", " it.", " to the", " from", " a", ' "Submit".', " up and I left.", ":", "?")


def test_every_verb_with_nothing_behind_it_does_not_raise() -> None:
    from recollect.extract.words import BASES, PAST

    verbs = sorted(set(BASES) | set(PAST))
    rng = random.Random(27)
    for verb in verbs:
        for subject in rng.sample(_SUBJECTS, 4):
            _check(f"{subject} {verb}{rng.choice(_TAILS)}")


_text = st.lists(
    st.one_of(st.sampled_from([*_SUBJECTS, *_TAILS, "\n", "- ", "> ", "```", ": ", "moved", "left", "live", "remember"]), st.text(max_size=8)),
    max_size=24,
).map(" ".join)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(_text, _text)
def test_made_text_does_not_raise(text: str, before: str) -> None:
    _check(text.replace("\0", ""), before.replace("\0", ""))


def _answer(store: Store, text: str) -> str:
    from recollect.respond import answer

    return answer(store, text)


def test_the_answer_without_a_model_does_not_raise() -> None:
    store = open_store(":memory:", user="alex")
    c = store.create()
    said = ["I left.", "we moved to!", 'Not "Submit".', "I live in Porto.", *random.Random(3).sample(_prose(), 60)]
    for text in said:
        store.append(c, role="user", text=text[:2_000])
    store.consolidate(c)
    for text in [*said[:30], "what did I leave?", "where did we move to?", "who wrote Submit?"]:
        assert _answer(store, text[:2_000])
    assert store.stats().memories["not_understood"] == 0
    store.close()
