"""Which store a command works on, and whose; and how a conversation is named at a command line.

Every command is a function `(session, its own arguments)`. `@command` gives it the options they all share, before or
after the command's name, opens the store when it is first used, closes it, and turns errors into a line and an exit
code. Nothing is created by looking: only commands that record make a file where there is none.
"""

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec

import typer
from typer.core import TyperArgument, TyperCommand

from .. import config, ids, store
from .. import conversations as talks
from ..config import Settings
from ..errors import ConversationDeleted, InvalidInput, NotFound, RecollectError
from ..model import Conversation
from ..store import Store
from . import output, starting

if TYPE_CHECKING:
    from rich.text import Text

    from ..db.cipher import Key

P = ParamSpec("P")

PAGE = 1_000
SHORTEST_PREFIX = 4
NEWEST = "@"

app = typer.Typer(
    name="recollect",
    help="The memory of an AI agent: every conversation kept, replayed, forked and summarized, in one file you own.",
    epilog="Exit codes: " + "; ".join(f"{code} {what}" for code, what in output.EXIT_CODES.items()) + ".",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

SHARED = "Which store"
Database = Annotated[
    str | None,
    typer.Option(
        "--database", "-d", metavar="PATH|URL", rich_help_panel=SHARED,
        help="The store: a file, or a postgresql:// address. Unsaid: the one that the settings name.",
    ),
]  # fmt: skip
User = Annotated[
    str | None,
    typer.Option("--user", "-u", metavar="ID", rich_help_panel=SHARED, help="Whose conversations. Unsaid: the settings' user."),
]  # fmt: skip
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", rich_help_panel=SHARED, help="The folder whose chat.db is meant.",
    ),
]  # fmt: skip
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on stdout instead of text; times in milliseconds UTC.")
]


DEMO = "recollect demo"
"""For a hint: with the store of the one who reads it, it would record there."""
FEW_JOBS, FEW_TEXTS = 50, 2_000  # done in a second


@functools.cache
def _tell_of_misspelt() -> None:
    """Once in a process."""
    for told in config.misspelt():
        output.warn(told)


