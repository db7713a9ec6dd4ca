"""scan: secrets in what is stored already are found, and replaced where they stand."""

from __future__ import annotations

import json
import random
import string
import threading
from pathlib import Path
from typing import Any

import pytest

import recollect
from labelled import clean as not_secrets
from labelled import secrets
from recollect import scan as scanning
from recollect.errors import Damaged
from recollect.redact import Gate
from talk import Open, Raw, exchange, texts

LETTERS = string.ascii_letters + string.digits
draw = random.Random(4)


def noise(length: int) -> str:
    return "".join(draw.choice(LETTERS) for _ in range(length))


TOKEN, OTHER, PASSWORD = "ghp_" + noise(36), "glpat-" + noise(20), noise(18)
AZURE = f"{noise(3)}8Q~{noise(34)}"  # of an exact length: no pattern knows the half of it
URL = f"https://bot:{PASSWORD}@git.example.com/x"
SECRETS = (TOKEN, OTHER, PASSWORD)


def stored(backend: str, url: str, raw: Raw) -> bytes:
    if backend == "sqlite":
        return b"\n".join(f.read_bytes() for f in Path(url).parent.rglob("*") if f.is_file())
    tables = raw("select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'recollect'")
    return "\n".join(row[0] for (table,) in tables for row in raw(f"select t::text from {table} t")).encode()


def parts(secret: str) -> list[str]:
    return [secret[i : i + 10] for i in range(4, len(secret) - 10, 2)]


def left(held: bytes | str, *secrets: str) -> list[str]:
    held = held if isinstance(held, bytes) else held.encode()
    return [secret for secret in secrets or SECRETS if any(part.encode() in held for part in parts(secret))]


def careless(open_store: Open, **settings: Any) -> recollect.Store:
    """A store as it was before redaction."""
    return open_store(redact=False, background=False, **settings)


def places(found: recollect.Scan) -> list[tuple[str, int, tuple[str, ...]]]:
    return [(p.conversation_id, p.seq, p.families) for p in found.places]


def test_nothing_is_found_where_nothing_is(store: recollect.Store) -> None:
    assert store.scan() == recollect.Scan(0, (), False)
    store.append_many(store.create().id, exchange(5))
    assert store.scan() == recollect.Scan(5, (), False)
    assert store.scan(fix=True) == recollect.Scan(5, (), True)


def test_it_says_where_and_of_which_family_and_never_what(open_store: Open) -> None:
    before = careless(open_store)
    a, b = before.create("a", title="First"), before.create("b", title=f"About {TOKEN}", metadata={"x": [URL]})
    before.append_many(a.id, [{"role": "user", "text": "hi"}, {"role": "user", "text": f"{TOKEN} and {OTHER}"}])
    before.append(b.id, kind="tool_use", payload={"deep": [{OTHER: 1}]})
    for store in (before, open_store()):  # whoever asks is told, also where redaction is still off
        found = store.scan()
        assert places(found) == [
            ("a", 2, ("github-token", "gitlab-token")),
            ("b", 0, ("github-token", "url-password")),
            ("b", 1, ("gitlab-token",)),
        ]
        assert (found.events, found.fixed) == (3, False)
        assert left(repr(found)) == []
    assert before.read("a")[1].text == f"{TOKEN} and {OTHER}", "looking changes nothing"


EVENTS: list[dict[str, Any]] = [
    {"role": "user", "text": f"my token is {TOKEN}"},
    {"kind": "tool_use", "role": TOKEN, "tool": TOKEN, "path": URL, "payload": {TOKEN: [{"a": {"b": OTHER}}], "n": 1}},
    {"kind": "event", "name": TOKEN, "agent": OTHER, "tags": [TOKEN, "kept"], "model": TOKEN},
    {"kind": "ledger", "task_id": TOKEN, "goal": URL, "status": OTHER},
    {"kind": "artifact", "path": f"src/{TOKEN}", "diff": f"+{OTHER}", "text": URL},
    {"role": "assistant", "text": "ok", "key": TOKEN, "reasoning": f"with {OTHER}"},
]


