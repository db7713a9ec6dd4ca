"""Secrets that a sentence says: `my password is ...`."""

from __future__ import annotations

from functools import lru_cache

from .engine import Lazy, Match, has_counts, loose, pattern, rx
from .judge import (
    PREDICATES,
    is_design_token,
    is_label,
    is_path,
    is_phrase_of_words,
    is_predicate,
    is_tested,
    is_ticket,
    is_year,
)
from .names import is_password_word, kind_of, takes_back
from .scan import Scan, Span, line_around
from .values import (
    has_alpha,
    has_digit,
    has_symbol,
    is_choice,
    is_code,
    is_file_name,
    is_grouped,
    is_hex,
    is_literal,
    is_monotone,
    is_no_secret,
    is_noise,
    is_placeholder,
    is_public_id,
    is_reference,
    is_scrambled,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .names import Kind

_SECRET_NOUN = (
    r"pass(?:word|wd|phrase|code|wort|ord|key)?s?|pwd|pw|p/w|pin(?:[ -]?(?:code|number)s?)?|(?-i:PINs)|kennwort|contrase(?:\xf1|n)a|clave|mot de passe|mdp|senha|palavras?[ -]passe|wachtwoord|l(?:\xf6|o)senord(?:et)?|"
    r"parola d'ordine|parola|heslo|salasana|passw|passordet|adgangskoden?|jelsz\xf3|kata sandi|geslo|lozinka|zaporka|pasahitza|contrasenya|kodeord(?:et)?|(?:[a-z]{2,20}[ -]?)?schl\xfcssel|cl\xe9(?: (?:d'|secr\xe8te )?api| d'acc\xe8s| secr\xe8te| priv\xe9e)|(?:clave|chave|chiave|llave)(?:(?: de| da| de la| dell')? ?api| de acc?es[os]+| secreta| segreta| privada)|jeton(?: d'[a-z\xe0-\xff]{2,20})?|geheimnis|api[ -]sleutel|api[ -]nyckeln?|klucz api|zug(?:riffs|angs)-?token|(?:wlan|wifi|wi-fi|netzwerk|network|router)[ -]?(?:schl\xfcssel|key|passwort|password|passwd|code|pw)|api[ -]?keys?|(?:the|my|this|your|our|this is the) key|[a-z]{2,20}[ -](?:token|key)s?|token|secret(?:[ -]key)?s?|credentials?|creds|cred|"
    r"(?:2fa|mfa|otp|recovery|backup|verification|security|access|login|one-time|time|door|gate|alarm|unlock|auth(?:entication)?|confirmation|sms|entry|lock|lockbox|key ?box|safe)[ -]codes?|(?:safe|lock|locker|padlock|vault|combination)(?: lock)?[ -]combo(?:ination)?|(?:safe|lock|locker|padlock|vault)[ -]combination|(?:codes?|combination|combo) (?:for|to|of) (?:the|my|our) (?:front |back |house |garden )?(?:safe|door|gate|alarm|lock|locker|padlock|garage|vault|house|building)|lock ?box|cvv2?|cvc|otp|puk(?:[ -]?code)?|(?-i:(?:m|i|sms|push|photo|chip)?TAN)|(?:best\xe4tigungs|verifizierungs|sicherheits|freischalt|zugangs|aktivierungs|einmal|verificatie|bevestigings|engangs)-?codes?|c\xf3digo (?:de )?(?:verifica|segur|acceso|confirma)[a-z\xe0-\xff]+|code de (?:v\xe9rification|s\xe9curit\xe9|confirmation|validation)|codice (?:di )?(?:verifica|sicurezza|conferma|otp)|kod weryfikacyjny|"
    r"(?:seed|recovery|mnemonic|secret) (?:phrase|words)|mnemonic|logins?"
)
# What "is" leads to is mostly the value itself, so that no digit or symbol stands between it and a second "is": "my password is
# hunter2 and my name is Alex" was kept, as a password called Alex.
_PROSE = (
    rf"(?i)\b({_SECRET_NOUN})\b[\"'`*]{{0,2}}"
    r"([ \t]+(?:(?:\(?(?:for|of|to|on|in|at|from|im|am|beim|bei|meine[rs]?|uns(?:erer|eres)|van|dell[aeo]|dans|chez|au|sur|en|nel|pour|para|f\xfcr|fuer|vom|von|zum|del?|do|da|di|du|voor|that|which|we|you|i|here|below|above|today|again|now|right|number|value|string|you're|there|token|key|code|first|currently|still|looking|temporarily|again|i want|k|ke|na|pro|do|til|f\xf6r|nya|nova|nuova|nueva|nouveau|neue[sr]?|between|provided|supplied|given)\b|\?{1,20}|\xea[ ]|[\xb6-\xff]{2,20})[^\n:=\x01]{0,60}?|(?-i:[A-Z])[a-z0-9.]{1,20}(?:[ \t]+[a-z]{2,10}){0,2}|\([^()\n\x01]{1,24}\)|(?:is|ist|was)\b[^\n:=\x01\d!#$%&*]{0,60}?))?"
    r"(?:[ \t]+(?:(?:is|was|are|c'est|ist|lautet|war|es|est|era|je|jest|hai|er|\xe4r|este|adalah|to|as|be|(?:should|must|shall|will|would|has to|needs to)[ \t]be|now|on|becomes|changed to|set to|reads|would be|equals|aka|used to be)\b|\xe9|\xe8|l\xe0|=|-{1,6})|[ \t]*(?:[:=]|->|=>|-[ \t])|'s[ \t])"
    r"((?:[ \t]+(?:now|jetzt|maintenant|ahora|agora|adesso|nun|currently|still|set to|temporarily|going to be|literally|just|this|simply|always|gonna be|actually|the following|called|currently set to|:|=))*)[ \t]*:?[ \t]*(?:\r?\n[ \t]*){0,3}"
    r"(\"[^\"\n\x01]{3,}\"|'[^'\n\x01]{3,}'|`[^`\n\x01]{3,}`|\*\*[^*\n\x01]{3,}\*\*|[^\s\x01]{3,})"
)
_NEXT_CODE = Lazy(rb"[\s,;]{1,4}(?:and[ ]|[-*\d.]{1,3}[ ])?([A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}|\d{5,8})\b")
_CALL = Lazy(rb"[A-Za-z_$][\w$.]*+[(\[]")
_PASSWORD_NOUNS = tuple(
    b"""pass pwd pw p/w kennwort contrase mot mdp senha palavra clave wacht l\xf6s los parola heslo sala cred login adgang geslo lozink zapork pasahitz kodeord
    kata jelsz""".split()
)


_FOREIGN_KEYS = (
    b"cl\xe9",
    b"chave",
    b"chiave",
    b"llave",
    b"jeton",
    b"klucz",
    b"api-s",
    b"api s",
    b"api-n",
    b"api n",
    b"zug",
)
_WIRELESS = (b"wifi", b"wi-fi", b"wlan", b"network", b"netzwerk")


_PIN_NOUNS = (b"pin", b"puk", b"cvv", b"cvc", b"otp", b"lock", b"c\xf3digo", b"codice", b"kod ", b"tan", b"mtan")
_FIRST_OF_PINS = frozenset(noun[:2] for noun in _PIN_NOUNS)  # to look for these takes a tenth of the time
_FIRST_OF_PASSWORDS = frozenset(noun[:2] for noun in _PASSWORD_NOUNS)


@lru_cache(maxsize=512)
def _noun_kind(low: bytes) -> Kind:
    first = low[:2]
    if first in _FIRST_OF_PINS and low.startswith(_PIN_NOUNS):
        return "pin"
    if (
        low.startswith((b"itan", b"smstan", b"pushtan", b"phototan", b"chiptan"))
        or b"combo" in low
        or b"combination" in low
    ):
        return "pin"
    if b"code" in low and b"passcode" not in low:
        return "pin"
    if b"phrase" in low or b"mnemonic" in low or b"words" in low:
        return "phrase"
    if low.startswith(_WIRELESS):
        return "password"
    return "password" if first in _FIRST_OF_PASSWORDS and low.startswith(_PASSWORD_NOUNS) else "secret"


def unquote(data: bytes, start: int, end: int) -> tuple[int, int, bool]:
    word = data[start:end]
    if word.isalnum():
        return start, end, False
    if word[:2] == b"**" and len(word) > 4:
        return start + 2, end - 2, True
    if len(word) > 2 and word[0] in b"\"'`" and word[-1] == word[0]:
        return start + 1, end - 1, True
    if b"\\" in word:  # in a string of JSON
        if word.startswith(b'\\"') and (close := data.find(b'\\"', start + 2, end)) > start + 2:
            return start + 2, close, True
        line = data.find(b"\\n", start, end)
        end = line if line > start + 2 and has_alpha(data[line + 2 : end]) else end
        word = data[start:end]
    if b'"' in word and (closed := _CLOSED.search(word, 1)):
        word = word[: closed.start()]  # `"... is required","next": "..."`
        end = start + len(word)
    word = word.lstrip(_OPENING)
    start = end - len(word)
    return start, start + len(word.rstrip(_CLOSING)), False


_CLOSED = Lazy(rb"\\?\"[,:}\]]")


def is_strong(value: bytes) -> bool:
    """Could not be a word of a sentence: letters with digits or symbols, not a version, date, size, path, link or ordinal."""
    return is_telling(value) and not _is_filler(value)


def is_telling(value: bytes) -> bool:
    """As `is_strong`, of what is known to stand for nothing else."""
    if (
        len(value) < 5
        or value.isalpha()
        or not has_alpha(value)
        or is_path(value)
        or is_code(value)
        or b"://" in value
        or b"`" in value  # :class:`oauth2.Credentials`
    ):
        return False
    if has_digit(value):
        return not (_may_be_measured(value) and _MEASURED.fullmatch(value)) and not is_wordy_token(value)
    return (
        len(value.translate(None, _BRACKETS)) == len(value)
        and len(value[:-1].translate(None, _SIGNS)) < len(value) - 1
        and rx(rb"&[a-z]{2,6};").search(value) is None  # what a page writes for a sign
        and _MEASURED.fullmatch(value) is None
        and not is_wordy_token(value)
    )


def _may_be_measured(value: bytes) -> bool:
    return value[0] in b"0123456789vV" or not value.isalnum()


_BRACKETS, _SIGNS = b"<>{}()[]|=", b"!@#$%^&*+=?~"
_MEASURED = Lazy(
    rb"(?i)[\w.+-]+@[\w-]+\.[\w.]+|v?\d+(?:\.\d+)+\S*|\d+(?:st|nd|rd|th|px|ms|kb|mb|gb|am|pm|x|s|h|d|k|m|bit|-bit|chars?)|[a-z]+-\d{1,2}|\d+-[a-z]+(?:-[a-z]+)?|\d{4}-\d\d.*|\d[\d,.:/-]*"
)


def is_numbered(value: bytes) -> bool:
    """`Sparrow-12`, right after the word for it; elsewhere it would be a step, a ticket or a standard."""
    return rx(rb"[A-Z]?[a-z]{4,}-\d{1,4}").fullmatch(value) is not None and not is_wordy_token(value)


def is_wordy_token(value: bytes) -> bool:
    """Ordinary things with digits in them: `oauth2`, `sha256`, `utf-8`, `s3`, `v2`, `step-1`, `don't`, `user's`, `client-side`."""
    return rx(rb"(?i)oauth2?(?:\.0)?|(?:sha-?\d+|md5|b2)(?:sum)?|utf-?\d+(?:mb\d)?|s3|ec2|k8s|v\d+|base\d+|rs\d{3}|hs\d{3}|es\d{3}|ed25519|aes-?\d+(?:-\w+)?|http/?\d?|ipv[46]|x509|rfc\d+|[a-z]+'[a-z]{1,2}|2fa|"
        rb"(?:[a-z]+[-/&_.])+[a-z]+\d?|[a-z]*ed25519|argon2(?:id)?|bip-?\d+|p256|secp256k1|web3|log4j|python3(?:\.\d+)?|i18n|a11y|[a-z]{1,3}\d{1,2}|[a-z][a-z0-9]*_(?:credentials?|creds?|passwords?|passwd|tokens?|secrets?|keys?|auth)|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)|0,\w+\.\w+").fullmatch(value) is not None  # fmt: skip


# Most of what the patterns below match is dismissed at a glance: by the run of characters without white space with which
# a match ends, or begins. What is no shorter than `_RUN` is not glanced at.
_QUOTES = b"\"'`*"
_RUN = 300


def worth(
    source: str,
    scan: Scan,
    is_dull: Callable[[bytes, int, int], bool],
    lines: list[tuple[int, int]] | None = None,
) -> Iterator[Match]:
    """The matches of a pattern that are not dismissed; of the lines, if they are known in which it can match."""
    data = scan.data
    if b"\x0b" in data:  # white space to us, not to re2
        for spans in scan.everywhere(source):
            yield Match(data, spans)
        return
    counted = loose(source) if has_counts(source) else None
    for ((start, end),) in (
        scan.across(source, loose(source), reach=_reach) if source is _PROSE else scan.outlines(source, lines)
    ):
        if not is_dull(data, start, end):
            found = counted.at(data, start, end) if counted else pattern(source).at(data, start)
            if found is not None:
                yield found


def worth_saying(
    source: str, scan: Scan, is_dull: Callable[[bytes, int, int], bool]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Where the matches of a pattern begin that are not dismissed, and where their only group is: each ends with it, and there is no
    white space in it unless it is quoted. So it need not be asked for, which would take as long as all else."""
    data = scan.data
    if b"\x0b" in data:
        for found in worth(source, scan, is_dull):
            yield found.start(), found.span(1)
        return
    for ((start, end),) in scan.outlines(source):
        if not is_dull(data, start, end):
            run = last_run(data, start, end)
            if run[-1] in _QUOTES or len(run) >= _RUN:
                if quoted := pattern(source).at(data, start):
                    yield start, quoted.span(1)
            else:
                yield start, (end - len(run), end)


def _reach(data: bytes, start: int, end: int) -> tuple[int, int]:
    """What is looked at for a sentence: a few words before it and after it, or all codes that follow."""
    return start - 40, end + 80 if b"codes" not in data[start:end].lower() else len(data)


def last_run(data: bytes, start: int, end: int) -> bytes:
    """What a match ends with, without white space."""
    return data[max(start, end - _RUN) : end].rsplit(None, 1)[-1]


def _shows(run: bytes) -> bool:
    """A digit or a symbol, without which no guess is worth it."""
    return has_digit(run) or has_symbol(run) or len(run) >= _RUN


def _ends_in_a_word(data: bytes, start: int, end: int) -> bool:
    """An ordinary word in the middle of a sentence, or code: `the password was changed, and`, `token = session.get(`."""
    run = last_run(data, start, end)
    if run[-1] in _QUOTES or len(run) >= _RUN:
        return run[1:-1].isalpha() and run[0] in b"\"'" and _is_quoted_word(data[start:end].lower())
    if b'"' in run and (closed := _CLOSED.search(run, 1)) and run[: closed.start()].isalpha():
        return not is_scrambled(run[: closed.start()])  # as `unquote` would have it
    bare = run.rstrip(b".,;:?)>]\\}")
    if not bare.isalpha():
        return _CALL.match(run) is not None or _holds_nothing(data, run, start, end)
    after = end - len(run) + len(bare)
    return (
        data[after : after + 1] in _GOES_ON or not bare.islower() or len(bare) < 5 or bare in PREDICATES
    ) and not is_scrambled(bare)


def _is_quoted_word(low: bytes) -> bool:
    """`"token": "amber"`: letters are no token; `code` alone may make another noun of it."""
    return b"code" not in low and _noun_kind.__wrapped__(low) == "secret"


def _holds_nothing(data: bytes, run: bytes, start: int, end: int) -> bool:
    """Neither a digit nor a symbol, or too short for a token, and no word at the end of its line, wherever in the run the
    value begins."""
    if b"**" in run:
        return False
    word = run.rstrip(_CLOSING)
    last = word[-5:]
    after = end - len(run) + len(word)
    if len(last) == 5 and last.isalpha() and last.islower() and data[after : after + 1] in _STOPS:
        return False
    low = data[start:end].lower()
    if not has_digit(run) and not has_symbol(run):
        return b"codes" not in low
    # A token would have twelve characters; `code` alone may make another noun of it.
    return len(word.lstrip(_OPENING)) < 12 and b"code" not in low and _noun_kind.__wrapped__(low) == "secret"


_OPENING, _CLOSING = b"\"'`(<*[", b".,;:?)\"'`>*]\\}"
_STOPS = (b"", b".", b"!", b"\n", b"\r", b")")
NEXT_FIELD = (b",", b";")  # `{token:"",key:e}`: nothing is said, and the next field begins
_GOES_ON = frozenset((b" ", b"\t", b",", b";", b":", b"?", b">", b"]", b"\\", b"}"))


def ends_dull(data: bytes, start: int, end: int) -> bool:
    run = last_run(data, start, end)
    return not _shows(run) and run[-1] not in _QUOTES


def begins_dull(data: bytes, start: int, end: int) -> bool:
    return not _shows(data[start : min(end, start + _RUN)].split(None, 1)[0])


def tells_of_a_test(data: bytes, start: int, end: int) -> bool:
    """`--- PASS: TestOpen (0.1s)`, thousands of lines of it."""
    return data.startswith(b"PASS", start) and is_tested(b"PASS", last_run(data, start, end))


def _is_filler(word: bytes) -> bool:
    return is_placeholder(word) or is_reference(word)


def sentences(scan: Scan) -> Iterator[Span]:
    """`my password is ...`, `set the token to ...`, in a few languages."""
    barren: set[tuple[int, int, bytes]] = set()
    """What nothing came of, with all around it that is looked at, and where in that it stands: in a short text all is around
    everything. A log says the same thousands of times over."""
    around = (0, 0, b"")

    def is_dull(data: bytes, start: int, end: int) -> bool:
        nonlocal around
        if _ends_in_a_word(data, start, end) or tells_of_a_test(data, start, end):
            return True
        around = min(start, 40), end - start, data[max(0, start - 40) : end + 80]
        return around in barren

    for found in worth(_PROSE, scan, is_dull):
        spans = list(_sentence(scan, found))
        if spans:
            yield from spans
        elif scan.taken.isdisjoint(range(found.start(4), found.start(4) + 3)):  # quotes included
            barren.add(around)


def _sentence(scan: Scan, found: Match) -> Iterator[Span]:
    data, taken = scan.data, scan.taken
    start, end, quoted = unquote(data, *found.span(4))
    word = data[start:end]
    if start in taken and b"codes" in found.group(1).lower():
        yield from _codes(data, end)  # the first is found already, by its name
    if start in taken or (
        not quoted
        and word.isalpha()
        and not scan.recall("scrambled", word, is_scrambled)
        and (not word.islower() or len(word) < 5 or word in PREDICATES or data[end : end + 1] not in _STOPS)
    ):
        return  # a word of the sentence; most matches end here
    if not quoted and (_CALL.match(word) or is_literal(word) or word[:1] in NEXT_FIELD or scan.is_sealed(word)):
        return
    noun = found.group(1).lower()
    if found.start(2) >= 0 and data.startswith(b"'s", found.end(2)):
        return  # `credentials from a user's .netrc`
    if found.start(2) >= 0 and takes_back(data[found.start(2) : found.end(2)].split()[0]):
        return  # `Authority Key Identifier: ...`
    before = data[found.start() - 1 : found.start()]
    if before == b":" or (before == b"`" and noun == b"pass") or data[max(0, start - 4) : start] == b"arn:":
        return  # `arn:...:secret:name`, the statement `pass`
    if data.endswith(b"checksum/", 0, found.start()):
        return
    if noun == b"pass" and (
        is_tested(found.group(1), word) or is_ticket(data[max(0, found.start() - 12) : found.end(1)])
    ):
        return
    if data.endswith(b"--", found.start(), start):
        return  # `my-secret --expire-time=...`: the next flag
    kind = _noun_kind(noun)
    if kind == "secret" and (b" " in word or is_no_secret(word) or is_file_name(word)):
        return  # `Token: '#ff0000 bold'`
    if (
        kind == "secret"
        and is_public_id(word)
        and rx(rb"\b(?:send|sent|transfer|address)").search(scan.low, max(0, found.start() - 16), start)
    ):
        return  # `the token was sent to 0x...`
    if kind == "secret" and kind_of(noun) is None and not noun.startswith(_FOREIGN_KEYS):
        if not noun.startswith((b"the ", b"my ", b"this ", b"your ", b"our ")) or found.end(4) - found.start(4) < 20:
            return
    if noun == b"pass" and (
        data[found.end(1) : found.end(1) + 3].lower() in (b" to", b" --")
        or (data[found.end(1) : found.end(1) + 2] == b" :" and data[found.end(1) + 2 : found.end(1) + 3].isalpha())
    ):
        return  # the verb
    if data.startswith(b"PASS", found.start(1)) and word[:4] in (b"Test", b"test"):
        return  # a test that passed
    if noun == b"pass" and found.start(2) >= 0 and data[found.start() : found.start(4)].rstrip().endswith(b"="):
        return  # `pass in errors="ignore"`
    scrambled = word.isalpha() and scan.recall("scrambled", word, is_scrambled)
    if word.isalpha() and noun.startswith(b"login"):
        return  # `{"login": "mkowalski"}`: who
    if len(word) < 3 or (kind != "password" and not quoted and word.isalpha() and not scrambled):
        return
    if kind == "secret" and not quoted and (len(word) < 12 or not (has_digit(word) or scrambled)):
        return  # not random, as is asked below
    if scan.recall("filler", word, _is_filler) and not (kind == "pin" and word.isdigit() and len(set(word)) == 2):
        return
    if (
        kind == "secret"
        and (
            is_design_token(noun, word)
            or (not quoted and not scrambled and len(word) < 24 and not is_hex(word) and is_spelled(word))
            # `the Secret Santa budget is ...`; of a service the token is longer
            or (
                not quoted
                and len(word) < 16
                and data[found.start(2) : found.end(2)].lstrip()[:1].isupper()
                and not is_grouped(word)
            )
        )
    ):
        return
    tail = data[end : end + 2]
    if kind == "pin" and noun.startswith(b"pin") and scan.is_near(WIRED, start):
        return
    if kind == "pin":
        digits = rx(rb"\d{3,8}(?:[ -]\d{3,4})?\b").match(data[start : start + 16])
        if (
            digits
            and (not is_year(digits.group()) or noun.startswith(b"pin"))  # nobody says "the PIN is" of a year
            and not rx(rb"\d*\.\d|\d+(?:px|ms|%)|[:/]\d|\d{4}[-/]\d").match(data[start : start + 20])
        ):
            if len(digits.group()) >= 4 or noun.startswith((b"cv", b"pin", b"security")):
                yield Span(start, start + digits.end(), "pin", 2)
        elif (
            rx(rb"[A-Z]-\d{6}|[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}").fullmatch(word)
            and has_digit(word)
            and not is_wordy(word)
        ) or (
            _OPENS.search(noun) is not None and rx(rb"[LR]?\d{1,2}(?:-[LR]?\d{1,2}){2,3}").fullmatch(word) is not None
        ):
            yield Span(start, end, "pin", 2)  # the safe's combination is 22-14-36
        if b"codes" in noun:
            yield from _codes(data, end)
    elif kind == "phrase":
        if quoted and scan.judge("phrase", word, quoted=True, strict=False):
            yield Span(start, end, "passphrase", 2)
        elif not quoted and scan.recall("telling", word, is_telling):
            yield Span(start, end, "passphrase", 3)
    elif kind == "password":
        if b" " in word:
            if (
                quoted
                and not is_label(word)
                and not all(is_wordy_token(part) or is_placeholder(part) for part in word.split())
                and (
                    has_digit(word)
                    or (
                        len(word.split()) >= 4
                        and word.lower() == word
                        and data[start - 1 : start] in (b"`", b'"', b"'")
                    )
                )
            ):
                yield Span(start, end, "password", 2)
        elif quoted:
            if (
                is_choice(word, quoted=True)
                and not is_code(word)
                and word.lower() not in PREDICATES
                and not is_password_word(word)  # renamed `password` to `passphrase`
                and not is_label(word)
            ):
                yield Span(start, end, "password", 2)
        elif (
            (scan.recall("telling", word, is_telling) and is_choice(word, quoted=False))
            or (
                found.start(2) < 0
                and data[end : end + 1] in _STOPS
                and data[max(0, start - 2) : start] != b"- "
                and scan.recall("numbered", word, is_numbered)
            )
            or scan.recall("scrambled", word, is_scrambled)
            or is_phrase_of_words(word)
        ) or (
            noun != b"pass"
            and word.isdigit()
            and 4 <= len(word) <= (20 if noun.startswith(_WIRELESS) else 12)
            and not is_year(word)
        ):
            yield Span(start, end, "password", 2)
        elif (rx(rb"[a-z]{5,}").fullmatch(word) and word not in PREDICATES and not is_predicate(word) and rx(rb"[ \t]*[.!]?[ \t]*(?:\r?\n|$|\))").match(data[end : end + 8])
              and rx(rb"(?i)(?:\b(?:is|ist|es|est|was)|:)[ \t]*[:]?[ \t]*$").search(data[max(found.start(), start - 8) : start]) and found.start(2) < 0 and not is_monotone(word)
              and rx(rb"(?i)\b(?:my|the|your|our|mein|das|mi|la|mon|le|minha|a)\b[ \t]+[^\n\x01]{0,24}$").search(data[max(0, found.start() - 32) : found.start()])):  # fmt: skip
            yield Span(start, end, "password", 3)
    elif kind == "secret" and scrambled and not word.islower():
        yield Span(start, end, "api-key", 3)
    elif has_digit(word) and is_noise(word, 12) and not is_code(word) and not is_path(word):
        before = scan.low[found.start() : start]
        if not (is_uuid(word) and not quoted and rx(rb"(?<![a-z])id(?![a-z])").search(before)) and not (
            is_hex(word) and b"x.509" in line_around(scan.low, start)
        ):
            yield Span(start, end, "api-key", 2)
    elif quoted and len(word) >= 8 and tail and scan.recall("telling", word, is_telling):
        yield Span(start, end, "api-key", 3)


WIRED = r"\b(?:gpio|header|connector|breadboard|soldered|pinout|arduino|vcc|gnd|not connected)"  # the pins of a board
_OPENS = Lazy(rb"comb|safe|lock|vault|gate|door")
_RUNS = Lazy(rb"[A-Z][a-z]{2,}|[a-z]{3,}")


def is_spelled(word: bytes) -> bool:
    """`HttpOnlyCookie2024`, `sha256Base64String`, `user_id_2024x`: most of its letters are words."""
    letters = sum(map(len, rx(rb"[A-Za-z]+").findall(word)))
    return 7 * sum(len(run) for run in _RUNS.findall(word) if is_wordy(run)) >= 4 * letters


def _codes(data: bytes, end: int) -> Iterator[Span]:
    """Those that follow the first one."""
    while more := _NEXT_CODE.match(data, end, end + 64):
        start, end = more.span(1)
        if has_digit(data[start:end]):
            yield Span(start, end, "pin", 2)
