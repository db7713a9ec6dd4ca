"""German in the shapes that the rules know in English: "Ich wohne in Berlin" is "I live in Berlin".

A sentence of one of these shapes is said again in English, and read, remembered or looked up as that: what was told in one
language is found by a question in the other. Values stay as they were said ("Blau"), but for numbers, dates and little words,
and are only what `german_values` knows.
Whatever has another shape is left alone; it is still in the log, and search finds it by its words.
"""

from __future__ import annotations

from ..light import pattern
from . import german_values as may_be
from .words import JOB_HEADS, one_of

LONGEST = 200
"""Characters of a sentence that is looked at."""
_STARTS = one_of(
    "ich mein meine unser unsere wir wo woher wie wer was wann welche welcher welches welchen als vergiss in auf merk merke bitte habe wohne"
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
_DID = _DOES.replace("<v>", "<w>")
_LIVE, _AT = r"(?:ich|wir) (?:wohne|lebe|wohnen|leben)", "(?:bei|für)"
_IS = "My {n} is {x}"
# What may be said of a noun: these have a form of their own, all others are `SOMETHING`.
_OF = {
    noun: pattern(rf"(?i)^(?:{value})$")
    for nouns, value in (
        ("rent|salary|age|height|weight|shoe size", may_be.FIGURE),
        ("birthday", rf"(?:am )?{may_be.DATE}"),
        ("appointment", may_be.TIME_OR_WITH),
        ("office|flat|house|company|employer", rf"{may_be.SITUATED}|{may_be.EMPLOYER}"),
        ("address", may_be.ADDRESS),
        ("first name|last name", may_be.NAME),
        ("favourite film|favourite book|favourite song|favourite series|favourite game", may_be.TITLE),
        ("favourite", may_be.FAVOURITE),
        ("", may_be.SOMETHING),
    )
    for noun in nouns.split("|")
}
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
        (rf"(?:ich hei(?:ß|ss)e|mein name ist) (?P<name>{may_be.NAME})", "My name is {name}"),
        (rf"{_LIVE} (?:nicht mehr in (?P<x>{may_be.PLACE})|in (?P<y>{may_be.PLACE}) nicht mehr)", "I no longer live in {x}{y}"),
        (rf"{_LIVE} in (?P<x>{may_be.PLACE})", "I live in {x}"),
        (rf"ich bin (?:gerade |vor kurzem )?nach (?P<x>{may_be.PLACE}) (?:um)?gezogen", "I moved to {x}"),
        (r"ich bin (?P<x>\d{1,3})(?: jahre alt)?", "I am {x} years old"),
        (r"ich bin (?:gestern |heute )?(?P<x>\d{1,3}) geworden", "I turned {x}"),
        (rf"ich arbeite als (?P<x>{may_be.TRADE}) bei (?P<y>{may_be.EMPLOYER})", "I work as a {x} at {y}"),
        (rf"ich arbeite bei (?P<y>{may_be.EMPLOYER}) als (?P<x>{may_be.TRADE})", "I work as a {x} at {y}"),
        (rf"ich arbeite (?:nicht mehr {_AT} (?P<x>{may_be.EMPLOYER})|{_AT} (?P<y>{may_be.EMPLOYER}) nicht mehr)", "I no longer work at {x}{y}"),
        (rf"ich arbeite {_AT} (?P<x>{may_be.EMPLOYER})", "I work at {x}"),
        (rf"ich (?:arbeite als|bin von beruf) (?P<x>{may_be.TRADE_SOMEWHERE})|ich bin (?P<y>{may_be.TRADE}) von beruf", "I work as a {x}{y}"),
        (rf"ich komme aus (?P<x>{may_be.PLACE})", "I come from {x}"),
        (rf"ich habe am (?P<x>{may_be.DATE}) geburtstag", "My birthday is on {x}"),
        (r"ich bin allergisch (?:gegen|auf) (?P<things>.+)", "I am allergic to {things}"),
        (r"ich bin (?P<x>vegetarier(?:in)?|veganer(?:in)?|verheiratet|ledig|geschieden)", "I am {x}"),
        (rf"ich {_DOES} (?:(?P<things>.+) )?nicht mehr|ich {_DID} keine?n? (?P<others>.+) mehr", "I no longer {v}{w} {things}{others}"),
        (r"ich (?P<v>rauche|trinke) (?:nicht|nie|niemals)", "I do not {v}"),
        (rf"ich {_DOES} (?:nie|niemals|keine?n?) (?P<things>.+)|ich {_DID} (?P<others>.+) nicht", "I do not {v}{w} {things}{others}"),
        (rf"ich {_DOES} (?:sehr |am liebsten )?(?:gern[e]? )?(?P<things>.+)", "I {v} {things}"),
        (rf"ich fahre (?P<x>{may_be.CAR})", "I drive {x}"),
        (rf"ich habe eine?n? {_THIS},? (?:namens (?P<name>{may_be.NAME})|(?:der|die|das) (?P<other>{may_be.NAME}) hei(?:ß|ss)t)", "I have a {n} called {name}{other}"),
        (rf"ich habe eine?n? {_THIS} (?P<x>{may_be.TIME_OR_WITH})", "I have a {n} {x}"),
        (rf"ich habe eine?n? {_THIS}", "I have a {n}"),
        (rf"(?:ich habe|wir haben) keine?n? {_THIS} mehr", "I no longer have a {n}"),
        (rf"(?:ich habe|wir haben) (?P<x>zwei|drei|vier|fünf|\d+) {_THIS}", "I have {x} {n}"),
        (rf"{_MY} {_THIS} hei(?:ß|ss)t (?P<name>{may_be.NAME})", "My {n} is called {name}"),
        (rf"{_MY} {_THIS} (?:wohnt|lebt) in (?P<x>{may_be.PLACE})", "My {n} lives in {x}"),
        (rf"{_MY} {_THIS} arbeitet {_AT} (?P<x>{may_be.EMPLOYER})", "My {n} works at {x}"),
        (rf"{_MY} {_THIS} ist auf (?P<x>{may_be.FIGURE}) (?:gestiegen|gesunken)", _IS),
        (rf"{_MY} {_THIS} (?:ist|sind|beträgt) (?P<x>.+)", _IS),
        (rf"vergiss (?:{_MY} )?{_THIS}", "Forget my {n}"),
    )
)  # fmt: skip
_OPENING = pattern(
    r"(?i)^(?:(?:hallo|hi|hey|moin|servus|guten (?:morgen|tag|abend)|danke(?: schön| dir)?|vielen dank|gut|okay|ok|genau|übrigens|also|ja|nein|und)[,!.]? )+"
)
_NOW = pattern(r"(?i) (?:jetzt|nun|inzwischen|mittlerweile)(?= |$)")
_NEXT = pattern(
    r"(?i),? und (?=(?:ich|wir|mein|meine|unser|unsere|bin|habe|wohne|arbeite|mag|trinke|esse|spiele|spreche) )"
)
_REASON = pattern(r"(?i),? (?:aber|weil|denn|obwohl|damit|sodass) |, und ")
# Whatever is said beside these is no statement: "Ich wohne in Bonn, wenn ich die Stelle bekomme", "Ich heiße Anna, oder?"
_DOUBT = pattern(r"(?i)\b(?:wenn|falls|ob|oder|vielleicht|wahrscheinlich|vermutlich|angeblich|würde|wäre|hätte)\b")
_DATE = pattern(
    r"(?i)(?<=\d)\.(?= ?(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b)"
)