def test_fixed_is_as_if_it_had_been_written_today(open_store: Open, backend: str, url: str, raw: Raw) -> None:
    before = careless(open_store)
    c = before.create("a", title=f"About {TOKEN}", workspace=f"/home/{OTHER}", workflow_id=OTHER, metadata={"u": URL})
    for entry in EVENTS:
        before.append(c.id, **entry)
    assert left(stored(backend, url, raw)) == list(SECRETS), "the test would prove nothing"
    before.close()
    store = open_store()
    found = store.scan(fix=True)
    assert found.fixed
    assert [p.seq for p in found.places] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert left(stored(backend, url, raw)) == []
    assert left(repr(store.read("a")) + repr(store.get("a"))) == []
    assert store.verify().ok
    today = store.create("b", title=f"About {TOKEN}", workspace=f"/home/{OTHER}", metadata={"u": URL})
    for entry in EVENTS:
        store.append(today.id, **entry)
    fixed, written = store.read("a"), store.read("b")
    for old, new in zip(fixed, written, strict=True):
        for field in (
            "kind",
            "role",
            "text",
            "name",
            "tool",
            "path",
            "agent",
            "status",
            "task_id",
            "payload",
            "model",
            "key",
        ):
            assert getattr(old, field) == getattr(new, field), (old.seq, field)
        assert set(old.tags) == set(new.tags) or old.key
    assert fixed[2].tags == ("[redacted:github-token]", "kept", "sensitive")
    a, b = store.get("a"), store.get("b")
    assert (a.title, a.workspace, a.metadata) == (b.title, b.workspace, b.metadata)
    assert str(a.workflow_id).startswith("redacted:")


def test_what_came_through_the_gate_has_nothing_left(store: recollect.Store) -> None:
    """Whatever was found once, with whatever around it, in whatever field: a second look finds nothing."""
    for labelled in [secret.text for secret in secrets()][::3] + [clean.text for clean in not_secrets()][::6]:
        c = store.create(metadata={"note": labelled}, workspace=labelled[:400].strip() or None)
        store.append(c.id, role="user", text=labelled, payload={"a": [labelled], "b": {"c": labelled}}, tags=[labelled])
    assert store.scan().places == ()


def test_twice_is_once(open_store: Open) -> None:
    before = careless(open_store)
    c = before.create(title=TOKEN)
    for entry in EVENTS:
        before.append(c.id, **entry)
    store = open_store()
    assert store.scan(fix=True).places
    events, conversation = store.read(c.id), store.get(c.id)
    assert store.scan() == recollect.Scan(7, (), False)
    assert store.scan(fix=True) == recollect.Scan(7, (), True)
    assert (store.read(c.id), store.get(c.id)) == (events, conversation)


def test_what_was_fixed_goes_on(open_store: Open) -> None:
    """The same key and the same workspace still mean the same."""
    before = careless(open_store)
    c = before.create(workspace=f"/home/{TOKEN}")
    first = before.append(c.id, role="user", text="once", key=TOKEN)
    store = open_store()
    store.scan(fix=True)
    assert store.append(c.id, role="user", text="twice", key=TOKEN).seq == first.seq
    assert [x.id for x in store.conversations(workspace=f"/home/{TOKEN}")] == [c.id]
    assert store.append(c.id, role="user", text="next").seq == 2


def test_every_branch_and_the_bin(open_store: Open) -> None:
    before = careless(open_store)
    c, binned = before.create("a").id, before.create("b").id
    before.append_many(c, exchange(3))
    before.fork(c, 2, name="idea", switch=True)
    before.append(c, role="user", text=TOKEN)
    before.fork(c, 1, name="older")
    before.append(c, role="user", text=OTHER, branch="older")
    before.append(binned, role="user", text=URL)
    before.delete(binned)
    store = open_store()
    found = store.scan(fix=True)
    assert places(found) == [
        ("a", 4, ("github-token",)),
        ("a", 5, ("gitlab-token",)),
        ("b", 0, ("url-password",)),  # its title was the message
        ("b", 1, ("url-password",)),
    ]
    store.restore(binned)
    assert texts(store.read(c, branch="idea"))[-1] == "[redacted:github-token]"
    assert texts(store.read(c, branch="older"))[-1] == "[redacted:gitlab-token]"
    assert left(repr(store.read(binned)) + repr(store.get(binned))) == []
    assert store.verify().ok


