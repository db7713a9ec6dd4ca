"""Each shortcut of the search gives what the long way gives.

A text is dense where it has a name on every line: there the search dismisses most matches at a glance, leaves counts away,
and looks only at the lines in which a family's literal stands. None of this may change what is found.
"""

from __future__ import annotations

import random
import re._constants as op  # type: ignore[import-not-found,unused-ignore]
import re._parser as parser  # type: ignore[import-not-found,unused-ignore]
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import labelled
from recollect.redact import asides, assign, engine, prose, redact, scan, search, values
from recollect.redact.families import CALLED_FROM_AFAR, FAMILIES
from recollect.redact.screen import to_bytes

TEXTS = [row.text for row in labelled.secrets()] + [row.text for row in labelled.clean()]
PIECES = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(
        [
            "my password is",
            "token",
            " key ",
            "secret:",
            "the login for",
            "is",
            " = ",
            '"',
            "'",
            "\n",
            "**",
            "[",
            "{ ",
            "codes: ",
        ]
    ),
    st.text("ab1 :=\"'\n-_.!/(", max_size=80),
    st.sampled_from(["and so on and on " * 5, "a" * 70, "x_" * 30, "_" * 45, "[redacted:password]"]),
)
MIXED = st.lists(PIECES, min_size=1, max_size=14).map(lambda made: "".join(made))


@pytest.mark.parametrize("source", [prose._PROSE, asides._LINKED, asides._PAIR, assign._ASSIGN])
def test_leaving_counts_away_finds_the_same(source: str) -> None:
    loose, exact, groups = engine.loose(source), engine.outline(source), engine.pattern(source)

    @settings(max_examples=300, deadline=None)
    @given(MIXED)
    def same(text: str) -> None:
        data = to_bytes(text)
        found = [spans[0] for spans in loose.spans(data)]
        assert found == [spans[0] for spans in exact.spans(data)]
        for start, end in found:
            ours, theirs = loose.at(data, start, end), groups.at(data, start)
            assert ours is not None
            assert theirs is not None
            assert [ours.span(n) for n in range(ours.groups + 1)] == [theirs.span(n) for n in range(theirs.groups + 1)]

    same()


@settings(max_examples=400, deadline=None)
@given(MIXED)
def test_what_is_dismissed_at_a_glance_would_not_have_been_found(text: str) -> None:
    quick = redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assign, "_plain_until", lambda data, at: (len(data), False))
        patch.setattr(assign, "_OPENED", frozenset())
        patch.setattr(assign, "_falls_short", lambda *_: False)
        patch.setattr(prose, "_holds_nothing", lambda *_: False)
        patch.setattr(prose, "_is_quoted_word", lambda *_: False)
        assert redact(text) == quick


@settings(max_examples=400, deadline=None)
@given(MIXED)
def test_lines_in_which_nothing_may_match_hold_nothing(text: str) -> None:
    quick = redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan.Scan, "lines_with", lambda self, *_: [(0, len(self.data))])
        assert redact(text) == quick


@settings(max_examples=400, deadline=None)
@given(MIXED)
def test_a_rule_that_is_not_asked_again_would_find_nothing(text: str) -> None:
    quick = redact(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan.Scan, "_is_stirred", lambda *_: True)
        assert redact(text) == quick


def places(text: str) -> list[tuple[int, int]]:
    return [(finding.start, finding.end) for finding in redact(text).findings]


@pytest.mark.parametrize("first", range(10))
def test_what_is_said_over_and_over_is_searched_once(first: int) -> None:
    """The family may be another: of hundreds of secrets the whole text's search names most by a guess."""
    for unit in TEXTS[first::150]:
        unit += ("\n" if first % 2 else " ") + "It goes on like that for a while, and nothing else is said. " * 3 + "\n"
        count = 20_000 // len(unit) + 1
        text = "my pin is 4417\n" + unit * count + "client_secret: Zx81kLmQ2v9TqW3nB7yR\n"
        quick = places(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "cuts", lambda data: (data, []))
            whole = places(text)
        if not 2 < len(whole) < count:  # a rule that finds one in 2,000 characters finds others of them
            assert quick == whole, unit


