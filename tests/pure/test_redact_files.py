"""Secrets in configuration files, on command lines, in code and in what programs print; each shape was missed once."""

from __future__ import annotations

from base64 import b64encode

import pytest

from recollect.redact import redact

HEX32, HEX40 = "8cf71e1351acda4a8bf86075e24e8b5c", "a83300a526fb2cf45bb76bdc740b0e84c067f820"
HEX64 = HEX32 + HEX32[::-1]
MIXED = "v4FUFUt86QumYr4w03O47MwbpDoeAH4G9u0w5DyY"
KEY44 = MIXED + "x3k="
UUID = "3f2a9c1e-7b5d-4e8f-a1b2-c3d4e5f60718"
PHRASE, WITH_ONE = "copper-lantern-orbit-meadow", "copper-session-orbit-meadow"
BYTES = ",".join(str((n * n * 37 + n * 101 + 41) % 251) for n in range(64))


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


DOCKER = encoded('{"auths":{"r.acme.io":{"auth":"a2ltOmNvcHBlcjRsYW50ZXJu"}}}')


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        # passphrases of plain words, one of which may speak of something that programs have too
        (f"CREATE LOGIN svc WITH PASSWORD = N'{PHRASE}', CHECK_POLICY = OFF;", PHRASE),
        (f"ALTER LOGIN sa WITH PASSWORD=N'{WITH_ONE}'", WITH_ONE),
        (f"app.use(session({{ secret: '{PHRASE}', resave: false }}));", PHRASE),
        (f"app.use(cookieSession({{ name: 'a', secret: '{PHRASE}' }}))", PHRASE),
        (f"SESSION_SECRET={PHRASE}", PHRASE),
        (f'jwt_secret = "{PHRASE}"', PHRASE),
        (f"|System|User|Password|\n|---|---|---|\n| Mail | kim | {PHRASE} |\n", PHRASE),
        (f"| Dienst | Benutzer | Kennwort |\n|---|---|---|\n| Mail | kim | {WITH_ONE} |\n", WITH_ONE),
        (f"user,password\nkim,{PHRASE}\n", PHRASE),
        (f"-  password: tK4x9Qmz\n+  password: {WITH_ONE}", WITH_ONE),
        (f'DriverManager.getConnection("jdbc:mysql://10.1.9.5:3306/stock", "kim", "{PHRASE}");', PHRASE),
        (f'kim : EAP "{PHRASE}"', PHRASE),
        (f"remotehost = imap.acme.io\nremoteuser = kim@acme.io\nremotepass = {PHRASE}", PHRASE),
        (f"10:16:40 DEBUG Connecting to db01 as kim with password {PHRASE}", PHRASE),
        # words with dots and a number
        ("outputs:\n  dev:\n    password: copper_lantern.orbit30\n    warehouse: W", "copper_lantern.orbit30"),
        ("quarkus.datasource.password=copper_lantern.orbit27\nquarkus.x=1", "copper_lantern.orbit27"),
        ("cmdkey /generic:TERMSRV/nas /user:kim /pass:copper.lantern.orbit59", "copper.lantern.orbit59"),
        ("$ echo -n 'kim.lee:copper_lantern.orbit70' | base64", "copper_lantern.orbit70"),
        ("postgres://kim:copper.lantern_orbit30@db01/x", "copper.lantern_orbit30"),
        # files
        ("# /etc/ppp/chap-secrets\n# client  server  secret  IP addresses\nkim  *  gOYj-GYzv.P!w  *", "gOYj-GYzv.P!w"),
        ("/etc/ppp/pap-secrets:\nkim\t*\tcopper4lantern\t10.0.0.5\n", "copper4lantern"),
        ("/etc/davfs2/secrets:\nhttps://cloud.acme.io/remote.php/webdav kim london92", "london92"),
        ("$ cat /etc/openvpn/auth.txt\nkim\n3P.vO@k+HM8T-Tsp0", "3P.vO@k+HM8T-Tsp0"),
        ("$ cat credentials.txt\nkim\ncopper4Lantern", "copper4Lantern"),
        ("client switch01 {\n    ipaddr = 10.1.2.3\n    secret = 53cGynn-BrS\n}", "53cGynn-BrS"),
        ("security-profiles set [ find default=yes ] wpa2-pre-shared-key=copperoreo74", "copperoreo74"),
        ("tacacs server TAC1\n address ipv4 172.16.2.3\n key marble1995", "marble1995"),
        ("radius server RAD1\n address ipv4 172.16.2.3 auth-port 1812\n timeout 5\n key 7 marble1995", "marble1995"),
        ("*** Variables ***\n${USERNAME}    kim\n${PASSWORD}    rhEdwXJZHdmz0\n", "rhEdwXJZHdmz0"),
        (f".dockerconfigjson: {DOCKER}", DOCKER),
        (f"exporters:\n  otlp:\n    headers:\n      x-honeycomb-team: {MIXED[:22]}", MIXED[:22]),
        (f"return [\n  'crypt' => ['key' => '{HEX32}'],\n  'db' => []", HEX32),
        (f"'crypt' => array (\n    'key' => '{HEX32}',", HEX32),
        (f"<AgoraAppCertificate>{HEX32}</AgoraAppCertificate>", HEX32),
        (f"name;variable;value;updated\nSSO;OAUTH_CLIENT_SECRET;{MIXED};2026-06-11", MIXED),
        (f"name,variable,value\nUptime,ACME_API_KEY,{HEX32}\n", HEX32),
        (f"**Hex**\n- user: kim@acme.io\n- key: {HEX32}\n", HEX32),
        (f"[{BYTES}]", BYTES),
        (f"$ cat id\n[{BYTES}]\n", BYTES),
        # command lines
        ("keytool -importkeystore -srckeystore a.p12 -srcstorepass copperm0nkey -deststorepass b", "copperm0nkey"),
        ("keytool -importkeystore -destkeystore a.jks -deststorepass tiger4shadow", "tiger4shadow"),
        ("keytool -genkeypair -destkeypass 'tiger4shadow'", "tiger4shadow"),
        ("Command '['mysqldump', '-u', 'priya.p', '-pDDOsm2hUElIy', 'kunden']' returned 2.", "DDOsm2hUElIy"),
        ("(echo 'lunaoreo54'; echo 'lunaoreo54') | smbpasswd -s -a kim", "lunaoreo54"),
        ('echo -e "J0Lq-V7v_D\\nJ0Lq-V7v_D" | passwd kim', "J0Lq-V7v_D"),
        ("htpasswd -bc /etc/nginx/.htpasswd kim jOGmCQac.x1ikReiTgX_F", "jOGmCQac.x1ikReiTgX_F"),
        ('echo "10.1.9.5:5432:*:kim.lee:SEB@%TOt8k-q.2xq" >> ~/.pgpass', "SEB@%TOt8k-q.2xq"),
        ('read -r USERNAME PASSWORD <<< "kim turnipwombat17"', "turnipwombat17"),
        ("$ vault login s." + "vIKthGwnpLdDZgnCEFrorKgO", "vIKthGwnpLdDZgnCEFrorKgO"),
        ('wget --header="X-Auth-Token: 14866f0677478b" -qO- https://acme.io/a.csv', "14866f0677478b"),
        ("slmgr /ipk HHMVQ-M9JPM-QXYJG-CW893-J92W3", "HHMVQ-M9JPM-QXYJG-CW893-J92W3"),
        (f'echo "{UUID}" | npx vercel env add ACME_API_TOKEN production', UUID),
        (f"echo {HEX64} | wrangler secret put MASTER_KEY", HEX64),
        (f"printf '%s' '{MIXED}' | gh secret set DEPLOY_TOKEN", MIXED),
        (f"echo {encoded('kim:Sanne3641+')} | base64 -d", encoded("kim:Sanne3641+")),
        (f"base64 -d <<< {encoded('kim@acme.io:gHzAW71KN27')}", encoded("kim@acme.io:gHzAW71KN27")),
        # what commands print
        (f"wg genkey\n{KEY44}", KEY44),
        (f"$ openssl rand -base64 32\n{KEY44}", KEY44),
        (f"$ openssl rand -hex 16\n{HEX32}\n$ ", HEX32),
        (f"$ cat config/master.key\n{HEX32}", HEX32),
        ("$ cat /run/secrets/db_password\nx7Kq-9mPz_w2\n", "x7Kq-9mPz_w2"),
        ('security find-generic-password -wa "Livebox-A3C0"\nfgq6htwnhi', "fgq6htwnhi"),
        ("$ pwgen -s 16 1\nxK3vbQ9mTz4LpW8r\n", "xK3vbQ9mTz4LpW8r"),
        (
            '$ terraform output -json\n{\n  "db_secret_key": {\n    "sensitive": true,\n    "type": "string",\n    "value": "xmrym@bv1mb7nva9"\n  }\n}',
            "xmrym@bv1mb7nva9",
        ),
        (f'{{"acme_api_key": {{"sensitive": true, "type": "string", "value": "{MIXED}"}}}}', MIXED),
        (f'`Err` value: Auth {{ key: "{HEX64}", status: 403 }}', HEX64),
        (f"panic: railway: unauthorized (key={UUID})", UUID),
        # code
        ("#0 /var/www/db.php(12): PDO->__construct('mysql:host=db01', 'kim', 'Arjun14.')", "Arjun14."),
        (f"const client = algoliasearch('GAU75Z48MN', '{HEX32}');", HEX32),
        (f'account = w3.eth.account.from_key("0x{HEX64}")', HEX64),
        (f"const account = privateKeyToAccount('0x{HEX64}')", HEX64),
        (f'const ably = new Ably.Realtime("jlOOgx.E4War6:{MIXED}");', MIXED),
        (f"rest = AblyRest('0wNJSy.pJmC2K:{MIXED}')", MIXED),
        (f'Credentials::new("kim@acme.io".to_string(), "{PHRASE}".to_string());', PHRASE),
        ('Credentials::new("kim".into(), "i373G3w8HOuzKp6*w".into())', "i373G3w8HOuzKp6*w"),
        (f"MJ_APIKEY_PRIVATE = '{HEX32}'", HEX32),
        (f'os.environ["MJ_APIKEY_PRIVATE"] = "{HEX32}"', HEX32),
        (f"ENV PLEX_CLAIM {MIXED[:20]}\nEXPOSE 9000", MIXED[:20]),
        (f'const PLEX_CLAIM: &str = "{MIXED[:20]}";', MIXED[:20]),
        (f'woocommerce_secret = "cs_{HEX40}"', HEX40),
        (f"https://shop.acme.io/wp-json/wc/v3/orders?consumer_key=ck_{HEX40}&consumer_secret=cs_{HEX40[::-1]}", HEX40[::-1]),
        # links and pages
        ("redirect=https%3A%2F%2Fkim%3Acopper4lantern%40127.0.0.1%2Fpath", "copper4lantern"),
        ("<p>Your temporary password is <b>Wombat-1979</b>.</p>", "Wombat-1979"),
        ("<p>Ihr Passwort lautet: <code>vX*+UNBZE</code></p>", "vX*+UNBZE"),
        (f"reset your password:\nhttps://acme.io/password/reset/{HEX64}?email=kim%40acme.io", HEX64),
        (f"https://acme.io/reset-password/{MIXED}", MIXED),
        # a family of its own
        ("rotate `nsec1" + "ud2m4tldcnezyfnnmn9m45577yzzz4y34p923ydn8uyhlfmld4zqndmuy6`", "ud2m4tldcnezyfnnmn9m45577y"),
    ],
)  # fmt: skip
def test_what_files_and_programs_hold_is_found(text: str, secret: str) -> None:
    assert secret in text
    clean = redact(text).text
    assert secret not in clean
    assert redact(clean).text == clean


