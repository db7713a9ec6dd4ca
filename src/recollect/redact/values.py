"""What a value looks like: random, a placeholder, a reference to something else, or a human's password.

A name such as `password` says that a secret *may* follow; these checks decide whether it did. They are pure, look at
the value alone, and are written for short strings (a caller never passes more than a few KB).
"""

from __future__ import annotations

from math import log2

from .engine import Lazy, pattern

# Whole values that stand for "put yours here", or that say something else than a secret.
PLACEHOLDERS = frozenset(
    b"""
    password passwd pwd pass secret token key apikey api_key api-key changeme changeit change_me change-me change_it
    changethis change-this todo fixme tbd none null nil undefined true false yes no on off na n/a empty blank default
    string str text hidden required optional nullable int integer number float bool boolean bytes any object array list
    dict map void char varchar unknown invalid incorrect wrong missing unset disabled enabled auto automatic prompt ask
    example sample dummy fake placeholder redacted removed masked hidden omitted filtered censored scrubbed sensitive
    foo bar baz qux foobar foobared test testing tester demo user username admin_password root_password
    mypassword my_password my-password yourpassword your_password mysecret my_secret my-secret mytoken my_token my-token
    mykey my_key my-key my_api_key myapikey my-api-key secretkey secret_key secret-key supersecretkey
    bearer basic digest oauth oauth2 jwt session cookie header query body form json env environ environment vault
    password_here token_here secret_here key_here same random generated generate rotate rotated
    access_token refresh_token id_token client_secret client_id private_key public_key grant_type authorization_code
    include omit same-origin
    1password password1234567890 passwordhash password_hash hash hashed plain plaintext encrypted base64 utf-8 utf8 hex
    scram-sha-1 scram-sha-256 scram-sha-512 aes-128-gcm aes-256-gcm aes-256-cbc aes-256-ctr hmac-sha1 hmac-sha256 hmac-sha512 pbkdf2-sha256
    pbkdf2-sha512 chacha20-poly1305 rsa-oaep-256 sha-256 sha-512 ssh-ed25519 aws4-hmac-sha256
    """.split()
)
# Parts that do.
_FILLING = (
    r"example|placeholder|change[-_]?me|change[-_]?this|replace(?:me|with|[-_])|insert[-_]|redacted|dummy|sample|xxxx|\.\.\.|\*\*\*|todo|fixme|fake[-_]|[-_]fake"
    r"|^aqicah[a-z0-9+/]{40}|not[-_]?a[-_]?(?:real|secret)|not[-_]real|not[-_]a[-_]|goes[-_]?here|deadbeef|abcdefgh|\?\?\?|your[-_. ]|your(?:api|token|key|secret|pass|own)|[-_. ]your|\xb7\xb7|<[^<>]{1,60}>"
    r"|^my[-_](?:api|secret|token|access|super)|^enter[-_]|^(?:ctrl|alt|shift|cmd|command|control|option|meta|strg|super|win)\+|^(?:some|any|put|mock)[-_]|^(?:wrong|incorrect|invalid|bad)[-_]?(?:pass|pw|token|key|secret|cred)|^test[-_]?(?:token|key|secret|api|pass)|^(?:token|secret|key)-test|[-_]here$"
    r"|(?:dein|ihr|euer)e?[-_. ](?:passwor|kennwor|token|schl|geheim|api)|[-_](?:eintragen|einsetzen|einf)|votre[-_. ](?:mot|mdp|cl|jeton|token|secret)|^(?:tu|su|sua)[-_](?:contrase|clave|senha|token)"
)


def _is_filling(low: bytes) -> bool:
    return pattern(_FILLING).has(low)


