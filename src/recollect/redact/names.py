"""What a name promises: `db_password` a password, `apiKey` a token, `max_tokens` nothing.

A name is split into words (`awsSecretAccessKey` -> aws secret access key) and judged by them, so that `monkey`,
`compass` or `tokenizer` never count, and a last word such as `_url`, `_length` or `_file` takes the promise back.
"""

from __future__ import annotations

from functools import lru_cache

from .engine import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Kind = Literal["password", "secret", "key", "pin", "phrase"]

_WORDS = Lazy(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z\xdf-\xff]+|\d+")

_PASSWORD = frozenset(
    b"""password passwords passwd passwort passw pwd pwds psw pswd pword passcode passphrase pw pass passwrd kennwort contrase\xf1a
    contrasena senha wachtwoord l\xf6senord losenord heslo parola motdepasse passe passord adgangskode salasana haslo sifre parool
    geslo lozinka zaporka pasahitza contrasenya laluan kodeord sandi bindpw
    sshpass ftppass smtppass mailpass authpass loginpass wifipass mysqlpass sqlpass redispass mqttpass ldappass proxypass vpnpass
    userpass dbpass rootpw userpw dbpw adminpass adminpw mypass passwordfor parole jelszo jelsz\xf3 keypass storepass keystorepass psk
    smbpass rdppass vncpass ipmipass sudopass becomepass httppass snmppass requirepass authtok remotepass localpass imappass""".split()
)
_SECRET = frozenset(
    b"""secret secrets token tokens tok tk credential credentials creds cred apikey apikeys accesskey secretkey privatekey authkey
    authtoken accesstoken bearer jwt authorization auth sessionid sessid phpsessid jsessionid connectionstring connstr
    accountkey sharedkey masterkey signingkey encryptionkey apitoken apisecret clientsecret appsecret appkey sas sastoken
    webhooksecret signature sig hmac xsrf csrftoken otp totp mfa seed mnemonic cookie cookies license serial nonce
    wif clave schluessel schl\xfcssel geheimnis jeton clef segredo pat aspxauth""".split()
)
_PIN = frozenset(b"pin pincode pins puk cvv cvc cvv2 cvc2".split())
# A `key` is a secret with one of these before it ...
_KEY_OF = frozenset(
    b"""api access secret private auth authentication authorization encryption encrypt decryption signing sign master account
    storage subscription license licence service app application admin session shared client deploy write read webhook hmac aes
    des ssh crypto cipher jwt root server preshared recovery activation product product integration developer dev sdk rest
    ingest ingestion insert user personal org cloud host live test prod production staging sandbox data symmetric fernet
    wireguard wg rsa ssl tls pgp gpg cookie csrf django flask rails laravel sas device functions function
    """.split()
)
# ... and is something else with one of these.
_NOT_KEY_OF = frozenset(
    b"""primary foreign public pub publishable partition sort sorting cache row hash idx index object map dict lookup unique
    candidate natural composite hot shortcut registry json translation i18n react route group config item column field form
    query param react list entity record state store redis s3 bucket message msg label menu tab arrow enter escape esc shift
    ctrl alt meta home end up down left right any press return backspace delete space function_name dedup dedupe idempotency
    routing binding invoice order booking ticket issue correlation feature flag metric trace event error locale lang language setting option property attr attribute
    header env parent child node edge series chart theme color css style image media answer major minor musical house piano car
    from with to on at as li tr td th div span ul option fragment cell hit miss found using used matched duplicate site door kms socket websocket restore no the a this that each per one next same new old wrong every of by for in""".split()
)
_TAKES_BACK = frozenset(
    b"""id ids identifier url urls uri uris name names type types count counts counter length len size file files filename path paths dir
    folder directory ttl expiry expires expiration expire expired exp lifetime timeout age policy hint hints label labels
    placeholder field fields input inputs limit limits format regex pattern algorithm alg algo version provider endpoint host
    user username column columns index class method function func manager service store ring board ref reference references arn
    prefix suffix required enabled disabled valid invalid strength min max rules rule error errors message messages msg title text
    reset forgot forgotten change changed changes updated update at date time timestamp confirmation confirmed verified visible
    visibility toggle show hide icon button form page screen dialog modal view component props schema validator validation
    model usage used budget per price cost costs cached prompt completion total window stream streaming parser lexer kind kinds
    stats rate bucket buckets rotation rotator interval days hours minutes seconds chars characters checker check handler helper
    factory builder generator encoder decoder resolver loader reader writer service client grant flow request requests response
    scope scopes issuer audience subject claims owner status state address contract symbol digits decimals ids idx position
    offset start end boundary list array set map dict table tables encoding encoded hashed hashes hash hasher digest md5 sha sha1 sha256
    fingerprint thumbprint checksum verify verifier auth_method mode modes source sources plugin backend middleware spec specs
    test tests util utils utility context ctx config configuration settings options option management protection storage
    manager managers cache caching mount volume volumes selector locator xpath css less free line lines protected authentication
    authenticator based alias aliases permissions permission vault engine rotate leak leaks scanning scanner detection detector
    header headers param params parameter parameters argument arg args variable variables var env size sizes order""".split()
)
_SUFFIXES = (
    (b"passwordd", "password"), (b"password", "password"), (b"passwd", "password"), (b"passphrase", "phrase"),
    (b"passwort", "password"), (b"secret", "secret"), (b"apikey", "secret"), (b"secretkey", "secret"),
    (b"accesskey", "secret"), (b"privatekey", "secret"), (b"authtoken", "secret"), (b"accesstoken", "secret"),
    (b"storepass", "password"), (b"keypass", "password"),
    (b"token", "secret"), (b"authkey", "secret"), (b"accountkey", "secret"), (b"pwd", "password"),
)  # fmt: skip
_GENERIC_TOKEN_BEFORE = frozenset(
    b"""max min num number of count total prompt completion input output context stop special pad eos bos unk mask cls sep
    vocab sub word byte next page lock idempotency change request continuation cancellation cancel csrf_form syntax lexer current previous prev last first
    cursor sync resume pagination start end estimated used remaining extra new per text punctuation design non fungible
    erc20 nft reward governance utility thinking reasoning cached cache audio image budget""".split()
)
# Says which of them, or how it is written; the word before it says what it is.
_SAYS_WHICH = frozenset(
    b"""string value val content plain plaintext raw b64 base64 default override prod production staging dev development live old
    new current backup primary secondary main local root admin data code codes word again confirm text base us eu a b x
    confirmation private""".split()
)
# What a series of numbers, a table or a download begins with.
_NOT_SEED_OF = frozenset(
    b"""db database table data random rand rng torrent world map level game noise numpy np torch tf model train split shuffle sample
    sampling test tests simulation generator hash color faker image""".split()
)
_CODE_OF = frozenset(
    b"recovery backup otp mfa 2fa totp time verification security factor access door gate alarm unlock pass fa sms login".split()
)


