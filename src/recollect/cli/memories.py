"""Memories: remember, list, recall, correct, pin, forget, take back; consolidation and retention."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .. import memories
from ..errors import InvalidInput, NotFound
from ..model import MEMORY_KINDS, MEMORY_STATES, Expiry, Memory, MemoryChange
from . import output
from .search import PANEL, Explain, Limit, Question, Since, nothing, question_of, show_hits, split
from .session import SHORTEST_PREFIX, BranchName, ConversationId, Session, Yes, command, complete_conversation, confirm
from .store import since_when

if TYPE_CHECKING:
    from rich.text import Text


def complete_memory_kind(incomplete: str) -> list[str]:
    return [k for k in MEMORY_KINDS if k.startswith(incomplete)]


@command("remember", panel=PANEL, creates=True)
def remember(
    s: Session,
    content: Annotated[list[str], typer.Argument(metavar="STATEMENT", help="One short statement; - reads it from standard input.", show_default=False)],
    kind: Annotated[str, typer.Option("--kind", "-k", help=f"One of {', '.join(MEMORY_KINDS)}.", autocompletion=complete_memory_kind)] = "fact",
    importance: Annotated[float, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = 0.5,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="CONVERSATION", help="Limit it to this conversation.", autocompletion=complete_conversation),
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Limit it to this workspace.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="EVENT", help="The event it came from (conversation:number), or what else that is called.")] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Never let it go.")] = False,
) -> None:  # fmt: skip
    """Keep a statement beyond its conversation. The same statement again is the same memory."""
    said = question_of(content)
    made = s.store.remember(
        said, kind=kind, importance=importance, tags=tag or (),
        conversation=None if conversation is None else s.find(conversation).id, workspace=workspace,
        source=None if source is None else s.source(source), pinned=pin,
    )  # fmt: skip
    if s.settings.background:
        s.store.settle()  # this process ends before the background begins: have it found by meaning from now on
    from ..extract.secrets import tells

    if "[redacted:" not in made.content and tells(made.content):
        output.warn(
            "This names a secret, and every model that is asked later may be given it. If it says what the secret is, take it "
            f"back: {s.command('erase', '--memory', made.id[:8])}"
        )
    if "[redacted:" in made.content and "[redacted:" not in said:
        output.warn(
            f"A secret was taken out. What is kept: {output.one_line(made.content, 100)}. If that says nothing, take it back: "
            f"{s.command('forget', made.id[:8])}"
        )
    if s.json:
        output.emit(made)
        return
    *before, last = (change.action for change in s.store.memory_history(made.id))
    told = "Known already" if last != "added" else "Remembered again" if before else "Remembered"
    output.line(f"{told}: {made.id}")
    if made.made_room:
        most = s.settings.memory_max_items_per_namespace
        output.line(f"There is room for {most:,} here, so {output.count(len(made.made_room), 'other')} had to go:")
        for id in made.made_room:
            output.line(f"  {output.one_line(_find(s, id).content, 60)}   (back: {s.command('undo', id[:8])})")


@command("recall", panel=PANEL)
def recall(
    s: Session,
    question: Question,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", help="Only these kinds: with commas, or repeated.", autocompletion=complete_memory_kind),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; repeated: with all of them.")] = None,
    min_importance: Annotated[float | None, typer.Option("--min-importance", "-i", min=0, max=1, help="Only what is at least as important.")] = None,
    since: Since = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="CONVERSATION", help="Also what is limited to this conversation.", autocompletion=complete_conversation),
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Of what is limited to a workspace, only this one's.")] = None,
    limit: Limit = 10,
    explain: Explain = False,
) -> None:  # fmt: skip
    """Find the memories that answer a question, best first."""
    asked = question_of(question)
    s.catch_up()
    hits = s.store.recall(
        asked, kinds=split(kinds, MEMORY_KINDS), tags=split(tag), min_importance=min_importance,
        since=since_when(since), conversation=None if conversation is None else s.find(conversation).id,
        workspace=workspace, limit=limit,
    )  # fmt: skip
    if s.json:
        output.emit(hits)
    elif hits:
        show_hits(s, asked, hits, explain=explain)
    else:
        narrowed = any((kinds, tag, min_importance, since, workspace))
        nothing(s, asked, "recall", narrowed=narrowed)


Which = Annotated[
    str, typer.Argument(metavar="MEMORY", help="Its id, or an unambiguous beginning of it.", show_default=False)
]


def complete_state(incomplete: str) -> list[str]:
    return [state for state in (*MEMORY_STATES, "all") if state.startswith(incomplete)]


@command("memories", panel=PANEL)
def listed(
    s: Session,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", "-k", help="Only these kinds: with commas, or repeated.", autocompletion=complete_memory_kind),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag; repeated: with all of them.")] = None,
    state: Annotated[str, typer.Option("--state", "-s", help=f"One of {', '.join(MEMORY_STATES)}, or all.", autocompletion=complete_state)] = "active",
    scope: Annotated[str | None, typer.Option("--scope", metavar="user|conversation|workspace", help="Only what is limited like this.")] = None,
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="CONVERSATION", help="As seen from this conversation.", autocompletion=complete_conversation),
    ] = None,
    branch: BranchName = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Of what is limited to a workspace, only this one's.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="EVENT|WHEN", help="As they stood: at an event's number (with -c), 7d ago, or on a day.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", metavar="MEMORY", help="Go on behind this one: the id of a listed memory.")] = None,
) -> None:  # fmt: skip
    """List memories, the newest first: what is known, from where, and how it stands."""
    at = (
        int(as_of)
        if as_of is not None and as_of.isdigit() and conversation is not None
        else since_when(as_of, "--as-of")
    )
    if state not in (*MEMORY_STATES, "all"):
        raise InvalidInput(f"--state {state}: choose one of {', '.join(MEMORY_STATES)}, all.")
    s.catch_up()
    found = s.store.memories(
        kinds=split(kinds, MEMORY_KINDS), tags=split(tag), state=None if state == "all" else state, scope=scope,
        conversation=None if conversation is None else s.find(conversation).id, branch=branch, workspace=workspace, as_of=at,
        limit=limit, cursor=cursor,
    )  # fmt: skip
    if s.json:
        output.emit(found)
        return
    if not found:
        output.line("Nothing is remembered." if state == "active" else f"No memory is {state}.")
        return
    with_state = state == "all"
    limited = any(m.conversation_id or m.workspace for m in found)
    columns = [
        "Id",
        "Memory",
        "Kind",
        "Weight",
        *(["State"] if with_state else []),
        *(["Limited to"] if limited else []),
        "From",
        "Used",
        "When",
    ]
    rows: list[list[str | Text]] = []
    for m in found:
        says = output.styled(("📌 " if m.pinned else "") + m.content + (f"  ⚠ {m.flag}" if m.flag else ""))
        rows.append([
            m.id[:8], says, m.kind, f"{m.importance:.1f}", *([m.state] if with_state else []),
            *([output.one_line(m.conversation_id or m.workspace or "", 24)] if limited else []),
            _from(m), f"{m.uses:,}" if m.uses else "–", output.when(m.updated_at),
        ])  # fmt: skip
    output.show(output.table(*columns, rows=rows, right=["Weight", "Used"], wide=("Memory", "Limited to")))
    if len(found) == limit:
        output.line("")
        output.line(f"More: {s.command('memories', '--cursor', found[-1].id)}")


def _from(m: Memory) -> str:
    if m.by_hand:
        return "you"
    seqs = m.provenance.seqs
    where = output.one_line(m.provenance.conversation_id or "", 16) + (f" #{seqs[0]}" if seqs else "")
    return f"{m.provenance.role or m.provenance.extractor}{', ' + where if where else ''}"


@command("memory", panel=PANEL)
def memory(s: Session, memory: Which) -> None:
    """Show one memory and everything that happened to it."""
    found = _find(s, memory)
    history = s.store.memory_history(found.id)
    if s.json:
        output.emit({"memory": output.plain(found), "history": [output.plain(change) for change in history]})
        return
    p = found.provenance
    output.show(output.facts([
        ("memory", found.id),
        ("says", found.content),
        ("kind", f"{found.kind}, importance {found.importance:g}" + (", pinned" if found.pinned else "")),
        ("state", found.state + (f", by {found.replaced_by}" if found.replaced_by else "")),
        ("scope", found.conversation_id or found.workspace or "you, everywhere"),
        *([("tags", ", ".join(found.tags))] if found.tags else []),
        ("said by", f"{p.role or 'nobody'}, taken by {p.extractor}"),
        *([("said in", f"{p.conversation_id}, branch {p.branch}, event {', '.join(map(str, p.seqs))}")] if p.seqs else []),
        *([("look at it", found.flag)] if found.flag else []),
        *([("contradicts", found.conflicts_with)] if found.conflicts_with else []),
        ("recalled", f"{output.count(found.uses, 'time')}" + (f", last {output.when(found.used_at)}" if found.used_at else "")),
    ]))  # fmt: skip
    output.line("")
    output.show(output.table(
        "When", "What", "Who", "Where", "Why", rows=[
            [output.when(c.at), c.action + (" (undone)" if c.undone_at else ""), c.who, _where(c), c.why] for c in history
        ], wide=("Why",),
    ))  # fmt: skip


def _where(change: MemoryChange) -> str:
    if change.conversation_id is None:
        return "everywhere"
    return f"{output.one_line(change.conversation_id, 16)} {change.branch} #{change.seq}"


@command("revise", panel=PANEL)
def revise(
    s: Session,
    memory: Which,
    content: Annotated[list[str] | None, typer.Argument(metavar="STATEMENT", help="What it should say instead; - reads it from standard input.", show_default=False)] = None,
    kind: Annotated[str | None, typer.Option("--kind", "-k", help=f"One of {', '.join(MEMORY_KINDS)}.", autocompletion=complete_memory_kind)] = None,
    importance: Annotated[float | None, typer.Option("--importance", "-i", min=0, max=1, help="From 0 to 1.")] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="The tags it has from now on; may be repeated.")] = None,
    promote: Annotated[bool, typer.Option("--promote", help="Accept it: out of quarantine, and no longer only of one conversation.")] = False,
    scope: Annotated[str | None, typer.Option("--scope", help="Move it: user (seen from everywhere) or workspace (only from its project).")] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", "-w", help="Move it to this workspace.")] = None,
) -> None:  # fmt: skip
    """Correct a memory. The old statement is kept in its history; `undo` brings it back."""
    found = _find(s, memory)
    _refuse_gone(s, found)
    made = s.store.revise(
        found.id, content=question_of(content) if content else None, kind=kind, importance=importance, tags=tag, promote=promote,
        scope=scope, workspace=workspace,
    )  # fmt: skip
    if s.json:
        output.emit(made)
        return
    output.line(f"Revised: {output.one_line(made.content, 60)} ({made.id})")


Pinnable = Annotated[str, typer.Argument(metavar="MEMORY|EVENT", help="A memory's id or its beginning, or an event's id (conversation:number).", show_default=False)]  # fmt: skip


@command("pin", panel=PANEL)
def pin(s: Session, memory: Pinnable) -> None:
    """Keep a memory or an event whatever retention, caps and extraction say."""
    _pin(s, memory, True)


@command("unpin", panel=PANEL)
def unpin(s: Session, memory: Pinnable) -> None:
    """Take a pin off again."""
    _pin(s, memory, False)


@command("pins", panel=PANEL)
def pins(s: Session, conversation: ConversationId) -> None:
    """Say which events of a conversation are pinned."""
    c = s.find(conversation)
    found = s.store.pins(c.id)
    if s.json:
        output.emit([f"{c.id}:{seq}" for seq in found])
        return
    for seq in found:
        output.line(f"{c.id}:{seq}")
    if not found:
        output.line("Nothing is pinned there.")


def _pin(s: Session, ref: str, pinned: bool) -> None:
    if ":" in ref:
        id = s.event(ref)
    else:
        memory = _find(s, ref)
        if pinned and memory.state == "forgotten":
            _refuse_gone(s, memory)
        id = memory.id
    found = s.store.pin(id) if pinned else s.store.unpin(id)
    if s.json:
        output.emit({"id": id, "pinned": pinned})
        return
    output.line(f"{'Pinned' if pinned else 'No longer pinned'}: {output.one_line(found.content, 60) if found else id}")


STANDS = {
    "active": "remembered", "forgotten": "no longer remembered", "quarantined": "waiting to be looked at", "replaced": "replaced",
    "expired": "expired",
}  # fmt: skip


@command("undo", panel=PANEL)
def undo(s: Session, memory: Which) -> None:
    """Take back the newest change of a memory, with whatever was changed together with it."""
    found = _find(s, memory)
    before = s.store.memory_history(found.id)
    beside = [
        m for m in s.store.memories(state=None, limit=1000) if found.id == m.replaced_by or m.id == found.replaced_by
    ]
    found = s.store.undo(found.id)
    if s.json:
        output.emit(found)
        return
    undone = next(
        c for was, c in reversed([*zip(before, s.store.memory_history(found.id), strict=True)])
        if was.undone_at is None and c.undone_at is not None and c.action not in ("confirmed", "flagged")
    )  # fmt: skip
    output.line(f"Undone: it was {undone.action}. {_stands(found)}")
    changed = [now for was in beside if (now := _find(s, was.id)).state != was.state]
    for other in changed:
        output.line(f"Changed with it: {_stands(other)}")
    if again := _again(s, undone, changed):
        output.line(f"Again: {again}", style="dim")


def _stands(m: Memory) -> str:
    return f"“{output.one_line(m.content, 60)}” is {STANDS[m.state]}."


def _again(s: Session, undone: MemoryChange, changed: Sequence[Memory]) -> str | None:
    """What does once more what was undone, where one command does."""
    m = undone.after
    if changed and undone.action in ("added", "replaced"):
        old, new = (changed[0], m) if undone.action == "added" else (m, changed[0])
        return s.command("revise", old.id[:8], new.content)
    if undone.action == "added":
        return _anew(s, m)
    verb = {"forgotten": "forget", "pinned": "pin", "unpinned": "unpin"}.get(undone.action)
    return None if verb is None else s.command(verb, m.id[:8])


def _anew(s: Session, m: Memory) -> str:
    return s.command("remember", m.content, *(["--kind", m.kind] if m.kind != "fact" else []))


def _back(s: Session, m: Memory) -> str:
    """The command that brings back what is not in force. What was undone to its very beginning, or has had its time, has nothing
    to undo."""
    gone = m.state == "expired" or all(c.undone_at is not None for c in s.store.memory_history(m.id))
    return _anew(s, m) if gone else s.command("undo", m.id[:8])


def _refuse_gone(s: Session, m: Memory) -> None:
    """What is not in force is not changed, and who asks is told what to do first."""
    if m.state in ("active", "quarantined"):
        return
    if m.state == "replaced" and m.replaced_by is not None:
        by = m.replaced_by[:8]
        raise InvalidInput(
            f"Memory {m.id!r} is replaced by {by}: `{s.command('revise', by)}` corrects that one, `{_back(s, m)}` brings this one back."
        )
    raise InvalidInput(f"Memory {m.id!r} is {STANDS[m.state]}: `{_back(s, m)}` brings it back.")


@command("forget", panel=PANEL)
def forget(
    s: Session,
    memory: Annotated[str | None, typer.Argument(metavar="MEMORY", help="Its id, or an unambiguous beginning of it.", show_default=False)] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="EVENT|CONVERSATION", help="Everything that came from this event or conversation.")] = None,
    erase: Annotated[bool, typer.Option("--erase", help="For good: nothing is left of it, and undo does not bring it back.")] = False,
    yes: Yes = False,
) -> None:  # fmt: skip
    """Forget a memory, or all that came from one place. `undo` brings it back, unless it is erased."""
    for_good = " for good" if erase else ""
    if memory is None or source is not None:
        if memory is not None or source is None:
            raise InvalidInput("Say which memory to forget, or --source for everything that came from there.")
        source = s.source(source)
        confirm(f"Forget everything that came from {source}{for_good}?", yes)
        gone = s.store.forget(source=source, erase=erase)
        if s.json:
            output.emit({"source": source, "forgotten": gone})
            return
        output.line(f"Forgotten: {output.count(gone, 'memory', 'memories')}.")
        return
    found = _find(s, memory)
    if found.state == "forgotten" and not erase:
        raise NotFound(f"Memory {found.id!r} was forgotten already. `{_back(s, found)}` brings it back.")
    confirm(f"Forget “{output.one_line(found.content, 60)}” ({found.kind}){for_good}?", yes)
    s.store.forget(found.id, erase=erase)
    if s.json:
        output.emit({"id": found.id, "forgotten": True})
        return
    output.line(f"Forgotten{for_good}: {output.one_line(found.content, 60)}")
    if not erase:
        output.hint(f"Undo: {s.command('undo', found.id[:8])}")


@command("consolidate", panel=PANEL)
def consolidate(s: Session, conversation: ConversationId, branch: BranchName = None) -> None:
    """Turn what was said in a conversation since the last time into memories, now."""
    done = s.store.consolidate(s.find(conversation).id, branch=branch)
    if s.settings.background:
        s.store.settle()
    if s.json:
        output.emit(done)
        return
    if not done.turns:
        output.line("Nothing was said since the last time.")
        return
    output.line(
        f"{output.count(done.turns, 'turn')} considered: {done.added:,} added, {done.updated:,} updated, {done.deleted:,} taken"
        f" back, {done.unchanged:,} unchanged, {done.conflicts:,} in conflict, {done.quarantined:,} in quarantine."
    )
    if done.decisions:
        output.show(output.table(
            "Decision", "Statement", "Why", rows=[[action, content, why] for action, content, why in done.decisions],
            wide=("Statement", "Why"),
        ))  # fmt: skip


@command("retain", panel=PANEL)
def retain(
    s: Session,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Yes = False,
) -> None:
    """Let go of conversations and memories that have had their time."""
    plan = s.store.retain(dry_run=True)
    if plan.expiries and not dry_run:
        if not s.json:
            _show_plan(plan.expiries)
        confirm(
            f"Let go of {_told(plan.expiries)}?",
            yes,
        )
        plan = s.store.retain()
    if s.json:
        output.emit(plan)
        return
    if not plan.expiries:
        output.line("Nothing has had its time." + (f" {plan.kept:,} pinned would have." if plan.kept else ""))
        return
    if dry_run:
        _show_plan(plan.expiries)
        output.line(f"{len(plan.expiries):,} would go" + (f", {plan.kept:,} kept by a pin." if plan.kept else "."))
    else:
        output.line(f"{len(plan.expiries):,} gone" + (f", {plan.kept:,} kept by a pin." if plan.kept else "."))


def _told(expiries: Sequence[Expiry]) -> str:
    talks, held = (sum(e.type == type for e in expiries) for type in ("conversation", "memory"))
    old = sum(e.events for e in expiries if e.type == "events")
    said = [(talks, "conversation", "conversations"), (old, "old event", "old events"), (held, "memory", "memories")]
    return " and ".join(output.count(n, one, many) for n, one, many in said if n)


def _show_plan(expiries: Sequence[Expiry]) -> None:
    output.show(output.table(
        "What", "Id", "Says", "Events", "Why", right=["Events"], wide=("Says", "Why"), rows=[
            [e.type, e.id[:8] if e.type == "memory" else output.one_line(e.id, 24), output.one_line(e.title, 60),
             f"{e.events:,}" if e.events else "–", e.why] for e in expiries
        ],
    ))  # fmt: skip


def _find(s: Session, ref: str) -> Memory:
    found = s.store._read(lambda tx: memories.beginning(tx, ref))
    if not found or (len(ref) < SHORTEST_PREFIX and found[0].id != ref):
        short = f"; the beginning of an id needs {SHORTEST_PREFIX} characters or more" if found else ""
        raise NotFound(f"There is no memory {ref!r}{short}. `{s.command('memories')}` lists them with their ids.")
    if len(found) > 1:
        listed = "; ".join(f"{m.id} ({output.one_line(m.content, 40)})" for m in found[:8])
        raise InvalidInput(f"{ref!r} could be any of {listed}. Give more of the id.")
    return found[0]
