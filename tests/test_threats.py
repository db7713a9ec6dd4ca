"""The threat model and SECURITY.md say what is so: every claim has its test, every floor is the one that is installed by."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
CLAIMS = PAGE[PAGE.index("## What we claim") : PAGE.index("## What we do not defend against")]
ROWS = [line for line in CLAIMS.splitlines() if line.startswith("| ") and not line.startswith("| claim")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_every_claim_names_tests_that_are_there(row: str) -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", row)
    assert named, "a claim without a test"
    for file, name in named:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / "tests" / file).read_text("utf-8"), re.M), (
            f"{file}::{name}"
        )


def test_there_are_claims_and_limits() -> None:
    assert len(ROWS) >= 20
    assert PAGE.count("\n- **") >= 6, "what is not defended against"


def floors() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(w for extra in project["optional-dependencies"].values() for w in extra)]
    return {m[1]: m[2] for w in wanted if (m := re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)", w))}


def test_the_floors_are_those_of_the_project() -> None:
    said = re.findall(r"^\| `([\w-]+)` \| ([\d.]+) \| (.+) \|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.M)
    assert len(said) >= 8
    for package, floor, why in said:
        assert floors()[package] == floor, package
        assert "CVE-" in why or "bug" in why, f"{package}: why"


def test_what_is_installed_in_ci_is_not_below_a_floor() -> None:
    def number(version: str) -> tuple[int, ...]:
        return tuple(int(n) for n in re.findall(r"\d+", version)[:3])

    for file in (ROOT / "constraints").glob("*.txt"):
        for package, version in re.findall(r"^([\w.-]+)==([\d.]+)", file.read_text("utf-8"), re.M):
            floor = floors().get(package.replace("_", "-"))
            assert floor is None or number(version) >= number(floor), f"{file.name}: {package}"
