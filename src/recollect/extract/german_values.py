"""What may be told in German: a name, a place, an employer, a trade, a thing, a figure, a time.

A wrong memory takes the place of a true one, so this says what a value may look like, and anything else is learned from no
sentence: "Ich wohne in schwierigen Zeiten" is no home. German helps: nouns and names are written with a capital, so a small word
is an article, an adjective of the list, a food or colour that many write small, or the sentence says more than its shape.
Each of these is a piece of a pattern that ignores case elsewhere.
"""

from __future__ import annotations

from ..light import pattern

# Written with a capital by mistake, for politeness or in a title: "Ich heiße Sie willkommen". No value has them.
_NEVER = (
    "nichts?|nie|niemals|niemand|kein(?:e[nmrs]?)?|kaum|mehr|wenn|falls|oder|ob|weil|dass|dich|dir|euch|sie|ihnen|ihn|ihm|mich|mir|uns|man"
    "|alles?|jede[nmrs]?|etwas|willkommen|programm|tot|heute|gestern|morgen|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?"
)  # fmt: skip
# What one is in, comes from or works at without a place or an employer: a state, a time, the weather.
_NO_PLACE = (
    r"\w+(?:heit|keit|schaft|ung|zeit|zeiten|tagen|jahren|wochen|monaten|stunden|welt)|zeiten?|jahren|wochen|monaten|tagen|stunden|hause|haus"
    r"|urlaub|ferien|frieden|angst|not|armut|sünde|reichtum|luxus|chaos|eile|ruhe|stille|sorge|sorgen|panik|wut|trauer|hektik|saus|spa(?:ß|ss)"
    r"|liebe|versehen|prinzip|neugier|weihnachten|ostern|pfingsten|silvester|neujahr|mitternacht|feierabend|arbeitsende|norden|süden|osten|westen"
    r"|gr(?:ü|ue)nden|\w+gründen|protest|trotz|rente|quarantäne|haft|therapie"
    r"|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
)  # fmt: skip
_NO_EMPLOYER = (
    r"\w*(?:regen|wetter|hitze|kälte|licht|nacht|wind|sturm|lärm)|schnee|nebel|sonne|tag|bedarf|gelegenheit|freunden|musik|geld|essen|ruhm"
    r"|ehre|peanuts|zwei|drei|vier|leute|menschen|kunden|kinder|bekannten|verwandten|durchzug|kaffee|tee|stress|fieber|schmerzen|problemen"
)
_NO_TRADE = "erste[rs]?|letzte[rs]?|einzige[rs]?|nächste[rs]?|team|paar|gruppe|kind|ersatz|ausgleich|hobby|strafe|dank"
_NO_THING = (
    "schrott|müll|mist|schei(?:ß|ss)e|quatsch|unsinn|klasse|spitze|pleite|geschichte|schuld|wucher|horror|katastrophe|frage|fragen|zeug|sache"
    "|sachen|ding|dinge|umweg|rolle|idiot|idiotin|arsch|problem|traum|alptraum|albtraum|witz|fall"
)


def _word(*refused: str) -> str:
    """A word with a capital that is none of these."""
    no = "|".join((_NEVER, *refused))
    return rf"(?!(?:{no})\b)(?-i:[a-z]?[^\W\d_a-zß-öø-ÿ])[\w'’-]*"


