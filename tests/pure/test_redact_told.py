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


HEX32, HEX40 = "8cf71e1351acda4a8bf86075e24e8b5c", "a83300a526fb2cf45bb76bdc740b0e84c067f820"
UUID, MIXED = "6c821721-abb5-4956-b045-88fa6deb6ba7", "ak9qfgVppk1R9A33yESk0uwYLiovKS11"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # a nickname with a year, however it is told
        ("omg i forgot to tell u the password its baileybiscuit60 lol", "baileybiscuit60"),
        ("Het wachtwoord van kim@acme.nl is saartje46", "saartje46"),
        ("hab das passwort geändert heißt jetzt RexEule1977", "RexEule1977"),
        ("I always use the same password (austin8906) everywhere, is that bad?", "austin8906"),
        ("u need my password? pierre4358", "pierre4358"),
        ("le mot de passe cest jonas_35", "jonas_35"),
        ("smtp.acme.fr port 587 user kim@acme.fr pw mia86 can you test sending", "mia86"),
        ("hasło do konta kim@acme.pl: kotek.malina.lato3", "kotek.malina.lato3"),
        ("troquei a senha do banco para paul_1960 e agora não sobe", "paul_1960"),
        ("u can log in w user felix and pw army-audit-kiss-swap", "army-audit-kiss-swap"),
        ("hey so the pasword for the server is olivia2489 can u log in", "olivia2489"),
        ("ww is Diego804!", "Diego804!"),
        # an answer
        ("Assistant: I need the database password to continue.\nUser: its qUDEew0ivsOlB9 user anna", "qUDEew0ivsOlB9"),
        ("Kim, 21:36\nkannst mir mal das kennwort schicken\nAlex, 21:36\nklar sommer2019", "sommer2019"),
        # codes that were sent
        ("die tan lautet 905318", "905318"),
        ("Twój kod weryfikacyjny: 463803", "463803"),
        ("WhatsApp code: 646 360. Do not share this code.", "646 360"),
        ("gültig bis 01/30, prüfziffer 927", "927"),
        ("is it this one 094985-459536-214720-543400-121143-403865-715264-575905 the bitlocker key", "094985-459536"),
        # keys
        (f"a chave do slack é {HEX32} coloca no .env", HEX32),
        (f"la chiave di facebook è {HEX32} mettila nel env grazie", HEX32),
        (f"tiens la clé infura {HEX32} tu peux la mettre dans le .env stp", HEX32),
        (f"klucz do polygon to {MIXED} wrzuc do .env prosze", MIXED),
        (f"Please replace the old datadog api key by {HEX32}, thanks!", HEX32),
        (f"pls use {HEX32} as the customer.io api key and run the tests again", HEX32),
        (f"{MIXED}  <- browserstack access key, old one got leaked", MIXED),
        (f"pasted the key in here sry {HEX40} (bitly token)", HEX40),
        (f"use this one instead {HEX40}\nits the deepgram key", HEX40),
        (f"bro just put {UUID} in the env for exa", UUID),
        (f"dont put it in git but cloudsmith is {HEX40} in the env", HEX40),
        (f"Kim: what's the opsgenie api key again\nAnia: {UUID}\nKim: thx", UUID),
        (f"[16:53] kim: anyone has the hetzner cloud token?\n[16:53] alex: sure -> {MIXED}", MIXED),
        (f"Hi, I created a token on CoinMarketCap. It's {UUID}. Could you write a script?", UUID),
    ],
)
def test_what_is_handed_over_in_a_chat_is_found(text: str, secret: str) -> None:
    assert secret in text
    safe = redact(text).text
    assert secret not in safe
    assert redact(safe) == (safe, ())


