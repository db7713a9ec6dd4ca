"""100 KB at once: a real file with hundreds of secrets keeps every line that has none, a flood made to be slow goes whole.

How long the texts of a flood take is measured in `bench/redaction.py`; here it is counted that they are not searched.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from bench.redaction import mixture
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import labelled
from recollect.redact import Policy, asides, assign, commands, engine, prose, redact, screen, search, structures
from recollect.redact.screen import to_bytes

SIZE = 100_000
LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
WORDS = (
    "amber birch cedar delta ember falcon garnet harbor indigo juniper kestrel lagoon maple nectar onyx pebble".split()
)

Line = tuple[str, str | None]  # and the secret in it


def _random(rng: random.Random, size: int) -> str:
    return "".join(rng.choices(LETTERS, k=size - 2)) + "7q"


def _chosen(rng: random.Random) -> str:
    return f"{rng.choice(WORDS).capitalize()}{rng.choice('#!$')}{rng.randrange(1000, 9999)}"


def _env(rng: random.Random) -> list[Line]:
    name, token = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}".upper(), _random(rng, 24)
    return [
        rng.choice(
            [
                (f"{name}_PASSWORD={(chosen := _chosen(rng))}", chosen),
                (f"{name}_API_KEY={token}", token),
                (f"{name}_HOST={rng.choice(WORDS)}.example.net", None),
                (f"{name}_PORT={rng.randrange(1000, 9999)}", None),
                (f"# {name.lower()} is read at the start", None),
            ]
        )
    ]


def _export(rng: random.Random) -> list[Line]:
    word, chosen = rng.choice(WORDS), _chosen(rng)
    return [
        (f"{word},https://{word}.example.com/login,{word}@example.org,{chosen},", chosen),
    ]


def _log(rng: random.Random) -> list[Line]:
    token = _random(rng, 32)
    at = f"2026-11-18 12:{rng.randrange(60):02}:{rng.randrange(60):02}"
    return [
        (f"{at} INFO {rng.choice(WORDS)} token={token} status=200 took {rng.randrange(999)} ms", token),
        (f"{at} INFO {rng.choice(WORDS)} login of kim, session {rng.randrange(9999)} began", None),
    ]


def _state(rng: random.Random) -> list[Line]:
    chosen, name = _chosen(rng), f"{rng.choice(WORDS)}_{rng.randrange(99)}"
    value = {"type": "aws_db_instance", "name": name, "port": 5432, "password": chosen, "kms_key_id": f"key/{name}"}
    return [(line, chosen if chosen in line else None) for line in json.dumps(value, indent=2).splitlines()]


def _har(rng: random.Random) -> list[Line]:
    token = _random(rng, 40)
    value = {
        "method": "GET",
        "url": f"https://api.example.com/{rng.choice(WORDS)}?page={rng.randrange(99)}",
        "headers": [
            {"name": "Accept", "value": "application/json"},
            {"name": "Authorization", "value": f"Bearer {token}"},
        ],
        "time": rng.randrange(999),
    }
    return [(line, token if token in line else None) for line in json.dumps(value, indent=1).splitlines()]


CODE = """\
def authenticate(self, username: str, password: str) -> Session:
    token = self.tokens.issue(user, expires_in=3600)
    if not self.hasher.verify(user.password_hash, password):
        raise InvalidCredentials("wrong user name or password")
    self.password = password
    api_key = request.headers.get("X-Api-Key")
    secret = os.environ["CLIENT_SECRET"]
    payload = jwt.decode(token, key=self.public_key, algorithms=["RS256"])
    session.cookies.set("session", token, httponly=True)
    return Session(user=user, token=token, refresh_token=refresh)
    auth: AuthConfig = load_auth(path)
    assert auth.token is not None
