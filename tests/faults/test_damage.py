"""Flipped bits, lost pages, files cut short: noticed, never served as if nothing were wrong, and saved."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import events, salvage
from recollect.db import migrate

from . import damage
from .harness import Child, caught, figures, inside, seeds

CHUNK = 25
SECONDS_PER_CHUNK = 120


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "small.db"
    damage.make(path, 600)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "large.db"
    damage.make(path, 10_000)
    return path


def look_at_many(sound: Path, folder: Path, rounds: int, name: str) -> Counter[str]:
    verdicts: Counter[str] = Counter()
    wrong: list[Any] = []
    every = list(seeds(name, rounds))
    for at in range(0, rounds, CHUNK):
        with Child(damage.flips, str(sound), str(folder), every[at : at + CHUNK]) as child:
            try:
                said = child.finish(SECONDS_PER_CHUNK)
            except AssertionError as e:
                wrong.append(str(e)[:2000])
                said = child.said()
        for line in said:
            if line[0] == "verdict":
                verdicts[line[3]] += 1
                if line[3] in ("unnoticed", "crashed"):
                    wrong.append(line[1:])
    assert wrong == [], f"{len(wrong)} of {rounds}: {json.dumps(wrong[:12], indent=1, ensure_ascii=False)}"
    assert sum(verdicts.values()) == rounds
    return verdicts


def test_damage_is_found_or_harmless(small: Path, tmp_path: Path) -> None:
    assert damage.look_at(small, damage.content(small)) == ("harmless", "")
    verdicts = look_at_many(small, tmp_path, 300, "damage")
    assert verdicts["found"] + verdicts["refused"] > verdicts["harmless"]
    figures("damage", rounds=sum(verdicts.values()), **{"unnoticed": 0, **verdicts})


def test_a_lost_setting_of_the_index_is_damage_not_a_crash(small: Path, tmp_path: Path) -> None:
    """Random bytes met these two: FTS5 says them as plain SQL errors."""
    whole = small.read_bytes()
    assert whole.count(b"tokenize") >= 1
    battered = tmp_path / "battered.db"
    battered.write_bytes(whole.replace(b"tokenize", b"tokenise"))
    verdict, said = damage.look_at(battered, damage.content(small))
    assert (verdict, said.split(":")[0]) in (("refused", "Damaged"), ("found", "the index")), said


def test_every_kind_of_number_in_a_file_may_be_wrong(small: Path, tmp_path: Path) -> None:
    """Where SQLite keeps lengths and counts: the header of the file, that of each page, and the first bytes of rows."""
    every = damage.numbers(small)
    wrong: list[Any] = []
    answers: Counter[str] = Counter()
    for n in range(4):
        with Child(damage.wrong_numbers, str(small), str(tmp_path / f"{n}.db"), every[n::4]) as child:
            for line in child.finish(SECONDS_PER_CHUNK):
                if line[0] == "verdict":
                    answers[line[3]] += 1
                    wrong += (
                        [line[1:]]
                        if line[3] not in ("well", "found", "Damaged", "NotARecollectFile", "NewerSchema")
                        else []
                    )
    assert wrong == []
    assert sum(answers.values()) == len(every) >= 600


def test_a_length_that_no_memory_holds_is_damage(small: Path, tmp_path: Path) -> None:
    said = inside(damage.without_memory, str(small))
    assert [line[1:] for line in said if line[0] == "said"] == [
        ["read", "Damaged", True],
        ["verify", "Damaged", True],
        ["no room for the file either", "StorageError", False],
    ]


@pytest.mark.nightly
def test_damage_is_found_or_harmless_ten_thousand_times(small: Path, tmp_path: Path) -> None:
    verdicts = look_at_many(small, tmp_path, 10_000, "damage-nightly")
    figures("damage-nightly", rounds=sum(verdicts.values()), **{"unnoticed": 0, **verdicts})


def test_control_a_change_that_looks_right_is_caught(small: Path, tmp_path: Path) -> None:
    """Events that changed, and a file that verifies: the comparison itself must see it."""
    before = damage.content(small)
    key = next(iter(before))
    before[key] = (*before[key][:2], "something else", *before[key][3:])
    verdict, said = damage.look_at(small, before)
    assert (verdict, "something else" in said) == ("unnoticed", True)
    caught("damage", "a changed text in a file that verifies")


# -- salvage ---------------------------------------------------------------------------------------------------------


def salvaged(
    sound: Path, folder: Path, kind: str, rounds: int, *, honest: bool = True
) -> tuple[list[Any], list[float], list[str]]:
    said = inside(
        damage.salvage_rounds,
        str(sound),
        str(folder),
        kind,
        list(seeds(f"salvage {kind}", rounds)),
        honest,
        seconds=400,
    )
    lines = [line for line in said if line[0] == "saved"]
    assert len(lines) == rounds
    complaints = [f"{kind}, seed {line[1]}: {line[6]}" for line in lines if line[6]]
    for line in lines:
        _, seed, there, exact, allowed, *_ = line
        if there - exact > allowed:
            complaints.append(
                f"{kind}, seed {seed}: {there - exact} of {there} events were not saved, {allowed} may be"
            )
    return lines, [line[3] / line[2] for line in lines], complaints


@pytest.mark.parametrize(("kind", "rounds"), [("64 bytes", 3), ("a zeroed page", 4), ("cut short", 2)])
def test_salvage_saves_what_is_readable(large: Path, tmp_path: Path, kind: str, rounds: int) -> None:
    lines, rates, complaints = salvaged(large, tmp_path, kind, rounds)
    assert complaints == []
    figures(
        f"salvage-{kind.replace(' ', '-')}",
        rounds=rounds,
        events=lines[0][2],
        saved_worst=round(min(rates), 5),
        saved_mean=round(sum(rates) / len(rates), 5),
    )


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["64 bytes", "a zeroed page", "cut short"])
def test_salvage_saves_what_is_readable_a_hundred_times(large: Path, tmp_path: Path, kind: str) -> None:
    worst = []
    for _ in range(10):
        _, rates, complaints = salvaged(large, tmp_path, kind, 10)
        assert complaints == []
        worst.append(min(rates))
    figures(f"salvage-nightly-{kind.replace(' ', '-')}", rounds=100, saved_worst=round(min(worst), 5))


def test_salvage_of_a_sound_store_saves_all(small: Path, tmp_path: Path) -> None:
    exact, wrong, report = damage.saved(damage.content(small), small, tmp_path / "out.db")
    assert (exact, wrong, report.damaged) == (len(damage.content(small)), [], 0)


def test_salvage_reads_the_log_of_a_killed_store(small: Path, tmp_path: Path) -> None:
    (line,) = [line for line in inside(damage.with_log, str(small), str(tmp_path)) if line[0] == "saved"]
    assert line[3] == line[2]
    assert line[6] == []


def test_salvage_always_ends_with_a_store_that_verifies(small: Path, tmp_path: Path) -> None:
    """Whatever was done to the file, short of taking everything: salvage does not fail, and what it makes is sound."""
    for i in range(3):
        said = inside(battered, str(small), str(tmp_path), list(seeds("battered", 20)), seconds=200)
        wrong = [line for line in said if line[0] == "wrong"]
        assert wrong == [], f"run {i}: {json.dumps(wrong[:8], indent=1)}"


def battered(say: Any, sound: str, folder: str, all_seeds: list[int]) -> None:
    import random
    import traceback

    before = damage.content(Path(sound))
    whole = Path(sound).read_bytes()
    for seed in all_seeds:
        rng = random.Random(seed)
        data = bytearray(whole)
        # Where it hurts: pages that hold few rows on which much depends (users, conversations, branches, schema).
        pages = damage.page_map(Path(sound))
        small = [n for n, (name, _) in pages.items() if name in ("users", "conversations", "branches", "sqlite_schema")]
        for _ in range(rng.choice((1, 4, 30, 200))):
            number = rng.choice(small) if rng.random() < 0.7 else rng.randint(1, len(data) // damage.PAGE)
            data[(number - 1) * damage.PAGE + rng.randrange(damage.PAGE)] ^= rng.randint(1, 255)
        path = Path(folder, "battered.db")
        damage.remove(path)
        path.write_bytes(data)
        say("trying", seed)
        try:
            _, wrong, _ = damage.saved(before, path, Path(folder, "out.db"))
        except Exception:
            wrong = [traceback.format_exc()[-600:]]
        for line in wrong[:2]:
            say("wrong", seed, line[:700])


def test_control_a_salvage_that_drops_rows_is_caught(large: Path, tmp_path: Path) -> None:
    _, rates, complaints = salvaged(large, tmp_path, "64 bytes", 1, honest=False)
    assert rates[0] < 0.985
    assert [line for line in complaints if "not saved" in line]
    caught("salvage", "a salvage that drops every fortieth row")


def test_a_damaged_row_is_saved_as_it_can_be_stored() -> None:
    """Damage may leave a number where a text was, which the database would turn into another form of it: what is marked as
    damaged fits its own checksum all the same."""
    said = [
        "message",
        "user",
        1e20,
        5,
        2.5,
        None,
        b"\xff",
        None,
        None,
        2.0,
        None,
        None,
        None,
        3.0,
        "x",
        7,
        1.5,
        "k",
        4.0,
    ]
    marked = salvage._mark([0, 1, *said, 123])[2:-1]
    stored = apsw.Connection(":memory:")
    columns = events.COLUMNS.replace("seq, ", "").replace(" branch_no,", "").replace(", checksum", "")
    stored.execute("".join(script for _, script in migrate.scripts("sqlite", 0))).fetchall()
    stored.execute(
        f"insert into events (id, user_no, conversation_no, branch_no, seq, checksum, {columns}) values"
        f" (1, 1, 1, 0, 1, 0, {', '.join('?' * len(marked))})",
        marked,
    ).fetchall()
    back = stored.execute(f"select {columns} from events").fetchall()[0]
    assert events.content_crc(back) == events.content_crc(marked)
