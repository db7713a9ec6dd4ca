"""Keys that people hand over in a chat: `here's the key for slack ...`, `... <- browserstack access key`, `bro just put ... in the env for exa`.

What is handed over is noise, mostly hex digits or a UUID, which elsewhere is a commit or an id. So the words around it have to say
that it is a key, right before it or right behind it, and nothing on its line may say otherwise.
"""

from __future__ import annotations

from .engine import Lazy, outline
from .judge import is_path
from .noise import NOT_NEAR
from .prose import is_spelled
from .scan import Scan, Span, line_around
from .told import ASKS
from .values import (
    classes,
    count_digits,
    has_digit,
    is_file_name,
    is_hex,
    is_placeholder,
    is_public_id,
    is_random,
    is_reference,
    is_uuid,
    is_wordy,
)
from .vendors import SERVICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = r"([A-Za-z0-9][A-Za-z0-9_.:+/=~-]{15,})"
_OPEN = r"[\"'`*(\xab]{0,2}[ \t]?"
_NOUN = r"(?:keys?|token|secret|chave|chiave|klucz|cl(?:\xe9|e|ef)|jeton|(?:api-)?sleutel|(?:api-)?schl\xfcssel|clave|llave|nsec|claim)"
# `a chave do slack e ...`, `tiens la cle infura ...`, `replace the old datadog api key by ...`, `voici la cle Segment : ...`
_NAMED = rf"(?i)\b{_NOUN}[\"'`)]?(?:[ \t]+[\w.'\xe0-\xff-]+){{0,5}}?(?:[ \t]+(?:is|its|it's|ist|est|es|\xe9|\xe8|by|to|with|for|now|c'est)\b|[ \t]*(?:[:=?]|->))?[ \t]+{_OPEN}{_TOKEN}"
# `... <- browserstack access key`, `... (bitly token)`, `... as the customer.io api key`
_WORDS = r"(?:[\w.'\xe0-\xff-]+[ \t]+){0,6}?"
_BEHIND = (
    rf"(?i)(?:^|[\s\"'`(]){_TOKEN}[\"'`*)\xbb]{{0,2}}(?:[ \t]*<?[-=]+>?[ \t]+|[ \t]*\(|[ \t]+(?:is|as|als|for|comme|como|come)[ \t]+)"
    rf"{_WORDS}{_NOUN}\b"
)
# The same one line below: `its the deepgram key`, `(azure openai key)`
_BELOW = rf"(?i)(?:^|[\s\"'`(]){_TOKEN}[\"'`*)]{{0,2}}[ \t]*(?:and[ \t][^\n\x01]*)?\r?\n[ \t]*(?:\(|it'?s[ \t]|thats[ \t]|that's[ \t]|this is[ \t]){_WORDS}{_NOUN}\b"
# `bro just put ... in the env for exa`, `so i went to okta and it gave me ...`, `dont put it in git but blynk is ...`
_PUT = rf"(?i)\b(?:put|pasted?|use|using|tried|try|gave me|got|is|here is|here's|voici|tiens|add)[ \t:]+{_OPEN}{_TOKEN}"
_PUTS = r"(?i)\b(?:env|\.env|keys?|token|secret|bearer|401|403|unauthorized|api)\b"
# `what's the opsgenie api key again`, and below it `Ania: ...`
_ASKED = rf"(?i)\b{_NOUN}\b[^\n\x01]*\r?\n[ \t>]*(?:\[[^\]\n\x01]*\][ \t]*|[0-9:]+[ \t]+)?(?:[A-Za-z][\w .'-]*[:>][ \t]+)?(?:(?:sure|yes|yep|ok|okay|klar|ja|its|it's|here)[,:!.]*[ \t]+)*(?:->[ \t]*)?[\"'`*]{{0,2}}{_TOKEN}[\"'`*]{{0,2}}[ \t]*(?:\r?\n|$)"
_SAYS = (
    r"(?i)\b(?:commits?|revert(?:ed|s|ing)?|picked|cherry|rebase|bisect|checkout|sha|hash|uuid|guid|trace|transaction|tx|primary|foreign|partition|sort key|idempotency|correlation"
    r"|identifier|r[e\xe9]f[e\xe9]rence|begin|untrusted|x\.509|accessor|lookup|booking|changelog|keyserver|recv)\b"
)
# What stands right before an id, or before a commit.
_KIND = Lazy(
    rb"\b(?:ids?|request|order|ticket|build|run|version|block|object|file|image|tenant|customer|client|session|tag|head|merged?|diff|in|of|at|from|on|after|before|since|until)[ \t\"'`*(:=#]*\Z"
)
# Keys that open nothing, and what else a service has.
_OF = Lazy(
    rb"\b(?:redis|row|map|dedupe|routing|message|registry|kms|signed|event|monitor|page|tag|parsing|changes?|scan|ssh)\b"
)
_FAR = 110


