"""Secrets as people paste them, in the shapes that vendors and tools print; each was missed once."""

from __future__ import annotations

import pytest

from recollect.redact import assign, engine, names, redact, redact_value, screen

HEX32, HEX40 = "8cf71e1351acda4a8bf86075e24e8b5c", "a83300a526fb2cf45bb76bdc740b0e84c067f820"
MIXED = "v4FUFUt86QumYr4w03O47MwbpDoeAH4G9u0w5DyY"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"curl https://fn.azurewebsites.net/api/run?code={MIXED}{MIXED}==", MIXED + MIXED),
        (f"client = Client('AC{HEX32}', '{HEX32[::-1]}')", HEX32[::-1]),
        (f"co = cohere.Client('{MIXED}')", MIXED),
        (f"const wallet = new ethers.Wallet('0x{HEX32}{HEX32[::-1]}', provider)", HEX32),
        (f"wandb login {HEX40}", HEX40),
        (f'{{"username":"kim","key":"{HEX32}"}}', HEX32),
        (f'{{"github-oauth":{{"github.com":"{HEX40}"}}}}', HEX40),
        (f"mc alias set m https://minio.acme.io kim {MIXED}", MIXED),
        ("bitcoin-cli importprivkey 5J5GicHg8eVzLoMR6sJ5PTQ168ZKPXpDCFV37yjPqEdus4LLjnz", "5J5GicHg8eVzLoMR6sJ5"),
        ("lftp -u kim,H4rborm4ster ftp.acme.io", "H4rborm4ster"),
        ("WIFI:T:WPA;S:Home;P:sonnenblume77;;", "sonnenblume77"),
        ("My password is hunter2 and my name is Alex.", "hunter2"),
        ("my password is bluewhale77 and my email is a@b.co", "bluewhale77"),
        ("The wifi password is sonne99 and the network is Home.", "sonne99"),
        ("Mein Passwort ist hunter2 und mein Name ist Alex.", "hunter2"),
        ("A temporary password is generated for root@localhost: 53l2YrKPwo5o", "53l2YrKPwo5o"),
        ("Your 2FA secret key is f6mw sxi5 iapw sq4g 6awc uyn5 lqhe dbdg", "f6mw sxi5 iapw"),
        ("Zugangsdaten: kim@acme.de / Winter-Is-C0ming", "Winter-Is-C0ming"),
        ("BORG_PASSPHRASE='elf k\u00fche tanzen 7 mal' borg create", "elf k\u00fche tanzen"),
        ("echo -n 'Blue$ky7788' | cryptsetup luksOpen /dev/sdb1 x", "Blue$ky7788"),
        ('{"login": "kim", "haslo": "kot47x"}', "kot47x"),
        ("my wifi password is BlueKettle!42 and the db one is hunter-Frog77", "hunter-Frog77"),
        ("gmail password = Violet77x and for facebook = Tulip99x", "Tulip99x"),
        ("A minha palavra-passe \u00e9 Girassol77", "Girassol77"),
        ("palavra passe do wifi: Girassol77", "Girassol77"),
        ("Passwords:\n- gmail Rosebud7!\n- facebook Tulip88x!", "Rosebud7!"),
        ("Passwords:\n- gmail: Rosebud7!\n- facebook: Tulip88x!", "Tulip88x!"),
        ("the safe combination is 22-14-36", "22-14-36"),
        ("the code to the safe is 221436", "221436"),
        ("password=!oops4Word next=1", "!oops4Word"),
        ('{"value":"Falcon#4417x","type":"P","designation":"password"}', "Falcon#4417x"),
    ],
)
def test_what_people_paste_is_found(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "https://acme.io/callback?code=123&state=abc",
        'client = Client("http://localhost:8080/some/very/long/path/to/an/endpoint")',
        "client = Client('3f2a9c1e-7b5d-4e8f-a1b2-c3d4e5f60718')",
        "const wallet = new Wallet(privateKey, provider)",
        "wandb login --relogin",
        "vault login -method=oidc",
        '{"username": "kim", "key": "value"}',
        "mc alias set local http://localhost:9000",
        "WIFI: connected, signal -50 dBm",
        "2FA is required: enter the code from your authenticator app with each login",
        "mfa: required",
        "clef: treble",
        "--- PASS: TestOpen10 (0.02s)",
        "    --- PASS: TestParse/empty_string_1",
        "PASS src/a2.test.js",
        "PASS: gcc.dg/pr12345.c (test for excess errors)",
        "Boarding pass: LH1234",
        'my password is [redacted:password], "id": "Zx81kLmQ"',
        '"auth.password":"Your password for kim is required","auth.step2":"Your token is invalid","x":1}',
        "key cart:10427731 ttl 12, key user:3312:session ttl 9",
        "My student pass is 882391",
        "the pass is 1200 m high",
        "access key: Alt+S",
        "pin 4321 level 0 gpio",
        "My seeds this year: tomato basil carrot pepper onion cucumber lettuce radish spinach bean pea squash",
        "passwords:\n - required field\n - see-vault\n",
        '"<tag key=\\"\u00e5\u00f6\u00f6&lt;&gt;\\" />"',
        "signature: 8m0V7kFzfLpbf9/xYwAdYok6IFfC0wc3qjMqmNUvoAuw5aGWkSLNCW9AvyAVD8UDH99RBL6f/tYGCc+fbnkopQ==",
    ],
)
def test_what_looks_alike_is_left(text: str) -> None:
    assert redact(text).text == text


