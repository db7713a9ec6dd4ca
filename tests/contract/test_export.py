"""An export is imported as what it was: by drawing whole histories, and case by case."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from archives import assert_same, brought, exported, seen, timeless
from recollect.errors import BadLine, InvalidInput, NewerSchema, NotFound, RecollectError
from talk import Open, Raw, exchange

Pair = Callable[[], tuple[recollect.Store, recollect.Store]]
MOMENT = 1_700_000_000_000
numbered = count()


@pytest.fixture
def pair(open_store: Open) -> Pair:
    """Two people who have nothing yet, on the test's database."""
    everyone = open_store(background=False, summary_threshold=6, summary_keep_recent=2)
    return lambda: (everyone.for_user(f"u{next(numbered)}"), everyone.for_user(f"u{next(numbered)}"))


# -- a history, drawn

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
said = st.sampled_from(
    ["I live in Porto.", "I moved to Lisbon.", "I prefer tabs over spaces.", "Remember that my sister is Ana.", "hm", "# no\r\nheading\u2028"]
)  # fmt: skip
numbers = st.integers(0, 40)
plain_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
entry = st.one_of(
    st.builds(lambda t, r: {"role": r, "text": t}, said | words, st.sampled_from(["user", "assistant"])),
    st.builds(
        lambda t, r, tags, p, n: {
            "role": "assistant", "text": t, "reasoning": r, "tags": tags, "payload": p, "model": "m", "cost": 0.1 * n,
            "input_tokens": n, "output_tokens": n, "duration_ms": n, "created_at": MOMENT + n,
        },
        words, words.filter(bool), st.lists(words.filter(bool), max_size=2), st.dictionaries(words, plain_json, max_size=2), numbers,
    ),
    st.builds(lambda t, n: {"kind": "ledger", "task_id": f"t{n}", "goal": t, "status": "open"}, words, st.integers(0, 2)),
    st.builds(lambda t: {"kind": "artifact", "path": "a.py", "text": t * 60, "diff": "x\n" * 300}, words),
    st.builds(lambda t, n: {"kind": "tool_use", "tool": "Write", "path": "/w/b.py", "text": t, "key": f"k{n}"}, words, numbers),
    st.builds(lambda t: {"kind": "event", "name": "workflow.start", "text": t, "agent": "a", "status": "s"}, words),
)  # fmt: skip
step = st.one_of(
    st.tuples(st.just("append"), entry, numbers),
    st.tuples(st.just("append"), entry, numbers),
    st.tuples(st.just("talk"), numbers, numbers),
    st.tuples(
        st.sampled_from(
            ["create", "fork", "switch", "delete_event", "pin", "clear", "delete", "rename", "summarize", "consolidate"]
        ),
        numbers,
        numbers,
    ),
    st.tuples(st.sampled_from(["remember", "revise", "undo", "forget", "pin_memory", "derive", "recall"]), numbers, numbers),
)  # fmt: skip
history = st.lists(step, min_size=3, max_size=25)


class Maker:
    """Does what was drawn; what a store refuses was never done."""

    def __init__(self, store: recollect.Store) -> None:
        self.store = store
        self.ids = [
            store.create("c0", workspace="/w", metadata={"k": [1, {"a": None}]}).id,
            store.create(origin="hook").id,
        ]

    def do(self, what: str, a: Any, n: int) -> None:
        s = self.store
        c = self.ids[n % len(self.ids)]
        held = s.memories(state=None, limit=100)
        try:
            match what:
                case "append":
                    s.append(c, **a)
                case "talk":
                    s.append_many(c, exchange(a % 9 + 1))
                case "create":
                    self.ids.append(
                        s.create(f"c{len(self.ids)}", title=f"Title {n}", workspace="/v" if n % 2 else None).id
                    )
                case "fork":
                    s.fork(c, a % (s.get(c).last_seq + 1), switch=bool(n % 2))
                case "switch":
                    s.switch(c, s.branches(c)[a % len(s.branches(c))])
                case "delete_event":
                    s.delete_event(c, a % (s.get(c).last_seq + 1))
                case "pin":
                    s.pin(f"{c}:{a % (s.get(c).last_seq + 1)}")
                case "remember":
                    s.remember(
                        f"Statement {a % 5}", conversation=c if n % 3 == 0 else None, workspace="/w" if n % 3 == 1 else None,
                        role="tool" if a % 4 == 0 else "user", source=f"{c}:{n % 4}", kind="todo", tags=["t"], importance=0.2,
                        pinned=n % 5 == 0, valid_to=MOMENT if a % 7 == 0 else None,
                    )  # fmt: skip
                case "derive":
                    s.remember(f"Derived {n % 3}", derived_from=[held[a % len(held)].id] if held else ())
                case "recall":
                    s.recall("statement lives prefers")
                    s.settle()
                case "revise" | "undo" | "forget" | "pin_memory" if held:
                    m = held[a % len(held)]
                    if what == "revise":
                        s.revise(m, content=f"Statement {n % 7}" if n % 2 else None, importance=0.9, promote=n % 5 == 0)
                    elif what == "pin_memory":
                        s.pin(m)
                    elif what == "undo":
                        s.undo(m)
                    else:
                        s.forget(m)
                case "clear" if a % 4:
                    pass
                case "clear" | "delete" | "rename" | "summarize" | "consolidate":
                    s.rename(c, f"New {a}") if what == "rename" else getattr(s, what)(c)
        except RecollectError:
            pass


