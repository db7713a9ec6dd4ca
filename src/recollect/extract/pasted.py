"""Whether a message was typed as one piece, judged by its shape.

People paste mails, pages, chats and files into a conversation, and what stands in them in the first person is not about the
person who pasted it. Wrappers are endless, so none is recognised by name. It is the other way round: a message counts as
typed when nothing in it speaks against that. Where the author announces a block ("summarize this:", a code fence, quoted
lines), the sentences around the block are the author's. Where it is unclear what was typed, nothing is believed: all of it
waits for a person.

Pure, and linear in the length of the message.
"""

from __future__ import annotations

from ..light import dataclass, pattern
from ..search import fence
from .prose import unwrapped
from .words import KIN, PAST, THIRD, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONG, LINES = 1_500, 24
"""Characters and lines of a message: who types more than that has most of it from somewhere else."""
WAITS = "looks pasted, not typed"
"""Why everything in a message waits for a person when it is unclear which words were typed."""


@dataclass(frozen=True)
class Shape:
    """What of a message was typed."""

    own: str  # the typed part: the whole message, or the sentences around a block
    waits: bool = False  # whether it is unclear what was typed: then nothing is certain, and all of it waits


# -- data: a few words of each sort, none of them a wrapper's name

_ABOUT_A_TEXT = one_of(
    """translate translation summarize summarise summary proofread paraphrase rephrase reword transcribe tldr tl;dr übersetze übersetz
    übersetzen übersetzung zusammenfassen zusammenfassung fasse korrigiere korrigieren umformulieren traduis traduire traduisez
    traduction résume résumer résumez corrige corriger reformule traduce traducir traduzca resume resumir resumen corregir traduci
    tradurre riassumi riassumere riassunto correggi traduza traduzir resuma vertaal vertalen samenvatten översätt sammanfatta
    przetłumacz streść переведи перевести перескажи 翻译 翻譯 总结 翻訳 要約"""
)
"""What is done with a text and with nothing else."""
_REQUESTS = one_of(
    """review explain fix rewrite improve check correct edit polish shorten simplify analyze analyse interpret convert format rate
    critique comment describe classify extract parse debug refactor continue complete reply respond answer read turn make look spellcheck
    spell-check annotate grade judge evaluate assess clean tidy expand draft compose feedback thoughts opinion think take erkläre prüfe
    verbessere antworte explique corrige revisa explica mejora spiega controlla migliora"""
)
"""What is done with a text among other things."""
_TEXTS = one_of(
    """text texts passage paragraph paragraphs sentence sentences article articles email e-mail emails mail letter message messages post
    posts tweet thread comment comments review reviews snippet excerpt quote quotes quotation document doc docs file files page website
    site blog screenshot image picture photo caption transcript log logs output error ticket poem lyrics song story bio essay draft
    abstract description chat conversation statement note memo resume cv contract code function script query config json yaml csv
    table list readme newsletter report announcement ad advert testimonial feedback speech paper book chapter section
    title subject headline slide slides form answer answers reply response input prompt instructions recipe sms voicemail whatsapp slack
    discord linkedin facebook instagram reddit twitter wikipedia wiki web internet diary journal entry postcard card subtitle subtitles
    said says say wrote writes written tweeted posted texted replied asked told tells copied copy pasted paste quoted quoting forwarded
    reads goes content contents source translation summary original version"""
)
"""Words for texts, where they stand, and how they are handed on."""
_OWN = one_of(
    """question questions situation problem issue thing things context background me note notes reminder reminders todo todos to-do to-dos
    tasks task list goal goals plan plans fact facts preference preferences rule rules reason detail details info fyi ps nb mind important
    setup stack budget diet schedule allergies allergy hobbies hobby family requirement requirements constraint constraints need
    update news correction edit btw heads-up up news point case dilemma idea confession disclaimer remember forget request favour favor
    wish wishes interests skills languages pets kids children routine day week weekend today tomorrow tonight record is frage problem
    situation hintergrund info aufgaben ziel ziele wichtig ich mir mich options choices likes dislikes story sorry actually wait misspoke wrong typo
    bad mistake culpa done fixed next know said-that groceries shopping errands answer"""
)
"""What people put before a colon to say something themselves."""
_COMMANDS = one_of(
    """remember note notes keep mind bear save store memorize memorise don't dont do-not forget remind reminder todo to-do to todos add put always
    never call from merk merke vergiss notiere speichere nenn nenne erinnere"""
)
_ASKING = one_of(
    """what what's whats which who who's whose where where's when how how's why can could would will should shall may might is are am was
    were do does did has have had any anyone anybody got was wie wo wer wann warum welche welcher welches kann kannst könntest soll sollte
    gibt hast ist sind"""
)
_ASKS = one_of(
    """give suggest recommend tell show help find list compare plan make let use please bitte answer avoid stop include create write design
    pick choose also and but or so because then plus besides otherwise anyway no yes yeah yep nope not thanks thank thx ok okay sure right
    great cool perfect nice hi hey hello hallo hola good morning sorry oh wow well actually btw fyi just still sometimes maybe probably
    hopefully lately recently usually especially mainly mostly only if when since though although und oder aber danke nein ja"""
)
_PRONOUNS = one_of("he she it they he's she's it's they're there there's that's er sie es")
_SMALL_TALK = one_of(
    """hi hey hello hallo hola good morning afternoon evening there thanks thank you thx cheers ok okay sure great cool perfect please yes no
    yeah nope right so well all again everyone everybody team assistant claude chatgpt gpt gemini copilot recollect bot ai buddy friend folks guten
    morgen tag abend danke much a lot very many advance in and nice to meet how are how's it going"""
)
_BE = one_of("is are was were am be been has have had does do did can will would should could must may might isn't aren't wasn't")
_I = one_of(
    """i i'm im i've ive i'd i'll id we we're we've we'd we'll ich wir mein meine meinen meinem meiner unser unsere mir mich"""
)
_BETWEEN = one_of("me us at to on over through into for please bitte my quickly all of with")
_DEICTIC = one_of("this that these those following above below attached it das dies diesen dieses diese folgenden folgende ce cette este esta questo questa")

