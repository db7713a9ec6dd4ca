"""Search, and the context that a prompt would get.

A hit is two things to a reader: where it stands (who said it, when, in which conversation, at which number, so that
`show` and `replay` lead there) and the part of it that answers, with the words that were asked for in bold. They are
told by the tokenizer that found them, so `painted` lights up for `painting` and `parse` in `src/parse.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..context import is_about
from ..errors import InvalidInput, NotFound
from ..model import KINDS, MEMORY_KINDS, Hit
from ..search.tokens import terms, twins
from . import output
from .session import DEMO, Session, command, complete_conversation, read_stdin
from .store import since_when

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

PANEL = "Search and memories"
STDIN = "-"
EVERY = "*"
BAR_CELLS = 8
TITLE_LEAST, TITLE_MOST = 16, 48
NEAREST = 3
FEW = 5
_CHUNK = re.compile(r"\S+")
_JOINED = re.compile(r"\w+(?:[./:\\@+#-]\w+)+")
_RUN = re.compile(r"\w+(?:['\u2019]\w+)*")

Question = Annotated[
    list[str], typer.Argument(metavar="QUESTION", help="What is looked for: a question, words, a name; - reads it from standard input.", show_default=False)
]  # fmt: skip
InConversation = Annotated[
    str | None,
    typer.Option(
        "--conversation", "-c", metavar="CONVERSATION", autocompletion=complete_conversation,
        help="Only in this one: its id, an unambiguous beginning of it, or @ for the newest.",
    ),
]  # fmt: skip
Workspace = Annotated[str | None, typer.Option("--workspace", "-w", help="Only in this workspace.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="Not older: 7d, 12h, 2026-11-01, or milliseconds.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]
Explain = Annotated[bool, typer.Option("--explain", "-e", help="Show what each score is made of.")]


def complete_any_kind(incomplete: str) -> list[str]:
    return [k for k in (*KINDS, *MEMORY_KINDS) if k.startswith(incomplete)]


def split(values: list[str] | None, known: Sequence[str] | None = None) -> list[str] | None:
    """Several options, or one with commas."""
    given = [v.strip() for value in values or [] for v in value.split(",") if v.strip()]
    for value in given:
        if known is not None and value not in known:
            raise InvalidInput(f"There is no kind {value!r}. The kinds are: {', '.join(known)}.")
    return given or None


def question_of(words: list[str]) -> str:
    """What was asked, with or without quotation marks around it."""
    return read_stdin() if words == [STDIN] else " ".join(words)


@command("search", panel=PANEL)
def search(
    s: Session,
    question: Question,
    workspace: Workspace = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="WORKSPACE", help="Look in this workspace too; those of --workspace rank higher. May be repeated.")
    ] = None,
    conversation: InConversation = None,
    branch: Annotated[str | None, typer.Option("--branch", "-b", metavar="NAME", help="With --conversation: which branch. Unsaid: the active one. '*' is every branch, with --conversation or without.")] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", help="Only these kinds of events or memories: with commas, or repeated.", autocompletion=complete_any_kind),
    ] = None,
    types: Annotated[str | None, typer.Option("--type", metavar="events|memories", help="Only these. Unsaid: both.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only events of this tool.")] = None,
    since: Since = None,
    until: Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Only what is older; as --since.")] = None,
    limit: Limit = 10,
    explain: Explain = False,
) -> None:  # fmt: skip
    """Find what was said and done, by words and by meaning, best first."""
    if types not in (None, "events", "memories"):
        raise InvalidInput(f"--type {types!r}: choose events or memories, or leave it out for both.")
    if branch not in (None, EVERY) and conversation is None:
        raise InvalidInput("--branch needs --conversation: a branch is one conversation's. '*' is every branch of all.")
    asked = question_of(question)
    scope: dict[str, Any] = {
        "workspace": workspace, "workspaces": split(also), "tool": tool, "types": types,
        "conversation": None if conversation is None else s.find(conversation).id,
        "kinds": split(kinds, (*KINDS, *MEMORY_KINDS)), "since": since_when(since), "until": since_when(until, "--until"),
    }  # fmt: skip
    s.catch_up()
    hits = s.store.search(asked, branch=branch, limit=limit, explain=explain, **scope)
    if s.json:
        output.emit(hits)
        return
    if not hits:
        narrowed = any((workspace, also, conversation, kinds, types, tool, since, until))
        nothing(s, asked, "search", narrowed=narrowed)
    else:
        show_hits(s, asked, hits, explain=explain)
    if branch != EVERY:
        given = {"-w": [workspace], "--also": also, "-c": [conversation], "-k": kinds, "--type": [types], "--tool": [tool],
                 "--since": [since], "--until": [until]}  # fmt: skip
        words = [word for flag, values in given.items() for value in values or () if value for word in (flag, value)]
        elsewhere(s, asked, hits, words, **scope)


@command("context", panel=PANEL)
def context(
    s: Session,
    prompt: Annotated[list[str], typer.Argument(metavar="PROMPT", help="What is about to be asked of a model; - reads it from standard input.", show_default=False)],
    budget: Annotated[int, typer.Option("--budget", "-n", min=0, metavar="TOKENS", help="The most it may cost.")] = 800,
    workspace: Workspace = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation", "-c", metavar="CONVERSATION", autocompletion=complete_conversation,
            help="The conversation the prompt belongs to: what its window shows anyway is left out.",
        ),
    ] = None,
    memories: Annotated[int | None, typer.Option("--memories", min=0, metavar="N", help="At most so many memories. Unsaid: the settings' number.")] = None,
    excerpts: Annotated[int | None, typer.Option("--excerpts", min=0, metavar="N", help="At most so many excerpts. Unsaid: the settings' number.")] = None,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Also what had a secret in it, whatever the setting context_sensitive says.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Show below it why each piece is there and what it costs.")] = False,
) -> None:  # fmt: skip
    """Print the best evidence for a prompt within a token budget, as it would be handed to a model."""
    s.catch_up()
    found = s.store.context(
        question_of(prompt), budget=budget, workspace=workspace, sensitive=sensitive or None, max_memories=memories,
        max_excerpts=excerpts, why=why, conversation=None if conversation is None else s.find(conversation).id,
    )  # fmt: skip
    if s.json:
        output.emit(found)
        return
    if not s.settings.context:
        output.warn("contexts are switched off in the settings (`context`): nothing is handed out.")
    if not found.text:
        output.hint("Nothing to quote." if s.is_there else f"There is nothing in {s.location} yet.")
        return
    output.line(output.clean(found.text))
    quoted = sum(i.hit.type == "event" for i in found.items)
    kept = len(found.items) - quoted
    counts = [output.count(kept, "memory", "memories")] * bool(kept) + [output.count(quoted, "excerpt")] * bool(quoted)
    if why:
        output.show("", output.table(
            "Tokens", "What", "Why", "Says",
            rows=[
                (f"{i.tokens:,}", _reference(i.hit), output.styled(i.why, "dim"), output.one_line(i.hit.text, 60))
                for i in found.items
            ],
            right=["Tokens"], wide=["Why", "Says"],
        ), "")  # fmt: skip
        output.line(f"{found.tokens:,} of {budget:,} tokens: {', '.join(counts)}.")
    else:
        output.hint(f"{found.tokens:,} of {budget:,} tokens: {', '.join(counts)}.")


def _reference(hit: Hit) -> str:
    return hit.kind if hit.type == "memory" else f"#{hit.seq} {output.one_line(hit.speaker or hit.kind, 16)}"


# -- hits


def show_hits(
    s: Session, question: str, hits: Sequence[Hit], *, explain: bool, rest: str = "--json lists them"
) -> None:
    """What is about the question; the rest is counted, and where there is nothing else, the nearest of it shown as that.
    `rest` says how to see all of it."""
    from rich.padding import Padding

    asked = {form for term in terms(question) for form in (term, *twins(term))}
    found, hits = hits, [hit for hit in hits if is_about(hit)]
    if not hits:
        output.line("Nothing is about it. The nearest in meaning:", style="dim")
        hits = found[:NEAREST]
    titles = _titles(s, hits)
    indent = len(str(len(hits))) + 2
    for i, hit in enumerate(hits, 1):
        body: list[RenderableType] = [
            marked(hit.snippet, asked) if hit.snippet.strip() else output.styled("(empty)", "dim")
        ]
        if explain:
            body.append(_parts(hit))
        output.show(_head(i, indent, hit, titles), *(Padding(b, (0, 0, 0, indent), expand=False) for b in body), "")
    if len(hits) < len(found):
        output.hint(f"{len(found) - len(hits):,} more are only near in meaning; {rest}.")
    events = [hit for hit in hits if hit.type == "event" and hit.conversation_id is not None]
    if events:
        seq = max(0, (events[0].seq or 1) - 3)
        output.hint(
            f"Around the first: {s.command('replay', events[0].conversation_id or '', '--after', str(seq), '-n', '6')}"
        )


def elsewhere(s: Session, question: str, hits: Sequence[Hit], words: Sequence[str] = (), **scope: Any) -> None:
    """Where nothing was found that is about the question: whether there is something on the branches not looked at."""
    if any(is_about(hit) for hit in hits):
        return
    if any(is_about(hit) for hit in s.store.search(question, branch=EVERY, limit=FEW, **scope)):
        command = s.command("search", output.one_line(question), *words, "--branch", EVERY)
        output.line(output.styled(f"Other branches have something about it: {command}", "dim"))


def _titles(s: Session, hits: Iterable[Hit]) -> dict[str, str]:
    found: dict[str, str] = {}
    for hit in hits:
        id = hit.conversation_id
        if id is not None and id not in found:
            try:
                found[id] = s.store.get(id).title or f"untitled {id[:8]}"
            except NotFound:
                found[id] = id  # binned since it was found
    return found


def _head(i: int, indent: int, hit: Hit, titles: dict[str, str]) -> "Text":
    """On one line: the title gives way."""
    rest = output.styled("")
    if hit.type == "event":
        rest.append(f" #{hit.seq}", "cyan")
        speaker = hit.speaker or hit.kind
        rest.append(f"  {output.one_line(speaker, 16)}", output.ROLE_STYLES.get(speaker, ""))
        if hit.kind not in ("message", speaker):
            rest.append(f" {hit.kind}", output.KIND_STYLES.get(hit.kind, ""))
        if hit.branch not in (None, "main"):
            rest.append(f" on {output.one_line(hit.branch or '', 16)}", "dim")
    else:
        rest.append(f" {hit.id[:8]}", "magenta")
        rest.append(f"  {hit.kind}")
        if hit.conversation_id is not None:
            rest.append(f" of {output.one_line(titles[hit.conversation_id], 24)}", "dim")
    rest.append(f"  {output.when(hit.created_at)}", "dim")
    rest.append(f"  {hit.score:.2f}", "dim")
    title = "memory" if hit.type == "memory" else titles.get(hit.conversation_id or "", "")
    room = min(TITLE_MOST, max(TITLE_LEAST, output.console().width - indent - rest.cell_len))
    head = output.styled("").append(f"{i}.".ljust(indent), "bold")
    head.append(output.one_line(title, room), "bold magenta" if hit.type == "memory" else "bold cyan")
    return head.append(rest)


def _parts(hit: Hit) -> "RenderableType":
    """Each part of a score as a small bar; a full one is every word of the question in this very text."""
    from rich.columns import Columns
    from rich.text import Text

    cells = []
    for name, part in sorted(hit.parts.items(), key=lambda p: -p[1]):
        cell = Text(f"{name} ", style="dim", no_wrap=True)
        cell.append(f"{_bar(part)} " if part > 0 else "", "green")
        cell.append(f"{part:.2f}".replace("-", "−"), "dim" if part > 0 else "red")
        cells.append(cell)
    return Columns(cells, padding=(0, 2), width=None)


def _bar(part: float) -> str:
    eighths = round(max(0.0, min(part, 1.0)) * BAR_CELLS * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def marked(text: str, asked: set[str]) -> "Text":
    """A text on one line, the words that were asked for in bold."""
    made = output.styled(output.one_line(text))
    for start, end in sorted(_places(made.plain, asked)):
        made.stylize("bold yellow", start, end)
    return made


def _places(text: str, asked: set[str]) -> Iterator[tuple[int, int]]:
    # A script without spaces is found by its characters and their pairs: only the longest are worth showing.
    foreign = {t for t in asked if not t.isascii()}
    pairs = {t for t in foreign if len(t) == 2} or foreign
    for chunk in _CHUNK.finditer(text):
        whole = _JOINED.search(text, *chunk.span())
        if whole is not None and asked.intersection(terms(whole.group())[:1]):  # an identifier, a version, a date
            yield whole.span()
            continue
        for run in _RUN.finditer(text, *chunk.span()):
            inside = (
                []
                if run.group().isascii()
                else [m.span() for p in pairs for m in re.finditer(re.escape(p), run.group())]
            )
            if inside:
                yield from ((run.start() + start, run.start() + end) for start, end in inside)
            elif not asked.isdisjoint(terms(run.group())):
                yield run.span()


def nothing(s: Session, question: str, verb: str, *, narrowed: bool) -> None:
    """Nothing was found: why that may be, and what to try."""
    said = output.one_line(question, 60)
    if not s.is_there:
        output.line(f"There is nothing in {s.location} yet.")
        output.show(output.tries([(DEMO, "record a week of conversations to look around in, in a store of its own")]))
        return
    output.line(f"Nothing found for “{said}”{' with these filters' if narrowed else ''}.")
    tries = [(s.command(verb, said), "the same everywhere")] if narrowed else []
    s.hint_at_others()
    if not s.settings.semantic:
        output.line("Only words were compared: search by meaning is off in the settings (`semantic`).", style="dim")
    else:
        from ..search.embed import is_installed

        if not is_installed():
            output.line(
                "Only words were compared: pip install '.[semantic]' in Recollect's own folder adds meaning.",
                style="dim",
            )
    if verb == "recall":
        tries.append((s.command("search", said), "look in the conversations as well"))
    else:
        tries.append((s.command("conversations"), "everything that is kept"))
    output.show(output.tries(tries))
