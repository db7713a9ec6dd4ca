"""Redaction: what is caught, what is left alone, and what holds for any text at all."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict

import labelled
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.redact import Finding, Policy, Stream, family_names, redact, redact_value

SECRETS = list(labelled.secrets())
CLEAN = list(labelled.clean())
HELD_BACK = list(labelled.secrets(labelled.FOLDER / "second_secrets.jsonl"))
HELD_BACK_CLEAN = list(labelled.clean(labelled.FOLDER / "second_clean.jsonl"))


def leaks(secret: str, text: str) -> bool:
    """Whole, or a line of it when it has several."""
    return secret in text or any(len(line) > 24 and line in text for line in secret.split("\n"))


def table() -> str:
    """Recall per family and false positives per source over both groups of the labelled set, as Markdown."""
    hit: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for row in SECRETS + HELD_BACK:
        safe = redact(row.text).text
        for secret in row.secrets:
            total[row.family] += 1
            hit[row.family] += not leaks(secret, safe)
    wrong: dict[str, int] = defaultdict(int)
    seen: dict[str, int] = defaultdict(int)
    for line in CLEAN + HELD_BACK_CLEAN:
        seen[line.source] += 1
        wrong[line.source] += bool(redact(line.text).findings)
    rows = ["| family | secrets | caught |", "|---|---:|---:|"]
    rows += [f"| {name} | {total[name]} | {hit[name] / total[name]:.0%} |" for name in sorted(total)]
    rows.append(f"| **all** | {sum(total.values())} | {sum(hit.values()) / sum(total.values()):.1%} |")
    rows += ["", "| what is no secret | samples | wrongly redacted |", "|---|---:|---:|"]
    rows += [f"| {name} | {seen[name]} | {wrong[name]} |" for name in sorted(seen)]
    rows.append(f"| **all** | {sum(seen.values())} | {sum(wrong.values()) / sum(seen.values()):.1%} |")
    return "\n".join(rows)


def test_the_labelled_set_is_large_enough() -> None:
    assert sum(len(row.secrets) for row in SECRETS) >= 400
    assert len({row.family for row in SECRETS}) >= 60
    assert len(CLEAN) >= 600


def test_recall_and_false_positives() -> None:
    print("\n" + table())
    missed = [row for row in SECRETS if any(leaks(s, redact(row.text).text) for s in row.secrets)]
    wrong = [line for line in CLEAN if redact(line.text).findings]
    assert len(missed) <= 0.05 * len(SECRETS), missed
    assert len(wrong) <= 0.01 * len(CLEAN), wrong


def test_recall_on_the_second_group() -> None:
    missed = [row for row in HELD_BACK if any(leaks(s, redact(row.text).text) for s in row.secrets)]
    wrong = [line for line in HELD_BACK_CLEAN if redact(line.text).findings]
    assert len(missed) <= 0.05 * len(HELD_BACK), missed
    assert len(wrong) <= 0.01 * len(HELD_BACK_CLEAN), wrong


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("postgres://app:s3cr3tpw@db/app", "postgres://app:[redacted:url-password]@db/app"),
        ('{"password": "Tr0ub4dor&3"}', '{"password": "[redacted:password]"}'),
        ("my password is hunter2!", "my password is [redacted:password]"),
        ("card 4111 1111 1111 1111 ok", "card [redacted:card-number] ok"),
        ("card 4111 1111 1111 1112 no", "card 4111 1111 1111 1112 no"),
        ("DB_PASSWORD=abc123xyz\nPORT=1", "DB_PASSWORD=[redacted:password]\nPORT=1"),
        ("mi contraseña es Girasol#42", "mi contraseña es [redacted:password]"),
    ],
)
def test_only_the_value_is_replaced(text: str, safe: str) -> None:
    assert redact(text).text == safe


def test_findings_say_where_and_never_what() -> None:
    for row in SECRETS:
        safe, findings = redact(row.text)
        at, rebuilt = 0, ""
        for family, start, end in findings:
            assert 0 <= at <= start < end <= len(row.text)
            rebuilt += row.text[at:start] + f"[redacted:{family}]"
            at = end
        assert rebuilt + row.text[at:] == safe
        assert not any(secret in repr(findings) for secret in row.secrets if len(secret) > 6)


def test_a_specific_family_beats_a_generic_one() -> None:
    (row,) = [r for r in SECRETS if r.family == "github" and r.text.startswith("# production")][:1]
    assert [f.family for f in redact(row.text).findings] == ["github-token"]


TRICKY = st.one_of(
    st.sampled_from([row.text for row in SECRETS + HELD_BACK]),
    st.sampled_from([line.text for line in CLEAN]),
    st.text(max_size=60),
    st.text(alphabet="abzAZ019=:;,.@/\\\"'`<>()[]{}|&?#$%*!-_ \n\t\x01é密", max_size=40),
    st.sampled_from(
        "password token= key: secret api_key= Bearer Basic Authorization: Cookie: :// @ [redacted:x] [redacted: ] pin 4821 is my the "
        "--password -p -u eyJ ghp_ sk- AKIA -----BEGIN RSA PRIVATE KEY----- -----END value= <password> </ hunter2! Falcon#4417 = : \" ' \n".split(
            " "
        )
    ),
)
TEXTS = (
    st.lists(TRICKY, max_size=6).map(" ".join)
    | st.lists(TRICKY, max_size=6).map("".join)
    | st.lists(TRICKY, max_size=4).map("\n".join)
)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.findings == ()


def test_redacting_twice_changes_nothing_in_the_labelled_set() -> None:
    for row in SECRETS + HELD_BACK:
        once = redact(row.text).text
        assert redact(once) == (once, ())


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SECRETS + HELD_BACK), st.lists(st.integers(1, 90), min_size=1, max_size=30), st.integers(0, 1200)
)
def test_no_chunking_leaks(row: labelled.Secret, sizes: list[int], before: int) -> None:
    text = "The quick brown fox. " * (before // 21) + row.text + "\nand then some more words" * 30
    whole = redact(text).text
    if any(leaks(s, whole) for s in row.secrets):
        return
    stream, out, at, turn = Stream(), "", 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        out += stream.feed(text[at : at + size])
        at, turn = at + size, turn + 1
    out += stream.finish()
    assert not any(leaks(s, out) for s in row.secrets)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([line.text for line in CLEAN]), min_size=1, max_size=40), st.integers(1, 700))
def test_a_clean_stream_comes_out_as_it_went_in(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    if redact(text).findings:
        return
    stream = Stream()
    out = "".join([stream.feed(text[i : i + size]) for i in range(0, len(text), size)]) + stream.finish()
    if not stream.findings:
        assert out == text


@pytest.mark.parametrize("lines", [5, 60, 3000])
@pytest.mark.parametrize("size", [1, 64, 5000])
def test_a_private_key_longer_than_the_hold_back_is_caught(lines: int, size: int) -> None:
    body = [f"{n:04d}" + "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC7VJTUt9U" for n in range(lines)]
    text = (
        "before\n-----BEGIN RSA PRIVATE KEY-----\n"
        + "\n".join(body)
        + "\n-----END RSA PRIVATE KEY-----\nafter all of it"
    )
    if size == 1 and lines == 3000:
        text = text[:2000] + text[-2000:]
    stream = Stream()
    out = "".join([stream.feed(text[i : i + size]) for i in range(0, len(text), size)]) + stream.finish()
    assert "MIIEvg" not in out
    assert out.startswith("before\n[redacted:private-key]")
    assert out.endswith("after all of it")


def test_values_are_redacted_however_deep() -> None:
    value = {
        "user": "kim",
        "password": "hunter22",
        "nested": [{"api_key": "Zx81kLmQ2v9TqW3nB7yR"}, "see postgres://a:pw12345@h/d"],
        "pin": 4821,
        "n": 7,
        "ok": True,
    }
    clean, findings = redact_value(value)
    assert clean == {
        "user": "kim",
        "password": "[redacted:password]",
        "nested": [{"api_key": "[redacted:api-key]"}, "see postgres://a:[redacted:url-password]@h/d"],
        "pin": "[redacted:pin]",
        "n": 7,
        "ok": True,
    }
    assert len(findings) == 4
    assert redact_value(clean) == (clean, ())
    assert redact_value({"name": "DB_PASSWORD", "value": "hunter22"})[0] == {
        "name": "DB_PASSWORD",
        "value": "[redacted:password]",
    }
    assert redact_value({"max_tokens": 4096, "tokens": 12, "password": None, "token": ""})[1] == ()
    assert redact_value([4111111111111111, 4111111111111112])[0] == ["[redacted:card-number]", 4111111111111112]


def test_secrets_in_keys_are_redacted() -> None:
    clean, findings = redact_value({"postgres://a:pw12345@h/d": 1, "postgres://a:pw54321@h/d": 2})
    assert list(clean) == ["postgres://a:[redacted:url-password]@h/d", "postgres://a:[redacted:url-password]@h/d'"]
    assert len(findings) == 2


def test_a_policy_adds_allows_and_disables() -> None:
    assert redact("badge ACME-12345", Policy(extra={"badge": r"ACME-\d{5}"})).text == "badge [redacted:badge]"
    assert redact("badge ACME-12345", Policy(extra={"badge": r"ACME-(\d{5})"})) == (
        "badge ACME-[redacted:badge]",
        (Finding("badge", 11, 16),),
    )
    assert redact("my password is hunter2!", Policy(allow=("hunter2!",))).findings == ()
    assert redact("my password is hunter2!", Policy(allow=(r"hunter\d.",))).findings == ()
    assert redact("my password is hunter2!", Policy(disabled=frozenset({"password"}))).findings == ()
    with pytest.raises(ValueError, match="lower-case"):
        Policy(extra={"Not A Name": "x"})
    with pytest.raises(ValueError, match="re2"):
        Policy(extra={"back": r"(a)\1"})
    assert "github-token" in family_names()


@pytest.mark.parametrize(
    "text", ["", " ", "\ud800", "\x00", "\x01" * 5, "é" * 999, "[redacted:", "[redacted:]", "[redacted:x]" * 3]
)
def test_odd_texts_pass(text: str) -> None:
    assert redact(text) == (text, ())


HOSTILE = ["a", "key=", "password=", 'password="', "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "eyJ", "://", ":@", "http://a:b@", "1234567890", "\"'", "4 ", "token ", "is my ",
           "my password is ", "ghp_", "sk-", "Bearer ", "Cookie: a=b;", "?token=abc", "--token ", "[redacted:x]", "\n", "a_", "<key>", "seed word "]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_and_not_faster(piece: str) -> None:
    def cost(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        best = 9.9
        for _ in range(3):
            start = time.process_time()
            redact(text)
            best = min(best, time.process_time() - start)
        return best

    cost(10_000)
    assert cost(200_000) <= 3 * cost(100_000) + 0.01


def test_ten_megabytes_pass() -> None:
    text = ("An ordinary line of prose about nothing.\n" * 250_000)[:10_000_000] + "DB_PASSWORD=abc123xyz"
    safe, findings = redact(text)
    assert len(findings) == 1
    assert safe.endswith("DB_PASSWORD=[redacted:password]")


def test_quiet_prose_does_not_load_re2_and_the_result_is_stable_across_processes() -> None:
    quiet = "import sys; from recollect.redact import redact; redact('The fox jumps over the dog. ' * 40); print('re2' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", quiet], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )
    loud = (
        "from recollect.redact import redact; print(redact('pw: Falcon#4417 and ' + 'x=' * 9 + ' token: Zx81kLmQ2v9TqW3nB7yR'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", loud], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(seen) == 1


if __name__ == "__main__":
    print(table())
