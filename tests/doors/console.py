"""What the tests of the doors share: a command's answer, and the environment of one that runs in its own process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer.main

import recollect
from recollect.cli import app

SRC = Path(recollect.__file__).parents[1]


class Answer:
    """What one command did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def __repr__(self) -> str:
        return f"exit {self.code}\n{self.out}\n--- stderr\n{self.err}"


Run = Callable[..., Answer]


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SRC), "PYTHONUTF8": "1", **extra}


def flat(text: str) -> str:
    """Help and errors wrap where the width says; what they say does not."""
    return " ".join(text.replace("│", " ").split())


def commands() -> dict[str, Any]:
    group = typer.main.get_command(app)
    return dict(group.commands)  # type: ignore[attr-defined]
