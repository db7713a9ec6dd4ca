"""Is a text worth searching? Asked of everything that is written, so it imports nothing new and takes microseconds.

Most prose has no word that announces a secret, no run of characters long enough to be one, and few digits: then it is
*quiet*, and neither re2 nor the search itself is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


class Finding(tuple[str, int, int]):
    """What was found and where in the original text; never what it said."""

    __slots__ = ()

    def __new__(cls, family: str, start: int, end: int) -> Finding:
        return tuple.__new__(cls, (family, start, end))

    @property
    def family(self) -> str:
        return self[0]

    @property
    def start(self) -> int:
        return self[1]

    @property
    def end(self) -> int:
        return self[2]

    def __repr__(self) -> str:
        return f"Finding(family={self[0]!r}, start={self[1]}, end={self[2]})"


# Words for "password" that Latin-1 cannot spell, each with a stand-in of the same length, so that positions hold.
_FOREIGN = (
    ("パスワードは", "passw:"), ("пароль", "passwd"), ("Пароль", "passwd"), ("пароля", "passwd"), ("密码", "pw"), ("密碼", "pw"),
    ("口令", "pw"), ("パスワード", "passw"), ("비밀번호는", "pass:"), ("비밀번호가", "pass:"), ("비밀번호", "pass"), ("hasło", "passw"), ("Hasło", "passw"),
    ("şifrem", "passwd"), ("Şifrem", "passwd"), ("şifre", "passw"), ("Şifre", "passw"), ("токен", "token"), ("секрет", "secret"), ("令牌", "tk"),
    ("лозинка", "my pass"), ("Лозинка", "my pass"), ("→", "="), ("⇒", "="), ("：", ":"), ("＝", "="), ("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"), ("是", ":"), ("«", '"'), ("»", '"'),
    ("验证码", "otp"), ("驗證碼", "otp"), ("認証コード", "  otp"), ("確認コード", "  otp"), ("인증번호", " otp"), ("인증코드", " otp"), ("код подтверждения", "verification code"), ("Код подтверждения", "verification code"),
    ("„", '"'), ("비번", "pw"), ("암호화", "enc"), ("암호", "pw"), ("패스워드", "pass"), ("parolă", "passwd"), ("Parolă", "passwd"),
    ("парола", "passwd"), ("Парола", "passwd"), ("пароли", "passwd"), ("mật khẩu", "password"), ("Mật khẩu", "password"), ("รหัสผ่าน", "password"),
    ("पासवर्ड", "my pass"), ("סיסמה", "passw"), ("סיסמא", "passw"), ("κωδικός", "my pass"), ("Κωδικός", "my pass"), ("είναι", " is  "), ("كلمة المرور", "my password"),
    ("كلمة السر", "the passw"), ("slaptažodis", "my password"), ("API密钥", "token"), ("API ключ", " api key"), ("API-ключ", " api-key"), ("ключ API", "api key "), ("トークンは", " tok:"), ("APIキー", "token"), ("API 密钥", " token"), ("—", "-"), ("–", "-"), ("密鑰", "tk"), ("密钥", "tk"), ("秘钥", "tk"), ("토큰", "tk"), ("トークン", " tok"), ("clé secrète", "secret key "), ("Clé secrète", "Secret key "), ("clé wifi", "password"), ("Clé wifi", "Password"), ("clé WiFi", "password"), ("Clé WiFi", "Password"),
    ("clé Wi-Fi", "password "), ("Clé Wi-Fi", "Password "), ("助记词", "bip"), ("助記詞", "bip"), ("니모닉", "bip"), ("シードフレーズ", "my seed"),
    ("сид-фраза", "my phrase"), ("Сид-фраза", "my phrase"), ("\u2028", "\n"), ("\u00a0", " "),
    ("היא", "is "), ("הוא", "is "), ("है", "is"), ("هي", "is"),
)  # fmt: skip
_FOREIGN_IN_LATIN = tuple(row for row in _FOREIGN if max(row[0]) <= "\xff")


# The letters of Europe's languages that Latin-1 lacks, from U+0100 on, without their marks: a `?` in the middle of a word would
# make a symbol of a letter, and a password of the word.
_LETTERS = b"AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs"
# Chinese, Japanese and Korean put no space between their words and a value, so each of their letters counts as one, and a few marks.
UNSPACED = range(0x3000, 0xD7A4)
_MARKS = "，；！？（）"
# Greek, Cyrillic, Hebrew and Arabic letters, each as another letter that is not of the English alphabet: a word of them is no symbol, and a
# password in them is no row of question marks.
_GREEK = b"?" * 134 + bytes(range(0xB6, 0xFF)) + b"?" * 49
_CYRILLIC = bytes(range(0xC0, 0xD0)) + bytes(range(0xC0, 0x100)) + bytes(range(0xE0, 0xF0)) + b"?" * 160
_HEBREW = b"?" * 208 + bytes(range(0xE0, 0xFB)) + b"?" * 21
_ARABIC = b"?" * 33 + bytes(range(0xC1, 0xEB)) + b"?" * 181


# By the upper byte of a character, what its lower one becomes; 256 times the same is not asked.
_PAGES = {
    0: bytes(range(256)),
    1: _LETTERS + b"?" * 128,
    3: _GREEK,
    4: _CYRILLIC,
    5: _HEBREW,
    6: _ARABIC,
    UNSPACED[-1] >> 8: bytes([32 if (UNSPACED[-1] & ~255) + low in UNSPACED else 63 for low in range(256)]),
    0xFF: bytes([32 if chr(0xFF00 + low) in _MARKS else 63 for low in range(256)]),
}
_SAME = bytes([0 if page in _PAGES else 32 if page << 8 in UNSPACED else 63 for page in range(256)])


def to_bytes(text: str) -> bytes:
    """One byte for each character; what Latin-1 lacks becomes `?`, or a space in scripts that write none."""
    if _is_escaped(text):
        text = _unescaped(text)
    if text.isascii():
        return text.encode("ascii")
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return _narrow(text)
    for foreign, same_length in _FOREIGN_IN_LATIN:
        if foreign in text:
            text = text.replace(foreign, same_length)
    return text.encode("latin-1")


def unseen(text: str) -> list[tuple[int, int]]:
    """Where characters stand that nobody sees: colours, links and titles of a terminal, what is struck twice, soft hyphens, joiners, and
    what has no width; each also as JSON and HTML write it."""
    if text.isascii() and not any(sign in text for sign in _UNSEEN_SIGNS):
        return []
    import re

    return [found.span() for found in re.finditer(_UNSEEN, text)]


def seen(text: str, places: list[tuple[int, int]] | None = None) -> str:
    """The text without those. What a terminal is told of a link or a title stays, unless it is known to be harmless."""
    at, pieces = 0, list[str]()
    for start, end in [(a, b) for a, b in unseen(text) if "\x1b]" not in text[a:b]] if places is None else places:
        pieces.append(text[at:start])
        at = end
    return "".join((*pieces, text[at:])) if at else text


_TOLD = r"\x1b\][0-9]{1,4};[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"
_UNSEEN_SIGNS = ("\x1b", "\\u", "\\x1", "\\033", "\\e[", "&shy", "&Zero", "&zw", "&#", "<wbr", "\x7f", "\b")
"""One of these is in every ASCII text that has something unseen: to look for it properly takes 0.2 ms for 4 KB."""
_UNSEEN = (
    "(?:[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
    r"|\x7f|_\x08(?=\S)|([^\s\x08])\x08(?=\1)"
    r"|(?:\x9b|(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[)[0-9;:]*[mK]"
    rf"|{_TOLD}"
    r"|\\{1,8}u(?:00[aA][dD]|034[fF]|061[cC]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE]0[0-9a-fA-F]|[fF][eE][fF][fF])"
    r"|&(?:shy|ZeroWidthSpace|zwj|zwnj|#173|#8203|#x[aA][dD]|#x200[bB]);|<wbr ?/?>)+"
)


def _is_escaped(text: str) -> bool:
    # One character is found fifty times as fast as three.
    return (
        ("%" in text and ("%22" in text or "%3D" in text))
        or ("&" in text and ("&quot;" in text or "&#39;" in text or "&#x27;" in text))
        or "\x1b" in text
        or ("\\" in text and _has_escapes(text))
    )


def _has_escapes(text: str) -> bool:
    import re

    # It leaps from backslash to backslash, in half the time that it takes to look for one of these.
    return re.search(_ESCAPES, text) is not None


def _unescaped(text: str) -> str:
    """Quotes and equals signs as a link or a page writes them, each by a stand-in of the same length that ends a word as they do:
    `%22token%22%3A%22...%22`, `api_key%3D...`. (At the end of a value `%3D` is base64's padding.)"""
    import re

    if "\x1b" in text:  # a terminal's colours end in a letter: `ESC[1m` before a token would be part of it
        text = re.sub(rf"\x1b{_COLOUR}", _blank, text)
    if "\\" in text:
        text = re.sub(_ESCAPED_LINE, "  ", text)
        if re.search(r'\\\\"', text):
            text = re.sub(rf"{_ESCAPED_QUOTE}(?={_VALUE})", lambda found: '\\"'.rjust(len(found[0])), text)
            text = re.sub(_ESCAPED_QUOTE, lambda found: '\\"'.ljust(len(found[0])), text)
        if re.search(r"\\[ux0]", text):
            text = re.sub(rf"\\(?:u001b|x1b|033){_COLOUR}", _blank, text)
            text = re.sub(_FOREIGN_LETTERS, _spelled, text)
            if re.search(r"\\u0[01]", text):
                text = re.sub(_ACCENTED_WORD, _spelled, text)
    if "%" in text:
        text = re.sub(r"(?<=%22)%3A(?=%22)", "  :", text).replace("%22", '"""')
        text = re.sub(rf"(?<=[A-Za-z0-9_\]])%3D(?={_VALUE})", "=  ", text)
        text = re.sub(r"(?<=[A-Za-z0-9\]])%26(?=[A-Za-z_]+(?:%3D|=  ))", "  &", text)
    if "&" in text:
        text = re.sub(rf"&quot;(?={_VALUE})", '     "', text).replace("&quot;", '"     ')
        text = re.sub(rf"&#(?:39|x27);(?={_VALUE})", lambda found: "'".rjust(len(found[0])), text)
        text = re.sub(r"&#(?:39|x27);", lambda found: "'".ljust(len(found[0])), text)
    return text


_ESCAPES = r'\\(?:[nu]|\\\\"|x1b\[|033\[)'
# The end of a line in a string, right before a word for a secret: its letter is no part of the word.
_ESCAPED_LINE = r"\\[nrt](?=(?i:pass|pwd?\b|pin\b|secret|token|api|auth|cred|login|kennwort|contrase|senha|clave|mot de|mdp|wachtwoord))"
# JSON in JSON in JSON. (After an even number of backslashes the quote is none of theirs.)
_ESCAPED_QUOTE = r'(?<!\\)\\(?:\\\\)+"'
# Letters of other alphabets; a word with one that Latin lacks. The backslashes are counted, or a row of them would take long.
_FOREIGN_LETTERS = r"\\u(?:0[3-9a-f]|[1-9a-f][0-9a-f])[0-9a-f]{2}(?:\\{1,8}u(?:0[3-9a-f]|[1-9a-f][0-9a-f])[0-9a-f]{2})*"
_ACCENTED_WORD = r"\b[A-Za-z]*\\{1,8}u0[01][0-9a-f]{2}[a-z]*"
_COLOUR = r"\[[0-9;?]*[A-Za-z]"
_VALUE = r"[A-Za-z0-9]|\[redacted:"  # a marker stands where a value stood


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _spelled(found: re.Match[str]) -> str:
    """A word as JSON escapes it, in its own letters at its end: those of other alphabets, and of Latin's a few for secrets."""
    import re

    word = re.sub(r"\\+u([0-9A-Fa-f]{4})", lambda escape: chr(int(escape[1], 16)), found[0])
    return word.rjust(len(found[0])) if word > "\u02ff" or word.lower() in _ACCENTED else found[0]


_ACCENTED = frozenset(
    "contraseña contraseñas lösenord lösenordet jelszó hasło haseł şifre şifrem clé schlüssel parolă è é är código".split()
)


def _narrow(text: str) -> bytes:
    """Byte by byte as numbers of many digits: to look each character up takes ten times as long, and forty where none repeats."""
    pages = set(text.encode("utf-32-le", "surrogatepass")[1::4])
    for foreign, same_length in _FOREIGN:
        if ord(foreign[0]) >> 8 in pages and foreign in text:
            text = text.replace(foreign, same_length)
    wide = text.encode("utf-32-le", "surrogatepass")
    low, page = wide[::4], wide[1::4]
    narrow = _number(page.translate(_SAME))
    for number, becomes in _PAGES.items():
        if number in pages or not number:
            narrow |= _number(page.translate(_mask(number))) & _number(low.translate(becomes))
    if wide[2::4].strip(b"\0"):
        above = _number(wide[2::4].translate(b"\0" + b"\xff" * 255))  # emojis
        narrow = narrow & ~above | _number(b"?" * len(text)) & above
    return narrow.to_bytes(len(text), "little")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _mask(number: int) -> bytes:
    return bytes(number) + b"\xff" + bytes(255 - number)


ANNOUNCING = (
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "bearer",
    "pin:",
    "pins:",
    "pins are",
    "pin'",
    "cvv",
    "cvc",
    "otp",
    "cookie",
    "login",
    "contrase",
    "kennwort",
    "senha",
    "clave",
    "mdp",
    "wachtwoord",
    "senord",
    "parola",
    "heslo",
    "geslo",
    "jelsz",
    "lozink",
    "pasahitz",
    "sandi",
    "schl",
    "bcrypt",
    "vpn",
    "tok ",
    "tok=",
    "tok:",
    "phrase",
    "mnemonic",
    "seed",
    "code",
    "sess",
    "sid=",
    "jwt",
    "identified",
    "machine",
    "zugang",
    "anmelde",
    "signature",
    "psk",
    "tk",
    "salt",
    "dsn",
    "adgangskode",
    "salasana",
    "snmp-server",
    "add_user",
    "connect",
    "pdo(",
    "begin(",
    "openssl",
    "@",
    "_pat",
    "pat=",
    "pat:",
    "words",
    "pin ",
    "log in",
    "sign in",
    "logging in",
    "--user",
    "hmac",
    "cipher",
    "fernet",
    "net use",
    "keygen",
    "root",
    "admin",
    "/p:",
    "thin:",
    "sqlplus",
    "wallet",
    "live_",
    "-u ",
    "basic ",
    "digest ",
    " -p",
    "sudo -s",
    " -a ",
    " -w ",
    "client(",
    "wifi:",
    "cryptsetup",
    "kinit",
    "alias set",
    "host add",
    "securestring",
    "aes.",
    "http-basic",
    "accounts:",
    "sequelize",
    "proxy-user",
    "isakmp",
    "mysqli",
    "metamask",
    "trezor",
    "ganache",
    "bip",
    "digos de",
    "codici",
    "wif",
    "<<<",
    "snmp",
    "smb",
    "puk",
    "lockbox",
    "combination",
    "/rp ",
    "airportnetwork",
    "bundle_",
    "rocommunity",
    "digo de",
    "codice",
    "tan:",
    " is your ",
    "to verify",
    "| base64",
    "p/w",
    "jeton",
    "chave",
    "chiave",
    "llave",
    "klucz",
    "sleutel",
    "nyckel",
    "geheim",
    "api ",
    "httponly",
    "rclone obs",
    "2fa",
    "haslo",
    "kod wer",
    "tan lautet",
    "tan ist",
    "ww is",
    "clé ",
    "prüf",
    "cryptogramme",
    "the env",
    " .env",
    "gave me",
    "contra es",
    "pdo->",
    "mysql",
    "davfs",
    ": eap",
    "pwgen",
    "clip",
    "paste",
    "xsel",
)
"""The words of `is_announced`; a test keeps the two equal."""


def is_announced(low: str) -> bool:
    """Whether a word that goes with secrets stands in a text in lower case. Without one, no context is looked at. (Written
    out, and on text instead of bytes: 2 us, where a loop over bytes takes 8.)"""
    return (
        "pass" in low or "pw" in low or "secret" in low or "token" in low or "key" in low or "auth" in low
        or "cred" in low or "bearer" in low or "pin:" in low or "pins:" in low or "pins are" in low or "pin'" in low or "cvv" in low or "cvc" in low or "otp" in low
        or "cookie" in low or "login" in low or "contrase" in low or "kennwort" in low or "senha" in low
        or "clave" in low or "mdp" in low or "wachtwoord" in low or "senord" in low or "parola" in low
        or "heslo" in low or "geslo" in low or "jelsz" in low or "lozink" in low or "pasahitz" in low or "sandi" in low
        or "schl" in low or "bcrypt" in low or "vpn" in low or "tok " in low or "tok=" in low or "tok:" in low or "phrase" in low or "mnemonic" in low or "seed" in low or "code" in low
        or "sess" in low or "sid=" in low or "jwt" in low or "identified" in low or "machine" in low
        or "zugang" in low or "anmelde" in low or "signature" in low or "psk" in low or "tk" in low
        or "salt" in low or "dsn" in low or "adgangskode" in low or "salasana" in low
        or "snmp-server" in low or "add_user" in low or "connect" in low or "pdo(" in low or "begin(" in low
        or "openssl" in low or "@" in low or "_pat" in low or "pat=" in low or "pat:" in low
        or "words" in low or "pin " in low or "log in" in low or "sign in" in low or "logging in" in low
        or "--user" in low or "hmac" in low or "cipher" in low or "fernet" in low or "net use" in low
        or "keygen" in low or "root" in low or "admin" in low or "/p:" in low or "thin:" in low or "sqlplus" in low or "wallet" in low or "live_" in low
        or "-u " in low or "basic " in low or "digest " in low or " -p" in low or "sudo -s" in low
        or " -a " in low or " -w " in low or "client(" in low or "wifi:" in low or "cryptsetup" in low or "kinit" in low
        or "alias set" in low or "host add" in low or "securestring" in low or "aes." in low or "http-basic" in low
        or "accounts:" in low or "sequelize" in low or "proxy-user" in low or "isakmp" in low
        or "mysqli" in low or "metamask" in low or "trezor" in low or "ganache" in low or "bip" in low
        or "digos de" in low or "codici" in low or "wif" in low or "<<<" in low or "snmp" in low or "smb" in low
        or "puk" in low or "lockbox" in low or "combination" in low or "/rp " in low or "airportnetwork" in low
        or "bundle_" in low or "rocommunity" in low or "digo de" in low or "codice" in low
        or "tan:" in low or " is your " in low or "to verify" in low or "| base64" in low or "p/w" in low
        or "jeton" in low or "chave" in low or "chiave" in low or "llave" in low or "klucz" in low or "sleutel" in low
        or "nyckel" in low or "geheim" in low or "api " in low or "httponly" in low or "rclone obs" in low or "2fa" in low
        or "haslo" in low or "kod wer" in low or "tan lautet" in low or "tan ist" in low or "ww is" in low or "clé " in low
        or "prüf" in low or "cryptogramme" in low or "the env" in low or " .env" in low or "gave me" in low or "contra es" in low
        or "pdo->" in low or "mysql" in low or "davfs" in low or ": eap" in low or "pwgen" in low
        or "clip" in low or "paste" in low or "xsel" in low
    )  # fmt: skip


PIECE = 1 << 16


def count_digits(text: str) -> int:
    return sum(map(text.count, "0123456789"))


def is_quiet(text: str) -> bool:
    """Whether there is nothing to look for."""
    text = seen(text)
    if not text.isascii() or _is_escaped(text):
        text = to_bytes(text).decode("latin-1")
    return (
        "=" not in text
        and not is_announced(text.lower())
        and not _has_long_run(text)
        and count_digits(text) < 13
        and text.count(":") < 4
    )


def _has_long_run(text: str) -> bool:
    """Sixteen characters without a space. A piece at a time: all words of 60 MB as a list are 600 MB."""
    if len(text) <= PIECE:
        return max(map(len, text.split()), default=0) >= 16
    step = PIECE - 16
    return any(max(map(len, text[at : at + PIECE].split()), default=0) >= 16 for at in range(0, len(text), step))


def loud_pattern() -> str:
    """What makes a text not quiet, as one pattern over `to_bytes` of it: a long-lived process asks re2, a tenth of the time.
    NUL stands between texts, so that many can be asked at once."""
    runs = r"=|[^\x00\t-\r\x1c-\x20\x85\xa0]{16}|(?:[0-9][^0-9\x00]*){13}|(?::[^:\x00]*){4}"
    words = "|".join([rf"\Q{word}\E" for word in ANNOUNCING])
    return f"(?i){runs}|{words}"
