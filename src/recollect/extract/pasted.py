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
from .cutting import NOUNLIKE
from .prose import ABBREVIATED, OPEN
from .words import BASES, KIN, PAST, THIRD, one_of

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
    """translate translation phrase formulate summarize summarise summary proofread paraphrase rephrase reword transcribe tldr tl;dr übersetze übersetz
    übersetzen übersetzung zusammenfassen zusammenfassung fasse korrigiere korrigieren umformulieren traduis traduire traduisez
    traduction résume résumer résumez corrige corriger reformule traduce traducir traduzca resume resumir resumen corregir traduci
    tradurre riassumi riassumere riassunto correggi traduza traduzir resuma vertaal vertalen samenvatten översätt sammanfatta
    przetłumacz streść переведи перевести перескажи 翻译 翻譯 总结 翻訳 要約"""
)
"""What is done with a text and with nothing else."""
_EDITS = one_of(
    """review edit spell polish shorten simplify classify extract parse debug refactor continue reply respond spellcheck spell-check annotate
    grade critique comment rewrite read rate count format"""
)
"""What is done with a text when it is asked for by itself: "Continue.", "Extract names."."""
_REQUESTS = _EDITS | one_of(
    """explain fix improve check correct analyze analyse interpret convert describe complete answer turn make look judge evaluate assess
    clean tidy expand draft compose feedback thoughts opinion think take erkläre prüfe verbessere antworte explique revisa explica mejora
    spiega controlla migliora"""
)
"""What is done with a text among other things."""
_TEXTS = one_of(
    """text texts passage paragraph paragraphs sentence sentences article articles email e-mail emails mail letter message messages post
    posts tweet thread comment comments review reviews snippet excerpt quote quotes quotation document doc docs file files page website
    site blog screenshot image picture photo caption transcript log logs output error ticket poem lyrics song story bio essay draft
    abstract description chat statement reply replies memo cv contract code function script query config json yaml csv
    table readme newsletter report announcement ad advert testimonial feedback speech paper book chapter section poster flyer banner
    title subject headline slide slides form response input prompt recipe sms voicemail whatsapp slack label inbox
    discord linkedin facebook instagram reddit twitter wikipedia wiki web internet diary journal postcard subtitle subtitles
    said says say wrote writes written tweeted posted texted replied asked told tells copied copy pasted paste quoted quoting forwarded
    reads goes content contents source original version"""
)
"""Words for texts, where they stand, and how they are handed on."""
_OWN = one_of(
    """question questions situation problem issue thing things context background me note reminder reminders todo todos to-do to-dos
    tasks task list lists goal goals plan plans fact facts preference preferences rule rules reason reasons detail details info fyi ps nb
    important setup stack budget diet schedule allergies allergy hobbies hobby requirement requirements constraint constraints needs
    update news correction btw heads dilemma idea confession disclaimer request favour favor wish wishes interests skills
    languages pets kids children routine frage hintergrund aufgaben ziel ziele wichtig mich options choices likes dislikes sorry
    actually wait misspoke wrong typo mistake culpa groceries shopping errands one"""
)
"""What people put before a colon or a dash to say something themselves."""
_LINKS = one_of(
    """so and ok okay also btw please well hi hey hello oh but just now the a an one two three some few more other another my our i we me
    us you for about of on to in with this these following here here's is are was it's that's what's things thing's quick small short
    little big new first second last next main only current full some bit up down do don't not self future reference record know need
    want have like love let mind keep bear remember forget remind save add put today tomorrow tonight week month year day daily weekly
    personal work home off top said really am at been must should can still done fixed all get buy bring pack own actual great good bad mea
    und mein meine meiner das ist ein eine für zu noch hier"""
)
"""Small words that may stand with them."""
_ORDERS = pattern(
    r"(?i)^\W*(?:(?:please|bitte|and|also|so|ok|just|then|but|oh|always|never)[ ,]+)*(?:remember|note (?:that|to|down)|keep|bear in|do not|don't|never|always|remind|call me|forget|delete|scratch|strike|cancel"
    r"|from now|for future|for the record|save|store|memori[sz]e|add|put|todo|to-do|merk|merke|vergiss|nenn|speicher)\b"
)
_WH = one_of(
    "what whats what's which who who's whose where where's when how how's why was wie wo wer wann warum wieso welche welcher welches"
)
_AUX = one_of(
    """can could would will should shall may might is am are was were do does did has have had kann kannst könntest soll sollte gibt hast ist
    sind bin muss darf what's whats where's how's who's isn't aren't don't doesn't can't"""
)
_ASKS = one_of(
    """any anyone anybody got give suggest recommend tell show help find compare plan let use bitte avoid stop include create write design
    pick choose also and but or so because then plus besides otherwise anyway no yes yeah yep nope not thanks thank thx ok okay
    sorry oh actually btw fyi just still sometimes maybe probably
    hopefully lately recently usually especially mainly mostly if when since though although und oder aber danke nein ja"""
)
_PRONOUNS = one_of("he she it they he's she's it's they're there there's that that's er sie es")
_SMALL_TALK = one_of(
    """hi hey hello hallo hola good morning afternoon evening there thanks thank you thx cheers ok okay sure great cool perfect please yes no
    yeah nope right so well all again everyone everybody assistant claude chatgpt gpt gemini copilot recollect bot ai buddy friend
    guten morgen tag abend danke much a lot very many advance in and nice to meet how are how's it going exactly sorry update correction
    awesome amazing wow fine hmm ah oh lol haha actually wait question first second edit hooray yay ugh that helped is worries big"""
)
_I = one_of("i i'm im i've ive i'd i'll id we we're we've we'd we'll ich wir")
_MY = one_of("my our mein meine meinen meinem meiner unser unsere")
_YOU = one_of("please me us mir mich bitte you du")
_BE = one_of(
    "is are was were am be been has have had does do did can will would should could must isn't aren't wasn't don't doesn't can't won't"
)
_OPENERS = _I | _MY | _WH | _AUX | _ASKS | _SMALL_TALK | _REQUESTS | _PRONOUNS | _YOU
_FILES = one_of("file files page website code script function query config json yaml table docs error log logs output")
_AFTER_ORDER = one_of("the a an my our all every each some it them up out")
"""What stands behind the verb of an order: "Run the tests."."""
_NOTES = one_of("note notes memo speech bio words")
_THE = one_of("the our his her their a an der die das")
_QUALITIES = one_of(
    "grammar spelling wording phrasing typo typos punctuation gist takeaways rechtschreibung grammatik orthographe ortografía"
)
_BETWEEN = one_of("me us at to on over through into for please bitte my quickly all of with")
_DEICTIC = one_of(
    """this that these those following above below attached it das dies diesen dieses diese folgenden folgende ce cette esto este esta
    questo questa isto"""
)
_TIMES = one_of(
    "week weekend month year morning evening afternoon time summer winter spring autumn fall way place chat place's season semester term"
)
_TONGUES = one_of(
    """english german french spanish italian portuguese dutch polish russian chinese japanese korean arabic turkish swedish danish norwegian
    finnish greek czech latin hindi ukrainian deutsch englisch französisch spanisch français anglais español inglés"""
)
_LOUD = one_of("TODO TODOS FYI PS NB BTW IMPORTANT ADHD NOTE UPDATE EDIT OK AI UK USA")

