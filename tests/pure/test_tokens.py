"""Words and dates as search sees them: what is one term, what is kept exactly, which day is meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.search import times, tokens

MAY_8 = int(datetime(2023, 5, 8, 14, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("painted", "paintings"),
        ("went", "go"),
        ("children", "kids"),
        ("studies", "study"),
        ("hoping", "hopes"),
        ("café", "cafe"),
        ("Kim's", "Kim’s"),
        ("de-stress", "destress"),
        ("FULL", "full"),
    ],
)
def test_terms_that_are_one(one: str, other: str) -> None:
    assert set(tokens.terms(one)) & set(tokens.terms(other))


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("see parse_config now", "parse_config"),
        ("see parse_config now", "config"),
        ("call parseConfig()", "pars"),
        ("open src/recollect/log.py:12", "log"),
        ("version 3.54.0 is out", "3.54.0"),
        ("error E1234", "e1234"),
        ("on 2023-05-07", "2023-05-07"),
        ("HTTPServer", "server"),
        ("今日は東京", "東京"),
    ],
)
def test_terms_keep_what_is_searched_exactly(text: str, term: str) -> None:
    assert term in tokens.terms(text)
    assert tokens.term_set(text) == set(tokens.terms(text))


def test_terms_of_and_or_is_nothing() -> None:
    assert tokens.terms("this and/or that") == []


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("I went yesterday", "2023-05-07"),
        ("tomorrow then", "2023-05-09"),
        ("last Friday", "2023-05-05"),
        ("last weekend", "2023-05-06"),
        ("two weeks ago", "2023-04"),
        ("three days ago", "2023-05-05"),
        ("last month", "2023-04"),
        ("last year", "2022"),
        ("two years ago", "2021"),
        ("in June", "2023-06"),
        ("in December", "2022-12"),
        ("on 3 March 2021", "2021-03-03"),
        ("March 3rd, 2021", "2021-03-03"),
        ("2020-02-29", "2020-02-29"),
        ("next Tuesday", "2023-05-09"),
    ],
)
def test_dates_are_read_against_the_day_they_were_said(text: str, date: str) -> None:
    assert date in times.dates(text, MAY_8)
    assert times.has_time(text) and times.may_have_time(text)


@pytest.mark.parametrize("text", ["it may rain", "we march on", "nothing at all", "a second look"])
def test_dates_are_not_seen_where_there_are_none(text: str) -> None:
    assert not times.dates(text, MAY_8)


# -- reading only around hints says what reading everything says

LETTERS = st.text("aeistnrylbdgcokmpu", min_size=1, max_size=9)
ENDINGS = st.sampled_from(
    "s es ed ing ies ied y er est ly ness ful able ible ability ibility ation ational izer ization ical ence ency ment".split()
)
WORDS = st.one_of(
    LETTERS,
    st.builds(str.__add__, LETTERS, ENDINGS),
    st.sampled_from([form for forms in tokens._FORMS.replace("|", " ").split() for form in [forms]]),
    st.text(max_size=6),
    st.sampled_from(["parseConfig", "de-stress", "src/a.py", "Kim's", "e1234", "3.54.0", "a+b", "日本語", "café"]),
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", ", ", " (", "\t", "_", "-", "."])), max_size=12).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@settings(max_examples=500, deadline=None)
@given(texts=st.lists(TEXTS, max_size=5), asked=st.lists(WORDS, min_size=1, max_size=6))
def test_hints_lose_nothing_and_find_nothing_else(texts: list[str], asked: list[str]) -> None:
    words = [*asked, *(word for text in texts for word in text.split()[:4])]
    terms = list(dict.fromkeys(t for word in words for t in tokens.terms(word)))
    sought = [(term, 1 << i, tokens.hints(term)) for i, term in enumerate(terms)]
    found = tokens.which(texts, sought)
    assert len(found) == len(texts)
    for text, bits in zip(texts, found, strict=True):
        assert {term for term, bit, _ in sought if bits & bit} == set(terms) & tokens.term_set(text)


@settings(max_examples=500, deadline=None)
@given(texts=st.lists(TEXTS, max_size=5), asked=st.lists(WORDS, min_size=1, max_size=6))
@example(texts=["hop/hope", "hop,hope hop", "hoping", "start"], asked=["hope", "art"])
@example(texts=["she lives a life", "lives"], asked=["live", "life", "lives"])
def test_in_how_many_texts_a_term_stands_is_told_in_the_same_pass(texts: list[str], asked: list[str]) -> None:
    words = [*asked, *(word for text in texts for word in text.split()[:4])]
    terms = list(dict.fromkeys(t for word in words for t in tokens.terms(word)))
    sought = tokens.sought(terms)
    counts = dict.fromkeys(terms, 0)
    assert tokens.which(texts, sought, counts) == tokens.which(texts, sought)
    assert counts == {term: sum(term in text.lower() for text in texts) for term in terms}
