"""What people and programs see: tables, JSON, errors, exit codes.

A person gets tables and chats on stdout; a program asks for `--json` and gets one document there and nothing else.
Errors and hints go to stderr. What was stored is shown as it is, except that control characters and the marks that turn the
direction of text become visible signs: the output of some tool must not be able to move the cursor of whoever reads it later.
This module is the only one that writes to the terminal (`tests/doors/test_cli_hostile.py` holds that), and everything goes
through `clean`, JSON through `as_json`.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, cast

from .. import errors, ids
from ..model import Branch, Event, Verification

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

EXIT_CODES = {
    0: "done",
    1: "something unexpected (a bug: set RECOLLECT_DEBUG=1 to see it)",
    2: "wrong usage, input or settings",
    3: "no such conversation, branch, event, memory or store",
    4: "that id or name is taken",
    5: "storage or model busy, unavailable or full",
    6: "damaged, or refused: not safe to write on, a port that is taken, a package that is missing",
    7: "secrets are stored (`scan` without `--fix`)",
    8: "imported, but for what was reported",
    130: "interrupted, or answered with no",
    141: "whoever read the output wanted no more of it (`| head`)",
}
"""The one list of what a command ends with; `recollect --help` prints it."""

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.InvalidInput, 2),
    (errors.SettingsError, 2),
    (errors.NotFound, 3),
    (errors.AlreadyExists, 4),
    (errors.Damaged, 6),
    (errors.Refused, 6),
    (errors.StorageError, 5),
    (errors.ModelFailed, 5),
    (errors.EmbeddingFailed, 5),
    (OSError, 5),
)
SECRETS_FOUND = 7
LEFT_OUT = 8
INTERRUPTED = 130
UNREAD = 141
PIPE_WIDTH = 10_000

ROLE_STYLES = {"user": "cyan", "assistant": "green", "system": "magenta", "tool": "yellow"}
KIND_STYLES = {
    "message": "bold", "tool_use": "yellow", "tool_result": "yellow", "approval": "blue", "error": "red",
    "artifact": "green", "reasoning": "dim", "ledger": "blue", "summary": "magenta", "note": "cyan", "event": "dim",
}  # fmt: skip


def exit_code(error: BaseException) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)


# -- streams


def end_unread() -> None:
    """The pipe was closed at its other end. What is still buffered goes nowhere, or Python would complain when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def prepare_streams() -> None:
    """A pipe or console that cannot say a character gets a `?` in its place instead of a crash (Windows code pages). A stream that
    whoever started us has closed leads nowhere; its number must not become a file's, either."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not (stream.encoding or "").lower().startswith("utf"):
            reconfigure(errors="replace")


def console(*, err: bool = False) -> "Console":
    """Where text goes. Pipes get room, so that no id is broken in two."""
    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return _clean_console()(file=stream, highlight=False, markup=False, emoji=False, width=width)


@cache
def _clean_console() -> "type[Console]":
    """rich's console, through which nothing comes that `clean` takes out, whoever hands it in. What it adds itself, colours and
    the moves of a progress bar, is marked as such in its segments."""
    from rich.console import Console
    from rich.segment import Segment

    class CleanConsole(Console):
        def render(self, renderable: "RenderableType", options: "ConsoleOptions | None" = None) -> "Iterable[Segment]":
            for part in super().render(renderable, options):
                unsafe = not part.control and _UNSAFE.search(part.text)
                yield Segment(clean(part.text), part.style) if unsafe else part

        def render_str(self, text: str, **how: Any) -> "Text":
            return super().render_str(clean(text), **how)  # before the layout, so that widths are right

    return CleanConsole


def show(*things: "RenderableType", out: "Console | None" = None) -> None:
    out = out or console()
    if out.is_terminal:
        _print(out, things)
        return
    with out.capture() as captured:  # nobody wants the blanks that fill a table's cells in a file
        _print(out, things)
    _write("\n".join(row.rstrip(" ") for row in captured.get().split("\n")), out.file)


def _print(out: "Console", things: "Iterable[RenderableType]") -> None:
    for thing in things:
        # What is not to be wrapped is to be copied: the terminal breaks it, and nothing is cut off.
        out.print(thing, soft_wrap=bool(getattr(thing, "no_wrap", False)))


def _write(text: str, stream: IO[str]) -> None:
    stream.write(text)
    stream.flush()


def write(text: str, *, err: bool = False) -> None:
    """Text as it stands, with no line of its own: the next piece of an answer."""
    _write(clean(text), sys.stderr if err else sys.stdout)


class Document(io.TextIOBase):
    """What is exported to a terminal. Into a pipe it goes as it is."""

    def __init__(self, safe: Callable[[str], str]) -> None:
        self._safe = safe

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        sys.stdout.write(self._safe(text))
        return len(text)


def document(*, lines_of_json: bool) -> "IO[Any]":
    """Where an export without a file goes."""
    if sys.stdout.isatty():
        return cast("IO[Any]", Document(_escaped if lines_of_json else clean))
    return sys.stdout.buffer


def line(text: "str | Text", *, style: str | None = None) -> None:
    """One line on stdout, however long; the terminal wraps it, so that it can be copied whole."""
    console().print(text, style=style, soft_wrap=True)


def hint(text: str) -> None:
    """What to do next: for people, so not where a program reads."""
    if sys.stderr.isatty():
        console(err=True).print(text, style="dim", soft_wrap=True)


def warn(text: str) -> None:
    console(err=True).print(f"recollect: {text}", style="yellow")


class Bar:
    """A bar on stderr, there from the first report until `hide`; the next report brings it back."""

    def __init__(self) -> None:
        self._shown: Any = None

    def __call__(self, what: str, done: int, of: int) -> None:
        """A total of 0 means that nobody knows how much there is."""
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        if self._shown is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
            bar = Progress(*columns, console=console(err=True), transient=True)
            bar.start()
            self._shown = bar, bar.add_task(what, total=None)
        bar, task = self._shown
        bar.update(task, description=one_line(what, 40), completed=done, total=of or None)

    def hide(self) -> None:
        """Before something is said on stdout, which knows nothing of the bar."""
        if self._shown is not None:
            self._shown[0].stop()
            self._shown = None


@contextmanager
def progress(what: str, *, shown: bool) -> "Iterator[Bar | None]":
    """A bar for whoever watches; nothing where no one does."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    bar = Bar()
    try:
        bar(what, 0, 0)
        yield bar
    finally:
        bar.hide()


