"""German in the shapes that the rules know in English: "Ich wohne in Berlin" is "I live in Berlin".

A sentence of one of these shapes is said again in English, and read, remembered or looked up as that: what was told in one
language is found by a question in the other. Values stay as they were said ("Blau"), but for numbers, dates and little words.
Whatever has another shape is left alone; it is still in the log, and search finds it by its words.
"""

from __future__ import annotations

from ..light import pattern
from .words import JOB_HEADS, one_of

LONGEST = 200
"""Characters of a sentence that is looked at."""
_STARTS = one_of(
    "ich mein meine unser unsere wir wo woher wie wer was wann welche welcher welches welchen als vergiss in auf merk merke habe wohne"
)
_NOUNS = dict(
    pair.split("=")
    for pair in """hund=dog|katze=cat|kater=cat|pferd=horse|kaninchen=rabbit|hase=rabbit|hamster=hamster|vogel=bird|haustier=pet|frau=wife|mann=husband
|ehefrau=wife|ehemann=husband|freundin=girlfriend|freund=friend|partner=partner|partnerin=partner|schwester=sister|bruder=brother
|mutter=mother|mama=mother|vater=father|papa=father|tochter=daughter|sohn=son|oma=grandmother|opa=grandfather|großmutter=grandmother
|großvater=grandfather|tante=aunt|onkel=uncle|cousin=cousin|cousine=cousin|chef=boss|chefin=boss|arzt=doctor|ärztin=doctor
|hausarzt=doctor|hausärztin=doctor|zahnarzt=dentist|zahnärztin=dentist|lehrer=teacher|lehrerin=teacher|nachbar=neighbour
|nachbarin=neighbour|kollege=colleague|kollegin=colleague|vermieter=landlord|vermieterin=landlady|eltern=parents|kinder=children
|kind=child|hunde=dogs|katzen=cats|brüder=brothers|schwestern=sisters|söhne=sons|töchter=daughters|termin=appointment|name=name|vorname=first name|nachname=last name|beruf=job|job=job|arbeit=job|arbeitgeber=employer|firma=company|miete=rent
|gehalt=salary|geburtstag=birthday|adresse=address|auto=car|fahrrad=bike|wohnung=flat|haus=house|handy=phone|telefon=phone
|muttersprache=native language|alter=age|hobby=hobby|größe=height|gewicht=weight|schuhgröße=shoe size|blutgruppe=blood type
|projekt=project|büro=office|laptop=laptop|computer=computer|editor=editor|browser=browser|farbe=colour|essen=food|film=film|buch=book
|lied=song|tier=animal|getränk=drink|stadt=city|serie=series|musik=music|sport=sport|tee=tea|kaffee=coffee|zahl=number
|jahreszeit=season|ort=place|fach=subject|spiel=game|land=country|restaurant=restaurant""".replace("\n", "").split("|")
)  # fmt: skip
_WORDS = dict(
    pair.split("=")
    for pair in """zwei=two|drei=three|vier=four|fünf=five|ein=a|eine=a|einen=a|einem=a|einer=a|der=the|die=the|das=the|den=the|dem=the|und=and|oder=or|mit=with|am=on|um=at|bei=at
|für=for|von=from|aus=from|seit=since|bis=until|vor=before|nach=after|im=in|jahre=years|jahr=year|alt=old|januar=January
|februar=February|märz=March|april=April|mai=May|juni=June|juli=July|august=August|september=September|oktober=October
|november=November|dezember=December|montag=Monday|dienstag=Tuesday|mittwoch=Wednesday|donnerstag=Thursday|freitag=Friday
|samstag=Saturday|sonntag=Sunday|euro=euros|uhr=o'clock|monat=month|pro=per|deutsch=German|englisch=English|französisch=French
|spanisch=Spanish|italienisch=Italian|polnisch=Polish|russisch=Russian|türkisch=Turkish|niederländisch=Dutch|tee=tea|kaffee=coffee
|fleisch=meat|fisch=fish|lehrer=teacher|lehrerin=teacher|arzt=doctor|ärztin=doctor|ingenieur=engineer|ingenieurin=engineer
|vegetarier=vegetarian|vegetarierin=vegetarian|veganer=vegan|veganerin=vegan|verheiratet=married|ledig=single|geschieden=divorced
|mein=my|meine=my|meinem=my|meiner=my|meinen=my|heute=today|gestern=yesterday|morgen=tomorrow""".replace("\n", "").split("|")
)  # fmt: skip
_VERBS = dict(
    pair.split("=")
    for pair in """wohne=live|lebe=live|arbeite=work|mag=like|liebe=love|hasse=hate|trinke=drink|esse=eat|spiele=play|fahre=drive
|benutze=use|nutze=use|verwende=use|bevorzuge=prefer|spreche=speak|lerne=learn|rauche=smoke|wohnt=live|lebt=live|arbeitet=work
|heißt=is called|mögen=like|studiere=study|habe=have|besitze=own""".replace("\n", "").split("|")
)  # fmt: skip
_MY, _THIS = r"(?:mein|meine|meinen|unser|unsere)", r"(?P<n>[\wäöüß-]+)"
_DOES = (
    r"(?P<v>mag|liebe|hasse|trinke|esse|spiele|benutze|nutze|verwende|bevorzuge|spreche|lerne|rauche|studiere|besitze)"
)
_IS = "My {n} is {x}"
# What a sentence of this shape is in English: {n} a noun of the table, {v} a verb of it, {x} and {y} what else was said.
_SHAPES = tuple(
    (pattern(rf"(?i)^(?:{shape})$"), english)
    for shape, english in (
        (r"(?:wo|in welcher stadt|in welchem ort) (?:wohne|lebe) ich", "Where do I live?"),
        (r"(?:auf|in) welcher stra(?:ß|ss)e wohne ich", "Which street do I live on?"),
        (r"wie (?:heiße|heisse) ich|wie ist mein name|was ist mein name", "What is my name?"),
        (r"wie alt bin ich", "How old am I?"),
        (r"wo arbeite ich|für wen arbeite ich|bei wem arbeite ich", "Where do I work?"),
        (r"als was arbeite ich|was arbeite ich|was bin ich von beruf|was ist mein beruf", "What is my job?"),
        (r"woher komme ich", "Where am I from?"),
        (r"wann (?:habe ich|ist mein) geburtstag", "When is my birthday?"),
        (r"welche sprachen spreche ich", "Which languages do I speak?"),
        (r"was wei(?:ß|ss)t du (?:alles )?über mich|wer bin ich", "What do you know about me?"),
        (r"was (?:sind meine vorlieben|mag ich|bevorzuge ich)(?: gern[e]?)?", "What are my preferences?"),
        (r"was sind meine (?:aufgaben|todos)|was muss ich (?:noch )?(?:tun|machen|erledigen)", "What are my todos?"),
        (rf"was {_DOES} ich(?: gern[e]?)?", "What do I {v}?"),
        (r"(?:welches auto|was für ein auto|was) fahre ich", "Which car do I drive?"),
        (rf"(?:welche[nrs]?|was für ein(?:en|e)?) {_THIS} {_DOES} ich", "Which {n} do I {v}?"),
        (rf"habe ich (?:einen?|eine) {_THIS}", "Do I have a {n}?"),
        (rf"wie hei(?:ß|ss)t {_MY} {_THIS}", "What is my {n} called?"),
        (rf"wie alt ist {_MY} {_THIS}", "How old is my {n}?"),
        (rf"wie hoch ist {_MY} {_THIS}", "How much is my {n}?"),
        (rf"wo wohnt {_MY} {_THIS}", "Where does my {n} live?"),
        (rf"wo arbeitet {_MY} {_THIS}", "Where does my {n} work?"),
        (rf"wann ist {_MY} {_THIS}", "When is my {n}?"),
        (rf"(?:wer|was|welche[rs]?) (?:ist|sind) {_MY} {_THIS}", "What is my {n}?"),
        (r"ich hei(?:ß|ss)e (?P<x>.+)|mein name ist (?P<y>.+)", "My name is {x}{y}"),
        (r"(?:ich|wir) (?:wohne|lebe|wohnen|leben) nicht mehr in (?P<x>.+)", "I no longer live in {x}"),
        (r"(?:ich|wir) (?:wohne|lebe|wohnen|leben) in (?P<x>.+)", "I live in {x}"),
        (r"ich bin (?:gerade |vor kurzem )?nach (?P<x>.+?) (?:um)?gezogen", "I moved to {x}"),
        (r"ich bin (?P<x>\d+)(?: jahre alt)?", "I am {x} years old"),
        (r"ich bin (?:gestern |heute )?(?P<x>\d+) geworden", "I turned {x}"),
        (r"ich arbeite als (?P<x>.+?) bei (?P<y>.+)", "I work as a {x} at {y}"),
        (r"ich arbeite bei (?P<y>.+?) als (?P<x>.+)", "I work as a {x} at {y}"),
        (r"ich arbeite (?:bei|für) (?P<x>.+)", "I work at {x}"),
        (r"ich (?:arbeite als|bin von beruf) (?P<x>.+)|ich bin (?P<y>[\w-]+) von beruf", "I work as a {x}{y}"),
        (r"ich komme aus (?P<x>.+)", "I come from {x}"),
        (r"ich habe am (?P<x>.+) geburtstag", "My birthday is on {x}"),
        (r"ich bin allergisch (?:gegen|auf) (?P<x>.+)", "I am allergic to {x}"),
        (r"ich bin (?P<x>vegetarier(?:in)?|veganer(?:in)?|verheiratet|ledig|geschieden)", "I am {x}"),
        (rf"ich {_DOES} (?:(?P<x>.+) )?nicht mehr|ich {_DOES.replace('<v>', '<w>')} keine?n? (?P<y>.+) mehr", "I no longer {v}{w} {x}{y}"),
        (rf"ich {_DOES} keine?n? (?P<x>.+)|ich {_DOES.replace('<v>', '<w>')} (?P<y>.+) nicht", "I do not {v}{w} {x}{y}"),
        (rf"ich {_DOES} (?:sehr |am liebsten )?(?:gern[e]? )?(?P<x>.+)", "I {v} {x}"),
        (r"ich fahre (?P<x>eine?n? .+)", "I drive {x}"),
        (rf"ich habe eine?n? {_THIS},? (?:namens (?P<x>.+)|(?:der|die|das) (?P<y>.+) hei(?:ß|ss)t)", "I have a {n} called {x}{y}"),
        (rf"ich habe eine?n? {_THIS} (?P<x>(?:am|um|bei) .+)", "I have a {n} {x}"),
        (rf"ich habe eine?n? {_THIS}", "I have a {n}"),
        (rf"(?:ich habe|wir haben) (?P<x>zwei|drei|vier|fünf|\d+) {_THIS}", "I have {x} {n}"),
        (rf"{_MY} {_THIS} hei(?:ß|ss)t (?P<x>.+)", "My {n} is called {x}"),
        (rf"{_MY} {_THIS} (?:wohnt|lebt) in (?P<x>.+)", "My {n} lives in {x}"),
        (rf"{_MY} {_THIS} arbeitet (?:bei|für) (?P<x>.+)", "My {n} works at {x}"),
        (rf"{_MY} {_THIS} (?:ist|sind|beträgt) (?:auf |jetzt auf )?(?P<x>.+?)(?: gestiegen| gesunken)?", _IS),
        (rf"vergiss (?:{_MY} )?{_THIS}", "Forget my {n}"),
    )
)  # fmt: skip
_OPENING = pattern(
    r"(?i)^(?:(?:hallo|hi|hey|moin|servus|guten (?:morgen|tag|abend)|übrigens|also|ja|nein|und)[,!.]? )+"
)
_NOW = pattern(r"(?i) (?:jetzt|nun|inzwischen|mittlerweile)(?= |$)")
_NEXT = pattern(
    r"(?i),? und (?=(?:ich|wir|mein|meine|unser|unsere|bin|habe|wohne|arbeite|mag|trinke|esse|spiele|spreche) )"
)
_REASON = pattern(r"(?i),? (?:aber|weil|denn|obwohl|damit|sodass) |, und ")
# What passes, or points at what nobody can see later: "Ich esse gerade", "Ich liebe dich", "Ich spiele mit dem Gedanken".
_PASSING = pattern(
    r"(?i)\b(?:gerade|heute|gestern|morgen|gleich|bald|nach|mit|zu|dich|dir|euch|es|das|sie|ihn|dass|wenn|hier)\b"
)
_DATE = pattern(
    r"(?i)(?<=\d)\.(?= ?(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b)"
)


