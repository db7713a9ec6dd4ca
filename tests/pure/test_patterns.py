"""Patterns that an earlier process compiled do as those compiled here."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import light

HOLDERS = ("context", "search.fence", "search.fusion", "search.times", "search.tokens")
ALL: dict[str, Any] = {
    f"{holder}.{name}": value
    for holder in HOLDERS
    for name, value in vars(importlib.import_module(f"recollect.{holder}")).items()
    if type(value) is light.pattern
}
PARTS = st.sampled_from(
    "when When day may May 12 2023 2023-05-04 yesterday last week ago two weeks in I my Kim: [1] Kim-Lee's a.b/c parseConfig "
    "HTTPServer de-stress <memory> café 東京 ไทย \u200b \U000e0041 ' - + . , \n".split(" ")
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, re.Pattern[str]]:
    """Every pattern of the package, compiled by one process and read by another."""
    path = tmp_path_factory.mktemp("shelf") / "hooks" / "patterns"
    light.shelve(str(path))
    try:
        for one in ALL.values():
            light._compiled(one._source, one._flags)
        light.put_away()
        light.shelve(str(path))
        found = {name: light._shelf[one._source, one._flags] for name, one in ALL.items()}
        assert len(found) == len(ALL) > 25
        return {name: light._compiled(one._source, one._flags) for name, one in ALL.items()}
    finally:
        light._shelf.clear()
        light._shelf_path = ""


@given(words=st.lists(PARTS | st.text(max_size=8), max_size=12))
def test_they_find_the_same(kept: dict[str, re.Pattern[str]], words: list[str]) -> None:
    text = " ".join(words)
    for name, one in ALL.items():
        made = re.compile(one._source, one._flags)
        assert kept[name].findall(text) == made.findall(text), name
        assert [m.span() for m in kept[name].finditer(text)] == [m.span() for m in made.finditer(text)], name
        assert (kept[name].flags, kept[name].groups, kept[name].groupindex) == (
            made.flags,
            made.groups,
            made.groupindex,
        )


def test_what_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    light.shelve(str(tmp_path / "a file" / "patterns"))
    try:
        assert light._compiled("a+b", 0).findall("caab ab") == ["aab", "ab"]
        with pytest.raises(OSError):
            light.put_away()
    finally:
        light._shelf.clear()
        light._shelf_path = ""
