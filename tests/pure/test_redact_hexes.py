"""Bare hex, when it is asked for, and what a command shows of the clipboard."""

from __future__ import annotations

import pytest

import recollect
from recollect.config import Settings
from recollect.redact import Gate, patterns_of, redact

KEY = "9f8a7b6c5d4e3f2a1b0c"
SHA = "9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e3f2a1b0c"
GATE = Gate(patterns=patterns_of(Settings(redact_bare_hex=True)))


@pytest.mark.parametrize("text", ["it is {}", "use 0x{} for it", "it ends in {}.\n", "{}"])
def test_bare_hex_goes_when_it_is_asked_for(text: str) -> None:
    text = text.format(KEY)
    safe = GATE.another().text(text)
    assert KEY not in safe and "[redacted:bare-hex]" in safe
    assert GATE.another().text(safe) == safe
    assert redact(text).text == text, "off by default"


@pytest.mark.parametrize(
    "text",
    [
        f"commit {SHA}",
        f"{SHA} refs/heads/main",
        f"$ git rev-parse HEAD\n{SHA}\n",
        f"    --hash=sha256:{SHA} \\",
        f'"integrity": "{SHA}"',
        f"{SHA}{SHA[:24]}  dist/app.whl",
        "123e4567-e89b-12d3-a456-426614174000",
        "color: #9f8a7b6c",
        f"https://acme.io/files/{SHA}/raw",
        f"trace_id={SHA[:32]}",
        "9f8a7b6c5d4e3f2",
        "1234567890123456",
    ],
)
def test_hex_that_its_surroundings_name_stays(text: str) -> None:
    assert GATE.another().text(text) == text


def test_the_setting_reaches_what_is_written() -> None:
    with recollect.open(":memory:", redact_bare_hex=True, background=False) as store:
        talk = store.create()
        assert store.append(talk.id, role="user", text=f"it is {KEY}").text == "it is [redacted:bare-hex]"


@pytest.mark.parametrize(
    "text",
    [
        "$ pbpaste\nTr0ub4dor&3x\n",
        "$ xclip -selection clipboard -o\nhG7#kLm29qZ\n",
        "$ xsel --clipboard --output\nhG7#kLm29qZ",
        "$ wl-paste\nhG7#kLm29qZ",
        "PS> Get-Clipboard\nhG7#kLm29qZ",
        "clipboard: Xk29!mmPqz",
        'Clipboard contents: "Xk29!mmPqz"',
    ],
)
def test_a_password_in_the_clipboard_goes(text: str) -> None:
    assert [f.family for f in redact(text).findings] == ["password"]


@pytest.mark.parametrize(
    "text",
    [
        "$ pbpaste\nhello world again\n",
        "$ pbpaste\nhttps://acme.io/x1\n",
        "$ pbpaste | wc -l\n12\n",
        "set clipboard=unnamedplus",
        "clipboard: unnamedplus",
        'Clipboard contents: "report-final.pdf"',
        "$ pbpaste\nSELECT * FROM users;\n",
    ],
)
def test_what_else_is_in_the_clipboard_stays(text: str) -> None:
    assert redact(text).text == text
