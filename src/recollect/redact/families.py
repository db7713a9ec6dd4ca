"""The tokens that say what they are: one line for each shape a vendor gave to its keys.

A row has the family's name (it becomes the marker), what it is, the literals of which one must stand in the text before
the pattern is even compiled, and the pattern; its first group, or all of it, is the secret. Lengths are floors rather
than exact: vendors lengthen their tokens, and a longer one is no less a secret. The facts are from the vendors' documentation
and the public rule sets of secret scanners.
"""

from __future__ import annotations

from ..light import dataclass

A = "[A-Za-z0-9]"
W = "[A-Za-z0-9_-]"
H = "[0-9a-f]"
X = "[0-9A-Fa-f]"
B = "[A-Za-z0-9+/]"
UUID = f"{X}{{8}}-{X}{{4}}-{X}{{4}}-{X}{{4}}-{X}{{12}}"


@dataclass(frozen=True)
class Family:
    """One shape of token."""

    name: str
    doc: str
    triggers: tuple[str, ...]
    pattern: str
    least: int = (
        16  # the length of the longest word without white space that the text must have: 16, 20, 24, 30 or more
    )


def _f(name: str, doc: str, triggers: str, pattern: str, least: int = 16) -> Family:
    return Family(name, doc, tuple(triggers.split()), pattern, least)