# -- shapes

_FENCED = pattern(r"(?s)(?:```|~~~).*?(?:```|~~~|\Z)")
_ATTACHED = pattern(r"(?m)^\[[a-z_-]{1,20}\]$")
"""What a door of ours says in place of a picture or a file: nobody typed it, and it says nothing of what was."""
_QUOTED_LINES = pattern(r"(?m)^[ \t]*>.*(?:\n|\Z)")
_QUOTATION = pattern(  # and what was redacted
    r"\[redacted:[^\]\n]*\]|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|»[^«\n]{1,400}«|`[^`\n]{1,80}`|(?<!\w)'[^'\n]{2,60}'(?!\w)"
)
_MARKUP = pattern(
    r"</?[a-zA-Z!?][^\n]*?>|&(?:\w{2,8}|#\d+);|\]\(|\*\*|(?m:^[ \t]*(?:#|\||/|\$|%|@|\+|;|=|--|<|\.|~|_|\\|:|&))"
    r"|={2,}|-{3,}|\*{3}|<{2,}|>{2,}|_{3,}|~{3}|#{2,}|\[(?![ xX]?\])|[{}\\|\t·★☆©®¶§│┃›^↑↓→←⬆⬇👆👇«»“”„「」『』]|[-=]>|<-"
    r"|(?<!\d)\"|\S=\S|\w = \w|::|/\*|\*/|(?<!:)//|[^\W\d]:[^\W\d]|(?m:^\s*[^\w\s\"'(¿¡.…-])|(?im:^\W*(?!at|by|around|before|after|from|until|till|since|every|um|ab)[\w.]+ \d?\d:\d\d)|(?m:^\W*(?:https?:|www\.))|(?i:[-–—(]\s?(?:from the|via|source|quoted|taken from|by (?-i:[A-Z])))|''|(?<!\w)\*\w|\b(?:INFO|WARN|DEBUG|ERROR)\b|^\W*\d+ I\b|\S {3,}\S|(?<!\w)@\w"
    r"|(?:[^\W\d]|\d[^\W\d]),[^\W\d]\w*,|\w;\w|\d:\d\d:\d|^\W*\d{1,4}[-./:]\d|\b\d{4}-\d\d-\d\dT?\b|\x1b|\w> |(?m:^[ \t]*[—–])|\([A-Z][\w.]+, [^)\n]*\)\W*$|(?<![\w'])'(?!(?:em|til|cause|n|cos|round|\d\ds?)\b)\w|(?m:^\W*[^\W\d_A-Za-zÀ-ɏ]{2})"
)
_CAPITALS = pattern(r"^\W*[A-ZÄÖÜ]{3,}[A-ZÄÖÜ \d.'-]*\W*$")
_LETTER = pattern(
    r"(?im)^\W*(?:dear|to whom|(?:sehr )?geehrte[rs]?|liebe[rs]?|estimad[oa]s?|querid[oa]|chère?|madame|monsieur|car[oa]|beste|kære|kära) [\w .'-]{2,40}[,:!]?"
    r"(?:\s|$)|\b(?:(?:kind|best|warm|many) (?:regards|wishes)|regards,|sincerely|yours (?:truly|faithfully|sincerely)|(?:viele|liebe|beste|mit freundlichen)"
    r" grüße?n?|cordialement|saludos|atentamente|cordiali saluti)\b"
    r"|\b(?:soon|care|later|best|love|cheers|thanks),? (?-i:[A-Z][a-z]+)\W*\Z|^\W*(?:best|cheers|love|hugs|thanks|xoxo),?[ \t]*\n+\s*[A-Z][\w.]*(?: [A-Z][\w.]*)?\W*\Z"
)
_NAMED_BELOW = pattern(r"[.!?\"”'»]\s*\(?[-–—~]{1,2}\s?[A-Z][\w.]+(?: [\w.,]+){0,4}\)?\W*$")
_GREETED = pattern(r"(?i)^\W*(?:hi|hello|hey|hallo|hola|bonjour|ciao|moin|servus) (?P<who>[\w.' -]{2,40}?)[,!.:]*\W*$")
_LIST = pattern(r"^\s*(?:[-*•]|\d{1,2}[.)]|\[[ xX]?\])\s+")
_SENTENCE = pattern(r"(?<=[.!?…])[\"')\]]*\s+")
_LABEL = pattern(r"[:;](?=\s|$)|\s[-–—]{1,2}\s")
_WORD = pattern(r"[^\W_](?:[\w'’;.+#-]*[\w+#])?")
_WHAT_IT_SAYS = pattern(
    r"(?i)\b(?:what (?:does|do|did) (?:this|that|it|these) (?:mean|say)|(?:is|are|does|was) (?:this|that|it|these)(?: \w+)? (?:correct|grammatical|right|real|true"
    r"|legit|scam|spam|phishing|well|written|sound|read|make sense)|(?:how )?(?:does|do) (?:this|that|it|these) (?:sound|read|look|come across|seem)\b[^?]{0,30}|who (?:wrote|said) (?:this|that|it))"
    r"\W*(?:in \w+|here|exactly|to you|english|german)?\W*$"
)
_HANDED_ON = pattern(
    r"(?i)\b(?:(?:have|took|sent|send|sends|wrote|writes|posted|texted|emailed|mailed|copied|pasted|found|find|got|received|get|forwarded|shared|saw|read|says?|told|gave|showed|left)"
    r"(?: (?:me|us|him|her|them|my \w+))? (?:this|these|the following)(?: (?:\w+ )?(?:on|from|in|at|today|yesterday|via|online|with|to)\b|\W*$)"
    r"|\b(?:paste|copied|pasting|pasted|forwarding|forwarded) (?:it|this|them|the|here|below|from)\b|\b(?:any|the) (?:mistakes|errors|typos)\b"
    r"|\b(?:the (?:author|writer|narrator|speaker)|(?:key|main) points?|a (?:reply|response))\b|the following (?:is|was|are|comes)\b|\b(?:this|that) (?:is|was|comes|came) from\b|^(?:even )?(?:more|less) \w+(?:,? (?:please|pls))?\W*$"
    r"|look (?:at )?(?:what|this)\b|\b(?:he|she|they|[A-Z]\w+) (?:said|wrote|replied|added|says|writes)\W*$|\b(?:said|wrote|replied) (?-i:[A-Z]\w+)\W*$"
    r"|^\W*(?:he|she|they) (?:said|says|wrote|writes|told|texted|asked|goes|went,|(?:was|is|were) like)\b|\b(?:says?|said|wrote|writes|texted|posted),? (?:that )?(?:i|my|we)\b.{3,80}\b(?:i|we|my)\b"
    r"|\breads[:,]? (?:i|my|we|our|\W)|this (?:is what|was (?:on|in|at|from)|is from|comes from|came from|came in)|as follows)"
)
_CAN_YOU = pattern(
    r"(?i)\b(?:can|could|would|will) (?:you|u) (?:please )?(?!help|remember|keep|save|note)\w+(?: \w+){0,2} (?:this|these|the following)\b"
    r"(?! (?:week|weekend|month|year|morning|evening|afternoon|summer|winter|spring|autumn|way)\b)"
)
_HERE = pattern(
    r"(?i)^\W*(?:(?:so|ok|okay|hi|hey|and|now|well),? )*(?:here(?:'s| is| are| you go| it is| goes| comes)|below|see below|attached|hier ist|voici)\b"
)


