"""The labelled set: secrets in realistic surroundings, and what only looks like one.

There are thirteen groups, each written after the patterns had been mended against the one before it; what was caught of a group
*before* that is in docs/redaction-quality.md. The seventh holds only what went wrong in a set that is not kept here, the
eighth to the tenth that and some of what went right in others. The eleventh is what went wrong in three sets made by a
generator from the shapes that public secret scanners look for, and what only looks like those; the twelfth and the
thirteenth what went wrong in others that were made without having read anything here.

No line of the files holds a live-looking token, or the push protection of code hosts would refuse them: `*_secrets.jsonl`
store each secret as a template such as `ghp_<alnum:36>`, its text with `{{0}}` in its place, and both are filled in here
from a generator seeded by the line itself, so that every run and every machine sees the same values.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recollect.redact import family_names, redact
from recollect.redact.families import catalogue

FOLDER = Path(__file__).parent / "redaction"
GROUPS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
)
_B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "-_",
    "digits": string.digits,
    "letters": string.ascii_letters,
    "az": string.ascii_lowercase,
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "pw": string.ascii_letters + string.digits + "!@#$%^&*?+",
}
WORDS = (
    "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic "
    "acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice aerobic affair "
    "afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all alley allow almost "
    "alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient anger angle angry animal "
    "ankle announce annual another answer antenna antique anxiety any apart apology appear apple approve april arch arctic area"
).split()
_SLOT = re.compile(r"<([A-Za-z0-9]+)(?::(\d+))?>")


class Secret(NamedTuple):
    family: str
    source: str
    text: str
    secrets: tuple[str, ...]


class Clean(NamedTuple):
    source: str
    text: str


def _luhn(prefix: str, size: int, rng: random.Random) -> str:
    digits = prefix + "".join(rng.choice(string.digits) for _ in range(size - 1 - len(prefix)))
    total = sum(sum(divmod(int(d) * (2 if i % 2 == 0 else 1), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def _b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _fill(kind: str, size: int, rng: random.Random) -> str:
    if kind == "uuid":
        h = "".join(rng.choice("0123456789abcdef") for _ in range(32))
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"
    if kind == "github":  # GitHub's tokens end in six digits of base 62: the CRC-32 of the rest
        body = "".join(rng.choice(_B62) for _ in range(30))
        crc, check = zlib.crc32(body.encode()), ""
        for _ in range(6):
            crc, digit = divmod(crc, 62)
            check = _B62[digit] + check
        return body + check
    if kind == "card":
        return _luhn({16: "4", 15: "37", 14: "36"}[size], size, rng)
    if kind == "master":
        return _luhn("53", 16, rng)
    if kind == "spaced":
        n = _luhn("4", 16, rng)
        return " ".join(n[i : i + 4] for i in range(0, 16, 4))
    if kind == "dashed":
        n = _luhn("52", 16, rng)
        return "-".join(n[i : i + 4] for i in range(0, 16, 4))
    if kind == "jwt":
        head = _b64url(b'{"alg":"HS256","typ":"JWT"}')
        body = _b64url(
            json.dumps({"sub": str(rng.randrange(10**9)), "iat": rng.randrange(16 * 10**8, 18 * 10**8)}).encode()
        )
        return f"{head}.{body}.{''.join(rng.choice(ALPHABETS['b64url']) for _ in range(43))}"
    if kind == "pair":  # base64 of user:password
        return base64.b64encode(("kim:" + "".join(rng.choice(ALPHABETS["alnum"]) for _ in range(12))).encode()).decode()
    if kind == "words":
        return " ".join(rng.sample(WORDS, size))
    if kind == "pem":
        lines = ["".join(rng.choice(ALPHABETS["b64"]) for _ in range(64)) for _ in range(size)]
        return "MIIEvgIBADANBgkq" + "\n".join(lines)[16:]
    if kind == "memorable":
        word = rng.choice("Tiger Falcon Winter Summer Coffee Purple Monday Rocket Dragon Castle Orange Silver".split())
        return f"{word}{rng.choice('!@#$_-')}{rng.randrange(10, 9999)}"
    if kind == "simple":
        word = rng.choice(
            "tiger falcon winter sunshine coffee purple monkey rocket dragon castle orange silver".split()
        )
        return f"{word}{rng.randrange(10, 9999)}"
    if kind in ("human", "humanurl"):
        return _human(rng, "!$*-_+." if kind == "humanurl" else "!@#$*-_+?.%^")
    if kind == "words4":
        return " ".join(rng.sample(WORDS, 4))
    if kind == "b64enc":  # base64 of readable text
        return base64.b64encode("".join(rng.choice(ALPHABETS["alnum"]) for _ in range(size)).encode()).decode()
    alphabet = ALPHABETS[kind]
    while True:
        value = "".join(rng.choice(alphabet) for _ in range(size))
        if kind in ("hex", "lower", "upper", "alnum", "b64", "b64url", "pw") and size >= 8:
            if not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
                continue
        if kind == "pw" and (value[0] in "!@#$%^&*?+" or value[-1] in "!@#$%^&*?+"):
            continue
        return value


def _human(rng: random.Random, symbols: str) -> str:
    """A password as people choose them, or as their password manager does."""
    word = rng.choice(
        "Sommer winter Berlin Shadow purple Dragon Banana Coffee Arsenal pepper Monaco Thunder welcome Admin".split()
    )
    other = rng.choice("horse Battery river Garden Stone falcon Rocket Window".split())
    year, two, mark = rng.randrange(1970, 2026), rng.randrange(10, 100), rng.choice(symbols)
    leet = word.translate(str.maketrans("aeo", "430"))
    noise = "".join(rng.choice(ALPHABETS["alnum"]) for _ in range(9))
    return rng.choice(
        [
            f"{word}{year}{mark}",
            f"{word}{mark}{year}",
            f"{leet}{two}{mark}",
            f"{mark}{word}{two}x",
            f"{word}{other}{two}",
            f"{word.lower()}{two}{other.lower()}",
            f"{word.lower()}-{other.lower()}-{two}",
            f"{noise[:4]}{mark}{noise[4:]}{rng.choice(symbols)}{two}",
            f"{noise}{two}Q",
            f"P{rng.choice('@4')}ssw0rd{two}{mark}",
        ]
    )


def expand(template: str, rng: random.Random) -> str:
    return _SLOT.sub(lambda m: _fill(m[1], int(m[2] or 0), rng) if m[1] in _KINDS else m[0], template)


_KINDS = {
    *ALPHABETS,
    "uuid",
    "github",
    "card",
    "master",
    "spaced",
    "dashed",
    "jwt",
    "pair",
    "words",
    "pem",
    "memorable",
    "simple",
    "human",
    "humanurl",
    "words4",
    "b64enc",
}


def _seed(line: str) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha256(line.encode()).digest()[:8], "big"))


def _lines(sort: str, group: str | None) -> Iterator[str]:
    for name in [group] if group else GROUPS:
        yield from (FOLDER / f"{name}_{sort}.jsonl").read_text(encoding="utf-8").splitlines()


def secrets(group: str | None = None) -> Iterator[Secret]:
    """Those of a group, or all."""
    for line in _lines("secrets", group):
        row = json.loads(line)
        rng = _seed(line)
        values = [expand(template, rng) for template in row["secrets"]]
        text = expand(row["text"], rng) if row.get("fill") else row["text"]
        for number, value in enumerate(values):
            escaped = value.replace("\n", row["newline"]) if "newline" in row else value
            values[number] = escaped
            text = text.replace(f"{{{{{number}}}}}", escaped)
        yield Secret(row["family"], row["source"], text, tuple(values))


def clean(group: str | None = None) -> Iterator[Clean]:
    for line in _lines("clean", group):
        row = json.loads(line)
        yield Clean(row["source"], expand(row["text"], _seed(line)) if row.get("fill") else row["text"])


# -- measuring -------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[1] / "docs" / "redaction-quality.md"
IN_GROUPS = {group: list(secrets(group)) for group in GROUPS}
CLEAN_IN_GROUPS = {group: list(clean(group)) for group in GROUPS}
# Of each group when it had just been written: secrets caught, of how many; wrongly redacted, of how many.
BEFORE = {
    "first": "97.1 %, 1.8 %",
    "second": "84.8 %, 1.6 %",
    "third": "83.2 %, 1.3 %",
    "fourth": "87.9 %, 0.0 %",
    "fifth": "75.7 %, 0.7 %",
    "sixth": "93.1 %, 1.5 %",
    "seventh": "13.2 %, 27.0 %",
    "eighth": "57.3 %, 25.0 %",
    "ninth": "42.0 %, 28.8 %",
    "tenth": "10.0 %, 23.0 %",
    "eleventh": "6.9 %, 3.9 %",
    "twelfth": "8.2 %, 25.0 %",
    "thirteenth": "5.1 %, 61.5 %",
}


def leaks(secret: str, text: str) -> bool:
    """Whole, or a line of it when it has several."""
    return secret in text or any(len(line) > 24 and line in text for line in secret.split("\n"))


def missed(row: Secret) -> int:
    safe = redact(row.text).text
    return sum(leaks(secret, safe) for secret in row.secrets)


def groups() -> str:
    """Each group before and after the patterns were mended against it, as Markdown."""
    rows = [
        "| group | secrets | not secrets | before: caught, wrongly redacted | now: caught, wrongly redacted |",
        "|---|---:|---:|---|---|",
    ]
    for group in GROUPS:
        total = sum(len(row.secrets) for row in IN_GROUPS[group])
        lost = sum(map(missed, IN_GROUPS[group]))
        wrong = sum(bool(redact(line.text).findings) for line in CLEAN_IN_GROUPS[group])
        count = len(CLEAN_IN_GROUPS[group])
        now = f"{1 - lost / total:.1%}, {wrong / count:.1%}".replace("%", " %")
        rows.append(f"| {group} | {total} | {count} | {BEFORE[group]} | {now} |")
    return "\n".join(rows)


def table() -> str:
    """Recall per family and false positives per source over all groups, as Markdown."""
    hit: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for row in [row for rows in IN_GROUPS.values() for row in rows]:
        total[row.family] += len(row.secrets)
        hit[row.family] += len(row.secrets) - missed(row)
    wrong: dict[str, int] = defaultdict(int)
    seen: dict[str, int] = defaultdict(int)
    for line in [line for lines in CLEAN_IN_GROUPS.values() for line in lines]:
        seen[line.source] += 1
        wrong[line.source] += bool(redact(line.text).findings)
    rows = ["| surroundings or vendor | secrets | caught |", "|---|---:|---:|"]
    rows += [f"| {name} | {total[name]} | {hit[name] / total[name]:.0%} |" for name in sorted(total)]
    rows.append(f"| **all** | {sum(total.values())} | {sum(hit.values()) / sum(total.values()):.1%} |")
    rows += ["", "| what is no secret | samples | wrongly redacted |", "|---|---:|---:|"]
    rows += [f"| {name} | {seen[name]} | {wrong[name]} |" for name in sorted(seen)]
    rows.append(f"| **all** | {sum(seen.values())} | {sum(wrong.values()) / sum(seen.values()):.1%} |")
    return "\n".join(rows)


def families() -> str:
    """What each family is, as Markdown."""
    said = dict(catalogue())
    rows = [f"| `{name}` | {said.get(name) or OTHERS[name]} |" for name in family_names()]
    return "\n".join(["| family | what it is |", "|---|---|", *rows])


OTHERS = {
    "private-key": "Private key: PEM, OpenSSH, PGP, PuTTY",
    "url-password": "Password, or token, before the @ of a URL",
    "url-token": "Secret parameter of a URL",
    "connection-string": "Password or key in a connection string",
    "authorization": "Credentials of an Authorization header",
    "cookie": "Value of a session cookie",
    "password": "Password, under a name or in a sentence",
    "api-key": "Value under a name that promises a key, token or secret",
    "pin": "PIN, one-time code, recovery code, card security code",
    "passphrase": "Passphrase",
    "seed-phrase": "Twelve to twenty-four words of a wallet",
    "card-number": "Payment card number with a valid check digit",
    "jwk": "Private part of a JSON Web Key",
    "docker-auth": "Credentials in a docker config",
    "kubernetes-secret": "Value in the data of a Kubernetes Secret",
    "kubernetes-token": "Client key in a kubeconfig",
    "aws-secret-key": "AWS secret access key",
    "flood": "Hundreds of words for secrets with next to nothing between them, taken out whole",
}


def written() -> str:
    """The page with its three tables as they are now."""
    page = PAGE.read_text("utf-8")
    for name, make in (("groups", groups), ("table", table), ("families", families)):
        page = re.sub(
            rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)",
            lambda m, make=make: f"{m[1]}\n{make()}\n{m[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8", newline="\n")
    print(groups() + "\n\n" + table())
