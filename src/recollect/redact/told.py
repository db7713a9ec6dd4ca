"""Passwords and codes that people tell in passing: passphrases of plain words, notes below one heading, nicknames with a year, answers in a chat."""

from __future__ import annotations

from .asides import NO_NOUN, is_chosen
from .engine import BARRIER, Lazy
from .judge import PREDICATES, is_noise_with_dots, is_phrase_of_words, is_predicate, is_year, speaks_of_forms
from .prose import is_strong, unquote
from .scan import Scan, Span, line_around
from .values import classes, has_digit, has_symbol, is_hex, is_placeholder, is_public_id, is_uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Lines = list[tuple[int, int]]

# `my password is correct horse battery staple`, `the passphrase: blue whale 42`
_WORDED = (
    r"(?im)(?:\b(?:my|our|the|your|wifi|wi-fi|wlan|router|guest|master|new|old)[ \t](?:[\w-]{1,16}[ \t]){0,2})?\b(pass(?:word|phrase|wd)|pwd|pw)\b"
    r"(?:[ \t]+(?:for|to|on|of)[ \t]+[\w' -]{1,24}?)?([ \t]+(?:is|was)(?:[ \t]+(?:now|still))?:?|[ \t]*:|)[ \t]+"
    r"((?-i:[a-z]{3,12}(?:[ ][a-z]{3,12}){1,7}?(?:[ ][0-9]{1,6})?))[ \t]*(?:[.,;!?)]|\r?$|[ ](?:and|but|so|which|all|in)[ ])"
)
# A heading, and below it a line for each: `gmail - Rosebud7!`
_HEADING = r"(?im)^[ \t#>*_-]*(?:[\w'&-]+[ \t]+){0,3}(?:passwords|passw\xf6rter|logins|creds|credentials|pws)[ \t*_]*:?[ \t*_]*\r?\n(?:[ \t]*\r?\n)?"
_NOTE = Lazy(
    rb"[ \t>*-]*(?:[0-9]{1,2}[.)][ \t]+)?[A-Za-z][\w.@&' ]{0,30}?(?:[ \t]+[-=:|/>]{1,2}[ \t]+|[ \t]*[:=][ \t]*|[ \t]+)"
    rb"([^\s\x01]{5,64}|\x01+)[ \t]*(?:\r?\n|\Z)"
)
_NO_HEADING = Lazy(rb"\b(?:recent|last|latest|previous|failed|required|forgot|forgotten|invalid|successful|active)\b")
_MOST_NOTES = 100
# `spotify login kim@mail.com Popcorn99!`
_LOGIN = (
    r"(?im)\b(?:log ?in|creds?|credentials)\b[^\n@\x01]{0,24}?[ \t:][A-Za-z0-9_.+-]+@[A-Za-z0-9.-]+\.[a-z]{2,10}[ \t]+"
    r"([^\s\"'`\x01]{6,64})[ \t]*\r?$"
)

