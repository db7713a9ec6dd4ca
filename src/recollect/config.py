"""Settings, in one place: arguments win over `RECOLLECT_*` variables, those over a TOML file, that over the defaults.

Each field below carries its own documentation; `docs/reference/settings.md` is made from it. The file is
`config.toml` in the user's configuration folder, or what `RECOLLECT_CONFIG` names; an unknown name in it is an error,
because a misspelt switch that is silently ignored is worse than none.
"""

from __future__ import annotations

import os
import sys

from .errors import SettingsError
from .light import dataclass
from .other_names import TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PREFIX = "RECOLLECT_"


_LOWEST = {
    "summary_threshold": 1,
    "summary_keep_recent": 0,
    "summary_timeout_ms": 1,
    "backup_every": 0,
    "backup_keep": 1,
    "max_event_bytes": 1000,
    "busy_timeout_ms": 0,
    "context_memories": 0,
    "context_excerpts": 0,
    "checkpoint_keep": 0,
    "checkpoint_days": 0,
    "history_timeout_ms": 1,
    "history_retry_after_ms": 0,
    "pool_min": 0,
    "pool_max": 1,
    "connect_timeout_ms": 1,
    "statement_timeout_ms": 1,
    "memory_low_importance_ttl_days": 1,
    "memory_max_items_per_namespace": 1,
    "memory_max_candidates_per_turn": 0,
    "memory_neighbours": 1,
    "retention_days": 0,
    "retention_application_days": 0,
    "hook_extract_every": 0,
    "telemetry_max_bytes": 1000,
    "telemetry_keep": 1,
}
_TELEMETRY = {True: "on", False: "off", "true": "on", "false": "off", "yes": "on", "no": "off", "1": "on", "0": "off"}
_BETWEEN = {
    "memory_similarity_threshold": (0.0, 1.0),
    "memory_low_importance_threshold": (0.0, 1.0),
    "memory_extract_timeout": (0.001, 3600.0),
}


