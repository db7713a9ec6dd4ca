"""What a turn costs on disk does not depend on how many there were before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphs import chat, say, thread
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from recollect.langgraph import Saver

TEXT = ("The heron stands in the reeds and waits for a fish to come by. " * 7)[:392]


def talk(path: Path, marks: list[int], **graph: Any) -> list[int]:
    """Bytes on disk after so many turns of 400-character messages."""
    sizes = []
    with Saver(path, user="alex", semantic=False, background=False, summaries=False) as saver:
        made = chat(saver, lambda state: {"messages": [AIMessage(f"{len(state['messages']):08}{TEXT}")]})
        for i in range(1, marks[-1] + 1):
            made.invoke(say(f"{i:08}{TEXT}"), thread())
            if i in marks:
                saver.store._db.scrub()
                sizes.append(saver.store.stats().bytes)
        assert len(made.get_state(thread()).values["messages"]) == 2 * marks[-1]
        assert len(saver.store.read("t", kinds=["message"])) == 2 * marks[-1]
    return sizes


def test_five_hundred_turns_take_less_than_ten_megabytes(tmp_path: Path) -> None:
    (size,) = talk(tmp_path / "chat.db", [500])
    assert size < 10_000_000


def test_a_turn_takes_the_same_at_the_end_as_at_the_beginning(tmp_path: Path) -> None:
    at_20, at_120, at_220, at_320 = talk(tmp_path / "chat.db", [20, 120, 220, 320])
    # What grows with the length would take half as much again each time; what a hundred turns take varies with the load.
    assert at_320 - at_220 < 1.15 * max(at_120 - at_20, at_220 - at_120)


def test_a_list_trimmed_at_its_front_still_shares_the_rest(tmp_path: Path) -> None:
    from langchain_core.messages import RemoveMessage

    def window(state: Any) -> Any:
        gone = [RemoveMessage(id=m.id) for m in state["messages"][:-80]]
        return {"messages": [*gone, AIMessage(f"{len(state['messages']):08}{TEXT}")]}

    with Saver(tmp_path / "chat.db", user="alex", semantic=False, background=False, summaries=False) as saver:
        made = chat(saver, window)
        sizes = []
        for i in range(200):
            made.invoke(say(f"{i:08}{TEXT}"), thread())
            if i in (79, 139, 199):
                saver.store._db.scrub()
                sizes.append(saver.store.stats().bytes)
        assert sizes[2] - sizes[1] < 1.3 * sizes[0] / 80 * 60


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_becomes_of_a_list_it_comes_back(data: st.DataObject) -> None:
    """Appended, trimmed, cut, doubled: every version is read as it was written, and what is new in it is told."""
    from recollect.checkpoints import pieces

    def store(values: list[int], have: dict[bytes, Any]) -> pieces.Value:
        plain = [("msgpack", str(v).encode() * 3) for v in values]
        keys = [pieces.digest(SECRET, *p) for p in plain]
        made = pieces.many(SECRET, keys, plain, lambda stored: stored, chunks=data.draw(st.booleans()))
        have |= {key: p if isinstance(p, tuple) else p() for key, p in made.pieces.items()}
        return made

    have: dict[bytes, Any] = {}
    values: list[int] = []
    tops: frozenset[bytes] = frozenset()
    before: list[int] = []
    for _ in range(data.draw(st.integers(1, 6))):
        cut = data.draw(st.integers(0, len(values)))
        more = data.draw(st.lists(st.integers(0, 300), max_size=120))
        values = [*values[cut:], *more]
        if not values:
            continue
        made = store(values, have)
        assert made.key is not None
        read = b""
        for key in pieces.flat(have, made.key):
            type, content = have[key]
            read += pieces.unchunked(key, content)[1] if type == pieces.CHUNK else content
        assert read == b"".join(str(v).encode() * 3 for v in values)
        fresh = pieces.news(made, tops)
        assert {values[i] for i in range(len(values)) if i not in fresh} <= set(before)
        assert set(values) - set(before) <= {values[i] for i in fresh}
        tops, before = made.tops, list(values)


SECRET = b"s" * 32
