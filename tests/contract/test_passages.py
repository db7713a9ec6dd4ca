"""Long texts are indexed, ranked and quoted by passage: what stands at the end of a tool's output is found like a message."""

import random
from typing import Any

import pytest

import recollect
from recollect import log
from recollect.conversations import find
from recollect.search import index
from talk import Hashed, Open, Raw, eventually, exchange

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
WORDS = "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper larch maple oak pine rowan spruce teak".split()


def prose(characters: int, seed: int = 1) -> str:
    """Lines of ordinary words, none of them `zebra`, `quokka` or `flamingo`."""
    rng = random.Random(seed)
    lines: list[str] = []
    while sum(map(len, lines)) < characters:
        lines.append(" ".join(rng.choice(WORDS) for _ in range(rng.randint(6, 14))) + ".\n")
    return "".join(lines)[:characters]


def long(needle: str, at: int = 6_084, length: int = 10_240, seed: int = 1) -> str:
    text = prose(length, seed)
    at = text.rfind("\n", 0, at) + 1
    return f"{text[:at]}{needle}\n{text[at:]}"


@pytest.fixture
def store(open_store: Open) -> recollect.Store:
    return open_store(background=False, semantic=True, embedder=Hashed())


def pieces(raw: Raw) -> int:
    return int(raw("select count(*) from passages")[0][0])


def many(store: recollect.Store, n: int = 40) -> str:
    """Many long records and short remarks, so that to be among the first 20 means something."""
    c = store.create("c").id
    for i in range(n):
        store.append(c, kind="tool_result", tool="Bash", text=prose(8_000, seed=100 + i))
        store.append(c, role="user", text=f"remark {i} on the {WORDS[i % len(WORDS)]} and the larch")
    return c


# -- found and quoted


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize("at", [0, 3_000, 6_084, 10_200])
def test_a_word_anywhere_in_a_long_record_is_found(store: recollect.Store, at: int, embedded: bool) -> None:
    c = many(store)
    wanted = store.append(c, kind="tool_result", tool="Bash", text=long("the quokka was seen in Perth.", at))
    store.append_many(c, exchange(6))
    if embedded:
        store.settle()
    hits = store.search("where was the quokka seen", limit=20)
    assert hits[0].id == f"c:{wanted.seq}", "before its neighbours, which only stand beside it"
    assert "quokka was seen in Perth" in hits[0].snippet
    assert hits[0].text == wanted.text
    assert len({h.id for h in hits}) == len(hits), "one hit an event"
    assert "quokka was seen in Perth" in store.context("where was the quokka seen").text


def test_words_of_one_passage_count_more_than_the_same_words_far_apart(store: recollect.Store) -> None:
    c = store.create("c").id
    apart = long("a zebra came by.", 1_000)
    store.append(c, role="user", text=long("a flamingo came by.", 9_000) + apart)
    other = store.create("d").id
    store.append(other, role="user", text=long("the zebra met the flamingo.", 7_000, seed=3))
    assert store.search("zebra flamingo")[0].conversation_id == "d"


def test_meaning_reaches_the_end_of_a_long_record(open_store: Open) -> None:
    """By vectors alone: no word of the question stands there."""

    class Topics(Hashed):
        def _vector(self, text: str) -> list[float]:
            about = [float("quokka" in text or "marsupials" in text), float("oak" in text), 0.1]
            return about + [0.01] * (self.dimension - 3)

    store = open_store(background=False, semantic=True, embedder=Topics())
    c = store.create("c").id
    for i in range(120):
        store.append(c, role="user", text=f"remark {i} on the oak")
    # So long that the rest of it drowns the one line, were it one vector.
    wanted = store.append(store.create("d").id, kind="tool_result", text=long("the quokka was seen.", 50_000, 60_000))
    store.settle()
    assert store.search("marsupials")[0].id == f"d:{wanted.seq}"


def test_a_long_record_does_not_push_the_others_out_by_its_meaning(open_store: Open) -> None:
    class Topics(Hashed):
        def _vector(self, text: str) -> list[float]:
            about = [float("quokka" in text or "marsupials" in text), float("oak" in text), 0.1]
            return about + [0.01] * (self.dimension - 3)

    store = open_store(background=False, semantic=True, embedder=Topics())
    store.append(store.create("long").id, kind="tool_result", text="the quokka ran, and it jumped about.\n" * 5_000)
    told = {store.append(store.create(f"o{i}").id, role="user", text=f"the quokka of day {i}").id for i in range(15)}
    store.settle()
    assert len(told & {h.id for h in store.search("marsupials", limit=10)}) >= 9