# -- shapes

_FENCED = pattern(r"(?s)(?:```|~~~).*?(?:```|~~~|\Z)")
_QUOTED_LINES = pattern(r"(?m)^[ \t]*>.*(?:\n|\Z)")
_QUOTATION = pattern(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|»[^«\n]{1,400}«|`[^`\n]{1,80}`")
_MARKUP = pattern(
    r"</?[a-zA-Z!?][^\n]*?>|&(?:\w{2,8}|#\d+);|\]\(|\*\*|(?m:^[ \t]*(?:#|\||/|\$|%|@|\+|;|=|--|<|\.|~|_|\\|:|&))"
    r"|={2,}|-{3,}|\*{3}|<{2,}|>{2,}|_{3,}|~{3}|#{2,}|\[(?!redacted:|[ xX]?\])|[{}\\|\t·★☆©®¶§│┃›^↑↓→←⬆⬇👆👇«»“”„「」『』]|[-=]>|<-"
    r"|(?<!\d)\"|\S=\S|\w = \w|::|/\*|\*/|(?<!:)//|\S {3,}\S|(?<!\w)@\w"
    r"|(?:[^\W\d]|\d[^\W\d]),[^\W\d]\w*,|\w;\w|\d:\d\d:\d|^\W*\d{1,4}[-./:]\d|\b\d{4}-\d\d-\d\dT?\b|\x1b"
)
_CAPITALS = pattern(r"^\W*[A-ZÄÖÜ]{3,}[A-ZÄÖÜ \d.'-]*\W*$")
_LETTER = pattern(
    r"(?im)^\W*(?:dear|to whom|(?:sehr )?geehrte[rs]?|liebe[rs]?|estimad[oa]s?|querid[oa]|chère?|madame|monsieur|car[oa]|beste|kære|kära) [\w .'-]{2,40}[,:!]?"
    r"(?:\s|$)|\b(?:(?:kind|best|warm|many) (?:regards|wishes)|regards,|sincerely|yours (?:truly|faithfully|sincerely)|(?:viele|liebe|beste|mit freundlichen)"
    r" grüße?n?|cordialement|saludos|atentamente|cordiali saluti)\b"
    r"|^\W*(?:best|cheers|love|hugs|thanks|xoxo),?[ \t]*\n+\s*[A-Z][\w.]*(?: [A-Z][\w.]*)?\W*\Z"
)
_NAMED_BELOW = pattern(r"[.!?\"”'»]\s*\(?[-–—~]{1,2}\s?[A-Z][\w.]+(?: [\w.,]+){0,4}\)?\W*$")
_GREETED = pattern(r"(?i)^\W*(?:hi|hello|hey|hallo|hola|bonjour|ciao|moin|servus) (?P<who>[\w.' -]{2,40}?)[,!.:]*\W*$")
_LIST = pattern(r"^\s*(?:[-*•]|\d{1,2}[.)]|\[[ xX]?\])\s+")
_SENTENCE = pattern(r"(?<=[.!?…])[\"')\]]*\s+")
_LABEL = pattern(r":(?=\s|$)|\s[-–—]{1,2}\s")
_WORD = pattern(r"[^\W_](?:[\w'’;.+#-]*[\w+#])?")
_WHAT_IT_SAYS = pattern(
    r"(?i)\b(?:what (?:does|do|did) (?:this|that|it|these) (?:mean|say)|(?:is|are|does|was) (?:this|that|it|these)(?: \w+)? (?:correct|grammatical|right|real|true"
    r"|legit|scam|spam|phishing|well|written|sound|read|make sense)|how (?:does|do) (?:this|that|it|these) (?:sound|read|look)|who (?:wrote|said) (?:this|that|it))"
    r"\W*(?:in \w+|here|exactly|to you|english|german)?\W*$"
)
_HANDED_ON = pattern(
    r"(?i)\b(?:(?:sent|send|sends|wrote|writes|posted|texted|emailed|mailed|copied|pasted|found|find|got|received|get|forwarded|shared|saw|read|says?|told|gave|showed|left)"
    r"(?: (?:me|us|him|her|them|my \w+))? (?:this|these|the following)(?: (?:\w+ )?(?:on|from|in|at|today|yesterday|via|online|with|to)\b|\W*$)"
    r"|this (?:is what|was (?:on|in|at|from)|is from|comes from|came from|came in)|as follows)"
)
_HERE = pattern(r"(?i)^\W*(?:(?:so|ok|okay|hi|hey|and|now|well),? )*(?:here(?:'s| is| are)|below|see below|attached|hier ist|voici)\b")


def look(text: str) -> Shape:
    """What of a message was typed by who sent it."""
    text = fence.without(text).replace("’", "'").replace("‘", "'")
    around = _QUOTED_LINES.sub("\n\n", _FENCED.sub("\n\n", text))
    has_block = around != text
    piece = around[:LONG]
    commanded = False  # "Todo: answer her mail" is no request to answer it now
    for start, end, sentence in _sentences(piece):
        is_announced = not (commanded and not _is_label(sentence)) and _announces(sentence, around[end:])
        commanded = _is_label(sentence) and bool(_COMMANDS & set(_words(sentence)[:2])) and around[end : end + 1] != "\n"
        if not is_announced:
            continue
        before, after = around[:start], around[end:]
        if not before.strip():
            return Shape("")
        if not after.strip() and has_block and not _is_label(sentence):
            break
        # The material follows where it was asked for in the first line, and the line ends there; else it may stand before.
        if "\n" in before.strip() or not after.strip() or not _speaks(sentence):
            return Shape(text, waits=True)
        if not (_is_label(sentence) or after[:1] == "\n"):
            return Shape(text, waits=True)
        return Shape(text, waits=True) if _is_strange(before) else Shape(before)
    if not around.strip():
        return Shape("")
    if len(around) > LONG or _is_strange(around):
        return Shape(text, waits=True)
    return Shape(around if has_block else text)


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences of a text, with where they begin and end; one that leads to something ends with its colon or dash."""
    at = 0
    for line in text.split("\n"):
        start = at
        for part in _SENTENCE.split(line):
            begin = text.index(part, start) if part else start
            start = begin + len(part)
            if not part.strip():
                continue
            cut = begin
            for m in _LABEL.finditer(part):
                yield cut, begin + m.end(), text[cut : begin + m.end()]
                cut = begin + m.end()
            if cut < start:
                yield cut, start, text[cut:start]
        at += len(line) + 1


def _words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]


def _is_label(sentence: str) -> bool:
    return sentence.rstrip().endswith((":", " -", " –", " —", " --"))


def _announces(sentence: str, after: str) -> bool:
    """Whether a sentence is about a text that stands before or after it."""
    bare = _LIST.sub("", _QUOTATION.sub(" x ", sentence)).strip()
    words = _words(bare)
    if not words:
        return False
    if bare.endswith(":") or (_is_label(sentence) and not _speaks(bare) and after[:1].strip() != ""):
        if not _is_own_label(bare, words, after):
            return True
    asks = bare.rstrip(" :").endswith("?") or bool(one_of("you please bitte pls") & set(words)) or words[0] in _REQUESTS
    for i, w in enumerate(words):
        after_it = words[i + 1 : i + 4]
        if w in _ABOUT_A_TEXT and not (w in ("resume", "summary", "translation") and i):
            first = after_it[0] if after_it else ""
            if not w.isascii() or first not in one_of("my our a an some for books documents") or i == 0 and w not in one_of("translate"):
                if not (i and words[i - 1] in ("i", "we", "to") and words[0] in ("i", "we", "my")):
                    return True
        if w in _REQUESTS and (asks or i < 2) and not {"i", "we"} & set(words[:i]):
            object = [x for x in after_it if x not in _BETWEEN]
            if (object[:1] and object[0] in _DEICTIC and [w, object[0]] != ["make", "that"]) or (
                object[:1] == ["the"] and _TEXTS & set(object)
            ):
                return True
        if w in _DEICTIC and w != "it" and _TEXTS & set(after_it[:2]) and not (w == "that" and _COMMANDS & set(words[:i])):
            return True
        if w == "the" and after_it and after_it[0] in _TEXTS and set(after_it[1:]) & one_of("above below following"):
            return True
        if asks and w.endswith("'s") and w not in one_of("it's what's that's there's here's let's how's who's where's he's she's") and _TEXTS & set(after_it[:1]):
            return True
    if _WHAT_IT_SAYS.search(bare.rstrip("?!. :")) or _HANDED_ON.search(bare):
        return True
    return bool(_HERE.match(bare)) and not _OWN & set(words[1:])


def _is_own_label(head: str, words: list[str], after: str) -> bool:
    """Whether what ends in a colon leads to something of the author's own: "my todos:", "one more thing:", "I have two cats:"."""
    while len(words) > 1 and words[0] in one_of("so and ok okay also btw please well hi hey hello oh but just now the a an one"):
        words = words[1:]
    known = set(words)
    if words[0] in _COMMANDS:
        return True
    if len(words) > 12 or any(w.endswith("'s") and w not in one_of("here's it's that's what's let's") for w in words):
        return False
    if known & _TEXTS - _OWN and not known & one_of("todo todos tasks shopping"):
        return False
    if words[0] in _I and not _DEICTIC & known:
        return True
    if known & _OWN:
        return not known & KIN
    if _DEICTIC & known:
        return False
    if words[0] in one_of("my our mein meine unser unsere"):
        return not known & KIN
    return words[0] in _ASKING and not _I & set(_words(after[:40])[:1])


def _speaks(text: str) -> bool:
    """Whether a line has its author's voice: the first person, a question, a request, small talk."""
    words = _words(text)
    if not words:
        return True
    if words[0] in _PRONOUNS | _ASKS | _COMMANDS | _ASKING | _REQUESTS | one_of("my our"):
        return not _is_title(text)
    return bool(_I & set(words)) or bool(one_of("you your please me bitte du dein deine") & set(words)) or text.rstrip(" )").endswith("?")


def _is_title(text: str) -> bool:
    """`Share Improve Follow`: every word of several begins with a capital."""
    found = [w for w in _WORD.findall(text) if w[:1].isalpha()]
    return len(found) > 1 and all(w[:1].isupper() for w in found) and not text.rstrip().endswith((".", "?", "!"))


def _is_strange(text: str) -> bool:
    """Whether anything in a piece of text speaks against its having been typed as one."""
    bare = _QUOTATION.sub("x", text)
    lines = [line for line in unwrapped(bare.split("\n")) if line.strip()]
    if len(lines) > LINES or _MARKUP.search("\n".join(_LIST.sub("", line) for line in lines)) or _LETTER.search(bare):
        return True
    for line in lines:
        if _CAPITALS.match(line) and len(line) > 4 or _NAMED_BELOW.search(line):
            return True
        parts = [p for p in _SENTENCE.split(_LIST.sub("", line)) if p.strip()]
        if any(_is_heading(p) for p in parts[:-1] or (parts if len(lines) > 1 else [])):
            return True
    return len(lines) > 1 and not _all_speak(lines)


def _is_heading(sentence: str) -> bool:
    """`Chapter 3.`, `By Dana Wu.`: no verb, no voice, and a name, a number or several words."""
    words = _words(sentence)
    if not sentence.rstrip().endswith(".") or len(words) < 2 or _speaks(sentence) or set(words) & (_BE | _OWN):
        return False
    if any(w in THIRD or w in PAST or w.endswith(("ed", "n't")) for w in words):
        return False
    found = _WORD.findall(sentence)
    return len(found) > 3 or any(w[:1].isupper() or w[:1].isdigit() for w in found[1:])


def _all_speak(lines: list[str]) -> bool:
    """Whether every line has its author's voice, or is an item of a list that one with a voice leads to."""
    led = False
    known: set[str] = set()
    for line in lines:
        m = _GREETED.match(line)
        if m and not set(_words(m["who"])) <= _SMALL_TALK:
            return False
        words = _words(line)
        if _LIST.match(line):
            if not led:
                return False
        elif set(words) <= _SMALL_TALK:
            led = False
        else:
            if not _speaks(line) and not (words[0] in known) and not line.rstrip().endswith(":"):
                return False
            led = not line.rstrip().endswith((".", "?", "!"))
        known |= {w for w in words if len(w) > 2 and w not in one_of("the this that")}
    return True
