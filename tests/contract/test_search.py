"""search: everything that was said is found by its words, in the scope that was asked for, in an order of its own."""

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import respond
from recollect.errors import InvalidInput, NotFound
from recollect.search import statistics
from talk import Hashed, Open, Raw, exchange

MAY_8 = 1_683_547_200_000  # noon of 8 May 2023
DAY = 86_400_000


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    """By words alone: nothing is found that does not have them, or stand beside them."""
    return open_store(background=False)


def ids(hits: list[recollect.Hit]) -> list[str]:
    return [h.id for h in hits]


def say(store: recollect.Store, c: str, *said: str, **entry: Any) -> list[str]:
    """Messages, each in a sitting of its own, so that none is another's neighbour. Returns their ids."""
    n = store.get(c).last_seq
    entries: list[Any] = [
        {"role": "user", "text": text, "created_at": MAY_8 + (n + i) * DAY, **entry} for i, text in enumerate(said)
    ]
    return [e.id for e in store.append_many(c, entries)]


def alone(store: recollect.Store, text: str, **entry: Any) -> str:
    """The id of an event in a conversation of its own."""
    return store.append(store.create(), role="user", text=text, **entry).id


# -- what is found


def test_a_hit_says_what_it_is(words: recollect.Store) -> None:
    c = words.create("c").id
    e = words.append(c, role="user", text="Remember I prefer dark mode", agent="kim", created_at=MAY_8)
    (hit,) = words.search("dark mode")
    assert (hit.type, hit.kind, hit.id, hit.conversation_id, hit.seq) == ("event", "message", e.id, "c", 1)
    assert (hit.text, hit.snippet, hit.created_at) == (e.text, e.text, MAY_8)
    assert (hit.speaker, hit.branch, hit.sensitive) == ("kim", "main", False)
    assert hit.score > 0


def test_it_is_found_the_moment_it_was_appended(store: recollect.Store) -> None:
    c = store.create()
    for i in range(5):
        e = store.append(c, role="user", text=f"walrus number {i}")
        assert e.id in ids(store.search("walrus"))


@pytest.mark.parametrize(
    ("entry", "question"),
    [
        ({"role": "user", "text": "the quokka smiled"}, "quokka"),
        ({"role": "user", "text": "x", "tags": ["quokka"]}, "quokka"),
        ({"kind": "tool_use", "tool": "QuokkaReader", "text": "x"}, "quokka"),
        ({"kind": "tool_use", "tool": "Read", "path": "src/quokka.py", "text": "x"}, "quokka"),
        ({"kind": "tool_use", "tool": "Read", "path": "src/quokka.py"}, "src/quokka.py"),
        ({"kind": "event", "name": "quokka.start", "text": "x"}, "quokka"),
        ({"kind": "note", "text": "a quokka"}, "quokkas"),
        ({"kind": "error", "text": "Quokka not found"}, "quokka"),
        ({"kind": "artifact", "path": "quokka.md"}, "quokka"),
        ({"kind": "ledger", "task_id": "t", "goal": "feed the quokka"}, "quokka"),
        ({"kind": "tool_result", "tool": "sh", "text": "quokka"}, "quokka"),
        ({"kind": "approval", "status": "granted", "text": "may feed the quokka"}, "quokka"),
    ],
    ids=lambda v: v if isinstance(v, str) else "-".join(map(str, v)),
)
def test_found_by_text_tags_tool_path_and_name(words: recollect.Store, entry: Any, question: str) -> None:
    c = words.create("c")
    words.append_many(c, exchange(30))
    e = words.append(c, **entry)
    words.append_many(c, exchange(30))
    hit = words.search(question)[0]
    assert hit.id == e.id
    assert hit.parts["words"] == pytest.approx(1)


def test_reasoning_and_summaries_are_no_evidence(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="assistant", text="yes", reasoning="the quokka told me")
    words.append(c, kind="summary", role="system", text="they spoke of a quokka")
    assert words.search("quokka") == []


