"""Surroundings with a syntax of their own: PEM, URLs, headers, cookies, well-known files.

Each function knows one of them and yields the spans of the values in it. All of it is linear: re2 finds the places, and what
is looked at from a place is bounded.
"""

from __future__ import annotations

from base64 import b64decode

from .engine import BARRIER, Lazy, Match, pattern, rx
from .names import kind_of, takes_back, words_of
from .scan import CROWD, MANY, Scan, Span, line_around
from .values import (
    classes,
    count_digits,
    decodes_to_pair,
    has_alpha,
    has_digit,
    is_code,
    is_hex,
    is_mixed,
    is_password,
    is_placeholder,
    is_random,
    is_reference,
    is_token_placeholder,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# --- private keys ------------------------------------------------------------------------------------------------------

_PEM = r"-----BEGIN ((?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?)-----|-----BEGIN OpenVPN Static key V1-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|PuTTY-User-Key-File-[0-9]:"
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


# --- URLs ---------------------------------------------------------------------------------------------------------------

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


# The same inside another link.
_ESCAPED_URL = r"(?i)[a-z][a-z0-9+.-]*%3a%2f%2f[^\s\"'`<>\x01%&=]+%3a([^\s\"'`<>\x01&=/]+?)%40[a-z0-9]"


_LOOPBACK = Lazy(rb"@(?:localhost|127\.0\.0\.1|\[::1\])(?![\w.-])")


# `smtp://kim@acme.nl:...@smtp.acme.nl`
_MAIL_AS_USER = r"[a-z]://[^\s/:@\"'`\x01]+@[^\s/:@\"'`\x01]+:([^\s/:@\"'`\x01]+)@[A-Za-z0-9]"


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
            if value == found.group(1) and _LOOPBACK.match(data, end):
                continue  # `guest:guest@localhost`: what is there before anybody chose a password
            yield Span(start, end, "url-password", 1)
        for found in scan.find(_URL_USER_TOKEN):
            if is_random(found.group(1), 20):
                yield Span(*found.span(1), "url-password", 1)
        for found in scan.find(_MAIL_AS_USER):
            if _is_url_password(found.group(1), b""):
                yield Span(*found.span(1), "url-password", 1)
    if b"%40" in data and scan.has(b"%3a%2f%2f"):
        for found in scan.find(_ESCAPED_URL):
            value = found.group(1)
            if 3 <= len(value) <= 200 and b"%2f" not in value.lower() and _is_url_password(value, b""):
                yield Span(*found.span(1), "url-password", 1)
    if b"=" in data and (b"?" in data or b"&" in data):
        hits = 0
        for (first, _), (start, end) in scan.spans(_QUERY):
            trimmed = data[start:end].rstrip(b".,;:)]}\\|")
            glance = has_alpha if hits > CROWD else is_mixed
            if hits > MANY and len(trimmed) >= 12 and count_digits(trimmed) > 2 and glance(trimmed):
                hits += 1
                yield Span(start, start + len(trimmed), "url-token", 2)  # one of many
                continue
            if trimmed[:1] == b"=":
                continue  # `&&t.password===void 0`
            name = data[first + 1 : start - 1]
            if name.lower() == b"code" and (
                len(trimmed) < 20 or classes(trimmed) < 3 or rx(rb"%(?!2[BbFf]|3[Dd])").search(trimmed)
            ):
                continue  # of a voucher, a country, an error; a program, with more escaped than base64 has
            if (
                b"%" in trimmed
                and not is_placeholder(trimmed)
                and len(trimmed) >= 16
                and not is_reference(trimmed.replace(b"%", b""))
            ) or (scan.judge(kind_of(name) or "key", trimmed, quoted=True, strict=False) and not is_wordy(trimmed)):
                hits += 1
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
    if (b"/" in value or b";" in value) and rx(rb"\d{1,5}[/;]").match(value):
        return False  # host:port/path@something, host:port;user=...;password=...@...
    if rx(rb"[{}\[\]<>()$]").search(value) and rx(rb"[{\[<($%]").match(value):
        return False
    if set(value) <= {42} or set(value) <= set(b"xX*."):
        return False
    if rx(rb"[A-Z]+(?:_[A-Z]+)+").fullmatch(value):
        return False  # `REPLACE_ME`, `DB_PASSWORD`
    low = value.lower()
    return (
        rx(
            rb"your|example|placeholder|redacted|change[-_]?me|replace[-_]?(?:me|this)|[-_]here$|^__\w+__$|<|\*\*\*|\.\.\."
        ).search(low)
        is None
    )


# --- headers, cookies, well-known files -------------------------------------------------------------------------------------

_AUTH = (
    r"(?i)\b(bearer|basic|digest|token|apikey|api-key|negotiate|ssws|key|hmac|genie ?key|bot|oauth|aws4-hmac-sha256|private-token|sharedaccesssignature|awssig|splunk|"
    r"discogs token=|token token=|jwt)[ \t]+(?:[\"'][ \t]*[+.][ \t]*[\"'])?(?:token=|key=)?[\"']?([A-Za-z0-9_.~+/=:%|-]{8,})"
)
_AUTH_HEADER = r"(?i)(?:authorization|x-auth|auth)[\"'\\]{0,2}[ \t]*[:=,][ \t]*[\"'`\\]{0,3}[ \t]*(?:[a-z][a-z0-9_-]*[ \t]+)?([A-Za-z0-9_.~+/=:-]{8,})"
# In a header that carries a key, the whole value is the key, whatever it looks like.
KEY_HEADER = r"(?:proxy-)?authorization|x-(?:[a-z0-9]+-){0,4}(?:key|token|secret)|(?:api|auth|access|private|job|deploy)-(?:key|token)|ocp-apim-subscription-key"
_SENT = (
    rf"(?i)\b({KEY_HEADER})[\"'\\\]]{{0,4}}[ \t]*(?::[ \t]*[\"'`\\]{{0,4}}|(?:,|=>?)[ \t]*[\"'`\\]{{1,4}})"
    r"((?:bearer|basic|digest|token|api-?key|negotiate|ssws|key|genie ?key|bot|oauth|jwt|hmac|splunk)[ \t]+(?:token=|key=)?[\"'\\]{0,2})?([^\s\"'`\\,;\x01]{4,})"
)
_DIGEST = r"(?i)\b(?:response|nonce|cnonce|oauth_signature|oauth_token|oauth_consumer_key|signature|credential)=[\"']?([A-Za-z0-9+/=%._-]{16,})"
_SCHEMES = frozenset(
    b"bearer basic digest token apikey negotiate ssws oauth hmac bot jwt key aws4-hmac-sha256 geniekey".split()
)


# Asked only where one of these words stands, though it would match without it.
_SCHEME_WORDS = (b"bearer", b"basic", b"digest", b"token ", b"apikey", b"api-key", b"ssws", b"negotiate", b"bot ", b"geniekey", b"splunk",
                 b"jwt ", b"key ", b"oauth ", b"hmac ")  # fmt: skip


_NO_TOKEN = Lazy(rb"(?:change|lock|next|page|idempotency|continuation|starting)-\Z")
_PLAIN = frozenset((b"bearer", b"ssws", b"splunk", b"genie key", b"geniekey", b"negotiate"))
_ALONE = _PLAIN | {b"basic", b"token", b"jwt", b"apikey", b"api-key"}  # the others only in a header: `key cart:1042`


def _is_sent(data: bytes, found: Match, value: bytes) -> bool:
    """Whether a header's value is a key, and not prose, code or a placeholder."""
    start, name, scheme = found.start(), found.group(1).lower(), found.group(2).lower()
    is_plain = name.endswith(b"authorization")
    if data[start - 1 : start] in (b"-", b".", b"$", b"_") or not (is_plain or kind_of(name)):
        return False
    if is_reference(value) or is_code(value) or value.lower() in _SCHEMES:
        return False
    if is_placeholder(value) and (classes(value) < 3 or is_token_placeholder(value)):
        return False
    if scheme and (has_digit(value) or (scheme[:5] == b"basic" and decodes_to_pair(value))):
        return True
    after = data[found.end() : found.end() + 2]
    if len(value) < 6 or (after[:1] in b" \t" and after.strip() not in (b"", b"|", b"#")):
        return False  # the first word of prose
    if not scheme:
        is_listed = b":" not in data[found.end(1) : found.start(3)] and data[start - 2 : start - 1] != b"("
        if is_listed or value[:2] in (b"x-", b"X-"):
            return False  # the names of headers
        if is_plain:
            return len(value) >= 7 and has_digit(value)
    return has_digit(value) or (kind_of(value) is None and not any(map(takes_back, words_of(value))))


def headers(scan: Scan) -> Iterator[Span]:
    """Authorization in its schemes, wherever it is written."""
    data, low = scan.data, scan.low
    lines = scan.lines_with(_AUTH, _DIGEST)
    if lines and scan.has(*_SCHEME_WORDS):
        for (first, _), (_, named), (start, end) in scan.spans(_AUTH, lines):
            scheme = low[first:named]
            if start in scan.taken and scheme != b"bearer":
                continue
            before = low[max(0, first - 32) : first].rpartition(BARRIER)[2]
            in_header = b"auth" in before
            if not in_header and scheme not in _ALONE:
                continue
            value = data[start:end]
            value = value.rstrip(b".,:;|/") if not value.endswith(b"=") else value
            if not value or scan.recall("placeholder", value, is_placeholder) or is_reference(value):
                continue
            if value.startswith(b"HTTP/"):
                continue  # `PUT /oauth/token HTTP/1.1`
            if scheme == b"token" and before.endswith(b"-") and _NO_TOKEN.search(before):
                continue
            if scheme == b"basic":
                if decodes_to_pair(value) or (in_header and len(value) >= 12 and not is_wordy(value)):
                    yield Span(start, start + len(value), "authorization", 1)
            elif scheme in _PLAIN or in_header:
                if is_random(value, 10) or (
                    in_header and len(value) >= 8 and has_digit(value) and not is_wordy(value) and not is_code(value)
                ):
                    yield Span(start, start + len(value), "authorization", 1)
            elif is_random(value, 20) and classes(value) >= 2 and not is_uuid(value):
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
    if scan.has(b"authorization", b"-token", b"-key", b"-secret"):
        for found in scan.find(_SENT):
            start, value = found.start(3), found.group(3).rstrip(b".:)|>")
            if _is_sent(data, found, value):
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
            if (session and len(value) >= 8 and has_digit(value)) or is_random(plain, 20):
                yield Span(pair.start(3), pair.end(3), "cookie", 1)


_JWK = r"[\"']?\b(?:d|p|q|dp|dq|qi|k)[\"']?[ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,})[\"']"
_DOCKER_AUTH = r"\"(?:auth|identitytoken|registrytoken)\"[ \t]*:[ \t]*\"([A-Za-z0-9+/=_.-]{8,})\""
_KUBECONFIG = r"(?:client-key-data|client-certificate-key|tls\.key|ssh-privatekey|\.dockerconfigjson|\.dockercfg)[\"']?[ \t]*:[ \t]*[\"']?([A-Za-z0-9+/=_.-]{40,})"
_PGPASS = r"(?m)^[\w.*-]{1,80}:(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w*.-]{1,64}:([^\s:\x01]{3,})\r?$"
_HTPASSWD = r"(?m)^[\w.@-]{1,64}:(\{SHA\}[A-Za-z0-9+/=]{20,}|[./A-Za-z0-9]{13})(?::|\r?$)"
_NAMED = (_JWK, _DOCKER_AUTH, _KUBECONFIG, _HTPASSWD)
_K8S_DATA = r"(?m)^[ \t]+[\"']?[\w.-]{1,64}[\"']?:[ \t]+[\"']?([A-Za-z0-9+/]{8,}={0,2})[\"']?[ \t]*\r?$"


_NT_HASH = r"(?m)^[^\s:\x01]{1,64}:[0-9]{1,10}:([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::"  # what is dumped of Windows
# The default of a parameter of CloudFormation that is not to be shown.
_NO_ECHO = (
    r"(?i)\bdefault[\"']?[ \t]*:[ \t]*[\"']?([^\s\"',\x01]{4,})[\"']?[ \t]*,?[ \t]*\r?\n(?:[^\n\x01]*\n)?(?:[^\n\x01]*\n)?[ \t]*[\"']?noecho[\"']?[ \t]*:[ \t]*[\"']?true",
    r"(?i)\bnoecho[\"']?[ \t]*:[ \t]*[\"']?true[\"']?[ \t]*,?[ \t]*\r?\n(?:[^\n\x01]*\n)?(?:[^\n\x01]*\n)?[ \t]*[\"']?default[\"']?[ \t]*:[ \t]*[\"']?([^\s\"',\x01]{4,})",
)


def _unseen(scan: Scan) -> Iterator[Span]:
    for source in _NO_ECHO:
        for _, (start, end) in scan.everywhere(source):
            if scan.judge("password", scan.data[start:end], quoted=True, strict=False):
                yield Span(start, end, "password", 2)


def files(scan: Scan) -> Iterator[Span]:
    """Files with a syntax of their own: JWK, docker config, kubeconfig, .pgpass, .htpasswd, Kubernetes secrets, AWS credentials."""
    data, low = scan.data, scan.low
    if b"OpenVPN Static key" in data:
        yield from private_keys(scan)
    if b"noecho" in low:
        yield from _unseen(scan)
    if b":::" in data:
        for _, (start, end) in scan.everywhere(_NT_HASH):
            yield Span(start, end, "crypt-hash", 1)
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
    if b"client-key-data" in data or b"tls.key" in data or b"ssh-privatekey" in data or b".dockerc" in data:
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
