"""Secrets: what would be replaced in a text, and what is in the store already."""

import sys
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .. import backup
from ..errors import NotFound
from ..model import SecretPlace
from ..store import Store
from ..verbs.handle import gate_of
from . import output
from .doctor import PANEL
from .events import STDIN, read_file
from .session import Session, Yes, command, confirm, read_stdin

if TYPE_CHECKING:
    from rich.console import Console

    from ..model import Progress

SHOWN = 8


# -- recollect redact


@command("redact", panel=PANEL)
def redact(
    s: Session,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The text; - (or nothing) reads standard input.", show_default=False)
    ] = STDIN,
    show: Annotated[
        bool, typer.Option("--show", help="Print the text as it would be stored, and the report below it, on stderr.")
    ] = False,
) -> None:
    """Show which secrets would be replaced in a text, and where; nothing is stored, no secret is printed."""
    if file == STDIN and output.is_interactive():
        output.hint("Reading from the keyboard; end with Ctrl-D (Windows: Ctrl-Z, Enter).")
    try:
        text = read_stdin() if file == STDIN else read_file(file)
    except NotFound as e:
        raise NotFound(f"{e} To try a text itself, pipe it in: echo '...' | {s.command('redact')}") from None
    from ..redact import redact

    clean, findings = redact(text, gate_of(s.settings.but(redact=True)).policy())
    starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    found: list[dict[str, Any]] = []
    for family, start, end in findings:
        line = bisect_right(starts, start)
        found.append(
            {"family": family, "line": line, "column": start - starts[line - 1] + 1, "start": start, "end": end}
        )
    if not s.settings.redact:
        output.warn("redaction is off in the settings (`redact`): this is what it would do.")
    if s.json:
        output.emit({"findings": found, "text": clean} if show else {"findings": found})
        return
    if show:  # the text alone is on stdout, so that it can go into a file; the report stands below it
        output.write(clean + ("\n" if clean and not clean.endswith("\n") else ""))
        output.write("\n", err=True)
    _report(found, lines=len(starts) - (text.endswith("\n") or not text), out=output.console(err=show))
    if found and not show:
        output.hint("--show prints the text as it would be stored.")


def _report(found: list[dict[str, Any]], lines: int, out: "Console") -> None:
    if not found:
        output.show(f"No secrets in {output.count(lines, 'line')}.", out=out)
        return
    rows = Counter((f["family"], f["line"]) for f in found)
    first = {(f["family"], f["line"]): f["column"] for f in reversed(found)}
    table = output.table(
        "Family", "Line", "Column", "Count",
        rows=[(family, f"{line:,}", f"{first[family, line]:,}", f"{n:,}") for (family, line), n in rows.items()],
        right=["Line", "Column", "Count"],
    )  # fmt: skip
    said = f"{output.count(len(found), 'secret')} in {output.count(lines, 'line')} would be replaced."
    output.show(table, "", said, out=out)


# -- recollect scan


class Place(NamedTuple):
    user: str
    title: str | None
    """None also where the title may be what holds the secret."""
    place: SecretPlace


class Found(NamedTuple):
    events: int
    places: list[Place]
    refused: list[str]
    """Families of secrets that are someone's user id, which nothing can change."""


@command("scan", panel=PANEL)
def scan(
    s: Session,
    fix: Annotated[bool, typer.Option("--fix", help="Replace them by markers, where they stand, for good.")] = False,
    all_users: Annotated[bool, typer.Option("--all-users", help="Look at everyone's conversations, not only at one user's.")] = False,
    yes: Yes = False,
) -> None:  # fmt: skip
    """Look for secrets in what is stored already; with --fix, replace them by markers.

    Ends with 7 when there are some and they were not replaced.
    """
    found = _scan(s, fix and yes, all_users)
    fixed = fix and yes
    if found.places and fix and not yes:
        if not s.json:
            _show(s, found, all_users)
        confirm(f"Replace what is in {output.count(len(found.places), 'place')} by markers, for good?", yes)
        found, fixed = _scan(s, True, all_users), True
    elif not s.json:
        _show(s, found, all_users)
    left = (bool(found.places) and not fixed) or bool(found.refused)
    if s.json:
        output.emit(
            {
                "events": found.events,
                "places": [_plain(p) for p in found.places],
                "fixed": fixed,
                "user_ids": found.refused,
                "clean": not left,
            }
        )
    elif found.places and fixed:
        output.line(f"Replaced by markers in {output.count(len(found.places), 'place')}.", style="green")
        _elsewhere(s)
    elif found.places:
        words = ["--all-users"] if all_users else []
        output.show(output.tries([(s.command("scan", "--fix", *words), "replace them by markers, for good")]))
    for family in found.refused if not s.json else ():
        output.warn(f"a user's id holds a secret ({family}). An id cannot be changed: erase what is theirs.")
    if left:
        raise typer.Exit(output.SECRETS_FOUND)


