"""The index of words: in step with the rows after anything that happens, and built anew when it is not."""

import random
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import context, salvage
from recollect.search import index
from talk import Open, Raw, exchange

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
CANARY = "zyxqomb"


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    return open_store(background=False)


def indexed(store: recollect.Store, table: str = "words") -> list[int]:
    return store._db.read(store.user, lambda tx: tx.indexed_words(table, 0, 1 << 40))


def expected(store: recollect.Store, outside: bool = False) -> list[int]:
    def read(tx: Any) -> list[int]:
        events = tx.all(
            "select e.id, e.kind, e.path, c.workspace from events e join conversations c on c.user_no = e.user_no and"
            " c.no = e.conversation_no where e.user_no = :user"
        )
        kept = [
            r[0]
            for r in events
            if r[1] not in ("reasoning", "summary") and (outside or not index.is_outside(r[2], r[3]))
        ]
        return sorted(
            {
                *kept,
                *(r[0] for r in tx.all("select id from memories where user_no = :user and indexed_at is not null")),
                *(r[0] for r in tx.all("select id from passages where user_no = :user")),
            }
        )

    return store._db.read(store.user, read)


def terms(raw: Raw, backend: str, table: str = "words") -> set[str]:
    """Every term that the index still knows, of whomever."""
    if backend == "postgres":
        return {row[0] for row in raw(f"select distinct unnest(tsvector_to_array(terms)) from {table}")}
    return {
        row[0]
        for row in raw(
            f"create virtual table temp.v using fts5vocab('main', '{table}', 'row'); select term from temp.v"
        )
    }


def scopes(raw: Raw, backend: str, table: str = "words") -> set[str]:
    if backend == "postgres":
        return {row[0] for row in raw(f"select distinct unnest(scope) from {table}")}
    return {
        row[0]
        for row in raw(
            f"create virtual table temp.v using fts5vocab('main', '{table}', 'col'); select term from temp.v where col = 'scope'"
        )
    }


def is_sound(store: recollect.Store, raw: Raw, backend: str) -> bool:
    if backend == "sqlite":
        for table in ("words", "title_words"):
            raw(f"insert into {table} ({table}, rank) values ('integrity-check', 1)")
    assert store.verify().problems == ()
    return indexed(store) == expected(store)


# -- nothing of what is gone stays


@pytest.mark.parametrize("verb", ["delete_event", "clear", "erase", "forget", "scan"])
def test_the_words_go_with_what_they_are_of(words: recollect.Store, raw: Raw, backend: str, verb: str) -> None:
    words = recollect.Store(words._db, "alex", words.settings.but(redact=False), None, words._worker)
    c = words.create("c", title="a title", workspace="/w").id
    text = SECRET if verb == "scan" else CANARY
    memory = words.remember(f"{CANARY if verb == 'forget' else 'something'} to keep")
    if verb != "forget":
        words.append(c, role="user", text=f"the {text} sang", tags=[text], path=f"{text}.md")
        words.append(c, kind="tool_use", tool=text, text="x")
    words.append_many(c, exchange(520))
    words.search("message")
    assert any(text.lower() in term for term in terms(raw, backend)), "the test would prove nothing"
    if verb == "delete_event":
        words.delete_event(c, 1)
        words.delete_event(c, 2)
    elif verb == "forget":
        words.forget(memory)
    elif verb == "scan":
        words.scan(fix=True)
    else:
        words.clear(c) if verb == "clear" else words.erase(conversation=c)
    assert not [t for t in terms(raw, backend) if text.lower() in t]
    assert not [row for row in raw("select counts from statistics") if text.lower() in row[0]]
    assert words.search(text, types="memories" if verb == "forget" else None, limit=3) == [] or verb == "scan"
    assert is_sound(words, raw, backend)


@pytest.mark.parametrize("verb", ["erase", "clear", "delete_event", "forget"])
def test_no_file_holds_a_trace_of_it(tmp_path: Path, verb: str) -> None:
    """Nor of its words in the index, nor of their counts."""

    def holding() -> list[str]:
        return [
            f.name for f in tmp_path.iterdir() if CANARY[2:].encode() in f.read_bytes()
        ]  # FTS5 leaves out how a term begins

    with recollect.open(tmp_path / "chat.db", user="alex", background=False) as store:
        c = store.create("one", title="harmless").id
        memory = store.remember(f"the {CANARY.upper()} sings") if verb == "forget" else None
        if memory is None:
            store.append_many(c, [{"role": "user", "text": f"{CANARY.upper()} {i}"} for i in range(5)])
        else:
            store.append_many(c, exchange(5))
        store.append_many(store.create("other"), exchange(600))
        store.settle()
        store.search(CANARY)
        assert holding(), "the test would prove nothing"
        if memory is not None:
            store.forget(memory)
        elif verb == "erase":
            store.erase(conversation=c)
        elif verb == "clear":
            store.clear(c)
        else:
            for seq in range(1, 6):
                store.delete_event(c, seq)
        assert holding() == []


