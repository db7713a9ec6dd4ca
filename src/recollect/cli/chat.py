"""`recollect chat`: a conversation in the terminal, kept like any other.

What is typed is said; what begins with a slash is a command. The agent is `recollect.langgraph.chat_graph`, so what is said
here is in the store before it is answered, and everything the application or another program knows is known here.

Ctrl-C during an answer stops it (`answers`): what was said stays, and an event keeps the part of the answer that was shown.
Where nobody sits at a terminal, each line of standard input is said in turn and the answers are all that is printed.
"""

import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import telemetry
from ..errors import InvalidInput, NotFound, RecollectError, StoreClosed
from ..model import Conversation, Memory
from . import output
from .answers import NO_MODEL, Agent, Answer
from .conversations import PANEL, called, header
from .interrupts import Interrupts
from .lines import QUOTES, ask_line, joined, piped, prepare_typing
from .search import elsewhere, show_hits
from .session import BranchName, Session, command, complete_conversation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

HISTORY = 10
FITS = 0.45
"""What has less of the best one's score merely shares a word with it."""
STOPPED_EVENT = "chat.answer_stopped"


@command("chat", panel=PANEL, creates=True)
def chat(
    s: Session,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation", "-c", metavar="CONVERSATION", autocompletion=complete_conversation,
            help="Go on with this one: its id, the beginning of it, or @ for the newest. Unsaid: a new one.",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="PROVIDER:NAME", help="Who answers: ollama:llama3.2, for one. Unsaid: the setting chat_model; without it, or with none, answers come from memory alone.")] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="ADDRESS", help="Where the model is asked, if not at its provider's own address.")] = None,
    branch: BranchName = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Of a new conversation: where it belongs.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="Of a new conversation. Unsaid: the first thing a person says gives it one (a greeting does not).")] = None,
    memory: Annotated[bool, typer.Option("--memory/--no-memory", help="Whether answers may use what was said elsewhere.")] = True,
    history: Annotated[int, typer.Option("--history", "-n", min=0, help="How many of the newest messages to show at the start.")] = HISTORY,
) -> None:  # fmt: skip
    """Talk, in the terminal. /help lists what else there is; standard input may also be a pipe, a message a line."""
    found = None if conversation is None else s.find(conversation)
    if found is not None and branch is not None:
        found = s.store.switch(found.id, branch)
    elif branch is not None:
        raise InvalidInput("--branch needs --conversation: a new one has only its first branch.")
    agent = Agent(s, model, url)
    try:
        agent.check()
    except RecollectError as e:
        code = output.fail(e)
        if agent.model is not None:
            output.hint(f"From memory alone: {s.command('chat', '--model', NO_MODEL)}")
        raise typer.Exit(code) from None
    talk = Talk(s, agent, found, memory=memory, workspace=workspace, title=title)
    if found is not None:
        telemetry.selected(s.store, found.id)
    with Interrupts(keys=True) as ctrl_c:
        talk.ctrl_c = ctrl_c
        if sys.stdin.isatty() and sys.stdout.isatty() and not s.json:
            talk.at_a_terminal(history)
        else:
            talk.from_a_pipe()
    if any(answer.is_alive for answer in talk.left):
        # LangGraph waits for its threads when Python ends, and one of them for a silent model. Nothing of ours is open.
        s.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(talk.code)
    if talk.code:
        raise typer.Exit(talk.code)


