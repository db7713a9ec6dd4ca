"""What a terminal, a mail, a box or an editor puts inside a secret does not hide it, and nothing else is touched."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import textwrap
from collections.abc import Callable

import pytest

from recollect.redact import Gate, redact

ALNUM = string.ascii_letters + string.digits


def some(rng: random.Random, size: int, letters: str = ALNUM) -> str:
    return "".join(rng.choice(letters) for _ in range(size))


FAMILIES: dict[str, Callable[[random.Random], str]] = {
    "github": lambda rng: "ghp_" + some(rng, 36),
    "openai": lambda rng: "sk-proj-" + some(rng, 120, ALNUM + "-_"),
    "anthropic": lambda rng: "sk-ant-api03-" + some(rng, 90, ALNUM + "-_") + "AA",
    "stripe": lambda rng: "sk_live_" + some(rng, 60),
    "vault": lambda rng: "hvs." + some(rng, 90),
    "digitalocean": lambda rng: "dop_v1_" + some(rng, 64, "0123456789abcdef"),
    "jwt": lambda rng: "eyJhbGciOiJIUzI1NiJ9." + some(rng, 60, ALNUM) + "." + some(rng, 43, ALNUM),
}
SURROUNDINGS = (
    "first line of it\n{}\nlast line, and nothing else.",
    'curl -H "Authorization: Bearer {}" https://api.acme.io/v1/items',
    '{{"user": "kim", "token": "{}", "n": 3}}',
)
UNSEEN = {
    "grep --color": "\x1b[01;31m\x1b[K",
    "a colour ends": "\x1b[m\x1b[K",
    "256 colours": "\x1b[38;5;196m",
    "a colour in JSON": "\\u001b[31m",
    "soft hyphen": "\xad",
    "soft hyphen in HTML": "&shy;",
    "zero width space": "\u200b",
    "zero width space in JSON": "\\u200b",
    "joiner": "\u2060",
    "byte order mark": "\ufeff",
    "variation selector": "\ufe0f",
    "tag": "\U000e0041",
    "a colour of one byte": "\x9b31m",
    "a link": "\x1b]8;;https://acme.io/runs/7\x07",
    "a link ends": "\x1b]8;;\x1b\\",
    "a title": "\x1b]0;kim@build: ~\x07",
    "delete": "\x7f",
}
BREAKS = {
    "newline": "\n",
    "CRLF": "\r\n",
    "indented": "\n      ",
    "backslash": "\\\n",
    "backslash and indented": "\\\n    ",
    "quoted": "\n> ",
    "quoted twice": "\n> > ",
    "box": " │\n│ ",
    "heavy box": "\n┃ ",
    "ASCII box": " |\n| ",
    "line numbers": "\n   12\t",
    "line numbers and an arrow": "\n   12→",
    "comment": "\n# ",
    "diff": "\n+",
    "concatenated": '" +\n    "',
    "newline in JSON": "\\n",
    "carriage return": "\r",
    "vertical tab": "\v",
    "form feed": "\f",
    "web page": "<br>",
    "psql": "+\n ",
    "psql, padded": "     +\n ",
    "psql in columns": "   +|\n  | ",
    "docker compose": "\nweb_1  | ",
    "kubernetes": "\n2026-05-01T10:00:00.123456789Z stdout F ",
    "log": "\n2026-05-01 10:00:00,123 INFO ",
    "clock": "\n[10:00:00] ",
}


def longest_piece(secret: str, text: str) -> int:
    """How long the longest part of a secret is that stands in a text."""
    most = 0
    for start in range(len(secret)):
        while most < len(secret) - start and secret[start : start + most + 1] in text:
            most += 1
    return most


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_nobody_sees_hides_no_token(family: str, unseen: str) -> None:
    rng = random.Random(f"{family} {unseen}")
    for surroundings in SURROUNDINGS:
        secret = FAMILIES[family](rng)
        at = rng.randrange(5, len(secret) - 5)
        for pieces in ([secret[:at], secret[at:]], textwrap.wrap(secret, 9, break_on_hyphens=False)):
            safe = redact(surroundings.format(unseen.join(pieces))).text
            assert "[redacted:" in safe
            assert longest_piece(secret, safe.replace(unseen, "")) < 8, safe


@pytest.mark.parametrize("between", BREAKS.values(), ids=BREAKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_token_that_goes_on_below_is_taken_whole(family: str, between: str) -> None:
    rng = random.Random(f"{family} {between}")
    left = 0
    for number in range(12):
        secret = FAMILIES[family](rng)
        at = rng.randrange(20, len(secret) - 14)
        safe = redact(SURROUNDINGS[number % 3].format(secret[:at] + between + secret[at:])).text
        left += longest_piece(secret, safe) >= 12
    assert left <= 1  # a piece may happen to read like words


def test_bold_and_underlined_as_a_pager_writes_them() -> None:
    token = "ghp_" + some(random.Random(2), 36)
    for overstruck in ("".join(f"{c}\b{c}" for c in token), "".join(f"_\b{c}" for c in token)):
        safe = redact(f"token {overstruck} ok").text
        assert safe.endswith("[redacted:github-token] ok")
        assert len(safe) < 40
    assert redact(f"{token}\b.").text == "[redacted:github-token]\b."


def test_what_a_link_leads_to_is_looked_at() -> None:
    token = "ghp_" + some(random.Random(3), 36)
    safe = redact(f"see \x1b]8;;https://kim:{token}@acme.io/x\x07the run\x1b]8;;\x07").text
    assert longest_piece(token, safe) < 8
    assert redact(safe).text == safe
    assert not Gate().is_quiet(f"\x1b]0;{token}\x07")


def test_a_text_is_asked_whether_it_is_quiet_as_it_is_seen() -> None:
    """Cut by colours, no piece of it is long enough to be worth a look."""
    token = "\x1b[31m".join(textwrap.wrap("ghp_" + some(random.Random(1), 36), 5))
    gate = Gate()
    assert not gate.is_quiet(token)
    assert gate.loud(["nothing", token]) == [1]
    assert gate.text(token) == "[redacted:github-token]"


@pytest.mark.parametrize(
    "text",
    [
        "the key is ghp_{}\nand that is all\n",
        "ghp_{}\n9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a  build.tar.gz\n",
        "ghp_{}\nDeployment finished\n",
        "ghp_{}\nfileName2 = open(path)\n",
        "ghp_{}\n2024-05-01T10:00:00Z INFO started\n",
        "ghp_{}\nsrc/recollect/redact/seams2.py\n",
        "ghp_{}\nRELEASE_2=abcdefABCDEF1234567890\n",
    ],
)
def test_what_stands_below_a_token_stays(text: str) -> None:
    secret = some(random.Random(text), 36)
    assert redact(text.format(secret)).text == text.replace("ghp_{}", "[redacted:github-token]")


# --- private keys --------------------------------------------------------------------------------------------------------

FRAMES: dict[str, Callable[[list[str]], str]] = {
    "plain": "\n".join,
    "CRLF": "\r\n".join,
    "quoted": lambda lines: "\n".join(f"> {line}" for line in lines),
    "indented": lambda lines: "\n".join(f"      {line}" for line in lines),
    "numbered": lambda lines: "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(lines, 8)),
    "grep": lambda lines: "\n".join(f"key.pem:{n}:{line}" for n, line in enumerate(lines, 8)),
    "arrows": lambda lines: "\n".join(f"{n:6d}→{line}" for n, line in enumerate(lines, 8)),
    "diff": lambda lines: "\n".join(f"+{line}" for line in lines),
    "box": lambda lines: "\n".join(f"│ {line:70} │" for line in lines),
    "JSON": lambda lines: json.dumps({"stdout": "\n".join(lines) + "\n"}),
    "strings": lambda lines: "\n".join(f'    "{line}\\n"' for line in lines),
    "colours": lambda lines: "\n".join(f"\x1b[32m{line}\x1b[0m" for line in lines),
}


def body(rng: random.Random, size: int, width: int) -> list[str]:
    return textwrap.wrap(base64.b64encode(rng.randbytes(size)).decode(), width)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("width", [64, 70])
@pytest.mark.parametrize("end", ["-----END RSA PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----", ""])
def test_the_body_of_a_private_key_is_known_without_its_first_line(
    frame: Callable[[list[str]], str], width: int, end: str
) -> None:
    rng = random.Random(f"{width} {end}")
    for _ in range(5):
        lines = body(rng, 1190, width)[-6:]
        safe = redact(frame([*lines, end] if end else lines)).text
        assert not any(line[:20] in safe or line[-20:] in safe for line in lines), safe


def public() -> dict[str, str]:
    rng = random.Random(5)
    lines, wide = body(rng, 1100, 64), body(rng, 1100, 76)
    blob = "\n".join(lines)
    certificate = f"-----BEGIN CERTIFICATE-----\n{blob}\n-----END CERTIFICATE-----\n"
    hashes = [hashlib.sha256(str(n).encode()) for n in range(9)]
    return {
        "certificate": certificate,
        "chain": certificate + "\n" + certificate,
        "quoted": textwrap.indent(certificate, "> "),
        "in JSON": json.dumps({"cert": certificate}),
        "end of one": "\n".join(certificate.splitlines()[-6:]),
        "start of one": "\n".join(certificate.splitlines()[:6]),
        "signature": f"-----BEGIN PGP SIGNATURE-----\n\n{blob}\n=aB3d\n-----END PGP SIGNATURE-----",
        "image": f'<img src="data:image/png;base64,{blob}">',
        "attachment": "Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n" + "\n".join(wide),
        "SAML": f"<ds:X509Certificate>\n{blob}\n</ds:X509Certificate>",
        "picture": "iVBORw0KGgo" + blob[11:],
        "pip": "\n".join(f"    --hash=sha256:{h.hexdigest()} \\" for h in hashes),
        "npm": "\n".join(f'"integrity": "sha512-{base64.b64encode(h.digest() * 2).decode()}",' for h in hashes),
        "go": "\n".join(f"github.com/a/b v1.0.0 h1:{base64.b64encode(h.digest()).decode()}" for h in hashes),
        "checksums": "\n".join(f"{h.hexdigest()}  file.txt" for h in hashes),
        "ssh": "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + "".join(lines) + " kim@acme.io",
        "wrapped ssh": "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ\n" + blob,
        "a file": "\n".join(body(rng, 30_000, 64)),
    }


@pytest.mark.parametrize("text", public().values(), ids=public())
def test_public_base64_stays(text: str) -> None:
    assert redact(text).text == text


# --- any text ------------------------------------------------------------------------------------------------------------


def fuzzed(rng: random.Random) -> str:
    """Tokens, keys, words and seams in any order."""
    parts: list[str] = []
    for _ in range(rng.randrange(1, 14)):
        secret = FAMILIES[rng.choice(list(FAMILIES))](rng)
        cuts = sorted(rng.sample(range(1, len(secret)), rng.randrange(4)))
        seam = rng.choice([*UNSEEN.values(), *BREAKS.values()])
        parts.append(
            rng.choice(
                [
                    seam.join([secret[a:b] for a, b in zip([0, *cuts], [*cuts, len(secret)], strict=True)]),
                    rng.choice(list(FRAMES.values()))(body(rng, rng.randrange(40, 300), 64)),
                    "-----END PRIVATE KEY-----",
                    "-----BEGIN CERTIFICATE-----",
                    "[redacted:github-token]",
                    "password: hunter2" + seam,
                    some(rng, rng.randrange(1, 70)),
                    rng.choice(["the key", "Größe", "пароль", "🔑", "日本", "\x1b[", "\\u00", "&sh", "\x01", "y;"]),
                    seam,
                ]
            )
        )
        parts.append(rng.choice(["", "", " ", "\n", "\n\n", seam]))
    return "".join(parts)


@pytest.mark.parametrize("seed", range(300))
def test_findings_lie_where_they_say_and_redacting_twice_changes_nothing(seed: int) -> None:
    text = fuzzed(random.Random(seed))
    safe, findings = redact(text)
    pieces, at = list[str](), 0
    for family, start, end in findings:
        assert at <= start < end <= len(text)
        pieces += (text[at:start], f"[redacted:{family}]")
        at = end
    assert "".join((*pieces, text[at:])) == safe  # all else is there, byte for byte
    again = redact(safe)
    assert (again.text, again.findings) == (safe, ())
