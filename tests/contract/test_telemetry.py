"""Telemetry: what happened is told, what was said is not; several processes share the files; what is erased is gone."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import errors, telemetry
from talk import Open

CANARY = "zanzibarquokka"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def told(open_store: Open, data: Path) -> recollect.Store:
    return open_store(telemetry="on", data_dir=str(data))


def lines(data: Path) -> list[dict[str, Any]]:
    """All events, oldest first, of all files."""
    files = sorted(
        (data / "telemetry").glob("events*.jsonl"), key=lambda f: -int(f.name.split(".")[1:][0].replace("jsonl", "0"))
    )
    return [json.loads(line) for f in files for line in f.read_text("utf-8").splitlines()]


def names(data: Path) -> list[str]:
    return [line["event"] for line in lines(data)]


# -- what is told


def test_the_life_of_a_conversation_is_told(told: recollect.Store, data: Path) -> None:
    c = told.create("trip", title="Trip")
    told.append(c, role="user", text="hello")
    told.fork(c, at=1, name="other")
    told.delete(c)
    told.restore(c)
    assert names(data) == [
        "chat.session_created",
        "chat.branch_forked",
        "chat.session_deleted",
        "chat.session_restored",
    ]
    first = lines(data)[0]
    assert set(first) == {"at", "event", "user_id", "thread_id", "source", "pid"}
    assert first["at"] > 1_700_000_000_000 and first["pid"] == os.getpid()
    assert len({line["thread_id"] for line in lines(data)}) == 1


def test_memories_saved_and_searched_are_told(told: recollect.Store, data: Path) -> None:
    c = told.create()
    told.remember("Prefers dark mode", conversation=c)
    told.recall("which theme?", limit=7, conversation=c)
    told.search("dark", types="events")
    told.context("dark mode?", conversation=c)
    saved, searched, history, found, built = lines(data)[1:]
    assert (saved["event"], saved["count"]) == ("chat.memory_saved", 1)
    assert (searched["event"], searched["top_k"]) == ("chat.memory_searched", 7)
    assert searched["latency_ms"] > 0 and searched["thread_id"] == saved["thread_id"]
    assert history["event"] == "chat.history_searched"
    assert found["event"] == "chat.memory_searched" and found["thread_id"] == saved["thread_id"]
    assert built["event"] == "chat.context_built" and built["items"] == 1 and built["tokens"] > 0
    assert {"user_id", "thread_id", "count"} <= set(saved)


def test_what_consolidation_saved_is_told(told: recollect.Store, data: Path) -> None:
    c = told.create()
    told.append(c, role="user", text="Remember that I prefer dark mode.")
    done = told.consolidate(c)
    assert done.added > 0
    assert [line["count"] for line in lines(data) if line["event"] == "chat.memory_saved"] == [done.added]


def test_trouble_is_told_by_its_type(open_store: Open, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise errors.DiskFull(f"no space for {CANARY}")

    told = open_store(telemetry="on", data_dir=str(data), background=False)
    c = told.create()
    for n in range(30):
        told.append(c, role="user" if n % 2 else "assistant", text=f"{CANARY} {n}")
    with monkeypatch.context() as m:
        m.setattr("recollect.summarize.plan", fails)
        told.settle()
    job = next(line for line in lines(data) if line["event"] == "job.failed")
    assert (job["job"], job["error"]) == ("summarize", "DiskFull")
    trouble = next(line for line in lines(data) if line["event"] == "store.error")
    assert trouble["error"] == "DiskFull" and trouble["backend"] in ("sqlite", "postgres")


def test_retention_tells_counts_and_keeps_no_line_of_what_went(told: recollect.Store, data: Path) -> None:
    told.create("stays")
    c = told.create("goes", origin="hook")
    told.append(c, role="user", text="old", created_at=1_600_000_000_000)
    # Its last activity is what counts, so it is made old as a clock would.
    plan = told.for_user(told.user)
    plan._settings = told.settings.but(retention_days=1)
    import recollect.retention as retention

    later = retention.ids.now() + 3 * 86_400_000
    with pytest.MonkeyPatch.context() as m:
        m.setattr("recollect.ids.now", lambda: later)
        assert [e.id for e in plan.retain().expiries] == ["goes"]
    assert names(data) == ["chat.session_created", "chat.retained"]
    assert lines(data)[1]["conversations"] == 1


# -- where, and whether


def test_off_writes_nothing(open_store: Open, data: Path) -> None:
    store = open_store(telemetry="off", data_dir=str(data))
    store.create()
    store.search("anything")
    assert not (data / "telemetry").exists()


def test_a_store_that_a_program_names_has_none_unless_it_is_asked_for(open_store: Open, data: Path) -> None:
    open_store(data_dir=str(data)).create()
    assert not (data / "telemetry").exists()


def test_the_store_of_the_settings_has_it(data: Path, url: str) -> None:
    with recollect.open(database=url, data_dir=str(data), user="alex") as store:
        store.create()
    assert names(data) == ["chat.session_created"]


def test_a_store_in_memory_has_none(data: Path) -> None:
    with recollect.open(":memory:", telemetry="on", data_dir=str(data)) as store:
        store.create()
    assert not data.exists()


def test_the_folder_is_its_owners(told: recollect.Store, data: Path) -> None:
    told.create()
    folder = data / "telemetry"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {f.name: stat.S_IMODE(f.stat().st_mode) for f in folder.iterdir()} == {
        "events.jsonl": 0o600, "key": 0o600, "lock": 0o600,
    }  # fmt: skip


def test_what_cannot_be_told_is_no_failure(told: recollect.Store, data: Path) -> None:
    data.mkdir(exist_ok=True)
    (data / "telemetry").write_text("in the way")
    c = told.create()
    told.delete(c)
    (data / "telemetry").unlink()
    told.restore(c)
    (line,) = lines(data)
    assert line["event"] == "chat.session_restored" and line["dropped"] == 2


def test_a_folder_that_was_removed_is_made_again(told: recollect.Store, data: Path) -> None:
    told.create("one")
    first = lines(data)[0]["thread_id"]
    for f in (data / "telemetry").iterdir():
        f.unlink()
    (data / "telemetry").rmdir()
    told.delete("one")
    (line,) = lines(data)
    assert line["thread_id"] != first, "another key: what was written before is anonymous"


# -- ids


def test_ids_are_pseudonyms(told: recollect.Store, data: Path) -> None:
    told.create("thread-of-alex")
    told.for_user("kim").create("thread-of-alex")
    told.delete("thread-of-alex")
    text = (data / "telemetry" / "events.jsonl").read_text()
    assert "thread-of-alex" not in text and '"alex"' not in text and '"kim"' not in text
    alex, kim, again = lines(data)
    assert alex["thread_id"] == again["thread_id"] != kim["thread_id"]
    assert alex["user_id"] == again["user_id"] != kim["user_id"]


def test_another_process_writes_the_same_pseudonyms(told: recollect.Store, data: Path, url: str) -> None:
    told.create("one")
    code = (
        f"import recollect; recollect.open({url!r}, user='alex', telemetry='on', data_dir={str(data)!r}).delete('one')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    one, two = lines(data)
    assert (one["user_id"], one["thread_id"]) == (two["user_id"], two["thread_id"]) and one["pid"] != two["pid"]


def test_plain_ids_when_asked_for(open_store: Open, data: Path) -> None:
    store = open_store(telemetry=True, telemetry_plain_ids=True, data_dir=str(data))
    store.create('thread "1"')
    (line,) = lines(data)
    assert (line["user_id"], line["thread_id"]) == ("alex", 'thread "1"')


# -- rotation, and several processes


def test_files_are_rotated_by_size(data: Path) -> None:
    t = telemetry.Telemetry(str(data / "telemetry"), max_bytes=2_000, keep=3)
    for n in range(100):
        t.emit("chat.memory_saved", "alex", thread_id="one", count=n)
    files = sorted(f.name for f in (data / "telemetry").glob("events*"))
    assert files == ["events.1.jsonl", "events.2.jsonl", "events.jsonl"]
    assert all(f.stat().st_size <= 2_000 for f in (data / "telemetry").glob("events*"))
    counts = [line["count"] for line in lines(data)]
    assert counts == list(range(counts[0], 100)) and counts[0] > 0


def test_fewer_files_are_kept_when_the_settings_say_so(data: Path) -> None:
    for keep in (4, 2, 1):
        t = telemetry.Telemetry(str(data / "telemetry"), max_bytes=1_000, keep=keep)
        for n in range(50):
            t.emit("chat.memory_saved", "alex", count=n)
        assert len(list((data / "telemetry").glob("events*"))) == keep


WRITER = """
import sys
from recollect.telemetry import Telemetry
folder, me = sys.argv[1], int(sys.argv[2])
t = Telemetry(folder, max_bytes=20_000, keep=100)
sys.stdin.readline()
for n in range(300):
    t.emit("chat.memory_saved", f"user{me}", thread_id=str(n), count=n)
