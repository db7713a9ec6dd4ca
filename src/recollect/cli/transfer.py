"""Bringing histories in: `recollect import`, whatever wrote them."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from .. import transfer
from ..errors import InvalidInput
from ..model import Imported
from . import output
from .session import Session, command
from .store import PANEL


def complete_format(incomplete: str) -> list[str]:
    return [name for name in transfer.names() if name.startswith(incomplete)]


@command("import", panel=PANEL, creates=True)
def import_(
    s: Session,
    source: Annotated[str, typer.Argument(metavar="FORMAT|FILE", help=f"What wrote it ({', '.join(transfer.names())}), or the file itself if it shows.", autocompletion=complete_format, show_default=False)],
    file: Annotated[Path | None, typer.Argument(metavar="PATH", help="The file or folder; it is only read. Unsaid: where that format is usually kept.", show_default=False)] = None,
    module: Annotated[list[str] | None, typer.Option("--module", metavar="NAME", help="A module of yours that defines types which a graph's state holds. May be said again.", show_default=False)] = None,
) -> None:  # fmt: skip
    """Bring a history in: an export of ours, or what another program wrote. A second time adds nothing."""
    for name in module or ():
        try:
            importlib.import_module(name)
        except ImportError as e:
            raise InvalidInput(f"--module {name}: {e}") from e
    format, path = _meant(source, file)
    with output.progress("Importing", shown=not s.json) as bar:
        found = transfer.bring(s.store, format, path, progress=bar)
    if s.json:
        output.emit(found)
    else:
        _report(found)
    if found.problems:
        raise typer.Exit(output.LEFT_OUT)


def _meant(source: str, file: Path | None) -> tuple[str, Path | None]:
    """The format and the path behind what was said: either may be left out."""
    if source in transfer.names():
        return source, None if file is None else file.expanduser()
    if file is not None:
        raise InvalidInput(f"There is no format {source!r} to import. There is: {', '.join(transfer.names())}.")
    path = Path(source).expanduser()
    return transfer.recognise(path), path


def _report(found: Imported) -> None:
    added, known = _counted(found.added), _counted(found.known)
    output.line(f"Brought in: {', '.join(added)}." if added else "Nothing new.")
    if known:
        output.line(f"There already: {', '.join(known)}.")
    for problem in found.problems[:20]:
        output.line(output.clean(f"  {problem.where}: {problem.what} {problem.fix}"), style="yellow")
    if len(found.problems) > 20:
        output.line(f"  and {len(found.problems) - 20:,} more; --json lists them all", style="yellow")


def _counted(numbers: Mapping[str, int]) -> list[str]:
    one = {"memories": "memory", "branches": "branch"}
    return [output.count(n, one.get(what, what.removesuffix("s")), what) for what, n in numbers.items() if n]
