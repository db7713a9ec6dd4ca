"""The store as a whole: what is in it, which settings and schema it has, who uses it."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import config, ids
from ..errors import InvalidInput, NewerSchema, Unavailable
from ..model import StatRow, Stats
from . import output
from .session import DEMO, Session, command, where_shown

PANEL = "The store"
GROUPS = ("day", "kind", "tool", "agent", "model", "workspace")


# -- recollect, alone


def overview(s: Session) -> None:
    """`recollect` with no arguments: where the data is, how much there is, what to try."""
    found = _stats(s)
    if s.json:
        output.emit({"location": s.location, "exists": s.is_there, "stats": found})
        return
    from .. import __version__

    output.line(output.styled(f"Recollect {__version__}", "bold"))
    about = [("store", s.location), ("user", s.settings.user)]
    if s.where is None:
        about.append(("note", "persistence is off: nothing is kept when a command ends (setting `enabled`)"))
    elif not s.is_there:
        about.append(("holds", "nothing yet: it is made when something is recorded"))
    else:
        about.append(("holds", _holds(found)))
        if found.last_at is not None:
            about.append(("newest", output.when(found.last_at)))
    output.show(output.facts(about), "")
    tries = [("chat", "talk, here in the terminal"), ("new", "start a conversation")]
    if found.conversations:
        tries = [
            ("chat", "talk, here in the terminal; chat -c @ goes on with the newest"),
            ("conversations", "list what is there"),
            ("show @", "read the newest one"),
            ("search '...'", "find what was said, by words and by meaning"),
            ("replay @", "every event of it, tools and reasoning included"),
            ("stats --by day", "how much happened when"),
        ]
    else:
        s.hint_at_others()
    commands = [(f"{s.command()} {words}", what) for words, what in [*tries, ("--help", "everything else")]]
    if not found.conversations:
        commands.insert(1, (DEMO, "record a week of conversations to look around in, in a store of its own"))
    output.show("Try", output.tries(commands))


def _holds(found: Stats) -> str:
    conversations = talks(found)
    known = found.memories.get("active", 0)
    waiting = found.memories.get("quarantined", 0)
    memories = output.count(known, "memory", "memories") + (f" ({waiting:,} to be looked at)" if waiting else "")
    return f"{conversations}, {output.count(found.events, 'event')}, {memories}, {output.size(found.bytes)}"


def talks(found: Stats) -> str:
    """How many conversations are listed, and how many are not."""
    more = found.deleted_conversations
    return output.count(found.conversations, "conversation") + (f" ({more:,} more in the bin)" if more else "")


def _stats(s: Session, by: str | None = None, since: int | None = None) -> Stats:
    found = s.store.stats(by=by, since=since)
    return found if s.is_there else replace(found, bytes=0, schema=0)


# -- stats


def since_when(text: str | None, option: str = "--since") -> int | None:
    """`7d`, `12h`, `2026-11-01`, `2026-11-01T08:00` or milliseconds, as milliseconds UTC."""
    if text is None:
        return None
    ago = re.fullmatch(r"(\d{1,6})\s*(m|min|h|d|w)", text.strip())
    if ago:
        unit = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}[ago[2]]
        return max(0, ids.now() - int(ago[1]) * unit * 1000)
    if re.fullmatch(r"\d{9,15}", text.strip()):
        return int(text)
    try:
        return max(0, round(datetime.fromisoformat(text.strip()).astimezone().timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"{option} {text!r}: say 30m, 12h, 7d or 2w, a date like 2026-11-01, or milliseconds since 1970."
        ) from None


def complete_group(incomplete: str) -> list[str]:
    return [g for g in GROUPS if g.startswith(incomplete)]


@command("stats", panel=PANEL)
def stats(
    s: Session,
    by: Annotated[str | None, typer.Option("--by", help=f"A line for each: {', '.join(GROUPS)}.", autocompletion=complete_group)] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Count only what is newer: 7d, 12h, 2026-11-01, or milliseconds.")] = None,
) -> None:  # fmt: skip
    """Count what there is: conversations, events, tokens, cost, time."""
    start = since_when(since)
    found = _stats(s, by, start)
    if s.json:
        output.emit(found)
        return
    if by is None:
        _totals(s, found, start)
        return
    if not found.rows:
        output.line(f"Nothing to count by {by}{f' since {output.when(start)}' if start is not None else ''}.")
        return
    total = StatRow("total", *(sum(getattr(r, f.name) for r in found.rows) for f in fields(StatRow)[1:]))
    rows = [*found.rows, total] if len(found.rows) > 1 else list(found.rows)
    output.show(output.table(
        "Day (UTC)" if by == "day" else by.capitalize(), "Events", "Tokens in", "Tokens out", "Cost", "Time",
        rows=[
            [output.styled(cell, "bold" if r is total else "") for cell in (
                r.key, output.number(r.events), output.number(r.input_tokens), output.number(r.output_tokens),
                f"{r.cost:,.4f}" if r.cost else "–", output.duration(r.duration_ms),
            )]
            for r in rows
        ],
        right=["Events", "Tokens in", "Tokens out", "Cost", "Time"], wide=["Workspace"],
    ))  # fmt: skip


def _totals(s: Session, found: Stats, start: int | None) -> None:
    jobs = _jobs(found.jobs) or "none waiting"
    output.show(output.facts([
        ("store", s.location),
        ("user", found.user),
        ("conversations", f"{found.conversations:,}" + (f" ({found.deleted_conversations:,} more in the bin)" if found.deleted_conversations else "")),
        ("events", f"{found.events:,}, {found.messages:,} of them messages" + (f", since {output.when(start)}" if start is not None else "")),
        ("branches", f"{found.branches:,}"),
        ("memories", _memories(found)),
        *([("items", f"{found.items:,}")] if found.items else []),
        ("first", output.when(found.first_at)),
        ("newest", output.when(found.last_at)),
        ("size", output.size(found.bytes)),
        ("schema", f"{found.schema}"),
        ("jobs", jobs),
        *(("failed job" if i == 0 else "", output.one_line(e, 200)) for i, e in enumerate(found.job_errors)),
    ]))  # fmt: skip


# -- schema


def _memories(found: Stats) -> str:
    """How many there are, and what somebody should look at."""
    health = {name.replace("_", " "): n for name, n in found.memories.items() if n and name != "active"}
    said = [f"{n:,} {name.removesuffix('s') if n == 1 else name}" for name, n in health.items()]  # "1 conflict"
    return ", ".join([f"{found.memories['active']:,} active", *said])


def _version(s: Session) -> int:
    """The schema as it is, without opening the store for writing: 0 where there is none yet."""
    from ..db.migrate import LATEST

    where = s.where
    if where is None:
        return LATEST
    if isinstance(where, str):
        return _version_of_server(s, where)
    if not where.is_file() or where.stat().st_size == 0:
        return 0
    from ..db.file import check_header

    if check_header(str(where)) is not None:
        from .examination import snapshot

        with snapshot(where, s.key_for(where)) as db:
            return db.schema()
    with where.open("rb") as f:
        return int.from_bytes(f.read(64)[60:])


def _version_of_server(s: Session, url: str) -> int:
    import psycopg

    from ..db.postgres import _version as version

    try:
        with psycopg.connect(
            url, autocommit=True, connect_timeout=max(2, round(s.settings.connect_timeout_ms / 1000))
        ) as connection:
            return version(connection)
    except psycopg.Error as e:
        reason = (str(e).strip() or type(e).__name__).splitlines()[0]
        raise Unavailable(f"{s.location} cannot be reached ({reason}).") from e


@command("migrate", panel=PANEL, creates=True)
def migrate(
    s: Session,
    check: Annotated[bool, typer.Option("--check", help="Only say whether it is needed; touch nothing.")] = False,
) -> None:
    """Bring the store to this version's schema; a file is backed up first."""
    from ..db.migrate import LATEST

    before = _version(s)
    if before > LATEST:
        raise NewerSchema(
            f"{s.location} has schema {before}; this Recollect knows {LATEST}. It was left untouched. "
            "Upgrade: git pull && pip install ."
        )
    needed = before < LATEST
    backups: set[Path] = set()
    if not check and needed:
        there = _backups(s, before)
        s.store.get  # noqa: B018 - opening migrates
        backups = _backups(s, before) - there
    backup = next(iter(sorted(backups)), None)
    answer: dict[str, Any] = {
        "location": s.location, "from": before, "to": LATEST, "needed": needed, "migrated": needed and not check,
        "backup": None if backup is None else str(backup),
    }  # fmt: skip
    if s.json:
        output.emit(answer)
    elif not needed:
        output.line(f"{s.location} has schema {LATEST}: nothing to do.")
    elif check:
        output.line(
            f"{s.location} has schema {before}; {LATEST} is the newest. `{s.command('migrate')}` brings it there."
            if before
            else f"There is no store at {s.location} yet; `{s.command('migrate')}` makes an empty one."
        )
    else:
        output.line(
            f"{s.location}: schema {before} → {LATEST}." if before else f"Made {s.location} with schema {LATEST}."
        )
        if backup is not None:
            output.line(f"The file as it was: {backup}")


