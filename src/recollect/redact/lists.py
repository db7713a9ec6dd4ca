"""Passwords without a sentence around them: beside an account or a mail address, below their name, in groups of letters.

A line that speaks of a password or a login is all that says so; `prose` reads the sentences.
"""

from __future__ import annotations

from .asides import is_chosen, names_a_login
from .engine import Lazy, outline, pattern, rx
from .judge import family_of, is_path, is_tested
from .names import kind_of
from .noise import IDENTIFIES
from .prose import is_strong, unquote
from .scan import Scan, Span, line_around
from .values import (
    classes,
    has_alpha,
    has_digit,
    has_entropy,
    has_symbol,
    is_code,
    is_grouped,
    is_hex,
    is_monotone,
    is_placeholder,
    is_random,
    is_reference,
    is_unspoken,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORABLE = (
    r"(?:^|[\s\"'`(:=>,])([A-Za-z0-9][A-Za-z0-9._-]*[!@#$%^&*?+~][A-Za-z0-9!@#$%^&*?+~._-]*)[\"'`),;<]{0,3}(?:\s|$)"
)
_QUOTED_MEMORABLE = r"[\"']([A-Z][a-z]{3,12}[-_.!@#][0-9]{2,6}[!?]?)[\"']"
_PASSWORD_WORD = (
    r"pass(?:word|wd|wort|w\b|phrase)?\b|\bpwd?\b|\bcreds?\b|credential|log ?in\b|kennwort|contrase|mot de passe|senha"
)
_MAIL_PAIR = r"[A-Za-z0-9_.+-]+@[A-Za-z0-9.-]+\.[a-z]{2,10}[\"'`*]{0,2}(?:[ \t]*[/|,;][ \t]*|[ \t]*:[ \t]*|[ \t]+(?:and|with|-)[ \t]+)[\"'`*]{0,2}([^\s\"'`\x01]{6,64})"
_ALONE = r"(?im)^[ \t>*#-]*(?:subject:)?[\w.() -]*(?:password|passwd|passwort|pass|pwd|token|secret|key)[ \t*]*\r?\n(?:[ \t]*\r?\n)?[ \t>]*([^\s\x01]{8,128})[ \t]*\r?$"
_APP_QUOTED = r"[\"'`]([a-z]{4}(?:[ ][a-z]{4}){3})[\"'`]"
_ACCOUNT = r"(?i)(?:^|[\s\"'`(,;])(?:root|admin|administrator|sa|postgres|ubuntu|ec2-user|pi|guest|demo|sysadmin|superuser)[\"'`*]{0,2}[ \t]*[/:][ \t]*[\"'`*]{0,2}([^\s\"'`\x01]{6,64})"
_SPACED = r"(?im)^[ \t]*(?:(?:set|setenv|setx|env|arg|export)[ \t]+(?:-[a-z]+[ \t]+)?)?([\w.-]*(?:password|passwd|pass|pwd|pw|psk|secret|passphrase|token|key|secret_id)[0-9]?)(?:[ \t]+|[ \t]?[,;][ \t]?)([^\s\"'=:|,;\x01]{5,})[ \t]*[,;]?\r?$"
_APP_PASSWORD = (
    r"(?i)app(?:lication)?[ -]?(?:specific[ -])?passw(?:or)?d[^\n\x01]*?[:= \"'`]([a-z]{4}(?:[ -][a-z]{4}){3})\b"
)
_APP_SETTING = r"(?im)pass(?:w(?:or)?d)?[ \t]*[:=][ \t]*([a-z]{4}(?:[ ][a-z]{4}){3})\r?$"


_SETS = Lazy(rb"(?:root|bind|db|admin|olc-?root|ldap-?bind|wpa-?)(?:pw|pwd|passwd|password|psk|passphrase)")


# An authenticator's secret, as it is shown to be typed.
_GROUPED = r"(?i)(?:2fa|otp|mfa|authenticator|factor)[^\n\x01]{0,30}?(?:secret|key|seed|code)[^\n\x01]{0,20}?[:= \"'`(]((?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})\b"
# The same in one piece, after whatever it is called where it is shown or used: `pyotp.TOTP('...')`, `oathtool --totp -b ...`.
_SEED = (
    r"(?i)(?:[th]otp\b|otpauth|oathtool|enter (?:the|this) (?:key|code|secret)|authenticator|\b2fa\b|\bmfa\b|two-factor|zwei-?faktor|(?:setup|secret|manual(?: entry)?)[ -]key|schl\xfcssel"
    r"|clave secreta|chave secreta|chiave segreta)[^\n\x01]{0,60}?[ \t:=\"'`(]((?-i:[A-Z2-7]{16,}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15})={0,6})(?:[^\w+/=-]|$)"
)
# `what was the password?`, or `use this password:`, and below it a line with nothing else.
_BELOW = r"(?im)\b(?:password|passwd|passwort|kennwort|passphrase|pw)\b[^\n:?\x01]*[:?]+[ \t*]*\r?\n(?:[ \t]*\r?\n)?(?:[ \t]*```\w*\r?\n)?[ \t>]*([^\s\x01]+)[ \t]*\r?$"
# The answer of somebody else: `what's the token?`, and below it `Kim: ...`.
_ANSWERED = r"(?im)\b(password|passwd|passwort|kennwort|passphrase|pw|secret|token|key|schl\xfcssel)\b[^\n?\x01]*\?+[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t>]*(?:\[[^\]\n\x01]*\][ \t]*|[0-9:]+[ \t]+)?(?:[A-Za-z][\w .'-]*:|<[\w.-]+>)[ \t]+(?:(?:sure|yes|yep|yeah|ok|okay|klar|ja|oui|si|s\xed|sim|it's|its|here|hier|try|think)[,:!.]*[ \t]+){0,2}([^\s\x01]+)[ \t]*\r?$"
# `10.0.4.17 (root/...)`, as it is passed on in chats.
_HOST_PAIR = r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{2,5})?[ \t]*\(?[ \t]*[A-Za-z][\w.-]{2,31}/([^\s/()\"'`,\x01]{6,64})(?:[)\s,]|$)"
# `kubectl get secret ... | base64 -d`, and below it what that printed.
_PRINTED = (
    r"(?im)\bsecrets?\b[^\n\x01]*\|[ \t]*base64[ \t]+(?:-d|--decode)[^\n\x01]{0,12}\r?\n([^\s\x01]{8,})[ \t]*\r?$"
)
# How texts and mails say it: `482913 is your code`, `use 482913 to sign in`.
_ONE_TIME = (
    r"(?i)\b([0-9]{4,8}|[0-9]{3}[ -][0-9]{3})[ \t]+(?:is|ist|es|est|\xe9)[ \t]+(?:your|the|ihr|dein|tu|su|votre|seu|o seu)[ \t][^\n\x01]{0,40}?(?:code|c\xf3digo|passcode|otp|tan)\b"
    r"|\b(?:use|enter|type)[ \t]+(?:code[ \t]+|the code[ \t]+)?([0-9]{5,8}|[0-9]{3}[ -][0-9]{3})[ \t]+(?:to (?:verify|sign|log|confirm|complete|finish)|as your)\b"
)
# `ID/PW: master/...`; `u: root p: ...`; `(admin/...)` on a line of its own
_BOTH = r"(?i)\b(?:id|uid|user(?:name)?|login|account|acct|benutzer)[ \t]*[/&|][ \t]*(?:pw|pwd|p/w|pass(?:word|wd|wort)?)s?\b[ \t]*(?:is|are|:|=|->|-|\()?[ \t]*[\"'`]?[A-Za-z0-9][\w.@+-]+[\"'`]?[ \t]*(?://|[/:,(])[ \t]*[\"'`]?([^\s\"'`()\x01]+)"
_BRIEFLY = r"(?i)(?:^|[\s(,;])u(?:ser|sr)?[ \t]*[:=][ \t]*[^\s,;\x01]+[ \t,;/|]+p(?:w|wd)?[ \t]*[:=][ \t]*[\"'`]?([^\s\"'`\x01]+)"
_BRACKETED = r"(?im)^[ \t>*-]*\([ \t]*(?:root|admin|administrator|user|test|demo|guest|sa|postgres|ubuntu|pi|default|operator|manager)[ \t]*/[ \t]*([^\s/()\"'`,\x01]+)[ \t]*\)[ \t]*\r?$"
_PAIRED = (_BOTH, _BRIEFLY, _BRACKETED)
_LISTED = (
    _PRINTED,
    _ONE_TIME,
    _HOST_PAIR,
    _BELOW,
    _ANSWERED,
    _SEED,
    _APP_SETTING,
    _ACCOUNT,
    _SPACED,
    _ALONE,
    _APP_QUOTED,
    _APP_PASSWORD,
    _GROUPED,
    _QUOTED_MEMORABLE,
)


def memorables(scan: Scan) -> Iterator[Span]:
    """`Falcon!5054` on a line that speaks of a password or a login."""
    data, low = scan.data, scan.low
    if pattern(_PASSWORD_WORD).has(low):
        for ((first, last),) in scan.across(_MEMORABLE, outline(_MEMORABLE)):
            if not has_digit(data[first:last]):
                continue
            found = pattern(_MEMORABLE).at(data, first)
            assert found is not None
            start, value = found.start(1), found.group(1).rstrip(b".-_")
            if start in scan.taken or not 7 <= len(value) <= 40 or not has_digit(value):
                continue
            if rx(rb"[A-Z]{2,4}#\d+").fullmatch(value):
                continue  # an issue
            if scan.recall("memorable", value, _is_memorable) and pattern(_PASSWORD_WORD).has(line_around(low, start)):
                yield Span(start, start + len(value), "password", 3)


_DOMAIN = Lazy(rb".@[\w-]+\.[a-z]")  # another address
_COMMAS = (b",", b";", b"|")
_MARKS = b"!?#$*"  # with which people end a password that has to have one
_REST = Lazy(rb"[^\s\"'`\x01]+")


def _to_its_end(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A value that is longer than was counted is taken whole, or its end would be left."""
    rest = _REST.match(data, end, end + 256) if end - start == 64 else None
    return start, rest.end() if rest else end


def mail_pairs(scan: Scan) -> Iterator[Span]:
    """`kim@acme.io / Falcon!5054`."""
    data, low = scan.data, scan.low
    if b"@" in data:
        for _, value_span in scan.spans(_MAIL_PAIR):
            if data[value_span[0] - 1 : value_span[0]] in _COMMAS:  # a row of a table: only its next field
                comma = data.find(data[value_span[0] - 1 : value_span[0]], *value_span)
                value_span = (value_span[0], comma if comma >= 0 else value_span[1])
            start, end, _ = unquote(data, *_to_its_end(data, *value_span))
            value = data[start:end]
            if start in scan.taken or _DOMAIN.search(value):
                continue
            if (
                (
                    classes(value) >= 3
                    or rx(rb"[A-Za-z]{4,}[0-9]{3,}").fullmatch(value) is not None
                    or pattern(_PASSWORD_WORD).has(line_around(low, start))
                )
                and scan.recall("strong", value, is_strong)
                and b"/" not in value
                and b"=" not in value
                and (
                    not is_wordy(value)
                    or (
                        data[start - 1 : start] == b":" and len(value) >= 10 and value.isalnum() and classes(value) >= 3
                    )
                    or value.rstrip(_MARKS)[-2:].isdigit()
                    or (classes(value) >= 3 and b":" not in value and names_a_login(low, start))
                )
            ):
                yield Span(start, end, "password", 3)


def listed(scan: Scan) -> Iterator[Span]:
    """`root / ...`, `bindpw ...`, `password` above it, and what applications and authenticators show in groups."""
    data, low = scan.data, scan.low
    lines = scan.lines_with(*_LISTED)
    if not lines:
        return
    for _, (start, end) in scan.spans(_QUOTED_MEMORABLE, lines):
        if pattern(_PASSWORD_WORD).has(line_around(low, start)):
            yield Span(start, end, "password", 3)
    for source in (_APP_PASSWORD, _APP_SETTING):
        for whole, (start, end) in scan.spans(source, lines):
            if end - whole[0] > 120:
                continue  # counted here: re2 would need a state for each
            letters = data[start:end].translate(None, b" -")
            if not is_placeholder(data[start:end]) and (is_unspoken(letters, 0.25) or not is_wordy(letters)):
                yield Span(start, end, "password", 2)
    for _, (start, end) in scan.spans(_GROUPED, lines):
        if has_digit(data[start:end]) and not is_monotone(data[start:end].replace(b" ", b"")):
            yield Span(start, end, "api-key", 2)
    for _, (start, end) in scan.spans(_SEED, lines):
        seed = data[start:end].translate(None, b"= -")
        if (
            len(seed) <= 128
            and (has_digit(seed) or not is_wordy(seed))
            and has_entropy(seed, 2.8)
            and not is_placeholder(seed)
        ):
            yield Span(start, end, "api-key", 2)
    for _, first, second in scan.spans(_ONE_TIME, lines):
        yield Span(*max(first, second), "pin", 2)
    for _, (start, end) in scan.spans(_HOST_PAIR, lines):
        value = data[start:end]
        if classes(value) >= 3 and not is_wordy(value) and scan.recall("linked", value, is_chosen):
            yield Span(start, end, "password", 3)
    if scan.has(b"sa", b"root", b"admin", b"ubuntu"):
        for _, value_span in scan.spans(_ACCOUNT, lines):
            start, end, _ = unquote(data, *_to_its_end(data, *value_span))
            value = data[start:end]
            if value.startswith((b"x:", b"*:", b"!:")):
                continue  # /etc/passwd, and what it has instead of passwords
            told = value[-2:].isdigit() and names_a_login(low, start)
            if (told or has_symbol(value) or classes(value.translate(None, b"-_.")) >= 3) and scan.recall(
                "strong" if told else "linked", value, is_strong if told else is_chosen
            ):
                yield Span(start, end, "password", 3)
    for _, (a, b), (start, end) in scan.spans(_SPACED, lines):
        kind = kind_of(data[a:b])
        if (data[end : end + 1] == b";" and data[b:start].isspace()) or is_tested(data[a:b], data[start:end]):
            continue  # a statement; a test
        if end - start < 8 and not (data[a:b].isupper() and has_digit(data[start:end])):
            continue
        # `ENV DB_PASS tiger42` and `bindpw tiger42` are settings; elsewhere words that follow each other are a sentence.
        sets = kind == "password" and (
            data[a:b].isupper()
            or _SETS.fullmatch(data[a:b].lower()) is not None
            or rx(rb"[A-Za-z]{4,}[0-9]{2,}").fullmatch(data[start:end]) is not None
        )
        if kind is not None and scan.judge(kind, data[start:end], quoted=sets, strict=not sets):
            yield Span(start, end, family_of(kind), 3)
    if b"\n" in data:
        for _, (start, end) in scan.everywhere(_PRINTED) if b"base64" in low else ():
            if _is_printed(data[start:end]):
                yield Span(start, end, "password", 3)
        for whole, value_span in scan.everywhere(_BELOW):
            start, end, _ = unquote(data, *value_span)
            value = data[start:end]
            if value_span[0] - whole[0] > 90 or not 6 <= len(value) <= 128:
                continue  # counted here: re2 would need a state for each
            if start not in scan.taken and (
                (has_digit(value) and scan.recall("linked", value, is_chosen))
                or (is_hex(value) and is_random(value, 32))
            ):
                yield Span(start, end, "password", 3)
        for whole, noun, value_span in scan.everywhere(_ANSWERED) if b"?" in data else ():
            start, end, _ = unquote(data, *value_span)
            if value_span[0] - whole[0] <= 120:
                yield from _answer(scan, low[slice(*noun)], start, end)
        for whole, value_span in scan.everywhere(_ALONE):
            start, end, _ = unquote(data, *value_span)
            value = data[start:end]
            label = data[whole[0] : start].strip(b" \t\r\n>*#-\"'`")
            is_long = b" " in label
            if len(label) > 48 or (kind_of(label) is None and label.lower() != b"key"):
                continue  # counted here, as above
            if is_long and _IS_TOLD.search(label):
                continue  # a sentence or a question, and `tests pass`
            if label.lower().endswith(_PASSWORD_LABELS):
                if _TWO_WORDS.fullmatch(value) and start not in scan.taken and _IS_DONE.search(label) is None:
                    yield Span(start, end, "password", 3)
                    continue
            elif _NUMBERED.fullmatch(value) or not (
                is_grouped(value) or is_random(max(rx(rb"[-_.:]").split(value), key=len), 12)
            ):
                continue  # a token is noise
            if is_long and (is_wordy(value) or IDENTIFIES.search(low[whole[0] : start])):
                continue
            if is_long and len(value) >= 20 and (is_hex(value) or is_uuid(value)):
                yield Span(start, end, "api-key", 3)
            elif (
                scan.recall("strong", value, is_strong)
                and (classes(value) >= 3 or is_random(value, 16))
                and not is_wordy(value)
            ):
                yield Span(start, end, "password", 3)
    for _, (start, end) in scan.spans(_APP_QUOTED, lines):
        if not is_placeholder(data[start:end]) and rx(rb"passw|login|smtp|imap|mail").search(line_around(low, start)):
            yield Span(start, end, "password", 2)


_IS_TOLD = Lazy(
    rb"(?i)\b(?:what|how|why|when|where|should|must|can|could|did|does|do|to|a|an)\b|\b(?:all|tests?|checks?|suites?|specs?|cases?|builds?|jobs?|now) pass\Z"
)
_IS_DONE = Lazy(
    rb"(?i)\b(?:forgot|forgotten|reset|change|confirm|update|repeat|show|hide|lost|recover|create|set|about)\b"
)
_TWO_WORDS = Lazy(rb"[A-Z][a-z]{2,}[-_.#!@$%&*+][A-Z][a-z]{2,}[0-9]{2,4}[!?#$*]?")  # `Falcon-Harbor24`
_PASSWORD_LABELS = (b"password", b"passwd", b"passwort", b"pass", b"pwd")
_NUMBERED = Lazy(rb"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[0-9]{1,4}")  # `Dashboard2024`


# `send me the key`, and below it `Kim: sure, ...`.
_ASKS = (b"send me", b"send the", b"give me", b"what's the", b"whats the", b"what is the", b"tell me", b"share the", b"need the", b"paste the", b"got the")  # fmt: skip
_TOLD = (
    r"(?im)\b(?:send|give|what'?s|what is|tell|share|need|paste|got)\b[^\n?\x01]*\b(password|passwd|passwort|kennwort|passphrase|pw|secret|token|key|schl\xfcssel)\b"
    r"[^\n?\x01]*\r?\n[ \t>]*(?:\[[^\]\n\x01]*\][ \t]*|[0-9:]+[ \t]+)?(?:[A-Za-z][\w .'-]*:|<[\w.-]+>)[ \t]+(?:(?:sure|yes|yep|yeah|ok|okay|klar|ja|it's|its|here|try|think)[,:!.]*[ \t]+)?([^\s\x01]+)[ \t]*\r?$"
)
# `root:...@10.0.4.17`
_AT_HOST = (
    r"(?:^|[\s\"'`(])[A-Za-z][\w.-]*:([^\s:@/\"'`\x01]+)@(?:[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|localhost)(?:[:/\s\"'`),]|$)"
)
# `Token created: ...`
_MADE = r"(?i)\b(?:token|(?:api|access|secret|auth)[ _-]?key|secret)\b[^\n:=\x01]*\b(?:created|generated|issued|minted|rotated|regenerated|renewed)\b([^\n:=\x01]*)[:=][ \t]*[\"'`]?([A-Za-z0-9_.+/=-]+)"
_PAIR_WORDS = (
    b"/pw", b"/pass", b"/ pw", b"/ pass", b"p/w", b"&pw", b"& pw", b"&pass", b"& pass", b"|pw", b" p:", b" p=", b" p :", b" pw:", b" pw=", b"pwd:", b" pwd=", b",p:", b",p=", b"/p:",
    b"(root/", b"(admin/", b"(user/", b"(test/", b"(demo/", b"(guest/", b"(sa/", b"(postgres/", b"(ubuntu/", b"(pi/", b"(default/", b"(operator/", b"(manager/", b"@localhost", b"@1",
    b"@2", b"@3", b"@4", b"@5", b"@6", b"@7", b"@8", b"@9",
)  # fmt: skip
_MADE_WORDS = (b"created", b"generated", b"issued", b"minted", b"rotated", b"renewed")
# What a command prints that asks for nothing else: `echo $DB_PASSWORD`, `pass show work/db`.
_SHOWS = (
    b"echo $", b"echo ${", b'echo "$', b"printenv ", b"cat /", b"cat ~", b"cat .", b"pass show", b"-field=", b"-field ", b"op read", b"versions access", b"keyvault secret",
    b"get-parameter", b"get-secret-value", b"auth token", b"print-access-token", b"successfully reset", b"-password -",
)  # fmt: skip
_SHOWN = (
    r"(?im)(?:[$#>%][ \t]+(?:sudo[ \t]+)?(?:(?:echo|printenv)[ \t]+[\"']?\$?\{?\w*(?:pass|passwd|password|pwd|secret|token|key|pat)\}?[\"']?|cat[ \t]+[^\s\x01]*(?:passw(?:or)?d|secret|token|creds?|passphrase)[\w.-]*"
    r"|pass[ \t]+(?:show[ \t]+[\w./@-]+|[\w./@-]+/[\w./@-]+)|vault[ \t]+(?:kv[ \t]+get|read)[ \t][^\n\x01]*-field[= ][^\n\x01]+|op[ \t]+read[ \t][^\n\x01]+|gcloud[ \t]+secrets[ \t]+versions[ \t]+access[ \t][^\n\x01]+|az[ \t]+keyvault[ \t]+secret[ \t]+show[ \t][^\n\x01]+"
    r"|aws[ \t]+(?:ssm[ \t]+get-parameter|secretsmanager[ \t]+get-secret-value)[ \t][^\n\x01]+|security[ \t]+find-[\w-]+-password[ \t][^\n\x01]+|gh[ \t]+auth[ \t]+token|gcloud[ \t]+auth[ \t][\w -]*print-access-token)[ \t]*\r?\n"
    r"|\bpassword for [^\n\x01]*\breset\b[^\n\x01]*\r?\n[^\n:\x01]*value:[ \t]*)[\"']?([^\s\"'\x01]+)[\"']?[ \t]*\r?$"
)


def shown(scan: Scan) -> Iterator[Span]:
    """What was asked for, and what a command printed: `send me the key` over `Kim: sure, ...`, `$ pass show work/db` over its answer; pairs."""
    data, low = scan.data, scan.low
    if not scan.has(*_PAIR_WORDS, *_MADE_WORDS, *_ASKS, *_SHOWS):
        return
    lines = scan.lines_with(*_PAIRED, _AT_HOST, _MADE)
    for source in (*_PAIRED, _AT_HOST) if lines else ():
        for _, (start, end) in scan.spans(source, lines):
            yield from _paired(scan, start, end)
    for whole, (a, b), (start, end) in scan.spans(_MADE, lines) if lines else ():
        value = data[start:end].rstrip(b".")
        if start - whole[0] <= 90 and not _WHICH.search(low, a, b) and has_digit(value) and is_random(value, 20):
            if not rx(rb"\d{4}-\d\d.*").fullmatch(value) and not is_path(value) and value.count(b"/") < 2:
                yield Span(start, start + len(value), "api-key", 3)
    if b"\n" not in data:
        return
    if scan.has(*_ASKS):
        for whole, noun, (start, end) in scan.everywhere(_TOLD):
            start, end, _ = unquote(data, start, end)
            if start - whole[0] <= 120:
                yield from _answer(scan, low[slice(*noun)], start, end)
    if scan.has(*_SHOWS):
        for _, (start, end) in scan.everywhere(_SHOWN):
            if start not in scan.taken and 8 <= end - start <= 256 and _is_printed(data[start:end]):
                yield Span(start, end, "password", 3)


_WHICH = Lazy(rb"\b(?:id|at|on|by|in)\b")


def _paired(scan: Scan, start: int, end: int) -> Iterator[Span]:
    value = scan.data[start:end].rstrip(b".,;)")
    if start not in scan.taken and 5 <= len(value) <= 64 and _answers(scan, value):
        yield Span(start, start + len(value), "password", 3)


def _is_printed(value: bytes) -> bool:
    return (
        has_digit(value)
        and (
            has_symbol(value)
            or classes(value.translate(None, b"-_.")) >= 3
            or is_random(max(rx(rb"[-_.]").split(value), key=len), 16)
        )
        and not is_path(value)
        and not is_placeholder(value)
    )


def _answer(scan: Scan, noun: bytes, start: int, end: int) -> Iterator[Span]:
    """The value that somebody gave who was asked for what the noun says."""
    value = scan.data[start:end]
    if start in scan.taken or not 6 <= len(value) <= 128 or not has_digit(value):
        return
    if noun.startswith((b"pa", b"pw", b"ken")):
        if _answers(scan, value):
            yield Span(start, end, "password", 3)
    elif len(value) >= 16 and b"://" not in value and is_random(max(rx(rb"[-_.]").split(value), key=len), 12):
        yield Span(start, end, "api-key", 3)


_SIMPLE = Lazy(rb"[A-Za-z]{4,}[-_.!@#$]?[0-9]{2,6}[!?]?")


def _answers(scan: Scan, value: bytes) -> bool:
    """A password, were it as simple as `silver3485`: somebody asked for it, or nothing else stands there."""
    return scan.recall("linked", value, is_chosen) or (
        _SIMPLE.fullmatch(value) is not None and scan.recall("strong", value, is_strong)
    )


def _is_memorable(value: bytes) -> bool:
    """Letters, digits and a symbol that no word, version, address or colour has inside."""
    if not has_alpha(value) or is_placeholder(value) or is_code(value) or is_reference(value):
        return False
    if is_hex(value.rstrip(b"?!")):
        return False  # a commit, at the end of a question
    if rx(
        rb"^\d[\d.]*\*|@[\w-]+\.[a-z]|@v?\d|^[\w.+-]+@[\w.-]+$|^#|\\|\+\+|^[\d.,%$+-]+[a-zA-Z%]?$|%[0-9A-F]{2}|&\w+=|\?\w+=|\*\*"
    ).search(
        value,
    ):
        return False
    return (
        rx(rb"[A-Za-z0-9][!#$%^&*?~@][A-Za-z0-9]|[A-Za-z].*\d.*[!$*&^%?]$|\d.*[A-Za-z].*[!$*&^%?]$").search(value)
        is not None
        and sum(c.isalnum() for c in map(chr, value)) >= 5
    )


_PHRASE = r"(?i)(?:seed|mnemonic|recovery|secret|backup|wallet|metamask|ledger|trezor|ganache|\bbip(?:-?39)?\b|r\xe9cup\xe9ration|recuperaci\xf3n|recupero|wiederherstellungs?)[ _-]?(?:phrase|words|mnemonic|seed)?[\"'`]?[^\n\x01]{0,40}?(?:[:=][ \t\r\n\"'`\[(]{0,6}|[ \t\r\n\"'`\[(]{1,6})((?:(?:[0-9]{1,2}[.)][ \t]*)?[a-z]{3,8}[\"']?[ \t\r\n,]{1,3}[\"']?){11,23}(?:[0-9]{1,2}[.)][ \t]*)?[a-z]{3,8})\b"
_PHRASE_WORDS = (
    b"seed",
    b"mnemonic",
    b"phrase",
    b"words",
    b"wallet",
    b"metamask",
    b"ledger",
    b"trezor",
    b"ganache",
    b"bip",
)
_OF_WALLETS = (b"wallet", b"mnemonic", b"phrase", b"metamask", b"ledger", b"trezor", b"bip")
_COMMON = frozenset(
    b"the and that this with from have will your for you are was were which their would there been than them then its our not but has had can when what".split()
)


def phrases(scan: Scan) -> Iterator[Span]:
    """Twelve to twenty-four words named as a wallet's seed or recovery phrase."""
    data = scan.data
    if not scan.has(*_PHRASE_WORDS) or not scan.lines_with(_PHRASE):
        return
    for (first, _), (start, end) in scan.everywhere(_PHRASE):
        if scan.low.startswith(b"seeds", first) and not scan.has(*_OF_WALLETS):
            continue  # of a garden
        while (lead := rx(rb"[a-z]+[ \t]").match(data, start, end)) and lead.group().strip() in _COMMON:
            start = lead.end()
        words, words_end = list[bytes](), start
        for word in rx(rb"[a-z]{3,8}").finditer(data, start, end):
            if word.group() in _COMMON:  # the sentence goes on
                end = words_end
                break
            words.append(word.group())
            words_end = word.end()
        # In the order of the alphabet they are the list that phrases are made from.
        if len(words) >= 12 and len(set(words)) >= len(words) - 3 and words != sorted(words):
            yield Span(start, end, "seed-phrase", 1)


_CODES = (
    r"(?i)(?:recovery|backup|scratch|emergency|rescue|wiederherstellungs|sicherungs|notfall|ersatz|herstel)[ _-]?codes|(?:2fa|mfa)[ _-]?backups?\b"
    r"|codes de (?:secours|r\xe9cup\xe9ration|sauvegarde)|c\xf3digos de (?:recuperaci\xf3n|respaldo|recupera\xe7\xe3o|backup)|codici di (?:recupero|backup)"
)
_CODE = (
    rb"(?:[0-9]{1,2}[.):][ \t]+)?[\"'`*]{0,2}(?=[A-Za-z-]*[0-9])"
    rb"([A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}|[0-9]{3,5}(?:[ ][0-9]{3,5}){1,3}|[A-Za-z0-9]{6,20})(?![\w-])"
)
_FIRST_CODE = Lazy(rb"[^\n\x01]{0,40}?[\s:=\[({\"'`*|>,-]{1,16}" + _CODE)
_LATER_CODE = Lazy(rb"[\s,;\"'`*|>\])-]{1,16}(?:(?:and|und|et|y|e)[ ])?" + _CODE.replace(rb"(?=[A-Za-z-]*[0-9])", b""))
_SHAPE = bytes.maketrans(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", b"x" * 62)


def codes(scan: Scan) -> Iterator[Span]:
    """Two or more codes of one shape below, or after, words for recovery codes."""
    data = scan.data
    if not scan.has(b"codes", b"digos de", b"codici", b"2fa", b"mfa"):
        return
    for ((_, at),) in scan.everywhere(_CODES, groups=False):
        found = _FIRST_CODE.match(data, at, at + 120)
        shape = found and found.group(1).translate(_SHAPE)
        places: list[tuple[int, int]] = []
        while found and len(places) < 50 and found.group(1).translate(_SHAPE) == shape:
            places.append(found.span(1))
            found = _LATER_CODE.match(data, found.end(1), found.end(1) + 64)
        values = [data[start:end] for start, end in places]
        if len(values) > 1 and not any(map(_is_no_code, values)):
            yield from (Span(start, end, "pin", 2) for start, end in places)


def _is_no_code(value: bytes) -> bool:
    """A ticket, a date, a word."""
    return (
        rx(
            rb"[A-Z]{2,6}-[0-9]{1,6}|[a-z]+[0-9]{1,2}|[A-Za-z]+|(?:19|20)[0-9]{2}(?:-[0-9-]+|[01][0-9][0-3][0-9])"
        ).fullmatch(value)
        is not None
    )