FAMILIES: tuple[Family, ...] = (
    # Clouds
    _f("aws-key-id", "AWS access key id", "AKIA ASIA ABIA ACCA", r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"),
    _f("aws-key-id", "AWS access key id, older", "A3T", r"\b(A3T[A-Z0-9][A-Z0-9]{16})\b"),
    _f("aws-bedrock-key", "Amazon Bedrock API key", "ABSK bedrock-api-key-", rf"\b(ABSK{B}{{100,}}={{0,2}}|bedrock-api-key-{B}{{40,}}={{0,2}})"),
    _f("aws-mws-key", "Amazon Marketplace key, or secret or token of Login with Amazon", "amzn.mws. amzn1.oa2-cs. Atza| Atzr|", rf"\b(amzn\.mws\.{UUID}|amzn1\.oa2-cs\.v1\.{X}{{60,}}|Atz[ar]\|{W}{{40,}})"),
    _f("aws-session-token", "AWS session token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", rf"\b((?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz){B}{{80,}}={{0,2}})"),
    _f("gcp-api-key", "Google API key (also Firebase, Gemini, Maps)", "AIza", rf"\b(AIza{W}{{30,}})"),
    _f("gcp-api-key", "Google API key, new form", "AQ.Ab", rf"\b(AQ\.Ab{W}{{30,}})"),
    _f("google-oauth", "Google OAuth access token", "ya29.", r"\b(ya29\.[A-Za-z0-9_.-]{20,})"),
    _f("google-oauth", "Google OAuth client secret", "GOCSPX-", rf"(GOCSPX-{W}{{20,}})"),
    _f("google-oauth", "Google OAuth authorization code", "4/0A", rf"\b(4/0A{W}{{30,}})"),
    _f("google-oauth", "Google OAuth refresh token", "1//0", rf"\b(1//0{W}{{30,}})"),
    _f("gcp-hmac-key", "Google Cloud Storage HMAC key id", "GOOG1E", r"\b(GOOG1E[A-Z0-9]{50,})\b"),
    _f("google-push-key", "Firebase Cloud Messaging server key", ":APA91b", rf"\b(AAAA{W}{{7}}:APA91b{W}{{100,}})"),
    _f("google-recaptcha-key", "reCAPTCHA key", "6L", rf"\b(6L{W}{{37}}{A})\b", 40),
    _f("azure-client-secret", "Microsoft Entra (Azure AD) client secret", "Q~", r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,36})", 36),
    _f("azure-key", "Azure storage or Cosmos DB account key", "==", rf"(?:^|[^A-Za-z0-9+/])({B}{{86}}==)", 88),
    _f("azure-key", "Azure key with its signature", "JQQJ99 ACDb AzFu AzSe AzCa +ASt +ARm +AIo +AEh +ACR APIM", rf"\b({A}{{52}}JQQJ99{A}{{26}}|[A-Za-z0-9/+_-]{{30,82}}(?:APIM|ACDb|\+(?:ABa|AMC|ASt|AEh|ARm|ACR|AIo)|AzFu|AzSe|AzCa)[A-Za-z0-9/+]{{5,10}}={{0,2}})"),
    _f("azure-key", "Azure Functions key in a link", "?code= &code=", r"[?&]code=([A-Za-z0-9_%+-]{40,}={0,2})", 45),
    _f("azure-sas", "Signature of an Azure shared access link", "sig=", r"[?&;]sig=([A-Za-z0-9%+/=_-]{20,120})"),
    _f("azure-devops-token", "Azure DevOps personal access token", "AZDO", rf"\b({A}{{76}}AZDO{A}{{4}})\b"),
    _f("alibaba-key-id", "Alibaba Cloud access key id", "LTAI", rf"\b(LTAI{A}{{12,26}})\b"),
    _f("tencent-key-id", "Tencent Cloud secret id", "AKID", rf"\b(AKID{A}{{28,36}})\b"),
    _f("yandex-key", "Yandex Cloud key or token", "AQVN t1. y0_", rf"\b(AQVN{W}{{35,40}}|t1\.{W}+={{0,2}}\.{W}{{86}}={{0,2}}|y0_{W}{{40,}})"),
    _f("digitalocean-token", "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"(do[opr]_v1_{X}{{40,}})"),
    _f("digitalocean-token", "DigitalOcean Spaces key", "DO00 DO801", r"\b(DO(?:00|801)[A-Z0-9]{14,18})\b"),
    _f("heroku-key", "Heroku API key", "HRKU-", r"(HRKU-[A-Za-z0-9_-]{30,})"),
    _f("fly-token", "Fly.io token", "fo1_ fm1a_ fm1r_ fm2_ FlyV1", r"((?:fo1|fm1[ar]|fm2)_[A-Za-z0-9+/=_,-]{30,})"),
    _f("vercel-token", "Vercel token", "vercel_ vcp_ vci_ vca_ vcr_ vck_", rf"\b((?:vercel_(?:blob_rw_{A}{{10,}}_)?|vc[piark]_){A}{{22,}})"),
    _f("netlify-token", "Netlify token", "nfp_ nfc_ nfo_ nfb_ nfu_", rf"\b(nf[pcobu]_{A}{{30,}})"),
    _f("cloudflare-token", "Cloudflare origin CA key", "v1.0-", rf"\b(v1\.0-{H}{{24}}-{H}{{100,}})"),
    _f("cloudflare-token", "Cloudflare tunnel token", "eyJhIjoi", r"\b(eyJhIjoi[A-Za-z0-9+/_-]{120,}={0,2})"),
    _f("cloudflare-token", "Cloudflare token, new form", "cfut_ cfat_ cfk_", rf"\b(cf(?:ut|at|k)_{W}{{30,}})"),
    _f("aiven-password", "Aiven password or token", "AVNS_ aivenv1", rf"\b(AVNS_{W}{{15,}}|aivenv1{W}{{40,}})"),
    _f("akamai-token", "Akamai EdgeGrid token", "akab-", rf"\b(akab-{W}{{16,}}-{W}{{16,}})"),
    _f("supabase-token", "Supabase key", "sbp_ sb_secret_", rf"\b(sbp_(?:v0_|oauth_)?{X}{{36,}}|sb_secret_{W}{{20,}})"),
    _f("planetscale-token", "PlanetScale token or password", "pscale_", r"(pscale_(?:tkn|pw|oauth|api|app)_[A-Za-z0-9_=.-]{20,})"),
    _f("neon-token", "Neon key or password", "napi_ npg_", rf"\b(napi_{A}{{40,}}|npg_{A}{{10,}})"),
    _f("render-token", "Render API key", "rnd_", rf"\b(rnd_{A}{{24,}})"),
    _f("railway-token", "Railway token", "rlwy_", rf"\b(rlwy_{W}{{24,}})"),
    _f("scaleway-key", "Scaleway or Scalingo token", "tk-us- SCW", r"\b(tk-us-[A-Za-z0-9_-]{40,}|SCW[A-Z0-9]{17})\b"),
    _f("linode-hetzner-token", "Hetzner or Upcloud style token", "ucat_", rf"\b(ucat_{A}{{20,}})"),
    _f("ibm-cloud-key", "IBM Cloud API key", "ApiKey-", rf"\b(ApiKey-{UUID})"),
    # Code hosts and registries
    _f("github-token", "GitHub token: classic, OAuth, user, server, refresh", "ghp_ gho_ ghu_ ghs_ ghr_", rf"(gh[pousr]_{A}{{30,}})"),
    _f("github-token", "GitHub fine-grained token", "github_pat_", r"(github_pat_[A-Za-z0-9_]{36,})"),
    _f("github-token", "GitHub token of 40 hex digits under its name", "x-access-token:", rf"x-access-token:({W}{{20,}})"),
    _f("gitlab-token", "GitLab token of any kind", "glpat- gldt- glptt- glrt- glrtr- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941", rf"((?:gl(?:pat|dt|ptt|rt|rtr|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{{18,}}|glcbt-[A-Za-z0-9_-]{{18,}}|glft-{W}{{18,}}|GR1348941{W}{{18,}}))"),
    _f("gitlab-token", "GitLab session cookie", "_gitlab_session=", rf"_gitlab_session=({X}{{32}})"),
    _f("bitbucket-token", "Bitbucket or Atlassian token", "ATBB ATOA ATCTT3 ATATT3 ATSTT3", r"\b(AT(?:BB|OA)[A-Za-z0-9_=.-]{20,}|AT(?:CTT|ATT|STT)3[A-Za-z0-9_=.-]{40,})"),
    _f("gitea-token", "Codeberg or Gogs style token", "gta_ gto_", rf"\b(gt[ao]_{A}{{32,}})"),
    _f("npm-token", "npm access token", "npm_", rf"\b(npm_{A}{{30,}})"),
    _f("npm-token", "npm token in .npmrc", "_authToken", r"_authToken[ \t]*[= ][ \t]*[\"']?([A-Za-z0-9_.=/+-]{16,})"),
    _f("npm-token", "npm basic credentials in .npmrc", ":_auth :_password _auth=", r"(?:^|[:\s])_(?:auth|password)[ \t]*=[ \t]*[\"']?([A-Za-z0-9+/=]{8,})"),
    _f("pypi-token", "PyPI upload token", "pypi-", rf"(pypi-(?:AgE|{W}{{60}}){W}{{16,}})"),
    _f("rubygems-token", "Credentials of Sidekiq's gem server", "contribsys CONTRIBSYS Contribsys", rf"(?:contribsys|CONTRIBSYS|Contribsys)[^\s0-9]{{0,12}}[ \t]*[^\s0-9]{{0,8}}[ \t]*[\"'`]?({X}{{8}}:{X}{{8}})\b"),
    _f("rubygems-token", "RubyGems key", "rubygems_", rf"(rubygems_{X}{{40,}})"),
    _f("hexpm-key", "Hex (Erlang) key", "hexpm_", rf"\b(hexpm_{X}{{32,}})"),
    _f("crates-token", "Cargo (Rust) registry token", "cio cargo_", rf"\b(cio{A}{{32}})\b"),
    _f("nuget-key", "NuGet API key", "oy2", r"\b(oy2[a-z0-9]{43})\b"),
    _f("dockerhub-token", "Docker Hub token", "dckr_", rf"(dckr_(?:pat|oat)_{W}{{20,}})"),
    _f("clojars-token", "Clojars token", "CLOJARS_ clojars_", r"((?:CLOJARS|clojars)_[A-Za-z0-9]{50,})"),
    _f("hex-token", "JFrog Artifactory key or reference token", "AKCp cmVmd", rf"\b(AKCp{A}{{60,}}|cmVmd{A}{{55,}})\b"),
    _f("sourcegraph-token", "Sourcegraph token", "sgp_ slk_", rf"\b(sgp_(?:(?:{X}{{16}}|local)_)?{X}{{40}}|slk_{X}{{64}})\b"),
    _f("jetbrains-token", "JetBrains permanent token", "perm: perm-", r"\b(perm[:-][A-Za-z0-9=]{4,}\.[A-Za-z0-9=]{2,}\.[A-Za-z0-9]{20,})"),
    # Language models and machine learning
    _f("openai-key", "OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service- T3BlbkFJ", rf"\b(sk-(?:proj|svcacct|admin|None|service|service-account)-{W}{{24,}}|sk-{A}{{16,}}T3BlbkFJ{A}{{16,}})"),
    _f("openai-session", "OpenAI session or organisation secret", "sess-", rf"\b(sess-{A}{{36,}})"),
    _f("anthropic-key", "Anthropic key", "sk-ant-", rf"(sk-ant-[a-z]+[0-9]{{2}}-{W}{{24,}}|sk-ant-{W}{{32,}})"),
    _f("openrouter-key", "OpenRouter key", "sk-or-", rf"(sk-or-(?:v[0-9]-)?{W}{{30,}})"),
    _f("langsmith-key", "LangSmith, Langfuse or LiteLLM key", "lsv2_ ls__ sk-lf-", rf"\b(lsv2_(?:pt|sk)_{W}{{24,}}|ls__{A}{{28,}}|sk-lf-{UUID})"),
    _f("huggingface-token", "Hugging Face token", "hf_ api_org_", rf"\b(hf_{A}{{30,}}|api_org_{A}{{30,}})"),
    _f("groq-key", "Groq key", "gsk_", rf"\b(gsk_{A}{{24,}})"),
    _f("replicate-token", "Replicate token", "r8_", rf"\b(r8_{A}{{30,}})"),
    _f("perplexity-key", "Perplexity key", "pplx-", rf"(pplx-{A}{{24,}})"),
    _f("xai-key", "xAI key", "xai-", rf"\b(xai-{A}{{24,}})"),
    _f("nvidia-key", "NVIDIA NIM key", "nvapi-", rf"(nvapi-{W}{{24,}})"),
    _f("fireworks-key", "Fireworks key", "fw_", rf"\b(fw_{A}{{20,}})\b"),
    _f("llm-key", "Other model vendors: Tavily, E2B, Pinecone, Voyage, Exa, Jina, Cerebras, LlamaCloud, Friendli, Brave ...", "tvly- e2b_ pcsk_ jina_ llx- csk- flp_ esecret_ sk_car_ fc- tgp_v1_ pa- bb_live_ bb_test_ m0- unkey_ BSA", rf"\b(tvly-(?:dev-|prod-)?{A}{{24,}}|e2b_{X}{{36,}}|pcsk_{W}{{40,}}|jina_{W}{{40,}}|llx-{A}{{36,}}|csk-[a-z0-9]{{40,}}|flp_{A}{{36,}}|esecret_{A}{{24,}}|sk_car_{A}{{18,}}|fc-{X}{{32}}|tgp_v1_{W}{{36,}}|pa-{W}{{40,}}|bb_(?:live|test)_{W}{{20,}}|BSA{W}{{27,29}}|m0-{A}{{36,}}|unkey_{A}{{18,}})"),
    _f("wandb-key", "Weights & Biases key", "wandb_v1_", rf"(wandb_v1_{W}{{30,}})"),
    _f("elevenlabs-key", "sk_ keys: ElevenLabs, Clerk, Checkout and others", "sk_", rf"\b(sk_(?:{A}{{32,}}|{UUID}))\b"),
    _f("sk-key", "Any other key that begins with sk-", "sk-", rf"\b(sk-{W}{{20,}})"),
    # Talk and mail
    _f("slack-token", "Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xoxc- xoxd- xapp- xwfp-", r"((?:xoxe\.)?xox[abcdeoprs]-[A-Za-z0-9%/+=-]{10,}|xapp-[0-9]-[A-Za-z0-9]+-[0-9]+-[A-Za-z0-9]+|xwfp-[A-Za-z0-9-]{20,})"),
    _f("slack-webhook", "Slack webhook", "hooks.slack.com hooks.slack-gov.com", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/((?:[A-Za-z0-9+_-]+/){2,}[A-Za-z0-9+_-]{8,})"),
    _f("discord-webhook", "Discord webhook", "/api/webhooks/", rf"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9]{{15,22}}/{W}{{40,}})"),
    _f("discord-token", "Discord bot or user token", ".", rf"(?:^|[^A-Za-z0-9_.-])([MNO]{W}{{22,27}}\.{W}{{6}}\.{W}{{27,40}}|mfa\.{W}{{60,}})", 58),
    _f("teams-webhook", "Microsoft Teams webhook", "webhook.office.com/webhookb2/ outlook.office.com/webhook/ outlook.office365.com/webhook/", rf"(?:webhook\.office\.com/webhookb2|outlook\.office\.com/webhook|outlook\.office365\.com/webhook)/({UUID}@{UUID}/IncomingWebhook/{X}{{32}}/{UUID}(?:/{W}+)?)"),
    _f("google-chat-webhook", "Google Chat webhook", "chat.googleapis.com", r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?(key=[A-Za-z0-9_-]+&token=[A-Za-z0-9_%=-]+)"),
    _f("webhook", "Webhooks of Zapier, IFTTT, Make, Mattermost, Rocket.Chat, Feishu and others", "hooks.zapier.com maker.ifttt.com hook.eu hook.us hook.integromat /hooks/ open.feishu.cn oapi.dingtalk.com qyapi.weixin webhook.site", r"(?:hooks\.zapier\.com/hooks/catch/|maker\.ifttt\.com/(?:use|trigger/[^/\s\x01]+/with/key)/|hook\.(?:eu|us)[0-9]\.make\.com/|hook\.integromat\.com/|/hooks/|open\.feishu\.cn/open-apis/bot/v2/hook/|oapi\.dingtalk\.com/robot/send\?access_token=|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)([A-Za-z0-9_/-]{14,})"),
    _f("telegram-token", "Telegram bot token", ":A", r"(?:^|[^A-Za-z0-9])(?:bot)?([0-9]{7,12}:A[A-Za-z0-9_-]{32,36})\b", 40),
    _f("twilio-key", "Twilio auth token beside its account", "twilio Twilio TWILIO", rf"\bAC{H}{{32}}[\"'`]?[ \t]*[:,/|;]?[ \t]*[\"'`]?({H}{{32}})\b", 34),
    _f("twilio-key", "Twilio API key", "SK", rf"\b(SK{H}{{32}})\b", 34),
    _f("sendgrid-key", "SendGrid key", "SG.", rf"\b(SG\.{W}{{16,24}}\.{W}{{30,50}})"),
    _f("mailgun-key", "Mailgun key", "key- ailgun AILGUN", rf"\b(key-{X}{{32}}|{H}{{32}}-{H}{{8}}-{H}{{8}})\b"),
    _f("mailchimp-key", "Mailchimp key", "-us", rf"\b({H}{{32}}-us[0-9]{{1,2}})\b", 35),
    _f("brevo-key", "Brevo (Sendinblue) key", "xkeysib- xsmtpsib-", rf"(x(?:keysib|smtpsib)-{X}{{40,}}-{A}{{12,}})"),
    _f("resend-key", "Resend, Loops or Postmark style key", "re_", rf"\b(re_{A}{{6,12}}_{A}{{18,}}|re_{A}{{24,}})\b"),
    _f("mandrill-key", "Mandrill key", "md-", rf"\b(md-{W}{{22}})\b"),
    _f("twitch-key", "Twitch stream key", "live_", r"\b(live_[0-9]{6,12}_[A-Za-z0-9]{20,})"),
    _f("twitch-line-token", "Line, Twitch or Viber style OAuth value", "oauth:", r"\b(oauth:[a-z0-9]{30})\b"),
    # Money
    _f("stripe-key", "Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"((?:sk|rk)_(?:(?:live|test)_[A-Za-z0-9_]{14,}|prod_[A-Za-z0-9_-]{14,}))"),
    _f("stripe-key", "Stripe webhook secret", "whsec_", r"(whsec_[A-Za-z0-9+/=]{20,})"),
    _f("square-token", "Square token", "sq0atp- sq0csp- sq0idp- sq0atb- sq0csb- EAAA", rf"\b((?:sandbox-)?sq0(?:atp|csp|atb|csb)-{W}{{22,}}|EAAA[A-Za-z0-9_-]{{50,66}})\b"),
    _f("paypal-token", "PayPal or Braintree token", "access_token$", rf"(access_token\$(?:production|sandbox)\$[a-z0-9]+\${X}{{32}})"),
    _f("plaid-token", "Plaid access token", "access-sandbox- access-development- access-production-", rf"(access-(?:sandbox|development|production)-{UUID})"),
    _f("shopify-token", "Shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_ shprt_ shptka_ shpit_ shpck_", rf"(shp(?:at|ca|pa|ss|ua|rt|tka|it|ck)_{X}{{32,}})"),
    _f("adyen-key", "Adyen key", "AQE", r"\b(AQE[A-Za-z0-9]{2,4}[A-Za-z0-9+/=]{40,}-[A-Za-z0-9+/=]{40,}-[A-Za-z0-9^<>(){}\[\];:,.!?+*&%$#@|=~_/-]{10,})"),
    _f("coinbase-key", "Payment and shipping vendors: GoCardless, Razorpay, Flutterwave, Paystack, Checkout, EasyPost, Shippo, Duffel, Lob, Mercado Pago", "rzp_ FLWSECK EZAK EZTK shippo_ duffel_ mollie APP_USR-", rf"\b(APP_USR-{A}{{6,}}-[A-Za-z0-9-]{{20,}}|rzp_(?:live|test)_{A}{{14,}}|FLWSECK(?:_TEST)?-{A}{{12,}}(?:-X)?|EZ[AT]K{A}{{54}}|shippo_(?:live|test)_{X}{{40}}|duffel_(?:live|test)_[A-Za-z0-9_=-]{{40,}}|mollie_{A}{{30,}})\b"),
    # Watching
    _f("datadog-key", "Datadog application or pool key", "ddapp_ ddp_ pub0", rf"\b(ddapp_{A}{{30,}}|ddp_{A}{{30,}})"),
    _f("newrelic-key", "New Relic key", "NRAK- NRII- NRIQ- NRJS- NRRA- NRBR- NRSP- NRAA- NRMA- NRAL FFFFNRAL", rf"\b(NR(?:AK|II|IQ|RA|BR|SP|JS|AA|MA)-[A-Za-z0-9_-]{{18,}}|{A}{{32,36}}(?:FFFF)?NRAL)\b"),
    _f("sentry-token", "Sentry token", "sntrys_ sntryu_ sntrya_ sntryi_", r"(sntry[suai]_[A-Za-z0-9+/=_-]{32,})"),
    _f("sentry-dsn", "Secret part of a Sentry DSN", ".ingest. @sentry sentry.io", rf"https?://({X}{{32}}(?::{X}{{32}})?)@[a-z0-9.-]+/[0-9]+"),
    _f("grafana-token", "Grafana token", "glc_ glsa_ eyJrIjoi", rf"(glc_[A-Za-z0-9+/=]{{32,}}|glsa_{A}{{28,}}_{X}{{8}}|eyJrIjoi{B}{{40,}}={{0,2}})"),
    _f("dynatrace-token", "Dynatrace token", "dt0c01. dt0s01. dt0s02. dt0s16.", r"(dt0[a-z][0-9]{2}\.[A-Za-z0-9-]{8,24}\.[A-Z0-9]{32,})"),
    _f("pagerduty-key", "PagerDuty or Opsgenie style key", "pdus+ y_NbAkKc66ryYTWUXYEu u+", r"\b(pdus\+[A-Za-z0-9_+-]{20,}|y_NbAkKc66ryYTWUXYEu[A-Za-z0-9_-]*)"),
    _f("honeycomb-key", "Honeycomb, Logtail or PostHog key", "hcaik_ hcxik_ hcamk_ phx_ phs_ phc_", rf"\b(hc[abx][ilm]k_{A}{{30,}}|ph[xs]_{A}{{32,}})"),
    _f("sumologic-key", "Elastic, Cribl or Axiom token", "xaat- xapt- essu_", rf"\b(xa[ap]t-{UUID}|essu_{W}{{30,}}={{0,2}})"),
    # Work
    _f("linear-key", "Linear key", "lin_api_ lin_oauth_", rf"(lin_(?:api|oauth)_{A}{{30,}})"),
    _f("notion-token", "Notion token", "ntn_", rf"\b(ntn_{A}{{40,}})"),
    _f("notion-token", "Notion secret", "cret_", rf"\b(secret_{A}{{40,}}(?:\.{A}{{20,}})?)", 47),
    _f("airtable-token", "Airtable token", "pat oaa", rf"\b(pat{A}{{14}}\.{X}{{64}}|oaa{A}{{14}}\.v1\.{W}+\.{X}{{64}})", 80),
    _f("asana-token", "Asana token", "/", r"\b([0-9]/[0-9]{15,18}(?:/[0-9]{15,18})?:[0-9a-f]{32})\b", 48),
    _f("figma-token", "Figma token", "figd_ figo_ figu_ figoh_ figor_ figuh_ figur_", rf"(fig(?:d|o|u|oh|or|uh|ur)_{W}{{20,}})"),
    _f("clickup-token", "ClickUp, Trello, Monday or Klaviyo token", "pk_ ATTA", rf"\b(pk_[0-9]{{4,9}}_[A-Z0-9]{{32}}|pk_{H}{{34}}|ATTA{X}{{60,}})\b"),
    _f("contentful-token", "Contentful management token", "CFPAT-", rf"(CFPAT-{W}{{36,}})"),
    _f("typeform-token", "Typeform token", "tfp_", r"\b(tfp_[A-Za-z0-9_.=-]{30,})"),
    _f("hubspot-token", "HubSpot token", "pat-na pat-eu", rf"\b(pat-(?:na|eu)[0-9]-{UUID})\b"),
    _f("intercom-token", "Intercom token", "dG9r", r"\b(dG9r[A-Za-z0-9+/=]{50,})"),
    _f("zendesk-okta-token", "Okta token", "SSWS", r"(?:SSWS[ \t]+)(00[A-Za-z0-9_-]{38,42})"),
    _f("postman-key", "Postman key", "PMAK- PMAT-", rf"\b(PMAK-{X}{{24}}-{X}{{34}}|PMAT-{A}{{26}})"),
    _f("launchdarkly-key", "LaunchDarkly SDK, API or mobile key", "sdk- mob- rel- api-", rf"\b((?:sdk|api|mob|rel)-{UUID})\b", 40),
    _f("readme-token", "ReadMe, Frame.io, Prefect, Beamer, Adobe or Octopus token", "rdme_ fio-u- pnu_ pnb_ p8e- API- sm_", rf"\b(rdme_[a-z0-9]{{60,}}|fio-u-[A-Za-z0-9_=-]{{60,}}|pn[ub]_{A}{{36}}|p8e-[A-Za-z0-9]{{32}}|API-[A-Z0-9]{{25,27}}|sm_[aps]at_{A}{{16}})\b"),
    _f("maxmind-key", "MaxMind licence key", "_mmk", rf"\b({A}{{6}}_{A}{{29}}_mmk)\b"),
    _f("algolia-key", "Shippable admin keys of Meilisearch and Typesense", "mdb_ msk_", rf"\b(mdb_sa_sk_{W}{{30,}}|msk_{A}{{30,}})"),
    # Build and infrastructure
    _f("buildkite-token", "Buildkite token", "bkua_ bkpt_ bkaj_ bkct_", rf"\b(bk(?:ua|pt|aj|ct)_{A}{{32,}})"),
    _f("circleci-token", "CircleCI token", "CCIPAT_ CCIPRJ_", rf"(CCIP(?:AT|RJ)_{A}+_{X}{{40}})"),
    _f("snyk-token", "Snyk token", "snyk_", r"\b(snyk_(?:uat|sat)\.[A-Za-z0-9._-]{30,})"),
    _f("sonar-token", "SonarQube token", "squ_ sqp_ sqa_", rf"\b(sq[upa]_{X}{{40}})\b"),
    _f("vault-token", "HashiCorp Vault token", "hvs. hvb. hvr.", rf"\b(hv[sbr]\.{W}{{20,}})"),
    _f("vault-legacy-token", "HashiCorp Vault token, older", "s.", rf"\b(s\.{A}{{24}})\b", 24),
    _f("vault-token", "HashiCorp Vault unseal key", "Unseal unseal", r"(?i)unseal(?: key(?: [0-9]+)?:)? +([A-Za-z0-9+/]{43,44}=?)"),
    _f("terraform-token", "Terraform Cloud token", ".atlasv1.", rf"({A}{{14}}\.atlasv1\.{W}{{50,}})"),
    _f("pulumi-token", "Pulumi token", "pul-", rf"\b(pul-{X}{{40}})\b"),
    _f("doppler-token", "Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"\b(dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,})"),
    _f("1password-key", "1Password secret key or service token", "A3- ops_eyJ", r"\b(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})"),
    _f("bitwarden-infisical-token", "Infisical, Akeyless or Bitwarden token", "st.", rf"\b(st\.{X}{{24}}\.{X}{{32}}\.{X}{{32}}|st\.{UUID}\.{X}{{32,}}\.{X}{{32,}})", 60),
    _f("tailscale-key", "Tailscale key", "tskey-", rf"(tskey-[a-z]+-{A}{{8,}}(?:-{A}{{16,}})?)"),
    _f("ngrok-token", "ngrok token", "cr_ ak_", rf"\b((?:cr|ak)_{A}{{27,32}})\b", 30),
    _f("ngrok-authtoken", "ngrok authtoken", "_", rf"\b([12]{A}{{26}}_{A}{{20,22}})\b", 47),
    _f("databricks-token", "Databricks token", "dapi dose dkea", rf"\b(d(?:api|ose|kea){X}{{32}}(?:-[0-9])?)\b"),
    _f("confluent-key", "Confluent Cloud secret", "cflt", rf"\b(cflt{B}{{50,}})"),
    _f("kubeadm-token", "Token to join a Kubernetes cluster", "kubeadm", r"kubeadm[^\n\x01]*?--token[ =][\"']?([a-z0-9]{6}\.[a-z0-9]{16})\b", 20),
    _f("k3s-token", "Token to join a k3s or RKE2 cluster", "K10", r"\b(K10[0-9a-f]{64}::[\w.-]+:[0-9A-Za-z.]{16,})", 30),
    _f("swarm-token", "Token to join a Docker swarm", "SWMTKN-", r"\b(SWMTKN-[0-9]-[a-z0-9]{40,}-[a-z0-9]{20,})"),
    _f("openshift-token", "OpenShift token", "sha256~", rf"(sha256~{W}{{40,}})"),
    _f("age-key", "age secret key", "AGE-SECRET-KEY- age-secret-key-", r"((?:AGE-SECRET-KEY-|age-secret-key-)[A-Za-z0-9-]{40,})"),
    _f("wireguard-key", "WireGuard private or preshared key", "PrivateKey PresharedKey", rf"(?:PrivateKey|PresharedKey)[ \t]*=[ \t]*({B}{{43}}=)"),
    _f("easypost-harness-token", "Harness, Authress or Spacelift token", "pat. sat. .acc_ .acc-", rf"\b([ps]at\.{W}{{22}}\.{A}{{24}}\.{A}{{20}}|[a-z]{{2,10}}_{A}{{5,30}}\.{A}{{4,6}}\.acc[_-][A-Za-z0-9-]{{10,32}}\.[A-Za-z0-9+/_=-]{{30,}})\b"),
    _f("mapbox-token", "Mapbox secret token", "sk.eyJ tk.eyJ pk.eyJ", r"\b([spt]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,})"),
    _f("salesforce-token", "Salesforce session or access token", "00D", r"\b(00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,})", 95),
    _f("zoho-token", "Zoho access or refresh token", "1000.", rf"\b(1000\.{H}{{32}}\.{H}{{32}})\b"),
    _f("telnyx-key", "Telnyx key", "KEY0", rf"\b(KEY0[0-9A-F]{{30,}}_{A}{{20,}})\b", 55),
    _f("erlang-cookie", "Cookie of an Erlang or RabbitMQ cluster", "rlang RLANG -setcookie", r"(?:(?:[Ee]rlang|ERLANG)[ ._-](?:[Cc]ookie|COOKIE)[\"'`]?[ \t]*[:=]|-setcookie)[ \t]*[\"'`]?([A-Za-z0-9_-]{16,})\b"),
    _f("agora-certificate", "Agora app certificate", "gora GORA", rf"[Aa](?:gora|GORA)[\w.-]*(?:[Cc]ert|CERT)[\w.-]*[\"'`]?[ \t]*[:=>][ \t]*[\"'`]?({H}{{32}})\b", 32),
    _f("docker-auth", "Credentials in a docker config", "eyJhdXRocyI6 ewogICJhdXRocyI6 ewoJImF1dGhzIjog", rf"\b((?:eyJhdXRocyI6|ewogICJhdXRocyI6|ewoJImF1dGhzIjog){B}{{30,}}={{0,2}})", 40),
    _f("woocommerce-key", "WooCommerce consumer key or secret", "ck_ cs_", rf"\b(c[ks]_{H}{{40}})\b", 43),
    _f("nostr-key", "Private key of Nostr", "nsec1", r"\b(nsec1[02-9ac-hj-np-z]{58})\b", 60),
    _f("ably-key", "Ably key", "Ably ably ABLY", rf"(?:Ably|ably|ABLY)[\w.:-]*[\"'`]?[^\"'`\n\x01]{{0,24}}[\"'`=: \t({{]({W}{{4,10}}\.{W}{{4,10}}:{W}{{16,}})\b", 24),
    _f("algolia-key", "Algolia key beside the application that it is for", "algoliasearch(", rf"algoliasearch\([ \t]*[\"'`][A-Z0-9]{{8,12}}[\"'`][ \t]*,[ \t]*[\"'`]({H}{{32}})[\"'`]", 32),
    _f("honeycomb-key", "Honeycomb key in its header", "oneycomb-team oneycomb-Team", r"[Xx]-[Hh]oneycomb-[Tt]eam[\"'`]?[ \t]*[:=,][ \t]*[\"'`]?([A-Za-z0-9_]{20,64})\b", 20),
    _f("product-key", "Windows product key on a command line", "/ipk /inpkey /ProductKey /productkey", r"(?:/ipk|/inpkey|/ProductKey|/productkey)[ \t:]+[\"']?([A-Z0-9]{5}(?:-[A-Z0-9]{5}){4})\b", 24),
    _f("service-token", "Plex claim", "PLEX_CLAIM plex_claim plexClaim", rf"(?:PLEX_CLAIM|plex_claim|plexClaim)[\"'`\])]{{0,2}}(?:[ \t]*:[ \t]*&?\w+)?[ \t]*[:= \t][ \t]*[\"'`]?((?:claim-)?{W}{{20,}})\b", 20),
    _f("vault-token", "HashiCorp Vault token, older, to log in with", "vault", r"\bvault[ \t]+login[ \t]+(?:-[\w=-]+[ \t]+)*([sbr]\.[A-Za-z0-9]{24})\b", 24),
    _f("secret-link", "Link to set a new password", "/reset-password/ /password/reset/ /password-reset/ /reset/ /reset_password/ /passwords/reset/ /set-password/", rf"(?:/reset-password/|/reset_password/|/password/reset/|/passwords/reset/|/password-reset/|/set-password/|/reset/)(?:[A-Za-z0-9]{{1,6}}/)?({W}{{20,}})(?:[/?#\s\"'<>&)]|$)", 30),
    _f("ci-secret", "What a pipeline is told to hide", "::add-mask:: issecret=true]", r"(?:::add-mask::|issecret=true\])([^\s\"'$\x01]{6,})"),
    _f("secret-link", "Key in the path of a link: nodes of blockchains, private calendars, pings", "infura.io/v3/ alchemy.com/v2/ quiknode.pro/ ankr.com/ blastapi.io/ /ical/ hc-ping.com/", rf"(?:infura\.io/v3/|alchemy\.com/v2/|quiknode\.pro/|ankr\.com/(?:[a-z_]+/)?|blastapi\.io/|hc-ping\.com/|/ical/[^\s/\x01]+/private-)({W}{{30,}})"),
    _f("service-token", "Further services: ClickHouse Cloud, CockroachDB, Defined Networking, HackerOne, Intra 42, Logfire, PASETO, Portainer, Rootly, StackHawk, The Things Network, Zuplo, Endor Labs",
       "4b1d CCDB1_ dnkey- h1_ s-s4t2ud- s-s4t2af- pylf_v v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public. ptr_ rootly_ hawk. zpka_ NNSXS. endr+",
       rf"\b(4b1d{A}{{38}}|CCDB1_{A}{{20,24}}_{A}{{36,44}}|dnkey-{W}{{20,32}}-{W}{{40,60}}|h1_{A}{{36,}}|s-s4t2(?:ud|af)-{X}{{60,}}|pylf_v[0-9]_(?:[a-z]{{2,8}}_)?{A}{{40,}}|v[1234]\.(?:local|public)\.{W}{{60,}}|ptr_[A-Za-z0-9+/]{{40,}}|rootly_{X}{{60,}}|hawk\.{W}{{20}}\.{W}{{20}}|zpka_{X}{{32}}_{X}{{8}}|NNSXS\.[A-Z0-9]{{39}}\.[A-Z0-9]{{52}}|endr\+{W}{{16}})\b", 20),
    _f("service-token", "Further services: Aikido, Arcjet, Asaas, Astra DB, Canva, Cast AI, Cfx.re, ConfigCat, Convex, DevCycle, Devin, eBay, MailerSend, Midtrans, Onfido, Paddle, Packagist, Persona, Svix, Ubidots, Volcengine, Baidu, WakaTime",
       "AIK_ ajkey_ aact_ AstraCS: cnvca castai_v1_ cfxk_ configcat-sdk-1/ eyJ2MiI6 dvc_server_ cog_ apk_user_ PRD- SBX- mlsn. Mid-server- api_live api_sandbox pdl_ packagist_ persona_ testsk_ BBFF- BBUS- AKLT ALTAK- waka_",
       rf"\b(AIK_(?:CI|SECRET)_{A}{{20,}}|ajkey_[a-z0-9]{{26}}|aact_[a-z]+_{W}{{20,}}|AstraCS:{A}{{20,}}:{X}{{64}}|cnvca{W}{{51}}|castai_v1_[a-z0-9]{{64}}_[a-z0-9]{{8}}|cfxk_{A}{{20,}}(?:_{A}+)?|configcat-sdk-1/{W}{{22}}/{W}{{22}}|eyJ2MiI6{B}{{30,}}|dvc_server_{W}{{16,}}|cog_[a-z2-7]{{52}}|apk_user_{B}{{100,}}"
       rf"|(?:PRD|SBX)-{H}{{12}}(?:-{H}{{4}}){{4}}|mlsn\.{X}{{64}}|Mid-server-{W}{{20,}}|api_(?:live|sandbox)(?:_[a-z]{{2}})?\.{W}{{10,12}}\.{W}{{30,}}|pdl_(?:[a-z]+_){{1,2}}[A-Za-z0-9_]{{40,}}|packagist_[a-z]+_{X}{{40,}}|persona_(?:production|sandbox)_{UUID}|testsk_{A}{{28,}}|BB(?:FF|US)-{A}{{30}}|AKLT{A}{{40,}}|ALTAK-{A}{{20,}}/{X}{{40}}|waka_(?:sec_)?(?:{UUID}|{A}{{40,}}))\b"),
    _f("service-token", "Stytch secret", "secret-live- secret-test-", rf"\bsecret-(?:live|test)-({W}{{30,}}=?)"),
    _f("service-token", "RapidAPI key", "jsn", rf"\b({H}{{10}}msh{H}{{15}}p1{H}{{5,6}}jsn{H}{{12}})\b", 40),
    _f("service-token", "OneSignal key", "os_v2_", r"\b(os_v2_(?:app|org)_[a-z0-9]{60,})"),
    _f("roblox-cookie", "Roblox session cookie", "|WARNING:-DO-NOT-SHARE-THIS.", rf"_\|WARNING:-DO-NOT-SHARE-THIS\.[^|\n\x01]*\|_({A}{{60,}})"),
    # Social
    _f("facebook-token", "Facebook or Instagram token", "EAA IGQV IGAA", rf"\b(EAA{A}{{60,}}|IGQV{W}{{60,}}|IGAA{A}{{60,}})"),
    _f("facebook-token", "Facebook app token", "|", rf"\b([0-9]{{15,16}}\|{W}{{27}})\b", 43),
    _f("twitter-token", "Twitter / X app bearer or access token", "AAAAAAAAAAAAAAAAAAAAA", r"\b(A{20,24}(?:[A-Za-z0-9%]{20,}=  [A-Za-z0-9%]{30,}|[A-Za-z0-9%]{70,}))"),
    _f("linkedin-secret", "LinkedIn secret", "WPL_AP", r"\b(WPL_AP[01]\.[A-Za-z0-9.=]{16,})"),
    _f("dropbox-token", "Dropbox token", "sl.", rf"\b(sl\.(?:u\.)?{W}{{100,}})"),
    _f("spotify-token", "Spotify token", "BQ", rf"\b(BQ{W}{{120,}})", 122),
    _f("vk-token", "VK token", "vk1.a.", rf"\b(vk1\.a\.{W}{{80,}})"),
    _f("wallet-key", "Extended private key of a wallet", "xprv yprv zprv tprv", rf"\b([xyzt]prv{A}{{90,}})\b", 90),
    # Anything signed, hashed, or made of a prefix and noise
    _f("jwt", "JSON Web Token, also without its signature or cut off", "eyJ", r"(eyJ[A-Za-z0-9_-]{10,}\.(?:\.[A-Za-z0-9_-]{10,}\.)?[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*)", 30),
    _f("crypt-hash", "Password hash: bcrypt, sha-crypt, apr1, yescrypt, argon2, PBKDF2, scrypt", "$2 $1$ $5$ $6$ $y$ $7$ $8$ $9$ $S$ $P$ $H$ $apr1$ $argon2 $pbkdf2 pbkdf2_sha pbkdf2:sha scrypt: sha1$ sha256$ $scrypt {SSHA {SHA} rpcauth=", r"(\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{50,53}|\$(?:1|5|6|y|7|8|9|apr1|gy)\$[./A-Za-z0-9$=,]{0,40}\$[./A-Za-z0-9]{20,90}|\$S\$[./A-Za-z0-9]{52}|\$[PH]\$[./A-Za-z0-9]{31}|(?:pbkdf2:sha(?:1|256|512)(?::[0-9]+)?|scrypt:[0-9]+:[0-9]+:[0-9]+|\bsha(?:1|256|512))\$[A-Za-z0-9]{3,32}\$[0-9a-f]{40,128}|\$(?:argon2(?:id|i|d)|scrypt|pbkdf2[a-z0-9-]*)\$[A-Za-z0-9$=,./+-]{30,}|pbkdf2_sha(?:1|256|512)\$[0-9]+\$[A-Za-z0-9]+\$[A-Za-z0-9+/=]{20,}|\{SS?HA(?:256|512)?\}[A-Za-z0-9+/=]{24,}|rpcauth=[^\s:\x01]{1,64}:[0-9a-f]{16,64}\$[0-9a-f]{64})"),
    _f("vendor-key", "A key of an unknown vendor: a prefix that says so, and a UUID", "api- API- key- KEY- sk- SK- token- TOKEN- secret- SECRET- pat- PAT-", rf"\b([A-Za-z0-9]{{0,10}}(?:api|API|key|KEY|sk|SK|token|TOKEN|secret|SECRET|pat|PAT)-{UUID})\b", 38),
    _f("vendor-noise", "A key of an unknown vendor: a short prefix and noise with dashes", "_", rf"\b([a-z][a-z0-9]{{1,9}}_{W}{{32,}})", 36),
    _f("vendor-token", "A token of an unknown vendor: a short prefix, perhaps live or test, and noise", "_ -", r"(?:^[+-]?|\n[+-]|[^A-Za-z0-9_/.+-])((?:(?:[a-z]{2,12}|[A-Z]{2,10})[_-]){1,3}(?:v[0-9]_)?[A-Za-z0-9]{20,100}=?)(?:[^A-Za-z0-9_/.+-]|\.?$|\.\s|$)", 24),
)  # fmt: skip

# Looser than a vendor's own shape: the filling must be random, and any other family wins over them.
GENERIC = frozenset(
    {
        "vendor-token",
        "sk-key",
        "elevenlabs-key",
        "coinbase-key",
        "mailgun-key",
        "twilio-key",
        "resend-key",
        "vault-token",
        "ngrok-token",
        "ngrok-authtoken",
        "vault-legacy-token",
        "google-recaptcha-key",
        "spotify-token",
        "vendor-noise",
    }
)


# The literal that calls for them may stand elsewhere than in the token. (A test finds out which these are.)
CALLED_FROM_AFAR = frozenset(
    """azure-key gitlab-token npm-token slack-token slack-webhook discord-webhook mailgun-key shopify-token newrelic-key sentry-dsn
    dynatrace-token honeycomb-key figma-token buildkite-token vault-token ngrok-token twitter-token twilio-key crypt-hash vendor-token""".split()
)


def catalogue() -> list[tuple[str, str]]:
    """Every family with what it is, for the documentation."""
    seen: dict[str, list[str]] = {}
    for family in FAMILIES:
        seen.setdefault(family.name, []).append(family.doc)
    return [(name, "; ".join(dict.fromkeys(docs))) for name, docs in seen.items()]