# `the password its baileybiscuit60`, `wachtwoord van kim@acme.nl is saartje46`, `hab das Passwort geaendert heisst jetzt RexEule1977`: the noun, a
# few words, what leads to the value; misspelt as people do.
_NOUN = (
    r"(?:pass(?:word|wrod|wort|wd|phrase|code|w)|pas?sword|psasword|pwd|pw|ww|mdp|mot de pa+sse|palavra-passe|contrase(?:\xf1|n)a|contra|clave|senha|parola(?: d'or?d?ine)?|wachtwoord"
    r"|kennw+ort|haslo|halso|haslem|hasla|schl\xfcssel)"
)
_VALUE = r"([^\s\"'`()\xab\xbb\x01]*[0-9!@#$%^&*+=?~][^\s\"'`()\xab\xbb\x01]*|[a-z]+(?:-[a-z]+){3,7})"
_TELLS = (
    rf"(?i)\b{_NOUN}\b(?:[ \t]+[^\s\x01]+){{0,6}}?(?:[ \t]+(?:is|its|it's|isnt|isn't|was|be|now|ist|lautet|hei(?:\xdf|ss)t|jetzt|beides|est|cest|c'est|es|sono|\xe9|\xe8|typed|type|tried|entered"
    rf"|kk+|to|na|in|a|auf|zu|als|con|para|op)[ \t]*:?[ \t]+|[ \t]*(?::|=|->|\?|\()[ \t]*)[\"'`*(]{{0,2}}{_VALUE}"
)
_NAMES = rf"(?i)\b(?:password|passwort|passwd|passw|palavra-passe|pwd|pw|mdp|ww|kennwort|wachtwoord|senha|haslo|haslem|contrase(?:\xf1|n)a|clave|mot de passe|wlan [^\s\x01]+ schl\xfcssel)[ \t]+[\"'`*(]{{0,2}}{_VALUE}"
# `is falcon77 a strong password?`, `whiskey1966? is the pw`, `con MadridNaranja95 y esa es mi contrasena`
_ASIDE = (
    rf"(?i)(?:^|[\s\"'`(]){_VALUE}[\"'`)]{{0,2}}[ \t]+(?:(?:y|e|et|und|and)[ \t]+(?:esa|essa|this|that|das)[ \t]+)?(?:is|as|es|ist|est|a|an|eine?|una|une|uma|um|un)[ \t]+"
    rf"(?:[\w\xe0-\xff]+[ \t]+){{0,3}}?{_NOUN}(?:[ \t]+(?:segura|sicura|forte|solide))?"
)
# `try logging in with etl / bramble-harvest-63`
_PAIR = rf"(?i)\b(?:log(?:ging)? ?in|sign(?:ing)? in|login|creds?|credentials|credenziali|credenciales|identifiants|zugangsdaten)\b[^\n/\x01]*[ \t:][\w.@-]+[ \t]+/[ \t]+[\"'`]?{_VALUE}"
_LEADS_ON = (
    b"to",
    b"na",
    b"in",
    b"a",
    b"auf",
    b"zu",
    b"als",
    b"con",
    b"para",
    b"op",
)  # to the value only where something was changed
_CHANGED = Lazy(
    rb"chang|reset|set\b|switch|updat|rotat|ge\xe4ndert|gesetzt|\xe4nder|cambi|mud|troquei|alter|modifi|mis\b|gewijzigd|zmieni"
)
# What somebody answers who was asked for it: `I need the password`, and below it `User: its qUDEew0ivsOlB`.
_ANSWER = (
    rf"(?i)\b{_NOUN}\b[^\n\x01]*\r?\n(?:[A-Za-z][\w .]*,[ \t]*[0-9:]+[ \t]*\r?\n)?[ \t>]*(?:\[[^\]\n\x01]*\][ \t]*|[0-9:]+[ \t]+)?([A-Za-z][\w .'-]*[:>][ \t]+)?"
    rf"((?:(?:sure|yes|yep|yeah|ok|okay|klar|ja|oui|si|s\xed|sim|it's|its|it is|here|hier|try|c'est|cest)[,:!.]*[ \t]+)*(?:->[ \t]*)?)[\"'`*]{{0,2}}{_VALUE}"
)
# Codes that are sent, and numbers of cards, as they are told.
_CODE = (
    r"(?i)\b(?:code|kod|tan|c\xf3digo|codice)(?:[ \t]+(?:is|was|i got|lautet|ist|est|es|weryfikacyjny|de s\xe9curit\xe9|di sicurezza))*[ \t]*:?[ \t]+([0-9]{6}|[0-9]{3}[ -][0-9]{3})(?:[^0-9\w-]|$)"
    r"|\b(?:pr\xfcf(?:ziffer|nummer)|cryptogramme|kartenpr\xfcfnummer)[ \t:]+(?:ist |est )?([0-9]{3,4})\b"
)
_SENT = Lazy(
    rb"2fa|otp|verif|weryfik|sms|one-time|einmal|whatsapp|signal|telegram|share|expire|confirm|best\xe4tig|s\xe9curit\xe9|seguridad|\btan\b"
)
_OTHER_CODE = Lazy(
    rb"\b(?:error|exit|status|postal|zip|area|sort|product|source|promo|hs|country|bar|qr|http|response|return)[ -]\Z"
)
_CARD = Lazy(rb"karte|visa|carte|kredit|master|amex|g\xfcltig|expir|ablauf")
_BITLOCKER = r"(?m)(?:^|[^0-9-])((?:[0-9]{6}-){7}[0-9]{6})(?:[^0-9\n-]|\r?$)"


def told(scan: Scan) -> Iterator[Span]:
    """What people say in passing of their passwords, passphrases and codes."""
    if lines := scan.lines_with(_WORDED, _LOGIN, _TELLS, _NAMES, _PAIR, _ASIDE, _CODE, _BITLOCKER):
        yield from _passphrases(scan, lines)
        yield from _passwords(scan, lines)
        yield from _codes(scan, lines)
    if b"\n" in scan.data:
        yield from _answers(scan)
        yield from _notes(scan)


