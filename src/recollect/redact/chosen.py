"""Whether a word that a name was given is what a person chose as a secret, and no label, rule or name of a field."""

from __future__ import annotations

from .engine import Lazy, rx
from .judge import is_phrase_of_words, speaks_of_forms
from .values import has_alpha, has_digit, is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .names import Kind


def is_chosen_word(word: bytes) -> bool:
    """A password that a person chose: no rule such as `min:8`, no label, no path."""
    return (
        len(word) >= 8
        and has_digit(word)
        and word.count(b"-") < 4
        and rx(rb"[a-z_]+[:=]\d+|.*[|/\\(){}<>].*|[a-z]+[-_.]?\d|[#.][\w-]+").fullmatch(word) is None
    )


LISTED = Lazy(rb"[A-Za-z]+[-_.]\d")  # `label-1`
_FIELD_OF_FORM = Lazy(rb"[a-z_]*(?:pass|word|pwd|pw|field|input|user|name|key|token|confirm|new|old)[a-z_]*\d")


def is_memorable_word(word: bytes) -> bool:
    """Letters with a digit or a symbol among them, as nobody writes a label or the name of a field."""
    if len(word) < 6 or not has_alpha(word) or rx(rb"[|/\\(){}<>:;,%=]|^[#.$@]").search(word):
        return False
    if has_digit(word):
        return _FIELD_OF_FORM.fullmatch(word) is None and LISTED.fullmatch(word) is None and word.count(b"-") < 4
    return rx(rb"\w[!@#$^&*+~]\w|[A-Za-z]-[A-Za-z]+!").search(word) is not None


_PHRASE = Lazy(rb"[a-z]{4,}(?:[-_.][a-z]{4,}){2,}[-_.]?[0-9]{2,6}")


def is_phrase_of_secret(kind: Kind, word: bytes) -> bool:
    """Three words and a number that say nothing of what they are for, as people choose the secret of a session: `quartz-harbor-birch-84`."""
    return (
        kind == "secret"
        and _PHRASE.fullmatch(word) is not None
        and not speaks_of_forms(word)
        and not is_placeholder(word)
    )


_OF_SESSIONS = Lazy(
    rb"(?i)(?:session|cookie|jwt|token|signing|app|flask|express|rails)[_.-]?(?:secret|secret[_.-]?key)|(?:[a-z]+_)+secret"
)
_IN_SESSION = Lazy(rb"(?i)session\w*\([^()\n]*$|cookieparser\($")


def is_phrase_of_session(name: bytes, word: bytes, before: bytes) -> bool:
    """`session({ secret: 'copper-lantern-orbit-meadow' })`: elsewhere four words are the name of a secret."""
    return is_phrase_of_words(word) and (
        _OF_SESSIONS.fullmatch(name) is not None or (name == b"secret" and _IN_SESSION.search(before) is not None)
    )
