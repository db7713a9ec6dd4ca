"""mypy and pyright accept what is right and refuse what is wrong, on Store and on AsyncStore."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import recollect

TESTS = Path(__file__).parent.parent
FILES = [str(TESTS / "typing" / name) for name in ("usage_ok.py", "usage_bad.py")]
ENVIRONMENT = {
    **os.environ,
    "MYPYPATH": str(Path(recollect.__file__).parent.parent),
    "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
}


def said_by(*command: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=TESTS.parent, env=ENVIRONMENT
    )
    return done.returncode, done.stdout + done.stderr


def test_mypy(tmp_path: Path) -> None:
    code, said = said_by("mypy", "--strict", "--cache-dir", str(tmp_path), *FILES)
    assert code == 0, said


def test_pyright() -> None:
    code, said = said_by("pyright", "--pythonpath", sys.executable, *FILES)
    assert code == 0, said


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_every_wrong_line_is_wrong_to_each(checker: str, tmp_path: Path) -> None:
    """Without its ignores, each marked line is refused, and no other."""
    lines = Path(FILES[1]).read_text().splitlines()
    bare = tmp_path / "bare.py"
    bare.write_text("\n".join(line.split("  # type: ignore")[0] for line in lines))
    options = ["--strict", "--cache-dir", str(tmp_path)] if checker == "mypy" else ["--pythonpath", sys.executable]
    _, said = said_by(checker, *options, str(bare))
    wrong = {int(part.split(":")[1]) for part in said.splitlines() if " error:" in part and "bare.py:" in part} if checker == "mypy" else {
        int(part.split("bare.py:")[1].split(":")[0]) for part in said.splitlines() if "bare.py:" in part and "error:" in part
    }  # fmt: skip
    marked = {i for i, line in enumerate(lines, 1) if "# type: ignore[" in line}
    assert wrong == marked
