"""Looking for secrets: what 4 KB of each kind of text cost, and what 100 KB made to be slow do. CPU time of this process."""

import json
import random
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from recollect.redact import redact

from . import Figure, Run, benchmark, most
from .measure import percentile

SIZE, HOSTILE_SIZE = 4_096, 100_000

# Pieces that, repeated, make some pattern work hard: what names a secret, what opens a value and never closes it.
PIECES = (
    "a", "key=", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "eyJ", "://", ":@", "1234567890", "\"'", "password: ",
    "password is ", 'password="', "token '", "ghp_", "sk-", "cookie: a=b; ", "bearer abcdefgh1 ", "http://a:b@", "?token=abc1234",
    "--token ", "mysql -p ", "seed word ", " ", "\n", "[redacted:x]", "Ab3/", "ab_", "a.", "4 ", "4", "pin 1234 ", "login a / ",
    "password=Abc123xyz!\n", "token=abc123,", "abc123XYZ is my ", "<key>", "\u043f\u0430\u0440\u043e\u043b\u044c ", "\U0001f600",
    '"token" {', "basic ", "key: |\n ", "is my ", "my password is ", "Cookie: a=b;", "password=", "token ", "a_",
    "Password: hunter2 ", 'api_key = "Zx81kLmQ2v9TqW3nB7yR", ', "-p", "(?i)", "user@a.io / ", "AKIAIOSFODNN7ABCDEF2 ",
    "| password |\n", "auth(", "x=", "a:1:b:c:d\n", 'kty d: "', "https://a.b/c?d=e&sig=", "Authorization: ", "{SHA}",
    "code 123456 ", "login a/b ", "pass ", "key ", "secret ", "password\n", "password Abc123xyz! ", "jwt", "passwords: [",
    "password,a\n", "insert into t (password) values (", "it's ",
)  # fmt: skip


