"""Hooks for coding agents: put into the agent's settings, taken out again, paused.

The settings are the user's own file. It is read as it is, changed only where our commands stand, copied before, and
written in one move; what cannot be understood is not touched. The hooks themselves are in `recollect.hooks`.
"""

import glob
import itertools
import json
import math
import os
import shlex
import stat
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import claude_code, config, hooks
from ..errors import InvalidInput, Refused
from . import output
from .session import Command, Database, DataDir, Json, Session, Yes, app, confirm, guarded
from .store import PANEL

ACTIONS = {
    f"install {claude_code.NAME}": "record its sessions in this project; --user: in all of yours",
    f"uninstall {claude_code.NAME}": "record no more; what was recorded stays",
    "status": "where they are installed, and what is recorded",
    f"pause [{'|'.join(hooks.PARTS)}]": "stop for a while, all of it or a part",
    f"resume [{'|'.join(hooks.PARTS)}]": "go on",
}
_NAMES = tuple(action.split()[0] for action in ACTIONS)
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest",
    "PermissionDenied", "Notification", "Stop", "StopFailure", "SubagentStop", "PreCompact", "PostCompact", "SessionEnd",
)  # fmt: skip
"""The events of Claude Code that are recorded."""
BY_TOOL = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
TIMEOUT = {"PreCompact": 60}  # seconds; the others are done in a tenth of one
OTHERS = 10
COPY = ".before-recollect-"
"""What the name of a copy of the settings has behind the file's own."""


@app.command("hooks", cls=Command, rich_help_panel=PANEL)
def hooks_(
    ctx: typer.Context,
    action: Annotated[str | None, typer.Argument(metavar="ACTION", help=f"What to do: {', '.join(_NAMES)}. Unsaid: they are listed.", show_default=False)] = None,
    names: Annotated[list[str] | None, typer.Argument(metavar="AGENT|PART", help=f"The agent ({', '.join(hooks.AGENTS)}); for pause and resume: {', '.join(hooks.PARTS)}, all unless said.", show_default=False)] = None,
    project: Annotated[bool, typer.Option("--project", help="In this project's own settings (`.claude/settings.local.json`). So it is unless said.")] = False,
    user: Annotated[bool, typer.Option("--user", help="In your settings, for all projects (`~/.claude/settings.json`).")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change in the settings, and write nothing.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="With --dry-run: the whole file as it would be.")] = False,
    yes: Yes = False,
    json: Json = False,
    database: Database = None,
    data_dir: DataDir = None,
) -> None:  # fmt: skip
    """Record a coding agent's sessions, and hand it what is remembered with each prompt.

    To record for another user than the settings' say so before the command: `recollect -u alex hooks install claude-code`."""
    given = ctx.parent.params if ctx.parent else {}
    s = Session(database or given.get("database"), given.get("user"), data_dir or given.get("data_dir"), json)
    guarded(s, lambda: _run(s, action, names or [], project, user, dry_run, verbose, yes))


def _run(
    s: Session, action: str | None, names: list[str], project: bool, user: bool, dry_run: bool, verbose: bool, yes: bool
) -> None:
    if action is None:
        _list(s)
        return
    if action not in _NAMES:
        raise InvalidInput(f"hooks {action}: choose one of {', '.join(_NAMES)}.")
    if project and user:
        raise InvalidInput("--project and --user are two files: choose one.")
    if action in ("pause", "resume"):
        _pause(s, names, on=action == "pause")
        return
    if action == "status" and not names:
        names = [claude_code.NAME]
    if names and names != [claude_code.NAME]:
        raise InvalidInput(f"hooks {action} {' '.join(names)}: the agent that is known is {claude_code.NAME}.")
    if not names:
        raise InvalidInput(f"hooks {action}: say for which agent, as in `recollect hooks {action} {claude_code.NAME}`.")
    if action == "status":
        s.forgives = True
        _status(_recording(s)[0])
        return
    file = _user_file() if user else _project_file()
    if action == "install":
        _install(s, file, "all projects of yours" if user else f"the project {_project()}", dry_run, verbose, yes)
    else:
        _uninstall(s, file, dry_run, verbose)


def _list(s: Session) -> None:
    if s.json:
        output.emit({"actions": dict(zip(_NAMES, ACTIONS.values(), strict=True))})
    else:
        output.show(output.tries((f"{s.command('hooks')} {action}", what) for action, what in ACTIONS.items()))