def look(text: str) -> Shape:
    """What of a message was typed by who sent it."""
    text = _ATTACHED.sub("", fence.without(text)).rstrip().replace("’", "'").replace("‘", "'").replace("：", ": ")
    around = _QUOTED_LINES.sub("\n\n", _FENCED.sub("\n\n", text))
    has_block = around != text
    is_long = len(around) > LONG
    around = around[:LONG]
    is_told = False  # "Todo: answer her mail" is no request to answer it now
    for start, end, sentence in _sentences(around):
        before, after = around[:start].strip(), around[end:]
        is_label = _is_label(sentence)
        if (is_told and not is_label) or not _announces(sentence, after, not before):
            is_told = is_label and _ORDERS.match(sentence) is not None and after[:1] != "\n"
            continue
        if not before:
            return Shape("")
        if has_block and not is_label and not after.strip():
            break  # it is about the block
        # What is announced follows if the first line ends in the announcement, and somebody speaks in it.
        follows = after.strip() and (is_label or after[:1] == "\n") and "\n" not in before and _speaks(sentence)
        return Shape(text, waits=True) if not follows or _is_strange(before) else Shape(before)
    if not around.strip():
        return Shape("")
    if is_long or _is_strange(around):
        return Shape(text, waits=True)
    return Shape(around if has_block else text)


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences of a text, with where they begin and end; one that leads to something ends with its colon or dash."""
    at = 0
    for line in text.split("\n"):
        start = at
        for part in _parts(line):
            begin = text.index(part, start)
            start = begin + len(part)
            cut = begin
            for m in _LABEL.finditer(part):
                yield cut, begin + m.end(), text[cut : begin + m.end()]
                cut = begin + m.end()
            if cut < start:
                yield cut, start, text[cut:start]
        at += len(line) + 1


def _parts(line: str) -> list[str]:
    """The sentences of a line, as they stand there; `Dr. Lang` is in one."""
    cuts = [0]
    for m in _SENTENCE.finditer(line):
        if not ABBREVIATED.search(line[max(0, m.start() - 8) : m.start()]):
            cuts.append(m.end())
    parts = [line[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(line)], strict=True)]
    return [p for p in parts if p]


def _words(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(text)]


def _is_label(sentence: str) -> bool:
    return sentence.rstrip().endswith((":", ";", " -", " –", " —", " --"))


def _announces(sentence: str, after: str, is_first: bool) -> bool:
    """Whether a sentence is about a text that stands before or after it."""
    bare = _LIST.sub("", _QUOTATION.sub(" x ", sentence)).strip()
    words = _words(bare)
    if not words:
        return False
    if words[0] in ("find", "any", "add") and _QUALITIES & set(words) and not _I & set(words):
        return True
    if _is_label(sentence) and after.strip() and not _is_own_label(bare, words, after):
        return True
    words = [
        w
        for i, w in enumerate(words)
        if w != "the" or words[i + 1 : i + 2] not in (["following"], ["above"], ["below"])
    ]
    if not words:
        return False
    question = bare.rstrip(" :-").endswith("?")
    asks = question or bool(_YOU & set(words)) or words[0] in _REQUESTS
    if asks and _QUALITIES & set(words) and not _I & set(words):
        return True
    # A request that names nothing else: "Please correct.", "Extract names.", "In German please.", "My manager's message."
    if words[0] in _REQUESTS | {"please", "bitte"} and set(words) <= _REQUESTS | one_of("please pls bitte now and"):
        return True
    if words[0] in _EDITS and not _LIST.match(sentence) and not ({"my", "our", "me"} | _I) & set(words):
        return True
    if _TONGUES & set(words) and set(words) <= _TONGUES | one_of("in to into auf en please bitte now the and"):
        return True
    if question and _DEICTIC & set(words) and _TONGUES & set(words):
        return True
    if _CAN_YOU.search(bare):
        return True
    if words[0] in _MY and len(words) > 1 and _TEXTS & set(words) and not _has_verb(words):
        return True
    # A verb for texts, and "this", "the above" or a word for a text behind it.
    for i, w in enumerate(words):
        following = words[i + 1 : i + 4]
        if w in _ABOUT_A_TEXT and not (w in ("resume", "summary", "translation") and i):
            is_named = following[:1] and following[0] in _MY | one_of("a an some for books documents")
            if not (is_named and w.isascii()) and not (words[0] in _I | _MY and words[i - 1] in _I | {"to"}):
                return True
        if w in _REQUESTS and (asks or i < 2):
            aim = [x for x in following if x not in _BETWEEN]
            if question and w in ("reply", "respond", "answer") and (not aim or aim[0] in one_of("him her them")):
                return True
            if question and "you" in words[:i] and not aim and w not in ("think", "take"):
                return True  # "What would you improve?"
            if not _I & set(words[:i]) and aim and [w, aim[0]] != ["make", "that"]:
                if (
                    aim[0] in _DEICTIC
                    or (aim[0] == "the" and w in _EDITS | {"improve", "correct"})
                    or (aim[0] == "the" and _TEXTS & set(aim))
                ):
                    return True
        if (
            w in _DEICTIC
            and w != "it"
            and _TEXTS & set(following[:2])
            and not (w == "that" and (_ORDERS.match(bare) or "mind" in words[:i]))
        ):
            return True
        if (
            w in ("this", "these")
            and question
            and is_first
            and after.strip()
            and not (following and following[0] in _TIMES | {"the"})
        ):
            return True  # nothing was said yet: it points at what follows
        if w in _TEXTS and following[:1] and following[0] in one_of("above below following reads says goes states"):
            return True
        if asks and w.endswith("'s") and w not in _CONTRACTED and _TEXTS & set(following[:1]):
            return True
    if _WHAT_IT_SAYS.search(bare.rstrip("?!. :")) or _HANDED_ON.search(bare):
        return True
    return bool(_HERE.match(bare)) and not _OWN & set(words[1:])


_CONTRACTED = one_of("it's what's that's there's here's let's how's who's where's he's she's")


def _is_own_label(head: str, words: list[str], after: str) -> bool:
    """Whether what ends in a colon or a dash leads to something of the author's own: "my todos:", "one more thing:", "I have two cats:"."""
    known = set(words)
    if head.rstrip(" :;-–—").isupper() and head.rstrip(" :;-–—") not in _LOUD and len(head) > 3:
        return False
    if known & _OWN and known <= _OWN | _LINKS:
        return True
    if _ORDERS.match(head) and not known & _TEXTS:
        return True
    if known & _TEXTS or any(w.endswith("'s") and w not in _CONTRACTED for w in words):
        return False
    if known & _I and not {"this", "these", "following", "below"} & known:
        return True
    if words[0] in _MY:
        return len(words) < 7 and (not known & KIN or bool(known & _OWN)) and not _DEICTIC & known - {"this"}
    if _is_label(head) and not head.endswith(":"):  # a dash after a sentence of its own
        return _speaks(head) or _has_verb(words)
    return words[0] in _WH | _AUX and not _DEICTIC & known and not (_I | _MY) & set(_words(after[:40])[:1])