class Session:
    """One run of one command: the store it is about, its user, and the form of its answers."""

    def __init__(
        self,
        database: str | None,
        user: str | None,
        data_dir: Path | None,
        as_json: bool = False,
        creates: bool = False,
    ) -> None:
        self._given = (database, user, Path(data_dir) if data_dir else None)
        self._creates = creates
        self._store: Store | None = None
        self.json = as_json
        self.asks = True
        """Whether a person may be asked for a key."""
        self.forgives = False
        """Use the default for a setting that is wrong, as hooks do, and say so."""
        self.wrong_settings: list[str] = []

    @functools.cached_property
    def settings(self) -> Settings:
        database, user, data_dir = self._given
        if self.forgives:
            from .. import hooks

            settings, self.wrong_settings = hooks.usable(user=user)
            self.wrong_settings += config.misspelt()
        else:
            settings = Settings.load(user=user)
            _tell_of_misspelt()
        if data_dir is not None:  # said here and now, so it may be relative, and wins over a configured database
            folder = str(data_dir.expanduser().resolve())
            settings = settings.but(data_dir=folder, database=settings.database if database else None)
        return settings

    @functools.cached_property
    def where(self) -> str | Path | None:
        """A path, a Postgres address, or None for a store in memory."""
        found = store._where(self._given[0], self.settings)
        return found if found is None or config.is_postgres(found) else Path(found)

    @property
    def location(self) -> str:
        where = self.where
        if where is None:
            return "memory (persistence is off)"
        return where_shown(where) if isinstance(where, str) else str(where)

    @property
    def is_there(self) -> bool:
        """False for a file that does not exist yet. Servers are asked when they are needed."""
        return not isinstance(self.where, Path) or self.where.exists()

    @property
    def store(self) -> Store:
        if self._store is None:
            if isinstance(self.where, str):
                import logging  # the pool's own remarks about a server that is away: ours is the one line to read

                logging.getLogger("psycopg").setLevel(logging.CRITICAL)
            self._let_ask()
            if self.is_there or self._creates:
                self._store = Store.open(self._given[0], settings=self.settings)
            elif self.named:
                raise NotFound(f"There is no store at {self.where}. `{self.command('new')}` would make one there.")
            else:
                # Nothing was recorded yet: an empty store in memory answers like the one that is not there.
                self._store = Store.open(":memory:", settings=self.settings)
            from .. import langgraph

            langgraph.read_with_model(self._store)
        return self._store

    def catch_up(self) -> None:
        """Learn and embed what earlier commands left: each ended before that was done, and who asks now wants to find it. If it
        is much, it is only said how."""
        if not self.is_there:
            return
        from .. import jobs

        waiting = self.store._read(jobs.counts)
        queued, texts = waiting.get("queued", 0), waiting.get("to_embed", 0)
        if queued and queued <= FEW_JOBS and texts <= FEW_TEXTS:
            try:
                self.store.settle()
            except RecollectError:
                pass  # a store that cannot be written to can still be read
        elif queued:
            output.hint(f"There is more to be learned from it: {self.command('settle')}")

    def hint_at_others(self) -> None:
        """For who looks in the right place under the wrong name. Of a file alone: on a server, people do not see each other."""
        if isinstance(self.where, Path) and self.is_there and not self.store.conversations(limit=1):
            others = [name for name in self.store._db.users() if name != self.settings.user]
            if others:
                database, _, folder = self._given
                command = Session(database, others[0], folder).command("conversations")
                more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
                name = output.clean(others[0])
                output.line(f"This store holds conversations of {name}{more}, none of {self.settings.user}: {command}")

    def _let_ask(self) -> None:
        """At a terminal a person may be asked for the key: by whatever opens a file, here and below."""
        from .. import keys

        keys.ask = _ask if self.asks and output.is_interactive() else None

    def key_for(self, path: Path) -> "Key | None":
        """The key of an encrypted file, the store or a backup of it; None for a plain one, or if there is none."""
        from .. import keys

        if keys.header_of(str(path)) is None:
            return None  # and whatever is wrong with the settings is not asked for
        self._let_ask()
        return keys.for_file(str(path), self.settings, also=str(self.where) if isinstance(self.where, Path) else None)

    @property
    def named(self) -> bool:
        """Whether the store was named on the command line."""
        return self._given[0] is not None or self._given[2] is not None

    def on(self, database: str) -> "Session":
        """The same run on another store."""
        other = Session(database, self._given[1], None, self.json)
        other.forgives = self.forgives
        return other

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def command(self, *words: str) -> str:
        """A command line for this same store, to be copied."""
        database, user, data_dir = self._given
        parts = ["recollect"]
        for flag, value in (("-d", database), ("-u", user), ("--data-dir", data_dir)):
            parts += [flag, str(value)] if value is not None else []
        return " ".join(output.quoted(word) for word in [*parts, *words])

    def given_settings(self) -> dict[str, str]:
        """What was said on the command line itself."""
        names = ("database", "user", "data_dir")
        return {name: str(value) for name, value in zip(names, self._given, strict=True) if value is not None}

    # -- naming a conversation

    def every(self, *, deleted: bool = False) -> Iterator[Conversation]:
        cursor = None
        while page := self.store.conversations(limit=PAGE, cursor=cursor, deleted=deleted):
            yield from page
            cursor = page[-1].cursor

    def newest(self, *, workspace: str | None = None, limit: int, cursor: str | None = None) -> list[Conversation]:
        """As they are listed for people: by the dates that are shown."""
        place = None if workspace is None else self.store._workspace(workspace)
        return self.store._read(lambda tx: talks.by_date(tx, workspace=place, limit=limit, cursor=cursor))

    def find(self, ref: str, *, deleted: bool = False) -> Conversation:
        """The conversation behind an id, the beginning of one, or `@` for the newest. With `deleted`, those in the bin
        count as well."""
        try:
            return self.store.get(ref)
        except ConversationDeleted:
            if not deleted:
                raise ConversationDeleted(self._in_bin(ref)) from None
            return next(c for c in self.every(deleted=True) if c.id == ref)
        except NotFound:
            pass
        if ref == NEWEST:
            newest = self.newest(limit=1)
            if not newest:
                raise NotFound(f"There is no conversation yet: `{self.command('new')}` starts one.")
            return newest[0]
        found = [c for c in self.every() if c.id.startswith(ref)]
        binned = [c for c in self.every(deleted=True) if c.id.startswith(ref)]
        candidates = found + binned if deleted or not found else found
        if not candidates:
            self._missing(f"There is no conversation {ref!r}.")
        if len(ref) < SHORTEST_PREFIX:
            self._missing(
                f"There is no conversation {ref!r}; the beginning of an id needs {SHORTEST_PREFIX} characters or more."
            )
        if len(candidates) > 1:
            listed = "; ".join(f"{c.id} ({output.one_line(c.title or 'untitled', 40)})" for c in candidates[:8])
            more = f"; and {len(candidates) - 8} more" if len(candidates) > 8 else ""
            raise InvalidInput(f"{ref!r} could be any of {len(candidates)}: {listed}{more}. Give more of the id.")
        if candidates[0].deleted_at is not None and not deleted:
            raise ConversationDeleted(self._in_bin(candidates[0].id))
        return candidates[0]

    def event(self, ref: str, *, deleted: bool = False) -> str:
        """The id of an event, whose conversation may be named as everywhere: `@:7`, `0193ab1f:7`."""
        named = ids.event(ref)
        if named is None:
            raise InvalidInput(
                f"{ref!r} is no event: one is named CONVERSATION:NUMBER, as in 0193ab1f:7. `{self.command('replay', NEWEST)}` shows "
                "the numbers."
            )
        return f"{self.find(named[0], deleted=deleted).id}:{named[1]}"

    def source(self, ref: str) -> str:
        """Where something came from: an event of ours, named as everywhere, or whatever else it is called."""
        if ref == NEWEST:
            return self.find(ref).id
        try:
            return self.event(ref) if ids.event(ref) else ref
        except NotFound:
            if ref.startswith(f"{NEWEST}:"):
                raise
            return ref

    def _missing(self, what: str) -> NoReturn:
        raise NotFound(f"{what} `{self.command('conversations')}` lists what {self.settings.user} has.")

    def _in_bin(self, id: str) -> str:
        return f"Conversation {id!r} is in the bin. `{self.command('restore', id)}` brings it back."

    def ids(self, shown: list[Conversation], *, short: bool) -> list["Text"]:
        """Ids for a table, their shortest unambiguous beginning bright; with `short`, only a little more than that."""
        from rich.text import Text

        everything = sorted({c.id for deleted in (False, True) for c in self.every(deleted=deleted)})
        at = {id: i for i, id in enumerate(everything)}
        result = []
        for c in shown:
            i = at.get(c.id, 0)
            near = [everything[j] for j in (i - 1, i + 1) if 0 <= j < len(everything) and everything[j] != c.id]
            need = max([SHORTEST_PREFIX, *(_common(c.id, other) + 1 for other in near)])
            keep = len(c.id) if not short else max(need, 8)
            text = Text(c.id[:need], style="bold cyan")
            text.append(c.id[need:keep], "dim")
            result.append(text)
        return result