REPEATED = st.tuples(
    MIXED.map(lambda text: text[:600]),
    st.sampled_from(["\n", " ", "x" * 90 + " ", "and so on and on " * 5 + "\n"]),
    st.sampled_from([1, 24_000]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(REPEATED, min_size=1, max_size=3))
def test_redacting_a_repetition_twice_changes_nothing(parts: list[tuple[str, str, int]]) -> None:
    text = "".join((unit + fill) * -(-size // len(unit + fill)) for unit, fill, size in parts)
    safe = redact(text).text
    assert redact(safe) == (safe, ())


def test_what_is_allowed_in_a_repetition_is_not_allowed_to_what_only_looks_like_it() -> None:
    """For the search all that Latin-1 lacks is the same `?`: one unlike the others was a repetition of what is allowed."""
    line = "password=Falcon-€5054x and so on and on and on, as it was said before\n"
    text = line * 150 + line.replace("€", "₤") + line * 150
    safe, findings = redact(text, search.Policy(allow=("Falcon-€5054x",)))
    assert len(findings) == 1 and "₤" not in safe


def test_a_repetition_is_not_searched_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    found = search._found
    monkeypatch.setattr(search, "_found", lambda data, *more: searched.append(len(data)) or found(data, *more))
    log = "token refreshed for kim, password=Falcon#4417, next in 30 s\n" * 2_000
    safe, findings = redact("my pin is 4417\n" + log + "client_secret: Zx81kLmQ2v9TqW3nB7yR\n")
    assert len(findings) == 2_002
    assert safe.endswith("password=[redacted:password], next in 30 s\nclient_secret: [redacted:api-key]\n")
    assert len(searched) == 1 and searched[0] < 10_000


@pytest.mark.parametrize(
    "text",
    [
        "token = load(path) secret:\n  Zx81kLmQ2v9TqW3nB7yR\n",  # the line is plain, its last name's value stands below
        "api_key: str =\n    'Zx81kLmQ2v9TqW3nB7yR'\n",
        "a12345678901234567890123456789://u:http://kim:Falcon!5054@acme.io/",  # a scheme has a letter among its last 24
    ],
)
def test_what_a_shortcut_could_have_hidden_is_found(text: str) -> None:
    assert redact(text).findings


@settings(max_examples=500)
@given(
    st.one_of(
        st.text("aZ09_${}%@!&*<[/:([.?>\\|)=~#^-;,'\"\n", max_size=24),
        st.sampled_from(["SELF_", "TOKEN", "A_B_C", "process.env.X", "vault:x", "C:\\x", "%s", "${x}", "a->b", "a::b"]),
    )
)
def test_a_value_without_telling_characters_is_neither_reference_nor_code(value: str) -> None:
    data = value.encode()
    assert values.is_reference(data) == engine.pattern(values._REFERENCE).has(data)
    if not data.isalnum():
        assert values.is_code(data) == (engine.pattern(values._CODE).has(data) or values._TYPE.match(data) is not None)


@settings(max_examples=500)
@given(
    st.binary(max_size=80) | st.text("ab01", max_size=600).map(str.encode),
    st.sampled_from([2.3, 2.5, 2.6, 2.75, 3.0, 3.5]),
)
def test_entropy_is_estimated_on_the_safe_side(value: bytes, floor: float) -> None:
    assert values.has_entropy(value, floor) == (values.entropy(value) >= floor)


def _shapes(items: Any) -> list[str]:
    """What a pattern matches: its literals, with a hole for all that varies."""
    shapes = [""]
    for kind, what in items:
        if kind is op.LITERAL:
            parts = [chr(what)]
        elif kind is op.AT:
            parts = [""]
        elif kind is op.IN and len(what) <= 8 and all(each is op.LITERAL for each, _ in what):
            parts = [chr(char) for _, char in what]
        elif kind is op.BRANCH:
            parts = [shape for branch in what[1] for shape in _shapes(branch)]
        elif kind is op.SUBPATTERN:
            parts = _shapes(what[3])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT) and what[1] == 1:
            parts = ["", *_shapes(what[2])]
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT) and what[0] == 0:
            parts = ["", "\0"]
        else:
            parts = ["\0"]
        shapes = [shape + part for shape in shapes for part in parts]
    return shapes


def test_a_family_that_is_searched_for_in_lines_has_its_literal_in_every_match() -> None:
    for family in FAMILIES:
        if family.name in CALLED_FROM_AFAR:
            continue
        assert "(?i)" not in family.pattern
        for shape in _shapes(parser.parse(family.pattern)):
            assert any(literal in shape for literal in family.triggers), (family.name, shape)


@pytest.mark.parametrize(
    "token",
    [
        "shpck_" + "0123456789abcdef" * 2,
        "glwt-" + "Zx8Kq2Lm5Nv7Bc4Rt9Yw",
        "NRAA-" + "Zx8Kq2Lm5Nv7Bc4Rt9Yw",
        "NRMA-" + "Zx8Kq2Lm5Nv7Bc4Rt9Yw",
        "bkct_" + "Zx8Kq2Lm5Nv7Bc4Rt9YwZx8Kq2Lm5Nv7",
        "figor_" + "Zx8Kq2Lm5Nv7Bc4Rt9YwQe",
        "hooks.slack-gov.com/services/T0Zx8Kq2L/B0m5Nv7Bc4/Rt9YwZx8Kq2Lm5Nv7Bc4Rt9Y",
    ],
)
def test_a_shape_is_known_by_itself(token: str) -> None:
    """Found only where another literal of its family happened to stand in the same text, it was no find."""
    assert token not in redact(f"see {token} there")


def test_the_longest_run_of_a_long_text_is_known_as_well_as_that_of_a_short_one() -> None:
    """Below thirty only steps are known; a family that asks for something between two of them was missed in a long text."""
    token = "s." + "Zx8Kq2Lm5Nv7Bc4Rt9YwQe3H"
    for words in (1, 4000):
        assert token not in redact("word " * words + token).text
    assert all(family.least in (16, 20, 24) or family.least >= 30 for family in FAMILIES)


# A line of each sort of which the next is taken at a glance, once there were many.
ONE_OF_MANY = {
    "assignments": "DB_PASSWORD=#",
    "elements": "<password>#</password>",
    "sentences": "my password is # ok",
    "commands": "mysql -u root -p# shop",
    "users": "curl -u kim:# https://a.io/x",
    "queries": "GET https://a.b/c?token=#&x=1",
    "tokens": "it is ghp_# now",
    "generic tokens": "it is sk-# now",
    "noise": "the auth key of him # is",
}
BREAK = "\n\nIt was so, at noon in the harbour.\n\nAnd no more.\n\n"


@pytest.mark.parametrize("sort", ONE_OF_MANY)
def test_one_of_many_is_what_it_is_alone(sort: str) -> None:
    """What only looks like the others stays, and no part of what a closer look takes is left."""
    rng = random.Random(4)
    letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    size = {"noise": 40, "tokens": 36, "generic tokens": 48, "queries": 20}.get(sort, 12)
    many = "".join(
        ONE_OF_MANY[sort].replace("#", "".join(rng.choices(letters, k=size - 2)) + "7q") + "\n" for _ in range(160)
    )
    rows = [row.text for row in labelled.clean() if len(row.text) < 300][::8]
    rows += [
        "password is ${DB_PASSWORD_1}",
        "the password was changed on 12/11/2026",
        "the login was 14ms slow",
        "the pin on the GPIO header is 1204",
        'the password is "correct horse 7battery 2staple"',
        "backup codes: 1234-5678 2345-6789 3456-7890",
        "API_KEY=your_api_key_1",
        "token = tokens[0]",
        "api_key=args.api_key2",
        "password = get_password(1)",
        "password=%PASS1%",
        "PWD=77b/'3faY3)c9;Server=x",
        'password: 3788ef74"5cdX20ef&786',
        "mysql -u root -p$MYSQL_PASS1 shop",
        'curl -u "$USER1:$PASS1" https://a.io',
        "GET https://a.b/c?token=${TOKEN_123_ABC}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-learn-contrib-something-very-long-package-name",
        "request_id=req_011CSHoEeqs5C35K2UUqR7Fy",
        "object_key: backups/db-2024-03-01T00-00-00Z.dump",
        'Cookie: session=Zq8kk2Yh2Jq9mLp0Vx3N; sid="a8Xk2Lm9Qp4Rt7Yz1"',
    ]
    for first in range(0, len(rows), 30):
        alone = BREAK + BREAK.join(rows[first : first + 30])
        assert redact(many + alone).text.endswith(redact(alone).text)