def test_a_sentence_in_json_ends_where_its_string_does() -> None:
    text = '{{"hint":"my password is {}","step":2,"next":"a1"}}'
    assert redact(text.format("hunter2x!")).text == text.format("[redacted:password]")


def test_what_is_only_said_beside_a_password_stays() -> None:
    text = "password: {}, the server is prod-db01, the release is v2.4.1 and AES256 is used"
    assert redact(text.format("Hunter2x!")).text == text.format("[redacted:password]")
    row = '{{"password": "{}", "id": "a1b2c3d4", "name": "kim42"}}'
    assert redact(row.format("hunter2x")).text == row.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "my passwords are {} and {}",
        "passwords: {}, {}",
        "Password: {} / {}",
        "my password is {}, or maybe {}",
        "the password was {} and now it is {}",
        "my password is {} but at work it is {}",
        "my password is {}; for the other account it's {}",
        "The password is {}. If that fails, try {}.",
        "my password is {} (old: {})",
        "Passwords:\n{}\n{}",
    ],
)
def test_the_second_of_two_passwords_goes_with_the_first(text: str) -> None:
    safe = redact(text.format("XkAb4dEf7!", "ZqAb9dEf8#")).text
    assert "XkAb4dEf7" not in safe and "ZqAb9dEf8" not in safe
    assert redact(safe) == (safe, ())
    assert (
        redact("my PIN is 4711, the other one is 8159").text
        == "my PIN is [redacted:pin], the other one is [redacted:pin]"
    )


def test_the_pattern_of_names_takes_in_every_name_that_promises_a_secret() -> None:
    said = [word.decode("latin-1") for word in sorted(names._PASSWORD | names._SECRET | names._PIN) if word != b"hmac"]
    said += ["api key", "secretId", "sessionID", "recovery code", "backup_codes", "connection string", "connStringProd"]
    which = [word.decode() for word in sorted(names._SAYS_WHICH)]
    asked = engine.outline(assign._ASSIGN)
    promising = 0
    for word in said:
        for after in ("", "1", *(f"_{each}" for each in which), *(each.title() for each in which)):
            for name in (word + after, f"my_{word}{after}", f"db{word.title()}{after}", f"the {word}{after}"):
                data = name.encode("latin-1")
                if " " in word and name.startswith("the "):
                    continue  # of more than two words the last two are the name
                if names.kind_of(data) is None:
                    continue
                promising += 1
                found = asked.first(data + b" = ", 0, len(data) + 3)
                assert found is not None, name
                assert found[0][0] == 0, name
    assert promising > 5_000