_NAMED, _SITE, _FIRM = _word(), _word(_NO_PLACE), _word(_NO_PLACE, _NO_EMPLOYER)
_TRADE, _THING = _word(_NO_TRADE, _NO_THING), _word(_NO_THING)
_SINCE = r"(?: seit \d{4})?"
_LANDS = (
    r"(?:schweiz|türkei|ukraine|slowakei|mongolei|niederlanden|usa|vereinigten staaten|philippinen|dominikanischen republik|tschechischen republik"
    r"|steiermark|pfalz|eifel|lausitz|uckermark|[\w-]+(?:stra(?:ß|ss)e|gasse|allee)(?: \d+\w?)?)"
)
_BODIES = r"(?:bahn|post|telekom|polizei|feuerwehr|bundeswehr|sparkasse|caritas|diakonie|awo|deutschen (?:bahn|bank|post|telekom)|stadt(?: {0})?|uni(?:versität)?(?: {0})?|firma {0})"
_COLOURS = (
    "blau|rot|grün|gelb|schwarz|wei(?:ß|ss)|grau|braun|lila|rosa|pink|orange|türkis|violett|gold|silber|beige|indigo"
)
_FOODS = (
    "tee|kaffee|wasser|milch|bier|wein|saft|kakao|pizza|pasta|nudeln|reis|brot|käse|fleisch|fisch|obst|gemüse|schokolade|kuchen|eis|salat|suppe"
    "|sushi|burger|döner|kartoffeln|pommes|nüsse|erdnüsse|eier|äpfel|bananen|erdbeeren|tomaten|pilze"
)
_TONGUES = "deutsch|englisch|französisch|spanisch|italienisch|polnisch|russisch|türkisch|niederländisch"
_ADJECTIVE = (
    rf"(?:{_COLOURS}|{_TONGUES}|kurz|lang|dunkl|hell|klassisch|vegan|vegetarisch|scharf|süß|stark|kalt|warm|heiß|elektrisch|indisch|japanisch|griechisch"
    r"|chinesisch|mexikanisch|asiatisch|alt|neu|klein|gro(?:ß|ss))e[nmrs]?"
)  # fmt: skip
_ARTICLE = r"(?:(?:der|die|das|den|dem|ein|eine|einen|einem|einer) )?"
_MONTH = "(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)"
_DAY = "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)"
_CLOCK = r"um \d{1,2}(?:[:.]\d\d)?(?: uhr)?"

NAME = rf"{_NAMED}(?: (?:(?:von|van|de|der|den|zu|vom|da|di|le|la) ){{0,2}}{_NAMED}){{0,3}}"
PLACE = (
    rf"(?:(?:der|den|dem) {_LANDS}|(?:\d{{4,5}} )?{_SITE}(?: (?:(?:am|im|an der|in der|ob der|vor der|bei|in) )?{_SITE}){{0,2}}(?: \d+\w?)?)"
    + _SINCE
)
_IN_PLACE = rf"(?: in (?:der {_LANDS}|{_SITE}))?{_SINCE}"
EMPLOYER = rf"(?:(?:der|dem) {_BODIES.format(_SITE)}|{_FIRM}(?:(?: | & | und ){_FIRM}){{0,3}}){_IN_PLACE}"
TRADE = rf"(?:(?:freie[rn]?|freiberufliche[rn]?|selbst(?:st)?ändige[rn]?|leitende[rn]?) )?{_TRADE}(?: {_TRADE}){{0,2}}"
TRADE_SOMEWHERE = TRADE + _IN_PLACE
_ITEM = rf"(?:{_ARTICLE}(?:{_ADJECTIVE} )?(?:{_THING}(?: (?:{_THING}|\d+)){{0,2}}|{_FOODS}|{_TONGUES}))"
CAR = rf"eine?n? (?:{_ADJECTIVE} )?{_THING}(?: (?:{_THING}|\d+)){{0,2}}"
DATE = rf"\d{{1,2}} {_MONTH}(?: \d{{4}})?"
TIME = rf"(?:am (?:{_DAY}|{DATE})(?: {_CLOCK})?|{_CLOCK}(?: am (?:{_DAY}|{DATE}))?)"
TIME_OR_WITH = rf"(?:{TIME}(?: bei {NAME})?|bei {NAME}(?: {TIME})?)"
FIGURE = (
    r"\d[\d.,]*(?: ?(?:euro|€|franken|cm|zentimeter|m|meter|kg|kilo|jahre|jahre alt))?(?: (?:im|pro) (?:monat|jahr))?"
)
FAVOURITE = rf"(?:{_ITEM}(?: und {_ITEM})?|{_COLOURS}|{FIGURE})"
TITLE = rf"{_NAMED}(?: (?!(?:{_NEVER}|ge\w+(?:t|en)|worden)\b)[\w'’-]+){{0,5}}"
ADDRESS = rf"{_SITE}(?: {_SITE}){{0,2}}(?: \d+ ?\w?)?(?:,? \d{{4,5}} {_SITE}|, {_SITE})?"
SOMETHING = rf"(?:{FIGURE}|{_ARTICLE}(?:{_ADJECTIVE} )?{_THING}(?: (?:{_THING}|\d+)){{0,2}})"
SITUATED = rf"in {PLACE}"
_ONE, _BETWEEN = pattern(rf"(?i)^{_ITEM}$"), pattern(", | und ")


def are_things(text: str) -> bool:
    """Whether this is a thing or a few: `grünen Tee`, `Deutsch, Englisch und Polnisch`. One by one: as a single pattern it took
    a tenth of a second to compile."""
    return all(_ONE.match(each) for each in _BETWEEN.split(text))