def test_a_very_long_text_is_found_at_its_head_and_its_end(store: recollect.Store, raw: Raw) -> None:
    c = store.create("c").id
    middle = prose(10_000) * 100
    store.append(c, kind="tool_result", text=f"the zebra began.\n{middle}\nquokka\n{middle}\nthe flamingo failed.")
    store.settle()
    assert "zebra" in store.search("zebra")[0].snippet
    assert "flamingo" in store.search("flamingo")[0].snippet
    assert pieces(raw) <= 2 * index.CAP // index.PASSAGE, "bounded, however long the text is"


def test_a_long_record_does_not_push_the_others_out(store: recollect.Store) -> None:
    c = store.create("c").id
    told = [
        store.append(store.create(f"o{i}").id, role="user", text=f"the quokka of day {i} ate").id for i in range(30)
    ]
    store.append(c, kind="tool_result", text="the quokka ran, and the quokka jumped about.\n" * 4_000)
    found = {h.id for h in store.search("quokka", limit=25)}
    assert len(found) == 25
    assert len(found & set(told)) >= 24


def test_in_one_conversation_kind_and_time(store: recollect.Store) -> None:
    c = many(store)
    wanted = store.append(c, kind="tool_result", tool="Bash", text=long("the quokka was seen."), created_at=10**12)
    other = store.append(store.create("d").id, role="user", text=long("no quokka at all.", seed=9))
    for asked in ({"conversation": c}, {"kinds": ["tool_result"]}, {"tool": "Bash"}, {"until": 10**12 + 1}):
        assert [h.id for h in store.search("quokka", **asked)][:1] == [wanted.id], asked
        assert other.id not in {h.id for h in store.search("quokka", **asked)}


def test_a_fence_in_a_long_record_is_not_found(store: recollect.Store) -> None:
    c = many(store, 3)
    store.append(c, role="user", text="the zebra likes figs")
    fenced = store.context("zebra figs").text
    store.append(c, role="user", text=prose(3_000) + fenced + "\n" + prose(3_000) + "\nthe quokka likes grapes.")
    assert [h.seq for h in store.search("zebra figs") if "zebra" in h.snippet] == [7]
    assert "quokka likes grapes" in store.search("quokka grapes")[0].snippet


# -- in step with the rows


def test_branches_see_their_own(store: recollect.Store) -> None:
    c = store.create("c").id
    store.append_many(c, exchange(4))
    b = store.fork(c, at=2, name="other")
    store.append(c, role="user", text=long("the quokka was seen."), branch=b)
    store.append(c, role="user", text=long("the zebra was seen."), branch="main")
    store.switch(c, "main")
    assert not [h for h in store.search("quokka") if "quokka" in h.text]
    assert "zebra" in store.search("zebra")[0].snippet
    assert "quokka" in store.search("quokka", conversation=c, branch="other")[0].snippet


@pytest.mark.parametrize("verb", ["delete_event", "clear", "erase", "erase_user", "scan"])
def test_passages_go_with_their_event(open_store: Open, raw: Raw, verb: str) -> None:
    store = open_store(background=False, semantic=True, embedder=Hashed(), redact=False)
    store.append(store.create("kept").id, role="user", text=long("the zebra stays."))
    kept = pieces(raw)
    c = store.create("c").id
    store.append_many(c, exchange(3))
    said = store.append(c, role="user", text=long(f"the quokka has {SECRET} in it."))
    store.append(c, role="user", text="the newest")
    store.settle()
    assert pieces(raw) == 2 * kept
    if verb == "delete_event":
        store.delete_event(c, said.seq)
    elif verb == "clear":
        store.clear(c)
    elif verb == "erase":
        assert store.erase(conversation=c).finished_at
    elif verb == "erase_user":
        assert store.erase(user="alex").finished_at
    else:
        open_store(background=False, semantic=True, embedder=Hashed()).scan(fix=True)
    store.settle()
    assert not [h for h in store.search(SECRET) if SECRET in h.text]
    if verb == "scan":
        assert "quokka has" in store.search("quokka")[0].snippet, "the rest of it is found as before"
        assert pieces(raw) == 2 * kept
    elif verb != "erase_user":
        assert not [h for h in store.search("quokka") if "quokka" in h.text]
        assert "zebra" in store.search("zebra")[0].snippet
        assert pieces(raw) == kept
    else:
        assert pieces(raw) == 0
    owners = "select id from passages union select id from events union select id from memories"
    assert raw(f"select count(*) from vectors where id not in ({owners})") == [(0,)]
    if verb != "erase_user":
        assert store.verify().problems == ()


