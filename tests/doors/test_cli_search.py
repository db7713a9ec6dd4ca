"""Search, memories and contexts at a command line, and the benchmark that anyone with the data can repeat."""

from __future__ import annotations

import json
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from console import Run, flat
from rich.text import Text

import recollect
from recollect.cli import locomo
from recollect.cli.search import marked
from recollect.errors import InvalidInput
from recollect.search.tokens import terms

DAY = 86_400_000
NOON = 1_700_049_600_000  # 15 November 2023


@pytest.fixture
def talks(run: Run, own_store: Path) -> Path:
    """Two conversations in two workspaces, a tool, and two memories."""
    own_store.parent.mkdir(parents=True)
    with recollect.open(own_store) as store:
        garden = store.create("garden", title="The garden planner", workspace="/garden")
        store.append_many(
            garden.id,
            [
                {"role": "user", "text": "Which theme do visitors like best?", "created_at": NOON},
                {"role": "assistant", "text": "They painted it dark.", "agent": "Kim", "created_at": NOON + 1000},
                {"kind": "tool_use", "tool": "Read", "path": "src/theme.css", "text": "read the theme", "created_at": NOON + DAY},
            ],
        )  # fmt: skip
        boats = store.create("boats", workspace="/boats")
        store.append(
            boats.id, role="user", text="The boat is painted blue. \x1b[31mred\x1b[0m", created_at=NOON + 9 * DAY
        )
        store.remember("Prefers dark mode", kind="preference", importance=0.8, tags=["ui"])
        store.remember("Owns a boat", kind="fact", tags=["life"])
        store.settle()
    return own_store


# -- search


def test_a_hit_says_where_it_stands(run: Run, talks: Path) -> None:
    answer = run("search", "who painted it dark?", "--type", "events", "-n", "1")
    assert answer.code == 0
    head, said = answer.out.splitlines()[:2]
    assert head.startswith("1. The garden planner #2  Kim  15 Nov 2023 (")
    assert said.strip() == "They painted it dark."


def test_lines_fit_a_terminal(run: Run, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (
        ["search", "painted theme", "--explain"],
        ["recall", "boat", "--explain"],
        ["context", "dark", "--why"],
    ):
        answer = run(*words)
        shown = [row for row in answer.out.splitlines() if not row.startswith(("<", ">"))]
        assert shown and max(map(len, shown)) <= 80, answer


def test_what_was_stored_cannot_move_the_cursor(run: Run, talks: Path) -> None:
    answer = run("search", "blue boat")
    assert "\x1b" not in answer.out
    assert "␛[31mred" in answer.out


@pytest.mark.parametrize(
    ("question", "text", "bold"),
    [
        ("painting", "They painted it, and paints.", ["painted", "paints"]),
        ("parse", "see src/parse.py or parseConfig()", ["parse", "parseConfig"]),
        ("de-stress", "I destress; to de-stress.", ["destress", "de-stress"]),
        ("3.54.0", "version 3.54.0 here", ["3.54.0"]),
        ("東京", "今日は東京です", ["東京"]),
        ("Kim's boat", "Kim’s  boat\nsank", ["Kim’s", "boat"]),
        ("東京都", "京都と東京", ["京都", "東京"]),
        ("café", "a Café!", ["Café"]),
        ("the of and", "the end of it and more", []),
        ("boat", "", []),
    ],
)
def test_the_words_asked_for_are_bold(question: str, text: str, bold: list[str]) -> None:
    made = marked(text, set(terms(question)))
    assert isinstance(made, Text)
    assert [made.plain[span.start : span.end] for span in made.spans] == bold


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["-w", "/garden"], {"garden:1", "garden:2", "garden:3"}),
        (["-w", "/boats"], {"boats:1"}),
        (["-w", "/boats", "--also", "/garden"], {"garden:1", "garden:2", "garden:3", "boats:1"}),
        (["-c", "boat"], {"boats:1"}),
        (["-k", "tool_use"], {"garden:3"}),
        (["-k", "tool_use,message", "-c", "garden"], {"garden:1", "garden:2", "garden:3"}),
        (["--tool", "Read"], {"garden:3"}),
        (["--since", str(NOON + DAY)], {"garden:3", "boats:1"}),
        (["--until", str(NOON + 1000)], {"garden:1"}),
        (["--since", "2023-11-16", "--until", "2023-11-20"], {"garden:3"}),
    ],
)
def test_filters(run: Run, talks: Path, filters: list[str], found: set[str]) -> None:
    answer = run("search", "painted theme boat", "--type", "events", "--json", *filters)
    assert {hit["id"] for hit in answer.json} == found


