"""Taking a history out, and bringing one in: `recollect export`, and `recollect import`, whatever wrote it."""

import gzip
import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer

from .. import transfer
from ..errors import AlreadyExists, InvalidInput
from ..model import Imported
from . import output
from .session import Session, command, complete_conversation
from .store import PANEL

if TYPE_CHECKING:
    from ..db.cipher import Key
    from ..model import Progress

FORMS = ("jsonl", "markdown")


def complete_form(incomplete: str) -> list[str]:
    return [name for name in FORMS if name.startswith(incomplete)]


@command("export", panel=PANEL)
def export(
    s: Session,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to; a name that ends in .gz is packed. -, or nothing in a pipe: standard output.", show_default=False)] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", "-c", metavar="CONVERSATION", help="Only this one: its id, a beginning of it, or @ for the newest.", autocompletion=complete_conversation, show_default=False)] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", metavar="NAME", help="Only what belongs to this workspace.", show_default=False)] = None,
    format: Annotated[str | None, typer.Option("--format", "-f", help="jsonl can be imported again; markdown is for reading. Unsaid: markdown for a name that ends in .md, else jsonl.", autocompletion=complete_form, show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    encrypt: Annotated[bool, typer.Option("--encrypt", help="Encrypt the file: with the store's key, the one that key_file names, or a passphrase.")] = False,
) -> None:  # fmt: skip
    """Write everything to a file: conversations, branches, memories with their history, the state of graphs."""
    if format is None:
        format = "markdown" if file is not None and file.suffix == ".md" else "jsonl"
    name = None if conversation is None else s.find(conversation, deleted=format == "jsonl").id
    if encrypt and (file is None or str(file) == "-" or file.suffix == ".gz"):
        raise InvalidInput("--encrypt needs a FILE, and packs nothing: choose a name that does not end in .gz.")
    if file is None and format == "jsonl" and sys.stdout.isatty():
        raise InvalidInput(_where_to(s, name, workspace))
    if file is None or str(file) == "-":
        out = output.document(lines_of_json=format == "jsonl")
        s.store.export(out, conversation=name, workspace=workspace, format=format)
        sys.stdout.flush()
        return
    path = file.expanduser()
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():  # the file that takes its name would take its place
        raise InvalidInput(f"{path} is no file, but a device or a pipe; - writes to standard output.")
    if path.exists() and not force:
        raise AlreadyExists(f"{path} exists already: choose another name, or say --force.")
    key = _key(s) if encrypt else None
    with output.progress("Exporting", shown=not s.json) as bar:
        counts = _export(s, path, bar, key, conversation=name, workspace=workspace, format=format)
    size = path.stat().st_size
    if s.json:
        output.emit({"path": path, "bytes": size, **counts})
        return
    output.line(f"Exported to {path} ({output.size(size)}): {', '.join(_counted(counts)) or 'nothing there yet'}.")


def _where_to(s: Session, conversation: str | None, workspace: str | None) -> str:
    """For who did not say, at a terminal: nobody reads lines of JSON there."""
    part = [*(["-c", conversation] if conversation else []), *(["-w", workspace] if workspace else [])]
    to_read = s.command("export", *part, "--format", "markdown")
    to_keep = s.command("export", "recollect.jsonl", *part)
    return f"Say where to: `{to_keep}` writes a file, `{to_read}` is to be read here, and - prints the lines of JSON."


def _key(s: Session) -> "Key":
    """What an encrypted export is encrypted with."""
    from .keys import new_key

    found = s.key_for(s.where) if isinstance(s.where, Path) else None
    return found or new_key(s, None, None, False, False)


def _export(s: Session, path: Path, bar: "Progress | None", key: "Key | None", **what: Any) -> Mapping[str, int]:
    """To a file beside it, which takes its name when it is whole. Nobody else may read it: it holds everything."""
    if not path.parent.is_dir():
        raise InvalidInput(f"There is no folder {path.parent}. Nothing was exported.")
    if key is not None:
        from .. import sealed

        with sealed.writing(path, key, replace=True) as locked:
            return s.store.export(locked, progress=bar, **what)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", fileobj=raw) as packed:
                    counts = s.store.export(cast("IO[bytes]", packed), progress=bar, **what)
            else:
                counts = s.store.export(raw, progress=bar, **what)
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return counts


def complete_format(incomplete: str) -> list[str]:
    return [name for name in transfer.names() if name.startswith(incomplete)]


@command("import", panel=PANEL, creates=True)
def import_(
    s: Session,
    source: Annotated[str, typer.Argument(metavar="FORMAT|FILE", help=f"What wrote it ({', '.join(transfer.names())}), or the file itself if it shows; - for an export out of a pipe.", autocompletion=complete_format, show_default=False)],
    file: Annotated[Path | None, typer.Argument(metavar="PATH", help="The file or folder; it is only read. Unsaid: where that format is usually kept.", show_default=False)] = None,
    module: Annotated[list[str] | None, typer.Option("--module", metavar="NAME", help="A module of yours that defines types which a graph's state holds. May be said again.", show_default=False)] = None,
    again: Annotated[bool, typer.Option("--again", help="Also what was erased here.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Take an export that this store did not sign at its word: its memories become active.")] = False,
) -> None:  # fmt: skip
    """Bring a history in: an export of ours, or what another program wrote. A second time adds nothing."""
    for name in module or ():
        try:
            importlib.import_module(name)
        except ImportError as e:
            raise InvalidInput(f"--module {name}: {e}") from e
    format, path = _meant(source, file)
    with output.progress("Importing", shown=not s.json) as bar:
        found = transfer.bring(s.store, format, path, again=again or None, trust=trust, progress=bar)
    if s.json:
        output.emit(found)
    else:
        _report(found)
        if not found.trusted and found.added.get("memories"):
            output.line("This store did not sign that archive, so its memories wait to be reviewed:", style="yellow")
            output.line(
                f"  `{s.command('memories', '--state', 'quarantined')}` lists them. If you made the archive yourself,",
                style="yellow",
            )
            output.line("  accept what is yours, or import it into an empty store with --trust.", style="yellow")
    if found.problems:
        raise typer.Exit(output.LEFT_OUT)


def _meant(source: str, file: Path | None) -> tuple[str, Path | None]:
    """The format and the path behind what was said: either may be left out."""
    if source in transfer.names():
        return source, None if file is None else file.expanduser()
    if file is not None:
        raise InvalidInput(f"There is no format {source!r} to import. There is: {', '.join(transfer.names())}.")
    path = Path("/dev/stdin" if source == "-" else source).expanduser()
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
    return [output.count(n, _one(what), what) for what, n in numbers.items() if n]


def _one(things: str) -> str:
    """`lines of the unknown type 'x'`, if it is one line."""
    first, _, rest = things.partition(" ")
    one = {"memories": "memory", "branches": "branch"}.get(first, first.removesuffix("s"))
    return f"{one} {rest.replace('that are no transcripts', 'that is no transcript')}".rstrip()
