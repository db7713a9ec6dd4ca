"""Going on importing while something is written: `recollect watch`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .. import transfer
from ..errors import DiskFull, OutcomeUnknown, StoreBusy, Unavailable
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
    told: tuple[object, ...] = ()
    while True:
        try:
            if place.exists():
                found = transfer.bring(s.store, format, place, again=False)
                is_news = any(found.added.values()) or (found.problems and found.problems != told)
                if is_news or (once and s.json):  # who asks once is answered
                    output.emit(found, lines=True) if s.json else _report(found)
                told = found.problems
        except (StoreBusy, DiskFull, Unavailable, OutcomeUnknown) as e:
            # It passes, and nothing is lost: what was not written is read again. To end would lose what comes meanwhile.
            if once:
                raise
            if told != (str(e),):
                output.warn(f"{e} Trying again every {every:g} seconds.")
            told = (str(e),)
        if once:
            return
        time.sleep(every)
