"""The judgement that every context shares: is this value, under a name of this kind, a secret?

It looks at the value alone, and at whether it was quoted; what stands around it is the business of who asks.
"""

from __future__ import annotations

from .engine import BARRIER, Lazy, rx
from .names import is_password_word
from .values import (
    classes,
    count_digits,
    count_lower,
    count_upper,
    has_digit,
    has_entropy,
    has_symbol,
    is_choice,
    is_code,
    is_hex,
    is_memorable,
    is_no_secret,
    is_noise,
    is_password,
    is_placeholder,
    is_reference,
    is_regex,
    is_run_together,
    is_scrambled,
    is_unspoken,
    is_worded,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .names import Kind


def is_path(value: bytes) -> bool:
    if (b"/" not in value and b"." not in value) or _is_slashed(value):
        return False
    return value.startswith((b"/", b"./", b"~/", b"../")) or (
        rx(rb"[\w-]+(?:/[\w.-]+)+|[\w-]+\.(?:json|txt|pem|key|ya?ml|env|sh|py|zip|gz|sql|conf|cfg)").fullmatch(value)
        is not None
        and not _is_blob(value)
    )


def _is_blob(value: bytes) -> bool:
    """Base64 with slashes in it, which reads like a path: `IYgdGDUiF3Djo9lSW/r2vtEd`."""
    if (
        len(value) >= 24
        and len(longest := max(value.split(b"/"), key=len)) >= 20
        and longest.isalnum()
        and classes(longest) == 3
        and not is_hex(longest)
    ):
        return count_digits(longest) >= 2 and not is_wordy(longest)
    return (
        len(value) >= 16
        and value.replace(b"/", b"").isalnum()
        and count_upper(value) >= 3
        and count_lower(value) >= 3
        and count_digits(value) >= 2
        and not any(len(part) >= 3 and (part.isalpha() or is_wordy(part)) for part in value.split(b"/"))
    )


def _is_slashed(value: bytes) -> bool:
    """Base64 that begins with a slash, as one key in sixty-four does."""
    return value.startswith(b"/") and len(value) >= 32 and _is_blob(value.rstrip(b"=").replace(b"+", b""))


_FAMILIES: dict[Kind, str] = {
    "password": "password",
    "secret": "api-key",
    "key": "api-key",
    "pin": "pin",
    "phrase": "passphrase",
}
family_of = _FAMILIES.__getitem__


def judge_value(kind: Kind, value: bytes, *, quoted: bool, strict: bool, env: bool = False) -> bool:
    """Is this value, under a name of this kind, a secret?"""
    size = len(value)
    if size < 3 or BARRIER in value:
        return False
    if kind == "pin":
        return (4 <= size <= 8 and value.isdigit() and not is_year(value)) or (
            3 <= size <= 4 and value.isdigit() and not quoted) or (
            6 <= size <= 40 and rx(rb"[A-Za-z0-9]{3,8}(?:[- ][A-Za-z0-9]{3,8}){0,7}").fullmatch(value) is not None
            and has_digit(value) and not is_placeholder(value) and not is_wordy(value))  # fmt: skip
    if kind == "key" or (kind == "secret" and strict):
        if size < 16 or not has_digit(value):
            return False  # as below, at a glance
    elif kind == "secret" and (
        size < 8 or (size < 20 and not has_digit(value) and not has_symbol(value) and not is_scrambled(value))
    ):
        return False
    if (is_reference(value) and not _is_slashed(value)) or (
        kind != "password" and (is_no_secret(value) or _OF_A_FILE.fullmatch(value) is not None)
    ):
        return False
    if kind == "phrase":
        words = value.split()
        if len(words) >= 3:
            return (
                quoted
                and not is_placeholder(value)
                and (len(words) >= 12 or all(rx(rb"[a-z0-9'\xdf-\xff-]+").fullmatch(w) for w in words))
            )
        return (
            is_password(value, quoted=True)
            and (not is_code(value) or is_noise_with_dots(value))
            and not is_password_word(value)
            and (quoted or has_digit(value) or has_symbol(value))
        )
    if is_regex(value):
        return False
    if is_placeholder(value) or (
        is_code(value)
        and not (quoted and (has_symbol(value) or has_digit(value)) and not rx(rb"[\w.]+[(\[]").match(value))
        and not (kind == "password" and (((quoted or env) and is_phrase_of_words(value)) or is_noise_with_dots(value)))
    ):
        return False
    if b" " in value:
        return (
            kind == "password"
            and quoted
            and not strict
            and len(value.split()) <= 2
            and has_digit(value)
            and has_symbol(value)
            and size >= 10
        )
    if kind == "password":
        if is_password_word(value):
            return False
        if value in _USED_MOST:
            return True
        if strict:
            return (
                is_phrase_of_words(value)
                or _is_app_password(value)
                or (
                    size >= 8
                    and is_choice(value, quoted=False)
                    and (classes(value) >= 3 or is_noise(value, 12))
                    and not is_wordy(value)
                )
            )
        if is_phrase_of_words(value):
            return True
        if not is_choice(value, quoted=quoted or env or is_scrambled(value)):
            return False
        if quoted or env:
            return not is_label(value) or is_scrambled(value)
        # Bare, in a place that may be code: letters alone are a variable or a type.
        if rx(rb"[A-Za-z_\xc0-\xff]+").fullmatch(value):
            return is_scrambled(value)
        return not rx(rb"[a-z]+(?:[_-][a-z]+)+\d?|[A-Z][a-z]+(?:[A-Z][a-z]+)+\d?").fullmatch(value)
    if kind == "key":
        return (
            is_noise(value, 16)
            and (classes(value) >= 2 or is_hex(value))
            and has_digit(value)
            and (not strict or classes(value) >= 3)
            and not is_path(value)
        )
    if strict:
        return is_noise(value, 16) and has_digit(value)
    if is_noise(value, 12) or (size >= 12 and is_scrambled(value)):
        return True
    if is_memorable(value) or ((quoted or env) and is_run_together(value)):
        return True
    if (
        (quoted or env)
        and size >= 10
        and has_digit(value)
        and (has_symbol(value) or _is_mixed(value))
        and not is_label(value)
        and not is_code(value)
    ):
        return (
            not is_path(value) and b"://" not in value and b"=" not in value[:-2]
        )  # chosen by a person: words and digits
    if size >= 8 and (has_digit(value) or has_symbol(value)) and (quoted or env) and not is_wordy(value):
        return (
            classes(value) >= 2
            and has_entropy(value, 2.5)
            and not value.replace(b".", b"").isdigit()
            and not is_path(value)
            and not rx(rb"[\d.:TZ+\-/]+").fullmatch(value)
        )
    return False


def _is_mixed(value: bytes) -> bool:
    return value.isalnum() and classes(value) == 3 and value[-2:].isdigit()


def is_year(value: bytes) -> bool:
    return len(value) == 4 and value[:2] in (b"19", b"20")


LABELS = frozenset(
    b"""password passw passwort kennwort contrase\xf1a senha wachtwoord required forgot reset confirm current newpassword oldpassword username
    email placeholder show hide visible login submit weak strong medium invalid incorrect mismatch expired passwordreset
    passwordfield passwordinput forgotpassword resetpassword confirmpassword changepassword currentpassword new-password current-password
    one-time-code plaintext sha256 sha512 bcrypt argon2 scrypt pbkdf2 md5 base64 kerberos ldap oauth2 saml webauthn passkey""".split()
)


_SPEAKS_OF_FORMS = frozenset(
    b"""pass password passwords passwd passwort pwd passphrase passcode user username name names mail email login signin signup auth authentication
    authorization form field fields input inputs key keys token tokens secret secrets credential credentials cred creds error errors invalid valid
    required reset change changed new old confirm confirmation current hash hashed type types string text value values config configuration
    settings env environment default not too must short long weak strong missing failed failure match mismatch empty wrong incorrect get set is
    has have the and for from with without store storage file path url uri host service server client api app admin account data database table
    column model class method func function var param params arg args option options prompt ask input read write check verify validate show hide
    toggle label title hint placeholder button icon message msg code length min max regex pattern policy grant flow scope access refresh bearer
    basic digest random generate generated encrypted encoded decoded plain raw base json yaml xml html form post put header headers cookie session
    page view list item only none null true false test mock fake dummy sample example my your our""".split()
)


def speaks_of_forms(value: bytes) -> bool:
    """Whether one of the words in it is: `db-credentials`, `Reset_password`."""
    return not _SPEAKS_OF_FORMS.isdisjoint(rx(rb"[-_]").split(value.lower()))


# Of these, one may be drawn among other words that have nothing to do with it.
_DRAWN = frozenset(
    b"""access ask basic change check class code column confirm cookie current data digest file generate grant header hint host icon item label length list long message
    method min model only option options page pattern plain policy post put random raw read scope service session short show store strong
    table text title toggle type view weak write""".split()
)


def is_phrase_of_words(value: bytes) -> bool:
    """`correct-horse-battery-staple`: four words or more, joined in one way, that say nothing of what they are for."""
    if value.translate(None, _ABC) not in _JOINTS or rx(rb"[a-z]{3,12}(?:[-_.][a-z]{3,12})+").fullmatch(value) is None:
        return False
    words = rx(rb"[-_.]").split(value)
    spoken = [word for word in words if word in _SPEAKS_OF_FORMS]
    return (
        (not spoken or (len(spoken) == 1 and b"-" in value and _DRAWN.issuperset(spoken)))
        and len(PREDICATES.intersection(words)) < 2
        and (b"." not in value or _PACKAGES.isdisjoint(words))
    )


_OF_A_FILE = Lazy(
    rb"[\w.-]+\.(?:gguf|safetensors|onnx|bin|json|jsonl|txt|csv|log|ya?ml|toml|pem|crt|py|js|ts|md|html|zip|gz|tgz|png|jpe?g|svg|pdf)"
)
_PACKAGES = frozenset((b"com", b"org", b"net", b"www", b"java", b"javax", b"dev", b"edu", b"gov"))


def is_noise_with_dots(value: bytes) -> bool:
    """`dJO7qe_Y373b.B8LMlnA`, which is written like an attribute of something, but nothing has such a name."""
    return (
        1 <= value.count(b".") <= 2
        and classes(value.replace(b".", b"")) >= 3
        and is_noise(value.replace(b".", b""), 12)
    )


def _is_app_password(value: bytes) -> bool:
    """`jtuu-tavq-vytt-qtxy`: as Apple makes them for one application."""
    return rx(rb"[a-z]{4}(?:-[a-z]{4}){3}").fullmatch(value) is not None and is_unspoken(value.replace(b"-", b""), 0.25)


_ABC = b"abcdefghijklmnopqrstuvwxyz"
_JOINTS = frozenset(mark * n for mark in (b"-", b"_", b".") for n in range(3, 8))
# Of the passwords that are used most, those that are no word for anything else in a configuration.
_USED_MOST = frozenset(
    b"""letmein iloveyou sunshine qwerty monkey dragon princess football baseball superman batman starwars pokemon michael jordan jennifer
    buster soccer hockey killer george andrew michelle jessica pepper ginger ashley hannah maggie corvette mustang bailey cheese amanda
    qwertyuiop asdfgh asdfghjkl zxcvbnm zxcvbn opensesame supersecret topsecret""".split()
)


def is_label(value: bytes) -> bool:
    low = value.lower()
    if low in LABELS:
        return True
    if value[:1] in (b"#", b".") and rx(rb".[a-z]+(?:[-_][a-z]+)*").fullmatch(value):
        return speaks_of_forms(value[1:])  # `#add-password`: where a form is on a page
    if rx(rb"[A-Za-z\xc0-\xff]+[:?!.*]?").fullmatch(value) and (
        rx(rb"pass(?:word|wort)|contrase|senha|required|login").search(low)
        and len(low) < 24
        and not rx(rb"[A-Z].*[A-Z].*[A-Z]").search(value)
    ):
        return (
            value[:1].isupper()
            or low.rstrip(b":?!.*") in LABELS
            or rx(rb"[a-z]+(?:[A-Z][a-z]+)+").fullmatch(value) is not None
        )
    if rx(rb"[a-z]{3,}_[a-z]{3,}").fullmatch(value) and _SPEAKS_OF_FORMS.isdisjoint(value.split(b"_")):
        return False  # `open_sesame`
    if rx(rb"[A-Z]?[a-z]{2,}[A-Z][a-z]{2,}").fullmatch(value) and _SPEAKS_OF_FORMS.isdisjoint(
        part.lower() for part in rx(rb"[A-Z]?[a-z]+").findall(value)
    ):
        return False  # `OpenSesame`
    return (
        rx(
            rb"[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)*|[a-z]+(?:[._:|/][a-z]+)+[:?]?|[a-z]+(?:_[a-z]+)+|required\|.*|[A-Z][A-Z_]+"
        ).fullmatch(
            value,
        )
        is not None
    )


PREDICATES = frozenset(
    b"""wrong incorrect correct right invalid valid required optional not too stored hashed encrypted saved secure insecure weak strong
    short long empty blank missing unknown expired expiring fine good bad ok okay set unset same different the a an in on at to for
    never always still now being used sent kept visible hidden easy hard important necessary needed mandatory random case sensitive
    changed reset rotated revoked leaked compromised exposed public private shared safe unsafe something anything nothing everything
    what where when how why which that this these those also only just very really quite simply based made generated given passed returned
    rejected accepted refused denied ignored missing expected supported deprecated undefined null none true false yes no here there
    protected printed logged available unavailable unique working broken complicated simple known written verified validated checked
    about like because if or and but with without from into over under after before until since while as is are was were be been
    required. obvious obsolete outdated old new my your our their his her its it they we you i he she who plaintext plain text
    cached loaded read fetched part one two three more less least most enough longer shorter different identical equal
    erforderlich vergessen notwendig pflichtfeld ben\xf6tigt gespeichert ge\xe4ndert oubli\xe9 requise requerida requerido richiesta vereist
    obligatorio obligatoria obligat\xf3ria obligat\xf3rio scaduta verlopen wymagane incorreta inv\xe1lido necesaria falsch richtig abgelaufen ung\xfcltig nicht zu incorrecta incorrecto correcta requis incorrect obligatoire errada inv\xe1lida
    unchanged irrelevant critical essential crucial ready live dead active inactive enabled disabled locked unlocked blocked
    sensitive confidential recommended provided specified defined configured managed handled processed parsed treated considered
    either neither both all some any each every another other such own via per kind type string number integer value key token
    secret password username login name field column parameter argument variable constant
    chosen taken shown forgotten stolen found lost built held left seen sold told thrown drawn begun hashed typed""".split()
)


def is_predicate(word: bytes) -> bool:
    return word.endswith(
        (
            b"ed",
            b"ing",
            b"ly",
            b"able",
            b"ible",
            b"ful",
            b"less",
            b"ous",
            b"ive",
            b"ory",
            b"tion",
            b"ment",
        )
    )


def is_tested(name: bytes, word: bytes) -> bool:
    """`--- PASS: TestOpen`, `PASS src/a.test.js`: what has passed, not a password."""
    return name.rpartition(b" ")[2] == b"PASS" and (
        rx(rb"(?i)\w*(?:test|spec)[\w./:\[\]-]*|[\w.-]+(?:/[\w.\[\]-]+)+|[\w-]+\.[a-z]{1,4}").fullmatch(word)
        is not None
    )


def is_design_token(name: bytes, word: bytes) -> bool:
    """`"token": "color-blue-500"`: words and a step of a scale. A secret may be chosen so, a token is made by a machine."""
    return (
        name[-5:].lower() == b"token"
        and rx(rb"[a-z]{2,}(?:-[a-z]{2,})+-?[0-9]{1,4}").fullmatch(word) is not None
        and is_worded(word)
    )


def is_ticket(name: bytes) -> bool:
    """`Boarding pass: LH1234`"""
    return (
        rx(
            rb"(?i)\b(?:boarding|ski|lift|bus|train|rail|travel|day|week|monthly|annual|season|city|museum|park|press|visitor|gym|hall)[ -]pass\Z"
        ).search(name)
        is not None
    )
