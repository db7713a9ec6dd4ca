"""kill -9 at named points: creation, migration, transactions, checkpoints, summaries, jobs, backup, erase, compact,
restore. Whatever was being done is done or not begun, and can be done again."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from recollect.db import points

from . import scenarios
from .harness import Child, acknowledged, caught, check_file, figures, inside, seeds, texts

WAYS = [*scenarios.SCENARIOS, *scenarios.MORE]
done: dict[str, int] = {}


def die_and_look(folder: Path, which: str, rounds: int) -> None:
    point = scenarios.MORE[which][0] if which in scenarios.MORE else which
    before = folder / "before"
    before.mkdir()
    inside(scenarios.prepared, which, str(before / "chat.db"))
    for i, seed in enumerate(seeds(which, rounds)):
        place = folder / str(i)
        shutil.copytree(before, place)
        path = str(place / "chat.db")
        with Child(scenarios.die, point, which, path, seed) as child:
            said = child.ended()
            assert child.process.exitcode == -signal.SIGKILL, f"{which} was not reached: {said}"
        wrong = inside(scenarios.look, which, path, said)
        assert wrong == [], f"{which}, seed {seed}: {json.dumps(wrong, indent=1)}"
        shutil.rmtree(place)
    done[which] = rounds


def test_every_point_has_its_scenario() -> None:
    assert list(scenarios.SCENARIOS) == list(points.NAMES)
    assert len(points.NAMES) >= 12


@pytest.mark.parametrize("which", WAYS)
def test_killed_at(tmp_path: Path, which: str) -> None:
    die_and_look(tmp_path, which, 2)
    figures(f"kill-point-{which.replace(' ', '-').replace(',', '')}", rounds=2, failures=0)


@pytest.mark.nightly
@pytest.mark.parametrize("which", WAYS)
def test_killed_at_fifty_times(tmp_path: Path, which: str) -> None:
    die_and_look(tmp_path, which, 50)
    figures(f"kill-point-nightly-{which.replace(' ', '-').replace(',', '')}", rounds=50, failures=0)


# -- the control -----------------------------------------------------------------------------------------------------


def acknowledge_early(say: Any, path: str) -> None:
    scenarios.die_at("before commit", 6)
    with scenarios.opened(path) as store:
        store.create("c0")
        for n in range(10):
            say("ack", f"a{n}", None)
            store.append("c0", role="user", text=texts(f"a{n}", 1)[0])


def test_control_an_acknowledgement_before_the_commit_is_caught(tmp_path: Path) -> None:
    path = str(tmp_path / "chat.db")
    with Child(acknowledge_early, path) as child:
        acked = acknowledged(child.ended())
    assert len(acked) == 5
    assert check_file(path, acked) == ["lost: a4 was acknowledged as None"]
    caught("points", "an acknowledgement before the commit")


def never_there(say: Any, path: str) -> None:
    scenarios.die_at("restore set aside", 1)
    with scenarios.opened(path) as store:
        store.create("c0")


def test_control_a_point_that_is_not_reached_is_noticed(tmp_path: Path) -> None:
    with Child(never_there, str(tmp_path / "chat.db")) as child:
        child.ended()
        assert child.process.exitcode != -signal.SIGKILL
    caught("points", "a point that is never reached")
