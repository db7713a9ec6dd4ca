"""What people tell in passing: passphrases of plain words, notes of several passwords, a value before its name; each was missed once."""

from __future__ import annotations

import pytest

from recollect.redact import redact

TOLD = [
    ("my password is correct horse battery staple", ["correct horse battery staple"]),
    ("the password is correct horse battery staple, don't share it", ["correct horse battery staple"]),
    ("The wifi password is purple monkey dishwasher lamp.", ["purple monkey dishwasher lamp"]),
    ("wifi password: purple monkey dishwasher lamp", ["purple monkey dishwasher lamp"]),
    ("my passphrase is blue whale 42", ["blue whale 42"]),
    ("my ssh passphrase: seven quick brown foxes 7", ["seven quick brown foxes 7"]),
    ("encrypt it with passphrase blue whale 42", ["blue whale 42"]),
    ("My passwords: Rosebud7! (gmail), Tulip88x (facebook)", ["Rosebud7!", "Tulip88x"]),
    ("my passwords: Rosebud7! for gmail, Tulip88x for facebook, Violet9y for the bank", ["Rosebud7!", "Tulip88x", "Violet9y"]),
    ("wifi password Sunny77x, router Moon88y", ["Sunny77x", "Moon88y"]),
    ("wifi password Sunny77x and the router Moon88y", ["Sunny77x", "Moon88y"]),
    ("passwords:\ngmail - Rosebud7!\nbank - Tulip88x", ["Rosebud7!", "Tulip88x"]),
    ("passwords:\ngmail: Rosebud7!\nbank: Tulip88x\n\nthe weather is fine", ["Rosebud7!", "Tulip88x"]),
    ("My passwords\n\ngmail Rosebud7!\nwork laptop Tulip88x\n", ["Rosebud7!", "Tulip88x"]),
    ("logins:\n- gmail - Rosebud7!\n- bank = Tulip88x", ["Rosebud7!", "Tulip88x"]),
    ("spotify login kim@mail.com Popcorn99!", ["Popcorn99!"]),
    ("netflix kim@mail.com:Popcorn99!", ["Popcorn99!"]),
    ("use pass123word for the demo account password", ["pass123word"]),
    ("use Rosebud77 for the wifi password.", ["Rosebud77"]),
    ("my bank pin's 5521", ["5521"]),
    ("the combination to the lock is 12-34-56", ["12-34-56"]),
    ("combination for my safe: 22-14-36", ["22-14-36"]),
    ("2fa backup: 1234-5678, 2345-6789", ["1234-5678", "2345-6789"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secrets"), TOLD)
def test_what_people_tell_in_passing_is_found(text: str, secrets: list[str]) -> None:
    safe = redact(text).text
    assert [secret for secret in secrets if secret in safe] == []
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    "text",
    [
        "my password is always the same old thing", "the password is case sensitive alphanumeric text", "my password is never accepted anywhere online",
        "the password is stored encrypted using bcrypt hashing", "password: please choose something easy to remember", "my passphrase is quite long",
        "the password is what everybody asks about first", "our password is shared between four people", "the passphrase is four random words",
        "My password is giving people headaches every day", "the password is wrong again after lunch 12", "passphrase length 42", "the passphrase has 12 words",
        "passwords:\n- at least 12 characters\n- one digit", "Passwords:\nrequired for admins - see page 12\nmin length: 12", "passwords:\nhash - sha256\nsalt - 16bytes",
        "logins:\n- monday - 1200\n- tuesday - 1340", "Logins\nKim 2026-11-18\nAlex 2026-11-17", "login statistics\nweb - 12ms\napi - 30ms",
        "credentials:\nsource: vault-v2\nrole: web-01", "reply to kim@mail.com Tuesday3pm works", "cc kim@mail.com Room-12b", "git@github.com:Acme/Repo-2024.git",
        "use argon2id for the password hash", "use utf8mb4 for the password column", "use base64 for the basic auth password", "use Python3 for the password generator",
        "the pin's 3 mm long", "my pin's number is engraved", "the keypad: 1024 keys", "keypad is 1200 EUR", "a keypad: 4 rows",
        "Is the password on that box? Ubuntu22 maybe", "Forgot password? Call 0800123", "the combination to beat is 12-34-56", "the combination of 12-34-56",
        "2fa backup: ask 1234-5678 GmbH", "password Sunny and warm", "the password Base64, then gzip", "password Windows11, please",
        "passwords are kept (gmail), passkeys (facebook)",
    ],
)  # fmt: skip
def test_what_is_only_said_of_passwords_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "token refresh failed for request req_011CQtj8sT9yVnYkq7hPwZxB",
        "auth service: X-Amzn-Trace-Id: Root=1-17bd96b0-c5e1e1218fc72a5ee3089526",
        "stripe auth ok for cus_NffrFeUfNV2Hib, price_1MoBy5LkdIwHu7ixZhnattbh",
        "checkout token used, payment intent pi_3MtwBwLkdIwHu7ix28a3tqPa succeeded",
        "the token was sent to 0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
        "send the tokens to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        '{"access_key_id_present": true, "volume": "vol-049df61146c4d7901", "subnet": "subnet-05166b675f573aab9"}',
        "IPFS: token metadata at QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojbDWKc9",
        'secret "db-creds-7f9c4d5b8-x2v4q" created',
        "video key dQw4w9WgXcQ, playlist PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
        "loaded tokens from llama-3.1-70b-instruct-q4_k_m.gguf",
        "twilio message SM46a62e7f393e32f5b9b450efa0fc07d9 queued after auth",
    ],
)
def test_an_id_that_everybody_may_see_stays_beside_a_word_for_a_secret(text: str) -> None:
    assert redact(text) == (text, ())
