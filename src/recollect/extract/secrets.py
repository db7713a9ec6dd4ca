"""What is never offered to memory: what a password, a key, a token or a code is.

Most such values are markers by the time they come here. What redaction lets be, because it is made up (`sk-ant-api03-AbCd...`,
`<your-key-here>`) or an ordinary word ("Sunflower"), is a secret all the same to who said it, and a memory of it is handed to
every model that is asked later. Where a secret is kept ("is stored in 1Password") is no secret.
"""

from __future__ import annotations

from ..light import pattern

MARKER = pattern(r"\[redacted:[a-z0-9-]+\]?[^\w\s@/\[]*(?:\s|$)")
"""A secret that was taken out, and ends a word: an address with a password in it still says where."""
_NOUN = (
    r"(?:pass(?:word|phrase|code|wd)s?|pwd|pin(?:[ -](?:code|number))?|secrets?|credentials?|tokens?|otp|cvv|cvc"
    r"|(?:api|access|secret|private|ssh|gpg|pgp|encryption|signing|licen[cs]e|product|service|master|webhook|account)[ -]?keys?"
    r"|(?:recovery|backup|gate|door|alarm|access|security|verification|login|unlock|entry|2fa|mfa)[ -]codes?"
    r"|(?:seed|recovery)[ -]phrase)"
)
_FOR = r"(?: (?:for|of|to|on|at|in) [^,;:=]{1,60}?)?"
# Where it is, how it is kept or how long it is; never "changed to ...", and one word alone may be the secret.
_KEPT = r"(?!\w+ to\b)(?:\w+ed|kept|sent|read|in|at|on|from|not|never|always|\d+ (?:characters|digits|letters|words|bits))\b"
# What goes on speaking of it, or is called after it: "uses the password manager", "the token for".
_MORE = (
    r"(?:manager|polic|reset|field|file|store|vault|prompt|generat|hash|format|limit|count|bucket|ring|based|app|tool|page|box"
    r"|service|scheme|system|api|endpoint|header|auth|for|to|from|in|on|when|with|and|or|at|of|that|which|every|instead|as)"
)
_SAYS = pattern(
    rf"(?i)\b{_NOUN}{_FOR}(?: (?:is|are|was|were|equals|will be|should be)|\s?[=:]) (?!{_KEPT} \S)(?!\d+ (?:characters|digits|letters))"
    rf"|\b(?:chang|updat|sets?\b|reset)\w*.{{0,60}}?\b{_NOUN}{_FOR} to \S"
    rf"|\bus(?:e|es|ing) (?:the|this|that) (?:[\w-]+ ){{0,2}}{_NOUN} (?!{_MORE})\S"
    rf"|\bas (?:[\w'-]+ ){{0,4}}{_NOUN}(?: for .*)?$"
)
# What services call their keys, and what stands for one: "OpenAI key is sk-XXXX", "Key is YOUR_KEY".
_SHAPE = pattern(
    r"(?i)\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or|svcacct)[-_]\w|\b(?:gh[pousr]|github_pat|glpat|hf|npm|pypi|dop_v1|shpat)[-_]\w{4}"
    r"|\bxox[abeprs]-\w|\b(?:AKIA|ASIA)[0-9A-Z]{8}|\bAIza[\w-]{8}"
    r"|\bkeys?\b (?:is|are|was|=) (?:[\"'`]?(?:sk|pk|rk)[-_]|<|\$?\{|your[-_ ]|x{3,}|\*{2,})"
)


def tells(statement: str) -> bool:
    """Whether a statement says what a secret is, or did before that was taken out."""
    return any(found.search(statement) for found in (MARKER, _SAYS, _SHAPE))
