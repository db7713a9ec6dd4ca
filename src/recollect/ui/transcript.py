"""Events as people read them: chat bubbles, tool calls folded away, what an answer was made from on demand; and the same
as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from ..errors import NotFound, RecollectError
from ..model import OFFLINE, Branch, Conversation, Event
from ..store import Store
from . import dialogs, look, state, turns

AVATARS = {
    "user": ":material/person:",
    "assistant": ":material/auto_awesome:",
    "tool": ":material/build:",
    "system": ":material/tune:",
}
REMEMBER, PIN, UNPIN, FORK, TIMELINE = "Remember…", "Pin", "Unpin", "Fork here", "Show in the timeline"
LONGEST = 20_000
"""Characters of one message that are drawn; the rest is in the timeline and in the export."""


def readable(text: str) -> str:
    """A message for the page: Markdown as people and models write it, and nothing that loads or runs."""
    # Links stay links, a click is the reader's own.
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "\n\n… (cut here; the export has all of it)"
    return look.unpictured(cut).replace("$", "\\$")


def draw(c: Conversation, branch: Branch, events: list[Event], pinned: set[int], focus: int | None) -> None:
    handed = turns.evidence(events)
    traces: dict[int, list[Event]] = {}
    for e in events:
        if e.kind == "reasoning" and e.message is not None:
            traces.setdefault(e.message, []).append(e)
    for e in events:
        if e.kind in ("reasoning", "event"):
            continue
        who = "by-user" if e.kind == "message" and e.role == "user" else "event"
        with st.container(key=f"{'focus' if e.seq == focus else who}-{e.seq}", gap="xsmall"):
            if e.kind == "message":
                _message(c, branch, e, e.seq in pinned, traces.get(e.seq, []), handed.get(e.seq))
            else:
                aside(e)


def _message(
    c: Conversation, branch: Branch, e: Event, pinned: bool, traces: list[Event], handed: Event | None
) -> None:
    role = e.role or "assistant"
    with st.chat_message("user" if role == "user" else "assistant", avatar=AVATARS.get(role)):
        if traces:
            with st.expander("Reasoning", icon=":material/psychology:"):
                for trace in traces:
                    st.markdown(readable(trace.text))
        st.markdown(readable(e.text) or "*(empty)*")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"message-foot-{e.seq}"):
            said = [e.agent or "", look.clock(e.created_at), "from memory" if e.model == OFFLINE else e.model or ""]
            if e.input_tokens or e.output_tokens:
                said.append(f"{(e.input_tokens or 0) + (e.output_tokens or 0):,} tokens")
            look.quiet(" · ".join(filter(None, [*said, "pinned" if pinned else ""])))
            if handed is not None:
                items = handed.payload.get("items") or []
                with st.popover(
                    f"{look.count(len(items), 'source')} {'quoted' if e.model == OFFLINE else 'given'}", icon=":material/help:", type="tertiary",
                    key=f"why-{e.seq}", help="Why is this here?", on_change="rerun",
                ) as box:  # fmt: skip
                    if box.open:
                        sources(handed.payload, is_quoted=e.model == OFFLINE)
            chosen = st.menu_button(
                "Actions", [REMEMBER, UNPIN if pinned else PIN, FORK, TIMELINE], key=f"do-{e.seq}", type="tertiary",
                icon=":material/more_horiz:",
            )  # fmt: skip
            if chosen:
                act(chosen, c, branch, e)


def act(chosen: str, c: Conversation, branch: Branch, e: Event) -> None:
    """What is chosen in the menu of a message or result."""
    from . import behind

    store = state.store()
    if chosen == REMEMBER:
        dialogs.ask(dialogs.remember, c, e)
        return
    try:
        if chosen == PIN:
            store.pin(e)
            state.offer_undo("Pinned: it stays whatever retention says.", lambda: store.unpin(e))
        elif chosen == UNPIN:
            store.unpin(e)
        elif chosen == FORK:
            made = store.fork(c.id, at=e.seq, branch=branch.name, switch=True)
            state.look_at(c.id, made.name)
            behind.tell(c, made, branch.name)
    except RecollectError as error:
        state.tell(str(error), "error")
    if chosen == TIMELINE:
        st.session_state["replay"] = e.seq
        st.switch_page("timeline.py")
    st.rerun()


def aside(e: Event, *, expanded: bool = False) -> None:
    """Everything that is no message: folded, with its kind, tool and file in the line that is seen."""
    said = "" if e.kind == "summary" else look.short(e.text, 60)
    head = "summary of what came before" if e.kind == "summary" else headline(e)
    title = look.label(head, 90) + (f" – {look.plain(said)}" if said else "")
    with st.expander(title, expanded=expanded, icon=look.KIND_ICONS.get(e.kind)):
        body(e)


def headline(e: Event) -> str:
    """What an event is, in a few words: whose message, which tool, which file, how it ended."""
    if e.kind == "event" and e.name == turns.INJECTED:
        return "what the next answer is made from"
    what = e.role if e.kind == "message" else look.kind(e.kind)
    status = e.status.replace("_", " ") if e.status else None
    return " · ".join(filter(None, [what, e.name, e.tool, e.path, status, e.task_id]))


def body(e: Event) -> None:
    if e.text:
        if e.kind in ("message", "reasoning", "summary", "note"):
            st.markdown(readable(e.text))
        else:
            st.code(e.text[:LONGEST], language=None, wrap_lines=True)
    rest = dict(e.payload)
    diff = rest.pop("diff", None)
    if isinstance(diff, str):
        st.code(diff, language="diff", wrap_lines=True)
    if rest:
        st.json(rest, expanded=False)
    if not e.text and not e.payload:
        look.quiet("Nothing more was recorded.")


# -- what an answer was made from


def sources(payload: Mapping[str, Any], *, is_quoted: bool) -> None:
    """What was handed to the model; or what the answer quotes, where no model was asked."""
    items = payload.get("items") or []
    st.markdown("**Why is this here?**")
    if is_quoted:
        look.quiet("The answer quotes this. No model was asked.")
    else:
        look.quiet(f"Handed to the model as evidence with this question: {payload.get('tokens', 0):,} tokens in all.")
    held = (
        {m.id: m for m in state.store().memories(state=None, limit=1000)}
        if any(i.get("type") == "memory" for i in items)
        else {}
    )
    for n, item in enumerate(items):
        if not isinstance(item, Mapping):
            continue
        with st.container(border=True, gap="xsmall"):
            text, target = _source(item, held)
            look.snippet(look.short(text, 280))
            cost = "" if is_quoted else f"{item.get('tokens', 0)} tokens"
            why = item.get("why") or "it fits the question"
            look.quiet(" · ".join(filter(None, [cost, look.kind(str(item.get("kind", ""))), why])))
            if target is not None and st.button(
                "Go to its source", key=f"source-{item.get('id')}-{n}", type="tertiary", icon=":material/arrow_outward:"
            ):
                jump(*target)


def _source(item: Mapping[str, Any], held: Mapping[str, Any]) -> tuple[str, tuple[str, int | None, str | None] | None]:
    """What an item says now, and where it came from; nothing of it is left here if it was erased there."""
    if item.get("type") == "memory":
        memory = held.get(str(item.get("id")))
        if memory is None:
            return "A memory that was erased since.", None
        p = memory.provenance
        target = (p.conversation_id, p.seqs[0] if p.seqs else None, p.branch) if p.conversation_id else None
        return memory.content, target
    conversation, seqs = str(item.get("conversation") or ""), [s for s in item.get("seqs") or [] if isinstance(s, int)]
    if not conversation or not seqs:
        return "Something that is no longer there.", None
    try:
        said = state.store().read(conversation, after=min(seqs) - 1, branch="*", limit=max(seqs) - min(seqs) + 1)
    except NotFound:
        return "Something from a conversation that was deleted since.", None
    quoted = [e.text for e in said if e.seq in seqs]
    if not quoted:
        return "Something that was erased since.", None
    return "\n".join(quoted), (conversation, seqs[0], item.get("branch"))


def jump(conversation: str, seq: int | None, branch: str | None) -> None:
    """To the very message, on the branch where it was said."""
    state.turn_to(conversation, branch, seq)
    st.switch_page("chat.py")


# -- files


def markdown(store: Store, c: Conversation, branch: str | None) -> str:
    """A conversation for reading."""
    events = store.read(c.id, branch=branch)
    begun = events[0].created_at if events else c.created_at
    parts = [f"# {c.title or 'Untitled'}", f"*{look.moment(begun)} – {look.moment(c.updated_at)}*"]
    for e in events:
        if e.kind == "message":
            parts.append(f"**{(e.agent or e.role or '').title()}** ({look.moment(e.created_at)}):\n\n{e.text}")
        elif e.kind != "event":
            head = " · ".join(filter(None, [e.kind, e.tool, e.path, e.status]))
            quoted = "\n".join(f"> {line}" for line in e.text.splitlines())
            parts.append(f"> *{head}*" + (f"\n{quoted}" if quoted else ""))
    return "\n\n".join(parts) + "\n"


def lines(store: Store, c: Conversation) -> str:
    """Everything of a conversation, a JSON object a line: itself, then its events on every branch."""
    rows: list[dict[str, Any]] = [{"type": "conversation", **c.__dict__}]
    rows += [{"type": "branch", **b.__dict__} for b in store.branches(c.id)]
    rows += [
        {"type": "event", **{k: v for k, v in e.__dict__.items() if k != "traces"}}
        for e in store.read(c.id, branch="*")
    ]
    return "\n".join(json.dumps(row, ensure_ascii=False, default=dict) for row in rows) + "\n"