def test_titles_go_too(words: recollect.Store, raw: Raw, backend: str) -> None:
    for i, verb in enumerate(("rename", "clear", "erase", "delete_event")):
        c = words.create(f"c{i}", title=CANARY if verb in ("rename", "erase") else None).id
        words.append(c, role="user", text=CANARY)
        assert CANARY in terms(raw, backend, "title_words")
        if verb == "rename":
            words.rename(c, "another")
        elif verb == "clear":
            words.clear(c)
        elif verb == "erase":
            words.erase(conversation=c)
        else:
            words.delete_event(c, 1)
        assert CANARY not in terms(raw, backend, "title_words"), verb
        assert words.verify().ok


def test_a_secret_in_a_workspace_or_title_leaves_the_index(words: recollect.Store, raw: Raw, backend: str) -> None:
    """The scope of every entry follows the workspace: taken out under the old one, put in under the new."""
    open_gate = recollect.Store(words._db, "alex", words.settings.but(redact=False), None, words._worker)
    c = open_gate.create("c", title=f"about {SECRET}", workspace=f"/{SECRET}").id
    open_gate.append_many(c, exchange(5))
    open_gate.fork(c, 2, name="idea")
    open_gate.append(c, role="user", text="a heron", branch="idea")
    open_gate.remember(f"the token is {SECRET}", workspace=f"/{SECRET}")
    before = scopes(raw, backend)
    assert words.scan(fix=True).places
    assert SECRET.lower() not in " ".join(terms(raw, backend, "title_words") | terms(raw, backend))
    assert scopes(raw, backend) != before
    clean = words.get(c).workspace
    assert words.search("heron", workspace=clean, branch="*")[0].text == "a heron"
    assert [h.sensitive for h in words.recall("token", workspace=clean)] == [True]
    words.clear(c)
    words.erase(conversation=c)
    assert is_sound(words, raw, backend)
    assert scopes(raw, backend) <= {"m", "kfact", index.workspace_token(clean or "")}


# -- in step, whatever happens


@pytest.mark.parametrize("seed", range(6))
def test_equal_to_the_rows_after_anything(open_store: Open, raw: Raw, backend: str, seed: int) -> None:
    rng = random.Random(seed)
    store = open_store(
        background=False, redact=False, summary_threshold=8, summary_keep_recent=2, summary_delete=bool(seed % 2)
    )
    outside = open_store(background=False, index_outside_workspace=True) if seed == 3 else store
    vocabulary = ["heron", "Zürich", "parse_config", "猫の写真", "it's", "7 May 2023", "yesterday", "x" * 5_000, "", "src/a.py",
                  SECRET, 'q"uote', "\\", "🎉", f"{context.OPENING}\n> [1] user: heron\n{context.CLOSING}"]  # fmt: skip

    def text() -> str:
        return " ".join(rng.choices(vocabulary, k=rng.randint(0, 5)))

    def any_conversation() -> str:
        found = store.conversations(limit=100)
        return rng.choice(found).id if found else store.create().id

    def append() -> None:
        c = any_conversation()
        kind: Any = rng.choice([
            {"role": "user"}, {"role": "assistant", "reasoning": "heron"}, {"kind": "tool_use", "tool": text() or "t"},
            {"kind": "note", "tags": ["heron", "猫"]}, {"kind": "tool_use", "path": rng.choice(["/w/x", "/etc/x", "../x"])},
            {"kind": "event", "name": "heron.start"}, {"role": "user", "agent": "Kim", "created_at": rng.randrange(1 << 40)},
        ])  # fmt: skip
        branch = rng.choice([b.name for b in store.branches(c)])
        outside.append_many(c, [{"text": text(), **kind} for _ in range(rng.randint(1, 4))], branch=branch)

    def delete_event() -> None:
        events = store.read(any_conversation(), branch="*")
        if events:
            gone = rng.choice(events)
            store.delete_event(gone.conversation_id, gone.seq)

    def forget() -> None:
        hits = store.recall("heron")
        if hits:
            store.forget(hits[0].id)

    def bin_and_back() -> None:
        c = any_conversation()
        store.delete(c)
        store.restore(c)

    verbs: list[Any] = [
        *[append] * 8, delete_event, delete_event, forget, bin_and_back,
        lambda: store.create(title=rng.choice([None, "heron", "猫"]), workspace=rng.choice([None, "/w", f"/{SECRET}"])),
        lambda: store.fork(any_conversation(), switch=rng.random() < 0.5),
        lambda: store.rename(any_conversation(), text()[:400] or "named"),
        lambda: store.clear(any_conversation()),
        lambda: store.erase(conversation=any_conversation()),
        lambda: store.remember(text() or "heron", conversation=any_conversation()),
        lambda: store.remember(text() or "heron", workspace="/w", tags=["heron"]),
        store.settle,
        lambda: store.scan(fix=rng.random() < 0.3),
        lambda: store.search("heron parse 7 May 2023"),
    ]  # fmt: skip
    for step in range(120):
        rng.choice(verbs)()
        if step % 20 == 19:
            assert set(expected(store)) <= set(indexed(store)) <= set(expected(store, outside=True))
            assert seed == 3 or indexed(store) == expected(store)
    if backend == "sqlite":
        for table in ("words", "title_words"):
            raw(f"insert into {table} ({table}, rank) values ('integrity-check', 1)")
    assert store.verify().problems == ()
    for c in [*store.conversations(limit=1000), *store.conversations(limit=1000, deleted=True)]:
        store.erase(conversation=c.id)
    while hits := store.recall("heron zürich parse 7 it's x"):
        store.forget(hits[0].id)
    left = store._db.read("alex", lambda tx: tx.all("select memory_id from memories where user_no = :user"))
    for (id,) in left:
        store.forget(id, erase=True)
    assert indexed(store) == indexed(store, "title_words") == []
    assert terms(raw, backend) == terms(raw, backend, "title_words") == set(), "every term that went in came out"