def test_branches(run: Run, talks: Path) -> None:
    assert run("fork", "garden", "--at", "1", "--name", "other").code == 0
    assert run("append", "garden", "A zeppelin instead.", "-b", "other").code == 0
    assert "zeppelin instead" not in run("search", "zeppelin", "-c", "garden").out
    answer = run("search", "zeppelin", "-c", "garden", "-b", "other", "-n", "1")
    assert "on other" in answer.out.splitlines()[0]
    assert run("search", "zeppelin", "-b", "other").code == 2


def test_all_branches_of_everything(run: Run, talks: Path) -> None:
    """A branch is one conversation's, all of them are everyone's. What is only on another branch is hinted at."""
    assert run("fork", "garden", "--at", "2", "--name", "zeppelins").code == 0
    assert run("append", "garden", "A zeppelin instead.", "-b", "zeppelins").code == 0
    found = run("search", "zeppelin", "--type", "events", "--branch", "*", "--json").json
    assert found[0]["branch"] == "zeppelins"
    assert found[0]["id"] not in {h["id"] for h in run("search", "zeppelin", "--type", "events", "--json").json}
    hint = "Other branches have something about it: recollect search zeppelin --type events --branch '*'"
    assert hint in run("search", "zeppelin", "--type", "events").out
    assert "zeppelin -c garden --branch '*'" in run("search", "zeppelin", "-c", "garden").out
    assert "Other branches" not in run("search", "zeppelin", "--branch", "*").out
    assert "Other branches" not in run("search", "xyzzy").out
    refused = run("search", "zeppelin", "--branch", "zeppelins")
    assert refused.code == 2 and "'*'" in refused.err
    assert "'*'" in flat(run("search", "--help").out)


def test_json_is_the_hits(run: Run, talks: Path) -> None:
    (hit,) = run("search", "painted dark", "--type", "events", "-n", "1", "--json").json
    assert (hit["type"], hit["conversation_id"], hit["seq"], hit["speaker"]) == ("event", "garden", 2, "Kim")
    assert hit["score"] == pytest.approx(sum(hit["parts"].values()))


def test_explain_shows_the_parts(run: Run, talks: Path) -> None:
    said = flat(run("search", "painted dark", "--explain", "-n", "1").out)
    assert "words ████████ 1.00" in said
    assert "█" not in run("search", "painted dark", "-n", "1").out