""".splitlines()


def _code(rng: random.Random) -> list[Line]:
    return [(rng.choice(CODE), None)]


def _tests(rng: random.Random) -> list[Line]:
    chosen = _chosen(rng)
    return [(rng.choice(CODE), None), (f'    client.login("{rng.choice(WORDS)}", password="{chosen}")', chosen)]


def _ini(rng: random.Random) -> list[Line]:
    word, chosen = rng.choice(WORDS), _chosen(rng)
    return [(f"[{word}]", None), (f"host = {word}.example.com", None), (f"password = {chosen}", chosen)]


def _shell(rng: random.Random) -> list[Line]:
    word, chosen = rng.choice(WORDS), _chosen(rng)
    return [(f"cd ~/src/{word} && git pull", None), (f"mysql -u {word} -p{chosen} {word}", chosen)]


def _settings(rng: random.Random) -> list[Line]:
    word, chosen = rng.choice(WORDS), _chosen(rng).replace("#", "-")
    url = (f"{word.upper()}_URL=postgres://{rng.choice(WORDS)}:{chosen}@{word}.example.net:5432/app", chosen)
    return _env(rng) + ([url] if rng.random() < 0.3 else [])


def _clones(rng: random.Random) -> list[Line]:
    word, token = rng.choice(WORDS), f"ghp_{_random(rng, 36)}"
    return [
        (f"https://{word}:{token}@github.com/{word}/{rng.choice(WORDS)}.git", token),
        (f"# {word} of {rng.choice(WORDS)}", None),
    ]


def _leaks(rng: random.Random) -> list[Line]:
    token = _random(rng, 32)
    value = {
        "Description": "Generic API Key",
        "Match": f'api_key = "{token}"',
        "Secret": token,
        "File": f"src/{rng.choice(WORDS)}.py",
        "RuleID": "generic-api-key",
        "Fingerprint": f"src/{rng.choice(WORDS)}.py:generic-api-key:{rng.randrange(999)}",
    }
    return [(line, token if token in line else None) for line in json.dumps(value, indent=1).splitlines()]


def _calls(rng: random.Random) -> list[Line]:
    word, chosen = rng.choice(WORDS), _chosen(rng)
    call = f'connect(host="{word}.example.net", user="{word}", password="{chosen}", token="{_random(rng, 24)}")'
    return [(call, chosen), (f"# and then {rng.choice(WORDS)}", None)]


def _one_time(rng: random.Random) -> list[Line]:
    word, chosen, seed = rng.choice(WORDS), _chosen(rng), "".join(rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=32))
    site = f"{word}.example.{rng.choice(('com', 'net', 'org'))}"
    return [(f'"{site}","kim@{site}","{chosen}","otpauth://totp/{site}?secret={seed}&issuer=x","Work"', chosen)]


REAL: dict[str, tuple[str, Callable[[random.Random], list[Line]]]] = {
    ".env": ("", _env),
    "an export of passwords": ("name,url,username,password,note\n", _export),
    "a log with a token on every second line": ("", _log),
    "Terraform's state": ("", _state),
    "HAR": ("", _har),
    "code about authentication": ("", _code),
    "tests of it": ("", _tests),
    "INI": ("", _ini),
    "a shell's history": ("", _shell),
    "settings with URLs": ("", _settings),
    "clones with tokens in their URLs": ("", _clones),
    "a report that names each secret twice": ("", _leaks),
    "calls with two secrets": ("", _calls),
    "an export with one-time secrets": ('"Title","Username","Password","OTPAuth","Tags"\n', _one_time),
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_keeps_the_lines_without_a_secret(name: str) -> None:
    head, make = REAL[name]
    rng, lines = random.Random(7), list[Line]()
    while sum(len(line) + 1 for line, _ in lines) < SIZE:
        lines += make(rng)
    text = head + "".join(f"{line}\n" for line, _ in lines)
    safe, findings = redact(text)
    assert not [secret for _, secret in lines if secret and secret in safe]
    assert "flood" not in {finding.family for finding in findings}
    kept = set(safe.splitlines())
    assert not [line for line, secret in lines if secret is None and line not in kept]
    assert redact(safe) == (safe, ())


NAMES = ("password", "pwd", "secret", "token", "api_key", "pin", "passphrase", "client secret", "cookie", "my password")
SEPARATORS = ("=", ": ", " = ", "=>", " is ", '("', ">", ' "', "='", '="', " to ")


def _flood(rng: random.Random, count: int) -> tuple[str, list[str]]:
    values = [_random(rng, 14) for _ in range(count)]
    ends = (" ", "\n", '" ', "; ")
    return "".join(rng.choice(NAMES) + rng.choice(SEPARATORS) + value + rng.choice(ends) for value in values), values


def assert_goes_whole(text: str, values: list[str]) -> None:
    before, after = "Dear Kim, this is what I found.\n" * 20, "\nThat was all of it, and it was a lot.\n" * 20
    safe, (flood, *others) = redact(before + text + after)
    assert flood.family == "flood" and flood.start == len(before) and flood.end > len(before + text) - 1_000
    assert len(others) < 40  # in its end, which is looked at with what follows it
    assert safe.startswith(before) and safe.endswith(after[1:])
    assert not [value for value in values if value in (before + text)[: flood.end] and value in safe]
    assert redact(safe) == (safe, ())


def test_a_flood_of_names_and_values_goes_whole_and_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    found = search._found
    monkeypatch.setattr(
        search, "_found", lambda data, *more: searched.append(len(data.replace(b"\1", b""))) or found(data, *more)
    )
    text, values = _flood(random.Random(3), 4_000)
    assert_goes_whole(text, values)
    assert max(searched) < 10_000 < len(text)  # samples, what is before it, its end and what is after it


@pytest.mark.parametrize(
    "pieces",
    [
        ("Authorization: ", "key ", "sk-", "login a / ", "x=", "token={},", "client secret='{}' ", "password is {} "),
        ("mysql -p{} ", 'client secret = "{}" ', "api_key=>", "password: {} ", "user@a.io / {} "),
        ("[redacted:x]", "my password is {} ", "key=", "password {} ", "pwd: {} ", "| password |\n", "token = {} "),
    ],
)
def test_a_flood_is_known_by_secrets_that_stand_anywhere(pieces: tuple[str, ...]) -> None:
    """Few of its words have a number behind them: what tells it from a file is that no two secrets stand behind the same."""
    rng, values, text = random.Random(8), list[str](), ""
    while len(text) < SIZE:
        values.append(_random(rng, 14))
        text += rng.choice(pieces).format(values[-1])
    assert_goes_whole(text, values)


@pytest.mark.parametrize(
    "pieces",
    [
        ("key=", "password\n", "eyJ", "token="),
        ("token ", "code 123456 ", "is my ", "Cookie: a=b;", "passwords: ["),
        ("key=", "a.", "basic ", "{SHA}", "://", "password is ", "cookie>"),
        ("-p", "passwords: [", "password=", "insert into t (password) values (", "my password to "),
    ],
)
def test_a_flood_without_secrets_is_known_by_what_there_is_to_look_at(
    pieces: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    found = search._found
    monkeypatch.setattr(search, "_found", lambda data, *more: searched.append(len(data)) or found(data, *more))
    rng = random.Random(8)
    assert_goes_whole("".join(rng.choices(pieces, k=20_000)), [])
    assert max(searched) < 10_000


def test_a_dump_whose_rest_is_a_flood_is_known_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its secrets stand in order, so that it is no flood; what is left without them is one, and to learn that took a whole search."""
    searched: list[int] = []
    found = search._found
    monkeypatch.setattr(search, "_found", lambda data, *more: searched.append(len(data)) or found(data, *more))
    rng = random.Random(8)
    pieces = ("password is {}\n", "password is password is ", "cookie=>.-@a.bf\n", "password is pass_word ")
    values, text = list[str](), ""
    while len(text) < SIZE:
        values.append(_random(rng, 12))
        text += rng.choice(pieces).format(values[-1])
    assert_goes_whole(text, values)
    assert max(searched) < 10_000


