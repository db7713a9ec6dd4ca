"""Surroundings with a syntax of their own: PEM, URLs, connection strings, headers, cookies, command lines, well-known files.

Each function knows one of them and yields the spans of the values in it. All of it is linear: re2 finds the places, and what
is looked at from a place is bounded.
"""

from __future__ import annotations

from base64 import b64decode
from functools import cache

from .assign import value_at
from .engine import BARRIER, Lazy, Match, outline, pattern, rx
from .names import kind_of
from .scan import CROWD, Scan, Span, family_of, is_path, line_around
from .values import (
    classes,
    decodes_to_pair,
    has_alpha,
    has_digit,
    has_symbol,
    is_code,
    is_hex,
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
    from collections.abc import Iterator

    _Asked = tuple[str, str, list[tuple[int, int]] | None]

# --- private keys ------------------------------------------------------------------------------------------------------

_PEM = r"-----BEGIN ((?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?)-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|PuTTY-User-Key-File-[0-9]:"
_PEM_LINE = Lazy(rb"[A-Za-z0-9+/]{16,}")
_PPK_END = Lazy(rb"Private-MAC: [0-9a-f]+")


_RSA_XML = r"<(?:D|P|Q|DP|DQ|InverseQ)>([A-Za-z0-9+/=\s]{40,})</"
_ENCODED_PEM = r"\bLS0tLS1CRUdJTi[A-Za-z0-9+/_-]{30,}={0,2}"


def private_keys(scan: Scan) -> Iterator[Span]:
    """PEM, OpenSSH, PGP and PuTTY private keys; indented, quoted, escaped, encoded once more, or cut off before their end."""
    data = scan.data
    if b"LS0tLS1CRUdJTi" in data:
        for ((first, last),) in scan.everywhere(_ENCODED_PEM):
            # Of `_-` for `/+` it is enough to know that they are no padding: the words that are looked for have neither.
            head = data[first : first + min(64, last - first & ~3)].translate(bytes.maketrans(b"-_", b"+/"))
            if b"PRIVATE KEY" in b64decode(head):
                yield Span(first, last, "private-key", 0)
    if b"RSAKeyValue" in data:
        for _, (first, last) in scan.everywhere(_RSA_XML):
            yield Span(first, last, "private-key", 0)
    done = 0
    for (start, body), _ in scan.everywhere(_PEM):
        if start < done:
            continue
        if data.startswith(b"PuTTY", start):
            close = _PPK_END.search(data, body, body + 16384)
            if close and BARRIER not in data[start : close.end()]:
                done = close.end()
                yield Span(start, done, "private-key", 0)
            continue
        dashes = data.find(b"-----", body) if not data.startswith(b"----", body) else body
        stop = len(data) if dashes < 0 else dashes
        barrier = data.find(BARRIER, body, stop)
        if barrier >= 0:
            stop = barrier
        if dashes >= 0 and stop == dashes and data.startswith(b"-----END", dashes):
            tail = data.find(b"-----", dashes + 8, dashes + 80)
            end = tail + 5 if tail >= 0 and BARRIER not in data[dashes:tail] else dashes + 8
            if _PEM_LINE.search(data, body, stop):
                done = end
                yield Span(start, end, "private-key", 0)
            continue
        if stop - body < 16:
            continue
        # Cut off: as far as it goes on looking like a key.
        end = _end_of_key(data, body, stop)
        if end > body:
            done = end
            yield Span(start, end, "private-key", 0)


def _end_of_key(data: bytes, start: int, stop: int) -> int:
    end = at = start
    while at < stop:
        newline = data.find(b"\n", at, stop)
        line_end = stop if newline < 0 else newline
        line = data[at:line_end]
        bare = line.strip(b" \t\r>|#*+\"',")
        if (
            bare
            and not rx(rb"[A-Za-z0-9+/=\\]+(?:\.{3})?").fullmatch(bare)
            and not rx(rb"[A-Z][A-Za-z0-9-]{2,20}: ").match(bare)
        ):
            run = rx(rb"[ \t>|#*+\"',]*(?:[A-Za-z0-9+/=]|\\[nr])*").match(line)
            if run and len(run.group()) >= 16 and _PEM_LINE.search(run.group()):
                end = at + run.end()
            break
        if bare:
            if (
                at > start
                and len(bare) < 16
                and not bare.endswith(b"=")
                and not rx(rb"[A-Z][A-Za-z0-9-]{2,20}: ").match(bare)
                and newline >= 0
                and end > start
            ):
                break  # a short line in the middle is the text after the key
            end = at + len(line.rstrip())
        at = line_end + 1
    return end if _PEM_LINE.search(data, start, end) else start


# --- URLs and connection strings ----------------------------------------------------------------------------------------

_SCHEME, _AFTER_SCHEME = (
    r"(?i)[a-z][a-z0-9+.-]{1,24}",
    r"://([^\s/?#:@\"'`<>\x01]*):([^\s\"'`<>\x01]+?)@(?:[a-z0-9$\[{(_%*-])",
)
_URL = r"(?i)[a-z][a-z0-9+.-]*[a-z0-9+.-]" + _AFTER_SCHEME
_REST_OF_URL = Lazy(rb"[^\s\"'`<>\x01?#/,;]*")
_URL_USER_TOKEN = r"(?i)https?://([a-z0-9_-]{20,})(?::x-oauth-basic)?@[a-z0-9]"
_QUERY = (
    r"(?i)[?&;#](?:[a-z0-9_.-]{0,30}(?:token|secret|passw(?:or)?d|pwd|api[_-]?key|apikey|access[_-]?key|signature|sig|auth|code_verifier"
    r"|client_secret|session|sessionid|credential|jwt|password|x-amz-signature|x-amz-security-token|x-goog-signature)|key|sid|sas|pass|hapikey|appid|code)="
    r"([^\s&#\"'`<>\x01]{6,})"
)


def urls(scan: Scan) -> Iterator[Span]:
    """The password in `scheme://user:password@host`, a token as its user, and secret query parameters."""
    data = scan.data
    if b"://" in data and b"@" in data:
        for found in _with_passwords(scan):
            start, end = found.span(2)
            # The last @ before the path ends the password: p@ss@host.
            rest = _REST_OF_URL.match(data, end, end + 256)
            more = data.rfind(b"@", end + 1, rest.end() if rest else end)
            if more > end:
                end = more
            value = data[start:end]
            if value.startswith(b"//") or not _is_url_password(value, data[found.start(1) : found.end(1)]):
                continue
            yield Span(start, end, "url-password", 1)
        for found in scan.find(_URL_USER_TOKEN):
            if is_random(found.group(1), 20):
                yield Span(*found.span(1), "url-password", 1)
    if b"=" in data and (b"?" in data or b"&" in data):
        for (first, _), (start, end) in scan.spans(_QUERY):
            trimmed = data[start:end].rstrip(b".,;:)]}\\|")
            name = data[first + 1 : start - 1]
            if name.lower() == b"code" and (len(trimmed) < 20 or classes(trimmed) < 3):
                continue  # of a voucher, a country, an error
            if (
                b"%" in trimmed
                and not is_placeholder(trimmed)
                and len(trimmed) >= 16
                and not is_reference(trimmed.replace(b"%", b""))
            ) or (scan.judge(kind_of(name) or "key", trimmed, quoted=True, strict=False) and not is_wordy(trimmed)):
                yield Span(start, start + len(trimmed), "url-token", 2)


def _with_passwords(scan: Scan) -> list[Match]:
    """The URLs with a password. To count the letters of each scheme while searching, re2 needs a state of its own for each
    mixture of letters and digits, and a text full of noise takes it a hundred times as long: they are counted afterwards."""
    data = scan.data
    found = list(scan.find(_URL))
    for match in found:
        end = match.start(1) - 3
        if not has_alpha(data[max(match.start(), end - 25) : end - 1]):  # twenty-four digits before `://`
            return list(pattern(_SCHEME + _AFTER_SCHEME).find(data))
    return found


_NO_URL_PASSWORD = frozenset(
    b"""
    password passwd pwd pass pw secret token x xxx port x-oauth-basic mypassword my_password my-password yourpassword
    dummy sample hidden masked filtered
    """.split()
)


def _is_url_password(value: bytes, user: bytes) -> bool:
    # `test` and `123456` stand for a secret elsewhere; behind a user and before a host they often are one.
    if is_reference(value) or value.lower() in _NO_URL_PASSWORD:
        return False
    if b"/" in value and rx(rb"\d{1,5}/").match(value):
        return False  # host:port/path@something
    if rx(rb"[{}\[\]<>()$]").search(value) and rx(rb"[{\[<($%]").match(value):
        return False
    if set(value) <= {42} or set(value) <= set(b"xX*."):
        return False
    low = value.lower()
    return rx(rb"your|example|placeholder|redacted|changeme|[-_]here$|^__\w+__$|<|\*\*\*|\.\.\.").search(low) is None


_CONNECTION = (
    r"(?i)(?:^|[;\s\"',?&(])(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue|sharedaccesssignature|user password|passwd|access ?key|"
    r"primarykey|secondarykey|authkey|clientsecret|client secret|sastoken|pass|secretkey|secret)[ \t]?=[ \t]?(\"[^\"\n\x01]{4,}\"|'[^'\n\x01]{4,}'|[^;\"'\s\x01]{3,})"
)


def connection_strings(scan: Scan) -> Iterator[Span]:
    """`Server=...;Password=...;`, `AccountKey=...`, libpq's `host=... password=...`."""
    data = scan.data
    if b"=" not in data or not scan.has(b"pwd", b"pass", b"accountkey", b"accesskey", b"secret", b"signature", b"key="):
        return
    if b";" not in data and not scan.has(b"host=", b"user=", b"dbname="):
        return
    for found in scan.find(_CONNECTION, scan.lines_with(*_SELDOM)):
        start, end = found.span(1)
        value = data[start:end]
        if value[:1] in (b'"', b"'"):
            start, end, value = start + 1, end - 1, value[1:-1]
        else:
            value = value.rstrip(b",)")
            inner = value[1:-1]
            if value == b"{%b}" % inner and (is_random(inner, 12) or (has_digit(inner) and has_symbol(inner))):
                start, value = start + 1, inner  # ODBC's way to quote; `{password}` would be filled in
            end = start + len(value)
        around = line_around(data, start)
        if b";" not in around and not rx(rb"(?i)\b(?:host|user|dbname|server|uid)\s?=").search(around):
            continue
        if scan.judge("password", value, quoted=True, strict=False):
            yield Span(start, end, "connection-string", 1)


# --- headers, cookies, command lines --------------------------------------------------------------------------------------

_AUTH = (
    r"(?i)\b(bearer|basic|digest|token|apikey|api-key|negotiate|ssws|key|hmac|genie ?key|bot|oauth|aws4-hmac-sha256|private-token|sharedaccesssignature|awssig|splunk|"
    r"discogs token=|token token=|jwt)[ \t]+(?:[\"'][ \t]*[+.][ \t]*[\"'])?(?:token=|key=)?[\"']?([A-Za-z0-9_.~+/=:%|-]{8,})"
)
_AUTH_HEADER = r"(?i)(?:authorization|x-auth|auth)[\"'\\]{0,2}[ \t]*[:=,][ \t]*[\"'`\\]{0,3}[ \t]*(?:[a-z][a-z0-9_-]*[ \t]+)?([A-Za-z0-9_.~+/=:-]{8,})"
_DIGEST = r"(?i)\b(?:response|nonce|cnonce|oauth_signature|oauth_token|oauth_consumer_key|signature|credential)=[\"']?([A-Za-z0-9+/=%._-]{16,})"
_SCHEMES = frozenset(
    b"bearer basic digest token apikey negotiate ssws oauth hmac bot jwt key aws4-hmac-sha256 geniekey".split()
)


# Asked only where one of these words stands, though it would match without it.
_SCHEME_WORDS = (b"bearer", b"basic", b"digest", b"token ", b"apikey", b"api-key", b"ssws", b"negotiate", b"bot ", b"geniekey", b"splunk",
                 b"jwt ", b"key ", b"oauth ", b"hmac ")  # fmt: skip


def headers(scan: Scan) -> Iterator[Span]:
    """Authorization in its schemes, wherever it is written."""
    data = scan.data
    lines = scan.lines_with(_AUTH, _DIGEST)
    if lines and scan.has(*_SCHEME_WORDS):
        for found in scan.find(_AUTH, lines):
            scheme, value = found.group(1).lower(), found.group(2)
            start = found.start(2)
            if start in scan.taken and scheme != b"bearer":
                continue
            value = value.rstrip(b".,:;|/") if not value.endswith(b"=") else value
            if not value or is_placeholder(value) or is_reference(value):
                continue
            before = data[max(0, found.start() - 32) : found.start()].lower().rpartition(BARRIER)[2]
            in_header = b"authorization" in before or b"auth" in before
            if scheme == b"basic":
                if decodes_to_pair(value) or (in_header and len(value) >= 12 and not is_wordy(value)):
                    yield Span(start, start + len(value), "authorization", 1)
            elif (
                scheme
                in (
                    b"bearer",
                    b"ssws",
                    b"splunk",
                    b"genie key",
                    b"geniekey",
                    b"negotiate",
                )
                or in_header
            ):
                if is_random(value, 10) or (
                    in_header and len(value) >= 8 and has_digit(value) and not is_wordy(value) and not is_code(value)
                ):
                    yield Span(start, start + len(value), "authorization", 1)
            elif (
                scheme in (b"token", b"jwt", b"apikey", b"api-key")
                and is_random(value, 20)
                and classes(value) >= 2
                and not is_uuid(value)
            ):
                if not is_hex(value) or (scheme == b"token" and len(value) >= 32):
                    yield Span(start, start + len(value), "authorization", 2)
    if scan.has(b"authorization", b"x-auth"):
        for found in scan.find(_AUTH_HEADER):
            value = found.group(1).rstrip(b".,:;")
            start = found.start(1)
            if data[found.start() - 1 : found.start()].isalpha():
                continue  # EndpointAuthorization
            if value.lower() in _SCHEMES or is_placeholder(value) or is_reference(value) or is_code(value):
                continue
            if is_random(value, 12) or (
                b":" in value and is_password(value.rpartition(b":")[2], quoted=False) and not is_wordy(value)
            ):
                yield Span(start, start + len(value), "authorization", 1)
    if lines and scan.has(b"digest", b"oauth_", b"signature="):
        for found in scan.find(_DIGEST, lines):
            if is_random(found.group(1), 16) or b"%" in found.group(1):
                line = line_around(data, found.start(1)).lower()
                if b"authorization" in line or b"digest" in line or b"oauth" in line:
                    yield Span(*found.span(1), "authorization", 1)


_COOKIE = r"(?i)\b(?:set-)?cookies?[\"'\\]{0,2}[ \t]*[:=][ \t]*[\"'\\]{0,2}([^\n\x01]{4,})|(?:curl|wget|http)[^\n\x01]*?(?:-b|--cookie)[ =][\"']([^\n\"'\x01]{4,})"
_COOKIE_CALL = (
    r"(?i)cookies?(?:\.set|\.add|\.put)?\([ \t]*[\"']([\w.-]+)[\"'][ \t]*,[ \t]*[\"']([^\s\"';,\x01]{16,})[\"']"
)
_COOKIE_JAR = r"(?m)^(?:#HttpOnly_)?[\w.-]+\t(?:TRUE|FALSE)\t[^\s\x01]+\t(?:TRUE|FALSE)\t[0-9]+\t([^\s\x01]+)\t([^\s\x01]{8,})\r?$"
_COOKIE_PAIR = Lazy(rb"([A-Za-z0-9_.$!%*~|`-]{1,64})(?:=(\"?)|[\"'][ \t]*:[ \t]*[\"'])([^;,\s\"'\x01\\]{6,})")
_LONG_VALUE = Lazy(rb"[^;,\s\"'\x01\\]{20}")
_COOKIE_ATTRIBUTES = frozenset(
    b"path domain expires max-age samesite version priority lang locale theme tz timezone _ga _gid currency country consent".split()
)


_SESSION = Lazy(rb"(?i)sess|sid|auth|token|jwt|csrf|xsrf|secret|remember|login|user|key|pass|ssid|connect")


def _kept_cookies(scan: Scan, source: str) -> Iterator[Span]:
    """`cookies.set("session", "...")`, and the lines of a cookie jar."""
    data = scan.data
    for _, (a, b), (start, end) in scan.everywhere(source):
        value = data[start:end]
        if is_reference(value) or is_code(value) or data[a:b].lower() in _COOKIE_ATTRIBUTES:
            continue
        if is_random(value, 16 if _SESSION.search(data, a, b) else 24):
            yield Span(start, end, "cookie", 1)


def cookies(scan: Scan) -> Iterator[Span]:
    """Values of Cookie and Set-Cookie that identify a session."""
    data = scan.data
    if b"\tTRUE\t" in data or b"\tFALSE\t" in data:
        yield from _kept_cookies(scan, _COOKIE_JAR)
    if not scan.has(b"cookie", b" -b "):
        return
    if scan.has(b"cookie(", b"cookies(", b"cookies."):
        yield from _kept_cookies(scan, _COOKIE_CALL)
    for ((first, last),) in scan.outlines(_COOKIE):
        if not has_digit(data[first:last]) and _LONG_VALUE.search(data, first, last) is None:
            continue  # no value in it could be a session's
        found = pattern(_COOKIE).at(data, first)
        assert found is not None
        start, end = found.span(1 if found.start(1) >= 0 else 2)
        if data.find(b"=", start, end) < 0 and data.find(b":", start, end) < 0:
            continue
        for pair in _COOKIE_PAIR.finditer(data, start, end):
            name, value = pair.group(1), pair.group(3)
            if name.lower() in _COOKIE_ATTRIBUTES or is_placeholder(value) or is_reference(value) or is_code(value):
                continue
            session = _SESSION.search(name) is not None
            plain = value.replace(b"%3A", b":").replace(b"%2B", b"+").replace(b"%2F", b"/").replace(b"%3D", b"=")
            if (session and len(value) >= 8 and has_digit(value) and not is_wordy(value)) or is_random(plain, 20):
                yield Span(pair.start(3), pair.end(3), "cookie", 1)


_FLAG = (
    r"(?i)(?:^|[\s\"'`(\[,])--?([a-z0-9_.-]{0,40}(?:passw(?:or)?d|passphrase|pass|pwd|token|secret|api-?_?key|access-?_?key|secret-?_?key|auth-?_?key|auth|"
    r"credentials?|pin|private-?_?key|licen[cs]e-?_?key|account-?_?key|sas|storepass|keypass|client-?_?secret|otp|passin|passout|[a-z]+-key)[a-z0-9-]{0,12})(?:[ \t]*[=:][ \t]*|[ \t]+|[\"'],?[ \t]*[\"'])"
)
_SHORT_FLAGS = (
    (r"(?i)\bsshpass[ \t]+-p[ \t]*(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01]+))", "sshpass"),
    (r"(?i)\b(?:mysql|mysqldump|mysqladmin|mariadb|mycli)\b[^\n|\x01]*?[ \t]-p(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "mysql mariadb mycli"),
    (r"(?i)\b(?:docker|podman|helm|az|oc|npm|nerdctl|crane|skopeo|ldapsearch|ldapadd|mongo|mongosh|mongodump|redis-cli|sqlcmd|bcp|psql|smbclient|rdesktop|xfreerdp|"
     r"ansible-vault|security|osql|isql|cypher-shell|keepassxc-cli|altool|certutil|signtool|buildah|wget|nmcli|mosquitto_pub|mosquitto_sub|zip|7z|unzip|expect|lftp|ftp|sqlplus|keytool|snowsql|clickhouse-client|influx|cqlsh|impacket-\w+|evil-winrm|crackmapexec)\b"
     r"[^\n|\x01]*?[ \t](?:-p|-w|-a|-P|/p:|-pass)[ \t]?(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "%-p %-w %-a /p:"),
    (r"(?i)[ \t](?:-u|--user|--auth|--proxy-user|-U|--userpwd|--login)[ \t=]*[\"']?[^\s:%\"'\x01/]{1,80}[:%]([^\s\"'\x01]{3,})()()", "-u --user --auth --proxy-user --login"),
    (r"(?i)\b(?:openssl)\b[^\n\x01]*?(?:pass:)([^\s\"'\x01]{3,})()()", "pass:"),
    (r"(?i)\bidentified[ \t]+(?:with[ \t]+[\w.'\"]+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'`;,()\x01]{4,}))", "identified"),
    (r"(?i)\bpassword[ \t]+(?:=[ \t]*)?E?'([^'\n\x01]{3,})'()()", "password"),
    (r"(?i)\b(?:login|user(?:name)?|machine[ \t]+[^\s\x01]+)[ \t\r\n]+[^\s\x01]+[ \t\r\n]+pass(?:word|wd)?[ \t]+([^\s\"'\x01]{3,})()()", "login user machine"),
    (r"(?i)\b(?:requirepass|masterauth)[ \t]+\"?([^\s\"\x01]{3,})()()", "requirepass masterauth"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"'|\x01]{4,})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S|(?:docker|podman|nerdctl|helm|oc|az|cf|npm|vault|heroku|wandb|doctl|flyctl)[ \t]+(?:[\w-]+[ \t]+){0,2}[\w:-]*login|(?:sudo[ \t]+)?(?:ch)?passwd|gh[ \t]+auth|kinit|cryptsetup|su\b)()()", "echo printf"),
    (r"(?i)(?:ConvertTo-SecureString|PSCredential|NetworkCredential)[^\n\x01]{0,80}?[\"']([^\"'\n\x01]{4,})[\"'](?:[ \t]+-AsPlainText|[ \t]*\))()()", "securestring credential"),
    (r"(?i)\b(?:usermod|useradd|chpasswd|htpasswd)\b[^\n\x01]*?(?:-p|-[a-zA-Z]*b[a-zA-Z]*[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+)[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "usermod useradd chpasswd htpasswd"),
    (r"(?i)\b(?:auth|credentials?|login|basic_?auth|HTTPBasicAuth|authenticate|connect|sign_?in|creds)[ \t]*(?:=[ \t]*)?[\[(][ \t]*[\"'][^\"'\n\x01]+[\"'][ \t]*,[ \t]*[\"']([^\"'\n\x01]{4,})[\"']()()", "auth cred login connect sign"),
    (r"(?i)\bopenssl[ \t]+enc\b[^\n\x01]*?[ \t]-k[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "openssl"),
    (r"(?i)\b(?:rabbitmqctl|rabbitmqadmin)\b[^\n\x01]*?(?:add_user|change_password)[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "rabbitmq"),
    (r"(?i)\bsnmp-server[ \t]+community[ \t]+([^\s\"'\x01]{4,})()()", "snmp-server"),
    (r"(?i)\b(?:sqlplus|expdp|impdp|sqlldr|rman)[ \t]+(?:-\w+[ \t]+)*[\"']?[\w$#]+/([^\s\"'@/\x01]{4,})@()()", "sqlplus expdp impdp sqlldr"),
    (r"(?i)\b(?:hmac\.new\(|AES\.new\(|Fernet\(|create(?:Hmac|Cipheriv|Decipheriv)\([^,\n\x01]{1,40},|AES\.(?:en|de)crypt\([^,\n\x01]{1,60},|SecretKeySpec\(|Mac::new_from_slice\(|\bkey[ \t]*=[ \t]*(?:bytes\.fromhex|bytearray\.fromhex|(?:binascii\.)?unhexlify)\()[ \t]*[rbu]?[\"']([^\"'\n\x01]{8,})[\"']()()", "hmac aes fernet cipher fromhex unhexlify"),
    (r"(?i)\bssh-keygen\b[^\n\x01]*?[ \t]-N[ \t]*[\"']?([^\s\"'\x01]{4,})()()", "keygen"),
    (r"(?i)\boracle:(?:thin|oci):[\w$#]+/([^\s\"'@/\x01]{4,})@()()", "thin: oci:"),
    (r"(?i)\bjwt\w*\.(?:encode|sign|decode|verify)\w*\([^\n\x01]{1,100}?,[ \t]*b?[\"']([^\"'\n\x01]{6,})[\"'][ \t]*[,)]()()", "jwt"),
    (r"(?i)passw(?:or)?d[^\n\x01]{0,40}?\.(?:send_?keys|type|fill|set_?value|val|input|enter_?text|typeText|press_?keys|set_?text)\([ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", "passw"),
    (r"(?i)basic_?auth(?:entication|orization)?[ \t]*\(?[ \t]*[\"'][^\"'\n\x01]+[\"'][ \t]*,[ \t]*(?:Some\()?[\"']([^\"'\n\x01]{4,})[\"']()()", "basic"),
    (r"[\"']([^\"'\n\x01]{5,})[\"']\.(?:toCharArray|getBytes)\(()()", "tochararray getbytes"),
    (r"(?i)\b(?:password|secret|key)[ \t]+[05789][ \t]+([^\s\"'\x01]{6,})()()", "password%7 secret%5 secret%9 secret%8 key%7 password%0 password%5 password%8 secret%0"),
    (r"(?i)\bauth-user-pass[ \t]*\r?\n[^\s\x01]+\r?\n([^\s\x01]{5,})()()", "auth-user-pass"),
    (r"(?i)\blftp\b[^\n\x01]*?[ \t]-u[ \t]+[^\s,\x01]+,([^\s\"'\x01]{4,})()()", "lftp"),
    (r"(?i)\bWIFI:(?:[A-Z]:[^;\n\x01]*;)*P:([^;\n\x01]{4,});()()", "wifi:"),
    (r"(?i)\bmc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{8,})()()", "alias%set host%add"),
    (r"(?i)(?:github|gitlab|bitbucket)-(?:oauth|token)[\"'][ \t]*:[ \t]*\{[ \t]*[\"'][\w.-]+[\"'][ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,})[\"']()()", "-oauth hub-token lab-token bucket-token"),
    (r"(?i)[\"']user(?:name)?[\"'][ \t]*:[ \t]*[\"'][^\"'\n\x01]{1,64}[\"'][ \t]*,[ \t]*[\"']key[\"'][ \t]*:[ \t]*[\"']([A-Za-z0-9+/=_-]{16,})[\"']()()", "\"key\" 'key'"),
    (r"(?i)\blogin[ \t]+(?:--relogin[ \t]+)?([0-9a-f]{32,})(?:[^\w-]|$)()()", "login"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-[ne]+[ \t]+)?(?:[\"']%s(?:\\n)?[\"'][ \t]+)?[\"']([^\s\"'|\\\x01]{4,})[^\n|\x01]{0,60}\|[ \t]*(?:sudo[ \t]+(?:-S|passwd|chpasswd)|passwd|chpasswd|kinit|cryptsetup|su\b)()()", "echo printf"),
    (r"(?i)[ \t](?:-[uUD]|--?user(?:name)?|/u|/user|/ru)(?:[ \t]+|[=:])[^\s\x01-][^\s\x01]*[ \t][^\n|\x01]*?(?:-[pPw]|/p|/rp)[ \t:]+[\"']?([^\s\"'\x01/-][^\s\"'\x01]{4,})()()", "%-p%%-w% %-p %-w /rp% /p%"),
    (r"(?i)passw(?:or)?d[\"']?[ \t]*,?[ \t]*with:?[ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", "with%\" with%' with:"),
    (r"(?i)\bwpa_passphrase[ \t]+(?:\"[^\"\n\x01]+\"|[^\s\x01]+)[ \t]+[\"']?([^\s\"'\x01]{8,63})()()", "wpa_passphrase"),
    (r"(?i)\b(?:sudo[ \t]+-S|kinit|cryptsetup|passwd|chpasswd|su|docker|podman|gh|vault|doas)\b[^\n<\x01]*<<<[ \t]*[\"']?([^\s\"'\x01]{4,})()()", "<<<"),
    (r"(?i)(?:pass(?:word|wd|phrase)?|token|secret|key|cred)[\w-]*[ \t=]+<\([ \t]*(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"')\x01]{4,})()()", "<(echo <(printf"),
    (r"(?i)\brootpw[ \t]+(?:--(?:plaintext|allow-ssh|lock)[ \t]+)*[\"']?([^\s\"'\x01-][^\s\"'\x01]{4,})()()", "rootpw"),
    (r"(?i)\bd-i[ \t][^\n\x01]*passw(?:or)?d(?:-again)?[ \t]+(?:password|string)[ \t]+([^\s\"'\x01]{5,})()()", "d-i%"),
    (r"(?i)\bconnect\([ \t]*[\"'][\w$#]+/([^\s\"'@/\x01]{4,})@()()", "connect(\" connect('"),
    (r"(?i)\bacl[ \t]+setuser[ \t][^\n\x01]*?[ \t]>([^\s\"'\x01]{4,})()()", "setuser"),
    (r"(?m)^(?:[\w.:-]*>[ \t]*)?(?:HELLO[ \t]+[0-9][ \t]+)?AUTH[ \t]+(?:[\w.@-]+[ \t]+)?([^\s\"'\x01]{6,})\r?$()()", "auth%"),
    (r"(?m)^(?:[A-Za-z]?[0-9.]{1,6}[ \t]+)LOGIN[ \t]+[^\s\x01]+[ \t]+([^\s\"'\x01]{6,})\r?$()()", "login%"),
    (r"(?i)\b(?:smbclient|rpcclient|smbmap|smbget)\b[^\n|\x01]*?[ \t]-U[ \t=]*[\"']?[^\s%\"'\x01]+%([^\s\"'\x01]{4,})()()", "smbclient rpcclient smbmap smbget"),
    (r"\bsnmp(?:get|set|walk|bulkget|bulkwalk|getnext|inform|trap|table)\b[^\n|\x01]*?[ \t]-[AX][ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{5,})()()", "snmpget snmpset snmpwalk snmpbulk snmptable snmptrap"),
    (r"(?i)\b(?:unrar|rar|arj|twine|httpie|https?)(?:[ \t][^\n|\x01]*?)?[ \t]-(?:a[ \t]+[^\s:\x01]+:|hp|p)[ \t]?[\"']?([^\s\"'\x01/-][^\s\"'\x01]{3,})()()", "unrar rar%x twine http%-a https%-a"),
    (r"(?i)\b(?:cargo|gh|glab|snyk|fly|flyctl|railway|netlify|heroku|doctl|wandb|huggingface-cli|vercel|terraform|pulumi|codecov|vault)\b[^\n|\x01]*?(?:\blogin|\bauth|[ \t]-t|--?token|<<<)[ \t]+[\"']?([A-Za-z0-9][A-Za-z0-9_.+/=-]{15,})()()", "cargo%login gh%auth glab%auth snyk%auth fly%auth doctl wandb%login huggingface-cli codecov terraform%login pulumi%login vault%login"),
    (r"(?i)[\w.$-]{1,64}:([^\s\"'@:/\x01]{3,64})@(?:tcp|unix|udp)\(()()", "@tcp( @unix( @udp("),
    (r"(?i)\bsp_(?:addlogin|password|addlinkedsrvlogin)\b[^\n\x01]*?,[ \t]*N?'([^'\n\x01]{4,})'()()", "sp_addlogin sp_password sp_addlinkedsrvlogin"),
    (r"(?i)\b(?:bcrypt\.\w+|hashpw|make_password|check_password(?:_hash)?|verify_password|hash_password|generate_password_hash|password_hash|password_verify)\([^\"'\n\x01]{0,30}b?[\"']([^\"'\n\x01]{5,})[\"']()()", "bcrypt. hashpw make_password check_password verify_password hash_password password_hash password_verify"),
    (r"(?i)[\"']([^\"'\s\x01]{5,})[\"'][^\"'\n\x01]{0,12}?(?://|#|/\*|--)[ \t]*(?:\w+[ \t]+){0,3}(?:password|passwd|pwd|passphrase)(?:[ \t.]|\r?$)()()", "//%pass #%pass /*%pass --%pass"),
    (r"(?i)\b(?:psexec|plink|pscp|psftp)(?:64)?(?:\.exe)?\b[^\n|\x01]*?[ \t]-(?:pw|p)[ \t]+(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01%$-][^\s\"'\x01]*))", "psexec plink pscp psftp"),
    (r"(?i)\bsend(?:_user)?[ \t]+(?:--[ \t]+)?[\"']([^\"'\n\x01$]{5,})\\[rn][\"']()()", "send%\" send%' send%--"),
    (r"(?i)[\"']([^\"'\n\x01]{5,})[\"']\.equals(?:IgnoreCase)?\([ \t]*(?:\w*\.)*\w*(?:passw(?:or)?d|pwd|pass)\b()()", ".equals"),
    (r"(?i)\bhttp_basic(?:_authenticate_with)?\b[^\n\x01]{0,40}?[\"'][^\"'\n\x01]+[\"'][ \t]*,[^\n\x01\"']{0,20}[\"']([^\"'\n\x01]{4,})[\"']()()", "http_basic"),
    (r"(?i)\benable[ \t]+(?:secret|password)[ \t]+(?:level[ \t]+[0-9]+[ \t]+)?(?:[05789][ \t]+)?([^\s\"'\x01]{5,})()()", "enable%secret enable%password"),
    (r"(?i)\bnickserv\b[^\n\x01]{0,20}?identify[ \t]+(?:[\w-]+[ \t]+)?([^\s\"'\x01]{5,})()()", "nickserv"),
    (r"(?i)[ \t]/(?:password|passwd|pwd|pass|rp)[: ][\"']?([^\s\"'\x01*%$/]{4,})()()", "/password /passwd /pwd /pass /rp"),
    (r"(?i)\bconfig[ \t]+(?:--?\w+[ \t]+)*http-basic\.[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "http-basic"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"'|\x01]{8,})[\"']?[ \t]*>{1,2}[ \t]*[^\s\x01]*(?:token|secret|key|passw(?:or)?d|credentials?)(?:\.txt)?(?:[\s\"'&;)]|$)()()", "printf echo"),
    (r"(?i)\baccounts[ \t]*:[ \t]*\[[ \t\r\n]*[\"'`](?:0x)?([0-9a-f]{64})[\"'`]()()", "accounts:"),
    (r"(?i)\b(?:mysqli|mysqli_connect|mysql_connect|real_connect|PDO)\([ \t]*(?:(?:[\w.$>-]+|\"[^\"\n\x01]*\"|'[^'\n\x01]*')[ \t]*,[ \t]*){2}[\"']([^\"'\n\x01]{5,})[\"']()()", "mysqli( mysqli_connect( mysql_connect( real_connect( pdo("),
    (r"(?i)[\"']([^\"'\n\x01]{4,})[\"'][ \t]*\|[ \t]*ConvertTo-SecureString()()", "securestring"),
    (r"(?i)\b(?:tacacs-server[ \t]+(?:host[ \t]+[^\s\x01]+[ \t]+)?key|isakmp[ \t]+key|key-string|auth_pass|message-digest-key[ \t]+[0-9]+[ \t]+md5)[ \t]+(?:[0-9][ \t]+)?([^\s\"'\x01=:]{5,64})()()", "tacacs-server isakmp%key key-string auth_pass message-digest-key"),
    (r"(?i)\boption[ \t]+(?:key|password|psk)[ \t]+[\"']([^\"'\n\x01]{8,63})[\"']()()", "option%key option%password option%psk"),
    (r"(?i)\([ \t]*[\"']([^\"'\n\x01]{5,})[\"'][ \t]*,[ \t]*forKey:[ \t]*[\"'][\w.-]*(?:passw(?:or)?d|pwd|token|secret|pin|passcode)[\"']()()", "forkey:"),
    (r"(?i)\b(?:cookieParser\(|openssl_(?:en|de)crypt\([^,\n\x01]{1,60},[^,\n\x01]{1,40},)[ \t]*[\"']([^\"'\n\x01]{6,})[\"']()()", "cookieparser( openssl_encrypt openssl_decrypt"),
    (r"(?i)\bsecrets?[ \t]+set[ \t][^\n|\x01]*?(?:--body|-b)[ =][\"']?([^\s\"'\x01]{6,})()()", "secret%set secrets%set"),
    (r"(?i)\bconfig[ \t]+set[ \t]+(?:--?\w+[ \t]+)*--secret[ \t]+[^\s\x01-][^\s\x01]*[ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{4,})()()", "--secret"),
    (r"(?i)\bnet[ \t]+(?:user|use)[ \t]+(?:[a-z]:[ \t]+)?[^\s\x01]+[ \t]+(?:/user:[^\s\x01]+[ \t]+)?([^\s/\"'\x01]{4,64})()()", "net%use"),
)  # fmt: skip


# Asked only where one of their words stands, though they would match without it.
_CALLS = (r"(?i)(?:connect|PDO|getConnection|create_?user|createConnection|mysqli|WiFi\.begin|login|authenticate|create_superuser|set_password|Credentials?|basic_auth|sign_?in|DirectoryEntry|Sequelize|username_pw_set|smtp\.Auth|Credentials\.basic|ldap_bind|simple_bind(?:_s)?)[ \t]*\([ \t]*(?:(?:[\w.$@-]+|[\"'][^\"'\n\x01]*[\"'])[ \t]*,[ \t]*){1,3}[\"']([^\"'\n\x01]{5,})[\"']()()", "connect pdo( user( mysqli begin( login( auth credential sign directoryentry _bind sequelize pw_set")  # fmt: skip
_CLIENTS = (r"(?i)(?:client|session|api|auth|login|configure|init|connect|algoliasearch)\w*(?:\.new|::new)?\([^)\n\x01]{0,80}?(?:[\"'][^\"'\n\x01]{2,60}[\"'][ \t]*,[ \t]*|\b(?:api_?)?key[ \t]*[=:][ \t]*)[\"']([0-9a-f]{32,64})[\"']()()", "client session api auth login configure init( connect algoliasearch")  # fmt: skip


# A name and its value with nothing but white space between them, after a word that gives one to the other.
_GIVES = (
    r"(?im)(?:^[ \t]*(?:ENV|ARG|setx|setenv|set(?:[ \t]+-[a-z]+)*)|\b(?:config(?:ure)?|secrets?|env|vars?|variables?)(?:[ \t:]+(?:set|add|put|create))?|\bconfig:set)[ \t]+"
    r"(?:--?[a-z][\w-]*[ \t]+)*[\"']?([a-z/@][\w./:@-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|auth|pat))[\"']?[ \t]+[\"']?([^\s\"'\x01=-][^\s\"'\x01]{7,})"
)


_NAMED_FLAGS = (
    r"(?i)[ \t]--?(?:name|key|secret-id|secret-name|variable|parameter)[ \t=]+[\"']?([\w./-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|pat))[\"']?[ \t][^\n|\x01]*?"
    r"--?(?:value|secret-string|secret-value|body|data|string-value)[ \t=]+[\"']?([^\s\"'\x01{-][^\s\"'\x01]{5,})"
)


def given(scan: Scan) -> Iterator[Span]:
    """`ENV API_KEY X`, `set -gx TOKEN X`, `npm config set //registry/:_authToken X`, `--name /prod/db_password --value X`."""
    data = scan.data
    lines = scan.lines_with(*_SELDOM)
    for _, (a, b), (start, end) in (*scan.spans(_GIVES, lines), *scan.spans(_NAMED_FLAGS, lines)):
        kind = kind_of(data[a:b].rpartition(b"/")[2])
        word = data[start:end]
        if kind is None or start in scan.taken or not has_digit(word) or is_reference(word) or is_path(word):
            continue
        if data[a:b] == b"user.signingkey":
            continue  # which key git signs with
        if scan.judge(kind, word.removeprefix(b"base64:"), quoted=True, strict=True):
            yield Span(start, end, family_of(kind), 2)


def flags(scan: Scan) -> Iterator[Span]:
    """What is passed on a command line under its name: `--token X`."""
    data = scan.data
    if b" -" in data or b"\n-" in data or b"'-" in data or b'"-' in data or data.startswith(b"-"):
        for found in scan.find(_FLAG):
            name = found.group(1)
            kind = kind_of(name)
            if kind is None:
                continue
            value = value_at(data, found.end())
            if value is None:
                continue
            start, end, quoted = value
            word = data[start:end]
            if word.startswith(b"-") or word.startswith(b"/") or is_reference(word) or is_code(word):
                continue
            if scan.judge(
                kind,
                word,
                quoted=True if kind == "password" and (has_digit(word) or is_scrambled(word)) else quoted,
                strict=kind != "password",
            ):
                yield Span(start, end, family_of(kind), 2)


def commands(scan: Scan) -> Iterator[Span]:
    """What is passed on a command line without a name: `mysql -pX`, `curl -u user:X`, and its relatives in SQL and .netrc."""
    data, low = scan.data, scan.low
    asked: list[_Asked] | None = scan.kept.get("flags")
    if asked is None:
        asked = _asked(low)
    else:  # the word may have been blanked; in a match that it is part of, nobody has to ask
        asked = [row for row in asked if row[2] is not None or any(map(low.__contains__, _gate(row[1])))]
    scan.kept["flags"] = asked
    if seldom := scan.lines_with(*_SELDOM):
        if everyday := scan.lines_with(*_EVERYDAY):
            asked = asked + [(*row, everyday) for row in _everyday()]
        if scan.has(*_gate(_CALLS[1])):
            asked = [*asked, (*_CALLS, seldom)]
        if scan.longest >= 34 and scan.has(*_gate(_CLIENTS[1])):
            asked = [*asked, (*_CLIENTS, seldom)]
    for source, words, lines in asked:
        hits = 0
        for spans in scan.everywhere(source) if words in _FROM_LINE_TO_LINE else scan.spans(source, lines):
            found = Match(data, spans)
            start, end = next(
                (span for span in (found.span(1), found.span(2), found.span(3)) if span[1] > span[0] >= 0),
                (0, 0),
            )
            word = data[start:end].rstrip(b";,)|")
            if hits > CROWD and has_digit(word) and has_alpha(word):
                yield Span(start, start + len(word), "password", 1)  # one of hundreds: a dump
                continue
            if words in ("auth%", "login%") and not (has_digit(word) and has_alpha(word)):
                continue
            if words.startswith("login") and rx(rb"\s(?:and|or|with|the|your)\s").search(data, *found.span()):
                continue
            if words.startswith("password%7") and not has_digit(word):
                continue  # `password 8 characters long`
            if words.startswith("-u") and rx(rb"\d+|[\w.-]+/.*|:.*|latest|\d+(?:\.\d+)+.*|\d+-[a-z]+").fullmatch(word):
                continue  # docker run -u 1000:1000, image:tag
            if words.startswith("%-p%%") and not (
                has_digit(word) and has_alpha(word) and not rx(rb"[\w.-]*[:/=].*|v?[0-9.]+[a-z]{0,4}").fullmatch(word)
            ):
                continue  # a port, a volume, a version
            if words.startswith("printf") and not (
                is_uuid(word) or (is_random(max(rx(rb"[-_.]").split(word), key=len), 12) and has_digit(word))
            ):
                continue  # written into a file that is named for it
            if words.startswith("identified") and found.start(3) >= 0:
                if not has_digit(word) or not data[found.start() : start].lower().rstrip().endswith(b"by"):
                    continue  # `identified by the`, `identified as v2`
            if words.startswith(("enable", "option")) and not has_digit(word) and not has_symbol(word):
                continue  # `enable secret rotation`
            if words.startswith("send") and b"assw" not in low[max(0, start - 90) : end + 40]:
                continue
            if words.startswith(("jwt", "tochar")) and (
                rx(rb"[HREP]S\d{3}|[\w-]+").fullmatch(word) and not has_digit(word[3:])
            ):
                continue
            if words.startswith("tochar") and not rx(rb"(?i)pass|key|secret|store|pin").search(
                line_around(data, start)
            ):
                continue
            if rx(rb"\d+:\d+").fullmatch(word) or (
                words.startswith("connect")
                and not (has_digit(word) and has_alpha(word) and not is_path(word))
                and low[found.start() : found.start() + 11] != b"wifi.begin("
            ):
                continue
            if scan.recall("flag", word, _is_flag_value):
                hits += 1
                yield Span(start, start + len(word), "password", 1)


_WORD_ELSEWHERE = (
    "%-p",
    "hmac",
    "password%7",
    "net%use",
    "sqlplus",
    "alias%set",
)  # the word need not stand in the match
_FROM_LINE_TO_LINE = ("login user machine", "auth-user-pass")


# Rows with words of every day that their patterns ask for anyhow: one pass says in which lines any of them matches. For all others
# one pass says which of their words occur.
_COMMON_GATES = frozenset("password login user machine auth cred connect sign -u passw basic".split())
_EVERYDAY = tuple(source for source, words in _SHORT_FLAGS if not _COMMON_GATES.isdisjoint(words.split()))
_SELDOM = (*_EVERYDAY, _CALLS[0], _CLIENTS[0], _CONNECTION, _GIVES, _NAMED_FLAGS)  # most texts have none of them
_RARE = "|".join(
    sorted(
        rf"\Q{word.replace('%', ' ')}\E"
        for _, words in _SHORT_FLAGS
        for word in words.split()
        if _COMMON_GATES.isdisjoint(words.split())
    )
)


@cache
def _everyday() -> list[tuple[str, str]]:
    return [row for row in _SHORT_FLAGS if not _COMMON_GATES.isdisjoint(row[1].split())]


@cache
def _others() -> list[tuple[str, str]]:
    return [row for row in _SHORT_FLAGS if _COMMON_GATES.isdisjoint(row[1].split())]


@cache
def _rare_words() -> dict[int, list[tuple[bytes, list[int]]]]:
    """By their first letter, each with the rows that it calls for."""
    rows: dict[bytes, list[int]] = {}
    for number, (_, words) in enumerate(_others()):
        for word in _gate(words):
            rows.setdefault(word, []).append(number)
    found: dict[int, list[tuple[bytes, list[int]]]] = {}
    for word, numbers in rows.items():
        found.setdefault(word[0], []).append((word, numbers))
    return found


@cache
def _gate(words: str) -> tuple[bytes, ...]:
    return tuple(word.replace("%", " ").encode() for word in words.split())


def _asked(low: bytes) -> list[_Asked]:
    """Those of the other rows that may match, because one of their words occurs, and the lines in which it does."""
    lines: dict[int, set[tuple[int, int]]] = {}
    for hits, ((at, _),) in enumerate(outline(_RARE).spans(low, overlapping=True)):
        if hits > 20:  # too many to count: each is asked by itself
            return [(*row, None) for row in _others() if any(word in low for word in _gate(row[1]))]
        end = low.find(b"\n", at)
        line = max(0, low.rfind(b"\n", 0, at)), len(low) if end < 0 else end + 1
        for word, numbers in _rare_words()[low[at]]:
            if low.startswith(word, at):
                for number in numbers:
                    lines.setdefault(number, set()).add(line)
    rows: list[_Asked] = []
    for number in sorted(lines):
        source, words = _others()[number]
        rows.append((source, words, None if words.startswith(_WORD_ELSEWHERE) else sorted(lines[number])))
    return rows


def _is_flag_value(word: bytes) -> bool:
    if (
        is_placeholder(word)
        or is_path(word)
        or (
            is_reference(word)
            and not (
                has_digit(word) and classes(word) >= 3 and not word.startswith((b"$", b"{", b"<", b"%", b"@Microsoft."))
            )
        )
    ):
        return False
    return is_password(word, quoted=True) and not is_code(word)


_JWK = r"[\"']?\b(?:d|p|q|dp|dq|qi|k)[\"']?[ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,})[\"']"
_DOCKER_AUTH = r"\"(?:auth|identitytoken|registrytoken)\"[ \t]*:[ \t]*\"([A-Za-z0-9+/=_.-]{8,})\""
_KUBECONFIG = r"(?:client-key-data|client-certificate-key|tls\.key|ssh-privatekey)[\"']?[ \t]*:[ \t]*[\"']?([A-Za-z0-9+/=_.-]{40,})"
_PGPASS = r"(?m)^[\w.*-]{1,80}:(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w*.-]{1,64}:([^\s:\x01]{3,})\r?$"
_HTPASSWD = r"(?m)^[\w.@-]{1,64}:(\{SHA\}[A-Za-z0-9+/=]{20,}|[./A-Za-z0-9]{13})(?::|\r?$)"
_NAMED = (_JWK, _DOCKER_AUTH, _KUBECONFIG, _HTPASSWD)
_K8S_DATA = r"(?m)^[ \t]+[\"']?[\w.-]{1,64}[\"']?:[ \t]+[\"']?([A-Za-z0-9+/]{8,}={0,2})[\"']?[ \t]*\r?$"


def files(scan: Scan) -> Iterator[Span]:
    """Files with a syntax of their own: JWK, docker config, kubeconfig, .pgpass, .htpasswd, Kubernetes secrets, AWS credentials."""
    data, low = scan.data, scan.low
    if lines := scan.lines_with(*_NAMED, _PGPASS):
        yield from _named_files(scan)
        for _, (start, end) in scan.spans(_PGPASS, lines):
            value = data[start:end]
            if (
                not is_placeholder(value)
                and is_password(value, quoted=True)
                and not rx(rb"[\d.]+|[a-z]+").fullmatch(value)
            ):
                yield Span(start, end, "password", 1)
    if scan.has(b"kind:") and b"secret" in low and (b"\ndata:" in data or b"\n  data:" in data):
        first = data.find(b"data:")
        for (line, _), (start, end) in scan.everywhere(_K8S_DATA):
            if line > first and decodes_to_text(data[start:end]):
                yield Span(start, end, "kubernetes-secret", 2)


def _named_files(scan: Scan) -> Iterator[Span]:
    data = scan.data
    if b"kty" in data:
        for _, (start, end) in scan.everywhere(_JWK):
            if is_random(data[start:end], 20):
                yield Span(start, end, "jwk", 1)
    if b'"auth' in data or b"identitytoken" in data or b"registrytoken" in data:
        for _, (start, end) in scan.everywhere(_DOCKER_AUTH):
            if decodes_to_pair(data[start:end]) or is_random(data[start:end], 24):
                yield Span(start, end, "docker-auth", 1)
    if b"client-key-data" in data or b"tls.key" in data or b"ssh-privatekey" in data:
        for _, (start, end) in scan.everywhere(_KUBECONFIG):
            if is_random(data[start:end], 40):
                yield Span(start, end, "kubernetes-token", 1)
    if b"{SHA}" in data:
        for _, (start, end) in scan.everywhere(_HTPASSWD):
            if is_random(data[start:end], 12) and classes(data[start:end]) >= 3:
                yield Span(start, end, "crypt-hash", 1)


def decodes_to_text(value: bytes) -> bool:
    import base64

    if len(value) % 4 or not (has_digit(value) or value.endswith(b"=") or rx(rb"[a-z][A-Z]").search(value)):
        return False
    try:
        plain = base64.b64decode(value, validate=True)
    except ValueError:
        return False
    return len(plain) >= 4 and sum(32 <= c < 127 or c in b"\r\n\t" for c in plain) >= 0.9 * len(plain)
