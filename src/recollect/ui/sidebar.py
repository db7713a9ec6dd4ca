"""The list of conversations: new, search, switch, newest activity first; the bin; the profile."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ..context import is_about
from ..model import Conversation
from . import dialogs, look, state
from .state import guarded

LOOK_EVERY = 1.5
"""Seconds after which what another process added is looked for."""
FOUND = 12


def draw(stays: bool) -> None:
    """The sidebar. `stays`: the page at hand shows a conversation, so picking another one does not leave it."""
    with st.sidebar:
        st.html('<div class="rc-brand">Recollect</div>')
        if st.button(
            "New conversation", key="new", icon=":material/edit_square:", type="primary", width="stretch",
            shortcut="ctrl+alt+n",
        ):  # fmt: skip
            state.look_at(None)
            st.switch_page("chat.py")
        question = st.text_input(
            "Search conversations", key="find", type="search", placeholder="Search conversations",
            label_visibility="collapsed", icon=":material/search:",
        )  # fmt: skip
        listed = _listed()
        if question.strip():
            _results(question, listed, stays)
        else:
            _list(listed, stays)
        _bin()
        _profile()


def _listed() -> list[Conversation]:
    """The newest conversations, read once a run."""
    most = int(st.session_state.get("listed-most", state.LISTED))
    listed = state.store().conversations(limit=most + 1)
    st.session_state["listed"] = listed
    st.session_state["seen"] = _sign(listed)
    return listed


def _sign(listed: Sequence[Conversation]) -> tuple[object, ...]:
    return (state.user(), *((c.id, c.title, c.cursor, c.active_branch) for c in listed))


def _list(listed: list[Conversation], stays: bool) -> None:
    most = int(st.session_state.get("listed-most", state.LISTED))
    with st.container(key="list-of-conversations", gap=None):
        if not listed:
            look.quiet("Nothing here yet. Write a message to begin.")
        heading = ""
        # They are listed as they came in; an import brings old ones last, and each heading is to stand once.
        for c in sorted(listed[:most], key=lambda c: -c.updated_at):
            if (since := look.since(c.updated_at)) != heading:
                heading = since
                st.html(f'<div class="rc-day">{heading}</div>')
            _entry(c, stays)
    if len(listed) > most:
        st.button("Show older ones", key="more", type="tertiary", on_click=_more, args=(most,))


def _entry(c: Conversation, stays: bool, focus: int | None = None, branch: str | None = None) -> None:
    is_open = c.id == st.session_state.get(state.THREAD)
    if st.button(
        look.label(c.title or "Untitled", 48), key=f"open-{c.id}", width="stretch",
        type="secondary" if is_open else "tertiary",
    ):  # fmt: skip
        state.turn_to(c.id, branch, focus)
        if stays:
            st.rerun()
        st.switch_page("chat.py")


def _more(most: int) -> None:
    st.session_state["listed-most"] = most + 100


def _results(question: str, listed: list[Conversation], stays: bool) -> None:
    """Conversations whose title says it, then those in which it was said."""
    words = question.casefold().split()
    found = {c.id: c for c in listed if all(w in (c.title or "").casefold() for w in words)}
    known = {c.id: c for c in listed}
    focus: dict[str, tuple[int | None, str | None]] = {}
    for hit in filter(is_about, state.store().search(question, types="events", limit=60)):
        id = hit.conversation_id
        if id is None or id in focus or len(found) >= FOUND:
            continue
        if id not in found:
            found[id] = known.get(id) or state.store().get(id)
        focus[id] = (hit.seq, hit.branch)
    with st.container(key="list-of-conversations-found", gap=None):
        st.html(f'<div class="rc-day">{look.count(len(found), "conversation")} found</div>')
        for c in found.values():
            seq, branch = focus.get(c.id, (None, None))
            _entry(c, stays, seq, branch)
    if not found:
        look.quiet("No conversation says that. Other words may help.")


def _bin() -> None:
    box = st.expander("Bin", icon=":material/delete:", key="bin", on_change="rerun")
    if not box.open:
        return
    with box:
        binned = state.store().conversations(limit=30, deleted=True)
        if not binned:
            look.quiet("The bin is empty.")
        for c in binned:
            st.markdown(f":small[{look.label(c.title or 'Untitled', 60)}]")
            with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
                st.button(
                    "Restore", key=f"restore-{c.id}", type="tertiary", icon=":material/restore_from_trash:",
                    on_click=_restore, args=(c.id,),
                )  # fmt: skip
                st.button(
                    "Erase…", key=f"bin-erase-{c.id}", type="tertiary", icon=":material/delete_forever:",
                    on_click=dialogs.ask, args=(dialogs.erase_conversation, c),
                )  # fmt: skip


@guarded
def _restore(id: str) -> None:
    state.store().restore(id)
    state.look_at(id)


def _profile() -> None:
    with st.popover(
        look.label(state.user(), 24), icon=":material/account_circle:", type="tertiary", key="profile", help="Profile"
    ):
        st.caption("Each profile has its own conversations and memories. Nothing is shared between them.")
        names = state.shared().profiles() if st.session_state.get("profile") is not False else [state.user()]
        if state.user() not in names:
            names.append(state.user())
        st.radio(
            "Profile", names, index=names.index(state.user()), key=f"profile-of-{state.user()}",
            on_change=_switch, args=(f"profile-of-{state.user()}",),
        )  # fmt: skip
        st.text_input(
            "Another one", key="profile-new", placeholder="A name", on_change=_switch, args=("profile-new",),
            max_chars=100,
        )  # fmt: skip


@guarded
def _switch(key: str) -> None:
    name = str(st.session_state.get(key) or "").strip()
    if name and name != state.user():
        state.as_user(name)
        st.session_state["profile-new"] = ""


@st.fragment(run_every=LOOK_EVERY)
def watch() -> None:
    """Draw the page anew when another process, or an answer in the background, added something."""
    if st.session_state.pop("fresh", False):  # drawn with the page a moment ago
        return
    shown = st.session_state.get("seen")
    most = int(st.session_state.get("listed-most", state.LISTED))
    if shown is not None and _sign(state.store().conversations(limit=most + 1)) != shown:
        st.rerun()