def test_hundreds_of_secrets_on_one_line_in_no_order_go_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few words to be a flood at a glance; that it is one shows when they are found."""
    rounds: list[int] = []
    looked = search._round
    monkeypatch.setattr(
        search, "_round", lambda scan, *more: rounds.append(len(scan.data.strip(b"\1"))) or looked(scan, *more)
    )
    rng = random.Random(8)
    keys = [f"ghp_{_random(rng, 36)}" for _ in range(400)]
    pieces = (
        lambda: rng.choice(keys),
        lambda: _random(rng, 9),
        lambda: f"{rng.choice(WORDS)}; ",
        lambda: "user@a.io / ",
    )
    assert_goes_whole("".join(f"{rng.choice(pieces)()}{_random(rng, 17)} " for _ in range(2_800)), keys)
    assert len([size for size in rounds if size > 50_000]) == 1


PROSE = (
    "The crew met at noon to talk about the harbour, and about the 12 boats that are to be painted before the winter",
    "Somebody has to call the yard on 2026-11-18, since the offer of last week was for 7 boats only and it is too late now",
    "It rained again, so we stayed inside, drank tea and went through the list of what is missing in the store below deck",
)


def _as_dict(rng: random.Random, secret: str) -> str:
    return f"{{'user': '{rng.choice(WORDS)}', 'notes': '{rng.choice(PROSE)}', '{rng.choice(('password', 'api_key'))}': '{secret}'}}, "


def _as_message(rng: random.Random, secret: str) -> str:
    said = rng.choice(("my password is", "the wifi password:", "use the token", "login kim /"))
    return f'{{"role":"user","content":"{rng.choice(PROSE)}, {said} {secret} , {rng.choice(PROSE)}"}},'


def _as_paragraph(rng: random.Random, secret: str) -> str:
    return f"{'. '.join(rng.choices(PROSE, k=5))}, {rng.choice(('my password is', 'password='))} {secret} .\n"


def _as_code(rng: random.Random, secret: str) -> str:
    lines = "  ".join(rng.choices(JAVASCRIPT, k=4))
    return f"{lines}    {rng.choice(('const apiKey =', 'password:', 'token ='))} '{secret}'; /* {rng.choice(PROSE)} */ "


JAVASCRIPT = (
    "    if (!isErrorLike(innerResponse)) { return createDeferredPromise(); }",
    "        this.headersList.append(headerName, normalizeValue(headerValue));",
    "    Object.defineProperty(exports, '__esModule', { value: true });",
)


@pytest.mark.parametrize("make", [_as_dict, _as_message, _as_paragraph, _as_code])
def test_what_is_written_between_hundreds_of_secrets_on_long_lines_stays(
    make: Callable[[random.Random, str], str],
) -> None:
    rng = random.Random(5)
    secrets = [_random(rng, 24) for _ in range(330)]
    text = "".join(make(rng, secret) for secret in secrets)
    safe, findings = redact(text)
    assert not [secret for secret in secrets if secret in safe]
    assert "flood" not in {finding.family for finding in findings}
    assert [safe.count(line) for line in PROSE] == [text.count(line) for line in PROSE]
    assert redact(safe) == (safe, ())


def test_of_thousands_of_numbers_on_one_line_only_the_cards_go() -> None:
    rng = random.Random(6)
    numbers = [str(rng.randrange(4 * 10**15, 5 * 10**15)) for _ in range(5_000)]
    safe, findings = redact(", ".join(numbers))
    cards = [finding for finding in findings if finding.family == "card-number"]
    assert len(findings) == len(cards) > 300
    assert sum(number in safe for number in numbers) > 4_000


def _heap(rng: random.Random, count: int) -> tuple[str, list[str]]:
    keys = [f"glpat-{_random(rng, 20)}" for _ in range(count)]
    return "".join(f"{_random(rng, rng.randrange(5, 60))} {key} " for key in keys), keys


def test_hundreds_of_secrets_that_are_let_through_are_no_flood() -> None:
    text, keys = _heap(random.Random(9), 500)
    safe = redact(text, Policy(disabled=frozenset({"gitlab-token"}))).text
    assert not [key for key in keys if key not in safe]


def test_what_is_far_from_hundreds_of_secrets_on_one_line_does_not_go_with_them() -> None:
    rng = random.Random(10)
    (first, keys), (second, more) = _heap(rng, 400), _heap(rng, 400)
    between = ". ".join(rng.choices(PROSE, k=40))
    safe = redact(f"{keys[0]} {between}. {first}{between}. {second}{between}. {more[0]}").text
    assert not [key for key in keys + more if key in safe]
    assert safe.count(between) == 3
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize("seed", range(30))
def test_redacting_a_mixture_between_prose_twice_changes_nothing(seed: int) -> None:
    """A flood may go in parts, one after the other, and one may swallow the markers of others."""
    rng = random.Random(seed)
    prose = "".join(f"Kim wrote line {n} about the harbour and the weather of the week.\n" for n in range(50))
    text = prose + mixture(seed)[: rng.choice((18_000, 25_000, 40_000))] + prose
    safe = redact(text).text
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    "line",
    [
        "tests/test_{word}.py::test_{word}_{n} PASSED [ {n}%]\n",
        "https://{word}.example.com/item/{n}\n",
        '{{"token": "{word}", "id": {n}}}\n',
        '{{"key": "{word}-{n}", "value": {n}}}\n',
        "prompt tokens: {n}, completion tokens: {n}, key {n}\n",
        "session {n} opened for {word}, auth method {n}\n",
        "token {n}: {word} token_id={n}\n",
        '{{"code": {n}}},\n',
        "key:{n}\n",
        "- postcode: {n}\n",
        "{n},test_login_{word},pass,code=0,pass\n",
        '{{"event":"login","auth":"password","token":"expired","code":{n},"user":"{word}"}},',
        '"auth.{word}.password_{n}":"Your password must have {n} characters",',
        '{{"key":"Key{n}","code":{n},"keyCode":{n}}},',
        "auth: login of {word} failed: bad password (token expired), code {n}\n",
        '{{"token": "{word}", "key": "{word}", "code": {n}}}, ',
        '"userToken{n}": "Enter your password", "{word}Login{n}": "Sign in with passkey", ',
    ],
)
def test_words_and_numbers_alone_are_no_flood(line: str) -> None:
    """What a tool prints: each of these lines has a word for a secret and a number, and none has a secret."""
    rng = random.Random(6)
    text = "".join(line.format(word=rng.choice(WORDS), n=rng.randrange(9999)) for _ in range(SIZE // len(line)))
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "secret",
    [
        "WLAN password:\n{}\n",
        "passwords:\n  - {}\n  - {}\n",
        '{{"password":\n "{}"}}\n',
        "private key: -----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
        "kind: Secret\ndata:\n  password: {}\n",
        "| user | password |\n|---|---|\n| kim | {} |\n",
    ],
)
@pytest.mark.parametrize("row", ["| DE | code {n} | key {n} |\n", "key {n} token {n} "])
def test_what_announces_a_secret_behind_a_flood_is_not_taken_with_it(row: str, secret: str) -> None:
    value = "MIIEowIBAAKCAQEAx7fj3kq0Xk9dkw2aQ7bT" if "RSA" in secret else "Xk9dkw!2aQ7b"
    text = "".join(row.format(n=n) for n in range(2_000)) + "\n" + secret.format(value, value)
    assert value not in redact(text).text


@pytest.mark.parametrize("seed", range(12))
def test_no_secret_is_parted_from_its_name_where_a_flood_ends(seed: int) -> None:
    rng = random.Random(seed)
    values = [f"River@{_random(rng, 7)}{n}" for n in range(700)]
    kinds = ("DB_PASSWORD='{}'", "password: {}", "my password is {}", "Passwort: {}", "postgres://app:{}@db:5432/x")
    safe = redact(" ; ".join(rng.choice(kinds).format(value) for value in values)).text
    assert not [value for value in values if value in safe]
    assert redact(safe) == (safe, ())


def test_what_is_named_at_either_end_of_a_flood_goes_with_it() -> None:
    text, _ = _flood(random.Random(4), 2_000)
    for first in ("Falcon#4417x is my ", "the key 'Zx81kLmQ2v9TqW3nB7yR' is a "):
        safe = redact("a line\n" * 3 + first + text + "password: Harbor!5054zz and no more\nthe end\n").text
        assert "Falcon#4417x" not in safe and "Zx81kLmQ2v9TqW3nB7yR" not in safe and "Harbor!5054zz" not in safe
        assert safe.startswith("a line\n" * 3) and safe.endswith("the end\n")


def test_a_flood_that_is_let_through_is_searched_like_any_other_text() -> None:
    text, _ = _flood(random.Random(5), 1_500)
    findings = redact(text, Policy(disabled=frozenset({"flood"}))).findings
    assert findings and "flood" not in {finding.family for finding in findings}


@pytest.mark.parametrize("seed", range(6))
def test_what_a_crowd_of_another_kind_hides_is_found(seed: int) -> None:
    """A crowd is blanked in the middle of a round; what was looked for before it has to be looked for once more, everywhere."""
    rng = random.Random(seed)
    names, ends = ("api_key", "token", "user"), (" ", "; ")
    text = "".join(f"{rng.choice(names)} is {_random(rng, 19)}{rng.choice(ends)}" for _ in range(900))
    safe = redact(text).text
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    "line",
    [
        "backup codes: {} {} {}",
        "recovery codes: {}, {}, {}",
        "Your backup codes are {} {} {}",
        "Passwords:\n{}#1\n{}#2\n{}#3",
        "my password is {}#1, at work it is {}#2 and at home it is {}#3",
    ],
)
def test_of_a_list_among_hundreds_of_secrets_no_item_stays(line: str) -> None:
    """The first is found with the hundreds, by its name, and the others were no longer known without it."""
    rng = random.Random(8)
    values = [f"{rng.randrange(1000, 9999)}-{rng.randrange(1000, 9999)}" for _ in range(3)]
    if "#" in line:
        values = [f"{word.capitalize()}{rng.randrange(1000, 9999)}" for word in WORDS[:3]]
    env = "".join(f"{rng.choice(WORDS).upper()}_{n}_PASSWORD={_random(rng, 12)}\n# {n} is read\n\n" for n in range(400))
    safe = redact(f"{env}\n{line.format(*values)}\n").text
    assert [value for value in values if value in safe] == []
    assert safe.count("is read") == 400
    assert redact(safe) == (safe, ())


def test_a_crowd_that_is_none_once_overlaps_are_settled_is_searched_to_the_end() -> None:
    """Two rules found the same codes, hundreds together, which ended the round; the next looked only at what had changed."""
    rng = random.Random(2)
    codes = "".join(
        f"pass {''.join(rng.choices('abcdefghijkXYZ0123456789', k=rng.randrange(8, 14)))}\n" for _ in range(169)
    )
    text = codes + "It is a line like any other, of the harbour.\n" * 5 + "jwtpass eg7didaZ12YaX9gh22k26hj\n"
    safe = redact(text).text
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    ("each", "then"),
    [
        ("Kim's PIN is {}. ", "my PIN is 1357{}"),
        ("Das Passwort f\xfcr Kim ist Harbor#{}, ", "my password is Harbor#1357{}"),
    ],
)
def test_what_is_said_beside_a_secret_is_followed_once(each: str, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two hundred is the first of a row that goes on with the next one: 100 KB took five seconds."""
    asked: list[bytes] = []
    written = asides._written
    monkeypatch.setattr(asides, "_written", lambda word: asked.append(word) or written(word))
    numbers = iter(range(2_101, 9_999))
    text = "".join(each.format(next(numbers)) for _ in range(200))
    text += then.format("".join(f" or {'Harbor#' * ('#' in each)}{next(numbers)}" for _ in range(1_500)))
    safe = redact(text).text
    assert not any(f"{n}" in safe for n in range(2_101, 3_801))
    assert len(asked) < 5_000
    assert redact(safe) == (safe, ())


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from((*NAMES, "user", "host", "a.b")), min_size=1, max_size=6),
    st.lists(st.sampled_from((*SEPARATORS, "=\n", " | ", ",")), min_size=1, max_size=4),
    st.lists(
        st.sampled_from((" ", "\n", '" ', "; ", " and then some more of it ", "\nnothing here\n")),
        min_size=1,
        max_size=4,
    ),
    st.integers(3, 20),
    st.randoms(use_true_random=False),
)
def test_redacting_what_is_nearly_a_flood_twice_changes_nothing(
    names: list[str], separators: list[str], ends: list[str], size: int, rng: random.Random
) -> None:
    text = "".join(
        rng.choice(names) + rng.choice(separators) + _random(rng, size) + rng.choice(ends) for _ in range(900)
    )
    safe = redact(text).text
    assert redact(safe) == (safe, ())


