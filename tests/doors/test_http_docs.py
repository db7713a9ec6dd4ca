"""The page "Use it from any language" does what it says: its commands run in bash against a sidecar."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from sidecar import process

from test_docs import DOCS, blocks

PAGE = DOCS / "how-to" / "any-language.md"


def test_the_commands_of_the_page_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shutil.which("curl") and shutil.which("bash"), "install curl"
    page = blocks(PAGE)
    ran = 0
    with process("--port", "0", RECOLLECT_SEMANTIC="false", RECOLLECT_BACKGROUND="false") as sidecar:
        known = {**os.environ, "URL": sidecar.url, "TOKEN": sidecar.token}
        before = ""
        for block, after in zip(page, [*page[1:], None], strict=True):
            if block.language != "bash":
                continue
            # Functions stay, as in one terminal; what ran before does not run again.
            done = subprocess.run(
                ["bash", "-c", before + block.text.replace("\nmemory ", "\necho; memory ")], env=known, cwd=tmp_path,
                capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            assert done.returncode == 0, f"{PAGE.name}:{block.line}: {done.stderr}"
            if "() {" in block.text:
                before = block.text[: block.text.index("\n}\n") + 3]
            assert after is not None and after.language in ("json", "text"), (
                f"{PAGE.name}:{block.line}: nothing to compare with"
            )
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            same = doctest.OutputChecker().check_output(after.text, done.stdout.lstrip("\n") + "\n", flags)
            assert same, f"{PAGE.name}:{block.line} says\n{after.text}\nbut\n{done.stdout}"
            ran += 1
    assert ran >= 9