# -- where


def _user_file() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "settings.json"


def _project() -> Path:
    return Path(claude_code.workspace(os.getcwd()))


def _project_file() -> Path:
    """The one that is not shared: it names this machine's Python, and recording is everyone's own choice."""
    return _project() / ".claude" / "settings.local.json"


def _recording(s: Session) -> list[Session]:
    """The stores that hooks record in here, those of this project first, as they were installed. What is said on this command
    line or in this shell is meant instead, and where none are installed there is nothing else."""
    places = ("database", "data_dir")
    if s.given_settings().keys() & places or any(os.environ.get(f"RECOLLECT_{name.upper()}") for name in places):
        return [s]
    found: dict[tuple[str | None, ...], Session] = {}
    for file in (_project_file(), _user_file()):
        try:
            commands = hooks.installed(Settings.read(file).content).values()
            said = [_said(command) for some in commands for command in some]
        except (Refused, OSError, ValueError):  # not ours to read: `status` says so
            continue
        for where, whose, folder in said:
            if (where, whose, folder) not in found:
                found[where, whose, folder] = Session(where, whose, Path(folder) if folder else None, s.json)
    return list(found.values()) or [s]


def _said(command: str) -> tuple[str | None, str | None, str | None]:
    """Store, user and folder that an installed command names."""
    words = shlex.split(command)
    given = dict(itertools.pairwise(words))
    return given.get("--database"), given.get("--user"), given.get("--data-dir")


# -- what is done


def _install(s: Session, file: Path, where: str, dry_run: bool, verbose: bool, yes: bool) -> None:
    settings = Settings.read(file)
    command = hooks.command_line(claude_code.NAME, _options(s))
    changed = settings.install(command)
    if dry_run:
        _show(s, settings, changed, verbose)
        return
    if not changed:
        _done(s, "installed", settings, None, f"The hooks are in {file} already.")
        return
    if not s.json:
        _explain(s, where, file)
    confirm(f"Put the hooks into {file}?", yes)
    backup = settings.write()
    _done(
        s,
        "installed",
        settings,
        backup,
        f"Installed in {file}. A session that is open takes them up when it starts anew.",
    )
    if not s.json:
        if _is_for_git(file):
            output.line(
                f"git does not ignore it. It is for this machine alone: keep it out of commits with a line {_ignored(file)} in "
                ".git/info/exclude, or in .gitignore for everyone."
            )
        output.hint(
            f"{s.command('hooks', 'status')} says what is recorded; {s.command('hooks', 'uninstall', claude_code.NAME)} ends it."
        )


