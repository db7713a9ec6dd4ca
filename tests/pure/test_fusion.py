"""The scorer on small made-up conversations: what each part is for, and that the order is always the same."""

from __future__ import annotations

import random
import string
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from recollect.search import fusion, times, tokens
from recollect.search.fusion import Doc, Ranker, Statistics, rank, understand

DAY = 86_400_000
MAY_8 = int(datetime(2023, 5, 8, 14, tzinfo=UTC).timestamp() * 1000)


def talk(*lines: str, conversation: str = "c", at: int = MAY_8) -> list[Doc]:
    """`Kim: text` a line, one a second."""
    docs = []
    for seq, line in enumerate(lines, 1):
        speaker, _, text = line.partition(": ")
        docs.append(Doc(f"{conversation}{seq}", text, conversation, seq, at + 1000 * seq, speaker))
    return docs


def counted(docs: list[Doc], extra: int = 200) -> Statistics:
    frequencies: dict[str, int] = {}
    for doc in docs:
        for term in tokens.term_set(doc.text):
            frequencies[term] = frequencies.get(term, 0) + 1
    return Statistics(len(docs) + extra, frequencies)


def ids(question: str, docs: list[Doc], **more: int) -> list[str]:
    return [r.doc.id for r in rank(question, docs, counted(docs), **more)]


def test_words_a_rare_word_outweighs_a_common_one() -> None:
    docs = [Doc("a", "the report was late"), Doc("b", "the zeppelin was late"), Doc("c", "nothing of interest")]
    many = Statistics(1000, {"report": 400, "late": 400, "zeppelin": 1})
    assert rank("zeppelin report", docs, many)[0].doc.id == "b"


def test_words_a_turn_beats_a_page_that_has_the_same_words() -> None:
    page = "walrus " + "filler text and more of it " * 100 + "tusk"
    assert ids("walrus tusk", [Doc("page", page), Doc("turn", "the tusk of a walrus")])[0] == "turn"


def test_neighbours_a_reply_is_found_through_its_question() -> None:
    docs = talk(
        "Ana: Lovely weather today.",
        "Ben: What instrument did you learn at school?",
        "Ana: The bassoon, believe it or not.",
        "Ben: Ha, great.",
    )
    first = rank("Which instrument did Ana learn at school?", docs, counted(docs))[0]
    assert first.doc.id == "c3"
    assert first.parts["neighbours"] > 0 and "words" not in first.parts


def test_neighbours_the_turn_itself_beats_what_is_near_and_before_beats_after() -> None:
    docs = talk(
        "Ana: one.", "Ben: Two.", "Ana: We kept a hedgehog.", "Ben: Four.", "Ana: five.", "Ben: six.", "Ana: 7."
    )
    got = {r.doc.seq: r.score for r in rank("hedgehog", docs, counted(docs))}
    assert got[3] > got[4] > got[2] > got[1] > got[7]
    assert got[7] > 0, "the rest of the sitting still counts a little"


def test_neighbours_do_not_reach_into_another_sitting_or_conversation() -> None:
    docs = talk("Ana: We kept a hedgehog.", conversation="x") + talk("Ana: Nothing here.", conversation="y")
    late = Doc("z", "Nothing here either.", "x", 2, MAY_8 + DAY, "Ben")
    got = {r.doc.id: r.score for r in rank("hedgehog", [*docs, late], counted(docs))}
    assert got["x1"] == 1.0 and got["y1"] == 0 and got["z"] == 0


def test_meaning_ranks_where_words_are_silent() -> None:
    docs = [Doc("a", "alpha", cosine=0.1), Doc("b", "beta", cosine=0.7), Doc("c", "gamma", cosine=0.2)]
    assert ids("something else entirely", docs) == ["b", "c", "a"]


def test_meaning_of_an_event_not_yet_embedded_counts_as_typical() -> None:
    docs = [Doc("a", "alpha", cosine=0.9), Doc("b", "walrus"), Doc("c", "gamma", cosine=0.1)]
    assert ids("unrelated", docs) == ["a", "b", "c"]
    assert ids("walrus", docs)[0] == "b"


def test_meaning_leaves_out_the_names_of_speakers() -> None:
    question = understand("What did Melanie's sister paint for Tom?", ["Melanie", "Robert"])
    assert question.meaning == "What did sister paint for Tom?"
    assert question.named == ("melanie",)
    assert "melani" not in dict(question.terms) and "tom" in dict(question.terms)


@pytest.mark.parametrize("given", ["name", "prefix", "dated prefix"])
def test_speaker_the_one_named_is_preferred(given: str) -> None:
    docs = talk("Melanie: My garden is full of tulips.", "Robert: My garden is full of weeds.")
    if given != "name":
        for doc in docs:
            head = "[8 May 2023] " if given == "dated prefix" else ""
            doc.text, doc.speaker = f"{head}{doc.speaker}: {doc.text}", "user"
    assert ids("What is in Robert's garden?", docs)[0] == "c2"
    assert ids("What is in Mel's garden?", docs)[0] == "c1"
    assert ids("Does Robert know what Melanie's garden is full of?", docs)[0] == "c2"


def test_speaker_my_is_the_user() -> None:
    docs = [Doc("a", "I like the dark theme", speaker="assistant"), Doc("u", "I like the light theme", speaker="user")]
    assert ids("Which theme is my favourite?", docs)[0] == "u"


def test_speaker_a_lower_case_word_is_not_a_name() -> None:
    assert understand("how will this mark the page", ["Will", "Mark"]).named == ()


def test_time_yesterday_is_found_by_its_date() -> None:
    docs = talk("Ana: I went to the dentist yesterday.") + talk(
        "Ana: I went to the dentist.", conversation="d", at=MAY_8 - 90 * DAY
    )
    assert ids("Who went to the dentist on 7 May 2023?", docs)[0] == "c1"
    assert ids("Who went to the dentist in February?", docs)[0] == "d1"


