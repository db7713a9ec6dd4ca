"""A frame: about whom, which attribute, which value, and how many values that attribute has.

"Lives in Lisbon", "Is based in Lisbon" and "User moved to Lisbon" are the same frame: (user, home, lisbon), one at a time.
"Speaks Polish" is (user, speak, polish), one of many. Values are compared by the stems of their words.
"""

from __future__ import annotations

from functools import lru_cache

from ..light import dataclass
from ..search.tokens import stem
from .words import NUMBERS, STOP, low

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


ONE, MANY, UNKNOWN = "one", "many", "?"
SYNONYM = {
    "favorite": "favourite", "color": "colour", "mom": "mother", "mum": "mother", "mama": "mother", "dad": "father",
    "papa": "father", "kids": "child", "kid": "child", "children": "child", "prod": "production", "db": "database",
    "repository": "repo", "employer": "employer", "favour": "favourite", "movies": "films", "movie": "film",
    "apartment": "flat", "weight": "weigh", "cellphone": "phone", "mobile": "phone", "colors": "colours", "spouse": "partner",
}  # fmt: skip
ANTONYM = {"dark": "mode", "light": "mode", "tabs": "indent", "spaces": "indent", "tea": "", "coffee": "", "formal": "formality",
            "informal": "formality", "short": "length", "long": "length", "brief": "length", "detailed": "length", "concise": "length",
            "verbose": "length", "celsius": "degrees", "fahrenheit": "degrees", "metric": "units", "imperial": "units"}  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """What a statement says."""

    subject: str  # "user", "sister ana", "api"
    attribute: str  # "home", "employer", "like", "name", "deploy with"
    value: frozenset[str]  # the stems of the value
    qualifiers: tuple[tuple[str, frozenset[str]], ...]  # by preposition: ("for", {"script"})
    negated: bool  # whether it is denied
    cardinality: str  # ONE, MANY or UNKNOWN
    past: bool = False  # what was so, not what is
    text: str = ""  # the value in its own words

    @property
    def key(self) -> str:
        """Subject and attribute as one word."""
        return f"{self.subject}/{self.attribute}"


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """`stems` of a whole text, kept: the same memories are compared again and again."""
    return stems(text.split())


def stems(tokens: Iterable[str]) -> frozenset[str]:
    """The content words of a text as stems, numbers in figures."""
    out = set()
    for token in tokens:
        w = low(token).removesuffix("'s").strip("-")
        if not w or w in STOP:
            continue
        w = SYNONYM.get(w, w)
        out.add(str(NUMBERS[w]) if w in NUMBERS and w != "zero" else stem(w) if w.isalpha() else w)
    return frozenset(out)
