"""Histories from elsewhere: one module a format, named as the format is (`claude_code.py` is `claude-code`).

A new format is one file here, and nothing else: it is found by its name, and `recollect import` offers it. It has

- `ABOUT`: what it reads, in a few words for the help;
- `looks_like(path)`: whether a file or folder is of this format. Cheap, and sure: a file that two formats claim is imported
  by neither;
- `bring(store, path, again=False, progress=None)`: read it, and bring it in through the verbs of the store, which redact and check. It
  returns what was added, what was known already, and what was left out as problems. It never changes what it reads, it may
  be interrupted and run again, and the second time adds nothing. A version of the format that it does not know is reported,
  not guessed. What was erased here (`was_erased`) is reported and left out, unless it is wanted `again`;
- `usual_place()`, where there is one: what is meant when no path is said.

What a format needs (a framework, say) is imported by `bring`, which says what to install: to recognise a file, every module
is loaded.
"""

from __future__ import annotations

from ..errors import InvalidInput, NotFound
from ..model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Protocol

    from ..model import Imported, Progress
    from ..store import Store

    class Format(Protocol):
        """What a module of this package is."""

        ABOUT: str

        def looks_like(self, path: Path) -> bool: ...
        def bring(
            self, store: Store, path: Path, *, again: bool | None = None, progress: Progress | None = None
        ) -> Imported: ...


def names() -> list[str]:
    """The formats there are; none of them is loaded for it."""
    from pkgutil import iter_modules  # here: a hook that reads a transcript needs none of this

    return sorted(found.name.replace("_", "-") for found in iter_modules(__path__) if not found.name.startswith("_"))


def load(name: str) -> Format:
    """The module of a format."""
    if name not in names():
        raise InvalidInput(f"There is no format {name!r} to import. There is: {', '.join(names())}.")
    from importlib import import_module

    found: Any = import_module(f".{name.replace('-', '_')}", __name__)
    format: Format = found
    return format


def usual_place(name: str) -> Path:
    """Where histories of a format are when nobody says where."""
    found = getattr(load(name), "usual_place", None)
    if found is None:
        raise InvalidInput(f"{name} has no usual place: say which file to import.")
    place: Path = found()
    return place


def recognise(path: Path) -> str:
    """The format of a file or folder."""
    if not path.exists():
        raise NotFound(f"There is no file {path}, and no format of that name. The formats are: {', '.join(names())}.")
    if not path.is_file() and not path.is_dir():
        return "recollect"  # a pipe is read once: nothing can be looked at first
    fit = [name for name in names() if load(name).looks_like(path)]
    if not fit and path.is_file():
        path.open("rb").close()  # what may not be read is of no format either, and says so itself
    if len(fit) != 1:
        what = f"could be any of {', '.join(fit)}" if fit else f"is of no known format ({', '.join(names())})"
        raise InvalidInput(f"{path} {what}: say which, as in `recollect import {(fit or names())[0]} {path}`.")
    return fit[0]


def bring(
    store: Store, name: str, path: Path | None = None, *, again: bool | None = None, trust: bool = False,
    progress: Progress | None = None,
) -> Imported:  # fmt: skip
    """Import a file or folder of a format into a store, for its user; with `again` also what was erased here. Unsaid, naming
    a file that is one conversation asks for it. `trust`: an export of ours, whoever made it, is taken at its word."""
    module = load(name)
    more = {}
    if trust:
        if name != "recollect":
            raise InvalidInput(
                f"Only an export of ours can be trusted; this is {name}, whose messages are read as usual."
            )
        more["trust"] = True
    return module.bring(store, usual_place(name) if path is None else path, again=again, progress=progress, **more)


def was_erased(store: Store, conversation: str) -> bool:
    """Whether a conversation of this id was erased, and not begun anew since."""
    return bool(store.receipts(conversation=conversation, limit=1))


def erased(conversation: str) -> Problem:
    """What a format says of one that it leaves out."""
    return Problem(
        f"conversation {conversation}",
        "It was erased here, and was left out.",
        "`recollect import --again` brings it back.",
    )