def test_an_append_that_fails_leaves_nothing(words: recollect.Store, raw: Raw, backend: str) -> None:
    c = words.create("c")
    with pytest.raises(recollect.errors.InvalidInput):
        words.append_many(c, [{"role": "user", "text": CANARY}, {"kind": "reasoning", "message": 99, "text": "x"}])
    assert CANARY not in terms(raw, backend)
    assert indexed(words) == []


# -- verify and reindex


def lose(raw: Raw, backend: str, table: str = "words") -> None:
    raw(f"delete from {table}" if backend == "postgres" else f"insert into {table} ({table}) values ('delete-all')")


def test_a_lost_index_is_found_and_built_anew(words: recollect.Store, raw: Raw, backend: str) -> None:
    kim = words.for_user("kim")
    for store in (words, kim):
        store.append_many(
            store.create("c", title="Herons"), [{"role": "user", "text": f"a heron {i}"} for i in range(30)]
        )
        store.remember("likes herons")
    lose(raw, backend)
    lose(raw, backend, "title_words")
    problems = words.verify().problems
    assert [p.where for p in problems] == ["the index"] * 2
    assert problems[0].what.startswith("31 events and memories are not in the index")
    assert problems[1].what.startswith("1 titles are not in the index")
    assert "reindex" in problems[0].fix
    assert words.search("heron") == []
    assert words.reindex() == 31
    assert len(words.search("heron", limit=100)) == 31
    assert words.recall("heron")
    assert words.verify().ok
    assert "index" not in str(words.stats().jobs)
    if backend == "sqlite":  # there the index is everyone's, and a job is queued for each
        assert kim.settle() == 1
    else:
        kim.reindex()
    assert kim.verify().ok
    assert len(kim.search("heron", limit=100)) == 31


def test_what_is_too_much_is_found(words: recollect.Store, raw: Raw, backend: str) -> None:
    c = words.create("c", title="T").id
    words.append_many(c, exchange(3))
    raw("delete from events where seq = 2")
    raw(
        "insert into tombstones (user_no, conversation_no, first_seq, last_seq, deleted_at) select user_no, no, 2, 2, 0 from conversations"
    )
    (problem,) = words.verify().problems
    assert problem.what == "1 entries in the index of words are of nothing that is stored"
    words.reindex()
    assert words.verify().ok
    raw("update conversations set title = null")
    (problem,) = words.verify().problems
    assert problem.what == "1 titles in the index of words are of no conversation"
    words.reindex()
    assert words.verify().ok


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_damaged_index_is_no_lost_store(words: recollect.Store, raw: Raw) -> None:
    words.append_many(words.create("c"), [{"role": "user", "text": f"a heron number{i}"} for i in range(300)])
    words.close()
    raw("update words_data set block = zeroblob(length(block)) where id > 10")
    with recollect.open(words.location, user="alex", background=False) as store:
        problems = store.verify().problems
        assert {p.where for p in problems} == {"the index"}
        assert all("reindex" in p.fix for p in problems)
        assert store.verify().events == 300, "the events are looked at all the same"
        store.reindex()
        assert store.verify().ok
        assert store.search("number7")[0].seq == 8