@dataclass(frozen=True)
class Settings:
    """What a store can be told. Every field is also an environment variable and a line of the TOML file."""

    database: str | None = None
    """Where the store is: an absolute path, or a `postgresql://` address. Unset: `chat.db` in `data_dir`."""
    backend: str | None = None
    """`sqlite` or `postgres`, in any case: what `database` must then be. Unset: what `database` says."""
    user: str = "local"
    """The person whose conversations a handle sees, unless `open(user=...)` says otherwise."""
    data_dir: str | None = None
    """An absolute folder for everything Recollect keeps. Unset: the platform's folder for user data."""
    enabled: bool = True
    """Off: nothing is written to disk; the store works in memory and is gone when it is closed."""
    events: bool = True
    """Record events of kind `event` (a workflow's own)."""
    ledger: bool = True
    """Record ledger snapshots."""
    reasoning_traces: bool = True
    """Record reasoning traces."""
    summaries: bool = True
    """Summarize long conversations in the background."""
    summary_threshold: int = 20
    """Summarize when an assistant's message brings the live messages of a branch to this number."""
    summary_keep_recent: int = 6
    """How many of the newest messages stay as they are."""
    summary_delete: bool = False
    """Delete messages once they are summarized, to save space. Reasoning and ledger stay; so do a bot's chats (`AgentNode`) and what another branch still shows."""
    summary_timeout_ms: int = 30_000
    """How long a model may take for a summary before the extractive one is used."""
    artifacts_outside_workspace: bool = False
    """Accept artifacts whose path lies outside their conversation's workspace."""
    max_event_bytes: int = 64_000_000
    """An event, an item or a memory with more text than this (in UTF-8: text, payload, reasoning and diff together) is refused."""
    index_outside_workspace: bool = False
    """Let searches find events that name a path outside their conversation's workspace. Off: they are kept, and read back, but not found."""
    semantic: bool = True
    """Search by meaning too, where the extra `semantic` is installed or an embedder was passed in. Off: by words alone."""
    allow_hosts: tuple[str, ...] = ()
    """Hosts that something may be sent to, by an embedder for one: `host` or `host:port`, each in full. This machine is always allowed."""
    chat_model: str | None = None
    """The language model that answers in the chat, by LangChain's name for it: `ollama:llama3.2`. Unset, or `none`: answers come from memory alone."""
    chat_model_url: str | None = None
    """Where that model is asked, if not at its provider's own address: `http://localhost:11434`. Other machines need `allow_hosts`."""
    context: bool = True
    """Off: `context()` hands out nothing."""
    context_sensitive: bool = False
    """Hand out also what had a secret in it; the secret itself was replaced before it was stored."""
    context_memories: int = 5
    """Most memories in a context."""
    context_excerpts: int = 3
    """Most excerpts in a context; an excerpt quotes from one sitting of one conversation."""
    memory_model: str | None = None
    """The language model that looks for memories in what the user says, beside the rules, in `serve`, hooks and the command line: LangChain's name for it. Unset: `chat_model`; `none`: the rules alone."""
    memory_extract: bool = True
    """Look for memories in what is said, in the background after turns. Off: only `remember()` and `consolidate()` make any."""
    memory_extract_timeout: float = 1.0
    """How many seconds a model may take for one turn before the rules are used instead. One that took longer is not asked again for a minute."""
    memory_max_candidates_per_turn: int = 8
    """Most memories that one turn may offer."""
    memory_neighbours: int = 10
    """With how many of the nearest memories of its scope a new statement is compared."""
    memory_similarity_threshold: float = 0.85
    """From this likeness (0 to 1) on, two statements that say nothing else may be the same."""
    memory_low_importance_threshold: float = 0.3
    """Memories that were extracted and are less important than this expire."""
    memory_low_importance_ttl_days: int = 14
    """After so many days, unless they are said again."""
    memory_max_items_per_namespace: int = 200
    """Most memories learned in one scope. The least important go, then the oldest. What was pinned, written by hand or put by a graph is not counted."""
    memory_promote: tuple[str, ...] = ()
    """Roles besides the user (`assistant`, `tool`, `system`) whose statements become memories without anyone looking at them."""
    retention_days: int = 90
    """What hooks recorded, or somebody over HTTP, expires after so many days, each event by its own age. 0: never."""
    retention_application_days: int = 0
    """Conversations of the application and LangGraph expire after so many days without activity. 0: never."""
    retention_workspaces: Mapping[str, str] = {}
    """Other numbers of days for some workspaces: workspace -> days, for all its conversations. 0: never."""
    hook_extract_every: int = 25
    """Hooks of coding agents look for memories at the end of a turn, and after so many uses of tools within one. 0: only at the end."""
    redact: bool = True
    """Replace secrets by markers before anything is written."""
    redact_off: tuple[str, ...] = ()
    """Families of secrets that are let through, by name (`docs/redaction-quality.md` lists them)."""
    redact_allow: tuple[str, ...] = ()
    """Values that are no secrets: each a literal, or a pattern that matches the whole value."""
    redact_patterns: Mapping[str, str] = {}
    """Secrets of your own: name -> pattern (RE2 syntax); its first group, or all of it, is replaced."""
    redact_bare_hex: bool = False
    """Replace bare hex of 16 digits or more too, unless its surroundings call it a commit, a hash, an id or the like. Some of what it takes is harmless (`docs/how-to/redaction.md`)."""
    redact_state: str = "messages"
    """What of a graph's state is redacted: the text of its `messages`, `all` of its texts, or `none`. The log always is. With `messages`, tool arguments, other channels, interrupts and exceptions are stored as they are; with `all`, a node, channel or task whose name holds a secret is refused."""
    message_channels: tuple[str, ...] = ("messages",)
    """The channels of a graph's state whose messages come into the log."""
    log_encrypted_state: bool = False
    """Let the messages of a graph reach the log, in the clear, although its state is encrypted by its serializer."""
    checkpoint_keep: int = 0
    """Keep so many of the newest checkpoints of each branch; older ones go in the background. 0: all of them."""
    checkpoint_days: int = 0
    """Keep checkpoints for so many days; with `checkpoint_keep`, whichever keeps more. 0: for ever."""
    checkpointer_database: str | None = None
    """Where `recollect.langgraph.create_checkpointer` and `persistence` keep checkpoints: a path or an address. Unset: `database`."""
    checkpointer_backend: str | None = None
    """`sqlite` or `postgres`: what `checkpointer_database` must then be. Unset: what it says."""
    graph_store_database: str | None = None
    """Where `recollect.langgraph.create_graph_store` and `persistence` keep a graph's items: a path or an address. Unset: `database`."""
    graph_store_backend: str | None = None
    """`sqlite` or `postgres`: what `graph_store_database` must then be. Unset: what it says."""
    graph_store: bool = True
    """Off: `recollect.langgraph.persistence` gives graphs a checkpointer and no store."""
    history_timeout_ms: int = 2000
    """How long a run of an `AgentNode` waits for its chat's history, over all its reads and writes."""
    history_retry_after_ms: int = 10_000
    """After a failure no run asks for a history until so much time has passed; then one run tries again."""
    background: bool = True
    """Do queued work in a background thread. Off: it waits for `settle()`."""
    backup_every: int = 0
    """SQLite: make a backup every so many hours, as a background job, into `backups` beside the store. 0: never."""
    backup_keep: int = 7
    """How many of those backups are kept; the oldest go first."""
    telemetry: str = "auto"
    """Write what happened, never what was said, into files in the folder `telemetry` of `data_dir`: `on`, `off`, or `auto`, which is on for the store that the settings name and off for one that a program opens by a path or address of its own. Nothing is sent anywhere (`docs/how-to/observability.md`)."""
    telemetry_plain_ids: bool = False
    """Write ids there, and into spans, as they are. Off: as pseudonyms, made with a key that stays in that folder."""
    telemetry_max_bytes: int = 1_000_000
    """How large such a file may get before another is begun."""
    telemetry_keep: int = 5
    """How many of them are kept, the newest included; the oldest go first."""
    opentelemetry: bool = False
    """Make spans for the tracer provider that the program has configured. Needs the extra `otel`; exports nothing by itself."""
    key_file: str | None = None
    """SQLite: the file that holds the key of an encrypted store (an absolute path, mode 0600). A new store is encrypted with it."""
    busy_timeout_ms: int = 10_000
    """SQLite: how long a write waits for another process before it fails with StoreBusy."""
    pool_min: int = 1
    """Postgres: connections kept open."""
    pool_max: int = 10
    """Postgres: most connections at once."""
    connect_timeout_ms: int = 5000
    """Postgres: how long to wait for a connection."""
    statement_timeout_ms: int = 30_000
    """Postgres: how long one statement may run."""

    def __hash__(self) -> int:
        # Two of them are tables, which have no hash of their own; what is equal has the same.
        values = (getattr(self, name) for name in DEFAULTS)
        return hash(tuple(frozenset(v.items()) if isinstance(v, dict) else v for v in values))

    def __post_init__(self) -> None:
        said = self.telemetry.strip().casefold() if isinstance(self.telemetry, str) else self.telemetry
        self.__dict__["telemetry"] = _TELEMETRY.get(said, said)  # a switch may be written as one
        if self.telemetry not in ("auto", "on", "off"):
            raise SettingsError(f"telemetry must be auto, on or off, not {self.telemetry!r}.")
        for name in DEFAULTS:
            value, default = getattr(self, name), DEFAULTS[name]
            if isinstance(default, bool):
                if not isinstance(value, bool):
                    raise SettingsError(f"{name} must be true or false, not {value!r}.")
            elif isinstance(default, int):
                if not isinstance(value, int) or isinstance(value, bool):
                    raise SettingsError(f"{name} must be a whole number, not {value!r}.")
                if value < _LOWEST[name]:
                    raise SettingsError(f"{name} must be at least {_LOWEST[name]}, not {value}.")
            elif isinstance(default, float):
                if not isinstance(value, (int, float)) or isinstance(value, bool):
                    raise SettingsError(f"{name} must be a number, not {value!r}.")
                low, high = _BETWEEN[name]
                if not low <= value <= high:
                    raise SettingsError(f"{name} must be from {low:g} to {high:g}, not {value:g}.")
                self.__dict__[name] = float(value)
            elif isinstance(default, tuple):
                if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                    raise SettingsError(f"{name} must be a list of texts, not {value!r}.")
                self.__dict__[name] = tuple(value)
            elif isinstance(default, dict):
                if name == "retention_workspaces" and isinstance(value, dict):  # `"/work" = 30` as well as "30"
                    numbers = {key: str(item) for key, item in value.items() if type(item) is int}
                    self.__dict__[name] = value = {**value, **numbers}
                if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
                    raise SettingsError(f"{name} must be a table of texts, not {value!r}.")
            elif value is not None and not isinstance(value, str):
                raise SettingsError(f"{name} must be text, not {value!r}.")
        for workspace, days in self.retention_workspaces.items():
            if not days.strip().isdecimal():
                raise SettingsError(f"retention_workspaces: {workspace!r} must have a number of days, not {days!r}.")
        if self.redact_state not in ("messages", "all", "none"):
            raise SettingsError(f"redact_state must be messages, all or none, not {self.redact_state!r}.")
        if self.chat_model is not None and self.chat_model.strip().casefold() in ("", "none"):
            self.__dict__["chat_model"] = None  # as `recollect chat --model none` says it
        for name in ("backend", "checkpointer_backend", "graph_store_backend"):
            kind = getattr(self, name)
            if kind is not None:
                self.__dict__[name] = kind = kind.strip().casefold()
                if kind not in ("sqlite", "postgres"):
                    raise SettingsError(f"{name} = {kind!r}: choose sqlite or postgres.")
        if self.pool_min > self.pool_max:
            raise SettingsError(f"pool_min ({self.pool_min}) must not be larger than pool_max ({self.pool_max}).")
        if self.summary_keep_recent > self.summary_threshold:
            raise SettingsError(
                f"summary_keep_recent ({self.summary_keep_recent}) must not be larger than "
                f"summary_threshold ({self.summary_threshold})."
            )

    @classmethod
    def load(cls, **arguments: Any) -> Settings:
        """Settings from the file, the environment and the arguments, the later ones winning. None means "not said"."""
        return cls(**_values(arguments))

    @classmethod
    def usable(cls, **arguments: Any) -> tuple[Settings, list[str]]:
        """As `load`, with the default in the place of each setting that has a wrong value in the file or the environment; and what is
        wrong with these. For hooks: they record, and somebody else says what is to be mended."""
        problems: list[str] = []
        values = _values(arguments, problems)
        while True:
            try:
                return cls(**values), problems
            except SettingsError as e:
                import re  # hooks live without it

                problems.append(str(e))
                named = re.findall(r"^\w+|\w+(?= \(\d)", str(e))
                wrong = [name for name in values if name in named and name not in arguments]
                if not wrong:
                    raise
                for name in wrong:
                    del values[name]

    @staticmethod
    def _instead(name: str) -> str:
        """What to do instead of assigning to a setting, or passing one that there is not."""
        return ": pass it to Settings(...) or open(...)" if name in DEFAULTS else f". {_nearest(name)}"

    def but(self, **changes: Any) -> Settings:
        """The same settings with a few changed."""
        for name in changes:
            if name not in DEFAULTS:
                raise SettingsError(f"There is no setting {name!r}. {_nearest(name)}")
        return Settings(**{**self.__dict__, **changes})


