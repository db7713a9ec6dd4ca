"""The labelled set through the doors: append, consolidate, memories. What holds in the pure test must hold in a store."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import memory_quality as quality
from recollect import Store


def test_dialogues_end_with_the_memories_that_must_hold(store: Store) -> None:
    """Every seventh dialogue, each as a user of its own; what the rules alone get wrong may be wrong here too."""
    chosen = list(quality.dialogues())[::7]
    wrong, expected = [], 0
    for dialogue in chosen:
        own = store.for_user(dialogue.id)
        c = own.create()
        for i, (role, text) in enumerate(dialogue.turns):
            own.append(c.id, role=role, text=text, created_at=quality.AT + i * 60_000)
        own.consolidate(c.id)
        contents = [m.content for m in own.memories() if m.state == "active"]
        s = quality.score(dialogue)
        missing, more = quality.assign(contents, dialogue.hold, dialogue.may)
        stale = [m for m in contents for g in dialogue.gone if quality.holds(m, g)]
        expected += len(dialogue.hold)
        if (missing or more or stale) and not (s.missing or s.wrong or s.stale):
            wrong.append((dialogue.id, contents, missing, more, stale))
    assert len(chosen) >= 90 and expected >= 80
    assert wrong == []


def test_no_payload_becomes_active(store: Store) -> None:
    import json

    rows = [json.loads(line) for line in (quality.FOLDER / "poison.jsonl").read_text("utf-8").splitlines()]
    c = store.create()
    for row in rows:
        source = row["source"]
        if source in ("user", "assistant"):
            store.append(c.id, role=source, text=row["text"])
        elif source in ("tool", "web", "file"):
            tool = {"tool": "Bash", "web": "WebFetch", "file": "Read"}[source]
            store.append(c.id, kind="tool_result", tool=tool, text=row["text"])
    store.consolidate(c.id)
    assert [m.content for m in store.memories() if m.state == "active"] == []
    waiting = store.memories(state="quarantined")
    assert len(waiting) > 10
    assert all(m.source for m in waiting)
