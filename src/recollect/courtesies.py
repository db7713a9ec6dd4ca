"""What is said for the sake of saying it: a greeting, thanks, a goodbye, "ok", and who one is talking to.

None of it asks for anything on record and none of it is worth remembering, so it is answered with a line of its own, and is no
title. Only a message that is nothing else counts: "Hi, where do I live?" is a question.
"""

from __future__ import annotations

LONGEST = 80
"""Characters of a courtesy: what is longer says something."""

# What weighs most comes first: "ok thanks, bye" is a goodbye.
_SAID = (
    ("who", """who are you|what are you|what can you do|what can you do for me|what do you do|how do you work|are you a bot|are you an ai
        |are you human|are you real|help|help me|can you help me|what is your name|what's your name|wer bist du|was kannst du"""),
    ("goodbye", """bye|bye bye|goodbye|good bye|good night|goodnight|night|see you|see ya|cya|later|take care|farewell|have a nice day
        |have a good day|talk to you|catch you|tschüss|tschüß|ciao|gute nacht|auf wiedersehen|bis bald|bis morgen|bis später|adeus|tchau|até logo|até amanhã|boa noite|adiós|hasta luego|buenas noches
        |au revoir|bonne nuit|arrivederci|buonanotte"""),
    ("thanks", """thanks|thank you|thx|ty|cheers|thanks a lot|thanks a million|thanks so much|thank you so much|thank you very much|thank you for your help
        |thanks for your help|thank you so much for your help|thanks for the help|many thanks|much appreciated|danke|danke schön|danke dir|vielen dank|obrigado|obrigada|gracias|muchas gracias|merci|merci beaucoup|grazie"""),
    ("greeting", """hi|hii|hiya|hello|hey|heya|yo|howdy|greetings|good morning|good afternoon|good evening|good day|morning|evening
        |nice to meet you|how are you|how are you doing|how's it going|how is it going|what's up|sup|are you there|anybody there
        |hallo|moin|servus|guten morgen|guten tag|guten abend|wie geht es dir|wie geht's|olá|oi|bom dia|boa tarde|hola|buenos días|buenas
        |bonjour|salut|bonsoir|buongiorno|salve"""),
    ("consent", """ok|okay|k|cool|great|nice|perfect|awesome|fine|good|super|alright|all right|got it|i see|understood|sure|right|wow
        |lol|haha|well done|good job|sounds good|that's great|that's good|never mind|nevermind|yes|yeah|yep|no|nope|gut|prima|alles klar"""),
)  # fmt: skip
_LINES = {tuple(phrase.split()): n for n, (_, said) in enumerate(_SAID) for phrase in said.split("|")}
_MOST_WORDS = max(map(len, _LINES))
_BESIDE = frozenset("there all everyone again recollect friend buddy mate then today soon tomorrow now you too and for that please".split())  # fmt: skip


def courtesy(said: str) -> str | None:
    """Which courtesy a message is, if it is one and nothing else."""
    if len(said) > LONGEST:
        return None
    words = "".join(ch if ch.isalnum() or ch in "'’" else " " for ch in said.lower()).replace("’", "'").split()
    if words[:1] == ["later"] and words[1:2] in (["today"], ["tomorrow"]):
        return None  # it says when
    found: list[int] = []
    while words:
        n = next((n for n in range(min(_MOST_WORDS, len(words)), 0, -1) if tuple(words[:n]) in _LINES), 0)
        if n:
            found.append(_LINES[tuple(words[:n])])
        elif not found or words[0] not in _BESIDE:
            return None
        words = words[max(n, 1) :]
    return _SAID[min(found)][0] if found else None