DEFAULTS: dict[str, Any] = {name: Settings.__dict__[name] for name in Settings.__annotations__}


def _values(arguments: Mapping[str, Any], problems: list[str] | None = None) -> dict[str, Any]:
    """What the file, the environment and the arguments say. With `problems`, what cannot be used is left out and noted there."""
    values: dict[str, Any] = {}

    def wrong(text: str) -> None:
        if problems is None:
            raise SettingsError(text)
        problems.append(text)

    path = config_file()
    if os.path.isfile(path):
        import tomllib

        try:
            with open(path, "rb") as f:
                values |= tomllib.load(f)
        except (OSError, ValueError) as e:
            raise SettingsError(f"{path} cannot be read: {e}") from e
        for name in list(values):
            if name not in DEFAULTS:
                wrong(f"{path}: there is no setting {name!r}. {_nearest(name)}")
                del values[name]
    said: dict[str, tuple[str, Any]] = {}
    for variable, text in os.environ.items():
        name = variable.removeprefix(PREFIX).lower()
        name = TAKEN.get(name, name)
        if variable.startswith(PREFIX) and name in DEFAULTS:
            try:
                values[name] = value = _parse(variable, text, DEFAULTS[name])
                other, before = said.setdefault(name, (variable, value))
                if before != value:
                    raise SettingsError(
                        f"{other} and {variable} are the same setting and say two things: remove one of them."
                    )
            except SettingsError as e:
                wrong(str(e))
                values.pop(name, None)
    for name, value in arguments.items():
        if name not in DEFAULTS:
            raise SettingsError(f"There is no setting {name!r}. {_nearest(name)}")
        if value is not None:
            values[name] = value
    return values


