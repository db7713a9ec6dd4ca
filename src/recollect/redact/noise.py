"""Numbers and noise: card numbers, and runs of random characters beside a word for a secret."""

from __future__ import annotations

from .engine import BARRIER, Lazy, either, outline, pattern, rx
from .judge import is_path
from .scan import MANY, Scan, Span, line_around
from .values import (
    classes,
    count_digits,
    count_lower,
    count_upper,
    entropy,
    has_digit,
    is_card,
    is_code,
    is_file_name,
    is_hex,
    is_mixed,
    is_placeholder,
    is_public_id,
    is_random,
    is_reference,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CARD = r"(?:^|[^\w.+/%=-]|[a-z]=|(?:PAN|CARD|NUMBER|CC)=)((?:[0-9][ -]?){12,18}[0-9])(?:[^\w/%-]|$)"


_MORE_OF_THEM = Lazy(rb" ([0-9]{4} [0-9]{4})(?: [0-9]{4} [0-9]{4})?")


def _are_listed(data: bytes, end: int) -> bool:
    """Whether more numbers with four digits follow, and they are no card themselves: a list of warnings, of ports, of years."""
    more = _MORE_OF_THEM.match(data, end, end + 20)
    return more is not None and not (more.end() - end == 20 and is_card(more.group()[1:]))


def cards(scan: Scan) -> Iterator[Span]:
    """Payment card numbers with a valid check digit."""
    data = scan.data
    for ((start, end),) in scan.everywhere(_CARD, groups=False):
        # The number is what is matched without the characters around it, none of which is a digit.
        while not 48 <= data[start] <= 57:
            start += 1
        if not 48 <= data[end - 1] <= 57:
            end -= 1
        if (
            scan.recall("card", data[start:end], is_card)
            and not _are_listed(data, end)
            and data[end : end + 2]
            not in (
                b".0",
                b".1",
                b".2",
                b".3",
                b".4",
                b".5",
                b".6",
                b".7",
                b".8",
                b".9",
            )
        ):
            yield Span(start, end, "card-number", 1)


_LONG = r"[A-Za-z0-9_+/=.~-]{20,}"
_NEAR_WORD = Lazy(
    rb"pass(?:word|phrase)?|secret|token|\bkeys?\b|api[ _-]?key|[_-]keys?(?:[^a-z]|$)|credential|creds|auth(?!ors?(?![a-z]))|bearer|fernet|hmac|cipher|wallet|\bwif\b|privkey"
)
_NEAR_STEMS = (
    b"pass",
    b"secret",
    b"token",
    b"key",
    b"cred",
    b"auth",
    b"bearer",
    b"fernet",
    b"hmac",
    b"cipher",
    b"wallet",
    b"wif",
)
NOT_NEAR = r"public|pub_?key|site[_-]?key|websocket-key|restore-keys|ssh-(?:rsa|ed25519)|aaaa[bc]3|certificate|data:|base64|integrity|checksum|sha(?:1|224|256|384|512)|md5|resolved|etag|digest|fingerprint|thumbprint|urn:|commit|revision|cache|arn:|(?:next|page|change|lock|starting)[-_ ]?token|continuation|pk_(?:live|test)_|publishable|ciphervalue"
_ENCRYPTED = Lazy(
    rb"\b(?:(?:vault:v\d+|h1|zh):|enc\()$"
)  # by a vault; or the hash of a module of Go, of a provider of Terraform
PUBLIC_PART = Lazy(rb"[\"'](?:n|x|y|x5c|x5t)[\"'][ \t]*:[ \t]*\[?[\"']$")  # of a JSON Web Key
_OF_A_CACHE = Lazy(rb"(?:[\w.]+-)+[0-9a-f]{32,64}")  # `restored from key npm-linux-...`
_IDENTIFYING = (b"id", b"arn", b"name", b"uuid", b"accessor")
IDENTIFIES = Lazy(rb"(?:" + b"|".join(_IDENTIFYING) + rb")[\"'\s:=]*$")


# Said right before it, digits of a hash are a key as well.
_KEY_OF_HEX = Lazy(
    rb"(?:(?:api|private|secret|access|auth|encryption|signing|master|ecdsa|this|my|your|our)[ _-]?key|secret|token|\bpk|privatekeytoaccount)[\"'`:=( \t]{1,6}$"
)
_NAMES_A_HASH = r"hash|tx|transaction|block|topic|root|cache|csrf|next|page|cancel"


_HEX_SIZES = (32, 34, 48, 50, 64, 66, 128, 130)  # with `0x` or without


def _is_hex_key(value: bytes) -> bool:
    return (
        len(value.removeprefix(b"0x")) in (32, 48, 64, 128)
        and is_hex(value)
        and is_random(value.removeprefix(b"0x"), 32)
    )


def near(scan: Scan) -> Iterator[Span]:
    """Noise on the same line as a word for a secret; forty characters of it after `aws` or `secret` are an AWS key."""
    data, low = scan.data, scan.low
    if scan.longest < 20:
        return
    beside_key_id, has_jwk = b"AKIA" in data or b"ASIA" in data, b"kty" in low
    has_blanks = BARRIER in data
    clear = 0  # up to here no word stands that says otherwise, from 400 characters before the last match on
    hits, word_at, stems = 0, -1, either(_NEAR_STEMS)
    for ((start, end),) in scan.spans(_LONG, scan.lines_with_runs(), groups=False):
        if word_at < start - 80:  # the next word for a secret; most runs have none before them
            word = stems.first(low, max(0, start - 80), len(low))
            word_at = word[0][0] if word else len(low)
        if word_at >= end and not (beside_key_id and end - start == 40):
            continue
        if end - start > 1024 or not has_digit(data[start:end]):
            continue
        # Past markers and lines nothing is near.
        left = low[max(0, start - 80) : start].rpartition(b"\n")[2]
        if has_blanks:
            left = left.rpartition(BARRIER)[2]
        begin = start - len(left)
        if not left and b"\n" in data[max(0, start - 3) : start]:
            above = data[max(0, start - 80) : start].rpartition(BARRIER)[2].rstrip()
            left = above.rpartition(b"\n")[2].lower() if above.endswith(b":") else b""
            begin = len(low)
        if end - start == 40 and beside_key_id and scan.recall("aws", data[start:end], _is_aws_secret):
            yield Span(start, end, "aws-secret-key", 1)
            continue
        if not left and b"=" not in data[start : end - 2]:
            continue
        value = data[start:end].rstrip(b".:-_")
        if b"=" in value[:-2]:
            head, _, value = value.rpartition(b"=") if not value.endswith(b"=") else (b"", b"", value)
            left += head.lower()
            start = (
                end - len(value)
                if not data[start:end].endswith((b".", b":", b"-", b"_"))
                else data.find(value, start, end)
            )
        size = len(value)
        if data[start + size : start + size + 1] == b"@":
            continue  # somebody's address
        if (
            size < 20
            or (start in scan.taken and size != 40)
            or _NEAR_WORD.search(left, max(0, word_at - begin - 5)) is None  # `api-` may stand before `key`
            or left.rstrip(b"=").endswith(b"key=null value")  # of a message
            or left.rstrip(b"\"' \t\r\n\f\v:=").endswith(_IDENTIFYING)  # `IDENTIFIES`, in a tenth of the time
            or (left.endswith(b" key ") and _OF_A_CACHE.fullmatch(value) is not None)
            or (left.endswith((b":", b"(")) and _ENCRYPTED.search(left) is not None)
            or scan.is_sealed(value)
            or (has_jwk and PUBLIC_PART.search(left) is not None)
        ):
            continue
        if (
            size == 40
            and (b"aws" in left or b"amazon" in left or b"secret" in left or b"akia" in left)
            and scan.recall("aws", value, _is_aws_secret)
        ):
            yield Span(start, start + size, "aws-secret-key", 1)
            continue
        if data[start - 1 : start] not in (
            b" ",
            b'"',
            b"'",
            b"`",
            b":",
            b"=",
            b"(",
            b">",
            b"[",
            b"\t",
            b"|",
            b"\n",
        ):
            continue
        is_key = size in _HEX_SIZES and scan.recall("hex", value, _is_hex_key) and _KEY_OF_HEX.search(left) is not None
        is_one_of_many = (
            hits > MANY
            and count_digits(value) > 2
            and count_upper(value) > 1
            and count_lower(value) > 1
            and is_mixed(value)
            and not is_public_id(value)
            and not is_file_name(value)
        )
        if not is_key and not is_one_of_many and not scan.recall("near", value, _is_lonely_noise, alike=True):
            continue
        if start + 400 > clear:
            other = outline(NOT_NEAR).first(low, max(0, start - 400), len(low))
            clear = other[0][0] if other else len(low) + 400
        if start + 400 > clear and outline(NOT_NEAR).has(line_around(low, start)):
            continue
        if not is_key or not pattern(_NAMES_A_HASH).has(left):
            hits += 1
            yield Span(start, start + size, "api-key", 3)


def _is_aws_secret(value: bytes) -> bool:
    return (
        classes(value.replace(b"/", b"").replace(b"+", b"")) >= 3
        and entropy(value) >= 4.2
        and not is_placeholder(value)
        and not rx(rb"[_.~=-]").search(value)
    )


_CONSTANT = Lazy(rb"[A-Z]+[0-9]{0,4}(?:_[A-Z]+[0-9]{0,4}){2,}")


def _is_lonely_noise(value: bytes) -> bool:
    if count_digits(value) < 2 and not count_upper(value):
        return False  # `tls1multi_maxsndfrag`
    if b"_" in value and _CONSTANT.fullmatch(value):
        return False  # `POLY1305_AES_KEY_SIZE`
    if not has_digit(value) or classes(value) < 3 - (len(value) >= 32) or is_hex(value) or is_uuid(value):
        return False
    if is_public_id(value) or is_file_name(value):
        return False
    if value.isalnum():
        return is_random(value, 20) and not is_code(value)  # none of what follows could be
    if (
        value.count(b"/") > 3
        or value.count(b".") > 2
        or is_path(value)
        or is_code(value)
        or is_reference(value)
        or not is_random(value, 20)
    ):
        return False
    parts = rx(rb"[-_./]").split(value)
    return len(parts) == 1 or not all(len(part) < 8 or is_wordy(part) for part in parts)
