"""What asks before it acts: remember, clear, erase. Each says in plain words what goes, and what stays.

Which dialog is open is part of the state, so it stays open when the page under it is drawn anew because something came in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from ..errors import RecollectError
from ..model import MEMORY_KINDS, Conversation, Event, Memory
from . import look, state

_OPEN = "dialog"


def ask(dialog: Callable[..., None], *about: Any) -> None:
    """Open a dialog with the page that is drawn next, or is being drawn."""
    st.session_state[_OPEN] = (dialog, about)
    close_menus()


def close_menus() -> None:
    """A menu that is open stays open over whatever comes, unless it is another one."""
    st.session_state["menus"] = int(st.session_state.get("menus", 0)) + 1


def menu(name: str) -> str:
    """The key of a menu."""
    return f"menu-{name}-{st.session_state.get('menus', 0)}"


def draw() -> None:
    """At the end of a page: the dialog that is open."""
    asked = st.session_state.get(_OPEN)
    if asked is not None:
        dialog, about = asked
        dialog(*about)


def close() -> None:
    st.session_state.pop(_OPEN, None)


EVERYWHERE, HERE, WORKSPACE = "everywhere", "in this conversation", "in this workspace"


def done(text: str | None = None) -> None:
    """Close it, and say what was done."""
    close()
    if text:
        state.tell(text, "success")
    st.rerun()


@st.dialog("Remember this", icon=":material/bookmark_add:", on_dismiss=close)
def remember(c: Conversation, e: Event) -> None:
    content = st.text_area("What to remember", value=e.text[:2000], key="remember-content", max_chars=4000)
    with st.container(horizontal=True):
        kind = st.selectbox("Kind", MEMORY_KINDS, format_func=lambda k: k.replace("_", " "), key="remember-kind")
        scopes = [EVERYWHERE, HERE, *([WORKSPACE] if c.workspace else [])]
        scope = st.selectbox("Used", scopes, key="remember-scope")
    importance = st.slider("Importance", 0.0, 1.0, 0.6, 0.1, key="remember-importance")
    pinned = st.toggle("Pin it", key="remember-pin", help="Kept whatever retention and extraction say.")
    if st.button("Remember", type="primary", key="remember-go", disabled=not content.strip()):
        try:
            state.store().remember(
                content.strip(), kind=kind, importance=importance, source=e.id, pinned=pinned,
                conversation=c.id if scope == HERE else None, workspace=c.workspace if scope == WORKSPACE else None,
            )  # fmt: skip
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        done("Remembered. The page Memories has it.")


@st.dialog("Clear the history?", icon=":material/mop:", on_dismiss=close)
def clear(c: Conversation) -> None:
    st.markdown(
        f"All messages of **{look.name(c.title)}** go, on every branch, and cannot be brought back. The "
        "conversation stays, with its name; what was learned from it stays too."
    )
    if st.button("Clear it", type="primary", key="clear-go"):
        try:
            gone = state.store().clear(c.id)
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        state.look_at(c.id)
        done(f"{look.count(gone, 'event')} cleared.")


def _learned(c: Conversation) -> list[Memory]:
    """What came from a conversation, on any of its branches: without saying which, the active one alone is looked at."""
    store = state.store()
    seen = store.memories(state=None, limit=1000)
    if c.deleted_at is None:  # a conversation in the bin has no branches to look at
        for b in store.branches(c.id):
            seen += store.memories(conversation=c, branch=b.name, state=None, limit=1000)
    return list({m.id: m for m in seen if m.provenance.conversation_id == c.id}.values())


@st.dialog("Erase for good?", icon=":material/delete_forever:", on_dismiss=close)
def erase_conversation(c: Conversation) -> None:
    store = state.store()
    plan = store.erase(conversation=c.id, dry_run=True)
    learned = _learned(c)
    st.markdown(f"Nothing will be left of **{look.name(c.title)}**:")
    st.markdown(
        f"- {look.count(store._held([c])[0], 'event')} on {look.count(plan.counts.get('branches', 1), 'branch')}: "
        "messages, tools, reasoning, artifacts\n- the states of its graph to travel back to\n- what search knows of it"
        + (
            f"\n- {look.count(gone, 'memory')} that nothing else says"
            if (gone := plan.counts.get("memories", 0))
            else ""
        )
    )
    if stays := plan.changed.get("memories", 0):
        st.markdown(
            f"\n{look.count(stays, 'memory')} said elsewhere as well: what was said here goes from the history, the rest stays."
        )
    look.some([m.content for m in learned])
    if plan.backups:
        st.markdown("Backups that still hold it, and are yours to delete: " + look.plain(", ".join(plan.backups)))
    sure = st.checkbox("I know that this cannot be undone", key="erase-sure")
    if st.button("Erase for good", type="primary", key="erase-go", disabled=not sure):
        try:
            receipt = store.erase(conversation=c.id)
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        if st.session_state.get(state.THREAD) == c.id:  # it was the one that is looked at, and not one of the bin
            newest = store.conversations(limit=1)
            state.look_at(newest[0].id if newest else None)
        st.session_state.pop("undoable", None)
        done(f"Erased: {look.count(receipt.counts.get('events', 0), 'event')}. Receipt {receipt.id}.")


@st.dialog("Erase a memory for good?", icon=":material/delete_forever:", on_dismiss=close)
def erase_memory(m: Memory) -> None:
    st.markdown("This goes, with its whole history, and cannot be brought back:")
    with st.container(border=True):
        look.snippet(m.content)
    if st.button("Erase it", type="primary", key="erase-memory-go"):
        try:
            state.store().forget(m.id, erase=True)
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        st.session_state.pop("undoable", None)
        done("Erased.")


@st.dialog("Erase memories for good?", icon=":material/delete_forever:", on_dismiss=close)
def purge(conversation: Conversation | None) -> None:
    """All memories that came from a conversation, or all of this profile's."""
    store = state.store()
    held = store.memories(state=None, limit=10_000)
    if conversation is not None:
        held = [
            m for m in held if m.provenance.conversation_id == conversation.id or m.conversation_id == conversation.id
        ]
        st.markdown(f"All that was learned from **{look.name(conversation.title)}** goes for good:")
    else:
        st.markdown(f"All memories of the profile **{look.plain(state.user())}** go for good. Conversations stay.")
    st.markdown(f"**{look.count(len(held), 'memory')}**")
    look.some([m.content for m in held])
    typed = st.text_input("To go on, type: erase", key="purge-typed")
    if st.button(
        "Erase them", type="primary", key="purge-go", disabled=typed.strip().casefold() != "erase" or not held
    ):
        try:
            for m in held:
                store.forget(m.id, erase=True)
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        st.session_state.pop("undoable", None)
        done(f"{look.count(len(held), 'memory')} erased.")