def _backups(s: Session, version: int) -> set[Path]:
    where = s.where
    return set(where.parent.glob(f"{where.name}.schema-{version}.*.backup")) if isinstance(where, Path) else set()


# -- settings


@command("settings", panel=PANEL)
def settings(s: Session) -> None:
    """Show every setting, its value and where the value comes from."""
    values, given = s.settings, s.given_settings()
    path = Path(config.config_file())
    docs = config.described()
    in_file: set[str] = set()
    if path.is_file():
        import tomllib

        in_file = set(tomllib.loads(path.read_text("utf-8")))
    rows = []
    for name in config.DEFAULTS:
        value = getattr(values, name)
        if name in given:
            value, source = given[name], "command line"
        elif config.PREFIX + name.upper() in os.environ:
            source = config.PREFIX + name.upper()
        else:
            source = "file" if name in in_file else "default"
        if isinstance(value, str):
            value = where_shown(value)
        rows.append({"name": name, "value": value, "source": source, "doc": docs[name]})
    if s.json:
        output.emit({"location": s.location, "file": str(path), "file_exists": path.is_file(), "settings": rows})
        return
    output.show(output.facts([("store", s.location), ("file", f"{path}{'' if path.is_file() else ' (not there)'}")]))
    from rich.padding import Padding

    for r in rows:
        is_set = r["source"] != "default"
        head = output.styled(r["name"], "bold")
        head.append(f" = {output.clean(_value(r['value']))}", "bold cyan" if is_set else "cyan")
        head.append(f"  ({r['source']})", "" if is_set else "dim")
        output.show("", head, Padding(output.styled(r["doc"], "dim"), (0, 0, 0, 4), expand=False))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "unset" if value is None else str(value)