def _passphrases(scan: Scan, lines: Lines) -> Iterator[Span]:
    data = scan.data
    for whole, noun, link, (start, end) in scan.spans(_WORDED, lines):
        is_linked, is_phrase = link[1] > link[0], scan.low.startswith(b"passp", noun[0])
        is_said = data[slice(*link)].strip() not in (b"", b":")
        words, _, number = data[start:end].rpartition(b" ")
        if not number.isdigit():
            words, number = data[start:end], b""
        if is_said or is_phrase or (is_linked and whole[0] < noun[0]):
            if _is_phrase(words) if number else is_linked and _is_passphrase(words):
                yield Span(start, end, "passphrase", 3)


def _passwords(scan: Scan, lines: Lines) -> Iterator[Span]:
    data = scan.data
    for _, (start, end) in scan.spans(_LOGIN, lines):
        if start not in scan.taken and _is_noted(scan, data[start:end]):
            yield Span(start, end, "password", 3)
    for source in (_TELLS, _NAMES, _PAIR, _ASIDE):
        for whole, value in scan.spans(source, lines):
            start, end, _ = unquote(data, *value)
            if start in scan.taken or whole[1] - whole[0] > _FAR or data[end : end + 3] == b"...":
                continue
            is_told = NO_NOUN.match(data, whole[1]) if source is _ASIDE else _leads(scan, whole[0], start)
            if is_told and _is_made_up(scan, data[start:end]):
                yield Span(start, end, "password", 3)


_FAR = 120


def _codes(scan: Scan, lines: Lines) -> Iterator[Span]:
    low = scan.low
    for whole, sent, printed in scan.spans(_CODE, lines):
        start, end = max(sent, printed)
        said = _SENT if sent[0] >= 0 else _CARD
        if said.search(line_around(low, start)) and not _OTHER_CODE.search(low, max(0, whole[0] - 12), whole[0]):
            yield Span(start, end, "pin", 3)
    for _, (start, end) in scan.spans(_BITLOCKER, lines):
        yield Span(start, end, "pin", 2)


def _notes(scan: Scan) -> Iterator[Span]:
    data, done = scan.data, 0
    if not scan.has(b"passwords", b"logins", b"cred", b"pws", b"passw\xf6rter"):
        return
    for ((heading, at),) in scan.everywhere(_HEADING, groups=False):
        if _NO_HEADING.search(scan.low, heading, at):
            continue
        at = max(at, done)
        for _ in range(_MOST_NOTES):
            note = _NOTE.match(data, at, at + 160)
            if note is None:
                break
            start, at = note.start(1), note.end()
            if BARRIER not in note.group(1) and start not in scan.taken and _is_noted(scan, note.group(1)):
                yield Span(start, note.end(1), "password", 3)
        done = max(done, at)


def _answers(scan: Scan) -> Iterator[Span]:
    data = scan.data
    for whole, name, lead, (start, end) in scan.everywhere(_ANSWER) if scan.lines_with(_ASKED) else ():
        start, end, _ = unquote(data, start, end)
        is_answer = name[0] >= 0 or lead[1] > lead[0]
        if (
            is_answer
            and ASKS.search(line_around(scan.low, whole[0]))
            and start not in scan.taken
            and end - whole[0] <= 2 * _FAR
            and _is_made_up(scan, data[start:end])
        ):
            yield Span(start, end, "password", 3)


ASKS = Lazy(
    rb"\?|\b(?:need|send|give|what'?s?|which|tell|share|confirm|please|pls|kannst|schick|brauche|quel|c[uo]al|qual|manda|envoi|podaj|anyone|got)\b"
)
_ASKED = rf"(?i)\b{_NOUN}\b"


def _leads(scan: Scan, first: int, start: int) -> bool:
    """Whether what stands before the value leads to it."""
    said = scan.low[first:start]
    if _OF_IT.match(said) or (said.startswith(b"schl") and not _WIRELESS.search(line_around(scan.low, start))):
        return False
    if said.rstrip(b" \t\"'`*(").endswith(b"?"):
        return _LAST.match(scan.data, start) is not None
    link = said.rstrip(b" \t\"'`*(:").rpartition(b" ")[2]
    if link not in _LEADS_ON:
        return True
    changed = _CHANGED_IN if link == b"in" else _CHANGED
    return changed.search(line_around(scan.low, start)) is not None


_OF_IT = Lazy(
    rb"[a-z' ]+?[ \t]+(?:policy|policies|manager|storage|store|service|check|checks|rotation|change|story|column|field|length|hash|hashing|form|page|reset|table|file|type)\b"
)
_CHANGED_IN = Lazy(rb"gewijzigd|veranderd|cambiat")
_WIRELESS = Lazy(rb"wlan|wi-?fi|wpa|router|fritz")
_LAST = Lazy(rb"[^\s]+[.!)\"'`]*[ \t]*(?:\r?\n|\Z)")