def is_interactive() -> bool:
    """Whether someone is there to answer."""
    return sys.stdin.isatty()


# -- errors


def fail(error: BaseException, said: Callable[[str], str] = str) -> int:
    """Say in one line what went wrong; returns the exit code. `said` puts it as it is said where the reader is."""
    if os.environ.get("RECOLLECT_DEBUG", "").strip().lower() not in ("", "0", "false", "no", "off"):
        import traceback

        write("".join(traceback.format_exception(error)), err=True)
    console(err=True).print(f"recollect: {said(words(error))}", style="red")
    return exit_code(error)


_COMMANDS = {"create": "new"}


def words(error: BaseException) -> str:
    """An error's message for someone at a command line: Python's names for verbs and keywords become commands and
    options."""
    text = clean(" ".join(str(error).split()))
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in ("psycopg", "psycopg_pool"):
        return "Postgres needs a driver that is not installed here: pip install '.[postgres]' in Recollect's own folder"
    if isinstance(error, OSError) and error.strerror:
        own = " Check that you own it and its folder." if isinstance(error, PermissionError) else ""
        return f"{error.filename or 'The system'}: {error.strerror}.{own}"
    if not isinstance(error, errors.RecollectError):
        text = errors.safe(text) if errors.safe else text
        return f"{type(error).__name__}: {text} (unexpected; RECOLLECT_DEBUG=1 shows where)"
    text = re.sub(r"`?\brecollect\.open\(\)`?", "the command", text)
    text = re.sub(
        r"say allow_hosts=\S+ when opening, or (\S+)\.$", r"set \1, or allow_hosts in the settings file.", text
    )
    text = re.sub(r"`?\b([a-z_]+)\(\)`?", lambda m: f"`recollect {_COMMANDS.get(m[1], m[1])}`", text)
    text = re.sub(r"^(Conversation '([^']*)' .*\brecollect branches)`", lambda m: f"{m[1]} {quoted(m[2])}`", text)
    text = re.sub(r"^([a-z_]+)(?= must be a whole number from 0)", lambda m: option(m[1]), text)
    text = re.sub(r"\b([a-z_]+)=(?:'([^']*)'|(-?\d+))", lambda m: f"{option(m[1])} {m[2] or m[3]}", text)
    return re.sub(r"\b([a-z_]+)=(?=[.,;)\s]|$)", lambda m: option(m[1]), text)


