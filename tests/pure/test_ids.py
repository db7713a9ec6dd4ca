"""Ids and the clock."""

import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import ids
from recollect.errors import InvalidInput


def test_a_new_id_is_a_uuid7_in_its_usual_spelling() -> None:
    for _ in range(200):
        made = uuid.UUID(ids.new())
        assert made.version == 7
        assert made.variant == uuid.RFC_4122


def test_it_carries_the_time_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "now", lambda: 1_700_000_000_123)
    assert uuid.UUID(ids.new()).int >> 80 == 1_700_000_000_123


def test_ids_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for t in range(1_000, 1_050):
        monkeypatch.setattr(ids, "now", lambda t=t: t)
        made.append(ids.new())
    assert made == sorted(made)


def test_ids_made_in_the_same_millisecond_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "now", lambda: 5)
    assert len({ids.new() for _ in range(5_000)}) == 5_000


def test_every_random_bit_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "now", lambda: 0)
    ones, zeros = 0, 0
    for _ in range(300):
        value = uuid.UUID(ids.new()).int
        ones |= value
        zeros |= ~value
    fixed = 0xFFFF_FFFF_FFFF << 80 | 0xF << 76 | 0b11 << 62
    assert ones & zeros & ~fixed & (1 << 128) - 1 == ~fixed & (1 << 128) - 1


def test_now_is_milliseconds() -> None:
    assert abs(ids.now() - time.time() * 1000) < 60_000


printable = st.characters(exclude_categories=["C", "Z"]) | st.just(" ")


@given(st.text(alphabet=printable, min_size=1, max_size=256).filter(lambda t: not t.isspace()))
def test_what_is_printable_passes_unchanged(text: str) -> None:
    assert ids.check(text, "id") == text


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), min_size=1))
def test_what_cannot_be_seen_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        ids.check("a" + text, "id")


@pytest.mark.parametrize("bad", ["", " ", "\u3000", None, 5, b"x", ["x"]])
def test_what_is_no_id_is_refused(bad: object) -> None:
    with pytest.raises(InvalidInput, match="the thing"):
        ids.check(bad, "the thing")


@pytest.mark.parametrize(("id", "says"), [("c:7", ("c", 7)), ("a:b:12", ("a:b", 12)), ("c:0", ("c", 0))])
def test_the_id_of_an_event_says_its_conversation_and_its_number(id: str, says: tuple[str, int]) -> None:
    assert ids.event(id) == says


@pytest.mark.parametrize("id", ["", "c", "c:", ":7", "c:x", "c:-1", "c: 7", "c:\u00b2", "c:\u0661", "c:" + "9" * 19])
def test_what_is_no_event_says_nothing(id: str) -> None:
    """Some digits of other scripts are a number to Python, some look like one and are none."""
    assert ids.event(id) is None