class Talk:
    """One run of `chat`: where it is, and what can be done there."""

    def __init__(
        self,
        s: Session,
        agent: Agent,
        conversation: Conversation | None,
        *,
        memory: bool,
        workspace: str | None,
        title: str | None,
    ) -> None:
        self.s, self._agent, self._memory = s, agent, memory
        self.ctrl_c = Interrupts()
        self.code = 0
        """What a pipe ends with: as a command does that stops at the first thing that goes wrong."""
        self.left: list[Answer] = []
        """Answers that were stopped and do not know it yet."""
        self._here = conversation
        self._new: dict[str, Any] = {"workspace": workspace, "title": title}
        self._asked: str | None = None
        self._listed: list[Memory] = []
        self._forgotten: list[str] = []
        self._turns: list[dict[str, Any]] = []
        self._out: Console = output.console()
        self._commands: dict[str, tuple[Callable[[str], None], str, str]] = {
            "help": (self._help, "", "this list"),
            "new": (self._start, "[TITLE]", "begin another conversation"),
            "open": (self._open, "[ID]", "go on with another one; without an id, the newest are listed"),
            "history": (self._history, "[N]", "what was said here"),
            "branches": (self._branches, "", "the branches of this conversation"),
            "fork": (self._fork, "[N] [NAME]", "go another way from event N on; both ways stay"),
            "switch": (self._switch, "NAME", "go on with another branch"),
            "memories": (self._memories, "[WORDS]", "what is remembered, or what is remembered about WORDS"),
            "forget": (self._forget, "N", "forget number N of that list"),
            "undo": (self._undo, "", "take back the last /forget"),
            "search": (self._search, "WORDS", "find what was said anywhere"),
            "why": (self._why, "", "what the store has to say to the last question, and why"),
            "memory": (self._switch_memory, "on|off", "whether answers may use what was said elsewhere"),
            "export": (self._export, "[FILE]", "this conversation as Markdown"),
            "quit": (self._quit, "", "leave (Ctrl-D does too)"),
        }

    # -- a person at a terminal

    def at_a_terminal(self, history: int) -> None:
        about = [("answers", self._agent.name), ("store", self.s.location)]
        output.show(output.facts(about), out=self._out)
        if self._here is not None:
            output.show("", header(self._here, self.s.store._held([self._here])[0]), "", out=self._out)
            self._said(history)
        else:
            output.show(
                "", output.styled("A new conversation. Say something; /help lists what else there is.", "dim"), ""
            )
        prepare_typing(list(self._commands))
        warned = False
        while True:
            try:
                text = self._typed()
                if text is None:
                    break
                warned = False
                if text.strip():
                    self._take(text)
                if self.ctrl_c.take():
                    raise KeyboardInterrupt  # it came, and was lost on the way here
            except _Leave:
                break
            except KeyboardInterrupt:
                self.ctrl_c.take()
                output.line("")
                if warned:
                    break
                warned = True
                output.line("Ctrl-C once more, or /quit, to leave.", style="dim")
        self._goodbye()

    def _typed(self) -> str | None:
        """What was typed, several lines of it if they are joined; None at the end."""
        return joined(lambda more: ask_line(self._prompt(more)))

    def _prompt(self, more: bool) -> str:
        if more:
            return "… "
        if not self._out.color_system:
            return "you › "
        return "\001\033[1;36m\002you ›\001\033[0m\002 "

    def _goodbye(self) -> None:
        if self._here is not None:
            output.line(f"Go on with it: {self.s.command('chat', '-c', self._here.id[:13])}", style="dim")

    # -- a pipe

    def from_a_pipe(self) -> None:
        lines = piped()
        while (text := joined(lambda more: next(lines, None))) is not None:
            if not text.strip():
                continue
            try:
                self._take(text)
            except _Leave:
                break
        if self.s.json:
            output.emit({"conversation": None if self._here is None else self._here.id, "turns": self._turns})

    # -- what was typed

    def _take(self, text: str) -> None:
        """A command, or something that is said. What goes wrong is told, and the talk goes on."""
        try:
            if text.startswith("//"):
                self._say(text[1:])
            elif text.startswith("/"):
                self._command(text)
            else:
                self._say(text)
        except (RecollectError, OSError) as e:
            if isinstance(e, StoreClosed):
                raise
            code = output.fail(e, self._as_typed_here)
            if not self._interactive:
                self.code = self.code or code

    def _as_typed_here(self, text: str) -> str:
        """What an error advises, as a command of the talk where there is one."""
        text = re.sub(r"`\w+ [^`]*\bbranches\b[^`]*`", "/branches", text)
        text = re.sub(r"`\w+ [^`]*\bconversations`", "/open", text)
        return re.sub(r"^--at (\d+)", r"/fork \1", text)

    @property
    def _interactive(self) -> bool:
        return sys.stdin.isatty()

    def _command(self, text: str) -> None:
        name, _, rest = text[1:].strip().partition(" ")
        fits = [n for n in self._commands if n.startswith(name.lower())] if name else []
        if name.lower() in self._commands:
            fits = [name.lower()]
        if len(fits) != 1:
            which = f" It could be {', '.join('/' + f for f in fits)}." if fits else ""
            raise InvalidInput(f"There is no /{output.one_line(name, 20)}.{which} /help lists what there is.")
        self._commands[fits[0]][0](rest.strip())

    def _say(self, text: str) -> None:
        graph = self._agent.graph
        if self._here is None:
            self._here = self.s.store.create(**self._new)
        here = self._here
        self._asked = text
        # Said on the branch that is in front of us, even if another program has switched meanwhile.
        branch = here.active_branch
        answer = Answer(graph, here.id, text, inject=self._memory, branch=branch)
        pieces: list[str] = []
        try:
            self._stream(answer, pieces)
            if self.ctrl_c.take():
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            self.ctrl_c.take()
            self._stopped(answer, "".join(pieces), branch)
            if not self._interactive:
                raise
        finally:
            self._here = self.s.store.get(here.id)
            self._turns.append({"user": text, "assistant": "".join(pieces)})

    def _stream(self, answer: Answer, pieces: list[str]) -> None:
        pending = iter(answer)
        if self._interactive and not self.s.json:
            with self._out.status("", spinner="dots"):
                first = next(pending, None)
            if first is None:
                return
            output.line(output.styled("recollect ›", "bold green"))
        else:
            first = next(pending, None)
        while first is not None:
            pieces.append(first)
            if not self.s.json:
                output.write(first)
            first = next(pending, None)
        if pieces and not self.s.json:
            output.write("\n\n" if self._interactive else "\n")

    def _stopped(self, answer: Answer, partial: str, branch: str) -> None:
        """Keep what was shown. The message itself was kept before the model was asked."""
        done = answer.stop()
        if not done:
            self.left.append(answer)
        if not self.s.json:
            output.line("")
        here = self._here
        if here is not None:
            # An event and no message: half an answer is nobody's statement, and no evidence for the next one.
            payload = {"partial": partial} if partial else None
            self.s.store.append(here.id, kind="event", name=STOPPED_EVENT, payload=payload, branch=branch)
        if self._interactive:
            more = "" if done else " The model has not noticed yet; it is left alone at its next word."
            output.line(f"Stopped. What you said is kept.{more}", style="dim")

    # -- commands

    def _help(self, rest: str) -> None:
        output.show(output.tries([(f"/{n} {use}".rstrip(), what) for n, (_, use, what) in self._commands.items()]))
        output.line(
            f'A line that ends with \\ goes on in the next; {QUOTES} begins and ends several lines; //word says "/word".',
            style="dim",
        )
        output.line("Ctrl-C stops an answer, clears a line, and leaves when there is nothing to clear.", style="dim")

    def _there(self) -> Conversation:
        if self._here is None:
            raise NotFound("Nothing was said yet, so there is no conversation.")
        self._here = self.s.store.get(self._here.id)
        return self._here

    def _start(self, rest: str) -> None:
        self._here, self._asked = None, None
        self._new = {**self._new, "title": rest or None}
        output.line("A new conversation: it begins with what you say next.", style="dim")

    def _open(self, rest: str) -> None:
        if not rest:
            found = self.s.newest(limit=10)
            if not found:
                raise NotFound("There is no conversation yet.")
            rows = [[c.id[:13], output.one_line(c.title or "untitled", 60), output.when(c.updated_at)] for c in found]
            output.show(output.table("Id", "Conversation", "When", rows=rows))
            return
        self._here = self.s.find(rest)
        self._asked = None
        telemetry.selected(self.s.store, self._here.id)
        output.show("", header(self._here, self.s.store._held([self._here])[0]), "")
        self._said(HISTORY)

    def _history(self, rest: str) -> None:
        if rest and not rest.isdigit():
            raise InvalidInput("/history takes a number: how many of the newest messages.")
        self._there()
        self._said(int(rest) if rest else HISTORY)

    def _said(self, most: int) -> None:
        here = self._there()
        said = self.s.store.messages(here.id, limit=most)
        output.show(*output.chat(said), out=self._out)

    def _branches(self, rest: str) -> None:
        output.show(output.branch_tree(self.s.store.branches(self._there().id)))

    def _fork(self, rest: str) -> None:
        here = self._there()
        words = rest.split()
        at = int(words.pop(0)) if words and words[0].isdigit() else None
        if len(words) > 1:
            raise InvalidInput("/fork takes an event's number and a name for the branch, or either, or nothing.")
        made = self.s.store.fork(here.id, at, name=words[0] if words else None, switch=True)
        self._there()
        output.line(
            f"On {output.clean(made.name)} now, from #{made.fork_seq} on. /switch {here.active_branch} goes back."
        )

    def _switch(self, rest: str) -> None:
        here = self._there()
        if not rest:
            raise InvalidInput("/switch takes the name of a branch. /branches lists them.")
        self._here = self.s.store.switch(here.id, rest)
        telemetry.selected(self.s.store, here.id)
        output.line(f"On {output.clean(self._here.active_branch)} now.")
        self._said(2)

    def _memories(self, rest: str) -> None:
        store, here = self.s.store, self._here
        store.settle()  # what was said a moment ago counts
        conversation = None if here is None else here.id
        if rest:
            hits = store.recall(rest, conversation=conversation, limit=20)
            ids = [h.id for h in hits if h.score >= FITS * hits[0].score]
            known = {m.id: m for m in store.memories(conversation=conversation, limit=1000)}
            self._listed = [known[id] for id in ids if id in known]
        else:
            self._listed = store.memories(conversation=conversation, limit=30)
        if not self._listed:
            output.line("Nothing is remembered" + (" about that." if rest else "."))
            return
        rows: list[list[str | Text]] = [
            [str(i), output.styled(("📌 " if m.pinned else "") + m.content), m.kind, output.when(m.updated_at)]
            for i, m in enumerate(self._listed, 1)
        ]
        output.show(output.table("", "Memory", "Kind", "When", rows=rows, right=[""], wide=("Memory",)))
        waiting = len(store.memories(state="quarantined", limit=100))
        if waiting:
            output.line(
                f"{waiting} more {'waits' if waiting == 1 else 'wait'} to be looked at: "
                f"{self.s.command('memories', '--state', 'quarantined')}",
                style="dim",
            )

    def _forget(self, rest: str) -> None:
        if not rest.isdigit() or not 1 <= int(rest) <= len(self._listed):
            raise InvalidInput("/forget takes a number of the list that /memories shows.")
        memory = self._listed[int(rest) - 1]
        self.s.store.forget(memory.id)
        self._forgotten.append(memory.id)
        output.line(f"Forgotten: {output.one_line(memory.content, 100)}   (/undo brings it back)")

    def _undo(self, rest: str) -> None:
        if not self._forgotten:
            raise InvalidInput("Nothing was forgotten here.")
        back = self.s.store.undo(self._forgotten.pop())
        output.line(f"Remembered again: {output.one_line(back.content, 100)}")

    def _search(self, rest: str) -> None:
        if not rest:
            raise InvalidInput("/search takes what to look for.")
        hits = self.s.store.search(rest, limit=8)
        if hits:
            whole = f"{self.s.command('search', rest, '--json')} lists them"
            show_hits(self.s, rest, hits, explain=False, rest=whole)
        else:
            output.line("Nothing was found.")
        elsewhere(self.s, rest, hits)

    def _why(self, rest: str) -> None:
        if self._asked is None:
            raise InvalidInput("Nothing was asked yet.")
        if not self._memory:
            output.line("Nothing from elsewhere: /memory is off.")
            return
        here = self._there()
        found = self.s.store.context(self._asked, conversation=here.id, why=True)
        if not found.items:
            output.line("Nothing: no memory and nothing from other conversations answers that.")
            return
        output.line(
            f"For “{output.one_line(self._asked, 60)}”, as the store stands now ({output.count(found.tokens, 'token')}):"
        )
        for i, item in enumerate(found.items, 1):
            hit = item.hit
            where = hit.kind if hit.conversation_id is None else f"{hit.kind} {hit.conversation_id[:13]} #{hit.seq}"
            output.line(output.styled(f"{i}. {output.one_line(hit.snippet or hit.text, 200)}"))
            output.line(f"   {where} · {output.count(item.tokens, 'token')} · {output.one_line(item.why)}", style="dim")

    def _switch_memory(self, rest: str) -> None:
        if rest not in ("on", "off"):
            raise InvalidInput("/memory takes on or off.")
        self._memory = rest == "on"
        output.line(
            "Answers may use what was said elsewhere." if self._memory else "Answers use this conversation alone."
        )

    def _export(self, rest: str) -> None:
        here = self._there()
        if not rest:
            text = io.StringIO()
            self.s.store.export(text, conversation=here.id, format="markdown")
            output.line(output.clean(text.getvalue()))
            return
        path = Path(rest).expanduser()
        try:
            with path.open("x", encoding="utf-8") as f:
                self.s.store.export(f, conversation=here.id, format="markdown")
        except FileExistsError:
            raise InvalidInput(f"{path} is there already. Choose another name.") from None
        output.line(f"Wrote {called(here)} to {path}.")

    def _quit(self, rest: str) -> None:
        raise _Leave


class _Leave(Exception):
    """/quit"""
