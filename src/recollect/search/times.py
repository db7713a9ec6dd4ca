"""Time as people say it: "yesterday", "last Friday", "two weeks ago", "in May", "8 May 2023".

`dates(text, at)` reads what a text says about time against the moment it was said, and returns the months and days
meant, so that "yesterday" said on 8 May 2023 is found by "7 May 2023" and by "May".
"""

from __future__ import annotations

from functools import cache
from time import gmtime

from ..light import pattern
from .tokens import hints, stem, term_set, terms, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNT = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
          "nine": 9, "ten": 10, "couple": 2, "few": 3, "several": 3}  # fmt: skip
_MONTH_NAMES = "|".join(_MONTHS) + "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
_NUMBER = r"\d{1,3}|a couple of|a few|" + "|".join(_COUNT)
_AGO = pattern(rf"\b({_NUMBER})\s+(day|week|weekend|month|year)s?\s+(ago|back|before)\b")
_IN = pattern(rf"\bin\s+({_NUMBER})\s+(day|week|month|year)s?\b")
_REL = pattern(
    rf"\b(last|past|previous|this|next|coming)\s+(night|week|weekend|month|year|{'|'.join(_DAYS)}|mon|tues?|wed|thurs?|fri|sat|sun"
    rf"|{'|'.join(_MONTHS)}|spring|summer|fall|autumn|winter)\b"
)
_DAY_WORD = pattern(
    r"\b(yesterday|today|tonight|tomorrow|this morning|this afternoon|this evening|the other day"
    r"|day before yesterday)\b"
)
_DMY = pattern(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_NAMES})\b\.?,?\s*(\d{{4}})?")
_MDY = pattern(rf"\b({_MONTH_NAMES})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s*(\d{{4}}))?")
_MY = pattern(rf"\b({'|'.join(_MONTHS)})\b,?\s*(?:of\s+)?(\d{{4}})?")
_MEANT = pattern(r"\b(?:in|last|this|next|of|since|until|by|during) (?:may|march)\b")
_ISO = pattern(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_YEAR = pattern(r"\b(19\d\d|20\d\d)\b")
_LOOSE = pattern(
    r"\b(recently|lately|earlier|just (?:got|started|finished|had)|a while|since|ago|soon|back in|when i was|years? old"
    r"|(?:for|in|after|over|about|almost|nearly) (?:\d+|" + "|".join(_COUNT) + r")\s+(?:day|week|month|year|hour)s?"
    r"|every (?:day|week|month|year)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekend|birthday|christmas|halloween"
    r"|thanksgiving|easter|new year|\d{1,2}\s?[ap]m)\b"
)
_MONTH_ALONE = pattern(rf"\b(?:{'|'.join(m for m in _MONTHS if m not in ('may', 'march'))})\b")
_TELLS_WHEN_BY_WORD = (_DAY_WORD, _REL, _AGO, _LOOSE, _MONTH_ALONE, _MEANT, _IN)  # the likeliest first
_TELLS_WHEN = (*_TELLS_WHEN_BY_WORD, _YEAR, _DMY, _MDY)
_TELLS_WHEN_BY_NUMBER = (_YEAR, _REL, _LOOSE)  # what the others look for has a term of time in it
_EARLIEST, _LATEST = -30_000_000_000_000, 220_000_000_000_000  # the years 1019 and 8941: room to count in either way
_DIGIT = pattern(r"\d")
_LETTERS = pattern(r"[a-z]+")
_DATED_TERMS = frozenset(  # the words without which no day or month is meant, but for one written in digits
    terms(f"""{" ".join(_MONTHS)} {" ".join(_DAYS)} jan feb mar apr jun jul aug sept sep oct nov dec ago last next yesterday
    today tonight tomorrow""")
)
READ = 2_000  # characters of a text that are read for dates when it is indexed
_SEASON = {"spring": 4, "summer": 7, "fall": 10, "autumn": 10, "winter": 1}


@cache
def _time_terms() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """(those that go with a time, of them those that alone say when, how words begin that may be one of them). Made when they are first asked for: an append needs none of them, and they take a millisecond of its process."""
    of_time = frozenset(
        terms(
            f"""{" ".join(_MONTHS)} {" ".join(_DAYS)} {_MONTH_NAMES.replace("|", " ")} ago back before last past previous
            next coming week weekend month year night yesterday today tonight tomorrow morning afternoon evening other
            recently lately earlier started finished while since soon young old mon tue tues wed thur thurs fri sat sun
            birthday christmas halloween thanksgiving easter day hour just"""
        )
    )
    sure = frozenset(
        terms(
            f"""{" ".join(m for m in _MONTHS if m not in ("may", "march"))} {" ".join(_DAYS)} yesterday today tonight
            tomorrow ago recently since soon weekend birthday christmas halloween thanksgiving easter"""
        )
    )
    return of_time, sure, frozenset(part[:3] for term in of_time | sure for part in (term, *hints(term)))


def moment(at: int) -> datetime:
    """The moment of an event, from integer milliseconds UTC; one that no calendar has is moved to one that has."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(min(max(at, _EARLIEST), _LATEST) / 1000, tz=UTC)


def calendar(at: int) -> tuple[int, int, int]:
    """(year, month, day) of a moment, likewise; without `datetime`, which a prompt's hook has no other use for."""
    return gmtime(min(max(at, _EARLIEST), _LATEST) // 1000)[:3]


def _month_of(name: str) -> int:
    return next(i for i, m in enumerate(_MONTHS, 1) if m.startswith(name[:3]))


def _shift_month(day: datetime, by: int) -> datetime:
    index = day.year * 12 + day.month - 1 + by
    return day.replace(year=index // 12, month=index % 12 + 1, day=1)


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    return {"a couple of": 2, "a few": 3}.get(text) or _COUNT.get(text, 1)


def _ymd(year: int, month: int, day: int | None) -> set[str]:
    out = {f"{year:04d}-{month:02d}", f"{year:04d}"}
    if day is not None and 1 <= day <= 31:
        out.add(f"{year:04d}-{month:02d}-{day:02d}")
    return out


def dates(text: str, at: int | None = None) -> frozenset[str]:
    """The days (`2023-05-07`), months (`2023-05`) and years (`2023`) a text speaks of, read against the moment `at` it
    was said; without `at`, only what the text spells out. A month without a year is also given as `--05`."""
    low = text.lower()
    out: set[str] = set()
    if at is None and not any(map(str.isdecimal, low)) and not any(month in low for month in _MONTHS):
        return (
            frozenset()
        )  # most questions: no pattern to compile, which is half of what a new process would spend on them
    from datetime import timedelta

    now = moment(at) if at is not None else None

    def day(d: datetime) -> None:
        out.update(_ymd(d.year, d.month, d.day))
        out.add(f"--{d.month:02d}")

    for y, m, d in _ISO.findall(low):
        if 1 <= int(m) <= 12:
            out |= _ymd(int(y), int(m), int(d) if d else None) | {f"--{m}"}
    found = [(m, d, y) for d, m, y in _DMY.findall(low)] + _MDY.findall(low)
    found += [(m, "", y) for m, y in _MY.findall(low)]
    for name, d, y in found:
        if name in ("may", "march") and not d and not y and not _MEANT.search(low):
            continue  # the verb
        month = _month_of(name)
        out.add(f"--{month:02d}")
        year = int(y) if y else None
        if year is None and now is not None:
            year = now.year if month <= now.month + 2 else now.year - 1
        if year is not None:
            out |= _ymd(year, month, int(d) if d else None)
        elif d:
            out.add(f"--{month:02d}-{int(d):02d}")
    for y in _YEAR.findall(low):
        out.add(y)
    if now is None:
        return frozenset(out)
    for n, unit, _ in _AGO.findall(low):
        _offset(now, -_number(n), unit, day, out)
    for n, unit in _IN.findall(low):
        _offset(now, _number(n), unit, day, out)
    for word in _DAY_WORD.findall(low):
        by = {"yesterday": -1, "tomorrow": 1, "day before yesterday": -2, "the other day": -3}.get(word, 0)
        day(now + timedelta(days=by))
    for which, unit in _REL.findall(low):
        sign = -1 if which in ("last", "past", "previous") else 0 if which == "this" else 1
        if unit == "night":
            day(now + timedelta(days=min(sign, 0)))
        elif unit == "weekend":
            saturday = now - timedelta(days=(now.weekday() - 5) % 7)
            saturday += timedelta(days=7 * (sign if sign > 0 else 0))
            day(saturday)
            day(saturday + timedelta(days=1))
        elif unit in ("week", "month", "year"):
            _offset(now, sign, unit, day, out)
        elif unit in _SEASON:
            year = now.year - (1 if sign < 0 and now.month <= _SEASON[unit] else 0) + (1 if sign > 0 else 0)
            out.add(f"{year:04d}")
        elif unit in _MONTHS:
            continue
        else:
            target = next(i for i, d in enumerate(_DAYS) if d.startswith(unit[:3]))
            if sign >= 0:
                day(now + timedelta(days=(target - now.weekday()) % 7 or 7))
            else:
                day(now - timedelta(days=(now.weekday() - target) % 7 or 7))
    return frozenset(out)


def _offset(now: datetime, n: int, unit: str, day: Callable[[datetime], None], out: set[str]) -> None:
    from datetime import timedelta

    if unit == "day":
        day(now + timedelta(days=n))
    elif unit in ("week", "weekend"):
        there = now + timedelta(days=7 * n)
        out.update({f"{there.year:04d}-{there.month:02d}", f"{there.year:04d}", f"--{there.month:02d}"})
    elif unit == "month":
        there = _shift_month(now, n)
        out.update({f"{there.year:04d}-{there.month:02d}", f"{there.year:04d}", f"--{there.month:02d}"})
    else:
        out.add(f"{now.year + n:04d}")


def date_words(text: str) -> frozenset[str]:
    """The terms of a text that spell its dates: `may`, `7` and `2023` in "on 7 May 2023"."""
    low = text.lower()
    found: set[str] = set()
    for form in (_ISO, _DMY, _MDY, _YEAR):
        for match in form.finditer(low):
            found.update(terms(match.group()))
    found.update(stem(m) for m in set(words(low)).intersection(_MONTHS))
    return frozenset(found)


class _Said(dict[int, str]):
    """The tokens of the days met so far, by their number since 1970; it starts over when full."""

    def __missing__(self, number: int) -> str:
        if len(self) >= 4096:
            self.clear()
        year, month, day = gmtime(number * 86_400)[:3]
        found = self[number] = f"@{year:04d}-{month:02d}-{day:02d}"
        return found


_SAID = _Said()


class _Days(dict[int, frozenset[str]]):
    """The days met so far, by their number since 1970; it starts over when full."""

    def __missing__(self, number: int) -> frozenset[str]:
        if len(self) >= 4096:
            self.clear()
        year, month, day = gmtime(number * 86_400)[:3]
        found = self[number] = frozenset(_ymd(year, month, day) | {f"--{month:02d}"})
        return found


_DAYS_MET = _Days()


def day(at: int) -> frozenset[str]:
    """The day, month and year of a moment, in the form of `dates`."""
    return _DAYS_MET[min(max(at, _EARLIEST), _LATEST) // 86_400_000]


def tokens(found: frozenset[str], *, months: bool = True) -> list[str]:
    """Dates as they stand in the index: the days, and the months where they are wanted."""
    return sorted(f"@{date}" for date in found if len(date) == 10 or (months and len(date) == 7 and date[0] != "-"))


def said(at: int) -> str:
    """The token of the day on which something was said."""
    return _SAID[min(max(at, _EARLIEST), _LATEST) // 86_400_000]


def may_have_time(text: str) -> bool:
    """Is it worth asking `dates`? This costs a fifth of it."""
    return not _time_terms()[0].isdisjoint(term_set(text)) or _DIGIT.search(text) is not None


def mentions(text: str, terms: list[str]) -> bool:
    """Does a text, whose terms are known, speak of a day or a month?"""
    return not _DATED_TERMS.isdisjoint(terms) or ("-" in text and _ISO.search(text) is not None)


def has_time(text: str) -> bool:
    """Does the text say when? A date, a relative date, a duration, a weekday."""
    of_time, sure, beginnings = _time_terms()
    if text.isascii():  # a quarter of the time that all terms take: only words that begin like one of these are stemmed
        low = text.lower()
        found = {stem(word) for word in _LETTERS.findall(low) if word[:3] in beginnings}
    else:
        low, found = text.lower(), term_set(text)
    if not sure.isdisjoint(found):
        return True
    has_digit = _DIGIT.search(text) is not None
    if of_time.isdisjoint(found):
        return has_digit and any(p.search(low) for p in _TELLS_WHEN_BY_NUMBER)
    return any(p.search(low) for p in (_TELLS_WHEN if has_digit else _TELLS_WHEN_BY_WORD))