def test_nothing_found_says_what_to_try(run: Run, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_SEMANTIC", "off")
    answer = run("search", "zeppelin")
    assert answer.code == 0
    assert "Nothing found for “zeppelin”." in answer.out and "semantic" in answer.out
    assert "recollect search painted  the same everywhere" in run("search", "painted", "--tool", "Write").out
    assert run("search", "zeppelin", "--json").json == []
    assert "recollect search zeppelin" in run("recall", "zeppelin").out


def test_what_is_merely_nearest_is_not_passed_off_as_an_answer(run: Run, talks: Path) -> None:
    answer = run("search", "quantum chromodynamics")
    assert answer.out.startswith("Nothing is about it. The nearest in meaning:\n")
    assert "3. " in answer.out and "4. " not in answer.out
    assert len(run("search", "quantum chromodynamics", "--json").json) > 3
    assert "Nothing is about it" not in run("search", "boat").out


def test_looking_for_something_creates_nothing(run: Run, own_store: Path) -> None:
    for words in (["search", "x"], ["recall", "x"], ["context", "x"], ["reindex"]):
        assert run(*words).code == 0, words
    assert "recollect demo" in run("search", "x").out
    assert run("forget", "abcd", "--yes").code == 3
    assert not own_store.parent.exists()


@pytest.mark.parametrize(
    "words",
    [["search", ""], ["search", "x", "--type", "both"], ["search", "x", "-k", "nope"], ["search", "x", "--until", "never"],
     ["recall", " "], ["recall", "x", "-k", "message"], ["remember", ""], ["remember", "x", "-k", "nope"],
     ["remember", "x", "-i", "2"]],
)  # fmt: skip
def test_wrong_input(run: Run, talks: Path, words: list[str]) -> None:
    answer = run(*words)
    assert answer.code == 2, answer
    assert answer.out == ""


def test_any_string_is_a_question(run: Run, talks: Path) -> None:
    for nasty in ('"', "'", "a OR", "NEAR(", "*", "col:x", "🎉", "-- drop", "%", "x" * 10_000, "\u202e"):
        assert run("search", "--json", "--", nasty).code == 0, nasty


def test_without_quotation_marks(run: Run, talks: Path) -> None:
    assert run("search", "painted", "dark", "--json", "-n", "1").json[0]["id"] == "garden:2"
    assert run("remember", "Likes", "tea", "--json").json["content"] == "Likes tea"


def test_from_standard_input(run: Run, talks: Path) -> None:
    assert run("search", "-", "--json", "-n", "1", stdin="painted dark").json[0]["id"] == "garden:2"
    assert run("remember", "-", stdin="Likes tea").code == 0
    assert "Likes tea" in run("recall", "-", stdin="tea").out


# -- memories


def test_remember_recall_forget(run: Run, own_store: Path) -> None:
    made = run(
        "remember", "Prefers tea", "-k", "preference", "-i", "0.9", "-t", "kitchen", "-t", "morning", "--json"
    ).json
    assert (made["kind"], made["importance"], made["tags"]) == ("preference", 0.9, ["kitchen", "morning"])
    assert run("remember", "Prefers tea").out == f"Known already: {made['id']}\n"
    head = run("recall", "tea").out.splitlines()[0]
    assert head.startswith(f"1. memory {made['id'][:8]}  preference  ")
    assert run("forget", made["id"][:6]).code == 2, "nobody is there to answer"
    assert run("forget", made["id"][:6], "--yes").out == "Forgotten: Prefers tea\n"
    assert run("forget", made["id"], "--yes").code == 3
    assert run("recall", "tea", "--json").json == []


def test_a_secret_is_not_remembered_in_silence(run: Run, own_store: Path) -> None:
    made = run("remember", "My locker combination is my birthday backwards")
    assert made.out.startswith("Remembered: ") and "names a secret" in " ".join(made.err.split())
    assert run("remember", "The wifi password is stored in 1Password").err == ""
    made = run("remember", "my password is Hunter2!abc99")
    told = " ".join(made.err.split())
    assert "taken out" in told and "my password is [redacted:password]" in told and "forget" in told


def test_a_memory_is_found_by_meaning_by_the_next_command(run: Run, own_store: Path) -> None:
    pytest.importorskip("wordllama")
    assert run("remember", "Prefers dark mode").code == 0
    assert [hit["text"] for hit in run("recall", "bright colours", "--json").json] == ["Prefers dark mode"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["-k", "preference"], {"Prefers dark mode"}),
        (["-t", "life"], {"Owns a boat"}),
        (["-i", "0.7"], {"Prefers dark mode"}),
        (["--since", "1h"], {"Prefers dark mode", "Owns a boat"}),
    ],
)
def test_recall_filters(run: Run, talks: Path, filters: list[str], found: set[str]) -> None:
    answer = run("recall", "dark mode on a boat", "--json", *filters)
    assert {hit["text"] for hit in answer.json} == found


