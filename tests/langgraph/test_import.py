"""A database of LangGraph's SqliteSaver is brought in whole: lineage, messages, writes; the file is only read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from graphs import asking, deltas, say, thread, two_steps
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from recollect.errors import InvalidInput, NotFound
from recollect.langgraph import Saver
from recollect.transfer.langgraph import import_langgraph

TABLES = """
create table checkpoints (thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
  parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
  primary key (thread_id, checkpoint_ns, checkpoint_id));
create table writes (thread_id text not null, checkpoint_ns text not null default '', checkpoint_id text not null,
  task_id text not null, {path} idx integer not null, channel text not null, type text, value blob,
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


def as_sqlite_saver_writes_it(memory: InMemorySaver, path: Path, *, old: bool = False) -> None:
    """The file that SqliteSaver 3 would have left for the same runs (with `old`: one from before writes had a path)."""
    serde = JsonPlusSerializer()
    connection = apsw.Connection(str(path))
    connection.execute(TABLES.format(path="" if old else "task_path text not null default '',")).fetchall()
    for found in memory.list(None):
        c = found.config["configurable"]
        place = (c["thread_id"], c["checkpoint_ns"], c["checkpoint_id"])
        parent = found.parent_config["configurable"]["checkpoint_id"] if found.parent_config else None
        connection.execute(
            "insert into checkpoints values (?, ?, ?, ?, ?, ?, ?)",
            (*place, parent, *serde.dumps_typed(found.checkpoint), json.dumps(found.metadata).encode()),
        ).fetchall()
        for (task, idx), (_, channel, (type, data), task_path) in memory.writes.get(place, {}).items():
            row = (*place, task, *(() if old else (task_path,)), idx, channel, type, data)
            connection.execute(f"insert into writes values ({', '.join('?' * len(row))})", row).fetchall()
    connection.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    memory = InMemorySaver()
    graph = two_steps(memory)
    for i in range(5):
        graph.invoke(say(f"hi {i}"), thread("a"))
    back = list(graph.get_state_history(thread("a")))[8].config
    graph.invoke(say("elsewhere"), back)
    asking(memory).invoke(say("go"), thread("b"))
    deltas(memory).invoke(say("one", "h0"), thread("c"))
    deltas(memory).invoke(say("two", "h1"), thread("c"))
    path = tmp_path / "stock.sqlite"
    as_sqlite_saver_writes_it(memory, path)
    return path


def test_everything_is_there(saver: Saver, file: Path) -> None:
    was = hashlib.sha256(file.read_bytes()).hexdigest()
    seen: list[tuple[str, int, int]] = []
    found = import_langgraph(saver.store, file, progress=lambda *p: seen.append(p))
    assert found.threads == 3
    assert seen[-1] == ("checkpoints", found.checkpoints, found.checkpoints)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == was
    store = saver.store
    assert [e.text for e in store.messages("a", limit=2)] == ["elsewhere", "you said: elsewhere"]
    assert [b.name for b in store.branches("a")] == ["main", "branch-1"]
    assert len(store.read("a", kinds=["message"], branch="main")) == 10
    assert store.get("a").title == "hi 0"
    assert store.messages("a", limit=None, branch="main")[0].role == "user"
    assert store.verify().ok
    graph = two_steps(saver)
    assert len(graph.get_state(thread("a", branch="main")).values["messages"]) == 10
    graph.invoke(say("on"), thread("a"))
    assert store.messages("a", limit=1)[0].text == "you said: on"
    assert asking(saver).invoke(Command(resume="yes"), thread("b"))["messages"][-1].content == "you said yes"
    assert [m.id for m in deltas(saver).get_state(thread("c")).values["messages"]] == ["h0", "a1", "h1", "a3"]


def test_the_lineage_and_the_times_are_kept(saver: Saver, file: Path) -> None:
    import_langgraph(saver.store, file)
    source = apsw.Connection(str(file), apsw.SQLITE_OPEN_READONLY)
    rows = source.execute(
        "select checkpoint_id, parent_checkpoint_id, type, checkpoint from checkpoints where thread_id = 'a'"
    )
    expected = {id: (parent, JsonPlusSerializer().loads_typed((type, data))) for id, parent, type, data in rows}
    source.close()
    found = {t.config["configurable"]["checkpoint_id"]: t for t in saver.list(thread("a"))}
    assert found.keys() == expected.keys()
    for id, (parent, checkpoint) in expected.items():
        assert (found[id].parent_config or {"configurable": {"checkpoint_id": None}})["configurable"][
            "checkpoint_id"
        ] == parent
        assert found[id].checkpoint["channel_values"] == checkpoint["channel_values"]
        assert found[id].checkpoint["ts"] == checkpoint["ts"]
    newest = saver.store.checkpoints("a")[0]
    assert abs(newest.created_at - saver.store.messages("a")[-1].created_at) < 10


def test_a_second_import_changes_nothing(saver: Saver, file: Path) -> None:
    first = import_langgraph(saver.store, file)
    before = saver.store.stats().events
    again = import_langgraph(saver.store, file)
    assert (again.checkpoints, again.known) == (0, first.checkpoints)
    assert saver.store.stats().events == before


def test_a_file_from_before_writes_had_a_path(saver: Saver, tmp_path: Path) -> None:
    memory = InMemorySaver()
    asking(memory).invoke(say("go"), thread("b"))
    as_sqlite_saver_writes_it(memory, tmp_path / "old.sqlite", old=True)
    import_langgraph(saver.store, tmp_path / "old.sqlite")
    assert asking(saver).invoke(Command(resume="yes"), thread("b"))["messages"][-1].content == "you said yes"


def test_other_files_are_refused(saver: Saver, tmp_path: Path, file: Path) -> None:
    with pytest.raises(NotFound):
        import_langgraph(saver.store, tmp_path / "nothing")
    (tmp_path / "text").write_text("hello " * 1000)
    with pytest.raises(InvalidInput):
        import_langgraph(saver.store, tmp_path / "text")


def test_one_thread_that_cannot_come_in_keeps_no_other_out(saver: Saver, file: Path) -> None:
    other = apsw.Connection(str(file))
    for table in ("checkpoints", "writes"):
        for name in ("", "x" * 400, "a\0b"):
            other.execute(
                f"create temp table one as select * from {table} where thread_id = 'b';"
                f"update one set thread_id = ?; insert into {table} select * from one; drop table one",
                (name,),
            ).fetchall()
    other.execute("update checkpoints set checkpoint = x'c1' where thread_id = 'a'").fetchall()
    saver.store.create("c")
    saver.store.delete("c")
    found = import_langgraph(saver.store, file)
    assert [c.id for c in saver.store.conversations()] == ["b"]
    assert asking(saver).invoke(Command(resume="yes"), thread("b"))["messages"][-1].content == "you said yes"
    assert len(found.problems) == 5
    said = " ".join(p.where + p.what for p in found.problems)
    assert all(word in said for word in ("checkpoint 1", "in the bin", "400 characters", "U+0000"))


def test_what_was_written_since_a_checkpoint_is_brought_in_after_an_interruption(
    saver: Saver, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    for thread_id in ("a", "b", "c"):  # each of them is ended right after its first checkpoint that has writes
        apsw.Connection(str(file)).execute(
            "create table if not exists later as select * from checkpoints;"
            " delete from checkpoints; insert into checkpoints select * from later where thread_id <= ?",
            (thread_id,),
        ).fetchall()
        with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
            m.setattr(Saver, "_keep", killed)
            import_langgraph(saver.store, file)
    import_langgraph(saver.store, file)
    wanted = int(apsw.Connection(str(file)).execute("select count(*) from writes").fetchall()[0][0])
    assert sum(len(t.pending_writes or ()) for t in saver.list(None)) == wanted
    assert asking(saver).invoke(Command(resume="yes"), thread("b"))["messages"][-1].content == "you said yes"
    assert import_langgraph(saver.store, file).writes == 0


@pytest.mark.parametrize("backend", ["sqlite"])
def test_the_commands(url: str, file: Path) -> None:
    def run(*words: str) -> Any:
        command = [sys.executable, "-m", "recollect.cli", *words, "-d", url, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert run("import", "langgraph", str(file))["added"]["threads"] == 3
    assert run("import", str(file))["added"]["checkpoints"] == 0  # known by its tables, and there already
    found = run("checkpoints", "a", "-n", "3")
    assert found[0]["preview"] == "you said: elsewhere"
    assert run("checkpoints", "a", "-n", "3", "--before", found[-1]["id"])[0]["id"] < found[-1]["id"]
    wrong = subprocess.run(
        [sys.executable, "-m", "recollect.cli", "import", "elsewhere", str(file), "-d", url],
        capture_output=True,
        text=True,
    )
    assert wrong.returncode != 0
    assert "langgraph" in wrong.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "recollect.cli", "checkpoints", "a", "-d", url], capture_output=True, text=True
    )
    assert "elsewhere" in shown.stdout
