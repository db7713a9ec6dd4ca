"""Settings, in one place: arguments win over `RECOLLECT_*` variables, those over a TOML file, that over the defaults.

Each field below carries its own documentation; `docs/reference/settings.md` is made from it. The file is
`config.toml` in the user's configuration folder, or what `RECOLLECT_CONFIG` names; an unknown name in it is an error,
because a misspelt switch that is silently ignored is worse than none.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from .errors import SettingsError

PREFIX = "RECOLLECT_"


def _setting(default: Any, doc: str, *, low: int | None = None) -> Any:
    return field(default=default, metadata={"doc": doc, "low": low})


@dataclass(frozen=True)
class Settings:
    """What a store can be told. Every field is also an environment variable and a line of the TOML file."""

    database: str | None = _setting(
        None,
        "Where the store is: an absolute path, or a `postgresql://` address. Unset: `chat.db` in `data_dir`.",
    )
    user: str = _setting(
        "local", "The person whose conversations a handle sees, unless `open(user=...)` says otherwise."
    )
    data_dir: str | None = _setting(
        None, "An absolute folder for everything Recollect keeps. Unset: the platform's folder for user data."
    )
    enabled: bool = _setting(
        True, "Off: nothing is written to disk; the store works in memory and is gone when it is closed."
    )
    events: bool = _setting(True, "Record events of kind `event` (a workflow's own).")
    ledger: bool = _setting(True, "Record ledger snapshots.")
    reasoning_traces: bool = _setting(True, "Record reasoning traces.")
    summaries: bool = _setting(True, "Summarize long conversations in the background.")
    summary_threshold: int = _setting(
        20, "Summarize when more live messages than this are on a branch after an assistant's message.", low=1
    )
    summary_keep_recent: int = _setting(6, "How many of the newest messages stay as they are.", low=0)
    summary_delete: bool = _setting(
        False,
        "Delete messages once they are summarized, to save space. Reasoning and ledger stay; so does what another "
        "branch still shows.",
    )
    summary_timeout_ms: int = _setting(
        30_000, "How long a model may take for a summary before the extractive one is used.", low=1
    )
    artifacts_outside_workspace: bool = _setting(
        False, "Accept artifacts whose path lies outside their conversation's workspace."
    )
    background: bool = _setting(True, "Do queued work in a background thread. Off: it waits for `settle()`.")
    backup_every: int = _setting(
        0,
        "SQLite: make a backup every so many hours, as a background job, into `backups` beside the store. 0: never.",
        low=0,
    )
    backup_keep: int = _setting(7, "How many of those backups are kept; the oldest go first.", low=1)
    busy_timeout_ms: int = _setting(
        10_000, "SQLite: how long a write waits for another process before it fails with StoreBusy.", low=0
    )
    pool_min: int = _setting(1, "Postgres: connections kept open.", low=0)
    pool_max: int = _setting(10, "Postgres: most connections at once.", low=1)
    connect_timeout_ms: int = _setting(5_000, "Postgres: how long to wait for a connection.", low=1)
    statement_timeout_ms: int = _setting(30_000, "Postgres: how long one statement may run.", low=1)

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            low = f.metadata["low"]
            if isinstance(f.default, bool):
                if not isinstance(value, bool):
                    raise SettingsError(f"{f.name} must be true or false, not {value!r}.")
            elif isinstance(f.default, int):
                if not isinstance(value, int) or isinstance(value, bool):
                    raise SettingsError(f"{f.name} must be a whole number, not {value!r}.")
                if low is not None and value < low:
                    raise SettingsError(f"{f.name} must be at least {low}, not {value}.")
            elif value is not None and not isinstance(value, str):
                raise SettingsError(f"{f.name} must be text, not {value!r}.")
        if self.summary_keep_recent > self.summary_threshold:
            raise SettingsError(
                f"summary_keep_recent ({self.summary_keep_recent}) must not be larger than "
                f"summary_threshold ({self.summary_threshold})."
            )

    @classmethod
    def load(cls, **arguments: Any) -> "Settings":
        """Settings from the file, the environment and the arguments, the later ones winning. None means "not said"."""
        known = {f.name: f for f in fields(cls)}
        values: dict[str, Any] = {}
        path = config_file()
        if path.is_file():
            import tomllib

            try:
                values |= tomllib.loads(path.read_text("utf-8"))
            except (OSError, ValueError) as e:
                raise SettingsError(f"{path} cannot be read: {e}") from e
            for name in values:
                if name not in known:
                    raise SettingsError(f"{path}: there is no setting {name!r}. {_nearest(name, known)}")
        for variable, text in os.environ.items():
            name = variable.removeprefix(PREFIX).lower()
            if variable.startswith(PREFIX) and name in known:
                values[name] = _parse(variable, text, known[name].default)
        for name, value in arguments.items():
            if name not in known:
                raise SettingsError(f"There is no setting {name!r}. {_nearest(name, known)}")
            if value is not None:
                values[name] = value
        return cls(**values)

    def but(self, **changes: Any) -> "Settings":
        """The same settings with a few changed."""
        return replace(self, **changes)


def _parse(variable: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        value = {
            "1": True,
            "true": True,
            "on": True,
            "yes": True,
            "0": False,
            "false": False,
            "off": False,
            "no": False,
        }.get(text.strip().lower())
        if value is None:
            raise SettingsError(f"{variable} must be true or false, not {text!r}.")
        return value
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise SettingsError(f"{variable} must be a whole number, not {text!r}.") from None
    return text or None


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"Did you mean {near[0]!r}?" if near else "See docs/reference/settings.md."


def config_file() -> Path:
    """The TOML file, whether or not it is there."""
    named = os.environ.get("RECOLLECT_CONFIG")
    return Path(named) if named else Path(_folders()[0]) / "config.toml"


@cache
def _folders() -> tuple[str, str]:
    import platformdirs

    return platformdirs.user_config_dir("recollect", False), platformdirs.user_data_dir("recollect", False)


def data_dir(settings: Settings) -> Path:
    """The folder that hooks, commands, sidecar and application share, so that they open the same file."""
    if settings.data_dir is None:
        return Path(_folders()[1])
    return _absolute(settings.data_dir, "data_dir")


def database(settings: Settings) -> str | Path:
    """Where the settings say the store is: a `postgresql://` address or a path.

    A path in settings is read by programs started from anywhere, so only an absolute one means the same file to all of
    them. A path handed to `recollect.open()` does not come here: that is the caller's explicit choice.
    """
    if settings.database is None:
        folder = data_dir(settings)
        path = folder / "chat.db"
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise SettingsError(
                f"{path} is a link that leads out of the data folder, to {path.resolve()}. "
                "If that is what you want, set `database` to that absolute path."
            )
        return path
    if is_postgres(settings.database):
        return settings.database
    return _absolute(settings.database, "database")


def is_postgres(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


def _absolute(text: str, name: str) -> Path:
    hint = f"Give {name} as an absolute path, or leave it unset."
    path = Path(text.removeprefix("sqlite://")) if text.startswith("sqlite:///") else Path(text)
    if "\0" in text:
        raise SettingsError(f"{name} contains a NUL character. {hint}")
    if text.startswith("~"):
        raise SettingsError(
            f"{name} = {text!r}: `~` is not expanded in settings, programs disagree on whose home it is. {hint}"
        )
    if not path.is_absolute():
        raise SettingsError(f"{name} = {text!r} is relative: it would mean another file in every folder. {hint}")
    if ".." in path.parts:
        raise SettingsError(f"{name} = {text!r} contains `..`. {hint}")
    return path
