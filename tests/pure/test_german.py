"""German in the shapes that the rules know: learned as in English, and nothing else."""

import pytest

from recollect.extract import Turn, candidates
from recollect.extract.german import in_english

AT = 1_773_136_800_000


def learned(text: str) -> list[str]:
    found = candidates(Turn("user", "message", text, 1, AT))
    return [c.content for c in found if c.operation != "done"]


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Ich wohne in Berlin.", "Lives in Berlin"),
        ("Ich wohne jetzt in Hamburg", "Lives in Hamburg"),
        ("Ich wohne in Köln, aber nicht gern.", "Lives in Köln"),
        ("Ich bin nach Lyon gezogen", "Lives in Lyon"),
        ("Mein Hund heißt Rex", "Dog is called Rex"),
        ("Meine Lieblingsfarbe ist Blau", "Favourite colour is Blau"),
        ("meine lieblingsfarbe ist blau, weil sie schön ist", "Favourite colour is blau"),
        ("Ich heiße Anna", "Name is Anna"),
        ("Hallo, ich heiße Jonas", "Name is Jonas"),
        ("Wir haben zwei Kinder", "Has two children"),
        ("Ich habe einen Termin am 3. Mai um 10 Uhr", "Has an appointment on 3 May at 10 o'clock"),
        ("Ich bin 34 Jahre alt", "Is 34 years old"),
        ("Ich arbeite als Lehrerin bei Bosch", "Works as a teacher at Bosch"),
        ("Ich komme aus Wien", "Comes from Wien"),
        ("Ich trinke gern Tee", "Drinks tea"),
        ("Ich trinke keinen Kaffee", "Doesn't drink coffee"),
        ("Ich mag Pizza nicht", "Doesn't like Pizza"),
        ("Ich habe einen Hund, der Rex heißt", "Has a dog called Rex"),
        ("Meine Schwester wohnt in Bonn", "Sister lives in Bonn"),
        ("Meine Schwester ist Ärztin", "Sister is a doctor"),
        ("Meine Miete ist auf 1020 Euro gestiegen", "Rent is 1020 euros"),
        ("Mein Geburtstag ist am 3. Mai.", "Birthday is on 3 May"),
        ("Ich bin Vegetarierin", "Is vegetarian"),
        ("Ich fahre einen Golf", "Drives a Golf"),
        ("Ich rauche nicht mehr", "No longer: Smokes"),
        ("Vergiss meinen Hund", "Forget: Dog"),
        ("Danke, ich heiße Ulla", "Name is Ulla"),
        ("Ich heiße Ulla von der Heide", "Name is Ulla von der Heide"),
        ("Ich wohne in Frankfurt am Main", "Lives in Frankfurt am Main"),
        ("Ich wohne in Neustadt an der Weinstraße", "Lives in Neustadt an der Weinstraße"),
        ("Mein Gehalt beträgt 4000 Euro im Monat", "Salary is 4000 euros per month"),
        ("Ich wohne in der Schweiz", "Lives in the Schweiz"),
        ("Ich komme aus der Türkei", "Comes from the Türkei"),
        ("Ich arbeite bei der Deutschen Bahn", "Works at the Deutschen Bahn"),
        ("Ich arbeite bei Bosch in Stuttgart", "Works at Bosch in Stuttgart"),
        ("Ich trinke gern grünen Tee", "Drinks grünen tea"),
        ("ich trinke gern kaffee", "Drinks coffee"),
        ("Ich spreche Deutsch, Englisch und Polnisch", "Speaks German, English and Polish"),
        ("Ich trinke nie Kaffee", "Doesn't drink coffee"),
        ("Ich rauche nicht.", "Doesn't smoke"),
        ("Mein Auto ist ein VW Golf", "Car is a VW Golf"),
        ("Meine Tochter ist 5 Jahre alt", "Daughter is 5 years old"),
        ("Mein Termin ist am Freitag um 10 Uhr", "Appointment is on Friday 2026-03-13 at 10 o'clock"),
        ("Mein Lieblingsfilm ist Der Pate", "Favourite film is Der Pate"),
        ("Ich bin allergisch gegen Nüsse und Milch", "Is allergic to Nüsse and Milch"),
        ("Ich arbeite bei Bosch nicht mehr.", "No longer: Works at Bosch"),
        ("Ich arbeite nicht mehr bei Bosch.", "No longer: Works at Bosch"),
        ("Ich wohne in Berlin nicht mehr.", "No longer: Lives in Berlin"),
        ("Ich habe keinen Hund mehr", "No longer: Has a dog"),
    ],
)
def test_a_statement_is_learned_as_in_english(said: str, content: str) -> None:
    assert learned(said) == [content]


@pytest.mark.parametrize(
    ("said", "english"),
    [
        ("Merk dir, dass ich in Bonn wohne.", "Remember that I live in Bonn"),
        ("Bitte merk dir, dass meine Katze Minka heißt.", "Remember that my cat is called Minka"),
        ("Merk dir: Ich trinke keinen Kaffee.", "Remember that I do not drink coffee"),
        ("Vergiss, dass ich in Hamburg wohne.", "Forget that I live in Hamburg"),
        ("Merk dir, dass ich lieber mit dem Zug fahre.", None),
        ("Merk dir das", None),
        ("Vergiss es", None),
    ],
)
def test_what_is_to_be_kept_or_forgotten_may_stand_in_a_clause(said: str, english: str | None) -> None:
    assert in_english(said) == english