# A reference to a value kept elsewhere: a variable, a template, a vault.
_REFERENCE = (
    r"\$\{|\$\(|^\$[A-Za-z_]\w*(?:$|[/.:\[]|->)|^\$[0-9@*#]$|\{\{|\}\}|\{[A-Za-z_][\w.]*[}(\[]|%[A-Za-z_]\w*%$|%\(|%[sdvqr]$|^@{1,2}[\w.]+@{1,2}$|^@[A-Z][\w.]*\(|#\{|<%|^!(?:[01]\b|!?[A-Za-z_/-]+(?:$|[ \t]))|^&[a-z]+$|^\*[a-z_]+$"
    r"|^(?:vault|op|arn|ssm|sm|secretsmanager|gcp-sm|file|env|ref\+?\w*|awssm|keyring|projects)[:/]"
    r"|^(?:SHA|sha)(?:1|224|256|384|512):[A-Za-z0-9+/]{27,}={0,2}$|^MD5:[0-9a-f]{2}(?::[0-9a-f]{2}){15}$"
    r"|^ENC[\[(]|^<|^\[|^\{|^/[\w.-]+/|^\./|^~/|^[A-Za-z]:\\|^https?://[^\s:@/]+(?:[/?#]|$)|^https?://[^\s@]*$"
)
# Code instead of a value: calls, subscripts, attributes, operators.
_CODE = (
    r"^[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[(\[]"
    r"|^(?:process\.env|os\.environ|import\.meta|self|this|cls|ctx|req|request|res|config|cfg|conf|settings|args|opts|options|params"
    r"|props|state|env|data|user|app|event|body|form|values|secrets|var|local|module|input|vars|github|inputs|steps|context)[.\[!?]"
    r"|^[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\$?[A-Za-z_]\w*)+$|^[A-Za-z_]\w*<[A-Z]\w*|=>|\(\)|\(\?[:i!=<P]|\[\^|\[a-z|\[A-Z|\[0-9|\\[dwsb]|\\[xuU][0-9a-f]|^[a-z]+\|[a-z]|\{\d+,\d*\}|&&|\|\||^[A-Z][A-Z_]{3,}$|\)\.|\);"
    r"|[a-zA-Z0-9]-[zZ9fF][a-zA-Z0-9]-[zZ9fF]|^\([A-Za-z_]+$|^[a-z][\w.-]*:[0-9]+(?:\.[0-9]+)+[\w.-]*$"
)
# Without one of these characters neither matches - but for a constant's name, which is code too.
_REFERRING, _CODING = b"${}%@!&*<[/:", b"([.!?<>:\\|{&)"
_CONSTANT = Lazy(rb"[A-Z][A-Z_]{3,}")
_CMDLET = Lazy(  # `$password = Read-Host -AsSecureString`
    rb"(?:Get|Read|Import|Invoke|Select|ConvertTo|ConvertFrom|Receive|Unprotect)-[A-Z][A-Za-z]+|New-(?:Object|Guid|\w*Password|\w*Secret|\w*Token|\w*Key)"
)
_CODE_WORDS = frozenset((b"new", b"await", b"return", b"function", b"lambda", b"not", b"if", b"typeof"))
_CLASSES = (b"PrivateKey", b"PublicKey", b"SecretKey", b"AccessToken", b"ApiKey")  # `Ed25519PrivateKey`
_TYPE = Lazy(
    rb"^(?:Optional|Union|List|Dict|Array|Promise|Record|Secret(?:Str|String)?|String|Vec|Option|Result|std)\b"
)
_CAMEL = Lazy(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PARTS = Lazy(rb"[-_.:/]")
_GROUPS = Lazy(rb"[ -]")
_TURNS = Lazy(rb"[0-9](?=[A-Za-z])")
_UPTURNS = Lazy(rb"[a-z](?=[A-Z])")
_API_VERSION = Lazy(rb"V[0-9]+(?:p[0-9]+)?(?:alpha|beta)[0-9]*")
_CONSONANTS = Lazy(rb"[bcdfghjklmnpqrstvwxz]{5,}", 2)
_UUID = Lazy(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = Lazy(rb"(?:0x)?[0-9a-fA-F]+")
_SYMBOLS = frozenset(b"!@#$%^&*()+=?~;:,/|{}[]<>\\-_.")
_STRONG_SYMBOLS = frozenset(b"!@#$%^&*+=?~|")


_DIGITS = b"0123456789"
_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_LETTERS = _LOWER + _UPPER
_ALL_LETTERS = _LETTERS + bytes(range(0xC0, 0x100))
_OTHERS = bytes(_SYMBOLS) + bytes(range(128, 256))
_STRONG = bytes(_STRONG_SYMBOLS)
_N_LOG_N = [0.0, *(n * log2(n) for n in range(1, 512))]


def entropy(value: bytes) -> float:
    """Shannon's bits per character."""
    size = len(value)
    if not size:
        return 0.0
    if size < 512:
        return log2(size) - sum([_N_LOG_N[n] for n in map(value.count, set(value))]) / size
    return log2(size) - sum(n * log2(n) for n in map(value.count, set(value))) / size


def has_entropy(value: bytes, floor: float) -> bool:
    """Whether `entropy` is at least so high. How many characters differ mostly says it, in a tenth of the time: with all others
    the same it would be lowest, with each as often as any other highest."""
    size, distinct = len(value), len(set(value))
    if 0 < size < 512:
        repeats = size - distinct + 1
        if log2(size) - _N_LOG_N[repeats] / size >= floor + 1e-9:
            return True
        if log2(distinct) <= floor - 1e-9:
            return False
    return entropy(value) >= floor


# Whether any of a set of bytes occurs, by deleting them: a tenth of what a loop in Python takes.


def classes(value: bytes) -> int:
    """How many of lower case, upper case, digits, symbols occur."""
    size = len(value)
    translate = value.translate
    return (
        (len(translate(None, _LOWER)) < size)
        + (len(translate(None, _UPPER)) < size)
        + (len(translate(None, _DIGITS)) < size)
        + (len(translate(None, _OTHERS)) < size)
    )


def count_digits(value: bytes) -> int:
    return len(value) - len(value.translate(None, _DIGITS))


def count_lower(value: bytes) -> int:
    return len(value) - len(value.translate(None, _LOWER))


def count_upper(value: bytes) -> int:
    return len(value) - len(value.translate(None, _UPPER))


def has_digit(value: bytes) -> bool:
    return len(value.translate(None, _DIGITS)) < len(value)


def has_alpha(value: bytes) -> bool:
    return len(value.translate(None, _ALL_LETTERS)) < len(value)


def has_symbol(value: bytes) -> bool:
    return len(value.translate(None, _STRONG)) < len(value)


def is_uuid(value: bytes) -> bool:
    return _UUID.fullmatch(value) is not None


def is_hex(value: bytes) -> bool:
    return _HEX.fullmatch(value) is not None


def is_monotone(value: bytes) -> bool:
    """`xxxxxxxx`, `12345678`, `abcabcabc`, `--------`: typed to fill a space."""
    size = len(value)
    if size < 4:
        return False
    distinct = len(set(value))
    if distinct <= 2 or (size >= 12 and distinct <= 3):
        return True
    if distinct <= 16 and size >= 20 and not has_entropy(value, 2.3):
        return True
    if value[1] - value[0] in (0, 1) and value[2] - value[1] in (0, 1):
        steps = sum(1 for a, b in zip(value, value[1:], strict=False) if b - a in (0, 1))
        if steps >= 0.85 * (size - 1):
            return True
    if distinct > 10:
        return False
    period, longest = value.find(value[:2], 2), min(10, size // 3)
    while 0 < period <= longest:
        if value[period:] == value[:-period]:
            return True
        period = value.find(value[:2], period + 1)
    return False


def is_placeholder(value: bytes) -> bool:
    """Stands for a secret instead of being one."""
    low = value.lower()
    if low.strip(b" \t\"'`.,:;!?*_-()") in PLACEHOLDERS:
        return True
    return _is_filling(low) or is_monotone(value)


def _is_in_both_cases(value: bytes) -> bool:
    """`AbCdEfGh`: the alphabet, but as nobody types it to fill a space."""
    return b"abcdefgh" not in value and b"ABCDEFGH" not in value


def is_token_placeholder(value: bytes) -> bool:
    """As `is_placeholder`, for a token whose prefix has been recognised: only the filling is judged."""
    low = value.lower()
    if _is_filling(low) and not (_is_in_both_cases(value) and not _is_filling(low.replace(b"abcdefgh", b""))):
        return True
    body = max(_PARTS.split(value), key=len)
    return len(body) >= 8 and is_monotone(body)


def is_reference(value: bytes) -> bool:
    """Names where the value is kept: `${X}`, `{{ secrets.X }}`, a path, a plain link."""
    return len(value.translate(None, _REFERRING)) < len(value) and pattern(_REFERENCE).has(value)


# `user:42:profile`: a name in a cache. With one colon it would be somebody's name and password.
_STORED_UNDER = Lazy(
    rb"[a-z][a-z_-]*(?::[a-z][a-z_-]*)*:v?[0-9]+(?::(?:[a-z][a-z_-]*|v?[0-9]+))+|[a-z][a-z_-]*(?::[a-z][a-z_-]*)+:v?[0-9]+"
)


_LITERAL = Lazy(rb"(?:null|true|false|nil|none|undefined)[,}\]]", 2)


def is_literal(value: bytes) -> bool:
    """`"password":null,"id":"..."`: nothing is said, and what follows is another field. (A number would be said: a PIN.)"""
    return value[:1] in b"ntfuNTF" and _LITERAL.match(value) is not None


_REGEX = r"\(\?[:i!=<P]|\[\^|\[a-z|\[A-Z|\[0-9|\\[dws][+*?{|)\]]|\\[dws]\\\{"


def is_regex(value: bytes) -> bool:
    """`[A-Za-z0-9]{20,}`: the shape of a secret, not one."""
    return (b"[" in value or b"\\" in value or b"(?" in value) and pattern(_REGEX).has(value)


# Ids that are shown to everybody, by how they are written: what a payment or a model's answer is called, a machine at a provider, a
# request, an address of a currency, a message that was sent, a checksum by its name, a cache, what Kubernetes appends to a name.
_PUBLIC_ID = Lazy(
    rb"(?:cus|price|prod|pi|in|il|evt|acct|sub|si|ch|txn|po|seti|plink|dp|cs_test|cs_live|req|msg|run|thread|asst|resp|toolu|call|step|file|chatcmpl|cmpl|gen|org|proj|batch|vs|ftjob|dpl|prj|we)[-_][A-Za-z0-9]{8,40}"
    rb"|(?:vpc|vpce|subnet|ami|i|sg|eni|rtb|igw|nat|snap|vol|lt|acl|eipalloc|eipassoc|fs|pcx|tgw|dopt)-[0-9a-f]{8,17}"
    rb"|1-[0-9a-f]{8}-[0-9a-f]{24}|0x[0-9a-fA-F]{40}|(?:bc1|tb1|ltc1)[qp][ac-hj-np-z02-9]{25,87}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,80}"
    rb"|re_[13][A-Za-z0-9]{23}|(?:00[0-9A-Za-z]|500|701|a0[0-9A-Za-z])[A-Za-z0-9]{12}(?:[A-Z]{2}[A-Z0-5])?|z6Mk[1-9A-HJ-NP-Za-km-z]{44}"
    rb"|(?:G|GT|AW|DC|UA|GTM)-[A-Z0-9]{6,12}(?:-[0-9]{1,3})?|(?:SM|MM|CA|PN|RE|CF|CH|WS|WR)[0-9a-f]{32}|PL(?:[A-Za-z0-9_-]{16}|[A-Za-z0-9_-]{32})|U[CU][A-Za-z0-9_-]{22}"
)
# What is no secret, whatever it is called: a checksum by its name, a cache, a pod.
_NO_SECRET = Lazy(
    rb"sha(?:1|256|384|512)-[A-Za-z0-9+/]{27,88}=*|(?:[\w.]+-)*(?i:linux|macos|windows|deps)-(?:[\w.]+-)*[0-9a-f]{32,64}"
    rb"|[a-z][a-z0-9]*(?:-[a-z0-9]+)*-[0-9a-f]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}"
)
_LONGEST_ID = 160


def is_public_id(value: bytes) -> bool:
    """`cus_NffrFeUfNV2Hib`, `subnet-05166b675f573aab9`, `1-17bd96b0-c5e1e1218fc72a5ee3089526`: near a word for a secret it is still an id. Not
    where a name says what it is: a key may be written so too."""
    return len(value) <= _LONGEST_ID and (_PUBLIC_ID.fullmatch(value) is not None or is_no_secret(value))


def is_no_secret(value: bytes) -> bool:
    return len(value) <= _LONGEST_ID and _NO_SECRET.fullmatch(value) is not None


_FILE_NAME = Lazy(rb".*[.](?:[a-z]{2,4}|[a-z]+[0-9])")


def is_file_name(value: bytes) -> bool:
    """`reportlab-2.5.win-amd64-py2.7.exe`, `llama-3.1-70b-instruct-q4_k_m.gguf`."""
    return b"." in value and _FILE_NAME.fullmatch(value) is not None


_IN_GROUPS = Lazy(rb"[A-Z0-9]{3,7}(?:-[A-Z0-9]{3,7}){3,7}")


def is_grouped(value: bytes) -> bool:
    """`7QK2F-M3XVB-...`: a key as it is printed to be typed, in groups of one length."""
    return (
        _IN_GROUPS.fullmatch(value) is not None
        and has_digit(value)
        and len({len(group) for group in value.split(b"-")}) == 1
        and not value.replace(b"-", b"").isdigit()
    )


def is_code(value: bytes) -> bool:
    if value.isalnum():
        return (
            value in _CODE_WORDS
            or value.endswith(_CLASSES)
            or (value.startswith(b"0x") and len(value) <= 18 and is_hex(value))  # a pointer
            or (len(value) >= 4 and value.isalpha() and value.isupper())
            or _TYPE.match(value) is not None
        )
    if value.count(b":") >= 2 and _STORED_UNDER.fullmatch(value) is not None:
        return True
    if len(value.translate(None, _CODING)) < len(value):
        return (pattern(_CODE).has(value) and not _is_dotted_noise(value)) or _TYPE.match(value) is not None
    return (
        (value[:4].isupper() and _CONSTANT.fullmatch(value) is not None and not is_grouped(value))
        or _TYPE.match(value) is not None
        or (b"-" in value and _CMDLET.fullmatch(value) is not None)
    )


# `river.tundra27`, `River.Tundra271`, `R1v3r.Tundra271`; `hashlib.sha256`, `np.float32`, `System.Int128` end in a number too.
_SIZED = rb"(?i:sha|md|aes|base|utf|u?int|float|double|decimal|complex|crc|blake|keccak|ripemd|secp|curve|chacha|latin|iso|cp|bytes|win|unicode|vector|pass|token|secret|rs|hs|es|ps)"
_LEET = rb"[A-Za-z][a-z]*(?:[013457][a-z]+)+[013457]?"
_CHOSEN_DOTTED = Lazy(
    rb"(?!(?i:self|this|cls|ctx|config|cfg|conf|settings|args|opts|options|params|req|request|res|response|env|data|event|body|form|values|http|status|errors?|codes?|tests?)\.)"
    rb"(?:(?:[a-z]{3,}|[A-Z][a-z]{3,})\.(?!"
    + _SIZED
    + rb")(?:[a-z]{3,}[0-9]{2,4}|[A-Z][a-z]{3,}[0-9]{3,4})"
    + rb"|(?=[^.]{5})(?!log4|sl[f]?4|v[0-9])"
    + _LEET
    + rb"\.(?!"
    + _SIZED
    + rb")[A-Za-z][a-z]{3,}[0-9]{2,4}|[A-Za-z][a-z]{3,}\.(?!"
    + _SIZED
    + rb")"
    + _LEET
    + rb"[0-9]{2,4})"
)


# `copper_lantern.orbit30`: three words or four, and a number; none of them is what code or a file is called.
_DOTTED_WORDS = Lazy(
    rb"[a-z]{3,12}(?:[._][a-z]{3,12}){2,3}(?<!"
    + rb")(?<!".join(
        word.encode()
        for word in "sha md5 aes base utf int float double decimal complex crc blake vector pass token secret port".split()
    )
    + rb")[0-9]{2,4}"
)
_OF_CODE = frozenset(
    b"""self this cls ctx config cfg conf settings setting args opts options params req request res response env data event body form forms
    values value http https status error errors code codes test tests user users name pass passwd password pwd token key keys secret secrets auth login
    credentials creds db database app apps api url uri host port client server service services module modules model models util utils lib libs
    src layer layers conv linear block torch numpy core nn functional math time date version index field fields input output state props item
    items list table row col column file path line page node com org net www java javax dev class func function method type types var vars local global
    context session message msg event events handler store storage cache query result results object string text number count size default example your my""".split()
)


def _is_dotted_words(value: bytes) -> bool:
    return (
        b"." in value
        and _DOTTED_WORDS.fullmatch(value) is not None
        and _OF_CODE.isdisjoint(_PARTS.split(value.rstrip(_DIGITS)))
    )


def _is_dotted_noise(value: bytes) -> bool:
    """`s.4Kf...`, `mPq7.x9...`, `river.tundra27`: written like an attribute, but nobody names one so."""
    if _CHOSEN_DOTTED.fullmatch(value) or _is_dotted_words(value):
        return True
    body = max(value.split(b"."), key=len)
    return (
        (len(body) >= 16 or (len(body) >= 10 and classes(body) == 3 and value.count(b".") == 1))
        and value.translate(None, b"._" if value.count(b".") == 1 else b".").isalnum()
        and count_digits(body) >= 2
        and (len(_TURNS.findall(body)) >= 2)
        and has_entropy(body, 3.0)
    )


def is_wordy(value: bytes) -> bool:
    """Reads like words: `refresh-token-cookie`, `MyClass`, `loginForm.title`. Random letters run into consonants."""
    digits = count_digits(value)
    if digits > 4 or digits > 0.34 * len(value) or (digits and b"-" in value and is_grouped(value)):
        return False
    if digits >= 2 and value.isalnum() and len(_TURNS.findall(value)) >= 2:
        # Letters go on after digits, and again: `x3k9f` is no word, `sha256sum` is one, `V1beta1TokenReview` says which it is.
        if b"alpha" not in value and b"beta" not in value:
            return False
        value = _API_VERSION.sub(b"", value)
        digits = count_digits(value)
    words = _CAMEL.findall(value)
    letters = sum(map(len, words))
    if not words or letters < 0.7 * len(value):
        return False
    good = 0
    for word in words:
        size = len(word)
        if size <= 2:
            if len(words) <= 4 and not digits:
                good += size
        elif (
            0.16 * size <= size - len(word.translate(None, b"aeiouyAEIOUY")) <= 0.72 * size
            and _CONSONANTS.search(word) is None
        ):
            good += size
    if good < 0.75 * letters:
        return False
    # Noise of both cases with few digits is cut into short words, some of which sound like one: `YATN127MirfFRirdYpJWUAZR`.
    return not (
        digits >= 2 and len(value) >= 16 and value.isalnum() and is_unspoken(value.translate(None, _DIGITS), 0.36)
    )


_SEAMS = Lazy(rb"[^A-Za-z0-9]+")


def is_worded(value: bytes) -> bool:
    """`modules/azure/functions-app/AzFunctionApp`, `BSA_report_2024_final`: a path or the name of something, most of which are words."""
    parts = [part for part in _SEAMS.split(value) if len(part) >= 3]
    words = sum(len(part) for part in parts if is_wordy(part))
    return len(parts) > 1 and 2 * words >= len(value.translate(None, b"0123456789/+=_.-"))


_MEMORABLE = Lazy(rb"[A-Z][a-z]{3,}(?:[0-9]{2,}[!@#$*?]{1,3}|[!@#$*][0-9]{2,}[!?]?)")


def is_memorable(value: bytes) -> bool:
    """`Garden2295!`, `Summer#4808`: short, and yet nothing else."""
    return len(value) >= 8 and _MEMORABLE.fullmatch(value) is not None


_MIXED = Lazy(rb"[0-9][A-Za-z]+[0-9]|[A-Za-z0-9][!^~]+[A-Za-z0-9]")


def is_mixed(value: bytes) -> bool:
    """Letters between digits, or a sign that stands in no word; and nothing that a reference, a path, a call or a version is written with. A glance, for one of many:
    it says yes only where a closer look would."""
    return len(value) >= 6 and value.translate(None, b"!#&*^~+").isalnum() and has_digit(value) and has_mixture(value)


def has_mixture(value: bytes) -> bool:
    return _MIXED.search(value) is not None


def is_run_together(value: bytes) -> bool:
    """`purplemonkeydishwasher`: words without a gap, as a secret is made up; names in code have capitals or dashes."""
    return len(value) >= 20 and value.isalpha() and value.islower()


def is_scrambled(value: bytes) -> bool:
    """Letters alone, but as a generator strings them together: of both cases in no order, or side by side as no word has them.
    Names are made of longer words."""
    value = value.translate(None, b"_-") if value.count(b"_") + value.count(b"-") <= 2 else value
    size = len(value)
    if size < 10 or not value.isalpha():
        return False
    upturns = len(_UPTURNS.findall(value))
    if is_unspoken(value, 0.36 if upturns else 0.45):
        return True
    if upturns < 3:
        return False
    words = len(_CAMEL.findall(value))
    # Of more than five words that are so short, most have two letters at most, and `is_wordy` would not hear of them.
    return 5 * size <= 13 * words and (words > 5 or not is_wordy(value)) and has_entropy(value, 2.75)


# Which letters follow which in English and in names of code: 97 of 100 pairs are among these, of random letters 45.
_FOLLOWS = (
    b"abcdfgiklmnprstuvwxy baceijlorsuy cacdehiklmoprstuy dabdefgiloprstuy eabcdefgilmnopqrstuvwxy faefilorstu gaeghilmnorsu"
    b" haeiorstu iabcdefgklmnoprstvxz jeos kaeis lacdefilopstuvy mabeilmopsu nacdefgiklmnopstuvy oabcdfgiklmnoprstuvwx"
    b" pacdehiloprstuy qu racdefgiklmnoprstuvy sacdefhiklmnopqstuwy tacdefhilmoprstuwy uabcdefgilmnoprst vaeio waehinors xceipt"
    b" yelmnpst zae"
)
_SPOKEN = frozenset((row[0], follower) for row in _FOLLOWS.split() for follower in row[1:])


def is_unspoken(letters: bytes, share: float) -> bool:
    """Whether so many of the pairs are of letters that hardly ever stand side by side. A key on the keyboard's rows is typed,
    and a word of another language may be taken: under the name of a password that is no loss."""
    low = letters.lower()
    odd = sum([pair not in _SPOKEN for pair in zip(low, low[1:], strict=False)])
    return odd >= share * (len(low) - 1) and not is_monotone(letters)


def is_random(value: bytes, least: int = 16) -> bool:
    """Long and mixed enough to have come from a generator."""
    return len(value) >= least and not is_placeholder(value) and is_noise(value, least)


def is_noise(value: bytes, least: int = 16) -> bool:
    """As `is_random`, of what is known not to be a placeholder."""
    size = len(value)
    if size < least or value.isdigit():
        return False
    if is_hex(value):
        if size <= 18 and value.startswith(b"0x"):
            return False  # a pointer, or the id of a PGP key
        return size >= max(16, least) and has_digit(value) and has_entropy(value, 2.6)
    if is_uuid(value):
        return True
    if size >= 24 and b"-" in value and is_hex(value.replace(b"-", b"")):
        return has_digit(value) and has_entropy(value, 2.6)
    if is_wordy(value):
        return False
    if not has_entropy(value, 2.75 if size < 16 else 3.0 if size < 20 else 3.2 if size < 32 else 3.5):
        return False
    return has_digit(value) or (size >= 20 and classes(value) >= 2) or size >= 24


def is_password(value: bytes, *, quoted: bool) -> bool:
    """Something a person or a generator would choose as a password."""
    return 4 <= len(value) <= 256 and not is_placeholder(value) and is_choice(value, quoted=quoted)


def is_choice(value: bytes, *, quoted: bool) -> bool:
    """As `is_password`, of what is known not to be a placeholder."""
    size = len(value)
    if size < 4 or size > 256:
        return False
    if b" " in value or b"\t" in value:
        return False
    kinds = classes(value)
    if value.isdigit():
        return size >= 4 and not (size == 4 and value[:2] in (b"19", b"20"))
    if kinds >= 3 or (kinds >= 2 and has_digit(value)):
        return size >= 5
    if has_symbol(value):
        return size >= 6
    return quoted and size >= 6


def decodes_to_pair(value: bytes) -> bool:
    """The `user:password` of a Basic header or a docker config."""
    import base64
    import binascii

    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[:300] and all(31 < c < 127 or c > 159 for c in plain)


# Every second digit of a card number counts twice, and the digits of the product are added.
_DOUBLED = bytes(48 + (2 * n - 9 if n > 4 else 2 * n) if 0 <= (n := c - 48) <= 9 else c for c in range(256))


def is_luhn(digits: bytes) -> bool:
    total = sum(digits[-1::-2]) + sum(digits[-2::-2].translate(_DOUBLED))
    return (total - 48 * len(digits)) % 10 == 0


def is_card(value: bytes) -> bool:
    """A number in an issuer's range and length, with the right check digit, grouped as cards are printed or not at all."""
    digits = value.translate(None, b" -")
    size = len(digits)
    if not is_luhn(digits):
        return False
    groups = [len(g) for g in _GROUPS.split(value)]
    two, four = int(digits[:2]), int(digits[:4])
    if size == 16:
        known = (
            digits[:1] == b"4" or 51 <= two <= 55 or 2221 <= four <= 2720 or two in (60, 62, 64, 65, 35) or four == 6011
        )
        return known and groups in ([16], [4, 4, 4, 4])
    if size == 15:
        return two in (34, 37) and groups in ([15], [4, 6, 5], [4, 4, 4, 3])
    if size == 14:
        return two in (30, 36, 38, 39) and groups in ([4, 6, 4], [4, 4, 4, 2])
    if size == 19:
        return two in (62, 65, 60) and groups in ([4, 4, 4, 4, 3], [6, 13])
    return False
