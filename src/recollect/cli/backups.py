"""Backups: made, listed, put back; and space given back to the disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import backup as copies
from .. import health
from ..errors import InvalidInput, MissingKey, NotFound, RecollectError, Refused, StorageError, StoreBusy, WrongKey
from ..store import Store
from ..verbs.arguments import absolute_path
from . import output
from .doctor import DAMAGED, PANEL
from .examination import Contents, contents, open_in, snapshot, why
from .session import Session, command, confirm

if TYPE_CHECKING:
    from ..db.cipher import Key


@command("backup", panel=PANEL)
def backup(
    s: Session,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Where the copy goes; must not exist yet. Unsaid: into `backups` beside the store, under the time.", show_default=False),
    ] = None,
) -> None:  # fmt: skip
    """Copy the whole store, all users, to a new file while work goes on; read back before it is called good."""
    store = _store_there(s)
    if path is None:
        path = copies.name(s.where) if isinstance(s.where, Path) else Path("backup.db")
    elif not (folder := Path(absolute_path(path)).parent).is_dir() and folder != _beside(s):
        raise InvalidInput(f"There is no folder {folder}. Nothing was copied.")
    with output.progress("copying", shown=not s.json) as report:
        made = store.backup(path, progress=report)
    if s.json:
        output.emit(made)
        return
    output.line(
        f"Copied {output.count(made.events, 'event')}, {output.size(made.bytes)}. It was read back and is sound."
    )
    output.line(str(made.path))
    output.hint(f"To go back to it: {s.command('restore', str(made.path))}")


def _beside(s: Session) -> Path | None:
    """The store's own folder of backups, which is made when the first one is."""
    return Path(absolute_path(s.where)).parent / copies.FOLDER if isinstance(s.where, Path) else None


@command("backups", panel=PANEL)
def backups(
    s: Session,
    check: Annotated[bool, typer.Option("--check", help="Read each one back; ends with 6 when one is damaged, or its key is not at hand.")] = False,
) -> None:  # fmt: skip
    """List the backups of the store, newest first: those beside it, and those that were made elsewhere."""
    where = _file(s, "Its backups are pg_dump's")
    found = copies.found(where)
    states: list[str | None] = [None] * len(found)
    locked: set[Path] = set()
    if check:
        held = [_key(s, b.path) for b in found]  # asked for before there is a bar in the way
        with output.progress("reading back", shown=not s.json) as bar:
            for i, b in enumerate(found):
                if bar:
                    bar(b.path.name, i, len(found))
                states[i], is_locked = _state(b.path, held[i])
                locked |= {b.path} if is_locked else set()
    if s.json:
        output.emit([
            {**b._asdict(), "sound": state == "sound" if check and b.path not in locked else None,
             "problem": None if state == "sound" else state}
            for b, state in zip(found, states, strict=True)
        ])  # fmt: skip
    elif not found:
        output.line(f"No backups of {where} yet. `{s.command('backup')}` makes one.")
        output.hint("With the setting backup_every (hours) they are made by themselves.")
    else:
        _list(s, where, found, states if check else None, locked)
    for path in [] if s.json else copies.away(where):
        output.line(f"Made at {path}, which is not reachable now.")
    if any(state not in (None, "sound") for b, state in zip(found, states, strict=True) if b.kind != "set aside"):
        raise typer.Exit(DAMAGED)


def _list(
    s: Session, where: Path, found: list[copies.Found], states: list[str | None] | None, locked: set[Path]
) -> None:
    rows = []
    for i, b in enumerate(found):
        beside = b.path.is_relative_to(where.parent)
        row = [output.styled(str(b.path.relative_to(where.parent) if beside else b.path)), output.styled(b.kind),
               output.styled(output.age(b.made_at)), output.styled(output.size(b.bytes))]  # fmt: skip
        if states is not None:
            said = "sound" if states[i] == "sound" else "encrypted" if b.path in locked else "damaged"
            row.append(output.styled(said, {"sound": "green", "encrypted": "yellow"}.get(said, "red")))
        rows.append(row)
    columns = ["Backup", "Made", "Age", "Size", *(["State"] if states is not None else [])]
    output.line(output.styled(str(where.parent), "dim"))
    output.show(output.table(*columns, rows=rows, right=["Size"], wide=["Backup"]))
    bad = [(b.path, state) for b, state in zip(found, states or [], strict=False) if state != "sound"]
    for path, state in bad:
        output.line("")
        output.line(output.styled(f"{path.name}: {state}", "yellow" if path in locked else "red"))
        if path not in locked:
            output.line(f"More: recollect doctor {output.quoted(str(path))}", style="dim")
    good = [b.path for b in found if b.path not in [path for path, _ in bad]]
    if good:
        output.hint(f"To go back to one: {s.command('restore', str(good[0]))}")


def _key(s: Session, path: Path) -> "Key | None":
    try:
        return s.key_for(path)
    except OSError:
        return None  # gone meanwhile


