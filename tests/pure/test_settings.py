"""Settings: arguments over variables over the file over the defaults; paths that mean the same to every program."""

import ast
import inspect
import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import recollect
from recollect import config
from recollect.config import Settings
from recollect.errors import SettingsError


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    monkeypatch.setenv("RECOLLECT_CONFIG", str(file))
    return file


# -- the defaults


def test_the_defaults() -> None:
    s = Settings()
    assert (s.user, s.database, s.data_dir) == ("local", None, None)
    assert (s.summary_threshold, s.summary_keep_recent) == (20, 6)
    assert s.enabled and s.events and s.ledger and s.reasoning_traces
    assert not s.summary_delete


def test_every_setting_is_documented() -> None:
    """By the text below it."""
    (body,) = [n.body for n in ast.parse(inspect.getsource(config)).body if getattr(n, "name", "") == "Settings"]
    for field, doc in zip(body, [*body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(doc, ast.Expr), ast.unparse(field)
            assert str(ast.literal_eval(doc.value)).endswith("."), ast.unparse(field)


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError, match=r"'user': pass it to Settings\(...\) or open\(...\)$"):
        Settings().user = "kim"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match=r"'enable_ledger'. It is called 'ledger' here"):
        Settings().enable_ledger = True  # type: ignore[attr-defined]


# -- who wins