def _has_verb(words: list[str]) -> bool:
    """Whether a finite verb stands behind the first word."""
    return any(
        w in _BE or (w in THIRD and w not in NOUNLIKE) or w in PAST or w.endswith(("ed", "n't")) for w in words[1:]
    )


def _speaks(text: str) -> bool:
    """Whether a sentence has its author's voice: the first person, a question, a request, small talk."""
    words = _words(text)
    if not words or set(words) <= _SMALL_TALK | _OWN:
        return True
    while len(words) > 1 and words[0] in _SMALL_TALK and words[0] not in _AUX | _PRONOUNS:
        words = words[1:]  # "Great, ..."
    if _is_title(text):
        return False
    if _I & set(words) or words[0] in _MY or _ORDERS.match(text):
        return True
    if text.rstrip(" )").endswith("?") or (words[0] in _WH and _AUX & set(words[:5])) or words[0] in _AUX:
        return len(words) > 1
    return (
        words[0] in _PRONOUNS | _ASKS | _REQUESTS | _ABOUT_A_TEXT
        or (
            words[0] in BASES
            and len(words) > 2
            and words[1] in _AFTER_ORDER
            and not (_TEXTS - _FILES | _NOTES) & set(words)
        )
        or words[-1] == "here"
        or bool((_YOU - one_of("you du")) & set(words))
    )


