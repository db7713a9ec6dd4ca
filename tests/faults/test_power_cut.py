"""The power fails: what was acknowledged was synced, so it is there when the machine starts again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .harness import caught, figures, inside, seeds
from .powercut import cut_the_power

CHUNK = 50


def cuts(folder: Path, number: int, *, safe: bool, name: str) -> tuple[list[Any], int]:
    """Every cut that was made: (what, acknowledged before it, what is wrong after it); and the number of syncs."""
    made: list[Any] = []
    syncs = 0
    for i, seed in enumerate(seeds(name, number // CHUNK)):
        place = folder / f"{name}-{i}"
        place.mkdir()
        said = inside(cut_the_power, str(place), seed, CHUNK, safe, seconds=300)
        syncs += sum(line[1] for line in said if line[0] == "syncs")
        found = [line[1:] for line in said if line[0] == "cut"]
        assert len(found) == CHUNK
        if safe:
            wrong = [line for line in found if line[2]]
            assert wrong == [], f"seed {seed}: {json.dumps(wrong[:5], indent=1)}"
        made += found
        shutil.rmtree(place)
    return made, syncs


def test_a_thousand_cuts_lose_nothing(tmp_path: Path) -> None:
    made, syncs = cuts(tmp_path, 1000, safe=True, name="power-cut")
    looked_for = sum(line[1] for line in made)
    assert looked_for > 10_000, "the cuts came before anything was acknowledged"
    assert syncs > 1000
    assert len({line[0].split(" at ")[0] for line in made}) >= 8, "the cuts fell on few kinds of moments"
    wrong = [text for line in made for text in line[2]]
    assert wrong == []
    figures("power-cut", cuts=len(made), acknowledged=looked_for, lost=len(wrong))


def test_control_without_syncs_the_cuts_show_a_loss(tmp_path: Path) -> None:
    """The simulator shows a loss where there is one, or its silence above would mean nothing."""
    made, syncs = cuts(tmp_path, 100, safe=False, name="power-cut-without-syncs")
    lost = [line for line in made if line[2]]
    assert len(lost) >= 20
    assert any("lost: " in text for line in lost for text in line[2])
    assert syncs < 100, "there were syncs all the same"
    caught("power-cut", f"synchronous=OFF loses or damages something in {len(lost)} of {len(made)} cuts")


@pytest.mark.nightly
def test_twenty_thousand_cuts_lose_nothing(tmp_path: Path) -> None:
    made, _ = cuts(tmp_path, 20_000, safe=True, name="power-cut-nightly")
    figures("power-cut-nightly", cuts=len(made), acknowledged=sum(line[1] for line in made), lost=0)
