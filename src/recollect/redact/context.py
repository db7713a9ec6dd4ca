"""The contexts in the order in which they look; see `syntax`, `commands`, `assign`, `prose` and `lists` for what each of them knows."""

from __future__ import annotations

from .asides import linked, nouns, others, pairs, said
from .assign import assignments
from .commands import commands, connection_strings, flags, given
from .declared import declared
from .handed import handed
from .lists import codes, listed, mail_pairs, memorables, phrases, shown
from .noise import cards, near
from .printed import printed
from .prose import sentences
from .scan import Scan, Span
from .structures import byte_arrays, collections, elements, inserts, key_files, pages, tables
from .syntax import cookies, files, headers, private_keys, urls
from .tokens import tokens
from .told import told
from .vendors import beside_vendors, literals, made_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Look = Callable[[Scan], Iterator[Span]]

__all__ = [
    "LOOKS",
    "beside_vendors",
    "cards",
    "codes",
    "cookies",
    "files",
    "key_files",
    "literals",
    "made_with",
    "near",
    "others",
    "private_keys",
    "tokens",
    "urls",
]

# What stands in one row looks at the same round: a crowd of secrets ends it only after the row. Tables come before what
# would take some of their cells: what is left of a table then is none.
LOOKS: tuple[tuple[Look, ...], ...] = (
    (connection_strings,), (assignments,), (headers,), (cookies,), (tables,), (inserts,), (flags, commands, given), (sentences, nouns, pairs, said, told), (linked,),
    (memorables, mail_pairs, listed, shown), (codes,), (phrases,), (near, handed), (collections, byte_arrays), (elements,), (pages,), (declared,), (printed,),
)  # fmt: skip
