"""The page Chat: a conversation, its title and menu, the messages with what can be done with each, and the answer as it
comes. Everything shown is in the store; what is typed is there before it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ..model import Branch, Conversation, Event
from . import dialogs, drawing, look, state, transcript, turns
from .answers import Answer
from .state import guarded

WINDOW = 80
"""How many numbers of the log are shown at first; older ones are a click away."""
AROUND = 20
"""How many numbers before and after the place of a jump."""
SHOWN = ("message", "tool_use", "tool_result", "approval", "error", "artifact", "summary", "reasoning", "event", "note")
EXAMPLES = ("Remember I prefer dark mode", "What are my preferences?", "What do you know about me?")


def page() -> None:
    c = state.current()
    if c is None:
        state.notes("")
        _draft()
        return
    branches = state.store().branches(c.id)
    branch = state.branch_of(c, branches)
    with st.container(key="top"):
        _header(c, branches, branch)
        state.notes("")
    if branch is None:
        _lost(c, branches)
        return
    answer = turns.running(c, branch.name)
    other = None if answer is not None else turns.who_answers(c, branches, branch)
    is_asked = other is not None and st.session_state.get("answers-here") != (c.id, branch.name)
    events, older, newer = _events(c, branch, answer)
    _messages(c, branch, events, older, newer, answer, may_answer=not is_asked)
    if newer:
        st.button("Go to the newest", key="newest", icon=":material/arrow_downward:", on_click=_newest)
    if other is not None and is_asked:
        _other_graph(c, branch, other)
    _box(disabled=is_asked, is_answering=answer is not None)
    look.lead(st.session_state["focus"], st.session_state["jump"])
    if answer is not None:
        _follow(answer, turns.waiting(c, branch.name))


def _box(*, disabled: bool = False, is_answering: bool = False) -> None:
    """The same box on every page of this kind, so that what is half typed stays when the page is drawn anew.

    Of two messages that come while the page is drawn, Streamlit keeps one. So the browser closes the box with each (`submit_mode`)
    until the page is drawn, it stays closed while an answer is given, and what was sent is taken before anything is drawn."""
    st.chat_input(
        "You can write again when the answer is there" if is_answering else "Write a message", key="say",
        disabled=disabled or is_answering, submit_mode="disable", on_submit=_said,
    )  # fmt: skip


@guarded
def _said() -> None:
    """Whenever the session is read, Streamlit may end this run because something newer was clicked. What was sent is said first."""
    cut: BaseException | None = None
    try:
        text, where, branch, user = _sent()
    except BaseException as e:
        cut = e
        text, where, branch, user = _sent()
    if isinstance(text, str) and text.strip():
        store = state.shared().handle(user)
        c = store.create() if where is None else store.get(where)
        turns.say(c, text, branch or c.active_branch, user)
        if where is None:
            state.look_at(c.id)
        elif st.session_state.get("focus") is not None:
            _newest()
    if cut is not None:
        raise cut


def _sent() -> tuple[Any, str | None, str | None, str]:
    """What came from the box, and where and by whom it is said."""
    s = st.session_state
    return s.get("say"), s.get(state.THREAD), s.get(state.BRANCH), state.user()


# -- a conversation that does not exist yet


def _draft() -> None:
    with st.container(key="title-draft"):
        st.text_input(
            "Name", key="draft-title", placeholder="New conversation – name it, or just write", on_change=_named,
            label_visibility="collapsed", max_chars=500,
        )  # fmt: skip
    look.empty(
        "chat", "What is on your mind?",
        "Everything you say here is kept on this machine, can be found again, and is remembered in later conversations.",
    )  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="center"):
        for i, example in enumerate(EXAMPLES):
            st.button(example, key=f"example-{i}", on_click=_begin, args=(example,))
    _box()


@guarded
def _named() -> None:
    title = str(st.session_state.get("draft-title") or "").strip()
    if title:
        state.look_at(state.store().create(title=title).id)


@guarded
def _begin(text: str) -> None:
    c = state.store().create()
    state.look_at(c.id)
    turns.say(c, text, c.active_branch, state.user())


# -- the header


def _header(c: Conversation, branches: list[Branch], branch: Branch | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="header"):
        with st.container(key="title-of-conversation"):
            st.text_input(
                "Title", value=c.title or "", key=f"title-{c.id}-{hash(c.title)}", placeholder="Untitled",
                on_change=_rename, args=(c.id, f"title-{c.id}-{hash(c.title)}"), label_visibility="collapsed",
                max_chars=500, help=None,
            )  # fmt: skip
        if len(branches) > 1 and branch is not None:
            drawing.switcher(c, branches, branch, "chat")
        _menu(c, branch)


@guarded
def _rename(id: str, key: str) -> None:
    title = str(st.session_state.get(key) or "").strip()
    if title:
        state.store().rename(id, title)
        return
    st.session_state[key] = state.store().get(id).title or ""
    state.tell("A conversation cannot have an empty name, so it keeps the one it had.")


def _menu(c: Conversation, branch: Branch | None) -> None:
    store = state.store()
    with st.popover("More", icon=":material/more_horiz:", key=dialogs.menu("chat"), type="tertiary"):
        st.toggle(
            "Use what is remembered", value=turns.injects(c), key=f"inject-{c.id}",
            help="Off: the answers in this conversation see nothing from other conversations.",
            on_change=_inject, args=(c.id,),
        )  # fmt: skip
        name = (
            "".join(ch if ch.isalnum() else "-" for ch in (c.title or "conversation"))[:40].strip("-") or "conversation"
        )
        st.download_button(
            "Export for reading (Markdown)", data=lambda: transcript.markdown(store, c, branch.name if branch else None),
            file_name=f"{name}.md", mime="text/markdown", key="export-md", icon=":material/download:",
            on_click="ignore", width="stretch",
        )  # fmt: skip
        st.download_button(
            "Export everything (JSON lines)", data=lambda: transcript.lines(store, c), file_name=f"{name}.jsonl",
            mime="application/x-ndjson", key="export-jsonl", icon=":material/data_object:", on_click="ignore",
            width="stretch",
        )  # fmt: skip
        st.button(
            "Clear the history…", key="clear", icon=":material/mop:", width="stretch", on_click=dialogs.ask,
            args=(dialogs.clear, c),
        )  # fmt: skip
        st.button(
            "Delete", key="delete", icon=":material/delete:", width="stretch", on_click=_delete, args=(c.id, c.title),
            help="Into the bin: it can be taken out again.",
        )  # fmt: skip
        st.button(
            "Erase for good…", key="erase", icon=":material/delete_forever:", width="stretch", on_click=dialogs.ask,
            args=(dialogs.erase_conversation, c),
        )  # fmt: skip


@guarded
def _inject(id: str) -> None:
    on = bool(st.session_state.get(f"inject-{id}"))
    state.store().annotate(id, {"context": None if on else False})


@guarded
def _delete(id: str, title: str | None) -> None:
    store = state.store()
    dialogs.close_menus()
    store.delete(id)
    newest = store.conversations(limit=1)
    state.look_at(newest[0].id if newest else None)

    def back() -> None:
        store.restore(id)
        state.look_at(id)

    state.offer_undo(f"**{look.name(title)}** is in the bin.", back)


def _lost(c: Conversation, branches: list[Branch]) -> None:
    look.empty(
        "fork_right", "That branch is not here any more", "The conversation is. Choose the branch to go on with:"
    )
    with st.container(horizontal=True, horizontal_alignment="center"):
        for b in branches:
            st.button(look.label(b.name), key=f"instead-{b.name}", on_click=state.look_at, args=(c.id, b.name))


# -- the messages


def _events(c: Conversation, branch: Branch, answer: Answer | None) -> tuple[list[Event], int, bool]:
    """What is shown: (events, how many numbers came before, whether newer ones are left out)."""
    window, focus = int(st.session_state.get("window", WINDOW)), st.session_state.get("focus")
    if focus is not None and focus + AROUND < branch.head:
        after = max(0, focus - AROUND)
        events = state.store().read(c.id, after=after, branch=branch.name, kinds=SHOWN, limit=2 * AROUND)
        return events, after, True
    after = max(0, branch.head - window)
    if focus is not None:
        after = min(after, max(0, focus - AROUND))
    events = state.store().read(c.id, after=after, branch=branch.name, kinds=SHOWN)
    if answer is not None:
        events = [e for e in events if e.seq <= answer.after]
    return events, after, False


def _messages(
    c: Conversation,
    branch: Branch,
    events: list[Event],
    older: int,
    newer: bool,
    answer: Answer | None,
    *,
    may_answer: bool,
) -> None:
    if older:
        st.button("Show earlier messages", key="earlier", type="tertiary", on_click=_earlier)
    if not events and answer is None:
        look.empty("chat", "Nothing was said here yet", "Write a message below to begin.")
    pinned = set(state.store().pins(c.id)) if events else set()
    transcript.draw(c, branch, events, pinned, st.session_state.get("focus"))
    if answer is not None:
        if answer.text is not None:
            _pending(answer.text)
        return
    last = next((e for e in reversed(events) if e.kind in ("message", "error")), None)
    if may_answer and not newer and last is not None and (last.role == "user" or last.kind == "error"):
        _unanswered(c, branch)
    elif failed := turns.failure(c, branch.name):
        st.error(look.plain(failed))


def _pending(text: str, place: str = "") -> None:
    """What was just said, until it is read from the log."""
    with st.container(key=f"pending-user{place}"), st.chat_message("user", avatar=transcript.AVATARS["user"]):
        st.markdown(transcript.readable(text))


def _unanswered(c: Conversation, branch: Branch) -> None:
    failed = turns.failure(c, branch.name)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="unanswered"):
        st.markdown(look.plain(failed) if failed else "This was not answered yet.")
        st.button("Answer it now", key="again", icon=":material/refresh:", on_click=_again, args=(c, branch))


@guarded
def _again(c: Conversation, branch: Branch) -> None:
    turns.answer_again(c, branch)


def _other_graph(c: Conversation, branch: Branch, node: str) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="other-graph"):
        st.markdown(look.other_graph(node), width="stretch")
        st.button(
            "Answer here", key="answer-here", icon=":material/forum:", on_click=_answer_here, args=(c.id, branch.name)
        )


def _answer_here(conversation: str, branch: str) -> None:
    st.session_state["answers-here"] = (conversation, branch)


def _follow(answer: Answer, waiting: Sequence[str] = ()) -> None:
    """Show an answer as it comes; then the page is drawn anew, from the log."""
    with st.chat_message("assistant", avatar=transcript.AVATARS["assistant"]):
        box, said = st.empty(), ""
    for i, text in enumerate(waiting):
        _pending(text, f"-{i}")
    for piece in answer.pieces():
        said += piece
        box.markdown(transcript.readable(said))
    st.rerun()


def _earlier() -> None:
    st.session_state["window"] = int(st.session_state.get("window", WINDOW)) + 200
    st.session_state["focus"] = None


def _newest() -> None:
    state.jump(None)
