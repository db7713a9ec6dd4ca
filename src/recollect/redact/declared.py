"""Where code stands between a name and its value: a property's accessors, a default, what a getter returns, the braces of JSX.

Each of these ways has a literal of its own, and nothing is searched for where that does not occur.
"""

from __future__ import annotations

from .engine import BARRIER
from .judge import family_of, is_phrase_of_words
from .names import kind_of
from .scan import Scan, Span
from .values import classes, has_digit, has_symbol, is_random, is_scrambled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r"(?i)([\w$.-]*(?:pass(?:w(?:or)?d|phrase|code)?|pwd|psk|secret|token|key|creds?|credentials?|auth)\w*)"
_VALUE = r"[ \t]*\\*[\"'`]([^\"'`\\\n\x01]+)\\*[\"'`]"
_END = r"[^\"'`;{}\n\x01]*?"  # more code, on the same line
# What stands between the two, and the literals of which one must occur.
_BETWEEN = (
    (r"[ \t]*\{[ \t]*get;[^{}\n\x01]*\}[ \t]*=" + _VALUE, (b"get;",)),  # string Password { get; set; } = "..."
    (rf"{_END}\bdefault(?:_value)?[ \t]*[=(]" + _VALUE, (b"default=", b"default =", b"default(", b"default_value")),  # = Field(default="...")
    (r"[\"']\)\.unwrap_or(?:_else)?\((?:\|\w*\|[ \t]*)?" + _VALUE, (b"unwrap_or",)),  # env::var("PASSWORD").unwrap_or("...")
    (r"[\"']\)[ \t]*\{" + _VALUE + r"[ \t]*\}", (b'") {', b"') {")),  # ENV.fetch("PASSWORD") { "..." }
    (r"=\{" + _VALUE + r"[ \t]*\}", (b"={",)),  # <Login password={"..."} />
    (rf"\(\){_END}\{{[ \t]*return" + _VALUE, (b"{ return",)),  # getPassword() { return "..."; }
    (r"\(\)\)\.\w*returns?(?:value)?\(" + _VALUE, (b"return(", b"returns(", b"returnvalue(")),  # when(x.getPassword()).thenReturn("...")
    (rf"[ \t]*={_END}\?{_END}:" + _VALUE, (b" ? ",)),  # password = args.length > 0 ? args[0] : "..."
    (r"[ \t]*:[ \t]*annotated\[[^\n\x01=]*\][ \t]*=" + _VALUE, (b"annotated[",)),
    (r"[\"'],[ \t]*string_?value[\"']?[ \t]*:" + _VALUE, (b"stringvalue", b"string_value")),  # parameterName: "...", stringValue: "..."
    (r"[\"'`]?[ \t]*[,:][ \t]*\{[^{}\n\x01]*\bdefault[\"']?[ \t]*:" + _VALUE, (b"default:", b'default":', b"default':")),  # option("password", { default: "..." })
    (r"[\"'`]?[ \t]+to[ \t]+(?:be|equal)" + _VALUE, (b' to be "', b" to be '", b" to equal ")),  # what a test says that failed
    (r"[^<>\n\x01]*>[ \t]*<!\[cdata\[([^\]\n\x01]+)\]\]>", (b"<![cdata[",)),  # <password><![CDATA[...]]></password>
    (r"[ \t]+reg_sz[ \t]+([^\s\x01]+)", (b"reg_sz",)),  # Windows' registry
)  # fmt: skip
# A parameter of CloudFormation, a property of OpenAPI: what it is by default stands a few lines below.
_BELOW = r"(?m):[ \t]*\r?\n(?:[ \t]+(?:type|description|format|minlength|maxlength|allowedpattern|constraintdescription|title|required)[ \t]*:[^\n\x01]*\n)+[ \t]+default[ \t]*:[ \t]*[\"']?([^\s\"'\x01]+)[\"']?[ \t]*\r?$"
# What `terraform output -json` prints: the name, and among its attributes the value.
_ATTRIBUTES = r"\"[ \t]*:[ \t]*\{[^{}\x01]*?\"value\"[ \t]*:" + _VALUE
# The value first.
_BEFORE = (
    (r"(?i)\((?:value:)?" + _VALUE + r"[ \t]*,[ \t]*for(?:httpheaderfield|key)?[ \t]*:[ \t]*\\*[\"']([\w-]+)", (b"forhttpheaderfield", b"forkey:")),
    (r"(?i)\boption\(" + _VALUE + r"[ \t]*,[ \t]*[\"']--?([\w-]+)", (b"option(",)),  # typer.Option("...", "--password")
    (r"\"value\"[ \t]*:[ \t]*\"([^\"\\\n\x01]+)\"[ \t\r\n]*,(?:[ \t\r\n]*\"[a-z]+\"[ \t]*:[ \t]*\"[^\"\n\x01]*\"[ \t\r\n]*,){0,3}[ \t\r\n]*\"(?:name|designation|label)\"[ \t]*:[ \t]*\"(password)\"",
     (b':"password"', b': "password"')),  # 1Password's fields
    (r"(?i)default_value[ \t]*=" + _VALUE + r"[^\"'\n\x01]*\][ \t\r\n]*(?:pub[ \t]+)?([\w]+)[ \t]*:", (b"default_value",)),
)  # fmt: skip
_COOKIE = r"\"name\"[ \t]*:[ \t]*\"([^\"\n\x01]+)\"[ \t\r\n]*,[ \t\r\n]*\"value\"[ \t]*:[ \t]*\"([^\"\s\x01]{16,})\""

