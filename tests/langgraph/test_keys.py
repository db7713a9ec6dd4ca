"""Which chat a run belongs to: the first candidate that holds, and never one key for two chats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from payloads import PAYLOADS, TELEGRAM, Payload

from recollect.errors import InvalidInput
from recollect.langgraph import keys
from recollect.langgraph.keys import CANDIDATES, resolve

PAIR = "pair:{{inputs.a}}:{{inputs.b}}"


def key(candidates: Any = CANDIDATES, template: str = "{{conversation_key}}", **sources: Any) -> str | None:
    found = resolve(
        {"inputs": None, "results": None, "configurable": {}, "thread_id": None, **sources}, candidates, template
    )
    return None if found is None else found.text


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda p: p.channel)
def test_a_channel_is_known_by_its_payload(payload: Payload) -> None:
    assert key(results=payload.results, thread_id="a-new-one") == payload.key


def test_a_literal_is_a_key() -> None:
    assert key(["support-room-1"]) == "support-room-1"


def test_an_explicit_key_wins_over_a_channel_in_their_order() -> None:
    everything: dict[str, Any] = {
        "results": {**TELEGRAM.results, "resolve_history_key": {"session_key": "first"}},
        "configurable": {"history_key": "second"}, "inputs": {"history_key": "third"}, "thread_id": "last",
    }  # fmt: skip
    assert key(**everything) == "first"
    everything["results"] = TELEGRAM.results
    assert key(**everything) == "second"
    everything["configurable"] = {}
    assert key(**everything) == "third"
    everything["inputs"] = {}
    assert key(**everything) == TELEGRAM.key
    everything["results"] = {}
    assert key(**everything) == "last"


def test_an_explicit_key_is_a_whole_key() -> None:
    assert key(configurable={"history_key": "telegram:42"}) == "telegram:42"


@pytest.mark.parametrize(
    "chat", [None, "", "  ", True, False, [42], {"id": 42}, 4.5, "{{chat_id}}", "x" * 300, b"42", "\ud800"], ids=repr
)
def test_what_is_no_id_invalidates_the_candidate_and_the_thread_is_not_taken_instead(chat: Any) -> None:
    assert key(results={"telegram_events_parser": {"chat_id": chat}}, thread_id="a-new-one") is None


def test_one_missing_part_invalidates_all_of_it() -> None:
    assert key(results={"wecom_cs_sync": {"open_kf_id": "wk1"}}) is None
    assert key([PAIR], inputs={"a": "1", "b": ""}) is None


def test_a_thread_counts_where_no_channel_is_present() -> None:
    assert key(thread_id="t-1") == "t-1"
    assert key(results={"something_else": {"x": 1}}, thread_id="t-1") == "t-1"
    assert key(thread_id="telegram:42") == "telegram%3A42"  # never another channel's chat


def test_a_later_candidate_stands_in_for_one_that_does_not_hold() -> None:
    assert key(["{{inputs.room}}", "{{configurable.room}}", "lobby"], configurable={"room": 7}) == "7"
    assert key(["{{inputs.room}}", "lobby"]) == "lobby"


def test_the_template_is_rendered_over_the_key_and_checked_again() -> None:
    assert key(["a:b"], "bot-1:{{conversation_key}}") == "bot-1:a:b"
    assert key(["a"], "{{configurable.tenant}}:{{conversation_key}}", configurable={"tenant": "x:y"}) == "x%3Ay:a"
    assert key(["a"], "{{configurable.tenant}}:{{conversation_key}}") is None
    assert key(["a" * 250], "bot-one:{{conversation_key}}") is None


def test_real_ids_are_keys_as_they_are() -> None:
    for id in ("kim.b@acme.example", "+31-20-555", "19~abc=", "0b9c2f0e-7d9e-7cc4-9a0d-6f1f2f3a4b5c", "a_b,c"):
        assert key(["{{inputs.id}}"], inputs={"id": id}) == id
    assert key(["{{inputs.id}}"], inputs={"id": "李 伟/1"}) == "%E6%9D%8E%20%E4%BC%9F%2F1"


def test_fields_of_plain_objects_are_reached_and_nothing_else_is() -> None:
    @dataclass
    class Parsed:
        chat: int

        @property
        def secret(self) -> str:
            raise AssertionError("nothing is called")

    assert key(["{{inputs.p.chat}}"], inputs={"p": Parsed(3)}) == "3"
    assert key(["{{inputs.p.secret}}"], inputs={"p": Parsed(3)}) is None
    assert key(["{{inputs.p.__class__}}"], inputs={"p": Parsed(3)}) is None
    assert key(["{{inputs.p.0}}"], inputs={"p": ["a"]}) is None


def test_a_template_may_be_a_key_of_its_own_and_is_tried_first() -> None:
    direct = "telegram:{{results.telegram_events_parser.chat_id}}"
    for template in ("support-room-1", direct):
        keys.check(CANDIDATES, template)
    assert key(template="support-room-1", results=TELEGRAM.results) == "support-room-1"
    assert key(template=direct, results=TELEGRAM.results, configurable={"history_key": "later"}) == TELEGRAM.key
    # Where it does not hold, the candidates follow in their order; an odd payload is still no chat.
    assert key(template=direct, configurable={"history_key": "later"}) == "later"
    assert key(template=direct, thread_id="t") == "t"
    assert key(template=direct, results={"telegram_events_parser": {"chat_id": ""}}, thread_id="t") is None


@pytest.mark.parametrize(
    ("candidates", "template"),
    [
        (["{{nonsense.x}}"], "{{conversation_key}}"),
        (["{{inputs.x"], "{{conversation_key}}"),
        (["{{inputs.x|upper}}"], "{{conversation_key}}"),
        (["a b"], "{{conversation_key}}"),
        ([""], "{{conversation_key}}"),
        (["x" * 257], "{{conversation_key}}"),
        ("telegram", "{{conversation_key}}"),
        (["a"], "telegram"),
        (["a"], "wecom_cs:"),
        (["a"], "support room"),
        (["a"], "{{conversation_key}} {{inputs.x}}"),
    ],
)
def test_what_can_never_be_a_key_is_told_when_the_node_is_made(candidates: Any, template: str) -> None:
    with pytest.raises(InvalidInput):
        keys.check(candidates, template)


def test_the_defaults_can_be_keys() -> None:
    keys.check(CANDIDATES, "{{conversation_key}}")


ids = st.one_of(st.text(max_size=40), st.text(alphabet="a:%{}3A", max_size=12), st.integers())


@given(ids, ids, ids, ids)
@settings(max_examples=400)
def test_two_pairs_of_ids_never_share_a_key(a: Any, b: Any, c: Any, d: Any) -> None:
    assume((str(a), str(b)) != (str(c), str(d)))
    one, other = key([PAIR], inputs={"a": a, "b": b}), key([PAIR], inputs={"a": c, "b": d})
    assert one is None or one != other


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=4))  # fmt: skip
@settings(max_examples=300)
def test_whatever_comes_in_what_comes_out_is_a_key_or_none(value: Any) -> None:
    found = key([PAIR, "{{inputs.a}}", "{{inputs.history_key}}"], inputs={"a": value, "b": value, "history_key": value})
    assert found is None or (keys.is_valid(found) and "{{" not in found)
    again = key([PAIR, "{{inputs.a}}", "{{inputs.history_key}}"], inputs={"a": value, "b": value, "history_key": value})
    assert found == again


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_an_id_is_never_empty_and_never_longer_than_it_may_be(id: str) -> None:
    found = key(["{{inputs.id}}"], inputs={"id": id})
    if found is None:
        assert not id.strip() or "{{" in id or len(id.encode("utf-8", "replace")) * 3 > 256 or not id.isprintable()
    else:
        assert 0 < len(found) <= 256
