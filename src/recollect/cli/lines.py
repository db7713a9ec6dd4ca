"""Lines that are typed or piped, and messages made of them."""

import sys
from collections.abc import Callable, Iterator

from ..errors import InvalidInput
from . import output

QUOTES = '"""'


def joined(line: Callable[[bool], str | None]) -> str | None:
    """One message of as many lines as belong together. `line(more)` gives the next one, None at the end."""
    first = line(False)
    if first is None:
        return None
    if first.lstrip().startswith(QUOTES):
        rows = [first.lstrip()[len(QUOTES) :]]
        while not rows[-1].rstrip().endswith(QUOTES):
            row = line(True)
            if row is None:
                return "\n".join(rows).strip("\n")
            rows.append(row)
        rows[-1] = rows[-1].rstrip()[: -len(QUOTES)]
        return "\n".join(rows).strip("\n")
    rows = [first]
    while rows[-1].endswith("\\"):
        row = line(True)
        rows[-1] = rows[-1][:-1]
        if row is None:
            break
        rows.append(row)
    return "\n".join(rows)


def ask_line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        output.line("")
        return None


def piped() -> Iterator[str]:
    """The lines of standard input as they come, as UTF-8 whatever the console's code page is."""
    for n, raw in enumerate(iter(sys.stdin.buffer.readline, b""), 1):
        try:
            # What Windows writes before the first line says how the file is written, and is not said.
            yield raw.decode("utf-8-sig" if n == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as e:
            raise InvalidInput(f"Line {n} of standard input is not UTF-8 (byte {e.start}).") from None


def prepare_typing(commands: list[str]) -> None:
    """Arrow keys, and TAB for commands. What was typed is kept for this run only: the store has it, redacted."""
    try:
        import readline
    except ImportError:  # Windows: its console edits lines by itself
        return

    def complete(text: str, n: int) -> str | None:
        fits = [f"/{c} " for c in commands if f"/{c}".startswith(text)] if text.startswith("/") else []
        return fits[n] if n < len(fits) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    readline.parse_and_bind("tab: complete")