def test_one_users_passages_are_nobody_elses(open_store: Open) -> None:
    alex, kim = (open_store(user, background=False, semantic=True, embedder=Hashed()) for user in ("alex", "kim"))
    for store, word in ((alex, "quokka"), (kim, "zebra")):
        store.append(store.create("c").id, role="user", text=long(f"the {word} was seen."))
        store.settle()
    assert not [h for h in alex.search("zebra") if "zebra" in h.text]
    assert "quokka" in alex.search("quokka")[0].snippet
    kim.erase(user="kim")
    assert "quokka" in alex.search("quokka")[0].snippet


def test_a_conversation_that_moves_or_is_copied(open_store: Open, raw: Raw) -> None:
    """It moves when a secret in its workspace is replaced, and is copied with a graph's thread."""
    plain = open_store(background=False, redact=False)
    c = plain.create("c", workspace=f"/home/{SECRET}").id
    plain.append(c, role="user", text=long("the quokka was seen."))
    store = open_store(background=False)
    store.scan(fix=True)
    [moved] = store.conversations()
    assert moved.workspace is not None and SECRET not in moved.workspace
    assert store.search("quokka", workspace=moved.workspace)[0].conversation_id == c
    once = pieces(raw)
    store._db.write("alex", lambda tx: log.copy(tx, find(tx, c), "d"))
    assert pieces(raw) == 2 * once
    assert "quokka" in store.search("quokka", conversation="d")[0].snippet
    store.clear(c)
    assert pieces(raw) == once
    assert "quokka" in store.search("quokka")[0].snippet
    assert store.verify().problems == ()


def test_export_and_import(store: recollect.Store, open_store: Open, tmp_path: Any) -> None:
    store.append(store.create("c").id, role="user", text=long("the quokka was seen."))
    with (tmp_path / "out.jsonl").open("w") as f:
        store.export(f)
    other = open_store("kim", background=False)
    with (tmp_path / "out.jsonl").open() as f:
        other.import_(f)
    assert "quokka" in other.search("quokka")[0].snippet


def test_reindex_brings_back_what_was_lost(store: recollect.Store, raw: Raw) -> None:
    c = store.create("c").id
    store.append(c, role="user", text=long("the quokka was seen."))
    store._db.write("alex", lambda tx: tx.forget_words())
    assert not [h for h in store.search("quokka") if "words" in h.parts]
    before = pieces(raw)
    store.reindex()
    assert "quokka" in store.search("quokka")[0].snippet
    assert pieces(raw) == before
    assert store.verify().problems == ()


# -- stores from before


def as_before(store: recollect.Store) -> None:
    """Every long event as an earlier version indexed it: one entry of its first 20,000 characters, no passages."""
    from recollect import events
    from recollect.search.reindex import _place

    def write(tx: Any) -> None:
        rows = tx.all(
            f"select id, {events.COLUMNS}, conversation_no from events where user_no = :user and length(text) > 2000"
        )
        for row in rows:
            place = _place(tx, row[-1])
            assert place is not None
            index.remove(tx, events.indexed(tx, place, [row]))
            tx.index_words("words", events.indexed(tx, place, [row]))
        tx.run("delete from embeddings where user_no = :user")
        tx.run("delete from vectors where user_no = :user")
        tx.run(
            "insert into jobs (user_no, kind, key, state, run_at, created_at)"
            " values (:user, 'index', 'passages', 'queued', 0, 0)"
        )

    store._db.write(store.user, write)


def test_an_older_stores_long_events_are_indexed_in_the_background(open_store: Open, raw: Raw) -> None:
    store = open_store(background=False, semantic=True, embedder=Hashed())
    c = many(store, 3)
    wanted = store.append(c, role="user", text=long("the quokka was seen."))
    as_before(store)
    assert pieces(raw) == 0
    store.close()
    again = open_store(semantic=True, embedder=Hashed())
    eventually(lambda: [h.id for h in again.search("quokka") if "quokka" in h.snippet][:1] == [wanted.id])
    again.settle()
    assert pieces(raw) > 10
    assert again.search("quokka")[0].id == wanted.id
    assert again.verify().problems == ()
    again.clear(c)
    assert pieces(raw) == 0
    assert again.verify().problems == ()


@pytest.mark.parametrize("verb", ["delete_event", "clear", "erase"])
def test_what_an_older_version_indexed_can_go_before_the_job_has_run(open_store: Open, verb: str) -> None:
    store = open_store(background=False, redact=False)
    c = store.create("c").id
    said = store.append(c, role="user", text=long("the quokka was seen."))
    as_before(store)
    if verb == "delete_event":
        store.delete_event(c, said.seq)
    elif verb == "clear":
        store.clear(c)
    else:
        store.erase(conversation=c)
    assert store._db.read("alex", lambda tx: tx.find_words("words", {"quokka": 1}, ["e"], 10)) == []
    store.settle()
    assert store.verify().problems == ()
