"""A marker is a wall: no rule looks across one, and how long it is changes nothing.

This is what redacting twice rests on. A secret is blanked before its text is searched once more, and the blank is as long as the secret; in
the result a marker stands there, which is longer or shorter. Were a distance measured across it, the second call could find more.
"""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labelled
from recollect.redact import Policy, redact, redact_value

MARKER = "[redacted:x]"
_ANY = re.compile(r"\[redacted:[a-z0-9][a-z0-9-]{0,63}\]")
SIZES = (1, 10, 64)


def renamed(text: str, size: int | None, rng: random.Random | None = None) -> str:
    """With other names in its markers, of this length, or each of its own."""
    return _ANY.sub(lambda _: f"[redacted:{'x' * (size or (rng or random.Random(0)).randint(1, 64))}]", text)


def found(text: str, policy: Policy | None = None) -> list[tuple[str, int, int]]:
    """What is found, and where, each marker counted as one character."""
    markers = [marker.span() for marker in _ANY.finditer(text)]

    def place(at: int) -> int:
        return at - sum(end - start - 1 for start, end in markers if end <= at)

    return [(family, place(start), place(end)) for family, start, end in redact(text, policy).findings]


FAR = "and so on and on of it "
OFFENDERS = {
    "a long run": f"secret=iieahcbfdgcx {MARKER}",
    "an equals sign that is far": f"secret:haedfddebhbgfgdeehadgbe {MARKER}=",
    "what is sent, for a password above": f'password {MARKER}; send "Delfin1\\r"',
    "what is sent, for a password behind it": f'send "Delfin1\\r" {MARKER} # the password',
    "a form that is filled": f'fill {MARKER} in "password" with "tigerlily"',
    "what it was changed from": f"a change {MARKER} password from falcon77 to x",
    "a cipher": f"ENC[{MARKER} {FAR}{FAR}the password, use Falcon-4417x",
    "the end of an element": f"<db_password>\nZx81kLmQ2v9TqW3nB7yR\n{' ' * 40}{MARKER}</db_password>",
    "an escaped quote": f'password: "Falcon#4417\\"{MARKER}{"x " * 4060}"',
    "a list": "api_keys = [\n" + " \n" * 180 + f'{MARKER},\n"da90c91c8952c3ca907924c7002f48d9a58fa39b"]',
    "a row of a table": f"| user | password |\n| --- | --- |\n| {'kim ' * 140}{MARKER} | Falcon#4417 |\n",
    "a row of HTML": f"<tr><th>User</th><th>Password</th></tr><tr><td>{'kim ' * 980}{MARKER}</td><td>Falcon#4417</td></tr>",
    "a row of HTML below": f"<tr><th>User</th><th>Password</th></tr>{' ' * 3980}{MARKER}<tr><td>kim</td><td>tiger-42</td></tr>",
    "the titles of HTML": f"<tr><th>User</th>{' ' * 3970}{MARKER}<th>Password</th></tr><tr><td>kim</td><td>tiger-42</td></tr>",
    "a long line": "x " * 3260
    + f'{MARKER} variable "token" {{{" a b" * 400} default = "Zx81kLmQ2v9TqW3nB7yR"{" y" * 4000}',
}


@pytest.mark.parametrize("text", OFFENDERS.values(), ids=OFFENDERS)
def test_how_long_a_marker_is_does_not_matter_here(text: str) -> None:
    first, *others = [found(renamed(text, size)) for size in SIZES]
    assert others == [first, first]


def test_how_long_a_marker_is_does_not_matter_to_a_pattern_of_ones_own() -> None:
    policy = Policy(extra={"desk": r"desk.{0,40}(\d{4})"})
    first, *others = [found(renamed(f"desk {MARKER} 4417, desk 4418", size), policy) for size in SIZES]
    assert others == [first, first]
    assert [family for family, _, _ in first] == ["desk"]


def test_what_the_blank_of_a_secret_hid_is_not_found_beside_its_marker() -> None:
    safe = redact("Authorization:cghbhcgabhibbiahgd 40h7heg4k2eZ=").text
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    ("text", "disabled"),
    [
        ('pwd=password="64cc93;', "connection-string"),
        (
            "638418478635100password 78ZdXcb7f4ad86fijY9i6jh1bpwd=dcfhcdiiebaggpwd=>3970137043644083891890password",
            "api-key",
        ),
    ],
)
def test_what_is_let_through_does_not_become_a_secret_beside_a_marker(text: str, disabled: str) -> None:
    policy = Policy(disabled=frozenset({disabled}))
    safe = redact(text, policy).text
    assert redact(safe, policy) == (safe, ())


@pytest.mark.parametrize(
    "value",
    [
        {"ghp_" + "A1b2C3d4E5f6" * 3: "0pLNfiWaEuBqOhOEXEvkuSYDsrbBjxe2"},
        {"name": "ghp_" + "A1b2C3d4E5f6" * 3, "value": "Thunder2000%"},
    ],
)
def test_a_marker_names_no_secret(value: dict[str, str]) -> None:
    """`[redacted:github-token]` ends in a word for one."""
    safe, findings = redact_value(value)
    assert findings
    assert redact_value(safe) == (safe, ())


