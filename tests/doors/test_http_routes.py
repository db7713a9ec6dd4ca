"""Every route of the sidecar, on both databases: what it answers, and that it looks from a workspace."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sidecar import TOKEN, Sidecar, running

import recollect
from recollect.search import find
from recollect.server import recorder


@pytest.fixture
def sidecar(url: str) -> Iterator[Sidecar]:
    with recollect.open(url, user="alex", semantic=False, background=False) as store, running(store) as made:
        yield made


@pytest.fixture
def two(sidecar: Sidecar) -> Sidecar:
    """A session in each of two workspaces, and one in none."""
    for session, workspace in (("a", "/w1"), ("b", "/w2"), ("c", None)):
        said = {"type": "prompt", "session_id": session, "content": f"the zebra of {session}"}
        sent = said if workspace is None else {**said, "workspace": workspace}
        assert sidecar.ask("POST", "/memory/record", sent).status == 200
    return sidecar


def test_a_record_creates_its_session_and_is_stored(sidecar: Sidecar) -> None:
    sent = {
        "type": "tool_use", "session_id": "s/1", "workspace": "/repo", "tool": "Write", "path": "a.py", "content": "x = 1",
        "tags": ["build"], "metadata": {"lines": 1}, "agent": "coder", "duration_ms": 3, "key": "k1",
    }  # fmt: skip
    got = sidecar.ask("POST", "/memory/record", sent).json
    assert (got["id"], got["seq"], got["stored"]) == ("s/1:1", 1, True)
    again = sidecar.ask("POST", "/memory/record", sent).json
    assert again["id"] == "s/1:1", "the same key is the same record"
    (event,) = sidecar.store.read("s/1")
    assert (event.kind, event.tool, event.path, event.text) == ("tool_use", "Write", "a.py", "x = 1")
    assert (event.tags, event.payload, event.agent, event.duration_ms) == (("build",), {"lines": 1}, "coder", 3)
    made = sidecar.store.get("s/1")
    assert (made.workspace, made.origin) == ("/repo", "http")


@pytest.mark.parametrize("patience", [300.0, 0.02], ids=["the question goes first", "but not for ever"])
def test_what_is_recorded_lets_a_question_go_first(
    sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr(recorder, "ASIDE_SECONDS", patience)
    real, searching, recorded = find.search, threading.Event(), threading.Event()

    def slow(*args: Any) -> Any:
        searching.set()
        # Long enough to be overtaken; or until it was.
        recorded.wait(2.0 if patience > 1 else 60.0)
        found = real(*args)
        answered.append(time.monotonic())
        return found

    answered: list[float] = []
    monkeypatch.setattr(find, "search", slow)
    asking = threading.Thread(target=sidecar.ask, args=("GET", "/memory/search?q=zebra"))
    asking.start()
    assert searching.wait(60)
    sent = {"type": "prompt", "session_id": "s", "content": "meanwhile"}
    assert sidecar.ask("POST", "/memory/record", sent).json["stored"]
    was_first = bool(answered)
    recorded.set()
    asking.join(60)
    assert was_first is (patience > 1)
    assert [e.text for e in sidecar.store.read("s")] == ["meanwhile"]


@pytest.mark.parametrize("end", ["a fifth", "a question"])
def test_a_crowd_gathers_until_enough_are_there_or_somebody_asks(
    sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(recorder, "GATHER_SECONDS", 300.0)
    real, batches, writing, go_on = sidecar.store._append_each, list[int](), threading.Event(), threading.Event()

    def slow(requests: list[Any]) -> Any:
        batches.append(len(requests))
        writing.set()
        assert go_on.wait(60)
        return real(requests)

    monkeypatch.setattr(sidecar.store, "_append_each", slow)
    queue, arrived = recorder.Recorder.add, list[int]()

    def counted(self: recorder.Recorder, requests: list[Any]) -> Any:
        arrived.append(1)
        return queue(self, requests)

    monkeypatch.setattr(recorder.Recorder, "add", counted)

    def send(content: str) -> threading.Thread:
        said = {"type": "prompt", "session_id": "s", "content": content}
        sender = threading.Thread(target=sidecar.ask, args=("POST", "/memory/record", said))
        sender.start()
        return sender

    senders = [send("zebra, alone")]
    assert writing.wait(60), "a lone record waits for nobody"
    senders += [send(f"zebra {n}") for n in range(recorder.ENOUGH - 1)]
    until = time.monotonic() + 60
    while len(arrived) < len(senders):
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.1)
    go_on.set()
    senders[0].join(60)
    time.sleep(0.2)
    assert batches == [1], "the others wait for more of them"
    if end == "a fifth":
        senders.append(send("zebra, the last"))
    else:
        assert len(sidecar.ask("GET", "/memory/search?q=zebra").json["hits"]) == recorder.ENOUGH
    for sender in senders:
        sender.join(60)
    assert batches == [1, len(senders) - 1]
    assert len(sidecar.store.read("s")) == len(senders)


def test_a_type_is_a_kind_and_a_role(sidecar: Sidecar) -> None:
    types = {
        "prompt": ("message", "user"), "assistant": ("message", "assistant"), "system": ("message", "system"),
        "tool_result": ("tool_result", None), "approval": ("approval", None), "error": ("error", None),
        "note": ("note", None), "reasoning": ("reasoning", None),
    }  # fmt: skip
    for type in types:
        sidecar.ask("POST", "/memory/record", {"type": type, "session_id": "s", "content": "x"})
    assert [(e.kind, e.role) for e in sidecar.store.read("s")] == list(types.values())
    shown = sidecar.ask("GET", "/memory/replay?session_id=s").json["events"]
    assert [e["type"] for e in shown] == list(types)


def test_a_batch_is_answered_in_its_order_and_one_bad_session_fails_alone(sidecar: Sidecar) -> None:
    sidecar.store.delete(sidecar.store.create("gone"))
    records = [{"type": "note", "session_id": f"s{i % 3}", "content": str(i)} for i in range(9)]
    records.insert(4, {"type": "note", "session_id": "gone", "content": "no"})
    got = sidecar.ask("POST", "/memory/record", {"records": records}).json
    assert got["failed"] == 1
    assert [r["session_id"] for r in got["records"]] == [r["session_id"] for r in records]
    assert got["records"][4]["error"]["code"] == "deleted"
    assert [e.text for e in sidecar.store.read("s0")] == ["0", "3", "6"]


def test_what_the_store_refuses_is_an_error_of_one_shape(sidecar: Sidecar) -> None:
    for sent, status, code in (
        ({"type": "ledger", "session_id": "s", "content": "no task"}, 400, "invalid_input"),
        ({"type": "event", "session_id": "s"}, 400, "invalid_input"),
        ({"type": "prompt", "session_id": "s", "content": "x", "branch": "none"}, 404, "not_found"),
        ({"type": "prompt"}, 422, "invalid_request"),
        ({"type": "nonsense", "session_id": "s"}, 422, "invalid_request"),
        ({"type": "prompt", "session_id": "s", "contents": "misspelt"}, 422, "invalid_request"),
        ({"records": []}, 422, "invalid_request"),
        ([], 422, "invalid_request"),
        (b"{", 422, "invalid_request"),
        (b"\xff\xfe", 422, "invalid_request"),
        (b'{"type":"prompt","session_id":"s","metadata":{"x":NaN}}', 422, "invalid_request"),
    ):
        got = sidecar.ask("POST", "/memory/record", sent)
        assert (got.status, got.code) == (status, code), sent
    assert sidecar.store.conversations() == [], "what is refused makes no session"


def test_an_error_names_what_a_client_can_do_and_not_what_python_can(sidecar: Sidecar) -> None:
    sidecar.store.create("there")
    sidecar.store.create("binned")
    sidecar.store.delete("binned")
    for method, path, said in (
        ("GET", "/memory/replay?session_id=no", "There is no session 'no'. `GET /memory/conversations` lists them, "
         "`POST /memory/record` makes one."),
        ("GET", "/memory/replay?session_id=conversation%20%27a", "There is no session \"conversation 'a\". "),
        ("GET", "/memory/replay?session_id=binned", "Session 'binned' was deleted. `recollect restore` on the sidecar's "
         "machine brings it back."),
        ("GET", "/memory/replay?session_id=there&branch=x", "Session 'there' has no branch 'x'. `GET /memory/branches`"),
        ("DELETE", "/memory/record/zz", "There is no memory 'zz'. `GET /memory/memories` lists them."),
        ("GET", "/memory/nowhere", "GET /openapi.json lists them"),
        ("GET", "/v1/conversations", "They begin with /memory/"),
        ("GET", "/memory/record", "This route takes POST."),
    ):  # fmt: skip
        got = sidecar.ask(method, path)
        assert said in got.json["error"]["message"], (path, got.json)


def test_a_refused_record_leaves_no_empty_session(sidecar: Sidecar) -> None:
    """Neither alone nor beside one that is fine."""
    bad: list[dict[str, Any]] = [
        {"type": "reasoning", "session_id": "ghost", "message": 5, "content": "x"},
        {"type": "artifact", "session_id": "ghost", "workspace": "/repo", "path": "../../etc/passwd", "content": "x"},
    ]
    for record in bad:
        assert sidecar.ask("POST", "/memory/record", record).status == 400
        both = {"records": [record, {"type": "prompt", "session_id": "fine", "content": "hello"}]}
        answer = sidecar.ask("POST", "/memory/record", both).json
        assert (answer["failed"], answer["records"][1]["stored"]) == (1, True)
    assert [c.id for c in sidecar.store.conversations()] == ["fine"]
    assert sidecar.store.get("fine").last_seq == 2
    good = {"type": "artifact", "session_id": "new", "workspace": "/repo", "path": "/repo/a.md", "content": "x"}
    assert sidecar.ask("POST", "/memory/record", good).json["stored"]
    assert (sidecar.store.read("new")[0].path, sidecar.store.get("new").workspace) == ("a.md", "/repo")
    first = {"type": "prompt", "session_id": "newer", "workspace": "/repo", "content": "hello"}
    then = {"type": "artifact", "session_id": "newer", "path": "/repo/a.md", "content": "x"}
    assert sidecar.ask("POST", "/memory/record", {"records": [first, then]}).json["failed"] == 0
    assert sidecar.store.read("newer")[1].path == "a.md"


def test_the_longest_session_has_records_that_can_be_pinned(sidecar: Sidecar) -> None:
    id = sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "x" * 256, "content": "a"}).json["id"]
    assert sidecar.ask("POST", "/memory/pin", {"id": id}).status == 200
    assert sidecar.ask("POST", "/memory/unpin", {"id": id}).status == 200


def test_of_an_erased_session_it_says_what_can_be_done_over_http(sidecar: Sidecar) -> None:
    record = {"type": "prompt", "session_id": "s", "content": "a"}
    sidecar.ask("POST", "/memory/record", record)
    sidecar.ask("POST", "/memory/forget", {"session_id": "s"})
    alone = sidecar.ask("POST", "/memory/record", record)
    (beside,) = sidecar.ask("POST", "/memory/record", {"records": [record]}).json["records"]
    assert (alone.status, alone.code) == (404, "not_found")
    for said in (alone.json["error"]["message"], beside["error"]["message"]):
        assert "was erased" in said and "another session_id" in said and "create(" not in said
    assert sidecar.ask("POST", "/memory/record", {**record, "again": True}).json["id"] == "s:1"
    assert sidecar.ask("POST", "/memory/record", record).json["id"] == "s:2", "it goes on as any other"


def test_an_error_does_not_repeat_a_secret(sidecar: Sidecar) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    for sent in ({"type": secret, "session_id": "s"}, {"type": "note", "session_id": secret, "content": "x"}):
        got = sidecar.ask("POST", "/memory/record", sent)
        assert got.status in (400, 422)
        assert secret.encode() not in got.body
    sidecar.ask("POST", "/memory/record", {"type": "note", "session_id": "s", "content": f"use {secret}"})
    assert secret not in sidecar.store.read("s")[0].text


def test_search_finds_records_and_facts(sidecar: Sidecar) -> None:
    before = int(time.time() * 1000) - 60_000
    sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": "The heron is blue."})
    sidecar.ask("POST", "/memory/remember", {"content": "Herons are birds", "kind": "fact"})
    got = sidecar.ask("GET", "/memory/search?q=heron&k=5").json
    assert {h["type"] for h in got["hits"]} == {"record", "fact"} and got["took_ms"] >= 0
    assert [h["type"] for h in sidecar.ask("GET", "/memory/search?q=heron&type=facts").json["hits"]] == ["fact"]
    assert [h["id"] for h in sidecar.ask("GET", "/memory/search?q=heron&type=records").json["hits"]] == ["s:1"]
    assert sidecar.ask("GET", f"/memory/search?q=heron&since={before}").json["hits"]
    assert sidecar.ask("GET", "/memory/search?q=heron&since=2199-01-01T00:00Z").json["hits"] == []
    assert sidecar.ask("GET", "/memory/search?q=heron&since=tomorrow").code == "invalid_input"
    assert len(sidecar.ask("GET", "/memory/search?q=heron&k=1").json["hits"]) == 1
    assert sidecar.ask("GET", "/memory/search").code == "invalid_request"


def test_a_time_that_cannot_be_one_is_told_to_be_in_milliseconds(sidecar: Sidecar) -> None:
    record = {"type": "prompt", "session_id": "s1", "content": "Use tabs."}
    for name in ("ts", "created_at"):
        for wrong in (1738112345, 1738112345123456, 0):
            refused = sidecar.ask("POST", "/memory/record", {**record, name: wrong})
            assert refused.status == 422 and "milliseconds since 1970" in refused.body.decode()
    assert sidecar.ask("POST", "/memory/record", {**record, "ts": 1738112345123}).status == 200


def test_a_workspace_is_the_same_with_a_slash_at_its_end(sidecar: Sidecar) -> None:
    record = {"type": "prompt", "session_id": "s1", "content": "A heron.", "workspace": "/repo/"}
    sidecar.ask("POST", "/memory/record", record)
    assert sidecar.store.get("s1").workspace == "/repo"
    for place in ("%2Frepo", "%2Frepo%2F"):
        assert len(sidecar.ask("GET", f"/memory/search?q=heron&workspace={place}").json["hits"]) == 1


def test_metadata_says_that_a_record_is_sensitive(sidecar: Sidecar) -> None:
    record = {"type": "prompt", "session_id": "s1", "content": "A heron.", "tags": ["bird"]}
    sidecar.ask("POST", "/memory/record", {**record, "metadata": {"sensitive": True}})
    sidecar.ask("POST", "/memory/record", {**record, "metadata": {"sensitive": False}})
    assert [e.tags for e in sidecar.store.read("s1")] == [("bird", "sensitive"), ("bird",)]


def test_a_record_in_its_own_shape_is_taken_read_and_deleted_by_its_own_id(sidecar: Sidecar) -> None:
    record = {
        "id": "6f1c", "ts": 1738112345123, "type": "tool_use", "session_id": "default", "workspace": "/repo", "tool": "Write",
        "path": "docs/README.md", "content": "Applied patch to README", "tags": ["transmute", "write"],
        "metadata": {"cost": {"total": 0.0023, "currency": "USD"}},
    }  # fmt: skip
    first, again = (sidecar.ask("POST", "/memory/record", record).json for _ in range(2))
    assert first["id"] == again["id"] == "default:1" and first["created_at"] == 1738112345123
    for id in ("default:1", "6f1c"):
        got = sidecar.ask("GET", f"/memory/record/{id}").json
        for name in ("type", "session_id", "workspace", "tool", "path", "content", "tags", "metadata"):
            assert got[name] == record[name], name
        assert (got["id"], got["key"], got["created_at"]) == ("default:1", "6f1c", 1738112345123)
    assert sidecar.ask("GET", "/memory/record/6f1c?workspace=%2Fother").status == 404
    assert sidecar.ask("POST", "/memory/pin", {"id": "6f1c"}).json["id"] == "6f1c"
    assert sidecar.store.pins("default") == [1]
    twice = {**record, "key": "another"}
    assert sidecar.ask("POST", "/memory/record", twice).status == 422
    sidecar.ask("POST", "/memory/record", {**record, "session_id": "other"})
    assert sidecar.ask("DELETE", "/memory/record/6f1c").code == "invalid_input", "which of the two is meant?"
    sidecar.ask("DELETE", "/memory/record/other:1")
    assert sidecar.ask("DELETE", "/memory/record/6f1c").status == 200
    assert sidecar.ask("GET", "/memory/record/default:1").status == 404
    fact = sidecar.ask("POST", "/memory/remember", {"content": "Likes tea", "tags": ["drink"]}).json
    assert sidecar.ask("GET", f"/memory/record/{fact['id']}").json["tags"] == ["drink"]


def test_a_hit_says_where_it_is_from_and_what_belongs_to_it(sidecar: Sidecar) -> None:
    record = {
        "type": "tool_use", "session_id": "s", "workspace": "/repo", "tool": "Write", "path": "herons.md",
        "content": "The heron is blue.", "tags": ["bird"], "metadata": {"lines": 1},
    }  # fmt: skip
    sidecar.ask("POST", "/memory/record", record)
    sidecar.ask("POST", "/memory/remember", {"content": "Herons are birds", "workspace": "/repo", "tags": ["bird"]})
    hits = {h["type"]: h for h in sidecar.ask("GET", "/memory/search?q=heron").json["hits"]}
    for name in ("workspace", "tool", "path", "tags", "metadata"):
        assert hits["record"][name] == record[name], name
    assert (hits["fact"]["workspace"], hits["fact"]["tags"], hits["fact"]["tool"]) == ("/repo", ["bird"], None)


def test_what_is_empty_or_not_known_finds_what_is_there_and_no_more(sidecar: Sidecar) -> None:
    sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": "The heron is blue."})
    assert sidecar.ask("GET", "/memory/search?q=heron&k=20&session_id=&workspace=&since=").json["hits"]
    assert sidecar.ask("GET", "/memory/search?q=heron&session_id=none").json["hits"] == []
    assert sidecar.ask("POST", "/memory/context", {"prompt": "heron?", "session_id": "none"}).json["items"]
    assert sidecar.ask("GET", "/memory/conversations?workspace=").json["conversations"]


def test_where_nothing_is_about_a_question_the_answer_says_so(url: str) -> None:
    with recollect.open(url, user="alex", background=False) as store, running(store) as sidecar:
        for text in ("The heron is blue.", "We painted the fence.", "Lunch was good."):
            sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": text})
        store.settle()
        assert len(store.search("quantum chromodynamics", limit=3)) == 3, "something is always nearest"
        got = sidecar.ask("GET", "/memory/search?q=quantum+chromodynamics&k=3").json
        assert (got["hits"], got["note"]) == ([], "Nothing is about it.")
        assert "note" not in sidecar.ask("GET", "/memory/search?q=heron").json
        assert sidecar.ask("POST", "/memory/context", {"prompt": "quantum chromodynamics"}).json["note"]


def test_context_is_quoted_evidence(sidecar: Sidecar) -> None:
    sidecar.ask("POST", "/memory/remember", {"content": "Prefers tabs in Makefiles", "kind": "preference"})
    got = sidecar.ask("POST", "/memory/context", {"prompt": "tabs or spaces in Makefiles?", "budget": 200}).json
    assert "Prefers tabs" in got["text"] and 0 < got["tokens"] <= 200 and got["items"][0]["type"] == "fact"
    assert sidecar.ask("POST", "/memory/context", {"prompt": "tabs?", "budget": 0}).json["text"] == ""


def test_summarize_learns_from_a_session_now(sidecar: Sidecar) -> None:
    sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": "I prefer dark mode."})
    got = sidecar.ask("POST", "/memory/summarize?session_id=s").json
    assert got["added"] == 1
    (fact,) = sidecar.ask("GET", "/memory/memories").json["memories"]
    assert "dark mode" in fact["content"] and fact["provenance"]["session_id"] == "s"
    assert sidecar.ask("POST", "/memory/summarize?session_id=none").status == 404


def test_delete_pin_and_unpin_take_the_ids_that_search_gives(sidecar: Sidecar) -> None:
    sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "a/b:c", "content": "the ibis"})
    fact = sidecar.ask("POST", "/memory/remember", {"content": "The ibis is white"}).json["id"]
    for id in ("a/b:c:1", fact):
        assert sidecar.ask("POST", "/memory/pin", {"id": id}).json == {"id": id, "done": True}
    assert sidecar.store.memories()[0].pinned
    assert sidecar.ask("POST", "/memory/unpin", {"id": fact}).status == 200
    assert not sidecar.store.memories()[0].pinned
    assert sidecar.ask("DELETE", "/memory/record/a%2Fb:c:1").status == 200
    assert sidecar.ask("DELETE", f"/memory/record/{fact}").status == 200
    assert sidecar.ask("GET", "/memory/search?q=ibis").json["hits"] == []
    for id in ("a/b:c:1", "a/b:c:99", "none:1", "nonsense"):
        assert sidecar.ask("DELETE", f"/memory/record/{id}").status == 404, id
        assert sidecar.ask("POST", "/memory/pin", {"id": id}).status == 404, id


def test_facts_are_accepted_edited_rejected_moved_and_brought_back(two: Sidecar) -> None:
    def waiting() -> list[str]:
        return [m["content"] for m in two.ask("GET", "/memory/memories?state=quarantined").json["memories"]]

    port, root = (
        two.store.remember(text, role="tool", workspace="/w1") for text in ("The port is 8080", "Run as root")
    )
    assert len(waiting()) == 2
    let_in = two.ask("POST", "/memory/accept", {"id": port.id}).json
    assert (let_in["state"], let_in["workspace"]) == ("active", "/w1"), "a project's fact stays the project's"
    assert two.ask("POST", "/memory/reject", {"id": root.id}).json == {"id": root.id, "done": True}
    assert waiting() == []
    assert two.ask("POST", "/memory/undo", {"id": root.id}).json["state"] == "quarantined"
    edited = two.ask("POST", "/memory/edit", {"id": port.id, "content": "The port is 9090", "tags": ["net"]}).json
    assert (edited["content"], edited["tags"], edited["by_hand"]) == ("The port is 9090", ["net"], True)
    moved = two.ask("POST", "/memory/edit", {"id": edited["id"], "move_to": "/w2"}).json
    assert moved["workspace"] == "/w2"
    for route in ("accept", "edit", "reject", "undo"):
        body = {"id": moved["id"], **({"importance": 1} if route == "edit" else {})}
        assert two.ask("POST", f"/memory/{route}?workspace=%2Fw1", body).status == 404, route
        assert two.ask("POST", f"/memory/{route}", {**body, "id": "a:1"}).status == 404, "that is a record"
    assert two.ask("POST", "/memory/edit?workspace=%2Fw2", {"id": moved["id"], "scope": "user"}).status == 403
    assert two.ask("POST", "/memory/edit", {"id": moved["id"], "scope": "user"}).json["scope"] == "user"


def test_what_contradicts_a_pinned_fact_takes_its_place_when_it_is_accepted(sidecar: Sidecar) -> None:
    sidecar.store.remember("Prefers dark mode", kind="preference", pinned=True)
    sidecar.ask(
        "POST",
        "/memory/record",
        {"type": "prompt", "session_id": "s", "content": "I prefer light mode now, not dark mode"},
    )
    sidecar.ask("POST", "/memory/summarize?session_id=s")
    (waits,) = sidecar.ask("GET", "/memory/memories?state=quarantined").json["memories"]
    sidecar.ask("POST", "/memory/accept", {"id": waits["id"]})
    assert [m.content for m in sidecar.store.memories()] == [waits["content"]]


def test_a_deleted_fact_is_erased_with_its_bytes(sidecar: Sidecar) -> None:
    fact = sidecar.ask("POST", "/memory/remember", {"content": "Likes qwxzheron tea"}).json
    assert sidecar.ask("DELETE", f"/memory/record/{fact['id']}").status == 200
    assert sidecar.ask("GET", f"/memory/record/{fact['id']}").status == 404
    assert sidecar.ask("POST", "/memory/undo", {"id": fact["id"]}).status == 404
    location = sidecar.store.location
    if not location.startswith("postgresql"):
        files = [Path(location), Path(location + "-wal")]
        assert not any(b"qwxzheron" in f.read_bytes() for f in files if f.exists())


def test_what_had_a_secret_in_it_is_quoted_where_the_setting_says_so(url: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    for setting, is_there in ((False, False), (True, True)):
        with (
            recollect.open(url, user="alex", semantic=False, background=False, context_sensitive=setting) as store,
            running(store) as sidecar,
        ):
            record = {"type": "prompt", "session_id": "s", "content": f"The heron token is {secret}", "key": "k"}
            sidecar.ask("POST", "/memory/record", record)
            text = sidecar.ask("POST", "/memory/context", {"prompt": "heron token?"}).json["text"]
            assert ("heron" in text) is is_there and secret not in text
            never = sidecar.ask("POST", "/memory/context", {"prompt": "heron token?", "sensitive": False}).json
            assert "heron" not in never["text"]


def test_sessions_replay_branches_and_ledger(sidecar: Sidecar) -> None:
    for i in range(5):
        sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": f"m{i}"})
    sidecar.ask("POST", "/memory/record", {"type": "ledger", "session_id": "s", "task_id": "t", "content": "do it", "status": "open"})  # fmt: skip
    page = sidecar.ask("GET", "/memory/replay?session_id=s&after=1&limit=2").json
    assert ([e["seq"] for e in page["events"]], page["next"]) == ([2, 3], 3)
    assert sidecar.ask("GET", "/memory/replay?session_id=s&after=3").json["next"] is None
    assert [e["kind"] for e in sidecar.ask("GET", "/memory/replay?session_id=s&kinds=ledger").json["events"]] == [
        "ledger"
    ]
    assert sidecar.ask("GET", "/memory/replay?session_id=s&kinds=nonsense").code == "invalid_input"
    made = sidecar.ask("POST", "/memory/fork", {"session_id": "s", "at": 2, "name": "idea"}).json
    assert (made["name"], made["fork_seq"]) == ("idea", 2)
    assert sidecar.ask("POST", "/memory/fork", {"session_id": "s", "at": 2, "name": "idea"}).code == "already_exists"
    sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "s", "content": "else", "branch": "idea"})
    names = [b["name"] for b in sidecar.ask("GET", "/memory/branches?session_id=s").json["branches"]]
    assert names == ["main", "idea"]
    seqs = [e["seq"] for e in sidecar.ask("GET", "/memory/replay?session_id=s&branch=idea").json["events"]]
    assert seqs == [1, 2, 7]
    (task,) = sidecar.ask("GET", "/memory/ledger?session_id=s").json["tasks"]
    assert (task["task_id"], task["goal"], task["status"]) == ("t", "do it", "open")
    assert sidecar.ask("GET", "/memory/ledger?session_id=s&at=3").json["tasks"] == []
    listed = sidecar.ask("GET", "/memory/conversations").json["conversations"]
    assert [c["session_id"] for c in listed] == ["s"]
    assert sidecar.ask("GET", "/memory/conversation?session_id=s").json["last_seq"] == 7


def test_lists_are_paged(sidecar: Sidecar) -> None:
    for i in range(5):
        sidecar.store.create(f"s{i}")
        sidecar.store.remember(f"Statement number {i} of the list")
    for path, name, id in (("conversations", "conversations", "session_id"), ("memories", "memories", "id")):
        seen, cursor = [], ""
        while True:
            page = sidecar.ask("GET", f"/memory/{path}?limit=2{cursor}").json
            seen += [x[id] for x in page[name]]
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        assert len(seen) == len(set(seen)) == 5, path


def test_forget_leaves_nothing_of_a_session_or_a_workspace(two: Sidecar) -> None:
    two.store.remember("The zebra lives in w1", workspace="/w1")
    two.store.remember("Zebras are striped")
    two.store.delete(two.store.create("binned", workspace="/w1"))
    got = two.ask("POST", "/memory/forget", {"workspace": "/w1"}).json
    assert (got["sessions"], got["events"], got["memories"]) == (2, 1, 1)
    assert [c.id for c in two.store.conversations()] == ["c", "b"]
    assert [m.content for m in two.store.memories(state=None)] == ["Zebras are striped"]
    got = two.ask("POST", "/memory/forget", {"session_id": "b"}).json
    assert (got["sessions"], got["events"], len(got["receipts"])) == (1, 1, 1)
    assert two.ask("POST", "/memory/forget", {"session_id": "b"}).status == 404
    for wrong in ({}, {"session_id": "c", "workspace": "/w2"}):
        assert two.ask("POST", "/memory/forget", wrong).code == "invalid_input"


def test_stats_and_health(two: Sidecar) -> None:
    got = two.ask("GET", "/memory/stats?by=kind").json
    assert (got["user"], got["conversations"], got["events"], got["rows"][0]["key"]) == ("alex", 3, 3, "message")
    health = two.ask("GET", "/memory/health").json
    assert health["status"] == "ok" and health["version"] == recollect.__version__ and health["user"] == "alex"


def test_export_streams_what_import_brings_back(two: Sidecar, tmp_path: object) -> None:
    got = two.ask("GET", "/memory/export?format=jsonl")
    assert got.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line)["type"] for line in got.body.splitlines()].count("event") == 3
    markdown = two.ask("GET", "/memory/export?format=markdown&session_id=a")
    assert markdown.headers["content-type"].startswith("text/markdown") and b"zebra of a" in markdown.body
    ndjson = {"Content_Type": "application/x-ndjson"}
    assert two.ask("POST", "/memory/import", got.body, **ndjson).json["added"].get("events", 0) == 0
    with recollect.open(":memory:", user="alex", semantic=False) as other, running(other) as there:
        brought = there.ask("POST", "/memory/import", got.body, **ndjson).json
        assert (brought["added"]["events"], brought["trusted"]) == (3, False)
        # To trust an archive is for a person, at a terminal.
        assert there.ask("POST", "/memory/import?trust=true", got.body, **ndjson).status == 422
        assert there.ask("POST", "/memory/import", b"nonsense\n", **ndjson).status == 400
        assert [e.text for e in other.read("b")] == ["the zebra of b"]


# -- workspaces


def test_from_a_workspace_nothing_of_another_is_in_reach(two: Sidecar) -> None:
    """Every route that names a session, record or fact; and every list."""
    elsewhere = two.store.remember("The zebra of w2 sleeps", workspace="/w2").id
    own = two.store.remember("The zebra of b sleeps too", conversation="b").id
    from_w1 = "workspace=%2Fw1"
    for path in ("conversation", "replay", "branches", "ledger"):
        assert two.ask("GET", f"/memory/{path}?session_id=a&{from_w1}").status == 200, path
        for session in ("b", "c"):
            assert two.ask("GET", f"/memory/{path}?session_id={session}&{from_w1}").code == "not_found", path
    for session in ("b", "c"):
        assert two.ask("POST", f"/memory/summarize?session_id={session}&{from_w1}").status == 404
        assert two.ask("GET", f"/memory/search?q=zebra&session_id={session}&{from_w1}").json["hits"] == []
        told = two.ask("POST", f"/memory/context?{from_w1}", {"prompt": "zebra", "session_id": session}).json["text"]
        assert "of b" not in told and "of c" not in told
        assert two.ask("GET", f"/memory/export?session_id={session}&{from_w1}").status == 404
        assert two.ask("GET", f"/memory/memories?session_id={session}&{from_w1}").status == 404
        for path, body in (
            ("fork", {"session_id": session}),
            ("forget", {"session_id": session}),
            ("remember", {"content": "No", "session_id": session}),
        ):
            assert two.ask("POST", f"/memory/{path}?{from_w1}", body).status == 404, path
    for id in ("b:1", "c:1", elsewhere, own):
        for path in ("pin", "unpin"):
            assert two.ask("POST", f"/memory/{path}?{from_w1}", {"id": id}).status == 404, id
            assert two.ask("POST", f"/memory/{path}", {"id": id, "workspace": "/w1"}).status == 404, id
        for method in ("GET", "DELETE"):
            assert two.ask(method, f"/memory/record/{id}?{from_w1}").status == 404, id
    assert [c["session_id"] for c in two.ask("GET", f"/memory/conversations?{from_w1}").json["conversations"]] == ["a"]
    assert two.ask("GET", f"/memory/memories?{from_w1}").json["memories"] == []
    assert [h["id"] for h in two.ask("GET", f"/memory/search?q=zebra&{from_w1}").json["hits"]] == ["a:1"]
    text = two.ask("POST", f"/memory/context?{from_w1}", {"prompt": "zebra"}).json["text"]
    assert "w2" not in text and "of b" not in text and "of c" not in text
    assert two.ask("GET", f"/memory/stats?{from_w1}").json["events"] == 1
    assert b"of b" not in two.ask("GET", f"/memory/export?{from_w1}").body
    everything = two.ask("GET", "/memory/export").body
    refused = two.ask("POST", f"/memory/import?{from_w1}", everything, Content_Type="application/x-ndjson")
    assert refused.status == 403
    assert [e.text for e in two.store.read("b")] == ["the zebra of b"], "and nothing was changed there"


def test_two_workspaces_in_one_request_are_refused(two: Sidecar) -> None:
    body = {"type": "note", "session_id": "new", "content": "x", "workspace": "/w1"}
    assert two.ask("POST", "/memory/record?workspace=%2Fw2", body).code == "invalid_input"


def test_a_misspelt_parameter_is_an_error(two: Sidecar) -> None:
    for path in (
        "search?q=zebra&worksapce=%2Fw1",
        "stats?worksapce=x",
        "health?x=",
        "events?sesion_id=a",
        "export?formt=x",
    ):
        got = two.ask("GET", f"/memory/{path}")
        assert (got.status, got.code) == (422, "invalid_request"), path
        assert "workspace" in got.json["error"]["message"]
    assert two.ask("POST", "/memory/record?worksapce=x", {"type": "note", "session_id": "n"}).status == 422


def test_one_session_may_see_several_workspaces_and_each_record_has_its_own(sidecar: Sidecar) -> None:
    def said(session: str, workspace: str | None, text: str, **more: Any) -> dict[str, Any]:
        return {"type": "prompt", "session_id": session, "content": text, "workspace": workspace, **more}

    one = sidecar.ask("POST", "/memory/record", said("default", "/w1", "the zebra of one")).json
    done = sidecar.ask("POST", "/memory/record", {"records": [
        said("default", "/w2", "the zebra of two", id="k2"), said("default", "/w1", "the heron of one"),
        {"type": "artifact", "session_id": "default", "workspace": "/w2", "path": "/w2/a.md", "content": "the zebra"},
    ]}).json  # fmt: skip
    assert done["failed"] == 0
    two = done["records"][0]
    assert (one["id"], done["records"][1]["id"], two["seq"], done["records"][2]["seq"]) == (
        "default:1",
        "default:2",
        1,
        2,
    )
    assert sidecar.ask("GET", f"/memory/record/{two['id']}").json["workspace"] == "/w2"
    assert sidecar.ask("GET", "/memory/record/k2").json["id"] == two["id"]

    def found(query: str) -> set[str]:
        return {h["id"] for h in sidecar.ask("GET", f"/memory/search?q=zebra&{query}").json["hits"]}

    assert found("session_id=default&workspace=%2Fw1") == found("workspace=%2Fw1") == {"default:1", "default:2"}
    assert two["id"] in found("session_id=default&workspace=%2Fw2") and "default:1" not in found("workspace=%2Fw2")
    assert {"default:1", two["id"]} <= found("session_id=default")
    replayed = sidecar.ask("GET", "/memory/replay?session_id=default&workspace=%2Fw2").json["events"]
    assert [e["content"] for e in replayed] == ["the zebra of two", "the zebra"]
    gone = sidecar.ask("POST", "/memory/forget?workspace=%2Fw2", {"session_id": "default"}).json
    assert (gone["sessions"], found("session_id=default")) == (1, {"default:1", "default:2"})
    again = said("default", "/w2", "the zebra is back")
    assert sidecar.ask("POST", "/memory/record", again).status == 404, "a late record brings nothing back"
    assert sidecar.ask("POST", "/memory/record", {**again, "again": True}).status == 200
    assert sidecar.ask("POST", "/memory/forget", {"session_id": "default"}).json["sessions"] == 2
    assert found("session_id=default") == set() and sidecar.store.conversations() == []


def test_a_confined_sidecar_serves_one_workspace(url: str) -> None:
    with recollect.open(url, user="alex", semantic=False, background=False) as store:
        store.append(store.create("b", workspace="/w2"), role="user", text="the zebra of b")
        with running(store, workspace="/w1") as sidecar:
            sidecar.ask("POST", "/memory/record", {"type": "prompt", "session_id": "a", "content": "the zebra of a"})
            assert store.get("a").workspace == "/w1"
            assert [h["id"] for h in sidecar.ask("GET", "/memory/search?q=zebra").json["hits"]] == ["a:1"]
            assert sidecar.ask("GET", "/memory/replay?session_id=b").status == 404
            for path in ("search?q=zebra&", "conversations?", "stats?", "events?", "export?", "memories?", "health?"):
                got = sidecar.ask("GET", f"/memory/{path}workspace=%2Fw2")
                assert (got.status, got.code) == (403, "forbidden"), path
            assert sidecar.ask("POST", "/memory/forget", {"workspace": "/w2"}).status == 403


def test_the_schema_is_complete_and_has_examples(sidecar: Sidecar) -> None:
    schema = sidecar.ask("GET", "/openapi.json").json
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, item in schema["paths"].items():
        for method, operation in item.items():
            where = f"{method} {path}"
            assert operation.get("description"), where
            names = [p["name"] for p in operation.get("parameters", [])]
            assert "workspace" in names, f"{where} cannot be scoped"
            assert {"200", "400", "401", "403", "413", "415", "421", "422", "500", "503"} <= set(
                operation["responses"]
            ), where
    for name in ("Record", "Remember", "Target", "ContextRequest", "Forget", "Fork"):
        assert "example" in json.dumps(schema["components"]["schemas"][name]), name


def test_there_is_no_page_that_loads_code_from_elsewhere(sidecar: Sidecar) -> None:
    for path in ("/docs", "/redoc", "/"):
        assert sidecar.ask("GET", path).status == 404
    assert TOKEN not in sidecar.ask("GET", "/openapi.json").body.decode()


@pytest.fixture
def clients(sidecar: Sidecar) -> Sidecar:
    """What was said in two projects, learned."""
    for session, workspace, said in (
        ("a", "/acme", "Our client is ACME and the budget is 20k. I prefer dark mode for every budget."),
        ("g", "/globex", "Our client is Globex and the budget is 30k."),
    ):
        sent = {"type": "prompt", "session_id": session, "workspace": workspace, "content": said}
        assert sidecar.ask("POST", "/memory/record", sent).status == 200
        assert sidecar.ask("POST", f"/memory/summarize?session_id={session}").json["added"]
    return sidecar


def test_facts_of_a_session_are_those_that_were_learned_in_it(clients: Sidecar) -> None:
    def found(query: str) -> set[str]:
        return {h["text"] for h in clients.ask("GET", f"/memory/search?q=budget+client+mode&{query}").json["hits"]}

    own = {"Client is Globex", "Budget is 30k"}
    assert own < found("type=facts")
    assert found("type=facts&session_id=g") == own
    assert "Prefers dark mode for every budget" in found("type=facts&session_id=a")
    assert "Budget is 20k" not in found("session_id=g")


def test_a_sidecar_of_one_workspace_hands_out_nothing_learned_in_another(clients: Sidecar) -> None:
    with running(clients.store, workspace="/globex") as confined:
        asked = {"prompt": "Who is our client, what is the budget, and which mode do I prefer?"}
        told = confined.ask("POST", "/memory/context", asked).json["text"]
        assert "30k" in told
        assert "dark mode" in told, "what is the user's is theirs here, too"
        assert not {"ACME", "20k"} & set(told.replace('"', " ").replace(".", " ").split())
        for path in (
            "/memory/search?q=client+budget+mode&k=50",
            "/memory/memories",
            "/memory/search?q=budget&session_id=a",
        ):
            got = confined.ask("GET", path).body
            assert b"ACME" not in got
            assert b"20k" not in got


def test_a_fact_says_where_it_was_learned_and_names_no_other_workspace(clients: Sidecar) -> None:
    def came(asked: Sidecar, path: str, list: str) -> dict[str, Any]:
        found = asked.ask("GET", path).json[list]
        return {
            f.get("content", f.get("text")): (f["provenance"]["session_id"], f["provenance"]["workspace"])
            for f in found
        }

    facts, hits = ("/memory/memories", "memories"), ("/memory/search?type=facts&q=client+budget+mode", "hits")
    for path in (facts, hits):
        told = came(clients, *path)
        assert told["Client is ACME"] == told["Prefers dark mode for every budget"] == ("a", "/acme")
    with running(clients.store, workspace="/globex") as confined:
        for path in (facts, hits):
            told = came(confined, *path)
            assert told["Client is Globex"] == ("g", "/globex")
            assert told["Prefers dark mode for every budget"] == (None, None)
        assert b"acme" not in confined.ask("GET", facts[0]).body


def test_a_statement_is_not_limited_to_a_session_and_a_workspace_at_once(clients: Sidecar) -> None:
    said = {"content": "The port is 4000", "session_id": "a", "workspace": "/acme"}
    refused = clients.ask("POST", "/memory/remember", said)
    assert (refused.status, refused.code) == (400, "invalid_input")
    assert "leave one of them out" in refused.json["error"]["message"]
    for one in ("session_id", "workspace"):
        kept = clients.ask("POST", "/memory/remember", {k: v for k, v in said.items() if k != one}).json
        assert kept[one] is None
