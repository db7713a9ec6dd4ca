"""The doctor: is this store what was written, and if not, what to do. It works on files that open no more.

`examination` looks; here is what it says. What is wrong comes in a table, and below it the commands that help, the best
one first, with the real paths in them: on a bad day nobody wants to fill in placeholders.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import backup, config, errors, salvage
from ..db import file
from ..errors import NotFound, RecollectError
from ..model import Problem, Salvage
from . import output
from .examination import SHOWN, Check, Report, examine_file, examine_server
from .session import Session, command

if TYPE_CHECKING:
    from ..model import Progress

PANEL = "Keeping it safe"
DAMAGED = 6


# -- what to do


def sound_backup(s: Session, path: Path) -> tuple[backup.Found, int] | None:
    """The newest backup that can be read back, with its number of events."""
    for found in backup.found(path)[:5]:
        try:
            return found, backup.check(found.path, s.key_for(found.path))
        except (RecollectError, OSError):
            continue
    return None


def salvage_to(path: Path) -> Path:
    """A name beside the file that is free."""
    out, n = path.with_name(f"{path.stem}-salvaged.db"), 1
    while out.exists():
        n += 1
        out = path.with_name(f"{path.stem}-salvaged-{n}.db")
    return out


def advise(report: Report, s: Session, path: Path) -> None:
    """The commands that help with what was found, the best one first."""
    if report.ok:
        return
    if report.locked:
        report.next.append((s.command("key", "status"), "see where a key was looked for"))
        return
    if path.exists() and not os.access(path, os.R_OK):
        return  # whose it is has to be mended first
    found = sound_backup(s, path)
    if found is not None:
        what = f"go back to the newest sound backup ({output.count(found[1], 'event')}, {output.age(found[0].made_at)})"
        report.next.append((s.command("restore", str(found[0].path)), what))
    if report.newer:
        report.next[:] = [("git pull && pip install .", "get the version that wrote it")]
    elif path.exists() and path.stat().st_size:
        out = salvage_to(path)
        what = "save every readable row into a new store; the file stays as it is"
        report.next.append((f"recollect doctor {output.quoted(str(path))} --salvage {output.quoted(str(out))}", what))
    if not path.exists() or not path.stat().st_size or report.half_made:
        report.next.append((s.command("migrate"), "if nothing was recorded in it yet: make an empty store there"))


# -- the command


@command("doctor", panel=PANEL)
def doctor(
    s: Session,
    path: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The store to look at. Unsaid: the one that the settings name.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--salvage", metavar="OUT", help="Save every readable row of a damaged file into a new store OUT; the file is only read."),
    ] = None,
) -> None:  # fmt: skip
    """Look at the file, its pages and everyone's events; say what is wrong and what to do. Ends with 6 when something is."""
    s.forgives = True
    s, where = _patient(s, path)
    if isinstance(where, str):
        if out is not None:
            raise errors.Refused(f"{s.location} is no file: the server's own tools save what is readable on Postgres.")
        with steps(s) as (bar, step):
            report = examine_server(s, bar, step)
        _end(s, report)
    elif where is None:
        report = Report(s.location)
        report.say(
            "file", "skipped", "persistence is off (the setting `enabled`): nothing is kept, nothing can be damaged"
        )
        with steps(s) as (_, step):
            step(report.checks[0])
        _end(s, report)
    elif not where.exists():
        _absent(s, where, named=path is not None)
    elif where.is_dir():
        raise errors.InvalidInput(f"{where} is a folder. Name the file in it: {where / 'chat.db'}")
    elif not where.is_file():
        raise errors.InvalidInput(f"{where} is no file, but a device or a pipe.")
    elif out is not None:
        _salvage(s, where, Path(os.path.abspath(out.expanduser())))
    else:
        key = s.key_for(where)
        with steps(s) as (bar, step):
            report = examine_file(where, bar, step, key)
        advise(report, s, where)
        _end(s, report)


def _patient(s: Session, given: str | None) -> tuple[Session, Path | str | None]:
    """The session and the store that is meant: a file that is named is looked at whatever the settings say."""
    if given is None:
        return s, s.where
    if config.is_postgres(given):
        s = s.on(given)
        return s, s.where
    path = Path(os.path.abspath(os.path.expanduser(given)))
    try:
        if s.where == path:
            return s, path
    except errors.SettingsError:
        pass  # on a bad day the settings may be wrong as well
    return s.on(str(path)), path


def _absent(s: Session, where: Path, *, named: bool) -> None:
    found = sound_backup(s, where)
    if found is not None:
        line = s.command("restore", str(found[0].path))
        raise NotFound(
            f"There is no store at {where}, but a backup of it ({output.count(found[1], 'event')}, "
            f"{output.age(found[0].made_at)}). To go back to it: {line}"
        )
    if named or s.named:
        raise NotFound(f"There is no store at {where}.")
    report = Report(str(where))
    report.say("file", "skipped", "there is none yet: it is made when something is recorded")
    with steps(s) as (_, step):
        step(report.checks[0])
    _end(s, report)