def test_two_statements_are_two() -> None:
    assert learned("Mein Hund heißt Rex und meine Katze heißt Minka") == ["Dog is called Rex", "Cat is called Minka"]
    assert learned("Ich wohne in Bonn und arbeite bei Bosch.") == ["Lives in Bonn", "Works at Bosch"]


@pytest.mark.parametrize(
    "said",
    [
        "Ich habe Hunger", "Ich bin müde", "Ich esse gerade Pizza", "Ich liebe dich", "Ich fahre nach Berlin", "Mein Mann ist müde",
        "Ich bin der Meinung, dass das geht", "Mein Code ist kaputt", "Ich mag das nicht", "Mein Passwort ist geheim123",
        "Wo wohne ich?", "Was ist meine Lieblingsfarbe", "Was wäre, wenn ich in Berlin wohne?",
        "Ich heiße nicht Peter.", "Ich heiße nicht mehr Peter", "ICH HEISSE NICHT PETER", "Ich heiße dich willkommen",
        "Ich heiße Sie herzlich willkommen", "Ich heiße Dich Willkommen", "Ich heiße Anna, oder?", "Ich heiße das gut",
        "Wir leben in schwierigen Zeiten.", "Wir leben in Angst", "Ich lebe in der Hoffnung, dass er kommt", "Ich lebe in einer Traumwelt",
        "Ich wohne in Bonn, wenn ich die Stelle bekomme.", "Ich wohne in Bonn oder Köln", "Ich wohne in Berlin kaum noch",
        "Ich wohne in Bonn und ich arbeite bei Bosch, falls das klappt.", "Ich wohne in keiner Stadt", "Ich wohne in Berlin nicht",
        "Ich komme aus dem Urlaub.", "Ich komme aus Berlin zurück", "Ich komme aus Versehen zu spät", "Ich komme aus der Dusche",
        "Ich bin nach Hause gezogen", "Ich bin nach 3 Jahren umgezogen", "Ich bin nach Weihnachten umgezogen",
        "Ich bin nach der Trennung umgezogen", "Ich arbeite bei jedem Wetter", "Ich arbeite für zwei", "Ich arbeite bei Regen",
        "Ich arbeite bei der Hitze nicht", "Ich arbeite bei offenem Fenster", "Ich arbeite für mein Leben gern", "Ich arbeite als ob",
        "Ich arbeite als Letzter", "Meine Miete ist um 50 Euro gestiegen.", "Meine Miete ist um 50 Euro", "Meine Miete ist Wucher",
        "Meine Miete ist nicht 900 Euro", "Mein Vater ist Freitag gestorben.", "Mein Vater ist am Freitag gestorben",
        "Meine Mutter ist im Krankenhaus", "Meine Mutter ist in Berlin", "Mein Hund ist Mittwoch dran", "Mein Auto ist bei Bosch repariert worden",
        "Ich habe einen Freund, der gern lacht und Tom heißt", "Ich habe einen Hund, der nicht Rex heißt", "Ich habe einen Hund, der Rex hieß",
        "Ich habe am Freitag Geburtstag", "Meine Lieblingsfarbe ist nicht Blau", "Meine Lieblingsfarbe ist nicht mehr Blau",
        "Meine Lieblingsfarbe ist kein Blau", "Mein Lieblingsfilm ist gestern gelaufen", "Ich trinke kaum Kaffee", "Ich mag lieber dich",
        "Ich trinke Kaffee, wenn ich müde bin", "Ich mag, was du schreibst", "Ich hasse jeden Montag", "Ich esse Pizza zum Mittag",
        "Mein Hund heißt nicht Rex", "Meine Schwester wohnt in Bonn nicht mehr gern", "Meine Schwester wohnt in keinem Haus",
        "Meine Schwester arbeitet bei Nacht", "Ich bin allergisch auf dumme Fragen", "Ich fahre einen großen Umweg", "Ich esse heute nicht",
        "Mein Name ist Programm", "Vielleicht heiße ich Anna", "Ich heiße vielleicht bald Meier",
    ],
)  # fmt: skip
def test_what_passes_or_asks_is_not_learned(said: str) -> None:
    assert learned(said) == []


@pytest.mark.parametrize(
    ("asked", "english"),
    [
        ("Wo wohne ich?", "Where do I live?"),
        ("Wie heißt mein Hund?", "What is my dog called?"),
        ("Was ist meine Lieblingsfarbe?", "What is my favourite colour?"),
        ("Wo arbeitet meine Schwester?", "Where does my sister work?"),
        ("Wann habe ich Geburtstag?", "When is my birthday?"),
        ("Welches Auto fahre ich?", "Which car do I drive?"),
    ],
)
def test_a_question_is_asked_as_in_english(asked: str, english: str) -> None:
    assert in_english(asked) == english


def test_english_is_left_alone() -> None:
    for said in ("I live in Berlin", "Was it you?", "was I wrong", "In Berlin I live", "Mine is blue"):
        assert in_english(said) is None, said
