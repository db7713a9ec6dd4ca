"""The page Time travel: the checkpoints of a conversation as a timeline. Pick one, see that state, fork there, change what
was said if you like, and run on. Both histories stay."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ..model import Branch, Checkpoint, Conversation, Event
from . import behind, drawing, look, state, transcript, turns

PAGE = 60
_NODES = {"__start__": "you said", "recall": "looked up what is known", "answer": "answered", "record": "kept"}
_STEPS = {
    "input": "before you wrote",
    "loop": "the graph ran",
    "update": "the state was changed",
    "fork": "forked here",
}


def page() -> None:
    c = state.current()
    if c is None:
        look.empty(
            "history",
            "No conversation is open",
            "Choose one on the left, or begin one on the page Chat; then come back.",
        )
        return
    branches = state.store().branches(c.id)
    branch = state.branch_of(c, branches)
    with st.container(horizontal=True, vertical_alignment="center", key="travel-header"):
        st.subheader(look.label(c.title or "Untitled", 70), anchor=False, width="stretch")
        if branch is not None:
            drawing.switcher(c, branches, branch, "travel")
    if branch is None:
        look.empty("fork_right", "That branch is not here any more", "Choose another one below.")
    drawing.draw_tree(branches, branch.name if branch else None)
    with st.container(horizontal=True):
        for b in branches if len(branches) > 1 else []:
            st.button(
                look.label(b.name, 30), key=f"to-{b.name}", type="primary" if branch and b.name == branch.name else "secondary",
                help=look.plain(look.preview(b.preview)) or None, on_click=state.switch, args=(c.id, b.name), icon=":material/fork_right:",
            )  # fmt: skip
    only = st.toggle("Only what led to this branch", value=True, key="travel-only") if len(branches) > 1 else False
    most = int(st.session_state.get("travel-most", PAGE))
    found = state.store().checkpoints(c.id, limit=most + 1)
    more, found = len(found) > most, found[:most]
    if only and branch is not None:
        found = turns.leading_to(branch, branches, found)
    if not found and not more:
        look.empty(
            "history", "There is nowhere to travel back to yet",
            "Each turn of a chat here leaves checkpoints. Say something on the page Chat, then come back.",
        )  # fmt: skip
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        picked = _timeline(c, found, more=more)
    with right:
        if picked is None:
            look.empty("touch_app", "Pick a moment", "Its state is shown here, and you can fork and go on from it.")
        else:
            on = next((b for b in branches if b.name == picked.branch), None)
            before = [] if on is None else turns.leading_to(on, branches, found)
            _state(c, picked, turns.other_graph([picked, *(k for k in before if k.id < picked.id)]))


# -- the timeline


def _timeline(c: Conversation, found: list[Checkpoint], *, more: bool) -> Checkpoint | None:
    """A card for each turn, which is its end; its steps are below it, folded. A graph leaves five for every message, and what
    one looks for is the message."""
    chosen = st.session_state.get("checkpoint")
    st.markdown("**Turns**, newest first")
    with st.container(height=560, gap="xsmall", key="list-of-checkpoints"):
        for turn in turns_of(found):
            end, is_in = turn[0], any(k.id == chosen for k in turn)
            st.button(
                _headed(turn), key=f"turn-{end.id}", width="stretch", on_click=_pick, args=(end.id,),
                type="primary" if is_in else "secondary",
            )  # fmt: skip
            with st.expander(look.count(len(turn), "step"), key=f"steps-{end.id}", expanded=is_in and end.id != chosen):
                for k in turn:
                    st.button(
                        _said(k), key=f"checkpoint-{k.id}", width="stretch", on_click=_pick, args=(k.id,),
                        type="primary" if k.id == chosen else "tertiary",
                    )  # fmt: skip
        if more:
            st.button("Show older ones", key="travel-more", type="tertiary", on_click=_more)
    picked = next((k for k in found if k.id == chosen), None)
    if picked is None and chosen is not None:
        picked = state.find_checkpoint(c.id, chosen)
    return picked


def turns_of(found: list[Checkpoint]) -> list[list[Checkpoint]]:
    """Checkpoints by turn, both newest first: a turn begins with the state before its input, on a branch of its own."""
    turns: list[list[Checkpoint]] = []
    for k in found:
        if (
            turns
            and turns[-1][-1].source == "loop"
            and k.source in ("loop", "input")
            and turns[-1][-1].branch == k.branch
        ):
            turns[-1].append(k)
        else:
            turns.append([k])
    return turns


def _headed(turn: list[Checkpoint]) -> str:
    """What was said in it, and what came of it."""
    end = turn[0]
    asked = next((k.preview for k in reversed(turn) if k.source == "loop" and k.preview), "")
    said = f"**{look.clock(end.created_at)}** · {look.label(asked, 60) or _what(end)}"
    if end.preview and end.preview != asked:
        said += f"  \n{look.label(look.preview(end.preview), 60)}"
    return said


def _what(k: Checkpoint) -> str:
    ran = k.node if k.source == "loop" else None  # a fork names the node that had run where it was made
    return look.plain(_NODES.get(ran, ran) if ran else _STEPS.get(k.source or "", k.source or ""))


def _said(k: Checkpoint) -> str:
    step = "input" if k.source == "input" else f"step {k.step if k.step is not None else '–'}"
    return f"{step} · {_what(k)}"


def _pick(id: str) -> None:
    st.session_state["checkpoint"] = id


def _more() -> None:
    st.session_state["travel-most"] = int(st.session_state.get("travel-most", PAGE)) + 100


# -- a state, and what can be done from it


def _state(c: Conversation, k: Checkpoint, other: str | None) -> None:
    st.markdown(f"**The state at {look.moment(k.created_at)}**")
    versions = state.store().read(c.id, branch=k.branch, kinds=["message"])
    # An edited message stands where the first version of it stood.
    events = [*{_place(e): e for e in versions if e.seq <= k.seq}.values()]
    question = next((e for e in reversed(events) if e.role == "user"), None)
    with st.container(height=300, border=True, key="state-of-checkpoint"):
        if not events:
            look.quiet("Nothing was said yet at that moment.")
        for e in events[-40:]:
            with st.chat_message(
                "user" if e.role == "user" else "assistant", avatar=transcript.AVATARS.get(e.role or "")
            ):
                st.markdown(transcript.readable(e.text[:2_000]))
    _go_on(c, k, question, other)
    box = st.expander(
        "The state as the graph holds it", icon=":material/data_object:", key="raw-state", on_change="rerun"
    )
    if box.open:
        with box:
            st.json(_values(k), expanded=1)


def _place(e: Event) -> int:
    return e.seq if e.message is None else e.message


def _go_on(c: Conversation, k: Checkpoint, question: Event | None, other: str | None) -> None:
    with st.form(f"go-on-{k.id}", border=True):
        st.markdown("**Go on from here, on a branch of its own**")
        if question is not None:
            text = st.text_area(
                "Edit what was said last", value=question.text, key=f"edited-{k.id}",
                help="Changed: it is said anew on the branch. As it is: the same is answered once more.",
            )  # fmt: skip
        else:
            text = st.text_area("Say something", key=f"edited-{k.id}")
        behind.warn(c, k.branch, k.seq)
        if other is not None:
            st.markdown(look.other_graph(other))
        with st.container(horizontal=True):
            run = st.form_submit_button(
                "Fork and resume", type="primary", icon=":material/play_arrow:", key=f"resume-{k.id}"
            )
            fork = st.form_submit_button("Only fork", icon=":material/fork_right:", key=f"fork-{k.id}")
    if run and text.strip():
        _run(c, k, question, text)
    elif fork:
        _fork(c, k)


def _fork(c: Conversation, k: Checkpoint) -> None:
    _, name = turns.fork_at(k)
    state.store().switch(c.id, name)
    state.look_at(c.id, name)
    behind.tell(c, name, k.branch)
    st.switch_page("chat.py")


def _run(c: Conversation, k: Checkpoint, question: Event | None, text: str) -> None:
    """Fork before what was said, and say it, changed or not, on the branch."""
    store = state.store()
    at = k.seq if question is None else _place(question) - 1
    made: Branch = store.fork(c.id, at=at, branch=k.branch, switch=True)
    state.look_at(c.id, made.name)
    behind.tell(c, made, k.branch)
    turns.say(store.get(c.id), text, made.name, state.user())
    st.switch_page("chat.py")


def _values(k: Checkpoint) -> Any:
    """A graph's state as JSON: messages as their parts, anything else as it can be said."""
    config = {"configurable": {"thread_id": k.conversation_id, "checkpoint_ns": "", "checkpoint_id": k.id}}
    snapshot = state.shared().graph(state.user()).get_state(config)
    values = {name: _plain(value) for name, value in (snapshot.values or {}).items()}
    return {"values": values, "next": list(snapshot.next), "step": k.step, "checkpoint": k.id}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if hasattr(value, "type") and hasattr(value, "content"):
        return {"type": value.type, "content": value.content, "id": getattr(value, "id", None)}
    return value if isinstance(value, (str, int, float, bool, dict, type(None))) else repr(value)[:500]