def test_the_beginning_of_an_id(run: Run, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [run("remember", f"statement {i}", "--json").json["id"] for i in range(40)]
    beginnings = [id[:1] for id in ids]
    double = next(b for b in beginnings if beginnings.count(b) > 1)
    assert run("forget", double, "--yes").code == 3, "too short to be meant"
    monkeypatch.setattr("recollect.cli.memories.SHORTEST_PREFIX", 1)
    answer = run("forget", double, "--yes")
    assert answer.code == 2 and "could be any of" in flat(answer.err)


def test_a_memory_limited_to_a_conversation(run: Run, talks: Path) -> None:
    assert run("remember", "The mast is broken", "-c", "boats").code == 0
    assert run("recall", "mast", "-k", "fact", "--json", "-c", "boats").json[0]["conversation_id"] == "boats"
    assert all(hit["text"] != "The mast is broken" for hit in run("recall", "mast", "--json").json)
    assert " of " in run("recall", "mast", "-c", "boats").out.splitlines()[0]


# -- context


def test_context_prints_what_a_model_would_get(run: Run, talks: Path) -> None:
    answer = run("context", "who painted it dark?")
    with recollect.open(talks) as store:
        assert answer.out == store.context("who painted it dark?").text + "\n"
    assert answer.out.startswith("<recollected") and answer.out.rstrip().endswith("</recollected>")
    made = run("context", "who painted it dark?", "--json").json
    assert made["text"] in answer.out and 0 < made["tokens"] <= 800


def test_context_says_why(run: Run, talks: Path) -> None:
    said = run("context", "who painted it dark?", "--why", "--budget", "120").out
    assert "words" in said and " of 120 tokens: " in said


def test_context_within_a_budget(run: Run, talks: Path) -> None:
    assert run("context", "dark", "--budget", "5").out == ""
    assert run("context", "dark boat", "--memories", "0", "--excerpts", "1", "--json").json["tokens"] > 0
    kinds = [i["hit"]["type"] for i in run("context", "dark boat", "--excerpts", "0", "--json").json["items"]]
    assert set(kinds) == {"memory"}


def test_context_leaves_out_what_the_conversation_shows(run: Run, talks: Path) -> None:
    assert "painted it dark" not in run("context", "who painted it dark?", "-c", "garden").out


def test_context_that_is_switched_off_says_so(run: Run, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_CONTEXT", "off")
    answer = run("context", "dark")
    assert (answer.code, answer.out) == (0, "")
    assert "switched off" in answer.err


# -- the benchmark


def made_up() -> list[dict[str, Any]]:
    """Two dialogs in the form of LoCoMo."""

    def turn(session: int, number: int, speaker: str, text: str) -> dict[str, Any]:
        at = f"{session}:56 pm on {session + 7} May, 2023"
        return {"id": f"D{session}:{number}", "session": session, "at": at, "speaker": speaker, "text": text}

    first = [
        turn(1, 1, "Ana", "Which instrument did you learn at school?"),
        turn(1, 2, "Ben", "The bassoon, believe it or not."),
        turn(2, 1, "Ana", "I went to the dentist yesterday."),
        turn(2, 2, "Ben", "Poor you."),
    ]
    second = [turn(1, 1, "Cleo", "We keep a hedgehog."), turn(1, 2, "Dan", "Lovely! What is it called?")]
    return [
        {
            "id": "one", "speakers": ["Ana", "Ben"], "turns": first,
            "questions": [
                {"question": "Which instrument did Ben learn?", "evidence": ["D1:2"], "category": 4},
                {"question": "When did Ana go to the dentist?", "evidence": ["D2:1"], "category": 2},
                {"question": "Who is never spoken of?", "evidence": [], "category": 3},
            ],
        },
        {
            "id": "two", "speakers": ["Cleo", "Dan"], "turns": second,
            "questions": [{"question": "What pet does Cleo keep?", "evidence": ["D1:1"], "category": 4}],
        },
    ]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "made-up.json"
    file.write_text(json.dumps(made_up()), "utf-8")
    return file


@pytest.mark.parametrize("more", [[], ["--words-only"]])
def test_bench_counts(run: Run, data: Path, tmp_path: Path, own_store: Path, more: list[str]) -> None:
    misses = tmp_path / "misses.jsonl"
    made = run("bench", "locomo", "--data", str(data), "--misses", str(misses), "--json", *more).json
    assert (made["dialogs"], made["turns"], made["words_only"]) == (2, 6, bool(more))
    assert [(r["category"], r["questions"]) for r in made["results"]] == [
        ("2 temporal", 1),
        ("4 single-hop", 2),
        ("all", 3),
    ]
    for measure in locomo.MEASURES:
        assert made["results"][-1][measure] == 1.0, measure
    assert made["times_ms"]["search"]["p50"] <= made["times_ms"]["search"]["p95"]
    assert misses.read_text() == ""
    assert not own_store.exists(), "it has a store of its own"


def test_bench_prints_a_table_and_writes_every_miss(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locomo, "FIRST_TURNS", 0)
    monkeypatch.setenv("COLUMNS", "80")
    answer = run("bench", "locomo", "--data", str(data), "--misses", str(tmp_path / "m.jsonl"))
    assert answer.code == 0
    assert max(len(row) for row in answer.out.splitlines() if "m.jsonl" not in row) <= 80
    assert "0.000" in answer.out.split("all ")[1].splitlines()[0]
    missed = [json.loads(row) for row in (tmp_path / "m.jsonl").read_text("utf-8").splitlines()]
    assert [(m["dialog"], m["missed"][0]["id"]) for m in missed] == [("one", "D1:2"), ("one", "D2:1"), ("two", "D1:1")]


def test_bench_never_writes_the_data_into_a_repository(run: Run, data: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    answer = run("bench", "locomo", "--data", str(data), "--misses", str(repository / "misses.jsonl"))
    assert answer.code == 2 and "git repository" in answer.err
    assert not (repository / "misses.jsonl").exists()


def test_bench_follows_no_link_that_lies_among_the_temporary_files(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    shared, precious = tmp_path / "shared", tmp_path / "precious"
    shared.mkdir()
    precious.write_text("keep me")
    (shared / "recollect-locomo-misses.jsonl").symlink_to(precious)
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr(tempfile, "tempdir", None)
    answer = run("bench", "locomo", "--data", str(data), "--words-only", "--json")
    assert precious.read_text() == "keep me"
    made = Path(answer.json["misses"])
    assert made.is_file() and stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert made.parent.parent == shared.resolve()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.clear(), "a list of dialogs"),
        (lambda d: d[0]["turns"][0].pop("speaker"), "speaker"),
        (lambda d: d[0]["turns"][0].update(at="soon"), "soon"),
        (lambda d: d[0]["questions"][0].update(evidence=["D9:9"]), "not among the turns"),
        (lambda d: [x.update(questions=[]) for x in d], "no question"),
    ],
)
def test_bench_refuses_what_is_not_the_format(data: Path, change: Any, said: str) -> None:
    changed = made_up()
    change(changed)
    data.write_text(json.dumps(changed), "utf-8")
    with pytest.raises(InvalidInput, match=said):
        locomo.load(data)


def test_bench_of_another_kind(run: Run, data: Path, tmp_path: Path) -> None:
    assert run("bench", "other", "--data", str(data)).code == 2
    assert run("bench", "locomo", "--data", str(tmp_path / "nope.json")).code == 2
    assert run("-d", str(tmp_path / "x.db"), "bench", "locomo", "--data", str(data)).code == 2


def test_what_fits_is_taken_in_order_and_what_does_not_is_skipped() -> None:
    turns = [locomo.Turn(str(i), "1", 0, "Ana", "x" * size) for i, size in enumerate((35, 400, 35, 3))]
    assert [t.id for t in locomo.fitting(turns, 21)] == ["0", "2"]  # ten tokens each; the name counts
    assert [t.id for t in locomo.fitting(turns, 22)] == ["0", "2", "3"]


def test_times_are_read() -> None:
    assert locomo.moment("1:56 pm on 8 May, 2023") == 1_683_554_160_000
    assert locomo.moment("2023-05-08T13:56:00") == 1_683_554_160_000
    assert locomo.moment(5) == 5


def test_what_earlier_commands_left_is_learned_and_embedded_before_it_is_asked_for(run: Run) -> None:
    """Each command ended before its background work was done: nothing was remembered, and nothing found by meaning, for ever."""
    pytest.importorskip("wordllama")
    run("new", "--id", "c")
    run("append", "c", "Remember that I like tea")
    assert "Likes tea" in run("memories").out
    run("append", "c", "The car makes a strange noise")
    found = run("search", "vehicle trouble").out
    assert "strange noise" in found and "Other branches" not in found


def test_who_looks_under_the_wrong_name_is_told(run: Run, own_store: Path) -> None:
    with recollect.open(own_store, user="alex") as store:
        store.append(store.create("mine").id, role="user", text="I prefer dark mode")
    for command in (("search", "dark mode"), ("conversations",), ()):
        said = " ".join(run(*command).out.split())
        assert "conversations of alex, none of local" in said and "-u alex" in said, command
    assert "none of" not in run("-u", "alex", "search", "dark mode").out


def test_no_hint_leads_the_demo_into_a_store_of_ones_own(run: Run, tmp_path: Path) -> None:
    mine = str(tmp_path / "mine.db")
    run("-d", mine, "new")
    assert run("-d", mine, "delete", "@").code == 0
    for command in ((), ("conversations",)):
        said = run("-d", mine, *command).out
        assert "recollect demo" in said and "mine.db demo" not in said
