"""`name = value` in whatever syntax, where the name promises a secret.

`hunter2` is a word until `password:` stands before it. The pattern finds a word for a secret followed by anything that any
language, format or shell uses to give it a value; `names.kind_of` judges the whole name, `Scan.judge` the value.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from .engine import BARRIER, Lazy, pattern
from .names import kind_of
from .scan import LABELS, LONGEST, PREDICATES, Scan, Span, family_of, is_predicate
from .values import (
    has_symbol,
    is_placeholder,
)

# --- assignments -----------------------------------------------------------------------------------------------------------

_ASSIGN = (
    r"(?i)(?:pass|pwd|pword|psw|pw|secret|token|tok|tk|[\w.-][ ]?key|auth|cred|bearer|jwt|pin|cvv|cvc|otp|sid|sess|cookie|sas|salt|dsn|sig|contrase|kennwort|"
    r"senha|wachtwoord|senord|heslo|parola|clave|code|phrase|mnemonic|licen[cs]e|psk|string|seed|pat|adgangskode|salasana)s?"
    r"[\w.\-]{0,40}"
    r"(?:[\"'`\\\])*>}]{0,5}(?:[ \t]*\([\w ,./-]{1,24}\))?[ \t]{0,20}(?:=>|:=|===?|!==?|\?=|\+=|=|::|:|<-|->|\|)"  # name = value
    r"|[\"']?[\s,]{1,40}(?:type[\"']?[ \t]*[:=][ \t]*[\"']?\w+[\"']?[\s,]{1,40})?[\"']?(?:value|default|val|content)[\"']?[ \t]*[:=]"  # name="..." value="..."
    r"|[\"'\\]{0,3}[ \t]*[,(]"  # put("name", "value"), name("value")
    r"|[ \t]{1,20}[\"']"  # #define NAME "value"
    r"|[\"']?>"  # <name>value</name>
    r"|[\"'][ \t]*\{[^{}\x01]*?(?:default|value)[ \t]*=)"  # variable "name" { default = "..." }
)
_ANNOTATION = Lazy(rb"[ \t]*(?:[A-Za-z_][\w.]*(?:\[[\w., |]*\])?(?:[ \t]*\|[ \t]*\w+)?)\??[ \t]*=(?!=)")
_NAME_CHARS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-" + bytes(range(192, 256))
_BARE = Lazy(rb"[^\s\"'`\x01]+")
_NEXT_LINE = Lazy(rb"[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t>]*[\"'`]?([^\s\x01\"'`]{8,})[\"'`]?[ \t]*(?:\r?\n|$)")
_CUT = Lazy(rb"[,;&|](?=[\w .\-\"']{1,40}[=:])|</|<br|\\n|\\r|\\t|\\\"|&quot;|&amp;|&#|[)\]},]+[;,.]?$|\*\*")
_OPENING = Lazy(rb"[ \t]*(?:[rbfuRBFUL@$]{1,2}(?=[\"']))?(\"\"\"|'''|\\\\\"|\\\"|\\'|\"|'|`|&quot;|\*\*|<code>)?")
_YAML_TAG = Lazy(rb"[ \t]*(?:!!?\w+[ \t]+|[|>][-+]?[ \t]*\n[ \t]+)")


def value_at(data: bytes, at: int) -> tuple[int, int, bool] | None:
    """The value that begins after a separator: where, and whether it was quoted."""
    tag = _YAML_TAG.match(data, at)
    if tag:
        at = tag.end()
    opening = _OPENING.match(data, at)
    if opening is None:
        return None
    start = opening.end()
    quote = opening.group(1)
    if quote:
        closing = b"</code>" if quote == b"<code>" else quote
        end = data.find(closing, start, start + LONGEST)
        if end >= 0:
            inside = data[start:end]
            if len(quote) == 1 and quote in b"\"'" and inside.endswith(b"\\") and not inside.endswith(b"\\\\"):
                again = data.find(closing, end + 1, start + LONGEST)  # an escaped quote inside the value
                if again >= 0 and b"\n" not in data[start:again]:
                    end, inside = again, data[start:again]
            if (b"\n" not in inside or len(quote) == 3) and BARRIER not in inside:
                return start, end, True
        if quote in (b"'", b'"', b"`"):
            bare = _BARE.match(data, start, start + LONGEST)
            return (start, _trim(data, start, bare.end()), False) if bare else None
        return None
    bare = _BARE.match(data, start, start + LONGEST)
    if bare is None:
        return None
    return start, _trim(data, start, bare.end()), False


def _trim(data: bytes, start: int, end: int) -> int:
    """Ends a bare value where the next field begins, and drops closing punctuation."""
    if data[start:end].isalnum():
        return end
    cut = _CUT.search(data, start, end)
    if cut and cut.start() > start:
        end = cut.start()
    while (
        end > start
        and data[end - 1] in b",;.)]}>\\:?"
        and not (data[end - 1] in b".?" and has_symbol(data[start : end - 1]))
    ):
        end -= 1
    return end


def _name_start(data: bytes, at: int) -> int:
    """Where the name around `at` begins, with one more word before it: `API key`."""
    left = max(0, at - 64)
    seen = data[left:at].rstrip(_NAME_CHARS)
    if seen.endswith(b" ") and seen[-2:-1] in _NAME_CHARS:
        seen = seen[:-1].rstrip(_NAME_CHARS)
    return left + len(seen)


def assignments(scan: Scan) -> Iterator[Span]:
    """`name = value` in every syntax, where the name promises a secret."""
    _data, _low = scan.data, scan.low
    position = 0
    while position >= 0:
        position = yield from _assignments(scan, position)


def _assignments(scan: Scan, position: int) -> Generator[Span, None, int]:
    """From a place on; gives the place to go on from, or -1."""
    data = scan.data
    run_end = tries = 0
    for found in pattern(_ASSIGN).find(data, position):
        at = found.end()
        if at < run_end:
            tries += 1
            if tries > 8:  # `key=key=key=...`: one run of text is looked at a few times, not once for each name in it
                return run_end
        separator = data[at - 1 : at]
        start = found.start()
        name_start = _name_start(data, start)
        text = found.group()
        stem = re.match(rb"[\w.\-]+", text)
        name = data[name_start : start + (stem.end() if stem else 0)]
        kind = kind_of(name)
        if kind is None:
            continue
        operator = text.rstrip()[-2:]
        if (
            operator in (b"==", b"!=")
            and separator == b"="
            and b"'" not in data[at : at + 4]
            and b'"' not in data[at : at + 4]
        ):
            continue
        if separator == b"|" and not (data[name_start - 2 : name_start] == b"| " and data[at : at + 1] == b" "):
            continue
        if separator == b":" and data[name_start - 1 : name_start] == b":":
            continue  # `arn:...:secret:name`, `AWS::ApiGateway::ApiKey`
        if separator in b"\"'":
            at -= 1
            separator = b" "
        elif data.startswith(b"** ", at):
            at += 2
        annotated = _ANNOTATION.match(data, at, at + 80) if separator == b":" else None
        if (
            annotated
            and b"\n" not in data[at : annotated.end()]
            and not re.match(rb"[ \t]*[\w.]*\d[\w.]*=", data[at : at + 80])
        ):
            at = annotated.end()
        value = value_at(data, at)
        if value is None or value[1] <= value[0]:
            if separator == b":" or separator == b"=":
                after = _NEXT_LINE.match(data, at, at + 600)
                if after and scan.judge(kind, after.group(1), quoted=False, strict=True):
                    yield Span(after.start(1), after.end(1), family_of(kind), 2)
            continue
        start, end, quoted = value
        if not quoted:
            if at >= run_end:
                tries = 0
            run_end = max(run_end, end)
        word = data[start:end]
        if not quoted and word.replace(b"_", b"").replace(b".", b"").isalpha():
            # `password: string;`, `token=auth_token,`: letters alone are a name, but for a password at the end of its line.
            if kind != "password" or (
                data[end : end + 1] not in (b"", b"\n", b"\r") and not (separator == b"=" and at == start)
            ):
                continue
        call = separator in b",("
        if call and not quoted:
            continue
        if separator == b">" and not (
            data[name_start - 1 : name_start] in (b"<", b":", b'"')
            or b"<" in data[max(0, name_start - 40) : name_start].rpartition(BARRIER)[2]
        ):
            continue
        if separator == b">" and not quoted:
            closing = data.find(b"<", start, start + LONGEST)
            if closing < 0 or b"\n" in data[start:closing]:
                continue
            end = closing
            word = data[start:end].strip()
            start = data.find(word, start, end) if word else start
            end = start + len(word)
            quoted = True
        line_start = data.rfind(b"\n", max(0, name_start - 40), name_start) + 1
        lead = data[max(line_start, name_start - 40) : name_start].strip(b" \t").rpartition(BARRIER)[2]
        env = separator == b"=" and data[at : at + 1] not in b" \t" and (
            lead in (b"", b"export", b"set", b"$env:", b"ENV", b"ARG", b"-e", b"- ", b"-", b"+", b"Environment=", b'"', b"$", b"> export", b"$ export", b"setx", b"declare -x", b"env", b"+export")
            or lead.endswith((b"-e", b"export", b"--build-arg", b"--set", b"ENV", b"env"))
        ) and name.upper() == name  # fmt: skip
        yaml = (
            not env
            and separator in b":="
            and not quoted
            and lead.strip(b"-+ >") == b""
            and data[end : end + 1] in (b"", b"\n", b"\r")
            and re.fullmatch(rb"[a-z][a-z0-9]{7,}", word) is not None
        )
        if env and not quoted:
            # Nothing but white space ends a value in .env.
            whole = _BARE.match(data, start, start + LONGEST)
            if whole:
                full = data[start : whole.end()].rstrip(b"\\")
                if full.endswith((b"}", b")", b"]", b",")) or b"\\n" in full:
                    full = word
                elif full.endswith(b";"):
                    full = full[:-1]
                if len(full) > len(word):
                    word, end = full, start + len(full)
        lower_word = re.fullmatch(rb"[a-z]+", word) is not None
        if yaml and kind == "password" and lower_word and not quoted:
            if not is_placeholder(word) and word not in LABELS and word not in PREDICATES and not is_predicate(word):
                yield Span(start, end, "password", 2)
            continue
        strict = call or (separator == b" " and b"define" not in lead + name)
        if scan.judge(kind, word, quoted=quoted, strict=strict, env=env):
            yield Span(start, end, family_of(kind), 2)
    return -1