@pytest.mark.parametrize("question", ["where does the quokka sleep?", "context injected", "answer stopped in the chat"])
def test_what_has_nothing_to_show_is_no_hit(open_store: Open, question: str) -> None:
    """Our own remarks, and other events of which there is a payload alone, stand beside what was said."""
    store = open_store(background=False, embedder=Hashed())
    c = store.create("c", title="Context of the quokka")
    items = [{"type": "event", "why": "words 1.00"}]
    store.append_many(
        c,
        [
            {"role": "user", "text": ""},
            {"role": "user", "text": "where does the quokka sleep?"},
            {"kind": "event", "name": "context.injected", "payload": {"tokens": 40, "items": items}},
            {"role": "assistant", "text": "In the shade of a bush."},
            {"kind": "event", "name": "chat.answer_stopped", "payload": {"after": 3}},
            {"kind": "event", "name": "sensor.read", "payload": {"celsius": 21}},
            {"kind": "ledger", "task_id": "t", "status": "done"},
            {"role": "assistant", "text": " ", "payload": {"tool_calls": 1}},
        ],
    )
    store.settle()
    for hits in (
        store.search(question),
        store.search(question, conversation=c, branch="main"),
        store.search(question, limit=2),
    ):
        assert {h.seq for h in hits} <= {2, 4}
    assert len(store.search("where does the quokka sleep?", limit=2)) == 2  # nothing stands in the way of what was said
    assert store.search(question, kinds=["event", "ledger"]) == []
    assert {h.seq for item in store.context(question).items for h in item.hits} <= {2, 4}


def test_what_only_happened_is_found_where_its_kind_is_asked_for(words: recollect.Store) -> None:
    """Nobody said it: `session.start` was a hit for "session", and was quoted as evidence."""
    c = words.create("c")
    words.append(c, kind="event", name="deploy.finished", payload={"version": 7})
    words.append(c, role="user", text="quokkas sleep in the shade")
    for hits in (words.search("was the deploy finished?"), words.search("deploy finished", conversation=c)):
        assert "deploy.finished" not in {h.text for h in hits}
    assert "deploy.finished" not in words.context("was the deploy finished?").text
    hit = words.search("was the deploy finished?", kinds=["event"])[0]
    assert (hit.text, hit.snippet) == ("deploy.finished", "deploy.finished")
    assert [h.text for h in words.search("quokkas", limit=1)] == ["quokkas sleep in the shade"]
    assert [h.text for h in words.search("quokkas")] == ["quokkas sleep in the shade"]


def test_a_conversation_is_found_by_its_title(words: recollect.Store) -> None:
    c = words.create("c", title="Holidays in Rome").id
    first, *_ = say(words, c, "where shall we go?", "to the coast", "fine")
    assert words.search("rome")[0].id == first
    words.rename(c, "Holidays in Lisbon")
    assert words.search("rome") == []
    assert words.search("lisbon")[0].id == first


def test_a_title_taken_from_the_first_message_goes_with_it(words: recollect.Store) -> None:
    c = words.create("c").id
    say(words, c, "an okapi in the kitchen", "what did it do there?")
    assert words.search("okapi")
    words.delete_event(c, 1)
    assert words.search("okapi") == []


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("call parse_config first", "parse_config"),
        ("call parse_config first", "config"),
        ("call parseConfig first", "parse config"),
        ("call parseConfig first", "parseConfig"),
        ("call parseConfig first", "PARSECONFIG"),
        ("the class HTTPServerFactory", "server"),
        ("the class HTTPServerFactory", "http"),
        ("look at src/deep/parse.py there", "src/deep/parse.py"),
        ("look at src/deep/parse.py there", "parse.py"),
        (r"look at C:\work\parse.py there", r"C:\work\parse.py"),
        ("use v1.2.3-rc1 of it", "v1.2.3-rc1"),
        ("we met in Zürich", "zurich"),
        ("we met in Zurich", "Zürich"),
        ("un café crème", "CAFE"),
        ("die Straße", "straße"),
        ("明日は東京へ行きます", "東京"),
        ("猫の写真を見た", "猫"),
        ("新しいiPhoneを買った", "iphone"),
        ("สวัสดีชาวโลก", "ชาวโลก"),
        ("मुझे हिन्दी भाषा पसंद है", "हिन्दी"),
        ("한국어를 배우다", "한국어"),
        ("я живу в Москве", "москве"),
        ("السلام عليكم يا صديقي", "صديقي"),
        ("it has 42,195 of them, or 1984", "1984"),
        ("call +49-30-123456 now", "123456"),
        ("mail kim@example.org", "kim@example.org"),
        ("the children went swimming", "child swims"),
        ("I bought two paintings", "painting"),
    ],
)  # fmt: skip
def test_words_as_people_write_them(words: recollect.Store, said: str, question: str) -> None:
    noise = [alone(words, f"nothing of that kind{'!' * i}") for i in range(20)]
    e = alone(words, said)
    hits = ids(words.search(question))
    assert hits[0] == e
    assert not set(hits) & set(noise)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Lives in Gdansk", "Where do I live?"),
        ("I live by the sea", "Who lives by a sea?"),
        ("She leaves on Monday", "When does she leave?"),
        ("He tried to knit", "Did he try knitting?"),
        ("It flies at night", "What can fly?"),
        ("The fern dies in winter", "Why did it die?"),
    ],
)
def test_forms_of_a_verb_that_the_rules_part(words: recollect.Store, said: str, question: str) -> None:
    """An event, a memory and a graph's item alike: what is remembered is worded in the third person, and asked in the first."""
    words.append(words.create("c"), role="user", text=said)
    words.append("c", role="user", text="Nothing else here")
    assert words.search(question, types="events")[0].text == said
    words.remember(said)
    words.remember("A ladder stands in the cellar")
    assert [hit.text for hit in words.recall(question)] == [said]