def _is_for_git(file: Path) -> bool:
    """Whether the next `git add .` would take it in: it names this machine's Python, and who else works on the project has not
    agreed to be recorded."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(file.parent), "check-ignore", "-q", file.name],
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False  # no git, so nothing to say
    return asked.returncode == 1  # 128: there is no repository around it


def _ignored(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def _uninstall(s: Session, file: Path, dry_run: bool, verbose: bool) -> None:
    settings = Settings.read(file)
    changed = settings.uninstall()
    if dry_run:
        _show(s, settings, changed, verbose)
        return
    backup = None
    was = settings.as_it_was() if changed else None
    if changed and was is None and not settings.content and not file.is_symlink():  # nobody else has anything in it
        settings.remove()
    elif changed:
        backup = settings.write(was)
        if was is not None:  # it is as it was, and nothing is left to go back to
            backup = None
            settings.forget_copies()
    kept = "What was recorded stays; `recollect conversations` lists it."
    _done(
        s,
        "uninstalled",
        settings,
        backup,
        f"Taken out of {file}. {kept}" if changed else f"There are none of ours in {file}.",
    )


def _options(s: Session) -> list[str]:
    """What was said of the store on this command line, or in this shell alone: the hooks are to mean the same one, and the
    agent is started from another shell."""
    given = s.given_settings()
    where = given.get("database") or os.environ.get("RECOLLECT_DATABASE") or ""
    folder = given.get("data_dir") or os.environ.get("RECOLLECT_DATA_DIR") or ""
    whose = given.get("user") or os.environ.get("RECOLLECT_USER") or ""
    if config.is_postgres(where):
        if "database" in given:
            raise InvalidInput(
                "An address with its password has no place in an agent's settings. Set `database` in "
                f"{config.config_file()} instead; the hooks read it there."
            )
        where = ""
    words = ["--database", os.path.abspath(os.path.expanduser(where))] if where else []
    if folder and not where:
        words += ["--data-dir", os.path.abspath(os.path.expanduser(folder))]
    return words + (["--user", whose] if whose else [])


def _days(settings: config.Settings, file: Path) -> tuple[int, str]:
    """How many days an event is kept, for the projects of a settings file, and the setting that says so."""
    root = claude_code.workspace(os.getcwd())
    if file != _user_file() and root in settings.retention_workspaces:
        return int(settings.retention_workspaces[root]), "retention_workspaces"
    return settings.retention_days, "retention_days"


def _kept_for(days: int) -> str:
    return f"{output.count(days, 'day')}, each event by its own age" if days else "ever"


def _state(settings: config.Settings, part: str, paused: Sequence[str]) -> str:
    """Whether the hooks do their part, and what keeps them from it."""
    if part in paused:
        return "paused"
    for switch in ("enabled", *_SWITCHES.get(part, ())):
        if not getattr(settings, switch):
            return f"off (setting `{switch}`)"
    return "on"


_SWITCHES = {"injection": ("context",), "extraction": ("memory_extract",)}


def _explain(s: Session, where: str, file: Path) -> None:
    days, setting = _days(s.settings, file)
    output.show(output.facts([
        ("for", where),
        ("recorded", "your prompts, the assistant's answers, each tool with its input, its result cut to "
                     f"{claude_code.OUTPUT:,} characters and its diff, approvals, errors, the task list; "
                     "the whole transcript before it is compacted"),
        ("not recorded", "secrets: they are replaced before anything is written"),
        ("kept in", s.location),
        ("kept for", f"{_kept_for(days)} (setting `{setting}`)"),
        ("handed out", f"with each prompt, at most {hooks.MEMORIES} memories and {hooks.EXCERPTS} excerpts of this project, "
                       f"{hooks.BUDGET} tokens"),
        ("sent anywhere", "nothing leaves this machine"),
        ("settings", f"{file}, copied before it is changed"),
    ]), "")  # fmt: skip


def _show(s: Session, settings: "Settings", changed: bool, verbose: bool) -> None:
    if s.json:
        output.emit({"file": str(settings.file), "changes": changed, "settings": settings.content})
        return
    if not changed:
        output.line(f"{settings.file} would stay as it is.")
        return
    now = hooks.installed(settings.content)
    gone, more = _by_command(settings.before, now), _by_command(now, settings.before)
    if verbose or not (gone or more):
        output.line(f"{settings.file} would be:")
        output.line(settings.text())
        return
    change = "change; what else is in it would stay" if settings.file.exists() else "be made"
    output.line(f"{settings.file} would {change}:")
    for sign, style, some in (("-", "red", gone), ("+", "green", more)):
        for command, events in some.items():
            output.line(output.styled(f"{sign} {command}\n    at {', '.join(events)}", style))
    output.hint("Nothing was written. --verbose prints the whole file as it would be.")


def _by_command(some: dict[str, list[str]], others: dict[str, list[str]]) -> dict[str, list[str]]:
    """The events of each command that the others do not have there."""
    found: dict[str, list[str]] = {}
    for event, commands in some.items():
        for command in commands:
            if command not in others.get(event, ()):
                found.setdefault(command, []).append(event)
    return found


def _done(s: Session, what: str, settings: "Settings", backup: Path | None, told: str) -> None:
    if s.json:
        output.emit({"state": what, "file": str(settings.file), "backup": str(backup) if backup else None})
        return
    output.line(told)
    if backup is not None:
        output.line(f"The file as it was: {backup}", style="dim")


def _pause(s: Session, names: list[str], *, on: bool) -> None:
    unknown = [name for name in names if name not in hooks.PARTS]
    if unknown:
        raise InvalidInput(f"There is no {unknown[0]!r} to pause: choose from {', '.join(hooks.PARTS)}.")
    folders = {config.data_dir(one.settings): None for one in _recording(s)}
    off: tuple[str, ...] = ()
    for folder in folders:
        off = hooks.pause(folder, names or hooks.PARTS, on=on)
    if s.json:
        output.emit({"paused": off})
    else:
        output.line(f"Paused: {', '.join(off)}." if off else "Nothing is paused.")


def _status(s: Session) -> None:
    s.forgives = True
    folder = config.data_dir(s.settings)
    off = hooks.paused(folder)
    log = Path(folder, "hooks.log")
    lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    places = []
    for where, file in (("all projects", _user_file()), ("this project", _project_file())):
        try:
            found = hooks.installed(Settings.read(file).content)
            state = f"{len(found)} of {len(EVENTS)} events" if found else "not installed"
            current = hooks.command_line(claude_code.NAME, _options(s))
            if found and any(command != current for commands in found.values() for command in commands):
                state += ", with another command than this Recollect's (install again to change it)"
        except (Refused, OSError) as e:
            found, state = {}, output.words(e)
        places.append({"where": where, "file": str(file), "events": sorted(found), "state": state})
    days, _ = _days(s.settings, _project_file())
    if s.json:
        output.emit({"agent": claude_code.NAME, "places": places, "paused": off, "store": s.location,
                     "parts": {part: _state(s.settings, part, off) for part in hooks.PARTS},
                     "retention_days": days, "log": str(log), "failures": len(lines), "wrong_settings": s.wrong_settings})  # fmt: skip
        return
    output.show(output.facts([
        *((str(place["where"]), f"{place['state']} ({place['file']})") for place in places),
        *((part, _state(s.settings, part, off)) for part in hooks.PARTS),
        ("store", s.location),
        ("kept for", _kept_for(days)),
        ("failures", f"{len(lines):,}, the last: {lines[-1]}" if lines else "none"),
    ]))  # fmt: skip
    for problem in s.wrong_settings:
        output.warn(f"{problem} The hooks use the default.")
    if places[0]["events"] and places[1]["events"]:
        output.warn("they are installed twice for this project. Nothing is recorded twice, but each hook runs twice.")


# -- the file


class Settings:
    """An agent's settings file, as it is and as it is to be."""

    def __init__(self, file: Path, raw: bytes | None, content: dict[str, Any]) -> None:
        self.file = file
        self.content = content
        self.before = hooks.installed(content)
        self._raw = raw

    @classmethod
    def read(cls, file: Path) -> "Settings":
        """A file that is not there is empty; one that is not understood is refused, and stays as it is."""
        if file.exists() and not file.is_file() and not file.is_dir():
            raise Refused(f"{file} is no file, but a device or a pipe. It was left as it is.")
        try:
            raw = file.read_bytes()
        except FileNotFoundError:
            return cls(file, None, {})
        try:
            content = _parsed(raw.decode("utf-8-sig")) if raw.strip() else {}
        except (ValueError, RecursionError) as e:
            raise Refused(
                f"{file} is not valid JSON ({e}). It was left as it is: correct it, then try again."
            ) from None
        if not isinstance(content, dict):
            raise Refused(f"{file} does not hold a JSON object. It was left as it is.")
        table = content.get("hooks", {})
        if not isinstance(table, dict) or not all(isinstance(groups, list) for groups in table.values()):
            raise Refused(f"`hooks` in {file} is not a table of lists, as Claude Code has it. It was left as it is.")
        return cls(file, raw, content)

    def install(self, command: str) -> bool:
        """Have our command at every event, once. Returns whether anything changes."""
        before = json.dumps(self.content)
        table: dict[str, Any] = self.content.setdefault("hooks", {})
        for event in EVENTS:
            hook = {"type": "command", "command": command, "timeout": TIMEOUT.get(event, OTHERS)}
            groups: list[Any] = table.setdefault(event, [])
            ours = [group for group in groups if _ours(group)]
            if len(ours) == 1 and [h for h in ours[0]["hooks"] if hooks.is_ours(h)] == [hook]:
                continue
            table[event] = groups = _without(groups)
            groups.append({"matcher": "*", "hooks": [hook]} if event in BY_TOOL else {"hooks": [hook]})
        return json.dumps(self.content) != before

    def uninstall(self) -> bool:
        """Take our commands out, and what holds nothing else then."""
        table: dict[str, Any] = self.content.get("hooks", {})
        mine = [event for event, groups in table.items() if any(_ours(group) for group in groups)]
        for event in mine:
            table[event] = _without(table[event])
            if not table[event]:
                del table[event]
        if mine and not table:
            del self.content["hooks"]
        return bool(mine)

    def text(self) -> str:
        """As it is written: with the indentation it had."""
        old = self._raw.decode("utf-8-sig") if self._raw else ""
        first = next((line for line in old.splitlines() if line[:1] in " \t" and line.strip()), "  ")
        indent = first[: len(first) - len(first.lstrip())]
        width: str | int = "\t" if indent.startswith("\t") else len(indent)
        made = json.dumps(self.content, indent=width, ensure_ascii=False)
        try:
            made.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only say by its number
            made = json.dumps(self.content, indent=width)
        return made.replace("\n", "\r\n") if "\r\n" in old else made

    def copies(self) -> list[Path]:
        """The copies that were made of it, the newest first."""
        target = Path(os.path.realpath(self.file))
        return sorted(target.parent.glob(f"{glob.escape(target.name)}{COPY}*"), reverse=True)

    def forget_copies(self) -> None:
        for copy in self.copies():
            copy.unlink(missing_ok=True)

    def as_it_was(self) -> bytes | None:
        """The file before our hooks came into it, to the letter, where its copy is there and nothing else was changed since."""
        for copy in self.copies():
            try:
                old = Settings.read(copy)
            except (Refused, OSError):
                continue
            if not old.before and _rest(old.content) == _rest(self.content):
                return old._raw
        return None

    def remove(self) -> None:
        """Take away the file, and the agent's folder if nothing is left in that."""
        target = Path(os.path.realpath(self.file))
        target.unlink()
        self.forget_copies()
        try:
            target.parent.rmdir()
        except OSError:
            pass  # there is more in it

    def write(self, data: bytes | None = None) -> Path | None:
        """Write it in one move, where a link leads: what it is to hold, or `data`. Returns the copy of what was there."""
        target = Path(os.path.realpath(self.file))
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = None
        mode = 0o600
        if self._raw is not None:
            if target.read_bytes() != self._raw:
                raise Refused(f"{self.file} was changed by someone else meanwhile. It was left as it is: try again.")
            mode = stat.S_IMODE(target.stat().st_mode)
            if not mode & stat.S_IWUSR:
                raise Refused(f"{self.file} is read-only: somebody wants it as it is. `chmod u+w` it, then try again.")
            backup = _free(target.with_name(f"{target.name}{COPY}{time.strftime('%Y%m%d-%H%M%S')}"))
            _put(backup, self._raw, mode)
        ends = b"" if self._raw and not self._raw.endswith(b"\n") else b"\n"
        if (self._raw or b"").endswith(b"\r\n"):
            ends = b"\r\n"
        mark = b"\xef\xbb\xbf" if (self._raw or b"").startswith(b"\xef\xbb\xbf") else b""
        new = target.with_name(f".{target.name}.{os.getpid()}")
        _put(new, mark + self.text().encode() + ends if data is None else data, mode)
        os.replace(new, target)
        return backup


