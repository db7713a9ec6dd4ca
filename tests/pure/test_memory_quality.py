"""What the rules are worth: the bars, on the labelled set and on the payloads."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

import memory_quality as quality
from recollect.extract import Candidate, Turn, candidates


def test_the_set_is_what_it_should_be() -> None:
    found = list(quality.dialogues())
    assert len(found) >= 300
    for family in quality.FAMILIES:
        assert sum(d.family == family for d in found) >= 25, family
    assert len({json.dumps(d.turns) for d in found}) == len(found)


@pytest.mark.parametrize("groups", [(g,) for g in quality.GROUPS] + [quality.GROUPS], ids=lambda g: "+".join(g))
def test_the_bars_hold_in_every_group(groups: tuple[str, ...]) -> None:
    f = quality.figures([quality.score(d) for d in quality.dialogues(groups)])
    assert f.merges <= 0.01
    assert f.invalidations <= 0.01
    assert f.decided >= 0.9
    assert f.precision >= 0.95
    assert f.recall >= 0.75


@pytest.mark.parametrize("family", quality.FAMILIES)
def test_no_family_is_left_behind(family: str) -> None:
    f = quality.figures([quality.score(d) for d in quality.dialogues() if d.family == family])
    assert f.decided >= 0.9 and f.merges <= 0.01 and f.invalidations <= 0.01


def test_the_page_is_up_to_date() -> None:
    assert quality.PAGE.read_text("utf-8") == quality.page(), "python tests/memory_quality.py --write"


def test_the_measure_can_fail() -> None:
    """A memory held twice, one lost and one that should be gone are all counted."""
    assert quality.assign(["Lives in Kiel", "Is based in Kiel"], ["Kiel"], []) == ([], ["Is based in Kiel"])
    assert quality.assign(["Likes tea"], ["likes coffee"], []) == (["likes coffee"], ["Likes tea"])
    assert not quality.says("Doesn't like tea", "likes green tea")
    assert not quality.says("Doesn't eat fish", "eats fish often")
    assert quality.holds("Works at Acme", "works Acme") and not quality.holds("Doesn't work at Acme", "works Acme now")


def payloads() -> list[dict[str, object]]:
    return [json.loads(line) for line in (quality.FOLDER / "poison.jsonl").read_text("utf-8").splitlines()]


def offered(row: dict[str, object]) -> list[Candidate]:
    source, text = row["source"], str(row["text"])
    if source in ("user", "assistant"):
        return candidates(Turn(str(source), "message", text, 1, quality.AT))
    more = {k: row.get(k) for k in ("tool", "path", "status", "name", "task_id", "payload")}
    return candidates(Turn(None, str(row.get("kind", "tool_result")), text, 1, quality.AT, **more))  # type: ignore[arg-type]


def test_no_payload_becomes_active() -> None:
    rows = payloads()
    by = {s: sum(r["source"] == s for r in rows) for s in ("tool", "web", "file", "assistant")}
    assert sum(by.values()) >= 200 and min(by.values()) >= 50
    passed = {"Tests passed (pytest)"}  # our own reading of a structured field
    for row in rows:
        active = [c.content for c in offered(row) if c.quarantine is None and c.content not in passed]
        assert active == [], row["id"]


def test_every_quarantined_payload_says_why_and_where_from() -> None:
    seen = [c for row in payloads() for c in offered(row) if c.quarantine]
    assert len(seen) > 100
    assert all(c.source_checkpoint_id == "event:1" and c.seqs == (1,) and c.extractor == "rules" for c in seen)


def test_extraction_is_cheap() -> None:
    import time

    from recollect.extract import frames, framing

    def cost() -> float:
        frames.content_words.cache_clear()
        framing.frames.cache_clear()
        took = []
        for d in quality.dialogues():
            before: list[Turn] = []
            for i, (role, text) in enumerate(d.turns):
                turn = Turn(role, "message", text, i + 1, quality.AT)
                started = time.thread_time()
                candidates(turn, before=before[-6:])
                took.append(time.thread_time() - started)
                before.append(turn)
        took.sort()
        return took[int(len(took) * 0.95)]

    # 0.6 ms measured. What takes too long does so every time; a busy machine now and then.
    assert any(cost() < 0.002 for _ in range(8))
