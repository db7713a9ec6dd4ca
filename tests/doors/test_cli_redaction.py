"""recollect redact, recollect scan: what would be replaced, what is stored already; no secret on any screen."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path

import pytest
from console import Answer, Run, flat

import recollect
from recollect.cli import output

draw = random.Random(7)


def noise(length: int) -> str:
    return "".join(draw.choice(string.ascii_letters + string.digits) for _ in range(length))


TOKEN, PASSWORD = "ghp_" + noise(36), noise(18)
TEXT = f"""Deploy with
export GITHUB_TOKEN={TOKEN}
from https://bot:{PASSWORD}@git.example.com or https://bot:{PASSWORD}@git.example.org
"""


def silent(answer: Answer) -> Answer:
    """An answer, once it is known that it has no secret in it."""
    for said in (answer.out, answer.err):
        for secret in (TOKEN, PASSWORD):
            assert not any(secret[i : i + 10] in said for i in range(len(secret) - 10))
    return answer


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "notes.txt"
    path.write_text(TEXT, "utf-8")
    return str(path)


# -- redact ------------------------------------------------------------------------------------------------------------


def test_a_folder_is_no_text(run: Run, tmp_path: Path) -> None:
    answer = run("redact", str(tmp_path))
    assert (answer.code, "is a folder" in flat(answer.err)) == (2, True)


def test_a_text_in_place_of_a_file_is_told_how(run: Run) -> None:
    answer = run("redact", "my key is here")
    assert answer.code == 3
    assert "pipe it in" in flat(answer.err)


def test_it_says_what_and_where(run: Run, file: str) -> None:
    answer = silent(run("redact", file))
    assert answer.code == 0
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["Family", "Line", "Column", "Count"] in rows
    assert ["github-token", "2", "21", "1"] in rows
    assert ["url-password", "3", "18", "2"] in rows
    assert "3 secrets in 3 lines would be replaced." in answer.out
    assert "Deploy" not in answer.out


def test_it_shows_the_text_as_it_would_be_stored(run: Run, file: str) -> None:
    answer = silent(run("redact", file, "--show"))
    assert answer.out == TEXT.replace(TOKEN, "[redacted:github-token]").replace(PASSWORD, "[redacted:url-password]")
    assert "Family" in answer.err and "3 secrets in 3 lines would be replaced." in answer.err, (
        "below it, and not in a file"
    )


def test_as_json(run: Run, file: str) -> None:
    found = silent(run("redact", file, "--json")).json
    assert list(found) == ["findings"]
    assert found["findings"][0] == {
        "family": "github-token", "line": 2, "column": 21, "start": TEXT.index(TOKEN), "end": TEXT.index(TOKEN) + len(TOKEN),
    }  # fmt: skip
    assert [(f["line"], f["column"]) for f in found["findings"]] == [(2, 21), (3, 18), (3, 18 + len(PASSWORD) + 32)]
    assert "[redacted:github-token]" in silent(run("redact", file, "--json", "--show")).json["text"]


@pytest.mark.parametrize("arguments", [["redact"], ["redact", "-"]])
def test_from_standard_input(run: Run, arguments: list[str]) -> None:
    assert "3 secrets" in silent(run(*arguments, stdin=TEXT)).out
    assert run(*arguments, stdin="Nothing here.\nNor here.").out == "No secrets in 2 lines.\n"
    assert run(*arguments, stdin="").out == "No secrets in 0 lines.\n"
    assert run(*arguments, "--json", stdin="").json == {"findings": []}


def test_the_settings_say_what_is_a_secret(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('redact_off = ["github-token"]\n[redact_patterns]\nbadge = "ACME-[0-9]+"\n')
    found = run("redact", "--json", stdin=f"ACME-1234 {TOKEN} https://bot:{PASSWORD}@x.com").json["findings"]
    assert [f["family"] for f in found] == ["badge", "url-password"]
    (tmp_path / "config.toml").write_text('redact_off = ["github-tokens"]\n')
    assert run("redact", stdin="x").code == 2
    (tmp_path / "config.toml").write_text("redact = false\n")
    off = silent(run("redact", stdin=TEXT))
    assert "3 secrets" in off.out
    assert "redaction is off in the settings" in flat(off.err)


def test_a_file_that_is_no_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff")
    answer = run("redact", str(tmp_path / "picture"))
    assert answer.code == 2
    assert "is not UTF-8" in flat(answer.err)
    assert run("redact", str(tmp_path / "none")).code == 3


def test_it_touches_no_store(run: Run, file: str, own_store: Path) -> None:
    run("redact", file)
    assert not own_store.parent.exists()


def test_controls_do_nothing_to_a_terminal(run: Run) -> None:
    answer = run("redact", "--show", stdin=f"\x1b[2J{TOKEN}")
    assert "\x1b" not in answer.out


# -- scan --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def careless(own_store: Path) -> Path:
    """What two people recorded before redaction."""
    with recollect.open(own_store, user="local", redact=False, background=False) as store:
        store.create("deploy", title="Deploying")
        store.append_many("deploy", [{"role": "user", "text": "hi"}, {"role": "user", "text": TEXT}])
        store.create("named", title=f"About {TOKEN}")
        store.append("named", role="user", text=f"It is {TOKEN}")
        store.create("binned", title="Old")
        store.append("binned", role="user", text=TEXT)
        store.delete("binned")
        kim = store.for_user("kim")
        kim.append(kim.create("hers", title="Hers").id, role="user", text=TEXT)
    return own_store


def held(store: Path) -> bool:
    return any(TOKEN.encode() in f.read_bytes() for f in store.parent.glob("chat.db*"))


def test_an_empty_store_has_nothing_to_look_at(run: Run, own_store: Path) -> None:
    for arguments in ([], ["--fix"], ["--all-users"]):
        answer = run("scan", *arguments)
        assert answer.code == 0
        assert "Nothing to look at" in answer.out
    assert not own_store.exists()


def test_a_clean_store(run: Run, trip: str) -> None:
    answer = run("scan")
    assert (answer.code, answer.out) == (
        0,
        f"No secrets: 3 events of local in {Path(answer.out.split(' in ')[1][:-2])}.\n",
    )
    assert run("scan", "--fix").code == 0, "there is nothing to ask about"
    assert run("scan", "--json").json == {"events": 3, "places": [], "fixed": False, "user_ids": [], "clean": True}


def test_what_is_found(run: Run, careless: Path) -> None:
    answer = silent(run("scan"))
    assert answer.code == output.SECRETS_FOUND == 7
    rows = [flat(line) for line in answer.out.splitlines()]
    assert "github-token Deploying #2" in rows
    assert "url-password Deploying #2" in rows
    assert "github-token Old #1" in rows
    assert "github-token named its title, metadata, names or memories, #1" in rows
    assert "Secrets in 4 places of 3 conversations; 4 events looked at." in rows
    assert "recollect scan --fix" in answer.out
    assert held(careless), "looking changes nothing"


def test_a_memory_is_not_called_a_conversation(run: Run, careless: Path) -> None:
    """It was found in `its title, metadata or names`, of one conversation more than there are."""
    with recollect.open(careless, redact=False, background=False) as store:
        store.remember(f"The deploy key is {TOKEN}")
    rows = [flat(line) for line in silent(run("scan")).out.splitlines()]
    assert "github-token – a memory or another record of no conversation" in rows
    assert "Secrets in 5 places of 3 conversations and what belongs to none; 4 events looked at." in rows


def test_what_is_found_as_json(run: Run, careless: Path) -> None:
    answer = silent(run("scan", "--json"))
    assert answer.code == 7
    assert (answer.json["events"], answer.json["fixed"], answer.json["clean"]) == (4, False, False)
    assert answer.json["places"][0] == {
        "user": "local", "title": "Deploying", "conversation_id": "deploy", "seq": 2, "families": ["github-token", "url-password"],
    }  # fmt: skip
    assert [p["title"] for p in answer.json["places"] if p["conversation_id"] == "named"] == [None, None]


def test_it_asks_before_it_replaces(run: Run, careless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = silent(run("scan", "--fix"))
    assert alone.code == 2
    assert "--yes" in alone.err
    assert held(careless)
    monkeypatch.setattr(output, "is_interactive", lambda: True)
    no = silent(run("scan", "--fix", stdin="n\n"))
    assert no.code == output.INTERRUPTED
    assert "Replace what is in 4 places by markers, for good?" in flat(no.err)
    assert held(careless)
    done = silent(run("scan", "--fix", stdin="y\n"))
    assert done.code == 0
    assert "Replaced by markers in 4 places." in done.out
    assert "No secrets" in silent(run("scan")).out


def test_what_was_replaced_is_gone(run: Run, careless: Path) -> None:
    assert silent(run("scan", "--fix", "--yes", "--all-users")).code == 0
    assert not held(careless)
    assert run("doctor").code == 0
    shown = silent(run("replay", "deploy", "--json")).json
    assert shown[1]["tags"] == ["sensitive"]
    assert "[redacted:github-token]" in shown[1]["text"]
    assert silent(run("scan", "--fix", "-y", "--json")).json["places"] == []


def test_everyone_or_only_one(run: Run, careless: Path) -> None:
    mine = silent(run("scan", "--fix", "--yes", "--json")).json
    assert (mine["fixed"], mine["clean"], {p["user"] for p in mine["places"]}) == (True, True, {"local"})
    everyone = silent(run("scan", "--all-users"))
    assert everyone.code == 7
    assert "github-token kim Hers #1" in [flat(line) for line in everyone.out.splitlines()]
    assert "recollect scan --fix --all-users" in everyone.out
    assert silent(run("-u", "kim", "scan")).code == 7
    assert silent(run("scan", "--all-users", "--fix", "-y", "--json")).json["places"][0]["user"] == "kim"
    assert silent(run("scan", "--all-users", "--json")).json["clean"] is True


def test_backups_are_older_than_the_fix(run: Run, careless: Path) -> None:
    assert run("backup").code == 0
    answer = silent(run("scan", "--fix", "--yes"))
    assert "1 backup may still hold them" in flat(answer.err)


def test_with_redaction_off_it_looks_all_the_same(run: Run, careless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_REDACT", "off")
    assert silent(run("scan")).code == 7
    answer = silent(run("scan", "--fix", "--yes"))
    assert answer.code == 0
    assert "redaction is off in the settings" in flat(answer.err)


def test_a_user_who_is_a_secret(run: Run, own_store: Path) -> None:
    with recollect.open(own_store, user=TOKEN, redact=False) as store:
        store.append(store.create().id, role="user", text="hi")
    answer = silent(run("scan", "--all-users"))
    assert answer.code == 7
    assert "a user's id holds a secret (github-token)" in flat(answer.err)
    assert silent(run("scan", "--all-users", "--json")).json["user_ids"] == ["github-token"]


def test_on_each_database(run: Run, url: str) -> None:
    with recollect.open(url, user="local", redact=False) as store:
        store.append(store.create("deploy", title="Deploying").id, role="user", text=TEXT)
    assert silent(run("-d", url, "scan")).code == 7
    assert silent(run("-d", url, "scan", "--fix", "--yes", "--all-users")).code == 0
    assert silent(run("-d", url, "scan")).code == 0


def test_help(run: Run) -> None:
    for name in ("redact", "scan"):
        assert run(name, "--help").code == 0
    assert "7 secrets are stored" in flat(run("--help").out)
    assert "Ends with 7" in flat(run("scan", "--help").out)


# -- what other commands say -------------------------------------------------------------------------------------------


def test_no_command_echoes_a_secret(run: Run, trip: str) -> None:
    """What is appended by hand, and what is got wrong by hand."""
    assert (
        silent(
            run(
                "append",
                trip,
                TEXT,
                "--tag",
                TOKEN,
                "--payload",
                json.dumps({TOKEN: 1, "password": PASSWORD, "u": TEXT}),
            )
        ).code
        == 0
    )
    assert silent(run("append", trip, "x", "--kind", TOKEN)).code == 2
    assert silent(run("new", "--id", TOKEN)).code == 2
    assert silent(run("new", "-u", TOKEN)).code == 2
    assert silent(run("new", f"About {TOKEN}")).code == 0
    assert silent(run("show", TOKEN)).code == 3
    assert silent(run("rename", trip, TOKEN)).code == 0
    assert silent(run("fork", trip, "--name", TOKEN)).code == 2
    assert silent(run("record", trip, json.dumps({"type": "x", "data": {"message": TEXT}}))).code == 0
    for command in (
        ["replay", trip, "--full"],
        ["show", trip, "--all"],
        ["conversations"],
        ["history", trip],
        ["stats", "--by", "tool"],
    ):
        assert silent(run(*command)).code == 0
    assert run("scan").code == 0


def test_an_unexpected_error_does_not_either(capsys: pytest.CaptureFixture[str]) -> None:
    assert output.fail(RuntimeError(f"cannot reach https://bot:{PASSWORD}@x.com with {TOKEN}")) == 1
    silent(Answer(1, "", capsys.readouterr().err))