def handed(scan: Scan) -> Iterator[Span]:
    """Noise that somebody says is a key."""
    data = scan.data
    if scan.longest < 16:
        return
    lines = scan.lines_with(_NAMED, _BEHIND, _PUT, _BELOW, _ASKED) if scan.lines_with_runs() else []
    if not lines:
        return
    for source in (_NAMED, _BEHIND, _PUT, _BELOW, _ASKED):
        is_within = source is not _BELOW and source is not _ASKED
        for whole, (start, end) in scan.spans(source, lines) if is_within else scan.everywhere(source):
            value = data[start:end].rstrip(b".:-_,")
            end = start + len(value)
            if start in scan.taken or whole[1] - whole[0] - len(value) > _FAR or data.startswith(b"...", end):
                continue
            if data[end : end + 1] in (b"@", b"(") or not scan.recall("handed", value, _is_key):
                continue
            if source is _ASKED and not ASKS.search(line_around(scan.low, whole[0])):
                continue
            if _OF.search(scan.low, max(0, whole[0] - 16), min(whole[1] + 16, len(data))):
                continue
            places = (whole[0] + 1, start, whole[1] - 1)
            around = b"\n".join(dict.fromkeys(line_around(scan.low, at) for at in places))
            around = around.replace(value.lower(), b" ")
            if source is _NAMED and (
                _ENDS.search(data, whole[0], start)
                or (
                    is_uuid(value)
                    and data[whole[0] : start].rstrip(b" \t\"'`*(").lower().endswith((b"key", b"token", b"secret"))
                )
            ):
                continue  # `rotating key 376931b1-...`: which one
            if _KIND.search(scan.low, max(0, start - 24), start):
                continue
            if outline(NOT_NEAR).has(around) or outline(_SAYS).has(around):
                continue
            if source is _PUT and not _ENV.search(around):
                if not outline(SERVICES).has(around) or (is_hex(value) and not outline(_PUTS).has(around)):
                    continue
            yield Span(start, end, "api-key", 3)


_ENDS = Lazy(rb"(?i)[a-z\xe0-\xff]\.[ ](?!it'?s )")  # a sentence
_NOT_ALONE = Lazy(rb"[A-Za-z_]+=|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ENV = Lazy(rb"\bin (?:the |your |my )?\.?env\b")
_SIZES = (32, 37, 40, 48, 64, 96, 128)
_PREFIXED = Lazy(rb"(?:[a-z0-9]{1,8}[_-])?([0-9a-f]{32,128})")


def _is_key(value: bytes) -> bool:
    if len(value) > 256 or not has_digit(value) or is_placeholder(value) or is_public_id(value):
        return False
    if _NOT_ALONE.match(value):
        return False  # the next setting, a moment
    if is_uuid(value):
        return True
    if hexed := _PREFIXED.fullmatch(value):
        return len(hexed.group(1)) in _SIZES and is_random(hexed.group(1), 32)
    if is_hex(value) or is_reference(value) or is_path(value) or is_file_name(value) or b"//" in value:
        return False
    body = max(_PARTS.split(value), key=len)
    return (
        len(body) >= 16
        and count_digits(body) >= 2
        and classes(body) >= 2
        and is_random(body, 16)
        and not is_wordy(body)
        and not is_spelled(value)
    )


_PARTS = Lazy(rb"[-_.:]")