# -- jobs and users


def _jobs(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {'texts to embed' if state == 'to_embed' else state}" for state, n in found.items())


@command("settle", panel=PANEL)
def settle(s: Session) -> None:
    """Finish queued background work now."""
    done = s.store.settle() if s.is_there else 0
    left = s.store.stats()
    if s.json:
        output.emit({"done": done, "jobs": left.jobs, "job_errors": left.job_errors})
        return
    output.line(f"Finished {output.count(done, 'job')}." if done else "Nothing was waiting.")
    if left.jobs:
        output.line(f"Left: {_jobs(left.jobs)}")
    for e in left.job_errors:
        output.line(f"  {output.one_line(e)}", style="red")


@command("reindex", panel=PANEL)
def reindex(s: Session) -> None:
    """Build the index of words anew, when `doctor` says that it is not what it should be."""
    done = s.store.reindex() if s.is_there else 0
    if s.json:
        output.emit({"indexed": done})
        return
    output.line(f"Indexed {output.count(done, 'event and memory', 'events and memories')}.")


@command("users", panel=PANEL)
def users(s: Session) -> None:
    """List everyone who has something in this store (for whoever looks after it)."""
    found: list[Stats] = []
    if s.is_there and s.where is not None:
        from .. import admin

        with admin(s.where, settings=s.settings) as everyone:
            found = everyone.stats()
    if s.json:
        output.emit(found)
        return
    if not found:
        output.line(f"No one has recorded anything in {s.location} yet.")
        return
    output.show(output.table(
        "User", "Conversations", "Events", "Messages", "Last activity",
        rows=[
            (output.styled(u.user, "bold" if u.user == s.settings.user else ""), f"{u.conversations:,}", f"{u.events:,}",
             f"{u.messages:,}", output.when(u.last_at))
            for u in found
        ],
        right=["Conversations", "Events", "Messages"],
    ))  # fmt: skip