@pytest.mark.parametrize("word", [word for word, _ in screen._FOREIGN if len(word) > 1])
def test_a_word_of_another_script_keeps_the_places(word: str) -> None:
    """Each is searched for under a stand-in; one that is longer or shorter would move what is cut out."""
    text = f"{word}: Falcon!5054 ok"
    assert len(screen.to_bytes(text)) == len(text)
    assert all(text[found.start : found.end] == "Falcon!5054" for found in redact(text).findings)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DATADOG=c7016a14e5e448c232cfb61d7f6576a9", "c7016a14e5e448c232cfb61d7f6576a9"),
        ('Airbrake.configure("d9fec3b1f7b63cc3cd6512d1bc524444")', "d9fec3b1f7b63cc3cd6512d1bc524444"),
        ("# giphy\nOEnahPSOMt3HviLNqNcDuHLU7h6mSdnq", "OEnahPSOMt3HviLNqNcDuHLU7h6mSdnq"),
        ("VAR_9 = 'Bn9xXjooMre0SZxFvY9qcSo5yL9LeT6W'", "Bn9xXjooMre0SZxFvY9qcSo5yL9LeT6W"),
        ("TOKEN ::= 'yhgx34znvjrumczrugin'", "yhgx34znvjrumczrugin"),
        ("<fooToken>\n    500e254a3e5fd8385ae0535f97af271e\n</fooToken>", "500e254a3e5fd8385ae0535f97af271e"),
        ('let password: &str = "Px6qHeXMRk7G";', "Px6qHeXMRk7G"),
        ('expect "Password:"\nsend "sunshine18\\r"', "sunshine18"),
        ("psexec \\\\10.0.0.4 -u kim -p LaIOTsC9 cmd", "LaIOTsC9"),
    ],
)
def test_what_the_public_rule_sets_know_is_caught(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "datadog trace_id=7d8ddcc54f6ae4ec span_id=10d7cfc44180aa12",
        "sentry release 8de7ba7b083fa9118cc52a80a973ceba8f6b1cda",
        "const uid = 'Bn9xXjooMre0SZxFvY9qcSo5yL9L'",
        "address: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'",
        "docker run -u 1000 -p 8080:80 nginx",
        "enable secret rotation every 90 days",
    ],
)
def test_an_id_beside_the_name_of_a_service_is_left(text: str) -> None:
    assert redact(text).findings == ()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("nmcli dev wifi connect Home password beacon255", "nmcli dev wifi connect Home password [redacted:password]"),
        ("the password tomcat1234", "the password [redacted:password]"),
        (f"admin:{MIXED}{MIXED}!", "admin:[redacted:password]"),
        ("kim@acme.io / Basil@8824", "kim@acme.io / [redacted:password]"),
    ],
)
def test_a_value_is_taken_whole(text: str, safe: str) -> None:
    """`be` and `to` at its beginning counted as the verb, and more than 64 characters were left."""
    assert redact(text).text == safe


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("security add-generic-password -a kim -s mail -w Harbor7xQ2", "Harbor7xQ2"),
        ("snmpwalk -v3 -u kim -A Harbor7xQ2 -x AES -X Lantern8kP3 h", "Lantern8kP3"),
        ("htpasswd -nbB kim Harbor7xQ2", "Harbor7xQ2"),
        (f"docker login -u AWS -p {MIXED * 8} 123456789012.dkr.ecr.eu-west-1.amazonaws.com", MIXED),
        ('["redis-server", "--requirepass", "Harbor7xQ2"]', "Harbor7xQ2"),
        ("Parameters:\n  DbPass:\n    Default: Harbor7xQ2\n    NoEcho: true", "Harbor7xQ2"),
        ('  ["password"]=>\n  string(12) "Harbor7xQ2mm"', "Harbor7xQ2mm"),
        ('char pass[] = "harbor7726";', "harbor7726"),
        ("uint8_t aes_key[16] = { 0x8b, 0xc1, 0x74, 0x11, 0xee, 0x2f, 0x3c, 0x7a, 0x16, 0x88, 0x98, 0xe2, 0x3d, 0xde, 0x39, 0x5f };", "0x8b, 0xc1"),
        ("network_key: [17, 203, 44, 91, 8, 121, 240, 33, 77, 190, 5, 61, 212, 149, 26, 99]", "203, 44"),
        ("JWT_SECRET=quartz-harbor-birch-84", "quartz-harbor"),
        ("kubectl get secret x -o jsonpath={.data.pw} | base64 -d\nyVFBxXyuSp1f4R", "yVFBxXyuSp1f4R"),
        ("G-482913 is your Acme verification code.", "482913"),
        ("Use 482913 to verify your account", "482913"),
        ("Best\u00e4tigungscode: 482913", "482913"),
        ("\u9a8c\u8bc1\u7801\uff1a482913", "482913"),
        ("Ihre mTAN: 482913", "482913"),
        ("the ATM pin is 1943", "1943"),
        ("door code 0021#", "0021"),
        ("PUK: 52941538", "52941538"),
        ("what is the wifi password?\n[10:03] Tom: sure, Harbor-Lantern46!", "Lantern46"),
        (f"https://mainnet.infura.io/v3/{HEX32}", HEX32),
        (f"::add-mask::{MIXED}", MIXED),
        (f"-----BEGIN OpenVPN Static key V1-----\n{HEX32}\n{HEX32[::-1]}\n-----END OpenVPN Static key V1-----", HEX32),
        (f"Administrator:500:{HEX32}:{HEX32[::-1]}:::", HEX32[::-1]),
        ("export SECRET_KEY=dragon885", "dragon885"),
        ("then run DB_PASSWORD=BlueZvilc7 now", "BlueZvilc7"),
        ("Passwords:\n1. Falcon#4417\n2. Harbor!5054\n", "Harbor!5054"),
        ("Passwords:\r\n* Falcon#4417\r\n* Harbor!5054\r\n", "Harbor!5054"),
        ("PINs: 4711 and 8159", "8159"),
        ("The PINs are 4711 and 8159.", "4711"),
        ("AKIAIOSFODNN7QXMPLXA%3Dx1", "AKIAIOSFODNN7QXMPLXA"),
        (f"https://a.io/?next=api_key%3D{MIXED}%26user%3Dkim", MIXED),
        ("password=\x01S3cretPa55w0rd!", "S3cretPa55w0rd!"),
        ("password: S3cretPa\x0155w0rd!", "55w0rd!"),
    ],
)  # fmt: skip
def test_what_a_stranger_pasted_is_found(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "psql -h db -p 5433 -U app",
        "redis-cli -h cache -p 6380 ping",
        "npm test -w web-client2",
        "wget -P downloads2024 https://acme.io/a.tgz",
        "date -u +%Y%m%d%H%M",
        "CFLAGS = -Werror=format-security -Wall -pedantic",
        "id,email,password_set,created_at\n1,ana@acme.io,true,2026-01-01",
        "gcloud secrets update my-secret --expire-time=2030-01-01T08:15:30",
        "from google.oauth2 import credentials as oauth2_credentials",
        "Gets the authenticated of this V1beta1TokenReviewStatus.",
        "warnings 4100 4127 4180 4197 4296 4324 4455 4503",
        "Next page token: eav1OzQB0OM8rLdGXOEsyQWSG",
        "postgres://postgres:postgres@localhost:5432/app",
        f"password: ENC({MIXED}=)",
        f"secret: AQICAHh{MIXED}{MIXED}",
        "password_confirmation: Passwortbest\u00e4tigung",
        "vault token lookup -accessor dsLPAF9hNht9VWMeA1fJdoeJ",
        "static const uint8_t public_key[16] = { 0x8b, 0xc1, 0x74, 0x11, 0xee, 0x2f, 0x3c, 0x7a, 0x16, 0x88, 0x98, 0xe2, 0x3d, 0xde, 0x39, 0x5f };",
        "sort_key: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 160]",
        "key: the GPIO pins: 2040, 2041",
        "My password is Wonderful!",
        "My password is Stolen!",
        "our password is Nonsense!",
        "My wifi password is Yours!",
        "Mein Passwort ist Geheim!",
        "Mein Passwort ist Kompliziert!",
        "mon mot de passe est Perdu!",
        "mi contrase\u00f1a es Segura!",
        "https://learn.microsoft.com/en-us/azure/api-management/APIManagementoverview",
        "terraform/modules/azure/functions-app-service-plan/AzFunctionApp.tf",
        "/subscriptions/abc/resourceGroups/my-rg-production-westeurope/APIMService",
        "docs/architecture/infrastructure/gateways/APIManagement.md",
        "src/components/dashboards/observability/widgets/AzFunctions.tsx",
        "from '../../components/admin/settings/integrations/APIMetrics'",
        "https://acme.visualstudio.com/platform-engineering/_git/payments-gateway2/APIMPolicies",
        "import { x } from 'packages/v2/shared-infrastructure/src/search/AzSearchClient'",
        "kubectl get secret secret-test-integration-pipeline-for-payments",
        "secret-live-reload-configuration-for-development",
        "secret-test-kubernetes-external-secrets-operator-2024",
        "ATOA_meeting_notes_2024_final_draft.docx",
        "ATBB_quarterly_review_2025_slides_v3.pptx",
        "BSA_report_2024_final_version_v2.pdf",
        "BSA-compliance-checklist-2024-q3-x",
        "These tests should pass\npytest-8.3.2",
        "Tests pass\npytest-8.3.2",
        "What is a JSON web token\nRFC7519-section-4",
        "How do I reset my password\nStep-1.2a",
        "Git push failed with this token\nfatal:403",
        "License key\nMIT-License-2.0",
        "SSH key\nED25519-sha512",
        "Session key\nAES256-GCM-SIV",
        "## API key\n\nDashboard2024",
        '# minimums for a pass\n\tCHECK_FX_MIN="$2"',
        "The token is stored as HttpOnlyCookie2024 in the browser",
        "We store the token as sha256Base64String",
        "The API key (v2) is X-Api-Key-2024",
        "The Secret Santa budget is 25EURmax2024",
        "Our Secret Garden ticket is A12B2024-row7",
        "Le jeton de pr\u00e9sence est TP2024-salle12",
        "la llave de acceso es user_id_2024x",
        "db_seed: 20240506_initial_users",
        "random_seed: 20240611_run3_baseline",
        f"torrent seed: {HEX40}",
        "Invoice key: ABCD-EFGH-IJKL-MN0P",
        "Booking key: QX7F-8KLM-22PQ-9ZTT",
        "PIN numbers: 4455 and 4466 are GPIO",
        "The PINs are 4455 and 4466 on the header",
        f"reverted {HEX40} (my password rule key)",
        f"cherry-picked {HEX40} (the api key)",
        "Passwords:\n1. Minimum 12 characters\n2. Must-contain-numbers1",
        "Passwords:\n* Use at least 12 characters\n* One-upper-case-letter1",
        "credentials:\n1) github-credentials-id2\n2) dockerhub-cred-2024",
        "Secrets:\n- vault-prod-eu-2024\n- github-actions-2023",
        "&quot;token&quot;:&quot;color-blue-500&quot;",
        '{"token": "spacing-large-24"}',
        "https://play.rust-lang.org/?code=fn%20main()%20%7B%20println!(%22hello%22)%3B%20%7D&edition=2021",
        "https://play.rust-lang.org/?code=fn+main%28%29+%7B+let+v2+%3D+vec%21%5B1%2C2%5D%3B+println%21%28v2%29+%7D",
        "DB_TOKEN_1=\nDB_PASSWORD_2=\nDB_KEY_3=\n",
        "SMTP_PASSWORD_1=\nSMTP_USER_2=\nAPP_SECRET_3=\nPORT=80",
        "the PINs are 12 and 13",
        '{"title": "Enter your password", "resetStep3": "Back"}',
        '{"a": "Sign in with passkey", "pinPin194": "Reset"}',
    ],
)
def test_what_was_taken_wrongly_is_left(text: str) -> None:
    assert redact(text).text == text