def _ask(path: str) -> "Key | None":
    from ..keys import Key

    return Key(typer.prompt(output.clean(f"Key or passphrase of {path}"), hide_input=True, err=True), "what was typed")


def _common(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def where_shown(url: str) -> str:
    """An address without its password."""
    return re.sub(r"([?&]password=)[^&]*", r"\1***", re.sub(r"(//[^:/@]*):.*@", r"\1:***@", url))


# -- completion


def complete_conversation(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Ids for the shell to offer, with their titles. Never creates anything, never fails: a TAB is not a command."""
    try:
        given: dict[str, Any] = {
            **(ctx.parent.params if ctx.parent else {}),
            **{k: v for k, v in ctx.params.items() if v},
        }
        s = Session(given.get("database"), given.get("user"), given.get("data_dir"))
        s.asks = False
        if not s.is_there:
            return []
        try:
            deleted = ctx.info_name in ("restore", "erase")
            found = [c for wanted in ({False, deleted} if ctx.info_name != "restore" else {True})
                     for c in s.store.conversations(limit=200, deleted=wanted)]  # fmt: skip
            return [(c.id, output.one_line(c.title or "untitled", 60)) for c in found if c.id.startswith(incomplete)]
        finally:
            s.close()
    except Exception:
        return []


ConversationId = Annotated[
    str,
    typer.Argument(
        metavar="CONVERSATION",
        help="Its id, an unambiguous beginning of it, or @ for the newest.",
        autocompletion=complete_conversation,
        show_default=False,
    ),
]
ExactConversationId = Annotated[
    str,
    typer.Argument(
        metavar="CONVERSATION",
        help="Its id, or an unambiguous beginning of it.",
        autocompletion=complete_conversation,
        show_default=False,
    ),
]
ConversationIdOption = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        "-c",
        metavar="CONVERSATION",
        help="Only this one: its id, an unambiguous beginning of it, or @ for the newest.",
        autocompletion=complete_conversation,
    ),
]
BranchName = Annotated[
    str | None, typer.Option("--branch", "-b", metavar="NAME", help="Which branch. Unsaid: the active one.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


# -- commands

_SHARED_PARAMETERS = [
    inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    inspect.Parameter("database", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Database),
    inspect.Parameter("user", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=User),
    inspect.Parameter("data_dir", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=DataDir),
]


class Command(TyperCommand):
    """A command whose usage is written as everywhere: CONVERSATION [TEXT], QUESTION..., {status|new}."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        several = {
            p.make_metavar(ctx, usage=True) for p in self.params if isinstance(p, TyperArgument) and p.nargs == -1
        }
        return [
            (piece if "|" in piece else piece.strip("{}")) + ("..." if piece in several else "")
            for piece in super().collect_usage_pieces(ctx)
        ]


def paragraphs(text: str | None) -> str:
    """Help as it is shown: a line ends where the window does."""
    return "\n\n".join(" ".join(block.split()) for block in inspect.cleandoc(text or "").split("\n\n"))


def command(
    name: str, *, panel: str, creates: bool = False
) -> Callable[[Callable[Concatenate[Session, P], None]], Callable[Concatenate[Session, P], None]]:
    """Make a function a command. `creates`: it may make a store where there is none."""

    def register(fn: Callable[Concatenate[Session, P], None]) -> Callable[Concatenate[Session, P], None]:
        own = list(inspect.signature(fn).parameters.values())[1:]
        context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]

        @functools.wraps(fn)
        def run(ctx: typer.Context, **given: Any) -> None:
            before = ctx.parent.params if ctx.parent else {}
            shared = {k: before.get(k) if (v := given.pop(k)) is None else v for k in ("database", "user", "data_dir")}
            s = Session(**shared, as_json=given.pop("json") or bool(before.get("json")), creates=creates)
            guarded(s, lambda: fn(s, **given))  # type: ignore[call-arg]

        parameters = [context, *own, *_SHARED_PARAMETERS]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(name, cls=Command, help=paragraphs(fn.__doc__), rich_help_panel=panel)(run)
        return fn

    return register


