"""What a program is given: command lines with their flags, calls with their arguments, connection strings.

Most of it is a table: a pattern, and the words of which one must stand in the text before the pattern is asked.
"""

from __future__ import annotations

from functools import cache, lru_cache

from .engine import BARRIER, Lazy, Match, Pattern, outline, rx
from .extents import value_at
from .judge import family_of, is_noise_with_dots, is_path, is_phrase_of_words
from .names import kind_of
from .scan import MANY, Scan, Span, line_around
from .values import (
    classes,
    decodes_to_pair,
    has_alpha,
    has_digit,
    has_symbol,
    is_code,
    is_hex,
    is_mixed,
    is_password,
    is_placeholder,
    is_random,
    is_reference,
    is_scrambled,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    _Asked = tuple[str, str, list[tuple[int, int]] | None]

_CONNECTION = (
    r"(?i)(?:^|[;\s\"',?&(])(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue|sharedaccesssignature|user password|passwd|access ?key|"
    r"primarykey|secondarykey|authkey|clientsecret|client secret|sastoken|pass|secretkey|secret)[ \t]?=[ \t]?(\"[^\"\n\x01]{4,}\"|'[^'\n\x01]{4,}'|[^;\"'\s\x01]{3,})"
)


def connection_strings(scan: Scan) -> Iterator[Span]:
    """`Server=...;Password=...;`, `AccountKey=...`, libpq's `host=... password=...`."""
    data = scan.data
    if b"=" not in data or not scan.has(b"pwd", b"pass", b"accountkey", b"accesskey", b"secret", b"signature", b"key="):
        return
    if b";" not in data and not scan.has(b"host=", b"user=", b"dbname="):
        return
    for found in scan.find(_CONNECTION, scan.lines_with(*_SELDOM)):
        start, end = found.span(1)
        value = data[start:end]
        if value[:1] in (b'"', b"'"):
            start, end, value = start + 1, end - 1, value[1:-1]
        else:
            value = value.rstrip(b",)")
            inner = value[1:-1]
            if value == b"{%b}" % inner and (is_random(inner, 12) or (has_digit(inner) and has_symbol(inner))):
                start, value = start + 1, inner  # ODBC's way to quote; `{password}` would be filled in
            end = start + len(value)
        around = line_around(data, start)
        if b";" not in around and not rx(rb"(?i)\b(?:host|user|dbname|server|uid)\s?=").search(around):
            continue
        if scan.judge("password", value, quoted=True, strict=False):
            yield Span(start, end, "connection-string", 1)


_FLAG = (
    r"(?i)(?:^|[\s\"'`(\[,])--?([a-z0-9_.-]{0,40}(?:passw(?:or)?d|passphrase|pass|pwd|token|secret|api-?_?key|access-?_?key|secret-?_?key|auth-?_?key|auth|"
    r"credentials?|pin|private-?_?key|licen[cs]e-?_?key|account-?_?key|sas|storepass|keypass|client-?_?secret|otp|passin|passout|[a-z]+-key)[a-z0-9-]{0,12})(?:[ \t]*[=:][ \t]*|[ \t]+|[\"'],?[ \t]*[\"'])"
)
_SHORT_FLAGS = (
    (r"(?i)\bsshpass[ \t]+-p[ \t]*(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01]+))", "sshpass"),
    (r"(?i)\b(?:mysql|mysqldump|mysqladmin|mariadb|mycli)\b[^\n|\x01]*?[ \t\"'](?-i:-p)(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "mysql mariadb mycli"),
    # Each tool with the flag that is a password to it: `-p` is a port to most, `-w` a folder, `-P` either.
    (r"(?i)\b(?:mongo(?:sh|dump|restore|export|import)?|rdesktop|cypher-shell|altool|certutil|cqlsh|evil-winrm|crackmapexec|netexec|nxc|hydra|medusa|supabase|impacket-\w+|"
     r"security|keepassxc-cli|(?:docker|podman|nerdctl|helm|oc|az|npm|buildah|crane|skopeo)\b[^\n|\x01]*?\blogin)\b[^\n|\x01]*?[ \t](?-i:-p)[ \t=](?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "%-p"),
    (r"(?i)\b(?:sqlcmd|bcp|osql|isql|mosquitto_[a-z]+|zip|unzip|security|ipmitool)\b[^\n|\x01]*?[ \t](?-i:-P)[ \t]?(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "%-p"),
    (r"(?i)\b(?:(?:ldap(?:search|add|modify|delete|compare|whoami)|security)\b[^\n|\x01]*?[ \t](?-i:-w)|redis-cli\b[^\n|\x01]*?[ \t](?-i:-a)|7z[ar]?\b[^\n|\x01]*?[ \t]-p|(?:(?:xf|wlf)reerdp|signtool)\b[^\n|\x01]*?[ \t]/p:?)[ \t]?(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01-][^\s\"'\x01]*))", "%-w% redis-cli 7z% 7za% 7zr% freerdp signtool"),
    (r"(?i)[ \t](?:-u|--user|--auth|--proxy-user|-U|--userpwd|--login)[ \t=]*[\"']?[^\s:%\"'\x01/]{1,80}[:%]([^\s\"'\x01]{3,})()()", "-u --user --auth --proxy-user --login"),
    (r"(?i)\b(?:openssl)\b[^\n\x01]*?(?:pass:)([^\s\"'\x01]{3,})()()", "pass:"),
    (r"(?i)\bidentified[ \t]+(?:with[ \t]+[\w.'\"]+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'`;,()\x01]{4,}))", "identified"),
    (r"(?i)\bpassword[ \t]*(?:[ \t]|=[ \t]*)[EN]?'([^'\n\x01]{3,})'()()", "password"),
    (r"(?i)\b(?:login|user(?:name)?|machine[ \t]+[^\s\x01]+)[ \t\r\n]+[^\s\x01]+[ \t\r\n]+pass(?:word|wd)?[ \t]+([^\s\"'\x01]{3,})()()", "login user machine"),
    (r"(?i)\b(?:requirepass|masterauth)[ \t]+\"?([^\s\"\x01]{3,})()()", "requirepass masterauth"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"'|\x01]{4,})[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+-S|(?:docker|podman|nerdctl|helm|oc|az|cf|npm|vault|heroku|wandb|doctl|flyctl)[ \t]+(?:[\w-]+[ \t]+){0,2}[\w:-]*login|(?:sudo[ \t]+)?(?:ch|vnc|smb)?passwd|gh[ \t]+auth|kinit|cryptsetup|su\b|gpg2?\b[^\n|\x01]*--passphrase-fd|(?:docker|podman)[ \t]+secret[ \t]+create)()()", "echo printf"),
    (r"(?i)\becho[ \t]+-n[ \t]+[\"']?([^\s\"'|\x01]{6,64})[\"']?[ \t]*\|[ \t]*base64\b()()", "|%base64 |base64"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s[\"']?[ \t]+)?[\"']?[\w.@-]{1,64}:([^\s\"'|\x01]{4,})[\"']?[ \t]*\|[ \t]*(?:openssl[ \t]+(?:base64|enc)|base64)\b()()", "|%base64 |%openssl |base64"),
    (r"(?i)\bunsafePlainText\([ \t]*[\"'`]([^\"'`\n\x01]{4,})[\"'`]()()", "unsafeplaintext"),
    (r"(?i)[\"'](?:primary|secondary)_?(?:master_?|readonly_?|read_only_?|account_?)*key[\"'][ \t]*:[ \t]*[\"']([A-Za-z0-9+/]{42,86}={1,2})[\"']()()", "primarykey primary_key primarymaster primaryreadonly secondarykey secondary_key secondarymaster secondaryreadonly"),
    (r"(?i)(?:ConvertTo-SecureString|PSCredential|NetworkCredential)[^\n\x01]{0,80}?[\"']([^\"'\n\x01]{4,})[\"'](?:[ \t]+-AsPlainText|[ \t]*\))()()", "securestring credential"),
    (r"(?i)\b(?:usermod|useradd|chpasswd|htpasswd)\b[^\n\x01]*?(?:-p|(?-i:-[a-zA-Z]*(?:n[a-zA-Z]*b|b[a-zA-Z]*n)[a-zA-Z]*)[ \t]+[^\s\x01]+|(?-i:-[a-mo-zA-Z]*b[a-mo-zA-Z]*)[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+)[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "usermod useradd chpasswd htpasswd"),
    (r"(?i)\b(?:auth(?:tokens)?(?:\.basic|_password)?|credentials?|login|basic_?auth|HTTPBasicAuth|authenticate|connect|sign_?in|creds)[ \t]*(?:[:=][ \t]*)?[\[(][ \t]*[\"'][^\"'\n\x01]+[\"'][ \t]*,[ \t]*[\"']([^\"'\n\x01]{4,})[\"']()()", "auth cred login connect sign"),
    (r"(?i)\bopenssl[ \t]+enc\b[^\n\x01]*?[ \t]-k[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "openssl"),
    (r"(?i)\b(?:rabbitmqctl|rabbitmqadmin)\b[^\n\x01]*?(?:add_user|change_password)[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "rabbitmq"),
    (r"(?i)\b(?:snmp-server[ \t]+community|r[ow]community6?)[ \t]+([^\s\"'\x01]{4,})()()", "snmp-server rocommunity rwcommunity"),
    (r"(?i)\bsnmp(?:v[123]c?)?[ \t]+community(?:[ \t]+string)?[ \t]*(?:is\b|[:=])[ \t]*[\"'`]?([^\s\"'`\x01]{5,})()()", "snmp%comm snmpv1 snmpv2 snmpv3"),
    (r"(?i)[\"'](?:sshpass|redis-cli|mongo(?:sh)?|sqlcmd|docker|podman|ldap\w+|plink)[\"'](?:[ \t]*,[ \t]*[\"'][^\"'\n\x01]*[\"'])*?[ \t]*,[ \t]*[\"']-(?:p|a|w|pw)[\"'][ \t]*,[ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", "\"-p\" '-p' \"-a\" '-a' \"-w\" '-w' \"-pw\" '-pw'"),
    (r"(?i)\bencrypt_string[ \t]+(?:--?[\w-]+(?:[ =][^\s'\"\x01]+)?[ \t]+)*[\"']([^\"'\n\x01]{5,})[\"']()()", "encrypt_string"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?[\"']?([^\s\"'|\x01]{6,})[\"']?[ \t]*\|[ \t]*gcloud[ \t]+secrets\b()()", "gcloud%secrets"),
    (r"\bPASSWORD[ \t]+[a-z_]+[ \t]*=[ \t]*([^\s\x01]{6,})()()", "password%elastic password%kibana password%logstash password%apm"),
    (r"(?i)\brclone[ \t]+obscure[ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{4,})()()", "rclone%obscure"),
    (r"(?i)\b(?:sqlplus|expdp|impdp|sqlldr|rman)[ \t]+(?:-\w+[ \t]+)*[\"']?[\w$#]+/([^\s\"'@/\x01]{4,})@()()", "sqlplus expdp impdp sqlldr"),
    (r"(?i)\b(?:hmac\.new\(|AES\.new\(|Fernet\(|create(?:Hmac|Cipheriv|Decipheriv)\([^,\n\x01]{1,40},(?:[ \t]*Buffer\.from\()?|AES\.(?:en|de)crypt\([^,\n\x01]{1,60},|SecretKeySpec\(|Mac::new_from_slice\(|\bkey[ \t]*=[ \t]*(?:bytes\.fromhex|bytearray\.fromhex|(?:binascii\.)?unhexlify)\()[ \t]*[rbu]?[\"']([^\"'\n\x01]{8,})[\"']()()", "hmac aes fernet cipher fromhex unhexlify"),
    (r"(?i)\bssh-keygen\b[^\n\x01]*?[ \t]-N[ \t]*[\"']?([^\s\"'\x01]{4,})()()", "keygen"),
    (r"(?i)\boracle:(?:thin|oci):[\w$#]+/([^\s\"'/\x01]{4,})@()()", "thin: oci:"),
    (r"(?i)\bjwt\w*\.(?:encode|sign|decode|verify)\w*\([^\n\x01]{1,100}?,[ \t]*b?[\"']([^\"'\n\x01]{6,})[\"'][ \t]*[,)]()()", "jwt"),
    (r"(?i)passw(?:or)?d[^\n\x01]{0,40}?\.(?:send_?keys|type|fill|set_?value|val|input|enter_?text|typeText|press_?keys|set_?text)\([ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", "passw"),
    (r"(?i)basic_?auth(?:entication|orization)?[ \t]*\(?[ \t]*[\"'][^\"'\n\x01]+[\"'][ \t]*,[ \t]*(?:Some\()?[\"']([^\"'\n\x01]{4,})[\"']()()", "basic"),
    (r"(?:[\"']([^\"'\n\x01]{5,})[\"']\.(?:toCharArray|getBytes)\(|\b(?:UTF8|ASCII|Unicode|Default)\.GetBytes\([ \t]*@?\"([^\"\n\x01]{5,})\")()", "tochararray getbytes"),
    (r"(?i)\b(?:password|secret|key)[ \t]+[05789][ \t]+([^\s\"'\x01]{6,})()()", "password%7 secret%5 secret%9 secret%8 key%7 password%0 password%5 password%8 secret%0"),
    (r"(?i)\bauth-user-pass[ \t]*\r?\n[^\s\x01]+\r?\n([^\s\x01]{5,})()()", "auth-user-pass"),
    (r"(?i)\blftp\b[^\n\x01]*?[ \t]-u[ \t]+[^\s,\x01]+,([^\s\"'\x01]{4,})()()", "lftp"),
    (r"(?i)\bWIFI:(?:[A-Z]:[^;\n\x01]*;)*P:([^;\n\x01]{4,});()()", "wifi:"),
    (r"(?i)\bmc[ \t]+(?:alias[ \t]+set|config[ \t]+host[ \t]+add)[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{8,})()()", "alias%set host%add"),
    (r"(?i)(?:github|gitlab|bitbucket)-(?:oauth|token)[\"'][ \t]*:[ \t]*\{[ \t]*[\"'][\w.-]+[\"'][ \t]*:[ \t]*[\"']([A-Za-z0-9_-]{20,})[\"']()()", "-oauth hub-token lab-token bucket-token"),
    (r"(?i)[\"']user(?:name)?[\"'][ \t]*:[ \t]*[\"'][^\"'\n\x01]{1,64}[\"'][ \t]*,[ \t]*[\"']key[\"'][ \t]*:[ \t]*[\"']([A-Za-z0-9+/=_-]{16,})[\"']()()", "\"key\" 'key'"),
    (r"(?i)\blogin[ \t]+(?:--relogin[ \t]+)?([0-9a-f]{32,})(?:[^\w-]|$)()()", "login"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-[ne]+[ \t]+)?(?:[\"']%s(?:\\n)?[\"'][ \t]+)?[\"']([^\s\"'|\\\x01]{4,})[^\n|\x01]{0,60}\|[ \t]*(?:sudo[ \t]+(?:-S|(?:ch|smb|vnc)?passwd)|(?:ch|smb|vnc)?passwd|kinit|cryptsetup|su\b)()()", "echo printf"),
    (r"(?i)\\n([^\s\"'|\\\x01]{4,})(?:\\n)?[\"'][ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:smb|vnc)?passwd\b()()", "|%passwd |%sudo |%smbpasswd |%vncpasswd"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?[\"']?[\w.*-]{1,80}:(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w*.@-]{1,64}:([^\s:\"'\x01]{3,})[\"']?[ \t]*>{1,2}[^\n\x01]*pgpass()()", "pgpass"),
    (r"(?i)\bread[ \t][^\n<\x01]*(?:PASS|PWD|PW|TOKEN|SECRET|KEY)\w*[ \t]*<<<[ \t]*[\"'][^\s\"'\x01]+[ \t]+([^\s\"'\x01]{4,})[\"']()()", "<<<%"),
    (r"(?i)\bwith[ \t]+password[ \t]+([a-z]+(?:-[a-z]+){3,6})\b()()", "with%password"),
    (r"(?m)^[ \t]*\$\{[\w ]*(?i:passw(?:or)?d|pass|pwd|secret|token|key)\}(?:[ \t]?=)?(?:[ ]{2,}|\t)[ \t]*([^\s\"'\x01$%&@][^\s\"'\x01]{4,})[ \t]*\r?$()()", "password}%% password}= password}%= pass}%% pwd}%% secret}%% token}%% key}%%"),
    (r"(?i)\b(?:tacacs|radius)[ \t]+server[ \t]+[^\s\x01]+[ \t]*\r?\n(?:[ \t]+(?:address|timeout|retransmit|port|single-connection|automate-tester|pac|backoff)\b[^\n\x01]*\n)*[ \t]+key[ \t]+(?:[0-9][ \t]+)?\"?([^\s\"'\x01]{5,64})()()", "tacacs%server radius%server"),
    (r"(?i)\bCredentials?::new\([ \t]*\"[^\"\n\x01]+\"(?:\.\w+\(\))?[ \t]*,[ \t]*\"([^\"\n\x01]{5,})\"()()", "credentials::new( credential::new("),
    (r"[\"']crypt[\"'][ \t]*=>[ \t]*(?:\[|array[ \t]*\()[ \t\r\n]*[\"']key[\"'][ \t]*=>[ \t]*[\"']([0-9a-f]{32,}|base64[A-Za-z0-9+/=]{32,})[\"']()()", "'crypt' \"crypt\""),
    (r"(?i)\b(?:auth\w*|unauthorized|forbidden|credentials?|invalid)[ \t]*[({][ \t]*(?:api_?)?key[ \t]*[:=][ \t]*[\"']?([A-Za-z0-9_-]{20,})[\"']?[ \t]*[,)}]()()", "(key= (key: {%key: {key:"),
    (r"(?im)^[ \t]*[-*]?[ \t]*(?:user(?:name)?|login|e-?mail|account)[ \t]*:[ \t]*[^\s\x01]+[ \t]*\r?\n[ \t]*[-*]?[ \t]*key[ \t]*:[ \t]*[\"'`]?([A-Za-z0-9+/=_-]{20,})[\"'`]?[ \t]*\r?$()()", "%key:%"),
    (r"(?i)(?:\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?[\"']?([A-Za-z0-9+/]{8,}={0,2})[\"']?[ \t]*\|[ \t]*base64[ \t]+(?:-d|--decode)\b|\bbase64[ \t]+(?:-d|--decode)[ \t]*<<<[ \t]*[\"']?([A-Za-z0-9+/]{8,}={0,2}))()", "base64%-d base64%--decode"),
    (r"(?i)[ \t](?:-[uUD]|--?user(?:name)?|/u|/user|/ru)(?:[ \t]+|[=:])[^\s\x01-][^\s\x01]*[ \t][^\n|\x01]*?(?:-[pPw]|/p|/rp)[ \t:]+[\"']?([^\s\"'\x01/-][^\s\"'\x01]{4,})()()", "%-p%%-w% %-p %-w /rp% /p%"),
    (r"(?i)passw(?:or)?d[\"']?[ \t]*,?[ \t]*with:?[ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", "with%\" with%' with:"),
    (r"(?i)\bwpa_passphrase[ \t]+(?:\"[^\"\n\x01]+\"|[^\s\x01]+)[ \t]+[\"']?([^\s\"'\x01]{8,63})()()", "wpa_passphrase"),
    (r"(?i)\b(?:sudo[ \t]+-S|kinit|cryptsetup|passwd|chpasswd|vncpasswd|secret-tool|su|docker|podman|gh|vault|doas|read[ \t][^\n<\x01]*(?:PASS|PWD|PW|TOKEN|SECRET|KEY)\w*|secret[ \t]+(?:put|set)|env[ \t]+add)\b[^\n<\x01]*<<<[ \t]*[\"']?([^\s\"'\x01]{4,})()()", "<<<"),
    (r"(?i)(?:pass(?:word|wd|phrase)?|token|secret|key|cred)[\w-]*[ \t=]+<\([ \t]*(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"')\x01]{4,})()()", "<(echo <(printf"),
    (r"(?i)\brootpw[ \t]+(?:--(?:plaintext|allow-ssh|lock)[ \t]+)*[\"']?([^\s\"'\x01-][^\s\"'\x01]{4,})()()", "rootpw"),
    (r"(?i)\bd-i[ \t][^\n\x01]*passw(?:or)?d(?:-again)?[ \t]+(?:password|string)[ \t]+([^\s\"'\x01]{5,})()()", "d-i%"),
    (r"(?i)\bconnect\([ \t]*[\"'][\w$#]+/([^\s\"'@/\x01]{4,})@()()", "connect(\" connect('"),
    (r"(?i)\bacl[ \t]+setuser[ \t][^\n\x01]*?[ \t]>([^\s\"'\x01]{4,})()()", "setuser"),
    (r"(?m)^(?:[\w.:-]*>[ \t]*)?(?:HELLO[ \t]+[0-9][ \t]+)?AUTH[ \t]+(?:[\w.@-]+[ \t]+)?([^\s\"'\x01]{6,})\r?$()()", "auth%"),
    (r"(?m)^(?:[A-Za-z]?[0-9.]{1,6}[ \t]+)LOGIN[ \t]+[^\s\x01]+[ \t]+([^\s\"'\x01]{6,})\r?$()()", "login%"),
    (r"(?i)\b(?:smbclient|rpcclient|smbmap|smbget|winexe|wmic|net[ \t]+rpc)\b[^\n|\x01]*?[ \t]-U[ \t=]*[\"']?[^\s%\"'\x01]+%([^\s\"'\x01]{4,})()()", "smbclient rpcclient smbmap smbget winexe wmic net%rpc"),
    (r"\bsnmp(?:get|set|walk|bulkget|bulkwalk|getnext|inform|trap|table)\b[^\n|\x01]*?[ \t]-A[ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{5,})()()", "snmpget snmpset snmpwalk snmpbulk snmptable snmptrap"),
    (r"\bsnmp(?:get|set|walk|bulkget|bulkwalk|getnext|inform|trap|table)\b[^\n|\x01]*?[ \t]-[Xc][ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{5,})()()", "snmpget% snmpset% snmpwalk% snmpbulk% snmptable% snmptrap%"),
    (r"(?i)\b(?:unrar|rar|arj|twine|httpie|https?)(?:[ \t][^\n|\x01]*?)?[ \t]-(?:a[ \t]+[^\s:\x01]+:|hp|p)[ \t]?[\"']?([^\s\"'\x01/-][^\s\"'\x01]{3,})()()", "unrar rar%x twine http%-a https%-a"),
    (r"(?i)\b(?:cargo|gh|glab|snyk|fly|flyctl|railway|netlify|heroku|doctl|wandb|huggingface-cli|vercel|terraform|pulumi|codecov|vault)\b[^\n|\x01]*?(?:\blogin|\bauth|[ \t]-t|--?token|<<<)[ \t]+[\"']?([A-Za-z0-9][A-Za-z0-9_.+/=-]{15,})()()", "cargo%login gh%auth glab%auth snyk%auth fly%auth doctl wandb%login huggingface-cli codecov terraform%login pulumi%login vault%login"),
    (r"(?i)[\w.$-]{1,64}:([^\s\"'@:/\x01]{3,64})@(?:tcp|unix|udp)\(()()", "@tcp( @unix( @udp("),
    (r"(?i)\bsp_(?:addlogin|password|addlinkedsrvlogin)\b[^\n\x01]*?,[ \t]*N?'([^'\n\x01]{4,})'()()", "sp_addlogin sp_password sp_addlinkedsrvlogin"),
    (r"(?i)\b(?:bcrypt\.\w+|hashpw|make_password|check_password(?:_hash)?|verify_password|hash_password|generate_password_hash|password_hash|password_verify)\([^\"'\n\x01]{0,30}b?[\"']([^\"'\n\x01]{5,})[\"']()()", "bcrypt. hashpw make_password check_password verify_password hash_password password_hash password_verify"),
    (r"(?i)[\"']([^\"'\s\x01]{5,})[\"'][^\"'\n\x01]{0,12}?(?://|#|/\*|--)[ \t]*(?:\w+[ \t]+){0,3}(?:password|passwd|pwd|passphrase)(?:[ \t.]|\r?$)()()", "//%pass #%pass /*%pass --%pass"),
    (r"(?i)\b(?:psexec|plink|pscp|psftp)(?:64)?(?:\.exe)?\b[^\n|\x01]*?[ \t]-(?:pw|p)[ \t]+(?:\"([^\"\n\x01]+)\"|'([^'\n\x01]+)'|([^\s\"'\x01%$-][^\s\"'\x01]*))", "psexec plink pscp psftp"),
    (r"(?i)\bsend(?:_user)?[ \t]+(?:--[ \t]+)?[\"']([^\"'\n\x01$]{5,})\\[rn][\"']()()", "send%\" send%' send%--"),
    (r"(?i)[\"']([^\"'\n\x01]{5,})[\"']\.equals(?:IgnoreCase)?\([ \t]*(?:\w*\.)*\w*(?:passw(?:or)?d|pwd|pass)\b()()", ".equals"),
    (r"(?i)\bhttp_basic(?:_authenticate_with)?\b[^\n\x01]{0,40}?[\"'][^\"'\n\x01]+[\"'][ \t]*,[^\n\x01\"']{0,20}[\"']([^\"'\n\x01]{4,})[\"']()()", "http_basic"),
    (r"(?i)\benable[ \t]+(?:secret|password)[ \t]+(?:level[ \t]+[0-9]+[ \t]+)?(?:[05789][ \t]+)?([^\s\"'\x01]{5,})()()", "enable%secret enable%password"),
    (r"(?i)\bnickserv\b[^\n\x01]{0,20}?identify[ \t]+(?:[\w-]+[ \t]+)?([^\s\"'\x01]{5,})()()", "nickserv"),
    (r"(?i)[ \t]/(?:password|passwd|pwd|pass|rp)[: ][\"']?([^\s\"'\x01*%$/]{4,})()()", "/password /passwd /pwd /pass /rp"),
    (r"(?i)\bconfig[ \t]+(?:--?\w+[ \t]+)*http-basic\.[^\s\x01]+[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "http-basic"),
    (r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"'|\x01]{8,})[\"']?[ \t]*>{1,2}[ \t]*[^\s\x01]*(?:token|secret|key|passw(?:or)?d|credentials?)(?:\.txt)?(?:[\s\"'&;)]|$)()()", "printf echo"),
    (r"(?i)\baccounts[ \t]*:[ \t]*\[[ \t\r\n]*[\"'`](?:0x)?([0-9a-f]{64})[\"'`]()()", "accounts:"),
    (r"(?i)\b(?:mysqli\(|mysqli_connect\(|mysql_connect\(|real_connect\(|mysql_real_connect\([^,\n\x01]{1,40},|PDO\()[ \t]*(?:(?:[\w.$>-]+|\"[^\"\n\x01]*\"|'[^'\n\x01]*')[ \t]*,[ \t]*){2}[\"']([^\"'\n\x01]{5,})[\"']()()", "mysqli( mysqli_connect( mysql_connect( real_connect( pdo("),
    (r"(?i)[\"']([^\"'\n\x01]{4,})[\"'][ \t]*\|[ \t]*ConvertTo-SecureString()()", "securestring"),
    (r"(?i)\b(?:tacacs-server[ \t]+(?:host[ \t]+[^\s\x01]+[ \t]+)?key|isakmp[ \t]+key|key-string|auth_pass|pre-shared-key[ \t]+ascii-text|message-digest-key[ \t]+[0-9]+[ \t]+md5)[ \t]+(?:[0-9][ \t]+)?\"?([^\s\"'\x01=:]{5,64})()()", "tacacs-server isakmp%key key-string auth_pass message-digest-key ascii-text"),
    (r"(?i)\boption[ \t]+(?:key|password|psk)[ \t]+[\"']([^\"'\n\x01]{8,63})[\"']()()", "option%key option%password option%psk"),
    (r"(?i)\([ \t]*[\"']([^\"'\n\x01]{5,})[\"'][ \t]*,[ \t]*forKey:[ \t]*[\"'][\w.-]*(?:passw(?:or)?d|pwd|token|secret|pin|passcode)[\"']()()", "forkey:"),
    (r"(?i)\b(?:cookieParser\(|openssl_(?:en|de)crypt\([^,\n\x01]{1,60},[^,\n\x01]{1,40},)[ \t]*[\"']([^\"'\n\x01]{6,})[\"']()()", "cookieparser( openssl_encrypt openssl_decrypt"),
    (r"(?i)\bsecrets?[ \t]+set[ \t][^\n|\x01]*?(?:--body|-b)[ =][\"']?([^\s\"'\x01]{6,})()()", "secret%set secrets%set"),
    (r"(?i)\bconfig[ \t]+set[ \t]+(?:--?\w+[ \t]+)*--secret[ \t]+[^\s\x01-][^\s\x01]*[ \t]+[\"']?([^\s\"'\x01-][^\s\"'\x01]{4,})()()", "--secret"),
    (r"(?i)\bpdftk\b[^\n|\x01]*?[ \t](?:user|owner|input)_pw[ \t]+(?:PROMPT[ \t]+)?[\"']?([^\s\"'\x01]{4,})()()", "pdftk"),
    (r"(?i)-setairportnetwork[ \t]+[^\s\x01]+[ \t]+(?:\"[^\"\n\x01]+\"|'[^'\n\x01]+'|[^\s\x01]+)[ \t]+[\"']?([^\s\"'\x01]{8,63})()()", "-setairportnetwork"),
    (r"(?i)(?:github|gitlab|bitbucket)-(?:oauth|token)\.[\w.-]+[ \t]+([A-Za-z0-9_-]{20,})()()", "-oauth. hub-token. lab-token."),
    (r"\{noop\}([^\s\"'<>\x01]{4,})()()", "{noop}"),
    (r"(?i)\b\w*key\w*[ \t]*:[ \t]*&?\[u8;[ \t]*\w+\][ \t]*=[ \t]*\*?b\"([^\"\n\x01]{8,})\"()()", "[u8;"),
    (r"(?i)\b(?:npmAuthIdent|BUNDLE_[A-Z0-9_]+__[A-Z0-9_]+)[\"']?[ \t]*[:=][ \t]*[\"']?[\w.@%+-]{1,64}:([^\s\"'\x01/]{4,})()()", "npmauthident bundle_"),
    (r"(?i)\b(?:impacket-\w+|(?:secretsdump|psexec|wmiexec|smbexec|GetUserSPNs|GetNPUsers)(?:\.py)?)\b[^\n|\x01]*?[\w.-]+/[\w.$-]+:[\"']?([^\s\"'@\x01]{4,})[\"']?@()()", "impacket- secretsdump psexec wmiexec smbexec getuserspns getnpusers"),
    (r"(?i)\bsips?:[^\s:@\"'\x01]{1,64}:([^\s:@\"'\x01]{4,})@()()", "sip: sips:"),
    (r"(?m)^\"?[\w.@\\-]+\"?[ \t]+(?:\*|[\w.-]+)[ \t]+\"([^\"\n\x01]{4,})\"[ \t]+\*()()", "\"%*"),
    (r"(?i)\bcreateUser[ \t]+[^\s\x01]+[ \t]+(?:MD5|SHA[0-9-]*)[ \t]+\"?([^\s\"\x01]{8,})()()", "createuser%"),
    (r"(?i)\bcreateUser[ \t]+[^\s\x01]+[ \t]+(?:MD5|SHA[0-9-]*)[ \t]+[^\s\x01]+[ \t]+(?:DES|AES[0-9]*)[ \t]+\"?([^\s\"\x01]{8,})()()", "createuser%"),
    (r"\b334[ \t]+UGFzc3dvcmQ6[ \t]*\r?\n(?:[A-Z]:[ \t]*|[<>-]+[ \t]*)?([A-Za-z0-9+/]{6,}={0,2})()()", "ugfzc3dvcmq6"),
    (r"(?i):[ \t]*(?:EAP|XAUTH|NTLM)[ \t]+\"([^\"\n\x01]{4,})\"()()", "eap%\" xauth%\" ntlm%\""),
    (r"(?i)\b\w*(?:passw(?:or)?d|pwd|passphrase)\w*(?:\(\))?\.(?:equals(?:IgnoreCase)?|contentEquals|compareTo)\([ \t]*[\"']([^\"'\n\x01]{5,})[\"']()()", ".equals( .equalsignorecase( .contentequals( .compareto("),
    (r"(?i)--password-command[ \t=]+[\"']?(?:echo|printf)[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "--password-command"),
    (r"(?i)\bnmcli\b[^\n|\x01]*?[ \t.](?:password|psk)[ \t]+[\"']?([^\s\"'\x01]{8,63})()()", "nmcli"),
    (r"(?i)[ \t](?:-u|--user)[ \t=]*[\"']?([A-Za-z0-9_.-]{20,}):(?:[\"'\s]|$)()()", "curl"),
    (r"(?im)^[ \t]*Key Content[ \t]*:[ \t]*([^\s\x01]{8,63})[ \t]*\r?$()()", "key%content"),
    (r"\"(?:result|bcrypt_hash)\"[ \t]*:[ \t]*\"([^\"\n\x01]{8,})\"()()", "random_password"),
    (r"(?i)\b\w*(?:passw(?:or)?d|pwd|secret|token)\w*[ \t]*=[ \t]*<<[-~]?[\"']?[A-Z_]+[\"']?\r?\n[ \t]*([^\s\x01]{6,})[ \t]*\r?\n()()", "=%<<~ =%<<- =<<"),
    (r"(?i)\bSecret(?:Str|String|Bytes)\([ \t]*b?[\"']([^\"'\n\x01]{6,})[\"'][ \t]*\)()()", "secretstr secretbytes"),
    (r"(?i)\([ \t]*[\w-]*(?:passw(?:or)?d|secret|token)[ \t]+\.[ \t]+\"([^\"\n\x01]{5,})\"()()", "%.%\""),
    (r"(?i)\bInput Password[ \t]+[^\s\x01]+[ \t]{2,}([^\s\x01]{5,})()()", "input%password"),
    (r"(?i)[\"']([A-Za-z0-9_.-]{20,})[\"'][^\"'\n\x01]{0,12}?(?://|#|/\*|--)[ \t]*(?:\w+[ \t]+){0,3}(?:api[ _-]?key|token|secret)(?:[ \t.]|\r?$)()()", "#%api #%token //%api //%token #%secret //%secret"),
    (r"(?i)\b(?:client|bot|discord)\w*\.(?:login|run|start)\([ \t]*[\"']([A-Za-z0-9_.-]{20,})[\"']()()", "client.login( bot.login( bot.run( client.run( client.start( bot.start("),
    (r"(?i)\bqpdf\b[^\n|\x01]*?--encrypt[ \t]+[^\s\x01]+[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "qpdf"),
    (r"(?i)\biwconfig\b[^\n|\x01]*?[ \t]key[ \t]+s:[\"']?([^\s\"'\x01]{5,})()()", "iwconfig"),
    (r"(?i)\bstats[ \t]+auth[ \t]+[^\s:\x01]+:([^\s\"'\x01]{4,})()()", "stats%auth"),
    (r"(?i)\bchpasswd:[ \t]*\r?\n(?:[ \t]+expire:[^\n\x01]*\n)?[ \t]+list:[ \t]*(?:\|[ \t]*)?\r?\n[ \t]*(?:-[ \t]*)?[\w.-]+:([^\s\"'\x01]{4,})()()", "chpasswd:"),
    (r"(?i)\bpre-shared-key[ \t]+(?:(?:local|remote|hexadecimal)[ \t]+)?(?:[0-9][ \t]+)?\"?([^\s\"'\x01=:]{5,64})()()", "pre-shared-key"),
    (r"(?i)\bconnect[ \t]+to[ \t]+[^\s\x01]+[ \t]+user[ \t]+[^\s\x01]+[ \t]+using[ \t]+[\"']?([^\s\"'\x01]{4,})()()", "connect%to"),
    (r"(?i)\bdefine\([ \t]*[\"'](?:SECURE_)?(?:AUTH|LOGGED_IN|NONCE|CACHE_KEY)_(?:KEY|SALT)[\"'][ \t]*,[ \t]*(?:'([^'\n\x01]{8,})'|\"([^\"\n\x01]{8,})\")()", "_key', _key\", _salt', _salt\""),
    (r"(?i)\bnet[ \t]+(?:user|use)[ \t]+(?:[a-z]:[ \t]+)?[^\s\x01]+[ \t]+(?:/user:[^\s\x01]+[ \t]+)?([^\s/\"'\x01]{4,64})()()", "net%use"),
)  # fmt: skip


# Asked only where one of their words stands, though they would match without it.
_CALLS = (r"(?i)(?:connect|PDO|getConnection|create_?user|createConnection|mysqli|WiFi\.begin|login|authenticate|create_superuser|set_password|Credentials?|basic_auth|sign_?in|DirectoryEntry|(?:PDO|mysqli)->__construct|Sequelize|username_pw_set|smtp\.Auth|PlainTextAuthProvider|ldap3\.Connection|Credentials\.basic|ldap_bind|simple_bind(?:_s)?)[ \t]*\([ \t]*(?:(?:[\w.$@-]+|[\"'][^\"'\n\x01]*[\"'])[ \t]*,[ \t]*){1,3}[\"']([^\"'\n\x01]{5,})[\"']()()", "connect pdo( pdo-> mysqli user( set_password mysqli begin( login( auth credential sign directoryentry _bind sequelize pw_set ldap3")  # fmt: skip
_CLIENTS = (r"(?i)(?:client|session|api|auth|login|configure|init|connect|algoliasearch)\w*(?:\.new|::new)?\([^)\n\x01]{0,80}?(?:[\"'][^\"'\n\x01]{2,60}[\"'][ \t]*,[ \t]*|\b(?:api_?)?key[ \t]*[=:][ \t]*)[\"']([0-9a-f]{32,64}|[A-Za-z0-9]{20,64})[\"']()()", "client session api auth login configure init( connect algoliasearch")  # fmt: skip


# A name and its value with nothing but white space between them, after a word that gives one to the other.
_GIVES = (
    r"(?im)(?:^[ \t]*(?:ENV|ARG|setx|setenv|set(?:[ \t]+-[a-z]+)*)|\b(?:config(?:ure)?|secrets?|env|vars?|variables?)(?:[ \t:]+(?:set|add|put|create))?|\bconfig:set)[ \t]+"
    r"(?:--?[a-z][\w-]*[ \t]+)*[\"']?([a-z/@][\w./:@-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|auth|pat))[\"']?[ \t]+[\"']?([^\s\"'\x01=-][^\s\"'\x01]{7,})"
)


# What it is where the variable is not set, wherever that stands.
_OR_ELSE = (
    r"(?i)(?:process\.env\.|import\.meta\.env\.|environ(?:\.get)?[(\[][ \t]*[\"']|getenv\([ \t]*[\"']|get_?env(?:ironmentvariable)?\([ \t]*[\"']|env(?:\.get|\.fetch)?[(\[][ \t]*[\"']|getOrDefault\([ \t]*[\"'])"
    r"(\w*(?:key|token|secret|passw(?:or)?d|pass|pwd))[\"']?[\])]?[ \t]*(?:\|\||\?\?|\?:|or|,)[ \t]*[\"'`]([^\s\"'`\x01]{6,})[\"'`]"
)


_NAMED_FLAGS = (
    r"(?i)[ \t]--?(?:name|key|secret-id|secret-name|variable|parameter)[ \t=]+[\"']?([\w./-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|pat))[\"']?[ \t][^\n|\x01]*?"
    r"--?(?:value|secret-string|secret-value|body|data|string-value)[ \t=]+[\"']?([^\s\"'\x01{-][^\s\"'\x01]{5,})"
)


# `echo X | vercel env add NAME`
_PIPED = (
    r"(?i)\b(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s(?:\\n)?[\"']?[ \t]+)?[\"']?([^\s\"'|\x01]{6,})[\"']?[ \t]*\|[ \t]*(?:(?:npx|bunx|pnpm|yarn|sudo)[ \t]+)?"
    r"[\w./-]+(?:[ \t]+[\w:.-]+)*?[ \t:]+(?:add|put|set|create|store|write|insert|import)[ \t]+(?:--?[\w-]+[ \t]+)*[\"']?([\w./-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|auth|pat))\b"
)


def given(scan: Scan) -> Iterator[Span]:
    """`ENV API_KEY X`, `set -gx TOKEN X`, `npm config set //registry/:_authToken X`, `--name /prod/db_password --value X`."""
    data = scan.data
    lines = scan.lines_with(*_SELDOM)
    for _, (a, b), (start, end) in (
        *((whole, name, value) for whole, value, name in scan.spans(_PIPED, lines)),
        *scan.spans(_GIVES, lines),
        *scan.spans(_NAMED_FLAGS, lines),
        *scan.spans(_OR_ELSE, lines),
    ):
        kind = kind_of(data[a:b].rpartition(b"/")[2])
        word = data[start:end]
        if kind is None or start in scan.taken or not has_digit(word) or is_reference(word) or is_path(word):
            continue
        if data[a:b] == b"user.signingkey":
            continue  # which key git signs with
        if scan.judge(kind, word.removeprefix(b"base64:"), quoted=True, strict=not data[a:b].isupper()):
            yield Span(start, end, family_of(kind), 2)


def flags(scan: Scan) -> Iterator[Span]:
    """What is passed on a command line under its name: `--token X`."""
    data = scan.data
    if b" -" in data or b"\n-" in data or b"'-" in data or b'"-' in data or data.startswith(b"-"):
        for found in scan.find(_FLAG):
            name = found.group(1)
            kind = kind_of(name)
            if name.lower().endswith((b"secret-string", b"secret-value")):
                kind = "password"  # whatever is kept there
            if kind is None:
                continue
            value = value_at(data, found.end())
            if value is None:
                continue
            start, end, quoted = value
            word = data[start:end]
            if word.startswith(b"-") or word.startswith(b"/") or is_reference(word) or is_code(word):
                continue
            if scan.judge(
                kind,
                word,
                quoted=True
                if kind != "key" and (has_digit(word) or is_scrambled(word) or is_phrase_of_words(word))
                else quoted,
                strict=kind != "password" and not (kind == "secret" and has_digit(word) and not is_wordy(word)),
            ):
                yield Span(start, end, family_of(kind), 2)


def commands(scan: Scan) -> Iterator[Span]:
    """What is passed on a command line without a name: `mysql -pX`, `curl -u user:X`, and its relatives in SQL and .netrc."""
    data, low = scan.data, scan.low
    asked: list[_Asked] | None = scan.kept.get("flags")
    if asked is None:
        asked = _asked(low)
    else:  # the word may have been blanked; in a match that it is part of, nobody has to ask
        asked = [row for row in asked if row[2] is not None or any(map(low.__contains__, _gate(row[1])))]
    scan.kept["flags"] = asked
    if seldom := scan.lines_with(*_SELDOM):
        if everyday := scan.lines_with(*_EVERYDAY):
            asked = asked + [(*row, everyday) for row in _everyday()]
        if scan.has(*_gate(_CALLS[1])):
            asked = [*asked, (*_CALLS, seldom)]
        if scan.longest >= 20 and scan.has(*_gate(_CLIENTS[1])):
            asked = [*asked, (*_CLIENTS, seldom)]
    for source, words, lines in asked:
        if words.startswith(_WORD_ELSEWHERE):
            lines = scan.lines_with(*_elsewhere())
        hits = 0
        for spans in scan.everywhere(source) if words in _FROM_LINE_TO_LINE else scan.spans(source, lines):
            found = Match(data, spans)
            start, end = next(
                (span for span in (found.span(1), found.span(2), found.span(3)) if span[1] > span[0] >= 0),
                (0, 0),
            )
            word = data[start:end].rstrip(b";,)|")
            if hits > MANY and is_mixed(word):
                yield Span(start, start + len(word), "password", 1)  # one of many
                continue
            if words.startswith("auth cred") and (third := _THIRD.match(data, end, end + 90)):
                # `connect("host", "user", "...")`; with two only, the second is the password
                word = third.group(1)
                if (has_digit(word) or has_symbol(word) or is_scrambled(word)) and _is_flag_value(word):
                    yield Span(third.start(1), third.end(1), "password", 1)
                    continue
                word = data[start:end]
                if not has_digit(word) and not has_symbol(word):
                    continue
            if (
                words.startswith("auth cred")
                and low.startswith(b"connect", found.start())
                and _A_VARIABLE.match(data, end, end + 40)
                and not has_digit(word)
                and not has_symbol(word)
            ):
                continue  # `connect("id", "user", PASSWORD)`
            if words.startswith("_key'"):  # of WordPress: noise with spaces in it
                word = data[start:end]
                if classes(word) >= 3 and (is_random(word, 16) or has_symbol(word)) and not _UNIQUE.search(word):
                    yield Span(start, end, "api-key", 1)
                continue
            if words == _CLIENTS[1] and not is_hex(word) and not (classes(word) >= 3 and is_random(word, 20)):
                continue
            if words.startswith('with%"') and not (has_digit(word) or has_symbol(word)):
                before = low[max(0, found.start() - 24) : found.start()].rpartition(BARRIER)[2]
                if not rx(rb"fill|enter|type|set|input").search(before):
                    continue  # `replace "password" with "userinfo"`
            if words.startswith(("curl", "#%api", "client.login(", "(key=", "%key:%")) and not is_random(word, 20):
                continue
            if (
                words.startswith(("=%<<", "input%", "secretstr", "%.%"))
                and not has_digit(word)
                and not has_symbol(word)
            ):
                continue  # a variable, a word
            if word.endswith(b">") and b"<" in data[found.start() : start]:
                word = word[:-1]  # `--user <user:password>`
            if words in ("auth%", "login%") and not (has_digit(word) and has_alpha(word)):
                continue
            if words.startswith("login") and rx(rb"\s(?:and|or|with|the|your)\s").search(data, *found.span()):
                continue
            if words.startswith("password%7") and not has_digit(word):
                continue  # `password 8 characters long`
            if words.startswith("-u") and (
                rx(rb"\d+|[\w.-]+/.*|:.*|latest|\d+(?:\.\d+)+.*|\d+-[a-z]+").fullmatch(word)
                or rx(rb"(?:\+|\.(?:py|js|ts|rb))[\"']?[:%]$").search(data, found.start(), start)
            ):
                continue  # docker run -u 1000:1000, image:tag, date -u +%F, python -u app.py:main
            if words == "%-p" and word.isdigit() and len(word) < 6:
                continue  # a port
            if (
                words.startswith(
                    ("snmpget% ", "snmp-server", "snmp%comm", "{noop}", "eap%", "password}", "tacacs%server")
                )
                and not has_digit(word)
                and not has_symbol(word)
                and not is_phrase_of_words(word)
            ):
                continue  # `public`, a label
            if words.startswith("%-p%%") and not (
                has_digit(word) and has_alpha(word) and not rx(rb"[\w.-]*[:/=].*|v?[0-9.]+[a-z]{0,4}").fullmatch(word)
            ):
                continue  # a port, a volume, a version
            if words == "with%password" and not is_phrase_of_words(word):
                continue  # prose knows the others
            if words.startswith("base64%") and not _is_pair(word):
                continue  # any text
            if words == "|%base64 |base64" and not (has_digit(word) and classes(word) >= 3 and not is_wordy(word)):
                continue  # any text
            if (
                words.startswith("printf")
                and not (
                    b"passw" in low[end : found.end()] and has_digit(word) and has_alpha(word) and not is_path(word)
                )
                and not (is_uuid(word) or (is_random(max(rx(rb"[-_.]").split(word), key=len), 12) and has_digit(word)))
            ):
                continue  # written into a file that is named for it
            if words.startswith("identified") and found.start(3) >= 0:
                if not has_digit(word) or not data[found.start() : start].lower().rstrip().endswith(b"by"):
                    continue  # `identified by the`, `identified as v2`
                if rx(rb"\b(?:as|is|are|be|was|were|been|not)\s+$").search(
                    low, max(0, found.start() - 8), found.start()
                ):
                    continue  # `as identified by boto3`
            if (
                words.startswith(("enable", "option", "pre-shared", "connect%"))
                and not has_digit(word)
                and not has_symbol(word)
            ):
                continue  # `enable secret rotation`
            if words.startswith("send"):
                before, after = low[max(0, start - 90) : start], low[start : end + 40]
                if b"assw" not in before.rpartition(BARRIER)[2] + after.partition(BARRIER)[0]:
                    continue
            if words.startswith(("jwt", "tochar")) and (
                rx(rb"[HREP]S\d{3}|[\w-]+").fullmatch(word) and not has_digit(word[3:])
            ):
                continue
            if words.startswith("tochar") and not rx(rb"(?i)pass|key|secret|store|pin").search(
                line_around(data, start)
            ):
                continue
            if rx(rb"\d+:\d+").fullmatch(word) or (
                words.startswith("connect")
                and not (has_digit(word) and has_alpha(word) and not is_path(word))
                and not is_phrase_of_words(word)
                and low[found.start() : found.start() + 11] != b"wifi.begin("
            ):
                continue
            if scan.recall("flag", word, _is_flag_value):
                hits += 1
                yield Span(start, start + len(word), "password", 1)


_UNIQUE = Lazy(rb"(?i)phrase|unique|change|your")  # `put your unique phrase here`
_A_VARIABLE = Lazy(rb"[\"'][ \t]*,[ \t]*[A-Za-z_$]\w*[ \t]*[,)]")
_THIRD = Lazy(rb"[\"'][ \t]*,[ \t]*[\"']([^\"'\n\x01]{5,64})[\"']")
_WORD_ELSEWHERE = (
    "random_password",
    "%-p",
    "hmac",
    "password%7",
    "net%use",
    "sqlplus",
    "alias%set",
)  # the word need not stand in the match
_FROM_LINE_TO_LINE = (
    "login user machine",
    "auth-user-pass",
    "ugfzc3dvcmq6",
    "chpasswd:",
    "=%<<~ =%<<- =<<",
    "tacacs%server radius%server",
    "'crypt' \"crypt\"",
    "%key:%",
)


# Rows with words of every day that their patterns ask for anyhow: one pass says in which lines any of them matches. For all others
# one pass says which of their words occur.
_COMMON_GATES = frozenset("password login user machine auth cred connect sign -u passw basic".split())
_EVERYDAY = tuple(source for source, words in _SHORT_FLAGS if not _COMMON_GATES.isdisjoint(words.split()))
_SELDOM = (
    *_EVERYDAY,
    _CALLS[0],
    _CLIENTS[0],
    _CONNECTION,
    _GIVES,
    _PIPED,
    _NAMED_FLAGS,
    _OR_ELSE,
)  # most texts have none of them
_RARE = "|".join(
    sorted(
        rf"\Q{word.replace('%', ' ')}\E"
        for _, words in _SHORT_FLAGS
        for word in words.split()
        if _COMMON_GATES.isdisjoint(words.split())
    )
)


@cache
def _everyday() -> list[tuple[str, str]]:
    return [row for row in _SHORT_FLAGS if not _COMMON_GATES.isdisjoint(row[1].split())]


@cache
def _others() -> list[tuple[str, str]]:
    return [row for row in _SHORT_FLAGS if _COMMON_GATES.isdisjoint(row[1].split())]


@cache
def _elsewhere() -> tuple[str, ...]:
    return tuple(source for source, words in _others() if words.startswith(_WORD_ELSEWHERE))


@cache
def _rare_words() -> dict[bytes, list[tuple[bytes, list[int]]]]:
    """By their first two letters, each with the rows that it calls for."""
    rows: dict[bytes, list[int]] = {}
    for number, (_, words) in enumerate(_others()):
        for word in _gate(words):
            rows.setdefault(word, []).append(number)
    found: dict[bytes, list[tuple[bytes, list[int]]]] = {}
    for word, numbers in rows.items():
        found.setdefault(word[:2], []).append((word, numbers))
    return found


@cache
def _gate(words: str) -> tuple[bytes, ...]:
    return tuple(word.replace("%", " ").encode() for word in words.split())


def _asked(low: bytes) -> list[_Asked]:
    """Those of the other rows that may match, because one of their words occurs, and the lines in which it does."""
    lines: dict[int, set[tuple[int, int]]] = {}
    for hits, ((at, _),) in enumerate(outline(_RARE).spans(low, overlapping=True)):
        if hits > 20:  # too many to count
            return _asked_everywhere(low)
        end = low.find(b"\n", at)
        line = max(0, low.rfind(b"\n", 0, at)), len(low) if end < 0 else end + 1
        for word, numbers in _rare_words()[low[at : at + 2]]:
            if low.startswith(word, at):
                for number in numbers:
                    lines.setdefault(number, set()).add(line)
    rows: list[_Asked] = []
    for number in sorted(lines):
        source, words = _others()[number]
        rows.append((source, words, None if words.startswith(_WORD_ELSEWHERE) else sorted(lines[number])))
    return rows


def _asked_everywhere(low: bytes) -> list[_Asked]:
    """The same without the lines. Each pass looks for the words that none has met yet: to ask for each by itself takes ten times as
    long, unless the text has most of them."""
    rows: set[int] = set()
    at = 0
    for _ in range(8):
        match = _rare_but(frozenset(rows)).first(low, at, len(low))
        if match is None:
            break
        at = match[0][0]
        for word, numbers in _rare_words()[low[at : at + 2]]:
            if low.startswith(word, at):
                rows.update(numbers)
    else:
        rows.update(number for number, row in enumerate(_others()) if any(map(low.__contains__, _gate(row[1]))))
    return [(*_others()[number], None) for number in sorted(rows)]


@lru_cache(maxsize=64)
def _rare_but(rows: frozenset[int]) -> Pattern:
    """One of the words that call for another row than these."""
    words = {word for number, row in enumerate(_others()) if number not in rows for word in _gate(row[1])}
    return Pattern("|".join(sorted(rf"\Q{word.decode()}\E" for word in words)), groups=False)


def _is_pair(word: bytes) -> bool:
    """Whether base64 holds a name and a password, and no address or sentence, which have a colon too."""
    if not decodes_to_pair(word):
        return False
    from base64 import b64decode

    return rx(rb"[\w.@+-]{1,64}:[^\s/:{}][^\s:{}]{4,}").fullmatch(b64decode(word + b"=" * (-len(word) % 4))) is not None


def _is_flag_value(word: bytes) -> bool:
    if (
        is_placeholder(word)
        or is_path(word)
        or (
            is_reference(word)
            and not (
                has_digit(word) and classes(word) >= 3 and not word.startswith((b"$", b"{", b"<", b"%", b"@Microsoft."))
            )
        )
    ):
        return False
    if len(word) > 256:
        return is_random(word, 256)  # what `aws ecr get-login` gives to docker
    return is_password(word, quoted=True) and (not is_code(word) or is_noise_with_dots(word))