# ... nor is `renderPass` a password.
_NOT_PASS_OF = frozenset(
    b"""render renderer shadow first second third last next prev multi single one two low high band all by analysis optimization
    function module loop light lighting depth blur bloom effect geometry post pre forward backward compiler season boarding ski bus""".split()
)


def endings() -> tuple[list[str], list[str], list[str]]:
    """The words that a name must have near its end for `kind_of` to make something of it: those for a secret (`key` aside, which
    is nothing by itself), those that may follow them, and those that make `code` one. To ask re2 for them spares most
    names a look."""
    secret = _PASSWORD | _SECRET | _PIN | {suffix for suffix, _ in _SUFFIXES}
    secret |= frozenset(b"phrase tokens secrets totp seed salt dsn keymaterial".split())
    secret -= {b"sig", b"signature", b"serial", b"nonce", b"xsrf", b"hmac"}  # these are none, or not by themselves
    return _shortest(secret), sorted(word.decode() for word in _SAYS_WHICH), _shortest(_CODE_OF)


def _shortest(words: Iterable[bytes]) -> list[str]:
    """Those of these words that do not end in another one."""
    ends = {word for word in words if not word[-2:].isdigit() and not word.endswith((b"key", b"keys"))}
    return sorted(w.decode("latin-1") for w in ends if not any(w.endswith(each) for each in ends - {w}))