def test_it_can_be_built_anew_at_any_time(store: recollect.Store) -> None:
    c = store.create("c", title="Herons", workspace="/w")
    store.append_many(c, exchange(5))
    store.append(c, kind="tool_use", path="/etc/passwd", text="outside")
    before = [(h.id, h.score) for h in store.search("message 3", limit=3)]
    for _ in range(2):
        store.reindex()
        assert store.verify().ok
    assert [h for h, _ in before] == [h.id for h in store.search("message 3", limit=3)]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_what_is_salvaged_is_indexed(words: recollect.Store, tmp_path: Path) -> None:
    """Memories too; and no row of the new tables is taken for one of the old."""
    with recollect.open(tmp_path / "whole.db", user="alex", background=False, summaries=False) as store:
        c = store.create("c", title="Herons", workspace="/w").id
        store.append_many(c, exchange(600))
        store.append(c, role="user", text="a quokka")
        for n in range(30):
            store.remember(f"heron {n}", tags=["x"], importance=n % 2, conversation=c if n % 3 == 0 else None)
        store.settle()
        store.search("message")
    saved = salvage.salvage(tmp_path / "whole.db", tmp_path / "saved.db")
    assert (saved.users, saved.conversations, saved.events, saved.memories) == (1, 1, 601, 30)
    with recollect.open(tmp_path / "saved.db", user="alex", background=False) as store:
        assert store.verify().ok
        assert [h.text for h in store.search("quokka", limit=1)] == ["a quokka"]
        assert store.search("herons", types="events", limit=1)[0].conversation_id == "c"
        assert len(store.recall("heron", conversation=c, tags=["x"], limit=100)) == 30
        assert len(store.recall("heron", limit=100)) == 20


# -- what is left out


def test_paths_outside_the_workspace_are_not_found(open_store: Open) -> None:
    store = open_store(background=False, semantic=True)
    c = store.create("c", workspace="/repo").id
    for path in (
        "/etc/heron",
        "../heron",
        "/repository/heron",
        "~/heron",
        "src/heron",
        "/repo/src/heron",
        "a/../heron",
    ):
        store.append(c, kind="tool_use", tool="Read", path=path, text="a heron")
    store.settle()
    inside = {5, 6, 7}
    assert {h.seq for h in store.search("heron")} == inside
    assert {h.seq for h in store.search("heron", conversation=c)} == inside
    assert {i.hit.seq for i in store.context("heron").items} <= inside
    assert len(store.read(c)) == 7, "they are kept"
    assert store.verify().ok
    wide = open_store(background=False, semantic=True, index_outside_workspace=True)
    assert wide.append(c, kind="tool_use", path="/etc/quokka", text="x").seq == 8
    assert [h.seq for h in wide.search("quokka", limit=1)] == [8]
    assert 8 not in {h.seq for h in store.search("quokka")}
    wide.reindex()
    assert {h.seq for h in wide.search("heron")} >= {1, 2, 3, 4, 5, 6, 7}
    assert wide.verify().ok
    assert store.verify().ok
    store.delete_event(c, 1)
    wide.clear(c)
    assert indexed(store) == []


def test_what_names_a_path_outside_says_nothing_of_its_neighbours(open_store: Open) -> None:
    """They were found by its words, since it stood beside them."""
    store = open_store(background=False, semantic=True)
    c = store.create("c", workspace="/repo").id
    store.append(c, role="user", text="the boats are painted in spring")
    store.append(c, kind="tool_use", tool="Read", path="/etc/secret/quokka.txt", text="a quokka")
    store.append(c, role="user", text="and the harbour is dredged in autumn")
    store.settle()
    assert [h.parts.get("neighbours") for h in store.search("quokka")] == [None, None]
    assert "neighbours" in store.search("boats painted")[1].parts


def test_without_a_folder_there_is_no_outside(words: recollect.Store) -> None:
    for workspace in (None, "my project"):
        c = words.create(workspace=workspace).id
        e = words.append(c, kind="tool_use", path="/etc/heron", text="x")
        assert e.id in [h.id for h in words.search("heron", conversation=c)]


def test_a_context_that_comes_back_is_stored_and_not_indexed(words: recollect.Store, raw: Raw, backend: str) -> None:
    c = words.create("c").id
    words.append(c, role="user", text="the quokka lives on Rottnest")
    given = words.context("quokka").text
    assert context.is_ours(given)
    words.append(c, role="user", text=f"Here is what I know:\n{given}\nNow, what about the numbat?")
    words.append(c, role="user", text=given)
    words.append(c, kind="tool_result", tool="recollect", text=given[: len(given) // 2])
    assert words.read(c)[2].text == given
    hits = words.search("rottnest", limit=10)
    assert hits[0].seq == 1
    assert [h.seq for h in hits if h.parts.get("words")] == [1]
    assert words.search("numbat")[0].seq == 2
    assert all(not context.is_ours(i.hit.text) for i in words.context("quokka numbat rottnest").items)
    words.delete_event(c, 1)
    assert "rottnest" not in terms(raw, backend)