def test_two_cards_in_a_row_are_no_list_of_numbers() -> None:
    assert redact("4111 1111 1111 1111 5500 0000 0000 0004").text == "[redacted:card-number] [redacted:card-number]"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "kim", "password": "{}"}',
        "SVC_PASSWORD={}\n",
        "login user=kim password={} ok",
        "Dear Kim, your password is {}. Please change it soon.",
        "user,password\nkim,{}\n",
        "<Key>Password</Key><Value>{}</Value>",
    ],
)
@pytest.mark.parametrize("value", ["hhshkwGmppEn", "qgukumfqfnBe", "zccucAnbpBzp", "bxfkqzvjwtmh"])
def test_letters_that_no_word_has_side_by_side_are_a_password(text: str, value: str) -> None:
    assert value not in redact(text.replace("{}", value)).text


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "enterYourPassword"}',
        "password = passwordEncoder",
        "password=getPasswordField",
        "user,password\nkim,encrypted\n",
        'label(password, "Kennwortbestaetigung")',
        "secret: kubernetesSecretKeyRef",
        "token = authenticationToken",
    ],
)
def test_names_made_of_words_are_none(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("пароль: Мойкот42", "пароль: "),
        ("my password is Привет2024!", "my password is "),
        ("DB_PASSWORD=съешь#ещё7", "DB_PASSWORD="),
        ("пароль от сервера lE2JbxhXYHccW", "пароль от сервера "),
        ("Пароль для входа: Ёлка-2024!", "Пароль для входа: "),
        ("κωδικός: Ήλιος2024!", "κωδικός: "),
        ("סיסמה: שמש2024!", "סיסמה: "),
        ("كلمة السر: قطتي2024", "كلمة السر: "),
        ("パスワード: さくら2024!", "パスワード: "),
        ("비밀번호: 고양이2024!", "비밀번호: "),
        ("password=旅行Tiger99!", "password="),
    ],
)
def test_a_password_may_be_written_in_any_alphabet(text: str, left: str) -> None:
    """A letter that Latin-1 lacks was a question mark: a password of them looked like a placeholder, or kept its first half."""
    assert redact(text).text == f"{left}[redacted:password]"


