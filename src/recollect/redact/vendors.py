"""Noise beside the name of a service: `DATADOG=...`, `"mailgun": "..."`, `Airbrake.configure("...")`, `# giphy` above it.

Most services give their keys no shape of their own; who writes one down mostly writes the service's name in front of it and
sometimes nothing else. Ids of the same services look like their keys, so that a word between the two that says what it is
(`trace`, `sha`, `order`) lets the value be.
"""

from __future__ import annotations

from .engine import BARRIER, Lazy, outline
from .judge import is_path
from .noise import PUBLIC_PART
from .scan import Scan, Span
from .syntax import decodes_to_text
from .values import (
    classes,
    count_digits,
    count_lower,
    count_upper,
    has_digit,
    has_entropy,
    is_code,
    is_file_name,
    is_hex,
    is_public_id,
    is_random,
    is_reference,
    is_uuid,
    is_wordy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Names that are no ordinary word, or hardly ever one before an equals sign and noise.
_KNOWN = """
abuseipdb accuweather adafruit adobe agora ai21 aikido airbrake airbyte airtable aiven akamai alchemy algolia alibaba aliyun alphavantage
amplitude anthropic anypoint apify apiflash appcenter appcues appdynamics appfollow appsflyer arcjet artifactory asana assemblyai
atlassian auth0 authress authy autodesk avaza azure baidu bannerbear baremetrics baseten bigcommerce bigml binance bintray bitbucket
bitfinex bitgo bitly bitmex bitrise bittrex blogger blynk braintree branchio brandfetch brevo browserstack bscscan bugsnag buildkite
bunnycdn buttercms bybit calendarific calendly campayn captcha cartesia censys cerebras chartmogul chatwoot checkly circleci clarifai
clearbit clevertap clickhouse clicksend clickup clockify closecrm cloudant cloudflare cloudimage cloudinary cloudmersive cloudsight
codacy codeclimate codecov codemagic codeship cohere coinapi coinbase coingecko coinlayer coinlib coinmarketcap composio confluence
confluent contentful contentstack convertkit convex couchbase coveralls cryptocompare currencylayer customerio cypress d7network databricks
datadog datagov datarobot debounce deepai deepgram deepl deepseek delighted detectify dialogflow diffbot digicert digitalocean discogs
discord disqus dockerhub docparser docusign doppler dotdigital droneci dropbox dynatrace easypost ebay edamam elastic elasticemail
elevenlabs enigma etherscan etsy eventbrite everhour exchangerate expedia facebook faceplusplus fastly figma finicity finnhub firebase
firecrawl flagsmith fixerio flickr flightapi flutterwave foursquare freshbooks freshdesk fullcontact fullstory gengo genius geocodio getemail getresponse gitea gitter giphy
gocardless godaddy goodreads gorgias greynoise gradle grafana graphhopper greenhouse groq gumroad harvest hellosign helpscout hereapi heroku hetzner
hibob highnote honeybadger honeycomb hootsuite hunterio hotjar hubspot huggingface hypertrack iexcloud ifttt imagekit imgix imgur infobip infracost
infura insightly instagram instamojo intercom ipapi ipdata ipgeolocation ipinfo ipstack jfrog jira jotform jumpcloud kagi kakao keenio
keycdn kickbox klaviyo klarna kustomer kontent kraken kucoin lastfm launchdarkly lemlist lexigram linkedin linode livechat llamacloud locationiq
logdna logentries loggly logzio looker luno lusha magento mailboxlayer mailchimp mailerlite mailgun mailjet mailmodo mailtrap mandrill mapbox
mapquest marketo marketstack mattermost mavenlink maxmind memcachier meraki messagebird messari metabase microcms midjourney mistral
mixpanel mollie moosend nasa netlify neutrinoapi newrelic new_relic new-relic newsapi nexmo nightfall noticeable notion npmjs nvidia nylas nytimes
oanda okta olark omnisend onedesk onelogin onesignal openai opencage openrouter openweather openweathermap opsgenie omdb optimizely owlbot
pagerduty pandadoc pandascore parseur parsehub pastebin paymongo paypal paystack pdflayer pendo pepipost perplexity pexels phrase pinata pinecone
pingdom pinterest pipedrive pivotaltracker pixabay plaid planetscale plivo poloniex positionstack posthog postman postmark postageapp
privateai private_ai private-ai protocolsio pubnub pusher pushbullet pushover qualaroo quickbase quickbooks quicknode rapidapi raygun razorpay readme
recaptcha recurly redash replicate revampcrm ringcentral riotgames rollbar rubygems runpod runrunit salesblink salesforce saucelabs scaleway
scrapingbee screenshotapi securitytrails sendbird sendgrid sendinblue sendpulse sentry serpapi serpstack shippo shodan shopify shortcut
shotstack shutterstock signalwire signable sinch slack slackbot smartling smartsheet smartystreets snipcart snov snovio snowflake snyk sonarcloud
sonarqube sparkpost splunk spoonacular sportradar spotify squarespace squareup stability stackexchange statsig statuscake statuspage
stormglass storyblok strava streak stripe stytch sumologic supabase surveymonkey surveysparrow swiftype tatum tavily teamwork telegram
telnyx tencent textmagic thingsboard thingspeak tiingo timezoneapi tinypng tmdb todoist toggl tomorrowio tomtom travis travisci trello tripadvisor
tumblr twelvedata twilio twitch twitter typeform typesense unsplash uploadcare uptimerobot urlscan userstack vercel viber vimeo
virustotal visualcrossing vonage voyageai vultr wakatime walmart weatherapi weatherbit weatherstack webex webflow webscraper wepay
whatsapp wistia wolframalpha woocommerce workato workday workstack worldcoinindex wrike xero yahoo yandex yelp yodlee youneedabudget
youtube zapier zendesk zenrows zenscrape zenserp zeplin zerobounce zoho zoom
""".split()
_NAME = "|".join(sorted((rf"{name}" for name in _KNOWN), key=lambda name: (-len(name), name)))
SERVICES = f"(?i){_NAME}"
_PART = (
    "api|keys?|tokens?|secrets?|auth|access|client|private|account|service|live|test|prod|production|dev|staging|sandbox|write|admin|rest|ingest|"
    "configure|config|init|initialize|setup|login|connect|new|creds?|credentials?|pat|sdk|personal|bot|app|web|server|user|master|com|io"
)
# The service, more words of the same name, what gives it a value, and a run that may be a key.
_BESIDE = (
    rf"(?i)(?:^|[^a-z0-9])(?:{_NAME})(?:[ ._-]?(?:{_PART}))*[\"'`\])]{{0,2}}"
    r"(?:[ \t]*(?:=>|:=|=|:|\()?[ \t]*[\[{(][ \t\r\n]*[\"']?(?:api|secret|auth|access)?_?-?(?:key|token|secret)[\"'`]?)?"
    r"(?:[ \t]*(?:=>|->|:=|=|:|,|\()[ \t]*|[ \t]+|[ \t]*\r?\n[ \t]*)[\"'`(\[]{0,2}([A-Za-z0-9][A-Za-z0-9_+/=.:~-]{15,})"
)
_PARTS = Lazy(rb"[-_]")
_WORDS = Lazy(rb"[-_.:/]")
_CHECKED = (b"  ", b" *")
_PREFIXED = Lazy(rb"[a-z]{2,8}[_-]")
_SAYS_ID = Lazy(
    rb"(?:^|[^a-z])(?:id|ids|uuid|guid|sha|sha1|sha256|md5|hash|digest|checksum|commit|rev|revision|release|version|trace|span|event|message|msg|order|issue|page|file|doc|document|"
    rb"run|build|deploy|deployment|request|req|image|container|network|node|cluster|job|task|card|board|list|project|team|org|user|account|customer|channel|path|url|uri|host|domain|"
    rb"name|email|public|pub|publishable|sid|arn|ref|tx|address|block|fingerprint|thumbprint|slug|bucket|region|database|db|index|ray|etag|cursor|zone|site|app|application|tenant|client)(?:[^a-z]|$)"
)

# A client, a bot or a wallet made with nothing but a key.
_MADE_WITH = r"(?i)\b\w*(?:client|wallet|bot|api|sdk|auth|handler|analytics|tracker|gateway|experiment|twilio|bugsnag|appcenter|parse|account)\w*(?:\.(?:run|login|init|initialize|start|connect|configure|setup|authenticate|load|from_?key|from_?private_?key))?\([ \t]*(?:(?:[\w.]+|[\"'][^\"'\n\x01]*[\"'])[ \t]*,[ \t]*)?[\"']((?:0x)?[A-Za-z0-9_.:+/-]{30,})[\"']"
_LONG_LITERAL = r"[\"'][A-Za-z0-9_.:+/-]{30,}[\"']"  # what it ends in
# A string literal, or a variable of the environment, that is nothing but noise of both cases.
_LITERAL = r"[\"'`]([A-Za-z0-9_-]{32,})[\"'`]"
_VARIABLE = r"(?m)^[ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]*=([A-Za-z0-9_-]{32,})[ \t]*\r?$"


def literals(scan: Scan) -> Iterator[Span]:
    """Noise that a generator of keys made, whatever it is called; ids, hashes and addresses are written in other letters or named so."""
    data, low = scan.data, scan.low
    if scan.longest < 32:
        return
    lines = scan.lines_with_noise()
    for source in (_LITERAL, _VARIABLE):
        for _, (start, end) in scan.spans(source, lines):
            if start in scan.taken or not scan.recall("literal", data[start:end], _is_generated):
                continue
            line = max(low.rfind(b"\n", max(0, start - 48), start) + 1, start - 48, 0)
            before = low[line:start].rpartition(BARRIER)[2]
            if b"kty" in low and PUBLIC_PART.search(before) is not None:
                continue
            if _SAYS_ID.search(before) is None and _PUBLIC.search(before) is None:
                yield Span(start, end, "api-key", 3)


_PUBLIC = Lazy(
    rb"id[\"'\s:=(]*$|hash|sha|digest|next|marker|cursor|etag|address|content|checksum|public|site|verif|data|cid|base|alphabet|chars|nonce|test"
)


def _is_generated(value: bytes) -> bool:
    if len(value) > 128:
        return False  # a blob. (Counted here: re2 would need a state for each.)
    body = max(_PARTS.split(value), key=len)
    return (
        len(body) >= 20
        and value.count(b"-") + value.count(b"_") <= 4
        and count_upper(body) >= 4
        and count_lower(body) >= 4
        and count_digits(body) >= 3
        and has_entropy(body, 4.0)
        and len(body.translate(None, b"0OIl")) < len(body)  # without any of them it is an address of a currency
        and not body.startswith((b"Qm", b"bafy", b"eyJ"))
        and not is_public_id(value)
        and not value.startswith((b"sha256-", b"sha384-", b"sha512-"))
        and not decodes_to_text(value)
        and is_random(body, 20)
        and not is_wordy(body)
    )


def made_with(scan: Scan) -> Iterator[Span]:
    """`Client("...")`, `bot.run("...")`, `Wallet("0x...")`."""
    data, low = scan.data, scan.low
    if scan.longest < 36:
        return
    for whole, (start, end) in scan.spans(_MADE_WITH, scan.lines_with(_LONG_LITERAL)):
        word = data[start:end]
        if is_file_name(word):
            continue  # `parse("reportlab-2.5.win-amd64-py2.7.exe")`
        if start in scan.taken or len(word) > 100 or is_uuid(word) or is_path(word) or not is_random(word, 30):
            continue
        is_key = is_hex(word) and len(word) in (32, 40, 48, 64, 66)
        if is_key if b"wallet" in low[whole[0] : start] else is_key or classes(word) >= 3:
            yield Span(start, end, "api-key", 2)


def beside_vendors(scan: Scan) -> Iterator[Span]:
    """Noise that is given to a name of a service, or stands right after one."""
    data = scan.data
    if not scan.lines_with_noise() or not outline(SERVICES).has(data):
        return
    for whole, (start, end) in scan.everywhere(_BESIDE):
        value = data[start:end].rstrip(b".:-_/~")
        if b"=" in value.rstrip(b"=") or value.partition(b":")[0].isalpha():
            continue  # `trace_id=...`, `track:...`
        if start in scan.taken or len(value) > 512 or not has_digit(value):
            continue
        head = data[whole[0] : start].lower()
        if data[end : end + 2] in _CHECKED and is_hex(value):
            continue  # a line of checksums, below one that ends in a name
        if BARRIER in head or not scan.recall("beside", value, _is_key):
            continue
        named = b"key" in head or b"token" in head or b"secret" in head or b"auth" in head
        if b"pub" in head or b"site" in head or value.startswith((b"pk_", b"pub", b"phc_")):
            continue
        if not named and _SAYS_ID.search(head) is not None:
            continue
        if not named and is_uuid(value) and head.rstrip(b" \t\"'`([")[-1:] in (b":", b","):
            continue  # what is told of a service: of what happened there, mostly
        # Where nothing but white space stands between the two, an id is as likely as a key.
        loosely = head.rstrip(b" \t\r\n\"'`([")[-1:] not in (b"=", b":", b",", b"(", b">") and b"(" not in head
        if loosely and not named and b"\n" not in head:
            if len(value) < 20 or is_hex(value) or is_uuid(value) or _PREFIXED.match(value) is not None:
                continue
        yield Span(start, start + len(value), "api-key", 3)


def _is_key(value: bytes) -> bool:
    """What a generator of keys makes: no path, no link, no version, no word, no name of a file."""
    if (
        is_public_id(value)
        or is_reference(value)
        or is_path(value)
        or b"//" in value
        or value.count(b".") > 2
        or value.count(b":") > 1
    ):
        return False
    if not is_random(value, 16) or is_wordy(value) or count_digits(value) < 2:
        return False
    if value.islower() and all(part.isdigit() or part.isalpha() for part in _WORDS.split(value)):
        return False  # `claude-haiku-4-5-20251001`
    return len(value) >= 24 if is_hex(value) else not is_code(value) and classes(value) >= 2