def _rest(content: dict[str, Any]) -> str:
    """All but lists of hooks that hold nothing: we take those out when ours leave them empty."""
    hooks = {event: groups for event, groups in content.get("hooks", {}).items() if groups}
    return json.dumps({**content, "hooks": hooks}, sort_keys=True)


def _parsed(text: str) -> Any:
    """JSON, of which nothing is lost when it is written again."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_number, parse_float=_number)


def _number(said: str) -> float:
    found = float(said)
    if not math.isfinite(found):
        raise ValueError(f"{said[:40]} is a number that could not be kept")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _ours(group: Any) -> bool:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(inner, list) and any(hooks.is_ours(hook) for hook in inner)


def _without(groups: list[Any]) -> list[Any]:
    """Groups without our commands; a group of nothing but ours goes."""
    kept = []
    for group in groups:
        if not _ours(group):
            kept.append(group)
            continue
        others = [hook for hook in group["hooks"] if not hooks.is_ours(hook)]
        if others:
            kept.append({**group, "hooks": others})
    return kept


def _free(path: Path) -> Path:
    return path if not path.exists() else next(p for i in range(2, 10_000) if not (p := Path(f"{path}-{i}")).exists())


def _put(path: Path, data: bytes, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        os.fchmod(fd, mode) if hasattr(os, "fchmod") else None
        with os.fdopen(fd, "wb", closefd=False) as f:
            f.write(data)
            f.flush()
            os.fsync(fd)
    finally:
        os.close(fd)