def test_more_than_a_page(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "PAGE", 7)
    before = careless(open_store)
    for _ in range(3):
        c = before.create(title="x").id
        before.append_many(c, [{"role": "user", "text": TOKEN if i % 10 == 0 else "hi"} for i in range(30)])
        before.delete_event(c, 12)
    store = open_store()
    heard: list[tuple[str, int, int]] = []
    found = store.scan(fix=True, progress=lambda *report: heard.append(report))
    assert found.events == 87
    assert [p.seq for p in found.places] == [1, 11, 21] * 3
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)
    assert {total for _, _, total in heard} == {90}
    assert heard[-1][0] == "events"
    assert not store.scan().places


def test_others_are_untouched(open_store: Open) -> None:
    before = careless(open_store)
    mine, hers = before.create("a").id, before.for_user("kim").create("a").id
    before.append(mine, role="user", text=TOKEN)
    before.for_user("kim").append(hers, role="user", text=TOKEN)
    store = open_store()
    store.scan(fix=True)
    kim = store.for_user("kim")
    assert texts(kim.read(hers)) == [TOKEN]
    assert texts(store.read(mine)) == ["[redacted:github-token]"]
    assert [p.seq for p in kim.scan(fix=True).places] == [0, 1]
    assert texts(kim.read(hers)) == ["[redacted:github-token]"]


# -- what was made from messages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [TOKEN, AZURE], ids=["github", "azure"])
@pytest.mark.parametrize("words", range(14))
def test_a_title_that_cut_a_secret_in_two(open_store: Open, words: int, secret: str) -> None:
    before = careless(open_store)
    c = before.create().id
    before.append(c, role="user", text=f"{'word ' * words}{secret} is my token")
    store = open_store()
    store.scan(fix=True)
    title = store.get(c).title or ""
    assert not any(secret[:n] in title for n in range(7, len(secret)))
    assert title.startswith(("word " * min(words, 11)).rstrip() or "[redacted:")
    assert not store.scan().places
    store.clear(c)
    assert store.get(c).title is None, "it goes with the message it came from"


@pytest.mark.parametrize("margin", ["\n", "\n    ", "\n> "])
def test_a_memory_whose_lines_were_joined_before_anybody_looked(open_store: Open, margin: str) -> None:
    before = careless(open_store)
    token = "ghp_" + noise(36)
    held = before.remember(f"Prefers {token[:20]}{margin}{token[20:]}")
    before.revise(held, content=f"Uses {token[:20]}{margin}{token[20:]}")
    before.create("a", title=f"About {token[:20]}{margin}{token[20:]}")
    store = open_store()
    assert {f for place in store.scan(fix=True).places for f in place.families} == {"github-token"}
    everything = repr([*store.memories(state=None), store.get("a")])
    assert left(everything, token) == []
    assert store.scan().places == ()


def test_a_sentence_is_no_row_of_lines() -> None:
    """Its words are looked at as lines, and stay words."""
    gate = Gate()
    for text in {" ".join(sample.text.split()) for sample in not_secrets() if len(sample.text) <= 400}:
        assert scanning._line(text, gate.another()) == gate.another().text(text)


def test_a_title_of_ones_own_stays(open_store: Open) -> None:
    before = careless(open_store)
    c = before.create(title="Deploying").id
    before.append(c, role="user", text=TOKEN)
    store = open_store()
    assert [p.seq for p in store.scan(fix=True).places] == [1]
    assert store.get(c).title == "Deploying"