# What rules look for near a match, and what is between.
WORDS = (
    "password", "passwd", "secret", "token", "key", "api_keys = [", "passwords: {", "]", "ENC[", "changed from ", "fill ", 'send "', '\\r"', "<db_password>",
    "</", "<", ">", "=", ": ", '"', "'", '\\"', "use ", "is ", "my ", "the ", "with ", "set to ", "| user | password |\n", "|", "<tr><th>Password</th><th>User</th></tr>",
    "<tr><td>", "</td><td>", "</td></tr>", "auth(", "login ", "recovery codes: ", "public ", "site key ", "id=", "page token ", "Cookie: ", "Authorization: ",
    "bearer ", "curl -u ", "mysql -p", "echo ", " | base64", "user,password\n", "insert into t (name, password) values ('a', ", "aws ", "sha256 ",
    'variable "token" { default = ', "Server=a;Password=", "setPassword(", "export ", "process.env.TOKEN || ", "value=", "kim@acme.io / ", "root / ",
    "https://kim:", "@host", "?token=", "my pin is ", "seed phrase: ", "\n", "\n\n", " ", ", ", "; ", " - ", "// ",
)  # fmt: skip
BETWEEN = st.tuples(st.sampled_from(("word ", "x ", "(", ": ", " \t", "1 ", ", ")), st.integers(0, 90)).map(
    lambda made: made[0] * made[1]
)
VALUES = st.sampled_from([secret for row in labelled.secrets() for secret in row.secrets if len(secret) < 60])
LINES = st.sampled_from([row.text for row in (*labelled.secrets(), *labelled.clean())])
PIECES = st.one_of(st.just(MARKER), st.just(MARKER), st.sampled_from(WORDS), st.sampled_from(WORDS), BETWEEN, VALUES, LINES,
                   st.text("ab1cX9 :=\"'\n-.", max_size=24))  # fmt: skip
TEXTS = st.tuples(st.sampled_from(("", "", " ", "\n", ", ")), st.lists(PIECES, min_size=2, max_size=12)).map(
    lambda made: made[0].join(made[1])
)


POLICIES = st.builds(
    Policy,
    st.sampled_from(({}, {}, {"desk": r"desk.{0,40}(\d{4})"}, {"all": r"(?i)pass.{0,30}"}, {"far": r"(?s)token.{0,60}(\w{5,})"})),
    st.just(()),
    st.frozensets(st.sampled_from(("password", "api-key", "pin", "authorization", "connection-string", "url-token")), max_size=3),
)  # fmt: skip


@settings(max_examples=2000)
@given(TEXTS, st.integers(0, 1000))
def test_how_long_a_marker_is_does_not_matter(text: str, seed: int) -> None:
    first = found(renamed(text, 1))
    assert found(renamed(text, 64)) == first
    assert found(renamed(text, None, random.Random(seed))) == first


@settings(max_examples=2000)
@given(TEXTS, st.just(Policy()) | POLICIES, st.integers(0, 1000))
def test_nothing_is_found_in_what_is_redacted_however_long_its_markers_are(
    text: str, policy: Policy, seed: int
) -> None:
    safe = redact(text, policy).text
    for size in (1, 64, None):
        assert found(renamed(safe, size, random.Random(seed)), policy) == []


@settings(max_examples=1_500, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "%3D|%26|%22|%3A|&quot;|token|password|my password is |api_key|=| |1|user|AKIAIOSFODNN7QXMPLXA|aB3dE5fG7hJ9kL1mN3pQ|Falcon#4417x"
            f"|ghp_aB3dE5fG7hJ9kL1mN3pQaB3dE5fG7hJ9kL1m|bearer |{MARKER}".split("|")
        ),
        min_size=2,
        max_size=9,
    ).map("".join)
)  # fmt: skip
def test_what_is_escaped_in_a_link_or_a_page_is_read_the_same_beside_a_marker(text: str) -> None:
    safe = redact(text).text
    assert redact(safe) == (safe, ())


ALPHABETS = (
    "abcdeXYZ019",
    "абвгдЖЩё",
    "αβγΔΩ",
    "אבגד",
    "قطتي",
    "旅行密",
    "さくらト",
    "고양이",
    "0123456789",
    "!#$-_.@",
    "éüñß",
    "😀",
)
ANNOUNCED = (
    "password", "пароль", "пароль от ", "密码", "パスワードは", "비밀번호", "token", "api_key", "секрет", "is", "=", ": ", "：", "password is ",
    "my pin ", "KEY=", "Bearer ", "login: ", "\n",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(ANNOUNCED)
        | st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, min_size=1, max_size=9)),
        max_size=24,
    ).map("".join)
)
def test_redacting_twice_changes_nothing_in_any_alphabet(text: str) -> None:
    safe = redact(text).text
    assert redact(safe) == (safe, ())
