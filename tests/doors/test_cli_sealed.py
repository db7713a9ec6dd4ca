"""An encrypted export at the command line, and back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from console import Run

from recollect import keys


@pytest.mark.parametrize("store", ["plain", "encrypted"])
def test_an_encrypted_export_and_back(
    run: Run, trip: str, tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, key = tmp_path / "all.sealed", tmp_path / "the.key"
    answer = run("export", str(file), "--encrypt")
    assert (answer.code, "--key-file" in answer.err) == (2, True), "nobody to ask for a passphrase"
    if store == "encrypted":
        assert run("encrypt", "--key-file", str(key)).code == 0
        monkeypatch.setenv("RECOLLECT_KEY_FILE", str(key))
        assert run("export", str(file), "--encrypt").code == 0
    else:
        keys.save_file(keys.Key.new(), str(key))
        from recollect import sealed

        plain = tmp_path / "all.jsonl"
        assert run("export", str(plain)).code == 0
        with sealed.writing(file, keys.read(str(key))) as f:
            f.write(plain.read_bytes())
    content = file.read_bytes()
    assert content[:3] == b"RCE"
    assert b"train" not in content
    other = ["-d", str(tmp_path / "other.db")]
    monkeypatch.delenv("RECOLLECT_KEY_FILE", raising=False)
    answer = run(*other, "import", str(file))
    assert (answer.code, "encrypted" in answer.err) == (6, True)
    monkeypatch.setenv("RECOLLECT_KEY_FILE", str(key))
    os.unlink(tmp_path / "other.db")
    assert run(*other, "import", str(file)).code == 0
    assert "Which train?" in run(*other, "show", "trip-1").out
    answer = run("export", str(tmp_path / "x.gz"), "--encrypt")
    assert answer.code == 2