def test_days_are_found_by_their_date(words: recollect.Store) -> None:
    c = words.create("c").id
    _, yesterday, other, friday = (
        words.append(c, role="user", text=text, created_at=MAY_8 + at).id
        for text, at in (
            ("hello there", -40 * DAY),
            ("I painted the fence yesterday", 0),
            ("I painted the door", 9 * DAY),
            ("that was last Friday, a good day", 30 * DAY),
        )
    )
    assert ids(words.search("7 May 2023"))[0] == yesterday
    assert ids(words.search("What did I paint on 7 May 2023?"))[0] == yesterday
    assert ids(words.search("2023-05-07"))[0] == yesterday
    assert ids(words.search("May 17, 2023"))[0] == other
    assert ids(words.search("2 June 2023"))[0] == friday
    assert words.search("7 May 1999") == []


def test_who_said_it_stands_before_the_answer_that_quotes_it(store: recollect.Store) -> None:
    """Without a model an answer quotes what is on record, with every word of the question: it was the best hit of all."""
    first = store.create("pets")
    store.append(first.id, role="user", text="My dog is called Rex, and he is afraid of geese.")
    later = store.create("later")
    for question in ("What is my dog called?", "Is my dog afraid of geese?"):
        store.append(later.id, role="user", text=question)
        store.append(later.id, role="assistant", text=respond.answer(store, question), model=respond.NAME)
    store.settle()
    for question in ("dog", "dog called"):
        hits = store.search(question, types="events")
        assert hits[0].conversation_id == first.id, question
        assert any(h.speaker == "assistant" for h in hits), "it is still found"


def test_a_reply_is_found_through_its_question(words: recollect.Store) -> None:
    c = words.create("c")
    words.append_many(
        c, [{"role": "user", "text": "Which colour for the kitchen?"}, {"role": "assistant", "text": "Sage."}]
    )
    for i in range(10):
        alone(words, f"the kitchen number {i}")
    assert "c:2" in ids(words.search("colour kitchen"))


def test_of_a_page_the_part_that_matched_is_shown(words: recollect.Store) -> None:
    e = alone(words, "lorem ipsum dolor " * 200 + "here the quokka sat on a stone " + "sit amet " * 300)
    (hit,) = words.search("quokka stone")
    assert hit.id == e
    assert "quokka sat on a stone" in hit.snippet
    assert len(hit.snippet) <= 260
    assert len(hit.text) > 5_000


def test_what_lies_beyond_the_cap_is_stored_all_the_same(store: recollect.Store) -> None:
    text = "word " * 10_000 + "quokka"
    e = alone(store, text + " " + "x" * 300_000, tags=["t" * 100_000], path="p/" * 50_000)
    assert store.read(e.rpartition(":")[0])[0].text.startswith(text)
    assert store.verify().ok


# -- where it is looked for