@pytest.mark.parametrize(
    "text",
    [
        # phrases
        "secret: 'my-app-tls-certificate'",
        "envFrom:\n  - secretRef:\n      name: copper-lantern-orbit-meadow",
        "secret: copper-lantern-orbit-meadow-tls",
        "password: must-have-a-digit",
        "| Name | Password policy |\n|---|---|\n| Mail | at-least-eight-letters |\n",
        "CREATE LOGIN svc WITH PASSWORD = N'<password>'",
        "ALTER LOGIN sa WITH PASSWORD = N'$(SA_PASSWORD)'",
        "connecting with password authentication-over-plain-text disabled",
        # attributes
        "password: config.database.pass12",
        "token = torch.nn.functional.conv12",
        "dtype: numpy.core.float32",
        "password=request.form.field10",
        # files
        "# /etc/ppp/chap-secrets\n# client  server  secret  IP addresses\n",
        "The file /etc/ppp/chap-secrets holds\none line  for  each  user\n",
        "/etc/davfs2/secrets must be readable by root only\nhttps://cloud.acme.io for more details",
        "$ cat /etc/openvpn/auth.txt\ncat: /etc/openvpn/auth.txt: No such file",
        "$ cat notes.txt\nkim\nhello",
        "client switch01 {\n    ipaddr = 10.1.2.3\n    secret = changeme\n}",
        "tacacs server TAC1\n address ipv4 172.16.2.3\n key <removed>",
        "${PASSWORD}    Get Variable Value    ${ENV_PASSWORD}",
        "${PASSWORD}    %{DB_PASSWORD}",
        "headers:\n  x-honeycomb-team: ${HONEYCOMB_API_KEY}",
        "'crypt' => ['key' => getenv('CRYPT_KEY')]",
        "name;variable;value;updated\nSSO;OAUTH_CLIENT_SECRET;${SECRET};2026-06-11",
        f"name;variable;value\nbuild;COMMIT_SHA;{HEX40}",
        "- user: kim\n- key: value",
        f"- sha: {HEX40}\n- key: deps-{HEX32}",
        "[" + ",".join(str(n) for n in range(64)) + "]",
        "[" + ",".join(str(n % 7) for n in range(64)) + "]",
        "[" + ",".join(str(n * 13) for n in range(64)) + "]",
        "1. january 2. february 3. march 4. april 5. may 6. june 7. july 8. august 9. september 10. october 11. november 12. december",
        "1. Install the package 2. Run it 3. Done",
        # command lines
        "keytool -importkeystore -srckeystore a.p12 -srcstorepass changeit -deststorepass changeit",
        "keytool -importkeystore -srcstorepass:env SRC_PASS -deststorepass $DEST_PASS",
        "['mysqldump', '-u', 'root', '-p', 'kunden']",
        "(echo \"$PW\"; echo \"$PW\") | smbpasswd -s -a kim",
        'echo -e "$PASS\\n$PASS" | passwd kim',
        "htpasswd -c /etc/nginx/.htpasswd kim",
        'echo "localhost:5432:*:kim:$PGPASSWORD" >> ~/.pgpass',
        'read -r USERNAME PASSWORD <<< "$CREDS"',
        "vault login -method=oidc role=admin",
        "X-Auth-Token: <token>",
        "slmgr /ipk XXXXX-XXXXX-XXXXX-XXXXX-XXXXX",
        "slmgr /xpr",
        'echo "$TOKEN" | npx vercel env add ACME_API_TOKEN production',
        "echo production | vercel env add NODE_ENV preview",
        f"echo {encoded('hello: this is a text')} | base64 -d",
        f"echo {encoded('https://acme.io/page')} | base64 -d",
        # what commands print
        "wg pubkey < privatekey\n" + KEY44,
        f"sha256sum a.key\n{HEX64}  a.key",
        f"$ git rev-parse HEAD\n{HEX40}",
        "$ cat config/master.key\ncat: config/master.key: No such file or directory",
        f"$ cat public.key\n{KEY44}",
        "openssl rand -base64 32\nprints thirty-two bytes",
        f"uuidgen\n{UUID}",
        '{"db_password": {"sensitive": true, "type": "string", "value": ""}}',
        f'{{"commit": {{"type": "string", "value": "{HEX40}"}}}}',
        '{"token": {"type": "string", "value": "${var.token}"}}',
        f"cache miss (key={HEX40})",
        # code
        "PDO->__construct('mysql:host=db01', 'kim', Object(SensitiveParameterValue))",
        "algoliasearch('APP', process.env.ALGOLIA_KEY)",
        "account = w3.eth.account.from_key(PRIVATE_KEY)",
        f'block = chain.get_block("0x{HEX64}")',
        "new Ably.Realtime(process.env.ABLY_KEY)",
        "Credentials::new(user.to_string(), password.to_string())",
        "MJ_APIKEY_PRIVATE = process.env.MJ_APIKEY_PRIVATE",
        "ENV PLEX_CLAIM ${PLEX_CLAIM}",
        "cs_test_" + "a1b2c3d4e5f6g7h8i9",
        # links and pages
        "redirect=https%3A%2F%2Facme.io%3A8080%2Fpath%40v2",
        "<p>Your password is <b>required</b>.</p>",
        "<p>The password is <b>case-sensitive</b></p>",
        "https://acme.io/password/reset/confirm?email=kim%40acme.io",
        "https://acme.io/docs/reset-password/how-to-reset-your-password-in-2024",
        "npub1" + "ud2m4tldcnezyfnnmn9m45577yzzz4y34p923ydn8uyhlfmld4zqndmuy6",
        '{"order":{"number":"36221708768635"}}',
    ],
)  # fmt: skip
def test_what_is_written_alike_stays(text: str) -> None:
    assert redact(text).text == text