def is_password_word(word: bytes) -> bool:
    """`Wachtwoord`: what a password is called, and so the label of a field."""
    return word.lower() in _PASSWORD


def takes_back(word: bytes) -> bool:
    """`Identifier`, after the word for a key."""
    return word.lower() in _TAKES_BACK


def words_of(name: bytes) -> list[bytes]:
    return [w.lower() for w in _WORDS.findall(name)]


@lru_cache(maxsize=4096)
def kind_of(name: bytes) -> Kind | None:
    """What a value under this name would be; None for no secret at all."""
    words = words_of(name[-160:])
    while words and words[-1].isdigit():
        words.pop()
    if not words:
        return None
    last = words[-1]
    if last == b"id" and len(words) > 1 and words[-2] in (b"session", b"secret"):
        return "key"
    # "api key for prod", "password of the admin": judge what stands before the preposition.
    if last in _TAKES_BACK and not (
        last in (b"auth", b"storage") or words[-2:] in ([b"pass", b"text"], [b"password", b"confirmation"])
    ):
        if last in (b"value", b"string") or (last == b"text" and b"pass" in words):
            pass
        else:
            return None
    if last in _SAYS_WHICH:
        if len(words) == 1:
            return None
        if last == b"string":
            return "secret" if words[-2] in (b"connection", b"conn") else kind_of(b"_".join(words[:-1]))
        if last in (b"code", b"codes"):
            if words[-2] in _CODE_OF:
                return "pin"
            return None
        if last == b"word":
            return "password" if words[-2] == b"pass" else None
        return kind_of(b"_".join(words[:-1]))
    before = words[:-1]
    if last == b"material" and before[-1:] == [b"key"]:
        return "password"  # of a wireless network, in Windows' profiles
    if last in _PIN:
        return "pin" if len(words) <= 4 else None
    if last in (b"passphrase", b"mnemonic") or (
        last == b"phrase" and before and before[-1] in (b"seed", b"recovery", b"pass", b"secret", b"mnemonic")
    ):
        return "phrase"
    if last == b"pass" and before and before[-1] in _NOT_PASS_OF:
        return None
    if last in _PASSWORD:
        return "password"
    if last in (b"key", b"keys"):
        if not before:
            return None
        if (
            before[-1] in _NOT_KEY_OF
            or before[-1].isdigit()
            or b"public" in before
            or b"pub" in before
            or b"publishable" in before
        ):
            return None
        if before[-1] == b"preshared" or before[-2:] == [b"pre", b"shared"]:
            return "password"  # of a wireless network, of a tunnel: people choose it
        if before[-1] in _KEY_OF:
            return "secret" if before[-1] in (b"api", b"secret", b"private", b"access", b"encryption", b"signing", b"master", b"auth",
                                              b"account", b"subscription", b"jwt", b"shared", b"preshared", b"license", b"hmac", b"aes", b"fernet") else "key"  # fmt: skip
        return "key"
    if last in (b"token", b"tokens", b"tok"):
        if before and before[-1] in _GENERIC_TOKEN_BEFORE:
            return None
        if b"public" in before or (last == b"tokens" and not before):
            return None
        return "secret"
    if last in (b"secret", b"secrets"):
        return "secret"
    if last == b"seed" and before and before[-1] in _NOT_SEED_OF:
        return None
    if last == b"seed" and before and before[-1] in (b"totp", b"otp", b"fa", b"mfa", b"hmac", b"authenticator"):
        return "secret"
    if last in (
        b"sig",
        b"signature",
        b"serial",
        b"nonce",
        b"xsrf",
        b"csrftoken",
        b"tk",
    ):
        return None if last != b"tk" else "secret"
    if last in (
        b"cookie",
        b"cookies",
        b"license",
        b"auth",
        b"sas",
        b"dsn",
        b"salt",
        b"jwt",
        b"seed",
    ):
        return "key"
    if last in (b"otp", b"totp", b"mfa"):
        return "pin"
    if last in _SECRET:
        return "secret"
    for suffix, kind in _SUFFIXES:
        if last.endswith(suffix) and len(last) > len(suffix):
            if kind == "secret" and last in (b"nontoken",):
                return None
            return kind  # type: ignore[return-value]
    return None