@pytest.mark.parametrize(
    "text",
    [
        "password reset for user42", "is the password for node22 the same?", "pw for vm03 please", "das Passwort ist auf Seite33", "the wifi password: see page12",
        "I changed the password column to varchar255", "password? 30 days is too short", "the password is stored as utf8mb4", "what about the password (v2.1)?",
        "need the password for grafana\nAlex: ok 10min", "what's the password policy?\nKim: It is ISO27001", "error code 500123 in line 12", "the postal code: 100 115",
        f"the token fix is in {HEX40}", f"reverted {HEX40} (my password rule key)", f"the key change, commit {HEX40}", f"rotating key {UUID}",
        f"which token? request {UUID} failed", f"the checksum of the key file is {HEX32}", f"primary key is {UUID}", f"the partition key is {UUID}", f"put {HEX40} in the changelog",
        f"cherry-pick {HEX40} for the token bug", f"token hash {HEX32} is stored", f"what's the api key again\nsee commit {HEX40}", "token expired at 2026-08-12T00:37:31Z",
        f"Jeton d'accès invalide. Référence : {UUID}", f"public key: {MIXED}", f"the trace id for the auth token call is {HEX32}",
    ],
)  # fmt: skip
def test_what_is_no_key_and_no_password_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "Fix password check\nReviewed-by: marcus84", "The password is wrong.\nOS: Ubuntu22.04", "Can't enter password\nModel: Thinkpad490", "I forgot my password\nKim: iPhone15 or Galaxy24?",
        f"fix token parsing\n{HEX40}", f"key changes in this release\n{UUID}", "error code: 100234 could not verify certificate", "postal code: 110001 please confirm", "HS code 851712 confirmed",
        "sort code 123-456 please confirm", "the code for issue 482913 is verified", "The code was shared 482913 times", "Prüfziffer 123 wird nach EAN13 berechnet", "cryptogramme 1234 octets",
        "Change the password in 1Password8", "reset password in Exchange-2019 via EAC", "updated the password policy to NIST2024", "we switched the password manager to Bitwarden2024.1",
        "password rotation is tracked in PROJ-4711", "the password story is ABC-1234", "Where is the password? Galaxy24 wants it", "Schlüssel: M6x20", "la clave del éxito es COVID-19",
        "our wifi password is inside cupboard 12", "the password is behind locker 42", "Recent logins:\nkim  iPhone15,2", "Last logins\nkim - Jun12@10:30", "account kim@example.com Premium-2024-Q3",
        f"the redis key is sess:{HEX32}", f"dedupe key is {HEX32}", f"KMS key: {UUID}", f"the registry key is {UUID}", f"signed with key {HEX40}", f"sentry event is {HEX32} api error",
        "cat app.key\nindex2.html", "https://support.example.com/reset/factory-reset-instructions-iphone",
    ],
)  # fmt: skip
def test_what_an_attacker_saw_taken_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "HCAPTCHA_SECRET=0x8FdC1a2B3c4D5e6F708192a3B4c5D6e7F8091a2B", "API_KEY=prod_8f3k2J9dLq0ZxV7bTn4W", "RESEND_API_KEY=re_3xK9fQ2mZ7vB4nT8wL1pR5sD", "the api key is batch_8f3k2J9dLq0ZxV7bTn4W",
        f"AUTH_TOKEN=myapp-build-{HEX32}", "API_KEY=PLq8Zk3Vn7Tb2Wd9Rm4X", "the password its call-Saul2024",
    ],
)  # fmt: skip
def test_what_is_written_like_an_id_is_a_secret_where_its_name_says_so(text: str) -> None:
    assert redact(text).findings


@pytest.mark.parametrize(
    "text",
    ["echo dXNlcjpwYXNzd29yZA | base64 -d", "base64 -d<<<dXNlcjpwYX", "echo YWRtaW46aHVudGVyMjI | base64 --decode"],
)
def test_base64_without_its_padding_is_no_error(text: str) -> None:
    """`binascii.Error` was the caller's."""
    safe = redact(text).text
    assert redact(safe) == (safe, ())