# --- the shortcuts that a long text takes ---------------------------------------------------------------------------------


TEXTS = [row.text for row in labelled.secrets()]


PRINTED: tuple[Callable[[random.Random], str], ...] = (
    lambda rng: (
        f"key={rng.choice(WORDS)} code={rng.randrange(999)} pass={rng.choice(('yes', 'no'))} auth={rng.choice(('ok', 'fail'))}\n"
    ),
    lambda rng: (
        f'{{"token":"{rng.choice(WORDS)}","logprob":-{rng.random():.6f},"bytes":[{rng.randrange(256)},{rng.randrange(256)}]}},'
    ),
    lambda rng: f"{rng.choice(WORDS).capitalize()}'s PIN is {rng.randrange(1000, 1999)}. ",
    lambda rng: (
        " ".join(
            f"{rng.choice(('login', 'token', 'auth', 'key', 'code', 'pass'))}={rng.choice(WORDS)}"
            for _ in range(rng.randrange(1, 7))
        )
        + "\n"
    ),
    lambda rng: f"    password: str = Field(..., min_length={rng.randrange(200)})  # token for {rng.choice(WORDS)} ; ",
    lambda rng: (
        f"CREATE USER '{rng.choice(WORDS)}{rng.randrange(99)}'@'%' IDENTIFIED BY '{rng.choice(WORDS).capitalize()}${rng.randrange(1000, 9999)}'; "
    ),
    lambda rng: f"user::r-x,group::r-x,other::---,key:{rng.randrange(99)}:auth:{rng.choice(WORDS)}:pass\n",
)