@pytest.fixture
def places(words: recollect.Store) -> recollect.Store:
    for name, workspace in (("a", "/a"), ("b", "/b"), ("n", None)):
        words.create(name, workspace=workspace)
        say(words, name, f"a heron in {name}")
    return words


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ({}, "abn"),
        ({"workspace": "/a"}, "a"),
        ({"workspace": "/A"}, ""),
        ({"workspace": "/"}, ""),
        ({"workspace": "/a "}, ""),
        ({"workspaces": ["/a", "/b"]}, "ab"),
        ({"workspaces": "/b"}, "b"),
        ({"workspaces": []}, ""),
        ({"workspace": "/a", "workspaces": ["/b"]}, "ab"),
        ({"conversation": "b"}, "b"),
        ({"conversation": "b", "workspace": "/a"}, ""),
    ],
    ids=repr,
)
def test_workspaces_and_conversations(places: recollect.Store, scope: Any, found: str) -> None:
    assert sorted(h.conversation_id or "" for h in places.search("heron", **scope)) == sorted(found)


def test_ones_own_workspace_comes_first_when_a_search_is_widened(places: recollect.Store) -> None:
    for home in ("/a", "/b"):
        hits = places.search("heron", workspace=home, workspaces=["/a", "/b"])
        assert hits[0].conversation_id == home[1:]
        assert hits[0].parts["affinity"] > 0
        assert "affinity" not in hits[1].parts
    assert all("affinity" not in h.parts for h in places.search("heron", workspaces=["/a", "/b"]))


@pytest.mark.parametrize(
    ("scope", "seqs"),
    [
        ({"kinds": ["message"]}, [1]),
        ({"kinds": ["tool_use", "note"]}, [2, 3, 4]),
        ({"kinds": "note"}, [4]),
        ({"kinds": []}, []),
        ({"tool": "Read"}, [2]),
        ({"tool": "read"}, []),
        ({"tool": "Rea"}, []),
        ({"since": MAY_8 + 2 * DAY}, [3, 4]),
        ({"until": MAY_8 + 2 * DAY}, [1, 2]),
        ({"since": MAY_8 + DAY, "until": MAY_8 + 3 * DAY}, [2, 3]),
        ({"since": MAY_8 + 3 * DAY + 1}, []),
        ({"until": MAY_8}, []),
        ({"types": "events"}, [1, 2, 3, 4]),
        ({"types": "memories"}, []),
        ({"limit": 0}, []),
        ({"kinds": ["tool_use"], "tool": "Write", "since": MAY_8, "workspace": "/w"}, [3]),
    ],
    ids=repr,
)
def test_filters(words: recollect.Store, scope: Any, seqs: list[int]) -> None:
    c = words.create("c", workspace="/w")
    entries: list[Any] = [
        {"role": "user", "text": "a heron"},
        {"kind": "tool_use", "tool": "Read", "text": "heron"},
        {"kind": "tool_use", "tool": "Write", "text": "heron"},
        {"kind": "note", "text": "heron"},
    ]
    words.append_many(c, [{**e, "created_at": MAY_8 + i * DAY} for i, e in enumerate(entries)])
    assert sorted(h.seq or 0 for h in words.search("heron", **scope)) == seqs


def test_of_a_tool_there_are_events_alone(words: recollect.Store) -> None:
    words.append(words.create("c"), kind="tool_use", tool="Read", text="heron")
    words.remember("Likes the heron")
    assert {h.type for h in words.search("heron")} == {"event", "memory"}
    assert [h.type for h in words.search("heron", tool="Read")] == ["event"]
    with pytest.raises(InvalidInput, match="tool="):
        words.search("heron", tool="Read", types="memories")


def test_a_filter_finds_what_a_thousand_others_hide(words: recollect.Store) -> None:
    """The index proposes some hundred; if a filter leaves none of them, it is asked again."""
    other, c = words.create("other"), words.create("c", workspace="/w")
    words.append(
        c, kind="tool_use", tool="Read", text="the quokka and much else that makes it long " * 20, created_at=1
    )
    words.append_many(other, [{"role": "user", "text": "quokka", "created_at": MAY_8 + i * DAY} for i in range(2_500)])
    assert ids(words.search("quokka", until=2)) == ["c:1"]
    assert ids(words.search("quokka", kinds=["tool_use", "note"])) == ["c:1"]
    assert ids(words.search("quokka", workspaces=["/w"])) == ["c:1"]


