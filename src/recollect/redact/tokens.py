"""Tokens by their vendors' shapes: which families a text calls for, where they match, and whether the filling is a vendor's."""

from __future__ import annotations

from functools import cache, lru_cache

from .engine import BARRIER, Lazy, Pattern, either, outline, pattern
from .noise import IDENTIFIES
from .scan import CROWD, MANY, Scan, Span, line_around, nowhere_else
from .values import (
    count_digits,
    count_lower,
    count_upper,
    has_entropy,
    has_mixture,
    is_hex,
    is_placeholder,
    is_public_id,
    is_random,
    is_token_placeholder,
    is_worded,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .families import Family


@cache
def _screen() -> tuple[Pattern, dict[bytes, list[int]]]:
    """One pattern of all literals, and the families that ask for each of them, but for those too short to be in it."""
    from .families import FAMILIES

    wanted: dict[bytes, list[int]] = {}
    for number, family in enumerate(FAMILIES):
        for trigger in family.triggers:
            if not _is_short(trigger, family):
                wanted.setdefault(trigger.encode(), []).append(number)
    ordered = sorted(wanted, key=lambda literal: (-len(literal), literal))
    return outline(either_of(ordered)), wanted


def prefixes() -> Pattern:
    """All literals with which a token may begin, but for the shortest."""
    return _screen()[0]


def _is_short(trigger: str, family: Family) -> bool:
    return len(trigger) < 5 and (len(trigger) < 3 or family.least >= 30)


_EVERYDAY = frozenset((b"==", b".", b"pat", b"/", b"s.", b"st.", b"|", b"_", b"-"))


@cache
def _short() -> tuple[list[tuple[bytes, int]], list[tuple[bytes, int]], Pattern]:
    """The short literals and the families that ask for them: those of every day, the rare ones, and one pattern of these."""
    from .families import FAMILIES

    short = [
        (trigger.encode(), number)
        for number, family in enumerate(FAMILIES)
        for trigger in family.triggers
        if _is_short(trigger, family)
    ]
    rare = [row for row in short if row[0] not in _EVERYDAY]
    return (
        [row for row in short if row[0] in _EVERYDAY],
        rare,
        either(tuple(sorted({literal for literal, _ in rare}))),
    )


@cache
def _calls(literal: bytes) -> frozenset[int]:
    """The families that a literal calls for, itself or by another literal inside it."""
    return frozenset(n for other, numbers in _screen()[1].items() if other in literal for n in numbers)


@cache
def _literals(triggers: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(trigger.encode() for trigger in triggers)


def either_of(literals: Iterable[bytes]) -> str:
    """A pattern of literals."""
    return "|".join([rf"\Q{literal.decode()}\E" for literal in literals])


def _called(scan: Scan) -> list[tuple[Family, list[tuple[int, int]] | None]]:
    """The families that may match, and in which lines, if they can match only where their literal stands."""
    from .families import CALLED_FROM_AFAR, FAMILIES

    data, longest = scan.data, scan.longest
    screen, wanted = _screen()
    numbers: set[int] = set()
    places: dict[int, list[int]] = {}
    hits = 0
    for ((start, end),) in screen.spans(data, overlapping=True):
        called = _calls(data[start:end])
        numbers.update(called)
        for number in called:
            places.setdefault(number, []).append(start)
        hits += 1
        if hits > 200:  # dense with some literals, perhaps on purpose: the others are looked for without them
            places.clear()
            others = [literal for literal, called in wanted.items() if not numbers.issuperset(called)]
            while others:
                found = next(_any_of(tuple(others)).spans(data, start), None)
                if found is None:
                    break
                ((start, end),) = found
                numbers.update(_calls(data[start:end]))
                others = [literal for literal in others if not numbers.issuperset(wanted[literal])]
            break
    everyday, rare, any_rare = _short()
    noisy = bool(scan.lines_with_noise())
    for literal, number in everyday + rare if any_rare.has(data) else everyday:
        family = FAMILIES[number]
        if (
            family.least <= longest
            and (noisy or family.name not in _WITH_DIGITS)
            and number not in numbers
            and literal in data
        ):
            numbers.add(number)
            places.pop(number, None)
    rows: list[tuple[Family, list[tuple[int, int]] | None]] = []
    for number in sorted(numbers):
        family = FAMILIES[number]
        if family.least <= longest:
            here = number in places and family.name not in CALLED_FROM_AFAR
            rows.append((family, _lines(data, places[number]) if here else None))
    return rows


@lru_cache(maxsize=64)
def _any_of(literals: tuple[bytes, ...]) -> Pattern:
    return Pattern(either_of(literals))


def _lines(data: bytes, places: list[int]) -> list[tuple[int, int]]:
    """The lines in which these places are, each with the end of the one before it."""
    lines: list[tuple[int, int]] = []
    done = -1
    for place in places:
        if place >= done:
            done = data.find(b"\n", place) + 1 or len(data)
            lines.append((max(0, data.rfind(b"\n", 0, place)), done))
    return lines


def tokens(scan: Scan) -> Iterator[Span]:
    from .families import GENERIC

    data = scan.data
    called: list[tuple[Family, list[tuple[int, int]] | None]] | None = scan.kept.get("families")
    if called is None:
        called = _called(scan)
    else:
        called = [row for row in called if any(map(data.__contains__, _literals(row[0].triggers)))]
    scan.kept["families"] = called
    source_of = _after_an_escape if scan.kept.setdefault("escapes", _ESCAPE.search(data) is not None) else _as_it_is
    seen: set[int] = set()  # where a vendor's own shape begins: a looser one need not be judged there
    for family, lines in called:
        generic = family.name in GENERIC
        if generic and len(seen) > CROWD:
            scan.is_whole = False  # a dump: what is looser is looked for when it is blanked
            continue
        hits = 0
        # `vendor-token` takes the end of the line before it and its own: see `Scan`.
        every = family.name == "vendor-token"
        reach = None if family.name == "azure-key" else nowhere_else
        source = source_of(family.pattern)
        whole = _is_whole(source)
        for spans in scan.everywhere(source) if every else scan.spans(source, lines, reach, groups=not whole):
            start, end = spans[0] if whole else spans[1]
            if start < 0 or (generic and start in seen):
                continue
            value = data[start:end]
            if value[-1] in b".-_":
                value = value.rstrip(b".-_")
                end = start + len(value)
            if (generic or hits < MANY or not has_mixture(value)) and (
                is_token_placeholder(value[:4096]) or not _fits(family, value, data, start)
            ):
                continue
            hits += 1
            if not generic:
                seen.add(start)
            yield Span(start, end, family.name, 3 if generic else 0)


_ESCAPE = Lazy(rb"\\(?:[nrt]|u[0-9A-Fa-f]{4})(?=[A-Za-z0-9])")


def _as_it_is(source: str) -> str:
    return source


@cache
def _after_an_escape(source: str) -> str:
    """The same, where the end of a line is written as `\\n`: its letter is no part of the word after it."""
    escape = r"\\[nrt]|\\u[0-9A-Fa-f]{4}"
    if source.startswith(r"\b("):
        return rf"(?:{escape}|\b){source[2:]}"
    return f"(?:{escape}|^{source[4:]}" if source.startswith("(?:^") else source


@cache
def _is_whole(source: str) -> bool:
    """Whether the secret is all that a pattern matches: then its groups need not be asked for, which takes re2 four times as long."""
    inner = source.removeprefix(r"\b").removesuffix(r"\b")
    if not inner.startswith("(") or not inner.endswith(")") or inner.startswith("(?"):
        return False
    depth, at, within = 0, 0, False
    while at < len(inner):
        char = inner[at]
        if char == "\\":
            at += 2
            continue
        if within:
            within = char != "]" or inner[at - 1] == "["
        elif char == "[":
            within = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return at == len(inner) - 1
        at += 1
    return False


_BLOB = r"(?i)base64|aes256_gcm|dnskey|rrsig|signature[\"']?[ \t]*[:=]|sha(?:1|256|384|512)|integrity|h1:|checksum|digest|hash"


_LOOSE = frozenset(("vendor-token", "vendor-noise", "resend-key"))
_WITH_DIGITS = frozenset(
    "vendor-token vendor-noise ngrok-authtoken vault-legacy-token google-recaptcha-key spotify-token".split()
)
"""Those whose filling is noise with a digit, or it does not fit."""


def _fits(family: Family, value: bytes, data: bytes, start: int) -> bool:
    """Whether the filling is what the vendor would have made."""
    name = family.name
    if name in _LOOSE and is_public_id(value):
        return False
    if name == "vendor-token":
        head, _, body = value.replace(b"-", b"_").rpartition(b"_")
        if len(body) < 20 or not _is_noise(body) or _HASHY.search(head) is not None:
            return False
        if IDENTIFIES.search(data[max(0, start - 24) : start].rpartition(BARRIER)[2].lower()) is not None:
            return False
        if is_hex(body) and _KEYISH.search(head) is None:
            return False  # a prefix and hex digits is how most systems write an id
        return not pattern(_BLOB).has(line_around(data, start))
    if name == "vendor-noise":
        head, _, body = value.partition(b"_")
        longest = max(_DASHES.split(body), key=len)
        return (
            data[start - 1 : start] not in _JOINS
            and data[start + len(value) : start + len(value) + 1] not in (*_JOINS, b"(", b"[", b"=")
            and 12 <= len(longest) <= len(value) <= 130
            and count_upper(body) >= 4
            and count_lower(body) >= 4
            and count_digits(body) >= 4
            and not any(len(part) >= 5 and (is_wordy(part) or part.isalpha()) for part in _DASHES.split(body))
            and has_entropy(body, 4.2)
            and _HASHY.search(head) is None
            and IDENTIFIES.search(data[max(0, start - 24) : start].rpartition(BARRIER)[2].lower()) is None
            and not pattern(_BLOB).has(line_around(data, start))
        )
    if name == "sk-key":
        return (
            not value.startswith((b"sk-ecdsa-", b"sk-ssh-"))
            and is_random(value[3:].replace(b"-", b"").replace(b"_", b""), 18)
            and not is_wordy(value[3:])
        )
    if name == "elevenlabs-key":
        return is_random(value[3:], 24)
    if name == "jwt":
        return len(value) >= 40 or value.count(b".") >= 2
    if name == "azure-key":
        # What else is handed over as `code`, a program for instance, has other characters escaped than base64 has.
        if _ESCAPED.search(value) is not None or is_worded(value):
            return False
        return not pattern(_BLOB).has(line_around(data, start)) and (len(set(value)) >= 30 or not value.endswith(b"=="))
    if name == "bitbucket-token" or data[max(0, start - 12) : start] in _STYTCH:
        return not is_worded(value)
    if name in (
        "resend-key",
        "vault-token",
        "mailgun-key",
        "coinbase-key",
        "facebook-token",
        "twilio-key",
        "ngrok-token",
        "llm-key",
    ):
        return (is_random(value[-24:], 16) or is_random(value, 16)) and not is_worded(value)
    if name in ("ngrok-authtoken", "vault-legacy-token", "google-recaptcha-key", "spotify-token"):
        body, end = value.rpartition(b".")[2], start + len(value)
        if name == "google-recaptcha-key" and _SITE_KEY.search(data[max(0, start - 16) : start].lower()) is not None:
            return False  # the half that every visitor sees
        return (
            data[start - 1 : start] not in _JOINS
            and data[end : end + 1] not in (*_JOINS[:-1], b"(", b"[")
            and data[end : end + 2] not in (b"==", b"()")
            and count_upper(body) >= 2
            and count_lower(body) >= 2
            and _is_noise(body)
        )
    if name == "secret-link":
        return count_digits(value) > 0 and not is_worded(value)  # `/reset/factory-reset-instructions`
    if name == "webhook":
        return count_digits(value) > 0  # `cmake/hooks/post/Determine-Compiler`
    if name == "discord-token":
        return len(set(value)) >= 20
    return True


_JOINS = (b"+", b"/", b"-", b"_", b"$", b".")  # part of a path, of code or of a blob; a sentence may end in the last
_DASHES = Lazy(rb"[-_]")
_STYTCH = (b"secret-live-", b"secret-test-")
_ESCAPED = Lazy(rb"%(?!2[BbFf]|3[Dd])")
_LONG_WORDS = Lazy(rb"[A-Z]?[a-z]{3,}")
_SITE_KEY = Lazy(rb"site[-_]?key[\"'\s:=(]*$")
_KEYISH = Lazy(rb"(?:^|_)(?:key|token|secret|sk|pat|live|test|prod|api|auth|access|pw|tok)(?:_|$)")
_HASHY = Lazy(
    rb"^(?:sha|sha1|sha256|sha512|md5|commit|rev|hash|build|img|image|chunk|css|js|cid|etag|run|req|id|uuid|trace|span|session_id|msg|call|toolu|chatcmpl|resp|evt|cus|sub|pi|ch|in|"
    rb"price|prod|acct|txn|file|asst|thread|step|vs|cm|gen|batch|org|proj|user|pk|pub|pk_live|pk_test|phc|rs|fc|ws|obj|node|ref|log|snap|ami|vol|vpc|subnet|sg|eni|rtb|igw|i|arn|cache|nonce|version|dpl|sha384)$"
)


def _is_noise(body: bytes) -> bool:
    """Random letters and digits of both cases, as a key generator makes them; a hash has one case."""
    upper, lower, digits = count_upper(body), count_lower(body), count_digits(body)
    if not digits or is_placeholder(body) or is_wordy(body):
        return False
    words = sum(len(word) for word in _LONG_WORDS.findall(body) if is_wordy(word))
    if 2 * words >= len(body):
        return False  # `PKCS12SafeContentsStr`
    if upper >= 2 and lower >= 2:
        return is_random(body, 20)
    return len(body) >= 28 and digits >= 4 and is_random(body, 24)
