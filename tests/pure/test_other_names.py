"""Names of other systems: the error names ours, and the page for those who come from there shows them all."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect import config, other_names
from recollect.errors import InvalidInput, SettingsError

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "from-in-memory.md"


@pytest.fixture
def store() -> Iterator[recollect.Store]:
    with recollect.open(":memory:", user="alex", background=False) as opened:
        yield opened


@pytest.mark.parametrize("name", other_names.SETTINGS)
def test_a_setting_by_another_name_is_told_ours(name: str) -> None:
    ours = other_names.SETTINGS[name]
    assert ours in config.DEFAULTS and name not in config.DEFAULTS
    told = f"'{name}'.*It is called '{ours}' here"
    with pytest.raises(SettingsError, match=told):
        recollect.open(":memory:", **{name: "x"})
    with pytest.raises(TypeError, match=told):
        recollect.Settings(**{name: "x"})  # type: ignore[arg-type]


def test_a_variable_by_another_name_is_told_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("RECOLLECT_DB_PATH", "RECOLLECT_POSTGRES_DSN"):
        monkeypatch.setenv(variable, "x")
    monkeypatch.setenv("RECOLLECT_ENABLE_EVENT_SEQUENCING", "true")
    monkeypatch.setenv("RECOLLECT_ENABLE_LEDGER", "true")
    assert config.misspelt() == [
        "RECOLLECT_DB_PATH is no setting. It is called 'RECOLLECT_DATABASE' here.",
        "RECOLLECT_ENABLE_EVENT_SEQUENCING is no setting. Events are always numbered: leave it out.",
        "RECOLLECT_ENABLE_LEDGER is no setting. It is called 'RECOLLECT_LEDGER' here.",
        "RECOLLECT_POSTGRES_DSN is no setting. It is called 'RECOLLECT_DATABASE' here.",
    ]


@pytest.mark.parametrize("name", ["enable_everything", "redaction_path", "max_rows", "store_path"])
def test_nothing_is_guessed_that_is_not_near(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"settings\.md") as caught:
        recollect.open(":memory:", **{name: 1})
    assert "mean" not in str(caught.value)
    monkeypatch.setenv(f"RECOLLECT_{name.upper()}", "1")
    assert "mean" not in config.misspelt()[0]


@pytest.mark.parametrize("name", other_names.VERBS)
def test_a_verb_by_another_name_is_told_ours(store: recollect.Store, name: str) -> None:
    ours = other_names.VERBS[name].partition("(")[0]
    assert callable(getattr(store, ours))
    for of in (store, recollect.AsyncStore(store)):
        assert not hasattr(of, name)
        with pytest.raises(AttributeError) as caught:
            getattr(of, name)
        assert f"no attribute '{name}'. Call {other_names.VERBS[name]}." in str(caught.value)
        assert caught.value.obj is None  # so Python guesses nothing besides


def test_a_misspelt_verb_is_as_python_has_it(store: recollect.Store) -> None:
    with pytest.raises(AttributeError, match=r"^'Store' object has no attribute 'mesages'$") as caught:
        store.mesages("c")  # type: ignore[attr-defined]
    assert (caught.value.name, caught.value.obj) == ("mesages", store)  # which Python guesses `messages` from


def test_an_argument_by_another_name_is_told_ours(store: recollect.Store) -> None:
    with pytest.raises(TypeError, match=r"'conversation_id'. Pass id= for conversation_id.$"):
        store.create(conversation_id="c", metadata={"a": 1})  # type: ignore[call-arg]
    c = store.create("c", workflow_id="w").id
    with pytest.raises(TypeError, match=r"'from_sequence'. Pass after= .* for from_sequence.$"):
        store.read(c, from_sequence=10)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'conversation'.*first argument for conversation_id"):
        store.append(conversation_id=c, role="user", text="hi")  # type: ignore[call-arg]
    for verb in (store.read, store.messages, store.formatted_history, store.ledger, store.reasoning, store.get):
        with pytest.raises(TypeError, match="first argument for conversation_id"):
            verb(conversation_id=c)  # type: ignore[operator]
    with pytest.raises(InvalidInput, match=r"Pass text= for content, nothing .* for emit_event"):
        store.append(c, role="user", content="hi", emit_event=False)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match=r"Pass create\(workflow_id=\) for workflow_id\.$"):
        store.append(c, role="user", text="hi", workflow_id="w")  # type: ignore[call-arg]


def test_other_type_errors_are_as_they_were(store: recollect.Store) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nonsense'$"):
        store.read("c", nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^within$"):
        _within(conversation_id="c")


@other_names.says_ours
def _within(**given: str) -> None:
    raise TypeError("within")


def test_a_verb_still_says_its_own_arguments() -> None:
    assert "after" in inspect.signature(recollect.Store.read).parameters


@pytest.mark.parametrize("name", other_names.NAMES)
def test_a_name_of_another_package_is_told_ours(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'. Call recollect\\."):
        getattr(recollect, name)


def test_the_page_shows_every_name() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    for table in (
        other_names.SETTINGS,
        other_names.NEEDLESS,
        other_names.VERBS,
        other_names.ARGUMENTS,
        other_names.NAMES,
    ):
        for name, ours in table.items():
            word = ours.replace("recollect.", "").split("(")[0].split("=")[0].split(" ")[0]
            assert any(f"`{name}`" in row.split("|")[1] and word in row.split("|")[2] for row in rows), name