def test_summaries_and_their_points(open_store: Open, backend: str, url: str, raw: Raw) -> None:
    jwt = f"eyJ{noise(30)}.{noise(200)}.{noise(43)}"
    before = careless(open_store, summary_keep_recent=1)
    c = before.create(title="x").id
    before.append_many(c, [
        {"role": "user", "text": f"We use {TOKEN} for this. I prefer tea."},
        {"role": "assistant", "text": f"{jwt} it is"},
        {"role": "user", "text": "Hm. " * 993 + f"We use {AZURE} and so on"},
        {"role": "assistant", "text": f"We decided on {URL}."},
        {"role": "user", "text": "bye"},
    ])  # fmt: skip
    first = before.summarize(c)
    before.append_many(c, exchange(4))
    second = before.summarize(c)
    assert first and second
    made = (TOKEN, PASSWORD, AZURE, jwt)
    assert left(repr(second), *made) == list(made), "the test would prove nothing"
    before.close()
    store = open_store(summary_keep_recent=1)
    found = store.scan(fix=True)
    assert {first.seq, second.seq} <= {p.seq for p in found.places}
    assert left(stored(backend, url, raw), *made) == []
    fixed = store.read(c, kinds=["summary"])[-1]
    assert "I prefer tea" in fixed.text
    assert "[redacted:github-token]" in fixed.text
    assert any("[redacted:github-token]" in point for _, point in fixed.payload["points"])
    assert "sensitive" in fixed.tags
    assert (fixed.message, fixed.payload["count"], fixed.payload["covers"]) == (
        second.message, second.payload["count"], second.payload["covers"],
    )  # fmt: skip
    assert store.verify().ok
    store.append_many(c, exchange(4))
    assert store.summarize(c), "it can still be folded into the next"
    assert not store.scan().places


def test_what_a_model_made_of_a_password(open_store: Open) -> None:
    """In the message it was known by its context; in the summary only by its value."""
    before = careless(open_store, summary_keep_recent=0, model=lambda _: "The user logs in as bot / Tr0ub4dor&3x.")
    c = before.create(title="x").id
    before.append_many(
        c, [{"role": "user", "text": "my password is Tr0ub4dor&3x"}, {"role": "assistant", "text": "thanks"}]
    )
    assert before.summarize(c)
    store = open_store()
    store.scan(fix=True)
    assert "Tr0ub4dor" not in repr(store.read(c))
    assert store.verify().ok


# -- what is not an event --------------------------------------------------------------------------------------------------


def test_ids_and_branch_names_become_hashes(open_store: Open, backend: str, url: str, raw: Raw) -> None:
    before = careless(open_store)
    before.create(TOKEN, title="Mine")
    before.append(TOKEN, role="user", text="hi")
    before.fork(TOKEN, name=OTHER, switch=True)
    before.append(TOKEN, role="user", text="there")
    before.close()
    store = open_store()
    found = store.scan()
    assert left(repr(found)) == []
    assert places(found) == [(found.places[0].conversation_id, 0, ("github-token", "gitlab-token"))]
    assert store.scan(fix=True).places == found.places
    (c,) = store.conversations()
    assert c.id == found.places[0].conversation_id
    assert c.title == "Mine"
    assert texts(store.read(c)) == ["hi", "there"]
    assert [b.name.split(":")[0] for b in store.branches(c)] == ["main", "redacted"]
    assert left(stored(backend, url, raw)) == []
    assert store.verify().ok
    assert not store.scan().places


def test_failed_jobs_and_receipts(open_store: Open, backend: str, url: str, raw: Raw) -> None:
    """They hold nobody's words any more, redacted or not; those of earlier versions do."""

    def handler(user: str, key: str) -> None:
        raise RuntimeError(f"cannot reach {URL}")

    before = careless(open_store)
    before._handlers["summarize"] = handler
    c = before.create("a").id
    before.append_many(c, exchange(22))
    before.settle()
    assert PASSWORD not in before.stats().job_errors[0]
    before.create(TOKEN)
    before.erase(conversation=TOKEN)
    assert TOKEN not in repr(before.receipts())
    before._db.write(
        before.user,
        lambda tx: tx.run(
            "update jobs set last_error = :said where user_no = :user and kind = 'summarize'",
            said=f"cannot reach {URL}",
        ),
    )
    assert PASSWORD in before.stats().job_errors[0]
    before.close()
    store = open_store(background=False)
    found = store.scan(fix=True)
    assert [(seq, families) for _, seq, families in places(found)] == [(0, ("url-password",))]
    assert found.places[0].conversation_id == "a"
    assert "https://bot:[redacted:url-password]@git.example.com/x" in store.stats().job_errors[0]
    assert left(stored(backend, url, raw)) == []
    assert not store.scan().places
    assert store.settle() == 1, "the job is tried again"