OTHER_VARIABLES = ("RECOLLECT_CONFIG", "RECOLLECT_DEBUG")


def misspelt() -> list[str]:
    """What is wrong with the names of the `RECOLLECT_*` variables: they cannot be refused, since others may have theirs."""
    known = [*OTHER_VARIABLES, *[PREFIX + name.upper() for name in (*DEFAULTS, *TAKEN)]]
    return [
        f"{variable} is no setting. {_nearest(variable)}"
        for variable in sorted(os.environ)
        if variable.startswith(PREFIX) and variable not in known and not variable.startswith("RECOLLECT_TEST_")
    ]


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
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise SettingsError(f"{variable} must be a number, not {text!r}.") from None
    if isinstance(default, tuple):
        return tuple(item.strip() for item in text.split(",") if item.strip())
    if isinstance(default, dict):
        import json

        try:
            return json.loads(text or "{}")
        except ValueError:
            raise SettingsError(f'{variable} must be a JSON object such as {{"name": "pattern"}}.') from None
    return text or (None if default is None else text)


def _nearest(name: str) -> str:
    """Which setting or variable is meant: as another system calls it, else the one that is a slip of the hand away."""
    from difflib import get_close_matches

    from .other_names import NEEDLESS, SETTINGS

    prefix = PREFIX if name.startswith(PREFIX) else ""
    said = name.removeprefix(prefix).lower() if prefix else name
    known = [*DEFAULTS, *(other.removeprefix(PREFIX).lower() for other in OTHER_VARIABLES if prefix)]
    if said in NEEDLESS:
        return NEEDLESS[said]
    near = [SETTINGS[said]] if said in SETTINGS else get_close_matches(said, known, 1, cutoff=0.8)
    if not near:
        return "See docs/reference/settings.md."
    meant = prefix + near[0].upper() if prefix else near[0]
    return f"It is called {meant!r} here." if said in SETTINGS else f"Did you mean {meant!r}?"