def kinds() -> dict[str, str]:
    """4 KB of what people and their tools write."""
    source = Path(__file__).resolve().parents[1] / "src" / "recollect"
    code = (source / "store.py").read_text("utf-8")[4000:8000]
    syntax = (source / "redact" / "syntax.py").read_text("utf-8")
    texts = {
        "prose": "The store keeps every conversation as an ordered log of events and the agent can travel back in them. ",
        "code": code,
        "code about secrets": syntax[syntax.index("_SCHEMES = ") :],  # a finding in it, so that it is searched twice
        "Markdown": (source.parents[1] / "docs" / "how-to" / "redaction.md").read_text("utf-8")[:SIZE],
        "JSON": '{"id": "5f3c", "user": {"name": "kim", "email": "kim@acme.io"}, "tokens": 12, "url": "https://acme.io/a?b=c&d=e"},\n',
        "chat about passwords": "I forgot my password again, can you reset the token? The login page says the password is invalid "
        "and the session expired. Which API key should the client use, and where do we store the secret? Password must be 12 "
        "characters. ",
        ".env": "# settings\nDB_HOST=localhost\nDB_PORT=5432\nDB_PASSWORD=${DB_PASSWORD}\nAPI_KEY=\nLOG_LEVEL=info\nTOKEN_TTL=3600\n"
        "SECRET_NAME=prod/db\n",
        "a keyword on every line": 'token = session.get("token")\nself.password = password\nif not api_key: raise KeyError("secret")\n'
        "auth: AuthConfig = load_auth(path)\ncookie = response.cookies['sid']\n",
        "one secret": code[:2000] + "\nDB_PASSWORD=Falcon#4417\n" + code[2000:],
    }
    return {name: (text * (SIZE // len(text) + 1))[:SIZE] for name, text in texts.items()}


def slices(count: int) -> list[str]:
    """4 KB from anywhere in files that are on every machine and that we did not write: Python's own library."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [
        path
        for path in sorted(library.rglob("*"))
        if path.suffix in (".py", ".txt", ".rst", ".pem", ".json", ".cfg")
        and "site-packages" not in path.parts
        and path.stat().st_size > SIZE
    ]
    rng = random.Random(11)
    texts: list[str] = []
    while len(texts) < count:
        text = rng.choice(files).read_bytes().decode("utf-8", "replace")
        at = rng.randrange(max(1, len(text) - SIZE))
        texts.append(text[at : at + SIZE])
    return texts


NAMES = (
    "password",
    "pwd",
    "secret",
    "token",
    "api_key",
    "pin",
    "passphrase",
    "client secret",
    "DB_PASSWORD",
    "cookie",
    "my password",
)
SEPARATORS = ("=", ": ", " = ", "=>", " is ", '("', ">", ' "', "='", '="', " to ")


def hostile() -> dict[str, str]:
    rng = random.Random(7)

    def some(alphabet: str, size: int) -> str:
        return "".join(rng.choice(alphabet) for _ in range(size))

    mixed = "abcdefghijkXYZ0123456789"
    made = {repr(piece): piece * (HOSTILE_SIZE // len(piece) + 1) for piece in PIECES}
    # The same with a number behind it, so that the text does not repeat itself.
    made |= {
        f"{piece!r} and a number": "".join(f"{piece}{n} " for n in range(HOSTILE_SIZE // len(piece)))
        for piece in PIECES
    }
    made["names, separators and values of every kind"] = "".join(
        rng.choice(NAMES)
        + rng.choice(SEPARATORS)
        + some(rng.choice((mixed, "abcdefghi", "0123456789", "ab-cd@ef.")), 10)
        + rng.choice((" ", "\n", '" ', "; "))
        for _ in range(5_000)
    )
    # Half of what an attack with thousands of random mixtures found to be worst, by kind: sparser, nested, quoted, in one line.
    made["the same with words between them"] = "".join(
        rng.choice(NAMES)
        + rng.choice(SEPARATORS)
        + some(rng.choice((mixed, "abcdefghi", "ab-cd@ef.")), rng.randrange(1, 30))
        + rng.choice((" ", "\n", '" ', "; ", " and then of the store "))
        for _ in range(5_000)
    )
    made["JSON of every name"] = "".join(
        json.dumps(
            {
                rng.choice(NAMES): some(mixed, rng.randrange(1, 30)),
                "id": n,
                rng.choice(NAMES): {"value": [some(mixed, 12)]},
            }
        )
        for n in range(1_500)
    )
    made["JSON in JSON in JSON"] = "".join(
        json.dumps(
            json.dumps(json.dumps({rng.choice(NAMES): some(mixed, rng.randrange(1, 30)), "token": some(mixed, 20)}))
        )
        for _ in range(1_200)
    )
    made["URLs of every kind"] = "".join(
        f"{rng.choice(('http', 'redis', 'ftp'))}://{some(mixed, 6)}{rng.choice((':', ''))}{some(mixed, rng.randrange(1, 16))}"
        f"{rng.choice('@/?')}{some(mixed, 6)}.io{rng.choice(('', '?token=' + some(mixed, 12), '&key=' + some(mixed, 20)))} "
        for _ in range(2_500)
    )
    made["lists of names and values in quotes"] = "".join(
        ",".join(rng.choice((f'"{some(mixed, rng.randrange(1, 12))}"', rng.choice(NAMES))) for _ in range(200)) + "\n"
        for _ in range(60)
    )
    pieces = ("secret ", 'password="', "x=", "https://a.b/c?d=e&sig=", "{SHA}", "password=", "(?i)")
    made["pieces and noise"] = "".join(
        rng.choice(pieces) + rng.choice(("", "", some(mixed, rng.randrange(1, 30)) + rng.choice((" ", "\n", '"'))))
        for _ in range(12_000)
    )
    # One line or one list over and over, with a number in it, so that the text does not repeat itself.
    for row in (
        'secrets = {"a#": "b1c2d3e4",',
        "passwords:\n - a1b2c3#d4e5\n",
        'api_keys = ["Zx81kL#mQ2v9TqW3nB7yR" ',
        "passwords: [\nsk-# ",
    ):
        made[repr(row)] = "".join(row.replace("#", str(n)) for n in range(HOSTILE_SIZE // len(row)))
    made["thousands of passwords"] = "".join(f"password={some(mixed + '!', 10)}\n" for _ in range(5_000))
    made["thousands of tokens"] = "".join(f"token: {some(mixed, 24)}, " for _ in range(3_500))
    made["thousands of keys"] = "".join(f"ghp_{some(mixed, 36)} " for _ in range(2_500))
    made["thousands of numbers"] = "".join(f"{4111111111111111 + n * rng.randrange(1, 9)} " for n in range(6_000))
    made["thousands of PINs"] = "".join(f"my pin is {rng.randrange(1000, 99999)}, " for _ in range(6_500))
    made["noise"] = some("abcdefXYZ019 =:\"'.,;/@-_\n", HOSTILE_SIZE)
    return {name: text[:HOSTILE_SIZE] for name, text in made.items()}


def mixture(seed: int) -> str:
    """A few of the pieces in any order, with noise between them or without: what nobody thought of."""
    rng = random.Random(seed)
    pieces = rng.choices(PIECES, k=rng.randrange(2, 9))
    pieces += [rng.choice(NAMES) + rng.choice(SEPARATORS) for _ in range(rng.randrange(4))]
    noise, ends = (
        rng.choice((0, 0.2, 0.5, 0.9)),
        rng.choice(((" ",), ("\n",), (" ", "\n", '"'), ("",), (" ", ",", ";"))),
    )
    made: list[str] = []
    size = 0
    while size < HOSTILE_SIZE:
        piece = rng.choice(pieces)
        if rng.random() < noise:
            letters = rng.choice(("abcdefghijkXYZ0123456789", "abcdefghi", "0123456789", "ab-cd@ef."))
            piece += "".join(rng.choices(letters, k=rng.randrange(1, 30))) + rng.choice(ends)
        made.append(piece)
        size += len(piece)
    return "".join(made)[:HOSTILE_SIZE]


def cpu_ms(text: str) -> float:
    return cpu_ms_of(lambda: redact(text))


def cpu_ms_of(call: Callable[[], object]) -> float:
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e6


def loop_like(text: str) -> Callable[[], None]:
    """A loop that only counts, for as long as a text takes: what it takes at p99 is the machine, and nothing else."""
    wanted = min(cpu_ms(text) for _ in range(20))

    def count(times: int = 2_000) -> None:
        for _ in range(times):
            pass

    times = round(2_000 * wanted / min(cpu_ms_of(count) for _ in range(20)))
    return lambda: count(times)


@benchmark
def redaction(run: Run) -> Iterator[Figure]:
    """4 KB of several kinds of text, and 100 KB made to be slow; CPU time."""
    taken = []
    for text in slices(run.rounds(1500, 400)):
        redact(text)
        taken.append(cpu_ms(text))
    note = f"p50 {percentile(taken, 0.5):.2f} ms, slowest {max(taken):.2f} ms; each timed once, warm"
    yield Figure(
        f"redact 4 KB, p99 of {len(taken)} pieces of Python's library",
        percentile(taken, 0.99),
        None,
        "ms",
        most(2),
        note,
    )
    # The library is calm text. The densest that we know, each by itself, have the same bar.
    for name, text in kinds().items():
        loop, taken, counted = loop_like(text), [], []
        for _ in range(run.rounds(400, 100)):
            taken.append(cpu_ms(text))
            counted.append(cpu_ms_of(loop))
        note = f"p50 {percentile(taken, 0.5):.2f} ms, fastest {min(taken):.2f} ms; reference: a loop that only counts, as long"
        yield Figure(
            f"redact 4 KB p99: {name}", percentile(taken, 0.99), percentile(counted, 0.99), "ms", most(2), note
        )
    slowest: list[tuple[float, float, str]] = []
    for name, text in hostile().items():
        redact(text[:3000])
        once = min(cpu_ms(text) for _ in range(3))
        slowest.append((once, min(cpu_ms(text + text) for _ in range(2)), name))
    slowest.sort(reverse=True)
    for once, twice, name in slowest[:5]:
        note = f"of {len(slowest)} inputs; twice as long takes {twice / once:.1f} times as long"
        yield Figure(f"redact 100 KB, hostile: {name}", once, None, "ms", most(50), note)
    twice, name = max((twice, name) for _, twice, name in slowest)
    # Below that a text may go whole at one length and be searched at the other; neither takes long.
    most_often = max(twice / once for once, twice, _ in slowest if once > 25)
    note = f"{name}; twice as long takes at most {most_often:.1f} times as long, where 100 KB take 25 ms or more"
    yield Figure("redact 200 KB, the slowest, for each 100 KB", twice / 2, None, "ms", most(50), note)
    taken = []
    for seed in range(run.rounds(400, 40)):
        text = mixture(seed)
        redact(text[:3000])
        taken.append(min(cpu_ms(text) for _ in range(2)))
    within = sum(ms <= 50 for ms in taken)
    note = f"{within} of {len(taken)} within 50 ms; p50 {percentile(taken, 0.5):.0f} ms, slowest {max(taken):.0f} ms"
    yield Figure(
        "redact 100 KB, p95 of random mixtures of hostile pieces", percentile(taken, 0.95), None, "ms", most(50), note
    )