def test_the_limit(words: recollect.Store) -> None:
    c = words.create("c").id
    say(words, c, *(f"heron {i}" for i in range(30)))
    assert len(words.search("heron")) == 20
    everything = ids(words.search("heron", limit=100))
    assert len(everything) == 30
    for n in (0, 1, 7):
        assert ids(words.search("heron", limit=n)) == everything[:n]


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": -1},
        {"limit": 1.5},
        {"since": -1},
        {"until": "yesterday"},
        {"types": "both"},
        {"kinds": ["nonsense"]},
        {"kinds": ["message"], "types": "memories"},
        {"branch": "idea"},
        {"workspace": "a\0b"},
        {"tool": 3},
    ],
    ids=repr,
)
def test_what_cannot_be_asked(store: recollect.Store, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        store.search("heron", **wrong)


def test_an_unknown_place_is_an_error(words: recollect.Store) -> None:
    words.create("c")
    with pytest.raises(NotFound):
        words.search("heron", conversation="d")
    with pytest.raises(NotFound):
        words.search("heron", conversation="c", branch="idea")


# -- branches


@pytest.fixture
def forked(words: recollect.Store) -> recollect.Store:
    """1, 2 on main; 3 on main after the fork; 4, 5 on `idea`, forked at 2; 6 on `deep`, forked from idea at 4."""
    c = words.create("c").id
    say(words, c, "a heron on one", "a heron on two", "a heron on three")
    words.fork(c, 2, name="idea")
    for text, branch in (("a heron on four", "idea"), ("a heron on five", "idea")):
        words.append(c, role="user", text=text, branch=branch)
    words.fork(c, 4, branch="idea", name="deep")
    words.append(c, role="user", text="a heron on six", branch="deep")
    return words


@pytest.mark.parametrize(
    ("active", "asked", "seqs"),
    [
        ("main", {}, [1, 2, 3]),
        ("main", {"conversation": "c"}, [1, 2, 3]),
        ("idea", {}, [1, 2, 4, 5]),
        ("deep", {}, [1, 2, 4, 6]),
        ("main", {"conversation": "c", "branch": "idea"}, [1, 2, 4, 5]),
        ("idea", {"conversation": "c", "branch": "main"}, [1, 2, 3]),
        ("main", {"conversation": "c", "branch": "deep"}, [1, 2, 4, 6]),
        ("main", {"conversation": "c", "branch": "*"}, [1, 2, 3, 4, 5, 6]),
        ("main", {"branch": "*"}, [1, 2, 3, 4, 5, 6]),
    ],
    ids=repr,
)
def test_only_what_the_branch_shows(forked: recollect.Store, active: str, asked: Any, seqs: list[int]) -> None:
    forked.switch("c", active)
    hits = forked.search("heron", **asked)
    assert sorted(h.seq or 0 for h in hits) == seqs
    assert {h.seq: h.branch for h in hits} == {n: {4: "idea", 5: "idea", 6: "deep"}.get(n, "main") for n in seqs}


def test_a_neighbour_on_an_abandoned_branch_stays_there(forked: recollect.Store) -> None:
    forked.append("c", role="user", text="where is the quokka?", branch="idea")
    forked.append("c", role="assistant", text="In the garden.", branch="idea")
    assert forked.search("quokka") == []
    assert set(ids(forked.search("quokka", conversation="c", branch="idea"))[:2]) == {"c:7", "c:8"}


# -- the bin


def test_what_is_in_the_bin_is_not_found_until_it_is_back(words: recollect.Store) -> None:
    c = words.create("c", title="Herons").id
    say(words, c, "a quokka")
    words.delete(c)
    assert words.search("quokka") == words.search("heron") == []
    assert words.context("quokka").items == ()
    words.restore(c)
    assert ids(words.search("quokka")) == ids(words.search("heron")) == ["c:1"]


def test_what_had_a_secret_in_it_says_so(words: recollect.Store) -> None:
    c = words.create("c").id
    say(words, c, "the quokka's token is ghp_" + "a1B2c3D4e5F6" * 3, "a quokka")
    assert {h.seq: h.sensitive for h in words.search("quokka")} == {1: True, 2: False}
    assert all("ghp_" not in h.text + h.snippet for h in words.search("token"))


def test_a_secret_in_the_scope_means_the_same_on_both_ways(words: recollect.Store) -> None:
    secret = "/ghp_" + "a1B2c3D4e5F6" * 3
    words.append(words.create("c", workspace=secret), role="user", text="a quokka")
    for scope in ({"workspace": secret}, {"workspaces": [secret]}):
        assert ids(words.search("quokka", **scope)) == ["c:1"]


# -- any text is a question

NASTY = [
    '"', "'", '""', "a AND", "OR", "NOT", "NEAR(", "a NEAR/3 b", "terms : x", "scope : e", "-x", "^x", "x*", "(", ")", "((x",
    "{a b} : c", "a + b", "\\", "\\'", "';--", "%", "_", "%s %(user)s :user", "a:b:c", "::", "|", "&", "!", "<->", "a <2> b",
    "🎉", "👩‍👩‍👧‍👦 family", "\u202eabc", "\u200b", "\t\n x", "ﬁ", "İ", "ß", "１２", "e\u0301", "\ufffd", "$$", "--", "/*", "\x01",
    "select * from events", "x" * 10_000, "quote\"s 'n' stuff " * 600, "我" * 5_000, "the of and", "a" * 2_000 + "." + "b" * 2_000,
    "\U0001f600" * 3_000, "\U00020000" * 3_000, "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "x'y''z", "@2023-05-07", "u1 title", "-- \n", ",;.:-_",
]  # fmt: skip


@pytest.fixture
def full(store: recollect.Store) -> recollect.Store:
    c = store.create("c", title="Everything")
    store.append_many(c, [{"role": "user", "text": text} for text in NASTY if "\x01" not in text])
    store.remember("likes everything")
    return store


def test_any_text_is_a_safe_question(full: recollect.Store) -> None:
    for question in NASTY:
        hits = full.search(question, limit=3)
        assert all(math.isfinite(h.score) for h in hits)
        full.recall(question)
        full.context(question, budget=50)


def test_what_looks_like_an_operator_is_a_word(words: recollect.Store) -> None:
    e = alone(words, 'she said "NOT now" AND left')
    alone(words, "something else")
    for question in ('"left"', "left)", "left*", "-left", "NOT left", "terms:left", "left AND nothing OR ("):
        assert ids(words.search(question))[:1] == [e], question


@pytest.mark.parametrize("empty", ["", " ", "\n\t ", "\u2003"])
def test_an_empty_question_is_an_error_and_an_empty_prompt_asks_for_nothing(store: recollect.Store, empty: str) -> None:
    for verb in (store.search, store.recall):
        with pytest.raises(InvalidInput, match="empty"):
            verb(empty)
    assert store.context(empty).text == ""


@pytest.mark.parametrize("broken", ["a\0b", "\0", "\ud800", 7, None, b"x"])
def test_what_is_no_text_is_an_error(store: recollect.Store, broken: Any) -> None:
    for verb in (store.search, store.recall, store.context):
        with pytest.raises(InvalidInput):
            verb(broken)


texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60),
    st.text(st.sampled_from("\"'()*:^-+|&!<>\\%_ ,.;aANDORTé猫🎉\n\u202e"), max_size=40),
    st.lists(
        st.sampled_from(["AND", "OR", "NOT", "NEAR", '"', "heron", "terms:", "*", "--", "'", "7 May"]), max_size=12
    ).map(" ".join),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(question=texts, said=texts)