def described() -> dict[str, str]:
    """What each setting does, for the reference: the texts under the fields of `Settings`."""
    import ast
    import inspect
    import textwrap
    from itertools import pairwise

    body = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body[0].body  # type: ignore[attr-defined]
    return {
        ast.unparse(field.target): inspect.cleandoc(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
    }


def config_file() -> str:
    """The TOML file, whether or not it is there."""
    return os.environ.get("RECOLLECT_CONFIG") or os.path.join(folder("config"), "config.toml")


def folder(what: str) -> str:
    """The platform's folder for a user's configuration or data."""
    home, xdg = os.environ.get("HOME", ""), os.environ.get(f"XDG_{what.upper()}_HOME", "")
    if sys.platform == "linux" and home.startswith("/"):  # the same answer as platformdirs', without its 20 ms
        base = xdg.strip() or os.path.join(home, {"config": ".config", "data": ".local/share"}[what])
        return os.path.join(base, "recollect")
    import platformdirs

    return (
        platformdirs.user_config_dir("recollect", False)
        if what == "config"
        else platformdirs.user_data_dir("recollect", False)
    )


def data_dir(settings: Settings) -> str:
    """The folder that hooks, commands, sidecar and application share, so that they open the same file."""
    return folder("data") if settings.data_dir is None else absolute(settings.data_dir, "data_dir")


def database(settings: Settings, name: str = "database", kind: str = "backend") -> str:
    """Where the settings say the store is: a `postgresql://` address or a path. `name` and `kind`: by which settings.

    A path in settings is read by programs started from anywhere, so only an absolute one means the same file to all of
    them. A path handed to `recollect.open()` does not come here: that is the caller's explicit choice.
    """
    said, backend = getattr(settings, name), getattr(settings, kind)
    if backend == "postgres" and not is_postgres(said or ""):
        raise SettingsError(
            f"{kind} = 'postgres' needs `{name}` to be an address: postgresql://user:password@host/name"
        )
    if backend == "sqlite" and is_postgres(said or ""):
        raise SettingsError(f"{kind} = 'sqlite' and `{name}` is an address of Postgres: change one of them.")
    if said is not None and is_postgres(said):
        return str(said)
    path = os.path.join(data_dir(settings), "chat.db") if said is None else absolute(said, name)
    if os.path.islink(path):
        real, folder = os.path.realpath(path), os.path.realpath(os.path.dirname(path))
        if os.path.commonpath([real, folder]) != folder:
            what = "the data folder" if said is None else "its folder"
            raise SettingsError(
                f"{path} is a link that leads out of {what}, to {real}. "
                f"If that is what you want, set `{name}` to that absolute path."
            )
    return path


def is_postgres(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


def absolute(text: str, name: str) -> str:
    hint = f"Give {name} as an absolute path, or leave it unset."
    path = text.removeprefix("sqlite://") if text.startswith("sqlite:///") else text
    if "\0" in path:
        raise SettingsError(f"{name} contains a NUL character. {hint}")
    if path.startswith("~"):
        raise SettingsError(
            f"{name} = {text!r}: `~` is not expanded in settings, programs disagree on whose home it is. {hint}"
        )
    if not os.path.isabs(path):
        raise SettingsError(f"{name} = {text!r} is relative: it would mean another file in every folder. {hint}")
    if ".." in path.replace(os.sep, "/").split("/"):
        raise SettingsError(f"{name} = {text!r} contains `..`. {hint}")
    return path