def option(keyword: str) -> str:
    return "--" + keyword.replace("_", "-")


def quoted(word: str) -> str:
    if word and re.fullmatch(r"[\w@%+=:,./\\~-]+", word):
        return word
    if sys.platform == "win32":
        return '"' + word.replace('"', '\\"') + '"'
    return "'" + word.replace("'", "'\"'\"'") + "'"


# -- JSON


_ALSO: dict[type, tuple[str, ...]] = {Event: ("id", "stored"), Verification: ("ok",)}


def plain(value: Any) -> Any:
    """Values of ours as JSON has them: an object for a dataclass, its fields in their order, times in milliseconds."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value)] + list(_ALSO.get(type(value), ()))
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def _escaped(text: str) -> str:
    """JSON in which no control character stands as itself: between quotation marks all of them may be escaped, and elsewhere there
    are none but line breaks."""
    return _UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def as_json(value: Any, *, indent: int | None = None, ascii: bool = False) -> str:
    return _escaped(json.dumps(plain(value), ensure_ascii=ascii, indent=indent))


def emit(value: Any, *, lines: bool = False) -> None:
    """One JSON document on stdout; with `lines` one line of several, written at once."""
    indent = 2 if sys.stdout.isatty() and not lines else None
    sys.stdout.write(
        as_json(value, indent=indent, ascii=not (sys.stdout.encoding or "").lower().startswith("utf")) + "\n"
    )
    if lines:
        sys.stdout.flush()


# -- words and numbers

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SIGNS = {i: chr(0x2400 + i) for i in range(32)} | {0x7F: "␡", 0x2028: "␤", 0x2029: "␤"}
_SIGNS |= dict.fromkeys(
    (0x061C, 0x200E, 0x200F), ""
)  # of these three right-to-left text is full, and they alone turn little


def clean(text: str) -> str:
    """Text that can do nothing to a terminal: escape sequences and other controls shown as signs (␛, ␇), what turns the direction
    of the text around it as �."""
    return _UNSAFE.sub(lambda m: _SIGNS.get(ord(m[0]), "\ufffd"), text.replace("\r\n", "\n"))


def one_line(text: str, most: int = 0) -> str:
    """Text on a single line, cut visibly to at most so many characters."""
    text = clean(" ".join(text.split()))
    return text[: most - 1].rstrip() + "…" if most and len(text) > most else text


def count(n: int, noun: str, plural: str = "") -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def number(n: float) -> str:
    return f"{n:,}" if n else "–"


def size(n: int) -> str:
    value = float(n)
    for unit in ("bytes", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "bytes" or value >= 100 else f"{value:.1f} {unit}"


def duration(ms: int) -> str:
    if not ms:
        return "–"
    seconds = ms / 1000
    if seconds < 1:
        return f"{ms} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def local(ms: int) -> datetime | None:
    """A time where the reader is; None for one that no calendar has."""
    try:
        return datetime.fromtimestamp(ms / 1000).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def age(ms: int) -> str:
    seconds = (ids.now() - ms) / 1000
    if seconds < -60:
        return "in the future"
    if seconds < 60:
        return "just now"
    for unit, length, until in (("min", 60, 3600), ("h", 3600, 86_400), ("d", 86_400, 60 * 86_400)):
        if seconds < until:
            return f"{seconds // length:.0f} {unit} ago"
    months = seconds / (30.44 * 86_400)
    return f"{months:.0f} months ago" if months < 24 else f"{months / 12:.0f} years ago"


def when(ms: int | None) -> str:
    """`14:03 (2 h ago)` for today, `3 Nov 14:03 (5 d ago)` this year, `3 Nov 2025 (2 years ago)` before."""
    at = None if ms is None else local(ms)
    if ms is None or at is None:
        return "–" if ms is None else f"{ms} ms"
    now = local(ids.now())
    if now is not None and at.date() == now.date():
        return f"{at:%H:%M} ({age(ms)})"
    year = "%H:%M" if now is not None and at.year == now.year else "%Y"
    return f"{at.day} {at.strftime(f'%b {year}')} ({age(ms)})"


def clock(ms: int) -> str:
    at = local(ms)
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else f"{ms} ms"


# -- renderables


def styled(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(clean(text), style=style)


def table(
    *columns: str, rows: Iterable[Sequence["str | Text"]], right: Sequence[str] = (), wide: Sequence[str] = ()
) -> "RenderableType":
    """A table without lines but one. Only `wide` columns wrap; the others, ids among them, stay on one line. Where the window has
    no room for that, each row is a line or two of its own."""
    from rich.text import Text

    return _Rows(
        columns, [[cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row] for row in rows], right, wide
    )


READABLE = 16
"""How many characters a column needs whose texts wrap."""


class _Rows:
    def __init__(
        self, columns: Sequence[str], rows: list[list["Text"]], right: Sequence[str], wide: Sequence[str]
    ) -> None:
        self._columns, self._rows, self._right, self._wide = columns, rows, right, wide

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.padding import Padding
        from rich.text import Text

        widths = [max([len(name), *(row[i].cell_len for row in self._rows)]) for i, name in enumerate(self._columns)]
        needed = [min(w, READABLE) if n in self._wide else w for n, w in zip(self._columns, widths, strict=True)]
        if sum(needed) + 3 * (len(needed) - 1) <= options.max_width:
            yield self._table(needed)
            return
        for row in self._rows:
            first, rest = [row[0]], []
            for name, cell in list(zip(self._columns, row, strict=True))[1:]:
                if name in self._wide and len(first) == 1:
                    first.append(cell)
                elif cell.plain not in ("", "–"):
                    rest.append(Text(f"{name.lower()} " if name in self._right else "").append_text(cell))
            yield Text("  ").join(first)
            yield Padding(Text(" · ").join(rest), (0, 0, 0, 2), style="dim")

    def _table(self, widths: Sequence[int]) -> "Table":
        from rich import box
        from rich.table import Table

        made = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, padding=(0, 1, 0, 1), show_edge=False)
        for name, width in zip(self._columns, widths, strict=True):
            made.add_column(
                name,
                justify="right" if name in self._right else "left",
                no_wrap=name not in self._wide,
                overflow="fold",
                min_width=width,
            )
        for row in self._rows:
            made.add_row(*row)
        return made


def facts(pairs: Iterable[tuple[str, "str | Text"]]) -> "Table":
    """Names and values below each other."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(name, value if isinstance(value, Text) else Text(clean(value)))
    return grid