print(t._dropped)
"""


def test_several_processes_lose_and_tear_nothing_through_rotation_and_erasure(data: Path) -> None:
    folder = str(data / "telemetry")
    mine = telemetry.Telemetry(folder)
    for n in range(50):
        mine.emit("chat.session_created", "erased", thread_id=str(n))
    children = [
        subprocess.Popen([sys.executable, "-c", WRITER, folder, str(i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for i in range(3)
    ]
    try:
        for child in children:
            child.stdin.write(b"go\n")  # type: ignore[union-attr]
            child.stdin.flush()  # type: ignore[union-attr]
        erased = sum(mine.erase("erased", [str(n)]) for n in range(50))
        for child in children:
            assert child.wait(60) == 0
        left = sum(int(child.stdout.read()) for child in children)  # type: ignore[union-attr]
    finally:
        for child in children:
            child.kill()
            child.communicate()
    found = lines(data)
    assert erased == 50 and len({line["user_id"] for line in found}) == 3
    assert len(found) + left + sum(line.get("dropped", 0) for line in found) == 900
    assert len(list((data / "telemetry").glob("events*"))) > 3


def test_half_a_line_of_a_process_that_died_spoils_no_other(data: Path) -> None:
    t = telemetry.Telemetry(str(data / "telemetry"))
    t.emit("chat.session_created", "alex", thread_id="1")
    with (data / "telemetry" / "events.jsonl").open("a") as f:
        f.write('{"at":17')
    t.emit("chat.session_deleted", "alex", thread_id="1")
    rows = (data / "telemetry" / "events.jsonl").read_text().splitlines()
    assert [json.loads(r)["event"] for r in (rows[0], rows[2])] == ["chat.session_created", "chat.session_deleted"]
    assert t.erase("someone else") == 1, "half a line could be about anyone"
    assert names(data) == ["chat.session_created", "chat.session_deleted"]


# -- erasure


def test_erasing_a_conversation_erases_its_lines(told: recollect.Store, data: Path) -> None:
    for id in ("goes", "stays"):
        c = told.create(id)
        told.remember(f"something {id}", conversation=c)
        told.recall("something", conversation=c)
    told.for_user("kim").create("goes")
    gone = lines(data)[0]["thread_id"]
    told.erase(conversation="goes")
    assert gone not in (data / "telemetry" / "events.jsonl").read_text()
    assert names(data) == ["chat.session_created", "chat.memory_saved", "chat.memory_searched", "chat.session_created", "chat.erased"]  # fmt: skip
    assert "thread_id" not in lines(data)[-1] and lines(data)[-1]["count"] > 0


def test_a_process_that_dies_while_it_erases_leaves_no_lines(
    told: recollect.Store, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.create("goes")
    gone = lines(data)[0]["thread_id"]

    class Killed(BaseException):
        pass

    def die(point: str) -> None:
        raise Killed

    monkeypatch.setattr("recollect.receipts.reach", die)
    with pytest.raises(Killed):
        told.erase(conversation="goes")
    assert gone not in (data / "telemetry" / "events.jsonl").read_text(), "whoever finishes it knows no names any more"


def test_erasing_a_user_erases_every_line_in_every_file_even_when_it_is_off_by_now(data: Path) -> None:
    folder = str(data / "telemetry")
    t = telemetry.Telemetry(folder, max_bytes=2_000, keep=10)
    for n in range(40):
        t.emit("chat.session_created", ("alex", "kim")[n % 2], thread_id=str(n))
    before = (data / "telemetry" / "events.1.jsonl").stat().st_ino
    assert telemetry.Telemetry(folder, on=False).erase("alex") == 20
    assert len(lines(data)) == 20 and len({line["user_id"] for line in lines(data)}) == 1
    assert before is not None


def test_plain_lines_are_erased_too_and_only_this_users(data: Path) -> None:
    t = telemetry.Telemetry(str(data / "telemetry"), plain=True)
    t.emit("chat.session_created", "alex", thread_id="1")
    t.emit("chat.session_created", "kim", thread_id="1")
    assert telemetry.Telemetry(str(data / "telemetry")).erase("alex", ["1"]) == 1
    assert [line["user_id"] for line in lines(data)] == ["kim"]


# -- nothing of what was said


def test_a_field_that_could_hold_content_does_not_exist(data: Path) -> None:
    t = telemetry.Telemetry(str(data / "telemetry"))
    with pytest.raises(ValueError, match="no field"):
        t.emit("chat.memory_saved", "alex", title="My diary")
    with pytest.raises(ValueError, match="number"):
        t.emit("chat.memory_saved", "alex", count="many")
    t.emit("store.error", "alex", error="Dear diary, today I")
    assert lines(data)[0]["error"] == "other"


def tour(store: recollect.Store) -> list[BaseException]:
    """Content through every verb that takes any, and every refusal that could quote it. Returns what was raised. (Names are
    quoted: of a field, a kind, an id. They are how a caller finds the mistake.)"""
    c = store.create("tour", title=CANARY, workspace=f"/{CANARY}", metadata={"note": CANARY})
    store.append(c, role="user", text=f"Remember that I prefer {CANARY}.", tags=[CANARY])
    store.append(c, role="assistant", text=CANARY, reasoning=CANARY)
    store.append(c, kind="tool_use", tool="Write", path=f"{CANARY}.txt", payload={CANARY: CANARY}, key="k")
    store.append(c, kind="ledger", task_id="t", status="open", text=CANARY)
    m = store.remember(CANARY, tags=[CANARY], conversation=c)
    store.consolidate(c)
    store.settle()
    store.search(CANARY)
    store.recall(CANARY)
    store.context(CANARY, conversation=c)
    store.fork(c, name="b")
    store.checkpoints(c)
    store.revise(m, content=f"{CANARY} after all")
    store.summarize(c)
    store.rename(c, f"{CANARY} again")
    raised: list[BaseException] = []

    def refused(fn: Callable[[], object]) -> None:
        try:
            fn()
        except Exception as e:
            raised.append(e)
        else:
            raise AssertionError("that should have been refused")

    refused(lambda: store.append("nobody", role="user", text=CANARY))
    refused(lambda: store.append(c, role="ghost", text=CANARY))
    refused(lambda: store.append(c, role="user", text=CANARY, cost="x"))
    refused(lambda: store.append(c, role="user", text=CANARY, payload={"x": object()}))
    refused(lambda: store.append(c, role="user", text=CANARY + "\ud800"))
    refused(lambda: store.append_many(c, [{"role": "user", "text": CANARY}, {"role": "ghost", "text": CANARY}]))
    refused(lambda: store.create("tour", title=CANARY))
    refused(lambda: store.create(title=CANARY, metadata={"note": object(), "more": CANARY}))
    refused(lambda: store.create(title=CANARY * 10_000, origin="moon"))
    refused(lambda: store.remember(CANARY, kind="nonsense"))
    refused(lambda: store.remember(CANARY, importance=7))
    refused(lambda: store.remember(CANARY, derived_from=["nobody"]))
    refused(lambda: store.search(CANARY, types="nonsense"))
    refused(lambda: store.recall(CANARY, kinds=["nonsense"]))
    refused(lambda: store.context(CANARY, budget=-1))
    refused(lambda: store.rename("nobody", CANARY))

    def broken(tx: Any) -> None:
        tx.run("insert into conversations (user_no, id, title) values (:user, :id, :title)", id="x", title=CANARY)

    refused(lambda: store._write(broken))
    return raised


def test_nothing_of_what_was_said_is_in_any_sink(
    open_store: Open, data: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], spans: Any
) -> None:
    store = open_store(telemetry="on", opentelemetry=True, memory_extract=True, semantic=True, data_dir=str(data))
    with caplog.at_level(logging.DEBUG):
        raised = tour(store)
        assert len(names(data)) > 8
        store.delete("tour")
        store.erase(conversation="tour")
    for path in (data / "telemetry").iterdir():
        assert CANARY.encode() not in path.read_bytes(), path.name
    assert not [r for r in caplog.records if CANARY in r.getMessage() or CANARY in str(r.exc_info)]
    out, err = capfd.readouterr()
    assert CANARY not in out + err
    said = spans()
    assert {"chat.memory.search", "store.append_many", "store.remember"} <= {s.name for s in said}
    assert CANARY not in "".join(s.to_json() for s in said)
    assert len(raised) == 17
    for e in raised:
        assert CANARY not in "".join(traceback.format_exception(e)), type(e)


# -- spans


def test_spans_carry_the_names_of_the_conventions_and_no_ids(open_store: Open, data: Path, spans: Any) -> None:
    store = open_store(opentelemetry=True, data_dir=str(data))
    c = store.create("thread-of-alex")
    store.remember("Prefers dark mode", conversation=c)
    store.recall("theme? dark", conversation=c, limit=3)
    store.checkpoints(c)
    found = {s.name: s for s in spans()}
    search = found["chat.memory.search"]
    attributes = dict(search.attributes)
    assert attributes["gen_ai.operation.name"] == "search_memory"
    assert attributes["gen_ai.memory.record.count"] == 1 and attributes["recollect.top_k"] == 3
    assert attributes["gen_ai.conversation.id"].startswith("t_") and attributes["user.id"].startswith("u_")
    assert found["store.create"].attributes["db.system.name"] in ("sqlite", "postgresql")
    listing, inner = found["chat.time_travel.list_history"], found["store.checkpoints"]
    assert inner.parent.span_id == listing.context.span_id
    assert "thread-of-alex" not in "".join(s.to_json() for s in spans())


def test_an_error_in_a_span_is_its_type_alone(open_store: Open, data: Path, spans: Any) -> None:
    store = open_store(opentelemetry=True, data_dir=str(data))
    with pytest.raises(errors.NotFound):
        store.checkpoints("nobody-knows")
    failed = [s for s in spans() if s.attributes.get("error.type") == "NotFound"]
    assert {s.name for s in failed} == {"store.checkpoints", "chat.time_travel.list_history"}
    assert all(not s.events and not s.status.description and s.status.status_code.name == "ERROR" for s in failed)


def test_there_are_no_spans_unless_they_are_asked_for(open_store: Open, spans: Any) -> None:
    open_store(telemetry="on").search("anything")
    assert spans() == []


def test_without_the_package_the_setting_says_what_to_install(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(errors.Refused, match=r"\.\[otel\]"):
        recollect.open(url, user="alex", opentelemetry=True)
