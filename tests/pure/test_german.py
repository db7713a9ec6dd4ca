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
    ],
)
def test_a_statement_is_learned_as_in_english(said: str, content: str) -> None:
    assert learned(said) == [content]


def test_two_statements_are_two() -> None:
    assert learned("Mein Hund heißt Rex und meine Katze heißt Minka") == ["Dog is called Rex", "Cat is called Minka"]
    assert learned("Ich wohne in Bonn und arbeite bei Bosch.") == ["Lives in Bonn", "Works at Bosch"]


@pytest.mark.parametrize(
    "said",
    [
        "Ich habe Hunger", "Ich bin müde", "Ich esse gerade Pizza", "Ich liebe dich", "Ich fahre nach Berlin", "Mein Mann ist müde",
        "Ich bin der Meinung, dass das geht", "Mein Code ist kaputt", "Ich mag das nicht", "Mein Passwort ist geheim123",
        "Wo wohne ich?", "Was ist meine Lieblingsfarbe", "Was wäre, wenn ich in Berlin wohne?",
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