MARKS = {"ok": ("ok", "green"), "note": ("--", "yellow"), "bad": ("!!", "bold red"), "skipped": ("..", "dim")}


@contextmanager
def steps(s: Session) -> "Iterator[tuple[Progress | None, Callable[[Check], None]]]":
    """Checks said one by one, as they are done, with a bar below them while one takes long."""
    if s.json:
        yield None, lambda check: None
        return
    output.line(output.styled(s.location, "bold"))
    with output.progress("looking", shown=not s.json) as bar:

        def step(check: Check) -> None:
            if bar:
                bar.hide()
            sign, style = MARKS[check.state]
            row = output.styled(f"{sign}  ", style)
            row.append(f"{check.name:<10}", "dim")
            output.show(_hanging(row, output.clean(check.found)))
            if check.fix and check.state in ("note", "bad"):
                output.show(_hanging(output.styled(" " * 14), f"→ {output.clean(check.fix)}"))

        yield bar, step


def _hanging(head: Any, text: str) -> Any:
    """A head, and a text that wraps beside it."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=0)
    grid.add_column(no_wrap=True, width=14)
    grid.add_column(overflow="fold")
    grid.add_row(head, Text(text))
    return grid


def _end(s: Session, report: Report) -> None:
    assert s.settings  # read by now, or now
    for problem in s.wrong_settings:
        report.say("settings", "note", problem, "hooks use the default instead")
        if not s.json:
            output.warn(f"{problem} Hooks use the default instead.")
    if s.json:
        output.emit(report.document())
    elif report.ok:
        notes = sum(check.state == "note" for check in report.checks)
        said = "All is well." if not notes else f"Sound, with {output.count(notes, 'remark')}."
        output.line("")
        output.line(output.styled(said, "green"))
    else:
        if report.problems:
            _problems(report.problems)
        _tries(report.next)
    if not report.ok:
        raise typer.Exit(DAMAGED)


def _problems(problems: list[Problem]) -> None:
    shown = problems[:SHOWN]
    output.line("")
    output.line(output.styled(f"{output.count(len(problems), 'problem')}", "bold red"))
    output.show(output.table(
        "Where", "What is wrong", rows=[(p.where, p.what) for p in shown], wide=["Where", "What is wrong"],
    ))  # fmt: skip
    if len(problems) > SHOWN:
        output.line(f"... and {len(problems) - SHOWN:,} more: --json lists them all.", style="dim")


def _tries(lines: list[tuple[str, str]]) -> None:
    """Commands on lines of their own: a path is long, and a command is copied whole."""
    if lines:
        output.line("")
        output.line(output.styled("What to do", "bold"))
    for line, what in lines:
        output.line(output.styled(f"  {what}:", "dim"))
        output.line(output.styled(f"  {line}", "cyan"))


# -- salvage


def _salvage(s: Session, path: Path, out: Path) -> None:
    if out == path:
        raise errors.AlreadyExists(f"{out} is the damaged file itself; choose another name.")
    key = s.key_for(path)
    with path.open("rb") as f:
        lost = key is None and not f.read(16).startswith(file.MAGIC) and s.settings.key_file
    if lost:  # its first bytes say nothing any more: what the settings name may still be its key
        from .. import keys

        key = keys.read(str(s.settings.key_file))
    with output.progress("looking", shown=not s.json) as bar:
        saved = salvage.salvage(path, out, bar, key=key)
        report = examine_file(out, bar, key=key)
    if not saved.conversations and not saved.events:
        for suffix in ("", "-wal", "-shm", ".lock"):
            out.with_name(out.name + suffix).unlink(missing_ok=True)
        raise errors.Damaged(f"Nothing in {path} could be recognised as a row of a store. No file was made.")
    if report.ok:
        report.next.append((s.command("restore", str(out)), "put it in the place of the damaged file, which is kept aside"))  # fmt: skip
        report.next.append((f"recollect -d {output.quoted(str(out))} conversations", "look at it first"))
    if s.json:
        output.emit({"salvage": saved, **report.document()})
    else:
        _tell(saved, report)
        _tries(report.next)
    if not report.ok:
        raise typer.Exit(DAMAGED)


def _tell(saved: Salvage, report: Report) -> None:
    everyone = f" of {output.count(saved.users, 'user')}" if saved.users > 1 else ""
    output.line(output.styled(str(saved.path), "bold"))
    output.show(output.facts([
        ("saved", f"{output.count(saved.events, 'event')} in {output.count(saved.conversations, 'conversation')}{everyone}"),
        ("damaged", f"{output.count(saved.damaged, 'event')} of them not as written: kept, and tagged `damaged`" if saved.damaged else "none"),
        ("missing", f"{output.count(saved.missing, 'number')} without a row: deleted earlier, or lost" if saved.missing else "none"),
        ("read back", "all is well" if report.ok else "it is not sound"),
    ]))  # fmt: skip
    if not report.ok:
        _problems(report.problems)