@pytest.mark.parametrize(
    "text",
    [
        "пароль: изменён", "Пароль: не менее 8 символов", "токен: истёк", "пароль сброшен в 10:30", "пароль был изменён 12.03.2024",
        "Пароль пользователя: хранится в сейфе №3", "пароль администратора: спросите у Ивана", "password: неверный",
        "password = получить_пароль()", "Длина пароля: от 8 до 16", "κωδικός: άλλαξε", "Ο κωδικός πρέπει να έχει 8 χαρακτήρες",
        "סיסמה: שונתה", "كلمة المرور يجب أن تكون 8 أحرف", "パスワードは大文字を含む8文字以上", "密码：至少12个字符", "비밀번호: 8자 이상",
    ],
)  # fmt: skip
def test_what_is_said_of_passwords_in_any_alphabet_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize("label", ["Password\n", "Router password\n", "Username\nkim\nPassword\n", "WiFi password\n\n"])
@pytest.mark.parametrize("value", ["Falcon-Harbor24", "Falcon#Harbor24", "Sunny-Days88!"])
def test_two_words_and_a_number_below_the_word_for_it_are_a_password(label: str, value: str) -> None:
    assert redact(f"{label}{value}\n").text == f"{label}[redacted:password]\n"


@pytest.mark.parametrize(
    "text",
    ["Reset password\nUbuntu-Server22\n", "How to change a password\nStep-Two12\n", "All tests pass\nNode-Test20\n",
     "Forgot password\nHelp-Desk24\n", "Key\nFalcon-Harbor24\n"],
)  # fmt: skip
def test_what_is_done_with_a_password_is_not_followed_by_it(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize("name", ["Wifi: HomeNet / ", "log in with kim / ", "credentials for staging: kim / "])
def test_two_words_and_a_number_behind_a_login_are_a_password(name: str) -> None:
    assert redact(f"{name}Falcon-Harbor24").text == f"{name}[redacted:password]"


@pytest.mark.parametrize("first", ["017", "099", "0x1f"])
def test_the_bytes_of_a_key_may_be_written_in_columns(first: str) -> None:
    """`int("099", 0)` is an error, and it was the caller's: the message could not be written at all."""
    array = f"{first}, 203, 104, 055, 008, 091, 250, 033, 077, 142, 196, 005, 219, 088, 161, 044"
    assert redact(f"aes_key = [{array}]").text == "aes_key = [[redacted:api-key]]"


# -- headers: the whole value is the key, whatever it looks like -----------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("Authorization: Bearer mysecrettoken123", "mysecrettoken123"),
        ("Authorization: Bearer abCDefGH1234567890xyzXYZ", "abCDefGH1234567890xyzXYZ"),
        ("Authorization: Bearer hunter2hunter2", "hunter2hunter2"),
        ("Authorization: Bearer letmein", "letmein"),
        ("Authorization: token 9f8e7d", "9f8e7d"),
        ("Authorization: ApiKey falcon-77-blue", "falcon-77-blue"),
        ("Authorization: hunter2", "hunter2"),
        ("Proxy-Authorization: Basic dTpw", "dTpw"),
        ("X-Api-Key: letmein42", "letmein42"),
        ("X-Auth-Token: tulip-garden-42", "tulip-garden-42"),
        ("Private-Token: glue-stick-9", "glue-stick-9"),
        ("Cookie: theme=dark; sid=tiger-lily-8", "tiger-lily-8"),
        ("Set-Cookie: sid=apple-tree-5; Path=/; HttpOnly", "apple-tree-5"),
    ],
)
def test_a_header_with_a_plain_looking_key(line: str, key: str) -> None:
    name, _, value = line.partition(": ")
    for text in (
        line,
        f"GET /orders HTTP/1.1\nHost: shop.example.com\n{line}\nAccept: */*\n",
        f"> GET /orders HTTP/2\n> {line.lower()}\n> accept: */*",
        f"curl -s -H '{line}' https://shop.example.com/orders",
        f'curl --header "{line}" https://shop.example.com/orders',
        f'{{"headers": {{"{name}": "{value}"}}}}',
    ):
        clean = redact(text).text
        assert key not in clean, text
        assert redact(clean).text == clean
    for value_ in (
        {"headers": {name: value, "Accept": "*/*"}},
        {"headers": [[name.lower(), value]]},
        {"headers": [{"name": name, "value": value}]},
    ):
        cleaned, findings = redact_value(value_)
        assert key not in str(cleaned)
        assert len(findings) == 1
        assert redact_value(cleaned) == (cleaned, ())


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${{ secrets.DEPLOY_TOKEN }}",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer YOUR_TOKEN",
        "Authorization: Bearer ...",
        "Authorization: Bearer token",
        "Authorization: Bearer tokens expire after 24h",
        "Authorization: required",
        "Authorization: see below",
        "Authorization: level2 users may read everything",
        "authorization: str | None = Header(None)",
        "X-Auth-Token: xxx",
        "X-Api-Key: string",
        "'X-Api-Key': apiKey,",
        'curl -H "X-Api-Key: {{api_key}}" https://api.example.com',
        "headers['Authorization'] = f'Bearer {token}'",
        'headers.Authorization = "Bearer " + token1',
        "allowed = ['Authorization', 'X-Amz-Date', 'X-Api-Key', 'X-Amz-Content-Sha256']",
        "X-Idempotency-Key: order-123-retry",
        "X-Page-Token: page-22",
        "Set-Cookie: theme=dark2024; Path=/",
        "Cookie: required for logged-in pages",
        "He was the bearer of good news in 2024.",
    ],
)
def test_a_header_that_holds_no_key(text: str) -> None:
    assert redact(text).text == text
    name, colon, value = text.partition(": ")
    if colon:
        assert redact_value({name: value}) == ({name: value}, ())


def test_an_environment_variable_in_json_is_read_as_its_line() -> None:
    key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKEYKEYKX"
    assert key not in redact(f"AWS_SECRET_ACCESS_KEY={key}").text
    clean, findings = redact_value({"env": {"AWS_SECRET_ACCESS_KEY": key}})
    assert clean == {"env": {"AWS_SECRET_ACCESS_KEY": "[redacted:aws-secret-key]"}}
    assert [(found.start, found.end) for found in findings] == [(0, len(key))]
    named = {f"AKIA{'Q3EXZJ7LMWPT5R2K'}_KEY": "plain words"}  # a name that is a secret itself
    assert "plain words" in str(redact_value(named)[0])