def test_time_when_prefers_a_turn_that_says_when() -> None:
    docs = talk("Ana: I love the dentist.", "Ben: I saw the dentist last Friday.")
    assert ids("When was the dentist visit?", docs)[0] == "c2"


def test_form_a_statement_beats_a_question_and_a_name_beats_none() -> None:
    assert ids("trip", [Doc("a", "How was the trip?"), Doc("b", "It was a good trip.")])[0] == "b"
    assert ids("trip", [Doc("a", "How was the trip? [photo: a boat]"), Doc("b", "It was a good trip.")])[0] == "b"
    assert ids("trip", [Doc("a", "A trip to some place."), Doc("b", "A trip to Lisbon.")])[0] == "b"


def test_recency_breaks_ties_and_leads_when_asked_for() -> None:
    docs = [
        Doc("old", "my theme is dark", created_at=MAY_8),
        Doc("new", "my theme is light", created_at=MAY_8 + 60 * DAY),
    ]
    now = MAY_8 + 61 * DAY
    assert ids("theme", docs, now=now)[0] == "new"
    old_but_better = [Doc("old", "my theme is dark blue", created_at=MAY_8), docs[1]]
    assert ids("dark blue theme", old_but_better, now=now)[0] == "old"
    parts = rank("latest theme", docs, counted(docs), now=now)[0].parts
    assert parts["recency"] > 0.1


def test_pin_and_affinity_lift_by_what_they_say() -> None:
    docs = [Doc("a", "tea"), Doc("b", "tea", pinned=True), Doc("c", "tea", affinity=1.0)]
    assert [r.doc.id for r in rank("tea", docs, counted(docs))] == ["b", "c", "a"]


def test_parts_sum_to_the_score() -> None:
    docs = talk("Ana: When did you see Rome?", "Ben: I saw Rome in May 2022, with Carla.", "Ana: Nice.")
    for doc, cosine in zip(docs, (0.3, 0.6, 0.1), strict=True):
        doc.cosine = cosine
    for ranked in rank("When did Ben see Rome in May 2022?", docs, counted(docs), now=MAY_8 + DAY):
        assert ranked.score == pytest.approx(sum(ranked.parts.values()))
        assert set(ranked.parts) <= set(fusion.PARTS)


def test_order_is_the_same_whatever_order_they_come_in() -> None:
    shuffle = random.Random(5)
    words = ["red", "green", "blue", "tree", "house", "river"]
    docs = [
        Doc(f"{i:03}", " ".join(shuffle.choices(words, k=4)), f"c{i % 5}", i // 5 + 1, MAY_8 + i // 50 * DAY)
        for i in range(200)
    ]
    expected = ids("the red house by the river", docs)
    for _ in range(5):
        shuffle.shuffle(docs)
        assert ids("the red house by the river", docs) == expected


def test_what_is_equal_stays_in_its_order_while_time_goes_by() -> None:
    """Sums of the same parts in another order differ in their last bit, now this way and now that as recency fades: a search
    repeated a second later had another order."""
    docs = [
        Doc("a", "walrus or not?", "x", 1, MAY_8, "user"),
        Doc("b", "walrus or so", "y", 1, MAY_8, "assistant"),
    ]
    orders = {tuple(ids("where is my walrus", docs, now=MAY_8 + 977 * later)) for later in range(1, 500)}
    assert orders == {("a", "b")}


def test_ranker_asks_for_neighbours_once_and_uses_them() -> None:
    docs = talk(
        "Ana: Do you keep pets?", "Ben: A hedgehog, yes.", "Ana: Its name?", "Ben: Spike.", "Ana: x", "Ben: y", "Ana: z"
    )
    ranker = Ranker(understand("Ben's hedgehog", ["Ana", "Ben"]), counted(docs))
    ranker.add(docs[1:2])
    wanted = ranker.wanted()
    assert wanted == [("c", 1), ("c", 3), ("c", 4), ("c", 5)]
    ranker.add(docs[seq - 1] for _, seq in wanted)
    assert [r.doc.seq for r in ranker.best(2)] == [2, 4]
    assert ("c", 1) not in ranker.wanted()


def test_memories_have_no_neighbours() -> None:
    ranker = Ranker(understand("tea"), Statistics(2))
    ranker.add([Doc("m1", "likes tea"), Doc("m2", "likes coffee")])
    assert ranker.wanted() == []
    assert "neighbours" not in ranker.best()[1].parts


def test_a_long_question_is_read_at_both_ends() -> None:
    docs = [Doc("a", "the zeppelin"), Doc("b", "the walrus"), Doc("c", "the filler")]
    assert set(ids("zeppelin " + "filler " * 3000 + "walrus", docs)[:2]) == {"a", "b"}


def test_any_string_is_a_question() -> None:
    docs = talk("Ana: hello world", "Ben: 你好世界", "Ana: 🎉🎉")
    shuffle = random.Random(7)
    nasty = ["", " ", "\0", '"', "a" * 10_000, "x y " * 3000, "🎉", "?", "on 99 May 2023", "0000-13-99", "--05", "may"]
    nasty += [
        "".join(shuffle.choices(string.printable + "é你한\u0301\ud7af", k=shuffle.randint(1, 60))) for _ in range(300)
    ]
    for text in nasty:
        assert len(rank(text, docs, counted(docs))) == 3
        times.dates(text, MAY_8)
    assert ids("世界", docs)[0] == "c2"


def test_the_scorer_needs_nothing_but_the_standard_library() -> None:
    code = "import sys, recollect.search.fusion; print({'numpy', 'apsw', 'wordllama'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
