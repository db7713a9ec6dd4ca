"""Going on importing while something is written: `recollect watch`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .. import transfer
from . import output
from .session import Session, command
from .store import PANEL
from .transfer import _report, complete_format


@command("watch", panel=PANEL, creates=True)
def watch(
    s: Session,
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="What writes it: claude-code.", autocompletion=complete_format, show_default=False)],
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="The file or folder. Unsaid: where that format is usually kept.", show_default=False)] = None,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", min=0.1, help="How often to look.")] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
) -> None:  # fmt: skip
    """Keep importing what is written, before it is deleted: Claude Code keeps its transcripts for thirty days. Ctrl-C ends it."""
    place = transfer.usual_place(format) if path is None else path.expanduser()
    if not s.json:
        output.line(
            f"Looking once into {place} for {format}." if once else f"Watching {place} for {format}; Ctrl-C ends it."
        )
    while True:
        if place.exists():
            found = transfer.bring(s.store, format, place, again=False)
            if found.added.get("events"):
                output.emit(found, lines=True) if s.json else _report(found)
        if once:
            return
        time.sleep(every)