def tries(commands: Iterable[tuple[str, str]]) -> "RenderableType":
    """Commands to try, with what they do: beside it, or above it where a command is too long for that."""
    from rich.table import Table
    from rich.text import Text

    commands = list(commands)
    if any(len(command) > console().width // 2 for command, _ in commands):
        said = Text(no_wrap=True, overflow="ignore")
        for command, what in commands:
            said.append(f"  # {what}\n", "dim").append(f"  {command}\n", "cyan")
        said.rstrip()
        return said
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim")
    for command, what in commands:
        grid.add_row(Text(f"  {command}", style="cyan"), Text(what))
    return grid


def chat(messages: Iterable[Event], *, reasoning: bool = False) -> Iterable["RenderableType"]:
    """Messages as they were said; a summary as a box where the messages it covers stood."""
    from rich.padding import Padding
    from rich.panel import Panel

    for e in messages:
        if e.kind == "summary":
            body = re.sub(r"\A\*\*Conversation Summary\*\*\s*", "", e.text)
            yield Panel(
                styled(re.sub(r"(?m)^_(.*)_$", r"\1", body).strip()),
                title=f"Summary (#{e.seq})", title_align="left", border_style="magenta", expand=False,
            )  # fmt: skip
        else:
            style = ROLE_STYLES.get(e.role or "", "white")
            head = styled(e.role or e.kind, f"bold {style}")
            if e.agent:
                head.append(f" {one_line(e.agent)}", style)
            head.append(f"  #{e.seq}  {when(e.created_at)}", "dim")
            yield head
            for trace in e.traces if reasoning else ():
                yield Padding(styled(f"Thinking: {trace.text}", "dim italic"), (0, 0, 1, 2), expand=False)
            yield Padding(styled(e.text or "(empty)", "" if e.text else "dim"), (0, 0, 0, 2), expand=False)
        yield ""


CUT_LINES = 12
CUT_CHARACTERS = 1_000


def event(e: Event, *, full: bool = True, branch: bool = False) -> Iterable["RenderableType"]:
    """One event of a replay: number, time, kind, what it is about, and below it what it says."""
    from rich.padding import Padding

    head = styled(f"#{e.seq:<5}", "bold")
    head.append(f"{clock(e.created_at)}  ", "dim")
    head.append(f"{e.kind:<12}", KIND_STYLES.get(e.kind, ""))
    if e.role and e.kind == "message":
        head.append(f"{e.role} ", ROLE_STYLES.get(e.role, ""))
    about = [e.name, e.tool, e.path, e.task_id, e.status]
    if e.kind in ("reasoning", "summary") and e.message:
        about.append(f"for #{e.message}" if e.kind == "reasoning" else f"through #{e.message}")
    head.append(" ".join(one_line(a) for a in about if a))
    yield head
    extras = [e.agent or "", e.model or "", *(f"tag {t}" for t in e.tags)]
    if e.input_tokens or e.output_tokens:
        extras.append(f"{e.input_tokens or 0:,} tokens in, {e.output_tokens or 0:,} out")
    if e.cost:
        extras.append(f"cost {e.cost:,.4f}")
    if e.duration_ms:
        extras.append(duration(e.duration_ms))
    if branch:
        extras.append(f"on {e.branch}")
    payload = dict(e.payload)
    changed = payload.pop("diff", None) if e.kind == "artifact" else None
    said = [styled(one_line(" · ".join(x for x in extras if x)), "dim")] if any(extras) else []
    said += [styled(e.text if full else _cut(e.text))] if e.text else []
    said += [_diff(changed if full else _cut(changed))] if isinstance(changed, str) else []
    if payload:
        text = as_json(payload)
        said.append(styled(text if full else _cut(text), "dim"))
    for part in said:
        yield Padding(part, (0, 0, 0, 6), expand=False)


def _diff(text: str) -> "Text":
    made = styled("")
    for row in clean(text).rstrip("\n").split("\n"):
        made.append(f"{row}\n", {"+": "green", "-": "red", "@": "cyan"}.get(row[:1], "dim"))
    made.rstrip()
    return made


def _cut(text: str) -> str:
    kept = "\n".join(text[:CUT_CHARACTERS].split("\n")[:CUT_LINES])
    return text if len(kept) == len(text) else f"{kept}…\n[{len(text) - len(kept):,} more characters: --full]"


def branch_tree(branches: Sequence[Branch]) -> "RenderableType":
    """Branches below the ones they were forked from."""
    from rich.tree import Tree

    def label(b: Branch) -> "Text":
        text = styled(b.name, "bold green" if b.active else "bold")
        if b.active:
            text.append(" (active)", "green")
        if b.parent is not None:
            text.append(f"  from #{b.fork_seq}", "cyan")
        text.append(f"  up to #{b.head}" if b.head else "  empty", "dim")
        text.append(f"  {when(b.updated_at)}", "dim")
        if b.preview:
            text.append(f"\n{one_line(b.preview, 72)}", "dim italic")
        return text

    root = Tree(label(branches[0]))
    nodes = {branches[0].name: root}
    for b in branches[1:]:  # a parent always comes before its children
        nodes[b.name] = nodes[b.parent or branches[0].name].add(label(b))
    return root
