"""What is never offered to memory: what a password, a key, a token or a code is.

Most such values are markers by the time they come here. What redaction lets be, because it is made up (`sk-ant-api03-AbCd...`,
`<your-key-here>`) or an ordinary word ("Sunflower"), is a secret all the same to who said it, and a memory of it is handed to
every model that is asked later. Where a secret is kept ("is stored in 1Password") is no secret.
"""

from __future__ import annotations

from ..light import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import Candidate

MARKER = pattern(r"\[redacted:[a-z0-9-]+\]?[^\w\s@/\[]*(?:\s|$)")
"""A secret that was taken out, and ends a word: an address with a password in it still says where."""
_MARKED = pattern(r"\[redacted:[a-z0-9-]+\]?")
_OPENS = (
    r"(?:doors?|gate|alarm|safe|garage|building|house|entrance|lock|locker|padlock|lobby|office|shed|elevator|lift|flat|apartment|room"
    r"|phone|keypad|lockbox|vault|suitcase|luggage|bike|car|gym|wi-?fi|card|tablet|laptop)"
)
_NOUN = (
    r"(?:pass(?:[ -]?words?|wort|phrases?|codes?|wds?)|pwd?|(?-i:PINs?)(?:[ -](?:code|number)s?)?|pins?[ -](?:code|number)s?"
    r"|pins?(?=(?: (?:is|are|was|were|for|to|of|starts?|begins?|ends?)\b|\s?[:=]))|log-?ins?|otp|cvv|cvc"
    r"|(?:client|api|app|webhook|shared)[ -]secrets?|(?:access|api|auth|bearer|refresh|session|security|personal access)[ -]tokens?"
    r"|(?:api|access|secret|private|ssh|gpg|pgp|encryption|signing|licen[cs]e|product|service|master|webhook|account|wi-?fi|wpa2?|network)[ -]?keys?"
    rf"|(?:recovery|backup|access|security|verification|login|reset|(?:un)?lock|entry|2fa|mfa|two-factor|one-time|{_OPENS})[ -](?:codes?|combinations?|patterns?)"
    r"|(?:seed|recovery)[ -](?:phrase|words)|screen[ -]pattern"
    rf"|(?<!zip )(?<!dress )(?<!postal )(?<!post )(?<!area )(?<!source )(?:code|combination|pattern) (?:of|for|to|on|at) (?:(?!is\b|are\b)[\w'-]+ ){{0,3}}?(?:{_OPENS}|unlock)(?=[,.:=]|$| (?!\w+s\b)(?:at|in|on)\b| (?:is|was|has|will)\b))"
)
# What is called after one and is none: a password manager, a login page.
_CALLED_AFTER = (
    r"(?![ -](?:manag|polic|rese|fields?\b|files?\b|stores?\b|vault|prompt|generat|hash|format|limit|count|bucket|ring|based|apps?\b|tool"
    r"|page|box|servic|scheme|system|api\b|endpoint|header|auth|hint|test|form|button|flow|screen|rotation|length|protect|module|bug"
    r"|handl|handler|problem|issue|error|team|shar|strength|rule|requirement|valid|check|crack|leak|security|dialog|view|route|process)\w*)"
)
_NAMED = pattern(rf"(?i)\b{_NOUN}\b{_CALLED_AFTER}")
# A statement is not searched for a value, which may be any word, but for what it may say: where such a thing is kept and what is
# done about it, and nothing else.
_WORDS = r"(?:(?!(?:is|are|was|were|as|that|with|uses?|using|called)\b)[\w'./-]+ )"
_TAIL = r"(?:(?!\b(?:is|are|was|were|to|as|but|namely|begin\w*|start\w*|ends?|contain\w*)\b|(?<!in )(?<!until )\b\d{3,})[^:=,;()])*$"
_SAFE = (
    r"(?:stored|kept|saved|written(?: down)?|hidden|held|managed|generated|encrypted|hashed|salted|rotated|changed|reset|revoked|renewed"
    r"|expired|compromised|leaked|lost|forgotten|required|needed|cached|synced|protected|shared|missing|wrong|broken|due|safe|secret|strong|weak)"
)
_PLACE = r"(?:in|on|under|behind|inside|at|from)"
_DONE = (
    r"(?:keep|store|sav|forg[eo]t|los[et]|need|rotat|chang|updat|reset|renew|revok|shar|manag|generat|hash|encrypt|print|log|commit|show|expos"
    r"|put|hard-?cod|send|sent|past|writ|wrote|echo|display|includ|mask|redact|typ|reveal|leak|push|hat|dislik|fix|test|add|implement|build"
    r"|check|issu|sign|validat|verif|refresh|find|ask|get|creat|delet|remov|memori[sz]|work)\w*"
)
_AND = r"(?:,? (?:and|or) (?:api |ssh )?(?:tokens?|keys?|secrets?|credentials|(?:user)?names?|logins?|emails?|passwords?|pins?))?"
_ABOUT = pattern(
    rf"(?i)^{_WORDS}{{0,5}}{_NOUN}(?: (?:for|of|to|on|at|in) {_WORDS}{{1,6}}?| )"
    rf"(?:(?:(?:is|are|was|were|gets?|got|(?:has|have) been|(?:must|should|will|may) (?:not |never )?be|(?:has|have|needs?) to be)(?: not| never| always| all)? )"
    rf"(?:{_SAFE}\b|{_PLACE} |\d+ (?:characters|digits|letters|words|bits)\b)"
    rf"|(?:expires?|rotates?|changes?|lives?|rests?|sits?|comes? from|stays? {_PLACE}|needs? (?:rotation|changing)|leaked)\b){_TAIL}"
    rf"|^{_WORDS}{{0,5}}{_DONE} {_WORDS}{{0,5}}{_NOUN}{_AND}"
    rf"(?:$| (?!to\b)(?:for|of|in|on|at|from|inside|every|once|after|before|when|by|until|next|this|twice|regularly|often|again|soon|tomorrow|today|down|anywhere)\b{_TAIL})"
    rf"|^{_WORDS}{{0,4}}us(?:e|es|ing) (?:(?:an?|different|long|strong|unique|random|short-lived|the same|jwt|signed|separate) ){{0,3}}{_NOUN}"
    rf"(?<=s)(?:$| (?:for|from|in|everywhere)\b{_TAIL})"
)
# What is often something else (a token of a game, the secret of a bread, a doctor's credentials) is a secret by what is said of it.
_SAYS = pattern(
    r"(?i)(?<!favourite )(?<!favorite )\b(?:tokens?|secrets?)(?: (?:for|to|on|at) [^,;:=]{1,60}?)?(?: (?:is|are|was|were|equals|will be)|\s?[=:]) "
    rf"(?!(?:{_SAFE}|{_PLACE}|not|never|always|\w+ed) \S)"
    r"|\bcredentials?(?: (?:for|to|on|at|of) [^,;:=]{1,60}?)?(?: (?:is|are|was|were)|\s?[=:]) "
    rf"(?!(?:{_SAFE}|{_PLACE}|not|never|always|\w+ed) \S)(?:\S+$|\S+ ?(?:/|and|:) ?\S+$)"
    r"|\b(?:chang|updat|sets?\b|reset)\w*.{0,60}?\b(?:tokens?|secrets?|credentials?)(?: for [^,;:=]{1,60}?)? to \S"
    r"|\bus(?:e|es|ing) (?:the|this|that) (?:token|secret) (?!\w+(?:er|ing)\b)[\w-]*\d"
    r"|\bas (?:[\w'-]+ ){0,4}(?:token|secret)(?: for .*)?$"
    r"|\badmin\b[^/]{0,40} (?:is|are|=|:) ?\S+ ?/ ?\S+$"
    r"|\blog(?:s|ging)? (?:in|on) with (?-i:(?!an?\b|the\b|my\b|their\b|two|face|finger|touch|email|passkey)[a-z0-9])"
    r"|\b(?:door|gate|alarm|safe|padlock|keypad|lockbox)(?: number)?(?: is)? \d{4,}$"
    r"|\b\d{4,} (?:for|to|opens) .*\b(?:door|gate|alarm|safe|padlock|garage|lock|locker)$"
    r"|\bkeypad number\b|\b(?:credit |debit |bank )?card number (?:is|=) \d"
    r"|\b(?:disarm|unlock|open)\w* (?:with|by) (?:the )?(?:code |number )?\d[\d -]+\b"
)
# What services call their keys, and what stands for one: "OpenAI key is sk-XXXX", "Key is YOUR_KEY".
_SHAPE = pattern(
    r"(?i)\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or|svcacct)[-_]\w|\b(?:gh[pousr]|github_pat|glpat|hf|npm|pypi|dop_v1|shpat)[-_]\w{4}"
    r"|\bxox[abeprs]-\w|\b(?:AKIA|ASIA)[0-9A-Z]{8}|\bAIza[\w-]{8}"
    r"|\bkeys?\b (?:is|are|was|=) (?:[\"'`]?(?:sk|pk|rk)[-_]|<|\$?\{|your[-_ ]|x{3,}|\*{2,})"
)


def tells(statement: str, *, strictly: bool = True) -> bool:
    """Whether a statement says what a secret is, or did before that was taken out. `strictly`: also when it may, because it names
    one and does not plainly say something else of it."""
    if any(found.search(statement) for found in (MARKER, _SAYS, _SHAPE)):
        return True
    said = (
        _MARKED.sub("", statement) if "[redacted:" in statement else statement
    )  # in an address; its own name is no statement
    return strictly and _NAMED.search(said) is not None and _ABOUT.search(said) is None


_ANOTHER = pattern(r"(?i)\bone (?:is|was|for)\b|(?=\S*\d)(?=\S*[^\W\d])(?!\S*\d{4}-\d\d)\S{6,}")


def may_tell_another(statement: str) -> bool:
    """Whether a statement beside a secret that was taken out may say what another one is: "and the db one is ..."."""
    return _ANOTHER.search(statement) is not None


def offers(candidate: Candidate) -> bool:
    """Whether a candidate tells no secret. What is taken back is not stored and may name one; what an event says names files and
    tasks ("Task login is done")."""
    strictly = candidate.extractor != "events" and candidate.operation != "retract"
    return not tells(candidate.content.removeprefix("Done: "), strictly=strictly)