def guarded(s: Session, fn: Callable[[], None]) -> None:
    """Run a command; whatever goes wrong becomes one line on stderr and an exit code that means something."""
    try:
        try:
            starting.begun()
            fn()
            sys.stdout.flush()
        finally:
            s.close()
    except typer.Exit:
        raise
    except BrokenPipeError:
        output.end_unread()
        raise typer.Exit(output.UNREAD) from None
    except (KeyboardInterrupt, typer.Abort):
        raise typer.Exit(output.INTERRUPTED) from None
    except Exception as e:
        if type(e).__module__.split(".")[0] in ("click", "typer"):
            raise  # wrong usage: typer shows it
        raise typer.Exit(output.fail(e)) from None


def confirm(question: str, yes: bool) -> None:
    """Ask before something goes for good. Without anyone to answer, it is refused."""
    if yes:
        return
    if not output.is_interactive():
        raise InvalidInput(f"{question} No one is there to answer: repeat with --yes if that is what you want.")
    if not typer.confirm(output.clean(question), err=True):
        output.write("Nothing was changed.\n", err=True)
        raise typer.Exit(output.INTERRUPTED)


def read_stdin() -> str:
    """All of standard input, as UTF-8 whatever the console's code page is; without the mark that some systems put before it."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise InvalidInput(f"Standard input is not UTF-8 (byte {e.start}).") from None