def dated(text: str) -> str:
    """`am 3. Mai` without the mark that would end a sentence."""
    return _DATE.sub("", text) if "." in text else text


def in_english(text: str) -> str | None:
    """A German sentence said in English, as far as it has a known shape; None if nothing of it has."""
    text = _OPENING.sub("", text)
    first = text[:12].split(" ", 1)[0].lower()
    if first not in _STARTS or len(text) > LONGEST:
        return None
    plain = dated(" ".join(text.split())).rstrip(" .!?")
    told = [english for part in _NEXT.split(plain) if (english := _told(part)) is not None]
    return " and ".join(told) or None


def _told(part: str) -> str | None:
    part = _REASON.split(part)[0]
    if part.split(" ")[0].lower() in _VERBS or part.startswith("bin "):
        part = f"ich {part}"  # "Ich wohne in Bonn und arbeite bei Bosch"
    bare = _NOW.sub("", part)
    for shape, english in _SHAPES:
        m = shape.match(bare)
        if m is None:
            continue
        said = m.groupdict()
        noun, value = _noun(said.get("n")), said.get("x") or said.get("y") or ""
        if noun is None or (said.get("v") and _PASSING.search(value)) or not _lasts(english, noun, value):
            return None
        verb = _VERBS.get((said.get("v") or said.get("w") or "").lower(), "")
        parts = {
            "n": noun,
            "v": verb,
            "w": "",
            "x": _value(said.get("x"), english),
            "y": _value(said.get("y"), english),
        }
        told = " ".join(english.format(**parts).split()).replace(" a a", " an a")
        return told if told.endswith("?") or bare == part else f"{told} now"
    return None


def _lasts(english: str, noun: str, value: str) -> bool:
    """Whether `my dog is tired` is said of more than this moment: a name, a figure, or what somebody is by trade."""
    if english != _IS or noun.startswith("favourite"):
        return True
    return value[:1].isupper() or value[:1].isdigit() or value.split(" ")[0] in one_of("ein eine am um in im bei auf")


def _noun(word: str | None) -> str | None:
    """A noun of the table in English, "" where the shape has none; None for one that is not known."""
    if word is None:
        return ""
    word = word.lower()
    if word.startswith("lieblings") and word != "lieblings":
        kind = word.removeprefix("lieblings")
        return f"favourite {_NOUNS.get(kind, kind)}"
    return _NOUNS.get(word)


def _value(text: str | None, english: str) -> str:
    """What was said, with its little words in English: `am 3 Mai` -> `on 3 May`."""
    said = " ".join(_WORDS.get(word.lower(), word) for word in (text or "").split())
    return f"a {said}" if said in JOB_HEADS and english == _IS else said