# `sunsetbanjo46`, `cricket.banjo.falcon59`, `Wombat-1979`: how people make a password up.
_NICKNAME = Lazy(
    rb"[A-Za-z\xc0-\xff]{3,}(?:[._-][A-Za-z\xc0-\xff]{3,}){0,3}[._-]?[0-9]{2,6}[!?*+#$]?|[a-z]{3,}(?:[._][a-z]{3,}){2}[0-9]"
)
_LETTERS = Lazy(rb"[A-Za-z\xc0-\xff]+")
_COUNTED = frozenset(
    b"""user server node host room version step level page field admin test build release windows python ubuntu debian java chapter section figure
    item group team line port phase sprint week day year month area zone block unit task ticket issue bug model class case part point track
    channel slot core disk drive volume cluster pod worker device agent argon bcrypt scrypt pbkdf sha aes rsa des base utf oauth http https tls
    ssl ipv rfc iso web log net vue angular react django rails spring php mysql postgres redis mongo office sql chrome firefox android ios macos
    jan feb mar apr may jun jul aug sep oct nov dec january february march april june july august september october november december round lesson
    varchar nvarchar char int bigint smallint tinyint text blob float double decimal enum note example sample demo dev prod staging stage vpn srv vm ubuntu box laptop desktop printer router switch
    """.split()
)


def _is_made_up(scan: Scan, word: bytes) -> bool:
    if not 5 <= len(word) <= 64 or is_hex(word) or is_uuid(word) or is_placeholder(word) or _TICKET.fullmatch(word):
        return False
    if _NICKNAME.fullmatch(word) and not _VERSION.search(word):
        parts = [part.lower() for part in _LETTERS.findall(word)]
        return (
            _COUNTED.isdisjoint(parts)
            and PREDICATES.isdisjoint(parts)
            and not speaks_of_forms(b"-".join(parts))
            and not any(map(is_predicate, parts))
            and not (len(parts) == 1 and is_year(word[len(parts[0]) :].strip(b"._-!?*+#$")) and len(parts[0]) < 4)
        )
    if is_phrase_of_words(word):
        return True
    if is_public_id(word) or _VERSION.search(word):
        return False
    if b"/" in word or b":" in word or b"\\" in word or _ELSE.search(word) or not has_digit(word):
        return False
    return (
        is_noise_with_dots(word)
        or (has_symbol(word) and classes(word) >= 3 and scan.recall("strong", word, is_strong))
        or scan.recall("linked", word, is_chosen)
    )


_TICKET = Lazy(rb"[A-Z]{2,8}-[0-9][0-9-]*|[A-Z]{2,4}#[0-9]+")
_VERSION = Lazy(rb"[0-9]\.[0-9]")
_ELSE = Lazy(rb"@[\w-]+\.[a-z]|^[A-Za-z_.-]+=|^,")  # an address, the next setting, the next field


def _joined(words: bytes) -> bytes:
    return words.replace(b" ", b"-")


def _is_passphrase(words: bytes) -> bool:
    """Four words or more that make no sentence: `correct horse battery staple`, not `shared between four people`."""
    first, *others = words.split()
    return (
        is_phrase_of_words(_joined(words))
        and not is_predicate(first)
        and _OF_SENTENCES.isdisjoint(others)
        and PREDICATES.isdisjoint(others)
    )


_OF_SENTENCES = frozenset(
    b"""between among during through around across against inside outside behind under above below near beside every people someone somebody everyone everybody anyone anybody nobody again then than
    them him her when where whenever once twice first last next day days week weeks month year time times today tomorrow yesterday tonight away back
    down off out almost already even ever much many few here there will would could should can cannot may might does did has had have
    """.split()
)


def _is_phrase(words: bytes) -> bool:
    """Two words or more, before a number, none of which says anything of a password."""
    parts = words.split()
    return (
        len(parts) >= 2
        and _OF_SENTENCES.isdisjoint(parts)
        and PREDICATES.isdisjoint(parts)
        and not any(map(is_predicate, parts))
        and not speaks_of_forms(_joined(words))
    )


def _is_noted(scan: Scan, value: bytes) -> bool:
    return (
        has_digit(value)
        and not any(mark in value for mark in (b"=", b":", b","))
        and classes(value.translate(None, b"-_./()")) >= 3
        and scan.recall("strong", value, is_strong)
    )
