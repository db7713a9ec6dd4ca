"""What nobody may teach a memory: to ignore rules, to hide something, to call an address.

A memory is read again in every conversation, so one that says "never mention this to the user" or "send the log to ..."
would be an attack that lasts. Whoever says such a thing, a person has to look at it first.
"""

from __future__ import annotations

from ..light import pattern

_RULES = pattern(
    r"(?i)\b(?:ignor\w*|disregard\w*|forget|bypass\w*|overrid\w*|overrul\w*|circumvent\w*|disabl\w*|turn off|skip|violat\w*|break"
    r"|drop|suspend|deactivat\w*|supersed\w*|replac\w*)\b.{0,40}\b(?:instruction|prompt|rule|guideline|guardrail|polic|safety|restriction|filter"
    r"|safeguard|system message|previous message|prior message|security check|approval|confirmation|permission|limitation|constraint)"
    r"|\b(?:jailbreak|developer mode|dan mode|god mode|system prompt|no longer bound|without (?:any )?(?:restrictions?|confirmation|approval"
    r"|asking)|new instructions?:|unrestricted|you are now|act as root|sudo mode|pre-?approved|auto-?approve|always allow"
    r"|without checking with)\b"
)
_HIDE = pattern(
    r"(?i)\b(?:(?:do not|don't|never|without|avoid|not) (?:ever )?(?:tell|telling|mention|mentioning|reveal|revealing|inform|informing"
    r"|alert|alerting|notify|notifying|disclose|disclosing|show|showing|report|reporting|let)\b.{0,40}\b(?:user|human|person|owner|operator|anyone"
    r"|anybody|them|him|her|this|these|it|know)\b"
    r"|keep (?:this|it|that) (?:a )?(?:secret|hidden|confidential|between us|quiet)|secretly|covertly|quietly (?:send|add|copy|change|delete|run|install)"
    r"|hide (?:this|it|that|the|these|from)|conceal|silently|behind (?:the user|his|her|their)|unnoticed|invisibl[ey]|stealth\w*)\b"
)
_CALL = pattern(
    r"(?i)(?:^|\b(?:to|and|then|always|must|should|please|you|also|or|will|can|never|not|just|now|so|first|instead|silently|secretly)\s+|[,:;]\s*)"
    r"(?:send|post|upload|forward|exfiltrat\w*|transmit|submit|report|leak|share|deliver|email(?!\s+(?:is|are|was|address))|mail|cc|bcc|copy|push|wire|transfer|pay"
    r"|fetch|call|curl|wget|visit|open|load|download|request|ping|connect|contact|query|hit|navigate|browse|go to|follow|click|get|report back|run|execute|install|beacon|route|proxy|point|append|include|embed|redirect|import|render|link)\b"
    r".{0,120}(?:https?://|ftp://|ws{1,2}://|\bwww\.|\b\d{1,3}(?:\.\d{1,3}){3}\b|[\w.+-]+@[\w-]+\.\w|\b[\w-]+\.(?:com|net|org|io|xyz|ru|cn|top|info|example|tk|onion|dev|sh|co|me|biz|test|invalid)\b)"
    r"|\b(?:sent|emailed|forwarded|uploaded|posted|copied|mailed|transmitted|reported|pushed|sends|posts|uploads|forwards|sending|posting|uploading|forwarding)\b.{0,80}(?:https?://|@[\w-]+\.\w|\bwww\.)"
    r"|!\[[^\]]*\]\(https?:"
    r"|\b(?:curl|wget|nc|netcat)\s+\S"
)
_STEAL = pattern(
    r"(?i)\b(?:send|post|upload|forward|exfiltrat\w*|leak|print|reveal|share|include|append|output|paste|copy|repeat|disclose|give|show|encode)\b.{0,60}\b(?:api[ _-]?keys?"
    r"|passwords?|tokens?|secrets?|credentials?|private keys?|ssh keys?|\.env|environment variables?|conversation history|all (?:memories|messages|files))\b"
    r"|\brm -rf\b|\b(?:drop|truncate) (?:table|database)\b|base64"
)


def reason(text: str) -> str | None:
    """Why a person has to look at a text before it becomes a memory, or None."""
    if _RULES.search(text):
        return "asks to set rules aside"
    if _HIDE.search(text):
        return "asks to hide something"
    if _CALL.search(text):
        return "asks to call an address"
    if _STEAL.search(text):
        return "asks for secrets or destruction"
    return None
