"""The page Timeline: every event of a conversation, by kind, folded; with a slider to replay it, the tasks as they stood,
artifacts with their diffs, and reasoning."""

from __future__ import annotations

import streamlit as st

from ..model import KINDS, Branch, Conversation, Event
from . import drawing, look, state, transcript

MOST = 60
EVERY = "*"


def page() -> None:
    c = state.current()
    if c is None:
        look.empty(
            "timeline",
            "No conversation is open",
            "Choose one on the left: everything that happened in it is shown here.",
        )
        return
    branches = state.store().branches(c.id)
    branch = state.branch_of(c, branches) or branches[0]
    with st.container(horizontal=True, vertical_alignment="center", key="timeline-header"):
        st.subheader(look.label(c.title or "Untitled", 70), anchor=False, width="stretch")
        if len(branches) > 1:
            drawing.switcher(c, branches, branch, "timeline")
    if not c.last_seq or not state.store()._held([c])[0]:
        look.empty("timeline", "Nothing happened here yet", "Write a message on the page Chat.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kinds = st.pills(
            "Show", KINDS, selection_mode="multi", key="timeline-kinds", format_func=look.kind,
            label_visibility="collapsed",
        )  # fmt: skip
        everywhere = st.toggle("Every branch", key="timeline-every") if len(branches) > 1 else False
    last = c.last_seq if everywhere else branch.head
    if not last:
        look.empty("timeline", "Nothing happened here yet", "This branch begins before the first event.")
        return
    at = _slider(c, last)
    _tasks(c, branch, at)
    _events(c, EVERY if everywhere else branch.name, at, list(kinds or []))


def _slider(c: Conversation, last: int) -> int:
    """Up to which event it is replayed; `last` is the newest that is shown."""
    key = f"replay-{c.id}"
    asked = st.session_state.pop("replay", None)
    if last < 2:
        return last
    following = f"{key}-last"
    at = st.session_state.get(key, last)
    if at == st.session_state.get(following, last):
        at = last  # at the end, new events are followed, and another branch is shown to its own end
    st.session_state[key] = min(at if asked is None else asked, last)
    st.session_state[following] = last
    return int(st.slider("Replay up to event", 1, last, key=key))


def _tasks(c: Conversation, branch: Branch, at: int) -> None:
    tasks = state.store().ledger(c.id, at=at, branch=branch.name)
    if not tasks:
        return
    with st.container(border=True, gap="xsmall", key="tasks"):
        st.markdown(f"**Tasks** as they stood at event {at}")
        for t in tasks:
            colour = {"done": "green", "completed": "green", "failed": "red", "blocked": "red"}.get(
                t.status or "", "orange"
            )
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                look.badges([((t.status or "open").replace("_", " "), colour, None)])
                st.markdown(look.plain(t.goal or t.task_id))


def _events(c: Conversation, branch: str, at: int, kinds: list[str]) -> None:
    most = int(st.session_state.get("timeline-most", MOST))
    after = max(0, at - most)
    events = state.store().read(c.id, after=after, branch=branch, kinds=kinds or None, limit=at - after)
    events = [e for e in events if e.seq <= at]
    if not events:
        look.empty("timeline", "Nothing of that kind up to here", "Choose other kinds, or move the slider.")
    for e in reversed(events):
        _event(c, e, everywhere=branch == EVERY)
    if after:
        st.button("Show earlier events", key="timeline-earlier", type="tertiary", on_click=_earlier)


def _earlier() -> None:
    st.session_state["timeline-most"] = int(st.session_state.get("timeline-most", MOST)) + 200


def _event(c: Conversation, e: Event, *, everywhere: bool) -> None:
    where = e.branch if everywhere else None
    head = " · ".join(filter(None, [str(e.seq), look.clock(e.created_at), transcript.headline(e), where]))
    said = look.short(e.text, 80) if e.text else ""
    title = f"{look.plain(head)}" + (f" – {look.plain(said)}" if said else "")
    box = st.expander(title, icon=look.KIND_ICONS.get(e.kind), key=f"event-{e.seq}", on_change="rerun")
    if not box.open:
        return
    with box:
        transcript.body(e)
        if e.kind == "reasoning" and e.message is not None:
            look.quiet(f"It led to message {e.message}.")
        elif e.kind == "message" and e.role == "assistant":
            for trace in state.store().reasoning(c.id, message=e.seq, branch=e.branch):
                with st.container(border=True):
                    st.markdown(f"**Reasoning**  \n{transcript.readable(trace.text)}")
        facts = [
            e.agent, e.model, f"{e.input_tokens} tokens read" if e.input_tokens else None,
            f"{e.output_tokens} tokens written" if e.output_tokens else None,
            f"{e.duration_ms} ms" if e.duration_ms is not None else None, f"cost {e.cost:g}" if e.cost else None,
            ", ".join(e.tags), look.moment(e.created_at), e.id,
        ]  # fmt: skip
        look.quiet(" · ".join(filter(None, facts)))
        if e.kind in ("message", "tool_result", "artifact", "error", "note"):
            with st.container(horizontal=True):
                if st.button("Remember…", key=f"t-remember-{e.seq}", icon=":material/bookmark_add:", type="tertiary"):
                    transcript.act(transcript.REMEMBER, c, _as_branch(e), e)
                if st.button("Pin", key=f"t-pin-{e.seq}", icon=":material/keep:", type="tertiary"):
                    transcript.act(transcript.PIN, c, _as_branch(e), e)
                if st.button("Go there", key=f"t-go-{e.seq}", icon=":material/arrow_outward:", type="tertiary"):
                    transcript.jump(c.id, e.seq, e.branch)


def _as_branch(e: Event) -> Branch:
    return Branch(e.branch, e.conversation_id, None, 0, 0, False, 0, 0, "")
