"""Secrets in sentences: `my password is ...`, `log in with kim / ...`."""

from __future__ import annotations

from .engine import BARRIER, Lazy, Match, either, has_counts, loose, pattern, rx
from .judge import (
    PREDICATES,
    is_label,
    is_path,
    is_phrase_of_words,
    is_predicate,
    is_tested,
    is_ticket,
    is_year,
    speaks_of_forms,
)
from .names import kind_of, takes_back
from .noise import IDENTIFIES
from .scan import Scan, Span, line_around
from .values import (
    classes,
    has_alpha,
    has_digit,
    has_symbol,
    is_code,
    is_hex,
    is_literal,
    is_monotone,
    is_password,
    is_placeholder,
    is_random,
    is_reference,
    is_scrambled,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .names import Kind

# --- sentences ----------------------------------------------------------------------------------------------------------

_SECRET_NOUN = (
    r"pass(?:word|wd|phrase|code|wort|ord|key)?s?|pwd|pw|p/w|pin(?:[ -]?(?:code|number)s?)?|(?-i:PINs)|kennwort|contrase(?:\xf1|n)a|clave|mot de passe|mdp|senha|wachtwoord|l(?:\xf6|o)senord(?:et)?|"
    r"parola d'ordine|parola|heslo|salasana|passw|passordet|adgangskoden?|jelsz\xf3|kata sandi|geslo|lozinka|zaporka|pasahitza|contrasenya|kodeord(?:et)?|(?:[a-z]{2,20}[ -]?)?schl\xfcssel|cl\xe9(?: (?:d'|secr\xe8te )?api| d'acc\xe8s| secr\xe8te| priv\xe9e)|(?:clave|chave|chiave|llave)(?:(?: de| da| de la| dell')? ?api| de acc?es[os]+| secreta| segreta| privada)|jeton(?: d'[a-z\xe0-\xff]{2,20})?|geheimnis|api[ -]sleutel|api[ -]nyckeln?|klucz api|zug(?:riffs|angs)-?token|(?:wlan|wifi|wi-fi|netzwerk|network|router)[ -]?(?:schl\xfcssel|key|passwort|password|passwd|code|pw)|api[ -]?keys?|(?:the|my|this|your|our|this is the) key|[a-z]{2,20}[ -](?:token|key)s?|token|secret(?:[ -]key)?s?|credentials?|creds|cred|"
    r"(?:2fa|mfa|otp|recovery|backup|verification|security|access|login|one-time|time|door|gate|alarm|unlock|auth(?:entication)?|confirmation|sms|entry|lock|lockbox|key ?box|safe)[ -]codes?|(?:safe|lock|locker|padlock|vault|combination)(?: lock)?[ -]combo(?:ination)?|(?:safe|lock|locker|padlock|vault)[ -]combination|lock ?box|cvv2?|cvc|otp|puk(?:[ -]?code)?|(?-i:(?:m|i|sms|push|photo|chip)?TAN)|(?:best\xe4tigungs|verifizierungs|sicherheits|freischalt|zugangs|aktivierungs|einmal|verificatie|bevestigings|engangs)-?codes?|c\xf3digo (?:de )?(?:verifica|segur|acceso|confirma)[a-z\xe0-\xff]+|code de (?:v\xe9rification|s\xe9curit\xe9|confirmation|validation)|codice (?:di )?(?:verifica|sicurezza|conferma|otp)|kod weryfikacyjny|"
    r"(?:seed|recovery|mnemonic|secret) (?:phrase|words)|mnemonic|logins?"
)
# What "is" leads to is mostly the value itself, so that no digit or symbol stands between it and a second "is": "my password is
# hunter2 and my name is Alex" was kept, as a password called Alex.
_PROSE = (
    rf"(?i)\b({_SECRET_NOUN})\b[\"'`*]{{0,2}}"
    r"([ \t]+(?:(?:\(?(?:for|of|to|on|in|at|from|im|am|beim|bei|dans|chez|au|sur|en|nel|pour|para|f\xfcr|fuer|vom|von|zum|del?|do|da|di|du|voor|that|which|we|you|i|here|below|above|today|again|now|right|number|value|string|you're|there|token|key|code|first|currently|still|looking|temporarily|again|i want|k|ke|na|pro|do|til|f\xf6r|nya|nova|nuova|nueva|nouveau|neue[sr]?|between|provided|supplied|given)\b|\?{1,20})[^\n:=\x01]{0,60}?|(?-i:[A-Z])[a-z0-9.]{1,20}(?:[ \t]+[a-z]{2,10}){0,2}|\([^()\n\x01]{1,24}\)|(?:is|ist|was)\b[^\n:=\x01\d!#$%&*]{0,60}?))?"
    r"(?:[ \t]+(?:(?:is|was|are|c'est|ist|lautet|war|es|est|era|je|jest|hai|er|\xe4r|este|adalah|to|as|be|(?:should|must|shall|will|would|has to|needs to)[ \t]be|now|on|becomes|changed to|set to|reads|would be|equals|aka|used to be)\b|\xe9|\xe8|l\xe0|=|-{1,6})|[ \t]*(?:[:=]|->|=>|-[ \t])|'s[ \t])"
    r"((?:[ \t]+(?:now|jetzt|maintenant|ahora|agora|adesso|nun|currently|still|set to|temporarily|going to be|literally|just|this|simply|always|gonna be|actually|the following|called|currently set to|:|=))*)[ \t]*:?[ \t]*(?:\r?\n[ \t]*){0,3}"
    r"(\"[^\"\n\x01]{3,}\"|'[^'\n\x01]{3,}'|`[^`\n\x01]{3,}`|\*\*[^*\n\x01]{3,}\*\*|[^\s\x01]{3,})"
)
_NEXT_CODE = Lazy(rb"[\s,;]{1,4}(?:and[ ]|[-*\d.]{1,3}[ ])?([A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,7}|\d{5,8})\b")
_CALL = Lazy(rb"[A-Za-z_$][\w$.]*+[(\[]")
_PROSE_BARE = (
    r"(?i)\b(?:pass(?:word|phrase|code|wd)?|pwd|pw|pin(?:[ -]code)?|puk|(?:security|unlock|door|gate|alarm|safe|garage|access) code|token|secret|api[ -]?key|key|cvv|cvc|otp|code|kennwort|passwort|contrase\xf1a|mot de passe|senha)[\"'*]{0,2}(?:[ \t]+(?:of|for)(?:[ \t]+\?{2,20})+)?[ \t]*"
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


_PASSWORD_NOUNS = tuple(
    b"""pass pwd pw p/w kennwort contrase mot mdp senha clave wacht l\xf6s los parola heslo sala cred login adgang geslo lozink zapork pasahitz kodeord
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


def _noun_kind(noun: bytes) -> Kind:
    low = noun.lower()
    if low.startswith(
        (b"pin", b"puk", b"cvv", b"cvc", b"otp", b"lock", b"c\xf3digo", b"codice", b"kod ", b"tan", b"mtan")
    ):
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
    return "password" if low.startswith(_PASSWORD_NOUNS) else "secret"


def unquote(data: bytes, start: int, end: int) -> tuple[int, int, bool]:
    if data.startswith(b"**", start) and end - start > 4:
        return start + 2, end - 2, True
    if (
        end - start > 2
        and data[start : start + 1] in (b'"', b"'", b"`")
        and data[end - 1 : end] == data[start : start + 1]
    ):
        return start + 1, end - 1, True
    word = data[start:end].lstrip(_OPENING)
    start = end - len(word)
    return start, start + len(word.rstrip(_CLOSING)), False


def is_strong(value: bytes) -> bool:
    """Could not be a word of a sentence: letters with digits or symbols, not a version, date, size, path, link or ordinal."""
    if (
        len(value) < 5
        or value.isalpha()
        or is_placeholder(value)
        or is_reference(value)
        or is_code(value)
        or is_path(value)
        or b"://" in value
        or b"`" in value  # :class:`oauth2.Credentials`
    ):
        return False
    if not has_alpha(value) or rx(
        rb"(?i)[\w.+-]+@[\w-]+\.[\w.]+|v?\d+(?:\.\d+)+\S*|\d+(?:st|nd|rd|th|px|ms|kb|mb|gb|am|pm|x|s|h|d|k|m|bit|-bit|chars?)|[a-z]+-\d{1,2}|\d+-[a-z]+(?:-[a-z]+)?|\d{4}-\d\d.*|\d[\d,.:/-]*"
    ).fullmatch(
        value,
    ):
        return False
    if rx(rb"[<>{}()\[\]|=]").search(value) and not has_digit(value):
        return False
    letters_digits = has_digit(value) and has_alpha(value)
    inner = any(c in b"!@#$%^&*+=?~" for c in value[:-1])
    return (letters_digits or inner) and not is_wordy_token(value)


def _is_numbered(value: bytes) -> bool:
    """`Sparrow-12`, right after the word for it; elsewhere it would be a step, a ticket or a standard."""
    return rx(rb"[A-Z]?[a-z]{4,}-\d{1,4}").fullmatch(value) is not None and not is_wordy_token(value)


def is_wordy_token(value: bytes) -> bool:
    """Ordinary things with digits in them: `oauth2`, `sha256`, `utf-8`, `s3`, `v2`, `step-1`, `don't`, `user's`, `client-side`."""
    return rx(rb"(?i)oauth2?(?:\.0)?|sha-?\d+|md5|utf-?\d+|s3|ec2|k8s|v\d+|base\d+|rs\d{3}|hs\d{3}|es\d{3}|ed25519|aes-?\d+(?:-\w+)?|http/?\d?|ipv[46]|x509|rfc\d+|[a-z]+'[a-z]{1,2}|2fa|"
        rb"(?:[a-z]+[-/&_.])+[a-z]+\d?|[a-z]*ed25519|argon2(?:id)?|bip-?\d+|p256|secp256k1|web3|log4j|python3(?:\.\d+)?|i18n|a11y|[a-z]{1,3}\d{1,2}|[a-z][a-z0-9]*_(?:credentials?|creds?|passwords?|passwd|tokens?|secrets?|keys?|auth)|(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)|0,\w+\.\w+").fullmatch(value) is not None  # fmt: skip


# Most of what the patterns below match is dismissed at a glance: by the run of characters without white space with which
# a match ends, or begins. What is no shorter than `_RUN` is not glanced at.
_QUOTES = b"\"'`*"
_RUN = 300


def _worth(
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


def _reach(data: bytes, start: int, end: int) -> tuple[int, int]:
    """What is looked at for a sentence: a few words before it and after it, or all codes that follow."""
    return start - 40, end + 80 if b"codes" not in data[start:end].lower() else len(data)


def _last(data: bytes, start: int, end: int) -> bytes:
    return data[max(start, end - _RUN) : end].rsplit(None, 1)[-1]


def _shows(run: bytes) -> bool:
    """A digit or a symbol, without which no guess is worth it."""
    return has_digit(run) or has_symbol(run) or len(run) >= _RUN


def _ends_in_a_word(data: bytes, start: int, end: int) -> bool:
    """An ordinary word in the middle of a sentence, or code: `the password was changed, and`, `token = session.get(`."""
    run = _last(data, start, end)
    if run[-1] in _QUOTES or len(run) >= _RUN:
        return run[1:-1].isalpha() and run[0] in b"\"'" and _is_quoted_word(data[start:end].lower())
    bare = run.rstrip(b".,;:?)>]\\}")
    if not bare.isalpha():
        return _CALL.match(run) is not None or _holds_nothing(data, run, start, end)
    after = end - len(run) + len(bare)
    return (
        data[after : after + 1] in _GOES_ON or not bare.islower() or len(bare) < 5 or bare in PREDICATES
    ) and not is_scrambled(bare)


def _is_quoted_word(low: bytes) -> bool:
    """`"token": "amber"`: letters are no token; `code` alone may make another noun of it."""
    return b"code" not in low and _noun_kind(low) == "secret"


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
    return len(word.lstrip(_OPENING)) < 12 and b"code" not in low and _noun_kind(low) == "secret"


_OPENING, _CLOSING = b"\"'`(<*[", b".,;:?)\"'`>*]\\}"
_STOPS = (b"", b".", b"!", b"\n", b"\r", b")")
_NEXT_FIELD = (b",", b";")  # `{token:"",key:e}`: nothing is said, and the next field begins
_GOES_ON = frozenset((b" ", b"\t", b",", b";", b":", b"?", b">", b"]", b"\\", b"}"))


def _ends_dull(data: bytes, start: int, end: int) -> bool:
    run = _last(data, start, end)
    return not _shows(run) and run[-1] not in _QUOTES


def _begins_dull(data: bytes, start: int, end: int) -> bool:
    return not _shows(data[start : min(end, start + _RUN)].split(None, 1)[0])


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
        if _ends_in_a_word(data, start, end):
            return True
        around = min(start, 40), end - start, data[max(0, start - 40) : end + 80]
        return around in barren

    for found in _worth(_PROSE, scan, is_dull):
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
    if not quoted and (_CALL.match(word) or is_literal(word) or word[:1] in _NEXT_FIELD or scan.is_sealed(word)):
        return
    noun = found.group(1).lower()
    if found.start(2) >= 0 and data.startswith(b"'s", found.end(2)):
        return  # `credentials from a user's .netrc`
    if found.start(2) >= 0 and takes_back(data[found.start(2) : found.end(2)].split()[0]):
        return  # `Authority Key Identifier: ...`
    before = data[found.start() - 1 : found.start()]
    if before == b":" or (before == b"`" and noun == b"pass") or data[max(0, start - 4) : start] == b"arn:":
        return  # `arn:...:secret:name`, the statement `pass`
    if noun == b"pass" and (
        is_tested(found.group(1), word) or is_ticket(data[max(0, found.start() - 12) : found.end(1)])
    ):
        return
    if data.endswith(b"--", found.start(), start):
        return  # `my-secret --expire-time=...`: the next flag
    kind = _noun_kind(noun)
    if kind == "secret" and b" " in word:
        return  # `Token: '#ff0000 bold'`
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
    if len(word) < 3 or (kind != "password" and not quoted and word.isalpha() and not scrambled):
        return
    if kind == "secret" and not quoted and (len(word) < 12 or not (has_digit(word) or scrambled)):
        return  # not random, as is asked below
    if scan.recall("filler", word, _is_filler) and not (kind == "pin" and word.isdigit() and len(set(word)) == 2):
        return
    tail = data[end : end + 2]
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
        ):
            yield Span(start, end, "pin", 2)
        if b"codes" in noun:
            yield from _codes(data, end)
    elif kind == "phrase":
        if quoted and scan.judge("phrase", word, quoted=True, strict=False):
            yield Span(start, end, "passphrase", 2)
        elif not quoted and scan.recall("strong", word, is_strong):
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
                is_password(word, quoted=True)
                and not is_code(word)
                and word.lower() not in PREDICATES
                and not is_label(word)
            ):
                yield Span(start, end, "password", 2)
        elif (
            (scan.recall("strong", word, is_strong) and is_password(word, quoted=False))
            or (
                found.start(2) < 0
                and data[end : end + 1] in _STOPS
                and data[max(0, start - 2) : start] != b"- "
                and scan.recall("numbered", word, _is_numbered)
            )
            or scan.recall("scrambled", word, is_scrambled)
            or is_phrase_of_words(word)
        ) or (word.isdigit() and 4 <= len(word) <= (20 if noun.startswith(_WIRELESS) else 12) and not is_year(word)):
            yield Span(start, end, "password", 2)
        elif (rx(rb"[a-z]{5,}").fullmatch(word) and word not in PREDICATES and not is_predicate(word) and rx(rb"[ \t]*[.!]?[ \t]*(?:\r?\n|$|\))").match(data[end : end + 8])
              and rx(rb"(?i)(?:\b(?:is|ist|es|est|was)|:)[ \t]*[:]?[ \t]*$").search(data[max(found.start(), start - 8) : start]) and found.start(2) < 0 and not is_monotone(word)
              and rx(rb"(?i)\b(?:my|the|your|our|mein|das|mi|la|mon|le|minha|a)\b[ \t]+[^\n\x01]{0,24}$").search(data[max(0, found.start() - 32) : found.start()])):  # fmt: skip
            yield Span(start, end, "password", 3)
        elif (
            found.start(2) < 0
            and _EXCLAIMED.fullmatch(word)
            and b":" not in data[found.end(1) : start]
            and _MY.search(data, max(0, found.start() - 16), found.start())
            and not is_predicate(word[:-1].lower())
            and word[:-1].lower() not in PREDICATES
        ):
            yield Span(start, end, "password", 3)  # `my password is Hunterabc!`
    elif kind == "secret" and scrambled and not word.islower():
        yield Span(start, end, "api-key", 3)
    elif has_digit(word) and is_random(word, 12) and not is_code(word) and not is_path(word):
        if not (is_uuid(word) and not quoted and b"id" in found.group()[: start - found.start()].lower().split()):
            yield Span(start, end, "api-key", 2)
    elif quoted and len(word) >= 8 and tail and scan.recall("strong", word, is_strong):
        yield Span(start, end, "api-key", 3)


_EXCLAIMED = Lazy(rb"[A-Z][a-z]{4,}!")
_MY = Lazy(rb"(?i)\b(?:my|our|mein|unser|mi|mon|notre|minha|il mio|mijn)[ \t]+(?:[a-z-]+[ \t]+)?\Z")


def _codes(data: bytes, end: int) -> Iterator[Span]:
    """Those that follow the first one."""
    while more := _NEXT_CODE.match(data, end, end + 64):
        start, end = more.span(1)
        if has_digit(data[start:end]):
            yield Span(start, end, "pin", 2)


_ONE_TIME = (b"2fa", b"otp", b"verif", b"auth", b"login", b"sms", b"one-time", b"security", b"backup", b"recovery")
_SAID_BEFORE = (b"password ", b"passwd ", b"pwd ", b"pw ", b"password\t")


def nouns(scan: Scan) -> Iterator[Span]:
    """`password ...` and `pin ...`, with nothing between the two."""
    data, taken = scan.data, scan.taken
    for found in _worth(_PROSE_BARE, scan, _ends_dull):
        start, end, quoted = unquote(data, *found.span(1))
        word = data[start:end]
        if start in taken or word.lstrip(b"\"'`")[:1] == b"-":  # pass `--flag`
            continue
        noun = found.group()[:9].lower()
        if word[-1:] == b"#" and noun.startswith(
            (b"door", b"gate", b"alarm", b"garage", b"access", b"safe", b"unlock")
        ):
            word, end = word[:-1], end - 1  # the last key that is pressed
        if (
            (not has_digit(word) and not has_symbol(word))
            or rx(rb"[\w.-]+=\S*").fullmatch(word) is not None
            or (noun.startswith(b"pass ") and quoted)
            or (
                noun.startswith(b"key") and rx(rb"[a-z_-]+:.*|(?:[\w.]+-)+[0-9a-f]{32,64}").fullmatch(word) is not None
            )  # in a cache
            or data[found.start() - 1 : found.start()] == b":"
            or (noun.startswith(b"pass ") and _PASSES.search(scan.low, max(0, found.start() - 12), found.start()))
            or (noun.startswith(b"token") and _is_no_token(data, found.start()))
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
                and (
                    not noun.startswith(b"code")
                    or (len(word) == 6 and either(_ONE_TIME).has(line_around(scan.low, start)))
                )
            ):
                if len(word) != 3 or noun.startswith((b"cvv", b"cvc", b"security")):
                    yield Span(start, end, "pin", 3)
        elif (
            (
                noun.startswith(_SAID_BEFORE)
                and rx(rb"[A-Za-z]{4,}[0-9]{2,6}|[A-Za-z]{3,}[-_!.]?[A-Za-z]{2,}[0-9]{2,6}[a-z]{0,4}").fullmatch(word)
                is not None
                and (quoted or data[end : end + 1] in (b"", b"\n", b"\r"))
                and scan.recall("strong", word, is_strong)
            )
            or (
                noun.startswith((*_SAID_BEFORE, b"kennwort", b"passwort"))
                and data[end : end + 1] in (b"", b"\n", b"\r")
                and len(word) >= 8
                and scan.recall("numbered", word, _is_numbered)
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


def _is_no_token(data: bytes, at: int) -> bool:
    """`--lock-token ...`: what one writer must show who changes something."""
    before = _FIRST_WORD.search(data, max(0, at - 24), at)
    return before is not None and kind_of(before.group().strip(b"-") + b"-token") is None


def _is_bare_password(word: bytes) -> bool:
    return (has_symbol(word) or not is_wordy(word)) and is_password(word, quoted=False)


def _is_bare_key(word: bytes) -> bool:
    return (has_symbol(word) or not is_wordy(word)) and is_random(word, 16)


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
_MADE_UP = Lazy(rb"[A-Za-z]{4,}[-_]?[0-9]{2,6}")
_NO_NOUN = Lazy(rb"[.!,;?)]|\s*$|[ ](?:everywhere|anywhere|for|on|at|in|and|but|too|now|again|there|here|since)\b")
_IS_IT = Lazy(rb"(?i)[\"'`]? is (?:the|my|our) (?:\w+ )?pass(?:word|wd|phrase)(?: (?:for|to|of|on)\b|[.!,;]|\s*$)")
_TRIES = Lazy(rb"(?i)\b(?:try|use|used|using|with|enter|type)[ \t]+[\"'`*]{0,2}\Z")


def pairs(scan: Scan) -> Iterator[Span]:
    """`... is my password`, `log in with kim / ...`."""
    data, taken = scan.data, scan.taken
    lines = scan.lines_with(_REVERSED, _PAIR, _SAID)
    for found in _worth(_REVERSED, scan, _begins_dull, lines):
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
                    and (classes(word) >= 3 or (_MADE_UP.fullmatch(word) and _NO_NOUN.match(data, found.end())))
                    and _TRIES.search(data, max(0, found.start() - 8), start)
                    and rx(rb"(?i) as [^\n]*(?:pass(?:word|wort|wd|phrase)|pwd?)$").search(data, end, found.end())
                )
            )
        ):
            yield Span(start, end, "password", 3)
    for found in _worth(_PAIR, scan, _ends_dull, lines):
        start, end, _ = unquote(data, *found.span(2))
        word = data[start:end]
        if start in taken or word[:1] in (b"%", b"|") or rx(rb"(?i)sha-?\d+|md5").fullmatch(found.group(1)):
            continue
        if (
            is_password(word, quoted=False)
            and scan.recall("strong", word, is_strong)
            and (
                has_symbol(word)
                or not is_wordy(word)
                # `log in with kim / falcon7`
                or (
                    rx(rb"[A-Za-z]{5,}\d{1,4}|[A-Za-z]{4,}\d{2,4}[A-Za-z]+").fullmatch(word) is not None
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
    r"|[^\n\x01]{0,60}?(?:\b(?:(?:re)?set(?: back)? to|(?:has been|was|is|got)(?: now)? (?:re)?(?:set|changed) to|(?:it's|its|it is)(?: still| now)?|is|was|use|used|using|try|tried|typed|entered|from|set to|changed to|now|be|called|has been|sent me|will be|would be|instead|then)\b|[(:?]|->|=>|\?{2,20})"
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


def linked(scan: Scan) -> Iterator[Span]:
    """`password? It's ...`, `the passphrase, use ...`, `the temporary password you sent me (...)`: a noun, a few words, a link, a value."""
    data = scan.data
    for found in _worth(_LINKED, scan, _ends_dull):
        whole, group = found.span(), 1 if found.start(1) >= 0 else 2
        start, end, _ = unquote(data, *found.span(group))
        word = data[start:end]
        if (
            start in scan.taken
            or len(word) < 6
            or not has_digit(word)
            or word[:1] in _NEXT_FIELD
            or scan.is_sealed(word)
            or (scan.low.startswith(b"pass ", whole[0]) and _PASSES.search(scan.low, max(0, whole[0] - 12), whole[0]))
            or (data.startswith(b"PASS", whole[0]) and word[:4] in (b"Test", b"test"))
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
        if noun.startswith((b"secret", b"token", b"api")) and not (has_symbol(word) or is_random(word, 16)):
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
_BELOW = Lazy(rb"[\"'`]?[ \t]*\r?\n[ \t]*[\"'`]?([^\s\"'`\x01]{6,64})[\"'`]?[ \t]*(?=\r?\n|\Z)")


def others(data: bytes, first: Span) -> Iterator[Span]:
    """`my passwords are ... and ...`, `..., at work it is ...`: what is said beside a password or a PIN and is written like it."""
    start, end, family, _ = first
    if family not in ("password", "passphrase", "pin") or data[end : end + 1] in (b'"', b"'"):
        return  # what is in quotes is data, and beside it stand other fields
    written, size = _written(data[start:end]), end - start
    ways = (_NEXT, _CLAUSE, _BELOW) if data[start - 1 : start] == b"\n" else (_NEXT, _CLAUSE)
    while end:
        last, end = end, 0
        for way in ways:
            found = way.match(data, last, last + 160)
            if found is None:
                continue
            at, to, _ = unquote(data, *found.span(1))
            word = data[at:to]
            if _written(word) == written and (
                len(word) == size and not is_year(word) if family == "pin" else len(word) >= 6 and is_strong(word)
            ):
                yield Span(at, to, family, 3)
                end = to
                break


def _written(word: bytes) -> tuple[bool, bool, bool, bool]:
    """Of which kinds of characters it is made."""
    return has_digit(word), word.lower() != word, word.upper() != word, has_symbol(word)
