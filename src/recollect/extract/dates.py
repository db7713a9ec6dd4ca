"""Relative dates made absolute: "tomorrow" is worth nothing in a memory, "on 2026-03-11" is.

Days become ISO dates, months "April 2026", years "2026". Whatever is a habit ("on Mondays", "every Friday") or already
absolute stays as it was said.
"""

from __future__ import annotations

from ..ids import DAY_MS
from ..light import pattern
from .words import NUMBERS, WEEKDAYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from datetime import date

_NAMES = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_N = r"(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few)"
_PREP = r"(?:\b(on|by|until|till|since|before|after|from|for|in|as of|starting|of)\s+)?"
_RELATIVE = pattern(
    rf"(?i){_PREP}\b(?:(the day after tomorrow|the day before yesterday|today|tonight|tomorrow|yesterday|last night|this morning"
    rf"|this afternoon|this evening)(?:\s+(?:morning|afternoon|evening|night))?"
    rf"|(next|last|this|coming|this coming)\s+(week|weekend|month|quarter|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    rf"|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter)"
    rf"|(?:in\s+)?{_N}\s+(day|week|month|year)s?(?:'s?\s+time)?(\s+ago|\s+from now)?"
    rf"|(monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b(?!')"
)
_HINT = pattern(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|night|morning|afternoon|evening|next|last|this|coming|days?|weeks?|months?|years?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_UPCOMING = pattern(
    r"(?i)\b(?:flight|train|meeting|appointment|interview|exam|call|visit|trip|dinner|lunch|party|deadline|due|leaves?|lands?"
    r"|arrives?|departs?|presentation|demo|concert|wedding|game|match|delivery)\b"
)


def resolve(text: str, at: int, *, future: bool = False) -> tuple[str, int | None, int | None]:
    """The text with its relative dates made absolute, and since when and until when it holds if that is said.

    `future`: a bare weekday is the next one (todos, appointments); else it stays, because it may be a habit."""
    if not _HINT.search(text):
        return text, None, None
    from datetime import UTC, datetime

    today = datetime.fromtimestamp(at / 1000, UTC).date()
    upcoming = future or _UPCOMING.search(text) is not None
    begins: int | None = None
    ends: int | None = None

    def replace(m: re.Match[str]) -> str:
        nonlocal begins, ends
        found = _one(m, today, upcoming)
        if found is None:
            return m.group(0)
        words, first = found
        when = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp() * 1000)
        prep = (m.group(1) or "").lower()
        if prep in ("since", "from", "as of", "starting"):
            begins = when
        elif prep in ("until", "till"):
            ends = when + DAY_MS - 1
        return words

    return _RELATIVE.sub(replace, text), begins, ends


def _one(m: re.Match[str], today: date, upcoming: bool) -> tuple[str, date] | None:
    from datetime import timedelta

    prep, day, which, unit, count, span, way, weekday = m.groups()
    said = m.group(0).lower()
    lead = (prep.lower() + " ") if prep else ""
    if day:
        off = {
            "the day after tomorrow": 2, "the day before yesterday": -2, "tomorrow": 1, "yesterday": -1, "last night": -1,
        }.get(day.lower(), 0)  # fmt: skip
        when = today + timedelta(days=off)
        if prep and prep.lower() == "for":
            lead = "for "
        return (lead or "on ") + when.isoformat(), when
    if weekday:
        if not upcoming and lead not in ("by ", "until ", "till ", "before "):
            return None
        when = _weekday(today, weekday.lower(), 0)
        if lead in ("on ", "") or prep is None:
            return f"{lead}{weekday} {when.isoformat()}" if lead else f"{weekday} {when.isoformat()}", when
        return lead + when.isoformat(), when
    if which:
        which, unit = which.lower(), unit.lower()
        step = {"next": 1, "last": -1}.get(which, 0)
        if unit in WEEKDAYS:
            when = _weekday(today, unit, -1 if which == "last" else 1 if which == "next" else 0)
            return (lead or "on ") + when.isoformat(), when
        if unit in ("week", "weekend"):
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
            if unit == "weekend":
                when = monday + timedelta(days=5)
                return (lead if lead not in ("", "on ", "in ") else "on the weekend of ") + when.isoformat(), when
            return (lead if lead not in ("", "on ", "in ") else "in the week of ") + monday.isoformat(), monday
        if unit == "month":
            when = _months(today.replace(day=1), step)
            return (lead if lead not in ("", "on ") else "in ") + f"{_NAMES[when.month - 1]} {when.year}", when
        if unit == "quarter":
            when = _months(today.replace(day=1, month=3 * ((today.month - 1) // 3) + 1), 3 * step)
            return (lead or "in ") + f"Q{(when.month - 1) // 3 + 1} {when.year}", when
        if unit == "year":
            when = today.replace(day=1, month=1, year=today.year + step)
            return (lead if lead not in ("", "on ") else "in ") + str(when.year), when
        if unit in ("spring", "summer", "autumn", "fall", "winter"):
            month = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[unit]
            year = today.year + (
                1 if which == "next" and month <= today.month else -1 if which == "last" and month >= today.month else 0
            )
            return (lead if lead not in ("", "on ") else "in ") + f"{unit} {year}", today.replace(
                day=1, month=month, year=year
            )
        month = [n.lower() for n in _NAMES].index(unit) + 1
        year = today.year + (
            1 if which == "next" and month <= today.month else -1 if which == "last" and month >= today.month else 0
        )
        return (lead if lead not in ("", "on ") else "in ") + f"{_NAMES[month - 1]} {year}", today.replace(
            day=1, month=month, year=year
        )
    # "in two weeks", "two weeks ago", "three weeks from now"; a bare "two weeks" is a length, not a date.
    ago = way is not None and "ago" in way
    ahead = (way is not None and "now" in way) or said.startswith("in ") or "time" in said
    if not ago and not ahead:
        return None
    n = _count(count.lower()) * (-1 if ago else 1)
    span = span.lower()
    if prep and prep.lower() == "in":
        lead = ""
    if lead == "for ":
        return None
    if span == "day":
        when = today + timedelta(days=n)
        return (lead or "on ") + when.isoformat(), when
    if span == "week":
        when = today + timedelta(weeks=n)
        return (lead or "on ") + when.isoformat(), when
    if span == "month":
        when = _months(today.replace(day=1), n)
        return (lead or "in ") + f"{_NAMES[when.month - 1]} {when.year}", when
    year = today.year + n
    return (lead or "in ") + str(year), today.replace(day=1, month=1, year=year)


def _count(word: str) -> int:
    if word.isdigit():
        return int(word)
    return {"a": 1, "an": 1, "a couple of": 2, "a few": 3}.get(word) or NUMBERS.get(word, 1)


def _weekday(today: date, name: str, which: int) -> date:
    """The coming one; `which` 1: the one of next week, -1: the last one before today."""
    from datetime import timedelta

    wanted = WEEKDAYS.index(name)
    if which < 0:
        return today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    if which > 0:
        return today - timedelta(days=today.weekday()) + timedelta(days=7 + wanted)
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _months(first: date, step: int) -> date:
    at = first.year * 12 + first.month - 1 + step
    return first.replace(year=at // 12, month=at % 12 + 1)