def test_never_an_error_and_what_was_said_is_found(full: recollect.Store, question: str, said: str) -> None:
    e = full.append("c", role="user", text=said)
    if not question.strip():
        with pytest.raises(InvalidInput):
            full.search(question)
        return
    hits = full.search(question, conversation="c", limit=5)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    full.delete_event("c", e.seq)


# -- the order

VOCABULARY = (
    "garden river coffee train window music deadline invoice parser server holiday doctor kitchen mountain bicycle"
    " contract library engine painting school winter budget letter camera dentist airport bread passport cat dog"
).split()


def make_up(store: recollect.Store, n: int, seed: int = 7) -> None:
    """The same made-up talk wherever it is called: several workspaces, speakers, kinds, a fork, memories."""
    rng = random.Random(seed)
    for i in range(6):
        store.create(f"c{i}", title=" ".join(rng.sample(VOCABULARY, 2)), workspace=f"/w{i % 3}")
    at = MAY_8
    for i in range(n):
        at += rng.choice([20_000, 60_000, 90 * 60_000])
        text = " ".join(rng.choices(VOCABULARY, k=rng.randint(3, 12))).capitalize() + rng.choice(
            [".", "?", " yesterday."]
        )
        kind: Any = {"role": rng.choice(["user", "assistant"]), "agent": rng.choice([None, None, "Kim", "Robin"])}
        if rng.random() < 0.15:
            kind = {
                "kind": "tool_use",
                "tool": rng.choice(["Read", "Bash"]),
                "path": f"src/{rng.choice(VOCABULARY)}.py",
            }
        store.append(f"c{rng.randrange(6)}", text=text, created_at=at, **kind)
        if i == n // 2:
            store.fork("c1", min(5, store.get("c1").last_seq), name="idea", switch=True)
    for i in range(20):
        store.remember(f"{' '.join(rng.sample(VOCABULARY, 3))} {i}", tags=[rng.choice(VOCABULARY)], importance=i / 20)


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("garden", {}), ("What did Kim say about the garden and the river?", {}), ("parser server engine", {"workspace": "/w1"}),
    ("holiday in winter", {"workspaces": ["/w0", "/w2"], "workspace": "/w0"}), ("coffee", {"conversation": "c1"}),
    ("coffee train", {"conversation": "c1", "branch": "main"}), ("invoice", {"types": "memories"}),
    ("src/camera.py", {"kinds": ["tool_use"]}), ("bread", {"tool": "Read"}), ("8 May 2023", {}), ("yesterday kitchen", {}),
    ("when was the dentist?", {"since": MAY_8 + DAY}), ("the latest letter", {"until": MAY_8 + 5 * DAY}),
    ("cat dog cat", {"limit": 100}), ("nothing of this is there", {}),
]  # fmt: skip


