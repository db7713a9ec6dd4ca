"""Secrets that are told without a sentence that says so: `password ...`, `... is my password`, `log in with kim / ...`; and the next one."""

from __future__ import annotations

from .engine import BARRIER, Lazy, rx
from .judge import (
    is_path,
    is_year,
    speaks_of_forms,
)
from .names import kind_of
from .noise import IDENTIFIES
from .prose import (
    NEXT_FIELD,
    WIRED,
    begins_dull,
    ends_dull,
    is_numbered,
    is_spelled,
    is_strong,
    last_run,
    tells_of_a_test,
    unquote,
    worth,
    worth_saying,
)
from .scan import Scan, Span, line_around
from .values import (
    classes,
    has_digit,
    has_symbol,
    is_choice,
    is_hex,
    is_public_id,
    is_random,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_PROSE_BARE = (
    r"(?i)\b(?:pass(?:word|phrase|code|wd)?|pwd|pw|pin(?:[ -]code)?|puk|(?:security|unlock|door|gate|alarm|safe|garage|access) code|token|secret|api[ -]?key|key|cvv|cvc|otp|code|kennwort|passwort|contrase\xf1a|mot de passe|senha)[\"'*]{0,2}(?:[ \t]+(?:of|for|[?\xb6-\xff]{1,4})(?:[ \t]+[?\xb6-\xff]{2,20})+)?[ \t]*"
    r"(?:\([^()\n\x01]{0,30}\)[ \t]*)?(?:[ \t]|[ \t]/|[ \t]\|[ \t])[ \t]*(\"[^\"\n\x01]{4,}\"|'[^'\n\x01]{4,}'|`[^`\n\x01]{4,}`|[^\s\x01\"'`]{3,})"
)
# The value has a digit or a symbol: to ask for it here spares re2 all other words.
_REVERSED = (
    r"(?i)(?:^|[\s:(\"'`*])([^\s\"'`\x01]*[0-9!@#$%^&*+=?~|][^\s\"'`\x01]*)[\"'`*]{0,2}[ \t]+(?:(?:is|was|are|as|=|ist|es|est|for|to be)[ \t]+(?:my|the|our|your|his|her|their|a|das|mein|mi|la|mon|le|el)?[ \t]*(?:\w+[ \t]+){0,3}?|\((?:that's |this is )?(?:my|the|our)?[ \t]*(?:\w+[ \t]+){0,2}?)"
    r"(?:pass(?:word|phrase|code|wd|wort)?|pwd|pw|pin|api[ -]?key|token|secret|credentials?|key|kennwort|contrase\xf1a|mot de passe|senha)\b"
)
_PAIR = (
    r"(?i)\b(?:log(?:ging|ged)?[ -]?(?:in|on)|sign(?:ing|ed)?[ -]?(?:in|on)|creds?|credentials?|logins?|accounts?|auth|user(?:name)?s?[ \t]*[/&+][ \t]*pass(?:word)?s?|authenticate|connect(?:ing)?|ssh|access|wi-?fi|wlan|ssid|vpn|zugangsdaten|anmeldedaten|identifiants|credenciales|user(?:name)?|email|e-mail)\b"
    r"(?:[^\n:\x01]{0,40}?(?:with|as|using|are|is|mit|con|avec|[:=]))?[ \t:=\"'`*(]{1,4}"
    r"([A-Za-z0-9_.+@-]{2,64})[\"'`*]{0,2}(?:[ \t]*(?:/|:|\||,)[ \t]*|[ \t]+(?:and|with|und|y|et|pw|pass|password|/|--?)[ \t:]+(?:the[ \t]+)?(?:(?:pass(?:word)?|pw|pwd)[ \t:=]+)?)[\"'`*]{0,2}"
    r"([^\s\"'`\x01]{5,})"
)


_ONE_TIME = r"2fa|otp|verif|auth|login|sms|one-time|security|backup|recovery"
_SAID_BEFORE = (b"password ", b"passwd ", b"pwd ", b"pw ", b"password\t")


def nouns(scan: Scan) -> Iterator[Span]:
    """`password ...` and `pin ...`, with nothing between the two."""
    data, taken = scan.data, scan.taken

    def is_dull(data: bytes, start: int, end: int) -> bool:
        if ends_dull(data, start, end):
            return True
        if not scan.low.startswith(b"code", start):
            return False
        first, last, _ = unquote(data, end - len(last_run(data, start, end)), end)
        return last - first != 6 or not data[first:last].isdigit() or not scan.is_near(_ONE_TIME, first)

    for at, value in worth_saying(_PROSE_BARE, scan, is_dull):
        start, end, quoted = unquote(data, *value)
        word = data[start:end]
        if start in taken or word.lstrip(b"\"'`")[:1] == b"-":  # pass `--flag`
            continue
        noun = scan.low[at : min(at + 9, value[1])]
        if word[-1:] == b"#" and noun.startswith(
            (b"door", b"gate", b"alarm", b"garage", b"access", b"safe", b"unlock")
        ):
            word, end = word[:-1], end - 1  # the last key that is pressed
        if (
            (not has_digit(word) and not has_symbol(word))
            or rx(rb"[\w.-]+=\S*").fullmatch(word) is not None
            or (noun.startswith(b"pass ") and quoted)
            or (
                noun.startswith(b"key") and rx(rb"[a-z_-]+:.*|(?:[\w.]+-)+[0-9a-f]{16,64}").fullmatch(word) is not None
            )  # in a cache
            or data[at - 1 : at] == b":"
            or (noun.startswith(b"pass ") and _PASSES.search(scan.low, max(0, at - 12), at))
            or (noun.startswith(b"token") and _is_no_token(data, at))
        ):
            continue
        if noun.startswith(
            (
                b"pin",
                b"puk",
                b"cvv",
                b"cvc",
                b"otp",
                b"code",
                b"security",
                b"unlock",
                b"door",
                b"gate",
                b"alarm",
                b"safe",
                b"garage",
                b"access",
            )
        ):
            if (
                rx(rb"\d{4,8}|\d{3}").fullmatch(word)
                and not is_year(word)
                and (not noun.startswith(b"code") or (len(word) == 6 and scan.is_near(_ONE_TIME, start)))
            ):
                if (len(word) != 3 or noun.startswith((b"cvv", b"cvc", b"security"))) and not (
                    noun.startswith(b"pin") and scan.is_near(WIRED, start)
                ):
                    yield Span(start, end, "pin", 3)
        elif (
            (
                noun.startswith(_SAID_BEFORE)
                and rx(rb"[A-Za-z]{4,}[0-9]{2,6}|[A-Za-z]{3,}[-_!.]?[A-Za-z]{2,}[0-9]{2,6}[a-z]{0,4}").fullmatch(word)
                is not None
                and (quoted or data[end : end + 1] in (b"", b"\n", b"\r") or _ANOTHER.match(data, end, end + 60))
                and scan.recall("strong", word, is_strong)
            )
            or (
                noun.startswith((*_SAID_BEFORE, b"kennwort", b"passwort"))
                and data[end : end + 1] in (b"", b"\n", b"\r")
                and len(word) >= 8
                and scan.recall("numbered", word, is_numbered)
            )
            or (
                noun.startswith((*_SAID_BEFORE, b"kennwort", b"passwort"))
                and rx(rb"(?:[A-Za-z][a-z]{3,}-){2,6}(?:[a-z]{4,}-)?[0-9]{2,4}").fullmatch(word) is not None
                and not speaks_of_forms(word)
            )
        ):
            yield Span(start, end, "password", 3)  # the last word of its line: a setting
        elif (
            len(word) >= 7
            and scan.recall("strong", word, is_strong)
            and (
                scan.recall("bare password", word, _is_bare_password)
                if noun.startswith((b"pass", b"pw", b"kenn", b"contr", b"mot", b"senh"))
                else scan.recall("bare key", word, _is_bare_key)
            )
        ):
            if not (not quoted and (is_hex(word) or is_uuid(word)) and noun.startswith((b"key", b"secret", b"code"))):
                yield Span(
                    start,
                    end,
                    "password"
                    if noun.startswith((b"p", b"k", b"c", b"m", b"se")) and not noun.startswith(b"secret")
                    else "api-key",
                    3,
                )


_PASSES = Lazy(  # the verb, and `one-pass`
    rb"\b(?:(?:we|you|they|i|to|can|must|should|will|could|and|then|not|don't|also|just|please)[ \t]+|(?:one|two|single|multi|first|second|by)-)\Z"
)
_FIRST_WORD = Lazy(rb"[\w-]*-\Z")
# `wifi password Sunny77x, router Moon88y`: and another that is written so
_ANOTHER = Lazy(
    rb"(?:,|[ ]and)[ ](?:the[ ]|my[ ])?[a-z]{2,12}[ ](?:[a-z]{2,12}[ ])?[A-Za-z]{4,}[0-9]{2,6}[a-z]{0,4}[.!]?(?:\s|\Z)"
)


def _is_no_token(data: bytes, at: int) -> bool:
    """`--lock-token ...`: what one writer must show who changes something."""
    before = _FIRST_WORD.search(data, max(0, at - 24), at)
    return before is not None and kind_of(before.group().strip(b"-") + b"-token") is None


def _is_bare_password(word: bytes) -> bool:
    return (has_symbol(word) or not is_wordy(word)) and is_choice(word, quoted=False)


def _is_bare_key(word: bytes) -> bool:
    return (has_symbol(word) or not is_wordy(word)) and is_random(word, 16) and not is_public_id(word)


# `the STRIPE_API_KEY for staging is ...`: the name of a variable in a sentence.
_SAID = (
    r"\b([A-Za-z][A-Za-z0-9]*_(?:[A-Za-z0-9]+_)*(?i:key|token|secret|password|passwd|pass|pwd|pat|passphrase))[\"'`*]{0,2}[ \t]+(?:[^\n:=\x01]{0,60}?[ \t(]|\()?"
    r"(?i:is|currently|ist|was|are|es|est|lautet|to|as|auf|with|\xe9|\xe8|value)(?i:[ \t]+(?:now|currently|still|still the old|set to))?[ \t]*:?[ \t]+[\"'`*]{0,2}([^\s\"'`\x01]*[0-9][^\s\"'`\x01]*)"
)


def said(scan: Scan) -> Iterator[Span]:
    """The value of a variable that a sentence names."""
    data = scan.data
    for found in scan.find(_SAID, scan.lines_with(_REVERSED, _PAIR, _SAID)):
        start, end, _ = unquote(data, *found.span(2))
        word = data[start:end]
        kind = kind_of(found.group(1))
        if start in scan.taken or kind is None or len(word) < 8 or not has_digit(word):
            continue
        if is_path(word) or (kind == "password" and not scan.recall("strong", word, is_strong)):
            continue
        if scan.judge(kind, word, quoted=False, strict=False):
            yield Span(start, end, "password" if kind == "password" else "api-key", 3)


_AROUND = (b'"', b"'", b"`")


_OF_IT = Lazy(rb"(?i) \((?:the|my|our)[^()\n]*(?:token|key|secret|password)\)")
_COMMIT = Lazy(
    rb"(?i)\b(?:revert|commit|pick|merg|rebas|bisect|checkout|checked out|backport|fixup|squash|amend|land)[a-z]*[ \t]+[\"'`*]{0,2}\Z"
)
_MADE_UP = Lazy(rb"[A-Za-z]{4,}[-_]?[0-9]{2,6}[A-Za-z]{0,6}")
NO_NOUN = Lazy(rb"[.!,;?)]|\s*$|[ ](?:everywhere|anywhere|for|on|at|in|and|but|too|now|again|there|here|since|i)\b")
_IS_IT = Lazy(rb"(?i)[\"'`]? is (?:the|my|our) (?:\w+ )?pass(?:word|wd|phrase)(?: (?:for|to|of|on)\b|[.!,;]|\s*$)")
_TRIES = Lazy(rb"(?i)\b(?:try|use|used|using|with|enter|type)[ \t]+[\"'`*]{0,2}\Z")


def pairs(scan: Scan) -> Iterator[Span]:
    """`... is my password`, `log in with kim / ...`."""
    data, taken = scan.data, scan.taken
    lines = scan.lines_with(_REVERSED, _PAIR, _SAID)
    for found in worth(_REVERSED, scan, begins_dull, lines):
        start, end, _ = unquote(data, *found.span(1))
        word = data[start:end]
        if start in taken:
            continue
        if (
            len(word) >= 6
            and scan.recall("strong", word, is_strong)
            and (
                (
                    (classes(word) >= 3 or is_random(word, 12))
                    and (has_symbol(word) or not is_wordy(word))
                    # `picked from 1a2b3c (token cleanup)`
                    and not (is_hex(word) and data[end : end + 2] == b" (" and not _OF_IT.match(data, end, end + 60))
                    and not (is_hex(word) and _COMMIT.search(data, max(0, start - 24), start))
                    and rx(rb"[#@$][A-Za-z_]+").fullmatch(word) is None  # `#normKey (key)`
                )
                or (
                    data[start - 1 : start] in _AROUND
                    and data[end : end + 1] == data[start - 1 : start]
                    and has_digit(word)
                    and rx(rb"(?i)pass(?:word|wort|wd|phrase)?$|pwd?$").search(data, found.start(), found.end())
                )
                # `is monkey385 still the right password?`
                or (
                    rx(rb"[A-Za-z]{4,}[-_]?[0-9]{2,6}").fullmatch(word) is not None
                    and rx(
                        rb"(?i)is (?:still |now )?(?:the|my|our) (?:right|correct|current|new|old|actual|real) pass(?:word|wd|phrase)\Z"
                    ).search(data, end, found.end())
                )
                # `falcon482 is the password for the vault`
                or (_MADE_UP.fullmatch(word) is not None and _IS_IT.match(data, end, end + 60) is not None)
                # `try Falcon-Harbor24 as the password`
                or (
                    has_digit(word)
                    and (
                        (classes(word) >= 3 and data[end : end + 4] != b" for")
                        or (_MADE_UP.fullmatch(word) and NO_NOUN.match(data, found.end()))
                    )
                    and _TRIES.search(data, max(0, found.start() - 8), start)
                    and rx(rb"(?i) (?:as|for) [^\n]*(?:pass(?:word|wort|wd|phrase)|pwd?)$").search(
                        data, end, found.end()
                    )
                )
            )
        ):
            yield Span(start, end, "password", 3)
    for found in worth(_PAIR, scan, ends_dull, lines):
        start, end, _ = unquote(data, *found.span(2))
        word = data[start:end]
        if start in taken or word[:1] in (b"%", b"|") or rx(rb"(?i)sha-?\d+|md5").fullmatch(found.group(1)):
            continue
        if data[end : end + 2] == b'":':
            continue  # `"Sign in with passkey", "step2": "Back"`: the next key
        if (
            is_choice(word, quoted=False)
            and scan.recall("strong", word, is_strong)
            and (
                has_symbol(word)
                or not is_wordy(word)
                # `log in with kim / falcon7`
                or (
                    rx(
                        rb"[A-Za-z]{5,}\d{1,4}|[A-Za-z]{4,}\d{2,4}[A-Za-z]+|[A-Z][a-z]{2,}[-_.][A-Z][a-z]{2,}\d{2,4}"
                    ).fullmatch(word)
                    is not None
                    and data[found.end(1) : start].strip(b" \t\"'`*") == b"/"
                    and names_a_login(scan.low, start)
                )
            )
            and not is_uuid(word)
            and not rx(rb"[/:=(]").search(word)
        ):
            if (
                classes(word) >= 3
                or has_symbol(word)
                or (
                    has_digit(word)
                    and rx(rb"(?i)cred|pass|login|log ?in|sign|zugang|anmelde|identif|wi-?fi|wlan|ssid").search(
                        found.group()[: found.start(2) - found.start()],
                    )
                )
            ):
                yield Span(start, end, "password", 3)


_LINKED = (
    r"(?i)\b(?:pass(?:word|wd|phrase|code|wort|key)?|pwd|pw|secret|token|api[ -]?key|credentials?|creds|kennwort|contrase\xf1a|mot de passe|senha|wachtwoord|heslo|l\xf6senord(?:et)?|passwd)\b"
    r"(?:[ \t]+(?:to|auf|as|a|\xe0)[ \t]+[\"'`*]{0,2}([^\s\"'`()\x01]*[0-9][^\s\"'`()\x01]*)"  # I set the password to ... on all of them
    r"|[^\n\x01]{0,60}?(?:\b(?:(?:re)?set(?: back)? to|(?:has been|was|is|got)(?: now)? (?:re)?(?:set|changed) to|(?:it's|its|it is)(?: still| now)?|is|was|use|used|using|try|tried|typed|entered|from|set to|changed to|now|be|called|has been|sent me|will be|would be|instead|then)\b|[(:?]|->|=>|[?\xb6-\xff]{2,20})"
    r"[ \t]*(?:[\"'`(*]{0,2})([^\s\"'`()\x01]{6,64}))"
)


_MORE = Lazy(rb"[^\s\"'`()\x01]+(?<![.,;:?>*\]\\}])")
_ONE_IS = Lazy(rb"(?i)\b(?:one|it)(?: is|'s)(?: now)?:?[ \t]+[\"'`*]{1,2}\Z")  # `rotated the secret, the new one is`
_SET_TO = Lazy(rb"(?i)(?:set|set back|changed?) (?:to|from)[ \t\"'`(*]+\Z")
_CHANGED = Lazy(
    rb"\b(?:chang|re-?set|set\b|switch|updat|rotat|ge\xe4ndert|gesetzt|\xe4nder|cambi|chang|mudei|alter|modifi|mis\b)"
)
_FROM, _TO = (
    Lazy(rb"(?i)from[ \t\"'`(*]+\Z"),
    Lazy(rb"[\"'`*]{0,2}[ \t]+(?:to|->|=>)[ \t]+[\"'`*]{0,2}([^\s\"'`*()\x01]{6,64})"),
)


_PAGE = Lazy(rb"\b(?:page|next|continuation|cursor|resume)[ _-]+\Z")  # `Next page token:`
_IN_A_CALL = Lazy(rb"\w\.\w+\([\"']?\Z")  # `creds.with_project("new-456")`, `password.translate(_36)`


def _links_nothing(data: bytes, start: int, end: int) -> bool:
    return not has_digit(data[max(start, end - 64) : end]) or tells_of_a_test(data, start, end)


def linked(scan: Scan) -> Iterator[Span]:
    """`password? It's ...`, `the passphrase, use ...`, `the temporary password you sent me (...)`: a noun, a few words, a link, a value."""
    data = scan.data
    for found in worth(_LINKED, scan, _links_nothing):
        whole, group = found.span(), 1 if found.start(1) >= 0 else 2
        start, end, _ = unquote(data, *found.span(group))
        word = data[start:end]
        if (
            start in scan.taken
            or len(word) < 6
            or not has_digit(word)
            or word[:1] in NEXT_FIELD
            or data[end : end + 3] == b"..."  # `sk-ant-api03-...`
            or scan.is_sealed(word)
            or (scan.low.startswith(b"pass ", whole[0]) and _PASSES.search(scan.low, max(0, whole[0] - 12), whole[0]))
        ):
            continue
        if _PAGE.search(scan.low, max(0, whole[0] - 16), whole[0]) or _IN_A_CALL.search(data, whole[0], start):
            continue
        # What it was set to is the password, however simple.
        is_set = _SET_TO.search(data, max(whole[0], start - 16), start) is not None or (
            _FROM.search(data, max(whole[0], start - 8), start) is not None
            and b"chang" in scan.low[max(0, whole[0] - 20) : start].rpartition(BARRIER)[2]
        )
        if (
            group == 1
            and len(word) >= 20
            and (is_hex(word) or is_uuid(word))
            and data[whole[0] : whole[0] + 6].lower().startswith((b"secret", b"token", b"api"))
            and _CHANGED.search(line_around(scan.low, start))
        ):
            yield Span(start, end, "api-key", 3)
            continue
        if is_hex(word) and len(word) in (32, 40, 64) and _ONE_IS.search(data, max(whole[0], start - 24), start):
            yield Span(start, end, "api-key", 3)
            continue
        if not scan.recall("strong", word, is_strong) if is_set else not scan.recall("linked", word, is_chosen):
            continue
        if whole[1] - start == 64 and (rest := _MORE.match(data, whole[1], whole[1] + 256)):
            end = rest.end()  # it is longer than is counted above
        if end - start > 256:
            continue  # than any password
        if rx(rb"\barn:[\w:/-]*$|\bENC\[[^\]\n\x01]*$").search(data, max(0, start - 120), start):
            continue  # where a secret is kept, or its cipher
        noun = data[whole[0] : whole[0] + 6].lower()
        if noun.startswith((b"secret", b"token", b"api")) and is_public_id(word):
            continue
        if noun.startswith((b"secret", b"token", b"api")) and not (
            has_symbol(word) or (is_random(word, 16) and not (len(word) < 24 and is_spelled(word)))
        ):
            continue
        if IDENTIFIES.search(data[max(whole[0], start - 24) : start].lower()) is None:
            yield Span(start, end, "password", 3)
            if _FROM.search(data, max(whole[0], start - 8), start) and (to := _TO.match(data, end, end + 90)):
                if has_digit(to.group(1)) and scan.recall("strong", to.group(1), is_strong):
                    yield Span(to.start(1), to.end(1), "password", 3)


def is_chosen(word: bytes) -> bool:
    """Letters and digits as in a password, not as in a version, a standard, a ticket or a size."""
    if not is_strong(word) or is_hex(word) or is_uuid(word):
        return False
    if rx(
        rb"[A-Z]{2,6}-?\d{1,6}|[a-z]{2,6}-?\d{1,6}|[A-Z][a-z]+-?\d{1,2}|(?:bg:)?#[0-9a-fA-F]{3,8}|[a-z]+(?:[-_][a-z]+)*[-_]?\d{1,2}|.*[/=<>{}\[\]()|\\;`].*|\w+:\d+|\d+[a-z]+|[A-Z_]+\d*"
    ).fullmatch(word):
        return rx(rb"[A-Z][a-z]+[A-Za-z]*\d{2,4}").fullmatch(word) is not None and len(word) >= 9
    return classes(word) >= 3 or (len(word) >= 10 and not is_wordy(word))


def names_a_login(low: bytes, at: int) -> bool:
    """Whether the line is one of access: there even a value that reads like words is a password."""
    return (
        rx(rb"zugang|anmelde|log ?in|cred|passw|identif|\bwi-?fi|\bwlan|\bssid").search(line_around(low, at))
        is not None
    )


# --- and the next one ------------------------------------------------------------------------------------------------------

_AND = rb"[`*]{0,3}(?:[,;.][ \t]+|[ \t]+[/&][ \t]+|[ \t]+\(|[ \t]+(?=(?:and|or|und|oder|but|aber|y|o|et|ou|e)\b))"
_FILL = rb"(?:(?:and|or|und|oder|but|y|o|et|ou|e|maybe|perhaps|also|then|now|not|either|before|previously|formerly|old|new|alt|neu)\b[:,]?[ \t]+){0,3}"
_NEXT = Lazy(rb"(?i)" + _AND + _FILL + rb"[\"'`*]{0,2}([^\s\"'`\x01]{4,64})")
_CLAUSE = Lazy(
    rb"(?i)"
    + _AND
    + rb"[^\n\x01]{1,60}?(?:\b(?:is|its|was|try|use|ist|war)|'s|:)[ \t]+[\"'`*]{0,2}([^\s\"'`\x01]{4,64})"
)
# `and the one for the router is ...`: it is said to be another, however it is written.
_ONE_MORE = Lazy(
    rb"(?i)"
    + _AND
    + rb"[^\n\x01]{1,40}?(?:\bone(?: for [^\n\x01]{1,24}?)?(?: is| was|'s)|\bfor [\w -]{2,20} =)[ \t]+[\"'`*]{0,2}([^\s\"'`\x01]{4,64})"
)
# `router Moon88y` behind a comma; `A (gmail), B (facebook)`, `A for gmail, B for facebook`
_BRIEFLY = Lazy(
    rb"(?i)(?:,|[ \t]and)[ \t](?:the[ \t]|my[ \t])?[a-z]{2,12}[ \t](?:[a-z]{2,12}[ \t])?([^\s\"'`\x01]{4,64})[.!]?(?=\s|\Z)"
)
_LABELLED = Lazy(
    rb"(?i)[ \t](?:\([^()\n\x01]{1,24}\)|for[ \t][\w \t]{2,20}?)(?:[,;]|[,;]?[ \t]and)[ \t]([^\s\"'`\x01]{4,64})(?=[ \t](?:\(|for[ \t]))"
)
_BELOW = Lazy(rb"[\"'`]?[ \t]*\r?\n[ \t]*[\"'`]?([^\s\"'`\x01]{6,64})[\"'`]?[ \t]*(?=\r?\n|\Z)")


_SAID_SO = (_ONE_MORE, _LABELLED)
_CHOSEN = frozenset(("password", "passphrase", "pin"))
_GOES_ON = frozenset((b"`", b"*", b",", b";", b".", b" ", b"\t"))
_GOES_ON_BELOW = _GOES_ON | {b"\r", b"\n"}


def others(data: bytes, first: Span, seen: set[object]) -> Iterator[Span]:
    """`my passwords are ... and ...`, `..., at work it is ...`: what is said beside a password or a PIN and is written like it. Where a
    row goes on as one that was `seen`, it is not followed again: each of hundreds may be the first of one."""
    start, end, family, _ = first
    is_line = data[start - 1 : start] == b"\n"
    if family not in _CHOSEN or data[end : end + 1] not in (_GOES_ON_BELOW if is_line else _GOES_ON):
        return  # what is in quotes is data, and beside it stand other fields
    written, size = _written(data[start:end]), end - start
    ways = (_NEXT, _LABELLED, _ONE_MORE, _CLAUSE, _BRIEFLY, *((_BELOW,) if is_line else ()))
    while end:
        here = (end, family, written, size if family == "pin" else 0, len(ways))
        if here in seen:
            return
        seen.add(here)
        last, end = end, 0
        for way in ways:
            found = way.match(data, last, last + 160)
            if found is None:
                continue
            at, to, _ = unquote(data, *found.span(1))
            word = data[at:to]
            if (_written(word) == written or (way in _SAID_SO and has_digit(word))) and (
                len(word) == size and not is_year(word) if family == "pin" else len(word) >= 6 and is_strong(word)
            ):
                yield Span(at, to, family, 3)
                end = to
                break


def _written(word: bytes) -> tuple[bool, bool, bool, bool]:
    """Of which kinds of characters it is made."""
    return has_digit(word), word.lower() != word, word.upper() != word, has_symbol(word)