@pytest.mark.parametrize("seed", [263, 467, 1216])  # of 1,300
def test_what_is_put_together_from_several_texts_is_no_flood_the_second_time(seed: int) -> None:
    """Markers are longer or shorter than what they stand for, so that other pieces of the text are looked into."""
    rng, text = random.Random(seed), ""
    for _ in range(rng.randrange(2, 5)):
        if rng.random() < 0.5:
            at = rng.randrange(60_000)
            text += mixture(rng.randrange(400))[at : at + rng.randrange(4_000, 20_000)]
        else:
            line, size = rng.choice(PRINTED), len(text) + rng.randrange(4_000, 20_000)
            while len(text) < size:
                text += line(rng)
        text += "\n"
    safe = redact(text).text
    assert redact(safe) == (safe, ())


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([foreign for foreign, _ in screen._FOREIGN]) | st.text(max_size=6), max_size=12).map(
        "".join
    )
)
def test_letters_are_narrowed_as_one_by_one(text: str) -> None:
    assume(not screen._is_escaped(text))  # `&quot;` is one of the texts that hypothesis reads out of the source

    def narrow(char: str) -> str:
        if "\u0100" <= char <= "\u017f":
            return chr(screen._LETTERS[ord(char) - 0x100])
        if char <= "\xff":
            return char
        return " " if "\u3000" <= char <= "\ud7a3" or char in screen._MARKS else "?"

    same = text
    for foreign, same_length in screen._FOREIGN:
        same = same.replace(foreign, same_length)
    assert to_bytes(text) == "".join(map(narrow, same)).encode("latin-1")