def test_file_variable_argument(toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml.write_text("summary_threshold = 30\nuser = 'from file'\nevents = false\n")
    assert Settings.load().summary_threshold == 30
    monkeypatch.setenv("RECOLLECT_SUMMARY_THRESHOLD", "40")
    assert Settings.load().summary_threshold == 40
    assert Settings.load(summary_threshold=50).summary_threshold == 50
    assert Settings.load().user == "from file"
    assert Settings.load().events is False


def test_none_means_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_SUMMARY_THRESHOLD", "40")
    assert Settings.load(summary_threshold=None).summary_threshold == 40


def test_open_takes_settings_as_keywords() -> None:
    with recollect.open(":memory:", user="alex", summary_threshold=7) as store:
        assert store.settings.summary_threshold == 7


def test_open_takes_a_settings_object_and_changes_to_it() -> None:
    base = Settings(summary_threshold=7, events=False)
    with recollect.open(":memory:", settings=base, summary_threshold=8) as store:
        assert (store.settings.summary_threshold, store.settings.events) == (8, False)


def test_the_user_of_open_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_USER", "from environment")
    with recollect.open(":memory:") as store:
        assert store.user == "from environment"
    with recollect.open(":memory:", user="kim") as store:
        assert store.user == "kim"


def test_an_empty_user_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_USER", "")
    with pytest.raises(recollect.RecollectError, match="user"):
        recollect.open(":memory:")


# -- names


@pytest.mark.parametrize("how", ["load", "open", "but", "open with settings"])
def test_an_unknown_setting_is_an_error_with_a_hint(how: str) -> None:
    with pytest.raises(SettingsError, match=r"no setting 'summary_treshold'.*'summary_threshold'"):
        if how == "load":
            Settings.load(summary_treshold=5)
        elif how == "open":
            recollect.open(":memory:", summary_treshold=5)
        elif how == "but":
            Settings().but(summary_treshold=5)
        else:
            recollect.open(":memory:", settings=Settings(), summary_treshold=5)


def test_an_unknown_setting_in_the_file_is_an_error(toml: Path) -> None:
    toml.write_text("evnts = false")
    with pytest.raises(SettingsError, match=r"config.toml.*'evnts'.*'events'"):
        Settings.load()


def test_a_table_in_the_file_is_an_error(toml: Path) -> None:
    toml.write_text("[recollect]\nevents = false")
    with pytest.raises(SettingsError, match="recollect"):
        Settings.load()


def test_other_variables_are_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_SOMETHING_ELSE", "x")
    monkeypatch.setenv("EVENTS", "off")
    assert Settings.load().events is True


# -- the file


def test_no_file_is_fine(toml: Path) -> None:
    assert Settings.load(data_dir=None).user == "local"


@pytest.mark.parametrize("content", [b"user = ", b"user = 'a'\nuser = 'b'", b"user = '\xff'"])
def test_a_broken_file_is_an_error_that_names_it(toml: Path, content: bytes) -> None:
    toml.write_bytes(content)
    with pytest.raises(SettingsError, match=r"config\.toml"):
        Settings.load()


@pytest.mark.parametrize("line", ["events = 1", "events = 'off'", "summary_threshold = true", "summary_threshold = '20'",
                                  "summary_threshold = 2.5", "user = 5", "database = true", "summary_threshold = 0"])  # fmt: skip
def test_a_value_of_the_wrong_type_is_an_error_that_names_it(toml: Path, line: str) -> None:
    toml.write_text(line)
    with pytest.raises(SettingsError, match=line.split()[0]):
        Settings.load()


def test_the_file_is_in_the_users_configuration_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOLLECT_CONFIG", raising=False)
    file = Path(config.config_file())
    assert file.is_absolute()
    assert file.name == "config.toml"
    assert "recollect" in file.parts


# -- variables


@pytest.mark.parametrize("text", ["1", "true", "TRUE", "on", "yes", " True "])
def test_true(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RECOLLECT_SUMMARY_DELETE", text)
    assert Settings.load().summary_delete is True


@pytest.mark.parametrize("text", ["0", "false", "off", "No", "FALSE"])
def test_false(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RECOLLECT_EVENTS", text)
    assert Settings.load().events is False


@pytest.mark.parametrize("text", ["", "maybe", "2", "t"])
def test_neither(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RECOLLECT_EVENTS", text)
    with pytest.raises(SettingsError, match="RECOLLECT_EVENTS must be true or false"):
        Settings.load()


@pytest.mark.parametrize("text", ["", "ten", "1.5", "0x10"])
def test_no_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RECOLLECT_SUMMARY_THRESHOLD", text)
    with pytest.raises(SettingsError, match="RECOLLECT_SUMMARY_THRESHOLD"):
        Settings.load()


# -- values


def test_bounds() -> None:
    with pytest.raises(SettingsError, match="summary_threshold must be at least 1"):
        Settings(summary_threshold=0)
    with pytest.raises(SettingsError, match="summary_keep_recent"):
        Settings(summary_keep_recent=-1)
    with pytest.raises(SettingsError, match="must not be larger"):
        Settings(summary_threshold=5, summary_keep_recent=6)
    assert Settings(summary_threshold=5, summary_keep_recent=5).summary_keep_recent == 5


# -- where the store is


def where(**settings: str) -> str:
    return str(config.database(Settings.load(**settings)))


def test_chat_db_in_the_data_folder(tmp_path: Path) -> None:
    assert where(data_dir=str(tmp_path)) == str(tmp_path / "chat.db")


def test_never_in_the_working_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RECOLLECT_DATA_DIR")
    monkeypatch.chdir(tmp_path)
    path = Path(where())
    assert path.is_absolute()
    assert not path.is_relative_to(tmp_path)


def test_opened_without_a_path_it_is_there(own_environment: Path) -> None:
    with recollect.open(user="alex") as store:
        store.create()
    assert (own_environment / "chat.db").is_file()


def test_an_absolute_path_is_the_users_choice(tmp_path: Path) -> None:
    assert where(database=str(tmp_path / "x" / "my.db")) == str(tmp_path / "x" / "my.db")
    assert where(database=f"sqlite://{tmp_path}/my.db") == str(tmp_path / "my.db")


def test_a_postgres_address_is_taken_as_it_is() -> None:
    for address in ("postgresql://u:p@h/db", "postgres://h/db"):
        assert where(database=address) == address


@pytest.mark.parametrize("name", ["database", "data_dir"])
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("~/chat.db", "`~` is not expanded"),
        ("~alex/chat.db", "`~` is not expanded"),
        ("chat.db", "relative"),
        ("./chat.db", "relative"),
        ("../chat.db", "relative"),
        ("/data/../etc/chat.db", r"`\.\.`"),
        ("/data/..", r"`\.\.`"),
        ("/data/a\0b", "NUL"),
    ],
)
def test_a_path_that_means_another_file_elsewhere_is_refused_with_the_reason(name: str, value: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as caught:
        where(**{name: value})
    assert name in str(caught.value)
    assert "absolute path" in str(caught.value)


def test_a_refused_path_is_refused_by_open_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError):
        recollect.open(user="alex", database="chat.db")
    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_data_folder_is_refused(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere.db"
    data.mkdir()
    (data / "chat.db").symlink_to(elsewhere)
    with pytest.raises(SettingsError, match=r"link that leads out.*elsewhere\.db"):
        recollect.open(user="alex", data_dir=str(data))
    assert not elsewhere.exists()
    elsewhere.write_bytes(b"")
    with pytest.raises(SettingsError, match="link"):
        recollect.open(user="alex", data_dir=str(data))
    assert elsewhere.read_bytes() == b""


@pytest.mark.parametrize("name", ["database", "checkpointer_database", "graph_store_database"])
def test_a_link_out_of_its_folder_is_refused_wherever_it_is_configured(tmp_path: Path, name: str) -> None:
    from recollect.config import Settings, database

    link, elsewhere = tmp_path / "data" / "mine.db", tmp_path / "elsewhere.db"
    link.parent.mkdir()
    link.symlink_to(elsewhere)
    with pytest.raises(SettingsError, match=rf"link that leads out of its folder.*set `{name}`"):
        database(Settings(**{name: str(link)}), name)
    link.unlink()
    link.symlink_to(link.with_name("real.db"))
    assert database(Settings(**{name: str(link)}), name) == str(link)


def test_a_link_within_the_data_folder_is_fine(tmp_path: Path) -> None:
    (tmp_path / "chat.db").symlink_to(tmp_path / "real.db")
    assert where(data_dir=str(tmp_path)) == str(tmp_path / "chat.db")


def test_a_data_folder_that_is_a_link_is_the_users_choice(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "real")
    with recollect.open(user="alex", data_dir=str(tmp_path / "data")) as store:
        store.create()
    assert (tmp_path / "real" / "chat.db").is_file()


def test_a_path_handed_to_open_is_the_callers_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path.home()
    home.mkdir(exist_ok=True)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    for given, there in (
        ("here.db", tmp_path / "sub" / "here.db"),
        ("../up.db", tmp_path / "up.db"),
        ("~/home.db", home / "home.db"),
        (Path("as path.db"), tmp_path / "sub" / "as path.db"),
        (f"sqlite://{tmp_path}/url.db", tmp_path / "url.db"),
    ):
        with recollect.open(given, user="alex") as store:
            store.create()
        assert there.is_file(), given


def test_what_is_equal_has_one_hash() -> None:
    tables = {"redact_patterns": {"badge": "ACME-.*", "x": "y"}, "retention_workspaces": {"/repo": "7"}}
    turned = {"redact_patterns": {"x": "y", "badge": "ACME-.*"}, "retention_workspaces": {"/repo": "7"}}
    some = Settings(user="kim", **tables)
    assert {some, Settings(user="kim", **turned)} == {some}
    assert {Settings(), Settings(), some} == {Settings(), some}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_device_in_the_place_of_the_file_stays_one(toml: Path) -> None:
    """RECOLLECT_CONFIG=/dev/null says that there are no settings; by root, the page put a file in the place of the device."""
    from recollect.ui import preferences

    os.mkfifo(toml)
    assert Settings.load().context
    with pytest.raises(SettingsError, match="no file"):
        preferences.save({"context": False})
    assert toml.is_fifo()


@pytest.mark.parametrize("said", ["none", "NONE", " None ", ""])
def test_no_model_is_said_in_a_word(toml: Path, said: str) -> None:
    toml.write_text(f'chat_model = "{said}"\n')
    assert Settings.load().chat_model is None
    assert Settings(chat_model="ollama:llama3.2").chat_model == "ollama:llama3.2"