EXAMPLES = settings.default.max_examples if settings.default else 100
fixtures_are_fine = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.mark.parametrize("backend", ["sqlite"])
@settings(max_examples=EXAMPLES // 3, suppress_health_check=fixtures_are_fine)
@given(history)
def test_an_import_of_an_export_is_what_was_exported(pair: Pair, drawn: list[Any]) -> None:
    _there_and_back(*pair(), drawn)


@pytest.mark.parametrize("backend", ["postgres"])
@settings(max_examples=EXAMPLES // 20, suppress_health_check=fixtures_are_fine)
@given(history)
def test_it_is_so_on_a_server_too(pair: Pair, drawn: list[Any]) -> None:
    _there_and_back(*pair(), drawn)


def _there_and_back(one: recollect.Store, other: recollect.Store, drawn: list[Any]) -> None:
    maker = Maker(one)
    for what, a, n in drawn:
        maker.do(what, a, n)
    archive = exported(one)
    found = brought(other, archive)
    assert found.problems == ()
    assert found.added["events"] == one.stats().events
    assert_same(one, other)
    again = brought(other, archive)
    assert not any(again.added.values())
    assert again.problems == ()
    assert_same(one, other)
    assert other.verify().problems == ()


# -- a history, by hand


def whole(store: recollect.Store) -> None:
    """One of everything."""
    c = store.create("c", title="Trip", workspace="/w", workflow_id="run-1", metadata={"k": 1})
    store.append_many(c, exchange(10))
    store.append(c, role="user", text="I live in Porto.", tags=["home"], payload={"a": [1, None]})
    store.append(c, role="assistant", text="noted", reasoning="because")
    store.consolidate(c)
    store.summarize(c)
    store.fork(c, 4, name="idea")
    store.append(c, role="user", text="I moved to Lisbon.", branch="idea")
    store.append(c, kind="ledger", task_id="t", goal="pack", status="open", branch="idea")
    store.consolidate(c, branch="idea")
    store.delete_event(c, 2)
    store.pin("c:3")
    store.remember("Prefers dark mode", kind="preference")
    store.undo(store.revise(store.remember("Works at Acme"), content="Works at Globex"))
    store.remember("Takes the train", derived_from=[store.memories()[0].id])
    store.remember("said by a tool", role="tool", source="c:5")
    binned = store.create("old")
    store.append(binned, role="user", text="forget me not")
    store.delete(binned)


@pytest.fixture
def alex(open_store: Open) -> recollect.Store:
    store = open_store(background=False, summary_keep_recent=2)
    whole(store)
    return store


def test_from_one_database_to_another_and_back(
    tmp_path: Any, postgres_url: str, backend: str, alex: recollect.Store
) -> None:
    elsewhere = postgres_url if backend == "sqlite" else str(tmp_path / "elsewhere.db")
    options = {"semantic": False, "memory_extract": False, "background": False}
    first = exported(alex)
    with (
        recollect.open(elsewhere, user="kim", **options) as there,
        recollect.open(tmp_path / "back.db", user="lee", **options) as back,
    ):
        brought(there, first)
        assert timeless(exported(there)) == timeless(first)
        brought(back, exported(there))
        assert_same(alex, back)
        assert back.verify().ok


def test_what_was_deleted_and_what_is_learned_comes_along(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim")
    brought(kim, exported(alex))
    assert [c.id for c in kim.conversations(deleted=True)] == ["old"]
    assert kim.restore("old").title == "forget me not"
    assert 2 not in [e.seq for e in kim.read("c", branch="*")]
    assert {m.state for m in kim.memories(state=None)} >= {"active", "quarantined", "forgotten"}
    assert kim.memories(conversation="c", branch="idea") != kim.memories(conversation="c", branch="main")
    assert kim.retain(dry_run=True).kept == alex.retain(dry_run=True).kept
    assert [h.text for h in kim.search("Lisbon", branch="*")][:1] == ["I moved to Lisbon."]
    assert kim.recall("dark mode")[0].text == "Prefers dark mode"
    assert kim.append("c", role="user", text="on we go").seq == alex.get("c").last_seq + 1


def test_a_part_is_a_conversation_or_a_workspace(alex: recollect.Store, open_store: Open) -> None:
    other = alex.create("other", workspace="/v")
    alex.append(other, role="user", text="elsewhere")
    alex.remember("Only there", workspace="/v")
    kim, lee = open_store("kim"), open_store("lee")
    brought(kim, exported(alex, conversation="c"))
    assert [c.id for c in kim.conversations()] == ["c"]
    assert kim.read("c", branch="*") == alex.read("c", branch="*")
    learned = {h.text for h in kim.search("live moved Porto Lisbon tool", types="memories", branch="*")}
    assert learned == {m.content for m in alex.memories(state="active") if m.provenance.conversation_id == "c"}
    assert [m.content for m in kim.memories(state="quarantined")] == ["said by a tool"]
    assert "Prefers dark mode" not in {m.content for m in kim.memories(state=None)}
    brought(lee, exported(alex, workspace="/v"))
    assert [c.id for c in lee.conversations()] == ["other"]
    assert [m.content for m in lee.memories()] == ["Only there"]
    assert kim.verify().ok
    assert lee.verify().ok
    with pytest.raises(NotFound):
        exported(alex, conversation="nobody")
    with pytest.raises(InvalidInput):
        exported(alex, conversation="c", workspace="/v")
    with pytest.raises(InvalidInput):
        exported(alex, format="xml")


def test_what_is_newer_is_added_and_what_is_older_changes_nothing(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim", background=False)
    before = exported(alex)
    brought(kim, before)
    alex.append("c", role="user", text="one more")
    alex.fork("c", 5, name="late", switch=True)
    alex.append("c", role="user", text="on a branch")
    alex.remember("New since")
    alex.delete_event("c", alex.append("c", kind="note", text="gone").seq)
    found = brought(kim, exported(alex))
    assert (found.added["events"], found.added["memories"], found.problems) == (2, 1, ())
    assert kim.read("c", branch="*") == alex.read("c", branch="*")
    assert kim.get("c").active_branch == "late"
    assert [b.name for b in kim.branches("c")] == ["main", "idea", "late"]
    now = timeless(exported(kim))
    assert not any(brought(kim, before).added.values())
    assert timeless(exported(kim)) == now
    assert kim.verify().ok


def test_what_was_deleted_here_stays_deleted(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim", background=False)
    archive = exported(alex)
    brought(kim, archive)
    kim.delete_event("c", 7)
    kim.forget(kim.memories(kinds=["preference"])[0])
    found = brought(kim, archive)
    assert not any(found.added.values())
    assert 7 not in [e.seq for e in kim.read("c", branch="*")]
    assert kim.memories(kinds=["preference"]) == []


def test_an_id_with_other_content_is_reported_and_left_alone(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim", background=False)
    kim.append(kim.create("c"), role="user", text="mine")
    lee = open_store("lee", background=False)
    brought(lee, exported(alex))
    own = lee.append("c", role="user", text="said by lee")
    alex.append("c", role="user", text="said by alex")
    archive = exported(alex)
    for store in (kim, lee):
        before = store.read("c", branch="*")
        found = brought(store, archive)
        (problem,) = found.problems
        assert "conversation c" in problem.where
        assert store.read("c", branch="*") == before
        assert store.verify().ok
    assert own.text == "said by lee"
    assert "Prefers dark mode" in {m.content for m in kim.memories()}  # what has nothing to do with it comes
    assert kim.get("c").title == "mine"


def test_another_statement_under_the_same_id_is_reported(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim")
    mine = kim.remember("Prefers dark mode")
    id = alex.remember("Prefers dark mode").id
    assert brought(kim, exported(alex)).problems == ()  # the same words: it is known
    assert len(kim.memory_history(mine)) == 1
    changed = exported(alex).replace('"content":"Prefers dark mode"', '"content":"Prefers to be robbed"')
    (problem,) = brought(kim, changed).problems
    assert id in problem.where
    assert kim.memories()[0].content != "Prefers to be robbed"


# -- files that are not what they should be


def broken(archive: str) -> Iterator[tuple[str, str, int]]:
    """(what is wrong, the file, the number of the line that says so)."""
    rows = archive.splitlines()
    n = next(i for i, row in enumerate(rows) if '"type":"event"' in row)
    change = next(i for i, row in enumerate(rows) if '"type":"change"' in row)

    def put(at: int, *new: str) -> str:
        return "\n".join([*rows[:at], *new, *rows[at + 1 :]])

    def but(at: int, **fields: Any) -> str:
        return put(at, json.dumps(json.loads(rows[at]) | fields))

    yield "cut in a line", "\n".join(rows[:n]) + "\n" + rows[n][: len(rows[n]) // 2], n + 1
    yield "cut between lines", "\n".join(rows[:-1]), len(rows) - 1
    yield "a line is lost", put(n), len(rows) - 1
    yield "there twice", put(n, rows[n], rows[n]), n + 2
    yield "no object", put(n, "[1]"), n + 1
    yield "an unknown type", but(n, type="shell"), n + 1
    yield "an unknown field", but(n, embedding=[1.0]), n + 1
    yield "a field of another type", but(n, seq="1"), n + 1
    yield "a number too large", but(n, seq=1 << 63), n + 1
    yield "a time too late", but(n, created_at=10**15), n + 1
    yield "nowhere", but(n, conversation="nobody"), n + 1
    yield "no such branch", but(n, branch="nowhere"), n + 1
    yield "beyond the last", but(n, seq=9_999), n + 1
    yield "refers to the future", but(n, message=9_998), n + 1
    yield "no role", but(n, kind="message", role="root"), n + 1
    yield "NUL", but(n, text="a\0b"), n + 1
    yield "NaN", put(n, rows[n].replace('"seq":', '"cost":NaN,"seq":')), n + 1
    yield "half a pair", put(n, rows[n].replace('"kind":', '"agent":"\\ud800","kind":')), n + 1
    yield "a change of nothing", but(change, memory="0" * 32), change + 1
    yield "a change out of order", but(change, n=7), change + 1
    yield "a branch without a parent", but(2, branches=[{"name": "b", "parent": "a", "at": 0, "created_at": 1}]), 3
    yield "a counter at its end", but(1, last_seq=(1 << 63) - 1, tombstones=[[1, (1 << 63) - 1, 1]]), 2
    yield "deeply nested", put(n, "[" * 100_000), n + 1
    yield "behind the end", archive + rows[n], len(rows) + 1
    yield "not ours", '{"hello": 1}', 1
    yield "empty", "", 0


def test_a_bad_line_is_named_and_leaves_the_store_as_it_was(alex: recollect.Store, open_store: Open) -> None:
    kim = open_store("kim")
    kim.append(kim.create("mine"), role="user", text="hello")
    before = timeless(exported(kim))
    for what, archive, number in broken(exported(alex)):
        with pytest.raises(BadLine) as raised:
            brought(kim, archive)
        assert raised.value.line == number, f"{what}: {raised.value}"
        assert not number or f"Line {number:,}:" in str(raised.value)
        assert timeless(exported(kim)) == before, what
    with pytest.raises(BadLine, match="not UTF-8"):
        kim.import_(io.BytesIO(exported(alex).encode().replace(b"Trip", b"Tr\xffp")))
    with pytest.raises(InvalidInput):
        kim.import_("a path")  # type: ignore[arg-type]


def test_a_newer_version_is_refused(alex: recollect.Store, open_store: Open) -> None:
    archive = exported(alex).replace('"version":2', '"version":3,"more":true', 1)
    with pytest.raises(NewerSchema, match="version 3"):
        brought(open_store("kim"), archive)
    assert open_store("kim").stats().events == 0


class Broken(io.RawIOBase):
    """A file that ends in an error after some bytes, the last time it is read: its signature is checked first, then its lines."""

    def __init__(self, data: bytes, upto: int) -> None:
        self._file, self._upto, self._rewound = io.BytesIO(data), upto, 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, at: int, whence: int = 0) -> int:
        self._rewound += 1
        return self._file.seek(at, whence)

    def readline(self, size: int | None = -1) -> bytes:
        if self._rewound > 2 and self._file.tell() > self._upto:
            raise OSError("the disk was unplugged")
        return self._file.readline(-1 if size is None else size)


def test_an_interrupted_import_is_finished_by_starting_it_again(
    alex: recollect.Store, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.archive import read

    monkeypatch.setattr(read, "BATCH", 3)
    archive = exported(alex).encode()
    for part in (0.4, 0.6, 0.8, 0.95):
        kim = open_store(f"kim{part}", background=False)
        with pytest.raises(OSError, match="unplugged"):
            kim.import_(Broken(archive, int(len(archive) * part)), trust=True)  # type: ignore[arg-type]
        partly = kim.stats().events
        found = brought(kim, archive)
        assert found.problems == ()
        assert partly + found.added["events"] == alex.stats().events
        assert seen(kim)["memories"] == seen(alex)["memories"]
        assert kim.read("c", branch="*") == alex.read("c", branch="*")
        assert kim.verify().ok


def test_a_file_that_cannot_go_back_is_read_all_the_same(alex: recollect.Store, open_store: Open) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: Any) -> int:
            raise OSError("not here")

    kim = open_store("kim")
    told: list[tuple[str, int, int]] = []
    kim.import_(Pipe(exported(alex).encode()), trust=True, progress=lambda *p: told.append(p))
    assert_same(alex, kim)
    assert told[-1] == ("lines", exported(alex).count("\n"), exported(alex).count("\n"))


def test_a_store_that_changes_while_it_is_exported(
    alex: recollect.Store, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written after the beginning is left out, what is deleted is missing; what is left is whole all the same."""
    from recollect.archive import write

    monkeypatch.setattr(write, "PAGE", 4)
    alex.append_many(alex.create("erased"), exchange(9))
    alex.append_many(alex.create("late"), exchange(9))

    class Slow(io.StringIO):
        """Everything changes when the first event is written."""

        changed = False

        def write(self, text: str) -> int:
            if '"type":"event"' in text and not self.changed:
                self.changed = True
                alex.append_many("c", exchange(3))
                alex.fork("late", 3, name="new", switch=True)
                alex.append("late", role="user", text="on the new branch")
                alex.delete_event("late", 7)
                alex.erase(conversation="erased")
                alex.append(alex.create("new"), role="user", text="new")
                alex.remember("New", conversation="new")
                alex.forget(alex.memories(kinds=["preference"])[0], erase=True)
            return super().write(text)

    before = alex.get("c").last_seq
    file = Slow()
    archive = write.Archive(
        alex._db, "alex", conversation=None, workspace=None, state_redacted="messages", progress=None
    )
    for line in archive.lines():
        file.write(line)
    assert file.changed
    kim = open_store("kim", background=False)
    found = brought(kim, file.getvalue())
    assert found.problems == ()
    assert kim.get("c").last_seq == before
    assert kim.get("late").last_seq == 9
    assert kim.verify().problems == ()
    assert {c.id for c in kim.conversations()} <= {"c", "late", "erased"}
    again = brought(kim, exported(alex))  # and the rest comes with the next one
    assert [p.where for p in again.problems] == []
    assert kim.read("late", branch="*") == alex.read("late", branch="*")
    assert kim.verify().problems == ()


# -- redaction, size, reading


def test_what_is_imported_goes_through_the_gate(open_store: Open) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    plain = open_store("plain", redact=False, background=False)
    c = plain.create("c", metadata={"token": secret}, workspace=f"/{secret}")
    plain.append(c, role="user", text=f"my token {secret}", tags=[secret], payload={"key": secret}, key=secret)
    plain.append(c, role="user", text="and so on", reasoning=f"use {secret}")
    plain.remember(f"The token is {secret}", tags=[secret])
    archive = exported(plain)
    assert secret in archive
    kim = open_store("kim", background=False)
    brought(kim, archive)
    told = repr(seen(kim)) + exported(kim)
    assert secret[:16] not in told
    assert "[redacted:" in told
    assert "sensitive" in kim.read("c")[0].tags
    assert not brought(kim, archive).problems
    assert kim.scan().places == ()
    leaky = open_store("plain", redact=False)
    leaky.create(secret)
    with pytest.raises(BadLine) as raised:
        brought(kim, exported(leaky))
    assert secret not in str(raised.value)


def test_no_embedding_is_exported_and_each_is_made_anew(open_store: Open, raw: Raw) -> None:
    from talk import Hashed

    alex = open_store(semantic=True, embedder=Hashed(), background=False)
    alex.append(alex.create("c"), role="user", text="we painted the boat")
    alex.settle()
    assert "vector" not in exported(alex)
    kim = alex.for_user("kim")
    brought(kim, exported(alex))
    assert raw("select count(*) from vectors") == [(1,)]
    kim.settle()
    assert raw("select count(*) from vectors") == [(2,)]
    assert kim.search("painted")[0].parts["meaning"] > 0


@pytest.mark.parametrize("backend", ["sqlite"])
def test_both_ways_need_little_memory(open_store: Open, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import tracemalloc

    from recollect.archive import read, write

    monkeypatch.setattr(write, "PAGE", 50)
    monkeypatch.setattr(read, "BATCH", 50)

    def needed(name: str, events: int) -> tuple[int, int]:
        alex, kim = open_store(name, background=False), open_store(f"{name}'s friend", background=False)
        c = alex.create("c")
        alex.append_many(c, [{"role": "user", "text": f"{'many words ' * 30}{i}"} for i in range(events)])
        path = tmp_path / name
        tracemalloc.start()
        try:
            with path.open("w", encoding="utf-8") as f:
                alex.export(f)
            exporting = tracemalloc.get_traced_memory()[1]
            tracemalloc.reset_peak()
            with path.open(encoding="utf-8") as f:
                kim.import_(f)
            return exporting, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    needed("warm", 100)
    small, large = needed("small", 200), needed("large", 1_000)
    assert large[0] < 1.5 * small[0]
    assert large[1] < 1.5 * small[1]


def test_markdown_is_for_reading(alex: recollect.Store) -> None:
    told = exported(alex, format="markdown")
    assert "## Trip" in told
    assert "### Branch `idea`, from event 4 of `main`" in told
    assert told.count("\n\nmessage 3\n") == 1
    assert "- Prefers dark mode (preference;" in told
    assert "forget me not" not in told  # it is in the bin
    alex.append("c", role="user", text="# not a heading\n```\nopen")
    one = exported(alex, format="markdown", conversation="c")
    assert one.startswith("# Trip\n")
    assert "\n\\# not a heading\n```\nopen\n```\n" in one


async def test_async_code_has_both(alex: recollect.Store, url: str) -> None:
    file = io.StringIO()
    async with await recollect.open_async(url, user="alex", memory_extract=False, semantic=False) as store:
        counts = await store.export(file)
        assert counts["conversations"] == 2
        file.seek(0)
        found = await store.for_user("kim").import_(file)
        assert found.added["conversations"] == 2


def test_what_was_erased_is_not_brought_back_unless_asked_for(store: recollect.Store) -> None:
    store.create("trip")
    store.append("trip", role="user", text="I live in Porto.")
    store.consolidate("trip")
    kept = store.remember("Has a dog")
    file = io.StringIO()
    store.export(file)
    store.erase(conversation="trip")
    store.erase(memory=kept.id)

    found = store.import_(io.StringIO(file.getvalue()))
    assert {p.where for p in found.problems} >= {"conversation trip", f"memory {kept.id}"}
    assert [c.id for c in store.conversations()] == []
    assert [m.content for m in store.memories()] == []

    store.import_(io.StringIO(file.getvalue()), again=True)
    assert [e.text for e in store.read("trip")] == ["I live in Porto."]
    assert kept.content in [m.content for m in store.memories()]
    store.append("trip", role="user", text="and on")
