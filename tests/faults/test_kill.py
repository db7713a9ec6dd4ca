"""kill -9 of writing processes, at random: nothing acknowledged is lost, no batch is half there, no number is missing."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect

from .harness import Child, Say, acknowledged, caught, check_file, figures, inside, seeds, texts, writer

ROUNDS_PER_FILE = (
    12  # a file is killed over and over, as a crashing program's is; then a fresh one keeps checking quick
)


def kill_rounds(folder: Path, rounds: int, name: str) -> dict[str, Any]:
    acked: dict[str, list[int] | None] = {}
    total = checked = unacknowledged = 0
    path = folder / "0.db"
    for i, seed in enumerate(seeds(name, rounds)):
        if i % ROUNDS_PER_FILE == 0:
            path = folder / f"{i}.db"
            acked = {}
        rng = random.Random(seed)
        children = [Child(writer, str(path), seed * 10 + k, rng.randint(1, 3)) for k in range(rng.choice((1, 1, 2)))]
        try:
            moment = rng.choices(("", "open", "ack"), (1, 1, 8))[0]  # while it opens, at its first write, in full swing
            times = rng.choice((1, 5, 10, 15)) if moment == "ack" else 1  # counted: a slow disk does little in a time
            for child in children:
                if moment:
                    child.hear(moment, times=times)
            for child in children:
                time.sleep(rng.uniform(0, 0.05))
                acked |= acknowledged(child.kill())
        finally:
            for child in children:
                with child:
                    pass
        wrong = check_file(path, acked)
        assert wrong == [], f"seed {seed}: {json.dumps(wrong[:10], indent=1)}"
        unacknowledged += repeat_with_key(path, seed)
        checked += 1
        total += len(acked) if (i + 1) % ROUNDS_PER_FILE == 0 or i == rounds - 1 else 0
    return {"rounds": checked, "acknowledged": total, "lost": 0, "half_batches": 0, "repeated": unacknowledged}


def repeat_with_key(path: Path, seed: int) -> int:
    """What a careful caller does who got no answer: the same again, with the same key. It must be there once."""
    with recollect.open(path, user="alex", background=False) as store:
        if not store.conversations():
            return 0
        conversation = store.conversations()[0].id
        last = store.read(conversation)[-1:]
        if not last or last[0].key is None:
            return 0
        before = len(store.read(conversation))
        again = store.append(conversation, role="user", text=last[0].text, key=last[0].key)
        assert (again.seq, len(store.read(conversation))) == (last[0].seq, before), f"seed {seed}"
        return 1


def test_killed_at_random(tmp_path: Path) -> None:
    measured = kill_rounds(tmp_path, 200, "kill")
    assert measured["acknowledged"] > 1_000, "killed before anything was acknowledged: nothing was tested"
    assert measured["repeated"] > 5
    figures("kill", **measured)


@pytest.mark.nightly
def test_killed_at_random_ten_thousand_times(tmp_path: Path) -> None:
    rounds = 0
    while rounds < 10_000:
        folder = tmp_path / str(rounds)
        folder.mkdir()
        kill_rounds(folder, 500, f"kill, from round {rounds}")
        for file in folder.iterdir():
            file.unlink()
        rounds += 500
    figures("kill-nightly", rounds=rounds, lost=0)


# -- the controls: the same checker must see what a wrong store would have done --------------------------------------


def test_control_an_acknowledgement_before_the_commit_is_caught(tmp_path: Path) -> None:
    for i, seed in enumerate(seeds("dishonest writer", 30)):
        path = tmp_path / f"{i}.db"
        with Child(writer, str(path), seed, 3, False) as child:
            child.hear("ack")
            time.sleep(0.03)
            acked = acknowledged(child.kill())
        if any(line.startswith("lost: ") for line in check_file(path, acked)):
            caught("kill", "a writer that acknowledges before it commits")
            return
    raise AssertionError("30 rounds of a writer that acknowledges before it commits, and nothing was found lost")


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, dict[str, list[int] | None]]:
    path = tmp_path / "chat.db"
    acked = acknowledged(inside(writer, str(path), 1, 2, True, 20))
    assert check_file(path, acked) == []
    return path, acked


def tamper(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


LAST = "(select max(id) from events)"
TAMPERED = {
    "a row that is gone": (
        ["delete from events where id = (select min(id) from events where text like '% 1/1 %')"],
        "lost: ",
    ),
    "half a batch": (["delete from events where id = (select min(id) from events where text like '% 2/5 %')"], "half"),
    "a number that is there twice": (
        ["drop index events_by_seq", f"update events set seq = seq - 1 where id = {LAST}"],
        "twice",
    ),
    "an event that is there twice": (
        [
            f"create temp table t as select * from events where id = {LAST}",
            "update t set id = id + 1, seq = seq + 1, key = null",
            "insert into events select * from t",
            "update conversations set last_seq = last_seq + 1 where no = (select conversation_no from t)",
        ],
        "there twice",
    ),
    "a counter that fell behind": (["update conversations set last_seq = last_seq - 1"], "numbers of"),
    "a counter that ran ahead": (["update conversations set last_seq = last_seq + 1"], "numbers of"),
    "a text that changed": (
        [f"update events set text = replace(text, '.', ',') || ' ' where id = {LAST}"],
        "its content is not what was written",
    ),
    "an index without a row": (
        [
            "pragma writable_schema = on",
            "update sqlite_schema set sql = replace(sql, 'where key', 'where  key') where name = 'events_by_key'",
            "create table other as select * from events",
            "update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'other')"
            " where name = 'events'",
            "delete from sqlite_schema where name = 'other'",
        ],
        "verify: ",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_control_a_store_that_is_wrong_is_caught(written: tuple[Path, dict[str, list[int] | None]], what: str) -> None:
    path, acked = written
    statements, expected = TAMPERED[what]
    tamper(path, *statements)
    try:
        wrong = check_file(path, acked)
    except recollect.errors.Damaged as e:
        wrong = [f"verify: {e}"]
    assert any(expected in line for line in wrong), wrong[:10]
    caught("kill", what)


def no_answer(say: Say, path: str) -> None:
    with recollect.open(path, user="alex", background=False) as store:
        store.create("c")
        store.append("c", role="user", text=texts("a", 1)[0])
        raise RuntimeError("as a bug in a child would")


def test_control_an_error_in_a_child_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="as a bug in a child would"):
        inside(no_answer, str(tmp_path / "chat.db"))