def _is_title(text: str) -> bool:
    """`Share Improve Follow`: every word of several begins with a capital."""
    found = [w for w in _WORD.findall(text) if w[:1].isalpha()]
    return len(found) > 1 and all(w[:1].isupper() for w in found) and not text.rstrip().endswith((".", "?", "!"))


def _is_strange(text: str) -> bool:
    """Whether anything in a piece of text speaks against its having been typed as one."""
    bare = _QUOTATION.sub("x", text)
    lines = [line for line in bare.split("\n") if line.strip()]
    if len(lines) > LINES or _MARKUP.search("\n".join(_LIST.sub("", line) for line in lines)) or _LETTER.search(bare):
        return True
    is_led = False
    known: set[str] = set()
    for number, line in enumerate(lines):
        if number and lines[number - 1].startswith(("I ", "We ")) and OPEN.search(lines[number - 1]):
            continue  # the line before ends in the middle of a phrase
        item = _LIST.match(line)
        if (_CAPITALS.match(line) and line.strip() not in _LOUD) or _NAMED_BELOW.search(line):
            return True
        words = _words(line)
        if item or set(words) <= _SMALL_TALK:
            if item and not (is_led or (known and _I & set(words))):
                return True
            if item and _is_title(line) and not lines[number - 1].rstrip().endswith(":"):
                return True  # "- Dana Wu"
            is_led = bool(item)
        else:
            if len(lines) > 1 and (_TEXTS | _NOTES) & set(words) and not _is_own_text(line, words):
                return True
            is_open = not line.rstrip().endswith((".", "?", "!", ":", ",", "…"))
            if not number and len(lines) > 1 and is_open and words[0] not in _OPENERS and not _ORDERS.match(line):
                return True  # "Something I read today"
            if (
                not number
                and len(lines) > 1
                and line.rstrip().endswith("?")
                and not (_I | _MY | {"me", "us"}) & set(words)
            ):
                return True  # "What is wrong here?" before anything was said
            greeted = _GREETED.match(line)
            if greeted and len(lines) > 1 and not set(_words(greeted["who"])) <= _SMALL_TALK:
                return True
            parts = _parts(line)
            goes_on = words and words[0] in known and len(words) > 2 and line.rstrip().endswith((".", "!", "?"))
            goes_on = goes_on or bool(known and words[0] in _THE and KIN & set(words[1:2]))
            if len(lines) > 1 and not (_speaks(parts[0]) or goes_on or line.rstrip().endswith(":")):
                return True
            if not number and len(lines) + len(parts) > 2 and not (_speaks(parts[0]) or parts[0].endswith(":")):
                if words[0] not in _THE or not _has_verb(_words(parts[0])) or _TEXTS & set(words):
                    return True
            if len(lines) + len(parts) > 2 and not all(
                _speaks(p)
                or p.endswith(":")
                or (p.endswith((".", "!", "…")) and (_has_verb(_words(p)) or (number + n and _words(p)[0] in _THE)))
                for n, p in enumerate(parts)
            ):
                return True
            is_led = not line.rstrip().endswith((".", "?", "!"))
        known |= {w for w in words if len(w) > 2}
    return False


def _is_own_text(line: str, words: list[str]) -> bool:
    """Whether a line of several asks about a text that is still to be written, or about one of the author's: "how do I write a CV?"."""
    at = [i for i, w in enumerate(words) if w in _TEXTS | _NOTES]
    if _ORDERS.match(line) or (line.rstrip().endswith(":") and set(words) <= _OWN | _LINKS):
        return True
    return line.rstrip().endswith("?") and all(
        i and words[i - 1] in _MY | one_of("a an write create make any which what") | _I for i in at
    )