def dated(text: str) -> str:
    """`am 3. Mai` without the mark that would end a sentence."""
    return _DATE.sub("", text) if "." in text else text


_ORDER = pattern(
    r"(?i)^(?:bitte )?(?:(?P<keep>merke? dir)|vergiss)(?: bitte)?(?:, (?P<that>dass) |[,:]? )(?P<what>.+)$"
)
_VERB_LAST = pattern(r"(?i)^(ich|wir|(?:meine?|unsere?) [\wäöüß-]+) (.+) ([\wäöüß]+)$")


def is_order(text: str) -> bool:
    """Whether it bids to keep something or to forget it, in German: then it is no question."""
    return _ORDER.match(_OPENING.sub("", text)) is not None


def in_english(text: str) -> str | None:
    """A German sentence said in English, as far as it has a known shape; None if nothing of it has."""
    text = _OPENING.sub("", text)
    order = _ORDER.match(text)
    if order is not None:
        what = order["what"].rstrip(" .!")
        if order["that"]:
            what = _VERB_LAST.sub(r"\1 \3 \2", what)  # "dass ich in Bonn wohne": ich wohne in Bonn
        said = in_english(what) if _ORDER.match(what) is None else None
        if said is not None and not said.endswith("?"):
            said = f"my {said[3:]}" if said.startswith("My ") else said
            return f"{'Remember' if order['keep'] else 'Forget'} that {said}"
    first = text[:12].split(" ", 1)[0].lower()
    if first not in _STARTS or len(text) > LONGEST:
        return None
    plain = dated(" ".join(text.split())).rstrip(" .!?")
    if _DOUBT.search(plain):
        return None
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
        noun = _noun(said.get("n"))
        if noun is None or (english == _IS and not _fits(noun, said["x"])):
            return None
        things = said.get("things") or said.get("others")
        if things and not may_be.are_things(things):
            return None
        if part.isupper() and not english.endswith("?"):
            return None  # without small letters nothing tells a name from another word
        parts = {
            "n": noun,
            "v": _VERBS.get((said.get("v") or "").lower(), ""),
            "w": _VERBS.get((said.get("w") or "").lower(), ""),
            "x": _value(said.get("x"), english),
            "y": _value(said.get("y"), english),
            "things": _value(said.get("things"), english),
            "others": _value(said.get("others"), english),
            "name": said.get("name") or "",
            "other": said.get("other") or "",
        }
        told = " ".join(english.format(**parts).split()).replace(" a a", " an a")
        return told if told.endswith("?") or bare == part else f"{told} now"
    return None


def _fits(noun: str, value: str) -> bool:
    """Whether `my dog is tired` is said of more than this moment: a name, a figure, or what somebody is by trade."""
    kind = noun if noun in _OF else "favourite" if noun.startswith("favourite ") else ""
    return _OF[kind].match(value) is not None


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
    """What was said, with its little words in English: `am 3 Mai` -> `on 3 May`, but `Frankfurt am Main` and `Der Pate`."""
    words = (text or "").split()
    out: list[str] = []
    for word, then in zip(words, [*words[1:], ""], strict=False):
        bare = word.rstrip(",")
        is_of_name = (
            bare in ("Der", "Die", "Das")
            or (bare == "am" and not then[:1].isdigit() and then.lower() not in _WORDS)
            or (bare == "der" and out[-1:] in (["an"], ["ob"], ["vor"]))
            or (bare == "vor" and then == "der")
        )
        english_word = "per" if bare == "im" and then.lower() in ("monat", "jahr") else _WORDS.get(bare.lower(), bare)
        out.append(word if is_of_name else english_word + word[len(bare) :])
    said = " ".join(out)
    return f"a {said}" if said in JOB_HEADS and english == _IS else said
