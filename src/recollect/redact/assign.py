"""`name = value` in whatever syntax, where the name promises a secret.

`hunter2` is a word until `password:` stands before it. The pattern finds a word for a secret followed by anything that any
language, format or shell uses to give it a value; `names.kind_of` judges the whole name, `Scan.judge` the value.
"""

from __future__ import annotations

from functools import lru_cache

from .chosen import LISTED, is_chosen_word, is_memorable_word, is_phrase_of_secret, is_phrase_of_session
from .engine import BARRIER, Lazy, loose, rx
from .extents import BARE, QUOTES, is_whole, value_at
from .judge import (
    LABELS,
    PREDICATES,
    family_of,
    is_design_token,
    is_label,
    is_phrase_of_words,
    is_predicate,
    is_tested,
    is_ticket,
    speaks_of_forms,
)
from .names import endings, kind_of
from .scan import CROWD, LONGEST, MANY, Scan, Span, line_around
from .values import (
    PLACEHOLDERS,
    classes,
    has_alpha,
    has_digit,
    has_symbol,
    is_code,
    is_hex,
    is_literal,
    is_memorable,
    is_mixed,
    is_placeholder,
    is_run_together,
    is_scrambled,
    is_uuid,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from .names import Kind

# --- assignments -----------------------------------------------------------------------------------------------------------


# A match begins where the name does, with one more word before it (`API key`), so that it can be judged as it stands. No
# groups: capturing takes re2 four times as long.
def _names() -> str:
    """A pattern of every name of which `kind_of` makes something, and of few others: `path`, `key` or `tokenizer` would be most
    of what is matched in a text, and each is dismissed at the price of a call."""
    secret, which, of_code = map("|".join, endings())
    word, gap = r"[\w.\xc0-\xff-]", r"[\d_.-]*"
    tail = rf"(?:[\d_.-]|{which})*"
    code, connection = rf"(?:{of_code}){gap}", rf"conn(?:ection)?{gap}"
    last = rf"{secret}|(?:session|secret){gap}id|{code}codes?|{connection}string|[a-z\xc0-\xff]{gap}keys?"
    return (
        rf"(?:(?:{word}+[ ])?{word}*(?:{last}){tail}(?:[ ]{tail}string{tail})?|{word}+[ ]{word}*keys?{tail}"
        rf"|{word}*(?:{code}[ ]{gap}codes?|{connection}[ ]{gap}string){tail})"
    )


_ASSIGN = (
    r"(?i)"
    + _names()
    + r"(?:(?:\[[0-9A-Z_]*\])?[\"'`\\\])*>}]{0,5}(?:[ \t]*\([\w ,./-]{1,24}\))?[ \t]{0,20}(?:=>|:{1,3}=|===?|!==?|\?{1,2}=|\+=|\.=|\|\|=|=|::|:|<-|->|\||As[ \t]+\w{1,20}[ \t]*=|(?:[ \t]constant)?[ \t](?:n?(?:var)?char2?(?:\([\w ]{1,6}\))?[ \t]*:?=|text[ \t]*:=))"  # name = value
    r"|[\"']?[\s,+-]{1,40}(?:[\"']?type[\"']?[ \t]*[:=][ \t]*[\"']?\w+[\"']?[\s,+-]{1,40})?[\"']?(?:\w{1,16}:|Parameter|Option)?(?:value|default|val|content)[\"']?[ \t]*[:=]"  # name="..." value="..."
    r"|[\"'\\\]]{0,3}[ \t]*[,({][ \t]*(?:[rbful@$]{1,2}[\"']|[\"'`*<&\\!|>])"  # put("name", "value"), name("value"), name{"value"}
    r"|[ \t]{1,20}[\"']"  # #define NAME "value"
    r"|[\"']?>"  # <name>value</name>
    r"|[\"'][ \t]*\{[^{}\x01]*?(?:default|value)[ \t]*=)"  # variable "name" { default = "..." }
)
_OPENS = frozenset((b'"', b"'", b"`", b"*", b"<", b"&", b"\\", b"!", b"|", b">"))
_OPENED_CALL = Lazy(rb"[,({][ \t]*+(?:[rbfulRBFUL@$]{1,2}(?=[\"']))?[\"'`*<&\\!|>]\Z")
_STEM = Lazy(rb"[\w.\xc0-\xff-]+(?:[ ][\w.\xc0-\xff-]+)?")
# A literal that is handed on at once, or stands in for a variable that is not set.
_WRAPPED = Lazy(
    rb"[ \t]*(?:(?:\[\]byte|Buffer\.from|Some|[\w.]*String(?:::from|::new|\.init)?|[\w.]*Secret\w*|bytes|bytearray|[\w.]*b64decode|[\w.]*SecretKeySpec|new[ ][\w.]+)\([ \t]*[rbu]?"
    rb"|(?:[\w.$:>-]*(?:getenv|environ\.get|\benv|config\.get|get_env|GetEnv|Getenv|getOrDefault|getProperty|fetch|GetEnvironmentVariable)\([ \t]*[\"'][\w.-]+[\"'][ \t]*,[ \t]*)"
    rb"|(?:process\.env(?:\.\w+|\[[\"']\w+[\"']\])|os\.\w+(?:\.\w+)?[(\[][\"']\w+[\"'][)\]]|import\.meta\.env\.\w+|ENV\[[\"']\w+[\"']\])[ \t]*(?:\|\||\?\?|or)[ \t]*"
    rb"|[A-Za-z_$][\w.$]*(?:\(\))?[ \t]+(?:\|\||\?\?|or)[ \t]+"
    rb")(?:\"([^\"\n\x01]{4,})\"|'([^'\n\x01]{4,})')"
)
_WRAPS = Lazy(
    rb"[^\"'\n]*?(?:byte|from|Some|String|Secret|b64decode|new |[Ee]nv|ENV|config\.get|getOr|getProp|fetch|os\.|[ ]or[ ]|\|\||\?\?)"
)
# A call or a subscript is code, whatever its arguments.
_CALLED = Lazy(rb"[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+[(\[]")
_CALLED_WITH_TEXT = Lazy(rb"[ \t]*+[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+[(\[](?=[\"'])")
_HANDS_OVER = (b"--set", b"--build-arg", b"--from-literal=", b"-D")
_SETS = (b"-e", b"export", b"ENV", b"env", *_HANDS_OVER)
_REFERS = (b"${", b"{{", b"$(")
_COMPARES = (b"==", b"!=")
_ENDS = (b"", b" ", b"\n", b"\r", b"\t")
_LINE_ENDS = (b"", b"\n", b"\r")
_LETTERS = Lazy(rb"[ \t]?[A-Za-z_.]++(?=\s)(?<=[A-Za-z])")
# `process.env.TOKEN || "..."`: what it is where the variable is not set.
_CELL = Lazy(rb"\|[ `*]*(?:[\w()/&-]+[ ]){0,3}[`*]*\Z")  # where the cell of a table begins, perhaps with more words
_OR_ELSE = Lazy(rb"[ \t](?:\|\||\?\?|or)[ \t]+[\"']")
# Letters alone before the next field are a name, a call without arguments is code: rejected below as well, but not as fast.
_DULL = Lazy(rb"[ \t]?(?:[A-Za-z_.]++(?:[,;)\]}]+(?=\s)|(?=[ \t])|\(\))|[A-Za-z_][\w.]*+\([A-Za-z_][\w.]*+[,)])")
_COUNTED = Lazy(rb"[ \t]*[0-9]+[ \t]*(?:\r?\n|$)")
_NUMBERED = Lazy(rb"[ \t]*[\w.]*\d[\w.]*=")
_LOWER_WORD = Lazy(rb"[a-z]+")
# With a dash in lower case it would be an adjective: `read-only`, `one-time`.
_TWO_WORDS = Lazy(rb"[A-Za-z][a-z]{2,}(?:_[A-Za-z]?[a-z]{2,}|-[A-Z][a-z]{2,})")
_LOWER_NAME = Lazy(rb"[a-z][a-z0-9]{7,}")
_ANNOTATION = Lazy(
    rb"[ \t]*+(?:[&*?]*+(?:'\w++[ \t]++)?(?:(?:mut|const)[ \t]++)?[A-Za-z_][\w.]*+(?:\[[\w., |]*\])?(?:[ \t]*\|[ \t]*\w+)?)\??[ \t]*=(?!=)"
)
_BLANK = Lazy(rb"[\s\x01]")
_NEXT_LINE = Lazy(
    rb"[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t>]*(?:string\([0-9]+\)[ ]|[\"']?value[\"']?[ \t]?[:=][ \t]*)?[\"'`]?([^\s\x01\"'`]{8,})[\"'`]?[ \t]*(?:\r?\n|$)"
)
_SETTING = Lazy(rb"(?:[A-Z]+[0-9]*(?:_[A-Z0-9]+)*|[a-z]+[0-9]*(?:_[a-z0-9]+)+)=.*")


_SETTER = Lazy(rb"(?:[\w.]*[._])?(?:set|with)_?[A-Z_\w]*")
_HYPHENED = Lazy(rb"[A-Za-z]{3,}(?:-[A-Za-z]{3,}){1,5}")
_HANDS_ON = Lazy(
    rb"(?i)(?:fill|type|put|set|set_?item|set_?property|append|add|env|getenv|environ\.get|get_?or_?default|enter_?text)\([ \t]*@?[\"'][\w#.\[\]=-]*$"
)


_DECLARED = (b" text", b"char", b"char2", b" constant")  # `api_key text := '...'`


@lru_cache(maxsize=2048)
def _promise(head: bytes) -> tuple[bytes, Kind | None, bytes, bool, bool, int]:
    """The name that a match begins with, what it promises, what separates it from its value, whether that sets it, or compares it,
    and how far it goes."""
    stem = _STEM.match(head)
    if stem is None:
        return b"", None, b"", False, False, 0
    name, separator, size = stem.group(), head[-1:], len(head)
    if name.endswith((b".Text", b".text")):
        name = name[:-5]  # `txtPassword.Text = "..."`
    if b" " in name and name.lower().endswith(_DECLARED):
        name = name.partition(b" ")[0]
    if separator in _OPENS and (opened := _OPENED_CALL.search(head)):
        size = opened.start() + 1  # what opens the value is part of the match
        separator = head[size - 1 : size]
        if separator == b"{":
            separator = b"="
    compares = separator == b"=" and head[-2:] in _COMPARES
    return name, kind_of(name), separator, separator == b":" or separator == b"=", compares, size


def _promised(head: bytes) -> tuple[bytes, Kind | None, bytes, bool, bool, int]:
    return _promise(head) if len(head) <= 80 else _promise.__wrapped__(head)


def _promised_by_shape(head: bytes) -> tuple[bytes, Kind | None, bytes, bool, bool, int]:
    """The same, asked once for names that differ in a long number: no name means anything by one."""
    if len(head) > 80 or _LONG_NUMBER.search(head) is None:
        return _promised(head)
    name, *more = _promise(_LONG_NUMBER.sub(lambda found: b"0" * len(found[0]), head))
    return head[: len(name)], *more  # type: ignore[return-value]


_LONG_NUMBER = Lazy(rb"[0-9]{4,}")


def _plain_until(data: bytes, at: int) -> tuple[int, bool]:
    """The end of the line, and whether no value up to it could be a key, a token or a PIN: there is neither a digit nor a
    symbol, no run that is long enough without them, and no sign that a value stands below."""
    found = _UNTELLING.match(data, at)
    assert found is not None
    end = found.end()
    if end < len(data) and data[end] != 10:
        end = data.find(b"\n", end)
        return (len(data) if end < 0 else end), False
    last = data[end - 1 : end] if end > at else b""
    if last.isspace():
        last = data[at:end].rstrip()[-1:]
    return end, last not in _OPEN and last != b":" and (end - at < 12 or _LONG_RUN.search(data, at, end) is None)


# A quote of one sort may stand in it, of another not: it might be in a value.
_TOLD = rb"0-9!@#$%^&*+=?~|<\\\n"
_UNTELLING = Lazy(
    rb"[^" + _TOLD + rb"\"'`]*+(?:\"[^" + _TOLD + rb"'`]*+|'[^" + _TOLD + rb"\"`]*+|`[^" + _TOLD + rb"\"']*+)?"
)
# ... or twelve letters that turn to capitals twice, as a key without a digit does.
_LONG_RUN = Lazy(rb"[^\s\"'`\x01]{20}|(?=[A-Za-z]{12})[A-Z]*[a-z]+[A-Z]+[a-z]+[A-Z]")


def _reach(data: bytes, start: int, at: int) -> tuple[int, int]:
    """What is looked at for a name: its value on this line or, where nothing but a sign of it stands there, below."""
    end = data.find(b"\n", at)
    if end < 0:
        end = len(data)
    # A part of the line is enough: a long one may hold thousands of names, and each is asked.
    head, tail = data[at : min(end, at + 1000)], data[max(at, end - 100) : end].rstrip()
    if tail[-1:] in _OPEN or b'"""' in head or b"'''" in head:
        end = at + LONGEST + 1000
    return start - 50, max(end, at + 100)


def _falls_short(scan: Scan, kind: Kind, word: bytes, quoted: bool) -> bool:
    """Too short for its kind, or without a digit that it must have."""
    if kind == "key":
        return len(word) < 16 or not has_digit(word)
    if kind == "secret":
        return len(word) < (8 if quoted or is_memorable(word) else 12) or (
            len(word) < 20 and word.isalpha() and not scan.recall("scrambled", word, is_scrambled)
        )
    return kind == "pin" and not has_digit(word)


_BEFORE_A_VARIABLE = (
    b"", b"export", b"set", b"$env:", b"ENV", b"ARG", b"-e", b"- ", b"-", b"+", b"Environment=", b'"', b"$", b"> export", b"$ export",
    b"setx", b"declare -x", b"env", b"+export",
)  # fmt: skip


def _is_variable(lead: bytes, name: bytes) -> bool:
    """Whether what stands before an equals sign is a variable of the environment: `export DB_PASSWORD`, `run DB_PASSWORD`."""
    word, _, own = name.rpartition(b" ")
    if own.upper() != own:
        return lead.endswith(_HANDS_OVER)
    if word:
        lead = (lead + b" " + word).strip()
    return b"_" in own or lead in _BEFORE_A_VARIABLE or lead.endswith(_SETS)


def _is_tag(data: bytes, at: int) -> bool:
    """Whether a name is the end of one: `<password>`, `<wsse:Password>`, `<entry key="password">`."""
    return data[at - 1 : at] in (b"<", b":", b'"') or b"<" in data[max(0, at - 40) : at].rpartition(BARRIER)[2]


def _could_be(word: bytes) -> bool:
    """A digit, or letters that are no word, and no reference or call: `${DB_PASSWORD_1}`, `<your-key-1>`, `tokens[0]`."""
    return (has_digit(word) or is_scrambled(word)) and word[:1] not in _OPENS_ONE and word[-1:] not in _ENDS_ONE


_OPENS_ONE, _ENDS_ONE = frozenset((b"$", b"%", b"<", b"{", b"[", b"(")), frozenset((b")", b"]", b"}", b">"))


_TELLS = frozenset((b" ", b"[", b"{", b"(", b"\\", b"\n"))
_OPENED = frozenset(
    bracket + after for bracket in (b"[", b"{", b"(") for after in (b'"', b"'", b"`", b" ", b"\n", b"\t")
)
_OPEN = (b"", b"=", b"*", b"|", b">", b"-", b"+")  # `password: str =`, `key: >-`


def assignments(scan: Scan) -> Iterator[Span]:
    """`name = value` in every syntax, where the name promises a secret."""
    position = hits = 0
    while position >= 0:
        position, hits = yield from _assignments(scan, position, hits)


def _assignments(scan: Scan, position: int, hits: int) -> Generator[Span, None, tuple[int, int]]:
    """From a place on; gives the place to go on from, or -1, and how many were found."""
    data = scan.data
    promised = _promised_by_shape if scan.is_long else _promised
    promises: dict[bytes, tuple[bytes, Kind | None, bytes, bool, bool, int]] = {}
    run_end = tries = found_end = 0
    plain, is_plain = -1, False
    seen_at, value = -1, None  # a value, and where it was looked for
    has_blanks = BARRIER in data
    for ((name_start, at),) in scan.across(_ASSIGN, loose(_ASSIGN), position, _reach):
        if at < run_end:
            tries += 1
            if tries > 8:  # `key=key=key=...`: one run of text is looked at a few times, not once for each name in it
                scan.is_whole = False
                return run_end, hits
        if name_start < found_end < at:
            # The word before the name is a value; unless the value has swallowed the name, or what makes it one: `|my key=`.
            own = found_end + (data[found_end : found_end + 1] == b" ")
            if has_alpha(data[own:at]) and _promise.__wrapped__(data[own:at])[1] is not None:
                name_start = own
        head = data[name_start:at]
        promise = promises.get(head)
        if promise is None:
            promise = promises[head] = promised(head)
        name, kind, separator, sets, compares, size = promise
        if kind is None:
            continue
        at = name_start + size
        near = data[at : at + 4]
        if compares and b"'" not in near and b'"' not in near:
            continue
        if hits > MANY and sets:
            # One of many: what plainly is a value is taken for one; among hundreds, what could be one.
            seen_at, value = at, value_at(data, at)
            if (
                value is not None
                and (_could_be if hits > CROWD else is_mixed)(data[value[0] : value[1]])
                and is_whole(data, value)
            ):
                run_end, tries = max(run_end, value[1]), 0
                hits += 1
                yield Span(value[0], value[1], family_of(kind), 2)
                continue
        if kind != "password" and kind != "phrase":
            if at > plain:
                plain, is_plain = _plain_until(data, at)
            if is_plain:
                continue
        if has_blanks and BARRIER in near and near[:3].lstrip(b" \"'`").startswith(BARRIER):
            continue  # its value is found already
        if sets and (first := near[:1]) in _TELLS:
            if near[:3].lstrip(b" ")[:2] in _OPENED:
                continue  # `"secrets": ["`
            if data.startswith((b' \\\\\\"', b'\\\\\\"'), at) or (
                first == b"\n" and _NEXT_LINE.match(data, at, at + 600) is None
            ):
                continue  # JSON in JSON in JSON: no value is seen before the quote; as below, at a glance
        annotates = separator == b":" and b"=" in (ahead := data[at : at + 80])
        if annotates and has_blanks:
            annotates = b"=" in ahead.partition(BARRIER)[0]
        if (
            not annotates
            and (kind != "password" or separator != b"=" or data[at : at + 1] == b" ")
            and (dull := _DULL.match(data, at, at + 80))
            and not _OR_ELSE.match(data, dull.end(), dull.end() + 8)
            and not scan.recall("scrambled", dull.group().strip(b" \t,;)]}"), is_scrambled)
        ):
            continue
        if (
            kind != "password"
            and not annotates
            and separator not in QUOTES
            and (letters := _LETTERS.match(data, at, at + 80))
            and not _OR_ELSE.match(data, letters.end(), letters.end() + 8)
            and not scan.recall("scrambled", letters.group().strip(), is_scrambled)
            and not (separator == b"=" and is_run_together(letters.group()))
        ):
            if at >= run_end:
                tries = 0
            run_end = max(run_end, letters.end())
            continue
        if separator == b":":
            if data[name_start - 1 : name_start] == b":" and b" " not in name:
                continue  # `arn:...:secret:name`, `AWS::ApiGateway::ApiKey`
            if name == b"tk" and head.endswith(b"::"):
                continue  # of Tcl
        elif separator == b"|":
            if near[:1] != b" " or _CELL.search(data, max(0, name_start - 40), name_start) is None:
                continue
        elif separator == b">":
            if data[at - 2 : at - 1] in (b"-", b"="):
                separator, sets = b"=", True
            elif not _is_tag(data, name_start):
                continue
        if separator in QUOTES:
            at -= 1
            separator = b" "
        elif near[:3] == b"** ":
            at += 2
        annotated = _ANNOTATION.match(data, at, at + 80) if annotates else None
        if (
            annotated
            and b"\n" not in (note := annotated.group())
            and not (has_digit(note) and _NUMBERED.match(data, at, at + 80))
        ):
            at = annotated.end()
            if b"Final" in note and _COUNTED.match(data, at, at + 24):
                continue  # `PASSWORD: Final = 10174`: one of many constants
        if (
            annotates
            and kind != "password"
            and (dull := _LETTERS.match(data, at, at + 80) or _DULL.match(data, at, at + 80))
            and data[dull.end() : dull.end() + 1] in _ENDS
            and not dull.group().endswith(b"new")
        ):
            if at >= run_end:
                tries = 0
            run_end = max(run_end, dull.end())
            continue
        if sets and data[at : at + 2].lstrip(b" ")[:1] not in QUOTES:
            ahead = data[at : at + 200].partition(b"\n")[0]  # neither goes on in the next line
            if b'"' in ahead or b"'" in ahead:
                if _WRAPS.match(ahead) and (wrapped := _WRAPPED.match(ahead)):
                    start, end = max(wrapped.span(1), wrapped.span(2))
                    word = data[at + start : at + end]
                    if (has_digit(word) or has_symbol(word) or classes(word) >= 3 or is_phrase_of_words(word)) and (
                        is_phrase_of_secret(kind, word) or scan.judge(kind, word, quoted=True, strict=False)
                    ):
                        yield Span(at + start, at + end, family_of(kind), 2)
                    continue
                if called := _CALLED_WITH_TEXT.match(ahead):
                    if at >= run_end:
                        tries = 0
                    run_end = max(run_end, at + called.end())
                    continue
        if at != seen_at:
            value = value_at(data, at)
        if value is None or value[1] <= value[0]:
            if (
                separator == b":"
                or separator == b"="
                or (separator == b">" and data[name_start - 1 : name_start] == b"<")
            ):
                after = _NEXT_LINE.match(data, at, at + 600)
                if separator == b">" and (
                    is_placeholder(name)
                    or (after and b"</" not in data[after.end(1) : after.end(1) + 80].partition(BARRIER)[0])
                ):
                    continue  # `PASSWORD=<your-secret>`, and the next setting
                if after and _SETTING.fullmatch(after.group(1)) is not None:
                    continue  # `TOKEN=`, and the next one
                if after and scan.judge(kind, after.group(1), quoted=False, strict=True):
                    yield Span(after.start(1), after.end(1), family_of(kind), 2)
            continue
        start, end, quoted = value
        if separator == b"," and quoted and data[end + 1 : end + 4].lstrip(b" ")[:1] == b":":
            continue  # `"title": "Enter your password", "reset": "Back"`: the next key
        if not quoted:
            if at >= run_end:
                tries = 0
            if end > run_end:
                run_end = end
        if start in scan.sure:
            if not quoted and at >= run_end:
                run_end, tries = max(run_end, end), 0
            continue
        if end - start < 3 and separator != b">" and separator != b"=":
            continue  # `"secrets": [`: too short for any, and here nothing makes it longer
        word = data[start:end]
        if separator == b":" and name.endswith(b"PASS") and is_tested(name, word):
            continue
        if not quoted and (is_literal(word) or (kind != "password" and data.startswith(b"...", end))):
            continue  # `api_key = sk-ant-api03-...`
        if (
            kind != "password"
            and separator != b">"
            and (separator != b"=" or quoted)
            and _falls_short(scan, kind, word, quoted)
        ):
            continue  # `Scan.judge` says so as well, after all that is asked below
        if not quoted and separator != b">":
            if word[:2] in _REFERS or (word in PLACEHOLDERS and data[end : end + 1] in _ENDS):
                continue  # judged so below as well, but not as fast
        if not quoted and separator == b">" and data[name_start - 1 : name_start] == b"<":
            # The text of an element ends where its tag does: `<password>Fish&amp;Chips</password>`.
            close = data.find(b"</", end, start + 256) if data[end : end + 1] == b"&" else end
            if close >= 0 and data.startswith(b"</", close) and not _BLANK.search(data, start, close):
                end, quoted = close, True
                word = data[start:end]
        if not quoted and word.translate(None, b"_.").isalpha() and not scan.recall("scrambled", word, is_scrambled):
            # `password: string;`, `token=auth_token,`: letters alone are a name, but for a password at the end of its line.
            if (kind != "password" and not (separator == b"=" and at == start and is_run_together(word))) or (
                kind == "password"
                and data[end : end + 1] not in (b"", b"\n", b"\r")
                and not (separator == b"=" and at == start)
            ):
                continue
        call = separator in b",("
        if not quoted and (call or (separator != b">" and _CALLED.match(word))):
            continue
        if separator == b">" and not quoted:
            closing = data.find(b"<", start, start + LONGEST)
            if closing < 0 or b"\n" in (inside := data[start:closing]) or BARRIER in inside:
                continue
            end = closing
            word = data[start:end].strip()
            if word.startswith(b"--"):
                continue  # `--set password=<secret> --wait`
            start = data.find(word, start, end) if word else start
            end = start + len(word)
            quoted = True
        line_start = data.rfind(b"\n", max(0, name_start - 40), name_start) + 1
        # What was found just before is as good as blanked, or each round would find only the next of `A=... B=... C=...`.
        lead_start = max(line_start, name_start - 40, found_end if found_end <= name_start else 0)
        lead = data[lead_start:name_start].strip(b" \t").rpartition(BARRIER)[2]
        env = separator == b"=" and data[at : at + 1] not in b" \t" and _is_variable(lead, name)
        yaml = (
            not env
            and separator in b":="
            and not quoted
            and lead.strip(b"-+ >") == b""
            and data[end : end + 1] in (b"", b"\n", b"\r")
            and _LOWER_NAME.fullmatch(word) is not None
        )
        if env and not quoted:
            # Nothing but white space ends a value in .env.
            whole = BARE.match(data, start, start + LONGEST)
            if whole:
                full = data[start : whole.end()].rstrip(b"\\")
                if full.endswith((b"}", b")", b"]", b",")) or b"\\n" in full:
                    full = word
                elif full.endswith(b";"):
                    full = full[:-1]
                if len(full) > len(word):
                    word, end = full, start + len(full)
        if (
            not quoted
            and kind == "password"
            and separator == b"="
            and (around := data[name_start - 1 : name_start]) in QUOTES
            and data[end : end + 1] == around
        ):
            quoted = True  # "password=tiger"
        if (
            not quoted
            and kind == "secret"
            and separator == b"="
            and len(word) >= 8
            and name.lower().rpartition(b" ")[2] == b"secret"
            and lead == b""
            and data[end : end + 1] in _LINE_ENDS
            and has_digit(word)
            and classes(word) >= 3
            and not is_code(word)
        ):
            quoted = True  # on a line of its own: what a router and a server share
        lower_word = _LOWER_WORD.fullmatch(word) is not None
        if not lower_word and not quoted and kind == "password" and data[end : end + 1] in (b"", b"\n", b"\r"):
            # `password=open_sesame` on a line of its own
            lower_word = yaml = (
                lead.strip(b"-+ >#/*") == b""
                and (at == start if separator == b"=" else separator == b":")
                and _TWO_WORDS.fullmatch(word) is not None
                and not is_label(word)
                and not speaks_of_forms(word)
            )
        if yaml and kind == "password" and lower_word and not quoted:
            if not is_placeholder(word) and word not in LABELS and word not in PREDICATES and not is_predicate(word):
                yield Span(start, end, "password", 2)
            continue
        strict = call or (
            separator == b" " and b"define" not in lead + name and not lead.endswith((b"setq", b"defvar"))
        )
        if strict and quoted and kind == "password":
            # `setPassword("...")`, `define("DB_PASSWORD", "...")`, `:password "..."` have no other meaning; what else is handed over
            # with a name may be a label.
            before = data[max(0, name_start - 24) : name_start].rpartition(BARRIER)[2]
            if (
                (separator == b"(" and data[end + 1 : end + 2] == b")" and _SETTER.match(name) is not None)
                or (separator == b"," and name.isupper())
                or (separator == b" " and (before == b":" or before.endswith((b"{:", b" :", b"\n:"))))
            ):
                strict = LISTED.fullmatch(word) is not None or not (
                    has_digit(word) or classes(word) >= 3 or has_symbol(word) or _HYPHENED.fullmatch(word)
                )
            elif is_chosen_word(word) or (call and _HANDS_ON.search(before) is not None and is_memorable_word(word)):
                strict = False
        elif strict and quoted and separator == b"(" and data[end + 1 : end + 2] == b")" and _SETTER.match(name):
            strict = False  # `setAppKey("...")`
        elif strict and quoted and separator == b"," and has_digit(word) and kind == "secret":
            # `setItem("token", "...")`, `setenv("API_SECRET", "...")`
            strict = _HANDS_ON.search(data[max(0, name_start - 24) : name_start].rpartition(BARRIER)[2]) is None
        if (
            kind == "key"
            and b"icen" in name[-8:]
            and rx(rb"[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,}").fullmatch(word) is None
        ):
            continue  # `License: LGPLv3+`
        if kind == "key" and is_uuid(word) and name.lower().endswith((b"session_id", b"sessionid", b"session-id")):
            continue  # in a log; a cookie is judged elsewhere
        if scan.is_sealed(word) or (separator == b":" and is_ticket(name)):
            continue
        if lead.endswith(b"checksum/") or (is_uuid(word) and name.endswith(b"UserSecrets")):
            continue  # of a secret, and where secrets are
        if (
            word.isdigit()
            and not quoted
            and name == b"pass"
            and separator == b":"
            and data[name_start - 1 : name_start] in QUOTES
        ):
            continue  # `{"pass": 9385}`: how many, or which
        if is_hex(word) and len(word) in (8, 16, 40):
            if name.lower().endswith(b"signingkey") or b"X.509" in line_around(data, start):
                continue  # whose key it is: of git, of a kernel
        if kind == "secret" and is_design_token(name, word):
            continue
        if kind == "pin" and name.endswith(b"pins"):
            continue  # `GPIO pins: 2040`; what opens a door is written `PINs`
        if (
            (quoted or env)
            and not strict
            and (
                is_phrase_of_secret(kind, word)
                or (
                    kind == "secret"
                    and is_phrase_of_session(
                        name, word, data[max(0, name_start - 80) : name_start].rpartition(BARRIER)[2]
                    )
                )
            )
        ) or scan.judge(kind, word, quoted=quoted, strict=strict, env=env):
            hits += 1
            found_end = end
            yield Span(start, end, family_of(kind), 2)
    return -1, hits