def test_settings_say_what_is_a_secret(open_store: Open) -> None:
    before = careless(open_store)
    c = before.create("a", title="x").id
    before.append_many(c, [{"role": "user", "text": text} for text in (TOKEN, OTHER, "badge ACME-12")])
    store = open_store(redact_off=["github-token"], redact_patterns={"acme": r"ACME-\d+"})
    assert places(store.scan(fix=True)) == [("a", 2, ("gitlab-token",)), ("a", 3, ("acme",))]
    assert texts(store.read(c)) == [TOKEN, "[redacted:gitlab-token]", "badge [redacted:acme]"]


# -- while others work -----------------------------------------------------------------------------------------------------


def test_nothing_that_is_written_meanwhile_is_lost(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "PAGE", 20)
    before = careless(open_store)
    made = [before.create(f"c{i}").id for i in range(5)]
    for c in made:
        before.append_many(c, [{"role": "user", "text": f"{TOKEN} number {i}"} for i in range(40)])
    store, other = open_store(), open_store()
    stop, written = threading.Event(), list[tuple[str, int, str]]()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            c = made[n % 5]
            written.append((c, other.append(c, role="user", text=f"meanwhile {n}").seq, f"meanwhile {n}"))
            if n % 7 == 0:
                other.rename(c, f"Renamed {n}")
            if n % 11 == 0:
                other.delete_event(c, n % 40 + 1) if n % 40 + 1 not in gone[c] else None
                gone[c].add(n % 40 + 1)

    gone: dict[str, set[int]] = {c: set() for c in made}
    writer = threading.Thread(target=write)
    writer.start()
    try:
        rounds = 0
        while rounds < 3 or (len(written) <= 3 and writer.is_alive()):
            store.scan(fix=True)
            rounds += 1
    finally:
        stop.set()
        writer.join()
    assert len(written) > 3
    for c, seq, text in written:
        assert store.read(c, after=seq - 1, limit=1)[0].text == text
    for c in made:
        assert left(repr(store.read(c)) + repr(store.get(c))) == []
        assert {e.seq for e in store.read(c)}.isdisjoint(gone[c])
    assert store.verify().ok


def test_a_title_given_meanwhile_stands(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    before = careless(open_store)
    c = before.create(title=f"About {TOKEN}", metadata={"u": URL}).id
    store, other = open_store(), open_store()
    real, tries = scanning._replace, list[bool]()

    def late(*args: Any) -> bool:
        if not tries:
            other.rename(c, "Renamed")
        tries.append(real(*args))
        return tries[-1]

    monkeypatch.setattr(scanning, "_replace", late)
    store.scan(fix=True)
    assert tries == [False, True]
    assert store.get(c).title == "Renamed"
    assert store.get(c).metadata == {"u": "https://bot:[redacted:url-password]@git.example.com/x"}


def test_what_was_erased_meanwhile_stays_erased(open_store: Open) -> None:
    before = careless(open_store)
    a, b = before.create("a").id, before.create("b").id
    for c in (a, b):
        before.append(c, role="user", text=TOKEN)
    store, other = open_store(), open_store()

    def erase(*report: Any) -> None:
        if store.conversations(limit=9)[-1].id == "a":
            other.erase(conversation="a")

    assert {p.conversation_id for p in store.scan(fix=True, progress=erase).places} >= {"b"}
    assert [c.id for c in store.conversations()] == ["b"]
    assert store.verify().ok


def test_a_damaged_row_is_said_and_not_skipped(open_store: Open, raw: Raw) -> None:
    store = open_store()
    c = store.create().id
    store.append(c, kind="note", payload={"a": 1})
    raw("update events set payload = '{' where seq = 1")
    with pytest.raises(Damaged, match="Event 1"):
        store.scan()


async def test_from_async_code(url: str) -> None:
    with recollect.open(url, user="alex", redact=False) as before:
        before.append(before.create("a", title="x").id, role="user", text=TOKEN)
    async with await recollect.open_async(url, user="alex") as store:
        found = await store.scan(fix=True)
        assert json.dumps(places(found)) == json.dumps([["a", 1, ["github-token"]]])
        assert texts(await store.read("a")) == ["[redacted:github-token]"]