_HTTP_ONLY, _DEFAULT = b'"httponly"', b"default:"
_SENSITIVE = b'"sensitive"'
_LITERALS = (
    *{word: None for rows in (_BETWEEN, _BEFORE) for _, words in rows for word in words},
    _HTTP_ONLY,
    _SENSITIVE,
)


def declared(scan: Scan) -> Iterator[Span]:
    """`public string Password { get; set; } = "..."`, `token: str = Field(default="...")`, `<Login password={"..."} />`."""
    if not scan.has(*_LITERALS):
        return
    for between, literals in _BETWEEN:
        if lines := _lines_with(scan, literals):
            for _, name, value in scan.spans(_NAME + between, lines):
                yield from _judged(scan, name, value)
    if scan.has(_DEFAULT):
        for _, name, value in scan.everywhere(_NAME + _BELOW):
            yield from _judged(scan, name, value)
    if scan.has(_SENSITIVE):
        for _, name, value in scan.everywhere(_NAME + _ATTRIBUTES):
            yield from _judged(scan, name, value)
    for source, literals in _BEFORE:
        if scan.has(*literals):
            for _, value, name in scan.everywhere(source):
                yield from _judged(scan, name, value)
    if scan.has(_HTTP_ONLY):  # what browsers and their drivers export
        for _, _, (start, end) in scan.everywhere(_COOKIE):
            if is_random(scan.data[start:end], 20):
                yield Span(start, end, "cookie", 1)


def _lines_with(scan: Scan, literals: tuple[bytes, ...]) -> list[tuple[int, int]]:
    """The lines in which one of these stands, each with the end of the one before it."""
    low, lines, done = scan.low, list[tuple[int, int]](), 0
    places = sorted({at for literal in literals if literal in low for at in _places(low, literal)})
    for at in places:
        if at >= done:
            done = low.find(b"\n", at) + 1 or len(low)
            lines.append((max(0, low.rfind(b"\n", 0, at)), done))
    return lines


def _places(low: bytes, literal: bytes) -> Iterator[int]:
    at = low.find(literal)
    while at >= 0:
        yield at
        at = low.find(b"\n", at)  # one a line is enough
        at = low.find(literal, at) if at >= 0 else at


def _judged(scan: Scan, name: tuple[int, int], value: tuple[int, int]) -> Iterator[Span]:
    data = scan.data
    start, end = value
    word = data[start:end]
    if start in scan.taken or not 6 <= len(word) <= 200 or start - name[0] > 160 or BARRIER in data[name[0] : start]:
        return
    if not (has_digit(word) or has_symbol(word) or is_scrambled(word) or is_phrase_of_words(word)):
        return
    kind = kind_of(data[slice(*name)])
    if kind in ("password", "secret", "key", "phrase") and scan.judge(
        kind, word, quoted=True, strict=kind == "key" and classes(word) < 2
    ):
        yield Span(start, end, family_of(kind), 2)