def _scan(s: Session, fix: bool, all_users: bool) -> Found:
    s.store  # noqa: B018 - asks for a key, if it needs one, before there is a bar in the way
    with output.progress("scanning", shown=not s.json) as bar:
        if not all_users or s.where is None or not s.is_there:
            return _scan_one(s.store, fix, bar)
        from .. import admin

        events, places, refused = 0, list[Place](), list[str]()
        with admin(s.where, settings=s.settings) as everyone:
            gate = gate_of(s.settings.but(redact=True))
            for user in everyone.users():
                family = gate.names_a_secret(user)
                if family:
                    refused.append(family)
                    continue
                one = _scan_one(everyone.for_user(user), fix, bar)
                events += one.events
                places += one.places
        return Found(events, places, refused)


def _scan_one(store: Store, fix: bool, bar: "Progress | None") -> Found:
    found = store.scan(fix=fix, progress=bar)
    if any(c.checkpoint for c in store.conversations(limit=1_000_000)):
        from dataclasses import replace

        from ..langgraph import Saver

        # The state of graphs is read by LangGraph's own means, so a door looks into it.
        found = replace(found, places=(*found.places, *Saver(store).scan(fix=fix)))
    own = {p.conversation_id for p in found.places if p.seq == 0}
    titles: dict[str, str | None] = {}
    for deleted in (False, True) if found.places else ():
        cursor = None
        while page := store.conversations(limit=1_000, cursor=cursor, deleted=deleted):
            titles |= {c.id: c.title for c in page if c.id not in own}
            cursor = page[-1].cursor
    return Found(found.events, [Place(store.user, titles.get(p.conversation_id), p) for p in found.places], [])


def _plain(p: Place) -> dict[str, Any]:
    return {"user": p.user, "title": p.title, **output.plain(p.place)}


def _show(s: Session, found: Found, all_users: bool) -> None:
    looked = output.count(found.events, "event")
    if not found.places:
        if found.events:
            output.line(f"No secrets: {looked} of {'all users' if all_users else s.settings.user} in {s.location}.")
        else:
            said = "no one has recorded anything" if all_users else f"{s.settings.user} has recorded nothing"
            output.line(f"Nothing to look at: {said} in {s.location} yet.")
        return
    rows: dict[tuple[str, str, str], list[int]] = {}
    called: dict[tuple[str, str], str] = {}
    for p in found.places:
        id = p.place.conversation_id
        called[p.user, id] = output.one_line(p.title, 48) if p.title else id or "–"
        for family in p.place.families:
            rows.setdefault((family, p.user, id), []).append(p.place.seq)
    columns = ["Family", *(["User"] if all_users else []), "Conversation", "Where"]
    output.show(output.table(
        *columns,
        rows=[
            [family, *([user] if all_users else []), called[user, id], _where(seqs, is_of_one=bool(id))]
            for (family, user, id), seqs in sorted(rows.items())
        ],
        wide=["Conversation", "Where"],
    ), "")  # fmt: skip
    held = [output.count(named, "conversation")] if (named := sum(1 for _, id in called if id)) else []
    held += ["what belongs to none"] if any(not id for _, id in called) else []
    output.line(f"Secrets in {output.count(len(found.places), 'place')} of {' and '.join(held)}; {looked} looked at.")


def _where(seqs: list[int], *, is_of_one: bool) -> str:
    """Event numbers; what belongs to the conversation itself, or to none, has none."""
    own = "its title, metadata, names or memories" if is_of_one else "a memory or another record of no conversation"
    said = [f"#{seq}" if seq else own for seq in seqs[:SHOWN]]
    return ", ".join(said) + (f" and {len(seqs) - SHOWN:,} more" if len(seqs) > SHOWN else "")


def _elsewhere(s: Session) -> None:
    """Where a secret that was replaced may still be."""
    copies = len(backup.found(s.where)) + len(backup.away(s.where)) if isinstance(s.where, Path) else 0
    if copies:
        output.warn(f"{output.count(copies, 'backup')} may still hold them: `{s.command('backups')}`.")
    elif isinstance(s.where, str):
        output.hint("The server's dead rows go with its next VACUUM: docs/how-to/postgres.md.")
    if not s.settings.redact:
        output.warn("redaction is off in the settings (`redact`): what is recorded from now on is stored as it is.")
    if sys.stderr.isatty():
        output.hint("What was stored in the clear should be changed where it is used: it may have been read.")