def _state(path: Path, key: "Key | None") -> tuple[str, bool]:
    """Sound, or what is wrong with it; and whether nobody can say, for want of its key."""
    try:
        copies.check(path, key)
        bad = _altered(path, key)
    except (MissingKey, WrongKey) as e:
        return output.words(e), True
    except StorageError as e:
        return why(e), False
    except (RecollectError, OSError) as e:
        return output.words(e), False
    return f"{output.count(bad, 'problem')} in its events" if bad else "sound", False


def _altered(path: Path, key: "Key | None") -> int:
    """How many problems the events of a file have whose pages are sound."""
    from ..db import migrate

    with snapshot(path, key) as db:
        if db.schema() < migrate.LATEST:
            return 0  # an older schema is looked at after it was brought up to date
        return sum(len(health.verify(db, user, None).problems) for user in db.users())


# -- going back


def put_back(s: Session, path: Path, yes: bool) -> None:
    """`restore FILE`: put a backup in the place of the store, which is kept aside."""
    where = _file(s, "A dump is put back with pg_restore")
    path = path.absolute()
    if where.exists() and path.samefile(where):
        raise InvalidInput(f"{path} is the store itself. `{s.command('backups')}` lists what there is to go back to.")
    key = s.key_for(path)
    with output.progress("reading it back", shown=not s.json) as bar:
        copies.check(path, key)
        altered = _altered(path, key)
    there = contents(path, key)
    others = open_in(where)
    if others:
        raise StoreBusy(f"{where} is open in {others[0]}. Close it, then try again: it would go on writing into the file "
                        "that is set aside.")  # fmt: skip
    now = _present(s, where)
    _ask(path, there, altered, where, now, yes)
    with output.progress("copying", shown=not s.json) as bar:
        aside = copies.restore(path, where, bar, key)
    from ..config import data_dir
    from ..transfer import claude_code

    claude_code.put_back(data_dir(s.settings), str(where))
    undo = s.command("restore", str(aside)) if aside is not None and now is not None else None
    if s.json:
        output.emit({"location": str(where), "backup": str(path), "events": there.events, "aside": aside, "undo": undo})
        return
    output.line(f"{where} is now as in the backup: {_said(there)}.")
    if aside is not None:
        output.line(f"The file as it was: {aside}")
        output.line(f"Undo: {undo}" if undo else "It is damaged; remove it when you need it no more.", style="dim")


def _present(s: Session, where: Path) -> Contents | None:
    """What is in the store now; None when there is none, or nobody can say."""
    try:
        return contents(where, s.key_for(where)) if where.exists() and where.stat().st_size else None
    except (StorageError, OSError):
        return None


def _ask(path: Path, there: Contents, altered: int, where: Path, now: Contents | None, yes: bool) -> None:
    """Name what goes in and what goes out. Someone at a terminal gets it as a table, a log as one line."""
    but = f"; {output.count(altered, 'problem')} in them" if altered else ""
    present = "nothing there yet"
    if where.exists():
        present = (f"now {_said(now)}" if now is not None else "cannot be read") + "; that file is kept aside"
    if yes or not output.is_interactive():
        confirm(f"The backup {path} ({_said(there)}{but}) takes the place of {where} ({present}).", yes)
        return
    both = [("backup", str(path)), ("", f"{_said(there)}{but}"), ("store", str(where)), ("", present)]
    output.show(output.facts(both), out=output.console(err=True))
    confirm("Put the backup in the place of the store?", yes)


def _said(c: Contents) -> str:
    newest = f", the newest from {output.when(c.newest_at)}" if c.newest_at is not None else ""
    return output.count(c.events, "event") + newest


# -- space


@command("compact", panel=PANEL)
def compact(s: Session) -> None:
    """Give the space of what was deleted back to the disk."""
    store = _store_there(s)
    with output.progress("compacting", shown=not s.json) as report:
        before, after = store.compact(progress=report)
    if s.json:
        output.emit({"before": before, "after": after})
        return
    if after < before:
        given = output.size(before - after)
        output.line(f"{s.location}: {output.size(before)} before, {output.size(after)} now; {given} given back.")
    else:  # laid out anew it may need a page more: no news to anyone
        output.line(f"{s.location}: there was nothing to give back; it takes {output.size(after)}.")


def _store_there(s: Session) -> Store:
    """The store, if there is one: what has no file can be neither copied nor compacted."""
    if s.where is None:
        raise Refused("Persistence is off (the setting `enabled`): there is no file.")
    if not s.is_there:
        raise NotFound(f"There is no store at {s.location} yet.")
    return s.store


def _file(s: Session, otherwise: str) -> Path:
    if isinstance(s.where, str):
        raise Refused(f"{s.location} is no file. {otherwise}: docs/how-to/postgres.md.")
    if s.where is None:
        raise Refused("Persistence is off (the setting `enabled`): there is no file.")
    return s.where