@pytest.mark.parametrize("source", [prose._PROSE, asides._LINKED, asides._PAIR, assign._ASSIGN])
def test_counts_that_are_asked_for_at_every_place_find_the_same(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_TRIES", -1)
    loose, exact = engine.loose(source), engine.outline(source)
    assert (loose._opening is None) == (source is assign._ASSIGN)
    rng = random.Random(9)
    fill = ["and so on and on " * 6, "x" * 70, " is ", ": ", "?", "password ", "token"]
    for _ in range(400):
        data = to_bytes(" ".join(rng.choice((rng.choice(TEXTS), rng.choice(fill))) for _ in range(12)))
        assert list(loose.spans(data)) == list(exact.spans(data))


@pytest.mark.parametrize("source", [prose._PROSE, asides._LINKED, asides._PAIR])
def test_a_long_line_without_spaces_is_not_read_on_for_each_match(source: str) -> None:
    """Without its counts a match goes on to the end of what is read at once: in 100 KB, 11 MB were read."""
    rng = random.Random(3)
    line = "".join(
        f".{rng.choice(('password', 'login', 'token'))}-{rng.choice(WORDS)}{n}{{color:#{rng.randrange(16**5)},kim/{n}a}}"
        for n in range(2_500)
    )
    loose, read = engine.Loose(source), list[int]()

    class Counted:
        _anywhere = loose._loose._anywhere

        @staticmethod
        def _match(anywhere: object, data: bytes, start: int, end: int) -> object:
            spans = real(anywhere, data, start, end)
            read.append((spans[0][1] if spans[0][0] >= 0 else end) - start)
            return spans

    real = loose._loose._match
    loose._loose = Counted  # type: ignore[assignment]
    assert list(loose.spans(line.encode())) == list(engine.outline(source).spans(line.encode()))
    assert sum(read) < 5_000_000


def test_the_words_of_commands_are_found_together_as_one_by_one() -> None:
    rng = random.Random(2)
    words = [word for _, gate in commands._others() for word in commands._gate(gate)]
    for count in (0, 1, 2, 5, 9, 30, 200):
        low = b" and ".join(rng.choices(words, k=count))
        asked = [row for row in commands._others() if any(word in low for word in commands._gate(row[1]))]
        assert [row[:2] for row in commands._asked_everywhere(low)] == asked


@pytest.mark.parametrize("rows", [60, 700])
@pytest.mark.parametrize(
    ("head", "row", "tail"),
    [
        ("| user | password |\n|---|---|\n", "| kim{i} | {it} |\n", ""),
        ("user,password\n", "kim{i},{it}\n", ""),
        ("name,url,username,password,note\n", "s{i},https://s{i}.example.com/,kim{i}@example.org,{it},\n", ""),
        ("insert into users (name, password) values ", "('kim{i}', '{it}'),\n", "('lee', null);"),
        ('{{"passwords": [\n', '  "{it}",\n', '  ""]}}'),
        ("passwords:\n", "  - {it}\n", ""),
        ("<KeePassFile>\n", "<String><Key>Password</Key><Value>{it}</Value></String>\n", "</KeePassFile>"),
        (
            "<KeePassFile>\n",
            '<String><Key>Password</Key><Value ProtectInMemory="True">{it}</Value></String>\n',
            "</KeePassFile>",
        ),
    ],
)
def test_a_table_of_passwords_is_followed_to_its_end(head: str, row: str, tail: str, rows: int) -> None:
    rng = random.Random(rows)
    secrets = [_chosen(rng) for _ in range(rows)]
    text = head.format() + "".join(row.format(i=i, it=it) for i, it in enumerate(secrets)) + tail.format()
    out = redact(text).text
    assert [it for it in secrets if it in out] == []


@pytest.mark.parametrize(
    "note", ['"tea, and then some"', '"two\nlines"', '"a ""word"", and\none, two more\n\nlines"', "-"]
)
@pytest.mark.parametrize("rows", [3, 60, 700])
def test_a_note_in_quotes_is_one_cell_of_its_row(note: str, rows: int) -> None:
    rng = random.Random(rows)
    secrets = [f"{'-'.join(rng.choices(WORDS, k=2))}-{n}X!" for n in range(10, 10 + rows)]
    text, users = "title,username,password,notes,group\n", ("kim", '6" nail', 'a"')
    text += "".join(
        f"{rng.choice(WORDS)},{rng.choice(users)},{it},{rng.choice((note, 'none'))},work\n" for it in secrets
    )
    safe = redact(text).text
    assert [it for it in secrets if it in safe] == []
    assert rows == 700 or safe.count(f",{note},") == text.count(f",{note},")
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize("rows", [60, 700])
@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("INSERT INTO users (id, email, password, created) VALUES ", "({i},'kim{i}@example.com','{it}','2026-11-18'),"),
        ("INSERT INTO users (id, email, password, token) VALUES ", "({i},'kim{i}@example.com','{it}','{key}'), "),
        ("", "INSERT INTO `users` (`id`, `name`, `password`, `token`) VALUES ({i}, 'kim', '{it}', '{key}');\n"),
        ("INSERT INTO users (name, password, at, token) VALUES ", "('kim', '{it}', now(), 'ghp_{key:.36}'),\n"),
    ],
)
def test_what_is_inserted_is_followed_past_what_was_found(head: str, row: str, rows: int) -> None:
    """Hundreds are found beside an address or by their looks, which ends the round; the others only by the name of their column."""
    rng = random.Random(rows)
    secrets = [rng.choice((_chosen(rng), f"{'-'.join(rng.choices(WORDS, k=2))}-{n}X!")) for n in range(10, rows)]
    keys = [f"{rng.getrandbits(160):040x}" for _ in secrets]
    text = head + "".join(
        row.format(i=i, it=it, key=key) for i, (it, key) in enumerate(zip(secrets, keys, strict=True))
    )
    safe = redact(text).text
    assert [it for it in secrets + keys if it in safe] == []
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    ("row", "is_secret"),
    [
        ("passwords:\n - a1b2c3{n}d4e5\n", True),
        ('api_keys = ["Zx81kL{n}mQ2v9TqW3nB7yR" ', True),
        ('secrets = {{"a{n}": "b1c2d3e4",', False),  # too short for a key
    ],
)
def test_thousands_that_are_written_alike_are_judged_as_one_is(row: str, is_secret: bool) -> None:
    rows = [row.format(n=n) for n in range(1_000, 1_000 + SIZE // len(row))]
    text = "".join(rows[:900]) + "\npasswords:\n - required\n - see-vault\n" + "".join(rows[900:])
    safe = redact(text).text
    assert " - required\n - see-vault\n" in safe
    assert any(f"{n}" in safe for n in range(1_000, 1_000 + len(rows))) != is_secret
    assert redact(safe) == (safe, ())


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*"\"'`\n -:=>]x9", "abcd1234", "\n - abcdefgh9", '"k": ', "x" * 90]), max_size=40))
def test_the_next_item_of_a_list_and_the_key_before_it_are_what_a_search_finds(pieces: list[str]) -> None:
    data = b"x" + "".join(pieces).encode()
    for stop in (len(data), len(data) * 2 // 3):
        item = structures._ITEM.search(data, 1, stop)
        near = structures._near_item(data, 1, min(stop, 1 + structures.APART + 1), stop)
        if item is not None and item.start() <= 1 + structures.APART:
            assert near is not None and near.span() == item.span()
        else:
            assert near is None
    key = engine.rx(rb"([\w.@-]+)[\"'`]?[ \t]*(?::|=>?)[ \t]*$")
    for at in range(1, len(data)):
        found = key.search(data[max(0, at - 60) : at - 1])
        assert structures._key_before(data, at) == (found.group(1) if found else b"")