@pytest.fixture
def both(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The same talk on SQLite and on Postgres, opened with whatever is passed."""
    monkeypatch.setattr("recollect.ids.now", lambda: MAY_8 + 40 * DAY)
    opened: list[recollect.Store] = []

    def make(n: int, **options: Any) -> list[recollect.Store]:
        for where in (tmp_path / "chat.db", postgres_url):
            # Another user's rows before, between and after make the ids differ from one database to the other.
            opened.append(recollect.open(where, user="alex", background=False, **options))
            kim = opened[-1].for_user("kim")
            make_up(kim, 10, seed=1)
            make_up(opened[-1], n)
            make_up(kim.for_user("robin"), 10, seed=2)
        return opened

    yield make
    for store in opened:
        store.close()


@pytest.mark.parametrize(
    "options", [{"semantic": False}, {}, {"embedder": Hashed()}], ids=["words", "wordllama", "hashed"]
)
def test_both_databases_give_the_same_order_and_scores(both: Any, options: Any) -> None:
    here, there = both(400, **options)
    for settled in (False, True):
        if settled:
            here.settle()
            there.settle()
        for question, scope in QUESTIONS:
            a, b = here.search(question, **scope), there.search(question, **scope)
            assert [h.id for h in a] == [h.id for h in b], (settled, question)
            for mine, other in zip(a, b, strict=True):  # a memory is a few milliseconds younger here than there
                assert mine.score == pytest.approx(other.score, abs=1e-5)
                assert mine.parts == pytest.approx(other.parts, abs=1e-5)
            assert [(h.text, h.snippet, h.speaker, h.branch, h.kind) for h in a] == [
                (h.text, h.snippet, h.speaker, h.branch, h.kind) for h in b
            ]
            assert here.context(question).text == there.context(question).text
        assert any(here.search(q, **scope) for q, scope in QUESTIONS)


def test_the_order_is_the_same_every_time(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.ids.now", lambda: MAY_8 + 40 * DAY)
    store = open_store(background=False, semantic=True)
    make_up(store, 200)
    store.settle()
    again = open_store(background=False, semantic=True)
    for question, scope in QUESTIONS:
        first = store.search(question, **scope)
        assert store.search(question, **scope) == first
        assert [(h.id, round(h.score, 9)) for h in again.search(question, **scope)] == [
            (h.id, round(h.score, 9)) for h in first
        ]


def test_equals_are_told_apart_by_time_then_id(words: recollect.Store) -> None:
    for i in (3, 1, 2):
        words.append(words.create(f"c{i}"), role="user", text="heron", created_at=MAY_8 + i // 2)
    assert ids(words.search("heron")) == ["c2:1", "c3:1", "c1:1"]


def test_a_pinned_event_comes_before_its_equals(words: recollect.Store) -> None:
    """Memories had the boost, events did not."""
    for i in (1, 2, 3):
        words.append(words.create(f"c{i}"), role="user", text="heron", created_at=MAY_8 + i)
    words.pin("c1:1")
    found = words.search("heron", explain=True)
    assert ids(found) == ["c1:1", "c3:1", "c2:1"]
    assert [hit.parts.get("pin", 0) > 0 for hit in found] == [True, False, False]
    words.unpin("c1:1")
    assert ids(words.search("heron")) == ["c3:1", "c2:1", "c1:1"]


@pytest.mark.parametrize("semantic", [False, True])
@pytest.mark.parametrize("tool", [None, "Read"])
def test_as_many_are_found_as_are_asked_for(open_store: Open, semantic: bool, tool: str | None) -> None:
    """Of 200 that match, 168 came; where a filter left a quarter of the candidates, no more than those."""
    store = open_store(background=False, semantic=semantic)
    for n in range(4):
        c = store.create(f"c{n}")
        store.append_many(
            c,
            [
                {"kind": "tool_use", "tool": "Read" if i % 3 else "Grep", "text": f"heron {n * 100 + i}"}
                for i in range(100)
            ],
        )
    store.settle()
    for limit in (10, 60, 100, 200):
        assert len(store.search("heron", limit=limit, tool=tool)) == limit


@pytest.mark.parametrize("explain", [False, True])
def test_the_parts_sum_to_the_score(open_store: Open, explain: bool) -> None:
    store = open_store(background=False, semantic=True)
    make_up(store, 150)
    known = {"words", "neighbours", "meaning", "speaker", "time", "form", "recency", "pin", "affinity"}
    for question, scope in QUESTIONS:
        for hit in store.search(question, explain=explain, **scope):
            assert set(hit.parts) <= known
            assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-3 if explain else 1e-9)


def test_common_words_cost_and_decide_nothing(words: recollect.Store) -> None:
    c = words.create("c").id
    say(words, c, *(f"we will do the thing number {i}" for i in range(300)), "the aardvark did it")
    assert words.search("what is the thing that the aardvark will do?")[0].text == "the aardvark did it"


def test_terms_are_counted_in_the_background_before_a_search_must(open_store: Open, raw: Raw) -> None:
    """To count takes 50 ms, which whoever searched in a growing log had to wait for at every third that it grew."""
    store = open_store(background=False, semantic=True)
    c = store.create()

    def counted_at() -> list[int]:
        return [row[0] for row in raw("select events from statistics")]

    def say_more(n: int) -> None:
        store.append_many(c, [{"role": "user", "text": f"a heron and {i}"} for i in range(n)])

    say_more(600)
    store.settle()
    assert counted_at() == [600], "before anybody has searched"
    say_more(300)
    assert store.search("heron")
    assert counted_at() == [600], "good enough for a search"
    store.settle()
    assert counted_at() == [900]
    say_more(1_000)
    assert store.search("heron")
    assert counted_at() == [1_900], "more than twice as many: it is of no use any more"


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_erased_while_it_is_counted_does_not_come_back_by_its_words(
    open_store: Open, raw: Raw, whole: bool
) -> None:
    store = open_store(background=False)
    kept, gone = store.create(), store.create()
    store.append_many(kept, [{"role": "user", "text": f"an ordinary heron {i}"} for i in range(600)])
    store.append_many(gone, [{"role": "user", "text": "the zzquokka"} for _ in range(5)])
    erased: list[object] = []

    def between() -> None:
        if not erased:
            erased.append(store.erase(user=store.user) if whole else store.erase(conversation=gone))

    statistics.refresh(store._db, store.user, between)
    assert erased
    assert not [row for row in raw("select counts from statistics") if "zzquokka" in row[0]]
    if not whole:
        assert store.search("heron")
        assert [row for row in raw("select counts from statistics") if "heron" in row[0]]


def test_statistics_are_ones_own(words: recollect.Store, raw: Raw) -> None:
    """What others talk about does not show in how one's own words are weighed."""
    alone(words, "heron and quokka")
    alone(words, "heron")
    before = [(h.id, h.parts.get("words")) for h in words.search("heron quokka")]
    kim = words.for_user("kim")
    kim.append_many(kim.create(), [{"role": "user", "text": "quokka"} for _ in range(600)])
    kim.search("quokka")
    assert [(h.id, h.parts.get("words")) for h in words.search("heron quokka")] == before
    assert len(raw("select 1 from statistics")) <= 1
